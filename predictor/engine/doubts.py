"""Reasons in words why a graph is outside what was learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from predictor.core.arrays import Bools, Floats, Integers
from predictor.cost.run_facts import uncounted
from predictor.graph.operator_graph import OperatorGraph
from predictor.presentation.wording import percent

_FEW_FAMILIES: Final = 2  # an operator that fewer families of architectures have is not learned
_MUCH: Final = 0.25  # of the predicted time


def graph_doubts(graph: OperatorGraph, rare: Integers, share: Floats) -> list[str]:
    """Return the doubts about a graph on each of T targets, empty where there are none.

    Args:
        graph: N operators.
        rare: int64 [R], those that hardly any training network has.
        share: float64 [T], their part of the predicted latency.
    """
    loops = "contains operators of unknown cost" if uncounted(graph) else ""
    if not len(rare):
        return [loops] * len(share)
    names = sorted({graph.op_types[place] for place in rare.tolist()})
    names_text = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
    where = f"of the time is in operators that hardly any training network has ({names_text})"
    doubts = [f"{percent(part)} {where}" if part > _MUCH else "" for part in share.tolist()]
    return ["; ".join(filter(None, (doubt, loops))) for doubt in doubts]


def rare_operators(types: Sequence[str], families: Mapping[str, int]) -> Bools:
    """Return whether hardly any training network has the operators of some types."""
    return np.array([families.get(name, 0) < _FEW_FAMILIES for name in types], np.bool_)
