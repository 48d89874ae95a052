"""Language models as stages: the figures of generations, memory, energy, batches and modes."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from predictor.core.errors import InputError
from predictor.core.records import Basis
from predictor.core.resources import resources_dir
from predictor.core.toml_tables import TomlTables
from predictor.language.passes import decode_pass, prefill_passes
from predictor.language.weights import weight_format
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.generation.generate import generate
from predictor.services.generation.records import GenerationRequest, MeasuredRate
from predictor.services.loads.boxes import box_of_devices, named_box
from predictor.services.loads.carry import carry
from predictor.services.loads.costs import Evidence, RunCost
from predictor.services.loads.document import load_document
from predictor.services.loads.language import stage_costs
from predictor.services.loads.models import START_TOKENS, model_key
from predictor.services.loads.records import Box, Load, Stage, Stream
from predictor.services.loads.sentences import sentences
from predictor.services.models.language import read_language_model

_CATALOGUE = load_catalogue()
_ORIN = named_box("jetson-orin-nx-16gb", _CATALOGUE)
_PC = named_box("pc-rtx3060", _CATALOGUE)
_QWEN = read_language_model(resources_dir() / "samples" / "qwen3-1.7b.json")
_WHISPER = read_language_model(resources_dir() / "samples" / "whisper-base.json")
_STAGE = Stage(line=1, name="answer", model="qwen3-1.7b.json", unit="gpu",
               prompt_tokens=300, new_tokens=60)  # fmt: skip
_RUN = GenerationRequest(prompt=300, new=60)


def _cost(box: Box = _ORIN, unit: str = "gpu", stage: Stage = _STAGE) -> RunCost:
    (cost,) = stage_costs(stage, _QWEN, [(box, box.units[unit])])
    return cost


def test_a_run_takes_its_prompt_and_its_tokens() -> None:
    cost = _cost()
    (one,) = generate(_QWEN.architecture, [_ORIN.units["gpu"].device], _RUN)
    total = one.end_to_end
    assert total is not None
    assert one.first_token is not None
    prediction = cost.prediction
    assert (prediction.latency_ms, prediction.low80_ms) == (total.median, total.low)
    assert (prediction.high80_ms, prediction.bound_ms) == (total.high, total.bound)
    assert cost.batch_ms.tolist() == [total.median]
    assert cost.steps == 59
    assert cost.first_share == pytest.approx(one.first_token.median / total.median)
    assert cost.memory_bytes == one.memory.total
    assert cost.how == "llama.cpp, q4_k_m"


def test_a_run_at_another_clock_is_that_of_the_clock_and_its_power_unknown() -> None:
    run = replace(_RUN, mode="15W", clock="gpu=459.0")
    (one,) = generate(_QWEN.architecture, [_ORIN.units["gpu"].device], run)
    assert one.end_to_end is not None
    in_mode = replace(_ORIN, mode="15W")
    cost = _cost(replace(in_mode, clock={"gpu": 459.0}))
    assert cost.prediction.latency_ms == one.end_to_end.median
    assert cost.prediction.latency_ms > (_cost(in_mode).prediction.latency_ms or math.inf)
    assert (cost.energy_mj, cost.of_board) == (None, False)
    assert _cost(in_mode).of_board
    assert not _cost(_PC).of_board  # of the card alone


def test_a_run_moves_the_weights_once_a_pass() -> None:
    form, model = weight_format("q4_k_m"), _QWEN.architecture
    passes = [prefill_passes(model, form, 16, 300), *[decode_pass(model, form, 16, 330)] * 59]
    moved = sum(
        float((p.weight_bytes + p.kv_bytes + p.activation_bytes).sum()) for p in passes
    )  # fmt: skip
    assert _cost().traffic_bytes == pytest.approx(moved)


def test_a_batch_is_of_sequences_at_once() -> None:
    cost = _cost(stage=replace(_STAGE, batch=6))
    device = _ORIN.units["gpu"].device
    (four,) = generate(_QWEN.architecture, [device], replace(_RUN, batch=4))
    assert four.end_to_end is not None
    assert len(cost.batch_ms) == 6
    assert cost.batch_ms[3] == pytest.approx(four.end_to_end.median)
    assert (np.diff(cost.batch_ms) >= 0).all()
    assert cost.batch_ms[5] < 6 * cost.batch_ms[0]
    assert cost.memory_bytes is not None
    assert cost.memory_bytes > (_cost().memory_bytes or math.inf)


def test_a_mode_slows_a_run_and_limits_its_watts() -> None:
    usual, slow = (_cost(replace(_ORIN, mode=mode)) for mode in ("", "10W"))
    assert slow.batch_ms[0] > usual.batch_ms[0]
    assert slow.energy_mj is not None
    low, high = slow.energy_mj[1:]
    assert low < slow.energy_mj[0] < high
    assert "10 W" in slow.power


def test_a_card_draws_what_its_generation_says() -> None:
    cost = _cost(_PC)
    (one,) = generate(_QWEN.architecture, [_PC.units["gpu"].device], _RUN)
    assert one.joules_per_token is not None
    assert cost.energy_mj is not None
    assert cost.energy_mj[0] == pytest.approx(1000 * 60 * one.joules_per_token.median)


def test_what_does_not_fit_has_no_number() -> None:
    cost = _cost(replace(_ORIN, memory_gb=1.5))
    assert cost.prediction.latency_ms is None
    assert np.isnan(cost.batch_ms).all()
    # Three quarters of 1.5 GiB.
    assert cost.prediction.problem.endswith("and 1.21 GB of gpu are usable")


def test_a_unit_without_a_runtime_says_so() -> None:
    assert "no runtime of language models is known" in _cost(unit="dla").prediction.problem


def test_a_rate_of_the_user_calibrates_a_run() -> None:
    device = _ORIN.units["gpu"].device
    rate = MeasuredRate(device, 5.0, _QWEN.architecture, _RUN)
    place = _ORIN, _ORIN.units["gpu"]
    (measured,) = stage_costs(_STAGE, _QWEN, [place], Evidence(rates=(rate,)))
    assert measured.prediction.basis is Basis.PROBED
    assert measured.batch_ms[0] > 2 * _cost().batch_ms[0]


def _load(*stages: Stage) -> Load:
    stream = Stream(line=1, name="question", rate_per_s=0.1, deadline_ms=20_000, stages=stages)
    return Load(
        file=TomlTables(Path("load.toml"), {}, [], "correct it"),
        streams=(stream,),
        draws=10,
        items=1000,
    )


def test_a_recogniser_and_a_language_model_are_carried() -> None:
    hear = Stage(line=1, name="hear", model="whisper-base.json", unit="auto", new_tokens=25)
    answer = replace(_STAGE, after=("hear",), unit="auto")
    load = _load(hear, answer)
    models = {model_key(hear): _WHISPER, model_key(answer): _QWEN}
    result = carry(load, _ORIN, models)
    (stream,) = result.streams
    assert "dla" not in {stage.unit for stage in stream.stages}  # it has no runtime of them
    assert stream.p50_ms.median == pytest.approx(stream.alone_ms, rel=0.3)
    entries = load_document(result)["streams"][0]["stages"]  # type: ignore[index]
    assert [entry["prompt_tokens"] for entry in entries] == [START_TOKENS, 300]
    assert [entry["new_tokens"] for entry in entries] == [25, 60]
    assert [entry["weights"] for entry in entries] == ["q4_k_m", "q4_k_m"]
    said = "\n".join(sentences(result))
    assert "hear generates 25 tokens after 4: " in said
    assert "answer generates 60 tokens after 300: " in said


def test_a_model_that_is_too_large_is_one_sentence() -> None:
    box = box_of_devices([_CATALOGUE.find("rtx3060")])
    stage = replace(_STAGE, weights="fp32", batch=128)
    with pytest.raises(InputError, match=r"qwen3-1.7b needs \d+.*GB, and .* of gpu are usable"):
        carry(_load(stage), box, {model_key(stage): _QWEN})


def test_a_runtime_that_no_unit_has_is_named() -> None:
    stage = replace(_STAGE, runtime="vllm", unit="cpu")
    with pytest.raises(InputError, match="runtime: no unit has a number for answer: vllm does not"):
        carry(_load(stage), _ORIN, {model_key(stage): _QWEN})
