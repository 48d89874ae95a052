"""Latencies on accelerators that were looked up: one of two units, and pages that agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctm_research.sources import SOURCES, Sample, Statistic
from ctm_research.sources.source import GRAPH_FOLDERS
from predictor.core.records import Precision

SOURCE = SOURCES["accelerators"]


@pytest.fixture
def rows(tmp_path: Path) -> list[Sample]:
    """Return the samples beside the folders of graphs, which are empty."""
    for name in GRAPH_FOLDERS:
        (tmp_path / name).mkdir()
    return list(SOURCE.samples(tmp_path))


def test_what_both_units_do_is_halved(rows: list[Sample]) -> None:
    # 2037 images a second of both units, two images a run: 2 * 2 / 2037 s.
    [one, other] = [row for row in rows if row.network.startswith("ResNet-50")]

    assert one.latency_ms == pytest.approx(4e3 / 2037)
    assert other.latency_ms == pytest.approx(1e3 / 504)  # 504 runs a second of one unit
    assert (one.batch_factor, one.configuration.batch, one.statistic) == (2, 2, Statistic.MEAN)
    assert (one.device_id, one.configuration.precision) == ("jetson-agx-orin-dla", Precision.INT8)
    assert not any(row.excluded or row.doubt for row in rows)


def test_an_owner_of_one_unit_found_what_the_maker_states(rows: list[Sample]) -> None:
    of_maker = {row.network: row.latency_ms for row in rows if "README.md" in row.provenance}
    of_owner = {row.network: row.latency_ms for row in rows if "issues" in row.provenance}

    assert len(of_owner) == 5
    for network, latency_ms in of_owner.items():
        assert latency_ms == pytest.approx(of_maker[network], rel=0.025)


def test_networks_of_the_folder_are_those_of_the_pages(rows: list[Sample]) -> None:
    without = {row.network for row in rows if row.graph is None}

    assert without == {"ResNet-34 backbone 1x3x768x1280", "RetinaNet ResNet-34 1x3x768x1280"}


def test_the_table_counts_beside_its_graphs_alone(tmp_path: Path) -> None:
    assert SOURCE.path(tmp_path) == tmp_path / "accelerators"
