"""Models against one of them: ``compare``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from predictor.api.predictions import Store, Targets, context_of
from predictor.api.tables import Table
from predictor.api.targets import Requested
from predictor.core.errors import InputError
from predictor.services.models.names import unique_names
from predictor.services.prediction.variants import Variants, compare_variants

_DIFFERENCES: Final = (
    "difference_ms",
    "low80_ms",
    "high80_ms",
    "ratio",
    "low80_ratio",
    "high80_ratio",
)


class Comparison(Table):
    """Models against one of them, a row a model and target.

    Attributes:
        variants: the predictions with their differences from the baseline's.
        baseline: label of the model that the others are compared with.
    """

    def __init__(self, variants: Variants) -> None:
        self.variants, self.baseline = variants, variants.labels[variants.baseline]
        super().__init__([*_difference_rows(variants)])


def _difference_rows(variants: Variants) -> Iterator[dict[str, object]]:
    count, differences = len(variants.targets), variants.differences
    columns = {name: getattr(differences, name).tolist() for name in _DIFFERENCES}
    for place, prediction in enumerate(variants.predictions):
        base = variants.prediction(variants.baseline, place % count)
        numbers = {name: values[place] for name, values in columns.items()}
        yield {
            "model": variants.labels[place // count],
            "device": prediction.device_id,
            "runtime": prediction.configuration.runtime,
            "precision": prediction.configuration.precision.value,
            "latency_ms": prediction.latency_ms,
            "baseline_ms": base.latency_ms,
            **{name: None if math.isnan(value) else value for name, value in numbers.items()},
            "problem": prediction.problem or None,
        }


def compare(
    models: Any,
    targets: Targets = None,
    *,
    baseline: int = 0,
    runtime: str | None = None,
    precision: str | None = None,
    threads: int | None = None,
    engine: str = "",
    store: Store = None,
) -> Comparison:
    """Compare models with one of them on targets, as ``ctm compare`` does.

    Args:
        models: two or more, as ``predict`` takes them.
        targets: devices or targets, alone or in a list.
        baseline: place of the model that the others are compared with.
        runtime: in place of the usual one of the devices.
        precision: the same.
        threads: the same; 0 for all cores.
        engine: ``closertome`` or ``roofline``; empty for the usual one.
        store: of what you measured before.

    Raises:
        InputError: a model, a target or another argument is wrong.
        HostError: the reader of model files cannot be started.
    """
    requested = Requested(runtime, precision, threads)
    with context_of(models, targets, requested, engine, (), store) as (context, _):
        if not 0 <= baseline < len(context.models) or len(context.models) < 2:
            reason = f"{len(context.models)} models with the baseline at {baseline}"
            raise InputError("ctm.compare", reason, "give two or more, and the place of one")
        predictions = context.predicted()
    names = unique_names(context.models)
    return Comparison(compare_variants(names, context.targets, predictions, baseline))
