"""The tables of the wizard: plan, progress, results, unfinished sessions, signatures, names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from ctm_gui.probing.choice import Ticked, Unfinished, Way
from ctm_gui.probing.imports import ReadFile
from ctm_gui.probing.progress import NetworkRow, milliseconds
from ctm_gui.probing.results import ResultRow, ratio_text
from ctm_gui.widgets.grid import Column, Grid, number_column, text_column
from predictor.core.records import Target
from predictor.core.stored import ProbeState, StoredSignature
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
from predictor.probing.importers.names import NameMatch
from predictor.probing.planning import ProbePlan
from predictor.services.signatures.adaptation import adaptation_of
from predictor.services.signatures.assessment import BeforeAfter
from predictor.services.signatures.checks import is_used
from predictor.services.signatures.film import Adaptations

R = TypeVar("R")
_MS = LatencyUnit.MS


class _Table(Generic[R]):
    """Columns over records, a row each; numbers are copied as they are shown.

    Args:
        rows: the records.
    """

    def __init__(self, rows: Sequence[R]) -> None:
        self.rows = rows

    def text(self, key: str, title: str, of: Callable[[R], str], tip: str = "") -> Column:
        """Return a column of texts of the records."""
        return text_column(key, title, [of(row) for row in self.rows], tip)

    def number(
        self,
        key: str,
        title: str,
        of: Callable[[R], float | None],
        write: Callable[..., str],
        tip: str = "",
    ) -> Column:
        """Return a column of numbers of the records."""
        column = number_column(key, title, [of(row) for row in self.rows], tip, write)
        return replace(column, copied=None)

    def grid(self, *columns: Column) -> Grid:
        """Return the grid of columns."""
        return Grid(len(self.rows), columns)


def plan_grid(plan: ProbePlan | None) -> Grid:
    """Return a row for each network of a plan."""
    table = _Table(() if plan is None else plan.probes)
    before = "Roofline estimate, before anything is measured."
    return table.grid(
        table.text("network", "Network", lambda probe: probe.network.name),
        table.number("macs", "MACs", lambda probe: float(probe.network.macs), format_count),
        table.number("expected", "Expected (ms)", lambda p: p.expected_ms, milliseconds, before),
        table.text("why", "Why this one", lambda probe: probe.reason),
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

    table = _Table(rows)
    return table.grid(
        table.text("network", "Network", lambda row: row.name),
        table.number("expected", "Expected (ms)", lambda row: row.expected_ms, milliseconds),
        table.number("median", "Median (ms)", lambda row: row.median_ms, milliseconds),
        table.text("state", "State", state),
    )


_SPREAD = "Standard deviation of the single runs over their mean."
_CHANGE = "From the signature that it is compared with to this one."
_FROM_MEASURED = "Predicted from the other networks of the signature."
_ERROR = "Of what is predicted from the others: what to expect for networks not measured."


def result_grid(rows: Sequence[ResultRow], other: str = "") -> Grid:
    """Return a row for each network of a signature.

    Args:
        rows: of the signature.
        other: date of the signature that it is compared with; empty for none.
    """
    table = _Table(rows)
    compared = [
        table.number("other", f"{other} (ms)", lambda row: row.other_ms, milliseconds),
        table.number("ratio", "Change", lambda row: row.ratio, ratio_text, _CHANGE),
    ]
    return table.grid(
        table.text("network", "Network", lambda row: row.name),
        table.number("median", "Median (ms)", lambda row: row.median_ms, milliseconds),
        table.number("least", "Minimum (ms)", lambda row: row.least_ms, milliseconds),
        table.number("variation", "Spread", lambda row: row.variation, percent, _SPREAD),
        table.number("runs", "Runs", lambda row: row.runs or None, _count),
        *(compared if other else ()),
        table.number(
            "others",
            "From the others (ms)",
            lambda row: row.fit.predicted_ms if row.fit else None,
            milliseconds,
            _FROM_MEASURED,
        ),
        table.number(
            "error", "Error", lambda r: r.fit.error if r.fit else None, ratio_text, _ERROR
        ),
        table.text("verdict", "Verdict", _verdict),
    )


def _count(count: float | None) -> str:
    return NOTHING if count is None else f"{count:.0f}"


def _verdict(row: ResultRow) -> str:
    if row.excluded:
        return f"left out: {row.excluded}"
    return f"disagrees with the others; {row.words}" if row.disagrees else row.words


def changes_grid(changes: Sequence[BeforeAfter]) -> Grid:
    """Return a row for each open model: predicted without the signature and with it."""
    table = _Table(changes)
    interval = "80 % interval (ms)"
    return table.grid(
        table.text("model", "Model", lambda c: shown(c.after.model)),
        table.number("before", "Before (ms)", lambda c: c.before.latency_ms, number),
        table.text("before80", f"Before, {interval}", lambda c: interval_text(c.before, _MS)),
        table.number("after", "After (ms)", lambda c: c.after.latency_ms, number),
        table.text("after80", f"After, {interval}", lambda c: interval_text(c.after, _MS)),
    )


def sessions_grid(sessions: Sequence[Unfinished], name_of: Callable[[str], str]) -> Grid:
    """Return a row for each unfinished session; ``name_of`` a device's id."""
    table = _Table(sessions)
    return table.grid(
        table.text("begun", "Begun", lambda left: local_time(left.session.created_ns)),
        table.text("device", "Device", lambda left: name_of(left.session.device_id)),
        table.text("how", "How", lambda left: left.way.value if left.way else "not begun"),
        table.text(
            "configuration",
            "Configuration",
            lambda left: configuration_text(left.session.configuration),
        ),
        table.text("done", "Done", lambda left: f"{left.done} of {len(left.session.probes)}"),
    )


