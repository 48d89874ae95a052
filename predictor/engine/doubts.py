"""Reasons in words why a graph is outside what was learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.engine.checkpoint import Experience
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.presentation.wording import percent

_FEW_FAMILIES: Final = 2  # an operator that fewer families of architectures have is not learned
_MUCH: Final = 0.25  # of the predicted time
_UNCOUNTED: Final = OperatorFlag.UNKNOWN_TRIPS | OperatorFlag.UNKNOWN


def graph_doubts(
    graph: OperatorGraph, rare: NDArray[np.int64], share: NDArray[np.float64]
) -> list[str]:
    """Return the doubts about a graph on each of T targets, empty where there are none.

    Args:
        graph: N operators.
        rare: int64 [R], those that hardly any training network has.
        share: float64 [T], their part of the predicted latency.
    """
    uncounted = bool(graph.has_flag(_UNCOUNTED).any())
    loops = "contains operators of unknown cost" if uncounted else ""
    if not len(rare):
        return [loops] * len(share)
    names = sorted({graph.op_types[place] for place in rare.tolist()})
    names_text = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
    where = f"of the time is in operators that hardly any training network has ({names_text})"
    doubts = [f"{percent(part)} {where}" if part > _MUCH else "" for part in share.tolist()]
    return ["; ".join(filter(None, (doubt, loops))) for doubt in doubts]


def rare_operators(types: Sequence[str], experience: Experience) -> NDArray[np.bool_]:
    """Return whether hardly any training network has the operators of some types."""
    return np.array([experience.operators.get(t, 0) < _FEW_FAMILIES for t in types], np.bool_)
