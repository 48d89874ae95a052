"""The other commands as processes, and what every command does when something is wrong."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from predictor import __version__
from tests.support.killed_writer import killed_writer

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]


def test_inspect_counts_what_the_papers_state(ctm: Run, mobilenet: Path, distilbert: Path) -> None:
    # Sandler et al. 2018, table 4: 300 M MACs and 3.4 M parameters; DistilBERT: 66 M parameters,
    # and half of BERT-base's 11.17 G MACs at 128 tokens.
    for path, macs, params in ((mobilenet, 0.30e9, 3.49e6), (distilbert, 5.58e9, 66.4e6)):
        document = json.loads(ctm("inspect", path, "--json").stdout)
        totals, operators = document["totals"], document["operators"]

        assert totals["macs"] == pytest.approx(macs, rel=0.01)
        assert totals["params"] == pytest.approx(params, rel=0.01)
        assert totals["operators"] == len(operators)
        assert totals["macs"] == sum(o["macs"] for o in operators)
        assert totals["bytes_moved"] == sum(o["bytes_moved"] for o in operators)
        assert {"name", "op_type", "output_shape", "macs", "bytes_moved"} <= set(operators[0])


def test_inspect_in_text_is_a_table_of_operators(ctm_process: Run, mobilenet: Path) -> None:
    done = ctm_process("inspect", mobilenet, "--batch", "2")

    assert done.returncode == 0
    assert "input image: float32 2×3×224×224" in done.stdout
    assert "batch = 2 (as you set it)" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.startswith("classifier "))
    assert row.split()[1:4] == ["Gemm", "2×1000", "2.56"]


def test_devices_lists_the_catalogue(ctm: Run) -> None:
    entries = json.loads(ctm("devices", "--json").stdout)["devices"]
    text = ctm("devices").stdout

    assert entries[0]["id"] == "this-machine"
    assert sum(bool(entry["metrics"]) for entry in entries) >= 150  # of some nothing is published
    for entry in entries:
        assert set(entry) == {"id", "name", "vendor", "family", "metrics", "has_signature"}
        assert f"\n{entry['id']} " in text
    known = {entry["id"] for entry in entries if entry["has_signature"]}
    assert "a100-pcie-40gb" in known  # measured latencies of it are published
    assert "apple-m4-gpu" in {entry["id"] for entry in entries} - known
    assert ctm("devices", "list").stdout == text


def test_products_are_listed_by_their_words(ctm: Run) -> None:
    boards = json.loads(ctm("devices", "products", "rock", "5b", "--json").stdout)["products"]
    lines = ctm("devices", "products", "phone").stdout.splitlines()

    assert [entry["name"] for entry in boards][:2] == ["ROCK 5B+", "ROCK 5B"]
    assert boards[1]["devices"] == ["rk3588-cpu", "rk3588-mali", "rk3588-npu"]
    assert set(boards[1]) == {
        *("name", "aliases", "maker", "kind", "year", "chip", "region", "devices", "source")
    }
    assert lines[0].split() == ["Product", "Maker", "Kind", "Year", "Chip", "Devices"]
    assert len(lines) > 100
    assert all("  phone  " in line for line in lines[1:])
    assert ctm("devices", "products", "typewriter").stderr == (
        "No product has all of these words.\n"
    )


def test_a_product_stands_for_its_devices(ctm: Run, mobilenet: Path) -> None:
    done = ctm("predict", mobilenet, "--device", "rock 5b", "--device", "rk3588-npu", "--json")

    predictions = json.loads(done.stdout)["predictions"]
    assert [p["device"] for p in predictions] == ["rk3588-cpu", "rk3588-mali", "rk3588-npu"]
    assert done.stderr.startswith(
        "The ROCK 5B has the Rockchip RK3588: rk3588-cpu, rk3588-mali, rk3588-npu.\n"
    )


def test_devices_show_gives_each_metric_with_its_source(ctm: Run) -> None:
    shown = json.loads(ctm("devices", "show", "Tesla T4", "--json").stdout)
    text = ctm("devices", "show", "tesla-t4").stdout

    assert shown["id"] == "tesla-t4"
    assert set(shown["metrics"]) == set(shown["sources"])
    assert "Memory bandwidth" in text
    assert all(source in text for source in shown["sources"].values())


def test_devices_show_gives_the_design_and_what_was_measured(ctm: Run, board: Path) -> None:
    content = json.loads(board.read_text()) | {
        "chip": "rk3588",
        "architecture": "cortex-a76",
        "measured": {"dram_bw_gbps": {"value": 1e4, "source": "STREAM on the board"}},
        "operating_points": [{"name": "slow", "cpu_mhz": 408, "source": "the governor"}],
    }
    board.write_text(json.dumps(content))

    shown = json.loads(ctm("devices", "show", board, "--json").stdout)
    text = ctm("devices", "show", board).stdout

    assert {name: shown[name] for name in content.keys() - {"sources"}} == {
        name: content[name] for name in content.keys() - {"sources"}
    }
    for words in ("Arm Cortex-A76", "neon fp16 dotprod", "STREAM on the board", "the governor"):
        assert words in text
    assert "above the stated" in ctm("devices", "check", board).stderr


def test_devices_check_accepts_what_show_and_detect_print(
    ctm: Run, tmp_path: Path, board: Path
) -> None:
    for name, arguments in (("shown", ("show", "tesla-t4")), ("detected", ("detect",))):
        path = tmp_path / f"{name}.json"
        path.write_text(ctm("devices", *arguments, "--json").stdout, encoding="utf-8")

        checked = ctm("devices", "check", path, "--json")

        assert checked.returncode == 0, checked.stderr
        assert json.loads(checked.stdout)["valid"] is True
    assert "the file is valid" in ctm("devices", "check", board).stdout


def test_what_follows_from_the_name_of_a_device_is_said(
    ctm: Run, tmp_path: Path, fixed_model: Path
) -> None:
    path = tmp_path / "pc.json"
    content = {
        "schema": "ctm-hcv/1",
        "id": "my-pc",
        "name": "Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz",
        "vendor": "Intel",
        "family": "cpu",
        "metrics": {"clock_mhz": 3700, "core_count": 6, "dram_bw_gbps": 41.6},
    }
    path.write_text(json.dumps(content), encoding="utf-8")

    shown = json.loads(ctm("devices", "show", path, "--json").stdout)
    predicted = ctm("predict", fixed_model, "--device", path, "--json")
    (entry,) = json.loads(predicted.stdout)["predictions"]

    assert "architecture" not in shown
    assert {item["field"]: item["value"] for item in shown["inferred"]} == {
        "architecture": "skylake-client",
        "fp32_au_per_core": "16",
    }
    words = "taken from i7-8700K: 8th generation"
    assert words in ctm("devices", "show", path).stdout
    assert words in ctm("devices", "check", path).stderr
    assert words in predicted.stderr
    assert any(words in note for note in entry["notes"])

    path.write_text(json.dumps(content | {"architecture": "zen-3"}), encoding="utf-8")
    contradiction = "architecture is zen-3, but the name means skylake-client"
    assert contradiction in ctm("devices", "check", path).stderr
    assert contradiction in ctm("predict", fixed_model, "--device", path).stderr
    assert contradiction.capitalize() in ctm("devices", "show", path).stdout


def test_devices_check_names_what_is_wrong(ctm: Run, board: Path) -> None:
    board.write_text(board.read_text().replace('"dram_gb": 4', '"dram_gb": -4'))

    done = ctm("devices", "check", board)

    assert done.returncode == 2
    assert done.stdout == ""
    for word in (str(board), "dram_gb", "-4"):
        assert word in done.stderr


def test_detect_describes_this_machine(ctm_process: Run) -> None:
    done = ctm_process("devices", "detect")

    assert done.returncode == 0
    assert "Cores" in done.stdout


def test_this_machine_as_measured_gives_a_number_where_its_system_tells_too_little(
    ctm: Run, tmp_path: Path, mobilenet: Path
) -> None:
    described = ctm("devices", "detect", "--measure", "--json")
    path = tmp_path / "this.json"
    path.write_text(described.stdout, encoding="utf-8")

    done = ctm("predict", mobilenet, "--device", path, "--json")

    assert "Measuring" in described.stderr
    metrics = json.loads(described.stdout)["metrics"]
    assert metrics["dram_bw_gbps"] > 0
    assert metrics["fp32_tflops"] > 0
    assert json.loads(done.stdout)["predictions"][0]["latency_ms"] > 0


def test_store_tells_what_it_holds(
    ctm: Run, ctm_process: Run, mobilenet: Path, own_store: Path, tmp_path: Path
) -> None:
    ctm("predict", mobilenet, "--device", "tesla-t4")
    other = tmp_path / "other.db"

    info = json.loads(ctm_process("store", "info", "--json").stdout)
    empty = json.loads(ctm("store", "info", "--json", "--store", other).stdout)

    assert info["path"] == str(own_store)
    assert info["records"]["predictions"] == 1
    assert empty["records"]["predictions"] == 0
    assert str(own_store) in ctm("store", "info").stdout


def test_store_check_finds_damage(ctm: Run, mobilenet: Path, own_store: Path) -> None:
    ctm("predict", mobilenet, "--all")
    sound = ctm("store", "check", "--json")
    content = bytearray(own_store.read_bytes())
    content[4096 * 3 : 4096 * 4] = b"\xff" * 4096
    own_store.write_bytes(bytes(content))
    damaged = ctm("store", "check")

    assert json.loads(sound.stdout) == {"sound": True, "problems": []}
    assert sound.returncode == 0
    assert damaged.returncode != 0
    assert "Traceback" not in damaged.stderr


def hostile_file(folder: Path, kind: str) -> Path:
    """Return the path of what a user may drop by mistake."""
    path = folder / f"{kind}.onnx"
    if kind == "folder":
        path.mkdir()
    elif kind != "missing":
        contents = {"empty": b"", "text": b"Dear diary\n", "zip": b"PK\x03\x04" + bytes(60)}
        path.write_bytes(contents[kind])
    return path


@pytest.mark.parametrize("command", ["predict", "inspect"])
@pytest.mark.parametrize("kind", ["missing", "empty", "text", "zip", "folder"])
def test_a_file_that_is_no_model_is_one_sentence(
    ctm: Run, tmp_path: Path, command: str, kind: str
) -> None:
    path = hostile_file(tmp_path, kind)

    done = ctm(command, path, "--json")

    assert_one_sentence(done, 2, str(path))


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("predict {model} --device rtx3099", "rtx3090"),
        ("predict {model} --device rtx", "quadro-rtx-8000"),
        ("predict {model} --device none.json", "none.json"),
        ("predict {model} --engine oracle", "roofline"),
        ("predict {model} --shape pixels=1,3,224,224", "pixels"),
        ("predict {model} --shape image=1,3", "image"),
        ("predict {model} --dim sequence=3", "sequence"),
        ("predict {model} --dim batch=2 --dim batch=3", "batch"),
        ("predict {model} --precision fp8", "fp8"),
        ("predict {model} --budget 3", "--budget"),
        ("inspect {model} --fast", "--fast"),
        ("devices show rtx3099", "rtx3090"),
        ("devices show rock-5b", "rk3588-npu"),
        ("predict {model} --device galaxy-s22", "Galaxy S22 Exynos 2200"),
        ("predict {model} --device orange-pj-5", "Orange Pi 5 or"),
        ("devices check none.json", "none.json"),
        ("fly", "predict"),
    ],
)
def test_wrong_input_is_one_sentence_with_what_to_do(
    ctm: Run, mobilenet: Path, fixed_model: Path, line: str, word: str
) -> None:
    done = ctm(*line.format(model=mobilenet, fixed=fixed_model).split())

    assert_one_sentence(done, 2, word)


@pytest.mark.skipif(os.name == "nt", reason="POSIX file types")
@pytest.mark.parametrize(
    "line",
    [
        "devices check {pipe}",
        "devices show {pipe}",
        "probe import {pipe} --device rpi4",
        "store import {pipe}",
        "store restore {pipe}",
        "store info --store {pipe}",
        "probe list --store {pipe}",
        "inspect {pipe}",
    ],
)
def test_a_pipe_keeps_no_command_waiting(ctm: Run, tmp_path: Path, line: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    done = ctm(*line.format(pipe=pipe).split())

    assert_one_sentence(done, 2, str(pipe))


def assert_one_sentence(done: subprocess.CompletedProcess[str], code: int, word: str) -> None:
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("ctm: ")
    assert done.stderr.endswith(".\n")
    assert done.stderr.count("\n") == 1
    assert word in done.stderr


def test_a_name_that_would_move_the_cursor_is_escaped(ctm: Run, tmp_path: Path) -> None:
    path = tmp_path / "evil\x1b[2J\u202e.onnx"
    path.write_bytes(b"")

    done = ctm("inspect", path)

    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert "\\x1b[2J\\u202e" in done.stderr


def test_a_reader_that_goes_away_is_no_error(start_ctm: Start) -> None:
    process = start_ctm("devices", "--json")
    assert process.stdout is not None
    process.stdout.close()

    assert process.wait(60) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()


def in_shell(tail: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command with the redirections of a POSIX shell."""
    words = [sys.executable, "-m", "predictor.cli", *map(str, arguments)]
    command = f"{shlex.join(words)} {tail}"
    return subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_disk_under_stdout_is_the_hosts_failure() -> None:
    done = in_shell("> /dev/full", "devices")

    assert done.returncode == 3
    assert "standard output" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="redirections of a POSIX shell")
