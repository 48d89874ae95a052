"""What the families of decoders have in their layers, and the fields that state it.

Where a file leaves a field out, the default of its class in transformers holds, but for the counts
that make the model what it is: those must stand in the file.

References:
    transformers, ``models/*/configuration_*.py`` for names and defaults of fields,
    ``modeling_*.py`` for matrices, biases and norms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from predictor.language.architecture import DecoderArchitecture, Encoder
from predictor.language.fields import Fields

Refine: TypeAlias = Callable[[Fields, DecoderArchitecture], DecoderArchitecture]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A ``model_type``: defaults of its class, and what its layers have beyond Llama's.

    Attributes:
        refine: completes the architecture of a bare Llama with the same counts.
        tied: whether the head multiplies the embedding table where the file does not say.
        head_dim: width of a head where the file does not say; 0 for hidden size by heads.
        widening: feed-forward width over hidden size where the file does not say; 0 where it must.
        context: longest context where the file does not say; 0 where it must.
        plain: LayerNorm, biases everywhere and no gate, as in GPT-2.
    """

    refine: Refine
    tied: bool = False
    head_dim: int = 0
    widening: int = 0
    context: int = 0
    plain: bool = False

    def decoder(self, fields: Fields, name: str, family: str) -> DecoderArchitecture:
        """Return the architecture that a configuration of this family describes.

        Raises:
            InputError: a field is missing or absurd.
        """
        hidden, heads = fields.count("hidden"), fields.count("heads")
        head_dim = fields.count("head_dim", default=self.head_dim)
        if not head_dim and hidden % heads:
            raise fields.error(f"its hidden size {hidden} is no multiple of its {heads} heads")
        bare = DecoderArchitecture(
            name=name,
            family=family,
            layers=fields.count("layers"),
            hidden=hidden,
            heads=heads,
            kv_heads=fields.count("heads", "num_key_value_heads", default=heads),
            head_dim=head_dim or hidden // heads,
            feed_forward=fields.count("feed_forward", default=self.widening * hidden or None),
            vocabulary=fields.count("vocabulary"),
            max_context=fields.count("context", default=self.context or None),
            gated=not self.plain,
            tied_embeddings=fields.flag("tie_word_embeddings", self.tied),
            norm_biases=self.plain,
        )
        model = self.refine(fields, _biased(bare) if self.plain else bare)
        if heads % model.kv_heads:
            raise fields.error(
                f"its {heads} query heads cannot share {model.kv_heads} key and value heads evenly"
            )
        if model.experts_per_token > model.experts:
            raise fields.error(
                f"a token passes {model.experts_per_token} experts, more than the {model.experts}"
                " that there are"
            )
        return model


def _biased(
    model: DecoderArchitecture, attention: bool = True, block: bool = True
) -> DecoderArchitecture:
    """Add biases to the projections of attention, and to the feed-forward block."""
    return replace(
        model,
        query_value_bias=attention,
        key_bias=attention,
        output_bias=attention,
        feed_forward_bias=block,
    )


