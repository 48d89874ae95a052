"""A checkpoint on the disk: it comes back whole, and what is not whole is one clear sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from predictor.core.errors import InputError
from predictor.engine.checkpoint import CARD, ENCODER, HEAD, SIGNATURES, read_checkpoint
from tests.unit.engine.tiny import tiny_card, tiny_checkpoint, tiny_network, tiny_signatures


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_checkpoint(), tmp_path / "checkpoint"))


def change_card(folder: Path, **changes: object) -> None:
    path = folder / CARD
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")


def test_it_comes_back_as_it_was_written() -> None:
    found = read_checkpoint(tiny_checkpoint())

    assert found.engine.to_json() == tiny_card(tiny_network()).to_json()
    assert found.signatures.keys == tiny_signatures().keys
    [(place, known)] = found.signatures.deviations().items()
    assert (place.device_id, place.precision) == ("probed", "fp16")
    np.testing.assert_allclose(known.covariance, np.diag([0.01] + [0.02] * 10), rtol=1e-6)
    np.testing.assert_allclose(known.factor, 2.0, rtol=1e-6)
    assert known.noise == pytest.approx(0.05)


def _drop(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def _cut(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-7])


def _card(**changes: object) -> Callable[[Path], object]:
    return lambda folder: change_card(folder, **changes)


def _widths(*factors: float) -> Callable[[Path], object]:
    return _card(widths={"zero_shot": [1.0, 1.0], "probed": list(factors), "published": [1.0, 1.0]})


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (_drop(CARD), "No such file"),
        (_drop(HEAD), "No such file"),
        (_cut(CARD), "no whole checkpoint"),
        (_cut(ENCODER), "encoder.onnx is not the file that belongs to it"),
        (_cut(HEAD), "head.onnx is not the file that belongs to it"),
        (_cut(SIGNATURES), "signatures.npz is not the file that belongs to it"),
        (_card(format="ctm-engine/99"), "version 99, and this program reads up to 1"),
        (_card(format="something/1"), "its format is something/1"),
        (_card(features=["other"]), "its features are not those of this program"),
        (_card(choices=["colour blue"]), "its choices are of no kind that this program knows"),
        (_card(responses=7), "its signatures do not fit its network"),
        (_card(prior={"shift": 0.1, "scale": -1.0, "noise": 0.1}), "a scale is not positive"),
        (_widths(0.0, 1.0), "a scale is not positive"),
        (lambda folder: (folder / CARD).write_text("{}"), "no whole checkpoint"),
        (lambda folder: (folder / CARD).write_text("[1, 2]"), "no whole checkpoint"),
        (lambda folder: (folder / CARD).write_bytes(b"\xff\xfe\x00"), "no whole checkpoint"),
    ],
)
def test_what_is_not_whole_is_refused(
    copy: Path, harm: Callable[[Path], object], reason: str
) -> None:
    harm(copy)

    with pytest.raises(InputError) as refused:
        read_checkpoint(copy)

    assert reason in str(refused.value)
    assert str(copy) in str(refused.value)
    assert "--engine roofline" in str(refused.value)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it cannot be read"):
        read_checkpoint(tmp_path / "nowhere")
