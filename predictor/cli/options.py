"""The options of every ``ctm`` command."""

from __future__ import annotations

import argparse
import math
from typing import NoReturn

from predictor import __version__
from predictor.core.errors import InputError
from predictor.core.records import RUNTIMES, Precision

EPILOG = """\
exit codes: 0 done, 1 budget missed, 2 the input is wrong, 3 the host failed, 130 cancelled
"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are an InputError; options cannot be abbreviated.

    Scripts depend on this command line, so an abbreviation must not change its meaning with the
    next option that is added.
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # handed on as they are

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the command line."""
        raise InputError(self.prog, message, f"see {self.prog} --help")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options of one command line.

    Raises:
        InputError: an option is unknown or its value is wrong.
    """
    defaults = argparse.Namespace(store=None, quiet=False, json=False)
    return _parser().parse_args(arguments, defaults)


def _parser() -> Parser:
    # They import this module.
    from predictor.cli.probe_options import add_probe  # noqa: PLC0415
    from predictor.cli.report_options import add_report  # noqa: PLC0415
    from predictor.cli.store_options import add_store  # noqa: PLC0415
    from predictor.cli.train_options import add_train  # noqa: PLC0415

    everywhere = _everywhere()
    parser = Parser(
        prog="ctm",
        parents=[everywhere],
        description="Predict how fast an ONNX model will run on hardware that is not on your desk.",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"ctm {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_predict(commands, everywhere)
    _add_compare(commands, everywhere)
    add_report(commands, everywhere)
    _add_inspect(commands, everywhere)
    _add_devices(commands, everywhere)
    add_store(commands, everywhere)
    _add_evaluate(commands, everywhere)
    add_train(commands, everywhere)
    add_probe(commands, everywhere)
    return parser


def _everywhere() -> Parser:
    """Return the options that stand before or after the command's name."""
    shared = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument(
        "--store", metavar="PATH", help="file of the local store (default: CTM_STORE, else yours)"
    )
    shared.add_argument("--quiet", action="store_true", help="errors only on stderr")
    return shared


def json_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS,
        help="one JSON document on stdout",
    )


def _shape_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that set a model's open dimensions."""
    parser.add_argument("--batch", type=positive_int, metavar="N", help="batch size")
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        type=_named_shape,
        metavar="NAME=1,3,224,224",
        help="shape of an input; may be repeated",
    )
    parser.add_argument(
        "--dim",
        action="append",
        default=[],
        type=_named_value,
        metavar="NAME=VALUE",
        help="value of a dimension that the file leaves open, by its name; may be repeated",
    )


def prediction_options(parser: argparse.ArgumentParser, budget_help: str) -> None:
    """Add what says which models are predicted on which devices, and how."""
    parser.add_argument(
        "models",
        nargs="+",
        metavar="MODEL.onnx",
        help="a file, a folder to search at any depth, or a pattern in quotes ('models/*.onnx')",
    )
    parser.add_argument(
        "--device",
        action="append",
        default=[],
        metavar="ID|DEVICE.json|this",
        help="a device, shipped or your own: its id, a unique part of its name, a device file, or "
        "this machine; may be repeated (without --device and --all: a short cross-section of the "
        "catalogue)",
    )
    parser.add_argument("--all", action="store_true", help="every shipped device")
    _shape_options(parser)
    parser.add_argument("--runtime", choices=[r for r in RUNTIMES if r != "unknown"])
    parser.add_argument("--precision", choices=[str(p) for p in Precision])
    parser.add_argument("--threads", type=thread_count, metavar="N", help="0: all cores")
    parser.add_argument("--budget-ms", type=_positive_float, metavar="X", help=budget_help)
    parser.add_argument(
        "--engine", default="", metavar="NAME", help="closertome (usual) or roofline"
    )


def _add_predict(commands: argparse._SubParsersAction[Parser], shared: Parser) -> None:
    parser = commands.add_parser(
        "predict",
        parents=[shared],
        help="latency of models on devices",
        description="Predict the latency of each model on each device.",
        epilog=EPILOG,
    )
    prediction_options(parser, "exit 1 when a latency is over it")
    parser.add_argument("--operators", action="store_true", help="where the time goes")
    parser.add_argument(
        "--node-data",
        metavar="FILE.json",
        help="write latency by operator as node data of Model Explorer, and the shares beside it "
        "in FILE.share.json (one model, one device)",
    )
    json_option(parser)


