from __future__ import annotations

import json
import math

import pytest

from predictor.core.errors import InputError
from predictor.language.rates import Group, Phase
from predictor.language.rates_file import rates_path, read_rates, shipped_rates, write_rates
from predictor.language.runtimes import LANGUAGE_RUNTIMES


def test_every_backend_of_a_runtime_is_shipped():
    named = {b for each in LANGUAGE_RUNTIMES.values() for b in each.backends.values() if b}
    assert named <= set(shipped_rates())


def test_shipped_coefficients_keep_the_laws():
    for name, backend in shipped_rates().items():
        c = backend.coefficients
        assert c.bandwidth >= 1.05, name
        # Of a processor the step is that of one thread.
        assert c.step >= (5e-6 if name.endswith("cpu") else 40e-6), name
        assert 1.05 <= c.cache <= 3, name
        assert max(c.head_bytes, c.head_step) <= 3, name
        assert c.head_flops <= 8, name
        assert sum(value > 0 for value in (c.head_bytes, c.head_flops, c.head_step)) <= 1, name
        assert all(v >= 0 and math.isfinite(v) for v in c.unpack.values()), name
        assert all(c.product[g] + c.scaling[g] > 0 for g in Group), name


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "rates.json"
    write_rates(path, shipped_rates(), "a test")
    again = read_rates(path)
    assert again.keys() == shipped_rates().keys()
    for name, backend in again.items():
        shipped = shipped_rates()[name]
        assert backend.coefficients == shipped.coefficients
        assert backend.used_bytes == shipped.used_bytes
        assert backend.fuses == shipped.fuses
        assert backend.fused_devices == shipped.fused_devices
        for phase in Phase:
            assert backend.deviations[phase].observed == shipped.deviations[phase].observed


def test_attention_is_fused_where_the_published_runs_had_it():
    rates = shipped_rates()
    assert rates["vllm"].fuses_on("a100-sxm4-40gb")
    assert rates["cuda"].fuses_on("dgx-spark-gpu")
    assert not rates["cuda"].fuses_on("rtx3090")
    assert not rates["metal"].fuses_on("apple-m1-pro-gpu")


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d.update(schema="ctm-generation-rates/0"),
        lambda d: d.pop("backends"),
        lambda d: d["backends"]["cuda"].pop("coefficients"),
        lambda d: d["backends"]["cuda"].pop("held"),
        lambda d: d["backends"]["cuda"].pop("fuses"),
        lambda d: d["backends"]["cuda"]["held"].update(rtx4080=-1),
        lambda d: d["backends"]["cuda"]["coefficients"].update(step=-1),
        lambda d: d["backends"]["cuda"]["coefficients"]["unpack"].pop("16"),
        lambda d: d["backends"]["cuda"]["decode"]["observed"].append(["a"]),
        lambda d: d["backends"]["cuda"]["decode"]["scales"].update(noise="much"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, damage):
    document = json.loads(rates_path().read_text(encoding="utf-8"))
    damage(document)
    path = tmp_path / "rates.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=r"is no file of generation rates .*install"):
        read_rates(path)
