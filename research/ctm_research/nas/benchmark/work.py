"""Finished parts of a run, kept in files: one that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ctm_research.nas.benchmark.protocol import Outcome, Plan, ProbeTable, Trial
from ctm_research.nas.benchmark.splits import Split
from ctm_research.nas.scores import Scores
from predictor import __version__
from predictor.core.errors import HostError

_DIGITS = 4  # of percentages in curves


@dataclass(frozen=True, slots=True)
class Unit:
    """One training of one method on one partition, with all its trials.

    Attributes:
        partition: name.
        training: number, from 0.
        method: name.
        chooser: name of the method that chose the probes.
    """

    partition: str
    training: int
    method: str
    chooser: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Results of a unit.

    Attributes:
        unit: which.
        outcomes: of all its trials.
        train_seconds: processor time of the training.
        trial_seconds: mean processor time of a trial.
    """

    unit: Unit
    outcomes: tuple[Outcome, ...]
    train_seconds: float
    trial_seconds: float


class WorkFolder:
    """Files of finished units and of chosen probes.

    Their names carry a hash of everything that a result depends on but the code: data, plan, and
    version. Whoever changes a method's code deletes its files.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        """Make the folder.

        Raises:
            HostError: it cannot be made.
        """
        self._folder, self._plan = folder, plan
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(folder, error) from error

    def probes(self, split: Split, training: int, chooser: str) -> ProbeTable | None:
        """Return the probes of a training, None where they are not chosen yet."""
        content = self._read(self._path(split, training, f"probes of {chooser}", chooser))
        if content is None:
            return None
        return {Trial(*trial): tuple(probes) for trial, probes in content["probes"]}

    def keep_probes(self, split: Split, training: int, chooser: str, probes: ProbeTable) -> None:
        """Write the probes of a training.

        Raises:
            HostError: the file cannot be written.
        """
        listed = [[[t.device, t.k, t.draw], list(rows)] for t, rows in probes.items()]
        path = self._path(split, training, f"probes of {chooser}", chooser)
        self._write(path, {"probes": listed})

    def finished(self, split: Split, unit: Unit) -> Finished | None:
        """Return the results of a unit, None where it is still to do."""
        content = self._read(self._path(split, unit.training, unit.method, unit.chooser))
        if content is None:
            return None
        outcomes = tuple(
            Outcome(Trial(*trial), Scores(**scores), np.array(curve))
            for trial, scores, curve in content["outcomes"]
        )
        return Finished(unit, outcomes, content["train_seconds"], content["trial_seconds"])

    def keep(self, split: Split, done: Finished) -> None:
        """Write the results of a unit.

        Raises:
            HostError: the file cannot be written.
        """
        listed = [
            [
                [o.trial.device, o.trial.k, o.trial.draw],
                asdict(o.scores),
                np.round(o.curve, _DIGITS).tolist(),
            ]
            for o in done.outcomes
        ]
        content = {
            "train_seconds": done.train_seconds,
            "trial_seconds": done.trial_seconds,
            "outcomes": listed,
        }
        unit = done.unit
        self._write(self._path(split, unit.training, unit.method, unit.chooser), content)

    def _path(self, split: Split, training: int, what: str, chooser: str) -> Path:
        plan = self._plan
        depends = (__version__, plan.seed, plan.draws, plan.ks, chooser, split.partition)
        digest = hashlib.sha256(repr(depends).encode())
        # Content and not names of the data: a corrected table makes its results void.
        digest.update(split.view.latency_ms.tobytes())
        for device in split.partition.test:
            digest.update(split.truth(device).tobytes())
        name = f"{split.partition.name}-{training}-{what}-{digest.hexdigest()[:12]}.json"
        return self._folder / name.replace(" ", "-")

    def _read(self, path: Path) -> Mapping[str, Any] | None:
        """Return the content of a file; one that is cut off counts as absent."""
        try:
            content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return content

    def _write(self, path: Path, content: Mapping[str, object]) -> None:
        """Write beside and rename: a reader never sees half a file."""
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            partial.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
            partial.replace(path)
        except OSError as error:
            raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> HostError:
    return HostError(
        str(path), f"it cannot be written ({error.strerror})", "choose another place for --output"
    )
