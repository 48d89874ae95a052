"""FiLM fine-tuning of the shipped network to one target: gamma and beta."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor

from predictor.core.arrays import Floats
from predictor.core.errors import InputError
from predictor.cost.engine import FilmBiases
from predictor.network.term_runtime import FILM_BETA, FILM_GAMMA

_Attributes = Mapping[str, Any]
_TYPES: Final = {1: torch.float32, 7: torch.int64, 9: torch.bool}


class TorchGraph:
    """The graph of a file, in torch.

    Args:
        path: of the file; its operators are those that the export of the network writes.

    Attributes:
        initializers: its weights by name.

    Raises:
        InputError: it has another operator.
    """

    def __init__(self, path: Path) -> None:
        graph = onnx.load(path).graph
        self.initializers = {
            weight.name: torch.tensor(numpy_helper.to_array(weight)) for weight in graph.initializer
        }
        self._outputs = [output.name for output in graph.output]
        self._steps = []
        for node in graph.node:
            if node.op_type not in _OPERATORS:
                raise InputError(
                    str(path), f"{node.op_type} is not known here", "install the program again"
                )
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            self._steps.append((_OPERATORS[node.op_type], attributes, node.input, node.output))

    def run(
        self, inputs: Mapping[str, Tensor], replaced: Mapping[str, Tensor] | None = None
    ) -> dict[str, Tensor]:
        """Return the outputs by name.

        Args:
            inputs: by name.
            replaced: weights that stand in the place of the file's, by name.
        """
        tensors = {**self.initializers, **inputs, **(replaced or {})}
        for operator, attributes, names, outputs in self._steps:
            made = operator(attributes, *(tensors[name] for name in names))
            many = made if isinstance(made, tuple) else (made,)
            tensors.update(zip(outputs, many, strict=True))
        return {name: tensors[name] for name in self._outputs}


def _axes(axes: Tensor) -> list[int]:
    return [int(axis) for axis in axes.reshape(-1)]


def _gemm(attributes: _Attributes, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    right = b.T if attributes.get("transB") else b
    return float(attributes["alpha"]) * (a @ right) + float(attributes["beta"]) * c


def _reduced(
    reduce: Callable[..., Tensor],
) -> Callable[[_Attributes, Tensor, Tensor], Tensor]:
    def run(attributes: _Attributes, x: Tensor, axes: Tensor) -> Tensor:
        return reduce(x, dim=_axes(axes), keepdim=bool(attributes.get("keepdims", 1)))

    return run


def _unsqueeze(_: _Attributes, x: Tensor, axes: Tensor) -> Tensor:
    rank = x.dim() + axes.numel()
    for axis in sorted(axis % rank for axis in _axes(axes)):
        x = x.unsqueeze(axis)
    return x


def _slice(_: _Attributes, x: Tensor, *bounds: Tensor) -> Tensor:
    starts, ends, axes, steps = (_axes(bound) for bound in bounds)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        index = [slice(None)] * x.dim()
        index[axis] = slice(start, end, step)
        x = x[tuple(index)]
    return x


def _split(attributes: _Attributes, x: Tensor) -> tuple[Tensor, ...]:
    axis, parts = attributes["axis"], attributes["num_outputs"]
    return torch.split(x, -(-x.shape[axis] // parts), dim=axis)  # the last may be smaller


def _gather(attributes: _Attributes, x: Tensor, places: Tensor) -> Tensor:
    axis = attributes.get("axis", 0)
    if places.dim() == 0:
        # ONNX's Gather drops the axis for a scalar index; index_select would keep it.
        return x.select(axis, int(places))
    return x.index_select(axis, places)


_OPERATORS: Final[dict[str, Callable[..., Any]]] = {
    "Add": lambda _, a, b: a + b,
    "Asinh": lambda _, x: torch.asinh(x),
    "Cast": lambda attributes, x: x.to(_TYPES[attributes["to"]]),
    "Concat": lambda attributes, *parts: torch.cat(parts, dim=attributes["axis"]),
    "Div": lambda _, a, b: a / b,
    "Exp": lambda _, x: torch.exp(x),
    "Expand": lambda _, x, shape: x + x.new_zeros(_axes(shape)),
    "Gather": _gather,
    "Gemm": _gemm,
    "MatMul": lambda _, a, b: a @ b,
    "Mul": lambda _, a, b: a * b,
    "Not": lambda _, x: ~x,
    "ReduceMax": _reduced(torch.amax),
    "ReduceSum": _reduced(torch.sum),
    "Relu": lambda _, x: torch.relu(x),
    "Shape": lambda _, x: torch.tensor(x.shape),
    "Slice": _slice,
    "Softmax": lambda attributes, x: torch.softmax(x, dim=attributes["axis"]),
    "Split": _split,
    "Squeeze": lambda _, x, axes: x.squeeze(tuple(_axes(axes))),
    "Sub": lambda _, a, b: a - b,
    "Tanh": lambda _, x: torch.tanh(x),
    "Transpose": lambda attributes, x: x.permute(*attributes["perm"]),
    "Unsqueeze": _unsqueeze,
    "Where": lambda _, chosen, a, b: torch.where(chosen, a, b),
}


_BETAS: Final = (0.9, 0.99)  # the second is short: there are some thirty steps, not thousands
_SLOPE_RIDGE: Final = 1.0  # of ln(latency): how much the slope's prior value of 1 counts for

Inputs = Mapping[str, NDArray[np.generic]]
"""Inputs of the head for one graph on the target, by name."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps of the fit of gamma and beta.

    Attributes:
        count: of steps of Adam, all samples in each.
        rate: learning rate.
    """

    count: int = 30
    rate: float = 1e-2


class FilmOfTarget:
    """Fits gamma and beta of FiLM to a target's measurements; all else stays as it ships.

    Level and slope are solved for in each step, so that FiLM is not spent on the part that the
    posterior fits better. Equal arguments give equal results.

    Args:
        head: ONNX file of the network's second half.
        inputs: of the k graphs that were measured.
        log_latency: float [k], ln of the measured latencies in ms.
        steps: number, rate; the defaults where None.

    Reference:
        CloserToMe, Eq. (6): "a few target-device samples suffice to fine-tune gamma and beta".
    """

    def __init__(
        self,
        head: Path,
        inputs: Sequence[Inputs],
        log_latency: Floats,
        steps: Steps | None = None,
    ) -> None:
        self._graph = TorchGraph(head)
        self._inputs = [
            {name: torch.from_numpy(np.array(value)) for name, value in arrays.items()}
            for arrays in inputs
        ]
        self._log_latency = torch.from_numpy(log_latency).to(torch.float32)
        self._steps = steps or Steps()

    def biases(self, left_out: int | None = None) -> FilmBiases:
        """Fit to all samples but one, or to all."""
        samples = [place for place in range(len(self._inputs)) if place != left_out]
        weights = self._graph.initializers
        shifts = {
            # Shifts from the shipped biases: some thirty small steps cannot lead far from them.
            name: torch.zeros_like(weights[name], requires_grad=True)
            for name in (FILM_GAMMA, FILM_BETA)
        }
        optimiser = torch.optim.Adam(list(shifts.values()), self._steps.rate, _BETAS)
        for _ in range(self._steps.count):
            replaced = {name: weights[name] + shift for name, shift in shifts.items()}
            loss = _misfit(self._said(samples, replaced), self._log_latency[samples])
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
        gamma, beta = (
            (weights[name] + shifts[name]).detach().numpy() for name in (FILM_GAMMA, FILM_BETA)
        )
        return FilmBiases(gamma, beta)

    def all_biases(self) -> Iterator[FilmBiases]:
        """Yield the fit to all samples, and then that without each of them."""
        yield self.biases()
        for place in range(len(self._inputs)):
            yield self.biases(place)

    def _said(self, samples: Sequence[int], replaced: Mapping[str, Tensor]) -> Tensor:
        """Return ln of the network's latencies of k samples."""
        outputs = (self._graph.run(self._inputs[place], replaced) for place in samples)
        return torch.stack([torch.log(o["parts_ms"].sum() + o["run_ms"][0]) for o in outputs])


def _misfit(said: Tensor, measured: Tensor) -> Tensor:
    """Return the mean square of the residuals of the best line through the samples."""
    around = said - said.mean()
    off = measured - measured.mean() - around
    # The slope is a constant of the step: no gradient flows through its solution.
    fixed = around.detach()
    slope = 1 + float(fixed @ off.detach() / (fixed @ fixed + _SLOPE_RIDGE))
    return (measured - measured.mean() - slope * around).square().mean()
