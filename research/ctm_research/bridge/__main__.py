"""The command of the bridge; see the package."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ctm_research.bridge.environment import make_environment, python_of, work_folder
from ctm_research.bridge.measure import BUSY_CORES, Bridge, Limits
from ctm_research.bridge.page import PAGE, SHIPPED, write_page, write_shipped
from ctm_research.bridge.prepare import prepare
from ctm_research.bridge.rows import CHOICE, Network, chosen_networks, planned_rows
from ctm_research.bridge.runtimes import DISTRIBUTIONS
from ctm_research.bridge.table import Table
from predictor.core.errors import CtmError, InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a step; the exit code is that of the error where there is one."""
    options = _options(arguments)
    try:
        return int(options.step(options))
    except CtmError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


def _setup(options: argparse.Namespace) -> int:
    make_environment(options.work)
    return 0


def _prepare(options: argparse.Namespace) -> int:
    prepare(options.data, options.work, _networks(options), _tell)
    return 0


def _run(options: argparse.Namespace) -> int:
    busy = None if options.busy else options.busy_cores
    limits = Limits(options.minutes * 60, options.seconds, busy)
    bridge = Bridge(options.data, options.work, Table(_rows(options)), limits, _tell)
    rows = planned_rows(_networks(options))
    left = bridge.run(rows, _versions(options.work))
    if left:
        _tell(f"The budget of {options.minutes:g} minutes is spent; {left} rows are left.")
    return 0


def _page(options: argparse.Namespace) -> int:
    if _rows(options).exists():
        write_shipped(Table(_rows(options)).entries, options.shipped)
    write_page(options.shipped, options.page)
    return 0


def _networks(options: argparse.Namespace) -> tuple[Network, ...]:
    networks = chosen_networks()
    names = {network.name for network in networks}
    unknown = next((name for name in options.only or () if name not in names), None)
    if unknown is not None:
        raise InputError(unknown, "it is not among the chosen networks", f"see {CHOICE}")
    return tuple(n for n in networks if not options.only or n.name in options.only)


def _rows(options: argparse.Namespace) -> Path:
    return Path(options.rows or options.work / "rows.jsonl")


def _versions(folder: Path) -> dict[str, str]:
    """Return the versions of the environment's packages that rows depend on."""
    program = "import importlib.metadata as m, json, sys; "
    program += "print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    done = subprocess.run(
        [str(python_of(folder)), "-c", program, *DISTRIBUTIONS],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(json.loads(done.stdout))


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m ctm_research.bridge",
        description="Measure the same networks under every CPU runtime.",
    )
    steps = parser.add_subparsers(required=True, metavar="STEP")
    for name, step, words in (
        ("setup", _setup, "make the environment of runtimes and converters"),
        ("prepare", _prepare, "convert and compile the networks"),
        ("run", _run, "time what is prepared and not yet timed"),
        ("page", _page, "write the shipped data and the page"),
    ):
        command = steps.add_parser(name, help=words, description=words)
        command.set_defaults(step=step)
        command.add_argument(
            "--work", type=Path, default=work_folder(), help="folder of environment and networks"
        )
        if name in {"prepare", "run"}:
            command.add_argument("data", type=Path, help="folder with graphs, graphs2 and timm")
            command.add_argument("--only", nargs="+", metavar="NETWORK", help="these networks only")
        if name in {"run", "page"}:
            command.add_argument("--rows", type=Path, help="file of rows [in the work folder]")
        if name == "run":
            _add_limits(command)
        if name == "page":
            command.add_argument("--page", type=Path, default=PAGE, help="page to write")
            command.add_argument("--shipped", type=Path, default=SHIPPED, help="folder of the data")
    return parser.parse_args(arguments)


def _add_limits(command: argparse.ArgumentParser) -> None:
    usual = Limits()
    command.add_argument(
        "--minutes", type=float, default=usual.timed_s / 60,
        help=f"timed minutes at most, earlier runs included [{usual.timed_s / 60:g}]",
    )  # fmt: skip
    command.add_argument(
        "--seconds", type=float, default=usual.row_s, help=f"timed seconds a row [{usual.row_s:g}]"
    )
    command.add_argument(
        "--busy-cores", type=float, default=BUSY_CORES,
        help=f"work of others, in cores, above which nothing is timed [{BUSY_CORES:g}]",
    )  # fmt: skip
    command.add_argument("--busy", action="store_true", help="time on a busy machine all the same")


if __name__ == "__main__":
    sys.exit(main())
