"""The corpus on disk: built once for the content of a data folder, then opened in an instant.

An entry is a folder: one ``.npy`` file an array, which is mapped and not read, and a JSON file
with the words, which is written last. Its name is a digest of the data files' content, of the
tables of devices and networks, of the code that reads them, and of the form of the entry.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from ctm_research.corpus.build import build_corpus
from ctm_research.corpus.corpus import (
    STATISTICS,
    Corpus,
    CorpusTarget,
    Graphs,
    Measurements,
)
from ctm_research.corpus.drafts import Sizes
from ctm_research.corpus.packing import CostRows
from ctm_research.packed import PackedGraphs
from ctm_research.sources import SOURCES, built, graphs
from ctm_research.sources.aliases import alias_files
from predictor.core.errors import HostError
from predictor.core.metrics import Family
from predictor.core.progress import CancelToken, ProgressCallback, no_progress
from predictor.core.records import Configuration, Precision
from predictor.cost.columns import CODES
from predictor.graph.operators import OPERATORS
from predictor.network.features import FEATURE_NAMES

_VERSION = 5  # of what is stored; a change of ingestion or of the form raises it
_WORDS = "corpus.json"
_GRAPHS = "graphs"  # that were read, so that another table of aliases does not read them again
_BLOCK_BYTES = 1 << 20
Part = TypeVar("Part", Measurements, PackedGraphs, CostRows)
_GRAPH_ARRAYS = ("network", "factor", "batch", "family", "blob", "blob_offsets")


def open_corpus(
    data: Path,
    sizes: Sizes | None = None,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
    folder: Path | None = None,
) -> Corpus:
    """Return the corpus of a data folder, from the cache where it is in it.

    Args:
        data: folder with one folder a source.
        sizes: of the samples drawn from the large sources.
        progress: told before each graph is read.
        cancel: asks to stop.
        folder: of the cache; None means the user's.

    Raises:
        InputError: no source is there, or a file of one is missing or damaged.
        HostError: a file cannot be read, or the cache cannot be written.
        CancelledError: a stop was asked for.
    """
    sizes = Sizes() if sizes is None else sizes
    folder = user_cache_path("CloserToMe", appauthor=False) / "corpus" if folder is None else folder
    path = folder / corpus_key(data, sizes)
    corpus = read_corpus(path)
    if corpus is None:
        write_corpus(path, build_corpus(data, sizes, progress, cancel, folder / _GRAPHS))
        corpus = read_corpus(path)
    if corpus is None:
        raise HostError(str(path), "it cannot be read again after it was written", "check the disk")
    return corpus


def corpus_key(data: Path, sizes: Sizes) -> str:
    """Return the name of a data folder's entry; equal content has equal names.

    Raises:
        HostError: a file cannot be read.
    """
    names = [source.names for source in SOURCES.values()]
    form = (_VERSION, FEATURE_NAMES, OPERATORS, CODES, STATISTICS, asdict(sizes), names)
    digest = hashlib.sha256(repr(form).encode())
    loaders = sorted(Path(built.__file__).parent.glob("*.py"))
    for path in (*_data_files(data), *graphs.tables(), *alias_files(), *loaders):
        name = path.relative_to(data).as_posix() if path.is_relative_to(data) else path.name
        digest.update(f"\n{name} ".encode())
        try:
            with path.open("rb") as file:
                while block := file.read(_BLOCK_BYTES):
                    digest.update(block)
        except OSError as error:
            raise HostError(
                str(path), f"it cannot be read ({error.strerror})", "check the data folder"
            ) from error
    return digest.hexdigest()[:24]


def _data_files(data: Path) -> Iterator[Path]:
    """Yield what a corpus may read: whole folders, and the table of joins between them."""
    folders = {source.path(data) for source in SOURCES.values()}
    folders |= {data / name for name in graphs.SETS}
    for folder in sorted(folders):
        yield from sorted(path for path in folder.rglob("*") if path.is_file())
    yield from (path for path in [data / graphs.JOINS] if path.is_file())
    yield from built.files(data)


def write_corpus(path: Path, corpus: Corpus) -> None:
    """Write an entry beside and rename it: a reader never sees half of one.

    Raises:
        HostError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f"{path.name}.", dir=path.parent))
        try:
            for name, array in _arrays(corpus):
                np.save(partial / f"{name}.npy", array, allow_pickle=False)
            text = json.dumps(_words(corpus), separators=(",", ":"))
            (partial / _WORDS).write_text(text, encoding="utf-8")
            shutil.rmtree(path, ignore_errors=True)  # a damaged one, or another process's equal one
            partial.rename(path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise HostError(
            str(path), f"it cannot be written ({error.strerror})", "free space in the cache folder"
        ) from error


def read_corpus(path: Path) -> Corpus | None:
    """Return an entry; one that is absent, cut off or of another form is None."""
    try:
        words = json.loads((path / _WORDS).read_text(encoding="utf-8"))
        graphs = Graphs(
            names=tuple(words["names"]),
            packed=_part(path, "packed", PackedGraphs),
            costs=_part(path, "costs", CostRows),
            **{name: _array(path, f"graphs.{name}") for name in _GRAPH_ARRAYS},
        )
        return Corpus(
            measurements=_part(path, "measurements", Measurements),
            graphs=graphs,
            targets=tuple(map(_target, words["targets"])),
            sources=tuple(words["sources"]),
            families=tuple(words["families"]),
            provenances=tuple(words["provenances"]),
            left_out=words["left_out"],
            absent=tuple(words["absent"]),
        )
    except (OSError, ValueError, KeyError, TypeError, EOFError):
        return None


def _arrays(corpus: Corpus) -> Iterator[tuple[str, NDArray[Any]]]:
    yield from _part_arrays("measurements", corpus.measurements)
    yield from _part_arrays("packed", corpus.graphs.packed)
    yield from _part_arrays("costs", corpus.graphs.costs)
    for name in _GRAPH_ARRAYS:
        yield f"graphs.{name}", getattr(corpus.graphs, name)


def _part_arrays(name: str, part: Part) -> Iterator[tuple[str, NDArray[Any]]]:
    for field in fields(part):
        yield f"{name}.{field.name}", getattr(part, field.name)


def _part(path: Path, name: str, kind: type[Part]) -> Part:
    return kind(**{field.name: _array(path, f"{name}.{field.name}") for field in fields(kind)})


def _array(path: Path, name: str) -> NDArray[Any]:
    """Map a file; numpy refuses one that is shorter than its header says."""
    mapped = np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    return np.asarray(mapped)


def _words(corpus: Corpus) -> dict[str, Any]:
    return {
        "names": corpus.graphs.names,
        "targets": [asdict(target) for target in corpus.targets],
        "sources": corpus.sources,
        "families": corpus.families,
        "provenances": corpus.provenances,
        "left_out": corpus.left_out,
        "absent": corpus.absent,
    }


def _target(words: dict[str, Any]) -> CorpusTarget:
    stored = words.pop("configuration")
    configuration = Configuration(**{**stored, "precision": Precision(stored["precision"])})
    family = words.pop("family")
    return CorpusTarget(
        **words,
        family=None if family is None else Family(family),
        configuration=configuration,
    )
