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
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

import coremltools
import numpy as np
import torch
from coremltools.optimize import coreml as optimize

from tests.support.networks.four_networks import NETWORKS, network
from tests.support.networks.layers import LAYERS, layers

FOLDER = Path(__file__).parent


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


def converted(
    module: torch.nn.Module, examples: tuple[torch.Tensor, ...], **options: Any
) -> coremltools.models.MLModel:
    """Return a network as a program."""
    settings = {
        "inputs": [
            coremltools.TensorType(
                shape=data.shape, dtype=np.int32 if data.dtype == torch.int32 else np.float32
            )
            for data in examples
        ],
        "convert_to": "mlprogram",
        "compute_precision": coremltools.precision.FLOAT32,
        "minimum_deployment_target": coremltools.target.iOS15,
        "skip_model_load": True,
    }
    return coremltools.convert(torch.jit.trace(module, examples), **{**settings, **options})


OF_LAYERS = {
    "convert_to": "neuralnetwork",
    "compute_precision": None,
    "minimum_deployment_target": None,
}
"""Options of the form before ML Programs."""


def write(path: Path, model: coremltools.models.MLModel) -> None:
    """Write one package."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / path.name.removesuffix(".xz").removesuffix(".tar")
        model.save(str(target))
        packed = archived(target) if target.is_dir() else lzma.compress(target.read_bytes())
        path.write_bytes(packed)


def main() -> None:
    """Write all packages."""
    for name in NETWORKS:
        write(FOLDER / f"{name}.mlpackage.tar.xz", converted(*network(name)))
        write(FOLDER / f"{name}.mlmodel.xz", converted(*network(name), **OF_LAYERS))
    for name in LAYERS:
        write(FOLDER / "layers" / f"{name}.mlpackage.tar.xz", converted(*layers(name)))
    picture = (torch.zeros(1, 3, 32, 32),)
    module = torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 3, 2, 1),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(64, 128),
    ).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.linspace(-1, 1, parameter.numel()).view_as(parameter))
    sides = coremltools.RangeDim(16, 512, default=96)
    shape = (coremltools.RangeDim(1, 8, default=2), 3, sides, sides)
    flexible = converted(module, picture, inputs=[coremltools.TensorType("x", shape=shape)])
    write(FOLDER / "coreml" / "flexible.mlpackage.tar.xz", flexible)
    half = {
        "compute_precision": coremltools.precision.FLOAT16,
        "minimum_deployment_target": coremltools.target.iOS16,
    }
    for name, compress, settings in COMPRESSIONS:
        options = optimize.OptimizationConfig(global_config=settings)
        model = compress(converted(module, picture, **half), options)
        write(FOLDER / "coreml" / f"{name}.mlpackage.tar.xz", model)


COMPRESSIONS = (
    (
        "palette",
        optimize.palettize_weights,
        optimize.OpPalettizerConfig(mode="uniform", nbits=4, weight_threshold=100),
    ),
    (
        "integer",
        optimize.linear_quantize_weights,
        optimize.OpLinearQuantizerConfig(mode="linear_symmetric", weight_threshold=100),
    ),
)

if __name__ == "__main__":
    main()
