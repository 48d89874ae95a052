"""Published image networks, built by code with the layers of their papers."""

from __future__ import annotations

import onnx

from tests.support.networks.builder import Builder


def _classifier(b: Builder, data: str, width: int, classes: int = 1000) -> None:
    pooled = b.node("Flatten", [b.node("GlobalAveragePool", [data])])
    inputs = [pooled, b.weight(classes, width), b.weight(classes)]
    b.output(b.node("Gemm", inputs, ["logits"], transB=1))


def _stem(b: Builder, batch: int | str) -> str:
    data = b.conv_bn(b.input("image", [batch, 3, 224, 224]), 3, 64, 7, stride=2)
    return b.node("MaxPool", [data], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])


def _residual(b: Builder, data: str, shortcut: str) -> str:
    return b.node("Relu", [b.node("Add", [data, shortcut])])


def resnet8(batch: int | str = 1) -> onnx.ModelProto:
    """Banbury et al. 2021, MLPerf Tiny, images of CIFAR-10: 78 k parameters, 12.5 M MACs."""
    b = Builder()
    data, channels = b.conv_bn(b.input("image", [batch, 3, 32, 32]), 3, 16, 3), 16
    for width in (16, 32, 64):
        data, channels = _basic_block(b, data, channels, width, 1 if width == 16 else 2), width
    _classifier(b, data, channels, 10)
    return b.model("resnet8")


def _basic_block(b: Builder, data: str, channels: int, width: int, stride: int) -> str:
    shortcut = data
    if stride == 2:
        shortcut = b.conv_bn(data, channels, width, 1, stride=2, activation="")
    inner = b.conv_bn(data, channels, width, 3, stride=stride)
    inner = b.conv_bn(inner, width, width, 3, activation="")
    return _residual(b, inner, shortcut)


def resnet18(batch: int | str = 1) -> onnx.ModelProto:
    """He et al. 2015, 18 layers: 11.69 M parameters, 1.82 G MACs."""
    b = Builder()
    data, channels = _stem(b, batch), 64
    for stage, width in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if stage and not block else 1
            data, channels = _basic_block(b, data, channels, width, stride), width
    _classifier(b, data, 512)
    return b.model("resnet18")


def resnet50(batch: int | str = 1) -> onnx.ModelProto:
    """He et al. 2015, 50 layers, strides in the 3x3 convolutions: 25.56 M, 4.09 G MACs."""
    b = Builder()
    data, channels = _stem(b, batch), 64
    for stage, (width, blocks) in enumerate(zip((64, 128, 256, 512), (3, 4, 6, 3), strict=True)):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            shortcut = data
            if not block:
                shortcut = b.conv_bn(data, channels, 4 * width, 1, stride=stride, activation="")
            inner = b.conv_bn(data, channels, width, 1)
            inner = b.conv_bn(inner, width, width, 3, stride=stride)
            inner = b.conv_bn(inner, width, 4 * width, 1, activation="")
            data, channels = _residual(b, inner, shortcut), 4 * width
    _classifier(b, data, 2048)
    return b.model("resnet50")


def vgg16(batch: int | str = 1) -> onnx.ModelProto:
    """Simonyan and Zisserman 2014, configuration D: 138.36 M parameters, 15.47 G MACs."""
    b = Builder()
    data, channels = b.input("image", [batch, 3, 224, 224]), 3
    for width, layers in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(layers):
            data = b.node("Relu", [b.conv(data, channels, width, 3, bias=True)])
            channels = width
        data = b.node("MaxPool", [data], kernel_shape=[2, 2], strides=[2, 2])
    data, width = b.node("Flatten", [data]), 512 * 7 * 7
    for _ in range(2):
        inputs = [data, b.weight(4096, width), b.weight(4096)]
        data = b.node("Dropout", [b.node("Relu", [b.node("Gemm", inputs, transB=1)])])
        width = 4096
    inputs = [data, b.weight(1000, width), b.weight(1000)]
    b.output(b.node("Gemm", inputs, ["logits"], transB=1))
    return b.model("vgg16")


# Expansion, channels, blocks, stride of the first block: Table 2 of the paper.
_MOBILENET_V2 = (
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)


def mobilenet_v2(batch: int | str = 1) -> onnx.ModelProto:
    """Sandler et al. 2018, width 1.0: 3.50 M parameters, 0.30 G MACs."""
    b = Builder()
    data = b.conv_bn(b.input("image", [batch, 3, 224, 224]), 3, 32, 3, stride=2, activation="Clip")
    channels = 32
    for expansion, width, blocks, first_stride in _MOBILENET_V2:
        for block in range(blocks):
            stride = first_stride if not block else 1
            inner, hidden = data, channels * expansion
            if expansion != 1:
                inner = b.conv_bn(inner, channels, hidden, 1, activation="Clip")
            inner = b.conv_bn(
                inner, hidden, hidden, 3, stride=stride, groups=hidden, activation="Clip"
            )
            inner = b.conv_bn(inner, hidden, width, 1, activation="")
            residual = stride == 1 and channels == width
            data = b.node("Add", [data, inner]) if residual else inner
            channels = width
    data = b.conv_bn(data, channels, 1280, 1, activation="Clip")
    _classifier(b, data, 1280)
    return b.model("mobilenet_v2")


# Expansion, channels, blocks, stride of the first block, kernel: Table 1 of the paper.
_EFFICIENTNET_B0 = (
    *((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3)),
    *((6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)),
)


def efficientnet_b0(batch: int | str = 1) -> onnx.ModelProto:
    """Tan and Le 2019, B0 at 224: 5.29 M parameters, 0.39 G MACs."""
    b = Builder()
    data = b.conv_bn(b.input("image", [batch, 3, 224, 224]), 3, 32, 3, stride=2, activation="Silu")
    channels = 32
    for expansion, width, blocks, first_stride, kernel in _EFFICIENTNET_B0:
        for block in range(blocks):
            stride = first_stride if not block else 1
            inner, hidden = data, channels * expansion
            if expansion != 1:
                inner = b.conv_bn(inner, channels, hidden, 1, activation="Silu")
            inner = b.conv_bn(
                inner, hidden, hidden, kernel, stride=stride, groups=hidden, activation="Silu"
            )
            inner = _squeeze_excitation(b, inner, hidden, channels // 4)
            inner = b.conv_bn(inner, hidden, width, 1, activation="")
            residual = stride == 1 and channels == width
            data = b.node("Add", [data, inner]) if residual else inner
            channels = width
    data = b.conv_bn(data, channels, 1280, 1, activation="Silu")
    _classifier(b, data, 1280)
    return b.model("efficientnet_b0")


def _squeeze_excitation(b: Builder, data: str, channels: int, squeezed: int) -> str:
    pooled = b.node("GlobalAveragePool", [data])
    inner = b.silu(b.conv(pooled, channels, squeezed, 1, bias=True))
    scale = b.node("Sigmoid", [b.conv(inner, squeezed, channels, 1, bias=True)])
    return b.node("Mul", [data, scale])
