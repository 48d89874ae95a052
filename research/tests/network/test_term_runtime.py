"""The exported network in onnxruntime says what torch says: beside others that share its files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from predictor.core.errors import InputError
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.term_runtime import TermRuntime
from research.tests.network.term_runs import GRAPH, RATES, facts, inputs, run
from tests.support.graphs import VIEW, Op, make_graph
from tests.support.tiny_engine import EXPORTED
from tests.support.tiny_network import export_tiny, tiny_network


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    export_tiny(folder)
    return folder


@pytest.fixture(params=["exported now", "of the product's tests"])
def runtime(request: pytest.FixtureRequest, exported: Path) -> TermRuntime:
    folder = exported if request.param == "exported now" else EXPORTED
    operators = tiny_network().config.operators
    return TermRuntime(folder / "encoder.onnx", folder / "head.onnx", operators)


@pytest.mark.parametrize(
    "graph",
    [
        GRAPH,
        make_graph([Op(macs=1000, read=10, written=10)]),
        replace(make_graph([Op(macs=10), Op(macs=20)]), edges=np.zeros((2, 0), np.int32)),
        make_graph([Op(flags=VIEW)]),
        make_graph([Op(macs=10**index, read=50, written=60) for index in range(12)] * 20),
    ],
    ids=["some", "one operator", "no edges", "nothing runs", "many"],
)
def test_the_export_says_what_torch_says(runtime: TermRuntime, graph: OperatorGraph) -> None:
    network, expected = tiny_network(), run(tiny_network(), graph)
    batch, places, _ = inputs(graph)
    with torch.no_grad():
        responses = network.encode(batch, places).responses

    encoded = runtime.encode(graph)
    found = runtime.expect(encoded, facts(), RATES)

    np.testing.assert_array_equal(encoded.places, places.numpy())
    np.testing.assert_allclose(encoded.responses, responses, rtol=1e-4, atol=1e-6)
    for name in ("parts_ms", "run_ms"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-4)
    for name in ("operator_to_metric", "metric_to_operator"):
        torch_says = getattr(expected.dialogue, name)
        np.testing.assert_allclose(getattr(found, name), torch_says, rtol=1e-4, atol=1e-6)


def test_a_file_that_is_no_network_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "encoder.onnx").write_bytes(b"nothing")

    with pytest.raises(InputError, match="it cannot be loaded"):
        TermRuntime(tmp_path / "encoder.onnx", tmp_path / "head.onnx", 10)
