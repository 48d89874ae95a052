"""Rows of results, what they are compared with, and what a signature says of itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ctm_gui.probing.grids import changes_grid, result_grid
from ctm_gui.probing.results import (
    Result,
    belief_question,
    compared,
    fit_words,
    ratio_text,
    result_rows,
    result_words,
    signature_facts,
)
from predictor.core.documents import ProbingFacts, Provenance
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Measurement, Signature
from predictor.core.stored import ProbeState, SessionProbe, StoredSignature
from predictor.cost.engine import FilmBiases, FilmTuning
from predictor.services.signatures.assessment import BeforeAfter


def measurement(name: str, value_ms: float, samples_ns: tuple[int, ...] = ()) -> Measurement:
    provenance = Provenance({"network": name, "words": f"steady {name}"})
    return Measurement(
        id=f"m-{name}",
        fingerprint=name * 64,
        device_id="b",
        configuration=Configuration(),
        samples_ns=samples_ns,
        value_ms=value_ms,
        statistic="median",
        protocol="p",
        provenance=provenance,
    )


def test_a_row_tells_median_least_variation_and_runs() -> None:
    (row,) = result_rows([measurement("a", 2.0, (1_000_000, 2_000_000, 3_000_000))])
    assert (row.median_ms, row.least_ms, row.runs, row.words) == (2.0, 1.0, 3, "steady a")
    assert row.variation == pytest.approx((2 / 3) ** 0.5 / 2)


def test_networks_without_a_number_follow_with_their_reason() -> None:
    probes = [
        SessionProbe(
            name="a", fingerprint="a" * 64, state=ProbeState.MEASURED, measurement_id="m-a"
        ),
        SessionProbe(
            name="b", fingerprint="b" * 64, state=ProbeState.FAILED, reason="out-of-memory: killed"
        ),
    ]
    rows = result_rows([measurement("a", 2.0)], probes)
    assert [(row.name, row.median_ms, row.words) for row in rows] == [
        ("a", 2.0, "steady a"),
        ("b", None, "out-of-memory: killed"),
    ]


def test_an_imported_latency_says_what_it_is() -> None:
    plain = Measurement(
        id="m",
        fingerprint="c" * 64,
        device_id="b",
        configuration=Configuration(),
        samples_ns=(),
        value_ms=4.0,
        statistic="mean",
        protocol="import/csv",
        provenance=Provenance(),
    )
    (row,) = result_rows([plain])
    assert (row.name, row.words, row.least_ms) == ("c" * 12, "imported: mean", None)


def test_signatures_are_compared_network_by_network() -> None:
    rows = compared(
        result_rows([measurement("a", 2.2), measurement("b", 5.0)]), [measurement("a", 2.0)]
    )
    assert rows[0].ratio == pytest.approx(0.1)
    assert rows[1].ratio is None
    grid = result_grid(rows, "yesterday")
    titles = [column.title for column in grid.columns]
    assert titles[5:7] == ["yesterday (ms)", "Change"]
    assert [grid.columns[6].text(row) for row in (0, 1)] == ["+10 %", "—"]
    assert "Change" not in [column.title for column in result_grid(rows).columns]


def test_a_ratio_has_its_sign() -> None:
    assert [ratio_text(share) for share in (0.031, -0.5, 0.0, None)] == [
        "+3.1 %",
        "−50 %",
        "+0 %",
        "—",
    ]


def test_a_signature_tells_machine_runtime_and_drift() -> None:
    facts = {
        "protocol": "ctm-probe/1",
        "host": {
            "node": "bench",
            "processor": "A76",
            "onnxruntime": "onnxruntime 1.31.0",
            "governor": None,
        },
        "configuration": {"provider": "CPUExecutionProvider"},
        "drift": 0.0123,
        "film": FilmTuning("0" * 64, FilmBiases(np.zeros(2), np.zeros(2))).to_json(),
    }
    signature = Signature("s", "b", Configuration(), ("m",), active=True)
    stored = StoredSignature(signature=signature, created_ns=0, facts=ProbingFacts(facts))
    assert dict(signature_facts(stored)) == {
        "Protocol": "ctm-probe/1",
        "Machine": "bench, A76",
        "Runtime": "onnxruntime 1.31.0, CPUExecutionProvider",
        "Drift": "1.23 %",
        "FiLM": "fine-tuned for another version of the network, so not used: fine-tune again",
    }


def test_a_machine_that_drifted_is_warned_of_beside_what_its_networks_tell() -> None:
    def result(drift: float) -> Result:
        signature = Signature("s", "b", Configuration(), ("m",), active=True)
        stored = StoredSignature(
            signature=signature, created_ns=0, facts=ProbingFacts({"drift": drift})
        )
        return Result(
            device_id="b", configuration=Configuration(), rows=(), signature=stored, assessed=True
        )

    assert not result(0.04).drifted
    assert "repeat" not in fit_words(result(0.04))
    assert result(0.977).drifted
    assert fit_words(result(0.977)).startswith(
        "The machine changed its speed (97.7 % drift): repeat when idle."
    )


def test_a_probing_that_failed_its_checks_asks_whether_to_use_it() -> None:
    signature = Signature("s", "b", Configuration(), ("m",), active=False)
    stored = StoredSignature(signature=signature, created_ns=0)
    assert (
        belief_question(
            Result(device_id="b", configuration=Configuration(), rows=(), signature=stored)
        )
        == ""
    )
    failed = Result(
        device_id="b", configuration=Configuration(), rows=(), signature=stored, reason="it drifted"
    )
    assert belief_question(failed) == (
        "It is kept, but predictions do not use it, as it failed its own checks: it drifted. "
        "Probe again when the machine is idle, or use it anyway?"
    )
    assert "not active" in result_words(failed)
    anyway = StoredSignature(
        signature=replace(signature, active=True),
        created_ns=0,
        facts=ProbingFacts({"used_anyway": True}),
    )
    used = replace(failed, signature=anyway)
    assert belief_question(used) == (
        "It is used anyway, and its numbers are marked unstable: it drifted."
    )
    # Active since an earlier version, which had no checks.
    before = replace(failed, signature=replace(anyway, facts=ProbingFacts()))
    assert not before.is_used
    assert "not active" in result_words(before)


def test_what_a_signature_changes_is_written_as_in_the_comparison() -> None:
    def prediction(latency_ms: float) -> Prediction:
        return Prediction(
            model="m.onnx",
            fingerprint="f",
            device_id="b",
            configuration=Configuration(),
            engine="engine",
            basis=Basis.PROBED,
            latency_ms=latency_ms,
            low80_ms=latency_ms / 2,
            high80_ms=latency_ms * 2,
        )

    grid = changes_grid([BeforeAfter(prediction(1234.5), prediction(20.0))])
    assert [column.text(0) for column in grid.columns[1:]] == [
        "1230",
        "617 – 2470",
        "20",
        "10 – 40",
    ]
