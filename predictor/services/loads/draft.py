"""A load as it is edited: the values of its file, right or wrong, and where they stand in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.files import is_there
from predictor.core.resources import resources_dir
from predictor.core.toml_tables import KeyedError, Place, TomlTables, toml_text
from predictor.services.generation.records import GenerationRequest
from predictor.services.loads.load_file import LANGUAGE_KEYS, load_of, parse_tables, read_tables
from predictor.services.loads.models import model_path
from predictor.services.loads.records import AUTO, Load
from predictor.services.models.language import is_language_file, read_language_model

FIRST_MODEL: Final = "yolov3-tiny-416.onnx"
FIRST_BOX: Final = "jetson-orin-nx-16gb"
SUFFIX: Final = ".toml"


@dataclass(frozen=True)
class LoadDraft:
    """The tables of a load.

    Attributes:
        content: tables ``box``, ``cost`` and ``simulation``, and an array ``stream`` of tables,
            each with an array ``stage``; values as the file has them.
        path: of the file that it is of or will be; models are from its folder.
    """

    content: Mapping[str, Any]
    path: Path

    @property
    def streams(self) -> list[Mapping[str, Any]]:
        """The tables of the streams."""
        return list(self.content.get("stream", ()))

    @property
    def box(self) -> Mapping[str, Any]:
        """The table of the box; empty for none."""
        return dict(self.content.get("box", {}))

    @cached_property
    def text(self) -> str:
        """The text of the file."""
        return toml_text(self.content)[0]

    def load(self) -> Load:
        """Return the load.

        Raises:
            InputError: a value is wrong, or there is no stream; with its line.
        """
        return load_of(parse_tables(self.text, self.path))

    def place_of(self, error: KeyedError) -> tuple[Place, str]:
        """Return the place of the table that an error is about, and the key in it."""
        places = toml_text(self.content)[1]
        place: Place = places[error.line - 1] if error.line <= len(places) else ()
        return place, error.key.partition(":")[0]

    def table(self, place: Place) -> Mapping[str, Any]:
        """Return a table; empty where there is none at this place."""
        table: Any = self.content
        try:
            for name in place:
                table = table[name]
        except (KeyError, IndexError):
            return {}
        return dict(table)

    def with_value(self, place: Place, key: str, value: object) -> LoadDraft:
        """Return it with another value at a place; None leaves the key out."""
        return self.with_values(place, {key: value})

    def with_values(self, place: Place, values: Mapping[str, object]) -> LoadDraft:
        """Return it with further values at a place; None leaves a key out."""

        def changed(table: Mapping[str, Any]) -> Mapping[str, Any]:
            return {k: v for k, v in {**table, **values}.items() if v is not None}

        return self._changed(place, changed)

    def with_table(self, place: Place, name: str, table: Mapping[str, Any]) -> LoadDraft:
        """Return it with one more table in an array of that at a place."""
        return self._changed(place, lambda at: {**at, name: [*at.get(name, ()), table]})

    def without(self, place: Place) -> LoadDraft:
        """Return it without a table of an array."""
        *way, name, index = place

        def changed(table: Mapping[str, Any]) -> Mapping[str, Any]:
            key = str(name)
            remaining = [entry for i, entry in enumerate(table[key]) if i != index]
            return {k: v for k, v in {**table, key: remaining}.items() if v or k != key}

        return self._changed(tuple(way), changed)

    def with_box(self, box: Mapping[str, Any]) -> LoadDraft:
        """Return it on another box."""
        return replace(self, content={"box": box} | {**self.content, "box": box})

    def at(self, path: Path) -> LoadDraft:
        """Return it for a file of another folder: what is in the old one is named from the new."""
        before, after = self.path.parent, path.parent
        if before == after:
            return replace(self, path=path)
        draft = replace(self, path=path)
        for i, stream in enumerate(self.streams):
            if "trace" in stream:
                trace = _from(after, before, stream["trace"])
                draft = draft.with_value(("stream", i), "trace", trace)
            for j, stage in enumerate(stream.get("stage", ())):
                model = _from(after, before, stage.get("model"))
                draft = draft.with_value(("stream", i, "stage", j), "model", model)
        if "file" in self.box:
            draft = draft.with_value(("box",), "file", _from(after, before, self.box["file"]))
        return draft

    def _changed(
        self, place: Place, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> LoadDraft:
        def rebuilt(node: Any, way: Place) -> Any:
            if not way:
                return change(node)
            if isinstance(node, list):
                return [rebuilt(e, way[1:]) if i == way[0] else e for i, e in enumerate(node)]
            return {**node, way[0]: rebuilt(node.get(way[0], {}), way[1:])}

        return replace(self, content=rebuilt(self.content, place))


def read_draft(path: Path) -> LoadDraft:
    """Read a load file; wrong values in it are for its editor.

    Raises:
        InputError: it cannot be read, is no TOML, or its tables are none.
    """
    return _draft(read_tables(path))


def parse_draft(text: str, path: Path) -> LoadDraft:
    """Read a text as if it stood in a file.

    Raises:
        InputError: it is no TOML, or its tables are none.
    """
    return _draft(parse_tables(text, path))


def _draft(file: TomlTables) -> LoadDraft:
    if not _has_tables(file.content):
        load_of(file)  # says what is wrong
    return LoadDraft(file.content, file.path)


def new_draft(models: list[str], path: Path) -> LoadDraft:
    """Return a load of one camera.

    Args:
        models: files, the first of which is its stage; a bundled detector where there is none.
        path: of the file that it will be.
    """
    return LoadDraft({"box": {"id": FIRST_BOX}, "stream": [new_stream(models, 0)]}, path)


def new_stream(models: list[str], count: int) -> dict[str, Any]:
    """Return a stream beside ``count`` others."""
    model = (models or [FIRST_MODEL])[0]
    tokens = {key: v for key, v in tokens_of(model, Path()).items() if v is not None}
    stage = {"name": "detect", "model": model, "unit": AUTO, **tokens}
    name = f"camera {count + 1}" if count else "camera"
    return {"name": name, "rate": 15, "deadline_ms": 100, "stage": [stage]}


def new_stage(stages: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a stage after others, of the model of the last one."""
    last = stages[-1] if stages else {"model": FIRST_MODEL}
    of_model = {key: last[key] for key in ("model", *LANGUAGE_KEYS) if key in last}
    return {"name": f"stage {len(stages) + 1}", "unit": AUTO, **of_model}


