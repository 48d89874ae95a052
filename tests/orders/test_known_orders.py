"""Orders that engineers know are predicted, but for those that the list marks."""

from __future__ import annotations

from collections import Counter

import pytest

from predictor.services.devices.catalogue import load_catalogue
from tests.orders.orders import (
    BUILDERS,
    KINDS,
    SAMPLES,
    Order,
    Outcome,
    Side,
    outcomes,
    read_orders,
    write_marks,
)

ORDERS = read_orders()


def _name(order: Order) -> str:
    return f"{order.faster} < {order.slower}"


def test_a_known_order_is_predicted_but_for_those_that_the_list_marks() -> None:
    """A pair that is marked and predicted all the same loses its mark: the list shall be true."""
    predicted = list(outcomes(ORDERS))
    assert [outcome.order for outcome in predicted] == ORDERS
    wrong = {
        _name(outcome.order): f"{outcome.failure}, {outcome.order.at_least:g} x expected"
        for outcome in predicted
        if not outcome.holds and not outcome.order.fails
    }
    mended = [_name(o.order) for o in predicted if o.holds and o.order.fails]
    assert (wrong, mended) == ({}, [])


def test_the_list_is_as_long_and_as_wide_as_it_has_to_be() -> None:
    kinds = Counter(order.kind for order in ORDERS)
    networks = {Side.parse(text).network for o in ORDERS for text in (o.faster, o.slower)}
    assert set(kinds) == set(KINDS)
    assert kinds["across"] >= 30
    assert kinds["generation"] >= 30
    assert kinds["variant"] >= 20
    assert len(networks) >= 8
    assert networks <= BUILDERS.keys() | SAMPLES.keys()


def test_every_pair_stands_once_and_says_why() -> None:
    assert len({_name(order) for order in ORDERS}) == len(ORDERS)
    assert all(order.reason and order.at_least >= 1 for order in ORDERS)


def test_kinds_are_what_their_pairs_are_of() -> None:
    """Devices in their defaults across and between generations, one network on both."""
    devices = load_catalogue().by_id
    for order in ORDERS:
        faster, slower = Side.parse(order.faster), Side.parse(order.slower)
        if order.kind == "variant":
            assert faster.device_id == slower.device_id, _name(order)
            continue
        assert (faster.configuration, slower.configuration) == (None, None), _name(order)
        assert (faster.network, faster.batch) == (slower.network, slower.batch), _name(order)
        if order.kind == "generation":
            first, second = (devices[side.device_id] for side in (faster, slower))
            assert first.vendor == second.vendor, _name(order)
            assert first.family == second.family, _name(order)


def test_marks_follow_what_is_predicted(tmp_path) -> None:
    order = Order("variant", "a on x", "b on x", 2, "arithmetic", "predicted 1.5 x")
    mended = Outcome(order, 1.0, 3.0, ("x", "x"))
    broken = Outcome(order, 1.0, 1.25, ("x", "x"))
    silent = Outcome(order, None, 1.0, ("x", "x"), "missing metric dram_bw_gbps")

    write_marks([mended, broken, silent], tmp_path / "orders.csv")

    again = read_orders(tmp_path / "orders.csv")
    marks = ["", "predicted 1.25 x", "no number: missing metric dram_bw_gbps"]
    assert [each.fails for each in again] == marks
    assert [each.at_least for each in again] == [2, 2, 2]


@pytest.mark.parametrize("text", ["resnet50", "resnet50 on", "resnet50 x on rpi4", "on rpi4"])
def test_a_side_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="NETWORK on DEVICE"):
        Side.parse(text)