def ticked_grid(entries: Sequence[Ticked]) -> Grid:
    """Return a row for each ticked target."""

    def runs(target: Target) -> str:
        return configuration_text(replace(target.configuration, threads=target.threads))

    def probed(entry: Ticked) -> str:
        return NOTHING if entry.way is Way.IMPORT else runs(entry.probed)

    table = _Table(entries)
    return table.grid(
        table.text("device", "Device", lambda entry: shown(entry.target.device.name)),
        table.text("ticked", "Ticked with", lambda entry: runs(entry.target)),
        table.text("probed", "Probed with", probed),
        table.text("how", "How", lambda entry: entry.reached),
        table.text("state", "Probed", lambda entry: entry.state),
    )


_ACTIVE = f"Predictions use it. A probing that failed its own checks is {UNSTABLE}."
_ADAPTED = (
    "How predictions are adapted to it: by the times of its networks' operators, by FiLM of the "
    "network fine-tuned to it, or by a Bayesian posterior alone."
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

    def use(stored: StoredSignature) -> str:
        reason = reasons.get(stored.signature.id, "")
        words = ["active"] if is_used(stored, reason) else []
        return ", ".join([*words, UNSTABLE] if reason else words)

    table = _Table(signatures)
    return table.grid(
        table.text("measured", "Measured", lambda stored: local_time(stored.created_ns)),
        table.text("device", "Device", lambda stored: name_of(stored.signature.device_id)),
        table.text(
            "configuration",
            "Configuration",
            lambda stored: configuration_text(stored.signature.configuration),
        ),
        table.number("networks", "Networks", lambda s: len(s.signature.measurement_ids), _count),
        table.text("active", "Active", use, _ACTIVE),
        table.text(
            "adaptation", "Adapted by", lambda s: adaptation_name(adaptation_of(s)), _ADAPTED
        ),
    )


_WITHOUT = "Predicted from the other networks, without fine-tuning."
_WITH = "Predicted from the other networks, FiLM fine-tuned to those alone."


def tuning_grid(rows: Sequence[ResultRow], outcome: Adaptations | None) -> Grid:
    """Return a row for each network that FiLM is fine-tuned to.

    Args:
        rows: of the signature.
        outcome: errors of both ways; None before it is done.
    """
    methods = ((), ()) if outcome is None else (outcome.by_posterior, outcome.by_film)
    before, after = ({fit.measurement_id: fit.error for fit in fits} for fits in methods)

    def nearer(row: ResultRow) -> str:
        return _nearer(before.get(row.measurement_id), after.get(row.measurement_id))

    def error_in(errors: Mapping[str, float]) -> Callable[[ResultRow], float | None]:
        return lambda row: errors.get(row.measurement_id)

    table = _Table(rows)
    return table.grid(
        table.text("network", "Network", lambda row: row.name),
        table.number("median", "Median (ms)", lambda row: row.median_ms, milliseconds),
        table.number("before", "Error before", error_in(before), ratio_text, _WITHOUT),
        table.number("after", "Error after", error_in(after), ratio_text, _WITH),
        table.text("nearer", "Nearer", nearer),
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

    def alike(match: NameMatch) -> str:
        return ", ".join(f"{shown(p.candidate)} ({percent(p.score)})" for p in match.proposals)

    table = _Table(read.names)
    return table.grid(
        table.text("name", "Name in the file", lambda match: shown(match.name) or "(no name)"),
        table.number("value", "Latency (ms)", lambda m: latency_of.get(m.name), milliseconds),
        table.text("means", "Means", lambda match: shown(meant[match.name] or left_out)),
        table.text("alike", "Alike", alike),
    )
