"""A GGUF file read as a language model: its fields under the names of a ``config.json``.

References:
    gguf-py, ``constants.py``, for keys and architectures; llama.cpp, ``llama-model.cpp``
    (``load_hparams``), for what they mean.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from predictor.core.errors import InputError
from predictor.core.text import printable, shortened
from predictor.language.architecture import DecoderArchitecture
from predictor.language.families import FAMILIES
from predictor.language.fields import Fields
from predictor.language.ggml_types import FILE_TYPES
from predictor.language.gguf import GgufHeader, Value, blocks_of, read_gguf
from predictor.language.products import TABLE
from predictor.language.stored import DescribedModel, StoredWeights
from predictor.language.weights import WeightFormat

_ACTION: Final = "give the config.json of the model"
_FAMILIES: Final = {
    "command-r": "cohere",
    "deepseek2": "deepseek_v3",
    "ernie4_5-moe": "ernie4_5_moe",
    "falcon-h1": "falcon_h1",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "glm4moe": "glm4_moe",
    "gpt-oss": "gpt_oss",
    "gptneox": "gpt_neox",
    "hunyuan-dense": "hunyuan_v1_dense",
    "llama4": "llama4_text",
    "mistral3": "mistral",
    "phi2": "phi",
    "qwen2moe": "qwen2_moe",
    "qwen2vl": "qwen2",
    "qwen3moe": "qwen3_moe",
    "qwen3next": "qwen3_next",
    "qwen3vl": "qwen3",
    "qwen3vlmoe": "qwen3_moe",
}
"""Architectures of llama.cpp that have another name than their family."""

# Fields of a config.json by the key, without the architecture before it.
_FIELDS: Final = {
    "block_count": "num_hidden_layers",
    "context_length": "max_position_embeddings",
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.sliding_window": "sliding_window",
    "attention.q_lora_rank": "q_lora_rank",
    "attention.kv_lora_rank": "kv_lora_rank",
    "attention.shared_kv_layers": "num_kv_shared_layers",
    "expert_count": "num_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size",
    "expert_shared_feed_forward_length": "shared_expert_intermediate_size",
    "expert_shared_count": "n_shared_experts",
    "use_parallel_residual": "use_parallel_residual",
    "full_attention_interval": "full_attention_interval",
    "embedding_length_per_layer_input": "hidden_size_per_layer_input",
    "altup.num_inputs": "altup_num_inputs",
    "shortconv.l_cache": "conv_L_cache",
    "rope.dimension_count": "qk_rope_head_dim",
}
# Of a state space each family has names of its own.
_STATES: Final = {
    "jamba": {
        "ssm.state_size": "mamba_d_state",
        "ssm.conv_kernel": "mamba_d_conv",
        "ssm.time_step_rank": "mamba_dt_rank",
    },
    "falcon_h1": {
        "ssm.state_size": "mamba_d_state",
        "ssm.conv_kernel": "mamba_d_conv",
        "ssm.time_step_rank": "mamba_n_heads",
        "ssm.group_count": "mamba_n_groups",
        "ssm.inner_size": "mamba_d_ssm",
    },
    "mamba2": {
        "ssm.state_size": "state_size",
        "ssm.conv_kernel": "conv_kernel",
        "ssm.time_step_rank": "num_heads",
        "ssm.group_count": "n_groups",
    },
    "qwen3_next": {
        "ssm.state_size": "linear_key_head_dim",
        "ssm.conv_kernel": "linear_conv_kernel_dim",
        "ssm.time_step_rank": "linear_num_value_heads",
        "ssm.group_count": "linear_num_key_heads",
    },
}
# Matrices that a file has in one tensor.
_JOINED: Final = {
    "attn_qkv": ("attn_q", "attn_k", "attn_v"),
    "attn_kv_b": ("attn_k_b", "attn_v_b"),
    "ffn_up": ("ffn_gate",),
    "ffn_gate_up_exps": ("ffn_gate_exps", "ffn_up_exps"),
}
_CLOSE: Final = 0.05  # share by which parameters of fields may differ from those of tensors


def read_gguf_model(path: str | os.PathLike[str]) -> DescribedModel:
    """Read the language model of a GGUF file; its weights are not read.

    Raises:
        InputError: it cannot be read, is cut short, has an architecture or a type that is not
            known, or its fields contradict its tensors.
    """
    subject = os.fspath(path)
    header = read_gguf(path)
    kind = header.fields.get("general.architecture")
    if not isinstance(kind, str):
        raise InputError(subject, "it states no general.architecture", _ACTION)
    family = _FAMILIES.get(kind, kind)
    if family == "llama" and header.fields.get("llama.expert_count"):
        family = "mixtral"
    if family not in FAMILIES:
        reason = f'its architecture "{printable(shortened(kind, 40))}" is not known'
        raise InputError(subject, reason, "choose a model of another family")
    stated = _Stated(header, kind, subject)
    model = FAMILIES[family].decoder(
        Fields(subject, stated.values(family)), _name(header, path), family
    )
    form = stated.form(model)
    return DescribedModel(model, StoredWeights(form))


def _name(header: GgufHeader, path: str | os.PathLike[str]) -> str:
    name = header.fields.get("general.name")
    stated = isinstance(name, str) and name
    return printable(shortened(str(name), 60) if stated else Path(path).stem)


class _Stated:
    """The fields and tensors of a header under the names of a ``config.json``.

    Blocks that predict further tokens are left out.
    """

    def __init__(self, header: GgufHeader, kind: str, subject: str) -> None:
        self._fields, self._kind, self._subject = header.fields, kind, subject
        self._tensors = list(blocks_of(header.tensors))
        numbers = {number for _, number, _ in self._tensors} - {-1}
        blocks = self._get("block_count")
        if blocks != len(numbers):
            text = f"{blocks:,}" if isinstance(blocks, int) else "no number of"
            raise InputError(
                subject, f"it states {text} blocks, and has tensors of {len(numbers):,}", _ACTION
            )
        if numbers != set(range(len(numbers))):
            raise InputError(subject, "the numbers of its blocks have gaps", _ACTION)
        # Blocks that predict further tokens come last, and no runtime needs them.
        further = self._get("nextn_predict_layers")
        self._layers = len(numbers) - (further if isinstance(further, int) else 0)
        self._tensors = [entry for entry in self._tensors if entry[1] < self._layers]

    def _get(self, key: str) -> Value | None:
        return self._fields.get(f"{self._kind}.{key}")

    def _has(self, *names: str) -> bool:
        return any(name in names for name, _, _ in self._tensors)

    def values(self, family: str) -> Mapping[str, object]:
        """Return the fields of a configuration."""
        named = {**_FIELDS, **_STATES.get(family, {})}
        values: dict[str, object] = {
            field: self._get(key) for key, field in named.items() if self._get(key) is not None
        }
        for key in ("context_length", "embedding_length"):
            if _FIELDS[key] not in values:
                raise InputError(self._subject, f"it states no {self._kind}.{key}", _ACTION)
        values["num_hidden_layers"] = self._layers
        # A model of experts alone may state their width only.
        values.setdefault("intermediate_size", values.get("moe_intermediate_size"))
        values |= self._of_tensors() | self._of_layers()
        values |= {
            "attention_bias": self._has("attn_q.bias", "attn_qkv.bias"),
            "use_qkv_bias": self._has("attn_q.bias"),
            "lm_head_bias": self._has("output.bias"),
            "use_qk_norm": self._has("attn_q_norm"),
            "qk_layernorm": self._has("attn_q_norm"),
            "rope_scaling": self._scaling(),
            # The width is the adjusted one already.
            "block_auto_adjust_ff_dim": False,
        }
        if family == "falcon":
            kv_heads = values.get("num_key_value_heads", values.get("num_attention_heads"))
            values |= {"multi_query": kv_heads == 1, "num_kv_heads": kv_heads}
            values |= {"new_decoder_architecture": self._has("attn_norm_2")}
        elif family == "llama4_text":
            # The width of dense layers goes by the name that others have for it.
            values["intermediate_size_mlp"] = values["intermediate_size"]
            values["intermediate_size"] = values.get("moe_intermediate_size")
        self._add_widths(values)
        return values

    def _of_tensors(self) -> dict[str, object]:
        """Return what the shapes of tensors show: vocabulary, a tied head, layers with experts."""
        table = next((tensor for name, _, tensor in self._tensors if name == TABLE), None)
        if table is None or len(table.shape) != 2:
            raise InputError(self._subject, f"it has no matrix {TABLE}.weight", _ACTION)
        values: dict[str, object] = {"vocab_size": table.shape[1]}
        values["tie_word_embeddings"] = not self._has("output")
        if self._has("ffn_gate_inp"):
            sparse = {number for name, number, _ in self._tensors if name == "ffn_gate_inp"}
            values["mlp_only_layers"] = sorted(set(range(self._layers)) - sparse)
        return values

    def _of_layers(self) -> dict[str, object]:
        """Return the kinds of layers that lists of heads and windows show."""
        values: dict[str, object] = {}
        heads = self._get("attention.head_count_kv")
        if isinstance(heads, list) and heads:
            values["num_key_value_heads"] = max(heads)
            kinds = ("full_attention", "linear_attention")
            values["layer_types"] = [kinds[not count] for count in heads[: self._layers]]
        pattern = self._get("attention.sliding_window_pattern")
        if isinstance(pattern, list) and pattern:
            kinds = ("full_attention", "sliding_attention")
            values["layer_types"] = [kinds[bool(slides)] for slides in pattern[: self._layers]]
        elif isinstance(pattern, int):
            values["sliding_window_pattern"] = pattern
        queries = self._get("attention.head_count")
        if isinstance(queries, list) and queries:
            values["num_attention_heads"] = max(queries)
        return values

    def _scaling(self) -> dict[str, object] | None:
        kind, factor = self._get("rope.scaling.type"), self._get("rope.scaling.factor")
        if kind is None or kind == "none" or factor is None:
            return None
        trained = self._get("rope.scaling.original_context_length")
        return {"type": kind, "factor": factor, "original_max_position_embeddings": trained}

    def _add_widths(self, values: dict[str, object]) -> None:
        """Add widths that follow from others."""
        key = self._get("attention.key_length_mla") or self._get("attention.key_length")
        value = self._get("attention.value_length_mla") or self._get("attention.value_length")
        rotary = self._get("rope.dimension_count")
        if isinstance(key, int) and isinstance(rotary, int) and key > rotary:
            values |= {"qk_nope_head_dim": key - rotary, "v_head_dim": value}
        inner, hidden = self._get("ssm.inner_size"), self._get("embedding_length")
        heads = self._get("ssm.time_step_rank")
        if isinstance(inner, int) and isinstance(hidden, int) and isinstance(heads, int):
            expanded = max(inner // max(hidden, 1), 1)
            values |= {"expand": expanded, "mamba_expand": expanded}
            values["linear_value_head_dim"] = max(inner // max(heads, 1), 1)

    def form(self, model: DecoderArchitecture) -> WeightFormat:
        """Return the format of the tensors, with their bits by name.

        Raises:
            InputError: they are not those of ``model``.
        """
        elements: dict[str, int] = defaultdict(int)
        sizes: dict[str, int] = defaultdict(int)
        types: Counter[str] = Counter()
        for name, number, tensor in self._tensors:
            elements[name] += tensor.elements
            sizes[name] += tensor.bytes
            if number >= 0:
                types[tensor.type.name] += tensor.elements
        stated, made = sum(elements.values()), model.parameters()
        if abs(stated - made) > _CLOSE * stated:
            raise InputError(
                self._subject,
                f"its tensors have {stated / 1e9:.3g} B parameters, its fields make "
                f"{made / 1e9:.3g} B",
                _ACTION,
            )
        bits = {name: 8 * sizes[name] / elements[name] for name in elements}
        for joined, names in _JOINED.items():
            if joined in bits:
                bits = {**dict.fromkeys(names, bits[joined]), **bits}
        matrices = types.most_common(1)[0][0]
        file_type = self._fields.get("general.file_type")
        return WeightFormat(
            name=FILE_TYPES.get(file_type, matrices) if isinstance(file_type, int) else matrices,
            matrices=matrices,
            vectors="f32",
            tensors=tuple(sorted(bits.items())),
            file_bytes=sum(sizes.values()),
            is_gguf=True,
        )
