"""``ctm probe``: plan, measure, carry and keep reference networks."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.probe_import import take_over_file
from predictor.cli.probe_json import (
    plan_document,
    session_document,
    session_summary,
    signature_document,
    signature_summary,
)
from predictor.cli.probe_progress import ProbeProgress
from predictor.cli.probe_text import list_text, plan_text, session_text, signature_text
from predictor.core.errors import HostError, InputError
from predictor.core.records import Device
from predictor.services.catalogue import load_catalogue
from predictor.services.probing import (
    LocalRunner,
    ProbeRunner,
    Probing,
    SessionState,
    StoredSession,
    StoredSignature,
    open_probing,
)
from predictor.services.probing_plan import (
    ProbePlan,
    RunConfiguration,
    Wish,
    plan_probes,
    probe_target,
)
from predictor.services.probing_ssh import board_runner
from predictor.services.signature_fit import LeftOut
from predictor.services.this_machine import THIS_MACHINE_ID, with_measured
from predictor.services.user_devices import user_devices_of

_DONE = 0
_NOTHING_MEASURED = 3
_THIS_MACHINE = "this"


def run(options: argparse.Namespace, console: Console) -> int:
    """Do what ``ctm probe`` was asked for."""
    if options.action == "plan":
        _print_plan(_plan(options, console), options, console)
        return _DONE
    actions = {
        "kit": _kit,
        "run": _run,
        "import": _import,
        "list": _list,
        "show": _show,
        "use": _use,
        "delete": _delete,
        "restore": _restore,
    }
    with open_probing(Path(options.store) if options.store else None) as probing:
        return actions[options.action](options, console, probing)


def _plan(options: argparse.Namespace, console: Console) -> ProbePlan:
    device = _device(options, console)
    target = probe_target(device, options.threads)
    configuration = RunConfiguration(
        provider=options.provider,
        threads=target.configuration.threads,
        affinity=options.affinity,
    )
    return plan_probes(
        Wish(
            target,
            options.probes,
            options.selector,
            options.seed,
            options.minutes * 60.0,
            configuration,
        )
    )


def _device(options: argparse.Namespace, console: Console) -> Device:
    """Return the device; what this machine's system does not tell is measured for estimates."""
    device = load_catalogue(user_devices_of(options.store)).find(options.device)
    if device.id != THIS_MACHINE_ID:
        return device
    console.note("Measuring this machine's memory and arithmetic for the estimates.")
    try:
        return with_measured(device)
    except HostError as error:
        console.note(f"There are no estimates: {error}")
        return device


def _print_plan(plan: ProbePlan, options: argparse.Namespace, console: Console) -> None:
    if options.json:
        console.document(plan_document(plan))
    else:
        console.result(plan_text(plan))


def _kit(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    plan = _plan(options, console)
    session = probing.make_kit(plan, Path(options.output))
    if options.json:
        console.document({**plan_document(plan), "session": session.id, "kit": options.output})
    else:
        console.result(plan_text(plan))
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
        return probing.start(_plan(options, console))
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
    found = list(_beginning(probing.signatures.every(), options.id))
    if not found:
        _print_session(probing, options.id, options, console)
        return _DONE
    stored = _only(found, options.id)
    measurements = probing.signatures.measurements(stored.signature.id)
    fits = _fits(options, console, probing, stored)
    if options.json:
        console.document(signature_document(stored, measurements, fits))
    else:
        console.result(signature_text(stored, measurements, fits))
    return _DONE


def _fits(
    options: argparse.Namespace, console: Console, probing: Probing, stored: StoredSignature
) -> tuple[LeftOut, ...]:
    """Return each network predicted from the others; none where the device is not known."""
    try:
        catalogue = load_catalogue(user_devices_of(options.store))
        return probing.left_out(stored, catalogue.find(stored.signature.device_id))
    except InputError as error:
        console.note(f"What the networks tell of one another is left out: {error}")
        return ()


def _use(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    signature_id = _find(probing.signatures.every(), options.id)
    probing.signatures.activate(signature_id)
    return _tell(options, console, signature_id, "is in use now")


def _delete(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    signature_id = _find(probing.signatures.every(), options.id)
    probing.signatures.delete(signature_id)
    return _tell(options, console, signature_id, "is deleted; `ctm probe restore` undoes it")


def _restore(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    signature_id = _find(probing.signatures.deleted(), options.id)
    probing.signatures.restore(signature_id, active=False)
    return _tell(options, console, signature_id, "is back; `ctm probe use` lets predictions use it")


def _tell(options: argparse.Namespace, console: Console, signature_id: str, what: str) -> int:
    if options.json:
        console.document({"signature": signature_id, "done": options.action})
    else:
        console.result(f"Signature {signature_id} {what}.")
    return _DONE


def _find(signatures: Sequence[StoredSignature], beginning: str) -> str:
    return _only(list(_beginning(signatures, beginning)), beginning).signature.id


def _beginning(signatures: Sequence[StoredSignature], beginning: str) -> Iterator[StoredSignature]:
    return (stored for stored in signatures if stored.signature.id.startswith(beginning))


def _only(found: Sequence[StoredSignature], beginning: str) -> StoredSignature:
    if len(found) != 1:
        raise InputError(
            f"signature {beginning}",
            f"{len(found)} begin so" if found else "there is none",
            "run `ctm probe list`",
        )
    return found[0]
