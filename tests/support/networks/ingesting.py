"""Ingests a model that was built by code."""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from predictor.graph.ingest import build_model
from predictor.graph.model import Model
from predictor.graph.reader import ReadModel


def ingest_proto(
    proto: onnx.ModelProto,
    bindings: Mapping[str, int] | None = None,
    batch: int | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> Model:
    read = ReadModel(proto=proto, path="/built.onnx")
    return build_model(read, bindings or {}, batch, shapes or {})
