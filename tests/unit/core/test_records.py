from __future__ import annotations

import dataclasses

import pytest

from predictor.core.metrics import Family
from predictor.core.prediction import Prediction
from predictor.core.records import (
    Basis,
    Cluster,
    Configuration,
    Device,
    Measurement,
    Precision,
    Signature,
    Target,
    TargetId,
)
from predictor.core.runtimes import RUNTIMES
from predictor.core.tensors import DynamicDimension, TensorInfo

ALL_CORES = Configuration("onnxruntime", Precision.AMP_FP16, 0, 8)


def test_only_mixed_precisions_need_an_explanation():
    assert Precision.AMP_FP16.words == "AMP FP16"
    assert Precision.AMP_FP16.explanation == (
        "AMP FP16 (automatic mixed precision) keeps FP32 weights and multiplies in FP16."
    )
    explained = [each for each in Precision if each.explanation]
    assert explained == [Precision.AMP_FP16, Precision.AMP_BF16]


def device(metrics: dict[str, float]) -> Device:
    return Device(
        id="rpi5",
        name="Raspberry Pi 5",
        vendor="Broadcom",
        family=Family.MOBILE_CPU,
        metrics=metrics,
    )


def test_a_device_keeps_its_metrics_when_the_callers_mapping_changes() -> None:
    metrics = {"clock_mhz": 2400.0}
    pi = device(metrics)
    metrics["clock_mhz"] = 1.0
    assert pi.metric("clock_mhz") == 2400.0


def test_a_devices_metrics_cannot_be_changed() -> None:
    pi = device({"clock_mhz": 2400.0})
    with pytest.raises(TypeError, match="does not support item assignment"):
        pi.metrics["clock_mhz"] = 1.0  # type: ignore[index]


def test_a_metric_that_is_not_known_is_none_and_not_zero() -> None:
    assert device({}).metric("clock_mhz") is None


def test_devices_with_the_same_facts_are_equal_and_can_be_replaced() -> None:
    pi = device({"clock_mhz": 2400.0})
    assert pi == device({"clock_mhz": 2400.0})
    assert pi != device({"clock_mhz": 2401.0})
    assert dataclasses.replace(pi, name="Pi").metrics == pi.metrics


def test_a_targets_id_has_its_threads_resolved_and_a_text_form() -> None:
    eight = device({"core_count": 8.0})
    target_id = Target(eight, ALL_CORES).id

    assert str(target_id) == "rpi5/onnxruntime/amp_fp16/t8"
    assert TargetId.parse(str(target_id)) == target_id
    assert Target(eight, dataclasses.replace(ALL_CORES, threads=8)).id == target_id


@pytest.mark.parametrize(
    "change",
    [{"runtime": "ncnn"}, {"precision": Precision.FP32}, {"threads": 1}],
    ids=str,
)
def test_targets_that_differ_have_different_ids(change: dict[str, object]) -> None:
    other = dataclasses.replace(ALL_CORES, **change)  # type: ignore[arg-type]
    assert Target(device({}), other).id != Target(device({}), ALL_CORES).id


def test_a_record_has_the_id_of_its_target() -> None:
    target = Target(device({}), dataclasses.replace(ALL_CORES, threads=4))
    signature = Signature("s", target.device.id, target.configuration, (), active=True)
    assert TargetId.of(signature) == target.id


@pytest.mark.parametrize(
    "kind",
    [
        Configuration, Cluster, Device, Target, Prediction, DynamicDimension, TensorInfo,
        Measurement, Signature,
    ],
)  # fmt: skip
def test_every_record_is_frozen_and_takes_no_stray_field(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(kind)


def test_words_that_files_and_scripts_depend_on() -> None:
    assert list(Precision) == ["fp32", "fp16", "bf16", "int8", "amp_fp16", "amp_bf16"]
    assert list(Basis) == ["measured", "probed", "zero-shot", "analytic"]
    assert Configuration().runtime in RUNTIMES
