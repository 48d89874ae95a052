"""Time to first token, tokens a second and memory of a language model on devices."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from predictor.core.errors import InputError
from predictor.core.records import Basis, Device
from predictor.devices.operating import requested_clocks
from predictor.language import runtimes
from predictor.language.architecture import DecoderArchitecture
from predictor.language.clocked import clock_spread, machine_at
from predictor.language.deviations import (
    Z80,
    Deviations,
    Observed,
    Origin,
    evidence_text,
    target_of,
)
from predictor.language.machine import Machine, machine_of
from predictor.language.memory import Memory, longest_context, memory_of, usable_memory
from predictor.language.passes import Floats, Passes, decode_pass, prefill_passes
from predictor.language.rates import (
    Group,
    Part,
    Phase,
    attention_share,
    bound,
    decode_parts,
    group_of,
    prefill_parts,
)
from predictor.language.rates_file import Backend, shipped_rates
from predictor.language.stored import StoredWeights
from predictor.language.weights import KV_BITS, WeightFormat, weight_format
from predictor.services.generation.offload import Offload, split_with_host
from predictor.services.generation.probes import DecodeProbe
from predictor.services.generation.records import (
    Generation,
    GenerationRequest,
    Interval,
    MeasuredRate,
)

# The format that users of a runtime mostly take; that of llama.cpp stands below.
_RUNTIME_WEIGHTS: Final[Mapping[str, str]] = {
    "genie": "int4-128",
    "mlc": "q4f16",
    "onnxruntime-genai": "int4-32",
    "tensorrt-llm": "fp16",
    "vllm": "fp16",
}
_USUAL_WEIGHTS: Final = "q4_k_m"


def generate(
    model: DecoderArchitecture,
    devices: Sequence[Device],
    request: GenerationRequest,
    measured: Sequence[MeasuredRate] = (),
    probes: Sequence[DecodeProbe] = (),
    stored: StoredWeights | None = None,
    offload: Offload | None = None,
) -> list[Generation]:
    """Predict a run on devices.

    Args:
        model: the decoder.
        devices: targets.
        request: the run.
        measured: rates; they calibrate their device and similar ones, for other models and runs
            too.
        probes: of some devices; they calibrate as well, with the noise of another runtime.
        stored: format of the weights in the model's files, where the request names none.
        offload: a host that has the layers that cards under llama.cpp do not have.

    Returns:
        One entry a device, in their order; what cannot run has its problem.

    Raises:
        InputError: the request is not of this model: an unknown format or precision, a context
            that is longer than the model's; or a host that is no processor or cannot run it.
    """
    check(model, request)
    work = _Work(model, request)
    planned = [_planned(device, request, stored) for device in devices]
    user_deviations = _user_deviations(request, measured, probes)
    of_backend: dict[str, dict[int, _Plan]] = defaultdict(dict)
    results: dict[int, Generation] = {}
    for place, (device, plan) in enumerate(zip(devices, planned, strict=True)):
        if isinstance(plan, _Plan):
            of_backend[plan.backend][place] = plan
        else:
            form = _form(request, stored, "")
            results[place] = _without(work, device, form, plan.reason)
    for name, plans in of_backend.items():
        predicted = _predict(work, name, list(plans.values()), user_deviations)
        results.update(zip(plans, predicted, strict=True))
    on_devices = [results[place] for place in range(len(devices))]
    if offload is None:
        return on_devices
    of_host = replace(request, runtime="", mode="", clock="")
    (on_host,) = generate(model, [offload.host], of_host, measured, probes, stored)
    form = _form(request, stored, runtimes.LLAMA_CPP)
    return split_with_host(model, form, on_devices, on_host, offload)


def check(model: DecoderArchitecture, request: GenerationRequest) -> None:
    """Refuse a run that is not one of the model.

    Raises:
        InputError: see ``generate``.
    """
    if request.kv_precision not in KV_BITS:
        raise InputError(
            f"--kv-precision {request.kv_precision}",
            "there is no such precision of a KV cache",
            f"choose one of {', '.join(KV_BITS)}",
        )
    if request.weights:
        weight_format(request.weights)
    if request.longest > model.max_context:
        raise InputError(
            model.name,
            f"its context has {model.max_context:,} tokens, and {request.longest:,} are asked for",
            "give a shorter --prompt, --new or --context",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """A device with the runtime that it takes, its rates, and the deviation that clocks add."""

    device: Device
    runtime: runtimes.LanguageRuntime
    backend: str
    form: WeightFormat
    machine: Machine
    spread: float


def can_run(device: Device, request: GenerationRequest) -> bool:
    """Whether a run has a number on a device."""
    return isinstance(_planned(device, request), _Plan)


def _planned(
    device: Device, request: GenerationRequest, stored: StoredWeights | None = None
) -> _Plan | InputError:
    try:
        runtime, backend = runtimes.runtime_for(device, request.runtime)
        machine = machine_of(device)
        form = _form(request, stored, runtime.name)
        clocked = machine
        if request.mode or request.clock:
            clocks = requested_clocks(device, request.clock, request.mode)
            clocked = machine_at(machine, device, clocks)
    except InputError as error:
        return error
    return _Plan(
        device=device,
        runtime=runtime,
        backend=backend,
        form=form,
        machine=clocked,
        spread=clock_spread(machine, clocked, device),
    )


def _form(request: GenerationRequest, stored: StoredWeights | None, runtime: str) -> WeightFormat:
    """Return the format that is requested, else stored, else usual under a runtime."""
    form = stored.form_for(runtime) if stored and not request.weights else None
    usual = _RUNTIME_WEIGHTS.get(runtime, _USUAL_WEIGHTS)
    return form or weight_format(request.weights or usual)


class _Work:
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


def _user_deviations(
    request: GenerationRequest,
    measured: Sequence[MeasuredRate],
    probes: Sequence[DecodeProbe],
) -> dict[str, list[Observed]]:
    """Return the deviations of the user's measurements and probes by backend."""
    deviations: dict[str, list[Observed]] = defaultdict(list)
    for rate in measured:
        plan = _planned(rate.device, rate.request, rate.stored)
        if isinstance(plan, InputError):
            raise plan
        fused = shipped_rates()[plan.backend].fuses_on(plan.device.id)
        passes = _Work(rate.model, rate.request).decode(plan.form, fused)
        seconds = rate.request.batch / rate.tokens_per_s
        deviations[plan.backend].append(
            _observed(plan, [(passes, seconds)], group_of(plan.form), Origin.MEASURED)
        )
    of_device: dict[str, list[DecodeProbe]] = defaultdict(list)
    for probe in probes:
        of_device[probe.device.id].append(probe)
    for device_probes in of_device.values():
        plan = _planned(device_probes[0].device, request)
        if isinstance(plan, _Plan):
            runs = [(probe.passes, probe.seconds) for probe in device_probes]
            deviations[plan.backend].append(_observed(plan, runs, Group.HALF, Origin.PROBED))
    return deviations


