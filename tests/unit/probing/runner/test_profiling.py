"""Times of nodes by onnxruntime's profile: worked by hand, and with the real runtime."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from onnx import helper

from predictor.probing.runner.bundle import RUNNER_FILE, runner_bytes
from predictor.probing.runner.messages import Controls
from predictor.probing.runner.process import Block
from predictor.probing.runner.profiling import node_times, profiled_pass
from predictor.probing.runner.settings import LONGEST_NAME, MAX_OPERATORS
from tests.support.probe_plans import QUICK, endless_network, model_bytes, relu_network
from tests.unit.probing.runner.jobs import job


def node(name: str, ts: int, dur: int, op_type: str, index: str = "0") -> dict[str, Any]:
    arguments = {"op_name": op_type, "node_index": index}
    facts = {"cat": "Node", "ph": "X", "ts": ts, "dur": dur, "args": arguments}
    return {**facts, "name": f"{name}_kernel_time"}


def session(name: str, ts: int, dur: int) -> dict[str, Any]:
    return {"cat": "Session", "ph": "X", "ts": ts, "dur": dur, "name": name}


def runs(*each: tuple[int, int]) -> list[dict[str, Any]]:
    """Return a profile: one run after another, of a Conv and a Relu of given microseconds."""
    events = [session("session_initialization", 0, 900)]
    for place, (conv, relu) in enumerate(each, 1):
        begin = place * 1000
        events += [
            session("model_run", begin, 900),
            session("SequentialExecutor::Execute", begin + 1, 890),
            node("stem/Conv", begin + 2, conv, "Conv"),
            node("stem/Relu", begin + 500, relu, "Relu"),
        ]
    return events


def test_the_median_over_the_runs_that_count_is_told_in_the_order_of_running() -> None:
    profile = runs((400, 90), (400, 90), (10, 3), (30, 1), (20, 2))
    assert node_times(profile, 2) == [["stem/Conv", "Conv", 20_000], ["stem/Relu", "Relu", 2_000]]


def test_a_node_that_runs_several_times_in_a_run_is_summed() -> None:
    again = [node("body/Add", at, 7, "Add") for at in (1100, 1200, 1300, 2100)]
    profile = sorted([*runs((10, 1), (10, 1), (10, 1)), *again], key=lambda event: event["ts"])
    assert node_times(profile, 0)[1] == ["body/Add", "Add", 7_000]  # of 21, 7 and 0


def test_nodes_without_a_name_are_told_apart_by_their_number() -> None:
    profile = [session("model_run", 0, 90), node("", 1, 5, "Add", "0"), node("", 9, 6, "Add", "1")]
    assert node_times(profile, 0) == [["", "Add", 5_000], ["", "Add", 6_000]]


def test_a_long_name_is_cut() -> None:
    profile = [session("model_run", 0, 90), node("n" * 600, 1, 5, "Add")]
    assert node_times(profile, 0)[0][0] == "n" * LONGEST_NAME


def test_a_profile_without_a_run_that_counts_is_refused() -> None:
    with pytest.raises(ValueError, match="profile has no node"):
        node_times(runs((10, 1), (10, 1)), 2)


def test_a_network_of_too_many_nodes_has_no_times() -> None:
    many = [node(f"n{index}", 1, 5, "Add") for index in range(MAX_OPERATORS + 1)]
    with pytest.raises(ValueError, match="it has 20001 nodes, more than 20000"):
        node_times([session("model_run", 0, 90), *many], 0)


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runner") / RUNNER_FILE
    path.write_bytes(runner_bytes())
    return path


Profiled = Callable[..., tuple[dict[str, Any], dict[str, Any]]]


@pytest.fixture
def profiled(runner: Path, tmp_path: Path) -> Profiled:
    """Measure and profile a network; return the result and what the profiled pass told."""

    def measured(data: bytes, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        path = tmp_path / "network.onnx"
        path.write_bytes(data)
        (tmp_path / "profile").mkdir()
        wanted = job(path, **{"profile": str(tmp_path / "profile"), **changes})
        block = Block([sys.executable, str(runner), "block"], wanted)
        try:
            *_, result = block.messages(Controls())
            return result["payload"], block.operators(Controls())
        finally:
            block.close()

    return measured


def test_the_nodes_of_a_real_network_are_timed_as_they_ran(profiled: Profiled) -> None:
    kinds = ("Relu", "Sigmoid", "Softmax")
    names = ("x", "a", "b", "y")
    nodes = [
        helper.make_node(kind, [names[at]], [names[at + 1]], name=f"the/{kind}")
        for at, kind in enumerate(kinds)
    ]
    result, found = profiled(model_bytes(nodes, (64, 4096)))
    assert result["median_ns"] > 0
    assert [entry[:2] for entry in found["operators"]] == [[f"the/{k}", k] for k in kinds]
    total_ns = sum(entry[2] for entry in found["operators"])
    assert result["median_ns"] / 3 < total_ns < result["median_ns"] * 3


def test_the_body_of_a_loop_is_summed_over_its_turns(profiled: Profiled) -> None:
    _, found = profiled(endless_network(500))
    assert {"Loop", "Add"} <= {op_type for _, op_type, _ in found["operators"]}


def test_a_profile_that_cannot_be_written_costs_no_sample(
    profiled: Profiled, tmp_path: Path
) -> None:
    result, found = profiled(relu_network(), profile=str(tmp_path / "missing"))
    assert len(result["samples_ns"]) >= QUICK.least_runs
    assert "missing" in found["operators_missing"]
    assert "operators" not in found


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        ("CUDAExecutionProvider", "CUDAExecutionProvider does not say how long its nodes compute"),
        ("NoneSuchProvider", "this onnxruntime has no NoneSuchProvider"),
    ],
)
def test_a_provider_that_does_not_profile_is_named(
    tmp_path: Path, provider: str, words: str
) -> None:
    wanted = job(tmp_path / "x.onnx", configuration={"provider": provider}, profile=str(tmp_path))
    found = profiled_pass(wanted, lambda _: None, lambda: 0)
    assert words in found["operators_missing"]


@pytest.mark.parametrize("content", ["", "[", '[{"ph": "X"}]', "[3]", "{}"])
def test_a_profile_that_is_no_profile_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    written = tmp_path / "profile.json"
    written.write_text(content)

    class Session:
        def run(self, *_: object) -> None:
            pass

        def end_profiling(self) -> str:
            return str(written)

    monkeypatch.setattr(
        "predictor.probing.runner.profiling.open_session", lambda *_: (Session(), {})
    )
    clock = iter(range(0, 10**12, 10**9))
    found = profiled_pass(
        job(tmp_path / "x.onnx", profile=str(tmp_path)), lambda _: None, lambda: next(clock)
    )
    assert set(found) == {"operators_missing"}
    assert found["operators_missing"]
