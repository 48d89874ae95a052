"""Questions of a judgement: each row once, few measured networks drawn, training never sees."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from ctm_research.evaluation.judge.asked import SETTINGS, ask, few_measured
from ctm_research.evaluation.judge.engines import FittedEngine, Predicted
from ctm_research.evaluation.judge.folds import Fold
from ctm_research.evaluation.judge.judged import Judged, Rows
from predictor.core.errors import CancelledError
from predictor.core.progress import CancelToken
from predictor.services.measurements.track_record import UNSEEN
from research.tests.evaluation.judge.hand_made import Row, judged


class Watched:
    """Predicts nothing; notes what it was trained on and asked for."""

    name = "watched"

    def __init__(self, folds: int = 10) -> None:
        self.folds = folds
        self.asked: list[tuple[Rows, Rows, Mapping[int, Rows]]] = []

    def fit(self, judged: Judged, train: Rows) -> FittedEngine:  # noqa: ARG002
        outer = self

        class Fitted:
            def predict(self, rows: Rows, measured: Mapping[int, Rows]) -> Predicted:
                outer.asked.append((train, rows, measured))
                return Predicted(np.zeros(len(rows)), np.zeros(len(rows)))

        return Fitted()


def corpus() -> Judged:
    rows = [Row(f"s{s}", n, 1.0 + n) for s in range(12) for n in range(6) for _ in range(2)]
    return judged([*rows, Row("small", 0, 1.0), Row("small", 1, 1.0)])


def test_every_row_is_predicted_once_on_unseen_silicon() -> None:
    answers = ask(Watched(), corpus(), 0, draws=2)

    assert tuple(answers) == SETTINGS
    np.testing.assert_array_equal(np.sort(answers[UNSEEN].rows), corpus().rows)
    # In each draw three networks of each of twelve targets are left; two targets have too few.
    assert len(answers["k=3"].rows) == 2 * 12 * 3 * 2
    assert len(answers["k=8"].rows) == 0


def test_measured_rows_are_of_the_target_and_of_other_networks() -> None:
    judged = corpus()
    engine = Watched()

    ask(engine, judged, 0, draws=2)

    for train, rows, measured in engine.asked:
        for target, read in measured.items():
            assert set(judged.target[read]) == {target}
            assert len(set(judged.network[read])) == len(read) == 3
            mine = rows[judged.target[rows] == target]
            assert not set(judged.network[read]) & set(judged.network[mine])
        assert not set(train) & {*rows, *np.concatenate([rows[:0], *measured.values()])}


def test_draws_differ_and_repeat_under_a_seed() -> None:
    judged = corpus()
    fold = Fold(judged.rows[:0], judged.rows)

    one, again, other = (
        [read.tolist() for read, _ in few_measured(judged, fold, 3, 2, seed)] for seed in (0, 0, 1)
    )

    assert one == again
    assert one[0] != one[1]
    assert one != other


def test_an_engine_of_three_folds_is_trained_in_three_of_each_setting() -> None:
    engine = Watched(folds=3)

    answers = ask(engine, corpus(), 0, draws=1)

    assert len({id(train) for train, _, _ in engine.asked}) == 9
    assert 0 < len(answers[UNSEEN].rows) < len(corpus().rows)


def test_a_stop_is_obeyed() -> None:
    cancel = CancelToken()
    cancel.cancel()

    with pytest.raises(CancelledError):
        ask(Watched(), corpus(), 0, draws=1, cancel=cancel)
