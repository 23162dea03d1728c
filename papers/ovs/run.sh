#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh - tests the claims of the oversubscription paper: runs the models, and compares new or recorded results with
# claims.txt.
#
#   run.sh [--quick] [--out FOLDER] [--build FOLDER] [PART ...]        all parts: pages, chunks, judge; or some
#
#   pages   results/pages.tsv: pages of hash tables that each input touches; probes.tsv: probe sequences of small tables.
#           Ten minutes; with --quick seconds: every second line at the smallest scale, and fewer probes
#   chunks  results/chunks.tsv: chunks and pages of skip lists. Ten minutes; with --quick seconds
#   locks   results/locks.tsv: lock attempts per lock of the list's inserts, of 32 warps on the host machine, which
#           tests/t_gfsl_agree counts; it is built by make check. Seconds
#   gpu     results/GPU.rates.tsv: times of the tables and lists that the paper compares (rates.cu). Three minutes, with
#           24 GiB of host memory; with --quick seconds. results/GPU.gfsl.tsv: the same of the paper's list, part gfsl.
#           PARTS="gfsl near": only these; a file without any is left alone. Without a GPU the recorded files of GPU
#           (nvidia-h200) are judged
#   judge   verdicts.tsv, the tables of README.md, plots/*.svg
#   pack    FOLDER for a machine with a GPU, from a build with CUDA: there, FOLDER/run.sh --build FOLDER --out OUT gpu
#
# --build: the folder in which heddle, papers/ovs/pages and chunks were built (./build). --out: the folder for results
# and pages (here). Exit code 77: gpu alone, and there is none.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$here build=build quick=false GPU=${GPU:-nvidia-h200} parts=()
say() { echo "run.sh: $*" >&2; }

kinds=(mi du dr su sr sur dul zz) some=(mi su sr)
sizes=(2000 2500 3000 3500 4000) list_sizes=(1250 1500 1750 2000 2250 2500)
# The paper's two designs, and what it has not: one table, whose batches are sorted by the slot.
hinted='table=one far=remote' two='table=two sort=range batch=1000' by_hash='table=one sort=hash batch=1000'

pages_lines() {
  local scale kind keys way load group inner batch
  for scale in 1024 512 256 128; do
    for way in "$hinted" 'table=one' "$two" "$by_hash"; do echo "$way kind=su scale=$scale"; done
    for way in "$two" "$by_hash"; do echo "$way kind=du scale=$scale"; done
  done
  for kind in "${kinds[@]}"; do
    for keys in 2500 4000; do for way in "$hinted" "$two" "$by_hash"; do echo "$way kind=$kind keys=$keys"; done; done
  done
  for kind in "${some[@]}"; do
    for keys in "${sizes[@]}"; do for way in "$hinted" "$two" "$by_hash"; do echo "$way kind=$kind keys=$keys"; done; done
  done
  for kind in mi su; do
    for keys in 1500 "${sizes[@]}"; do echo "table=one kind=$kind keys=$keys"; done
    for keys in 1500 4000; do echo "table=one kind=$kind op=find keys=$keys"; done
  done
  for kind in du su; do # the control of Figure 12
    for way in sort=none sort=key sort=hash; do for batch in 100 1000; do echo "table=one kind=$kind $way batch=$batch"; done; done
  done
  for load in 0.9 0.99 0.999; do echo "table=one op=miss keys=10 load=$load"; done
  for scale in 1024 256; do echo "table=two sort=range kind=du range=artifact op=miss keys=200 hold=2000 scale=$scale"; done
  for kind in du su; do
    for group in 4 8 32; do for way in "$hinted" "$two"; do echo "$way kind=$kind group=$group"; done; done
    for inner in 12 15 18 22; do echo "$two kind=$kind inner=$inner"; done
    for batch in 100 500; do echo "table=two sort=range kind=$kind batch=$batch"; done
  done
  for way in recent=use prefetch=0; do
    echo "table=one kind=su $way"
    for kind in su du; do echo "$two kind=$kind $way"; done
  done
}

chunks_lines() {
  local scale kind keys sort
  for scale in 1024 512 256 128; do
    for keys in 1250 2500; do for sort in none key; do echo "kind=su sort=$sort keys=$keys scale=$scale"; done; done
  done
  for keys in "${list_sizes[@]}"; do for way in sort=none sort=key table=two; do echo "kind=su $way keys=$keys"; done; done
  for kind in du mi; do
    for keys in 1250 2500; do for way in sort=none sort=key table=two; do echo "kind=$kind $way keys=$keys"; done; done
  done
  for kind in su du mi; do
    for sort in none key; do
      echo "kind=$kind sort=$sort raise=least"
      for keys in 1250 2500; do echo "kind=$kind op=erase sort=$sort keys=$keys scale=1024"; done
    done
    echo "table=two kind=$kind keys=4000"
  done
  for keys in 2000 2500; do for sort in none key; do echo "kind=su sort=$sort keys=$keys index=near"; done; done
  for way in recent=use prefetch=0; do for sort in none key; do echo "kind=su sort=$sort scale=1024 $way"; done; done
}

