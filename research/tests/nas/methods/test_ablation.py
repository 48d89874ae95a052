"""The variants of the ablation: what each is made of, and what the posterior adds."""

from __future__ import annotations

import numpy as np
import pytest

from ctm_research.nas.method import Chooses, Plans
from ctm_research.nas.methods.ablation import (
    A_POSTERIOR,
    BASELINE,
    OURS,
    OURS_POSTERIOR,
    A,
    AblationMethod,
    B,
    C,
    trained_once,
)
from ctm_research.nas.methods.paper import (
    References,
    TrainedPaper,
    TrainedWithoutSignature,
    choose_references,
)
from research.tests.nas.methods.views import ROWS, SHORT, TEST, probes_of, view_of
from research.tests.nas.small_space import small_space


def test_baseline_has_identifiers_and_a_has_the_vector_and_neither_has_a_signature() -> None:
    view = view_of()
    identifiers = []
    for method in (BASELINE(recipe=SHORT), A(recipe=SHORT)):
        trained = method.train(view, 0)
        assert isinstance(trained, TrainedWithoutSignature)
        assert isinstance(trained, Chooses)
        assert trained.network.network.config.signature_size == 0
        identifiers.append(trained.network.network.config.devices > 0)
    assert identifiers == [True, False]


@pytest.mark.parametrize(
    ("method", "policy"),
    [(B, References.RANDOM), (C, References.HOMOGENEOUS), (OURS, References.DBSEL)],
)
def test_b_c_and_ours_differ_in_their_references(
    method: type[AblationMethod], policy: References
) -> None:
    view = view_of()
    trained = method(recipe=SHORT).train(view, 3)
    assert isinstance(trained, TrainedPaper)
    np.testing.assert_array_equal(trained.plan(4), choose_references(view, policy, 4, 3))


@pytest.mark.parametrize(("plain", "more"), [(A, A_POSTERIOR), (OURS, OURS_POSTERIOR)])
def test_both_columns_share_one_training_and_the_posterior_adds_intervals(
    plain: type[AblationMethod], more: type[AblationMethod]
) -> None:
    trained_once.cache_clear()
    space = small_space(noise=0.02)
    view = view_of(space)
    first, second = plain(recipe=SHORT).train(view, 0), more(recipe=SHORT).train(view, 0)
    assert second.trained is first
    assert isinstance(second, Plans) == isinstance(first, Plans)

    rows = first.plan(6) if isinstance(first, Plans) else ROWS[:6]
    probes = probes_of(space, rows)
    tests = np.arange(10)
    fitted = first.adapt(space.facts(TEST), probes, 0).predict(tests)
    regressed = second.adapt(space.facts(TEST), probes, 0).predict(tests)

    assert fitted.low80_ms is None
    assert regressed.low80_ms is not None
    assert regressed.high80_ms is not None
    assert (regressed.low80_ms < regressed.latency_ms).all()
    assert (regressed.latency_ms < regressed.high80_ms).all()
    assert not np.allclose(fitted.latency_ms, regressed.latency_ms, rtol=1e-6)


def test_the_posterior_comes_closer_to_the_samples_themselves() -> None:
    space = small_space()
    view = view_of(space)
    first, second = OURS(recipe=SHORT).train(view, 0), OURS_POSTERIOR(recipe=SHORT).train(view, 0)
    probes = probes_of(space, first.plan(8))

    def error(trained: TrainedPaper) -> float:
        found = trained.adapt(space.facts(TEST), probes, 0).predict(probes.architectures)
        return float(np.abs(found.latency_ms / probes.latency_ms - 1).mean())

    assert error(second) < error(first)
