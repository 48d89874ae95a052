"""Writes the two halves of a shared network as ONNX files, with every axis that varies dynamic."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.export import Dim

from predictor.core.errors import InputError
from predictor.network.batch import GraphBatch, ProbeSet, TargetBatch
from predictor.network.closertome import CloserToMe
from predictor.network.config import (
    DeviceEncoding,
    Mode,
    NetworkConfig,
    Readout,
    SignatureForm,
)
from predictor.network.encoder import Encoding, GraphEncoder
from predictor.network.head import Head

OPSET: Final = 18  # the first whose ScatterElements takes a maximum

# The sizes of the example only tell the exporter which axes are alike.
_NODES, _EDGES, _GRAPHS, _TARGETS, _PROBES = 7, 9, 2, 3, 5


class EncoderHalf(nn.Module):
    """The graph layers with plain tensors in and out.

    Args:
        encoder: of the network.
    """

    outputs: Final = ("states", "summary")

    def __init__(self, encoder: GraphEncoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(
        self, op_code: Tensor, features: Tensor, edges: Tensor, graph: Tensor, node_counts: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return node states [N, d] and summaries [G, 2 d]."""
        encoding = self.encoder(GraphBatch(op_code, features, edges, graph, node_counts), None)
        return encoding.states.squeeze(1), encoding.summary


class HeadHalf(nn.Module):
    """What comes after the graph layers, with plain tensors in and out.

    Args:
        head: of the network.
    """

    def __init__(self, head: Head) -> None:
        super().__init__()
        self.head = head

    def forward(  # noqa: PLR0913, PLR0917  # the inputs of an ONNX graph stand side by side
        self,
        states: Tensor,
        graph: Tensor,
        node_counts: Tensor,
        values: Tensor,
        available: Tensor,
        times_ms: Tensor | None = None,
        probe_embedding: Tensor | None = None,
        probe_log_latency: Tensor | None = None,
        probe_target: Tensor | None = None,
        probe_log_prior: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Return log-latency [G, T], both attentions [N, T, K], and log shares [N, T] if any."""
        probes = None
        if (
            probe_embedding is not None
            and probe_log_latency is not None
            and probe_target is not None
        ):
            probes = ProbeSet(probe_embedding, probe_log_latency, probe_target, probe_log_prior)
        # The head reads no pooled states.
        unread = states.new_zeros(0)
        encoding = Encoding(states.unsqueeze(1), graph, node_counts, unread, unread)
        output = self.head(encoding, TargetBatch(values, available, probes=probes), times_ms)
        results = [output.log_latency]
        if output.dialogue is not None:
            results += [output.dialogue.operator_to_metric, output.dialogue.metric_to_operator]
        if output.log_shares is not None:
            results.append(output.log_shares)
        return tuple(results)


def export_onnx(network: CloserToMe, encoder_path: Path, head_path: Path) -> None:
    """Write both halves.

    Args:
        network: in shared mode, with HCV, its signature a set or none.
        encoder_path: inputs op_code, features, edges, graph, node_counts; outputs states, summary.
        head_path: inputs states, graph, node_counts, values, available, and as configured
            times_ms, probe_*; outputs log_latency, operator_to_metric, metric_to_operator, and
            log_shares with the additive readout.

    Raises:
        InputError: the network is of another kind.
        OSError: a file cannot be written.
    """
    config = network.config
    if (
        config.mode is not Mode.SHARED
        or config.device_encoding is not DeviceEncoding.HCV
        or config.signature is SignatureForm.VECTOR
    ):
        raise InputError(
            "export of the network",
            f"it is in {config.mode} mode with {config.device_encoding} and signature "
            f"{config.signature}",
            "export a shared network with HCV whose signature is a set or none",
        )
    was_training = network.training
    export_module(
        EncoderHalf(network.encoder), _encoder_inputs(config), EncoderHalf.outputs, encoder_path
    )
    outputs = ["log_latency", "operator_to_metric", "metric_to_operator"]
    if config.readout is Readout.ADDITIVE:
        outputs.append("log_shares")
    export_module(HeadHalf(network.head), _head_inputs(config), outputs, head_path)
    network.train(was_training)


def export_module(
    module: nn.Module,
    inputs: Mapping[str, tuple[Tensor, dict[int, str]]],
    outputs: tuple[str, ...] | list[str],
    path: Path,
) -> None:
    """Export ``module``; each input is an example and the names of its dynamic axes."""
    axes = {axis for _, dynamic in inputs.values() for axis in dynamic.values()}
    dims = {axis: Dim(axis, min=0 if axis == "probes" else 1) for axis in axes}
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


def _encoder_inputs(config: NetworkConfig) -> dict[str, tuple[Tensor, dict[int, str]]]:
    return {  # each a tensor of its own: the exporter takes one tensor twice for one input
        "op_code": (torch.zeros(_NODES, dtype=torch.int64), {0: "nodes"}),
        "features": (torch.zeros(_NODES, config.features), {0: "nodes"}),
        "edges": (torch.zeros(2, _EDGES, dtype=torch.int64), {1: "edges"}),
        "graph": (torch.zeros(_NODES, dtype=torch.int64), {0: "nodes"}),
        "node_counts": (torch.ones(_GRAPHS, dtype=torch.int64), {0: "graphs"}),
    }


def _head_inputs(config: NetworkConfig) -> dict[str, tuple[Tensor, dict[int, str]]]:
    metrics = len(config.metrics)
    inputs: dict[str, tuple[Tensor, dict[int, str]]] = {
        "states": (torch.zeros(_NODES, config.width), {0: "nodes"}),
        "graph": (torch.zeros(_NODES, dtype=torch.int64), {0: "nodes"}),
        "node_counts": (torch.ones(_GRAPHS, dtype=torch.int64), {0: "graphs"}),
        "values": (torch.zeros(_TARGETS, metrics), {0: "targets"}),
        "available": (torch.ones(_TARGETS, metrics, dtype=torch.bool), {0: "targets"}),
    }
    if config.prior:
        inputs["times_ms"] = (torch.zeros(_NODES, _TARGETS, 3), {0: "nodes", 1: "targets"})
    if config.signature is SignatureForm.SET:
        inputs["probe_embedding"] = (torch.zeros(_PROBES, 2 * config.width), {0: "probes"})
        inputs["probe_log_latency"] = (torch.zeros(_PROBES), {0: "probes"})
        inputs["probe_target"] = (torch.zeros(_PROBES, dtype=torch.int64), {0: "probes"})
        if config.prior:
            inputs["probe_log_prior"] = (torch.zeros(_PROBES), {0: "probes"})
    return inputs
