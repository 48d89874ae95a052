"""The shapes of inputs, which a ``.param`` states seldom: the layers that read them say more."""

from __future__ import annotations

import math
from typing import Final

from predictor.formats.ncnn.layers import Dims
from predictor.formats.ncnn.text import Layer

_CONVOLUTIONS: Final = {
    f"{stem}{kind}{suffix}": rank
    for stem in ("Convolution", "Deconvolution")
    for kind in ("", "DepthWise")
    for suffix, rank in (("1D", 2), ("", 3), ("3D", 4))
}
_RANKS: Final = {
    **_CONVOLUTIONS,
    **dict.fromkeys(("Interp", "Pooling", "PixelShuffle", "Reorg", "ShuffleChannel"), 3),
    **dict.fromkeys(("Gemm", "GRU", "LSTM", "MultiHeadAttention", "RNN", "Pooling1D"), 2),
    **dict.fromkeys(("Embed", "InnerProduct"), 1),
    "Pooling3D": 4,
}
# Their output has the axes and channels of their input.
_SAME: Final = frozenset(
    {
        *("AbsVal", "BatchNorm", "BinaryOp", "Clip", "Crop", "Dropout", "ELU", "GELU", "GroupNorm"),
        *("HardSigmoid", "HardSwish", "InstanceNorm", "Interp", "LRN", "LayerNorm", "Mish", "Noop"),
        *("Normalize", "PReLU", "Padding", "Pooling", "RMSNorm", "ReLU", "Scale", "Sigmoid"),
        *("Softmax", "Split", "Swish", "TanH", "UnaryOp"),
    }
)
_GATES: Final = {"LSTM": 4, "GRU": 3, "RNN": 1}


class Inputs:
    """Shapes of the inputs of a network.

    Args:
        layers: of the file.
    """

    def __init__(self, layers: list[Layer]) -> None:
        self._readers: dict[str, list[Layer]] = {}
        self._makers: dict[str, Layer] = {}
        for layer in layers:
            for name in layer.inputs:
                self._readers.setdefault(name, []).append(layer)
            for name in layer.outputs:
                self._makers[name] = layer

    def dims(self, layer: Layer) -> Dims:
        """Return the sizes of an Input layer from the outermost axis, None for open ones."""
        stated = [layer.integer(key) for key in (2, 11, 1, 0)]
        if stated[3] > 0:
            return [size for size in stated if size > 0]
        return self._follow(layer.outputs[0])

    def _follow(self, blob: str) -> Dims:
        """Return what the readers of a blob say, an image of open sizes if nothing."""
        queue, visited, inner = [blob], {blob}, None
        while queue:
            current = queue.pop(0)
            for reader in self._readers.get(current, []):
                if reader.type in {"LayerNorm", "RMSNorm"} and reader.integer(0):
                    inner = reader.integer(0)
                if reader.type in _RANKS and reader.type not in _SAME:
                    return self._sizes(reader, inner)
                if reader.type == "Concat" and reader.integer(0) == 0:
                    channels = self._rest(reader, current)
                    if channels is not None:
                        return [channels, None, None]
                if reader.type in _SAME:
                    fresh = [name for name in reader.outputs if name not in visited]
                    queue += fresh
                    visited.update(fresh)
        return [None, inner] if inner else [None, None, None]

    def _sizes(self, layer: Layer, inner: int | None) -> Dims:
        rank = _RANKS[layer.type]
        if layer.type in _CONVOLUTIONS:
            return [_channels(layer), *[None] * (rank - 1)]
        match layer.type:
            case "InnerProduct":
                size = layer.integer(2) // max(layer.integer(0), 1)
                return [None, inner] if inner and inner == size else [size]
            case "Gemm":
                rows = layer.integer(7) if layer.integer(5) else 0
                return [rows or None, layer.integer(9) or inner]
            case "MultiHeadAttention":
                return [None, layer.integer(2) // max(layer.integer(0), 1) or None]
            case "LSTM" | "GRU" | "RNN":
                return [None, _recurrent_size(layer)]
        return [None] * rank

    def _rest(self, layer: Layer, blob: str) -> int | None:
        """Return the channels that a joined blob has beside the others that are joined."""
        total = self._needed(layer.outputs[0])
        counts = [self._made(name) for name in layer.inputs if name != blob]
        stated = [count for count in counts if count is not None]
        if total is None or len(stated) < len(counts) or total <= sum(stated):
            return None
        return total - sum(stated)

    def _needed(self, blob: str) -> int | None:
        for _ in range(len(self._makers)):
            readers = self._readers.get(blob, [])
            convolutions = [reader for reader in readers if reader.type in _CONVOLUTIONS]
            if convolutions:
                return _channels(convolutions[0])
            if not readers or readers[0].type not in _SAME or not readers[0].outputs:
                return None
            blob = readers[0].outputs[0]
        return None

    def _made(self, blob: str) -> int | None:
        for _ in range(len(self._makers)):
            maker = self._makers[blob]
            if maker.type in _CONVOLUTIONS:
                return maker.integer(0)
            if maker.type not in _SAME or not maker.inputs:
                return None
            blob = maker.inputs[0]
        return None


def _channels(layer: Layer) -> int | None:
    """Return the input channels of a convolution, from the size of its weights."""
    kernel = [layer.integer(1), layer.integer(11, layer.integer(1))]
    if layer.type.endswith("1D"):
        kernel = kernel[:1]
    elif layer.type.endswith("3D"):
        kernel.append(layer.integer(21, layer.integer(1)))
    outputs = layer.integer(0) * math.prod(kernel)
    return layer.integer(6) // outputs * max(layer.integer(7, 1), 1) if outputs > 0 else None


def _recurrent_size(layer: Layer) -> int | None:
    outputs = layer.integer(0)
    hidden = layer.integer(3, outputs) if layer.type == "LSTM" else outputs
    rows = hidden * _GATES[layer.type] * (2 if layer.integer(2) == 2 else 1)
    return layer.integer(1) // rows if rows > 0 else None
