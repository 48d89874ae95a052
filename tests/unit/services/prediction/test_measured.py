"""What was measured stands before what is predicted, on its own target only."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from predictor.calibration.published import Published
from predictor.core.documents import Provenance
from predictor.core.errors import HostError
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Measurement, Precision
from predictor.services.prediction import measured
from predictor.services.prediction.measured import with_measured
from tests.support.published_latencies import HIGH, LOW, published

FP16_4 = Configuration("ncnn", Precision.FP16, 4, 1)
Z80 = 1.2815515655446004
Z95 = 1.959963984540054


@pytest.fixture(autouse=True)
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """One network published on the Raspberry Pi 5 with four threads: 40 ms, deviation 0.125."""
    found = published((LOW, 0, 40.0))
    monkeypatch.setattr(measured, "_published", lambda: found)


def prediction(**changes: object) -> Prediction:
    plain = Prediction(
        model="m.onnx",
        fingerprint=LOW,
        device_id="rpi5",
        configuration=FP16_4,
        engine="e/1",
        basis=Basis.ZERO_SHOT,
        latency_ms=30.0,
        low80_ms=20.0,
        high80_ms=45.0,
    )
    return replace(plain, **changes)


def measurement(value_ms: float, **changes: object) -> Measurement:
    plain = Measurement(
        id="id",
        fingerprint=LOW,
        device_id="rpi5",
        configuration=FP16_4,
        samples_ns=(),
        value_ms=value_ms,
        statistic="median",
        protocol="typed-by-hand/1",
        provenance=Provenance(),
    )
    return replace(plain, **changes)


def test_a_published_network_is_measured_with_the_prediction_beside() -> None:
    (found,) = with_measured([prediction(out_of_distribution="odd", bound_ms=12.0)])

    assert (found.basis, found.latency_ms, found.predicted_ms) == (Basis.MEASURED, 40.0, 30.0)
    assert found.low80_ms == pytest.approx(40 * math.exp(-0.125 * Z80))
    assert found.high80_ms == pytest.approx(40 * math.exp(0.125 * Z80))
    assert found.low95_ms == pytest.approx(40 * math.exp(-0.125 * Z95))
    assert found.high95_ms == pytest.approx(40 * math.exp(0.125 * Z95))
    assert found.provenance == "line 2: median, median of 3 published values. a publisher."
    assert (found.problem, found.out_of_distribution, found.bound_ms) == ("", "", 12.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"fingerprint": HIGH},
        {"device_id": "rpi4"},
        {"configuration": replace(FP16_4, threads=1)},
        {"configuration": replace(FP16_4, precision=Precision.FP32)},
        {"configuration": replace(FP16_4, runtime="onnxruntime")},
    ],
)
def test_another_graph_or_target_is_not_measured(changes: dict[str, object]) -> None:
    asked = prediction(**changes)

    assert with_measured([asked], [measurement(10.0)]) == (asked,)


def test_a_measured_cell_needs_no_number_of_the_engine() -> None:
    (found,) = with_measured(
        [prediction(basis=None, latency_ms=None, low80_ms=None, problem="metric is not known")]
    )

    assert (found.basis, found.latency_ms, found.predicted_ms) == (Basis.MEASURED, 40.0, None)
    assert found.problem == ""


def test_the_users_newest_measurement_comes_first() -> None:
    samples = tuple(int(1e6 * ms) for ms in (30.0, 33.0, 36.0))
    mine = [measurement(50.0), measurement(33.0, samples_ns=samples, protocol="ctm-probe/1")]

    (found,) = with_measured([prediction()], mine)

    spread = math.sqrt(
        sum((math.log(ms) - sum(map(math.log, (30, 33, 36))) / 3) ** 2 for ms in (30, 33, 36)) / 3
    )
    assert (found.latency_ms, found.predicted_ms) == (33.0, 30.0)
    assert found.high80_ms == pytest.approx(33 * math.exp(Z80 * spread))
    assert found.provenance == "your own measurement, median of 3 runs, ctm-probe/1"


def test_a_value_without_samples_is_as_sure_as_medians_are() -> None:
    (found,) = with_measured([prediction()], [measurement(10.0)])

    assert found.low95_ms == pytest.approx(10 * math.exp(-0.02 * Z95))
    assert found.provenance == "your own measurement, median, typed-by-hand/1"


def test_what_an_engine_measured_itself_keeps_its_own_prediction() -> None:
    (found,) = with_measured([prediction(basis=Basis.MEASURED, latency_ms=41.0, predicted_ms=28.0)])

    assert (found.latency_ms, found.predicted_ms) == (40.0, 28.0)


def test_a_damaged_file_costs_no_prediction(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.undo()

    def damaged() -> Published:
        raise HostError("published.npz", "it cannot be read", "install the program again")

    monkeypatch.setattr(measured, "read_published", damaged)
    measured._published.cache_clear()
    try:
        assert with_measured([prediction()]) == (prediction(),)
    finally:
        measured._published.cache_clear()
    assert "published.npz: it cannot be read" in caplog.text
