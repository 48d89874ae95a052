"""Unknowns of targets of which nothing was measured: the more, the wider the interval.

Errors of the level grow with what nobody measured of a target's like, and with what is not stated
of it. Each unknown counts the same: regressions on more facts, on distances to measured chips and
on the spread of estimates from halves of the silicon did not rank errors better on silicon left
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from predictor.calibration.efficiencies import groups_of
from predictor.core.arrays import Bools, Floats, Integers
from predictor.core.records import Target
from predictor.cost.rates.typical import FILLED, Rates
from predictor.cost.rates.units import GPUS
from predictor.devices.architectures import architecture_of

WIDENING: Final = 0.23
"""By which the ln of the level's standard deviation grows with each unknown."""

DESIGN: Final = "design"
PRECISION: Final = "precision"
MAKER: Final = "maker"
RATE: Final = "rate"
_WORDS: Final = {
    DESIGN: "nothing with its design was measured",
    PRECISION: "nothing of its kind was measured in this precision",
    MAKER: "nothing of its maker was measured under this runtime",
    RATE: "a rate of it is not stated",
}


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredKinds:
    """What the measured targets of a training were, as names.

    Attributes:
        designs: of cores, GPUs and accelerators.
        precisions: of classes, as groups of targets have them.
        makers: of devices, by class.
    """

    designs: frozenset[str]
    precisions: frozenset[str]
    makers: frozenset[str]

    @classmethod
    def of(cls, targets: Sequence[Target]) -> MeasuredKinds:
        """Return the kinds of measured targets."""
        names = [_names(target) for target in targets]
        sets = (frozenset(filter(None, (of_target[of] for of_target in names))) for of in _NAMED)
        return cls(*sets)

    def unknowns(self, targets: Sequence[Target], rates: Rates) -> list[tuple[str, ...]]:
        """Return what is unknown of each of T targets.

        Args:
            targets: T targets.
            rates: of them, NaN where the facts of the device give none.
        """
        has_gap = gaps(targets, rates)
        measured = {DESIGN: self.designs, PRECISION: self.precisions, MAKER: self.makers}
        unknown = []
        for target, is_open in zip(targets, has_gap.tolist(), strict=True):
            names = _names(target)
            missing = [
                of for of, measured_names in measured.items() if names[of] not in measured_names
            ]
            unknown.append((*missing, RATE) if is_open else tuple(missing))
        return unknown


_UNIT: Final = "unit"
_RATES: Final = ("matrix", *FILLED)
_NAMED: Final = (DESIGN, PRECISION, MAKER)


def gaps(targets: Sequence[Target], rates: Rates) -> Bools:
    """Return whether a rate of each of T targets is not stated, bool [T].

    That of one unit of several is a rate of GPUs; accelerators have none.
    """
    missing = np.array([np.isnan(getattr(rates, name)) for name in _RATES])
    has_units = np.array([target.device.family in GPUS for target in targets], np.bool_)
    missing[_RATES.index(_UNIT)] &= has_units
    is_open: Bools = np.logical_or.reduce(missing, axis=0)
    return is_open


def widening(counts: Integers) -> Floats:
    """Return the factors on the level's standard deviation for numbers of unknowns."""
    factors: Floats = np.exp(WIDENING * counts)
    return factors


def unknown_words(unknown: Sequence[str]) -> str:
    """Return what is unknown of a target in words, after a colon; empty where nothing is."""
    return f": {', '.join(_WORDS[name] for name in unknown)}" if unknown else ""


def _names(target: Target) -> dict[str, str]:
    groups = groups_of(target)
    clusters = target.device.clusters
    design = architecture_of(target.device) or (architecture_of(clusters[0]) if clusters else None)
    return {
        DESIGN: "" if design is None else design.id,
        PRECISION: groups["precision"],
        MAKER: f"{groups['class']} of {target.device.vendor}",
    }
