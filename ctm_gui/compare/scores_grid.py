"""The table of models with their scores."""

from __future__ import annotations

from ctm_gui.compare.pareto import TradeOff
from ctm_gui.widgets.grid import Grid, number_column, text_column
from predictor.presentation.columns import latency_title
from predictor.presentation.wording import NOTHING

SCORE = "score"


class ScoresGrid(Grid):
    """The models with their editable scores, and their place."""

    def __init__(self, points: TradeOff) -> None:
        self.points, models = points, range(len(points.labels))
        super().__init__(
            len(models),
            [
                text_column("model", "Model", points.labels),
                number_column(
                    SCORE, points.score_name, points.scores, "Type a number; empty for none."
                ),
                number_column("latency", latency_title(points.unit), points.values),
                text_column(
                    "front", "Front", [_place(points, m) for m in range(len(points.labels))]
                ),
            ],
        )


def _place(points: TradeOff, model: int) -> str:
    if not points.is_placed[model]:
        return NOTHING
    return "on the front" if points.front[model] else "dominated"
