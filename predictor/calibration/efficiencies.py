"""Efficiencies of targets: factors on the terms of the physics, from what is like a target.

The time of a graph is exp(level) times the sum of exp(s_km) t_km over kinds of operators k and
terms m, with t of :mod:`predictor.cost.physics`. s and the level are sums of effects of the groups
that a target belongs to: its runtime, the kind of its device, both, its precision, the order in
which its cores execute, the instruction sets that its runtime has kernels for. No group reads a
rate, so that rates act through t alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeVar

import numpy as np

from predictor.core.arrays import Floats
from predictor.core.metrics import Family
from predictor.core.records import Precision, Target, by_run
from predictor.cost.operator_kinds import KINDS
from predictor.cost.physics import TERMS
from predictor.cost.rates.typical import TypicalRates
from predictor.cost.starts import START_FACTOR, START_FREEDOM, have_plain_starts
from predictor.devices.architectures import architecture_of, instruction_sets, kind

T = TypeVar("T")

# From coarse to fine; a level is that of the finest group that is known.
LEVELS: Final = ("all", "kind", "runtime", "class")
GROUPS: Final = (*LEVELS, "precision", "order", "maker", "sets")
# Its kernels are others for each of these sets of Arm (docs/decisions/0030-attempts.md).
_OF_SETS: Final = frozenset({"armnn"})
_SETS: Final = ("fp16", "dotprod", "i8mm")
# Kinds of device without a common instruction set: designs of their makers have little in common.
_OF_MAKERS: Final = frozenset({"mobile-gpu", "npu"})
_ACCELERATORS: Final = frozenset({Family.NPU, Family.FPGA, Family.ASIC})
_ARITHMETIC: Final = TERMS.index("arithmetic")


def groups_of(target: Target) -> Mapping[str, str]:
    """Return the group of a target at each of ``GROUPS``; empty where it has none."""
    runtime, precision = target.configuration.runtime, target.configuration.precision
    of_device = kind(target.device)
    clusters = target.device.clusters
    # The fastest cluster stands first and does most of the work.
    design = architecture_of(target.device) or (architecture_of(clusters[0]) if clusters else None)
    in_order = None if design is None else design.in_order
    maker = target.device.vendor if design is None else design.vendor
    sets = instruction_sets(target.device) if of_device == "arm" and runtime in _OF_SETS else None
    return _groups(
        of_device,
        runtime,
        precision,
        in_order,
        maker if of_device in _OF_MAKERS else "",
        None if sets is None else "+".join(name for name in _SETS if name in sets),
    )


@lru_cache(maxsize=1 << 12)
def _groups(
    of_device: str,
    runtime: str,
    precision: Precision,
    in_order: bool | None,
    maker: str,
    sets: str | None,
) -> Mapping[str, str]:
    """Return the groups of all targets that are alike in these, one object."""
    klass = f"{of_device} x {runtime}"
    groups = {
        "all": "all",
        "kind": of_device,
        "runtime": runtime,
        "class": klass,
        "precision": f"{klass} x {precision}",
        "order": "" if in_order is None else f"{of_device} {'in' if in_order else 'out of'} order",
        "maker": f"{of_device} of {maker}" if of_device in _OF_MAKERS else "",
        "sets": "" if sets is None else f"{klass} with {sets or 'none'}",
    }
    return MappingProxyType(groups)


def by_groups(targets: Iterable[Target], of: Callable[[Mapping[str, str]], T]) -> list[T]:
    """Return ``of`` the groups of each target, computed once for equal ones."""
    groups = by_run(targets, groups_of)
    distinct = {id(of_target): of_target for of_target in groups}
    results = {identity: of(of_target) for identity, of_target in distinct.items()}
    return [results[id(of_target)] for of_target in groups]


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
        of_groups = by_groups(targets, lambda groups: (self._effects(groups), self._level(groups)))
        effects = np.array([effect for effect, _ in of_groups], np.float64)
        effects = effects.reshape(len(targets), len(self.mean)) * effect_parts(targets)
        levels = np.array([level for _, level in of_groups], np.float64)
        logs = self.mean + plain_start_means(targets) + effects + levels[:, None]
        factors = np.exp(logs).reshape(-1, len(KINDS), len(TERMS))
        # What states a rate for networks multiplies no faster: fast algorithms are in the rate.
        families = [target.device.family in _ACCELERATORS for target in targets]
        capped = np.where(families, 1.0, 0.0)[:, None]
        factors[..., _ARITHMETIC] = np.maximum(factors[..., _ARITHMETIC], capped)
        return factors

    def _effects(self, groups: Mapping[str, str]) -> Floats:
        """Return the sum of the effects of a target's groups, [P]."""
        effects = np.zeros_like(self.mean)
        for name, of_groups in self.effects.items():
            if groups[name] in of_groups:
                effects += of_groups[groups[name]]
        return effects

    def _level(self, groups: Mapping[str, str]) -> float:
        """Return the level of the finest of a target's groups that has one."""
        return next(
            (
                self.level[name][groups[name]]
                for name in reversed(LEVELS)
                if groups[name] in self.level[name]
            ),
            0.0,
        )
