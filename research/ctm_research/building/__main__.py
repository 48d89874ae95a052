"""The command that builds graphs; see the package."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ctm_research.bridge.environment import work_folder
from ctm_research.building.build import LIMIT_S, build
from ctm_research.building.plan import chosen, planned
from ctm_research.sources import built
from predictor.core.errors import CtmError


def main(arguments: Sequence[str] | None = None) -> int:
    """Build what is missing; the exit code is that of the error where there is one."""
    options = _options(arguments)
    try:
        definitions = planned(options.data)
        if options.only:
            definitions = chosen(definitions, options.only)
        definitions = definitions[: options.most]
        if options.list:
            for definition in definitions:
                sys.stdout.write(f"{definition.rows} {definition.name} {definition.module}\n")
            return 0
        folder = options.output or built.folder(options.data)
        build(definitions, folder, options.work, _tell, options.seconds, again=options.again)
    except CtmError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m ctm_research.building",
        description="Build graphs that rows wait for, from Python packages.",
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder a source")
    parser.add_argument(
        "--output", type=Path, help="folder of the graphs [built of the data folder, or the user's]"
    )
    parser.add_argument(
        "--work", type=Path, default=work_folder(), help="folder of the bridge's environment"
    )
    parser.add_argument("--most", type=_count, metavar="N", help="this many, most rows first")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these networks")
    parser.add_argument("--again", action="store_true", help="those that failed before, too")
    parser.add_argument("--list", action="store_true", help="print what is missing and end")
    parser.add_argument(
        "--seconds", type=float, default=LIMIT_S, help=f"of one network at most [{LIMIT_S:g}]"
    )
    return parser.parse_args(arguments)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
