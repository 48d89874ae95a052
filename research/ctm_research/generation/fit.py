"""The fit of a backend's coefficients to published rates.

Times are linear in the coefficients, or nearly so, and coefficients are not negative: least
squares of relative errors under that constraint, re-weighted towards absolute errors. A device's
rates of one group of formats weigh together as much as those of another device.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ctm_research.generation.least_squares import Floats, relative
from ctm_research.generation.published import Rate
from predictor.language.deviations import silicon_of
from predictor.language.machine import Machine, machine_of
from predictor.language.passes import Passes, decode_pass, prefill_passes
from predictor.language.rates import (
    OVERLAP,
    Coefficients,
    Group,
    Part,
    Phase,
    decode_parts,
    group_of,
    per_flop,
    prefill_parts,
)

_LEAST_BANDWIDTH: Final = 1.05  # nothing reaches more than 95 % of what is stated
# A layer starts some twenty kernels of 1.3 to 3.3 us each (gpu_benches), at 1.7 to 2.5 GHz.
_LEAST_STEP: Final = 100e-6
_LEAST_OF_USUAL: Final = 2 / 3  # of the step that a backend starts from, where that is less
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


def context_of(row: Row) -> int:
    """Return the tokens in the cache in the middle of an answer, or at the end of a prompt."""
    rate = row.rate
    middle = rate.tokens // 2 if rate.phase is Phase.DECODE else rate.tokens
    return rate.depth + rate.prompt + middle


def spans(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Return the places of the shortest and the longest context of each model on each device."""
    runs: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        rate = row.rate
        if not rate.prompt:
            runs[rate.device.id, rate.model.name, rate.form.name, str(rate.fused)].append(at)
    ends = [
        (
            min(run, key=lambda at: context_of(rows[at])),
            max(run, key=lambda at: context_of(rows[at])),
        )
        for run in runs.values()
    ]
    return [
        (short, long)
        for short, long in ends
        if context_of(rows[long]) >= max(_LONG, 2 * context_of(rows[short]))
        and rows[long].rate.tokens_per_s < rows[short].rate.tokens_per_s
    ]


def rows_of(rates: Sequence[Rate]) -> list[Row]:
    """Return rates with their work."""
    rows = []
    for rate in rates:
        if rate.phase is Phase.DECODE:
            past = rate.depth + rate.tokens // 2
            passes = decode_pass(rate.model, rate.form, _KV_BITS, past, fused=rate.fused)
        else:
            passes = _prompt(rate, rate.tokens, rate.depth)
        prompt = _prompt(rate, rate.prompt, 0) if rate.prompt else None
        group = group_of(rate.form)
        machine = machine_of(rate.device)
        rows.append(Row(rate, machine, passes, prompt, group, silicon_of(rate.device)))
    return rows


def _prompt(rate: Rate, tokens: int, past: int) -> Passes:
    size = rate.micro_batch or tokens
    return prefill_passes(rate.model, rate.form, _KV_BITS, tokens, 1, size, past, fused=rate.fused)


def parts_of(row: Row, c: Coefficients) -> dict[Part, Floats]:
    """Return the seconds of a prompt, or of one token, by part."""
    of_phase = prefill_parts if row.rate.phase is Phase.PREFILL else decode_parts
    return of_phase(row.passes, row.machine, c, row.group)


def predicted_seconds(row: Row, c: Coefficients) -> float:
    """Return the seconds of a row by physics."""
    seconds = _total(parts_of(row, c))
    if row.rate.phase is Phase.PREFILL:
        return seconds
    return seconds * row.rate.tokens + _prompt_seconds(row, c)


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


