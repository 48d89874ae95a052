"""The lines that hovering over one operator shows, wherever it stands."""

from __future__ import annotations

from ctm_gui.operators.rows import operator_unit
from predictor.core.units import LatencyUnit, format_bytes, format_count
from predictor.presentation.wording import NOTHING, latency_text, number, percent, shape_text, shown
from predictor.services.prediction.explain import OperatorTable


def operator_details(
    table: OperatorTable,
    operator: int,
    unit: LatencyUnit,
    interval: tuple[float, float] | None,
) -> list[str]:
    """Return name, shape, work and time of an operator, as plain text.

    Args:
        table: the operators.
        operator: its index.
        unit: of the time; milliseconds where it is a rate.
        interval: ends of the model's 80 % interval over its latency; None without one.
    """
    display_unit, latency_ms = operator_unit(unit), float(table.latency_ms[operator])
    kind = shown(table.op_types[operator])
    if table.output_shapes[operator]:
        kind += f", output {shape_text(table.output_shapes[operator])}"
    macs, traffic = int(table.macs[operator]), int(table.bytes_moved[operator])
    share = percent(float(table.share[operator]))
    lines = [
        shown(table.names[operator]) or kind,
        kind,
        f"{format_count(macs)} MACs, {format_bytes(traffic)} moved",
        f"{latency_text(latency_ms, display_unit)}, {share} of the model",
    ]
    if interval is not None and latency_ms:
        low, high = (number(display_unit.from_ms(latency_ms * end)) for end in interval)
        # Errors of the operators of one model go together; none is known apart.
        lines.append(f"{low} to {high} {display_unit} by the model's 80 % interval")
    if table.bound_type[operator] != NOTHING:
        lines.append(f"bound by {table.bound_type[operator]}")
    return lines
