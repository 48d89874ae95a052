"""The fields of a stream and of a stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ctm_gui.loads.fields_view import (
    CountBox,
    PlainBox,
    TableForm,
    fill_data,
    show_number,
    show_text,
)
from ctm_gui.widgets.basic import combo_box
from predictor.core.records import Precision
from predictor.core.runtimes import offered, runtime_of
from predictor.services.generation.choices import RUNTIME_NAMES, WEIGHT_FORMATS
from predictor.services.loads.load_file import ARRIVALS, BATCHINGS, DYNAMIC, LANGUAGE_KEYS
from predictor.services.loads.records import AUTO, Box

_LETTERS = 12
_NONE: Final = "none"
_KINDS: Final = [("usual", ""), *((kind, kind) for kind in BATCHINGS)]
_WEIGHTS: Final = [("usual", ""), *((name, name) for name in WEIGHT_FORMATS)]
_PRECISIONS: Final = [("usual", ""), *((p.words, p.value) for p in Precision)]


class StreamForm(TableForm):
    """The fields of streams alike."""

    def __init__(self) -> None:
        super().__init__()
        self._is_traced = False
        self.name = self.line("name", "Name", "Name of the stream")
        self.rate = PlainBox("Items a second of one stream", "items/s", none=_NONE)
        self.add("rate", "&Rate", self.rate, "Items a second of one stream.")
        # That of a trace may be left out; any other stream needs one, as its reader says.
        self.rate.valueChanged.connect(
            lambda value: self.edited.emit("rate", value or (None if self._is_traced else 0))
        )
        self.count = CountBox("Number of such streams", "1")
        self.number("count", "Streams", self.count, "Number of streams alike.")
        self.arrival = combo_box("How items arrive")
        for arrival in ARRIVALS:
            self.arrival.addItem(arrival, arrival)
        self.choice(
            "arrival", "&Arrival", self.arrival,
            "At equal distances, at random (Poisson), or as a file of seconds has it.",
        )  # fmt: skip
        self.deadline = PlainBox("Deadline in milliseconds", "ms", none=_NONE)
        self.number(
            "deadline_ms", "&Deadline", self.deadline, "From arrival to the end of the last stage."
        )
        self.share = PlainBox("Percent of the items that keep the deadline", "%", none="99 %")
        self.number("share", "&Kept by", self.share, "Share of the items that keep the deadline.")
        self.trace = self.line(
            "trace", "Trace", "File of the times of a trace, a number of seconds a line"
        )

    def show_table(self, table: Mapping[str, Any]) -> None:
        """Show the values of a stream."""
        show_text(self.name, table.get("name"))
        show_text(self.trace, table.get("trace"))
        self._is_traced = table.get("arrival") == "trace" or "trace" in table
        self.trace.setEnabled(self._is_traced)
        for box, key in (
            (self.rate, "rate"),
            (self.count, "count"),
            (self.deadline, "deadline_ms"),
            (self.share, "share"),
        ):
            show_number(box, table.get(key))
        usual = "trace" if "trace" in table else ARRIVALS[0]
        self.arrival.setCurrentIndex(max(self.arrival.findData(table.get("arrival", usual)), 0))


class StageForm(TableForm):
    """The fields of a stage.

    Attributes:
        model: files to choose from.
        unit: units of the box, and "auto".
    """

    def __init__(self) -> None:
        super().__init__()
        self.name = self.line("name", "Name", "Name of the stage")
        self.model = combo_box("Model of the stage", letters=_LETTERS)
        self.choice("model", "M&odel", self.model, "One of the open models, or a bundled sample.")
        self.unit = combo_box("Unit of the box that runs the stage")
        self.choice("unit", "&Unit", self.unit, "Of the box; auto is placed where most room is.")
        self.runs = PlainBox("Runs for an item", "", none="1")
        self.number(
            "per_item", "Runs an &item", self.runs, "3 for three crops, 0.2 for every fifth item."
        )
        self.batch = CountBox("Largest batch of runs", _NONE)
        self.number("batch", "Batch", self.batch, "Largest number of runs at once.")
        self.delay = PlainBox("Time that a run waits for its batch", "ms", -1, "until full")
        self.number("batch_delay_ms", "Waits", self.delay, "For a full batch, at most.")
        self.batching = combo_box("Kind of batches")
        self.choice(
            "batching", "Batching", self.batching,
            "Fixed ones run when they are full, dynamic ones also when they have waited.",
        )  # fmt: skip
        self.runtime = combo_box("Runtime of the stage", letters=_LETTERS)
        self.choice("runtime", "Runtime", self.runtime, "Usual is that of the unit's device.")
        self.threads = CountBox("Threads of a run", "usual")
        self.number(
            "threads", "Threads", self.threads,
            "A processor makes several runs at once where all its stages state them.",
        )  # fmt: skip
        self.precision = combo_box("Precision of the stage")
        self.choice("precision", "Precision", self.precision)
        self.after = self.line("after", "After", "Names of the stages that it waits for", _names)
        self.dims = self.line("dims", "Dimensions", "Values of open dimensions", _dims)
        self.prompt = CountBox("Tokens of the prompt of a language model", _NONE)
        self.number("prompt_tokens", "Prompt", self.prompt, "Tokens of a language model's prompt.")
        self.new = CountBox("Tokens that a language model generates", _NONE)
        self.number("new_tokens", "New tokens", self.new, "That a language model generates a run.")
        self.weights = combo_box("Format of a language model's weights", letters=_LETTERS)
        self.choice("weights", "Weights", self.weights, "Usual is that of the file or runtime.")
        self.after.setPlaceholderText("the one before")
        self.dims.setPlaceholderText("sequence=64")

    def show_table(
        self, table: Mapping[str, Any], models: Sequence[tuple[str, str]], box: Box | None
    ) -> None:
        """Show the values of a stage.

        Args:
            table: of the load file.
            models: to choose from: their names, and how the file has them.
            box: that runs it; None where it is not known.
        """
        show_text(self.name, table.get("name"))
        self.show_choices(table, models, box)
        for field, key in (
            (self.runs, "per_item"),
            (self.batch, "batch"),
            (self.delay, "batch_delay_ms"),
            (self.threads, "threads"),
            (self.prompt, "prompt_tokens"),
            (self.new, "new_tokens"),
        ):
            show_number(field, table.get(key))
        kind = str(table.get("batching", ""))
        fill_data(self.batching, _KINDS, kind)
        self.delay.setSpecialValueText("0 ms" if kind == DYNAMIC else "until full")
        self.delay.setEnabled(self.batch.value() > 1 or kind == DYNAMIC)
        fill_data(self.precision, _PRECISIONS, str(table.get("precision", "")))
        fill_data(self.weights, _WEIGHTS, str(table.get("weights", "")))
        generates = any(key in table for key in LANGUAGE_KEYS)
        # A speech recogniser is started by a prompt of its own.
        self.prompt.setSpecialValueText("usual" if generates else _NONE)
        for key in ("threads", "precision", "dims"):
            self.fields[key].setEnabled(not generates)
        for key in LANGUAGE_KEYS:
            self.fields[key].setEnabled(generates)
        after, dims = table.get("after"), table.get("dims", {})
        show_text(self.after, _NONE if after == [] else after)
        pairs = dims.items() if isinstance(dims, Mapping) else ()
        text = ", ".join(f"{name}={size}" for name, size in pairs) or str(dims or "")
        show_text(self.dims, text)

    def show_choices(
        self, table: Mapping[str, Any], models: Sequence[tuple[str, str]], box: Box | None
    ) -> None:
        """Offer other models, units and runtimes; what is typed in other fields stays."""
        fill_data(self.model, models, str(table.get("model", "")))
        units = box.units if box else {}
        unit = str(table.get("unit", AUTO))
        fill_data(self.unit, [(name, name) for name in (AUTO, *units)], unit)
        of_stage = [u.device.family for u in units.values() if unit in {AUTO, u.name}]
        runtimes = [
            (row.title, name)
            for name in offered()
            if (row := runtime_of(name)).families.intersection(of_stage)
        ]
        if "new_tokens" in table:
            runtimes = [(name, name) for name in RUNTIME_NAMES]
        fill_data(self.runtime, [("usual", ""), *runtimes], str(table.get("runtime", "")))


def _names(text: str) -> object:
    """Return the names of stages as the file has them."""
    return [] if text == _NONE else [name.strip() for name in text.split(",") if name.strip()]


def _dims(text: str) -> object:
    """Return dimensions as the file has them; the text where it is none, for its reader to say."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and size.strip().isdecimal() for name, _, size in pairs):
        return text
    return {name.strip(): int(size) for name, _, size in pairs}
