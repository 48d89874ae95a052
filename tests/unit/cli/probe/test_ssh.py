"""``ctm probe run --ssh`` against a real OpenSSH server: a host key is accepted by name alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from predictor.cli.program import main
from predictor.services.probing import plan as probing_plan
from tests.support.probe_sessions import small_plan
from tests.support.ssh_server import PROGRAM, Server

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs sshd (openssh-server)")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    folder = tmp_path / "sshd"
    folder.mkdir()
    running = Server(folder)
    yield running
    running.stop()


@pytest.mark.slow
def test_a_board_is_measured_once_its_key_is_named(
    server: Server,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    own_store: Path,
) -> None:
    def small(wish: probing_plan.PlanRequest) -> probing_plan.ProbePlan:
        return small_plan(wish.probes)

    monkeypatch.setattr("predictor.cli.probe.run.plan_probes", small)
    monkeypatch.setenv("HOME", str(server.folder))  # no host key of this user's is read
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    address = f"{server.user}@127.0.0.1:{server.port}"
    command = ["probe", "run", "--device", "rpi5", "--probes", "1", "--json", "--ssh", address]
    command += ["--ssh-key", str(server.client_key), "--ssh-python", sys.executable]
    key = server.host_key.get_fingerprint()

    assert main(command) == 2
    refused = capsys.readouterr()
    assert f"its host key {key} is not known and was not accepted" in refused.err
    assert main([*command, "--host-key", "SHA256:another"]) == 2
    capsys.readouterr()

    assert main([*command, "--host-key", key]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["state"], found["probes"][0]["state"]) == ("finished", "measured")
    assert own_store.with_name("known_hosts").read_text().count("127.0.0.1") == 1
    assert main(command) == 0  # the key is known now
