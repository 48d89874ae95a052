"""Plans of probe sessions: made here, kept in the store as JSON, and built into files again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictor.core.progress import CancelToken
from predictor.core.records import Configuration, Device, Target
from predictor.cost.cores import threads_in_use
from predictor.devices.schema import device_to_object
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.choice import ADAPTIVE, BY_OPERATORS, DBSEL, SELECTOR_NAMES
from predictor.probing.estimates import estimated_ms
from predictor.probing.measuring.interface import MeasuringPlan, RunConfiguration
from predictor.probing.networks.known import load_known
from predictor.probing.networks.pool import load_pool
from predictor.probing.planning import PlannedProbe, ProbePlan, Wish, make_plan
from predictor.probing.runner.settings import Settings
from predictor.services.probing.build import build_files
from predictor.services.probing.expectation import beliefs_of

__all__ = [
    "ADAPTIVE",
    "SELECTOR_NAMES",
    "Coverage",
    "MeasuringPlan",
    "PlannedProbe",
    "ProbePlan",
    "RunConfiguration",
    "Wish",
    "coverage",
    "plan_probes",
    "planned_once",
    "probe_target",
]

RUNTIME = "onnxruntime"
_SCHEMA = "ctm-session/1"


def probe_target(device: Device, threads: int) -> Target:
    """Return what probing measures: onnxruntime in fp32, threads as a count, one image at a time.

    Args:
        device: that is probed.
        threads: 0 for one a core.
    """
    resolved = threads_in_use(device, threads) or threads
    return Target(device, Configuration(RUNTIME, threads=resolved, batch=1))


def plan_probes(wish: Wish, asked: Sequence[OperatorGraph] = ()) -> ProbePlan:
    """Choose reference networks for a target; nothing is measured or stored.

    The catalogue's devices stand in for training devices: DBSel gets what is predicted for them.

    Args:
        wish: what is asked for.
        asked: what is to be predicted, for the selectors that choose by operators; none for
            networks as in the pool.

    Raises:
        InputError: the number of probes, the selector or the time budget does not fit.
    """
    beliefs = beliefs_of(wish.target, asked) if wish.selector in BY_OPERATORS else None
    known_ms = load_known().latency_ms if wish.selector == DBSEL else None
    return make_plan(wish, load_pool(), known_ms, beliefs)


def planned_once(wish: Wish, asked: Sequence[OperatorGraph] = ()) -> ProbePlan:
    """Return the plan of a kit: all networks chosen before anything is measured."""
    return plan_probes(replace(wish, live=False), asked)


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """The N networks of the pool by their estimated latency; arrays are float64 [N] in ms.

    Attributes:
        names: of the networks.
        chosen: bool [N], which ones the plan measures.
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
    """Return how a plan's networks lie among all that could be chosen."""
    pool = load_pool()
    low_ms, middle_ms, high_ms = np.quantile(load_known().latency_ms, (0.1, 0.5, 0.9), axis=1)
    chosen = {probe.network.name for probe in plan.probes}
    return Coverage(
        tuple(network.name for network in pool),
        np.array([network.name in chosen for network in pool]),
        estimated_ms(pool, [plan.target])[:, 0],
        low_ms,
        middle_ms,
        high_ms,
    )


def plan_text(plan: ProbePlan, kit: Mapping[str, str] | None = None) -> str:
    """Return the plan as it is stored: what a later run needs to go on, as JSON."""
    return json.dumps(
        {
            "schema": _SCHEMA,
            "selector": plan.selector,
            "seed": plan.seed,
            "expected_s": plan.expected_s,
            "budget_s": plan.budget_s,
            "live": _live(plan),
            "settings": asdict(plan.settings),
            "configuration": {
                **asdict(plan.configuration),
                "provider_options": dict(plan.configuration.provider_options),
            },
            "probes": [probe_object(probe) for probe in plan.probes],
            "sentinel": probe_object(plan.sentinel),
            "kit": dict(kit) if kit else None,
        }
    )


def build_plan(
    session_id: str,
    text: str,
    names: Iterable[str],
    folder: Path,
    cancel: CancelToken | None = None,
) -> MeasuringPlan:
    """Build the networks of a stored plan and return what a runner takes.

    Args:
        session_id: of the session.
        text: the stored plan.
        names: which networks to measure, in any order.
        folder: where their files are written.
        cancel: ends the building within a tenth of a second.

    Raises:
        HostError: the disk is full or the folder cannot be written.
        CancelledError: it was cancelled.
    """
    document, wanted = json.loads(text), set(names)
    configuration = document["configuration"]
    probes = [probe for probe in document["probes"] if probe["name"] in wanted]
    *networks, sentinel = build_files([*probes, document["sentinel"]], folder, cancel)
    return MeasuringPlan(
        session_id,
        tuple(networks),
        sentinel,
        RunConfiguration(**{**configuration, "affinity": tuple(configuration["affinity"])}),
        Settings(**document["settings"]),
    )


def reasons(text: str) -> dict[str, str]:
    """Return why each network of a stored plan was chosen, by name."""
    return {probe["name"]: probe["reason"] for probe in json.loads(text)["probes"]}


def expected_ms(text: str) -> dict[str, float | None]:
    """Return the estimate of each network of a stored plan, by name."""
    return {probe["name"]: probe["expected_ms"] for probe in json.loads(text)["probes"]}


def plan_facts(text: str) -> dict[str, Any]:
    """Return how a stored plan measures: settings, configuration, selector and kit."""
    document = json.loads(text)
    return {key: document[key] for key in ("settings", "configuration", "selector", "kit")}


def probes_of(plan: ProbePlan) -> Sequence[tuple[str, str]]:
    """Return name and fingerprint of each network of a plan, in the order of measuring."""
    return [(probe.network.name, probe.network.fingerprint) for probe in plan.probes]


def _live(plan: ProbePlan) -> dict[str, Any] | None:
    """Return what the networks that are still to come are chosen by."""
    if not plan.to_come:
        return None
    return {
        "probes": len(plan.probes) + plan.to_come,
        "budget_s": plan.budget_s,
        "within": plan.within,
        "device": device_to_object(plan.target.device, {}),
    }


def probe_object(probe: PlannedProbe) -> dict[str, Any]:
    """Return a network's entry of a stored plan."""
    return {
        "name": probe.network.name,
        "space": probe.network.space,
        "code": list(probe.network.code),
        "fingerprint": probe.network.fingerprint,
        "expected_ms": probe.expected_ms,
        "reason": probe.reason,
    }
