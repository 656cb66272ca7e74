#!/usr/bin/env bash
# The first half of the watch, with nothing but the right to read: look for new releases, record them in this checkout,
# and leave what the second half proposes in a folder: body.md, watch.json and snapshots.patch.
#
#   watch.sh FOLDER
#
#   WATCH_CODE     code bases to hold new releases against, as `driftwatch watch --code` takes them, between spaces
#   WATCH_PRE      "true" for pre-releases too; they are recorded beside the releases
#   GITHUB_OUTPUT  `new=true` or `new=false` is added to this file, if it is set: whether there is something to propose
set -euo pipefail

mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."

arguments=(--format "markdown=$folder/body.md" --format "json=$folder/watch.json")
read -r -a code <<<"${WATCH_CODE:-}"
for each in ${code[@]+"${code[@]}"}; do
    arguments+=(--code "$each")
done
if [ "${WATCH_PRE:-}" = true ]; then
    arguments+=(--pre)
fi

status=0
"${DRIFTWATCH:-driftwatch}" watch "${arguments[@]}" || status=$?

git add --intent-to-add -- snapshots
git diff --binary -- snapshots >"$folder/snapshots.patch"
new=false
if [ -s "$folder/snapshots.patch" ]; then new=true; fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    echo "new=$new" >>"$GITHUB_OUTPUT"
fi
if [ -f "$folder/body.md" ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$folder/body.md" >>"$GITHUB_STEP_SUMMARY"
fi

# A release that breaks something is what this is for. One that could not be read spoils no other.
if [ "$status" -gt 1 ]; then
    echo "::warning::driftwatch watch ended with status $status"
    if [ "$new" = false ]; then exit "$status"; fi
fi
