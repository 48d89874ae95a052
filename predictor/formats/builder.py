"""An ONNX model in the making: readers of other formats add its operators in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from predictor.graph.binding import DEFAULT_SIZE
from predictor.graph.tensor_data import LEFT_OUT

OPSET: Final = 21
_IR_VERSION: Final = 10


class MisfitError(ValueError):
    """Why an operator of a file cannot be converted, in words that follow its name."""


class ModelBuilder:
    """Builds one ``ModelProto`` at opset :data:`OPSET`.

    Args:
        producer: program that wrote the file, as ``ModelProto.producer_name``.
        domain: of operators of the format; the model states it even where it has none of them.
    """

    def __init__(self, producer: str = "", domain: str = "") -> None:
        self._model = onnx.ModelProto(ir_version=_IR_VERSION, producer_name=producer)
        self._graph = self._model.graph
        self._graph.name = "network"
        self._numbers = count(1)
        self._domains = {domain} - {""}

    def input(self, name: str, dtype: int, dims: Sequence[int | str] | None) -> None:
        """Add an input of the network; a text is the name of an open dimension.

        ``dims`` is None of an input of a body whose shape follows from what it is given.
        """
        self._graph.input.append(
            helper.make_tensor_value_info(name, dtype, None if dims is None else list(dims))
        )

    def default(self, dimension: str, size: int) -> None:
        """State the size that an open dimension has where the user sets none.

        Args:
            dimension: its name, or ``input:axis`` where it has none.
            size: in elements.
        """
        self._graph.metadata_props.add(key=DEFAULT_SIZE + dimension, value=str(size))

    def output(self, name: str, dtype: int, dims: Sequence[int | str] | None = None) -> None:
        """Add an output of the network; ``dims`` is None where its shape is to be inferred."""
        self._graph.output.append(
            helper.make_tensor_value_info(name, dtype, None if dims is None else list(dims))
        )

    def weight(self, name: str, dtype: int, dims: Sequence[int]) -> str:
        """Add a constant of which only type and shape matter, and return its name."""
        self._graph.initializer.append(
            TensorProto(name=name, data_type=dtype, dims=dims, doc_string=LEFT_OUT)
        )
        return name

    def tensor(self, tensor: TensorProto) -> str:
        """Add a constant, and return its name."""
        self._graph.initializer.append(tensor)
        return str(tensor.name)

    def constant(self, values: NDArray[Any] | Sequence[int], name: str = "") -> str:
        """Add a constant whose values count (sizes, axes, paddings), and return its name."""
        name = name or self.fresh("constant")
        array = values if isinstance(values, np.ndarray) else np.array(values, np.int64)
        self._graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def fresh(self, stem: str) -> str:
        """Return a name that nothing has."""
        return f"{stem}/{next(self._numbers)}"

    def node(
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str] | None = None,
        *,
        name: str = "",
        domain: str = "",
        **attributes: Any,
    ) -> str:
        """Add an operator and return the name of its first output.

        Args:
            op_type: its type in ONNX.
            inputs: names of its inputs; an absent one is empty.
            outputs: names of its outputs; one new name if None.
            name: of the operator, as the file calls it.
            domain: of its type; that of the standard operators if empty.
            attributes: of the operator; those that are None are left out.
        """
        outputs = [self.fresh(op_type.lower())] if outputs is None else outputs
        if domain:
            self._domains.add(domain)
        present = {key: value for key, value in attributes.items() if value is not None}
        self._graph.node.append(
            helper.make_node(
                op_type, inputs, outputs, name=name or outputs[0], domain=domain, **present
            )
        )
        return outputs[0]

    def shape(self, name: str, dtype: int, dims: Iterable[int | str]) -> None:
        """State the shape of a value: of an operator that ONNX does not know, or as a help."""
        self._graph.value_info.append(helper.make_tensor_value_info(name, dtype, list(dims)))

    def body(self) -> ModelBuilder:
        """Return a builder of the body of an operator, whose new names are new here too."""
        body = ModelBuilder()
        body._numbers, body._domains = self._numbers, self._domains
        return body

    @property
    def graph(self) -> onnx.GraphProto:
        """The graph, which is the attribute of an operator with a body."""
        return self._graph

    def finish(self) -> onnx.ModelProto:
        """Return the model, with the opsets of its operators' domains."""
        opsets = {"": OPSET, **dict.fromkeys(self._domains, 1)}
        self._model.opset_import.extend(
            helper.make_opsetid(domain, version) for domain, version in opsets.items()
        )
        return self._model
