/* SPDX-License-Identifier: Apache-2.0
 *
 * t_snapshot.c - a snapshot gives back the table, is byte for byte what doc/snapshot.md says, and a file that
 * is not a whole snapshot is refused, with the table as it was.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "tests/model.h"

typedef unsigned long long ull;

/* ---- Tables and files ------------------------------------------------------------------------------ */

typedef struct shape {
    const char *policy;
    uint64_t buckets;
    uint32_t slots, value_bytes;
    bool dual;
    hd_admit admit;
    uint64_t seed;
} shape;

static hd_config config_of(const shape *s)
{
    hd_config c = test_config();
    c.policy = s->policy;
    c.capacity = s->buckets * s->slots;
    c.slots = s->slots;
    c.value_bytes = s->value_bytes;
    c.dual = s->dual;
    c.admit = s->admit;
    c.seed = s->seed;
    c.tiers = s->seed % 4 == 1 ? HD_TIERS_POSITION : HD_TIERS_BUCKET; /* a file does not say */
    c.near_bytes = s->seed % 2 ? c.capacity * s->value_bytes / 3 : 0;
    c.pins = 16;
    c.threads = 1; /* children are forked */
    return c;
}

static hd_table *open_shape(const shape *s)
{
    hd_config c = config_of(s);
    hd_table *t;
    test_case("snapshot policy=%s buckets=%llu slots=%u value_bytes=%u%s admit=%d", s->policy, (ull)s->buckets, s->slots, s->value_bytes,
              s->dual ? " dual" : "", s->admit);
    must(hd_open(&c, &t));
    return t;
}

/* n upserts of random keys below 2 x n, with random scores; few of them in order, so that tables can be compared slot by slot. */
static void feed(hd_table *t, uint64_t n, uint64_t seed)
{
    hd_info info;
    must(hd_table_info(t, &info));
    uint64_t random = seed, *key = (uint64_t *)test_alloc(n, 8), *score = (uint64_t *)test_alloc(n, 8);
    uint8_t *value = (uint8_t *)test_alloc(n, info.value_bytes);
    for (uint64_t i = 0; i < n; i++) {
        key[i] = test_below(&random, 2 * n);
        score[i] = test_random(&random);
        value_make(value + i * info.value_bytes, info.value_bytes, key[i], i + seed);
    }
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = n, .key = key, .value = value, .score = score };
    must(n <= 100 ? test_in_order(t, &b) : hd_run(t, &b));
    free(key);
    free(score);
    free(value);
}

static const char *file(const char *name)
{
    static char path[2][4200];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", test_folder(), name);
    return path[turn];
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    check(fd >= 0 && !fstat(fd, &st), "cannot open %s", path);
    uint8_t *p = (uint8_t *)test_alloc((uint64_t)st.st_size + 1, 1);
    *bytes = (size_t)st.st_size;
    check(read(fd, p, *bytes) == (ssize_t)*bytes, "cannot read %s", path);
    close(fd);
    return p;
}

static void write_file(const char *path, const void *p, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    check(fd >= 0 && write(fd, p, bytes) == (ssize_t)bytes && !close(fd), "cannot write %s", path);
}

