"""Attention of com.microsoft over packed and paged sequences, and over shared buffers."""

import pytest
from onnx import parser

from predictor.graph.operator_graph import OperatorFlag
from tests.support.networks.ingesting import ingest_proto


def read(inputs, output, body):
    head = '<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>\n'
    text = f"{head}g ({inputs}) => ({output}) {{ {body} }}"
    return ingest_proto(parser.parse_model(text))


def packed(sequences, longest):
    return read(
        "float[32, 64] x, float[64, 192] w, float[192] b, "
        f"int32[{sequences}, {longest}] o, int32[{sequences + 1}] c",
        "float[32, 64] y",
        "y = com.microsoft.PackedAttention <num_heads = 4> (x, w, b, o, c)",
    )


def test_one_packed_sequence_is_counted():
    model = packed(1, 32)
    assert model.graph.macs.tolist() == [32 * 64 * 192 + 2 * 32 * 32 * 64]
    assert not model.notes


def test_of_several_packed_sequences_the_longest_is_an_upper_bound():
    model = packed(4, 12)
    assert model.graph.macs.tolist() == [32 * 64 * 192 + 2 * 32 * 12 * 64]
    assert model.graph.flags[0] & OperatorFlag.DATA_DEPENDENT
    assert "upper bound" in model.notes[0]


@pytest.mark.parametrize(
    "query", ["float[32, 64] q, float[32, 64] k, float[32, 64] v", "float[32, 4, 3, 16] q"]
)
def test_packed_heads(query):
    names = "q, k, v" if " k" in query else "q, , "
    model = read(
        f"{query}, int32[1, 32] o, int32[2] c",
        "float[32, 64] y",
        f"y = com.microsoft.PackedMultiHeadAttention <num_heads = 4> ({names}, , o, c)",
    )
    assert model.graph.macs.tolist() == [2 * 32 * 32 * 64]
    assert model.outputs[0].shape == (32, 64)


def test_paged_blocks_are_counted_full():
    model = read(
        "float[8, 64] q, float[8, 32] k, float[8, 32] v, float[100, 16, 2, 16] kc, "
        "float[100, 16, 2, 16] vc, int32[3] c, int32[2] p, int32[2, 10] t",
        "float[8, 64] y, float[100, 16, 2, 16] ko, float[100, 16, 2, 16] vo",
        "y, ko, vo = com.microsoft.PagedAttention <num_heads = 4, kv_num_heads = 2>"
        " (q, k, v, kc, vc, c, p, t)",
    )
    # 8 tokens of 4 heads, each with 10 blocks of 16 keys and values.
    assert model.graph.macs.tolist() == [4 * 8 * 160 * 32]
    assert model.graph.flags[0] & OperatorFlag.DATA_DEPENDENT


@pytest.mark.parametrize(("shared", "keys"), [(0, 21), (1, 20)])
def test_a_step_of_a_decoder_with_its_buffer(shared, keys):
    model = read(
        "float[2, 1, 64] x, float[64, 192] w, float[192] b, int32[2, 20] m, "
        "float[2, 2, 4, 20, 16] p",
        "float[2, 1, 64] y, float[2, 2, 4, n, 16] present",
        "y, present = com.microsoft.DecoderMaskedSelfAttention "
        f"<num_heads = 4, past_present_share_buffer = {shared}> (x, w, b, m, p)",
    )
    assert model.graph.macs.tolist() == [2 * (64 * 192 + 2 * keys * 64)]
    assert model.outputs[1].shape == (2, 2, 4, keys, 16)


def test_a_gate_of_relative_positions():
    model = read(
        "float[1, 8, 64] q, float[64] qb, float[1, 4, 8, 8] r, float[16, 8] w, float[8] b, "
        "float[1, 4, 1, 1] e",
        "float[1, 4, 8, 8] y",
        "y = com.microsoft.GatedRelativePositionBias <num_heads = 4> (q, qb, r, w, b, e)",
    )
    assert model.graph.macs.tolist() == [8 * 4 * 16 * 8]
