from __future__ import annotations

import itertools

import numpy as np
import onnxruntime
import pytest

from predictor.core.errors import InputError
from predictor.probing.networks.nasbench201 import EDGES, OPERATIONS, live_edges, nasbench201
from predictor.probing.networks.spaces import BUILDERS, operator_graph_of
from tests.unit.probing.running import normalised_channels, operators, run

NONE, SKIP, CONV1, CONV3, POOL = range(5)

# Positions of the edges: 0 is 0->1, 1 is 0->2, 2 is 1->2, 3 is 0->3, 4 is 1->3, 5 is 2->3.
PATHS = ({3}, {0, 4}, {1, 5}, {0, 2, 5})


def test_the_order_of_edges_and_operations_is_that_of_the_benchmark() -> None:
    assert EDGES == ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
    assert OPERATIONS[NONE], OPERATIONS[CONV3] == ("none", "nor_conv_3x3")


@pytest.mark.parametrize(
    ("classes", "code", "flops", "parameters"),
    [
        # Largest and smallest of the 15 625 networks in the benchmark's own records, in millions:
        # CIFAR-10 7.78305 and 220.11969 FLOPs, 0.073306 and 1.531546 parameters; CIFAR-100 7.7889
        # and 220.12554, 0.079156 and 1.537396. Listed in MO-HPOBenchExperimentUtils/README.md of
        # jr2021/ManyFairHPO-AIES; for CIFAR-10 also the bounds of C10/MOP5 in EvoXBench.
        (10, [CONV3] * 6, 220_119_690, 1_531_546),
        (10, [SKIP] * 6, 7_783_050, 73_306),
        (100, [CONV3] * 6, 220_125_540, 1_537_396),
        (100, [POOL] * 6, 7_788_900, 79_156),
    ],
)
def test_macs_and_parameters_are_the_published_ones(
    classes: int, code: list[int], flops: int, parameters: int
) -> None:
    model = nasbench201(code, classes=classes, with_weights=False)
    graph = operator_graph_of("nasbench201", code)
    more = (classes - 10) * (64 + 1)  # of the larger classifier: 64 weights and a bias a class

    # The benchmark counts the classifier's biases as operations.
    assert graph.macs.sum() + (classes - 10) * 64 + classes == flops
    # It counts no running mean and variance (64 each in the last normalisation).
    assert graph.parameters + more + normalised_channels(model) - 2 * 64 == parameters


def test_macs_of_one_convolution_a_cell_by_hand() -> None:
    code = [NONE, NONE, NONE, CONV1, NONE, NONE]
    by_hand = (
        9 * 3 * 16 * 32 * 32  # stem
        + 5 * (16 * 16 * 32 * 32 + 32 * 32 * 16 * 16 + 64 * 64 * 8 * 8)  # cells
        + (9 * 16 * 32 + 9 * 32 * 32 + 16 * 32) * 16 * 16  # first reduction
        + (9 * 32 * 64 + 9 * 64 * 64 + 32 * 64) * 8 * 8  # second
        + 64 * 10
    )

    assert operator_graph_of("nasbench201", code).macs.sum() == by_hand


def test_live_edges_of_every_code_are_those_on_a_path_without_none() -> None:
    for code in itertools.product((NONE, CONV3), repeat=6):
        present = {position for position in range(6) if code[position] != NONE}
        on_paths = set().union(*(path for path in PATHS if path <= present))

        assert live_edges(code) == tuple(sorted(on_paths))


def test_how_many_codes_have_dead_edges_and_disconnected_cells() -> None:
    live = [(code, live_edges(code)) for code in itertools.product(range(5), repeat=6)]

    # Disconnected: 0->3 is none (1 of 5), and either 0->1 is none and 0->2->3 broken, any 1->2 and
    # 1->3: (25 - 16) * 25 = 225; or 0->1 is one of 4, 1->3 is none, and 2->3 is none (25 cases of
    # 0->2 and 1->2) or one of 4 with both none: 4 * (25 + 4) = 116.
    assert sum(not edges for _, edges in live) == 341
    assert sum(len(edges) < sum(o != NONE for o in code) for code, edges in live) == 6180


