# SPDX-License-Identifier: Apache-2.0
#
# t_puzzles.sh - heddle puzzle: every model answer is accepted, within par; every wrong answer is rejected by the check
# and with the words that wrong.txt names; every mutant of a model answer is rejected, too; hints; progress;
# answers that are no kernels at all. With nvcc, it compiles every model answer.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
puzzles=$top_srcdir/learn/puzzles
words=$work/said
export XDG_STATE_HOME=$work/state TMPDIR=$work/tmp
mkdir -p "$work/here" "$TMPDIR" && cd "$work/here" || exit 1
if ! command -v "${CC%% *}" >/dev/null; then
  echo "1..0 # SKIP there is no C compiler"
  exit 77
fi

mapfile -t names < <(sed -n 's/^PUZZLE(\(.*\))$/\1/p' "$puzzles/registry.inc")
{ [ ${#names[@]} = 12 ] || echo "${#names[@]}"; } | none "there are twelve puzzles"
for name in "${names[@]}"; do
  mkdir -p "$work/wrong/$name"
  LC_ALL=C awk -v out="$work/wrong/$name" -f "$top_srcdir/tests/puzzle_mutants.awk" "$puzzles/$name"/{wrong.txt,model.c} 2>&1
done | none "the wrong answers are changes of the model answers"
# With a sanitizer no C access of an answer is told of (configure, HD_RAW).
instrumented=true
[[ ${HD_SANITIZE:-} == *-fsanitize* ]] && instrumented=false

# judge WANTED ARGUMENTS...: exit code as wanted; what it prints as JSON is in $work/json.
judge() {
  local want=$1 code=0
  shift
  guard "$HEDDLE" puzzle "$@" --json >"$work/json" 2>"$work/said" </dev/null || code=$?
  cat "$work/json" >>"$work/said"
  [ "$code" = "$want" ]
}
value() { sed -n "s/^ *\"$1\": \"\{0,1\}\(.*[^,\"]\)\"\{0,1\},\{0,1\}\$/\1/p" "$work/json" | head -n 1; }
rejected() { # NAME BY WORDS FILE PUZZLE
  if judge 1 "$5" "$4" && [ "$(value by)" = "$2" ] && value idea | grep -qF -- "$3"; then pass "$1: $2"
  else fail "$1" "rejected by '$(value by)', not '$2': $(value idea)"
  fi
}

number=0
for name in "${names[@]}"; do
  number=$((number + 1))
  grep -q "^| $number | \`$name\` |" "$top_srcdir/doc/puzzles.md" || echo "$number, $name"
done | none "doc/puzzles.md lists them"

# ---- Answers --------------------------------------------------------------------------------------------------------

# spent: the processor time of what has ended so far becomes $now, in milliseconds; a busy machine takes no more of it.
spent() {
  times >"$work/times"
  now=$(tail -n 1 "$work/times" | tr 'ms' '  ' | awk '{ printf "%d", 1000 * (60 * ($1 + $3) + $2 + $4) }')
}
slowest=0 schedules=0
for name in "${names[@]}"; do
  folder=$puzzles/$name
  spent
  from=$now
  if judge 0 "$name" "$folder/model.c" && awk -v a="$(value "$(value cost)")" -v par="$(value par)" 'BEGIN { exit !(par > 0 ? a <= par * 1.01 : 0) }'; then
    pass "$name: the model answer is accepted: $(value "$(value cost)") $(value cost) per key, par $(value par)"
  else fail "$name: the model answer is accepted, within par" "$(value by): $(value detail); $(value "$(value cost)") for $(value par)"
  fi
  spent
  took=$((now - from))
  [ $took -le $slowest ] || slowest=$took
  schedules=$((schedules + $(value schedules)))
  if judge 1 "$name" "$folder/start.c"; then pass "$name: the starting file is no answer"; else fail "$name: the starting file is no answer"; fi

  wrong=0
  for file in "$work/wrong/$name"/wrong_*.c; do
    wrong=$((wrong + 1)) answer=${file##*/}
    IFS='|' read -r _ by said <"${file%.c}.want"
    if [ "$by" = "raw access" ] && ! $instrumented; then skip "$name: $answer" "no C access is told of in this build"; continue; fi
    if [ -n "$said" ]; then rejected "$name: $answer" "$by" "$said" "$file" "$name"; else fail "$name: $answer names its check"; fi
    schedules=$((schedules + $(value schedules)))
    # The story has the steps of the failing run, and ends at a line of the answer.
    [ "$(value by)" = "out of bounds" ] || grep -q "\"site\": \"$answer:[0-9]*\"" "$work/json" || fail "$name: $answer has a story"
  done
  if [ $wrong -ge 4 ]; then pass "$name has $wrong wrong answers"; else fail "$name has four wrong answers" "$wrong"; fi
done
if [ $slowest -lt 5000 ] || ! $instrumented; then pass "a try takes less than five seconds of processor time: $slowest ms at most"
else fail "a try takes less than five seconds of processor time" "$slowest ms"
fi
tried puzzles "$schedules" "schedules of answers to puzzles, right and wrong, each with the verdict that it should have"

# Every sentence that a puzzle has is reached by a wrong answer or a mutant, or is of a check that the judge shares; so none is dead.
for name in "${names[@]}"; do
  sed -n '/^static const puzzle_idea idea/,/^};/s/^    { "\([^"]*\)",.*/\1/p' "$puzzles/$name/judge.c" | while read -r by; do
    case $by in
    'mismatched collectives' | deadlock | 'lane left' | kept) ;; # the same mistake, in another order of lanes
    *', weak') grep -qF " | ${by%, weak} | " "$puzzles/$name/wrong.txt" || echo "$name: $by" ;;
    *) grep -qF " | $by | " "$puzzles/$name/wrong.txt" "$puzzles/$name/mutants.txt" || echo "$name: $by" ;;
    esac
  done
done | none "every check of a puzzle rejects a wrong answer"

# ---- Mutants of the model answers -------------------------------------------------------------------------------------

# The judge is no better than its examples: each small change of a model answer (tests/puzzle_mutants.awk) is rejected.
# In long runs all of them are judged, otherwise every second one.
KINDS="constant number unread 32.bits order first"
export work
mutants=0
for name in "${names[@]}"; do
  folder=$work/mutants/$name
  mkdir -p "$folder"
  for kind in $KINDS; do
    grep -qE "^($kind \\||none $kind \\| .)" "$puzzles/$name/mutants.txt" || echo "there is no mutant of the kind '$kind'"
  done | none "$name has mutants of all kinds"
  LC_ALL=C awk -v out="$folder" -f "$top_srcdir/tests/puzzle_mutants.awk" "$puzzles/mutations.txt" \
    "$puzzles/$name/mutants.txt" "$puzzles/$name/model.c" 2>&1 | none "$name: the mutants apply to the model"
done
[ -n "${HEDDLE_TEST_LONG:-}" ] || find "$work/mutants" -name '*.c' | sort | awk 'NR % 2' | xargs rm
# One file for each verdict; two are judged at a time.
find "$work/mutants" -name '*.c' -print0 | xargs -0 -P 2 -I{} sh -c \
  'name=$(basename "$(dirname "$1")"); "$HEDDLE" puzzle "$name" "$1" --json >"${1%.c}.json" 2>&1 </dev/null' sh {}
for name in "${names[@]}"; do
  count=0
  for file in "$work/mutants/$name"/*.c; do
    IFS='|' read -r kind by idea <"${file%.c}.want"
    cp "${file%.c}.json" "$work/json"
    count=$((count + 1)) said=$(value by)
    case $said in
    '' | compiler | kernel) wrong=true ;;
    "$by") [ -n "$idea" ] && value idea | grep -qF -- "$idea" && wrong=false || wrong=true ;;
    *) [ "$by" = '*' ] && wrong=false || wrong=true ;;
    esac
    ! $wrong || { echo "$kind: by '${said:-nothing: it is accepted}', not '$by': $(value idea)"; diff "$puzzles/$name/model.c" "$file"; } >&3
  done 3>>"$work/mutants/$name/wrong"
  none "$name: $count mutants of the model answer are rejected, each for its reason" <"$work/mutants/$name/wrong"
  mutants=$((mutants + count))
done
tried puzzles "$mutants" "mutants of model answers, each rejected"

# ---- Tasks, hints, progress ------------------------------------------------------------------------------------------

number=0
for name in "${names[@]}"; do
  number=$((number + 1))
  "$HEDDLE" puzzle $number >"$work/task" 2>&1 || echo "$name: exit code $?"
  grep -qF "heddle puzzle $number puzzle$number.c" "$work/task" || echo "$name: the task does not say how to go on"
  grep -qE '^Par: [0-9.]+ ' "$work/task" || echo "$name: the task has no par"
  awk -v n="$name" 'length($0) > 100 { print n ": a line of " length($0) }' "$work/task"
  cmp -s "puzzle$number.c" "$puzzles/$name/start.c" || echo "$name: the starting file is not puzzle$number.c"
  for k in 1 2 3; do
    "$HEDDLE" puzzle "$name" --hint --json >"$work/json" 2>&1 || echo "$name: hint $k: exit code $?"
    [ "$(value hint)" = $k ] && [ "$(value hints)" = 3 ] && [ -n "$(value text)" ] || echo "$name: hint $k is number $(value hint)"
    value text
  done >"$work/hints"
  grep -v "^$name: " "$work/hints" | sort | uniq -d | sed "s/^/$name: twice: /"
  grep "^$name: " "$work/hints"
  "$HEDDLE" puzzle "$name" --hint --json >"$work/json"
  [ "$(value hint)" = 3 ] || echo "$name: after the third hint comes $(value hint)"
done | none "every puzzle has a task, a starting file and three hints"
echo "int mine;" >puzzle1.c
"$HEDDLE" puzzle 1 >"$work/task" && grep -q '^int mine;$' puzzle1.c && pass "an answer that was begun is kept" || fail "an answer that was begun is kept"

solved() { "$HEDDLE" puzzle --json 2>"$work/said" | grep -c '"solved": true'; }
{ [ "$(solved)" = 12 ] || echo "$(solved) of 12"; } | none "what was solved is remembered"
"$HEDDLE" puzzle 2>&1 | grep 'heddle puzzle [0-9]' | none "when all are solved, the list names none to go on with"
judge 1 find "$work/wrong/find/wrong_silent.c"
{ [ "$(solved)" = 12 ] || echo "$(solved) of 12"; } | none "a wrong answer takes nothing back"
printf 'not JSON' >"$XDG_STATE_HOME/heddle/puzzles.json"
{ "$HEDDLE" puzzle >"$work/out" 2>"$work/said" || echo "exit code $?"
  grep -q damaged "$work/said" || echo "it says nothing"
  [ "$(cat "$XDG_STATE_HOME/heddle/puzzles.json.damaged")" = "not JSON" ] || echo "the damaged file is not kept"; } | none "progress that cannot be read is put aside"
judge 0 find "$puzzles/find/model.c"
{ [ "$(solved)" = 1 ] || echo "$(solved) of 1"; } | none "and begins again"
{ "$HEDDLE" puzzle 2>&1 | grep -q 'heddle puzzle 2 ' || "$HEDDLE" puzzle; } | none "the list names the first that is not solved"
for damage in '{"puzzles": 5}' '{"puzzles": {"find": [1, 2], "lock": {"tries": -5, "solved": "yes", "hints": 1e9, "best": {}}}}' '[]'; do
  printf '%s' "$damage" >"$XDG_STATE_HOME/heddle/puzzles.json"
  "$HEDDLE" puzzle >"$work/out" 2>"$work/said" && "$HEDDLE" puzzle lock --hint >"$work/out" 2>>"$work/said" || echo "$damage: exit code $?"
done | none "progress of another form is survived"
rm -rf "$XDG_STATE_HOME"
(unset HOME XDG_STATE_HOME; judge 0 find "$puzzles/find/model.c" && grep -q 'not kept' "$work/said") && pass "without a place for progress it judges, and says so" || fail "without a place for progress it judges"
: >"$work/file"
(export XDG_STATE_HOME=$work/file; judge 0 find "$puzzles/find/model.c" && grep -q 'not kept' "$work/said") && pass "and where the place is a file" || fail "and where the place is a file"
HOME=$work/nohome XDG_STATE_HOME='' "$HEDDLE" puzzle 1 --hint >"$work/out" 2>"$work/said"
if grep -q 'not kept' "$work/said" && ! [ -e "$work/nohome" ]; then pass "a home that is not there is not made"; else fail "a home that is not there is not made" "$(cat "$work/said")"; fi
mkdir "$work/home"
HOME=$work/home XDG_STATE_HOME='' "$HEDDLE" puzzle 1 --hint >"$work/out" 2>"$work/said"
if [ -f "$work/home/.local/state/heddle/puzzles.json" ]; then pass "without XDG_STATE_HOME it is in ~/.local/state"; else fail "without XDG_STATE_HOME it is in ~/.local/state"; fi

# ---- Answers that are no answers --------------------------------------------------------------------------------------

# hostile BY WORDS WHAT: the answer to puzzle 1 on standard input.
hostile() {
  cat >answer.c
  rejected "an answer that $3" "$1" "$2" answer.c find
}
head='#include "puzzles/find/given.h"
SIMT_KERNEL(find, find_args, a) {'
hostile compiler 'answer.c:2' 'does not compile' <<<"$head"
hostile compiler "no_such_file.h" 'includes what there is not' <<<'#include "no_such_file.h"'
hostile compiler 'simt_load' 'calls what there is not' <<<"$head simt_load(a.n); }"
hostile kernel 'that there is not' 'declares a function and has none' <<<"$head extern void f(void); f(); }"
hostile kernel 'SIMT_KERNEL(find, find_args, a)' 'has no kernel' <<<'int main(void) { return 0; }'
hostile kernel 'SIMT_KERNEL(find, find_args, a)' 'is empty' <<<''
hostile compiler 'unknown type name' 'has another signature' <<<'#include "puzzles/find/given.h"
SIMT_KERNEL(find, other_args, a) { (void)a; }'
hostile endless 'no end' 'never ends, and touches nothing' <<<"$head for (volatile int i = 0;; i++) {} (void)a; }"
hostile endless 'Every loop' 'never ends, and reads' <<<"$head for (;;) (void)simt_ld_u32(&a.bucket[0]); }"
hostile endless 'Every loop' 'waits forever' <<<"$head (void)a; for (;;) simt_backoff(100); }"
hostile crash 'no recursion' 'calls itself forever' <<<"static int deep(volatile int n) { volatile char room[512]; room[0] = (char)n; return deep(n + 1) + room[0]; }
$head (void)a; deep(1); }"
hostile crash 'crashed' 'reads address 16' <<<"$head (void)a; *(volatile int *)16 = 1; }"
hostile crash 'crashed' 'divides by zero' <<<"$head volatile int zero = 0; (void)a; zero = 5 / zero; }"
hostile crash 'crashed' 'aborts' <<<"#include <stdlib.h>
$head (void)a; abort(); }"
hostile left 'never calls exit' 'calls exit' <<<"#include <stdlib.h>
$head (void)a; exit(0); }"
hostile left 'never calls exit' 'leaves by _exit' <<<"#include <unistd.h>
$head (void)a; _exit(1); }"
hostile left 'never calls exit' 'leaves before the kernel' <<<"#include <stdlib.h>
__attribute__((constructor)) static void first(void) { exit(0); }
$head (void)a; }"
hostile crash 'ended the program by a signal' 'kills itself' <<<"#include <signal.h>
#include <unistd.h>
$head (void)a; kill(getpid(), SIGKILL); }"
hostile 'out of bounds' 'more lanes' 'prints' <<<"#include <stdio.h>
$head for (int i = 0; i < 100; i++) puts(\"accepted\"); fprintf(stderr, \"noise\"); simt_st_u32(&a.place[simt_thread()], 0); }"
hostile 'input changed' 'only read' 'writes to its input' <<<"$head if (simt_thread() == 0) simt_st_u64((uint64_t *)(uintptr_t)a.wanted, 5); }"
if $instrumented; then
  hostile 'raw access' 'through the dialect' 'has a static variable' <<<"static unsigned shared;
$head shared += simt_thread(); simt_st_u32(&a.place[0], shared); }"
  hostile 'raw access' 'through the dialect' 'copies with memcpy' <<<"#include <string.h>
$head uint64_t w[2]; memcpy(w, a.wanted, 16); simt_st_u32(&a.place[0], (uint32_t)w[0]); }"
fi
ls -A "$TMPDIR" | none "no temporary file is left"

CC=no-such-compiler judge 4 find "$puzzles/find/model.c"
{ grep -q 'no C compiler' "$work/said" || cat "$work/said"; } | none "without a compiler it says what to install"
CC='' judge 0 find "$puzzles/find/model.c" && pass "without CC it takes cc" || { command -v cc >/dev/null && fail "without CC it takes cc" || skip "without CC it takes cc" "there is no cc"; }
judge 2 find no_such_file.c && judge 2 find . && judge 2 find /dev/zero && judge 2 13 && judge 2 0 && judge 2 nothing && judge 2 find --html new.html && judge 2 find answer.c --hint && judge 2 find answer.c more &&
  pass "mistakes in the command line" || fail "mistakes in the command line"
cp "$puzzles/find/model.c" ./-x.c
"$HEDDLE" puzzle find -- -x.c >"$work/said" 2>&1 && pass "a file whose name begins with a dash" || fail "a file whose name begins with a dash"
"$HEDDLE" puzzle --headers include >"$work/said" 2>&1 && cmp -s include/simt/simt.h "$top_srcdir/simt/simt.h" && cmp -s include/puzzles/lock/given.h "$puzzles/lock/given.h" &&
  pass "the headers can be had" || fail "the headers can be had"

page() { # CODE FILE ARGUMENTS...: a page of the failing schedule
  local want=$1 file=$2 code=0
  shift 2
  "$HEDDLE" puzzle "$@" --html "$file" >"$work/said" 2>&1 || code=$?
  [ "$code" = "$want" ]
}
page 1 page.html move "$work/wrong/move/wrong_relaxed_mover.c" && grep -qF wrong_relaxed_mover.c page.html && pass "a failing schedule becomes a page" || fail "a failing schedule becomes a page"
rm -f page.html
page 0 page.html find "$puzzles/find/model.c" && [ ! -e page.html ] && pass "an accepted answer has no page" || fail "an accepted answer has no page"
page 2 . find "$puzzles/find/model.c" && page 4 nowhere/page.html find "$puzzles/find/model.c" && pass "a page that cannot be written is told before" || fail "a page that cannot be written is told before"

# ---- CUDA ------------------------------------------------------------------------------------------------------------

if command -v nvcc >/dev/null; then
  for name in "${names[@]}"; do
    nvcc -x cu -arch=sm_80 -std=c++17 -Iinclude -c -o answer.o "$puzzles/$name/model.c" 2>&1 || echo "$name"
  done | none "nvcc compiles every model answer"
else
  skip "nvcc compiles every model answer" "there is no nvcc"
fi
finish