def _observed(
    plan: _Plan, runs: Sequence[tuple[Passes, float]], group: Group, origin: Origin
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


def _predict(
    work: _Work,
    name: str,
    plans: Sequence[_Plan],
    user_deviations: Mapping[str, Sequence[Observed]],
) -> list[Generation]:
    """Predict the devices of one backend."""
    backend = shipped_rates()[name]
    observations = user_deviations.get(name, ())
    targets = [target_of(plan.device, group_of(plan.form)) for plan in plans]
    deviations = {
        Phase.PREFILL: backend.deviations[Phase.PREFILL],
        Phase.DECODE: backend.deviations[Phase.DECODE].with_user(observations),
    }
    times = {phase: [_time(work, plan, backend, phase) for plan in plans] for phase in Phase}
    of_phase = {
        phase: deviation.of(targets, [attention_share(time.parts) for time in times[phase]])
        for phase, deviation in deviations.items()
    }
    generations = []
    for place, (plan, target) in enumerate(zip(plans, targets, strict=True)):
        intervals = {
            phase: _interval(times[phase][place], means[place], spreads[place], plan.spread)
            for phase, (means, spreads) in of_phase.items()
        }
        evidence = _evidence(backend, target, deviations)
        generations.append(_generation(work, plan, backend, intervals, evidence))
    return generations


class _Evidence(NamedTuple):
    """The measurements that the times on a device rest on: their kind, and in words."""

    basis: Basis
    text: str


def _evidence(
    backend: Backend, target: Observed, deviations: Mapping[Phase, Deviations]
) -> _Evidence:
    prompts, tokens = deviations[Phase.PREFILL].observed, deviations[Phase.DECODE].observed
    is_of_user = any(o.is_of_user and o.device == target.device for o in tokens)
    basis = Basis.PROBED if is_of_user else Basis.ZERO_SHOT if tokens else Basis.ANALYTIC
    of_tokens = evidence_text(target, tokens, backend.title)
    of_prompts = evidence_text(target, prompts, backend.title)
    same = of_tokens == of_prompts
    return _Evidence(basis, of_tokens if same else f"{of_tokens}; prompt: {of_prompts}")


def _generation(
    work: _Work,
    plan: _Plan,
    backend: Backend,
    intervals: Mapping[Phase, Interval],
    evidence: _Evidence,
) -> Generation:
    usable = usable_memory(plan.device, backend.used_bytes.get(plan.device.id, 0))
    on_host = runtimes.table_on_host(plan.device, plan.backend)
    longest = None if usable is None else work.longest(plan.form, on_host, usable.bytes)
    return Generation(
        model=work.model.name,
        device=plan.device,
        runtime=plan.runtime.name,
        weights=plan.form.name,
        first_token=intervals[Phase.PREFILL],
        token=intervals[Phase.DECODE],
        request=work.request,
        memory=work.memory(plan.form, on_host),
        usable=usable,
        longest_context=longest,
        basis=evidence.basis,
        evidence=evidence.text,
    )


class _Time(NamedTuple):
    """A phase by physics: seconds by part and pass, and the least seconds in ms."""

    parts: Mapping[Part, Floats]
    bound_ms: float


def _time(work: _Work, plan: _Plan, backend: Backend, phase: Phase) -> _Time:
    form, fused = plan.form, backend.fuses_on(plan.device.id)
    if phase is Phase.PREFILL:
        passes, parts_of = work.prefill(form, plan.runtime.micro_batch, fused), prefill_parts
    else:
        passes, parts_of = work.decode(form, fused), decode_parts
    parts = parts_of(passes, plan.machine, backend.coefficients, group_of(plan.form))
    return _Time(parts, 1000 * float(bound(passes, plan.machine).sum()))


def _interval(time: _Time, mean: float, spread: float, clock_spread: float) -> Interval:
    """Return the time of physics moved by a mean deviation, with the spreads of both."""
    parts, bound_ms = time
    totals = {part: float(seconds.sum()) for part, seconds in parts.items()}
    total_s = sum(totals.values())
    median = max(1000 * total_s * math.exp(mean), bound_ms)
    width = math.exp(Z80 * math.hypot(spread, clock_spread))
    largest = sorted(totals.items(), key=lambda item: -item[1])
    shares = {part: seconds / total_s for part, seconds in largest if seconds > 0}
    return Interval(median, max(median / width, bound_ms), median * width, bound_ms, shares)


def _without(work: _Work, device: Device, form: WeightFormat, problem: str) -> Generation:
    return Generation(
        model=work.model.name,
        device=device,
        weights=form.name,
        request=work.request,
        memory=work.memory(form, False),
        usable=usable_memory(device),
        problem=problem,
    )
