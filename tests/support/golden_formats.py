"""Files of other formats that are stored packed."""

from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden" / "formats"


def unpacked(name: str, folder: Path) -> Path:
    """Return a file or folder of :data:`FOLDER`, unpacked.

    Args:
        name: of the packed file: one file in xz, or the tar of a folder in xz.
        folder: where to write it.
    """
    path = folder / Path(name).name.removesuffix(".xz")
    content = lzma.decompress((FOLDER / name).read_bytes())
    if path.suffix != ".tar":
        path.write_bytes(content)
        return path
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")
    return path.with_suffix("")
