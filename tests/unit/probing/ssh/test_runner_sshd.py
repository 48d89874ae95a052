from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import asyncssh
import pytest
from onnx import TensorProto, helper

from predictor.core.errors import CancelledError, HostError, InputError
from predictor.core.progress import CancelToken, Progress
from predictor.probing.measuring.interface import (
    Command,
    MeasuringPlan,
    NetworkDone,
    NetworkFile,
    ProbeEvent,
    RunFinished,
    RunStarted,
    Samples,
)
from predictor.probing.runner.settings import Settings
from predictor.probing.ssh.host_keys import KnownHosts
from predictor.probing.ssh.runner import SshRunner
from predictor.probing.ssh.target import SshTarget
from tests.support.ssh_scripts import (
    FINISHED,
    PLAN_ID,
    STARTED,
    Script,
    measured,
    plan,
)
from tests.support.ssh_server import PROGRAM, Server
from tests.unit.probing.ssh.conftest import target_of

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs sshd (openssh-server)")

QUICK = Settings(
    warm_up_runs=4,
    warm_up_s=0.0,
    least_runs=3,
    least_s=0.0,
    interval=1.0,
    agreement=100.0,
)


def network(folder: Path, name: str) -> NetworkFile:
    shape = [1, 4, 8, 8]
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    )
    opset = [helper.make_opsetid("", 17)]
    data = helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()
    path = folder / f"{name}.onnx"
    path.write_bytes(data)
    return NetworkFile(name=name, path=path, sha256=sha256(data).hexdigest(), fingerprint="f" * 64)


def wait_until_gone(folder: Path) -> None:
    """Return when the board has cleaned up; it goes on when this end has left."""
    turn = threading.Event()
    while folder.exists():
        turn.wait(0.01)


def names(events: list[ProbeEvent]) -> list[str]:
    return [event.name for event in events if isinstance(event, NetworkDone)]


def test_real_networks_are_measured_and_the_board_is_clean_again(
    target: SshTarget, known: KnownHosts, tmp_path: Path, board: Path
) -> None:
    told: list[Progress] = []
    one = MeasuringPlan(PLAN_ID, (network(tmp_path, "one"),), settings=QUICK)
    runner = SshRunner(target=target, known_hosts=known, progress=told.append)

    events = list(runner.run(one))

    assert isinstance(events[0], RunStarted)
    assert events[0].host["onnxruntime"]
    (done,) = [event for event in events if isinstance(event, NetworkDone)]
    assert done.name == "one"
    assert done.document["median_ms"] > 0
    assert len(done.document["blocks"]) == 2
    assert any(isinstance(event, Samples) for event in events)
    assert events[-1] == RunFinished()
    assert not board.exists()
    assert told[-1].message == "copied"
    assert {p.message for p in told} >= {"copying networks/one.onnx", "copying ctm_runner.pyz"}


def test_a_connection_that_is_cut_comes_back_and_loses_nothing(
    server: Server, target: SshTarget, known: KnownHosts, tmp_path: Path, board: Path
) -> None:
    networks = tuple(network(tmp_path, name) for name in ("one", "two"))
    events: list[ProbeEvent] = []

    for event in SshRunner(target=target, known_hosts=known).run(
        MeasuringPlan(PLAN_ID, networks, settings=QUICK)
    ):
        events.append(event)
        if isinstance(event, NetworkDone) and event.name == "one":
            server.cut()

    assert names(events) == ["one", "two"]
    assert sum(isinstance(event, RunStarted) for event in events) == 1
    assert events[-1] == RunFinished()
    assert not board.exists()


def test_the_board_measures_on_while_it_is_out_of_reach(
    target: SshTarget, known: KnownHosts, tmp_path: Path, server: Server, board: Path
) -> None:
    gate = tmp_path / "gate"
    script = Script(STARTED, measured("a"), {"wait": str(gate)}, measured("b"), FINISHED)
    run = SshRunner(target=target, known_hosts=known, files=script).run(plan())
    events = [next(run), next(run)]
    server.stop()
    gate.touch()
    lines = board / PLAN_ID / "lines.1"
    while b'"finished"' not in lines.read_bytes():
        pass
    server.start()
    events += run

    assert names(events) == ["a", "b"]
    assert not board.exists()


def test_a_program_started_anew_finds_what_the_board_measured(
    target: SshTarget, known: KnownHosts, tmp_path: Path, server: Server
) -> None:
    gate = tmp_path / "gate"
    script = Script(STARTED, measured("a"), {"wait": str(gate)}, measured("b"), FINISHED)
    first = SshRunner(target=target, known_hosts=known, patience_s=0.0, files=script).run(plan())
    assert isinstance(next(first), RunStarted)
    assert names([next(first)]) == ["a"]
    server.stop()
    with pytest.raises(HostError, match="did not come back within 0 s"):
        next(first)
    server.start()
    gate.touch()

    assert names(list(SshRunner(target=target, known_hosts=known, files=script).run(plan()))) == [
        "a",
        "b",
    ]


