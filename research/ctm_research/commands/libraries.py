"""Libraries that a command imports when it runs: its help needs none of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from predictor.core.errors import HostError


@contextmanager
def libraries_needed(work: str, extra: str = "closertome[train]") -> Iterator[None]:
    """Import modules that need libraries of an extra.

    Args:
        work: that needs them, as the subject of the error.
        extra: with its package, for the hint.

    Raises:
        HostError: a library is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise HostError(work, f"{error.name} is not installed", f"install {extra}") from error
