"""Graphs that ``ctm_research.building`` made from Python packages.

They lie in ``built`` of the data folder, else in the user's cache folder: one gzipped ONNX file a
network, which is whole when it has its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from ctm_research.sources.samples import GraphFile

FOLDER: Final = "built"
ENDING: Final = ".onnx.gz"


def folder(data: Path) -> Path:
    """Return the folder of the graphs of a data folder; it need not be there."""
    beside = data / FOLDER
    return beside if beside.is_dir() else user_cache_path("CloserToMe", appauthor=False) / FOLDER


def graphs(data: Path) -> Mapping[str, GraphFile]:
    """Return the graphs that are there by name."""
    return {path.name.removesuffix(ENDING): GraphFile(path) for path in files(data)}


def files(data: Path) -> Iterator[Path]:
    """Yield the files of the graphs in the order of their names."""
    yield from sorted(folder(data).glob(f"*{ENDING}"))
