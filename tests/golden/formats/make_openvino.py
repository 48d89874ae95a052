"""Write the OpenVINO files of this folder: ``python tests/golden/formats/make_openvino.py``.

Needs torch and the package ``openvino``.
"""

from __future__ import annotations

import lzma
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import openvino

from tests.support.networks.four_networks import NETWORKS, network

FOLDER = Path(__file__).parent


def converted(name: str) -> openvino.Model:
    """Return a network as a model of OpenVINO, of torch's module."""
    module, inputs = network(name)
    example = inputs if len(inputs) > 1 else inputs[0]
    shapes = [tuple(tensor.shape) for tensor in inputs]
    return openvino.convert_model(module, example_input=example, input=shapes)


def write(name: str, model: openvino.Model) -> None:
    """Write both files of a model, compressed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.xml"
        openvino.serialize(model, path)
        for suffix in (".xml", ".bin"):
            data = lzma.compress(path.with_suffix(suffix).read_bytes(), preset=9)
            (FOLDER / f"{name}{suffix}.xz").write_bytes(data)


if __name__ == "__main__":
    for network_name in NETWORKS:
        write(network_name, converted(network_name))
