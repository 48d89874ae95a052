from __future__ import annotations

import pytest

from predictor.language.passes import decode_pass, prefill_passes
from predictor.language.weights import weight_format
from tests.support.decoder_architectures import EXPERTS, HEAD, LAYER, TINY

F16 = weight_format("fp16")


def test_a_token_reads_all_weights_and_its_cache():
    work = decode_pass(TINY, F16, 16, past=99)
    assert work.weights.tolist() == [2 * LAYER + HEAD]
    assert work.weight_bytes.tolist() == [2 * (2 * LAYER + HEAD)]
    # Keys and values of 100 tokens, 2 heads of 64, 2 layers, 2 bytes.
    assert work.kv_bytes.tolist() == [2 * 100 * 128 * 2 * 2]
    assert work.flops.tolist() == [2 * (2 * LAYER + HEAD)]
    # Queries by keys and probabilities by values: 4 heads of 64 over 100 tokens in 2 layers.
    assert work.attention_flops.tolist() == [2 * 2 * 4 * 64 * 100 * 2]
    assert work.scores.tolist() == [4 * 100 * 2]
    assert not work.fused


def test_a_prompt_goes_in_micro_batches_and_its_last_token_alone_meets_the_head():
    work = prefill_passes(TINY, F16, 16, tokens=700, micro_batch=512)
    assert work.flops.tolist() == [
        2 * (2 * LAYER * 512 + HEAD),
        2 * (2 * LAYER * 188 + HEAD),
    ]
    whole = prefill_passes(TINY, F16, 16, tokens=700, micro_batch=700)
    assert work.attention_flops.sum() == whole.attention_flops.sum()
    # 700 tokens meet 1 + 2 + ... + 700 keys.
    assert whole.attention_flops.tolist() == [2 * 2 * 4 * 64 * 700 * 701 / 2 * 2]
    assert whole.scores.tolist() == [4 * 700 * 701 / 2 * 2]


def test_experts_are_read_as_far_as_tokens_pick_them():
    expert = 3 * 256 * 512
    rest = decode_pass(EXPERTS, F16, 16, 10).weights[0] - 2 * 2 * expert
    one = decode_pass(EXPERTS, F16, 16, 10, batch=1)
    four = decode_pass(EXPERTS, F16, 16, 10, batch=4)
    # Of 8 experts a token picks 2; four tokens leave out one with probability (3/4)^4.
    router = 2 * 256 * 8
    assert one.weight_bytes[0] == 2 * (rest + 2 * 2 * expert)
    touched = 8 * (1 - 0.75**4)
    assert four.weight_bytes[0] == pytest.approx(2 * (rest + 2 * touched * expert))
    assert router < rest


def test_fewer_bits_are_fewer_bytes_and_the_same_products():
    half, quarter = (decode_pass(TINY, weight_format(n), 16, 10) for n in ("f16", "q4_0"))
    assert quarter.weight_bytes[0] < 0.4 * half.weight_bytes[0]
    assert quarter.flops == half.flops
