"""Write the TensorFlow Lite files of this folder: ``python tests/golden/formats/make_tflite.py``.

Needs the packages litert-torch and tensorflow, in an environment of their own, and torch.
"""

from __future__ import annotations

import lzma
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

import litert_torch
import numpy as np
import tensorflow as tf

from tests.support.networks.four_networks import NETWORKS, network

FOLDER = Path(__file__).parent
KERAS = FOLDER / "tflite"
layers = tf.keras.layers


def write(path: Path, content: bytes) -> None:
    path.write_bytes(lzma.compress(content))


def convert(model: Any, precision: str) -> bytes:
    """Return a Keras network as a file: float, int8, dynamic (weights alone in int8) or fp16."""
    for variable in model.variables:
        variable.assign(np.linspace(-0.5, 0.5, variable.shape[-1]) + np.zeros(variable.shape))
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if precision != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if precision == "fp16":
        converter.target_spec.supported_types = [tf.float16]
    if precision == "int8":
        shapes = [[1 if size is None else size for size in i.shape] for i in model.inputs]
        converter.representative_dataset = lambda: iter(
            [[np.linspace(0, 1, int(np.prod(s)), dtype=np.float32).reshape(s) for s in shapes]]
        )
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return bytes(converter.convert())


def residual() -> Any:
    """A residual network: convolutions of every padding, poolings, joined and dense layers."""
    image = layers.Input((32, 32, 3), name="image")
    x = layers.Conv2D(16, 3, 2, "same", activation="relu6")(image)
    y = layers.DepthwiseConv2D(3, 1, "same", activation="relu")(x)
    x = layers.ReLU()(layers.Add()([x, y]))
    x = layers.Concatenate()([layers.MaxPool2D()(x), layers.AveragePooling2D(2, padding="same")(x)])
    x = layers.Conv2D(32, 3, activation="sigmoid")(x)
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(image, layers.Softmax()(layers.Dense(10)(x)))


def detector() -> Any:
    """Two scales with heads as of an SSD: rows of boxes, joined."""
    image = layers.Input((64, 64, 3), name="image")
    fine = layers.Conv2D(16, 3, 4, "same", activation="relu6")(image)
    coarse = layers.Conv2D(24, 3, 2, "same", activation="relu6")(fine)
    joined = layers.Conv2D(16, 1)(layers.UpSampling2D()(coarse)) + fine
    boxes = [
        layers.Reshape((-1, 4))(layers.Conv2D(12, 3, padding="same")(scale))
        for scale in (joined, coarse)
    ]
    return tf.keras.Model(image, layers.Concatenate(axis=1)(boxes))


def recurrent() -> Any:
    """An LSTM, a bidirectional one and a dense layer on their last step."""
    tokens = layers.Input((12, 8), name="tokens", batch_size=1)
    x = layers.LSTM(16, return_sequences=True)(tokens)
    x = layers.Bidirectional(layers.LSTM(8, return_sequences=True))(x)
    return tf.keras.Model(tokens, layers.Dense(4)(x[:, -1]))


def segmenter() -> Any:
    """Dilated, grouped and transposed convolutions, and a bilinear change of size."""
    image = layers.Input((32, 32, 4), name="image")
    x = layers.Conv2D(8, 3, padding="same", dilation_rate=2, activation="relu")(image)
    x = layers.Conv2D(8, 3, 2, "same", groups=2)(x)
    x = layers.LeakyReLU()(layers.Conv2DTranspose(6, 3, 2, "same")(x))
    x = layers.Resizing(16, 16)(x)
    return tf.keras.Model(image, tf.keras.activations.tanh(layers.Conv2D(3, 1)(x)))


MODELS: dict[str, Callable[[], Any]] = {
    "detector": detector,
    "recurrent": recurrent,
    "residual": residual,
    "segmenter": segmenter,
}
PRECISIONS = {"residual": ("float", "int8", "dynamic", "fp16"), "detector": ("float", "int8")}

if __name__ == "__main__":
    for name in NETWORKS:
        module, inputs = network(name)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "network.tflite"
            litert_torch.convert(module, inputs).export(str(file))
            write(FOLDER / f"{name}.tflite.xz", file.read_bytes())
    KERAS.mkdir(exist_ok=True)
    for name, make in MODELS.items():
        for precision in PRECISIONS.get(name, ("float",)):
            write(KERAS / f"{name}.{precision}.tflite.xz", convert(make(), precision))
