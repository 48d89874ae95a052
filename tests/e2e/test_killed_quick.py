"""kill -9 in the ten seconds of this machine: real processes, a real measurement afterwards."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from predictor.services.devices.this_machine import describe_this_machine
from predictor.services.probing.other_load import OtherLoad, OtherPrograms
from predictor.services.probing.plan import probe_target
from predictor.services.probing.quick import QuickProbing, probe_quickly
from predictor.services.signatures.checks import ProbingChecks
from predictor.services.signatures.quick import has_signature
from predictor.services.signatures.user_signatures import stored_signatures
from tests.e2e.conftest import ROOT
from tests.support.quick_probing import store_rates

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

LIMIT_S = 120.0
# Other tests are at work beside this one: the machine is taken for idle.
PROBE = """
import sys
from pathlib import Path
from predictor.services.probing.other_load import OtherLoad, OtherPrograms
from predictor.services.probing.quick import probe_quickly

OtherPrograms.since = lambda self: OtherLoad(0.0, 2)
probe_quickly(Path(sys.argv[1]))
"""


def is_block(process: psutil.Process) -> bool:
    try:
        return process.cmdline()[-1:] == ["block"]
    except psutil.Error:
        return False


def test_a_kill_leaves_the_store_sound_and_the_next_one_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "folder" / "store.sqlite"
    store_rates(store)
    with subprocess.Popen([sys.executable, "-c", PROBE, str(store)], cwd=ROOT) as running:
        program, end_s = psutil.Process(running.pid), time.monotonic() + LIMIT_S
        while not any(map(is_block, children := program.children(recursive=True))):
            assert running.poll() is None
            assert time.monotonic() < end_s, "nothing is measured"
        running.send_signal(signal.SIGKILL)
    assert not psutil.wait_procs(children, timeout=LIMIT_S)[1]
    with closing(sqlite3.connect(store)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        for table in ("measurements", "signatures", "probe_sessions"):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)  # noqa: S608
    assert not has_signature(store, describe_this_machine())

    monkeypatch.setattr(OtherPrograms, "since", lambda _: OtherLoad(0.0, 2))
    monkeypatch.setattr(ProbingChecks, "reason", "")
    probing = probe_quickly(store)
    assert isinstance(probing, QuickProbing)
    targets = {probe_target(probing.device, threads).id for threads in (0, 1)}
    measured = stored_signatures(store).measured
    assert measured.keys() == targets
    for values in measured.values():
        assert len(values.graphs) >= 3
        assert len(values.operators) == len(values.graphs), "the operators were timed"
        assert (values.latency_ms > 0).all()
    assert not list(store.parent.glob("*.quick")), "the networks of the killed program are removed"
