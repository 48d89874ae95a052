"""Continuous batching: exact where theory is, lawful beyond."""

import time
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.simulation.arrivals import Poisson
from predictor.simulation.batching import Batching, DecodeStep, Requests, Served, serve


@dataclass(frozen=True)
class _Steps:
    """Steps of 5 ms with 0.1 ms a sequence, prompts of 10 us a token."""

    scale: float = 1.0
    a_token: float = 0.0

    def prompt_s(self, tokens: int) -> float:
        return self.scale * (1e-3 + 1e-5 * tokens)

    def attention_s(self, past: int, tokens: int) -> float:
        return self.scale * 1e-9 * ((past + tokens) ** 2 - past**2)

    def decode(self, sequences: int) -> DecodeStep:
        return DecodeStep(
            self.scale * (5e-3 + 1e-4 * sequences), self.scale * self.a_token, self.scale * 4e-3
        )


_USUAL = Batching(max_sequences=16)


def _requests(rate: float, count: int, prompt: int = 100, new: int = 20) -> Requests:
    times = Poisson(rate).times_s(count, np.random.default_rng(5))
    return Requests(
        times_s=times.tolist(),
        prompts=[prompt] * count,
        new=[new] * count,
        cache_bytes=[1.0] * count,
    )


def test_one_answer_of_one_token_at_a_time_is_m_d_1() -> None:
    service = _Steps().prompt_s(100) + _Steps().attention_s(0, 100)
    load = 0.7
    served = serve(
        _Steps(), replace(_USUAL, max_sequences=1), _requests(load / service, 60_000, new=1)
    )
    wait = served.first_s.mean() - service
    assert wait == pytest.approx(load * service / (2 * (1 - load)), rel=0.06)
    assert np.isnan(served.token_s).all()


def test_one_sequence_at_a_time_is_m_g_1() -> None:
    """Answers of two lengths: the wait is that of Pollaczek and Khinchine."""
    lengths = np.random.default_rng(6).choice([5, 60], 60_000)
    steps = _Steps()
    prompt = steps.prompt_s(100) + steps.attention_s(0, 100)
    services = prompt + (lengths - 1) * steps.decode(1).base_s
    load = 0.6
    requests = replace(_requests(load / services.mean(), 60_000), new=lengths.tolist())
    served = serve(steps, replace(_USUAL, max_sequences=1), requests)
    wait = (served.first_s - prompt).mean()
    exact = load / services.mean() * (services**2).mean() / (2 * (1 - load))
    assert wait == pytest.approx(exact, rel=0.08)


def test_a_request_alone_takes_its_prompt_and_its_steps() -> None:
    steps = _Steps(a_token=1e-6)
    served = serve(steps, _USUAL, _requests(1, 1))
    assert served.first_s[0] == pytest.approx(steps.prompt_s(100) + steps.attention_s(0, 100))
    cached = 101 + np.arange(19)
    assert served.token_s[0] == pytest.approx((5.1e-3 + 1e-6 * cached).mean())
    assert served.mean_batch == 1


def test_steps_until_an_event_are_those_one_by_one() -> None:
    """The batch is joined at the first end of a step after an arrival."""
    steps = _Steps(a_token=1e-6)
    requests = Requests(
        times_s=[0.0, 0.031], prompts=[100, 100], new=[20, 1], cache_bytes=[0.0, 0.0]
    )
    served = serve(steps, _USUAL, requests)
    ends = (
        steps.prompt_s(100)
        + steps.attention_s(0, 100)
        + np.cumsum(5.1e-3 + 1e-6 * (101 + np.arange(19)))
    )
    joined = ends[ends >= 0.031][0]
    assert served.first_s[1] == pytest.approx(joined - 0.031 + 2e-3 + 1e-5)


