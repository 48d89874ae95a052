"""Measurements beside estimate and bound, with numbers worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctm_research.evaluation.bound.comparison import (
    NO_GRAPH,
    NOT_IN_CATALOGUE,
    Comparison,
    compare,
)
from ctm_research.sources import Sample
from predictor.core.metrics import Family
from predictor.core.progress import Progress
from predictor.core.records import Configuration, Device, Precision
from predictor.cost.roofline import RooflineEngine
from research.tests.data_folder import ACTIVATION_BYTES, MACS, WEIGHT_BYTES
from research.tests.evaluation.bound.samples import sample

# 0.5e12 MACs a second: 8.388608 us for the convolution.
COMPUTE_MS = MACS / 0.5e12 * 1e3
LAUNCH_MS = 0.006


def device(**metrics: float) -> Device:
    facts = {"fp32_tflops": 1.0, "dram_bw_gbps": 100.0, "l2_kb": 4096.0, **metrics}
    configurations = (Configuration("pytorch"), Configuration("pytorch", Precision.INT8))
    known = {name: value for name, value in facts.items() if value > 0}
    return Device(
        id="card",
        name="Card",
        vendor="Maker",
        family=Family.GPU,
        metrics=known,
        configurations=configurations,
    )


def compared(samples: list[Sample], known: Device) -> list[Comparison]:
    return compare(samples, {known.id: known}, RooflineEngine())


def test_estimate_and_bound_are_those_of_the_engine(tmp_path: Path) -> None:
    # The traffic, (2 x 262144 + 16384) bytes at 100 GB/s, is 5.4 us: less than the arithmetic.
    assert (2 * ACTIVATION_BYTES + WEIGHT_BYTES) / 100e9 * 1e3 < COMPUTE_MS

    (found,) = compared([sample(tmp_path)], device())

    assert found.bound_ms == pytest.approx(COMPUTE_MS)
    assert found.estimate_ms == pytest.approx(COMPUTE_MS + LAUNCH_MS)
    assert found.measured_over_bound == pytest.approx(1 / COMPUTE_MS)
    assert found.measured_over_estimate == pytest.approx(1 / (COMPUTE_MS + LAUNCH_MS))
    assert (found.reason, found.target_name) == ("", "card pytorch fp32")


def test_a_batch_is_counted_whole(tmp_path: Path) -> None:
    samples = [sample(tmp_path, batch_factor=factor) for factor in (1, 64)]

    single, batch = compared(samples, device())

    assert batch.bound_ms == pytest.approx(64 * single.bound_ms)


def test_without_a_bandwidth_the_arithmetic_is_still_a_bound(tmp_path: Path) -> None:
    (found,) = compared([sample(tmp_path)], device(dram_bw_gbps=0))

    assert found.bound_ms == pytest.approx(COMPUTE_MS)
    assert found.estimate_ms != found.estimate_ms
    assert "dram_bw_gbps is not known" in found.reason


def test_without_a_rate_there_is_no_bound(tmp_path: Path) -> None:
    int8 = sample(tmp_path, configuration=Configuration("pytorch", Precision.INT8, 0, 1))

    (found,) = compared([int8], device(dram_bw_gbps=0, fp32_tflops=0))

    assert found.measured_over_bound != found.measured_over_bound
    assert "int8_tops is not known" in found.reason


def test_rows_without_a_number_are_kept_with_the_reason(tmp_path: Path) -> None:
    samples = [
        sample(tmp_path, excluded="another thing"),
        sample(tmp_path, device_id=""),
        sample(tmp_path, graph=None),
    ]

    found = compared(samples, device())

    assert [c.reason for c in found] == ["another thing", NOT_IN_CATALOGUE, NO_GRAPH]
    assert all(c.bound_ms != c.bound_ms for c in found)


def test_progress_is_told_before_each_graph(tmp_path: Path) -> None:
    told: list[Progress] = []

    samples = [sample(tmp_path), sample(tmp_path, latency_ms=2.0)]
    compare(samples, {"card": device()}, RooflineEngine(), told.append)

    assert told == [Progress(0, 1, "one")]
