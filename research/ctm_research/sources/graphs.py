"""Operator graphs for sources that publish times without graphs.

A data folder holds sets of graphs (:data:`SETS`). Which published name, at which shape of the
input, each stands for is said by two tables of one form: ``joins.csv`` of the data folder, and
``joins.csv`` here for the sources that it does not cover. A name is there only where architecture
and size are certainly those of the graph. Batches are multiples of the graph's, which is 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from ctm_research.sources.samples import GraphFile
from ctm_research.sources.tables import read_rows
from predictor.core.errors import InputError

SETS: Final = ("graphs", "graphs2")
"""Folders with graphs that belong to no source."""

JOINS: Final = "joins.csv"
OWN: Final = Path(__file__).parent / JOINS
FAMILIES: Final = Path(__file__).parent / "families.csv"
_COLUMNS: Final = ("folder", "model", "input_shape", "file", "graphs_in")
# Where the definition of a graph comes from; the same architecture has the same name after it.
_ORIGINS: Final = ("timm_", "tv_", "pytorchcv_", "hf_")

Joined = Mapping[tuple[str, str], GraphFile]


def joined_graphs(data: Path, folder: str) -> Joined:
    """Return the graphs of a source that the data folder holds, by model and shape as stated.

    Args:
        data: folder with one folder a source, and those of :data:`SETS`.
        folder: of the source, its last part.

    Raises:
        InputError: a table is damaged.
    """
    present = {name for name in (*SETS, "timm", "ncnn") if (data / name).is_dir()}
    tables = [OWN, *(path for path in [data / JOINS] if path.is_file())]
    return {
        (row["model"], row["input_shape"]): graph_file(data, row["graphs_in"], row["file"])
        for table in tables
        for row in read_rows(table, _COLUMNS)
        if row["folder"] == folder and row["graphs_in"] in present
    }


def graph_file(data: Path, folder: str, name: str) -> GraphFile:
    """Return where the graph of a set is; ncnn's are files, the others in an archive."""
    if folder == "ncnn":
        return GraphFile(data / folder / "graphs" / name)
    return GraphFile(data / folder / "graphs.zip", f"graphs/{name}")


def families(data: Path) -> Mapping[GraphFile, str]:
    """Return the family of architectures of each graph of the sets.

    Raises:
        InputError: a table is damaged, or no family is known of a graph.
    """
    return {
        graph_file(data, folder, row["file"]): family_of(row["file"])
        for folder in SETS
        if (data / folder).is_dir()
        for row in read_rows(data / folder / "graphs.csv", ("file",))
    }


def family_of(name: str) -> str:
    """Return the family of a graph by the name of its file: the longest start that is known.

    Raises:
        InputError: none is.
    """
    stem = next((name.removeprefix(o) for o in _ORIGINS if name.startswith(o)), name)
    known = _starts()
    start = next((stem[:end] for end in range(len(stem), 0, -1) if stem[:end] in known), "")
    if not start:
        raise InputError(
            name, "the family of architectures of this graph is not known", f"add it to {FAMILIES}"
        )
    return known[start]


@cache
def _starts() -> Mapping[str, str]:
    return {row["start"]: row["family"] for row in read_rows(FAMILIES, ("start", "family"))}


def tables() -> Iterator[Path]:
    """Yield the tables of this package that a corpus depends on."""
    yield from (OWN, FAMILIES, OWN.with_name("resized.csv"))
