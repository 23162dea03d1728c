# SPDX-License-Identifier: Apache-2.0
#
# t_soak_judge.sh - tests of the judge of kernels on a device (judge/device), on this machine: it accepts the references
# and the kernels on the host machine, and finds every lie and every bug of the museum that it is given.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
of() { sed -n "s/^$1 = //p" "$top_builddir/Makefile"; }
read -ra cc <<<"$(of CC) $(of CFLAGS) $(of HD_SANITIZE) $(of OPENMP_CFLAGS)"
read -ra libs <<<"$(of LDFLAGS) $(of XXHASH_LIBS) $(of ZSTD_LIBS) $(of ZLIB_LIBS) $(of JANSSON_LIBS) $(of CUDA_LIBS) $(of LIBS) -lstdc++ -lpthread"
[[ $(of HD_COVERAGE) != *--coverage* ]] || libs+=(--coverage) # the library's objects count
archives=$top_builddir/.libs
flags=("-I$top_srcdir" "-I$top_srcdir/include")
echo 'int main() {}' | "${cc[@]}" -x c++ -std=c++17 -o "$work/empty" - -lstdc++ 2>/dev/null || { echo "1..0 # SKIP no C++ compiler"; exit 77; }

build() {
  "${cc[@]}" -x c++ -std=c++17 -O1 -Wall -Wextra -Wconversion -Werror "${flags[@]}" -c -o "$work/soak.o" "$top_srcdir/judge/device/soak.cu" &&
    "${cc[@]}" "${flags[@]}" -c -o "$work/bug.o" "$top_srcdir/tests/soak_bug.c" &&
    "${cc[@]}" "${flags[@]}" -c -o "$work/lies.o" "$top_srcdir/tests/soak_lies.c" &&
    "${cc[@]}" -o "$work/soak" "$work/soak.o" "$work/bug.o" "$work/lies.o" -Wl,--wrap=hd_run -Wl,--whole-archive "$archives/libheddle_museum.a" -Wl,--no-whole-archive \
      "$archives/libheddle_gfsl.a" "$archives/libheddle_work.a" "$archives/libheddle_all.a" "${libs[@]}"
}
try "it is built as C++, without a warning" build
[ "$failed" = 0 ] || finish

# BATCHES and SEED determine what a run does: 300 seconds are only a limit.
export SEED=7 BATCHES
words=$work/words
# Where nothing is found: batches of the reference, on the host machine, and operations of a variant.
if [ -n "${HEDDLE_TEST_LONG:-}" ]; then clean_ref=128 clean_host=16 reach=10000; else clean_ref=24 clean_host=3 reach=2000; fi
batches_of() { if [ "$1" = ref ]; then BATCHES=$2; else BATCHES=$3; fi; } # BACKEND OF-REF ON-HOST
# clean NAME LINES BACKEND WORDS...: at least LINES rows, and none is wrong.
clean() {
  local name=$1 lines=$2 backend=$3 code
  shift 3
  batches_of "$backend" $clean_ref $clean_host
  BACKEND=$backend guard "$work/soak" "$@" >"$words" 2>&1
  code=$?
  if [ $code = 0 ] && [ "$(grep -c '^ok' "$words")" -ge "$lines" ] && ! grep -q WRONG "$words"; then pass "$name"; else fail "$name" "exit $code"; fi
}
clean "random batches: it agrees with the reference" 43 ref random 300 coalesced
operations=$(awk -F '\t' '$1 == "ok" { n += $11 } END { print n + 0 }' "$words")
variants=(coalesced) rows=43 # in long runs every one
[ -z "${HEDDLE_TEST_LONG:-}" ] || variants=() rows=258
clean "and with variants on the host machine" $rows host random 300 "${variants[@]}"
operations=$((operations + $(awk -F '\t' '$1 == "ok" { n += $11 } END { print n + 0 }' "$words")))
clean "two tables at once" 20 host two 300 tlpv1
clean "a table that is known by its numbers" 19 host huge coalesced
refused() { BACKEND=ref guard "$work/soak" random 1 nothing >"$words" 2>&1; [ $? = 2 ] && grep -q nothing "$words"; }
try "there is no such variant" refused
clean "so many operations by every variant under every policy" 26 host reach $reach 600
if ! grep -q '^# short' "$words"; then pass "and none is short"; else fail "but some are short" ""; fi
operations=$((operations + $(awk -F '\t' '$1 == "ok" { n += $11 } END { print n + 0 }' "$words")))
clean "who is short is told of" 1 host reach 1e15 1 warp
if [ "$(grep -c '^# short: warp under .* of 1e+15' "$words")" = "$(grep -c '^#include' "$top_srcdir/policies/registry.inc")" ]; then pass "each by its name"; else fail "not each by its name" ""; fi

