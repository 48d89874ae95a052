"""Operators over time, and the trace that other programs open."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.errors import HostError
from predictor.services.prediction.engines import CLOSERTOME, ROOFLINE
from predictor.services.prediction.explain import OperatorTable, explain
from predictor.services.prediction.timeline import (
    LANES,
    module_path,
    timeline_of,
    trace,
    write_trace,
)
from tests.support.graphs import VIEW, Op, make_target
from tests.support.models import make_model

OPS = (
    Op(macs=10**9, read=10**6, written=10**6),
    Op(read=8, written=8, flags=VIEW),
    Op(macs=10**6, read=10**8, written=10**8),
)


def table_of(*names: str, engine: str = ROOFLINE, ops: tuple[Op, ...] = OPS) -> OperatorTable:
    table = explain(make_model(*ops), make_target(), engine)
    return replace(table, names=names or table.names)


def slices(document: dict[str, Any], category: str) -> list[dict[str, Any]]:
    return [each for each in document["traceEvents"] if each.get("cat") == category]


def test_operators_follow_one_another_and_end_with_the_prediction() -> None:
    # 1 ms and 2 ms of work at 1e12 MAC/s and 100 GB/s, 6 us a launch; the view takes nothing.
    timeline = timeline_of(table_of())
    assert timeline.ends_ms == pytest.approx([0, 1.006, 1.006, 3.012])
    assert timeline.total_ms == pytest.approx(3.012)


def test_what_overlaps_stands_in_lanes() -> None:
    timeline = timeline_of(table_of())
    launch, arithmetic, memory = timeline.lane_start_ms.T[2]
    assert [launch, arithmetic, memory] == pytest.approx([1.006, 1.012, 1.012])
    assert timeline.lane_ms[:, 2] == pytest.approx([0.006, 0.001, 2.0])


@pytest.mark.parametrize("engine", [CLOSERTOME, ROOFLINE])
def test_no_lane_leaves_its_operator(engine: str) -> None:
    timeline = timeline_of(table_of(engine=engine))
    ends = timeline.lane_start_ms + timeline.lane_ms
    assert (timeline.lane_start_ms >= timeline.ends_ms[:-1] - 1e-9).all()
    assert (ends <= timeline.ends_ms[1:] + 1e-9).all()


@pytest.mark.slow
@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=12))
def test_the_strip_is_as_long_as_the_prediction(macs: list[int]) -> None:
    ops = tuple(Op(macs=each, read=1000, written=1000) for each in macs)
    table = table_of(engine=CLOSERTOME, ops=ops)
    timeline = timeline_of(table)
    assert timeline.total_ms == pytest.approx(table.latency_ms.sum())
    assert (np.diff(timeline.ends_ms) >= 0).all()


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("/encoder/layer.0/MatMul", ("encoder", "layer.0")),
        ("encoder.layer.MatMul", ("encoder", "layer")),
        ("Conv_12", ()),
        ("", ()),
        ("///", ()),
    ],
)
def test_modules_come_from_names(name: str, path: tuple[str, ...]) -> None:
    assert module_path(name) == path


def test_modules_are_runs_of_operators_and_a_view_breaks_none() -> None:
    timeline = timeline_of(table_of("/a/b/Conv", "Reshape", "/a/c/Conv"))
    assert [(each.depth, each.path, each.operators) for each in timeline.modules] == [
        (0, ("a",), (0, 3)),
        (1, ("a", "b"), (0, 1)),
        (1, ("a", "c"), (2, 3)),
    ]
    assert timeline.depth == 2


def test_a_trace_names_its_threads_and_leaves_views_out() -> None:
    document = trace(table_of("/a/Conv", "Reshape", "/a/Gemm"), "net on board")
    names = [e["args"]["name"] for e in document["traceEvents"] if e["name"] == "thread_name"]
    assert names == ["Operators", *LANES]
    assert document["traceEvents"][0]["args"] == {"name": "net on board"}
    operators = slices(document, "operator")
    assert [each["name"] for each in operators] == ["/a/Conv", "/a/Gemm"]
    assert [each["ts"] for each in operators] == [0.0, 1006.0]
    assert [each["dur"] for each in operators] == [1006.0, 2006.0]
    assert operators[0]["args"]["macs"] == 10**9


def test_slices_of_a_trace_lie_within_one_another() -> None:
    table = table_of("/a/b/Conv", "Reshape", "/a/c/Conv", engine=CLOSERTOME)
    document = trace(table, "net")
    (whole, *_), operators = slices(document, "module"), slices(document, "operator")
    for inner in [*slices(document, "module"), *operators]:
        assert whole["ts"] <= inner["ts"]
        assert inner["ts"] + inner["dur"] <= whole["ts"] + whole["dur"] + 1e-9
    for category in ("operator", *(lane.lower() for lane in LANES)):
        for before, after in pairwise(slices(document, category)):
            assert before["ts"] + before["dur"] <= after["ts"] + 1e-9
    assert sum(each["dur"] for each in operators) == pytest.approx(
        1e3 * table.latency_ms.sum(), abs=1e-2
    )


def test_a_trace_is_one_file_of_plain_json(tmp_path: Path) -> None:
    path = write_trace(table_of(), tmp_path / "trace.json", "net")
    document = json.loads(path.read_text())
    assert {event["ph"] for event in document["traceEvents"]} == {"M", "X"}
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "missing").touch()  # a file in the way of a folder
    with pytest.raises(HostError, match=r"missing/t\.json: the trace could not be written"):
        write_trace(table_of(), tmp_path / "missing" / "t.json", "net")
