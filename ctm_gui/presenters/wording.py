"""The wording that the window and the reports share, as the window imports it."""

from predictor.core.wording import (
    NOTHING,
    basis_text,
    batch_of,
    batch_text,
    change_text,
    configuration_text,
    in_unit,
    interval_in_unit,
    interval_text,
    latency_text,
    memory_text,
    number,
    plain_number,
    shown,
    signed,
    threads_text,
)

__all__ = [
    "NOTHING",
    "basis_text",
    "batch_of",
    "batch_text",
    "change_text",
    "configuration_text",
    "in_unit",
    "interval_in_unit",
    "interval_text",
    "latency_text",
    "memory_text",
    "number",
    "plain_number",
    "shown",
    "signed",
    "threads_text",
]
