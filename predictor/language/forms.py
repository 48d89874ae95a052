"""Forms that families of decoders share: experts, windows, latent attention, state spaces.

A form reads the fields of a ``config.json`` that state it, and completes an architecture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from predictor.language.architecture import DecoderArchitecture
from predictor.language.encoder import Encoder
from predictor.language.fields import Fields
from predictor.language.modules import (
    Module,
    delta_net,
    latent_attention,
    lightning_attention,
    mamba,
    mamba2,
    per_layer_inputs,
    short_convolution,
)

Form: TypeAlias = Callable[[Fields, DecoderArchitecture], DecoderArchitecture]

_WINDOWED = frozenset({"sliding_attention", "chunked_attention"})


def experts(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Experts, as wide as dense blocks where no field says."""
    width = fields.count("expert_feed_forward", default=model.feed_forward)
    return _with_experts(fields, model, width)


def narrow_experts(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Experts of another width than dense blocks, which the file has to state."""
    return _with_experts(fields, model, fields.count("expert_feed_forward"))


def _with_experts(fields: Fields, model: DecoderArchitecture, width: int) -> DecoderArchitecture:
    """Experts in the layers that no field names as dense ones, shared ones where a field says."""
    shared = width * fields.count("shared_experts", default=0, minimum=0)
    dense = model.layers - _sparse_layers(fields, model.layers)
    return replace(
        model,
        feed_forward=model.feed_forward if dense else 0,
        experts=fields.count("experts"),
        experts_per_token=fields.count("experts_per_token"),
        expert_feed_forward=width,
        shared_feed_forward=fields.count("shared_feed_forward", default=shared, minimum=0),
        dense_layers=dense,
    )


_FIRST = ("first_k_dense_replace", "moe_layer_start_index")
_STEPS = (
    *("decoder_sparse_step", "moe_layer_interval", "moe_layer_freq", "expert_layer_period"),
    "interleave_moe_layer_step",
)


def _sparse_layers(fields: Fields, layers: int) -> int:
    """Return the number of layers that have experts."""
    first = fields.count("layers", *_FIRST, default=0, minimum=0)
    step = fields.count("layers", *_STEPS, default=1)
    # Where a period has an offset it counts from there, else its last layer is sparse.
    offset = fields.count("layers", "expert_layer_offset", default=step - 1, minimum=0)
    dense = {layer for layer in fields.items("mlp_only_layers") if isinstance(layer, int)}
    return sum(i % step == offset and i not in dense for i in range(first, layers))


def gated_experts(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Narrow experts, the shared one of which has a gate."""
    sparse = narrow_experts(fields, model)
    return replace(sparse, shared_gate=sparse.shared_feed_forward > 0)


def chunked_experts(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Llama 4: one shared expert as wide as the others, dense layers of a width of their own."""
    dense = fields.count("feed_forward", "intermediate_size_mlp", default=model.feed_forward)
    shared = replace(experts(fields, model), shared_feed_forward=model.feed_forward)
    return replace(shared, feed_forward=dense if shared.dense_layers else 0)


def windows(window: int = 0, period: int = 0, field: str = "sliding_window") -> Form:
    """Return the form of windows of attention.

    Args:
        window: tokens where the file does not say; 0 for none.
        period: so many-th layers see all tokens where no list of layers says; 0 for none of them.
        field: that states the window.
    """

    def form(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
        layers = model.attention_layers
        if period:
            # EXAONE writes the pattern as letters, the last of which stands for a global layer.
            pattern = len(fields.text(_PATTERN))
            layers -= layers // (pattern or fields.count("layers", _PATTERN, default=period))
        return _windowed(fields, model, layers, fields.count("context", field, default=window))

    return form


_PATTERN = "sliding_window_pattern"


def late_windows(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Windows in the layers from ``max_window_layers`` on, where the file switches them on."""
    if not fields.flag("use_sliding_window"):
        return model
    first = fields.count("layers", "max_window_layers", default=28, minimum=0)
    window = fields.count("context", "sliding_window", default=4096)
    return _windowed(fields, model, max(model.layers - first, 0), window)


def _windowed(
    fields: Fields, model: DecoderArchitecture, layers: int, window: int
) -> DecoderArchitecture:
    """Window the layers that the file lists, else as many as ``layers``."""
    types = fields.items("layer_types")
    if types and len(types) != model.layers:
        raise fields.error(f"its layer_types lists {len(types)} of {model.layers} layers")
    layers = sum(kind in _WINDOWED for kind in types) if types else layers
    layers = min(layers, model.attention_layers) if window else 0
    return replace(model, sliding_window=window, windowed_layers=layers)


def latent(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Attention over a latent vector in all layers, see :func:`latent_attention`."""
    query_rank = fields.count("hidden", "q_lora_rank", default=0)
    plain = fields.count("head_dim", "qk_nope_head_dim")
    rotary = fields.count("head_dim", "qk_rope_head_dim")
    value = model.hidden // model.heads
    module = latent_attention(
        model.layers,
        model.hidden,
        model.heads,
        query_rank=query_rank,
        rank=fields.count("hidden", "kv_lora_rank"),
        plain_dim=plain,
        rotary_dim=rotary,
        value_dim=fields.count("head_dim", "v_head_dim", default=value),
    )
    if fields.flag("attention_bias"):
        # Of what makes the latent vectors, and of the output.
        biases = query_rank + module.cached + model.hidden
        module = replace(module, vectors=module.vectors + biases)
    return _instead(replace(model, head_dim=plain + rotary), module)


def _instead(model: DecoderArchitecture, module: Module) -> DecoderArchitecture:
    """A module in the place of the attention of its layers."""
    return replace(model, attention_free_layers=module.layers, modules=(*model.modules, module))


def _attention_free(fields: Fields, model: DecoderArchitecture, period: int, offset: int) -> int:
    """Return the layers that no list and no rule gives full attention."""
    if types := fields.items("layer_types"):
        if len(types) != model.layers:
            raise fields.error(f"its layer_types lists {len(types)} of {model.layers} layers")
        return sum(kind != "full_attention" for kind in types)
    return sum(layer % period != offset for layer in range(model.layers))


def delta(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Linear attention with a delta rule in most layers (Qwen3-Next)."""
    period = fields.count("layers", "full_attention_interval", default=4)
    module = delta_net(
        _attention_free(fields, model, period, period - 1),
        model.hidden,
        key_heads=fields.count("heads", "linear_num_key_heads", default=16),
        key_dim=fields.count("head_dim", "linear_key_head_dim", default=128),
        heads=fields.count("heads", "linear_num_value_heads", default=32),
        value_dim=fields.count("head_dim", "linear_value_head_dim", default=128),
        kernel=fields.count("head_dim", "linear_conv_kernel_dim", default=4),
    )
    return _instead(model, module)


def lightning(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Linear attention in most layers (MiniMax); older files list them by 0 and 1."""
    kinds = fields.items("attn_type_list")
    layers = kinds.count(0) if kinds else _attention_free(fields, model, 2, 0)
    layers = min(layers, model.layers)
    module = lightning_attention(layers, model.hidden, model.heads, model.head_dim)
    return _instead(model, module)


def convolutions(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Short convolutions in the layers that are not listed, and blocks of an adjusted width."""
    attended = len(set(fields.items("full_attn_idxs")))
    layers = max(model.layers - attended, 0)
    if fields.items("layer_types"):
        layers = _attention_free(fields, model, 1, 0)
    kernel = fields.count("head_dim", "conv_L_cache", default=3)
    module = short_convolution(layers, model.hidden, kernel, bias=fields.flag("conv_bias"))
    width = model.feed_forward
    if fields.flag("block_auto_adjust_ff_dim", default=True):
        multiple = fields.count("feed_forward", "block_multiple_of", default=256)
        width = int(fields.number("block_ffn_dim_multiplier", 1.0) * (2 * width // 3))
        width = multiple * -(-width // multiple)
    return replace(_instead(model, module), feed_forward=width)


def selective_states(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """A state space in all layers but one of a period, experts in one of another (Jamba)."""
    period = fields.count("layers", "attn_layer_period", default=8)
    offset = fields.count("layers", "attn_layer_offset", default=4, minimum=0)
    module = mamba(
        _attention_free(fields, model, period, offset),
        model.hidden,
        inner=model.hidden * fields.count("heads", "mamba_expand", default=2),
        state=fields.count("head_dim", "mamba_d_state", default=16),
        kernel=fields.count("head_dim", "mamba_d_conv", default=4),
        # The class takes a 16th of the hidden size for "auto".
        step_rank=-(-model.hidden // 16)
        if fields.text("mamba_dt_rank")
        else fields.count("hidden", "mamba_dt_rank", default=-(-model.hidden // 16)),
    )
    return _instead(model, module)


def states(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """A state space and nothing else in each layer (Mamba-2)."""
    inner = model.hidden * fields.count("heads", "expand", default=2)
    module = mamba2(
        model.layers,
        model.hidden,
        inner=inner,
        heads=fields.count("heads", "num_heads", default=128),
        groups=fields.count("heads", "n_groups", default=8),
        state=fields.count("head_dim", "state_size", default=128),
        kernel=fields.count("head_dim", "conv_kernel", default=4),
        normed=True,
    )
    return _instead(model, module)


def parallel_states(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """A state space beside the attention of each layer (Falcon-H1)."""
    widened = model.hidden * fields.count("heads", "mamba_expand", default=2)
    module = mamba2(
        model.layers,
        model.hidden,
        inner=fields.count("hidden", "mamba_d_ssm", default=widened),
        heads=fields.count("heads", "mamba_n_heads", default=128),
        groups=fields.count("heads", "mamba_n_groups", default=1),
        state=fields.count("head_dim", "mamba_d_state", default=256),
        kernel=fields.count("head_dim", "mamba_d_conv", default=4),
        normed=fields.flag("mamba_rms_norm"),
    )
    return replace(model, modules=(module,))


def gemma3n(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Inputs of each layer, several residual streams, and caches that late layers share."""
    modules = per_layer_inputs(
        model.layers,
        model.hidden,
        fields.count("vocabulary", "vocab_size_per_layer_input", default=262_144),
        fields.count("hidden", "hidden_size_per_layer_input", default=256),
        fields.count("heads", "altup_num_inputs", default=4),
        fields.count("hidden", "laurel_rank", default=64),
    )
    shared = fields.count("layers", "num_kv_shared_layers", default=15, minimum=0)
    return replace(model, modules=modules, shared_cache_layers=min(shared, model.layers - 1))


def tables(extra_rows: int = 0) -> Form:
    """Return the form of a learned table of positions, with rows for padding."""

    def form(_: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
        return replace(model, position_rows=model.max_context + extra_rows)

    return form


def opt(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """OPT: a narrower embedding table, and no last norm where norms stand behind blocks."""
    width = fields.count("hidden", "word_embed_proj_dim", default=model.hidden)
    last = fields.flag("do_layer_norm_before", default=True)
    return replace(
        model,
        embedding_width=0 if width == model.hidden else width,
        final_norm=last and not fields.flag("_remove_final_layer_norm"),
    )


def falcon(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Falcon: one norm where attention and block are parallel, key heads by its generation."""
    if fields.flag("new_decoder_architecture"):
        kv_heads = fields.count("heads", "num_kv_heads", default=model.heads)
        norms = fields.count("layers", "num_ln_in_parallel_attn", default=2)
        return replace(model, kv_heads=kv_heads, norms_per_layer=norms)
    kv_heads = 1 if fields.flag("multi_query", default=True) else model.heads
    norms = 1 if fields.flag("parallel_attn", default=True) else 2
    return replace(model, kv_heads=kv_heads, norms_per_layer=norms)


def stablelm(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """StableLM: one norm a layer where attention and block are parallel, norms of heads."""
    norms = 1 if fields.flag("use_parallel_residual") else 2
    normed = fields.flag("qk_layernorm")
    return replace(model, norms_per_layer=norms, qk_norm=normed, qk_norm_all=normed)


def whisper(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Whisper: an encoder of sound."""
    encoder = Encoder(
        layers=fields.count("layers", "encoder_layers"),
        heads=fields.count("heads", "encoder_attention_heads"),
        feed_forward=fields.count("feed_forward", "encoder_ffn_dim"),
        mel_bins=fields.count("hidden", "num_mel_bins", default=80),
        frames=fields.count("context", "max_source_positions", default=1500),
    )
    return replace(model, encoder=encoder)
