#!/usr/bin/env bash
# The second half of the watch, with the right to write: what the first half left becomes one pull request, which later
# finds bring up to date. Nothing of upstream is run or trusted here: the patch may touch recorded snapshots and nothing
# else, the title is an argument, the body is a file.
#
#   propose.sh FOLDER    body.md, watch.json and snapshots.patch, as watch.sh leaves them
#
#   BASE_BRANCH    what the pull request is for
#   GH_TOKEN       what `gh` and `git push` may use
set -euo pipefail

folder=$(cd "$1" && pwd)
branch=driftwatch/watch
cd "$(dirname "${BASH_SOURCE[0]}")/.."

title=$(python3 -I -c '
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    title = json.load(file)["title"]
print("".join(c if c.isprintable() else " " for c in title)[:200])
' "$folder/watch.json")

git switch --quiet --force-create "$branch"
git apply --index --include='snapshots/*.jsonl' "$folder/snapshots.patch"
git -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
    commit --quiet --message "feat: snapshots: $title"

gh auth setup-git
git push --quiet --force origin "HEAD:refs/heads/$branch"
if [ "$(gh pr list --head "$branch" --state open --json number --jq length)" = 0 ]; then
    gh pr create --base "$BASE_BRANCH" --head "$branch" --title "$title" --body-file "$folder/body.md"
else
    gh pr edit "$branch" --title "$title" --body-file "$folder/body.md"
fi
