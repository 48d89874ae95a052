"""Figures of the systems on the corpus, paired over silicon with the product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.figures import OfSilicon, of_silicon
from ctm_research.evaluation.judge.groups import Floats, Numbers, numbered
from ctm_research.evaluation.judge.judged import Judged
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.groupings import Grouping, group_errors, groupings
from ctm_research.evaluation.systems.registry import PRODUCT, SYSTEMS
from ctm_research.evaluation.systems.run import KS, Finished
from ctm_research.goals import LEAST_SILICON
from ctm_research.nas.benchmark.significance import holm, signed_rank_test

Entry = dict[str, object]
_SURE: Final = 0.05

# Answers of the seeds of a system at one k.
Seeds = Sequence[Answers]


def judged_classes(judged: Judged) -> Numbers:
    """Return the numbers of the classes with enough silicon to be told apart from chance."""
    first, _ = numbered(judged.class_of(judged.rows), judged.silicon_of(judged.rows))
    klass = judged.class_of(judged.rows[first])
    return np.flatnonzero(np.bincount(klass) >= LEAST_SILICON)


def entries(field: Field, finished: Sequence[Finished], names: Sequence[str]) -> list[Entry]:
    """Return the figures of each system, the product first, as plain values."""
    whole = {name: joined(finished, name, len(field.folds)) for name in names}
    product = whole.get(PRODUCT)
    groups = groupings(field)
    result = [_entry(field, name, whole[name], finished, product, groups) for name in names]
    for k in KS:
        compared = [each["ks"][str(k)] for each in result if str(k) in each["ks"]]  # type: ignore[index,operator]
        compared = [each for each in compared if each["p"] is not None]
        for each, p in zip(compared, holm([each["p"] for each in compared]), strict=True):
            each["p_holm"] = p
            each["is_sure"] = p < _SURE
    return result


def joined(finished: Sequence[Finished], name: str, folds: int) -> dict[int, list[Answers]]:
    """Return the answers of a system by k, one for each seed whose folds are all finished."""
    result: dict[int, list[Answers]] = {}
    for seed in range(SYSTEMS[name].seeds):
        mine = [each for each in finished if each.unit[:2] == (name, seed)]
        if len(mine) == folds:
            for k in KS:
                parts = [each.answers[k] for each in mine]
                result.setdefault(k, []).append(
                    Answers(
                        *(
                            np.concatenate([getattr(part, column) for part in parts])
                            for column in ("rows", "log_ms", "deviation")
                        )
                    )
                )
    return result


def _entry(
    field: Field,
    name: str,
    whole: Mapping[int, Seeds],
    finished: Sequence[Finished],
    product: Mapping[int, Seeds] | None,
    groups: Sequence[Grouping],
) -> Entry:
    entry = SYSTEMS[name]
    mine = [each for each in finished if each.unit.system == name]
    return {
        "name": name,
        "label": entry.label,
        "is_variant": entry.is_variant,
        "needs": entry.needs,
        "differs": entry.differs,
        "is_defined_unmeasured": entry.is_defined_unmeasured,
        "seeds": len(whole.get(0, ())),
        "seeds_planned": entry.seeds,
        # The least: other work on the machine only adds to times by the clock.
        "fit_seconds": min((each.fit_seconds for each in mine), default=None),
        "predict_us": min((each.predict_us for each in mine), default=None),
        "ks": {
            str(k): {
                **_at(field.judged, seeds, None if product is None else product.get(k), name),
                "groups": {each.title: group_errors(field.judged, seeds, each) for each in groups},
            }
            for k, seeds in whole.items()
        },
    }


def median_error(judged: Judged, seeds: Seeds) -> float | None:
    """Return the median error in percent over pairs of class and silicon, mean over trainings."""
    classes = judged_classes(judged)
    errors = [100 * _whole(of_silicon(judged, each), classes) for each in seeds]
    return float(np.mean(errors)) if np.isfinite(errors).all() else None


def _at(judged: Judged, seeds: Seeds, product: Seeds | None, name: str) -> Entry:
    classes = judged_classes(judged)
    tables = [of_silicon(judged, each) for each in seeds]
    each_seed = [100 * _whole(table, classes) for table in tables]
    known = np.isfinite(seeds[0].log_ms)
    entry: Entry = {
        "error_percent": float(np.mean(each_seed)) if np.isfinite(each_seed).all() else None,
        "error_std": float(np.std(each_seed)) if len(seeds) > 1 else None,
        "covered_percent": _covered(tables[0], classes),
        "answered_percent": 100 * float(known.mean()),
        "classes": {str(judged.classes[c]): _of_class(tables, c) for c in classes.tolist()},
        "p": None,
        "p_holm": None,
        "is_sure": False,
        "product_percent": None,
    }
    if name != PRODUCT and product:
        own, other = paired(judged, seeds, product[0], classes)
        if len(own):
            entry["p"] = signed_rank_test(own - other)
            entry["product_percent"] = 100 * float(np.median(other))
            entry["error_there_percent"] = 100 * float(np.median(own))
    return entry


def paired(
    judged: Judged, seeds: Seeds, product: Answers, classes: Numbers
) -> tuple[Floats, Floats]:
    """Return the errors of a system and of the product on the silicon and rows of both.

    Each is [P], over pairs of class and silicon; that of the system is its mean over seeds.
    """
    known = np.isfinite(seeds[0].log_ms) & np.isfinite(product.log_ms)
    own = np.mean([of_silicon(judged, _some(each, known)).error for each in seeds], axis=0)
    table = of_silicon(judged, _some(product, known))
    chosen = np.isin(table.klass, classes) & np.isfinite(own) & np.isfinite(table.error)
    return own[chosen], table.error[chosen]


def _some(answers: Answers, known: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Answers:
    return replace(
        answers,
        rows=answers.rows[known],
        log_ms=answers.log_ms[known],
        deviation=answers.deviation[known],
    )


def _whole(table: OfSilicon, classes: Numbers) -> float:
    """Return the median error over pairs of class and silicon."""
    errors = table.error[np.isin(table.klass, classes) & np.isfinite(table.error)]
    return float(np.median(errors)) if len(errors) else float("nan")


def _covered(table: OfSilicon, classes: Numbers) -> float | None:
    covered = table.covered[np.isin(table.klass, classes) & np.isfinite(table.covered)]
    return 100 * float(covered.mean()) if len(covered) else None


def _of_class(tables: Sequence[OfSilicon], klass: int) -> float | None:
    """Return the median over silicon of its error in percent, mean over seeds."""
    errors = np.array([table.error[table.klass == klass] for table in tables])
    errors = errors[:, np.isfinite(errors).all(axis=0)]
    return 100 * float(np.median(errors, axis=1).mean()) if errors.size else None
