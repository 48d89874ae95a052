"""Traces of requests: a CSV table of times and lengths."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, NoReturn

from predictor.core.errors import InputError
from predictor.core.files import read_text
from predictor.core.text import printable
from predictor.services.serving.records import TracedRequest

_MAX_BYTES: Final = 64_000_000
_MAX_REQUESTS: Final = 100_000
_MAX_TOKENS: Final = 10_000_000
# Columns by the names of this program, and by those of Azure's public traces.
_TIMES: Final = ("time_s", "TIMESTAMP", "arrived_at")
_PROMPTS: Final = ("prompt", "ContextTokens", "num_prefill_tokens")
_ANSWERS: Final = ("new", "GeneratedTokens", "num_decode_tokens")


def read_trace(path: Path) -> tuple[TracedRequest, ...]:
    """Read a trace with the columns ``time_s``, ``prompt`` and ``new``, or those of Azure's.

    Times are seconds, or dates with times; they ascend.

    Raises:
        InputError: it cannot be read or is no trace, with the line that is wrong.
    """
    reader = csv.DictReader(io.StringIO(read_text(path, _MAX_BYTES)))
    names = reader.fieldnames or ()
    columns = [
        next((name for name in spellings if name in names), "")
        for spellings in (_TIMES, _PROMPTS, _ANSWERS)
    ]
    if "" in columns:
        _refuse(path, 1, "its first line does not name time_s, prompt and new")
    requests: list[TracedRequest] = []
    for line, row in enumerate(reader, 2):
        request = _request(path, line, row, columns)
        if requests and request.time_s < requests[-1].time_s:
            _refuse(path, line, "its time is before that of the line above")
        requests.append(request)
        if len(requests) > _MAX_REQUESTS:
            _refuse(path, line, f"it has more than {_MAX_REQUESTS:,} requests")
    if len(requests) < _FEWEST or requests[0].time_s == requests[-1].time_s:
        _refuse(path, len(requests) + 1, "it has no two requests at different times")
    return tuple(requests)


_FEWEST: Final = 2


def _request(
    path: Path, line: int, row: Mapping[str, str | None], columns: list[str]
) -> TracedRequest:
    time_s, prompt, new = (row[column] or "" for column in columns)
    seconds = _seconds(time_s)
    if seconds is None:
        _refuse(path, line, f"{printable(time_s)!r} is no time")
    counts = [_tokens(text) for text in (prompt, new)]
    for text, count in zip((prompt, new), counts, strict=True):
        if not count:
            _refuse(path, line, f"{printable(text)!r} is no number of tokens")
    return TracedRequest(seconds, *counts)


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        try:
            return datetime.fromisoformat(text).timestamp()
        except ValueError:
            return None
    return seconds if 0 <= seconds < float("inf") else None


def _tokens(text: str) -> int:
    """Return a number of tokens, 0 where it is none."""
    try:
        count = float(text)
    except ValueError:
        return 0
    return int(count) if 1 <= count <= _MAX_TOKENS and count == int(count) else 0


def _refuse(path: Path, line: int, reason: str) -> NoReturn:
    raise InputError(
        f"{path}, line {line}",
        reason,
        "write a CSV table such as: time_s,prompt,new and below it 0.25,1024,256",
    )
