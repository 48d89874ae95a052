"""Devices as standardised vectors with an availability mask."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
import torch

from ctm_research.paper.hcv import HcvEncoder
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device


def make_device(metrics: Mapping[str, float], device_id: str = "made-up") -> Device:
    return Device(id=device_id, name="Made Up", vendor="", family=Family.GPU, metrics=metrics)


SLOW = make_device({"clock_mhz": 100.0, "core_count": 1.0}, "slow")
FAST = make_device({"clock_mhz": 10_000.0}, "fast")


def test_values_are_standardised_logs_over_the_training_devices() -> None:
    matrix = HcvEncoder.fit([SLOW, FAST]).encode([SLOW, FAST])
    # ln 100 and ln 10000 lie one deviation below and above their mean, ln 1000.
    assert matrix.values[:, 0].tolist() == pytest.approx([-1, 1])
    assert matrix.available.tolist() == [[True, True], [True, False]]
    assert matrix.values[1, 1] == 0
    assert matrix.values.dtype == torch.float32


def test_statistics_come_from_the_training_devices_only() -> None:
    encoder = HcvEncoder.fit([SLOW, FAST])
    faster = make_device({"clock_mhz": 1000.0 * math.sqrt(10) ** 3})
    assert encoder.encode([faster]).values[0, 0] == pytest.approx(1.5)


def test_a_metric_that_no_training_device_has_is_no_column() -> None:
    encoder = HcvEncoder.fit([SLOW, FAST])
    assert encoder.names == ("clock_mhz", "core_count")
    known = make_device({"clock_mhz": 5.0, "dram_bw_gbps": 7.0})
    assert encoder.encode([known]).values.shape == (1, 2)


def test_a_device_with_no_metric_at_all_is_a_row_without_any() -> None:
    matrix = HcvEncoder.fit([SLOW, FAST]).encode([make_device({})])
    assert not matrix.available.any()
    assert (matrix.values == 0).all()


def test_configuration_metrics_are_columns_after_the_registry() -> None:
    encoder = HcvEncoder.fit([SLOW, FAST], [{"threads": 0}, {"threads": 3, "batch": 1}])
    assert encoder.names == ("clock_mhz", "core_count", "threads", "batch")
    assert encoder.scaling.mean[2] == pytest.approx(math.log(4) / 2)
    matrix = encoder.encode([SLOW], [{"threads": 3}])
    assert matrix.available.tolist() == [[True, True, True, False]]
    assert matrix.values[0, 2] == pytest.approx(1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 0.0])
def test_a_wrong_metric_is_refused(value: float) -> None:
    wrong = make_device({"clock_mhz": value}, "wrong")
    encoder = HcvEncoder.fit([SLOW, FAST])
    for refuse in (lambda: encoder.encode([wrong]), lambda: HcvEncoder.fit([wrong])):
        with pytest.raises(InputError, match=f"device wrong: clock_mhz is {value}"):
            refuse()


@pytest.mark.parametrize("value", [float("nan"), -1.0])
def test_a_wrong_configuration_metric_is_refused(value: float) -> None:
    encoder = HcvEncoder.fit([SLOW], [{"threads": 1}])
    with pytest.raises(InputError, match="threads is"):
        encoder.encode([SLOW], [{"threads": value}])


def test_wrong_names_and_counts_are_refused() -> None:
    with pytest.raises(InputError, match="it has the name of an HCV metric"):
        HcvEncoder.fit([SLOW], [{"clock_mhz": 1}])
    with pytest.raises(InputError, match="there are 1 sets for 2 devices"):
        HcvEncoder.fit([SLOW, FAST], [{}])
    with pytest.raises(InputError, match="there are no rows"):
        HcvEncoder.fit([])
