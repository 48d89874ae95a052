"""Reads the results that come back from a kit; nothing in them is believed unchecked."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path, PurePosixPath
from typing import Any

from predictor.core.errors import InputError
from predictor.probing.kit.writer import MANIFEST_FILE, MANIFEST_SCHEMA
from predictor.probing.measuring.documents import RESULTS_FILE
from predictor.probing.measuring.interface import Failure
from predictor.probing.protocol import CheckedNetwork, checked_network
from predictor.probing.runner.results import digest
from predictor.probing.runner.settings import LATER_SETTINGS, PROTOCOL, RESULTS_SCHEMA, Settings

_LARGEST_BYTES = 2**28
_AGAIN = "take the file that the kit wrote, or measure again"


@dataclass(frozen=True, slots=True)
class FailedNetwork:
    """A network that the kit could not measure."""

    name: str
    failure: Failure
    reason: str


@dataclass(frozen=True, slots=True)
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
    source = str(path)
    data = _content(path)
    try:
        document = json.loads(data)
        schema = document["schema"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(source, "this is no results file of a kit", _AGAIN) from error
    if schema != RESULTS_SCHEMA:
        raise InputError(source, f"its form is {schema!r}, not {RESULTS_SCHEMA}", _AGAIN)
    if document.get("digest") != digest(document):
        raise InputError(source, "it was changed after the kit wrote it", _AGAIN)
    try:
        return _results(document, source)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            source, f"something in it is wrong or missing ({error})", _AGAIN
        ) from error


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise InputError(
                str(path), f"it is larger than the {_LARGEST_BYTES >> 20} MiB allowed", _AGAIN
            )
        if zipfile.is_zipfile(path):
            return _from_archive(path)
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            str(path), f"it cannot be read ({error.strerror})", "check the path"
        ) from error


def _from_archive(path: Path) -> bytes:
    """Return the results in a zip of a kit's folder; nothing is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = {_checked_name(path, entry): entry for entry in archive.infolist()}
            results = [name for name in names if PurePosixPath(name).name == RESULTS_FILE]
            if len(results) != 1:
                raise InputError(
                    str(path), f"it holds {len(results)} files {RESULTS_FILE}, not one", _AGAIN
                )
            root = results[0][: -len(RESULTS_FILE)]
            if f"{root}{MANIFEST_FILE}" in names:
                _check_manifest(path, archive, root)
            return archive.read(results[0])
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(str(path), f"the archive is damaged ({error})", _AGAIN) from error


def _checked_name(path: Path, entry: zipfile.ZipInfo) -> str:
    name = entry.filename.replace("\\", "/")
    if name.startswith("/") or ":" in name or ".." in name.split("/"):
        raise InputError(
            str(path), f"the name {entry.filename!r} in it leads out of the archive", _AGAIN
        )
    if entry.file_size > _LARGEST_BYTES:
        raise InputError(
            str(path), f"{name} in it is larger than the {_LARGEST_BYTES >> 20} MiB allowed", _AGAIN
        )
    return name


def _check_manifest(path: Path, archive: zipfile.ZipFile, root: str) -> None:
    """Refuse a kit of which a file is not the one that was handed out."""
    try:
        manifest = json.loads(archive.read(f"{root}{MANIFEST_FILE}"))
        listed = {str(name): str(f["sha256"]) for name, f in manifest["files"].items()}
        is_ours = manifest["schema"] == MANIFEST_SCHEMA
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(str(path), "its manifest cannot be read", _AGAIN) from error
    present = set(archive.namelist())
    changed = [
        name
        for name, sha256 in listed.items()
        if f"{root}{name}" in present
        and hashlib.sha256(archive.read(f"{root}{name}")).hexdigest() != sha256
    ]
    if changed or not is_ours:
        subject = f"{changed[0]} in it" if changed else "its manifest"
        raise InputError(str(path), f"{subject} is not what the kit was made with", _AGAIN)


def _results(document: Mapping[str, Any], source: str) -> KitResults:
    if document["protocol"] != PROTOCOL:
        raise ValueError(f"protocol {document['protocol']}")
    names = {field.name for field in fields(Settings)}
    given = dict(document["settings"])
    required = names - (LATER_SETTINGS - given.keys())
    settings = Settings(**{key: given[key] for key in required})
    entries = list(document["networks"])
    return KitResults(
        str(document["plan"]),
        str(document["plan_sha256"]),
        bool(document["finished"]),
        dict(document["host"]),
        dict(document["configuration"]),
        settings,
        tuple(checked_network(e, settings, source) for e in entries if "failure" not in e),
        tuple(
            FailedNetwork(str(e["name"]), Failure(e["failure"]), str(e["reason"]))
            for e in entries
            if "failure" in e
        ),
        None if document["drift"] is None else float(document["drift"]),
    )
