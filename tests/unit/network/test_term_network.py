"""The shipped network: what cannot change its output, learning, and its export."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from predictor.core.errors import InputError
from predictor.cost.columns import Columns
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.batch import GraphBatch
from predictor.network.config import NetworkConfig
from predictor.network.features import exact_features
from predictor.network.reference_rates import ReferenceRates
from predictor.network.scale_free import SCALE_FREE_NAMES, scale_free
from predictor.network.scaling import Scaling
from predictor.network.target_facts import CHOICE_KINDS, OF_KIND, TargetFacts, target_facts
from predictor.network.term_network import TargetInput, TermNetwork, TermOutput
from predictor.network.term_runtime import TermRuntime
from predictor.network.work_terms import KINDS, TERMS, Operators, leaving_share, work_terms
from tests.unit.cost.graphs import VIEW, Op, make_graph
from tests.unit.engine.tiny import FACTS, TARGETS, TYPICAL, tiny_checkpoint, tiny_network

RATES = ReferenceRates.of(TARGETS, TYPICAL)
GRAPH = make_graph(
    [
        Op(macs=10**8, read=10**6, weights=10**5, written=10**6, window=(3, 3)),
        Op(flags=VIEW),
        Op(read=10**6, written=10**6),
        Op(macs=10**6, read=10**4, weights=10**6, written=4000, columns=1000),
    ]
)


def facts() -> TargetFacts:
    return target_facts(TARGETS, RATES, FACTS)


def inputs(graph: OperatorGraph) -> tuple[GraphBatch, torch.Tensor, torch.Tensor]:
    """Return the graph, the places of what runs, and the work terms."""
    costs = Columns.of(graph)
    operators, places = Operators.of(costs)
    leaving = leaving_share(costs.weights_by_width[None], costs.live_by_width[None], RATES)
    batch = GraphBatch(
        torch.from_numpy(graph.op_code.astype(np.int64)),
        torch.from_numpy(scale_free(exact_features(graph))),
        torch.from_numpy(graph.edges.astype(np.int64)),
        torch.zeros(len(graph), dtype=torch.int64),
        torch.tensor([len(graph)]),
    )
    return batch, torch.from_numpy(places), torch.from_numpy(work_terms(operators, leaving, RATES))


def as_input(found: TargetFacts) -> TargetInput:
    values = np.where(found.available, found.values, 0).astype(np.float32)
    return TargetInput(*map(torch.from_numpy, (values, found.available, found.choices)))


def run(
    network: TermNetwork, graph: OperatorGraph, targets: TargetInput | None = None
) -> TermOutput:
    batch, places, terms = inputs(graph)
    with torch.no_grad():
        return network(network.encode(batch, places), targets or as_input(facts()), terms)


def test_times_are_factors_of_the_work_terms() -> None:
    network, (_, _, terms) = tiny_network(), inputs(GRAPH)

    parts = run(network, GRAPH).parts_ms

    for part in range(3):
        mine = terms[..., [place for place, kind in enumerate(KINDS) if kind == part]]
        assert (parts[..., part] >= mine.sum(-1) * np.exp(-6)).all()
        assert (parts[..., part] <= mine.sum(-1) * np.exp(6)).all()


def test_an_untrained_network_says_nearly_what_the_terms_say() -> None:
    config = NetworkConfig(metrics=FACTS.names, width=8, features=len(SCALE_FREE_NAMES))
    network = TermNetwork(config, OF_KIND, 2, Scaling.identity(SCALE_FREE_NAMES), summary=3).eval()
    _, _, terms = inputs(GRAPH)

    memory = run(network, GRAPH).parts_ms[..., 1]

    small = terms[..., TERMS.index("small_memory")] * np.exp(-2)
    torch.testing.assert_close(memory, terms[..., TERMS.index("memory")] + small, rtol=0.03, atol=0)


def test_the_order_of_operators_changes_nothing() -> None:
    order = np.array([2, 0, 3, 1])
    place = np.argsort(order).astype(np.int32)
    names = ("op_code", "dtype", "flags", "repeats", "macs", "bytes_read", "weight_bytes")
    names += ("bytes_written", "gemm", "window", "stride")
    moved = replace(
        GRAPH,
        **{name: getattr(GRAPH, name)[order] for name in names},
        edges=place[GRAPH.edges],
    )
    network = tiny_network()

    before, after = run(network, GRAPH), run(network, moved)

    # Rows that run were 0, 2, 3, and are 2, 0, 3 now.
    torch.testing.assert_close(after.parts_ms, before.parts_ms[[1, 0, 2]], rtol=1e-5, atol=0)


def test_a_metric_that_is_not_known_changes_nothing() -> None:
    network, known = tiny_network(), as_input(facts())
    garbage = torch.where(known.available, known.values, 1e3)
    missing = ~known.available
    assert missing.any()

    before = run(network, GRAPH).dialogue
    after = run(network, GRAPH, replace(known, values=torch.where(missing, 0.0, garbage))).dialogue

    torch.testing.assert_close(before.operator_to_metric, after.operator_to_metric)
    columns = before.operator_to_metric[..., len(CHOICE_KINDS) : -1][:, missing]
    assert not columns.any()


def test_a_metric_that_is_known_changes_the_times() -> None:
    network, known = tiny_network(), as_input(facts())
    moved = replace(known, values=known.values + known.available.float())

    before, after = run(network, GRAPH), run(network, GRAPH, moved)

    assert not torch.allclose(before.parts_ms, after.parts_ms, rtol=1e-3)


def test_each_operators_attention_sums_to_one() -> None:
    dialogue = run(tiny_network(), GRAPH).dialogue

    sums = dialogue.operator_to_metric.sum(dim=-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))
    of_metrics = dialogue.metric_to_operator[..., len(CHOICE_KINDS) : -1].sum(dim=0)  # [T, M]
    known = torch.from_numpy(facts().available)
    torch.testing.assert_close(of_metrics[known], torch.ones(int(known.sum())))


def test_every_weight_learns() -> None:
    network = tiny_network()
    network.train()
    batch, places, terms = inputs(GRAPH)
    encoded = network.encode(batch, places)

    output = network(encoded, as_input(facts()), terms)
    expected, responses = output.latency(encoded)
    (expected.square().sum() + responses.square().sum()).backward()

    assert expected.shape == (1, len(TARGETS))
    still = [
        name
        for name, parameter in network.named_parameters()
        if parameter.grad is None or not torch.isfinite(parameter.grad).all()
    ]
    assert not still


def test_statistics_of_other_columns_are_refused() -> None:
    config = NetworkConfig(metrics=FACTS.names, width=8, features=3)

    with pytest.raises(InputError, match="scaling statistics"):
        TermNetwork(config, 1, 2, Scaling.identity(("a",)), summary=3)


@pytest.fixture(scope="module")
def runtime() -> TermRuntime:
    folder = tiny_checkpoint()
    operators = tiny_network().config.operators
    return TermRuntime(folder / "encoder.onnx", folder / "head.onnx", operators)


@pytest.mark.parametrize(
    "graph",
    [
        GRAPH,
        make_graph([Op(macs=1000, read=10, written=10)]),
        replace(make_graph([Op(macs=10), Op(macs=20)]), edges=np.zeros((2, 0), np.int32)),
        make_graph([Op(flags=VIEW)]),
        make_graph([Op(macs=10**index, read=50, written=60) for index in range(12)] * 20),
    ],
    ids=["some", "one operator", "no edges", "nothing runs", "many"],
)
def test_the_export_says_what_torch_says(runtime: TermRuntime, graph: OperatorGraph) -> None:
    network, expected = tiny_network(), run(tiny_network(), graph)
    batch, places, _ = inputs(graph)
    with torch.no_grad():
        responses = network.encode(batch, places).responses

    encoded = runtime.encode(graph)
    found = [output for _, output in runtime.expect(encoded, facts(), RATES)]

    np.testing.assert_array_equal(encoded.places, places.numpy())
    np.testing.assert_allclose(encoded.responses, responses, rtol=1e-4, atol=1e-6)
    assert len(found) == 1
    for name in ("parts_ms", "run_ms"):
        np.testing.assert_allclose(getattr(found[0], name), getattr(expected, name), rtol=1e-4)
    for name in ("operator_to_metric", "metric_to_operator"):
        torch_says = getattr(expected.dialogue, name)
        np.testing.assert_allclose(getattr(found[0], name), torch_says, rtol=1e-4, atol=1e-6)


def test_a_file_that_is_no_network_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "encoder.onnx").write_bytes(b"nothing")

    with pytest.raises(InputError, match="it cannot be loaded"):
        TermRuntime(tmp_path / "encoder.onnx", tmp_path / "head.onnx", 10)
