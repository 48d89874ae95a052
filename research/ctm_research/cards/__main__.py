"""Time this machine's CUDA card, or write the page of one that was timed; see the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from predictor.core.errors import CtmError

_NO_CARD = 3


def main() -> int:
    """Do one of the two; 3 where a card has to be timed and there is none, 2 for a wrong input."""
    parser = argparse.ArgumentParser(prog="python -m ctm_research.cards")
    commands = parser.add_subparsers(dest="command", required=True)
    time = commands.add_parser("time", help="time this machine's card")
    time.add_argument("output", type=Path, help="folder of the tables")
    time.add_argument("--device", required=True, help="id of the card in the catalogue")
    page = commands.add_parser("page", help="predict the networks of the card that was timed")
    page.add_argument("--data", type=Path, required=True, help="folder with one folder a source")
    page.add_argument("--output", type=Path, help="also write cards.json and cards.md here")
    options = parser.parse_args()
    return _time(options) if options.command == "time" else _page(options)


def _time(options: argparse.Namespace) -> int:
    from ctm_research.cards.make import has_card, write_tables  # noqa: PLC0415  # torch

    if not has_card():
        sys.stderr.write("This machine has no CUDA card that torch can use: run it on one.\n")
        return _NO_CARD
    write_tables(options.output, options.device)
    return 0


def _page(options: argparse.Namespace) -> int:
    from ctm_research.cards.page import write_page  # noqa: PLC0415  # seconds

    try:
        sys.stdout.write(write_page(options.data, options.output))
    except CtmError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
