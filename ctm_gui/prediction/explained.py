"""An explained pair: its operators, under the roofs of the target and over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_gui.prediction.comparison import target_names
from predictor.core.errors import InputError
from predictor.core.prediction import Prediction
from predictor.core.progress import CancelToken
from predictor.core.records import Target
from predictor.graph.model import Model
from predictor.services.prediction.explain import OperatorTable, explain
from predictor.services.prediction.predict import KnownTargets
from predictor.services.prediction.roofline import Roof, Roofline, roofline_of, roofs_of
from predictor.services.prediction.timeline import Timeline, pair_title, timeline_of

_MAX_ROOFS: Final = 4  # targets beside the explained one: more roofs than that cannot be read
_NO_INTERVAL: Final = (np.nan, np.nan)
_MAX_COSTS: Final = 10_000_000  # of operators on targets together, 4 bytes each


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """Time of each operator on each of some targets.

    Attributes:
        names: of the T targets that have a number.
        latency_ms: float32 [T, N].
        interval: ends of each 80 % interval over the latency, float64 [T, 2]; NaN without one.
        left_out: how many further targets are not among them.
    """

    names: tuple[str, ...]
    latency_ms: NDArray[np.float32]
    interval: NDArray[np.float64]
    left_out: int = 0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Explained:
    """Where the time of one model goes on one target.

    Attributes:
        title: of the pair.
        target: name of the target's device.
        table: its N operators.
        timeline: the same over time.
        roofline: the same under the roofs of the target; None where its rates are not known.
        other_roofs: roofs of other targets, by the names of their devices.
        interval: ends of the 80 % interval over the latency; None without one.
    """

    title: str
    target: str
    table: OperatorTable
    timeline: Timeline
    roofline: Roofline | None
    other_roofs: tuple[tuple[str, tuple[Roof, ...]], ...] = ()
    interval: tuple[float, float] | None = None


def explain_pair(
    model: Model,
    target: Target,
    other_targets: Sequence[Target],
    prediction: Prediction,
    signatures: KnownTargets,
) -> Explained:
    """Explain one pair.

    Args:
        model: the model.
        target: the target.
        other_targets: further targets, whose roofs are compared.
        prediction: of the pair.
        signatures: the user's measurements on targets.

    Raises:
        InputError: the target has no number for the model.
    """
    table = explain(model, target, measured=signatures).scaled(prediction.scale)
    name, *other_names = target_names([target, *other_targets])
    roofline = None
    # The engine may know more than the facts state: what was measured.
    with suppress(InputError):
        roofline = roofline_of(model, target, table)
    return Explained(
        title=pair_title(prediction.model, target),
        target=name,
        table=table,
        timeline=timeline_of(table),
        roofline=roofline,
        other_roofs=tuple(islice(_other_roofs(model, other_targets, other_names), _MAX_ROOFS)),
        interval=_interval(prediction),
    )


def costs_of(
    model: Model,
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    signatures: KnownTargets,
    cancel: CancelToken,
) -> Costs:
    """Return the time of each operator on every target.

    Args:
        model: the model.
        targets: the targets.
        predictions: of the model on each of them.
        signatures: the user's measurements on targets.
        cancel: asked before each target.

    Raises:
        CancelledError: a stop was asked for.
    """
    able = [
        place for place, prediction in enumerate(predictions) if prediction.latency_ms is not None
    ]
    explained_places = able[: max(1, _MAX_COSTS // max(len(model.graph.names), 1))]
    names = target_names(targets)
    costs = []
    for place in explained_places:
        cancel.check()
        # A target of which only measurements are known has no parts.
        with suppress(InputError):
            table = explain(model, targets[place], measured=signatures)
            latency_ms = (table.latency_ms * predictions[place].scale).astype(np.float32)
            costs.append((names[place], latency_ms, _interval(predictions[place]) or _NO_INTERVAL))
    count = len(model.graph.names)
    return Costs(
        tuple(name for name, _, _ in costs),
        np.array([prediction for _, prediction, _ in costs], dtype=np.float32).reshape(-1, count),
        np.array([ends for _, _, ends in costs], dtype=np.float64).reshape(-1, 2),
        len(able) - len(explained_places),
    )


def _other_roofs(
    model: Model, targets: Sequence[Target], names: Sequence[str]
) -> Iterator[tuple[str, tuple[Roof, ...]]]:
    for target, name in zip(targets, names, strict=True):
        # The link to the host alone is no memory to compare with.
        if target.device.metric("dram_bw_gbps") is not None:
            # A target that cannot run the configuration has no roofs for it.
            with suppress(InputError):
                yield name, roofs_of(model, target)


def _interval(prediction: Prediction) -> tuple[float, float] | None:
    latency, low, high = prediction.latency_ms, prediction.low80_ms, prediction.high80_ms
    return None if not latency or low is None or high is None else (low / latency, high / latency)
