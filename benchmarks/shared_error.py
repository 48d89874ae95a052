"""How much of an estimate's error is the target's, and not the model's.

``python -m benchmarks.shared_error --data DIR --output docs/results`` compares the measurements of
the data folder with the estimate of the roofline engine. For each source with three or more targets
of five models each it splits the variance of ln(measured / estimated) into that between targets and
that within them, by an analysis of variance of one factor. The part between targets is what two
models on one target have in common: the correlation of their errors. Nothing of the data is kept.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import Figure, add_arguments, report
from ctm_research.evaluation.bound.comparison import compare
from ctm_research.sources import SOURCES
from predictor.cost.roofline import RooflineEngine
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import ROOFLINE

_LEAST_MODELS, _LEAST_TARGETS = 5, 3


def main() -> int:
    """Work out the share of every source, print it and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, repeats=1)
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder a source")
    options = parser.parse_args()
    figures = []
    for name, source in SOURCES.items():
        if not (options.data / name).is_dir():
            continue
        samples = source.samples(options.data)
        errors = _errors_by_target(compare(samples, load_catalogue().by_id, _ENGINE))
        if len(errors) >= _LEAST_TARGETS:
            figures += _figures(name, errors)
    title = "Error that models on one target share"
    return report("shared_error", title, figures, options.output, engine=ROOFLINE)


_ENGINE = RooflineEngine()


def _errors_by_target(rows: Sequence[object]) -> dict[str, np.ndarray]:
    """Return ln(measured / estimated) of the targets with enough models."""
    errors: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        ratio = row.measured_over_estimate
        if np.isfinite(ratio) and ratio > 0:
            errors[row.target_name].append(float(np.log(ratio)))
    return {key: np.array(own) for key, own in errors.items() if len(own) >= _LEAST_MODELS}


def _figures(name: str, errors: Mapping[str, np.ndarray]) -> list[Figure]:
    counts = np.array([own.size for own in errors.values()])
    squares = sum(float(((own - own.mean()) ** 2).sum()) for own in errors.values())
    within = squares / float((counts - 1).sum())
    means = np.array([own.mean() for own in errors.values()])
    between = max(float(means.var(ddof=1)) - within * float((1 / counts).mean()), 0.0)
    where = f"{name}, {len(errors)} targets, {counts.sum()} measurements"
    return [
        Figure(f"{where}: part of the variance between targets", between / (between + within), ""),
        Figure(f"{where}: standard deviation between targets", between**0.5, ""),
        Figure(f"{where}: standard deviation within a target", within**0.5, ""),
    ]


if __name__ == "__main__":
    sys.exit(main())
