"""The real window on real services, small real ONNX files, folders of its own for each test."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPalette
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from ctm_gui.application import Application
from ctm_gui.probing.presenter import ProbingPresenter
from ctm_gui.probing.wizard import ProbingWizard
from ctm_gui.settings import Settings
from ctm_gui.widgets.theme import LIGHT
from ctm_gui.widgets.theme_change import apply_theme
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.session import remembered_options
from ctm_gui.window.workspace import Workspace
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.history.history import open_history
from predictor.services.models.ingestion import IngestionWorker

SETTLE_MS = 30_000

MakeModel = Callable[..., Path]


@pytest.fixture(autouse=True, scope="module")
def garbage_on_this_thread() -> Iterator[None]:
    """As in the program: workers never delete a widget."""
    gc.disable()
    yield
    # All that is left of the windows is frozen before a worker, too, may run the collector.
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def no_widgets_left() -> Iterator[None]:
    """Delete what is left of a test's windows, such as the menus of plots, which have no parent.

    Whatever is set for the application, such as its style sheet, is worked out for all widgets.
    """
    yield
    left = (QMenu, MainWindow)
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, left) and widget.parent() is None:
            widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture(autouse=True)
def process_as_before(
    qapp: QApplication, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Put back what the program sets for its process.

    With a style sheet, which is worked out for each widget and place, a window takes twice as long.
    """
    interval = sys.getswitchinterval()
    is_timed = request.node.get_closest_marker("timing") is not None
    if not is_timed:
        # What a program freezes could be let go only with what this process has frozen before: the
        # next search for garbage would go through a million objects, in a second and a half.
        monkeypatch.setattr(gc, "freeze", lambda: None)
    yield
    if qapp.styleSheet():
        qapp.setStyleSheet("")
        qapp.setPalette(QPalette())
    sys.setswitchinterval(interval)
    if is_timed:
        gc.unfreeze()
    # Qt remembers a button across windows: the next test's would take the pointer for a drag.
    assert QApplication.mouseButtons() == Qt.MouseButton.NoButton


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTM_STORE", str(tmp_path / "store" / "store.db"))
    monkeypatch.setenv("CTM_SETTINGS", str(tmp_path / "window.ini"))


@pytest.fixture(autouse=True)
def measured_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine counts as measured: ten seconds that begin by themselves disturb other tests."""
    monkeypatch.setattr("predictor.services.signatures.quick.has_signature", lambda *_: True)


@pytest.fixture(scope="session")
def ingestion() -> Iterator[IngestionWorker]:
    with IngestionWorker() as worker:
        yield worker


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return load_catalogue()


@cache  # that of 10 000 layers takes half a second
def chain_of_products(layers: int, batch: int | str, *, pinned: bool) -> bytes:
    """Return the file of a chain of matrix products, its batch pinned where that is asked for."""
    weight = numpy_helper.from_array(np.ones((16, 16), np.float32), "w")
    nodes = [
        helper.make_node("MatMul", [f"t{i}", "w"], [f"t{i + 1}"], name=f"product_{i}")
        for i in range(layers)
    ]
    initializers = [weight]
    if pinned:
        initializers.append(numpy_helper.from_array(np.array([0], np.int64), "axes"))
        nodes.append(
            helper.make_node("Squeeze", [f"t{layers}", "axes"], ["y"], name="pinned_squeeze")
        )
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("t0", TensorProto.FLOAT, [batch, 16])],
        [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)],
        initializers,
    )
    opset = helper.make_opsetid("", 17)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=9)
    return bytes(model.SerializeToString())


@pytest.fixture
def make_model(tmp_path: Path) -> MakeModel:
    """Write a chain of matrix products: ``make_model(name, layers=, batch=, pinned=)``."""

    def make(
        name: str = "chain.onnx", layers: int = 2, batch: int | str = 1, *, pinned: bool = False
    ) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(chain_of_products(layers, batch, pinned=pinned))
        return path

    return make


@pytest.fixture
def workspace(
    qtbot: QtBot, catalogue: Catalogue, ingestion: IngestionWorker, tmp_path: Path
) -> Iterator[Workspace]:
    workspace = Workspace(
        catalogue,
        [device.id for device in catalogue.devices[:3]],
        ingestion,
        partial(open_history, tmp_path / "store" / "store.db"),
    )
    workspace.start()
    yield workspace
    workspace.close()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store" / "store.db"


@pytest.fixture
def presenter(workspace: Workspace, store: Path) -> Iterator[ProbingPresenter]:
    presenter = ProbingPresenter(store, workspace)
    yield presenter
    presenter.close()


@pytest.fixture
def options() -> ViewOptions:
    """Unit, budget and theme of a view that is in no window."""
    return ViewOptions()


@pytest.fixture
def make_wizard(
    qtbot: QtBot, presenter: ProbingPresenter, options: ViewOptions
) -> Iterator[Callable[[], ProbingWizard]]:
    """Open a wizard; it is deleted here and not whenever garbage is collected, on any thread."""
    made: list[ProbingWizard] = []

    def make() -> ProbingWizard:
        wizard = ProbingWizard(options, presenter)
        made.append(wizard)
        wizard.show()
        qtbot.waitUntil(lambda: wizard.is_built)
        return wizard

    yield make
    for wizard in made:
        wizard.close()
        wizard.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def settle(qtbot: QtBot) -> Callable[[Workspace], None]:
    """Wait until the comparison is true to everything that was asked for."""

    def wait(workspace: Workspace) -> None:
        qtbot.waitUntil(lambda: workspace.settled, timeout=SETTLE_MS)

    return wait


@pytest.fixture
def themed(qapp: QApplication) -> None:
    """Draw windows as the program does; for tests of sizes and colours."""
    apply_theme(qapp, LIGHT)


@pytest.fixture
def window(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> MainWindow:
    """The window with all its views, without a theme unless ``themed`` comes before it."""
    settings = Settings(tmp_path / "window.ini")
    window = MainWindow(workspace, settings, remembered_options(settings))
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    for _ in window.build_views():  # as the application does once the first frame is there
        pass
    return window


@pytest.fixture
def make_application(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[..., Application]]:
    """Make the program with its files in a folder."""
    made: list[Application] = []

    def make(folder: Path = tmp_path) -> Application:
        folder.mkdir(exist_ok=True)
        application = Application(folder / "store.db", folder / "window.ini")
        qtbot.addWidget(application.window)
        made.append(application)
        return application

    yield make
    for application in made:
        application.close()


@pytest.fixture
def drop_files() -> Callable[[MainWindow, list[Path]], None]:
    """Drop files on the window as the system does: a drag comes first."""

    def drop(window: MainWindow, paths: list[Path]) -> None:
        data = QMimeData()  # Qt keeps no reference of its own
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        place = QPoint(50, 50)
        how = (
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(window, QDragEnterEvent(place, *how))
        QApplication.sendEvent(window, QDropEvent(place.toPointF(), *how))

    return drop
