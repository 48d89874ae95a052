"""``ctm predict --throughput`` and ``--energy``: what stands beside the latencies of a model."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from predictor.cli.model_text import NAME_COLUMNS
from predictor.cli.tables import render_table
from predictor.core.prediction import Prediction
from predictor.core.records import Target
from predictor.core.text import capitalised, shortened
from predictor.graph.model import Model
from predictor.presentation.wording import number
from predictor.services.prediction.predict import KnownTargets

if TYPE_CHECKING:  # few commands ask for them
    from predictor.services.prediction.energy import RunEnergy
    from predictor.services.prediction.throughput import Throughput

_RATES = ("Device", "Items/s", "80 %", "One at a time", "Gain", "Batch")
_ENERGIES = ("Device", "mJ a run", "80 %", "W")


@dataclass(frozen=True, slots=True)
class Supplements:
    """Rates and energies of one model, one a target; None where there is none to state.

    Attributes:
        rates: empty where none were requested.
        energies: the same.
    """

    rates: Sequence[Throughput | None] = ()
    energies: Sequence[RunEnergy | None] = ()

    def blocks(self, targets: Sequence[Target]) -> list[str]:
        """Return tables, the best first, each with the evidence under it; none of no number."""
        rates = sorted(_named(targets, self.rates), key=lambda row: -row[1].per_s)
        joules = sorted(_named(targets, self.energies), key=lambda row: row[1].mj)
        blocks = []
        if rates:
            table = render_table(_RATES, [_rate_cells(*row) for row in rates], " rrrrr")
            blocks += [table, _evidence(rates)]
        if joules:
            table = render_table(_ENERGIES, [_energy_cells(*row) for row in joules], " rrr")
            blocks += [table, _evidence(joules)]
        return blocks

    def entries(self, count: int) -> list[dict[str, object]]:
        """Return what the document adds to each of ``count`` predictions."""
        requested = {"throughput": self.rates, "energy": self.energies}
        return [
            {name: _plain(values[place]) for name, values in requested.items() if values}
            for place in range(count)
        ]


def supplements_of(
    options: argparse.Namespace,
    model: Model,
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    measured: KnownTargets,
) -> Supplements:
    """Return what was requested beside the latencies of a model."""
    rates: Sequence[Throughput | None] = ()
    joules: Sequence[RunEnergy | None] = ()
    if options.throughput:
        from predictor.services.prediction.throughput import throughputs  # noqa: PLC0415

        rates = throughputs(model, targets, predictions)
    if options.energy:
        from predictor.services.prediction.energy import energies  # noqa: PLC0415

        joules = energies(model, targets, predictions, measured)
    return Supplements(rates, joules)


def add_supplements(document: dict[str, object], added: Sequence[dict[str, object]]) -> None:
    """Add to each prediction of a document what stands beside its latency."""
    entries: Any = document["predictions"]
    for entry, values in zip(entries, added, strict=True):
        entry.update(values)


def _named(targets: Sequence[Target], values: Sequence[Any]) -> list[tuple[str, Any]]:
    pairs = zip(targets, values, strict=False)
    return [
        (shortened(target.device.name, NAME_COLUMNS), value)
        for target, value in pairs
        if value is not None
    ]


def _evidence(rows: Iterable[tuple[str, Any]]) -> str:
    """Return the evidence of rows, each with the devices that it is of."""
    names: dict[str, list[str]] = {}
    for name, value in rows:
        names.setdefault(value.evidence, []).append(name)
    return "\n".join(
        f"{capitalised(evidence)}: {', '.join(dict.fromkeys(devices))}."
        for evidence, devices in names.items()
    )


def _rate_cells(name: str, rate: Throughput) -> list[str]:
    ends = _interval(rate.low80_per_s, rate.high80_per_s)
    return [
        *(name, number(rate.per_s), ends, number(rate.alone_per_s), number(rate.gain)),
        str(rate.batch),
    ]


def _energy_cells(name: str, energy: RunEnergy) -> list[str]:
    ends = _interval(energy.low80_mj, energy.high80_mj)
    return [name, number(energy.mj), ends, number(energy.watts)]


def _interval(low: float | None, high: float | None) -> str:
    return f"{number(low)} – {number(high)}" if low and high else "—"


def _plain(value: Throughput | RunEnergy | None) -> dict[str, object] | None:
    return None if value is None else asdict(value)