# The middle of the backends that were measured most; fits are drawn to it a little. Its query heads
# have no work: attention is fused, or a backend states which work they have.
USUAL: Final = Coefficients(
    bandwidth=1.1,
    unpack={Group.HALF: 8.0, Group.BYTE: 4.0, Group.BLOCKS: 2.0, Group.SUPER_BLOCKS: 4.0},
    cache=1.3,
    head_bytes=0.0,
    head_flops=0.0,
    head_step=0.0,
    step=150e-6,
    product=dict.fromkeys(Group, 1.5),
    scaling={g: 0.1 if g in _SCALED else 0.0 for g in Group},
    attention=3.0,
    score_bytes=20.0,
    activation=2.0,
    prompt_step=500e-6,
)
# Which work binds query heads was chosen on silicon left out (decision 0023): on CUDA one thread
# block a score, on Metal keys and values that heads share and read again.
USUAL_ON_CUDA: Final = replace(USUAL, head_step=1.0)
USUAL_ON_METAL: Final = replace(USUAL, head_bytes=2.0)
# A core multiplies what it has just read; matrix units are rare, so products take the vectors.
USUAL_ON_CPUS: Final = replace(
    USUAL,
    bandwidth=1.3,
    head_flops=2.0,
    step=10e-6,
    product=dict.fromkeys(Group, 2.0),
    prompt_step=20e-6,
)
# A coefficient twice the usual one weighs as much as such an error of one device.
_TOWARDS_USUAL: Final = 0.03
_TOWARDS_USUAL_OF_FEW: Final = 0.1
# The cache is read as weights are: 1.2 times what the bandwidth says on an A100 whose heads share
# no keys, 1.4 on a DGX Spark that fuses attention. Where keys are shared it hides behind the heads.
_TOWARDS_CACHE: Final = 0.3
_LONG: Final = 1024  # tokens from which attention shows
_OF_GROWTH: Final = 10.0  # weight of an error of growth beside one of a time, both of the time
_OF_USUAL: Final = 0.05  # a start that is nearly 0 is not held there
FEWEST: Final = 4  # kinds of silicon from which a backend speaks for itself

_DECODE: Final = ("bandwidth", "step", "cache", "head_bytes", "head_flops", "head_step")
_STEP, _CACHE, _HEADS = 1, 2, slice(3, 6)
# Bytes take at most three times what the bandwidth says, and so on; a work that a backend does not
# start with is none of its own.
_LIMITS: Final = {"cache": 3.0, "head_bytes": 3.0, "head_flops": 8.0, "head_step": 2.0}
_NO_TIME: Final = 1e-30


def _fit_decode(rows: Sequence[Row], start: Coefficients) -> Coefficients:
    groups = [g for g in _GROUPS if any(row.group is g for row in rows)]
    columns = np.array([_decode_columns(row, groups, start.head_limit) for row in rows])
    seconds = np.array([row.rate.seconds / row.rate.tokens for row in rows])
    usual, other = (
        np.array([*(getattr(c, name) for name in _DECODE), *(c.unpack[g] for g in groups)])
        for c in (start, USUAL)
    )
    lower, upper = np.zeros(len(usual)), np.full(len(usual), np.inf)
    lower_step = min(_LEAST_STEP, _LEAST_OF_USUAL * start.step)
    lower[[0, _STEP, _CACHE]] = _LEAST_BANDWIDTH, lower_step, _LEAST_BANDWIDTH
    for at, name in enumerate(_DECODE):
        upper[at] = _LIMITS.get(name, np.inf) if usual[at] > 0 else 0.0
    # The prompt before an answer takes what it takes elsewhere.
    rest = np.array([_prompt_seconds(row, start) / row.rate.tokens for row in rows])
    pull = _pull(rows) / np.maximum(usual, np.maximum(_OF_USUAL * other, _NO_TIME))
    pull[_STEP], pull[_CACHE] = _pull(rows) / start.step, _TOWARDS_CACHE / start.cache
    weights = _weights(rows)
    short, long = np.array(spans(rows), int).reshape(-1, 2).T
    growth = seconds[long] - seconds[short]
    # The growth with the context says what attention takes, whatever the level of the device.
    all_seconds = np.concatenate([seconds, growth])
    all_weights = np.concatenate([weights, _OF_GROWTH * weights[long] * growth / seconds[long]])
    solved = usual
    # Norms are linear in their terms but for their shares, which change little.
    for _ in range(_SHARE_ROUNDS):
        by_share = columns * _decode_shares(columns, solved)
        nearer = relative(
            np.vstack([by_share, by_share[long] - by_share[short]]),
            all_seconds,
            all_weights,
            lower,
            usual,
            pull,
            upper=upper,
            rest=np.concatenate([rest, np.zeros(len(growth))]),
        )
        solved = (solved + nearer) / 2
    values = solved.tolist()
    unpack = dict(zip(groups, values[len(_DECODE) :], strict=True))
    numbers = dict(zip(_DECODE, values[: len(_DECODE)], strict=True))
    return replace(start, **numbers, unpack=_all_groups(unpack))


