"""The estimate as a file: it comes back whole, and damage is refused in one sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctm_research.training.files import write_card, write_estimate
from predictor.calibration.target_fit import PARTS
from predictor.calibration.unknowns import MeasuredKinds
from predictor.core.errors import InputError
from predictor.engine.checkpoint import ESTIMATE, read_checkpoint
from predictor.engine.estimate import Estimate
from predictor.engine.estimate_file import read_estimate
from predictor.engine.track import CASES
from tests.support.estimates import (
    SHIPPED,
    every_target,
    evidence_of,
    other_device,
    samples,
    small_estimate,
)
from tests.support.graphs import make_target
from tests.support.operator_factors import random_factors
from tests.support.tiny_engine import tiny_card, tiny_checkpoint

TARGET = make_target()


def assert_same(one: Estimate, other: Estimate, tolerance: float) -> None:
    targets, graph = every_target()[::100], samples()["distilbert-base"]
    first, second = one.of(targets), other.of(targets)
    ours, theirs = (
        estimate.predict(graph, known) for estimate, known in ((one, first), (other, second))
    )
    assert np.isfinite(ours.latency_ms).sum() > 30
    assert theirs.latency_ms == pytest.approx(ours.latency_ms, rel=tolerance)
    assert theirs.deviation == pytest.approx(ours.deviation, rel=tolerance)
    assert theirs.shared == pytest.approx(ours.shared, rel=tolerance)
    assert np.array_equal(first.wide, second.wide)
    assert (first.evidence, first.doubts) == (second.evidence, second.doubts)


def test_an_estimate_comes_back_as_it_was_written(tmp_path: Path) -> None:
    shipped = read_estimate(SHIPPED / ESTIMATE)

    write_estimate(tmp_path / "a.npz", shipped)
    again = read_estimate(tmp_path / "a.npz")

    assert again.tracks == shipped.tracks
    assert again.efficiencies.level == shipped.efficiencies.level
    assert again.efficiencies.typical == shipped.efficiencies.typical
    assert again.evidence.scales == shipped.evidence.scales
    assert again.evidence.networks.tolist() == shipped.evidence.networks.tolist()
    assert_same(shipped, again, tolerance=1e-12)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_small_estimate_comes_back_too(tmp_path: Path, count: int) -> None:
    targets = [other_device(f"d{place}") for place in range(count)]
    shape = np.linspace(-2.0, 2.0, PARTS)
    evidence = evidence_of(targets, [0.5] * count, [4] * count, shape)
    estimate = replace(
        small_estimate(evidence),
        operators=random_factors(),
        measured=MeasuredKinds.of(targets),
    )

    write_estimate(tmp_path / "a.npz", estimate)
    again = read_estimate(tmp_path / "a.npz")

    assert again.evidence.keys.device.tolist() == [target.device.id for target in targets]
    for name in ("level", "variance", "networks"):
        ours, theirs = (getattr(each.evidence, name) for each in (estimate, again))
        assert theirs == pytest.approx(ours)
    assert again.evidence.shape == pytest.approx(estimate.evidence.shape, abs=2e-3)  # halves
    assert again.evidence.shape.shape == (count, PARTS)
    assert again.operators.names == estimate.operators.names
    asked = [*targets, TARGET]
    ours, theirs = estimate.of(asked), again.of(asked)
    assert theirs.factors == pytest.approx(ours.factors, rel=2e-3)
    assert theirs.contexts.states == pytest.approx(ours.contexts.states)
    assert theirs.contexts.trust.tolist() == ours.contexts.trust.tolist()
    assert theirs.evidence == ours.evidence
    assert theirs.variance == pytest.approx(ours.variance)


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _no_archive(path: Path) -> None:
    path.write_bytes(b"no archive at all")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _arrays(change: Callable[[dict[str, np.ndarray]], object]) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        with np.load(path) as file:
            arrays = dict(file)
        change(arrays)
        np.savez_compressed(path, **arrays)

    return harm


def _words(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    def of_arrays(arrays: dict[str, np.ndarray]) -> None:
        words = json.loads(arrays["words"].tobytes())
        change(words)
        arrays["words"] = np.frombuffer(json.dumps(words).encode(), np.uint8)

    return _arrays(of_arrays)


HARMS = {
    "truncated": _truncated,
    "no archive": _no_archive,
    "empty": _empty,
    "a later format": _words(lambda words: words.update(format="ctm-estimate/99")),
    "no format": _words(lambda words: words.pop("format")),
    "no tracks": _words(lambda words: words.pop("tracks")),
    "a track of other fields": _words(
        lambda words: words["tracks"]["near"].update(all={"error": 1})  # type: ignore[index]
    ),
    "no scales": _words(lambda words: words.update(scales={})),
    "no words": _arrays(lambda arrays: arrays.pop("words")),
    "words that are no JSON": _arrays(
        lambda arrays: arrays.update(words=np.frombuffer(b"{", np.uint8))
    ),
    "no mean": _arrays(lambda arrays: arrays.pop("mean")),
    "a mean of another width": _arrays(lambda arrays: arrays.update(mean=arrays["mean"][:-1])),
    "effects of another width": _arrays(
        lambda arrays: arrays.update(effects=arrays["effects"][:, 1:])
    ),
    "fewer effects than names": _arrays(
        lambda arrays: arrays.update(effects=arrays["effects"][:-1])
    ),
    "more effects than names": _arrays(
        lambda arrays: arrays.update(effects=np.tile(arrays["effects"], (2, 1)))
    ),
    "fewer levels than keys": _arrays(lambda arrays: arrays.update(level=arrays["level"][1:])),
    "fewer variances than keys": _arrays(
        lambda arrays: arrays.update(variance=arrays["variance"][1:])
    ),
    "variances of nothing": _arrays(lambda arrays: arrays.update(variance=0 * arrays["variance"])),
    "variances that are no numbers": _arrays(
        lambda arrays: arrays.update(variance=np.nan * arrays["variance"])
    ),
    "no variances": _arrays(lambda arrays: arrays.pop("variance")),
    "fewer shapes than keys": _arrays(lambda arrays: arrays.update(shape=arrays["shape"][1:])),
    "shapes of fewer parts": _arrays(lambda arrays: arrays.update(shape=arrays["shape"][:, 1:])),
    "endless shapes": _arrays(lambda arrays: arrays.update(shape=np.inf + arrays["shape"])),
    "the form before factors of operators": _words(
        lambda words: words.update(format="ctm-estimate/1")
    ),
    "no factors of operators": _arrays(
        lambda arrays: [arrays.pop(name) for name in list(arrays) if name.startswith("operators.")]
    ),
    "factors of other operators": _arrays(
        lambda arrays: arrays.update({"operators.code": arrays["operators.code"][1:]})
    ),
    "types of operators in one row": _arrays(
        lambda arrays: arrays.update({"operators.code": arrays["operators.code"][0]})
    ),
    "factors that are no numbers": _arrays(
        lambda arrays: arrays.update({"operators.terms": np.nan * arrays["operators.terms"]})
    ),
    "factors of fewer groups": _words(lambda words: words["groups"].pop("kind")),  # type: ignore[attr-defined]
    "factors of more names": _words(
        lambda words: words["groups"]["kind"].append("npu")  # type: ignore[index]
    ),
    "fewer networks than keys": _arrays(
        lambda arrays: arrays.update(networks=arrays["networks"][1:])
    ),
    "no networks at all": _arrays(lambda arrays: arrays.update(networks=0 * arrays["networks"])),
    "a level of too few groups": _words(lambda words: words["level"].pop("kind")),  # type: ignore[attr-defined]
    "effects of an unknown group": _words(
        lambda words: words["effects"].update(colour={})  # type: ignore[attr-defined]
    ),
    "no number": _arrays(lambda arrays: arrays.update(level=np.nan + arrays["level"])),
    "an endless mean": _arrays(lambda arrays: arrays.update(mean=np.inf + arrays["mean"])),
    "tracks without one of all": _words(
        lambda words: words["tracks"]["unseen"].pop("all")  # type: ignore[index]
    ),
    "tracks of before there were spreads": _words(
        lambda words: words["tracks"]["near"]["all"].pop("spread")  # type: ignore[index]
    ),
    **{
        f"no {setting} tracks": _words(lambda words, name=setting: words["tracks"].pop(name))
        for setting in CASES
    },
    "keys of other lengths": _words(
        lambda words: words["keys"].update(device=["a"])  # type: ignore[attr-defined]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_damaged_estimate_is_refused_in_one_sentence(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    folder = Path(shutil.copytree(tiny_checkpoint(), tmp_path / "checkpoint"))
    targets = [other_device("a"), other_device("b")]
    write_estimate(folder / ESTIMATE, small_estimate(evidence_of(targets, [0.1, 0.2], [3, 4])))
    write_card(folder, tiny_card())
    read_checkpoint(folder)
    harm(folder / ESTIMATE)
    write_card(folder, tiny_card())  # a checksum that fits: the content is wrong

    with pytest.raises(InputError) as refused:
        read_checkpoint(folder)

    text = str(refused.value)
    assert text.startswith(f"{folder}: it is no whole checkpoint (")
    assert text.endswith("; install the program again, or predict with --engine roofline.")
    assert "\n" not in text
