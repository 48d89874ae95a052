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
@given(subject=ANY, reason=ANY, action=ANY)
def test_an_error_crosses_a_process_boundary(
    kind: type[CtmError], subject: str, reason: str, action: str
) -> None:
    error = kind(subject, reason, action)
    for rebuilt in (error_from_dict(error.to_dict()), pickle.loads(pickle.dumps(error))):  # noqa: S301 - our own bytes
        assert type(rebuilt) is kind
        assert (rebuilt.subject, rebuilt.reason, rebuilt.action) == (subject, reason, action)


def test_an_unknown_kind_is_the_hosts_failure() -> None:
    rebuilt = error_from_dict({"kind": "later", "subject": "a", "reason": "b", "action": "c"})
    assert type(rebuilt) is HostError


def test_cancelling_needs_no_words() -> None:
    assert str(CancelledError()) == (
        "the operation: it was cancelled; start it again when you wish."
    )
