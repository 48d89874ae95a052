"""Files of rows, a model's at a time: JSON lines and CSV as they come, Parquet at the end.

A killed run leaves whole models and at most a torn one, which :func:`finished` cuts off. A Parquet
file cannot be read before its end is written, so its rows come as JSON lines beside it first.
No more than a part of a file is in memory.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from predictor.core.csv_style import CsvStyle
from predictor.core.errors import HostError, InputError
from predictor.core.files import is_there, locked, opened, replaced
from predictor.services.rows.text import NAMES, RowForm, header_text

if TYPE_CHECKING:
    from types import ModuleType

ENDINGS: Final = (".jsonl", ".csv", ".parquet")
_COUNTS: Final = frozenset({"threads", "batch", "memory_bytes"})
_HEAD_BYTES: Final = 4096
_CHUNK: Final = 64 * 2**20  # bytes of a group of a Parquet file, about 100 000 rows
_BATCH: Final = 10_000  # rows of a Parquet file that are read at once
_LONGEST_LINE: Final = 2**20


@dataclass(frozen=True, slots=True)
class Finished:
    """The models of a file that have all their rows.

    Attributes:
        models: their paths.
        failed: number of them that could not be read.
        end: bytes that they take; what follows is torn.
    """

    models: frozenset[str] = frozenset()
    failed: int = 0
    end: int = 0


def finished(
    path: Path, form: RowForm, targets: frozenset[tuple[str, ...]], engine: str
) -> Finished:
    """Return what a run has finished, to go on with its file.

    Args:
        path: FILE of the run; where it is not there nothing is finished.
        form: in which its rows come.
        targets: device, runtime, precision and threads of each target.
        engine: that predicts now.

    Raises:
        InputError: the file holds rows of other targets, of another engine, or no rows.
        HostError: it cannot be read.
    """
    written = _journal(path)
    with _file_errors(path):
        if _is_parquet(path) and is_there(path) and not is_there(written):
            _unpack(path, written)
        if not is_there(written):
            return Finished()
        with opened(written) as (stream, _):
            lines = _Lines(io.BufferedReader(cast("io.RawIOBase", stream)))
            return _finished(path, _rows_of(path, form, lines), targets, engine)


def _finished(
    path: Path,
    rows: Iterator[tuple[dict[str, Any], int]],
    targets: frozenset[tuple[str, ...]],
    engine: str,
) -> Finished:
    models: list[str] = []
    bad = end = 0
    for model, group in groupby(rows, lambda row: str(row[0]["model"])):
        model_rows = list(group)
        if not model_rows[0][0]["fingerprint"]:  # a file that could not be read
            bad += 1
        else:
            if {str(row["engine"]) for row, _ in model_rows} != {engine}:
                raise _other(path, "another version of the engine")
            keys = {tuple(str(row[name]) for name in _TARGET) for row, _ in model_rows}
            if not keys <= targets:
                raise _other(path, "other devices or configurations")
            if keys != targets:
                break  # torn: it is the last
        models.append(model)
        end = model_rows[-1][1]
    return Finished(frozenset(models), bad, end)


def check_replaced(path: Path) -> None:
    """Check that a file which is written anew holds rows and nothing else.

    Raises:
        InputError: it is there and holds something else, or is no file.
    """
    if not is_there(path):
        return
    with opened(path) as (stream, _):
        head = stream.read(_HEAD_BYTES)
    if head and not head.startswith(_first_bytes(path)):
        reason = "the file holds something else than rows"
        raise InputError(f"--rows {path}", reason, "name another")


def _first_bytes(path: Path) -> tuple[bytes, ...]:
    """Return the possible first bytes of a file of rows, by its ending."""
    if _is_parquet(path):
        return (b"PAR1",)
    if form_of(path).style is None:
        return (b'{"model": "',)
    return tuple(header_text(form_of(path, style)) for style in CsvStyle)


def _unpack(path: Path, journal: Path) -> None:
    """Write the rows of a Parquet file as JSON lines beside it."""
    arrow = _arrow()
    try:
        with opened(path) as (stream, _), replaced(journal) as partial:
            batches = arrow.ParquetFile(stream).iter_batches(_BATCH)
            with partial.open("w", encoding="utf-8") as lines:
                for batch in batches:
                    lines.writelines(json.dumps(row) + "\n" for row in batch.to_pylist())
    except (ValueError, TypeError) as error:  # pyarrow's own errors are ValueErrors
        raise _other(path, "another form") from error


class _Lines:
    """Whole lines of a file: what follows the last one is torn.

    Args:
        stream: of the file.

    Attributes:
        end: bytes that the lines take which were read.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.end = 0

    def __iter__(self) -> Iterator[str]:
        while (line := self._stream.readline(_LONGEST_LINE)).endswith(b"\n"):
            self.end += len(line)
            yield line.decode()
        if len(line) == _LONGEST_LINE:
            raise ValueError("a line is too long")


