"""AI Hub's memory and fallbacks, from a table of four rows worked by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ctm_research.evaluation import aihub_memory
from ctm_research.evaluation.aihub_memory import memory_check, memory_page
from predictor.core.errors import InputError
from predictor.core.progress import no_progress
from tests.support.graphs import Op, make_graph

MIB = 2**20
HEADER = ",".join(aihub_memory._COLUMNS)
ROWS = (
    # 2 MiB of weights in half precision, 1 MiB in INT8.
    "net,Net,float,Phone,onnx,NPU,0,3,0,0,",
    "net,Net,w8a8,Phone,onnx,NPU,2,3,0,4,",
    "net,Net,float,IoT,onnx,NPU,0,1,0,0,",
    "net,Net,w8a16,Phone,onnx,NPU,0,9,0,0,",
    "net,Net,float,Phone,onnx,NPU,0,3,0,0,Other Device",
    "unknown,Net,float,Phone,onnx,NPU,0,3,0,0,",
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    graph = make_graph([Op(macs=1, weights=4 * MIB), Op(macs=1)])
    graph = replace(graph, op_types=("Conv", "Erf"))
    monkeypatch.setattr(aihub_memory, "_graphs", lambda *_: {"net/Net": graph})
    (tmp_path / "aihub").mkdir()
    (tmp_path / "aihub" / "latencies.csv").write_text("\n".join([HEADER, *ROWS]) + "\n")
    return tmp_path


def test_runs_are_held_against_their_range(data: Path) -> None:
    board, phone = memory_check(data, no_progress)["memory"]
    assert (board["system"], board["runs"], board["within"], board["over"]) == ("board", 1, 0, 1)
    # 2 MiB lie within 0 to 3, 1 MiB lies under 2 to 3; w8a16 has no precision of ours.
    assert (phone["runs"], phone["within"], phone["over"]) == (2, 0.5, 0)
    assert phone["median_high_over_needed"] == pytest.approx((3 / 2 + 3 / 1) / 2)


def test_named_operators_are_held_against_layers_that_fell_back(data: Path) -> None:
    floating, quantised = memory_check(data, no_progress)["support"]
    assert (floating["runs"], floating["neither"]) == (2, 2)
    assert (quantised["named_and_fell_back"], quantised["named_only"]) == (1, 1)


def test_the_page_has_both_tables(data: Path) -> None:
    page = memory_page(memory_check(data, no_progress), "Written by a test.")
    assert "| onnx | NPU | board | 1 | 0.00 | 100.00 | 2.00 | 1.00 | 0.50 |" in page
    assert "| onnxruntime | quantised | 2 | 1 | 1 | 0 | 0 |" in page


def test_a_folder_without_the_graphs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        memory_check(tmp_path, no_progress)
