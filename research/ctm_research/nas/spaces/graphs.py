"""The graphs of a whole search space: built once, then read from a cache."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, fields
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from ctm_research.nas.spaces.kernels import Kernel, KernelTable, kernel_table, kernels_of
from ctm_research.network.graph_table import GraphTable
from ctm_research.packed import PackedGraphs
from predictor.core.errors import HostError
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.network.features import FEATURE_NAMES
from predictor.probing.networks.spaces import operator_graph_of

_VERSION = 1  # of what is stored; a change of the builders or of the columns raises it
_CHUNK = 100


@dataclass(frozen=True, slots=True, eq=False)
class SpaceGraphs:
    """The A graphs of a space.

    Attributes:
        kernels: launched by each graph.
        packed: operators and edges of each graph.
    """

    kernels: KernelTable
    packed: PackedGraphs


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    counted: list[Counter[Kernel]]
    packed: PackedGraphs


def cached_graphs(
    builder: str,
    codes: NDArray[np.int64],
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
    folder: Path | None = None,
) -> SpaceGraphs:
    """Return the graphs of every architecture, from the cache where they are in it.

    Args:
        builder: name of the space's builder, as in ``probing.networks.spaces``.
        codes: int64 [A, P], one code a row.
        progress: told the number of graphs built.
        cancel: asks to stop.
        folder: of the cache; None means the user's.

    Raises:
        InputError: a code is none of the space.
        HostError: the cache cannot be written.
        CancelledError: a stop was asked for.
    """
    folder = user_cache_path("CloserToMe", appauthor=False) / "nas" if folder is None else folder
    path = folder / f"{builder}-{_key(builder, codes)}.npz"
    graphs = _read(path)
    if graphs is None or len(graphs.packed) != len(codes):
        graphs = build_graphs(builder, codes, progress, cancel or CancelToken())
        _write(path, graphs)
    return graphs


def build_graphs(
    builder: str, codes: NDArray[np.int64], progress: ProgressCallback, cancel: CancelToken
) -> SpaceGraphs:
    """Build every graph, in one process a free core.

    Raises:
        InputError: a code is none of the space.
        CancelledError: a stop was asked for.
    """
    chunks = [codes[start : start + _CHUNK].tolist() for start in range(0, len(codes), _CHUNK)]
    if len(chunks) == 1:
        cancel.check()
        return _joined([_built(builder, chunks[0])])
    # spawn on Linux too: a fork copies locks as other threads hold them at that moment.
    with ProcessPoolExecutor(_free_cores(), get_context("spawn")) as pool:
        futures = [pool.submit(_built, builder, chunk) for chunk in chunks]
        try:
            _watch(futures, progress, cancel, len(codes))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
        return _joined([future.result() for future in futures])


def _built(builder: str, codes: Sequence[Sequence[int]]) -> _Chunk:
    graphs = [operator_graph_of(builder, code) for code in codes]
    return _Chunk([kernels_of(graph) for graph in graphs], PackedGraphs.of(GraphTable.of(graphs)))


def _joined(chunks: Sequence[_Chunk]) -> SpaceGraphs:
    return SpaceGraphs(
        kernel_table(counter for chunk in chunks for counter in chunk.counted),
        PackedGraphs.joined([chunk.packed for chunk in chunks]),
    )


def _watch(
    futures: Sequence[Future[_Chunk]], progress: ProgressCallback, cancel: CancelToken, total: int
) -> None:
    done = 0
    for future in as_completed(futures):
        cancel.check()
        done += len(future.result().packed)
        progress(Progress(done, total, "building graphs"))


def _free_cores() -> int:
    """Return the number of idle cores, at least one."""
    # Windows has no load average.
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, (os.cpu_count() or 1) - round(load))


def _key(builder: str, codes: NDArray[np.int64]) -> str:
    form = f"{_VERSION} {builder} {codes.shape} {FEATURE_NAMES}"
    digest = hashlib.sha256(form.encode())
    digest.update(np.ascontiguousarray(codes, np.int64).tobytes())
    return digest.hexdigest()[:16]


def _arrays(graphs: SpaceGraphs) -> Mapping[str, NDArray[np.generic]]:
    return {
        f"{name}.{field.name}": getattr(part, field.name)
        for name, part in (("kernels", graphs.kernels), ("packed", graphs.packed))
        for field in fields(part)
    }


def _read(path: Path) -> SpaceGraphs | None:
    """Return the stored graphs; a file that is cut off or of another form counts as absent."""
    try:
        # Opened here: np.load by path leaves the file open where the archive is damaged.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            kernels = {field.name: stored[f"kernels.{field.name}"] for field in fields(KernelTable)}
            packed = {field.name: stored[f"packed.{field.name}"] for field in fields(PackedGraphs)}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return SpaceGraphs(KernelTable(**kernels), PackedGraphs(**packed))


def _write(path: Path, graphs: SpaceGraphs) -> None:
    """Write beside and rename: a reader never sees half a file."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # An open file: savez would append .npz to a path that ends otherwise.
        with partial.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **_arrays(graphs))
        partial.replace(path)
    except OSError as error:
        raise HostError(
            str(path), f"it cannot be written ({error.strerror})", "free space in the cache folder"
        ) from error
