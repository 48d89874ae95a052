"""Published times of batches and of several cards, and the fit of what they take more.

A row is the time of a whole batch: its prompts, then a token after the other. Level and bandwidth
are those of single sequences; what is fitted here is how a time grows with sequences and cards.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from ctm_research.generation.least_squares import Floats
from ctm_research.generation.models import MODELS
from ctm_research.generation.published import DeviceNames, serving_backend
from ctm_research.sources.tables import Row, read_rows
from predictor.core.records import Device
from predictor.language.architecture import DecoderArchitecture
from predictor.language.cards import Cards, Link, cache_copies, link_of
from predictor.language.deviations import Z80, Deviations, silicon_of, target_of
from predictor.language.growth import Growth
from predictor.language.machine import Machine, machine_of, shared
from predictor.language.memory import card_memory, memory_of, usable_memory
from predictor.language.passes import Passes, decode_pass, prefill_passes
from predictor.language.rates import Coefficients, Group, Part, bound, decode_parts, prefill_parts
from predictor.language.weights import weight_format

FORM: Final = weight_format("fp16")
_KV_BITS: Final = 16.0


@dataclass(frozen=True)
class Served:
    """A published time of a batch.

    Attributes:
        device: of the catalogue.
        backend: name in the file of rates.
        model: decoder, in 16 bits.
        cards: that share it.
        batch: sequences.
        prompt: tokens of a prompt.
        new: tokens of an answer.
        seconds: for all of them.
        fused: whether attention is fused.
    """

    device: Device
    backend: str
    model: DecoderArchitecture
    cards: Cards
    batch: int
    prompt: int
    new: int
    seconds: float
    fused: bool

    @cached_property
    def machine(self) -> Machine:
        """The rates of all cards."""
        return shared(machine_of(self.device), self.cards, link_of(self.device))

    @cached_property
    def passes(self) -> tuple[Passes, ...]:
        """The work of the prompts, of a token in the middle of the answers, and of one sequence."""
        shape, middle = (self.model, FORM, _KV_BITS), self.prompt + self.new // 2
        works = (
            prefill_passes(*shape, self.prompt, self.batch, self.prompt, fused=self.fused),
            decode_pass(*shape, middle, self.batch, fused=self.fused),
            decode_pass(*shape, middle, fused=self.fused),
        )
        copies = cache_copies(self.model, self.cards)
        return tuple(replace(work, kv_bytes=copies * work.kv_bytes) for work in works)

    @cached_property
    def fits(self) -> bool:
        """Whether a card holds its part of the weights and of all caches."""
        usable = usable_memory(self.device)
        memory = memory_of(self.model, FORM, self.prompt + self.new, self.batch, _KV_BITS)
        return usable is None or card_memory(self.model, memory, self.cards).total <= usable.bytes

    @property
    def is_possible(self) -> bool:
        """Whether the time is not under that of the memory."""
        return self.seconds > self.new * float(bound(self.passes[1], self.machine).sum())


class Stack:
    """Rows side by side, so that one formula gives the times of all.

    Args:
        rows: any.
    """

    def __init__(self, rows: Sequence[Served]) -> None:
        self._count = len(rows)
        groups: dict[tuple[Cards, bool], list[int]] = defaultdict(list)
        for at, row in enumerate(rows):
            groups[row.cards, row.fused].append(at)
        self._groups = [
            (
                np.array(places),
                _stacked([rows[at].machine for at in places]),
                [_stacked(list(p)) for p in zip(*(rows[at].passes for at in places), strict=True)],
            )
            for places in groups.values()
        ]
        self._new = np.array([row.new for row in rows], np.float64)

    def phases(self, c: Coefficients) -> tuple[Floats, Floats, Floats]:
        """Return the seconds of the prompts, of all tokens, and of those of one sequence, [N]."""
        prompts, tokens, singles = (np.zeros(self._count) for _ in range(3))
        for places, machine, (prompt, token, single) in self._groups:
            prompts[places] = _total(prefill_parts(prompt, machine, c, Group.HALF))
            tokens[places] = _total(decode_parts(token, machine, c, Group.HALF))
            singles[places] = _total(decode_parts(single, machine, c, Group.HALF))
        return prompts, self._new * tokens, self._new * singles


_Record = TypeVar("_Record", Passes, Machine)


def _stacked(records: Sequence[_Record]) -> _Record:
    """Return a record whose numbers are arrays, one entry a record; what is no number is alike."""
    first = records[0]
    values: dict[str, Any] = {}
    for name in (entry.name for entry in fields(first)):
        one = getattr(first, name)
        of_all = [getattr(record, name) for record in records]
        if isinstance(one, np.ndarray):
            values[name] = np.concatenate(of_all)
        elif isinstance(one, Link):
            rates = np.array([link.bytes_per_s for link in of_all])
            latencies = np.array([link.latency_s for link in of_all])
            values[name] = Link(one.name, rates, latencies, one.source)  # type: ignore[arg-type]
        elif isinstance(one, bool) or not isinstance(one, int | float):
            values[name] = one
        else:
            values[name] = np.array(of_all, np.float64)
    return replace(first, **values)


def _total(parts: Mapping[Part, Floats]) -> Floats:
    total: Floats = np.sum(list(parts.values()), axis=0)
    return total


_FRAMEWORKS: Final = {"vLLM": "vllm", "TensorRT-LLM": "tensorrt-llm"}
SERVED_MODELS: Final = {
    "Mistral-7B-v0.1": "Mistral-7B",
    "Llama-2-7b-hf": "Llama-2-7B",
    "Meta-Llama-3-8B": "Llama-3-8B",
    "Qwen2-7B": "Qwen2-7B",
    "Mixtral-8x7B-v0.1": "Mixtral-8x7B",
    "Meta-Llama-3-70B": "Llama-3-70B",
    "Llama-2-70b-hf": "Llama-2-70B",
}
FUSED: Final = frozenset({"vllm", "tensorrt-llm"})


def read_served(folder: Path, devices: Mapping[str, Device]) -> tuple[list[Served], Counter[str]]:
    """Read Argonne's times of batches; beside them the number of rows not used by reason.

    Raises:
        InputError: the table is missing or damaged.
    """
    names, unused = DeviceNames(devices), Counter[str]()
    path = folder / "kernels" / "llm_serving" / "argonne_llm_inference_bench.csv.gz"
    return list(_served(path, names, unused)), unused


def _served(path: Path, names: DeviceNames, unused: Counter[str]) -> Iterator[Served]:
    for row in read_rows(path, ()):
        model = MODELS.get(SERVED_MODELS.get(row["model"].split("/")[-1], ""))
        device = names.device(row["hardware"])
        framework = _FRAMEWORKS.get(row["framework"])
        if framework is None or model is None or device is None:
            unused["a framework, model or device that is not modelled"] += 1
            continue
        served = _row(row, framework, model, device)
        if not served.is_possible:
            unused["faster than the memory: a slip of the source"] += 1
        else:
            yield served


def _row(row: Row, framework: str, model: DecoderArchitecture, device: Device) -> Served:
    backend, tokens = serving_backend(framework, device), int(row["input_output_length"])
    return Served(
        device=device,
        backend=backend,
        model=model,
        cards=Cards(int(row["n"])),
        batch=int(row["batch"]),
        prompt=tokens,
        new=tokens,
        seconds=row.positive("latency_s"),
        fused=backend in FUSED,
    )


_BATCH: Final = ("cache", "head_bytes", "unpack", "row", "flop", "sequence", "product")
# Bytes take at least what the bandwidth reaches, and at most three times what it says.
_LIMITS: Final = {"cache": (1.05, 3.0), "head_bytes": (1e-12, 3.0), "flop": (1e-18, np.inf)}
_CARDS: Final = ("reduce_step", "reduce_bytes")
_USUAL_SEQUENCE: Final = 20e-6
_TOWARDS_START: Final = 0.05  # weight of a factor of e of a coefficient, in errors of a cell
_ROUNDS: Final = 12
_STEP: Final = 0.02
_LARGEST_STEP: Final = 0.7
_ROBUST: Final = 0.05


@dataclass(frozen=True, slots=True)
class Fitted:
    """Coefficients of a backend with batches and cards, and how dies deviate in growing."""

    coefficients: Coefficients
    growth: Growth = field(default_factory=Growth)


def fit_served(rows: Sequence[Served], start: Coefficients, levels: Mapping[str, float]) -> Fitted:
    """Return what makes times grow with sequences and cards as published.

    Args:
        rows: of a backend; those whose caches a card does not hold are left out.
        start: coefficients that they start from and are drawn to.
        levels: deviation of single sequences by device.
    """
    fitting = [row for row in rows if row.fits]
    alone = [row for row in fitting if row.cards.count == 1]
    fitted = Fitted(replace(start, sequence=start.sequence or _USUAL_SEQUENCE))
    if alone:
        dies = sorted({silicon_of(row.device) for row in alone if row.batch > 1})
        fitted = _solved(alone, fitted, _BATCH, levels, dies)
    several = [row for row in fitting if row.cards.count > 1]
    return _solved(several, fitted, _CARDS, levels, ()) if several else fitted


def levels_of(rows: Sequence[Served], c: Coefficients) -> dict[str, float]:
    """Return the deviation of single sequences on one card, by device."""
    single = [row for row in rows if row.batch == 1 and row.cards.count == 1]
    errors = errors_of(single, Fitted(c), {})
    of: dict[str, list[float]] = defaultdict(list)
    for row, error in zip(single, errors.tolist(), strict=True):
        of[row.device.id].append(-error)
    return {device: float(np.median(values)) for device, values in of.items()}


def errors_of(rows: Sequence[Served], fitted: Fitted, levels: Mapping[str, float]) -> Floats:
    """Return the logarithms of predicted over published seconds, float64 [N]."""
    if not rows:
        return np.zeros(0)
    return predicted(rows, Stack(rows), fitted, levels) - np.log([row.seconds for row in rows])


def predicted(
    rows: Sequence[Served], stack: Stack, fitted: Fitted, levels: Mapping[str, float]
) -> Floats:
    """Return the logarithms of the seconds of rows, [N]; deviations are those of tokens."""
    prompts, tokens, singles = stack.phases(fitted.coefficients)
    growth = np.array([fitted.growth.of(silicon_of(row.device)) for row in rows])
    level = np.array([levels.get(row.device.id, 0.0) for row in rows])
    grown = singles + np.exp(growth) * np.maximum(tokens - singles, 0.0)
    logarithms: Floats = np.log(prompts + grown * np.exp(level))
    return logarithms


# What is left out together.
_LEFT: Final[Mapping[str, Callable[[Served], str]]] = {
    "model": lambda row: row.model.name,
    "device": lambda row: silicon_of(row.device),
}
# Standard deviation of the logarithm of a device's time of single sequences.
LevelSpread = Callable[[Device], float]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows that were predicted without those of their model, or of their die.

    Attributes:
        row: the published time.
        by: ``model`` or ``device``; of a device the rows of single sequences are known.
        error: logarithm of predicted over published seconds.
        share: of the seconds that further sequences add.
    """

    row: Served
    by: str
    error: float
    share: float

    @property
    def key(self) -> str:
        """Of the rows that were left out with it: their model, or their die."""
        return _LEFT[self.by](self.row)

    @property
    def left(self) -> tuple[str, str]:
        """What was left out, and which."""
        return self.by, self.key

    def grown(self, growth: Growth) -> float:
        """Return the share of the time that is added, as it is known without the row."""
        return self._known(growth).grown(silicon_of(self.row.device), self.share)

    def spread(self, growth: Growth, level: LevelSpread, cards: int | None = None) -> float:
        """Return the standard deviation of the logarithm of the row's time, on its cards."""
        count = self.row.cards.count if cards is None else cards
        known = self._known(growth).spread(silicon_of(self.row.device), self.share, count)
        return math.hypot(level(self.row.device), known)

    def _known(self, growth: Growth) -> Growth:
        of = growth.of_silicon
        rest = {die: value for die, value in of.items() if self.by == "model" or die != self.key}
        return replace(growth, of_silicon=rest)


