"""What the learned parts of the estimate are worth: ``ctm evaluate learned``.

The estimate is asked whole and without each of its learned parts, on silicon that is left out, with
nothing and with a few networks of the target measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctm_research.corpus import open_corpus
from ctm_research.evaluation.judge.asked import KS, Answers, by_target, few_measured
from ctm_research.evaluation.judge.estimate import WHOLE, EstimateEngine, Learned
from ctm_research.evaluation.judge.figures import OfSilicon, figure, of_silicon
from ctm_research.evaluation.judge.folds import Fold, silicon_folds
from ctm_research.evaluation.judge.judged import Judged, judged_of
from ctm_research.evaluation.judge.kept_answers import Answered, KeptAnswers
from ctm_research.evaluation.judge.widths import width_rank
from ctm_research.goals import LEAST_SILICON
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.presentation.markdown import table
from predictor.services.measurements.track_record import UNSEEN

FORMS: Final[Mapping[str, frozenset[Learned]]] = {
    "whole": WHOLE,
    **{f"without {part.value}": WHOLE - {part} for part in Learned},
    "nothing learned": frozenset(),
}
_SETTINGS: Final = (UNSEEN, *(f"k={k}" for k in KS))
_TITLES: Final = {UNSEEN: "Nothing measured", **{f"k={k}": f"{k} networks measured" for k in KS}}


def judge_learned(
    data: Path,
    devices: Mapping[str, Device],
    *,
    seed: int,
    draws: int,
    kept: Path | None = None,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> dict[str, Any]:
    """Return the errors of the estimate without each of its learned parts, by class.

    Args:
        data: folder with one folder a source.
        devices: the catalogue by id.
        seed: of the folds and draws.
        draws: of measured networks.
        kept: folder of the folds that an earlier run finished; None to keep none.
        progress: told at each fold.
        cancel: asks to stop.

    Raises:
        InputError: the folder holds no source, or a file in it is damaged.
        HostError: the cache of the corpus or a fold cannot be written.
        CancelledError: a stop was asked for.
    """
    judged = judged_of(open_corpus(data, progress=progress, cancel=cancel), devices)
    whole = EstimateEngine(judged)
    engines = [whole.variant(name, learned) for name, learned in FORMS.items()]
    memory = None if kept is None else KeptAnswers(kept, judged, seed)
    folds = silicon_folds(judged, seed)
    answered: list[Answered] = []
    for number, fold in enumerate(folds):
        if cancel is not None:
            cancel.check()
        progress(Progress(number, len(folds), "the estimate without each learned part"))
        answer = partial(_answers, engines, judged, fold, seed, draws)
        answered += answer() if memory is None else memory.of(number, answer)
    tables = {
        setting: {name: of_silicon(judged, _joined(answered, setting, name)) for name in FORMS}
        for setting in _SETTINGS
    }
    rank = width_rank(judged, _joined(answered, UNSEEN, "whole"), seed)
    return {**document(judged, tables), "widths": None if rank is None else asdict(rank)}


def _answers(
    engines: Sequence[EstimateEngine], judged: Judged, fold: Fold, seed: int, draws: int
) -> list[Answered]:
    """Return what each form says in a fold; their operators are trained once."""
    answers: list[Answered] = []
    for engine in engines:
        fitted = engine.fit(judged, fold.train)
        answers.append(
            Answered(f"{UNSEEN}, {engine.name}", fold.rows, fitted.predict(fold.rows, {}))
        )
        for k in KS:
            for read, other in few_measured(judged, fold, k, draws, seed):
                predicted = fitted.predict(other, by_target(judged, read))
                answers.append(Answered(f"k={k}, {engine.name}", other, predicted))
    return answers


def _joined(answered: Sequence[Answered], setting: str, form: str) -> Answers:
    parts = [each for each in answered if each.setting == f"{setting}, {form}"]
    return Answers.joined([each.rows for each in parts], [each.predicted for each in parts])


def document(judged: Judged, tables: Mapping[str, Mapping[str, OfSilicon]]) -> dict[str, Any]:
    """Return the errors in percent by setting, class and form, with their medians and means.

    Args:
        judged: the corpus.
        tables: figures by setting and form.
    """
    settings: dict[str, dict[str, Any]] = {}
    for setting, of_forms in tables.items():
        figures = {
            number: {name: figure(each, number) for name, each in of_forms.items()}
            for number in range(len(judged.classes))
        }
        entries: list[dict[str, Any]] = [
            {
                "class": str(judged.classes[number]),
                "silicon": of_number["whole"].silicon,
                "error_percent": {name: each.error_percent for name, each in of_number.items()},
            }
            for number, of_number in figures.items()
            if of_number["whole"].silicon >= LEAST_SILICON
        ]
        medians = {
            name: float(np.median([each["error_percent"][name] for each in entries]))
            for name in of_forms
            if entries
        }
        means = {
            name: float(np.exp(np.mean([np.log(each["error_percent"][name]) for each in entries])))
            for name in medians
        }
        settings[setting] = {
            "classes": entries,
            "median_percent": medians,
            "mean_percent": means,
        }
    return {"evaluation": "learned", "settings": settings}


def page(figures: Mapping[str, Any], origin: str) -> str:
    """Return the page of :func:`judge_learned`."""
    return "\n".join(_lines(figures, origin)) + "\n"


def _lines(figures: Mapping[str, Any], origin: str) -> Iterator[str]:
    yield "# What the learned parts are worth"
    yield ""
    yield "The estimate whole, without each of its learned parts, and with none of them: physics,"
    yield "efficiencies by kind of operator, levels, and what measurements tell of level and shape."
    yield "Median error in % over the silicon of a class, left out in ten folds; classes of"
    yield f"at least {LEAST_SILICON} kinds of silicon, and median and mean of them."
    yield ""
    yield origin
    for setting, of_setting in figures["settings"].items():
        yield ""
        yield f"## {_TITLES[setting]}"
        yield ""
        rows = [
            [each["class"], each["silicon"], *(_words(each["error_percent"][n]) for n in FORMS)]
            for each in of_setting["classes"]
        ]
        for title, key in (("median", "median_percent"), ("geometric mean", "mean_percent")):
            rows.append([title, "", *(_words(of_setting[key].get(name)) for name in FORMS)])
        yield table(["class", "silicon", *FORMS], rows)
    yield from _widths(figures["widths"])


def _widths(rank: Mapping[str, Any] | None) -> Iterator[str]:
    if rank is None:
        return
    yield ""
    yield "## Widths of intervals"
    yield ""
    yield "Nothing measured: the ranks of width and error of the level within classes, pooled over"
    yield f"{rank['silicon']} pairs of silicon and class in {rank['classes']} classes, have a"
    yield f"correlation of {rank['correlation']:.2f} (5 % quantile over draws of silicon"
    yield f"{rank['low']:.2f})."


def _words(percent: float | None) -> str:
    return "-" if percent is None else f"{percent:.1f}"
