"""Replies of the agent, one JSON line each, checked at this one place: a board may be anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NoReturn

from predictor.core.text import shortened

LONGEST_LINE_BYTES = 2**26
"""Of a reply; the samples of a network's blocks take a few MiB."""
MODULES = ("numpy", "onnxruntime")
_LONGEST_WORDS = 200
_LARGEST_INTEGER = 2**63


class ReplyError(Exception):
    """A reply that the agent never gives; its text names the fault."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The agent has started.

    Attributes:
        missing: modules that are not installed there, of ``MODULES``.
        program: the Python that runs it.
    """

    missing: tuple[str, ...]
    program: str


@dataclass(frozen=True, slots=True)
class OldPython:
    """The agent cannot start: its Python is of this version."""

    version: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request: a value, or why it was refused.

    Attributes:
        id: of the request.
        value: the agent's result.
        refusal: code of the refusal; empty where it was not refused.
        words: of the refusal.
    """

    id: int
    value: object
    refusal: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class RunnerLine:
    """A line of the runner.

    Attributes:
        generation: of the runner's lines.
        offset: bytes of them up to the end of this one.
        text: the line.
    """

    generation: int
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class RunnerEnd:
    """The runner has ended.

    Attributes:
        code: its exit code, None where the system killed it.
        words: the last that it wrote.
        free_bytes: of the disk there, None where not known.
    """

    code: int | None
    words: str
    free_bytes: int | None


Reply = Hello | OldPython | Answer | RunnerLine | RunnerEnd


def parse_reply(line: bytes) -> Reply | None:
    """Return the reply in a line; None for prints of a login or a library.

    Raises:
        ReplyError: it looks like a reply of the agent, but is malformed.
    """
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        reply = json.loads(line, parse_constant=_no_number)
    except RecursionError as error:
        raise ReplyError("it is nested too deeply") from error
    except ValueError:
        return None
    for key, parse in _PARSERS.items():
        if key in reply:
            return parse(reply)
    return None


def missing_files(answer: object, names: Collection[str]) -> list[str]:
    """Return the files that the board asks for, all of them in ``names``."""
    if not isinstance(answer, list) or any(name not in names for name in map(str, answer)):
        raise ReplyError("it asks for files that were not offered")
    return [name for name in names if name in answer]


def generation_of(answer: object) -> int:
    """Return the generation of a runner's lines."""
    return _integer(_table(answer), "generation")


def _hello(reply: Mapping[str, object]) -> Hello:
    agent = _table(reply["agent"])
    missing = agent.get("missing")
    if not isinstance(missing, list) or any(name not in MODULES for name in missing):
        raise ReplyError("it names no modules that are needed")
    return Hello(tuple(missing), _words(agent, "program"))


def _answer(reply: Mapping[str, object]) -> Answer:
    number = _integer(reply, "id")
    if "error" in reply:
        return Answer(number, None, _words(reply, "error") or "file", _words(reply, "words"))
    if "ok" not in reply:
        raise ReplyError("it neither answers nor refuses")
    return Answer(number, reply["ok"])


def _line(reply: Mapping[str, object]) -> RunnerLine:
    return RunnerLine(
        _integer(reply, "generation"), _integer(reply, "offset"), _text(reply, "line")
    )


def _end(reply: Mapping[str, object]) -> RunnerEnd:
    return RunnerEnd(
        None if reply["exit"] is None else _integer(reply, "exit"),
        _words(reply, "words"),
        None if reply.get("free") is None else _integer(reply, "free"),
    )


# By the key that only this kind of reply has.
_PARSERS: dict[str, Callable[[Mapping[str, object]], Reply]] = {
    "agent": _hello,
    "old": lambda reply: OldPython(_words(reply, "old")),
    "id": _answer,
    "line": _line,
    "exit": _end,
}


def _table(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ReplyError("it is no JSON object where one should be")
    return value


def _integer(reply: Mapping[str, object], key: str) -> int:
    value = reply.get(key)
    # Not isinstance: JSON's true is an int to Python.
    if type(value) is not int or abs(value) >= _LARGEST_INTEGER:
        raise ReplyError(f"its {key} is no whole number")
    return value


def _text(reply: Mapping[str, object], key: str) -> str:
    value = reply.get(key)
    try:
        if isinstance(value, str):
            value.encode()  # JSON can spell half a character, which no file takes
            return value
    except UnicodeEncodeError:
        pass
    raise ReplyError(f"its {key} is no text")


def _words(reply: Mapping[str, object], key: str) -> str:
    return shortened(_text(reply, key), _LONGEST_WORDS)


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
