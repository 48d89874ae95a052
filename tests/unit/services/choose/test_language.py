"""Devices for a language model: chances of limits, axes and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from predictor.cli.language_options import RUNTIMES
from predictor.core.errors import InputError
from predictor.devices.catalogue import shipped_devices
from predictor.language.architecture import DecoderArchitecture
from predictor.services.choose.language import (
    LanguageBudget,
    LanguageOption,
    choose_language,
    front,
    quantity,
)
from predictor.services.generation.choices import RUNTIME_NAMES
from predictor.services.generation.generate import generate
from predictor.services.generation.records import GenerationRequest
from predictor.services.serving.prices import Prices

_LLAMA = DecoderArchitecture(
    name="llama",
    family="llama",
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=8,
    head_dim=128,
    feed_forward=14_336,
    vocabulary=128_256,
    max_context=8192,
)
_IDS = ("h100-sxm", "l4", "rtx4090", "rpi5")
_DEVICES = [device for device in shipped_devices() if device.id in _IDS]
_RESULTS = generate(_LLAMA, _DEVICES, GenerationRequest())
_PRICES = Prices(0.0, {"h100-sxm": 3.6, "rtx4090": 0.36})


def _ranked(budget: LanguageBudget, axis: str = "") -> list[str]:
    return [o.generation.device.id for o in choose_language(_RESULTS, budget, _PRICES, axis)]


def _option(device: str, budget: LanguageBudget) -> LanguageOption:
    options = choose_language(_RESULTS, budget, _PRICES)
    return next(option for option in options if option.generation.device.id == device)


def test_a_limit_at_the_median_is_even_and_at_an_end_of_the_interval_nine_in_ten() -> None:
    joules = _option("l4", LanguageBudget(max_joules=1.0)).joules
    assert joules
    assert _option("l4", LanguageBudget(max_joules=joules.median)).chance == pytest.approx(0.5)
    assert _option("l4", LanguageBudget(max_joules=joules.high)).chance == pytest.approx(0.9)
    assert _option("l4", LanguageBudget(max_joules=joules.low)).chance == pytest.approx(0.1)


def test_cost_is_the_price_of_the_time_and_of_all_cards() -> None:
    option = _option("h100-sxm", LanguageBudget(max_cost=5.0))
    total = option.generation.end_to_end
    assert total
    assert option.cost
    assert option.cost.median == pytest.approx(1e6 * 0.001 * total.median / 1000 / 128)
    pair = replace(option.generation, request=replace(option.generation.request, cards=2))
    assert replace(option, generation=pair).cost == pytest.approx([2 * v for v in option.cost])


def test_what_is_not_known_keeps_no_limit_and_says_so() -> None:
    budget = LanguageBudget(max_joules=100.0, max_cost=1000.0)
    option = _option("rpi5", budget)
    assert option.chance == 0
    assert option.remark == "its power is not known; no price is stated"
    assert _option("h100-sxm", budget).remark == ""


def test_the_least_chance_counts_and_what_does_not_fit_has_none() -> None:
    fast = LanguageBudget(min_tokens_per_s=1.0, max_joules=1e-6)
    assert _option("h100-sxm", fast).chance == pytest.approx(0, abs=1e-6)
    (large,) = generate(_LLAMA, _DEVICES[:1], GenerationRequest(batch=4096, weights="fp16"))
    assert large.fits is False
    assert LanguageOption(large, LanguageBudget(min_tokens_per_s=0.001)).chance == 0


def test_axes_rank_what_keeps_the_budget() -> None:
    budget = LanguageBudget(max_joules=100.0)
    for axis in ("tokens", "first", "joules", "cost"):
        options = choose_language(_RESULTS, budget, _PRICES, axis)
        keeping = [quantity(o, axis) for o in options if o.chance > 0.5]
        assert keeping == sorted(keeping)
    assert _ranked(budget)[0] == _ranked(budget, "joules")[0]
    assert _ranked(budget)[-1] == "rpi5"


def test_nothing_beats_the_front() -> None:
    options = choose_language(_RESULTS, LanguageBudget(max_joules=100.0), _PRICES)
    best = front(options)
    assert {o.generation.device.id for o in best} == {"h100-sxm", "rtx4090"}


@pytest.mark.parametrize("limit", [0.0, -1.0, math.nan, math.inf])
def test_a_limit_that_makes_no_sense_is_refused(limit: float) -> None:
    for name in ("min_tokens_per_s", "max_first_ms", "max_joules", "max_cost"):
        with pytest.raises(InputError, match="is not a number over 0"):
            LanguageBudget(**{name: limit})


def test_a_budget_needs_a_limit_and_a_choice_a_number() -> None:
    with pytest.raises(InputError, match="it has no limit of a language model"):
        LanguageBudget()
    refused = generate(_LLAMA, _DEVICES[:1], GenerationRequest(runtime="genie"))
    with pytest.raises(InputError, match="genie does not run"):
        choose_language(refused, LanguageBudget(max_joules=1.0), Prices())


def test_the_command_line_names_the_runtimes_that_there_are() -> None:
    assert set(RUNTIMES) == set(RUNTIME_NAMES)
