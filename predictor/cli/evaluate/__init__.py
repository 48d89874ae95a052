"""``ctm evaluate``: engines against published measurements or a table of the user's own."""

from __future__ import annotations

from predictor.cli.parser import Parser, add_commands

_SUBJECTS = {
    "bound": ("evaluate.bound", "measurements under the physical bound, and the estimate's error"),
    "classes": ("evaluate.classes", "errors by runtime and kind of device, on silicon left out"),
    "clocks": ("evaluate.clocks", "latency at other clocks, from one and three measured points"),
    "memory": ("evaluate.memory", "peak memory and fallbacks against what AI Hub publishes"),
    "generation": ("evaluate.generation", "language models, on devices left out"),
    "nas": ("evaluate.nas", "latency predictors on neural architecture search spaces"),
    "physics": ("evaluate.physics", "parts of the physics, each left out or replaced in turn"),
    "selectors": ("evaluate.selectors", "selectors of reference networks, on silicon left out"),
    "systems": ("evaluate.systems", "the systems of published papers on the same measurements"),
    "tails": ("evaluate.tails", "P90 and P99 over the median, on chips left out"),
    "track": ("evaluate.track", "the record of the shipped estimate on hardware it had not seen"),
    "measurements": ("evaluate.measurements", "an engine against a table of your own"),
}


def add_evaluate(parser: Parser) -> None:
    """Add the subjects."""
    parser.description = "Compare engines with published measurements."
    parser.epilog = "exit code 1: a limit is not kept (see the page that the command writes)"
    add_commands(parser, "subject", _SUBJECTS)
