"""A model survives the way through JSON."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.tensors import DynamicDimension, TensorInfo
from predictor.graph.model import Model
from predictor.graph.operator_graph import ARRAYS
from tests.support.graphs import Op, make_graph

GRAPH = make_graph([Op(macs=8, read=4, weights=2, written=4), Op(read=4, written=4, fused_into=0)])

text = st.text(st.characters(), max_size=20)  # lone surrogates too: paths need not be UTF-8
tensors = st.builds(
    TensorInfo,
    text,
    text,
    st.lists(st.integers(0, 2**62) | text, max_size=3).map(tuple),
    st.lists(st.integers(0, 2**62), max_size=3).map(tuple),
)
dimensions = st.builds(DynamicDimension, text, st.integers(0), st.integers(0), text)
models = st.builds(
    Model,
    path=text,
    size_bytes=st.integers(0, 2**63),
    modified_ns=st.integers(0, 2**63),
    ir_version=st.integers(0, 20),
    opsets=st.dictionaries(text, st.integers(1, 30), max_size=3),
    producer=text,
    inputs=st.lists(tensors, max_size=3).map(tuple),
    outputs=st.lists(tensors, max_size=3).map(tuple),
    dynamic=st.lists(dimensions, max_size=3).map(tuple),
    notes=st.lists(text, max_size=2).map(tuple),
    graph=st.just(GRAPH),
)


@settings(max_examples=60, deadline=None)
@given(models)
def test_a_model_survives(model):
    line = json.dumps(model.to_payload())
    assert "\n" not in line
    assert line.isascii()
    back = Model.from_payload(json.loads(line))
    for name in (f.name for f in dataclasses.fields(Model)):
        if name != "graph":
            assert getattr(back, name) == getattr(model, name)


def test_the_operator_graph_survives():
    model = Model(
        path="p",
        size_bytes=1,
        modified_ns=2,
        ir_version=8,
        opsets={"": 17},
        producer="",
        inputs=(),
        outputs=(),
        dynamic=(),
        notes=(),
        graph=GRAPH,
    )
    back = Model.from_payload(json.loads(json.dumps(model.to_payload()))).graph
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(back, name), getattr(GRAPH, name))
    assert (back.names, back.fingerprint) == (GRAPH.names, GRAPH.fingerprint)


def test_a_payload_of_another_version_is_an_error():
    with pytest.raises(KeyError):
        Model.from_payload({"path": "p"})
