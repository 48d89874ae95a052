"""Width of the intervals for a target, now and once planned networks are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from predictor.core.records import Target
from predictor.cost.engine import Engine, OperatorTimes, PredictionTable, TargetMeasurements
from predictor.engine.closertome import CloserToMeEngine
from predictor.graph.operator_graph import OperatorGraph
from predictor.presentation.wording import percent
from predictor.probing.choice import Beliefs
from predictor.probing.networks.graphs import pool_graph
from predictor.probing.networks.pool import load_pool
from predictor.probing.selection.belief import Belief
from predictor.probing.selection.interface import Floats
from predictor.services.prediction.engines import open_engine
from predictor.services.signatures.user_signatures import MIN_NOISE

_DRAWS: Final = 4
_MIN_OPERATORS: Final = 10  # of a network: users' models have more
_OF_A_KIND: Final = 6  # networks of each search space and family that stand for users' models
_TYPICAL: Final = 25  # networks that represent the pool


@dataclass(frozen=True, slots=True)
class ExpectedInterval:
    """Upper part of the 80 % interval of a typical network, as a share of its P50.

    Attributes:
        now: before anything of the plan is measured.
        after: once it is, in expectation over the latencies.
    """

    now: float
    after: float


def interval_words(interval: ExpectedInterval, models: int = 0) -> str:
    """Return the expected gain of a plan in a sentence.

    Args:
        interval: now and afterwards.
        models: number of the user's models among the graphs; 0 for networks of the pool.
    """
    of = "a typical network" if not models else "the open model" if models == 1 else "an open model"
    now = f"Error of {of} now up to {percent(interval.now, signed=True)}"
    if interval.after >= interval.now:
        # Few networks may be weaker evidence than the published measurements behind an estimate.
        return f"{now}; this plan is not expected to lower it."
    return f"{now}; expected after probing: {percent(interval.after, signed=True)}."


def beliefs_of(
    target: Target,
    to_predict: Sequence[OperatorGraph] = (),
    measured: TargetMeasurements | None = None,
) -> Beliefs | None:
    """Return the engine's beliefs on a target; None for an engine without operators.

    Args:
        target: that is probed.
        to_predict: graphs of the user's models; none for a sample of each kind in the pool.
        measured: measurements of the session so far; None where no interval ends it.
    """
    engine = open_engine()
    if not isinstance(engine, CloserToMeEngine):
        return None
    graphs = _graphs([network.fingerprint for network in load_pool()])
    belief = None
    if measured is not None:
        table = engine.predict(list(to_predict) or graphs, [target], {target.id: measured})
        belief = Belief.of(table)
    represented = list(to_predict) or _sample_of_kinds()
    return Beliefs(
        engine.operator_work(graphs, target), engine.operator_work(represented, target), belief
    )


def expected_interval(
    target: Target, fingerprints: Sequence[str], to_predict: Sequence[OperatorGraph] = ()
) -> ExpectedInterval | None:
    """Return the interval of a typical network, before and after a plan is carried out.

    Latencies are drawn as the engine believes them, shared out to operators as it does, and
    predicted from: so that the interval afterwards is the engine's own. Nothing is measured.

    Args:
        target: that is probed.
        fingerprints: of the networks of the pool that are planned.
        to_predict: graphs of the user's models; none for networks of the pool.

    Returns:
        None where the engine gives no intervals for the target.
    """
    engine, probes = open_engine(), _graphs(fingerprints)
    # Not the planned ones themselves: measured networks would make the interval look narrower.
    represented = list(to_predict) or _typical(set(fingerprints))
    before = engine.predict([*represented, *probes], [target], {})
    # Models and probes in one call, so that their beliefs share the errors of the target.
    belief = Belief.of(before)
    if belief is None or not probes:
        return None
    of_probes = belief.take(range(len(represented), len(represented) + len(probes)))
    shares = [_shares(engine, graph, target) for graph in probes]
    drawn = (_drawn(probes, of_probes.drawn(seed), shares) for seed in range(_DRAWS))
    widths = [
        _width(engine.predict(represented, [target], {target.id: drawn_measurements}))
        for drawn_measurements in drawn
    ]
    return ExpectedInterval(_width(before, len(represented)), float(np.mean(widths)))


def _width(table: PredictionTable, count: int | None = None) -> float:
    """Return the half width of the median 80 % interval over the first graphs of a table."""
    above = table.high80_ms[:count, 0] / table.latency_ms[:count, 0]
    return float(np.median(above)) - 1.0


def _drawn(
    graphs: Sequence[OperatorGraph], latency_ms: Floats, shares: Sequence[Floats]
) -> TargetMeasurements:
    operators = [
        OperatorTimes([(int(place),) for place in np.flatnonzero(share)], share[share > 0] * ms)
        for share, ms in zip(shares, latency_ms, strict=True)
    ]
    # The smallest noise of a real measurement, so that the drawn ones are not more precise.
    noise = np.full(len(latency_ms), MIN_NOISE)
    return TargetMeasurements(
        signature_id="",
        graphs=tuple(graphs),
        latency_ms=latency_ms,
        noise=noise,
        operators=tuple(operators),
    )


def _shares(engine: Engine, graph: OperatorGraph, target: Target) -> Floats:
    """Share of each operator in a graph's latency, [N]."""
    (parts,) = engine.explain(graph, [target])
    assert parts is not None  # noqa: S101 - the interval before was of the target
    time_ms = parts.latency_ms
    shares: Floats = time_ms / time_ms.sum()
    return shares


def _graphs(fingerprints: Sequence[str]) -> list[OperatorGraph]:
    graphs = map(pool_graph, fingerprints)
    return [graph for graph in graphs if graph is not None]


def _sample_of_kinds() -> list[OperatorGraph]:
    """Return as many networks of each kind: a user's model may be of any."""
    kinds: dict[str, list[OperatorGraph]] = {}
    for network in load_pool():
        graph = pool_graph(network.fingerprint)
        graphs = kinds.setdefault(network.space, [])
        if graph is not None and len(graph) >= _MIN_OPERATORS and len(graphs) < _OF_A_KIND:
            graphs.append(graph)
    return [graph for graphs in kinds.values() for graph in graphs]


def _typical(planned: set[str]) -> list[OperatorGraph]:
    """Return networks spread evenly over the pool by their MACs, but for those planned."""
    left = sorted(
        (network for network in load_pool() if network.fingerprint not in planned),
        key=lambda network: network.macs,
    )
    # Ranks, not values: the MACs of the pool span orders of magnitude.
    step = max(1, len(left) // _TYPICAL)
    return _graphs([network.fingerprint for network in left[::step][:_TYPICAL]])
