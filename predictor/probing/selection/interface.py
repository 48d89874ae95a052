"""The interface of selectors: a pool in, a selection out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError

Floats = NDArray[np.float64]

Measure = Callable[[int], float]
"""Runs the network of an index on the device and returns its latency in ms."""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The N networks that may be chosen.

    Attributes:
        train_latency_ms: float64 [N, D], latencies on the D training targets, or None.
        features: float64 [N, F], one row a network, or None.
    """

    train_latency_ms: Floats | None = None
    features: Floats | None = None

    def __post_init__(self) -> None:
        if self.train_latency_ms is not None:
            _check_latencies(self.train_latency_ms)
        if self.features is not None:
            _check_features(self.features)
        sizes = {len(a) for a in (self.train_latency_ms, self.features) if a is not None}
        if len(sizes) != 1:
            raise InputError(
                "probe pool",
                f"its parts have {sorted(sizes)} rows",
                "give latencies or features, with one row a network",
            )

    def __len__(self) -> int:
        networks = self.train_latency_ms if self.features is None else self.features
        return 0 if networks is None else len(networks)

    def needed_latency_ms(self, selector: str) -> Floats:
        """Return the latencies on training targets.

        Raises:
            InputError: the pool has none.
        """
        if self.train_latency_ms is None:
            raise _missing(selector, "latencies on training targets")
        return self.train_latency_ms

    def needed_features(self, selector: str) -> Floats:
        """Return the features.

        Raises:
            InputError: the pool has none.
        """
        if self.features is None:
            raise _missing(selector, "features of its networks")
        return self.features


@dataclass(frozen=True, slots=True)
class Selection:
    """Chosen networks.

    Attributes:
        indices: into the pool, in the order of choice; distinct.
        latency_ms: measured latency of each; empty for a plan without a device.
        device_weights: weight of each training target, where the selector has such weights.
    """

    indices: tuple[int, ...]
    latency_ms: tuple[float, ...] = ()
    device_weights: tuple[float, ...] = ()


class Selector(Protocol):
    """Chooses networks; equal arguments give equal choices."""

    def select(
        self, pool: Pool, k: int, measure: Measure | None = None, seed: int = 0
    ) -> Selection:
        """Choose ``k`` networks and measure each of them once.

        Args:
            pool: to choose from.
            k: number of networks to choose, and of latencies to read.
            measure: the live device; None for a plan made before anything is measured.
            seed: of random draws.

        Raises:
            InputError: ``k`` is not between 1 and the size of the pool, the pool lacks data of
                this selector, or a measured latency is not a positive number.
        """

    def rest(
        self, pool: Pool, k: int, first: Sequence[int], latency_ms: Sequence[float], seed: int = 0
    ) -> Selection:
        """Choose the networks that follow on the first ones.

        Args:
            pool: to choose from.
            k: number of networks altogether, at most those of the pool.
            first: networks that were chosen before.
            latency_ms: of each; NaN for those that could not be measured. Empty without a device.
            seed: of random draws.

        Returns:
            The first ones and then the others; no latencies.
        """


def check_budget(pool: Pool, k: int) -> None:
    """Refuse a budget that the pool cannot serve.

    Raises:
        InputError: ``k`` is below 1 or above the size of the pool.
    """
    if not 1 <= k <= len(pool):
        raise InputError(
            "probe budget",
            f"k is {k}, the pool has {len(pool)} networks",
            f"choose from 1 to {len(pool)}",
        )


def measured(measure: Measure, indices: Sequence[int]) -> tuple[float, ...]:
    """Measure the networks in order.

    Raises:
        InputError: a latency is not a positive number.
    """
    return tuple(_measured_one(measure, index) for index in indices)


def _measured_one(measure: Measure, index: int) -> float:
    latency_ms = float(measure(index))
    if not (math.isfinite(latency_ms) and latency_ms > 0):
        raise InputError(
            f"probe {index}",
            f"its measured latency is {latency_ms} ms",
            "measure it again; a latency is a positive number",
        )
    return latency_ms


def _check_latencies(latency_ms: Floats) -> None:
    if latency_ms.ndim != 2 or latency_ms.shape[1] < 1:
        raise InputError(
            "training latencies",
            f"they have the shape {latency_ms.shape}",
            "give one row a network and one column a target",
        )
    if not (np.isfinite(latency_ms) & (latency_ms > 0)).all():
        row, column = np.argwhere(~(np.isfinite(latency_ms) & (latency_ms > 0)))[0]
        raise InputError(
            "training latencies",
            f"row {row}, column {column} is {latency_ms[row, column]} ms",
            "give positive numbers; fill gaps with predicted latencies",
        )


def _check_features(features: Floats) -> None:
    if features.ndim != 2 or features.shape[1] < 1:
        raise InputError(
            "probe features",
            f"they have the shape {features.shape}",
            "give one row a network and one column a feature",
        )
    if not np.isfinite(features).all():
        row, column = np.argwhere(~np.isfinite(features))[0]
        raise InputError(
            "probe features",
            f"row {row}, column {column} is {features[row, column]}",
            "give finite numbers",
        )


def _missing(selector: str, what: str) -> InputError:
    return InputError(f"probe selector {selector}", f"the pool has no {what}", f"give {what}")
