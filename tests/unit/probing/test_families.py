"""Networks of one kind of work: their cost by hand, that they run, and that ingestion agrees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.probing.networks.families import FAMILIES, OPERATORS
from predictor.probing.networks.spaces import BUILDERS, operator_graph_of
from predictor.probing.networks.writer import model_bytes
from tests.support.networks.ingesting import ingest_proto
from tests.unit.probing.running import operators, run

SMALL = {
    "transformer": (1, 2, 32, 32, 2),
    "patches": (1, 2, 32, 8, 8),
    "products": (2, 4, 48, 64),
    "matrices": (1, 32, 576, 1536),
    "decode": (1, 1024, 2816),
    "gated": (1, 16, 7, 3),
    "windows": (1, 2, 16, 2, 4),
    "dense": (2, 32, 7, 3),
    "grouped": (2, 4, 8, 7),
    "depthwise": (2, 32, 7, 5),
    "concatenated": (2, 32, 12, 7),
    "elementwise": (2, 32, 7),
    "operator": (0, 2, 32, 7),
}


def macs(space: str, code: tuple[int, ...]) -> int:
    return int(operator_graph_of(space, code).macs.sum())


def test_every_family_is_here() -> None:
    assert SMALL.keys() == FAMILIES.keys()
    for family in FAMILIES.values():
        assert len(family.positions) == len(family.choices)


@pytest.mark.parametrize("space", SMALL)
def test_a_network_runs_and_its_file_is_the_planned_graph(space: str) -> None:
    model = BUILDERS[space](SMALL[space])
    output = run(model)
    assert np.isfinite(output).all()
    assert output.std() > 0
    planned = operator_graph_of(space, SMALL[space])
    assert ingest_proto(model).graph.former_fingerprint == planned.fingerprint


@pytest.mark.parametrize("kind", range(len(OPERATORS)))
def test_every_operator_runs(kind: int) -> None:
    output = run(BUILDERS["operator"]((kind, 2, 32, 7)))
    assert output.shape == (1, 32, 7, 7)
    assert np.isfinite(output).all()


@pytest.mark.parametrize("space", SMALL)
def test_equal_codes_give_equal_files_and_a_batch_scales_the_work(space: str) -> None:
    code = SMALL[space]
    assert model_bytes(BUILDERS[space](code)) == model_bytes(BUILDERS[space](code))
    assert int(operator_graph_of(space, code, 3).macs.sum()) == 3 * macs(space, code)


@pytest.mark.parametrize(
    ("space", "code", "expected"),
    [
        # T = 49 tokens of W = 4 * 64: 4 T W^2 for q, k, v and out, 2 T^2 W for scores and mix,
        # 2 * 3 T W^2 for the feed-forward layers; two layers.
        ("transformer", (2, 4, 64, 49, 3), 2 * (10 * 49 * 256**2 + 2 * 49**2 * 256)),
        # 64 patches of 3 * 8 * 8 values to W = 64; then 12 T W^2 + 2 T^2 W.
        ("patches", (1, 2, 32, 8, 8), 64 * 192 * 64 + 12 * 64 * 64**2 + 2 * 64**2 * 64),
        ("products", (3, 16, 128, 1024), 3 * 2 * 16 * 128 * 1024),
        ("matrices", (2, 64, 768, 3072), 2 * 2 * 64 * 768 * 3072),
        # Gate, up and down of each layer.
        ("decode", (2, 1024, 4096), 2 * 3 * 1024 * 4096),
        # To 4 * 24 channels and back, a window of 5, a gate of 24 numbers.
        ("gated", (1, 24, 14, 5), 14**2 * 96 * (2 * 24 + 25) + 2 * 96 * 24),
        # 3 * 3 windows of T = 36 tokens of W = 2 * 24, each 12 T W^2 + 2 T^2 W.
        ("windows", (2, 2, 24, 3, 6), 2 * 9 * (12 * 36 * 48**2 + 2 * 36**2 * 48)),
        ("dense", (2, 64, 14, 3), 2 * 2 * 14**2 * 64**2 * 9),
        # Two pointwise convolutions, and 8 groups of 16 channels.
        ("grouped", (1, 8, 16, 14), 14**2 * (2 * 128**2 + 8 * 16**2 * 9)),
        ("depthwise", (1, 96, 14, 7), 14**2 * (96 * 49 + 2 * 96 * 192)),
        # 64 channels in, then 64 + 24.
        ("concatenated", (2, 64, 24, 28), 28**2 * 9 * 24 * (64 + 88)),
        ("elementwise", (3, 64, 28), 0),
        ("operator", (1, 4, 64, 28), 4 * 28**2 * 64**2),
    ],
)
def test_the_work_by_hand(space: str, code: tuple[int, ...], expected: int) -> None:
    assert macs(space, code) == expected


def test_the_operators_of_a_transformer_layer() -> None:
    assert operators(operator_graph_of("transformer", (1, 2, 32, 32, 2))) == {
        "Add": 6 + 2 + 1,
        "Div": 1 + 1,
        "Erf": 1,
        "LayerNormalization": 3,
        "MatMul": 6 + 2,
        "Mul": 2,
        "Reshape": 4,
        "Softmax": 1,
        "Transpose": 4,
    }


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_code_of_a_family_is_a_sound_network(data: st.DataObject) -> None:
    space = data.draw(st.sampled_from(sorted(FAMILIES)))
    code = tuple(data.draw(st.sampled_from(list(c))) for c in FAMILIES[space].choices)
    graph = operator_graph_of(space, code)
    assert len(graph) >= 1
    assert (graph.bytes_moved > 0).any()
    assert not any(op_type == "Unknown" for op_type in graph.op_types)


@pytest.mark.parametrize(
    "code", [(1, 2, 32, 32), (1, 2, 32, 33, 2), (0, 2, 32, 32, 2), (1, 2, 32, 32, 2.5)]
)
def test_a_wrong_code_is_refused(code: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="architecture code of transformer"):
        BUILDERS["transformer"](code)  # type: ignore[arg-type]
