"""The fit of a backend's coefficients and of the scales of its deviations.

Times are linear in the coefficients, or nearly so, and coefficients are not negative: least
squares of relative errors under that constraint, re-weighted towards absolute errors. A device's
rates of one group of formats weigh together as much as those of another device.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.generation.published import Rate
from predictor.language.machine import Machine, machine_of
from predictor.language.passes import Passes, decode_pass, prefill_passes
from predictor.language.rates import (
    OVERLAP,
    Z80,
    Coefficients,
    Deviations,
    Group,
    Observed,
    Part,
    Phase,
    Scales,
    decode_parts,
    group_of,
    per_flop,
    prefill_parts,
    silicon_of,
    target_of,
)

Floats = NDArray[np.float64]

_LEAST_BANDWIDTH: Final = 1.05  # nothing reaches more than 95 % of what is stated
# A layer starts some twenty kernels of 1.3 to 3.3 us each (gpu_benches), at 1.7 to 2.5 GHz.
_LEAST_STEP: Final = 100e-6
_ROUNDS: Final = 15
_SHARE_ROUNDS: Final = 5
_KV_BITS: Final = 16.0
_GROUPS: Final = tuple(Group)
# Products of integers are scaled block by block; the others are unpacked to halves beforehand.
_SCALED: Final = frozenset({Group.BYTE, Group.BLOCKS})


@dataclass(frozen=True, slots=True)
class Row:
    """A published rate with its work and its device's rates."""

    rate: Rate
    machine: Machine
    passes: Passes
    prompt: Passes | None
    group: Group
    silicon: str

    @property
    def cell(self) -> tuple[str, Group]:
        """Device and group of formats."""
        return self.rate.device.id, self.group


def rows_of(rates: Sequence[Rate]) -> list[Row]:
    """Return rates with their work."""
    rows = []
    for rate in rates:
        if rate.phase is Phase.DECODE:
            past = rate.depth + rate.tokens // 2
            passes = decode_pass(rate.model, rate.form, _KV_BITS, past)
        else:
            passes = _prompt(rate, rate.tokens, rate.depth)
        prompt = _prompt(rate, rate.prompt, 0) if rate.prompt else None
        group = group_of(rate.form)
        machine = machine_of(rate.device)
        rows.append(Row(rate, machine, passes, prompt, group, silicon_of(rate.device)))
    return rows


def _prompt(rate: Rate, tokens: int, past: int) -> Passes:
    size = rate.micro_batch or tokens
    return prefill_passes(rate.model, rate.form, _KV_BITS, tokens, 1, size, past)


def predicted_seconds(row: Row, c: Coefficients) -> float:
    """Return the seconds of a row by physics."""
    if row.rate.phase is Phase.PREFILL:
        return _total(prefill_parts(row.passes, row.machine, c, row.group))
    seconds = _total(decode_parts(row.passes, row.machine, c, row.group)) * row.rate.tokens
    return seconds + _prompt_seconds(row, c)


def _prompt_seconds(row: Row, c: Coefficients) -> float:
    if row.prompt is None:
        return 0.0
    return _total(prefill_parts(row.prompt, row.machine, c, row.group))


def _total(parts: Mapping[Part, Floats]) -> float:
    return float(sum(part.sum() for part in parts.values()))


def fit(rows: Sequence[Row], start: Coefficients) -> Coefficients:
    """Return the coefficients of a backend.

    Args:
        rows: its rates, of any phase.
        start: coefficients that it is drawn to, and that stand where a phase has no rates.
    """
    c = start
    # Server cards under llama.cpp and the like are shown, not learned from, beside the others.
    counted = [row for row in rows if row.rate.counts] or rows
    if decode := [row for row in counted if row.rate.phase is Phase.DECODE]:
        c = _fit_decode(decode, c)
    if prompts := [row for row in counted if row.rate.phase is Phase.PREFILL]:
        c = _fit_prefill(prompts, c)
    return c


# The middle of the backends that were measured most; fits are drawn to it a little.
USUAL: Final = Coefficients(
    bandwidth=1.1,
    unpack={Group.HALF: 8.0, Group.BYTE: 4.0, Group.BLOCKS: 2.0, Group.SUPER_BLOCKS: 4.0},
    cache=80.0,
    step=150e-6,
    product=dict.fromkeys(Group, 1.5),
    scaling={g: 0.1 if g in _SCALED else 0.0 for g in Group},
    attention=3.0,
    activation=2.0,
    prompt_step=500e-6,
)
# A coefficient twice the usual one weighs as much as such an error of one device.
_TOWARDS_USUAL: Final = 0.03
_TOWARDS_USUAL_OF_FEW: Final = 0.1
_OF_USUAL: Final = 0.05  # a start that is nearly 0 is not held there
FEWEST: Final = 4  # kinds of silicon from which a backend speaks for itself


