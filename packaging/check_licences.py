"""Check that every bundled file has its licence, and every distribution that is needed its text.

    python packaging/check_licences.py

Prints a line a licence with the number and size of its files; exits 3 where something lacks one.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from contents import PACKAGING, ROOT
from notices import MissingLicenceError, distributions, licence_texts

TABLE = PACKAGING / "licences" / "files.toml"


def rows(table: Path = TABLE) -> list[dict[str, Any]]:
    """Return the table of licences."""
    return list(tomllib.loads(table.read_text(encoding="utf-8"))["files"])


def bundled_files() -> Iterator[str]:
    """Yield the files of a wheel, relative to the checkout."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for folder in project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix()


def licence_of(name: str, table: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the row of a file; None where it has none."""
    return next((row for row in table if fnmatchcase(name, row["pattern"])), None)


def problems(table: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each file, row and distribution without what it needs."""
    used: set[str] = set()
    for name in bundled_files():
        row = licence_of(name, table)
        if row is None:
            yield f"{name} has no licence: add it to {TABLE.relative_to(ROOT)}"
        else:
            used.add(row["pattern"])
    for row in table:
        if row["pattern"] not in used:
            yield f"{row['pattern']} fits no file"
        if not row.get("notices") and not (ROOT / row["text"]).is_file():
            yield f"{row['text']}, the text of {row['pattern']}, is not there"
    for package in distributions():
        try:
            licence_texts(package)
        except MissingLicenceError as error:
            yield str(error)


def summary(table: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line a licence: its files and their size."""
    counts, sizes = Counter[str](), Counter[str]()
    for name in bundled_files():
        row = licence_of(name, table)
        licence = "none" if row is None else str(row["licence"])
        counts[licence] += 1
        sizes[licence] += (ROOT / name).stat().st_size
    for licence, count in counts.most_common():
        yield f"{licence}: {count} files, {sizes[licence] / 1e6:.1f} MB"
    yield f"{len(distributions())} distributions, each with its text"


def main() -> int:
    """Print the summary, or what is missing."""
    table = rows()
    missing = list(problems(table))
    print("\n".join(missing or summary(table)))
    return 3 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
