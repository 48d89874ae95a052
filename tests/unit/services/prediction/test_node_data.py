from __future__ import annotations

import json
from pathlib import Path

import pytest

from predictor.core.errors import HostError
from predictor.services.prediction.explain import OperatorTable, explain
from predictor.services.prediction.node_data import node_data, write_node_data
from tests.support.graphs import Op, make_target
from tests.support.models import make_model


@pytest.fixture
def table() -> OperatorTable:
    return explain(make_model(Op(macs=10**9), Op(macs=10**8)), make_target())


def test_nodes_of_one_name_carry_their_sum() -> None:
    document = node_data(["conv", "add", "conv"], [1.0, 0.0, 0.25])

    assert document["results"] == {"conv": {"value": 1.25}, "add": {"value": 0.0}}


def test_the_gradient_covers_every_value_from_least_to_most() -> None:
    stops = [item["stop"] for item in node_data([], [])["gradient"]]  # type: ignore[attr-defined]

    assert stops == [0, 1]


def test_latencies_and_percent_are_two_files(table: OperatorTable, tmp_path: Path) -> None:
    files = write_node_data(table, tmp_path / "net.json")

    assert [file.name for file in files] == ["net.json", "net.share.json"]
    latency, share = (json.loads(file.read_text())["results"] for file in files)
    assert list(latency) == list(share) == list(table.names)
    assert sum(cell["value"] for cell in latency.values()) == pytest.approx(
        table.latency_ms.sum(), rel=1e-5
    )
    assert sum(cell["value"] for cell in share.values()) == pytest.approx(100, rel=1e-5)
    assert sorted(tmp_path.iterdir()) == sorted(files)


def test_a_folder_that_is_not_there_is_named(table: OperatorTable, tmp_path: Path) -> None:
    (tmp_path / "missing").touch()  # a file in the way of a folder
    with pytest.raises(HostError, match=r"missing/net\.json: the node data could not be written"):
        write_node_data(table, tmp_path / "missing" / "net.json")
