"""Hardware for a budget: ``choose``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from predictor.api.predictions import Store, context_of
from predictor.api.tables import Table
from predictor.api.targets import Requested, catalogue, devices_of
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device, Precision
from predictor.core.run_facts import MEDIAN
from predictor.services.choose.choice import Choice, Option
from predictor.services.choose.choose import EVEN
from predictor.services.choose.choose import choose as judge
from predictor.services.choose.options import BATCHES, Budget, Wanted, options_of


class Choices(Table):
    """Devices ranked by the chance that all models keep a budget there, a row a device.

    Attributes:
        choice: all options with their chances.
        sentence: the answer in words.
    """

    def __init__(self, choice: Choice) -> None:
        self.choice, self.sentence = choice, choice.sentence
        super().__init__([_row(choice.option(place)) for place in choice.of_devices])

    def _repr_html_(self) -> str:
        return f"<p>{self.sentence}</p>{super()._repr_html_()}"


def _row(option: Option) -> dict[str, object]:
    prediction = option.prediction
    return {
        "device": option.target.device.id,
        "runtime": prediction.configuration.runtime,
        "precision": prediction.configuration.precision.value,
        "threads": prediction.configuration.threads,
        "batch": prediction.configuration.batch,
        "mode": option.mode and option.mode.name,
        "chance": option.chance,
        "latency_ms": prediction.latency_ms,
        "low80_ms": prediction.low80_ms,
        "high80_ms": prediction.high80_ms,
        "watts": option.watts,
        "memory_mb": option.memory_mb,
        "on_front": option.on_front,
        "remark": option.remark or None,
    }


def choose(
    models: Any,
    *,
    max_ms: float | None = None,
    min_fps: float | None = None,
    max_watts: float | None = None,
    max_memory_mb: float | None = None,
    percentile: int = MEDIAN,
    chance: float = EVEN,
    devices: str | Device | Sequence[str | Device] | None = None,
    runtimes: Sequence[str] = (),
    precisions: Sequence[str] = (),
    families: Sequence[str] = (),
    store: Store = None,
) -> Choices:
    """Rank hardware by the chance that every model keeps a budget on it, as ``ctm choose`` does.

    Args:
        models: models of ``load`` or what it takes, alone or in a list.
        max_ms: latency of one run.
        min_fps: items a second.
        max_watts: power that the device is stated to draw.
        max_memory_mb: weights and activations, in 1e6 bytes.
        percentile: of the runs that have to keep ``max_ms``: 50, 90 or 99.
        chance: from which an option meets the budget, 0 to 1.
        devices: to choose from; None for all shipped ones.
        runtimes: to choose from; empty for all.
        precisions: to choose from; empty for all.
        families: kinds of device, such as ``gpu``; empty for all.
        store: of what you measured before.

    Raises:
        InputError: an argument is wrong, the budget has no limit, or no option has a number.
        HostError: the reader of model files cannot be started.
    """
    budget = Budget(max_ms, min_fps, max_watts, max_memory_mb, percentile)
    try:
        wanted = Wanted(
            tuple(runtimes), tuple(map(Precision, precisions)), tuple(map(Family, families))
        )
    except ValueError as error:
        raise InputError("ctm.choose", str(error), "see `ctm choose --help`") from error
    with context_of(models, (), Requested(), store=store) as (context, user_store):
        path = None if store is None else Path(store)
        chosen = devices_of(devices, path) if devices is not None else catalogue(path).devices
        options = options_of(chosen, wanted, (1,) if min_fps is None else BATCHES)
        choice = judge(
            context.models,
            options,
            budget,
            min_chance=chance,
            measurements=context.measurements,
            measured=user_store.signatures(options.targets),
            devices=context.devices,
        )
    return Choices(choice)
