"""The files that a command writes: none of them may be one that it reads, or the store."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from predictor.core.errors import InputError
from predictor.core.files import is_file, is_same_file
from predictor.core.progress import CancelToken
from predictor.services.models.files import find_model_files


class OutputAction(argparse.Action):
    """Stores the path of a file to write, and adds it to ``outputs`` of the options."""

    def __call__(
        self,
        _: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Store one value, a path as it was written."""
        setattr(namespace, self.dest, values)
        name = option_string or self.metavar or self.dest
        stated = getattr(namespace, "outputs", ())
        namespace.outputs = (*stated, (self.dest, str(name), str(values)))


def check_outputs(options: argparse.Namespace, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse outputs that would replace a file that the command reads, or each other.

    Args:
        options: of the command line.
        inputs: files that the command reads and the options do not name.

    Raises:
        InputError: an output is an input, by this name or another (a link, another folder).
    """
    outputs: tuple[tuple[str, str, str], ...] = getattr(options, "outputs", ())
    places: dict[str, str] = {}
    for _, name, path in outputs:
        other = places.setdefault(os.path.realpath(path), name)
        if other != name:
            raise _refused(name, path, f"{other} writes the same file")
    existing = [(name, path) for _, name, path in outputs if is_file(path)]
    if not existing:
        return
    # Files that are replaced are rare: a command does not wait for the store's modules.
    from predictor.services.history.store_files import is_store  # noqa: PLC0415

    sources = (*inputs, *_named(options, {dest for dest, _, _ in outputs}))
    for name, path in existing:
        if any(is_same_file(path, source) for source in sources):
            raise _refused(name, path, "it is a file that the command reads")
        if is_store(path, options.store):
            raise _refused(name, path, "it is the store")


def _refused(name: str, path: str, reason: str) -> InputError:
    return InputError(f"{name} {path}", reason, "name another file; this one was not touched")


def _named(options: argparse.Namespace, outputs: Collection[str]) -> Iterator[str]:
    """Yield the files that options other than the outputs name, and those of patterns."""
    for name, value in vars(options).items():
        if name in {"outputs", "store", *outputs}:
            continue
        paths = [os.fspath(v) for v in _flat(value) if isinstance(v, str | os.PathLike)]
        yield from (find_model_files(paths, CancelToken()).paths if name == "models" else paths)


def _flat(value: object) -> list[object]:
    """Return the values of an option that may be repeated, pairs taken apart."""
    if isinstance(value, list | tuple):
        return [part for item in value for part in _flat(item)]
    return [value]
