"""Splits: partitions of devices, test architectures, and the live test device."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.spaces.space import DeviceFacts, NasSpace
from ctm_research.nas.spaces.view import TrainView
from predictor.core.errors import InputError

TEST_ARCHITECTURES = 500
_TEST_SEED = 0  # fixed: every run of every method has the same test architectures
_ACTION = "restore the file from its source"


@dataclass(frozen=True, slots=True)
class Partition:
    """Train and test devices.

    Attributes:
        name: such as F@1.
        space: its search space.
        train: names of the train devices.
        test: names of the test devices.
        paper_rae_percent: RAE of the paper's own method as printed, by test device.
    """

    name: str
    space: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    paper_rae_percent: Mapping[str, float]


def load_partitions(data: Path) -> dict[str, Partition]:
    """Return the partitions of a data folder by name.

    Raises:
        InputError: the file is missing or damaged, or a partition lacks train or test devices or
            has a device in both.
    """
    path = data / "nas" / "partitions.json"
    try:
        spaces = json.loads(path.read_text(encoding="utf-8"))
        partitions = [
            _partition(path, space, name, entry)
            for space, entries in spaces.items()
            for name, entry in entries.items()
        ]
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(str(path), f"it cannot be read ({error})", _ACTION) from error
    return {partition.name: partition for partition in partitions}


def _partition(path: Path, space: str, name: str, entry: Mapping[str, Any]) -> Partition:
    partition = Partition(
        name,
        space,
        tuple(entry.get("train", ())),
        tuple(entry.get("test", ())),
        MappingProxyType(dict(entry.get("paper_rae_percent", {}))),
    )
    for role in ("train", "test"):
        if not getattr(partition, role):
            raise InputError(f"{path}, partition {name}", f"it has no {role} device", _ACTION)
    if both := set(partition.train) & set(partition.test):
        raise InputError(
            f"{path}, partition {name}", f"{min(both)} is a train and a test device", _ACTION
        )
    return partition


class LiveDevice:
    """A test device on which at most k architectures may be run.

    Reading the same architecture again costs nothing: a user keeps measurements.
    """

    def __init__(self, facts: DeviceFacts, latency_ms: NDArray[np.float64], budget: int) -> None:
        """Take over a column.

        Args:
            facts: known before anything runs.
            latency_ms: float64 [A]; NaN where the architecture may not be run.
            budget: k.
        """
        self.facts = facts
        self._latency_ms = latency_ms
        self._budget = budget
        self._read: dict[int, float] = {}

    @property
    def reads(self) -> tuple[int, ...]:
        """The architectures that were run, in order."""
        return tuple(self._read)

    def measure(self, architecture: int) -> float:
        """Run an architecture and return its latency in ms.

        Raises:
            InputError: the budget is used up, or it is a test architecture.
        """
        if architecture not in self._read:
            if len(self._read) >= self._budget:
                raise InputError(
                    f"device {self.facts.name}",
                    f"{self._budget} latencies are read, the budget allows no more",
                    "choose fewer probes",
                )
            latency_ms = float(self._latency_ms[architecture])
            if np.isnan(latency_ms):
                raise InputError(
                    f"device {self.facts.name}, architecture {architecture}",
                    "it is a test architecture",
                    "probe train architectures",
                )
            self._read[architecture] = latency_ms
        return self._read[architecture]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """One partition of one space, with its test architectures.

    Attributes:
        partition: train and test devices.
        space: all latencies.
        test_rows: int64 [500], unseen on every device, ascending.
        view: training data of a method.
    """

    partition: Partition
    space: NasSpace
    test_rows: NDArray[np.int64]
    view: TrainView

    def live_device(self, device: str, budget: int) -> LiveDevice:
        """Return a test device that allows ``budget`` reads of train architectures.

        Raises:
            InputError: it is no test device of the partition.
        """
        # NaN marks what a method may not read, so that a leak is an error and no score.
        allowed = np.full(len(self.space.architectures), np.nan)
        allowed[self.view.rows] = self._latencies(device)[self.view.rows]
        return LiveDevice(self.space.facts(device), allowed, budget)

    def truth(self, device: str) -> NDArray[np.float64]:
        """Return float64 [500], measured latencies of the test architectures in ms.

        Raises:
            InputError: it is no test device of the partition.
        """
        return self._latencies(device)[self.test_rows]

    def _latencies(self, device: str) -> NDArray[np.float64]:
        if device not in self.partition.test:
            raise InputError(
                f"device {device}",
                f"it is no test device of {self.partition.name}",
                f"give one of {', '.join(self.partition.test)}",
            )
        column: NDArray[np.float64] = self.space.latency_ms[:, self.space.column(device)]
        return column


def split(space: NasSpace, partition: Partition, tests: int = TEST_ARCHITECTURES) -> Split:
    """Take the test architectures out of a space; they are the same for all its partitions.

    Args:
        space: the partition's space.
        partition: train and test devices.
        tests: number of test architectures.

    Raises:
        InputError: the space has too few architectures, or lacks a device of the partition.
    """
    total = len(space.architectures)
    if not 0 < tests < total:
        raise InputError(
            f"search space {space.architectures.space}",
            f"it has {total} architectures, {tests} are to be test architectures",
            "give a larger space",
        )
    order = np.random.default_rng(_TEST_SEED).permutation(total)
    for device in partition.test:
        # Raises for a device that the space lacks, before anything is trained.
        space.column(device)
    return Split(
        partition,
        space,
        np.sort(order[:tests]),
        TrainView.of(space, partition.train, np.sort(order[tests:])),
    )
