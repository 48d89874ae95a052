"""The report of a request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime

from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.text import plural
from predictor.presentation.report import Report, Section, SectionId
from predictor.presentation.wording import number, shown
from predictor.services.loads.answers import Answer
from predictor.services.report import operators, pictures
from predictor.services.report.comparison import comparison_section
from predictor.services.report.devices import devices_section
from predictor.services.report.language import generation_titles, language_section
from predictor.services.report.loads import load_section, load_titles
from predictor.services.report.methods import methods_section
from predictor.services.report.models import models_section
from predictor.services.report.probing import probing_section
from predictor.services.report.request import ReportRequest
from predictor.services.report.settings import settings_section
from predictor.services.report.summary import summary_section
from predictor.services.report.versions import PROGRAM, versions_section
from predictor.services.report.why import why_section
from predictor.services.report.words import brief
from predictor.services.serving.records import LanguageRun

ALL_SECTIONS = tuple(SectionId)

_PLAIN: dict[SectionId, Callable[[ReportRequest], Section]] = {
    SectionId.COMPARISON: comparison_section,
    SectionId.MATRIX: pictures.matrix_section,
    SectionId.LANGUAGE: lambda request: language_section(request.language),
    SectionId.LOAD: lambda request: load_section(request.loads),
    SectionId.MODELS: models_section,
    SectionId.DEVICES: devices_section,
    SectionId.PROBING: probing_section,
    SectionId.SETTINGS: settings_section,
    SectionId.METHODS: methods_section,
    SectionId.VERSIONS: versions_section,
}
_EXPLAINED: dict[SectionId, Callable[[ReportRequest, Sequence[operators.Explained]], Section]] = {
    SectionId.SUMMARY: summary_section,
    SectionId.WHY: why_section,
    SectionId.OPERATORS: operators.operators_section,
    SectionId.ATTENTION: operators.attention_section,
    SectionId.ROOFLINE: pictures.rooflines_section,
    SectionId.TIMELINE: pictures.timelines_section,
    SectionId.GRAPH: pictures.graphs_section,
}
# Sections of all pairs; the others explain the models on their fastest targets.
_PAIR_SECTIONS = frozenset({SectionId.OPERATORS, SectionId.ATTENTION})


def build_report(
    request: ReportRequest,
    sections: Collection[SectionId] = ALL_SECTIONS,
    cancel: CancelToken | None = None,
    report: ProgressCallback = no_progress,
) -> Report:
    """Make a report; an empty section is left out.

    Args:
        request: models, targets and predictions.
        sections: those that are wanted.
        cancel: asks to stop.
        report: called for each pair that is explained.

    Raises:
        InputError: a pair that has a number cannot be explained.
        CancelledError: it was cancelled.
    """
    token = cancel or CancelToken()
    explained: Sequence[operators.Explained] = ()
    # Explaining takes most of the time: only the pairs that a section needs.
    if _PAIR_SECTIONS & set(sections):
        explained = operators.explained_pairs(request, token, report)
    elif _EXPLAINED.keys() & set(sections):
        explained = operators.explained_pairs(request, token, report, fastest_only=True)
    made = tuple(_sections(request, sections, explained, token))
    report(Progress(1, 1, "Writing"))
    title = shown(request.title.strip()) or _title(request)
    created = request.created.isoformat(timespec="seconds")
    return Report(title, _subtitle(request), created, PROGRAM, made)


def report_alone(
    runs: Sequence[LanguageRun], loads: Sequence[Answer], created: datetime, title: str = ""
) -> Report:
    """Return the report of language models and loads where no other model is predicted.

    Args:
        runs: of language models.
        loads: answers on loads; one of both there is.
        created: now, with its zone.
        title: the user's own, empty for one made of its subjects.
    """
    usual, subtitle = generation_titles(runs) if runs else load_titles(loads)
    sections = (language_section(runs), load_section(loads))
    date = created.isoformat(timespec="seconds")
    made = tuple(section for section in sections if section.blocks)
    return Report(shown(title.strip()) or usual, subtitle, date, PROGRAM, made)


def _sections(
    request: ReportRequest,
    wanted: Collection[SectionId],
    explained: Sequence[operators.Explained],
    token: CancelToken,
) -> Iterator[Section]:
    for identity in ALL_SECTIONS:
        token.check()
        if identity not in wanted:
            continue
        if identity in _EXPLAINED:
            section = _EXPLAINED[identity](request, explained)
        else:
            section = _PLAIN[identity](request)
        if section.blocks:
            yield section


def _title(request: ReportRequest) -> str:
    if len(request.models) == 1:
        return f"Latency of {brief(request.models[0].label)}"
    return f"Latency of {len(request.models)} models"


def _subtitle(request: ReportRequest) -> str:
    if len(request.targets) == 1:
        targets = brief(request.targets[0].device.name)
    else:
        targets = plural(len(request.targets), "target")
    budget = "" if request.budget_ms is None else f", budget {number(request.budget_ms)} ms"
    return f"Predicted on {targets}{budget}"
