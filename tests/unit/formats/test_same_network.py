"""One network as a file of each format has the same arithmetic."""

from __future__ import annotations

from pathlib import Path

import pytest

from predictor.formats.opening import open_model
from predictor.graph.model import Model
from tests.support.golden_formats import FOLDER, unpacked

pytestmark = pytest.mark.slow

FILES = (FOLDER, FOLDER / "layers")
OTHERS = sorted(
    path.relative_to(FOLDER).as_posix()
    for folder in FILES
    for path in folder.glob("*.xz")
    if ".onnx" not in path.name and not path.name.endswith(".bin.xz")
)
# Formats with all that the fingerprint takes in.
SAME = [
    name
    for name in OTHERS
    if "/" not in name
    # Its layers have no layer normalisation: it is written out, in other shapes.
    and name != "transformer_block.mlmodel.xz"
]


def opened(name: str, folder: Path) -> Model:
    return open_model(unpacked(name, folder))


def onnx_of(name: str, folder: Path) -> Model:
    return opened(f"{name.split('.', maxsplit=1)[0]}.onnx.xz", folder)


def test_the_four_networks_are_there() -> None:
    names = {path.name.split(".")[0] for path in FOLDER.glob("*.onnx.xz")}

    assert names == {"mobilenet_v2", "resnet18", "transformer_block", "yolo_head"}


@pytest.mark.parametrize("name", OTHERS)
def test_macs_and_parameters_are_those_of_the_onnx_file(name: str, tmp_path: Path) -> None:
    onnx, other = onnx_of(name, tmp_path), opened(name, tmp_path)

    assert not other.notes
    assert int(other.graph.macs.sum()) == pytest.approx(int(onnx.graph.macs.sum()), rel=0.01)
    # Core ML joins the two biases of a recurrent layer; constants of a handful of elements are
    # stored, joined or written out by exporters in their ways.
    is_exact = "/" not in name
    tolerance = {"rel": 0.01} if is_exact else {"rel": 0.02, "abs": 200}
    assert other.graph.parameters == pytest.approx(onnx.graph.parameters, **tolerance)


@pytest.mark.parametrize("name", SAME)
def test_the_fingerprint_is_that_of_the_onnx_file(name: str, tmp_path: Path) -> None:
    onnx, other = onnx_of(name, tmp_path), opened(name, tmp_path)

    assert other.graph.fingerprint == onnx.graph.fingerprint
