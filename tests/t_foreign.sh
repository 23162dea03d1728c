# SPDX-License-Identifier: Apache-2.0
#
# t_foreign.sh - examples/foreign does what its page says: it finds the race of a plain CUDA kernel at its two lines,
# and again from its seed and schedule; without the race detector it finds the wrong result; and it finds nothing in the
# kernel without the race.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
foreign=$top_srcdir/examples/foreign
judge=$top_builddir/examples/foreign/judge
[ -x "$judge" ] || { echo "1..0 # SKIP the compiler tells of no accesses in this build (a sanitizer's, or one without -fsanitize=thread)"; exit 77; }

run() { # WANTED ARGUMENTS...: what it prints, in $work/said; exit code as wanted
  local want=$1 code=0
  shift
  "$judge" "$@" >"$work/said" 2>&1 || code=$?
  words=$work/said
  [ "$code" = "$want" ]
}
says() { grep -qE -- "$1" "$work/said"; }
line_of() { grep -nF "$1" "$foreign/table.cu" | head -n 1 | cut -d: -f1; }
again() { # the seed and the schedule that were printed
  local seed schedule
  read -r seed schedule < <(sed -n "s/^again: judge again \([0-9]*\) '\(.*\)'\$/\1 \2/p" "$work/said")
  run 1 again "$seed" "$schedule"
}

writes=$(line_of 'table[slot].value = *value;')
reads=$(line_of '*value = table[slot].value;')
if run 1 && says 'a data race on table' && says "table.cu:$writes: plain write" && says "table.cu:$reads: plain read"; then pass "the race is found, at its lines"
else fail "the race is found, at its lines"; fi
cp "$work/said" "$work/race"
if again && says 'a data race on table' && says "table.cu:$writes +b[0-9]"; then pass "and again, by seed and schedule, with its steps"
else fail "and again, by seed and schedule, with its steps"; fi
if run 1 blind && says "an item got a value that is not its key's"; then pass "what comes of it is found"; else fail "what comes of it is found"; fi
if again && says "an item got a value that is not its key's" && says 'table.cu:[0-9]+ '; then pass "and again"; else fail "and again"; fi
for how in at_once blind; do
  if run 0 at_once "$how" && says '^2000 schedules, [0-9]+ of them different: nothing found'; then pass "without it, silence ($how)"
  else fail "without it, silence ($how)"; fi
done
if run 2 nonsense; then pass "what it does not know it says"; else fail "what it does not know it says"; fi

# The page: lines of the text are where it says.
grep -oE 'table\.cu:[0-9]+: plain [a-z]+' "$foreign/README.md" | sort >"$work/page"
grep -oE 'table\.cu:[0-9]+: plain [a-z]+' "$work/race" | sort >"$work/now"
words=$work/now
if [ -s "$work/page" ] && cmp -s "$work/page" "$work/now"; then pass "the page shows these lines"; else fail "the page shows these lines"; fi
if command -v nvcc >/dev/null; then try "nvcc compiles the text as it is" nvcc -c -o "$work/table.o" "$foreign/table.cu"
else skip "nvcc compiles the text as it is" "there is no nvcc"; fi
tried foreign 4000 "schedules of a plain CUDA kernel without its race: silent; with it, found"
finish
