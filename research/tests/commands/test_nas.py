"""``ctm evaluate nas`` as a program: what it writes, how it stops, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from predictor.cli.program import parse
from predictor.core.errors import InputError

TEST_ARCHITECTURES, MORE = 500, 40
DEVICES = ["1080ti_1", "raspi4", "gold_6226"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with data, and a cache that all tests of this file share."""
    root = tmp_path_factory.mktemp("nas")
    folder = root / "data" / "nas"
    folder.mkdir(parents=True)
    every = np.stack(np.meshgrid(*[np.arange(1, 5)] * 6, indexing="ij"), axis=-1).reshape(-1, 6)
    codes = every[: TEST_ARCHITECTURES + MORE].astype(np.int8)
    latency_ms = 1.0 + codes.sum(axis=1)[:, None] * [0.1, 0.2, 0.3]
    common = {"devices": np.array(DEVICES), "latency_ms": latency_ms.astype(np.float32)}
    np.savez(folder / "nasbench201.npz", arch=codes, **common)
    few = {**common, "latency_ms": np.ones((1, 3), np.float32)}
    np.savez(folder / "fbnet.npz", arch=np.zeros((1, 22), np.int8), **few)
    shapes = {"ks": (1, 20), "expand": (1, 20), "depth": (1, 5), "resolution": (1,)}
    np.savez(folder / "ofa.npz", **few, **{k: np.ones(s, np.int16) for k, s in shapes.items()})
    partition = {"train": DEVICES[:2], "test": DEVICES[2:]}
    (folder / "partitions.json").write_text(json.dumps({"nasbench201": {"N@1": partition}}))
    return root


def command(world: Path, output: Path, *options: str) -> list[str]:
    folders = ["--data", str(world / "data"), "--output", str(output)]
    chosen = ["--suite", "figure3", "--partitions", "N@1", "--methods", "constant", "hand-bayes"]
    own = ["--own-probes", "--trainings", "1", "--ks", "3"]
    return [
        sys.executable,
        "-m",
        "predictor.cli",
        "evaluate",
        "nas",
        *folders,
        *chosen,
        *own,
        *options,
    ]


def environment(world: Path) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": str(world / "cache"), "LOCALAPPDATA": str(world)}


def test_a_run_writes_document_page_and_plot(world: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        command(world, tmp_path, "--draws", "2"),
        env=environment(world),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    found = json.loads((tmp_path / "nas-figure3.json").read_text())
    assert found["plan"] == {"trainings": 1, "draws": 2, "ks": [3], "seed": 0}
    assert str(world) not in json.dumps(found)
    text = (tmp_path / "nas-figure3.md").read_text()
    assert f"`{found['command']}`" in text
    assert found["commit"] in text
    assert (tmp_path / "nas-figure3-coverage.svg").read_text().startswith("<?xml")
    again = parse(found["command"].split()[1:])
    assert (again.suite, again.methods, again.own_probes) == (
        "figure3",
        ["constant", "hand-bayes"],
        True,
    )


def test_ctrl_c_keeps_what_is_finished(world: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        command(world, tmp_path, "--draws", "4000"),
        env=environment(world),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("1 of 2"):
                break
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()

    assert process.returncode == 130, said
    assert said.splitlines()[-1] == "ctm: cancelled."
    assert [file.name for file in (tmp_path / "nas-work").glob("N@1-0-constant-*.json")]
    assert not (tmp_path / "nas-figure3.json").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--methods", "oracle"), "method oracle: there is no such method"),
        (("--partitions", "F@9"), "partition F@9: there is no such partition"),
        (("--ks", "3", "3"), "budgets of probes: they are 3, 3"),
    ],
)
def test_wrong_options_are_one_sentence(
    world: Path, tmp_path: Path, options: tuple[str, ...], sentence: str
) -> None:
    done = subprocess.run(
        command(world, tmp_path, *options),
        env=environment(world),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr.startswith(f"ctm: {sentence}")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("wrong", ["--trainings=0", "--draws=x", "--seed=-1", "--suite=table2"])
def test_a_wrong_value_names_its_option(wrong: str) -> None:
    with pytest.raises(InputError, match=wrong.partition("=")[0]):
        parse(["evaluate", "nas", "--data", "d", "--output", "o", wrong])


def test_defaults() -> None:
    options = parse(["evaluate", "nas", "--data", "d", "--output", "o"])

    assert (options.suite, options.trainings, options.draws, options.ks, options.seed) == (
        "table1",
        3,
        10,
        [5, 10, 20],
        0,
    )
