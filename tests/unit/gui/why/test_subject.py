"""Facts of what is selected, by hand-picked numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ctm_gui.prediction.explanation import Costs
from ctm_gui.why.subject import costs_on_targets, subject_of
from predictor.core.units import LatencyUnit
from predictor.services.prediction.sensitivity import FactSensitivity, Sensitivity
from tests.support.explained import explained_pair

MS = LatencyUnit.MS
NOTHING = np.zeros(0, dtype=np.intp)


def fact(name: str, elasticity: float) -> FactSensitivity:
    operators = np.full(8, elasticity)
    operators[3] = np.nan  # takes no time
    return FactSensitivity(
        fact=name, label=name, unit="GB/s", value=1.0, elasticity=elasticity, more=1.0,
        operators=operators,
    )  # fmt: skip


def test_one_operator_has_the_roof_that_holds_it_and_what_it_reaches() -> None:
    subject = subject_of(explained_pair(), np.array([0]), MS)
    assert subject.title == "/block0/op_0"
    assert subject.kind == "Conv, output 1×8"
    facts = dict(subject.facts)
    assert facts["Time"] == "1 ms, 4.17 % of the model"
    assert facts["Likely"] == "0.5 to 2 ms"
    assert facts["Parts"] == "arithmetic 0.5 ms, memory 0.25 ms, launch 0.25 ms"
    assert facts["Held by"] == "FP32 peak"
    assert facts["Reaches"] == "0.2 % of 1 TFLOP/s (2 GFLOP/s)"


def test_memory_and_starts_hold_operators_too() -> None:
    of_memory = dict(subject_of(explained_pair(), np.array([1]), MS).facts)
    assert of_memory["Held by"] == "Memory bandwidth"
    assert of_memory["Reaches"] == "10 % of 10 GB/s (1 GB/s)"
    of_start = dict(subject_of(explained_pair(), np.array([2]), MS).facts)
    assert of_start["Held by"] == "launch"
    assert "Reaches" not in of_start


def test_several_operators_are_summed_up() -> None:
    subject = subject_of(explained_pair(), np.array([0, 1]), MS)
    assert subject.title == "block0: 2 operators"
    assert subject.kind == "Conv × 2"
    facts = dict(subject.facts)
    assert facts["Time"].startswith("3 ms")
    held = [value for name, value in subject.facts if name in {"Held by", "and by"}]
    assert held == ["Memory bandwidth, 67 % of the time", "FP32 peak, 33 % of the time"]
    assert subject_of(explained_pair(), np.array([0, 6]), MS).title == "2 operators"


def test_a_measured_model_says_beside_which_time_its_parts_are() -> None:
    pair = replace(explained_pair(), measured_ms=10.5)
    words = "10.5 ms; the time here is what the engine predicts"
    assert dict(subject_of(pair, NOTHING, MS).facts)["Measured"] == words
    assert "Measured" not in dict(subject_of(pair, np.array([0]), MS).facts)


def test_nothing_selected_is_the_model() -> None:
    subject = subject_of(explained_pair(), NOTHING, MS)
    assert subject.title == "net"
    assert subject.kind == "Conv × 6, View × 2"
    assert dict(subject.facts)["Time"] == "24 ms, 100 % of the model"


def test_what_takes_no_time_says_so() -> None:
    subject = subject_of(explained_pair(), np.array([3]), MS)
    assert subject.help == ("It takes no time of its own.",)
    assert "Held by" not in dict(subject.facts)


def test_the_facts_that_move_it_most_come_first_and_then_advice() -> None:
    sensitivity = Sensitivity((fact("L2", 0.0), fact("Bandwidth", -1.0)), ())
    subject = subject_of(explained_pair(), np.array([1, 3]), MS, None, sensitivity)
    assert subject.help[0] == "Bandwidth +10 % saves 9.1 % of it."
    assert subject.help[1].startswith("Fewer bytes")


def test_the_same_operators_on_other_targets_are_the_fastest_first() -> None:
    times = np.stack([np.full(8, 2.0), np.full(8, 1.0)]).astype(np.float32)
    ends = np.array([[0.5, 2.0], [np.nan, np.nan]])
    costs = Costs(("Board", "Other"), times, ends, left_out=3)
    rows = costs_on_targets(costs, np.array([0, 1]), MS)
    assert rows == [
        ("Other", "2 ms", ""),
        ("Board", "4 ms", "2 to 8"),
        ("3 further targets", "", ""),
    ]
    assert subject_of(explained_pair(), np.array([0, 1]), MS, costs).place == 1


@pytest.mark.parametrize("count", [0, 1])
def test_one_target_has_none_to_compare_with(count: int) -> None:
    costs = Costs(("Board",)[:count], np.ones((count, 8), np.float32), np.ones((count, 2)))
    assert costs_on_targets(costs, np.array([0]), MS) == []
