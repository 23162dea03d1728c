# SPDX-License-Identifier: Apache-2.0
#
# t_fuzz_cli.sh - tests of heddle fuzz: without a bug it finds nothing, and the same seed gives the same report; it
# finds a planted bug, makes the input small, reports and saves it, and finds the bug again in the saved file; likewise
# a crash. The commands of fuzz/README.md work.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
words=$work/err
cd "$work" || exit 1
corpus=$top_srcdir/fuzz/corpus
planted=$top_builddir/tests/heddle_planted

# fact KEY: the value of KEY in the first row of the JSON in `out`.
fact() { sed -n "s/^ *\"$1\": \(.*[^,]\),*\$/\1/p" out | head -n 1; }
timeless() { grep -vE '_s":' "$1"; }

# ---- Where there is nothing ------------------------------------------------------------------------------------------

"$HEDDLE" list targets --csv 2>err | sed 1d | cut -d, -f2 >targets
if [ "$(wc -l <targets)" -ge 7 ]; then pass "there are $(wc -l <targets) targets"; else fail "there are targets" "$(cat targets)"; fi
"$HEDDLE" fuzz --runs 40 --seed 5 --corpus "$corpus" --json >out 2>err
code=$?
if [ $code = 0 ] && [ "$(grep -c '"found": false' out)" = "$(wc -l <targets)" ]; then pass "every target is run, and nothing is found"; else fail "every target is run, and nothing is found" "exit code $code"; fi
while read -r target; do
  "$HEDDLE" fuzz "$target" --runs 30 --seed 9 --json >out 2>err && "$HEDDLE" fuzz "$target" --runs 30 --seed 9 --json >again 2>>err
  if [ -s out ] && diff <(timeless out) <(timeless again) >differ; then pass "$target: the same seed, the same report"; else fail "$target: the same seed, the same report" "$(cat differ)"; fi
  [ -n "$(ls "$corpus/$target")" ] || fail "$target has a corpus"
  first=("$corpus/$target"/*)
  "$HEDDLE" fuzz "$target" "${first[@]}" --json >out 2>err
  code=$?
  if [ $code = 0 ] && [ "$(fact inputs)" = "${#first[@]}" ]; then pass "$target: its corpus alone, ${#first[@]} files"; else fail "$target: its corpus alone" "exit code $code, $(fact inputs) inputs of ${#first[@]}"; fi
done <targets
"$HEDDLE" fuzz case "$corpus"/case/* --corpus "$corpus/case" --runs 0 --json >out 2>err
code=$?
twice=$((2 * $(find "$corpus/case" -type f | wc -l)))
if [ $code = 0 ] && [ "$(fact inputs)" = $twice ]; then pass "files and a corpus: both are run"; else fail "files and a corpus: both are run" "exit code $code, $(fact inputs) inputs of $twice"; fi
if ls fuzz-* >/dev/null 2>&1; then fail "nothing is kept" "$(ls fuzz-*)"; else pass "nothing is kept"; fi
guard "$HEDDLE" fuzz case --time 1 --json >out 2>err
code=$?
if [ $code = 0 ] && [ "$(fact inputs)" -ge 1 ]; then pass "--time ends it"; else fail "--time ends it" "exit code $code, $(fact inputs) inputs"; fi
# What is left, on a terminal: of two seconds, at most two; of schedules, a share.
if ! command -v python3 >/dev/null; then skip "what is left" "python3 is missing"
else
  left_of "$HEDDLE" fuzz table --time 2 >lines
  if [ -s lines ] && ! grep -vE ' [0-9]+%, [0-9.]+ (us|ms|s) left' lines && ! grep -E ' ([3-9]|[0-9]{2,})[0-9.]* s left' lines; then pass "what is left of the time"; else fail "what is left of the time" "$(tail -n 3 lines)"; fi
  left_of "$HEDDLE" sched hkv.insert_or_assign.tlpv1 --schedules 40000 >lines
  if grep -qE 'sched: [0-9,]+ schedules, .* [0-9]+%' lines; then pass "what is left of the schedules"; else fail "what is left of the schedules" "$(tail -n 3 lines)"; fi
fi

# ---- Where there is something ----------------------------------------------------------------------------------------

# found BUG CRASHED PATTERN: the fuzzer finds the planted bug and makes its input small, twice in the same way; the
# saved file shows the bug again, but only in the program that has it.
found() {
  local code file small
  rm -f fuzz-*
  PLANTED=$1 guard "$planted" fuzz table --runs 20000 --seed 3 --json >out 2>err
  code=$?
  file=$(fact file | tr -d '"') small=$(fact bytes)
  if [ $code = 1 ] && [ "$(fact crashed)" = "$2" ] && grep -qE "$3" out; then pass "$1: found after $(fact inputs) inputs, $(fact bytes_before) bytes made $small"; else fail "$1: found" "exit code $code: $(fact wrong)"; return; fi
  if [ "$small" -le 48 ] && [ "$(wc -c <"$file")" = "$small" ] && grep -q 'hkv.mix.ref .*these batches' out; then pass "$1: small, told and kept"; else fail "$1: small, told and kept" "$small bytes, $(wc -c <"$file") kept"; fi
  cp out first && PLANTED=$1 "$planted" fuzz table --runs 20000 --seed 3 --json >out 2>err
  if diff <(timeless first) <(timeless out) >differ; then pass "$1: the same seed finds the same"; else fail "$1: the same seed finds the same" "$(cat differ)"; fi
  PLANTED=$1 "$planted" fuzz table "$file" --output again --json >out 2>err
  code=$?
  if [ $code = 1 ] && [ "$(fact inputs)" = 1 ] && cmp -s "$file" again; then pass "$1: the file shows it again"; else fail "$1: the file shows it again" "exit code $code"; fi
  if "$HEDDLE" fuzz table "$file" >out 2>err && "$planted" fuzz table "$file" >out 2>err; then pass "$1: where the bug is not, the file is fine"; else fail "$1: where the bug is not, the file is fine"; fi
}
if [ -x "$planted" ]; then
  found score false '"wrong": "batch'
  found crash true 'the process (died|ended)'
else
  skip "a planted bug is found" "tests/heddle_planted is not built"
fi

# ---- Mistakes --------------------------------------------------------------------------------------------------------

# bad NAME PATTERN ARGUMENT...: exit code 2 and one line with the pattern.
bad() {
  local name=$1 pattern=$2 code
  shift 2
  "$HEDDLE" fuzz "$@" >out 2>err
  code=$?
  if [ $code = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -qE -- "$pattern" err && [ ! -s out ]; then pass "$name"; else fail "$name" "exit code $code"; fi
}
bad 'an unknown target' 'nearest: table' tabel
bad 'a file that is not there' 'absent' case absent
bad 'a corpus that is not there' 'absent' case --corpus absent
bad 'no time at all' '--time' case --time 0
bad 'a file for many' '--output' --output x

# ---- The workflow of the page ----------------------------------------------------------------------------------------
#
# Runs the scripts of its steps in a folder as the page describes: Heddle in heddle/, a kernel in kernels/. The
# build step uses the build that is being tested, unless HEDDLE_TEST_SCALE gives time to build as written. Limits in
# seconds become numbers of inputs, and the script that installs packages is only parsed.

script() { # STEP: the lines of its `run: |`
  awk -v name="- name: $1" '
    index($0, name) && $0 ~ name "$" { armed = 1; next }
    armed && /run: \|/ { inside = 1; next }
    inside && substr($0, 1, 10) == "          " { print substr($0, 11); next }
    inside { exit }' "$top_srcdir/fuzz/github-actions.yml"
}
more=$top_srcdir/papers/hkv/nodigest.h # a kernel that is none of the table's variants
mkdir ci && cd ci && ln -s "$top_srcdir" heddle && mkdir kernels && cp "$more" kernels/ || exit 1
export KERNEL=nodigest
for step in packages build judge 'build with coverage and sanitizers' guided; do
  script "$step" >script.sh
  if [ -s script.sh ] && bash -n script.sh; then pass "the step '$step' is a script"; else fail "the step '$step' is a script" "$(cat script.sh)"; fi
done
for option in $(script 'build with coverage and sanitizers' | grep -oE -- '--(enable|disable|with)-[a-z]+'); do
  "$top_srcdir/configure" --help 2>err | grep -qE -- "--(enable|disable|with|without)-${option#--*-}\b" || echo "$option"
done | none "configure knows the options that it is given"
if [ "${HEDDLE_TEST_SCALE:-1}" -gt 1 ] 2>/dev/null; then
  cp -r "$top_srcdir" whole && rm heddle && mv whole heddle && rm -f heddle/Makefile heddle/config.status
  try "the step 'build', as written" guard bash -e <(script build)
else
  mkdir build && ln -s "$HEDDLE" build/heddle
  skip "the step 'build', as written" "HEDDLE_TEST_SCALE=2 takes the time"
fi
script judge | sed "s/--time 120/--runs 40/; s/--schedules 300/--schedules 30/" >script.sh
try "the step 'judge'" guard bash -e script.sh
# shellcheck disable=SC2012 # names without blanks
ls found 2>&1 | diff - <(printf '%s\n' find.html find.xml fuzz.xml run.xml weak.html weak.xml) | none "it leaves stories and reports"
cd "$work" || exit 1

finish