# A core multiplies what it has just read; matrix units are rare, so products take the vectors.
USUAL_ON_CPUS: Final = replace(USUAL, cache=5.0, product=dict.fromkeys(Group, 2.0))


def _fit_decode(rows: Sequence[Row], start: Coefficients) -> Coefficients:
    groups = [g for g in _GROUPS if any(row.group is g for row in rows)]
    columns = np.array([_decode_columns(row, groups) for row in rows])
    seconds = np.array([row.rate.seconds / row.rate.tokens for row in rows])
    least = np.zeros(columns.shape[1])
    least[0], least[2] = _LEAST_BANDWIDTH, _LEAST_STEP
    usual, other = (
        np.array([c.bandwidth, c.cache, c.step, *(c.unpack[g] for g in groups)])
        for c in (start, USUAL)
    )
    # The prompt before an answer takes what it takes elsewhere.
    rest = np.array([_prompt_seconds(row, start) / row.rate.tokens for row in rows])
    pull = _pull(rows) / np.maximum(usual, _OF_USUAL * other)
    solved = usual
    # A norm is linear in its terms but for their shares, which change little.
    for _ in range(_SHARE_ROUNDS):
        step = columns[:, 2] * solved[2]
        work = columns @ solved - step
        whole = (work**OVERLAP + step**OVERLAP) ** (1 / OVERLAP)
        shares = np.tile(((work / whole) ** (OVERLAP - 1))[:, None], columns.shape[1])
        shares[:, 2] = (step / whole) ** (OVERLAP - 1)
        nearer = _relative(columns * shares, seconds, _weights(rows), least, usual, pull, rest)
        solved = (solved + nearer) / 2
    unpack = dict(zip(groups, solved[3:].tolist(), strict=True))
    return replace(
        start,
        bandwidth=float(solved[0]),
        cache=float(solved[1]),
        step=float(solved[2]),
        unpack=_all_groups(unpack),
    )


def _decode_columns(row: Row, groups: Sequence[Group]) -> list[float]:
    p, m = row.passes, row.machine
    weights = float(p.weights[0]) / m.vector
    return [
        float(p.weight_bytes[0] + p.kv_bytes[0]) / m.bandwidth,
        float(p.kv_bytes[0]) / m.vector,
        p.layers / m.clock,
        *(weights if row.group is g else 0.0 for g in groups),
    ]


def _fit_prefill(rows: Sequence[Row], start: Coefficients) -> Coefficients:
    groups = [g for g in _GROUPS if any(row.group is g for row in rows)]
    seconds, weights = np.array([row.rate.seconds for row in rows]), _weights(rows)
    c = start
    scaled = [g for g in groups if g in _SCALED]
    usual, other = (
        np.array(
            [c.attention, c.activation, c.prompt_step]
            + [c.product[g] for g in groups]
            + [c.scaling[g] for g in scaled]
        )
        for c in (start, USUAL)
    )
    pull = _pull(rows) / np.maximum(usual, _OF_USUAL * other)
    # The root of two squares is linear in the work but for its share, which changes little.
    for _ in range(_SHARE_ROUNDS):
        columns, rest = zip(*(_prefill_columns(row, groups, c) for row in rows), strict=True)
        solved = _relative(
            np.array(columns), seconds, weights, np.zeros(len(usual)), usual, pull, np.array(rest)
        )
        product, scaling = solved[3 : 3 + len(groups)], solved[3 + len(groups) :]
        c = replace(
            c,
            attention=float(solved[0]),
            activation=float(solved[1]),
            prompt_step=float(solved[2]),
            product=_all_groups(dict(zip(groups, product.tolist(), strict=True))),
            scaling={**c.scaling, **dict(zip(scaled, scaling.tolist(), strict=True))},
        )
    return c


