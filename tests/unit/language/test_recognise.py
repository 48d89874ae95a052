"""Decoders recognised in ONNX files of the usual exporters, in their two phases."""

from dataclasses import replace

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.graph.model import Model
from predictor.language.inputs import input_roles
from predictor.language.passes import prefill_passes
from predictor.language.recognise import RecognisedDecoder, recognise
from predictor.language.weights import FORMATS, KV_BITS
from tests.support.networks import decoders
from tests.support.networks.builder import Builder
from tests.support.networks.decoders import Size
from tests.support.networks.ingesting import ingest_proto

SIZE = Size()
GPT2 = Size(kv_heads=4, vocabulary=4000)
LLAMAS = {
    "genai": decoders.genai(SIZE).model(),
    "genai, int4": decoders.genai(SIZE, block=32).model(),
    "genai, int4, symmetric": decoders.genai(SIZE, 32, fused=False, zero_points=False).model(),
    "optimum": decoders.optimum(SIZE).model(),
    "optimum, without past": decoders.optimum(SIZE, with_past=False).model(),
    "optimum, merged": decoders.merged(SIZE),
    "genai, int4 apart": decoders.in_int4(decoders.genai(SIZE, fused=False).model()),
}


def recognised(proto: onnx.ModelProto) -> RecognisedDecoder:
    made = recognise(ingest_proto(proto))
    assert made is not None
    return made


def at(proto: onnx.ModelProto, tokens: int, past: int, batch: int) -> Model:
    values = {
        "batch_size": batch,
        "sequence_length": tokens,
        "past_sequence_length": past,
        "total_sequence_length": past + tokens,
    }
    shapes = [i.type.tensor_type.shape.dim for i in proto.graph.input]
    names = {dim.dim_param for dims in shapes for dim in dims}
    return ingest_proto(proto, {name: values[name] for name in names & values.keys()})


@pytest.mark.parametrize("name", LLAMAS)
def test_the_architecture_is_that_of_the_file(name: str) -> None:
    model = recognised(LLAMAS[name]).architecture
    assert (model.layers, model.hidden, model.vocabulary) == (2, 64, 1000)
    assert (model.heads, model.kv_heads, model.head_dim) == (4, 2, 16)
    assert (model.feed_forward, model.gated, model.tied_embeddings) == (96, True, False)
    assert model.parameters() == 189_760


@pytest.mark.parametrize(
    ("name", "form", "kv_precision"),
    [
        ("genai", "fp16", "fp16"),
        ("genai, int4", "int4-32", "fp16"),
        ("genai, int4, symmetric", "int4-32", "fp16"),
        ("optimum", "fp32", "fp32"),
        ("optimum, merged", "fp32", "fp32"),
        ("genai, int4 apart", "int4-32", "fp16"),
    ],
)
def test_formats_are_those_of_the_file(name: str, form: str, kv_precision: str) -> None:
    made = recognised(LLAMAS[name])
    assert (made.weights, made.kv_precision) == (form, kv_precision)
    assert made.weights in FORMATS
    assert made.kv_precision in KV_BITS


def test_longer_blocks_are_a_format_of_their_own() -> None:
    size = Size(hidden=128, wide=256, head_dim=32)
    assert recognised(decoders.genai(size, block=128).model()).weights == "int4-128"


def test_inputs_have_their_roles() -> None:
    roles = input_roles(ingest_proto(LLAMAS["genai"]))
    assert roles is not None
    assert roles.ids == "input_ids"
    assert roles.cache[:2] == ("past_key_values.0.key", "past_key_values.0.value")
    assert not roles.crosses


@pytest.mark.parametrize("name", ["genai", "genai, int4", "optimum", "optimum, merged"])
@pytest.mark.parametrize(("tokens", "past", "batch"), [(20, 0, 1), (1, 50, 1), (1, 50, 3)])
def test_both_phases_multiply_what_the_architecture_multiplies(
    name: str, tokens: int, past: int, batch: int
) -> None:
    model = at(LLAMAS[name], tokens, past, batch)
    made = recognise(model)
    assert made is not None
    assert made.architecture.heads == 4
    form = FORMATS[made.weights]
    own = prefill_passes(made.architecture, form, 16, tokens, batch, past=past)
    macs = batch * (own.flops + own.attention_flops).sum() / 2
    # Exports make logits of every token, products with tokens that the mask hides, and plain ones
    # angles of positions by a product.
    hidden = batch * 2 * 4 * 2 * 16 * tokens * (tokens - 1) // 2
    logits = (tokens - 1) * batch * 64 * 1000
    angles = 0 if name.startswith("genai") else batch * tokens * 8
    assert model.graph.macs.sum() == macs + logits + hidden + angles


def test_dimensions_and_logits_may_have_names_of_their_own() -> None:
    # As torch.onnx with dynamo names them: each open length anew, outputs by their operators.
    proto = decoders.genai(SIZE).model()
    pasts = [i for i in proto.graph.input if i.name.startswith("past")]
    for number, info in enumerate(pasts):
        info.type.tensor_type.shape.dim[2].dim_param = f"s{number}"
    proto.graph.node[-1].output[0] = proto.graph.output[-1].name = "linear_14"
    made = recognised(proto).architecture
    assert (made.vocabulary, made.kv_heads) == (1000, 2)


