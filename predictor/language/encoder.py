"""An encoder of sound that a decoder attends to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from predictor.language.products import Kind, Product, Rows

MEL_OVER_FRAMES: Final = 2  # frames of the spectrogram for each position of the encoder


@dataclass(frozen=True, slots=True)
class Encoder:
    """An audio encoder (Whisper): two convolutions over mel frames, then attention layers.

    Attributes:
        layers: attention layers.
        heads: of each.
        feed_forward: width of their hidden layer.
        mel_bins: channels of the spectrogram.
        frames: positions after the convolutions.
    """

    layers: int
    heads: int
    feed_forward: int
    mel_bins: int
    frames: int


def encoder_products(encoder: Encoder, hidden: int) -> Iterator[Product]:
    """Yield the weight matrices of an encoder of width ``hidden``."""
    # A window of three frames; the second convolution halves their number.
    convolutions = (("1", encoder.mel_bins, Rows.MEL_FRAMES), ("2", hidden, Rows.FRAMES))
    for number, channels, frames in convolutions:
        kernel = Product(f"enc_conv{number}", Kind.CONVOLUTION, 1, 3 * channels, hidden, bias=True)
        yield kernel._replace(rows=frames)
    rows = Product("enc_position_embd", Kind.POSITIONS, 1, encoder.frames, hidden)
    yield rows._replace(rows=Rows.LOOKED_UP)
    wide = encoder.feed_forward
    for name, kind, inner, columns in (
        ("attn_q", Kind.QKV, hidden, hidden),
        ("attn_k", Kind.QKV, hidden, hidden),
        ("attn_v", Kind.QKV, hidden, hidden),
        ("attn_output", Kind.OUTPUT, hidden, hidden),
        ("ffn_up", Kind.UP, hidden, wide),
        ("ffn_down", Kind.DOWN, wide, hidden),
    ):
        product = Product(f"enc_{name}", kind, encoder.layers, inner, columns)
        # Of Whisper's projections the keys' alone have no bias.
        yield product._replace(bias=name != "attn_k", rows=Rows.FRAMES)