_TARGET: Final = ("device", "runtime", "precision", "threads")


def _rows_of(path: Path, form: RowForm, lines: _Lines) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield whole rows with the place in bytes where each ends."""
    is_table = form.style is not None
    table = csv.reader(lines, delimiter=(form.style or CsvStyle.POINT).separator)
    rows: Iterator[Any] = table if is_table else map(json.loads, lines)
    try:
        if is_table and next(rows, list(NAMES)) != list(NAMES):
            raise _other(path, "another form")
        for row in rows:
            values = row if is_table else [row[name] for name in NAMES]
            yield dict(zip(NAMES, values, strict=True)), lines.end
    except (ValueError, LookupError, TypeError, RecursionError, csv.Error) as error:
        raise _other(path, "another form") from error


def _other(path: Path, what: str) -> InputError:
    return InputError(
        f"--rows {path}", f"it holds rows of {what}", "leave out --resume to replace it"
    )


def form_of(path: Path, style: CsvStyle = CsvStyle.POINT) -> RowForm:
    """Return the form in which rows are written to a file as they come.

    Args:
        path: its ending says the form.
        style: of a table.
    """
    if path.suffix.lower() != ".csv":
        return RowForm.JSON_LINES
    return RowForm.CSV if style is CsvStyle.POINT else RowForm.CSV_COMMA


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _journal(path: Path) -> Path:
    """Return the file that rows are written to as they come."""
    return path.with_name(f"{path.name}.part") if _is_parquet(path) else path


@contextmanager
def writing(path: Path, form: RowForm, finished: Finished) -> Iterator[Callable[[bytes], None]]:
    """Give the function that writes the text of one model's rows and hands it to the system.

    Args:
        path: of the file.
        form: in which its rows come.
        finished: the rows that stay in the file.

    Raises:
        HostError: they cannot be written, or a library is not there.
    """
    arrow = _arrow() if _is_parquet(path) else None
    journal = _journal(path)
    if is_there(journal):
        with opened(journal):
            pass  # a pipe would keep its writer waiting for ever
    try:
        file = journal.open("ab")
    except OSError as error:
        raise failed(path, error) from error
    if not locked(file):
        file.close()
        reason = "another run writes this file"
        raise InputError(f"--rows {path}", reason, "wait for its end, or name another file")

    def write(text: bytes) -> None:
        with _file_errors(path):
            file.write(text)
            file.flush()

    try:
        with _file_errors(path):
            if journal.stat().st_size > finished.end:
                file.truncate(finished.end)
        if not finished.end:
            write(header_text(form))
        yield write
    finally:
        with _file_errors(path):
            file.close()
    if arrow is not None:
        with _file_errors(path):
            _to_parquet(arrow, journal, path)


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    """Raise the error of a file for that of the system."""
    try:
        yield
    except OSError as error:
        raise failed(path, error) from error


def _arrow() -> ModuleType:
    """Return pyarrow.parquet.

    Raises:
        HostError: it is not installed.
    """
    try:
        from pyarrow import parquet  # noqa: PLC0415  # an extra

    except ModuleNotFoundError as error:
        raise HostError(
            "--rows FILE.parquet",
            "pyarrow is not installed",
            "install closertome[parquet], or name a file .jsonl or .csv",
        ) from error
    return cast("ModuleType", parquet)


def _to_parquet(parquet: Any, journal: Path, path: Path) -> None:
    """Write rows as a Parquet file, whole or not at all, and remove them as JSON lines."""
    import pyarrow as pa  # noqa: PLC0415  # an extra
    from pyarrow import json as lines  # noqa: PLC0415

    words, counts, number = pa.string(), pa.int64(), pa.float64()
    schema = pa.schema(
        (name, counts if name in _COUNTS else number if name.endswith("_ms") else words)
        for name in NAMES
    )
    typed = lines.ParseOptions(explicit_schema=schema)
    partial = path.with_name(f"{path.name}.tmp")
    try:
        with journal.open("rb") as file, parquet.ParquetWriter(partial, schema) as out:
            while rows := b"".join(file.readlines(_CHUNK)):
                out.write_table(lines.read_json(pa.BufferReader(rows), parse_options=typed))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    journal.unlink()


def failed(path: Path, error: OSError) -> HostError:
    """Return the error of a file that cannot be read or written."""
    return HostError(
        str(path),
        f"the rows cannot be written ({error.strerror or error})",
        "free space or name another file; with --resume finished rows are not predicted again",
    )