static unsigned files_in(const char *path)
{
    unsigned n = 0;
    DIR *d = opendir(path);
    check(d, "cannot list %s", path);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* ---- Back and forth ----------------------------------------------------------------------------------- */

static void same_table(hd_table *a, hd_table *b)
{
    model_contents x, y;
    contents_take(&x, a);
    contents_take(&y, b);
    check(contents_equal(&x, &y, true), "%llu entries at clock %llu; loaded %llu at clock %llu", (ull)x.n, (ull)x.now, (ull)y.n, (ull)y.now);
    contents_give(&x);
    contents_give(&y);
    must(hd_check(b));
}

static void round_trip(const shape *s, uint64_t upserts)
{
    hd_table *t = open_shape(s), *u, *w = open_shape(s);
    hd_snapshot_info said;
    hd_info a, b;
    hd_config c = test_config();
    uint64_t dropped = 99, size;
    c.threads = 1;
    must(hd_epoch_set(t, 7));
    if (upserts) feed(t, upserts, 1);
    must(hd_size_sync(t, &size));
    const char *path = file("round_trip");
    must(hd_save(t, path));

    must(hd_snapshot_inspect(path, &said));
    struct stat st;
    check(!stat(path, &st) && said.file_bytes == (uint64_t)st.st_size, "the file has %llu bytes", (ull)said.file_bytes);
    check(said.version == 1 && !strcmp(said.design, "hkv") && !strcmp(said.policy, s->policy), "version, design or policy");
    check(said.buckets == s->buckets && said.slots == s->slots && said.capacity == s->buckets * s->slots, "the shape");
    check(said.value_bytes == s->value_bytes && said.dual == s->dual && said.admit == s->admit && said.seed == s->seed, "value_bytes, dual, admit or seed");
    check(said.size == size && said.clock == upserts && said.epoch == 7, "size, clock or epoch");

    must(hd_open_snapshot(path, &c, &u)); /* a table of its own */
    must(hd_table_info(t, &a));
    must(hd_table_info(u, &b));
    check(a.capacity == b.capacity && a.slots == b.slots && a.dual == b.dual && a.admit == b.admit && a.seed == b.seed
              && a.policy == b.policy && b.pins == c.pins && b.clock == a.clock, "the loaded table has another shape");
    same_table(t, u);

    feed(w, 50, 2); /* a table that had something else */
    must(hd_load(w, path, &dropped));
    check(dropped == 0, "%llu entries dropped", (ull)dropped);
    same_table(t, w);

    /* and all three go on alike: the clock is where it was. */
    feed(t, test_some(200), 3);
    feed(u, test_some(200), 3);
    feed(w, test_some(200), 3);
    same_table(t, u);
    same_table(t, w);
    hd_close(t);
    hd_close(u);
    hd_close(w);
}

static void round_trips(void **state)
{
    static const char *const policies[] = { "lru", "lfu", "epoch_lru", "epoch_lfu", "custom" };
    static const struct {
        uint64_t buckets;
        uint32_t slots, value_bytes;
    } shapes[] = { { 1, 2, 8 }, { 1, 9, 0 }, { 3, 7, 5 }, { 16, 128, 64 }, { 2, 1024, 8 }, { 5, 33, 1000 } };
    (void)state;
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++)
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (unsigned mode = 0; mode < 4; mode++) {
                if ((mode & 1) && shapes[s].buckets < 2) continue;
                shape is = { policies[p], shapes[s].buckets, shapes[s].slots, shapes[s].value_bytes, mode & 1, mode & 2 ? HD_ADMIT_ALWAYS : HD_ADMIT_SCORE,
                             p * 1000 + s };
                round_trip(&is, 0);
                round_trip(&is, 1);
                round_trip(&is, is.buckets * is.slots * 2 / 3);
                round_trip(&is, is.buckets * is.slots * 4);
            }
    shape widest = { "lru", 1, 16, HD_VALUE_BYTES_MAX, false, HD_ADMIT_SCORE, 0 };
    round_trip(&widest, 40);
}

/* Pins are of the process, and stay behind. */
static void pins_are_dropped(void **state)
{
    static const shape s = { "lru", 4, 8, 8, false, HD_ADMIT_SCORE, 0 };
    (void)state;
    hd_table *t = open_shape(&s);
    uint64_t key = 5, value = 6;
    uint8_t fate;
    hd_batch in = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key, .value = &value };
    hd_batch lock = { .op = HD_OP_LOCK_KEYS, .n = 1, .key = &key, .holder = 1, .outcome = &fate };
    hd_batch erase = { .op = HD_OP_ERASE, .n = 1, .key = &key, .outcome = &fate };
    must(hd_run(t, &in));
    must(hd_run(t, &lock));
    must(hd_save(t, file("pins")));
    must(hd_run(t, &erase));
    check(fate == HD_PINNED, "%s", hd_outcome_name((hd_outcome)fate));
    must(hd_load(t, file("pins"), NULL));
    must(hd_run(t, &erase));
    check(fate == HD_ERASED, "%s", hd_outcome_name((hd_outcome)fate));
    hd_close(t);
}

/* ---- The bytes ------------------------------------------------------------------------------------------- */

static uint64_t number(const uint8_t *p, int bytes)
{
    uint64_t v = 0;
    while (bytes--) v = v << 8 | p[bytes];
    return v;
}

static void sum_put(uint8_t *sum, const uint8_t *p, size_t bytes)
{
    XXH128_hash_t h = XXH3_128bits(p, bytes);
    for (int i = 0; i < 8; i++) {
        sum[i] = (uint8_t)(h.high64 >> (56 - 8 * i));
        sum[8 + i] = (uint8_t)(h.low64 >> (56 - 8 * i));
    }
}

static bool sum_is(const uint8_t *sum, const uint8_t *p, size_t bytes)
{
    uint8_t want[16];
    sum_put(want, p, bytes);
    return !memcmp(sum, want, 16);
}

/* Where the four sections begin. */
static void sections_of(const uint8_t *p, size_t bytes, size_t at[5])
{
    at[0] = 256;
    for (int i = 0; i < 4; i++) {
        check(at[i] + 32 <= bytes, "section %d is beyond the end", i);
        at[i + 1] = at[i] + 32 + (size_t)number(p + at[i] + 8, 8);
    }
    check(at[4] == bytes, "the sections end at byte %zu of %zu", at[4], bytes);
}

