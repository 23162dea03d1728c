/* SPDX-License-Identifier: Apache-2.0
 *
 * heddle.h - hash tables with cache semantics.
 *
 * A full table does not fail and does not rehash: a full bucket evicts its least valuable
 * entry, or refuses the newcomer, in place (HierarchicalKV, SIGMOD '27; "HKV" and the section
 * numbers below are that paper's). doc/contract.md says what every table promises.
 *
 *     hd_config c = hd_config_default();
 *     c.capacity = 1 << 20;                       // entries
 *     c.value_bytes = 64;
 *     hd_table *t;
 *     if (hd_open(&c, &t)) return puts(hd_why());
 *     if (hd_upsert(t, n, keys, values, NULL, outcomes)) return puts(hd_why());
 *     // outcomes[i]: HD_INSERTED, HD_UPDATED, HD_EVICTED, ...
 *     hd_close(t);
 *
 * heddle_calls.h has one call like hd_upsert for each operation; hd_run takes a batch with every field. heddle.hpp is
 * the same for C++17. doc/api.md introduces all of them.
 *
 * Units: capacities and counts are entries unless the name ends in _bytes. Shapes are written
 * (n, value_bytes). Arrays belong to the caller; the library keeps no pointer to them after a
 * call has taken effect. Everything here is safe to call from several threads at once, on one
 * table or on many, except that hd_close must be a table's last call.
 *
 * Alignment: arrays of values may start at any byte; every other array is aligned as its type. The address of a value in
 * a table (find_ptr, find_or_insert_ptr, lock_keys, hd_for_each) is a multiple of the greatest power of two that divides
 * value_bytes, up to 64.
 */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HD_API __attribute__((visibility("default")))
#else
#define HD_API
#endif

#define HD_VERSION_MAJOR 0
#define HD_VERSION_MINOR 1
#define HD_VERSION_PATCH 0

/* "0.1.0": the library's own version, which may differ from the header's. */
HD_API const char *hd_version(void);

/* ---- Errors ---------------------------------------------------------------------------------- */

/* The fate of a whole call. Anything but HD_OK: the table is as it was before; but a batch that a device failed
 * (HD_ECUDA), or that the host machine stopped (HD_EKERNEL), may have been done in part. */
typedef enum hd_status {
    HD_OK = 0,
    HD_EINVAL,   /* the caller's mistake; hd_why() names the field                             */
    HD_ENOMEM,   /* memory was refused; hd_why() says how much                                 */
    HD_ECUDA,    /* a device call failed; hd_why() gives the call and its site                 */
    HD_EIO,      /* a file could not be opened, read, written, synced or renamed               */
    HD_ECORRUPT, /* a snapshot or a table is damaged; hd_why() gives the byte or the invariant */
    HD_EKERNEL,  /* backend host: the scheduler stopped a kernel; hd_why() tells what it found       */
    HD_STATUS_COUNT
} hd_status;

/* "HD_EINVAL" and so on; "?" for a number that is no status. Static storage. */
HD_API const char *hd_status_name(hd_status s);

/* The calling thread's last failure as one sentence; "" when there was none. Valid until the
 * thread's next failing call. */
HD_API const char *hd_why(void);

/* ---- Keys, operations, outcomes -------------------------------------------------------------- */

/* The three greatest keys are reserved, and so are those from hd_info.keys on, which a design cannot hold. In any
 * operation such an item has the outcome HD_RESERVED, touches nothing, and is never found. */
#define HD_KEY_EMPTY    UINT64_MAX
#define HD_KEY_LOCKED   (UINT64_MAX - 1)
#define HD_KEY_RESERVED (UINT64_MAX - 2) /* the least reserved key */

#define HD_VALUE_BYTES_MAX 65536u
#define HD_SLOTS_MIN       2u
#define HD_SLOTS_MAX       1024u

/* Roles are the paper's three groups (section 3.5): R reads, U changes the values and scores of
 * existing entries, I changes the structure. Fields in capitals are required, the others may be
 * NULL. A "list" is the batch's list_* arrays, compacted, in item order. */
