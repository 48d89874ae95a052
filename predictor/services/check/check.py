"""Models checked against the limits of a budget file and the numbers of a base commit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Final

from predictor.core.errors import InputError
from predictor.core.files import read_bytes
from predictor.core.prediction import Prediction
from predictor.core.records import Target
from predictor.core.text import printable
from predictor.core.toml_tables import number as positive_number
from predictor.graph.model import Model
from predictor.presentation.verdict import budget_probability, likelihood
from predictor.presentation.wording import number, percent
from predictor.services.check.budget_file import Check
from predictor.services.prediction.predict import predict

SCHEMA: Final = "ctm-check/1"  # scripts depend on it
_MAX_BYTES: Final = 100_000_000
_MB: Final = 1e6
_EVEN: Final = 50.0  # percent: the P50 decides


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One model on one target, checked against its limits.

    Attributes:
        model: its file, relative to the budget's.
        target: in text, ``DEVICE/RUNTIME/PRECISION/tTHREADS``.
        batch: that it ran over.
        engine: name and version.
        latency_ms, low80_ms, high80_ms: the prediction; None without a number.
        memory_mb: of weights and activations; None where it is not known.
        base_ms: P50 of the base commit by the same engine; None where there is none.
        max_ms, max_memory_mb, max_growth_percent: the limits; None for none.
        over: the limits that it is over, in words.
        problem: why it has no number, else empty.
    """

    model: str
    target: str
    batch: int
    engine: str
    latency_ms: float | None
    low80_ms: float | None
    high80_ms: float | None
    memory_mb: float | None
    base_ms: float | None
    max_ms: float | None
    max_memory_mb: float | None
    max_growth_percent: float | None
    over: tuple[str, ...]
    problem: str = ""

    @property
    def growth(self) -> float | None:
        """P50 over that of the base, less 1; None without a base."""
        if not self.base_ms or self.latency_ms is None:
            return None
        return self.latency_ms / self.base_ms - 1


Base = Mapping[tuple[str, str, int], tuple[str, float]]
"""Engine and P50 of a base commit by model, target and batch."""


def check_models(
    check: Check, models: Sequence[tuple[str, Model]], targets: Sequence[Target], base: Base
) -> Iterator[Checked]:
    """Yield each model on each target of a table, checked against its limits.

    The user's measurements are left out: a check gives the same on every machine.

    Args:
        check: the table.
        models: with their names in the output.
        targets: of the table.
        base: of the commit that growth is against.
    """
    predictions = iter(predict([model for _, model in models], targets))
    for name, _ in models:
        for target in targets:
            yield _checked(check, name, str(target.id), next(predictions), base)


def _checked(check: Check, name: str, target: str, prediction: Prediction, base: Base) -> Checked:
    batch = prediction.configuration.batch
    engine, base_ms = base.get((name, target, batch), ("", None))
    memory = prediction.memory
    problem = prediction.problem
    if check.max_memory_mb is not None and memory is None and not problem:
        problem = "its memory is not known"
    checked = Checked(
        model=name,
        target=target,
        batch=batch,
        engine=prediction.engine,
        latency_ms=prediction.latency_ms,
        low80_ms=prediction.low80_ms,
        high80_ms=prediction.high80_ms,
        memory_mb=None if memory is None else memory.peak_bytes / _MB,
        # Numbers of two engines differ by more than what a commit changed.
        base_ms=base_ms if engine == prediction.engine else None,
        max_ms=check.max_ms,
        max_memory_mb=check.max_memory_mb,
        max_growth_percent=check.max_growth_percent,
        over=(),
        problem=problem,
    )
    return checked if problem else _with_limits(checked, check, prediction)


def _with_limits(checked: Checked, check: Check, prediction: Prediction) -> Checked:
    over: list[str] = []
    latency, memory, growth = checked.latency_ms, checked.memory_mb, checked.growth
    if check.max_ms is not None and latency is not None:
        chance = budget_probability(prediction, check.max_ms)
        if check.chance == _EVEN or chance is None:
            if latency > check.max_ms:
                over.append(f"{number(latency)} ms is over {check.max_ms:g} ms")
        elif chance < check.chance / 100:
            over.append(
                f"the chance of {check.max_ms:g} ms is {likelihood(chance)}, "
                f"under {check.chance:g} %"
            )
    if check.max_memory_mb is not None and memory is not None and memory > check.max_memory_mb:
        over.append(f"{number(memory)} MB is over {check.max_memory_mb:g} MB")
    max_growth = check.max_growth_percent
    if max_growth is not None and growth is not None and growth * 100 > max_growth:
        over.append(f"it grew by {percent(growth)}, over {max_growth:g} %")
    return replace(checked, over=tuple(over))


def unreadable(name: str, error: InputError) -> Checked:
    """Return the row of a model that cannot be read."""
    nothing = dict.fromkeys(column.name for column in fields(Checked))
    texts = {"model": name, "target": "", "engine": "", "over": (), "batch": 0}
    return Checked(**nothing | texts | {"problem": error.reason})  # type: ignore[arg-type]


def document(rows: Sequence[Checked]) -> dict[str, object]:
    """Return the JSON document, which a later check takes as its base."""
    return {"schema": SCHEMA, "passed": not exit_code(rows), "checks": [asdict(r) for r in rows]}


def exit_code(rows: Sequence[Checked]) -> int:
    """Return 0 where all limits are met, 1 where one is exceeded, 2 where a row has no number."""
    if any(row.problem for row in rows):
        return InputError.exit_code
    return int(any(row.over for row in rows))


def read_base(path: Path) -> Base:
    """Read the document of an earlier check.

    Raises:
        InputError: it cannot be read, or is no such document.
    """
    data = read_bytes(path, _MAX_BYTES)
    try:
        content = json.loads(data)
        rows = {SCHEMA: content["checks"]}[content["schema"]]
        return {
            (str(row["model"]), str(row["target"]), int(row["batch"])): (
                printable(str(row["engine"])),
                positive_number(row["latency_ms"]),
            )
            for row in rows
            if row["latency_ms"] is not None
        }
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(
            str(path), f"it is no document of {SCHEMA}", "make one by ctm check --save FILE.json"
        ) from error
