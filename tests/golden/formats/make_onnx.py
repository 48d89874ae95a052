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

if __name__ == "__main__":
    for name in NETWORKS:
        module, inputs = network(name)
        exported = io.BytesIO()
        torch.onnx.export(module, inputs, exported, dynamo=False, opset_version=17)
        path = Path(__file__).parent / f"{name}.onnx.xz"
        path.write_bytes(lzma.compress(exported.getvalue()))
