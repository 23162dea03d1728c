#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# matrix.sh [NAME...] - runs the test suite in several builds, each configured out of tree in a separate folder. It
# prints one row per build. `make check-matrix MATRIX='asan-gcc tsan'` chooses builds; the default is all. A build whose
# tools are missing is skipped, and its row says so. In the end the script compares the results that the builds computed
# for the same cases and seeds (HEDDLE_SAME): they must be equal.
#
#   gcc         the default build                        clang       the same with another compiler
#   debug       no optimisation                          verify      --enable-verify: checks promises and invariants
#   nothread    without OpenMP
#   asan-gcc    address, undefined, leaks                asan-clang  the same with another compiler
#   valgrind    test programs, memcheck, fewer rounds    tsan        test programs, clang: races
#   msan        test programs of the core, clang, no OpenMP: uninitialised memory. Tests that read JSON are left out:
#               jansson is not instrumented, so the sanitizer takes what it writes for uninitialised
#   cppcheck, clang-tidy, fanalyzer, shellcheck          static analysis without a build: tests/analyse.sh
#
# MATRIX_KEEP=1 keeps the folders. MATRIX_JOBS is make's -j; the default is the number of processors.
set -u
unset MAKEFLAGS MAKELEVEL MFLAGS TESTS
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-matrix.XXXXXX")
jobs=${MATRIX_JOBS:-$(nproc)}
trap '[ -n "${MATRIX_KEEP:-}" ] && echo "kept: $work" || rm -rf "$work"' EXIT
[ -x "$top/configure" ] || { echo "matrix.sh: no configure; run autogen.sh first" >&2; exit 2; }

first() { local name; for name; do command -v "$name" && return; done; }
gcc=$(first gcc-12 gcc)
clang=$(first clang-14 clang)
core=$(printf 'tests/%s ' t_accept t_accum t_alloc t_allocator t_api t_backend t_calls t_case t_damage t_device t_device_faults t_dictionary t_graph t_grow t_growing t_hash t_hive t_judge_memory t_kernels t_lock_streams \
  t_lock_word t_locks t_lru t_machine t_misuse t_oracle t_poison t_policies t_random t_reshape t_simt t_small t_snapshot t_tables_hive t_tables_hkv t_threads t_tiers t_readers t_trace t_trace_csv t_verdicts t_walk)
programs="TESTS=\$(check_PROGRAMS)"
memcheck="valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite"

# setting NAME: sets the compiler, the options of configure, the arguments of make check, and the required program.
setting() {
  cc=$gcc configure=() check=() environment=() want=$gcc
  case $1 in
  gcc) configure=(--enable-werror) ;;
  clang) cc=$clang configure=(--enable-werror) want=$clang ;;
  debug) configure=(CFLAGS='-g -O0') ;;
  verify) configure=(--enable-verify) ;;
  nothread) configure=(--disable-openmp) ;;
  asan-gcc | asan-clang)
    [ "$1" = asan-gcc ] || cc=$clang want=$clang
    configure=(--enable-verify '--enable-sanitize=address,undefined' CFLAGS='-g -O1')
    environment=(LSAN_OPTIONS="suppressions=$top/tests/leaks.txt:print_suppressions=0")
    ;;
  valgrind)
    configure=(CFLAGS='-g -O2')
    check=("$programs" TEST_RUNNER="$memcheck")
    environment=(HEDDLE_TEST_SECONDS=7200 HEDDLE_TEST_SCALE=1/16 OMP_NUM_THREADS=2)
    want=$(first valgrind)
    ;;
  tsan)
    cc=$clang configure=(--enable-sanitize=thread CFLAGS='-g -O1') check=("$programs")
    environment=(TSAN_OPTIONS=ignore_noninstrumented_modules=1:allocator_may_return_null=1 HEDDLE_TEST_SECONDS=7200)
    want=$clang
    ;;
  msan)
    cc=$clang want=$clang configure=('--enable-sanitize=memory' --disable-openmp CFLAGS='-g -O1') check=("TESTS=$core")
    environment=(MSAN_OPTIONS=allocator_may_return_null=1 HEDDLE_TEST_SECONDS=7200)
    ;;
  cppcheck | clang-tidy | shellcheck) want=$(first "$1") ;;
  fanalyzer) ;;
  *) echo "matrix.sh: there is no build '$1'; there are: ${all[*]}" >&2; exit 2 ;;
  esac
}

