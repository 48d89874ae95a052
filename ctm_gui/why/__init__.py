"""Why a model takes its time on a target: one page for one pair."""