typedef enum hd_op {
    HD_OP_FIND,               /* R KEY value_out score_out: copy out; scores are not touched         */
    HD_OP_CONTAINS,           /* R KEY                                                               */
    HD_OP_FIND_PTR,           /* R KEY PTR score_out: value pointer, valid until the next I          */
    HD_OP_FIND_MISSED,        /* R KEY value_out score_out; the keys not found become the list       */
    HD_OP_TOUCH,              /* U KEY score value_out score_out: find, and rescore hits (score_out
                                  is the new score)                                                  */
    HD_OP_ASSIGN,             /* U KEY VALUE score: replace the value, rescore; MISS when absent     */
    HD_OP_ASSIGN_VALUES,      /* U KEY VALUE: replace the value, leave the score                     */
    HD_OP_ASSIGN_SCORES,      /* U KEY score: rescore, leave the value                               */
    HD_OP_ACCUM_OR_ASSIGN,    /* I KEY VALUE score flag elem: see hd_accum                           */
    HD_OP_INSERT_OR_ASSIGN,   /* I KEY VALUE score: upsert (section 3.3, Algorithm 2)                */
    HD_OP_INSERT_AND_EVICT,   /* I KEY VALUE score: upsert; evicted and refused entries become the
                                  list, each with its own key, value and score, exactly once         */
    HD_OP_FIND_OR_INSERT,     /* I KEY VALUE score value_out score_out: present: copy out and
                                  rescore (score_out: the new score); absent: insert `value`         */
    HD_OP_FIND_OR_INSERT_PTR, /* I KEY PTR score: present: pointer, rescore; absent: insert a zeroed
                                  value and point to it                                              */
    HD_OP_LOCK_KEYS,          /* I KEY holder ptr: pin existing entries against eviction and change  */
    HD_OP_UNLOCK_KEYS,        /* I KEY holder: unpin; PINNED when another holder has it              */
    HD_OP_ERASE,              /* I KEY                                                               */
    HD_OP_ERASE_IF,           /* I PRED: erase what the predicate holds for; count                   */
    HD_OP_EXPORT,             /* R start n: the entries of slots [start, start + n) become the list  */
    HD_OP_EXPORT_IF,          /* R start n PRED: those of them that the predicate holds for          */
    HD_OP_SIZE,               /* R COUNT                                                             */
    HD_OP_SIZE_IF,            /* R COUNT PRED                                                        */
    HD_OP_CLEAR,              /* I: no entry, no pin; clock, epoch and counters go on                */
    HD_OP_PROMOTE,            /* I start n count: in the buckets that begin in slots [start, start + n),
                                  the values of the best scores become the near ones (hd_tiers);
                                  count: how many did                                                */
    HD_OP_COUNT_
} hd_op;

/* "insert_or_assign" and so on; "?" for a number that is no operation. Static storage. */
HD_API const char *hd_op_name(hd_op op);

/* The fate of one item: never an error. Written as one byte per item. */
typedef enum hd_outcome {
    HD_MISS,     /* the key is absent and the operation does not insert         */
    HD_HIT,      /* the key is present: found, touched, pinned or unpinned      */
    HD_INSERTED, /* the key was absent and took an empty slot                   */
    HD_UPDATED,  /* the key was present and its value or score was replaced     */
    HD_EVICTED,  /* the key was absent and took the slot of a least entry       */
    HD_REFUSED,  /* the key was absent, the bucket full, the score too low; or
                    (lock_keys) there was no place left for a pin               */
    HD_RESERVED, /* the key is one of the reserved three                        */
    HD_ERASED,   /* the key was present and is gone                             */
    HD_PINNED,   /* the entry is pinned (lock_keys): what the operation reads was
                    delivered, what it would change was not                     */
    HD_PENDING,  /* the key was absent, and a design that does not evict found no slot for it:
                    nothing happened. To be run again when the table has grown  */
    HD_OUTCOME_COUNT
} hd_outcome;

/* "evicted" and so on; "?" for a number that is no outcome. Static storage. */
HD_API const char *hd_outcome_name(hd_outcome o);

/* Element types that accum_or_assign adds. f16 and bf16 add in f32 and round to nearest even;
 * integers wrap. Everywhere else a value is opaque bytes. */
typedef enum hd_elem { HD_F32, HD_F16, HD_BF16, HD_I32, HD_I64, HD_U64, HD_ELEM_COUNT } hd_elem;

HD_API const char *hd_elem_name(hd_elem e);

/* accum_or_assign's per-item flag. NULL flags mean HD_EITHER for every item. An item whose flag
 * does not apply changes nothing: HD_MISS (HD_ADD, absent) or HD_HIT (HD_ASSIGN_NEW, present). */
typedef enum hd_accum {
    HD_ASSIGN_NEW = 0, /* insert when absent          */
    HD_ADD = 1,        /* add to the existing value   */
    HD_EITHER = 2      /* whichever of the two applies */
} hd_accum;

