"""Build the bundled sample models: real structures at full size, constant weights.

    python packaging/make_samples.py [FOLDER]

A latency depends on shapes and not on the values of weights, so each weight is a ConstantOfShape
and a model of 66 million parameters is a file of 60 KB. The files are the same on every run.

- mobilenetv2-1.0-224: Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks",
  CVPR 2018, table 2, batch normalisation folded into the convolutions.
- yolov3-tiny-416: Redmon and Farhadi, "YOLOv3: An Incremental Improvement", 2018, by the file
  cfg/yolov3-tiny.cfg of https://github.com/pjreddie/darknet, with its two raw outputs; batch
  normalisation folded.
- distilbert-base: Sanh et al., "DistilBERT, a distilled version of BERT", 2019: 6 layers of
  BERT-base (Devlin et al., NAACL 2019): width 768, 12 heads, feed-forward width 3072.

Language models are their configurations, the counts of which tell all that a prediction needs:

- whisper-base: Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", ICML
  2023, table 1: 6 layers each of encoder and decoder, width 512, 8 heads.
- qwen3-1.7b: Qwen Team, "Qwen3 Technical Report", 2025, table 1: 28 layers, 16 heads and 8 of keys,
  tied embeddings; widths by its published config.json.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import onnx
from destination import destination
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
SAMPLES = Path(__file__).resolve().parent.parent / "resources" / "samples"


class Builder:
    """Collects the nodes of one graph."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}

    def constant(self, array: np.ndarray) -> str:
        """Return the name of a small stored constant; equal ones are stored once."""
        values = "_".join(str(value) for value in array.reshape(-1).tolist())
        name = f"{array.dtype}_{'x'.join(map(str, array.shape)) or 'scalar'}_{values}"
        self.initializers[name] = numpy_helper.from_array(array, name)
        return name

    def weight(self, name: str, *shape: int) -> str:
        """Return the name of a weight of ``shape``, made when the model runs."""
        value = numpy_helper.from_array(np.full(1, 0.01, np.float32), "value")
        dims = self.constant(np.array(shape, np.int64))
        node = helper.make_node(
            "ConstantOfShape", [dims], [name], name=f"weight/{name}", value=value
        )
        self.nodes.append(node)
        return name

    def add(self, op_type: str, name: str, *inputs: str, **attributes: object) -> str:
        """Append an operator and return the name of its output."""
        output = f"{name}_output"
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=name, **attributes))
        return output

    def model(
        self, name: str, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]
    ) -> onnx.ModelProto:
        """Return the checked model."""
        graph = helper.make_graph(
            self.nodes, name, inputs, outputs, list(self.initializers.values())
        )
        model = helper.make_model(
            graph,
            producer_name="closertome-samples",
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        onnx.checker.check_model(model, full_check=True)
        return model


def mobilenet_v2() -> onnx.ModelProto:
    """Return MobileNetV2 with width 1.0 for images of 224 x 224."""
    # Table 2: expansion, output channels, repeats, stride of the first.
    table = [
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ]
    b = Builder()
    x = _relu6(b, "stem", _conv(b, "stem", "image", 3, 32, kernel=3, stride=2))
    channels = 32
    for stage, (expansion, width, repeats, first_stride) in enumerate(table):
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            x = _bottleneck(b, f"stage{stage}.{repeat}", x, channels, width, expansion, stride)
            channels = width
    x = _relu6(b, "head", _conv(b, "head", x, channels, 1280, kernel=1))
    x = b.add("GlobalAveragePool", "pool", x)
    x = b.add("Flatten", "flatten", x, axis=1)
    weight, bias = b.weight("classifier.weight", 1000, 1280), b.weight("classifier.bias", 1000)
    x = b.add("Gemm", "classifier", x, weight, bias, transB=1)
    b.nodes[-1].output[0] = "logits"
    return b.model(
        "mobilenetv2-1.0-224",
        [_tensor("image", TensorProto.FLOAT, "batch", 3, 224, 224)],
        [_tensor("logits", TensorProto.FLOAT, "batch", 1000)],
    )


def _bottleneck(
    b: Builder, name: str, x: str, channels: int, width: int, expansion: int, stride: int
) -> str:
    hidden = channels * expansion
    y = x
    if expansion > 1:
        y = _relu6(b, f"{name}.expand", _conv(b, f"{name}.expand", y, channels, hidden, kernel=1))
    depthwise = _conv(
        b, f"{name}.depthwise", y, hidden, hidden, kernel=3, stride=stride, group=hidden
    )
    y = _relu6(b, f"{name}.depthwise", depthwise)
    y = _conv(b, f"{name}.project", y, hidden, width, kernel=1)
    return b.add("Add", f"{name}.add", x, y) if stride == 1 and channels == width else y


def _conv(
    b: Builder,
    name: str,
    x: str,
    channels: int,
    width: int,
    *,
    kernel: int,
    stride: int = 1,
    group: int = 1,
) -> str:
    weight = b.weight(f"{name}.weight", width, channels // group, kernel, kernel)
    bias = b.weight(f"{name}.bias", width)
    return b.add(
        "Conv",
        name,
        x,
        weight,
        bias,
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        pads=[kernel // 2] * 4,
        dilations=[1, 1],
        group=group,
    )


def _relu6(b: Builder, name: str, x: str) -> str:
    low, high = b.constant(np.float32(0).reshape(())), b.constant(np.float32(6).reshape(()))
    return b.add("Clip", f"{name}.relu6", x, low, high)


_ANCHORS_A_CELL, _VALUES_AN_ANCHOR = 3, 85  # box, objectness and 80 classes


def yolov3_tiny() -> onnx.ModelProto:
    """Return YOLOv3-tiny for images of 416 x 416: two grids of raw outputs, 13 x 13 and 26 x 26."""
    b = Builder()
    x, channels = "image", 3
    for place, width in enumerate((16, 32, 64, 128)):
        x = _max_pool(b, f"pool{place}", _leaky(b, f"backbone{place}", x, channels, width))
        channels = width
    fine = _leaky(b, "backbone4", x, 128, 256)
    x = _leaky(b, "backbone5", _max_pool(b, "pool4", fine), 256, 512)
    x = _leaky(b, "backbone6", _max_pool(b, "pool5", x, stride=1), 512, 1024)
    x = _leaky(b, "neck", x, 1024, 256, kernel=1)
    outputs = _ANCHORS_A_CELL * _VALUES_AN_ANCHOR
    _conv(b, "coarse.output", _leaky(b, "coarse", x, 256, 512), 512, outputs, kernel=1)
    b.nodes[-1].output[0] = "coarse"
    scales = b.constant(np.array([1, 1, 2, 2], np.float32))
    up = _leaky(b, "fine.reduce", x, 256, 128, kernel=1)
    up = b.add("Resize", "fine.upsample", up, "", scales, mode="nearest")
    both = b.add("Concat", "fine.concat", up, fine, axis=1)
    _conv(b, "fine.output", _leaky(b, "fine", both, 384, 256), 256, outputs, kernel=1)
    b.nodes[-1].output[0] = "fine"
    return b.model(
        "yolov3-tiny-416",
        [_tensor("image", TensorProto.FLOAT, "batch", 3, 416, 416)],
        [
            _tensor("coarse", TensorProto.FLOAT, "batch", outputs, 13, 13),
            _tensor("fine", TensorProto.FLOAT, "batch", outputs, 26, 26),
        ],
    )


def _leaky(b: Builder, name: str, x: str, channels: int, width: int, *, kernel: int = 3) -> str:
    y = _conv(b, name, x, channels, width, kernel=kernel)
    return b.add("LeakyRelu", f"{name}.leaky", y, alpha=0.1)


def _max_pool(b: Builder, name: str, x: str, *, stride: int = 2) -> str:
    pads = [0, 0, 2 - stride, 2 - stride]  # the grid of a stride of 1 keeps its size
    return b.add("MaxPool", name, x, kernel_shape=[2, 2], strides=[stride, stride], pads=pads)


_LAYERS, _WIDTH, _HEADS, _HIDDEN, _VOCABULARY, _POSITIONS = 6, 768, 12, 3072, 30522, 512


def distilbert() -> onnx.ModelProto:
    """Return DistilBERT's encoder for token ids of any batch and length up to 512."""
    b = Builder()
    words = b.weight("embeddings.words", _VOCABULARY, _WIDTH)
    positions = b.weight("embeddings.positions", _POSITIONS, _WIDTH)
    x = b.add("Gather", "embeddings.gather", words, "input_ids", axis=0)
    length = b.add("Shape", "embeddings.length", "input_ids", start=1, end=2)
    zero, one = (b.constant(np.array([value], np.int64)) for value in (0, 1))
    place = b.add("Slice", "embeddings.slice", positions, zero, length, zero, one)
    x = _norm(b, "embeddings.norm", b.add("Add", "embeddings.add", x, place))
    for layer in range(_LAYERS):
        name = f"layer{layer}"
        x = _norm(b, f"{name}.norm1", b.add("Add", f"{name}.add1", x, _attention(b, name, x)))
        x = _norm(b, f"{name}.norm2", b.add("Add", f"{name}.add2", x, _feed_forward(b, name, x)))
    b.nodes[-1].output[0] = "last_hidden_state"
    return b.model(
        "distilbert-base",
        [_tensor("input_ids", TensorProto.INT64, "batch", "sequence")],
        [_tensor("last_hidden_state", TensorProto.FLOAT, "batch", "sequence", _WIDTH)],
    )


def _attention(b: Builder, name: str, x: str) -> str:
    split = b.constant(np.array([0, 0, _HEADS, _WIDTH // _HEADS], np.int64))
    joined = b.constant(np.array([0, 0, _WIDTH], np.int64))
    heads = {}
    for part, perm in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        y = _linear(b, f"{name}.attention.{part}", x, _WIDTH, _WIDTH)
        y = b.add("Reshape", f"{name}.attention.{part}.split", y, split)
        heads[part] = b.add("Transpose", f"{name}.attention.{part}.transpose", y, perm=perm)
    scale = b.constant(np.float32(math.sqrt(_WIDTH // _HEADS)).reshape(()))
    query = b.add("Div", f"{name}.attention.scale", heads["query"], scale)
    scores = b.add("MatMul", f"{name}.attention.scores", query, heads["key"])
    weights = b.add("Softmax", f"{name}.attention.softmax", scores, axis=-1)
    y = b.add("MatMul", f"{name}.attention.context", weights, heads["value"])
    y = b.add("Transpose", f"{name}.attention.transpose", y, perm=[0, 2, 1, 3])
    y = b.add("Reshape", f"{name}.attention.join", y, joined)
    return _linear(b, f"{name}.attention.output", y, _WIDTH, _WIDTH)


def _feed_forward(b: Builder, name: str, x: str) -> str:
    y = _linear(b, f"{name}.ffn.lin1", x, _WIDTH, _HIDDEN)
    return _linear(b, f"{name}.ffn.lin2", _gelu(b, f"{name}.ffn.gelu", y), _HIDDEN, _WIDTH)


def _gelu(b: Builder, name: str, x: str) -> str:
    root, one, half = (
        b.constant(np.float32(value).reshape(())) for value in (math.sqrt(2), 1, 0.5)
    )
    y = b.add("Erf", f"{name}.erf", b.add("Div", f"{name}.div", x, root))
    y = b.add("Mul", f"{name}.mul", x, b.add("Add", f"{name}.add", y, one))
    return b.add("Mul", f"{name}.half", y, half)


def _linear(b: Builder, name: str, x: str, channels: int, width: int) -> str:
    y = b.add("MatMul", f"{name}.matmul", x, b.weight(f"{name}.weight", channels, width))
    return b.add("Add", f"{name}.bias_add", y, b.weight(f"{name}.bias", width))


def _norm(b: Builder, name: str, x: str) -> str:
    scale, bias = b.weight(f"{name}.scale", _WIDTH), b.weight(f"{name}.bias", _WIDTH)
    return b.add("LayerNormalization", name, x, scale, bias, axis=-1, epsilon=1e-12)


def _tensor(name: str, element_type: int, *dims: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element_type, dims)


CONFIGURATIONS = {
    "whisper-base": {
        "model_type": "whisper",
        "d_model": 512,
        "encoder_layers": 6,
        "encoder_attention_heads": 8,
        "encoder_ffn_dim": 2048,
        "decoder_layers": 6,
        "decoder_attention_heads": 8,
        "decoder_ffn_dim": 2048,
        "num_hidden_layers": 6,
        "num_mel_bins": 80,
        "max_source_positions": 1500,
        "max_target_positions": 448,
        "vocab_size": 51865,
    },
    "qwen3-1.7b": {
        "model_type": "qwen3",
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "attention_bias": False,
        "use_sliding_window": False,
        "tie_word_embeddings": True,
        "max_position_embeddings": 40960,
        "vocab_size": 151936,
    },
}


def main(folder: Path) -> None:
    """Write every sample into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for model in (mobilenet_v2(), yolov3_tiny(), distilbert()):
        path = folder / f"{model.graph.name}.onnx"
        path.write_bytes(model.SerializeToString(deterministic=True))
        print(f"{path}: {path.stat().st_size:,} bytes, {len(model.graph.node)} nodes")
    for name, configuration in CONFIGURATIONS.items():
        path = folder / f"{name}.json"
        path.write_bytes(f"{json.dumps(configuration, indent=2)}\n".encode())
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(destination(__doc__, SAMPLES))
