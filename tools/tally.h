/* SPDX-License-Identifier: Apache-2.0
 *
 * tally.h - how often each key occurs, counted exactly in a table that must not evict. The table has
 * policy lfu and one u64 per key; a batch is one accum_or_assign of ones. A growing tally grows its
 * table before a batch could bring it over half full: then a 128-slot bucket holds 64 entries give or
 * take 8, and a full one would be eight standard deviations away. Keys that come by parts of the table
 * fill some parts sooner: such a table is at most 2/5 full, and the fullest part about half. Whether a
 * bucket was ever full is not guessed but read from the table's counters: see tally_exact. A large
 * table grows at once to what the rest of the keys is expected to need, if the caller says how many are
 * left: every table that is outgrown costs time and memory. A design that never evicts counts in what
 * its values have room for, starts with 1,024 entries and grows when it is nearly full (hd_run_growing).
 *
 * A table on a device can count keys that are there already, without outcomes (tally_add_far). How many of them were
 * new is then asked only if the table would have to grow for all of them.
 */
#ifndef HD_TALLY_H
#define HD_TALLY_H

#include "base/seam.h"
#include "tools/keep.h"

enum {
    TALLY_RESERVED = KEEP_RESERVED, /* keys that a table cannot hold */
    TALLY_BATCH = 1 << 15,          /* keys of a batch                                              */
    TALLY_BATCH_MOST = 1 << 20,     /* ... of a large table: its threads wait for each other rarely */
    TALLY_FAR_TIMES = 16 /* a dictionary on a device: so many times `most`. A batch may go over the whole table */
};

typedef struct tally {
    hd_table *table;
    bool grows;
    uint64_t capacity, entries;            /* of the table; different keys so far, reserved ones among them */
    uint64_t counted;                      /* keys given to tally_add         */
    uint64_t growths;                      /* how often it grew               */
    double total;                          /* keys that are expected in all; 0: not known */
    uint64_t grown_counted, grown_entries; /* when it last grew    */
    uint64_t reserved[TALLY_RESERVED];     /* how often each reserved key came: a table cannot hold them */
    bool dictionary;                       /* its design never evicts         */
    bool by_hash;                          /* its buckets are in the order of hash values */
    uint64_t keys;                         /* it can hold those below         */
    uint32_t value_bytes;
    uint64_t unsure; /* keys that tally_add_far counted, of which it is not known how many are in `entries` */
    const hd_device_seam *device; /* of the table; NULL: it is in this machine's memory */
    uint64_t listed;              /* slots of a list of entries, at most; the caller may change it */
    size_t most;                  /* keys of a batch                           */
    uint64_t seed;                /* of its hash                              */
    uint8_t *one;                 /* (most, value_bytes) what is added: ones, as many as `ones` says */
    size_t ones;
} tally;

typedef struct tally_config {
    const char *design, *backend; /* of the table; NULL: the default ones */
    keep_settings set;            /* further fields of the table */
    unsigned k; /* keys are k-mers: a dictionary has values of 8 bytes if only then it can hold them. 0: they are not */
    uint64_t capacity;     /* keep_config */
    uint32_t threads;      /* of the reference; 0: OpenMP's default */
    uint64_t seed;         /* of the hash; with another one, keys that crowded a bucket do not */
    size_t most;           /* keys of a batch, at most; a dictionary on a device: TALLY_FAR_TIMES as many */
    const hd_seams *seams; /* NULL: the usual ones */
} tally_config;
hd_status tally_open(tally *t, const tally_config *config);
void tally_close(tally *t);

/* So many keys are expected in all; 0: that is not known. */
void tally_expect(tally *t, double total);

/* The memory of the table, if keys should be collected by its parts (parts.h); else 0. */
uint64_t tally_parted_bytes(const tally *t);

/* How many keys the next batch should have: of small tables TALLY_BATCH, of large ones more; at most `most`. It depends
 * on the keys so far, and on nothing else. */
size_t tally_batch(const tally *t);

/* Whether batches should have so many keys, however few come at once: a batch may go over the whole table. */
bool tally_gathers(const tally *t);

/* n <= most keys. outcome: (n); HD_INSERTED marks a key's first occurrence while the tally is exact. */
hd_status tally_add(tally *t, const uint64_t *key, size_t n, uint8_t *outcome);

/* Whether tally_add_far can count: the table is on a device, and holds every key. */
bool tally_is_far(const tally *t);

/* As tally_add, with arrays of the device: key (n) and one (n, value_bytes), all of them ones. Puts the batch on the
 * stream; only when it asks for the number of entries does it wait. */
hd_status tally_add_far(tally *t, const uint64_t *key, const void *one, size_t n, void *stream);

/* Waits for all that tally_add_far has put on streams, and settles how many keys are different. */
hd_status tally_settle(tally *t);

/* Whether every count is right: nothing was evicted, refused or left out, by the table's own counters, and no count can
 * have run over. *lost: how many entries left or did not get in. */
hd_status tally_exact(const tally *t, bool *exact, uint64_t *lost);

/* How many of the different keys are reserved ones: they are counted beside the table, and so in no snapshot of it. */
uint64_t tally_beside(const tally *t);

typedef struct tally_entry {
    uint64_t key, times;
} tally_entry;

/* The `most` most frequent keys into entry[], most frequent first, equal ones by key. *got <= most. */
hd_status tally_top(const tally *t, size_t most, tally_entry *entry, size_t *got);

/* How many keys occur how often: rows in ascending `times`, no row without keys. free() *row. */
typedef struct tally_step {
    uint64_t times, keys;
} tally_step;
hd_status tally_spectrum(const tally *t, tally_step **row, size_t *rows);

#endif
