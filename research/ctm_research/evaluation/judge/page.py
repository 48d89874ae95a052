"""The judgement as a Markdown page, written from its JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any, Final

from ctm_research.goals import (
    COVERAGE,
    LEAST_SILICON,
    LEAST_USED,
    RATIO,
)
from predictor.presentation.markdown import markdown_text, table

Document = Mapping[str, Any]

_TITLES: Final = {
    "unseen": "Silicon unseen, nothing measured",
    "known": "Chip or core known from another device, nothing measured",
    "families": "Silicon and family of networks unseen, nothing measured",
    "k=3": "Silicon unseen, 3 networks measured",
    "k=8": "Silicon unseen, 8 networks measured",
}
_ROOFLINE: Final = "roofline"
_WIDTH: Final = 100
_REASONS: Final = 3
_FLOOR: Final = "class estimate"

_INTRODUCTION: Final = """\
A class is a runtime on a kind of device. Its figure is the median over kinds of silicon of the
median relative error over networks. Repeats and batches of a network on one target are one number,
their median; then the targets of a silicon; so each network counts once, and each silicon.

Silicon is left out in ten folds, and an engine is trained anew in each. Where chip or core is
known, whole devices are left out, and those are judged whose silicon was measured in the same class
on another device. Families of networks are left out by thirds beside the silicon. With k measured
networks, these are drawn {draws} times and the others predicted.

The **roofline** supposes peak rates. The **class estimate** is the roofline over the median
efficiency of the class in training: all that is learned has to beat it. Its interval is the spread
of that efficiency; a factor of 2 is an interval from half to twice the prediction. The **estimate**
is what ships for hardware without measurements, trained anew in each fold; its intervals here are
those before they are widened class by class. The noise is the median difference of two measurements
of the same thing.

