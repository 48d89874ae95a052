"""``ctm predict`` as a process: the contract that scripts depend on."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import psutil
import pytest

from tests.support.networks.vision import resnet50

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]

KEYS = {
    "model",
    "device",
    "configuration",
    "latency_ms",
    "low80_ms",
    "high80_ms",
    "low95_ms",
    "high95_ms",
    "p90_ms",
    "p99_ms",
    "basis",
    "predicted_ms",
    "provenance",
    "bound_ms",
    "engine",
    "signature",
    "adaptation",
    "fingerprint",
    "out_of_distribution",
    "fits_memory",
    "problem",
    "flagged_operators",
    "notes",
    "evidence",
    "unstable",
    "scaled",
    "memory",
    "unsupported",
}


def predictions(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """Return the predictions of a command that must have printed one document and no more."""
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "ctm-prediction/1"
    entries: list[dict[str, Any]] = document["predictions"]
    return entries


def stored_rows(store: Path) -> int:
    if not store.exists():
        return 0
    connection = sqlite3.connect(store)
    try:
        return int(connection.execute("SELECT count(*) FROM predictions").fetchone()[0])
    finally:
        connection.close()


def test_two_models_on_two_devices_are_one_document_and_four_rows(
    ctm_process: Run, mobilenet: Path, distilbert: Path, board: Path, own_store: Path
) -> None:
    devices = ("--device", "a100-pcie-40gb", "--device", board)
    done = ctm_process("predict", mobilenet, distilbert, *devices, "--json")
    entries = predictions(done)

    assert done.returncode == 0
    assert [(e["model"], e["device"]) for e in entries] == [
        (mobilenet.name, "a100-pcie-40gb"),
        (mobilenet.name, "my-board"),
        (distilbert.name, "a100-pcie-40gb"),
        (distilbert.name, "my-board"),
    ]
    for entry in entries:
        assert set(entry) == KEYS
        assert set(entry["configuration"]) == {"runtime", "precision", "threads", "batch"}
        assert entry["basis"] in {"zero-shot", "probed"}
        assert 0 < entry["bound_ms"] <= entry["low95_ms"] <= entry["low80_ms"]
        assert entry["low80_ms"] <= entry["latency_ms"] < entry["high80_ms"] < entry["high95_ms"]
        assert entry["problem"] is None
        assert len(entry["fingerprint"]) == 64
    assert entries[1]["configuration"] == {
        "runtime": "onnxruntime",
        "precision": "fp32",
        "threads": 4,
        "batch": 1,
    }
    assert stored_rows(own_store) == 4


def test_all_asks_every_device_of_the_catalogue(ctm: Run, mobilenet: Path) -> None:
    entries = predictions(ctm("predict", mobilenet, "--all", "--json"))
    listed = json.loads(ctm("devices", "--json").stdout)["devices"]

    assert ["this-machine", *(e["device"] for e in entries)] == [d["id"] for d in listed]
    assert all((e["latency_ms"] is None) == (e["problem"] is not None) for e in entries)


def test_without_a_device_a_cross_section_is_compared(ctm: Run, mobilenet: Path) -> None:
    done = ctm("predict", mobilenet)

    assert done.returncode == 0
    assert done.stdout.startswith("mobilenetv2-1.0-224.onnx: 3.49 M parameters, ")
    assert len(re.findall(" (?:from specs|calibrated|measured)", done.stdout)) >= 3
    assert "batch = 1" in done.stdout


def test_a_device_given_twice_is_asked_once(ctm: Run, mobilenet: Path) -> None:
    arguments = ("--device", "tesla-t4", "--device", "Tesla T4", "--json")

    assert len(predictions(ctm("predict", mobilenet, *arguments))) == 1


def test_batch_and_dimensions_reach_the_model(ctm: Run, distilbert: Path, board: Path) -> None:
    def latency(*arguments: str) -> float:
        done = ctm("predict", distilbert, "--device", board, "--json", *arguments)
        entry = predictions(done)[0]
        assert entry["configuration"]["batch"] == (4 if "4" in arguments else 1)
        return float(entry["latency_ms"])

    usual = latency()
    assert latency("--batch", "4") > usual
    assert latency("--dim", "sequence=16") < usual
    assert latency("--shape", "input_ids=1,16") == latency("--dim", "sequence=16")


def test_operators_sum_to_the_latency(ctm: Run, mobilenet: Path, board: Path) -> None:
    done = ctm("predict", mobilenet, "--device", board, "--operators", "--json")
    (entry,) = predictions(done)
    operators = entry["operators"]

    assert set(entry) == KEYS | {"operators", "roofs"}
    assert {roof["origin"] for roof in entry["roofs"]} >= {"stated", "bound"}
    assert all(roof["rate"] > 0 for roof in entry["roofs"])
    # 2 x 10 838 016 FLOP on 2 211 328 bytes: image, weights and output in FP32.
    assert operators[0]["flop_per_byte"] == pytest.approx(9.80, abs=0.01)
    assert sum(o["latency_ms"] for o in operators) == pytest.approx(entry["latency_ms"], rel=1e-6)
    assert sum(o["share"] for o in operators) == pytest.approx(1)
    assert operators[0]["output_shape"] == [1, 32, 112, 112]
    assert {"name", "op_type", "macs", "bytes_moved", "bound_type", "flags"} <= set(operators[0])


def test_operators_in_text_stand_with_the_slowest_first(
    ctm: Run, mobilenet: Path, board: Path
) -> None:
    done = ctm("predict", mobilenet, "--device", board, "--operators")
    lines = done.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Operator "))
    rows = [line.split() for line in lines[start + 1 :]]
    shares = [float(row[row.index("%") - 1]) for row in rows]

    assert shares == sorted(shares, reverse=True)
    assert " 100 %" in lines[-1]


def test_a_budget_decides_the_exit_code(ctm: Run, mobilenet: Path, board: Path) -> None:
    arguments = ("predict", mobilenet, "--device", board, "--json", "--budget-ms")
    missed, met = ctm(*arguments, "0.001"), ctm(*arguments, "100000")

    assert (missed.returncode, met.returncode) == (1, 0)
    assert set(predictions(missed)[0]) == KEYS | {"budget_probability"}
    assert "over 0.001 ms" in ctm(*[a for a in arguments if a != "--json"], "0.001").stdout


def test_a_configuration_that_the_device_does_not_run_has_no_number(
    ctm: Run, mobilenet: Path, board: Path
) -> None:
    arguments = ("predict", mobilenet, "--device", board, "--precision", "bf16")
    done = ctm(*arguments, "--json")
    (entry,) = json.loads(done.stdout)["predictions"]

    assert done.returncode == 2
    last = f"ctm: {mobilenet.name}: no target has a number (not supported"
    assert done.stderr.splitlines()[-1].startswith(last)
    assert entry["latency_ms"] is None
    assert entry["bound_ms"] is None
    assert entry["basis"] is None
    assert entry["problem"].startswith("not supported")
    assert "not supported" in ctm(*arguments).stdout


def test_a_budget_without_any_number_does_not_pass(
    ctm_process: Run, mobilenet: Path, board: Path
) -> None:
    done = ctm_process(
        "predict", mobilenet, "--device", board, "--precision", "bf16", "--budget-ms", "9"
    )

    assert done.returncode == 2
    assert "no target has a number" in done.stderr


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_target_without_a_number_beside_one_with_is_no_error(
    ctm: Run, mobilenet: Path, board: Path, form: tuple[str, ...]
) -> None:
    devices = ("--device", board, "--device", "hailo-8", "--precision", "fp32")
    done = ctm("predict", mobilenet, *devices, *form)

    assert done.returncode == 0, done.stderr
    assert "not supported" in done.stdout
    assert "no target has a number" not in done.stderr


def test_more_threads_than_cores_are_told(ctm: Run, mobilenet: Path, board: Path) -> None:
    four = ctm("predict", mobilenet, "--device", board, "--threads", "4", "--json")
    more = ctm("predict", mobilenet, "--device", board, "--threads", "99", "--json")

    words = "99 threads are more than the cores of My Board: 4 of them compute."
    (expected,), (entry,) = predictions(four), predictions(more)
    assert entry["notes"] == [*expected.pop("notes"), words]
    assert words not in four.stderr
    assert more.stderr.splitlines().count(words) == 1
    assert entry["configuration"]["threads"] == 4
    assert entry["latency_ms"] == expected["latency_ms"]
    told = ctm("predict", mobilenet, "--device", board, "--threads", "99")
    assert words in told.stderr
    assert words not in ctm("predict", mobilenet, "--device", board, "--quiet").stderr


def test_one_bad_model_costs_the_others_nothing(
    ctm: Run, tmp_path: Path, mobilenet: Path, board: Path, own_store: Path
) -> None:
    bad = tmp_path / "bad.onnx"
    bad.write_text("this is no model")

    done = ctm("predict", bad, mobilenet, "--device", board, "--json")

    assert done.returncode == 2
    assert str(bad) in done.stderr
    assert [e["model"] for e in json.loads(done.stdout)["predictions"]] == [mobilenet.name]
    assert stored_rows(own_store) == 1


def test_folders_and_patterns_name_models_and_the_fastest_is_told(
    ctm: Run, tmp_path: Path, mobilenet: Path, distilbert: Path, board: Path
) -> None:
    folder = tmp_path / "models"
    (folder / "deep").mkdir(parents=True)
    shutil.copy(mobilenet, folder / "a.onnx")
    shutil.copy(distilbert, folder / "deep" / "b.onnx")
    (folder / "bad.onnx").write_text("this is no model")
    pattern = str(tmp_path / "*" / "a.onnx")

    done = ctm("predict", folder, pattern, str(tmp_path / "*.txt"), "--device", board,
               "--budget-ms", "1e5")  # fmt: skip

    assert done.returncode == 2
    assert "bad.onnx" in done.stderr
    assert "no model matches this pattern" in done.stderr
    assert done.stdout.count("a.onnx: ") == 1
    assert "2 of 2 models meet 100000 ms; not ranked" in done.stdout


def test_int8_of_a_float_model_is_noted_beside_the_number(ctm: Run, mobilenet: Path) -> None:
    asked = ("predict", mobilenet, "--device", "rpi5", "--precision", "int8")
    (entry,) = predictions(ctm(*asked, "--json"))
    assert len(entry["notes"]) == 1
    assert "assumes that the whole model is quantised" in entry["notes"][0]
    assert entry["notes"][0] in ctm(*asked).stdout


def test_a_store_that_fails_costs_no_result(
    ctm_process: Run, tmp_path: Path, mobilenet: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("")

    done = ctm_process(
        "predict", mobilenet, "--device", "tesla-t4", "--json", "--store", file / "x.db"
    )

    assert done.returncode == 3
    assert json.loads(done.stdout)["predictions"][0]["latency_ms"] > 0
    assert "not stored" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_processes_share_one_store(
    start_ctm: Start, mobilenet: Path, distilbert: Path, own_store: Path
) -> None:
    running = [
        start_ctm("predict", model, "--all", "--json") for model in (mobilenet, distilbert) * 2
    ]
    ended = [(process.communicate(timeout=60), process.returncode) for process in running]

    assert [code for _, code in ended] == [0] * 4, [err for (_, err), _ in ended]
    shown = sum(len(json.loads(out)["predictions"]) for (out, _), _ in ended)
    assert stored_rows(own_store) == shown


def test_ctrl_c_ends_with_130_and_no_process_stays(
    start_ctm: Start, distilbert: Path, own_store: Path
) -> None:
    process = start_ctm("predict", *[distilbert] * 1000, "--device", "tesla-t4")
    parent = psutil.Process(process.pid)
    deadline = time.monotonic() + 30
    while not (children := parent.children()):
        assert time.monotonic() < deadline, "the worker did not start"

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert out == ""
    assert err == "ctm: cancelled.\n"
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
    assert stored_rows(own_store) == 0


def test_quiet_leaves_errors_only(ctm: Run, distilbert: Path, board: Path) -> None:
    arguments = ("predict", distilbert, "--device", board, "--json")

    assert "sequence = 128" in ctm(*arguments).stderr
    assert ctm(*arguments, "--quiet").stderr == ""
    assert ctm("predict", "none.onnx", "--quiet").stderr != ""


def test_node_data_is_written_for_one_pair_and_refused_for_several(
    ctm: Run, mobilenet: Path, board: Path, tmp_path: Path
) -> None:
    file = tmp_path / "net.json"

    refused = ctm("predict", mobilenet, "--device", board, "--device", "rpi5", "--node-data", file)
    done = ctm("predict", mobilenet, "--device", board, "--node-data", file, "--json")

    assert refused.returncode == 2
    assert "2 pairs were requested" in refused.stderr
    assert refused.stdout == ""
    (entry,) = predictions(done)
    results = json.loads(file.read_text())["results"]
    total_ms = sum(cell["value"] for cell in results.values())
    assert total_ms == pytest.approx(entry["latency_ms"], rel=1e-4)
    assert (tmp_path / "net.share.json").exists()


def test_a_trace_holds_the_prediction_and_is_refused_for_several_devices(
    ctm: Run, mobilenet: Path, board: Path, tmp_path: Path
) -> None:
    file = tmp_path / "trace.json"

    refused = ctm("explain", mobilenet, "--device", board, "--device", "rpi5", "--trace", file)
    (tmp_path / "none").touch()  # a file in the way of a folder
    missing = ctm("explain", mobilenet, "--device", board, "--trace", tmp_path / "none" / "t.json")
    done = ctm("explain", mobilenet, "--device", board, "--trace", file, "--json")

    assert refused.returncode == 2
    assert "--trace: a file holds one model on one device" in refused.stderr
    assert missing.returncode == 3
    assert len(missing.stderr.splitlines()) == 1
    (entry,) = predictions(done)
    events = json.loads(file.read_text())["traceEvents"]
    operators = [event for event in events if event.get("cat") == "operator"]
    total_ms = sum(event["dur"] for event in operators) / 1e3
    assert total_ms == pytest.approx(entry["latency_ms"], rel=1e-4)


def test_a_published_network_is_measured_with_the_prediction_beside(
    ctm: Run, tmp_path: Path
) -> None:
    # ResNet-50 as torch writes it, with the defaults that its exporter spells out.
    network = resnet50()
    for node in network.graph.node:
        spelled = {"Flatten": {"axis": 1}, "Gemm": {"alpha": 1.0, "beta": 1.0}}
        for name, value in spelled.get(node.op_type, {}).items():
            node.attribute.append(onnx.helper.make_attribute(name, value))
    onnx.save(network, tmp_path / "mine.onnx")
    asked = ("predict", tmp_path / "mine.onnx", "--device", "snapdragon-8-gen-3-npu")

    asked += ("--runtime", "tflite", "--precision", "fp16", "--json")

    done = ctm(*asked)

    (found,) = json.loads(done.stdout)["predictions"]
    assert found["basis"] == "measured"
    assert "quic/ai-hub-models" in found["provenance"]
    assert found["low95_ms"] < found["low80_ms"] < found["latency_ms"] < found["high80_ms"]
    other = json.loads(ctm(*asked, "--batch", "3").stdout)["predictions"][0]
    assert other["basis"] != "measured"
    assert (other["provenance"], other["predicted_ms"]) == (None, None)
