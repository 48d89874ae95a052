"""Write the Core ML packages of this folder: ``python tests/golden/formats/make_coreml.py``.

Needs the extra ``train`` and, in an environment of its own, coremltools 9 with NumPy 1.26.
"""

from __future__ import annotations

import io
import lzma
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import coremltools
import torch

from tests.support.networks.four_networks import NETWORKS, network


def archived(folder: Path) -> bytes:
    """Return a folder as a tar in xz, without dates and owners."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = tarfile.TarInfo(str(path.relative_to(folder.parent)))
                entry.size = path.stat().st_size
                archive.addfile(entry, io.BytesIO(path.read_bytes()))
    return lzma.compress(packed.getvalue())


def package(name: str, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
    """Write one package."""
    converted = coremltools.convert(
        torch.jit.trace(module, inputs),
        inputs=[coremltools.TensorType(shape=data.shape) for data in inputs],
        convert_to="mlprogram",
        compute_precision=coremltools.precision.FLOAT32,
        minimum_deployment_target=coremltools.target.iOS15,
        skip_model_load=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"{name}.mlpackage"
        converted.save(str(target))
        (Path(__file__).parent / f"{name}.mlpackage.tar.xz").write_bytes(archived(target))


if __name__ == "__main__":
    for name in NETWORKS:
        package(name, *network(name))
