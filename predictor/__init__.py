"""CloserToMe: from a model file to latencies on hardware that is not on the desk.

``import predictor as ctm`` is the Python API; see docs/python.md. A name of it is loaded where it
is first used, so that ``ctm`` and every child process start without it.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # that of typing, which a start would wait for
if TYPE_CHECKING:
    from predictor.api.choices import choose
    from predictor.api.comparison import compare
    from predictor.api.explanation import explain
    from predictor.api.generation import generate
    from predictor.api.loads import carry
    from predictor.api.models import load
    from predictor.api.predictions import measured, predict
    from predictor.api.probing import probe
    from predictor.api.serving import serve
    from predictor.api.targets import devices

__version__ = "0.9.0"
__all__ = [
    "carry",
    "choose",
    "compare",
    "devices",
    "explain",
    "generate",
    "load",
    "measured",
    "predict",
    "probe",
    "serve",
]
# ``devices`` is not among them: the room of that name is callable.
_MODULES = {
    "carry": "loads",
    "choose": "choices",
    "compare": "comparison",
    "explain": "explanation",
    "generate": "generation",
    "load": "models",
    "measured": "predictions",
    "predict": "predictions",
    "probe": "probing",
    "serve": "serving",
}
_READING = frozenset({"carry", "choose", "compare", "explain", "load", "predict"})


def __getattr__(name: str) -> object:
    """Return a function of the Python API; the room ``devices`` is imported like one."""
    if name == "devices":
        return import_module("predictor.devices")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _READING:
        # The process that reads models starts up while this one imports the rest.
        import_module("predictor.api.ahead").start()
    function = getattr(import_module(f"predictor.api.{_MODULES[name]}"), name)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    """Return the names of the package and of the API, for completion."""
    return sorted({*globals(), *__all__})
