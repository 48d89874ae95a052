"""A project as one file: a ZIP archive of JSON lines with a manifest of checksums.

The manifest names format, version and program, and of each part the number of lines, the bytes
and the SHA-256. A file that differs from its manifest is refused before anything of it is
used.
"""

from __future__ import annotations

import hashlib
import json
import time
import zipfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from predictor import __version__
from predictor.core.errors import InputError
from predictor.core.files import BROKEN_ARCHIVE, opened, replaced
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.devices.fields import Place
from predictor.devices.strict_json import parse_object
from predictor.services.project.checked_fields import check_inner, check_names
from predictor.services.project.records import PARTS, Part, Project, check_references

FORMAT = "ctm-project"
VERSION = 1
SUFFIX = ".ctmproject"
MAX_PART_BYTES = 2**29
MAX_LINE_BYTES = 2**28
_MANIFEST = "manifest.json"
_FIRST_TIME = (1980, 1, 1, 0, 0, 0)  # that a ZIP archive can state
_MAX_MANIFEST = 100_000
_WHAT = "project file"
_AGAIN = "ask for the file again, or export it again"


def write_project(
    project: Project,
    path: Path,
    report: ProgressCallback = no_progress,
    token: CancelToken | None = None,
) -> None:
    """Write a project; the file is there whole or not at all.

    Args:
        project: the project.
        path: the file; one that is there is replaced.
        report: gets the progress of the writing.
        token: asks it to stop.

    Raises:
        HostError: the file cannot be written.
        CancelledError: it was stopped.
    """
    with (
        replaced(path, "the project") as partial,
        zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        parts = {}
        for number, part in enumerate(PARTS):
            report(Progress(number, len(PARTS), f"writing {part.name}"))
            if not part.later or part.objects(project):
                parts[part.name] = _write_part(archive, part, project, token)
        manifest = json.dumps(_manifest(parts), indent=1)
        archive.writestr(_entry(_MANIFEST), manifest)


def read_project(
    path: Path, report: ProgressCallback = no_progress, token: CancelToken | None = None
) -> Project:
    """Read a project, trusting nothing in it.

    Args:
        path: the file.
        report: gets the progress of the reading.
        token: asks it to stop.

    Raises:
        InputError: the file is damaged, hostile or of another version.
        CancelledError: it was stopped.
    """
    with (
        opened(path, f"name a {SUFFIX} file") as (stream, _),
        _refusing(path),
        zipfile.ZipFile(stream) as archive,
    ):
        _check_members(archive, path)
        parts = _read_manifest(archive, path)
        records: dict[str, Any] = {}
        present = [part for part in PARTS if part.name in parts]
        for number, part in enumerate(present):
            report(Progress(number, len(present), f"reading {part.name}"))
            with closing(_lines(archive, part, parts[part.name], path)) as lines:
                records[part.name] = _records(part, lines, path, token)
    models = records.pop("models")
    project = Project(graphs=dict(models), **records)
    if len(project.graphs) < len(models):
        raise InputError(str(path), "it has a model twice", _AGAIN)
    check_references(project, str(path))
    return project


def _write_part(
    archive: zipfile.ZipFile, part: Part, project: Project, token: CancelToken | None
) -> dict[str, object]:
    digest, size = hashlib.sha256(), 0
    objects = part.objects(project)
    # The size is not known beforehand, and without zip64 writing over 2 GiB fails.
    with archive.open(_entry(_member(part)), "w", force_zip64=True) as stream:
        for item in objects:
            if token is not None:
                token.check()
            # NaN and Infinity are no JSON: other readers would refuse the whole file.
            line = json.dumps(item, allow_nan=False).encode() + b"\n"
            digest.update(line)
            size += len(line)
            stream.write(line)
    return {"lines": len(objects), "bytes": size, "sha256": digest.hexdigest()}


def _entry(name: str) -> zipfile.ZipInfo:
    """Return an entry of now; archives begin in 1980, whatever the clock says."""
    entry = zipfile.ZipInfo(name, max(time.localtime()[:6], _FIRST_TIME))
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _manifest(parts: Mapping[str, object]) -> dict[str, object]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "parts": parts,
    }


