"""A search space as methods see it: all its graphs, and none of its latencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.spaces.graphs import SpaceGraphs, cached_graphs
from ctm_research.nas.spaces.kernels import KernelTable
from ctm_research.nas.spaces.structure import structure
from ctm_research.packed import PackedGraphs
from ctm_research.sources.nas import Column, search_spaces
from predictor.core.errors import InputError
from predictor.core.progress import CancelToken, ProgressCallback, no_progress

# NAS-Bench-201 with its dead edges: 25 of the 27 devices executed them.
BUILDERS: Mapping[str, str] = MappingProxyType(
    {"fbnet": "fbnet-cifar100", "nasbench201": "nasbench201-eager"}
)


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """Facts of a device before anything runs on it.

    Attributes:
        name: in the source, with the batch at its end.
        device_id: in the catalogue; empty where the catalogue lacks it.
        batch: of a run.
    """

    name: str
    device_id: str
    batch: int

    @classmethod
    def of(cls, column: Column) -> DeviceFacts:
        """Return the facts of a column of the source."""
        return cls(column.name, column.device_id, column.batch)


@dataclass(frozen=True, slots=True, eq=False)
class Architectures:
    """The A architectures of a space, without latencies.

    Attributes:
        space: name, a key of :data:`BUILDERS`.
        codes: int64 [A, P], one choice a position.
        kernels: of each graph.
        graphs: operators and edges of each graph.
        structure: float64 [A, S], see :mod:`ctm_research.nas.spaces.structure`.
    """

    space: str
    codes: NDArray[np.int64]
    kernels: KernelTable
    graphs: PackedGraphs
    structure: NDArray[np.float64]

    @property
    def builder(self) -> str:
        """Name of the builder of its graphs."""
        return BUILDERS[self.space]

    @property
    def choices(self) -> int:
        """Number of choices at a position."""
        return int(self.codes.max()) + 1

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class NasSpace:
    """A search space with everything that was measured: for the evaluation's eyes only.

    Attributes:
        architectures: visible to methods.
        columns: the D devices.
        latency_ms: float64 [A, D].
    """

    architectures: Architectures
    columns: tuple[Column, ...]
    latency_ms: NDArray[np.float64]

    def __post_init__(self) -> None:
        expected = (len(self.architectures), len(self.columns))
        if self.latency_ms.shape != expected:
            raise InputError(
                f"latencies of {self.architectures.space}",
                f"they have the shape {self.latency_ms.shape}, not {expected}",
                "give one row an architecture and one column a device",
            )
        wrong = np.argwhere(~(np.isfinite(self.latency_ms) & (self.latency_ms > 0)))
        if len(wrong):
            row, column = wrong[0].tolist()
            raise InputError(
                f"{self.architectures.space}, architecture {row}, {self.columns[column].name}",
                f"the latency is {self.latency_ms[row, column]} ms",
                "give numbers above 0",
            )

    def column(self, device: str) -> int:
        """Return the column of a device.

        Raises:
            InputError: the space has no such device.
        """
        for index, column in enumerate(self.columns):
            if column.name == device:
                return index
        raise InputError(
            f"device {device}",
            f"{self.architectures.space} has no such device",
            f"give one of {', '.join(column.name for column in self.columns)}",
        )

    def facts(self, device: str) -> DeviceFacts:
        """Return the facts of a device.

        Raises:
            InputError: the space has no such device.
        """
        return DeviceFacts.of(self.columns[self.column(device)])


def architectures_of(space: str, codes: NDArray[np.int64], graphs: SpaceGraphs) -> Architectures:
    """Join codes and graphs."""
    return Architectures(space, codes, graphs.kernels, graphs.packed, structure(graphs.kernels))


def load_space(
    data: Path,
    name: str,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
    cache: Path | None = None,
) -> NasSpace:
    """Read the latencies of a space and build its graphs.

    Args:
        data: folder with the folder ``nas``.
        name: a key of :data:`BUILDERS`.
        progress: told the number of graphs built.
        cancel: asks to stop.
        cache: folder of built graphs; None means the user's.

    Raises:
        InputError: there is no such space, or a file is missing or damaged.
        HostError: the cache cannot be written.
        CancelledError: a stop was asked for.
    """
    if name not in BUILDERS:
        raise InputError(
            f"search space {name}", "there is no such space", f"give one of {', '.join(BUILDERS)}"
        )
    source = next(space for space in search_spaces(data) if space.name == name)
    codes = source.codes["arch"]
    graphs = cached_graphs(BUILDERS[name], codes, progress, cancel, cache)
    return NasSpace(architectures_of(name, codes, graphs), source.columns, source.latency_ms)
