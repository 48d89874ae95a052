"""Several cards that share a model, and growth with sequences."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.devices.catalogue import shipped_devices
from predictor.language.cards import (
    Cards,
    Link,
    cache_copies,
    check_cards,
    link_of,
    sharing_counts,
    shipped_links,
)
from predictor.language.growth import Growth, added_share
from predictor.language.machine import shared
from predictor.language.memory import Memory, card_memory
from predictor.language.passes import decode_pass, prefill_passes
from predictor.language.rates import Group, Part, decode_parts, prefill_parts, reduce_seconds
from predictor.language.weights import weight_format
from tests.support.decoder_architectures import MACHINE, SIMPLE, TINY

_DEVICES = {device.id: device for device in shipped_devices()}
_LINK = Link("a link", 1e9, 1e-5, "")
_FORM = weight_format("fp16")


def test_links_are_of_shipped_devices_and_others_meet_over_the_host() -> None:
    links, _ = shipped_links()
    assert links.keys() <= _DEVICES.keys()
    assert all(link.source for link in links.values())
    to_host = link_of(_DEVICES["rtx4090"])
    nvlink = link_of(_DEVICES["h100-sxm"])
    assert to_host
    assert nvlink
    assert to_host.bytes_per_s == pytest.approx(31.508e9)
    assert nvlink.bytes_per_s == 450e9
    assert link_of(_DEVICES["rpi5"]) is None


def test_two_cards_halve_the_work_and_sum_twice_a_layer() -> None:
    one = decode_pass(TINY, _FORM, 16, 100, 4)
    pair = shared(MACHINE, Cards(2), _LINK)
    alone = decode_parts(one, MACHINE, SIMPLE, Group.HALF)
    together = decode_parts(one, pair, SIMPLE, Group.HALF)
    assert together[Part.WEIGHTS] == pytest.approx(alone[Part.WEIGHTS] / 2)
    sums = 2 * TINY.layers * (1e-5 + 4 * 2 * TINY.hidden / 1e9)
    assert together[Part.REDUCE] == pytest.approx(sums)
    assert alone[Part.REDUCE] == 0


def test_a_pipeline_keeps_the_work_and_hands_on_once_a_card() -> None:
    one = decode_pass(TINY, _FORM, 16, 100)
    line = shared(MACHINE, Cards(3, pipeline=True), _LINK)
    parts = decode_parts(one, line, SIMPLE, Group.HALF)
    assert parts[Part.WEIGHTS] == pytest.approx(
        decode_parts(one, MACHINE, SIMPLE, Group.HALF)[Part.WEIGHTS]
    )
    assert parts[Part.REDUCE] == pytest.approx(2 * (1e-5 + 2 * TINY.hidden / 1e9))


@given(count=st.sampled_from([2, 4, 8]), batch=st.integers(1, 64), rate=st.floats(1.1, 10))
def test_a_faster_link_is_never_slower_and_gains_at_most_its_factor(
    count: int, batch: int, rate: float
) -> None:
    passes = prefill_passes(TINY, _FORM, 16, 64, batch)
    faster = replace(_LINK, bytes_per_s=rate * _LINK.bytes_per_s)
    slow, fast = (
        float(reduce_seconds(passes, shared(MACHINE, Cards(count), link), SIMPLE).sum())
        for link in (_LINK, faster)
    )
    assert fast <= slow <= rate * fast * (1 + 1e-9)
    parts = prefill_parts(passes, shared(MACHINE, Cards(count), _LINK), SIMPLE, Group.HALF)
    assert float(parts[Part.REDUCE].sum()) == pytest.approx(slow)


def test_memory_divides_and_key_heads_are_copied_where_they_are_few() -> None:
    model = replace(TINY, heads=16, kv_heads=2)
    memory = Memory(800.0, 80.0, 8.0)
    assert card_memory(model, memory, Cards(2)) == Memory(400.0, 40.0, 8.0)
    assert cache_copies(model, Cards(8)) == 4
    assert card_memory(model, memory, Cards(8)) == Memory(100.0, 40.0, 8.0)
    most = card_memory(replace(model, layers=3), memory, Cards(2, pipeline=True))
    assert most.weights == pytest.approx(800 * 2 / 3)


def test_heads_that_do_not_divide_are_refused_with_what_does() -> None:
    model = replace(TINY, heads=28, kv_heads=4)
    card = _DEVICES["h100-sxm"]
    with pytest.raises(InputError, match=r"28 heads of .* do not divide by 8 cards") as error:
        check_cards(model, card, Cards(8))
    assert "choose one of 1, 2, 4, 28, or add --pipeline" in str(error.value)
    assert list(sharing_counts(model, card, pipeline=False)) == [2, 4, 28]
    check_cards(replace(model, layers=8), card, Cards(8, pipeline=True))
    with pytest.raises(InputError, match="states no link"):
        check_cards(model, _DEVICES["rpi5"], Cards(2))


@given(
    deviation=st.floats(-2, 2),
    one=st.floats(0.1, 1),
    times=st.floats(1, 100),
    more=st.floats(1, 10),
)
def test_growth_keeps_a_larger_batch_slower(
    deviation: float, one: float, times: float, more: float
) -> None:
    growth = Growth(of_silicon={"die": deviation})
    small, large = one * times, one * times * more
    grown = [time * growth.factor("die", added_share(time, one)) for time in (small, large)]
    assert one * (1 - 1e-9) <= grown[0] <= grown[1] * (1 + 1e-9)


def test_spread_grows_with_the_added_share_and_with_cards() -> None:
    growth = Growth(of_silicon={"die": 0.2}, measured=0.3, unmeasured=0.6, cards=0.1)
    assert growth.spread("die", 0.0, 1) == 0
    assert growth.spread("die", 0.5, 1) < growth.spread("die", 0.9, 1) <= 0.3
    assert growth.spread("other", 0.5, 1) > growth.spread("die", 0.5, 1)
    assert growth.spread("die", 0.0, 2) == pytest.approx(0.1)
    assert growth.of("other") == pytest.approx(0.2)
