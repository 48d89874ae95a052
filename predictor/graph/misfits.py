"""Operators whose inputs are not what the operator is defined for."""

from __future__ import annotations

import onnx

from predictor.core.errors import InputError
from predictor.graph.network import Node

# What arithmetic on dims and attributes raises where a file gives a rank, a count or a size that
# the operator does not have. Rules and counters read dims as the operator's definition says.
MISFIT = (ArithmeticError, LookupError, TypeError, ValueError)
# What onnx's own inference raises for a file that it cannot make sense of. bad_alloc reaches us as
# MemoryError: a size that lies, not a machine without memory.
ONNX_MISFIT = (
    onnx.shape_inference.InferenceError,
    onnx.checker.ValidationError,
    RuntimeError,
    MemoryError,
    *MISFIT,
)


def misfit(node: Node, reason: str = "their shapes or attributes are not its own") -> InputError:
    """Return the error that names an operator whose inputs do not fit it."""
    return InputError(
        f"node {node.name}",
        f"its inputs do not fit {node.op_type}: {reason}",
        "check the dimensions that the model is bound to, or export it again",
    )
