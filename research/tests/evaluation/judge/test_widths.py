"""Whether widths rank errors of levels, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.judged import Judged
from ctm_research.evaluation.judge.widths import width_rank
from research.tests.evaluation.judge.hand_made import Row, judged

ERRORS = (0.1, 0.2, 0.3, 0.4, 0.5)


def asked(runtime: str, sign: int = 1) -> list[Row]:
    """Return five silicon of a class, two networks each, that take longer and longer."""
    return [
        Row(f"s{place}", network, float(np.exp(sign * error)), runtime=runtime)
        for place, error in enumerate(ERRORS)
        for network in (0, 1)
    ]


def answers(corpus: Judged, widths: list[float]) -> Answers:
    """Return answers of 1 ms, with a width for each silicon in the order of the rows."""
    rows = np.arange(len(corpus.target))
    return Answers(rows, np.zeros(len(rows)), np.repeat(widths, 2).astype(np.float64))


@pytest.mark.parametrize(
    ("widths", "correlation"),
    [([1, 2, 3, 4, 5], 1.0), ([5, 4, 3, 2, 1], -1.0), ([2, 2, 2, 2, 2], 0.0)],
)
def test_ranks_of_one_class(widths: list[float], correlation: float) -> None:
    corpus = judged(asked("ncnn"))

    rank = width_rank(corpus, answers(corpus, widths), seed=0)

    assert rank is not None
    assert rank.correlation == pytest.approx(correlation)
    assert (rank.silicon, rank.classes) == (5, 1)
    assert rank.low <= rank.correlation


def test_classes_are_ranked_each_in_itself_and_signs_count_alike() -> None:
    """Wide intervals and small errors in one class are none of another with narrow ones."""
    corpus = judged([*asked("ncnn"), *asked("tflite", sign=-1)])
    widths = [1.0, 2, 3, 4, 5, 0.1, 0.2, 0.3, 0.4, 0.5]

    rank = width_rank(corpus, answers(corpus, widths), seed=0)

    assert rank is not None
    assert rank.correlation == pytest.approx(1.0)
    assert rank.classes == 2


def test_few_silicon_say_nothing() -> None:
    corpus = judged(asked("ncnn")[:8])

    assert width_rank(corpus, answers(corpus, [1.0, 2, 3, 4]), seed=0) is None
