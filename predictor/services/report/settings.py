"""What was asked for instead of what is usual, and what the numbers take for granted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from predictor.core.report import Block, Bullets, Cell, Facts, Row, Section, SectionId, Table, Tone
from predictor.core.wording import NOTHING, number, shown, threads_text
from predictor.services.prediction.assumptions import assumptions_of_each
from predictor.services.prediction.predict import resolve_targets
from predictor.services.report.request import ReportRequest
from predictor.services.report.words import figures, text, words

_COLUMNS = (
    words("target", "Target"),
    words("runtime", "Runtime"),
    words("precision", "Precision"),
    figures("threads", "Threads"),
    words("usual", "Usual there"),
)


def settings_section(request: ReportRequest) -> Section:
    """Return the what-ifs, the configuration of each target, and assumptions."""
    blocks: list[Block] = [
        Facts(tuple(_asked(request))),
        Table(_COLUMNS, tuple(_targets(request)), "Execution configurations"),
    ]
    sentences = dict.fromkeys(_assumed(request))
    if sentences:
        blocks.append(Bullets(tuple(Cell(sentence, tone=Tone.WARN) for sentence in sentences)))
    return Section(SectionId.SETTINGS, "Settings and what-ifs", tuple(blocks))


def _asked(request: ReportRequest) -> Iterator[tuple[str, Cell]]:
    asked, budget_ms = request.asked, request.budget_ms
    yield "Budget", Cell("none" if budget_ms is None else f"{number(budget_ms)} ms", budget_ms)
    yield "Runtime", text(asked.runtime or "the usual one of each device")
    precision = "the usual one of each device" if asked.precision is None else asked.precision.value
    yield "Precision", text(precision)
    threads = "the usual count of each device" if asked.threads is None else _threads(asked.threads)
    yield "Threads", text(threads)
    if asked.batch is not None:
        yield "Batch", Cell(str(asked.batch), float(asked.batch))
    else:
        yield "Batch", text("each model's own")


def _threads(threads: int) -> str:
    return "all cores" if threads == 0 else str(threads)


def _targets(request: ReportRequest) -> Iterator[Row]:
    usual = resolve_targets([target.device for target in request.targets])
    for target, usual_one, prediction in zip(
        request.targets, usual, request.predictions, strict=False
    ):
        made, common = prediction.configuration, usual_one.configuration
        is_usual = (made.runtime, made.precision) == (common.runtime, common.precision)
        yield Row(
            (
                text(shown(target.device.name)),
                text(NOTHING if made.runtime == "unknown" else made.runtime),
                text(made.precision.value),
                Cell(threads_text(made.threads), float(made.threads)),
                text("yes" if is_usual else f"{common.runtime}, {common.precision.value}"),
            )
        )


def _assumed(request: ReportRequest) -> Iterator[str]:
    several = len(request.models) > 1
    for model in request.models:
        predictions = [pair.prediction for pair in request.pairs_of(model)]
        for sentence in chain.from_iterable(assumptions_of_each(model.model, predictions)):
            yield f"{shown(model.label)}: {sentence}" if several else sentence
