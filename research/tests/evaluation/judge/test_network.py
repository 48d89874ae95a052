"""The network as an engine that the judge trains: kept by fold, asked like the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ctm_research.evaluation.judge.asked import by_target
from ctm_research.evaluation.judge.judged import Judged, judged_of
from ctm_research.evaluation.judge.network import NetworkEngine
from ctm_research.training.loop import Recipe
from predictor.calibration.deviation import DeviationPrior
from predictor.core.errors import HostError
from predictor.engine.checkpoint import Widths
from research.tests.corpus.small_corpus import catalogue, small_corpus

RECIPE = Recipe(steps=2, width=8, layers=1, responses=2, summary=3)
PRIOR, WIDTHS = DeviationPrior(0.3, 1.0, 0.1), Widths((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))


def engine(folder: Path) -> NetworkEngine:
    return NetworkEngine(folder, RECIPE, PRIOR, WIDTHS)


def corpus() -> Judged:
    return judged_of(small_corpus(), catalogue())


def test_each_training_is_kept_by_its_measurements(tmp_path: Path) -> None:
    judged = corpus()
    every = np.arange(len(judged.target))

    one, again = (engine(tmp_path).fit(judged, every[:-9]) for _ in range(2))
    engine(tmp_path).fit(judged, every)

    assert len(list(tmp_path.glob("*.safetensors"))) == 2
    told, same = (fitted.predict(judged.rows[-9:], {}) for fitted in (one, again))
    np.testing.assert_allclose(told.log_ms, same.log_ms)
    assert np.isfinite([told.log_ms, told.deviation]).all()


def test_measurements_move_their_own_target_only(tmp_path: Path) -> None:
    judged = corpus()
    fitted = engine(tmp_path).fit(judged, np.arange(len(judged.target)))
    targets = np.unique(judged.target[judged.rows])[:2]
    rows = judged.rows[np.isin(judged.target[judged.rows], targets)]
    read = rows[judged.target[rows] == targets[0]][:1]

    zero, told = (fitted.predict(rows, m) for m in ({}, by_target(judged, read)))

    mine = judged.target[rows] == targets[0]
    assert (told.log_ms[mine] != zero.log_ms[mine]).all()
    np.testing.assert_array_equal(told.log_ms[~mine], zero.log_ms[~mine])
    assert (told.deviation[mine] <= zero.deviation[mine] * (1 + 1e-9)).all()


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(HostError, match="it cannot be made"):
        engine(tmp_path / "file" / "folder")
