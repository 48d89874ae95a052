"""``ctm probe``: reference networks are planned, measured, carried and kept."""

from __future__ import annotations

from predictor.cli.parser import EPILOG, Parser, add_commands

_ACTIONS = {
    "plan": ("probe.run", "choose networks, measure nothing"),
    "kit": ("probe.run", "archive that measures on a machine out of reach"),
    "run": ("probe.run", "measure on this machine or a board"),
    "fleet": ("probe.fleet", "measure boards of an inventory side by side over SSH"),
    "import": ("probe.imports", "take over a kit's results, or another tool's file"),
    "list": ("probe.listing", "sessions and signatures"),
    "show": ("probe.listing", "one session or signature"),
    "exclude": ("probe.signatures", "leave a network out of a signature"),
    "include": ("probe.signatures", "take a network in again that was left out"),
    "adapt": (
        "probe.signatures",
        "fine-tune FiLM to a signature where that is better (needs torch)",
    ),
    "use": ("probe.signatures", "let predictions use a signature"),
    "delete": ("probe.signatures", "delete a signature"),
    "restore": ("probe.signatures", "undo the deletion of a signature"),
}


def add_probe(parser: Parser) -> None:
    """Add the actions."""
    parser.description = "Plan, measure and keep the reference networks that describe a device."
    parser.epilog = EPILOG
    add_commands(parser, "action", _ACTIONS)
