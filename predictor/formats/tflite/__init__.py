"""TensorFlow Lite: a file as the ONNX model of its network, as torch would export it."""

from __future__ import annotations

import onnx

from predictor.core.files import opened
from predictor.formats.builder import ModelBuilder
from predictor.formats.tflite.file import ModelFile
from predictor.formats.tflite.network import add_network


def read(path: str) -> onnx.ModelProto:
    """Read a file.

    Raises:
        InputError: it is damaged, compiled for one processor, or holds what cannot be read.
    """
    with opened(path) as (stream, status):
        file = ModelFile(path, stream, status.st_size)
        builder = ModelBuilder(file.producer or "TensorFlow Lite")
        add_network(file, builder)
    return builder.finish()
