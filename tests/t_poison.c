/* SPDX-License-Identifier: Apache-2.0
 *
 * t_poison.c - no uninitialised memory reaches a user. Three tables run the same batches. They differ only in the
 * content of fresh memory: zeros, ones, noise. Outputs are poisoned before each batch, in the same way for all three.
 * Every byte of every output, every result of a whole-table call and every snapshot must be the same in all three: a
 * byte from memory that was not written would differ. On the reference, on the host machine, and on a fake device,
 * whose memory is poisoned too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/op.h"
#include "policies/policy.h"
#include "tests/fake_device.h"
#include "tests/faulty.h"

enum { LIVES = 3, MOST = 80, VALUE_MOST = 40, LISTED = 1024 };

static const uint64_t poison[LIVES] = { 0, 0xff, 0x1234567 };

/* Outputs first: they are what is compared. */
typedef struct arrays {
    uint64_t score_out[MOST], list_key[LISTED], list_score[LISTED], list_item[LISTED], count;
    uint8_t value_out[MOST * VALUE_MOST], list_value[LISTED * VALUE_MOST], outcome[MOST];
    void *ptr[MOST];
    uint64_t key[MOST], score[MOST];
    uint8_t value[MOST * VALUE_MOST], flag[MOST];
} arrays;

typedef struct life {
    fake_device fake;
    counting memory;
    hd_table *table;
    arrays a;
} life;

static life lives[LIVES];
static uint64_t compared;

