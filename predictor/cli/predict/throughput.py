"""``ctm predict --throughput``: items a second with as many runs at once as pay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from predictor.cli.model_text import NAME_COLUMNS
from predictor.cli.tables import render_table
from predictor.core.prediction import Prediction
from predictor.core.records import Target
from predictor.core.text import capitalised, shortened
from predictor.graph.model import Model
from predictor.presentation.wording import number

if TYPE_CHECKING:  # few commands ask for rates
    from predictor.services.prediction.throughput import Throughput

_HEADER = ("Device", "Items/s", "80 %", "One at a time", "Gain", "Batch")


def throughputs_of(
    model: Model, targets: Sequence[Target], predictions: Sequence[Prediction]
) -> list[Throughput | None]:
    """Return the throughput of a model on each target; None where there is no latency."""
    from predictor.services.prediction.throughput import throughputs  # noqa: PLC0415

    return throughputs(model, targets, predictions)


def throughput_blocks(targets: Sequence[Target], rates: Sequence[Throughput | None]) -> list[str]:
    """Return a table, the highest rate first, and where its gains come from; none of no rate."""
    rows = [
        (target, rate) for target, rate in zip(targets, rates, strict=False) if rate is not None
    ]
    if not rows:
        return []
    rows.sort(key=lambda row: -row[1].per_s)
    reasons: dict[str, list[str]] = {}
    for target, rate in rows:
        reasons.setdefault(rate.evidence, []).append(shortened(target.device.name, NAME_COLUMNS))
    sentences = [
        f"{capitalised(evidence)}: {', '.join(names)}." for evidence, names in reasons.items()
    ]
    table = render_table(_HEADER, [_cells(*row) for row in rows], " rrrrr")
    return [table, "\n".join(sentences)]


def _cells(target: Target, rate: Throughput) -> list[str]:
    low, high = rate.low80_per_s, rate.high80_per_s
    return [
        shortened(target.device.name, NAME_COLUMNS),
        number(rate.per_s),
        f"{number(low)} – {number(high)}" if low and high else "—",
        number(rate.alone_per_s),
        number(rate.gain),
        str(rate.batch),
    ]


def add_throughputs(document: dict[str, object], rates: Sequence[Throughput | None]) -> None:
    """Add the throughput of each prediction of a document; nothing where none was requested."""
    entries: Any = document["predictions"]
    for entry, rate in zip(entries, rates, strict=False):
        entry["throughput"] = None if rate is None else asdict(rate)
