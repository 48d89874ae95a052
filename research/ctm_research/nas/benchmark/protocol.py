"""The protocol: every method on the same splits, the same test architectures, the same probes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.benchmark.splits import LiveDevice, Split
from ctm_research.nas.method import Chooses, Plans, Predicted, Probes, Trained
from ctm_research.nas.scores import Scores, error_curve, score
from predictor.core.errors import InputError
from predictor.probing.selection.interface import Measure

CANDIDATES = 1000


@dataclass(frozen=True, slots=True)
class Plan:
    """Repetitions of an evaluation.

    Attributes:
        trainings: of each method on a partition.
        draws: of a fresh random pool, from which probes are chosen.
        ks: budgets of probes.
        seed: of everything that is random.
    """

    trainings: int = 3
    draws: int = 10
    ks: tuple[int, ...] = (5, 10, 20)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("trainings", "draws"):
            if getattr(self, name) < 1:
                raise InputError(name, f"it is {getattr(self, name)}", "give 1 or more")
        if not self.ks or min(self.ks) < 1 or len(set(self.ks)) != len(self.ks):
            raise InputError(
                "budgets of probes",
                f"they are {', '.join(map(str, self.ks)) or 'none'}",
                "give different numbers from 1",
            )

    def training_seed(self, training: int) -> int:
        """Return the seed of a training."""
        return _seed(self.seed, training)

    def draw_seed(self, training: int, draw: int) -> int:
        """Return the seed of a draw."""
        return _seed(self.seed, training, draw)


def _seed(*path: int) -> int:
    # Mixed and not added up: sums give one seed to different pairs of training and draw.
    return int(np.random.SeedSequence(path).generate_state(1)[0])


@dataclass(frozen=True, slots=True)
class Trial:
    """One adaptation to one test device: its name, number of probes, number of the draw."""

    device: str
    k: int
    draw: int


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Scores of one trial.

    Attributes:
        trial: which.
        scores: over the test architectures.
        curve: float64 [101], quantiles of the relative error in percent.
    """

    trial: Trial
    scores: Scores
    curve: NDArray[np.float64]


ProbeTable = dict[Trial, tuple[int, ...]]
"""The architectures that are run in each trial, in order."""


def trials(split: Split, plan: Plan) -> Iterator[Trial]:
    """Yield the trials of one training on one partition."""
    for device in split.partition.test:
        for k in plan.ks:
            for draw in range(plan.draws):
                yield Trial(device, k, draw)


def choose_probes(
    split: Split, plan: Plan, training: int, chooser: Chooses | Plans
) -> Iterator[tuple[Trial, tuple[int, ...]]]:
    """Choose the probes of each trial of one training.

    Each draw has its own random pool of candidates among the train architectures. Whoever chooses
    may read k latencies of the test device and no more. A plan is the same in every draw.

    Args:
        split: the partition.
        plan: repetitions.
        training: which one.
        chooser: a trained method with a selector or a plan of its own.
    """
    for trial in trials(split, plan):
        device = split.live_device(trial.device, trial.k)
        if isinstance(chooser, Plans):
            chosen = chooser.plan(trial.k).tolist()
        else:
            seed = plan.draw_seed(training, trial.draw)
            pool = candidates(split, seed)
            choice = chooser.choose(pool, trial.k, _on(device, pool), seed)
            chosen = pool[list(choice.indices)].tolist()
        yield trial, _checked(device, chosen, trial)


def candidates(split: Split, seed: int) -> NDArray[np.int64]:
    """Return the random pool of a draw, int64 [1000] train architectures."""
    rows = split.view.rows
    size = min(CANDIDATES, len(rows))
    return np.random.default_rng(seed).choice(rows, size, replace=False)


def run_trial(
    split: Split, trained: Trained, trial: Trial, probes: Sequence[int], seed: int
) -> tuple[Predicted, Outcome]:
    """Measure the probes, adapt, predict the test architectures, and score.

    Raises:
        ValueError: the method predicts no positive numbers.
    """
    device = split.live_device(trial.device, trial.k)
    latency_ms = np.array([device.measure(architecture) for architecture in probes])
    measured = Probes(np.array(probes, np.int64), latency_ms)
    predicted = trained.adapt(device.facts, measured, seed).predict(split.test_rows)
    truth = split.truth(trial.device)
    curve = error_curve(predicted.latency_ms, truth)
    return predicted, Outcome(trial, score(predicted, truth), curve)


def _on(device: LiveDevice, pool: NDArray[np.int64]) -> Measure:
    return lambda index: device.measure(int(pool[index]))


def _checked(device: LiveDevice, chosen: Sequence[int], trial: Trial) -> tuple[int, ...]:
    """Refuse a choice that is no k distinct architectures, or that read others than it names."""
    if len(set(chosen)) != trial.k or len(chosen) != trial.k:
        raise ValueError(f"{len(set(chosen))} distinct probes were chosen, not {trial.k}")
    if strange := set(device.reads) - set(chosen):
        raise ValueError(f"{len(strange)} latencies were read that are no probes")
    return tuple(chosen)
