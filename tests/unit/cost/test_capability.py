"""What a configuration can use of a device, and what is said where a fact is missing."""

from __future__ import annotations

import copy
import gc
import math
import weakref
from dataclasses import replace

import pytest

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision, Target
from predictor.cost.capability import capability, stated_capability
from predictor.cost.rates.facts import MissingMetricError, missing
from tests.support.graphs import GPU_METRICS, make_target

BIG = Cluster(name="Big", cores=4, clock_mhz=2000.0, fp32_au_per_core=8.0)
LITTLE = Cluster(name="Little", cores=4, clock_mhz=1000.0, fp32_au_per_core=4.0)
# 4 x 2e9 x 8 = 64e9 and 4 x 1e9 x 4 = 16e9 MACs a second.


def phone(threads: int, *clusters: Cluster, **metrics: float) -> Target:
    return make_target(
        {"dram_bw_gbps": 30.0, **metrics},
        family=Family.MOBILE_CPU,
        runtime="onnxruntime",
        threads=threads,
        clusters=clusters,
    )


@pytest.mark.parametrize(
    ("threads", "giga_macs"),
    [(1, 16.0), (4, 64.0), (6, 64.0 + 8.0), (8, 80.0), (0, 80.0), (64, 80.0)],
)
def test_threads_fill_the_fastest_cluster_first(threads: int, giga_macs: float) -> None:
    for clusters in ((BIG, LITTLE), (LITTLE, BIG)):
        assert capability(phone(threads, *clusters)).matrix_macs_per_s == pytest.approx(
            giga_macs * 1e9
        )


def test_a_listed_rate_is_shared_by_the_speed_of_the_cores_in_use() -> None:
    listed = phone(4, BIG, LITTLE, fp32_tflops=0.1)

    # 64 of 80 parts of 50e9 MACs a second.
    assert capability(listed).matrix_macs_per_s == pytest.approx(0.8 * 50e9)


def test_alike_cores_share_a_listed_rate_evenly() -> None:
    metrics = {"fp32_tflops": 1.0, "core_count": 8.0, "dram_bw_gbps": 30.0, "int8_tops": 4.0}
    target = make_target(metrics, family=Family.CPU, threads=2, precision=Precision.INT8)

    assert capability(target).matrix_macs_per_s == pytest.approx(0.25 * 2e12)


def test_lanes_of_the_device_hold_for_clusters_that_name_none() -> None:
    silent = Cluster(name="Big", cores=4, clock_mhz=2000.0)

    found = capability(phone(0, silent, LITTLE, fp32_au_per_core=8.0))

    assert found.matrix_macs_per_s == pytest.approx(80e9)


def test_the_highest_clock_stands_in_for_an_unknown_sustained_one() -> None:
    found = capability(phone(0, boost_clock_mhz=2000.0, core_count=4.0, fp32_au_per_core=8.0))

    assert found.matrix_macs_per_s == pytest.approx(64e9)


@pytest.mark.parametrize("family", [Family.GPU, Family.MOBILE_GPU, Family.NPU, Family.FPGA])
def test_threads_mean_nothing_off_the_cpu(family: Family) -> None:
    target = make_target(family=family, threads=3)

    assert capability(target).matrix_macs_per_s == pytest.approx(1e12)
    assert target.device.threads_in_use(3) == 0


def test_threads_resolve_to_counts() -> None:
    assert phone(0, BIG, LITTLE).device.threads_in_use(0) == 8
    assert phone(0, BIG, LITTLE).device.threads_in_use(99) == 8
    assert phone(0, core_count=6.0).device.threads_in_use(0) == 6
    assert phone(0).device.threads_in_use(0) == 0
    assert phone(0).device.threads_in_use(5) == 5


