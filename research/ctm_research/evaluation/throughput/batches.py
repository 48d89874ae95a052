"""Predicted batches against published ones: MLPerf's queries of 8, and stated batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ctm_research.evaluation.throughput.forms import gains_of, quantile, weights_of
from ctm_research.evaluation.throughput.pairs import Pair


def batch_figures(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Return by source and class how far the predicted gain of a batch is off.

    Args:
        pairs: of stated batches.
    """
    classes: dict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        if np.isfinite(pair.batch_gain):
            classes[pair.source, pair.runtime, pair.kind].append(pair)
    return [_figure(*key, members) for key, members in sorted(classes.items())]


def _figure(source: str, runtime: str, kind: str, pairs: Sequence[Pair]) -> dict[str, Any]:
    gains, weights = gains_of(pairs), weights_of(pairs)
    stated = np.log([pair.batch_gain for pair in pairs])
    return {
        "source": source,
        "runtime": runtime,
        "kind": kind,
        "pairs": len(pairs),
        "devices": len({pair.device for pair in pairs}),
        "gain": float(np.exp(quantile(gains, weights, 0.5))),
        "error": quantile(np.abs(np.exp(stated - gains) - 1), weights, 0.5),
        "none_error": quantile(np.abs(np.exp(-gains) - 1), weights, 0.5),
    }
