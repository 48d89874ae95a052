"""The columns of tables of predictions: window, command line, reports and history.

Whoever shows predictions takes its columns from here, so a new fact of ``Prediction`` is shown by
one row of ``COLUMNS``; what is beyond the numbers is worded in ``remarks.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from predictor.core.prediction import Prediction
from predictor.core.records import Configuration, Precision
from predictor.core.runtimes import UNKNOWN
from predictor.core.units import LatencyUnit
from predictor.presentation import verdict, wording
from predictor.presentation.prediction_rows import Place, PredictionRow, TableContext, TokenRates
from predictor.presentation.remarks import remarks
from predictor.presentation.report import Tone

# The answer stands where a narrow window shows it.
_FIRST: Final = (
    "model", "latency", "tokens", "first", "device", "runtime", "precision", "interval80",
    "tokens80", "basis",
)  # fmt: skip


Text = Callable[[PredictionRow, TableContext], str]
Number = Callable[[PredictionRow, TableContext], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionColumn:
    """One column of tables of predictions.

    Attributes:
        id: stable name, also of the column in a report's JSON document.
        titles: its header by place; a place without one does not show it. ``{unit}`` and
            ``{budget}`` stand for those of the context, ``{latency}`` and ``{rate}`` for the
            latency in its unit and in the other kind of unit.
        text: the cell's text.
        value: the number that the text was written from, in the unit shown; None for words.
        sort_key: the number that rows sort by where that is not the value.
        help: one sentence for the header's tooltip.
        tone: judgement of the cell.
        is_needed: whether a table of these rows has anything to say in it.
        is_time: whether its order turns round between a time and a rate.
    """

    id: str
    titles: Mapping[Place, str]
    text: Text
    value: Number | None = None
    sort_key: Number | None = None
    help: str = ""
    tone: Callable[[PredictionRow, TableContext], Tone] = lambda *_: Tone.PLAIN
    is_needed: Callable[[Sequence[PredictionRow], TableContext], bool] = lambda *_: True
    is_time: bool = field(default=False, kw_only=True)

    @property
    def is_number(self) -> bool:
        """Whether it holds figures, to be set to the right and sorted by value."""
        return self.value is not None or self.sort_key is not None

    def title(self, context: TableContext) -> str:
        """Return the header in a place that has one."""
        return self.titles[context.place].format(
            unit=context.unit,
            budget=wording.number(context.budget_ms),
            latency=latency_title(context.unit),
            rate=latency_title(_other_kind(context.unit)),
        )


def columns_of(place: Place) -> list[PredictionColumn]:
    """Return the columns that a place shows, in their order."""
    columns = [column for column in COLUMNS if place in column.titles]
    if place is Place.COMPARE:
        columns.sort(key=lambda c: _FIRST.index(c.id) if c.id in _FIRST else len(_FIRST))
    return columns


def latency_title(unit: LatencyUnit) -> str:
    """Return the title of a latency in ``unit``: ``Latency (ms)``, ``FPS``."""
    return "FPS" if unit is LatencyUnit.FPS else f"Latency ({unit})"


def axis_title(unit: LatencyUnit, *, has_tokens: bool = False) -> str:
    """Return the title of a chart's axis of latencies in ``unit``, and of first tokens."""
    if unit is LatencyUnit.FPS:
        return "Frames per second"
    return f"Latency, or first token ({unit})" if has_tokens else latency_title(unit)


def _other_kind(unit: LatencyUnit) -> LatencyUnit:
    """Return a time for a rate, and the rate for a time."""
    return LatencyUnit.MS if unit is LatencyUnit.FPS else LatencyUnit.FPS


def _titled(title: str, *places: Place) -> Mapping[Place, str]:
    return dict.fromkeys(places, title)


def _words(
    column_id: str,
    titles: Mapping[Place, str],
    fact: Callable[[Prediction], str],
    help_text: str = "",
) -> PredictionColumn:
    return PredictionColumn(
        id=column_id, titles=titles, text=lambda row, _: fact(row.prediction), help=help_text
    )


def _count(
    column_id: str,
    titles: Mapping[Place, str],
    fact: Callable[[Configuration], int],
    write: Callable[[int], str],
) -> PredictionColumn:
    return PredictionColumn(
        id=column_id,
        titles=titles,
        text=lambda row, _: write(fact(row.prediction.configuration)),
        sort_key=lambda row, _: fact(row.prediction.configuration),
    )


