"""Kits out and back, with a real process between; and files that must not be believed."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from predictor.core.errors import HostError, InputError
from predictor.probing.kit import results
from predictor.probing.kit.results import KitResults, read_results
from predictor.probing.kit.writer import write_kit
from predictor.probing.runner.results import digest
from predictor.probing.runner.settings import LATER_SETTINGS, Settings
from tests.support.probe_plans import PLAN_ID, QUICK, network, plan


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit of three networks, one of which is no network."""
    folder = tmp_path_factory.mktemp("kit")
    networks = [network(folder, "a"), network(folder, "bad", b"no network"), network(folder, "b")]
    write_kit(plan(networks, sentinel=network(folder, "watch")), folder / "kit.zip", 61.0)
    return folder / "kit.zip"


@pytest.fixture(scope="module")
def measured(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kit's folder after it was unpacked and run as its README says."""
    folder = tmp_path_factory.mktemp("bench")
    with zipfile.ZipFile(kit) as archive:
        archive.extractall(folder)
    done = subprocess.run(
        [sys.executable, "-I", "ctm_runner.pyz"], cwd=folder, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return folder


def test_a_kit_lists_every_file_with_its_checksum(kit: Path) -> None:
    with zipfile.ZipFile(kit) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        contents = {name: archive.read(name) for name in archive.namelist()}
    readme = contents["README.txt"].decode()
    assert manifest["id"] == PLAN_ID
    assert set(manifest["files"]) == set(contents) - {"manifest.json"}
    assert {f"networks/{name}.onnx" for name in ("a", "bad", "b", "watch")} < set(contents)
    for name, listed in manifest["files"].items():
        assert listed["sha256"] == hashlib.sha256(contents[name]).hexdigest()
        assert listed["bytes"] == len(contents[name])
    assert "3 networks on this machine in about 1 min" in readme
    assert "python3 ctm_runner.pyz" in readme


def test_equal_plans_give_equal_kits(kit: Path, tmp_path: Path) -> None:
    networks = [
        network(tmp_path, "a"), network(tmp_path, "bad", b"no network"), network(tmp_path, "b")
    ]  # fmt: skip
    write_kit(plan(networks, sentinel=network(tmp_path, "watch")), tmp_path / "again.zip", 61.0)
    assert (tmp_path / "again.zip").read_bytes() == kit.read_bytes()


def test_the_results_come_back_whole(kit: Path, measured: Path) -> None:
    results = read_results(measured / "results.json")
    with zipfile.ZipFile(kit) as archive:
        assert results.plan_sha256 == hashlib.sha256(archive.read("plan.json")).hexdigest()
    assert (results.plan_id, results.finished, results.settings) == (PLAN_ID, True, QUICK)
    assert [found.name for found in results.measured] == ["a", "b"]
    assert all(found.median_ms and found.median_ms > 0 for found in results.measured)
    assert [(failed.name, failed.failure) for failed in results.failed] == [("bad", "bad-network")]
    assert results.drift is not None
    assert results.host["python"].startswith("3.")


def zipped(folder: Path, path: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """Zip a folder, its files changed or left out."""
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            name = file.relative_to(folder).as_posix()
            data = change(name, file.read_bytes()) if file.is_file() else None
            if data is not None:
                archive.writestr(f"bench/{name}", data)
    return path


def as_it_is(name: str, data: bytes) -> bytes:
    return data


def test_the_zipped_folder_of_a_kit_is_read_too(measured: Path, tmp_path: Path) -> None:
    def read(results: KitResults) -> list[Any]:
        return [results.plan_sha256, results.measured, results.failed]

    archive = zipped(measured, tmp_path / "back.zip", as_it_is)
    assert read(read_results(archive)) == read(read_results(measured / "results.json"))


@pytest.mark.parametrize("name", ["networks/a.onnx", "ctm_runner.pyz", "plan.json"])
def test_a_kit_of_which_a_file_was_changed_is_refused(
    measured: Path, tmp_path: Path, name: str
) -> None:
    def tampered(file: str, data: bytes) -> bytes:
        return data + b" " if file == name else data

    archive = zipped(measured, tmp_path / "back.zip", tampered)
    with pytest.raises(InputError, match=f"{name} in it is not what the kit was made with"):
        read_results(archive)


@pytest.mark.parametrize(
    "name", ["../results.json", "/etc/results.json", "C:/results.json", "a\\..\\..\\results.json"]
)
def test_a_name_that_leads_out_of_the_archive_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("results.json", "{}")
        archive.writestr(zipfile.ZipInfo(name), "{}")
    with pytest.raises(InputError, match="leads out of the archive"):
        read_results(path)
    assert {file.name for file in tmp_path.iterdir()} == {"evil.zip"}


def test_an_archive_without_results_or_with_two_is_refused(measured: Path, tmp_path: Path) -> None:
    def without(name: str, data: bytes) -> bytes | None:
        return None if name == "results.json" else data

    with pytest.raises(InputError, match=r"it holds 0 files results\.json"):
        read_results(zipped(measured, tmp_path / "none.zip", without))
    path = zipped(measured, tmp_path / "two.zip", as_it_is)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("other/results.json", "{}")
    with pytest.raises(InputError, match=r"it holds 2 files results\.json"):
        read_results(path)


def test_a_damaged_archive_is_refused(measured: Path, tmp_path: Path) -> None:
    path = zipped(measured, tmp_path / "back.zip", as_it_is)
    data = bytearray(path.read_bytes())
    at = data.find(b'"schema"')
    data[at + 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"the archive is damaged|is not what the kit was made"):
        read_results(path)


def edited(
    measured: Path, path: Path, edit: Callable[[dict[str, Any]], None], *, sign: bool
) -> Path:
    document = json.loads((measured / "results.json").read_text())
    edit(document)
    if sign:
        document["digest"] = digest(document)
    path.write_text(json.dumps(document))
    return path


def test_results_that_were_edited_are_refused(measured: Path, tmp_path: Path) -> None:
    def faster(document: dict[str, Any]) -> None:
        document["networks"][0]["median_ms"] /= 2

    path = tmp_path / "results.json"
    with pytest.raises(InputError, match="it was changed after the kit wrote it"):
        read_results(edited(measured, path, faster, sign=False))
    with pytest.raises(InputError, match="the entry of a is wrong: its median_ms is"):
        read_results(edited(measured, path, faster, sign=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("schema", "ctm-results/9", "its form is 'ctm-results/9', not ctm-results/1"),
        ("protocol", "other/1", "something in it is wrong or missing (protocol other/1)"),
        ("settings", {}, "something in it is wrong or missing"),
        ("networks", None, "something in it is wrong or missing"),
        ("host", 7, "something in it is wrong or missing"),
        ("drift", "much", "something in it is wrong or missing"),
    ],
)
def test_a_results_file_with_a_wrong_part_is_one_sentence(
    measured: Path, tmp_path: Path, key: str, value: object, words: str
) -> None:
    path = edited(measured, tmp_path / "r.json", lambda d: d.update({key: value}), sign=True)
    with pytest.raises(InputError) as error:
        read_results(path)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"rubbish", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_no_results_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="this is no results file of a kit"):
        read_results(path)


def test_no_file_and_no_place_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_results(tmp_path / "missing.json")
    (tmp_path / "missing").touch()  # a file in the way of a folder
    with pytest.raises(HostError, match="the kit could not be written"):
        write_kit(plan([]), tmp_path / "missing" / "kit.zip", 1.0)


def test_each_node_of_a_measured_network_has_its_time(measured: Path) -> None:
    for entry in json.loads((measured / "results.json").read_text())["networks"]:
        if "failure" in entry:
            assert "operators" not in entry
            continue
        ((name, op_type, time_ns),) = entry["operators"]
        assert (name, op_type) == ("node", "Relu")
        assert time_ns >= 0
    assert not list(measured.glob("ctm-profile-*"))


def test_results_of_an_earlier_version_are_read(measured: Path, tmp_path: Path) -> None:
    def earlier(document: dict[str, Any]) -> None:
        for name in LATER_SETTINGS:
            del document["settings"][name]
        for entry in document["networks"]:
            entry.pop("operators", None)

    found = read_results(edited(measured, tmp_path / "r.json", earlier, sign=True))
    assert [network.name for network in found.measured] == ["a", "b"]
    assert found.settings == replace(QUICK, profile_s=Settings().profile_s)
    assert all(network.operators == () for network in found.measured)


def test_the_members_of_an_archive_have_one_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "_LARGEST_BYTES", 100_000)
    content = bytes(60_000)
    listed = {"plan.json": {"sha256": hashlib.sha256(content).hexdigest()}}
    path = tmp_path / "kit.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps({"schema": "ctm-kit/1", "files": listed}))
        archive.writestr("plan.json", content)
        archive.writestr("results.json", content)

    with pytest.raises(InputError, match="it holds more than the 0 MiB allowed"):
        read_results(path)


def test_an_archive_whose_content_is_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kit.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("results.json", bytes(range(256)) * 99)
        start = archive.infolist()[0].header_offset + 30 + len("results.json")
    data = bytearray(path.read_bytes())
    data[start : start + 9] = bytes(9 * [255])
    path.write_bytes(data)

    with pytest.raises(InputError, match="the archive is damaged"):
        read_results(path)
