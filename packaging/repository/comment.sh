#!/bin/sh
# Writes the table of check.sh as a comment of a pull request, in place of the one before.
# Environment: CTM_COMMENT, CTM_PULL_REQUEST, and GH_TOKEN and GH_REPO, which gh reads.
set -eu

if [ ! -s "$CTM_COMMENT" ]; then
    echo "There is no table: the check did not run." >&2
    exit 0
fi
# A fork's token may not write: the check's own result must not depend on that.
gh pr comment "$CTM_PULL_REQUEST" --edit-last --create-if-none --body-file "$CTM_COMMENT" ||
    echo "The comment could not be written; the table is in the job's summary." >&2
