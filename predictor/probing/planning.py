"""Plans of sessions: the networks in the order of measuring, with reasons and expected times."""

from __future__ import annotations

import math
import random
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from predictor.core.errors import InputError
from predictor.core.records import Target
from predictor.probing import choice
from predictor.probing.estimates import START_S, block_seconds, estimated_ms, expected_seconds
from predictor.probing.networks.pool import PoolNetwork, graph_features
from predictor.probing.runner.settings import Settings
from predictor.probing.selection.dbsel import MIN_LIVE_BUDGET
from predictor.probing.selection.interface import Floats, Pool, check_budget

SENTINEL = "fbnet-cifar100-00"
"""Measured first, in the middle and last; small, so that it costs little on a slow device."""

# First, in the middle and last.
_SENTINEL_BLOCKS = 3
_MIN_CAP_S = 3.0


@dataclass(frozen=True, slots=True)
class PlannedProbe:
    """One network of a plan, why it was chosen, and its estimate (None where there is none)."""

    network: PoolNetwork
    reason: str
    expected_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """A plan for a target.

    Attributes:
        request: that it answers.
        probes: in the order of measuring.
        sentinel: measured between them.
        settings: of the measuring protocol.
        expected_s: expected time of the session, networks that are chosen later included.
        to_come: most networks that may still be chosen when these are measured.
        id: of the session that carries it out, UUID hex.
    """

    request: choice.PlanRequest
    probes: tuple[PlannedProbe, ...]
    sentinel: PlannedProbe
    settings: Settings
    expected_s: float
    to_come: int = 0
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def target(self) -> Target:
        """The target, threads and batch resolved to counts."""
        return self.request.target


def make_plan(
    request: choice.PlanRequest,
    pool: Sequence[PoolNetwork],
    training_ms: Floats | None,
    beliefs: choice.Beliefs | None = None,
) -> ProbePlan:
    """Choose the networks that are measured first: all, unless the choice is live.

    Args:
        request: target, number of probes, selector and budget.
        pool: the networks to choose from.
        training_ms: float64 [N, D], their latencies on known targets; DBSel needs them.
        beliefs: on the target; the adaptive selector needs them, the information-optimal one goes
            by features of graphs without.

    Raises:
        InputError: there is no such selector, the number of probes does not fit the pool, or the
            budget is too small for it.
    """
    check_budget(Pool(features=graph_features(pool)), request.probes)
    settings = _settings_within(request)
    expected = estimated_ms(pool, [request.target])[:, 0]
    affordable = _affordable(expected, request, settings)
    choosing = _choosing(request, pool, affordable, training_ms, beliefs)
    probes = [
        PlannedProbe(pool[affordable[row]], why, _number(expected[affordable[row]]))
        for row, why in choosing.first()
    ]
    # Shuffled, so that a drift of the machine does not look like a property of the networks.
    random.Random(request.seed).shuffle(probes)  # noqa: S311  # no secret
    sentinel = _sentinel(request, pool)
    seconds = [expected_seconds(probe.expected_ms, settings) for probe in probes]
    expected_s = sum(seconds) / len(seconds) * request.probes
    expected_s += _sentinel_blocks(request) * block_seconds(sentinel.expected_ms, settings)
    return ProbePlan(
        request=request,
        probes=tuple(probes),
        sentinel=sentinel,
        settings=settings,
        expected_s=expected_s if request.sure is None else min(expected_s, request.budget_s),
        to_come=request.probes - len(probes),
    )


def fixed_plan(
    request: choice.PlanRequest,
    networks: Sequence[PoolNetwork],
    pool: Sequence[PoolNetwork],
    settings: Settings,
) -> ProbePlan:
    """Return the plan of networks that were chosen before, in their order.

    Args:
        request: the target, and the selector that chose them.
        networks: to measure.
        pool: that has the sentinel.
        settings: of the measuring protocol.
    """
    expected = estimated_ms(networks, [request.target])[:, 0]
    probes = [
        PlannedProbe(network, choice.REASONS[request.selector], _number(expected_ms))
        for network, expected_ms in zip(networks, expected, strict=True)
    ]
    return ProbePlan(
        request=request,
        probes=tuple(probes),
        sentinel=_sentinel(request, pool),
        settings=settings,
        expected_s=sum(expected_seconds(probe.expected_ms, settings) for probe in probes),
    )


def _sentinel(request: choice.PlanRequest, pool: Sequence[PoolNetwork]) -> PlannedProbe:
    network = next(network for network in pool if network.name == SENTINEL)
    expected_ms = estimated_ms([network], [request.target])[0, 0]
    return PlannedProbe(network, "shows drift", _number(expected_ms))