def test_memory_and_places_bound_the_batch() -> None:
    rush = replace(_requests(1, 64), times_s=[0.0] * 64)
    places = serve(_Steps(), replace(_USUAL, max_sequences=4), rush)
    memory = serve(_Steps(), replace(_USUAL, cache_bytes=4.5), rush)
    assert places.mean_batch == memory.mean_batch == pytest.approx(4)
    assert memory.finish_s == pytest.approx(places.finish_s)


def test_chunks_take_the_batch_along() -> None:
    """A long prompt does not hold up the tokens of others for longer than a part of it."""
    requests = Requests(
        times_s=[0.0, 0.05], prompts=[10, 20_000], new=[100, 2], cache_bytes=[0.0, 0.0]
    )
    whole = serve(_Steps(), _USUAL, requests)
    parts = serve(_Steps(), replace(_USUAL, chunked=True, prompt_tokens=512), requests)
    assert whole.finish_s[0] > 1.0
    assert parts.finish_s[0] < whole.finish_s[0]
    assert parts.first_s[1] > whole.first_s[1]


def test_a_hit_prefix_saves_its_products() -> None:
    requests = _requests(1, 1, prompt=1000)
    half = serve(_Steps(), replace(_USUAL, prefix_hit=0.5), requests)
    expected = _Steps().prompt_s(500) + _Steps().attention_s(500, 500)
    assert half.first_s[0] == pytest.approx(expected)


def test_speculation_takes_fewer_steps() -> None:
    served = serve(_Steps(), replace(_USUAL, tokens_a_step=2.5), _requests(1, 1, new=21))
    assert served.token_s[0] == pytest.approx(8 * 5.1e-3 / 20)


def _duration(served: Served) -> float:
    return float(np.nanmax(served.finish_s))


@given(
    rate=st.floats(0.5, 200),
    factor=st.floats(1.0, 3.0),
    sequences=st.integers(1, 12),
)
def test_more_load_is_not_faster_where_prompts_are_all(
    rate: float, factor: float, sequences: int
) -> None:
    batching = replace(_USUAL, max_sequences=sequences, prompt_tokens=100)
    calm = serve(_Steps(), batching, _requests(rate, 60, new=1))
    busy = serve(_Steps(), batching, _requests(rate * factor, 60, new=1))
    assert (busy.first_s >= calm.first_s - 1e-9).all()


@given(rate=st.floats(0.5, 100), factor=st.floats(1.2, 3.0), chunked=st.booleans())
def test_more_load_is_not_faster_on_average(rate: float, factor: float, chunked: bool) -> None:
    batching = replace(_USUAL, chunked=chunked, prompt_tokens=512)
    calm = serve(_Steps(), batching, _requests(rate, 300))
    busy = serve(_Steps(), batching, _requests(rate * factor, 300))
    assert busy.first_s.mean() + 20 * busy.token_s.mean() >= 0.98 * (
        calm.first_s.mean() + 20 * calm.token_s.mean()
    )


@given(rate=st.floats(0.5, 200), scale=st.floats(0.2, 1.0))
def test_faster_steps_finish_no_later(rate: float, scale: float) -> None:
    one_by_one = replace(_USUAL, max_sequences=1)
    slow = serve(_Steps(), one_by_one, _requests(rate, 60))
    fast = serve(_Steps(scale), one_by_one, _requests(rate, 60))
    assert (fast.finish_s <= slow.finish_s + 1e-9).all()


@given(sequences=st.integers(1, 40))
def test_a_larger_batch_serves_a_rush_no_later(sequences: int) -> None:
    rush = replace(_requests(1, 80), times_s=[0.0] * 80)
    small = serve(_Steps(), replace(_USUAL, max_sequences=sequences), rush)
    large = serve(_Steps(), replace(_USUAL, max_sequences=2 * sequences), rush)
    assert _duration(large) <= _duration(small) + 1e-9


def test_ten_thousand_requests_take_under_two_seconds() -> None:
    requests = _requests(40, 10_000, prompt=1024, new=256)
    start = time.process_time()
    serve(_Steps(a_token=1e-8), replace(_USUAL, max_sequences=256), requests)
    assert time.process_time() - start < 2
