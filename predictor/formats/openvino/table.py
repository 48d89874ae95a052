"""The operations of IR that have an ONNX counterpart, with their handlers."""

from __future__ import annotations

from typing import Final

from predictor.formats.openvino import (
    bodies,
    data,
    elementwise,
    network,
    normalisation,
    quantisation,
    recurrent,
    selections,
    slices,
    windows,
)
from predictor.formats.openvino.operation import Handler

HANDLERS: Final[dict[str, Handler]] = {
    **data.HANDLERS,
    **elementwise.HANDLERS,
    **network.HANDLERS,
    **normalisation.HANDLERS,
    **quantisation.HANDLERS,
    **recurrent.HANDLERS,
    **selections.HANDLERS,
    **slices.HANDLERS,
    **windows.HANDLERS,
}
"""Handlers by operation in lower case."""

HANDLERS.update(bodies.handlers(HANDLERS))
