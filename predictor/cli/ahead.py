"""What a command starts before it imports anything: the process that reads its models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from predictor.formats.suffixes import SUFFIXES
from predictor.services.models.reader import end_ahead, start_ahead

_READING = frozenset({"predict", "explain", "compare", "choose", "report", "inspect"})
_OTHERWISE = frozenset({"-h", "--help", "--rows"})  # no model is read, or by other processes


@contextmanager
def reader_ahead(arguments: Sequence[str]) -> Iterator[None]:
    """Have the process start up in the block where a command line reads models; end it after.

    Args:
        arguments: the command line without the program's name.
    """
    try:
        if reads_models(arguments):
            start_ahead()
        yield
    finally:
        end_ahead()


def reads_models(arguments: Sequence[str]) -> bool:
    """Return whether a command line is surely one that reads a model file."""
    return (
        not _READING.isdisjoint(arguments[:1])
        and any(argument.endswith(SUFFIXES) for argument in arguments)
        and _OTHERWISE.isdisjoint(arguments)
    )