@pytest.mark.parametrize(
    ("metrics", "precision", "metric"),
    [
        ({"fp32_tflops": 1.0}, Precision.FP32, "dram_bw_gbps"),
        ({"dram_bw_gbps": 1.0}, Precision.FP32, "fp32_tflops"),
        ({"dram_bw_gbps": 1.0, "clock_mhz": 1.0, "core_count": 1.0}, Precision.FP32, "fp32_tflops"),
        (GPU_METRICS, Precision.FP16, "fp16_tflops"),
        (GPU_METRICS, Precision.BF16, "bf16_tflops"),
        (GPU_METRICS, Precision.INT8, "int8_tops"),
        (GPU_METRICS, Precision.AMP_BF16, "bf16_tflops"),
        ({"dram_bw_gbps": 1.0, "fp16_tflops": 1.0}, Precision.AMP_FP16, "fp32_tflops"),
    ],
)
def test_a_missing_metric_is_named_and_never_assumed(
    metrics: dict[str, float], precision: Precision, metric: str
) -> None:
    with pytest.raises(InputError) as caught:
        capability(make_target(metrics, precision=precision))

    assert caught.value.reason == f"metric {metric} is not known for Made Up 1"
    assert caught.value.action == "add it to the device, or choose another"


def test_the_error_of_a_missing_metric_names_it_in_every_process() -> None:
    error = copy.copy(
        missing(Device(id="d", name="D", vendor="V", family=Family.CPU, metrics={}), "int8_tops")
    )  # as pickled
    assert (error.metric, error.subject) == ("int8_tops", "d")
    assert "metric int8_tops is not known for D" in str(error)


def test_threads_on_cores_of_which_too_little_is_known_name_what_is_missing() -> None:
    with pytest.raises(InputError, match="metric core_count is not known"):
        capability(phone(2, fp32_tflops=1.0))
    unknown_lanes = Cluster(name="Little", cores=4, clock_mhz=1000.0)
    with pytest.raises(InputError, match="metric fp32_au_per_core is not known"):
        capability(phone(2, BIG, unknown_lanes, fp32_tflops=1.0))


def test_an_int8_only_unit_refuses_fp32() -> None:
    npu = make_target(
        {"int8_tops": 6.0, "dram_bw_gbps": 10.0}, family=Family.NPU, runs=[Precision.INT8]
    )

    with pytest.raises(InputError) as caught:
        capability(npu)

    assert caught.value.reason == (
        "not supported: Made Up 1 does not run fp32; it runs, best first: pytorch int8"
    )


def with_runtimes(family: Family, *runtimes: str) -> Device:
    target = make_target({**GPU_METRICS, "core_count": 4.0}, family=family)
    return replace(target.device, configurations=tuple(map(Configuration, runtimes)))


@pytest.mark.parametrize(
    ("family", "runtime"),
    [
        (Family.NPU, "onnxruntime"),
        (Family.ASIC, "tflite"),
        (Family.CPU, "tensorrt"),
        (Family.CPU, "ncnn-vulkan"),
        (Family.MOBILE_CPU, "qnn"),
        (Family.GPU, "ncnn"),
        (Family.MOBILE_GPU, "pytorch"),
    ],
)
def test_a_runtime_that_is_neither_listed_nor_portable_is_not_supported(
    family: Family, runtime: str
) -> None:
    with pytest.raises(InputError) as caught:
        capability(Target(with_runtimes(family, "rknn", "opencv"), Configuration(runtime)))

    assert caught.value.reason == (
        f"not supported: Made Up 1 does not run {runtime}; it runs, best first: "
        "rknn fp32; opencv fp32"
    )


@pytest.mark.parametrize(
    ("family", "listed", "asked"),
    [
        (Family.NPU, "rknn", "rknn"),
        (Family.NPU, "rknn", "unknown"),
        (Family.NPU, "unknown", "rknn"),
        (Family.GPU, "tensorrt", "pytorch"),
        (Family.CPU, "onnxruntime", "ncnn"),
        (Family.MOBILE_CPU, "ncnn", "tflite"),
        (Family.MOBILE_GPU, "tflite", "ncnn-vulkan"),
    ],
)
def test_a_runtime_that_is_listed_or_portable_is_supported(
    family: Family, listed: str, asked: str
) -> None:
    found = capability(Target(with_runtimes(family, listed), Configuration(asked)))

    assert found.matrix_macs_per_s == pytest.approx(1e12)


def test_an_int8_only_unit_runs_int8_without_any_float_rate() -> None:
    npu = make_target(
        {"int8_tops": 6.0, "dram_bw_gbps": 10.0},
        family=Family.NPU,
        precision=Precision.INT8,
        runs=[Precision.INT8],
    )

    found = capability(npu)

    assert found.matrix_macs_per_s == found.vector_macs_per_s == pytest.approx(3e12)
    assert found.launch_ms == 0.0


