"""Unseen precision: a runtime's INT8 runs are left out, and asked of what learned its FP32 runs.

INT8 of other runtimes is in training, as in LeDG-Former's own field: the system knows both the
runtime and the precision, and has not seen them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.engines import FittedEngine
from ctm_research.evaluation.judge.figures import figure, of_silicon
from ctm_research.evaluation.judge.folds import Fold
from ctm_research.evaluation.judge.groups import medians, members, numbered
from ctm_research.evaluation.judge.judged import NO_CLASS, Judged, Rows
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.registry import PRODUCT, SYSTEMS
from ctm_research.evaluation.systems.run import Finished, Unit, ask, run
from ctm_research.evaluation.systems.system import Levelled, in_rows
from predictor.core.progress import ProgressCallback, no_progress
from predictor.core.records import Precision

Entry = dict[str, Any]
ASKED: Final = (
    PRODUCT,
    "roofline",
    "class-roofline",
    "pm2lat",
    "alcop",
    "nnlp-facts",
    "ledg-former",
)
_RUNTIMES: Final = ("ncnn", "openvino", "tflite")
_KINDS: Final = ("arm", "x86")
_KS: Final = (0, 3)
TWIN: Final = "Its FP32 twin, as measured"


def precision_field(field: Field) -> Field:
    """Return a field whose folds each leave out all INT8 runs of one runtime, and ask some."""
    judged = field.judged
    runtime = np.array([each.configuration.runtime for each in judged.targets])
    folds = []
    for name in _RUNTIMES:
        held = _in(field, Precision.INT8) & (runtime == name)
        classes = [
            number
            for number, klass in enumerate(judged.classes)
            if klass.runtime == name and klass.kind in _KINDS
        ]
        asked = field.rows[(held & np.isin(judged.klass, classes))[judged.target[field.rows]]]
        if len(asked):
            folds.append(Fold(np.flatnonzero(~held[judged.target]), asked))
    return replace(field, folds=tuple(folds))


class Twin:
    """The measured time of the same network in FP32 on the same target otherwise."""

    def fit(self, field: Field, train: Rows, seed: int) -> FittedEngine:
        """Look up the runs of training; there is nothing to learn."""
        del seed
        judged, rows = field.judged, field.rows
        threads = np.array([max(each.threads, 0) for each in judged.targets])
        every = np.concatenate([train[np.isin(train, judged.rows)], rows])
        target = judged.target[every]
        _, cell = numbered(
            judged.network[every],
            judged.corpus.graphs.batch.astype(np.int64)[judged.graph[every]],
            judged.device[target],
            judged.klass[target] - NO_CLASS,
            threads[target],
        )
        split = len(every) - len(rows)
        floats = _in(field, Precision.FP32)[target[:split]]
        of_twins = judged.log_latency[every[:split][floats]]
        twin = medians(cell[:split][floats], of_twins, int(cell.max()) + 1)
        return Levelled(judged, in_rows(judged, rows, twin[cell[split:]]))


def precision_entry(
    field: Field,
    finished: Sequence[Finished],
    names: Sequence[str],
    work: Path,
    seconds: float,
    progress: ProgressCallback = no_progress,
) -> Entry:
    """Return the errors of the systems on runs in INT8 that no training had.

    Args:
        field: the measurements.
        finished: answers where silicon is left out instead, of the same rows among others.
        names: of systems; those of them that can be asked are.
        work: folder of kept answers.
        seconds: after which no further training is begun.
        progress: told before each training.

    Raises:
        InputError: a kept answer is damaged.
        HostError: an answer cannot be written, or a library is missing.
    """
    names = [name for name in ASKED if name in names]
    unseen = precision_field(field)
    folds = range(len(unseen.folds))
    units = [Unit(name, 0, fold) for name in names for fold in folds]
    own = run(unseen, units, work / "precision", seconds, progress)
    own += [ask(unseen, Unit(TWIN, 0, fold), Twin()) for fold in folds]
    asked = np.concatenate([np.empty(0, np.int64), *(fold.rows for fold in unseen.folds)])
    elsewhere = [each for each in finished if each.unit.seed == 0]
    return {
        "classes": _classes(field.judged, asked),
        "systems": [
            {
                "name": name,
                "label": SYSTEMS[name].label if name in SYSTEMS else name,
                "ks": {str(k): _errors(unseen, own, name, k, asked) for k in _KS},
                "silicon_left_out": _errors(field, elsewhere, name, 0, asked),
            }
            for name in (*names, TWIN)
        ],
        "missing": len(units) + len(folds) - len(own),
    }


def _classes(judged: Judged, asked: Rows) -> list[Entry]:
    return [
        {
            "name": str(judged.classes[klass]),
            "measurements": len(mine),
            "silicon": len(np.unique(judged.silicon_of(asked[mine]))),
        }
        for klass, mine in members(judged.class_of(asked))
    ]


def _errors(
    field: Field, finished: Sequence[Finished], name: str, k: int, asked: Rows
) -> dict[str, float | None]:
    """Return the median error in percent by class, and over all of them; empty unless finished."""
    mine = [each.answers[k] for each in finished if each.unit.system == name]
    if len(mine) < len(field.folds):
        return {}
    judged, table = field.judged, of_silicon(field.judged, _some(mine, asked))
    result = {
        str(judged.classes[klass]): figure(table, klass).error_percent
        for klass in np.unique(table.klass).tolist()
    }
    errors = table.error[np.isfinite(table.error)]
    result["all"] = 100 * float(np.median(errors)) if len(errors) else None
    return result


def _some(parts: Sequence[Answers], asked: Rows) -> Answers:
    kept = [np.isin(each.rows, asked) for each in parts]
    columns = ("rows", "log_ms", "deviation")
    return Answers(
        *(
            np.concatenate([getattr(e, column)[mine] for e, mine in zip(parts, kept, strict=True)])
            for column in columns
        )
    )


def _in(field: Field, precision: Precision) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return whether each target runs in a precision, [T]."""
    return np.array([e.configuration.precision is precision for e in field.judged.targets])
