"""``--device this`` as a process: its two rates are measured once, for real."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from predictor.probing import self_test

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]

MEASURING = (
    "Measuring this machine's two rates (2 s; --no-measure skips it); other programs disturb it.\n"
)


def rates_file(own_store: Path) -> Path:
    return own_store.with_name("machine-rates.json")


def prediction(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(done.stdout)["predictions"]
    assert entry["device"] == "this-machine"
    return dict(entry)


@pytest.fixture
def briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates of this process's commands are measured for a fortieth of the usual time."""
    run = partial(self_test.run_self_test, seconds_per_rate=self_test.SECONDS_PER_RATE / 40)
    monkeypatch.setattr(self_test, "run_self_test", run)


def test_the_rates_are_measured_at_the_first_prediction_only(
    ctm_process: Run, ctm: Run, fixed_model: Path, mobilenet: Path, own_store: Path, tmp_path: Path
) -> None:
    asked = ("--device", "this", "--json")
    first = ctm_process("predict", fixed_model, *asked)
    made = prediction(first)
    assert first.stderr == MEASURING
    assert made["latency_ms"] > 0
    kept = rates_file(own_store).read_text(encoding="utf-8")

    again = ctm_process("predict", fixed_model, *asked)
    assert again.stderr == ""
    assert prediction(again) == made
    compared = ctm("compare", fixed_model, mobilenet, *asked)
    report = ctm("report", fixed_model, "--device", "this", "-o", tmp_path / "report.json")
    plan = ctm("probe", "plan", "--probes", "2", "--json")
    for done in (compared, report, plan):
        assert (done.returncode, MEASURING in done.stderr) == (0, False), done.stderr
    assert rates_file(own_store).read_text(encoding="utf-8") == kept

    sheet = json.loads(ctm("devices", "show", "this", "--json").stdout)
    assert sheet["measured"].keys() == {"dram_bw_gbps", "fp32_tflops", "core_fp32_tflops"}


@pytest.mark.usefixtures("briefly")
@pytest.mark.parametrize(
    "command",
    [
        ("compare", 2, "--json"),
        ("report", 1, "-o", "report.json"),
        ("probe plan", 0, "--probes", "2", "--json"),
    ],
)
def test_every_command_that_predicts_measures_first(
    ctm: Run, fixed_model: Path, mobilenet: Path, own_store: Path, command: tuple[Any, ...]
) -> None:
    name, models, *options = command
    given = [fixed_model, mobilenet][:models]
    done = ctm(*name.split(), *given, "--device", "this", *options)
    assert (done.returncode, done.stderr.count(MEASURING)) == (0, 1), done.stderr
    assert rates_file(own_store).is_file()


def test_no_measure_predicts_without(ctm: Run, fixed_model: Path, own_store: Path) -> None:
    done = ctm("predict", fixed_model, "--device", "this", "--no-measure", "--json")
    prediction(done)
    assert "Measuring" not in done.stderr
    assert not rates_file(own_store).exists()


def test_nothing_is_measured_where_another_device_is_wrong(
    ctm: Run, fixed_model: Path, own_store: Path
) -> None:
    done = ctm("predict", fixed_model, "--device", "this", "--device", "no-such-board")
    assert done.returncode == 2
    assert done.stderr.startswith("ctm: no-such-board: is no device of the catalogue")
    assert not rates_file(own_store).exists()


def test_other_devices_wait_for_nothing(ctm: Run, fixed_model: Path, own_store: Path) -> None:
    assert ctm("predict", fixed_model, "--device", "rpi5").stderr == ""
    assert ctm("devices", "show", "this").stderr == ""
    assert not rates_file(own_store).exists()


@pytest.mark.usefixtures("briefly")
def test_detecting_with_measure_keeps_new_rates(ctm: Run, own_store: Path) -> None:
    done = ctm("devices", "detect", "--measure", "--json")
    assert "measured on this machine" in done.stdout
    (entry,) = json.loads(rates_file(own_store).read_text(encoding="utf-8"))["machines"].values()
    assert json.loads(done.stdout)["measured"]["dram_bw_gbps"]["value"] == pytest.approx(
        entry["copy_gbps"], rel=1e-3
    )


def _command_line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:  # a zombie's too
        return []


def test_ctrl_c_while_measuring_keeps_nothing_and_leaves_no_process(
    start_ctm: Start, fixed_model: Path, own_store: Path
) -> None:
    process = start_ctm("predict", fixed_model, "--device", "this", "--json")
    parent, deadline = psutil.Process(process.pid), time.monotonic() + 30

    def measuring() -> list[psutil.Process]:
        children = parent.children(recursive=True)
        return [c for c in children if "predictor.probing.sustained_rates" in _command_line(c)]

    while not measuring():
        assert time.monotonic() < deadline, "nothing is measured"
    children = parent.children(recursive=True)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert (process.returncode, out, err) == (130, "", f"{MEASURING}ctm: cancelled.\n")
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
    assert not rates_file(own_store).exists()
