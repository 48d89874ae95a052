"""The options of ``ctm train``."""

from __future__ import annotations

import argparse

from predictor.cli.options import Parser


def add_train(commands: argparse._SubParsersAction[Parser], shared: Parser) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "train",
        parents=[shared],
        help="train the learned engine on published measurements",
        description="Train the network that predictions use. Silicon and families of networks are "
        "held out first: what the network errs by there is what its intervals say. Then it is "
        "trained on everything. A run that was stopped goes on where it was.",
    )
    parser.add_argument("--data", required=True, help="folder with one folder a source")
    parser.add_argument("--out", required=True, help="folder of the checkpoint")
    parser.add_argument("--steps", type=int, default=None, help="blocks to learn from")
    parser.add_argument("--seed", type=int, default=0, help="of everything that is drawn [0]")
    parser.add_argument(
        "--validate-only", action="store_true", help="stop when the held-out figures are written"
    )
