"""The parser of ``ctm`` and the options that several commands share."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from predictor.cli.research import PACKAGE, research_module
from predictor.core.errors import InputError
from predictor.core.records import Precision
from predictor.core.runtimes import is_offered, offered, usual_name

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
        self.complete: Callable[[Parser], None] | None = None

    def parse_known_args(  # type: ignore[override]  # the overloads of argparse are one here
        self,
        args: list[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> tuple[argparse.Namespace, list[str]]:
        """Add the command's own options on demand, then parse its part of the command line."""
        if self.complete is not None:
            self.complete(self)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise an InputError in place of argparse's exit."""
        raise InputError(self.prog, message, f"see {self.prog} --help")


def add_commands(parser: Parser, dest: str, commands: Mapping[str, tuple[str, str]]) -> None:
    """Add commands, one of them required; only the module of that one is imported.

    The module of a command has a function ``add_NAME`` that adds the options of this command to
    its parser and sets ``run``, called with the options and the console, for the exit code.

    Args:
        parser: of the program, or of the command that they belong to.
        dest: attribute of the options that gets the name of the chosen command.
        commands: module and line of the help, by name of the command; the module is one under
            ``predictor.cli``, or one of research by its full name.
    """
    chosen = parser.add_subparsers(dest=dest, required=True, metavar=dest.upper())
    for name, (module, text) in commands.items():
        command = chosen.add_parser(name, parents=[everywhere()], help=text)
        command.complete = partial(_add_options, module, name)


def _add_options(module: str, name: str, parser: Parser) -> None:
    if module.startswith(f"{PACKAGE}."):
        imported = research_module(module, parser.prog)
    else:
        imported = import_module(f"predictor.cli.{module}")
    getattr(imported, f"add_{name}")(parser)


def everywhere() -> Parser:
    """Return the options that stand before or after the command's name."""
    # A default here would overwrite the value of an option that stood before the command's name.
    shared = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument(
        "--store",
        type=_path,
        metavar="PATH",
        help="file of the local store (default: CTM_STORE, else yours)",
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


def measure_option(parser: argparse.ArgumentParser, *, networks: bool = False) -> None:
    """Add ``--no-measure``, and ``--measure`` where predictions use reference networks.

    ``measure`` of the options is None without either: the rates of this machine are measured where
    none are kept, and reference networks on a terminal alone.
    """
    parser.set_defaults(measure=None)
    options = parser.add_mutually_exclusive_group()
    what = "the rates of this machine where none are kept (2 s)"
    if networks:
        what = "this machine where nothing of it is kept (10 s)"
        options.add_argument(
            "--measure",
            action="store_true",
            help="measure reference networks on this machine where none are kept (10 s); without "
            "it they are measured on a terminal alone",
        )
    options.add_argument(
        "--no-measure", dest="measure", action="store_false", help=f"do not measure {what}"
    )


def shape_options(parser: argparse.ArgumentParser) -> None:
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


def device_options(parser: argparse.ArgumentParser, all_help: str) -> None:
    """Add ``--device`` and ``--all``."""
    parser.add_argument(
        "--device",
        action="append",
        default=[],
        metavar="ID|DEVICE.json|this",
        help="a device, shipped or your own: its id, a unique part of its name, a device file, or "
        'this machine (this, "this PC"); or a product with all its devices ("galaxy s23", "galaxy '
        's23 npu": one); may be repeated (without --device and --all: a short cross-section of '
        "the catalogue)",
    )
    parser.add_argument("--all", action="store_true", help=all_help)


def prediction_options(parser: argparse.ArgumentParser, budget_help: str) -> None:
    """Add the options of models, devices, configuration and engine."""
    parser.add_argument(
        "models",
        nargs="+",
        metavar="MODEL",
        help="a file, a folder to search at any depth, or a pattern in quotes ('models/*.onnx')",
    )
    device_options(parser, "every shipped device")
    shape_options(parser)
    parser.add_argument(
        "--runtime",
        type=usual_name,
        metavar="NAME",
        help="in place of the device's default; without --precision in its usual precision "
        "(ctm devices show ID lists what a device runs, the best deployable first)",
    )
    parser.add_argument(
        "--precision",
        metavar="|".join(Precision),
        help="without --runtime under the best deployable runtime that has it",
    )
    parser.add_argument("--threads", type=thread_count, metavar="N", help="0: all cores")
    measure_option(parser, networks=True)
    parser.add_argument("--budget-ms", type=positive_float, metavar="X", help=budget_help)
    parser.add_argument(
        "--engine", default="", metavar="NAME", help="closertome (usual) or roofline"
    )


def measured_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--measured``."""
    parser.add_argument(
        "--measured",
        action="append",
        default=[],
        metavar="DEVICE[/RUNTIME/PRECISION/tTHREADS]=MS",
        help="latency in ms of one run of the model that you measured there, for this command: it "
        "stands for the prediction there and corrects those of related targets; may "
        "be repeated",
    )


def _path(text: str) -> Path | None:
    """Return a path, None for an empty text: a script's variable that is not set."""
    return Path(text) if text else None


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


def positive_float(text: str) -> float:
    """Return a finite number over 0."""
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


def clock_options(parser: Parser) -> None:
    """Add the options of a power mode and of clocks."""
    parser.add_argument(
        "--mode",
        default="",
        metavar="NAME",
        help="at a power mode of the device, such as 15W (ctm devices show ID lists them)",
    )
    parser.add_argument(
        "--clock",
        default="",
        metavar="gpu=MHZ,cpu=MHZ,mem=MHZ",
        help="at these clocks, or some of them; beside --mode they replace those of the mode",
    )


class RuntimeNames(Collection[str]):
    """Names that ``--runtime`` takes: those that ship are listed, those of plug-ins taken too."""

    def __init__(self, *further: str) -> None:
        """Take further names beside those of runtimes."""
        self._further = further

    def __contains__(self, name: object) -> bool:
        return name in self._further or (isinstance(name, str) and is_offered(name))

    def __iter__(self) -> Iterator[str]:
        return iter((*offered(), *self._further))

    def __len__(self) -> int:
        return len(offered()) + len(self._further)