def _time(
    column_id: str,
    titles: Mapping[Place, str],
    fact_ms: Callable[[Prediction], float | None],
    unit: Callable[[LatencyUnit], LatencyUnit] = lambda unit: unit,
    *,
    help_text: str = "",
    is_needed: Callable[[Sequence[PredictionRow], TableContext], bool] = lambda *_: True,
) -> PredictionColumn:
    def value(row: PredictionRow, context: TableContext) -> float | None:
        prediction = row.prediction
        batch = wording.batch_of(prediction.configuration)
        return wording.in_unit(fact_ms(prediction), unit(context.unit), batch)

    return PredictionColumn(
        id=column_id,
        titles=titles,
        text=lambda row, context: wording.number(value(row, context)),
        value=value,
        help=help_text,
        is_needed=is_needed,
        is_time=True,
    )


def _p50(
    column_id: str,
    titles: Mapping[Place, str],
    unit: Callable[[LatencyUnit], LatencyUnit] = lambda unit: unit,
    *,
    help_text: str = "",
    is_needed: Callable[[Sequence[PredictionRow], TableContext], bool] = lambda *_: True,
) -> PredictionColumn:
    """Return a column of P50s, in which lower limits have their sign and sort behind the rest."""
    column = _time(
        column_id, titles, lambda p: p.latency_ms, unit, help_text=help_text, is_needed=is_needed
    )
    value = column.value

    def key(row: PredictionRow, context: TableContext) -> float | None:
        return None if row.prediction.is_lower_limit or value is None else value(row, context)

    return replace(
        column,
        text=lambda row, context: wording.p50_number(row.prediction, unit(context.unit)),
        sort_key=key,
    )


def _device(row: PredictionRow, context: TableContext) -> str:
    name = wording.shown(row.device_name)
    # The column of the batch may be out of view.
    is_named = row.batch and context.place is Place.COMPARE
    return f"{name}, batch {row.batch}" if is_named else name


def _runtime(row: PredictionRow, context: TableContext) -> str:
    runtime = row.prediction.configuration.runtime
    return wording.NOTHING if runtime == UNKNOWN and context.place is Place.TEXT else runtime


def _likely(row: PredictionRow, context: TableContext) -> float | None:
    return verdict.budget_probability(row.prediction, context.budget_ms or 0.0)


def _likely_text(row: PredictionRow, context: TableContext) -> str:
    part = _likely(row, context)
    return wording.NOTHING if part is None else verdict.likelihood(part)


def _of_tokens(
    column_id: str, title: str, fact: Callable[[TokenRates], float | None], help_text: str
) -> PredictionColumn:
    """Return a column of numbers that language models alone have."""

    def value(row: PredictionRow, _: TableContext) -> float | None:
        return None if row.tokens is None else fact(row.tokens)

    return PredictionColumn(
        id=column_id,
        titles=_titled(title, Place.COMPARE),
        text=lambda row, context: wording.number(value(row, context)),
        value=value,
        help=help_text,
        is_needed=_has_tokens,
    )


def _has_tokens(rows: Sequence[PredictionRow], _: TableContext) -> bool:
    return any(row.tokens is not None for row in rows)


def _token_ends(row: PredictionRow, _: TableContext) -> str:
    tokens = row.tokens
    if tokens is None or tokens.low_per_s is None:
        return wording.NOTHING
    return f"{wording.number(tokens.low_per_s)} – {wording.number(tokens.high_per_s)}"


def _memory_tone(row: PredictionRow, _: TableContext) -> Tone:
    return Tone.BAD if row.prediction.fits_memory is False else Tone.PLAIN


def _memory_bytes(row: PredictionRow, _: TableContext) -> float | None:
    memory = row.prediction.memory
    return None if memory is None else memory.peak_bytes


_C, _H, _T, _R = Place.COMPARE, Place.HISTORY, Place.TEXT, Place.REPORT


def _width_ms(row: PredictionRow, _: TableContext) -> float | None:
    low, high = wording.interval_ms(row.prediction)
    return None if low is None or high is None else high - low


def _needs_rate(rows: Sequence[PredictionRow], context: TableContext) -> bool:
    if context.place is Place.COMPARE or context.unit is LatencyUnit.FPS:
        return context.place is Place.COMPARE
    # On paper room is short: where calls are alike, their latencies say as much.
    batches = {wording.batch_of(row.prediction.configuration) for row in rows}
    return context.place is not Place.REPORT or len(batches) > 1


_INTERVAL80 = PredictionColumn(
    id="interval80",
    titles={
        _C: "80 % interval ({unit})",
        _T: "80 % interval",
        _R: "80 % interval {unit}",
    },
    text=lambda row, context: wording.interval_text(row.prediction, context.unit),
    sort_key=_width_ms,
    help="Sorted by its width in milliseconds.",
    is_needed=lambda rows, context: any(_width_ms(row, context) is not None for row in rows),
)

