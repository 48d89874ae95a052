"""Configurations of public models against their published counts, and files that are none."""

import json
import math
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.language.config import MAX_BYTES, architecture_of, read_config
from predictor.language.families import FAMILIES
from tests.support.public_models import CONFIGS

LLAMA = CONFIGS["Llama-2-7b"][0]
LLAMA_COUNTS = {key: value for key, value in LLAMA.items() if key != "model_type"}


def read(values: dict[str, Any]) -> Any:
    return architecture_of(values, "config.json")


def test_parameters_are_those_that_were_published() -> None:
    read_of_each = {name: read(values).parameters() for name, (values, _) in CONFIGS.items()}
    assert read_of_each == {name: published for name, (_, published) in CONFIGS.items()}


def test_every_family_has_a_public_model_here() -> None:
    assert {values["model_type"] for values, _ in CONFIGS.values()} == set(FAMILIES)


@pytest.mark.parametrize(
    ("name", "active"),
    [
        # In B, as the models' own pages state them.
        ("Mixtral-8x7B", 12.9),
        ("Qwen1.5-MoE-A2.7B", 2.7),
        ("Qwen2-57B-A14B", 14.2),
        ("Qwen3-30B-A3B", 3.3),
        ("Qwen3-235B-A22B", 22.2),
        ("deepseek-ai/DeepSeek-V3", 37),
        ("moonshotai/Kimi-K2-Instruct", 32),
        ("meta-llama/Llama-4-Scout-17B-16E", 17),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 3.9),
        ("ai21labs/Jamba-v0.1", 12),
        ("microsoft/Phi-3.5-MoE-instruct", 6.6),
        ("databricks/dbrx-base", 36),
    ],
)
def test_active_parameters_are_those_that_were_published(name: str, active: float) -> None:
    assert read(CONFIGS[name][0]).active_parameters() / 1e9 == pytest.approx(active, rel=0.03)


def test_windows_are_those_of_the_family() -> None:
    windowed = {name: read(values) for name, (values, _) in CONFIGS.items()}
    shown = {n: (m.windowed_layers, m.sliding_window) for n, m in windowed.items()}
    assert shown["Mistral-7B-v0.1"] == (32, 4096)
    assert shown["Mistral-7B-v0.3"] == shown["Llama-2-7b"] == shown["Qwen2-7B"] == (0, 0)
    assert shown["gemma-2-9b"] == (21, 4096)
    # Five windowed layers to one that sees all.
    assert shown["gemma-3-1b"] == (22, 512)
    assert shown["gpt-oss-20b"] == (12, 128)
    listed = {**CONFIGS["gemma-2-9b"][0], "layer_types": ["full_attention"] * 42}
    assert read(listed).windowed_layers == 0


def test_the_language_model_of_a_multimodal_one_is_read() -> None:
    # google/gemma-3-4b states no more of its text model than this.
    text = {"model_type": "gemma3_text", "num_hidden_layers": 34, "sliding_window": 1024}
    text |= {"hidden_size": 2560, "intermediate_size": 10240}
    model = read({"model_type": "gemma3", "text_config": text, "vision_config": {}})
    assert model.parameters() == 3_880_099_328 + (262_208 - 262_144) * 2560
    assert (model.heads, model.kv_heads, model.windowed_layers) == (8, 4, 29)


@pytest.mark.parametrize(
    ("outer", "inner", "family"),
    [
        ({"model_type": "llava"}, {"model_type": "llama"}, "llama"),
        ({"model_type": "mistral3"}, {"model_type": "mistral"}, "mistral"),
        ({"model_type": "qwen2_5_vl"}, {"model_type": "qwen2_5_vl_text"}, "qwen2"),
        ({"model_type": "qwen3_vl"}, {"model_type": "qwen3_vl_text"}, "qwen3"),
        ({"model_type": "qwen2_vl", **LLAMA_COUNTS}, None, "qwen2"),
    ],
)
def test_other_multimodal_models_name_their_language_model(
    outer: dict[str, Any], inner: dict[str, Any] | None, family: str
) -> None:
    nested = {} if inner is None else {"text_config": {**LLAMA_COUNTS, **inner}}
    alone = read({**LLAMA_COUNTS, "model_type": family})
    assert read({**outer, **nested, "vision_config": {"hidden_size": 1}}) == alone


@pytest.mark.parametrize("text", [{"model_type": "mllama_text_model"}, {"model_type": 3}, [], "x"])
def test_a_multimodal_model_without_a_known_language_model_is_named(text: object) -> None:
    with pytest.raises(InputError, match='model_type "mllama" is not known'):
        read({"model_type": "mllama", "text_config": text})


def test_the_name_is_that_of_the_hub_or_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "my-llama"
    folder.mkdir()
    path = folder / "config.json"
    path.write_text(json.dumps(LLAMA))
    assert read_config(path).architecture.name == "my-llama"
    path.write_text(json.dumps({**LLAMA, "_name_or_path": "meta-llama/Llama-2-7b-hf"}))
    assert read_config(path).architecture.name == "Llama-2-7b-hf"
    path.write_text(json.dumps({**LLAMA, "_name_or_path": "/content/output"}))
    assert read_config(path.rename(folder / "seven.json")).architecture.name == "seven"


