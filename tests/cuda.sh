#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# cuda.sh - runs the tests with tables in GPU memory on a machine that has a GPU, but no compiler and no libraries.
#
#   cuda.sh pack BUILD FOLDER   here, from a build with CUDA: the programs, their libraries, this script
#   cuda.sh run FOLDER OUT      there: each program; OUT/NAME.log, and a table. 0: passed or skipped; 77: all skipped
# SECONDS_MOST is the limit of each program (80), SECONDS_ALL of all programs (220). pack includes the trace that some
# programs replay, if HEDDLE_DATA has it.
set -u

# program and HEDDLE_TEST_SCALE
programs='t_backend:1 t_graph:1 t_hashes:1/4 t_kernels:1/4 t_random:1/16 t_api:1 t_misuse:1/16 t_walk:1 t_accum:1 t_lanes:1 t_lru:1 t_policies:1/4 t_grow:1/4 t_snapshot:1/8 t_device:1/4 t_soak:1 t_tiers:1/2 streams:1'
longer='t_device_faults t_pairs' # packed, but not run: it takes long

pack() {
  local build folder=$2 p
  build=$(cd "$1" && pwd) || return # ldd prints paths as they are given
  local -a path
  for p in $programs $longer; do
    case $p in
    streams:*) path+=("$build/examples/.libs/streams") ;; # linked with the shared library, as a user's would be
    *) path+=("$build/tests/${p%%:*}") ;;
    esac
  done
  LD_LIBRARY_PATH="$build/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    "$(dirname "$0")/../build-aux/carry.sh" "$folder" "${path[@]}" && cp "${BASH_SOURCE[0]}" "$folder/" || return
  p=${HEDDLE_DATA:-}/cloudPhysicsIO.oracleGeneral.zst
  [ ! -r "$p" ] || { mkdir -p "$folder/data" && cp -L "$p" "$folder/data/"; }
  du -sh "$folder"
}

run() {
  local folder=$1 out=$2 p scale name start seconds most code passed failed skipped all=0 some=0
  mkdir -p "$out" && folder=$(cd "$folder" && pwd) || return
  export LD_LIBRARY_PATH="$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" HEDDLE_TEST_BACKEND=cuda CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C.UTF-8
  [ -d "$folder/data" ] && export HEDDLE_DATA=$folder/data
  printf '%-14s %6s %6s %7s %8s\n' program passed failed skipped seconds
  for p in $programs; do
    name=${p%%:*}
    scale=${p#*:}
    start=$EPOCHREALTIME
    most=$((${SECONDS_ALL:-220} - SECONDS < ${SECONDS_MOST:-80} ? ${SECONDS_ALL:-220} - SECONDS : ${SECONDS_MOST:-80}))
    [ $most -ge 1 ] || most=1
    (cd "$out" && HEDDLE_TEST_SCALE=$scale timeout -k 5 $most "$folder/$name" >"$name.log" 2>&1)
    code=$?
    seconds=$(awk "BEGIN { printf \"%.1f\", ${EPOCHREALTIME/,/.} - ${start/,/.} }")
    read -r passed failed skipped < <(awk '/^ok / { p++ } /^not ok .*# SKIP/ { s++; next } /^not ok / { f++ } END { print p + 0, f + 0, s + 0 }' "$out/$name.log")
    [ $code = 77 ] && skipped=all || some=1
    [ $code != 0 ] && [ $code != 77 ] && [ "$failed" = 0 ] && failed="$([ $code = 124 ] && echo time || echo "exit $code")"
    [ "$failed" = 0 ] || all=1
    printf '%-14s %6s %6s %7s %8s\n' "$name" "$passed" "$failed" "$skipped" "$seconds"
    [ "$failed" = 0 ] || grep -E -B6 '^not ok' "$out/$name.log" | grep -vE 'SKIP|^ok' | cut -c1-300 | head -n 20
  done
  [ $some = 1 ] || return 77
  return $all
}

case ${1:-} in
pack) pack "${2:?build}" "${3:?folder}" ;;
run) run "${2:?folder}" "${3:?out}" ;;
*) sed -n '4,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
