"""Once-for-all MobileNetV3 architectures from their codes.

H. Cai et al., "Once for All: Train One Network and Specialize it for Efficient Deployment", ICLR
2020; widths, strides, activations and rounding as in the authors' mit-han-lab/once-for-all
(``OFAMobileNetV3``), whose published networks have the width multipliers 1.0 and 1.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import onnx

from predictor.probing.networks import layers
from predictor.probing.networks.codes import checked_batch, checked_code
from predictor.probing.networks.writer import NetworkWriter, Value

KERNELS = (3, 5, 7)
EXPANSIONS = (3, 4, 6)
DEPTHS = (2, 3, 4)
RESOLUTIONS = tuple(range(128, 225, 4))
UNITS = 5
SLOTS = UNITS * max(DEPTHS)
CHOICES = (
    *(KERNELS,) * SLOTS,
    *(EXPANSIONS,) * SLOTS,
    *(DEPTHS,) * UNITS,
    RESOLUTIONS,
)
CLASSES = 1000

Activation = Callable[[NetworkWriter, str, Value], Value]


@dataclass(frozen=True, slots=True)
class _Unit:
    """Base channels of a unit, stride of its first block, activation, squeeze and excitation."""

    channels: int
    stride: int
    activation: Activation
    squeezes: bool


# Widths of MobileNetV3-Large, before the multiplier.
_STEM_CHANNELS, _EXPANDED_CHANNELS, _MIXED_CHANNELS = 16, 960, 1280
_UNITS = (
    _Unit(24, 2, layers.relu, squeezes=False),
    _Unit(40, 2, layers.relu, squeezes=True),
    _Unit(80, 2, layers.hard_swish, squeezes=False),
    _Unit(112, 1, layers.hard_swish, squeezes=True),
    _Unit(160, 2, layers.hard_swish, squeezes=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """One MBConv block."""

    width: int
    kernel: int
    expansion: int
    stride: int
    activation: Activation
    squeezes: bool


def ofa(
    code: Sequence[int], batch: int = 1, *, multiplier: float = 1.2, with_weights: bool = True
) -> onnx.ModelProto:
    """Build the network of a code.

    Args:
        code: 20 kernels and 20 expansions, one a block slot; 5 depths, the blocks in use of each
            unit; the height and width of the input. Slots beyond a unit's depth are not used.
        batch: images at once.
        multiplier: of all widths.
        with_weights: see :class:`NetworkWriter`.

    Raises:
        InputError: code or batch are wrong.
    """
    space = f"ofa-mbv3-w{multiplier}"
    numbers = checked_code(space, code, CHOICES)
    # Kernels, expansions, depths, resolution.
    parts = [numbers[:SLOTS], numbers[SLOTS : 2 * SLOTS], numbers[2 * SLOTS : -1], numbers[-1:]]
    name = "-".join([space, *("".join(map(str, part)) for part in parts)])
    writer = NetworkWriter(name, with_weights=with_weights)
    resolution = numbers[-1]
    x = writer.input("image", (checked_batch(batch), 3, resolution, resolution))
    stem = rounded(_STEM_CHANNELS * multiplier)
    x = layers.conv(writer, "stem", x, stem, kernel=3, stride=2)
    x = layers.hard_swish(writer, "stem.act", x)
    x = _block(
        writer,
        "first",
        x,
        _Block(width=stem, kernel=3, expansion=1, stride=1, activation=layers.relu, squeezes=False),
    )
    for unit in range(UNITS):
        for index, block in enumerate(_unit_blocks(numbers, unit, multiplier)):
            x = _block(writer, f"unit{unit}.{index}", x, block)
    return writer.finish(_tail(writer, x, multiplier))


def _unit_blocks(numbers: list[int], unit: int, multiplier: float) -> list[_Block]:
    form = _UNITS[unit]
    # Every unit has slots for its greatest depth, whatever depth is in use.
    first = unit * max(DEPTHS)
    return [
        _Block(
            width=rounded(form.channels * multiplier),
            kernel=numbers[first + index],
            expansion=numbers[SLOTS + first + index],
            stride=form.stride if index == 0 else 1,
            activation=form.activation,
            squeezes=form.squeezes,
        )
        for index in range(numbers[2 * SLOTS + unit])
    ]


def _block(writer: NetworkWriter, name: str, x: Value, block: _Block) -> Value:
    channels = x.shape[1]
    y = x
    if block.expansion > 1:
        y = layers.conv(writer, f"{name}.expand", y, rounded(channels * block.expansion))
        y = block.activation(writer, f"{name}.act1", y)
    y = layers.depthwise(writer, f"{name}.depthwise", y, kernel=block.kernel, stride=block.stride)
    y = block.activation(writer, f"{name}.act2", y)
    if block.squeezes:
        squeezed = rounded(y.shape[1] // 4)
        y = layers.squeeze_excite(writer, f"{name}.se", y, squeezed=squeezed)
    y = layers.conv(writer, f"{name}.project", y, block.width)
    keeps_shape = block.stride == 1 and channels == block.width
    return layers.add(writer, f"{name}.add", x, y) if keeps_shape else y


def _tail(writer: NetworkWriter, x: Value, multiplier: float) -> Value:
    """Expand, pool, mix without batch normalisation and bias, classify."""
    x = layers.conv(writer, "expand", x, rounded(_EXPANDED_CHANNELS * multiplier))
    x = layers.global_pool(writer, "pool", layers.hard_swish(writer, "expand.act", x))
    x = layers.conv(writer, "mix", x, rounded(_MIXED_CHANNELS * multiplier), bias=False)
    x = layers.flatten(writer, "flatten", layers.hard_swish(writer, "mix.act", x))
    return layers.linear(writer, "classifier", x, CLASSES)


def rounded(channels: float) -> int:
    """Return the nearest multiple of 8, at least 8 and at least 0.9 times ``channels``.

    The rule of M. Sandler et al., "MobileNetV2", CVPR 2018, in its authors' implementation.
    """
    nearest = max(8, int(channels + 4) // 8 * 8)
    return nearest + 8 if nearest < 0.9 * channels else nearest
