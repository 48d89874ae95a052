"""FBNet architectures from their codes.

B. Wu et al., "FBNet: Hardware-Aware Efficient ConvNet Design via Differentiable Neural Architecture
Search", CVPR 2019, tables 1 and 2, in the two forms of HW-NAS-Bench (C. Li et al., ICLR 2021):
images of 32 x 32 with 100 classes, and images of 224 x 224 with 1000 classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx

from predictor.probing.networks import layers
from predictor.probing.networks.codes import checked_batch, checked_code
from predictor.probing.networks.writer import NetworkWriter, Value


@dataclass(frozen=True, slots=True)
class Block:
    """One choice for a block: depthwise kernel, expansion, groups of its 1x1 convolutions."""

    kernel: int
    expansion: int
    groups: int = 1


SKIP = 8
BLOCKS: tuple[Block, ...] = (
    Block(3, 1),
    Block(3, 1, groups=2),
    Block(3, 3),
    Block(3, 6),
    Block(5, 1),
    Block(5, 1, groups=2),
    Block(5, 3),
    Block(5, 6),
)
"""The blocks of codes 0 to 7; code 8 is :data:`SKIP`."""

STAGES: tuple[tuple[int, int], ...] = (
    (16, 1),
    (24, 4),
    (32, 4),
    (64, 4),
    (112, 4),
    (184, 4),
    (352, 1),
)
"""Channels and blocks of each stage."""

POSITIONS = sum(blocks for _, blocks in STAGES)
CHOICES = (tuple(range(SKIP + 1)),) * POSITIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One of the two forms.

    Attributes:
        space: name of the space.
        image: height and width of the input.
        stem_stride: stride of the first convolution.
        strides: stride of the first block of each stage.
        head: channels of the last convolution.
        classes: numbers put out.
    """

    space: str
    image: int
    stem_stride: int
    strides: tuple[int, ...]
    head: int
    classes: int


CIFAR = Form(
    space="fbnet-cifar100",
    image=32,
    stem_stride=1,
    strides=(1, 1, 2, 2, 1, 2, 1),
    head=1504,
    classes=100,
)
IMAGENET = Form(
    space="fbnet-imagenet",
    image=224,
    stem_stride=2,
    strides=(1, 2, 2, 2, 1, 2, 1),
    head=1984,
    classes=1000,
)


def fbnet(
    form: Form, code: Sequence[int], batch: int = 1, *, with_weights: bool = True
) -> onnx.ModelProto:
    """Build the network of a code.

    Args:
        form: CIFAR or IMAGENET.
        code: 22 numbers from 0 to 8.
        batch: images at once.
        with_weights: see :class:`NetworkWriter`.

    Raises:
        InputError: code or batch are wrong.
    """
    numbers = checked_code(form.space, code, CHOICES)
    name = f"{form.space}-{''.join(map(str, numbers))}"
    writer = NetworkWriter(name, with_weights=with_weights)
    x = writer.input("image", (checked_batch(batch), 3, form.image, form.image))
    stem = layers.conv(writer, "stem", x, STAGES[0][0], kernel=3, stride=form.stem_stride)
    x = layers.relu(writer, "stem.relu", stem)
    choices = iter(numbers)
    for stage, (width, blocks) in enumerate(STAGES):
        for index in range(blocks):
            stride = form.strides[stage] if index == 0 else 1
            x = _block(writer, f"stage{stage}.{index}", x, width, stride, next(choices))
    x = layers.relu(writer, "head.relu", layers.conv(writer, "head", x, form.head))
    return writer.finish(layers.classifier(writer, x, form.classes))


def _block(
    writer: NetworkWriter, name: str, x: Value, width: int, stride: int, choice: int
) -> Value:
    keeps_shape = stride == 1 and x.shape[1] == width
    if choice == SKIP:
        if keeps_shape:
            return x
        # The paper leaves open a skip that changes width or stride; see docs/decisions/0004.
        return layers.conv(writer, f"{name}.skip", x, width, stride=stride)
    y = _bottleneck(writer, name, x, width, stride, BLOCKS[choice])
    return layers.add(writer, f"{name}.add", x, y) if keeps_shape else y


def _bottleneck(
    writer: NetworkWriter, name: str, x: Value, width: int, stride: int, block: Block
) -> Value:
    hidden = x.shape[1] * block.expansion
    # With two groups both 1x1 convolutions are grouped (0004); the shuffle lets the groups mix.
    y = layers.conv(writer, f"{name}.expand", x, hidden, groups=block.groups)
    y = layers.relu(writer, f"{name}.relu1", y)
    if block.groups > 1:
        y = layers.channel_shuffle(writer, f"{name}.shuffle", y, groups=block.groups)
    y = layers.depthwise(writer, f"{name}.depthwise", y, kernel=block.kernel, stride=stride)
    y = layers.relu(writer, f"{name}.relu2", y)
    return layers.conv(writer, f"{name}.project", y, width, groups=block.groups)