def test_a_closed_stdout_is_the_hosts_failure() -> None:
    done = in_shell(">&-", "devices")

    assert done.returncode == 3
    assert done.stderr == (
        "ctm: standard output: it is closed; leave it open or name a file for it.\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
@pytest.mark.parametrize("tail", ["2>&-", "2>/dev/full"])
def test_messages_that_have_nowhere_to_go_do_not_reach_the_document(
    tail: str, tmp_path: Path
) -> None:
    path = tmp_path / "empty.onnx"
    path.write_bytes(b"")

    done = in_shell(tail, "inspect", path, "--json")

    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.skipif(sys.platform != "linux", reason="SIGKILL, folders by XDG")
def test_the_next_command_removes_what_a_killed_one_left_and_tells_once(
    ctm_process: Run, tmp_path: Path, mobilenet: Path
) -> None:
    left = killed_writer(tmp_path / "report.pdf")

    done, again = (ctm_process("inspect", mobilenet, "--json") for _ in range(2))

    assert done.stderr.splitlines() == [
        f"{left} was left by a program that was killed, and is removed."
    ]
    assert again.stderr == ""
    assert done.stdout == again.stdout
    assert not left.exists()


def test_help_and_version_are_on_stdout(ctm_process: Run) -> None:
    for command in ((), ("predict",), ("inspect",), ("devices",), ("store",), ("store", "info")):
        done = ctm_process(*command, "--help")
        assert done.returncode == 0
        assert "--store PATH" in done.stdout
        assert "--quiet" in done.stdout
    assert ctm_process("--version").stdout == f"ctm {__version__}\n"
