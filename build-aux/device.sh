#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# device.sh - everything that wants a GPU, on a machine that has one and nothing else, in calls of at most ten minutes.
#
#   device.sh pack BUILD FOLDER       from a build with CUDA (configure --with-cuda-arch=90; make; make check TESTS=): one archive, and this
#   device.sh check FOLDER OUT        there: the suites on the device, every kernel against the reference, compute-sanitizer. 5 to 9 minutes
#   device.sh measure FOLDER OUT      there: the bench's table, capacities, skewed, batches, counters. 6 to 9 minutes
#   device.sh soak FOLDER OUT [S]     there: sixteen threads and streams under every lock, S seconds (630). It runs in a session of its own: the
#                                     call ends after WAIT seconds (570) at the latest, and the same call again waits for the rest
#
# What comes back is one archive, OUT/PART.tgz. Exit code 77: there is no GPU. SECONDS_MOST (80 for a suite, 95 for a table),
# SECONDS_ALL (220 for the suites) and SECONDS_COUNTERS (195) keep each call within ten minutes.
# Then, here: bench/bench.sh keep; papers/hkv/results/GPU.check.tsv, .sanitizers.txt and .threads.txt are check/*.tsv and soak.txt, with the commit.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
locks='ordered group3 rw'

# Programs have the same kernels in them: one archive, which finds that, is a tenth of them.
pack() {
  local build=$1 folder=$2 all
  all=$(mktemp -d) || return
  "$here/../tests/cuda.sh" pack "$build" "$all/suites" >/dev/null &&
    "$here/../bench/bench.sh" pack "$build" "$all/bench" >/dev/null &&
    "$here/../gpu/hkv/run_device.sh" build "$all/kernels" && rm -f "$all"/kernels/*.o && strip "$all/kernels/run_device" &&
    cp "$here/../gpu/hkv/run_device.sh" "$all/kernels/" && mkdir -p "$folder" && cp "${BASH_SOURCE[0]}" "$folder/" &&
    tar -C "$all" -c . | xz -9 -T1 --lzma2=preset=9,dict=128MiB >"$folder/all.tar.xz"
  local code=$?
  rm -rf "$all"
  du -sh "$folder"
  return $code
}

# The archive, opened where this machine keeps what goes away.
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
  "$at/kernels/run_device.sh" run "$at/kernels" "$at/out/check" check sanitizers || code=$?
  bring check
  return $code
}

measure() {
  local code
  REPEAT=${REPEAT:-3} SECONDS_MOST=${SECONDS_MOST:-95} "$at/bench/bench.sh" run "$at/bench" "$at/out/measure" table capacities skewed batches
  code=$?
  SECONDS_MOST=${SECONDS_COUNTERS:-195} "$at/bench/bench.sh" run "$at/bench" "$at/out/measure" counters || code=$?
  bring measure
  return $code
}

soak() {
  local seconds=${1:-630} until=$((SECONDS + ${WAIT:-570})) to=$at/out/soak
  mkdir -p "$to"
  if [ ! -e "$to/started" ]; then
    touch "$to/started"
    # shellcheck disable=SC2016,SC2086 # words of the shell that is started; locks are words
    LD_LIBRARY_PATH="$at/suites/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" HEDDLE_TEST_BACKEND=cuda CMOCKA_MESSAGE_OUTPUT=TAP \
      setsid -f sh -c 'to=$1; shift; "$@" >"$to/soak.txt" 2>&1; echo $? >"$to/code"' sh "$to" "$at/suites/t_soak" --seconds "$seconds" $locks </dev/null >/dev/null 2>&1
  fi
  while [ ! -e "$to/code" ] && [ $SECONDS -lt $until ]; do sleep 1; done
  cut -c1-250 "$to/soak.txt"
  bring soak
  [ -e "$to/code" ] || { echo "it is still running: call again"; return 0; }
  return "$(cat "$to/code")"
}

part=${1:-}
case $part in
pack) pack "${2:?build}" "${3:?folder}" ;;
check | measure | soak)
  out=${3:?"device.sh $part FOLDER OUT"}
  open_pack "${2:?folder}" || { echo "device.sh: $2 cannot be opened" >&2; exit 4; }
  "$part" "${@:4}"
  ;;
*) sed -n '4,16s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
