/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_snapshot.c - any bytes as a snapshot, and good ones with changes. A file is refused with a reason, before more
 * than four times its size was allocated, and the table is as it was; or it is loaded, and every invariant holds.
 * Inspection agrees with loading.
 *
 *   byte 0   0: the rest is the file; else a good file is made, of a table whose shape and entries bytes 1 to 8 say,
 *            and changed by what follows, three bytes a change: where (2), what (1)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/feed.h"
#include "fuzz/fuzz.h"
#include "fuzz/fake_os.h"
#include "lib/params.h"
#include "lib/snapshot.h"

enum { MOST = 4096, FILE_MOST = 1 << 16, ENTRIES = 40 };

/* What may be asked of a good file: nothing more, sums made good again behind a change, its end cut off or drawn
 * out. */
enum { RAW, AS_CHANGED, HEADER_SEALED, ALL_SEALED, KINDS };

static const char *const files[] = { "x", "good", NULL };

/* ---- A table, and how it is ------------------------------------------------------------------ */

static hd_config shape(feed *f, const fuzz_world *w)
{
    static const char *const policy[] = { "lru", "lfu", "custom", "epoch_lru", "epoch_lfu" };
    static const uint32_t value_bytes[] = { 8, 0, 1, 24, 100 };
    hd_config c = hd_config_default();
    uint8_t shape = feed_byte(f), more = feed_byte(f);
    c.policy = policy[shape % 5];
    c.value_bytes = value_bytes[shape / 5 % 5];
    c.slots = 2 + more % 9;
    c.capacity = (2 + (uint64_t)(more / 9 % 4)) * c.slots;
    hd_params_number_set(&c, c.design, "dual", shape >> 7);
    hd_params_number_set(&c, c.design, "admit", more & 128 ? HD_ADMIT_ALWAYS : HD_ADMIT_SCORE);
    c.seed = feed_byte(f);
    hd_params_number_set(&c, c.design, "pins", 2);
    c.threads = 1;
    c.seams = &w->seams;
    return c;
}

static hd_status fill(hd_table *t, uint32_t value_bytes, feed *f)
{
    uint64_t key[ENTRIES], score[ENTRIES], n = feed_below(f, ENTRIES), step = 1 + feed_below(f, 200);
    uint8_t value[ENTRIES * 100];
    for (uint64_t i = 0; i < n; i++) {
        key[i] = i * step;
        score[i] = (i * 7 + 3) % 11;
        memset(value + i * value_bytes, (int)i, value_bytes);
    }
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.n = n;
    b.key = key;
    b.value = value;
    b.score = score;
    hd_status s = hd_run(t, &b);
    return s ? s : hd_epoch_set(t, feed_byte(f));
}

typedef struct seen {
    uint64_t sum, entries, now;
    uint32_t epoch, value_bytes;
} seen;

static int add(void *context, uint64_t key, uint64_t score, void *value)
{
    seen *s = (seen *)context;
    const uint8_t *p = (const uint8_t *)value;
    s->sum = (s->sum ^ key) * 0x9e3779b97f4a7c15u + score;
    for (uint32_t i = 0; i < s->value_bytes; i++) s->sum = s->sum * 31 + p[i];
    s->entries++;
    return 0;
}

static seen look(hd_table *t)
{
    hd_info info;
    seen s;
    memset(&s, 0, sizeof s);
    if (hd_table_info(t, &info)) return s;
    s.value_bytes = info.value_bytes;
    s.now = info.now;
    s.epoch = info.epoch;
    hd_for_each(t, add, &s);
    return s;
}

/* ---- The file -------------------------------------------------------------------------------- */

static void seal(uint8_t *sum, const uint8_t *p, size_t bytes)
{
    XXH128_canonicalFromHash((XXH128_canonical_t *)(void *)sum, XXH3_128bits(p, bytes));
}

/* Makes the sums good: the header's, and those of the sections that are where the file says. */
static void reseal(uint8_t *file, size_t bytes, bool sections)
{
    size_t at = sizeof(hd_snapshot_header);
    if (bytes < at) return;
    seal(file + at - HD_SUM_BYTES, file, at - HD_SUM_BYTES);
    while (sections && bytes - at >= sizeof(hd_section_head) + HD_SUM_BYTES) {
        hd_section_head head;
        memcpy(&head, file + at, sizeof head);
        if (head.bytes > bytes - at - sizeof head - HD_SUM_BYTES) return;
        size_t whole = sizeof head + (size_t)head.bytes;
        seal(file + at + whole, file + at, whole);
        at += whole + HD_SUM_BYTES;
    }
}

