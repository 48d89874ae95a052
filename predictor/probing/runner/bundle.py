"""Packs the runner into the one file that is run everywhere."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from predictor.core.errors import HostError

RUNNER_FILE = "ctm_runner.pyz"
_PACKAGE = "ctm_runner"
_NOT_PACKED = frozenset({Path(__file__).name})
_MAIN = """\
import sys

from ctm_runner.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""
# The earliest time that a zip file can hold: equal sources give equal bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def runner_bytes(folder: Path | None = None) -> bytes:
    """Return the runner as a Python zip application, the same bytes for the same sources.

    Args:
        folder: of the sources; this module's own by default.

    Raises:
        HostError: the sources are not there: a frozen program was built without them.
    """
    folder = folder or Path(__file__).parent
    sources = [path for path in sorted(folder.glob("*.py")) if path.name not in _NOT_PACKED]
    if not sources:
        raise HostError(str(folder), "the runner's sources are not there", "install again")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, "__main__.py", _MAIN)
        for path in sources:
            _put(archive, f"{_PACKAGE}/{path.name}", path.read_text(encoding="utf-8"))
    return data.getvalue()


def _put(archive: zipfile.ZipFile, name: str, text: str) -> None:
    archive.writestr(zipfile.ZipInfo(name, _EPOCH), text, zipfile.ZIP_DEFLATED)
