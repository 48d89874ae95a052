"""The whole network: invariants, learning, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.network.batch import GraphBatch, ProbeSet, TargetBatch
from predictor.network.config import DeviceEncoding, NetworkConfig, Pooling, Readout, SignatureForm
from predictor.research.paper.closertome import CloserToMe
from predictor.research.paper.head import NetworkOutput
from tests.unit.network.samples import (
    METRICS,
    paper_config,
    random_graphs,
    random_probes,
    random_targets,
    random_times,
    randomise,
    shared_config,
)

CONFIGS = {
    "shared": shared_config(),
    "shared-additive": shared_config(readout=Readout.ADDITIVE, pooling=Pooling.SUM),
    "shared-plain": shared_config(prior=False, signature=SignatureForm.NONE),
    "paper": paper_config(pooling=Pooling.MEAN),
    "paper-A": paper_config(signature=SignatureForm.NONE, signature_size=0),
    "paper-baseline": paper_config(
        metrics=(),
        device_encoding=DeviceEncoding.IDENTIFIER,
        devices=5,
        signature=SignatureForm.NONE,
        signature_size=0,
    ),
}
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())


def trained(config: NetworkConfig) -> CloserToMe:
    """Return a network whose weights are all random, as after training."""
    network = CloserToMe(config)
    randomise(network)
    return network.eval()


def run(
    network: CloserToMe, graphs: GraphBatch, targets: TargetBatch, times: torch.Tensor | None = None
) -> NetworkOutput:
    if network.config.prior and times is None:
        times = random_times(graphs.op_code.shape[0], len(targets))
    with torch.no_grad():
        return network(graphs, targets, times)


@every_config
def test_predicts_every_graph_on_every_target(config: NetworkConfig) -> None:
    output = run(trained(config), random_graphs([3, 1, 7]), random_targets(config, 4))
    assert output.log_latency.shape == (3, 4)
    assert bool(torch.isfinite(output.log_latency).all())
    assert output.fused.shape == (3, 4, config.width)


@every_config
def test_a_graph_of_ten_thousand_operators_has_a_prediction(config: NetworkConfig) -> None:
    output = run(CloserToMe(config), random_graphs([10_000, 1]), random_targets(config, 2))
    assert bool(torch.isfinite(output.log_latency.exp()).all())


@every_config
def test_a_pair_does_not_depend_on_what_else_is_asked(config: NetworkConfig) -> None:
    network, targets = trained(config), random_targets(config, 3)
    graphs, times = random_graphs([4, 6], seed=5), random_times(10, 3)
    together = run(network, graphs, targets, times).log_latency
    alone = replace(
        targets,
        values=targets.values[1:2],
        available=targets.available[1:2],
        identifier=None if targets.identifier is None else targets.identifier[1:2],
        signature=None if targets.signature is None else targets.signature[1:2],
        probes=None if targets.probes is None else only(targets.probes, 1),
    )
    first = GraphBatch(
        graphs.op_code[:4],
        graphs.features[:4],
        graphs.edges[:, (graphs.edges < 4).all(dim=0)],
        graphs.graph[:4],
        graphs.node_counts[:1],
    )
    one = run(network, first, alone, times[:4, 1:2]).log_latency
    torch.testing.assert_close(one[0, 0], together[0, 1], rtol=1e-4, atol=1e-4)


def only(probes: ProbeSet, target: int) -> ProbeSet:
    mine = probes.target == target
    assert probes.log_prior is not None
    return ProbeSet(
        probes.embedding[mine],
        probes.log_latency[mine],
        torch.zeros(int(mine.sum()), dtype=torch.int64),
        probes.log_prior[mine],
    )


@every_config
@settings(max_examples=20)
@given(order=st.permutations(range(9)))
def test_the_order_of_the_operators_changes_nothing(
    config: NetworkConfig, order: list[int]
) -> None:
    network, targets = trained(config), random_targets(config, 2)
    graphs, times = random_graphs([5, 4], seed=1), random_times(9, 2)
    before = run(network, graphs, targets, times)
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
        times[shuffled],
    )
    torch.testing.assert_close(after.log_latency, before.log_latency, rtol=1e-4, atol=1e-4)
    if before.dialogue is not None and after.dialogue is not None:
        torch.testing.assert_close(
            after.dialogue.operator_to_metric,
            before.dialogue.operator_to_metric[shuffled],
            rtol=1e-3,
            atol=1e-4,
        )


@pytest.mark.parametrize("name", ["shared", "shared-additive", "paper", "paper-A"])
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
    config = CONFIGS["shared"]
    network, graphs, targets = trained(config), random_graphs([4]), random_targets(config, 2)
    none = replace(targets, available=torch.zeros_like(targets.available))
    unknown, known = run(network, graphs, none), run(network, graphs, targets)
    assert bool(torch.isfinite(unknown.log_latency).all())
    assert not torch.allclose(unknown.log_latency, known.log_latency)
    assert unknown.dialogue is not None
    assert bool((unknown.dialogue.operator_to_metric[..., len(METRICS)] == 1).all())


def test_in_shared_mode_one_encoding_serves_every_target() -> None:
    config = CONFIGS["shared"]
    network, graphs, targets = trained(config), random_graphs([4, 6]), random_targets(config, 5)
    with torch.no_grad():
        encoding = network.encode(graphs)
        times = random_times(10, 5)
        later = network.predict(encoding, targets, times)
    assert encoding.states.shape == (10, 1, config.width)
    assert torch.equal(later.log_latency, run(network, graphs, targets, times).log_latency)


def test_the_totals_of_an_encoding_add_up_over_operators() -> None:
    network, graphs = trained(CONFIGS["shared-plain"]), random_graphs([4, 6])
    with torch.no_grad():
        encoding = network.encode(graphs)
    states = encoding.states[:, 0]
    torch.testing.assert_close(encoding.total[1, 0], states[4:].sum(0) / 100)  # typical_nodes
    torch.testing.assert_close(encoding.mean[1, 0], states[4:].mean(0))
    expected = torch.cat([torch.asinh(states[4:].sum(0) / 10), states[4:].mean(0)])
    torch.testing.assert_close(encoding.summary[1], expected)


def test_the_shares_of_the_additive_readout_sum_to_the_latency() -> None:
    config = CONFIGS["shared-additive"]
    output = run(trained(config), random_graphs([4, 6]), random_targets(config, 3))
    assert output.log_shares is not None
    shares = output.log_shares.exp()
    assert bool((shares > 0).all())
    torch.testing.assert_close(shares[:4].sum(0), output.log_latency[0].exp())
    torch.testing.assert_close(shares[4:].sum(0), output.log_latency[1].exp())


def test_a_target_without_analytic_times_still_has_a_prediction() -> None:
    config = CONFIGS["shared-additive"]
    times = random_times(4, 2)
    times[:, 1] = float("nan")
    targets, graphs = random_targets(config, 2), random_graphs([4])
    output = run(trained(config), graphs, targets, times)
    assert bool(torch.isfinite(output.log_latency).all())
    other = random_times(4, 2, seed=9)
    other[:, 1] = float("nan")
    again = run(trained(config), graphs, targets, other)
    assert torch.equal(again.log_latency[:, 1], output.log_latency[:, 1])
    assert not torch.equal(again.log_latency[:, 0], output.log_latency[:, 0])


def test_probes_change_the_prediction_of_their_target_only() -> None:
    config = CONFIGS["shared"]
    network, graphs, targets = trained(config), random_graphs([4]), random_targets(config, 2)
    probes = random_probes(config, 1, 5, seed=8)
    zero = run(network, graphs, targets.with_probes(random_probes(config, 2, 0))).log_latency
    some = run(network, graphs, targets.with_probes(probes)).log_latency
    assert zero[0, 1] == some[0, 1]
    assert zero[0, 0] != some[0, 0]


def test_in_paper_mode_the_signature_reaches_the_node_states() -> None:
    config = CONFIGS["paper"]
    network, graphs, targets = trained(config), random_graphs([4]), random_targets(config, 2)
    assert targets.signature is not None
    with torch.no_grad():
        states = network.encode(graphs, targets).states
    assert states.shape == (4, 2, config.width)
    assert not torch.allclose(states[:, 0], states[:, 1])


def test_an_operator_that_came_later_counts_as_unknown() -> None:
    config = shared_config(operators=50, prior=False, signature=SignatureForm.NONE)
    network, graphs, targets = trained(config), random_graphs([4]), random_targets(config, 1)
    later = replace(graphs, op_code=torch.tensor([50, 3, 4, 5]))
    unknown = replace(graphs, op_code=torch.tensor([0, 3, 4, 5]))
    assert torch.equal(
        run(network, later, targets).log_latency, run(network, unknown, targets).log_latency
    )


def test_the_same_seed_gives_the_same_weights_and_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(1)
    one = CloserToMe(CONFIGS["shared"])
    drawn = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(1), drawn)
    two = CloserToMe(CONFIGS["shared"])
    other = CloserToMe(shared_config(seed=4))
    assert all(
        torch.equal(a, b)
        for a, b in zip(one.state_dict().values(), two.state_dict().values(), strict=True)
    )
    assert not torch.equal(one.encoder.embedding.weight, other.encoder.embedding.weight)


@every_config
def test_a_tiny_set_is_over_fitted(config: NetworkConfig) -> None:
    network = CloserToMe(replace(config, width=16))
    graphs, targets = random_graphs([5, 6, 7, 8]), random_targets(network.config, 3)
    times = random_times(26, 3) if config.prior else None
    wanted = torch.tensor(np.random.default_rng(0).normal(1.0, 0.5, (4, 3)), dtype=torch.float32)
    optimizer = torch.optim.Adam(network.parameters(), 2e-2)
    for _ in range(80):
        loss = (network(graphs, targets, times).log_latency - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 5e-2 * wanted.var().item()


def test_every_parameter_takes_part() -> None:
    for config in CONFIGS.values():
        network = CloserToMe(config)
        randomise(network)
        graphs, targets = random_graphs([5, 6]), random_targets(config, 3)
        targets = replace(targets, available=targets.available & (torch.arange(3) != 2)[:, None])
        times = random_times(11, 3) if config.prior else None
        network(graphs, targets, times).log_latency.square().sum().backward()
        idle = [
            name
            for name, parameter in network.named_parameters()
            if parameter.grad is None or not bool((parameter.grad != 0).any())
        ]
        assert set(idle) <= {"head.target.set.empty"}  # all targets have probes here


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
    "no probes": (
        "probe embeddings: missing, expected (0, 16)",
        lambda g, t: (g, replace(t, probes=None)),
    ),
    "NaN probe latency": (
        "probe latencies: the value at (0,) is nan",
        lambda g, t: (
            g,
            replace(
                t,
                probes=replace(
                    t.probes, log_latency=_with_value(t.probes.log_latency, float("nan"))
                ),
            ),
        ),
    ),
}


@pytest.mark.parametrize(("message", "spoil"), WRONG.values(), ids=WRONG.keys())
def test_wrong_input_is_refused(message: str, spoil: Spoil) -> None:
    config = CONFIGS["shared"]
    graphs, targets = spoil(random_graphs([4, 2]), random_targets(config, 2))
    with pytest.raises(InputError) as caught:
        run(CloserToMe(config), graphs, targets, random_times(6, 2))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("value", [-1.0, float("inf")])
def test_wrong_analytic_times_are_refused(value: float) -> None:
    config = CONFIGS["shared"]
    times = _with_value(random_times(6, 2), value)
    with pytest.raises(InputError, match="negative or infinite"):
        run(CloserToMe(config), random_graphs([4, 2]), random_targets(config, 2), times)


def test_missing_or_misshapen_analytic_times_are_refused() -> None:
    config = CONFIGS["shared"]
    network, graphs, targets = CloserToMe(config), random_graphs([4]), random_targets(config, 2)
    with pytest.raises(InputError, match="missing, expected"):
        network(graphs, targets)
    with pytest.raises(InputError, match=r"shape is \(4, 1, 3\), expected"):
        network(graphs, targets, random_times(4, 1))


def test_paper_mode_needs_the_targets_when_it_encodes() -> None:
    with pytest.raises(InputError, match="paper mode joins it to the node features"):
        CloserToMe(CONFIGS["paper"]).encode(random_graphs([4]))


def test_graphs_encoded_for_other_targets_are_refused() -> None:
    config = CONFIGS["paper"]
    network, graphs = CloserToMe(config), random_graphs([4])
    encoding = network.encode(graphs, random_targets(config, 2))
    with pytest.raises(InputError, match=r"encoded graphs: the shape is \(4, 2, 8\), expected"):
        network.predict(encoding, random_targets(config, 3))


def test_fine_tuning_film_moves_the_predictions_and_nothing_else() -> None:
    network = CloserToMe(CONFIGS["paper"])
    film = network.film_parameters()
    names = [n for n, p in network.named_parameters() if any(p is q for q in film)]
    assert names
    assert all(name.startswith("head.conversation.film.") for name in names)
    assert CloserToMe(CONFIGS["paper-baseline"]).film_parameters() == []
    graphs, targets = random_graphs([4, 6]), random_targets(network.config, 2)
    before = run(network, graphs, targets)
    others = {n: p.clone() for n, p in network.named_parameters() if n not in names}
    with torch.no_grad():
        encoding = network.encode(graphs, targets)
    optimizer = torch.optim.Adam(film, 1e-2)
    for _ in range(3):
        loss = network.predict(encoding, targets).log_latency.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    after = run(network, graphs, targets)
    assert not torch.allclose(after.log_latency, before.log_latency)
    parameters = dict(network.named_parameters())
    assert all(torch.equal(parameters[name], value) for name, value in others.items())


def test_a_nan_in_the_signature_is_refused() -> None:
    config = CONFIGS["paper"]
    targets = random_targets(config, 2)
    assert targets.signature is not None
    wrong = replace(targets, signature=_with_value(targets.signature, float("nan")))
    with pytest.raises(InputError, match="signature: the value at"):
        run(CloserToMe(config), random_graphs([4]), wrong)