def test_a_plan_of_what_is_left_finds_the_run_of_the_whole(
    target: SshTarget, known: KnownHosts, tmp_path: Path, server: Server
) -> None:
    gate = tmp_path / "gate"
    twice = {"wait": str(gate)}
    script = Script(STARTED, measured("a"), twice, measured("b"), measured("c"), FINISHED)
    first = SshRunner(target=target, known_hosts=known, patience_s=0.0, files=script).run(
        plan("a", "b", "c")
    )
    assert isinstance(next(first), RunStarted)
    assert names([next(first)]) == ["a"]
    server.stop()
    with pytest.raises(HostError):
        next(first)
    lines = Path(target.folder) / PLAN_ID / "lines.1"
    gate.touch()
    while b'"finished"' not in lines.read_bytes():
        pass
    gate.unlink()  # a second run of the script would wait for ever
    server.start()

    events = list(SshRunner(target=target, known_hosts=known, files=script).run(plan("b", "c")))

    assert names(events) == ["b", "c"]


def test_only_what_is_missing_is_copied_again(
    target: SshTarget, known: KnownHosts, tmp_path: Path, server: Server
) -> None:
    gate, told = tmp_path / "gate", []
    script = Script(STARTED, {"wait": str(gate)}, FINISHED, extra={"networks/a.onnx": b"a" * 9})
    first = SshRunner(target=target, known_hosts=known, patience_s=0.0, files=script).run(plan())
    next(first)
    server.stop()
    with pytest.raises(HostError):
        next(first)
    server.start()
    gate.touch()

    list(
        SshRunner(target=target, known_hosts=known, progress=told.append, files=script).run(plan())
    )

    assert [p.message for p in told] == ["copied"]


def test_another_plan_of_the_same_id_starts_anew(
    target: SshTarget, known: KnownHosts, tmp_path: Path, server: Server
) -> None:
    never = {"wait": str(tmp_path / "never")}
    first = SshRunner(
        target=target,
        known_hosts=known,
        patience_s=0.0,
        files=Script(STARTED, measured("a"), never),
    )
    run = first.run(plan())
    next(run)
    server.stop()
    with pytest.raises(HostError):
        list(run)
    server.start()

    other = SshRunner(
        target=target, known_hosts=known, files=Script(STARTED, measured("b"), FINISHED)
    )
    assert names(list(other.run(plan()))) == ["b"]


def test_a_runner_that_the_system_killed_is_started_again(
    target: SshTarget, known: KnownHosts, tmp_path: Path
) -> None:
    crash = {"once": str(tmp_path / "crashed")}
    script = Script(STARTED, measured("a"), crash, measured("b"), FINISHED)

    events = list(SshRunner(target=target, known_hosts=known, files=script).run(plan()))

    assert names(events) == ["a", "b"]
    assert sum(isinstance(event, RunStarted) for event in events) == 1


def test_commands_reach_the_runner(target: SshTarget, known: KnownHosts) -> None:
    script = Script(STARTED, {"command": "pause"}, {"command": "skip"}, measured("a"), FINISHED)
    runner = SshRunner(target=target, known_hosts=known, files=script)
    run = runner.run(plan())
    events = [next(run)]
    runner.send(Command.PAUSE)
    runner.send(Command.SKIP)
    events += run

    assert names(events) == ["a"]


def test_a_command_without_a_run_has_no_effect(target: SshTarget, known: KnownHosts) -> None:
    SshRunner(target=target, known_hosts=known).send(Command.SKIP)


def test_lines_that_are_not_the_runners_are_passed_over(
    target: SshTarget, known: KnownHosts
) -> None:
    script = Script(
        STARTED, {"print": "EP Error"}, {"print": "{}"}, {"print": "[1"}, measured("a"), FINISHED
    )

    assert names(list(SshRunner(target=target, known_hosts=known, files=script).run(plan()))) == [
        "a"
    ]


def test_cancel_ends_the_run_and_cleans_the_board(
    target: SshTarget, known: KnownHosts, tmp_path: Path, board: Path
) -> None:
    cancel = CancelToken()
    script = Script(STARTED, {"wait": str(tmp_path / "never")})
    run = SshRunner(target=target, known_hosts=known, files=script).run(plan(), cancel)
    next(run)
    cancel.cancel()

    with pytest.raises(CancelledError):
        next(run)
    wait_until_gone(board)


def test_closing_the_iterator_ends_the_run(
    target: SshTarget, known: KnownHosts, tmp_path: Path, board: Path
) -> None:
    never = {"wait": str(tmp_path / "never")}
    run = SshRunner(target=target, known_hosts=known, files=Script(STARTED, never)).run(plan())
    assert isinstance(run, Iterator)
    next(run)
    run.close()  # type: ignore[attr-defined]

    wait_until_gone(board)