# found BUG BACKEND WORDS...: with the bug it prints WRONG, of one table.
found() {
  local bug=$1 backend=$2 code
  shift 2
  batches_of "$backend" 128 "${HOST_BATCHES:-16}"
  WRONG=1 MUSEUM_BUG=$bug BACKEND=$backend guard "$work/soak" "$@" >"$words" 2>&1
  code=$?
  if [ $code = 1 ] && grep -q '^WRONG' "$words"; then pass "$bug is found"; else fail "$bug is not found" "exit $code"; fi
}
found evicted_score host random 300 tlpv1
found hole_unseen host random 300 tlpv1
found export_before host random 300 tlpv1
found epoch_of_thread host random 300 tlpv1
found counters_shared host random 300 tlpv1

export DESIGN=hive
# column NAME: of the last clean run's rows, the sum of a column
column() { awk -F '\t' -v name="$1" '$1 == "verdict" { for (c = 1; c <= NF; c++) if ($c == name) at = c } $1 == "ok" { n += $at } END { print n + 0 }' "$words"; }
clean "Hive's random batches: it agrees with the reference" 110 ref random 300
operations=$((operations + $(column operations)))
for what in mixed distinct resizes pending checks; do
  if [ "$(column $what)" -gt 0 ]; then pass "$what: some of them"; else fail "no $what" ""; fi
done
clean "and with every variant on the host machine" 110 host random 300
operations=$((operations + $(column by_variant)))
clean "two of them at once" 10 ref two 300 tile
clean "so many operations by every variant in every layout, at a load factor of 0.95" 3 host reach $((2 * reach)) 200
operations=$((operations + $(column by_variant)))
awk -F '\t' '$1 == "ok" && ($12 < 0.9 || $13 > 1 || $15 < 2 * '"$reach"')' "$words" | none "and that is where they were"
tried device-judge "$operations" "items in random batches, judged as on a device"
found hive_slot_reused host random 300
found hive_stash_brims host random 300
found hive_split_partner ref random 300

# tables in segments
for DESIGN in ovs sl; do
  export DESIGN
  clean "$DESIGN: it agrees with the reference" 37 ref random 300
  operations=$(column operations)
  for what in distinct resizes pending checks; do
    if [ "$(column $what)" -gt 0 ]; then pass "$DESIGN, $what: some of them"; else fail "$DESIGN: no $what" ""; fi
  done
  clean "$DESIGN: and with every variant on the host machine" 37 host random 300
  operations=$((operations + $(column by_variant)))
  clean "$DESIGN: so many operations by every variant towards every goal" 3 host reach $reach 200
  operations=$((operations + $(column by_variant)))
  tried device-judge "$operations" "items in random batches of $DESIGN, judged as on a device"
done
DESIGN=ovs found ovs_bucket_elsewhere host random 300 flip
DESIGN=ovs found ovs_split_bit ref random 300
DESIGN=sl found sl_before_segment ref random 300
HOST_BATCHES=48 DESIGN=sl found sl_range_skips host random 300

# says LIE SENTENCE: what it says of a table that lies.
export DESIGN=hive
says() {
  batches_of ref 128 0
  LIE=$1 BACKEND=ref guard "$work/soak" random 300 >"$words" 2>&1
  local code=$?
  if [ $code = 1 ] && grep -q '^WRONG' "$words" && grep -q "^$2: [0-9]* times" "$words"; then pass "$1: $2"; else fail "$1 is not found" "exit $code"; fi
}
says hit_not_found "found, or not, against its outcome"
says miss_is_found "found, or not, against its outcome"
says hit_missed "a key that was there is not found"
says miss_found "an answer for a key that was gone"
says new_updated "an answer for a key that was gone"
says old_inserted "a key that was there is not found"
says new_pending "an outcome that cannot be"
says pending_new "a key that was there is not found"
says erased_missed "a key that was there is not found"
says miss_erased "an answer for a key that was gone"
says reserved_missed "an outcome that cannot be"
says miss_reserved "an outcome that cannot be"
says other_value "a wrong value"
says other_score "a wrong score"
says value_of_miss "an output that was to be left alone"
says list_short "a wrong list"
says list_twice "a wrong list"
says list_other "a wrong list"
says export_short "a key that was there is not found"
says export_twice "came and went do not add up"
says export_other "a wrong list"
says export_value "a wrong value"
says size_more "a wrong size"
says size_if_more "a wrong size"
says erase_if_more "a wrong size"
says forgets "a key that was there is not found"
says remembers "an answer for a key that was gone"
says pending_stays "an answer for a key that was gone"
says writes_another "a wrong value"
says adds_twice "a wrong value"
export DESIGN=sl
says next_passed "another entry than the next one in order"
says range_short "another entry than the next one in order"
finish
