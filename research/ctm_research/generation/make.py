"""All backends of the shipped file, fitted to published rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from ctm_research.generation.fit import (
    FEWEST,
    USUAL,
    USUAL_ON_CPUS,
    USUAL_ON_CUDA,
    USUAL_ON_METAL,
    Row,
    fit,
)
from ctm_research.generation.published import FUSING
from ctm_research.generation.served import (
    Fitted,
    Served,
    fit_served,
    growth_of,
    left_out,
    level_spread,
    levels_of,
)
from ctm_research.generation.several import BACKEND, Several, with_several
from ctm_research.generation.spread import attention_scale, observed_of, scales_of, widenings
from predictor.language.deviations import Deviations, Scales
from predictor.language.growth import Growth
from predictor.language.memory import memory_of, usable_memory
from predictor.language.rates import Coefficients, Group, Phase
from predictor.language.rates_file import Backend
from predictor.language.runtimes import table_on_host


class Kind(NamedTuple):
    """A backend: its title, and the one whose coefficients it starts from, or the usual ones."""

    title: str
    like: str = ""
    usual: Coefficients = USUAL


BACKENDS: Final[Mapping[str, Kind]] = {
    "cuda": Kind("llama.cpp with CUDA", usual=USUAL_ON_CUDA),
    "metal": Kind("llama.cpp with Metal", usual=USUAL_ON_METAL),
    "vulkan": Kind("llama.cpp with Vulkan"),
    "rocm": Kind("llama.cpp with ROCm", "vulkan"),
    "cpu": Kind("llama.cpp on CPUs", usual=USUAL_ON_CPUS),
    "genie": Kind("Qualcomm Genie and AI Engine Direct"),
    "mlc": Kind("MLC LLM", "cuda"),
    "vllm": Kind("vLLM", "cuda"),
    "vllm-rocm": Kind("vLLM on AMD", "vllm"),
    "tensorrt-llm": Kind("TensorRT-LLM", "cuda"),
    "onnxruntime-genai-gpu": Kind("ONNX Runtime generate() on GPUs", "cuda"),
    "onnxruntime-genai-cpu": Kind("ONNX Runtime generate() on CPUs", "cpu"),
}

# Before anything is measured: a factor of 1.6 either way at 80 %.
_FEW: Final = Scales(
    architecture=0.1, silicon=0.2, format=0.1, noise=0.06, attention=0.4, widen=1.0, blind=0.0
)
_UNMEASURED: Final = replace(_FEW, silicon=0.1, blind=0.3)


def make_backends(
    rows: Sequence[Row], served: Sequence[Served] = (), several: Sequence[Several] = ()
) -> dict[str, Backend]:
    """Return every backend, fitted to its rows.

    Args:
        rows: rates of single sequences.
        served: times of batches and of several cards.
        several: rates of llama.cpp on several cards.
    """
    of = {name: [row for row in rows if row.rate.backend == name] for name in BACKENDS}
    made: dict[str, Backend] = {}
    for name in BACKENDS:
        batches = [row for row in served if row.backend == name]
        made[name] = make_backend(name, of[name], start_of(name, made), batches)
    if several:
        made[BACKEND] = with_several(made[BACKEND], several)
    return made


_PARTITIONED_HEADS: Final = 512.0
_USUAL_FLOP_S: Final = 1e-14


def start_of(name: str, made: Mapping[str, Backend]) -> Coefficients:
    """Return the coefficients that a backend starts from.

    On AMD vLLM's attention reads the cache of shared key heads again for each query head from 512
    query heads of all sequences on (its ``paged_attention_v1``), and a product of few rows reaches
    no share of the matrix rate (decision 0026).
    """
    kind = BACKENDS[name]
    start = made[kind.like].coefficients if kind.like else kind.usual
    if name != "vllm-rocm":
        return start
    return replace(
        start,
        head_bytes=1.0,
        head_limit=_PARTITIONED_HEADS,
        row=0.0,
        flop=_USUAL_FLOP_S,
        head_step=0.0,
        head_flops=0.0,
        score_bytes=0.0,
        unpack={**start.unpack, Group.HALF: USUAL.unpack[Group.HALF]},
    )


def make_backend(
    name: str, rows: Sequence[Row], start: Coefficients, served: Sequence[Served] = ()
) -> Backend:
    """Return one backend.

    Args:
        name: of the backend.
        rows: its rates.
        start: coefficients that it starts from.
        served: its batches and several cards.
    """
    single = fit(rows, start)
    levels = levels_of(served, single)
    fitted = fit_served(served, single, levels) if served else Fitted(single)
    c = fitted.coefficients
    known = {phase: _deviations(rows, phase, c) for phase in Phase}
    learned = {p: d.scales for p, d in known.items() if d.scales not in (_UNMEASURED, _FEW)}
    widened = widenings(rows, start, learned) if learned else {}
    deviations = {
        phase: Deviations(widened.get(phase, of.scales), of.observed) for phase, of in known.items()
    }
    growth = Growth()
    if served:
        level = level_spread(deviations[Phase.DECODE])
        growth = growth_of(fitted, left_out(served, single, levels), level)
    fuses = name in FUSING
    fused = frozenset(row.rate.device.id for row in rows if row.rate.fused and not fuses)
    return Backend(
        title=BACKENDS[name].title,
        coefficients=c,
        deviations=deviations,
        used_bytes=_held(rows),
        fuses=fuses,
        fused_devices=fused,
        growth=growth,
    )


def _held(rows: Sequence[Row]) -> dict[str, float]:
    """Return the most bytes that runs took of each device that gave more than is usual."""
    held: dict[str, float] = {}
    for rate in (row.rate for row in rows):
        on_host = table_on_host(rate.device, rate.backend)
        context = rate.depth + rate.prompt + rate.tokens
        taken = round(memory_of(rate.model, rate.form, context, table_on_host=on_host).total)
        usable = usable_memory(rate.device, taken)
        # So between the usual share and all of the memory.
        if usable is not None and usable.bytes == taken:
            held[rate.device.id] = max(taken, held.get(rate.device.id, 0))
    return held


def _deviations(rows: Sequence[Row], phase: Phase, c: Coefficients) -> Deviations:
    of = [row for row in rows if row.rate.phase is phase]
    if not of:
        return Deviations(_UNMEASURED)
    observed = observed_of(of, c)
    if len({o.silicon for o in observed}) < FEWEST:
        return Deviations(_FEW, observed)
    return Deviations(scales_of(observed, attention_scale(of, c)), observed)
