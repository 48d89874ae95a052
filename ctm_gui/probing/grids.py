"""The tables of the wizard: plan, progress, results, unfinished sessions, signatures, names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ctm_gui.probing.choice import Ticked, Unfinished, Way
from ctm_gui.probing.imports import ReadFile
from ctm_gui.probing.progress import NetworkRow, milliseconds
from ctm_gui.probing.results import ResultRow, ratio_text
from ctm_gui.widgets.grid import Column, Grid, number_column, text_column
from predictor.core.records import Target
from predictor.core.units import LatencyUnit, format_count
from predictor.presentation.wording import (
    NOTHING,
    UNSTABLE,
    adaptation_name,
    configuration_text,
    interval_text,
    local_time,
    number,
    percent,
    shown,
)
from predictor.services.probing.plan import ProbePlan
from predictor.services.probing.sessions import ProbeState
from predictor.services.signatures.adaptation import StoredSignature, adaptation_of
from predictor.services.signatures.assessment import BeforeAfter
from predictor.services.signatures.checks import is_used
from predictor.services.signatures.film import Adaptations


def plan_grid(plan: ProbePlan | None) -> Grid:
    """Return a row for each network of a plan."""
    probes = () if plan is None else plan.probes
    return Grid(
        len(probes),
        [
            text_column("network", "Network", [probe.network.name for probe in probes]),
            _numbers("macs", "MACs", [float(p.network.macs) for p in probes], format_count),
            _numbers(
                "expected",
                "Expected (ms)",
                [probe.expected_ms for probe in probes],
                milliseconds,
                "Roofline estimate, before anything is measured.",
            ),
            text_column("why", "Why this one", [probe.reason for probe in probes]),
        ],
    )


def progress_grid(rows: Sequence[NetworkRow], current: str, again: Sequence[str]) -> Grid:
    """Return a row for each network of a session.

    Args:
        rows: of the session.
        current: name of the network that is being measured.
        again: names of those that are to be measured once more.
    """

    def state(row: NetworkRow) -> str:
        if row.name == current and row.state is ProbeState.WAITING:
            return "measuring…"
        return f"{row.words} (to be repeated)" if row.name in again else row.words

    return Grid(
        len(rows),
        [
            text_column("network", "Network", [row.name for row in rows]),
            _numbers("expected", "Expected (ms)", [row.expected_ms for row in rows], milliseconds),
            _numbers("median", "Median (ms)", [row.median_ms for row in rows], milliseconds),
            text_column("state", "State", [state(row) for row in rows]),
        ],
    )


def result_grid(rows: Sequence[ResultRow], other: str = "") -> Grid:
    """Return a row for each network of a signature.

    Args:
        rows: of the signature.
        other: date of the signature that it is compared with; empty for none.
    """
    columns = [
        text_column("network", "Network", [row.name for row in rows]),
        _numbers("median", "Median (ms)", [row.median_ms for row in rows], milliseconds),
        _numbers("least", "Minimum (ms)", [row.least_ms for row in rows], milliseconds),
        _numbers(
            "variation",
            "Spread",
            [row.variation for row in rows],
            percent,
            "Standard deviation of the single runs over their mean.",
        ),
        _numbers(
            "runs",
            "Runs",
            [float(row.runs) if row.runs else None for row in rows],
            lambda count: NOTHING if count is None else f"{count:.0f}",
        ),
    ]
    if other:
        columns += [
            _numbers("other", f"{other} (ms)", [row.other_ms for row in rows], milliseconds),
            _numbers(
                "ratio",
                "Change",
                [row.ratio for row in rows],
                ratio_text,
                "From the signature that it is compared with to this one.",
            ),
        ]
    fits = [row.fit for row in rows]
    columns += [
        _numbers(
            "others",
            "From the others (ms)",
            [fit.predicted_ms if fit else None for fit in fits],
            milliseconds,
            "Predicted from the other networks of the signature.",
        ),
        _numbers(
            "error",
            "Error",
            [fit.error if fit else None for fit in fits],
            ratio_text,
            "Of what is predicted from the others: what to expect for networks not measured.",
        ),
    ]
    columns.append(text_column("verdict", "Verdict", [_verdict(row) for row in rows]))
    return Grid(len(rows), columns)


def _verdict(row: ResultRow) -> str:
    if row.excluded:
        return f"left out: {row.excluded}"
    return f"disagrees with the others; {row.words}" if row.disagrees else row.words


def changes_grid(changes: Sequence[BeforeAfter]) -> Grid:
    """Return a row for each open model: predicted without the signature and with it."""
    before, after = [c.before for c in changes], [c.after for c in changes]
    columns = [text_column("model", "Model", [shown(p.model) for p in after])]
    for key, title, predictions in (("before", "Before", before), ("after", "After", after)):
        columns += [
            _numbers(key, f"{title} (ms)", [p.latency_ms for p in predictions], number),
            text_column(
                f"{key}80",
                f"{title}, 80 % interval (ms)",
                [interval_text(p, LatencyUnit.MS) for p in predictions],
            ),
        ]
    return Grid(len(changes), columns)


def sessions_grid(sessions: Sequence[Unfinished], name_of: Callable[[str], str]) -> Grid:
    """Return a row for each unfinished session; ``name_of`` a device's id."""
    records = [left.session for left in sessions]
    return Grid(
        len(records),
        [
            text_column("begun", "Begun", [local_time(record.created_ns) for record in records]),
            text_column("device", "Device", [name_of(record.device_id) for record in records]),
            text_column("how", "How", [_how(left) for left in sessions]),
            text_column(
                "configuration",
                "Configuration",
                [configuration_text(record.configuration) for record in records],
            ),
            text_column(
                "done", "Done", [f"{left.done} of {len(left.session.probes)}" for left in sessions]
            ),
        ],
    )


