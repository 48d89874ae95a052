"""The options of ``ctm probe``."""

from __future__ import annotations

import argparse

from predictor.cli.options import EPILOG, Parser, json_option, positive_int, thread_count
from predictor.core.records import RUNTIMES, Precision

_SELECTORS = ("dbsel", "dopt", "iopt", "random", "adaptive")
_CPU_PROVIDER = "CPUExecutionProvider"


def add_probe(commands: argparse._SubParsersAction[Parser], shared: Parser) -> None:
    """Add the command and its actions."""
    parser = commands.add_parser(
        "probe",
        parents=[shared],
        help="measure reference networks on a device",
        description="Plan, measure and keep the reference networks that describe a device.",
        epilog=EPILOG,
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    plan = actions.add_parser("plan", parents=[shared], help="choose networks, measure nothing")
    _plan_options(plan)
    kit = actions.add_parser(
        "kit", parents=[shared], help="archive that measures on a machine out of reach"
    )
    _plan_options(kit)
    kit.add_argument("-o", "--output", required=True, metavar="KIT.zip")
    _add_run(actions, shared)
    taking = _add_import(actions, shared)
    listing = actions.add_parser("list", parents=[shared], help="sessions and signatures")
    show = actions.add_parser("show", parents=[shared], help="one session or signature")
    show.add_argument("id", metavar="ID", help="its id, or the beginning of it")
    show.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="MODEL.onnx",
        help="how a signature changes the prediction of this model; may be repeated",
    )
    leaving = actions.add_parser(
        "exclude",
        parents=[shared],
        help="leave a network out of a signature",
        description="Leave a network out of a signature. A new signature without it takes its "
        "place; the old one stays, and the reason is kept. `ctm probe include` undoes it.",
    )
    again = actions.add_parser(
        "include",
        parents=[shared],
        help="take a network in again that was left out",
        description="Take a network in again that was left out of a signature. A new signature "
        "with it takes its place; the old one stays, and why the network was left out is kept.",
    )
    for action in (leaving, again):
        action.add_argument("id", metavar="ID", help="of the signature, or the beginning of it")
        action.add_argument("network", metavar="NETWORK")
    leaving.add_argument("--reason", required=True, metavar="TEXT")
    adapting = actions.add_parser(
        "adapt",
        parents=[shared],
        help="fine-tune FiLM to a signature where that is better (needs torch)",
        description="Fine-tune FiLM of the network to a signature, predict each of its networks "
        "from the others that way and without, and keep the better. A new signature "
        "takes the place of this one where its adaptation changes. Needs torch.",
    )
    adapting.add_argument("id", metavar="ID", help="of the signature, or the beginning of it")
    adapting.add_argument(
        "--by",
        choices=("best", "film", "posterior"),
        default="best",
        help="keep this one whatever the errors, default: best; posterior needs no torch",
    )
    for action in (plan, kit, taking, listing, show, leaving, again, adapting):
        json_option(action)
    for name, text in (
        ("use", "let predictions use a signature"),
        ("delete", "delete a signature"),
        ("restore", "undo the deletion of a signature"),
    ):
        changing = actions.add_parser(name, parents=[shared], help=text)
        changing.add_argument("id", metavar="ID", help="of the signature, or the beginning of it")
        json_option(changing)


def _add_run(actions: argparse._SubParsersAction[Parser], shared: Parser) -> None:
    run = actions.add_parser("run", parents=[shared], help="measure on this machine or a board")
    _plan_options(run)
    run.add_argument("--session", metavar="ID", help="go on with a session instead of a new one")
    run.add_argument(
        "--repeat",
        action="append",
        default=[],
        metavar="NAME",
        help="with --session: measure this network again; may be repeated",
    )
    run.add_argument("--ssh", metavar="USER@HOST", help="measure on this board instead")
    run.add_argument(
        "--ssh-key", action="append", default=[], metavar="FILE", help="private key for --ssh"
    )
    run.add_argument(
        "--ssh-python", default="python3", metavar="PROGRAM", help="Python there, default: python3"
    )
    run.add_argument(
        "--host-key", metavar="SHA256:...", help="accept the board's key if it is this one"
    )
    json_option(run)


def _add_import(actions: argparse._SubParsersAction[Parser], shared: Parser) -> Parser:
    taking = actions.add_parser(
        "import",
        parents=[shared],
        help="take over a kit's results, or another tool's file",
        description="Take over the results of a kit of this store. With --device: take over the "
        "latencies in a file of another benchmark tool.",
    )
    taking.add_argument("file", metavar="FILE")
    taking.add_argument("--device", metavar="ID|DEVICE.json", help="that the file was measured on")
    taking.add_argument("--runtime", choices=RUNTIMES, default="unknown")
    taking.add_argument("--precision", choices=[str(p) for p in Precision], default="fp32")
    taking.add_argument("--threads", type=thread_count, default=0, metavar="N")
    taking.add_argument("--batch", type=thread_count, default=0, metavar="N")
    taking.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="MODEL.onnx",
        help="a model that a name in the file means; may be repeated",
    )
    taking.add_argument(
        "--name",
        action="append",
        default=[],
        type=_meaning,
        metavar="NAME=MODEL",
        help="which model or probe a name in the file means, nothing to leave it out",
    )
    return taking


def _plan_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", default="this", metavar="ID|DEVICE.json|this", help="default: this machine"
    )
    parser.add_argument("--probes", type=positive_int, default=12, metavar="K", help="default: 12")
    parser.add_argument(
        "--selector",
        choices=_SELECTORS,
        default="dbsel",
        help="what chooses the networks, default: dbsel; adaptive: what teaches most, some at a "
        "time",
    )
    parser.add_argument(
        "--within",
        type=positive_int,
        metavar="PERCENT",
        help="with --selector adaptive: stop when the 80 %% interval of a typical network reaches "
        "no further above its latency",
    )
    parser.add_argument(
        "--threads", type=thread_count, default=1, metavar="N", help="default: 1; 0: all cores"
    )
    parser.add_argument(
        "--minutes",
        type=positive_int,
        default=5,
        metavar="N",
        help="time that measuring may take, default: 5",
    )
    parser.add_argument("--seed", type=thread_count, default=0, metavar="N")
    parser.add_argument(
        "--provider", default=_CPU_PROVIDER, help=f"execution provider, default: {_CPU_PROVIDER}"
    )
    parser.add_argument(
        "--affinity",
        type=_processors,
        default=(),
        metavar="0,1",
        help="processors to run on, default: the system chooses",
    )


def _processors(text: str) -> tuple[int, ...]:
    return tuple(thread_count(word) for word in text.split(","))


def _meaning(text: str) -> tuple[str, str | None]:
    name, separator, model = text.rpartition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=MODEL")
    return name, model or None
