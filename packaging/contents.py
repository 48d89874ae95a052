"""What goes into a frozen CloserToMe, the same on every system; the spec files import this."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from predictor.core.child_start import CHILDREN

PACKAGING = Path(__file__).resolve().parent
ROOT = PACKAGING.parent
WORK = ROOT / "build" / "packaging"
NAME = "closertome"
PROGRAMS = ("ctm", "ctm-gui")
ENTRY = PACKAGING / "entries" / "closertome.py"

# Distributions whose version the program tells (About box, notes of a probing run).
TOLD_VERSIONS = ("PySide6_Essentials", "pyqtgraph", "numpy", "onnx", "onnxruntime", "sqlite-utils")
# Distributions that read their own version when they are imported.
OWN_VERSIONS = ("fast-sugiyama",)

EXCLUDED = (
    # Needs published tables and a checkout; the wheel has none of it either.
    "ctm_research",
    # Training only; torch alone is three times the rest.
    "torch",
    "torchvision",
    "timm",
    "onnxscript",
    "onnx_ir",
    "safetensors",
    "matplotlib",
    "sympy",
    # Other windows' toolkits, and what libraries use when they run interactively or under test.
    "tkinter",
    # GNU readline is under the GPL alone.
    "readline",
    "PyQt5",
    "PyQt6",
    "PySide2",
    "IPython",
    "pytest",
    "pip",
    "setuptools",
    "PIL",
    "pyarrow",  # an extra, larger than the program
    "yaml",
    "scipy",
    "pandas",
    "onnx.backend.test",
    "onnx.reference",
    "onnxruntime.tools",
    "onnxruntime.transformers",
    "onnxruntime.quantization",
    "pyqtgraph.examples",
    "pyqtgraph.opengl",
    # Tried by pyqtgraph at its import, and linked by Qt's own library; no view uses them.
    "PySide6.QtTest",
    "PySide6.QtDBus",
)

# Qt's plugins that the window never uses: an on-screen keyboard (all of QML), GTK's dialogs (all of
# GTK), screens without a window system and their devices, networks, pictures but PNG and SVG.
_UNUSED_PLUGINS = (
    "libqtvirtualkeyboardplugin",
    "libqgtk3",
    "libqeglfs",
    "libqlinuxfb",
    "libqvnc",
    "libqminimalegl",
    "libqvkkhrdisplay",
    "plugins/egldeviceintegrations",
    "plugins/networkinformation",
    "plugins/tls",
    "plugins/qmltooling",
    "plugins/sqldrivers",
    "plugins/generic",
    "plugins/designer",
    "plugins/qmllint",
    "plugins/vectorimageformats",
    "plugins/wayland-graphics-integration-server",
    "libqgif",
    "libqicns",
    "libqico",
    "libqjpeg",
    "libqpdf",
    "libqtga",
    "libqtiff",
    "libqwbmp",
    "libqwebp",
    "Qt/translations",
)
# What only these plugins load, and a copy of ONNX Runtime for programs in C.
_UNUSED_LIBRARIES = (
    "libonnxruntime.so",
    "Qt6Lottie",
    "Qt6Network",
    "Qt6WaylandCompositor",
    "Qt6Qml",
    "Qt6Quick",
    "Qt6VirtualKeyboard",
    "Qt6EglFS",
    "Qt6EglFs",
    "libgtk-3",
    "libgdk",
    "libatk",
    "libcairo",
    "libpango",
    "libpixman",
    "libthai",
    "libdatrie",
    "libfribidi",
    "libharfbuzz",
    "libgraphite2",
)
# The system's drivers for graphics need the system's own, which is newer where the system is.
_SYSTEM_LIBRARIES = ("libstdc++.so", "libgcc_s.so")


def version() -> str:
    """Return the product's version from the one place where it stands."""
    tree = ast.parse((ROOT / "predictor" / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__":
            return str(ast.literal_eval(node.value))
    raise LookupError("predictor/__init__.py states no __version__")


def data_files() -> list[tuple[str, str]]:
    """Return files that ship as they are, each with its folder in the bundle.

    The probe runner and the agent go to other machines as source text, so their sources ship too.
    ``bundle.py`` packs the runner and is itself no part of it.
    """
    runner = ROOT / "predictor" / "probing" / "runner"
    sources = [path for path in sorted(runner.glob("*.py")) if path.name != "bundle.py"]
    sources.append(ROOT / "predictor" / "probing" / "ssh" / "board_agent.py")
    files = [(str(path), str(path.parent.relative_to(ROOT))) for path in sources]
    help_pages = (str(ROOT / "docs" / "help"), "predictor/resources/help")
    return [(str(ROOT / "resources"), "predictor/resources"), help_pages, *files]


def command_modules() -> list[str]:
    """Return modules that are imported by name: commands, readers of formats, children."""
    rooms = (ROOT / "predictor" / "cli", ROOT / "predictor" / "formats")
    files = sorted(path for room in rooms for path in room.rglob("*.py"))
    places = [path.relative_to(ROOT).with_suffix("").parts for path in files]
    commands = [".".join(parts).removesuffix(".__init__") for parts in places]
    return [*commands, *CHILDREN.values()]


def analysis_arguments() -> dict[str, object]:
    """Return the arguments of PyInstaller's ``Analysis`` for the one entry of both programs."""
    from PyInstaller.utils.hooks import copy_metadata  # noqa: PLC0415  # only where it is built

    metadata = [entry for name in (*TOLD_VERSIONS, *OWN_VERSIONS) for entry in copy_metadata(name)]
    return {
        "scripts": [str(ENTRY)],
        "pathex": [str(ROOT)],
        "datas": [*data_files(), *metadata],
        "hiddenimports": command_modules(),
        "excludes": list(EXCLUDED),
        "runtime_hooks": [str(PACKAGING / "hooks" / "library_path.py")]
        if sys.platform.startswith("linux")
        else [],
    }


def is_used(destination: str) -> bool:
    """Whether a file of the analysis is wanted, by its place in the bundle."""
    place = destination.replace("\\", "/")
    unwanted = (*_UNUSED_PLUGINS, *_UNUSED_LIBRARIES, *_SYSTEM_LIBRARIES)
    return not any(part in place for part in unwanted)
