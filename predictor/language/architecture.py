"""A decoder in plain numbers: its weight matrices, its parameters, its KV cache, its attention.

Everything follows from a handful of counts, so a model of 405 B parameters costs as little as one
of 1 M. Tensors are named as llama.cpp names them (gguf-py, ``constants.py``), without the number of
their block.

References:
    The modelling code of transformers (``models/*/modeling_*.py``) for which matrices, biases and
    norms each family has; the tests hold published parameter counts against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from predictor.language.encoder import Encoder, encoder_products
from predictor.language.modules import Module
from predictor.language.products import TABLE, Kind, Product, Rows


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
        embedding_norm: whether a norm stands after the embedding table.
        qk_norm: whether queries and keys have norms of their own, over a head.
        qk_norm_all: whether these have weights of their own for each head.
        query_gate: whether the query projection makes a gate of the attention's output too.
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
        shared_cache_layers: layers that read the keys and values of an earlier one.
        attention_free_layers: layers without grouped attention.
        encoder: an audio encoder that the decoder attends to.
        modules: parts of layers other than grouped attention and feed-forward blocks.
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
    embedding_norm: bool = False
    qk_norm: bool = False
    qk_norm_all: bool = False
    query_gate: bool = False
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
    shared_cache_layers: int = 0
    attention_free_layers: int = 0
    encoder: Encoder | None = None
    modules: tuple[Module, ...] = ()

    @property
    def sparse_layers(self) -> int:
        """Layers with experts."""
        return self.layers - self.dense_layers if self.experts else 0

    @property
    def attention_layers(self) -> int:
        """Layers with grouped attention."""
        return self.layers - self.attention_free_layers

    @property
    def kv_width(self) -> int:
        """Elements of the keys of one token in one layer; its values are as many."""
        return self.kv_heads * self.head_dim

    def products(self) -> tuple[Product, ...]:
        """Return every weight matrix, in the order in which a token passes them."""
        return (
            *self._embeddings(),
            *(encoder_products(self.encoder, self.hidden) if self.encoder else ()),
            *self._attention(""),
            *(self._attention("cross_") if self.encoder else ()),
            *(product for module in self.modules for product in module.products()),
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
        """Return the parameters of vectors that are no biases: norms, sinks, decays."""
        vectors = 2 if self.norm_biases else 1
        # A layer that attends to an encoder has a norm for that attention too.
        per_layer = self.norms_per_layer + (1 if self.encoder else 0)
        norms = self.layers * per_layer + self.final_norm + self.embedding_norm
        if self.encoder:
            norms += 2 * self.encoder.layers + 1
        normed = self.heads + self.kv_heads if self.qk_norm_all else 2
        normed *= self.head_dim * (1 if self.qk_norm_all else vectors) * self.qk_norm
        attention = self.attention_layers * (normed + self.heads * self.attention_sinks)
        # A layer that reads another's keys has no norm of them.
        attention -= self.shared_cache_layers * self.head_dim * self.qk_norm
        of_modules = sum(module.layers * module.vectors for module in self.modules)
        return norms * vectors * self.hidden + attention + of_modules

    def cached_tokens(self, context: int) -> int:
        """Return the tokens that all layers together keep of one sequence of ``context`` tokens.

        A windowed layer keeps no more than its window, one that shares a cache nothing.
        """
        full = self.attention_layers - self.windowed_layers
        tokens = full * context + self.windowed_layers * min(context, self.sliding_window)
        return tokens * (self.layers - self.shared_cache_layers) // self.layers

    def kv_elements(self, context: int) -> int:
        """Return the elements of the KV cache of one sequence, with those of an encoder's frames.

        Args:
            context: tokens of the sequence.
        """
        frames = self.layers * self.encoder.frames if self.encoder else 0
        latent = context * sum(module.layers * module.cached for module in self.modules)
        return 2 * (self.cached_tokens(context) * self.kv_width + frames * self.hidden) + latent

    def state_elements(self) -> int:
        """Return the float32 elements that one sequence keeps however long it is."""
        return sum(module.layers * module.state for module in self.modules)

    def attention_macs(self, new_tokens: int, past: int = 0) -> int:
        """Return the multiply-accumulates of queries by keys and of probabilities by values.

        Each of ``new_tokens`` tokens meets itself and those before it, in a windowed layer no more
        than its window; what a mask hides is not counted. An encoder's frames are met whole. Steps
        of a state count too.

        Args:
            new_tokens: tokens of this pass: the prompt, or 1.
            past: tokens in the cache before it.
        """
        pairs = _causal_pairs(new_tokens, past, past + new_tokens)
        of_modules = sum(
            m.layers * (m.score_heads * m.score_macs * pairs + m.token_macs * new_tokens)
            for m in self.modules
        )
        return 2 * self.head_dim * self.grouped_scores(new_tokens, past) + of_modules

    def grouped_scores(self, new_tokens: int, past: int = 0) -> int:
        """Return the scores of grouped attention: a query head meets a key, or a frame.

        Args:
            new_tokens: as of :meth:`attention_macs`.
            past: the same.
        """
        full = _causal_pairs(new_tokens, past, past + new_tokens)
        windowed = _causal_pairs(new_tokens, past, self.sliding_window)
        pairs = (self.attention_layers - self.windowed_layers) * full
        pairs += self.windowed_layers * windowed
        pairs += self.layers * self.encoder.frames * new_tokens if self.encoder else 0
        return self.heads * pairs

    def encoder_attention_macs(self) -> int:
        """Return the multiply-accumulates of the encoder's attention, 0 without one."""
        encoder = self.encoder
        return 2 * encoder.layers * self.hidden * encoder.frames**2 if encoder else 0

    def _embeddings(self) -> Iterator[Product]:
        width = self.embedding_width or self.hidden
        table = Product(TABLE, Kind.EMBEDDING, 1, self.vocabulary, width)
        yield table._replace(rows=Rows.LOOKED_UP)
        if self.position_rows:
            rows = Product("position_embd", Kind.POSITIONS, 1, self.position_rows, self.hidden)
            yield rows._replace(rows=Rows.LOOKED_UP)
        if width != self.hidden:
            yield Product("project_in", Kind.PROJECTION, 1, width, self.hidden)

    def _attention(self, prefix: str) -> Iterator[Product]:
        queries = self.heads * self.head_dim
        gated = queries * (2 if self.query_gate else 1)
        # Keys and values of an encoder's frames are made once for all tokens.
        rows = Rows.FRAMES if prefix else Rows.TOKENS
        layers, bias = self.attention_layers, self.query_value_bias
        if not layers:
            return
        yield Product(f"{prefix}attn_q", Kind.QKV, layers, self.hidden, gated, bias=bias)
        for name, biased in (("k", self.key_bias), ("v", bias)):
            made = layers - self.shared_cache_layers
            kv = Product(f"{prefix}attn_{name}", Kind.QKV, made, self.hidden, self.kv_width)
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
    """Return the sum of min(past + i, limit) over i = 1 .. new_tokens."""
    growing = min(max(limit - past, 0), new_tokens)
    return growing * past + growing * (growing + 1) // 2 + (new_tokens - growing) * limit
