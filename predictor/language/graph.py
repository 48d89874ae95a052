"""The operators of a decoder in one pass, as a :class:`Model` like that of an ONNX file.

A model of language has two phases: *prefill* passes all tokens of the prompt, *decode* one token
with those before it in the cache. Both are one graph at two lengths. Operators are those that
onnxruntime-genai writes: norms, products, rotary embedding, GroupQueryAttention over a cache.
Experts are products of as many groups as their tokens are expected to touch.
"""

from __future__ import annotations

from math import ceil, prod
from pathlib import Path
from typing import NamedTuple

from predictor.core.records import DynamicDimension, TensorInfo
from predictor.graph.model import Model
from predictor.graph.operators import DTYPE_CODE, DTYPES
from predictor.graph.work import product_work
from predictor.language.architecture import DecoderArchitecture, Encoder, Kind, Product
from predictor.language.graph_builder import GraphBuilder, Moved, Value
from predictor.language.weights import BITS, WeightFormat

_MS = "com.microsoft::"
_RMS_NORM = "SimplifiedLayerNormalization"
_ENDS = frozenset({Kind.HEAD, Kind.PROJECTION})
_WITH_NORMS_AFTER = 4  # norms in a layer of Gemma 2 and 3


class Pass(NamedTuple):
    """Tokens of one pass: ``Pass(prompt)`` is a prefill, ``Pass(1, context)`` a decode step.

    Attributes:
        tokens: new ones of each sequence.
        past: in the cache before them.
        batch: sequences.
    """

    tokens: int
    past: int = 0
    batch: int = 1


def phase_model(
    model: DecoderArchitecture,
    weights: WeightFormat,
    step: Pass,
    kv_bits: float = 16,
    path: str | None = None,
) -> Model:
    """Return the operators of one pass.

    Args:
        model: the decoder.
        weights: format of its weights.
        step: the tokens.
        kv_bits: bits of an element of the cache.
        path: of the ``config.json``; the model's name where there is none.
    """
    dtype = {"f32": "float32", "bf16": "bfloat16"}.get(weights.matrices, "float16")
    layers = _Layers(model, weights, step, kv_bits, GraphBuilder(DTYPE_CODE[dtype]))
    logits = layers.pass_through()
    status = Path(path).stat() if path else None
    cache = round(step.batch * model.kv_elements(step.past) * kv_bits / 8) if step.past else 0
    ids = (step.batch, step.tokens)
    return Model(
        path=path or model.name,
        size_bytes=status.st_size if status else 0,
        modified_ns=status.st_mtime_ns if status else 0,
        ir_version=0,
        opsets={},
        producer=f"configuration of {model.family}, weights in {weights.name}",
        inputs=(TensorInfo("input_ids", "int64", ("batch_size", "sequence_length"), ids),),
        outputs=(TensorInfo("logits", dtype, logits.shape, logits.shape),),
        dynamic=(
            DynamicDimension("batch_size", step.batch, 1, "sequences at once"),
            DynamicDimension("sequence_length", step.tokens, 128, "new tokens of a sequence"),
            DynamicDimension("past_sequence_length", step.past, 0, "tokens in the cache"),
        ),
        notes=_notes(model),
        graph=layers.builder.build(model.parameters(), round(weights.model_bytes(model)), cache),
    )


def _notes(model: DecoderArchitecture) -> tuple[str, ...]:
    notes = ["The operators follow from the configuration: no weights were read."]
    if model.experts:
        notes.append(
            f"Experts are counted as {model.experts_per_token} of {model.experts} a token, chosen "
            "evenly."
        )
    return tuple(notes)


