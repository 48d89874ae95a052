#!/bin/sh
# Holds the models of a checkout against CTM_BUDGET, and against the numbers of the commit CTM_BASE.
# Environment: CTM_BUDGET, CTM_BASE (may be empty), CTM_JUNIT; files that get the table in Markdown:
# CTM_COMMENT, and GITHUB_STEP_SUMMARY, which is appended to. Both may be unset.
set -eu

budget=${CTM_BUDGET:-ctm-budget.toml}
scratch=$(mktemp -d)
trap 'git worktree remove --force "$scratch/base" 2>/dev/null || true; rm -rf "$scratch"' EXIT

set -- check "$budget" --junit "${CTM_JUNIT:-ctm-check.xml}"
set -- "$@" --summary "$scratch/summary.md"
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
code=0
ctm "$@" || code=$?
if [ -s "$scratch/summary.md" ]; then
    if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
        cat "$scratch/summary.md" >>"$GITHUB_STEP_SUMMARY"
    fi
    if [ -n "${CTM_COMMENT:-}" ]; then
        cp "$scratch/summary.md" "$CTM_COMMENT"
    fi
fi
exit $code
