"""``ctm compare``: several models against one of them, on every target."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing

from predictor.cli.compare.document import comparison_document
from predictor.cli.compare.text import comparison_text
from predictor.cli.console import Console
from predictor.cli.predicting import PredictionStore, choose_targets, read_models
from predictor.core.errors import InputError
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.devices.user_devices import user_devices_of
from predictor.services.models.inspection import Model
from predictor.services.prediction.fastest import fastest_within
from predictor.services.prediction.predict import predict
from predictor.services.prediction.variants import Variants, compare_variants
from predictor.services.report.request import labelled

_BUDGET_MISSED = 1


def run(options: argparse.Namespace, console: Console, readings: Sequence[Future[Model]]) -> int:
    """Predict every model on every target, print how they differ, store the predictions."""
    targets = choose_targets(options, load_catalogue(user_devices_of(options.store)))
    with closing(PredictionStore(options.store)) as store:
        models, code = read_models(readings, console)
        if len(models) < 2:
            return code or _too_few(models)
        known = store.signatures(targets)
        predictions = predict(models, targets, options.engine, store.measured(models), known)
        labels = [each.label for each in labelled(models)]
        baseline = _baseline(options.baseline, models, labels)
        variants = compare_variants(labels, targets, predictions, baseline)
        if options.json:
            console.document(comparison_document(options, models, variants, known))
        else:
            console.result(comparison_text(options, models, variants, known))
        store.record(models, predictions)
        stored = store.exit_code(console, "the predictions were not stored")
        return stored or code or _budget_code(variants, options.budget_ms)


def _too_few(models: Sequence[Model]) -> int:
    raise InputError(
        models[0].path if models else "ctm compare",
        "one model has nothing to be compared with",
        "name two or more",
    )


def _baseline(asked: str | None, models: Sequence[Model], labels: Sequence[str]) -> int:
    """Return the index of the baseline; the first model where none is asked for.

    Raises:
        InputError: no model or several have this name.
    """
    if asked is None:
        return 0
    exact = [i for i, label in enumerate(labels) if label == asked]
    found = exact or [i for i, model in enumerate(models) if model.path.endswith(asked)]
    if len(found) != 1:
        which = "none" if not found else "several"
        raise InputError(
            asked, f"{which} of the models has this name", f"name one of {', '.join(labels)}"
        )
    return found[0]


def _budget_code(variants: Variants, budget_ms: float | None) -> int:
    """Return 1 where on a target that has numbers no model meets the budget."""
    if budget_ms is None:
        return 0
    columns = [variants.on_target(target) for target in range(len(variants.targets))]
    known = [row for row in columns if any(p.latency_ms is not None for p in row)]
    if not known:
        raise InputError(
            "--budget-ms",
            f"no target has a number to hold against it ({columns[0][0].problem})",
            "choose another device or configuration",
        )
    missed = any(fastest_within(row, budget_ms) is None for row in known)
    return _BUDGET_MISSED if missed else 0
