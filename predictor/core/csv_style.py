"""Two styles of CSV: commas with decimal points, and semicolons with decimal commas."""

from __future__ import annotations

from enum import StrEnum


class CsvStyle(StrEnum):
    """Style of a table, by its decimal mark."""

    POINT = "point"
    COMMA = "comma"

    @property
    def separator(self) -> str:
        """Separator of the cells of a row."""
        return "," if self is CsvStyle.POINT else ";"

    def number(self, text: str) -> str:
        """Return a number, written with a decimal point, in this style."""
        return text if self is CsvStyle.POINT else text.replace(".", ",")
