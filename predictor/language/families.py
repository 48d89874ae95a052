"""Families of decoders by ``model_type``: how each makes an architecture of a ``config.json``.

Where a file leaves a field out, the default of its class in transformers holds, but for the counts
that make the model what it is: those must stand in the file.

References:
    transformers, ``models/*/configuration_*.py`` for names and defaults of fields,
    ``modeling_*.py`` for matrices, biases and norms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from predictor.language import forms
from predictor.language.architecture import DecoderArchitecture
from predictor.language.context import scaled_context
from predictor.language.fields import Fields
from predictor.language.forms import Form


class Flag(NamedTuple):
    """A switch of the file.

    Attributes:
        field: name.
        default: where the file does not state it.
        off: whether it switches off.
    """

    field: str
    default: bool = False
    off: bool = False


_Row: TypeAlias = dict[str, bool | int | Flag]
Layout: TypeAlias = Mapping[str, bool | int | Flag]
"""Values of fields of a ``DecoderArchitecture``, as constants or switches of the file."""


@dataclass(frozen=True, slots=True)
class Family:
    """A ``model_type``: defaults of its class, and the differences of its layers from Llama's.

    Attributes:
        layout: biases, norms and gates.
        forms: experts, windows, latent attention and the like, in the order in which they are read.
        defaults: of fields that the file may leave out.
        blocks: whether layers have a feed-forward block.
    """

    layout: Layout = field(default_factory=dict)
    forms: tuple[Form, ...] = ()
    defaults: Mapping[str, object] = field(default_factory=dict)
    blocks: bool = True

    def decoder(self, fields: Fields, name: str, family: str) -> DecoderArchitecture:
        """Return the architecture that a configuration of this family describes.

        Raises:
            InputError: a field is missing or absurd.
        """
        fields = fields.flattened("attn_config", "ffn_config").completed(self.defaults)
        hidden, heads = fields.count("hidden"), fields.count("heads")
        head_dim = fields.count("head_dim", default=0)
        if not head_dim and hidden % heads:
            raise fields.error(f"its hidden size {hidden} is no multiple of its {heads} heads")
        widened = hidden * fields.count("heads", "expansion_ratio", default=0) or None
        model = DecoderArchitecture(
            name=name,
            family=family,
            layers=fields.count("layers"),
            hidden=hidden,
            heads=heads,
            kv_heads=fields.count("kv_heads", default=heads),
            head_dim=head_dim or hidden // heads,
            feed_forward=fields.count("feed_forward", default=widened) if self.blocks else 0,
            vocabulary=fields.count("vocabulary"),
            max_context=scaled_context(fields, family),
            tied_embeddings=fields.flag("tie_word_embeddings"),
            **_values(fields, self.layout),
        )
        for form in self.forms:
            model = form(fields, model)
        return _checked(fields, model)


def _values(fields: Fields, layout: Layout) -> dict[str, Any]:
    """Return the values of fields of an architecture."""
    return {
        name: fields.flag(value.field, value.default) is not value.off
        if isinstance(value, Flag)
        else value
        for name, value in layout.items()
    }


def _checked(fields: Fields, model: DecoderArchitecture) -> DecoderArchitecture:
    if model.heads % model.kv_heads:
        raise fields.error(
            f"its {model.heads} query heads cannot share {model.kv_heads} key and value heads"
            " evenly"
        )
    if model.experts_per_token > model.experts:
        raise fields.error(
            f"a token passes {model.experts_per_token} experts, more than the {model.experts}"
            " that there are"
        )
    return model


def _biases(
    attention: bool | Flag = False,
    block: bool | Flag = False,
    output: bool | Flag | None = None,
    head: bool | Flag = False,
) -> _Row:
    """Return which projections add a bias; that of attention's output as its others do."""
    return {
        "query_value_bias": attention,
        "key_bias": attention,
        "output_bias": attention if output is None else output,
        "feed_forward_bias": block,
        "head_bias": head,
    }


