"""Length of training of the networks, from silicon that is left out inside a training part."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from ctm_research.evaluation.judge.folds import Fold, inner_folds
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.figures import median_error
from ctm_research.evaluation.systems.registry import SYSTEMS, system_named
from ctm_research.evaluation.systems.run import KS, Unit, ask, kept, path_of
from predictor.core.progress import Progress, ProgressCallback, no_progress

Entry = dict[str, Any]
LENGTHS: Final = (250, 500, 1000, 2000)
NETWORKS: Final = ("nnlp", "nnlp-facts", "tlp", "ledg-former")
_SEED: Final = 0


def length_entries(
    field: Field,
    names: Sequence[str],
    work: Path,
    seconds: float,
    progress: ProgressCallback = no_progress,
) -> list[Entry]:
    """Return the errors of each network after each length of training that is finished.

    Args:
        field: the measurements; the first of five inner folds of its first fold is asked.
        names: of systems; those that are no such networks count for nothing.
        work: folder of kept answers.
        seconds: after which no further training is begun.
        progress: told before each training.

    Raises:
        InputError: a kept answer is damaged.
        HostError: an answer cannot be written, or a library is missing.
    """
    start = time.monotonic()
    first = next(inner_folds(field.judged, field.folds[0].train, _SEED))
    inner = Field(
        field.judged, field.rows, (Fold(first.train, first.rows[np.isin(first.rows, field.rows)]),)
    )
    result: list[Entry] = []
    for number, steps in enumerate(LENGTHS):
        for name in [each for each in NETWORKS if each in names]:
            unit = Unit(name, _SEED, 0)
            progress(Progress(number, len(LENGTHS), f"{name}, {steps} steps"))
            path = path_of(work / f"inner-{steps}-steps", inner, unit)
            is_over = time.monotonic() - start >= seconds

            def train(unit: Unit = unit, steps: int = steps) -> Any:
                system = system_named(unit.system)
                cast("Any", system).steps = steps
                return ask(inner, unit, system)

            done = kept(path, unit, None if is_over else train)
            if done is not None:
                result.append(
                    {
                        "name": name,
                        "label": SYSTEMS[name].label,
                        "steps": steps,
                        "seconds": done.fit_seconds,
                        "ks": {str(k): median_error(field.judged, [done.answers[k]]) for k in KS},
                    }
                )
    return result