# table NAME: results/NAME.tsv, a line of the program for each line of input; lines that come again are left out.
table() {
  local program=$build/papers/ovs/$1 file=$out/results/$1.tsv words
  mkdir -p "$out/results"
  {
    echo "# papers/ovs/run.sh $1; $("$build/heddle" --version | head -n 1)"
    "$program" head
    while read -r words; do
      # shellcheck disable=SC2086 # words
      "$program" run $words || { say "$1 $words failed"; exit 1; }
    done < <(if $quick; then grep scale=1024 | awk 'NR % 2'; else cat; fi) | awk '!seen[$0]++'
  } >"$file.part" || return 1
  mv "$file.part" "$file"
}

probes() {
  local file=$out/results/probes.tsv group
  {
    echo "# papers/ovs/run.sh pages; $("$build/heddle" --version | head -n 1)"
    printf 'group\tstep\ttables\tmissed\tlatest\n'
    for group in 1 4 16; do
      if $quick && [ "$group" != 16 ]; then continue; fi
      "$build/papers/ovs/pages" probe group="$group" || return 1
    done
  } >"$file.part" || return 1
  mv "$file.part" "$file"
}

locks() {
  local file=$out/results/locks.tsv
  mkdir -p "$out/results"
  {
    echo "# papers/ovs/run.sh locks; $("$build/heddle" --version | head -n 1)"
    printf 'kind\tattempts\n'
    HEDDLE_TEST_ONLY=increasing_keys_contend "$build/tests/t_gfsl_agree" |
      sed -n 's/^# lock attempts per lock: \([0-9.]*\) for keys anywhere, \([0-9.]*\) for keys that increase$/su\t\1\nmi\t\2/p'
  } >"$file.part" && [ "$(wc -l <"$file.part")" = 4 ] && mv "$file.part" "$file"
}

# ---- The GPU ---------------------------------------------------------------------------------------------------------

# Parts (PARTS: only these) of rates.cu, and slots of their tables: of 8 bytes, and half of them in host memory. Part gfsl
# has a table of its own.
list_part=gfsl:134217728
gpu_parts=(near:1073741824 sorted:1073741824 batches:2147483648 segments:268435456 lists:268435456 kmers:536870912)

chosen() { [[ " ${PARTS:-${1%:*}} " = *" ${1%:*} "* ]]; }
# rate PART:SLOTS [SLOTS]: runs the part, with --quick for so many slots.
rate() {
  if $quick; then set -- "${1%:*}:${2:-67108864}"; fi
  "$build/rates" "${1%:*}" "${1#*:}" || { say "rates ${1%:*} failed"; return 1; }
}
measured() { echo "# papers/ovs/run.sh gpu; $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1); commit $(cat "$build/commit")"; }

gpu() {
  local part parts=() file=$out/results/$GPU.rates.tsv lists=$out/results/$GPU.gfsl.tsv
  nvidia-smi -L >/dev/null 2>&1 || { say "there is no GPU here: what is kept of $GPU is judged"; return 77; }
  mkdir -p "$out/results"
  for part in "${gpu_parts[@]}"; do if chosen "$part"; then parts+=("$part"); fi; done
  if [ ${#parts[@]} -gt 0 ]; then
    {
      measured
      printf 'part\tnear\tsegment\tentries\tkernel\twhat\tpresent\titems\tms\trate\twrong\n'
      for part in "${parts[@]}"; do rate "$part" || return 1; done
    } >"$file.part" && mv "$file.part" "$file" || return 1
  fi
  chosen "$list_part" || return 0
  { measured && rate "$list_part" 1048576; } >"$lists.part" && mv "$lists.part" "$lists"
}

pack() {
  local nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)} root=$here/../..
  mkdir -p "$1" && cp "${BASH_SOURCE[0]}" "$1" &&
    git -C "$root" describe --always --dirty >"$1/commit" &&
    "$nvcc" -O2 -std=c++17 -arch=sm_90 -I"$root" -I"$root/include" -I"$here" "$here/rates.cu" -o "$1/rates" \
      "$build"/.libs/libheddle_{gfsl,all}.a -Xcompiler -fopenmp -Xlinker --gc-sections && strip "$1/rates" && du -sh "$1"
}

while [ $# -gt 0 ]; do
  case $1 in
  --quick) quick=true ;;
  --out) out=${2:?folder}; shift ;;
  --build) build=${2:?folder}; shift ;;
  pages | chunks | locks | gpu | judge) parts+=("$1") ;;
  pack) pack "${2:?folder}"; exit ;;
  *) sed -n '4,25s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(pages chunks locks gpu judge)
for part in "${parts[@]}"; do
  case $part in
  pages) build=$(cd "$build" && pwd) && pages_lines | table pages && probes || exit 1 ;;
  chunks) build=$(cd "$build" && pwd) && chunks_lines | table chunks || exit 1 ;;
  locks) build=$(cd "$build" && pwd) && locks || exit 1 ;;
  gpu)
    gpu
    code=$?
    [ "$code" = 0 ] || { [ "$code" = 77 ] && [ ${#parts[@]} -gt 1 ]; } || exit "$code"
    ;;
  judge) HEDDLE=${HEDDLE:-$build/heddle} python3 "$here/judge.py" --gpu "$GPU" --out "$out" || exit ;;
  esac
done
