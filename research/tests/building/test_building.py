"""Graphs from packages: equal to an export with weights, kept at once, read by the sources."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import onnx
import pytest
import torch

from ctm_research.bridge.table import Table
from ctm_research.building import __main__ as command
from ctm_research.building import build
from ctm_research.building.export import KEPT, graph_of, rms_norm, without_weights
from ctm_research.building.plan import Definition, chosen, planned
from ctm_research.corpus import Sizes, build_corpus
from ctm_research.corpus.cache import corpus_key
from ctm_research.sources import SOURCES
from predictor.core.errors import InputError
from predictor.graph.ingest import ingest
from research.tests.building.small_package import PARAMETERS, small
from research.tests.data_folder import TIMM_ROW, write_table

ROOT = Path(__file__).parents[3]
IMAGE = [1, 3, 8, 8]
STATED = {"param_count_m": "", "gmacs_ref": "", "family": "deit"}
NETWORKS = ("many", "few", "unheard")


def worker(seconds: float = 0.0) -> list[str]:
    program = "import runpy, sys; "
    program += f"sys.argv = ['', '{seconds}']; "
    program += "runpy.run_module('research.tests.building.small_package', run_name='__main__')"
    return [sys.executable, "-c", program]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rows of three networks without graphs: two wait for the first, one for each other."""
    monkeypatch.setattr(build, "command", lambda *_: worker())
    folder = tmp_path / "data"
    columns = {"model": "", "family": "", "img_size": "", "graph_variant": "", "file": ""}
    write_table(folder / "timm/graphs.csv", columns)
    write_table(
        folder / "timm/latencies.csv",
        *(
            {**TIMM_ROW, **STATED, "model": model, "img_size": 8, "batch_size": batch}
            for model, batch in (("few", 1), ("many", 1), ("many", 4), ("unheard", 1))
        ),
    )
    return folder


def run(data: Path, output: Path, *more: str) -> int:
    return command.main(["--data", str(data), "--output", str(output), *more])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.gz*"))


def test_a_graph_is_that_of_an_export_with_weights(tmp_path: Path) -> None:
    module, content = small(), io.BytesIO()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, (torch.ones(IMAGE),), content, opset_version=17, dynamo=False)
        before = module(torch.ones(IMAGE))
    (tmp_path / "whole.onnx").write_bytes(content.getvalue())

    model = graph_of(module, [IMAGE])

    onnx.save(model, tmp_path / "built.onnx")
    built, whole = (ingest(tmp_path / f"{name}.onnx").graph for name in ("built", "whole"))
    assert built.fingerprint == whole.fingerprint
    assert (built.parameters, built.macs.sum()) == (whole.parameters, whole.macs.sum())
    assert max(len(tensor.raw_data) // 4 for tensor in model.graph.initializer) <= KEPT
    with torch.no_grad():
        assert torch.equal(module(torch.ones(IMAGE)), before)


def test_a_matrix_that_is_not_folded_is_a_weight_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctm_research.building.export._FOLDED_PARAMETERS", 0)

    model = graph_of(torch.nn.Sequential(torch.nn.Linear(12, 20)), [[1, 2, 3, 12]])

    onnx.save(model, tmp_path / "net.onnx")
    assert [node.op_type for node in model.graph.node] == ["ConstantOfShape", "MatMul", "Add"]
    assert ingest(tmp_path / "net.onnx").graph.macs.sum() == 6 * 12 * 20


def test_an_operator_of_a_later_opset_takes_that_one() -> None:
    folding = torch.nn.Sequential(torch.nn.Flatten(2), torch.nn.Fold((4, 4), 2, stride=2))

    model = graph_of(folding, [[1, 4, 2, 2]])

    assert model.opset_import[0].version == 18


def test_a_weight_that_only_a_branch_reads_is_kept() -> None:
    image = onnx.helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, [100])
    weight = onnx.helper.make_tensor_value_info("weight", onnx.TensorProto.FLOAT, [100])
    branch = onnx.helper.make_graph(
        [onnx.helper.make_node("Add", ["image", "weight"], ["sum"])], "branch", [], [image]
    )
    nodes = [
        onnx.helper.make_node("ReduceMax", ["image"], ["truth"], keepdims=0),
        onnx.helper.make_node("If", ["truth"], ["out"], then_branch=branch, else_branch=branch),
    ]
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [image, weight], []))

    without_weights(model, 1)

    assert model.graph.node[0].name == "weight/weight"
    assert [value.name for value in model.graph.input] == ["image"]


def test_a_norm_without_operator_is_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    norm, data = torch.nn.RMSNorm(12), torch.randn(2, 3, 12)
    expected = norm(data)
    monkeypatch.setattr(torch.nn.functional, "rms_norm", rms_norm)

    torch.testing.assert_close(norm(data), expected)
    kinds = {
        node.op_type for node in graph_of(torch.nn.Sequential(norm), [[1, 2, 3, 12]]).graph.node
    }
    assert {"Pow", "ReduceMean", "Sqrt"} < kinds