/* ---- Configuration --------------------------------------------------------------------------- */

typedef enum hd_admit {
    HD_ADMIT_SCORE, /* refuse a newcomer whose admission score is below the bucket's least score */
    HD_ADMIT_ALWAYS /* never refuse                                                             */
} hd_admit;

/* Where the keys and the scores of a table are (ref/hkv/layout.h, ref/hive/layout.h). */
typedef enum hd_layout {
    HD_LAYOUT_USUAL,  /* hkv: planes on "ref", pairs on "host" and "cuda"; hive: words */
    HD_LAYOUT_PLANES, /* a plane of keys and one of scores, as in the paper: 17 bytes per entry          */
    HD_LAYOUT_PAIRS,  /* each score beside its key, and lower bounds of scores: a use dirties one place; 18 */
    HD_LAYOUT_WORDS,  /* hive: key and value in a word, and nothing else                                   */
    HD_LAYOUT_MASKS   /* hive: and for each bucket a mask of what is free, and a lock, as in its paper     */
} hd_layout;

/* Which values are near, in the device's memory, where there is no room for all of them (section 3.6). The others are
 * far: in this machine's memory, which the device reaches over its bus. Keys, digests and scores are always near, and
 * where a value lies follows from the entry's place in the table, so that find_ptr and contains are what they were. */
typedef enum hd_tiers {
    HD_TIERS_BUCKET,  /* those of the first slots of every bucket; HD_OP_PROMOTE brings the best there */
    HD_TIERS_POSITION /* those of the table's first entries, whatever they are worth, as in the paper   */
} hd_tiers;

/* How find reads values that are far: by the launch that finds them, in the order in which their keys come, or by
 * launches after it, in the order of their addresses. The device waits less for what lies side by side: see
 * doc/contract-hkv.md, Tiers. */
typedef enum hd_fetch {
    HD_FETCH_USUAL,  /* sorted where that was faster: many items, and more far memory than translations reach */
    HD_FETCH_SORTED, /* in the order of addresses, at any size: 16 bytes of device memory per item of a window */
    HD_FETCH_DIRECT  /* word by word, as in the paper: nothing besides */
} hd_fetch;

typedef enum hd_clock {
    HD_CLOCK_LOGICAL, /* every keyed batch takes n ticks; item i happens at clock + i: runs repeat */
    HD_CLOCK_DEVICE   /* nanoseconds of the machine's clock, as HKV has it: runs do not repeat     */
} hd_clock;

/* hd_hive_config.spare: an eighth of the slots; 3 of 16, with which a GPU fills tables fastest. */
#define HD_SPARE_USUAL UINT32_MAX

/* hd_hive_config.hash: MurmurHash3's 64-bit finaliser; and how many characters there may be, with the NUL. */
#define HD_HASH_USUAL      "mix64"
#define HD_HASH_NAMES_MOST 32u

typedef struct hd_seams hd_seams; /* how the library reaches the outside: base/seam.h */

/* The fields of one design each. A table of another design needs them 0 or as hd_config_default() has
 * them. `heddle list
 * parameters` shows all fields with their limits. */
typedef struct hd_hkv_config {
    bool dual; /* two candidate buckets per key (section 3.4); needs 2 buckets */
    hd_admit admit;
    hd_tiers tiers;              /* where device_value_bytes is not 0 */
    uint64_t device_value_bytes; /* the budget of values in the device's memory; 0: all values are there. The others
                                    are in pinned memory of the host. On "ref" and "host": two regions of the host */
    hd_fetch fetch;              /* where device_value_bytes is not 0 */
    uint32_t pins;               /* keys that can be pinned at once (lock_keys) */
} hd_hkv_config;

typedef struct hd_hive_config {
    uint32_t hashes; /* candidate buckets per key, 2 or 3 */
    uint32_t spare;  /* slots that a bucket keeps back while a key's other buckets have more; below slots / 2, or
                        HD_SPARE_USUAL. More of them displace fewer keys, and more lookups read a second bucket */
    char hash[HD_HASH_NAMES_MOST]; /* "mix64", or a function for each candidate bucket, of `heddle list hashes`:
                                      "bithash1,bithash2", its paper's choice */
} hd_hive_config;

/* Start from hd_config_default() and change what matters. Strings are copied or resolved by
 * hd_open; none is kept. */
