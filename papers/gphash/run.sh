#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh - tests the claims of the GPHash paper: measures, and compares new or recorded results with claims.txt.
#
#   run.sh [--quick] [--out FOLDER] [--build FOLDER] [PART ...]        all parts, or some of these:
#
#   load       results/load.tsv: load factors of the reference, by shape, size and number of growths
#   touched    results/touched.tsv: what operations touch on the host machine
#   places     results/fixed.tsv, places.tsv: whether growth has room for each entry
#   caches     results/caches.tsv: hits of lookups by Zipf's law in caches of three policies
#   schedules  results/schedules.tsv: schedules of the kernel, judged item by item
#   crashes    results/crashes.tsv: crashes of the kernel, and the same without each repair
#   judge      verdicts.tsv, the tables of README.md, plots/*.svg
#
# All takes two minutes. --quick: seconds, with few rows. --build: the folder in which heddle and papers/gphash/* were
# built (./build). --out: the folder for results and pages (here).
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
out=$here build=build parts=() quick=false fixtures=20 schedules=2000
say() { echo "run.sh: $*" >&2; }

# record NAME COMMAND...: the command's output becomes results/NAME.tsv.
record() {
  local file=$out/results/$1.tsv
  mkdir -p "$out/results"
  { echo "# papers/gphash/run.sh; $("$build/heddle" --version | head -n 1)" && "${@:2}"; } >"$file.part" || { say "$1 failed"; return 1; }
  mv "$file.part" "$file"
}

# each PROGRAM MODE: a row for each line of words on standard input.
each() {
  local words
  "$build/papers/gphash/$1" head "$2" || return 1
  # shellcheck disable=SC2086 # words
  while read -r words; do "$build/papers/gphash/$1" "$2" $words || return 1; done
}

shapes=('1 1 32' '1 2 16' '1 4 8' '2 1 16' '2 2 8' '2 4 4' '4 1 8' '4 2 4' '4 4 2' '8 1 4' '8 2 2' '8 4 1')
shape() { read -r levels hashes slots <<<"$1" && echo "levels=$levels hashes=$hashes slots=$slots"; }

load() {
  local s size
  if $quick; then echo 'grown=2'; return; fi
  for s in "${shapes[@]}"; do echo "$(shape "$s") grown=5"; done
  for size in 3072 196608 1572864 6291456; do echo "capacity=$size"; done
}

touched() {
  local s
  echo 'capacity=3072 keys=200'
  for s in 'key=32' 'key=128' 'key=8 heap=1 bits=16' 'key=32 heap=1 bits=16' 'key=128 heap=1 bits=16' 'key=32 bits=0' 'key=128 bits=0' 'key=128 bits=4'; do
    echo "capacity=3072 keys=200 $s"
  done
  if $quick; then return; fi
  echo 'capacity=12288 keys=200'
  echo 'capacity=3072 keys=200 layout=inline value=8'
  for s in "${shapes[@]}"; do echo "$(shape "$s") capacity=3072 load=0.5 keys=200"; done
}

places() {
  local places=$build/papers/gphash/places s keys=4 tables=20000
  if $quick; then keys=3 tables=1000; fi
  "$places" head all && "$places" all levels=1 slots=1 bottom=2 keys="$keys" || return 1
  for s in '1 2 16' '2 2 8' '4 2 4'; do
    # shellcheck disable=SC2046 # words
    "$places" drawn $(shape "$s") bottom=2 tables="$tables" && "$places" chosen $(shape "$s") bottom=6 || return 1
  done
}
fixed() { "$build/papers/gphash/places" head fixed && "$build/papers/gphash/places" fixed; }

caches() {
  local requests=1000000
  if $quick; then requests=10000; fi
  printf 'policy\tpercent\trequests\thits\n'
  "$build/heddle" sweep zipf:0.99,65536 --requests "$requests" -p full:lfu,full:lru,full:random --sizes 10%,40% --csv |
    awk -F, -v OFS='\t' 'NR > 1 { sub("full:", "", $1); sub("%", "", $2); print $1, $2, $6, $6 - $7; n++ } END { exit n != 6 }'
}

# ---- Schedules and crashes -------------------------------------------------------------------------------------------

one='gphash.insert_or_assign.warp capacity=6 value=12 batch=5x1 keys=uniform:4'
mixed='gphash.mixed.warp capacity=6 value=12 batch=6x1 keys=uniform:2 duplicate=300000'
inline='gphash.mixed.warp capacity=6 batch=6x1 keys=uniform:60 duplicate=300000'
sweep='gphash.erase_if.warp capacity=6 value=12 batch=5x1 keys=uniform:4'
cases=("$one" "$mixed" "$inline" "$sweep")
fact() { sed -n 's/^ *"'"$1"'": \([a-z0-9]*\),*$/\1/p' <<<"$2"; }

schedules() {
  local way case said
  printf 'case\tway\tschedules\tdistinct\texhausted\tbugs\n'
  for way in '' --weak '--strategy search --unit warp --bound 1'; do
    for case in "$mixed" "$inline" 'gphash.mixed.warp capacity=6 value=12 batch=2x1 keys=uniform:1'; do
      [[ $way != *search* || $case = *uniform:1 ]] || continue
      # shellcheck disable=SC2086 # words
      said=$("$build/heddle" sched "$case" $way --schedules "$schedules" --json) || { say "sched $case failed"; return 1; }
      printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$case" "${way:-random}" "$(fact schedules "$said")" "$(fact distinct "$said")" "$(fact exhausted "$said")" "$(fact bugs "$said")"
    done
  done
}

# lines WORD: FILE:LINE, function and number of each call of the word in gpu/gphash/: that of its calls in the function.
lines() {
  awk -v word="$1" '/^SIMT_FN/ { match($0, /gphash_[a-z_]*\(/); name = substr($0, RSTART, RLENGTH - 1) }
    name && index($0, word "(") { f = FILENAME; sub(/.*\//, "", f); print f ":" FNR, name, ++times[name] }' "$top"/gpu/gphash/*.h
}

# crash NAME WORDS...: all cases; the row says NAME.
crash() { "$build/papers/gphash/crashes" run "${cases[@]}" "${@:2}" fixtures="$fixtures" 2>/dev/null | awk -F'\t' -v name="$1" 'BEGIN { OFS = FS } { $1 = name; print; n++ } END { exit !n }'; }

crashes() {
  local line name n waits
  waits=waits=$(lines simt_backoff | sed -n 's/ gphash_announce 1$//p')
  "$build/papers/gphash/crashes" head && crash nothing "$waits" || return 1
  for name in look levels values cells; do crash "$name" without="$name" || return 1; done
  if $quick; then return; fi
  while read -r line name n; do crash "fence $n of $name" without="$line" || return 1; done < <(lines simt_fence_system)
}

while [ $# -gt 0 ]; do
  case $1 in
  --quick) quick=true fixtures=2 schedules=10 ;;
  --out) out=${2:?folder}; shift ;;
  --build) build=${2:?folder}; shift ;;
  load | touched | places | caches | schedules | crashes | judge) parts+=("$1") ;;
  *) sed -n '4,19s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(load touched places caches schedules crashes judge)
build=$(cd "$build" && pwd) || exit
for part in "${parts[@]}"; do
  case $part in
  load | touched) record "$part" each counts "$part" < <("$part") || exit 1 ;;
  places) record fixed fixed && record places places || exit 1 ;;
  caches | schedules | crashes) record "$part" "$part" || exit 1 ;;
  judge) HEDDLE=${HEDDLE:-$build/heddle} python3 "$here/judge.py" --out "$out" || exit ;;
  esac
done
