#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# device.sh - runs all tests and measurements that need a GPU, on a machine with a GPU, but no compiler or libraries,
# in calls of at most ten minutes. `pack` runs here, the other calls run there. Each writes one archive, OUT/PART.tgz.
#
#   device.sh pack BUILD FOLDER       makes one archive and a copy of this script, from a build with CUDA (configure
#                                     --with-cuda-arch=90; make; make check TESTS=)
#   device.sh check FOLDER OUT        the suites on the device, every kernel against the reference, compute-sanitizer.
#                                     5 to 9 minutes
#   device.sh measure FOLDER OUT      bench.sh: table, capacities, skewed, batches, counters. 6 to 9 minutes
#   device.sh hive_bench FOLDER OUT   bench.sh: the goals and the growth of Hive, the parts for papers/hive. 2 minutes
#   device.sh soak FOLDER OUT [S]     sixteen threads and streams under every lock, S seconds (630)
#   device.sh many FOLDER OUT [S]     about S seconds (840): a table of more than 2^31 slots, failing calls of the real
#                                     runtime, random batches judged on the device (judge/device), two tables at once
#   device.sh reach FOLDER OUT [S]    random batches until every variant has run 10^10 operations under every policy, or
#                                     for S seconds (540)
#   device.sh hive FOLDER OUT [S]     random batches of Hive in every shape that a variant supports, with growth and
#                                     shrinking, for S / 4 seconds (S: 200); then until every variant has run 10^10
#                                     operations in every layout at load factor 0.95, for at most the rest of S
#
# soak, many, reach and hive run in a session of their own. A call returns after WAIT seconds (570) at the latest; the
# same call again waits for the rest. Exit code 77: no GPU. SECONDS_MOST (80 for a suite, 95 for a table), SECONDS_ALL
# (220 for the suites) and SECONDS_COUNTERS (195) keep the other calls within ten minutes.
#
# Then, here, with the commit in each file: bench/bench.sh keep; copy check/*.tsv, soak.txt, many/*.tsv, reach/reach.tsv
# to papers/hkv/results/ as GPU.check.tsv, .sanitizers.txt, .threads.txt, .huge.tsv, .random.tsv and .reach.tsv; and
# hive/hive.*.tsv to papers/hive/results/ as GPU.agree.tsv and GPU.reach.tsv.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
locks='ordered group3 rw'

