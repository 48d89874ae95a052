"""Deviations of networks in classes of targets, from networks with the same products.

Kernels of a runtime suit some networks better than others: what a ResNet was off by on the targets
of a class, another ResNet is off by on the next. ln(measured / estimated) of a network, beside the
level and shape of its target, is a Gaussian process over networks in each class. The covariance of
two is what their products have in common, by the share that each has of all. It reads neither batch
nor any rate, and it changes little where a network changes little.

Reference:
    Weighted Jaccard similarity: S. Ioffe, "Improved consistent sampling, weighted minhash and L1
    sketching", ICDM 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.product_kinds import PRODUCT_KINDS, product_kinds
from predictor.core.arrays import Floats, Integers
from predictor.graph.operator_graph import OperatorGraph

_LIMIT: Final = 0.5  # of a deviation in ln
# Of FNV-1a, for rows of numbers.
_BASIS: Final = np.uint64(0xCBF29CE484222325)
_PRIME: Final = np.uint64(0x100000001B3)

Names = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """The distinct products with weights of a network.

    Attributes:
        names: uint64 [U], ascending: checksums of groups, columns, length of the sums and window.
        shares: float64 [U], of the roots of their multiplications, 1 together.
        of_kinds: float64 [PRODUCT_KINDS], the same by kind of product.
    """

    names: Names
    shares: Floats
    of_kinds: Floats

    @classmethod
    def of(cls, graph: OperatorGraph) -> Products:
        """Return those of a graph, cost O(N)."""
        counts = np.ones(len(graph))
        columns = graph.macs, graph.weight_bytes, graph.gemm, graph.window
        return cls.of_columns(*columns, counts)

    @classmethod
    def of_columns(
        cls,
        macs: NDArray[np.number],
        weight_bytes: NDArray[np.number],
        gemm: NDArray[np.number],
        window: NDArray[np.number],
        counts: NDArray[np.number],
    ) -> Products:
        """Return those of N operators.

        Args:
            macs: [N].
            weight_bytes: [N].
            gemm: [N, 4], groups, rows, columns and length of the sums.
            window: [N, 2].
            counts: [N], how often each is in the network.
        """
        (places,) = np.nonzero((macs > 0) & (weight_bytes > 0))
        # Rows grow with the batch and the size of the input.
        sizes = np.column_stack([gemm[places][:, [0, 2, 3]], window[places]])
        names, of_place = np.unique(_checksums(sizes.astype(np.uint64)), return_inverse=True)
        roots = np.sqrt(macs[places].astype(np.float64)) * counts[places]
        sums = np.bincount(of_place, roots, len(names))
        of_kinds = np.bincount(product_kinds(gemm[places], window[places]), roots, PRODUCT_KINDS)
        total = max(sums.sum(), 1.0)
        return cls(names, sums / total, of_kinds / total)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NetworkDeviations:
    """Weights of N measured networks in C classes of targets.

    Attributes:
        classes: C names, ascending.
        products: uint64 [U], distinct ones of all networks, ascending.
        product: int64 [E], place of a product of a network in ``products``, ascending.
        network: int64 [E], whose it is.
        shares: float64 [E], its share there.
        weights: float64 [N, C].
    """

    classes: Sequence[str]
    products: Names
    product: Integers
    network: Integers
    shares: Floats
    weights: Floats

    @classmethod
    def nothing(cls) -> NetworkDeviations:
        """Return the deviations where no network was measured."""
        empty = np.empty(0, np.int64)
        return cls(
            classes=[],
            products=empty.astype(np.uint64),
            product=empty,
            network=empty,
            shares=np.empty(0),
            weights=np.empty((0, 0)),
        )

    @classmethod
    def of(
        cls, networks: Sequence[Products], classes: Sequence[str], weights: Floats
    ) -> NetworkDeviations:
        """Return the deviations of networks by their weights, float64 [N, C]."""
        names = np.concatenate([np.empty(0, np.uint64), *(one.names for one in networks)])
        products, product = np.unique(names, return_inverse=True)
        sizes = [len(one.names) for one in networks]
        network = np.repeat(np.arange(len(networks)), sizes)
        shares = np.concatenate([np.empty(0), *(one.shares for one in networks)])
        order = np.argsort(product, kind="stable")
        return cls(
            classes=classes,
            products=products,
            product=product[order],
            network=network[order],
            shares=shares[order],
            weights=weights,
        )

    def fits(self) -> bool:
        """Return whether the arrays belong together."""
        count, entries = len(self.weights), (len(self.product),)
        inside = (self.product < len(self.products)).all() and (self.network < count).all()
        return (
            self.weights.shape == (count, len(self.classes))
            and self.network.shape == self.shares.shape == entries
            and bool(inside and (self.product >= 0).all() and (self.network >= 0).all())
            and bool((np.diff(self.product) >= 0).all() and (np.diff(self.products) > 0).all())
            and bool(np.isfinite(self.weights).all() and (self.shares >= 0).all())
        )

    def places(self, classes: Sequence[str]) -> Integers:
        """Return the places of T classes, int64 [T]; that after the last one for any other."""
        numbers = {name: place for place, name in enumerate(self.classes)}
        return np.array([numbers.get(name, len(numbers)) for name in classes], np.int64)

    def likeness(self, products: Products) -> Floats:
        """Return the covariance of a network with each of the N over that with itself, [N]."""
        places = np.searchsorted(self.products, products.names)
        places[places == len(self.products)] = 0
        here = self.products[places] == products.names if len(self.products) else places < 0
        first = np.searchsorted(self.product, places[here])
        sizes = np.searchsorted(self.product, places[here], side="right") - first
        starts = np.cumsum(sizes) - sizes
        entries = np.repeat(first - starts, sizes) + np.arange(int(sizes.sum()))
        common = np.minimum(np.repeat(products.shares[here], sizes), self.shares[entries])
        shared = np.bincount(self.network[entries], common, len(self.weights))
        likeness: Floats = shared / (2.0 - shared)
        return likeness

    def of_network(self, products: Products) -> Floats:
        """Return the deviation of a network in ln by class, float64 [C + 1]; 0 in any other."""
        deviations = np.clip(self.likeness(products) @ self.weights, -_LIMIT, _LIMIT)
        return np.append(deviations, 0.0)


def _checksums(rows: NDArray[np.uint64]) -> Names:
    """Return a checksum of each row, uint64 [N]."""
    sums = np.full(len(rows), _BASIS)
    for column in rows.T:
        for shift in (0, 16, 32, 48):
            sums = (sums ^ ((column >> np.uint64(shift)) & np.uint64(0xFFFF))) * _PRIME
    return sums
