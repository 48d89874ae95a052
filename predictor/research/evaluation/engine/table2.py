"""The page in the form of the paper's Table 2: an engine and FLAT on the same held-out devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from predictor.calibration.scores import Scores
from predictor.core.markdown import cell, table
from predictor.core.records import Configuration
from predictor.core.text import plural
from predictor.research.corpus import Corpus
from predictor.research.corpus.single_operators import OPERATOR_FAMILY
from predictor.research.evaluation.engine.validation import Answered, Validation

PART: Final = "unseen_device"
_KS: Final = (8, 20)
_LEAST_NETWORKS: Final = 10  # predicted on a target
_FIGURES: Final = {
    "rae_percent": "RAE %",
    "acc5_percent": "within 5 %",
    "acc10_percent": "within 10 %",
    "acc15_percent": "within 15 %",
}
_METHODS: Final = ("FLAT", "ours")

Pair = tuple[float | None, float | None]
"""A figure of FLAT and of the engine."""


@dataclass(frozen=True, slots=True)
class Line:
    """One held-out target with one k, or the mean over those of a source.

    Attributes:
        source: name.
        name: of the target with its configuration.
        k: measured networks that were read.
        networks: distinct ones that were predicted; of a mean the targets.
        figures: by the names of :class:`predictor.calibration.scores.Scores`.
    """

    source: str
    name: str
    k: int
    networks: int
    figures: dict[str, Pair]

    def is_better(self, figure: str) -> bool:
        """Whether the engine is better than FLAT, as far as the written numbers tell."""
        return _best(figure, self.figures[figure]) == (False, True)


def asked(validation: Validation) -> dict[str, tuple[int, ...]]:
    """Return the values of k that each source was validated with: FLAT is asked for the same.

    All sources are named, so a validation draws the same probes for the same k.
    """
    ks: dict[str, tuple[int, ...]] = dict.fromkeys(validation.sources, ())
    for answered in validation.answered:
        if answered.part == PART and answered.k in _KS:
            for source in np.unique(answered.source).tolist():
                ks[validation.sources[source]] += (answered.k,)
    return ks


def compared(ours: Validation, flat: Validation, corpus: Corpus) -> list[Line]:
    """Return a line a target and k, by k and source.

    Single operators are no networks, and targets with fewer than ten of them are left out.

    Raises:
        ValueError: the two answer different measurements.
    """
    of_flat = {(answered.part, answered.k): answered for answered in flat.answered}
    lines = [
        line
        for answered in ours.answered
        if answered.part == PART and answered.k in _KS
        for line in _lines(answered, of_flat[answered.part, answered.k], corpus)
    ]
    return sorted(lines, key=lambda line: (line.k, line.source, line.name))


def means(lines: Sequence[Line]) -> list[Line]:
    """Return the means over the targets of each source and k, in the order of ``lines``."""
    groups: dict[tuple[str, int], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.source, line.k), []).append(line)
    return [
        Line(
            source,
            "",
            k,
            len(group),
            {name: _mean([line.figures[name] for line in group]) for name in _FIGURES},
        )
        for (source, k), group in groups.items()
    ]


def findings(lines: Sequence[Line]) -> str:
    """Return one or two sentences that sum up the lines."""
    lower = sum(line.is_better("rae_percent") for line in lines)
    larger = sum(line.is_better("acc10_percent") for line in lines)
    by_source = means(lines)
    ahead = sum(line.is_better("rae_percent") for line in by_source)
    ranked = sorted(by_source, key=_ratio)
    return (
        f"The engine has the lower RAE on {lower} of {len(lines)} lines and the larger share "
        f"within 10 % on {larger}. Averaged over the targets of a source, its RAE is lower in "
        f"{ahead} of {len(by_source)} cases, from {_against(ranked[0])} to {_against(ranked[-1])}."
    )


def table2_page(
    ours: Validation, flat: Validation, corpus: Corpus, conditions: Sequence[str]
) -> str:
    """Return the page.

    Args:
        ours: answers of the engine.
        flat: of FLAT, on the same measurements after the same probes.
        corpus: the measurements.
        conditions: lines of the head, Markdown.

    Raises:
        ValueError: the two answer different measurements.
    """
    lines = compared(ours, flat, corpus)
    sections = [
        _INTRODUCTION.format(seeds=ours.seeds, least=_LEAST_NETWORKS),
        "\n".join(conditions),
    ]
    if lines:
        sections += [findings(lines), _section("Mean over the targets of a source", means(lines))]
    for k in dict.fromkeys(line.k for line in lines):
        of_k = [line for line in lines if line.k == k]
        sections.append(_section(f"By device and configuration, k = {k}", of_k))
    return "\n\n".join(sections) + "\n"


_INTRODUCTION: Final = """\
# The learned engine and FLAT on held-out devices

