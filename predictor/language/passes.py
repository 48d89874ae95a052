"""The work of the two phases of a decoder: its prompt at once, then token by token.

Work does not depend on the device, so one model on all devices is counted once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.language.architecture import DecoderArchitecture
from predictor.language.encoder import MEL_OVER_FRAMES
from predictor.language.modules import STATE_BYTES
from predictor.language.products import Product, Rows
from predictor.language.weights import WeightFormat

Floats = NDArray[np.float64]

MICRO_BATCH: Final = 512  # tokens that llama.cpp passes through the network at once (n_ubatch)
_ACTIVATION_BYTES: Final = 2
# Products go by tiles of 128 rows. The last one of an expert is half full on average: DGX Spark
# multiplies prompts of gpt-oss and Qwen3 at half the rate of dense models, as that says.
_HALF_TILE: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes:
    """Work of passes through the network, one entry a pass, float64 [P].

    Attributes:
        weight_bytes: bytes of the weights that a pass reads, of experts those that it touches.
        kv_bytes: bytes of the KV cache that it reads, and of the state that it rewrites.
        weights: weights that one sequence multiplies with.
        flops: of the products with weights, of one sequence.
        padding_flops: of rows that fill up the tiles of experts in a prompt, of one sequence.
        attention_flops: of queries by keys, probabilities by values and steps of a state, of one
            sequence.
        scores: of a query head and a key, of one sequence.
        activation_bytes: inputs and outputs of the products in half precision, of one sequence.
        exchanged_bytes: of the hidden states of a layer, of one sequence: what cards exchange.
        layers: decoder layers.
        heads: query heads of a layer.
        batch: sequences that pass at once.
        fused: whether attention is fused (flash attention), so that no score leaves the chip.
    """

    weight_bytes: Floats
    kv_bytes: Floats
    weights: Floats
    flops: Floats
    padding_flops: Floats
    attention_flops: Floats
    scores: Floats
    activation_bytes: Floats
    exchanged_bytes: Floats
    layers: int
    heads: int
    batch: int
    fused: bool = False


def prefill_passes(
    model: DecoderArchitecture,
    form: WeightFormat,
    kv_bits: float,
    tokens: int,
    batch: int = 1,
    micro_batch: int = MICRO_BATCH,
    past: int = 0,
    *,
    fused: bool = False,
) -> Passes:
    """Return the passes of a prompt, a micro-batch each.

    Args:
        model: the decoder.
        form: format of its weights.
        kv_bits: of one element of the KV cache.
        tokens: of the prompt of one sequence.
        batch: sequences.
        micro_batch: most tokens of a sequence in one pass.
        past: tokens in the cache before the prompt.
        fused: whether attention is fused.
    """
    starts = range(0, tokens, micro_batch)
    sizes = [min(micro_batch, tokens - start) for start in starts]
    return _passes(
        model,
        form,
        kv_bits,
        [(size, past + start, start == 0) for start, size in zip(starts, sizes, strict=True)],
        batch,
        fused,
    )


def decode_pass(
    model: DecoderArchitecture,
    form: WeightFormat,
    kv_bits: float,
    past: int,
    batch: int = 1,
    *,
    fused: bool = False,
) -> Passes:
    """Return the one pass of a token after ``past`` tokens, of each of ``batch`` sequences."""
    return _passes(model, form, kv_bits, [(1, past, False)], batch, fused)


def _passes(
    model: DecoderArchitecture,
    form: WeightFormat,
    kv_bits: float,
    sizes: list[tuple[int, int, bool]],
    batch: int,
    fused: bool,
) -> Passes:
    products = [p for p in model.products() if p.rows is not Rows.LOOKED_UP]
    rows = np.array(
        [list(_row(model, form, products, *size, batch)) for size in sizes], np.float64
    ).T  # [9, P]
    weight_bytes, kv, weights, flops, padding, attention, scores, activations, exchanged = rows
    # Read and written again at each pass.
    state_bytes = 2 * batch * STATE_BYTES * model.state_elements()
    return Passes(
        weight_bytes=weight_bytes,
        kv_bytes=kv * kv_bits / 8 + state_bytes,
        weights=weights,
        flops=flops,
        padding_flops=padding,
        attention_flops=attention,
        scores=scores,
        activation_bytes=activations,
        exchanged_bytes=exchanged,
        layers=model.layers,
        heads=model.heads,
        batch=batch,
        # Heads of latent attention share one vector of a token.
        fused=fused or any(module.score_heads for module in model.modules),
    )


def _row(
    model: DecoderArchitecture,
    form: WeightFormat,
    products: list[Product],
    tokens: int,
    past: int,
    with_encoder: bool,
    batch: int,
) -> Iterator[float]:
    """Yield bytes of weights and elements of KV of all, then the work of one sequence."""
    frames = model.encoder.frames if model.encoder and with_encoder else 0
    of_rows = {
        Rows.TOKENS: tokens,
        Rows.LAST: 1,
        Rows.FRAMES: frames,
        Rows.MEL_FRAMES: MEL_OVER_FRAMES * frames,
    }
    used = [(p, of_rows[p.rows]) for p in products if of_rows[p.rows]]
    matrix = [p.layers * p.inner * p.columns for p, _ in used]
    yield sum(
        size * (p.touched(n * batch) if p.copies > 1 else 1.0) * form.bits(model, p) / 8
        for size, (p, n) in zip(matrix, used, strict=True)
    )
    yield model.kv_elements(past + tokens) * batch
    yield sum(size * p.active for size, (p, _) in zip(matrix, used, strict=True))
    yield sum(2 * p.macs * n for p, n in used)
    yield sum(
        2 * size * _HALF_TILE * p.touched(n * batch) / batch
        for size, (p, n) in zip(matrix, used, strict=True)
        if p.copies > 1 and n > 1
    )
    encoder = model.encoder_attention_macs() if frames else 0
    attention = model.attention_macs(tokens, past) + encoder
    yield 2 * attention
    yield model.grouped_scores(tokens, past) + encoder / (2 * max(model.head_dim, 1))
    yield sum(p.layers * p.active * (p.inner + p.columns) * n * _ACTIVATION_BYTES for p, n in used)
    yield tokens * model.hidden * _ACTIVATION_BYTES
