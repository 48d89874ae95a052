"""The learned network as an engine that the judge trains, in three folds.

Each training is kept in a folder under the digest of its measurements: a judgement that was stopped
goes on, and one on the same data trains nothing again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from ctm_research.evaluation.engine.learned import Calibration, LearnedEngine
from ctm_research.evaluation.judge.engines import FittedEngine, Predicted
from ctm_research.evaluation.judge.groups import members
from ctm_research.evaluation.judge.judged import Judged, Rows
from ctm_research.training.build import Trained, train_network
from ctm_research.training.calibrate import Expected
from ctm_research.training.loop import Recipe
from predictor.calibration.deviation import DeviationPrior
from predictor.core.errors import HostError
from predictor.core.percentiles import Z80
from predictor.core.progress import CancelToken, ProgressCallback, no_progress
from predictor.engine.checkpoint import Widths


class NetworkEngine:
    """Trains the network without the silicon of a fold.

    Scales of deviations and intervals are not fitted anew: they are those of a checkpoint.
    """

    name: Final = "network"
    folds: Final = 3

    def __init__(
        self,
        folder: Path,
        recipe: Recipe,
        prior: DeviationPrior,
        widths: Widths,
        progress: ProgressCallback = no_progress,
        cancel: CancelToken | None = None,
    ) -> None:
        """Prepare.

        Args:
            folder: that keeps the trainings.
            recipe: of each.
            prior: of deviations.
            widths: of intervals.
            progress: told while it trains.
            cancel: asks to stop.

        Raises:
            HostError: the folder cannot be made.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HostError(
                str(folder), f"it cannot be made ({error.strerror})", "choose another folder"
            ) from error
        self._folder, self._recipe = folder, recipe
        self._calibration = Calibration(prior, widths)
        self._progress, self._cancel = progress, cancel

    def fit(self, judged: Judged, train: Rows) -> FittedEngine:
        """Train, or go on with a training that was stopped.

        Raises:
            InputError: the kept state is of another recipe, or damaged.
            CancelledError: a stop was asked for; finished steps are kept.
        """
        latency = judged.log_latency[train].tobytes()
        digest = hashlib.sha256(train.tobytes() + latency).hexdigest()[:16]
        trained = train_network(
            judged.corpus,
            list(judged.targets),
            train,
            self._recipe,
            self._folder / f"{digest}.safetensors",
            self._progress,
            self._cancel,
        )
        return _FittedNetwork(judged, trained, self._calibration)


class _FittedNetwork:
    def __init__(self, judged: Judged, trained: Trained, calibration: Calibration) -> None:
        self._judged, self._trained, self._calibration = judged, trained, calibration
        self._expected: Expected = {}  # of the fold's rows: asked for again in each draw

    def predict(self, rows: Rows, measured: Mapping[int, Rows]) -> Predicted:
        """See :class:`ctm_research.evaluation.judge.engines.FittedEngine`."""
        corpus = self._judged.corpus
        every = np.concatenate([rows, *measured.values()])
        pairs = np.stack([self._judged.graph[every], self._judged.target[every]], axis=1)
        new = [pair not in self._expected for pair in map(tuple, pairs.tolist())]
        self._expected |= self._trained.expected(corpus, every[np.array(new, np.bool_)])
        engine = LearnedEngine(corpus, self._expected, {}, self._calibration)
        log_ms, deviation = np.full((2, len(rows)), np.nan)
        for target, places in members(self._judged.target[rows]):
            read = measured.get(target, rows[:0])
            p50, _, high80, _, _ = engine(self._judged.graph[rows[places]], target, read)
            log_ms[places], deviation[places] = np.log(p50), np.log(high80 / p50) / Z80
        return Predicted(log_ms, deviation)
