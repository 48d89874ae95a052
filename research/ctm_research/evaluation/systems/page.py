"""The comparison as a Markdown page, written from its JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ctm_research.evaluation.systems.registry import NOT_RUN, PRODUCT, SYSTEMS
from predictor.presentation.markdown import table

Document = Mapping[str, Any]

_INTRODUCTION: Final = """\
Every system is trained and asked on the same rows: {measurements} measured latencies on {targets}
targets, at most {networks_of_a_target} networks of a target, drawn by seed. Silicon is left out in
{folds} folds, so no system has seen the chip, core or card that it is asked about. With k measured
networks of a target, these are drawn {draws} times and the others predicted.

An error is the median over networks, then over {pairs} pairs of class and silicon in the
{classes} classes (a runtime on a kind of device) with at least eight kinds of silicon. After ±
stands the standard deviation over trainings. **Bold** is the best of a column among systems that
answer at least 80 % of the rows. ▲ surely worse and ▼ surely better than the product on the same
silicon and rows: Wilcoxon's signed-rank test, exact, paired over silicon, corrected by Holm over
the systems of a column, p < 0.05. † the authors define no prediction without measurements of the
device: the mean of the class stands there. A system without an adaptation of its own takes the
level of the measured networks: the median of what they are off by. Systems are written anew, in
their simplest form that is faithful to the paper; the section
[what each leaves open](#what-each-leaves-open) says where they differ. Times are by the clock on
one core, the least of the folds, as the machine had other work."""

_TRANSFORMERS: Final = """\
{count} runs of dense transformers in inference, FP32, one card, operators not fused. Errors are
means in percent, as the authors print them. Rows of **silicon left out** are of the folds above:
the card's silicon was in no training. **Card left out** and **card in training** are NeuSight's
form on its published operators of five cards. The authors' own split trains on all five and tests
on H100, L4 and A100-80GB, which are not in these data; an H100 that was timed for this page
follows. **Card profiled** is PM2Lat with
its own tables. The column of operators is the median error over single operators of a card: all of
one that was left out, a tenth that the tables had not. The networks are 32 wide in place of 512. As
no length of training is printed, it is chosen on the strongest training card, left out in turn;
trainings of NeuSight's form are timed by the clock with two threads, beside other work."""

_OWN_CARD: Final = """\
The same networks in PyTorch on an {card} that this project timed
(`python -m ctm_research.cards`; its image networks stand on
[another page](cards.md)): by NeuSight's protocol, but with a later PyTorch and CUDA,
so that its printed figure stands beside other measurements. No training has seen them, but they are
no blind test: the product's issue slots and overlap of starts were thought of when its errors here
were seen, and then taken up by what other cards and public figures say. PM2Lat's form alone reads
{operators} single operators of the card. Errors in percent:"""

_AMD: Final = """\
AMD's cards in NeuSight's training, without a goal. Its operators of them are not all public, so
that its form cannot be trained here: what the authors print stands beside. Mean errors, percent:"""

_GOAL: Final = """\
Goal for the product: under NeuSight on each unseen card (H100 6.1 %, L4 14.6 %). On the H100 above
the product is {own:.1f} % off, {verdict}. An L4 is not at hand. Against NeuSight's
printed errors on the five cards, which NeuSight was trained on and the product was not, the
product is lower on {better}. What was tried for it stands in
[decision 0016](../../../docs/decisions/0016-physics.md)."""

_SPACES: Final = """\
FBNet, the four partitions of the paper: 17 pairs of partition and test device, mean relative error
in %, on 500 unseen architectures after k samples of the device. All have the same probes. In
brackets: pairs where the method is surely worse ▲ and better ▼ than the kernel posterior, this
project's method there and not the product, by Wilcoxon's signed-rank test over draws, corrected by
Holm ([the systems beside each other](nas-systems.md)). LeDG-Former and TLP are not run here."""


_PRECISION: Final = """\
All INT8 runs of one runtime are left out of training, and those on Arm and x86 asked for; its FP32
runs stay, those of the same silicon too, and so does INT8 of other runtimes. LeDG-Former's authors
ask so for a T4's FP32.
Median error over silicon in %, nothing measured in INT8 / 3 networks measured. **Its FP32 twin**
is no prediction: the time that the same network took in FP32 there, on the rows that have one. The
last column has the same rows where all of the silicon was left out instead, and INT8 was not.
Systems that define nothing without measurements of the very target are left out."""

_WORDS: Final = """\
The product's answers for silicon that it had not seen are off by a level on each pair of class and
silicon. Regressions predict this level, the silicon left out once more in ten parts: from the
numbers that the device states (rates, kind, runtime, precision, threads), from the name of its
architecture, and from MiniLM's embedding of its text. Shrinkage is chosen on inner parts. Median
error of the product in %, {before:.1f} as it is:"""

_LENGTHS: Final = """\
All networks are trained for 1000 steps in the tables above. On silicon left out inside the training
part of the first fold, other lengths bring (each with its own decay of the rate; error in %,
k = 0 / 3 / 8, and seconds of a training):"""


def page(document: Document, origin: str, plot: str) -> str:
    """Return the Markdown page of a document of :mod:`.document`.

    Args:
        document: the document.
        origin: one sentence: which command wrote it, when and where.
        plot: name of the picture beside the page.
    """
    parts = [
        "# The systems of the field side by side",
        origin,
        f"![Errors of each system by number of measured networks]({plot})",
        "## Networks on runtimes and devices",
        _INTRODUCTION.format(
            **{**document, "classes": len(document["classes"]), "pairs": document["pairs"]}
        ),
        *_missing(document),
        *_best_systems(document),
        _whole(document),
        *_by_class(document),
        *_by_group(document),
        *_precision(document),
        *_words(document),
        *_transformers(document),
        *_spaces(document),
        *_lengths(document),
        "## What each leaves open",
        _open_points(document),
    ]
    return "\n\n".join(parts) + "\n"


def _missing(document: Document) -> Iterator[str]:
    missing = document["missing"]
    if missing:
        names = sorted({f"{SYSTEMS[name].label} ({name})" for name, _, _ in missing})
        yield f"Still missing, {len(missing)} trainings: {', '.join(names)}."


def _best_systems(document: Document) -> Iterator[str]:
    """Say which system has the least error at each k, and which comes next."""
    words = []
    for k in map(str, document["ks"]):
        ranked = sorted(
            (each["ks"][k]["error_percent"], each["label"])
            for each in document["systems"]
            if k in each["ks"] and each["ks"][k]["error_percent"] is not None
        )[:2]
        if len(ranked) == 2:
            first, second = (f"{label} ({error:.1f} %)" for error, label in ranked)
            words.append(f"k = {k}: {first}, then {second}")
    if words:
        yield f"Least errors: {'; '.join(words)}."


def _whole(document: Document) -> str:
    systems, ks = document["systems"], [str(k) for k in document["ks"]]
    best = {k: _best(systems, k) for k in ks}
    rows = []
    for each in systems:
        at = each["ks"]
        rows.append(
            [
                f"{'– ' if each['is_variant'] else ''}{each['label']}",
                *(_error(each, k, best[k]) for k in ks),
                " / ".join(_number(at.get(k, {}).get("covered_percent"), 0) for k in ks)
                if any(at.get(k, {}).get("covered_percent") for k in ks)
                else "-",
                _number(at.get("0", {}).get("answered_percent"), 0),
                f"{each['seeds']} of {each['seeds_planned']}",
                _number(each["fit_seconds"], 1),
                _number(each["predict_us"], 1),
                each["needs"],
            ]
        )
    header = [
        "system",
        *(f"k = {k}, error %" for k in ks),
        f"80 % interval covers, k = {' / '.join(ks)}",
        "answers % of rows",
        "trainings",
        "training, s a fold",
        "a prediction, µs",
        "needs",
    ]
    return table(header, rows)


def _best(systems: Sequence[Document], k: str) -> float | None:
    errors = [
        each["ks"][k]["error_percent"]
        for each in systems
        if k in each["ks"] and each["ks"][k]["answered_percent"] >= 80
    ]
    return min((error for error in errors if error is not None), default=None)


def _error(system: Document, k: str, best: float | None) -> str:
    at = system["ks"].get(k)
    if at is None or at["error_percent"] is None:
        return "-"
    text = f"{at['error_percent']:.1f}"
    if at["error_percent"] == best:
        text = f"**{text}**"
    if at["error_std"] is not None:
        text += f" ± {at['error_std']:.1f}"
    if at["is_sure"]:
        text += " ▲" if at["error_there_percent"] > at["product_percent"] else " ▼"
    if k == "0" and not system["is_defined_unmeasured"]:
        text += " †"
    return text


def _by_class(document: Document) -> Iterator[str]:
    yield "### By class"
    shown = [each for each in document["systems"] if each["ks"]]
    for k in map(str, document["ks"]):
        yield f"Median error in %, k = {k}:"
        yield table(
            ["class", *(each["label"] for each in shown)],
            [
                [klass, *(_number(each["ks"][k]["classes"].get(klass), 0) for each in shown)]
                for klass in document["classes"]
            ],
        )


def _by_group(document: Document) -> Iterator[str]:
    shown = [each for each in document["systems"] if each["ks"]]
    for group in document["groups"]:
        yield f"### By {group['title']}"
        for k in ("0", "3"):
            yield f"Median error in %, k = {k}; a network on a silicon counts once, then silicon:"
            yield table(
                [
                    group["title"],
                    "networks",
                    "silicon",
                    *(each["label"] for each in shown),
                ],
                [
                    [
                        name,
                        str(group["networks"][place]),
                        str(group["silicon"][place]),
                        *(
                            _number(each["ks"][k]["groups"][group["title"]][name], 0)
                            for each in shown
                        ),
                    ]
                    for place, name in enumerate(group["names"])
                ],
            )


def _precision(document: Document) -> Iterator[str]:
    entry = document["precision"]
    shown = [each for each in entry["systems"] if each["ks"]["0"]]
    if not entry["classes"] or not shown:
        return
    yield "## Unseen precision"
    yield _PRECISION
    if entry["missing"]:
        yield f"Still missing, {entry['missing']} trainings."
    yield table(
        [
            "system",
            *(
                f"{each['name']} ({each['measurements']} rows, {each['silicon']} silicon)"
                for each in entry["classes"]
            ),
            "all",
            "silicon left out instead",
        ],
        [
            [
                each["label"],
                *(
                    " / ".join(_number(each["ks"][k].get(name), 0) for k in each["ks"])
                    for name in (*(klass["name"] for klass in entry["classes"]), "all")
                ),
                _number(each["silicon_left_out"].get("all"), 0),
            ]
            for each in shown
        ],
    )


def _words(document: Document) -> Iterator[str]:
    """Say whether a text tells what numbers and architecture do not."""
    entry = document["words"]
    if not entry:
        return
    yield "## Does a text carry what numbers do not?"
    yield _WORDS.format(**entry)
    inputs = list(next(iter(entry["after"].values())))
    yield table(
        ["level predicted by", *inputs, "text adds, p"],
        [
            [learner, *(_number(errors[name], 1) for name in inputs), f"{entry['p'][learner]:.3f}"]
            for learner, errors in entry["after"].items()
        ],
    )
    yield (
        "Yes: with the text the error is surely lower than with numbers and architecture alone, "
        "and lower than the product's."
        if entry["adds"]
        else "No: with the text the error is not surely lower than with numbers and architecture "
        "alone and lower than the product's, so no embedding enters the product."
    )


def _lengths(document: Document) -> Iterator[str]:
    runs = document["lengths"]
    yield "## Length of training"
    if not runs:
        yield "All networks are trained for 1000 steps, set beforehand; no other length was run."
        return
    yield _LENGTHS
    steps = sorted({each["steps"] for each in runs})
    cells = {
        (each["label"], each["steps"]): " / ".join(_number(e, 1) for e in each["ks"].values())
        + f" ({each['seconds']:.0f} s)"
        for each in runs
    }
    yield table(
        ["network", *(f"{count} steps" for count in steps)],
        [
            [label, *(cells.get((label, count), "-") for count in steps)]
            for label in dict.fromkeys(each["label"] for each in runs)
        ],
    )


def _transformers(document: Document) -> Iterator[str]:
    field = document.get("transformers")
    if not field:
        return
    yield "## Transformers on NVIDIA's cards: NeuSight's own field"
    yield _TRANSFORMERS.format(count=field["count"])
    yield table(
        ["system", *field["cards"], "mean", "operators, median", "training, s", "a prediction, ms"],
        [
            [
                each["label"],
                *(_number(each["cards"].get(card), 1) for card in field["cards"]),
                _number(each["mean"], 1),
                _number(each.get("operators"), 1),
                _number(each.get("fit_seconds"), 1),
                _number(each.get("predict_ms"), 3),
            ]
            for each in field["systems"]
        ],
    )
    own = document["own_card"]
    names = list(own["networks"])
    yield "### An H100, timed for this page"
    yield _OWN_CARD.format(card=own["card"], operators=own["operators"])
    yield table(
        ["system", *names, "mean"],
        [
            ["measured, ms", *(_number(own["networks"][name], 1) for name in names), "-"],
            *(
                [each["label"], *(_number(e, 1) for e in each["errors"]), _number(each["mean"], 1)]
                for each in own["systems"]
            ),
            ["NeuSight as printed", *("-" for _ in names), _number(own["printed"], 1)],
        ],
    )
    yield "### AMD's cards"
    yield _AMD
    yield table(
        ["system", *field["amd"]["cards"], "mean"],
        [
            [
                each["label"],
                *(_number(each["cards"].get(card), 1) for card in field["amd"]["cards"]),
                _number(each["mean"], 1),
            ]
            for each in field["amd"]["systems"]
        ],
    )
    yield "### The goal"
    mean = own["systems"][0]["mean"]
    yield _GOAL.format(
        own=mean,
        verdict="under it" if mean < own["printed"] else "not under it",
        better=", ".join(field["product_under_printed"]) or "none",
    )


def _spaces(document: Document) -> Iterator[str]:
    spaces = document["spaces"]
    yield "## Search spaces"
    yield _SPACES
    if spaces["missing"]:
        yield f"Not there: {', '.join(spaces['missing'])}."
    if not spaces["methods"]:
        return
    ks = [str(k) for k in spaces["ks"]]
    yield table(
        [
            "method",
            *(f"k = {k}, RAE %" for k in ks),
            f"80 % interval covers, k = {' / '.join(ks)}",
            "trainings",
            "training, s",
            "adapt and predict, s",
            "note",
        ],
        [
            [
                each["label"],
                *(_space_error(each, k) for k in ks),
                " / ".join(_number(each["ks"][k].get("coverage"), 0) for k in ks)
                if each["ks"].get(ks[0], {}).get("coverage") is not None
                else "-",
                str(each["trainings"]),
                _number(each["training_s"], 1),
                _number(each["trial_s"], 2),
                each["note"],
            ]
            for each in spaces["methods"]
        ],
    )


def _space_error(method: Document, k: str) -> str:
    at = method["ks"].get(k)
    if at is None:
        return "-"
    mark = (
        f" ({at['worse']}▲ {at['better']}▼ of {at['cells']})" if method["name"] != PRODUCT else ""
    )
    return f"{at['rae']:.2f} ± {at['rae_std']:.2f}{mark}"


def _open_points(document: Document) -> str:
    told = {each["label"]: each["differs"] for each in document["systems"]} | dict(NOT_RUN)
    return "\n".join(f"- **{label}**: {text}" for label, text in told.items())


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
