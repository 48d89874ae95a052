"""Predictions of a graph corrected by what the user measured of it elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from predictor.calibration.graph_deviation import REPEAT_VARIANCE
from predictor.core.documents import Provenance
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.percentiles import Z80, Z95
from predictor.core.prediction import Prediction, ScaledFrom
from predictor.core.records import Basis, Configuration, Device, Measurement, Target
from predictor.services.prediction.predict import predict
from predictor.services.prediction.scaling import check_plausible, doubt_of, scaled
from tests.support.graphs import Op
from tests.support.models import make_model

FACTS = {"core_count": 8, "clock_mhz": 2000, "fp32_au_per_core": 8, "dram_bw_gbps": 20}
BOARD = Device(id="board", name="Board", vendor="Me", family=Family.CPU, metrics=FACTS, chip="one")
OTHER = Device(id="other", name="Other", vendor="Me", family=Family.CPU, metrics=FACTS, chip="two")
ONE, FOUR = (Target(BOARD, Configuration("ncnn", threads=count)) for count in (1, 4))
FAR = Target(OTHER, Configuration("ncnn", threads=1))
# Of other threads of a device of unknown silicon; see tests/unit/calibration.
SHARED = 0.70 * 0.09 + 0.37 * 0.19 + 0.85 * 0.36
GAIN = SHARED / (0.64 + REPEAT_VARIANCE)
WIDTH = math.sqrt(1 - GAIN * SHARED / 0.64)


MODEL = make_model(Op(macs=2 * 10**8, weights=10**6, read=2 * 10**6))


def prediction(target: Target, latency_ms: float | None = 10.0, **facts: object) -> Prediction:
    apart80, apart95 = math.exp(Z80 * 0.8), math.exp(Z95 * 0.8)
    ends = (
        {}
        if latency_ms is None
        else {
            "low80_ms": latency_ms / apart80,
            "high80_ms": latency_ms * apart80,
            "low95_ms": latency_ms / apart95,
            "high95_ms": latency_ms * apart95,
        }
    )
    basis = None if latency_ms is None else Basis.ZERO_SHOT
    base = Prediction(
        model="net.onnx",
        fingerprint="f" * 64,
        device_id=target.device.id,
        configuration=target.id.configuration,
        engine="closertome/2",
        basis=basis,
        latency_ms=latency_ms,
        **ends,
        bound_ms=1.0,
    )
    return replace(base, **facts)  # type: ignore[arg-type]  # any field


def measured(target: Target, value_ms: float, fingerprint: str = "f" * 64) -> Measurement:
    return Measurement(
        id="1" * 32,
        fingerprint=fingerprint,
        device_id=target.device.id,
        configuration=target.id.configuration,
        samples_ns=(),
        value_ms=value_ms,
        statistic="median",
        protocol="typed-by-hand/1",
        provenance=Provenance({}),
    )


def test_the_prediction_moves_by_the_gain_and_its_intervals_narrow() -> None:
    before = prediction(FOUR, evidence="not measured here")

    same, moved = scaled([prediction(ONE), before], [ONE, FOUR], {ONE.id: measured(ONE, 20.0)})

    assert same == prediction(ONE)
    assert moved.latency_ms == pytest.approx(10.0 * 2.0**GAIN)
    assert moved.scale == pytest.approx(2.0**GAIN)
    assert moved.high80_ms == pytest.approx(moved.latency_ms * math.exp(Z80 * 0.8 * WIDTH))
    assert moved.low95_ms == pytest.approx(moved.latency_ms / math.exp(Z95 * 0.8 * WIDTH))
    assert moved.basis is Basis.ZERO_SHOT
    assert moved.scaled_from == (ScaledFrom("board", ONE.id.configuration, 20.0),)
    assert moved.evidence == (
        "scaled from 20 ms that you measured on this device (ncnn, fp32, 1 thread); 10 ms without: "
        "not measured here"
    )


def test_another_device_is_named() -> None:
    twin = Target(replace(OTHER, chip="one"), ONE.configuration)
    own = {ONE.id: measured(ONE, 20.0)}
    _, moved = scaled([prediction(ONE), prediction(twin)], [ONE, twin], own)
    assert moved.evidence == (
        "scaled from 20 ms that you measured on Board (ncnn, fp32, 1 thread); 10 ms without"
    )


def test_what_was_as_predicted_only_narrows() -> None:
    before = prediction(FOUR)
    _, moved = scaled([prediction(ONE), before], [ONE, FOUR], {ONE.id: measured(ONE, 10.0)})
    assert moved.latency_ms == before.latency_ms
    assert moved.high80_ms is not None
    assert before.high80_ms is not None
    assert moved.high80_ms < before.high80_ms


def test_no_number_falls_under_its_bound() -> None:
    before = prediction(FOUR, bound_ms=8.0, low80_ms=8.0, low95_ms=8.0)
    _, moved = scaled([prediction(ONE), before], [ONE, FOUR], {ONE.id: measured(ONE, 2.0)})
    assert (moved.latency_ms, moved.low80_ms, moved.low95_ms) == (8.0, 8.0, 8.0)
    assert moved.scale == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("target", "before"),
    [
        (FAR, prediction(FAR)),
        (FOUR, prediction(FOUR, None, problem="not supported")),
        (FOUR, replace(prediction(FOUR), low80_ms=None, high80_ms=None)),
    ],
)
def test_other_silicon_and_what_has_no_number_or_interval_stays(
    target: Target, before: Prediction
) -> None:
    own = {ONE.id: measured(ONE, 20.0)}
    assert list(scaled([prediction(ONE), before], [ONE, target], own))[1] is before


@pytest.mark.parametrize("value_ms", [10_001.0, 0.0099, 0.19])
def test_a_stored_latency_that_cannot_be_is_left_out(value_ms: float) -> None:
    both = [prediction(ONE), prediction(FOUR)]
    assert list(scaled(both, [ONE, FOUR], {ONE.id: measured(ONE, value_ms)})) == both
    with pytest.raises(InputError, match="look at its unit"):
        check_plausible("the latency", value_ms, both[0])


def test_what_can_be_is_no_doubt() -> None:
    assert doubt_of(0.2, prediction(ONE)) == ""
    assert doubt_of(9999.0, prediction(ONE)) == ""
    assert doubt_of(1e-9, prediction(ONE, bound_ms=None)) != ""
    assert doubt_of(1e-9, prediction(ONE, None, bound_ms=None)) == ""
    # Against the engine's own, where another latency was measured.
    assert doubt_of(10_001.0, prediction(ONE, 1000.0, predicted_ms=10.0)) != ""


def test_predict_takes_what_was_measured_on_a_device_that_is_not_asked_about() -> None:
    targets = [FOUR, FAR]
    plain = predict([MODEL], targets)
    (there,) = predict([MODEL], [ONE])
    assert there.latency_ms is not None
    own = [measured(ONE, there.latency_ms * 2, MODEL.graph.fingerprint)]

    known = predict([MODEL], targets, measurements=own, devices={"board": BOARD})

    assert [p.device_id for p in known] == ["board", "other"]
    assert known[0].latency_ms is not None
    assert known[0].latency_ms > (plain[0].latency_ms or math.inf)
    assert known[1] == plain[1]
    # The devices of the targets are known anyway; of others nothing is told.
    assert predict([MODEL], targets, measurements=own) == known
    assert predict([MODEL], [FAR], measurements=own) == predict([MODEL], [FAR])
    # Another model's latency is none of this one's.
    assert predict([MODEL], targets, measurements=[replace(own[0], fingerprint="e" * 64)]) == plain


def test_the_measured_target_shows_what_was_measured() -> None:
    (plain,) = predict([MODEL], [ONE])
    assert plain.latency_ms is not None
    own = measured(ONE, plain.latency_ms * 2, MODEL.graph.fingerprint)

    shown, other = predict([MODEL], [ONE, FOUR], measurements=[own])

    assert (shown.basis, shown.latency_ms) == (Basis.MEASURED, own.value_ms)
    assert (shown.predicted_ms, shown.scaled_from) == (plain.latency_ms, ())
    assert [each.device_id for each in other.scaled_from] == ["board"]
