"""Watts of cards by what takes the time."""

import pytest

from predictor.language.power import power_of, power_share
from predictor.language.rates import Part
from tests.support.decoder_architectures import CATALOGUE


def test_multiplying_takes_more_than_reading_and_waiting_less() -> None:
    shares = [power_share({part: 1.0}) for part in (Part.STEP, Part.WEIGHTS, Part.PRODUCT)]
    assert shares == sorted(shares)
    assert shares[2] == 1.0
    assert power_share({Part.WEIGHTS: 0.5, Part.REDUCE: 0.5}) == pytest.approx(0.485)


def test_measured_cards_are_surer_and_no_board_exceeds_its_limit() -> None:
    h100 = power_of(CATALOGUE["h100-sxm"], 0.9, 2)
    other = power_of(CATALOGUE["rtx4090"], 0.5)
    assert h100
    assert other
    assert h100.median == pytest.approx(2 * 0.9 * 700)
    assert h100.high == 2 * 700
    assert h100.median / h100.low < other.median / other.low


def test_of_what_is_no_card_nothing_is_said() -> None:
    assert power_of(CATALOGUE["rpi5"], 0.5) is None
    assert power_of(CATALOGUE["jetson-orin-nano-gpu"], 0.5) is None
