from __future__ import annotations

import hashlib
import math

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from predictor.probing.networks import layers
from predictor.probing.networks.weights import uniform, unit_gain_bound
from predictor.probing.networks.writer import IR_VERSION, OPSET, NetworkWriter, model_bytes
from tests.unit.probing.running import graph_of, operators, run


def weights_of(model: onnx.ModelProto, name: str) -> np.ndarray:

    return next(numpy_helper.to_array(t) for t in model.graph.initializer if t.name == name)


def test_generated_values_are_the_same_bytes_on_every_machine() -> None:
    data = uniform("stem.weight", (3, 5), 0.5).tobytes()

    # From the definition: words of the raw PCG64 stream, low half first, 24 bits of each.
    seed = int.from_bytes(hashlib.sha256(b"stem.weight").digest(), "little")
    raw = [int(word) for word in np.random.PCG64(seed).random_raw(8)]
    words = [half for word in raw for half in (word & 0xFFFFFFFF, word >> 32)][:15]
    expected = [((word >> 8) / 2**23 - 1) * 0.5 for word in words]
    assert data == np.array(expected, "<f4").tobytes()
    assert (
        hashlib.sha256(data).hexdigest()
        == "5529450b83e92f2a4664f0ec1deaf89c2aa1b39d1253f5b95af07db402c81571"
    )


def test_generated_values_fill_their_range_with_the_stated_variance() -> None:
    bound = unit_gain_bound(12)

    values = uniform("any", (100_000,), bound)

    assert bound == math.sqrt(3 / 12)
    assert -bound <= values.min() < -0.999 * bound
    assert 0.999 * bound < values.max() < bound
    assert values.var() == pytest.approx(1 / 12, rel=0.01)
    assert abs(values.mean()) < 0.005


def test_names_decide_the_values() -> None:
    assert not np.array_equal(uniform("a", (8,), 1.0), uniform("b", (8,), 1.0))
    assert np.array_equal(uniform("a", (8,), 1.0), uniform("a", (9,), 1.0)[:8])


def test_a_model_says_its_opset_ir_version_and_producer() -> None:
    writer = NetworkWriter("one")
    model = writer.finish(layers.relu(writer, "relu", writer.input("x", (1, 2))))

    assert (model.ir_version, model.opset_import[0].version) == (IR_VERSION, OPSET) == (8, 17)
    assert model.producer_name == "closertome-probes"


def test_a_convolution_computes_what_its_weights_say() -> None:
    writer = NetworkWriter("one")
    x = writer.input("x", (1, 1, 3, 3))
    model = writer.finish(layers.conv(writer, "c", x, 1, kernel=3, stride=2))
    weight, bias = weights_of(model, "c.weight")[0, 0], weights_of(model, "c.bias")[0]
    image = np.zeros((1, 1, 3, 3), np.float32)
    image[0, 0, 0, 0] = 2.0

    output = run(model, image)

    # Stride 2, padding 1: windows centred at (0, 0), (0, 2), (2, 0), (2, 2). Only the first sees
    # the pixel (0, 0), under the centre of its window.
    expected = np.full((1, 1, 2, 2), bias)
    expected[0, 0, 0, 0] += 2 * weight[1, 1]
    np.testing.assert_allclose(output, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "stride", "groups", "macs", "parameters"),
    [
        (1, 1, 1, 8 * 12 * 49, 8 * 12 + 12),
        (1, 1, 2, 4 * 12 * 49, 4 * 12 + 12),
        (3, 1, 1, 9 * 8 * 12 * 49, 9 * 8 * 12 + 12),
        # 7 pixels, stride 2, padding 2: (7 + 4 - 5) // 2 + 1 = 4.
        (5, 2, 4, 25 * 2 * 12 * 16, 25 * 2 * 12 + 12),
    ],
)
def test_macs_and_parameters_of_a_convolution(
    kernel: int, stride: int, groups: int, macs: int, parameters: int
) -> None:
    writer = NetworkWriter("one")
    x = writer.input("x", (1, 8, 7, 7))
    y = layers.conv(writer, "c", x, 12, kernel=kernel, stride=stride, groups=groups)

    graph = graph_of(writer, y)

    assert (graph.macs.sum(), graph.parameters) == (macs, parameters)
    assert graph.output_shape(0) == y.shape


def test_a_depthwise_convolution_has_one_window_a_channel() -> None:
    writer = NetworkWriter("one")
    y = layers.depthwise(writer, "d", writer.input("x", (1, 8, 7, 7)), kernel=5, stride=2)

    graph = graph_of(writer, y)

    assert graph.macs.sum() == 25 * 8 * 4 * 4
    assert graph.parameters == 25 * 8 + 8