def _prefill_columns(
    row: Row, groups: Sequence[Group], c: Coefficients
) -> tuple[list[float], float]:
    """Return the work by coefficient, and the seconds that do not depend on them."""
    p, m = row.passes, row.machine
    read = c.bandwidth * (p.weight_bytes + p.kv_bytes) / m.bandwidth
    moved = p.activation_bytes / m.bandwidth
    work = p.flops * per_flop(m, c, row.group) + c.activation * moved
    both = np.hypot(read, work)
    share = work / both
    flops = float((share * p.flops).sum())
    columns = [
        float(p.attention_flops.sum()) / m.vector,
        float((share * moved).sum()),
        len(both) * p.layers / m.clock,
        *(flops / m.matrix if row.group is g else 0.0 for g in groups),
        *(flops / m.vector if row.group is g else 0.0 for g in groups if g in _SCALED),
    ]
    return columns, float((read**2 / both).sum())


def _all_groups(known: Mapping[Group, float]) -> dict[Group, float]:
    """Return a coefficient for each group: that of the nearest one where it was not measured."""
    order = {
        Group.HALF: (Group.HALF, Group.BYTE, Group.BLOCKS, Group.SUPER_BLOCKS),
        Group.BYTE: (Group.BYTE, Group.BLOCKS, Group.SUPER_BLOCKS, Group.HALF),
        Group.BLOCKS: (Group.BLOCKS, Group.SUPER_BLOCKS, Group.BYTE, Group.HALF),
        Group.SUPER_BLOCKS: (Group.SUPER_BLOCKS, Group.BLOCKS, Group.BYTE, Group.HALF),
    }
    return {group: next(known[g] for g in order[group] if g in known) for group in _GROUPS}


def _pull(rows: Sequence[Row]) -> float:
    is_few = len({row.silicon for row in rows}) < FEWEST
    return _TOWARDS_USUAL_OF_FEW if is_few else _TOWARDS_USUAL


def _weights(rows: Sequence[Row]) -> Floats:
    """Return weights under which each device's rates of a group of formats count alike."""
    cells: dict[tuple[str, Group], int] = defaultdict(int)
    for row in rows:
        cells[row.cell] += 1
    return np.array([cells[row.cell] ** -0.5 for row in rows])


def _relative(
    columns: Floats,
    seconds: Floats,
    weights: Floats,
    least: Floats,
    usual: Floats,
    pull: Floats,
    rest: Floats | None = None,
) -> Floats:
    """Return coefficients of at least ``least`` that make relative errors small.

    Args:
        columns: work over rate by coefficient, [N, K].
        seconds: measured, [N].
        weights: of the rows, [N].
        least: least value of each coefficient, [K].
        usual: that they are drawn to, [K].
        pull: towards that, [K].
        rest: seconds that do not depend on them, [N].
    """
    fixed = columns @ least + (0.0 if rest is None else rest)
    prior = np.diag(pull)
    robust = np.ones(len(seconds))
    solved = least
    for _ in range(_ROUNDS):
        by = weights * robust / seconds
        matrix = np.vstack([columns * by[:, None], prior])
        target = np.concatenate([(seconds - fixed) * by, prior @ (usual - least)])
        solved = least + not_negative(matrix, target)
        error = (columns @ (solved - least) + fixed) / seconds - 1
        robust = 1 / np.sqrt(np.maximum(np.abs(error), 0.02))
    return solved


def not_negative(matrix: Floats, target: Floats) -> Floats:
    """Return the least-squares solution without negative entries.

    Reference:
        Lawson and Hanson, Solving Least Squares Problems (1974), algorithm NNLS.
    """
    scale = np.sqrt((matrix**2).sum(axis=0))
    a = matrix / scale
    gram, right = a.T @ a, a.T @ target
    count = len(right)
    x, free = np.zeros(count), np.zeros(count, bool)
    for _ in range(10 * count):
        gradient = np.where(free, -np.inf, right - gram @ x)
        if gradient.max() <= 1e-10 * np.abs(right).max():
            break
        free[int(gradient.argmax())] = True
        while True:
            solved = np.zeros(count)
            solved[free] = np.linalg.solve(gram[np.ix_(free, free)], right[free])
            wrong = free & (solved <= 0)
            if not wrong.any():
                break
            step = (x[wrong] / (x[wrong] - solved[wrong])).min()
            x += step * (solved - x)
            free &= x > 1e-14
            x[~free] = 0.0
        x = solved
    result: Floats = x / scale
    return result


