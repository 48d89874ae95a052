"""Published rates of llama.cpp on several cards, each with some of the layers, and their fit.

Tokens pass the cards one after the other, the passes of a prompt follow each other. The level of a
device is that of one card; what is fitted is a hand-over, and which share of passes overlaps.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctm_research.generation.least_squares import Floats
from ctm_research.generation.models import MODELS
from ctm_research.generation.published import DeviceNames
from predictor.core.records import Device
from predictor.language.architecture import DecoderArchitecture
from predictor.language.cards import Cards, link_of
from predictor.language.deviations import Z80, silicon_of, target_of
from predictor.language.machine import Machine, machine_of, shared
from predictor.language.passes import Passes, decode_pass, prefill_passes
from predictor.language.rates import (
    Coefficients,
    Phase,
    decode_parts,
    group_of,
    pipeline_share,
    prefill_parts,
)
from predictor.language.rates_file import Backend
from predictor.language.weights import WeightFormat, weight_format

BACKEND: Final = "cuda"
_KV_BITS: Final = 16.0
_CARDS: Final = re.compile(r"(.+)_(\d)_v3")
_TEST: Final = re.compile(r"(pp|tg) ?(\d+)")


@dataclass(frozen=True)
class Several:
    """A published rate of several cards.

    Attributes:
        device: of the catalogue.
        model: decoder.
        form: format of its weights.
        cards: that have its layers.
        phase: prompt or generation.
        tokens: of the prompt, or generated.
        tokens_per_s: published.
    """

    device: Device
    model: DecoderArchitecture
    form: WeightFormat
    cards: Cards
    phase: Phase
    tokens: int
    tokens_per_s: float

    @cached_property
    def machine(self) -> Machine:
        """The rates of a card, with the link to the next one."""
        return shared(machine_of(self.device), self.cards, link_of(self.device))

    @cached_property
    def passes(self) -> Passes:
        """The passes of the prompt, or of a token in the middle of the answer."""
        shape = (self.model, self.form, _KV_BITS)
        if self.phase is Phase.PREFILL:
            return prefill_passes(*shape, self.tokens)
        return decode_pass(*shape, self.tokens // 2)

    def seconds(self, c: Coefficients) -> float:
        """Return the time of a prompt, or of a token, by physics."""
        group, passes = group_of(self.form), self.passes
        if self.phase is Phase.DECODE:
            return _total(decode_parts(passes, self.machine, c, group).values())
        share = pipeline_share(self.cards.count, 1, len(passes.flops), c.flow)
        return share * _total(prefill_parts(passes, self.machine, c, group).values())

    @property
    def published_s(self) -> float:
        """The published time of a prompt, or of a token."""
        return (self.tokens if self.phase is Phase.PREFILL else 1) / self.tokens_per_s


def _total(parts: Iterable[Floats]) -> float:
    return float(sum(part.sum() for part in parts))


def read_several(folder: Path, devices: Mapping[str, Device]) -> list[Several]:
    """Read the rows of llama-bench with two to six cards."""
    names, rows = DeviceNames(devices), []
    path = folder / "kernels" / "llm_rates" / "xiongjie_llama_bench.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            name, test = _CARDS.fullmatch(row["gpu"]), _TEST.fullmatch(row["test"])
            device = names.device(name[1]) if name else None
            if name is None or test is None or device is None:
                continue
            rows.append(
                Several(
                    device=device,
                    model=MODELS["Llama-3-70B" if "70B" in row["model"] else "Llama-3-8B"],
                    form=weight_format("f16" if "F16" in row["model"] else "q4_k_m"),
                    cards=Cards(int(name[2]), pipeline=True),
                    phase=Phase.PREFILL if test[1] == "pp" else Phase.DECODE,
                    tokens=int(test[2]),
                    tokens_per_s=float(row["tokens_per_s"]),
                )
            )
    return rows


_STEPS: Final = np.geomspace(1.0, 64.0, 25)
_FLOWS: Final = np.linspace(0.0, 1.0, 21)


def fit_several(rows: Sequence[Several], backend: Backend) -> Coefficients:
    """Return the coefficients with the hand-over and the overlap of the least median error."""
    c = backend.coefficients
    for name, phase, values in (
        ("reduce_step", Phase.DECODE, _STEPS),
        ("flow", Phase.PREFILL, _FLOWS),
    ):
        of = [row for row in rows if row.phase is phase]
        changes: list[dict[str, Any]] = [{name: float(value)} for value in values]
        tried = [replace(c, **change) for change in changes]
        c = min(tried, key=lambda one: float(np.median(np.abs(errors_of(of, backend, one)))))
    return c


def errors_of(rows: Sequence[Several], backend: Backend, c: Coefficients) -> Floats:
    """Return the logarithms of predicted over published seconds, float64 [N]."""
    levels = {
        phase: backend.deviations[phase].of([target_of(r.device, group_of(r.form)) for r in rows])
        for phase in Phase
    }
    return np.array(
        [
            np.log(row.seconds(c) / row.published_s) + levels[row.phase][0][at]
            for at, row in enumerate(rows)
        ]
    )


def left_out(
    rows: Sequence[Several], backend: Backend, by: Callable[[Several], str]
) -> tuple[list[Several], Floats]:
    """Return rows with their errors, fitted without those of their model or die."""
    out: list[Several] = []
    errors: list[float] = []
    for key in sorted({by(row) for row in rows}):
        tested = [row for row in rows if by(row) == key]
        c = fit_several([row for row in rows if by(row) != key], backend)
        out += tested
        errors += errors_of(tested, backend, c).tolist()
    return out, np.array(errors)


def with_several(backend: Backend, rows: Sequence[Several]) -> Backend:
    """Return a backend fitted to several cards, with the spread of models that were left out."""
    known, new = (
        float(np.quantile(np.abs(left_out(rows, backend, by)[1]), 0.8)) / Z80
        for by in (by_model, by_die)
    )
    growth = replace(backend.growth, cards=known, cards_unmeasured=max(known, new))
    return replace(backend, coefficients=fit_several(rows, backend), growth=growth)


def by_model(row: Several) -> str:
    """Return the model of a row."""
    return row.model.name


def by_die(row: Several) -> str:
    """Return the die of a row."""
    return silicon_of(row.device)


def several_figures(
    folder: Path, devices: Mapping[str, Device], backends: Mapping[str, Backend]
) -> list[dict[str, object]]:
    """Return the errors by what was left out, phase and model.

    Raises:
        OSError: the table is missing.
    """
    rows, backend, figures = read_several(folder, devices), backends[BACKEND], []
    for name, by in (("device", by_die), ("model", by_model)):
        out, errors = left_out(rows, backend, by)
        cells = sorted({(row.phase.value, row.model.name) for row in out})
        for phase, model in cells:
            of = [
                error
                for row, error in zip(out, errors, strict=True)
                if (row.phase.value, row.model.name) == (phase, model)
            ]
            median = float(np.median(np.abs(np.expm1(of))))
            figures.append(
                {
                    "left_out": name,
                    "phase": phase,
                    "model": model,
                    "rows": len(of),
                    "median_error_percent": round(100 * median, 1),
                }
            )
    return figures
