"""The fastest model that meets a budget, and the sentence about it."""

from __future__ import annotations

from dataclasses import replace

from predictor.core.records import Basis
from predictor.services.prediction.fastest import (
    fastest_sentence,
    fastest_within,
    is_rankable,
    rank,
)
from tests.support.predictions import prediction

SLOW, FAST, NONE = prediction(30.0), prediction(20.0, name="b"), prediction(None, name="c")
NAMES = ["slow.onnx", "fast.onnx", "none.onnx"]


def test_the_fastest_that_meets_a_budget() -> None:
    assert fastest_within([SLOW, FAST, NONE], 25.0) == 1
    assert fastest_within([SLOW, FAST, NONE], 20.0) == 1
    assert fastest_within([SLOW, FAST, NONE], 19.0) is None
    assert fastest_within([SLOW, NONE], None) == 0
    assert fastest_within([NONE], None) is None


def test_the_sentence_names_model_and_latency() -> None:
    assert fastest_sentence([SLOW, FAST, NONE], NAMES, 25.0) == (
        "fast.onnx is the fastest that meets 25 ms: 20 ms (1 of 3 models meet it)"
    )
    assert fastest_sentence([SLOW, FAST], NAMES, None) == "fast.onnx is the fastest: 20 ms"


def test_where_none_meets_it_the_nearest_is_named() -> None:
    assert fastest_sentence([SLOW, FAST, NONE], NAMES, 10.0) == (
        "none of 3 models meets 10 ms; fast.onnx comes nearest with 20 ms"
    )
    problem = replace(NONE, problem="not supported")
    assert fastest_sentence([problem], NAMES, 10.0) == "no model has a number: not supported"


def test_an_interval_over_the_budget_is_a_doubt_and_one_under_it_a_hope() -> None:
    wide = [replace(FAST, low80_ms=15.0, high80_ms=27.0)]
    assert "though its 80 % interval reaches 27 ms" in fastest_sentence(wide, NAMES, 25.0)
    assert "begins at 15 ms" in fastest_sentence(wide, NAMES, 18.0)
    assert "interval" not in fastest_sentence(wide, NAMES, 28.0)


def test_a_name_from_a_file_is_escaped() -> None:
    assert "\\x1b" in fastest_sentence([FAST], ["\x1b[31m"], None)


def test_a_lower_limit_is_no_answer() -> None:
    limit = replace(prediction(1.0), flagged_operators=("MyOp",))
    assert fastest_within([limit, SLOW], None) == 1
    assert fastest_within([limit], 30.0) is None
    assert fastest_within([limit], None) is None
    assert fastest_sentence([limit], NAMES, 30.0) == (
        "not known: slow.onnx takes ≥ 1 ms, operators of unknown cost apart"
    )
    assert fastest_sentence([SLOW, limit], NAMES, 40.0).endswith("(1 of 2 models meet it)")
    assert sorted([NONE, limit, SLOW, FAST], key=rank) == [FAST, SLOW, limit, NONE]
    assert not is_rankable(limit)


def test_a_class_checked_on_few_chips_may_not_be_named_the_fastest() -> None:
    few = replace(FAST, basis=Basis.ZERO_SHOT, class_chips=4)
    assert not is_rankable(few)
    assert is_rankable(replace(few, class_chips=5))
    assert is_rankable(replace(few, class_chips=None)), "an engine that does not say"
    assert is_rankable(replace(few, basis=Basis.MEASURED))


def test_models_that_cannot_stand_in_for_one_another_are_counted() -> None:
    said = fastest_sentence([SLOW, FAST, NONE], NAMES, 25.0, are_related=False)
    assert said == "1 of 3 models meets 25 ms; not ranked, since their inputs or outputs differ"
    none = fastest_sentence([SLOW, FAST], NAMES, 1.0, are_related=False)
    assert none.startswith("none of 2 models meets 1 ms; not ranked")
    assert "fast" not in fastest_sentence([SLOW, FAST], NAMES, None, are_related=False)
