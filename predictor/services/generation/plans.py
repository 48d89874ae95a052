"""Plans of runs of a language model on a device: runtime, format, rates and deviations."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.devices.operating import requested_clocks
from predictor.language import runtimes
from predictor.language.architecture import DecoderArchitecture
from predictor.language.cards import ONE_CARD, Cards, cache_copies, check_cards, link_of
from predictor.language.clocked import clock_spread, machine_at
from predictor.language.deviations import Observed, Origin, target_of
from predictor.language.machine import Machine, machine_of, shared, with_float8
from predictor.language.memory import Memory, card_memory, longest_context, memory_of
from predictor.language.passes import Passes, decode_pass, prefill_passes
from predictor.language.rates import Group, decode_parts, group_of
from predictor.language.rates_file import shipped_rates
from predictor.language.stored import StoredWeights
from predictor.language.weights import FLOAT8, KV_BITS, WeightFormat, weight_format
from predictor.services.generation.probes import DecodeProbe
from predictor.services.generation.records import GenerationRequest, MeasuredRate

# The format that users of a runtime mostly take; that of llama.cpp stands below.
_RUNTIME_WEIGHTS: Final[Mapping[str, str]] = {
    "genie": "int4-128",
    "mlc": "q4f16",
    "onnxruntime-genai": "int4-32",
    "tensorrt-llm": "fp16",
    "vllm": "fp16",
}
_USUAL_WEIGHTS: Final = "q4_k_m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A device with the runtime that it takes, its rates, and the deviation that clocks add."""

    device: Device
    runtime: runtimes.LanguageRuntime
    backend: str
    form: WeightFormat
    machine: Machine
    spread: float

    @property
    def cards(self) -> Cards:
        """The cards that share the model."""
        return self.machine.cards


def can_run(device: Device, request: GenerationRequest) -> bool:
    """Whether a run has a number on a device."""
    return isinstance(planned(device, request), Plan)


def planned(
    device: Device,
    request: GenerationRequest,
    stored: StoredWeights | None = None,
    model: DecoderArchitecture | None = None,
) -> Plan | InputError:
    """Return how a run meets a device, or why it cannot run there.

    Args:
        device: the device.
        request: the run.
        stored: format of the weights in the model's files.
        model: that cards share; None where it is not looked at whether they can.
    """
    try:
        runtime, backend = runtimes.runtime_for(device, request.runtime)
        machine = machine_of(device)
        form = form_of(request, stored, runtime.name)
        if form.matrices == FLOAT8:
            machine = with_float8(machine, device)
        cards = Cards(request.cards, request.pipeline or not runtime.tensor_parallel)
        if model is not None:
            check_cards(model, device, cards)
        machine = shared(machine, cards, link_of(device))
        clocked = machine
        if request.mode or request.clock:
            clocks = requested_clocks(device, request.clock, request.mode)
            clocked = machine_at(machine, device, clocks)
    except InputError as error:
        return error
    return Plan(
        device=device,
        runtime=runtime,
        backend=backend,
        form=form,
        machine=clocked,
        spread=clock_spread(machine, clocked, device),
    )


def form_of(request: GenerationRequest, stored: StoredWeights | None, runtime: str) -> WeightFormat:
    """Return the format that is requested, else stored, else usual under a runtime."""
    form = stored.form_for(runtime) if stored and not request.weights else None
    usual = _RUNTIME_WEIGHTS.get(runtime, _USUAL_WEIGHTS)
    return form or weight_format(request.weights or usual)


