"""Factors of single operators: a network worked by hand, and what holds of any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.metrics import Family
from predictor.core.records import Precision, Target
from predictor.cost.operator_kinds import KINDS, kinds_of
from predictor.cost.physics import TERMS
from predictor.engine import operator_factors
from predictor.engine.operator_factors import BOUND, GROUPS, Contexts, OperatorFactors
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from predictor.network.features import SCALE_FREE_NAMES, exact_features, scale_free
from tests.support.graphs import Op, make_graph, make_target
from tests.support.operator_factors import NAMES, no_factors, random_factors
from tests.support.random_graphs import graphs

unhurried = settings(deadline=None, max_examples=40)

PYTORCH = make_target()
NCNN = make_target(family=Family.MOBILE_CPU, runtime="ncnn")
OTHER = make_target(family=Family.NPU, runtime="rknn")


def states_of(network: OperatorFactors, graph: OperatorGraph) -> np.ndarray:
    features = scale_free(exact_features(graph))
    return network.states(features, graph.op_code, kinds_of(graph))


def factors_of(network: OperatorFactors, graph: OperatorGraph, targets: list[Target]) -> np.ndarray:
    """Return the factors of a graph on targets, [T, N, len(TERMS)]."""
    place, contexts = network.contexts(targets, np.ones(len(targets)))
    return network.factors(states_of(network, graph), contexts)[place]


# --- By hand ---


def changed(network: OperatorFactors, **weights: object) -> OperatorFactors:
    """Return a network with some weights, given as {place: value}, in place of its own."""
    arrays = {name: array.copy() for name, array in network.weights.items()}
    for name, values in weights.items():
        for place, value in values.items():  # type: ignore[attr-defined]
            arrays[name.replace("__", ".")][place] = value
    return OperatorFactors(network.names, arrays)


def test_the_state_of_an_operator_by_hand() -> None:
    """A feature of 7 is (7 - 1) / 2 = 3; the type adds 2 x 10, the kind 0.5 x 4, each its own.

    The second layer subtracts 4 from all: the states are relu(-1), relu(16) and relu(-2), and the
    last layer turns the second about and adds 1.
    """
    count = len(SCALE_FREE_NAMES)
    network = changed(
        no_factors(),
        mean={0: 1.0},
        scale={0: 2.0},
        code={(5, 0): 10.0},
        kind={(2, 1): 4.0},
        first={(0, 0): 1.0, (1, count): 2.0, (2, count + 3): 0.5},
        second={(0, 0): 1.0, (1, 1): 1.0, (2, 2): 1.0},
        second__bias={...: -4.0},
        operator={(0, 1): -1.0, (1, 1): 1.0, (2, 2): 1.0},
        operator__bias={...: 1.0},
    )
    features = np.zeros((2, count), np.float32)
    features[0, 0] = 7.0

    states = network.states(features, np.array([5, 0]), np.array([2, 0]))

    # The second is of another type and kind, and its feature of 0 is -0.5: nothing is left of it.
    assert states.tolist() == [[-15.0, 17.0, 1.0], [1.0, 1.0, 1.0]]


def test_factors_by_hand() -> None:
    """Operator (1, -2, 0) and target (0.5, 1.5, 0) meet as (1.5, 0, 0), times 0.2 is 0.3 in ln."""
    network = changed(
        no_factors(),
        terms={(0, 0): 0.2, (0, 1): 9.0},
        terms__bias={1: 100.0, 2: -100.0},
    )

    target = Contexts(np.array([[0.5, 1.5, 0.0]]), np.ones(1))
    factors = network.factors(np.array([[1.0, -2.0, 0.0]]), target)

    eased = np.exp(np.log(2) * np.tanh(0.3 / np.log(2)))
    assert factors == pytest.approx(np.array([[[eased, 2.0, 0.5, 1.0]]]))


def test_a_context_is_the_sum_of_the_states_of_the_groups() -> None:
    network = changed(
        no_factors(),
        target={(0, 0): 1.0, (2, 1): 10.0},
        group__runtime={(1, 0): 1.0, (2, 0): 2.0, (0, 0): 0.25},
        group__kind={(1, 1): 1.0, (2, 1): 2.0, (0, 1): 0.5},
        # The first row is that of every name which the network does not know.
        group__class={(1, 0): 100.0, (0, 0): 0.5},
    )

    place, contexts = network.contexts([PYTORCH, NCNN, OTHER, PYTORCH], np.ones(4))

    assert len(contexts.states) == 3  # equal targets have one
    assert contexts.states[place].tolist() == [
        [2.5, 0.0, 20.0],
        [101.0, 0.0, 10.0],
        [0.75, 0.0, 5.0],
        [2.5, 0.0, 20.0],
    ]


def test_no_targets_have_no_contexts() -> None:
    place, contexts = random_factors().contexts([], np.empty(0))

    assert (len(place), len(contexts.states), len(contexts.trust)) == (0, 0, 0)


def test_trust_is_the_exponent_of_the_factors() -> None:
    network, graph = random_factors(), make_graph([Op(macs=10**6, read=10**4), Op(read=10**5)])
    place, contexts = network.contexts([PYTORCH] * 3, np.array([1.0, 0.5, 0.0]))

    full, half, none = network.factors(states_of(network, graph), contexts)[place]

    assert half**2 == pytest.approx(full)
    assert (none == 1).all()
    assert not (full == 1).all()


def test_groups_are_all_that_is_read_of_a_target() -> None:
    """No rate is: a faster device of a kind has the factors of the slower."""
    network = random_factors()
    faster = make_target({"fp32_tflops": 90.0, "dram_bw_gbps": 3000.0, "core_count": 99.0})
    other_precision = replace(
        PYTORCH, configuration=replace(PYTORCH.configuration, precision=Precision.INT8)
    )

    place, _ = network.contexts([PYTORCH, faster, other_precision, OTHER], np.ones(4))

    assert place[0] == place[1] == place[2] != place[3]  # it knows no precision


# --- Laws ---


@unhurried
@given(graphs(), st.integers(0, 99), st.floats(0.1, 1000.0))
def test_factors_are_within_the_bound(graph: OperatorGraph, seed: int, size: float) -> None:
    factors = factors_of(random_factors(seed, size), graph, [PYTORCH, NCNN, OTHER])

    assert factors.shape == (3, len(graph), len(TERMS))
    assert (factors >= 1 / BOUND - 1e-9).all()
    assert (factors <= BOUND + 1e-9).all()


def test_factors_reach_both_ends_of_the_bound() -> None:
    states, contexts = np.random.default_rng(0).standard_normal((2, 200, 3))

    factors = random_factors(size=100.0).factors(states, Contexts(contexts, np.ones(200)))

    assert (factors.min(), factors.max()) == pytest.approx((0.5, 2.0), rel=1e-6)


@unhurried
@given(graphs(), st.integers(0, 99), st.integers(2, 64))
def test_an_operator_has_the_same_factors_at_every_batch(
    graph: OperatorGraph, seed: int, factor: int
) -> None:
    network, kinds = random_factors(seed), kinds_of(graph)

    one, many = (
        network.states(scale_free(exact_features(each)), each.op_code, kinds)
        for each in (graph, at_batch(graph, factor))
    )

    assert many == pytest.approx(one, rel=1e-5, abs=1e-4)


@unhurried
@given(graphs(), st.integers(0, 99))
def test_operators_meet_targets_one_by_one(graph: OperatorGraph, seed: int) -> None:
    network, targets = random_factors(seed), [PYTORCH, NCNN, OTHER]

    together = factors_of(network, graph, targets)

    for place, target in enumerate(targets):
        assert together[place] == pytest.approx(
            factors_of(network, graph, [target])[0],
            rel=1e-5,  # of sums in single precision
        )
    some = np.arange(len(graph))[::2]
    _, contexts = network.contexts([NCNN], np.ones(1))
    of_some = network.factors(states_of(network, graph)[some], contexts)
    assert of_some[0] == pytest.approx(together[1][some], rel=1e-5)


@unhurried
@given(graphs(), st.integers(0, 99), st.integers(1, 2000))
def test_blocks_of_contexts_have_the_bits_of_all_at_once(
    graph: OperatorGraph, seed: int, cells: int
) -> None:
    network, states = random_factors(seed), states_of(random_factors(seed), graph)
    _, contexts = network.contexts([PYTORCH, NCNN, OTHER] * 2, np.linspace(0.0, 1.0, 6))
    together = network.factors(states, contexts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operator_factors, "_BLOCK_CELLS", cells)
        blocks = list(network.by_context(states, contexts))

    assert np.concatenate(blocks).tobytes() == together.tobytes()


@unhurried
@given(graphs())
def test_before_training_every_factor_is_one(graph: OperatorGraph) -> None:
    assert (factors_of(no_factors(), graph, [PYTORCH, NCNN]) == 1).all()


# --- Parts that do not fit ---


def without_name(network: OperatorFactors, name: str) -> OperatorFactors:
    weights = {each: array for each, array in network.weights.items() if each != name}
    return OperatorFactors(network.names, weights)


def with_weight(name: str, array: np.ndarray) -> OperatorFactors:
    return OperatorFactors(NAMES, {**random_factors().weights, name: array})


def test_a_whole_network_fits() -> None:
    assert no_factors().fits()
    assert random_factors(7).fits()


@pytest.mark.parametrize(
    "harm",
    [
        lambda array: array[:-1],
        lambda array: np.concatenate([array, array[:1]]),
        lambda array: array[None],
        lambda array: array.ravel()[:1].reshape(()),
        lambda array: np.full_like(array, np.nan),
        lambda array: np.full_like(array, np.inf),
    ],
    ids=["short", "long", "deep", "flat", "no numbers", "endless"],
)
def test_weights_of_another_shape_do_not_fit(harm: Callable[[np.ndarray], np.ndarray]) -> None:
    for name, array in random_factors().weights.items():
        assert not with_weight(name, harm(array)).fits(), name


def test_a_network_without_a_weight_does_not_fit() -> None:
    whole = random_factors()
    assert not [name for name in whole.weights if without_name(whole, name).fits()]


def test_a_scale_of_nothing_does_not_fit() -> None:
    assert not with_weight("scale", np.zeros(len(SCALE_FREE_NAMES), np.float32)).fits()


def test_a_network_of_another_vocabulary_does_not_fit() -> None:
    whole = random_factors()

    assert not with_weight("more", np.zeros(1, np.float32)).fits()
    for group in GROUPS:
        names = {**NAMES, group: [*NAMES[group], "one more"]}
        assert not OperatorFactors(names, whole.weights).fits()
    assert whole.weights["kind"].shape[0] == len(KINDS)


def test_operators_in_blocks_are_those_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make_graph([Op(macs=10**6 * (i + 1), columns=8 + i) for i in range(7)])
    whole = factors_of(random_factors(3), graph, [PYTORCH, NCNN])

    monkeypatch.setattr(operator_factors, "_BLOCK_ROWS", 3)

    in_blocks = factors_of(random_factors(3), graph, [PYTORCH, NCNN])
    np.testing.assert_allclose(in_blocks, whole, rtol=1e-6)
