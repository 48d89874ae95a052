"""Damaged TOML files: budgets and inventories."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory

from predictor.services.check.budget_file import read_budget
from predictor.services.probing.inventory import read_inventory
from tests.fuzz.documents import is_read, mutate_bytes, mutate_lines

_TABLES = (
    """# of the app
[[check]]
models = ["models/*.onnx", "other.onnx"]
targets = "rpi5/ncnn/fp16/t4"
max_ms = 33
chance = 90
dims = { sequence = 128 }
[[check]]
models = "models"
targets = ["rtx3060"]
max_memory_mb = 200.5
max_growth_percent = 0
shapes.image = [4, 3, 224, 224]
""",
    """[defaults]
user = "pi"
key = "lab_key"
device = "rpi5"
[[host]]
address = "10.0.0.21"
host_key = "SHA256:abc"
[[host]]
name = "kitchen"
address = "kitchen.lab"
port = 2222
threads = 0
python = "/opt/venv/bin/python3"
""",
)
_VALUES = (
    "1" * 401, "1" * 5000, "1e999", "nan", "-inf", "true", '""', "[[[]]]", "{ a = { b = 1 } }",
    '"~nosuchuser/k"', "99999999999", "1979-05-27", '"\\u202e"', "'''", "[" * 2000,
    "0x" + "f" * 900,
)  # fmt: skip


def mutate(rng: random.Random) -> bytes:
    """Return a damaged table."""
    text = rng.choice(_TABLES)
    if rng.random() < 0.5:
        lines = text.split("\n")
        place = rng.randrange(len(lines) - 1)
        key, _, _ = lines[place].partition(" = ")
        lines[place] = f"{key} = {rng.choice(_VALUES)}"
        text = "\n".join(lines)
    if rng.random() < 0.5:
        text = mutate_lines(text, rng)
    data = text.encode("utf-8", "surrogatepass")
    return mutate_bytes(data, rng) if rng.random() < 0.2 else data


def feed(data: bytes) -> bool:
    """Read a table as either: True where it is read, False where it is refused in a sentence."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.toml")
        path.write_bytes(data)
        was_read = [is_read(lambda: read_budget(path)), is_read(lambda: read_inventory(path))]
    return any(was_read)
