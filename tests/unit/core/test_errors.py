from __future__ import annotations

import pickle
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.errors import (
    CancelledError,
    CtmError,
    HostError,
    InputError,
    error_from_dict,
)

KINDS = [(InputError, 2), (HostError, 3), (CancelledError, 130)]
ANY = st.text(st.characters())
SHORT = st.text(st.characters(), max_size=500)


def test_an_error_is_one_sentence() -> None:
    error = InputError("model.onnx", "it has 0 bytes, a model has at least 8", "export it again")
    assert str(error) == "model.onnx: it has 0 bytes, a model has at least 8; export it again."


@given(ANY, ANY, ANY)
def test_text_from_files_cannot_break_the_sentence(subject: str, reason: str, action: str) -> None:
    sentence = str(InputError(subject, reason, action))
    assert len(sentence.splitlines()) == 1
    assert not any(unicodedata.category(character).startswith("C") for character in sentence)


@pytest.mark.parametrize(("kind", "code"), KINDS)
def test_exit_codes_are_a_contract(kind: type[CtmError], code: int) -> None:
    assert kind.exit_code == code


@pytest.mark.parametrize("kind", [kind for kind, _ in KINDS])
@given(subject=SHORT, reason=SHORT, action=SHORT)
def test_an_error_crosses_a_process_boundary(
    kind: type[CtmError], subject: str, reason: str, action: str
) -> None:
    error = kind(subject, reason, action)
    for rebuilt in (error_from_dict(error.to_dict()), pickle.loads(pickle.dumps(error))):  # noqa: S301 - our own bytes
        assert type(rebuilt) is kind
        assert (rebuilt.subject, rebuilt.reason, rebuilt.action) == (subject, reason, action)


@given(st.text(st.characters(), max_size=2000), st.integers(1, 40))
def test_no_part_is_longer_than_can_be_read(text: str, times: int) -> None:
    error = InputError(text * times, text * times, text * times)
    assert max(map(len, error.args)) <= 500
    assert len(str(error)) <= 3 * 500 + len(": ; .")
    assert str(error_from_dict(error.to_dict())) == str(error)


def test_a_long_name_keeps_both_ends() -> None:
    error = InputError("/models/" + "x" * 10_000 + ".onnx", "it is empty", "export it again")
    assert error.subject.startswith("/models/xxx")
    assert error.subject.endswith("xxx.onnx")
    assert str(error) == f"{error.subject}: it is empty; export it again."


def test_an_unknown_kind_is_the_hosts_failure() -> None:
    rebuilt = error_from_dict({"kind": "later", "subject": "a", "reason": "b", "action": "c"})
    assert type(rebuilt) is HostError


def test_cancelling_needs_no_words() -> None:
    assert str(CancelledError()) == (
        "the operation: it was cancelled; start it again when you wish."
    )