all=(gcc clang debug verify nothread asan-gcc asan-clang valgrind tsan msan cppcheck clang-tidy fanalyzer shellcheck)
[ $# -gt 0 ] || set -- "${all[@]}"
for name; do setting "$name"; done

build_of() { basename "$(dirname "$(dirname "$1")")"; }
row() { printf '%-12s %8s %8s %8s %8s  %s\n' "$@"; }
row build passed failed skipped seconds ""
code=0
for name; do
  setting "$name"
  if [ -z "$want" ]; then row "$name" - - - - "skipped: its compiler or tool is missing"; continue; fi
  mkdir "$work/$name" "$work/$name/same"
  start=$SECONDS
  case $name in
  cppcheck | clang-tidy | fanalyzer | shellcheck)
    note=
    GCC=$gcc "$top/tests/analyse.sh" "$name" >"$work/$name/log" 2>&1 || code=1 note="it has reports"
    row "$name" - "$(sed -n '$s/.*, \([0-9]*\) reports$/\1/p' "$work/$name/log")" - $((SECONDS - start)) "$note"
    [ -z "$note" ] || head -n 20 "$work/$name/log" | sed 's/^/    /'
    continue
    ;;
  esac
  note=
  if ! (cd "$work/$name" && "$top/configure" -q --with-cuda=no CC="$cc" "${configure[@]}") >"$work/$name/log" 2>&1; then
    note="configure failed"
  elif ! make -C "$work/$name" -j"$jobs" >>"$work/$name/log" 2>&1 ||
       ! make -C "$work/$name" -j"$jobs" check TESTS= >>"$work/$name/log" 2>&1; then
    note="make failed"
  else
    env HEDDLE_SAME="$work/$name/same" "${environment[@]}" \
      make -C "$work/$name" -k -j"$jobs" check "${check[@]}" >>"$work/$name/log" 2>&1 || note="make check failed"
  fi
  read -r passed failed skipped < <(find "$work/$name" -name '*.trs' -exec cat {} + | awk '
    /^:test-result: (PASS|XFAIL)/ { p++ } /^:test-result: (FAIL|XPASS|ERROR)/ { f++ } /^:test-result: SKIP/ { s++ }
    END { print p + 0, f + 0, s + 0 }')
  row "$name" "$passed" "$failed" "$skipped" $((SECONDS - start)) "$note"
  if [ -n "$note" ]; then
    code=1
    grep -hE '^(FAIL|XPASS|ERROR): |error:|warning:' "$work/$name/log" | head -n 20 | sed 's/^/    /'
    cp "$work/$name/log" "$(pwd)/matrix-$name.log" && echo "    all of it: matrix-$name.log"
  fi
done

# Compares the files of HEDDLE_SAME. A file counts in the builds that ran its test.
for said in $(find "$work"/*/same -type f -size +0 -printf "%f\n" 2>/dev/null | sort -u); do
  mapfile -t same < <(find "$work"/*/same -name "$said" -size +0 | sort)
  differ=0
  for other in "${same[@]:1}"; do
    cmp -s "${same[0]}" "$other" && continue
    code=1 differ=1
    echo "$said differ between $(build_of "${same[0]}") and $(build_of "$other"):"
    diff "${same[0]}" "$other" | head -n 10 | sed 's/^/    /'
  done
  [ ${#same[@]} -lt 2 ] || [ $differ != 0 ] || echo "$said of ${#same[@]} builds are the same, byte for byte"
done
exit $code
