"""The time of the steps of a server, tabled from predictions of single runs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from predictor.language.rates import Part
from predictor.services.generation.records import Generation, GenerationRequest, Interval
from predictor.simulation.batching import DecodeStep

Predict = Callable[[GenerationRequest], Generation]

_FEW_TOKENS: Final = 16
_STEPS_OF_TWO: Final = 2  # sizes that are tabled between a number and twice of it


class Line(NamedTuple):
    """A quantity by size, tabled at ascending sizes and linear between and after them."""

    sizes: Sequence[int]
    values: Sequence[float]

    def at(self, size: float) -> float:
        """Return the quantity at a size."""
        last = len(self.sizes) - 1
        if not last:
            return self.values[0]
        place = min(max(bisect_right(self.sizes, size), 1), last)
        left, right = self.sizes[place - 1], self.sizes[place]
        share = (size - left) / (right - left)
        return self.values[place - 1] + share * (self.values[place] - self.values[place - 1])


@dataclass(frozen=True, slots=True)
class StepTable:
    """Times of steps, see ``predictor.simulation.batching.StepTimes``.

    Attributes:
        prompt: seconds without attention, by tokens.
        attention: seconds of attention of a prompt, by tokens.
        base: seconds of a step of decoding without its cache, by sequences.
        cached: seconds for each token in the cache, by sequences.
        weights: seconds for reading the weights, by sequences.
    """

    prompt: Line
    attention: Line
    base: Line
    cached: Line
    weights: Line

    def prompt_s(self, tokens: int) -> float:
        """See ``StepTimes``."""
        return self.prompt.at(tokens)

    def attention_s(self, past: int, tokens: int) -> float:
        """See ``StepTimes``."""
        before = self.attention.at(past) if past else 0.0
        return max(self.attention.at(past + tokens) - before, 0.0)

    def decode(self, sequences: int) -> DecodeStep:
        """See ``StepTimes``."""
        base = self.base.at(sequences)
        return DecodeStep(base, self.cached.at(sequences), min(self.weights.at(sequences), base))


def sizes_to(largest: int) -> list[int]:
    """Return sizes from 1 to ``largest``, a factor of the root of two apart."""
    sizes = {largest, 1}
    size = 1.0
    while (size := size * 2 ** (1 / _STEPS_OF_TWO)) < largest:
        sizes.add(round(size))
    return sorted(sizes)


def step_tables(
    predict: Predict,
    run: GenerationRequest,
    longest: int,
    max_sequences: int,
    max_context: int,
    verified: int = 1,
) -> dict[str, StepTable]:
    """Return the table of the median times, and those of the ends of their 80 % interval.

    Args:
        predict: predicts a run on the device; it has a number for each.
        run: lengths, format and runtime.
        longest: tokens of the longest sequence.
        max_sequences: in a batch.
        max_context: of the model.
        verified: tokens of each sequence that a step multiplies, more than 1 of speculation.

    Returns:
        Tables under ``median``, ``low`` and ``high``.
    """
    alone = replace(run, batch=1, context=0)
    prompts = sizes_to(min(longest, max_context - 1))
    firsts = [_time(predict(replace(alone, prompt=size, new=1)).first_token) for size in prompts]
    batches = sizes_to(max_sequences)
    ends = (min(_FEW_TOKENS, longest), longest)
    tokens = [
        [
            _time(predict(replace(run, prompt=1, new=1, context=end, batch=batch * verified)).token)
            for end in ends
        ]
        for batch in batches
    ]
    return {
        name: _table(name, prompts, firsts, batches, ends, tokens, verified)
        for name in ("median", "low", "high")
    }


def with_draft(table: StepTable, draft: StepTable, drafted: int) -> StepTable:
    """Return the steps of a model with those of the one that drafts for it, of equal sizes.

    The draft reads every prompt too, and gives one token after the other before each step.
    """

    def joined(name: str, times: int) -> Line:
        line, added = getattr(table, name), getattr(draft, name)
        pairs = zip(line.values, added.values, strict=True)
        return Line(line.sizes, [one + times * other for one, other in pairs])

    return replace(
        table,
        prompt=joined("prompt", 1),
        attention=joined("attention", 1),
        base=joined("base", drafted),
        cached=joined("cached", drafted),
    )


def _time(interval: Interval | None) -> Interval:
    if interval is None:
        raise ValueError("a run without a number")
    return interval


def _table(
    name: str,
    prompts: Sequence[int],
    firsts: Sequence[Interval],
    batches: Sequence[int],
    ends: tuple[int, int],
    tokens: Sequence[Sequence[Interval]],
    verified: int,
) -> StepTable:
    seconds = [getattr(first, name) / 1000 for first in firsts]
    shares = [first.shares.get(Part.ATTENTION, 0.0) for first in firsts]
    pairs = [[getattr(time, name) / 1000 for time in row] for row in tokens]
    span = max(ends[1] - ends[0], 1)
    cached = [
        # Drafted tokens of a sequence read its cache once.
        max(long - short, 0.0) / (batch * span) / verified
        for batch, (short, long) in zip(batches, pairs, strict=True)
    ]
    base = [
        max(short - a_token * batch * verified * ends[0], 0.0)
        for batch, a_token, (short, _) in zip(batches, cached, pairs, strict=True)
    ]
    weights = [
        row[0].shares.get(Part.WEIGHTS, 0.0) * short
        for row, (short, _) in zip(tokens, pairs, strict=True)
    ]
    return StepTable(
        prompt=Line(prompts, [s * (1 - a) for s, a in zip(seconds, shares, strict=True)]),
        attention=Line(
            [0, *prompts], [0.0, *(s * a for s, a in zip(seconds, shares, strict=True))]
        ),
        base=Line(batches, base),
        cached=Line(batches, cached),
        weights=Line(batches, weights),
    )