/* Whether all sums are what they should be: what is wrong then is no damage. */
static bool sealed(const uint8_t *file, size_t bytes)
{
    size_t at = sizeof(hd_snapshot_header);
    uint8_t sum[HD_SUM_BYTES];
    if (bytes < at) return false;
    seal(sum, file, at - sizeof sum);
    bool good = memcmp(sum, file + at - sizeof sum, sizeof sum) == 0;
    for (int i = 0; i < HD_SECTION_COUNT && good; i++) {
        hd_section_head head;
        if (bytes - at < sizeof head + sizeof sum) return false;
        memcpy(&head, file + at, sizeof head);
        if (head.bytes > bytes - at - sizeof head - sizeof sum) return false;
        size_t whole = sizeof head + (size_t)head.bytes;
        seal(sum, file + at, whole);
        good = memcmp(sum, file + at + whole, sizeof sum) == 0;
        at += whole + sizeof sum;
    }
    return good && at == bytes;
}

/* The shelf's file "x": raw bytes, or a good snapshot that is changed. *good: it was not changed at all. NULL, or what
 * is wrong. */
static const char *make_file(fuzz_world *w, feed *f, uint32_t kind, bool *good)
{
    *good = false;
    if (kind == RAW) {
        if (!fuzz_world_put(w, "x", f->next, feed_left(f))) return fuzz_say("no memory");
        return NULL;
    }
    hd_table *t;
    hd_config c = shape(f, w);
    if (hd_open(&c, &t)) return fuzz_say("a small table is refused: %s", hd_why());
    hd_status s = fill(t, c.value_bytes, f);
    if (!s) s = hd_save(t, "x");
    hd_close(t);
    if (s) return fuzz_say("a small table is not saved: %s", hd_why());
    judge_shelf_file *x = judge_shelf_find(&w->shelf, "x");
    int cut = feed_byte(f); /* 128 to 255: so many bytes less, then more */
    size_t before = x->size;
    if (cut >= 192) x->size -= x->size < (size_t)(cut - 191) ? x->size : (size_t)(cut - 191);
    *good = x->size == before && !feed_more(f);
    while (feed_more(f)) {
        uint64_t at = feed_word(f, 2);
        uint8_t what = feed_byte(f);
        if (x->size) x->bytes[at % x->size] ^= what;
    }
    if (kind != AS_CHANGED) reseal(x->bytes, x->size, kind == ALL_SEALED);
    return NULL;
}

/* ---- Held against it ------------------------------------------------------------------------- */

/* hd_snapshot_inspect reads through the operating system: a file without a name. */
static const char *inspect(const judge_shelf_file *x, hd_status *s, hd_snapshot_info *info)
{
    char path[64];
    int fd = memfd_create("snapshot", MFD_CLOEXEC);
    if (fd < 0) return fuzz_say("no file in memory");
    bool written = write(fd, x->bytes, x->size) == (ssize_t)x->size;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *s = written ? hd_snapshot_inspect(path, info) : HD_EIO;
    close(fd);
    return written ? NULL : fuzz_say("no room for a file in memory");
}

/* A refusal has the right kind, has a reason that begins with the file, and was had without much memory. */
static const char *refusal(const char *call, hd_status s, uint64_t bytes, uint64_t taken, bool sums_good)
{
    if (s == HD_ENOMEM && sums_good) return NULL; /* a sound file of a table that is too large for this world */
    if (s != HD_ECORRUPT && s != HD_EINVAL) return fuzz_say("%s: %s: %s", call, hd_status_name(s), hd_why());
    if (s == HD_ECORRUPT && !sums_good && strncmp(hd_why(), "x:", 2) != 0)
        return fuzz_say("%s: the file is not named first: %s", call, hd_why());
    if (!sums_good && taken > 4 * bytes + 128)
        return fuzz_say("%s: %" PRIu64 " bytes were taken for a file of %" PRIu64, call, taken, bytes);
    return NULL;
}

static const char *load(fuzz_world *w, hd_table *t, uint64_t bytes, const hd_snapshot_info *info, bool sums_good)
{
    seen before = look(t), after;
    uint64_t live = w->live, dropped = UINT64_MAX;
    w->peak = live;
    hd_status s = hd_load(t, "x", &dropped);
    after = look(t);
    if (hd_check(t)) return fuzz_say("load: %s", hd_why());
    if (s && memcmp(&before, &after, sizeof after) != 0) return fuzz_say("load: refused, and the table is another");
    if (s && w->live != live)
        return fuzz_say("load: refused, and %" PRId64 " bytes more are taken", (int64_t)(w->live - live));
    if (s) return refusal("load", s, bytes, w->peak - live, sums_good);
    if (!info) return fuzz_say("load: a file was taken whose header is refused");
    if (after.entries + dropped != info->size)
        return fuzz_say("load: %" PRIu64 " entries and %" PRIu64 " dropped, of %" PRIu64, after.entries, dropped,
                        info->size);
    /* The table has the logical clock, and keeps it if the file's scores are times of a device. */
    uint64_t now = info->config.clock == HD_CLOCK_LOGICAL ? info->clock : before.now;
    return after.now == now && after.epoch == info->epoch ? NULL : fuzz_say("load: the clock or the epoch is wrong");
}

