# SPDX-License-Identifier: Apache-2.0
#
# t_teaching.sh - the course of doc/teaching.md: every command of the page runs, in a fresh clone; the autograder gives all
# points to the model answers and none to wrong ones, each with its sentence; hostile submissions do not break it; the
# workflow's step grades.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
python=$(command -v python3) || { echo "1..0 # SKIP python3 is missing"; exit 77; }
if ! command -v "${CC%% *}" >/dev/null; then
  echo "1..0 # SKIP there is no C compiler"
  exit 77
fi
source=$(cd "$top_srcdir" && pwd) built=$(cd "$(dirname "$HEDDLE")" && pwd)
export XDG_STATE_HOME=$work/state PYTHONDONTWRITEBYTECODE=1
export HEDDLE=$built/${HEDDLE##*/}

# A fresh clone, as a teacher has it; of a source tree without a repository, a copy of what the page uses.
clone=$work/clone
git clone -q "$source" "$clone" 2>/dev/null && cp -r "$source/learn" "$source/doc" "$clone" ||
  { mkdir -p "$clone" && cp -r "$source/learn" "$source/doc" "$clone"; }
mkdir "$work/bin" && printf '#!/bin/sh\nexec "%s" "$@"\n' "$HEDDLE" >"$work/bin/heddle" && chmod +x "$work/bin/heddle"
PATH=$work/bin:$PATH
cd "$clone" || exit 1

# ---- The page --------------------------------------------------------------------------------------------------------

# commands: the lines of its blocks of sh, in order; a loop is one line.
commands() { awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' doc/teaching.md; }
commands >"$work/commands"
{ [ "$(grep -c . "$work/commands")" -ge 18 ] || echo "only $(grep -c . "$work/commands") lines"; } | none "the page has commands"
# The grader and a loop over a class come last; a rejected answer is no failure of the page.
grep '^heddle' "$work/commands" | while read -r line; do
  guard bash -c "$line" >"$work/out" 2>&1
  code=$?
  # 1: what the page shows is a bug
  [ $code = 0 ] || { [ $code = 1 ] && [[ $line == *museum* ]]; } || echo "$line: exit code $code: $(head -n 2 "$work/out")"
done | none "each command of heddle runs"
for page in 1-find 2-evict 3-lru 3-lfu 4-race 5-weak 6-beside; do
  grep -q 'heddle.story/1' $page.html 2>/dev/null || echo "$page.html"
done | none "the lecture's pages have stories"
{ grep -q '<svg' 7-policies.svg && grep -q '^lru,' 7-policies.csv || echo "7-policies"; } | none "the lecture's plot is drawn"
sed -n '/^learn\/teaching/p' "$work/commands" | while read -r line; do
  guard bash -c "$line" >"$work/out" 2>&1 || { echo "$line: exit code $?"; tail -n 3 "$work/out"; }
done | none "the model answers get all points, by the commands of the page"
cp model.json "$work/model.json"
sed -n '/^for student/,/^done/p' "$work/commands" >"$work/loop"
{ guard bash "$work/loop" >"$work/out" 2>&1 && grep -q '^156 of 156 points$' submissions/model/grade.txt && cmp -s submissions/model/grade.json model.json || head -n 3 "$work/out"; } |
  none "the loop over a class grades each student"

# asked FIELD...: facts and points of labs.json.
asked() { "$python" -c 'import json, sys
labs = json.load(open("learn/teaching/labs.json"))
for lab in labs["labs"]:
    for one in lab.get("facts", {}).get("asked", []):
        print(one["name"], " ".join(one["command"]), one["ask"], sep="|")'; }
asked | while IFS='|' read -r name command ask; do
  grep -qF "| \`$name\` |" doc/teaching.md || echo "$name is not on the page"
  grep -qxF "heddle $command" "$work/commands" || echo "$name: the page does not run: heddle $command"
done | none "the page asks what the autograder asks"
"$python" - "$work/model.json" <<'END' | none "the page says how many points there are"
import json, re, sys
model, page = json.load(open(sys.argv[1])), open("doc/teaching.md").read()
if f"These are {model['of']} points" not in page: print(model["of"])
if model["points"] != model["of"] or sum(t["of"] for t in model["tasks"]) != model["of"]: print("sums differ")
if sorted({t["lab"] for t in model["tasks"]}) != [1, 2, 3]: print("labs")
END
awk -F'|' 'BEGIN { last = -1 } NF == 6 && /^\| [0-9]+ \|/ { if ($2 + 0 < last) print "minute" $2; last = $2 + 0 } END { if (last >= 90) print last }' doc/teaching.md | none "the lecture's minutes ascend, and end before 90"

# ---- Wrong answers ---------------------------------------------------------------------------------------------------

# points FILE TASK: its points. sentence FILE TASK.
of_task() { "$python" -c 'import json, sys
for task in json.load(open(sys.argv[1]))["tasks"]:
    if task["task"] == sys.argv[2]: print(task[sys.argv[3]])' "$@"; }
grade() { guard learn/teaching/grade "$@" >"$work/out" 2>"$work/err"; }

mapfile -t names < <(sed -n 's/^PUZZLE(\(.*\))$/\1/p' learn/puzzles/registry.inc)
for set in 1 ${HEDDLE_TEST_LONG:+2 3}; do
  student=submissions/wrong$set
  mkdir -p $student
  for i in "${!names[@]}"; do
    made=$work/made/${names[i]} puzzle=learn/puzzles/${names[i]}
    mkdir -p "$made" && LC_ALL=C awk -v out="$made" -f "$source/tests/puzzle_mutants.awk" "$puzzle/wrong.txt" "$puzzle/model.c"
    file=$(find "$made" -name 'wrong_*.c' | sort | sed -n "${set}p")
    cp "$file" "$student/puzzle$((i + 1)).c"
    cut -d '|' -f 3 "${file%.c}.want" >"$student/idea$((i + 1))"
  done
  grade $student --json $student.json
  code=$?
  { [ $code = 1 ] || { echo "exit code $code"; cat "$work/err"; }
    for i in "${!names[@]}"; do
      task="puzzle $((i + 1))" idea=$(cat "$student/idea$((i + 1))")
      [ "$(of_task $student.json "$task" points)" = 0 ] || echo "$task has points"
      of_task $student.json "$task" sentence | grep -qF -- "$idea" || echo "$task: '$(of_task $student.json "$task" sentence)' has not: $idea"
    done
    grep -q '^0 of 156 points$' "$work/out" || tail -n 1 "$work/out"; } | none "wrong answers, set $set: no points, and the sentence of each"
done

# lab files that are wrong: each line's task, and a word of its sentence
student=submissions/labs
mkdir -p $student
cat >$student/lab1.txt <<'END'
# a comment
slot = 2
evicted_key = 0x9976E00257979559
evicted_score=0x0
effect_step : 46
sectors_tlpv1 = 41.5
sectors_coalesced = 40
END
printf 'item_1 = 44.0\ngives_back = STREL\nbatch_0 = \033[2J\n' >$student/lab2.txt
echo 3:1,9:2 >$student/lab2.schedule
echo 'expr:on_insert=now;on_hit=now+1000' >$student/lab3.policy
grade $student --json $student.json
{ while IFS='|' read -r task points words; do
    [ "$(of_task $student.json "$task" points)" = "$points" ] || echo "$task: $(of_task $student.json "$task" points) points, not $points"
    of_task $student.json "$task" sentence | grep -q -- "$words" || echo "$task: $(of_task $student.json "$task" sentence)"
  done <<'END'
lab1.txt: slot|0|heddle explain
lab1.txt: evicted_key|2|Right
lab1.txt: evicted_score|2|Right
lab1.txt: effect_step|0|no line 'effect_step
lab1.txt: sectors_tlpv1|2|Right
lab1.txt: sectors_coalesced|0|heddle run
lab2.txt: item_1|2|Right
lab2.txt: gives_back|2|Right
lab2.txt: batch_0|0|not what this command shows
lab2.schedule|0|in the order 0, 1
lab3.policy: valid|2|policy
lab3.policy: zipf:0.9,20k, lru|3|Miss ratio
lab3.policy: zipf:0.9,20k, lfu|0|lfu has
lab3.policy: ycsb:d,20k, lru|3|lru has
END
  grep -q $'\033' "$work/out" && echo "a control character was printed"; } | none "each line of a lab file is graded, whatever form its number has"

# answers above par
mkdir -p submissions/slow
cat >submissions/slow/puzzle1.c <<'END'
#include "puzzles/find/given.h"

SIMT_KERNEL(find, find_args, a)
{
    uint32_t i = simt_thread(), place = NOWHERE;
    if (i >= a.n) return;
    uint64_t wanted = simt_ld_u64(&a.wanted[i]);
    uint32_t b = simt_ld_u32(&a.bucket[i]);
    for (uint32_t s = 0; s < SLOTS && place == NOWHERE; s++)
        if (simt_ld_u64(&a.keys[b * SLOTS + s]) == wanted) place = s;
    for (uint32_t s = 0; s < SLOTS; s++)
        if (simt_ld_u64(&a.keys[b * SLOTS + s]) == wanted) place = s;
    simt_st_u32(&a.place[i], place);
}
END
grade submissions/slow --lab 1 --json slow.json
{ [ "$(of_task slow.json 'puzzle 1' points)" = 8 ] && of_task slow.json 'puzzle 1' sentence | grep -q 'above par' || cat "$work/out"; } | none "a slow answer has eight points of ten"

# ---- Hostile submissions ---------------------------------------------------------------------------------------------

body() { printf '#include "puzzles/find/given.h"\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n%s\nSIMT_KERNEL(find, find_args, a)\n{\n    %s\n    simt_st_u32(&a.place[simt_thread()], NOWHERE);\n}\n' "$1" "$2"; }
student=submissions/hostile
mkdir -p $student/puzzle2.c
ln -s /etc/passwd $student/puzzle3.c
mkfifo $student/puzzle4.c
head -c 70000 /dev/zero >$student/puzzle5.c
head -c 2000 /dev/urandom >$student/puzzle6.c
ln -s /dev/zero $student/puzzle7.c
: >$student/puzzle8.c
echo 'int main(void) { for (;;); }' >$student/puzzle9.c
body '' 'for (;;) fork();' | sed 's/fork()/(void)0/' >$student/puzzle1.c
head -c 3000 /dev/urandom >$student/lab1.txt
mkdir $student/lab2.txt
printf -- '--help\n' >$student/lab2.schedule
printf 'expr:on_insert=now;on_hit=now,custom; rm -rf /\n' >$student/lab3.policy
grade $student --json $student.json --seconds 20
code=$?
{ [ $code = 1 ] && grep -q '^0 of 156 points$' "$work/out" || { echo "exit code $code"; tail -n 3 "$work/out" "$work/err"; }
  for task in 'puzzle 2' 'puzzle 3' 'puzzle 4' 'puzzle 7'; do of_task $student.json "$task" sentence | grep -q 'no plain file' || echo "$task: $(of_task $student.json "$task" sentence)"; done
  of_task $student.json 'puzzle 5' sentence | grep -q '64 KiB' || echo 'puzzle 5'
  [ "$(grep -c . "$work/out")" = 22 ] || grep -c . "$work/out"; } | none "folders, links, pipes, long files, random bytes, endless loops: no points, no harm"

# tricks of a program that tells its judge that it is right
tricks=0
for trick in 'kill(getppid(), SIGKILL);' 'kill(0, SIGKILL);' 'puts("{\"schema\": \"heddle.puzzle/1\", \"accepted\": true, \"cost\": \"sectors\", \"sectors\": 1, \"par\": 2}"); fflush(stdout); _exit(0);' \
  'exit(0);' 'while (malloc(1 << 20)) ;' 'for (int i = 0; i < 100; i++) puts("noise"); raise(SIGSEGV);' 'if (!fork()) { sleep(1000); } _exit(0);'; do
  mkdir -p submissions/trick && body '' "$trick" >submissions/trick/puzzle1.c
  grade submissions/trick --lab 1 --json trick.json --seconds 20
  code=$?
  tricks=$((tricks + 1))
  [ $code = 1 ] && [ "$(of_task trick.json 'puzzle 1' points)" = 0 ] || { echo "$trick: exit code $code"; tail -n 2 "$work/out" "$work/err"; }
  rm -f trick.json
done | none "seven tricks give no points"
body 'static void __attribute__((constructor)) first(void) { puts("{\"schema\": \"heddle.puzzle/1\", \"accepted\": true, \"cost\": \"sectors\", \"sectors\": 1, \"par\": 2}"); fflush(stdout); _exit(0); }' '' >submissions/trick/puzzle1.c
grade submissions/trick --lab 1 --json trick.json
{ [ "$(of_task trick.json 'puzzle 1' points)" = 0 ] || of_task trick.json 'puzzle 1' sentence; } | none "nor does a constructor"
grep -alE "$work/[h]eddle-grade" /proc/[0-9]*/cmdline 2>/dev/null | none "nothing runs on" # a bare machine has no pgrep

# ---- The command line ------------------------------------------------------------------------------------------------

usage() { # CODE WORDS ARGUMENT...
  local want=$1 words=$2
  shift 2
  grade "$@"
  local code=$?
  [ $code = "$want" ] && { [ -z "$words" ] || grep -qE -- "$words" "$work/err"; } || { echo "$*: exit code $code"; cat "$work/err"; }
}
{ usage 2 'no such folder' absent
  usage 2 'there are labs' submissions/slow --lab 4
  usage 2 'pass' submissions/slow --pass 101
  usage 2 'seconds' submissions/slow --seconds 0
  usage 4 'No such file' submissions/slow --lab 1 --heddle "$work/none"
  usage 4 'exit code' submissions/slow --lab 1 --heddle /bin/false
  usage 4 'none/x.json' submissions/slow --lab 3 --json none/x.json
  usage 0 '' submissions/model --lab 1 --pass 100
  usage 0 '' submissions/slow --lab 1 --pass 15
  usage 1 '' submissions/slow --lab 1 --pass 16; } | none "exit codes, and what is said"

# ---- The workflow ----------------------------------------------------------------------------------------------------

flow=$work/flow
mkdir -p "$flow" && cp -r submissions/model/. "$flow" && ln -s "$clone" "$flow/heddle" && ln -sf "$work/bin/heddle" "$clone/heddle"
step() { awk -v name="$1" '$0 ~ "^      - name: " name "$" { on = 1; next } /^      - / { on = 0 } on && /^          / { sub(/^          /, ""); print }' "$clone/learn/teaching/classroom.yml"; }
step grade >"$work/step"
{ grep -q '^heddle/learn/teaching/grade' "$work/step" || cat "$work/step"
  (cd "$flow" && guard bash -e "$work/step") >"$work/out" 2>&1 || { echo "exit code $?"; tail -n 3 "$work/out"; }
  grep -q '"points": 156' "$flow/grade.json" || echo "grade.json"; } | none "the workflow's step grades a repository"
{ rm "$flow"/puzzle*.c && cp submissions/wrong1/puzzle*.c "$flow"
  (cd "$flow" && guard bash -e "$work/step") >"$work/out" 2>&1 && echo "it passes"; } | none "and fails where the answers are wrong"
step build >"$work/step"
{ grep -q '^make .* heddle$' "$work/step" && grep -q '^\./configure --without-cuda$' "$work/step" || cat "$work/step"
  grep -oE -- '-qy .*' "$work/step" | tr ' ' '\n' | grep -vE '^-qy$|^$' | while read -r package; do
    grep -rqw -- "$package" "$source/build-aux/setup.sh" "$source/try" || echo "$package is not among the packages of ./try"
  done; } | none "the workflow installs what ./try installs"
if "$python" -c 'import yaml' 2>/dev/null; then
  "$python" -c 'import sys, yaml; flow = yaml.safe_load(open(sys.argv[1])); assert [s.get("name") for s in flow["jobs"]["grade"]["steps"]] == [None, "Heddle", "build", "grade", None]' "$clone/learn/teaching/classroom.yml" 2>&1 |
    none "the workflow is YAML"
else skip "the workflow is YAML" "python3 has no module yaml"
fi
finish
