"""FiLM fine-tuned to one target: what it changes, and what it leaves as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
import torch

from predictor.cost.engine import FilmBiases, FilmTuning, PredictionTable, TargetMeasurements
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.film_tuning.fit import FilmOfTarget, Steps, TorchGraph
from predictor.network.term_runtime import FILM_BETA, FILM_GAMMA
from tests.unit.cost.graphs import Op, make_graph
from tests.unit.engine.tiny import TARGETS, tiny_engine

TARGET = TARGETS[0]
OTHERS = [replace(t, device=replace(t.device, id=f"other-{n}")) for n, t in enumerate(TARGETS[1:])]
GRAPHS = [
    make_graph([Op(macs=m, read=m // part, written=m // part)] * count)
    for m, part, count in ((10**6, 9, 2), (10**7, 3, 4), (10**8, 50, 3), (10**9, 20, 5))
]
ASKED = make_graph([Op(macs=10**8, read=10**6, weights=10**5, written=10**6)])


def shipped_biases() -> FilmBiases:
    weights = TorchGraph(tiny_engine().head).initializers
    return FilmBiases(weights[FILM_GAMMA].numpy(), weights[FILM_BETA].numpy())


def measured(film: FilmTuning | None) -> dict[str, TargetMeasurements]:
    plain = tiny_engine().predict(GRAPHS, [TARGET], {}).latency_ms[:, 0]
    latency_ms = plain * np.array([2.0, 1.0, 3.0, 1.5])
    return {TARGET.id: TargetMeasurements("own", GRAPHS, latency_ms, np.full(4, 0.01), film)}


def predicted(film: FilmTuning | None, graph: OperatorGraph = ASKED) -> PredictionTable:
    return tiny_engine().predict([graph], [TARGET, *OTHERS], measured(film))


def moved(biases: FilmBiases) -> FilmBiases:
    return FilmBiases(biases.gamma + np.float32(0.5), biases.beta - np.float32(0.5))


def fit(latency_ms: np.ndarray, steps: Steps | None = None) -> FilmOfTarget:
    inputs = tiny_engine().head_inputs(GRAPHS, TARGET)
    return FilmOfTarget(tiny_engine().head, inputs, np.log(latency_ms), steps)


def test_the_head_in_torch_is_the_head_in_onnxruntime() -> None:
    (inputs,) = tiny_engine().head_inputs([ASKED], TARGET)
    session = onnxruntime.InferenceSession(str(tiny_engine().head))
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in inputs.items()}
    ours = TorchGraph(tiny_engine().head).run(tensors)
    for output, theirs in zip(session.get_outputs(), session.run(None, inputs), strict=True):
        np.testing.assert_allclose(ours[output.name].numpy(), theirs, rtol=1e-5, atol=1e-7)


def test_biases_as_they_ship_change_no_number() -> None:
    same = FilmTuning(tiny_engine().network, shipped_biases())
    plain, tuned = predicted(None), predicted(same)
    assert not any(plain.facts["fine_tuned"][0])
    assert list(tuned.facts["fine_tuned"][0]) == [True] + [False] * (tuned.latency_ms.shape[1] - 1)
    for name in ("latency_ms", "low80_ms", "high80_ms", "low95_ms", "high95_ms"):
        np.testing.assert_allclose(getattr(tuned, name), getattr(plain, name), rtol=1e-6)


def test_fine_tuning_changes_its_own_target_alone_and_makes_no_interval_narrower() -> None:
    tuning = FilmTuning(tiny_engine().network, moved(shipped_biases()))
    plain, tuned = predicted(None), predicted(tuning)
    assert tuned.latency_ms[0, 0] != pytest.approx(plain.latency_ms[0, 0], rel=1e-3)
    np.testing.assert_array_equal(tuned.latency_ms[0, 1:], plain.latency_ms[0, 1:])
    explained = tiny_engine().explain(ASKED, TARGET, measured(tuning))
    assert explained.latency_ms.sum() == pytest.approx(tuned.latency_ms[0, 0], rel=1e-5)
    before, after = (np.log(t.high80_ms / t.low80_ms)[0, 0] for t in (plain, tuned))
    assert after == pytest.approx(before, rel=0.5)


def test_another_network_does_not_take_it() -> None:
    foreign = FilmTuning("0" * 64, moved(shipped_biases()))
    plain, told = predicted(None), predicted(foreign)
    assert not any(told.facts["fine_tuned"][0])
    np.testing.assert_array_equal(told.latency_ms, plain.latency_ms)


def test_fitting_explains_more_of_the_samples_and_equal_samples_give_equal_results() -> None:
    latency_ms = measured(None)[TARGET.id].latency_ms
    none = fit(latency_ms, Steps(0)).biases()
    np.testing.assert_array_equal(none.gamma, shipped_biases().gamma)
    np.testing.assert_array_equal(none.beta, shipped_biases().beta)
    fitted = fit(latency_ms).biases()
    again = fit(latency_ms).biases()
    np.testing.assert_array_equal(fitted.gamma, again.gamma)

    def misfit(biases: FilmBiases) -> float:
        tuning = FilmTuning(tiny_engine().network, biases)
        table = tiny_engine().predict(GRAPHS, [TARGET], measured(tuning))
        return float(np.abs(np.log(table.latency_ms[:, 0] / latency_ms)).mean())

    assert misfit(fitted) < misfit(none)


def test_what_leaves_a_sample_out_knows_nothing_of_it() -> None:
    latency_ms = measured(None)[TARGET.id].latency_ms
    other_ms = latency_ms * np.array([1.0, 1.0, 10.0, 1.0])
    whole, *apart = fit(latency_ms, Steps(2)).every()
    _, *others = fit(other_ms, Steps(2)).every()
    assert len(apart) == 4
    np.testing.assert_array_equal(apart[2].gamma, others[2].gamma)
    assert (apart[0].gamma != others[0].gamma).any()
    assert (whole.gamma != apart[2].gamma).any()


def test_a_graph_that_was_measured_is_told_by_what_has_not_seen_it() -> None:
    seen, unseen = shipped_biases(), moved(shipped_biases())
    tuning = FilmTuning("network", seen, {"a": unseen})
    assert tuning.unseen("a").biases is unseen
    assert tuning.unseen("b") is tuning


def test_a_tuning_is_written_and_read() -> None:
    tuning = FilmTuning("network", shipped_biases(), {"a": moved(shipped_biases())})
    read = FilmTuning.from_json(tuning.to_json())
    assert read.network == "network"
    np.testing.assert_array_equal(read.biases.gamma, tuning.biases.gamma)
    np.testing.assert_array_equal(read.without["a"].beta, tuning.without["a"].beta)


@pytest.mark.parametrize("gamma", ["", "AAAA", "AADAfwAAwH8=", "no base64!", None])
def test_a_damaged_tuning_is_refused(gamma: str | None) -> None:
    data = {**FilmTuning("network", shipped_biases()).to_json(), "gamma": gamma}
    with pytest.raises((TypeError, ValueError)):
        FilmTuning.from_json(data)
