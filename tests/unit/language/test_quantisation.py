"""Formats of weights that configurations state, and contexts of scaled positions."""

import json
from pathlib import Path
from typing import Any

import pytest

from predictor.core.errors import InputError
from predictor.language.config import described_model, read_config
from predictor.language.products import Kind
from predictor.language.stored import StoredWeights
from predictor.language.weights import BITS, WeightFormat
from tests.support.public_models import CONFIGS

LLAMA = {**CONFIGS["Llama-3-8B"][0], "max_position_embeddings": 8192}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}


def stored(quantised: object, values: dict[str, Any] = LLAMA) -> StoredWeights | None:
    return described_model({**values, "quantization_config": quantised}, "config.json").stored


def form(quantised: object, values: dict[str, Any] = LLAMA) -> WeightFormat:
    weights = stored(quantised, values)
    assert weights is not None
    result = weights.form_for("vllm")
    assert result is not None
    return result


def compressed(**weights: object) -> dict[str, Any]:
    groups = {"group_0": {"targets": ["Linear"], "weights": weights}}
    return {"quant_method": "compressed-tensors", "config_groups": groups, "ignore": ["lm_head"]}


@pytest.mark.parametrize(
    ("quantised", "name", "megabytes"),
    [
        # Tables of 1.05 GB in 16 bits, norms of 0.5 MB, and 6 979 321 856 weights of a format.
        (GPTQ, "int4-128", 5727.9),
        ({"quant_method": "awq", "w_bit": 4, "q_group_size": 128}, "int4-128", 5727.9),
        ({**GPTQ, "bits": 3}, "int3-128", 4848.6),
        ({**GPTQ, "bits": 8, "group_size": -1}, "int8", 9081.2),
        ({**GPTQ, "group_size": -1}, "int4-column", 5591.5),
        ({**GPTQ, "quant_method": "auto-round", "group_size": 64}, "int4-64", 5864.2),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8", 9081.2),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8", 9081.2),
        ({"load_in_4bit": True}, "nf4", 6027.7),
        ({"load_in_4bit": True, "bnb_4bit_use_double_quant": True}, "nf4", 5702.3),
        (compressed(num_bits=8, type="float", strategy="channel"), "fp8", 9081.2),
        (compressed(num_bits=8, type="int", strategy="channel"), "int8", 9081.2),
        (compressed(num_bits=4, type="int", strategy="group", group_size=128), "int4-128", 5727.9),
        (compressed(num_bits=4, type="float", strategy="tensor_group", group_size=16), "nvfp4",
         6027.7),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8", 9081.2),
        ({"quant_method": "hqq", "quant_config": {"weight_quant_params":
          {"nbits": 4, "group_size": 64}}}, "int4-64", 5864.2),
    ],
)  # fmt: skip
def test_a_method_is_a_format_with_its_bytes(
    quantised: dict[str, Any], name: str, megabytes: float
) -> None:
    model = described_model(LLAMA, "config.json").architecture
    assert form(quantised).name == name
    assert form(quantised).model_bytes(model) / 1e6 == pytest.approx(megabytes, abs=0.1)


def test_a_runtime_with_formats_of_its_own_takes_none() -> None:
    weights = stored(GPTQ)
    assert weights is not None
    assert weights.form_for("llama.cpp") is None
    assert stored(None) is None


def test_mxfp4_is_of_the_experts_alone() -> None:
    values = CONFIGS["gpt-oss-20b"][0]
    model = described_model(values, "config.json").architecture
    quantised = {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]}
    weights = form(quantised, values)
    bits = {p.name: weights.bits(model, p) for p in model.products()}
    assert {name for name, value in bits.items() if value == BITS["mxfp4"]} == {
        "ffn_gate_exps", "ffn_up_exps", "ffn_down_exps"
    }  # fmt: skip
    # The weights of openai/gpt-oss-20b: 13.76 GB.
    assert weights.model_bytes(model) / 1e9 == pytest.approx(13.76, rel=0.01)


@pytest.mark.parametrize(
    ("left_out", "kept"),
    [
        (["model.layers.*.self_attn", "lm_head"], True),
        (["re:.*self_attn.*"], True),
        ([f"model.layers.{layer}.self_attn.o_proj" for layer in range(32)], True),
        (["model.layers.0.self_attn.q_proj"], False),
        ([f"model.layers.{layer}.post_attention_layernorm" for layer in range(32)], False),
        ([f"model.layers.{layer}.mlp.gate" for layer in range(32)], False),
        ([3, None], False),
    ],
)
def test_modules_that_are_left_out_of_all_layers_stay_in_16_bits(
    left_out: list[object], kept: bool
) -> None:
    model = described_model(LLAMA, "config.json").architecture
    weights = form({**GPTQ, "modules_to_not_convert": left_out})
    bits = {p.kind: weights.bits(model, p) for p in model.products()}
    assert bits[Kind.QKV] == bits[Kind.OUTPUT] == (16 if kept else BITS["int4_128"])
    assert bits[Kind.UP] == BITS["int4_128"]


