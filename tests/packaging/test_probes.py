"""The file of the pool's graphs is the same wherever it is written, and is read again."""

from __future__ import annotations

from pathlib import Path

from make_probes import write_graphs

from predictor.probing.networks.graphs import pool_graph
from predictor.probing.networks.pool import load_pool


def test_the_same_graphs_give_the_same_file(tmp_path: Path) -> None:
    graphs = [g for n in load_pool()[:3] if (g := pool_graph(n.fingerprint)) is not None]
    for name in ("a.zip", "b.zip"):
        write_graphs(tmp_path / name, graphs)

    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    again = pool_graph(graphs[1].fingerprint, tmp_path / "a.zip")
    assert again is not None
    assert again.to_bytes() == graphs[1].to_bytes()
