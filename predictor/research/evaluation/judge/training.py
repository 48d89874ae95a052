"""Train the estimate of hardware that was not measured, with its track record.

The record is of silicon, or of devices, left out: intervals are as wide as they had to be there.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from predictor.calibration.efficiencies import LEVELS, groups_of
from predictor.core.errors import InputError
from predictor.core.files import replaced, sync
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.engine.checkpoint import ESTIMATE, read_card
from predictor.engine.estimate import TRACKED, Estimate, Track
from predictor.engine.estimate_file import write_estimate
from predictor.research.corpus import open_corpus
from predictor.research.evaluation.judge.asked import KS, Answers, by_target, few_measured
from predictor.research.evaluation.judge.estimate import EstimateEngine
from predictor.research.evaluation.judge.figures import of_silicon
from predictor.research.evaluation.judge.folds import Fold, device_folds, silicon_folds
from predictor.research.evaluation.judge.groups import Floats, Numbers, medians, numbered
from predictor.research.evaluation.judge.judged import Judged, judged_of
from predictor.research.evaluation.judge.kept_answers import Answered, KeptAnswers
from predictor.research.training.files import write_card

_LEAST_SILICON: Final = 3
_ENOUGH_SILICON: Final = 8  # of them a class has half of its own widths, half of a coarser group's
_LEAST_FACTOR: Final = 0.3
_LEAST_SPREAD: Final = 1e-3
_KEPT: Final = "estimate.folds"  # folder in that of the checkpoint, while training runs
_MANY: Final = 12  # networks: as published measurements of a target
# Of a checkpoint that has an estimate beside the network.
ENGINE_NAME: Final = "closertome/8"
ESTIMATE_DATA: Final = "estimate_data"  # note of the card: measurements that it learned from


def train_estimate(
    judged: Judged,
    *,
    seed: int = 0,
    kept: Path | None = None,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> Estimate:
    """Return the estimate that is trained on all measurements of a corpus.

    Args:
        judged: the corpus.
        seed: of the folds.
        kept: folder of the folds that an earlier run finished; None to keep none.
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
    folds = [(name, fold) for name, each in settings.items() for fold in each]
    memory = None if kept is None else KeptAnswers(kept, judged, seed)
    answers: dict[str, list[Answered]] = {name: [] for name in TRACKED}
    for number, (name, fold) in enumerate(folds):
        if cancel is not None:
            cancel.check()
        progress(Progress(number, len(folds), "the estimate on what it has not seen"))
        answer = partial(_answered, engine, judged, name, fold, seed)
        for each in answer() if memory is None else memory.of(number, answer):
            answers[each.setting].append(each)
    tracks = records(
        judged,
        {
            name: Answers.joined([of.rows for of in each], [of.predicted for of in each])
            for name, each in answers.items()
        },
    )
    fitted = engine.fit(judged, np.arange(len(judged.target)))
    assert fitted.operators is not None  # noqa: S101  # the engine is not plain
    return Estimate(fitted.efficiencies, fitted.operators, fitted.evidence, tracks)


def _answered(
    engine: EstimateEngine, judged: Judged, name: str, fold: Fold, seed: int
) -> list[Answered]:
    """Return what an estimate that is trained in a fold says of the others, by setting."""
    fitted = engine.fit(judged, fold.train)
    answers = [Answered(name, fold.rows, fitted.predict(fold.rows, {}))]
    if name == "unseen":
        for k in KS:
            for read, other in few_measured(judged, fold, k, 1, seed):
                predicted = fitted.predict(other, by_target(judged, read))
                answers.append(Answered("probed", other, predicted))
        for read, other in few_measured(judged, fold, _MANY, 1, seed):
            # As what ships has them: of a published target it keeps no more than level and shape.
            shipped = fitted.with_evidence(read)
            asked = shipped.of_measured(other)
            answers.append(Answered("measured", asked, shipped.predict(asked, {})))
    return answers


