"""Predicted against measured: which prediction a measurement tells about, errors, warnings."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.documents import Provenance
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Measurement, Precision
from predictor.core.stored import StoredMeasurement, StoredPrediction
from predictor.services.history.truth import Pair, binomial_tail, errors_by_target, pairs, surprise

PI = Configuration("ncnn", Precision.FP16, 4, 1)


def predicted(
    number: int,
    latency_ms: float | None = 10.0,
    *,
    at: int = 0,
    basis: Basis | None = Basis.ZERO_SHOT,
    **facts: Any,
) -> StoredPrediction:
    fields = {"engine": "closertome/1", "configuration": PI, "device_id": "rpi5", **facts}
    prediction = Prediction(
        model="net.onnx", fingerprint="a" * 64, basis=basis, latency_ms=latency_ms, **fields
    )
    return StoredPrediction(
        id=f"{number:032x}", created_ns=at, path="", settings_hash="0" * 64, prediction=prediction
    )


def measured(
    number: int, value_ms: float = 10.0, *, at: int = 100, of: int | None = None, **facts: Any
) -> StoredMeasurement:
    fields = {"fingerprint": "a" * 64, "device_id": "rpi5", "configuration": PI, **facts}
    record = Measurement(
        id=f"{number:032x}", samples_ns=(), value_ms=value_ms, statistic="median",
        protocol="typed-by-hand/1", provenance=Provenance(), **fields,
    )  # fmt: skip
    return StoredMeasurement(record, at, None if of is None else f"{of:032x}")


def numbers(found: list[Pair]) -> list[tuple[int, int]]:
    return [(int(p.predicted.id, 16), int(p.measured.measurement.id, 16)) for p in found]


def test_the_last_prediction_before_the_measurement_is_the_one() -> None:
    past = [predicted(1, at=10), predicted(2, at=50), predicted(3, at=150)]
    assert numbers(pairs(past, [measured(9, at=100)])) == [(2, 9)]


def test_the_prediction_that_it_was_recorded_for_goes_first() -> None:
    past = [predicted(1, at=10), predicted(2, at=50)]
    assert numbers(pairs(past, [measured(9, at=100, of=1)])) == [(1, 9)]


def test_without_one_before_the_first_after_is_taken() -> None:
    past = [predicted(2, at=300), predicted(1, at=200)]
    assert numbers(pairs(past, [measured(9, at=100)])) == [(1, 9)]


def test_each_engine_and_basis_is_held_against_the_measurement() -> None:
    past = [
        predicted(1),
        predicted(2, engine="roofline/1", basis=Basis.ANALYTIC),
        predicted(3, basis=Basis.PROBED),
    ]
    assert sorted(numbers(pairs(past, [measured(9)]))) == [(1, 9), (2, 9), (3, 9)]


@pytest.mark.parametrize(
    "other",
    [
        {"fingerprint": "b" * 64},
        {"device_id": "rpi4"},
        {"configuration": dataclasses.replace(PI, runtime="tflite")},
        {"configuration": dataclasses.replace(PI, precision=Precision.INT8)},
        {"configuration": dataclasses.replace(PI, threads=1)},
    ],
    ids=str,
)
def test_another_graph_or_target_is_another_matter(other: dict[str, Any]) -> None:
    assert pairs([predicted(1)], [measured(9, **other)]) == []


def test_what_was_made_from_the_measurement_tells_nothing() -> None:
    informed = predicted(1, at=200, basis=Basis.PROBED, signature="5" * 32)
    itself = predicted(2, at=200, basis=Basis.MEASURED, predicted_ms=8.0)
    shown_before = predicted(4, at=50, basis=Basis.MEASURED)
    free = predicted(3, at=200, basis=Basis.PROBED, signature="6" * 32)
    members = {"5" * 32: {f"{9:032x}"}, "6" * 32: {f"{8:032x}"}}
    past = [informed, itself, free]
    assert numbers(pairs(past, [measured(9)], members)) == [(3, 9)]
    # A published latency that was shown before tells something.
    assert sorted(numbers(pairs([*past, shown_before], [measured(9)], members))) == [(3, 9), (4, 9)]


def test_a_prediction_without_a_number_is_left_out() -> None:
    assert pairs([predicted(1, None, basis=None)], [measured(9)]) == []


def test_errors_are_parts_of_the_measured_latency() -> None:
    (pair,) = pairs([predicted(1, 12.0)], [measured(9, 10.0)])
    assert pair.error == pytest.approx(0.2)
    assert pair.inside80 is None


def test_a_table_of_errors_by_target() -> None:
    interval = {"low80_ms": 8.0, "high80_ms": 12.0, "low95_ms": 5.0, "high95_ms": 20.0}
    past = [predicted(1, 10.0, **interval), predicted(2, 30.0, device_id="rpi4")]
    truth = [
        measured(3, 8.0),  # 25 % too slow, on the interval's end
        measured(4, 12.5),  # 20 % too fast, outside the 80 % interval
        measured(5, 25.0),  # 60 % too fast, outside both
        measured(6, 20.0, device_id="rpi4"),  # 50 % too slow
    ]
    first, second = errors_by_target(pairs(past, truth))
    assert (first.device_id, first.count) == ("rpi5", 3)
    assert first.median_error == pytest.approx(0.25)
    assert first.bias == pytest.approx(-0.2)
    assert (first.with_interval, first.inside80, first.inside95) == (3, 1, 2)
    assert first.configuration == dataclasses.replace(PI, batch=0)
    assert (second.device_id, second.count, second.with_interval) == ("rpi4", 1, 0)
    assert second.bias == pytest.approx(0.5)


def with_outcomes(outcomes: list[bool]) -> list[Pair]:
    """Pairs of one prediction of 8 to 12 ms, inside or outside of it."""
    past = [predicted(1, 10.0, low80_ms=8.0, high80_ms=12.0)]
    return pairs(
        past, [measured(100 + i, 9.0 if inside else 20.0) for i, inside in enumerate(outcomes)]
    )


def test_binomial_probabilities_by_hand() -> None:
    assert binomial_tail(0, 5, 0.2) == pytest.approx(1.0)
    assert binomial_tail(3, 3, 0.2) == pytest.approx(0.008)
    assert binomial_tail(2, 3, 0.2) == pytest.approx(3 * 0.04 * 0.8 + 0.008)


@pytest.mark.parametrize(
    ("outcomes", "warned"),
    [
        ([], False),
        ([False], False),  # one in five
        ([False, False], False),  # 4 of 100
        ([False] * 3, True),  # 8 of 1000
        ([False] * 3 + [True] * 3, False),  # 0.099
        ([False] * 5 + [True] * 3, False),  # 0.0104
        ([False] * 6 + [True] * 4, True),  # 0.0064
    ],
)
def test_a_warning_comes_only_where_chance_hardly_explains_it(
    outcomes: list[bool], warned: bool
) -> None:
    assert (surprise(with_outcomes(outcomes)) is not None) is warned


def test_only_the_last_twenty_count() -> None:
    assert surprise(with_outcomes([False] * 10 + [True] * 20)) is None
    found = surprise(with_outcomes([True] * 30 + [False] * 20))
    assert found is not None
    assert (found.outside, found.count) == (20, 20)


@given(st.integers(0, 30), st.integers(0, 30))
def test_more_outside_is_never_likelier(count: int, least: int) -> None:
    assert binomial_tail(least + 1, count, 0.2) <= binomial_tail(least, count, 0.2) + 1e-12
