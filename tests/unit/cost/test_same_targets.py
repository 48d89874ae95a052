"""What is worked out of targets alone is worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from predictor.core.records import Precision, Target
from predictor.cost.same_targets import OfTargets
from tests.unit.cost.graphs import make_target


def test_the_same_targets_are_worked_out_once_and_others_anew() -> None:
    asked: list[int] = []

    def work(targets: Sequence[Target]) -> int:
        asked.append(len(targets))
        return len(asked)

    of_targets, target = OfTargets(work), make_target()
    again = Target(target.device, replace(target.configuration))
    other_precision = Target(target.device, replace(target.configuration, precision=Precision.FP16))
    other_device = Target(replace(target.device), target.configuration)

    assert [of_targets([target]), of_targets([again])] == [1, 1]
    assert of_targets([target, target]) == 2
    assert of_targets([other_precision]) == 3
    assert of_targets([other_device]) == 4
    assert of_targets([]) == 5
    assert of_targets([]) == 5
