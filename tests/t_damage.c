/* SPDX-License-Identifier: Apache-2.0
 *
 * t_damage.c - a file that is no complete snapshot is refused, with little memory, and the table does not change.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/snapshots.h"

/* A table that snapshots are loaded into, under a ledger of its memory; and a snapshot of some 4 KiB that fits it. */
typedef struct victim {
    counting memory;
    hd_table *table;
    model_contents before;
    char path[4200];
    uint8_t *good, *bad; /* bad: room for twice as many, to damage a copy in */
    size_t bytes, at[5]; /* at: of its sections, and its end */
} victim;

/* 165 slots: no whole number of bytes of bits */
static const snapshot_shape victim_shapes[] = {
    { "lfu", 11, 15, 16, true, HD_ADMIT_SCORE, 12 },
    { "expr:on_insert=given;on_hit=max(old,now)+given;admission=MAX", 11, 15, 16, true, HD_ADMIT_SCORE, 12 },
};
enum { VICTIMS = sizeof victim_shapes / sizeof *victim_shapes };

static void victim_open_as(victim *v, const snapshot_shape *shape)
{
    hd_table *t = shape_open(shape);
    feed(t, 200, 4);
    snprintf(v->path, sizeof v->path, "%s", test_path("victim"));
    must(hd_save(t, v->path));
    hd_close(t);
    v->good = test_read(v->path, &v->bytes);
    check(v->bytes >= 4096 && v->bytes < 8192, "%zu bytes", v->bytes);
    v->bad = (uint8_t *)test_alloc(2 * v->bytes, 1);
    snapshot_sections(v->good, v->bytes, v->at);

    hd_config c = shape_config(shape);
    counting_init(&v->memory);
    c.seams = &v->memory.seams;
    must(hd_open(&c, &v->table));
    feed_in_order(v->table, 77, 5);
    must(hd_epoch_set(v->table, 41));
    contents_take(&v->before, v->table);
}

static void victim_open(victim *v) { victim_open_as(v, &victim_shapes[0]); }

static void victim_close(victim *v)
{
    test_write(v->path, v->good, v->bytes);
    must(hd_load(v->table, v->path, NULL)); /* the file is whole again */
    hd_close(v->table);
    check(v->memory.live_bytes == 0, "%llu bytes were not given back", (ull)v->memory.live_bytes);
    contents_give(&v->before);
    free(v->good);
    free(v->bad);
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
    check(v->memory.peak_bytes - live <= 4 * (uint64_t)bytes + 64, "%llu bytes were allocated for a file of %zu",
          (ull)(v->memory.peak_bytes - live), bytes);
    check(v->memory.live_bytes == live && dropped == 12345, "memory was kept, or *dropped written");
    hd_config c = test_config();
    c.seams = &v->memory.seams;
    must_fail(hd_open_snapshot(v->path, &c, &none), HD_ECORRUPT, NULL);
    check(!none && v->memory.live_bytes == live, "a table was opened, or memory kept");
}

static void flip_every_bit(const snapshot_shape *shape)
{
    victim v;
    victim_open_as(&v, shape);
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
    test_tried("snapshots", 8 * v.bytes, "single bits of a file flipped, all refused");
    victim_close(&v);
}

static void every_bit_flip(void)
{
    for (int i = 0; i < VICTIMS; i++) flip_every_bit(&victim_shapes[i]);
}

static void truncate_everywhere(const snapshot_shape *shape)
{
    victim v;
    victim_open_as(&v, shape);
    for (size_t bytes = v.bytes; bytes-- > 0;) {
        test_case("snapshot of %zu bytes cut to %zu", v.bytes, bytes);
        check(!truncate(v.path, (off_t)bytes), "cannot truncate %s", v.path);
        refused(&v, bytes);
        if (bytes % 64 == 0) unchanged(&v);
    }
    test_tried("snapshots", v.bytes, "lengths that a file was cut to, all refused");
    victim_close(&v);
}

