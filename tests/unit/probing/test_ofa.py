from __future__ import annotations

import pytest

from predictor.core.errors import InputError
from predictor.probing.networks.ofa import ofa, rounded
from predictor.probing.networks.spaces import BUILDERS, operator_graph_of
from tests.unit.probing.running import normalised_channels, operators, run

SMALLEST = [*[3] * 20, *[3] * 20, *[2] * 5, 128]
LARGEST = [*[7] * 20, *[6] * 20, *[4] * 5, 224]


@pytest.mark.parametrize(
    ("channels", "multiple"),
    [(19.2, 24), (28.8, 32), (48, 48), (96, 96), (134.4, 136), (192, 192), (3, 8), (1152, 1152)],
)
def test_widths_are_multiples_of_8_that_lose_at_most_a_tenth(
    channels: float, multiple: int
) -> None:
    # 19.2: the nearest multiple is 16, less than 0.9 * 19.2 = 17.28, so 24.
    assert rounded(channels) == multiple


def test_the_smallest_network_has_the_published_parameters() -> None:
    # The ideal point of IN1KMOP8 in EvoXBench (Z. Lu et al., "Neural Architecture Search as
    # Multiobjective Optimization Benchmarks", 2023) for this space: 4.602456 million.
    model = ofa(SMALLEST, multiplier=1.2, with_weights=False)
    graph = operator_graph_of("ofa-mbv3-w1.2", SMALLEST)

    folded = normalised_channels(model, without=(".se.",))
    assert graph.parameters + folded == 4_602_456


def block_macs(channels: int, hidden: int, width: int, kernel: int, size: int, stride: int) -> int:
    """Expand at the input's size, depthwise and project at the output's, size x size pixels."""
    expand = channels * hidden * (size * stride) ** 2 if hidden != channels else 0
    return expand + (kernel**2 * hidden + hidden * width) * size**2


def test_macs_of_the_largest_network_by_hand() -> None:
    # Width 1.0, 224 pixels: 112 after the stem, then 56, 28, 14, 14, 7. Squeezed channels are a
    # quarter of the hidden ones as a multiple of 8: 40 * 6 / 4 = 60 -> 64 (24 * 6 / 4 = 36 -> 40).
    macs = 27 * 16 * 112**2 + (9 * 16 + 16 * 16) * 112**2
    macs += block_macs(16, 96, 24, 7, 56, 2) + 3 * block_macs(24, 144, 24, 7, 56, 1)
    macs += block_macs(24, 144, 40, 7, 28, 2) + 2 * 144 * 40
    macs += 3 * (block_macs(40, 240, 40, 7, 28, 1) + 2 * 240 * 64)
    macs += block_macs(40, 240, 80, 7, 14, 2) + 3 * block_macs(80, 480, 80, 7, 14, 1)
    macs += block_macs(80, 480, 112, 7, 14, 1) + 2 * 480 * 120
    macs += 3 * (block_macs(112, 672, 112, 7, 14, 1) + 2 * 672 * 168)
    macs += block_macs(112, 672, 160, 7, 7, 2) + 2 * 672 * 168
    macs += 3 * (block_macs(160, 960, 160, 7, 7, 1) + 2 * 960 * 240)
    macs += 160 * 960 * 49 + 960 * 1280 + 1280 * 1000

    assert operator_graph_of("ofa-mbv3-w1.0", LARGEST).macs.sum() == macs == 566_170_656


def test_slots_beyond_the_depth_have_no_effect() -> None:
    kernels, expansions = [3] * 20, [3] * 20
    kernels[3] = expansions[3] = 3
    other_kernels, other_expansions = list(kernels), list(expansions)
    other_kernels[3], other_expansions[3] = 7, 6
    depths = [3, 4, 4, 4, 4]

    first, second = (
        operator_graph_of("ofa-mbv3-w1.2", [*k, *e, *depths, 160])
        for k, e in ((kernels, expansions), (other_kernels, other_expansions))
    )

    assert first.fingerprint == second.fingerprint


def test_kernel_expansion_and_depth_act_on_their_own_slot() -> None:
    kernels, expansions = [3] * 20, [3] * 20
    kernels[4], expansions[9] = 7, 6

    graph = operator_graph_of("ofa-mbv3-w1.0", [*kernels, *expansions, *[2, 2, 2, 3, 4], 128])

    window = dict(zip(graph.names, graph.window[:, 0].tolist(), strict=True))
    assert [name for name, size in window.items() if size == 7] == ["unit1.0.depthwise"]
    # Unit 2, second block: 80 channels, 6 times.
    assert graph.output_shape(graph.names.index("unit2.1.expand"))[1] == 480
    blocks = [name for name in graph.names if name.endswith(".project")]
    assert [sum(f"unit{unit}." in name for name in blocks) for unit in range(5)] == [2, 2, 2, 3, 4]


def test_squeeze_and_activation_by_unit() -> None:
    graph = operator_graph_of("ofa-mbv3-w1.2", SMALLEST)
    counts = operators(graph)

    # Units 1, 3 and 4 squeeze, with two blocks each; the tail pools once.
    assert counts["GlobalAveragePool"] == 3 * 2 + 1
    # A residual in the first block and the second of each unit.
    assert counts["Add"] == 1 + 5
    # Stem, two a block in units 2 to 4, two in the tail.
    assert counts["HardSwish"] == 1 + 2 * 6 + 2
    # One in the first block, two a block in units 0 and 1, one a squeeze.
    assert counts["Relu"] == 1 + 2 * 4 + 6


@pytest.mark.parametrize("resolution", [128, 132, 224])
def test_the_runtime_runs_it(resolution: int) -> None:
    code = [*[5] * 20, *[4] * 20, *[2, 3, 2, 2, 2], resolution]

    output = run(BUILDERS["ofa-mbv3-w1.2"](code))

    assert output.shape == (1, 1000)
    assert 1e-3 < output.std() < 1e3


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ([*[3] * 20, *[3] * 20, *[2] * 5, 130], "position 45 is 130"),
        ([*[4] * 20, *[3] * 20, *[2] * 5, 128], "position 0 is 4; give one of 3, 5, 7"),
        ([*[3] * 20, *[3] * 20, *[5] * 5, 128], "position 40 is 5; give one of 2, 3, 4"),
    ],
)
def test_a_wrong_code_is_refused(code: tuple[int, ...], words: str) -> None:
    with pytest.raises(InputError) as caught:
        ofa(code)

    assert words in str(caught.value)
