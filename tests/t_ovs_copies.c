/* SPDX-License-Identifier: Apache-2.0
 *
 * t_ovs_copies.c - copies of entries of far segments (ref/ovs/layout.h): keys that are often looked up keep them, and
 * hd_check finds those that are wrong. On a fake device, whose memory the test may look at.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/ovs/own.h"
#include "lib/cuda_state.h"
#include "ref/ovs/ovs.h"
#include "tests/device_tables.h"

typedef unsigned long long ull;

enum { KEYS = 600, BATCH = 64, SEGMENTS = 6, SEGMENT = 1024 };

/* A table, and what is in it. */
typedef struct trial {
    hd_table *t;
    bench b; /* of a table on the device */
    bool device, there[KEYS];
    uint32_t value[KEYS];
    uint64_t random, hits, limit; /* limit: the least of near_bytes */
} trial;

static ovs_view *view_there(trial *x)
{
    fake_let_in(&x->b.fake);
    return &((ovs_own *)(void *)((hd_cuda *)x->t->state)->own)->v;
}

/* How many copies the table on the device has. */
static uint64_t copies(trial *x)
{
    const ovs_view *v = view_there(x);
    uint64_t n = 0;
    for (uint64_t i = 0; i < ovs_copy_words(v); i++) n += v->copy[i] != 0;
    return n;
}

/* Of the first `near` segments near. */
static hd_config config_of(uint64_t near, uint64_t copy_bytes)
{
    hd_config c = hd_config_of("ovs");
    c.ovs.segment_bytes = SEGMENT;
    c.ovs.near_bytes = near * SEGMENT + 1;
    c.ovs.copy_bytes = copy_bytes;
    c.capacity = SEGMENTS * SEGMENT / 8;
    return c;
}

/* Bytes that a device's table needs beside segments, digests and copies. */
static uint64_t device_least(void)
{
    bench b;
    hd_config c = config_of(0, 0);
    bench_begin(&b);
    c.backend = "cuda";
    c.seams = &b.memory.seams;
    must_fail(hd_open(&c, &b.far), HD_EINVAL, "near: 1 bytes are fewer than the ");
    uint64_t least = strtoull(strstr(hd_why(), "than the ") + 9, NULL, 10);
    fake_settled(&b.fake);
    return least;
}

static void begin(trial *x, hd_config c, bool device, uint64_t seed)
{
    memset(x, 0, sizeof *x);
    x->device = device;
    x->random = seed;
    if (device) {
        uint64_t least = device_least() + c.ovs.copy_bytes, digests = c.ovs.guide ? SEGMENTS * SEGMENT / 4 : 0;
        x->limit = least;
        c.ovs.near_bytes += least + digests;
        bench_begin(&x->b);
        bench_open_table(&x->b, c);
        x->t = x->b.far;
        return;
    }
    c.backend = "host";
    x->limit = 1;
    must(hd_open(&c, &x->t));
}

static void end(trial *x)
{
    if (x->device)
        bench_close(&x->b);
    else
        hd_close(x->t);
}

/* ---- What the test knows --------------------------------------------------------------------- */

/* What becomes of a key that comes once in a batch; the outcome, where the batch may not lack room. */
static hd_outcome apply(trial *x, hd_op op, uint64_t key, uint32_t value, hd_outcome said)
{
    bool was = x->there[key], inserts = op == HD_OP_INSERT_OR_ASSIGN || op == HD_OP_ACCUM_OR_ASSIGN;
    if (!was && inserts && said == HD_PENDING) return HD_PENDING;
    if (!was && !inserts) return HD_MISS;
    x->value[key] = was && op == HD_OP_ACCUM_OR_ASSIGN ? x->value[key] + value : value;
    x->there[key] = op != HD_OP_ERASE;
    return !was ? HD_INSERTED : op == HD_OP_ERASE ? HD_ERASED : HD_UPDATED;
}

