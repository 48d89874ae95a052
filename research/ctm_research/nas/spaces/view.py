"""The view of a method in training: train devices on train architectures, nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.spaces.space import Architectures, DeviceFacts, NasSpace
from predictor.core.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class TrainView:
    """Latencies of T train architectures on D train devices; the others were never copied here.

    Attributes:
        architectures: codes and graphs of the whole space. Graphs are no secret: a method needs
            those of the test architectures to predict them.
        devices: the D train devices.
        rows: int64 [T], the train architectures, ascending; also the pool of probes.
        latency_ms: float64 [T, D], read-only.
    """

    architectures: Architectures
    devices: tuple[DeviceFacts, ...]
    rows: NDArray[np.int64]
    latency_ms: NDArray[np.float64]

    @classmethod
    def of(cls, space: NasSpace, devices: Sequence[str], rows: NDArray[np.int64]) -> TrainView:
        """Copy the view out of a space.

        Args:
            space: all latencies.
            devices: names of the train devices.
            rows: int64 [T], train architectures.

        Raises:
            InputError: a device is unknown or named twice, or there is no device or architecture.
        """
        if not devices or not len(rows):
            raise InputError(
                f"training set of {space.architectures.space}",
                f"it has {len(devices)} devices and {len(rows)} architectures",
                "give at least one of each",
            )
        if len(set(devices)) != len(devices):
            raise InputError(
                f"train devices {', '.join(devices)}", "one is named twice", "name each once"
            )
        ordered = np.unique(rows)
        columns = np.array([space.column(device) for device in devices])
        latency_ms = space.latency_ms[np.ix_(ordered, columns)]
        latency_ms.setflags(write=False)
        return cls(space.architectures, tuple(space.facts(d) for d in devices), ordered, latency_ms)

    def latencies(self, device: str, architectures: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return latencies of train architectures on one train device.

        Args:
            device: name of a train device.
            architectures: int64 [n], indices into the space.

        Raises:
            InputError: the device is no train device, or an architecture is a test architecture.
        """
        place = np.searchsorted(self.rows, architectures).clip(max=len(self.rows) - 1)
        strange = architectures[self.rows[place] != architectures]
        if len(strange):
            raise InputError(
                f"architecture {strange[0]} of {self.architectures.space}",
                "it is no train architecture: its latency is not to be seen",
                "train on the rows of the view",
            )
        latency_ms: NDArray[np.float64] = self.latency_ms[place, self._column(device)]
        return latency_ms

    def log_latency(self) -> NDArray[np.float64]:
        """Float64 [T, D], logarithms of the latencies in ms."""
        return np.log(self.latency_ms)

    def without(self, device: str) -> TrainView:
        """Return the view of the other train devices.

        Raises:
            InputError: the device is no train device, or the only one.
        """
        column = self._column(device)
        others = [index for index in range(len(self.devices)) if index != column]
        if not others:
            raise InputError(f"device {device}", "it is the only train device", "give two or more")
        latency_ms = self.latency_ms[:, others]
        latency_ms.setflags(write=False)
        return TrainView(
            self.architectures, tuple(self.devices[o] for o in others), self.rows, latency_ms
        )

    def folds(self) -> Iterator[tuple[TrainView, DeviceFacts]]:
        """Yield, for each train device, the view of the others and the device that was left out."""
        for device in self.devices:
            yield self.without(device.name), device

    def _column(self, device: str) -> int:
        for index, candidate in enumerate(self.devices):
            if candidate.name == device:
                return index
        raise InputError(
            f"device {device}",
            "it is no train device: its latencies are not to be seen",
            f"read one of {', '.join(candidate.name for candidate in self.devices)}",
        )