typedef struct hd_config {
    const char *design;   /* "hkv" or "hive"                                              */
    const char *backend;  /* "ref", "host" or "cuda": where the table is and who runs it  */
    const char *policy;   /* "lru": a row of policies/registry.inc; hive: "none"          */
    const char *lock;     /* "ordered": who runs beside whom; concurrency/registry.inc    */
    uint64_t capacity;    /* entries, >= 1; rounded up to whole buckets                   */
    uint32_t slots;       /* per bucket, 2 to 1024; 128: the digests are one cache line. hive: 8, 16 or 32 */
    uint32_t value_bytes; /* 0 (a set) to 65,536. hive: 4, or 2 beside keys of 16 bits    */
    hd_layout layout;
    hd_clock clock;
    uint64_t seed;         /* of the hash; set it against chosen keys                      */
    uint32_t epoch;        /* see hd_epoch_set                                             */
    uint32_t threads;      /* of the ref backend, 0 to 1,024; 0: OpenMP's default          */
    const hd_seams *seams; /* NULL: the operating system's                                 */
    hd_hkv_config hkv;
    hd_hive_config hive;
} hd_config;

/* hkv, ref, lru, ordered; 1 Mi entries in 128-slot buckets, 8-byte values, all near, single bucket, admission by
 * score, logical clock, seed 0, epoch 0, 1,024 pins, OpenMP's threads. */
HD_API hd_config hd_config_default(void);

/* The same, but for what is usual in another design: "hive" has policy none, 16-slot buckets, 4-byte values, 2
 * candidate buckets per key, the usual spare slots. An unknown name, which hd_open refuses: the default. `design` is
 * kept. */
HD_API hd_config hd_config_of(const char *design);

/* Sets one field by its name (`heddle list parameters`): "dual" "1", "capacity" "4Mi", "hash" "crc32,city32". A name
 * that is in two designs is the first's. The strings of design, backend, policy and lock are kept, not copied. */
HD_API hd_status hd_config_set(hd_config *config, const char *name, const char *text);

/* ---- Tables ---------------------------------------------------------------------------------- */

typedef struct hd_table hd_table;

/* *table is the caller's, to be given back by hd_close; untouched on error. Memory is all taken
 * here: 17 bytes per entry (digest, key, score; section 3.2), 18 in layout pairs, plus value_bytes, plus 32 per pin. */
HD_API hd_status hd_open(const hd_config *config, hd_table **table);
HD_API void hd_close(hd_table *table); /* NULL is fine */

typedef struct hd_info {
    const char *design, *backend, *policy, *lock; /* static storage */
    uint64_t capacity;                            /* buckets x slots */
    uint64_t buckets;
    uint64_t base_buckets;  /* hive: those that it began with; growth doubles them bucket by bucket */
    uint64_t stash_buckets; /* hive: behind the others, for what finds no place among them           */
    uint64_t places;        /* slots there are, a stash's with the others: what export goes over */
    uint64_t keys;          /* keys below this can be held */
    uint32_t slots, value_bytes;
    hd_layout layout;             /* never HD_LAYOUT_USUAL */
    uint64_t values_device_bytes; /* of values, in the device's memory */
    uint64_t values_host_bytes;   /* of values, in the host's memory: hd_hkv_config.device_value_bytes */
    hd_clock clock;
    uint64_t seed;
    uint64_t now; /* the logical clock: ticks taken so far */
    uint32_t epoch;
    uint32_t threads;      /* 0: OpenMP's default */
    uint64_t memory_bytes; /* all that the table holds */
    hd_hkv_config hkv;     /* of a design's own table as configured, and zero of the others; no HD_SPARE_USUAL */
    hd_hive_config hive;
} hd_info;

HD_API hd_status hd_table_info(hd_table *table, hd_info *info);

/* Epoch policies rank any later epoch above any earlier one. The caller moves it. */
HD_API hd_status hd_epoch_set(hd_table *table, uint32_t epoch);

/* Exact totals since open, of keyed operations. items = the sum over outcome[]. */
typedef struct hd_counters {
    uint64_t batches;
    uint64_t items;
    uint64_t outcome[HD_OUTCOME_COUNT];
    uint64_t op[HD_OP_COUNT_]; /* items by operation; for the table-wide ones, calls */
} hd_counters;

HD_API hd_status hd_counters_sync(hd_table *table, hd_counters *counters);

/* ---- Batches --------------------------------------------------------------------------------- */

