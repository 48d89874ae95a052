"""GGUF files: models as llama.cpp writes them; files that are damaged or contradict themselves."""

from __future__ import annotations

import struct
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.language.config import architecture_of
from predictor.language.ggml_types import GGML_TYPES
from predictor.language.gguf import read_gguf
from predictor.language.gguf_model import read_gguf_model
from predictor.language.rates import Group, group_of
from predictor.language.stored import DescribedModel
from predictor.language.weights import WeightFormat, has_format, weight_format
from tests.support.decoder_architectures import EXPERTS, TINY
from tests.support.gguf_files import gguf_header, llama_fields, tensors_of, write_gguf
from tests.support.public_models import CONFIGS

Q4_K_M = weight_format("q4_k_m")


def form(described: DescribedModel) -> WeightFormat:
    assert described.stored is not None
    assert isinstance(described.stored.form, WeightFormat)
    return described.stored.form


def tiny(path: Path, **more: object) -> Path:
    return write_gguf(path, llama_fields(TINY, **more), tensors_of(TINY, Q4_K_M))


def test_a_public_model_has_its_counts_and_the_bytes_of_its_tensors(tmp_path: Path) -> None:
    model = architecture_of(CONFIGS["Llama-3-8B"][0], "Llama 3 8B")
    fields = llama_fields(model, general__file_type=15)
    path = write_gguf(tmp_path / "x.gguf", fields, tensors_of(model, Q4_K_M))
    described = read_gguf_model(path)
    assert described.architecture == model
    stored = form(described)
    assert (stored.name, stored.matrices) == ("q4_k_m", "q4_k")
    # What llama.cpp prints of the file that it makes: 4.58 GiB.
    assert stored.model_bytes(model) == Q4_K_M.model_bytes(model)
    assert stored.model_bytes(model) / 2**30 == pytest.approx(4.58, abs=0.01)
    for product in model.products():
        assert stored.bits(model, product) == pytest.approx(Q4_K_M.bits(model, product))
    assert path.stat().st_size > 4.9e9


def test_types_that_no_rule_knows_count_as_the_file_has_them(tmp_path: Path) -> None:
    wide = replace(TINY, hidden=1024, feed_forward=2048, vocabulary=4096)
    mixed = [
        (name, shape, "iq3_xxs" if "ffn" in name else kind)
        for name, shape, kind in tensors_of(wide, Q4_K_M)
    ]
    path = write_gguf(tmp_path / "x.gguf", llama_fields(wide, general__file_type=23), mixed)
    described = read_gguf_model(path)
    stored = form(described)
    bits = {p.name: stored.bits(described.architecture, p) for p in wide.products()}
    assert bits["ffn_up"] == 3.0625
    assert bits["attn_k"] == 4.5
    assert (stored.name, group_of(stored)) == ("iq3_xxs", Group.SUPER_BLOCKS)
    # The name is one that a user, or a stored rate, may give.
    assert weight_format(stored.name).matrices == "iq3_xxs"
    header = read_gguf(path)
    assert stored.model_bytes(wide) == sum(tensor.bytes for tensor in header.tensors)


@pytest.mark.parametrize(
    "kind", sorted({kind.name for kind in GGML_TYPES.values()} - {"i8", "i16", "i32", "i64", "f64"})
)
def test_a_type_of_weights_is_a_format_that_a_user_or_a_stored_rate_may_name(kind: str) -> None:
    assert has_format(kind)


