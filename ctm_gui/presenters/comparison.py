"""What the Compare view shows: rows, groups, order, filter, verdicts and the sentence above.

Everything here is free of widgets; latencies are milliseconds unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from predictor.core.records import Prediction


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One prediction with the words that the prediction itself does not carry.

    Attributes:
        prediction: latency of one model on one target, or why there is none.
        device_name: the device's name for people.
        vendor: maker of the device.
        family: kind of compute unit, as in ``Family``.
        model_label: the model's name in the window, unique among the loaded models.
    """

    prediction: Prediction
    device_name: str
    vendor: str
    family: str
    model_label: str