def ticked_grid(entries: Sequence[Ticked]) -> Grid:
    """Return a row for each ticked target."""

    def runs(targets: Iterable[Target]) -> list[str]:
        return [configuration_text(replace(t.configuration, threads=t.threads)) for t in targets]

    return Grid(
        len(entries),
        [
            text_column("device", "Device", [shown(e.target.device.name) for e in entries]),
            text_column("ticked", "Ticked with", runs(e.target for e in entries)),
            text_column(
                "probed",
                "Probed with",
                [
                    NOTHING if entry.way is Way.IMPORT else text
                    for entry, text in zip(entries, runs(e.probed for e in entries), strict=True)
                ],
            ),
            text_column("how", "How", [entry.reached for entry in entries]),
            text_column("state", "Probed", [entry.state for entry in entries]),
        ],
    )


def signatures_grid(
    signatures: Sequence[StoredSignature], name_of: Callable[[str], str], reasons: Mapping[str, str]
) -> Grid:
    """Return a row for each signature, of any target.

    Args:
        signatures: of the store.
        name_of: a device's name by its id.
        reasons: why some are not believed, by their ids.
    """
    records = [stored.signature for stored in signatures]
    return Grid(
        len(records),
        [
            text_column("measured", "Measured", [local_time(s.created_ns) for s in signatures]),
            text_column("device", "Device", [name_of(record.device_id) for record in records]),
            text_column(
                "configuration",
                "Configuration",
                [configuration_text(record.configuration) for record in records],
            ),
            _numbers(
                "networks",
                "Networks",
                [float(len(record.measurement_ids)) for record in records],
                lambda count: NOTHING if count is None else f"{count:.0f}",
            ),
            text_column(
                "active",
                "Active",
                [_use(stored, reasons.get(stored.signature.id, "")) for stored in signatures],
                f"Predictions use it. A probing that failed its own checks is {UNSTABLE}.",
            ),
            text_column(
                "adaptation",
                "Adapted by",
                [adaptation_name(adaptation_of(stored)) for stored in signatures],
                "How predictions are adapted to it: by the times of its networks' operators, "
                "by FiLM of the network fine-tuned to it, or by a Bayesian posterior alone.",
            ),
        ],
    )


def _use(stored: StoredSignature, reason: str) -> str:
    """Return whether predictions use a signature, and whether it is unstable."""
    words = ["active"] if is_used(stored, reason) else []
    return ", ".join([*words, UNSTABLE] if reason else words)


def tuning_grid(rows: Sequence[ResultRow], outcome: Adaptations | None) -> Grid:
    """Return a row for each network that FiLM is fine-tuned to.

    Args:
        rows: of the signature.
        outcome: errors of both ways; None before it is done.
    """
    fits_of_methods = [] if outcome is None else [outcome.by_posterior, outcome.by_film]
    errors = [{fit.measurement_id: fit.error for fit in fits} for fits in fits_of_methods] or [
        {},
        {},
    ]
    before, after = ([error_of.get(row.measurement_id) for row in rows] for error_of in errors)
    return Grid(
        len(rows),
        [
            text_column("network", "Network", [row.name for row in rows]),
            _numbers("median", "Median (ms)", [row.median_ms for row in rows], milliseconds),
            _numbers(
                "before",
                "Error before",
                before,
                ratio_text,
                "Predicted from the other networks, without fine-tuning.",
            ),
            _numbers(
                "after",
                "Error after",
                after,
                ratio_text,
                "Predicted from the other networks, FiLM fine-tuned to those alone.",
            ),
            text_column("nearer", "Nearer", list(map(_nearer, before, after))),
        ],
    )


def _nearer(before: float | None, after: float | None) -> str:
    """Name the way that predicts a network better."""
    if before is None or after is None:
        return NOTHING
    # Compared as shown: equal texts with a winner would puzzle the reader.
    if ratio_text(abs(after)) == ratio_text(abs(before)):
        return "alike"
    return "after" if abs(after) < abs(before) else "before"


def names_grid(read: ReadFile, meant: Mapping[str, str | None], left_out: str) -> Grid:
    """Return a row for each name in a file.

    Args:
        read: the file.
        meant: model or reference network of each name.
        left_out: the words for a name without one.
    """
    latency_of = {latency.network: latency.value_ms for latency in read.file.latencies}
    values_ms = [latency_of.get(match.name) for match in read.names]
    alike = [
        ", ".join(f"{shown(p.candidate)} ({percent(p.score)})" for p in match.proposals)
        for match in read.names
    ]
    return Grid(
        len(read.names),
        [
            text_column(
                "name", "Name in the file", [shown(m.name) or "(no name)" for m in read.names]
            ),
            _numbers("value", "Latency (ms)", values_ms, milliseconds),
            text_column("means", "Means", [shown(meant[m.name] or left_out) for m in read.names]),
            text_column("alike", "Alike", alike),
        ],
    )


def _how(left: Unfinished) -> str:
    return "not begun" if left.way is None else left.way.value


def _numbers(
    key: str, title: str, values: Sequence[float | None], text: Callable[..., str], tip: str = ""
) -> Column:
    """Return a column of numbers that are copied as they are shown."""
    return replace(number_column(key, title, values, tip, text), copied=None)
