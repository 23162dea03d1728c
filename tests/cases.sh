# SPDX-License-Identifier: Apache-2.0
#
# cases.sh - how the shell tests count and speak (TAP). Sourced first; `finish` comes last.
#
#   pass NAME              skip NAME WHY
#   fail NAME [WHAT]       shows WHAT, then the start of the file $words when that is set
#   none NAME              passes when its input is empty, else shows it
#   try NAME COMMAND...    passes when the command succeeds, else shows what it said
#   tried AREA COUNT WHAT  so much was tried of an area of tests/areas.txt, since the last such line
#
# $work is a folder of the test's own that goes away.
# shellcheck shell=bash
set -u
shopt -s lastpipe # `... | none NAME` counts here, not in a shell of its own
: "${top_srcdir:?} ${top_builddir:?} ${HEDDLE:?}"
cases=0 failed=0 words="" tried_at=$EPOCHREALTIME
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

pass() { cases=$((cases + 1)); echo "ok $cases - $1"; }
skip() { cases=$((cases + 1)); echo "ok $cases - $1 # SKIP $2"; }
fail() {
  cases=$((cases + 1)) failed=1
  echo "not ok $cases - $1"
  { [ -z "${2:-}" ] || printf '%s\n' "$2"; [ -z "$words" ] || head -n 20 "$words"; } | sed 's/^/#   /'
}
none() {
  local found
  found=$(head -n 20)
  if [ -z "$found" ]; then pass "$1"; else fail "$1" "$found"; fi
}
try() {
  local name=$1 said
  shift
  if said=$("$@" 2>&1); then pass "$name"; else fail "$name" "$said"; fi
}
tried() {
  awk -v area="$1" -v n="$2" -v what="$3" -v from="$tried_at" -v to="$EPOCHREALTIME" 'BEGIN { printf "# tried %s %d %.3f %s\n", area, n, to - from, what }'
  tried_at=$EPOCHREALTIME
}
finish() {
  echo "1..$cases"
  exit $failed
}
