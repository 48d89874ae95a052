"""The estimate without its learned parts, on a corpus that it is trained on in seconds."""

from __future__ import annotations

import numpy as np
import pytest

from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.estimate import WHOLE, EstimateEngine, Learned
from ctm_research.evaluation.judge.figures import of_silicon
from ctm_research.evaluation.judge.learned_parts import FORMS, document, page
from ctm_research.evaluation.judge.operator_network import OperatorTraining
from predictor.core.arrays import Floats
from research.tests.evaluation.judge.small_training import corpus_of


def test_forms_train_their_operators_once_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    trainings: list[int] = []
    train = OperatorTraining.fit

    def counted(self: OperatorTraining, rows: np.ndarray, efficient: Floats) -> object:
        trainings.append(len(rows))
        return train(self, rows, efficient)

    monkeypatch.setattr(OperatorTraining, "fit", counted)
    corpus = corpus_of(6)
    rows = np.arange(len(corpus.target))
    engine = EstimateEngine(corpus)

    fitted = {
        name: engine.variant(name, learned).fit(corpus, rows) for name, learned in FORMS.items()
    }

    assert len(trainings) == 1
    assert fitted["nothing learned"].operators is None
    assert fitted["without factors of operators"].operators is None
    assert fitted["without deviations of networks"].operators is fitted["whole"].operators
    assert set(FORMS.values()) == {WHOLE, frozenset(), *(WHOLE - {part} for part in Learned)}


def test_the_page_has_medians_and_means_of_classes_with_enough_silicon() -> None:
    corpus = corpus_of(9)
    rows = corpus.rows
    answers = Answers(rows, corpus.log_latency[rows] + np.log(1.2), np.full(len(rows), 0.3))
    table = of_silicon(corpus, answers)

    figures = document(corpus, {"unseen": dict.fromkeys(FORMS, table)})

    (entry,) = figures["settings"]["unseen"]["classes"]
    assert entry["error_percent"]["whole"] == pytest.approx(20)
    assert figures["settings"]["unseen"]["mean_percent"]["whole"] == pytest.approx(20)
    text = page({**figures, "widths": None}, "By hand.")
    assert "| median |  | 20.0 |" in text
    assert "| geometric mean |  | 20.0 |" in text
    assert "Widths" not in text
