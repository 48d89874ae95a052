"""The page in the form of Table 2, of answers that are known."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from predictor.calibration.scores import Answers
from predictor.research.corpus import Corpus, Measurements
from predictor.research.corpus.single_operators import OPERATOR_FAMILY
from predictor.research.evaluation.engine import Validation, validate
from predictor.research.evaluation.engine.table2 import (
    asked,
    compared,
    findings,
    means,
    table2_page,
)
from predictor.research.evaluation.engine.validation import Answered
from tests.unit.research.corpus.small_corpus import small_corpus

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Columns = tuple[Floats, Floats, Floats, Floats, Floats]
# Errors of ten networks: 9.1 % in the mean, 5 within 5 %, 7 within 10 %, 8 within 15 %.
_ERRORS = np.array([1, 2, 3, 4, 5, 6, 10, 15, 20, 25]) / 100


def ten_networks() -> tuple[Corpus, Rows]:
    """Return a corpus in which timm measured ten networks on two targets, and these 20 rows."""
    corpus = small_corpus()
    m = corpus.measurements
    networks = np.flatnonzero(corpus.graphs.family != corpus.families.index(OPERATOR_FAMILY))[:10]
    added = np.repeat(corpus.rows_of("timm")[:1], 20)
    columns = {
        field.name: np.concatenate([getattr(m, field.name), getattr(m, field.name)[added]])
        for field in fields(m)
    }
    columns["graph"][-20:] = np.tile(networks, 2)
    columns["target"][-20:] = np.repeat(np.unique(m.target[corpus.rows_of("timm")])[:2], 10)
    columns["latency_ms"][-20:] = 4.0
    return replace(corpus, measurements=Measurements(**columns)), len(m) + np.arange(20)


def told(
    corpus: Corpus, rows: Rows, predicted_ms: Floats, part: str = "unseen_device"
) -> Validation:
    m, nothing = corpus.measurements, np.full(len(rows), np.nan)
    answers = Answers(m.latency_ms[rows], predicted_ms, nothing, nothing, nothing, nothing)
    source, target = m.source[rows].astype(np.int64), m.target[rows].astype(np.int64)
    answered = Answered(part, 8, source, target, rows, answers)
    return Validation(corpus.sources, (None,) * len(corpus.sources), [answered], 3)


def test_lines_and_means_are_those_worked_by_hand() -> None:
    corpus, rows = ten_networks()
    ours = told(corpus, rows, 4 * (1 + np.tile(_ERRORS, 2)))
    flat = told(corpus, rows, 4 * (1 - np.concatenate([2 * _ERRORS, np.zeros(10)])))

    lines = compared(ours, flat, corpus)

    assert [(line.source, line.k, line.networks) for line in lines] == [("timm", 8, 10)] * 2
    worse, better = sorted(lines, key=lambda line: -line.figures["rae_percent"][0])
    assert worse.figures["rae_percent"] == pytest.approx((18.2, 9.1))
    assert worse.figures["acc5_percent"] == pytest.approx((20, 50))
    assert worse.figures["acc10_percent"] == pytest.approx((50, 70))
    assert worse.figures["acc15_percent"] == pytest.approx((60, 80))
    assert better.figures["rae_percent"] == pytest.approx((0, 9.1))
    assert worse.is_better("rae_percent")
    assert not better.is_better("acc10_percent")
    (mean,) = means(lines)
    assert (mean.source, mean.k, mean.networks) == ("timm", 8, 2)
    assert mean.figures["rae_percent"] == pytest.approx((9.1, 9.1))
    assert mean.figures["acc5_percent"] == pytest.approx((60, 50))
    assert findings(lines) == (
        "The engine has the lower RAE on 1 of 2 lines and the larger share within 10 % on 1. "
        "Averaged over the targets of a source, its RAE is lower in 0 of 1 cases, from 9.10 % "
        "against 9.10 % (timm, k = 8) to 9.10 % against 9.10 % (timm, k = 8)."
    )


def test_the_page_has_the_better_one_in_bold() -> None:
    corpus, rows = ten_networks()
    ours = told(corpus, rows, 4 * (1 + np.tile(_ERRORS, 2)))
    flat = told(corpus, rows, 4 * (1 + 2 * np.tile(_ERRORS, 2)))

    page = table2_page(ours, flat, corpus, ["- date: today"])

    cells = "| 18.20 | **9.10** | 20.00 | **50.00** | 50.00 | **70.00** | 60.00 | **80.00** |"
    assert page.count(cells) == 3  # two targets and their mean
    assert f"| timm | 8 | 2 {cells}\n" in page
    assert "\n- date: today\n" in page
    assert "k = 8" in page
    assert "rtx3090, " in page


def test_a_target_with_nine_networks_has_no_line() -> None:
    corpus, rows = ten_networks()
    ours = told(corpus, rows[1:], np.full(19, 4.0))

    (line,) = compared(ours, ours, corpus)

    assert line.networks == 10
    assert not line.is_better("rae_percent")  # both are right


def test_a_method_without_numbers_is_never_the_better_one() -> None:
    corpus, rows = ten_networks()
    ours = told(corpus, rows, np.full(20, 8.0))
    flat = told(corpus, rows, np.full(20, np.nan))

    page = table2_page(ours, flat, corpus, [])

    assert "| - | **100.00** | - | **0.00** |" in page


def test_answers_to_different_measurements_are_not_compared() -> None:
    corpus, rows = ten_networks()
    predicted = np.full(20, 4.0)

    with pytest.raises(ValueError, match="the two answer different measurements"):
        compared(told(corpus, rows, predicted), told(corpus, rows[::-1], predicted), corpus)


def test_other_parts_are_not_on_the_page() -> None:
    corpus, rows = ten_networks()
    both = told(corpus, rows, np.full(20, 4.0), "unseen_both")

    assert compared(both, both, corpus) == []
    assert "| k |" not in table2_page(both, both, corpus, [])


def test_the_second_method_gets_the_probes_of_the_first() -> None:
    corpus, rows = ten_networks()
    calls: list[list[tuple[int, ...]]] = [[], []]

    class Recorder:
        def __init__(self, number: int) -> None:
            self.number = number

        def __call__(self, graphs: Rows, target: int, support: Rows) -> Columns:
            if len(support) == 8:
                calls[self.number].append((target, *graphs.tolist(), *support.tolist()))
            one = np.ones(len(graphs))
            return one, one, one, one, one

    parts = {"unseen_device": rows}
    ours = validate(Recorder(0), corpus, parts, queries=1)
    validate(Recorder(1), corpus, parts, asked(ours), queries=1)

    assert {name: ks for name, ks in asked(ours).items() if ks} == {"timm": (8,)}
    assert len(calls[0]) == 6  # two targets, three draws
    assert calls[1] == calls[0]
