"""Corrections of the product's level from inputs that know it, and from ones that do not."""

from __future__ import annotations

import numpy as np
import pytest

from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.words import INPUTS, corrected
from ctm_research.goals import LEAST_SILICON
from research.tests.evaluation.judge.hand_made import Row, judged

SILICON = 40
NETWORKS = 3


def field_and_level() -> tuple[Field, np.ndarray]:
    """Return silicon whose latencies are off by a level that one hidden number tells."""
    hidden = np.random.default_rng(0).choice([-1.0, 1.0], SILICON)
    rows = [
        Row(f"{s:02}", n, float(np.exp(0.5 * hidden[s])))
        for s in range(SILICON)
        for n in range(NETWORKS)
    ]
    made = judged(rows)
    return Field(made, made.rows, ()), hidden


@pytest.mark.parametrize("knows", [True, False])
def test_a_text_counts_where_it_knows_what_numbers_do_not(knows: bool) -> None:
    field, hidden = field_and_level()
    assert len(hidden) >= LEAST_SILICON
    rows = field.rows
    answers = Answers(rows, np.zeros(len(rows)), np.full(len(rows), np.nan))
    noise = np.random.default_rng(1).normal(size=(3, SILICON, 1))
    columns = {"numbers": noise[0], "architecture": noise[1], "text": noise[2]}
    if knows:
        columns["text"] = hidden[:, None]

    entry = corrected(field, answers, columns)

    assert entry["before"] == pytest.approx(50, abs=15)
    assert set(entry["after"]["ridge"]) == {" + ".join(names) for names in INPUTS}
    assert entry["adds"] is knows
    if knows:
        assert entry["after"]["ridge"]["text"] < 5
