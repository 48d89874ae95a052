"""Writes a half of a network as an ONNX file, with every axis that varies dynamic."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.export import Dim

OPSET: Final = 18  # the first whose ScatterElements takes a maximum


def export_module(
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
