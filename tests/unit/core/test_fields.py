"""The fields of records: their values in files that were written before there were any."""

from __future__ import annotations

import pytest

from predictor.core.fields import STORED_PREDICTION, Field, Kind


@pytest.mark.parametrize(
    ("field", "absent"),
    [
        (Field(name="tuned", kind=Kind.FLAG, later=True), False),
        (Field(name="evidence", kind=Kind.REMARK, later=True), ""),
        (Field(name="skipped", kind=Kind.NAMES, later=True), []),
        (Field(name="least_ms", kind=Kind.LATENCY, optional=True, later=True), None),
    ],
)
def test_a_field_has_the_empty_value_of_its_kind_in_earlier_files(
    field: Field, absent: object
) -> None:
    assert field.absent == absent


def test_the_later_fields_of_predictions_were_not_so_before() -> None:
    later = {field.name: field.absent for field in STORED_PREDICTION if field.later}
    assert later["fine_tuned"] is False
    assert later["by_operators"] is False