static const shape golden_shape = { "custom", 4, 9, 12, true, HD_ADMIT_ALWAYS, 0x0123456789abcdefu };

/* Never to change: tests/golden/ has its bytes. */
static hd_table *golden_table(void)
{
    hd_table *t = open_shape(&golden_shape);
    uint64_t key[24], score[24];
    uint8_t value[24][12];
    for (uint64_t i = 0; i < 24; i++) {
        key[i] = i * i * i + 1;
        score[i] = i * 0x0101010101010101u;
        for (uint64_t k = 0; k < 12; k++) value[i][k] = (uint8_t)(i * 12 + k);
    }
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 24, .key = key, .value = value, .score = score };
    hd_batch gone = { .op = HD_OP_ERASE, .n = 3, .key = key + 4 };
    must(hd_run(t, &b));
    must(hd_run(t, &gone));
    must(hd_epoch_set(t, 3));
    return t;
}

static void bytes_are_as_documented(void **state)
{
    (void)state;
    hd_table *t = golden_table();
    must(hd_save(t, file("bytes")));
    model_contents c;
    contents_take(&c, t);
    size_t bytes, at[5];
    uint8_t *p = read_file(file("bytes"), &bytes);
    check(bytes == 384 + (36 + 7) / 8 + c.n * (16 + 12), "%zu bytes", bytes);
    check(!memcmp(p, "HEDDLE\r\n", 8) && number(p + 8, 4) == 1 && number(p + 12, 4) == 256, "magic, version or header bytes");
    check(!memcmp(p + 16, "hkv\0\0\0\0\0\0\0\0\0\0\0\0", 16) && !memcmp(p + 32, "custom\0\0\0\0\0\0\0\0\0", 16), "design or policy");
    check(number(p + 48, 8) == 4 && number(p + 56, 4) == 9 && number(p + 60, 4) == 12, "shape");
    check(number(p + 64, 8) == golden_shape.seed && number(p + 72, 8) == 27 && number(p + 80, 4) == 3 && number(p + 84, 4) == 3, "seed, clock, epoch or flags");
    check(number(p + 88, 8) == c.n && number(p + 96, 8) == bytes, "size or file bytes");
    for (int i = 104; i < 240; i++) check(p[i] == 0, "byte %d is %d", i, p[i]);
    check(sum_is(p + 240, p, 240), "the header's sum");

    sections_of(p, bytes, at);
    for (int i = 0; i < 4; i++) {
        check(!memcmp(p + at[i], (const char *const[]){ "SLOT", "KEYS", "SCOR", "VALS" }[i], 4) && number(p + at[i] + 4, 4) == 0, "the head of section %d", i);
        check(sum_is(p + at[i + 1] - 16, p + at[i], at[i + 1] - 16 - at[i]), "the sum of section %d", i);
    }
    uint64_t entry = 0;
    for (uint64_t slot = 0; slot < 40; slot++) {
        if (!(p[at[0] + 16 + slot / 8] >> slot % 8 & 1)) continue;
        uint64_t i = 0;
        while (i < c.n && c.slot[i] != slot) i++;
        check(i < c.n, "slot %llu is marked, and empty", (ull)slot);
        check(number(p + at[1] + 16 + 8 * entry, 8) == c.key[i] && number(p + at[2] + 16 + 8 * entry, 8) == c.score[i], "key or score of slot %llu", (ull)slot);
        check(!memcmp(p + at[3] + 16 + 12 * entry, c.value + 12 * i, 12), "value of slot %llu", (ull)slot);
        entry++;
    }
    check(entry == c.n, "%llu slots are marked, %llu entries", (ull)entry, (ull)c.n);
    free(p);
    contents_give(&c);
    hd_close(t);
}

/* HEDDLE_WRITE_GOLDEN=1 writes the file anew: for a new version of the format, never for another reason. */
static void golden(void **state)
{
    (void)state;
    const char *top = getenv("top_srcdir");
    char path[4200];
    snprintf(path, sizeof path, "%s/tests/golden/snapshot-1", top ? top : ".");
    if (!getenv("HEDDLE_WRITE_GOLDEN") && access(path, R_OK)) test_skip("tests/golden/snapshot-1 is not here: set top_srcdir");
    hd_table *t = golden_table(), *u;
    must(hd_save(t, getenv("HEDDLE_WRITE_GOLDEN") ? path : file("golden")));
    if (getenv("HEDDLE_WRITE_GOLDEN")) must(hd_save(t, file("golden")));
    size_t bytes, want_bytes;
    uint8_t *p = read_file(file("golden"), &bytes), *want = read_file(path, &want_bytes);
    check(bytes == want_bytes, "%zu bytes, golden %zu", bytes, want_bytes);
    for (size_t i = 0; i < bytes; i++) check(p[i] == want[i], "byte %zu is %02x, golden %02x", i, p[i], want[i]);
    must(hd_open_snapshot(path, NULL, &u));
    same_table(t, u);
    free(p);
    free(want);
    hd_close(t);
    hd_close(u);
}

