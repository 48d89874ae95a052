"""The comparison of the systems as a JSON document."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ctm_research.corpus import open_corpus
from ctm_research.evaluation.judge.groups import numbered
from ctm_research.evaluation.judge.judged import judged_of
from ctm_research.evaluation.systems.field import FOLDS, MOST_NETWORKS, Field
from ctm_research.evaluation.systems.figures import Entry, entries, judged_classes
from ctm_research.evaluation.systems.groupings import groupings
from ctm_research.evaluation.systems.lengths import length_entries
from ctm_research.evaluation.systems.own_card import own_card_entry
from ctm_research.evaluation.systems.precision import precision_entry
from ctm_research.evaluation.systems.registry import SYSTEMS, check_names
from ctm_research.evaluation.systems.run import DRAWS, KS, run, units_of
from ctm_research.evaluation.systems.spaces import space_entry
from ctm_research.evaluation.systems.transformers import transformer_entry
from ctm_research.evaluation.systems.words import words_entry
from predictor.core.progress import ProgressCallback, no_progress
from predictor.core.records import Device

_SEED = 0


def compare(
    data: Path,
    devices: Mapping[str, Device],
    systems: Sequence[str],
    work: Path,
    seconds: float,
    progress: ProgressCallback = no_progress,
) -> Entry:
    """Train and ask the systems on the measurements of a data folder.

    Args:
        data: folder with one folder a source.
        devices: the catalogue by id.
        systems: names; all for none.
        work: folder of what is finished, beside the documents of search spaces.
        seconds: after which no further training is begun.
        progress: told before each training.

    Returns:
        The document as plain values.

    Raises:
        InputError: a system is unknown, a source is missing, or a file is damaged.
        HostError: an answer cannot be written, or a library is missing.
    """
    check_names(list(systems))
    names = list(systems) or list(SYSTEMS)
    judged = judged_of(open_corpus(data, progress=progress), devices)
    field = Field.of(judged, _SEED)
    begun = time.monotonic()

    def left() -> float:
        return seconds - (time.monotonic() - begun)

    finished = run(field, units_of(names, FOLDS), work, seconds, progress)
    done = {each.unit for each in finished}
    classes = judged_classes(judged)
    asked = field.rows[np.isin(judged.class_of(field.rows), classes)]
    return {
        "evaluation": "systems",
        "folds": FOLDS,
        "draws": DRAWS,
        "ks": list(KS),
        "networks_of_a_target": MOST_NETWORKS,
        "measurements": len(field.rows),
        "targets": len(set(judged.target[field.rows].tolist())),
        "classes": [str(judged.classes[each]) for each in classes.tolist()],
        "pairs": len(numbered(judged.class_of(asked), judged.silicon_of(asked))[0]),
        "systems": entries(field, finished, names),
        "groups": [
            {
                "title": each.title,
                "names": [each.names[number] for number in each.shown],
                "networks": list(each.networks),
                "silicon": list(each.silicon),
            }
            for each in groupings(field)
        ],
        "transformers": transformer_entry(data, field, finished, work, may_train=left() > 0),
        "own_card": own_card_entry(data, work, may_train=left() > 0, progress=progress),
        "spaces": space_entry(work.parent),
        "precision": precision_entry(field, finished, names, work, left(), progress),
        "words": words_entry(field, finished, work, may_train=left() > 0),
        "lengths": length_entries(field, names, work, left(), progress),
        "missing": [list(unit) for unit in units_of(names, FOLDS) if unit not in done],
    }