def tokens_of(
    model: object, folder: Path, stage: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, object]:
    """Return the keys of a language model that a stage's table needs for its model.

    Args:
        model: file, as it is to be written.
        folder: of the load's file.
        stage: the table, which may state them already; what it must not have any more is None.
    """
    path = model_path(folder, model) if isinstance(model, str) else None
    if path is None or not (path.is_dir() or is_language_file(str(path))):
        return {key: None for key in LANGUAGE_KEYS if key in stage}
    usual = GenerationRequest()
    values: dict[str, object] = {"new_tokens": stage.get("new_tokens", usual.new)}
    if _is_recogniser(path):
        return values | {"prompt_tokens": None}
    return values | {"prompt_tokens": stage.get("prompt_tokens", usual.prompt)}


def _is_recogniser(path: Path) -> bool:
    """Whether a file describes a speech recogniser, whose prompt is of a few tokens."""
    try:
        return read_language_model(path).architecture.encoder is not None
    except InputError:
        return False  # its reader says so


def samples() -> list[str]:
    """Return the names of the bundled models, networks first."""
    folder = resources_dir() / "samples"
    return [path.name for kind in ("*.onnx", "*.json") for path in sorted(folder.glob(kind))]


def bundled_loads() -> list[Path]:
    """Return the load files that ship."""
    return sorted((resources_dir() / "loads").glob(f"*{SUFFIX}"))


def _has_tables(content: Mapping[str, Any]) -> bool:
    streams = content.get("stream")
    tables = [content.get(name, {}) for name in ("box", "cost", "simulation")]
    if not isinstance(streams, list) or not all(isinstance(table, dict) for table in tables):
        return False
    for stream in streams:
        stages = stream.get("stage", []) if isinstance(stream, dict) else None
        if not isinstance(stages, list) or not all(isinstance(stage, dict) for stage in stages):
            return False
    return True


def _from(after: Path, before: Path, written: object) -> object:
    """Return a path of one folder as it is written from another; a bundled sample stays."""
    if not isinstance(written, str) or not is_there(str(before / written)):
        return written
    path = (before / written).resolve()
    folder = after.resolve()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)