static const char *open_it(fuzz_world *w, uint64_t bytes, const hd_snapshot_info *info, bool sums_good, bool good)
{
    hd_config c = hd_config_default();
    hd_table *t = NULL;
    uint64_t live = w->live;
    c.seams = &w->seams;
    c.threads = 1;
    w->peak = live;
    hd_status s = hd_open_snapshot("x", &c, &t);
    if (s && good) return fuzz_say("open: what was saved is refused: %s", hd_why());
    if (s == HD_EINVAL) return fuzz_say("open: the caller is blamed for the file: %s", hd_why());
    if (s)
        return t ? fuzz_say("open: refused, and there is a table")
                 : refusal("open", s, bytes, w->peak - live, sums_good);
    seen all = look(t);
    const char *why = hd_check(t) ? fuzz_say("open: %s", hd_why()) : NULL;
    if (!why && (!info || all.entries != info->size))
        why = fuzz_say("open: %" PRIu64 " entries, and the header says otherwise", all.entries);
    hd_close(t);
    return why;
}

static const char *judge(fuzz_world *w, hd_table *t, feed *f, uint32_t kind)
{
    hd_snapshot_info info;
    hd_status s = HD_OK;
    bool good;
    const char *why = make_file(w, f, kind, &good);
    if (why) return why;
    judge_shelf_file *x = judge_shelf_find(&w->shelf, "x");
    uint64_t bytes = x->size;
    why = inspect(x, &s, &info);
    if (!why && s && s != HD_ECORRUPT) why = fuzz_say("inspect: %s: %s", hd_status_name(s), hd_why());
    if (!why && s && good) why = fuzz_say("inspect: what was saved is refused: %s", hd_why());
    bool sums_good = sealed(x->bytes, x->size);
    w->live_most = w->live + (8 << 20);
    if (!why) why = load(w, t, bytes, s ? NULL : &info, sums_good);
    if (!why) why = open_it(w, bytes, s ? NULL : &info, sums_good, good);
    return why;
}

static const char *run(const uint8_t *bytes, size_t n, uint64_t *steps)
{
    fuzz_world w;
    static const uint8_t filling[] = { 20, 3, 7 };
    feed f = feed_of(bytes, n), same = feed_of(bytes + (n > 3), n > 3 ? 3 : 0),
         fills = feed_of(filling, sizeof filling);
    fuzz_world_open(&w);
    hd_table *t = NULL;
    uint32_t kind = (uint32_t)feed_below(&f, KINDS);
    hd_config c = shape(&same, &w);
    c.seed += c.seed & 1; /* half of the time the file's shape; else its policy and values in other buckets */
    const char *why =
        hd_open(&c, &t) || fill(t, c.value_bytes, &fills) ? fuzz_say("a small table is refused: %s", hd_why()) : NULL;
    if (!why) why = judge(&w, t, &f, kind);
    hd_close(t);
    *steps += 3;
    const char *left = fuzz_world_close(&w, files);
    return why ? why : left;
}

static size_t tell(const uint8_t *bytes, size_t n, char *text, size_t room)
{
    static const char *const name[KINDS] = { "these bytes", "a good file, changed",
                                             "a good file, changed, the header's sum made good",
                                             "a good file, changed, all sums made good" };
    fuzz_text t = fuzz_text_in(text, room);
    feed f = feed_of(bytes, n);
    uint64_t kind = feed_below(&f, KINDS);
    fuzz_put(&t, "snapshot: %s: ", name[kind]);
    fuzz_put_quoted(&t, f.next, feed_left(&f));
    return t.used;
}

static const char *const words[] = {
    HD_SNAPSHOT_MAGIC, "SLOT", "KEYS", "SCOR", "VALS", "hkv", "lru", "custom", "\377\377\377\377\377\377\377\377", NULL
};

const fuzz_target fuzz_snapshot = {
    "snapshot", "a file as a snapshot, raw or a good one changed: loaded whole, or refused with nothing changed",
    MOST,       40,
    run,        tell,
    words
};
