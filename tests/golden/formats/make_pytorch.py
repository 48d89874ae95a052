"""Write the ``.pt2`` files of this folder: ``python tests/golden/formats/make_pytorch.py``.

Needs the extra ``train``.
"""

from __future__ import annotations

import io
import lzma
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import torch

from tests.support.networks.four_networks import NETWORKS, network

if __name__ == "__main__":
    for name in NETWORKS:
        exported = io.BytesIO()
        program = torch.export.export(*network(name))
        for node in program.graph.nodes:
            node.meta.pop("stack_trace", None)  # paths of this machine
        torch.export.save(program, exported)
        path = Path(__file__).parent / f"{name}.pt2.xz"
        path.write_bytes(lzma.compress(exported.getvalue()))