def _decode_shares(columns: Floats, solved: Floats) -> Floats:
    """Return by which factor terms enter the time, hidden in part behind each other, [N, K]."""
    terms = columns * solved
    read, heads, step = terms[:, _CACHE], terms[:, _HEADS].sum(axis=1), terms[:, _STEP]
    attended = np.maximum(np.hypot(read, heads), _NO_TIME)
    work = terms.sum(axis=1) - step - read - heads + attended
    total = (work**OVERLAP + step**OVERLAP) ** (1 / OVERLAP)
    shares: Floats = np.tile(((work / total) ** (OVERLAP - 1))[:, None], columns.shape[1])
    shares[:, _CACHE] *= read / attended
    shares[:, _HEADS] *= (heads / attended)[:, None]
    shares[:, _STEP] = (step / total) ** (OVERLAP - 1)
    return shares


def _decode_columns(row: Row, groups: Sequence[Group], head_limit: float) -> list[float]:
    p, m = row.passes, row.machine
    weights = float(p.weights[0]) / m.vector
    by_heads = not p.fused and p.heads > head_limit * m.dies
    flops, scores = (float(p.attention_flops[0]), float(p.scores[0])) if by_heads else (0.0, 0.0)
    return [
        float(p.weight_bytes[0]) / m.bandwidth,
        p.layers * m.threads / m.clock,
        float(p.kv_bytes[0]) / m.bandwidth,
        flops / m.bandwidth,
        flops / m.vector,
        scores / (1e9 * m.block_rate),
        *(weights if row.group is g else 0.0 for g in groups),
    ]


def _fit_prefill(rows: Sequence[Row], start: Coefficients) -> Coefficients:
    groups = [g for g in _GROUPS if any(row.group is g for row in rows)]
    seconds, weights = np.array([row.rate.seconds for row in rows]), _weights(rows)
    c = start
    scaled = [g for g in groups if g in _SCALED]
    usual, other = (
        np.array(
            [c.attention, c.score_bytes, c.activation, c.prompt_step]
            + [c.product[g] for g in groups]
            + [c.scaling[g] for g in scaled]
        )
        for c in (start, USUAL)
    )
    pull = _pull(rows) / np.maximum(usual, _OF_USUAL * other)
    # The root of two squares is linear in the work but for its share, which changes little.
    for _ in range(_SHARE_ROUNDS):
        columns, rest = zip(*(_prefill_columns(row, groups, c) for row in rows), strict=True)
        solved = relative(
            np.array(columns), seconds, weights, np.zeros(len(usual)), usual, pull,
            rest=np.array(rest),
        )  # fmt: skip
        values = solved.tolist()
        products = dict(zip(groups, values[4 : 4 + len(groups)], strict=True))
        scalings = dict(zip(scaled, values[4 + len(groups) :], strict=True))
        c = replace(
            c,
            attention=values[0],
            score_bytes=values[1],
            activation=values[2],
            prompt_step=values[3],
            product={**start.product, **_with_kin(products)},
            scaling={**start.scaling, **_with_kin(scalings)},
        )
    return c


def _prefill_columns(
    row: Row, groups: Sequence[Group], c: Coefficients
) -> tuple[list[float], float]:
    """Return the work by coefficient, and the seconds that do not depend on them."""
    p, m = row.passes, row.machine
    read = c.bandwidth * (p.weight_bytes + p.kv_bytes) / m.bandwidth
    moved = p.activation_bytes / m.bandwidth
    multiplied = p.flops + p.padding_flops
    work = multiplied * per_flop(m, c, row.group) + c.activation * moved
    both = np.hypot(read, work)
    share = work / both
    flops = float((share * multiplied).sum())
    columns = [
        float(p.attention_flops.sum()) / m.matrix,
        0.0 if p.fused else float(p.scores.sum()) / m.bandwidth,
        float((share * moved).sum()),
        len(both) * p.layers * m.threads / m.clock,
        *(flops / m.matrix if row.group is g else 0.0 for g in groups),
        *(flops / m.vector if row.group is g else 0.0 for g in groups if g in _SCALED),
    ]
    return columns, float((read**2 / both).sum())


def _with_kin(known: Mapping[Group, float]) -> dict[Group, float]:
    """Return coefficients with those of groups that are multiplied alike: scaled or unpacked."""
    kin = ((Group.BYTE, Group.BLOCKS), (Group.HALF, Group.SUPER_BLOCKS))
    pairs = [pair for a, b in kin for pair in ((a, b), (b, a))]
    return {a: known[a if a in known else b] for a, b in pairs if a in known or b in known}


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
