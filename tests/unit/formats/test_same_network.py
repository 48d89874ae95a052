"""One network as a file of each format has the same arithmetic."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from predictor.formats.opening import open_model
from predictor.graph.model import Model

FILES = Path(__file__).parents[2] / "golden" / "formats"
# Second files of formats that keep weights in a file of their own.
WEIGHTS = (".bin.xz",)
OTHERS = sorted(
    path.name
    for path in FILES.glob("*.xz")
    if ".onnx" not in path.name and not path.name.endswith(WEIGHTS)
)


def opened(name: str, folder: Path) -> Model:
    stem = name.split(".", maxsplit=1)[0]
    for file in (name, *(stem + weights for weights in WEIGHTS)):
        if (FILES / file).is_file():
            path = folder / file.removesuffix(".xz")
            path.write_bytes(lzma.decompress((FILES / file).read_bytes()))
    return open_model(folder / name.removesuffix(".xz"))


def test_the_four_networks_are_there() -> None:
    names = {path.name.split(".")[0] for path in FILES.glob("*.onnx.xz")}

    assert names == {"mobilenet_v2", "resnet18", "transformer_block", "yolo_head"}


@pytest.mark.parametrize("name", OTHERS)
def test_macs_and_parameters_are_those_of_the_onnx_file(name: str, tmp_path: Path) -> None:
    onnx = opened(f"{name.split('.', maxsplit=1)[0]}.onnx.xz", tmp_path).graph
    other = opened(name, tmp_path).graph

    assert int(other.macs.sum()) == pytest.approx(int(onnx.macs.sum()), rel=0.01)
    assert other.parameters == pytest.approx(onnx.parameters, rel=0.01)