COLUMNS: Final[tuple[PredictionColumn, ...]] = (
    PredictionColumn(
        id="model",
        titles=_titled("Model", _C, _H),
        text=lambda row, _: wording.shown(row.model_label),
    ),
    PredictionColumn(id="device", titles=_titled("Device", _C, _H, _T), text=_device),
    PredictionColumn(id="target", titles=_titled("Target", _R), text=_device),
    PredictionColumn(id="runtime", titles=_titled("Runtime", _C, _H, _T), text=_runtime),
    PredictionColumn(
        id="precision",
        titles=_titled("Precision", _C, _H, _T),
        text=lambda row, _: row.precision,
        help=" ".join(precision.explanation for precision in Precision if precision.explanation),
    ),
    _count("threads", _titled("Threads", _C, _H, _T), lambda c: c.threads, wording.threads_text),
    _count("batch", _titled("Batch", _C, _H), lambda c: c.batch, wording.batch_text),
    _words(
        "configuration",
        _titled("Configuration", _H, _R),
        lambda p: wording.configuration_text(p.configuration),
    ),
    _p50(
        "latency",
        {_C: "{latency}", _T: "P50 {unit}", _R: "P50 {unit}"},
        is_needed=lambda rows, _: any(row.tokens is None for row in rows) or not rows,
    ),
    _INTERVAL80,
    _of_tokens("tokens", "Tokens/s", lambda t: t.per_s, "New tokens a second of a language model."),
    PredictionColumn(
        id="tokens80",
        titles=_titled("80 % of tokens/s", _C),
        text=_token_ends,
        help="The interval of the tokens a second.",
        is_needed=_has_tokens,
    ),
    _of_tokens(
        "first",
        "First token (ms)",
        lambda t: t.first_ms,
        "Time of a language model from the prompt to the first token.",
    ),
    _time(
        "predicted",
        _titled("Predicted ({unit})", _C),
        lambda p: p.predicted_ms,
        help_text="What the engine predicts where the latency was measured.",
        is_needed=lambda rows, _: any(row.prediction.predicted_ms is not None for row in rows),
    ),
    _p50(
        "fps",
        {_C: "{rate}", _T: "FPS", _R: "FPS"},
        _other_kind,
        help_text="Items a second: batch / latency, one call after the other. It compares batches.",
        is_needed=_needs_rate,
    ),
    _time(
        "bound",
        {_C: "Bound ({unit})", _T: "Bound {unit}", _R: "Bound {unit}"},
        lambda p: p.bound_ms,
    ),
    PredictionColumn(
        id="memory",
        titles=_titled("Memory", _C, _T, _R),
        text=lambda row, _: wording.memory_text(row.prediction.fits_memory, row.prediction.memory),
        sort_key=_memory_bytes,
        help="Weights and live activations at the peak of a run, of the memory of the device; what "
        "the runtime takes for itself is not in it.",
        tone=_memory_tone,
        is_needed=lambda rows, c: (
            c.place is Place.COMPARE or any(row.prediction.memory is not None for row in rows)
        ),
    ),
    _words("basis", _titled("Basis", _C, _H, _T, _R), wording.basis_text),
    _words(
        "adaptation",
        _titled("Adapted by", _H),
        lambda p: wording.adaptation_name(p.adaptation),
        "What took the number to its target: the times of operators there, FiLM of the network "
        "fine-tuned to it, or a Bayesian posterior alone.",
    ),
    _words("engine", _titled("Engine", _H), lambda p: wording.shown(p.engine)),
    PredictionColumn(
        id="verdict",
        titles={_C: "Budget", _R: "Budget {budget} ms"},
        text=lambda row, context: verdict.verdict_text(row.prediction, context.budget_ms),
        help="Of one call: every item of a batch waits until the whole call is done.",
        tone=lambda row, context: verdict.verdict_tone(row.prediction, context.budget_ms),
        is_needed=lambda _, c: c.place is Place.COMPARE or c.budget_ms is not None,
    ),
    PredictionColumn(
        id="likely",
        titles=_titled("Likely met", _R),
        text=_likely_text,
        value=_likely,
        is_needed=lambda rows, c: c.budget_ms is not None and _INTERVAL80.is_needed(rows, c),
    ),
    PredictionColumn(
        id="remarks",
        titles={_C: "Remarks", _T: ""},
        text=lambda row, context: "; ".join(remarks(row, context)),
    ),
)

COLUMN_BY_ID: Final[Mapping[str, PredictionColumn]] = {column.id: column for column in COLUMNS}
