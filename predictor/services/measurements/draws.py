"""Draws of probes among the rows of a target; the others are predicted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.choice import SELECTORS as PLANNED
from predictor.probing.networks.pool import PoolNetwork, cost_by_kind, graph_features
from predictor.probing.selection.interface import Pool
from predictor.services.measurements.table import MeasuredRow, Role

SELECTORS: Final = ("random", "dbsel", "dopt")

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Plan:
    """Parting of a table into probes and rows to predict.

    Attributes:
        probes: k of each target; None for all rows of the role probe, or for none without roles.
        selector: their choice, one of :data:`SELECTORS`.
        seeds: number of choices where the choice is random.
    """

    probes: int | None = None
    selector: str = "random"
    seeds: int = 10


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One choice on one target: numbers of rows of the table."""

    probes: Rows
    tests: Rows


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The rows of a target that may be probes, the number of probes, and the predicted rows.

    Attributes:
        may_probe: numbers of rows.
        tests: numbers of rows; without roles the same.
        count: k.
    """

    may_probe: Rows
    tests: Rows
    count: int

    @classmethod
    def of(cls, rows: Sequence[MeasuredRow], numbers: Rows, probes: int | None) -> Candidates:
        """Part the rows of one target.

        Args:
            rows: of the table.
            numbers: those of the target.
            probes: k, or None for the table's own roles.

        Raises:
            InputError: there are too few rows for k, or none is left to be predicted; the reason
                states their numbers.
        """
        roles = [rows[number].role for number in numbers.tolist()]
        if roles[0] is None:
            candidates = cls(numbers, numbers, probes or 0)
            # Without roles every row may be drawn; those that are not are predicted.
            left = len(numbers) - candidates.count
        else:
            is_probe = np.array([role is Role.PROBE for role in roles])
            probe_rows = numbers[is_probe]
            wanted = len(probe_rows) if probes is None else probes
            candidates = cls(probe_rows, numbers[~is_probe], wanted)
            left = len(candidates.tests)
        if candidates.count > len(candidates.may_probe) or left <= 0:
            raise InputError(
                rows[int(numbers[0])].target,
                f"{candidates.count} probes of {len(candidates.may_probe)} rows leave "
                f"{max(left, 0) or 'none'} to predict",
                "give more rows or fewer probes",
            )
        return candidates

    @property
    def has_choice(self) -> bool:
        """Whether there is more than one way to choose."""
        return 0 < self.count < len(self.may_probe)


class Drawer:
    """Draws probes; equal arguments give equal draws.

    Args:
        plan: selector and number of probes.
        latency_ms: float64 [rows], measured; a selector reads those that it chooses, no others.
        graphs: of each row.
        catalogue_ms: returns estimates of graphs on the catalogue's targets, float64 [N, T]; for
            DBSel.
    """

    def __init__(
        self,
        plan: Plan,
        latency_ms: NDArray[np.float64],
        graphs: Sequence[OperatorGraph],
        catalogue_ms: Callable[[Sequence[OperatorGraph]], NDArray[np.float64]],
    ) -> None:
        self._plan = plan
        self._latency_ms = latency_ms
        self._graphs = graphs
        self._catalogue_ms = catalogue_ms

    def draw(self, candidates: Candidates, seed: int, target: int) -> Draw:
        """Choose the probes of the target of this number."""
        chosen = self._chosen(candidates, _mixed(seed, target))
        return Draw(chosen, np.setdiff1d(candidates.tests, chosen))

    def _chosen(self, candidates: Candidates, seed: int) -> Rows:
        may_probe, count = candidates.may_probe, candidates.count
        if not candidates.has_choice:
            return may_probe[:count]
        selection = PLANNED[self._plan.selector].select(
            self._pool(may_probe),
            count,
            lambda index: float(self._latency_ms[may_probe[index]]),
            seed,
        )
        return may_probe[list(selection.indices)]

    def _pool(self, rows: Rows) -> Pool:
        graphs = [self._graphs[row] for row in rows.tolist()]
        match self._plan.selector:
            case "dbsel":
                return Pool(train_latency_ms=self._catalogue_ms(graphs))
            case "dopt":
                return Pool(features=graph_features([_network(graph) for graph in graphs]))
            case _:
                # The random selector reads no features, only how many rows there are.
                return Pool(features=np.ones((len(rows), 1)))


def _network(graph: OperatorGraph) -> PoolNetwork:
    return PoolNetwork(
        name="",
        space="",
        code=(),
        fingerprint=graph.fingerprint,
        cost=cost_by_kind(graph),
        parameters=graph.parameters,
    )


def _mixed(seed: int, target: int) -> int:
    """Return a seed that differs by target."""
    # seed + target would give neighbouring targets the draws of neighbouring seeds.
    return int(np.random.SeedSequence([seed, target]).generate_state(1)[0])
