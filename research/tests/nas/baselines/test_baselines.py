"""The comparators: what they see, that they learn, and that a device starts where it should."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
import torch

from ctm_research.nas.baselines import brp, esm, flat, lad, nnlp
from ctm_research.nas.baselines.blocks import block_graph
from ctm_research.nas.baselines.held_out import best_setting, rehearsals
from ctm_research.nas.baselines.litepred import LitePred, divergence
from ctm_research.nas.baselines.nn_meter import NnMeter, TrainedNnMeter, kinds
from ctm_research.nas.baselines.transfer import (
    Build,
    DeviceNetwork,
    Recipe,
    TrainedNetwork,
    train_transferable,
)
from ctm_research.nas.method import Predicted, Probes
from ctm_research.nas.scores import relative_error
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView
from research.tests.nas.small_space import SIZE, small_graphs, small_space
from research.tests.nas.splits import small_split

NETWORKS = MappingProxyType(
    {
        "lad": lad.LadNetwork,
        "brp": brp.BrpNetwork,
        "flat": flat.FlatNetwork,
        "nnlp": nnlp.NnlpNetwork,
        "esm": esm.EsmNetwork,
    }
)
FACTS = DeviceFacts("pixel3", "", 1)


def test_the_cell_links_choices_whose_edges_meet() -> None:
    graph = block_graph(small_space().architectures)

    # Choices 1 to 6 stand on the edges 0-1, 0-2, 1-2, 0-3, 1-3, 2-3 of the cell.
    links = {(int(p), int(c)) for c, p in np.argwhere(graph.adjacency)}
    assert links == {(0, 1), (0, 2), (0, 4), (1, 3), (1, 5), (2, 6), (3, 6), (4, 7), (5, 7), (6, 7)}
    assert graph.kinds[0].tolist() == [5, *small_space().architectures.codes[0], 6]
    assert graph.kind_count == 7


def test_fbnet_is_a_chain() -> None:
    architectures = replace(
        small_space().architectures, space="fbnet", codes=np.zeros((SIZE, 22), np.int64)
    )

    graph = block_graph(architectures)

    assert np.array_equal(graph.adjacency, np.eye(24, k=-1, dtype=bool))


@pytest.mark.parametrize("build", NETWORKS.values(), ids=NETWORKS.keys())
def test_a_started_device_is_the_mean_of_the_others(build: Build) -> None:
    torch.manual_seed(0)
    network = build(small_space().architectures, 3).eval()
    rows = torch.arange(5)

    network.start_device(2, torch.tensor([0.0, 1.0]))

    assert torch.allclose(network(rows, 2), network(rows, 1))
    assert not torch.allclose(network(rows, 2), network(rows, 0))


@pytest.mark.parametrize("build", NETWORKS.values(), ids=NETWORKS.keys())
def test_a_network_learns_the_small_space(build: Build) -> None:
    found = small_split()
    recipe = Recipe(steps=250, rate=5e-3, tunings=((20, 1e-3),))

    trained = train_transferable(found.view, build, recipe, 0)

    probes = found.view.rows[:20]
    live = found.live_device("pixel3", 20)
    adapted = trained.adapt(
        FACTS, Probes(probes, np.array([live.measure(int(row)) for row in probes])), 0
    )
    truth = found.truth("pixel3")
    error = relative_error(adapted.predict(found.test_rows).latency_ms, truth).mean()
    constant = relative_error(np.full(20, np.median(truth)), truth).mean()
    assert error < 0.7 * constant


def test_fine_tuning_leaves_the_trained_network_as_it_was() -> None:
    found = small_split()
    trained = train_transferable(found.view, lad.LadNetwork, Recipe(10, tunings=((5, 0.1),)), 0)
    before = {name: value.clone() for name, value in trained.network.state_dict().items()}

    adapted = trained.adapt(FACTS, Probes(found.view.rows[:5], np.arange(1.0, 6.0)), 0)

    after = trained.network.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not torch.equal(before["outputs.weight"], adapted.network.state_dict()["outputs.weight"])


def test_equal_seeds_give_equal_networks_and_torch_keeps_its_own_numbers() -> None:
    view = small_split().view
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)

    first = train_transferable(view, brp.BrpNetwork, Recipe(5, tunings=((0, 1e-3),)), 1)
    following = torch.rand(1)
    second = train_transferable(view, brp.BrpNetwork, Recipe(5, tunings=((0, 1e-3),)), 1)

    pairs = zip(first.network.parameters(), second.network.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    assert torch.equal(following, expected)


def test_the_tuning_that_errs_least_on_devices_left_out_is_chosen() -> None:
    """A rate at which fine-tuning destroys what was learned is not taken."""
    recipe = Recipe(60, rate=5e-3, tunings=((20, 50.0), (0, 1e-3)))

    assert train_transferable(small_split().view, lad.LadNetwork, recipe, 0).tuning == (0, 1e-3)


class Parrot(DeviceNetwork):
    """Says which device it was started as."""

    def __init__(self) -> None:
        super().__init__()
        self.unused = torch.nn.Parameter(torch.zeros(1))
        self.started: list[float] = []

    def forward(self, architectures: torch.Tensor, device: int) -> torch.Tensor:
        del device
        return 0 * architectures + 0 * self.unused

    def start_device(self, device: int, weights: torch.Tensor) -> None:
        del device
        self.started = weights.tolist()


@pytest.mark.parametrize(
    ("nearest", "weights"), [(True, [0.0, 1.0, 0.0]), (False, [1 / 3, 1 / 3, 1 / 3])]
)
def test_flat_starts_as_the_most_correlated_device(nearest: bool, weights: list[float]) -> None:
    view = small_split().view
    trained = TrainedNetwork(Parrot(), (0, 1e-3), nearest, view, 0.1)
    rows = view.rows[:6]
    slower = 40 * view.latencies(view.devices[1].name, rows)

    adapted = trained.adapt(FACTS, Probes(rows, slower), 0)

    assert adapted.network.started == pytest.approx(weights)


def test_a_diverged_network_still_gives_latencies() -> None:
    view = small_split().view
    wild = train_transferable(view, lad.LadNetwork, Recipe(3, tunings=((5, 50.0),)), 0)

    found = wild.adapt(FACTS, Probes(view.rows[:3], np.array([1.0, 2.0, 9.0])), 0)

    latency_ms = found.predict(np.arange(SIZE)).latency_ms
    assert np.isfinite(latency_ms).all()
    assert (latency_ms > 0).all()


def test_every_kernel_is_of_one_kind() -> None:
    table = small_graphs().kernels

    assert np.sum(kinds(table), axis=0).tolist() == [1] * len(table.kernels)


def test_factors_of_kinds_are_found() -> None:
    times = np.random.default_rng(0).uniform(0.1, 1.0, (40, 2))
    truth = 30 * (times @ [1.5, 0.5])
    trained = TrainedNnMeter(times, pull=1e-9)

    adapted = trained.adapt(FACTS, Probes(np.arange(10), truth[:10]), 0)

    assert adapted.predict(np.arange(40)).latency_ms == pytest.approx(truth, rel=1e-4)


def test_nn_meter_learns_the_small_space() -> None:
    found = small_split()
    live, rows = found.live_device("pixel3", 20), found.view.rows[:20]
    probes = Probes(rows, np.array([live.measure(int(row)) for row in rows]))

    adapted = NnMeter().train(found.view, 0).adapt(FACTS, probes, 0)

    truth = found.truth("pixel3")
    error = relative_error(adapted.predict(found.test_rows).latency_ms, truth).mean()
    assert error < relative_error(np.full(20, np.median(truth)), truth).mean()


def test_rehearsals_leave_the_device_out_and_judge_other_rows() -> None:
    view = small_split().view

    for rest, drawn in rehearsals(view, 0):
        for each in drawn:
            assert each.device not in rest.devices
            assert not set(each.probes.architectures) & set(each.judged)
            assert set(each.judged) <= set(view.rows)
    assert [each.device.name for _, drawn in rehearsals(view, 0) for each in drawn[:1]] == [
        "1080ti_1",
        "raspi4",
        "fpga",
    ]


class Multiple:
    """Predicts a multiple of the median sample."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> Multiple:
        del device, seed
        self.latency_ms = self.factor * np.median(probes.latency_ms)
        return self

    def predict(self, architectures: np.ndarray) -> Predicted:
        return Predicted(np.full(len(architectures), self.latency_ms))


