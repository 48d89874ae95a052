"""Write the ncnn files of this folder: ``python tests/golden/formats/make_ncnn.py``.

Needs torch and the package ``pnnx``.
"""

from __future__ import annotations

import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import pnnx
import torch

from tests.support.networks.four_networks import NETWORKS, network

FOLDER = Path(__file__).parent


def converted(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], sized: bool = True) -> str:
    """Return a module as the text of a .param.

    Args:
        module: traced with the inputs.
        inputs: with a batch of 1.
        sized: state the sizes of inputs, as ncnn's own networks do and pnnx does not.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.pt"
        torch.jit.trace(module, inputs).save(str(path))
        shapes = ",".join(str(list(tensor.shape)).replace(" ", "") for tensor in inputs)
        program = Path(pnnx.EXEC_PATH)
        command = [str(program), str(path), f"inputshape={shapes}"]
        subprocess.run(command, check=True, cwd=folder, capture_output=True)
        text = path.with_suffix(".ncnn.param").read_text()
    for number, tensor in enumerate(inputs):
        sizes = zip((0, 1, 2), reversed(tensor.shape[1:]), strict=False)
        stated = " ".join(f"{key}={size}" for key, size in sizes)
        line = f"0 1 in{number}\n"
        text = text.replace(line, f"{line[:-1]} {stated}\n") if sized else text
    return text


if __name__ == "__main__":
    for name in NETWORKS:
        data = lzma.compress(converted(*network(name)).encode())
        (FOLDER / f"{name}.param.xz").write_bytes(data)