def test_a_large_model_takes_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    peaks = []
    for name in ("gpt2", "Llama-3.1-405B"):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(CONFIGS[name][0]))
        read_config(path).architecture.parameters()
        tracemalloc.start()
        read_config(path).architecture.parameters()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
    assert peaks[1] < 2**20


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("hidden_size", None, "does not state d_model or hidden_size"),
        ("hidden_size", -4096, "hidden_size is -4096, not between 1"),
        ("hidden_size", 0, "hidden_size is 0"),
        ("hidden_size", 10**30, "hidden_size is 10000000000000…000000000000000, not"),
        ("hidden_size", 10**400, "hidden_size is 1000"),
        ("hidden_size", "4096", "hidden_size is a text, not a whole number"),
        ("hidden_size", 4096.5, "hidden_size is 4096.5, not a whole number"),
        ("hidden_size", True, "hidden_size is true or false, not a whole number"),
        ("hidden_size", [4096], "hidden_size is a list"),
        ("hidden_size", math.nan, "hidden_size is nan"),
        ("hidden_size", 4000, "hidden size 4000 is no multiple of its 96 heads"),
        ("vocab_size", None, "does not state vocab_size"),
        ("num_hidden_layers", 10**6, "num_hidden_layers is 1000000, not between 1 and 10,000"),
        ("num_key_value_heads", 7, "96 query heads cannot share 7 key and value heads evenly"),
        ("max_position_embeddings", 0, "max_position_embeddings is 0"),
        ("tie_word_embeddings", "yes", "tie_word_embeddings is a text, not true or false"),
        ("model_type", "rwkv7", 'model_type "rwkv7" is not known'),
        ("model_type", None, "states no model_type"),
        ("model_type", 7, "states no model_type"),
    ],
)
def test_a_field_that_is_wrong_is_named(field: str, value: object, reason: str) -> None:
    values = {**LLAMA, "num_attention_heads": 96, "hidden_size": 9216, field: value}
    with pytest.raises(InputError) as caught:
        read(values)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", ["Qwen2-57B-A14B", "Qwen3-30B-A3B", "deepseek-ai/DeepSeek-V3"])
def test_experts_that_are_narrower_than_a_dense_block_state_their_width(name: str) -> None:
    values = {k: v for k, v in CONFIGS[name][0].items() if k != "moe_intermediate_size"}
    with pytest.raises(InputError, match="does not state moe_intermediate_size"):
        read(values)


def test_an_unknown_architecture_is_told_the_nearest_that_are_known() -> None:
    with pytest.raises(InputError, match=r'"qwen3_5" is not known; .* such as qwen3, qwen3_moe'):
        read({"model_type": "qwen3_5"})


@pytest.mark.parametrize("kind", ["bert", "modernbert", "t5", "vit"])
def test_what_generates_no_tokens_is_for_another_command(kind: str) -> None:
    with pytest.raises(InputError, match=f"{kind} is no decoder .*; export it to ONNX"):
        read({"model_type": kind, "vocab_size": 30522})


def test_what_a_multimodal_file_leaves_out_is_that_of_the_class() -> None:
    text = {"model_type": "llama", "max_position_embeddings": 4096, "vocab_size": 32064}
    model = read({"model_type": "llava", "text_config": text, "vision_config": {}})
    assert (model.parameters(), model.max_context) == (6_738_939_904, 4096)
    # A null is what the class has, and the class of LLaVA without a word is Llama's.
    del text["model_type"]
    assert read({"model_type": "llava", "text_config": {**text, "hidden_size": None}}) == model


@pytest.mark.parametrize(
    ("values", "family"),
    [
        ({"model_type": "internvl_chat", "llm_config": {"model_type": "qwen2"}}, "qwen2"),
        ({"model_type": "deepseek_vl", "language_config": {"model_type": "llama"}}, "llama"),
        ({"model_type": "idefics2", "text_config": {"vocab_size": 32003}}, "mistral"),
        ({"model_type": "llava_mistral", **LLAMA_COUNTS}, "mistral"),
    ],
)
def test_a_language_model_may_lie_elsewhere(values: dict[str, Any], family: str) -> None:
    assert read(values).family == family


def test_layers_that_a_file_lists_are_as_many_as_it_states() -> None:
    values = {**CONFIGS["gemma-2-9b"][0], "layer_types": ["full_attention"] * 41}
    with pytest.raises(InputError, match="layer_types lists 41 of 42 layers"):
        read(values)


def test_a_width_of_all_layers_may_be_a_list_of_one_number() -> None:
    values = CONFIGS["google/gemma-3n-E2B"][0]
    assert read(values).feed_forward == 8192
    with pytest.raises(InputError, match="intermediate_size is a list"):
        read({**values, "intermediate_size": [8192] * 29 + [4096]})


