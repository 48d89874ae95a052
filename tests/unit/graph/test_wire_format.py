"""The protobuf walk, field by field, on bytes worked out by hand."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.graph.wire_format import (
    LARGE_BYTES,
    LimitError,
    Source,
    StoredData,
    TruncatedError,
    Walk,
    WalkLimits,
    WireError,
    length_field,
    scan,
)
from tests.support.model_files import field, varint


def source_of(data):
    return Source(io.BytesIO(data), len(data))


def scanned(data):
    return [tuple(found) for found in scan(source_of(data), 0, len(data))]


def walked(data, nodes=100, copied_bytes=10**7):
    """The stripped bytes, and each large tensor's header and data."""
    tensors = []

    def on_large_tensor(header, stored):
        tensors.append((header, stored))
        return header

    stripped = Walk(source_of(data), WalkLimits(nodes, copied_bytes), on_large_tensor).stripped()
    return stripped, tensors


def test_fields_of_each_wire_type():
    data = b"\x08\x96\x01" + b"\x11" + bytes(8) + b"\x1a\x02ab" + b"\x25" + bytes(4)
    assert scanned(data) == [
        (1, 0, 0, 1, 3),
        (2, 1, 3, 4, 12),
        (3, 2, 12, 14, 16),
        (4, 5, 16, 17, 21),
    ]


def test_a_field_number_over_15_takes_two_bytes():
    assert scanned(varint(25 << 3 | 2) + b"\x01x") == [(25, 2, 0, 3, 4)]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 2**29 - 1), st.binary(max_size=300)), max_size=200))
def test_fields_are_found_across_windows(fields):
    data = b"".join(field(number, body) for number, body in fields) * 4
    found = [(number, data[body:stop]) for number, _, _, body, stop in scanned(data)]
    assert found == fields * 4


@given(st.integers(1, 2**29 - 1), st.binary(max_size=200))
def test_a_written_field_is_read_back(number, body):
    assert length_field(number, body) == field(number, body)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"\x00\x01", "byte 0 starts no field"),
        (b"\x08\x01\x0b", "byte 2 starts no field"),
        (b"\x08" + b"\xff" * 11, "longer than ten bytes"),
    ],
)
def test_bytes_that_are_no_fields(data, error):
    with pytest.raises(WireError, match=error):
        scanned(data)


@pytest.mark.parametrize(
    "data", [b"\x08", b"\x0a", b"\x0a\x05abc", b"\x11\x00", b"\x88", b"\x0a\x80"]
)
def test_a_field_past_the_end_of_the_file_is_truncation(data):
    with pytest.raises(TruncatedError, match=f"it ends at byte {len(data)}"):
        scanned(data)


def test_a_field_past_the_end_of_its_message_is_damage():
    data = b"\x0a\x05" + bytes(20)
    with pytest.raises(WireError, match="goes past the end of its message at byte 4") as caught:
        list(scan(source_of(data), 0, 4))
    assert not isinstance(caught.value, TruncatedError)


def test_a_file_that_shrinks_while_it_is_read():
    source = Source(io.BytesIO(b"\x0a\x05ab"), 100)
    with pytest.raises(TruncatedError, match="it ends at byte 4 while it is read"):
        source.read(0, 100)


LARGE = b"d" * (LARGE_BYTES + 1)


def model(graph):
    return b"\x08\x08" + field(7, graph)


def test_raw_data_of_a_large_tensor_is_cut_out_and_counted():
    tensor = b"\x08\x05\x10\x01" + field(8, b"w") + field(9, LARGE)
    stripped, tensors = walked(model(field(5, tensor) + field(2, b"g")))
    header = b"\x08\x05\x10\x01" + field(8, b"w")
    assert stripped == model(field(5, header) + field(2, b"g"))
    assert tensors == [(header, StoredData(len(LARGE), 0, 0))]


