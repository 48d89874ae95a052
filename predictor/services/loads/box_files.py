"""Which files are of boxes: seen before any is read, by what shows the first window."""

from __future__ import annotations

import os

from predictor.core.errors import InputError
from predictor.devices.schema import BOX_SCHEMAS
from predictor.devices.strict_json import read_object


def is_box_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file says that it is of a box, right or wrong, of whatever version."""
    try:
        schema = read_object(path).get("schema")
    except InputError:
        return False  # its reader says what is wrong with it
    return isinstance(schema, str) and schema.startswith(BOX_SCHEMAS)