def observed_of(rows: Sequence[Row], c: Coefficients) -> tuple[Observed, ...]:
    """Return the deviation of each device and group of formats from physics."""
    cells: dict[tuple[str, Group], list[Row]] = defaultdict(list)
    for row in rows:
        cells[row.cell].append(row)
    return tuple(
        replace(
            target_of(of[0].rate.device, of[0].group),
            deviation=float(
                np.median([math.log(r.rate.seconds / predicted_seconds(r, c)) for r in of])
            ),
            rates=len(of),
        )
        for of in cells.values()
    )


_ARCHITECTURE: Final = (0.02, 0.05, 0.1, 0.2)
_SILICON: Final = (0.02, 0.05, 0.1, 0.2, 0.4)
_FORMAT: Final = (0.02, 0.05, 0.1)
_NOISE: Final = (0.03, 0.06, 0.1)


def scales_of(observed: Sequence[Observed]) -> Scales:
    """Return the scales under which the deviations are most likely."""
    deviations = np.array([o.deviation for o in observed])

    def likelihood(scales: Scales) -> float:
        prior = Deviations(scales, tuple(observed))
        covariance = prior.covariance(observed, observed) + np.diag(prior.noise())
        sign, logarithm = np.linalg.slogdet(covariance)
        return float(-deviations @ np.linalg.solve(covariance, deviations) - sign * logarithm)

    grid = itertools.product(_ARCHITECTURE, _SILICON, _FORMAT, _NOISE)
    candidates = (Scales(architecture=a, silicon=s, format=f, noise=n) for a, s, f, n in grid)
    return max(candidates, key=likelihood)


def left_out(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows by silicon."""
    of: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        of[row.silicon].append(row)
    return list(of.values())


def widenings(
    rows: Sequence[Row], start: Coefficients, scales: Mapping[Phase, Scales]
) -> dict[Phase, Scales]:
    """Return the scales with factors by which intervals of silicon left out hold 80 % of devices.

    Each device and group of formats counts once. A group that enough devices tell of has a factor
    of its own: formats that were measured by many agree more than others.

    Args:
        rows: of a backend.
        start: coefficients that it starts from.
        scales: of the phases that are asked for.
    """
    ratios: dict[tuple[Phase, str, Group], list[float]] = defaultdict(list)
    for out in left_out(rows):
        rest = [row for row in rows if row.silicon != out[0].silicon]
        if not rest:
            continue
        c = fit(rest, start)
        known = {
            phase: Deviations(of, observed_of([r for r in rest if r.rate.phase is phase], c))
            for phase, of in scales.items()
        }
        asked = [row for row in out if row.rate.phase in scales]
        for row, (error, spread) in zip(asked, errors(asked, c, known), strict=True):
            ratios[row.rate.phase, *row.cell].append(abs(error) / spread)
    widened = {}
    for phase, of in scales.items():
        groups: dict[Group, list[list[float]]] = defaultdict(list)
        for (p, _, group), values in ratios.items():
            if p is phase:
                groups[group].append(values)
        every = [values for cells in groups.values() for values in cells]
        own = {g: _widening(cells) for g, cells in groups.items() if len(cells) >= _FEWEST_CELLS}
        widen = _widening(every) if len(every) >= _FEWEST_CELLS else 1.0
        widened[phase] = replace(of, widen=widen, widen_of=own)
    return widened


def _widening(cells: Sequence[Sequence[float]]) -> float:
    return max(_quantile80(cells) / Z80, _LEAST_WIDENING)


def _quantile80(cells: Sequence[Sequence[float]]) -> float:
    """Return the value under which 80 % of the next cell lies; each cell weighs alike."""
    values = np.concatenate([np.array(cell) for cell in cells])
    weights = np.concatenate([np.full(len(cell), 1 / len(cell)) for cell in cells])
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    # Of n cells and the next one, not of the n at hand.
    level = min(0.8 * (len(cells) + 1), len(cells))
    return float(values[order][min(int(np.searchsorted(total, level)), len(values) - 1)])


_FEWEST_CELLS: Final = 8
_LEAST_WIDENING: Final = 0.7


def errors(
    rows: Sequence[Row], c: Coefficients, deviations: Mapping[Phase, Deviations]
) -> list[tuple[float, float]]:
    """Return for each row the logarithm of predicted over measured time, and its spread."""
    result = []
    for row in rows:
        target = target_of(row.rate.device, row.group)
        mean, spread = deviations[row.rate.phase].of([target])
        predicted = math.log(predicted_seconds(row, c)) + float(mean[0])
        result.append((predicted - math.log(row.rate.seconds), float(spread[0])))
    return result
