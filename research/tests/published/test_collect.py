"""The file of published latencies from a small data folder: what is joined and what is left out."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from ctm_research.published import collect as module
from ctm_research.published.__main__ import main
from ctm_research.published.collect import collect
from ctm_research.sources import GraphFile
from predictor.calibration.published import read_published
from predictor.core.errors import InputError
from predictor.devices.catalogue import load_device_files
from predictor.graph.ingest import ingest
from research.tests.data_folder import write_ncnn, write_timm
from tests.support.networks.builder import Builder

DEVICES = {entry.device.id: entry.device for entry in load_device_files()}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    write_ncnn(
        folder,
        {"min_ms": 40.0, "src_line": 7},
        {"min_ms": 50.0, "src_line": 8},
        {"min_ms": 80.0, "src_line": 9},
        {"num_threads": 1, "min_ms": 160.0},
        {"model": "resnet50_int8", "min_ms": 30.0},
        {"model": "forgotten"},
        {"powersave": 1},
    )
    write_timm(folder, {"batch_size": 4, "step_time_ms": 12.0}, {"device_id": "i9_10940x"})
    return folder


def test_repeats_are_one_median_with_its_line(data: Path) -> None:
    graph = ingest(data / "ncnn/graphs/resnet50.onnx").graph

    found = collect(data, DEVICES).published.find(graph.fingerprint, ("rpi5", "ncnn", "fp16", 4))

    assert found is not None
    assert (found.latency_ms, found.count, found.statistic) == (50.0, 3, "minimum")
    assert "line 8" in found.provenance
    assert found.source.startswith("Tencent/ncnn")


def test_threads_and_precision_are_targets_of_their_own(data: Path) -> None:
    graph = ingest(data / "ncnn/graphs/resnet50.onnx").graph
    published = collect(data, DEVICES).published

    single = published.find(graph.fingerprint, ("rpi5", "ncnn", "fp16", 1))
    whole = published.find(graph.fingerprint, ("rpi5", "ncnn", "int8", 4))
    assert (single.latency_ms, whole.latency_ms) == (160.0, 30.0)
    # The catalogue's first: ncnn multiplies halves on this board, and no row says otherwise.
    assert published.find(graph.fingerprint, ("rpi5", "ncnn", "fp32", 4)) is None


def test_a_batch_has_the_fingerprint_of_the_graph_at_that_batch(data: Path) -> None:
    path = data / "ncnn/graphs/resnet50.onnx"  # timm's archive holds the same convolution
    published = collect(data, DEVICES).published
    target = ("rtx3090", "pytorch", "amp_fp16", 0)

    assert published.find(ingest(path, batch=4).graph.fingerprint, target).latency_ms == 12.0
    assert published.find(ingest(path).graph.fingerprint, target) is None


def test_another_layout_of_a_network_has_its_latencies_too(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = data / "ncnn/graphs/resnet50.onnx", data / "ncnn/graphs/other.onnx"
    b = Builder()
    b.output(b.node("Relu", [b.conv(b.input("image", [1, 64, 32, 32]), 64, 64, 1)]))
    onnx.save(b.model(), theirs)
    others = {GraphFile(ours): {GraphFile(theirs): "with a ReLU at its end"}}
    monkeypatch.setattr(module, "other_exports", lambda _: others)

    collected = collect(data, DEVICES)

    for path in (ours, theirs):
        fingerprint = ingest(path).graph.fingerprint
        found = collected.published.find(fingerprint, ("rpi5", "ncnn", "fp16", 4))
        assert (found.latency_ms, found.count) == (50.0, 3)
        assert ("another layout: with a ReLU at its end" in found.provenance) is (path == theirs)
    assert collected.counts["ncnn"] == 6


def test_what_is_left_out_is_counted(data: Path) -> None:
    found = collect(data, DEVICES)

    assert sum(found.counts.values()) == 4
    assert found.left_out["ncnn"] == {
        module.NO_GRAPH: 1,
        "run on the little cores only, which a configuration cannot say": 1,
    }
    assert found.left_out["timm"] == {module.NO_THREADS: 1}


def test_the_command_writes_the_file_and_prints_the_counts(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "p.npz"

    assert main(["--data", str(data), "--out", str(out), "--sources", "ncnn"]) == 0

    assert len(read_published(out).columns.prefix) == 6  # by fingerprints of now and former ones
    assert "| ncnn | 3 | 1: " in capsys.readouterr().out
    before = out.read_bytes()
    assert main(["--data", str(data), "--out", str(out), "--sources", "ncnn"]) == 0
    assert out.read_bytes() == before
    assert main(["--data", str(tmp_path), "--out", str(out)]) == 2
    assert "no source of whole networks is there" in capsys.readouterr().err


def test_a_folder_without_a_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no source of whole networks is there"):
        collect(tmp_path, DEVICES)
