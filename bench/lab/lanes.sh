#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# lanes.sh - exact caches in lanes of a GPU (heddle sweep --backend cuda): whether their misses are those of the CPU, and
# how long 16,384 caches take over 10^9 requests sampled 1/64.
#
#   lanes.sh pack BUILD FOLDER    here, from a build with CUDA (configure --with-cuda-arch=90; make heddle tests/t_lanes)
#   lanes.sh run FOLDER OUT       there, on a machine with a GPU: OUT/lanes.tsv, also printed. about 4 minutes; 77: no GPU
#
# REQUESTS (1000000000) and SIZES (3277, of each of five policies) make the last row smaller. WIDTH: its --lane-width.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
all=full:lru,full:fifo,full:clock,full:sieve,full:s3fifo
more=$all,full:slru,full:2q,full:arc

pack() { "$here/../../build-aux/carry.sh" "$2" "$1/heddle" "$1/tests/t_lanes" && cp "${BASH_SOURCE[0]}" "$2/"; }

# The rows of caches without their rates.
rows() { "$heddle" sweep "$@" | sed 's/[^,]*\(,[0-9]*\)$/\1/'; }

# same NAME OPTION...: the rows of the GPU are those of the CPU.
same() {
  local name=$1
  shift
  rows "$@" --backend cuda >"$out/cuda.csv" && rows "$@" --backend ref >"$out/ref.csv" || return
  if cmp -s "$out/cuda.csv" "$out/ref.csv"; then
    echo "$name: $(($(wc -l <"$out/ref.csv") - 1)) caches agree"
  else
    echo "$name: THEY DIFFER"
    diff "$out/cuda.csv" "$out/ref.csv" | head -n 6
    return 1
  fi
}

# timed WHAT POLICIES REQUESTS SIZES [OPTION...]: a row of lanes.tsv.
timed() {
  local what=$1 policies=$2 requests=$3 sizes=$4 key
  shift 4
  "$heddle" sweep zipf:1,64Mi --requests "$requests" --sample 1/64 -p "$policies" --sizes "64Ki..16Mi:$sizes" \
    --backend cuda --json "$@" >"$out/$what.json" || return
  { printf '%s' "$what"
    for key in lanes unsampled lane_width lane_groups lane_bytes read_s lanes_s lane_requests_per_s; do
      printf '\t%s' "$(grep -o -m 1 "\"$key\": *[^,}]*" "$out/$what.json" | sed 's/.*: *//')"
    done
    echo; } | tee -a "$out/lanes.tsv"
}

run() {
  local code=0 policy width
  mkdir -p "$2" && heddle=$(cd "$1" && pwd)/heddle && out=$(cd "$2" && pwd) || return
  export LD_LIBRARY_PATH="$1/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  "$heddle" sweep zipf:1,10 --requests 10 -p full:lru --sizes 2 --backend cuda >"$out/first.csv" || return 77
  HEDDLE_TEST_BACKEND=cuda CMOCKA_MESSAGE_OUTPUT=TAP "$1/t_lanes" || code=1
  same 'all requests' zipf:0.9,200k --requests 2000000 -p $more --sizes 64..200k:60 || code=1
  same 'a sample' zipf:0.99,4Mi --requests 16000000 -p $more --sizes 4Ki..2Mi:60 --sample 1/16 --warmup 1000000 || code=1
  printf 'what\tcaches\tunsampled\twidth\tgroups\tbytes\tread_s\tlanes_s\trequests_per_s\n' | tee "$out/lanes.tsv"
  for policy in lru fifo clock sieve s3fifo slru 2q arc; do timed $policy full:$policy 32000000 16384 || code=1; done
  for width in 1 2 4 8 16 32; do timed "width$width" $all 32000000 3277 --lane-width $width || code=1; done
  timed whole $all "${REQUESTS:-1000000000}" "${SIZES:-3277}" ${WIDTH:+--lane-width "$WIDTH"} || code=1
  return $code
}

case ${1:-} in
pack) pack "${2:?build}" "${3:?folder}" ;;
run) run "${2:?folder}" "${3:?out}" ;;
*) sed -n '4,10s/^# *//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
