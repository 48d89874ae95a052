from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ctm_research.bridge import __main__ as command
from ctm_research.bridge import environment, measure, table
from ctm_research.bridge.measure import Limits
from ctm_research.bridge.rows import chosen_networks, planned_rows
from ctm_research.bridge.runtimes import MODULES
from ctm_research.bridge.table import Table
from predictor.core.errors import HostError, InputError
from research.tests.bridge.prepared import NETWORKS, ROWS, bridge, make

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "others_cores", lambda: 0.01)


def measured(folder: Path) -> list[str]:
    entries = Table(folder / "rows.jsonl").entries
    return [entry["network"] for entry in entries if entry.get("median_ms")]


def test_a_row_has_its_blocks_figures_and_its_operators_by_kind(tmp_path: Path) -> None:
    make(tmp_path)

    assert bridge(tmp_path).run(ROWS, {"onnxruntime": "1"}) == 0

    entries = Table(tmp_path / "rows.jsonl").entries
    row = next(entry for entry in entries if entry.get("network") == "one")
    assert row["median_ms"] == 10.01
    assert (row["verdict"], row["runs"], row["difference"]) == ("steady", 40, 0)
    assert row["operators"] == {"Conv": [2, 9.0], "Relu": [1, 1.0]}
    assert row["timed_s"] == pytest.approx(2 * (0.1 + 20 * 0.0100095))
    assert entries[0]["machine"]["versions"] == {"onnxruntime": "1"}
    assert entries[0]["load"] == 0.01


def test_a_killed_run_loses_the_running_row_only(tmp_path: Path) -> None:
    make(tmp_path)
    program = (
        "from pathlib import Path; from research.tests.bridge.prepared import run_all; "
        f"run_all(Path({str(tmp_path)!r}))"
    )
    environ = {**os.environ, "FAKE_SECONDS": "0.2"}
    process = subprocess.Popen([sys.executable, "-c", program], env=environ, cwd=ROOT)
    while len(measured(tmp_path)) < 1:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = measured(tmp_path)

    assert bridge(tmp_path).run(ROWS, {}) == 0

    assert 1 <= len(before) < len(ROWS)
    assert sorted(measured(tmp_path)) == sorted(network.name for network in NETWORKS)


def test_a_line_that_was_cut_short_is_dropped(tmp_path: Path) -> None:
    make(tmp_path)
    bridge(tmp_path).run(ROWS[:1], {})
    path = tmp_path / "rows.jsonl"
    path.write_bytes(path.read_bytes() + b'{"network": "two", "runt')

    bridge(tmp_path).run(ROWS, {})

    assert measured(tmp_path) == ["one", "two", "three"]


def test_a_damaged_file_of_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"network": 1}\n', encoding="utf-8")

    with pytest.raises(InputError, match="line 1: it is no row"):
        Table(path)


def test_a_full_disk_is_one_sentence_and_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path)
    bridge(tmp_path).run(ROWS[:1], {})

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(table, "os", SimpleNamespace(fsync=full))
        with pytest.raises(HostError, match="No space left on device") as caught:
            bridge(tmp_path).run(ROWS, {})

    assert caught.value.exit_code == 3
    assert measured(tmp_path) == ["one"]
    bridge(tmp_path).run(ROWS, {})
    assert measured(tmp_path) == ["one", "two", "three"]


def test_the_budget_counts_earlier_runs_and_leaves_the_rest(tmp_path: Path) -> None:
    make(tmp_path)

    assert bridge(tmp_path, Limits(timed_s=0.7)).run(ROWS, {}) == 1
    assert bridge(tmp_path, Limits(timed_s=0.7)).run(ROWS, {}) == 1
    assert measured(tmp_path) == ["one", "two"]


def test_a_busy_machine_is_refused_unless_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path)
    monkeypatch.setattr(measure, "others_cores", lambda: 0.7)

    with pytest.raises(HostError, match=r"keep 0\.70 cores busy, over 0\.15"):
        bridge(tmp_path).run(ROWS, {})

    assert bridge(tmp_path, Limits(busy_cores=None)).run(ROWS, {}) == 0


def test_what_was_not_converted_is_a_row_with_its_reason(tmp_path: Path) -> None:
    make(tmp_path, missing="two")

    bridge(tmp_path).run(ROWS, {})

    entries = Table(tmp_path / "rows.jsonl").entries
    reasons = {e["network"]: e.get("reason") for e in entries if "network" in e}
    assert reasons == {"one": None, "two": "no kernel for this", "three": None}


def test_what_was_not_tried_is_passed_over(tmp_path: Path) -> None:
    bridge(tmp_path).run(ROWS, {})

    assert not Table(tmp_path / "rows.jsonl").keys()


def test_a_process_that_dies_is_a_row_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path)
    monkeypatch.setenv("FAKE_CRASHES", "two")

    bridge(tmp_path).run(ROWS, {})

    entries = Table(tmp_path / "rows.jsonl").entries
    reason = next(e["reason"] for e in entries if e.get("network") == "two")
    assert reason == "its process ended with exit code 1: a converter's file was damaged"
    assert measured(tmp_path) == ["one", "three"]


def test_the_plan_has_every_runtime_and_stays_in_its_order() -> None:
    rows = planned_rows(chosen_networks())

    assert len(chosen_networks()) == 60
    assert len({row.key for row in rows}) == len(rows) == 60 * 7 + 20 * (7 + 5)
    assert {row.runtime for row in rows} == set(MODULES)
    assert rows == planned_rows(chosen_networks())
    assert all(row.precision == "fp32" and row.threads == 1 for row in rows[: 60 * 7])


def test_without_its_environment_the_command_says_how_to_make_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["run", str(tmp_path), "--work", str(tmp_path)]) == 3
    assert "run python -m ctm_research.bridge setup" in capsys.readouterr().err

    assert command.main(["run", str(tmp_path), "--work", str(tmp_path), "--only", "lenet"]) == 3


def test_the_environment_is_pinned() -> None:
    pins = environment.requirements()

    assert "torch==2.13.0" in pins
    assert all("==" in pin or "<" in pin for pin in pins)
