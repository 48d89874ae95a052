"""Boards that answer over SSH with damaged words."""

from __future__ import annotations

import asyncio
import json
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from predictor.core.errors import CtmError
from predictor.probing.ssh import replies
from tests.fuzz.documents import mutate_bytes, mutate_json
from tests.support.hostile_board import HELLO, Board, Process, silent
from tests.support.ssh_scripts import FINISHED, STARTED, measured, plan

_SILENCE_S = 0.3
_LONGEST_SENTENCE = 800
_LONGEST_LINE = 2**20
_ID = 424242  # stands for that of the request
_TELLS = [
    {"generation": 1, "offset": number + 1, "line": json.dumps(message)}
    for number, message in enumerate((STARTED, measured("a"), measured("b"), FINISHED))
]
# What a board says: its greeting, the replies to requests in their order, and what follows.
REPLIES = [
    json.dumps(message)
    for message in (
        HELLO,
        {"id": _ID, "ok": []},
        {"id": _ID, "ok": {"generation": 1}},
        *_TELLS,
        {"exit": 0, "words": ""},
    )
]


def mutate(rng: random.Random) -> bytes:
    """Return what a board says, a reply on a line."""
    lines = list(REPLIES)
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(lines))
        change = rng.randrange(8)
        if change == 0:
            del lines[place]
        elif change == 1:
            lines.insert(rng.randrange(len(lines) + 1), lines[place])
        else:
            lines[place] = mutate_json(lines[place], rng)
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return mutate_bytes(data, rng) if rng.random() < 0.2 else data


def feed(data: bytes) -> bool:
    """Measure on a board: True where it ends, False where a sentence says what is wrong.

    Raises:
        AssertionError: the error is none of one line that names the board.
    """
    here = board()
    here.mode = lambda process: _answer(process, data.split(b"\n"))
    try:
        list(here.runner(_SILENCE_S).run(plan()))
    except CtmError as error:
        sentence = str(error)
        assert sentence.startswith(f"me@127.0.0.1:{here.port}: "), sentence
        assert sentence.isprintable(), sentence
        assert len(sentence) < _LONGEST_SENTENCE, sentence
        return False
    return True


async def _answer(process: Process, lines: list[bytes]) -> None:
    process.stdout.write(lines[0] + b"\n")
    await process.stdin.readexactly(int(await process.stdin.readline()))
    rest = iter(lines[1:])
    while request := await process.stdin.readline():
        asked = json.loads(request)
        answer = next(rest, None)
        if answer is None:
            break
        process.stdout.write(answer.replace(str(_ID).encode(), str(asked["id"]).encode()) + b"\n")
        if asked["do"] == "start":
            for told in rest:
                process.stdout.write(told + b"\n")
                await asyncio.sleep(0)
    await silent(process)


@cache
def board() -> Board:
    """Return the board of this process."""
    replies.LONGEST_LINE_BYTES = _LONGEST_LINE  # type: ignore[misc]
    return Board(Path(_folder().name))


@cache
def _folder() -> TemporaryDirectory[str]:
    """Return the folder of the board's key, which is read at each run."""
    return TemporaryDirectory()
