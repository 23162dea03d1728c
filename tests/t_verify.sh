# SPDX-License-Identifier: Apache-2.0
#
# t_verify.sh - the assertions of base/assert.h: there are enough, they change nothing, and a verify build catches a
# broken invariant of each of three parts at the line that meets it. The program is built of a few sources, as a verify
# build and as any other, whatever this build is.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$top_srcdir" || exit 1
product=(base concurrency policies ref gpu lib simt)

for folder in "${product[@]}"; do
  n=$(grep -rowh 'HD_ASSERT' "$folder" --include='*.[ch]' | wc -l)
  [ "$n" -ge 10 ] || echo "$folder has $n"
done | none "every part of the library has assertions"
n=$(grep -rowh 'HD_ASSERT' "${product[@]}" --include='*.[ch]' | wc -l)
[ "$n" -ge 250 ] && pass "the library has 250 assertions" || fail "the library has 250 assertions" "it has $n"
grep -rnE 'HD_ASSERT\(.*(\+\+|--|[^=!<>]=[^=]|simt_|schedule_choose|atomic_fetch)' "${product[@]}" --include='*.[ch]' |
  grep -vE '^base/assert\.h|HD_ASSERT\([^"]*\), "' | none "no condition has a side effect"

cat >"$work/broken.c" <<'END'
#include "concurrency/gate.h"
#include "ref/hkv/hkv.h"
#include "ref/sl/sl.h"
#include <stdio.h>
/* Of base/error.c and policies/loaded.c, which need all of the library. */
void hd_fail_because(const char *format, ...) { (void)format; }
uint64_t hd_loaded_score(uint32_t policy, uint32_t function, uint64_t old, hd_score_in in)
{
    return policy + function + old + in.now;
}
static uint64_t pair[32], bound[2], word[32], bounds[2], used[1];
static uint8_t digest[16], value[16];
static uint32_t home[2], count[2];
static _Alignas(16) unsigned char lock[HD_LOCK_BYTES];
int main(int argc, char **argv)
{
    char how = argc > 1 ? argv[1][0] : 0;
    hkv_view t = { .digest = digest, .key = pair, .score = pair + 1, .bound = bound, .value = value, .near = 16,
                   .buckets = 1, .step = 2, .slots = 16, .policy = HD_POLICY_lru };
    sl_view s = { .word = word, .bound = bounds, .home = home, .count = count, .used = used, .homes = 2, .fit = 16,
                  .words = 1 };
    for (uint64_t e = 0; e < 16; e++) hkv_make_empty(&t, e);
    sl_clear(&s);
    for (uint64_t key = 1; key <= 16; key++) {
        if (how == 'b' && key == 16) bound[1] = 1000; /* HKV-8 */
        if (how == 'd' && key == 16) pair[30] = 99;   /* HKV-1 */
        hkv_item it = { .op = HD_OP_INSERT_OR_ASSIGN, .key = key, .in = { .now = key } };
        hkv_seen seen;
        hkv_apply(&t, &it, &seen, NULL);
        if (how == 's' && key == 9) bounds[0] = 1; /* SL-2 */
        sl_insert(&s, key, 0);
    }
    hd_gate_open(lock, HD_READERS);
    hd_gate_enter(lock, HD_READER);
    hd_gate_leave(lock, how == 'r' ? HD_INSERTER : HD_READER);
    if (how == 'l') hd_gate_leave(lock, HD_READER);
    return printf("%d entries\n", (int)sl_size(&s)) < 0;
}
END
sources=(base/assert.c base/op.c concurrency/gate.c ref/accum.c ref/rule.c ref/hkv/hkv.c ref/hkv/queues.c ref/hkv/check.c ref/hkv/least.c
  ref/hkv/digests.c ref/sl/sl.c ref/sl/check.c)
build() { # OUTPUT FLAGS...
  # shellcheck disable=SC2086
  ${CC:-cc} -std=c11 -D_GNU_SOURCE -DXXH_INLINE_ALL= -I. -Iinclude -O1 -Wall -Wextra -Werror "${@:2}" -o "$1" "$work/broken.c" \
    "${sources[@]}" -lpthread
}
try "a program of a verify build" build "$work/verify" -DHD_VERIFY
try "the same of another build" build "$work/other"

[ "$("$work/verify" 2>&1)" = "16 entries" ] && pass "what is sound passes" || fail "what is sound passes" "$("$work/verify" 2>&1)"
# caught HOW FILE WHAT: the broken state HOW ends the program in FILE, with a message that has WHAT
caught() {
  local code
  { "$work/verify" "$1" >"$work/out" 2>&1; code=$?; } 2>/dev/null # bash tells of the signal, too
  [ $code = 134 ] && grep -qE "^$2:[0-9]+: .*$3" "$work/out" && pass "caught: $4" || fail "caught: $4" "exit $code: $(cat "$work/out")"
}
caught b ref/hkv/hkv.c hkv_is_sound "a lower bound that is above a score"
caught d ref/hkv/hkv.c HKV-1 "a key without a digest"
caught s ref/sl/sl.c sl_is_sound "a first bound that is not 0"
caught l concurrency/gate.c 'not inside' "a batch that leaves a lock twice"
caught r concurrency/gate.c 'another role' "a batch that leaves in another role"
for how in b l r; do
  "$work/other" $how 2>&1 | grep -qx '16 entries' || echo "$how: $("$work/other" $how 2>&1)"
done | none "without --enable-verify nothing is checked"
nm "$work/other" 2>/dev/null | grep hd_assert_failed | none "without --enable-verify no assertion is compiled"

cxx=${CXX:-c++}
if command -v "${cxx%% *}" >/dev/null; then
  printf '%s\n' '#include "base/assert.h"' 'int f(int x) { HD_ASSERT(x > 0); HD_ASSERT(x > 1, "so"); return x; }' >"$work/one.cpp"
  # shellcheck disable=SC2086
  for flags in -DHD_VERIFY '-DHD_VERIFY -D__CUDACC__' ''; do
    $cxx -std=c++17 -Wall -Wextra -Werror -I. $flags -fsyntax-only "$work/one.cpp" 2>&1
  done | none "assertions are C++, too"
else
  skip "assertions are C++, too" "there is no C++ compiler"
fi

finish