/* ---- Damage ------------------------------------------------------------------------------------------------ */

/* A table that snapshots are loaded into, under a ledger of its memory; and a snapshot of some 4 KiB that fits it. */
typedef struct victim {
    counting memory;
    hd_table *table;
    model_contents before;
    char path[4200];
    uint8_t *good;
    size_t bytes;
} victim;

static const shape victim_shape = { "lfu", 11, 15, 16, true, HD_ADMIT_SCORE, 12 }; /* 165 slots: no whole number of bytes of bits */

static void victim_open(victim *v)
{
    hd_table *t = open_shape(&victim_shape);
    feed(t, 200, 4);
    snprintf(v->path, sizeof v->path, "%s", file("victim"));
    must(hd_save(t, v->path));
    hd_close(t);
    v->good = read_file(v->path, &v->bytes);
    check(v->bytes >= 4096 && v->bytes < 8192, "%zu bytes", v->bytes);

    hd_config c = config_of(&victim_shape);
    counting_init(&v->memory);
    c.seams = &v->memory.seams;
    must(hd_open(&c, &v->table));
    feed(v->table, 77, 5);
    must(hd_epoch_set(v->table, 41));
    contents_take(&v->before, v->table);
}

static void victim_close(victim *v)
{
    must(hd_load(v->table, v->path, NULL)); /* the file is whole again */
    hd_close(v->table);
    check(v->memory.live_bytes == 0, "%llu bytes were not given back", (ull)v->memory.live_bytes);
    contents_give(&v->before);
    free(v->good);
}

static void unchanged(victim *v)
{
    model_contents now;
    contents_take(&now, v->table);
    check(contents_equal(&v->before, &now, true), "the table changed");
    contents_give(&now);
    must(hd_check(v->table));
}

/* The file, now of `bytes` bytes, must be refused in every way, with little memory. */
static void refused(victim *v, size_t bytes)
{
    uint64_t live = v->memory.live_bytes, dropped = 12345;
    hd_table *none = NULL;
    v->memory.peak_bytes = live;
    must_fail(hd_load(v->table, v->path, &dropped), HD_ECORRUPT, v->path);
    check(v->memory.peak_bytes - live <= 4 * (uint64_t)bytes + 64, "%llu bytes were allocated for a file of %zu", (ull)(v->memory.peak_bytes - live), bytes);
    check(v->memory.live_bytes == live && dropped == 12345, "memory was kept, or *dropped written");
    hd_config c = test_config();
    c.seams = &v->memory.seams;
    must_fail(hd_open_snapshot(v->path, &c, &none), HD_ECORRUPT, NULL);
    check(!none && v->memory.live_bytes == live, "a table was opened, or memory kept");
}

static void every_bit_flip(void **state)
{
    (void)state;
    victim v;
    victim_open(&v);
    int fd = open(v.path, O_WRONLY);
    check(fd >= 0, "cannot open %s", v.path);
    for (size_t bit = 0; bit < 8 * v.bytes; bit++) {
        uint8_t byte = (uint8_t)(v.good[bit / 8] ^ 1u << bit % 8);
        test_case("snapshot of %zu bytes, bit %zu of byte %zu flipped", v.bytes, bit % 8, bit / 8);
        check(pwrite(fd, &byte, 1, (off_t)(bit / 8)) == 1, "cannot write %s", v.path);
        refused(&v, v.bytes);
        if (bit % 8 == 7) {
            check(pwrite(fd, &v.good[bit / 8], 1, (off_t)(bit / 8)) == 1, "cannot write %s", v.path);
            unchanged(&v);
        }
    }
    close(fd);
    test_note("%zu bit flips, all refused", 8 * v.bytes);
    victim_close(&v);
}

static void every_truncation(void **state)
{
    (void)state;
    victim v;
    victim_open(&v);
    for (size_t bytes = v.bytes; bytes-- > 0;) {
        test_case("snapshot of %zu bytes cut to %zu", v.bytes, bytes);
        check(!truncate(v.path, (off_t)bytes), "cannot truncate %s", v.path);
        refused(&v, bytes);
        if (bytes % 64 == 0) unchanged(&v);
    }
    test_note("%zu truncations, all refused", v.bytes);
    write_file(v.path, v.good, v.bytes);
    victim_close(&v);
}