def test_the_setting_with_the_least_error_is_chosen() -> None:
    trained: list[tuple[str, ...]] = []

    def train(rest: TrainView, seed: int) -> int:
        trained.append(tuple(device.name for device in rest.devices))
        return seed

    chosen = best_setting(
        small_split().view, 0, [3.0, 1.0, 0.3], train, lambda _, setting: Multiple(setting)
    )

    assert chosen == 1.0
    # Once for each device left out, however many settings there are.
    assert len(trained) == len(set(trained)) == 3


def test_without_a_second_device_the_middle_setting_is_taken() -> None:
    alone = TrainView.of(small_space(), ("fpga",), np.arange(SIZE))

    def chosen(*settings: float) -> float:
        return best_setting(alone, 0, settings, lambda _, seed: seed, lambda _, s: Multiple(s))

    assert chosen(3.0, 1.0, 0.3) == 1.0
    assert chosen(1.0, 3.0) == 3.0


def test_esm_counts_the_choices_of_a_stage() -> None:
    codes = np.zeros((1, 22), np.int64)
    codes[0, 1:5] = [2, 2, 0, 1]  # the second stage of FBNet has four blocks
    architectures = replace(small_space().architectures, space="fbnet", codes=codes)

    counts = esm.combination_counts(architectures).reshape(7, 3)

    assert counts.sum(axis=1).tolist() == [1, 4, 4, 4, 4, 4, 1]
    assert counts[1].tolist() == [1, 1, 2]


def test_balanced_architectures_fill_the_bins_of_latency_alike() -> None:
    log_latency = np.concatenate([np.linspace(0.0, 0.04, 1000), np.linspace(0.05, 1.0, 95)])

    drawn = log_latency[esm.balanced(log_latency, 60, 0)]

    assert np.histogram(drawn, bins=20, range=(0, 1))[0].tolist() == [3] * 20


def test_litepred_starts_from_the_device_whose_latencies_have_the_same_shape() -> None:
    space = small_space()
    view = TrainView.of(space, ["1080ti_1", "raspi4"], np.arange(60))
    probes = Probes(np.arange(10), 3 * space.latency_ms[:10, space.column("raspi4")])

    pool = LitePred().train(view, 0).pool

    apart = [divergence(times[probes.architectures].sum(axis=1), probes) for times in pool]
    assert np.argmin(apart) == 1
    assert all(each >= 0 for each in apart)


def test_trees_after_the_roofline_learn_the_small_space() -> None:
    from ctm_research.nas.baselines.alcop import Alcop, roofline  # noqa: PLC0415

    found = small_split()
    probes = found.view.rows[:10]
    live = found.live_device("pixel3", 10)
    measured = Probes(probes, np.array([live.measure(int(row)) for row in probes]))

    adapted = Alcop().train(found.view, 0).adapt(FACTS, measured, 0)

    assert np.isfinite(roofline(found.view.architectures.kernels)).all()
    error = relative_error(adapted.predict(found.test_rows).latency_ms, found.truth("pixel3"))
    assert error.mean() < 0.2
