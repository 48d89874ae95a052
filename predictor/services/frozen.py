"""A frozen program has no interpreter to start its children with: it is each of them itself."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from predictor.core.child_start import CHILDREN


def serve_if_child(arguments: Sequence[str]) -> int | None:
    """Be the child process that a frozen program was started as.

    Args:
        arguments: the program's, without its name.

    Returns:
        The exit code once the child has ended; None where the program is to run as usual.
    """
    module = CHILDREN.get(arguments[0]) if arguments else None
    return None if module is None else int(import_module(module).main(arguments[1:]))
