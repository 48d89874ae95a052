"""One network as a file of each format has the same arithmetic."""

from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path

import pytest

from predictor.formats.opening import open_model
from predictor.graph.model import Model

FILES = Path(__file__).parents[2] / "golden" / "formats"
OTHERS = sorted(path.name for path in FILES.glob("*.xz") if ".onnx" not in path.name)


# Formats with all that the fingerprint takes in.
SAME = [name for name in OTHERS if ".pt2" in name or ".mlpackage" in name]


def opened(name: str, folder: Path) -> Model:
    path = folder / name.removesuffix(".xz")
    content = lzma.decompress((FILES / name).read_bytes())
    if path.suffix != ".tar":
        path.write_bytes(content)
        return open_model(path)
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")
    return open_model(path.with_suffix(""))


def test_the_four_networks_are_there() -> None:
    names = {path.name.split(".")[0] for path in FILES.glob("*.onnx.xz")}

    assert names == {"mobilenet_v2", "resnet18", "transformer_block", "yolo_head"}


@pytest.mark.parametrize("name", OTHERS)
def test_macs_and_parameters_are_those_of_the_onnx_file(name: str, tmp_path: Path) -> None:
    onnx = opened(f"{name.split('.', maxsplit=1)[0]}.onnx.xz", tmp_path).graph
    other = opened(name, tmp_path).graph

    assert int(other.macs.sum()) == pytest.approx(int(onnx.macs.sum()), rel=0.01)
    assert other.parameters == pytest.approx(onnx.parameters, rel=0.01)


@pytest.mark.parametrize("name", SAME)
def test_the_fingerprint_is_that_of_the_onnx_file(name: str, tmp_path: Path) -> None:
    onnx = opened(f"{name.split('.', maxsplit=1)[0]}.onnx.xz", tmp_path).graph

    assert opened(name, tmp_path).graph.fingerprint == onnx.fingerprint
