"""What every benchmark shares: timing, the table with limit or peer beside, and its files.

Run a benchmark from the checkout as ``python -m benchmarks.NAME``; ``--output DIR`` also writes
``NAME.json`` and ``NAME.md`` there, ``--repeats N`` sets how often each figure is taken.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from predictor.core.units import significant
from predictor.services.measurements.origin import environment_of, origin_of


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure.

    Attributes:
        what: what was measured, in words.
        value: the figure.
        unit: its unit, empty for a ratio or a count.
        limit: what it must not exceed, or None where there is no limit.
        limit_source: where the limit comes from, or the name of the peer.
    """

    what: str
    value: float
    unit: str
    limit: float | None = None
    limit_source: str = ""

    @property
    def ratio(self) -> float | None:
        """The figure over its limit: at most 1 is good. None without a limit, or one of 0."""
        return self.value / self.limit if self.limit else None

    @property
    def holds(self) -> bool:
        """Whether the figure is within its limit."""
        return self.limit is None or self.value <= self.limit


def best_of(work: Callable[[], object], repeats: int = 10) -> float:
    """Return the shortest of ``repeats`` wall times of ``work`` in seconds.

    The shortest is the one that other programs disturbed least.
    """
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def parse_arguments(description: str | None, repeats: int = 10) -> argparse.Namespace:
    """Parse the options that every benchmark has: ``repeats`` and ``output``."""
    parser = argparse.ArgumentParser(description=description)
    add_arguments(parser, repeats)
    return parser.parse_args()


def add_arguments(parser: argparse.ArgumentParser, repeats: int = 10) -> None:
    """Add the options that every benchmark has, for a benchmark with more of them."""
    parser.add_argument("--repeats", type=int, default=repeats, help="take each figure so often")
    parser.add_argument("--output", type=Path, help="also write NAME.json and NAME.md here")


def add_kept(parser: argparse.ArgumentParser) -> None:
    """Add the option of a benchmark that need not measure again what it measured before."""
    parser.add_argument("--kept", type=Path, help="folder that keeps what was measured")


@contextmanager
def kept_folder(options: argparse.Namespace) -> Iterator[Path]:
    """Give the folder of ``--kept``, made where it is missing; a temporary one without it."""
    with tempfile.TemporaryDirectory() as own:
        folder: Path = options.kept or Path(own)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder


def report(
    name: str,
    title: str,
    figures: Sequence[Figure],
    output: Path | None = None,
    notes: Sequence[str] = (),
    engine: str = "",
) -> int:
    """Print the figures and write them as asked; return 1 when one exceeds its limit, else 0.

    Arguments are those of :func:`publish`, with figures in place of its table.
    """
    publish(
        name,
        title,
        Table(HEADER, [_row(figure) for figure in figures]),
        [{**asdict(figure), "ratio": figure.ratio} for figure in figures],
        output,
        notes,
        engine,
    )
    return 0 if all(figure.holds for figure in figures) else 1


@dataclass(frozen=True, slots=True)
class Table:
    """Cells for people: a header and rows of as many cells."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def as_text(self) -> str:
        """Return the table with its columns aligned."""
        lines = [self.header, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def as_markdown(self) -> str:
        """Return the table as Markdown; bars in cells are escaped."""
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        )


def publish(
    name: str,
    title: str,
    table: Table,
    figures: Sequence[Mapping[str, object]],
    output: Path | None = None,
    notes: Sequence[str] = (),
    engine: str = "",
) -> None:
    """Print a table and, where ``output`` is a folder, write it there.

    Args:
        name: of the benchmark: ``NAME.json`` holds the figures, ``NAME.md`` the table.
        title: heading.
        table: the figures for people.
        figures: the same for programs, in full precision.
        output: folder, or None to print only.
        notes: sentences under the table.
        engine: name of the engine that the figures are of or come from, for the page to say
            which version; empty where they depend on none.
    """
    print(title, table.as_text(), *notes, sep="\n")
    if output is None:
        return
    output.mkdir(parents=True, exist_ok=True)
    where = environment_of(_command(), engine=engine)
    document = {
        "benchmark": name,
        "environment": where,
        "figures": list(figures),
        "notes": list(notes),
    }
    (output / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    paragraphs = [f"# {title}", origin_of(where), table.as_markdown(), *notes]
    (output / f"{name}.md").write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")


HEADER = ("figure", "value", "limit", "value / limit", "", "limit from")


def _command() -> str:
    """Return the command that runs now; a folder of this machine is shown as ``DIR``."""
    options = ["DIR" if Path(option).is_absolute() else option for option in sys.argv[1:]]
    return " ".join(["python -m", f"benchmarks.{Path(sys.argv[0]).stem}", *options])


def _row(figure: Figure) -> tuple[str, ...]:
    if figure.limit is None:
        return (figure.what, _number(figure.value, figure.unit), "", "", "", figure.limit_source)
    return (
        figure.what,
        _number(figure.value, figure.unit),
        _number(figure.limit, figure.unit),
        "" if figure.ratio is None else significant(figure.ratio),
        "ok" if figure.holds else "EXCEEDED",
        figure.limit_source,
    )


def _number(value: float, unit: str) -> str:
    return f"{significant(value)} {unit}".rstrip()