/* n items of one operation, structure of arrays. Start from zero. Which fields an operation reads
 * and writes stands beside it in hd_op. The items are concurrent: what is observed is what some
 * order of them gives, one at a time; the ref backend's order is item 0 first.
 *
 * Outputs of an item that found nothing are left as the caller passed them; `outcome` is always
 * written. Input and output arrays must not overlap, with one exception: value_out of find_or_insert may be
 * `value`. Then one call gives the row of every key: what was found, and otherwise what was given.
 *
 * On backend "cuda" the arrays are all in the GPU's memory, or all in this machine's. The GPU's: the batch is
 * put on `stream` and nothing is waited for; those on different streams may run together, or else take effect in
 * the order of the calls, as the lock has it (doc/concurrency.md); a failure of the device may be told by a later call.
 * This machine's: they are copied there and back, and the call waits. Pointers (ptr) are the GPU's in either case.
 *
 * A stream may be in capture: every operation, with the GPU's arrays, is launches alone. Each launch of the graph runs
 * the batch again, in order with the table's other batches, and from the first capture on no two of them run together
 * (but under lock group3, which needs no order); clock and epoch stay those of the capture. Within one capture a
 * table's batches are on one stream. Calls that wait (_sync, hd_check, hd_save, ...) are not for captures, nor is
 * growth or a load between a capture and its launches. */
typedef struct hd_batch {
    hd_op op;
    bool distinct; /* promise: no key twice. --enable-verify builds check it (HD_EINVAL)  */
    hd_elem elem;  /* accum_or_assign: the type of the value's elements                   */
    uint64_t n;    /* items; for export, slots                                            */

    const uint8_t *each;   /* (n)              in, hd_op: a mixed batch, each item its own keyed operation;
                               NULL: op is everybody's. op is not read then; an inserter's batch    */
    const uint64_t *key;   /* (n)              in                                                 */
    const void *value;     /* (n, value_bytes) in                                                 */
    const uint64_t *score; /* (n)              in; NULL: the policy's default                     */
    const uint8_t *flag;   /* (n)              in, hd_accum; NULL: HD_EITHER                      */
    uint64_t holder;       /* lock_keys, unlock_keys: who; not 0                                  */
    uint64_t start;        /* export, promote: first slot, 0 to capacity                          */
    const char *pred;      /* a row of predicates/registry.inc                                    */
    uint64_t pred_arg[2];  /* its arguments                                                       */

    uint8_t *outcome;    /* (n)              out, hd_outcome                                    */
    void *value_out;     /* (n, value_bytes) out                                                */
    uint64_t *score_out; /* (n)              out                                                */
    void **ptr;          /* (n)              out: into the table, value_bytes each              */

    uint64_t *list_key;   /* (<= n)              out: a compacted list in item (export: slot)    */
    void *list_value;     /* (<= n, value_bytes) out  order: insert_and_evict's evicted and      */
    uint64_t *list_score; /* (<= n)              out  refused, find_missed's missed (keys only), */
    uint64_t *list_item;  /* (<= n)              out  export's entries. Item or slot of each     */
    uint64_t *count;      /* (1)              out: the list's length, or size, or how many erased */

    void *stream;       /* device backends: the stream; ref takes effect before returning      */
    const char *kernel; /* in: the variant to use, "tlpv1"; NULL: the table chooses            */
    const char *ran;    /* out: what ran, "hkv.insert_or_assign.ref"; static storage           */
} hd_batch;

/* Runs one batch. HD_EINVAL, with the field's name in hd_why(), when a required field is missing,
 * a name is unknown, n is out of range or a promise is seen to be broken. */
HD_API hd_status hd_run(hd_table *table, hd_batch *batch);

/* ---- Whole-table calls (host value returned: they wait) -------------------------------------- */

HD_API hd_status hd_size_sync(hd_table *table, uint64_t *size);             /* entries       */
HD_API hd_status hd_load_factor_sync(hd_table *table, double *load_factor); /* size/places   */
HD_API hd_status hd_clear(hd_table *table);

/* Calls visit(context, key, score, value) once per entry in slot order, on the calling thread. The
 * value may be changed in place, the table may not be called. Returning nonzero stops the walk. */
typedef int hd_visitor(void *context, uint64_t key, uint64_t score, void *value);
HD_API hd_status hd_for_each(hd_table *table, hd_visitor *visit, void *context);

/* Grows to `buckets`, a multiple of the present number; hive: any greater one, in place. No entry is lost. With twice
 * the buckets an entry of bucket b moves to 2b or 2b+1 (hive: some stay, and some move to a new bucket; buckets are
 * even, and the table fast, at whole doublings of hd_info.base_buckets). Pins stay; value pointers do not. Where it
 * fails all is as it was; hive may have come part of the way, which hd_table_info says, as when it shrinks. */
