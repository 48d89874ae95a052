from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, load, save

from predictor.probing.importers.fused_operators import OperatorNames, match_entries
from predictor.probing.importers.registry import import_file
from tests.support.import_samples import ONNXRUNTIME_PROFILE, profile_run
from tests.support.importing import changed, line_of, read, refusal

THIRD_RUN = 12


def test_runs_after_the_first_are_the_samples() -> None:
    (latency,) = read(ONNXRUNTIME_PROFILE).latencies

    assert latency.samples_ns == (340_000, 360_000, 430_000)
    assert latency.value_ms == pytest.approx(0.360)
    assert (latency.statistic, latency.runtime, latency.runs) == ("median", "onnxruntime", 3)
    assert latency.profiled
    assert latency.facts["providers"] == "CPUExecutionProvider"


def test_times_of_nodes_are_means_over_the_same_runs() -> None:
    (latency,) = read(ONNXRUNTIME_PROFILE).latencies

    assert [(o.name, o.op_type) for o in latency.operators] == [
        ("/stem/Conv", "Conv"),
        ("/stem/Relu", "Relu"),
    ]
    assert latency.operators[0].time_ms == pytest.approx((300 + 310 + 400) / 3000)
    assert latency.operators[1].time_ms == pytest.approx((20 + 30 + 10) / 3000)


def test_the_note_says_that_the_profiler_slows() -> None:
    assert "profiler" in read(ONNXRUNTIME_PROFILE).notes[0]


def test_events_and_arguments_of_other_versions_are_passed_over() -> None:
    other = changed(
        ONNXRUNTIME_PROFILE, '"ph" : "X","name" :"model_loading_uri"', '"ph" : "M","name" :"x"'
    )
    old_name = other.replace("/stem/Conv_kernel_time", "_kernel_time")

    assert read(old_name).latencies[0].operators[0].name == ""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"dur" :340', '"dur" :-340', "dur is -340, below 0"),
        ('"dur" :340', '"dur" :NaN', "dur is nan, not a number"),
        ('"dur" :340', '"dur" :"soon"', "dur is 'soon', not a number"),
        ('"dur" :340', '"dur" :0', "not a time above 0"),
        ('"dur" :340', '"dur" :null', "dur is None, not a number"),
        ('"ts" :20000,', "", "ts is None, not a number"),
        ('"ts" :20000,', '"ts" :20000,"ts" :20000,', "'ts' stands twice"),
        ('"ts" :30000', '"ts" :20000', "the same run stands twice"),
        ('"ts" :30000', '"ts" :20100', "overlap"),
        ("[\n", "[ 3,\n", "an event is 3, not a JSON object"),
        ("\n]\n", "\n", "cut short"),
        ('"args" : {}},', '"args" : {}}', "a comma is missing after it"),
        ("\n]\n", "\n][]\n", "more follows"),
    ],
)
def test_a_broken_profile_is_refused_whole(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(ONNXRUNTIME_PROFILE, old, new))


def test_a_profile_without_runs_is_refused() -> None:
    assert "no event model_run" in refusal(ONNXRUNTIME_PROFILE.replace("model_run", "model_walk"))


def test_the_error_names_the_line() -> None:
    broken = changed(ONNXRUNTIME_PROFILE, '"dur" :360,"ts" :30000', '"dur" :-1,"ts" :30000')

    assert line_of(refusal(broken)) == THIRD_RUN


def test_one_run_is_a_warm_up_only() -> None:
    first = "[\n" + ",\n".join(profile_run(1000, 300, 20)) + "\n]\n"

    assert "one run, the warm-up" in refusal(first)


def test_deep_nesting_is_refused() -> None:
    deep = changed(ONNXRUNTIME_PROFILE, '"args" : {}', f'"args" : {"[" * 100_000}')

    assert "nests too deeply" in refusal(deep)


def weights(name: str, *shape: int) -> TensorProto:
    values = np.linspace(-0.1, 0.1, int(np.prod(shape)), dtype=np.float32)
    return helper.make_tensor(name, TensorProto.FLOAT, shape, values.tobytes(), raw=True)


def small_model(path: Path) -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["c1"], name="/stem/Conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], name="/stem/Relu"),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "r1"], ["a"], name="/block/Add"),
        helper.make_node("Relu", ["a"], ["y"], name="/block/Relu"),
    ]
    shape = [1, 16, 16, 16]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [weights("w1", 16, 16, 3, 3), weights("w2", 16, 16, 3, 3)],
    )
    opset = [helper.make_opsetid("", 17)]
    save(helper.make_model(graph, opset_imports=opset, ir_version=9), path)


@pytest.mark.parametrize("level", ["ORT_ENABLE_ALL", "ORT_ENABLE_EXTENDED", "ORT_DISABLE_ALL"])
def test_a_profile_of_the_real_runtime_covers_every_operator(tmp_path: Path, level: str) -> None:
    small_model(tmp_path / "m.onnx")
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.intra_op_num_threads = 1
    options.profile_file_prefix = str(tmp_path / "profile")
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    session = onnxruntime.InferenceSession(
        tmp_path / "m.onnx", options, providers=["CPUExecutionProvider"]
    )
    for _ in range(4):
        session.run(None, {"x": np.zeros((1, 16, 16, 16), np.float32)})
    profile = Path(session.end_profiling())

    (latency,) = import_file(profile).latencies
    nodes = [
        OperatorNames(node.name, node.op_type, tuple(node.input), tuple(node.output))
        for node in load(tmp_path / "m.onnx").graph.node
    ]
    groups = match_entries(latency.operators, nodes)

    assert len(latency.samples_ns) == 3
    assert sorted(node for group in groups for node in group) == list(range(len(nodes)))
    assert sum(operator.time_ms for operator in latency.operators) > 0
