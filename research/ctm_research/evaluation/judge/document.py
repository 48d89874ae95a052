"""The result of a judgement as a JSON document."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from ctm_research.corpus.ledger import Ledger, RowClass
from ctm_research.evaluation.judge.asked import SETTINGS, Answers, ask
from ctm_research.evaluation.judge.engines import ClassEstimate, JudgedEngine, Roofline
from ctm_research.evaluation.judge.figures import (
    OfSilicon,
    figure,
    noise_percent,
    of_silicon,
    ratio_bound,
)
from ctm_research.evaluation.judge.judged import NO_CLASS, Class, Judged
from ctm_research.evaluation.judge.laws import count_violations, law_entries
from ctm_research.evaluation.judge.shipped import SEEN, shipped_answers
from ctm_research.goals import LEAST_SILICON, goal_of
from predictor.core.progress import CancelToken, ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.cost.engine import Engine
from predictor.graph.operator_graph import OperatorGraph

Entry = dict[str, object]
DRAWS: Final = 5


@dataclass(frozen=True, slots=True)
class Shipped:
    """An engine as it is, and the sources that it has learned from."""

    engine: Engine
    sources: Collection[str]


@dataclass(frozen=True, slots=True)
class LawCheck:
    """Engines, networks by name and devices that the laws are counted on."""

    engines: Sequence[Engine]
    graphs: Mapping[str, OperatorGraph]
    devices: Sequence[Device]

    def entries(self, progress: ProgressCallback, cancel: CancelToken | None) -> Entry:
        """Return the violations of each engine by its name."""
        counts = {
            engine.name: count_violations(engine, self.graphs, self.devices, progress, cancel)
            for engine in self.engines
        }
        return {
            "networks": list(self.graphs),
            "devices": len(self.devices),
            "engines": {name: law_entries(each) for name, each in counts.items()},
        }


Tables = Mapping[str, Mapping[str, OfSilicon]]


def judge(
    judged: Judged,
    engines: Collection[JudgedEngine] = (),
    seed: int = 0,
    draws: int = DRAWS,
    shipped: Shipped | None = None,
    checked: LawCheck | None = None,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> Entry:
    """Judge engines beside the roofline and the class estimate.

    Args:
        judged: the measurements.
        engines: those that are trained in each fold.
        seed: of folds and draws.
        draws: of measured networks of each target.
        shipped: an engine as it is.
        checked: what predictions are held against the laws; None for no count.
        progress: told before each training.
        cancel: asks to stop.

    Returns:
        The document as plain values; one that is not known is None.

    Raises:
        CancelledError: a stop was asked for.
    """
    tables: dict[str, dict[str, OfSilicon]] = {}
    every: list[JudgedEngine] = [Roofline(), ClassEstimate(), *engines]
    for engine in every:
        tables[engine.name] = _tables(judged, ask(engine, judged, seed, draws, progress, cancel))
    if shipped is not None:
        answers = shipped_answers(shipped.engine, judged, shipped.sources, seed, progress, cancel)
        tables[shipped.engine.name] = _tables(judged, answers)
    return {
        "evaluation": "classes",
        "seed": seed,
        "draws": draws,
        "engines": list(tables),
        "shipped": None if shipped is None else shipped.engine.name,
        "classes": [
            _class(judged, number, tables, seed)
            for number in np.unique(judged.class_of(judged.rows)).tolist()
        ],
        "sources": _sources(judged),
        "laws": None if checked is None else checked.entries(progress, cancel),
    }


def _tables(judged: Judged, answers: Mapping[str, Answers]) -> dict[str, OfSilicon]:
    return {setting: of_silicon(judged, each) for setting, each in answers.items()}


def _class(judged: Judged, number: int, tables: Tables, seed: int) -> Entry:
    rows = judged.rows[judged.class_of(judged.rows) == number]
    klass, silicon = judged.classes[number], len(np.unique(judged.silicon_of(rows)))
    return {
        "class": str(klass),
        **asdict(klass),
        "silicon": silicon,
        "devices": len(np.unique(judged.device[judged.target[rows]])),
        "targets": len(np.unique(judged.target[rows])),
        "networks": len(np.unique(judged.network[rows])),
        "rows": len(rows),
        **_published(klass, judged.ledger),
        "noise_percent": noise_percent(judged, rows),
        "settings": {
            setting: {
                "goal": asdict(goal) if goal and silicon >= LEAST_SILICON else None,
                "engines": {
                    name: _figures(of_setting[setting], tables, setting, number, seed)
                    for name, of_setting in tables.items()
                    if setting in of_setting and (of_setting[setting].klass == number).any()
                },
            }
            for setting in (*SETTINGS, SEEN)
            for goal in [goal_of(klass.kind, klass.runtime, setting)]
        },
    }


def _published(klass: Class, ledger: Ledger | None) -> Entry:
    """Return the parts of the published runs and devices of a class that the corpus has."""
    rows = None if ledger is None else ledger.classes.get(RowClass(klass.runtime, klass.kind))
    if rows is None:
        return {"used_percent": None, "devices_used_percent": None, "left_out": {}}
    return {
        "used_percent": 100 * rows.used / max(rows.rows, 1),
        "devices_used_percent": 100 * rows.devices_used / max(len(rows.devices), 1),
        "left_out": dict(rows.left_out.most_common()),
    }


def _figures(table: OfSilicon, tables: Tables, setting: str, number: int, seed: int) -> Entry:
    floor = tables[ClassEstimate.name].get(setting)
    is_floor = floor is None or floor is table
    pair = None if is_floor or floor is None else ratio_bound(table, floor, number, seed)
    ratio, bound = pair or (None, None)
    return {**asdict(figure(table, number)), "ratio": ratio, "ratio_bound": bound}


def _sources(judged: Judged) -> list[Entry]:
    """Return the measurements that are judged, and those that are not, by source."""
    corpus = judged.corpus
    source, size = corpus.measurements.source, len(corpus.sources)
    whole = np.bincount(source, minlength=size)
    used = np.bincount(source[judged.rows], minlength=size)
    listed = judged.klass[judged.target] != NO_CLASS
    unlisted = np.bincount(source[~listed], minlength=size)
    return [
        {
            "source": name,
            "judged": int(used[place]),
            "without_device": int(unlisted[place]),
            "single_operators": int(whole[place] - used[place] - unlisted[place]),
            "left_out": dict(corpus.left_out.get(name, {})),
        }
        for place, name in enumerate(corpus.sources)
    ]
