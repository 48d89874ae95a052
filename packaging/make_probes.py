"""Freeze the pool of reference networks: draw their codes, write their cost and their graphs.

    python packaging/make_probes.py [FOLDER]

The codes are drawn with a fixed seed and before any accuracy is looked at; the files are the same
on every run. Networks themselves are not stored: they are built from their codes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
from destination import destination

from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.networks import fbnet, nasbench201, ofa
from predictor.probing.networks.families import FAMILIES
from predictor.probing.networks.graphs import FILE
from predictor.probing.networks.pool import SCHEMA, PoolNetwork, cost_by_kind
from predictor.probing.networks.spaces import operator_graph_of

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "probes"
SEED = 20_260
COUNTS = {
    "nasbench201": 32,
    "fbnet-cifar100": 32,
    "fbnet-imagenet": 24,
    "ofa-mbv3-w1.0": 16,
    "transformer": 16,
    "patches": 8,
    "products": 10,
    "matrices": 8,
    "gated": 12,
    "windows": 10,
    "dense": 12,
    "grouped": 10,
    "depthwise": 12,
    "concatenated": 8,
    "elementwise": 6,
    "operator": 24,
    "decode": 6,
}
# So that a slow board is done in time, a kit is small, and more than a clock's tick is measured.
LARGEST_RESOLUTION = 176  # of once-for-all networks
LARGEST_MACS = 800_000_000
LARGEST_WEIGHTS_BYTES = 24_000_000
LARGEST_DECODE_BYTES = 105_000_000  # its weights are to leave caches, and shrink in a kit
LEAST_MACS, LEAST_BYTES = 300_000, 500_000  # one of the two is enough


def codes(space: str) -> Iterator[tuple[int, ...]]:
    """Yield codes of a search space without end."""
    generator = np.random.default_rng([SEED, *space.encode()])
    family = FAMILIES.get(space)
    draw = _choices(family.choices) if family else _DRAWS[space.partition("-")[0]]
    while True:
        yield draw(generator)


def _choices(
    choices: Sequence[Sequence[int]],
) -> Callable[[np.random.Generator], tuple[int, ...]]:
    return lambda generator: tuple(int(generator.choice(options)) for options in choices)


def _nasbench201(generator: np.random.Generator) -> tuple[int, ...]:
    """Draw a cell in which something is computed between its input and its output."""
    while True:
        code = _choices(nasbench201.CHOICES)(generator)
        if any(code[edge] > 1 for edge in nasbench201.live_edges(code)):
            return code


_DRAWS = {
    "nasbench201": _nasbench201,
    "fbnet": _choices(fbnet.CHOICES),
    "ofa": _choices((*ofa.CHOICES[:-1], [r for r in ofa.RESOLUTIONS if r <= LARGEST_RESOLUTION])),
}


def networks() -> Iterator[tuple[PoolNetwork, OperatorGraph]]:
    """Yield the networks of the pool with their graphs; a graph of several codes comes once."""
    for space, count in COUNTS.items():
        graphs: set[str] = set()
        for code in codes(space):
            graph = operator_graph_of(space, code)
            if graph.fingerprint in graphs or not fits(graph, space):
                continue
            name, fingerprint = f"{space}-{len(graphs):02}", graph.fingerprint
            graphs.add(fingerprint)
            cost = cost_by_kind(graph)
            yield (
                PoolNetwork(
                    name=name,
                    space=space,
                    code=code,
                    fingerprint=fingerprint,
                    cost=cost,
                    parameters=graph.parameters,
                ),
                graph,
            )
            if len(graphs) == count:
                break


def fits(graph: OperatorGraph, space: str) -> bool:
    """Return whether a network is neither too large nor too small for a probe."""
    macs, moved = int(graph.macs.sum()), int(graph.bytes_moved.sum())
    largest = LARGEST_DECODE_BYTES if space == "decode" else LARGEST_WEIGHTS_BYTES
    small = macs <= LARGEST_MACS and graph.weights_total_bytes <= largest
    return small and (macs >= LEAST_MACS or moved >= LEAST_BYTES)


def _to_object(network: PoolNetwork) -> dict[str, Any]:
    return {
        "name": network.name,
        "space": network.space,
        "code": list(network.code),
        "fingerprint": network.fingerprint,
        "parameters": network.parameters,
        "cost": {
            kind: [cost.macs, cost.bytes_moved, cost.launches]
            for kind, cost in network.cost.items()
        },
    }


def write_graphs(path: Path, graphs: Iterable[OperatorGraph]) -> None:
    """Write graphs to a file; the same graphs give the same bytes."""
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for graph in graphs:
            entry = ZipInfo(graph.fingerprint)  # of 1980: no time of writing
            archive.writestr(entry, graph.to_bytes(), ZIP_DEFLATED, 9)


def main() -> int:
    """Write the pool and its graphs."""
    folder = destination(__doc__, FOLDER)
    found = list(networks())
    entries = (_to_object(network) for network, _ in found)
    rows = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    text = f'{{"schema":"{SCHEMA}","networks":[\n{rows}\n]}}\n'
    (folder / "pool.json").write_text(text)
    write_graphs(folder / FILE, (graph for _, graph in found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
