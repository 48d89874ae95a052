"""Statistics of the training devices and targets that a checkpoint carries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
import pytest

from ctm_research.training.statistics import fit_facts, fit_typical
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device, Precision
from predictor.network.reference_rates import ReferenceRates, Typical
from tests.support.graphs import make_target


def gpu(metrics: Mapping[str, float], device_id: str = "made-up") -> Device:
    return Device(id=device_id, name="Made Up", vendor="", family=Family.GPU, metrics=metrics)


def test_typical_rates_by_hand_and_through_json() -> None:
    devices = [
        gpu({"fp32_tflops": 2.0 * scale, "dram_bw_gbps": 100.0}, f"d{scale}") for scale in (1, 2, 4)
    ]

    typical = fit_typical(devices)

    assert typical.macs_per_s["gpu"] == pytest.approx(2e12)  # the median
    assert typical.bandwidth["gpu"] == (pytest.approx(np.log(1e11)), 0.0)
    assert Typical.from_json(json.loads(json.dumps(asdict(typical)))) == typical


def test_without_a_device_that_has_both_rates_nothing_is_typical() -> None:
    with pytest.raises(InputError, match="no training device has an FP32 rate and a bandwidth"):
        fit_typical([gpu({"fp32_tflops": 2.0})])


def test_statistics_have_no_column_that_no_target_has() -> None:
    typical = Typical({"any": 8.0}, {"any": 1e12}, {"any": (np.log(1e11), 0.0)})
    targets = [
        make_target({"fp32_tflops": 2.0, "dram_bw_gbps": 100.0, "l2_kb": 1000.0}),
        make_target({"fp32_tflops": 4.0}, runtime="unheard", precision=Precision.INT8),
    ]

    fitted = fit_facts(targets, ReferenceRates.of(targets, typical))

    assert {"fp32_tflops", "l2_kb", "matrix_rate"} <= set(fitted.names)
    assert "tdp_w" not in fitted.names
    assert (fitted.std > 0).all()