static void every_truncation(void)
{
    for (int i = 0; i < VICTIMS; i++) truncate_everywhere(&victim_shapes[i]);
}

static void bytes_too_many(void)
{
    victim v;
    victim_open(&v);
    for (size_t more = 1; more <= v.bytes; more += more < 40 ? 1 : 997) {
        test_case("snapshot of %zu bytes, %zu more", v.bytes, more);
        memcpy(v.bad, v.good, v.bytes);
        memcpy(v.bad + v.bytes, v.good, more);
        test_write(v.path, v.bad, v.bytes + more);
        refused(&v, v.bytes + more);
        memset(v.bad + v.bytes, 0, more);
        test_write(v.path, v.bad, v.bytes + more);
        refused(&v, v.bytes + more);
    }
    unchanged(&v);
    victim_close(&v);
}

static void reseal(uint8_t *p, const size_t at[5])
{
    for (int i = 0; i < 4; i++) snapshot_sum(p + at[i + 1] - 16, p + at[i], at[i + 1] - 16 - at[i]);
}

/* Sections with another tag, length or anything in the four zeros. */
static void sections_with_good_sums(void)
{
    victim v;
    victim_open(&v);
    uint8_t *p = v.bad;
    for (int section = 0; section < 4; section++)
        for (int byte = 0; byte < 16; byte++) {
            memcpy(p, v.good, v.bytes);
            p[v.at[section] + (size_t)byte] ^= 1;
            reseal(p, v.at);
            test_write(v.path, p, v.bytes);
            test_case("snapshot with byte %d of section %d's head changed, its sum made good", byte, section);
            refused(&v, v.bytes);
        }
    unchanged(&v);
    victim_close(&v);
}

/* Names of a later library, or of another design: the file is at fault, and is named. */
static void unknown_names(void)
{
    static const struct {
        const char *name, *word;
        size_t at;
    } row[] = { { "later", "the header's design 'later'", 16 },
                { "later", "the header's policy 'later'", 32 },
                { "none", "the header's policy 'none'", 32 } };
    victim v;
    victim_open(&v);
    uint8_t *p = v.bad;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        hd_table *none = NULL;
        hd_snapshot_info said;
        memcpy(p, v.good, v.bytes);
        memset(p + row[i].at, 0, 16);
        memcpy(p + row[i].at, row[i].name, strlen(row[i].name));
        snapshot_sum(p + 240, p, 240);
        test_write(v.path, p, v.bytes);
        test_case("snapshot with '%s' at byte %zu, its sum made good", row[i].name, row[i].at);
        must_fail(hd_open_snapshot(v.path, NULL, &none), HD_ECORRUPT, row[i].word);
        check(!none && strncmp(hd_why(), v.path, strlen(v.path)) == 0, "the file is not named: %s", hd_why());
        must(hd_snapshot_inspect(v.path, &said));
        check(!said.config.policy && (row[i].at == 16) == !said.config.design, "the configuration has the name");
    }
    victim_close(&v);
}

