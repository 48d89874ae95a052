from __future__ import annotations

import numpy as np
import pytest

from predictor.core.errors import InputError
from predictor.probing.networks.fbnet import CIFAR, IMAGENET, fbnet
from predictor.probing.networks.spaces import BUILDERS, operator_graph_of
from tests.unit.probing.running import normalised_channels, operators, run

SKIPS = [8] * 22

# FBNet-C as timm builds it (fbnetc_100): stages of 1, 4, 4, 4, 4, 4, 1 blocks, one of them a skip.
FBNET_C = [0, 3, 8, 0, 0, 7, 6, 7, 3, 7, 6, 7, 7, 7, 7, 7, 6, 7, 7, 7, 7, 3]


def with_block(position: int, choice: int) -> list[int]:
    code = list(SKIPS)
    code[position] = choice
    return code


def test_fbnet_c_has_the_published_macs_and_parameters() -> None:
    # timm's fbnetc_100: 5.57 M parameters, 0.40 GMACs
    # (huggingface/pytorch-image-models, results/benchmark-infer-*.csv); the exact counts are those
    # of timm's own model: 384 960 160 MACs, 5 572 200 parameters.
    graph = operator_graph_of("fbnet-imagenet", FBNET_C)
    model = fbnet(IMAGENET, FBNET_C, with_weights=False)

    assert graph.macs.sum() == 384_960_160
    assert graph.parameters + normalised_channels(model) == 5_572_200


def test_macs_of_a_network_of_skips_by_hand() -> None:
    # Skips are 1x1 convolutions where width or stride change, nothing elsewhere. In channels in x
    # channels out x window x output pixels:
    by_hand = (
        3 * 16 * 9 * 32 * 32  # stem
        + 16 * 24 * 32 * 32  # stage 1, stride 1
        + 24 * 32 * 16 * 16  # stage 2, stride 2
        + 32 * 64 * 8 * 8  # stage 3, stride 2
        + 64 * 112 * 8 * 8  # stage 4, stride 1
        + 112 * 184 * 4 * 4  # stage 5, stride 2
        + 184 * 352 * 4 * 4  # stage 6, stride 1
        + 352 * 1504 * 4 * 4  # head
        + 1504 * 100  # classifier
    )

    graph = operator_graph_of("fbnet-cifar100", SKIPS)

    assert graph.macs.sum() == by_hand == 11_608_960
    assert operators(graph) == {
        "Conv": 8,
        "Flatten": 1,
        "Gemm": 1,
        "GlobalAveragePool": 1,
        "Relu": 2,
    }


@pytest.mark.parametrize(
    ("choice", "macs_a_pixel"),
    [
        # Expand, depthwise, project, 16 channels in and out.
        (0, 16 * 16 + 9 * 16 + 16 * 16),
        (1, 16 * 8 + 9 * 16 + 16 * 8),
        (2, 16 * 48 + 9 * 48 + 48 * 16),
        (3, 16 * 96 + 9 * 96 + 96 * 16),
        (4, 16 * 16 + 25 * 16 + 16 * 16),
        (5, 16 * 8 + 25 * 16 + 16 * 8),
        (6, 16 * 48 + 25 * 48 + 48 * 16),
        (7, 16 * 96 + 25 * 96 + 96 * 16),
    ],
)
def test_macs_of_each_block_by_hand(choice: int, macs_a_pixel: int) -> None:
    without = operator_graph_of("fbnet-cifar100", SKIPS).macs.sum()

    graph = operator_graph_of("fbnet-cifar100", with_block(0, choice))

    assert graph.macs.sum() - without == macs_a_pixel * 32 * 32


def test_a_grouped_block_shuffles_after_its_first_convolution() -> None:
    graph = operator_graph_of("fbnet-cifar100", with_block(0, 5))

    block = [(t, n) for t, n in zip(graph.op_types, graph.names, strict=True) if "stage0" in n]
    assert block == [
        ("Conv", "stage0.0.expand"),
        ("Relu", "stage0.0.relu1"),
        ("Reshape", "stage0.0.shuffle.split"),
        ("Transpose", "stage0.0.shuffle.swap"),
        ("Reshape", "stage0.0.shuffle.join"),
        ("Conv", "stage0.0.depthwise"),
        ("Relu", "stage0.0.relu2"),
        ("Conv", "stage0.0.project"),
        ("Add", "stage0.0.add"),
    ]
    gemm = {name: graph.gemm[graph.names.index(name), 0].item() for _, name in block[::7]}
    assert gemm == {"stage0.0.expand": 2, "stage0.0.project": 2}


@pytest.mark.parametrize(
    ("position", "residual"),
    [
        (0, True),  # 16 to 16, stride 1
        (1, False),  # 16 to 24, stride 1
        (2, True),  # 24 to 24
        (5, False),  # 24 to 32, stride 2
        (13, False),  # 64 to 112, stride 1
        (14, True),
        (21, False),  # 184 to 352
    ],
)
def test_a_residual_only_where_stride_is_1_and_widths_agree(position: int, residual: bool) -> None:
    graph = operator_graph_of("fbnet-cifar100", with_block(position, 0))

    assert operators(graph).get("Add", 0) == int(residual)


def test_the_residual_adds_the_input_of_the_block() -> None:
    model = fbnet(CIFAR, with_block(0, 0), with_weights=False)

    add = next(node for node in model.graph.node if node.op_type == "Add")

    assert list(add.input) == ["stem.relu:0", "stage0.0.project:0"]


def test_shapes_of_the_two_forms() -> None:
    for form, batch, sizes in (
        (CIFAR, 3, (32, 32, 16, 8, 8, 4, 4)),
        (IMAGENET, 1, (112, 56, 28, 14, 14, 7, 7)),
    ):
        graph = operator_graph_of(form.space, [0] * 22, batch)
        last = [f"stage{stage}.{0 if stage in (0, 6) else 3}.project" for stage in range(7)]
        widths = (16, 24, 32, 64, 112, 184, 352)
        shapes = [graph.output_shape(graph.names.index(name)) for name in last]
        assert shapes == [(batch, w, s, s) for w, s in zip(widths, sizes, strict=True)]
        assert graph.output_shape(graph.names.index("head")) == (batch, form.head, *shapes[-1][2:])


@pytest.mark.parametrize("code", [SKIPS, [1] * 22, [7] * 22, [*range(9), *range(9), *range(4)]])
def test_the_runtime_runs_it_and_its_numbers_stay_moderate(code: list[int]) -> None:
    output = run(BUILDERS["fbnet-cifar100"](code, batch=2))

    assert output.shape == (2, 100)
    assert 1e-3 < output.std() < 1e3
    assert not np.array_equal(output[0], output[1])


def test_the_imagenet_form_runs() -> None:
    output = run(BUILDERS["fbnet-imagenet"](FBNET_C))

    assert output.shape == (1, 1000)
    assert 1e-3 < output.std() < 1e3


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ([0] * 21, "it has 21 numbers, the space has 22 positions"),
        ([0] * 21 + [9], "position 21 is 9; give one of 0, 1, 2"),
        ([-1] + [0] * 21, "position 0 is -1"),
        ([0.5] + [0] * 21, "position 0 is 0.5"),
    ],
)
def test_a_wrong_code_is_refused(code: list[int], words: str) -> None:
    with pytest.raises(InputError) as caught:
        fbnet(CIFAR, code)

    assert words in str(caught.value)


def test_a_wrong_batch_is_refused() -> None:
    with pytest.raises(InputError, match="batch: it is 0, the least is 1"):
        fbnet(CIFAR, SKIPS, batch=0)
