"""Errors by family of networks, as papers print them, and by kind of device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.groups import Numbers, medians, numbered
from ctm_research.evaluation.judge.judged import Judged
from ctm_research.evaluation.systems.field import Field
from ctm_research.goals import LEAST_SILICON
from predictor.devices.architectures import kind

_MOST_SHOWN: Final = 16


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Measurements by a name.

    Attributes:
        title: such as ``family of networks``.
        names: by their numbers.
        number: int64 [M], of each measurement.
        shown: numbers of the groups with enough silicon, most measurements first.
        networks: distinct ones among the drawn measurements of each shown group.
        silicon: likewise.
    """

    title: str
    names: tuple[str, ...]
    number: Numbers
    shown: tuple[int, ...]
    networks: tuple[int, ...]
    silicon: tuple[int, ...]


def groupings(field: Field) -> tuple[Grouping, Grouping]:
    """Return the families of networks and the kinds of devices of a field."""
    judged = field.judged
    kinds, of_target = np.unique(
        [kind(each.device) for each in judged.targets], return_inverse=True
    )
    return (
        _grouping(
            field, "family of networks", judged.corpus.families, judged.family, LEAST_SILICON
        ),
        _grouping(field, "kind of device", kinds.tolist(), of_target[judged.target], 2),
    )


def _grouping(
    field: Field, title: str, names: Sequence[str], number: Numbers, least_silicon: int
) -> Grouping:
    rows = field.rows

    def distinct(each: int, of: Numbers) -> int:
        return len(np.unique(of[number[rows] == each]))

    sizes = np.bincount(number[rows], minlength=len(names))
    silicon, network = field.judged.silicon_of(rows), field.judged.network[rows]
    shown = [
        each
        for each in np.argsort(-sizes, kind="stable").tolist()
        if distinct(each, silicon) >= least_silicon
    ][:_MOST_SHOWN]
    return Grouping(
        title,
        tuple(names),
        number,
        tuple(shown),
        tuple(distinct(each, network) for each in shown),
        tuple(distinct(each, silicon) for each in shown),
    )


def group_errors(
    judged: Judged, seeds: Sequence[Answers], grouping: Grouping
) -> dict[str, float | None]:
    """Return the median error in percent of each shown group, mean over trainings.

    Each network on a silicon counts once, then each silicon.
    """
    errors = np.array([_errors(judged, each, grouping) for each in seeds]).mean(axis=0)
    return {
        grouping.names[each]: 100 * float(errors[each]) if np.isfinite(errors[each]) else None
        for each in grouping.shown
    }


def _errors(
    judged: Judged, answers: Answers, grouping: Grouping
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    rows = answers.rows
    error = np.abs(np.expm1(answers.log_ms - judged.log_latency[rows]))
    group, silicon = grouping.number[rows], judged.silicon_of(rows)
    first, cell = numbered(group, silicon, judged.network[rows])
    error, group, silicon = medians(cell, error, len(first)), group[first], silicon[first]
    first, cell = numbered(group, silicon)
    return medians(group[first], medians(cell, error, len(first)), len(grouping.names))
