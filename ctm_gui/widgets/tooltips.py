"""Tooltips of plain text."""

from __future__ import annotations

from html import escape


def as_tooltip(text: str) -> str:
    """Return plain text for a tooltip that must not read it as rich text."""
    return f"<p style='white-space:pre'>{escape(text)}</p>"
