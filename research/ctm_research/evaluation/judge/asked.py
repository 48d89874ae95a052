"""Questions of a judgement, and an engine's answers to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ctm_research.evaluation.judge.engines import JudgedEngine, Predicted
from ctm_research.evaluation.judge.folds import (
    Fold,
    device_folds,
    family_folds,
    silicon_folds,
)
from ctm_research.evaluation.judge.groups import Floats, members, numbered
from ctm_research.evaluation.judge.judged import Judged, Rows
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.services.measurements.track_record import SAME_CHIP, UNSEEN

FAMILIES: Final = "families"
KS: Final = (3, 8)
SETTINGS: Final = (UNSEEN, SAME_CHIP, FAMILIES, *(f"k={k}" for k in KS))


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """N predictions of measurements; with several draws a row is in it several times.

    Attributes:
        rows: int64 [N].
        log_ms: float64 [N], predicted.
        deviation: float64 [N].
    """

    rows: Rows
    log_ms: Floats
    deviation: Floats

    @classmethod
    def joined(cls, rows: Sequence[Rows], predicted: Sequence[Predicted]) -> Answers:
        """Join those of several questions."""
        none = np.empty(0)
        return cls(
            np.concatenate([none.astype(np.int64), *rows]),
            np.concatenate([none, *(each.log_ms for each in predicted)]),
            np.concatenate([none, *(each.deviation for each in predicted)]),
        )


def ask(
    engine: JudgedEngine,
    judged: Judged,
    seed: int,
    draws: int,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> dict[str, Answers]:
    """Train an engine in each fold and ask it; return its answers by setting.

    Raises:
        CancelledError: a stop was asked for.
    """
    folds = {
        UNSEEN: silicon_folds(judged, seed),
        SAME_CHIP: device_folds(judged, seed),
        FAMILIES: family_folds(judged, seed),
    }
    rows: dict[str, list[Rows]] = {setting: [] for setting in SETTINGS}
    predicted: dict[str, list[Predicted]] = {setting: [] for setting in SETTINGS}
    for place, setting in enumerate(folds):
        for number, fold in enumerate(folds[setting][: engine.folds]):
            if cancel is not None:
                cancel.check()
            done = place * engine.folds + number
            progress(Progress(done, len(folds) * engine.folds, f"{engine.name}, {setting}"))
            fitted = engine.fit(judged, fold.train)
            rows[setting].append(fold.rows)
            predicted[setting].append(fitted.predict(fold.rows, {}))
            if setting == UNSEEN:
                for k in KS:
                    for read, other in few_measured(judged, fold, k, draws, seed):
                        measured = by_target(judged, read)
                        rows[f"k={k}"].append(other)
                        predicted[f"k={k}"].append(fitted.predict(other, measured))
    return {setting: Answers.joined(rows[setting], predicted[setting]) for setting in SETTINGS}


def few_measured(
    judged: Judged, fold: Fold, k: int, draws: int, seed: int
) -> Iterator[tuple[Rows, Rows]]:
    """Draw k networks of each target of a fold; yield one row of each, and the other networks'.

    Targets with no more than k networks are left out.
    """
    rows = fold.rows
    first, cell = numbered(judged.target[rows], judged.network[rows])
    target = judged.target[rows[first]]
    enough = np.bincount(target, minlength=len(judged.targets))[target] > k
    starts = np.flatnonzero(np.diff(target, prepend=-1))
    begin = np.repeat(starts, np.diff([*starts, len(target)]))
    for draw in range(draws):
        rng = np.random.default_rng((seed, k, draw))
        shuffled = np.lexsort((rng.random(len(first)), target))
        rank = np.empty(len(first), np.int64)
        rank[shuffled] = np.arange(len(first)) - begin  # of the network on its target
        chosen = enough & (rank < k)
        other = enough & (rank >= k)
        yield rows[first[chosen]], rows[other[cell]]


def by_target(judged: Judged, rows: Rows) -> dict[int, Rows]:
    """Return measurements by their target."""
    return {target: rows[places] for target, places in members(judged.target[rows])}
