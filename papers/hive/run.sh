#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh - tests the claims of the Hive paper: measures, and compares new or recorded results with claims.txt.
#
#   run.sh [--quick] [--out FOLDER] [--build FOLDER] [PART ...]        all parts: spread, counts, code, judge; or some
#
#   spread  results/spread.tsv: how evenly each hash function of `heddle list hashes` spreads four kinds of keys;
#           pairs.tsv: the same for each two of them; the rows that judge.py uses. A minute; with --quick seconds, with
#           few keys, and every row
#   counts  results/touched.tsv, steps.tsv, full.tsv, grow.tsv, schedules.tsv: what Hive's operations do, on the host
#           machine and in the reference. Half a minute
#   code    results/sm_90.hashes.tsv: the instructions of each hash function on a GPU; needs nvcc (NVCC=...), no GPU
#   judge   verdicts.tsv, the tables of README.md, plots/*.svg
#   used    no part of all: copies from standard input to standard output those rows of spread.tsv or pairs.tsv
#
# Results of a GPU come from one call of build-aux/device.sh hive_bench; bench/bench.sh keep puts them into results/.
# --build: the folder in which heddle, papers/hive/spread and counts were built (./build). --out: the folder for results
# and pages (here). Exit code 77: nothing could run.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
most=32Mi most_pairs=4Mi most_full=256Ki runs=300 keys=500 out=$here build=build GPU=${GPU:-nvidia-h200} parts=() few=used kept='the rows that judge.py uses'
buckets=(4Ki 32Ki 1Mi) kinds=(sequential odd strided random) capacities=(4Ki 16Ki)
say() { echo "run.sh: $*" >&2; }

# used: of the rows of spread.tsv or pairs.tsv those that judge.py uses. The plot shows the collisions in 1 Mi buckets of
# six functions; the tables have each function's worst row of each pattern, if chance has 25 collisions there.
used() {
  awk -F'\t' '
    function worst(what, value) { if (!(what in most) || value > most[what]) { most[what] = value; at[what] = NR } }
    { row[NR] = $0 }
    /^#/ || $4 == "n" { kept[NR]; next }
    NF == 6 { worst($1 FS $2 FS $3, $6 + 0); next }
    $6 < 25 { next }
    $3 == 1048576 && $1 ~ /^(crc32|crc64|city32|murmur3|bithash[12])$/ { kept[NR] }
    {
      of = $1 FS $2
      worst(of " above", $9 + 0); worst(of " loads", $10 + 0); worst(of " csr", -$8)
      if ($4 >= 16 * $3) worst(of " full", $8 > 1 ? $8 - 1 : 1 - $8)
      if ($1 == "chance") { worst(of " below", -$9); worst(of " even", -$10) }
    }
    END {
      for (what in at) kept[at[what]]
      for (i = 1; i <= NR; i++) if (i in kept) print row[i]
    }'
}

