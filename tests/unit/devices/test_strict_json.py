import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.devices.strict_json import MAX_BYTES, parse_object, read_object


def parsed_or_refusal(data: bytes) -> dict[str, object] | InputError:
    try:
        return parse_object(data, "x")
    except InputError as error:
        return error


def test_an_object_is_read_with_and_without_a_byte_order_mark():
    assert parse_object(b'{"a": 1}', "x") == {"a": 1}
    assert parse_object(b'\xef\xbb\xbf{"a": 1}', "x") == {"a": 1}


WRONG = {
    "empty": (b"", "is not JSON (Expecting value at line 1, column 1)"),
    "damaged": (b'{"a": 1,\n', "is not JSON (Expecting property name"),
    "cut off": (b'{"a": "b', "is not JSON (Unterminated string"),
    "trailing": (b"{} {}", "is not JSON (Extra data at line 1, column 4)"),
    "binary": (b"\x89PNG\r\n", "is not text in UTF-8 (byte 0)"),
    "utf-16": ('{"a": 1}'.encode("utf-16"), "is not text in UTF-8"),
    "list": (b"[1]", "holds a list where a JSON object was expected"),
    "text": (b'"a"', "holds a text where"),
    "null": (b"null", "holds null where"),
    "number": (b"7", "holds a number where"),
    "NaN": (b'{"a": NaN}', "holds NaN, which is not a number in JSON"),
    "Infinity": (b'{"a": -Infinity}', "holds -Infinity, which is not"),
    "overflow": (b'{"a": 1e999}', "holds the number 1e999, which is too large"),
    "too many digits": (b'{"a": ' + b"1" * 5000 + b"}", "holds a number that is too long"),
    "duplicate": (b'{"a": 1, "a": 2}', 'holds the field "a" twice'),
    "hostile duplicate": (
        b'{"\\u202e": 1, "\\u202e": 2}',
        r'holds the field "\u202e" twice',
    ),
    "inner duplicate": (b'{"b": {"a": 1, "a": 1}}', 'holds the field "a" twice'),
    "nested": (b"[" * 400_000 + b"]" * 400_000, "is nested too deeply"),
    "nested objects": (b'{"a":' * 150_000 + b"1" + b"}" * 150_000, "is nested too deeply"),
    "oversize": (b" " * (MAX_BYTES + 1), "is larger than 1,000,000 bytes"),
}


@pytest.mark.parametrize(("data", "reason"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_file_is_refused_in_one_sentence(data: bytes, reason: str):
    with pytest.raises(InputError) as caught:
        parse_object(data, "my.json")
    assert str(caught.value).startswith(f"my.json: {reason}")
    assert str(caught.value).isprintable()


def test_the_largest_allowed_file_is_read():
    assert parse_object(b"{}" + b" " * (MAX_BYTES - 2), "x") == {}


def test_a_missing_file_a_folder_and_a_bad_name_are_named(tmp_path: Path):
    for path, reason in (
        (tmp_path / "none.json", "no such file"),
        (tmp_path, "it is a folder"),
        (str(tmp_path / "a\x00b"), "NUL character"),
    ):
        with pytest.raises(InputError, match=reason) as caught:
            read_object(path)
        assert str(caught.value).isprintable()


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/zero is Linux's")
def test_an_endless_file_is_refused():
    with pytest.raises(InputError, match="it is a pipe, socket or device"):
        read_object("/dev/zero")


@given(st.binary(max_size=200))
def test_any_bytes_are_either_an_object_or_refused(data: bytes):
    assert isinstance(parsed_or_refusal(data), dict | InputError)
