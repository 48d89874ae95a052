"""``ctm probe plan``, ``kit`` and ``run``: networks that are worth measuring, and measured."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path

from predictor.cli.catalogue import open_catalogue
from predictor.cli.console import Console
from predictor.cli.outputs import OutputAction
from predictor.cli.parser import Parser, json_option, measure_option, positive_int, thread_count
from predictor.cli.probe.progress import ProbeProgress
from predictor.cli.probe.sessions import ID_DIGITS, print_session, use_option, with_store
from predictor.cli.progress import duration
from predictor.cli.tables import configuration_text, render_table
from predictor.core.errors import InputError
from predictor.core.records import Target
from predictor.core.text import printable
from predictor.core.units import format_count, significant
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.probing.choice import (
    ADAPTIVE,
    DEFAULT_PROBES,
    DEFAULT_SELECTOR,
    SELECTOR_NAMES,
    PlanRequest,
)
from predictor.probing.measuring.interface import ProbeRunner, RunConfiguration
from predictor.probing.planning import ProbePlan
from predictor.services.devices.catalogue import means_this_machine
from predictor.services.devices.this_machine import lacks_rates
from predictor.services.probing.expectation import (
    ExpectedInterval,
    expected_interval,
    interval_words,
)
from predictor.services.probing.kits import make_kit
from predictor.services.probing.measure import measure
from predictor.services.probing.open import Probing
from predictor.services.probing.other_load import busy_words, other_load
from predictor.services.probing.plan import plan_probes, probe_target, probes_in_time
from predictor.services.probing.runners import board_runner, local_runner
from predictor.services.probing.sessions import ProbeSession

_CPU_PROVIDER = "CPUExecutionProvider"


def add_plan(parser: Parser) -> None:
    """Add the options of ``ctm probe plan``."""
    parser.set_defaults(run=_plan)
    plan_options(parser)
    json_option(parser)


def add_kit(parser: Parser) -> None:
    """Add the options of ``ctm probe kit``."""
    parser.set_defaults(run=with_store(_kit))
    plan_options(parser)
    parser.add_argument("-o", "--output", action=OutputAction, required=True, metavar="KIT.zip")
    json_option(parser)


def plan_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a plan: device, networks, time and run configuration."""
    parser.add_argument(
        "--device", default="this", metavar="ID|DEVICE.json|this", help="default: this machine"
    )
    choice_options(parser)
    parser.add_argument(
        "--threads", type=thread_count, default=1, metavar="N", help="default: 1; 0: all cores"
    )
    measure_option(parser)
    parser.add_argument(
        "--affinity",
        type=_processors,
        default=(),
        metavar="0,1",
        help="processors to run on, default: the system chooses",
    )


