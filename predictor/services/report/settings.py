"""Requested settings, and assumptions of the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from predictor.core.records import Configuration, Target
from predictor.core.runtimes import UNKNOWN
from predictor.presentation.report import Block, Bullets, Cell, Facts, Section, SectionId, Tone
from predictor.presentation.wording import NOTHING, number, shown, threads_text
from predictor.services.devices.inferred import inferred_sentences
from predictor.services.prediction.assumptions import assumptions_by_prediction
from predictor.services.prediction.targets import resolve_targets
from predictor.services.report.request import ReportRequest
from predictor.services.report.words import Field, by_sentence, figures, integer, table_of, words

_COLUMNS: tuple[Field[tuple[Target, Configuration, Configuration]], ...] = (
    words("target", "Target", lambda row: shown(row[0].device.name)),
    words(
        "runtime", "Runtime", lambda row: NOTHING if row[1].runtime == UNKNOWN else row[1].runtime
    ),
    words("precision", "Precision", lambda row: row[1].precision.value),
    figures("threads", "Threads", lambda row: _threads_cell(row[1].threads)),
    words("batch", "Batch", lambda row: _batch(row[0])),
    words("usual", "Default there", lambda row: _usual(*row[1:])),
)


def settings_section(request: ReportRequest) -> Section:
    """Return the what-ifs, the configuration of each target, and assumptions."""
    blocks: list[Block] = [
        Facts(tuple(_requested(request))),
        table_of(_COLUMNS, _targets(request), "Execution configurations"),
    ]
    inferred = inferred_sentences(target.device for target in request.targets)
    sentences = dict.fromkeys((*assumed(request), *inferred))
    if sentences:
        blocks.append(Bullets(tuple(Cell(sentence, tone=Tone.WARN) for sentence in sentences)))
    return Section(SectionId.SETTINGS, "Settings and what-ifs", tuple(blocks))


def _requested(request: ReportRequest) -> Iterator[tuple[str, Cell]]:
    requested, budget_ms = request.requested, request.budget_ms
    yield "Budget", Cell("none" if budget_ms is None else f"{number(budget_ms)} ms", budget_ms)
    yield "Runtime", Cell(requested.runtime or "the usual one of each device")
    precision = (
        "the usual one of each device" if requested.precision is None else requested.precision.value
    )
    yield "Precision", Cell(precision)
    threads = (
        "the usual count of each device"
        if requested.threads is None
        else _threads(requested.threads)
    )
    yield "Threads", Cell(threads)
    if requested.batch is not None:
        yield "Batch", integer(requested.batch)
    else:
        yield "Batch", Cell("model default")


def _threads(threads: int) -> str:
    return "all cores" if threads == 0 else str(threads)


def _targets(request: ReportRequest) -> Iterator[tuple[Target, Configuration, Configuration]]:
    """Yield each target, its configuration as predicted, and the usual one of its device."""
    usual = resolve_targets([target.device for target in request.targets])
    # The first model is enough, as a target is the same for all: zip ends with the targets.
    for target, common, made in zip(request.targets, usual, request.predictions, strict=False):
        yield target, made.configuration, common.configuration


def _runtime(made: Configuration) -> str:
    return NOTHING if made.runtime == UNKNOWN else made.runtime


def _threads_cell(threads: int) -> Cell:
    return Cell(threads_text(threads), float(threads))


def _batch(target: Target) -> str:
    """Write the batch of a target's configuration."""
    batch = target.configuration.batch
    return str(batch) if batch else "model default"


def _usual(made: Configuration, usual: Configuration) -> str:
    is_usual = (made.runtime, made.precision) == (usual.runtime, usual.precision)
    return "yes" if is_usual else f"{usual.runtime}, {usual.precision.value}"


def assumed(request: ReportRequest) -> Iterator[str]:
    """Return what the numbers take for granted, such as that INT8 means a quantised model."""
    sentences = []
    for model in request.models:
        predictions = [pair.prediction for pair in request.pairs_of(model)]
        of_model = chain.from_iterable(assumptions_by_prediction(model.model, predictions))
        sentences.append((shown(model.label), tuple(of_model)))
    return by_sentence(sentences)
