"""The file of a load: ``[[stream]]`` with ``[[stream.stage]]``, ``[box]`` and ``[simulation]``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.files import read_text
from predictor.core.records import Precision
from predictor.core.toml_tables import Readers, TomlTables, integer, number, one_text, texts
from predictor.language.weights import has_format
from predictor.services.loads.records import AUTO, Load, Prices, Stage, Stream

MAX_TOKENS: Final = 10_000_000
MAX_RATE: Final = 10_000.0
MAX_STREAMS: Final = 1000
_MAX_STAGES: Final = 32
_MAX_BATCH: Final = 128
_MAX_TRACE: Final = 1_000_000
_FIX: Final = "correct it; docs/loads.md has an example"
ARRIVALS: Final = ("periodic", "poisson", "trace")
DYNAMIC: Final = "dynamic"
BATCHINGS: Final = ("none", "fixed", DYNAMIC)
_USUAL_BATCH: Final = 4
LANGUAGE_KEYS: Final = ("prompt_tokens", "new_tokens", "weights")
"""Keys of a stage whose model generates tokens."""


def read_load(path: Path) -> Load:
    """Read the file.

    Raises:
        InputError: it cannot be read or is no TOML, or a key is unknown or wrong; with its line.
    """
    return load_of(read_tables(path))


def read_tables(path: Path) -> TomlTables:
    """Read the tables of the file, right or wrong.

    Raises:
        InputError: it cannot be read or is no TOML; with its line.
    """
    return TomlTables.read(path, _FIX)


def parse_tables(text: str, path: Path) -> TomlTables:
    """Read the tables of a text as if it stood in a file.

    Raises:
        InputError: it is no TOML; with its line.
    """
    return TomlTables.parse(text, path, _FIX)


def load_of_tables(content: Mapping[str, Any]) -> Load:
    """Return a load whose tables a program states; paths are from the working folder.

    Raises:
        InputError: a key is unknown or wrong.
    """
    return load_of(TomlTables(Path("load"), content, [], _FIX))


def load_of(file: TomlTables) -> Load:
    """Return the load of the tables of a file.

    Raises:
        InputError: a key is unknown or wrong; with its line.
    """
    tables = file.named("stream", frozenset({"box", "cost", "simulation"}))
    lines = iter(_headers(file, "stream.stage"))
    streams = tuple(_stream(file, line, table, lines) for line, table in tables)
    _check_distinct(file, streams)
    box_line, box = _table(file, "box")
    line, simulation = _table(file, "simulation")
    values = file.values(line, simulation, _SIMULATION)
    cost_line, cost = _table(file, "cost")
    prices = Prices(**{
        name.removeprefix("price_"): value
        for name, value in file.values(cost_line, cost, _COST).items()
    })  # fmt: skip
    return Load(file=file, streams=streams, box=box, box_line=box_line, prices=prices, **values)


def _headers(file: TomlTables, name: str) -> list[int]:
    header = re.compile(rf"\s*\[\[\s*{re.escape(name)}\s*\]\]")
    return [place for place, line in enumerate(file.lines, 1) if header.match(line)]


def _table(file: TomlTables, name: str) -> tuple[int, Mapping[str, Any]]:
    table = file.content.get(name, {})
    line = file.line_of(name, 1)
    if not isinstance(table, dict):
        raise file.wrong(line, name, f"it is not a table [{name}]")
    return line, table


def _check_distinct(file: TomlTables, streams: Sequence[Stream]) -> None:
    names: set[str] = set()
    for stream in streams:
        if stream.name in names:
            raise file.wrong(stream.line, "name", f"another stream is called {stream.name}")
        names.add(stream.name)
    if sum(stream.count for stream in streams) > MAX_STREAMS:
        raise file.wrong(
            streams[-1].line, "count", f"there are over {MAX_STREAMS:,} streams together"
        )


def _stream(file: TomlTables, line: int, table: Mapping[str, Any], lines: Any) -> Stream:
    values = file.values(line, table, _STREAM)
    stages = values.pop("stage", None)
    if not stages:
        raise file.wrong(line, "stage", "this stream has no [[stream.stage]]")
    if "name" not in values:
        raise file.wrong(line, "name", "this stream has none")
    trace = values.pop("trace", "")
    if trace or values.get("arrival") == "trace":
        values |= _traced(file, line, values, trace)
    elif "rate" not in values:
        raise file.wrong(line, "rate", "this stream has none")
    if "rate" in values:
        values["rate_per_s"] = values.pop("rate")
    entries: list[Stage] = []
    for stage in stages:
        # One that names none follows the one before it.
        usual = (entries[-1].name,) if entries else ()
        entries.append(_stage(file, next(lines, line), stage, usual))
    return Stream(line=line, stages=_ordered(file, entries), **values)


def _traced(
    file: TomlTables, line: int, values: Mapping[str, Any], trace: str
) -> dict[str, object]:
    """Return the arrival of a stream by the times of a file."""
    if not trace:
        raise _wrong(file, line, "arrival", 'it is "trace", and the stream names no trace')
    if values.get("arrival", "trace") != "trace":
        raise _wrong(file, line, "trace", f'the arrival is "{values["arrival"]}"')
    times = _times(file, line, file.path.parent / trace)
    span = times[-1] - times[0]
    recorded = (len(times) - 1) / span
    return {"arrival": "trace", "trace_s": times, "rate_per_s": values.get("rate", recorded)}


def _times(file: TomlTables, line: int, path: Path) -> list[float]:
    """Return the times of a trace: a number of seconds a line, ascending."""
    try:
        rows = read_text(path, _MAX_TRACE * 32).split()
        times = [float(row) for row in rows]
    except InputError as error:
        raise _wrong(file, line, "trace", error.reason) from error
    except ValueError as error:
        raise _wrong(
            file, line, "trace", "it is not a file of a number of seconds a line"
        ) from error
    is_right = len(times) > 1 and all(map(math.isfinite, times)) and times == sorted(times)
    if not is_right or times[0] == times[-1] or len(times) > _MAX_TRACE:
        raise _wrong(file, line, "trace", "its times do not ascend, or are fewer than two")
    rate = (len(times) - 1) / (times[-1] - times[0])
    if rate > MAX_RATE:
        raise _wrong(file, line, "trace", f"it has over {MAX_RATE:,.0f} items a second")
    return times


def _stage(file: TomlTables, line: int, table: object, after: tuple[str, ...]) -> Stage:
    if not isinstance(table, dict):
        raise file.wrong(line, "stage", "it is not a table [[stream.stage]]")
    values = file.values(line, table, _STAGE)
    if "model" not in values:
        raise file.wrong(line, "model", "this stage has none")
    values.setdefault("name", Path(values["model"]).stem)
    values.setdefault("unit", AUTO)
    values.setdefault("after", after)
    values |= _batching(file, line, values)
    _check_language(file, line, values)
    return Stage(line=line, **values)


def _check_language(file: TomlTables, line: int, values: Mapping[str, Any]) -> None:
    """Refuse what is said of a language model without its tokens, and of a network with them."""
    if "new_tokens" not in values:
        key = next((key for key in LANGUAGE_KEYS if key in values), None)
        if key is not None:
            raise _wrong(file, line, key, "it is of a language model: state new_tokens too")
        return
    key = next((key for key in ("threads", "precision", "dims") if key in values), None)
    if key is not None:
        reason = "a language model has none here; its weights are named by weights"
        raise _wrong(file, line, key, reason)


def _batching(file: TomlTables, line: int, values: dict[str, Any]) -> dict[str, object]:
    """Return the batch and its delay by the kind of batching."""
    delay, batch = values.pop("batch_delay_ms", None), values.get("batch")
    usual = "none" if batch in {None, 1} else "fixed" if delay is None else "dynamic"
    kind = values.pop("batching", usual)
    if kind == "none":
        if (batch or 1) > 1 or delay is not None:
            raise _wrong(file, line, "batching", 'it is "none", and the stage states a batch')
        return {"batch": 1, "delay_ms": 0.0}
    if kind == "fixed":
        if delay is not None:
            raise _wrong(file, line, "batch_delay_ms", 'a "fixed" batch waits until it is full')
        return {"batch": batch or _USUAL_BATCH, "delay_ms": math.inf}
    return {"batch": batch or _USUAL_BATCH, "delay_ms": delay or 0.0}


def _ordered(file: TomlTables, stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Return the stages, none before those that it waits for."""
    named = {stage.name: stage for stage in stages}
    if len(named) < len(stages):
        repeated = next(s for i, s in enumerate(stages) if s.name in {t.name for t in stages[:i]})
        raise file.wrong(repeated.line, "name", f"another stage is called {repeated.name}")
    for stage in stages:
        for name in stage.after:
            if name not in named:
                names = ", ".join(named)
                reason = f"there is no stage {name}; there are {names}"
                raise _wrong(file, stage.line, "after", reason)
    waiting, ordered = dict(named), list[Stage]()
    while waiting:
        ready = [s for s in waiting.values() if not any(name in waiting for name in s.after)]
        if not ready:
            first = next(iter(waiting.values()))
            reason = f"the stages {', '.join(waiting)} wait for one another"
            if len(waiting) == 1:
                reason = f"the stage {first.name} waits for itself"
            raise _wrong(file, first.line, "after", reason)
        for stage in ready:
            ordered.append(waiting.pop(stage.name))
    return tuple(ordered)


