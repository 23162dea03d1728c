/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_case.c - any text as a case: it is refused with a reason, and nothing is changed; or it means something, and
 * what is printed of that means the same. The text is put to the parsers of key sources and of schedules, too.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "workload/case.h"
#include "simt/machine.h"
#include "workload/workload.h"

enum { MOST = 1200, PRINTED = 2048, DECISIONS = 64 };

/* A reason, at least, and of the right kind. */
static const char *refused(const char *what, hd_status s)
{
    if (s != HD_EINVAL) return fuzz_say("%s: %s, where text can only be HD_EINVAL", what, hd_status_name(s));
    return hd_why()[0] ? NULL : fuzz_say("%s: refused without a reason", what);
}

/* Whether a field's name comes twice: "policy=lru policy=lfu". */
static bool repeats(const char *text)
{
    static const char blanks[] = " \t\r\n";
    for (const char *a = text + strspn(text, blanks); *a; a += strcspn(a, blanks), a += strspn(a, blanks)) {
        size_t n = strcspn(a, "= \t\r\n") + 1;
        if (a[n - 1] != '=') continue;
        for (const char *b = a + strcspn(a, blanks); *b; b += strcspn(b, blanks)) {
            b += strspn(b, blanks);
            if (strncmp(a, b, n) == 0) return true;
        }
    }
    return false;
}

static const char *case_round(const char *text)
{
    hd_case c, back, untouched;
    char printed[PRINTED], again[PRINTED];
    memset(&c, 0x5a, sizeof c);
    memset(&untouched, 0x5a, sizeof untouched);
    hd_status s = hd_case_parse(text, &c);
    if (s && memcmp(&c, &untouched, sizeof c) != 0) return fuzz_say("case: refused, and changed all the same");
    if (s) return refused("case", s);
    if (repeats(text)) return fuzz_say("case: a word came twice, and was taken");
    size_t n = hd_case_print(&c, printed, sizeof printed);
    if (n >= sizeof printed || strlen(printed) != n)
        return fuzz_say("case: printed in %zu bytes, which are said to be %zu", strlen(printed), n);
    if (hd_case_parse(printed, &back)) return fuzz_say("case: what was printed is refused (%s): %s", hd_why(), printed);
    const char *field = hd_case_differs(&c, &back);
    if (field) return fuzz_say("case: what was printed has another %s: %s", field, printed);
    if (hd_case_print(&back, again, sizeof again) != n || strcmp(printed, again) != 0)
        return fuzz_say("case: printed twice, it is %s and %s", printed, again);
    size_t room = n / 2;
    memset(again, '#', sizeof again);
    if (hd_case_print(&c, again, room) != n || again[room] != '#')
        return fuzz_say("case: %zu bytes of room are not respected", room);
    return NULL;
}

static const char *source_round(const char *text)
{
    char store[512];
    hd_source_args a;
    memset(&a, 0, sizeof a);
    hd_status s = hd_source_parse(text, store, sizeof store, &a);
    if (s) return refused("source", s);
    if (!hd_source_row_find(a.name)) return fuzz_say("source: %s was taken, and there is none", a.name);
    return a.args > HD_SOURCE_ARGS || a.options > HD_SOURCE_ARGS
               ? fuzz_say("source: %zu arguments, %zu options", a.args, a.options)
               : NULL;
}

static const char *schedule_round(const char *text)
{
    simt_decision d[DECISIONS], back[DECISIONS];
    char printed[DECISIONS * 34];
    size_t n = DECISIONS, again = DECISIONS;
    hd_status s = simt_schedule_parse(text, d, &n);
    if (s) return refused("schedule", s);
    if (strspn(text, "0123456789:,") != strlen(text))
        return fuzz_say("schedule: taken, and it has more than digits, colons and commas");
    if (n > DECISIONS) return fuzz_say("schedule: %zu decisions in room for %d", n, DECISIONS);
    if (simt_schedule_print(d, n, printed, sizeof printed) >= sizeof printed)
        return fuzz_say("schedule: %zu decisions need more than %zu bytes", n, sizeof printed);
    if (simt_schedule_parse(printed, back, &again))
        return fuzz_say("schedule: what was printed is refused (%s): %s", hd_why(), printed);
    bool same = n == again;
    for (size_t i = 0; i < n && same; i++) same = d[i].at == back[i].at && d[i].choice == back[i].choice;
    return same ? NULL : fuzz_say("schedule: printed and parsed, it is another: %s", printed);
}

static const char *run(const uint8_t *bytes, size_t n, uint64_t *steps)
{
    char *text = (char *)malloc(n + 1); /* of its length, so that a byte beyond is seen */
    if (!text) return NULL;
    if (n) memcpy(text, bytes, n);
    text[n] = 0;
    const char *why = case_round(text);
    if (!why) why = source_round(text);
    if (!why) why = schedule_round(text);
    *steps += 3;
    free(text);
    return why;
}

static size_t tell(const uint8_t *bytes, size_t n, char *text, size_t room)
{
    fuzz_text t = fuzz_text_in(text, room);
    fuzz_put(&t, "case ");
    fuzz_put_quoted(&t, bytes, n);
    return t.used;
}

static const char *const words[] = {
    " seed=1 seed=2",
    "hkv.",
    "serve",
    "mix",
    "find",
    "insert_or_assign",
    ".ref",
    ".coalesced",
    "policy=",
    "lru",
    "epoch_lfu",
    "custom",
    "backend=",
    "host",
    "lock=",
    "ordered",
    "buckets=",
    "capacity=",
    "slots=",
    "value=",
    "dual=",
    "admit=",
    "always",
    "layout=",
    "pairs",
    "tiers=",
    "position",
    "near=",
    "fetch=",
    "sorted",
    "table_seed=",
    "clock=",
    "device",
    "pins=",
    "threads=",
    "batch=",
    "keys=",
    "distinct=",
    "epoch_every=",
    "reserved=",
    "duplicate=",
    "extreme=",
    "raw=",
    "seed=",
    "judge=",
    "between=",
    "outputs=",
    "uniform:",
    "zipf:0.99,",
    "ycsb:a,",
    "csv:x,key=1",
    "18446744073709551615",
    "0x",
    "1Mi",
    "Ki",
    "64x4",
    " ",
    "=",
    ".",
    ",",
    ":",
    "12:1",
    "\t",
    "\n",
    NULL,
};

const fuzz_target fuzz_case = {
    "case", "text as a case, a source or a schedule: parse, print and parse agree", MOST, 8, run, tell, words
};
