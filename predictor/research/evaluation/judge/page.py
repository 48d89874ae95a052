"""The judgement as a Markdown page, written from its JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from predictor.core.markdown import markdown_text, table
from predictor.research.evaluation.judge.goals import COVERAGE, LEAST_SILICON, RATIO

Document = Mapping[str, Any]

_TITLES: Final = {
    "unseen": "Silicon unseen, nothing measured",
    "known": "Chip or core known from another device, nothing measured",
    "families": "Silicon and family of networks unseen, nothing measured",
    "k=3": "Silicon unseen, 3 networks measured",
    "k=8": "Silicon unseen, 8 networks measured",
    "seen": "Silicon that the shipped engine has learned from",
}
_ROOFLINE: Final = "roofline"
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
of that efficiency; a factor of 2 is an interval from half to twice the prediction. The noise is the
median difference of two measurements of the same thing.

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
        "## Classes",
        _classes(document["classes"]),
    ]
    for setting, title in _TITLES.items():
        entries = [each for each in document["classes"] if each["settings"][setting]["engines"]]
        if entries:
            parts += [f"## {title}", *_setting(document, setting, entries)]
    parts += ["## Laws", *_laws(document["laws"])]
    parts += ["## Measurements by source", _sources(document["sources"])]
    return "\n\n".join(parts) + "\n"


def _classes(entries: Sequence[Document]) -> str:
    header = ("class", "silicon", "devices", "targets", "networks", "measurements", "noise %")
    keys = ("class", "silicon", "devices", "targets", "networks", "rows", "noise_percent")
    return table(header, [[each[key] for key in keys] for each in _ordered(entries)])


def _setting(document: Document, setting: str, entries: Sequence[Document]) -> list[str]:
    """Return the table of one setting, and the notes that belong to it."""
    names = [
        name
        for name in document["engines"]
        if any(name in each["settings"][setting]["engines"] for each in entries)
    ]
    header = ["class", "silicon"]
    for name in names:
        header.append(f"{name} %")
        if name != _ROOFLINE:
            header += ["80 % covers", "factor"]
        if name != _FLOOR and _FLOOR in names:
            header.append("over class estimate, bound")
    header += ["goal %", "moonshot %"]
    rows = [_row(each, setting, names) for each in _ordered(entries)]
    note = [_SHIPPED] if document["shipped"] in names and setting != "seen" else []
    return [*note, table(header, rows)]


_SHIPPED: Final = (
    "The shipped engine is asked as it is, about at most 20 networks of each target, on silicon "
    "that is in none of the sources that it was trained on. What it reached on silicon held out of "
    "its own training stands in [engine-validation](engine-validation.md)."
)


def _row(entry: Document, setting: str, names: Sequence[str]) -> list[object]:
    told = entry["settings"][setting]
    goal = told["goal"]
    silicon = max(figures["silicon"] for figures in told["engines"].values())
    row: list[object] = [entry["class"], silicon]
    for name in names:
        figures = told["engines"].get(name, {})
        row.append(_error(figures.get("error_percent"), goal))
        if name != _ROOFLINE:
            row += [_number(figures.get("covered_percent"), 0), _number(figures.get("factor"), 1)]
        if name != _FLOOR and _FLOOR in names:
            row.append(_ratio(figures))
    return [*row, *(None if goal is None else f"{goal[key]:.0f}" for key in ("goal", "moonshot"))]


def _laws(by_engine: Mapping[str, Sequence[Document]]) -> Iterator[str]:
    """Yield the violations of the laws, their worst examples, and the facts that they are of."""
    if not by_engine:
        yield "Not counted: the data folder has no timm graphs."
        return
    yield _LAWS
    counts = {name: {each["law"]: each for each in told} for name, told in by_engine.items()}
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
Counted over all devices of the catalogue, each in its usual configuration and in the first of
another precision, and the first twelve networks of benchmarks/real_sets.py. Each fact is made half
as large again, all else being equal. Cells are violations of comparisons."""


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


def _error(percent: float | None, goal: Document | None) -> str | None:
    words = _number(percent, 1)
    return f"**{words}**" if percent is not None and goal and percent <= goal["goal"] else words


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
