"""Runtimes and precisions that the facts of a device imply."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision
from predictor.core.runtimes import RUNTIMES, UNKNOWN
from predictor.cost.capability import check_supported
from predictor.devices.architectures import architectures
from predictor.devices.catalogue import load_device_files
from predictor.devices.configurations import (
    NOT_STATED,
    implied_configurations,
    implied_precisions,
)
from predictor.devices.form import check_form, fields_of
from predictor.devices.schema import MAX_CONFIGURATIONS, DeviceFile, device_from_object

FP32, FP16, BF16, INT8 = Precision.FP32, Precision.FP16, Precision.BF16, Precision.INT8
MIXED = (Precision.AMP_FP16, Precision.AMP_BF16)


def device(family: Family, metrics: dict[str, float] | None = None, **more: object) -> Device:
    return Device(id="d", name="D", vendor="V", family=family, metrics=metrics or {}, **more)  # type: ignore[arg-type]


IMPLIED = {
    "a GPU of which nothing is known": (device(Family.GPU), (FP32,)),
    "a GPU with a half rate": (
        device(Family.GPU, {"fp32_tflops": 10, "fp16_tflops": 20}),
        (FP32, FP16, Precision.AMP_FP16),
    ),
    "a GPU with all rates": (
        device(Family.GPU, {"fp16_tflops": 20, "bf16_tflops": 20, "int8_tops": 40}),
        (FP32, FP16, BF16, INT8, *MIXED),
    ),
    "a GPU by its architecture": (
        device(Family.GPU, {"fp32_tflops": 10}, architecture="ampere-ga10x"),
        (FP32, FP16, BF16, INT8, *MIXED),
    ),
    "a processor of which nothing is known": (device(Family.CPU), (FP32, INT8)),
    "a processor with AMX": (
        device(Family.CPU, instruction_sets=("avx2", "amx-bf16")),
        (FP32, BF16, INT8, Precision.AMP_BF16),
    ),
    "a board by the cores of its fastest cluster": (
        device(
            Family.MOBILE_CPU,
            clusters=(Cluster(name="A76", cores=4, clock_mhz=2400, architecture="cortex-a76"),),
        ),
        (FP32, FP16, INT8, Precision.AMP_FP16),
    ),
    "a board with old cores": (
        device(Family.MOBILE_CPU, architecture="cortex-a53"),
        (FP32, INT8),
    ),
    "an NPU for bytes": (device(Family.NPU, {"int8_tops": 26}), (INT8,)),
    "an NPU for bytes and halves": (
        device(Family.NPU, {"int8_tops": 6, "fp16_tflops": 3}),
        (FP16, INT8),
    ),
    "an NPU of which nothing is known": (device(Family.NPU), (FP32,)),
    "a microcontroller": (device(Family.MCU), (FP32, INT8)),
}


@pytest.mark.parametrize(("described", "precisions"), IMPLIED.values(), ids=IMPLIED)
def test_precisions_follow_from_rates_sets_and_architecture(
    described: Device, precisions: tuple[Precision, ...]
):
    assert implied_precisions(described) == precisions


def test_each_runtime_that_is_portable_to_the_family_is_listed_the_usual_one_first():
    gpu = device(Family.GPU, {"fp32_tflops": 10, "fp16_tflops": 20})
    implied = implied_configurations(gpu)
    assert implied[:2] == (Configuration("onnxruntime", FP32), Configuration("onnxruntime", FP16))
    assert Configuration("ncnn-vulkan", FP16) in implied
    assert Configuration("pytorch", Precision.AMP_FP16) in implied
    assert implied[-1] == Configuration(UNKNOWN, FP32)
    assert all(Family.GPU in RUNTIMES[c.runtime].portable for c in implied)


def test_a_device_without_portable_runtimes_lists_the_unknown_one_in_each_precision():
    npu = device(Family.NPU, {"int8_tops": 6, "fp16_tflops": 3})
    assert implied_configurations(npu) == (
        Configuration(UNKNOWN, FP16),
        Configuration(UNKNOWN, INT8),
    )


def test_a_file_without_configurations_runs_what_its_facts_imply():
    content = {"schema": "ctm-hcv/1", "id": "a", "name": "A", "vendor": "V", "family": "gpu"}
    content |= {"metrics": {"fp32_tflops": 10, "fp16_tflops": 20}}
    read = device_from_object(content, "x").device
    assert read.configurations == implied_configurations(read)
    check_supported(read, Configuration("tensorrt", FP16))
    with pytest.raises(InputError, match="does not run bf16"):
        check_supported(read, Configuration("onnxruntime", BF16))


def test_a_file_that_states_its_configurations_keeps_them():
    content = {"schema": "ctm-hcv/1", "id": "a", "name": "A", "vendor": "V", "family": "gpu"}
    content |= {"metrics": {"fp16_tflops": 20}, "configurations": [{"runtime": "opencv"}]}
    assert device_from_object(content, "x").device.configurations == (Configuration("opencv"),)


def test_a_form_in_which_nobody_chose_a_runtime_gives_what_its_facts_imply():
    gpu = device(Family.GPU, {"fp32_tflops": 10, "fp16_tflops": 20})
    entry = check_form(fields_of(DeviceFile(gpu))).entry
    assert gpu.configurations == NOT_STATED
    assert entry is not None
    assert entry.device == replace(gpu, configurations=implied_configurations(gpu))
    chosen = replace(gpu, configurations=(Configuration("opencv"),))
    kept = check_form(fields_of(DeviceFile(chosen))).entry
    assert kept is not None
    assert kept.device == chosen


@given(
    st.sampled_from(list(Family)),
    st.dictionaries(
        st.sampled_from(["fp32_tflops", "fp16_tflops", "bf16_tflops", "int8_tops"]),
        st.floats(0.1, 100),
    ),
    st.sampled_from(["", *architectures()]),
)
def test_what_is_implied_can_be_run(family: Family, metrics: dict[str, float], design: str):
    bare = device(family, metrics, architecture=design)
    implied = implied_configurations(bare)
    assert 0 < len(implied) <= MAX_CONFIGURATIONS
    assert len(set(implied)) == len(implied)
    whole = replace(bare, configurations=implied)
    for configuration in implied:
        check_supported(whole, configuration)
        assert configuration.precision in RUNTIMES[configuration.runtime].precisions


def test_the_rule_finds_most_of_what_shipped_devices_state():
    """Precisions of shipped devices come from documents; the rule may add one, but miss few."""
    missed = [
        f"{entry.device.id} {precision}"
        for entry in load_device_files()
        for precision in dict.fromkeys(c.precision for c in entry.device.configurations)
        if precision not in implied_precisions(entry.device)
    ]
    stated = sum(len({c.precision for c in e.device.configurations}) for e in load_device_files())
    assert len(missed) < stated / 10, missed
