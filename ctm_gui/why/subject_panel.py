"""The panel at the right of the graph: facts of what is selected, and the same on other targets."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFormLayout, QSizePolicy, QWidget

from ctm_gui.why.subject import Subject
from ctm_gui.widgets.basic import hbox, label, scrolled, vbox
from ctm_gui.widgets.tooltips import as_tooltip

_FACTS = 12  # rows that a subject has at most
_WIDTH_PX = 290


class SubjectPanel(QWidget):
    """Facts of the operators that are selected.

    Args:
        overview: shown under the facts of the whole model: time by type.
    """

    def __init__(self, overview: QWidget) -> None:
        super().__init__()
        self._overview = overview
        self.title = label(role="heading", name="Selected", selectable=True)
        self.kind = label(role="muted", name="Type", selectable=True)
        self._rows = [(label(role="muted"), label(selectable=True)) for _ in range(_FACTS)]
        self.targets_title = label("On every ticked target", role="heading")
        self.targets = _TargetTimes()
        self.help_title = label("What would help", role="heading")
        self.help = label(name="What would help", selectable=True)
        # From the outside in, see WhyView.
        content, facts = QWidget(), QWidget()
        vbox(scrolled(content, "Selected operators"), of=self, margins=0)
        facts.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        form = QFormLayout(facts)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(10)
        form.setVerticalSpacing(2)
        for name, value in self._rows:
            form.addRow(name, value)
        vbox(
            self.title,
            self.kind,
            facts,
            overview,
            self.help_title,
            self.help,
            self.targets_title,
            self.targets,
            None,
            of=content,
            margins=(8, 0, 4, 4),
            spacing=6,
        )
        self.setMinimumWidth(200)

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH_PX, 300)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Names and values that are shown."""
        return [(n.text(), v.text()) for n, v in self._rows if not v.isHidden()]

    def show_subject(self, subject: Subject | None, *, is_model: bool) -> None:
        """Show other facts.

        Args:
            subject: the facts; None for none.
            is_model: whether they are of the whole model.
        """
        self.title.setText("" if subject is None else subject.title)
        # Breaks go before a type, not between it and its number.
        kind = "" if subject is None else subject.kind
        self.kind.setText(kind.replace(" × ", "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}"))
        facts = () if subject is None else subject.facts
        for place, (name, value) in enumerate(self._rows):
            is_used = place < len(facts)
            texts = facts[place] if is_used else ("", "")
            for part, text in zip((name, value), texts, strict=True):
                part.setText(text)
                part.setVisible(is_used)
            value.setAccessibleName(texts[0])
        self._overview.setVisible(subject is not None and is_model)
        self.help.setText("" if subject is None else "\n".join(subject.help))
        self.help_title.setVisible(bool(self.help.text()))
        self.targets.show_subject(subject)
        self.targets_title.setVisible(subject is not None and bool(subject.targets))


class _TargetTimes(QWidget):
    """Names of targets, elided in their middle, and times beside them."""

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []
        self._labels = label(name="Targets", wraps=False)
        self._times = label(name="Times", wraps=False, selectable=True)
        self._times.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._labels.setMinimumWidth(40)
        self.setLayout(hbox((self._labels, 1), self._times, margins=0, spacing=8))

    def show_subject(self, subject: Subject | None) -> None:
        """Show the times of a subject."""
        rows = () if subject is None else subject.targets
        place = None if subject is None else subject.place
        self._names = [
            f"▸ {name}" if row == place else name for row, (name, _, _) in enumerate(rows)
        ]
        self._times.setText("\n".join(time for _, time, _ in rows))
        self._labels.setToolTip(as_tooltip("", rows) if rows else "")
        self._times.setToolTip(self._labels.toolTip())
        self.setAccessibleDescription("; ".join(f"{name} {time}" for name, time, _ in rows))
        self.setVisible(bool(rows))
        self._elide()

    def text(self) -> str:
        """Names and times, a line a target."""
        times = self._times.text().split("\n")
        return "\n".join(f"{n} {t}" for n, t in zip(self._names, times, strict=False))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        metrics, middle = self.fontMetrics(), Qt.TextElideMode.ElideMiddle
        room = max(self.width() - self._times.sizeHint().width() - 12, 40)
        text = "\n".join(metrics.elidedText(name, middle, room) for name in self._names)
        if text != self._labels.text():
            self._labels.setText(text)
