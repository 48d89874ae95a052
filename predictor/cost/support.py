"""Operators that a runtime does not run on a unit, by the lists that the runtimes publish.

The lists ship in resources/support with source and version. They are of ONNX operators of the
default domain, by type alone: a runtime may refuse attributes or types of tensors of an operator
that it lists, and may fuse one that it does not. Targets without a list are not judged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from predictor.core.records import Precision, Target
from predictor.core.resources import resources_dir
from predictor.core.run_facts import Unsupported
from predictor.cost.run_facts import Computed
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph

# They run nowhere: they are views, or parts of another operator.
_NOT_RUN = OperatorFlag.VIEW | OperatorFlag.FUSED


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportList:
    """Operators that a runtime runs on a kind of unit.

    Attributes:
        title: the runtime's part, for people.
        runtimes: their names in the registry.
        families: kinds of unit.
        vendors: makers of the units; empty for all.
        architectures: beginnings of the ids of their architectures; empty for all.
        otherwise: what happens to other operators, in words.
        source: of the list, with its version.
        types: ONNX types of the default domain.
        lists_all: whether ``types`` are those that it runs; else those that it does not.
        in_float: types that run in floating point beside them: parts of what it fuses there.
    """

    title: str
    runtimes: frozenset[str]
    families: frozenset[str]
    vendors: frozenset[str]
    architectures: tuple[str, ...]
    otherwise: str
    source: str
    types: frozenset[str]
    lists_all: bool
    in_float: frozenset[str]

    def covers(self, runtime: str, family: str, vendor: str, architecture: str) -> bool:
        """Whether the list is about a kind of target."""
        of_vendor = not self.vendors or vendor in self.vendors
        of_design = not self.architectures or architecture.startswith(self.architectures)
        return runtime in self.runtimes and family in self.families and of_vendor and of_design

    def refused(self, graph: OperatorGraph, *, is_float: bool) -> Unsupported | None:
        """Return the operators of a graph that do not run; those of other domains are not judged.

        Args:
            graph: the operators.
            is_float: whether the run is in floating point.
        """
        fused = self.in_float if is_float else frozenset()
        types = {
            name
            for name in set(graph.op_types)
            if "::" not in name and (name in self.types) is not self.lists_all and name not in fused
        }
        if not types:
            return None
        runs = np.flatnonzero(~graph.has_flag(_NOT_RUN)).tolist()
        places = [place for place in runs if graph.op_types[place] in types]
        counts = Counter(graph.op_types[place] for place in places)
        return (
            Unsupported(
                tuple(graph.names[place] for place in places),
                tuple(name for name, _ in counts.most_common()),
                self.title,
                self.otherwise,
                self.source,
            )
            if places
            else None
        )


def unsupported(graph: OperatorGraph, targets: Sequence[Target]) -> Computed[Unsupported | None]:
    """Return the operators of a graph that each target's runtime does not run there."""

    @cache  # targets are many and lists few
    def refused(support: SupportList, is_float: bool) -> Unsupported | None:
        return support.refused(graph, is_float=is_float)

    def of_target(place: int) -> Unsupported | None:
        device, c = targets[place].device, targets[place].configuration
        support = _list_of(c.runtime, device.family, device.vendor, device.architecture)
        return None if support is None else refused(support, c.precision is not Precision.INT8)

    return Computed(len(targets), of_target)


@cache
def _list_of(runtime: str, family: str, vendor: str, architecture: str) -> SupportList | None:
    """Return the first list of a kind of target: those of one design stand before the others."""
    kind = runtime, family, vendor, architecture
    return next((support for support in support_lists() if support.covers(*kind)), None)


@cache
def support_lists() -> tuple[SupportList, ...]:
    """Return the lists that ship."""
    path = resources_dir() / "support" / "operators.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    return tuple(map(_support_list, document["lists"]))


def _support_list(entry: Mapping[str, object]) -> SupportList:
    def names(key: str) -> frozenset[str]:
        values = entry.get(key, ())
        return frozenset(map(str, values if isinstance(values, list) else ()))

    return SupportList(
        title=str(entry["title"]),
        runtimes=names("runtimes"),
        families=names("families"),
        vendors=names("vendors"),
        architectures=tuple(names("architectures")),
        otherwise=str(entry["otherwise"]),
        source=f"{entry['source']} ({entry['version']})",
        types=names("runs") or names("lacks"),
        lists_all="runs" in entry,
        in_float=names("runs_in_float"),
    )
