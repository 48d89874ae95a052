"""Layer normalisations, which the file writes as operators on means and variances.

``x * a + (beta - mean * a)`` or ``(x - mean) * a``, ``a = gamma / sqrt(mean((x - mean) ^ 2) +
epsilon)``; gamma and beta may be absent. They become the one operator that exporters of ONNX write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from predictor.formats.tflite.file import Operator
from predictor.formats.tflite.layouts import as_filed
from predictor.formats.tflite.translation import Translation

_MAX_VIEWS: Final = 4  # one after another


class Normalization(NamedTuple):
    """A layer normalisation.

    Attributes:
        data: tensor that is normalised.
        scale: tensor of gamma; -1 for none.
        shift: tensor of beta; -1 for none.
        steps: indices of the operators that it is written as.
    """

    data: int
    scale: int
    shift: int
    steps: frozenset[int]


def normalization_at(translation: Translation, last: Operator) -> Normalization | None:
    """Return the layer normalisation that an operator is the last of; None if it is of none."""
    if len(last.inputs) != 2 or last.option("FusedActivationFunction"):
        return None
    for first, second in (last.inputs, last.inputs[::-1]):
        match = _Match(translation)
        result = None
        if last.type == "ADD":
            result = match.of_sum(last, first, second)
        elif last.type == "MUL":
            result = match.of_product(last, first, second)
        if result is not None:
            return result
    return None


class _Match:
    def __init__(self, translation: Translation) -> None:
        self._translation = translation
        self._steps: dict[int, Operator] = {}

    def of_product(self, last: Operator, centred: int, factor: int) -> Normalization | None:
        """Return the normalisation that is a difference from the mean times a factor."""
        difference = self._maker(centred, "SUB")
        if difference is None:
            return None
        data, mean = difference.inputs
        scale = self._scale(factor, data, mean) if self._is_mean(mean, data) else None
        self._leave(data)
        if scale is None or not self._is_closed(last):
            return None
        return Normalization(data, scale, -1, frozenset(self._steps))

    def of_sum(self, last: Operator, scaled: int, shifted: int) -> Normalization | None:
        """Return the normalisation that is the data and its mean, scaled, and their sum."""
        product, shift = self._maker(scaled, "MUL"), self._maker(shifted, "SUB")
        if product is None or shift is None:
            return None
        mean_product = self._maker(shift.inputs[1], "MUL")
        if mean_product is None:
            return None
        for data, factor in (product.inputs[:2], product.inputs[1::-1]):
            for mean, again in (mean_product.inputs[:2], mean_product.inputs[1::-1]):
                if self._plain(factor) == self._plain(again) and self._is_mean(mean, data):
                    scale = self._scale(factor, data, mean)
                    self._leave(data)
                    if scale is not None and self._is_closed(last):
                        beta = self._parameter(shift.inputs[0], data)
                        return Normalization(data, scale, beta, frozenset(self._steps))
        return None

    def _leave(self, data: int) -> None:
        """Leave out what makes the data: it was met where operands stand in either order."""
        maker = self._translation.producers.get(data)
        while maker is not None and self._steps.pop(maker.index, None) is not None:
            maker = self._translation.producers.get(maker.inputs[0])

    def _scale(self, factor: int, data: int, mean: int) -> int | None:
        """Return gamma, -1 for none, of a factor that divides by the deviation of the data."""
        root = self._maker(factor, "RSQRT")
        scale = -1
        if root is None:
            product = self._maker(factor, "MUL")
            if product is None:
                return None
            constants = [i for i in product.inputs if self._translation.is_constant(i)]
            computed = [i for i in product.inputs if not self._translation.is_constant(i)]
            root = self._maker(computed[0], "RSQRT") if len(computed) == 1 else None
            scale = constants[0] if constants else -1
        total = None if root is None else self._maker(root.inputs[0], "ADD")
        for variance in total.inputs[:2] if total is not None else ():
            spread = self._maker(variance, "MEAN")
            square = spread and self._maker(spread.inputs[0], "SQUARED_DIFFERENCE")
            pair = {i if i == data else self._plain(i) for i in square.inputs} if square else set()
            if pair == {data, self._plain(mean)}:
                return scale
        return None

    def _is_mean(self, index: int, data: int) -> bool:
        """Whether a tensor is the mean of the data along its last axis."""
        maker = self._maker(index, "MEAN")
        if maker is None or maker.inputs[0] != data:
            return False
        dims = self._translation.tensor(data).dims
        axes = self._translation.integers(maker.inputs[1]) or []
        reduced = {axis % len(dims) for axis in axes}
        return len(dims) - 1 in reduced and all(
            dims[axis] == 1 for axis in reduced - {len(dims) - 1}
        )

    def _parameter(self, index: int, data: int) -> int:
        """Return a tensor if it has an element for each of the last axis, else -1."""
        tensor, width = self._translation.tensor(index), self._translation.tensor(data).dims[-1]
        is_vector = tensor.dims[-1:] == (width,) and int(np.prod(tensor.dims)) == width
        return index if is_vector and self._translation.is_constant(index) else -1

    def _plain(self, index: int) -> int:
        """Return the tensor before any Reshape."""
        for _ in range(_MAX_VIEWS):
            maker = self._translation.producers.get(index)
            if maker is None or maker.type != "RESHAPE":
                break
            self._steps[maker.index] = maker
            index = maker.inputs[0]
        return index

    def _maker(self, index: int, kind: str) -> Operator | None:
        maker = self._translation.producers.get(self._plain(index))
        if maker is None or maker.type != kind or maker.option("FusedActivationFunction"):
            return None
        self._steps[maker.index] = maker
        return maker

    def _is_closed(self, last: Operator) -> bool:
        """Whether nothing else reads what the operators make."""
        inside = {*self._steps, last.index}
        outputs = set(self._translation.graph.outputs)
        users: Sequence[Operator]
        for step in self._steps.values():
            for index in step.outputs:
                users = self._translation.users.get(index, ())
                if index in outputs or any(user.index not in inside for user in users):
                    return False
        return True


def add_normalization(
    translation: Translation, operator: Operator, normalization: Normalization
) -> None:
    """Add a layer normalisation in place of the last of its operators."""
    builder, data = translation.builder, normalization.data
    rank, width = translation.rank(data), translation.tensor(data).dims[-1]
    inputs = [translation.value(data, as_filed(rank))]
    one = builder.constant(np.ones(1, np.float32))
    inputs.append(
        builder.node("Expand", [one, builder.constant([width])])
        if normalization.scale < 0
        else translation.reshaped(translation.value(normalization.scale), [width])
    )
    if normalization.shift >= 0:
        inputs.append(translation.reshaped(translation.value(normalization.shift), [width]))
    translation.node(operator, "LayerNormalization", inputs, axis=-1)
