"""The file of published latencies: found again, small, and refused where it is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_research.published.collect import write_published
from predictor.calibration.published import (
    PublishedLatency,
    published_path,
    read_published,
)
from predictor.core.errors import HostError
from tests.support.published_latencies import HIGH, LOW, NPU, RPI5, published


def test_what_is_written_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    write_published(path, published((LOW, 0, 1.6), (HIGH, 0, 2.5), (HIGH, 1, 3.5)))

    found = read_published(path)

    assert found.find(HIGH, NPU) == PublishedLatency(
        latency_ms=3.5,
        deviation=0.125,
        count=3,
        statistic="median",
        source="a publisher",
        provenance="line 2",
    )
    assert found.find(LOW, RPI5).latency_ms == 1.6
    assert found.find(HIGH, RPI5).latency_ms == 2.5
    assert found.find(LOW, NPU) is None
    assert found.find("01" * 32, RPI5) is None
    assert found.find(LOW, ("rpi5", "ncnn", "fp16", 1)) is None
    assert found.find(LOW, ("rpi5", "ncnn", "fp32", 4)) is None


@pytest.mark.slow
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(range(12)), st.sampled_from([0, 1])),
        st.floats(0.5, 100, width=32),
        min_size=1,
    )
)
def test_every_pair_is_found_and_no_other(latencies: dict[tuple[int, int], float]) -> None:
    names = [f"{number:016x}" + "0" * 48 for number in (0, 1, 2, 3, 2**63, *range(7, 14))]
    found = published(*((names[g], t, ms) for (g, t), ms in latencies.items()))

    for g, name in enumerate(names):
        for t, target in enumerate((RPI5, NPU)):
            entry = found.find(name, target)
            found_ms = None if entry is None else np.float32(entry.latency_ms)
            assert found_ms == latencies.get((g, t))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"no archive"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "p.npz"
    path.write_bytes(content)

    with pytest.raises(HostError, match=r"p\.npz: it cannot be read .* install the program again"):
        read_published(path)


def test_a_cut_file_and_another_form_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.npz"
    write_published(path, published((LOW, 0, 1.5)))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(HostError):
        read_published(path)
    monkeypatch.setattr("predictor.calibration.published.SCHEMA", "ctm-published/2")
    path.write_bytes(whole)
    with pytest.raises(HostError, match="its form is ctm-published/1, not ctm-published/2"):
        read_published(path)
    with pytest.raises(HostError, match="it cannot be read"):
        read_published(tmp_path / "nowhere.npz")


def test_the_shipped_file_is_small_sorted_and_names_devices_of_the_catalogue() -> None:
    found = read_published()
    devices = {path.stem for path in (published_path().parents[1] / "devices").glob("*.json")}

    assert published_path().stat().st_size < 2_000_000
    assert len(found.columns.prefix) > 19_000
    measured = {target.device_id for target in found.targets}
    assert measured <= devices
    assert "hailo-8" not in measured  # its one published latency is of a preview
    pairs = np.stack([found.columns.prefix, found.columns.target.astype(np.uint64)])
    order = np.lexsort(pairs[::-1])
    assert (order == np.arange(len(order))).all()
    assert len(np.unique(pairs, axis=1).T) == len(order)
    assert (found.columns.latency_ms > 0).all()
    assert (found.columns.deviation > 0).all()
