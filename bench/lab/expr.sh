#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# expr.sh - measures what policy expressions cost.
#
#   expr.sh pack BUILD FOLDER     here, from a build with CUDA (configure --with-cuda-arch=90): compiles and packs the program
#   expr.sh run FOLDER OUT        there, on a machine with a GPU: OUT/expr.tsv; 77: no GPU
#   expr.sh run FOLDER OUT policies   likewise OUT/policies.tsv: policies whose kernels are compiled apart, beside lru
#   expr.sh cpu HEDDLE OUT        anywhere: OUT/expr_cpu.tsv, one core of backend ref: processor time per item
#
# Columns of expr.tsv: the row, expressions that compute the same or like scores, the flags that were found for them, the operation,
# the share of hits, whether keys are distinct, items of a batch, 1e9 items/s of both, and their ratio.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

pack() {
  local build=$1 folder=$2 work
  work=$(mktemp -d) || return
  "$nvcc" -O2 -std=c++17 -arch=sm_90 -I"$here/../../include" -I"$here/../.." "$here/expression.cu" -o "$work/expression" \
    -L"$build/.libs" -lheddle || return
  LD_LIBRARY_PATH="$build/.libs" "$here/../../build-aux/carry.sh" "$folder" "$work/expression" || return
  cp "${BASH_SOURCE[0]}" "$folder" && rm -r "$work"
}

run() {
  local folder=$1 out=$2 what=${3:-}
  ls /dev/nvidia0 >/dev/null 2>&1 || return 77
  mkdir -p "$out" && LD_LIBRARY_PATH="$folder/lib" "$folder/expression" $what >"$out/${what:-expr}.tsv"
}

# Processor time per item, in ns: the median of a call's repetitions.
ns_of() {
  "$1" bench "$2" --repeat 5 --min-time 0.1 --json 2>/dev/null | sed -n 's/.*"cpu_time": \([0-9.]*\).*/\1/p' | sort -g | sed -n 3p
}

# Both in turn, seven times: the medians, and the median of the ratios.
in_turn() {
  local k
  for k in 1 2 3 4 5 6 7; do printf '%s %s\n' "$(ns_of "$1" "$2")" "$(ns_of "$1" "$3")"; done |
    awk '{ printf "%.1f %.1f %.3f\n", $1, $2, $2 / $1 }' >"$4"
  for k in 1 2 3; do printf '\t%s' "$(cut -d ' ' -f $k "$4" | sort -g | sed -n 4p)"; done
}

cpu() {
  local heddle=$1 out=$2 row text op size capacity keys shape work
  mkdir -p "$out"
  work=$(mktemp)
  printf 'policy\texpression\toperation\tcapacity\trow_ns\texpression_ns\tratio\n' >"$out/expr_cpu.tsv"
  while read -r row text; do
    for op in insert_or_assign find_or_insert; do
      for size in 16Ki:64Ki 1Mi:4Mi; do
        IFS=: read -r capacity keys <<<"$size"
        shape="capacity=$capacity threads=1 batch=4096 keys=zipf:0.9,$keys"
        printf '%s\t%s\t%s\t%s%s\n' "$row" "$text" "$op" "$capacity" \
          "$(in_turn "$heddle" "hkv.$op.ref policy=$row $shape" "hkv.$op.ref policy=$text $shape" "$work")" >>"$out/expr_cpu.tsv"
      done
    done
  done <<'PAIRS'
lru expr:on_insert=now;on_hit=now+1000
lfu expr:on_insert=given;on_hit=min(old+given,1000000);admission=MAX
epoch_lfu expr:on_insert=(epoch<<32)+min(given,0xffffffff);on_hit=(epoch<<32)+min(old%0x100000000+given,0xffffffff)
PAIRS
  rm "$work"
}

case ${1:-} in
pack | run | cpu) "$@" ;;
*) sed -n '3,12p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
