"""The methods that numbers come from, and their limits."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from predictor.core.records import Basis
from predictor.core.resources import resources_dir
from predictor.presentation import report
from predictor.services.report.request import ReportRequest


def methods_section(request: ReportRequest) -> report.Section:
    """Return the methods of the engines and bases that occur, and the limits."""
    blocks = tuple(_blocks(request))
    return report.Section(report.SectionId.METHODS, "Methods and limits", blocks)


def _blocks(request: ReportRequest) -> Iterator[report.Block]:
    text = (resources_dir() / "report" / "methods.toml").read_text(encoding="utf-8")
    methods = tomllib.loads(text)
    occurring = {name for name, occurs in _occurrences(request).items() if occurs}
    for name, part in methods["parts"].items():
        if name in occurring:
            if "heading" in part:
                yield report.Heading(part["heading"])
            yield report.Paragraph(_one_line(part["text"]))
    yield report.Heading("Limits")
    limits = methods["limits"]["of_all"]
    if "analytic" in occurring:
        limits += methods["limits"]["of_peaks"]
    yield report.Bullets(tuple(report.Cell(_one_line(limit)) for limit in limits))


def _occurrences(request: ReportRequest) -> dict[str, bool]:
    """Return, by part of the methods, whether a report has numbers that the part explains."""
    predictions = request.predictions
    bases = {prediction.basis for prediction in predictions}
    adaptations = {prediction.adaptation for prediction in predictions}
    engines = " ".join(prediction.engine for prediction in predictions)
    is_learned = "closertome" in engines
    return {
        "measured": Basis.MEASURED in bases,
        "learned": is_learned,
        "estimated": is_learned and Basis.ZERO_SHOT in bases,
        "scaled": is_learned and any(prediction.scaled_from for prediction in predictions),
        "by_operators": is_learned and "operators" in adaptations,
        "fine_tuned": is_learned and "film" in adaptations,
        "analytic": "roofline" in engines,
        "bound": True,
    }


def _one_line(text: str) -> str:
    return " ".join(text.split())
