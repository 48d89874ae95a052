"""The shipped network: what cannot change its output, and learning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from ctm_research.network.choices import OF_KIND
from ctm_research.network.config import NetworkConfig
from ctm_research.network.scaling import identity_scaling
from ctm_research.network.term_network import TermNetwork
from predictor.core.errors import InputError
from predictor.network.features import SCALE_FREE_NAMES
from predictor.network.target_facts import CHOICE_KINDS
from predictor.network.work_terms import KINDS, TERMS
from research.tests.network.term_runs import GRAPH, as_input, facts, inputs, run
from tests.support.tiny_engine import FACTS, TARGETS
from tests.support.tiny_network import tiny_network


def test_times_are_factors_of_the_work_terms() -> None:
    network, (_, _, terms) = tiny_network(), inputs(GRAPH)

    parts = run(network, GRAPH).parts_ms

    for part in range(3):
        mine = terms[..., [place for place, kind in enumerate(KINDS) if kind == part]]
        assert (parts[..., part] >= mine.sum(-1) * np.exp(-6)).all()
        assert (parts[..., part] <= mine.sum(-1) * np.exp(6)).all()


def test_an_untrained_network_says_nearly_what_the_terms_say() -> None:
    config = NetworkConfig(metrics=FACTS.names, width=8, features=len(SCALE_FREE_NAMES))
    network = TermNetwork(config, OF_KIND, 2, identity_scaling(SCALE_FREE_NAMES), summary=3).eval()
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
        TermNetwork(config, 1, 2, identity_scaling(("a",)), summary=3)
