"""Training of the deviations of networks in classes of targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ctm_research.evaluation.judge.groups import Floats, Numbers, means, medians, numbered
from ctm_research.evaluation.judge.judged import Judged, Rows
from ctm_research.evaluation.judge.term_times import DistinctOperators
from predictor.calibration.efficiencies import groups_of
from predictor.calibration.network_deviations import NetworkDeviations, Products
from predictor.calibration.product_kinds import PRODUCT_KINDS

_NETWORK: Final = 0.12  # standard deviation in ln of what like networks share
_ONE_SILICON: Final = 0.12  # of a network on one silicon about it
_LEAST_NETWORKS: Final = 5  # of a class
_LEAST_SILICON: Final = 2  # of a network there
_MOST_NETWORKS: Final = 700  # of a class, those on the most silicon


class NetworkTraining:
    """The networks of a corpus; their deviations are found anew for each part of the measurements.

    Args:
        judged: the corpus.
        operators: its distinct operators.
    """

    def __init__(self, judged: Judged, operators: DistinctOperators) -> None:
        self._judged = judged
        rows = judged.rows[np.argsort(judged.graph[judged.rows], kind="stable")]
        self._networks, first = np.unique(judged.network[rows], return_index=True)
        # Graphs of a network differ in batch and size of the input, which its products do not read.
        graphs = judged.graph[rows[first]]
        self._products = [_products(judged, operators, int(graph)) for graph in graphs.tolist()]
        self._classes = [groups_of(target)["class"] for target in judged.targets]

    def compositions(self) -> Floats:
        """Return the shares of kinds of products of all networks, float64 [N, PRODUCT_KINDS].

        Those of networks that are not judged are 0.
        """
        shares = np.zeros((int(self._judged.network.max()) + 1, PRODUCT_KINDS))
        shares[self._networks] = [each.of_kinds for each in self._products]
        return shares

    def fit(self, rows: Rows, apart: Floats) -> NetworkDeviations:
        """Return the deviations of networks that measurements tell.

        Args:
            rows: int64 [R] measurements, each network once on a target.
            apart: float64 [R], ln(measured / estimated) beside level and shape of the target.
        """
        judged = self._judged
        names, of_target = np.unique(self._classes, return_inverse=True)
        klass = of_target[judged.target[rows]]
        place = np.searchsorted(self._networks, judged.network[rows])
        # Targets of one silicon are one vote, and then each silicon is.
        first, cell = numbered(klass, place, judged.silicon_of(rows))
        of_silicon = medians(cell, apart, len(first))
        of, pair = numbered(klass[first], place[first])
        deviation, votes = means(pair, of_silicon, len(of)), np.bincount(pair)
        klass, place = klass[first][of], place[first][of]
        # One silicon does not tell a network from itself.
        enough = votes >= _LEAST_SILICON
        klass, place = klass[enough], place[enough]
        deviation, votes = deviation[enough], votes[enough]
        found: dict[str, tuple[Numbers, Floats]] = {}
        for number, name in enumerate(names.tolist()):
            (mine,) = np.nonzero(klass == number)
            if len(mine) >= _LEAST_NETWORKS:
                mine = mine[np.argsort(-votes[mine], kind="stable")[:_MOST_NETWORKS]]
                weights = self._weights(place[mine], deviation[mine], votes[mine])
                found[name] = place[mine], weights
        return self._joined(found)

    def of_rows(self, networks: NetworkDeviations, rows: Rows) -> Floats:
        """Return the deviations of the networks of some measurements in ln, float64 [R]."""
        judged = self._judged
        of_class = np.array([networks.of_network(each) for each in self._products])  # [N, C + 1]
        place = np.searchsorted(self._networks, judged.network[rows])
        deviations: Floats = of_class[place, networks.places(self._classes)[judged.target[rows]]]
        return deviations

    def _weights(self, places: Numbers, deviation: Floats, votes: Numbers) -> Floats:
        """Return the weights of networks in a class, [n]: inverse covariance times deviation."""
        products = [self._products[place] for place in places.tolist()]
        among = NetworkDeviations.of(products, [], np.empty((len(products), 0)))
        alike = np.array([among.likeness(each) for each in products])
        covariance = _NETWORK**2 * alike + np.diag(_ONE_SILICON**2 / votes)
        weights = _NETWORK**2 * np.linalg.solve(covariance, deviation)
        return np.asarray(weights, np.float64)

    def _joined(self, found: dict[str, tuple[Numbers, Floats]]) -> NetworkDeviations:
        """Return the deviations of all classes."""
        classes: Sequence[str] = sorted(found)
        places = np.unique(
            np.concatenate([np.empty(0, np.int64), *(at for at, _ in found.values())])
        )
        weights = np.zeros((len(places), len(classes)))
        for column, name in enumerate(classes):
            at, of_class = found[name]
            weights[np.searchsorted(places, at), column] = of_class
        return NetworkDeviations.of(
            [self._products[place] for place in places.tolist()], classes, weights
        )


def _products(judged: Judged, operators: DistinctOperators, graph: int) -> Products:
    packed = judged.corpus.graphs.packed
    start, stop = packed.node_offsets[graph : graph + 2]
    distinct, counts = np.unique(packed.kind[start:stop], return_counts=True)
    mine = operators.take(distinct)
    return Products.of_columns(mine.macs, mine.weight_bytes, mine.gemm, mine.window, counts)
