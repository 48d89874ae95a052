from __future__ import annotations

import pytest

from predictor.language.config import architecture_of
from predictor.language.passes import decode_pass, prefill_passes
from predictor.language.products import Rows
from predictor.language.weights import weight_format
from tests.support.decoder_architectures import EXPERTS, HEAD, LAYER, TINY
from tests.support.public_models import CONFIGS

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


def test_an_encoder_passes_its_frames_with_the_first_tokens_alone():
    whisper = architecture_of(CONFIGS["whisper-tiny"][0], "whisper")
    first, second = prefill_passes(whisper, F16, 16, tokens=6, micro_batch=3).flops
    frames = sum(p.macs for p in whisper.products() if p.rows is Rows.FRAMES)
    # The first convolution passes 3000 frames of the spectrogram, the rest 1500.
    assert first - second == 2 * (1500 * frames + 3000 * 3 * 80 * 384)


def test_a_state_is_read_and_written_at_each_token():
    mamba = architecture_of(CONFIGS["mistralai/Mamba-Codestral-7B-v0.1"][0], "mamba")
    short, long = (decode_pass(mamba, F16, 16, past, batch=2) for past in (1, 10**5))
    assert short.kv_bytes == long.kv_bytes == 2 * 2 * 4 * mamba.state_elements()
    assert short.attention_flops == long.attention_flops > 0


def test_a_token_meets_the_latent_vectors_of_those_before_it():
    model = architecture_of(CONFIGS["deepseek-ai/DeepSeek-V3"][0], "deepseek")
    work = decode_pass(model, F16, 16, past=999)
    assert work.kv_bytes == 61 * 576 * 1000 * 2
    # 128 heads: 512 + 64 by keys and 512 by values.
    assert work.attention_flops == 2 * 61 * 128 * (512 + 64 + 512) * 1000


def test_fewer_bits_are_fewer_bytes_and_the_same_products():
    half, quarter = (decode_pass(TINY, weight_format(n), 16, 10) for n in ("f16", "q4_0"))
    assert quarter.weight_bytes[0] < 0.4 * half.weight_bytes[0]
    assert quarter.flops == half.flops
