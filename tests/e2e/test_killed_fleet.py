"""kill -9 of ``ctm probe fleet`` in its middle: real servers, real measurements; it goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from predictor.core.stored import ProbeState
from predictor.services.probing.open import open_probing
from tests.e2e.conftest import ROOT
from tests.support.ssh_server import PROGRAM, Server

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs sshd (openssh-server)")

NETWORKS = 2
# The command with networks that take microseconds.
COMMAND = f"""
import sys
from predictor.cli.program import main
from predictor.services.probing import fleet
from tests.support.probe_sessions import small_plan

fleet.plan_probes = lambda request: small_plan({NETWORKS})
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    folder = tmp_path / "sshd"
    folder.mkdir()
    running = Server(folder)
    yield running
    running.stop()


def test_a_killed_run_goes_on_and_measures_nothing_twice(server: Server, tmp_path: Path) -> None:
    store, inventory = tmp_path / "store.sqlite", tmp_path / "fleet.toml"
    defaults = {
        "user": server.user,
        "key": str(server.client_key),
        "python": sys.executable,
        "device": "rpi5",
    }
    address = {
        "address": "127.0.0.1",
        "port": server.port,
        "host_key": server.host_key.get_fingerprint(),
    }
    lines = ["[defaults]", *(f"{key} = {json.dumps(value)}" for key, value in defaults.items())]
    for name in ("a", "b"):
        lines += ["[[host]]", f'name = "{name}"']
        lines += [f"{key} = {json.dumps(value)}" for key, value in address.items()]
    inventory.write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-c", COMMAND, "--store", str(store), "probe", "fleet"]
    command += [str(inventory), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(server.folder)}

    killed = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert killed.stderr is not None
    for line in killed.stderr:
        if f"1 of {NETWORKS}" in line:
            break
    killed.kill()
    killed.communicate()
    with open_probing(store) as probing:
        (before,) = probing.sessions.all()  # the boards are one machine: they take turns
    measured = [p.measurement_id for p in before.probes if p.state is ProbeState.MEASURED]
    assert measured

    again = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=120
    )

    assert again.returncode == 0, again.stderr
    hosts = json.loads(again.stdout)["hosts"]
    assert [(host["state"], host["measured"]) for host in hosts] == [("finished", NETWORKS)] * 2
    assert before.id in {host["session"] for host in hosts}
    with open_probing(store) as probing:
        sessions = probing.sessions.all()
        kept = [each.measurement_id for each in sessions[0].probes]
        assert len(sessions) == 2
        assert kept[: len(measured)] == measured
        assert sum(len(probing.sessions.measurements(each.id)) for each in sessions) == 4