/* A batch of different keys by a kernel; NULL: the table grows for it. */
static void change_some(trial *x, hd_op op, const char *kernel)
{
    uint64_t key[BATCH], first = test_below(&x->random, KEYS);
    uint32_t value[BATCH];
    uint8_t outcome[BATCH];
    for (uint64_t i = 0; i < BATCH; i++) {
        key[i] = (first + 7 * i) % KEYS;
        value[i] = (uint32_t)test_random(&x->random);
    }
    hd_batch b = test_batch(op, BATCH, key, op == HD_OP_ERASE ? NULL : value, outcome);
    b.elem = HD_I32;
    b.kernel = kernel;
    must(kernel ? hd_run(x->t, &b) : hd_run_growing(x->t, &b, 0));
    for (uint64_t i = 0; i < BATCH; i++) {
        hd_outcome right = apply(x, op, key[i], value[i], (hd_outcome)outcome[i]);
        check(outcome[i] == right, "%s of %llu by %s: %s, not %s", hd_op_name(op), (ull)key[i], b.ran,
              hd_outcome_name((hd_outcome)outcome[i]), hd_outcome_name(right));
    }
}

/* A batch of lookups, by the kernel that uses copies. few: some keys are often repeated. */
static void look_up(trial *x, hd_op op, uint64_t few)
{
    uint64_t key[BATCH];
    uint32_t value[BATCH];
    uint8_t outcome[BATCH];
    for (uint64_t i = 0; i < BATCH; i++) key[i] = test_below(&x->random, i % 2 ? few : (uint64_t)KEYS);
    hd_batch b = test_batch(op, BATCH, key, NULL, outcome);
    b.kernel = "sorted";
    if (op == HD_OP_FIND) b.value_out = value;
    must(hd_run(x->t, &b));
    for (uint64_t i = 0; i < BATCH; i++) {
        check(outcome[i] == (x->there[key[i]] ? HD_HIT : HD_MISS), "%s of %llu: %s", hd_op_name(op), (ull)key[i],
              hd_outcome_name((hd_outcome)outcome[i]));
        check(op != HD_OP_FIND || outcome[i] != HD_HIT || value[i] == x->value[key[i]], "key %llu: %u, not %u",
              (ull)key[i], value[i], x->value[key[i]]);
        x->hits += outcome[i] == HD_HIT;
    }
}

/* ---- Changes --------------------------------------------------------------------------------- */

enum { WAYS = 7 };

/* ---- Which entries have copies --------------------------------------------------------------- */

/* Half of all lookups are of a tenth of the keys. There are copies for a fifth. */
static void hot_keys_keep_copies(void **state)
{
    enum { HOT = KEYS / 10 };
    uint64_t tables = 0;
    (void)state;
    for (uint64_t i = 0; i < 4; i++, tables++) {
        trial x;
        uint64_t hot = 0, all;
        begin(&x, config_of(0, KEYS / 5 / OVS_COPIES * OVS_COPY_SET), true, i);
        for (int k = 0; k < 100; k++) change_some(&x, HD_OP_INSERT_OR_ASSIGN, "flip");
        check(copies(&x) == 0, "an update made copies");
        for (int k = 0; k < 300; k++) look_up(&x, HD_OP_FIND, HOT);
        all = copies(&x);
        const ovs_view *v = view_there(&x);
        for (uint64_t k = 0; k < ovs_copy_words(v); k++) hot += v->copy[k] && ovs_key_of(~v->copy[k]) < HOT;
        check(all == ovs_copy_words(v), "%llu of %llu places are used", (ull)all, (ull)ovs_copy_words(v));
        check(hot >= HOT * 3 / 4, "%llu of %d keys have copies", (ull)hot, HOT);
        must(hd_check(x.t));
        end(&x);
    }
    test_tried("device memory", tables, "of copies, and which keys have them");
}

/* ---- Wrong copies ---------------------------------------------------------------------------- */

