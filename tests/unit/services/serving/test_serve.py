"""Language models under a load: laws, limits and what is refused."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from predictor.core.errors import InputError
from predictor.devices.catalogue import shipped_devices
from predictor.language.architecture import DecoderArchitecture
from predictor.services.generation.generate import generate
from predictor.services.generation.records import GenerationRequest
from predictor.services.serving.document import serving_document
from predictor.services.serving.prices import stated_prices
from predictor.services.serving.records import Limits, Load, Serving, Speculation, TracedRequest
from predictor.services.serving.sentences import answer
from predictor.services.serving.serve import serve
from predictor.services.serving.trace import read_trace

_DEVICES = {device.id: device for device in shipped_devices()}
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
_SMALL = replace(_LLAMA, name="small", layers=8, hidden=1024, heads=8, feed_forward=4096)
_RUN = GenerationRequest(prompt=1024, new=64, runtime="vllm")
_LOAD = Load(run=_RUN, rate_per_s=4.0, limits=Limits(500, 40), max_sequences=64, requests=1000)


def _serve(load: Load, device: str = "h100-sxm") -> Serving:
    (serving,) = serve(_LLAMA, [_DEVICES[device]], load)
    return serving


def test_a_calm_load_is_one_request_after_the_other() -> None:
    serving = _serve(replace(_LOAD, rate_per_s=0.001))
    (alone,) = generate(_LLAMA, [_DEVICES["h100-sxm"]], _RUN)
    assert serving.first
    assert serving.token
    assert alone.first_token
    assert alone.token
    assert serving.first.p50.median == pytest.approx(alone.first_token.median, rel=0.02)
    assert serving.token.p50.median == pytest.approx(alone.token.median, rel=0.02)
    assert serving.first.p50.low == pytest.approx(alone.first_token.low, rel=0.02)
    assert serving.token.p50.high == pytest.approx(alone.token.high, rel=0.02)
    assert serving.mean_batch == pytest.approx(1, abs=0.02)


def test_figures_belong_together() -> None:
    serving = _serve(_LOAD)
    assert serving.first
    assert serving.capacity_per_s
    assert serving.largest_per_s
    for value in (serving.first.p50, serving.first.p99, serving.capacity_per_s):
        assert value.low <= value.median <= value.high
    assert serving.first.p50.median <= serving.first.p90.median <= serving.first.p99.median
    assert serving.tokens_per_s == pytest.approx(4 * 64)
    assert serving.largest_per_s <= serving.capacity_per_s.median
    at_most = _serve(replace(_LOAD, rate_per_s=0.97 * serving.largest_per_s))
    over = _serve(replace(_LOAD, rate_per_s=1.05 * serving.largest_per_s, requests=4000))
    assert at_most.holds
    assert not over.holds
    assert over.cards_needed == 2


def test_over_capacity_there_is_no_percentile_but_the_excess() -> None:
    capacity = _serve(_LOAD).capacity_per_s
    assert capacity
    serving = _serve(replace(_LOAD, rate_per_s=3 * capacity.median))
    assert serving.first is None
    assert serving.token is None
    assert serving.good_per_s is None
    assert serving.overload == pytest.approx(3)
    assert not serving.holds
    results: Any = serving_document([serving])["results"]
    entry = results[0]
    assert entry["ttft_p50_ms"] is None
    assert entry["load_over_capacity"] == pytest.approx(3)


def test_limits_under_one_request_are_kept_at_no_rate() -> None:
    serving = _serve(replace(_LOAD, limits=Limits(1, None)))
    assert serving.largest_per_s == 0
    assert serving.cards_needed is None


def test_memory_bounds_the_sequences() -> None:
    run = replace(_RUN, runtime="", prompt=4096)
    small = _serve(replace(_LOAD, run=run, rate_per_s=0.01), "rtx3060")
    assert small.sequences is not None
    assert 0 < small.sequences < 64
    none = _serve(replace(_LOAD, run=replace(run, weights="fp16"), rate_per_s=0.01), "rtx3060")
    assert none.problem == "its memory does not hold the model"


def test_a_device_without_a_number_says_why() -> None:
    serving = _serve(replace(_LOAD, run=replace(_RUN, runtime="genie")), "h100-sxm")
    assert "genie does not run on" in serving.problem


@pytest.mark.slow
def test_a_prefix_in_the_cache_and_right_drafts_are_faster() -> None:
    usual = _serve(_LOAD)
    hit = _serve(replace(_LOAD, prefix_hit=0.8))
    drafted = _serve(replace(_LOAD, speculation=Speculation(3, 0.8)))
    with_model = _serve(replace(_LOAD, speculation=Speculation(3, 0.8, _SMALL)))
    assert usual.first
    assert hit.first
    assert usual.token
    assert drafted.token
    assert with_model.token
    assert hit.first.p50.median < 0.6 * usual.first.p50.median
    assert drafted.token.p50.median < 0.5 * usual.token.p50.median
    assert drafted.token.p50.median < with_model.token.p50.median < usual.token.p50.median


def test_drafts_that_are_never_right_gain_nothing() -> None:
    usual, drafted = _serve(_LOAD), _serve(replace(_LOAD, speculation=Speculation(3, 0.0)))
    assert usual.token
    assert drafted.token
    assert drafted.token.p50.median > usual.token.p50.median


@pytest.mark.slow
def test_parts_of_prompts_hold_the_tail_of_tokens() -> None:
    load = replace(_LOAD, run=replace(_RUN, prompt=6000), rate_per_s=2.0)
    whole, parts = _serve(load), _serve(replace(load, chunk=512))
    assert whole.first
    assert parts.first
    assert whole.token
    assert parts.token
    assert parts.first.p50.median > whole.first.p50.median


def test_a_trace_has_its_times_and_lengths() -> None:
    trace = [TracedRequest(0.5 * place, 100 + place % 7, 8) for place in range(50)]
    serving = _serve(replace(_LOAD, trace=trace, rate_per_s=0.0))
    assert serving.load.rate_per_s == pytest.approx(2.0)
    assert serving.tokens_per_s == pytest.approx(16)
    faster = _serve(replace(_LOAD, trace=trace, rate_per_s=6.0))
    assert faster.tokens_per_s == pytest.approx(48)


def test_energy_and_money_follow_from_load_and_price() -> None:
    load = replace(_LOAD, price_per_hour=3.6, run=replace(_RUN, cards=2))
    serving = _serve(load)
    assert serving.power
    assert serving.joules_per_token
    assert serving.tokens_per_s == pytest.approx(256)
    assert serving.joules_per_token.median == pytest.approx(serving.power.median / 256)
    assert serving.cost_per_million == pytest.approx(1e6 * 2 * 0.001 / 256)
    assert serving.power.high <= 2 * 700
    lean = replace(load, limits=Limits(500, 40, joules=0.9 * serving.joules_per_token.median))
    assert serving.holds
    assert not _serve(lean).holds
    assert _serve(replace(_LOAD, rate_per_s=8.0)).power.median > 350  # type: ignore[union-attr]


@pytest.mark.slow
def test_cards_are_sought_within_limits_of_energy_and_cost_too() -> None:
    load = replace(_LOAD, rate_per_s=60.0, prices={"h100-sxm": 3.6}, price_per_hour=1.0)
    serving = _serve(load)
    groups, cost = serving.groups, serving.cost_needed
    assert groups
    assert groups > 1
    assert serving.cards_needed == groups
    assert cost == pytest.approx(1e6 * groups * 0.001 / (60 * 64))
    joules = serving.joules_needed
    assert joules
    one_card = _serve(replace(load, rate_per_s=60.0 / groups)).joules_per_token
    assert one_card
    assert joules.median == pytest.approx(one_card.median, rel=0.05)
    for limits, excess in (
        (Limits(500, 40, joules=1.01 * joules.median, cost=1.01 * cost), ()),
        (Limits(500, 40, joules=0.99 * joules.median), ("joules",)),
        (Limits(500, 40, cost=0.99 * cost), ("cost",)),
    ):
        limited = _serve(replace(load, limits=limits))
        assert limited.excess == excess
        assert limited.cards_needed == (None if excess else groups)
        assert ("No number of cards keeps" in answer(limited)) is bool(excess)


def test_a_limit_of_cost_without_a_price_is_not_kept() -> None:
    serving = _serve(replace(_LOAD, limits=Limits(cost=5.0)))
    assert serving.excess == ("cost",)
    assert not serving.holds


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["0"], "'0' is no price over 0"),
        (["nan"], "'nan' is no price over 0"),
        (["h100-sxm=-1"], "'-1' is no price over 0"),
        (["h100-sxm="], "'' is no price over 0"),
        (["1", "2"], "it is stated twice"),
        (["h100-sxm=1", "h100-sxm=2"], "it is stated twice"),
        ([], "no price is stated"),
    ],
)
def test_a_price_that_makes_no_sense_is_refused(texts: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        stated_prices(texts, str, 5.0)


def test_prices_are_of_all_devices_or_of_one() -> None:
    prices = stated_prices(["2.5", "h100-sxm=4"], str, None)
    assert (prices.of("h100-sxm"), prices.of("l4")) == (4, 2.5)


@pytest.mark.parametrize("rate", [-1.0, math.nan, math.inf, 1e9])
def test_a_rate_that_no_server_has_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="is no rate over 0 and up to 10,000 a second"):
        _serve(replace(_LOAD, rate_per_s=rate))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"limits": Limits(-1, None)}, "--slo-ttft"),
        ({"limits": Limits(None, math.nan)}, "--slo-tpot"),
        ({"limits": Limits(joules=0.0)}, "--max-joules"),
        ({"limits": Limits(cost=-2.0)}, "--max-cost"),
        ({"limits": Limits(500, None, share=1.5)}, "--slo-share"),
        ({"prefix_hit": 1.0}, "--prefix-hit"),
        ({"max_sequences": 0}, "--max-sequences"),
        ({"chunk": -1}, "--chunked-prefill"),
        ({"requests": 0}, "--requests"),
        ({"requests": 2_000_000_000}, "--requests"),
        ({"max_sequences": 2_000_000_000}, "--max-sequences"),
        ({"price_per_hour": -1.0}, "--price-per-hour"),
    ],
)
def test_a_load_that_makes_no_sense_is_refused_by_the_name_of_its_option(
    change: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        _serve(replace(_LOAD, **change))


def test_cards_needed_count_the_cards_of_a_group() -> None:
    one = _serve(replace(_LOAD, run=replace(_RUN, cards=4), rate_per_s=2.0))
    assert one.cards_needed == 4


def test_a_load_of_nothing_or_over_the_context_is_refused() -> None:
    with pytest.raises(InputError, match="no load is stated"):
        _serve(replace(_LOAD, rate_per_s=0.0))
    trace = [TracedRequest(0.0, 10, 5), TracedRequest(1.0, 9000, 5)]
    with pytest.raises(InputError, match=r"--trace, line 3: the context of llama has 8,192"):
        _serve(replace(_LOAD, trace=trace))


def _trace(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_traces_of_this_form_and_of_azure_are_read(tmp_path: Path) -> None:
    ours = read_trace(_trace(tmp_path, "time_s,prompt,new\n0.5,10,2\n0.75,20,3\n"))
    assert ours == (TracedRequest(0.5, 10, 2), TracedRequest(0.75, 20, 3))
    text = (
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n"
    )
    azure = read_trace(_trace(tmp_path, text))
    assert azure[1].time_s - azure[0].time_s == pytest.approx(4.314579, abs=1e-5)
    assert azure[0][1:] == (374, 44)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "line 1: its first line does not name time_s, prompt and new"),
        ("time_s,prompt,new\n1,10,2\n0,10,2\n", "line 3: its time is before"),
        ("time_s,prompt,new\nnow,10,2\n", "line 2: 'now' is no time"),
        ("time_s,prompt,new\nnan,10,2\n", "line 2: 'nan' is no time"),
        ("time_s,prompt,new\n1,0,2\n", "line 2: '0' is no number of tokens"),
        ("time_s,prompt,new\n1,10\n", "line 2: '' is no number of tokens"),
        ("time_s,prompt,new\n1,10,2\n", "line 2: it has no two requests at different times"),
    ],
)
def test_a_trace_that_makes_no_sense_is_refused_by_its_line(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_trace(_trace(tmp_path, text))