def choice_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a plan that several devices may share: networks, time, provider."""
    parser.add_argument(
        "--probes",
        type=positive_int,
        metavar="K",
        help=f"default: {DEFAULT_PROBES}, or as many as --minutes allows",
    )
    parser.add_argument(
        "--selector",
        choices=SELECTOR_NAMES,
        default=DEFAULT_SELECTOR,
        help=f"what chooses the networks, default: {DEFAULT_SELECTOR}; adaptive: what teaches "
        "most, some at a time",
    )
    parser.add_argument(
        "--within",
        type=positive_int,
        metavar="PERCENT",
        help="with --selector adaptive: stop when the 80 %% interval of a typical network reaches "
        "no further above its latency",
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


def _processors(text: str) -> tuple[int, ...]:
    return tuple(thread_count(word) for word in text.split(","))


def _plan(options: argparse.Namespace, console: Console) -> int:
    request = plan_request(options, console, live=False)
    plan = plan_probes(request)
    interval = _interval(plan)
    if options.json:
        console.document(_plan_document(plan, interval))
    else:
        # For the note on a run, which may choose in steps; the plan shown is that of a kit.
        live = plan_probes(replace(request, live=True))
        console.result(_plan_text(plan, interval, len(live.probes) if live.to_come else 0))
        if not options.probes and request.probes < DEFAULT_PROBES:
            console.note("`ctm probe run` measures more while there is time left.")
    return 0


def _kit(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    if not options.output.lower().endswith(".zip"):
        raise InputError(f"--output {options.output}", "a kit is a .zip file", "name it so")
    plan = plan_probes(plan_request(options, console, live=False))
    session = make_kit(probing.sessions, plan, Path(options.output))
    interval = _interval(plan)
    if options.json:
        console.document(
            {**_plan_document(plan, interval), "session": session.id, "kit": options.output}
        )
    else:
        console.result(_plan_text(plan, interval))
        console.note(f"Written: {options.output}; its README says how it is run.")
    return 0


def plan_request(options: argparse.Namespace, console: Console, *, live: bool) -> PlanRequest:
    """Return the request of a plan.

    Args:
        options: as of ``plan_options``.
        console: gets a note when this machine's rates are measured.
        live: whether the networks that are measured first may choose the others.
    """
    check_within(options)
    device = open_catalogue(options, console).find(options.device)
    return request_of(options, probe_target(device, options.threads), live=live)


def check_within(options: argparse.Namespace) -> None:
    """Refuse an interval for a selector that does not look at it.

    Raises:
        InputError: the selector is not the adaptive one.
    """
    if options.within and options.selector != ADAPTIVE:
        raise InputError(
            "--within", "only the adaptive selector stops by itself", f"add --selector {ADAPTIVE}"
        )


def request_of(options: argparse.Namespace, target: Target, *, live: bool) -> PlanRequest:
    """Return the request of a plan for a target; see ``plan_request``."""
    configuration = RunConfiguration(
        provider=options.provider,
        threads=target.configuration.threads,
        affinity=options.affinity,
    )
    request = PlanRequest(
        target=target,
        probes=options.probes or DEFAULT_PROBES,
        selector=options.selector,
        seed=options.seed,
        budget_s=options.minutes * 60.0,
        configuration=configuration,
        live=live,
        within=options.within / 100 if options.within else None,
    )
    return request if options.probes else probes_in_time(request)


def _interval(plan: ProbePlan) -> ExpectedInterval | None:
    return expected_interval(plan.target, [probe.network.fingerprint for probe in plan.probes])


def _plan_text(plan: ProbePlan, interval: ExpectedInterval | None, live: int = 0) -> str:
    """Return a plan: its networks with reasons, its duration, and the interval expected of it.

    Args:
        plan: the plan.
        interval: expected of it; None where it is unknown.
        live: number of networks that a run measures first, to choose the rest by their results.
    """
    rows = [
        (
            probe.network.name,
            format_count(probe.network.macs),
            "—" if probe.expected_ms is None else significant(probe.expected_ms),
            probe.reason,
        )
        for probe in plan.probes
    ]
    table = render_table(("Network", "MACs", "Expected ms", "Why"), rows, " rr")
    target = (
        f"{printable(plan.target.device.name)}, {configuration_text(plan.target.configuration)}"
    )
    takes = (
        f"Measuring is expected to take {duration(plan.expected_s)}, between them "
        f"{plan.sentinel.network.name} three times to see whether the machine changes its speed."
    )
    lines = [target, "", table, "", takes]
    if interval is not None:
        lines.append(interval_words(interval))
    if live:
        lines.append(
            f"This is the plan of a kit. `ctm probe run` measures {live} networks first and "
            "chooses the rest by what they show."
        )
    return "\n".join(lines)


def _plan_document(plan: ProbePlan, interval: ExpectedInterval | None) -> dict[str, object]:
    """Return the document of ``ctm probe plan --json``."""
    return {
        "schema": "ctm-probe-plan/1",
        "device": plan.target.device.id,
        "configuration": asdict(plan.target.configuration),
        "selector": plan.request.selector,
        "seed": plan.request.seed,
        "expected_s": plan.expected_s,
        "interval80_above": asdict(interval) if interval else None,
        "settings": asdict(plan.settings),
        "sentinel": plan.sentinel.network.name,
        "probes": [
            {
                "name": probe.network.name,
                "fingerprint": probe.network.fingerprint,
                "macs": probe.network.macs,
                "params": probe.network.parameters,
                "reason": probe.reason,
                "expected_ms": probe.expected_ms,
            }
            for probe in plan.probes
        ],
    }


def add_run(parser: Parser) -> None:
    """Add the options of the action."""
    parser.set_defaults(run=with_store(_run))
    plan_options(parser)
    parser.add_argument("--session", metavar="ID", help="go on with a session instead of a new one")
    parser.add_argument(
        "--repeat",
        action="append",
        default=[],
        metavar="NAME",
        help="with --session: measure this network again; may be repeated",
    )
    parser.add_argument("--ssh", metavar="USER@HOST", help="measure on this board instead")
    parser.add_argument(
        "--ssh-key", action="append", default=[], metavar="FILE", help="private key for --ssh"
    )
    parser.add_argument(
        "--ssh-python", default="python3", metavar="PROGRAM", help="Python there, default: python3"
    )
    parser.add_argument(
        "--host-key", metavar="SHA256:...", help="accept the board's key if it is this one"
    )
    use_option(parser)
    json_option(parser)


def _run(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    """Measure a new session or go on with one."""
    runner = _runner(options, console)
    session = _session(options, console, probing)
    progress = ProbeProgress(session, console.note)
    source = "ssh" if options.ssh else "local"
    if not options.ssh:
        console.note(busy_words(other_load()))
    events = measure(
        probing.sessions, session.id, runner, source=source, use_anyway=options.use_anyway
    )
    try:
        for event in events:
            progress.take(event)
    except KeyboardInterrupt:
        # Every finished network is stored already, so Ctrl+C loses only the current one.
        console.note(f"`ctm probe run --session {session.id[:ID_DIGITS]}` goes on with it.")
        raise
    return print_session(probing, session.id, options, console)


def _session(options: argparse.Namespace, console: Console, probing: Probing) -> ProbeSession:
    """Return the session that was named, else a new one."""
    if not options.session:
        if options.repeat:
            raise InputError("--repeat", "it names no session", "add --session ID")
        if options.ssh and means_this_machine(options.device):
            raise InputError("--ssh", "a board is not this machine", "say what it is with --device")
        plan = plan_probes(plan_request(options, console, live=True))
        device = plan.target.device
        if device.id == THIS_MACHINE_ID and probing.devices.keep(device):
            rates = "" if lacks_rates(device) else ", with its measured rates"
            console.note(f"This machine is one of your devices now{rates}.")
        return probing.sessions.start(plan)
    session = probing.sessions.get(options.session)
    if options.repeat:
        probing.sessions.repeat(session.id, options.repeat)
    return session


def _runner(options: argparse.Namespace, console: Console) -> ProbeRunner:
    """Return the runner of the machine that is to be measured."""
    if not options.ssh:
        return local_runner()
    return board_runner(
        options.ssh,
        options.store,
        [Path(key) for key in options.ssh_key],
        lambda key: key.fingerprint == options.host_key,
        lambda progress: console.note(progress.message),
        options.ssh_python,
    )
