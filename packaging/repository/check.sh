#!/bin/sh
# Holds the models of a checkout against CTM_BUDGET, and against the numbers of the commit CTM_BASE.
# Environment: CTM_BUDGET, CTM_BASE (may be empty), CTM_JUNIT, GITHUB_STEP_SUMMARY (may be unset).
set -eu

budget=${CTM_BUDGET:-ctm-budget.toml}
scratch=$(mktemp -d)
trap 'git worktree remove --force "$scratch/base" 2>/dev/null || true; rm -rf "$scratch"' EXIT

set -- check "$budget" --junit "${CTM_JUNIT:-ctm-check.xml}"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    set -- "$@" --summary "$GITHUB_STEP_SUMMARY"
fi
if [ -n "${CTM_BASE:-}" ]; then
    git worktree add --quiet --detach "$scratch/base" "$CTM_BASE" || exit 3
    # The limits are those of today, the models those of the base: a new table has a base too.
    # What is over its limits there, or is not there at all, is no failure of today.
    mkdir -p "$(dirname "$scratch/base/$budget")"
    cp "$budget" "$scratch/base/$budget"
    ctm --quiet check "$scratch/base/$budget" --save "$scratch/base.json" >/dev/null 2>&1 || true
    if [ -s "$scratch/base.json" ]; then
        set -- "$@" --base "$scratch/base.json"
    fi
fi
ctm "$@"
