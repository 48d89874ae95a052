"""Predictions of devices as users write them, beside those of the full devices."""

from __future__ import annotations

from benchmarks.inferred_devices import GOAL, compare, networks, share_within, stripped
from benchmarks.source_names import STYLES
from predictor.devices.architectures import architecture_id
from predictor.services.devices.catalogue import load_catalogue

SAMPLE = (
    *("core-i7-8700t", "core-i9-13900k", "core-ultra-7-258v", "xeon-gold-6248", "xeon-w-2135"),
    *("xeon-platinum-8480-plus", "epyc-7742", "epyc-9654", "ryzen-7-5700g", "ryzen-5-5500u"),
    *("graviton3", "ampere-altra-q80-30", "apple-m1-cpu", "intel-n100", "celeron-n5105"),
    *("rpi4", "rpi5", "rk3588-cpu", "snapdragon-888", "snapdragon-8-gen-3", "kirin-980"),
    *("rtx3070-ti", "rtx4090", "rtx4060-laptop", "a100-pcie-40gb", "h100-sxm", "mi250x"),
    *("rx7900-xtx", "arc-a770", "iris-xe-i7-1165g7", "apple-m2-gpu", "jetson-orin-nano-gpu"),
    *("snapdragon-855-gpu", "kirin-980-mali", "hailo-8", "rk3588-npu", "stm32f746"),
)


def test_predictions_of_stripped_devices_are_those_of_the_full_ones() -> None:
    by_id = load_catalogue().by_id
    devices = [by_id[name] for name in SAMPLE]
    differences = compare(devices, networks())
    assert len(differences) >= len(STYLES) * 0.9 * len(devices)
    assert all(difference.is_found for difference in differences)
    assert share_within(differences) >= GOAL
    # Without the names most are far off: the test would fail without the table.
    nameless = [d for d in differences if d.nameless is not None and d.nameless <= 1.05]
    assert len(nameless) <= 0.4 * len(differences)


def test_a_stripped_device_states_no_design() -> None:
    for device in load_catalogue().devices:
        plain = stripped(device, str.strip)
        assert architecture_id(plain) == plain.chip == ""
        assert plain.instruction_sets == ()
        assert not any(cluster.fp32_au_per_core for cluster in plain.clusters)