@pytest.mark.parametrize(
    ("quantised", "reason"),
    [
        ({"quant_method": "squeeze9"}, 'quantisation method "squeeze9" is not known'),
        ({}, "method of its quantization_config is not known"),
        ({**GPTQ, "bits": 5}, "makes int5_128, which is not known"),
        ({**GPTQ, "bits": "4"}, "its bits is a text, not a whole number"),
        ({**GPTQ, "bits": 10**9}, "its bits is 1000000000, not between 1 and 64"),
        ({"load_in_4bit": True, "load_in_8bit": True}, "load_in_4bit and load_in_8bit both on"),
        ({"quant_method": "bitsandbytes"}, "load_in_4bit and load_in_8bit neither on"),
        (compressed(), "does not state num_bits"),
        ({"quant_method": "compressed-tensors"}, "states no type of weights, not one"),
        (
            {
                "config_groups": {
                    "a": {"weights": {"num_bits": 4, "group_size": 128}},
                    "b": {"weights": {"num_bits": 8}},
                }
            },
            "states int4_128, int8 of weights, not one",
        ),
        ({"quant_method": "modelopt", "quant_algo": "W1"}, "makes W1, which is not known"),
        ("gptq", "its quantization_config is a text, not an object"),
    ],
)
def test_a_format_that_cannot_be_read_is_one_sentence_where_it_counts(
    quantised: object, reason: str
) -> None:
    weights = stored(quantised)
    assert weights is not None
    assert weights.form_for("llama.cpp") is None
    with pytest.raises(InputError) as caught:
        weights.form_for("vllm")
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("scaling", "context"),
    [
        ({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}, 32768),
        ({"type": "yarn", "factor": 4.0}, 32768),
        # As DeepSeek-V3 states it: the context is the scaled one.
        ({"type": "yarn", "factor": 2, "original_max_position_embeddings": 4096}, 8192),
        ({"type": "linear", "factor": 2.0}, 16384),
        ({"type": "dynamic", "factor": 2.5}, 20480),
        ({"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 1024}, 8192),
        ({"type": "longrope", "original_max_position_embeddings": 4096}, 8192),
        ({"type": "mrope", "mrope_section": [16, 24, 24]}, 8192),
        ({"full_attention": {"rope_type": "yarn", "factor": 4.0}}, 32768),
        (None, 8192),
    ],
)
def test_scaled_positions_reach_as_far_as_vllm_takes_them(scaling: object, context: int) -> None:
    for field in ("rope_scaling", "rope_parameters"):
        model = described_model({**LLAMA, field: scaling}, "config.json").architecture
        assert model.max_context == context


def test_gemma_3_states_the_scaled_context() -> None:
    values = {**CONFIGS["gemma-3-1b"][0], "rope_scaling": {"rope_type": "linear", "factor": 8.0}}
    assert described_model(values, "config.json").architecture.max_context == 8192


@pytest.mark.parametrize(
    ("scaling", "reason"),
    [
        ({"type": "yarn", "factor": -4}, "its factor is a number, not a number above 0"),
        ({"type": "yarn", "factor": "4"}, "its factor is a text, not a number above 0"),
        ({"type": "linear", "factor": 1e8}, "its positions are scaled to 819,200,000,000 tokens"),
        ("yarn", "its rope_scaling is a text, not an object"),
    ],
)
def test_a_scaling_that_is_wrong_is_named(scaling: object, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        described_model({**LLAMA, "rope_scaling": scaling}, "config.json")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("quantised", "total", "megabytes"),
    [
        # A few more scales than the format has.
        (GPTQ, 5_736_034_304, 5736.0),
        (None, 16_060_522_496, 16060.5),
        # Float32 is loaded as 16 bits, and more than the decoder is not loaded.
        (None, 32_121_044_992, None),
        (GPTQ, 7_000_000_000, 5727.9),
    ],
)
def test_an_index_beside_the_file_has_the_bytes(
    quantised: object, total: int, megabytes: float | None, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**LLAMA, "quantization_config": quantised}))
    index = {"metadata": {"total_size": total}, "weight_map": {"w": "model-1.safetensors"}}
    path.with_name("model.safetensors.index.json").write_text(json.dumps(index))
    model, weights = read_config(path)
    if megabytes is None:
        assert weights is None
        return
    assert weights is not None
    result = weights.form_for("vllm")
    assert result is not None
    assert result.model_bytes(model) / 1e6 == pytest.approx(megabytes, abs=0.1)


def test_an_index_of_another_size_contradicts_the_quantisation(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**LLAMA, "quantization_config": GPTQ}))
    index = path.with_name("model.safetensors.index.json")
    index.write_text('{"metadata": {"total_size": 16060522496}, "weight_map": {}}')
    weights = read_config(path).stored
    assert weights is not None
    with pytest.raises(InputError, match=r"makes 5.73 GB of its .* index states 16.1 GB"):
        weights.form_for("vllm")
    index.write_text('{"weight_map": {}}')
    assert read_config(path).stored == stored(GPTQ)
