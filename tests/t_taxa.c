/* SPDX-License-Identifier: Apache-2.0
 *
 * t_taxa.c - the table of heddle classify against an array of sets: k-mers of one taxon, of several, and of none,
 * whatever the batches are, in every design, by the reference, in the simulator and on a fake device. Names. Memory
 * that is refused, calls of the device that fail, and values that no taxon has.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/failing_device.h"
#include "tests/testing.h"
#include "tools/taxa.h"

enum { TAXA = 5, MOST = 4096, KEYS = 3000 };

static const char *const name[TAXA] = { "a", "b", "c", "d", "e" };

/* Key i stands for this one in the table. */
static uint64_t key_of(uint64_t i) { return i * 40503 & 0xffffff; }

static hd_status names_add(taxa *t)
{
    hd_status e = HD_OK;
    for (int i = 0; i < TAXA && !e; i++) e = taxa_name(t, name[i], 0);
    return e;
}

/* n additions in batches of up to `piece`. Low keys come often, and so have several taxa. has: (KEYS) a bit for each
 * taxon. */
static hd_status add_some(taxa *t, size_t n, size_t piece, uint64_t *random, uint8_t *has)
{
    uint64_t key[MOST];
    uint32_t value[MOST];
    hd_status e = HD_OK;
    for (size_t done = 0; done < n && !e;) {
        size_t some = 1 + (size_t)test_below(random, piece);
        for (size_t i = 0; i < some; i++) {
            uint64_t k = test_below(random, 1 + test_below(random, KEYS));
            uint32_t taxon = (uint32_t)test_below(random, 1 + test_below(random, TAXA));
            key[i] = key_of(k);
            value[i] = taxon + 1;
            has[k] |= (uint8_t)(1u << taxon);
        }
        e = taxa_add(t, key, value, some);
        done += some;
    }
    return e;
}

/* The table holds what has[] says, and counts it so. */
static void compare(taxa *t, const uint8_t *has)
{
    uint64_t key[KEYS], kmers[TAXA] = { 0 }, ambiguous = 0;
    uint32_t value[KEYS];
    bool found[KEYS];
    for (uint64_t i = 0; i < KEYS; i++) key[i] = key_of(i);
    must(taxa_find(t, key, KEYS, value, found));
    for (uint64_t i = 0; i < KEYS; i++) {
        unsigned of = has[i];
        bool one = of && !(of & (of - 1));
        uint32_t want = one ? (uint32_t)__builtin_ctz(of) + 1 : TAXA_AMBIGUOUS;
        check(found[i] == (of != 0), "k-mer %" PRIu64 " of taxa %x: found %d", i, of, found[i]);
        check(value[i] == want, "k-mer %" PRIu64 " of taxa %x: value %" PRIu32, i, of, value[i]);
        if (one) kmers[want - 1]++;
        ambiguous += of && !one;
    }
    check(t->ambiguous == ambiguous, "%" PRIu64 " ambiguous k-mers instead of %" PRIu64, t->ambiguous, ambiguous);
    uint64_t all = ambiguous;
    for (int i = 0; i < TAXA; i++) {
        check(t->row[i].kmers == kmers[i], "taxon %d: %" PRIu64 " k-mers instead of %" PRIu64, i, t->row[i].kmers,
              kmers[i]);
        all += kmers[i];
    }
    check(taxa_kmers(t) == all, "%" PRIu64 " k-mers instead of %" PRIu64, taxa_kmers(t), all);
}

/* ---- Against sets ---------------------------------------------------------------------------- */

static void test_sets(void)
{
    static const char *const designs[] = { "hkv", "hive" }, *const backends[] = { "ref", "host", "cuda" };
    uint64_t random = 1, items = 0;
    for (size_t round = 0; round < 6 * test_times(8); round++) {
        const char *design = designs[round % 2], *backend = backends[round / 2 % 3];
        size_t n = round / 2 % 3 == 0 ? 20000 : 3000, piece = round % 4 ? 1 + (size_t)test_below(&random, 700) : MOST;
        uint8_t has[KEYS] = { 0 };
        uint64_t lost = 0;
        device *d = device_open();
        taxa t;
        test_case("round %zu: %s/%s, batches of up to %zu", round, design, backend, piece);
        must(taxa_open(&t, &(const taxa_config){ .design = design,
                                                 .backend = backend,
                                                 .capacity = round % 5 ? 0 : 4 * KEYS,
                                                 .threads = 1 + (uint32_t)(round % 3),
                                                 .most = MOST,
                                                 .seams = round / 2 % 3 == 2 ? &d->seams : NULL }));
        must(names_add(&t));
        must(add_some(&t, n, piece, &random, has));
        compare(&t, has);
        must(keep_lost(t.table, t.grows, &lost));
        check(lost == 0, "%" PRIu64 " k-mers are lost", lost);
        must(hd_check(t.table));
        items += t.added;
        taxa_close(&t);
        device_close(d);
    }
    test_tried("differential", items, "k-mers of several taxa");
}