static void bytes_too_many(void **state)
{
    (void)state;
    victim v;
    victim_open(&v);
    uint8_t *longer = (uint8_t *)test_alloc(2 * v.bytes, 1);
    for (size_t more = 1; more <= v.bytes; more += more < 40 ? 1 : 997) {
        test_case("snapshot of %zu bytes, %zu more", v.bytes, more);
        memcpy(longer, v.good, v.bytes);
        memcpy(longer + v.bytes, v.good, more);
        write_file(v.path, longer, v.bytes + more);
        refused(&v, v.bytes + more);
        memset(longer + v.bytes, 0, more);
        write_file(v.path, longer, v.bytes + more);
        refused(&v, v.bytes + more);
    }
    unchanged(&v);
    write_file(v.path, v.good, v.bytes);
    victim_close(&v);
    free(longer);
}

/* Sums that are right over contents that are not: what only the numbers themselves can give away. */
static void nonsense_with_good_sums(void **state)
{
    static const struct {
        int at, bytes;
    } field[] = { { 0, 8 }, { 8, 4 }, { 12, 4 }, { 16, 1 }, { 31, 1 }, { 32, 1 }, { 47, 1 }, { 48, 8 }, { 56, 4 }, { 60, 4 }, { 84, 4 }, { 88, 8 }, { 96, 8 }, { 104, 8 }, { 239, 1 } };
    static const uint64_t extreme[] = { 0, 1, 3, 8, 255, 1025, 65537, 0x7fffffffu, 0x80000000u, 0xffffffffu, (uint64_t)1 << 40, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX };
    (void)state;
    victim v;
    victim_open(&v);
    uint8_t *p = (uint8_t *)test_alloc(v.bytes, 1);
    uint64_t tried = 0;
    for (size_t f = 0; f < sizeof field / sizeof field[0]; f++)
        for (size_t x = 0; x < sizeof extreme / sizeof extreme[0]; x++) {
            memcpy(p, v.good, v.bytes);
            for (int i = 0; i < field[f].bytes; i++) p[field[f].at + i] = (uint8_t)(extreme[x] >> 8 * i);
            if (!memcmp(p, v.good, v.bytes)) continue;
            sum_put(p + 240, p, 240);
            write_file(v.path, p, v.bytes);
            test_case("snapshot with %llu at byte %d, its sum made good", (ull)extreme[x], field[f].at);
            uint64_t live = v.memory.live_bytes;
            v.memory.peak_bytes = live;
            hd_status s = hd_load(v.table, v.path, NULL);
            /* another name or another way to admit is a sane file, of another table */
            bool sane = field[f].at == 16 || field[f].at == 32 || (field[f].at == 84 && extreme[x] < 8);
            check(s == HD_ECORRUPT || (sane && (s == HD_EINVAL || s == HD_OK)), "%s: %s", hd_status_name(s), hd_why());
            if (s == HD_ECORRUPT)
                check(v.memory.peak_bytes - live <= 4 * (uint64_t)v.bytes + 64 || field[f].at == 84, "%llu bytes were allocated", (ull)(v.memory.peak_bytes - live));
            if (s == HD_OK) { /* put back what was there */
                check(field[f].at == 84, "loaded");
                hd_close(v.table);
                hd_config c = config_of(&victim_shape);
                c.seams = &v.memory.seams;
                must(hd_open(&c, &v.table));
                feed(v.table, 77, 5);
                must(hd_epoch_set(v.table, 41));
            }
            unchanged(&v);
            tried++;
        }
    test_note("%llu headers that make no sense", (ull)tried);
    free(p);
    write_file(v.path, v.good, v.bytes);
    victim_close(&v);
}

static void reseal(uint8_t *p, const size_t at[5])
{
    for (int i = 0; i < 4; i++) sum_put(p + at[i + 1] - 16, p + at[i], at[i + 1] - 16 - at[i]);
}

/* Sections with another tag, length or anything in the four zeros. */
static void sections_with_good_sums(void **state)
{
    (void)state;
    victim v;
    victim_open(&v);
    size_t at[5];
    sections_of(v.good, v.bytes, at);
    uint8_t *p = (uint8_t *)test_alloc(v.bytes, 1);
    for (int section = 0; section < 4; section++)
        for (int byte = 0; byte < 16; byte++) {
            memcpy(p, v.good, v.bytes);
            p[at[section] + (size_t)byte] ^= 1;
            reseal(p, at);
            write_file(v.path, p, v.bytes);
            test_case("snapshot with byte %d of section %d's head changed, its sum made good", byte, section);
            refused(&v, v.bytes);
        }
    unchanged(&v);
    free(p);
    write_file(v.path, v.good, v.bytes);
    victim_close(&v);
}

/* Entries that cannot be: a key twice, a key away from home, a reserved key, too many or too few slots, a slot
 * past the last. */
