from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctm_research.bridge.page import LATENCIES, page_text, read_shipped, write_shipped
from ctm_research.sources import bridge as source
from ctm_research.sources import present_sources
from ctm_research.sources.source import GRAPH_FOLDERS
from predictor.core.errors import InputError
from predictor.core.records import Configuration, Precision

HOST = {"processor": "some Xeon", "processors": 2, "memory_bytes": 2**34, "system": "Linux"}
MACHINE = {
    "machine": {"host": {**HOST, "node": "secret"}, "settings": {}, "versions": {"ncnn": "1"}},
    "load": 0.03,
    "started_unix": 1.0,
}


def entry(network: str, runtime: str, ms: float | None, **cells: Any) -> dict[str, Any]:
    row = {"network": network, "runtime": runtime, "precision": "fp32", "threads": 1}
    if ms is None:
        return {**row, "reason": "no | kernel"} | cells
    figures = {"median_ms": ms, "verdict": "steady", "difference": 0.01, "timed_s": 2.0}
    operators = {"operators": {"Conv": [3, 0.75 * ms], "Relu": [1, 0.25 * ms]}}
    return {**row, **figures, **operators, "contended": False} | cells


ENTRIES = [
    MACHINE,
    {"sentinel": 4.0},
    entry("resnet50", "onnxruntime", 40.0),
    entry("resnet50", "ncnn", 60.0),
    entry("resnet18", "ncnn", None),
    entry("resnet50", "onnxruntime", 10.0, precision="int8"),
    entry("resnet50", "onnxruntime", 20.0, threads=2),
    {"sentinel": 4.2},
]


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    write_shipped(ENTRIES, tmp_path / "data")
    return tmp_path / "data"


def test_the_page_compares_runtimes(shipped: Path) -> None:
    text = page_text(*read_shipped(shipped))

    assert "| residual |  |  |  |  | 1.50 (1) |  |" in text
    assert "| onnxruntime | 0.25 (0.25 to 0.25, 1 networks) | 0.50 (0.50 to 0.50, 1 net" in text
    assert "| ncnn | resnet18 fp32 1 | no / kernel |" in text
    assert "Conv 75%, Relu 25%" in text
    assert "5 of 660 planned rows" in text
    assert "medians lie 5.0% apart" in text
    assert "secret" not in (shipped / "machine.json").read_text(encoding="utf-8")


def test_equal_rows_give_equal_bytes(shipped: Path, tmp_path: Path) -> None:
    write_shipped(list(reversed(ENTRIES)), tmp_path / "again")

    assert (tmp_path / "again" / LATENCIES).read_bytes() == (shipped / LATENCIES).read_bytes()


def test_without_rows_nothing_ships(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row is in it"):
        write_shipped([MACHINE], tmp_path)


def test_damaged_data_are_refused(shipped: Path) -> None:
    path = shipped / LATENCIES
    path.write_bytes(path.read_bytes()[:40])

    with pytest.raises(InputError, match="it holds no bridge"):
        read_shipped(shipped)


def test_its_rows_are_evidence(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = source.SOURCE
    monkeypatch.setattr(type(own), "path", lambda self, _: shipped if self is own else tmp_path)

    samples = list(source.samples(tmp_path))

    assert [(s.network, s.configuration, s.latency_ms) for s in samples] == [
        ("resnet50", Configuration("ncnn", Precision.FP32, 1, 1), 60.0),
        ("resnet50", Configuration("onnxruntime", Precision.FP32, 1, 1), 40.0),
        ("resnet50", Configuration("onnxruntime", Precision.FP32, 2, 1), 20.0),
        ("resnet50", Configuration("onnxruntime", Precision.INT8, 1, 1), 10.0),
    ]
    assert samples[0].device_id == "xeon-amx-vm-2"
    assert samples[0].graph is not None
    assert samples[0].graph.member == "graphs/resnet50__224x224.onnx"


def test_it_is_present_where_its_graphs_are(tmp_path: Path) -> None:
    (tmp_path / "ncnn").mkdir()
    assert source.SOURCE not in present_sources(tmp_path)

    for name in GRAPH_FOLDERS:
        (tmp_path / name).mkdir()
    assert source.SOURCE.path(tmp_path) == source.SOURCE.shipped
