"""Rates that stand in for those that the facts of a device do not give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core.metrics import Family
from predictor.cost.physics import rates_of
from predictor.cost.rates.typical import TypicalRates, likenesses
from tests.support.graphs import make_target


def test_an_accelerator_without_a_rate_has_that_of_its_makers_others() -> None:
    bare = make_target({}, family=Family.NPU)
    of_maker, of_other = (
        replace(bare, device=replace(bare.device, vendor=name)) for name in ("Axera", "Nobody")
    )
    typical = TypicalRates(
        {"npu of Axera": 5e12, "npu": 2e13, "": 1e12},
        {name: {"": 1.0} for name in ("convolution", "vector", "unit", "bandwidth")},
    )
    targets = [of_maker, of_other]

    filled = typical.complete(rates_of(targets), likenesses(targets))

    assert filled.matrix.tolist() == [5e12, 2e13]
    assert np.isfinite(filled.bandwidth).all()


@pytest.mark.parametrize("family", [Family.CPU, Family.GPU, Family.MOBILE_GPU])
def test_other_units_are_alike_by_chip_and_kind(family: Family) -> None:
    target = make_target({}, family=family)
    of_maker = replace(target, device=replace(target.device, vendor="Someone"))

    assert not [name for name in likenesses([of_maker])[0] if "Someone" in name]
