"""Open JSON objects keep their text, and what another program wrote counts as nothing."""

from __future__ import annotations

import dataclasses

import pytest

from predictor.core import fields
from predictor.core.documents import PredictionSettings, ProbingFacts, Provenance
from predictor.core.prediction import Prediction
from predictor.core.records import Measurement, Signature


@pytest.mark.parametrize("text", ["", "[]", "3", "rubbish", "[" * 100_000])
def test_what_is_no_object_is_refused_where_it_is_checked_and_empty_where_not(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Provenance.from_json(text)
    assert Provenance(text=text).content == {}
    assert Provenance(text=text).to_json() == text


def test_a_text_stays_as_it_was_written() -> None:
    text = '{"note":"é", "note": "last", "x": 1E5}'
    document = Provenance.from_json(text)
    assert (document.note, document.to_json(), repr(document)) == ("last", text, repr(text))
    assert document == Provenance(text=text)
    assert document != PredictionSettings(text=text)


def test_provenance_is_written_in_the_order_of_its_keys() -> None:
    assert (
        Provenance({"b": 1, "a": {"d": 1, "c": 2}}).to_json() == '{"a": {"c": 2, "d": 1}, "b": 1}'
    )
    assert ProbingFacts({"b": 1, "a": 2}).to_json() == '{"b": 1, "a": 2}'


def test_a_changed_fact_keeps_its_place() -> None:
    facts = ProbingFacts({"host": {}, "drift": 0.5, "film": 3}).with_facts(host={"a": 1}, more=2)
    assert facts.without("film").to_json() == '{"host": {"a": 1}, "drift": 0.5, "more": 2}'


@pytest.mark.parametrize(
    ("record", "table", "apart"),
    [
        (
            Prediction,
            fields.PREDICTION,
            # Not stored.
            {
                "shared_error",
                "scale",
                "scaled_from",
                "memory",
                "unsupported",
                "spread",
                "class_chips",
                "run_precision",
                "slower",
            },
        ),
        (Measurement, fields.MEASUREMENT, set()),
        (Signature, fields.SIGNATURE, set()),
    ],
)
def test_every_field_of_a_record_is_in_its_table(
    record: type, table: tuple[fields.Field, ...], apart: set[str]
) -> None:
    names = {field.name for field in dataclasses.fields(record)}
    assert {field.name for field in table} == names - apart


def test_the_document_of_predict_has_each_place_once() -> None:
    places = [field.place for field in fields.PREDICTION_DOCUMENT]
    assert places == list(range(1, len(places) + 1))
