"""``ctm predict --rows``: many models side by side, in parts, with rows that stay."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import onnx
import psutil
import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def folder(tmp_path: Path, fixed_model: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    for number in range(7):
        shutil.copy(fixed_model, folder / f"m{number}.onnx")
    (folder / "broken.onnx").write_bytes(b"\x08\x07no model")
    return folder


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_pair_is_a_row_and_a_file_that_cannot_be_read_one_with_a_reason(
    ctm_process: Run, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    done = ctm_process("predict", folder, "--device", "rpi5", "--device", "rtx3060", "--rows", out,
               "--jobs", "3")  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    written = rows(out)
    good = [row for row in written if row["problem"] is None]
    (broken,) = [row for row in written if row["problem"] is not None]
    assert Path(str(broken["model"])).name == "broken.onnx"
    assert {(Path(str(r["model"])).name, r["device"]) for r in good} == {
        (f"m{n}.onnx", device) for n in range(7) for device in ("rpi5", "rtx3060")
    }
    one = json.loads(
        ctm_process("predict", folder / "m0.onnx", "--device", "rpi5", "--json").stdout
    )
    (alone,) = one["predictions"]
    (same,) = [r for r in good if r["device"] == "rpi5" and str(r["model"]).endswith("m0.onnx")]
    for name in ("latency_ms", "high95_ms"):  # predicted with other targets: sums in another order
        assert same[name] == pytest.approx(alone[name], rel=1e-6)


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_processes_and_parts_write_the_bytes_that_one_process_does(
    ctm: Run, folder: Path, tmp_path: Path, ending: str
) -> None:
    store = ("--store", tmp_path / "store.db")
    measured = tmp_path / "measured.csv"
    measured.write_text("model,latency_ms\nm0,9\n")
    here = ("--device", "rpi5", *store)
    usual = ("--runtime", "ncnn", "--precision", "fp16", "--threads", "4")
    done = ctm("probe", "import", measured, "--model", folder / "m0.onnx", *here, *usual)
    assert done.returncode == 0, done.stderr
    product = onnx.load(folder / "m0.onnx")
    product.graph.node[1].op_type, product.graph.node[1].input[:] = "Relu", ["flat"]
    product.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 8
    onnx.save(product, folder / "other.onnx")  # that is not measured

    def lines(name: str, *options: str) -> list[bytes]:
        out = tmp_path / f"{name}.{ending}"
        asked = (folder, "--device", "rtx3060", *here, "--rows", out)
        done = ctm("predict", *asked, *options)
        assert done.stderr == ""
        return out.read_bytes().splitlines(keepends=True)

    one = lines("one")
    parts = [line for part in (1, 2) for line in lines(f"part{part}", "--shard", f"{part}/2")]
    assert sorted(set(lines("processes", "--jobs", "3"))) == sorted(one)
    assert sorted(set(parts)) == sorted(one)  # the header of CSV is in each
    assert sum(b"measured" in line for line in one) == 7


def test_parts_are_all_models_once_also_as_csv(ctm: Run, folder: Path, tmp_path: Path) -> None:
    names: list[str] = []
    for part in (1, 2, 3):
        out = tmp_path / f"part-{part}.csv"
        ctm("predict", folder, "--device", "rpi5", "--rows", out, "--shard", f"{part}/3")
        with out.open(encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file))
        assert 2 <= len(table) <= 3
        names += [Path(row["model"]).name for row in table]
    assert sorted(names) == sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_reader_and_a_killed_command_lose_no_finished_row(
    start_ctm: Start, folder: Path, tmp_path: Path
) -> None:
    for number in range(7, 400):
        shutil.copy(folder / "m0.onnx", folder / f"m{number}.onnx")
    out = tmp_path / "out.jsonl"
    process = start_ctm("predict", folder, "--device", "rpi5", "--rows", out, "--jobs", "2")
    _wait(lambda: out.exists() and out.stat().st_size > 0)
    readers = psutil.Process(process.pid).children(recursive=True)
    os.kill(readers[0].pid, signal.SIGKILL)
    before = out.stat().st_size
    _wait(lambda: process.poll() is not None or out.stat().st_size > before)
    process.kill()
    process.communicate(timeout=30)
    text = out.read_text(encoding="utf-8")
    whole = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
    assert whole
    assert all(row["model"] for row in whole)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_killed_run_goes_on_where_it_stopped(
    ctm: Run, start_ctm: Start, folder: Path, tmp_path: Path, ending: str
) -> None:
    for number in range(7, 60):
        shutil.copy(folder / "m0.onnx", folder / f"m{number}.onnx")
    out = tmp_path / f"out.{ending}"
    written = out.with_name(f"{out.name}.part") if ending == "parquet" else out
    asked = ("predict", folder, "--device", "rpi5", "--device", "rtx3060", "--rows", out)
    process = start_ctm(*asked)
    _wait(lambda: written.exists() and written.read_bytes().count(b"\n") > 12)
    process.kill()
    process.communicate(timeout=30)
    with written.open("ab") as file:
        file.write(b'{"model": "torn')
    before = written.read_bytes()
    before = before[: before[: before.rfind(b"\n")].rfind(b"\n") + 1]  # the last model may be torn

    done = ctm(*asked, "--resume")
    assert done.returncode == 2, done.stderr  # broken.onnx
    if ending == "parquet":
        assert not written.exists()
        table = pytest.importorskip("pyarrow.parquet").read_table(out).to_pylist()
    else:
        assert written.read_bytes().startswith(before)
        table = (
            rows(out) if ending == "jsonl" else list(csv.DictReader(out.read_text().splitlines()))
        )
    names = [(Path(str(row["model"])).name, row["device"] or None) for row in table]
    assert len(names) == len(set(names)) == 2 * 60 + 1
    good = [row for row in table if not row["problem"]]
    assert len({float(row["latency_ms"]) for row in good}) == 2  # type: ignore[arg-type]
    assert ctm(*asked, "--resume").returncode == 2
    assert len(list(out.parent.glob("out.*"))) == 1


def test_a_file_of_another_run_is_not_gone_on_with(ctm: Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    asked = ("predict", folder / "m0.onnx", "--rows", out, "--resume", "--device")
    assert ctm(*asked, "rpi5").returncode == 0
    before = out.read_bytes()
    others = [(asked, "rpi4", "it holds rows of other devices or configurations")]
    others.append(((*asked[:-1], "--engine", "roofline", "--device"), "rpi5", "another version"))
    for arguments, device, words in others:
        done = ctm(*arguments, device)
        assert done.returncode == 2
        assert words in done.stderr
        assert out.read_bytes() == before
    out.write_text("my notes\n")
    done = ctm(*asked, "rpi5")
    assert (done.returncode, out.read_text()) == (2, "my notes\n")
    assert "it holds rows of another form" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.parquet"])
def test_a_full_disk_is_one_sentence(fixed_model: Path, tmp_path: Path, name: str) -> None:
    command = ["predict", str(fixed_model), "--device", "rpi5", "--rows", str(tmp_path / name)]
    # The largest file that the process may write: the system refuses what goes beyond.
    limited = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "from predictor.cli.program import main;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)); sys.exit(main(sys.argv[1:]))"
    )
    store = ["--store", str(tmp_path / "s.db")]
    done = subprocess.run(
        [sys.executable, "-c", limited, *store, *command],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "the rows cannot be written (File too large)" in done.stderr


def _wait(until: Callable[[], bool], limit_s: float = 60.0) -> None:
    end = time.monotonic() + limit_s
    while not until():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rows", "out.txt"), "its ending is none of .jsonl, .csv and .parquet"),
        (("--rows", "out.csv", "--json"), "--json: it does not go with --rows"),
        (("--rows", "out.csv", "--mode", "15W"), "--mode: it does not go with --rows"),
        (("--rows", "out.csv", "--clock", "cpu=900"), "--clock: it does not go with --rows"),
        (("--rows", "no/such/folder/out.csv"), "the rows cannot be written"),
        (("--jobs", "2"), "--jobs: it needs --rows"),
        (("--resume",), "--resume: it needs --rows"),
        (("--rows", "out.csv", "--shard", "4/3"), "'4/3' is not of the form I/N"),
        (("--rows", "out.csv", "--jobs", "0"), "'0' is not a whole number from 1"),
    ],
)
def test_wrong_input_is_one_sentence(
    ctm: Run, fixed_model: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = ctm("predict", fixed_model, "--device", "rpi5", *arguments)
    assert done.returncode in {2, 3}
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
