"""The engine of language models on devices left out, beside simpler ways to predict.

Silicon is left out one at a time: coefficients, scales and widths are fitted to the others. Goals
are of llama.cpp on single devices; serving and NPUs are shown without.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ctm_research.generation.fit import Row, context_of
from ctm_research.generation.make import BACKENDS, make_backend, start_of
from ctm_research.generation.spread import errors, left_out
from predictor.language.deviations import Z80
from predictor.language.machine import Machine
from predictor.language.rates import Group, Phase
from predictor.language.rates_file import Backend

GROUP_NAMES: Final = {
    Group.HALF: "F16",
    Group.BYTE: "Q8_0",
    Group.BLOCKS: "Q4_0",
    Group.SUPER_BLOCKS: "Q4_K",
}
GOALS: Final = {
    (Phase.DECODE, "F16"): 5.0,
    (Phase.DECODE, "Q8_0"): 5.0,
    (Phase.DECODE, "Q4"): 9.0,
    (Phase.PREFILL, "F16"): 20.0,
    (Phase.PREFILL, "Q8_0"): 20.0,
    (Phase.PREFILL, "Q4"): 20.0,
}
_LLAMA: Final = ("cuda", "metal", "vulkan", "rocm", "cpu")
METHODS: Final = ("engine", "physics alone", "one constant", "residual regression")


@dataclass(frozen=True, slots=True)
class Judged:
    """A row that was predicted without its silicon.

    Attributes:
        row: the rate.
        errors: logarithm of predicted over measured time by method; NaN where it has none.
        spread: standard deviation that the engine gives it.
    """

    row: Row
    errors: Mapping[str, float]
    spread: float


def judge(rows: Sequence[Row], backends: Mapping[str, Backend]) -> list[Judged]:
    """Predict each row without its silicon.

    Args:
        rows: of all backends.
        backends: fitted to all of them, which others start from.
    """
    judged: list[Judged] = []
    for name in BACKENDS:
        of = [row for row in rows if row.rate.backend == name]
        start = start_of(name, backends)
        for out in left_out(of):
            rest = [row for row in of if row.silicon != out[0].silicon]
            made = make_backend(name, rest, start)
            learned = errors(out, made.coefficients, made.deviations)
            nothing = {p: type(d)(d.scales) for p, d in made.deviations.items()}
            physics = errors(out, made.coefficients, nothing)
            constant, regression = _constants(out, rest), _regressions(out, rest)
            for at, row in enumerate(out):
                values = (learned[at][0], physics[at][0], constant[at], regression[at])
                of_method = dict(zip(METHODS, values, strict=True))
                judged.append(Judged(row, of_method, learned[at][1]))
    return judged


def _roof(row: Row) -> float:
    """Return the roofline's seconds: stated bandwidth, matrix rate."""
    m: Machine = row.machine
    p = row.passes
    moved = (p.weight_bytes + p.kv_bytes) / m.stated_bandwidth
    seconds = np.maximum(moved, (p.flops + p.attention_flops) / m.matrix).sum()
    return float(seconds) * (row.rate.tokens if row.rate.phase is Phase.DECODE else 1)


def _constants(out: Sequence[Row], rest: Sequence[Row]) -> list[float]:
    """Return the errors of one share of the roofline a backend, phase and group of formats."""
    shares: dict[tuple[Phase, Group], list[float]] = defaultdict(list)
    for row in rest:
        shares[row.rate.phase, row.group].append(math.log(row.rate.seconds / _roof(row)))
    result = []
    for row in out:
        of = shares.get((row.rate.phase, row.group))
        error = math.log(_roof(row) / row.rate.seconds)
        result.append(error + float(np.median(of)) if of else math.nan)
    return result


_REGULAR: Final = 0.1
_FEWEST: Final = 8


def _features(row: Row) -> list[float]:
    m, model = row.machine, row.rate.model
    return [
        1.0,
        math.log(_roof(row)),
        math.log(row.rate.tokens),
        math.log(row.rate.depth + 1),
        math.log(model.parameters()),
        math.log(m.stated_bandwidth),
        math.log(m.matrix),
        *(float(row.group is g) for g in Group),
    ]


