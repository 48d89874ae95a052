"""Write the ``.pt2`` files of this folder: ``python tests/golden/formats/make_pytorch.py``.

Needs the extra ``train``.
"""

from __future__ import annotations

import io
import lzma
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.support.networks.four_networks import NETWORKS, network
from tests.support.networks.layers import LAYERS, layers

FOLDER = Path(__file__).parent


class Branches(nn.Module):
    """A network with control flow."""

    def forward(self, values: Tensor) -> Any:
        """Return the values, or their sum with one."""
        return torch.cond(values.sum() > 0, lambda v: v * 2, lambda v: v + 1, (values,))


class Open(nn.Module):
    """A network with open sizes, and weights that two layers share."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(50, 32, _weight=torch.ones(50, 32))
        self.scores = nn.Linear(32, 50, bias=False)
        self.scores.weight = self.table.weight

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the scores of the last half of the tokens."""
        rows = self.table(tokens)
        halves = rows.view(rows.shape[0], 2, -1, 32)
        mixed = functional.scaled_dot_product_attention(halves, halves, halves, is_causal=True)
        result: Tensor = self.scores(mixed[:, 1])
        return result


def write(path: Path, program: torch.export.ExportedProgram) -> None:
    """Write one file."""
    exported = io.BytesIO()
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # paths of this machine
    torch.export.save(program, exported)
    path.write_bytes(lzma.compress(exported.getvalue()))


if __name__ == "__main__":
    for name in NETWORKS:
        write(FOLDER / f"{name}.pt2.xz", torch.export.export(*network(name)))
    for name in LAYERS:
        program = torch.export.export(*layers(name))
        write(FOLDER / "layers" / f"{name}.pt2.xz", program)
        if name != "recurrent":  # its steps would be written out
            write(FOLDER / "layers" / f"{name}.core.pt2.xz", program.run_decompositions())
    sizes = {0: torch.export.Dim("batch"), 1: 2 * torch.export.Dim("half", min=2, max=512)}
    tokens = torch.zeros(3, 12, dtype=torch.int64)
    shared = torch.export.export(Open().eval(), (tokens,), dynamic_shapes=(sizes,))
    write(FOLDER / "pytorch" / "open.pt2.xz", shared)
    branches = torch.export.export(Branches(), (torch.zeros(2, 8),))
    write(FOLDER / "pytorch" / "branches.pt2.xz", branches)
