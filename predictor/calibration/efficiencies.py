"""Efficiencies of targets: factors on the terms of the physics, from what is like a target.

The time of a graph is exp(level) times the sum of exp(s_km) t_km over kinds of operators k and
terms m, with t of :mod:`predictor.cost.physics`. s and the level are sums of effects of the groups
that a target belongs to: its runtime, the kind of its device, both, its precision, the order in
which its cores execute. No group reads a rate, so that rates act through t alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from predictor.core.arrays import Floats
from predictor.core.metrics import Family
from predictor.core.records import Target, by_run
from predictor.cost.operator_kinds import KINDS
from predictor.cost.physics import TERMS
from predictor.cost.rates.typical import TypicalRates
from predictor.cost.starts import START_FACTOR, START_FREEDOM, have_plain_starts
from predictor.devices.architectures import architecture_of, kind

# From coarse to fine; a level is that of the finest group that is known.
LEVELS: Final = ("all", "kind", "runtime", "class")
GROUPS: Final = (*LEVELS, "precision", "order", "maker")
# Kinds of device without a common instruction set: designs of their makers have little in common.
_OF_MAKERS: Final = frozenset({"mobile-gpu", "npu"})
_ACCELERATORS: Final = frozenset({Family.NPU, Family.FPGA, Family.ASIC})
_ARITHMETIC: Final = TERMS.index("arithmetic")


def groups_of(target: Target) -> dict[str, str]:
    """Return the group of a target at each of ``GROUPS``; empty where it has none."""
    runtime, precision = target.configuration.runtime, target.configuration.precision
    of_device = kind(target.device)
    clusters = target.device.clusters
    # The fastest cluster stands first and does most of the work.
    design = architecture_of(target.device) or (architecture_of(clusters[0]) if clusters else None)
    in_order = None if design is None else design.in_order
    klass = f"{of_device} x {runtime}"
    maker = target.device.vendor if design is None else design.vendor
    return {
        "all": "all",
        "kind": of_device,
        "runtime": runtime,
        "class": klass,
        "precision": f"{klass} x {precision}",
        "order": "" if in_order is None else f"{of_device} {'in' if in_order else 'out of'} order",
        "maker": f"{of_device} of {maker}" if of_device in _OF_MAKERS else "",
    }


def effect_parts(targets: Sequence[Target]) -> Floats:
    """Return which part of the effects of groups acts on each efficiency, float64 [T, P]."""
    return _of_starts(targets, START_FREEDOM, 1.0)


def plain_start_means(targets: Sequence[Target]) -> Floats:
    """Return what the physics of starts adds to the mean of each efficiency, float64 [T, P]."""
    return _of_starts(targets, np.log(START_FACTOR), 0.0)


def _of_starts(targets: Sequence[Target], plain: float, other: float) -> Floats:
    """Return one number for the starts of a plan on one thread, and another for all else."""
    numbers = np.full((len(targets), len(KINDS), len(TERMS)), other)
    numbers[have_plain_starts(targets), :, TERMS.index("launch")] = plain
    return numbers.reshape(len(targets), len(KINDS) * len(TERMS))


@dataclass(frozen=True, slots=True, eq=False)
class Efficiencies:
    """Effects of groups on the P = len(KINDS) x len(TERMS) efficiencies, in ln.

    Attributes:
        mean: float64 [P], before any effect.
        effects: float64 [P] by group name, by the names of ``GROUPS``.
        level: of the whole time, by group name, by the names of ``LEVELS``.
        typical: rates for gaps in the facts.
    """

    mean: Floats
    effects: Mapping[str, Mapping[str, Floats]]
    level: Mapping[str, Mapping[str, float]]
    typical: TypicalRates

    def of(self, targets: Sequence[Target]) -> Floats:
        """Return the factors on the terms, float64 [T, len(KINDS), len(TERMS)]."""
        effects = np.array(by_run(targets, self._effects), np.float64)
        effects = effects.reshape(len(targets), len(self.mean))
        levels = np.array(by_run(targets, self._level), np.float64)
        effects *= effect_parts(targets)
        logs = self.mean + plain_start_means(targets) + effects + levels[:, None]
        factors = np.exp(logs).reshape(-1, len(KINDS), len(TERMS))
        # What states a rate for networks multiplies no faster: fast algorithms are in the rate.
        families = by_run(targets, lambda target: target.device.family in _ACCELERATORS)
        capped = np.where(families, 1.0, 0.0)[:, None]
        factors[..., _ARITHMETIC] = np.maximum(factors[..., _ARITHMETIC], capped)
        return factors

    def _effects(self, target: Target) -> Floats:
        """Return the sum of the effects of a target's groups, [P]."""
        groups, effects = groups_of(target), np.zeros_like(self.mean)
        for name, of_groups in self.effects.items():
            if groups[name] in of_groups:
                effects += of_groups[groups[name]]
        return effects

    def _level(self, target: Target) -> float:
        """Return the level of the finest group of a target that has one."""
        groups = groups_of(target)
        return next(
            (
                self.level[name][groups[name]]
                for name in reversed(LEVELS)
                if groups[name] in self.level[name]
            ),
            0.0,
        )
