"""Where figures come from: command, day, machine and engine, for a document and its page.

Every writer of a page of results takes its lines from here. ``tests/arch/test_result_pages.py``
reads them back: a page of another engine than the one that ships fails.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from predictor import __version__
from predictor.cost.roofline import RooflineEngine
from predictor.engine.checkpoint import ESTIMATE, checksum, read_card
from predictor.services.prediction.engines import CLOSERTOME, checkpoint_folder

_DIGITS: Final = 12  # of a checksum on a page


def environment_of(command: str, commit: str | None = None, engine: str = "") -> dict[str, str]:
    """Return command, version, machine and engine of figures taken now.

    Args:
        command: without the folders of this machine.
        commit: of the checkout, where the figures need one.
        engine: that the figures are computed with, by its name with or without a version; empty
            where they depend on none.

    Raises:
        InputError: the engine's checkpoint is damaged.
    """
    return {
        "command": command,
        "version": __version__,
        **({} if commit is None else {"commit": commit}),
        **(engine_facts(engine) if engine else {}),
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": str(os.cpu_count()),
    }


def engine_facts(engine: str) -> dict[str, str]:
    """Return name and version of the engine that ships, and the SHA-256 of its estimate.

    The version alone does not distinguish two trainings: the estimate has been trained anew under
    one name. An engine without a checkpoint has no estimate.

    Args:
        engine: its name, with or without a version.

    Raises:
        InputError: its checkpoint is damaged.
    """
    if engine.partition("/")[0] != CLOSERTOME:
        return {"engine": RooflineEngine().name}
    folder = checkpoint_folder()
    return {"engine": read_card(folder).name, "estimate": checksum(folder / ESTIMATE)}


def origin_of(environment: Mapping[str, str]) -> str:
    """Return the first lines of a page: command, day and machine, and the engine if there is one.

    Args:
        environment: of :func:`environment_of`, or a document that begins with it.
    """
    line = (
        f"Written by `{environment['command']}` on {environment['date']}: "
        f"{environment['system']}, {environment['processors']} processors, "
        f"Python {environment['python']}."
    )
    return f"{line}\n\n{engine_line(environment)}" if "engine" in environment else line


def engine_line(facts: Mapping[str, str]) -> str:
    """Return the line of a page on its engine: ``Engine: closertome/8, estimate 0123456789ab.``.

    Args:
        facts: of :func:`engine_facts`.
    """
    estimate = f", estimate {facts['estimate'][:_DIGITS]}" if "estimate" in facts else ""
    return f"Engine: {facts['engine']}{estimate}."
