"""Decoders as exporters write them, in their two phases."""

import numpy as np
import onnx
import pytest

from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorFlag
from tests.support.networks import decoders
from tests.support.networks.decoders import Size
from tests.support.networks.ingesting import ingest_proto

SIZE = Size()
BUILT = {
    "genai": decoders.genai(SIZE).model(),
    "genai-int4": decoders.genai(SIZE, block=32).model(),
    "optimum": decoders.optimum(SIZE).model(),
    "merged": decoders.merged(SIZE),
}


def ingest(proto: onnx.ModelProto, tokens: int, past: int) -> Model:
    named = {d.name for d in ingest_proto(proto).dynamic}
    lengths = {"sequence_length": tokens, "past_sequence_length": past}
    lengths["total_sequence_length"] = tokens + past
    return ingest_proto(proto, {name: lengths[name] for name in named & set(lengths)})


def products(tokens: int) -> int:
    s = SIZE
    layer = s.hidden * (2 * s.queries + 2 * s.kv_width + 3 * s.wide)
    return tokens * (s.layers * layer + s.hidden * s.vocabulary)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT)
@pytest.mark.parametrize(("tokens", "past"), [(7, 0), (1, 9), (3, 5)])
def test_each_phase_has_its_work(name: str, tokens: int, past: int) -> None:
    graph = ingest(BUILT[name], tokens, past).graph
    attention = SIZE.layers * 2 * SIZE.queries * tokens * (tokens + past)
    # Plain operators make the angles of the positions by a product.
    angles = 0 if name.startswith("genai") else tokens * SIZE.head_dim // 2
    assert graph.macs.sum() == products(tokens) + attention + angles
    assert not graph.has_flag(OperatorFlag.UNKNOWN).any()


def test_a_merged_decoder_is_read_with_its_cache() -> None:
    model = ingest(BUILT["merged"], 1, 9)
    assert model.notes == ("The decoder is read with its cache, as use_cache_branch is true.",)
    plain = ingest(BUILT["optimum"], 1, 9).graph
    assert model.graph.macs.sum() == plain.macs.sum()
    assert model.graph.parameters == plain.parameters
    present = {o.name: o.shape for o in model.outputs}["present.0.key"]
    assert present == (1, SIZE.kv_heads, 10, SIZE.head_dim)


def test_blocks_of_four_bits_are_read_with_scales_and_zero_points() -> None:
    graph = ingest(BUILT["genai-int4"], 1, 9).graph
    packed = np.array([op.endswith("MatMulNBits") for op in graph.op_types])
    # 64 inner weights are 2 blocks: a float16 scale each, their zero points in one byte.
    inner = graph.gemm[packed][:, 3]
    weights = graph.gemm[packed].prod(axis=1)
    blocks = -(-inner // 32)
    expected = weights // 2 + graph.gemm[packed][:, 2] * (2 * blocks + (blocks + 1) // 2)
    assert graph.weight_bytes[packed].tolist() == expected.tolist()
