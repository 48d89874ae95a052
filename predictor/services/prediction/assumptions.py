"""Assumptions of a prediction about a model that its file does not state."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Precision
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorFlag
from predictor.presentation.wording import percent

# Where next to all multiplications are integer ones, the file is quantised.
_QUANTISED_SHARE = 0.95
_NO_SHARE = 0.005
_FLOAT_FILE = (
    "INT8 assumes that the whole model is quantised; its file is in floating point, so quantise it "
    "before you measure."
)
_PARTLY_QUANTISED = (
    "INT8 assumes that the whole model is quantised; in its file {share} of the "
    "multiplications are, and a runtime keeps the others in floating point."
)


def assumptions(model: Model, prediction: Prediction) -> tuple[str, ...]:
    """Return the assumptions of one prediction, in whole sentences."""
    return assumptions_by_prediction(model, [prediction])[0]


def is_quantised(model: Model) -> bool:
    """Whether a model can run in INT8 as it is."""
    return not _notes(quantised_share(model))


def needs_quantising(model: Model, prediction: Prediction) -> bool:
    """Whether a prediction is of an INT8 model that the user still has to make."""
    return bool(assumptions(model, prediction))


def assumptions_by_prediction(
    model: Model, predictions: Sequence[Prediction]
) -> list[tuple[str, ...]]:
    """Return the assumptions of each prediction of a model."""
    if not any(map(_assumes, predictions)):
        return [()] * len(predictions)
    notes = _notes(quantised_share(model))
    return [notes if _assumes(prediction) else () for prediction in predictions]


def _assumes(prediction: Prediction) -> bool:
    return (
        prediction.configuration.precision is Precision.INT8
        and prediction.latency_ms is not None
        and prediction.basis is not Basis.MEASURED
    )


def _notes(share: float | None) -> tuple[str, ...]:
    if share is None or share >= _QUANTISED_SHARE:
        return ()
    return (_FLOAT_FILE if share < _NO_SHARE else _PARTLY_QUANTISED.format(share=percent(share)),)


def quantised_share(model: Model) -> float | None:
    """Return the part of the multiplications that are integer ones; None without any."""
    graph = model.graph
    # By MACs, not by operators: a few convolutions do nearly all the work.
    total = int(graph.macs.sum())
    if not total:
        return None
    return float(graph.macs[graph.has_flag(OperatorFlag.QUANTISED)].sum()) / total