def _regressions(out: Sequence[Row], rest: Sequence[Row]) -> list[float]:
    """Return the errors of a regression of logarithms on the roofline (Roofline-LLM).

    Reference:
        Imai et al., ML for Systems workshop at NeurIPS 2024: roofline time corrected by a
        regression on sizes of model, input and hardware; one a backend and phase, ridge.
    """
    result = []
    for row in out:
        of = [r for r in rest if r.rate.phase is row.rate.phase]
        if len({r.silicon for r in of}) < _FEWEST:
            result.append(math.nan)
            continue
        x = np.array([_features(r) for r in of])
        y = np.array([math.log(r.rate.seconds / _roof(r)) for r in of])
        mean = x.mean(axis=0)
        a = x - mean
        w = np.linalg.solve(a.T @ a + _REGULAR * np.eye(a.shape[1]), a.T @ (y - y.mean()))
        residual = float((np.array(_features(row)) - mean) @ w + y.mean())
        result.append(math.log(_roof(row) / row.rate.seconds) + residual)
    return result


def figures(judged: Sequence[Judged]) -> list[dict[str, object]]:
    """Return a row of figures a phase, format and backend; backend "all" is llama.cpp's."""
    tables: dict[tuple[Phase, str, str], list[Judged]] = defaultdict(list)
    for each in judged:
        phase, backend = each.row.rate.phase, each.row.rate.backend
        group = GROUP_NAMES[each.row.group]
        tables[phase, group, backend].append(each)
        if each.row.rate.counts and backend in _LLAMA:
            tables[phase, group[:2] if group.startswith("Q4") else group, "all"].append(each)
    order = sorted(tables, key=lambda key: (key[0] is Phase.PREFILL, key[2] != "all", key))
    return [_figure(*key, tables[key]) for key in order]


def _figure(phase: Phase, group: str, backend: str, of: Sequence[Judged]) -> dict[str, object]:
    cells: dict[tuple[str, Group], list[Judged]] = defaultdict(list)
    for each in of:
        cells[each.row.cell].append(each)
    covered = [
        np.mean([abs(j.errors["engine"]) <= Z80 * j.spread for j in each])
        for each in cells.values()
    ]
    return {
        "phase": phase.value,
        "weights": group,
        "backend": backend,
        "silicon": len({j.row.silicon for j in of}),
        "devices": len({j.row.rate.device.id for j in of}),
        "rates": len(of),
        "median_error_percent": {name: _median(name, list(cells.values())) for name in METHODS},
        "coverage80_percent": round(100 * float(np.mean(covered)), 1),
        "goal_percent": GOALS.get((phase, group)) if backend == "all" else None,
    }


CONTEXTS: Final = (256, 1024, 2048, 4096, 8192)
"""Upper ends of the contexts that errors are given for, in tokens."""


def by_context(judged: Sequence[Judged]) -> list[dict[str, object]]:
    """Return the errors of llama.cpp's rates by phase, sharing of key heads and context.

    The engine's error of single rates, which are not many a device, in percent of tokens a second.
    """
    tables: dict[tuple[Phase, bool, int], list[Judged]] = defaultdict(list)
    for j in judged:
        context, rate = context_of(j.row), j.row.rate
        end = next((end for end in CONTEXTS if context <= end), None)
        if rate.counts and rate.backend in _LLAMA and end is not None:
            tables[rate.phase, rate.model.kv_heads < rate.model.heads, end].append(j)
    order = sorted(tables, key=lambda key: (key[0] is Phase.PREFILL, key[1], key[2]))
    return [_context_figure(*key, tables[key]) for key in order]


def _context_figure(
    phase: Phase, shares: bool, end: int, of: Sequence[Judged]
) -> dict[str, object]:
    errors = np.abs(np.expm1([-j.errors["engine"] for j in of]))
    covered = [abs(j.errors["engine"]) <= Z80 * j.spread for j in of]
    return {
        "phase": phase.value,
        "heads": "shared" if shares else "full",
        "context": end,
        "devices": len({j.row.rate.device.id for j in of}),
        "rates": len(of),
        "median_error_percent": round(100 * float(np.median(errors)), 1),
        "error_of_nine_in_ten_percent": round(100 * float(np.quantile(errors, 0.9)), 1),
        "worst_error_percent": round(100 * float(errors.max()), 1),
        "coverage80_percent": round(100 * float(np.mean(covered)), 1),
    }


def _median(method: str, cells: Sequence[Sequence[Judged]]) -> float | None:
    """Return the median over devices of the median error of tokens a second, in percent."""
    medians = [
        float(np.median([abs(math.expm1(-j.errors[method])) for j in each])) for each in cells
    ]
    known = [value for value in medians if not math.isnan(value)]
    return round(100 * float(np.median(known)), 1) if known else None