static void impossible_entries(void **state)
{
    (void)state;
    victim v;
    victim_open(&v);
    size_t at[5];
    sections_of(v.good, v.bytes, at);
    uint8_t *p = (uint8_t *)test_alloc(v.bytes, 1), *slots = p + at[0] + 16, *keys = p + at[1] + 16;
    uint64_t entries = number(v.good + 88, 8);
    for (int kind = 0; kind < 8; kind++) {
        memcpy(p, v.good, v.bytes);
        uint64_t reserved = UINT64_MAX - (uint64_t)kind, first_clear = 0, first_set = 0;
        while (slots[first_clear / 8] >> first_clear % 8 & 1) first_clear++;
        while (!(slots[first_set / 8] >> first_set % 8 & 1)) first_set++;
        switch (kind) {
        case 0:
        case 1:
        case 2: memcpy(keys + 8 * (entries / 2), &reserved, 8); break;
        case 3: memcpy(keys + 8, keys, 8); break;                             /* twice, side by side   */
        case 4: memcpy(keys, keys + 8 * (entries - 1), 8); break;             /* first and last bucket */
        case 5: slots[first_clear / 8] |= (uint8_t)(1u << first_clear % 8); break;
        case 6: slots[first_set / 8] &= (uint8_t)~(1u << first_set % 8); break;
        default: slots[at[1] - at[0] - 33] |= 0x80; break;
        }
        reseal(p, at);
        write_file(v.path, p, v.bytes);
        test_case("snapshot with impossible entries, kind %d, sums made good", kind);
        must_fail(hd_load(v.table, v.path, NULL), HD_ECORRUPT, NULL);
        unchanged(&v);
    }
    free(p);
    write_file(v.path, v.good, v.bytes);
    victim_close(&v);
}

static void another_table(void **state)
{
    (void)state;
    shape s = { "lru", 4, 8, 8, false, HD_ADMIT_SCORE, 0 }, policy = s, wider = s;
    policy.policy = "lfu";
    wider.value_bytes = 9;
    hd_table *t = open_shape(&s), *p = open_shape(&policy), *w = open_shape(&wider), *none = NULL;
    hd_snapshot_info info;
    model_contents before, after;
    feed(t, 20, 1);
    feed(p, 20, 2);
    feed(w, 20, 3);
    must(hd_save(t, file("another")));
    contents_take(&before, p);
    must_fail(hd_load(p, file("another"), NULL), HD_EINVAL, "policy");
    contents_take(&after, p);
    check(contents_equal(&before, &after, true), "the table changed");
    contents_give(&before);
    contents_give(&after);
    must_fail(hd_load(w, file("another"), NULL), HD_EINVAL, "value_bytes");
    must_fail(hd_load(t, file("nowhere"), NULL), HD_EIO, "nowhere");
    must_fail(hd_open_snapshot(file("nowhere"), NULL, &none), HD_EIO, "nowhere");
    must_fail(hd_snapshot_inspect(file("nowhere"), &info), HD_EIO, "nowhere");
    must_fail(hd_load(t, test_folder(), NULL), HD_EIO, NULL); /* a folder */
    must_fail(hd_save(t, file("no/folder")), HD_EIO, "no/folder");
    must_fail(hd_save(t, NULL), HD_EINVAL, "path");
    must_fail(hd_save(NULL, file("another")), HD_EINVAL, "table");
    must_fail(hd_load(t, NULL, NULL), HD_EINVAL, "path");
    must_fail(hd_load(NULL, file("another"), NULL), HD_EINVAL, "table");
    must_fail(hd_snapshot_inspect(file("another"), NULL), HD_EINVAL, "info");
    must_fail(hd_open_snapshot(file("another"), NULL, NULL), HD_EINVAL, "table");
    must(hd_load(t, file("another"), NULL));
    hd_close(t);
    hd_close(p);
    hd_close(w);
}

/* ---- Another shape --------------------------------------------------------------------------------------------- */

static int greater_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* The scores that each bucket of a single-mode table must hold: the best `slots` of those that belong there. */
static void best_per_bucket(const model_contents *from, const model_contents *kept, const model *m)
{
    uint64_t *want = (uint64_t *)test_alloc(from->n, 8), *have = (uint64_t *)test_alloc(kept->n, 8), b[2];
    for (uint64_t bucket = 0; bucket < m->buckets; bucket++) {
        uint64_t n = 0, k = 0;
        for (uint64_t i = 0; i < from->n; i++)
            if (model_buckets(m, from->key[i], b) && b[0] == bucket) want[n++] = from->score[i];
        for (uint64_t i = 0; i < kept->n; i++)
            if (model_buckets(m, kept->key[i], b) && b[0] == bucket) have[k++] = kept->score[i];
        qsort(want, (size_t)n, 8, greater_first);
        qsort(have, (size_t)k, 8, greater_first);
        check(k == (n < m->slots ? n : m->slots), "bucket %llu has %llu entries of %llu", (ull)bucket, (ull)k, (ull)n);
        check(!k || !memcmp(want, have, (size_t)k * 8), "bucket %llu did not keep the best", (ull)bucket);
    }
    free(want);
    free(have);
}

