"""The pages of the suites, written from their JSON documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from ctm_research.nas.benchmark.published import (
    ABLATION_METHODS,
    FIGURE3_FLAT_BEHIND,
    FIGURE3_KNOWN,
    FIGURE4_DEVICES,
    OURS,
    TABLE1,
    TABLE3,
    TABLE3_DEVICES,
)
from ctm_research.nas.benchmark.registry import METHODS
from ctm_research.nas.benchmark.splits import TEST_ARCHITECTURES
from predictor.core.text import plural
from predictor.presentation.markdown import table

Document = Mapping[str, Any]

_LIMIT: Final = 0.05  # of a corrected p value
_PAPER_LABEL: Final = "CloserToMe"  # of the figures that the paper prints
_ABLATION_COLUMNS: Final = ("paper", "without posterior", "with posterior")

_PROTOCOL = """\
RAE is the mean of |predicted - measured| / measured, in %. The 500 test architectures are unseen on
every device. A method sees the train architectures on the train devices, then k latencies of the
test device, and no more. {probes} Each figure is the mean over {trainings} and {draws} draws of
probes; after ± stands their standard deviation. How this is done:
[evaluation on search spaces](../evaluation-nas.md)."""

_NO_ENGINE = """\
Methods are trained here, each on the train devices of a partition. They are no engine: `ctm
predict` has no part in these figures."""
_KERNEL_POSTERIOR = """\
**Kernel posterior** (`closertome` in the options) is this project's method for search spaces, not
the product: features of four kernel networks, adaptive probes and a Bayesian posterior of the
samples. What the paper prints for CloserToMe stands beside it; the paper's network as it is
written is *CloserToMe as published*."""
_BRACKETS = """\
In brackets stands what the paper prints for this method. It states no number of samples."""
_OTHER_DEVICES = """\
Its partitions have ten more train devices, which are not in the public table. Here the nearest
available ones stand in, and N@2 has other test devices too: our figures are ours."""
_SHARED = "All methods get the same probes. They were chosen by `{chooser}`."
_OWN = "A method that chooses probes uses its own."
_ONCE = """\
{all} trainings (one of {names}: comparisons with these are over the repetitions that both have)"""
_OWN_ALWAYS = """\
{names}: its probes are its own reference networks, which its signature is made of. They were chosen
before training and are the same in every draw."""
_TRAINED_LATE = """\
A method whose signature is a vector has a network for each k. It is trained in the first trial with
that k, and its time is among the seconds of the trials."""
_SLOWER = "LAD, BRP and FLAT, with the same probes, stand on [a page of their own](nas-figure3.md)."
_NOT_RUN = """\
Latencies of a search space are of whole networks, so systems that read more keep a line without
figures. [The field side by side](systems.md) asks them where their data are.

- **PM2Lat, NeuSight, Habitat**: they need operators or kernels timed one by one.
- **LeDG-Former**: its encoder reads texts of devices; most columns of the tables are a name,
  without a stated precision or runtime.
- **TLP**: it reads the schedule of a tensor program.
- **FLAME, Roofline-LLM**: clocks of one board, and rates of language models."""
_PROCESSOR = "Seconds are of processor time: what else the machine did does not count."
_PASSED = "Seconds are those that passed: what else the machine did counts."
_TRIAL = f"""\
A trial adapts to a device, predicts the
{TEST_ARCHITECTURES} test architectures and scores them. A prediction is its share of that."""


def page(document: Document, plots: Mapping[str, str]) -> str:
    """Return the Markdown page of a document.

    Args:
        document: of the module of that name, with its environment.
        plots: file names of the plots by subject.
    """
    parts = [f"# {document['title']}", _origin(document), _introduction(document)]
    parts.append(" ".join(_of_methods(document)))
    parts += [f"![{shows}]({file})" for shows, file in plots.items()]
    parts += _BODIES[document["suite"]](document)
    late = [_TRAINED_LATE] if any(m["own_probes"] for m in document["methods"]) else []
    # Documents of before carry no clock: theirs was the wall's.
    clock = _PROCESSOR if document.get("clock") == "processor" else _PASSED
    parts += ["## Time", f"{clock} {_TRIAL}", *late, _times(document)]
    return "\n\n".join(parts) + "\n"


def _origin(document: Document) -> str:
    return (
        f"Written by `{document['command']}` with seed {document['plan']['seed']} "
        f"on {document['date']}, "
        f"commit {document['commit']}: {document['system']}, {document['processors']} processors, "
        f"Python {document['python']}."
    )


def _introduction(document: Document) -> str:
    own = document["chooser"] == "each method"
    probes = _OWN if own else _SHARED.format(chooser=document["chooser"])
    if not own and (names := [m["label"] for m in document["methods"] if m["own_probes"]]):
        probes += " " + _OWN_ALWAYS.format(names=", ".join(names))
    return _PROTOCOL.format(
        probes=probes, trainings=_trainings(document), draws=document["plan"]["draws"]
    )


def _of_methods(document: Document) -> Iterator[str]:
    """Say that no method is the engine, and which one this project's is."""
    yield _NO_ENGINE
    if OURS in {method["name"] for method in document["methods"]}:
        yield _KERNEL_POSTERIOR


