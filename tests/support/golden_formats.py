"""Files of other formats that are stored packed."""

from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden" / "formats"


def unpacked(name: str, folder: Path) -> Path:
    """Return a file or folder of :data:`FOLDER`, unpacked with its weights where they lie apart.

    Args:
        name: of the packed file: one file in xz, or the tar of a folder in xz.
        folder: where to write it.
    """
    path = folder / Path(name).name.removesuffix(".xz")
    content = lzma.decompress((FOLDER / name).read_bytes())
    if path.suffix != ".tar":
        path.write_bytes(content)
        weights = (FOLDER / name).with_suffix("").with_suffix(".bin.xz")
        if path.suffix == ".xml" and weights.is_file():
            path.with_suffix(".bin").write_bytes(lzma.decompress(weights.read_bytes()))
        return path
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")
    return path.with_suffix("")