/* The same in all of them, byte for byte. */
static void alike(const void *p, const void *q, size_t bytes, const char *what)
{
    const uint8_t *a = (const uint8_t *)p, *b = (const uint8_t *)q;
    for (size_t i = 0; i < bytes; i++)
        check(a[i] == b[i], "%s: byte %zu is %02x in one life, %02x in another", what, i, a[i], b[i]);
    compared += bytes;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static hd_config shape(uint64_t *random, const char *backend)
{
    static const uint32_t bytes[] = { 0, 8, 12, 40 }, slots[] = { 2, 16, 33, 128 };
    hd_config c = hd_config_default();
    c.backend = backend;
    c.slots = slots[test_below(random, 4)];
    c.capacity = c.slots * (2 + test_below(random, 3));
    c.value_bytes = bytes[test_below(random, 4)];
    c.hkv.dual = test_below(random, 2);
    c.policy = hd_policy_rows[test_below(random, HD_POLICY_COUNT)].name;
    c.hkv.admit = (hd_admit)test_below(random, 2);
    c.layout = (hd_layout)test_below(random, 3);
    c.hkv.pins = (uint32_t)test_below(random, 6);
    c.hkv.tiers = (hd_tiers)test_below(random, 2);
    c.hkv.device_value_bytes = test_below(random, 3) * c.capacity * c.value_bytes / 3;
    c.hkv.fetch = (hd_fetch)test_below(random, 3);
    return c;
}

static void draw(uint64_t *random, const hd_info *info, hd_batch *b, arrays *a)
{
    static const char *const pred[] = { "all", "key_in", "score_below", "value_zero" };
    memset(b, 0, sizeof *b);
    memset(a, (int)(0x80 | test_below(random, 128)), sizeof *a);
    b->op = test_below(random, 2) ? (hd_op)test_below(random, HD_OP_COUNT_) : HD_OP_INSERT_OR_ASSIGN;
    if (hd_op_does(b->op, HD_ORDERED)) b->op = HD_OP_FIND;
    if (b->op == HD_OP_CLEAR && test_below(random, 4)) b->op = HD_OP_EXPORT;
    b->elem = HD_I32;
    b->n = test_below(random, MOST + 1);
    b->holder = 1 + test_below(random, 2);
    b->pred = pred[test_below(random, 4)];
    b->pred_arg[1] = 60;
    if (hd_op_row_of(b->op)->needs & HD_OF_SLOTS) {
        b->start = test_below(random, info->capacity + 1);
        b->n = test_below(random, info->capacity - b->start + 1);
    }
    for (uint64_t i = 0; i < MOST; i++) {
        a->key[i] = test_below(random, 16) ? test_below(random, 300) : HD_KEY_RESERVED + test_below(random, 3);
        a->score[i] = test_below(random, 1000);
        a->flag[i] = (uint8_t)test_below(random, 3);
    }
    for (size_t i = 0; i < sizeof a->value; i++) a->value[i] = (uint8_t)test_random(random);
}

/* Pointers that two tables give for one entry differ, and what they point to may not: a value that is there is all
 * written. */
static void alike_behind(const life *x, const life *y, void *untouched, uint32_t value_bytes)
{
    bool far = x->memory.seams.device == &x->fake.seam; /* out of this machine's reach */
    for (int i = 0; i < MOST; i++) {
        void *p = x->a.ptr[i], *q = y->a.ptr[i];
        check((p == untouched) == (q == untouched) && (p == NULL) == (q == NULL),
              "pointer %d was given in one life, and not in another", i);
        if (p != untouched && p && !far) alike(p, q, value_bytes, "a value by its pointer");
    }
}

static void one_batch(uint64_t *random, const hd_info *info)
{
    hd_batch b;
    arrays a;
    hd_status status[LIVES];
    draw(random, info, &b, &a);
    test_case("%s of %d items on %s: slots=%d value=%d dual=%d policy=%s layout=%d", hd_op_name(b.op), (int)b.n,
              info->backend, (int)info->slots, (int)info->value_bytes, info->hkv.dual, info->policy, info->layout);
    for (int k = 0; k < LIVES; k++) {
        memcpy(&lives[k].a, &a, sizeof a);
        test_point(&b, &lives[k].a);
        status[k] = hd_run(lives[k].table, &b);
        check(status[k] == HD_OK || (status[k] == HD_EINVAL && b.op == HD_OP_ACCUM_OR_ASSIGN), "%s", hd_why());
    }
    for (int k = 1; k < LIVES; k++) {
        alike_behind(&lives[0], &lives[k], a.ptr[0], info->value_bytes);
        memcpy(lives[k].a.ptr, lives[0].a.ptr, sizeof a.ptr);
        alike(&lives[0].a, &lives[k].a, sizeof a, "an output");
    }
}

/* ---- Everything else that a table says ------------------------------------------------------- */

typedef struct sayings {
    hd_info info;
    hd_counters counters;
    hd_snapshot_info file;
    double load;
    uint64_t size, dropped;
} sayings;

static void same_words(void)
{
    static sayings said[LIVES];
    uint8_t *file[LIVES];
    size_t bytes[LIVES];
    memset(said, 0x77, sizeof said);
    for (int k = 0; k < LIVES; k++) {
        hd_table *t = lives[k].table;
        const char *path = test_path("poisoned");
        must(hd_check(t));
        must(hd_table_info(t, &said[k].info));
        must(hd_counters_sync(t, &said[k].counters));
        must(hd_load_factor_sync(t, &said[k].load));
        must(hd_size_sync(t, &said[k].size));
        must(hd_save(t, path));
        must(hd_snapshot_inspect(path, &said[k].file));
        must(hd_load(t, path, &said[k].dropped));
        file[k] = test_read(path, &bytes[k]);
    }
    for (int k = 1; k < LIVES; k++) {
        alike(&said[0], &said[k], sizeof said[k], "what a table says of itself");
        check(bytes[0] == bytes[k], "snapshots of %zu and %zu bytes", bytes[0], bytes[k]);
        alike(file[0], file[k], bytes[k], "a snapshot");
    }
    for (int k = 0; k < LIVES; k++) free(file[k]);
}

/* ---- Lives ----------------------------------------------------------------------------------- */

static void live(uint64_t seed, const char *backend, int batches)
{
    uint64_t random = seed;
    bool far = strcmp(backend, "cuda") == 0;
    hd_config c = shape(&random, backend);
    hd_info info;
    for (int k = 0; k < LIVES; k++) {
        life *l = &lives[k];
        counting_init(&l->memory);
        l->memory.poison = poison[k];
        if (far) {
            fake_init(&l->fake);
            l->fake.poison = poison[k];
            l->memory.seams.device = &l->fake.seam;
        }
        c.seams = &l->memory.seams;
        test_case("seed %llu on %s", (ull)seed, backend);
        must(hd_open(&c, &l->table));
    }
    must(hd_table_info(lives[0].table, &info));
    same_words();
    for (int i = 0; i < batches; i++) {
        one_batch(&random, &info);
        if (i == batches / 2)
            for (int k = 0; k < LIVES; k++) must(hd_grow(lives[k].table, 2 * info.buckets));
        if (i % 8 == 7) same_words();
        must(hd_table_info(lives[0].table, &info));
    }
    same_words();
    for (int k = 0; k < LIVES; k++) {
        hd_close(lives[k].table);
        if (far) fake_settled(&lives[k].fake);
        check(lives[k].memory.live_bytes == 0, "memory was not given back");
    }
}

static void live_many(const char *backend, uint64_t n, int batches)
{
    compared = 0;
    for (uint64_t seed = 1; seed <= test_times(n); seed++) live(seed, backend, batches);
    test_tried("poison", compared, "bytes that tables on %s gave out, compared over different poisons", backend);
}

static void on_the_reference(void) { live_many("ref", 120, 30); }
static void on_the_host_machine(void) { live_many("host", 12, 16); }
static void on_a_device(void) { live_many("cuda", 12, 16); }

static const struct CMUnitTest tests[] = { unit(on_the_reference), unit(on_the_host_machine), unit(on_a_device) };

int main(void) { return test_run(tests); }
