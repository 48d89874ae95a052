"""Messages of a runner on another machine, which may say anything."""

from __future__ import annotations

import json
import math

import pytest

from predictor.probing.measuring.documents import event_of, finite
from predictor.probing.measuring.interface import Drift
from predictor.probing.runner.messages import parse_line


def drift(medians: object, value: object) -> dict[str, object]:
    return {"payload": {"event": "drift", "medians_ms": medians, "drift": value}}


def test_a_drift_is_read() -> None:
    assert event_of(drift([1, 2.5], 0.04)) == Drift((1.0, 2.5), 0.04)


@pytest.mark.parametrize("value", ["inf", "nan", math.inf, None, [1], 10**400])
def test_a_drift_that_is_no_finite_number_is_no_event(value: object) -> None:
    assert event_of(drift([1.0], value)) is None
    assert event_of(drift([value], 0.1)) is None


def test_a_finite_number_is_one() -> None:
    assert finite("2.5") == 2.5
    with pytest.raises(ValueError, match="inf"):
        finite("inf")


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_message_with_a_number_that_is_no_json_is_none(number: str) -> None:
    sound = json.dumps({"id": 1, "kind": "progress", "payload": {"load": 5.5}})

    assert parse_line(sound.encode()) is not None
    assert parse_line(sound.replace("5.5", number).encode()) is None
