"""``ctm evaluate``: engines against published measurements or a table of the user's own."""

from __future__ import annotations

from predictor.cli.parser import Parser, add_commands

# The subjects of research, by the names of their modules in ``ctm_research.commands``.
_OF_RESEARCH = {
    "bound": "measurements under the physical bound, and the estimate's error",
    "classes": "errors by runtime and kind of device, on silicon left out",
    "clocks": "latency at other clocks, from one and three measured points",
    "learned": "what the learned parts of the estimate are worth",
    "memory": "peak memory and fallbacks against what AI Hub publishes",
    "generation": "language models, on devices left out",
    "nas": "latency predictors on neural architecture search spaces",
    "power": "watts of cards and boards under load, on silicon left out",
    "physics": "parts of the physics, each left out or replaced in turn",
    "selectors": "selectors of reference networks, on silicon left out",
    "systems": "the systems of published papers on the same measurements",
    "tails": "P90 and P99 over the median, on chips left out",
    "throughput": "what several runs at once bring, on systems left out",
}
_SUBJECTS = {
    **{name: (f"ctm_research.commands.{name}", text) for name, text in _OF_RESEARCH.items()},
    "track": ("evaluate.track", "the record of the shipped estimate on hardware it had not seen"),
    "measurements": ("evaluate.measurements", "an engine against a table of your own"),
}


def add_evaluate(parser: Parser) -> None:
    """Add the subjects."""
    parser.description = "Compare engines with published measurements."
    parser.epilog = "exit code 1: a limit is not kept (see the page that the command writes)"
    add_commands(parser, "subject", _SUBJECTS)
