"""Which graphs of a data folder have published latencies, and which share a fingerprint.

``python -m ctm_research.published.coverage --data DIR``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from ctm_research.corpus.graph_files import GraphReader
from ctm_research.sources import GraphFile
from predictor.calibration.published import Published, published_path, read_published
from predictor.core.errors import CtmError
from predictor.core.resources import resources_dir
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.networks.graphs import pool_graph
from predictor.probing.networks.pool import load_pool

FOLDERS: Final = ("graphs", "graphs2", "timm", "ncnn", "neusight")
"""Parts of a data folder with graphs, in an archive or as files."""


@dataclass(slots=True)
class Coverage:
    """Counts of graphs.

    Attributes:
        macs: distinct MACs of the graphs of a fingerprint.
        files: names of those graphs, by fingerprint.
        former: the same by former fingerprints.
        targets: number of targets with a latency, by graph.
    """

    macs: dict[str, set[int]] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)
    former: dict[str, list[str]] = field(default_factory=dict)
    targets: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, graph: OperatorGraph, published: Published) -> None:
        """Count a graph."""
        former = graph.former_fingerprint or graph.fingerprint
        self.macs.setdefault(graph.fingerprint, set()).add(int(graph.macs.sum()))
        self.files.setdefault(graph.fingerprint, []).append(name)
        self.former.setdefault(former, []).append(name)
        targets = published.targets_of(graph.fingerprint) | published.targets_of(former)
        self.targets[name] = len(targets)

    @property
    def collisions(self) -> list[list[str]]:
        """Graphs of unequal MACs under one fingerprint."""
        return [self.files[name] for name, macs in self.macs.items() if len(macs) > 1]

    def lines(self) -> list[str]:
        """Return the counts in words."""
        joined = [files for files in self.files.values() if len(files) > 1]
        covered = [count for count in self.targets.values() if count]
        return [
            f"{len(self.targets)} graphs have {len(self.files)} fingerprints",
            f"they had {len(self.former)} former ones",
            f"{sum(map(len, joined))} graphs share one of {len(joined)} fingerprints",
            f"{len(self.collisions)} fingerprints stand for graphs of unequal MACs",
            f"{len(covered)} graphs have a published latency, on {sum(covered)} targets together",
            *(f"unequal MACs: {', '.join(files)}" for files in self.collisions),
        ]


def graph_files(data: Path) -> Iterator[tuple[str, GraphFile]]:
    """Yield the bundled samples and the graphs of a data folder, each under a name of its own."""
    for path in sorted((resources_dir() / "samples").glob("*.onnx")):
        yield f"samples/{path.name}", GraphFile(path)
    for folder in FOLDERS:
        archive = data / folder / "graphs.zip"
        if archive.is_file():
            with ZipFile(archive) as members:
                names = sorted(name for name in members.namelist() if name.endswith(".onnx"))
            yield from ((f"{folder}/{name}", GraphFile(archive, name)) for name in names)
        for path in sorted((data / folder / "graphs").glob("*.onnx")):
            yield f"{folder}/graphs/{path.name}", GraphFile(path)


def coverage(data: Path, published: Published) -> Coverage:
    """Count the graphs of a data folder, the bundled samples and the reference networks."""
    counts = Coverage()
    with GraphReader() as reader:
        for name, file in graph_files(data):
            counts.add(name, ingest(reader.path_of(file)).graph, published)
    for network in load_pool():
        graph = pool_graph(network.fingerprint)
        if graph is not None:
            counts.add(network.name, graph, published)
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the counts; the exit code is 1 where two networks have one fingerprint."""
    parser = argparse.ArgumentParser(
        prog="python -m ctm_research.published.coverage",
        description="Count the graphs that published latencies and fingerprints are of.",
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder a source")
    parser.add_argument("--file", type=Path, default=published_path(), help="published latencies")
    options = parser.parse_args(arguments)
    try:
        counts = coverage(options.data, read_published(options.file))
    except CtmError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write("\n".join(counts.lines()) + "\n")
    return 1 if counts.collisions else 0


if __name__ == "__main__":
    sys.exit(main())
