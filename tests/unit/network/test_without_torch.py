"""What prepares the network's inputs, and what runs the shipped network, needs no torch."""

from __future__ import annotations

import subprocess
import sys

PREPARATION = ("features", "scaling")
RUNTIME = ("reference_rates", "target_facts", "term_runtime", "work_terms")


def test_the_preparation_of_inputs_imports_no_torch() -> None:
    imports = ", ".join(f"predictor.network.{name}" for name in (*PREPARATION, *RUNTIME))
    program = f"import sys, {imports}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
