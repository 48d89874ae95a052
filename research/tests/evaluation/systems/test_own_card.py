"""The card that this project timed, and NeuSight's tables beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ctm_research.cards import CARD
from ctm_research.evaluation.systems.kernel_tables import KernelTables
from ctm_research.evaluation.systems.operator_data import (
    CLASSES,
    Card,
    NeuSightData,
    Operators,
    Transformer,
)
from ctm_research.evaluation.systems.own_card import OwnCard, read_own_card
from ctm_research.evaluation.systems.transformers import (
    at_peak,
    card_errors,
    printed_of_amd,
)
from predictor.core.records import Configuration, Precision, Target
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import open_engine


@pytest.fixture(scope="module")
def own() -> OwnCard:
    return read_own_card(load_catalogue().by_id)


def test_nothing_on_the_card_is_above_its_peak(own: OwnCard) -> None:
    assert len(own.timed) == 1040
    assert (own.timed.ms >= at_peak(own.card)(own.timed) * 0.999)[own.timed.is_product].all()
    assert all(each.ms > 0 for each in own.transformers)
    assert len({each.name for each in own.transformers}) == len(own.transformers) == 10


def test_tables_of_the_card_tell_of_operators_that_they_have_not(own: OwnCard) -> None:
    held = np.arange(len(own.timed)) % 10 == 0
    part = own.timed.take(held)
    predicted = KernelTables.fit(own.timed.take(~held)).predict(part)
    assert np.median(np.abs(predicted / part.ms - 1)) < 0.25


def test_no_training_has_seen_the_card() -> None:
    device = load_catalogue().by_id[CARD]
    runs = [Configuration("pytorch", each) for each in (Precision.FP32, Precision.FP16)]
    assert not any(open_engine("").has_signature(Target(device, each)) for each in runs)


def test_an_error_is_that_of_the_sum_of_the_operators() -> None:
    """Two layers of one product at 2 ms and 3e9 bytes at 1e12 a second: 7 ms for 10 measured."""
    card = Card(1e12, 1e12, 10.0, 1e9, 1e6)
    product = Operators(
        np.array([CLASSES.index("linear")]),
        np.array([[1.0, 8.0, 8.0, 8.0]]),
        np.full((1, 2), np.nan),
        np.zeros(1, np.int64),
        np.full(1, np.nan),
    )
    runs = [Transformer("a", "net", 10.0), Transformer("b", "net", 1.0)]
    data = NeuSightData({"a": card}, {}, {"net": (product, np.array([2.0]), 3e9)}, runs, {})
    assert card_errors(data, "a", lambda _: np.array([2.0])) == pytest.approx([30.0])


def test_printed_errors_of_amd_are_of_inference_on_cards_in_training(tmp_path: Path) -> None:
    folder = tmp_path / "neusight"
    folder.mkdir()
    (folder / "gpus.csv").write_text(
        "device_id,vendor,split\nMI100,AMD,train\nMI250,AMD,test\nT4,NVIDIA,train\n"
    )
    (folder / "peers.csv").write_text(
        "device_id,method,mode,abs_pct_err\nMI100,neusight,inf,10\nMI100,neusight,inf,20\n"
        "MI100,neusight,train,90\nMI100,roofline,inf,80\nT4,neusight,inf,70\n"
    )
    assert printed_of_amd(tmp_path) == {"MI100": 15.0}
