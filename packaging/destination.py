"""The one argument of the programs that write what ships: another place to write it to."""

from __future__ import annotations

import argparse
from pathlib import Path


def destination(description: str, usual: Path | None = None) -> Path:
    """Return the file or folder on the command line, the usual one where none is named.

    Args:
        description: of the program, for ``--help``.
        usual: where the files ship; None where the argument must be there.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    count = None if usual is None else "?"
    words = "where to write" if usual is None else f"where to write; default: {usual}"
    parser.add_argument("place", nargs=count, type=Path, default=usual, help=words)
    place: Path = parser.parse_args().place
    return place
