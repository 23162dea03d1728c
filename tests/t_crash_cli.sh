# SPDX-License-Identifier: Apache-2.0
#
# t_crash_cli.sh - crashes of kernels on the command line, of a table that only this test's command has (slate.h): they
# are counted, what is wrong is found and shown again, and its story marks the stores that are lost.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
slate=$top_builddir/tests/heddle_slate
cd "$work" || exit 1
words=$work/err

if [ ! -x "$slate" ]; then
  skip "crashes on the command line" "tests/heddle_slate is not built"
  finish
fi

# CASE words of a case; facts of a report.
one="value=8 pins=0 buckets=1 slots=4 batch=3x1 keys=uniform:6 seed=1"
fact() { sed -n "s/^  \"$1\": \(.*\),$/\1/p" out | tr -d '"'; }

# shellcheck disable=SC2086
"$slate" sched slate.insert_or_assign.sound $one --crash --schedules 20 --json >out 2>err
code=$?
if [ $code = 0 ] && [ "$(fact bugs)" = 0 ] && [ "$(fact crashes)" -gt 60 ] && [ "$(fact images)" -gt "$(fact crashes)" ]; then
  pass "a table that survives: $(fact crashes) crashes, $(fact images) images"
else
  fail "a table that survives" "exit code $code: $(fact wrong)"
fi

# shellcheck disable=SC2086
"$slate" sched slate.insert_or_assign.no_fence $one --crash --schedules 50 --rows 200 --json >out 2>err
code=$? schedule=$(fact schedule) again=$(fact replay)
if [ $code = 1 ] && [ "$(fact fault)" = crash ] && [[ $schedule == *@*,*:* ]] && grep -q '"what": "st, lost"' out; then
  pass "a missing fence is found, and the lost store is marked: $schedule"
else
  fail "a missing fence is found, and the lost store is marked" "exit code $code, $schedule: $(fact wrong)"
fi

cp out first
(eval "\"$slate\" ${again#heddle } --rows 200 --json") >out 2>err
code=$?
if [ $code = 1 ] && [ "$(fact schedule)" = "$schedule" ] && diff <(sed -n '/"rows"/,$p' first) <(sed -n '/"rows"/,$p' out) >differ; then
  pass "it is shown again, step by step"
else
  fail "it is shown again, step by step" "exit code $code: $(fact wrong)"
fi

# shellcheck disable=SC2086
"$slate" sched slate.insert_or_assign.no_fence $one --crash --replay "${schedule%,*}" --json >out 2>err
code=$?
if [ $code = 0 ] && [ "$(fact images)" = 1 ]; then pass "without a lost store it is right"; else fail "without a lost store it is right" "exit code $code: $(fact wrong)"; fi

# shellcheck disable=SC2086
SLATE=drops "$slate" explain slate.insert_or_assign.sound $one --crash 4 --json >out 2>err
code=$?
if [ $code = 0 ]; then pass "explain: a crash in the midst is right"; else fail "explain: a crash in the midst is right" "exit code $code: $(fact wrong)"; fi

# Warps in turn: before the events of one item after another, the second word, a value, loses a store.
code=0
for ((event = 1; event < 20 && code == 0; event++)); do
  # shellcheck disable=SC2086
  "$slate" explain slate.insert_or_assign.no_fence $one --crash "$event,1:1" --html page.html >out 2>err
  code=$?
done
if [ $code = 1 ] && grep -q 'st, lost' out && grep -q 'The crash loses this store' page.html; then
  pass "explain: the story marks the store"
else
  fail "explain: the story marks the store" "exit code $code"
fi

# bad NAME PATTERN ARGUMENT...: exit code 2 and one line with the pattern.
bad() {
  local name=$1 pattern=$2 code
  shift 2
  "$slate" "$@" >out 2>err
  code=$?
  if [ $code = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q -- "$pattern" err; then pass "$name"; else fail "$name" "exit code $code"; fi
}
bad "a design that recovers nothing" 'hkv recovers nothing' sched hkv.find.tlpv1 --crash
bad "a crash without --crash" 'needs --crash' sched hkv.find.tlpv1 --replay 1:1@2
bad "a crash that is none" "'x' is no event" explain slate.erase.sound value=8 pins=0 buckets=1 slots=4 batch=3x1 --crash x
finish
