"""The graphs of one network: a trained one's by both exporters of torch, and other layouts."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from ctm_research.published import exports
from ctm_research.published.exports import other_exports, written
from ctm_research.sources import GraphFile
from predictor.graph.ingest import build_model
from predictor.graph.reader import read_model
from research.tests.data_folder import write_table
from tests.support.networks.builder import Builder

IMAGE = (1, 3, 16, 16)


class Network(torch.nn.Module):
    """Two layers of 96 channels with a gate between them, and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Sequential(torch.nn.Conv2d(3, 96, 3), torch.nn.BatchNorm2d(96))
        self.second = torch.nn.Sequential(torch.nn.Conv2d(96, 96, 3), torch.nn.BatchNorm2d(96))
        self.gate = torch.nn.Hardsigmoid()
        self.pool = torch.nn.AdaptiveAvgPool2d(1)
        self.head = torch.nn.Linear(96, 10)
        for layer in (self.first[0], self.second[0], self.head):
            torch.nn.init.zeros_(layer.bias)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        data = self.first(image)
        data = self.second(data * self.gate(data.mean((2, 3), keepdim=True)))
        logits: torch.Tensor = self.head(torch.flatten(self.pool(data), 1))
        return logits


def export(path: Path, network: torch.nn.Module, *, torch_export: bool = False) -> Path:
    opset, inputs = 18 if torch_export else 17, (torch.ones(IMAGE),)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # of either that the other is to come, or is to go
        torch.onnx.export(
            network.eval(), inputs, path, opset_version=opset, dynamo=torch_export, verbose=False
        )
    return path


def fingerprints(path: Path) -> list[str]:
    models = written(read_model(path))
    return [build_model(model, {}, None, {}).graph.fingerprint for model in models]


def test_a_fresh_export_gives_the_graphs_of_the_trained_network(tmp_path: Path) -> None:
    fresh, trained = Network(), Network()
    with torch.no_grad():
        for tensor in (*trained.parameters(), *trained.buffers()):
            if tensor.is_floating_point():
                tensor.uniform_(0.1, 1.0)
    earlier = export(tmp_path / "earlier.onnx", trained)
    later = export(tmp_path / "later.onnx", trained, torch_export=True)

    as_it_is, *others = fingerprints(export(tmp_path / "fresh.onnx", fresh))

    assert as_it_is not in others
    assert fingerprints(earlier) == others
    assert fingerprints(later) == others[1:]


@pytest.mark.parametrize(
    ("operator", "dims", "parameters"), [("Add", [8], [8, 16]), ("MatMul", [8, 8], [64])]
)
def test_vectors_are_each_layers_own_and_matrices_stay_joined(
    tmp_path: Path, operator: str, dims: list[int], parameters: list[int]
) -> None:
    b = Builder()
    weight = b.constant(np.zeros(dims), np.float32)
    data = b.node(operator, [b.input("rows", [4, 8]), weight])
    data = b.node(operator, [data, b.node("Identity", [weight])])
    b.output(b.node("Relu", [data]), [4, 8])
    onnx.save(b.model(), tmp_path / "n.onnx")

    models = [build_model(m, {}, None, {}) for m in written(read_model(tmp_path / "n.onnx"))]

    assert [model.graph.parameters for model in models] == parameters


def test_another_layout_counts_where_its_folder_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "exports.csv"
    row = {"graphs_in": "graphs", "file": "a.onnx", "remark": ""}
    write_table(
        table,
        {**row, "other_in": "timm", "other": "b.onnx"},
        {**row, "other_in": "ncnn", "other": "c.onnx"},
    )
    monkeypatch.setattr(exports, "OTHERS", table)
    (tmp_path / "ncnn").mkdir()

    assert other_exports(tmp_path) == {
        GraphFile(tmp_path / "graphs/graphs.zip", "graphs/a.onnx"): [
            GraphFile(tmp_path / "ncnn/graphs/c.onnx")
        ]
    }
