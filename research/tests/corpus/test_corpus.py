"""The corpus: every row is in it or counted, graphs are distinct, the batch is the graph's."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from ctm_research.corpus import Sizes, build_corpus
from ctm_research.corpus.corpus import STATISTICS
from ctm_research.network.graph_table import GraphTable
from ctm_research.sources import SOURCES, Statistic
from predictor.core.errors import CancelledError, InputError
from predictor.core.metrics import Family
from predictor.core.progress import CancelToken, Progress
from predictor.core.records import Configuration, Precision
from research.tests.corpus.small_corpus import (
    NAS_DEVICES,
    OPERATORS,
    SIZES,
    catalogue,
    network,
    small_corpus,
    write_data,
)
from tests.support.networks.ingesting import ingest_proto


def graph_number(name: str, batch: int) -> int:
    graphs = small_corpus().graphs
    (number,) = (
        g for g in range(len(graphs)) if graphs.names[g] == name and graphs.batch[g] == batch
    )
    return number


def test_every_row_of_every_table_is_in_the_corpus_or_counted_with_its_reason(
    tmp_path: Path,
) -> None:
    write_data(tmp_path)
    tables = [*tmp_path.glob("*/latencies.csv"), tmp_path / "neusight/models.csv"]
    rows = sum(len(path.read_text("utf-8").splitlines()) - 1 for path in tables)
    rows += len(OPERATORS) + 3 * 3 * len(NAS_DEVICES)

    corpus = build_corpus(tmp_path, SIZES)

    left_out = sum(sum(counts.values()) for counts in corpus.left_out.values())
    assert len(corpus.measurements) + left_out == rows
    assert {"rknn", "xilinx_dpu"} <= set(corpus.absent)
    assert corpus.absent == tuple(n for n, s in SOURCES.items() if not s.path(tmp_path).is_dir())


def test_rows_that_are_no_latency_say_why() -> None:
    left_out = small_corpus().left_out

    assert left_out["hailo"] == {"interval between results: throughput, no latency": 1}
    assert left_out["neusight"] == {"forward and backward pass": 1}
    assert left_out["aihub"] == {"no graph of the network is at hand": 1}
    assert left_out["nas-fbnet"]["estimated by a simulator"] == 3
    (compiled,) = (n for why, n in left_out["nas-nasbench201"].items() if "compiler" in why)
    assert compiled == 3  # Raspberry Pi 4, three architectures
    assert "hailo" not in small_corpus().sources


def test_a_network_at_two_batches_is_two_graphs_of_one_network() -> None:
    graphs = small_corpus().graphs
    small, large = graph_number("resnet18 224", 64), graph_number("resnet18 224", 256)
    one = ingest_proto(network(16, 24, 48, 16)).graph

    assert graphs.network[small] == graphs.network[large]
    assert (graphs.factor[small], graphs.factor[large]) == (64, 256)
    for number, factor in ((small, 64), (large, 256)):
        graph = graphs.operator_graph(number)
        assert graph.fingerprint == one.fingerprint
        assert graph.macs.tolist() == (one.macs * factor).tolist()


def test_graphs_are_packed_as_they_are() -> None:
    graphs = small_corpus().graphs
    numbers = np.arange(len(graphs))[::-1]

    packed = graphs.table(numbers)
    whole = GraphTable.of([graphs.operator_graph(number) for number in numbers.tolist()])

    for name in ("op_code", "features", "edges", "node_offsets", "edge_offsets"):
        np.testing.assert_array_equal(getattr(packed, name), getattr(whole, name))


def test_one_network_in_two_sources_is_one_graph_where_the_batch_agrees() -> None:
    corpus = small_corpus()
    m = corpus.measurements
    (row,) = corpus.rows_of("aihub")
    graph = int(m.graph[row])

    assert corpus.graphs.batch[graph] == 1
    assert corpus.graphs.network[graph] == corpus.graphs.network[graph_number("resnet18 224", 64)]
    target = corpus.targets[m.target[row]]
    assert (target.device_id, target.configuration) == (
        "snapdragon-8-gen-3-npu",
        Configuration("tflite", Precision.FP16),
    )
    assert STATISTICS[m.statistic[row]] is Statistic.STATED
    assert "job j1" in corpus.provenances[m.provenance[row]]
    assert m.latency_ms[row] == 0.6


def test_the_batch_is_not_in_the_target() -> None:
    corpus = small_corpus()
    rows = corpus.rows_of("timm")

    assert len(rows) == 12
    assert len(np.unique(corpus.measurements.target[rows])) == 3
    assert {target.configuration.batch for target in corpus.targets} == {0}


def test_boards_of_one_chip_are_one_target_and_their_rows_stay() -> None:
    corpus = small_corpus()
    (target,) = (t for t, found in enumerate(corpus.targets) if found.device_id == "rk3588-cpu")

    rows = np.flatnonzero(corpus.measurements.target == target)

    assert sorted(corpus.measurements.latency_ms[rows].tolist()) == [41.25, 41.25, 44.5, 44.5]


def test_of_a_device_that_the_catalogue_lacks_nothing_but_the_name_is_known() -> None:
    corpus = small_corpus()
    unlisted = {t.device: t for t in corpus.targets if not t.is_listed}

    assert set(unlisted) == {"new_board cpu", "new_card"}
    device = unlisted["new_board cpu"].target(catalogue()).device
    assert (device.name, device.metrics) == ("new_board cpu", {})
    assert device.family is Family.MOBILE_CPU
    assert unlisted["new_card"].target(catalogue()).device.family is Family.GPU
    assert unlisted["new_card"].silicon == "nas/new_card"


def test_every_target_has_its_device_of_the_catalogue() -> None:
    corpus = small_corpus()

    targets = corpus.target_list(catalogue())

    assert [t.device.id for t in targets if t.device.id in catalogue()] == [
        t.device_id for t in corpus.targets if t.is_listed
    ]
    with pytest.raises(InputError, match="not one of the 0 devices"):
        corpus.target_list({})


def test_dead_edges_are_in_the_graph_since_they_were_executed() -> None:
    graphs = small_corpus().graphs
    sizes = dict(zip(graphs.names, np.diff(graphs.packed.node_offsets).tolist(), strict=True))

    # All edges skip, all edges are "none" (a multiplication by 0 each), all are convolutions.
    assert sizes["nasbench201 1"] > sizes["nasbench201 0"]
    assert sizes["nasbench201 2"] > sizes["nasbench201 0"]


def test_families_that_share_a_network_are_one(tmp_path: Path) -> None:
    write_data(tmp_path)
    copy = network(16, 24, 48, 16).SerializeToString()
    with zipfile.ZipFile(tmp_path / "timm/graphs.zip", "w") as archive:
        for name in ("resnet18", "mobilenetv2_100", "vgg16"):
            proto = network(16, 8, 16).SerializeToString() if name == "vgg16" else copy
            archive.writestr(f"graphs/{name}__224.onnx", proto)

    corpus = build_corpus(tmp_path, SIZES)

    assert "resnet" not in corpus.families  # ncnn's ResNet-50 is in the joined family too
    assert {"efficientnet", "vgg"} <= set(corpus.families)


def test_a_smaller_draw_is_counted(tmp_path: Path) -> None:
    write_data(tmp_path)

    corpus = build_corpus(tmp_path, Sizes(architectures=1, operators=1, seed=3))

    operators = len(corpus.rows_of("neusight-operators"))
    assert (
        operators
        + corpus.left_out["neusight-operators"]["not drawn: the corpus holds a part of the source"]
        == 5
    )
    assert len(corpus.rows_of("nas-fbnet")) == 2


def test_building_tells_its_progress_and_stops_when_asked(tmp_path: Path) -> None:
    write_data(tmp_path)
    cancel = CancelToken()
    told: list[Progress] = []

    def stop_at_the_third(progress: Progress) -> None:
        told.append(progress)
        if len(told) == 3:
            cancel.cancel()

    with pytest.raises(CancelledError):
        build_corpus(tmp_path, SIZES, stop_at_the_third, cancel)

    assert [progress.done for progress in told] == [0, 0, 1]


def test_a_folder_without_a_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it holds no folder of a source"):
        build_corpus(tmp_path, SIZES)


@pytest.mark.parametrize("sizes", [{"architectures": 0}, {"operators": -1}])
def test_a_draw_of_nothing_is_refused(sizes: dict[str, int]) -> None:
    with pytest.raises(InputError, match="above 0"):
        Sizes(**sizes)
