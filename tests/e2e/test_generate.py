"""``ctm generate`` as a process: the contract that scripts depend on."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from predictor.language.config import architecture_of
from predictor.language.weights import weight_format
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.generation.records import GenerationRequest, MeasuredRate
from predictor.services.history.history import open_history
from predictor.services.models.language import read_language_model
from tests.support.gguf_files import llama_fields, tensors_of, write_gguf
from tests.support.networks import decoders
from tests.support.networks.decoders import Size
from tests.support.public_models import CONFIGS

Run = Callable[..., subprocess.CompletedProcess[str]]

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
}
KEYS = {
    "model",
    "device",
    "runtime",
    "weights",
    "prompt_tokens",
    "new_tokens",
    "ttft_ms",
    "ttft_low80_ms",
    "ttft_high80_ms",
    "prefill_tokens_per_s",
    "decode_tokens_per_s",
    "decode_low80_tokens_per_s",
    "decode_high80_tokens_per_s",
    "memory_mb",
    "fits",
    "basis",
    "evidence",
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "llama" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA), encoding="utf-8")
    return path


def test_a_quantised_configuration_is_in_its_format_where_it_is_loaded_as_it_is(
    ctm: Run, config: Path
):
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    config.write_text(json.dumps({**LLAMA, "quantization_config": quantised}), encoding="utf-8")
    run = ("generate", config, "--device", "a100-pcie-80gb", "--json")
    for more, weights in ((("--runtime", "vllm"), "int4-128"), ((), "q4_k_m")):
        (entry,) = json.loads(ctm(*run, *more).stdout)["results"]
        assert entry["weights"] == weights
    broken = {**LLAMA, "quantization_config": {"quant_method": "squeeze9"}}
    config.write_text(json.dumps(broken), encoding="utf-8")
    result = ctm(*run, "--runtime", "vllm", "--min-tokens-per-s", "1")
    assert result.returncode == 2
    assert 'its quantisation method "squeeze9" is not known' in result.stderr
    assert ctm(*run, "--runtime", "vllm", "--weights", "fp8").returncode == 0


def test_a_gguf_file_is_in_its_format_under_each_runtime(ctm: Run, tmp_path: Path):
    model = architecture_of(CONFIGS["Llama-3-8B"][0], "Llama-3-8B")
    tensors = tensors_of(model, weight_format("q5_k_m"))
    path = write_gguf(tmp_path / "llama.gguf", llama_fields(model, general__file_type=17), tensors)
    run = ("generate", path, "--device", "rtx3060", "--json")
    for more in ((), ("--runtime", "vllm")):
        (entry,) = json.loads(ctm(*run, *more).stdout)["results"]
        assert (entry["weights"], entry["longest_context"] > 0) == ("q5_k_m", True)
        assert entry["model"] == "Llama-3-8B"
    os.truncate(path, 1000)
    result = ctm(*run)
    assert (result.returncode, "cut short within its header" in result.stderr) == (2, True)


def test_a_usual_run_fits_a_short_context(ctm: Run, config: Path):
    config.write_text(json.dumps(CONFIGS["whisper-tiny"][0]), encoding="utf-8")
    result = ctm("generate", config, "--device", "rtx3060", "--json")
    assert result.returncode == 0, result.stderr
    (entry,) = json.loads(result.stdout)["results"]
    assert (entry["prompt_tokens"], entry["new_tokens"], entry["longest_context"]) == (
        224,
        112,
        448,
    )
    stated = ctm("generate", config, "--device", "rtx3060", "--prompt", "500")
    assert (stated.returncode, "its context has 448 tokens" in stated.stderr) == (2, True)


def test_the_document_has_the_keys_of_its_schema(ctm: Run, config: Path):
    done = ctm("generate", config, "--device", "rtx3060", "--prompt", "64", "--new", "8", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["schema"] == "ctm-generation/1"
    (result,) = document["results"]
    assert result.keys() >= KEYS
    assert result["device"] == "rtx3060"
    assert result["runtime"] == "llama.cpp"
    assert (result["prompt_tokens"], result["new_tokens"]) == (64, 8)
    assert result["ttft_low80_ms"] < result["ttft_ms"] < result["ttft_high80_ms"]
    assert result["fits"] is True
    assert result["basis"] == "zero-shot"


def test_the_text_names_devices_the_fastest_first(ctm_process: Run, config: Path):
    devices = ("--device", "rpi5", "--device", "rtx4090", "--device", "hailo-8")
    done = ctm_process("generate", config.parent, *devices)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("llama: 8.03 B parameters; 512 prompt tokens, 128 new ones")
    places = [done.stdout.index(name) for name in ("RTX 4090", "Raspberry Pi 5", "hailo-8: no")]
    assert places == sorted(places)


def test_what_holds_the_model_comes_first_and_the_others_say_why_not(ctm: Run, tmp_path: Path):
    # Over 14 GiB of weights: the small card would be faster than the board that holds them, and of
    # the processor's board the memory is not known.
    path = tmp_path / "wide" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA), encoding="utf-8")
    devices = [part for name in DEVICES for part in ("--device", name)]
    arguments = ("generate", path, *devices, "--weights", "fp16", "--runtime", "llama.cpp")
    done = ctm(*arguments)
    results = json.loads(ctm(*arguments, "--json").stdout)["results"]

    assert [each["device"] for each in results] == list(DEVICES), "the document keeps the order"
    names = {each.id: each.name for each in load_catalogue().devices}
    ranks = {True: 0, None: 1, False: 2}
    rates = {
        each["device"]: (ranks[each["fits"]], -each["decode_tokens_per_s"]) for each in results
    }
    assert {rank for rank, _ in rates.values()} == set(ranks.values())
    order = sorted(rates, key=lambda device: rates[device])
    assert order != sorted(rates, key=lambda device: rates[device][1]), "not by speed alone"
    table = done.stdout.split("\n\n")[1].splitlines()[1:]
    assert [row.split("  ")[0] for row in table] == [names[device] for device in order]
    for each in results:
        reason = f"{names[each['device']]} does not hold it: it needs "
        assert (reason in done.stdout) == (each["fits"] is False)


DEVICES = ("rtx3060", "rtx4090", "rpi5", "jetson-agx-orin-gpu")


@pytest.mark.parametrize(("least", "code"), [("10", 0), ("1000", 1)])
def test_a_missed_rate_is_exit_code_1(ctm: Run, config: Path, least: str, code: int):
    done = ctm("generate", config, "--device", "rtx3060", "--min-tokens-per-s", least)
    assert done.returncode == code


def test_a_model_that_does_not_fit_misses_its_rate(ctm: Run, config: Path):
    done = ctm("generate", config, "--device", "rtx3060", "--weights", "fp32",
               "--min-tokens-per-s", "1")  # fmt: skip
    assert done.returncode == 1
    assert "Where it does not fit" in done.stdout


def test_a_measured_rate_calibrates(ctm: Run, config: Path):
    arguments = ("generate", config, "--device", "rtx3060", "--json")
    before = json.loads(ctm(*arguments).stdout)["results"][0]
    after = json.loads(ctm(*arguments, "--measured", "rtx3060=40").stdout)["results"][0]
    assert abs(after["decode_tokens_per_s"] / 40 - 1) < 0.06
    assert after["decode_tokens_per_s"] < before["decode_tokens_per_s"]
    assert after["basis"] == "probed"


def test_a_rate_that_is_kept_counts_unless_it_is_left_out(ctm: Run, config: Path, tmp_path: Path):
    store = tmp_path / "rates.sqlite"
    card = load_catalogue().by_id["rtx3060"]
    run = GenerationRequest(weights="q4_k_m", runtime="llama.cpp")
    with open_history(store) as history:
        model = read_language_model(config).architecture
        history.token_rates.keep(MeasuredRate(card, 40.0, model, run))

    def rate_and_evidence(*more: str) -> tuple[float, str]:
        done = ctm("generate", config, "--device", card.id, "--store", store, "--json", *more)
        (result,) = json.loads(done.stdout)["results"]
        return result["decode_tokens_per_s"], result["evidence"]

    kept, evidence = rate_and_evidence()
    assert abs(kept / 40 - 1) < 0.06
    assert evidence.startswith("measured by you on this device")
    usual, evidence = rate_and_evidence("--no-own")
    assert abs(usual / kept - 1) > 0.2
    assert "measured by you" not in evidence
    # What is given now takes the place of what is kept.
    assert abs(rate_and_evidence("--measured", "rtx3060=50")[0] / 50 - 1) < 0.06


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--device", "hailo-8"), "no runtime of language models is known for Hailo-8"),
        (("--device", "rtx3060", "--runtime", "genie"), "genie does not run on"),
        (("--device", "rtx3060", "--weights", "q9"), "there is no such format"),
        (("--device", "rtx3060", "--prompt", "9000"), "its context has 8,192 tokens"),
        (("--device", "rtx3060", "--prompt", "0"), "not a whole number from 1"),
        (("--device", "rtx3060", "--measured", "rtx3060"), "DEVICE=TOKENS_PER_S"),
        (("--device", "rtx3060", "--measured", "rtx3060=fast"), "no number of tokens a second"),
        (("--device", "rtx3060", "--measured", "rtx3060=1", "--measured", "rtx3060=2"), "twice"),
        (("--device", "no-such-device-at-all"), "no device of the catalogue"),
    ],
)
def test_wrong_input_is_one_sentence(
    ctm: Run, config: Path, arguments: tuple[str, ...], words: str
):
    done = ctm("generate", config, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("config.json", b'{"model_type": "zebra"}', "zebra"),
        ("config.json", b"{}", "config.json"),
        ("tokenizer.json", b'{"added_tokens": []}', "tokenizer"),
        ("model.safetensors", b"\x10\x00\x00\x00\x00\x00\x00\x00{}", "safetensors"),
    ],
)
def test_another_file_is_one_sentence(
    ctm: Run, tmp_path: Path, name: str, content: bytes, words: str
):
    path = tmp_path / name
    path.write_bytes(content)
    done = ctm("generate", path, "--device", "rtx3060")
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_decoder_in_onnx_has_its_own_formats(ctm: Run, tmp_path: Path):
    path = tmp_path / "decoder.onnx"
    decoders.save(decoders.in_int8_cache(decoders.genai(Size()).model()), path)
    asked = ("generate", path, "--device", "rpi5", "--runtime", "onnxruntime-genai", "--json")
    done = ctm(*asked)
    assert (done.returncode, done.stderr) == (0, "")
    (result,) = json.loads(done.stdout)["results"]
    assert (result["weights"], result["kv_precision"]) == ("fp16", "int8")
    assert (result["runtime"], result["basis"]) == ("onnxruntime-genai", "analytic")
    (other,) = json.loads(ctm(*asked, "--kv-precision", "fp16").stdout)["results"]
    assert other["kv_cache_mb"] == 2 * result["kv_cache_mb"]


def test_the_answer_is_written_as_a_report(ctm: Run, config: Path, tmp_path: Path):
    path = tmp_path / "llama.md"
    done = ctm("generate", config, "--device", "rtx3060", "--report", path)
    assert (done.returncode, done.stderr) == (0, "")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Tokens a second of llama")
    assert "tokens bound by reading the weights" in text
    refused = ctm("generate", config, "--device", "rtx3060", "--report", tmp_path / "llama.docx")
    assert refused.returncode == 2
    assert "llama.docx" in refused.stderr
