"""The content of a corpus as tables for people."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ctm_research.corpus.corpus import Corpus, Rows
from ctm_research.corpus.noise import NoiseFloor, noise_floors
from ctm_research.corpus.spreads import StatisticSpread

START = "<!-- written by python -m ctm_research.corpus -->"
END = "<!-- end of what is written -->"

_COUNTS = (
    *("source", "measurements", "graphs", "networks", "families"),
    *("targets", "devices", "silicon", "not in the catalogue"),
)
_NOISE = (
    *("source", "repeats", "median apart", "90 % within", "deviation of one"),
    *("rounding, median", "rounding over 1 %"),
)

_SPREADS = ("source", "taken", "other", "runs", "median above", "90 % within")


def summary(corpus: Corpus, spreads: Sequence[StatisticSpread]) -> str:
    """Return tables in Markdown: counts, noise floors, rows that are left out."""
    counts = [_counts(corpus, source, corpus.rows_of(source)) for source in corpus.sources]
    total = _counts(corpus, "all", np.arange(len(corpus.measurements)))
    sections = [
        table(_COUNTS, [*counts, total]),
        "Noise floor:",
        table(_NOISE, [_noise(floor) for floor in noise_floors(corpus)]),
        "Another statistic of the same runs, over the one that is taken:",
        table(_SPREADS, [_spread(spread) for spread in spreads]),
        "Left out:",
        table(("source", "rows", "why"), _left_out(corpus)),
    ]
    if corpus.absent:
        sections.append(f"Not in the data folder: {', '.join(corpus.absent)}.")
    return "\n\n".join(sections)


def with_summary(page: str, text: str) -> str:
    """Return a page with the text between its two marks replaced.

    Raises:
        ValueError: the page has no such marks.
    """
    head, _, rest = page.partition(START)
    _, mark, tail = rest.partition(END)
    if not mark:
        raise ValueError(f"the page has no lines {START} and {END}")
    return f"{head}{START}\n\n{text}\n\n{END}{tail}"


def _counts(corpus: Corpus, name: str, rows: Rows) -> list[str]:
    graphs = np.unique(corpus.measurements.graph[rows])
    targets = [corpus.targets[t] for t in np.unique(corpus.measurements.target[rows]).tolist()]
    devices = {(target.device_id, target.source, target.device) for target in targets}
    counts = (
        len(rows),
        len(graphs),
        len(np.unique(corpus.graphs.network[graphs])),
        len(np.unique(corpus.graphs.family[graphs])),
        len(targets),
        len(devices),
        len({target.silicon for target in targets}),
        sum(not device_id for device_id, _, _ in devices),
    )
    return [name, *map(str, counts)]


def _noise(floor: NoiseFloor) -> list[str]:
    return [
        floor.source,
        str(floor.pairs),
        _percent(floor.median_percent),
        _percent(floor.worst_percent),
        _percent(100 * floor.deviation),
        _percent(floor.rounding_percent),
        _percent(100 * floor.rounded),
    ]


def _spread(spread: StatisticSpread) -> list[str]:
    return [
        spread.source,
        spread.taken,
        spread.other,
        str(spread.runs),
        _percent(spread.median_percent),
        _percent(spread.worst_percent),
    ]


def _percent(value: float) -> str:
    return "none at hand" if math.isnan(value) else f"{value:.2g} %"


def _left_out(corpus: Corpus) -> list[list[str]]:
    return [
        [source, str(count), reason]
        for source, counts in corpus.left_out.items()
        for reason, count in sorted(counts.items(), key=lambda item: -item[1])
    ]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
