#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh - tests the claims of the HierarchicalKV paper: measures, and compares new or recorded results with claims.txt.
#
#   run.sh [--quick] [--out FOLDER] [--build FOLDER] [PART ...]        all parts: cpu, gpu, judge; or some
#
#   cpu     results/cpu.tsv from experiments.txt: half an hour on one core; --quick: half a minute, with small tables
#   gpu     results/GPU.*.tsv by `heddle bench`. Without a GPU the recorded files of GPU (nvidia-h200) are judged
#   judge   verdicts.tsv, the tables of README.md, plots/*.svg
#   pack    FOLDER for a machine with a GPU, but without libraries: there, FOLDER/run.sh --build FOLDER --out OUT gpu
#
# --build: the folder in which heddle and papers/hkv/quality were built (./build). A build with all rows is configured
# with CPPFLAGS=-DHKV_MORE=papers/hkv/nodigest.h. --out: the folder for results and pages (here). Exit code 77: nothing
# could run.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
quick='' out=$here build=build GPU=${GPU:-nvidia-h200} parts=()
say() { echo "run.sh: $*" >&2; }

# ---- The processor ---------------------------------------------------------------------------------------------------

# chosen LINE: the line with each A|B replaced: by B if --quick, else by A.
chosen() { sed -E "s/([^ =]+)\|([^ ]+)/\\$((1 + ${#quick} / 5))/g" <<<"$1"; }

field() { sed -n "0,/^ *\"$1\":/s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p"; }

# one LINE: prints its results: words, a tab, a number. Status 3: this build lacks the kernel.
one() {
  local -a word
  local json
  read -r -a word <<<"$1"
  case ${word[0]} in
  quality) "$build/papers/hkv/quality" "${word[@]:1}" | sed 's/^/quality /' ;;
  places)
    [[ $1 != *nodigest* ]] || "$build/heddle" list kernels | grep '^nodigest' >/dev/null || return 3
    "$build/papers/hkv/places" "${word[@]:1}" | sed 's/^/places /'
    ;;
  run) json=$("$build/heddle" "${word[@]}" --json) && printf '%s\t%d\n' "$1" "$([ "$(field wrong <<<"$json")" = null ] || echo 1)" ;;
  sched) json=$("$build/heddle" "${word[@]}" --json); printf '%s\t%d\n' "$1" "$(field bugs <<<"$json")" ;;
  list) printf '%s\t%d\n' "$1" "$("$build/heddle" "${word[@]}" --csv | sed 1d | grep -c .)" ;;
  *) say "$1: there is no program ${word[0]}"; return 2 ;;
  esac
}

cpu() {
  local line code file=$out/results/cpu.tsv
  mkdir -p "$out/results"
  echo "# papers/hkv/run.sh ${quick:+--quick }cpu; $("$build/heddle" --version | head -n 1)" >"$file.part"
  grep -v '^#' "$here/experiments.txt" | while read -r line; do
    line=$(chosen "$line")
    one "$line" >>"$file.part"
    code=$?
    [ "$code" = 0 ] || [ "$code" = 3 ] || { say "failed: $line"; return 1; }
    [ "$code" = 0 ] || say "left out, no such kernel in $build: $line"
  done || return 1
  mv "$file.part" "$file"
}

# ---- The GPU ---------------------------------------------------------------------------------------------------------

# Each part is a file results/GPU.PART.tsv. words PART: the arguments of heddle bench --backend cuda.
gpu_parts=(ablation eviction loads)
words() {
  case $1 in
  ablation) echo find layout=planes variant=tlpv1,nodigest dim=8,32,64 load=0.5,1 hits=0,1 mode=queue ;;
  eviction) echo insert_or_assign layout=planes variant=tlpv1,tlpv2,pipeline,warp dim=8,32,64 load=0.5,1 hits=0 mode=queue ;;
  loads) echo find find_ptr insert_or_assign dim=32 load=0.25,0.5,0.75,1 hits=0,1 mode=queue ;;
  esac
}

gpu() {
  local part code worst=0 heddle=$build/heddle
  local -a word
  mkdir -p "$out/results"
  [ ! -d "$build/lib" ] || export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  for part in "${gpu_parts[@]}"; do
    read -r -a word < <(words "$part")
    timeout -k 5 "${SECONDS_MOST:-150}" "$heddle" bench --backend cuda "${word[@]}" ${quick:+--repeat 1} -o "$out/results/$GPU.$part.tsv" >&2
    code=$?
    [ "$code" != 77 ] || { say "there is no GPU here: what is kept of $GPU is judged"; return 77; }
    [ "$code" = 0 ] || { say "$part: exit code $code"; worst=1; }
  done
  return "$worst"
}

pack() {
  "$here/../../build-aux/carry.sh" "$1" "$build/heddle" && cp "${BASH_SOURCE[0]}" "$1/" && du -sh "$1"
}

# ---- All of it -------------------------------------------------------------------------------------------------------

while [ $# -gt 0 ]; do
  case $1 in
  --quick) quick=quick ;;
  --out) out=${2:?folder}; shift ;;
  --build) build=${2:?folder}; shift ;;
  cpu | gpu | judge) parts+=("$1") ;;
  pack) pack "${2:?folder}"; exit ;;
  *) sed -n '4,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(cpu gpu judge)
for part in "${parts[@]}"; do
  [ "$part" = judge ] || build=$(cd "$build" && pwd) || exit 2
  case $part in
  cpu) cpu || exit 1 ;;
  gpu)
    gpu
    code=$?
    [ "$code" = 0 ] || { [ "$code" = 77 ] && [ ${#parts[@]} -gt 1 ]; } || exit "$code"
    ;;
  judge) HEDDLE=${HEDDLE:-$build/heddle} python3 "$here/judge.py" --gpu "$GPU" --out "$out" || exit ;;
  esac
done
