"""Measuring on this machine: real processes, some of them stopped, killed or left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from predictor.core.errors import CancelledError, HostError
from predictor.core.progress import CancelToken
from predictor.probing.measuring.interface import (
    BlockStarted,
    Command,
    Drift,
    Failure,
    NetworkDone,
    NetworkFailed,
    ProbeEvent,
    RunFinished,
    RunStarted,
    Samples,
)
from predictor.probing.measuring.local import LocalRunner
from tests.support.probe_plans import QUICK, endless_network, network, plan

pytestmark = pytest.mark.slow

FOREVER = endless_network(2**40)
# A block that loads its network is not yet silent; one that hangs is heard no more.
PATIENT = replace(QUICK, silence_limit_s=60.0)


def blocks_of(pid: int) -> list[psutil.Process]:
    """The block processes below a process, however deep."""
    return [
        child
        for child in psutil.Process(pid).children(recursive=True)
        if "block" in child.cmdline()
    ]


def own_blocks() -> list[psutil.Process]:
    return blocks_of(os.getpid())


def until_block_runs(events: Iterator[ProbeEvent], name: str) -> psutil.Process:
    """Take events until a block of the network runs, and return its process."""
    for event in events:
        if isinstance(event, BlockStarted) and event.name == name:
            break
    while True:
        found = own_blocks()
        if found:
            return found[0]


def test_networks_are_measured_and_the_processes_gone(tmp_path: Path) -> None:
    networks = [network(tmp_path, "a"), network(tmp_path, "b")]
    events = list(LocalRunner().run(plan(networks, sentinel=network(tmp_path, "watch"))))
    assert isinstance(events[0], RunStarted)
    assert events[0].host["onnxruntime"].startswith("onnxruntime")
    done = [event for event in events if isinstance(event, NetworkDone)]
    assert [event.name for event in done] == ["a", "b"]
    told = [s for e in events if isinstance(e, Samples) and e.name == "a" for s in e.samples_ns]
    kept = [s for block in done[0].document["blocks"] for s in block["samples_ns"]]
    assert told == kept
    assert len([event for event in events if isinstance(event, Drift)]) == 3
    assert events[-1] == RunFinished()
    assert own_blocks() == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    ("sent", "failure"),
    [(signal.SIGKILL, Failure.OUT_OF_MEMORY), (signal.SIGSEGV, Failure.CRASHED)],
)
def test_a_block_that_dies_costs_its_network_alone(
    tmp_path: Path, sent: signal.Signals, failure: Failure
) -> None:
    networks = [network(tmp_path, "long", FOREVER), network(tmp_path, "b")]
    events = LocalRunner().run(plan(networks, settings=PATIENT))
    until_block_runs(events, "long").send_signal(sent)
    rest = list(events)
    assert [(e.name, e.failure) for e in rest if isinstance(e, NetworkFailed)] == [
        ("long", failure)
    ]
    assert [e.name for e in rest if isinstance(e, NetworkDone)] == ["b"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_runner_that_is_killed_is_told(tmp_path: Path) -> None:
    events = LocalRunner().run(plan([network(tmp_path, "long", FOREVER)], settings=PATIENT))
    block = until_block_runs(events, "long")
    runner = block.parent()
    assert runner is not None
    runner.kill()
    with pytest.raises(HostError, match="it ended with signal 9"):
        list(events)
    block.wait(30)  # it sees its standard input close


def test_a_cancelled_run_ends_its_processes(tmp_path: Path) -> None:
    cancel = CancelToken()
    events = LocalRunner().run(plan([network(tmp_path, "long", FOREVER)], settings=PATIENT), cancel)
    until_block_runs(events, "long")
    cancel.cancel()
    with pytest.raises(CancelledError):
        list(events)
    assert own_blocks() == []


def test_an_iterator_that_is_closed_ends_its_processes(tmp_path: Path) -> None:
    events = LocalRunner().run(plan([network(tmp_path, "long", FOREVER)], settings=PATIENT))
    until_block_runs(events, "long")
    events.close()  # type: ignore[attr-defined]  # a generator
    assert own_blocks() == []


def test_a_network_is_skipped_on_command(tmp_path: Path) -> None:
    runner = LocalRunner()
    runner.send(Command.SKIP)  # nothing is under way
    networks = [network(tmp_path, "long", FOREVER), network(tmp_path, "b")]
    events = runner.run(plan(networks, settings=PATIENT))
    until_block_runs(events, "long")
    runner.send(Command.SKIP)
    rest = list(events)
    assert [e.failure for e in rest if isinstance(e, NetworkFailed)] == [Failure.SKIPPED]
    assert [e.name for e in rest if isinstance(e, NetworkDone)] == ["b"]


def test_a_paused_run_waits_for_the_command_to_go_on(tmp_path: Path) -> None:
    runner = LocalRunner()
    networks = [network(tmp_path, "long", FOREVER), network(tmp_path, "b")]
    events = runner.run(plan(networks, settings=PATIENT))
    until_block_runs(events, "long")
    runner.send(Command.PAUSE)
    runner.send(Command.SKIP)
    assert isinstance(next(events), NetworkFailed)
    assert own_blocks() == []  # nothing is measured in a pause
    runner.send(Command.CONTINUE)
    assert isinstance(list(events)[-1], RunFinished)


def test_no_runtime_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter that runs the runner has no onnxruntime: here, one without packages."""
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(HostError, match="numpy and onnxruntime is not installed"):
        list(LocalRunner().run(plan([network(tmp_path, "a")])))


APP = """
import json, sys
from pathlib import Path
from predictor.probing.measuring.interface import BlockStarted
from predictor.probing.measuring.local import LocalRunner
from tests.support.probe_plans import QUICK, endless_network, network, plan
network = network(Path(sys.argv[1]), "long", endless_network(2**40))
for event in LocalRunner().run(plan([network])):
    if isinstance(event, BlockStarted):
        print("measuring", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_kill_of_the_program_ends_runner_and_block(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", APP, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[4],
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as app:
        assert app.stdout is not None
        assert app.stdout.readline() == "measuring\n"
        descendants = psutil.Process(app.pid).children(recursive=True)
        assert descendants
        app.kill()
    psutil.wait_procs(descendants, timeout=30)
    assert not any(process.is_running() for process in descendants)
