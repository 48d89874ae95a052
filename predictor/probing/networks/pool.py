"""The pool of reference networks that ships: codes of architectures with their analytic cost.

The pool is frozen in ``resources/probes/pool.json``, written by ``packaging/make_probes.py``. A
network's file is built from its code when it is needed; its fingerprint and cost are known before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import HostError
from predictor.core.resources import resources_dir
from predictor.cost import operator_kinds
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph

SCHEMA = "ctm-probes/1"
# Names of pool.json, by kind of operator; all other kinds are "other" there.
_NAME_OF_KIND: Final[Mapping[str, str]] = {
    "3 x 3 convolution": "dense",
    "other convolution": "dense",
    "pointwise convolution": "pointwise",
    "grouped convolution": "grouped",
    "depthwise convolution": "depthwise",
    "product with weights": "matmul",
    "thin product": "matmul",
    "product of activations": "matmul",
}
KINDS: Final = (*dict.fromkeys(_NAME_OF_KIND.values()), "other")
"""Groups of kinds of operators whose costs are apart in pool.json."""

_NOT_RUN = OperatorFlag.VIEW | OperatorFlag.FUSED


@dataclass(frozen=True, slots=True)
class KindCost:
    """Cost of all operators of one kind: MACs, bytes moved (fp32), and launches."""

    macs: int
    bytes_moved: int
    launches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolNetwork:
    """One reference network.

    Attributes:
        name: unique in the pool.
        space: of its code; a key of ``spaces.BUILDERS``.
        code: of its architecture.
        fingerprint: of its operator graph.
        cost: by kind; kinds that it has not are left out.
        parameters: number of its weights.
    """

    name: str
    space: str
    code: tuple[int, ...]
    fingerprint: str
    cost: Mapping[str, KindCost]
    parameters: int

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one run."""
        return sum(kind.macs for kind in self.cost.values())

    @property
    def bytes_moved(self) -> int:
        """Bytes read and written in one run."""
        return sum(kind.bytes_moved for kind in self.cost.values())

    @property
    def launches(self) -> int:
        """Operators that are started in one run."""
        return sum(kind.launches for kind in self.cost.values())


def load_pool(path: Path | None = None) -> tuple[PoolNetwork, ...]:
    """Return the networks of a pool, those that ship by default.

    Raises:
        HostError: the file cannot be read: the installation is damaged.
    """
    return _load(path or resources_dir() / "probes" / "pool.json")


@cache
def _load(path: Path) -> tuple[PoolNetwork, ...]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return tuple(_from_object(entry) for entry in document["networks"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HostError(str(path), f"it cannot be read ({error})", "install again") from error


def cost_by_kind(graph: OperatorGraph) -> dict[str, KindCost]:
    """Cost of the operators of each kind, in the order of :data:`KINDS`."""
    runs = ~graph.has_flag(_NOT_RUN)
    names = np.array([_NAME_OF_KIND.get(name, "other") for name in operator_kinds.KINDS])
    kinds = names[operator_kinds.kinds_of(graph)]
    costs: dict[str, KindCost] = {}
    for kind in KINDS:
        members = (kinds == kind) & runs
        if members.any():
            costs[kind] = KindCost(
                # A fused operator still computes; its traffic and its launch are gone.
                int(graph.macs[kinds == kind].sum()),
                int(graph.bytes_moved[members].sum()),
                int(graph.repeats[members].sum()),
            )
    return costs


def graph_features(networks: Sequence[PoolNetwork]) -> NDArray[np.float64]:
    """Return simple features for selectors of probes, float64 [N, 2 * kinds + 2].

    Logarithms, since latencies are compared by ratio: of one plus the thousands of MACs and of
    bytes of each kind, of the launches, and of the parameters.
    """
    parameters = np.array([network.parameters for network in networks], dtype=np.float64)
    launches = np.array([network.launches for network in networks], dtype=np.float64)
    # MACs and bytes, two tables of [N, kinds], beside two columns.
    columns = (*(costs_of(networks) / 1e3), launches[:, None], parameters[:, None] / 1e3)
    features: NDArray[np.float64] = np.log1p(np.concatenate(columns, axis=1))
    return features


def costs_of(networks: Sequence[PoolNetwork]) -> NDArray[np.float64]:
    """Return MACs and bytes moved by kind, [2, N, kinds]."""
    none = KindCost(0, 0, 0)
    costs = [[network.cost.get(kind, none) for kind in KINDS] for network in networks]
    pairs = [[(cost.macs, cost.bytes_moved) for cost in row] for row in costs]
    table = np.array(pairs, dtype=np.float64).reshape(len(networks), len(KINDS), 2)
    # [N, kinds, 2] to [2, N, kinds].
    return np.moveaxis(table, 2, 0)


def _from_object(entry: dict[str, Any]) -> PoolNetwork:
    return PoolNetwork(
        name=entry["name"],
        space=entry["space"],
        code=tuple(entry["code"]),
        fingerprint=entry["fingerprint"],
        cost={kind: KindCost(*cost) for kind, cost in entry["cost"].items()},
        parameters=entry["parameters"],
    )
