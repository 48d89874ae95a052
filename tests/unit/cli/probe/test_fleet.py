"""``ctm probe fleet`` over real OpenSSH servers on the loopback interface."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from predictor.cli.program import main
from predictor.core.errors import CancelledError
from predictor.core.progress import CancelToken
from predictor.probing.measuring.interface import (
    MeasuringPlan,
    NetworkDone,
    NetworkFile,
    ProbeEvent,
    ProbeRunner,
)
from predictor.probing.runner.medians import summary
from predictor.probing.ssh.runner import SshRunner
from predictor.services.probing import fleet
from predictor.services.probing.open import open_probing
from predictor.services.probing.runners import board_runner
from tests.support.probe_sessions import block, small_plan
from tests.support.ssh_scripts import FINISHED, STARTED, Script, message
from tests.support.ssh_server import PROGRAM, Server, free_port

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs sshd (openssh-server)")

HOSTS = 10
JOBS = 3


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    running = [Server(tmp_path_factory.mktemp(f"sshd{n}")) for n in range(HOSTS - 1)]
    yield running
    for server in running:
        server.stop()


def entry(server: Server, name: str, **more: object) -> str:
    values = {
        "name": name,
        "address": "127.0.0.1",
        "port": server.port,
        "key": str(server.client_key),
        "host_key": server.host_key.get_fingerprint(),
        **more,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(["[[host]]", *lines, ""])


def inventory(path: Path, *entries: str, user: str) -> Path:
    defaults = {"user": user, "device": "rpi5", "python": sys.executable}
    lines = [f"{key} = {json.dumps(value)}" for key, value in defaults.items()]
    path.write_text("\n".join(["[defaults]", *lines, *entries]), encoding="utf-8")
    return path


def scripted(plan: MeasuringPlan, *, waits: bool) -> Iterator[tuple[str, bytes]]:
    """The files of a runner that tells of each network that it takes a microsecond.

    Args:
        plan: with the networks.
        waits: whether nothing more comes after the first.
    """
    steps = [STARTED]
    for place, network in enumerate(plan.networks, 1):
        blocks = [block(1000, 1000, 1000)] * 2
        identity = {"fingerprint": network.fingerprint, "sha256": network.sha256}
        document = {**identity, **summary(blocks, plan.settings), "blocks": blocks}
        steps.append(message(place, "result", event="measured", name=network.name, **document))
        if waits:
            steps.append({"wait": "/nowhere"})
    return Script(*steps, FINISHED)(plan)


class Boards:
    """Runners over real SSH whose boards measure by a script; counts those at work.

    Attributes:
        dying: server that is killed after its first network; None for none.
        most: most boards at work at once.
    """

    def __init__(self) -> None:
        self.dying: Server | None = None
        self.most = self._now = 0
        self._lock = threading.Lock()

    def __call__(self, address: str, *arguments: Any, **named: Any) -> ProbeRunner:
        runner = board_runner(address, *arguments, **named)
        assert isinstance(runner, SshRunner)
        dying = self.dying
        dies = dying is not None and dying.port == runner.target.port
        runner.files, runner.patience_s = partial(scripted, waits=dies), 0.3
        return _Watched(self, runner, dying if dies else None)

    def add(self, change: int) -> None:
        with self._lock:
            self._now += change
            self.most = max(self.most, self._now)


class _Watched:
    def __init__(self, boards: Boards, runner: SshRunner, dying: Server | None) -> None:
        self._boards, self._runner, self.send = boards, runner, runner.send
        self._dying = dying

    def run(self, plan: MeasuringPlan, cancel: CancelToken | None = None) -> Iterator[ProbeEvent]:
        self._boards.add(1)
        try:
            for event in self._runner.run(plan, cancel):
                yield event
                if self._dying is not None and isinstance(event, NetworkDone):
                    self._dying.stop()
        finally:
            self._boards.add(-1)


@pytest.fixture
def boards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Boards:
    boards = Boards()

    def files(networks: Any, folder: Path, _: object) -> tuple[NetworkFile, ...]:
        folder.mkdir(parents=True, exist_ok=True)
        made = []
        for network in networks:
            (folder / f"{network.name}.onnx").write_bytes(b"a network")
            path = folder / f"{network.name}.onnx"
            made.append(
                NetworkFile(
                    name=network.name,
                    path=path,
                    sha256="0" * 64,
                    fingerprint=network.fingerprint,
                    expected_ms=1.0,
                )
            )
        return tuple(made)

    # The search for networks and their files are those of one board, tested there.
    monkeypatch.setattr("predictor.services.probing.build.build_files", files)
    monkeypatch.setattr(fleet, "plan_probes", lambda _: small_plan(2))
    monkeypatch.setattr(fleet, "board_runner", boards)
    monkeypatch.setenv("HOME", str(tmp_path))  # no host key of this user's is read
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return boards


def run(
    capsys: pytest.CaptureFixture[str], *arguments: str | Path
) -> tuple[int, dict[str, dict[str, Any]], str]:
    code = main(["probe", "fleet", *map(str, arguments), "--json", "--jobs", str(JOBS)])
    out, err = capsys.readouterr()
    return code, {host["name"]: host for host in json.loads(out)["hosts"]}, err


def test_ten_hosts_one_out_of_reach_and_one_killed_midway(
    servers: list[Server],
    boards: Boards,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    own_store: Path,
) -> None:
    entries = [entry(server, f"board{n}") for n, server in enumerate(servers)]
    lost = entry(servers[0], "lost", port=free_port())
    file = inventory(tmp_path / "fleet.toml", *entries, lost, user=servers[0].user)
    boards.dying = servers[4]

    code, hosts, err = run(capsys, file)

    assert code == 3
    assert boards.most == JOBS
    assert len(hosts) == HOSTS
    assert {name for name, host in hosts.items() if host["problem"]} == {"board4", "lost"}
    assert "nothing listens on port" in hosts["lost"]["problem"]["reason"]
    assert "did not come back within 0.3 s" in hosts["board4"]["problem"]["reason"]
    assert hosts["board4"]["measured"] == 1
    done = [host for host in hosts.values() if host["state"] == "finished"]
    assert [host["measured"] for host in done] == [2] * 8
    assert len({host["signature"] for host in done}) == 8
    assert "board3: " in err
    assert "(10 of 10 hosts)" in err
    assert own_store.with_name("known_hosts").read_text().count("127.0.0.1") == HOSTS - 1

    boards.dying = None
    servers[4].start()
    code, again, _ = run(capsys, file)

    assert code == 2
    assert {host["state"] for host in again.values()} == {"finished before", "finished", "failed"}
    assert again["board4"]["state"] == "finished"
    assert again["board4"]["session"] == hosts["board4"]["session"]
    assert again["board4"]["measured"] == 2
    assert again["board0"]["signature"] == hosts["board0"]["signature"]
    with open_probing(own_store) as probing:
        assert len(probing.signatures.all()) == HOSTS - 1


def test_hosts_that_cannot_be_are_rows_and_the_others_go_on(
    servers: list[Server], boards: Boards, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = inventory(
        tmp_path / "fleet.toml",
        entry(servers[0], "good"),
        entry(servers[1], "good"),
        entry(servers[1], "unknown", device="rpi77"),
        entry(servers[1], "mine", device="this"),
        entry(servers[1], "faster", runtime="tensorrt", precision="fp16"),
        user=servers[0].user,
    )
    code = main(["probe", "fleet", str(file), "--quiet"])
    out, err = capsys.readouterr()

    assert code == 2
    assert err == ""
    table = out.splitlines()
    assert "finished" in table[1]
    assert "2 of 2" in table[1]
    assert "the host of line 5 has this name too" in table[2]
    assert "rpi77: is no device of the catalogue" in table[3]
    assert "a board is not this machine" in table[4]
    assert "measured with onnxruntime in fp32 alone" in table[5]
    assert "1 of 5 hosts finished." in out


def test_boards_of_one_address_take_turns_and_share_what_is_said_of_a_target(
    servers: list[Server], boards: Boards, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    entries = [entry(servers[0], name, threads=1) for name in ("a", "b")]
    file = inventory(tmp_path / "fleet.toml", *entries, user=servers[0].user)

    assert main(["probe", "fleet", str(file)]) == 0
    assert boards.most == 1
    assert "2 hosts are rpi5, 1 thread: predictions use the signature" in capsys.readouterr().out


def test_an_interrupt_ends_every_board_and_is_gone_on_from(
    servers: list[Server],
    boards: Boards,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    file = inventory(tmp_path / "fleet.toml", entry(servers[0], "one"), user=servers[0].user)

    class Cancelled:
        def run(self, _: MeasuringPlan, cancel: CancelToken) -> Iterator[ProbeEvent]:
            while not cancel.cancelled:
                threading.Event().wait(0.01)
            raise CancelledError
            yield  # a generator, as runners are

    def interrupted(*_: object) -> Iterator[object]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fleet, "board_runner", lambda *_, **__: Cancelled())
        patch.setattr(fleet, "as_completed", interrupted)
        with pytest.raises(KeyboardInterrupt):
            main(["probe", "fleet", str(file)])
    assert "The same command goes on" in capsys.readouterr().err
    code, hosts, _ = run(capsys, file)
    assert (code, hosts["one"]["state"]) == (0, "finished")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[host]\n", "line 1: it is no TOML: "),
        ("", "line 1, host: the file has no table [[host]]"),
        ("[[host]]\naddress = 'a'\ndevise = 'rpi5'\n", "line 3, devise: no such key"),
        ("[[host]]\ndevice = 'rpi5'\n", "line 1, address: this host lacks it"),
        ("[[host]]\naddress = 'a'\n", "line 1, device: this host lacks it"),
        ("[[host]]\naddress = 'a b'\ndevice = 'x'\n", "line 2, address: a b is no address"),
        ("[defaults]\nport = 70000\n[[host]]\n", "line 2, port: it is not a whole number"),
        ("defaults = 3\n[[host]]\naddress = 'a'\n", "line 1, defaults: it is not a table"),
        ("[[host]]\naddress='a'\ndevice='x'\nruntime='fast'\n", "line 4, runtime: it is not a"),
        ("[hosts]\n", "line 1, hosts: no such key; tables are [[host]]"),
    ],
)
def test_a_wrong_inventory_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, own_store: Path, text: str, words: str
) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text(text, encoding="utf-8")
    assert main(["probe", "fleet", str(file)]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
