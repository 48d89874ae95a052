"""One layer of a Core ML neural network, and the ONNX operators that stand for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from onnx import TensorProto

from predictor.formats.emitter import Emitter, RuleTable, UnreadError, Values

_INTEGERS: Final = {1: TensorProto.UINT2, 2: TensorProto.UINT2, 4: TensorProto.UINT4}
_LARGEST_SIZE: Final = 2**40


class Layer(Emitter):
    """A layer.

    Args:
        values: of the network.
        kind: name of its field of parameters.
        message: of the layer.
        dtype: in which the network computes.
        is_flat: whether arrays are [channels, height, width] by place, whatever their rank: ONNX
            has them as [1, channels, height, width].
    """

    def __init__(
        self, values: Values, kind: str, message: Any, dtype: int, *, is_flat: bool
    ) -> None:
        super().__init__(values, str(message.name or kind))
        self.kind = kind
        self.message = message
        self.params = getattr(message, kind)
        self.dtype, self.is_flat = dtype, is_flat

    @property
    def data(self) -> str:
        """The ONNX value of the first input."""
        return self.values.names[self.message.input[0]]

    @property
    def inputs(self) -> list[str]:
        """The ONNX values of all inputs."""
        return [self.values.names[name] for name in self.message.input]

    @property
    def rank(self) -> int:
        """Number of axes of the first input; 4 where the file does not state it."""
        if self.is_flat or not self.message.inputTensor:
            return 4
        return int(self.message.inputTensor[0].rank)

    def weight(self, dims: Sequence[int], stored: Any = None, stem: str = "weight") -> str:
        """Add weights; those of few bits are integers with a scale.

        Args:
            dims: sizes.
            stored: message ``Weights``.
            stem: end of the name.
        """
        sizes = [int(size) for size in dims]
        if any(not 0 < size < _LARGEST_SIZE for size in sizes):
            raise UnreadError("a size of weights")
        name = self.values.name(f"{self.name}/{stem}")
        bits = int(stored.quantization.numberOfBits) if stored is not None else 0
        if not 0 < bits <= 8:
            return self.values.builder.weight(name, self.dtype, sizes)
        dtype = _INTEGERS.get(bits, TensorProto.UINT8)
        integers = self.values.builder.weight(name, dtype, sizes)
        return self.emit("DequantizeLinear", [integers, self.constant(1, self.dtype)])

    def channels(self, size: int, stem: str) -> str:
        """Add a vector of one number a channel."""
        return self.weight([size], None, stem)

    def scaled(self, data: str, number: float) -> str:
        """Return a value times a number."""
        return self.emit("Mul", [data, self.constant(number, self.dtype)])


Rule = Callable[[Layer], str | Sequence[str]]

RULES: Final[RuleTable[Rule]] = RuleTable()
"""By kind of layer; a rule returns its results."""

rule = RULES.of