/* Dual: by hand, best score first (all differ), into the emptier of two buckets that has room. */
static void best_into_pairs(const model_contents *from, const model_contents *kept, model *m)
{
    uint64_t *order = (uint64_t *)test_alloc(from->n, 8), n = 0, b[2];
    for (uint64_t i = 0; i < from->n; i++) order[i] = from->score[i];
    qsort(order, (size_t)from->n, 8, greater_first);
    for (uint64_t r = 0; r < from->n; r++) {
        uint64_t i = 0;
        while (from->score[i] != order[r]) i++;
        model_buckets(m, from->key[i], b);
        uint64_t to = m->used[b[1]] < m->used[b[0]] ? b[1] : b[0];
        if (m->used[to] == m->slots) continue;
        m->key[to * m->slots + m->used[to]++] = from->key[i];
        n++;
    }
    check(n == kept->n, "%llu entries kept instead of %llu", (ull)kept->n, (ull)n);
    for (uint64_t i = 0; i < kept->n; i++) check(model_find(m, kept->key[i]) != MODEL_NONE, "key %llu was kept for a better one", (ull)kept->key[i]);
    free(order);
}

static void into(const shape *from, const shape *to, uint64_t upserts)
{
    hd_table *t = open_shape(from), *u = open_shape(to);
    model_contents a, b;
    model m;
    uint64_t dropped = 99;
    feed(t, upserts, 6);
    feed(u, 30, 7);
    must(hd_epoch_set(t, 9));
    must(hd_save(t, file("into")));
    must(hd_load(u, file("into"), &dropped));
    must(hd_check(u));
    contents_take(&a, t);
    contents_take(&b, u);
    test_case("snapshot policy=%s buckets=%llu slots=%u%s into buckets=%llu slots=%u%s", from->policy, (ull)from->buckets, from->slots,
              from->dual ? " dual" : "", (ull)to->buckets, to->slots, to->dual ? " dual" : "");
    check(b.now == a.now && b.epoch == a.epoch, "clock %llu, epoch %u", (ull)b.now, b.epoch);
    check(dropped == a.n - b.n, "%llu dropped of %llu, %llu kept", (ull)dropped, (ull)a.n, (ull)b.n);
    for (uint64_t i = 0, k = 0; i < b.n; i++) {
        while (k < a.n && a.key[k] != b.key[i]) k++;
        check(k < a.n && a.score[k] == b.score[i] && !memcmp(a.value + k * a.value_bytes, b.value + i * b.value_bytes, a.value_bytes),
              "key %llu was not saved so", (ull)b.key[i]);
    }
    model_open(&m, u);
    if (from == to) check(dropped == 0, "%llu dropped by a table of the same shape", (ull)dropped);
    else if (to->dual) best_into_pairs(&a, &b, &m);
    else best_per_bucket(&a, &b, &m);
    model_close(&m);
    contents_give(&a);
    contents_give(&b);
    hd_close(t);
    hd_close(u);
}

static void another_shape(void **state)
{
    static const shape shapes[] = {
        { "custom", 8, 16, 8, false, HD_ADMIT_SCORE, 0 },  { "custom", 8, 16, 8, true, HD_ADMIT_SCORE, 0 },
        { "custom", 3, 16, 8, false, HD_ADMIT_SCORE, 0 },  { "custom", 3, 16, 8, true, HD_ADMIT_SCORE, 0 },
        { "custom", 40, 9, 8, false, HD_ADMIT_ALWAYS, 5 }, { "custom", 40, 9, 8, true, HD_ADMIT_ALWAYS, 5 },
        { "custom", 2, 2, 8, true, HD_ADMIT_SCORE, 0 },    { "custom", 8, 16, 8, false, HD_ADMIT_SCORE, 77 },
    };
    (void)state;
    for (size_t a = 0; a < sizeof shapes / sizeof shapes[0]; a++)
        for (size_t b = 0; b < sizeof shapes / sizeof shapes[0]; b++) {
            into(&shapes[a], &shapes[b], 60);
            into(&shapes[a], &shapes[b], 1000);
        }
}