@pytest.mark.parametrize(
    ("code", "live"),
    [
        # 0->1 leads to node 1, all edges out of which are none.
        ([CONV3, SKIP, NONE, NONE, NONE, SKIP], (1, 5)),
        # Node 2 is not reached: its edge to the output carries nothing.
        ([NONE, NONE, CONV3, SKIP, CONV3, CONV3], (3,)),
        ([CONV3, CONV1, POOL, NONE, NONE, NONE], ()),
    ],
)
def test_edges_without_effect_are_left_out(code: list[int], live: tuple[int, ...]) -> None:
    graph = operator_graph_of("nasbench201", code)

    assert live_edges(code) == live
    convolutions = sum(code[position] in (CONV1, CONV3) for position in live)
    # Stem and twice the three convolutions of a reduction.
    assert operators(graph)["Conv"] == 1 + 2 * 3 + 15 * convolutions


def test_a_disconnected_cell_is_its_input_times_zero() -> None:
    counts = operators(operator_graph_of("nasbench201", [CONV3, CONV1, POOL, NONE, NONE, NONE]))

    assert counts["Mul"] == 15
    assert counts["Conv"] == 1 + 2 * 3
    assert "AveragePool" in counts  # of the reductions


def test_the_eager_form_keeps_all_six_edges() -> None:
    code = [CONV3, CONV1, POOL, NONE, NONE, NONE]

    counts = operators(operator_graph_of("nasbench201-eager", code))

    assert counts["Mul"] == 15 * 3
    assert counts["Conv"] == 1 + 2 * 3 + 15 * 2
    assert counts["AveragePool"] == 2 + 15
    assert counts["Add"] == 2 + 15 * 3  # one into node 2, two into node 3


def test_both_forms_are_the_same_network_where_every_edge_is_live() -> None:
    code = [CONV3, POOL, SKIP, CONV1, SKIP, CONV3]
    pruned, eager = (operator_graph_of(f"nasbench201{form}", code) for form in ("", "-eager"))

    assert pruned.fingerprint == eager.fingerprint


def test_a_cell_sums_the_paths_through_it() -> None:
    # With skips only, a cell is 4 times its input: along 0->3, 0->1->3, 0->2->3 and 0->1->2->3.
    skips = nasbench201([SKIP] * 6)
    direct = nasbench201([NONE, NONE, NONE, SKIP, NONE, NONE])
    assert [n.op_type for n in direct.graph.node].count("Add") == 2  # of the reductions
    value = next(n for n in skips.graph.node if n.name == "stage0.4.edge23.add").output[0]
    stem = next(n for n in skips.graph.node if n.name == "stem").output[0]
    for name in (value, stem):
        skips.graph.output.add(name=name).type.tensor_type.elem_type = 1
    del skips.graph.output[0]

    session = onnxruntime.InferenceSession(
        skips.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    image = np.random.default_rng(1).standard_normal((1, 3, 32, 32), dtype=np.float32)
    last, first = session.run(None, {"image": image})
    np.testing.assert_allclose(last, first * 4.0**5, rtol=1e-5)


@pytest.mark.parametrize(
    "code",
    [[NONE] * 6, [SKIP] * 6, [CONV3] * 6, [POOL] * 6, [CONV3, NONE, CONV3, NONE, NONE, CONV3]],
)
@pytest.mark.parametrize("space", ["nasbench201", "nasbench201-eager"])
def test_the_runtime_runs_it_and_its_numbers_stay_finite(space: str, code: list[int]) -> None:
    output = run(BUILDERS[space](code, batch=2))

    assert output.shape == (2, 10)
    assert np.isfinite(output).all()
    assert output.std() > 1e-3


def test_a_wrong_code_is_refused() -> None:
    with pytest.raises(InputError, match="nasbench201: position 5 is 5; give one of 0, 1, 2, 3, 4"):
        nasbench201([0, 0, 0, 0, 0, 5])
