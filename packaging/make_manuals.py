"""Write the man page of ``ctm`` and completions for bash, zsh and fish, all from its parser.

    python packaging/make_manuals.py FOLDER

The files are ``ctm.1``, ``ctm.bash``, ``_ctm`` and ``ctm.fish``.
"""

# ruff: noqa: SLF001  # argparse has no public way to the options of a parser

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from predictor import __version__
from predictor.cli.parser import Parser
from predictor.cli.program import program_parser

Command = tuple[tuple[str, ...], Parser]
"""Words of a command, none for the program itself, and its parser."""


def commands() -> Iterator[Command]:
    """Yield the program and all its commands, in the order of their help."""
    yield from _below((), program_parser())


def _below(words: tuple[str, ...], parser: Parser) -> Iterator[Command]:
    if parser.complete is not None:
        try:
            parser.complete(parser)
        except Exception as error:  # noqa: BLE001  # research is in a checkout alone
            print(f"ctm {' '.join(words)} is left out: {error}", file=sys.stderr)
            return
        parser.complete = None
    yield words, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from _below((*words, name), below)


def options_of(parser: Parser) -> list[tuple[tuple[str, ...], str, str]]:
    """Return names, value and help of the options and arguments of a command."""
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) or action.help == argparse.SUPPRESS:
            continue
        value = "" if action.nargs == 0 else action.metavar or action.dest.upper()
        text = (action.help or "") % {"default": action.default, "prog": parser.prog}
        names = tuple(action.option_strings)
        rows.append((names, "" if value is None else str(value), text))
    return rows


def man_page() -> str:
    """Return the page in the form of troff."""
    lines = [f'.TH CTM 1 "" "CloserToMe {__version__}" "User commands"', ".SH NAME"]
    lines.append("ctm \\- predict how fast a neural network runs on other hardware")
    for words, parser in commands():
        title = " ".join(("ctm", *words))
        lines += [f".SH {_troff(title).upper()}" if not words else f'.SS "{_troff(title)}"']
        lines.append(_troff(parser.description or ""))
        for names, value, text in options_of(parser):
            label = f"{', '.join(names)} {value}".strip()
            lines += [".TP", f".B {_troff(label)}", _troff(text)]
    lines += [
        ".SH EXIT STATUS",
        "0 done, 1 budget missed, 2 the input is wrong, 3 the host failed,",
    ]
    lines += ["130 cancelled."]
    return "\n".join(line for line in lines if line) + "\n"


def _troff(text: str) -> str:
    """Return text that troff takes as it stands; a stop or quote at its start is no request."""
    escaped = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def completions() -> list[tuple[str, str, list[str]]]:
    """Return words before the cursor, what may follow, and options, of each command."""
    rows = []
    for words, parser in commands():
        names = [
            name
            for action in parser._actions
            if isinstance(action, argparse._SubParsersAction)
            for name in action.choices
        ]
        options = [name for names_, _, _ in options_of(parser) for name in names_]
        rows.append((" ".join(words), " ".join(names), options))
    return rows


def bash_script(rows: list[tuple[str, str, list[str]]]) -> str:
    """Return the completion of bash; files complete where no option is begun."""
    cases = [
        f'    "{words}") follow="{names} {" ".join(options)}" ;;' for words, names, options in rows
    ]
    return "\n".join(
        [
            "# Completion of ctm for bash.",
            "_ctm() {",
            '  local current="${COMP_WORDS[COMP_CWORD]}" words="" word follow',
            '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
            '    case "$(_ctm_commands)" in',
            '      *" ${words:+$words }$word,"*) words="${words:+$words }$word" ;;',
            "    esac",
            "  done",
            '  case "$words" in',
            *cases,
            "  esac",
            '  COMPREPLY=($(compgen -W "$follow" -- "$current"))',
            "}",
            "_ctm_commands() {",
            f'  echo " {", ".join(words for words, _, _ in rows if words)},"',
            "}",
            "complete -o default -F _ctm ctm",
            "",
        ]
    )


def zsh_script(bash: str) -> str:
    """Return the completion of zsh, which runs that of bash."""
    return f"#compdef ctm\nautoload -U +X bashcompinit && bashcompinit\n{bash}"


def fish_script(rows: list[tuple[str, str, list[str]]]) -> str:
    """Return the completion of fish."""
    lines = ["# Completion of ctm for fish."]
    for words, names, options in rows:
        used = words.split()
        seen = " and ".join(f"__fish_seen_subcommand_from {word}" for word in used)
        condition = f"'{seen}'" if used else "__fish_use_subcommand"
        if names:
            lines.append(f"complete -c ctm -n {condition} -a '{names}'")
        lines += [
            f"complete -c ctm -n {condition} {'-l' if name.startswith('--') else '-s'} "
            f"{name.lstrip('-')}"
            for name in options
        ]
    return "\n".join(lines) + "\n"


def write_manuals(folder: Path) -> list[Path]:
    """Write all files and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = completions()
    bash = bash_script(rows)
    texts = {
        "ctm.1": man_page(),
        "ctm.bash": bash,
        "_ctm": zsh_script(bash),
        "ctm.fish": fish_script(rows),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python packaging/make_manuals.py FOLDER")
    print("\n".join(map(str, write_manuals(Path(sys.argv[1])))))