def test_matrix_units_that_multiply_fp32_carry_its_matrix_products_and_no_others() -> None:
    found = capability(
        make_target(
            {
                "fp32_tflops": 23.0,
                "fp32_matrix_tflops": 46.0,
                "matrix_units": 480.0,
                "dram_bw_gbps": 1000.0,
            }
        )
    )

    assert found.matrix_macs_per_s == pytest.approx(23e12)
    assert found.vector_macs_per_s == pytest.approx(11.5e12)
    assert found.bound_float_macs_per_s == pytest.approx(23e12)


STREAMING = {"int8_tops": 4.0, "onchip_sram_kb": 8.0, "host_link_gbps": 0.5}


def accelerator(metrics: dict[str, float]) -> Target:
    return make_target(metrics, family=Family.NPU, precision=Precision.INT8, runs=[Precision.INT8])


def test_an_accelerator_without_memory_of_its_own_has_the_link_to_the_host() -> None:
    found = capability(accelerator(STREAMING))

    assert found.streams
    assert found.bandwidth_bytes_per_s == pytest.approx(0.5e9)


@pytest.mark.parametrize("missing", ["onchip_sram_kb", "host_link_gbps"])
def test_what_streams_must_state_its_chip_and_its_link(missing: str) -> None:
    metrics = {name: value for name, value in STREAMING.items() if name != missing}

    with pytest.raises(InputError, match="metric dram_bw_gbps is not known"):
        capability(accelerator(metrics))


def test_a_device_that_states_a_memory_does_not_stream() -> None:
    with pytest.raises(InputError, match="metric dram_bw_gbps is not known"):
        capability(accelerator({**STREAMING, "dram_gb": 1.0}))

    found = capability(accelerator({**STREAMING, "dram_bw_gbps": 10.0}))

    assert not found.streams
    assert found.bandwidth_bytes_per_s == pytest.approx(10e9)


def test_unknown_memories_are_not_zero() -> None:
    found = capability(make_target())

    assert math.isnan(found.on_chip_bytes)
    assert math.isnan(found.dram_bytes)


def test_names_of_devices_are_shown_escaped() -> None:
    target = make_target({})
    hostile = Target(
        replace(
            target.device, id="x", name="evil\u202e\n", vendor="", family=Family.GPU, metrics={}
        ),
        target.configuration,
    )

    with pytest.raises(InputError) as caught:
        capability(hostile)

    assert "\u202e" not in caught.value.reason
    assert "\n" not in caught.value.reason


def test_a_rate_that_was_measured_is_no_highest_rate() -> None:
    stated = make_target({"fp32_tflops": 0.6, "dram_bw_gbps": 10.0})
    here = replace(
        stated,
        device=replace(
            stated.device, sources={"fp32_tflops": "measured on this machine, 2026-11-22: product"}
        ),
    )

    assert capability(stated).bound_float_macs_per_s == pytest.approx(0.3e12)
    found = capability(here)
    assert found.matrix_macs_per_s == pytest.approx(0.3e12)
    assert found.bound_float_macs_per_s == pytest.approx(0.5e12)


def test_all_cores_bound_threads_whose_share_is_not_known() -> None:
    clusters = [replace(cluster, fp32_au_per_core=None) for cluster in (BIG, LITTLE)]
    target = phone(2, *clusters, fp32_tflops=0.1)

    rates, gap = stated_capability(target)

    assert gap is not None
    assert gap.metric == "fp32_au_per_core"
    assert math.isnan(rates.matrix_macs_per_s)
    # 0.1 TFLOP/s are 50e9 MACs a second; halves, whose rate is not stated, at most twice as many.
    assert rates.bound_float_macs_per_s == pytest.approx(50e9)
    assert rates.bound_half_macs_per_s == pytest.approx(100e9)
    with pytest.raises(MissingMetricError):
        capability(target)


def test_a_missing_fact_holds_nothing_of_who_asked_for_it() -> None:
    """Its traceback would: frames, and with them the arrays of an explanation."""

    class Held:
        pass

    def ask() -> weakref.ref[Held]:
        held = Held()
        _, gap = stated_capability(make_target({"dram_bw_gbps": 30.0}))
        assert gap is not None
        return weakref.ref(held)

    gc.disable()
    try:
        assert ask()() is None
    finally:
        gc.enable()
