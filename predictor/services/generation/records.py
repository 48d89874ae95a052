"""Runs of language models: the request, its results on devices, and rates that users measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from predictor.core.records import Basis, Device

if TYPE_CHECKING:
    from predictor.language.architecture import DecoderArchitecture
    from predictor.language.memory import Memory, UsableMemory
    from predictor.language.power import Power
    from predictor.language.rates import Part
    from predictor.language.stored import StoredWeights


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """A run of a language model.

    Attributes:
        prompt: tokens of the prompt of one sequence.
        new: tokens that are generated after it.
        context: tokens in the cache at which tokens a second are read; 0 for the prompt and half of
            the new tokens.
        batch: sequences at once.
        weights: name of a format; empty for the usual one of the runtime.
        kv_precision: of the KV cache.
        runtime: name; empty for llama.cpp where it runs, else the first that does.
        mode: name of a power mode of the devices; empty for their default clocks.
        clock: clocks such as ``gpu=612,mem=1600``, which go before those of the mode.
        cards: of one device that share the model.
        pipeline: whether each card has some of the layers, not a part of each; runtimes that do
            not share layers are pipelines anyway.
    """

    prompt: int = 512
    new: int = 128
    context: int = 0
    batch: int = 1
    weights: str = ""
    kv_precision: str = "fp16"
    runtime: str = ""
    mode: str = ""
    clock: str = ""
    cards: int = 1
    pipeline: bool = False

    def fitted(self, context: int) -> GenerationRequest:
        """Return the run, or a shorter one where a model's context does not hold it."""
        if self.longest <= context:
            return self
        return replace(self, prompt=max(context // 2, 1), new=context // 4, context=0)

    @property
    def longest(self) -> int:
        """Tokens of a sequence that the cache has to hold."""
        return max(self.context, self.prompt + self.new)

    @property
    def depth(self) -> int:
        """Tokens in the cache where tokens a second are read."""
        return self.context or self.prompt + self.new // 2


@dataclass(frozen=True, slots=True)
class Interval:
    """A time with its 80 % interval and its lower bound by physics, in ms.

    Attributes:
        median, low, high: of the distribution.
        bound: that no run can be under.
        shares: of each part, the largest first; those that take nothing are left out.
    """

    median: float
    low: float
    high: float
    bound: float
    shares: Mapping[Part, float]

    @property
    def binds(self) -> Part:
        """The part that takes most of it."""
        return next(iter(self.shares))


@dataclass(frozen=True, slots=True)
class Split:
    """Layers of a model between a card and its host.

    Attributes:
        host: processor that has the rest of the layers and the head.
        card_layers: number of layers on the card.
        layers: of the model.
        host_bytes: that the host's part takes.
        usable: memory that the host gives; None where its memory is not known.
    """

    host: Device
    card_layers: int
    layers: int
    host_bytes: float
    usable: UsableMemory | None

    @property
    def fits(self) -> bool | None:
        """Whether the host holds its part; None where its memory is not known."""
        return None if self.usable is None else self.host_bytes <= self.usable.bytes

    @property
    def words(self) -> str:
        """The split in a few words: ``32 of 40 layers, the others on Intel Core i9-10900X``."""
        return f"{self.card_layers} of {self.layers} layers, the others on {self.host.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A language model on a device.

    Attributes:
        model: name.
        device: the device.
        runtime: name, empty where none runs.
        weights: name of the format.
        first_token: ms to the first token of all sequences; None without a number.
        token: ms of each further token of all sequences; None without a number.
        request: the run.
        memory: that it takes.
        usable: memory that the device gives; None where its memory is not known.
        longest_context: that fits; None where the memory is not known.
        fits_on: cards of the device that hold it together; None where those of the run do, or
            none do.
        basis: of the times.
        evidence: measurements that they rest on, in words.
        problem: why there is no number, without the name of the device; empty where there is one.
        split: where a host has a part of the layers; ``memory`` is that of the card then.
    """

    model: str
    device: Device
    runtime: str = ""
    weights: str
    first_token: Interval | None = None
    token: Interval | None = None
    request: GenerationRequest
    memory: Memory
    usable: UsableMemory | None
    longest_context: int | None = None
    fits_on: int | None = None
    basis: Basis | None = None
    evidence: str = ""
    problem: str = ""
    split: Split | None = None

    @property
    def fits(self) -> bool | None:
        """Whether the memory suffices, of a host too; None where it is not known."""
        on_device = None if self.usable is None else self.memory.total <= self.usable.bytes
        if self.split is None or on_device is False:
            return on_device
        on_host = self.split.fits
        return on_host if on_host is False else on_device and on_host

    @property
    def prefill_tokens_per_s(self) -> float | None:
        """Prompt tokens a second of all sequences."""
        return self._rate(self.first_token, self.request.prompt)

    @property
    def decode_tokens_per_s(self) -> float | None:
        """New tokens a second of all sequences."""
        return self._rate(self.token, 1)

    @property
    def end_to_end(self) -> Interval | None:
        """Ms from the prompt to the last token of all sequences.

        None without a number, and where tokens a second are read at another depth than the middle
        of the answer. Phases deviate independently.
        """
        first, token, request = self.first_token, self.token, self.request
        if first is None or token is None or request.context:
            return None
        tokens = request.new - 1
        median = first.median + tokens * token.median
        parts = ((first, first.median / median), (token, tokens * token.median / median))
        width = math.hypot(*(share * math.log(time.high / time.median) for time, share in parts))
        shares: dict[Part, float] = {}
        for time, of_time in parts:
            for part, share in time.shares.items():
                shares[part] = shares.get(part, 0.0) + share * of_time
        bound = first.bound + tokens * token.bound
        return Interval(
            median,
            max(median * math.exp(-width), bound),
            median * math.exp(width),
            bound,
            dict(sorted(shares.items(), key=lambda item: -item[1])),
        )

    @property
    def power(self) -> Power | None:
        """Watts of all cards during the run; None where nothing is known of it."""
        from predictor.language.power import power_of, power_share  # noqa: PLC0415 - with its first use

        total = self.end_to_end
        if total is None:
            return None
        return power_of(self.device, power_share(total.shares), self.request.cards)

    @property
    def joules_per_token(self) -> Power | None:
        """Joules of a new token of one sequence, its share of the prompts with it."""
        from predictor.language.power import Power  # noqa: PLC0415 - with its first use

        power, total = self.power, self.end_to_end
        if power is None or total is None:
            return None
        tokens = 1000 * self.request.new * self.request.batch
        joules = power.median * total.median / tokens
        of_power, of_time = math.log(power.high / power.median), math.log(total.high / total.median)
        width = math.exp(math.hypot(of_power, of_time))
        return Power(joules, joules / width, joules * width)

    def _rate(self, interval: Interval | None, tokens: int) -> float | None:
        return None if interval is None else 1000 * tokens * self.request.batch / interval.median


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """New tokens a second of all sequences that the user measured in a run.

    Attributes:
        device: that it was on.
        tokens_per_s: measured.
        model: that ran.
        request: the run; without a format of weights or a runtime the usual ones.
        stored: format of the weights in the model's files.
    """

    device: Device
    tokens_per_s: float
    model: DecoderArchitecture
    request: GenerationRequest
    stored: StoredWeights | None = None