def test_what_is_missing_is_built_and_read(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = corpus_key(data, Sizes())

    assert run(data, data / "built") == 0

    assert names(data / "built") == ["few__8.onnx.gz", "many__8.onnx.gz"]
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "3 networks, 3 to build"
    assert lines[1].startswith("1/3 many__8, 2 rows: ")
    assert lines[3].endswith("1 rows: RuntimeError: Unknown model (unheard)")
    rows = Table(data / "built" / build.ROWS).entries
    assert rows[0]["parameters"] == PARAMETERS
    corpus = build_corpus(data, Sizes(1, 1))
    assert corpus.left_out == {"timm": {"no graph of the network is at hand": 1}}
    assert (len(corpus.measurements.graph), corpus.families) == (3, ("vision_transformer",))
    assert sorted(corpus.graphs.batch.tolist()) == [1, 4]
    assert corpus_key(data, Sizes()) != key
    assert run(data, data / "built") == 0
    assert capsys.readouterr().err == "3 networks, 0 to build\n"
    assert run(data, data / "built", "--again") == 0
    assert capsys.readouterr().err.startswith("3 networks, 1 to build\n1/1 unheard__8")


def test_the_users_folder_serves_a_data_folder_that_is_not_ours(data: Path, tmp_path: Path) -> None:
    assert command.main(["--data", str(data), "--most", "1"]) == 0

    assert names(tmp_path / "own-cache/built") == ["many__8.onnx.gz"]
    graphs = [sample.graph for sample in SOURCES["timm"].samples(data)]
    assert [graph is None for graph in graphs] == [True, False, False, True]


def test_a_network_that_is_not_the_measured_one_is_a_reason(data: Path) -> None:
    stated = {**TIMM_ROW, **STATED, "model": "few", "img_size": 8, "batch_size": 1}
    write_table(data / "timm/latencies.csv", {**stated, "param_count_m": "0.10"})

    assert run(data, data / "built", "--only", "few__8") == 0

    [row] = Table(data / "built" / build.ROWS).entries
    assert row["reason"] == "it has 0.00 million parameters, the rows state 0.1"
    assert names(data / "built") == []


def test_counts_may_be_rounded_and_apart_a_little() -> None:
    definition = Definition("a", "timm:a", ((1, 3, 8, 8),), 1, (86.54,), 17.6)

    assert definition.misfit(86_535_000, 17_560_000_000) == ""
    assert (
        definition.misfit(86_535_000, 12_000_000_000) == "it has 12.00 GMACs, the rows state 17.6"
    )


def test_a_killed_run_goes_on(data: Path, tmp_path: Path) -> None:
    output = tmp_path / "built"
    program = (
        "from ctm_research.building import __main__ as c, build; "
        f"build.command = lambda *_: {worker(0.5)!r}; "
        f"c.main(['--data', {str(data)!r}, '--output', {str(output)!r}])"
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    while not (output / build.ROWS).exists() or len(Table(output / build.ROWS).entries) < 1:
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    first = output / "many__8.onnx.gz"
    stamp = first.stat().st_mtime_ns
    assert [path.name for path in output.glob("*.onnx.gz")] == [first.name]

    assert run(data, output) == 0

    assert names(output) == ["few__8.onnx.gz", first.name]
    assert first.stat().st_mtime_ns == stamp
    for path in output.glob("*.onnx.gz"):
        onnx.load_from_string(gzip.decompress(path.read_bytes()))


def test_an_unbuilt_environment_is_one_sentence(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.undo()

    assert run(data, tmp_path / "built", "--work", str(tmp_path)) != 0

    error = capsys.readouterr().err.splitlines()[1:]
    assert len(error) == 1
    assert "python -m ctm_research.bridge setup" in error[0]
    assert not (tmp_path / "built").exists()


def test_wrong_input_is_one_sentence(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()

    assert run(tmp_path / "empty", tmp_path) == 2
    assert run(data, tmp_path, "--only", "nothing") == 2

    assert len(capsys.readouterr().err.splitlines()) == 2
    with pytest.raises(InputError, match="no row waits for this network"):
        chosen(planned(data), ["many__9"])
    with pytest.raises(SystemExit):
        run(data, tmp_path, "--most", "none")


def test_the_list_has_most_rows_first(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(data, data, "--list", "--most", "2") == 0

    assert capsys.readouterr().out == "2 many__8 timm:many\n1 few__8 timm:few\n"


def test_a_graph_that_is_cut_off_is_named(data: Path) -> None:
    assert run(data, data / "built", "--only", "many__8") == 0
    path = data / "built/many__8.onnx.gz"
    os.truncate(path, 100)

    with pytest.raises(InputError, match="it cannot be unpacked"):
        build_corpus(data, Sizes(1, 1))
