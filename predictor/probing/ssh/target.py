"""Address and login of a board."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from predictor.core.errors import InputError

DEFAULT_FOLDER = "~/.cache/closertome"
_FORM = re.compile(
    r"(?:(?P<user>[^@\s]+)@)?(?P<host>\[[^\]\s]+\]|[^:@\s\[\]]+)(?::(?P<port>\d{1,5}))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SshTarget:
    """A board.

    Attributes:
        host: name, address, or a host of the user's own SSH configuration.
        user: empty for the one of that configuration, else the name of the user here.
        port: None for the one of that configuration, else 22.
        keys: files of private keys; empty for the agent and the usual files.
        passphrase: of these files.
        python: program that runs Python 3 there.
        folder: that files are copied into; a folder of each plan's own is made in it.
        timeout_s: connecting and logging in may take so long.
        silence_s: a request may stay unanswered so long; after half of it without a line of the
            runner the agent is asked whether it is there.
        use_ssh_config: whether the user's SSH configuration and agent are used.
    """

    host: str
    user: str = ""
    port: int | None = None
    keys: tuple[Path, ...] = ()
    passphrase: str | None = field(default=None, repr=False)
    python: str = "python3"
    folder: str = DEFAULT_FOLDER
    timeout_s: float = 15.0
    silence_s: float = 15.0
    use_ssh_config: bool = True

    @classmethod
    def parse(cls, text: str) -> SshTarget:
        """Read ``user@host:port``; user and port may be left out, IPv6 stands in brackets.

        Raises:
            InputError: the text is of another form.
        """
        match = _FORM.fullmatch(text.strip())
        port = int(match["port"]) if match and match["port"] else None
        if match is None or match["host"].startswith("-") or not (port is None or 0 < port < 65536):
            raise InputError(text, "it is no address of a board", "write user@host or user@host:22")
        return cls(host=match["host"].strip("[]"), user=match["user"] or "", port=port)

    @property
    def label(self) -> str:
        """The address as people write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        user = f"{self.user}@" if self.user else ""
        return f"{user}{host}" if self.port in {None, 22} else f"{user}{host}:{self.port}"
