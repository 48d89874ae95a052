"""Finding the model files that a user names: files, folders searched through, patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from predictor.core.errors import CtmError, HostError, InputError
from predictor.core.files import is_file, is_folder, is_there
from predictor.core.progress import CancelToken
from predictor.formats.kinds import SAVED_MODEL, format_of, plugin_suffixes
from predictor.formats.suffixes import ONNX_SUFFIX, SUFFIXES

MAX_MODELS = 1000
MAX_ENTRIES = 200_000
MAX_MISSES = 20_000
"""Files that match a pattern and are no models."""


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """Model files in the order of their names, and the errors of other paths."""

    paths: tuple[str, ...]
    problems: tuple[CtmError, ...]


def find_model_files(
    paths: Sequence[str],
    token: CancelToken,
    *,
    limit: int = MAX_MODELS,
) -> FoundFiles:
    """Return the files that ``paths`` name, and the model files in the folders among them.

    Folders are searched at any depth; one that is met again through a symbolic link is not searched
    again. At most ``limit`` files of folders are returned and ``MAX_ENTRIES`` directory entries
    looked at. A pattern (``models/*.onnx``, ``**`` for any depth) stands for the model files that
    it matches. A file is returned once, as it was first named.

    Args:
        paths: files of any name, folders and patterns.
        token: stops the search.
        limit: files of folders.

    Raises:
        CancelledError: the token was set.
    """
    named: list[str] = []
    problems: list[CtmError] = []
    for path in paths:
        if is_folder(path) and not _is_model_folder(path):
            named += _in_folder(path, limit - len(named), token, problems)
        # A file may have a bracket in its name: what is there is no pattern.
        elif glob.has_magic(path) and not is_there(path):
            named += _matching(path, token, problems)
        else:
            # Reading says of what is no model or not there what it is.
            named.append(path)
    # By the absolute path: a file named directly and through its folder is one model.
    once: dict[str, str] = {}
    for path in named:
        once.setdefault(absolute(path), path)
    return FoundFiles(tuple(once.values()), tuple(problems))


def model_suffixes() -> tuple[str, ...]:
    """Return the endings of the names of model files, those of plug-ins too."""
    return (*SUFFIXES, *plugin_suffixes())


def absolute(path: str) -> str:
    """Return the absolute path; a symbolic link keeps the name that the user gave it."""
    return os.path.abspath(path)  # noqa: PTH100 - Path.absolute keeps "..", this does not


def _matching(pattern: str, token: CancelToken, problems: list[CtmError]) -> list[str]:
    # Not all at once: a pattern may match without an end, as /proc/** does.
    matches = glob.iglob(pattern, recursive=True)  # noqa: PTH207 - Path.glob takes no ".."
    models: list[str] = []
    misses = 0
    for path in matches:
        token.check()
        if _is_model(path):
            models.append(path)
            continue
        misses += 1
        if misses == MAX_MISSES:
            problems.append(_too_many(pattern, misses, "give a narrower pattern"))
            return sorted(models)
    if not models:
        problems.append(InputError(pattern, "no model matches this pattern", "check its spelling"))
    return sorted(models)


def _in_folder(folder: str, limit: int, token: CancelToken, problems: list[CtmError]) -> list[str]:
    models: list[str] = []
    before = len(problems)
    for path in _walk(folder, token, problems):
        if len(models) >= limit:
            problems.append(
                InputError(
                    folder,
                    f"it has more than {limit} models, the first of them are read",
                    "open a smaller folder",
                )
            )
            break
        models.append(path)
    if not models and len(problems) == before:
        *first, last = model_suffixes()
        action = f"choose a folder with {', '.join(first)} or {last} files"
        problems.append(InputError(folder, "the folder has no model", action))
    return models


def _is_model_folder(path: str) -> bool:
    return format_of(path) is not None or is_file(Path(path) / SAVED_MODEL)


def _is_model(path: str) -> bool:
    """Whether a file that was not named itself is a model: by its ending and its content."""
    name = path.lower()
    if name.endswith(ONNX_SUFFIX):
        return not is_folder(path)
    if not name.endswith(SUFFIXES) and not name.endswith(plugin_suffixes()):
        return False
    try:
        return format_of(path) is not None  # .xml, .param and .lite have other meanings too
    except InputError:
        return False


def _walk(folder: str, token: CancelToken, problems: list[CtmError]) -> Iterator[str]:
    visited: set[tuple[int, int]] = set()
    pending = [folder]
    looked_at = 0
    while pending:
        token.check()
        current = pending.pop()
        entries = _entries(current, visited, problems)
        looked_at += len(entries)
        if looked_at > MAX_ENTRIES:
            problems.append(_too_many(folder, MAX_ENTRIES, "open a smaller folder"))
            return
        folders = [e.path for e in entries if e.is_dir() and not _is_model(e.path)]
        # A stack: reversed, so that folders come in the order of their names.
        pending.extend(reversed(folders))
        for entry in entries:
            if _is_model(entry.path):
                yield entry.path


def _too_many(subject: str, count: int, action: str) -> InputError:
    reason = f"it holds more than {count} entries, the rest was not searched"
    return InputError(subject, reason, action)


def _entries(
    folder: str, visited: set[tuple[int, int]], problems: list[CtmError]
) -> list[os.DirEntry[str]]:
    """Return the folder's entries by name; none where it was visited or cannot be read."""
    try:
        status = Path(folder).stat()
        # The identity, not the path, so that a loop of symbolic links ends.
        if (identity := (status.st_dev, status.st_ino)) in visited:
            return []
        visited.add(identity)
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        reason = f"the folder cannot be searched ({error.strerror})"
        problems.append(HostError(folder, reason, "check its permissions"))
        return []


def names_language_model(path: str) -> bool:
    """Whether a path is of a language model by its name: a configuration, its folder or GGUF."""
    is_file_of_one = path.lower().endswith((".json", ".gguf"))
    return is_file_of_one or (Path(path) / "config.json").is_file()
