#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh - the claims of the Hive paper, tested. `judge` holds what was measured, or what is kept of it, against claims.txt.
#
#   run.sh [--quick] [--out FOLDER] [--build FOLDER] [PART ...]        spread, code and judge, or those named
#
#   spread  results/spread.tsv: how every hash function of `heddle list hashes` shares out four kinds of keys; pairs.tsv: how every two of them do;
#           a minute; --quick: seconds, with few keys
#   code    results/sm_90.hashes.tsv: how many instructions each has on a GPU; wants nvcc (NVCC=...), no GPU
#   judge   verdicts.tsv, the tables of README.md, plots/*.svg
#
# --build is where heddle and papers/hive/spread were built (./build). --out is where results and pages go (here). Exit code 77: nothing could run.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
most=32Mi most_pairs=4Mi out=$here build=build GPU=${GPU:-nvidia-h200} parts=()
buckets=(4Ki 32Ki 1Mi) kinds=(sequential odd strided random)
say() { echo "run.sh: $*" >&2; }

spread() {
  local hash kind m file=$out/results/spread.tsv
  local -a hashes
  mapfile -t hashes < <("$build/heddle" list hashes --csv | sed 1d | cut -d, -f2)
  [ ${#hashes[@]} -gt 0 ] || { say "heddle lists no hashes"; return 1; }
  mkdir -p "$out/results"
  {
    echo "# papers/hive/run.sh spread; up to $most keys; $("$build/heddle" --version | head -n 1)"
    "$build/papers/hive/spread" head
    for m in "${buckets[@]}"; do "$build/papers/hive/spread" fill hash=chance keys=random buckets="$m" most="$most" || return 1; done
    for hash in "${hashes[@]}"; do
      for kind in "${kinds[@]}"; do
        for m in "${buckets[@]}"; do "$build/papers/hive/spread" fill hash="$hash" keys="$kind" buckets="$m" most="$most" || return 1; done
      done
    done
  } >"$file.part" || { say "spread failed"; return 1; }
  mv "$file.part" "$file"
  pairs "${hashes[@]}"
}

# pairs HASH...: each with itself and with those after it.
pairs() {
  local i k kind file=$out/results/pairs.tsv
  local -a name=("$@")
  pair() { for kind in "${kinds[@]}"; do "$build/papers/hive/spread" pair hash="$1" other="$2" keys="$kind" most="$most_pairs" || return 1; done; }
  {
    echo "# papers/hive/run.sh spread; $("$build/heddle" --version | head -n 1)"
    "$build/papers/hive/spread" head pair && pair chance chance || return 1
    for ((i = 0; i < $#; i++)); do
      for ((k = i; k < $#; k++)); do pair "${name[i]}" "${name[k]}" || return 1; done
    done
  } >"$file.part" || { say "spread failed"; return 1; }
  mv "$file.part" "$file"
}

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
  --quick) most=32Ki most_pairs=64Ki ;;
  --out) out=${2:?folder}; shift ;;
  --build) build=${2:?folder}; shift ;;
  spread | code | judge) parts+=("$1") ;;
  *) sed -n '3,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(spread code judge)
for part in "${parts[@]}"; do
  case $part in
  spread) build=$(cd "$build" && pwd) && spread || exit 1 ;;
  code)
    code
    failed=$?
    [ "$failed" = 0 ] || { [ "$failed" = 77 ] && [ ${#parts[@]} -gt 1 ]; } || exit "$failed"
    ;;
  judge) "$here/../judge.sh" hive --gpu "$GPU" --out "$out" || exit ;;
  esac
done
