"""Figures that the paper prints, to stand beside ours.

Source: C. Tang et al., "CloserToMe: A Unified Framework for Accurate and Transferable Latency
Prediction Across Heterogeneous Devices", AAAI 2026: Tables 1 and 3, Figure 3. RAE in percent.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

OURS: Final = "closertome"

_TABLE1_CELLS: Final = (
    *(("F@1", device) for device in ("1080ti_1", "1080ti_32", "2080ti_32", "titan_rtx_1")),
    ("F@1", "titanxp_1"),
    *(("F@2", device) for device in ("eyeriss", "fpga", "raspi4", "samsung_a50")),
    *(("F@3", device) for device in ("1080ti_1", "1080ti_32", "2080ti_1", "titan_rtx_1")),
    ("F@3", "titan_rtx_32"),
    *(("F@4", device) for device in ("1080ti_1", "essential_ph_1", "pixel2")),
)
# One line of the table a method: F@1, F@2, F@3, F@4.
_TABLE1_LINES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "flops": "12.65 14.72 13.91 20.53 18.37  21.83 35.97 22.46 40.15 "
        "13.65 14.78 12.91 15.03 13.72  19.40 65.92 60.13",
        "lad": "7.85 5.42 9.04 15.38 13.43  18.54 17.67 13.39 30.76 "
        "5.16 5.81 4.90 7.45 6.76  14.70 53.88 52.17",
        "brp": "5.85 6.20 11.18 10.45 14.66  7.64 17.14 13.29 20.39 "
        "8.97 6.27 6.28 7.19 6.12  7.10 16.25 13.50",
        "nn-meter": "6.75 5.88 12.43 10.42 9.72  8.48 19.27 12.39 28.76 "
        "4.92 5.78 5.92 6.27 5.87  6.08 15.82 38.54",
        "flat": "5.45 5.31 6.12 10.25 8.66  7.56 20.29 11.33 39.67 "
        "3.19 5.65 5.78 9.32 6.06  5.56 14.83 24.03",
        OURS: "3.58 4.35 5.14 5.28 3.08  6.07 13.54 9.26 19.41 "
        "5.23 5.15 3.76 3.36 3.15  3.14 13.03 11.18",
    }
)
TABLE1: Final[Mapping[str, Mapping[tuple[str, str], float]]] = MappingProxyType(
    {
        method: dict(zip(_TABLE1_CELLS, map(float, line.split()), strict=True))
        for method, line in _TABLE1_LINES.items()
    }
)

TABLE3_DEVICES: Final = ("1080ti_32", "2080ti_32", "titan_rtx_1", "titanxp_1")
TABLE3: Final[Mapping[str, tuple[float, ...]]] = MappingProxyType(
    {
        "Baseline": (5.16, 10.48, 9.36, 12.23),
        "Variant A": (4.96, 8.90, 8.12, 9.76),
        "Variant B": (4.73, 7.91, 7.11, 6.85),
        "Variant C": (5.12, 9.53, 8.87, 10.11),
        "Ours": (4.35, 5.14, 5.28, 3.08),
    }
)
ABLATION_METHODS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "Baseline": ("ablation-baseline", "ablation-baseline-posterior"),
        "Variant A": ("ablation-a", "ablation-a-posterior"),
        "Variant B": ("ablation-b", "ablation-b-posterior"),
        "Variant C": ("ablation-c", "ablation-c-posterior"),
        "Ours": ("ablation-ours", "ablation-ours-posterior"),
    }
)
"""Rows of Table 3, with the names of the methods without and with the posterior."""

FIGURE3_KNOWN: Final = MappingProxyType({("N@3", OURS): 75.39})
"""Share of predictions within 15 %, in percent: the one bar of Figure 3 that the text states."""
FIGURE3_FLAT_BEHIND: Final = 17.75
"""Distance of FLAT behind on N@3, in percent points."""
FIGURE4_DEVICES: Final = (("F@2", "fpga"), ("F@1", "2080ti_32"), ("F@2", "samsung_a50"))
