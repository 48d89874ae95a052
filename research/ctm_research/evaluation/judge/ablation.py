"""Parts of the physics, each left out or replaced in turn: ``ctm evaluate physics``.

Every form has its own efficiencies by kind of operator, trained and asked in inner folds: over the
silicon that the first outer fold trains on. So no choice here has seen what the judge reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from ctm_research.corpus import open_corpus
from ctm_research.corpus.single_operators import OPERATOR_FAMILY
from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.efficiencies import PRIOR_MEANS, KindEfficiencies
from ctm_research.evaluation.judge.engines import ClassEstimate, JudgedEngine
from ctm_research.evaluation.judge.figures import Figure, figure, of_silicon
from ctm_research.evaluation.judge.folds import Fold, inner_folds, silicon_folds
from ctm_research.evaluation.judge.groups import Floats
from ctm_research.evaluation.judge.judged import NO_CLASS, Judged, judged_of
from ctm_research.evaluation.judge.term_times import (
    Asked,
    Change,
    completed,
    sums_by_kind,
)
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device, Precision, Target
from predictor.core.runtimes import UNKNOWN
from predictor.cost.physics import TERMS, rates_of

_TILE: Final = 64  # outputs of a block along each side, as in most kernels of cuBLAS and cuDNN
_LEAST_SILICON: Final = 4  # a class of fewer says little in five folds
_LEAST_ROWS: Final = 20  # to be listed
_TF32_UNASKED: Final = frozenset({"tensorrt", "paddle-tensorrt", "onnxruntime-tensorrt"})


@dataclass(frozen=True, slots=True)
class Form:
    """A form of the physics.

    Attributes:
        name: on the page.
        means: what its terms are worth before any measurement.
        targets: changes the targets before their rates are taken.
        change: changes the times of operators, given all targets.
    """

    name: str
    means: Sequence[float] = PRIOR_MEANS
    targets: Callable[[Target], Target] = lambda target: target
    change: Callable[[Sequence[Target]], Change] | None = None


def _any_kernels(target: Target) -> Target:
    """Return the target under a runtime whose kernels are taken to fit every processor."""
    return replace(target, configuration=replace(target.configuration, runtime=UNKNOWN))


def _without(term: str) -> Form:
    """Return the form without one term."""
    kept = [place for place, name in enumerate(TERMS) if name != term]
    return Form(
        f"without {term}",
        [PRIOR_MEANS[place] for place in kept],
        change=lambda _: lambda times, _: times[..., kept],
    )


def _tf32(targets: Sequence[Target]) -> Change:
    """Count FP32 products at the rate of TF32 where the runtime uses it unasked."""
    gain = np.ones(len(targets))
    for place, target in enumerate(targets):
        tf32, fp32 = (target.device.metric(name) for name in ("tf32_tflops", "fp32_tflops"))
        if target.configuration.precision is Precision.FP32 and tf32 and fp32:
            gain[place] = tf32 / fp32 if target.configuration.runtime in _TF32_UNASKED else 1.0

    def change(times: Floats, asked: Asked) -> Floats:
        return _changed(times, "arithmetic", 1 / gain[asked.targets])

    return change


def _waves(*, whole: bool) -> Change:
    """Count the SMs that have no block, in place of the term of one block."""

    def change(times: Floats, asked: Asked) -> Floats:
        groups, rows, columns, _ = asked.products.T
        blocks = (groups * np.ceil(rows / _TILE) * np.ceil(columns / _TILE))[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = blocks / np.maximum(asked.rates.matrix / asked.rates.unit, 1.0)
            waves = (np.ceil(share) if whole else np.maximum(share, 1.0)) / share
        factor = np.where((blocks > 0) & np.isfinite(waves), waves, 1.0)
        changed = _changed(times, "arithmetic", factor)
        return np.delete(changed, TERMS.index("block"), axis=-1)

    return change


def _caches(targets: Sequence[Target], *, weights: bool, activations: bool) -> Change:
    """Let x / (x + cache) of x bytes leave the chip: of an operator's tensors, of all weights."""
    names = ("l2_kb", "llc_kb", "onchip_sram_kb")
    cache = np.array([1024 * sum(t.device.metric(n) or 0.0 for n in names) for t in targets])

    def change(times: Floats, asked: Asked) -> Floats:
        rates, held = asked.rates, cache[asked.targets]
        read = asked.work.weight_bytes @ rates.weight_ratio.T
        moved = asked.work.activation_bytes @ rates.activation_ratio.T
        needed = np.maximum(read + moved, 1.0)
        all_weights = max(asked.weight_bytes, 1.0)
        leaving = read * (all_weights / (all_weights + held) if weights else 1.0)
        leaving += moved * (needed / (needed + held) if activations else 1.0)
        return _changed(times, "memory", leaving / needed)

    return change