def _add_compare(commands: argparse._SubParsersAction[Parser], shared: Parser) -> None:
    parser = commands.add_parser(
        "compare",
        parents=[shared],
        help="models against one of them",
        description="Predict several models and say how they differ from the first on each device.",
        epilog=EPILOG,
    )
    prediction_options(parser, "exit 1 when no model meets it on a device")
    parser.add_argument(
        "--baseline",
        metavar="MODEL.onnx",
        help="the model that the others are compared with: its file's name (default: the first)",
    )
    parser.add_argument(
        "--operators",
        action="store_true",
        help="operators added, removed and changed, and where the time goes",
    )
    json_option(parser)


def _add_inspect(commands: argparse._SubParsersAction[Parser], shared: Parser) -> None:
    parser = commands.add_parser(
        "inspect",
        parents=[shared],
        help="operators of a model",
        description="Show a model's operators with their shapes, MACs and bytes.",
        epilog=EPILOG,
    )
    parser.add_argument("model", metavar="MODEL.onnx")
    _shape_options(parser)
    json_option(parser)


def _add_devices(commands: argparse._SubParsersAction[Parser], shared: Parser) -> None:
    parser = commands.add_parser(
        "devices",
        parents=[shared],
        help="the catalogue of devices",
        description="List the catalogue, show or check a device, or describe this machine.",
        epilog=EPILOG,
    )
    json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    parser.set_defaults(action="list")
    listing = actions.add_parser("list", parents=[shared], help="list the catalogue (default)")
    show = actions.add_parser("show", parents=[shared], help="one device with its sources")
    show.add_argument("device", metavar="ID")
    check = actions.add_parser("check", parents=[shared], help="check a device file")
    check.add_argument("device", metavar="DEVICE.json")
    detect = actions.add_parser("detect", parents=[shared], help="describe this machine")
    detect.add_argument(
        "--measure",
        action="store_true",
        help="also measure the memory bandwidth and the FP32 rate (some seconds)",
    )
    for action in (listing, show, check, detect):
        json_option(action)


def _add_evaluate(commands: argparse._SubParsersAction[Parser], shared: Parser) -> None:
    # They import this module.
    from predictor.cli.evaluate_measurements_options import add_measurements  # noqa: PLC0415
    from predictor.cli.evaluate_nas_options import add_nas  # noqa: PLC0415

    parser = commands.add_parser(
        "evaluate",
        parents=[shared],
        help="engines against published measurements",
        description="Compare engines with published measurements.",
        epilog="exit code 1: a limit is not kept (see the page that the command writes)",
    )
    subjects = parser.add_subparsers(dest="subject", required=True, metavar="SUBJECT")
    bound = subjects.add_parser(
        "bound",
        parents=[shared],
        help="measurements under the physical bound, and the estimate's error",
        description="Compare every measurement of a data folder with its bound and estimate.",
    )
    bound.add_argument(
        "--data", required=True, metavar="DIR", help="folder with one folder a source"
    )
    bound.add_argument(
        "--output", metavar="OUT.json", help="write the figures here and a page OUT.md beside"
    )
    json_option(bound)
    add_nas(subjects, shared)
    add_measurements(subjects, shared)


def positive_int(text: str) -> int:
    """Return a whole number from 1."""
    return _int_from(text, 1)


def thread_count(text: str) -> int:
    """Return a whole number from 0."""
    return _int_from(text, 0)


def _int_from(text: str, low: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value < 2**31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to 2147483647")
    return value


def _positive_float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number over 0")
    return value


def _named_value(text: str) -> tuple[str, int]:
    name, separator, value = text.rpartition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, positive_int(value)


def _named_shape(text: str) -> tuple[str, tuple[int, ...]]:
    name, separator, dims = text.rpartition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=1,3,224,224")
    return name, tuple(positive_int(dim) for dim in dims.split(",")) if dims else ()
