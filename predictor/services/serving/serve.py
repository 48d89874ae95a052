"""How devices serve a load on a language model: one event simulation a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.language.architecture import DecoderArchitecture
from predictor.language.cards import Cards
from predictor.language.memory import Memory, card_memory, memory_of
from predictor.language.power import OF_WAITING, Power, power_of, power_share
from predictor.language.runtimes import LANGUAGE_RUNTIMES
from predictor.language.stored import StoredWeights
from predictor.language.weights import KV_BITS, weight_format
from predictor.services.generation.generate import check, generate
from predictor.services.generation.probes import DecodeProbe
from predictor.services.generation.records import (
    Generation,
    GenerationRequest,
    MeasuredRate,
)
from predictor.services.serving.records import (
    Between,
    Limits,
    Load,
    Serving,
    Tail,
    TracedRequest,
)
from predictor.services.serving.sense import check_numbers
from predictor.services.serving.steps import StepTable, step_tables, with_draft
from predictor.simulation.arrivals import Arrivals, Poisson, Trace
from predictor.simulation.batching import Batching, Floats, Requests, Served
from predictor.simulation.batching import serve as simulate
from predictor.simulation.statistics import Percentiles, percentiles, settled

_USUAL_CHUNK: Final = 8192  # tokens of prompts in a step where they come as a whole, as vLLM's
_SEARCHED: Final = 2_000  # requests of one step of the search for the largest rate
_SEARCH_STEPS: Final = 12
_WAITING: Final = 4  # times the places of a batch that wait while the capacity is read
_FEWEST_REQUESTS: Final = 1_000
_CURVE_SHARES: Final = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_MIN_SHARE: Final = 1 / 64  # of the capacity, at which the search begins


class Measured(NamedTuple):
    """What the user measured.

    Attributes:
        rates: tokens a second.
        probes: of some devices.
    """

    rates: Sequence[MeasuredRate] = ()
    probes: Sequence[DecodeProbe] = ()


def serve(
    model: DecoderArchitecture,
    devices: Sequence[Device],
    load: Load,
    measured: Measured = Measured(),  # noqa: B008 - immutable
    stored: StoredWeights | None = None,
) -> list[Serving]:
    """Predict how devices serve a load.

    Args:
        model: the decoder.
        devices: targets.
        load: requests and limits.
        measured: by the user; it calibrates as for ``generate``.
        stored: format of the weights in the model's files, where the load names none.

    Returns:
        One entry a device, in their order; what cannot serve it has its problem.

    Raises:
        InputError: the load is not of this model, or makes no sense; see ``generate``.
    """
    checked = checked_load(model, load)
    loads = [
        replace(checked, price_per_hour=checked.prices.get(device.id, checked.price_per_hour))
        for device in devices
    ]
    return [
        _Server(model, device, of_device, measured, stored).serving()
        for device, of_device in zip(devices, loads, strict=True)
    ]


def first_token_curve(
    model: DecoderArchitecture,
    device: Device,
    load: Load,
    measured: Measured = Measured(),  # noqa: B008 - immutable
    stored: StoredWeights | None = None,
) -> list[tuple[float, Between]]:
    """Return P90 of the first token in ms over the rate, up to 95 % of the capacity.

    Where the slower times of the interval do not serve a rate, its high end is that of 2000
    requests.

    Raises:
        InputError: see ``serve``.
    """
    return _Server(model, device, checked_load(model, load), measured, stored).curve()


class _Server:
    """A model on one device under a load."""

    def __init__(
        self,
        model: DecoderArchitecture,
        device: Device,
        load: Load,
        measured: Measured,
        stored: StoredWeights | None,
    ) -> None:
        self._model, self._device, self._load = model, device, load
        self._measured, self._stored = measured, stored
        lengths = [(r.prompt, r.new) for r in load.trace] or [(load.run.prompt, load.run.new)]
        self._longest = max(prompt + new for prompt, new in lengths)
        prompt, new = max(lengths, key=sum)
        self._alone = self._predict(model, replace(load.run, prompt=prompt, new=new, batch=1))

    def serving(self) -> Serving:
        """Return the answer."""
        load, alone = self._load, self._alone
        without = Serving(load=load, generation=alone)
        if alone.token is None:
            return replace(without, problem=alone.problem)
        budget = self._cache_budget()
        if budget is not None and budget < self._sequence_bytes(self._longest):
            return replace(without, sequences=0, problem=_too_small(alone))
        batching = self._batching(math.inf if budget is None else budget)
        tables = self._tables(batching.max_sequences)
        capacities = [self._capacity(tables[name], batching) for name in ("median", "high", "low")]
        serving = replace(
            without,
            sequences=None if budget is None else batching.max_sequences,
            capacity_per_s=Between(*capacities),
        )
        if load.limits:
            largest = self._largest(tables["median"], batching, capacities[0])
            serving = replace(serving, largest_per_s=largest)
        else:
            serving = replace(serving, largest_per_s=capacities[0])
        if (groups := serving.groups or 1) > 1:
            rate = load.rate_per_s / groups
            requests = self._requests(self._arrivals(rate), _SEARCHED)
            power = self._power(simulate(tables["median"], batching, requests), _SEARCHED / rate)
            joules = power and Power(*(watts / (rate * load.mean_new) for watts in power))
            serving = replace(serving, shared_joules=joules)
        if load.rate_per_s >= capacities[0]:
            return serving
        return self._under(serving, tables, batching)

    def curve(self) -> list[tuple[float, Between]]:
        """Return rates, and P90 of the first token at each; nothing without a number."""
        if self._alone.token is None:
            return []
        budget = self._cache_budget()
        if budget is not None and budget < self._sequence_bytes(self._longest):
            return []
        batching = self._batching(math.inf if budget is None else budget)
        tables = self._tables(batching.max_sequences)
        capacity = self._capacity(tables["median"], batching)
        points = []
        for share in _CURVE_SHARES:
            requests = self._requests(self._arrivals(share * capacity), _SEARCHED)
            ends = [
                _percentiles(simulate(tables[name], batching, requests).first_s)
                for name in ("median", "low", "high")
            ]
            if all(ends):
                points.append((share * capacity, Between(*(end.p90 for end in ends if end))))
        return points

    def _predict(self, model: DecoderArchitecture, run: GenerationRequest) -> Generation:
        rates, probes = self._measured
        stored = self._stored if model is self._model else None
        (result,) = generate(model, [self._device], run, rates, probes, stored)
        return result

    def _cache_budget(self) -> float | None:
        """Return the bytes for caches beside the weights and buffers, None if not known."""
        if self._alone.usable is None:
            return None
        memory = self._alone.memory
        return self._alone.usable.bytes - memory.weights - memory.working - self._draft().weights

    def _draft(self) -> Memory:
        """Return the memory of the model that drafts, for one sequence."""
        speculation = self._load.speculation
        if speculation is None or speculation.model is None:
            return Memory(0.0, 0.0, 0.0)
        form = weight_format(self._alone.weights)
        kv_bits = KV_BITS[self._load.run.kv_precision]
        return memory_of(speculation.model, form, self._longest, 1, kv_bits)

    def _sequence_bytes(self, tokens: int) -> float:
        """Return the bytes of the caches of a sequence."""
        form = weight_format(self._alone.weights)
        kv_bits = KV_BITS[self._load.run.kv_precision]
        share = tokens / self._longest
        memory = memory_of(self._model, form, tokens, 1, kv_bits)
        cards = Cards(self._load.run.cards, self._is_pipeline)
        return card_memory(self._model, memory, cards).cache + share * self._draft().cache

    @property
    def _is_pipeline(self) -> bool:
        runtime = LANGUAGE_RUNTIMES[self._alone.runtime]
        return self._load.run.pipeline or not runtime.tensor_parallel

    def _batching(self, cache_bytes: float) -> Batching:
        load = self._load
        places = load.max_sequences
        if not load.trace and math.isfinite(cache_bytes):
            places = min(places, int(cache_bytes // self._sequence_bytes(self._longest)))
        return Batching(
            max_sequences=places,
            cache_bytes=cache_bytes,
            prompt_tokens=load.chunk or _USUAL_CHUNK,
            chunked=load.chunk > 0,
            prefix_hit=load.prefix_hit,
            tokens_a_step=load.speculation.tokens_a_step if load.speculation else 1.0,
        )

    def _tables(self, max_sequences: int) -> Mapping[str, StepTable]:
        speculation, run = self._load.speculation, self._load.run
        context = min(self._model.max_context, self._longest + 1)
        shared = (self._longest, max_sequences, context)
        verified = speculation.tokens + 1 if speculation else 1
        predict = partial(self._predict, self._model)
        tables = step_tables(predict, run, *shared, verified)
        if speculation is None or speculation.model is None:
            return tables
        drafts = step_tables(partial(self._predict, speculation.model), run, *shared)
        return {
            name: with_draft(table, drafts[name], speculation.tokens)
            for name, table in tables.items()
        }

    def _requests(self, arrivals: Arrivals, count: int) -> Requests:
        load = self._load
        lengths = load.trace or [TracedRequest(0.0, load.run.prompt, load.run.new)]
        prompts = [lengths[place % len(lengths)].prompt for place in range(count)]
        new = [lengths[place % len(lengths)].new for place in range(count)]
        of_tokens = {
            tokens: self._sequence_bytes(tokens)
            for tokens in {sum(pair) for pair in zip(prompts, new, strict=True)}
        }
        return Requests(
            times_s=arrivals.times_s(count, np.random.default_rng(load.seed)).tolist(),
            prompts=prompts,
            new=new,
            cache_bytes=[of_tokens[p + n] for p, n in zip(prompts, new, strict=True)],
        )

    def _arrivals(self, rate: float) -> Arrivals:
        trace = self._load.trace
        if not trace:
            return Poisson(rate)
        times = [request.time_s for request in trace]
        stretch = len(trace) / Trace(times).cycle_s / rate
        return Trace([time_s * stretch for time_s in times])

    def _capacity(self, table: StepTable, batching: Batching) -> float:
        """Return the requests a second that are completed while others always wait."""
        count = max(_WAITING * batching.max_sequences, min(len(self._load.trace), _SEARCHED))
        at_once = self._requests(Trace([0.0]), count)
        ends = np.sort(simulate(table, batching, at_once).finish_s)
        # Neither the first batch, which starts together, nor the last one, which runs dry.
        first, last = ends[count // 4], ends[-1 - count // 4]
        between = int(((ends > first) & (ends <= last)).sum())
        return float(between / (last - first) if last > first else count / ends[-1])

    def _largest(self, table: StepTable, batching: Batching, capacity: float) -> float:
        """Return the largest rate at which the limits are kept, 0 where they never are."""

        def is_met(rate: float) -> bool:
            count = _SEARCHED if not self._load.trace else self._load.requests
            requests = self._requests(self._arrivals(rate), count)
            within = _within(simulate(table, batching, requests), self._load.limits)
            return bool(settled(within).mean() >= self._load.limits.share)

        low, high = _MIN_SHARE * capacity, capacity
        if not is_met(low):
            return 0.0
        for _ in range(_SEARCH_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if is_met(middle) else (low, middle)
        return low

    def _under(
        self, serving: Serving, tables: Mapping[str, StepTable], batching: Batching
    ) -> Serving:
        """Return the answer with the figures of a load under the capacity."""
        load = self._load
        requests = self._requests(self._arrivals(load.rate_per_s), load.requests)
        usual = simulate(tables["median"], batching, requests)
        fast = simulate(tables["low"], batching, requests)
        slow = None
        if serving.capacity_per_s and load.rate_per_s < serving.capacity_per_s.low:
            slow = simulate(tables["high"], batching, requests)
        good = float(settled(_within(usual, load.limits)).mean())
        return replace(
            serving,
            first=_tail(usual.first_s, fast.first_s, slow.first_s if slow else None),
            token=_tail(usual.token_s, fast.token_s, slow.token_s if slow else None),
            tokens_per_s=load.rate_per_s * float(np.mean(requests.new)),
            good_per_s=load.rate_per_s * good,
            good_share=good,
            mean_batch=usual.mean_batch,
            power=self._power(usual, load.requests / load.rate_per_s),
        )

    def _power(self, served: Served, seconds: float) -> Power | None:
        """Return the watts of all cards: of prompts, of tokens at the mean batch, and idle."""
        run = replace(self._load.run, batch=max(round(served.mean_batch), 1), context=0)
        result = self._predict(self._model, run)
        if result.token is None or result.first_token is None:
            return None
        busy = served.prompt_busy_s + served.decode_busy_s
        used = (
            power_share(result.first_token.shares) * served.prompt_busy_s
            + power_share(result.token.shares) * served.decode_busy_s
            + OF_WAITING * max(seconds - busy, 0.0)
        )
        return power_of(self._device, used / max(seconds, busy), run.cards)


def _within(served: Served, limits: Limits) -> Floats:
    """Return which requests keep the limits, float64 [N] of 0 and 1."""
    within = np.ones(len(served.first_s))
    if limits.first_ms is not None:
        within *= 1000 * served.first_s <= limits.first_ms
    if limits.token_ms is not None:
        within *= ~(1000 * served.token_s > limits.token_ms)
    return within


def _tail(usual: Floats, fast: Floats, slow: Floats | None) -> Tail | None:
    """Return the percentiles in ms, with those of the faster and slower run; None of no samples."""
    middle, low = _percentiles(usual), _percentiles(fast)
    high = None if slow is None else _percentiles(slow)
    if middle is None or low is None:
        return None
    ends = zip(middle, low, high or [math.inf] * len(middle), strict=True)
    return Tail(*(Between(*values) for values in ends))


def _percentiles(seconds: Floats) -> Percentiles | None:
    used = settled(seconds)
    return percentiles(1000 * used[~np.isnan(used)])


def _too_small(alone: Generation) -> str:
    return (
        "its memory does not hold one sequence beside the weights"
        if alone.fits
        else ("its memory does not hold the model")
    )


def checked_load(model: DecoderArchitecture, load: Load) -> Load:
    """Return a load with its rate, that of the trace where none is stated.

    Raises:
        InputError: it makes no sense, by the name of the option on the command line.
    """
    if load.trace:
        recorded = Trace([request.time_s for request in load.trace])
        rate = load.rate_per_s or len(load.trace) / recorded.cycle_s
        load = replace(load, rate_per_s=rate, requests=max(len(load.trace), _FEWEST_REQUESTS))
        for line, request in enumerate(load.trace, 2):
            if request.prompt + request.new > model.max_context:
                raise InputError(
                    f"--trace, line {line}",
                    f"the context of {model.name} has {model.max_context:,} tokens, and the "
                    f"request has {request.prompt + request.new:,}",
                    "leave out that request, or choose a model with a longer context",
                )
    if load.rate_per_s == 0:
        raise InputError("--rate", "no load is stated", "add --rate 8/s, or --trace FILE")
    check_numbers(load)
    check(model, load.run)
    return load