/* So are the fields of the header that another design has, and numbers that no table of this one has. */
static void fields_of_another_design(void)
{
    static const struct {
        const char *design;
        size_t at;
        uint8_t byte;
        const char *word;
    } row[] = { { "hive", 161, 1, "a field of the header" }, { "ovs", 120, 2, "a field of the header" },
                { "ovs", 124, 1, "a field of the header" },  { "ovs", 128, 'c', "a field of the header" },
                { "ovs", 160, 3, "no table of design ovs" }, { "ovs", 48, 33, "places" },
                { "ovs", 161, 64, "the header's buckets" },  { "ovs", 104, 0, "base_buckets" },
                { "hive", 84, 16, "the header's flags" },    { "ovs", 84, 1, "the header's flags" } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        hd_config c = hd_config_of(row[i].design);
        hd_table *t = NULL, *none = NULL;
        size_t bytes;
        c.backend = "ref";
        c.capacity = 256;
        if (strcmp(row[i].design, "ovs") == 0) c.ovs.segment_bytes = 512;
        must(hd_open(&c, &t));
        feed_in_order(t, 77, 5);
        must(hd_save(t, test_path("foreign")));
        hd_close(t);
        uint8_t *p = test_read(test_path("foreign"), &bytes);
        p[row[i].at] = row[i].byte;
        snapshot_sum(p + 240, p, 240);
        test_write(test_path("foreign"), p, bytes);
        free(p);
        test_case("a snapshot of %s with %u at byte %zu, its sum made good", row[i].design, row[i].byte, row[i].at);
        must_fail(hd_open_snapshot(test_path("foreign"), NULL, &none), HD_ECORRUPT, NULL);
        check(strstr(hd_why(), row[i].word) || row[i].at == 48, "%s", hd_why());
        check(!none, "it was opened");
    }
}

/* ---- Files that change while they are read --------------------------------------------------- */

/* The system's files, but that opening number `at`, and with `later` those after it, show something else: another file,
 * or the same with what is from byte `byte` on cut off, or with one bit of that byte flipped: whenever it is read, or
 * the nth time. */
typedef struct changing {
    int opened, at;
    bool later;
    const char *other; /* NULL: the same */
    bool cuts;
    size_t byte;
    int fd; /* that shows it; -1: none */
    size_t position;
    int nth, readings; /* nth 0: always */
} changing;

static int changing_open(void *self, const char *path, int flags, int mode)
{
    changing *c = (changing *)self;
    bool now = ++c->opened == c->at || (c->later && c->opened > c->at);
    int fd = hd_seams_os.file.open(NULL, now && c->other ? c->other : path, flags, mode);
    if (now) c->fd = fd, c->position = 0;
    return fd;
}

static ptrdiff_t changing_read(void *self, int fd, void *p, size_t bytes)
{
    changing *c = (changing *)self;
    if (fd != c->fd || c->other) return hd_seams_os.file.read(NULL, fd, p, bytes);
    size_t left = c->position < c->byte ? c->byte - c->position : 0;
    if (c->cuts && bytes > left) bytes = left;
    ptrdiff_t n = bytes ? hd_seams_os.file.read(NULL, fd, p, bytes) : 0;
    for (ptrdiff_t i = 0; i < n && !c->cuts; i++)
        if (c->position + (size_t)i == c->byte && (++c->readings == c->nth || !c->nth))
            ((uint8_t *)p)[i] ^= (uint8_t)(1u << c->byte % 8);
    c->position += n > 0 ? (size_t)n : 0;
    return n;
}

static int changing_seek(void *self, int fd, uint64_t offset)
{
    changing *c = (changing *)self;
    if (fd == c->fd) c->position = (size_t)offset;
    return hd_seams_os.file.seek(NULL, fd, offset);
}

/* 13 entries of a small table, in an order, with scores and values, that hang on `seed`; headers do not. */
static const snapshot_shape small_shape = { "lfu", 3, 15, 4, false, HD_ADMIT_SCORE, 12 };

static hd_table *small_table(uint64_t seed, hd_config c)
{
    enum { ENTRIES = 13 };
    uint64_t key[ENTRIES], score[ENTRIES];
    uint32_t value[ENTRIES];
    hd_table *t;
    for (uint64_t i = 0; i < ENTRIES; i++) {
        key[i] = (i + seed) % ENTRIES;
        score[i] = key[i] + 100 * seed;
        value[i] = (uint32_t)score[i];
    }
    must(hd_open(&c, &t));
    must(hd_run(t,
                &(hd_batch){ .op = HD_OP_INSERT_OR_ASSIGN, .n = ENTRIES, .key = key, .value = value, .score = score }));
    return t;
}