def test_experts_with_products_of_their_own_are_recognised() -> None:
    b = decoders.genai(replace(SIZE, wide=80), apart=4)
    model = recognised(b.model()).architecture
    assert (model.experts, model.experts_per_token, model.expert_feed_forward) == (4, 2, 80)
    assert (model.gated, model.feed_forward) == (True, 0)


def test_shapes_that_fit_by_chance_are_told_apart() -> None:
    # Query, key and value together are as wide as the feed-forward block.
    size = Size(hidden=64, heads=4, kv_heads=2, head_dim=16, wide=128)
    for fused in (True, False):
        model = recognised(decoders.genai(size, fused=fused).model()).architecture
        assert (model.feed_forward, model.gated, model.kv_heads) == (128, True, 2)


def test_a_cache_of_another_precision_is_told() -> None:
    proto = decoders.in_int8_cache(decoders.genai(SIZE).model())
    assert recognised(proto).kv_precision == "int8"


def test_experts_are_recognised() -> None:
    model = recognised(decoders.genai(SIZE, experts=8).model()).architecture
    assert (model.experts, model.experts_per_token, model.expert_feed_forward) == (8, 2, 96)
    assert (model.gated, model.feed_forward) == (True, 0)


@pytest.mark.parametrize("cached", [True, False])
def test_gpt2_is_recognised_by_its_cache_or_its_mask(cached: bool) -> None:
    made = recognised(decoders.gpt2(GPT2, cached).model())
    model = made.architecture
    assert (model.layers, model.hidden, model.heads, model.kv_heads) == (2, 64, 4, 4)
    assert (model.feed_forward, model.gated, model.norm_biases) == (96, False, True)
    assert model.tied_embeddings
    assert made.weights == "fp32"
    assert made.kv_precision == ("fp32" if cached else "")


def test_grouped_heads_without_a_cache_follow_from_the_projections() -> None:
    b = decoders.optimum(SIZE, with_past=False)
    b.outputs = [output for output in b.outputs if output.name == "logits"]
    assert recognised(b.model()).architecture.kv_heads == 2


def test_an_encoder_is_no_decoder() -> None:
    b = Builder()
    ids = b.input("input_ids", ["batch", "sequence"], TensorProto.INT64)
    b.input("attention_mask", ["batch", "sequence"], TensorProto.INT64)
    state = b.node("Gather", [b.tensor([1000, 64]), ids])
    keys = b.node("Transpose", [state], perm=[0, 2, 1])
    scores = b.node("Softmax", [b.node("MatMul", [state, keys])])
    state = b.linear(b.node("MatMul", [scores, state]), 64, 1000)
    b.node("Identity", [state], ["logits"])
    b.output("logits", ["batch", "sequence", 1000])
    assert recognise(ingest_proto(b.model())) is None


def test_a_picture_network_is_no_decoder() -> None:
    b = Builder()
    b.node("Relu", [b.conv(b.input("image", [1, 3, 8, 8]), 3, 4, 3)], ["logits"])
    b.output("logits")
    assert recognise(ingest_proto(b.model())) is None


def test_a_decoder_of_another_kind_is_said() -> None:
    proto = decoders.genai(SIZE).model()
    renamed = {n.output[0]: n for n in proto.graph.node if n.op_type == "GroupQueryAttention"}
    for node in renamed.values():
        del node.attribute[:]
        node.op_type, node.domain = "SparseAttention", "com.microsoft"
    with pytest.raises(InputError, match="its decoder is not recognised: it has no attention"):
        recognise(ingest_proto(proto))


@pytest.mark.parametrize("value", [2**62, -4, 3, 1.5, "four", [4]])
@pytest.mark.parametrize("name", ["num_heads", "kv_num_heads"])
def test_absurd_heads_are_refused_or_made_good(name: str, value: object) -> None:
    proto = decoders.genai(SIZE).model()
    for node in proto.graph.node:
        kept = [a for a in node.attribute if a.name != name]
        if node.op_type == "GroupQueryAttention":
            del node.attribute[:]
            node.attribute.extend([*kept, onnx.helper.make_attribute(name, value)])
    try:
        made = recognise(ingest_proto(proto))
    except InputError:
        return
    assert made is not None
    assert made.architecture.kv_heads == 2


def test_a_decoder_with_an_encoder_is_said() -> None:
    b = decoders.genai(SIZE)
    state = b.input("encoder_hidden_states", ["batch_size", 1500, 64], TensorProto.FLOAT16)
    b.node("Identity", [state], ["frames"])
    b.output("frames", dtype=TensorProto.FLOAT16)
    with pytest.raises(InputError, match="attends to an encoder"):
        recognise(ingest_proto(b.model()))


@pytest.mark.slow
@given(
    st.integers(1, 3),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 2]),
    st.sampled_from([8, 16, 32]),
    st.sampled_from([64, 96]),
    st.sampled_from([40, 160, 224]),
    st.sampled_from(["fused", "apart", "plain"]),
)
def test_any_decoder_is_recognised(
    layers: int, kv_heads: int, shared: int, head_dim: int, hidden: int, wide: int, form: str
) -> None:
    size = Size(layers, hidden, kv_heads * shared, kv_heads, head_dim, wide, vocabulary=777)
    if form == "plain":
        proto = decoders.optimum(size).model()
    else:
        proto = decoders.genai(size, fused=form == "fused").model()
    model = recognised(proto).architecture
    found = Size(
        *(model.layers, model.hidden, model.heads, model.kv_heads, model.head_dim),
        *(model.feed_forward, model.vocabulary),
    )
    assert found == size
