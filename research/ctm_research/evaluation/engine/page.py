"""The figures of a validation as a part of a page."""

from __future__ import annotations

from ctm_research.evaluation.engine.validation import Figures, Validation
from predictor.presentation.markdown import cell, table

_TITLES = {
    "unseen_device": "Device unseen",
    "unseen_network": "Family of networks unseen, device known",
    "unseen_both": "Device and family of networks unseen",
}
_HEADER = (
    "source",
    "k",
    "targets",
    "rows",
    "median error %",
    "95 % interval",
    "mean %",
    "within 10 %",
    "80 % covers",
    "95 % interval",
    "95 % covers",
    "median width of 80 %",
    "interval score of 80 %",
    "noise floor %",
)


def page_part(validation: Validation) -> str:
    """Return a section a part, with a line a source and k."""
    figures = validation.figures
    parts = list(dict.fromkeys(figure.part for figure in figures))
    sections = [
        f"### {_TITLES.get(part, part)}\n\n{_table([f for f in figures if f.part == part])}"
        for part in parts
    ]
    return "\n\n".join([_words(validation), *sections])


def _words(validation: Validation) -> str:
    return (
        "Error is |predicted - measured| / measured in percent, width and interval score are in "
        "percent of the prediction and of the measured latency. k latencies of a target are read "
        f"and its other rows predicted, in {validation.seeds} draws where k is above 0. Intervals "
        "of figures are over 1000 draws of whole targets. The noise floor is the median difference "
        "of two measurements of the same thing in the source."
    )


def _table(figures: list[Figures]) -> str:
    order = sorted(figures, key=lambda f: (f.source == "all", f.source, f.k))
    return table(_HEADER, [_row(figure) for figure in order])


def _row(figure: Figures) -> list[object]:
    scores, lacking = figure.scores, figure.scores.without_number
    return [
        figure.source,
        figure.k,
        figure.targets,
        f"{figure.rows}" + (f", {lacking} answers without a number" if lacking else ""),
        scores.median_ape_percent,
        _ends(figure, "median_ape_percent"),
        scores.mape_percent,
        scores.acc10_percent,
        scores.coverage80_percent,
        _ends(figure, "coverage80_percent"),
        scores.coverage95_percent,
        scores.width80_percent,
        scores.score80_percent,
        figure.noise_floor_percent,
    ]


def _ends(figure: Figures, name: str) -> str | None:
    ends = figure.spread.get(name)
    return None if ends is None else f"{cell(ends[0])} to {cell(ends[1])}"
