"""Settings of a comparator, chosen on train devices that are left out in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.method import Probes, Trained
from ctm_research.nas.scores import relative_error
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView

_FOLDS: Final = 3
_BUDGETS: Final = (5, 20)
_JUDGED: Final = 200

Setting = TypeVar("Setting")
Learnt = TypeVar("Learnt")


@dataclass(frozen=True, slots=True, eq=False)
class Rehearsal:
    """A train device played as a test device, with random probes.

    Attributes:
        device: that is left out.
        probes: its samples.
        judged: int64 [200], other train architectures.
        latency_ms: float64 [200], their latencies on it.
    """

    device: DeviceFacts
    probes: Probes
    judged: NDArray[np.int64]
    latency_ms: NDArray[np.float64]

    def error(self, trained: Trained, seed: int) -> float:
        """Return the mean relative error of a method that was trained without the device."""
        predicted = trained.adapt(self.device, self.probes, seed).predict(self.judged)
        return float(relative_error(predicted.latency_ms, self.latency_ms).mean())


def rehearsals(view: TrainView, seed: int) -> Iterator[tuple[TrainView, list[Rehearsal]]]:
    """Yield the views that lack one train device, and the device as a test device.

    At most three devices are left out, spread over the list. One train device alone gives none.
    """
    count = len(view.devices)
    if count < 2:
        return
    rng = np.random.default_rng(seed)
    for index in np.unique(np.linspace(0, count - 1, min(_FOLDS, count)).round().astype(int)):
        device = view.devices[index]
        drawn = [_rehearsal(view, device, k, rng) for k in _BUDGETS]
        yield view.without(device.name), drawn


def _rehearsal(view: TrainView, device: DeviceFacts, k: int, rng: np.random.Generator) -> Rehearsal:
    rows = rng.choice(view.rows, min(k + _JUDGED, len(view.rows)), replace=False)
    probes, judged = rows[:k], rows[k:]
    return Rehearsal(
        device,
        Probes(probes, view.latencies(device.name, probes)),
        judged,
        view.latencies(device.name, judged),
    )


def best_setting(
    view: TrainView,
    seed: int,
    settings: Sequence[Setting],
    train: Callable[[TrainView, int], Learnt],
    trained: Callable[[Learnt, Setting], Trained],
) -> Setting:
    """Return the setting with the least mean log error over the rehearsals; the first of equals.

    Args:
        view: devices and architectures that may be seen.
        seed: of samples and trainings.
        settings: to choose from; the middle one is taken where no device can be left out.
        train: learns from a view with a seed; no setting changes what is learnt.
        trained: makes a method of what is learnt and a setting.
    """
    errors: list[list[float]] = []
    for rest, drawn in rehearsals(view, seed):
        learnt = train(rest, seed)
        methods = [trained(learnt, setting) for setting in settings]
        errors += [[np.log(each.error(m, seed)) for m in methods] for each in drawn]
    if not errors:
        return settings[len(settings) // 2]
    # Logarithms of errors: a device that is hard for every setting decides no more than others.
    return settings[int(np.argmin(np.mean(errors, axis=0)))]
