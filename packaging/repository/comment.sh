#!/bin/sh
# Writes the table of check.sh as a comment of a pull request, in place of the one before.
# Environment: CTM_COMMENT, CTM_PULL_REQUEST, and GH_TOKEN and GH_REPO, which gh reads.
set -eu

if [ ! -s "$CTM_COMMENT" ]; then
    echo "There is no table: the check did not run." >&2
    exit 0
fi
# The last comment of the token's user may be another workflow's: ours starts with a mark.
mark='<!-- ctm-check -->'
body=$(mktemp)
trap 'rm -f "$body"' EXIT
{ echo "$mark" && cat "$CTM_COMMENT"; } >"$body"
comments=repos/$GH_REPO/issues/$CTM_PULL_REQUEST/comments
ours=".[] | select(.body | startswith(\"$mark\")) | .url"
# A fork's token may not write: the check's own result must not depend on that.
if before=$(gh api "$comments" --paginate --jq "$ours") && [ -n "$before" ]; then
    set -- --method PATCH "$(echo "$before" | head -n 1)"
else
    set -- --method POST "$comments"
fi
gh api "$@" --silent --field "body=@$body" ||
    echo "The comment could not be written; the table is in the job's summary." >&2
