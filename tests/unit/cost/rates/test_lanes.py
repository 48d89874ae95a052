"""Lanes that kernels use, worked out by hand for cores whose units are public."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.instruction_sets import INSTRUCTION_SETS
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device, Precision
from predictor.core.runtimes import CPUS, RUNTIMES, Runtime, runtime_of
from predictor.cost.rates.lanes import Core, core_of, kernel_lanes

X86 = {"sse4", "avx", "avx2"}
AVX512 = X86 | {"avx512", "avx512-vnni"}
AMX = AVX512 | {"avx-vnni", "avx512-bf16", "avx512-fp16", "amx-int8", "amx-bf16"}


def core(lanes: float, bits: float | None, sets: set[str], **vectors: float) -> Core:
    return Core(lanes, bits, frozenset(sets), vectors)


HASWELL = core(16, 256, X86)  # two units of 256 bits
SANDY_BRIDGE = core(8, 256, {"sse4", "avx"})  # one multiplies and one adds
SKYLAKE_SP = core(32, 512, X86 | {"avx512"})  # two of 512 bits
ICE_LAKE = core(16, 512, AVX512)  # two of 256 bits that join
ZEN_4 = core(16, 256, AVX512 | {"avx512-bf16"})  # two of 256 bits, which take 512 in two steps
# Its vectors multiply BF16 at half the FP32 rate, its matrix unit at 16 times.
SAPPHIRE_RAPIDS = replace(
    core(32, 512, AMX, int8=128, bf16=16, fp16=64), matrix_lanes={"int8": 1024, "bf16": 512}
)
CORTEX_A72 = core(4, 128, {"neon"})
CORTEX_A55 = core(4, 64, {"neon", "fp16", "dotprod"})  # two of 64 bits
CORTEX_A76 = core(8, 128, {"neon", "fp16", "dotprod"})
GRAVITON_4 = core(16, 128, {"neon", "fp16", "dotprod", "i8mm", "bf16", "sve", "sve2"})
A64FX = core(32, 512, {"neon", "fp16", "sve"})
SUNWAY = core(8, 256, {"none"})
KNIGHTS_CORNER = core(16, 512, {"none"})
C906 = core(4, 128, {"rvv"})
LA464 = core(16, 256, {"lsx", "lasx"})

FP32, FP16, BF16, INT8 = Precision.FP32, Precision.FP16, Precision.BF16, Precision.INT8
CASES = [
    ("onnxruntime", FP32, HASWELL, 16),
    ("onnxruntime", FP32, SANDY_BRIDGE, 8),
    ("onnxruntime", FP32, SKYLAKE_SP, 32),
    # AVX2 at most: two units x 8 lanes, however wide they are.
    ("paddle-lite-like", FP32, SKYLAKE_SP, 16),
    ("paddle-lite-like", FP32, ICE_LAKE, 16),
    ("paddle-lite-like", FP32, ZEN_4, 16),
    # SSE at most: two units x 4 lanes, multiplied and added apart.
    ("sse-only", FP32, HASWELL, 4),
    ("sse-only", FP32, SANDY_BRIDGE, 4),
    ("onnxruntime", FP32, CORTEX_A72, 4),
    ("onnxruntime", FP32, CORTEX_A55, 4),
    # Neon is a quarter of the two SVE units.
    ("onnxruntime", FP32, A64FX, 8),
    ("openvino", FP32, A64FX, 32),
    # No kernels: one lane a unit.
    ("onnxruntime", FP32, SUNWAY, 1),
    ("ncnn", FP32, SUNWAY, 1),
    ("ncnn", FP32, KNIGHTS_CORNER, 1),
    ("onnxruntime", FP32, C906, 1),
    ("ncnn", FP32, C906, 4),
    ("pytorch", FP32, LA464, 2),
    ("ncnn", FP32, LA464, 16),
    ("onnxruntime", FP16, CORTEX_A76, 16),
    ("opencv", FP16, CORTEX_A72, 4),
    ("onnxruntime", INT8, CORTEX_A76, 32),
    ("onnxruntime", INT8, CORTEX_A72, 4 * 4 / 3),
    ("pytorch-mobile-like", INT8, CORTEX_A76, 8 * 4 / 3),
    ("onnxruntime", INT8, GRAVITON_4, 128),
    ("tflite", BF16, GRAVITON_4, 16),
    ("openvino", Precision.AMP_BF16, GRAVITON_4, 64),
    ("onnxruntime", INT8, HASWELL, 16 * 4 / 3),
    ("onnxruntime", INT8, ICE_LAKE, 64),
    # A matrix unit counts where the runtime drives it: MLAS for bytes, oneDNN for BF16 too.
    ("onnxruntime", INT8, SAPPHIRE_RAPIDS, 1024),
    ("ncnn", INT8, SAPPHIRE_RAPIDS, 128),
    ("openvino", BF16, SAPPHIRE_RAPIDS, 512),
    ("onnxruntime", BF16, SAPPHIRE_RAPIDS, 32),
    ("ncnn", BF16, SAPPHIRE_RAPIDS, 32),
    ("tflite", FP16, SAPPHIRE_RAPIDS, 64),
    ("unknown", INT8, SAPPHIRE_RAPIDS, 1024),
]
MADE_UP = {
    "paddle-lite-like": frozenset({"sse4", "avx", "avx2"}),
    "sse-only": frozenset({"sse4"}),
    "pytorch-mobile-like": frozenset({"neon"}),
}


def runtime(name: str) -> Runtime:
    return (
        Runtime(name=name, title=name, kernels=MADE_UP[name])
        if name in MADE_UP
        else runtime_of(name)
    )


@pytest.mark.parametrize(("name", "precision", "of_core", "lanes"), CASES)
def test_lanes_by_hand(name: str, precision: Precision, of_core: Core, lanes: float):
    assert kernel_lanes(runtime(name), precision, of_core) == pytest.approx(lanes)


def test_a_core_of_unknown_sets_keeps_what_its_lanes_promise():
    assert kernel_lanes(runtime_of("onnxruntime"), FP32, Core(16)) == 16
    assert kernel_lanes(runtime_of("onnxruntime"), INT8, Core(16, vector_lanes={"int8": 64})) == 64


def test_a_rate_that_the_design_states_goes_before_the_number_of_instructions():
    # Gracemont multiplies bytes at twice the FP32 rate, AVX-VNNI or not.
    gracemont = core(8, 128, X86 | {"avx-vnni"}, int8=16)
    assert kernel_lanes(runtime_of("onnxruntime"), INT8, gracemont) == 16
    # Without AVX-VNNI, the part of it that AVX2 has, (4 / 3) / 4, which is under the FP32 rate.
    assert kernel_lanes(runtime("paddle-lite-like"), INT8, gracemont) == 8
    fast = replace(gracemont, vector_lanes={"int8": 32})
    assert kernel_lanes(runtime("paddle-lite-like"), INT8, fast) == pytest.approx(32 / 3)


def test_a_core_takes_its_facts_from_its_architecture_unless_the_device_states_them():
    bare = Device(id="a", name="A", vendor="V", family=Family.CPU, metrics={}, architecture="zen-4")
    zen_4 = core_of(bare)
    assert zen_4 is not None
    assert (zen_4.fp32_lanes, zen_4.vector_bits) == (16, 256)
    assert zen_4.vector_lanes["int8"] == 64
    assert "avx512-vnni" in zen_4.instruction_sets
    one_unit = replace(bare, metrics={"fp32_au_per_core": 8.0}, instruction_sets=("avx2",))
    assert core_of(one_unit) == replace(
        zen_4,
        fp32_lanes=8.0,
        instruction_sets=frozenset({"avx2"}),
        vector_lanes={name: lanes / 2 for name, lanes in zen_4.vector_lanes.items()},
    )
    assert core_of(replace(bare, architecture="")) is None


def test_neon_reaches_all_lanes_of_neoverse_v1_whose_sve_has_twice_its_width():
    graviton_3 = core_of(
        Device(
            id="a", name="A", vendor="V", family=Family.CPU, metrics={}, architecture="neoverse-v1"
        )
    )
    assert graviton_3 is not None
    assert kernel_lanes(runtime_of("onnxruntime"), FP32, graviton_3) == 16


@pytest.mark.parametrize(
    ("architecture", "lanes"),
    [
        ("carmel", 4),  # one unit of Neon
        ("cortex-a17", 2),  # those of the Cortex-A9 that it came from
        ("apple-m5", 16),  # those of the M4
    ],
)
def test_lanes_that_nobody_states_are_those_of_the_design_before_or_of_one_unit(
    architecture: str, lanes: float
) -> None:
    own = core_of(
        Device(
            id="a",
            name="A",
            vendor="V",
            family=Family.MOBILE_CPU,
            metrics={},
            architecture=architecture,
        )
    )
    assert own is not None
    assert own.fp32_lanes == lanes


def test_each_cluster_has_its_own_core():
    big = Cluster(
        name="Big", cores=4, clock_mhz=2400, fp32_au_per_core=None, architecture="cortex-a76"
    )
    little = Cluster(
        name="Little", cores=4, clock_mhz=1800, fp32_au_per_core=2, architecture="cortex-a55"
    )
    device = Device(
        id="a", name="A", vendor="V", family=Family.MOBILE_CPU, metrics={}, clusters=(big, little)
    )
    cores = [core_of(device, cluster) for cluster in device.clusters]
    assert [core and core.fp32_lanes for core in cores] == [8, 2]


def test_bytes_of_instructions_that_no_runtime_knows_do_not_count():
    # SpacemiT X60: 16 times the FP32 rate with its maker's matrix instructions.
    x60 = core(8, 128, {"rvv"}, int8=128)
    assert kernel_lanes(runtime_of("ncnn"), INT8, x60) == 16
    assert kernel_lanes(runtime_of("onnxruntime"), INT8, x60) == 4


def test_sme_counts_for_runtimes_that_drive_it_and_only_where_its_rate_is_stated():
    m4 = core(16, 128, {"neon", "fp16", "dotprod", "i8mm", "sme"}, int8=64)
    assert kernel_lanes(runtime_of("openvino"), INT8, m4) == 64
    stated = replace(m4, matrix_lanes={"int8": 1024})
    assert kernel_lanes(runtime_of("openvino"), INT8, stated) == 1024
    assert kernel_lanes(runtime_of("onnxruntime"), INT8, stated) == 64
    assert kernel_lanes(runtime_of("openvino"), FP32, stated) == 16


def test_a_core_without_vectors_has_one_lane_where_none_is_known():
    sunway = Device(
        id="a", name="A", vendor="V", family=Family.CPU, metrics={}, instruction_sets=("none",)
    )
    assert core_of(sunway) == Core(1.0, None, frozenset({"none"}))


SETS = st.frozensets(st.sampled_from(sorted(INSTRUCTION_SETS)), min_size=1)
CORES = st.builds(
    Core,
    st.sampled_from([1.0, 2.0, 4.0, 8.0, 16.0, 32.0]),
    st.sampled_from([None, 32.0, 64.0, 128.0, 256.0, 512.0]),
    SETS,
)
PRECISIONS = st.sampled_from(list(Precision))


@given(CORES, SETS, SETS, PRECISIONS)
def test_more_kernels_never_lower_the_lanes(
    of_core: Core, some: frozenset[str], more: frozenset[str], precision: Precision
):
    few = kernel_lanes(Runtime(name="a", title="A", kernels=some), precision, of_core)
    many = kernel_lanes(Runtime(name="a", title="A", kernels=some | more), precision, of_core)
    assert 0 < few <= many * (1 + 1e-12)


@given(CORES, SETS, PRECISIONS)
def test_fp32_never_exceeds_the_lanes_and_no_precision_is_slower_than_it(
    of_core: Core, kernels: frozenset[str], precision: Precision
):
    row = Runtime(name="a", title="A", kernels=kernels)
    fp32 = kernel_lanes(row, FP32, of_core)
    assert fp32 <= of_core.fp32_lanes
    assert kernel_lanes(row, precision, of_core) >= fp32 * (1 - 1e-12)


@given(CORES, SETS, PRECISIONS, st.sampled_from([1.5, 2.0, 4.0]))
def test_lanes_grow_with_those_of_the_core_and_by_no_more(
    of_core: Core, kernels: frozenset[str], precision: Precision, factor: float
):
    row = Runtime(name="a", title="A", kernels=kernels)
    before = kernel_lanes(row, precision, of_core)
    wider = replace(of_core, fp32_lanes=of_core.fp32_lanes * factor)
    after = kernel_lanes(row, precision, wider)
    assert before * (1 - 1e-12) <= after <= before * factor * (1 + 1e-12)


def test_each_usual_runtime_of_processors_states_its_kernels():
    for row in RUNTIMES.values():
        if row.portable & CPUS and row.is_usual and row.name != "unknown":
            assert row.kernels, row.name


@pytest.mark.parametrize("row", RUNTIMES.values(), ids=RUNTIMES.keys())
def test_kernels_are_instruction_sets_of_the_table(row: Runtime):
    assert row.kernels <= INSTRUCTION_SETS.keys()
    assert "none" not in row.kernels