/* ---- Names and values ------------------------------------------------------------------------ */

static void test_names(void)
{
    static const struct {
        const char *given, *kept;
    } row[] = {
        { "E. coli", "E. coli" },
        { "a\tb\n\033[2J\177", "a?b??[2J?" },
        { "\303\266", "\303\266" },
        { "\366\tx", "??x" },
        { "", "" },
    };
    taxa t;
    must(taxa_open(&t, &(const taxa_config){ .most = MOST }));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        must(taxa_name(&t, row[i].given, i));
        assert_string_equal(t.row[i].name, row[i].kept);
        check(t.row[i].kmers == i && t.n == i + 1, "row %zu", i);
    }
    must(taxa_differ(&t));
    for (int i = 0; i < 100; i++) {
        char text[12];
        snprintf(text, sizeof text, "taxon %d", i);
        must(taxa_name(&t, text, 0));
    }
    must(taxa_differ(&t));
    must(taxa_name(&t, "taxon 7", 0));
    must_fail(taxa_differ(&t), HD_EINVAL, "taxon 7");
    taxa_close(&t);
}

/* As in a file that was made to do harm. */
static void test_values(void)
{
    uint64_t key[2] = { 5, 6 };
    uint32_t value[2] = { 1, TAXA + 1 };
    bool found[2];
    uint8_t outcome[2];
    taxa t;
    must(taxa_open(&t, &(const taxa_config){ .most = MOST }));
    must(names_add(&t));
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, 2, key, value, outcome);
    must(hd_run(t.table, &b));
    must(taxa_find(&t, key, 1, value, found));
    check(value[0] == 1 && found[0], "value %" PRIu32, value[0]);
    must_fail(taxa_find(&t, key, 2, value, found), HD_ECORRUPT, "value 6");
    key[0] = UINT64_MAX;
    value[0] = 1;
    must_fail(taxa_add(&t, key, value, 1), HD_EINVAL, "18446744073709551615");
    taxa_close(&t);
}

/* ---- What fails ------------------------------------------------------------------------------ */

static void test_refused_memory(void)
{
    static const char *const designs[] = { "hkv", "hive" };
    uint64_t refused = 0;
    for (int round = 0; round < 4; round++) {
        bool failed = true;
        for (uint64_t at = 1; failed; at++) {
            counting c;
            counting_init(&c);
            uint64_t random = 3;
            uint8_t has[KEYS] = { 0 };
            taxa t;
            test_case("%s: take %" PRIu64 " is refused, %d", designs[round / 2], at, round % 2);
            counting_refuse(&c, at, round % 2);
            hd_status e =
                taxa_open(&t, &(const taxa_config){
                                  .design = designs[round / 2], .threads = 1, .most = MOST, .seams = &c.seams });
            if (!e) e = names_add(&t);
            if (!e) e = add_some(&t, 4000, MOST, &random, has);
            failed = counting_refused(&c);
            check(e == HD_OK || (failed && e == HD_ENOMEM), "%s: %s", hd_status_name(e), hd_why());
            if (!e) compare(&t, has);
            taxa_close(&t);
            check(c.live_bytes == 0, "%" PRIu64 " bytes are still taken", c.live_bytes);
            refused += failed;
        }
    }
    check(refused > 10, "%" PRIu64 " refusals", refused);
    test_tried("memory", refused, "refusals to a table of taxa");
}

static void test_device_faults(void)
{
    static const int codes[] = { FAKE_INVALID, HD_DEVICE_NO_MEMORY };
    uint64_t failures = 0;
    bool failed = true;
    for (uint64_t at = 1; failed; at++) {
        device *d = device_open();
        uint64_t random = 4;
        uint8_t has[KEYS] = { 0 };
        taxa t;
        d->failing.fail_at = at;
        d->failing.code = codes[at % 2];
        test_case("device call %" PRIu64, at);
        hd_status e =
            taxa_open(&t,
                      &(const taxa_config){ .backend = "cuda", .capacity = 1024, .most = MOST, .seams = &d->seams });
        if (!e) e = names_add(&t);
        if (!e) e = add_some(&t, 400, 200, &random, has);
        failed = d->failing.failed != NULL;
        check(e == HD_OK || (failed && (e == HD_ENOMEM || e == HD_ECUDA)), "%s: %s", hd_status_name(e), hd_why());
        failures += e != HD_OK;
        taxa_close(&t);
        device_close(d);
    }
    check(failures > 20, "%" PRIu64 " failures", failures);
    test_tried("device-faults", failures, "failing calls under a table of taxa");
}

static const struct CMUnitTest tests[] = { unit(test_sets), unit(test_names), unit(test_values),
                                           unit(test_refused_memory), unit(test_device_faults) };

int main(void) { return test_run(tests); }