def test_a_tensor_at_the_limit_is_kept():
    data = model(field(5, field(8, b"w") + field(9, LARGE[:-1])))
    assert walked(data) == (data, [])


@pytest.mark.parametrize(
    ("number", "body", "least", "most"),
    [
        (4, LARGE[:-1] + bytes(4), 16385, 16385),
        (10, LARGE[:-1] + bytes(8), 8193, 8193),
        (7, LARGE[:-1] + bytes(4), 6554, 65540),  # varints of 1 to 10 bytes
        (6, LARGE, 1, 1),
    ],
)
def test_elements_of_typed_data_are_counted(number, body, least, most):
    _, tensors = walked(model(field(5, field(number, body))))
    assert tensors == [(b"", StoredData(None, least, most))]


def test_elements_that_are_not_packed_are_counted():
    _, tensors = walked(model(field(5, b"\x25\x00\x00\x80\x3f" * 20_000)))
    assert tensors == [(b"", StoredData(None, 20_000, 20_000))]


def test_remarks_of_a_large_tensor_are_left_out():
    _, tensors = walked(model(field(5, field(12, b"doc") + field(8, b"w") + field(9, LARGE))))
    assert tensors[0][0] == field(8, b"w")


def nested(*numbers):
    """Make a function that wraps bytes in messages of these field numbers, the outermost first."""

    def wrap(body):
        for number in reversed(numbers):
            body = field(number, body)
        return body

    return wrap


@pytest.mark.parametrize(
    "wrap",
    [
        nested(7, 5),  # initializer
        nested(7, 1, 5, 5),  # attribute of a node
        nested(7, 1, 5, 10),  # one of an attribute's tensors
        nested(7, 1, 5, 6, 5),  # initializer of a body
        nested(7, 1, 5, 11, 1, 5, 5),  # attribute in one of several bodies
        nested(7, 1, 5, 22, 1),  # values of a sparse attribute
        nested(7, 15, 2),  # indices of a sparse initializer
        nested(25, 7, 5, 5),  # attribute in a function
        nested(25, 11, 5),  # default attribute of a function
    ],
)
def test_tensors_are_found_wherever_they_stand(wrap):
    name = field(8, b"w")
    stripped, tensors = walked(wrap(name + field(9, LARGE)))
    assert stripped == wrap(name)
    assert tensors == [(name, StoredData(len(LARGE), 0, 0))]


@pytest.mark.parametrize(
    "wrap", [nested(6), nested(14), nested(20), nested(7, 10), nested(7, 1, 6), nested(7, 1, 5, 4)]
)
def test_large_remarks_and_blobs_are_left_out(wrap):
    stripped, _ = walked(wrap(LARGE))
    assert len(stripped) < 20
    assert walked(wrap(b"short"))[0] == wrap(b"short")


def test_large_names_are_kept():
    data = model(field(2, LARGE))
    assert walked(data)[0] == data


def test_nodes_are_counted_at_every_depth():
    body = field(1, b"") * 3 + field(10, LARGE)
    data = model(field(1, field(5, field(6, body))) + field(1, b"") * 2)
    walked(data, nodes=6)
    with pytest.raises(LimitError, match="more than 5 nodes"):
        walked(data, nodes=5)


def test_bytes_that_are_kept_are_limited():
    limit = 2**20
    data = model(field(2, b"n" * limit))
    with pytest.raises(LimitError, match="more than 1 MiB besides its large tensors"):
        walked(data, copied_bytes=limit)
    many = model(field(5, field(8, b"n" * 1000) + field(9, LARGE)) * 20)
    with pytest.raises(LimitError):
        walked(many, copied_bytes=20_000)
    walked(many, copied_bytes=21_000)


def test_depth_is_limited():
    graph = field(10, LARGE)
    for _ in range(40):
        graph = field(1, field(5, field(6, graph)))
    with pytest.raises(LimitError, match="nested deeper than 100 levels"):
        walked(model(graph))
