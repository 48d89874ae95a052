"""The files of one network that no fingerprint joins.

A fingerprint is one for all exports of a network, of fresh and of trained weights. Libraries lay
out some networks in other operators: those pairs are in ``exports.csv``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ctm_research.sources import GraphFile
from ctm_research.sources.graphs import graph_file
from ctm_research.sources.tables import read_rows

OTHERS: Final = Path(__file__).parent / "exports.csv"
_COLUMNS: Final = ("graphs_in", "file", "other_in", "other", "remark")


def other_exports(data: Path) -> Mapping[GraphFile, Mapping[GraphFile, str]]:
    """Return the graphs that a data folder holds of the same network in another layout.

    Returns:
        A remark on the difference by the other file, by file; each of two files has the other.

    Raises:
        InputError: the table is damaged.
    """
    layouts: dict[GraphFile, dict[GraphFile, str]] = {}
    for row in read_rows(OTHERS, _COLUMNS):
        if (data / row["graphs_in"]).is_dir() and (data / row["other_in"]).is_dir():
            first = graph_file(data, row["graphs_in"], row["file"])
            second = graph_file(data, row["other_in"], row["other"])
            for file, other in ((first, second), (second, first)):
                layouts.setdefault(file, {})[other] = row["remark"]
    return layouts
