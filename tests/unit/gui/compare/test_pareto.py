"""Latency against score: the front, sentences, axes; scores as people type them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.compare.matrix import variant_matrix
from ctm_gui.compare.pareto import (
    ScoresGrid,
    axis_ranges,
    front,
    prefers_log_axis,
    trade_off,
    trade_off_sentence,
)
from ctm_gui.compare.scores import Scores, parse_score
from ctm_gui.prediction.comparison import ComparedModel
from ctm_gui.settings import Settings
from predictor.core.units import LatencyUnit
from tests.support.matrices import comparison_of, model_named

NUMBERS = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 5)), max_size=12)
LATENCIES = {"small": [1.0], "middle": [2.0], "poor": [3.0], "large": [4.0], "bare": [5.0]}
SCORES = [60.0, 70.0, 65.0, 80.0, None]


def found(*, higher: bool = True, budget_ms: float | None = None, unit=LatencyUnit.MS):
    return trade_off(
        variant_matrix(comparison_of(LATENCIES), 0),
        0,
        SCORES,
        score_name="Accuracy (%)",
        higher_is_better=higher,
        unit=unit,
        budget_ms=budget_ms,
    )


@given(NUMBERS)
def test_the_front_is_what_nothing_beats(points: list[tuple[int, int]]) -> None:
    latency = np.array([p[0] for p in points], dtype=np.float64)
    score = np.array([p[1] for p in points], dtype=np.float64)
    beaten = [
        any(
            latency[j] <= latency[i]
            and score[j] >= score[i]
            and (latency[j], score[j]) != (latency[i], score[i])
            for j in range(len(points))
        )
        for i in range(len(points))
    ]
    assert front(latency, score).tolist() == [not lost for lost in beaten]


def test_what_has_no_number_is_on_no_front() -> None:
    nan = np.nan
    assert front(np.array([1.0, nan, 2.0]), np.array([nan, 9.0, 1.0])).tolist() == [0, 0, 1]


def test_the_front_goes_by_steps() -> None:
    values, scores = found().front_path()
    assert values.tolist() == [1.0, 2.0, 2.0, 4.0, 4.0]
    assert scores.tolist() == [60.0, 60.0, 70.0, 70.0, 80.0]


def test_lower_may_be_better() -> None:
    assert found(higher=False).front.tolist() == [True, False, False, False, False]


def test_the_sentence_counts_and_names_the_best_within_the_budget() -> None:
    assert trade_off_sentence(found()) == "3 on the front, 1 dominated; 1 without a score"
    assert trade_off_sentence(found(budget_ms=3.0)).endswith("best within 3 ms: middle (70, 2 ms)")
    assert trade_off_sentence(found(budget_ms=0.5)).endswith("none meets 0.5 ms")
    bare = replace(found(), scores=np.full(5, np.nan), front=np.zeros(5, dtype=np.bool_))
    assert "Type a score" in trade_off_sentence(bare)


def test_rates_turn_the_axis_and_not_the_front() -> None:
    rates = found(unit=LatencyUnit.FPS, budget_ms=2.0)
    assert rates.values[0] == 1000.0
    assert rates.front.tolist() == found().front.tolist()
    assert rates.budget == 500.0


def test_axes_hold_every_point_and_a_budget_nearby() -> None:
    (left, right), (bottom, top) = axis_ranges(found(budget_ms=5.0), log=False)
    assert 0 <= left < 1.0
    assert right > 5.0
    assert bottom < min(SCORES[:4])
    assert top > max(SCORES[:4])
    assert axis_ranges(found(budget_ms=50.0), log=False)[0][1] < 5.0
    (left, right), _ = axis_ranges(found(), log=True)
    assert left < 0.0
    assert right > np.log10(4.0)
    assert not prefers_log_axis(found())


def test_the_table_says_where_each_model_stands() -> None:
    grid = ScoresGrid(found())
    assert [grid.columns[3].text(row) for row in (0, 2, 4)] == ["on the front", "dominated", "—"]


@pytest.mark.parametrize(
    ("text", "score"), [("71.9", 71.9), (" 71,9 % ", 71.9), ("", None), ("-3", -3.0)]
)
def test_scores_are_read_as_typed(text: str, score: float | None) -> None:
    assert parse_score(text) == score


@pytest.mark.parametrize("text", ["good", "1e999", "nan", "7 1"])
def test_what_is_no_score_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of float itself, or ours
        parse_score(text)


def test_scores_are_remembered_by_fingerprint_and_file(tmp_path: Path, qapp) -> None:
    settings = Settings(tmp_path / "window.ini")
    scores = Scores(settings)
    one = ComparedModel(1, "a", model_named("a, b.onnx"))
    scores.set(one, 71.9)
    scores.set(ComparedModel(2, "c", model_named("c.onnx")), 60.0)
    settings.sync()
    later = Scores(Settings(tmp_path / "window.ini"))
    assert later.of(ComparedModel(7, "a", model_named("a, b.onnx"))) == 71.9
    other_folder = replace(model_named("a, b.onnx"), path="/other/a, b.onnx")
    assert later.of(ComparedModel(8, "a", other_folder)) is None
    later.set(one, None)
    assert Scores(Settings(tmp_path / "window.ini")).of(one) is None


def test_a_score_stays_when_another_batch_changes_the_fingerprint(tmp_path: Path, qapp) -> None:
    scores = Scores(Settings(tmp_path / "window.ini"))
    model = model_named("a.onnx")
    scores.set(ComparedModel(1, "a", model), 50.0)
    batched = replace(model, graph=replace(model.graph, fingerprint="other"))
    assert scores.of(ComparedModel(1, "a", batched)) == 50.0
