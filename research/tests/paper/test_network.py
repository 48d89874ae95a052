"""The whole network: invariants, learning, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ctm_research.network.batch import GraphBatch, TargetBatch
from ctm_research.network.config import NetworkConfig, Pooling
from ctm_research.paper.network import MlpReadout, NetworkOutput, PaperNetwork
from predictor.core.errors import InputError
from research.tests.network.samples import (
    METRICS,
    paper_config,
    random_graphs,
    random_targets,
    set_weights,
)
from tests.support.random_weights import randomise

CONFIGS = {
    "paper": paper_config(pooling=Pooling.SUM),
    "paper-A": paper_config(signature_size=0, pooling=Pooling.SUM),
    "paper-baseline": paper_config(metrics=(), devices=5, signature_size=0),
    "graph-network": paper_config(signature_size=0),
}
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())


def trained(config: NetworkConfig) -> PaperNetwork:
    """Return a network whose weights are all random, as after training."""
    network = PaperNetwork(config)
    randomise(network)
    return network.eval()


def run(network: PaperNetwork, graphs: GraphBatch, targets: TargetBatch) -> NetworkOutput:
    with torch.no_grad():
        return network(graphs, targets)


@every_config
def test_predicts_every_graph_on_every_target(config: NetworkConfig) -> None:
    output = run(trained(config), random_graphs([3, 1, 7]), random_targets(config, 4))
    assert output.log_latency.shape == (3, 4)
    assert bool(torch.isfinite(output.log_latency).all())
    assert output.fused.shape == (3, 4, config.width)


@every_config
def test_a_graph_of_ten_thousand_operators_has_a_prediction(config: NetworkConfig) -> None:
    output = run(PaperNetwork(config), random_graphs([10_000, 1]), random_targets(config, 2))
    assert bool(torch.isfinite(output.log_latency.exp()).all())


@every_config
def test_a_pair_does_not_depend_on_what_else_is_asked(config: NetworkConfig) -> None:
    network, targets = trained(config), random_targets(config, 3)
    graphs = random_graphs([4, 6], seed=5)
    together = run(network, graphs, targets).log_latency
    alone = replace(
        targets,
        values=targets.values[1:2],
        available=targets.available[1:2],
        identifier=None if targets.identifier is None else targets.identifier[1:2],
        signature=None if targets.signature is None else targets.signature[1:2],
    )
    first = GraphBatch(
        graphs.op_code[:4],
        graphs.features[:4],
        graphs.edges[:, (graphs.edges < 4).all(dim=0)],
        graphs.graph[:4],
        graphs.node_counts[:1],
    )
    one = run(network, first, alone).log_latency
    torch.testing.assert_close(one[0, 0], together[0, 1], rtol=1e-4, atol=1e-4)


@every_config
@settings(max_examples=20)
@given(order=st.permutations(range(9)))
def test_the_order_of_the_operators_changes_nothing(
    config: NetworkConfig, order: list[int]
) -> None:
    network, targets = trained(config), random_targets(config, 2)
    graphs = random_graphs([5, 4], seed=1)
    before = run(network, graphs, targets)
    shuffled = torch.tensor(order)
    place = torch.argsort(shuffled)  # where each operator went
    after = run(
        network,
        GraphBatch(
            graphs.op_code[shuffled],
            graphs.features[shuffled],
            place[graphs.edges],
            graphs.graph[shuffled],
            graphs.node_counts,
        ),
        targets,
    )
    torch.testing.assert_close(after.log_latency, before.log_latency, rtol=1e-4, atol=1e-4)
    if before.dialogue is not None and after.dialogue is not None:
        torch.testing.assert_close(
            after.dialogue.operator_to_metric,
            before.dialogue.operator_to_metric[shuffled],
            rtol=1e-3,
            atol=1e-4,
        )


@pytest.mark.parametrize("name", ["paper", "paper-A", "graph-network"])
@settings(max_examples=20)
@given(value=st.floats(-1e6, 1e6) | st.just(float("nan")))
def test_the_value_of_a_masked_metric_changes_nothing(name: str, value: float) -> None:
    config = CONFIGS[name]
    network, graphs, targets = (
        trained(config),
        random_graphs([4, 2]),
        random_targets(config, 2),
    )
    available = targets.available.clone()
    available[:, 1] = False
    targets = replace(targets, available=available)
    values = targets.values.clone()
    values[:, 1] = value
    before = run(network, graphs, targets)
    after = run(network, graphs, replace(targets, values=values))
    assert torch.equal(before.log_latency, after.log_latency)
    assert before.dialogue is not None
    assert bool((before.dialogue.operator_to_metric[:, :, 1] == 0).all())


def test_a_device_of_which_nothing_is_known_works_and_is_not_like_a_known_one() -> None:
    config = CONFIGS["paper"]
    network, graphs, targets = trained(config), random_graphs([4]), random_targets(config, 2)
    none = replace(targets, available=torch.zeros_like(targets.available))
    unknown, known = run(network, graphs, none), run(network, graphs, targets)
    assert bool(torch.isfinite(unknown.log_latency).all())
    assert not torch.allclose(unknown.log_latency, known.log_latency)
    assert unknown.dialogue is not None
    assert bool((unknown.dialogue.operator_to_metric[..., len(METRICS)] == 1).all())


def test_without_a_signature_one_encoding_serves_every_target() -> None:
    config = CONFIGS["graph-network"]
    network, graphs, targets = trained(config), random_graphs([4, 6]), random_targets(config, 5)
    with torch.no_grad():
        encoding = network.encode(graphs)
        later = network.predict(encoding, targets)
    assert encoding.states.shape == (10, 1, config.width)
    assert torch.equal(later.log_latency, run(network, graphs, targets).log_latency)


def test_the_totals_of_an_encoding_add_up_over_operators() -> None:
    network, graphs = trained(CONFIGS["graph-network"]), random_graphs([4, 6])
    with torch.no_grad():
        encoding = network.encode(graphs)
    states = encoding.states[:, 0]
    torch.testing.assert_close(encoding.total[1, 0], states[4:].sum(0) / 100)  # typical_nodes
    torch.testing.assert_close(encoding.mean[1, 0], states[4:].mean(0))


def test_the_readout_by_hand() -> None:
    readout = MlpReadout(2, 1, 0.0)
    set_weights(
        readout,
        layers__1__weight=[1, 2],
        layers__1__bias=1,
        layers__3__weight=-1,
        layers__3__bias=20,
        layers__5__weight=3,
        layers__5__bias=0.5,
    )
    # 3 + 2 * 4 + 1 = 12; 20 - 12 = 8; 3 * 8 + 0.5.
    assert readout(torch.tensor([[[3.0, 4.0]]])).tolist() == [[24.5]]


def test_a_signature_is_standardised() -> None:
    config = paper_config(signature_size=3, log_mean=1.0, log_std=2.0)
    targets = replace(random_targets(config, 1), signature=torch.tensor([[1.0, 3.0, -1.0]]))
    standardised = PaperNetwork(config).head.target.standardised_signature(targets)
    assert standardised.tolist() == [[0.0, 1.0, -1.0]]


def test_the_signature_reaches_the_node_states() -> None:
    config = CONFIGS["paper"]
    network, graphs, targets = trained(config), random_graphs([4]), random_targets(config, 2)
    assert targets.signature is not None
    with torch.no_grad():
        states = network.encode(graphs, targets).states
    assert states.shape == (4, 2, config.width)
    assert not torch.allclose(states[:, 0], states[:, 1])


def test_an_operator_that_came_later_counts_as_unknown() -> None:
    config = paper_config(operators=50)
    network, graphs, targets = trained(config), random_graphs([4]), random_targets(config, 1)
    later = replace(graphs, op_code=torch.tensor([50, 3, 4, 5]))
    unknown = replace(graphs, op_code=torch.tensor([0, 3, 4, 5]))
    assert torch.equal(
        run(network, later, targets).log_latency, run(network, unknown, targets).log_latency
    )


def test_the_same_seed_gives_the_same_weights_and_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(1)
    one = PaperNetwork(CONFIGS["paper"])
    drawn = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(1), drawn)
    two = PaperNetwork(CONFIGS["paper"])
    other = PaperNetwork(paper_config(seed=4))
    assert all(
        torch.equal(a, b)
        for a, b in zip(one.state_dict().values(), two.state_dict().values(), strict=True)
    )
    assert not torch.equal(one.encoder.embedding.weight, other.encoder.embedding.weight)


@every_config
def test_a_tiny_set_is_over_fitted(config: NetworkConfig) -> None:
    network = PaperNetwork(replace(config, width=16))
    graphs, targets = random_graphs([5, 6, 7, 8]), random_targets(network.config, 3)
    wanted = torch.tensor(np.random.default_rng(0).normal(1.0, 0.5, (4, 3)), dtype=torch.float32)
    optimizer = torch.optim.Adam(network.parameters(), 2e-2)
    for _ in range(80):
        loss = (network(graphs, targets).log_latency - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 5e-2 * wanted.var().item()


def test_every_parameter_takes_part() -> None:
    for config in CONFIGS.values():
        network = PaperNetwork(config)
        randomise(network)
        graphs, targets = random_graphs([5, 6]), random_targets(config, 3)
        targets = replace(targets, available=targets.available & (torch.arange(3) != 2)[:, None])
        network(graphs, targets).log_latency.square().sum().backward()
        idle = [
            name
            for name, parameter in network.named_parameters()
            if parameter.grad is None or not bool((parameter.grad != 0).any())
        ]
        assert idle == []


Spoil = Callable[[GraphBatch, TargetBatch], tuple[GraphBatch, TargetBatch]]


def _with_value(array: torch.Tensor, value: float) -> torch.Tensor:
    spoiled = array.clone()
    spoiled.flatten()[0] = value
    return spoiled


WRONG: dict[str, tuple[str, Spoil]] = {
    "NaN feature": (
        "node features: the value at (0, 0) is nan",
        lambda g, t: (replace(g, features=_with_value(g.features, float("nan"))), t),
    ),
    "negative feature": (
        "node features: a feature is negative",
        lambda g, t: (replace(g, features=_with_value(g.features, -1.0)), t),
    ),
    "missing feature columns": (
        "node features: the shape is (6, 3), expected (6, 29)",
        lambda g, t: (replace(g, features=g.features[:, :3]), t),
    ),
    "edge to nowhere": (
        "edges: they go from 0 to 6, and there are 6",
        lambda g, t: (replace(g, edges=torch.tensor([[0], [6]])), t),
    ),
    "graph number": (
        "graph numbers: they go from 0 to 2, and there are 2",
        lambda g, t: (replace(g, graph=torch.tensor([0, 0, 0, 0, 1, 2])), t),
    ),
    "HCV of another length": (
        "HCV values: the shape is (2, 2), expected (2, 3)",
        lambda g, t: (g, replace(t, values=t.values[:, :2])),
    ),
    "infinite HCV value": (
        "HCV values: the value at (0, 0) is inf",
        lambda g, t: (g, replace(t, values=_with_value(t.values, float("inf")))),
    ),
}


@pytest.mark.parametrize(("message", "spoil"), WRONG.values(), ids=WRONG.keys())
def test_wrong_input_is_refused(message: str, spoil: Spoil) -> None:
    config = CONFIGS["paper"]
    graphs, targets = spoil(random_graphs([4, 2]), random_targets(config, 2))
    with pytest.raises(InputError) as caught:
        run(PaperNetwork(config), graphs, targets)
    assert str(caught.value).startswith(message)


def test_a_network_with_a_signature_needs_the_targets_when_it_encodes() -> None:
    with pytest.raises(InputError, match="it is joined to the node features"):
        PaperNetwork(CONFIGS["paper"]).encode(random_graphs([4]))


def test_graphs_encoded_for_other_targets_are_refused() -> None:
    config = CONFIGS["paper"]
    network, graphs = PaperNetwork(config), random_graphs([4])
    encoding = network.encode(graphs, random_targets(config, 2))
    with pytest.raises(InputError, match=r"encoded graphs: the shape is \(4, 2, 8\), expected"):
        network.predict(encoding, random_targets(config, 3))


def test_a_nan_in_the_signature_is_refused() -> None:
    config = CONFIGS["paper"]
    targets = random_targets(config, 2)
    assert targets.signature is not None
    wrong = replace(targets, signature=_with_value(targets.signature, float("nan")))
    with pytest.raises(InputError, match="signature: the value at"):
        run(PaperNetwork(config), random_graphs([4]), wrong)
