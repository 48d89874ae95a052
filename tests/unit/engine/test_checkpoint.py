"""A checkpoint on the disk: it comes back whole, and what is not whole is one clear sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ctm_research.training.files import card_document, write_estimate
from predictor.core.errors import InputError
from predictor.engine.checkpoint import CARD, ENCODER, ESTIMATE, HEAD, read_card, read_checkpoint
from tests.support.estimates import small_estimate
from tests.support.tiny_engine import tiny_card, tiny_checkpoint, tiny_estimate


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_checkpoint(), tmp_path / "checkpoint"))


def change_card(folder: Path, **changes: object) -> None:
    path = folder / CARD
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")


def test_it_comes_back_as_it_was_written() -> None:
    read = read_checkpoint(tiny_checkpoint())

    assert card_document(read.engine) == card_document(tiny_card())
    assert card_document(read_card(tiny_checkpoint())) == card_document(read.engine)
    written = tiny_estimate()
    assert read.estimate.tracks == written.tracks
    assert read.estimate.evidence.keys.device.tolist() == ["probed"]
    assert read.estimate.evidence.level == pytest.approx([np.log(2.0)])
    assert read.estimate.evidence.networks.tolist() == [12]
    for name, array in written.operators.weights.items():
        np.testing.assert_array_equal(read.estimate.operators.weights[name], array)


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
        (_drop(CARD), "there is no such file"),
        (_drop(HEAD), "there is no such file"),
        (_cut(CARD), "no whole checkpoint"),
        (_cut(ENCODER), "encoder.onnx is not the file that belongs to it"),
        (_cut(HEAD), "head.onnx is not the file that belongs to it"),
        (_cut(ESTIMATE), "estimate.npz is not the file that belongs to it"),
        (_drop(ESTIMATE), "there is no such file"),
        (_card(files={}), "no whole checkpoint"),
        (_card(format="ctm-engine/99"), "version 99, and this program reads up to 1"),
        (_card(format="something/1"), "its format is something/1"),
        (_card(features=["other"]), "its features are not those of this program"),
        (_card(choices=["colour blue"]), "its choices are of no kind that this program knows"),
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


def test_the_card_alone_is_read_whatever_the_other_files_are(copy: Path) -> None:
    """An estimate of an earlier form is replaced by training, which reads the card."""
    for name in (ENCODER, HEAD, ESTIMATE):
        (copy / name).write_bytes(b"of an earlier form")

    assert read_card(copy).name == "closertome/1"

    change_card(copy, format="ctm-engine/99")
    with pytest.raises(InputError, match="version 99"):
        read_card(copy)


def test_a_checkpoint_of_before_estimates_is_refused_in_one_sentence(copy: Path) -> None:
    card = json.loads((copy / CARD).read_text("utf-8"))
    files = {name: digest for name, digest in card["files"].items() if name != ESTIMATE}
    (copy / ESTIMATE).unlink()
    (copy / "signatures.npz").write_bytes(b"of an earlier form")
    change_card(copy, files=files)

    with pytest.raises(InputError) as refused:
        read_checkpoint(copy)

    text = str(refused.value)
    assert text.startswith(f"{copy}: it is no whole checkpoint (")
    assert text.endswith("; install the program again, or predict with --engine roofline.")
    assert "\n" not in text


def test_an_estimate_that_the_card_does_not_count_is_refused(copy: Path) -> None:
    write_estimate(copy / ESTIMATE, small_estimate())

    with pytest.raises(InputError, match=r"estimate\.npz is not the file that belongs to it"):
        read_checkpoint(copy)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_checkpoint(tmp_path / "nowhere")