def test_the_channel_shuffle_interleaves_the_groups() -> None:
    writer = NetworkWriter("one")
    x = writer.input("x", (2, 6, 1, 1))
    model = writer.finish(layers.channel_shuffle(writer, "s", x, groups=2))
    image = np.arange(12, dtype=np.float32).reshape(2, 6, 1, 1)

    output = run(model, image)

    # Groups (0, 1, 2) and (3, 4, 5): first of each, second of each, third of each.
    assert output[:, :, 0, 0].tolist() == [[0, 3, 1, 4, 2, 5], [6, 9, 7, 10, 8, 11]]


def test_an_average_does_not_count_the_padding() -> None:
    writer = NetworkWriter("one")
    x = writer.input("x", (1, 1, 3, 3))
    y = layers.average_pool(writer, "p", x, kernel=3, stride=1, padding=1)
    model = writer.finish(y)

    output = run(model, np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3))

    # The corner averages 0, 1, 3, 4; the edge 0 to 5; the middle all nine.
    assert output[0, 0, 0].tolist() == [2.0, 2.5, 3.0]
    assert output[0, 0, 1].tolist() == [3.5, 4.0, 4.5]


def test_squeeze_and_excitation_scales_each_channel_by_its_gate() -> None:
    writer = NetworkWriter("one")
    x = writer.input("x", (1, 2, 2, 2))
    model = writer.finish(layers.squeeze_excite(writer, "se", x, squeezed=1))
    image = np.array([[[[1, 2], [3, 6]], [[-1, 0], [0, 5]]]], np.float32)

    output = run(model, image)

    means = np.array([3.0, 1.0])
    hidden = max(
        0.0,
        weights_of(model, "se.reduce.weight")[0, :, 0, 0] @ means
        + weights_of(model, "se.reduce.bias")[0],
    )
    raw = weights_of(model, "se.expand.weight")[:, 0, 0, 0] * hidden
    raw = raw + weights_of(model, "se.expand.bias")
    gate = np.clip(raw / 6 + 0.5, 0, 1)
    np.testing.assert_allclose(output, image * gate[None, :, None, None], rtol=1e-5)


def test_hard_swish_at_its_corners() -> None:
    writer = NetworkWriter("one")
    model = writer.finish(layers.hard_swish(writer, "h", writer.input("x", (1, 4))))

    output = run(model, np.array([[-4, -1.5, 1.5, 4]], np.float32))

    # x * clip(x / 6 + 1 / 2, 0, 1): -1.5 * 0.25 and 1.5 * 0.75.
    np.testing.assert_allclose(output, [[0, -0.375, 1.125, 4]], rtol=1e-6)


def test_batch_norm_stays_an_operator_of_its_own_after_a_sum() -> None:
    writer = NetworkWriter("one")
    x = writer.input("x", (1, 3, 2, 2))
    y = layers.batch_norm(writer, "n", layers.add(writer, "a", x, x))
    model = writer.finish(y)
    image = np.ones((1, 3, 2, 2), np.float32)

    output = run(model, image)

    scale, shift = weights_of(model, "n.scale"), weights_of(model, "n.shift")
    expected = 2 / math.sqrt(1 + 1e-5) * scale + shift
    np.testing.assert_allclose(output[0, :, 0, 0], expected, rtol=1e-5)
    assert operators(graph_of(writer, y)) == {"Add": 1, "BatchNormalization": 1}


def test_a_product_with_zero_is_kept_by_the_runtime_and_by_ingestion() -> None:
    writer = NetworkWriter("one")
    y = layers.times_zero(writer, "z", writer.input("x", (1, 3)))
    model = writer.finish(y)

    assert run(model).tolist() == [[0.0, 0.0, 0.0]]
    assert np.isnan(run(model, np.array([[np.inf, 0, 0]], np.float32))[0, 0])
    assert operators(graph_of(writer, y)) == {"Mul": 1}


def test_a_linear_layer_multiplies_by_the_transposed_weight() -> None:
    writer = NetworkWriter("one")
    model = writer.finish(layers.linear(writer, "l", writer.input("x", (1, 3)), 2))
    features = np.array([[1, 2, 3]], np.float32)

    expected = features @ weights_of(model, "l.weight").T + weights_of(model, "l.bias")

    np.testing.assert_allclose(run(model, features), expected, rtol=1e-5)


def test_equal_models_give_equal_bytes() -> None:
    def build() -> bytes:
        writer = NetworkWriter("same")
        x = writer.input("x", (1, 4, 4, 4))
        return model_bytes(writer.finish(layers.conv(writer, "c", x, 4)))

    assert build() == build()
