"""The lock that run.py installs from: whole, of one mind, and from no address."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import make_lock
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
SETS = make_lock.requirement_sets(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8")))


def locked(name: str) -> dict[str, Requirement]:
    """The requirements of a file of the lock, without their hashes, by distribution."""
    lines = (make_lock.LOCK / f"{name}.txt").read_text("utf-8").splitlines()
    pins = [Requirement(line.rstrip(" \\")) for line in lines if line[:1] not in {"#", " "}]
    return {canonicalize_name(pin.name): pin for pin in pins}


def test_each_set_of_requirements_has_a_file_and_no_file_is_left_over() -> None:
    assert {path.stem for path in make_lock.LOCK.iterdir()} == set(SETS)


@pytest.mark.parametrize("name", SETS)
def test_what_the_project_asks_for_is_locked_to_a_version_that_it_allows(name: str) -> None:
    pins = locked(name)
    for line in SETS[name]:
        asked = Requirement(line)
        if asked.name == "torch":
            assert "torch" not in pins, "its builds differ by machine"
            continue
        (pin,) = pins[canonicalize_name(asked.name)].specifier
        assert pin.operator == "=="
        assert asked.specifier.contains(pin.version), line


def test_one_distribution_has_one_version_in_all_files() -> None:
    versions: dict[str, set[str]] = {}
    for name in SETS:
        for distribution, pin in locked(name).items():
            versions.setdefault(distribution, set()).add(str(pin.specifier))

    assert {name: seen for name, seen in versions.items() if len(seen) > 1} == {}


@pytest.mark.parametrize("name", SETS)
def test_each_version_has_hashes_and_nothing_says_where_it_comes_from(name: str) -> None:
    text = (make_lock.LOCK / f"{name}.txt").read_text("utf-8")

    blocks = text.removeprefix(make_lock.HEAD)
    block = r"[\w.-]+==\S+(?: ; [^\\\n]+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    assert re.fullmatch(f"(?:{block})+", blocks)


def test_torch_and_what_its_build_for_cuda_needs_are_left_out() -> None:
    hashes = " \\\n    --hash=sha256:0 \\\n    --hash=sha256:1\n"
    text = "".join(f"{pin}{hashes}" for pin in ("nvidia-nccl==2", "sympy==1", "torch==2", "x==1"))

    assert make_lock.LEFT_OUT.sub("", text) == f"sympy==1{hashes}x==1{hashes}"