typedef struct rewritten {
    changing file;
    hd_seams seams;
    hd_table *table;
    model_contents before, good;
    char path[4200];
} rewritten;

static void rewritten_open(rewritten *r)
{
    hd_config c = shape_config(&small_shape);
    memset(r, 0, sizeof *r);
    snprintf(r->path, sizeof r->path, "%s", test_path("rewritten"));
    hd_table *t = small_table(1, c);
    must(hd_save(t, r->path));
    contents_take(&r->good, t);
    hd_close(t);
    r->seams = hd_seams_os;
    r->seams.file.open = changing_open;
    r->seams.file.read = changing_read;
    r->seams.file.seek = changing_seek;
    r->seams.file.self = &r->file; /* the system's do not look at it */
    c.seams = &r->seams;
    r->table = small_table(5, c);
    contents_take(&r->before, r->table);
}

static void rewritten_close(rewritten *r)
{
    hd_close(r->table);
    contents_give(&r->before);
    contents_give(&r->good);
}

/* The table as it was before a load. */
static void rewritten_renew(rewritten *r)
{
    hd_config c = shape_config(&small_shape);
    c.seams = &r->seams;
    hd_close(r->table);
    r->table = small_table(5, c);
}

/* The table holds these entries, and is in order. */
static void holds(rewritten *r, const model_contents *want)
{
    model_contents now;
    contents_take(&now, r->table);
    check(contents_equal(want, &now, true), "the table holds something else");
    contents_give(&now);
    must(hd_check(r->table));
}

/* The file is shorter, or has a bit flipped, at each byte: always, or the nth time that the byte is read. The first
 * block is read for the header, the second one to verify all sections, and then one for each section: they all go on to
 * the end of the file. */
static void changed_under_the_reader(void)
{
    enum { ALWAYS, CUT = -1, SECTIONS = 4 };
    rewritten r;
    rewritten_open(&r);
    const size_t header = 256;
    size_t bytes, at[SECTIONS + 1];
    uint64_t tried = 0, refusals = 0;
    uint8_t *file = test_read(r.path, &bytes);
    snapshot_sections(file, bytes, at);
    for (int nth = CUT; nth <= SECTIONS + 2; nth++)
        for (size_t byte = 0; byte < bytes; byte++, tried++) {
            int section = -1; /* the header */
            while (section + 1 < SECTIONS && byte >= at[section + 1]) section++;
            bool looks = nth <= ALWAYS || (section < 0 ? nth == 1 : nth == 2 || nth == section + 3);
            test_case("snapshot of %zu bytes, %s byte %zu, reading %d", bytes, nth == CUT ? "cut short at" : "another",
                      byte, nth);
            r.file = (changing){ .at = 1, .cuts = nth == CUT, .byte = byte, .fd = -1, .nth = nth == CUT ? 0 : nth };
            if (!looks) {
                must(hd_load(r.table, r.path, NULL));
                holds(&r, &r.good);
                rewritten_renew(&r);
                continue;
            }
            must_fail(hd_load(r.table, r.path, NULL), HD_ECORRUPT, r.path);
            if (byte % 16 == 0) holds(&r, &r.before);
            refusals++;
        }
    holds(&r, &r.before);
    /* cut, always another, and by each reading that looks at it: one of the header, two of sections */
    check(refusals == 3 * header + 4 * (bytes - header), "%llu of %llu were refused", (ull)refusals, (ull)tried);
    test_tried("snapshots", tried, "changes to a file while it is read, %llu of them where it was looked at",
               (ull)refusals);
    free(file);
    rewritten_close(&r);
}

/* Another snapshot, as good, and alike to the last byte of its header, takes the file's place: it is the one that is
 * read, or it is not. No table is made of both. */