_LAYER_NORM: Final[_Row] = {"norm_biases": True}
_NO_GATE: Final[_Row] = {"gated": False}
# LayerNorm, biases everywhere and no gate, as in GPT-2.
_PLAIN: Final[_Row] = {**_biases(True, True), **_LAYER_NORM, **_NO_GATE}
_ONE_NORM: Final[_Row] = {"norms_per_layer": 1}  # attention and feed-forward block read one norm
_FOUR_NORMS: Final[_Row] = {"norms_per_layer": 4}
_QK_NORM: Final[_Row] = {"qk_norm": True}
_ATTENTION: Final[_Row] = _biases(Flag("attention_bias"))
_QKV: Final[_Row] = _biases(True, output=False)
_LLAMA: Final[_Row] = _biases(Flag("attention_bias"), Flag("mlp_bias"))
_DEEPSEEK: Final = Family(forms=(forms.latent, forms.narrow_experts))
_Defaults: TypeAlias = dict[str, object]
_TIED: Final[_Defaults] = {"tie_word_embeddings": True}
_WIDE: Final[_Defaults] = {"expansion_ratio": 4}  # feed-forward width over hidden size
_GEMMA: Final[_Defaults] = {"head_dim": 256, **_TIED}

FAMILIES: Final[dict[str, Family]] = {
    "llama": Family(_LLAMA),
    "mistral": Family(forms=(forms.windows(),)),
    "mixtral": Family(forms=(forms.windows(), forms.experts)),
    "qwen2": Family(_QKV, (forms.late_windows,)),
    "qwen2_moe": Family(
        _biases(Flag("qkv_bias", default=True), output=False), (forms.gated_experts,)
    ),
    "qwen3": Family(_ATTENTION | _QK_NORM, (forms.late_windows,), defaults={"head_dim": 128}),
    "qwen3_moe": Family(_ATTENTION | _QK_NORM, (forms.late_windows, forms.narrow_experts)),
    "qwen3_next": Family(
        _ATTENTION | _QK_NORM | {"query_gate": True},
        (forms.delta, forms.gated_experts),
        defaults={"head_dim": 256},
    ),
    "gemma": Family(_LLAMA, defaults=_GEMMA),
    "gemma2": Family(_LLAMA | _FOUR_NORMS, (forms.windows(4096, 2),), _GEMMA),
    "gemma3_text": Family(_LLAMA | _FOUR_NORMS | _QK_NORM, (forms.windows(4096, 6),), _GEMMA),
    "gemma3n_text": Family(
        _ATTENTION | _FOUR_NORMS | _QK_NORM, (forms.gemma3n, forms.windows(512, 5)), _GEMMA
    ),
    "phi": Family(_PLAIN | _ONE_NORM | {"qk_norm": Flag("qk_layernorm"), "head_bias": True}),
    "phi3": Family(forms=(forms.windows(),)),
    "phimoe": Family(
        _biases(Flag("attention_bias"), head=Flag("lm_head_bias")) | _LAYER_NORM,
        (forms.windows(), forms.experts),
    ),
    "gpt2": Family(_PLAIN, (forms.tables(),), defaults=_TIED | _WIDE),
    "gptj": Family(_PLAIN | _ONE_NORM | _biases(False, True, head=True), defaults=_WIDE),
    "gpt_neox": Family(_PLAIN | _biases(Flag("attention_bias", default=True), True)),
    # Two rows of positions before the first stand for padding.
    "opt": Family(
        _PLAIN | _biases(Flag("enable_bias", default=True), Flag("enable_bias", default=True)),
        (forms.opt, forms.tables(2)),
        defaults=_TIED,
    ),
    "bloom": Family(
        _PLAIN | {"embedding_norm": True}, defaults=_TIED | _WIDE | {"seq_length": 2048}
    ),
    "mpt": Family(
        _NO_GATE
        | _biases(Flag("no_bias", True, off=True), Flag("no_bias", True, off=True))
        | {"norm_biases": Flag("no_bias", True, off=True)},
        defaults=_TIED | _WIDE,
    ),
    "dbrx": Family(forms=(forms.experts,)),
    "falcon": Family(
        _NO_GATE | _LAYER_NORM | _biases(Flag("bias"), Flag("bias")),
        (forms.falcon,),
        defaults=_TIED | _WIDE | {"max_position_embeddings": 2048},
    ),
    "falcon_h1": Family(_ATTENTION, (forms.parallel_states,)),
    "gpt_oss": Family(
        _biases(Flag("attention_bias", default=True), True)
        | {"router_bias": True, "attention_sinks": True},
        (forms.windows(128, 2), forms.experts),
        defaults={"head_dim": 64},
    ),
    "granite": Family(_LLAMA),
    "granitemoe": Family(_ATTENTION, (forms.experts,)),
    "olmo2": Family(_ATTENTION | _QK_NORM | {"qk_norm_all": True}),
    "smollm3": Family(_LLAMA, defaults=_TIED),
    "seed_oss": Family(
        _biases(Flag("attention_bias", default=True), output=Flag("attention_out_bias"))
        | {"feed_forward_bias": Flag("mlp_bias")},
        defaults={"head_dim": 128},
    ),
    "internlm2": Family(_biases(Flag("bias"))),
    "internlm3": Family(_biases(Flag("qkv_bias"), Flag("bias"), output=Flag("bias"))),
    "ernie4_5": Family(
        _biases(Flag("use_bias"), Flag("use_bias")), defaults=_TIED | {"head_dim": 128}
    ),
    "ernie4_5_moe": Family(
        # Of the router a correction of scores is added.
        _biases(Flag("use_bias"), Flag("use_bias")) | {"router_bias": True},
        (forms.narrow_experts,),
        defaults=_TIED,
    ),
    "cohere": Family(
        _ATTENTION | _ONE_NORM | {"qk_norm": Flag("use_qk_norm"), "qk_norm_all": True},
        defaults=_TIED,
    ),
    "cohere2": Family(_ATTENTION | _ONE_NORM, (forms.windows(4096, 4),), defaults=_TIED),
    "starcoder2": Family(
        _NO_GATE | _LAYER_NORM | _biases(Flag("use_bias", True), Flag("use_bias", True)),
        (forms.windows(),),
        defaults=_TIED,
    ),
    "stablelm": Family(
        _LAYER_NORM | _biases(Flag("use_qkv_bias"), output=False), (forms.stablelm,)
    ),
    "exaone4": Family(_QK_NORM, (forms.windows(0, 4),)),
    "hunyuan_v1_dense": Family(_ATTENTION | _QK_NORM),
    "glm4": Family(
        _biases(Flag("attention_bias"), output=False) | _FOUR_NORMS, defaults={"head_dim": 128}
    ),
    "glm4_moe": Family(
        _biases(Flag("attention_bias"), output=False) | {"qk_norm": Flag("use_qk_norm")},
        (forms.narrow_experts,),
        defaults={"head_dim": 128},
    ),
    "minicpm3": Family(forms=(forms.latent,), defaults=_TIED),
    "nemotron": Family(_NO_GATE | _LAYER_NORM | _biases(Flag("attention_bias"), Flag("mlp_bias"))),
    "deepseek_v2": _DEEPSEEK,
    "deepseek_v3": _DEEPSEEK,
    "kimi_k2": _DEEPSEEK,
    "llama4_text": Family(
        _ATTENTION,
        (forms.chunked_experts, forms.windows(8192, 4, "attention_chunk_size")),
        defaults={"head_dim": 128},
    ),
    "minimax": Family(forms=(forms.lightning, forms.experts)),
    "jamba": Family(forms=(forms.selective_states, forms.experts)),
    "lfm2": Family(_QK_NORM, (forms.convolutions,), defaults=_TIED),
    # No attention, so one head stands for none, and any context.
    "mamba2": Family(
        _ONE_NORM,
        (forms.states,),
        defaults={"num_attention_heads": 1, "max_position_embeddings": 2**20},
        blocks=False,
    ),
    "whisper": Family(
        _PLAIN | {"key_bias": False}, (forms.tables(), forms.whisper), defaults=_TIED
    ),
}