def test_experts_and_joined_matrices_are_read(tmp_path: Path) -> None:
    tensors = []
    for name, shape, kind in tensors_of(replace(EXPERTS, family="mixtral"), weight_format("q8_0")):
        if "attn_q" in name:
            tensors.append((name.replace("attn_q", "attn_qkv"), (256, 512), "q6_k"))
        elif not name.endswith(("attn_k.weight", "attn_v.weight")):
            tensors.append((name, shape, kind))
    fields = llama_fields(EXPERTS, llama__expert_count=8, llama__expert_used_count=2)
    fields["llama.feed_forward_length"] = 512
    described = read_gguf_model(write_gguf(tmp_path / "x.gguf", fields, tensors))
    assert described.architecture == replace(EXPERTS, name="experts", family="mixtral")
    bits = {p.name: form(described).bits(EXPERTS, p) for p in EXPERTS.products()}
    assert bits["attn_q"] == bits["attn_k"] == bits["attn_v"] == 6.5625
    assert bits["ffn_up_exps"] == 8.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "more"),
    [
        (
            "deepseek-ai/DeepSeek-V2-Lite",
            "deepseek2",
            {
                "attention.kv_lora_rank": 512,
                "attention.key_length_mla": 192,
                "attention.value_length_mla": 128,
                "rope.dimension_count": 64,
                "expert_count": 64,
                "expert_used_count": 6,
                "expert_feed_forward_length": 1408,
                "expert_shared_count": 2,
            },
        ),
        (
            "LiquidAI/LFM2-1.2B",
            "lfm2",
            {
                "attention.head_count_kv": [8 * (i in {2, 5, 8, 10, 12, 14}) for i in range(16)],
                "shortconv.l_cache": 3,
            },
        ),
        (
            "mistralai/Mamba-Codestral-7B-v0.1",
            "mamba2",
            {
                "ssm.state_size": 128,
                "ssm.conv_kernel": 4,
                "ssm.time_step_rank": 128,
                "ssm.group_count": 8,
                "ssm.inner_size": 8192,
            },
        ),
        (
            "gemma-3-1b",
            "gemma3",
            {"attention.sliding_window": 512},
        ),
        (
            "google/gemma-3n-E2B",
            "gemma3n",
            {
                "attention.sliding_window": 512,
                "attention.sliding_window_pattern": [(i + 1) % 5 > 0 for i in range(30)],
                "attention.shared_kv_layers": 10,
                "feed_forward_length": [8192] * 30,
                "altup.num_inputs": 4,
                "embedding_length_per_layer_input": 256,
            },
        ),
    ],
)
def test_other_families_read_as_their_configuration(
    name: str, kind: str, more: dict[str, object], tmp_path: Path
) -> None:
    model = architecture_of(CONFIGS[name][0], name)
    placed = tensors_of(model, weight_format("q8_0"))
    if model.experts:
        # The first layer is dense, and experts lie in the others.
        sparse = range(1, model.layers)
        placed = [t for t in placed if "exps" not in t[0] and "_inp" not in t[0]]
        for product in model.products():
            if product.layers == len(sparse):
                shape = (product.inner, product.columns, product.copies)
                placed += [(f"blk.{i}.{product.name}.weight", shape, "f16") for i in sparse]
    fields = llama_fields(model, kind) | {f"{kind}.{key}": value for key, value in more.items()}
    if kind == "mamba2":
        del fields["mamba2.attention.head_count"], fields["mamba2.attention.head_count_kv"]
    described = read_gguf_model(write_gguf(tmp_path / "x.gguf", fields, placed))
    assert described.architecture == replace(model, family=described.architecture.family)
    assert described.stored is not None
    assert described.stored.form_for("llama.cpp") is described.stored.form


def test_a_split_model_is_read_with_all_its_parts(tmp_path: Path) -> None:
    tensors = tensors_of(TINY, Q4_K_M)
    parts = [tmp_path / f"tiny-{number:05}-of-00002.gguf" for number in (1, 2)]
    fields = llama_fields(TINY, split__count=2, split__no=0)
    write_gguf(parts[0], fields, tensors[:7])
    with pytest.raises(InputError, match=r"part 2 of 2 .*tiny-00002-of-00002.gguf, is missing"):
        read_gguf_model(parts[0])
    write_gguf(parts[1], {"split.count": 2, "split.no": 1}, tensors[7:])
    for part in parts:
        assert read_gguf_model(part).architecture == TINY
    renamed = parts[0].rename(tmp_path / "tiny.gguf")
    with pytest.raises(InputError, match="one of 2 parts of a model, and its name does not say"):
        read_gguf_model(renamed)


def test_half_a_million_texts_take_little_time(tmp_path: Path) -> None:
    fields = llama_fields(TINY, tokenizer__ggml__merges=["a b"] * 500_000)
    path = write_gguf(tmp_path / "x.gguf", fields, tensors_of(TINY, Q4_K_M))
    started = time.thread_time()
    assert read_gguf_model(path).architecture == TINY
    assert time.thread_time() - started < 1


