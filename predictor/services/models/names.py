"""Names of models for tables, unique among them."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.graph.model import Model


def unique_names(models: Sequence[Model]) -> tuple[str, ...]:
    """Return the file names of models; those of one name get their place among them to it."""
    names = [model.path.replace("\\", "/").rpartition("/")[2] for model in models]
    return tuple(
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    )
