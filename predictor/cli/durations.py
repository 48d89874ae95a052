"""Durations in words."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Return a duration in words: ``1 min 20 s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
