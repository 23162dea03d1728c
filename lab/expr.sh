#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# expr.sh - measures what policy expressions cost.
#
#   expr.sh pack BUILD FOLDER     here, from a build with CUDA (configure --with-cuda-arch=90): compiles and packs the program
#   expr.sh run FOLDER OUT        there, on a machine with a GPU: OUT/expr.tsv; 77: no GPU
#   expr.sh cpu HEDDLE OUT        anywhere: OUT/expr_cpu.tsv, one core of backend ref; medians of pairs of runs
#
# Columns of expr.tsv: the row, the expressions that compute the same, the flags that were found for them, the operation,
# the share of hits, whether keys are distinct, items of a batch, 1e9 items/s of both, and their ratio.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

pack() {
  local build=$1 folder=$2 work
  work=$(mktemp -d) || return
  "$nvcc" -O2 -std=c++17 -arch=sm_90 -I"$here/../include" -I"$here/.." "$here/expression.cu" -o "$work/expression" \
    -L"$build/.libs" -lheddle || return
  LD_LIBRARY_PATH="$build/.libs" "$here/../build-aux/carry.sh" "$folder" "$work/expression" || return
  cp "${BASH_SOURCE[0]}" "$folder" && rm -r "$work"
}

run() {
  local folder=$1 out=$2
  ls /dev/nvidia0 >/dev/null 2>&1 || return 77
  mkdir -p "$out" && LD_LIBRARY_PATH="$folder/lib" "$folder/expression" >"$out/expr.tsv"
}

# One run's rate inside the table.
rate() { "$1" run "$2" --json | sed -n 's/.*"requests_per_s": \([0-9.]*\).*/\1/p'; }

cpu() {
  local heddle=$1 out=$2 row text op size shape k
  mkdir -p "$out"
  printf 'policy\texpression\toperation\tcapacity\trow_per_s\texpression_per_s\tratio\n' >"$out/expr_cpu.tsv"
  while read -r row text; do
    for op in insert_or_assign find_or_insert; do
      for size in 16Ki:64Ki:3000 1Mi:4Mi:1500; do
        IFS=: read -r capacity keys batches <<<"$size"
        shape="capacity=$capacity threads=1 batch=4096x$batches keys=zipf:0.9,$keys"
        for k in 1 2 3 4 5 6 7; do
          printf '%s\t%s\n' "$(rate "$heddle" "hkv.$op.ref policy=$row $shape")" "$(rate "$heddle" "hkv.$op.ref policy=$text $shape")"
        done | sort -g -t "$(printf '\t')" -k 1 | awk -v head="$row	$text	$op	$capacity" '
          { x[NR] = $1; y[NR] = $2; r[NR] = $2 / $1 }
          function median(v, n,    i, j, t) { for (i = 2; i <= n; i++) { t = v[i]; for (j = i - 1; j > 0 && v[j] > t; j--) v[j + 1] = v[j]; v[j + 1] = t } return v[int((n + 1) / 2)] }
          END { printf "%s\t%.0f\t%.0f\t%.3f\n", head, median(x, NR), median(y, NR), median(r, NR) }' >>"$out/expr_cpu.tsv"
      done
    done
  done <<'PAIRS'
lru expr:on_insert=max(now,now-1)
lfu expr:on_insert=given;on_hit=max(old+given,old);admission=MAX
epoch_lfu expr:on_insert=(epoch<<32)+min(given,0xffffffff);on_hit=(epoch<<32)+min(old%0x100000000+given,0xffffffff)
PAIRS
}

case ${1:-} in
pack | run | cpu) "$@" ;;
*) sed -n '3,12p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
