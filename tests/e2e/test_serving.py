"""``ctm serve`` as a process: the contract that scripts depend on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
_LOAD = ("--device", "h100-sxm", "--runtime", "vllm", "--prompt", "512", "--new", "64")
_LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
}
_FAST = ("--requests", "500", "--max-sequences", "64")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "llama" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(_LLAMA), encoding="utf-8")
    return path


def test_json_has_all_keys_and_limits_set_the_exit_code(ctm: Run, config: Path) -> None:
    limits = ("--slo-ttft", "500", "--slo-tpot", "60", "--json")
    done = ctm("serve", config, *_LOAD, *_FAST, "--rate", "2/s", *limits)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "ctm-serving/1"
    (entry,) = document["results"]
    assert entry["ttft_p50_ms"] < entry["ttft_p99_ms"]
    assert entry["cards_needed"] == 1
    assert entry["goodput_per_s"] == pytest.approx(2, rel=0.1)
    missed = ctm("serve", config, *_LOAD, *_FAST, "--rate", "2/s", "--slo-ttft", "1")
    assert missed.returncode == 1
    assert "No rate keeps the limits" in missed.stdout


def test_choose_ranks_devices_by_joules_and_cost_of_tokens(ctm: Run, config: Path) -> None:
    named = ("--device", "h100-sxm", "--device", "l4", "--device", "rpi5")
    limits = ("--max-joules", "4", "--max-cost", "5")
    prices = ("--price-per-hour", "3", "--price-per-hour", "l4=0.5")
    done = ctm("choose", config, *named, *limits, *prices, "--sort", "joules", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "ctm-language-choice/1"
    assert document["met"]
    first, second, last = document["options"]
    assert (first["device"], second["device"], last["device"]) == ("l4", "h100-sxm", "rpi5")
    assert first["joules_per_token"] < second["joules_per_token"]
    assert first["price_per_hour"] == 0.5
    assert last["joules_per_token"] is None
    missed = ctm("choose", config, *named, "--max-joules", "0.001")
    assert missed.returncode == 1
    assert "0 of 3 devices keep the budget" in missed.stdout
    wrong = ctm("choose", config, *named, "--max-ms", "4")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--max-ms: it is no limit of a language model" in wrong.stderr


def test_a_load_over_capacity_says_by_how_much(ctm: Run, config: Path) -> None:
    done = ctm("serve", config, *_LOAD, *_FAST, "--rate", "9000/s")
    assert done.returncode == 1
    assert "over what it completes" in done.stdout
    assert "P50" not in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rate", "0/s"), "'0/s' is no rate over 0"),
        (("--rate", "8/year"), "'8/year' is no rate"),
        (("--rate=-1",), "'-1' is no rate over 0"),
        (("--rate", "nan"), "'nan' is no rate over 0"),
        (("--rate", "1e9"), "'1e9' is no rate over 0"),
        (("--rate", "1", "--slo-ttft", "0"), "'0' is not a number over 0"),
        (("--rate", "1", "--price-per-hour", "free"), "'free' is no price over 0"),
        (("--rate", "1", "--max-cost", "3"), "no price is stated"),
        ((), "no load is stated"),
        (("--rate", "1", "--acceptance", "70"), "needs the number of drafted tokens"),
        (("--rate", "1", "--prefix-hit", "100"), "from 0 to under 100 percent"),
        (("--rate", "1", "--prompt", "9000"), "its context has 8,192 tokens"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(
    ctm: Run, config: Path, options: tuple[str, ...], words: str
) -> None:
    done = ctm("serve", config, "--device", "h100-sxm", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