def left_out(
    rows: Sequence[Served], start: Coefficients, levels: Mapping[str, float]
) -> list[LeftOut]:
    """Return all rows of a backend, predicted without their model, and without their die."""
    result: list[LeftOut] = []
    for by, key in _LEFT.items():
        for name in sorted({key(row) for row in rows}):
            out = [row for row in rows if key(row) == name]
            rest = [row for row in rows if key(row) != name]
            if not rest:
                continue
            fitted = fit_served(rest, start, levels)
            prompts, tokens, singles = Stack(out).phases(fitted.coefficients)
            shares = (tokens - singles) / (prompts + tokens)
            errors = errors_of(out, fitted, levels)
            result += [LeftOut(*pair) for pair in zip(out, [by] * len(out), errors, shares)]  # noqa: B905
    return result


_LEAST_ADDED: Final = 0.05


def level_spread(deviations: Deviations) -> LevelSpread:
    """Return the standard deviations that the tokens of one sequence have on devices."""
    spreads: dict[str, float] = {}

    def of(device: Device) -> float:
        if device.id not in spreads:
            _, spread = deviations.of([target_of(device, Group.HALF)])
            spreads[device.id] = float(spread[0])
        return spreads[device.id]

    return of


def growth_of(fitted: Fitted, judged: Sequence[LeftOut], level: LevelSpread) -> Growth:
    """Return the growth of a backend with what it leaves open, from what was left out.

    Its standard deviations are the least with which 80 % of the intervals, of level and growth
    together, hold what was published.

    Args:
        fitted: coefficients and deviations of dies.
        judged: rows that were predicted without their model, and without their die.
        level: of the devices.
    """
    fitting, growth = [one for one in judged if one.row.fits], fitted.growth
    alone = [j for j in fitting if j.row.cards.count == 1 and j.share > _LEAST_ADDED]
    measured, unmeasured = (
        _quantile80(
            [
                (one.key, _left_open(one, level(one.row.device)) / one.grown(growth))
                for one in alone
                if one.by == by
            ]
        )
        for by in _LEFT
    )
    # A die of which nothing was measured is no surer than the others.
    growth = replace(growth, measured=measured, unmeasured=max(measured, unmeasured))
    cards, cards_unmeasured = (
        _quantile80(
            [
                (one.key, _left_open(one, one.spread(growth, level, cards=1)))
                for one in fitting
                if one.by == by and one.row.cards.count > 1
            ]
        )
        for by in _LEFT
    )
    return replace(growth, cards=cards, cards_unmeasured=max(cards, cards_unmeasured))


