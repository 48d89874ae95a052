"""Reference networks chosen for a target, before anything is measured or stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from predictor.core.records import Configuration, Device, Target
from predictor.core.runtimes import MEASURED
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.choice import BY_OPERATORS, DBSEL, PlanRequest
from predictor.probing.estimates import estimated_ms
from predictor.probing.networks.known import load_pool_latencies
from predictor.probing.networks.pool import load_pool
from predictor.probing.planning import ProbePlan, make_plan, max_probes
from predictor.services.probing.expectation import beliefs_of


def probe_target(device: Device, threads: int) -> Target:
    """Return the target of a probing: onnxruntime in fp32, threads as a count, one image at a time.

    Args:
        device: that is probed.
        threads: 0 for one a core.
    """
    # As a count: "all cores" and that number are one target, whose measurements belong together.
    resolved = device.threads_in_use(threads) or threads
    return Target(device, Configuration(MEASURED, threads=resolved, batch=1))


def plan_probes(request: PlanRequest, to_predict: Sequence[OperatorGraph] = ()) -> ProbePlan:
    """Choose reference networks for a target; nothing is measured or stored.

    The catalogue's devices stand in for training devices: DBSel gets the predictions for them.

    Args:
        request: target, selector, number of probes and budget.
        to_predict: graphs of the user's models, for the selectors that choose by operators; none
            for networks as in the pool.

    Raises:
        InputError: the number of probes, the selector or the time budget does not fit.
    """
    beliefs = beliefs_of(request.target, to_predict) if request.selector in BY_OPERATORS else None
    # Read only for DBSel: the other selectors need no table of the catalogue.
    catalogue_ms = load_pool_latencies().latency_ms if request.selector == DBSEL else None
    return make_plan(request, load_pool(), catalogue_ms, beliefs)


def probes_in_time(request: PlanRequest) -> PlanRequest:
    """Return the request with fewer networks where its time does not allow all of them.

    A live session measures the others while there is time left.
    """
    sure = max_probes(request, load_pool())
    if sure == request.probes:
        return request
    return replace(request, sure=sure) if request.live else replace(request, probes=sure)


def planned_once(request: PlanRequest, to_predict: Sequence[OperatorGraph] = ()) -> ProbePlan:
    """Return the plan of a kit: all networks chosen before anything is measured."""
    return plan_probes(replace(request, live=False, probes=request.planned, sure=None), to_predict)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Coverage:
    """The N networks of the pool by their estimated latency; arrays are float64 [N] in ms.

    Attributes:
        names: of the networks.
        chosen: bool [N], whether the plan measures it.
        expected_ms: on the plan's target; NaN where there is no estimate.
        low_ms: the 10th percentile over the catalogue's devices.
        middle_ms: their median.
        high_ms: their 90th percentile.
    """

    names: tuple[str, ...]
    chosen: NDArray[np.bool_]
    expected_ms: NDArray[np.float64]
    low_ms: NDArray[np.float64]
    middle_ms: NDArray[np.float64]
    high_ms: NDArray[np.float64]


def coverage(plan: ProbePlan) -> Coverage:
    """Place a plan's networks among all that could be chosen."""
    pool = load_pool()
    # [networks, devices] to [networks] each.
    low_ms, middle_ms, high_ms = np.quantile(
        load_pool_latencies().latency_ms, (0.1, 0.5, 0.9), axis=1
    )
    chosen = {probe.network.name for probe in plan.probes}
    return Coverage(
        names=tuple(network.name for network in pool),
        chosen=np.array([network.name in chosen for network in pool]),
        expected_ms=estimated_ms(pool, [plan.target])[:, 0],
        low_ms=low_ms,
        middle_ms=middle_ms,
        high_ms=high_ms,
    )
