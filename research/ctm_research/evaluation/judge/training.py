"""Train the estimate of hardware that was not measured, with its track record.

The record is of silicon, or of devices, left out: intervals are as wide as they had to be there.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from ctm_research.corpus import open_corpus
from ctm_research.evaluation.judge.asked import Answers, by_target, few_measured
from ctm_research.evaluation.judge.estimate import EstimateEngine
from ctm_research.evaluation.judge.folds import (
    Fold,
    device_folds,
    is_silicon_known,
    publisher_folds,
    silicon_folds,
)
from ctm_research.evaluation.judge.judged import Judged, judged_of
from ctm_research.evaluation.judge.kept_answers import Answered, KeptAnswers
from ctm_research.evaluation.judge.records import records
from ctm_research.training.files import write_card, write_estimate
from predictor.core.errors import InputError
from predictor.core.files import replaced, sync
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.engine.checkpoint import ESTIMATE, read_card
from predictor.engine.estimate import Estimate
from predictor.engine.track import CASES, CHIP, COUNTS, UNSEEN, published_case, user_case

_KEPT: Final = "estimate.folds"  # folder in that of the checkpoint, while training runs
_OTHER_SOURCES: Final = "other sources, "  # before a case, in the names of answers
# Of a checkpoint that has an estimate beside the network.
ENGINE_NAME: Final = "closertome/15"
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
    settings = {
        UNSEEN: silicon_folds(judged, seed),
        CHIP: device_folds(judged, seed),
        _OTHER_SOURCES: publisher_folds(judged, seed),
    }
    folds = [(name, fold) for name, each in settings.items() for fold in each]
    memory = None if kept is None else KeptAnswers(kept, judged, seed)
    answered: list[Answered] = []
    for number, (name, fold) in enumerate(folds):
        if cancel is not None:
            cancel.check()
        progress(Progress(number, len(folds), "the estimate on what it has not seen"))
        answer = partial(_answered, engine, judged, name, fold, seed)
        answered += answer() if memory is None else memory.of(number, answer)
    tracks = records(
        judged,
        {case: _joined(answered, case) for case in CASES},
        {case: _joined(answered, _OTHER_SOURCES + case) for case in (UNSEEN, CHIP)},
        seed,
    )
    fitted = engine.fit(judged, np.arange(len(judged.target)))
    assert fitted.operators is not None  # noqa: S101  # the engine is not plain
    return Estimate(
        efficiencies=fitted.efficiencies,
        operators=fitted.operators,
        networks=fitted.networks,
        directions=fitted.directions,
        evidence=fitted.evidence,
        measured=fitted.measured,
        tracks=tracks,
    )


def _answered(
    engine: EstimateEngine, judged: Judged, name: str, fold: Fold, seed: int
) -> list[Answered]:
    """Return what an estimate that is trained in a fold says of the others, by setting."""
    fitted = engine.fit(judged, fold.train)
    if name == _OTHER_SOURCES:
        near = is_silicon_known(judged, fold)
        return [
            Answered(name + case, rows, fitted.predict(rows, {}))
            for case, rows in ((UNSEEN, fold.rows[~near]), (CHIP, fold.rows[near]))
        ]
    answers = [Answered(name, fold.rows, fitted.predict(fold.rows, {}))]
    if name == UNSEEN:
        for k in COUNTS:
            for read, other in few_measured(judged, fold, k, 1, seed):
                predicted = fitted.predict(other, by_target(judged, read))
                answers.append(Answered(user_case(k), other, predicted))
                # As what ships has them: of a published target it keeps level and shape alone.
                shipped = fitted.with_evidence(read)
                asked = shipped.of_measured(other)
                answers.append(Answered(published_case(k), asked, shipped.predict(asked, {})))
    return answers


def _joined(answered: Sequence[Answered], setting: str) -> Answers:
    """Join the answers of a setting."""
    parts = [each for each in answered if each.setting == setting]
    return Answers.joined([each.rows for each in parts], [each.predicted for each in parts])


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