static void wrong_copies_are_found(void **state)
{
    trial x;
    uint64_t near = 0, far = 0, absent = KEYS;
    (void)state;
    begin(&x, config_of(3, 16 * OVS_COPY_SET), true, 1);
    for (int k = 0; k < 100; k++) change_some(&x, HD_OP_INSERT_OR_ASSIGN, "flip");
    const ovs_view *v = view_there(&x);
    while (ovs_may_copy(v, ovs_hash(v, near)) || !x.there[near]) near++;
    while (!ovs_may_copy(v, ovs_hash(v, far)) || !x.there[far]) far++;
    while (!ovs_may_copy(v, ovs_hash(v, absent))) absent++;
    uint64_t *of_near = ovs_copy_set(v, ovs_hash(v, near)) + 1, *of_far = ovs_copy_set(v, ovs_hash(v, far)) + 2,
             *of_absent = ovs_copy_set(v, ovs_hash(v, absent)), *other = v->copy + ((of_far - v->copy) ^ OVS_COPIES);
    const struct {
        uint64_t *at, word;
        const char *says;
    } bad[] = {
        { of_far, word_sign(OVS_HALF, WORD_CLAIMED, 1), "OVS-8: a copy is of no entry" },
        { other, word_pack(OVS_HALF, far, x.value[far]), "OVS-8: a copy is in another set than its key's" },
        { of_near, word_pack(OVS_HALF, near, x.value[near]), "OVS-8: a copy is of a key of a near segment" },
        { of_far, word_pack(OVS_HALF, far, x.value[far] ^ 1), "OVS-8: a copy differs from the entry of its key" },
        { of_absent, word_pack(OVS_HALF, absent, 0), "OVS-8: a copy differs from the entry of its key" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char here[256];
        view_there(&x);
        *bad[i].at = ~bad[i].word;
        ovs_check(v, here, sizeof here);
        test_case("%s", bad[i].says);
        check(strncmp(here, bad[i].says, strlen(bad[i].says)) == 0, "the reference says: %s", here);
        must_fail(hd_check(x.t), HD_ECORRUPT, here);
        view_there(&x);
        *bad[i].at = 0;
        must(hd_check(x.t));
    }
    end(&x);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void shapes_are_refused(void **state)
{
    hd_config c = config_of(1, 32);
    hd_table *t = NULL;
    uint64_t key = 1;
    void *pointer = NULL;
    (void)state;
    c.ovs.copy_bytes = 33;
    must_fail(hd_open(&c, &t), HD_EINVAL, "copies: 33 bytes are no multiple of 32");
    c.ovs.copy_bytes = 32;
    c.value_bytes = 8;
    must_fail(hd_open(&c, &t), HD_EINVAL, "copies: tables with values of 8 bytes");
    for (int host = 0; host < 2; host++) {
        hd_info with, without;
        c = config_of(1, 64);
        c.backend = host ? "host" : "ref";
        must(hd_open(&c, &t));
        hd_batch b = test_batch(HD_OP_FIND_PTR, 1, &key, NULL, NULL);
        b.ptr = &pointer;
        must_fail(hd_run(t, &b), HD_EINVAL, "a table with copies of entries gives no pointers to them");
        must(hd_table_info(t, &with));
        hd_close(t);
        c.ovs.copy_bytes = 0;
        must(hd_open(&c, &t));
        must(hd_table_info(t, &without));
        hd_close(t);
        check(with.memory_bytes == without.memory_bytes + 64, "copies take %llu bytes",
              (ull)(with.memory_bytes - without.memory_bytes));
    }
}

/* Takes are counted at the seam. */
static void copies_are_within_the_limit(void **state)
{
    uint64_t least = device_least();
    (void)state;
    for (uint64_t bytes = 32; bytes < 1 << 20; bytes *= 8) {
        hd_config c = config_of(0, bytes);
        bench b;
        bench_begin(&b);
        c.backend = "cuda";
        c.seams = &b.memory.seams;
        c.ovs.near_bytes = least + bytes - 1;
        must_fail(hd_open(&c, &b.far), HD_EINVAL, "that the table's kernels need");
        c.ovs.near_bytes = least + bytes;
        bench_open_table(&b, c);
        check(b.fake.peak_bytes <= least + bytes, "%llu bytes taken", (ull)b.fake.peak_bytes);
        must(hd_set_near(b.far, least + bytes + SEGMENT));
        must_fail(hd_set_near(b.far, least + bytes - 1), HD_EINVAL, "that the table's kernels need");
        check(b.fake.peak_bytes <= least + bytes + SEGMENT, "%llu bytes taken", (ull)b.fake.peak_bytes);
        bench_close(&b);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = { unit(hot_keys_keep_copies), unit(wrong_copies_are_found),
                                               unit(shapes_are_refused), unit(copies_are_within_the_limit) };
    return test_run(tests);
}