/* Equal scores: as many stay as there is room for, and every other one is counted. */
static void equal_scores(void **state)
{
    (void)state;
    shape big = { "custom", 16, 16, 8, false, HD_ADMIT_SCORE, 0 }, small = { "custom", 3, 16, 8, false, HD_ADMIT_SCORE, 0 };
    for (int is_dual = 0; is_dual < 2; is_dual++) {
        small.dual = is_dual;
        hd_table *t = open_shape(&big), *u = open_shape(&small);
        uint64_t key[200], score[200], before, after, dropped;
        for (uint64_t i = 0; i < 200; i++) key[i] = i, score[i] = i % 2;
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 200, .key = key, .value = key, .score = score };
        must(hd_run(t, &b));
        must(hd_save(t, file("equal")));
        must(hd_load(u, file("equal"), &dropped));
        must(hd_size_sync(t, &before));
        must(hd_size_sync(u, &after));
        check(after == 48 && dropped == before - after, "%llu of %llu kept, %llu dropped", (ull)after, (ull)before, (ull)dropped);
        hd_close(t);
        hd_close(u);
    }
}

/* ---- A process that dies ------------------------------------------------------------------------------------------ */

/* 50 times, a child that saves two tables in turn is killed at some moment: one of the two is there, whole. */
static void killed_while_saving(void **state)
{
    (void)state;
    if (test_far()) test_skip("a forked child has no device");
    shape s = { "lru", 40, 64, 40, false, HD_ADMIT_SCORE, 0 };
    hd_table *odd = open_shape(&s), *even = open_shape(&s), *t;
    hd_config c = config_of(&s);
    model_contents first, second, now;
    uint64_t random = 8, was_first = 0, parts = 0, rounds = test_times(50);
    feed(odd, 4000, 1);
    feed(even, 3000, 2);
    contents_take(&first, odd);
    contents_take(&second, even);
    char path[4200];
    snprintf(path, sizeof path, "%s", file("killed"));
    must(hd_save(odd, path));
    for (uint64_t round = 0; round < rounds; round++) {
        test_case("kill -9 while saving, round %llu", (ull)round);
        pid_t child = fork();
        check(child >= 0, "cannot fork");
        if (child == 0)
            for (int i = 0;; i++)
                if (hd_save(i % 2 ? odd : even, path)) _exit(9);
        struct timespec nap = { 0, (long)(1000 + test_below(&random, 4000000)) };
        nanosleep(&nap, NULL);
        int status;
        kill(child, SIGKILL);
        check(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "a save failed in the child");
        must(hd_open_snapshot(path, &c, &t));
        contents_take(&now, t);
        bool is_first = contents_equal(&now, &first, true);
        check(is_first || contents_equal(&now, &second, true), "neither the one table nor the other");
        was_first += is_first;
        contents_give(&now);
        hd_close(t);

        DIR *d = opendir(test_folder()); /* what a crash may leave behind */
        for (struct dirent *e; (e = readdir(d));)
            if (strstr(e->d_name, ".part")) {
                unlink(file(e->d_name));
                parts++;
            }
        closedir(d);
    }
    test_note("%llu kills: the one table %llu times, the other %llu, a part left behind %llu times", (ull)rounds, (ull)was_first, (ull)(rounds - was_first), (ull)parts);
    contents_give(&first);
    contents_give(&second);
    hd_close(odd);
    hd_close(even);
}

/* A save that fails leaves the old file, and nothing beside it. */
static void failed_save_leaves_no_part(void **state)
{
    (void)state;
    shape s = { "lru", 4, 8, 8, false, HD_ADMIT_SCORE, 0 };
    hd_table *t = open_shape(&s);
    char folder[4200], target[4300];
    snprintf(folder, sizeof folder, "%s", file("only"));
    check(!mkdir(folder, 0700), "cannot make %s", folder);
    snprintf(target, sizeof target, "%s/table", folder);
    check(!mkdir(target, 0700), "cannot make %s", target);
    must_fail(hd_save(t, target), HD_EIO, "rename"); /* a folder is in the way */
    check(files_in(folder) == 1, "a part was left in %s", folder);
    check(!rmdir(target), "cannot remove %s", target);
    must(hd_save(t, target));
    must(hd_save(t, target));
    check(files_in(folder) == 1, "a part was left in %s", folder);
    unlink(target);
    rmdir(folder);
    hd_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(pins_are_dropped),
        cmocka_unit_test(bytes_are_as_documented),
        cmocka_unit_test(golden),
        cmocka_unit_test(every_bit_flip),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(bytes_too_many),
        cmocka_unit_test(nonsense_with_good_sums),
        cmocka_unit_test(sections_with_good_sums),
        cmocka_unit_test(impossible_entries),
        cmocka_unit_test(another_table),
        cmocka_unit_test(another_shape),
        cmocka_unit_test(equal_scores),
        cmocka_unit_test(failed_save_leaves_no_part),
        cmocka_unit_test(killed_while_saving),
    };
    return test_run(tests);
}
