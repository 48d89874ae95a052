"""How a run of a language model meets a device: runtime, format, rates and deviations."""

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
from predictor.language.clocked import clock_spread, machine_at
from predictor.language.deviations import Observed, Origin, target_of
from predictor.language.machine import Machine, machine_of
from predictor.language.memory import Memory, longest_context, memory_of
from predictor.language.passes import Passes, decode_pass, prefill_passes
from predictor.language.rates import Group, decode_parts, group_of
from predictor.language.rates_file import shipped_rates
from predictor.language.stored import StoredWeights
from predictor.language.weights import KV_BITS, WeightFormat, weight_format
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


def can_run(device: Device, request: GenerationRequest) -> bool:
    """Whether a run has a number on a device."""
    return isinstance(planned(device, request), Plan)


def planned(
    device: Device, request: GenerationRequest, stored: StoredWeights | None = None
) -> Plan | InputError:
    """Return how a run meets a device, or why it cannot run there."""
    try:
        runtime, backend = runtimes.runtime_for(device, request.runtime)
        machine = machine_of(device)
        form = form_of(request, stored, runtime.name)
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

    def _prefill(self, form: WeightFormat, micro_batch: int, fused: bool) -> Passes:
        tokens, batch = self.request.prompt, self.request.batch
        # A pass of llama.cpp holds tokens of all sequences.
        size = max(micro_batch // batch, 1) if micro_batch else tokens
        return prefill_passes(self.model, form, self.kv_bits, tokens, batch, size, fused=fused)

    def _decode(self, form: WeightFormat, fused: bool) -> Passes:
        depth, batch = self.request.depth, self.request.batch
        return decode_pass(self.model, form, self.kv_bits, depth, batch, fused=fused)

    def _memory(self, form: WeightFormat, on_host: bool) -> Memory:
        context, batch = self.request.longest, self.request.batch
        return memory_of(self.model, form, context, batch, self.kv_bits, table_on_host=on_host)

    def _longest(self, form: WeightFormat, on_host: bool, usable: float) -> int:
        batch = self.request.batch
        return longest_context(self.model, form, usable, batch, self.kv_bits, table_on_host=on_host)


def deviations_of_user(
    request: GenerationRequest,
    measured: Sequence[MeasuredRate],
    probes: Sequence[DecodeProbe],
) -> dict[str, list[Observed]]:
    """Return the deviations of the user's measurements and probes by backend."""
    deviations: dict[str, list[Observed]] = defaultdict(list)
    for rate in measured:
        plan = planned(rate.device, rate.request, rate.stored)
        if isinstance(plan, InputError):
            raise plan
        fused = shipped_rates()[plan.backend].fuses_on(plan.device.id)
        passes = Work(rate.model, rate.request).decode(plan.form, fused)
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