def _traffic(targets: Sequence[Target]) -> Change:
    """Add a term: all bytes over the rate at which the cores load, 4 bytes for each FP32 lane."""
    single = [
        replace(t, configuration=replace(t.configuration, precision=Precision.FP32))
        for t in targets
    ]
    rate = 4 * completed(single, rates_of(single)).vector

    def change(times: Floats, asked: Asked) -> Floats:
        bytes_a_ms = asked.rates.bandwidth / rate[asked.targets]
        more = times[..., TERMS.index("memory")] * bytes_a_ms
        return np.concatenate([times, more[..., None]], axis=-1)

    return change


def _measured_launches(targets: Sequence[Target]) -> Change:
    """Take the launch that was measured on a device where one is stated."""
    launches = [target.device.measured.get("launch_us") for target in targets]
    stated_s = np.array([np.nan if rate is None else rate.value * 1e-6 for rate in launches])

    def change(times: Floats, asked: Asked) -> Floats:
        factor = stated_s[asked.targets] / asked.rates.launch_s
        return _changed(times, "launch", np.where(np.isnan(factor), 1.0, factor))

    return change


def _changed(times: Floats, term: str, factor: Floats) -> Floats:
    """Return times with one term multiplied."""
    changed = times.copy()
    changed[..., TERMS.index(term)] *= factor
    return changed


_WITHOUT_BLOCK: Final = [mean for mean, t in zip(PRIOR_MEANS, TERMS, strict=True) if t != "block"]
FORMS: Final = (
    Form("as it is"),
    Form("any kernels fit any processor", targets=_any_kernels),
    *(_without(term) for term in ("block", "memory", "launch")),
    Form("max(1, blocks / SMs) waves", _WITHOUT_BLOCK, change=lambda _: _waves(whole=False)),
    Form("whole waves", _WITHOUT_BLOCK, change=lambda _: _waves(whole=True)),
    Form("with caches", change=partial(_caches, weights=True, activations=True)),
    Form("with caches of weights", change=partial(_caches, weights=True, activations=False)),
    Form("with traffic of the cores", (*PRIOR_MEANS, 0.5), change=_traffic),
    Form("with measured launches", change=_measured_launches),
    Form("TF32 where the runtime uses it unasked", change=_tf32),
)


