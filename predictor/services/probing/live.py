"""Live sessions: what was measured says which networks are measured next."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from predictor.core.records import Configuration, Target
from predictor.cost.engine import TargetMeasurements
from predictor.devices.schema import device_from_object
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.choice import ADAPTIVE
from predictor.probing.networks.known import load_known
from predictor.probing.networks.pool import load_pool
from predictor.probing.planning import PlannedProbe, Wish, more_probes
from predictor.services.probing.expectation import beliefs_of
from predictor.services.probing.plan import probe_object


def next_probes(
    text: str,
    configuration: Configuration,
    told: Mapping[str, float],
    measured: TargetMeasurements,
    asked: Sequence[OperatorGraph] = (),
) -> tuple[PlannedProbe, ...]:
    """Choose what a live session measures next; nothing once it is enough.

    Args:
        text: the stored plan.
        configuration: of the target.
        told: latency in ms of every network of the session by name, in the order of choice; NaN
            for those that have none.
        measured: what the engine is told of these.
        asked: what is to be predicted, for the adaptive selector; none for networks of the pool.
    """
    document = json.loads(text)
    live = document.get("live")
    if live is None or len(told) >= live["probes"]:
        return ()
    target = Target(device_from_object(live["device"], "the plan").device, configuration)
    wish = Wish(
        target,
        live["probes"],
        document["selector"],
        document["seed"],
        live["budget_s"],
        live=True,
        within=live["within"],
    )
    beliefs = None
    if wish.selector == ADAPTIVE:
        beliefs = beliefs_of(target, asked, measured)
    return tuple(more_probes(wish, load_pool(), load_known().latency_ms, told, beliefs))


def grown_text(text: str, more: Iterable[PlannedProbe]) -> str:
    """Return a stored plan with further networks."""
    document = json.loads(text)
    document["probes"] += [probe_object(probe) for probe in more]
    return json.dumps(document)


def probes_to_come(text: str) -> int:
    """Return how many networks of a stored plan are still to be chosen, at most."""
    document = json.loads(text)
    live = document.get("live")
    return 0 if live is None else max(0, int(live["probes"]) - len(document["probes"]))
