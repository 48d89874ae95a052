"""The cache: opened without building, keyed by content, never half written."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from ctm_research.corpus import Corpus, Sizes, open_corpus
from ctm_research.corpus.cache import corpus_key, read_corpus, write_corpus
from predictor.core.errors import CancelledError, HostError
from predictor.core.progress import CancelToken, Progress
from research.tests.corpus.small_corpus import SIZES, small_corpus, write_data


def assert_equal(one: Corpus, other: Corpus) -> None:
    for name in ("targets", "sources", "families", "provenances", "left_out", "absent"):
        assert getattr(one, name) == getattr(other, name)
    parts = [(c.measurements, c.graphs.packed, c.graphs.costs, c.graphs) for c in (one, other)]
    for part, same in zip(*parts, strict=True):
        for field in fields(part):
            found, expected = getattr(part, field.name), getattr(same, field.name)
            if isinstance(found, np.ndarray):
                np.testing.assert_array_equal(found, expected)
                assert found.dtype == expected.dtype
    assert one.graphs.names == other.graphs.names


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    write_corpus(tmp_path / "entry", small_corpus())

    found = read_corpus(tmp_path / "entry")

    assert found is not None
    assert_equal(found, small_corpus())
    assert found.graphs.operator_graph(3).fingerprint == (
        small_corpus().graphs.operator_graph(3).fingerprint
    )
    assert [path.name for path in tmp_path.iterdir()] == ["entry"]


def test_a_corpus_is_built_once(tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    told: list[Progress] = []
    first = open_corpus(tmp_path / "data", SIZES, told.append, folder=tmp_path / "cache")
    assert told
    told.clear()

    again = open_corpus(tmp_path / "data", SIZES, told.append, folder=tmp_path / "cache")

    assert told == []
    assert_equal(again, first)


def test_the_key_is_that_of_content_and_sizes(tmp_path: Path) -> None:
    write_data(tmp_path)
    key = corpus_key(tmp_path, SIZES)
    table = tmp_path / "ncnn/latencies.csv"
    os.utime(table, ns=(1, 1))
    (tmp_path / "of no source.txt").write_text("note", encoding="utf-8")

    assert corpus_key(tmp_path, SIZES) == key
    assert corpus_key(tmp_path, Sizes(architectures=2, operators=4)) != key
    table.write_text(table.read_text("utf-8").replace("50.0", "50.1", 1), encoding="utf-8")
    assert corpus_key(tmp_path, SIZES) != key


@pytest.mark.parametrize("name", ["measurements.latency_ms.npy", "graphs.blob.npy", "corpus.json"])
def test_an_entry_that_is_cut_off_is_built_again(tmp_path: Path, name: str) -> None:
    write_data(tmp_path / "data")
    path = tmp_path / "cache" / corpus_key(tmp_path / "data", SIZES)
    write_corpus(path, small_corpus())
    os.truncate(path / name, (path / name).stat().st_size - 8)
    assert read_corpus(path) is None

    found = open_corpus(tmp_path / "data", SIZES, folder=tmp_path / "cache")

    assert_equal(found, small_corpus())


def test_a_stop_leaves_nothing(tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    cancel = CancelToken()
    cancel.cancel()

    with pytest.raises(CancelledError):
        open_corpus(tmp_path / "data", SIZES, cancel=cancel, folder=tmp_path / "cache")

    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")

    with pytest.raises(HostError, match="cannot be written"):
        write_corpus(tmp_path / "file" / "entry", small_corpus())