@pytest.mark.parametrize(
    ("code", "kind"), [(2, InputError), (3, HostError)], ids=["plan", "machine"]
)
def test_what_the_runner_refuses_is_said(
    target: SshTarget, known: KnownHosts, board: Path, code: int, kind: type[Exception]
) -> None:
    refusal = {
        "id": 0,
        "kind": "error",
        "payload": {"event": "run", "code": code, "reason": "the plan is wet"},
    }
    with pytest.raises(kind, match="the plan is wet"):
        list(
            SshRunner(target=target, known_hosts=known, files=Script(refusal, {"exit": code})).run(
                plan()
            )
        )
    assert not board.exists()


def test_a_runner_that_fails_leaves_its_last_words(
    target: SshTarget, known: KnownHosts, board: Path
) -> None:
    with pytest.raises(HostError, match="ended with exit code 7: it hurts"):
        list(
            SshRunner(target=target, known_hosts=known, files=Script(STARTED, {"exit": 7})).run(
                plan()
            )
        )
    assert not board.exists()


@pytest.mark.parametrize("shell_is_faster", [False, True])
def test_no_python_on_the_board(
    target: SshTarget, known: KnownHosts, monkeypatch: pytest.MonkeyPatch, shell_is_faster: bool
) -> None:
    create_process = asyncssh.SSHClientConnection.create_process

    async def ended(*arguments: object, **options: object) -> object:
        process = await create_process(*arguments, **options)
        await process.wait_closed()
        return process

    if shell_is_faster:  # it has ended before we write to it
        monkeypatch.setattr(asyncssh.SSHClientConnection, "create_process", ended)
    lost = replace(target, python="/nowhere/python3")

    with pytest.raises(HostError, match="/nowhere/python3 does not start there") as caught:
        list(SshRunner(target=lost, known_hosts=known, files=Script()).run(plan()))
    assert "install Python 3 on the board" in str(caught.value)


def test_an_old_python_on_the_board(target: SshTarget, known: KnownHosts, tmp_path: Path) -> None:
    pretend = "import sys; sys.version_info = (3, 6, 15); sys.version = '3.6.15 (old)'; "
    program = tmp_path / "old"
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "{pretend}exec(sys.argv[1])" "$3"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    old = replace(target, python=str(program))

    with pytest.raises(HostError, match=r"its Python is 3\.6\.15, the runner needs 3\.8 or later"):
        list(SshRunner(target=old, known_hosts=known, files=Script()).run(plan()))


def test_no_onnxruntime_on_the_board(
    target: SshTarget, known: KnownHosts, tmp_path: Path, board: Path
) -> None:
    bare = tmp_path / "bare"
    command = [sys.executable, "-m", "venv", "--without-pip", str(bare)]
    subprocess.run(command, check=True)
    poor = replace(target, python=str(bare / "bin" / "python"))

    with pytest.raises(HostError, match="numpy and onnxruntime are not installed") as caught:
        list(SshRunner(target=poor, known_hosts=known, files=Script()).run(plan()))
    assert "-m pip install numpy onnxruntime" in str(caught.value)
    assert not board.exists()


def test_a_full_disk(tmp_path: Path, board: Path) -> None:
    folder = tmp_path / "sshd"
    folder.mkdir()
    small = Server(folder, limit_bytes=100_000)
    known = KnownHosts(tmp_path / "known", read_only=())
    (tmp_path / "known").write_text(small.known_line(), encoding="utf-8")
    script = Script(STARTED, FINISHED, extra={"networks/large.onnx": bytes(300_000)})
    try:
        with pytest.raises(HostError, match="no space for networks/large"):
            list(
                SshRunner(target=target_of(small, board), known_hosts=known, files=script).run(
                    plan()
                )
            )
    finally:
        small.stop()
    assert not board.exists()


def test_a_folder_that_cannot_be_made(target: SshTarget, known: KnownHosts, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    blocked = replace(target, folder=str(tmp_path / "file" / "probe"))

    with pytest.raises(HostError, match="check the folder on the board"):
        list(SshRunner(target=blocked, known_hosts=known, files=Script()).run(plan()))


def test_a_network_file_that_is_gone_or_none(
    target: SshTarget, known: KnownHosts, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe.onnx")
    for name, said in (("gone.onnx", "there is no such file"), ("pipe.onnx", "it is a pipe")):
        lost = NetworkFile(name="x", path=tmp_path / name, sha256="0" * 64, fingerprint="f" * 64)

        with pytest.raises(InputError, match=said):
            list(SshRunner(target=target, known_hosts=known).run(MeasuringPlan(PLAN_ID, (lost,))))