def estimate_of_data(
    data: Path,
    devices: Mapping[str, Device],
    folder: Path,
    *,
    seed: int = 0,
    progress: ProgressCallback = no_progress,
) -> None:
    """Train the estimate on a data folder and write it into a checkpoint, whose card counts it.

    A run that was stopped goes on at the fold where it was.

    Raises:
        InputError: the data holds no source or one silicon alone, or the folder no checkpoint.
        HostError: the cache of the corpus, or a file of the checkpoint, cannot be written.
    """
    # Its own estimate is not read: it may be of an earlier form.
    engine = read_card(folder)
    corpus = open_corpus(data, progress=progress)
    judged = judged_of(corpus, devices)
    kept = folder / _KEPT
    estimate = train_estimate(judged, seed=seed, kept=kept, progress=progress)
    counts = np.bincount(corpus.measurements.source, minlength=len(corpus.sources)).tolist()
    learned = dict(zip(corpus.sources, counts, strict=True))
    notes = {**engine.notes, ESTIMATE_DATA: learned}
    # Both are on the disk before either is renamed: a kill until then leaves the old checkpoint.
    with replaced(folder / ESTIMATE) as written:
        write_estimate(written, estimate)
        sync(written)
        write_card(folder, replace(engine, name=ENGINE_NAME, notes=notes), written)
    shutil.rmtree(kept, ignore_errors=True)


def records(judged: Judged, answers: Mapping[str, Answers]) -> dict[str, dict[str, Track]]:
    """Return the records of all settings by group; measurements never widen an interval."""
    tracks = {name: _tracks(judged, each) for name, each in answers.items()}
    unseen = tracks["unseen"]
    # Where no two devices share silicon, and the like, the record is that of unseen silicon.
    return {
        name: {
            group: _no_wider(track, unseen.get(group, unseen["all"]))
            for group, track in {"all": unseen["all"], **each}.items()
        }
        for name, each in tracks.items()
    }


def _no_wider(track: Track, unseen: Track) -> Track:
    """Return a record whose intervals are those of unseen silicon at most."""
    more = unseen.spread / max(track.spread, _LEAST_SPREAD)
    return replace(
        track,
        wide80=min(track.wide80, round(unseen.wide80 * more, 4)),
        wide95=min(track.wide95, round(unseen.wide95 * more, 4)),
    )


def _tracks(judged: Judged, answers: Answers) -> dict[str, Track]:
    """Return the records of groups that were checked on enough silicon."""
    if not len(answers.rows):
        return {}
    groups = [groups_of(target) for target in judged.targets]
    table = of_silicon(judged, answers)
    class_group = {of["class"]: of for of in groups}
    of_class = [class_group[str(judged.classes[number])] for number in table.klass.tolist()]
    first, cell = numbered(judged.target[answers.rows], judged.network[answers.rows])
    apart = np.abs(answers.log_ms - judged.log_latency[answers.rows]) / answers.deviation
    apart, spread = (medians(cell, each, len(first)) for each in (apart, answers.deviation))
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
            wide = np.array([_factor(apart[mine], silicon, share) for share in (0.8, 0.95)])
            if name != "all":
                # A few chips say little of how wide an interval has to be.
                kind = class_group[group]["kind"] if name == "class" else ""
                coarser = tracks.get(kind, tracks["all"])
                of_coarser = np.array([coarser.wide80, coarser.wide95])
                own = number / (number + _ENOUGH_SILICON)
                wide = wide**own * of_coarser ** (1 - own)
            tracks[group] = Track(
                silicon=number,
                devices=len(np.unique(judged.device[target[mine]])),
                error=round(float(np.nanmedian(table.error[of_table == group])), 4),
                spread=round(float(np.median(spread[mine])), 4),
                wide80=round(float(wide[0]), 4),
                wide95=round(float(wide.max()), 4),
            )
    return tracks


def _factor(apart: Floats, silicon: Numbers, share: float) -> float:
    """Return the quantile of standardised errors in which each silicon counts the same.

    With n kinds of silicon it is that of share (n + 1) / n: a new one is one more draw. Where that
    would be the largest error of all, it is the plain quantile.
    """
    _, member, sizes = np.unique(silicon, return_inverse=True, return_counts=True)
    order = np.argsort(apart)
    reached = np.cumsum(1 / (sizes[member][order] * len(sizes)))
    wanted = share * (len(sizes) + 1) / len(sizes)
    place = min(int(np.searchsorted(reached, share if wanted >= 1 else wanted)), len(order) - 1)
    return max(float(apart[order[place]]), _LEAST_FACTOR)
