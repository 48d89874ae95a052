"""A load on a language model, and how devices serve it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from predictor.core.records import Device
from predictor.services.generation.records import Generation, GenerationRequest

if TYPE_CHECKING:
    from predictor.language.architecture import DecoderArchitecture
    from predictor.language.power import Power


class TracedRequest(NamedTuple):
    """A request of a trace.

    Attributes:
        time_s: of its arrival.
        prompt: tokens.
        new: tokens of its answer.
    """

    time_s: float
    prompt: int
    new: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a load: latency, energy and cost.

    Attributes:
        first_ms: to the first token; None for no limit.
        token_ms: of each further token, on average over an answer; None for no limit.
        share: of the requests that have to keep both.
        joules: of a new token; None for no limit.
        cost: of a million new tokens; None for no limit.
    """

    first_ms: float | None = None
    token_ms: float | None = None
    share: float = 0.9
    joules: float | None = None
    cost: float | None = None

    def __bool__(self) -> bool:
        return self.first_ms is not None or self.token_ms is not None


@dataclass(frozen=True, slots=True)
class Speculation:
    """Tokens that are drafted, then verified in one step.

    Attributes:
        tokens: drafted for each step.
        acceptance: chance that a drafted token is right, under 1.
        model: that drafts; None where a draft costs nothing, as tokens of the prompt do.

    References:
        Leviathan et al., Fast Inference from Transformers via Speculative Decoding (2023), Eq. 1.
    """

    tokens: int
    acceptance: float
    model: DecoderArchitecture | None = None

    @property
    def tokens_a_step(self) -> float:
        """Tokens that a step gives on average: the accepted ones and one of its own."""
        a = self.acceptance
        return float((1 - a ** (self.tokens + 1)) / (1 - a))


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Requests to a language model and how they are served.

    Attributes:
        run: lengths, format, runtime and cards of a request; its batch is that of the queue.
        rate_per_s: requests a second; 0 for that of the trace.
        trace: recorded requests; without them arrivals are Poisson's, of equal lengths.
        limits: what users bear.
        max_sequences: in a batch.
        chunk: most tokens of a step where prompts come in parts; 0 for prompts as a whole.
        prefix_hit: share of a prompt that is in the cache already, under 1.
        speculation: drafted tokens, if any.
        price_per_hour: of one card, in any currency; 0 where none is stated.
        prices: of devices that have one of their own.
        requests: that are simulated.
        seed: of the arrivals.
    """

    run: GenerationRequest
    rate_per_s: float = 0.0
    trace: Sequence[TracedRequest] = ()
    limits: Limits = field(default_factory=Limits)
    max_sequences: int = 256
    chunk: int = 0
    prefix_hit: float = 0.0
    speculation: Speculation | None = None
    price_per_hour: float = 0.0
    prices: Mapping[str, float] = field(default_factory=dict)
    requests: int = 10_000
    seed: int = 0

    @property
    def mean_new(self) -> float:
        """Tokens of an answer on average."""
        if not self.trace:
            return float(self.run.new)
        return sum(request.new for request in self.trace) / len(self.trace)


@dataclass(frozen=True, slots=True)
class Between:
    """A figure with its 80 % interval.

    Attributes:
        median: with the predicted times.
        low, high: with the times at the ends of their intervals; ``high`` is infinite where the
            load exceeds what the slower times serve.
    """

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Tail:
    """Percentiles with their intervals, in ms."""

    p50: Between
    p90: Between
    p99: Between


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A load on a device.

    Attributes:
        load: the requests.
        generation: one request alone there.
        sequences: that memory holds at once at full length, at most those of a batch; None where
            the memory is not known.
        capacity_per_s: requests a second that it completes when some always wait.
        first: ms to the first token; None over capacity.
        token: ms of each further token; None over capacity or of answers of one token.
        tokens_per_s: new tokens of all users; None over capacity.
        good_per_s: requests a second within the limits; None over capacity.
        good_share: of the requests; None over capacity.
        mean_batch: sequences in the batch on average; None over capacity.
        power: watts of all cards; None over capacity and where nothing is known of it.
        largest_per_s: requests a second at which the share of the limits is kept, 0 if at none.
        shared_joules: of a new token where the load is spread over as many groups of cards as the
            limits of latency need; None where that is one, or not known.
        problem: why there is no figure, without the name of the device.
    """

    load: Load
    generation: Generation
    sequences: int | None = None
    capacity_per_s: Between | None = None
    first: Tail | None = None
    token: Tail | None = None
    tokens_per_s: float | None = None
    good_per_s: float | None = None
    good_share: float | None = None
    mean_batch: float | None = None
    power: Power | None = None
    largest_per_s: float | None = None
    shared_joules: Power | None = None
    problem: str = ""

    @property
    def device(self) -> Device:
        """The device."""
        return self.generation.device

    @property
    def overload(self) -> float | None:
        """Requests over what is completed, 1 at capacity; None where that is not known."""
        rate, capacity = self.load.rate_per_s, self.capacity_per_s
        return rate / capacity.median if capacity and rate else None

    @property
    def groups(self) -> int | None:
        """Groups of cards that serve the load within the limits of latency; None for none.

        Requests are spread at random among them.
        """
        if not self.largest_per_s:
            return None
        return math.ceil(self.load.rate_per_s / self.largest_per_s)

    @property
    def cards_needed(self) -> int | None:
        """Cards that serve the load within all limits.

        None where no rate keeps them, or where a card does not hold the model. More cards wait
        longer for requests: where joules or cost are over their limit with the fewest, they are so
        with any number.
        """
        groups = self.groups
        if groups is None or self.excess:
            return None
        return self.load.run.cards * groups

    @property
    def excess(self) -> tuple[str, ...]:
        """Limits of joules and cost that the fewest cards exceed, or that nothing is known of."""
        limits, joules, cost = self.load.limits, self.joules_needed, self.cost_needed
        return tuple(
            name
            for name, limit, value in (
                ("joules", limits.joules, joules and joules.median),
                ("cost", limits.cost, cost),
            )
            if limit is not None and (value is None or value > limit)
        )

    @property
    def joules_needed(self) -> Power | None:
        """Joules of a new token on the cards that latency needs."""
        return self.shared_joules or self.joules_per_token

    @property
    def cost_needed(self) -> float | None:
        """Price of a million new tokens on the cards that latency needs; None without a price."""
        price, groups = self.load.price_per_hour, self.groups
        if not price or not groups:
            return None
        tokens_per_s = self.load.rate_per_s * self.load.mean_new
        return 1e6 * price * groups * self.load.run.cards / (3600 * tokens_per_s)

    @property
    def holds(self) -> bool:
        """Whether one group serves the load, and enough of it within the limits."""
        in_time = self.good_share is not None and self.good_share >= self.load.limits.share
        return in_time and not self.excess

    @property
    def joules_per_token(self) -> Power | None:
        """Joules of a new token, idle time with it."""
        if self.power is None or not self.tokens_per_s:
            return None
        from predictor.language.power import Power  # noqa: PLC0415 - with its first use

        return Power(*(watts / self.tokens_per_s for watts in self.power))

    @property
    def cost_per_million(self) -> float | None:
        """Price of a million new tokens at the load; None without a price or over capacity."""
        price = self.load.price_per_hour
        if not price or not self.tokens_per_s:
            return None
        return 1e6 * price * self.load.run.cards / (3600 * self.tokens_per_s)


@dataclass(frozen=True, slots=True)
class LanguageRun:
    """A run of a language model on devices.

    Attributes:
        model: the decoder.
        request: the run.
        results: one a device, at least one.
        serving: of the load that is looked at, one a device.
    """

    model: DecoderArchitecture
    request: GenerationRequest
    results: Sequence[Generation]
    serving: Sequence[Serving] = ()
