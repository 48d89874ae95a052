"""``ctm probe exclude|include|adapt|use|delete|restore``: the signatures of the store."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from predictor.cli.catalogue import open_catalogue
from predictor.cli.console import Console
from predictor.cli.parser import Parser, json_option
from predictor.cli.probe import sessions
from predictor.cli.progress import progress_on
from predictor.cli.tables import configuration_text, day, render_table
from predictor.core.errors import InputError
from predictor.core.prediction import TIMES, Prediction, adaptation_by
from predictor.core.records import Device, Measurement, Target
from predictor.core.stored import StoredSignature
from predictor.core.text import printable
from predictor.core.units import significant
from predictor.presentation.wording import UNSTABLE, percent
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.probing.open import Probing
from predictor.services.signatures import adaptation, assessment
from predictor.services.signatures.film import adaptations, median_error


def add_exclude(parser: Parser) -> None:
    """Add the options of ``ctm probe exclude``."""
    parser.description = (
        "Leave a network out of a signature. A new signature without it takes its "
        "place; the old one stays, and the reason is kept. `ctm probe include` undoes it."
    )
    parser.set_defaults(run=sessions.with_store(_exclude))
    _add_id(parser)
    parser.add_argument("network", metavar="NETWORK")
    parser.add_argument("--reason", required=True, metavar="TEXT")
    json_option(parser)


def add_include(parser: Parser) -> None:
    """Add the options of ``ctm probe include``."""
    parser.description = (
        "Take a network in again that was left out of a signature. A new signature "
        "with it takes its place; the old one stays, and why the network was left out is kept."
    )
    parser.set_defaults(run=sessions.with_store(_include))
    _add_id(parser)
    parser.add_argument("network", metavar="NETWORK")
    json_option(parser)


def add_adapt(parser: Parser) -> None:
    """Add the options of ``ctm probe adapt``."""
    parser.description = (
        "Fine-tune FiLM of the network to a signature, predict each of its networks "
        "from the others that way and without, and keep the better. A new signature "
        "takes the place of this one where its adaptation changes. Needs torch."
    )
    parser.set_defaults(run=sessions.with_store(_adapt))
    _add_id(parser)
    parser.add_argument(
        "--by",
        choices=("best", "film", "posterior"),
        default="best",
        help="keep this one whatever the errors, default: best; posterior needs no torch",
    )
    json_option(parser)


def add_use(parser: Parser) -> None:
    """Add the options of ``ctm probe use``."""
    parser.set_defaults(run=sessions.with_store(_use))
    _add_id(parser)
    json_option(parser)


def add_delete(parser: Parser) -> None:
    """Add the options of ``ctm probe delete``."""
    parser.set_defaults(run=sessions.with_store(_delete))
    _add_id(parser)
    json_option(parser)


def add_restore(parser: Parser) -> None:
    """Add the options of ``ctm probe restore``."""
    parser.set_defaults(run=sessions.with_store(_restore))
    _add_id(parser)
    json_option(parser)


def _add_id(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help="of the signature, or the beginning of it")


def _exclude(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    signature_id = _entry(probing.signatures.all(), options.id).signature.id
    measurement = _named(probing.signatures.measurements(signature_id), options.network)
    made = probing.signatures.exclude(signature_id, measurement.id, options.reason)
    return _print_done(options, console, made, f"takes its place, without {options.network}")


def _include(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    signature_id = _entry(probing.signatures.all(), options.id).signature.id
    measurement = _named(probing.signatures.excluded(signature_id), options.network)
    made = probing.signatures.include(signature_id, measurement.id)
    return _print_done(options, console, made, f"takes its place, with {options.network} again")


def _adapt(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    """Let predictions use FiLM fine-tuned to a signature where that is better, or as is asked."""
    stored = _entry(probing.signatures.all(), options.id)
    signature_id, by = stored.signature.id, options.by
    errors: dict[str, float] = {}
    film = None
    if by != "posterior":
        device = open_catalogue(options, console).stored(stored.signature.device_id)
        target = Target(device, stored.signature.configuration)
        measured = probing.signatures.measured(signature_id)
        tried = adaptations(target, *measured, progress_on(console))
        errors = {
            "posterior": median_error(tried.by_posterior),
            "film": median_error(tried.by_film),
        }
        if by == "film" or tried.film_is_better:
            film = tried.film
    chosen = adaptation_by(fine_tuned=film is not None, by_operators=stored.timed > 0)
    # Every change is a new signature: an equal one would only fill the list.
    if chosen != adaptation.adaptation_of(stored):
        signature_id = probing.signatures.adapt(signature_id, film)
    if options.json:
        console.document({"signature": signature_id, "adaptation": chosen, "errors": errors})
    else:
        console.result(adapted_text(signature_id, chosen, errors))
    return 0


def _use(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    signature_id = _entry(probing.signatures.all(), options.id).signature.id
    reason = probing.signatures.activate(signature_id)
    unstable = f", and its numbers are marked {UNSTABLE}: {reason}" if reason else ""
    return _print_done(options, console, signature_id, f"is in use now{unstable}")


def _delete(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    signature_id = _entry(probing.signatures.all(), options.id).signature.id
    probing.signatures.delete(signature_id)
    return _print_done(options, console, signature_id, "is deleted; `ctm probe restore` undoes it")


def _restore(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    signature_id = _entry(probing.signatures.deleted(), options.id).signature.id
    probing.signatures.restore(signature_id, active=False)
    return _print_done(
        options, console, signature_id, "is back; `ctm probe use` lets predictions use it"
    )


def _print_done(options: argparse.Namespace, console: Console, signature_id: str, what: str) -> int:
    if options.json:
        console.document({"signature": signature_id, "done": options.action})
    else:
        console.result(f"Signature {signature_id} {what}.")
    return 0


def _entry(signatures: Sequence[StoredSignature], beginning: str) -> StoredSignature:
    """Return the signature whose id begins so.

    Raises:
        InputError: there is none, or several.
    """
    entries = _entries(signatures, beginning)
    if len(entries) != 1:
        raise InputError(
            f"signature {beginning}",
            f"{len(entries)} begin so" if entries else "there is none",
            "run `ctm probe list`",
        )
    return entries[0]


def _entries(signatures: Sequence[StoredSignature], beginning: str) -> list[StoredSignature]:
    return [entry for entry in signatures if entry.signature.id.startswith(beginning)]


def _named(measurements: Sequence[Measurement], name: str) -> Measurement:
    for measurement in measurements:
        # Imported measurements may have no name, so ids and fingerprints are taken too.
        if name in {measurement.provenance.network, measurement.id, measurement.fingerprint}:
            return measurement
    raise InputError(f"network {name}", "the signature has none", "see `ctm probe show`")


def show_signature(options: argparse.Namespace, console: Console, probing: Probing) -> bool:
    """Print the signature of an id; return whether there is one."""
    signatures = probing.signatures.all()
    if not _entries(signatures, options.id):
        return False
    stored = _entry(signatures, options.id)
    reason = probing.signatures.reason_against(stored)
    measurements = probing.signatures.measurements(stored.signature.id)
    device = _device(options, console, stored)
    fits: Sequence[assessment.LeftOut] = ()
    changed: Sequence[assessment.BeforeAfter] = ()
    if device:
        target = Target(device, stored.signature.configuration)
        measured, used = probing.signatures.measured(stored.signature.id)
        fits = assessment.left_out(target, measured, used)
        if options.model:
            with IngestionWorker() as worker:
                models = [worker.ingest(path) for path in options.model]
            changed = assessment.before_and_after(target, measured, models)
    if options.json:
        console.document(signature_document(stored, measurements, fits, changed, reason))
    else:
        console.result(signature_text(stored, measurements, fits, changed, reason))
    return True


def _device(
    options: argparse.Namespace, console: Console, stored: StoredSignature
) -> Device | None:
    """Return the device of a signature; None where it is not known any more."""
    try:
        catalogue = open_catalogue(options, console)
        return catalogue.stored(stored.signature.device_id)
    except InputError as error:
        console.note(f"Predictions of the networks from one another are left out: {error}")
        return None


def signature_text(
    stored: StoredSignature,
    measurements: Sequence[Measurement],
    fits: Sequence[assessment.LeftOut],
    changed: Sequence[assessment.BeforeAfter] = (),
    reason: str = "",
) -> str:
    """Return a signature: its machine, its latencies, and each predicted from the others.

    Args:
        stored: the signature.
        measurements: of it.
        fits: each predicted from the others.
        changed: models with and without it.
        reason: why it is not believed; empty where it is.
    """
    fit_of = {fit.measurement_id: fit for fit in fits}
    signature, facts = stored.signature, stored.facts
    rows = [
        (
            printable(_network_name(m)),
            significant(m.value_ms, 4),
            str(len(m.samples_ns)),
            *_fit_cells(fit_of.get(m.id)),
        )
        for m in measurements
    ]
    host = facts.host
    machine = ", ".join(
        printable(str(host[key])) for key in ("processor", "system", "onnxruntime") if host.get(key)
    )
    use = sessions.use_text(stored, reason)
    head = (
        f"Signature {signature.id}: {printable(signature.device_id)}, "
        f"{configuration_text(signature.configuration)}, {day(stored.created_ns)}"
        f"{', ' if use else ''}{use}"
    )
    headers = ("Network", "Median ms", "Runs", "From the others ms", "Error", "")
    table = render_table(headers, rows, " rrrr")
    words = assessment.errors_in_words(fits)
    notes = ["", words] if words else []
    notes += filter(None, (sessions.belief_text(stored, reason),))
    notes += [f"Adapted by: {adaptation.ADAPTATIONS[adaptation.adaptation_of(stored)]}"]
    if outdated := adaptation.outdated_film_words(stored):
        notes += [f"FiLM: {outdated}"]
    notes += [f"Left out: {printable(text)}" for text in facts.excluded_words()]
    notes += [f"Taken in again: {printable(text)}" for text in facts.included_again_words()]
    models = ["", _changed_table(changed)] if changed else []
    return "\n".join([head, *([machine] if machine else []), "", table, *notes, *models])


def _network_name(measurement: Measurement) -> str:
    name = measurement.provenance.network
    return measurement.fingerprint[: sessions.ID_DIGITS] if name is None else name


def _fit_cells(fit: assessment.LeftOut | None) -> tuple[str, str, str]:
    if fit is None:
        return "—", "—", ""
    doubt = "disagrees with the others: repeat it" if fit.disagrees else ""
    return significant(fit.predicted_ms, 4), percent(fit.error, signed=True), doubt


def _changed_table(changed: Sequence[assessment.BeforeAfter]) -> str:
    rows = [
        (
            printable(prediction.after.model),
            *_interval_cells(prediction.before),
            *_interval_cells(prediction.after),
        )
        for prediction in changed
    ]
    headers = ("Model", "Before ms", "80 % interval", "After ms", "80 % interval")
    return render_table(headers, rows, " rrrr")


def _interval_cells(prediction: Prediction) -> tuple[str, str]:
    p50, low, high = prediction.latency_ms, prediction.low80_ms, prediction.high80_ms
    if p50 is None or low is None or high is None:
        return "—", "—"
    return significant(p50, 4), f"{significant(low)} to {significant(high)}"


def adapted_text(signature_id: str, chosen: str, errors: Mapping[str, float]) -> str:
    """Return the adaptation of predictions to a signature, in words.

    Args:
        signature_id: of the signature that says so.
        chosen: as ``Prediction.adaptation`` names it.
        errors: median error of each way where both were tried.
    """
    methods = {"posterior": "without fine-tuning", "film": "with FiLM fine-tuned"}
    lines = [
        f"Each network predicted from the others, median error: {percent(error)} {methods[method]}."
        for method, error in errors.items()
    ]
    return "\n".join([*lines, f"Signature {signature_id}: {adaptation.ADAPTATIONS[chosen]}."])


def signature_document(
    stored: StoredSignature,
    measurements: list[Measurement],
    fits: Sequence[assessment.LeftOut],
    changed: Sequence[assessment.BeforeAfter] = (),
    reason: str = "",
) -> dict[str, object]:
    """Return a signature with its measurements; latencies in ms.

    ``left_out_ms`` is predicted from the other networks, null where they do not suffice; ``models``
    are predictions without the signature and with it.
    """
    fit_of = {fit.measurement_id: fit for fit in fits}
    return {
        "schema": "ctm-signature/1",
        **sessions.signature_summary(stored, reason),
        **sessions.measuring_facts(stored.facts.without(adaptation.FILM).content),
        "adaptation": adaptation.adaptation_of(stored),
        "measurements": [
            {
                "fingerprint": measurement.fingerprint,
                **sessions.measured_numbers(measurement),
                "left_out_ms": fit.predicted_ms if (fit := fit_of.get(measurement.id)) else None,
                "disagrees": fit.disagrees if fit else None,
            }
            for measurement in measurements
        ],
        "models": [
            {
                "model": prediction.after.model,
                "before": _interval(prediction.before),
                "after": _interval(prediction.after),
            }
            for prediction in changed
        ],
    }


def _interval(prediction: Prediction) -> dict[str, object]:
    return {"basis": prediction.basis, **{name: getattr(prediction, name) for name in TIMES}}