def max_probes(request: choice.PlanRequest, pool: Sequence[PoolNetwork]) -> int:
    """Return the largest number of networks, up to the request's, that its time allows.

    At least 1, which :func:`make_plan` refuses where the time is too short for any.
    """
    expected = estimated_ms(pool, [request.target])[:, 0]
    for probes in range(request.probes, 1, -1):
        fewer = replace(request, probes=probes)
        with suppress(InputError):
            _affordable(expected, fewer, _settings_within(fewer))
            return probes
    return 1


def more_probes(
    request: choice.PlanRequest,
    pool: Sequence[PoolNetwork],
    training_ms: Floats | None,
    latency_ms: Mapping[str, float],
    beliefs: choice.Beliefs | None = None,
    limit: int | None = None,
) -> list[PlannedProbe]:
    """Choose the next networks of a live session; none once it is enough.

    Args:
        request: of the session's plan.
        pool: the networks to choose from.
        training_ms: as :func:`make_plan` takes it.
        latency_ms: of every network of the session so far; NaN for those without.
        beliefs: on the target, given the measurements so far.
        limit: number of networks that there is time for; None for as many as are planned.
    """
    expected = estimated_ms(pool, [request.target])[:, 0]
    fitting = set(_affordable(expected, request, _settings_within(request)))
    # Measured networks stay, fitting or not: the selector looks up their rows.
    rows = [i for i, network in enumerate(pool) if i in fitting or network.name in latency_ms]
    chosen = _choosing(request, pool, rows, training_ms, beliefs).more(latency_ms, limit)
    return [PlannedProbe(pool[rows[i]], why, _number(expected[rows[i]])) for i, why in chosen]


def _choosing(
    request: choice.PlanRequest,
    pool: Sequence[PoolNetwork],
    rows: Sequence[int],
    training_ms: Floats | None,
    beliefs: choice.Beliefs | None,
) -> choice.Choosing:
    """Restrict a choice to some networks of the pool."""
    return choice.Choosing(
        request,
        [pool[row] for row in rows],
        None if training_ms is None else training_ms[list(rows)],
        beliefs and replace(beliefs, works=[beliefs.works[row] for row in rows]),
    )


def _sentinel_blocks(request: choice.PlanRequest) -> int:
    """Number of blocks of the sentinel: three in each round."""
    rounds = 1
    if request.live and request.selector == choice.ADAPTIVE:
        rounds = math.ceil(request.planned / choice.ROUND)
    elif request.live and request.selector == choice.DBSEL and request.planned >= MIN_LIVE_BUDGET:
        # The random probes, then the rest.
        rounds = 2
    return _SENTINEL_BLOCKS * rounds


def _settings_within(request: choice.PlanRequest) -> Settings:
    """Return the protocol with a cap that keeps the session in its budget, three blocks a network.

    Raises:
        InputError: the budget leaves less than the protocol's least time for a network.
    """
    settings = Settings()
    probes = request.planned
    blocks = probes * (settings.blocks + 1) + _sentinel_blocks(request)
    overhead_s = START_S + settings.warm_up_s
    profiled_s = probes * settings.profile_s
    # Solved for the cap: budget = profiled passes + blocks * (overhead + cap / settings.blocks).
    cap_s = ((request.budget_s - profiled_s) / blocks - overhead_s) * settings.blocks
    if cap_s < _MIN_CAP_S:
        shortest_s = (_MIN_CAP_S / settings.blocks + overhead_s) * blocks + profiled_s
        raise InputError(
            "time budget",
            f"{request.budget_s:.0f} s are too short for {probes} networks, which may take "
            f"{shortest_s:.0f} s",
            "give more time or fewer networks",
        )
    return replace(settings, cap_s=min(settings.cap_s, cap_s))


def _affordable(expected: Floats, request: choice.PlanRequest, settings: Settings) -> list[int]:
    """Return rows of networks whose probe fits its share of the budget; all without estimates."""
    # The sentinel's blocks count as probes of two blocks each.
    share_s = request.budget_s / (request.planned + _sentinel_blocks(request) / settings.blocks)
    fitting = [i for i, ms in enumerate(expected) if expected_seconds(ms, settings) <= share_s]
    if len(fitting) < request.planned:
        raise InputError(
            "time budget",
            f"only {len(fitting)} networks are small enough for {request.planned} probes in "
            f"{request.budget_s:.0f} s on {request.target.device.id}",
            "give more time or fewer networks",
        )
    return fitting


def longest_seconds(settings: Settings, probes: int) -> float:
    """Longest time of a round of networks, three blocks each and the sentinel's among them."""
    blocks = probes * (settings.blocks + 1) + _SENTINEL_BLOCKS
    network_s = START_S + settings.warm_up_s + settings.cap_s / settings.blocks
    return blocks * network_s + probes * settings.profile_s


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
