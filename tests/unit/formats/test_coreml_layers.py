"""Layers of Core ML networks: their work, weights and numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from predictor.formats.coreml import read
from predictor.formats.coreml.mil.schema import model_message
from predictor.formats.opening import Model, open_model

Message = dict[str, Any]
SIZES = (4, 2, 3)
"""Channels, height and width."""


def fill(message: Any, content: Message) -> None:
    """Set the fields of a message; those of messages in it are dictionaries."""
    message.SetInParent()
    for key, value in content.items():
        if isinstance(value, dict):
            fill(getattr(message, key), value)
        elif isinstance(value, list):
            getattr(message, key).extend(value)
        else:
            setattr(message, key, value)


def layer_file(path: Path, kind: str, content: Message, sizes: tuple[int, ...] = SIZES) -> Path:
    """A network of one layer whose arrays state no ranks."""
    model = model_message()(specificationVersion=1)
    model.description.input.add(name="x").type.multiArrayType.shape.extend(sizes)
    model.description.output.add(name="y")
    layer = model.neuralNetwork.layers.add(name="layer", input=["x"], output=["y"])
    fill(getattr(layer, kind), content)
    path.write_bytes(model.SerializeToString())
    return path


def recurrent_file(path: Path, kind: str, params: Message) -> Path:
    """An LSTM of 5 numbers over 6 steps of 4 numbers, whose arrays state their ranks."""
    model = model_message()(specificationVersion=4)
    model.description.input.add(name="x").type.multiArrayType.shape.extend((6, 1, 4, 1, 1))
    model.description.output.add(name="y")
    model.neuralNetwork.arrayInputShapeMapping = 1
    layer = model.neuralNetwork.layers.add(name="layer", input=["x"], output=["y"])
    fill(getattr(layer, kind), {"inputVectorSize": 4, "outputVectorSize": 5, "params": params})
    path.write_bytes(model.SerializeToString())
    return path


def running(model: Model) -> Counter[str]:
    return Counter(model.graph.op_types)


def result_of(path: Path, data: Any) -> Any:
    """What onnxruntime computes of the ONNX model of a file."""
    session = onnxruntime.InferenceSession(read(str(path)).SerializeToString())
    return session.run(None, {"x": data})[0]


@pytest.mark.parametrize(
    ("kind", "content", "numbers"),
    [
        ("unary", {"type": 0}, np.sqrt),
        ("unary", {"type": 1}, lambda x: 1 / np.sqrt(x)),
        ("unary", {"type": 2}, lambda x: 1 / x),
        ("unary", {"type": 3, "alpha": 3}, lambda x: x**3),
        ("unary", {"type": 7, "alpha": 2}, lambda x: np.maximum(x, 2)),
        ("unary", {"type": 1, "scale": 2, "shift": 3}, lambda x: 1 / np.sqrt(2 * x + 3)),
        ("activation", {"leakyReLU": {"alpha": 0.3}}, lambda x: np.where(x < 0, 0.3 * x, x)),
        ("activation", {"thresholdedReLU": {"alpha": 2}}, lambda x: np.where(x > 2, x, 0)),
        ("activation", {"ELU": {"alpha": 2}}, lambda x: np.where(x < 0, 2 * (np.exp(x) - 1), x)),
        (
            "activation",
            {"sigmoidHard": {"alpha": 0.1, "beta": 0.4}},
            lambda x: np.clip(0.1 * x + 0.4, 0, 1),
        ),
        ("activation", {"linear": {"alpha": 2, "beta": 3}}, lambda x: 2 * x + 3),
        (
            "activation",
            {"scaledTanh": {"alpha": 2, "beta": 0.5}},
            lambda x: 2 * np.tanh(0.5 * x),
        ),
    ],
)
def test_numbers_are_those_of_core_ml(
    tmp_path: Path, kind: str, content: Message, numbers: Any
) -> None:
    size = int(np.prod(SIZES))
    start = 0.25 if kind == "unary" else -3
    data = np.linspace(start, 4, size, dtype=np.float32).reshape(1, *SIZES)

    result = result_of(layer_file(tmp_path / "m.mlmodel", kind, content), data)

    assert result == pytest.approx(numbers(data), rel=1e-5, abs=1e-6)


def test_a_parametric_softplus_is_two_products_more(tmp_path: Path) -> None:
    path = layer_file(tmp_path / "m.mlmodel", "activation", {"parametricSoftplus": {}})

    assert running(open_model(path)) == Counter(Mul=2, Softplus=1)


def test_a_parametric_softplus_of_a_program_has_numbers_of_channels(tmp_path: Path) -> None:
    """alpha * log(1 + exp(beta * x)), with numbers of one channel each."""
    model = model_message()(specificationVersion=7)
    model.mlProgram.functions.add(key="main")
    function = model.mlProgram.functions[0].value
    function.opset = "CoreML6"
    fill_type(function.inputs.add(name="x").type, (1, *SIZES))
    function.blocks.add(key="CoreML6")
    block = function.blocks[0].value
    step = block.operations.add(type="softplus_parametric")
    fill_type(step.outputs.add(name="y").type, (1, *SIZES))
    step.inputs.add(key="x").value.arguments.add(name="x")
    numbers = {"alpha": (1.0, 2.0, 3.0, 4.0), "beta": (0.5, 1.0, 1.5, 2.0)}
    for key, elements in numbers.items():
        value = step.inputs.add(key=key).value.arguments.add().value
        fill_type(value.type, (4,))
        value.immediateValue.tensor.floats.values.extend(elements)
    block.outputs.append("y")
    path = tmp_path / "m.mlmodel"
    path.write_bytes(model.SerializeToString())
    data = np.linspace(-3, 4, int(np.prod(SIZES)), dtype=np.float32).reshape(1, *SIZES)

    alpha, beta = (np.reshape(numbers[key], (4, 1, 1)) for key in ("alpha", "beta"))
    expected = alpha * np.log1p(np.exp(beta * data))
    assert result_of(path, data) == pytest.approx(expected, rel=1e-5)
    assert running(open_model(path)) == Counter(Mul=2, Softplus=1)


def fill_type(message: Any, sizes: tuple[int, ...]) -> None:
    """State a tensor of 32-bit numbers."""
    message.tensorType.dataType, message.tensorType.rank = 11, len(sizes)
    for size in sizes:
        message.tensorType.dimensions.add().constant.size = size


@pytest.mark.parametrize(
    ("shape", "parameters"), [([], 1), ([1], 1), ([4], 4), ([1, 2, 3], 6), ([4, 2, 3], 24)]
)
@pytest.mark.parametrize("kind", ["scale", "bias"])
def test_scales_and_biases_follow_the_channels(
    tmp_path: Path, kind: str, shape: list[int], parameters: int
) -> None:
    content: Message = {"shape": shape}
    if kind == "scale":
        content, parameters = {"shapeScale": shape, "hasBias": True, "shapeBias": [4]}, 4
        parameters += int(np.prod(shape or [1]))
    model = open_model(layer_file(tmp_path / "m.mlmodel", kind, content))

    assert model.outputs[0].shape == (1, *SIZES)
    assert model.graph.parameters == parameters


@pytest.mark.parametrize(("has_bias", "op_types"), [(False, {}), (True, {"Add": 1})])
def test_an_embedding_adds_its_bias(
    tmp_path: Path, *, has_bias: bool, op_types: dict[str, int]
) -> None:
    content = {"inputDim": 50, "outputChannels": 8, "hasBias": has_bias}
    model = open_model(layer_file(tmp_path / "m.mlmodel", "embedding", content, (1,)))
    counts = running(model)

    assert {op: counts[op] for op in ("Gather", "Add") if counts[op]} == {"Gather": 1, **op_types}
    assert model.graph.parameters == 50 * 8 + 8 * has_bias


@pytest.mark.parametrize(
    ("params", "vectors"),
    [
        ({}, 0),
        ({"hasBiasVectors": True}, 4),
        ({"hasPeepholeVectors": True}, 3),
        ({"hasBiasVectors": True, "hasPeepholeVectors": True}, 7),
    ],
)
@pytest.mark.parametrize(("kind", "sides"), [("uniDirectionalLSTM", 1), ("biDirectionalLSTM", 2)])
def test_a_cell_has_the_vectors_of_its_gates(
    tmp_path: Path, kind: str, sides: int, params: Message, vectors: int
) -> None:
    path = recurrent_file(tmp_path / "m.mlmodel", kind, {"sequenceOutput": True, **params})
    model = open_model(path)

    assert not model.notes
    assert model.outputs[0].shape == (6, 1, 5 * sides, 1, 1)
    assert int(model.graph.macs.sum()) == sides * 6 * 4 * 5 * (4 + 5)
    # A zero stands for the biases that Core ML does not have.
    parameters = model.graph.parameters - bool(params.get("hasBiasVectors"))
    assert parameters == sides * (4 * 5 * (4 + 5) + vectors * 5)