class Work:
    """The passes of a run, counted once a format and micro-batch."""

    def __init__(self, model: DecoderArchitecture, request: GenerationRequest) -> None:
        self.model, self.request = model, request
        self.kv_bits = KV_BITS[request.kv_precision]
        self.prefill = cache(self._prefill)
        self.decode = cache(self._decode)
        self.memory = cache(self._memory)
        self.longest = cache(self._longest)

    def single_decode(self, form: WeightFormat, fused: bool, cards: Cards) -> Passes:
        """Return the pass of a token of one sequence."""
        return Work(self.model, replace(self.request, batch=1)).decode(form, fused, cards)

    def micro(self, cards: Cards) -> int:
        """Return the sequences of a pass: a pipeline works at as many parts as it has cards."""
        return math.ceil(self.request.batch / cards.count) if cards.pipeline else self.request.batch

    def _prefill(
        self, form: WeightFormat, micro_batch: int, fused: bool, cards: Cards = ONE_CARD
    ) -> Passes:
        tokens, batch = self.request.prompt, self.micro(cards)
        # A pass of llama.cpp holds tokens of all sequences.
        size = max(micro_batch // batch, 1) if micro_batch else tokens
        passes = prefill_passes(self.model, form, self.kv_bits, tokens, batch, size, fused=fused)
        return self._copied(passes, cards)

    def _decode(self, form: WeightFormat, fused: bool, cards: Cards = ONE_CARD) -> Passes:
        depth, batch = self.request.depth, self.micro(cards)
        passes = decode_pass(self.model, form, self.kv_bits, depth, batch, fused=fused)
        return self._copied(passes, cards)

    def _copied(self, passes: Passes, cards: Cards) -> Passes:
        """Return passes that read the cache of key heads on every card that has a copy."""
        copies = cache_copies(self.model, cards)
        return passes if copies == 1 else replace(passes, kv_bytes=copies * passes.kv_bytes)

    def _memory(self, form: WeightFormat, on_host: bool, cards: Cards = ONE_CARD) -> Memory:
        context, batch = self.request.longest, self.request.batch
        memory = memory_of(self.model, form, context, batch, self.kv_bits, table_on_host=on_host)
        return card_memory(self.model, memory, cards)

    def _longest(
        self, form: WeightFormat, on_host: bool, usable: float, cards: Cards = ONE_CARD
    ) -> int:
        batch = self.request.batch
        return longest_context(
            self.model, form, usable, batch, self.kv_bits, table_on_host=on_host, cards=cards
        )


def deviations_of_user(
    request: GenerationRequest,
    measured: Sequence[MeasuredRate],
    probes: Sequence[DecodeProbe],
) -> dict[str, list[Observed]]:
    """Return the deviations of the user's measurements and probes by backend."""
    deviations: dict[str, list[Observed]] = defaultdict(list)
    for rate in measured:
        plan = planned(rate.device, rate.request, rate.stored, rate.model)
        if isinstance(plan, InputError):
            raise plan
        fused = shipped_rates()[plan.backend].fuses_on(plan.device.id)
        passes = Work(rate.model, rate.request).decode(plan.form, fused, plan.cards)
        seconds = rate.request.batch / rate.tokens_per_s
        deviations[plan.backend].append(
            _observed(plan, [(passes, seconds)], group_of(plan.form), Origin.MEASURED)
        )
    of_device: dict[str, list[DecodeProbe]] = defaultdict(list)
    for probe in probes:
        of_device[probe.device.id].append(probe)
    for device_probes in of_device.values():
        plan = planned(device_probes[0].device, request)
        if isinstance(plan, Plan):
            runs = [(probe.passes, probe.seconds) for probe in device_probes]
            deviations[plan.backend].append(_observed(plan, runs, Group.HALF, Origin.PROBED))
    return deviations


def _observed(
    plan: Plan, runs: Sequence[tuple[Passes, float]], group: Group, origin: Origin
) -> Observed:
    """Return the median deviation of runs on a device from physics, of passes and their seconds."""
    c = shipped_rates()[plan.backend].coefficients
    deviations = []
    for passes, seconds in runs:
        parts = decode_parts(passes, plan.machine, c, group)
        deviations.append(math.log(seconds / float(sum(part.sum() for part in parts.values()))))
    target = target_of(plan.device, group)
    deviation = float(np.median(deviations))
    return replace(target, deviation=deviation, rates=len(runs), origin=origin)
