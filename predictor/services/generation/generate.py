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
    Observed,
    Origin,
    evidence_text,
    target_of,
)
from predictor.language.machine import Machine, machine_of
from predictor.language.memory import (
    Memory,
    UsableMemory,
    longest_context,
    memory_of,
    usable_memory,
)
from predictor.language.passes import Passes, decode_pass, prefill_passes
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
from predictor.language.weights import FORMATS, KV_BITS, WeightFormat, weight_format
from predictor.services.generation.probes import DecodeProbe

WEIGHT_FORMATS: Final = tuple(FORMATS)
KV_PRECISIONS: Final = tuple(KV_BITS)
RUNTIME_NAMES: Final = tuple(runtimes.LANGUAGE_RUNTIMES)

# The format that users of a runtime mostly take.
USUAL_WEIGHTS: Final[Mapping[str, str]] = {
    "genie": "int4-128",
    "mlc": "q4f16",
    "onnxruntime-genai": "int4-32",
    "tensorrt-llm": "fp16",
    "vllm": "fp16",
}
_USUAL_WEIGHTS: Final = "q4_k_m"


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
        basis: of the times.
        evidence: measurements that they rest on, in words.
        problem: why there is no number, without the name of the device; empty where there is one.
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
    basis: Basis | None = None
    evidence: str = ""
    problem: str = ""

    @property
    def fits(self) -> bool | None:
        """Whether the memory suffices; None where it is not known."""
        return None if self.usable is None else self.memory.total <= self.usable.bytes

    @property
    def prefill_tokens_per_s(self) -> float | None:
        """Prompt tokens a second of all sequences."""
        return self._rate(self.first_token, self.request.prompt)

    @property
    def decode_tokens_per_s(self) -> float | None:
        """New tokens a second of all sequences."""
        return self._rate(self.token, 1)

    def _rate(self, interval: Interval | None, tokens: int) -> float | None:
        return None if interval is None else 1000 * tokens * self.request.batch / interval.median


@dataclass(frozen=True, slots=True)
class LanguageRun:
    """A run of a language model on devices.

    Attributes:
        model: the decoder.
        request: the run.
        results: one a device, at least one.
    """

    model: DecoderArchitecture
    request: GenerationRequest
    results: Sequence[Generation]


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


def generate(
    model: DecoderArchitecture,
    devices: Sequence[Device],
    request: GenerationRequest,
    measured: Sequence[MeasuredRate] = (),
    probes: Sequence[DecodeProbe] = (),
    stored: StoredWeights | None = None,
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

    Returns:
        One entry a device, in their order; what cannot run has its problem.

    Raises:
        InputError: the request is not of this model: an unknown format or precision, a context
            that is longer than the model's.
    """
    check(model, request)
    work = _Work(model, request)
    planned = [_planned(device, request, stored) for device in devices]
    user_deviations = _user_deviations(request, measured, probes)
    of_backend: dict[str, list[_Plan]] = defaultdict(list)
    for plan in planned:
        if isinstance(plan, _Plan):
            of_backend[plan.backend].append(plan)
    predicted: dict[int, Generation] = {}
    for name, plans in of_backend.items():
        for plan, generation in zip(
            plans, _predict(work, name, plans, user_deviations), strict=True
        ):
            predicted[id(plan)] = generation
    return [
        predicted[id(plan)]
        if isinstance(plan, _Plan)
        else _without(work, device, _form(request, stored, ""), plan.reason)
        for device, plan in zip(devices, planned, strict=True)
    ]


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
    usual = USUAL_WEIGHTS.get(runtime, _USUAL_WEIGHTS)
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
    for at, (plan, target) in enumerate(zip(plans, targets, strict=True)):
        first_token, token = (
            _interval(
                times[phase][at], float(means[at]), math.hypot(float(spreads[at]), plan.spread)
            )
            for phase, (means, spreads) in of_phase.items()
        )
        observed = deviations[Phase.DECODE].observed
        is_of_user = any(o.is_of_user and o.device == plan.device.id for o in observed)
        basis = Basis.PROBED if is_of_user else Basis.ZERO_SHOT if observed else Basis.ANALYTIC
        usable = usable_memory(plan.device, backend.used_bytes.get(plan.device.id, 0))
        form, on_host = plan.form, runtimes.table_on_host(plan.device, name)
        generations.append(
            Generation(
                model=work.model.name,
                device=plan.device,
                runtime=plan.runtime.name,
                weights=form.name,
                first_token=first_token,
                token=token,
                request=work.request,
                memory=work.memory(form, on_host),
                usable=usable,
                longest_context=None
                if usable is None
                else work.longest(form, on_host, usable.bytes),
                basis=basis,
                evidence=_evidence(backend, target, deviations[Phase.PREFILL].observed, observed),
            )
        )
    return generations


class _Time(NamedTuple):
    """A phase by physics: seconds by part and pass, and the least seconds in ms."""

    parts: Mapping[Part, np.ndarray]
    bound_ms: float


def _time(work: _Work, plan: _Plan, backend: Backend, phase: Phase) -> _Time:
    form, fused = plan.form, backend.fuses_on(plan.device.id)
    if phase is Phase.PREFILL:
        passes, parts_of = work.prefill(form, plan.runtime.micro_batch, fused), prefill_parts
    else:
        passes, parts_of = work.decode(form, fused), decode_parts
    parts = parts_of(passes, plan.machine, backend.coefficients, group_of(plan.form))
    return _Time(parts, 1000 * float(bound(passes, plan.machine).sum()))


def _interval(time: _Time, mean: float, spread: float) -> Interval:
    parts, bound_ms = time
    totals = {part: float(seconds.sum()) for part, seconds in parts.items()}
    total_s = sum(totals.values())
    median = max(1000 * total_s * math.exp(mean), bound_ms)
    width = math.exp(Z80 * spread)
    largest = sorted(totals.items(), key=lambda item: -item[1])
    shares = {part: seconds / total_s for part, seconds in largest if seconds > 0}
    return Interval(median, max(median / width, bound_ms), median * width, bound_ms, shares)


def _evidence(
    backend: Backend, target: Observed, prompts: Sequence[Observed], tokens: Sequence[Observed]
) -> str:
    of_tokens = evidence_text(target, tokens, backend.title)
    of_prompts = evidence_text(target, prompts, backend.title)
    return of_tokens if of_tokens == of_prompts else f"{of_tokens}; prompt: {of_prompts}"


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
