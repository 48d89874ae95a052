"""Models from one session to the next: their paths with the dimensions that were set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ctm_gui.presenters.shelf import ModelEntry
from predictor.core.documents import Document


@dataclass(frozen=True, slots=True)
class SessionModel:
    """One model of a session.

    Attributes:
        path: absolute path of the file, which may be gone.
        bindings: values of dynamic dimensions by name.
    """

    path: str
    bindings: Mapping[str, int] = field(default_factory=dict)


def remembered_models(entries: Iterable[ModelEntry]) -> list[str]:
    """Return one line of JSON a model, as the settings keep it."""
    return [
        Document({"path": entry.path, "bindings": entry.bindings}).to_json() for entry in entries
    ]


def read_models(lines: Sequence[str]) -> list[SessionModel]:
    """Read what ``remembered_models`` wrote; a line that makes no sense is left out."""
    models = (_read(line) for line in lines)
    return [model for model in models if model is not None]


def _read(line: str) -> SessionModel | None:
    content = Document(text=line).content
    path, bindings = content.get("path"), content.get("bindings")
    if not (isinstance(path, str) and path and isinstance(bindings, dict)):
        return None
    good = {name: value for name, value in bindings.items() if type(value) is int and value > 0}
    return SessionModel(path, good)
