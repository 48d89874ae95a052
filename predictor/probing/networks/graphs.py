"""The operator graphs of the pool's networks, which ship beside it.

Engines need the graphs of measured networks, and building them takes onnx and seconds.
``resources/probes/graphs.zip`` holds one entry a network, named by fingerprint, in the graph's own
byte form; ``packaging/make_probes.py`` writes it.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile

from predictor.core.errors import HostError
from predictor.core.resources import resources_dir
from predictor.graph.operator_graph import OperatorGraph

FILE: Final = "graphs.zip"


def pool_graph(fingerprint: str, path: Path | None = None) -> OperatorGraph | None:
    """Return the graph of a network of the pool; None where no network has the fingerprint.

    Args:
        fingerprint: of the graph.
        path: of the file; None for the one that ships.

    Raises:
        HostError: the file cannot be read: the installation is damaged.
    """
    return _read(path or resources_dir() / "probes" / FILE, fingerprint)


@cache
def _archive(path: Path) -> ZipFile:
    # In memory: an open file could not be replaced on Windows.
    return ZipFile(BytesIO(path.read_bytes()))


@cache
def _read(path: Path, fingerprint: str) -> OperatorGraph | None:
    try:
        archive = _archive(path)
        if fingerprint not in archive.NameToInfo:
            return None
        return OperatorGraph.from_bytes(archive.read(fingerprint))
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise HostError(str(path), f"it cannot be read ({error})", "install again") from error