Goals are for classes of at least {least} kinds of silicon; in bold what reaches its goal. Intervals
should cover {low:.0f} to {high:.0f} %. The bound is the 95 % quantile over draws of silicon of an
error over that of the class estimate, and should be at most {ratio}."""


def page(document: Document, origin: str) -> str:
    """Return the Markdown page of a document of :mod:`.document`.

    Args:
        document: the document.
        origin: one sentence: which command wrote it, when and where.
    """
    parts = [
        "# Errors by runtime and kind of device",
        origin,
        _INTRODUCTION.format(
            draws=document["draws"],
            least=LEAST_SILICON,
            low=COVERAGE[0],
            high=COVERAGE[1],
            ratio=RATIO,
        ),
        "## Goals that are reached",
        _reached(document),
        "## Classes",
        _classes(document),
        *_unused(document["classes"]),
    ]
    for setting, title in _TITLES.items():
        parts += [f"## {title}", _setting(document, setting)]
    if document["shipped"] is not None:
        parts += ["## The engine as it ships", _SHIPPED, _shipped(document)]
    parts += ["## Laws", *_laws(document["laws"])]
    parts += ["## Measurements by source", _sources(document["sources"])]
    return "\n\n".join(parts) + "\n"


def _reached(document: Document) -> str:
    """Return the number of classes that reach their goal, of those with a goal and silicon."""
    rows = []
    for name in document["engines"]:
        row: list[object] = [name]
        for setting in _TITLES:
            told = [
                (figures, goal)
                for entry in document["classes"]
                if (goal := entry["settings"][setting]["goal"])
                and (figures := _engines(entry, setting).get(name))
                and figures["silicon"] >= LEAST_SILICON
            ]
            count = sum(figures["error_percent"] <= goal["goal"] for figures, goal in told)
            row.append(f"{count} of {len(told)}" if told else None)
        rows.append(row)
    return table(("engine", *_TITLES.values()), rows)


def _classes(document: Document) -> str:
    """Return the sizes of the classes, and the shares that engines have a number for."""
    keys = ("class", "silicon", "devices", "targets", "networks", "rows")
    header = ["class", "silicon", "devices", "targets", "networks", "measurements"]
    header += ["of published rows, %", "of published devices, %", "noise %"]
    asked: dict[str, tuple[str, ...]] = {_ROOFLINE: ("unseen",)}
    if document["shipped"] is not None:
        asked[document["shipped"]] = ("unseen", "seen")
    header += [f"{name} has a number, %" for name in asked]
    rows = [
        [
            *(each[key] for key in keys),
            _number(each["used_percent"], 0),
            _number(each["devices_used_percent"], 0),
            _number(each["noise_percent"], 1),
            *(_answered(each, name, settings) for name, settings in asked.items()),
        ]
        for each in _ordered(document["classes"])
    ]
    return table(header, rows)


def _unused(entries: Sequence[Document]) -> Iterator[str]:
    """Yield why classes with enough silicon lack many of their published rows or devices."""
    few = [
        each
        for each in _ordered(entries)
        if each["silicon"] >= LEAST_SILICON
        and each["used_percent"] is not None
        and (each["used_percent"] < LEAST_USED[0] or each["devices_used_percent"] < LEAST_USED[1])
    ]
    if few:
        rows, devices = LEAST_USED
        yield (
            f"Under {rows:.0f} % of the rows or {devices:.0f} % of the devices, and why most rows "
            "are left out ([corpus](../corpus.md)):"
        )
        yield "\n".join(f"- {each['class']}: {_reasons(each['left_out'])}" for each in few)


def _reasons(left_out: Mapping[str, int]) -> str:
    most = list(left_out.items())[:_REASONS]
    return "; ".join(f"{count} {markdown_text(reason)}" for reason, count in most)


def _answered(entry: Document, name: str, settings: Sequence[str]) -> str | None:
    parts = [_engines(entry, setting).get(name) for setting in settings]
    asked = sum(part["asked"] for part in parts if part is not None)
    answered = sum(part["rows"] for part in parts if part is not None)
    return f"{100 * answered / asked:.0f}" if asked else None


def _setting(document: Document, setting: str) -> str:
    """Return the table of one setting: the engines that are trained in its folds."""
    names = [name for name in document["engines"] if name != document["shipped"]]
    header = ["class", "silicon"]
    for name in names:
        header.append(f"{name} %")
        if name != _ROOFLINE:
            header += ["80 % covers", "factor"]
        if name != _FLOOR:
            header.append("over class estimate, bound")
    header += ["goal %", "moonshot %"]
    entries = [each for each in _ordered(document["classes"]) if _FLOOR in _engines(each, setting)]
    return table(header, [_row(each, setting, names) for each in entries])


def _row(entry: Document, setting: str, names: Sequence[str]) -> list[object]:
    goal, engines = entry["settings"][setting]["goal"], _engines(entry, setting)
    row: list[object] = [entry["class"], engines[_FLOOR]["silicon"]]
    for name in names:
        figures = engines.get(name, {})
        row.append(_error(figures, goal))
        if name != _ROOFLINE:
            row += _interval(figures)
        if name != _FLOOR:
            row.append(_ratio(figures))
    return [*row, *(None if goal is None else f"{goal[key]:.0f}" for key in ("goal", "moonshot"))]


_SHIPPED: Final = """\
Asked as it is, about at most 20 networks of each target. New is silicon of which none of the
sources that it was trained on has a measurement; the other silicon it has seen, maybe under another
runtime. What it reached on silicon held out of its own training stands in the
[track record](../../../docs/results/track-record.md)."""


def _shipped(document: Document) -> str:
    name = document["shipped"]
    header = (
        *("class", "new silicon", "error %", "80 % covers", "factor"),
        *("over class estimate, bound", "3 measured %", "8 measured %"),
        *("seen silicon", "error %", "80 % covers", "factor"),
    )
    rows = []
    for entry in _ordered(document["classes"]):
        new, three, eight, seen = (
            _engines(entry, setting).get(name, {}) for setting in ("unseen", "k=3", "k=8", "seen")
        )
        goals = [entry["settings"][setting]["goal"] for setting in ("unseen", "k=3", "k=8")]
        rows.append(
            [
                *(entry["class"], new.get("silicon"), _error(new, goals[0]), *_interval(new)),
                *(_ratio(new), _error(three, goals[1]), _error(eight, goals[2])),
                *(seen.get("silicon"), _error(seen, None), *_interval(seen)),
            ]
        )
    return table(header, rows)


def _engines(entry: Document, setting: str) -> Document:
    """Return the figures of the engines that were asked in a setting, by their names."""
    engines: Document = entry["settings"][setting]["engines"]
    return engines


def _laws(document: Document | None) -> Iterator[str]:
    """Yield the violations of the laws, their worst examples, and the facts that they are of."""
    if document is None:
        yield "Not counted: the data folder has none of the networks that they are counted on."
        return
    words = _LAWS.format(devices=document["devices"], networks=", ".join(document["networks"]))
    yield fill(words, _WIDTH, break_on_hyphens=False)
    counts = {
        name: {each["law"]: each for each in entries}
        for name, entries in document["engines"].items()
    }
    laws = next(iter(counts.values()))
    yield table(
        ["law", *counts],
        [[law, *(_share(counts[name][law]) for name in counts)] for law in laws],
    )
    for name, told in counts.items():
        broken = [each for each in told.values() if each["violated"]]
        if broken:
            examples = [words for each in broken for words in each["examples"]]
            yield f"Of {name}, the worst of each:"
            yield "\n".join(f"- {markdown_text(words)}" for words in examples)
            yield f"Of {name}, by the varied fact:"
            yield table(
                ["fact", *(each["law"] for each in broken if each["facts"])], _facts(broken)
            )


_LAWS: Final = """\
Counted over the {devices} devices of the catalogue, each in its usual configuration and in the
first of another precision, and these networks: {networks}. Each fact is made half as large again,
all else being equal. Cells are violations of comparisons."""


def _facts(broken: Sequence[Document]) -> list[list[object]]:
    told = [each["facts"] for each in broken if each["facts"]]
    names = dict.fromkeys(fact for facts in told for fact in facts)
    return [
        [name, *(_share(facts[name]) if name in facts else None for facts in told)]
        for name in names
        if any(name in facts and facts[name]["violated"] for facts in told)
    ]


def _share(count: Document) -> str:
    return f"{count['violated']} of {count['checked']}"


def _ratio(figures: Document) -> str | None:
    if figures.get("ratio") is None:
        return None
    return f"{figures['ratio']:.2f}, {figures['ratio_bound']:.2f}"


def _error(figures: Document, goal: Document | None) -> str | None:
    percent = figures.get("error_percent")
    words = _number(percent, 1)
    # Fewer kinds of silicon than the class has could reach a goal by chance.
    if goal is None or figures.get("silicon", 0) < LEAST_SILICON:
        return words
    return f"**{words}**" if percent <= goal["goal"] else words


def _interval(figures: Document) -> list[str | None]:
    return [_number(figures.get("covered_percent"), 0), _number(figures.get("factor"), 1)]


def _number(value: float | None, decimals: int) -> str | None:
    return None if value is None else f"{value:.{decimals}f}"


def _ordered(entries: Sequence[Document]) -> list[Document]:
    """Return classes with a goal first, each part by its name."""
    return sorted(entries, key=lambda each: (each["silicon"] < LEAST_SILICON, each["class"]))


def _sources(entries: Sequence[Document]) -> str:
    header = ("source", "judged", "device not in the catalogue", "single operators", "left out")
    return table(
        header,
        [
            [
                each["source"],
                each["judged"],
                each["without_device"],
                each["single_operators"],
                "; ".join(f"{count} {reason}" for reason, count in each["left_out"].items()),
            ]
            for each in entries
        ],
    )
