"""Continuous batching: sequences join and leave the batch of a language model at each step.

A step multiplies prompts, or gives a token to each sequence of the batch; under chunked prefill it
does both, a part of a prompt at a time. A sequence is admitted in the order of arrival, when there
is a place in the batch and memory for all its tokens, so that nothing is ever put out again.

References:
    Yu et al., Orca: A Distributed Serving System for Transformer-Based Models, OSDI 2022;
    Agrawal et al., SARATHI: Efficient LLM Inference by Piggybacking Decodes with Chunked Prefills.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from predictor.simulation.events import Events

Floats = NDArray[np.float64]


class DecodeStep(NamedTuple):
    """Seconds of a step that gives every sequence its tokens, by the size of the batch.

    Attributes:
        base_s: with an empty cache.
        token_s: for each token in the cache of any sequence.
        weights_s: of the base, for reading the weights: what a prompt in the same step shares.
    """

    base_s: float
    token_s: float
    weights_s: float = 0.0


class StepTimes(Protocol):
    """The time of the steps of a language model on a device."""

    def prompt_s(self, tokens: int) -> float:
        """Return the seconds of ``tokens`` of prompts in one step, without attention."""
        ...

    def attention_s(self, past: int, tokens: int) -> float:
        """Return the seconds of attention of ``tokens`` of a prompt after ``past`` of them."""
        ...

    def decode(self, sequences: int) -> DecodeStep:
        """Return the step of that many sequences, at least one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """How a server forms its batches.

    Attributes:
        max_sequences: in the batch.
        cache_bytes: for the caches of all sequences.
        prompt_tokens: most tokens of prompts in one step; one prompt may exceed it where prompts
            are not chunked.
        chunked: whether prompts come in parts, with the tokens of the batch in the same step.
        prefix_hit: share of a prompt that an earlier one left in the cache, under 1.
        tokens_a_step: that a sequence gets at a step, more than 1 of speculative decoding.
    """

    max_sequences: int
    cache_bytes: float = math.inf
    prompt_tokens: int = 8192
    chunked: bool = False
    prefix_hit: float = 0.0
    tokens_a_step: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """Requests in the order of their arrival, [N] each.

    Attributes:
        times_s: of arrival.
        prompts: tokens.
        new: tokens of the answers, at least 1.
        cache_bytes: that the sequence takes at its full length.
    """

    times_s: Sequence[float]
    prompts: Sequence[int]
    new: Sequence[int]
    cache_bytes: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What became of the requests, float64 [N] each.

    Attributes:
        first_s: seconds from arrival to the first token.
        token_s: seconds of each further token on average; nan of an answer of one token.
        finish_s: time at which the answer was complete.
        prompt_busy_s: seconds of the steps that multiplied prompts.
        decode_busy_s: seconds of all other steps.
        mean_batch: sequences in the batch, on average over the steps that gave tokens.
    """

    first_s: Floats
    token_s: Floats
    finish_s: Floats
    prompt_busy_s: float
    decode_busy_s: float
    mean_batch: float


class _Prompt:
    """An admitted request whose prompt is not finished: what is done of it, and left."""

    __slots__ = ("done", "index", "left")

    def __init__(self, index: int, done: int, left: int) -> None:
        self.index, self.done, self.left = index, done, left


class BatchServer:
    """A server of a language model on the clock of a simulation.

    Args:
        events: the clock.
        steps: the time of its steps.
        batching: how it forms batches.
        requests: that come; each is started by ``arrive`` with its index.
    """

    def __init__(
        self, events: Events, steps: StepTimes, batching: Batching, requests: Requests
    ) -> None:
        self._events, self._steps = events, steps
        self._batching, self._requests = batching, requests
        self._decode = [
            DecodeStep(0.0, 0.0),
            *(steps.decode(count) for count in range(1, batching.max_sequences + 1)),
        ]
        self._waiting: deque[int] = deque()
        self._prompts: deque[_Prompt] = deque()
        self._ends: list[tuple[int, int]] = []  # last step and index of the sequences in the batch
        self._step = 0
        self._cached = 0.0  # tokens of the sequences in the batch
        self._free_bytes = batching.cache_bytes
        self._busy = False
        count = len(requests.times_s)
        self._first, self._finish = [math.nan] * count, [math.nan] * count
        self._prompt_s = self._decode_s = 0.0
        self._sequence_steps = self._decode_steps = 0

    def arrive(self, index: int) -> None:
        """Queue a request, and start it where the server is idle."""
        self._waiting.append(index)
        if not self._busy:
            self._next_step()

    def served(self) -> Served:
        """Return what became of the requests, once all events have run."""
        arrival = np.array(self._requests.times_s, np.float64)
        first, finish = np.array(self._first), np.array(self._finish)
        further = np.array(self._requests.new, np.float64) - 1
        with np.errstate(invalid="ignore"):
            token = np.where(further > 0, (finish - first) / further, np.nan)
        return Served(
            first_s=first - arrival,
            token_s=token,
            finish_s=finish,
            prompt_busy_s=self._prompt_s,
            decode_busy_s=self._decode_s,
            mean_batch=self._sequence_steps / max(self._decode_steps, 1),
        )

    def _admit(self) -> None:
        waiting, requests = self._waiting, self._requests
        places = self._batching.max_sequences - len(self._ends) - len(self._prompts)
        while waiting and places and requests.cache_bytes[waiting[0]] <= self._free_bytes:
            index = waiting.popleft()
            self._free_bytes -= requests.cache_bytes[index]
            tokens = requests.prompts[index]
            done = min(int(tokens * self._batching.prefix_hit), tokens - 1)
            self._prompts.append(_Prompt(index, done, tokens - done))
            places -= 1

    def _next_step(self) -> None:
        self._admit()
        self._busy = bool(self._prompts or self._ends)
        if self._prompts:
            self._prompt_step()
        elif self._ends:
            self._decode_steps_until_change()

    def _prompt_step(self) -> None:
        """Multiply prompts up to the limit of a step, with the tokens of the batch if chunked."""
        batch = len(self._ends) if self._batching.chunked else 0
        room = max(self._batching.prompt_tokens - batch, 1)
        finished: list[int] = []
        total, seconds = 0, 0.0
        while self._prompts and total < room:
            prompt = self._prompts[0]
            if self._batching.chunked:
                tokens = min(prompt.left, room - total)
            elif total and total + prompt.left > room:
                break
            else:
                tokens = prompt.left
            seconds += self._steps.attention_s(prompt.done, tokens)
            total += tokens
            prompt.done += tokens
            prompt.left -= tokens
            if not prompt.left:
                finished.append(self._prompts.popleft().index)
        multiplied = self._steps.prompt_s(total)
        seconds += multiplied
        if batch:
            step = self._decode[batch]
            # The weights are read once for both.
            seconds += step.base_s - min(step.weights_s, multiplied) + step.token_s * self._cached
            self._count(batch, 1)
        self._prompt_s += seconds
        self._events.at(self._events.now_s + seconds, self._prompted, finished)

    def _prompted(self, finished: Sequence[int]) -> None:
        if self._batching.chunked:
            self._leave()
        a_step, requests = self._batching.tokens_a_step, self._requests
        for index in finished:
            self._first[index] = self._events.now_s
            steps = math.ceil((requests.new[index] - 1) / a_step)
            if steps:
                heappush(self._ends, (self._step + steps, index))
                self._cached += requests.prompts[index] + 1
            else:
                self._end(index)
        self._next_step()

    def _decode_steps_until_change(self) -> None:
        """Give tokens until a sequence ends, or an event comes that may add one."""
        batch = len(self._ends)
        step = self._decode[batch]
        first_s = step.base_s + step.token_s * self._cached
        growth_s = step.token_s * batch * self._batching.tokens_a_step
        steps = self._ends[0][0] - self._step
        until_s = self._events.next_s - self._events.now_s
        if until_s < steps * first_s + growth_s * steps * (steps - 1) / 2:
            steps = max(1, min(steps, _steps_over(until_s, first_s, growth_s)))
        seconds = steps * first_s + growth_s * steps * (steps - 1) / 2
        self._decode_s += seconds
        self._count(batch, steps)
        self._events.at(self._events.now_s + seconds, self._decoded)

    def _decoded(self, _: object) -> None:
        self._leave()
        self._next_step()

    def _count(self, batch: int, steps: int) -> None:
        self._step += steps
        self._cached += batch * steps * self._batching.tokens_a_step
        self._sequence_steps += batch * steps
        self._decode_steps += steps

    def _leave(self) -> None:
        a_step, requests = self._batching.tokens_a_step, self._requests
        while self._ends and self._ends[0][0] <= self._step:
            _, index = heappop(self._ends)
            steps = math.ceil((requests.new[index] - 1) / a_step)
            self._cached -= requests.prompts[index] + 1 + steps * a_step
            self._end(index)

    def _end(self, index: int) -> None:
        self._finish[index] = self._events.now_s
        self._free_bytes += self._requests.cache_bytes[index]


def _steps_over(until_s: float, first_s: float, growth_s: float) -> int:
    """Return the fewest steps that last at least ``until_s``."""
    if growth_s <= 0:
        return math.ceil(until_s / first_s)
    linear = first_s - growth_s / 2
    return math.ceil((math.sqrt(linear**2 + 2 * growth_s * until_s) - linear) / growth_s)


def serve(steps: StepTimes, batching: Batching, requests: Requests) -> Served:
    """Return what becomes of requests on one server."""
    events = Events()
    server = BatchServer(events, steps, batching, requests)
    events.at_all(requests.times_s, server.arrive)
    events.run()
    return server.served()
