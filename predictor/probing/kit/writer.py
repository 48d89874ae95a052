"""Writes kits: all that a machine needs to measure a plan, in one archive."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

from predictor.core.files import replaced
from predictor.core.resources import resources_dir
from predictor.probing.measuring.documents import PLAN_FILE, RESULTS_FILE, carried_files
from predictor.probing.measuring.interface import MeasuringPlan
from predictor.probing.runner.bundle import RUNNER_FILE

MANIFEST_FILE = "manifest.json"
MANIFEST_SCHEMA = "ctm-kit/1"
README_FILE = "README.txt"
# The earliest time that a zip file can hold: equal kits are equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_kit(plan: MeasuringPlan, path: Path, expected_s: float) -> str:
    """Write the kit of a plan.

    Args:
        plan: its networks' files lie on this machine.
        path: of the archive; one that is there is replaced.
        expected_s: expected time of measuring.

    Returns:
        SHA-256 (hex) of the plan in the kit; its results will carry it.

    Raises:
        InputError: a network cannot be read.
        HostError: the archive cannot be written.
    """
    files = dict(carried_files(plan))
    files[README_FILE] = _readme(plan, expected_s)
    files[MANIFEST_FILE] = _manifest(plan, files)
    with replaced(path, "the kit") as partial, zipfile.ZipFile(partial, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED)
    return hashlib.sha256(files[PLAN_FILE]).hexdigest()


def _readme(plan: MeasuringPlan, expected_s: float) -> bytes:
    text = (resources_dir() / "probes" / "kit-readme.txt").read_text("ascii")
    filled = text.format(
        id=plan.id,
        networks=len(plan.networks),
        minutes=max(1, round(expected_s / 60)),
        runner=RUNNER_FILE,
        results=RESULTS_FILE,
        manifest=MANIFEST_FILE,
    )
    return filled.encode("ascii")


def _manifest(plan: MeasuringPlan, files: dict[str, bytes]) -> bytes:
    document = {
        "schema": MANIFEST_SCHEMA,
        "id": plan.id,
        "files": {
            name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
            for name, data in sorted(files.items())
        },
    }
    return json.dumps(document, indent=1).encode("ascii")