def _member(part: Part) -> str:
    return f"{part.name}.jsonl"


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn the errors of a broken archive into one sentence."""
    try:
        yield
    except BROKEN_ARCHIVE as error:
        reason = f"it is no {_WHAT}, or it is damaged ({error})"
        raise InputError(str(path), reason, _AGAIN) from error


def _check_members(archive: zipfile.ZipFile, path: Path) -> None:
    names = [info.filename for info in archive.infolist()]
    expected = {_MANIFEST, *(_member(p) for p in PARTS if not p.later or _member(p) in names)}
    # The count too: a ZIP may hold one name twice, and readers differ in which they take.
    if set(names) != expected or len(names) != len(expected):
        raise InputError(str(path), f"it is no {_WHAT} (its parts are others)", _AGAIN)
    for info in archive.infolist():
        limit = _MAX_MANIFEST if info.filename == _MANIFEST else MAX_PART_BYTES
        if info.file_size > limit:
            reason = f"{info.filename} has {info.file_size:,} bytes, more than {limit:,}"
            raise InputError(str(path), reason, "ask for a smaller project")
        if info.flag_bits & 1 or info.compress_type not in {
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        }:
            raise InputError(str(path), f"{info.filename} is encrypted or packed otherwise", _AGAIN)


def _read_manifest(archive: zipfile.ZipFile, path: Path) -> dict[str, Mapping[str, object]]:
    subject = f"{path}, {_MANIFEST}"
    with archive.open(_MANIFEST) as stream:
        content = parse_object(stream.read(_MAX_MANIFEST + 1), subject, _WHAT, _MAX_MANIFEST)
    if content.get("format") != FORMAT or not isinstance(content.get("version"), int):
        raise InputError(str(path), f"it is no {_WHAT}", f"choose a {SUFFIX} file")
    if content["version"] != VERSION:
        reason = (
            f"its format has version {content['version']}, this program knows version {VERSION}"
        )
        raise InputError(str(path), reason, "install the newer version of this program")
    place = Place(subject)
    check_names(content, ("format", "version", "program", "created", "parts"), place)
    place = place.at("parts")
    members = archive.namelist()
    present = [part.name for part in PARTS if _member(part) in members]
    parts = check_inner(content["parts"], present, place)
    return {
        name: check_inner(stated, ("lines", "bytes", "sha256"), place.at(name))
        for name, stated in parts.items()
    }


def _lines(
    archive: zipfile.ZipFile, part: Part, stated: Mapping[str, object], path: Path
) -> Generator[bytes]:
    """Yield the lines of a part; the last step raises where it differs from the manifest."""
    digest, size, count = hashlib.sha256(), 0, 0
    with archive.open(_member(part)) as stream:
        for line in _bounded(stream, path, part):
            digest.update(line)
            size, count = size + len(line), count + 1
            yield line
    if {"lines": count, "bytes": size, "sha256": digest.hexdigest()} != stated:
        raise InputError(str(path), f"{_member(part)} is not what its manifest says", _AGAIN)


def _bounded(stream: IO[bytes], path: Path, part: Part) -> Iterator[bytes]:
    # Bounded: a line without an end would be read into memory whole.
    while line := stream.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            reason = f"a line of {_member(part)} has more than {MAX_LINE_BYTES:,} bytes"
            raise InputError(str(path), reason, "ask for a smaller project")
        yield line


def _records(
    part: Part, lines: Iterator[bytes], path: Path, token: CancelToken | None
) -> tuple[Any, ...]:
    records = []
    for number, line in enumerate(lines, start=1):
        if token is not None:
            token.check()
        subject = f"{path}, {_member(part)} line {number}"
        content = parse_object(line, subject, _WHAT, MAX_LINE_BYTES)
        records.append(part.record(content, Place(subject)))
    return tuple(records)
