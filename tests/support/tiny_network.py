"""The network of the tiny checkpoint in torch, and the writer of its exported files.

They stand in ``tests/golden/tiny_network``, because torch takes a quarter of a minute to export
them; a test of research holds them against this network. Another definition of the network has
them written anew by ``PYTHONPATH=.:research python -m tests.support.tiny_network``.
"""

from __future__ import annotations

from pathlib import Path

import onnx

from ctm_research.network.choices import OF_KIND
from ctm_research.network.config import NetworkConfig
from ctm_research.network.scaling import fit_scaling
from ctm_research.network.term_network import TermNetwork
from ctm_research.training.export import export_terms
from predictor.engine.checkpoint import ENCODER, HEAD
from predictor.network.features import SCALE_FREE_NAMES, exact_features, scale_free
from tests.support.graphs import Op, make_graph
from tests.support.random_weights import randomise
from tests.support.tiny_engine import EXPORTED, FACTS, RESPONSES


def tiny_network(seed: int = 0) -> TermNetwork:
    """Return a network of which every weight is random, as after training."""
    config = NetworkConfig(
        metrics=FACTS.names, width=8, layers=1, features=len(SCALE_FREE_NAMES), seed=seed
    )
    rows = scale_free(exact_features(make_graph([Op(macs=100, read=10, written=10), Op()])))
    network = TermNetwork(
        config, OF_KIND, RESPONSES, fit_scaling(SCALE_FREE_NAMES, rows), summary=3
    )
    randomise(network, seed)
    return network.eval()


def export_tiny(folder: Path) -> None:
    """Write the files of the network into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    export_terms(tiny_network(), folder / ENCODER, folder / HEAD)
    for name in (ENCODER, HEAD):
        model = onnx.load(folder / name)
        for node in model.graph.node:
            del node.metadata_props[:]  # lines of this machine's files
        onnx.save(model, folder / name)


if __name__ == "__main__":
    export_tiny(EXPORTED)
