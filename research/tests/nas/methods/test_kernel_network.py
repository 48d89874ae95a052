"""Kernel networks: what they read, what they learn, and what they may not see."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from ctm_research.nas.methods.kernel_network import (
    KernelNetwork,
    KernelRecipe,
    kernel_inputs,
    train_kernel_network,
)
from ctm_research.nas.spaces.kernels import kernel_table
from ctm_research.nas.spaces.view import TrainView
from predictor.graph.operators import OPERATOR_CODE
from research.tests.nas.small_space import small_space

ROWS = np.arange(60)
TRAIN = ("1080ti_1", "gold_6226", "raspi4")
CONV = OPERATOR_CODE["Conv"]
POINTWISE = (CONV, 1, 1000, 100, 50, 100, 1, 64, 16, 16, 1, 1)
DEPTHWISE = (CONV, 0, 500, 100, 50, 100, 16, 64, 16, 16, 3, 2)
TABLE = kernel_table([Counter({POINTWISE: 2, DEPTHWISE: 1}), Counter({POINTWISE: 4, DEPTHWISE: 2})])


def test_a_kernel_is_known_by_its_kind_and_its_standardised_sizes():
    depthwise, pointwise = kernel_inputs(TABLE)  # as the table sorts them
    # One operator type, windows 1 and 3, then: grouped, depthwise, fused, strided.
    assert depthwise[:7].tolist() == [1, 0, 1, 1, 1, 0, 1]
    assert pointwise[:7].tolist() == [1, 1, 0, 0, 0, 1, 0]
    sizes = np.array([depthwise[7:], pointwise[7:]])
    assert sizes.mean(axis=0) == pytest.approx(np.zeros(8), abs=1e-12)
    assert sizes[1, 0] == pytest.approx(1.0)  # MACs; of two values each is one deviation away
    assert sizes[:, 1].tolist() == [0, 0]  # the bytes read are the same


def test_a_graph_with_all_kernels_twice_needs_twice_of_each_resource():
    torch.manual_seed(0)
    network = KernelNetwork(TABLE, 3.0)
    with torch.no_grad():
        one, two = network(torch.from_numpy(TABLE.counts).float())
        expected = np.log(2) * network.mix.weight.sum(dim=1)
    torch.testing.assert_close(two - one, expected, rtol=1e-4, atol=1e-4)


def view(latency_factor: float = 1.0) -> TrainView:
    space = small_space()
    space.latency_ms[60:] *= latency_factor
    space.latency_ms[:, space.column("fpga")] *= latency_factor
    return TrainView.of(space, TRAIN, ROWS)


def test_training_leaves_the_unseen_alone_and_is_repeatable():
    recipe = KernelRecipe(steps=3, batch=30, launch_bound=0.5)
    one, same = (train_kernel_network(view(factor), 4, recipe) for factor in (1.0, 7.0))
    assert (one == same).all()
    assert one[ROWS].mean(axis=0) == pytest.approx(np.zeros(one.shape[1]), abs=1e-6)
    assert (train_kernel_network(view(), 5, recipe) != one).any()
