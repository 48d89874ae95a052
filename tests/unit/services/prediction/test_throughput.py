"""Items a second: from the latency and what several runs at once bring, within the bound."""

from __future__ import annotations

from dataclasses import replace

import pytest

from predictor.core.records import Target
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.batches import SIZES, batch_times, largest_gain
from predictor.services.prediction.predict import predict
from predictor.services.prediction.targets import resolve_targets
from predictor.services.prediction.throughput import ALONE, Throughput, throughputs
from tests.support.graphs import Op
from tests.support.models import make_model

_MODEL = make_model(*[Op(macs=50_000_000, read=400_000, weights=200_000, written=400_000)] * 12)


def targets(*names: str) -> tuple[Target, ...]:
    catalogue = load_catalogue()
    return resolve_targets([catalogue.find(name) for name in names])


def throughput(name: str) -> Throughput:
    chosen = targets(name)
    (rate,) = throughputs(_MODEL, chosen, predict([_MODEL], chosen))
    assert rate is not None
    return rate


def test_a_card_makes_several_runs_in_the_time_of_one() -> None:
    chosen = targets("rtx3060")
    (prediction,) = predict([_MODEL], chosen)
    (rate,) = throughputs(_MODEL, chosen, [prediction])
    assert rate is not None
    assert prediction.latency_ms is not None
    assert rate.alone_per_s == pytest.approx(1000 / prediction.latency_ms)
    assert rate.gain > 1.5
    assert rate.per_s == pytest.approx(rate.alone_per_s * rate.gain)
    assert rate.batch in SIZES
    assert rate.low80_per_s is not None
    assert rate.high80_per_s is not None
    assert rate.low80_per_s < rate.per_s < rate.high80_per_s
    assert "17 chips" in rate.evidence


def test_no_rate_is_over_the_bound() -> None:
    chosen = targets("rtx3060")
    (prediction,) = predict([_MODEL], chosen)
    bound_ms = float(batch_times(_MODEL.graph, chosen, SIZES).bound_ms[0])
    # Already at its bound, a run leaves nothing to several at once.
    fast = replace(prediction, latency_ms=bound_ms, low80_ms=bound_ms, high80_ms=1.1 * bound_ms)
    (rate,) = throughputs(_MODEL, chosen, [fast])
    assert rate is not None
    assert rate.gain == 1.0
    assert rate.high80_per_s == pytest.approx(1000 / bound_ms)


def test_of_what_nobody_published_a_rate_is_of_one_run_after_the_other() -> None:
    rate = throughput("rk3588-npu")
    assert rate.gain == 1.0
    assert rate.batch == 1
    assert rate.per_s == rate.alone_per_s
    assert rate.evidence == ALONE


def test_without_a_latency_there_is_no_rate() -> None:
    chosen = targets("rtx3060", "rk3588-npu")
    absent = [replace(each, latency_ms=None) for each in predict([_MODEL], chosen)]
    assert throughputs(_MODEL, chosen, absent) == [None, None]


def test_a_file_with_a_batch_counts_its_items() -> None:
    chosen = targets("rtx3060")
    (one,) = predict([_MODEL], chosen)
    of_eight = replace(one, configuration=replace(one.configuration, batch=8))
    (rate,) = throughputs(_MODEL, chosen, [of_eight])
    assert rate is not None
    assert one.latency_ms is not None
    assert rate.alone_per_s == pytest.approx(8000 / one.latency_ms)
    assert rate.batch % 8 == 0


def test_batches_that_do_not_fit_bring_nothing() -> None:
    chosen = targets("rtx3060")
    times = batch_times(_MODEL.graph, chosen, SIZES)
    whole = largest_gain(times, SIZES)
    fits = times.fits.copy()
    fits[2:] = False
    small = largest_gain(times._replace(fits=fits), SIZES)
    assert small.size[0] <= 2 < whole.size[0]
    assert 1 <= small.factor[0] < whole.factor[0]