def test_a_latent_cache_is_a_vector_and_a_rotary_key_a_token() -> None:
    # DeepSeek-V2, section 2.1: 512 + 64 elements a token and layer.
    assert read(CONFIGS["deepseek-ai/DeepSeek-V3"][0]).kv_elements(1000) == 61 * 576 * 1000


def test_a_state_takes_the_same_memory_at_each_length() -> None:
    mamba = read(CONFIGS["mistralai/Mamba-Codestral-7B-v0.1"][0])
    assert mamba.kv_elements(1) == mamba.kv_elements(10**6) == 0
    # 8192 channels of 128, and the three last inputs of a convolution of 10240.
    assert mamba.state_elements() == 64 * (8192 * 128 + 3 * 10240)
    hybrid = read(CONFIGS["ai21labs/Jamba-v0.1"][0])
    assert (hybrid.attention_layers, hybrid.sparse_layers) == (4, 16)
    assert hybrid.kv_elements(100) == 4 * 2 * 100 * 1024


def test_layers_that_share_a_cache_keep_none() -> None:
    # The last 10 of 30 read the keys of earlier ones, of which 4 see all and 16 have a window.
    model = read(CONFIGS["google/gemma-3n-E2B"][0])
    assert model.kv_elements(8192) == 2 * 512 * (4 * 8192 + 16 * 512)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("Mixtral-8x7B", "num_experts_per_tok", 9),
        ("Qwen3-30B-A3B", "mlp_only_layers", 3),
        ("gemma-2-2b", "layer_types", "full_attention"),
        ("falcon-7b", "multi_query", 1),
        ("whisper-tiny", "encoder_layers", None),
        ("opt-350m", "word_embed_proj_dim", -512),
    ],
)
def test_a_field_of_a_family_is_checked_too(name: str, field: str, value: object) -> None:
    with pytest.raises(InputError):
        read({**CONFIGS[name][0], field: value})


_FILES = {
    "tokenizer.json": (b'{"version": "1.0", "truncation": null, "added_tokens": []}', "tokenizer"),
    "tokenizer_config.json": (b'{"tokenizer_class": "LlamaTokenizer"}', "of a tokenizer"),
    "generation_config.json": (b'{"bos_token_id": 1, "eos_token_id": 2}', "of generation"),
    "model.safetensors.index.json": (b'{"metadata": {}, "weight_map": {}}', "weight files"),
    "adapter_config.json": (b'{"peft_type": "LORA"}', "adapter"),
    "vocab.json": (b'{"!": 0}', "no model_type"),
    "model.safetensors": (
        (64).to_bytes(8, "little") + b'{"w":{"dtype":"F16","shape":[1]}}',
        "it is a safetensors file of weights",
    ),
    "model.gguf": (b"GGUF\x03\0\0\0", "GGUF"),
    "pytorch_model.bin": (b"PK\x03\x04rest", "PyTorch checkpoint"),
    "empty.json": (b"", "is not JSON"),
    "list.json": (b"[1]", "holds a list"),
    "broken.json": (b'{"model_type": "llama"', "is not JSON"),
    "nan.json": (b'{"model_type": "llama", "hidden_size": NaN}', "holds NaN"),
    "inf.json": (b'{"hidden_size": 1e999}', "too large"),
    "digits.json": (b'{"hidden_size": ' + b"9" * 5000 + b"}", "number that is too long"),
    "deep.json": (b'{"a":' * 100_000, "nested too deeply"),
    "twice.json": (b'{"model_type": "llama", "model_type": "opt"}', "twice"),
    "latin.json": (b'{"model_type": "\xff"}', "not text in UTF-8"),
}


@pytest.mark.parametrize("name", _FILES)
def test_another_file_is_named(name: str, tmp_path: Path) -> None:
    content, reason = _FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_config(path)
    assert reason in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_file_of_many_bytes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    with path.open("wb") as file:
        file.write(b'{"version": "1.0", "added_tokens": [')
        file.truncate(2**36)
    with pytest.raises(InputError, match="it is a tokenizer"):
        read_config(path)
    with path.open("wb") as file:
        file.truncate(2**36)
    with pytest.raises(InputError, match=f"more than the {MAX_BYTES:,} allowed"):
        read_config(path)
    with pytest.raises(InputError, match="no such file"):
        read_config(tmp_path / "none.json")
    with pytest.raises(InputError, match="it is a folder"):
        read_config(tmp_path)


_KEYS = sorted({key for values, _ in CONFIGS.values() for key in values} - {"model_type"})
_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(0, 9) | st.text(max_size=3), max_size=3),
)


@given(st.sampled_from(sorted(FAMILIES)), st.dictionaries(st.sampled_from(_KEYS), _VALUES))
def test_any_fields_give_an_architecture_or_one_sentence(
    family: str, changed: dict[str, Any]
) -> None:
    values = next(v for v, _ in CONFIGS.values() if v["model_type"] == family)
    try:
        model = read({**values, **changed})
    except InputError:
        return
    assert 0 < model.active_parameters() <= model.parameters() < 2**80
    assert model.kv_elements(model.max_context) + model.state_elements() > 0
    assert model.heads % model.kv_heads == 0
