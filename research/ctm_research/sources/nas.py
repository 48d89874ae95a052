"""Latencies of neural architecture search spaces, whose networks are built from their codes.

Source: ``HayeonLee/HELP``, with HW-NAS-Bench for four devices. Matrices of architectures by
devices. Neither framework nor threads are stated.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctm_research.sources.aliases import UNKNOWN, Aliases, read_aliases
from ctm_research.sources.source import Share, Source
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration
from predictor.graph.operator_graph import OperatorGraph

NAME = "nas"
_ACTION = "restore the file from its source"

# Arrays of each space that encode an architecture, with their columns (0: a vector).
_CODES: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "fbnet": {"arch": 22},
        "nasbench201": {"arch": 6},
        "ofa": {"ks": 20, "expand": 20, "depth": 5, "resolution": 0},
    }
)

# The builder of each space's networks. NAS-Bench-201 without edges that have no effect, and OFA at
# the smaller of its two widths, are the least that a run computes: what a bound may count.
_BUILDERS: Mapping[str, str] = MappingProxyType(
    {"fbnet": "fbnet-cifar100", "nasbench201": "nasbench201", "ofa": "ofa-mbv3-w1.0"}
)
_CAVEATS: Mapping[str, str] = MappingProxyType(
    {"ofa": "the width of the networks is not stated: the bound is that of the smaller of two"}
)

# Family of architectures: FBNet's and OFA's blocks are those of two modules of timm.
FAMILIES: Mapping[str, str] = MappingProxyType(
    {"fbnet": "efficientnet", "nasbench201": "nasbench201", "ofa": "mobilenetv3"}
)


@dataclass(frozen=True, slots=True)
class Column:
    """One device of a space.

    Attributes:
        name: in the source.
        device_id: in the catalogue; empty where the catalogue lacks it.
        batch: of a run.
        excluded: why its times are no measurements of whole networks, else empty.
    """

    name: str
    device_id: str
    batch: int
    excluded: str

    @property
    def configuration(self) -> Configuration:
        """The configuration as far as it is known: FP32 networks, and the batch."""
        return Configuration(batch=self.batch)


@dataclass(frozen=True, slots=True, eq=False)
class SearchSpace:
    """One search space: A architectures on D devices.

    Attributes:
        name: of the space.
        codes: int arrays by name, A rows each; their meaning is told by the source's README.
        columns: the D devices.
        latency_ms: float64 [A, D].
        caveat: why its networks give a bound and no estimate, else empty.
    """

    name: str
    codes: Mapping[str, NDArray[np.int64]]
    columns: tuple[Column, ...]
    latency_ms: NDArray[np.float64]
    caveat: str = ""

    def code(self, architecture: int) -> list[int]:
        """Return the code of one architecture, its arrays one after the other."""
        parts = [np.atleast_1d(codes[architecture]) for codes in self.codes.values()]
        return [int(number) for part in parts for number in part]

    def graph(self, architecture: int) -> OperatorGraph:
        """Build the operator graph of one architecture at batch 1.

        Raises:
            InputError: its code is none of the space.
        """
        from predictor.probing.networks.spaces import (  # noqa: PLC0415  # loads onnx, for a graph only
            operator_graph_of,
        )

        try:
            return operator_graph_of(_BUILDERS[self.name], self.code(architecture))
        except InputError as error:
            raise InputError(
                f"{self.name}.npz, architecture {architecture}, {error.subject}",
                error.reason,
                _ACTION,
            ) from error

    def is_empty(self, architecture: int) -> bool:
        """Whether no cell's output is reached: a graph compiler removes almost the whole network.

        The rest differs by framework, so its latency belongs to no graph of ours.
        """
        from predictor.probing.networks.nasbench201 import live_edges  # noqa: PLC0415  # loads onnx

        return self.name == "nasbench201" and not live_edges(self.code(architecture))


def search_spaces(data: Path) -> tuple[SearchSpace, ...]:
    """Return the search spaces of a data folder.

    Raises:
        InputError: a file is missing or damaged, or a latency is no number above 0.
    """
    return tuple(_space(data / NAME / f"{name}.npz", name) for name in _CODES)


def _space(path: Path, name: str) -> SearchSpace:
    arrays = _arrays(path, [*_CODES[name], "devices", "latency_ms"])
    names = [str(device) for device in arrays["devices"].ravel()]
    aliases = read_aliases(NAME)
    latency_ms = arrays["latency_ms"]
    shapes = {key: (len(latency_ms), n)[: 2 if n else 1] for key, n in _CODES[name].items()}
    shapes["latency_ms"] = (len(latency_ms), len(names))
    for key, shape in shapes.items():
        if arrays[key].shape != shape:
            raise InputError(
                str(path), f"array {key} has the shape {arrays[key].shape}, not {shape}", _ACTION
            )
    wrong = np.argwhere(~(np.isfinite(latency_ms) & (latency_ms > 0)))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise InputError(
            f"{path}, architecture {row}, device {names[column]}",
            f"latency_ms is {latency_ms[row, column]}, not a number above 0",
            _ACTION,
        )
    return SearchSpace(
        name,
        MappingProxyType({key: arrays[key].astype(np.int64) for key in _CODES[name]}),
        tuple(_column(name, device, aliases) for device in names),
        latency_ms.astype(np.float64),
        _CAVEATS.get(name, ""),
    )


def _arrays(path: Path, wanted: Sequence[str]) -> dict[str, NDArray[Any]]:
    try:
        with path.open("rb") as raw, zipfile.ZipFile(raw) as archive:
            lacking = [key for key in wanted if f"{key}.npy" not in archive.namelist()]
            if lacking:
                raise InputError(str(path), f"array {lacking[0]} is missing", _ACTION)
            return {key: _array(archive, key) for key in wanted}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(str(path), f"it cannot be read ({error})", _ACTION) from error


def _array(archive: zipfile.ZipFile, key: str) -> NDArray[Any]:
    with archive.open(f"{key}.npy") as member:
        return np.lib.format.read_array(member, allow_pickle=False)


_SUMMED = frozenset({"eyeriss", "fpga", "pixel3", "raspi4"})


def _column(space: str, name: str, aliases: Aliases) -> Column:
    """Split a device's name into the device and the batch after its last underscore."""
    stem, _, number = name.rpartition("_")
    batched = number.isdigit() and aliases.find(stem) is not UNKNOWN
    excluded = ""
    if name == "eyeriss":
        excluded = "estimated by a simulator"
    elif space == "fbnet" and name in _SUMMED:
        excluded = "sum over a table of blocks"
    return Column(
        name,
        aliases.find(stem if batched else name).device_id,
        int(number) if batched else 1,
        excluded,
    )


SOURCE = Source(
    name=NAME,
    rank=10,
    title="FBNet, NAS-Bench-201 and OFA on devices",
    repository="HayeonLee/HELP",
    commits=("45f70eb",),
    licence="MIT",
    notice=", with measurements of its own and of others",
    files=tuple(f"{name}.npz" for name in _CODES),
    row="a matrix of architectures by devices",
    shares={
        f"{NAME}-fbnet": Share(0.10, 24, 12),
        f"{NAME}-nasbench201": Share(0.08, 24, 12),
        f"{NAME}-ofa": Share(0.05, 24, 4),
    },
    names=(FAMILIES,),
    unlisted={"": Family.GPU},
)
