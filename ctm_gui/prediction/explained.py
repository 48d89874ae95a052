"""An explained pair: its operators, under the roofs of the target and over time."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from ctm_gui.prediction.run import target_names
from predictor.core.errors import InputError
from predictor.core.records import Prediction, Target
from predictor.services.models.ingestion import Model
from predictor.services.prediction.predict import KnownTargets, OperatorTable, explain
from predictor.services.prediction.roofline import Roof, Roofline, roofline_of, roofs_of
from predictor.services.prediction.timeline import Timeline, pair_title, timeline_of

_MOST_OTHERS: Final = 4  # targets beside the explained one: more roofs than that cannot be read


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """Where the time of one model goes on one target.

    Attributes:
        title: of the pair.
        target: name of the target's device.
        table: its N operators.
        timeline: the same over time.
        roofline: the same under the roofs of the target; None where its rates are not known.
        others: roofs of other targets, by the names of their devices.
        interval: ends of the 80 % interval over the latency; None without one.
    """

    title: str
    target: str
    table: OperatorTable
    timeline: Timeline
    roofline: Roofline | None
    others: tuple[tuple[str, tuple[Roof, ...]], ...] = ()
    interval: tuple[float, float] | None = None


def explained(
    model: Model,
    target: Target,
    others: Sequence[Target],
    prediction: Prediction,
    signatures: KnownTargets,
) -> Explained:
    """Explain one pair.

    Args:
        model: the model.
        target: the target.
        others: further targets, whose roofs are compared.
        prediction: of the pair.
        signatures: the user's measurements on targets.

    Raises:
        InputError: the target has no number for the model.
    """
    table = explain(model, target, signatures=signatures).scaled(prediction.scale)
    name, *other_names = target_names([target, *others])
    roofline = None
    # The engine may know more than the facts tell: what was measured.
    with suppress(InputError):
        roofline = roofline_of(model, target, table)
    return Explained(
        pair_title(prediction.model, target),
        name,
        table,
        timeline_of(table),
        roofline,
        tuple(_other_roofs(model, others, other_names))[:_MOST_OTHERS],
        _interval(prediction),
    )


def _other_roofs(
    model: Model, targets: Sequence[Target], names: Sequence[str]
) -> list[tuple[str, tuple[Roof, ...]]]:
    roofs = []
    for target, name in zip(targets, names, strict=True):
        # A target that cannot run the configuration has no roofs for it.
        with suppress(InputError):
            roofs.append((name, roofs_of(model, target)))
    return roofs


def _interval(prediction: Prediction) -> tuple[float, float] | None:
    latency, low, high = prediction.latency_ms, prediction.low80_ms, prediction.high80_ms
    return None if not latency or low is None or high is None else (low / latency, high / latency)
