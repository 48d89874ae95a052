"""A frozen program has no interpreter to start its children with: it is each of them itself."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.services.graph.layout_worker import LAYOUT_FLAG
from predictor.services.graph.layout_worker import main as lay_out
from predictor.services.models.ingestion import serve_if_worker
from predictor.services.rows.worker import ROWS_FLAG
from predictor.services.rows.worker import main as make_rows


def serve_if_child(arguments: Sequence[str]) -> int | None:
    """Be the child process that a frozen program was started as.

    Args:
        arguments: the program's, without its name.

    Returns:
        The exit code once the child has ended; None where the program is to run as usual.
    """
    if not arguments or not arguments[0].startswith("--"):
        return None
    if arguments[0] == LAYOUT_FLAG:
        return lay_out()
    if arguments[0] == ROWS_FLAG:
        return make_rows()
    served = serve_if_worker(arguments)
    if served is not None:
        return served
    # A start that is none of these children's would wait for their imports.
    from predictor.services.probing.child import serve_if_runner  # noqa: PLC0415

    served = serve_if_runner(arguments)
    if served is not None:
        return served
    from predictor.devices.self_test import serve_if_self_test  # noqa: PLC0415

    return serve_if_self_test(arguments)
