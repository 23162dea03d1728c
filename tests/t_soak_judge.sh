# SPDX-License-Identifier: Apache-2.0
#
# t_soak_judge.sh - what judges kernels on a device (gpu/soak) is tried out on this machine: it agrees with the reference, and with the kernels on
# the host machine, and bugs of the museum do not get past it.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
of() { sed -n "s/^$1 = //p" "$top_builddir/Makefile"; }
read -ra cc <<<"$(of CC) $(of CFLAGS) $(of HD_SANITIZE) $(of OPENMP_CFLAGS)"
read -ra libs <<<"$(of LDFLAGS) $(of XXHASH_LIBS) $(of ZSTD_LIBS) $(of ZLIB_LIBS) $(of JANSSON_LIBS) $(of CUDA_LIBS) $(of LIBS) -lstdc++ -lpthread"
archives=$top_builddir/.libs
flags=("-I$top_srcdir" "-I$top_srcdir/include")
echo 'int main() {}' | "${cc[@]}" -x c++ -std=c++17 -o "$work/empty" - -lstdc++ 2>/dev/null || { echo "1..0 # SKIP no C++ compiler"; exit 77; }

build() {
  "${cc[@]}" -x c++ -std=c++17 -O1 -Wall -Wextra -Wconversion -Werror "${flags[@]}" -c -o "$work/soak.o" "$top_srcdir/gpu/soak/soak.cu" &&
    "${cc[@]}" "${flags[@]}" -c -o "$work/bug.o" "$top_srcdir/tests/soak_bug.c" &&
    "${cc[@]}" -o "$work/soak" "$work/soak.o" "$work/bug.o" -Wl,--whole-archive "$archives/libheddle_museum.a" -Wl,--no-whole-archive \
      "$archives/libheddle_work.a" "$archives/libheddle_all.a" "${libs[@]}"
}
try "it is built as C++, without a warning" build
[ "$failed" = 0 ] || finish

export SEED=7
words=$work/words
# clean NAME LINES WORDS...: so many rows at least, none of them wrong.
clean() {
  local name=$1 lines=$2 backend=$3 code
  shift 3
  BACKEND=$backend timeout 150 "$work/soak" "$@" >"$words" 2>&1
  code=$?
  if [ $code = 0 ] && [ "$(grep -c '^ok' "$words")" -ge "$lines" ] && ! grep -q WRONG "$words"; then pass "$name"; else fail "$name" "exit $code"; fi
}
clean "random batches: it agrees with the reference" 8 ref random 5 gather
operations=$(awk -F '\t' '$1 == "ok" { n += $11 } END { print n + 0 }' "$words")
clean "and with every variant on the host machine" 8 host random 10
operations=$((operations + $(awk -F '\t' '$1 == "ok" { n += $11 } END { print n + 0 }' "$words")))
clean "two tables at once" 2 host two 2 tlpv1 warp
clean "a table that is known by its numbers" 19 host huge gather
clean "so many operations by every variant under every policy" 26 host reach 10000 100
if ! grep -q '^# short' "$words"; then pass "and none is short"; else fail "but some are short" ""; fi
operations=$((operations + $(awk -F '\t' '$1 == "ok" { n += $11 } END { print n + 0 }' "$words")))
clean "who is short is told of" 1 host reach 1e15 1 warp
if [ "$(grep -c '^# short: warp under .* of 1e+15' "$words")" = 5 ]; then pass "each by its name"; else fail "not each by its name" ""; fi
tried device-judge "$operations" "items in random batches, judged as on a device"

# found BUG WORDS...: with the bug it says WRONG.
found() {
  local bug=$1 code
  shift
  MUSEUM_BUG=$bug BACKEND=host timeout 60 "$work/soak" "$@" >"$words" 2>&1
  code=$?
  if [ $code = 1 ] && grep -q '^WRONG' "$words"; then pass "$bug is found"; else fail "$bug is not found" "exit $code"; fi
}
found evicted_score random 4 tlpv1
found hole_unseen random 4 tlpv1
found export_before random 4 tlpv1
found epoch_of_thread random 4 tlpv1
found counters_shared random 2 tlpv1
finish
