"""Counts of decoders, each by two ways: in closed form and token by token."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.language.architecture import DecoderArchitecture
from predictor.language.encoder import Encoder
from predictor.language.products import Kind, Product, Rows

LLAMA_2_7B = DecoderArchitecture(
    name="Llama 2 7B",
    family="llama",
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=32,
    head_dim=128,
    feed_forward=11008,
    vocabulary=32000,
    max_context=4096,
)
QWEN3_30B_A3B = replace(
    LLAMA_2_7B,
    name="Qwen3 30B A3B",
    family="qwen3_moe",
    layers=48,
    hidden=2048,
    kv_heads=4,
    vocabulary=151936,
    qk_norm=True,
    experts=128,
    experts_per_token=8,
    expert_feed_forward=768,
)
WHISPER_TINY = DecoderArchitecture(
    name="Whisper tiny",
    family="whisper",
    layers=4,
    hidden=384,
    heads=6,
    kv_heads=6,
    head_dim=64,
    feed_forward=1536,
    vocabulary=51865,
    max_context=448,
    gated=False,
    tied_embeddings=True,
    position_rows=448,
    norm_biases=True,
    query_value_bias=True,
    output_bias=True,
    feed_forward_bias=True,
    encoder=Encoder(4, 6, 1536, 80, 1500),
)


def test_the_parameters_are_those_that_were_published() -> None:
    assert LLAMA_2_7B.parameters() == LLAMA_2_7B.active_parameters() == 6_738_415_616
    assert QWEN3_30B_A3B.parameters() == 30_532_122_624
    assert WHISPER_TINY.parameters() == 37_760_640


def test_a_token_passes_3_3_b_of_the_30_b() -> None:
    # "30.5B in total and 3.3B activated" says its model card.
    assert QWEN3_30B_A3B.active_parameters() / 1e9 == pytest.approx(3.3, abs=0.06)


def test_the_cache_of_a_token_takes_half_a_mebibyte() -> None:
    # 2 x 32 layers x 4096 elements x 2 bytes.
    assert LLAMA_2_7B.kv_elements(1) * 2 == 2**19
    assert LLAMA_2_7B.kv_elements(4096) * 2 == 2 * 2**30


def test_a_tied_head_multiplies_but_holds_nothing() -> None:
    tied = replace(LLAMA_2_7B, tied_embeddings=True)
    head = {product.kind: product for product in tied.products()}[Kind.HEAD]
    assert (head.weights, head.macs) == (0, 4096 * 32000)
    assert LLAMA_2_7B.parameters() - tied.parameters() == 4096 * 32000


def test_one_token_multiplies_each_weight_but_the_table_once() -> None:
    macs = sum(product.macs for product in LLAMA_2_7B.products())
    assert macs == LLAMA_2_7B.parameters() - LLAMA_2_7B.norm_parameters() - 4096 * 32000


def test_an_encoder_is_multiplied_by_its_frames() -> None:
    per_frame = {p.name for p in WHISPER_TINY.products() if p.rows is Rows.FRAMES}
    assert {"enc_conv2", "enc_ffn_up", "cross_attn_k", "cross_attn_v"} < per_frame
    assert "cross_attn_q" not in per_frame
    assert WHISPER_TINY.encoder_attention_macs() == 2 * 4 * 384 * 1500**2
    # The cross cache: keys and values of 1500 frames in 4 layers.
    assert WHISPER_TINY.kv_elements(0) == 2 * 4 * 1500 * 384


@given(
    st.integers(1, 60), st.integers(0, 60), st.integers(1, 90), st.integers(0, 4), st.integers(1, 8)
)
def test_attention_counts_the_pairs_that_the_mask_leaves(
    new_tokens: int, past: int, window: int, windowed: int, heads: int
) -> None:
    model = replace(
        LLAMA_2_7B,
        layers=4,
        heads=heads,
        kv_heads=1,
        head_dim=2,
        sliding_window=window,
        windowed_layers=windowed,
    )
    seen = [past + 1 + i for i in range(new_tokens)]
    pairs = sum((4 - windowed) * s + windowed * min(s, window) for s in seen)
    assert model.attention_macs(new_tokens, past) == 2 * heads * 2 * pairs
    context = past + new_tokens
    kept = (4 - windowed) * context + windowed * min(context, window)
    assert model.kv_elements(context) == 2 * kept * 2


@given(st.integers(1, 200), st.integers(0, 50))
def test_a_prompt_in_two_parts_is_the_whole_prompt(new_tokens: int, later: int) -> None:
    whole = LLAMA_2_7B.attention_macs(new_tokens + later)
    parts = LLAMA_2_7B.attention_macs(new_tokens) + LLAMA_2_7B.attention_macs(later, new_tokens)
    assert whole == parts


@given(st.integers(1, 256), st.data())
def test_touched_experts_grow_from_those_of_one_token_to_all(
    experts: int, data: st.DataObject
) -> None:
    active = data.draw(st.integers(1, experts))
    product = Product("ffn_up_exps", Kind.EXPERT_UP, 1, 1, 1, experts, active)
    touched = [product.touched(tokens) for tokens in (0, 1, 2, 8, 10**6)]
    assert touched == sorted(touched)
    assert touched[0] == 0
    assert touched[1] == pytest.approx(active)
    assert touched[-1] == pytest.approx(experts, rel=1e-3)
