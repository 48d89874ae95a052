"""What a load costs: by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from predictor.core.errors import InputError
from predictor.services.loads.load_file import load_of_tables
from predictor.services.loads.prices import load_cost
from predictor.services.loads.records import Box, Load, Prices
from predictor.services.serving.records import Between

_STREAM = {"name": "camera", "rate": 10, "count": 4, "stage": [{"name": "a", "model": "a.onnx"}]}
_WATTS = Between(20.0, 10.0, 50.0)


def load(**cost: float) -> Load:
    return load_of_tables({"stream": [_STREAM], "cost": cost})


def box(price: float | None = None) -> Box:
    return Box(id="box", name="Box", units={}, price=price)


def test_a_box_its_years_and_the_electricity_of_runs_add_up() -> None:
    cost = load_cost(load(years=2, price_per_kwh=0.3), box(1000.0), _WATTS)
    assert cost is not None
    fixed = 1000 / 2 / 8766
    ends = cost.per_hour.median, cost.per_hour.low, cost.per_hour.high
    assert ends == pytest.approx((fixed + 0.006, fixed + 0.003, fixed + 0.015))
    # 40 items a second are 144,000 an hour.
    assert cost.per_million.median == pytest.approx((fixed + 0.006) * 1e6 / 144_000)
    assert cost.parts == ("the box over 2 years", "electricity of its runs")


def test_rent_has_no_interval_without_watts() -> None:
    cost = load_cost(load(price_per_hour=1.5, price_per_kwh=0.3), box(), None)
    assert cost is not None
    assert cost.per_hour == Between(1.5, 1.5, 1.5)
    assert cost.parts == ("rent",)


def test_without_a_price_there_is_no_cost() -> None:
    assert load_cost(load(), box(), _WATTS) is None
    assert load_cost(load(price_per_kwh=0.3), box(), None) is None
    assert load().prices == Prices()


@pytest.mark.parametrize("cost", [{"years": 0}, {"price_per_kwh": -1}, {"price": 3}])
def test_a_wrong_price_is_refused(cost: dict[str, float]) -> None:
    (key,) = cost
    with pytest.raises(InputError, match=f"line 1, {key}"):
        load(**cost)


def test_prices_do_not_change_a_load_otherwise() -> None:
    assert replace(load(years=5), prices=Prices()).streams == load().streams