def _llama(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    return _biased(model, fields.flag("attention_bias"), fields.flag("mlp_bias"))


def _mistral(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    window = fields.count("context", "sliding_window", default=0)
    return replace(model, sliding_window=window, windowed_layers=model.layers if window else 0)


def _mixtral(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    return _with_experts(fields, _mistral(fields, model), model.feed_forward)


def _qwen2(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    return _late_windows(fields, replace(model, query_value_bias=True, key_bias=True))


def _qwen2_moe(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    bias = fields.flag("qkv_bias", default=True)
    shared = fields.count("feed_forward", "shared_expert_intermediate_size", default=0, minimum=0)
    model = replace(model, query_value_bias=bias, key_bias=bias)
    model = replace(model, shared_feed_forward=shared, shared_gate=shared > 0)
    return _partly_sparse(fields, model)


def _qwen3(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    model = _biased(model, fields.flag("attention_bias"), block=False)
    return _late_windows(fields, replace(model, qk_norm=True))


def _qwen3_moe(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    return _partly_sparse(fields, _qwen3(fields, model))


def _gemma2(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    model = replace(_llama(fields, model), norms_per_layer=4)
    return _windows(fields, model, model.layers - model.layers // 2, 4096)


def _gemma3(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    pattern = fields.count("layers", "sliding_window_pattern", default=6)
    model = replace(_llama(fields, model), norms_per_layer=4, qk_norm=True)
    return _windows(fields, model, model.layers - model.layers // pattern, 4096)


def _phi(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    # Attention and feed-forward block read one norm.
    return replace(model, norms_per_layer=1, qk_norm=fields.flag("qk_layernorm"), head_bias=True)


def _gpt2(_: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    return replace(model, position_rows=model.max_context)


def _opt(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    bias = fields.flag("enable_bias", default=True)
    width = fields.count("hidden", "word_embed_proj_dim", default=model.hidden)
    last = fields.flag("do_layer_norm_before", default=True)
    return replace(
        _biased(model, bias, bias),
        # Two rows before the first position stand for padding.
        position_rows=model.max_context + 2,
        embedding_width=0 if width == model.hidden else width,
        final_norm=last and not fields.flag("_remove_final_layer_norm"),
    )


def _falcon(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    bias = fields.flag("bias")
    model = replace(_biased(model, bias, bias), gated=False, norm_biases=True)
    if fields.flag("new_decoder_architecture"):
        kv_heads = fields.count("heads", "num_kv_heads", default=model.heads)
        norms = fields.count("layers", "num_ln_in_parallel_attn", default=2)
        return replace(model, kv_heads=kv_heads, norms_per_layer=norms)
    kv_heads = 1 if fields.flag("multi_query", default=True) else model.heads
    # In parallel, attention and feed-forward block read one norm.
    norms = 1 if fields.flag("parallel_attn", default=True) else 2
    return replace(model, kv_heads=kv_heads, norms_per_layer=norms)


def _gpt_oss(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    sparse = _with_experts(fields, model, model.feed_forward)
    sparse = replace(sparse, feed_forward=0, router_bias=True, attention_sinks=True)
    sparse = _biased(sparse, fields.flag("attention_bias", default=True))
    return _windows(fields, sparse, model.layers - model.layers // 2, 128)


def _whisper(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    encoder = Encoder(
        layers=fields.count("layers", "encoder_layers"),
        heads=fields.count("heads", "encoder_attention_heads"),
        feed_forward=fields.count("feed_forward", "encoder_ffn_dim"),
        mel_bins=fields.count("hidden", "num_mel_bins", default=80),
        frames=fields.count("context", "max_source_positions", default=1500),
    )
    return replace(model, key_bias=False, position_rows=model.max_context, encoder=encoder)


def _with_experts(fields: Fields, model: DecoderArchitecture, width: int) -> DecoderArchitecture:
    return replace(
        model,
        experts=fields.count("experts"),
        experts_per_token=fields.count("experts", "num_experts_per_tok"),
        expert_feed_forward=width,
    )


def _partly_sparse(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Experts in every ``decoder_sparse_step``-th layer that is not named a dense one."""
    dense = fields.items("mlp_only_layers")
    step = fields.count("layers", "decoder_sparse_step", default=1)
    sparse = sum((i + 1) % step == 0 and i not in dense for i in range(model.layers))
    model = _with_experts(fields, model, fields.count("feed_forward", "moe_intermediate_size"))
    return replace(model, dense_layers=model.layers - sparse)


def _late_windows(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    """Qwen windows the layers from ``max_window_layers`` on, where it is asked to."""
    if not fields.flag("use_sliding_window"):
        return model
    first = fields.count("layers", "max_window_layers", default=28, minimum=0)
    return _windows(fields, model, max(model.layers - first, 0), 4096)


def _windows(
    fields: Fields, model: DecoderArchitecture, layers: int, window: int
) -> DecoderArchitecture:
    """Window the layers that the file lists, else as many as the family's rule has it."""
    if types := fields.items("layer_types"):
        layers = types.count("sliding_attention")
    window = fields.count("context", "sliding_window", default=window)
    return replace(model, sliding_window=window, windowed_layers=min(layers, model.layers))


FAMILIES: Final[dict[str, Family]] = {
    "llama": Family(refine=_llama),
    "mistral": Family(refine=_mistral),
    "mixtral": Family(refine=_mixtral),
    "qwen2": Family(refine=_qwen2),
    "qwen2_moe": Family(refine=_qwen2_moe),
    "qwen3": Family(refine=_qwen3, head_dim=128),
    "qwen3_moe": Family(refine=_qwen3_moe),
    "gemma": Family(refine=_llama, tied=True, head_dim=256),
    "gemma2": Family(refine=_gemma2, tied=True, head_dim=256),
    "gemma3_text": Family(refine=_gemma3, tied=True, head_dim=256),
    "phi": Family(refine=_phi, plain=True),
    "phi3": Family(refine=_mistral),
    "gpt2": Family(refine=_gpt2, tied=True, widening=4, plain=True),
    "opt": Family(refine=_opt, tied=True, plain=True),
    "falcon": Family(refine=_falcon, tied=True, widening=4, context=2048),
    "gpt_oss": Family(refine=_gpt_oss, head_dim=64),
    "whisper": Family(refine=_whisper, tied=True, plain=True),
}