The form of Table 2 of the paper, on published measurements of devices that neither has seen.
RAE is the mean of |predicted - measured| / measured, beside it the share of predictions with an
error of at most 5, 10 and 15 %, the better one in bold. k networks that were measured on the
device are read and its others predicted, the same ones by both, in {seeds} draws. Listed are
targets with at least {least} predicted networks; single operators are left out.

FLAT (Akhauri and Abdelfattah, MLSys 2024) is this project's implementation of the method for
operator graphs of any size: one network a source, trained on the same training measurements, a
learned embedding of each target, no facts of devices. A new target starts as the most
correlated one of training and is fine-tuned on the k latencies, as was best on targets of
training left out."""


def _lines(ours: Answered, flat: Answered, corpus: Corpus) -> list[Line]:
    if not np.array_equal(ours.row, flat.row):
        raise ValueError(f"k = {ours.k}: the two answer different measurements")
    graphs = corpus.measurements.graph[ours.row]
    family = corpus.graphs.family[graphs]
    is_network = np.array([name != OPERATOR_FAMILY for name in corpus.families])[family]
    keys = np.stack([ours.source, ours.target], axis=1)
    lines = []
    for source, target in np.unique(keys[is_network], axis=0).tolist():
        rows = np.flatnonzero(is_network & (keys == (source, target)).all(axis=1))
        networks = len(np.unique(graphs[rows]))
        if networks < _LEAST_NETWORKS:
            continue
        pair = Scores.of(flat.answers.take(rows)), Scores.of(ours.answers.take(rows))
        figures = {name: (getattr(pair[0], name), getattr(pair[1], name)) for name in _FIGURES}
        lines.append(Line(corpus.sources[source], _name(corpus, target), ours.k, networks, figures))
    return lines


def _name(corpus: Corpus, target: int) -> str:
    measured = corpus.targets[target]
    c = measured.configuration
    runtime = (c.runtime,) if c.runtime != Configuration().runtime else ()
    threads = (plural(c.threads, "thread"),) if c.threads else ()
    return ", ".join((measured.device_id or measured.device, *runtime, c.precision, *threads))


def _mean(pairs: Sequence[Pair]) -> Pair:
    flat, ours = ([v for v in column if v is not None] for column in zip(*pairs, strict=True))
    return (float(np.mean(flat)) if flat else None, float(np.mean(ours)) if ours else None)


def _ratio(line: Line) -> float:
    flat, ours = line.figures["rae_percent"]
    return float("inf") if not flat or ours is None else ours / flat


def _against(line: Line) -> str:
    flat, ours = line.figures["rae_percent"]
    return f"{cell(ours)} % against {cell(flat)} % ({line.source}, k = {line.k})"


def _best(figure: str, pair: Pair) -> tuple[bool, bool]:
    """Return of both whether it is the better one; two True where they are written alike."""
    sign = 1 if figure == "rae_percent" else -1
    flat, ours = (float("inf") if v is None else sign * round(v, 2) for v in pair)
    best = min(flat, ours)
    return flat == best < float("inf"), ours == best < float("inf")


def _section(title: str, lines: Sequence[Line]) -> str:
    of_targets = bool(lines[0].name)
    first = ("source", "device and configuration", "networks") if of_targets else _MEAN_HEADER
    header = (*first, *(f"{title} {m}" for title in _FIGURES.values() for m in _METHODS))
    return f"## {title}\n\n{table(header, [_cells(line) for line in lines])}"


_MEAN_HEADER: Final = ("source", "k", "targets")


def _cells(line: Line) -> list[object]:
    cells: list[object] = [line.source, line.name or line.k, line.networks]
    for name, pair in line.figures.items():
        for value, is_best in zip(pair, _best(name, pair), strict=True):
            cells.append(f"**{cell(value)}**" if is_best else cell(value))
    return cells
