from __future__ import annotations

import pytest

from predictor.core.errors import InputError
from predictor.probing.ssh.target import SshTarget


@pytest.mark.parametrize(
    ("text", "user", "host", "port", "label"),
    [
        ("board", "", "board", None, "board"),
        ("pi@board.local", "pi", "board.local", None, "pi@board.local"),
        ("pi@10.0.0.7:2222", "pi", "10.0.0.7", 2222, "pi@10.0.0.7:2222"),
        ("pi@[fe80::1]:22", "pi", "fe80::1", 22, "pi@[fe80::1]"),
        (" board:1 ", "", "board", 1, "board:1"),
    ],
)
def test_an_address_is_read(text: str, user: str, host: str, port: int | None, label: str) -> None:
    target = SshTarget.parse(text)

    assert (target.user, target.host, target.port) == (user, host, port)
    assert target.label == label


@pytest.mark.parametrize(
    "text", ["", "a b", "pi@", "@board", "board:", "board:x", "board:0", "board:65536", "-oProxy=x"]
)
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no address of a board"):
        SshTarget.parse(text)


def test_the_passphrase_is_not_shown() -> None:
    words = "open sesame"

    assert words not in repr(SshTarget(host="board", passphrase=words))
