#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commit that --version names (app/cli/commit.cmake): of a clone, a worktree, an archive, a package.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
command -v git >/dev/null || { echo "git is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null HOME="$work"
unset RELASCOPE_COMMIT GIT_DIR GIT_WORK_TREE
say() { git -c user.name=n -c user.email=e@example.org -C "$@" >/dev/null 2>&1; }
written() { # folder, further arguments: the initialiser of kCommit
  cmake -DSOURCE="$1" -DOUT="$work/out.cpp" -DGIT="$(command -v git)" "${@:2}" -P "$top/app/cli/commit.cmake"
  sed -n 's/.*kCommit = \(.*\);/\1/p' "$work/out.cpp"
}
expect() { # what, found, wanted
  [ "$2" = "$3" ] || { echo "$1: found $2, wanted $3"; exit 1; }
}
clone="$work/a clone"
mkdir "$clone"
say "$clone" init
echo one >"$clone/file"
say "$clone" add file
say "$clone" commit -m one --date 2026-03-01T12:00:00
head=$(git -C "$clone" log -1 --format='{"%h", "%cs", false}')
expect "a clone" "$(written "$clone")" "$head"

touch -d 2001-01-01 "$work/out.cpp"
written "$clone" >/dev/null
expect "nothing changed" "$(stat -c %y "$work/out.cpp" | cut -c1-4)" 2001

echo two >>"$clone/file"
expect "with changes" "$(written "$clone")" "${head/false/true}"
echo new >"$clone/untracked"
say "$clone" commit -am two
expect "a new commit, the same folder" "$(written "$clone")" "$(git -C "$clone" log -1 --format='{"%h", "%cs", false}')"

say "$clone" worktree add "$work/tree" -b other
echo three >>"$work/tree/file"
say "$work/tree" commit -am three
expect "a worktree" "$(written "$work/tree")" "$(git -C "$work/tree" log -1 --format='{"%h", "%cs", false}')"

ln -s "$work/tree" "$work/link"
expect "through a link" "$(written "$work/link")" "$(git -C "$work/tree" log -1 --format='{"%h", "%cs", false}')"

mkdir "$work/archive" "$clone/inside"
expect "an archive" "$(written "$work/archive")" '{"unknown", "", false}'
expect "an archive within another repository" "$(written "$clone/inside")" '{"unknown", "", false}'
expect "without git" "$(written "$clone" -DGIT=)" '{"unknown", "", false}'
expect "a package" "$(written "$work/archive" -DCOMMIT=v1.0-2)" '{"v1.0-2", "", false}'
expect "by the environment" "$(RELASCOPE_COMMIT='abc"; x' written "$clone")" '{"abc; x", "", false}'
echo "the commit is named in every way of building"
