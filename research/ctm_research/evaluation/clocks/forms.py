"""Forms of latency over clocks that were compared, and the choice of their constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.evaluation.clocks.data import Swept
from predictor.cost.clocks import ClockModel, Overlap, Slowness

Floats = NDArray[np.float64]
Constants = tuple[float, float, float]
"""On-chip and off-chip traffic over the engine's memory time, and the exponent."""

SHIPPED: Final = "norm of the longer of arithmetic and on-chip traffic, and off-chip"
_TRAFFIC: Final = (0.25, 0.5, 0.7, 1.0, 1.4, 1.7, 2.0, 2.4, 2.8)
_SHARP: Final = (1.5, 1.75, 2.0, 2.5, 3.0, 4.0)
_GRID: Final = tuple(product(_TRAFFIC, _TRAFFIC, _SHARP))
# Of constants with near the same error those nearest the engine's own terms are taken.
_LEANING: Final = 0.001


@dataclass(frozen=True, slots=True)
class Form:
    """A form of an operator's time at other clocks.

    Attributes:
        joined: time of N operators at P points from arithmetic, on-chip and off-chip traffic at
            these points, each [N, P], and the exponent.
        constants: tried.
    """

    joined: Callable[[Floats, Floats, Floats, float], Floats]
    constants: Sequence[Constants]


def _norm(p: float, *parts: Floats) -> Floats:
    total: Floats = sum((part**p for part in parts), np.zeros_like(parts[0])) ** (1 / p)
    return total


FORMS: Final[Mapping[str, Form]] = {
    "sum of terms": Form(lambda a, _, off, __: a + off, [(1.0, each, 1.0) for each in _TRAFFIC]),
    "sum, part of memory on chip": Form(
        lambda a, on, off, _: a + on + off,
        [(on, off, 1.0) for on, off in product(_TRAFFIC, repeat=2)],
    ),
    "arithmetic, then a norm of both traffics": Form(
        lambda a, on, off, p: a + _norm(p, on, off), _GRID
    ),
    "norm of arithmetic with on-chip traffic, and off-chip": Form(
        lambda a, on, off, p: _norm(p, a + on, off), _GRID
    ),
    "three resources in one norm": Form(lambda a, on, off, p: _norm(p, a, on, off), _GRID),
    SHIPPED: Form(lambda a, on, off, p: _norm(p, np.maximum(a, on), off), _GRID),
}


def curve(form: Form, constants: Constants, swept: Swept) -> Floats:
    """Return latencies at the points of a network, in no unit, [K]."""
    model, points = swept.model, swept.points
    on, off, p = constants

    def joined(unit: Floats, memory: Floats) -> Floats:
        arithmetic, traffic = model.compute_ms[:, None], model.memory_ms[:, None]
        return form.joined(arithmetic * unit, on * traffic * unit, off * traffic * memory, p)

    one = np.ones(1)
    default = np.maximum(joined(one, one), 1e-15)  # operators that take no time
    busy = model.busy_ms[:, None] * joined(points.unit, points.memory) / default
    launch = model.launch_ms[:, None] * points.host
    if not model.is_launched:
        total: Floats = (launch + busy).sum(axis=0)
        return total
    launched, left = np.cumsum(launch, axis=0), np.cumsum(busy[::-1], axis=0)[::-1]
    done: Floats = (launched + left).max(axis=0)
    return done


def one_point_error(curved: Floats, swept: Swept, *, everywhere: bool) -> float:
    """Return the mean relative error of a curve that one measured point calibrates.

    Args:
        curved: latencies in no unit, [K].
        swept: what was measured.
        everywhere: the mean over each point as the measured one, not that of the default clocks.
    """
    ratio = curved / swept.latency_ms
    levels = ratio if everywhere else ratio[[swept.reference]]
    errors = np.abs(ratio / levels[:, None] - 1)
    count = len(ratio)
    # The measured point itself is no prediction.
    return float(errors.sum() / (len(levels) * (count - 1)))


class Choice:
    """Errors of a form on networks in groups, and the constants that are the best of some."""

    def __init__(self, form: Form, groups: Mapping[str, Sequence[Swept]]) -> None:
        self._form, self._groups = form, groups
        self._errors = {
            constants: {
                name: [
                    one_point_error(curve(form, constants, each), each, everywhere=True)
                    for each in group
                ]
                for name, group in groups.items()
            }
            for constants in form.constants
        }

    def without(self, network: str) -> Constants:
        """Return the constants of least error without a network; empty for none left out.

        The mean over groups of the mean over networks, for any of their points measured.
        """

        def error(constants: Constants) -> float:
            means = []
            for name, group in self._groups.items():
                pairs = zip(group, self._errors[constants][name], strict=True)
                kept = [error for each, error in pairs if each.network != network]
                means += [np.mean(kept)] if kept else []
            return float(np.mean(means)) + _LEANING * float(np.abs(np.log(constants[:2])).sum())

        return min(self._form.constants, key=error)


def shipped_model(swept: Swept, constants: Constants) -> ClockModel:
    """Return the model of a network with some constants."""
    on, off, p = constants
    overlap = Overlap(on, off, p, swept.model.overlap.deviation)
    return replace(swept.model, overlap=overlap)


def three_point_error(model: ClockModel, swept: Swept, triples: NDArray[np.int64]) -> float:
    """Return the mean relative error at the other points after three measured ones.

    Args:
        model: with its constants.
        swept: what was measured at K points.
        triples: places of the measured points, [D, 3].
    """
    errors = []
    for triple in triples:
        known = Slowness(*(getattr(swept.points, n)[triple] for n in ("host", "unit", "memory")))
        fitted = model.calibrated(known, swept.latency_ms[triple])
        error = np.abs(fitted.factors(swept.points) / swept.latency_ms - 1)
        errors.append(np.delete(error, triple).mean())
    return float(np.mean(errors))