def _wrong(file: TomlTables, line: int, key: str, reason: str) -> InputError:
    """Return the error of a key that a table from a line on has."""
    return file.wrong(file.line_of(key, line), key, reason)


def _one_of(names: Sequence[str]) -> Any:
    def read(value: object) -> str:
        if value not in names:
            raise ValueError
        return str(value)

    return read


def _stages(value: object) -> list[object]:
    if not isinstance(value, list) or not 0 < len(value) <= _MAX_STAGES:
        raise ValueError
    return value


def _dims(value: Any) -> dict[str, int]:
    return {name: integer(size) for name, size in value.items()}


def _names(value: object) -> tuple[str, ...]:
    return () if value == [] else texts(value)


def _weights(value: object) -> str:
    name = one_text(value)
    if not has_format(name):
        raise ValueError
    return name


def _rate(value: object) -> float:
    return number(value, 0.0, math.nextafter(MAX_RATE, math.inf))


_STREAM: Final[Readers] = {
    "name": (one_text, "a text"),
    "rate": (_rate, f"a rate over 0 and up to {MAX_RATE:,.0f} items a second"),
    "count": (lambda value: integer(value, 1, MAX_STREAMS), f"a number from 1 to {MAX_STREAMS:,}"),
    "arrival": (_one_of(ARRIVALS), f"one of {', '.join(ARRIVALS)}"),
    "trace": (one_text, "the path of a file of times"),
    "deadline_ms": (lambda value: number(value, 0.0, 1e7), "a number over 0"),
    "share": (lambda value: number(value, 0.0, 100.0) / 100, "percent over 0 and under 100"),
    "stage": (_stages, f"tables [[stream.stage]], up to {_MAX_STAGES}"),
}
_STAGE: Final[Readers] = {
    "name": (one_text, "a text"),
    "model": (one_text, "the path of a model"),
    "unit": (one_text, "the name of a unit of the box"),
    "per_item": (lambda value: number(value, 0.0, 1000.001), "a number over 0 and up to 1,000"),
    "after": (_names, "the name of a stage or a list of them"),
    "batching": (_one_of(BATCHINGS), f"one of {', '.join(BATCHINGS)}"),
    "batch": (lambda value: integer(value, 1, _MAX_BATCH), f"a number from 1 to {_MAX_BATCH}"),
    "batch_delay_ms": (lambda value: number(value, -1e-9, 1e6), "a number of ms from 0"),
    "runtime": (one_text, "the name of a runtime"),
    "precision": (_one_of(list(Precision)), f"one of {', '.join(Precision)}"),
    "threads": (lambda value: integer(value, 1, 1024), "a whole number from 1"),
    "dims": (_dims, "a table of whole numbers from 1"),
    "prompt_tokens": (lambda value: integer(value, 1, MAX_TOKENS), "a whole number of tokens"),
    "new_tokens": (lambda value: integer(value, 1, MAX_TOKENS), "a whole number of tokens"),
    "weights": (_weights, "the name of a format of weights, such as q4_k_m"),
}
_COST: Final[Readers] = {
    "years": (lambda value: number(value, 0.0, 100.0), "a number of years over 0"),
    "price_per_hour": (lambda value: number(value, 0.0, 1e9), "a price over 0"),
    "price_per_kwh": (lambda value: number(value, 0.0, 1e9), "a price over 0"),
}
_SIMULATION: Final[Readers] = {
    "seed": (lambda value: integer(value, 0), "a whole number from 0"),
    "items": (lambda value: integer(value, 1000, 10_000_000), "from 1,000 to 10,000,000"),
    "draws": (lambda value: integer(value, 10, 1000), "a whole number from 10 to 1,000"),
    "chance": (lambda value: number(value, 0.0, 100.0) / 100, "percent over 0 and under 100"),
}
