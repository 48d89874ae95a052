from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.text import plural, printable, shortened, shortened_distinct

ANY = st.text(st.characters())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("conv1/BiasAdd:0", "conv1/BiasAdd:0"),
        ("größe 7×7 模型", "größe 7×7 模型"),
        ("a\nb\tc\x00d\x1b[31m\x7f", "a\\x0ab\\x09c\\x00d\\x1b[31m\\x7f"),
        ("gpj.\u202eexe", "gpj.\\u202eexe"),
        ("\u05d0\u0627", "\u05d0\u0627"),
        ("line\u2028end", "line\\u2028end"),
        ("caf\udce9", "caf\\udce9"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_could_mislead_is_shown_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(ANY)
def test_printable_text_has_no_control_characters(text: str) -> None:
    shown = printable(text)
    shown.encode()
    assert all(unicodedata.category(c)[0] != "C" for c in shown)
    assert printable(shown) == shown


@given(ANY, st.integers(1, 40))
def test_shortened_text_keeps_both_ends(text: str, limit: int) -> None:
    whole, short = printable(text), shortened(text, limit)
    assert len(short) == min(len(whole), limit)
    if len(whole) <= limit:
        assert short == whole
    else:
        head = (limit - 1) // 2
        tail = limit - 1 - head
        assert short == whole[:head] + "…" + whole[len(whole) - tail :]


def test_shortened_by_hand() -> None:
    assert shortened("abcdefghij", 5) == "ab…ij"
    assert shortened("abcdefghij", 6) == "ab…hij"
    assert shortened("abcdefghij", 1) == "…"
    assert shortened("abcde", 5) == "abcde"


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 models"), (1, "1 model"), (2, "2 models"), (11, "11 models")]
)
def test_a_count_stands_before_its_noun(count: int, text: str) -> None:
    assert plural(count, "model") == text


def test_names_beside_one_another_stay_apart() -> None:
    assert shortened_distinct(["resnet50_224", "vit"], 8) == ["resnet5…", "vit"]
    assert shortened_distinct(["resnet50_fp32", "resnet50_int8"], 8) == ["res…fp32", "res…int8"]


def test_a_plural_of_another_form_is_given() -> None:
    assert plural(1, "latency", "latencies") == "1 latency"
    assert plural(0, "latency", "latencies") == "0 latencies"
