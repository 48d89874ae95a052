"""Export of the shipped network as two ONNX files, with every axis that varies dynamic.

One half reads a graph and gives states, the other reads states and targets and gives times.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.export import Dim

from ctm_research.network.batch import GraphBatch
from ctm_research.network.term_network import RunningOperators, TargetInput, TermNetwork
from predictor.network.work_terms import TERMS

OPSET: Final = 18  # the first whose ScatterElements takes a maximum

ENCODER_OUTPUTS = ("states", "responses")
HEAD_OUTPUTS = ("parts_ms", "run_ms", "operator_to_metric", "metric_to_operator")

# The sizes of the example only tell the exporter which axes are alike.
_NODES, _EDGES, _RUNNING, _TARGETS = 7, 9, 5, 3


class TermEncoder(nn.Module):
    """The graph layers over one graph, with plain tensors in and out.

    Args:
        network: whole.
    """

    def __init__(self, network: TermNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, op_code: Tensor, features: Tensor, edges: Tensor, running: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return states [R, d] and responses [R, 3, F] of the running operators."""
        graph = torch.zeros_like(op_code)
        counts = torch.ones_like(op_code).sum().reshape(1)
        batch = GraphBatch(op_code, features, edges, graph, counts)
        encoded = self.network.encode(batch, running)
        return encoded.states.squeeze(1), encoded.responses


class TermHead(nn.Module):
    """The network after the graph layers, for one graph on T targets.

    Args:
        network: whole.
    """

    def __init__(self, network: TermNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, states: Tensor, values: Tensor, available: Tensor, choices: Tensor, terms_ms: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return parts [R, T, 3], run [T], and attention in both directions, [R, T, K]."""
        ones = torch.ones(states.shape[0], dtype=torch.int64)
        unread = states.new_zeros(0)
        operators = RunningOperators(
            states.unsqueeze(1), unread, torch.zeros_like(ones), ones.sum().reshape(1)
        )
        output = self.network(operators, TargetInput(values, available, choices), terms_ms)
        dialogue = output.dialogue
        return (
            output.parts_ms,
            output.run_ms,
            dialogue.operator_to_metric,
            dialogue.metric_to_operator,
        )


def export_terms(network: TermNetwork, encoder: Path, head: Path) -> None:
    """Write both halves.

    Raises:
        OSError: a file cannot be written.
    """
    config = network.config
    was_training = network.training
    _export_module(
        TermEncoder(network),
        {
            "op_code": (torch.zeros(_NODES, dtype=torch.int64), {0: "nodes"}),
            "features": (torch.zeros(_NODES, config.features), {0: "nodes"}),
            "edges": (torch.zeros(2, _EDGES, dtype=torch.int64), {1: "edges"}),
            "running": (torch.arange(_RUNNING), {0: "running"}),
        },
        ENCODER_OUTPUTS,
        encoder,
    )
    metrics = len(config.metrics)
    _export_module(
        TermHead(network),
        {
            "states": (torch.zeros(_RUNNING, config.width), {0: "running"}),
            "values": (torch.zeros(_TARGETS, metrics), {0: "targets"}),
            "available": (torch.ones(_TARGETS, metrics, dtype=torch.bool), {0: "targets"}),
            "choices": (torch.zeros(_TARGETS, network.choices), {0: "targets"}),
            "terms_ms": (
                torch.ones(_RUNNING, _TARGETS, len(TERMS)),
                {0: "running", 1: "targets"},
            ),
        },
        HEAD_OUTPUTS,
        head,
    )
    network.train(was_training)


def _export_module(
    module: nn.Module,
    inputs: Mapping[str, tuple[Tensor, dict[int, str]]],
    outputs: tuple[str, ...] | list[str],
    path: Path,
) -> None:
    """Export ``module``; each input is an example and the names of its dynamic axes."""
    axes = {axis for _, dynamic in inputs.values() for axis in dynamic.values()}
    dims = {axis: Dim(axis, min=1) for axis in axes}
    with warnings.catch_warnings():
        # Of the exporter's own code; and that axes of one name are alike, which is meant.
        warnings.filterwarnings("ignore", "`isinstance.treespec, LeafSpec.`", FutureWarning)
        warnings.filterwarnings("ignore", "# The axis name: .* will not be used", UserWarning)
        program = torch.onnx.export(
            module.eval(),
            kwargs={name: example for name, (example, _) in inputs.items()},
            dynamic_shapes={
                name: {axis: dims[label] for axis, label in dynamic.items()}
                for name, (_, dynamic) in inputs.items()
            },
            input_names=list(inputs),
            output_names=list(outputs),
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
    if program is None:
        raise RuntimeError("the exporter returned nothing")
    program.save(path)