def _left_open(one: LeftOut, spread: float) -> float:
    """Return the standard deviation beside ``spread`` whose 80 % interval just holds a row."""
    return math.sqrt(max((one.error / Z80) ** 2 - spread**2, 0.0))


def _quantile80(scales: Sequence[tuple[str, float]]) -> float:
    """Return the value under which 80 % lie; each model or die weighs as much as another."""
    if not scales:
        return 0.0
    keys, values = zip(*scales, strict=True)
    weights = np.array([1 / keys.count(key) for key in keys])
    return float(np.quantile(np.array(values), 0.8, weights=weights, method="inverted_cdf"))


def _solved(
    rows: Sequence[Served],
    start: Fitted,
    coefficients: Sequence[str],
    levels: Mapping[str, float],
    dies: Sequence[str],
) -> Fitted:
    """Return the fit with some coefficients and dies solved for, by Gauss and Newton."""
    names = [name for name in coefficients if _value(start.coefficients, name) > 0]
    measured = np.log([row.seconds for row in rows])
    cells = Counter((row.device.id, row.model.name, row.cards) for row in rows)
    weights = np.array([cells[row.device.id, row.model.name, row.cards] ** -0.5 for row in rows])
    stack = Stack(rows)
    limits = np.array([_LIMITS.get(name, (1e-12, np.inf)) for name in names]).T

    def fitted(at: Floats) -> Fitted:
        growth = dict(zip(dies, at[len(names) :].tolist(), strict=True))
        c = _with(start.coefficients, names, np.exp(at[: len(names)]))
        return Fitted(c, Growth(of_silicon={**start.growth.of_silicon, **growth}))

    def errors(at: Floats) -> Floats:
        return predicted(rows, stack, fitted(at), levels) - measured

    origin = np.concatenate(
        [np.log([_value(start.coefficients, name) for name in names]), np.zeros(len(dies))]
    )
    at, prior = origin, _TOWARDS_START * np.sqrt(len(cells)) * np.eye(len(origin))
    for _ in range(_ROUNDS):
        error = errors(at)
        columns = [(errors(at + _STEP * unit) - error) / _STEP for unit in np.eye(len(origin))]
        by = weights / np.sqrt(np.maximum(np.abs(error), _ROBUST))
        matrix = np.vstack([np.array(columns).T * by[:, None], prior])
        target = np.concatenate([-error * by, prior @ (origin - at)])
        step = np.linalg.lstsq(matrix, target, rcond=None)[0]
        at = at + np.clip(step, -_LARGEST_STEP, _LARGEST_STEP)
        at[: len(names)] = np.clip(at[: len(names)], *np.log(limits))
    return fitted(at)


def _value(c: Coefficients, name: str) -> float:
    value = getattr(c, name)
    return float(value if isinstance(value, float) else value[Group.HALF])


def _with(c: Coefficients, names: Sequence[str], values: Floats) -> Coefficients:
    changed: dict[str, object] = {}
    for name, value in zip(names, values.tolist(), strict=True):
        old = getattr(c, name)
        changed[name] = value if isinstance(old, float) else {**old, Group.HALF: value}
    return replace(c, **changed)  # type: ignore[arg-type]
