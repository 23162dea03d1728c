# SPDX-License-Identifier: Apache-2.0
#
# t_docs.sh - the pages agree with the program: links have targets, every public symbol and every row of a registry is
# documented, examples and screens are what the program prints, the JSON of every verb is described, and shell
# completion works.
#
# In a page, the block after <!-- file: PATH --> is the end of that file, from its first #include on. The block after
# <!-- output: COMMAND --> is the output of that command, line by line, except for figures that depend on time.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$top_srcdir" || exit 1

mapfile -t pages < <(ls ./*.md doc/*.md doc/*/*.md bench/*.md fuzz/*.md bench/lab/*.md papers/*/*.md examples/*/*.md 2>/dev/null)
book() { cat "${pages[@]}"; }
book >"$work/book"
{ [ "${#pages[@]}" -ge 10 ] || echo "only ${#pages[@]}"; } | none "there are pages"

# ---- Links and what they lead to -----------------------------------------------------------------------

for page in "${pages[@]}"; do
  grep -oE '\]\([^) ]+\)' "$page" | sed 's/^](//; s/)$//; s/#.*//' | grep -vE '^(https?:|mailto:|$)' |
    while read -r to; do [ -e "$(dirname "$page")/$to" ] || echo "$page: $to is not there"; done
done | none "every link leads to a file"

# headings PAGE: the anchors of its headings, as GitHub makes them.
headings() {
  awk '/^```/ { code = !code } !code && /^#+ / { sub(/^#+ /, ""); print tolower($0) }' "$1" | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}
for page in "${pages[@]}"; do
  grep -oE '\]\([^) ]*#[^) ]+\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^https?:' | while IFS='#' read -r to anchor; do
    target=$page
    [ -z "$to" ] || target=$(dirname "$page")/$to
    [[ $target != *.md ]] || headings "$target" 2>/dev/null | grep -qxF -- "$anchor" || echo "$page: $to has no heading #$anchor"
  done
done | none "every link to a section leads to a heading"

# Words in backquotes that look like paths of the tree: a folder and a slash, or a file of a kind that we have.
for page in "${pages[@]}"; do
  grep -oE '`(include|base|lib|ref|policies|concurrency|workload|judge|tools|tests|doc|bench|fuzz|simt|gpu|learn|papers|examples|completion|build-aux)/[A-Za-z0-9_./-]*`' "$page" |
    tr -d '`' | while read -r path; do [ -e "$path" ] || [[ $path == *NAME* ]] || echo "$page: $path is not there"; done
done | none "every path that is named exists"

grep -nE '[[:blank:]]+$' /dev/null "${pages[@]}" | none "no blanks at the ends of lines"

# ---- Form -------------------------------------------------------------------------------------------------

# Tables and screens may be as wide as their figures.
awk 'FNR == 1 { code = screen = 0 } /^<!-- output/ { screen = 1 } /^```/ { code = !code; if (!code) screen = 0 }
  !/^\|/ && !(code && screen) && length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns" }' "${pages[@]}" | none "no line over 120 columns"
awk -F'|' '/^\|/ { for (i = 2; i < NF; i++) { gsub(/^ +| +$/, "", $i); if (length($i) > 200) print FILENAME ":" FNR ": a cell of " length($i) } }' "${pages[@]}" |
  none "no table cell over 200 characters"
{ said=$(cat "${pages[@]}" | grep -oiwE 'nobody|somebody|whoever|anybody' | wc -l); [ "$said" -le 12 ] || echo "$said times"; } |
  none "pages name who acts: nobody, somebody, whoever and anybody at most 12 times"

bugs=$(find judge/museum/bugs papers/ovs/gfsl/bugs -name '*.bug' | wc -l)
for said in "$bugs planted bugs" "[$bugs bugs]" "hold $bugs known bugs"; do grep -qF -- "$said" doc/testing.md || echo "doc/testing.md: not '$said'"; done |
  none "the museum has as many bugs as the page says"

# ---- Everything is written about -------------------------------------------------------------------------

# A public symbol needs a comment directly above it, beside it, or above its group; or a sentence in a page.
sed -n 's/^HD_API .*[ *]\(hd_[a-z0-9_]*\)(.*/\1/p' include/heddle.h | while read -r name; do
  grep -qw "$name" "$work/book" || awk -v name="$name" '
    /^HD_API/ && index($0, name "(") { if (comment || $0 ~ /\/\*/) found = 1 }
    { comment = ($0 ~ /\*\/ *$/) || (comment && /^HD_API/) }
    END { exit !found }' include/heddle.h || echo "$name"
done | none "every public function is explained, in the header or in a page"

grep -oE '^    (HD_[A-Z_0-9]+)' include/heddle.h | tr -d ' ' | grep -vE '_COUNT_?$|^HD_OP_' | while read -r name; do
  grep -qE "\b$name\b.*/\*|\b$name\b.*//" include/heddle.h || grep -qE "\b(${name}|${name#HD_})\b" "$work/book" || grep -qiwE "\`?${name#HD_}\`?" "$work/book" || echo "$name"
done | none "every public enumerator is explained"

"$HEDDLE" list --csv >"$work/list" 2>&1
for kind in designs backends policies locks predicates kernels operations outcomes elements workloads formats targets hashes; do
  grep "^$kind," "$work/list" | cut -d, -f2 | while read -r name; do
    # as a word of its own in a page; in a table, a list or backquotes
    grep -qE "(^|[^A-Za-z0-9_])$name($|[^A-Za-z0-9_])" "$work/book" || echo "$kind: $name"
  done
done | none "every row of every registry is in the pages"
{ [ "$(wc -l <"$work/list")" -ge 50 ] || echo "heddle list prints $(wc -l <"$work/list") lines"; } | none "there are rows"

"$HEDDLE" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' | tee "$work/verbs" | while read -r verb; do
  grep -qF "heddle $verb" README.md || grep -qF "| \`$verb\` |" doc/output.md || echo "$verb"
done | none "every verb is in the README or in doc/output.md"

for f in tests/t_*.c tests/t_*.cpp tests/t_*.sh $(sed -nE 's,^tests_(t_[a-z_]+)_SOURCES.*,tests/\1.c,p' Makefile.am); do
  name=${f##*/}
  grep -qE "\`(${name%.c*}|$name)\`" doc/testing.md || echo "$name"
done | none "every test is in doc/testing.md"

grep -oE '^HKV-[0-9]+|^ \*   HKV-[0-9]+' ref/hkv/layout.h | grep -oE 'HKV-[0-9]+' | tail -n 1 | while read -r last; do
  grep -q "HKV-1 to $last" doc/glossary.md || echo "the last invariant is $last"
done | none "the invariants are counted right"
operations=$(grep -c '^operations,' "$work/list")
{ grep -q "$operations operations" CHANGELOG.md || echo "there are $operations; CHANGELOG.md says otherwise"; } | none "the operations are counted right"

# ---- Code and screens -------------------------------------------------------------------------------------

# block PAGE KIND WORDS: the block that follows <!-- KIND: WORDS -->.
block() {
  awk -v mark="<!-- $2: $3 -->" '
    $0 == mark { armed = 1; next }
    armed && /^```/ { if (inside) exit; inside = 1; next }
    inside { print }' "$1"
}
marks() { sed -n "s/^<!-- $2: \(.*\) -->\$/\1/p" "$1"; }

for page in "${pages[@]}"; do
  marks "$page" file | grep '^examples/' | while read -r path; do # t_extend.sh has the other ones
    diff <(block "$page" file "$path") <(sed -n '/^#include/,$p' "$path") || echo "$page"
  done
done | none "the pages' code is the examples'"
for page in "${pages[@]}"; do
  marks "$page" excerpt | while read -r path; do
    block "$page" excerpt "$path" | awk -v page="$page: $path" '
      NR == FNR { want[n++] = $0; next }
      at < n { at = $0 == want[at] ? at + 1 : $0 == want[0] }
      END { if (!n || at < n) print page ": not there, line for line" }' - "$path"
  done
done | none "excerpts are in their files, line for line"
python3 doc/img/speed.py doc/img/speed.tsv 2>&1 | "$HEDDLE" plot 2>&1 | diff - doc/img/speed.svg | none "the README's plot is its table's"
{ python3 -B papers/associativity/run.py --plot papers/associativity/results.tsv "$work/plots" && diff -r papers/associativity/plots "$work/plots"; } 2>&1 |
  none "the plots of papers/associativity are its table's"
{ [ -n "$(marks README.md file)" ] && [ -n "$(marks README.md output)" ] || echo "no block is marked"; } | none "the README has code and screens"

# Figures of time: throughput and rates, times.
timeless() { sed -E 's/[0-9.]+ ([kMG]?\/s|[mun]?s)( |$)/-\2/g; s/ +/ /g; s/ +$//'; }
screen() { # PAGE COMMAND PROGRAM...
  local page=$1 command=$2
  shift 2
  block "$page" output "$command" | timeless >"$work/shown"
  (cd "$work" && LC_ALL=C.UTF-8 "$@" 2>&1) | timeless >"$work/printed"
  [ -s "$work/shown" ] || echo "nothing is shown"
  # every line that is shown, in order, among those printed
  awk 'BEGIN { n = at = 0 } NR == FNR { want[n++] = $0; next } at < n && $0 == want[at] { at++ } END { if (at < n) print "not printed: " want[at] }' "$work/shown" "$work/printed"
}
for page in "${pages[@]}"; do
  case $page in doc/extending.md | doc/security.md) continue ;; esac # t_extend.sh; columns of times
  marks "$page" output | while read -r command; do
    case $command in
    heddle*) read -r -a argument <<<"$command"; screen "$page" "$command" "$HEDDLE" "${argument[@]:1}" ;;
    examples/*)
      if [ -x "$top_builddir/$command" ]; then screen "$page" "$command" "$top_builddir/$command"
      elif [ ! -f "$command.cpp" ]; then echo "$page: $command is not built"; fi ;; # without a C++ compiler, those in C++ are not
    esac
  done
done | none "the pages' screens are what is printed"

# ---- JSON ---------------------------------------------------------------------------------------------------

# section SCHEMA: that part of doc/output.md.
section() { awk -v head="### \`$1\`" '$0 == head { inside = 1; next } /^###? / { inside = 0 } inside' doc/output.md; }
cat >"$work/keys.py" <<'END'
import json, sys
report = json.load(sys.stdin)
print(report.get("schema") or report["context"]["schema"])
keys = [k for k in report if k not in ("schema", "rows", "context", "benchmarks")]
for row in report.get("rows", [])[:1]: keys += row
for key in keys: print(key)
END
described() { # COMMAND...: every key of what it prints as JSON is in its schema's section
  "$HEDDLE" "$@" --json 2>"$work/words" | "$python" "$work/keys.py" >"$work/keys" 2>>"$work/words" || { echo "heddle $*: $(tail -n 1 "$work/words")"; return; }
  { read -r schema; section "$schema" >"$work/section"; echo "$schema" >>"$work/schemas"
    [ -s "$work/section" ] || echo "heddle $*: doc/output.md has no section $schema"
    while read -r key; do grep -qF "\`$key\`" "$work/section" || echo "$schema: $key"; done; } <"$work/keys"
}
python=$(command -v python3)
if [ -n "$python" ]; then
  here=$PWD
  printf '>tiny\nGATTACAGATTACA\n' >"$work/tiny.fa"
  cd "$work" || exit 1
  "$HEDDLE" gen uniform:50 --requests 2000 -o t.csv >/dev/null && "$HEDDLE" sim t.csv csv lru 20 --save t.heddle >/dev/null
  cd "$here" || exit 1
  printf '#!/bin/sh\ncd "%s" && exec "%s" "$@"\n' "$work" "$HEDDLE" >"$work/there" && chmod +x "$work/there" # it writes a file
  printf '#!/bin/sh\ncat "%s"\n' "$work/taxa.heddle.taxa" >"$work/taxa" && chmod +x "$work/taxa"
  awk -v out="$work" -f tests/puzzle_mutants.awk learn/puzzles/find/{wrong.txt,model.c}
  {
    described doctor
    described list policies
    described run hkv.mix.ref buckets=2 slots=4 batch=8x20 keys=uniform:20 judge=1
    described run --kernels hkv.find.ref buckets=2 slots=4 batch=8x2 keys=uniform:20
    described sched hkv.erase.tlpv1 batch=2x1 --replay 3:1,9:2
    described museum lfu_wraps
    described museum --list lfu_wraps
    described puzzle
    described puzzle find --hint
    described puzzle find "$work/wrong_last_slot.c"
    HEDDLE=$work/there described puzzle find
    described diff tlpv1 ref --case hkv.insert_and_evict
    described diff tlpv2 ref --random 5 --case 'hkv.insert_or_assign duplicate=300000 seed=4'
    described explain hkv.find.warp seed=5
    described explain hkv.insert_or_assign.ref seed=3
    described explain policy=lru
    described explain trace="$work/t.csv" bucket=1 buckets=2 skip=1
    described explain grow=hive seed=2
    described explain lock=group3
    described gen uniform:10 --requests 10 -o "$work/x.csv"
    described trace stat "$work/t.csv" csv --lenient
    described trace convert "$work/t.csv" csv "$work/y.txt" txt --lenient
    described trace print "$work/t.csv" csv
    described sim "$work/t.csv" csv lru 10%,20 --lenient --dual --admit always --seed 3
    described sim "$work/t.csv" csv,size=3 lru,full:random 20 --seeds 2
    described sim "$work/t.csv" csv full:belady 20 --every 500 --lenient
    described curve uniform:2000 -p full:lru,full:sieve --requests 5000 --sizes 50% --sample 60% --exact
    described sweep "$work/t.csv" csv --sizes 50%
    described sweep "$work/t.csv" csv --sizes 50% --seeds 2
    described sweep uniform:2000 -p full:lru,full:fifo --sizes 50% --sample 1/2 --backend host
    described sweep "$work/t.csv" csv --sizes 50% --every 500
    described sweep --load-factors 0.5 --capacity 4Ki
    "$HEDDLE" sweep uniform:50 --requests 2000 --sizes 50% --json >"$work/sweep.json" && described plot "$work/sweep.json"
    described kmer "$work/tiny.fa" 3 --lenient
    described kmer "$work/tiny.fa" 3 --design hive -o "$work/hive.heddle"
    described kmer "$work/tiny.fa" 3 --histogram --lenient
    described classify "$work/tiny.fa" "$work/tiny.fa" --k 3 --lenient
    described classify --build "$work/taxa.heddle" "$work/tiny.fa" --k 3 --lenient
    HEDDLE=$work/taxa described
    described bench --list
    described bench 'hkv.find.ref capacity=4Ki batch=256 threads=1' --repeat 1 --min-time 0.001
    described bench --backend ref find capacity=4Ki batch=64 dim=2 load=0.5 --repeat 1
    described bench --backend ref limits
    described bench --backend ref locks capacity=4Ki batch=64 batches=2 --repeat 1
    described bench cliffs find pattern=hits policy=lru mode=single capacity=1Ki batch=64
    described bench --backend ref growth capacity=4Ki to=8Ki batch=1Ki --repeat 1
    described inspect "$work/t.heddle"
    described inspect "$work/hive.heddle"
    "$HEDDLE" kmer "$work/tiny.fa" 3 --design sl -o "$work/sl.heddle" >/dev/null
    described inspect "$work/sl.heddle"
    described range "$work/t.heddle" 0 9
    "$HEDDLE" run ovs.insert_or_assign.ref capacity=1Ki batch=64x2 keys=uniform:90 file="$work/t.image" >/dev/null
    described recover "$work/t.image"
    described range "$work/sl.heddle"
    described check "$work/t.heddle"
    described fuzz case --runs 20 --seed 2
    "$HEDDLE" new predicate "$work/odd.h" >/dev/null
    described compile "$work/odd.h"
  } | none "doc/output.md describes every key of every verb"
  grep -ohE 'heddle\.[a-z.]+/[0-9]+' tools/*.c | sort -u | while read -r schema; do
    grep -qxF "$schema" "$work/schemas" || echo "$schema: no verb above printed it"
  done | none "every schema of the sources was looked at"
else
  skip "doc/output.md describes every key of every verb" "python3 is missing"
fi

# ---- Completion and the manual ------------------------------------------------------------------------------

# completes WANTED WORD...: WANTED is among what the last word may become.
completes() {
  local wanted=$1
  shift
  bash -c '
    source "$1"; compopt() { :; }; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _heddle; printf "%s\n" "${COMPREPLY[@]}"' - tools/completion/heddle.bash "$@" 2>&1 |
    grep -qxF -- "$wanted" || echo "${*:2}: $wanted is not offered"
}
{
  while read -r verb; do completes "$verb" "$HEDDLE" "${verb:0:1}"; done <"$work/verbs"
  completes policies "$HEDDLE" list po
  completes kernels "$HEDDLE" --with mine.h list ker
  completes --policies= "$HEDDLE" sweep --po
  completes slot_cas_only "$HEDDLE" museum slot_c
  completes publish "$HEDDLE" puzzle pub
  completes oracleGeneral "$HEDDLE" sim file o
  completes lru,lfu "$HEDDLE" sim file oracleGeneral lru,lf
  completes lru,full:belady "$HEDDLE" sim file oracleGeneral lru,full:b
  completes policy=epoch_lru "$HEDDLE" run policy=ep
  completes hkv.find_or_insert.ref "$HEDDLE" run hkv.find_or
} | none "completion completes verbs, options and names"

if [ -f "$top_builddir/man/heddle.1" ]; then
  while read -r verb; do
    grep -qiE "^\.SH \"?HEDDLE $verb" "$top_builddir/man/heddle.1" || echo "man/heddle.1 has no section on $verb"
  done <"$work/verbs" | none "the manual has a section on every verb"
  if command -v man >/dev/null && command -v groff >/dev/null; then
    man --warnings -l "$top_builddir/man/heddle.1" 2>&1 >/dev/null | none "man finds nothing to warn of"
  fi
else
  skip "the manual has a section on every verb" "no help2man when this was configured"
fi

finish
