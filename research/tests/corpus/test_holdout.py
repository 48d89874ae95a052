"""Hold-outs: what is held out in one source is held out in all, and nothing of it is trained on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_research.corpus import HoldOut, draw_hold_out, hold_out_folds
from ctm_research.corpus.silicon import silicon_key
from ctm_research.corpus.single_operators import OPERATOR_FAMILY
from ctm_research.sources.aliases import read_aliases
from predictor.core.errors import InputError
from research.tests.corpus.small_corpus import small_corpus

SILICON = sorted(set(small_corpus().silicon))
FAMILIES = sorted(small_corpus().families)

subsets = st.tuples(
    st.frozensets(st.sampled_from(SILICON)), st.frozensets(st.sampled_from(FAMILIES))
)


def devices_of(rows: np.ndarray) -> set[str]:
    corpus = small_corpus()
    return {
        corpus.targets[target].device_id or corpus.targets[target].device
        for target in corpus.measurements.target[rows].tolist()
    }


def sources_of(rows: np.ndarray) -> set[str]:
    corpus = small_corpus()
    return {corpus.sources[source] for source in corpus.measurements.source[rows].tolist()}


@given(subsets)
def test_no_held_out_row_reaches_training(keys: tuple[frozenset[str], frozenset[str]]) -> None:
    corpus = small_corpus()
    m = corpus.measurements

    split = HoldOut(*keys).split(corpus)

    parts = (split.training, split.unseen_device, split.unseen_network, split.unseen_both)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(m)))
    for rows, silicon, family in zip(
        parts, (False, True, False, True), (False, False, True, True), strict=True
    ):
        assert {corpus.silicon[t] in keys[0] for t in m.target[rows].tolist()} <= {silicon}
        families = corpus.graphs.family[m.graph[rows]].tolist()
        assert {corpus.families[f] in keys[1] for f in families} <= {family}


@given(subsets)
def test_no_network_of_training_is_held_out_at_another_batch(
    keys: tuple[frozenset[str], frozenset[str]],
) -> None:
    corpus = small_corpus()

    split = HoldOut(*keys).split(corpus)

    trained, unseen = (
        set(corpus.graphs.network[corpus.measurements.graph[rows]].tolist())
        for rows in (split.training, np.append(split.unseen_network, split.unseen_both))
    )
    assert not trained & unseen


def test_a_device_holds_out_its_silicon_in_every_source() -> None:
    corpus = small_corpus()

    cores = HoldOut.of(corpus, ["rpi5"]).split(corpus)
    die = HoldOut.of(corpus, ["rtx5090"]).split(corpus)
    card = HoldOut.of(corpus, ["rtx3090"]).split(corpus)

    assert devices_of(cores.unseen_device) == {"rpi5", "rk3588-cpu"}
    assert devices_of(die.unseen_device) == {"rtx5090", "rtx-pro-6000-max-q"}
    assert sources_of(card.unseen_device) == {"ncnn", "timm"}


def test_a_network_holds_out_its_family_in_every_source() -> None:
    corpus = small_corpus()

    split = HoldOut.of(corpus, networks=["resnet50"]).split(corpus)

    assert sources_of(split.unseen_network) == {"ncnn", "timm", "aihub"}
    names = {
        corpus.graphs.names[g] for g in corpus.measurements.graph[split.unseen_network].tolist()
    }
    assert names == {"resnet50", "resnet18 224", "resnet18, ResNet18"}


def test_hold_outs_join() -> None:
    corpus = small_corpus()
    joined = HoldOut.of(corpus, ["rpi5"]) | HoldOut.of(corpus, ["rtx5090"], ["vgg16 224"])

    assert joined == HoldOut(frozenset({"cortex-a76", "gb202"}), frozenset({"vgg"}))
    assert len(joined.split(corpus).unseen_both) == 2


@pytest.mark.parametrize(
    ("hold_out", "words"),
    [
        (HoldOut(silicon=frozenset({"cortex-z9"})), "silicon cortex-z9"),
        (HoldOut(families=frozenset({"perceptron"})), "family perceptron"),
    ],
)
def test_a_key_that_holds_out_nothing_is_refused(hold_out: HoldOut, words: str) -> None:
    with pytest.raises(InputError, match="the corpus has no measurement of it") as caught:
        hold_out.split(small_corpus())

    assert caught.value.subject == words
    with pytest.raises(InputError, match="device a typo"):
        HoldOut.of(small_corpus(), devices=["a typo"])


@given(st.integers(0, 2**32), st.floats(0, 1), st.floats(0, 1))
def test_a_draw_takes_no_more_than_its_share_of_any_source(
    seed: int, silicon_share: float, family_share: float
) -> None:
    corpus = small_corpus()
    m = corpus.measurements

    drawn = draw_hold_out(corpus, seed, silicon_share, family_share)

    assert drawn == draw_hold_out(corpus, seed, silicon_share, family_share)
    assert OPERATOR_FAMILY not in drawn.families
    for source in range(len(corpus.sources)):
        targets = np.unique(m.target[m.source == source]).tolist()
        graphs = np.unique(m.graph[m.source == source]).tolist()
        lost = [t for t in targets if corpus.silicon[t] in drawn.silicon]
        gone = [g for g in graphs if corpus.families[corpus.graphs.family[g]] in drawn.families]
        assert len(lost) <= silicon_share * len(targets)
        assert len(gone) <= family_share * len(graphs)


def test_what_is_always_held_out_is_drawn_whatever_its_share() -> None:
    always = HoldOut(frozenset({"gb202"}), frozenset({"vgg"}))

    assert draw_hold_out(small_corpus(), 0, 0.0, 0.0, always) == always
    everything = draw_hold_out(small_corpus(), 0, 1.0, 1.0)
    assert everything.silicon == set(SILICON)
    assert everything.families == set(FAMILIES) - {OPERATOR_FAMILY}


def test_a_share_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="from 0 to 1"):
        draw_hold_out(small_corpus(), 0, silicon_share=1.2)


@given(st.integers(1, 7), st.integers(0, 1000))
def test_folds_hold_out_everything_once(count: int, seed: int) -> None:
    folds = hold_out_folds(small_corpus(), count, seed)

    assert len(folds) == count
    assert sorted(key for fold in folds for key in fold.silicon) == SILICON
    held = sorted(key for fold in folds for key in fold.families)
    assert held == [family for family in FAMILIES if family != OPERATOR_FAMILY]


def test_there_is_at_least_one_fold() -> None:
    with pytest.raises(InputError, match="number above 0"):
        hold_out_folds(small_corpus(), 0, 0)


def test_systems_of_one_chip_share_their_silicon_where_two_sources_name_them() -> None:
    assert silicon_key("titan-rtx") == silicon_key("quadro-rtx-8000") == "tu102"
    assert silicon_key("pixel-2") == silicon_key("khadas-vim3-cpu")
    # Boards that a source has twice under two names.
    firefly = read_aliases("mlperf_inference_v05").find("firefly-tflite-v1.15").device_id
    orange_pi = read_aliases("ncnn").find("orangepi4lts_rk3399", "cpu").device_id
    assert silicon_key(firefly) == silicon_key(orange_pi)
