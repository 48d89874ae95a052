"""Readouts and the analytic prior, with numbers by hand."""

from __future__ import annotations

import math

import pytest
import torch

from predictor.network.config import Readout, SignatureForm
from predictor.research.paper.closertome import CloserToMe
from predictor.research.paper.prior import OperatorPrior
from predictor.research.paper.readout import AdditiveReadout, MlpReadout
from tests.unit.network.samples import (
    random_graphs,
    random_targets,
    random_times,
    set_weights,
    shared_config,
)

NAN = float("nan")


def test_the_mlp_by_hand() -> None:
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


def test_the_additive_readout_by_hand() -> None:
    readout = AdditiveReadout(1, 1, 0.0)
    set_weights(
        readout,
        of_operator__weight=2,
        of_operator__bias=1,
        of_graph__weight=10,
        log_factor__weight=0.5,
        log_factor__bias=-1,
    )
    states, joined = torch.tensor([[[3.0]], [[4.0]]]), torch.tensor([[[0.1]], [[-9.0]]])
    factors = readout(states, joined, torch.tensor([0, 1]))
    # relu(2 * 3 + 1 + 10 * 0.1) = 8, times 0.5, minus 1; relu(8 + 1 - 90) = 0.
    assert factors.flatten().tolist() == pytest.approx([3.0, -1.0])


def test_the_prior_is_the_roofline_time_and_the_usual_time_where_there_is_none() -> None:
    prior = OperatorPrior(math.log(50.0), 100.0)
    times = torch.tensor([[[3.0, 2.0, 0.5], [NAN, NAN, NAN]], [[0.0, 4.0, 0.25], [0.0, 0.0, 0.0]]])
    seen, base_ms = prior(times)
    # max(3, 2) + 0.5; unknown: 50 ms by 100 operators; max(0, 4) + 0.25; no time at all: 1e-6.
    assert base_ms[0].tolist() == pytest.approx([3.5, 0.5], abs=1e-5)
    assert base_ms[1].tolist() == pytest.approx([4.25, 1e-6], abs=1e-5)
    # By the usual 0.5 ms: 6, 4 and 1; the logs are halved.
    assert seen[0, 0].tolist() == pytest.approx([math.log(6) / 2, math.log(2), 0, 1, 1, 1, 1])
    assert seen[0, 1].tolist() == [0, 0, 0, 0, 0, 0, 0]
    assert seen[1, 0].tolist() == pytest.approx([0, math.log(8) / 2, -math.log(2) / 2, 0, 1, 1, 1])
    assert seen[1, 1].tolist() == [0, 0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("readout", Readout)
def test_a_network_that_corrects_by_nothing_says_the_roofline_latency(readout: Readout) -> None:
    config = shared_config(readout=readout, signature=SignatureForm.NONE)
    network = CloserToMe(config)
    last = network.head.readout
    zeroed = last.layers[-1] if isinstance(last, MlpReadout) else last.log_factor
    torch.nn.init.zeros_(zeroed.weight)
    torch.nn.init.zeros_(zeroed.bias)
    times = random_times(6, 2)
    log_latency = network(random_graphs([4, 2]), random_targets(config, 2), times).log_latency
    roofline = torch.maximum(times[..., 0], times[..., 1]) + times[..., 2]
    expected = torch.stack([roofline[:4].sum(0), roofline[4:].sum(0)]).log()
    torch.testing.assert_close(log_latency, expected, rtol=1e-4, atol=1e-4)
