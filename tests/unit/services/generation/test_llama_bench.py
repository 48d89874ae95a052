"""Tokens a second from a file of llama-bench."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.services.generation.llama_bench import read_bench_rate
from predictor.services.generation.records import GenerationRequest
from tests.support.decoder_architectures import LLAMA

PROMPT = {
    "build_commit": "1e2f3a4",
    "model_filename": "models/llama-3-8b.gguf",
    "model_type": "llama 8B Q4_K - Medium",
    "model_size": 4912898304,
    "model_n_params": 8030261248,
    "type_k": "f16",
    "type_v": "f16",
    "n_gpu_layers": 99,
    "n_prompt": 512,
    "n_gen": 0,
    "n_depth": 0,
    "avg_ts": 2210.5,
    "stddev_ts": 3.1,
}
TOKENS = PROMPT | {"n_prompt": 0, "n_gen": 128, "avg_ts": 55.25}
DEEP = TOKENS | {"n_depth": 4096, "avg_ts": 48.5, "type_k": "q8_0"}


def written(folder: Path, *tests: object) -> Path:
    path = folder / "bench.json"
    path.write_text(json.dumps(tests, indent=2), encoding="utf-8")
    return path


def test_the_test_that_generates_gives_rate_and_run(tmp_path: Path) -> None:
    rate, run = read_bench_rate(written(tmp_path, PROMPT, TOKENS), LLAMA, GenerationRequest())

    assert rate == 55.25
    assert (run.prompt, run.new, run.depth, run.batch) == (1, 128, 65, 1)
    assert (run.weights, run.kv_precision) == ("q4_k_m", "fp16")


@pytest.mark.parametrize(("context", "expected"), [(100, 55.25), (4000, 48.5)])
def test_the_nearest_cache_counts(tmp_path: Path, context: int, expected: float) -> None:
    request = GenerationRequest(context=context)
    rate, run = read_bench_rate(written(tmp_path, TOKENS, DEEP), LLAMA, request)

    assert rate == expected
    assert run.kv_precision == ("q8_0" if expected < 50 else "fp16")


@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        ("llama 7B mostly Q8_0", "q8_0"),
        ("llama 8B F16", "f16"),
        ("qwen2 8B Q4_K - Small", "q4_k_s"),
        ("llama 8B IQ4_XS - 4.25 bpw", "iq4_xs"),
    ],
)
def test_formats_by_the_names_of_llama_bench(tmp_path: Path, kind: str, weights: str) -> None:
    path = written(tmp_path, TOKENS | {"model_type": kind})
    assert read_bench_rate(path, LLAMA, GenerationRequest()).request.weights == weights


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        ([PROMPT], "no test of it generates tokens"),
        ([TOKENS | {"model_n_params": 3.2e9}], "of a model of 3.2 B parameters"),
        ([TOKENS | {"model_type": "llama 8B ?"}], "format of the weights is not known"),
        ([TOKENS | {"avg_ts": 0}], "avg_ts is 0 tokens a second"),
        ([TOKENS | {"avg_ts": "fast"}], "not a number"),
        ([{"n_prompt": 1}], "no n_gen"),
        ([7], "not a JSON object"),
    ],
)
def test_what_is_no_rate_of_the_model_is_one_sentence(
    tmp_path: Path, tests: list[object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_bench_rate(written(tmp_path, *tests), LLAMA, GenerationRequest())


def test_a_file_that_is_no_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="no JSON array"):
        read_bench_rate(path, LLAMA, GenerationRequest())


TABLE = """\
ggml_vulkan: Found 1 Vulkan devices:
| model                          |       size |     params | backend    | ngl | type_k |          test |                  t/s |
| ------------------------------ | ---------: | ---------: | ---------- | --: | -----: | ------------: | -------------------: |
| llama 8B Q4_K - Medium         |   4.58 GiB |     8.03 B | Vulkan     |  99 |    f16 |         pp512 |      2210.50 \u00b1 3.10 |
| llama 8B Q4_K - Medium         |   4.58 GiB |     8.03 B | Vulkan     |  99 |    f16 |         tg128 |        55.25 \u00b1 0.10 |
| llama 8B Q4_K - Medium         |   4.58 GiB |     8.03 B | Vulkan     |  99 |   q8_0 | tg128 @ d4096 |        48.50 \u00b1 0.20 |

build: 323181f2 (3573)
"""  # noqa: E501  # as the tool prints it


def printed(folder: Path, text: str) -> Path:
    path = folder / "bench.md"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("context", "expected"), [(100, 55.25), (4000, 48.5)])
def test_the_printed_table_has_the_same_tests(
    tmp_path: Path, context: int, expected: float
) -> None:
    request = GenerationRequest(context=context)
    rate, run = read_bench_rate(printed(tmp_path, TABLE), LLAMA, request)

    assert rate == expected
    assert (run.new, run.weights) == (128, "q4_k_m")
    assert run.kv_precision == ("q8_0" if expected < 50 else "fp16")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tokens: 55", "no output of llama-bench"),
        (TABLE[: TABLE.index("| llama")], "no test of it generates tokens"),
        (TABLE.replace("8.03 B", "3.21 B"), "of a model of 3.21 B parameters"),
        (TABLE.replace("55.25", "fast"), "not a number"),
        (TABLE.replace("8.03 B", "? B"), "not a number"),
    ],
)
def test_a_table_without_a_rate_of_the_model_is_one_sentence(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_bench_rate(printed(tmp_path, text), LLAMA, GenerationRequest())
