"""A decoder in plain numbers: its weight matrices, its parameters, its KV cache, its attention.

Everything follows from a handful of counts, so a model of 405 B parameters costs as little as one
of 1 M. Tensors are named as llama.cpp names them (gguf-py, ``constants.py``), without the number of
their block.

References:
    The modelling code of transformers (``models/*/modeling_*.py``) for which matrices, biases and
    norms each family has; the tests hold published parameter counts against it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """The part that a weight matrix plays."""

    EMBEDDING = "embedding"
    POSITIONS = "positions"
    PROJECTION = "projection of the embedding"
    QKV = "qkv"
    OUTPUT = "output"
    UP = "up"
    DOWN = "down"
    ROUTER = "router"
    EXPERT_UP = "expert up"
    EXPERT_DOWN = "expert down"
    CONVOLUTION = "convolution"
    HEAD = "head"


class Rows(Enum):
    """Rows that a product multiplies its matrix with."""

    TOKENS = "every token"
    LAST = "the last token of each sequence, whose successor is sought"
    FRAMES = "every frame of the encoder, once"
    MEL_FRAMES = "every frame of the spectrogram, of which the encoder halves the number"
    LOOKED_UP = "none: a row a token is read"


class Product(NamedTuple):
    """A weight matrix of shape [inner, columns] in each of some layers.

    Attributes:
        name: of the tensor in llama.cpp.
        kind: part that it plays.
        layers: number of layers that have it.
        inner: K of the product; rows of a table.
        columns: N of the product.
        copies: matrices a layer, more than one for experts.
        active: of the copies, those that one token passes.
        bias: whether a vector of ``columns`` is added.
        rows: what it is multiplied with.
        stored: False where its weights are those of another product (a tied head).
    """

    name: str
    kind: Kind
    layers: int
    inner: int
    columns: int
    copies: int = 1
    active: int = 1
    bias: bool = False
    rows: Rows = Rows.TOKENS
    stored: bool = True

    @property
    def weights(self) -> int:
        """Elements of the matrices in all layers, 0 where they are another product's."""
        return self.layers * self.copies * self.inner * self.columns if self.stored else 0

    @property
    def biases(self) -> int:
        """Elements of the added vectors in all layers."""
        return self.layers * self.copies * self.columns if self.bias else 0

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one row through all layers."""
        if self.rows is Rows.LOOKED_UP:
            return 0
        return self.layers * self.active * self.inner * self.columns

    def touched(self, tokens: float) -> float:
        """Return the expected number of copies a layer that ``tokens`` tokens read.

        Each token picks ``active`` of ``copies`` experts; they are taken as independent and
        uniform, which balanced training aims at.
        """
        return self.copies * (1 - math.pow(1 - self.active / self.copies, tokens))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderArchitecture:
    """All counts of a decoder that its speed and its memory depend on.

    Attributes:
        name: shown to the user.
        family: ``model_type`` of its Hugging Face configuration.
        layers: decoder layers.
        hidden: width of the residual stream.
        heads: query heads.
        kv_heads: key and value heads, which divide the query heads.
        head_dim: width of a head.
        feed_forward: width of the hidden layer of a dense block; 0 where every block has experts.
        vocabulary: rows of the embedding table.
        max_context: most tokens that it was made for.
        gated: whether the feed-forward block has a gate beside its up projection.
        tied_embeddings: whether the head multiplies the embedding table.
        embedding_width: width of the embedding table where it is not ``hidden`` (OPT 350M), else 0.
        position_rows: rows of a learned position table, 0 for rotary positions.
        norm_biases: whether norms have a bias beside their weight (LayerNorm).
        norms_per_layer: norms over the residual stream in a layer.
        final_norm: whether a norm stands before the head.
        qk_norm: whether queries and keys have norms of their own, over a head.
        attention_sinks: whether each query head has a learned sink.
        query_value_bias: whether query and value projections add a bias.
        key_bias: whether the key projection adds one.
        output_bias: whether the output projection of attention adds one.
        feed_forward_bias: whether the feed-forward block, or each expert, adds biases.
        head_bias: whether the head adds one.
        router_bias: whether the router adds one.
        sliding_window: most past tokens that a windowed layer sees, 0 where none is windowed.
        windowed_layers: layers with that window.
        experts: experts of a layer, 0 in a dense model.
        experts_per_token: of which a token passes so many.
        expert_feed_forward: width of the hidden layer of one expert.
        shared_feed_forward: width of an expert that every token passes, 0 where there is none.
        shared_gate: whether that one is weighed by a gate of its own.
        dense_layers: layers without experts in a model that has experts.
        encoder: an audio encoder that the decoder attends to.
    """

    name: str
    family: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    feed_forward: int
    vocabulary: int
    max_context: int
    gated: bool = True
    tied_embeddings: bool = False
    embedding_width: int = 0
    position_rows: int = 0
    norm_biases: bool = False
    norms_per_layer: int = 2
    final_norm: bool = True
    qk_norm: bool = False
    attention_sinks: bool = False
    query_value_bias: bool = False
    key_bias: bool = False
    output_bias: bool = False
    feed_forward_bias: bool = False
    head_bias: bool = False
    router_bias: bool = False
    sliding_window: int = 0
    windowed_layers: int = 0
    experts: int = 0
    experts_per_token: int = 0
    expert_feed_forward: int = 0
    shared_feed_forward: int = 0
    shared_gate: bool = False
    dense_layers: int = 0
    encoder: Encoder | None = None

    @property
    def sparse_layers(self) -> int:
        """Layers with experts."""
        return self.layers - self.dense_layers if self.experts else 0

    @property
    def kv_width(self) -> int:
        """Elements of the keys of one token in one layer; its values are as many."""
        return self.kv_heads * self.head_dim

    def products(self) -> tuple[Product, ...]:
        """Return every weight matrix, in the order in which a token passes them."""
        return (
            *self._embeddings(),
            *(_encoder_products(self.encoder, self.hidden) if self.encoder else ()),
            *self._attention(""),
            *(self._attention("cross_") if self.encoder else ()),
            *self._feed_forward(),
            *self._head(),
        )

    def parameters(self) -> int:
        """Return the number of parameters, a shared matrix counted once."""
        return sum(p.weights + p.biases for p in self.products()) + self.norm_parameters()

    def active_parameters(self) -> int:
        """Return the parameters that one token's pass uses; the embedding table counts whole."""
        return self.parameters() - sum(
            (p.weights + p.biases) // p.copies * (p.copies - p.active) for p in self.products()
        )

    def norm_parameters(self) -> int:
        """Return the parameters of norms and attention sinks, which no product reads."""
        vectors = 2 if self.norm_biases else 1
        # A layer that attends to an encoder has a norm for that attention too.
        per_layer = self.norms_per_layer + (1 if self.encoder else 0)
        norms = self.layers * per_layer + self.final_norm
        if self.encoder:
            norms += 2 * self.encoder.layers + 1
        normed = 2 * self.head_dim * vectors if self.qk_norm else 0
        heads = self.layers * (normed + self.heads * self.attention_sinks)
        return norms * vectors * self.hidden + heads

    def cached_tokens(self, context: int) -> int:
        """Return the tokens that all layers together keep of one sequence of ``context`` tokens.

        A windowed layer keeps no more than its window.
        """
        full = self.layers - self.windowed_layers
        return full * context + self.windowed_layers * min(context, self.sliding_window)

    def kv_elements(self, context: int) -> int:
        """Return the elements of the KV cache of one sequence, with those of an encoder's frames.

        Args:
            context: tokens of the sequence.
        """
        frames = self.layers * self.encoder.frames if self.encoder else 0
        return 2 * (self.cached_tokens(context) * self.kv_width + frames * self.hidden)

    def attention_macs(self, new_tokens: int, past: int = 0) -> int:
        """Return the multiply-accumulates of queries by keys and of probabilities by values.

        Each of ``new_tokens`` tokens meets itself and those before it, in a windowed layer no more
        than its window; what a mask hides is not counted. An encoder's frames are met whole.

        Args:
            new_tokens: tokens of this pass: the prompt, or 1.
            past: tokens in the cache before it.
        """
        full = _causal_pairs(new_tokens, past, past + new_tokens)
        windowed = _causal_pairs(new_tokens, past, self.sliding_window)
        pairs = (self.layers - self.windowed_layers) * full + self.windowed_layers * windowed
        pairs += self.layers * self.encoder.frames * new_tokens if self.encoder else 0
        return 2 * self.heads * self.head_dim * pairs

    def encoder_attention_macs(self) -> int:
        """Return the multiply-accumulates of the encoder's attention, 0 without one."""
        encoder = self.encoder
        return 2 * encoder.layers * self.hidden * encoder.frames**2 if encoder else 0

    def _embeddings(self) -> Iterator[Product]:
        width = self.embedding_width or self.hidden
        table = Product("token_embd", Kind.EMBEDDING, 1, self.vocabulary, width)
        yield table._replace(rows=Rows.LOOKED_UP)
        if self.position_rows:
            rows = Product("position_embd", Kind.POSITIONS, 1, self.position_rows, self.hidden)
            yield rows._replace(rows=Rows.LOOKED_UP)
        if width != self.hidden:
            yield Product("project_in", Kind.PROJECTION, 1, width, self.hidden)

    def _attention(self, prefix: str) -> Iterator[Product]:
        queries = self.heads * self.head_dim
        # Keys and values of an encoder's frames are made once for all tokens.
        rows = Rows.FRAMES if prefix else Rows.TOKENS
        layers, bias = self.layers, self.query_value_bias
        yield Product(f"{prefix}attn_q", Kind.QKV, layers, self.hidden, queries, bias=bias)
        for name, biased in (("k", self.key_bias), ("v", bias)):
            kv = Product(f"{prefix}attn_{name}", Kind.QKV, layers, self.hidden, self.kv_width)
            yield kv._replace(bias=biased, rows=rows)
        out = Product(f"{prefix}attn_output", Kind.OUTPUT, layers, queries, self.hidden)
        yield out._replace(bias=self.output_bias)

    def _feed_forward(self) -> Iterator[Product]:
        dense = self.layers - self.sparse_layers
        yield from self._block("", dense, self.feed_forward)
        if not (sparse := self.sparse_layers):
            return
        router = Product("ffn_gate_inp", Kind.ROUTER, sparse, self.hidden, self.experts)
        yield router._replace(bias=self.router_bias)
        for product in self._block("_exps", sparse, self.expert_feed_forward):
            kind = Kind.EXPERT_DOWN if product.kind is Kind.DOWN else Kind.EXPERT_UP
            expert = product._replace(kind=kind, copies=self.experts)
            yield expert._replace(active=self.experts_per_token)
        yield from self._block("_shexp", sparse, self.shared_feed_forward)
        if self.shared_gate:
            yield Product("ffn_gate_inp_shexp", Kind.ROUTER, sparse, self.hidden, 1)

    def _block(self, suffix: str, layers: int, width: int) -> Iterator[Product]:
        if not layers or not width:
            return
        bias = self.feed_forward_bias
        for name in ("ffn_gate", "ffn_up") if self.gated else ("ffn_up",):
            yield Product(name + suffix, Kind.UP, layers, self.hidden, width, bias=bias)
        yield Product("ffn_down" + suffix, Kind.DOWN, layers, width, self.hidden, bias=bias)

    def _head(self) -> Iterator[Product]:
        width = self.embedding_width or self.hidden
        if width != self.hidden:
            out = Product("project_out", Kind.PROJECTION, 1, self.hidden, width)
            yield out._replace(rows=Rows.LAST)
        head = Product("output", Kind.HEAD, 1, width, self.vocabulary, bias=self.head_bias)
        yield head._replace(rows=Rows.LAST, stored=not self.tied_embeddings)


def _causal_pairs(new_tokens: int, past: int, limit: int) -> int:
    """Return the sum of min(past + i, most) over i = 1 .. new_tokens."""
    growing = min(max(limit - past, 0), new_tokens)
    return growing * past + growing * (growing + 1) // 2 + (new_tokens - growing) * limit


def _encoder_products(encoder: Encoder, hidden: int) -> Iterator[Product]:
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
