"""The protocol of a latency predictor: trained once, then adapted to a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView
from predictor.core.errors import InputError
from predictor.probing.selection.interface import Measure, Selection


@dataclass(frozen=True, slots=True, eq=False)
class Probes:
    """The k measured samples of a test device.

    Attributes:
        architectures: int64 [k], indices into the space, distinct.
        latency_ms: float64 [k].
    """

    architectures: NDArray[np.int64]
    latency_ms: NDArray[np.float64]

    def __post_init__(self) -> None:
        if not len(self.architectures):
            raise InputError("probes", "there are none", "measure at least one architecture")
        if self.latency_ms.shape != self.architectures.shape:
            raise InputError(
                "probes",
                f"{len(self.architectures)} architectures have {len(self.latency_ms)} latencies",
                "give one latency an architecture",
            )
        if not (np.isfinite(self.latency_ms) & (self.latency_ms > 0)).all():
            raise InputError(
                "probes", "a latency is not a number above 0", "measure that probe again"
            )

    def __len__(self) -> int:
        return len(self.architectures)

    def log_latency(self) -> NDArray[np.float64]:
        """Float64 [k], logarithms of the latencies in ms."""
        return np.log(self.latency_ms)


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """Latencies of n architectures on one device.

    Attributes:
        latency_ms: float64 [n], medians.
        low80_ms: float64 [n], the 10 % quantiles; None where a method has no intervals.
        high80_ms: float64 [n], the 90 % quantiles; None where a method has no intervals.
    """

    latency_ms: NDArray[np.float64]
    low80_ms: NDArray[np.float64] | None = None
    high80_ms: NDArray[np.float64] | None = None


class Adapted(Protocol):
    """A predictor of one device."""

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Predict the latencies of architectures, int64 [n] indices into the space."""


class Trained(Protocol):
    """A predictor after training."""

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> Adapted:
        """Adapt to a device with its measured samples."""


class Method(Protocol):
    """A predictor before training."""

    @property
    def name(self) -> str:
        """Name in options, documents and pages."""

    def train(self, view: TrainView, seed: int) -> Trained:
        """Train on everything that may be seen."""


@runtime_checkable
class Chooses(Protocol):
    """A trained predictor that also chooses its probes."""

    def choose(
        self, candidates: NDArray[np.int64], k: int, measure: Measure, seed: int
    ) -> Selection:
        """Choose k probes among candidates.

        Args:
            candidates: int64 [n], architectures that may be run.
            k: largest number of latencies that may be read.
            measure: takes an index into ``candidates`` and returns a latency in ms.
            seed: of random choices.

        Returns:
            Indices into ``candidates``, with their latencies where they were measured.
        """


@runtime_checkable
class Plans(Protocol):
    """A trained predictor whose probes are the same on every device, chosen beforehand.

    Its adaptation draws no random numbers: with equal probes it is the same.
    """

    def plan(self, k: int) -> NDArray[np.int64]:
        """Return the k train architectures to run, int64 [k]; equal budgets give equal plans."""
