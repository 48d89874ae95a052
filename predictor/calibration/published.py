"""Published latencies of whole networks that ship: one file, opened in milliseconds.

The file is a numpy archive. Its numbers are sorted by the first 64 bits of the graph's fingerprint;
its words, a JSON object, name targets, sources, statistics, and who measured each.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Floats
from predictor.core.errors import HostError
from predictor.core.records import TargetId
from predictor.core.resources import resources_dir

SCHEMA: Final = "ctm-published/1"

_PREFIX_DIGITS = 16  # of the fingerprint in hex: 64 bits
_SIDES: Final[tuple[Literal["left", "right"], ...]] = ("left", "right")
WORDS = "words"
PROVENANCES = "provenances"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedLatency:
    """One network on one target, as published.

    Attributes:
        latency_ms: median of the published values.
        deviation: standard deviation of the log-latency of a run like these: repeats and rounding.
        count: number of published values.
        statistic: of the runs behind each value: median, mean, minimum.
        source: who published them.
        provenance: of the value nearest to the median.
    """

    latency_ms: float
    deviation: float
    count: int
    statistic: str
    source: str
    provenance: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Columns:
    """The numbers of N networks on targets, sorted by fingerprint and target.

    Attributes:
        prefix: uint64 [N], the fingerprint's first 64 bits.
        target: uint16 [N], index into the targets.
        latency_ms: float32 [N].
        deviation: float32 [N].
        count: uint16 [N].
        source: uint8 [N], index into the sources.
        statistic: uint8 [N], index into the statistics.
        provenance: uint16 [N], index into the provenances.
    """

    prefix: NDArray[np.uint64]
    target: NDArray[np.uint16]
    latency_ms: NDArray[np.float32]
    deviation: NDArray[np.float32]
    count: NDArray[np.uint16]
    source: NDArray[np.uint8]
    statistic: NDArray[np.uint8]
    provenance: NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Published:
    """Published latencies.

    Attributes:
        columns: the numbers.
        targets: T of them.
        sources: their names.
        statistics: names.
        packed_provenances: compressed JSON list, unpacked on first use.
    """

    columns: Columns
    targets: Sequence[TargetId]
    sources: Sequence[str]
    statistics: Sequence[str]
    packed_provenances: bytes

    def find(self, fingerprint: str, target: TargetId) -> PublishedLatency | None:
        """Return the published latency of a graph on a target; None where there is none."""
        number = self._numbers.get(target)
        if number is None:
            return None
        prefix = np.uint64(prefix_of(fingerprint))
        first, last = (np.searchsorted(self.columns.prefix, prefix, side) for side in _SIDES)
        at = np.flatnonzero(self.columns.target[first:last] == number)
        return self._latency(int(first + at[0])) if at.size else None

    def targets_of(self, fingerprint: str) -> frozenset[TargetId]:
        """Return the targets on which a graph was measured."""
        prefix = np.uint64(prefix_of(fingerprint))
        first, last = (np.searchsorted(self.columns.prefix, prefix, side) for side in _SIDES)
        return frozenset(self.targets[at] for at in self.columns.target[first:last].tolist())

    def fewer_threads(self, target: TargetId) -> list[TargetId]:
        """Return the targets that differ by fewer threads alone; none of one without threads."""
        return [other for other in self._runs.get(target[:3], ()) if 0 < other[3] < target[3]]

    def ratios(self, target: TargetId, other: TargetId) -> Floats:
        """Return what N networks took on a target over what they took on another, float64 [N].

        They are the networks that were measured on both; layouts of a network share one latency.
        """
        if not {target, other} <= self._numbers.keys():
            return np.empty(0)
        rows = np.flatnonzero(self.columns.target == self._numbers[target])
        candidates = np.flatnonzero(self.columns.target == self._numbers[other])
        prefix, candidate = self.columns.prefix[rows], self.columns.prefix[candidates]
        at = np.searchsorted(candidate, prefix).clip(max=len(candidates) - 1)
        same = candidate[at] == prefix
        times = (
            self.columns.latency_ms[places].tolist()
            for places in (rows[same], candidates[at[same]])
        )
        pairs = sorted(set(zip(*times, strict=True)))
        return np.array([time_ms / other_ms for time_ms, other_ms in pairs], np.float64)

    @cached_property
    def _runs(self) -> dict[tuple[object, ...], list[TargetId]]:
        """Targets by all but their threads."""
        runs: dict[tuple[object, ...], list[TargetId]] = {}
        for target in self.targets:
            runs.setdefault(target[:3], []).append(target)
        return runs

    @cached_property
    def _numbers(self) -> dict[TargetId, int]:
        return {target: number for number, target in enumerate(self.targets)}

    @cached_property
    def _provenances(self) -> list[str]:
        provenances: list[str] = json.loads(zlib.decompress(self.packed_provenances))
        return provenances

    def _latency(self, row: int) -> PublishedLatency:
        columns = self.columns
        return PublishedLatency(
            latency_ms=float(str(columns.latency_ms[row])),  # 1.6, not 1.600000023841858
            deviation=float(columns.deviation[row]),
            count=int(columns.count[row]),
            statistic=self.statistics[int(columns.statistic[row])],
            source=self.sources[int(columns.source[row])],
            provenance=self._provenances[int(columns.provenance[row])],
        )


def prefix_of(fingerprint: str) -> int:
    """Return the first 64 bits of a fingerprint in hex."""
    return int(fingerprint[:_PREFIX_DIGITS], 16)


def published_path() -> Path:
    """Return the path of the shipped file."""
    return resources_dir() / "measured" / "published.npz"


def read_published(path: Path | None = None) -> Published:
    """Read a file, the shipped one by default.

    Raises:
        HostError: it is damaged or of another version: the installation is.
    """
    path = published_path() if path is None else path
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            words: dict[str, Any] = json.loads(archive[WORDS].tobytes())
            _check_schema(words["schema"])
            columns = Columns(**{field.name: archive[field.name] for field in fields(Columns)})
            provenances = archive[PROVENANCES].tobytes()
        targets = [TargetId(str(d), str(r), str(p), int(t)) for d, r, p, t in words["targets"]]
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise HostError(
            str(path), f"it cannot be read ({error})", "install the program again"
        ) from error
    return Published(columns, targets, words["sources"], words["statistics"], provenances)


def _check_schema(schema: object) -> None:
    if schema != SCHEMA:
        raise ValueError(f"its form is {schema}, not {SCHEMA}")
