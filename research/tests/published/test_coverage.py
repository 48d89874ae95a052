"""Counts of graphs with published latencies and of those that share a fingerprint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ctm_research.published import coverage as module
from ctm_research.published.collect import collect
from ctm_research.published.coverage import Coverage, coverage, main
from predictor.calibration.published import Published
from predictor.devices.catalogue import load_device_files
from predictor.graph.ingest import ingest
from predictor.probing.networks.pool import load_pool
from research.tests.data_folder import write_ncnn, write_neusight, write_timm
from tests.support.graphs import Op, make_graph

NCNN, NEUSIGHT = "ncnn/graphs/resnet50.onnx", "neusight/graphs/bert-512-8.onnx"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_ncnn(tmp_path, {}, {"num_threads": 1, "min_ms": 160.0})
    write_timm(tmp_path, {})
    write_neusight(tmp_path, {})
    return tmp_path


@pytest.fixture
def published(data: Path) -> Published:
    devices = {entry.device.id: entry.device for entry in load_device_files()}
    return collect(data, devices, ["ncnn"]).published


def test_graphs_of_folders_samples_and_references_are_counted(
    data: Path, published: Published
) -> None:
    counts = coverage(data, published)

    archived = [name for name in counts.targets if name.startswith("timm/graphs/")]
    fingerprint = ingest(data / NCNN).graph.fingerprint
    assert len(archived) > 1
    assert {NCNN, NEUSIGHT, *archived} <= {*counts.files[fingerprint]}
    assert {name: count for name, count in counts.targets.items() if count} == dict.fromkeys(
        [NCNN, NEUSIGHT, *archived], 2
    )
    assert "samples/mobilenetv2-1.0-224.onnx" in counts.targets
    assert {network.name for network in load_pool()} <= counts.targets.keys()
    assert counts.collisions == []


def test_one_fingerprint_of_unequal_work_is_a_collision(published: Published) -> None:
    counts = Coverage()
    for name, macs in (("first", 10), ("second", 20), ("third", 20)):
        graph = replace(make_graph([Op(macs=macs)]), fingerprint="00" * 32)
        counts.add(name, graph, published)

    assert counts.collisions == [["first", "second", "third"]]
    assert "3 graphs have 1 fingerprints" in counts.lines()
    assert counts.lines()[-1] == "unequal MACs: first, second, third"


@pytest.mark.parametrize(("macs", "code"), [(10, 0), (20, 1)])
def test_the_exit_code_says_whether_there_are_collisions(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    macs: int,
    code: int,
) -> None:
    counts = Coverage(macs={"00": {10, macs}}, files={"00": ["first", "second"]})
    monkeypatch.setattr(module, "coverage", lambda *_: counts)

    assert main(["--data", str(tmp_path)]) == code
    assert ("unequal MACs: first, second" in capsys.readouterr().out) is bool(code)
