"""A board that answers wrongly, or not at all: one sentence that names it, and soon."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from predictor.core.errors import CancelledError, CtmError, HostError, InputError
from predictor.core.progress import CancelToken
from predictor.probing.ssh import board_run, replies
from predictor.probing.ssh.target import SshTarget
from tests.support.hostile_board import HELLO, Board, Mode, Process, line, silent
from tests.support.ssh_scripts import plan

SOON_S = 5.0
LOOKS = 4
DEEP = 100_000 * b"["


def greets(*replies: bytes) -> Mode:
    """A board whose first words are these, and then none."""

    async def mode(process: Process) -> None:
        for reply in replies:
            process.stdout.write(reply)
        await silent(process)

    return mode


def floods(data: bytes) -> Mode:
    async def mode(process: Process) -> None:
        while True:
            process.stdout.write(data)
            await process.stdout.drain()

    return mode


async def dies(process: Process) -> None:
    process.stderr.write(b"\x1b[2J\xff boom\n" + 100_000 * b"z" + b"\n")
    process.exit(1)


async def closes(process: Process) -> None:
    process.stdout.write(line(HELLO))
    await process.stdin.readline()
    process.close()


def answers(*replies: bytes, to: str = "open", **fields: Any) -> Mode:
    """A board that gives these replies to one request, right answers to those before, then none.

    Args:
        replies: as they are sent.
        to: name of the request.
        fields: of one more reply, which has the request's id.
    """

    async def mode(process: Process) -> None:
        process.stdout.write(line(HELLO))
        await process.stdin.readexactly(int(await process.stdin.readline()))
        while request := await process.stdin.readline():
            asked = json.loads(request)
            if asked["do"] == to:
                own = [line({"id": asked["id"], **fields})] if fields else []
                process.stdout.write(b"".join([*own, *replies]))
                break
            process.stdout.write(line({"id": asked["id"], "ok": []}))
        await silent(process)

    return mode


def runs(*messages: object) -> Mode:
    """A board whose runner tells this."""
    replies = [line(message) for message in messages]
    return answers(*replies, to="start", ok={"generation": 1})


def told(text: object, offset: object = 1, generation: object = 1) -> dict[str, object]:
    return {"generation": generation, "offset": offset, "line": text}


WRONG = "not the agent that was started"
SILENT = "it has been silent for"
MODES: dict[str, tuple[Mode, str]] = {
    "says nothing": (silent, "its Python does not answer within"),
    "floods a line": (floods(65_536 * b"A"), "longer than"),
    "floods lines": (floods(64 * (1000 * b"A" + b"\n")), "does not answer within"),
    "dies": (dies, "does not start there"),
    "agent deep": (greets(b'{"agent":' + DEEP + b"\n"), WRONG),
    "agent text": (greets(line({"agent": "x"})), WRONG),
    "agent null": (greets(line({"agent": None})), WRONG),
    "agent bare": (greets(line({"agent": {}})), WRONG),
    "missing count": (greets(line({"agent": {"missing": 5}})), WRONG),
    "missing command": (greets(line({"agent": {"missing": ["$(reboot)"]}})), WRONG),
    "missing list": (greets(line({"agent": {"missing": [["numpy"]]}})), WRONG),
    "half a character": (greets(line({"agent": {"missing": [], "program": "\ud800"}})), WRONG),
    "old control": (greets(line({"old": "\x1b[2J\u202e" + 100_000 * "x"})), "its Python is"),
    "old null": (greets(line({"old": None})), WRONG),
    "not installed": (
        greets(line({"agent": {"missing": ["numpy"], "program": 9999 * "\x1b[31m"}})),
        "numpy is not installed",
    ),
    "closes": (closes, "it closed the connection"),
    "open never": (answers(), SILENT),
    "open text": (answers(ok="abc"), WRONG),
    "open foreign": (answers(ok=["../../etc/passwd"]), WRONG),
    "open tables": (answers(ok=[{}]), WRONG),
    "open empty": (answers(line({"id": 1})), WRONG),
    "id list": (answers(line({"id": [1]})), WRONG),
    "id of another": (answers(line({"id": 77, "ok": []})), SILENT),
    "deep later": (answers(b'{"id":' + DEEP + b"\n"), WRONG),
    "array": (answers(DEEP + b"\n"), SILENT),
    "refused control": (answers(error="full", words="\x1b[2J" + 50_000 * "y"), "no space for"),
    "refused null": (answers(error=None), WRONG),
    "refused without words": (answers(error="file"), WRONG),
    "start null": (answers(to="start", ok=None), WRONG),
    "silent once started": (runs(), SILENT),
    "silent after a line": (runs(told("x")), SILENT),
    "generation text": (answers(to="start", ok={"generation": "x"}), WRONG),
    "line null": (runs(told(None)), WRONG),
    "line half a character": (runs(told("\ud800")), WRONG),
    "offset text": (runs(told("x", offset="1")), WRONG),
    "offset huge": (runs(told("x", offset=10**30)), WRONG),
    "generation null": (runs(told("x", generation=None)), WRONG),
    "exit text": (runs({"exit": "\x1b[2J"}), WRONG),
    "exit without words": (runs({"exit": 0}), WRONG),
    "lines of no runner": (
        runs(
            told("\x1b[2J"),
            told("{" + 50_000 * "["),
            told('{"id":0,"kind":"progress","payload":{"event":["drift"]}}'),
            told('{"id":0,"kind":"progress","payload":{"event":"run","host":{"x":NaN}}}'),
            told(
                '{"id":0,"kind":"progress","payload":'
                '{"event":"drift","medians_ms":[1],"drift":1' + 400 * "0" + "}}"
            ),
            {"exit": 7, "words": "\x1b[2J" + 50_000 * "z"},
        ),
        "its runner ended with exit code 7",
    ),
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    running = Board(tmp_path_factory.mktemp("board"))
    yield running
    running.stop()


@pytest.mark.slow
@pytest.mark.parametrize("name", MODES)
def test_each_wrong_answer_is_one_sentence_that_names_the_board(
    name: str, hostile: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "LONGEST_LINE_BYTES", 2**22)
    hostile.mode, words = MODES[name]
    begin_s = time.monotonic()

    with pytest.raises(CtmError) as caught:
        # A flood is no silence, however slowly a busy machine reads it.
        list(hostile.runner(silence_s=10 if name == "floods a line" else 0.5).run(plan()))

    sentence = str(caught.value)
    assert isinstance(caught.value, (InputError, HostError))
    assert sentence.startswith(f"me@127.0.0.1:{hostile.port}: ")
    assert words in sentence
    assert sentence.isprintable()
    assert len(sentence) < 800
    assert time.monotonic() - begin_s < SOON_S


async def answers_everything(process: Process) -> None:
    """A board whose runner has nothing to tell for longer than a request may wait."""
    process.stdout.write(line(HELLO))
    await process.stdin.readexactly(int(await process.stdin.readline()))
    looks = 0
    while request := await process.stdin.readline():
        asked = json.loads(request)
        looks += asked["do"] == "look"
        value: object = {"generation": 1} if asked["do"] == "start" else []
        process.stdout.write(line({"id": asked["id"], "ok": value}))
        if looks == LOOKS:
            process.stdout.write(line({"exit": 7, "words": "enough"}))


def test_a_silent_runner_of_a_board_that_answers_is_waited_for(hostile: Board) -> None:
    hostile.mode = answers_everything
    begin_s = time.monotonic()
    with pytest.raises(HostError, match="its runner ended with exit code 7: enough"):
        list(hostile.runner(silence_s=0.5).run(plan()))
    assert time.monotonic() - begin_s > LOOKS * 0.25 > 0.5, "longer than a request may wait"


def test_a_dead_board_ends_a_run_of_the_users_within_half_a_minute() -> None:
    target = SshTarget(host="board")
    longest_s = 1.5 * target.silence_s + board_run._CLEAN_UP_S
    assert max(longest_s, target.timeout_s) <= 30.0


SILENT_MODES = ["says nothing", "open never", "floods lines", "silent once started"]


@pytest.mark.parametrize("name", SILENT_MODES)
def test_a_silent_board_is_left_when_the_run_is_cancelled(name: str, hostile: Board) -> None:
    hostile.mode, _ = MODES[name]
    cancel = CancelToken()
    threading.Timer(0.5, cancel.cancel).start()
    begin_s = time.monotonic()

    with pytest.raises(CancelledError):
        list(hostile.runner(silence_s=60.0).run(plan(), cancel))

    assert time.monotonic() - begin_s < SOON_S
