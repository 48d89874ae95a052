"""FiLM fine-tuned to one target: what it changes, and what it leaves as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime
import pytest

from predictor.core.records import TargetId
from predictor.cost.engine import FilmBiases, FilmTuning, PredictionTable, TargetMeasurements
from predictor.graph.operator_graph import OperatorGraph
from tests.support.explanations import explanation_of
from tests.support.graphs import Op, make_graph
from tests.support.tiny_engine import GRAPHS, TARGETS, moved, shipped_biases, tiny_engine, tuned_to

if TYPE_CHECKING:
    from predictor.network.film_tuning.fit import FilmOfTarget

pytestmark = pytest.mark.slow

TARGET, *OTHERS = TARGETS
ASKED = make_graph([Op(macs=10**8, read=10**6, weights=10**5, written=10**6)])


def measured(film: FilmTuning | None) -> dict[TargetId, TargetMeasurements]:
    return {TARGET.id: replace(tuned_to(TARGET), film=film)}


def predicted(film: FilmTuning | None, graph: OperatorGraph = ASKED) -> PredictionTable:
    return tiny_engine().predict([graph], [TARGET, *OTHERS], measured(film))


def fit(latency_ms: np.ndarray, steps: int | None = None) -> FilmOfTarget:
    # Imported here: torch takes seconds, which the collection of all tests would take too.
    from predictor.network.film_tuning.fit import FilmOfTarget, Steps  # noqa: PLC0415

    inputs = tiny_engine().network.head_inputs(GRAPHS, TARGET)
    return FilmOfTarget(
        tiny_engine().network.head,
        inputs,
        np.log(latency_ms),
        None if steps is None else Steps(steps),
    )


def test_the_head_in_torch_is_the_head_in_onnxruntime() -> None:
    import torch  # noqa: PLC0415

    from predictor.network.film_tuning.fit import TorchGraph  # noqa: PLC0415

    (inputs,) = tiny_engine().network.head_inputs([ASKED], TARGET)
    session = onnxruntime.InferenceSession(str(tiny_engine().network.head))
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in inputs.items()}
    ours = TorchGraph(tiny_engine().network.head).run(tensors)
    for output, theirs in zip(session.get_outputs(), session.run(None, inputs), strict=True):
        np.testing.assert_allclose(ours[output.name].numpy(), theirs, rtol=1e-5, atol=1e-7)


def test_fine_tuning_serves_its_own_target_alone() -> None:
    plain, tuned = (
        predicted(None),
        predicted(FilmTuning(tiny_engine().network.checksum, shipped_biases())),
    )

    assert plain.facts["fine_tuned"] == [[False, False, False]]
    assert tuned.facts["fine_tuned"] == [[True, False, False]]
    for name in ("latency_ms", "low80_ms", "high80_ms", "low95_ms", "high95_ms"):
        ours, theirs = getattr(tuned, name), getattr(plain, name)
        np.testing.assert_array_equal(ours[0, 1:], theirs[0, 1:])
        assert ours[0, 0] != pytest.approx(theirs[0, 0], rel=1e-3)
    # Rows of the network are shorter than those of the estimate.
    assert tuned.shared_error is not None
    assert plain.shared_error is not None
    np.testing.assert_array_equal(tuned.shared_error[0, 1:], plain.shared_error[0, 1:])
    assert np.abs(tuned.shared_error[0, 0]).max() > 0


def test_biases_move_the_number_and_make_no_interval_narrower() -> None:
    network = tiny_engine().network.checksum
    before, after = (
        predicted(FilmTuning(network, biases))
        for biases in (shipped_biases(), moved(shipped_biases()))
    )

    assert after.latency_ms[0, 0] != pytest.approx(before.latency_ms[0, 0], rel=1e-3)
    np.testing.assert_array_equal(after.latency_ms[0, 1:], before.latency_ms[0, 1:])
    known = measured(FilmTuning(network, moved(shipped_biases())))
    explained = explanation_of(tiny_engine(), ASKED, TARGET, known)
    assert explained.latency_ms.sum() == pytest.approx(after.latency_ms[0, 0], rel=1e-5)
    widths = [np.log(t.high80_ms / t.low80_ms)[0, 0] for t in (before, after)]
    assert widths[1] == pytest.approx(widths[0], rel=0.5)


def test_another_network_does_not_take_it() -> None:
    foreign = FilmTuning("0" * 64, moved(shipped_biases()))

    plain, told = predicted(None), predicted(foreign)

    assert told.facts["fine_tuned"] == [[False, False, False]]
    np.testing.assert_array_equal(told.latency_ms, plain.latency_ms)


def test_what_was_tuned_under_one_configuration_serves_no_other() -> None:
    other = replace(TARGET, configuration=replace(TARGET.configuration, runtime="onnxruntime"))
    known = measured(FilmTuning(tiny_engine().network.checksum, shipped_biases()))

    table = tiny_engine().predict([ASKED], [other, TARGET], known)

    assert table.facts["fine_tuned"] == [[False, True]]
    # What was measured on the device tells the estimate of its other configuration.
    alone = tiny_engine().predict([ASKED], [other], {})
    assert table.latency_ms[0, 0] > 1.05 * alone.latency_ms[0, 0]


def test_fitting_explains_more_of_the_samples_and_equal_samples_give_equal_results() -> None:
    latency_ms = measured(None)[TARGET.id].latency_ms
    none = fit(latency_ms, 0).biases()
    np.testing.assert_array_equal(none.gamma, shipped_biases().gamma)
    np.testing.assert_array_equal(none.beta, shipped_biases().beta)
    fitted = fit(latency_ms).biases()
    again = fit(latency_ms).biases()
    np.testing.assert_array_equal(fitted.gamma, again.gamma)

    def misfit(biases: FilmBiases) -> float:
        tuning = FilmTuning(tiny_engine().network.checksum, biases)
        table = tiny_engine().predict(GRAPHS, [TARGET], measured(tuning))
        return float(np.abs(np.log(table.latency_ms[:, 0] / latency_ms)).mean())

    assert misfit(fitted) < misfit(none)


def test_what_leaves_a_sample_out_knows_nothing_of_it() -> None:
    latency_ms = measured(None)[TARGET.id].latency_ms
    other_ms = latency_ms * np.array([1.0, 1.0, 10.0, 1.0])
    whole, *apart = fit(latency_ms, 2).all_biases()
    _, *others = fit(other_ms, 2).all_biases()
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
