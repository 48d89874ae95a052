"""Options of ``ctm store``."""

from __future__ import annotations

import argparse

from predictor.cli.options import EPILOG, Parser, json_option

RESOLUTIONS = ("keep", "take", "both")


def add_store(commands: argparse._SubParsersAction[Parser], shared: Parser) -> None:
    """Add the command and its actions."""
    parser = commands.add_parser(
        "store",
        parents=[shared],
        help="the local store",
        description="The local store: what it holds, whether it is whole, copies and projects.",
        epilog=EPILOG,
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, text: str, file: str = "", file_help: str = "") -> Parser:
        made = actions.add_parser(name, parents=[shared], help=text, description=f"{text}.")
        if file:
            made.add_argument("file", metavar=file, help=file_help)
        json_option(made)
        return made

    action("info", "what it holds")
    action("check", "whether it is whole; exit code 3 where it is not")
    backup = action("backup", "copy it, also while the window is open", "FILE", "the copy")
    restore_help = "a copy made by `ctm store backup`"
    action(
        "restore", "put a copy in its place; the store that is there is kept", "FILE", restore_help
    )
    export = action(
        "export", "write a project that a colleague can open", "FILE.ctmproject", "the project"
    )
    for writing in (backup, export):
        writing.add_argument(
            "--replace", action="store_true", help="replace FILE where it is there"
        )
    export.add_argument(
        "--tag", metavar="TAG", action="append", default=[], help="only predictions with this tag"
    )
    importing = action("import", "take a project over", "FILE.ctmproject", "the project")
    importing.add_argument(
        "--conflicts",
        choices=RESOLUTIONS,
        help="what to do where the store has something else: keep mine, take theirs, or both; "
        "without it nothing is imported where there is a conflict",
    )
    importing.add_argument(
        "--dry-run", action="store_true", help="only say what would come and what conflicts"
    )