static void replaced_under_the_reader(void)
{
    rewritten r;
    rewritten_open(&r);
    char other[4200];
    snprintf(other, sizeof other, "%s", test_path("other"));
    hd_table *t = small_table(7, shape_config(&small_shape));
    must(hd_save(t, other));
    size_t bytes, same;
    uint8_t *a = test_read(r.path, &bytes), *b = test_read(other, &same);
    check(bytes == same && memcmp(a, b, 256) == 0 && memcmp(a + 256, b + 256, bytes - 256) != 0,
          "headers that differ, or files that do not");
    for (int later = 0; later < 2; later++)
        for (int at = 1; at <= 3; at++) {
            test_case("another file when it is opened for the %dth time%s", at, later ? ", and from then on" : "");
            r.file = (changing){ .at = at, .later = later, .other = other, .fd = -1 };
            must(hd_load(r.table, r.path, NULL));
            model_contents want;
            contents_take(&want, t);
            holds(&r, at == 1 ? &want : &r.good);
            contents_give(&want);
            check(r.file.opened == 1, "the file was opened %d times", r.file.opened);
            rewritten_renew(&r);
        }
    hd_close(t);
    free(a);
    free(b);
    rewritten_close(&r);
}

/* A large file is not verified before its entries are put. Damage anywhere is named by its section all the same, and
 * costs no more than four times the file. */
static void large_files(void)
{
    enum { ENTRIES = 300000, PLACES = 40 };
    counting memory;
    counting_init(&memory);
    uint64_t *key = (uint64_t *)test_alloc(ENTRIES, 8), random = 1;
    uint8_t *value = (uint8_t *)test_alloc(ENTRIES, 32);
    hd_config c = test_usual(.backend = test_backend("ref"), .capacity = ENTRIES * 3 / 2, .value_bytes = 32,
                             .seams = &memory.seams);
    for (uint64_t i = 0; i < ENTRIES; i++) key[i] = test_random(&random) >> 1;
    hd_table *t, *again = NULL;
    must(hd_open(&c, &t));
    must(hd_run(t, &(hd_batch){ .op = HD_OP_INSERT_OR_ASSIGN, .n = ENTRIES, .key = key, .value = value }));
    const char *path = test_path("large");
    must(hd_save(t, path));
    size_t bytes, at[5];
    uint8_t *file = test_read(path, &bytes);
    snapshot_sections(file, bytes, at);
    for (int i = 0; i < PLACES; i++) {
        size_t begin = at[i % 4] + 16, end = at[i % 4 + 1] - (i % 8 < 4 ? 16 : 0), byte;
        byte = i % 8 < 4 ? begin + (size_t)test_below(&random, end - begin) : end - 1 - (size_t)test_below(&random, 16);
        uint64_t live = memory.live_bytes;
        file[byte] ^= 1;
        test_write(path, file, bytes);
        test_case("byte %zu of %zu, section %d", byte, bytes, i % 4);
        memory.peak_bytes = live;
        must_fail(hd_load(t, path, NULL), HD_ECORRUPT, "is damaged");
        must_fail(hd_open_snapshot(path, &c, &again), HD_ECORRUPT, "is damaged");
        check(memory.peak_bytes - live <= 4 * bytes && memory.live_bytes == live, "%llu bytes for a file of %zu",
              (ull)(memory.peak_bytes - live), bytes);
        file[byte] ^= 1;
    }
    test_write(path, file, bytes);
    must(hd_load(t, path, NULL));
    must(hd_check(t));
    hd_close(t);
    check(memory.live_bytes == 0, "memory was kept");
    free(file);
    free(key);
    free(value);
}

static const struct CMUnitTest tests[] = { unit(every_bit_flip),
                                           unit(every_truncation),
                                           unit(bytes_too_many),
                                           unit(sections_with_good_sums),
                                           unit(unknown_names),
                                           unit(fields_of_another_design),
                                           unit(changed_under_the_reader),
                                           unit(replaced_under_the_reader),
                                           unit(large_files) };

int main(void) { return test_run(tests); }
