"""Runs a suite: each partition, training and method once, unless it is finished already."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ctm_research.nas.benchmark.protocol import (
    Outcome,
    Plan,
    ProbeTable,
    choose_probes,
    run_trial,
)
from ctm_research.nas.benchmark.registry import METHODS, method_named
from ctm_research.nas.benchmark.splits import Partition, Split, load_partitions, split
from ctm_research.nas.benchmark.work import Finished, Unit, WorkFolder
from ctm_research.nas.method import Chooses, Plans, Trained
from ctm_research.nas.spaces.space import NasSpace, load_space
from predictor.core.errors import InputError
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress


@dataclass(frozen=True, slots=True)
class Order:
    """Methods, partitions and repetitions that are to be evaluated.

    Attributes:
        partitions: names.
        methods: names.
        chooser: method whose probes everyone gets.
        own_probes: whether a method that chooses probes uses its own.
        plan: repetitions.
        once: methods that are trained once on each partition, however many trainings are planned.
    """

    partitions: tuple[str, ...]
    methods: tuple[str, ...]
    chooser: str
    own_probes: bool
    plan: Plan
    once: frozenset[str] = frozenset()

    def trainings_of(self, method: str) -> int:
        """Return the number of trainings of a method on each partition."""
        return 1 if method in self.once else self.plan.trainings


@dataclass(slots=True)
class Runner:
    """Evaluates an order.

    Attributes:
        splits: by partition.
        order: what is to be done.
        work: where finished units are kept.
        progress: told what is done now, and how long the rest may take.
        cancel: asks to stop.
    """

    splits: Mapping[str, Split]
    order: Order
    work: WorkFolder
    progress: ProgressCallback = no_progress
    cancel: CancelToken = field(default_factory=CancelToken)
    _trained: dict[tuple[str, int, str], tuple[Trained, float]] = field(default_factory=dict)
    _seconds: dict[str, list[float]] = field(default_factory=dict)

    def run(self) -> list[Finished]:
        """Return every unit of the order.

        Raises:
            InputError: the chooser cannot choose, or the space is too small for a budget.
            HostError: the work folder cannot be written, or torch is missing.
            CancelledError: a stop was asked for; finished units are kept.
        """
        units = list(self._units())
        finished: dict[Unit, Finished] = {}
        for unit in units:
            if (kept := self.work.finished(self.splits[unit.partition], unit)) is not None:
                finished[unit] = kept
        to_do = [unit for unit in units if unit not in finished]
        for place, unit in enumerate(to_do):
            tell = self._teller(to_do[place:], len(units))
            started = time.monotonic()
            finished[unit] = self._evaluated(unit, tell)
            self._seconds.setdefault(unit.method, []).append(time.monotonic() - started)
            self.work.keep(self.splits[unit.partition], finished[unit])
            # Units of one training are neighbours: its networks stay in memory for them alone.
            following = to_do[place + 1 : place + 2]
            if not following or not _same_training(following[0], unit):
                self._trained.clear()
        self.progress(Progress(len(units), len(units), "done"))
        return [finished[unit] for unit in units]

    def _units(self) -> Iterable[Unit]:
        for partition in self.order.partitions:
            for training in range(self.order.plan.trainings):
                for method in self.order.methods:
                    if training < self.order.trainings_of(method):
                        yield Unit(partition, training, method, self._chooser(method))

    def _chooser(self, method: str) -> str:
        """Return who chooses the probes of a method; whether it can is seen after its training."""
        own = self.order.own_probes or METHODS[method].own_probes
        return method if own else self.order.chooser

    def _evaluated(self, unit: Unit, tell: Callable[[str], None]) -> Finished:
        of_partition, plan = self.splits[unit.partition], self.order.plan
        probes = self._probes(unit, tell)
        trained, train_seconds = self._training(unit, unit.method, tell)
        outcomes: list[Outcome] = []
        by_probes: dict[tuple[str, int], Outcome] = {}  # draws of a plan are the same trial
        started = time.process_time()
        for trial, rows in probes.items():
            self.cancel.check()
            if (outcome := by_probes.get((trial.device, trial.k))) is None:
                seed = plan.draw_seed(unit.training, trial.draw)
                outcome = run_trial(of_partition, trained, trial, rows, seed)[1]
                if isinstance(trained, Plans):
                    by_probes[trial.device, trial.k] = outcome
            outcomes.append(replace(outcome, trial=trial))
            tell(f"{len(outcomes)} of {len(probes)} trials")
        each = (time.process_time() - started) / len(outcomes)
        return Finished(unit, tuple(outcomes), train_seconds, each)

    def _probes(self, unit: Unit, tell: Callable[[str], None]) -> ProbeTable:
        of_partition, plan = self.splits[unit.partition], self.order.plan
        kept = self.work.probes(of_partition, unit.training, unit.chooser)
        if kept is not None:
            return kept
        chooser = self._training(unit, unit.chooser, tell)[0]
        if not isinstance(chooser, Chooses | Plans):
            chooser = self._training(unit, self.order.chooser, tell)[0]
        if not isinstance(chooser, Chooses | Plans):
            raise InputError(
                f"method {self.order.chooser}", "it chooses no probes", "name one that does"
            )
        chosen: ProbeTable = {}
        for trial, rows in choose_probes(of_partition, plan, unit.training, chooser):
            self.cancel.check()
            chosen[trial] = rows
            tell(f"{len(chosen)} probe sets")
        self.work.keep_probes(of_partition, unit.training, unit.chooser, chosen)
        return chosen

    def _training(
        self, unit: Unit, method: str, tell: Callable[[str], None]
    ) -> tuple[Trained, float]:
        """Train a method, once for each partition and training."""
        key = (unit.partition, unit.training, method)
        if key not in self._trained:
            self.cancel.check()
            tell(f"training of {method}")
            asked = method_named(method)  # its imports are no part of the training
            seed = self.order.plan.training_seed(unit.training)
            started = time.process_time()
            trained = asked.train(self.splits[unit.partition].view, seed)
            self._trained[key] = trained, time.process_time() - started
        return self._trained[key]

    def _teller(self, to_do: Sequence[Unit], total: int) -> Callable[[str], None]:
        unit, done = to_do[0], total - len(to_do)
        where = f"{unit.partition}, training {unit.training + 1}, {unit.method}"
        left = self._time_left(to_do)

        def tell(what: str) -> None:
            self.progress(Progress(done, total, f"{where}: {what}{left}"))

        return tell

    def _time_left(self, to_do: Sequence[Unit]) -> str:
        """Return the expected time of the rest, by finished units of the same method."""
        means = {name: sum(spent) / len(spent) for name, spent in self._seconds.items()}
        if not means:
            return ""
        usual = sum(means.values()) / len(means)
        minutes = sum(means.get(unit.method, usual) for unit in to_do) / 60
        return f"; about {max(1, round(minutes))} min left"


def open_splits(
    data: Path,
    names: Sequence[str],
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> dict[str, Split]:
    """Return the splits of partitions by name, each space read once.

    Raises:
        InputError: a partition is unknown, or data are missing or damaged.
        HostError: the cache of graphs cannot be written.
        CancelledError: a stop was asked for.
    """
    partitions = load_partitions(data)
    for name in names:
        if name not in partitions:
            raise InputError(
                f"partition {name}",
                "there is no such partition",
                f"give one of {', '.join(partitions)}",
            )
    chosen = [partitions[name] for name in dict.fromkeys(names)]
    spaces = {
        space: load_space(data, space, progress, cancel)
        for space in dict.fromkeys(partition.space for partition in chosen)
    }
    return {partition.name: _split(spaces, partition) for partition in chosen}


def _split(spaces: Mapping[str, NasSpace], partition: Partition) -> Split:
    return split(spaces[partition.space], partition)


def _same_training(first: Unit, second: Unit) -> bool:
    return (first.partition, first.training) == (second.partition, second.training)
