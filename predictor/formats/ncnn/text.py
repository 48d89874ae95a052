"""The layers of an ncnn ``.param``, read from its text.

Reference:
    ncnn wiki, "param and model file structure": a magic number, the counts of layers and blobs, and
    a line for each layer: type, name, counts of inputs and outputs, their names, parameters
    ``id=value``, arrays as ``-23300-id=count,value,...``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from predictor.core.errors import InputError
from predictor.core.files import read_text
from predictor.core.text import shortened
from predictor.graph.reader import READ_LIMITS

AGAIN: Final = "convert the model again with pnnx"
MAGIC: Final = "7767517"
BINARY_MAGIC: Final = int(MAGIC).to_bytes(4, "little")
_MAX_BYTES: Final = 64 * 2**20
_ARRAYS: Final = -23300
_LARGEST: Final = 2**31
_LARGEST_FLOAT: Final = 3.4028234e38  # of 32 bits

Number: TypeAlias = int | float


@dataclass(slots=True, kw_only=True)
class Layer:
    """A line of the file.

    Attributes:
        type: of the layer.
        name: of the layer.
        inputs: names of the blobs that it reads.
        outputs: names of the blobs that it makes.
        numbers: parameters by id.
        arrays: parameters that are arrays, by id.
        texts: parameters that are texts, by id.
    """

    type: str
    name: str
    inputs: list[str]
    outputs: list[str]
    numbers: dict[int, Number] = field(default_factory=dict)
    arrays: dict[int, list[Number]] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)

    def number(self, key: int, default: float = 0.0) -> float:
        """Return a parameter."""
        return float(self.numbers.get(key, default))

    def integer(self, key: int, default: int = 0) -> int:
        """Return a parameter that is a whole number."""
        return _integer(self.numbers.get(key, default))

    def integers(self, key: int) -> list[int]:
        """Return an array of whole numbers."""
        return [_integer(value) for value in self.arrays.get(key, ())]


def _integer(value: Number) -> int:
    """Return a number as ncnn's integers hold it."""
    return int(min(max(value, -_LARGEST), _LARGEST))


def read_layers(path: str) -> list[Layer]:
    """Read the layers of a file, in its order, which is that of their inputs.

    Raises:
        InputError: it is the binary form, or contradicts itself.
    """
    lines = read_text(path, _MAX_BYTES).splitlines()
    counts = lines[1].split() if len(lines) > 1 else []
    if len(counts) != 2 or not all(map(_is_count, counts)):
        raise _error(path, 2, "does not state the counts of layers and blobs")
    # Of files that were shortened or joined by hand the counts are often wrong: lines decide.
    layers = [
        _layer(path, number, line.split())
        for number, line in enumerate(lines[2:], 3)
        if line.strip() and not line.startswith("#")
    ]
    if not layers:
        raise InputError(path, "it has no layers", AGAIN)
    _check(path, layers, counts[0])
    return layers


def _check(path: str, layers: list[Layer], count: str) -> None:
    if len(layers) > READ_LIMITS.nodes:
        reason = f"it has {len(layers)} layers, the most being {READ_LIMITS.nodes}"
        raise InputError(path, reason, AGAIN)
    if len(count) > 9 or int(count) > len(layers):
        reason = f"it states {shortened(count, 20)} layers, but has {len(layers)}"
        raise InputError(path, f"{reason}: it is cut off", AGAIN)
    made: set[str] = set()
    for layer in layers:
        for name in layer.inputs:
            if name not in made:
                reason = f"reads '{shortened(name, 80)}', which no layer before it makes"
                raise layer_error(path, layer, reason)
        for name in layer.outputs:
            if name in made:
                reason = f"makes '{shortened(name, 80)}', which another layer makes too"
                raise layer_error(path, layer, reason)
            made.add(name)


def _layer(path: str, line: int, words: list[str]) -> Layer:
    if len(words) < 4 or not all(_is_count(word) and len(word) < 7 for word in words[2:4]):
        raise _error(path, line, "is no layer: type, name and counts of inputs and outputs")
    inputs, outputs = int(words[2]), int(words[3])
    if len(words) < 4 + inputs + outputs:
        raise _error(path, line, f"states {inputs + outputs} blobs, but names fewer")
    stop = 4 + inputs + outputs
    if "." in words[0]:  # an operator of torch that pnnx has left as it was
        raise _error(path, line, f"has '{shortened(words[0], 60)}', which is no layer of ncnn")
    layer = Layer(
        type=words[0], name=words[1], inputs=words[4 : 4 + inputs], outputs=words[4 + inputs : stop]
    )
    for word in words[stop:]:
        _add_parameter(path, line, layer, word)
    return layer


def _is_count(word: str) -> bool:
    return word.isascii() and word.isdigit()


def _add_parameter(path: str, line: int, layer: Layer, word: str) -> None:
    key, _, text = word.partition("=")
    try:
        number = int(key)
        if text.startswith('"'):
            layer.texts[number] = text.strip('"')
            return
        values = [_value(value) for value in text.split(",")]
    except ValueError as error:
        raise _error(path, line, f"has the parameter '{shortened(word, 60)}', no number") from error
    if number > _ARRAYS:
        layer.numbers[number] = values[0]
    elif values[0] == len(values) - 1:
        layer.arrays[_ARRAYS - number] = values[1:]
    else:
        raise _error(path, line, f"has the array '{shortened(word, 60)}' of another length")


def _value(text: str) -> Number:
    try:
        value: Number = int(text)
    except ValueError:
        value = float(text)
        if not abs(value) <= _LARGEST_FLOAT:  # infinite, or no number
            value = math.copysign(_LARGEST_FLOAT, value)
    # Larger integers than ncnn's own are no sizes.
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError(text)
    return value


def layer_error(path: str, layer: Layer, reason: str) -> InputError:
    """Return the error of a layer, in words that follow its name and type."""
    what = f"layer '{shortened(layer.name, 80)}' ({shortened(layer.type, 40)}) {reason}"
    return InputError(path, what, AGAIN)


def _error(path: str, line: int, reason: str) -> InputError:
    return InputError(path, f"line {line} {reason}", AGAIN)