spread() {
  local hash kind m file=$out/results/spread.tsv
  local -a hashes
  mapfile -t hashes < <("$build/heddle" list hashes --csv | sed 1d | cut -d, -f2)
  [ ${#hashes[@]} -gt 0 ] || { say "heddle lists no hashes"; return 1; }
  mkdir -p "$out/results"
  {
    echo "# papers/hive/run.sh spread; up to $most keys; $kept; $("$build/heddle" --version | head -n 1)"
    "$build/papers/hive/spread" head
    for m in "${buckets[@]}"; do "$build/papers/hive/spread" fill hash=chance keys=random buckets="$m" most="$most" || return 1; done
    for hash in "${hashes[@]}"; do
      for kind in "${kinds[@]}"; do
        for m in "${buckets[@]}"; do "$build/papers/hive/spread" fill hash="$hash" keys="$kind" buckets="$m" most="$most" || return 1; done
      done
    done
  } >"$file.part" || { say "spread failed"; return 1; }
  $few <"$file.part" >"$file" && rm "$file.part"
  pairs "${hashes[@]}"
}

# pairs HASH...: each with itself and with those after it.
pairs() {
  local i k kind file=$out/results/pairs.tsv
  local -a name=("$@")
  pair() { for kind in "${kinds[@]}"; do "$build/papers/hive/spread" pair hash="$1" other="$2" keys="$kind" most="$most_pairs" || return 1; done; }
  {
    echo "# papers/hive/run.sh spread; $kept; $("$build/heddle" --version | head -n 1)"
    "$build/papers/hive/spread" head pair && pair chance chance || return 1
    for ((i = 0; i < $#; i++)); do
      for ((k = i; k < $#; k++)); do pair "${name[i]}" "${name[k]}" || return 1; done
    done
  } >"$file.part" || { say "spread failed"; return 1; }
  $few <"$file.part" >"$file" && rm "$file.part"
}

# table MODE: a file of one mode of counts, a line for each line of words on standard input.
table() {
  local file=$out/results/$1.tsv words
  {
    echo "# papers/hive/run.sh counts; $("$build/heddle" --version | head -n 1)"
    "$build/papers/hive/counts" head "$1"
    # shellcheck disable=SC2086 # words
    while read -r words; do "$build/papers/hive/counts" "$1" $words || return 1; done
  } >"$file.part" || { say "counts $1 failed"; return 1; }
  mv "$file.part" "$file"
}

# The paper's mapping, with none of what is added here; and the usual one.
paper='kernel=wabc slots=32 layout=masks spare=0' usual='kernel=tile slots=16 layout=words'

counts() {
  local capacity load way
  mkdir -p "$out/results"
  for way in "$paper" "$usual"; do
    for load in 0.5 0.9; do
      for capacity in "${capacities[@]}"; do echo "$way load=$load capacity=$capacity keys=$keys"; done
    done
    echo "$way value=2 load=0.5 capacity=${capacities[0]} keys=$keys"
  done | table touched || return 1
  for way in "$paper" "$usual"; do
    for load in 0.55 0.65 0.75 0.85 0.9 0.95 0.97; do echo "$way load=$load capacity=${capacities[1]} keys=$keys"; done
  done | { cat; for way in "$paper" "${paper% *}" "$usual"; do echo "$way whole=1 load=0.95 capacity=${capacities[0]}"; done; } | table steps || return 1
  for way in 'slots=32 layout=masks spare=0' 'slots=32 layout=masks' 'slots=16 layout=words' 'slots=8 layout=words' 'slots=32 layout=masks hashes=3'; do
    echo "$way capacity=$most_full"
  done | table full || return 1
  for way in "$paper" "$usual"; do echo "$way capacity=${capacities[0]}"; done | table grow || return 1
  schedules
}

# Cases under random schedules, each judged item by item; also where the memory is weak.
schedules() {
  local file=$out/results/schedules.tsv case said
  {
    echo "# papers/hive/run.sh counts; $("$build/heddle" --version | head -n 1)"
    printf 'case\tschedules\tdistinct\tbugs\n'
    for case in 'hive.insert_or_assign.wabc buckets=4 slots=32 layout=masks batch=6x1 keys=uniform:30' 'hive.mixed.wabc buckets=4 slots=32 layout=masks batch=6x1 keys=uniform:60' \
      'hive.insert_or_assign.tile buckets=2 slots=8 batch=8x1 keys=uniform:30' 'hive.mixed.tile buckets=2 slots=8 batch=8x1 keys=uniform:40'; do
      said=$("$build/heddle" sched "$case" --schedules "$runs" --json) || { say "sched $case failed"; return 1; }
      printf '%s\t%s\t%s\t%s\n' "$case" "$(fact schedules "$said")" "$(fact distinct "$said")" "$(fact bugs "$said")"
    done
  } >"$file.part" || return 1
  mv "$file.part" "$file"
}
fact() { sed -n 's/^ *"'"$1"'": \([0-9]*\),*$/\1/p' <<<"$2"; }

code() {
  local nvcc=${NVCC:-nvcc} work file=$out/results/sm_90.hashes.tsv
  command -v "$nvcc" >/dev/null || nvcc=/usr/local/cuda/bin/nvcc
  command -v "$nvcc" >/dev/null || { say "there is no nvcc: what is kept of the machine code is judged"; return 77; }
  work=$(mktemp -d) || return 1
  mkdir -p "$out/results"
  "$nvcc" -std=c++17 -O3 -arch=sm_90 -I"$top" -cubin -o "$work/hashes.cubin" "$top/tests/machine_code_hashes.cu" &&
    { echo "# papers/hive/run.sh code; $("$nvcc" --version | sed -n 's/.*release [0-9.]*, /nvcc /p')" && python3 "$top/tools/sass.py" list "$work/hashes.cubin"; } >"$file.part" &&
    mv "$file.part" "$file"
  local failed=$?
  rm -rf "$work"
  return "$failed"
}

while [ $# -gt 0 ]; do
  case $1 in
  --quick) most=32Ki most_pairs=64Ki most_full=4Ki runs=10 keys=100 capacities=(1Ki 2Ki) few=cat kept='every row' ;;
  --out) out=${2:?folder}; shift ;;
  --build) build=${2:?folder}; shift ;;
  used) used; exit ;;
  spread | counts | code | judge) parts+=("$1") ;;
  *) sed -n '4,20s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(spread counts code judge)
for part in "${parts[@]}"; do
  case $part in
  spread | counts) build=$(cd "$build" && pwd) && "$part" || exit 1 ;;
  code)
    code
    failed=$?
    [ "$failed" = 0 ] || { [ "$failed" = 77 ] && [ ${#parts[@]} -gt 1 ]; } || exit "$failed"
    ;;
  judge) HEDDLE=${HEDDLE:-$build/heddle} python3 "$here/judge.py" --gpu "$GPU" --out "$out" || exit ;;
  esac
done
