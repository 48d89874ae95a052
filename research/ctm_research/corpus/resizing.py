"""Finds networks that can be had at sizes of images without a graph: those of convolutions alone.

``python -m ctm_research.corpus.resizing --data DIR`` tries every network of timm's folder
that rows wait for at another size, and writes ``resized.csv`` beside the sources. A network of
which the data hold graphs at two sizes is equal that way.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ctm_research.corpus.graph_files import GraphReader
from ctm_research.sources import timm
from predictor.core.errors import CtmError, InputError
from predictor.graph.reader import read_model

# What they cut or fill may have been chosen for the size of the file's image.
_OF_ONE_SIZE = frozenset({"Expand", "Gather", "Pad", "Resize", "Slice"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table; the exit code is that of the error where there is one."""
    parser = argparse.ArgumentParser(
        prog="python -m ctm_research.corpus.resizing",
        description="Find networks that can be had at sizes without a graph.",
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder a source")
    parser.add_argument("--out", type=Path, default=timm.RESIZED, help="table that is written")
    options = parser.parse_args(arguments)
    try:
        rows = list(_possible(options.data))
        _write(options.out, rows)
    except CtmError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(f"{len(rows)} graphs at other sizes\n")
    return 0


def _possible(data: Path) -> Iterator[tuple[str, str, str, int]]:
    files = timm.files(data)
    with GraphReader() as reader:
        for key, side in timm.waiting(data):
            nodes = read_model(reader.path_of(files[key])).proto.graph.node
            if _OF_ONE_SIZE & {node.op_type for node in nodes}:
                continue
            try:
                reader.read(replace(files[key], side=side))
            except InputError:
                continue  # a shape in it was written for the file's size
            model, size, variant = key
            yield model, variant, size, side


def _write(path: Path, rows: Sequence[tuple[str, str, str, int]]) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(timm.RESIZED_COLUMNS)
            writer.writerows(rows)
    except OSError as error:
        raise InputError(str(path), f"it cannot be written ({error})", "name another") from error


if __name__ == "__main__":
    sys.exit(main())