def test_a_file_that_is_cut_short_is_said(tmp_path: Path) -> None:
    content = tiny(tmp_path / "x.gguf").read_bytes()
    cut = tmp_path / "cut.gguf"
    for size in (0, 3, 4, 10, 30, 100, 5000, 20_000):
        cut.write_bytes(content[:size])
        with pytest.raises(InputError, match=r"no GGUF file|cut short") as caught:
            read_gguf_model(cut)
        assert str(caught.value).count(". ") == 0
    cut.write_bytes(content[:-1])
    with pytest.raises(InputError, match=f"its tensors end at byte {len(content):,}, and it has"):
        read_gguf_model(cut)


@pytest.mark.parametrize(
    ("fields", "tensors", "reason"),
    [
        ({"general.architecture": "rwkv7"}, None, 'its architecture "rwkv7" is not known'),
        ({"general.architecture": 7}, None, "it states no general.architecture"),
        ({"llama.block_count": 3}, None, "states 3 blocks, and has tensors of 2"),
        ({"llama.context_length": None}, None, "it states no llama.context_length"),
        ({"llama.feed_forward_length": 5120}, None, "tensors have .* its fields make"),
        ({"llama.attention.head_count": 3}, None, "3 query heads cannot share 2 key"),
        ({"general.alignment": 0}, None, ""),
        ({}, [("token_embd.weight", (256, 10), "q9_z")], "has the type 99, which is not known"),
        ({}, [("token_embd.weight", (255, 10), "q4_k")], "the shape 255×10, which q4_k cannot"),
        ({}, [("token_embd.weight", (), "f32")], "the shape none, which f32 cannot"),
        ({}, [("w", (1, 1, 1, 1, 1), "f32")], "has 5 dimensions"),
        ({}, [("blk.0.w", (1,), "f32"), ("blk.1.w", (1,), "f32")], "no matrix token_embd.weight"),
        (
            {},
            [("blk.0.w", (1,), "f32"), ("blk.7.w", (1,), "f32")],
            "its blocks have gaps",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(
    fields: dict[str, object], tensors: list[tuple[str, tuple[int, ...], str]] | None, reason: str,
    tmp_path: Path,
) -> None:  # fmt: skip
    stated = {k: v for k, v in (llama_fields(TINY) | fields).items() if v is not None}
    placed = tensors_of(TINY, Q4_K_M) if tensors is None else tensors
    path = write_gguf(tmp_path / "x.gguf", stated, placed)
    if not reason:
        assert read_gguf_model(path).architecture == TINY
        return
    with pytest.raises(InputError, match=reason) as caught:
        read_gguf_model(path)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"GGUF" + struct.pack("<I", 1), "of version 1, not 2 or 3"),
        (b"GGUF" + struct.pack(">I", 3), "for big-endian machines"),
        (b"GGML" + bytes(20), "it is no GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), "cut short"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**62), "header is longer"),
        (
            b"GGUF" + struct.pack("<IQQQ1sI", 3, 0, 1, 1, b"a", 77),
            "the type 77, which GGUF has not",
        ),
        (
            b"GGUF" + struct.pack("<IQQQ1sI", 3, 0, 1, 1, b"a", 9) + struct.pack("<IQ", 9, 1) * 4,
            "nested too deeply",
        ),
        (b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"a", 9, 4, 2**61), "header is longer"),
    ],
)
def test_a_hostile_header_takes_no_memory(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(InputError, match=reason):
        read_gguf_model(path)


HEADER = gguf_header(llama_fields(replace(TINY, vocabulary=16)), tensors_of(TINY, Q4_K_M))[0]


@pytest.mark.slow
@settings(max_examples=200)
@given(st.integers(4, len(HEADER) - 1), st.binary(min_size=1, max_size=8))
def test_any_bytes_give_a_model_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, at: int, changed: bytes
) -> None:
    path = tmp_path_factory.mktemp("gguf") / "x.gguf"
    path.write_bytes(HEADER[:at] + changed + HEADER[at + len(changed) :] + bytes(2**21))
    try:
        described = read_gguf_model(path)
    except InputError:
        return
    assert 0 < described.architecture.parameters() < 2**80
    assert form(described).model_bytes(described.architecture) > 0
