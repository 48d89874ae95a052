"""Signatures: the fixed vector and the set."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from predictor.network.batch import ProbeSet
from predictor.research.paper.signature import SignatureSet, SignatureVector
from tests.unit.network.samples import randomise


def make_set(*, prior: bool = True) -> SignatureSet:
    encoder = SignatureSet(4, 3, log_mean=1.0, log_std=2.0, prior=prior)
    randomise(encoder)
    return encoder


def make_probes(size: int, targets: int, seed: int = 0) -> ProbeSet:
    generator = torch.Generator().manual_seed(seed)
    return ProbeSet(
        torch.randn(size, 4, generator=generator),
        torch.randn(size, generator=generator),
        torch.randint(0, targets, (size,), generator=generator),
        torch.randn(size, generator=generator),
    )


def pick(probes: ProbeSet, rows: torch.Tensor) -> ProbeSet:
    assert probes.log_prior is not None
    return ProbeSet(
        probes.embedding[rows],
        probes.log_latency[rows],
        probes.target[rows],
        probes.log_prior[rows],
    )


def test_a_vector_is_standardised() -> None:
    vector = SignatureVector(1.0, 2.0)
    assert vector(torch.tensor([[1.0, 3.0, -1.0]])).tolist() == [[0.0, 1.0, -1.0]]


@given(st.permutations(range(7)), st.integers(0, 2**16))
def test_the_order_of_a_set_changes_nothing(order: list[int], seed: int) -> None:
    encoder, probes, targets = make_set(), make_probes(7, 3, seed), torch.zeros(3, 1)
    before = encoder(probes, targets)
    after = encoder(pick(probes, torch.tensor(order)), targets)
    torch.testing.assert_close(after, before, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("prior", [True, False])
def test_equals_the_formula(prior: bool) -> None:
    encoder, probes = make_set(prior=prior), make_probes(7, 2)
    assert probes.log_prior is not None
    found = encoder(probes, torch.zeros(2, 1)).detach().numpy()
    w = {name: p.detach().numpy() for name, p in encoder.named_parameters()}
    for target in range(2):
        mine = np.flatnonzero(probes.target.numpy() == target)
        pairs = []
        for s in mine:
            latency = probes.log_latency[s].item()
            offset = [latency - probes.log_prior[s].item()] if prior else []
            x = np.array([*probes.embedding[s].tolist(), (latency - 1) / 2, *offset])
            x = np.maximum(w["pair.0.weight"] @ x + w["pair.0.bias"], 0)
            pairs.append(np.maximum(w["pair.2.weight"] @ x + w["pair.2.bias"], 0))
        x = np.array([*np.mean(pairs, axis=0), np.log(1 + len(mine))])
        x = np.maximum(w["whole.0.weight"] @ x + w["whole.0.bias"], 0)
        expected = w["whole.2.weight"] @ x + w["whole.2.bias"]
        np.testing.assert_allclose(found[target], expected, rtol=1e-4, atol=1e-5)


def test_a_target_without_probes_has_the_learned_vector() -> None:
    encoder = make_set()
    alone = encoder(make_probes(0, 1), torch.zeros(2, 1))
    assert torch.equal(alone, encoder.empty.expand(2, 3))
    some = encoder(make_probes(5, 1), torch.zeros(2, 1))
    assert torch.equal(some[1], encoder.empty)
    assert not torch.allclose(some[0], encoder.empty)


def test_more_of_the_same_is_told_from_less() -> None:
    encoder, one = make_set(), make_probes(1, 1)
    three = pick(one, torch.zeros(3, dtype=torch.int64))
    target = torch.zeros(1, 1)
    assert not torch.allclose(encoder(one, target), encoder(three, target))
