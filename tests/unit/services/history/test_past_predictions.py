"""Stored predictions: marked, deleted and restored, answered by what was measured, made again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.core.records import Basis, Signature
from predictor.core.tags import clean_tags
from predictor.core.units import LatencyUnit
from predictor.probing.importers.records import Statistic
from predictor.services.history import past_predictions
from predictor.services.history.changes import Change, predict_again
from predictor.services.history.history import History, open_history
from predictor.services.history.past_predictions import NewTruth, PastPredictions, latency_in_ms
from predictor.services.history.store_files import store_problems
from predictor.services.signatures.stored import Signatures
from predictor.store import models, signatures
from tests.support.past_predictions import DEVICES, predictions_of, small_model

NET = small_model()


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_history(tmp_path / "store.sqlite") as opened:
        opened.record([NET], predictions_of(NET))
        yield opened


@pytest.fixture
def past(history: History) -> PastPredictions:
    return history.past


def test_what_a_prediction_was_made_with_is_kept(past: PastPredictions) -> None:
    content = past.read(10)
    assert content.count == 2
    assert [p.settings.dimensions for p in content.predictions] == [{"batch": 1}] * 2


def test_the_newest_are_read_and_all_are_counted(past: PastPredictions) -> None:
    content = past.read(1)
    assert (len(content.predictions), content.count) == (1, 2)
    assert content.predictions[0].prediction.device_id == "slow"


def test_predictions_that_were_read_share_their_equal_texts(history: History) -> None:
    history.record([NET], [dataclasses.replace(p, evidence="e" * 500) for p in predictions_of(NET)])
    one, other = history.past.read(2).predictions
    for name in ("model", "fingerprint", "engine", "evidence"):
        assert getattr(one.prediction, name) is getattr(other.prediction, name)
    assert one.settings_hash is other.settings_hash
    assert one.settings is other.settings


def test_tags_and_a_note_are_kept_with_a_prediction(past: PastPredictions) -> None:
    first, second = past.read(10).predictions
    past.mark(first.id, ["release  2 ", "Board", "board", ""], "  with the new cooler\n")
    found = past.read(10).predictions
    assert found[0].tags == ("release 2", "Board")
    assert found[0].note == "with the new cooler"
    assert found[1] == second
    past.mark(first.id, [], "")
    assert past.read(10).predictions[0] == first


@pytest.mark.parametrize(
    ("tags", "sentence"),
    [
        (["x" * 41], "more than 40 characters"),
        (["a,b"], "has a comma"),
        ([f"tag {i}" for i in range(21)], "21 are more than 20"),
    ],
)
def test_tags_that_cannot_be_kept_are_refused(tags: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        clean_tags(tags)


def test_a_long_note_is_refused_and_the_old_one_stays(past: PastPredictions) -> None:
    first = past.read(10).predictions[0]
    past.mark(first.id, ["a"], "short")
    with pytest.raises(InputError, match="2001 characters"):
        past.mark(first.id, ["b"], "x" * 2001)
    assert past.read(10).predictions[0].tags == ("a",)


def test_deleted_predictions_come_back_as_they_were(past: PastPredictions) -> None:
    before = past.read(10)
    ids = [p.id for p in before.predictions]
    past.mark(ids[0], ["kept"], "")
    before = past.read(10)
    past.delete(ids)
    assert past.read(10).predictions == ()
    assert past.read(10).count == 0
    past.restore(ids)
    assert past.read(10).predictions == before.predictions


def test_what_was_deleted_goes_for_good_after_a_month_with_its_graph(
    history: History, past: PastPredictions, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = small_model("other.onnx", macs=5)
    history.record([other], predictions_of(other))
    gone = [p.id for p in past.read(10).predictions if p.prediction.model == "other.onnx"]
    past.delete(gone)
    past.purge()
    assert set(past.graphs([other.graph.fingerprint])) == {other.graph.fingerprint}
    monkeypatch.setattr(past_predictions, "DELETED_RETENTION_NS", -1)
    past.purge()
    past.restore(gone)
    assert past.read(10).count == 2
    assert past.graphs([other.graph.fingerprint, NET.graph.fingerprint]).keys() == {
        NET.graph.fingerprint
    }


def test_a_measured_graph_outlives_its_predictions(
    past: PastPredictions, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = past.read(10).predictions
    past.add_truth(stored[0], NewTruth("2.5"))
    past.delete([p.id for p in stored])
    monkeypatch.setattr(past_predictions, "DELETED_RETENTION_NS", -1)
    past.purge()
    assert past.graphs([NET.graph.fingerprint])


def test_a_measured_latency_answers_its_prediction(past: PastPredictions) -> None:
    slow, fast = past.read(10).predictions
    truth = NewTruth(" 12500 ", LatencyUnit.US, Statistic.MEAN, " on my desk ")
    identity = past.add_truth(slow, truth)

    content = past.read(10)
    (stored,) = content.measurements
    (pair,) = content.pairs

    measurement = stored.measurement
    assert (measurement.id, stored.prediction_id) == (identity, slow.id)
    assert measurement.value_ms == pytest.approx(12.5)
    assert (measurement.statistic, measurement.samples_ns) == ("mean", ())
    assert measurement.configuration == slow.prediction.configuration
    provenance = measurement.provenance.content
    assert provenance["source"] == "typed by hand"
    assert (provenance["entered"], provenance["note"]) == ("12500 µs", "on my desk")
    assert pair.predicted == slow
    assert fast.id not in {p.predicted.id for p in content.pairs}


def test_a_withdrawn_latency_is_left_out_until_it_is_reinstated(past: PastPredictions) -> None:
    identity = past.add_truth(past.read(10).predictions[0], NewTruth("12.5"))
    past.withdraw_truth(identity)
    assert past.read(10).measurements == ()
    past.reinstate_truth(identity)
    assert len(past.read(10).pairs) == 1


def test_a_latency_that_a_signature_uses_is_not_withdrawn(
    history: History, past: PastPredictions
) -> None:
    stored = past.read(10).predictions[0]
    identity = past.add_truth(stored, NewTruth("12.5"))
    p = stored.prediction
    signature = Signature("5" * 32, p.device_id, p.configuration, (identity,), active=True)
    signatures.add(history.database, signature)
    with pytest.raises(InputError, match=f"signature {'5' * 32} uses it"):
        past.withdraw_truth(identity)
    Signatures(history.database).delete("5" * 32)
    past.withdraw_truth(identity)
    assert store_problems(history.database.path) == []


@pytest.mark.parametrize(
    ("value", "unit", "batch", "latency_ms"),
    [
        ("23.4", LatencyUnit.MS, 1, 23.4),
        ("1e3", LatencyUnit.US, 1, 1.0),
        ("50", LatencyUnit.FPS, 1, 20.0),
        ("50", LatencyUnit.FPS, 8, 160.0),
    ],
)
def test_latencies_are_stored_in_ms(
    value: str, unit: LatencyUnit, batch: int, latency_ms: float
) -> None:
    assert latency_in_ms(value, unit, batch) == pytest.approx(latency_ms)


def test_a_wrong_latency_is_not_stored(past: PastPredictions) -> None:
    with pytest.raises(InputError, match="it is no number"):
        past.add_truth(past.read(1).predictions[0], NewTruth("fast"))
    for value in ("1.9", "12001"):
        with pytest.raises(InputError, match="look at its unit"):
            past.add_truth(past.read(1).predictions[0], NewTruth(value))
    assert past.read(1).measurements == ()


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("", "the latency: it is no number"),
        ("fast", "it is no number"),
        ("2,5", "decimals with a point"),
        ("0", "not over 0"),
        ("-3", "not over 0"),
        ("nan", "not over 0"),
        ("inf", "over an hour"),
        ("4e6", "over an hour"),
        ("9" * 400, "over an hour"),
    ],
)
def test_what_is_no_latency_is_refused(value: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        latency_in_ms(value, LatencyUnit.MS)


def test_a_damaged_graph_is_left_out(history: History, past: PastPredictions) -> None:
    with history.database.transaction() as connection:
        models.put_graph(connection, "e" * 64, b"nonsense")
    assert past.graphs(["e" * 64, "f" * 64]) == {}


def test_today_is_as_stored_while_nothing_has_changed(past: PastPredictions) -> None:
    stored = past.read(10).predictions
    again = predict_again(
        stored, past.graphs(p.prediction.fingerprint for p in stored), DEVICES, "roofline"
    )
    assert [entry.stored for entry in again] == list(stored)
    assert [entry.today for entry in again] == [p.prediction for p in stored]
    assert [entry.relative for entry in again] == [0.0, 0.0]
    assert [entry.reasons for entry in again] == [(), ()]


def test_changes_have_reasons(past: PastPredictions) -> None:
    slow, fast = past.read(10).predictions
    faster = dataclasses.replace(
        DEVICES["slow"], metrics={"fp32_tflops": 2.0, "dram_bw_gbps": 100.0}
    )
    old = dataclasses.replace(
        fast, prediction=dataclasses.replace(fast.prediction, engine="roofline/0")
    )
    devices = {"slow": faster, "fast": DEVICES["fast"]}
    graphs = past.graphs([NET.graph.fingerprint])
    first, second = predict_again([slow, old], graphs, devices, "roofline")
    assert first.relative == pytest.approx(-0.9, rel=0.01)
    assert first.reasons == ("the device's description or the program is another",)
    assert second.reasons == ("engine roofline/0, now roofline/1",)


def test_another_adaptation_is_a_reason(past: PastPredictions) -> None:
    stored = past.read(10).predictions[0]
    now = dataclasses.replace(stored.prediction, basis=Basis.PROBED)
    tuned = dataclasses.replace(now, fine_tuned=True)
    then = dataclasses.replace(stored, prediction=tuned)
    assert Change(then, now).reasons == ("adapted by FiLM and posterior, now by posterior",)
    assert Change(then, tuned).reasons == ()


def test_what_cannot_be_predicted_again_says_why(past: PastPredictions) -> None:
    slow, fast = past.read(10).predictions
    graphs = past.graphs([NET.graph.fingerprint])
    gone, there = predict_again([slow, fast], graphs, {"fast": DEVICES["fast"]}, "roofline")
    assert (gone.today, gone.problem) == (None, "the device slow is no longer there")
    assert there.today == fast.prediction
    (unread,) = predict_again([fast], {}, DEVICES)
    assert unread.problem == "the stored operator graph cannot be read"
    assert unread.relative is None
