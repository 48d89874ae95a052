"""Reads the results that come back from a kit; nothing in them is believed unchecked."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from predictor.core.errors import InputError
from predictor.core.files import BROKEN_ARCHIVE, read_bytes
from predictor.core.text import shortened
from predictor.probing.kit.writer import MANIFEST_FILE, MANIFEST_SCHEMA
from predictor.probing.measuring.documents import RESULTS_FILE, finite
from predictor.probing.measuring.interface import Failure
from predictor.probing.protocol import CheckedNetwork, checked_network
from predictor.probing.runner.results import digest
from predictor.probing.runner.settings import LATER_SETTINGS, PROTOCOL, RESULTS_SCHEMA, Settings

_LARGEST_BYTES = 2**28
_LONGEST_REASON = 500
_AGAIN = "take the file that the kit wrote, or measure again"


@dataclass(frozen=True, slots=True)
class FailedNetwork:
    """A network that the kit could not measure."""

    name: str
    failure: Failure
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KitResults:
    """Results of a kit.

    Attributes:
        plan_id: of the session that the kit was made for.
        plan_sha256: of the plan that was measured, in hex.
        finished: whether every network was tried.
        host: facts of the machine.
        configuration: as run.
        settings: of the protocol.
        measured: networks with their samples.
        failed: networks without.
        drift: of the sentinel, as a share; None where it was not measured.
    """

    plan_id: str
    plan_sha256: str
    finished: bool
    host: Mapping[str, Any]
    configuration: Mapping[str, Any]
    settings: Settings
    measured: tuple[CheckedNetwork, ...]
    failed: tuple[FailedNetwork, ...]
    drift: float | None


def read_results(path: Path) -> KitResults:
    """Read the results of a kit: the file that it wrote, or a zip of the kit's folder with it.

    Raises:
        InputError: the file cannot be read, is no results document, was changed since it was
            written, or its archive has names that lead out of it.
    """
    data = _content(path)
    try:
        document = _document(data)
        schema = document["schema"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _refused(path, "this is no results file of a kit") from error
    if schema != RESULTS_SCHEMA:
        raise _refused(path, f"its form is {schema!r}, not {RESULTS_SCHEMA}")
    if document.get("digest") != digest(document):
        raise _refused(path, "it was changed after the kit wrote it")
    try:
        return _results(document, str(path))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _refused(path, f"something in it is wrong or missing ({error})") from error


def _refused(path: Path, reason: str) -> InputError:
    return InputError(str(path), shortened(reason, _LONGEST_REASON), _AGAIN)


def _document(data: bytes) -> Any:
    """Parse JSON strictly: in UTF-8, without NaN and halves of characters.

    Raises:
        ValueError: it is something else.
        RecursionError: it is nested too deeply.
    """
    text = data.decode()
    document = json.loads(text, parse_constant=_refuse_constant)
    # json.loads takes half a surrogate pair, which no UTF-8 can hold: encoding refuses it.
    if "\\ud" in text.lower():
        json.dumps(document, ensure_ascii=False).encode()
    return document


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _content(path: Path) -> bytes:
    data = read_bytes(path, _LARGEST_BYTES)
    content = BytesIO(data)
    return _from_archive(path, content) if zipfile.is_zipfile(content) else data


def _from_archive(path: Path, content: BytesIO) -> bytes:
    """Return the results in a zip of a kit's folder; nothing is unpacked."""
    try:
        with zipfile.ZipFile(content) as archive:
            names = {_checked_name(path, entry): entry for entry in archive.infolist()}
            results = [name for name in names if PurePosixPath(name).name == RESULTS_FILE]
            if len(results) != 1:
                raise _refused(path, f"it holds {len(results)} files {RESULTS_FILE}, not one")
            members = _Members(path, archive)
            root = results[0][: -len(RESULTS_FILE)]
            if f"{root}{MANIFEST_FILE}" in names:
                _check_manifest(path, members, names, root)
            return members.read(names[results[0]])
    except BROKEN_ARCHIVE as error:
        raise _refused(path, f"the archive is damaged ({error})") from error


class _Members:
    """Reads members of an archive, all together no more than a limit."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path = path
        self._archive = archive
        self._left = _LARGEST_BYTES

    def read(self, entry: zipfile.ZipInfo) -> bytes:
        """Return the content of a member."""
        if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise zipfile.BadZipFile("a compression that no kit has")
        with self._archive.open(entry) as file:
            # The directory's size of a member may be a lie: only reading shows the true one.
            content = file.read(self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            limit = f"it holds more than the {_LARGEST_BYTES >> 20} MiB allowed"
            raise _refused(self._path, limit)
        return content


def _checked_name(path: Path, entry: zipfile.ZipInfo) -> str:
    # Some archivers on Windows write backslashes.
    name = entry.filename.replace("\\", "/")
    if name.startswith("/") or ":" in name or ".." in name.split("/"):
        raise _refused(path, f"the name {entry.filename!r} in it leads out of the archive")
    if entry.file_size > _LARGEST_BYTES:
        raise _refused(path, f"{name} in it is larger than the {_LARGEST_BYTES >> 20} MiB allowed")
    return name


def _check_manifest(
    path: Path, members: _Members, names: Mapping[str, zipfile.ZipInfo], root: str
) -> None:
    """Refuse a kit with a file that differs from the one handed out."""
    try:
        manifest = _document(members.read(names[f"{root}{MANIFEST_FILE}"]))
        digests = {str(name): str(f["sha256"]) for name, f in manifest["files"].items()}
        is_ours = manifest["schema"] == MANIFEST_SCHEMA
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _refused(path, "its manifest cannot be read") from error
    changed = [
        name
        for name, sha256 in digests.items()
        if (entry := names.get(f"{root}{name}")) is not None
        and hashlib.sha256(members.read(entry)).hexdigest() != sha256
    ]
    if changed or not is_ours:
        subject = f"{changed[0]} in it" if changed else "its manifest"
        raise _refused(path, f"{subject} is not what the kit was made with")


def _results(document: Mapping[str, Any], source: str) -> KitResults:
    if document["protocol"] != PROTOCOL:
        raise ValueError(f"protocol {document['protocol']}")
    names = {field.name for field in fields(Settings)}
    stated = dict(document["settings"])
    # Documents of older runners lack later settings, which take their defaults.
    required = names - (LATER_SETTINGS - stated.keys())
    settings = Settings(**{key: stated[key] for key in required})
    entries = list(document["networks"])
    return KitResults(
        plan_id=str(document["plan"]),
        plan_sha256=str(document["plan_sha256"]),
        finished=bool(document["finished"]),
        host=dict(document["host"]),
        configuration=dict(document["configuration"]),
        settings=settings,
        measured=tuple(checked_network(e, settings, source) for e in entries if "failure" not in e),
        failed=tuple(
            FailedNetwork(str(e["name"]), Failure(e["failure"]), str(e["reason"]))
            for e in entries
            if "failure" in e
        ),
        drift=None if document["drift"] is None else finite(document["drift"]),
    )
