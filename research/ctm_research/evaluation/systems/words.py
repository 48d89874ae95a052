"""Whether a device's text knows what its numbers and its architecture do not.

The product's answers for silicon that it had not seen are off by a level. Regressions predict this
level from the device's numbers, the name of its architecture and the embedding of its text; the
silicon of the asked level is left out once more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.figures import of_silicon
from ctm_research.evaluation.judge.folds import silicon_parts
from ctm_research.evaluation.judge.groups import Floats, Numbers, medians, numbered
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.figures import joined, judged_classes
from ctm_research.evaluation.systems.registry import PRODUCT
from ctm_research.evaluation.systems.run import Finished, kept_document
from ctm_research.nas.benchmark.significance import holm, signed_rank_test
from predictor.devices.architectures import architecture_id

Entry = dict[str, Any]
Predict = Callable[[Floats], Floats]
Fit = Callable[[Floats, Floats, Numbers], Predict]
_PARTS: Final = 10
_SEED: Final = 0
_SHRINK: Final = (0.1, 1.0, 10.0, 100.0, 1e3)
_SURE: Final = 0.05
_NUMBERS, _NAME, _TEXT = "numbers", "architecture", "text"
INPUTS: Final = ((_NUMBERS,), (_NUMBERS, _NAME), (_TEXT,), (_NUMBERS, _NAME, _TEXT))


def words_entry(
    field: Field, finished: Sequence[Finished], work: Path, *, may_train: bool
) -> Entry | None:
    """Return the product's errors after each correction, None where nothing is finished.

    Args:
        field: the measurements.
        finished: answers, the product's among them.
        work: folder of what is finished.
        may_train: whether there is time left to embed the texts of the devices.

    Raises:
        InputError: a kept result is damaged.
        HostError: the result cannot be kept, or the sentence encoder is not installed.
    """
    whole = joined(finished, PRODUCT, len(field.folds)).get(0)
    if not whole:
        return None
    answers = whole[0]
    digest = hashlib.sha256(answers.log_ms.tobytes() + answers.rows.tobytes())
    digest.update(Path(__file__).read_bytes())
    path = work / f"words-{digest.hexdigest()[:12]}.json"

    def trained() -> Entry:
        return corrected(field, answers, _columns(field))

    return kept_document(path, trained if may_train else None)


def _columns(field: Field) -> dict[str, Floats]:
    """Return the inputs of the T targets, each kind of about length 1 a target."""
    from ctm_research.evaluation.systems.ledg_former import platform_text  # noqa: PLC0415
    from ctm_research.evaluation.systems.sentences import embeddings  # noqa: PLC0415

    targets = field.judged.targets
    names = np.array([architecture_id(each.device) for each in targets])
    text = embeddings([platform_text(each) for each in targets])
    return {
        _NUMBERS: _even(field.platforms),
        _NAME: (names[:, None] == np.unique(names)).astype(np.float64),
        _TEXT: _even(text.astype(np.float64)),
    }


def _even(values: Floats) -> Floats:
    scaled = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-3)
    even: Floats = scaled / np.sqrt(values.shape[1])
    return even


def corrected(field: Field, answers: Answers, columns: Mapping[str, Floats]) -> Entry:
    """Return the errors of some answers, and after their levels are predicted from each input."""
    before = _of_pairs(field, answers)
    after = {
        learner: {
            " + ".join(names): _of_pairs(
                field, _moved(field, answers, np.column_stack([columns[n] for n in names]), fit)
            )
            for names in INPUTS
        }
        for learner, fit in (("ridge", _ridge_chosen), ("trees", _trees))
    }
    plain, every = (" + ".join(INPUTS[place]) for place in (1, 3))
    p = holm([signed_rank_test(each[every] - each[plain]) for each in after.values()])
    return {
        "before": _median(before),
        "after": {
            learner: {name: _median(errors) for name, errors in each.items()}
            for learner, each in after.items()
        },
        "p": dict(zip(after, p, strict=True)),
        "adds": any(
            sure < _SURE and _median(each[every]) < min(_median(each[plain]), _median(before))
            for each, sure in zip(after.values(), p, strict=True)
        ),
    }


def _moved(field: Field, answers: Answers, inputs: Floats, fit: Fit) -> Answers:
    """Return answers at the levels that inputs [T, D] predict, each without its own silicon."""
    judged, rows = field.judged, answers.rows
    # A level a pair of class and silicon: targets that differ by threads tell little more.
    first, pair = numbered(judged.class_of(rows), judged.silicon_of(rows))
    level = medians(pair, judged.log_latency[rows] - answers.log_ms, len(first))
    part = silicon_parts(judged, rows, _SEED, _PARTS)[judged.silicon_of(rows[first])]
    of_pair = inputs[judged.target[rows[first]]]
    shift = np.zeros(len(first))
    for number in np.unique(part).tolist():
        held = part == number
        shift[held] = fit(of_pair[~held], level[~held], part[~held])(of_pair[held])
    return replace(answers, log_ms=answers.log_ms + shift[pair])


def _median(errors: Floats) -> float:
    return 100 * float(np.median(errors))


def _of_pairs(field: Field, answers: Answers) -> Floats:
    """Return the errors of the judged pairs of class and silicon, ordered by both."""
    table = of_silicon(field.judged, answers)
    errors: Floats = table.error[np.isin(table.klass, judged_classes(field.judged))]
    return errors


def _ridge_chosen(inputs: Floats, level: Floats, part: Numbers) -> Predict:
    """Return a ridge regression whose shrinkage is chosen on parts that are left out in turn."""
    losses = []
    for shrink in _SHRINK:
        off = np.empty(len(level))
        for number in np.unique(part).tolist():
            held = part == number
            off[held] = _ridge(inputs[~held], level[~held], shrink)(inputs[held]) - level[held]
        losses.append(np.abs(off).mean())
    return _ridge(inputs, level, _SHRINK[int(np.argmin(losses))])


def _ridge(inputs: Floats, level: Floats, shrink: float) -> Predict:
    """Return a regression without an intercept: what is not known stays as the product has it."""
    # As many unknowns as levels, not as inputs: there are fewer.
    dual = np.linalg.solve(inputs @ inputs.T + shrink * np.eye(len(inputs)), level)
    weights = inputs.T @ dual

    def predict(asked: Floats) -> Floats:
        levels: Floats = asked @ weights
        return levels

    return predict


def _trees(inputs: Floats, level: Floats, part: Numbers) -> Predict:
    del part
    trees = HistGradientBoostingRegressor(
        loss="absolute_error", max_iter=60, learning_rate=0.05, max_leaf_nodes=8, random_state=_SEED
    )
    predict: Predict = trees.fit(inputs, level).predict
    return predict