def _trainings(document: Document) -> str:
    """Return the number of trainings in words, with the methods that have fewer."""
    planned = document["plan"]["trainings"]
    once = [m["label"] for m in document["methods"] if m["trainings"] < planned]
    if once:
        return _ONCE.format(all=planned, names=", ".join(once))
    return plural(planned, "training")


def _table1(document: Document) -> list[str]:
    parts = ["## Means over the cells", _means(document)]
    brackets = [_BRACKETS] if any(c["paper_rae"] is not None for c in document["cells"]) else []
    for k in sorted(document["plan"]["ks"], reverse=True):
        parts += [f"## RAE in %, k = {k}", *brackets, _cells(document, k)]
    if printed := _paper_lines(document):
        parts += ["## What the paper prints, RAE in %", *printed]
    return [*parts, "## Differences that are more than chance", *_significance(document)]


def _means(document: Document) -> str:
    return table(
        (
            "method",
            "k",
            "RAE",
            "paper",
            "within 5 %",
            "10 %",
            "15 %",
            "80 % interval covers",
            "least in a cell",
            "median width",
            "interval score",
        ),
        (
            (
                _label(mean["method"]),
                mean["k"],
                _with_spread(mean["rae"], mean["rae_std"]),
                mean["paper_rae"],
                mean["within_5"],
                mean["within_10"],
                mean["within_15"],
                mean["coverage"],
                mean["least_coverage"],
                mean["width"],
                mean["interval_score"],
            )
            for mean in document["means"]
        ),
    )


def _cells(document: Document, k: int, score: str = "rae") -> str:
    methods = [method["name"] for method in document["methods"]]
    cells = {(c["method"], *_place(c)): c for c in document["cells"] if c["k"] == k}
    return table(
        ("partition", "device", *(_label(method) for method in methods)),
        (
            (*place, *(_figure(cells[method, *place], score) for method in methods))
            for place in _places(document)
        ),
    )


