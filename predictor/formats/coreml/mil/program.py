"""From a Core ML program to an ONNX model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import onnx

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.formats.builder import ModelBuilder
from predictor.formats.coreml.mil import (  # noqa: F401  # they register their rules
    contractions,
    elementwise,
    shaping,
)
from predictor.formats.coreml.mil.step import RULES, Step, StepValues, type_info

_AGAIN: Final = "convert the network again with coremltools"
_DOMAIN: Final = "coreml"
_MAX_STEPS: Final = 200_000
DAMAGED: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors of reading messages that do not have the form of a program."""


class Program:
    """Writer of the main function of a program.

    Args:
        path: of the file, for errors.
        model: message ``Model`` with a program.
    """

    def __init__(self, path: str, model: Any) -> None:
        self._path = path
        self._description = model.description
        self._builder = ModelBuilder("coremltools")
        self._values = StepValues(self._builder)
        self._function = self._main(model)
        self._block = self._specialization(self._function)

    def _main(self, model: Any) -> Any:
        functions = {entry.key: entry.value for entry in model.mlProgram.functions}
        name = model.description.defaultFunctionName or "main"
        function = functions.get(name) or next(iter(functions.values()), None)
        if function is None:
            raise self._error("its program has no function")
        return function

    def _specialization(self, function: Any) -> Any:
        blocks = {entry.key: entry.value for entry in function.blocks}
        block = blocks.get(function.opset) or next(iter(blocks.values()), None)
        if block is None:
            raise self._error("its program has no operations")
        return block

    def _error(self, reason: str) -> InputError:
        return InputError(self._path, reason, _AGAIN)

    def model(self) -> onnx.ModelProto:
        """Return the ONNX model.

        Raises:
            InputError: the program is damaged.
        """
        if len(self._block.operations) > _MAX_STEPS:
            raise self._error(f"it has more than {_MAX_STEPS} operations, the most that are read")
        try:
            self._add_inputs()
        except DAMAGED as error:
            raise self._error("its inputs are damaged") from error
        for operation in self._block.operations:
            try:
                self._add(operation)
            except DAMAGED as error:
                raise self._misfit(operation) from error
        try:
            self._add_outputs()
            return self._builder.finish()
        except DAMAGED as error:
            raise self._error("its outputs are damaged") from error

    def _misfit(self, operation: Any) -> InputError:
        kind = shortened(str(operation.type), 60)
        names = [output.name for output in operation.outputs]
        name = shortened(str(names[0]), 80) if names else "?"
        return self._error(f"its operation '{name}' ({kind}) is damaged")

    def _add_inputs(self) -> None:
        defaults = dict(_default_shapes(self._description))
        for formal in self._function.inputs:
            info = type_info(formal.type)
            if info is None:
                continue
            name = self._values.name(formal.name)
            self._builder.input(name, info.dtype, info.dims)
            self._values.infos[name], self._values.names[name] = info, name
            sizes = defaults.get(name, {})
            for axis, dim in enumerate(info.dims):
                size = sizes.get(axis - len(info.dims), 0)
                if not isinstance(dim, int) and 0 < size < 2**31:
                    self._builder.default(f"{name}:{axis}", size)

    def _add(self, operation: Any) -> None:
        outputs = [(output.name, type_info(output.type)) for output in operation.outputs]
        self._values.infos |= {name: info for name, info in outputs if info is not None}
        name = outputs[0][0] if outputs else operation.type
        if operation.type == "const":
            self._add_constant(operation, name)
            return
        step = Step(self._values, operation.type, name, self._inputs(operation, name), outputs)
        rule = RULES.get(operation.type)
        try:
            made = None if rule is None else rule(step)
        except DAMAGED:
            made = None
        if made is None:
            self._add_unknown(step)
            return
        made = [made] if isinstance(made, str) else made
        for (output, _), value in zip(outputs, made, strict=False):
            self._values.names[output] = value

    def _add_constant(self, operation: Any, name: str) -> None:
        for attribute in operation.attributes:
            if attribute.key == "val":
                self._values.constants[name] = attribute.value

    def _inputs(self, operation: Any, name: str) -> Mapping[str, list[str]]:
        """Return the names of the values of all inputs; those without a name get one."""
        inputs = {
            entry.key: [
                binding.name or self._register(f"{name}/{entry.key}/{position}", binding.value)
                for position, binding in enumerate(entry.value.arguments)
            ]
            for entry in operation.inputs
        }
        for attribute in operation.attributes:
            # Compressed weights of iOS 16 stand in attributes.
            if attribute.key != "name" and attribute.key not in inputs:
                inputs[attribute.key] = [self._register(f"{name}/{attribute.key}", attribute.value)]
        return inputs

    def _register(self, name: str, value: Any) -> str:
        info = type_info(value.type)
        if info is not None:
            self._values.infos[name] = info
        self._values.constants[name] = value
        return name

    def _add_unknown(self, step: Step) -> None:
        """Add an operator of which only the shapes are clear."""
        reads = [
            self._values.value(name)
            for names in step.inputs.values()
            for name in names
            if name in self._values.names or self._is_tensor(name)
        ]
        stated = [(name, info) for name, info in step.outputs if info is not None]
        if not stated:
            return
        made = step.emit_all(step.kind, reads, len(stated), domain=_DOMAIN)
        for (output, info), value in zip(stated, made, strict=True):
            self._builder.shape(value, info.dtype, info.dims)
            self._values.names[output] = value

    def _is_tensor(self, name: str) -> bool:
        info = self._values.infos.get(name)
        return name in self._values.constants and info is not None and len(info.dims) > 1

    def _add_outputs(self) -> None:
        used: set[str] = set()
        for output in self._block.outputs:
            name, info = self._values.value(output), self._values.infos.get(output)
            if info is None and name in used:
                continue  # a label and a dictionary of one result
            if name in used or name in {formal.name for formal in self._function.inputs}:
                name = self._builder.node("Identity", [name], [self._values.name(output)])
            used.add(name)
            if info is None:
                self._builder.output(name, onnx.TensorProto.FLOAT)
            else:
                self._builder.output(name, info.dtype, info.dims)


def _default_shapes(description: Any) -> Iterator[tuple[str, dict[int, int]]]:
    """Return the default sizes of the inputs by axis, counted from behind."""
    for feature in description.input:
        if feature.type.HasField("multiArrayType"):
            shape = list(feature.type.multiArrayType.shape)
        elif feature.type.HasField("imageType"):
            shape = [feature.type.imageType.height, feature.type.imageType.width]
        else:
            continue
        yield feature.name, {axis - len(shape): int(size) for axis, size in enumerate(shape)}
