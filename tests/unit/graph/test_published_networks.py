"""Networks whose counts are published: MACs and parameters within 1 %, and golden tables."""

import json
from functools import cache

import onnx
import pytest

from tests.golden.operator_tables import FOLDER, NETWORKS, table_text, totals
from tests.support.networks.detectors import yolov8m, yolov8n, yolov8s
from tests.support.networks.ingesting import ingest_proto
from tests.support.networks.transformers import vit_tiny
from tests.support.networks.vision import efficientnet_b0, resnet8

# Multiply-accumulates and parameters: torchvision's table of weights (ResNet, VGG, MobileNet),
# ViT's with both attention products counted, BERT's at 128 tokens likewise.
PUBLISHED = {
    "resnet18": (1.82e9, 11.69e6),
    "resnet50": (4.09e9, 25.56e6),
    "vgg16": (15.47e9, 138.36e6),
    "mobilenet_v2": (0.30e9, 3.50e6),
    "vit_b16": (17.56e9, 86.57e6),
    "bert_base": (11.17e9, 109.48e6),
}

# The same of those without a golden table: MLPerf Tiny's reference, timm's table of models,
# DeiT's paper with both attention products, Ultralytics' table (its FLOPs are two a MAC).
PUBLISHED_ROUNDED = {
    resnet8: (12.5e6, 78.7e3),
    efficientnet_b0: (0.39e9, 5.29e6),
    vit_tiny: (1.26e9, 5.72e6),
    yolov8n: (8.7e9 / 2, 3.2e6),
    yolov8s: (28.6e9 / 2, 11.2e6),
    yolov8m: (78.9e9 / 2, 25.9e6),
}


@pytest.fixture(params=sorted(NETWORKS))
def network(request):
    return request.param, graph_of(request.param)


@cache  # no fixture of a module: tests of all networks come mixed, and each change reads it anew
def graph_of(name):
    return ingest_proto(NETWORKS[name]()).graph


def test_counts_agree_with_published_ones(network):
    name, graph = network
    macs, parameters = PUBLISHED[name]
    assert graph.macs.sum() == pytest.approx(macs, rel=0.01)
    assert graph.parameters == pytest.approx(parameters, rel=0.01)


@pytest.mark.parametrize("build", PUBLISHED_ROUNDED, ids=lambda build: build.__name__)
def test_counts_agree_with_rounded_ones(build):
    graph = ingest_proto(build()).graph
    macs, parameters = PUBLISHED_ROUNDED[build]
    assert graph.macs.sum() == pytest.approx(macs, rel=0.03)
    assert graph.parameters == pytest.approx(parameters, rel=0.03)


def test_operators_are_those_of_the_golden_table(network):
    name, graph = network
    assert table_text(graph) == (FOLDER / f"{name}.csv").read_text(encoding="utf-8")


def test_totals_and_fingerprints_are_frozen(network):
    name, graph = network
    assert totals(graph) == json.loads((FOLDER / "totals.json").read_text())[name]


def test_gemm_columns_multiply_to_the_macs(network):
    _, graph = network
    products = graph.gemm.prod(axis=1)
    assert (products * graph.repeats == graph.macs).all()
    assert ((products > 0) == (graph.macs > 0)).all()


def test_edges_point_forward_and_are_unique(network):
    _, graph = network
    producers, consumers = graph.edges
    assert (producers < consumers).all()
    assert len(set(zip(producers.tolist(), consumers.tolist(), strict=True))) == len(producers)


def test_a_named_batch_gives_the_same_graph_as_a_fixed_one():
    fixed, named = (ingest_proto(NETWORKS["vit_b16"](b)).graph for b in (1, "batch"))
    assert named.fingerprint == fixed.fingerprint


def test_wrong_stored_shapes_do_not_win():
    proto = NETWORKS["resnet18"]()
    expected = ingest_proto(proto).graph
    for node in proto.graph.node:
        proto.graph.value_info.append(
            onnx.helper.make_tensor_value_info(node.output[0], onnx.TensorProto.FLOAT, [3, 5])
        )
    assert ingest_proto(proto).graph.macs.sum() == expected.macs.sum()
