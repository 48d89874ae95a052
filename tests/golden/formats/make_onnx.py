"""Write the ONNX files of this folder: ``python tests/golden/formats/make_onnx.py`` in a checkout.

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
from tests.support.networks.layers import LAYERS, layers

FOLDER = Path(__file__).parent


def write(path: Path, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
    """Write one file."""
    exported = io.BytesIO()
    torch.onnx.export(module, inputs, exported, dynamo=False, opset_version=17)
    path.write_bytes(lzma.compress(exported.getvalue()))


if __name__ == "__main__":
    for name in NETWORKS:
        write(FOLDER / f"{name}.onnx.xz", *network(name))
    for name in LAYERS:
        write(FOLDER / "layers" / f"{name}.onnx.xz", *layers(name))
