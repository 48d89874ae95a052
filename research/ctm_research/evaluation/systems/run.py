"""Asks the systems in each fold; each finished fold is kept, so that a stopped run goes on."""

from __future__ import annotations

import hashlib
import json
import re
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeVar, cast

import numpy as np

from ctm_research.evaluation.judge.asked import Answers, by_target, few_measured
from ctm_research.evaluation.judge.engines import FittedEngine
from ctm_research.evaluation.judge.folds import Fold
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.registry import SYSTEMS, system_named
from ctm_research.evaluation.systems.system import System
from predictor.core.errors import InputError
from predictor.core.files import read_text, replaced, write_text
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress

T = TypeVar("T")
KS: Final = (0, 3, 8)
DRAWS: Final = 3
_ROOM: Final = Path(__file__).parent
_IMPORTED: Final = re.compile(r"evaluation\.systems\.(\w+) import")


class Unit(NamedTuple):
    """One training of one system in one fold."""

    system: str
    seed: int
    fold: int


@dataclass(frozen=True, slots=True, eq=False)
class Finished:
    """Answers of a unit.

    Attributes:
        unit: the training.
        answers: by number of measured networks.
        fit_seconds: duration of the training.
        predict_us: duration of a prediction without measured networks, in microseconds.
    """

    unit: Unit
    answers: Mapping[int, Answers]
    fit_seconds: float
    predict_us: float


def units_of(names: Sequence[str], folds: int) -> list[Unit]:
    """Return the trainings of systems; the first seed of all comes first."""
    return [
        Unit(name, seed, fold)
        for seed in range(max((SYSTEMS[name].seeds for name in names), default=0))
        for name in names
        if seed < SYSTEMS[name].seeds
        for fold in range(folds)
    ]


def run(
    field: Field,
    units: Sequence[Unit],
    work: Path,
    seconds: float,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> list[Finished]:
    """Return the finished ones of some trainings, in their order.

    Args:
        field: the measurements.
        units: the trainings.
        work: folder of kept answers, which need not be there.
        seconds: after which no further training is begun.
        progress: told before each training.
        cancel: asks to stop.

    Raises:
        InputError: a kept answer is damaged.
        HostError: an answer cannot be written, or a library is missing.
        CancelledError: a stop was asked for; finished trainings are kept.
    """
    start = time.monotonic()
    finished = []
    for done, unit in enumerate(units):
        if cancel is not None:
            cancel.check()
        progress(Progress(done, len(units), f"{unit.system}, fold {unit.fold + 1}"))

        def asked(unit: Unit = unit) -> Finished:
            return ask(field, unit, system_named(unit.system))

        is_over = time.monotonic() - start >= seconds
        result = kept(path_of(work, field, unit), unit, None if is_over else asked)
        if result is not None:
            finished.append(result)
    progress(Progress(len(units), len(units), "done"))
    return finished


def ask(field: Field, unit: Unit, system: System) -> Finished:
    """Train a system in a fold and ask it."""
    fold = field.folds[unit.fold]
    begun = time.monotonic()
    fitted = system.fit(field, fold.train, unit.seed)
    trained = time.monotonic()
    answers = {0: Answers.joined([fold.rows], [fitted.predict(fold.rows, {})])}
    predicted = time.monotonic()
    answers |= {k: _after(field, fitted, fold, k) for k in KS if k}
    each = (predicted - trained) / max(len(fold.rows), 1)
    return Finished(unit, answers, trained - begun, 1e6 * each)


def _after(field: Field, fitted: FittedEngine, fold: Fold, k: int) -> Answers:
    draws = list(few_measured(field.judged, fold, k, DRAWS, 0))
    return Answers.joined(
        [other for _, other in draws],
        [fitted.predict(other, by_target(field.judged, read)) for read, other in draws],
    )


def path_of(work: Path, field: Field, unit: Unit) -> Path:
    """Return the file of kept answers, named after a hash of the data and the system's code."""
    digest = hashlib.sha256(repr(field.judged.targets).encode())
    digest.update(field.judged.log_latency.tobytes() + field.rows.tobytes())
    # Answers depend on the system's module and on those of this room that it imports.
    text = (_ROOM / f"{SYSTEMS[unit.system].module.rpartition('.')[2]}.py").read_text("utf-8")
    digest.update(text.encode())
    for name in sorted(set(_IMPORTED.findall(text))):
        digest.update((_ROOM / f"{name}.py").read_bytes())
    return work / f"{unit.system}-{unit.seed}-{unit.fold}-{digest.hexdigest()[:12]}.npz"


def kept(path: Path, unit: Unit, answer: Callable[[], Finished] | None) -> Finished | None:
    """Return the kept answers of a unit, else those of ``answer``, which are then kept.

    Raises:
        InputError: the file is damaged.
        HostError: it cannot be written.
    """
    if path.exists():
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return _read(unit, arrays)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise _damaged(path) from error
    if answer is None:
        return None
    result = answer()
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as partial, partial.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **_written(result))
    return result


def kept_document(path: Path, answer: Callable[[], T] | None) -> T | None:
    """Return a kept JSON document, else that of ``answer``, which is then kept.

    Raises:
        InputError: the file is damaged.
        HostError: it cannot be written.
    """
    if path.exists():
        try:
            return cast("T", json.loads(read_text(path)))
        except ValueError as error:
            raise _damaged(path) from error
    if answer is None:
        return None
    result = answer()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(result, indent=1, allow_nan=False) + "\n")
    return result


def _damaged(path: Path) -> InputError:
    return InputError(str(path), "it is damaged: its writing was cut off", "remove it")


def _read(unit: Unit, arrays: np.lib.npyio.NpzFile) -> Finished:
    fit_seconds, predict_us = arrays["times"].tolist()
    answers = {
        k: Answers(*(arrays[f"{name}.{k}"] for name in ("rows", "log_ms", "deviation"))) for k in KS
    }
    return Finished(unit, answers, fit_seconds, predict_us)


def _written(done: Finished) -> dict[str, np.ndarray[tuple[int], np.dtype]]:
    arrays = {"times": np.array([done.fit_seconds, done.predict_us])}
    for k, each in done.answers.items():
        arrays |= {
            f"rows.{k}": each.rows,
            f"log_ms.{k}": each.log_ms,
            f"deviation.{k}": each.deviation,
        }
    return arrays
