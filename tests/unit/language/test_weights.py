"""Sizes of models by weight format, against those that were published."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.language.architecture import DecoderArchitecture
from predictor.language.config import architecture_of
from predictor.language.products import Kind
from predictor.language.weights import BITS, FORMATS, KV_BITS, weight_format
from tests.support.public_models import CONFIGS

GIB = 2**30


def model(name: str) -> DecoderArchitecture:
    return architecture_of(CONFIGS[name][0], name)


@pytest.mark.parametrize(
    ("name", "form", "published"),
    [
        # As llama-bench states the size of a model, in bytes.
        ("Llama-2-7b", "q4_0", 3_825_065_984),
        ("Qwen3-8B", "q4_k_m", 5_021_827_072),
        ("Qwen3-30B-A3B", "q4_k_s", 17_450_039_296),
        # ParamBytes of MLC's own index of its weights.
        ("Llama-3.2-1B", "q4f16", 695_242_752),
    ],
)
def test_a_size_in_bytes_is_met(name: str, form: str, published: int) -> None:
    assert weight_format(form).model_bytes(model(name)) == published


@pytest.mark.parametrize(
    ("name", "form", "published"),
    [
        # In GiB, from tables of llama-bench and of llama.cpp's own pages.
        ("Llama-2-7b", "q8_0", 6.67),
        ("Llama-2-7b", "f16", 12.55),
        ("Llama-2-7b", "q3_k_s", 2.75),
        ("Llama-2-7b", "q2_k", 2.36),
        ("Llama-3-8B", "q4_k_m", 4.58),
        ("Llama-3-8B", "q5_k_m", 5.33),
        ("Llama-3-8B", "F16", 14.96),
        ("Llama-3-70B", "Q4_K_M", 39.59),
        ("Llama-3-70B", "f16", 131.42),
        ("Qwen2.5-3B", "q8_0", 3.05),
        ("Phi-3-mini-4k", "q4_k_m", 2.23),
        ("gemma-2-2b", "q5_k_m", 1.79),
        ("gpt-oss-20b", "mxfp4", 11.27),
    ],
)
def test_a_size_in_gib_is_met(name: str, form: str, published: float) -> None:
    size = weight_format(form).model_bytes(model(name)) / GIB
    assert size == pytest.approx(published, abs=0.006)


def test_the_size_of_a_tied_model_is_met() -> None:
    text = {"model_type": "gemma3_text", "num_hidden_layers": 34, "hidden_size": 2560}
    text |= {"intermediate_size": 10240, "sliding_window": 1024, "vocab_size": 262144}
    gemma = architecture_of({"model_type": "gemma3", "text_config": text}, "gemma-3-4b")
    assert weight_format("q4_k_m").model_bytes(gemma) == 2_483_218_432


def test_a_file_of_mixtral_is_met() -> None:
    # Q4_K_M of today, in GB; eight experts get more bits in attention.
    assert weight_format("q4_k_m").model_bytes(model("Mixtral-8x7B")) / 1e9 == pytest.approx(
        28.45, abs=0.01
    )


@pytest.mark.parametrize(
    ("name", "form", "published"),
    [
        # In MiB, of whisper.cpp's files, which hold filters and a vocabulary of a MiB too.
        ("tiny", "f16", 75),
        ("small", "f16", 466),
        ("small", "q5_1", 181),
        ("small", "q8_0", 252),
        ("medium", "q5_0", 514),
        ("medium", "q8_0", 785),
        ("large-v3-turbo", "q5_0", 547),
        ("large-v3-turbo", "q8_0", 834),
    ],
)
def test_a_size_of_whisper_is_met(name: str, form: str, published: float) -> None:
    size = weight_format(form).model_bytes(model(f"whisper-{name}")) / 2**20
    assert published - 2 < size < published


def test_rows_that_fill_no_block_fall_back() -> None:
    # 896 is no multiple of 256, so Q4_K becomes Q5_0; the tied table takes Q8_0 for Q6_K.
    small, form = model("Qwen2-0.5B"), weight_format("q4_k_m")
    bits = {p.name: form.bits(small, p) for p in small.products()}
    assert bits["attn_q"] == bits["ffn_up"] == BITS["q5_0"]
    assert bits["token_embd"] == bits["output"] == BITS["q8_0"]
    # 4864 is one: Q6_K in half of the layers.
    assert bits["ffn_down"] == (BITS["q4_k"] + BITS["q6_k"]) / 2


def test_a_tied_head_reads_the_table_but_adds_nothing() -> None:
    tied = model("Llama-3.2-1B")
    for form in FORMATS.values():
        read = {p.name: p._replace(stored=True).weights * form.bits(tied, p) / 8
                for p in tied.products()}  # fmt: skip
        assert read["output"] == read["token_embd"]
        vectors = (tied.parameters() - sum(p.weights for p in tied.products())) * BITS[form.vectors]
        assert form.model_bytes(tied) == pytest.approx(
            sum(read.values()) - read["output"] + vectors / 8
        )


def test_tables_that_are_not_quantised_keep_their_bits() -> None:
    form = weight_format("q4_0")
    router = next(p for p in model("Qwen3-30B-A3B").products() if p.kind is Kind.ROUTER)
    assert form.bits(model("Qwen3-30B-A3B"), router) == 32
    positions = next(p for p in model("gpt2").products() if p.kind is Kind.POSITIONS)
    assert form.bits(model("gpt2"), positions) == 32


@given(st.sampled_from(sorted(CONFIGS)), st.sampled_from(sorted(FORMATS)))
def test_sizes_lie_between_those_of_the_fewest_and_the_most_bits(name: str, form: str) -> None:
    size = FORMATS[form].model_bytes(model(name))
    parameters = model(name).parameters()
    assert min(BITS.values()) * parameters / 8 < size <= 32 * parameters / 8
    if form == "fp32":
        assert size == 4 * parameters


@pytest.mark.slow
@given(st.sampled_from(sorted(CONFIGS)))
def test_more_bits_take_more_bytes(name: str) -> None:
    order = ("q3_k_s", "q3_k_m", "q4_k_s", "q4_k_m", "q5_k_m", "q6_k", "q8_0", "f16")
    sizes = [FORMATS[form].model_bytes(model(name)) for form in order]
    assert sizes == sorted(sizes)


def test_formats_have_their_usual_names() -> None:
    assert weight_format(" Q4_K_M ").name == "q4_k_m"
    assert weight_format("int4") is weight_format("int4-32")
    assert KV_BITS["q8_0"] == 8.5
    with pytest.raises(InputError, match="there is no such format; give one of these: fp32, "):
        weight_format("q9_z")


def test_a_kind_of_layer_that_a_model_has_none_of_adds_no_byte() -> None:
    """Of one layer, a convolution, no matrix of attention is left."""
    convolutions = {
        "model_type": "lfm2", "vocab_size": 1024, "hidden_size": 256, "num_hidden_layers": 1,
        "num_attention_heads": 8, "num_key_value_heads": 4, "max_position_embeddings": 4096,
        "block_ff_dim": 512, "block_multiple_of": 1, "block_ffn_dim_multiplier": 1.0,
        "block_auto_adjust_ff_dim": False, "conv_L_cache": 3, "full_attn_idxs": [2, 5],
    }  # fmt: skip
    one = architecture_of(convolutions, "one")

    assert 0 < weight_format("q4_k_m").model_bytes(one) < 2 * one.parameters()