def _place(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry["partition"], entry["device"]


def _places(document: Document) -> list[tuple[str, str]]:
    return list(dict.fromkeys(map(_place, document["cells"])))


def _figure(entry: Mapping[str, Any], score: str) -> str:
    if score != "rae":
        return _with_spread(entry[score], None)
    printed = entry["paper_rae"]
    paper = "" if printed is None else f" ({printed:.2f})"
    return f"{_with_spread(entry['rae'], entry['rae_std'])}{paper}"


def _paper_lines(document: Document) -> list[str]:
    printed = [
        place for place in _places(document) if all(place in line for line in TABLE1.values())
    ]
    if not printed:
        return []
    return [
        table(
            ("partition", "device", *map(_label_in_paper, TABLE1)),
            ((*place, *(line[place] for line in TABLE1.values())) for place in printed),
        )
    ]


def _significance(document: Document) -> list[str]:
    methods = list(dict.fromkeys(c["method"] for c in document["comparisons"]))
    if not methods:
        return ["There is nothing to compare with."]
    reference = _label(document["reference"])
    rows = []
    for method in methods:
        for k in document["plan"]["ks"]:
            of_both = [c for c in document["comparisons"] if (c["method"], c["k"]) == (method, k)]
            sure = [c for c in of_both if c["p_holm"] < _LIMIT]
            worse = [c for c in sure if c["difference"] > 0]
            names = ", ".join(f"{c['partition']} {c['device']}" for c in worse)
            rows.append(
                (_label(method), k, len(of_both), len(sure) - len(worse), len(worse), names)
            )
    header = ("against", "k", "cells", f"{reference} better", "worse", "worse in")
    return [f"{document['significance_test']}, at {_LIMIT}.", table(header, rows)]


def _figure3(document: Document) -> list[str]:
    printed = [
        f"The paper states one value of its Figure 3: {share} % within 15 % on {partition}, "
        f"FLAT {FIGURE3_FLAT_BEHIND} points less."
        for (partition, _), share in FIGURE3_KNOWN.items()
    ]
    return [
        *_shares(document),
        *printed,
        _OTHER_DEVICES,
        f"## Share within 15 % by device, k = {_top(document)}",
        _cells(document, _top(document), "within_15"),
        *_table1(document),
    ]


def _systems(document: Document) -> list[str]:
    return [*_table1(document), "## Not run here", _NOT_RUN]


def _shares(document: Document) -> list[str]:
    rows, k = [], _top(document)
    for partition in dict.fromkeys(c["partition"] for c in document["cells"]):
        for method in document["methods"]:
            cells = [
                c
                for c in document["cells"]
                if (c["partition"], c["method"], c["k"]) == (partition, method["name"], k)
            ]
            shares = [mean_of(cells, f"within_{limit}") for limit in (5, 10, 15)]
            rows.append(
                (
                    partition,
                    method["label"],
                    *shares,
                    FIGURE3_KNOWN.get((partition, method["name"])),
                )
            )
    header = ("partition", "method", "within 5 %", "10 %", "15 %", "paper, within 15 %")
    return [f"## Share of predictions within a limit, k = {k}", table(header, rows)]


def mean_of(cells: Sequence[Mapping[str, Any]], score: str) -> float:
    """Return the mean of a score over cells."""
    return float(sum(c[score] for c in cells) / len(cells))


def _figure4(document: Document) -> list[str]:
    rows = [
        (
            curve["partition"],
            curve["device"],
            _label(curve["method"]),
            *(curve["percent"][share] for share in (50, 80, 90, 95)),
        )
        for curve in document["curves"]
        if _place(curve) in FIGURE4_DEVICES
    ]
    header = ("partition", "device", "method", "half within %", "80 %", "90 %", "95 % within %")
    return [
        f"## Errors that shares of the predictions stay within, k = {_top(document)}",
        table(header, rows),
    ]


def _table3(document: Document) -> list[str]:
    k = _top(document)
    cells = {(c["method"], c["device"]): c for c in document["cells"] if c["k"] == k}
    rows: list[list[object]] = []
    for variant, names in ABLATION_METHODS.items():
        for device, printed in zip(TABLE3_DEVICES, TABLE3[variant], strict=True):
            ours = [cells.get((name, device)) for name in names]
            figures = [_with_spread(c["rae"], c["rae_std"]) if c else None for c in ours]
            rows.append([variant, device, printed, *figures])
    return [
        f"## RAE in %, k = {k}",
        table(("variant", "device", *_ABLATION_COLUMNS), rows),
        f"## Means over the four devices, k = {k}",
        *_ablation_means(document, k),
        *_table1(document),
    ]


def _ablation_means(document: Document, k: int) -> list[str]:
    """Return the means of the variants, and whether their order is the paper's."""
    columns: list[dict[str, float]] = [
        {variant: sum(printed) / len(printed) for variant, printed in TABLE3.items()},
        {},
        {},
    ]
    for variant, names in ABLATION_METHODS.items():
        for column, name in zip(columns[1:], names, strict=True):
            cells = [
                c
                for c in document["cells"]
                if (c["method"], c["k"]) == (name, k) and c["device"] in TABLE3_DEVICES
            ]
            if cells:
                column[variant] = mean_of(cells, "rae")
    rows = [[variant, *(column.get(variant) for column in columns)] for variant in TABLE3]
    orders = [sorted(column, key=column.__getitem__) for column in columns]
    sentences = [f"From best to worst the paper has {', '.join(orders[0])}."]
    for name, order in zip(_ABLATION_COLUMNS[1:], orders[1:], strict=True):
        if order:
            same = [variant for variant in orders[0] if variant in order] == order
            verdict = "the paper's order" if same else "not the paper's order"
            sentences.append(f"Ours, {name}: {', '.join(order)}; {verdict}.")
    return [table(("variant", *_ABLATION_COLUMNS), rows), " ".join(sentences)]


def _times(document: Document) -> str:
    return table(
        ("method", "seconds a training", "seconds a trial", "ms a prediction"),
        (
            (
                _label(s["method"]),
                s["training"],
                f"{s['trial']:.4f}",
                f"{1000 * s['trial'] / TEST_ARCHITECTURES:.4f}",
            )
            for s in document["seconds"]
        ),
    )


def _label(name: str) -> str:
    return METHODS[name].label


def _label_in_paper(name: str) -> str:
    return _PAPER_LABEL if name == OURS else _label(name)


def _top(document: Document) -> int:
    return int(max(document["plan"]["ks"]))


_BODIES: Mapping[str, Callable[[Document], list[str]]] = MappingProxyType(
    {
        "table1": _table1,
        "systems": _systems,
        "systems-nasbench201": lambda document: [
            *_shares(document),
            _OTHER_DEVICES,
            _SLOWER,
            *_systems(document),
        ],
        "figure3": _figure3,
        "figure4": _figure4,
        "table3": _table3,
        "selectors": _table1,
    }
)


def _with_spread(mean: float | None, spread: float | None) -> str:
    """Write a mean with its standard deviation."""
    if mean is None:
        return "-"
    return f"{mean:.2f}" if spread is None else f"{mean:.2f} ± {spread:.2f}"