def ablate(
    data: Path,
    devices: Mapping[str, Device],
    *,
    seed: int,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> dict[str, object]:
    """Return the figures of every form in inner folds, by class.

    Args:
        data: folder with one folder a source.
        devices: the catalogue by id.
        seed: of the folds.
        progress: told at each form.
        cancel: asks to stop.

    Raises:
        InputError: the folder holds no source, or a file in it is damaged.
        HostError: the cache of the corpus cannot be written.
        CancelledError: a stop was asked for.
    """
    judged = judged_of(open_corpus(data, progress=progress, cancel=cancel), devices)
    corpora = {"networks": judged, "single operators": _of_single_operators(judged)}
    folds = {
        name: list(inner_folds(each, silicon_folds(each, seed)[0].train, seed))
        for name, each in corpora.items()
    }
    figures = {
        name: {"class estimate": _figures(each, ClassEstimate(), folds[name])}
        for name, each in corpora.items()
    }
    for number, form in enumerate(FORMS):
        if cancel is not None:
            cancel.check()
        progress(Progress(number, len(FORMS), form.name))
        for name, each in corpora.items():
            engine = _engine(each, form)
            figures[name][form.name] = _figures(each, engine, folds[name])
    return _document(corpora, figures)


def _of_single_operators(judged: Judged) -> Judged:
    """Return the measurements of operators alone, each as a network of one operator."""
    families = judged.corpus.families
    number = families.index(OPERATOR_FAMILY) if OPERATOR_FAMILY in families else -1
    of_device = judged.klass[judged.target] != NO_CLASS
    return replace(judged, rows=np.flatnonzero((judged.family == number) & of_device))


def _engine(judged: Judged, form: Form) -> KindEfficiencies:
    targets = [form.targets(target) for target in judged.targets]
    rates = completed(targets, rates_of(targets))
    change = form.change and form.change(targets)
    times = sums_by_kind(judged, rates, judged.rows, change, len(form.means))
    return KindEfficiencies(times, judged.rows, form.name, form.means)


def _figures(judged: Judged, engine: JudgedEngine, folds: Sequence[Fold]) -> list[Figure]:
    rows, predicted = [], []
    for fold in folds:
        rows.append(fold.rows)
        predicted.append(engine.fit(judged, fold.train).predict(fold.rows, {}))
    table = of_silicon(judged, Answers.joined(rows, predicted))
    return [figure(table, number) for number in range(len(judged.classes))]


def _document(
    corpora: Mapping[str, Judged], figures: Mapping[str, Mapping[str, Sequence[Figure]]]
) -> dict[str, object]:
    classes = [
        {
            "class": str(judged.classes[number]) + (", " + name) * (name != "networks"),
            "silicon": each.silicon,
            "rows": each.rows,
            "is_counted": name == "networks" and each.silicon >= _LEAST_SILICON,
            "error_percent": {form: own[number].error_percent for form, own in of_forms.items()},
        }
        for name, judged in corpora.items()
        for of_forms in [figures[name]]
        for number, each in enumerate(of_forms["class estimate"])
        if each.silicon > 1 and each.rows >= _LEAST_ROWS
    ]
    return {
        "classes": sorted(classes, key=lambda row: (-bool(row["is_counted"]), str(row["class"]))),
        # Of relative errors: a class that is twice as good weighs as much as one twice as bad.
        "mean_percent": {
            form: _geometric_mean(
                [
                    each.error_percent or 0.0
                    for number, each in enumerate(own)
                    if each.silicon >= _LEAST_SILICON and each.rows >= _LEAST_ROWS
                ]
            )
            for form, own in figures["networks"].items()
        },
    }


def _geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(values, 0.1)))))


def ablation_page(figures: Mapping[str, object], origin: str) -> str:
    """Return the page of :func:`ablate`."""
    classes = figures["classes"]
    means = figures["mean_percent"]
    assert isinstance(classes, list)  # noqa: S101  # of a document that is made above
    assert isinstance(means, dict)  # noqa: S101
    names = list(means)
    lines = [
        "# Parts of the physics",
        "",
        "Median error in % over the silicon of a class, on silicon left out in five inner folds of",
        "the training silicon; efficiencies by kind of operator are fitted anew for each form.",
        f"The mean is geometric, of the classes with at least {_LEAST_SILICON} kinds of silicon.",
        "They come first.",
        "",
        origin,
        "",
        f"| class | silicon | rows | {' | '.join(names)} |",
        f"| --- | --: | --: |{' --: |' * len(names)}",
    ]
    for row in classes:
        errors = " | ".join(_percent(row["error_percent"][name]) for name in names)
        lines.append(f"| {row['class']} | {row['silicon']} | {row['rows']} | {errors} |")
    middle = " | ".join(_percent(means[name]) for name in names)
    lines.append(f"| mean | | | {middle} |")
    return "\n".join(lines) + "\n"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
