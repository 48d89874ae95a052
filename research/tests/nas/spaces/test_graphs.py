"""Graphs of a space: built in processes, kept in a cache, stopped on demand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ctm_research.nas.spaces.graphs import build_graphs, cached_graphs
from predictor.core.errors import CancelledError, HostError, InputError
from predictor.core.progress import CancelToken, Progress, no_progress

CODES = np.array([[1] * 6, [2] * 6, [3] * 6])
BUILDER = "nasbench201-eager"


def test_the_second_time_nothing_is_built(tmp_path: Path) -> None:
    first = cached_graphs(BUILDER, CODES, folder=tmp_path)
    (file,) = tmp_path.iterdir()
    stamp = file.stat().st_mtime_ns

    second = cached_graphs(BUILDER, CODES, folder=tmp_path)

    assert file.stat().st_mtime_ns == stamp
    assert np.array_equal(first.kernels.counts, second.kernels.counts)
    assert np.array_equal(first.packed.kind, second.packed.kind)


def test_other_codes_are_other_graphs(tmp_path: Path) -> None:
    cached_graphs(BUILDER, CODES, folder=tmp_path)

    found = cached_graphs(BUILDER, CODES[::-1], folder=tmp_path)

    assert len(list(tmp_path.iterdir())) == 2
    assert np.array_equal(found.kernels.counts, build_graphs_now(CODES[::-1]))


def build_graphs_now(codes: np.ndarray) -> np.ndarray:
    return build_graphs(BUILDER, codes, no_progress, CancelToken()).kernels.counts


def test_a_cache_file_that_is_cut_off_is_written_anew(tmp_path: Path) -> None:
    cached_graphs(BUILDER, CODES, folder=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:100])

    assert len(cached_graphs(BUILDER, CODES, folder=tmp_path).packed) == 3
    assert file.stat().st_size > 100


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    with pytest.raises(HostError, match="it cannot be written"):
        cached_graphs(BUILDER, CODES, folder=tmp_path / "file")


def test_processes_build_the_same_as_one_and_tell_progress() -> None:
    codes = np.tile(CODES, (34, 1))  # 102: more than one portion of work
    told: list[Progress] = []

    found = build_graphs(BUILDER, codes, told.append, CancelToken())

    assert np.array_equal(found.kernels.counts, np.tile(build_graphs_now(CODES), (34, 1)))
    assert [(progress.done, progress.total) for progress in told][-1] == (102, 102)


def test_a_stop_ends_the_work() -> None:
    cancel = CancelToken()
    codes = np.tile(CODES, (34, 1))

    with pytest.raises(CancelledError):
        build_graphs(BUILDER, codes, lambda _: cancel.cancel(), cancel)


def test_a_code_of_another_space_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="position 0 is 9"):
        cached_graphs(BUILDER, np.array([[9] * 6]), folder=tmp_path)
    assert not list(tmp_path.iterdir())
