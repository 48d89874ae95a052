"""Texts of operators and platforms, and dynamic graph attention."""

from __future__ import annotations

import pytest
import torch

from ctm_research.evaluation.systems.ledg_former import (
    DynamicAttention,
    GraphFormer,
    Views,
    operator_text,
    platform_text,
    rounded,
)
from ctm_research.evaluation.systems.pairs import WIDTH, Batch
from ctm_research.evaluation.systems.sentences import WIDTH as TEXT_WIDTH
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from research.tests.evaluation.systems.small_field import small_field


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (1, "1"), (3, "3"), (96, "96"), (100, "96"), (128, "128")]
)
def test_sizes_are_rounded_to_those_of_networks(value: float, text: str) -> None:
    assert rounded(value) == text


def test_the_text_of_a_platform_is_that_of_the_paper_and_its_runtime() -> None:
    metrics = {"fp32_tflops": 8.141, "tdp_w": 70.0}
    card = Device(
        id="t4",
        name="Tesla T4",
        vendor="NVIDIA",
        family=Family.GPU,
        metrics=metrics,
        architecture="nvidia-turing-tu10x",
    )

    text = platform_text(Target(card, Configuration("tensorrt", Precision.FP32)))

    assert text.startswith("Nv GPU FP32 8.1 ")
    assert text.endswith(" 70W tensorrt")


def test_operators_have_texts() -> None:
    field = small_field()

    texts = {operator_text(field, each) for each in range(len(field.operators.code))}

    assert all(texts)
    assert len(texts) > 1


def test_padding_changes_no_graph() -> None:
    torch.manual_seed(0)
    encoder = GraphFormer(is_mixed=True).eval()
    features, links = (
        torch.randn(1, 3, TEXT_WIDTH),
        torch.tensor([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]]),
    )
    short = Batch(features, torch.ones(1, 3, dtype=torch.bool), links, torch.zeros(1, 1))
    padded = Batch(
        torch.cat([features, torch.zeros(1, 2, TEXT_WIDTH)], dim=1),
        torch.tensor([[True, True, True, False, False]]),
        torch.nn.functional.pad(links, (0, 2, 0, 2)),
        torch.zeros(1, 1),
    )

    assert torch.allclose(encoder(short), encoder(padded), atol=1e-5)


def test_without_mix_every_view_counts_a_third() -> None:
    torch.manual_seed(0)
    attention = DynamicAttention(is_mixed=False).eval()
    nodes, absent, itself = torch.randn(1, 2, WIDTH), torch.zeros(1, 1, 2), torch.eye(2)[None]
    none, linked = torch.zeros(1, 2, 2), torch.tensor([[[0.0, 1], [0, 0]]])

    alike, one, every = (
        attention(nodes, Views(torch.stack(views) + itself, absent, absent + none))
        for views in ([none, none, none], [linked, none, none], [linked, linked, linked])
    )

    assert torch.allclose(one - alike, (every - alike) / 3, atol=1e-6)
