"""Train the estimate of hardware that was not measured, with its track record.

The record is of silicon, or of devices, left out: intervals are as wide as they had to be there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from predictor.calibration.efficiencies import LEVELS, groups_of
from predictor.core.errors import InputError
from predictor.core.files import replaced, sync
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.engine.checkpoint import ESTIMATE, read_card
from predictor.engine.estimate import Estimate, Track, write_estimate
from predictor.research.corpus import open_corpus
from predictor.research.evaluation.judge.asked import Answers
from predictor.research.evaluation.judge.estimate import EstimateEngine
from predictor.research.evaluation.judge.figures import of_silicon
from predictor.research.evaluation.judge.folds import Fold, device_folds, silicon_folds
from predictor.research.evaluation.judge.groups import Floats, Numbers, medians, numbered
from predictor.research.evaluation.judge.judged import Judged, judged_of
from predictor.research.training.files import write_card

_LEAST_SILICON: Final = 3
_ENOUGH_SILICON: Final = 8  # fewer tell an error, but not how wide an interval has to be
_LEAST_FACTOR: Final = 0.3
# Of a checkpoint that has an estimate beside the network.
ENGINE_NAME: Final = "closertome/2"
ESTIMATE_DATA: Final = "estimate_data"  # note of the card: measurements that it learned from


def train_estimate(
    judged: Judged,
    *,
    seed: int = 0,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> Estimate:
    """Return the estimate that is trained on all measurements of a corpus.

    Args:
        judged: the corpus.
        seed: of the folds.
        progress: told at each fold.
        cancel: asks to stop.

    Raises:
        InputError: all measurements are of one silicon.
        CancelledError: a stop was asked for.
    """
    if len(np.unique(judged.silicon_of(judged.rows))) < 2:
        raise InputError(
            "measurements",
            "all are of one kind of silicon, so none can be left out",
            "give a data folder with more",
        )
    engine = EstimateEngine(judged)
    settings = {"unseen": silicon_folds(judged, seed), "near": device_folds(judged, seed)}
    count = sum(map(len, settings.values()))
    tracks = {}
    for place, (name, folds) in enumerate(settings.items()):
        answers = _asked(engine, judged, folds, place * len(folds), count, progress, cancel)
        tracks[name] = _tracks(judged, answers)
    # Where no two devices share silicon, known silicon has the record of unseen.
    tracks["near"].setdefault("all", tracks["unseen"]["all"])
    fitted = engine.fit(judged, np.arange(len(judged.target)))
    return Estimate(fitted.efficiencies, fitted.evidence, tracks)


def estimate_of_data(
    data: Path,
    devices: Mapping[str, Device],
    folder: Path,
    *,
    seed: int = 0,
    progress: ProgressCallback = no_progress,
) -> None:
    """Train the estimate on a data folder and write it into a checkpoint, whose card counts it.

    Raises:
        InputError: the data holds no source or one silicon alone, or the folder no checkpoint.
        HostError: the cache of the corpus, or a file of the checkpoint, cannot be written.
    """
    # Its own estimate is not read: it may be of an earlier form.
    engine = read_card(folder)
    corpus = open_corpus(data, progress=progress)
    judged = judged_of(corpus, devices)
    estimate = train_estimate(judged, seed=seed, progress=progress)
    counts = np.bincount(corpus.measurements.source, minlength=len(corpus.sources)).tolist()
    learned = dict(zip(corpus.sources, counts, strict=True))
    notes = {**engine.notes, ESTIMATE_DATA: learned}
    # Both are on the disk before either is renamed: a kill until then leaves the old checkpoint.
    with replaced(folder / ESTIMATE) as written:
        write_estimate(written, estimate)
        sync(written)
        write_card(folder, replace(engine, name=ENGINE_NAME, notes=notes), written)


def _asked(
    engine: EstimateEngine,
    judged: Judged,
    folds: Sequence[Fold],
    done: int,
    count: int,
    progress: ProgressCallback,
    cancel: CancelToken | None,
) -> Answers:
    rows, predicted = [], []
    for number, fold in enumerate(folds):
        if cancel is not None:
            cancel.check()
        progress(Progress(done + number, count, "the estimate on what it has not seen"))
        rows.append(fold.rows)
        predicted.append(engine.fit(judged, fold.train).predict(fold.rows, {}))
    return Answers.joined(rows, predicted)


def _tracks(judged: Judged, answers: Answers) -> dict[str, Track]:
    """Return the records of groups that were checked on enough silicon."""
    groups = [groups_of(target) for target in judged.targets]
    table = of_silicon(judged, answers)
    class_group = {of["class"]: of for of in groups}
    of_class = [class_group[str(judged.classes[number])] for number in table.klass.tolist()]
    first, cell = numbered(judged.target[answers.rows], judged.network[answers.rows])
    apart = np.abs(answers.log_ms - judged.log_latency[answers.rows]) / answers.deviation
    apart = medians(cell, apart, len(first))
    target = judged.target[answers.rows[first]]
    tracks: dict[str, Track] = {}
    for name in LEVELS:
        of_target = np.array([of[name] for of in groups])
        of_table = np.array([of[name] for of in of_class])
        for group in np.unique(of_target[target]).tolist():
            mine = of_target[target] == group
            silicon = judged.silicon[target[mine]]
            number = len(np.unique(silicon))
            if number < _LEAST_SILICON and name != "all":
                continue
            is_few = number < _ENOUGH_SILICON and name != "all"
            wide = [_factor(apart[mine], silicon, share, is_few=is_few) for share in (0.8, 0.95)]
            if is_few:
                kind = class_group[group]["kind"] if name == "class" else ""
                coarser = tracks.get(kind, tracks["all"])
                wide = [max(wide[0], coarser.wide80), max(wide[1], coarser.wide95)]
            tracks[group] = Track(
                silicon=number,
                devices=len(np.unique(judged.device[target[mine]])),
                error=round(float(np.nanmedian(table.error[of_table == group])), 4),
                wide80=round(wide[0], 4),
                wide95=round(max(wide), 4),
            )
    return tracks


def _factor(apart: Floats, silicon: Numbers, share: float, *, is_few: bool) -> float:
    """Return the quantile of standardised errors in which each silicon counts the same.

    With n kinds of silicon it is that of share (n + 1) / n: a new one is one more draw. Of a few
    that would be the largest error, so it is the plain quantile.
    """
    _, member, sizes = np.unique(silicon, return_inverse=True, return_counts=True)
    order = np.argsort(apart)
    reached = np.cumsum(1 / (sizes[member][order] * len(sizes)))
    wanted = share if is_few else min(1.0, share * (len(sizes) + 1) / len(sizes))
    place = min(int(np.searchsorted(reached, wanted)), len(order) - 1)
    return max(float(apart[order[place]]), _LEAST_FACTOR)
