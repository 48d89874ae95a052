"""kill -9 of a probing in its middle: real processes, real measurements, the session goes on."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from predictor.core.stored import ProbeState, SessionState
from predictor.probing.measuring.interface import NetworkDone
from predictor.probing.measuring.local import LocalRunner
from predictor.services.probing.measure import measure
from predictor.services.probing.open import open_probing
from tests.e2e.conftest import ROOT, Start
from tests.support.probe_sessions import small_plan

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

LIMIT_S = 60.0
# The last of two would be measured in half a second, and the window tells of the first up to 250 ms
# late: too little for a test that waits for a processor itself.
NETWORKS = 3
FIRST_DONE = f"1 of {NETWORKS}"

WINDOW = """
import sys
from pathlib import Path
from ctm_gui.application import Application
from ctm_gui.probing.choice import TargetChoice, Way

store, session = Path(sys.argv[1]), sys.argv[2]
app = Application(store, store.with_suffix(".ini"))
app.start()
run = app.open_wizard().presenter.run

def tell():
    rows = run.progress.rows if run.progress else []
    done = sum(row.median_ms is not None for row in rows)
    print(f"{done} of {len(rows)}", file=sys.stderr, flush=True)

run.changed.connect(tell)
run.go_on(session, TargetChoice(way=Way.THIS))
app.qt.exec()
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store" / "store.db"


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


@pytest.fixture
def session_id(store: Path) -> str:
    with open_probing(store) as probing:
        return probing.sessions.start(small_plan(NETWORKS)).id


@pytest.fixture
def go_on(
    start_ctm: Start, store: Path, temporary: Path, session_id: str
) -> Callable[[], subprocess.Popen[str]]:
    """Start ``ctm probe run`` for what the session is still waiting for."""
    command = ("probe", "run", "--store", store, "--session", session_id)
    return lambda: start_ctm(*command, TMPDIR=str(temporary))


@pytest.fixture
def window(store: Path, temporary: Path, session_id: str) -> Iterator[subprocess.Popen[str]]:
    """A window whose wizard measures the session."""
    with subprocess.Popen(
        [sys.executable, "-c", WINDOW, str(store), session_id],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "QT_QPA_PLATFORM": "offscreen",
            "TMPDIR": str(temporary),
        },
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


def until_said(process: subprocess.Popen[str], beginning: str) -> None:
    """Read what a process tells until a line begins so."""
    assert process.stderr is not None
    heard = []
    for line in process.stderr:
        heard.append(line)
        if line.startswith(beginning):
            return
    pytest.fail(f"it ended without {beginning!r}: {''.join(heard)}")


def children_at_work(process: subprocess.Popen[str], least: int) -> list[psutil.Process]:
    """Return the descendants of a process once there are so many: a runner and its block."""
    own = psutil.Process(process.pid)
    while len(found := own.children(recursive=True)) < least:
        assert process.poll() is None
    return found


def ended(processes: list[psutil.Process]) -> bool:
    """Whether processes end by themselves."""
    return not psutil.wait_procs(processes, timeout=LIMIT_S)[1]


def committed(store: Path) -> dict[str, tuple[str, bytes]]:
    """Return what was measured by network, as the store's tables have it; nothing is half there."""
    with closing(sqlite3.connect(store)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        rows = database.execute(
            "SELECT probes.name, probes.state, measurements.id, measurements.samples_ns"
            " FROM measurements LEFT JOIN probes ON probes.measurement_id = measurements.id"
        ).fetchall()
    assert all(state == ProbeState.MEASURED and samples for _, state, _, samples in rows)
    found = {name: (identity, samples) for name, _, identity, samples in rows}
    assert len(found) == len(rows), "a network was measured twice"
    return found


def rest_measured(store: Path) -> int:
    """Go on with the only session to its end; return how many networks were measured."""
    with open_probing(store) as probing:
        (session,) = probing.sessions.all()
        assert session.state is SessionState.RUNNING
        events = list(measure(probing.sessions, session.id, LocalRunner()))
        assert probing.sessions.get(session.id).state is SessionState.FINISHED
    return sum(isinstance(event, NetworkDone) for event in events)


def test_a_probing_that_is_killed_again_and_again_measures_each_network_once(
    go_on: Callable[[], subprocess.Popen[str]], store: Path, temporary: Path, session_id: str
) -> None:
    known: dict[str, tuple[str, bytes]] = {}
    for said, measured in (("Session ", 0), (FIRST_DONE, 1)):
        running = go_on()
        until_said(running, said)
        children = children_at_work(running, 2 if measured else 1)
        running.send_signal(signal.SIGKILL)
        running.wait()
        assert ended(children)
        now = committed(store)
        assert known.items() <= now.items()
        assert len(now) >= measured
        known = now
        assert len(known) < NETWORKS

    running = go_on()
    assert running.communicate(timeout=LIMIT_S)
    assert running.returncode == 0
    done = committed(store)
    assert known.items() <= done.items()
    with open_probing(store) as probing:
        session = probing.sessions.get(session_id)
        assert session.state is SessionState.FINISHED
        assert {probe.name for probe in session.probes} == set(done)
        (stored,) = probing.signatures.all()
        assert set(stored.signature.measurement_ids) == {identity for identity, _ in done.values()}
    assert {path.name for path in store.parent.iterdir()} == {store.name}
    assert list(temporary.iterdir()) == []


def test_a_runner_that_is_killed_ends_the_run_in_one_sentence(
    go_on: Callable[[], subprocess.Popen[str]], store: Path
) -> None:
    running = go_on()
    until_said(running, FIRST_DONE)
    children = children_at_work(running, 2)
    children[0].send_signal(signal.SIGKILL)
    _, told = running.communicate(timeout=LIMIT_S)
    assert running.returncode == 3
    assert "the runner of this machine: it ended with signal 9" in told.splitlines()[-1]
    assert ended(children)
    first = committed(store)
    assert rest_measured(store) == NETWORKS - len(first)
    assert first.items() <= committed(store).items()


def test_a_window_that_is_killed_leaves_no_process_and_its_session_goes_on(
    window: subprocess.Popen[str],
    store: Path,
    temporary: Path,
) -> None:
    until_said(window, FIRST_DONE)
    children = children_at_work(window, 2)
    window.send_signal(signal.SIGKILL)
    window.wait()
    assert ended(children)
    first = committed(store)
    assert first
    assert list(temporary.iterdir()) == []
    assert rest_measured(store) == NETWORKS - len(first)
    assert first.items() <= committed(store).items()
