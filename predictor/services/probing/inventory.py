"""The inventory of a fleet: a TOML file of boards, a table ``[[host]]`` each.

``[defaults]`` has values for keys that a host lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.files import in_home
from predictor.core.records import Precision
from predictor.core.runtimes import MEASURED, RUNTIMES
from predictor.core.toml_tables import Readers, TomlTables, integer, one_text, texts
from predictor.probing.ssh.target import SshTarget

_FIX: Final = "correct it; docs/fleet.md has an example"
_ANY_PORT: Final = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A board of the inventory.

    Attributes:
        name: unique in the file; address and port where none is given.
        address: ``user@host:port`` as :class:`SshTarget` reads it.
        device: its id, a part of its name, or a device file.
        threads: of the networks; 0 for all cores.
        keys: files of private keys; empty for the agent and the usual files.
        host_key: ``SHA256:...`` that is accepted where the board is not known; empty for none.
        python: program that runs Python 3 there.
        problem: why it cannot be probed; None where it can be tried.
    """

    name: str
    address: str
    device: str
    threads: int = 1
    keys: tuple[Path, ...] = ()
    host_key: str = ""
    python: str = "python3"
    problem: InputError | None = None


def read_inventory(path: Path) -> tuple[Host, ...]:
    """Return the hosts of a file, in its order.

    A name that is used twice and a configuration that is not measured are problems of their host:
    the others can be probed.

    Raises:
        InputError: it cannot be read or is no TOML, or a key is unknown, wrong or missing; with
            its line.
    """
    file = TomlTables.read(path, _FIX)
    tables = file.named("host", frozenset({"defaults"}))
    default_table, line = file.content.get("defaults", {}), file.line_of("defaults", 1)
    if not isinstance(default_table, dict):
        raise file.wrong(line, "defaults", "it is not a table")
    defaults = file.values(line, default_table, _DEFAULTS)
    hosts: list[Host] = []
    named: dict[str, int] = {}
    for start, table in tables:
        values = {**defaults, **file.values(start, table, _HOST)}
        for key in ("address", "device"):
            if key not in values:
                raise file.wrong(start, key, "this host lacks it")
        hosts.append(_host(file, start, values, named))
    return tuple(hosts)


def _host(file: TomlTables, start: int, values: dict[str, Any], named: dict[str, int]) -> Host:
    """Return a host; ``named`` holds the lines of those before it by name, and gets its own."""
    port = f":{values['port']}" if "port" in values else ""
    name = values.get("name", f"{values['address']}{port}")
    where, problem = f"{file.path}, line {start}", None
    runtime, precision = values.get("runtime", MEASURED), values.get("precision", Precision.FP32)
    if (runtime, precision) != (MEASURED, Precision.FP32):
        reason = f"reference networks are measured with {MEASURED} in fp32 alone"
        problem = InputError(f"{where}, {runtime} {precision}", reason, "leave both out")
    if name in named:
        reason = f"the host of line {named[name]} has this name too"
        problem = InputError(f"{where}, name {name}", reason, "give each host a name of its own")
    named.setdefault(name, start)
    return Host(
        name=name,
        address=_address(file, start, values),
        device=values["device"],
        threads=values.get("threads", 1),
        # From the folder of the inventory, as everything in it goes with it.
        keys=tuple(file.path.parent / in_home(Path(key)) for key in values.get("key", ())),
        host_key=values.get("host_key", ""),
        python=values.get("python", "python3"),
        problem=problem,
    )


def _address(file: TomlTables, start: int, values: dict[str, Any]) -> str:
    host = values["address"]
    user, port = values.get("user", ""), values.get("port")
    named = f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host
    text = f"{f'{user}@' if user else ''}{named}{'' if port is None else f':{port}'}"
    try:
        SshTarget.parse(text)
    except InputError as error:
        line = file.line_of("address", start)
        reason = f"{text} is no address; user and port have keys of their own"
        raise file.wrong(line, "address", reason) from error
    return text


def _runtime(value: object) -> str:
    if one_text(value) not in RUNTIMES:
        raise ValueError
    return str(value)


_TEXT: Final = (one_text, "a text")
_DEFAULTS: Final[Readers] = {
    "user": _TEXT,
    "port": (lambda value: integer(value, high=_ANY_PORT), f"a whole number from 1 to {_ANY_PORT}"),
    "key": (texts, "a file or a list of files"),
    "python": _TEXT,
    "device": _TEXT,
    "runtime": (_runtime, "a runtime"),
    "precision": (Precision, "a precision"),
    "threads": (lambda value: integer(value, 0), "a whole number from 0"),
}
_HOST: Final[Readers] = {"name": _TEXT, "address": _TEXT, **_DEFAULTS, "host_key": _TEXT}
