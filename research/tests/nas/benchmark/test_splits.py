"""Partitions, test architectures, and a live device that counts what is read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ctm_research.nas.benchmark.splits import Partition, load_partitions, split
from predictor.core.errors import InputError
from research.tests.nas.small_space import small_space
from research.tests.nas.splits import PARTITION, small_split


def write_partitions(data: Path, **entry: object) -> Path:
    (data / "nas").mkdir()
    content = {"fbnet": {"F@1": {"train": ["a", "b"], "test": ["c"], **entry}}}
    (data / "nas/partitions.json").write_text(json.dumps(content))
    return data


def test_partitions_are_read(tmp_path: Path) -> None:
    found = load_partitions(write_partitions(tmp_path, paper_rae_percent={"c": 3.5}))

    assert found == {"F@1": Partition("F@1", "fbnet", ("a", "b"), ("c",), {"c": 3.5})}


@pytest.mark.parametrize("role", ["train", "test"])
def test_an_empty_partition_is_refused(tmp_path: Path, role: str) -> None:
    with pytest.raises(InputError, match=f"partition F@1: it has no {role} device"):
        load_partitions(write_partitions(tmp_path, **{role: []}))


def test_a_device_on_both_sides_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="b is a train and a test device"):
        load_partitions(write_partitions(tmp_path, test=["b"]))


@pytest.mark.parametrize("content", ["", "[]", '{"fbnet": 3}', '{"fbnet": {"F@1": []}}'])
def test_a_damaged_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "nas").mkdir()
    (tmp_path / "nas/partitions.json").write_text(content)

    with pytest.raises(InputError, match=r"partitions\.json: it cannot be read"):
        load_partitions(tmp_path)


def test_test_architectures_are_the_same_for_every_partition_of_a_space() -> None:
    other = Partition("N@8", "nasbench201", ("pixel3",), ("fpga",), {})

    first, second = small_split(), split(small_space(), other, tests=20)

    assert first.test_rows.tolist() == second.test_rows.tolist()
    assert len(set(first.test_rows)) == 20
    assert sorted([*first.test_rows, *first.view.rows]) == list(range(80))


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(InputError, match="device toaster: nasbench201 has no such device"):
        split(small_space(), Partition("N@7", "nasbench201", ("fpga",), ("toaster",), {}), 20)


def test_a_space_without_enough_architectures_is_refused() -> None:
    with pytest.raises(InputError, match="it has 80 architectures, 80 are to be test"):
        split(small_space(), PARTITION, tests=80)


def test_a_live_device_gives_k_latencies_and_no_more() -> None:
    found = small_split()
    device = found.live_device("pixel3", 2)
    first, second, third = found.view.rows[:3].tolist()
    column = found.space.column("pixel3")

    assert device.measure(first) == found.space.latency_ms[first, column]
    assert device.measure(second) == found.space.latency_ms[second, column]
    assert device.measure(first) == found.space.latency_ms[first, column]  # known: no new read
    assert device.reads == (first, second)
    with pytest.raises(InputError, match="2 latencies are read, the budget allows no more"):
        device.measure(third)


def test_a_live_device_runs_no_test_architecture() -> None:
    found = small_split()

    with pytest.raises(InputError, match="it is a test architecture"):
        found.live_device("pixel3", 2).measure(int(found.test_rows[0]))


@pytest.mark.parametrize("device", ["fpga", "toaster"])
def test_a_train_device_is_no_live_device(device: str) -> None:
    with pytest.raises(InputError, match=r"it is no test device of N@9"):
        small_split().live_device(device, 3)


def test_the_truth_is_that_of_the_test_rows() -> None:
    found = small_split()

    assert np.array_equal(
        found.truth("pixel3"),
        found.space.latency_ms[found.test_rows, found.space.column("pixel3")],
    )
