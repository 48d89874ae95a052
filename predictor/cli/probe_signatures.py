"""``ctm probe show|exclude|include|adapt|use|delete|restore``: the signatures of the store."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from predictor.cli.console import Console
from predictor.cli.probe_json import signature_document
from predictor.cli.probe_text import adapted_text, signature_text
from predictor.cli.progress_line import progress_on
from predictor.core.errors import InputError
from predictor.core.records import Device, Measurement, adaptation_by
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.devices.user_devices import user_devices_of
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.probing.sessions import Probing, StoredSignature
from predictor.services.signatures.film import median_error
from predictor.services.signatures.fit import LeftOut
from predictor.services.signatures.stored import adaptation_of
from predictor.services.signatures.use import BeforeAfter

_DONE = 0


def show_signature(options: argparse.Namespace, console: Console, probing: Probing) -> bool:
    """Print the signature of an id; return whether there is one."""
    found = list(_beginning(probing.signatures.every(), options.id))
    if not found:
        return False
    stored = _only(found, options.id)
    measurements = probing.signatures.measurements(stored.signature.id)
    device = _device(options, console, stored)
    fits: Sequence[LeftOut] = probing.left_out(stored, device) if device else ()
    changed: Sequence[BeforeAfter] = ()
    if device and options.model:
        with IngestionWorker() as worker:
            models = [worker.ingest(path) for path in options.model]
        changed = probing.before_and_after(stored, device, models)
    if options.json:
        console.document(signature_document(stored, measurements, fits, changed))
    else:
        console.result(signature_text(stored, measurements, fits, changed))
    return True


def _device(
    options: argparse.Namespace, console: Console, stored: StoredSignature
) -> Device | None:
    """Return the device of a signature; None where it is not known any more."""
    try:
        catalogue = load_catalogue(user_devices_of(options.store))
        return catalogue.find(stored.signature.device_id)
    except InputError as error:
        console.note(f"What the networks tell of one another is left out: {error}")
        return None


def _exclude(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    signature_id = _find(probing.signatures.every(), options.id)
    measurement = _named(probing.signatures.measurements(signature_id), options.network)
    made = probing.signatures.exclude(signature_id, measurement.id, options.reason)
    return _tell(options, console, made, f"takes its place, without {options.network}")


def _include(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    signature_id = _find(probing.signatures.every(), options.id)
    measurement = _named(probing.signatures.excluded(signature_id), options.network)
    made = probing.signatures.include(signature_id, measurement.id)
    return _tell(options, console, made, f"takes its place, with {options.network} again")


def _adapt(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    """Let predictions use FiLM fine-tuned to a signature where that is better, or as is asked."""
    stored = _only(list(_beginning(probing.signatures.every(), options.id)), options.id)
    signature_id, by = stored.signature.id, options.by
    errors: dict[str, float] = {}
    film = None
    if by != "posterior":
        device = load_catalogue(user_devices_of(options.store)).find(stored.signature.device_id)
        found = probing.adaptations(stored, device, progress_on(console))
        errors = {
            "posterior": median_error(found.by_posterior),
            "film": median_error(found.by_film),
        }
        if by == "film" or found.film_is_better:
            film = found.film
    chosen = adaptation_by(fine_tuned=film is not None, by_operators=stored.timed > 0)
    if chosen != adaptation_of(stored):
        signature_id = probing.signatures.adapt(signature_id, film)
    if options.json:
        console.document({"signature": signature_id, "adaptation": chosen, "errors": errors})
    else:
        console.result(adapted_text(signature_id, chosen, errors))
    return _DONE


def _named(measurements: Sequence[Measurement], name: str) -> Measurement:
    for measurement in measurements:
        facts: Mapping[str, object] = json.loads(measurement.provenance)
        if name in {facts.get("network"), measurement.id, measurement.fingerprint}:
            return measurement
    raise InputError(f"network {name}", "the signature has none", "see `ctm probe show`")


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


SIGNATURE_ACTIONS: Final[Mapping[str, Callable[[argparse.Namespace, Console, Probing], int]]] = {
    "exclude": _exclude,
    "include": _include,
    "adapt": _adapt,
    "use": _use,
    "delete": _delete,
    "restore": _restore,
}


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
