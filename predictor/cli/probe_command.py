"""``ctm probe``: plan, measure, carry and keep reference networks."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.probe_import import take_over_file
from predictor.cli.probe_json import (
    plan_document,
    session_document,
    session_summary,
    signature_summary,
)
from predictor.cli.probe_progress import ProbeProgress
from predictor.cli.probe_signatures import SIGNATURE_ACTIONS, show_signature
from predictor.cli.probe_text import list_text, plan_text, session_text
from predictor.core.errors import HostError, InputError
from predictor.core.records import Device
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.devices.this_machine import THIS_MACHINE_ID, is_measured, with_measured
from predictor.services.devices.user_devices import user_devices_of
from predictor.services.probing.expectation import ExpectedInterval, expected_interval
from predictor.services.probing.plan import (
    ADAPTIVE,
    ProbePlan,
    RunConfiguration,
    Wish,
    plan_probes,
    probe_target,
)
from predictor.services.probing.sessions import (
    LocalRunner,
    ProbeRunner,
    Probing,
    SessionState,
    StoredSession,
    open_probing,
)
from predictor.services.probing.ssh import board_runner

_DONE = 0
_NOTHING_MEASURED = 3
_THIS_MACHINE = "this"


def run(options: argparse.Namespace, console: Console) -> int:
    """Do what ``ctm probe`` was asked for."""
    if options.action == "plan":
        _print_plan(options, console)
        return _DONE
    actions = {
        "kit": _kit,
        "run": _run,
        "import": _import,
        "list": _list,
        "show": _show,
        **SIGNATURE_ACTIONS,
    }
    with open_probing(Path(options.store) if options.store else None) as probing:
        return actions[options.action](options, console, probing)


def _wish(options: argparse.Namespace, console: Console, *, live: bool) -> Wish:
    if options.within and options.selector != ADAPTIVE:
        raise InputError(
            "--within", "only the adaptive selector stops by itself", f"add --selector {ADAPTIVE}"
        )
    target = probe_target(_device(options, console), options.threads)
    configuration = RunConfiguration(
        provider=options.provider,
        threads=target.configuration.threads,
        affinity=options.affinity,
    )
    return Wish(
        target,
        options.probes,
        options.selector,
        options.seed,
        options.minutes * 60.0,
        configuration,
        live,
        options.within / 100 if options.within else None,
    )


def _device(options: argparse.Namespace, console: Console) -> Device:
    """Return the device; what this machine's system does not tell is measured for estimates."""
    device = load_catalogue(user_devices_of(options.store)).find(options.device)
    if device.id != THIS_MACHINE_ID or is_measured(device):
        return device
    console.note("Measuring this machine's memory and arithmetic for the estimates.")
    try:
        return with_measured(device)
    except HostError as error:
        console.note(f"There are no estimates: {error}")
        return device


def _print_plan(options: argparse.Namespace, console: Console) -> None:
    wish = _wish(options, console, live=False)
    plan = plan_probes(wish)
    interval = _interval(plan)
    if options.json:
        console.document(plan_document(plan, interval))
    else:
        live = plan_probes(replace(wish, live=True))
        console.result(plan_text(plan, interval, len(live.probes) if live.to_come else 0))


def _interval(plan: ProbePlan) -> ExpectedInterval | None:
    return expected_interval(plan.target, [probe.network.fingerprint for probe in plan.probes])


def _kit(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    plan = plan_probes(_wish(options, console, live=False))
    session = probing.make_kit(plan, Path(options.output))
    interval = _interval(plan)
    if options.json:
        console.document(
            {**plan_document(plan, interval), "session": session.id, "kit": options.output}
        )
    else:
        console.result(plan_text(plan, interval))
        console.note(f"Written: {options.output}; its README says how it is run.")
    return _DONE


def _run(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    """Measure a new session or go on with one."""
    runner = _runner(options, console)
    session = _session(options, console, probing)
    progress = ProbeProgress(session, console)
    source = "ssh" if options.ssh else "local"
    try:
        for event in probing.run(session.id, runner, source=source):
            progress.take(event)
    except KeyboardInterrupt:
        console.note(f"`ctm probe run --session {session.id[:8]}` goes on with it.")
        raise
    return _print_session(probing, session.id, options, console)


def _session(options: argparse.Namespace, console: Console, probing: Probing) -> StoredSession:
    """Return the session that was named, else a new one."""
    if not options.session:
        if options.repeat:
            raise InputError("--repeat", "it names no session", "add --session ID")
        if options.ssh and options.device == _THIS_MACHINE:
            raise InputError("--ssh", "a board is not this machine", "say what it is with --device")
        plan = plan_probes(_wish(options, console, live=True))
        if plan.target.device.id == THIS_MACHINE_ID and probing.keep_device(plan.target.device):
            console.note("This machine is one of your devices now, with its measured rates.")
        return probing.start(plan)
    session = probing.session(options.session)
    if options.repeat:
        probing.repeat(session.id, options.repeat)
    return session


def _runner(options: argparse.Namespace, console: Console) -> ProbeRunner:
    """Return the runner of the machine that is to be measured."""
    if not options.ssh:
        return LocalRunner()
    return board_runner(
        options.ssh,
        Path(options.store) if options.store else None,
        [Path(key) for key in options.ssh_key],
        lambda key: key.fingerprint == options.host_key,
        lambda progress: console.note(progress.message),
        options.ssh_python,
    )


def _import(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    if options.device:
        return take_over_file(options, console)
    session = probing.import_results(Path(options.file))
    return _print_session(probing, session.id, options, console)


def _print_session(
    probing: Probing, session_id: str, options: argparse.Namespace, console: Console
) -> int:
    session = probing.session(session_id)
    measurements = probing.measurements(session.id)
    signature_id = _signature_of(probing, session)
    if options.json:
        console.document(session_document(session, measurements, signature_id))
    else:
        console.result(session_text(session, measurements, signature_id))
    return _NOTHING_MEASURED if session.state is SessionState.FAILED else _DONE


def _signature_of(probing: Probing, session: StoredSession) -> str | None:
    """Return the newest signature that came of a session."""
    found = [s.signature.id for s in probing.signatures.every() if s.session_id == session.id]
    return found[-1] if found else None


def _list(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    sessions, signatures = probing.sessions(), probing.signatures.every()
    if options.json:
        console.document(
            {
                "sessions": [session_summary(session) for session in sessions],
                "signatures": [signature_summary(signature) for signature in signatures],
            }
        )
    else:
        console.result(list_text(sessions, signatures))
    return _DONE


def _show(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    if show_signature(options, console, probing):
        return _DONE
    if options.model:
        raise InputError("--model", f"{options.id} is no signature", "run `ctm probe list`")
    _print_session(probing, options.id, options, console)
    return _DONE