class _Layers:
    """Adds the layers of a decoder to a graph."""

    def __init__(
        self,
        model: DecoderArchitecture,
        weights: WeightFormat,
        step: Pass,
        kv_bits: float,
        builder: GraphBuilder,
    ) -> None:
        self._model, self._weights, self._step, self._kv_bits = model, weights, step, kv_bits
        self.builder = builder
        self._products = {product.name: product for product in model.products()}

    def pass_through(self) -> Value:
        """Add all operators and return the logits."""
        model, step = self._model, self._step
        frames = self._encoded(model.encoder) if model.encoder else None
        state = self._embedded()
        for layer in range(model.layers):
            state = self._layer(state, layer, frames)
        if model.final_norm:
            state = self._norm("output_norm", state)
        last = (step.batch, 1, state.shape[-1])
        if step.tokens > 1:
            state = self.builder.add("Gather", "last_token", [state], last)
        if "project_out" in self._products:
            state = self._product("project_out", state, 0)
        return self._product("output", state, 0)

    def _embedded(self) -> Value:
        step, table = self._step, self._products["token_embd"]
        ids = self.builder.input((step.batch, step.tokens), "int64")
        state = self._looked_up("token_embd", ids, table)
        if "position_embd" in self._products:
            rows = self._looked_up("position_embd", ids, self._products["position_embd"])
            if "project_in" in self._products:
                state = self._product("project_in", state, 0)
            state = self.builder.add("Add", "embed", [state, rows], state.shape)
        return state

    def _looked_up(self, name: str, ids: Value, table: Product) -> Value:
        shape = (*ids.shape, table.columns)
        row = table.columns * self._weights.layer_bits(self._model, table, 0) / 8
        tokens = ids.shape[0] * ids.shape[1]
        return self.builder.add("Gather", name, [ids], shape, moved=Moved(weights=tokens * row))

    def _layer(self, state: Value, layer: int, frames: Value | None) -> Value:
        model, at = self._model, f"blk.{layer}."
        normed = self._norm(f"{at}attn_norm", state)
        out = self._attention(normed, layer)
        if model.norms_per_layer == 1:  # attention and feed-forward block read one norm
            return self._sum(f"{at}residual", state, out, self._feed_forward(normed, layer))
        after = model.norms_per_layer == _WITH_NORMS_AFTER
        if after:
            out = self._norm(f"{at}post_attention_norm", out)
        state = self._sum(f"{at}attn_residual", state, out)
        if frames is not None:
            crossed = self._cross(self._norm(f"{at}cross_norm", state), layer, frames)
            state = self._sum(f"{at}cross_residual", state, crossed)
        out = self._feed_forward(self._norm(f"{at}ffn_norm", state), layer)
        if after:
            out = self._norm(f"{at}post_ffw_norm", out)
        return self._sum(f"{at}ffn_residual", state, out)

    def _attention(self, normed: Value, layer: int) -> Value:
        model, step, at = self._model, self._step, f"blk.{layer}."
        heads = [self._product(f"attn_{part}", normed, layer) for part in "qkv"]
        for i, part in enumerate("qk"):
            if model.qk_norm:
                heads[i] = self._elementwise(_RMS_NORM, f"{at}attn_{part}_norm", heads[i])
            if not model.position_rows:
                heads[i] = self._elementwise(f"{_MS}RotaryEmbedding", f"{at}rope_{part}", heads[i])
        keys, past = step.past + step.tokens, step.past
        # Windowed layers come first: which of them have the window matters to no sum.
        if layer < model.windowed_layers:
            keys, past = min(keys, model.sliding_window), min(past, model.sliding_window)
        mixed = self._mixed(f"{at}attention", heads, keys, past, step.tokens)
        return self._product("attn_output", mixed, layer)

    def _cross(self, normed: Value, layer: int, frames: Value) -> Value:
        """Attention to the encoder's frames, whose keys and values a prefill makes once."""
        query = self._product("cross_attn_q", normed, layer)
        count = frames.shape[1]
        made = self._step.past == 0
        heads = [query]
        if made:
            heads += [self._product(f"cross_attn_{part}", frames, layer) for part in "kv"]
        name = f"blk.{layer}.cross_attention"
        mixed = self._mixed(name, heads, count, 0 if made else count, count if made else 0)
        return self._product("cross_attn_output", mixed, layer)

    def _mixed(self, name: str, heads: list[Value], keys: int, past: int, new: int) -> Value:
        """Attention of queries to ``keys`` tokens, ``past`` of them read from the cache."""
        model, step = self._model, self._step
        token = 2 * step.batch * model.kv_width * self._kv_bits / 8
        return self.builder.add(
            f"{_MS}GroupQueryAttention",
            name,
            heads,
            heads[0].shape,
            product_work(step.batch * model.heads, step.tokens, keys, 2 * model.head_dim),
            Moved(read=past * token, written=new * token),
            attributes={"num_heads": model.heads, "kv_num_heads": model.kv_heads},
        )

    def _feed_forward(self, normed: Value, layer: int) -> Value:
        model, at = self._model, f"blk.{layer}."
        # Dense layers come first, as in the models that have both.
        if not model.experts or layer < model.dense_layers:
            return self._block(normed, layer, "")
        scores = self._product("ffn_gate_inp", normed, layer)
        chosen = self._elementwise("Softmax", f"{at}ffn_gate_softmax", scores)
        picked = (*normed.shape[:2], model.experts_per_token)
        chosen = self.builder.add("TopK", f"{at}ffn_gate_top_k", [chosen], picked)
        out = self._block(normed, layer, "_exps")
        out = self.builder.add("ReduceSum", f"{at}ffn_exps_sum", [out, chosen], normed.shape)
        if model.shared_feed_forward:
            shared = self._block(normed, layer, "_shexp")
            if model.shared_gate:
                gate = self._product("ffn_gate_inp_shexp", normed, layer)
                gate = self._elementwise("Sigmoid", f"{at}ffn_shexp_sigmoid", gate)
                name = f"{at}ffn_shexp_gated"
                shared = self.builder.add("Mul", name, [shared, gate], shared.shape)
            out = self._sum(f"{at}ffn_moe_out", out, shared)
        return out

    def _block(self, normed: Value, layer: int, suffix: str) -> Value:
        at = f"blk.{layer}."
        state = self._product(f"ffn_up{suffix}", normed, layer)
        if self._model.gated:
            gate = self._product(f"ffn_gate{suffix}", normed, layer)
            gate = self._elementwise("Swish", f"{at}ffn_act{suffix}", gate)
            state = self.builder.add("Mul", f"{at}ffn_gated{suffix}", [state, gate], state.shape)
        else:
            state = self._elementwise("Gelu", f"{at}ffn_act{suffix}", state)
        return self._product(f"ffn_down{suffix}", state, layer)

    def _encoded(self, encoder: Encoder) -> Value:
        """The frames of an encoder: made by a prefill, in the cache of a decode step."""
        model, batch = self._model, self._step.batch
        shape = (batch, encoder.frames, model.hidden)
        if self._step.past:
            return self.builder.input(shape, DTYPES[self.builder.dtype])
        name = DTYPES[self.builder.dtype]
        state = self.builder.input((batch, encoder.mel_bins, 2 * encoder.frames), name)
        for conv, stride in (("enc_conv1", 1), ("enc_conv2", 2)):
            kernel = self._products[conv]
            pixels = 2 * encoder.frames // stride
            size = kernel.inner * kernel.columns * self._weights.layer_bits(model, kernel, 0) / 8
            work = product_work(1, batch * pixels, kernel.columns, kernel.inner)
            state = self.builder.add(
                "Conv",
                conv,
                [state],
                (batch, model.hidden, pixels),
                work._replace(window=(1, 3), stride=(1, stride)),
                Moved(weights=size),
            )
        state = self.builder.add("Transpose", "enc_frames", [state], shape)
        for layer in range(encoder.layers):
            state = self._encoder_layer(state, layer, encoder)
        return self._norm("enc_output_norm", state)

    def _encoder_layer(self, state: Value, layer: int, encoder: Encoder) -> Value:
        at = f"enc.{layer}."
        normed = self._norm(f"{at}attn_norm", state)
        heads = [self._product(f"enc_attn_{part}", normed, layer) for part in "qkv"]
        frames, size = encoder.frames, self._model.hidden // encoder.heads
        mixed = self.builder.add(
            f"{_MS}MultiHeadAttention",
            f"{at}attention",
            heads,
            normed.shape,
            product_work(self._step.batch * encoder.heads, frames, frames, 2 * size),
            attributes={"num_heads": encoder.heads},
        )
        out = self._product("enc_attn_output", mixed, layer)
        state = self._sum(f"{at}attn_residual", state, out)
        wide = self._product("enc_ffn_up", self._norm(f"{at}ffn_norm", state), layer)
        wide = self._elementwise("Gelu", f"{at}ffn_act", wide)
        return self._sum(f"{at}ffn_residual", state, self._product("enc_ffn_down", wide, layer))

    def _sum(self, name: str, *values: Value) -> Value:
        total = values[0]
        for value in values[1:]:
            total = self.builder.add("Add", name, [total, value], total.shape)
        return total

    def _elementwise(self, op: str, name: str, value: Value) -> Value:
        return self.builder.add(op, name, [value], value.shape)

    def _norm(self, name: str, state: Value) -> Value:
        plain = self._model.norm_biases
        size = (2 if plain else 1) * self._model.hidden * BITS[self._weights.vectors] / 8
        op = "LayerNormalization" if plain else _RMS_NORM
        return self.builder.add(op, name, [state], state.shape, moved=Moved(weights=size))

    def _product(self, name: str, state: Value, layer: int) -> Value:
        """A product with a weight matrix; of experts with those that its tokens touch."""
        product = self._products[name]
        tokens = prod(state.shape[:2])
        groups, rows, copies, shape = 1, tokens, 1.0, (*state.shape[:2], product.columns)
        if product.copies > 1:
            tokens = prod(self._step[::2])
            copies = product.touched(tokens)
            # As many rows a group as an expert has tokens, and groups for all of them.
            rows = max(round(tokens * product.active / copies), 1)
            groups = ceil(tokens * product.active / rows)
            shape = (groups, rows, product.columns)
        at = "enc" if name.startswith("enc_") else "blk"
        label = name if product.kind in _ENDS else f"{at}.{layer}.{name.removeprefix('enc_')}"
        bits = self._weights.layer_bits(self._model, product, layer)
        size = product.inner * product.columns * bits
        size += product.columns * BITS[self._weights.vectors] if product.bias else 0
        return self.builder.add(
            "MatMul",
            label,
            [state],
            shape,
            product_work(groups, rows, product.columns, product.inner),
            Moved(weights=copies * size / 8),
        )
