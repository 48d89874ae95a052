"""Language models at power modes and clocks."""

from __future__ import annotations

import math
from typing import Any

import pytest

from predictor.services.generation.document import generation_document
from predictor.services.generation.generate import generate
from predictor.services.generation.records import Generation, GenerationRequest, Interval
from tests.support.decoder_architectures import CATALOGUE, LLAMA

ORIN = CATALOGUE["jetson-agx-orin-gpu"]


def run(**request: Any) -> Generation:
    (result,) = generate(LLAMA, [ORIN], GenerationRequest(**request))
    return result


def times(result: Generation) -> tuple[Interval, Interval]:
    assert result.token is not None, result.problem
    assert result.first_token is not None
    return result.token, result.first_token


def test_a_slower_memory_slows_tokens_and_a_slower_chip_prompts() -> None:
    token, first = times(run())
    slow_token, slow_first = times(run(clock="mem=1600"))
    assert slow_token.median > 1.5 * token.median
    assert slow_first.median < 1.5 * first.median
    slow_token, slow_first = times(run(clock="gpu=650"))
    assert slow_first.median > 1.5 * first.median
    assert slow_token.median < 1.5 * token.median
    assert slow_token.bound == token.bound


def test_a_mode_is_between_its_slowest_rate_and_the_default() -> None:
    token, _ = times(run())
    clocked, _ = times(run(mode="15W"))
    assert token.median < clocked.median
    # The further from the default, the wider.
    width, clocked_width = (math.log(t.high / t.low) for t in (token, clocked))
    assert clocked_width > width
    document: dict[str, Any] = generation_document([run(mode="15W")])
    (entry,) = document["results"]
    assert (entry["mode"], entry["clock"]) == ("15W", None)


def test_the_default_clocks_change_nothing() -> None:
    token, _ = times(run())
    clocks = {"gpu": 1300, "mem": 3200}
    for name, mhz in clocks.items():
        stated, _ = times(run(clock=f"{name}={mhz}"))
        assert stated.median == pytest.approx(token.median, rel=2e-3)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"mode": "7W"}, "has no mode of this name"),
        ({"clock": "gpu=9000"}, "is out of range"),
        ({"clock": "gpu"}, "is no clock in MHz"),
    ],
)
def test_what_a_device_has_not_is_its_problem(request_: dict[str, str], words: str) -> None:
    result = run(**request_)
    assert result.token is None
    assert words in result.problem
