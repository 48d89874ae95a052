"""OpenVINO IR (``.xml`` beside ``.bin``) as the ONNX model of the same network."""

from __future__ import annotations

import onnx

from predictor.core.files import opened
from predictor.formats.builder import ModelBuilder
from predictor.formats.openvino.conversion import convert
from predictor.formats.openvino.document import read_document
from predictor.formats.openvino.network import finish
from predictor.formats.openvino.operation import DOMAIN
from predictor.formats.openvino.scope import Scope, Weights
from predictor.formats.openvino.table import HANDLERS


def read(path: str) -> onnx.ModelProto:
    """Return the model of an IR of version 10 or 11.

    Args:
        path: of the XML; the weights lie beside it, and may be missing where no value is needed.

    Raises:
        InputError: it is no such file, or it contradicts itself.
    """
    with opened(path) as (stream, _):
        net = read_document(path, stream)
    scope = Scope(net, ModelBuilder("OpenVINO", DOMAIN), Weights(path))
    convert(scope, HANDLERS)
    return finish(scope)
