#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh - the claims of the HierarchicalKV paper, tested. What a machine with a processor can say is measured by `cpu`, what needs a GPU by `gpu`; `judge`
# holds both, or what is kept of them, against claims.txt.
#
#   run.sh [--quick] [--out FOLDER] [--build FOLDER] [PART ...]        cpu, gpu and judge, or those named
#
#   cpu     results/cpu.tsv from experiments.txt: half an hour on one core; --quick: half a minute, with small tables
#   gpu     results/GPU.*.tsv by `heddle bench`; skipped where there is none: then the kept files of GPU (nvidia-h200) are judged
#   judge   verdicts.tsv, the tables of README.md, plots/*.svg
#   pack    FOLDER for a machine that has a GPU and nothing else: there, FOLDER/run.sh --build FOLDER --out OUT gpu
#
# --build is where heddle and papers/hkv/quality were built (./build); it has all rows when configured with
# CPPFLAGS=-DHKV_MORE=papers/hkv/nodigest.h. --out is where results and pages go (here). Exit code 77: nothing could run.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
quick='' out=$here build=build GPU=${GPU:-nvidia-h200} parts=()
say() { echo "run.sh: $*" >&2; }

# ---- The processor ----------------------------------------------------------------------------------------------------

# chosen LINE: with the choice of every A|B made.
chosen() { sed -E "s/([^ =]+)\|([^ ]+)/\\$((1 + ${#quick} / 5))/g" <<<"$1"; }

field() { sed -n "0,/^ *\"$1\":/s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p"; }

# one LINE: its results, as words, a tab, a number. 3: a kernel that this build has not.
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

# ---- The GPU -----------------------------------------------------------------------------------------------------------

# Each is a file results/GPU.PART.tsv: the words of heddle bench --backend cuda.
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

# ---- All of it ---------------------------------------------------------------------------------------------------------

while [ $# -gt 0 ]; do
  case $1 in
  --quick) quick=quick ;;
  --out) out=${2:?folder}; shift ;;
  --build) build=${2:?folder}; shift ;;
  cpu | gpu | judge) parts+=("$1") ;;
  pack) pack "${2:?folder}"; exit ;;
  *) sed -n '3,18s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
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
  judge) "$here/../judge.sh" hkv --gpu "$GPU" --out "$out" || exit ;;
  esac
done
