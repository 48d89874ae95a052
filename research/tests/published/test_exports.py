"""Exports of one network: by both exporters of torch, fresh and trained, and other layouts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from ctm_research.published import exports
from ctm_research.published.exports import other_exports
from ctm_research.sources import GraphFile
from predictor.graph.ingest import ingest
from research.tests.data_folder import write_table

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


def export(path: Path, network: torch.nn.Module, *, torch_export: bool, opset: int) -> Path:
    inputs = (torch.ones(IMAGE),)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # of either that the other is to come, or is to go
        torch.onnx.export(
            network.eval(), inputs, path, opset_version=opset, dynamo=torch_export, verbose=False
        )
    return path


class Block(torch.nn.Module):
    """A transformer's block on tokens that a convolution makes of an image."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = torch.nn.Conv2d(3, 32, 4, 4)
        self.first, self.second = torch.nn.LayerNorm(32), torch.nn.LayerNorm(32)
        self.projection, self.output = torch.nn.Linear(32, 96), torch.nn.Linear(32, 32)
        self.wide, self.narrow = torch.nn.Linear(32, 64), torch.nn.Linear(64, 32)
        self.activation = torch.nn.GELU()

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        data = self.tokens(image).flatten(2).transpose(1, 2)
        parts = self.projection(self.first(data)).reshape(1, 16, 3, 4, 8).permute(2, 0, 3, 1, 4)
        query, key, value = parts[0], parts[1], parts[2]
        weights = (query @ key.transpose(-2, -1) * 0.35).softmax(-1)
        data = data + self.output((weights @ value).transpose(1, 2).reshape(1, 16, 32))
        result: torch.Tensor = data + self.narrow(self.activation(self.wide(self.second(data))))
        return result


def pieces() -> torch.nn.Module:
    """Return layers that exporters write in several ways."""
    return torch.nn.Sequential(
        torch.nn.ZeroPad2d((0, 1, 0, 1)),
        torch.nn.Conv2d(3, 8, 3, 2, bias=False),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU6(),
        torch.nn.Conv2d(8, 8, 3, padding=1, groups=8),
        torch.nn.Hardswish(),
        torch.nn.MaxPool2d(3, 2, 1),
        torch.nn.SiLU(),
        torch.nn.Upsample(scale_factor=2),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Dropout(),
        torch.nn.Linear(8, 10),
    )


@pytest.mark.parametrize("network", [Network, Block, pieces])
def test_every_export_of_a_network_has_one_fingerprint(
    tmp_path: Path, network: Callable[[], torch.nn.Module]
) -> None:
    trained = network()
    with torch.no_grad():
        for tensor in (*trained.parameters(), *trained.buffers()):
            if tensor.is_floating_point():
                tensor.uniform_(0.1, 1.0)
    fresh = network()
    for name, tensor in fresh.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.zeros_(tensor)
    made = [
        export(tmp_path / f"{number}.onnx", module, torch_export=later, opset=opset)
        for number, (module, later, opset) in enumerate(
            [
                (trained, False, 11),
                (fresh, False, 17),
                (trained, False, 17),
                (fresh, True, 18),
                (trained, True, 18),
                (trained, True, 20),
            ]
        )
    ]

    graphs = [ingest(path).graph for path in made]

    assert len({graph.fingerprint for graph in graphs}) == 1
    assert len({graph.former_fingerprint for graph in graphs}) > 1


def test_another_layout_counts_where_its_folder_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "exports.csv"
    row = {"graphs_in": "graphs", "file": "a.onnx", "remark": "with a softmax"}
    write_table(
        table,
        {**row, "other_in": "timm", "other": "b.onnx"},
        {**row, "other_in": "ncnn", "other": "c.onnx"},
    )
    monkeypatch.setattr(exports, "OTHERS", table)
    for folder in ("graphs", "ncnn"):
        (tmp_path / folder).mkdir()

    first = GraphFile(tmp_path / "graphs/graphs.zip", "graphs/a.onnx")
    second = GraphFile(tmp_path / "ncnn/graphs/c.onnx")
    assert other_exports(tmp_path) == {
        first: {second: "with a softmax"},
        second: {first: "with a softmax"},
    }