HD_API hd_status hd_grow(hd_table *table, uint64_t buckets);
/* Grows to the least multiple that holds `capacity` entries; nothing when it already does. */
HD_API hd_status hd_reserve(hd_table *table, uint64_t capacity);

/* Shrinks to `buckets`, not below those that the table began with, or to as few as its entries leave room for:
 * hd_table_info says how many there are. No entry is lost. HD_EINVAL for a design that cannot (hkv). */
HD_API hd_status hd_shrink(hd_table *table, uint64_t buckets);

/* Runs a batch in a table that grows, and waits. `target` is 0 or a load factor of 1/1024 to 1.
 *   - PENDING items run again, alone, after growth, until none is left. Outcomes are those of the last run.
 *   - With a target above 0 a batch that may insert runs in parts, one after another, and the table grows before a part
 *     could exceed the target (hkv), or after a part that did (hive). A bucket of hkv that is full still evicts.
 *   - A batch that delivers pointers, or the list of insert_and_evict, runs in one part. Pointers are valid afterwards:
 *     the table grows before such a batch only.
 *   - A table that grows in place grows to whole doublings of hd_info.base_buckets where it can.
 *   - Arrays of the device need `outcome`, and a stream that is not being captured.
 * HD_EINVAL: nothing has changed. HD_ENOMEM (growth was refused), HD_ECUDA, HD_EKERNEL: parts may have run, and the
 * table may have grown. After HD_ENOMEM the items whose outcome is PENDING have not run, and all others have. */
HD_API hd_status hd_run_growing(hd_table *table, hd_batch *batch, double target);

/* Verifies every invariant of the design (HKV-1, HKV-2, ... in ref/hkv/layout.h; HIVE-1, ... in ref/hive/layout.h).
 * HD_ECORRUPT names the first that fails, with its bucket and slot. */
HD_API hd_status hd_check(hd_table *table);

/* ---- Snapshots (doc/snapshot.md) ------------------------------------------------------------- */

/* Writes beside `path`, fsyncs, renames: after a crash `path` is the old file or the new one. A device or a pipe is
 * written to as it is; a symbolic link is replaced, and not what it leads to. */
HD_API hd_status hd_save(hd_table *table, const char *path);

/* Verifies the whole file, then replaces the table's entries, clock and epoch by the file's. value_bytes
 * and policy must be the file's. A table of another shape takes the entries best score first; what
 * finds no room is refused and counted in *dropped (may be NULL). Pins are dropped. */
HD_API hd_status hd_load(hd_table *table, const char *path, uint64_t *dropped);

/* Opens a table of the file's own shape and loads it. `config` (may be NULL) gives what a file does
 * not say: backend, lock, pins, threads, seams. */
HD_API hd_status hd_open_snapshot(const char *path, const hd_config *config, hd_table **table);

/* What a snapshot's header says; only the header is read and verified. */
typedef struct hd_snapshot_info {
    uint32_t version;
    char design[16], policy[16];
    uint64_t buckets, capacity, size, seed, clock;
    uint64_t base_buckets; /* hive: those that it began with */
    uint32_t slots, value_bytes, epoch;
    bool dual;      /* config.hkv.dual, as earlier versions named it  */
    hd_admit admit; /* config.hkv.admit, as earlier versions named it */
    uint64_t file_bytes;
    /* What hd_open_snapshot opens: the fields that the file saves, and the usual values of the others. design and policy
     * are static strings, or NULL where this library has none of that name. */
    hd_config config;
} hd_snapshot_info;
HD_API hd_status hd_snapshot_inspect(const char *path, hd_snapshot_info *info);

/* ---- What there is (for tools) --------------------------------------------------------------- */

typedef enum hd_kind {
    HD_DESIGNS,
    HD_BACKENDS,
    HD_POLICIES,
    HD_LOCKS,
    HD_PREDICATES,
    HD_KERNELS,
    HD_HASHES,
    HD_PARAMETERS /* the fields of hd_config; more: the design that has it, "" when all do */
} hd_kind;

typedef struct hd_row {
    const char *name; /* "lru" */
    const char *what; /* one sentence */
    const char *more; /* flags or arguments, "" when none */
} hd_row;

/* Row i of a registry; false past the end. Static storage. */
HD_API bool hd_list(hd_kind kind, size_t i, hd_row *row);

#ifdef __cplusplus
}
#endif

#include "heddle_calls.h"
#endif
