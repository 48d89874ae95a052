"""Reasons in words why a prediction is outside the network's training distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.metrics import METRIC_BY_NAME
from predictor.core.records import Target
from predictor.core.text import plural
from predictor.core.wording import percent
from predictor.engine.checkpoint import Experience
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph

_FEW_FAMILIES: Final = 2  # an operator that fewer families of architectures have is not learned
_MUCH: Final = 0.25  # of the predicted time
_FEW_METRICS: Final = 4
_FEW_DEVICES: Final = 5  # of a runtime: what these few have in common need not be the runtime's
_BEYOND: Final = math.log(2.0)  # outside the range of all training devices
_UNCOUNTED: Final = OperatorFlag.UNKNOWN_TRIPS | OperatorFlag.UNKNOWN


def graph_doubts(
    graph: OperatorGraph,
    places: NDArray[np.int64],
    shares: NDArray[np.float64],
    experience: Experience,
) -> list[str]:
    """Return the doubts about a graph on each of T targets, empty where there are none.

    Args:
        graph: N operators.
        places: int64 [R], those that run.
        shares: float64 [R, T], their parts of the predicted latency.
        experience: of the network.
    """
    types = [graph.op_types[place] for place in places.tolist()]
    rare = rare_operators(types, experience)
    uncounted = bool(graph.has_flag(_UNCOUNTED).any())
    loops = "it has operators whose work cannot be counted" if uncounted else ""
    if not rare.any():
        return [loops] * shares.shape[1]
    names = sorted({t for t, is_rare in zip(types, rare.tolist(), strict=True) if is_rare})
    listed = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
    where = f"of the time is in operators that hardly any training network has ({listed})"
    parts = shares[rare].sum(axis=0).tolist()
    doubts = [f"{percent(share)} {where}" if share > _MUCH else "" for share in parts]
    return ["; ".join(filter(None, (doubt, loops))) for doubt in doubts]


def rare_operators(types: Sequence[str], experience: Experience) -> NDArray[np.bool_]:
    """Return whether hardly any training network has the operators of some types."""
    return np.array([experience.operators.get(t, 0) < _FEW_FAMILIES for t in types], np.bool_)


def device_doubt(target: Target, experience: Experience) -> str:
    """Return the doubts about a target without measurements, empty for none."""
    device, configuration = target.device, target.configuration
    reasons = []
    if len(device.metrics) < _FEW_METRICS:
        facts = plural(len(device.metrics), "fact of the device is", "facts of the device are")
        reasons.append(f"only {facts} known")
    for what, choice in (
        (f"no device of the family {device.family}", f"family {device.family}"),
        (f"no run in {configuration.precision}", f"precision {configuration.precision}"),
        (f"no run on {configuration.runtime}", f"runtime {configuration.runtime}"),
    ):
        if not experience.choices.get(choice):
            reasons.append(f"{what} is among what it has learned from")
    learned = experience.choices.get(f"runtime {configuration.runtime}", 0)
    if 0 < learned < _FEW_DEVICES:
        some = f"{learned} of the devices" if learned > 1 else "one device"
        reasons.append(f"only {some} that it has learned from ran {configuration.runtime}")
    reasons += [
        f"its {METRIC_BY_NAME[name].label} is {'above' if log > high else 'below'} that of every "
        "device learned from"
        for name, (low, high) in experience.ranges.items()
        if name in device.metrics
        and not low - _BEYOND <= (log := math.log(device.metrics[name])) <= high + _BEYOND
    ]
    return "; ".join(reasons)
