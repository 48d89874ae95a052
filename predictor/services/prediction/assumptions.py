"""Assumptions of a prediction about a model that its file does not state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

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

_INTEGERS = (
    "{share} of the multiplications in the file are of integers; these run in INT8, and what is in "
    "floating point in {requested}."
)
_NO_INT8 = (
    "{share} of the multiplications in the file are of integers, but this runtime or device has no "
    "INT8; they are predicted in {requested}."
)
_CASTS = (
    "The processor multiplies no halves; the runtime computes in FP32 and casts inputs and outputs."
)


def assumptions(model: Model, prediction: Prediction) -> tuple[str, ...]:
    """Return the assumptions of one prediction, in whole sentences."""
    return assumptions_by_prediction(model, [prediction])[0]


def is_quantised(model: Model) -> bool:
    """Whether a model can run in INT8 as it is."""
    return not _notes(quantised_share(model))


def needs_quantising(model: Model, prediction: Prediction) -> bool:
    """Whether a prediction is of an INT8 model that the user still has to make."""
    return _is_predicted(prediction) and _in_int8(prediction) and not is_quantised(model)


def assumptions_by_prediction(
    model: Model, predictions: Sequence[Prediction]
) -> list[tuple[str, ...]]:
    """Return the assumptions of each prediction of a model."""
    of_model = cache(lambda: quantised_share(model))
    return [
        _of_prediction(prediction, of_model) if _is_predicted(prediction) else ()
        for prediction in predictions
    ]


def _of_prediction(
    prediction: Prediction, share_of_model: Callable[[], float | None]
) -> tuple[str, ...]:
    if _in_int8(prediction):
        return _notes(share_of_model())
    run, requested = prediction.run_precision, prediction.configuration.precision.words
    if run is None:
        return ()
    if run is not Precision.INT8 and run is not prediction.configuration.precision:
        return (_CASTS,)
    form = _INTEGERS if run is Precision.INT8 else _NO_INT8
    share = share_of_model() or 0.0
    products = "All" if share >= _QUANTISED_SHARE else percent(share)
    return (form.format(share=products, requested=requested),)


def _in_int8(prediction: Prediction) -> bool:
    return prediction.configuration.precision is Precision.INT8


def _is_predicted(prediction: Prediction) -> bool:
    return prediction.latency_ms is not None and prediction.basis is not Basis.MEASURED


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
