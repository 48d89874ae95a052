"""The declaration of a source: one object in its module, and nothing else anywhere.

A module of this package with a ``SOURCE`` is a source. The corpus, its cache, the check of the
bound, the training, the shipped latencies, the notices of packages and the table of
``research/docs/corpus.md`` read the declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from ctm_research.sources.samples import GraphFile, Sample
from predictor.core.metrics import Family

GRAPH_FOLDERS: Final = ("graphs", "graphs2", "timm")
"""Folders of a data folder with graphs that our own measurements are of."""


class Share(NamedTuple):
    """Part of the training that a source has.

    Attributes:
        weight: of its blocks among those of all sources.
        graphs: at most in a block.
        targets: at most in a block.
    """

    weight: float
    graphs: int
    targets: int


def _no_samples(_: Path) -> Iterator[Sample]:
    return iter(())


def _no_families(_: Path) -> Mapping[GraphFile, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """A published source of measurements.

    Attributes:
        name: of the source.
        folder: in a data folder; the name where it is not given.
        rank: its place among the sources. Numbers in a corpus follow it, so a new one comes last.
        title: for people.
        repository: owner and name at GitHub; words where there are many.
        commits: that its tables were taken from; empty where that was not kept.
        licence: of the repository, as SPDX.
        notice: text of the notices beside that, with its punctuation.
        files: that are read, patterns in the folder; the first is the table of latencies.
        row: meaning of one row, in a few words.
        ships: part that ships as medians of whole networks; None where only learned weights do.
        samples: reads its rows of whole networks.
        families: returns the family of architectures of each graph that its folder holds; none for
            a source without graphs of its own (``networks``).
        shares: of the training, by part of the source; a part that is not here is not learned from.
        names: tables from its names to ours; the key of a cached corpus covers them.
        spreads: columns with a statistic that is taken and another of the same runs.
        unlisted: kind of a device that the catalogue lacks, by runtime; "" stands for any other.
        shipped: folder of the checkout with its tables, for what no data folder has; they count
            where a data folder holds the sets of graphs that they are of.
    """

    name: str
    rank: int
    title: str
    repository: str
    commits: tuple[str, ...] = ()
    licence: str
    notice: str = ""
    files: tuple[str, ...]
    row: str
    ships: str | None = None
    samples: Callable[[Path], Iterator[Sample]] = _no_samples
    families: Callable[[Path], Mapping[GraphFile, str]] = _no_families
    shares: Mapping[str, Share] = field(default_factory=dict)
    names: tuple[Mapping[Any, object], ...] = ()
    spreads: tuple[tuple[str, str], ...] = ()
    unlisted: Mapping[str, Family] = field(default_factory=dict)
    folder: str = ""
    shipped: Path | None = None

    def path(self, data: Path) -> Path:
        """Return its folder in a data folder, or in the checkout."""
        if self.shipped is not None and all((data / name).is_dir() for name in GRAPH_FOLDERS):
            return self.shipped
        return data.joinpath(*(self.folder or self.name).split("/"))

    @property
    def origin(self) -> str:
        """Address and commit, with the text of the notices beside them."""
        commits = f"commit{'s' * (len(self.commits) > 1)} {' and '.join(self.commits)}"
        pinned = f", {commits}" if self.commits else ""
        host = "github.com/" if "/" in self.repository else ""
        return f"{host}{self.repository}{pinned}{self.notice}"

    @property
    def publisher(self) -> str:
        """Repository, part and licence: they stand beside each of its latencies that ship."""
        return f"{', '.join(filter(None, (self.repository, self.ships)))} ({self.licence})"

    def unlisted_family(self, runtime: str) -> Family:
        """Return the kind of a device that the catalogue lacks."""
        return self.unlisted.get(runtime) or self.unlisted.get("", Family.CPU)
