"""Sorting by index arrays: a permutation, stable, missing values last."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.widgets.ordering import natural_key, number_keys, stable_order, text_ranks

keys = st.lists(st.one_of(st.integers(-3, 3), st.just(math.nan)), max_size=40)


@given(keys, st.booleans())
def test_an_order_is_a_permutation_sorted_and_stable_with_missing_last(values, descending):
    array = np.array(values, dtype=np.float64)
    order = stable_order(array, descending=descending)
    assert sorted(order.tolist()) == list(range(len(values)))
    known = [row for row in order.tolist() if not math.isnan(values[row])]
    missing = order.tolist()[len(known) :]
    assert all(math.isnan(values[row]) for row in missing)
    assert missing == sorted(missing)
    sign = -1 if descending else 1
    # Equal keys keep the order of the data: (key, row) is sorted in both directions.
    assert [(sign * values[row], row) for row in known] == sorted(
        (sign * values[row], row) for row in known
    )


def test_digits_count_as_numbers_and_case_counts_for_nothing():
    names = ["RTX 3090", "rtx 980", "RTX 40", "A 2"]
    assert sorted(names, key=natural_key) == ["A 2", "RTX 40", "rtx 980", "RTX 3090"]


def test_text_ranks_are_alike_for_equal_texts_and_missing_for_empty_ones():
    ranks = text_ranks(["b10", "b9", "", "b9"])
    assert ranks[:2].tolist() == [1.0, 0.0]
    assert np.isnan(ranks[2])
    assert ranks[3] == ranks[1]


def test_numbers_of_any_length_are_compared_as_numbers_and_a_break_is_a_blank():
    texts = ["x100", "x9", "x\0", "x", f"x{10**17}", f"x9{10**17}", "ä2", "Ä10", "𝟙"]
    order = stable_order(text_ranks(texts)).tolist()
    assert [texts[row] for row in order] == [
        "x", "x\0", "x9", "x100", f"x{10**17}", f"x9{10**17}", "ä2", "Ä10", "𝟙",
    ]  # fmt: skip


@given(st.lists(st.one_of(st.text(max_size=12), st.from_regex(r"[a0-9\0]{,24}")), max_size=30))
def test_text_ranks_order_texts_as_their_natural_keys_do(texts):
    order = stable_order(text_ranks(texts)).tolist()
    shown = [natural_key(texts[row]) for row in order if texts[row]]
    assert shown == sorted(shown)
    assert [texts[row] for row in order[len(shown) :]] == [""] * (len(texts) - len(shown))


def test_none_is_a_missing_number():
    assert number_keys([1.5, None]).tolist()[0] == 1.5
    assert np.isnan(number_keys([None])[0])
