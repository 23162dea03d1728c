# SPDX-License-Identifier: Apache-2.0
#
# cases.sh - functions with which the shell tests count and report (TAP). A test sources it first, and ends with
# `finish`.
#
#   pass NAME              skip NAME WHY
#   fail NAME [WHAT]       shows WHAT, then the start of the file $words when that is set
#   none NAME              passes when its input is empty, else shows it
#   try NAME COMMAND...    passes when the command succeeds, else shows what it said
#   guard COMMAND...       runs the command; half of the test's processor time is the most that it may take
#   left_of COMMAND...     prints the lines in which the command, on a terminal, says how much is left; needs python3
#   signalled NAME CODE SIGNAL WHEN COMMAND...
#                          passes when the command, which gets SIGNAL once WHEN holds, ends with CODE; what it printed is
#                          in $work/out. WHEN: caught, asleep, parent, or a function of the test's own, of PID and SIGNAL
#   wait_until COMMAND...  repeats the command until it succeeds; false after a generous limit
#   tried AREA COUNT WHAT  reports the work since the last such line, for an area of tests/areas.txt
#
# $work is a temporary folder of the test.
# shellcheck shell=bash
set -u
shopt -s lastpipe # `... | none NAME` counts here, not in a shell of its own
: "${top_srcdir:?} ${top_builddir:?} ${HEDDLE:?}"
cases=0 failed=0 words="" tried_at=$EPOCHREALTIME
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state # heddle puzzle keeps progress there
export XDG_CACHE_HOME=$work/cache # heddle --with keeps objects there

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
guard() ( # a shell of its own; tests/tap-run ends one that waits
  ulimit -t "$((${HEDDLE_TEST_SECONDS:-1500} / 2))"
  exec "$@"
)
left_of() { guard python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" </dev/null | tr '\r' '\n' | grep ' left'; }
tried() {
  awk -v area="$1" -v n="$2" -v what="$3" -v from="$tried_at" -v to="$EPOCHREALTIME" 'BEGIN { printf "# tried %s %d %.3f %s\n", area, n, to - from, what }'
  tried_at=$EPOCHREALTIME
}
wait_until() {
  local tenths=$((${HEDDLE_TEST_SECONDS:-1500} * 2)) # tests/tap-run waits longer
  until "$@"; do
    [ $((tenths--)) -gt 0 ] || return
    sleep 0.1
  done
}
# caught PID SIGNAL: the command has begun, and it handles, or ignores, the signal.
caught() {
  local masks mask
  [ "$(cat "/proc/$1/comm" 2>/dev/null)" = heddle ] || return
  masks=$(sed -n 's/^Sig\(Cgt\|Ign\):[[:blank:]]*//p' "/proc/$1/status" 2>/dev/null)
  for mask in $masks; do [ $((0x$mask >> ($(kill -l "$2") - 1) & 1)) = 0 ] || return 0; done
  return 1
}
asleep() { caught "$@" && grep -q '^State:[[:blank:]]*S' "/proc/$1/status"; }
# child_of PID: its first child. A bare machine has no pgrep.
child_of() {
  local status
  status=$(grep -ls "^PPid:[[:blank:]]*$1\$" /proc/[0-9]*/status | head -n 1)
  [ -n "$status" ] && status=${status#/proc/} && echo "${status%/status}"
}
parent() { caught "$@" && child_of "$1" >/dev/null; }
gone() { ! kill -0 "$1" 2>/dev/null; }
signalled() {
  local name=$1 want=$2 signal=$3 when=$4 pid got=
  shift 4
  "$@" >"$work/out" 2>"$work/err" </dev/null &
  pid=$!
  wait_until "$when" $pid "$signal" || got="it never came to be $when"
  kill "-$signal" $pid
  wait_until gone $pid || { kill -KILL $pid; got="it went on"; }
  wait $pid
  got=${got:-$?}
  if [ "$got" = "$want" ]; then pass "$name: exit $want"; else fail "$name" "exit code $got, not $want"; fi
}
finish() {
  echo "1..$cases"
  exit $failed
}