# The programs contain the same kernels, so one compressed archive has a tenth of their size.
pack() {
  local build=$1 folder=$2 all
  all=$(mktemp -d) || return
  "$here/../tests/cuda.sh" pack "$build" "$all/suites" >/dev/null &&
    "$here/../bench/bench.sh" pack "$build" "$all/bench" >/dev/null &&
    "$here/../bench/device/hkv_run.sh" build "$all/kernels" && rm -f "$all"/kernels/*.o && strip "$all"/kernels/{hkv_run,soak} &&
    cp "$here/../bench/device/hkv_run.sh" "$all/kernels/" && mkdir -p "$folder" && cp "${BASH_SOURCE[0]}" "$folder/" &&
    tar -C "$all" -c . | xz -9 -T1 --lzma2=preset=9,dict=128MiB >"$folder/all.tar.xz"
  local code=$?
  rm -rf "$all"
  du -sh "$folder"
  return $code
}

# Unpacks the archive into a temporary folder.
open_pack() {
  at=${TMPDIR:-/tmp}/heddle-device
  [ -e "$at/opened" ] && return
  mkdir -p "$at" && { xz -dc "$1/all.tar.xz" 2>/dev/null | tar -C "$at" -x 2>/dev/null ||
    python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1], "r:xz").extractall(sys.argv[2])' "$1/all.tar.xz" "$at"; } && touch "$at/opened"
}

# bring NAME: what is in $at/out/NAME, as OUT/NAME.tgz.
bring() { mkdir -p "$out" && tar -C "$at/out" -czf "$out/$1.tgz" "$1"; }

check() {
  local code
  SECONDS_ALL=${SECONDS_ALL:-220} "$at/suites/cuda.sh" run "$at/suites" "$at/out/check/suites"
  code=$?
  "$at/kernels/hkv_run.sh" run "$at/kernels" "$at/out/check" check sanitizers || code=$?
  bring check
  return $code
}

measure() {
  local code
  REPEAT=${REPEAT:-3} SECONDS_MOST=${SECONDS_MOST:-95} "$at/bench/bench.sh" run "$at/bench" "$at/out/measure" table capacities skewed batches
  code=$?
  SECONDS_MOST=${SECONDS_COUNTERS:-195} "$at/bench/bench.sh" run "$at/bench" "$at/out/measure" counters skewed_counters || code=$?
  bring measure
  return $code
}

hive_bench() {
  local code
  REPEAT=${REPEAT:-3} SECONDS_MOST=${SECONDS_MOST:-60} "$at/bench/bench.sh" run "$at/bench" "$at/out/hive_bench" \
    hive hive_growth hive_resize sizes loads hashes hashes3 paper_sizes paper_loads paper_resize
  code=$?
  bring hive_bench
  return $code
}

# aside NAME COMMAND...: starts the command once, in a new session; then waits for it, for at most WAIT seconds.
aside() {
  local name=$1 until=$((SECONDS + ${WAIT:-570})) to=$at/out/$1
  shift
  mkdir -p "$to"
  if [ ! -e "$to/started" ]; then
    touch "$to/started"
    # shellcheck disable=SC2016 # words of the shell that is started
    LD_LIBRARY_PATH="$at/suites/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" HEDDLE_TEST_BACKEND=cuda CMOCKA_MESSAGE_OUTPUT=TAP \
      setsid -f sh -c 'to=$1 name=$2; shift 2; "$@" >"$to/$name.txt" 2>&1; echo $? >"$to/code"' sh "$to" "$name" "$@" </dev/null >/dev/null 2>&1
  fi
  while [ ! -e "$to/code" ] && [ $SECONDS -lt $until ]; do sleep 1; done
  cut -c1-250 "$to/$name.txt"
  bring "$name"
  [ -e "$to/code" ] || { echo "it is still running: call again"; return 0; }
  return "$(cat "$to/code")"
}

# shellcheck disable=SC2086 # locks are words
soak() { aside soak "$at/suites/t_soak" --seconds "${1:-630}" $locks; }

# From a copy of this script: the next call may bring another.
many() { cp "${BASH_SOURCE[0]}" "$at/device.sh" && aside many bash "$at/device.sh" many_now "$at" "${1:-840}"; }

many_now() {
  local at=$1 end=$((SECONDS + $2)) to=$1/out/many code=0 left
  "$at/kernels/hkv_run.sh" run "$at/kernels" "$to" huge || code=$?
  (cd "$to" && HEDDLE_TEST_SCALE=${SCALE_FAULTS:-1/2} timeout -k 5 "${SECONDS_FAULTS:-180}" "$at/suites/t_device_faults" >faults.txt 2>&1) || code=$?
  grep -E '^(# tried|ok|not ok)' "$to/faults.txt"
  left=$((end - SECONDS > 80 ? end - SECONDS : 80))
  SECONDS_RANDOM=$((left * 3 / 4)) SECONDS_TWO=$((left / 4)) "$at/kernels/hkv_run.sh" run "$at/kernels" "$to" random two || code=$?
  sums 'FILENAME' "$to/random.tsv" "$to/two.tsv" | sed 's|.*/||'
  return $code
}

# sums KEY FILE...: totals of soaks, grouped by the awk expression KEY.
sums() {
  local key=$1
  shift
  awk -F '\t' '$1 == "verdict" { for (c = 1; c <= NF; c++) at[$c] = c }
    $1 == "ok" || $1 == "WRONG" { k = '"$key"'; n[k]++; wrong[k] += $1 == "WRONG"; items[k] += $at["by_variant"]; batches[k] += $at["batches"] }
    END { for (k in n) printf "%s: %d tables, %d wrong, %.4g operations by the variant, %d batches\n", k, n[k], wrong[k], items[k], batches[k] }' "$@" | sort
}

reach() {
  local code
  SECONDS_REACH=${1:-540} aside reach bash "$at/kernels/hkv_run.sh" run "$at/kernels" "$at/out/reach" reach
  code=$?
  # shellcheck disable=SC2016 # words of awk
  sums '$2 " " $3' "$at/out/reach/reach.tsv"
  return $code
}

hive() {
  local code
  SECONDS_AGREE=$((${1:-200} / 4)) SECONDS_REACH=$((${1:-200} * 3 / 4)) aside hive bash "$at/kernels/hkv_run.sh" run "$at/kernels" "$at/out/hive" hive.agree hive.reach
  code=$?
  # shellcheck disable=SC2016 # words of awk
  sums 'FILENAME " " $2 " " $3' "$at"/out/hive/hive.*.tsv | sed 's|.*/||'
  return $code
}

part=${1:-}
case $part in
pack) pack "${2:?build}" "${3:?folder}" ;;
many_now) many_now "$2" "$3" ;;
check | measure | hive_bench | soak | many | reach | hive)
  out=${3:?"device.sh $part FOLDER OUT"}
  open_pack "${2:?folder}" || { echo "device.sh: $2 cannot be opened" >&2; exit 4; }
  "$part" "${@:4}"
  ;;
*) sed -n '4,31s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
