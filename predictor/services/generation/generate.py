"""Time to first token, tokens a second and memory of a language model on devices."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from predictor.core.errors import InputError
from predictor.core.records import Basis, Device
from predictor.language import runtimes
from predictor.language.architecture import DecoderArchitecture
from predictor.language.cards import Cards, sharing_counts
from predictor.language.deviations import (
    Z80,
    Deviations,
    Observed,
    evidence_text,
    silicon_of,
    target_of,
)
from predictor.language.growth import added_share
from predictor.language.memory import usable_memory
from predictor.language.passes import Floats
from predictor.language.rates import (
    Part,
    Phase,
    attention_share,
    bound,
    decode_parts,
    group_of,
    pipeline_share,
    prefill_parts,
)
from predictor.language.rates_file import Backend, shipped_rates
from predictor.language.stored import StoredWeights
from predictor.language.weights import KV_BITS, WeightFormat, weight_format
from predictor.services.generation.offload import Offload, split_with_host
from predictor.services.generation.plans import Plan, Work, deviations_of_user, form_of, planned
from predictor.services.generation.probes import DecodeProbe
from predictor.services.generation.records import (
    Generation,
    GenerationRequest,
    Interval,
    MeasuredRate,
)


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
    work = Work(model, request)
    plans_of = [planned(device, request, stored, model) for device in devices]
    user_deviations = deviations_of_user(request, measured, probes)
    of_backend: dict[str, dict[int, Plan]] = defaultdict(dict)
    results: dict[int, Generation] = {}
    for place, (device, plan) in enumerate(zip(devices, plans_of, strict=True)):
        if isinstance(plan, Plan):
            of_backend[plan.backend][place] = plan
        else:
            form = form_of(request, stored, "")
            results[place] = _without(work, device, form, plan.reason)
    for name, plans in of_backend.items():
        predicted = _predict(work, name, list(plans.values()), user_deviations)
        results.update(zip(plans, predicted, strict=True))
    on_devices = [results[place] for place in range(len(devices))]
    if offload is None:
        return on_devices
    of_host = replace(request, runtime="", mode="", clock="")
    (on_host,) = generate(model, [offload.host], of_host, measured, probes, stored)
    form = form_of(request, stored, runtimes.LLAMA_CPP)
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


def _predict(
    work: Work,
    name: str,
    plans: Sequence[Plan],
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
    grown = [_grown(work, plan, backend, times[Phase.DECODE][at]) for at, plan in enumerate(plans)]
    of_phase = {
        phase: deviation.of(targets, [attention_share(time.parts) for time in times[phase]])
        for phase, deviation in deviations.items()
    }
    generations = []
    for place, (plan, target) in enumerate(zip(plans, targets, strict=True)):
        more, spread_of_growth = grown[place]
        of_plan = {
            phase: (means[place], spreads[place]) for phase, (means, spreads) in of_phase.items()
        }
        level, spread = of_plan[Phase.DECODE]
        of_plan[Phase.DECODE] = level + more, math.hypot(spread, spread_of_growth)
        intervals = {
            phase: _interval(times[phase][place], mean, math.hypot(spread, plan.spread))
            for phase, (mean, spread) in of_plan.items()
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
    work: Work,
    plan: Plan,
    backend: Backend,
    intervals: Mapping[Phase, Interval],
    evidence: _Evidence,
) -> Generation:
    usable = usable_memory(plan.device, backend.used_bytes.get(plan.device.id, 0))
    on_host = runtimes.table_on_host(plan.device, plan.backend)
    longest = None if usable is None else work.longest(plan.form, on_host, usable.bytes, plan.cards)
    memory = work.memory(plan.form, on_host, plan.cards)
    return Generation(
        model=work.model.name,
        device=plan.device,
        runtime=plan.runtime.name,
        weights=plan.form.name,
        first_token=intervals[Phase.PREFILL],
        token=intervals[Phase.DECODE],
        request=work.request,
        memory=memory,
        usable=usable,
        longest_context=longest,
        fits_on=None if usable is None else _fits_on(work, plan, usable.bytes, on_host),
        basis=evidence.basis,
        evidence=evidence.text,
    )


def _fits_on(work: Work, plan: Plan, usable_bytes: float, on_host: bool) -> int | None:
    """Return the fewest cards that hold a run which those of the plan do not hold."""
    if work.memory(plan.form, on_host, plan.cards).total <= usable_bytes:
        return None
    pipeline = plan.cards.pipeline
    counts = sharing_counts(work.model, plan.device, pipeline=pipeline)
    fitting = (
        count
        for count in counts
        if work.memory(plan.form, on_host, Cards(count, pipeline)).total <= usable_bytes
    )
    return next(fitting, None)


class _Time(NamedTuple):
    """A phase by physics: seconds by part and pass, and the least seconds in ms."""

    parts: Mapping[Part, Floats]
    bound_ms: float


def _time(work: Work, plan: Plan, backend: Backend, phase: Phase) -> _Time:
    form, fused = plan.form, backend.fuses_on(plan.device.id)
    if phase is Phase.PREFILL:
        micro_batch = plan.runtime.micro_batch
        passes, parts_of = work.prefill(form, micro_batch, fused, plan.cards), prefill_parts
    else:
        passes, parts_of = work.decode(form, fused, plan.cards), decode_parts
    parts = parts_of(passes, plan.machine, backend.coefficients, group_of(plan.form))
    bound_s = bound(passes, plan.machine)
    if plan.cards.pipeline and phase is Phase.PREFILL:
        groups = math.ceil(work.request.batch / work.micro(plan.cards))
        flow = backend.coefficients.flow
        share = pipeline_share(plan.cards.count, groups, len(bound_s), flow)
        parts = {part: seconds * share for part, seconds in parts.items()}
        bound_s = bound_s * pipeline_share(plan.cards.count, groups, len(bound_s), 1.0)
    return _Time(parts, 1000 * float(bound_s.sum()))


def _grown(work: Work, plan: Plan, backend: Backend, time: _Time) -> tuple[float, float]:
    """Return deviation and spread that further sequences and cards add to those of a token."""
    fused, share = backend.fuses_on(plan.device.id), 0.0
    if work.micro(plan.cards) > 1:
        passes = work.single_decode(plan.form, fused, plan.cards)
        one = decode_parts(passes, plan.machine, backend.coefficients, group_of(plan.form))
        share = added_share(_total(time.parts), _total(one))
    growth, silicon = backend.growth, silicon_of(plan.device)
    factor = growth.factor(silicon, share)
    return math.log(factor), growth.spread(silicon, share, plan.cards.count)


def _total(parts: Mapping[Part, Floats]) -> float:
    return sum(float(seconds.sum()) for seconds in parts.values())


def _interval(time: _Time, mean: float, spread: float) -> Interval:
    """Return the time of physics moved by a mean deviation, with the spreads of both."""
    parts, bound_ms = time
    totals = {part: float(seconds.sum()) for part, seconds in parts.items()}
    total_s = sum(totals.values())
    median = max(1000 * total_s * math.exp(mean), bound_ms)
    width = math.exp(Z80 * spread)
    largest = sorted(totals.items(), key=lambda item: -item[1])
    shares = {part: seconds / total_s for part, seconds in largest if seconds > 0}
    return Interval(median, max(median / width, bound_ms), median * width, bound_ms, shares)


def _without(work: Work, device: Device, form: WeightFormat, problem: str) -> Generation:
    return Generation(
        model=work.model.name,
        device=device,
        weights=form.name,
        request=work.request,
        memory=work.memory(form, False),
        usable=usable_memory(device),
        problem=problem,
    )
