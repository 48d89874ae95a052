"""Networks at sizes without a graph: the table is written, read, and says no more than is so."""

from __future__ import annotations

import zipfile
from pathlib import Path

import onnx
import pytest

from ctm_research.corpus.resizing import main
from ctm_research.sources import SOURCES, timm
from research.tests.data_folder import write_timm
from tests.support.networks.builder import Builder


def sliced() -> onnx.ModelProto:
    b = Builder()
    data = b.conv(b.input("image", [1, 8, 32, 32]), 8, 8, 1)
    b.nodes.append(onnx.helper.make_node("Pad", [data, b.constant([0] * 6 + [1, 1])], ["out"]))
    b.output("out", [1, 8, 33, 33])
    return b.model()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Rows of two networks at 256, one of which has a part of one size."""
    write_timm(tmp_path, {"img_size": 256}, {"img_size": 256, "model": "mobilenetv1_100"}, {})
    path = tmp_path / "timm/graphs.zip"
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    contents["graphs/mobilenetv1_100__224.onnx"] = sliced().SerializeToString()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return tmp_path


def test_the_table_has_what_can_be_had(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "resized.csv"

    assert main(["--data", str(data), "--out", str(out)]) == 0

    assert capsys.readouterr().out == "1 graphs at other sizes\n"
    assert out.read_text("utf-8") == "model,graph_variant,img_size,side\nresnet18,plain,224,256\n"
    monkeypatch.setattr(timm, "RESIZED", out)
    large, unjoined, usual = SOURCES["timm"].samples(data)
    assert large.graph is not None
    assert (large.graph.member, large.graph.side) == ("graphs/resnet18__224.onnx", 256)
    assert unjoined.graph is None
    assert usual.graph is not None
    assert usual.graph.side == 0


def test_a_wrong_folder_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path)]) == 2

    assert len(capsys.readouterr().err.splitlines()) == 1
