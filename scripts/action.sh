#!/usr/bin/env bash
# What the GitHub action does, and what it does anywhere else: install driftwatch, scan, annotate, write the summary and
# a SARIF file. It is run in the checkout that is to be scanned, and ends as the scan ends.
#
#   DRIFTWATCH_SOURCE     what pip installs it from; default: the checkout that this script is in. What it needs comes from
#                         action.lock beside this script: exact releases, whose files have to have the hashes there
#   DRIFTWATCH_PYTHON     the Python it is installed for; default: python3
#   DRIFTWATCH_PATH       what to scan, one path to a line; default: the working folder
#   DRIFTWATCH_AGAINST    the releases that have to work, one specifier to a line; default: what the project declares
#   DRIFTWATCH_DIFF_BASE  tell only what is new against this revision; default: tell everything
#   DRIFTWATCH_EVENT_BASE the base as the pull request's event names it; what is asked for, unless somebody chose another
#   DRIFTWATCH_FAIL_ON    error, warning or never; default: as configured
#   RUNNER_TEMP           where the environment and the files go; default: a new folder
#   GITHUB_STEP_SUMMARY   the Markdown report is added to this file, if it is set
#   GITHUB_OUTPUT         `sarif=FILE` is added to this file, if it is set
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
temp=${RUNNER_TEMP:-$(mktemp -d)}
environment=$temp/driftwatch
summary=$temp/driftwatch.md
sarif=$temp/driftwatch.sarif
rm -f "$summary" "$sarif"

# -- install: an environment of its own, used again by a later step of the same job ------------------------------------
command=$environment/bin/driftwatch
if [ ! -x "$command" ]; then
    pip=("$environment/bin/python" -m pip install --quiet --disable-pip-version-check)
    # No package that is downloaded runs code of its own here, and none is other than it was when it was locked.
    if ! { "${DRIFTWATCH_PYTHON:-python3}" -m venv "$environment" &&
        "${pip[@]}" --require-hashes --only-binary :all: -r "$here/scripts/action.lock" &&
        "${pip[@]}" --no-deps --no-build-isolation "${DRIFTWATCH_SOURCE:-$here}"; }; then
        echo "::error::driftwatch could not be installed; the lines above say why"
        exit 2
    fi
fi

# -- what was asked for ------------------------------------------------------------------------------------------------
arguments=(scan)
paths=()
while IFS= read -r line; do
    if [ -n "$line" ]; then paths+=("$line"); fi
done <<<"${DRIFTWATCH_PATH:-.}"
if [ ${#paths[@]} -eq 0 ]; then
    paths=(.)
fi
while IFS= read -r line; do
    if [ -n "$line" ]; then arguments+=(--against "$line"); fi
done <<<"${DRIFTWATCH_AGAINST:-}"
if [ -n "${DRIFTWATCH_FAIL_ON:-}" ]; then
    arguments+=(--fail-on "$DRIFTWATCH_FAIL_ON")
fi
base=${DRIFTWATCH_DIFF_BASE:-}
if [ -n "$base" ]; then
    # What GitHub checks out for a pull request is a merge into its branch as that is now. The base that the event names
    # may be older, and what has come to the branch since then is not the change's doing: the merge's first parent is the
    # base. It is read from the commit, since a checkout of one commit knows no parents.
    merge=
    if [[ ${GITHUB_REF:-} == refs/pull/*/merge ]]; then
        parents=$(git cat-file commit HEAD | sed -n -e '/^$/q' -e 's/^parent //p')
        if [ "$(wc -l <<<"$parents")" -eq 2 ]; then merge=${parents%%$'\n'*}; fi
    fi
    if [ -n "$merge" ] && [ "$base" = "${DRIFTWATCH_EVENT_BASE:-}" ]; then base=$merge; fi
    has() { git rev-parse --verify --quiet --end-of-options "$1^{commit}" >/dev/null; }
    # A checkout of one commit does not have the base; it is one commit more. Of a branch only the remote's is there.
    depth=()
    if [ "$(git rev-parse --is-shallow-repository)" = true ]; then depth=(--depth=1); fi
    if ! has "$base"; then
        if has "origin/$base"; then
            base=origin/$base
        elif git fetch --quiet --no-tags "${depth[@]}" origin -- "${base#origin/}"; then
            base=$(git rev-parse FETCH_HEAD)
        elif [ -n "$merge" ] && has "$merge"; then
            base=$merge
        else
            echo "::error::the base of this change cannot be fetched; give actions/checkout 'fetch-depth: 0'"
        fi
    fi
fi

# -- scan --------------------------------------------------------------------------------------------------------------
told=(--format github --format "markdown=$summary")
status=0
if [ -z "$base" ]; then
    "$command" "${arguments[@]}" "${told[@]}" --format "sarif=$sarif" -- "${paths[@]}" || status=$?
else
    "$command" "${arguments[@]}" "${told[@]}" "--diff-base=$base" -- "${paths[@]}" || status=$?
    # Code scanning compares by itself: what is missing from its file counts as fixed.
    if [ "$status" -le 1 ]; then
        "$command" "${arguments[@]}" --fail-on never --format "sarif=$sarif" -- "${paths[@]}" 2>/dev/null
    fi
fi

if [ -f "$summary" ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$summary" >>"$GITHUB_STEP_SUMMARY"
fi
if [ -f "$sarif" ] && [ -n "${GITHUB_OUTPUT:-}" ]; then
    echo "sarif=$sarif" >>"$GITHUB_OUTPUT"
fi
exit "$status"
