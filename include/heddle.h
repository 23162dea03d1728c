/* SPDX-License-Identifier: Apache-2.0
 *
 * heddle.h - hash tables for CPUs and GPUs: a cache, and dictionaries.
 *
 * A table has one of these designs:
 *
 *     hkv   a cache. An insert into a full bucket evicts the entry with the lowest score, or refuses the new key. It
 *           does not fail, and it does not rehash.
 *     hive  a dictionary. It evicts nothing. An insert that finds no slot has the outcome HD_PENDING.
 *     ovs   a dictionary that may be larger than a device's memory: then some of its entries are in host memory.
 *     sl    a dictionary that keeps its keys in order: it also answers which key is next, and what is between two keys.
 *     gphash  a dictionary whose entries have fixed places in two candidate buckets of each of two levels. Values have
 *           any size. It grows by a level at a time, and its bytes are right at any moment: a crash can be survived.
 *     gfsl  a skip list, also in the order of keys, for comparison with sl (doc/gfsl.md). The command heddle has it,
 *           the library does not.
 *
 * HKV is the paper HierarchicalKV (SIGMOD '27); section numbers in this file refer to it. doc/contract.md states what
 * every table promises, and doc/glossary.md defines the terms.
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
 * heddle_calls.h has one short call per operation, such as hd_upsert. hd_run takes a struct hd_batch, which has the
 * fields of all operations. heddle.hpp is the interface for C++17. doc/api.md introduces all of them.
 *
 * Words: the host is the CPU and its memory, the device is the GPU and its memory. The simulator runs GPU kernels on
 * the host; a table on the simulator has the backend named "host".
 *
 * Units: capacities and counts are entries, unless the name ends in _bytes. The shape of an array is written
 * (n, value_bytes).
 *
 * Ownership: arrays belong to the caller. Host arrays may be freed when the call returns; device arrays, when the
 * stream has run the batch; arrays of a captured batch, when its CUDA graph will not be launched again.
 *
 * Threads: all functions may be called from several threads at once, on one table or on many. Exceptions:
 *   - hd_close must be the last call on its table.
 *   - The visitor of hd_for_each must not call the table.
 *   - Under the batch lock "none" the caller separates calls that conflict.
 *   - Two calls at the same time need two structs hd_batch: hd_run writes the field `ran`. In the same way a struct
 *     hd_config must not be changed while another thread uses it.
 *
 * Alignment: arrays of values may start at any byte. Every other array is aligned as its type. The address of a value
 * in a table (find_ptr, find_or_insert_ptr, lock_keys, hd_for_each) is a multiple of the greatest power of two that
 * divides value_bytes, up to 64.
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

/* The version of the linked library, for example "0.1.0". It may differ from the version of this header. */
HD_API const char *hd_version(void);

/* ---- Errors ---------------------------------------------------------------------------------- */

/* The result of a whole call. A call that fails leaves the table unchanged, with these exceptions:
 *
 *   HD_ECUDA     Some launches of the batch may have run. hd_for_each may have copied only some of the changed values
 *                back to the device. The table is consistent, and can be used again when the device works again. If the
 *                device is lost, every later call that uses it fails, and the table can only be closed.
 *   HD_EKERNEL   The kernel has a bug. The batch may have run in part, and the table can only be closed.
 *   hd_grow, hd_reserve, hd_shrink, hd_set_near and hd_run_growing may have changed the table in part; their comments
 *   say when.
 *
 * hd_save never changes the table, but a failing hd_save may have replaced the file (see there). */
typedef enum hd_status {
    HD_OK = 0,
    HD_EINVAL,   /* the caller's mistake; hd_why() names the field */
    HD_ENOMEM,   /* memory was refused; hd_why() states how much was asked for */
    HD_ECUDA,    /* a device call failed, or there is no device; hd_why() names the call */
    HD_EIO,      /* a file could not be opened, read, written, synced or renamed */
    HD_ECORRUPT, /* a snapshot or a table is damaged; hd_why() names the byte or the invariant */
    HD_EKERNEL,  /* backend "host" only: the simulator stopped a kernel because of an error, such as an access out of
                    bounds, mismatched collectives, a deadlock or an endless loop. hd_why() describes the error;
                    doc/dialect.md lists all errors that the simulator reports */
    HD_STATUS_COUNT
} hd_status;

/* The name, for example "HD_EINVAL"; "?" if s is not a status. Static storage. */
HD_API const char *hd_status_name(hd_status s);

/* One sentence on the calling thread's last failure; "" if there was none. Valid until the thread's next failing
 * call. */
HD_API const char *hd_why(void);

/* ---- Keys, operations, outcomes -------------------------------------------------------------- */

/* Keys that are equal to or above hd_info.keys are reserved; these are at least the three greatest keys. In every
 * operation an item with a reserved key has the outcome HD_RESERVED. It finds nothing and changes nothing. */
#define HD_KEY_EMPTY    UINT64_MAX
#define HD_KEY_LOCKED   (UINT64_MAX - 1)
#define HD_KEY_RESERVED (UINT64_MAX - 2) /* the lowest key that is reserved in every design */

#define HD_VALUE_BYTES_MAX 65536u
#define HD_SLOTS_MIN       2u
#define HD_SLOTS_MAX       4096u

/* The operations of a batch. The last five need an order of keys, which designs sl and gfsl keep; the others return
 * HD_EINVAL. Each comment gives the role, the fields of hd_batch that the operation uses, and the effect.
 *
 * Roles are the paper's three groups (section 3.5). R (reader) changes no entry. U (updater) changes values and scores
 * of existing entries. I (inserter) may change which entries exist.
 *
 * Fields in capitals are required; the other pointers may be NULL. VALUE is not required if value_bytes is 0. `score`
 * is required if the policy needs scores (custom). HOLDER must not be 0; in lower case, `holder` may be 0.
 *
 * "To rescore" an entry means to give it the score that the policy computes for a hit. "The list" is the batch's list_*
 * arrays, filled from the front without gaps. doc/contract.md has the outcomes of every operation, and
 * doc/contract-hkv.md describes an upsert step by step.
 *
 * A pointer to a value is valid until the next batch of role I. A pointer from LOCK_KEYS is valid until the entry is
 * unpinned, and so is one from FIND_OR_INSERT_PTR with a holder. FIND_OR_INSERT_PTR returns NULL if the item was
 * refused, or if a later item of the batch evicted its entry, which cannot happen with a holder; a pointer that is not
 * NULL belongs to its key when the batch ends. CLEAR, growth, shrinking and hd_load make all pointers invalid. */
typedef enum hd_op {
    HD_OP_FIND,               /* R KEY value_out score_out: copies value and score out; changes no score */
    HD_OP_CONTAINS,           /* R KEY: tests whether the key is present */
    HD_OP_FIND_PTR,           /* R KEY PTR score_out: pointer to the value */
    HD_OP_FIND_MISSED,        /* R KEY value_out score_out: as FIND; lists the absent keys */
    HD_OP_TOUCH,              /* U KEY score value_out score_out ptr: as FIND; rescores present entries. score_out is
                                  the new score, ptr a pointer to the value */
    HD_OP_ASSIGN,             /* U KEY VALUE score: replaces the value and rescores */
    HD_OP_ASSIGN_VALUES,      /* U KEY VALUE: replaces the value; the score stays */
    HD_OP_ASSIGN_SCORES,      /* U KEY score: rescores; the value stays */
    HD_OP_ACCUM_OR_ASSIGN,    /* I KEY VALUE score flag elem: adds to the value, or inserts; see hd_accum */
    HD_OP_INSERT_OR_ASSIGN,   /* I KEY VALUE score: upsert. present: replaces the value and rescores; absent:
                                  inserts (section 3.3, Algorithm 2) */
    HD_OP_INSERT_AND_EVICT,   /* I KEY VALUE score: as INSERT_OR_ASSIGN; lists each evicted entry and each refused
                                  item exactly once, with its own key, value and score */
    HD_OP_FIND_OR_INSERT,     /* I KEY VALUE score holder value_out score_out: present: copies the value out and
                                  rescores, score_out is the new score; absent: inserts `value`. holder not 0: pins the
                                  entry */
    HD_OP_FIND_OR_INSERT_PTR, /* I KEY PTR score holder: present: pointer to the value, rescores; absent: inserts a
                                  value of zero bytes and points to it. holder not 0: pins the entry */
    HD_OP_LOCK_KEYS,          /* I KEY HOLDER ptr: pins present entries against eviction and change */
    HD_OP_UNLOCK_KEYS,        /* I KEY HOLDER: unpins; HD_PINNED if another holder pinned the entry */
    HD_OP_ERASE,              /* I KEY: removes the entry */
    HD_OP_ERASE_IF,           /* I PRED count: removes the entries for which the predicate is true, except pinned
                                  ones. count: how many were removed */
    HD_OP_EXPORT,             /* R start n: lists the entries of the slots [start, start + n) */
    HD_OP_EXPORT_IF,          /* R start n PRED: as EXPORT, if the predicate is true for the entry */
    HD_OP_SIZE,               /* R COUNT: the number of entries */
    HD_OP_SIZE_IF,            /* R COUNT PRED: the number of entries for which the predicate is true */
    HD_OP_CLEAR,              /* I: removes all entries and pins; clock, epoch and counters keep their values */
    HD_OP_PROMOTE,            /* I start n count: in each bucket whose first slot is in [start, start + n), moves the
                                  values of the highest-scored entries to device memory (near, see hd_tiers).
                                  count: how many values moved there. gphash: makes copies for hd_cache; count: how
                                  many */
    HD_OP_PREDECESSOR,        /* R KEY key_out value_out: the entry with the greatest key below the item's; `inclusive`:
                                  at or below it */
    HD_OP_SUCCESSOR,          /* R KEY key_out value_out: the entry with the least key above the item's; `inclusive`: at
                                  or above it */
    HD_OP_RANGE,              /* R KEY KEY2 limit key_out value_out rows more: the first `limit` entries with keys from
                                  key to key2, both included, in ascending order */
    HD_OP_MIN,                /* R COUNT key_out value_out: the entry with the least key. count: 1, or 0 if the table is
                                  empty */
    HD_OP_MAX,                /* R COUNT key_out value_out: the entry with the greatest key */
    HD_OP_COUNT_
} hd_op;

/* The name, for example "insert_or_assign"; "?" if op is not an operation. Static storage. */
HD_API const char *hd_op_name(hd_op op);

/* The result of one item, one byte in hd_batch.outcome. An outcome is never an error. */
typedef enum hd_outcome {
    HD_MISS,     /* the key is absent, and the operation does not insert */
    HD_HIT,      /* the key is present: it was found, touched, pinned or unpinned. Ordered operations: there is such an
                    entry */
    HD_INSERTED, /* the key was absent and took a free slot */
    HD_UPDATED,  /* the key was present, and its value or score was replaced */
    HD_EVICTED,  /* the key was absent and took the slot of the entry with the lowest score, which was evicted */
    HD_REFUSED,  /* the key was absent and its bucket full, and either the admission score of the key was too low
                    (hd_admit) or all entries of the bucket were pinned */
    HD_RESERVED, /* the key is reserved (HD_KEY_RESERVED, hd_info.keys); or, on "cuda", the flag is no hd_accum, or the
                    item's operation cannot be mixed */
    HD_ERASED,   /* the key was present, and the entry was removed */
    HD_PINNED,   /* the entry is pinned (lock_keys): the item's outputs were written, but the entry was not changed */
    HD_PENDING,  /* all designs but hkv: the key was absent and no slot was found for it. Nothing happened. Run the
                    item again when the table has grown (hd_run_growing does). Any design: hd_run_growing failed with
                    HD_ENOMEM, and the item changed nothing */
    HD_OUTCOME_COUNT
} hd_outcome;

/* The name, for example "evicted"; "?" if o is not an outcome. Static storage. */
HD_API const char *hd_outcome_name(hd_outcome o);

/* The element types of accum_or_assign. f16 and bf16 are added in f32 and rounded to nearest even. Integers wrap, so
 * that I32 also adds u32, and I16 also adds u16. If a key occurs more than once in a batch, its floats may be added in
 * any order and any grouping, so the rounding of the sum may differ from run to run. To all other operations a value is
 * opaque bytes. */
typedef enum hd_elem {
    HD_F32,
    HD_F16,
    HD_BF16,
    HD_I32,
    HD_I64,
    HD_U64,
    HD_F64,
    HD_I8,
    HD_U8,
    HD_I16,
    HD_ELEM_COUNT
} hd_elem;

/* The name, for example "bf16"; "?" if e is not an element type. Static storage. */
HD_API const char *hd_elem_name(hd_elem e);

/* The flag of an item of accum_or_assign. If hd_batch.flag is NULL, every item has HD_EITHER. An item whose flag does
 * not match the state of its key changes nothing; its outcome is HD_MISS (HD_ADD, key absent) or HD_HIT (HD_ASSIGN_NEW,
 * key present). */
typedef enum hd_accum {
    HD_ASSIGN_NEW = 0, /* inserts if the key is absent */
    HD_ADD = 1,        /* adds to the value if the key is present */
    HD_EITHER = 2      /* present: adds to the value; absent: inserts */
} hd_accum;

/* ---- Configuration --------------------------------------------------------------------------- */

/* Whether a full bucket may refuse a new key. The policy computes the admission score of the key: for lru the clock,
 * for custom the caller's score, for lfu the maximum, so that lfu never refuses. Pinned entries are never evicted, and
 * their scores do not count. If all entries of a bucket are pinned, it refuses every new key. */
typedef enum hd_admit {
    HD_ADMIT_SCORE, /* refuse a key if its admission score is below the lowest score in the bucket */
    HD_ADMIT_ALWAYS /* never refuse a key because of its score */
} hd_admit;

/* How keys and scores lie in memory (layout.h of each design, in ref/). Bytes are per entry, without the value. */
typedef enum hd_layout {
    HD_LAYOUT_USUAL,  /* hkv: PAIRS; hive, ovs, gfsl: WORDS; sl: SORTED; gphash: INLINE if a value has at most 8 bytes,
                         else CELLS */
    HD_LAYOUT_PLANES, /* hkv: an array of keys and an array of scores, as in the paper; 17 bytes */
    HD_LAYOUT_PAIRS,  /* hkv: each score next to its key, so that one access reaches both; and one lower bound for the
                         scores of eight slots, so that a search for the lowest score reads fewer of them. 18 bytes;
                         17 bytes, without bounds, if 8 does not divide `slots` */
    HD_LAYOUT_WORDS,  /* hive, ovs: key and value in one word, no other bytes; ovs with values of 8 bytes: two words */
    HD_LAYOUT_MASKS,  /* hive: WORDS, and for each bucket a mask of free slots and a lock, as in the Hive paper */
    HD_LAYOUT_SORTED, /* sl: segments of ascending entries; 4 bytes with values of 4 bytes, else 8 */
    HD_LAYOUT_INLINE, /* gphash: an array of keys and one of values, which take 8 bytes each */
    HD_LAYOUT_CELLS   /* gphash: an array of keys and one of numbers of cells; a cell has the bytes of a value, rounded
                         up to 16, and there are an eighth more cells than slots. 27 bytes, and the rounding */
} hd_layout;

/* If device memory cannot hold all values (hd_hkv_config.device_value_bytes), some values are near, in device memory,
 * and the others are far, in page-locked host memory, which the device reads over its bus (section 3.6). hd_tiers
 * states which values are near. Keys, digests and scores are always in device memory. The address of a value follows
 * from the slot of its entry; the table stores no addresses. */
typedef enum hd_tiers {
    HD_TIERS_BUCKET,  /* the values of the first slots of every bucket; HD_OP_PROMOTE moves the best entries there */
    HD_TIERS_POSITION /* the values of the table's first slots, whatever their scores, as in the paper */
} hd_tiers;

/* How find reads far values: in the launch that finds the keys, in the order of the keys; or in two launches after it,
 * in the order of addresses. The device waits less for addresses that are close together (doc/contract-hkv.md,
 * Tiers). */
typedef enum hd_fetch {
    HD_FETCH_USUAL,  /* SORTED for batches of at least 16 Ki items if more than 512 MiB of values are far, else
                        DIRECT */
    HD_FETCH_SORTED, /* in the order of addresses; hd_open allocates 16 bytes of device memory per item of a window,
                        which is 1 Mi items, or the capacity if that is less. A longer batch runs window by window */
    HD_FETCH_DIRECT  /* in the order of the keys, as in the paper; no extra memory */
} hd_fetch;

typedef enum hd_clock {
    HD_CLOCK_LOGICAL, /* a batch with keys takes n ticks, and item i has the time clock + i: results are reproducible */
    HD_CLOCK_DEVICE   /* all items of a batch have the same time, in ns since 1970: a reading of the device's clock
                         (%globaltimer; "ref" and "host": the system's) while the batch runs. epoch_lru counts in units
                         of 2^20 ns. On "cuda" and "host" a batch that scores entries has one more launch. Not
                         reproducible */
} hd_clock;

/* What of a table with a file (hd_config.file) survives which failure; doc/persist.md has what each costs. */
typedef enum hd_durable {
    HD_DURABLE_NONE,    /* without a file */
    HD_DURABLE_PROCESS, /* the end of the process, also a kill: the table's memory is the file's. gphash alone; on
                           "cuda" the file is in a file system in memory (tmpfs) */
    HD_DURABLE_LINE,    /* a power cut, on memory that keeps the lines that are written back (a file system with DAX) */
    HD_DURABLE_DISK     /* a power cut, on any file system: a journal */
} hd_durable;

/* When the batches of a table with a file become durable. */
typedef enum hd_commit {
    HD_COMMIT_BATCH, /* each that changes the table, before hd_run returns */
    HD_COMMIT_CALL   /* when hd_persist, hd_grow, hd_load or hd_close returns, all since the last time at once */
} hd_commit;

/* For hd_hive_config.spare: slots / 8, but 3 for 16 slots, with which a GPU fills tables fastest. */
#define HD_SPARE_USUAL UINT32_MAX

/* For hd_hive_config.hash: the default. MurmurHash3's finaliser computes one 64-bit hash of the key, and each candidate
 * bucket is derived from it in another way. */
#define HD_HASH_USUAL "mix64"
/* The size of hd_hive_config.hash in bytes, with the NUL. */
#define HD_HASH_NAMES_MOST 32u

/* Memory that the caller manages, such as the pool of a framework. Each pair of functions is optional: if both are
 * NULL, the library allocates this memory itself. `context` is the first argument of every call. Several threads may
 * call at once. The memory is not cleared. An example is examples/budget.c.
 *   take           memory of the host; `align` is a power of two. NULL: refused (HD_ENOMEM)
 *   device_take    memory of the calling thread's current device, which is the table's; aligned to 256 bytes. Returns a
 *                  cudaError_t: 0, or cudaErrorMemoryAllocation if the memory is refused (HD_ENOMEM). A table with this
 *                  function does not grow in place: the old and the new table exist at the same time
 *   pinned_take    page-locked host memory that kernels reach at the same address; the same results
 *   give, device_give, pinned_give    take the memory back. p is not NULL, except for `give`. Before device_give and
 *                  pinned_give return, the device must have done all work that was put on it, as with cudaFree: kernels
 *                  may still use the memory */
typedef struct hd_allocator {
    void *(*take)(void *context, size_t bytes, size_t align);
    void (*give)(void *context, void *p, size_t bytes);
    int (*device_take)(void *context, void **p, size_t bytes);
    int (*device_give)(void *context, void *p);
    int (*pinned_take)(void *context, void **p, size_t bytes);
    int (*pinned_give)(void *context, void *p, size_t bytes);
    void *context;
} hd_allocator;

/* Functions by which the library reaches memory, files, the clock and the device. Tests replace them. base/seam.h
 * declares them. */
typedef struct hd_seams hd_seams;

/* Each of the next structs, up to hd_config, holds the fields of one design. In the structs of the designs that the
 * table does not have, every field must be 0 or the default; otherwise hd_open returns HD_EINVAL. `heddle list
 * parameters` shows all fields with their limits. */
typedef struct hd_hkv_config {
    bool dual;                   /* two candidate buckets per key (section 3.4); needs at least 2 buckets */
    hd_admit admit;              /* whether a full bucket may refuse a new key */
    hd_tiers tiers;              /* which values are near; read only if device_value_bytes is not 0 */
    uint64_t device_value_bytes; /* the most bytes of values to keep in device memory; the other values are in
                                    page-locked host memory. 0: all values are in device memory. On backends "ref" and
                                    "host" both kinds are in host memory, in two regions */
    hd_fetch fetch;              /* how find reads far values; read only if device_value_bytes is not 0 */
    uint32_t pins;               /* room for pins (lock_keys). 0: none before the first batch that pins */
    bool capture_times;          /* a batch that stores times of the logical clock may be captured into a CUDA graph,
                                    whose launches repeat these times; otherwise HD_EINVAL */
} hd_hkv_config;

typedef struct hd_hive_config {
    uint32_t hashes; /* candidate buckets per key, 2 or 3 */
    uint32_t spare;  /* a new key takes the first candidate bucket with more free slots than this, or else the candidate
                        with the most free slots. With a higher value fewer keys are displaced, but more lookups read
                        a second bucket. Allowed: numbers below slots / 2, and HD_SPARE_USUAL */
    char hash[HD_HASH_NAMES_MOST]; /* "mix64", or one function per candidate bucket from `heddle list hashes`, such as
                                      "bithash1,bithash2", which the Hive paper uses */
} hd_hive_config;

/* Design ovs: what device memory holds of segments besides the near ones. */
typedef enum hd_guide {
    HD_GUIDE_NONE,  /* nothing */
    HD_GUIDE_DIGEST /* 16 bits of a hash per slot. A lookup reads only buckets that have the digest of its key, so that
                       lookups of absent keys read nearly no far memory (doc/contract-ovs.md, Digests). Digests take a
                       quarter of the bytes of segments, and count in near_bytes */
} hd_guide;

/* What decides which segment of an ovs table a key is in (doc/contract-ovs.md, Partition). */
typedef enum hd_partition {
    HD_PARTITION_HASH, /* its hash */
    HD_PARTITION_RANGE /* the key: each segment has a range of keys. Growth splits the fullest segment at the median of
                          its keys */
} hd_partition;

typedef struct hd_ovs_config {
    uint64_t near_bytes;    /* the most bytes of device memory that the table may take, with all that its kernels need;
                               the segments that do not fit are in page-locked host memory. 0: no limit. On backends
                               "ref" and "host" both kinds are in host memory, in separate allocations */
    uint32_t segment_bytes; /* of a segment: a power of two from 128 to 2^30. A table has whole segments, and a segment
                               is in one of the two memories */
    hd_guide guide;
    hd_partition partition;
    uint64_t copy_bytes; /* device memory for copies of entries that far segments hold, in bytes, a multiple of 32. Of
                            large batches, lookups of keys that are often asked for then read no far memory
                            (doc/contract-ovs.md, Copies). It counts in near_bytes. 0: none */
} hd_ovs_config;

typedef struct hd_sl_config {
    uint64_t near_bytes; /* device memory of the table, in bytes, with what kernels need. The first segments are there,
                            as many as there is room for; the others are in host memory. 0: all are in device memory */
    uint32_t segment_bytes; /* of a segment: a power of two from 128 to 2^30 */
} hd_sl_config;

/* Where a table of gphash is on backend "cuda". */
typedef enum hd_index {
    HD_INDEX_USUAL,  /* HD_INDEX_NEAR of a table with a file on "cuda", else HD_INDEX_DEVICE */
    HD_INDEX_DEVICE, /* all in device memory. A table with a file cannot be there */
    HD_INDEX_FAR,    /* all in page-locked host memory, which the device reads over its bus */
    HD_INDEX_NEAR    /* that, and a copy of keys and numbers of values in device memory: batches search and change the
                        copy, and bring their changes to host memory in phases. On "host" likewise */
} hd_index;

/* What a table of gphash with HD_INDEX_FAR or HD_INDEX_NEAR has copies of in device memory. HD_OP_PROMOTE makes them of
 * what lookups need most, of which one of 16 is counted (GPHash section 3.3). Batches keep them right. */
typedef enum hd_cache {
    HD_CACHE_NONE,    /* of nothing */
    HD_CACHE_BUCKETS, /* of the keys and numbers in buckets, or inline values; with HD_INDEX_FAR */
    HD_CACHE_VALUES   /* of values; with HD_LAYOUT_CELLS */
} hd_cache;

/* A key may be in levels * hashes * slots places, which are 32, so that a warp reads all of them at once. */
typedef struct hd_gphash_config {
    uint32_t levels; /* 1 to 8; each has twice the buckets of the one below. Default: 2 */
    uint32_t hashes; /* candidate buckets of a key in each level: 1, 2 or 4. Default: 2 */
    hd_index index;  /* not read on backend "ref" */
    hd_cache cache;
    uint64_t cached; /* buckets or values that have copies, at most; more than there are only take memory. 0: a fifth of
                        all when the table is opened */
} hd_gphash_config;

/* Which chunks of a skip list are far, in page-locked host memory, which the device reads over its bus. */
typedef enum hd_gfsl_far {
    HD_GFSL_NEAR,     /* none */
    HD_GFSL_FAR_DATA, /* those of level 0 but the first, which have the entries; needs level_pools */
    HD_GFSL_FAR       /* all */
} hd_gfsl_far;

/* Of a design that is not in the library (doc/gfsl.md): this struct is here for one more release; then hd_config.own
 * has its fields. */
typedef struct hd_gfsl_config {
    bool level_pools; /* each level has a pool of chunks of its own; else one pool has the chunks of all levels */
    bool unsorted;    /* entries of a chunk of level 0 are in any order, and are sorted when the chunk is split */
    hd_gfsl_far far;
    uint32_t keys_per_block; /* so many consecutive items go to a thread block, the next ones to the next block. 0: an
                                item for each of its tiles */
    uint32_t blocks;         /* a batch has no more thread blocks; 0: no more than run at a time */
} hd_gfsl_config;

/* How to open a table. Start from hd_config_default() or hd_config_of(), and change fields. hd_open copies the struct
 * and resolves the names; it keeps none of the strings. The objects that `seams` and the contexts point to must exist
 * until hd_close.
 *
 * The batch lock decides which batches of the table may run at the same time. Except under `none`, inserters run alone.
 *
 *     lock       may overlap                                     order of conflicting batches on different streams
 *     ordered    readers with readers, updaters with updaters    that of the calls
 *     group3     readers with readers, updaters with updaters    that of arrival on the device
 *     rw         readers with readers                            that of the calls
 *     exclusive  nothing                                         that of the calls
 *     none       everything                                      none: the caller separates batches that conflict
 *
 * Two batches conflict if their roles differ, if both are inserters, or, on backend "ref", if both are updaters. After
 * a batch was captured into a CUDA graph, batches overlap only under group3 and none (see hd_batch).
 * doc/concurrency.md has the details. */
typedef struct hd_config {
    const char *design;   /* "hkv", "hive", "ovs", "sl" or "gphash"; in the command also "gfsl" */
    const char *backend;  /* "ref": host memory and host threads; "cuda": device; "host": the simulator */
    const char *policy;   /* how entries are scored: "lru", or another row of `heddle list policies`; or expressions,
                              "expr:on_insert=given;on_hit=max(old,now)"; other designs than hkv: "none".
                              doc/contract-hkv.md has the formulas, and the grammar of expressions */
    const char *lock;     /* "ordered", or another batch lock of the list above */
    uint64_t capacity;    /* entries, at least 1; rounded up to whole buckets; ovs, sl: to whole segments */
    uint32_t slots;       /* per bucket. hkv: 2 to 4096; with 128, the default, the digests of a bucket fill one line
                              of a GPU's memory. hive: 8, 16 or 32. ovs: 16; with values of 8 bytes 8, and 16 means
                              8, too. sl: a power of two, from 8 to the entries of a segment, which 16 means if there
                              are fewer; nothing but the unit of `buckets`. gphash: see hd_gphash_config; 8, the
                              default, with 2 levels and 2 hashes. gfsl: of a chunk: 6, 14 or 30 */
    uint32_t value_bytes; /* hkv, gphash: 0 (a set) to 65,536. hive: 4 (32-bit keys) or 2 (16-bit keys). ovs, sl: 4
                              (32-bit keys) or 8. gfsl: 4 (32-bit keys) */
    hd_layout layout;     /* how keys and scores lie in memory */
    hd_clock clock;       /* the source of times for scores. Designs but hkv: HD_CLOCK_LOGICAL */
    uint64_t seed;        /* of the hash function; choose a secret one if an attacker may choose keys */
    uint32_t epoch;       /* the first epoch; see hd_epoch_set */
    uint32_t threads;     /* design hkv on backend "ref": the most threads of the host that run a batch or move entries
                              in growth, 0 to 1,024; 0: OpenMP's default. Small batches run on one thread
                              (doc/concurrency.md). Other designs and backends ignore the field: on "ref" other
                              designs run a batch on one thread */
    /* The file that the table lives in, for hive, ovs and gphash on "ref" and "host", and gphash on "cuda": the table
     * is what the file has, or, where there is none, the file is made. NULL: the table is in memory alone. Two tables
     * cannot have one file. A file that is there decides the fields that hd_open_snapshot takes from a snapshot */
    const char *file;
    hd_durable durable; /* read only if there is a file; HD_DURABLE_DISK, the default */
    hd_commit commit;
    const hd_allocator *allocator; /* NULL: the library allocates all memory itself. hd_open copies the struct */
    /* HD_CLOCK_DEVICE: the time of a batch, in ns since 1970, in place of the clock's. hd_run calls it, also on several
     * threads at once. A result below an earlier one counts as that one. NULL: the device's clock */
    uint64_t (*now)(void *now_context);
    void *now_context;
    const hd_seams *seams; /* NULL: the functions of the operating system */
    hd_hkv_config hkv;
    hd_hive_config hive;
    hd_ovs_config ovs;
    hd_sl_config sl;
    hd_gfsl_config gfsl;
    hd_gphash_config gphash;
    uint64_t own[8]; /* the fields of a design that the program adds (doc/extending.md), of one at most */
} hd_config;

/* The defaults: design hkv, backend ref, policy lru, lock ordered; 1 Mi entries in buckets of 128 slots; values of 8
 * bytes, all near; one candidate bucket per key; HD_ADMIT_SCORE; logical clock; seed 0; epoch 0; OpenMP's default
 * number of threads. */
HD_API hd_config hd_config_default(void);

/* The defaults of a design. For "hive" these are policy none, buckets of 16 slots, values of 4 bytes, 2 candidate
 * buckets per key, and HD_SPARE_USUAL. For "ovs" they are policy none, buckets of 16 slots, values of 4 bytes, segments
 * of 64 KiB, and no limit of device memory; for "sl" the same, but for that limit. The result contains the pointer
 * `design`; the string is not copied. For an unknown name the result is hd_config_default() with that name, and hd_open
 * refuses it. */
HD_API hd_config hd_config_of(const char *design);

/* Sets one field from text, by the names of `heddle list parameters`: for example "dual" to "1", "capacity" to "4Mi",
 * or "hash" to "crc32,city32". If two designs have a field of that name, the field of config->design is set. For
 * design, backend, policy and lock the config receives the pointer `text`; the string is not copied. HD_EINVAL: the
 * name or the value is not allowed, and config is unchanged. */
HD_API hd_status hd_config_set(hd_config *config, const char *name, const char *text);

/* ---- Tables ---------------------------------------------------------------------------------- */

typedef struct hd_table hd_table;

/* Opens an empty table. The caller owns *table and closes it with hd_close. After an error *table is unchanged.
 *
 * hd_open allocates the memory of the table, whose size is hd_info.memory_bytes. Only growth, shrinking, hd_load and
 * the first batch that pins change this memory.
 *
 *   hkv          per slot: 17 or 18 bytes (hd_layout) and value_bytes. For pins: 8 bytes more, which are allocated by
 *                hd_open if hkv.pins is not 0, and otherwise by the first batch that pins. If there is no memory, that
 *                batch returns HD_ENOMEM and changes nothing. hd_info.hkv.pins is not 0 if the table has them. If
 *                another error ends the batch, it may have them.
 *   hive         per slot: 2 * value_bytes. The stash has one bucket per 64 buckets, and one more. Layout MASKS: 8
 *                bytes per bucket.
 *   ovs          per slot: 8 bytes; with values of 8 bytes 16.
 *   sl           per segment: segment_bytes, and 16 bytes and one bit of the directory.
 *   host, cuda   a workspace for the kernels.
 *   cuda         16 MiB of pinned memory for host arrays, which the first batch that has such arrays allocates.
 *
 * A batch allocates no memory, with five exceptions (doc/contract.md, Memory). Two of them are on "cuda": a batch with
 * host arrays allocates memory for copies of them, if the memory kept from earlier batches is too small; and the first
 * small launch of a kernel on a stream creates a CUDA graph, which the library keeps. */
HD_API hd_status hd_open(const hd_config *config, hd_table **table);
/* Frees the table; it must be the last call on it. NULL is allowed. A table with a file makes all batches durable
 * before, and notes in the file that it was closed. */
HD_API void hd_close(hd_table *table);

/* Makes all batches so far durable, of a table with a file; does nothing without one. HD_EIO: a write or a sync
 * failed, now or earlier. From then on the table is only to be read, and calls that would change it return HD_EIO.
 * Opened again, it has what was durable. */
HD_API hd_status hd_persist(hd_table *table);

/* What opening a file found and did. */
typedef struct hd_recovery {
    bool was_clean;          /* the table had been closed; also of a new file */
    uint64_t records, bytes; /* of the journal, that were replayed */
    uint64_t cleared;        /* entries that a crash had left incomplete, and that are gone */
    uint64_t ns;             /* how long it took */
    uint64_t map_ns;         /* of it: mapping the file; on a device until it reaches the pages */
} hd_recovery;

/* The file of a table; without one all is 0. */
typedef struct hd_image_info {
    uint64_t generation;    /* grows with every checkpoint */
    uint64_t durable_batch; /* how many batches that change the table, and calls such as hd_grow, are durable */
    hd_recovery recovered;
} hd_image_info;

/* What a table is now. A field without a comment has the meaning that it has in hd_config. */
typedef struct hd_info {
    /* Static storage. `policy` of expressions is valid until hd_close. It is the same policy in one way of writing: a
     * row's name, if the expressions are those of a row; else without blanks, folded, with all parentheses. */
    const char *design, *backend, *policy, *lock;
    uint64_t capacity; /* entries: buckets * slots, without a stash */
    uint64_t buckets;
    uint64_t base_buckets;  /* hive, ovs, sl: the number of buckets at hd_open, or that of a file of the same shape
                               (hd_load). Growth splits one bucket, or segment, after another, beginning with these */
    uint64_t stash_buckets; /* hive: extra buckets for keys that find no slot in their candidate buckets */
    uint64_t places;        /* slots, including those of the stash; export covers [0, places) */
    uint64_t keys;          /* keys below this number are allowed */
    uint32_t slots, value_bytes;
    hd_layout layout;             /* never HD_LAYOUT_USUAL */
    uint64_t values_device_bytes; /* hkv: bytes of values that are near (hd_tiers); ovs, sl: of segments */
    uint64_t values_host_bytes;   /* the same of those that are far; 0 if there is no limit of device memory */
    hd_clock clock;
    uint64_t seed;
    uint64_t now;          /* the logical clock: ticks so far; HD_CLOCK_DEVICE: when the table was opened, at least 1 */
    uint32_t epoch;        /* the present epoch */
    uint32_t threads;      /* 0: OpenMP's default */
    uint64_t memory_bytes; /* bytes of all memory of the table, on host and device */
    hd_hkv_config hkv;     /* the struct of the table's design, as configured; the other structs are zero */
    hd_hive_config hive;   /* `spare` is a number, never HD_SPARE_USUAL */
    hd_ovs_config ovs;
    hd_sl_config sl;
    hd_gfsl_config gfsl;
    hd_gphash_config gphash;
    uint64_t own[8];
    hd_image_info image;
    /* What kernels rely on (doc/contract-hkv.md, Flags): "MONOTONE ORDER_FREE, scores optional". Static storage. */
    const char *policy_flags;
} hd_info;

/* Describes the table as it is now. It does not wait for batches on streams. */
HD_API hd_status hd_table_info(hd_table *table, hd_info *info);

/* Sets the epoch of all batches that follow. With an epoch policy, an entry that is inserted or hit in a later epoch
 * has a higher score than every entry of an earlier epoch. */
HD_API hd_status hd_epoch_set(hd_table *table, uint32_t epoch);

/* The present time of the table's clock: its ticks so far, or a reading of the device's clock, for which it waits. */
HD_API hd_status hd_clock_sync(hd_table *table, uint64_t *now);

/* Sets hd_info.now, up to 2^63 - 1: the time of the next item, or, with HD_CLOCK_DEVICE, when the table was opened,
 * which is not 0. Waits for all earlier batches. A program that keeps entries and their scores in files of its own, and
 * stores them with raw_scores, keeps hd_info.now and hd_info.epoch with them, and sets both. */
HD_API hd_status hd_clock_set(hd_table *table, uint64_t clock);

/* Exact totals since hd_open. */
typedef struct hd_counters {
    uint64_t batches;                   /* of all operations */
    uint64_t items;                     /* of operations with keys; the sum over outcome[] */
    uint64_t outcome[HD_OUTCOME_COUNT]; /* items by outcome */
    uint64_t op[HD_OP_COUNT_];          /* items by operation; calls, if the operation has no keys */
} hd_counters;

/* Waits for all earlier batches of the table, then returns the totals. */
HD_API hd_status hd_counters_sync(hd_table *table, hd_counters *counters);

/* ---- Batches --------------------------------------------------------------------------------- */

/* n items of one operation, as arrays of n rows. Zero-initialise the struct (hd_batch_of in heddle_calls.h does). hd_op
 * states which fields an operation reads and writes.
 *
 * Order: the items run concurrently. The results, and the table afterwards, are those of some order in which the items
 * run one at a time. On backend "ref" this is the order of the arrays. A key may occur several times: each of its items
 * sees the effects of those that come before it in that order.
 *
 * Outputs: `outcome` and `found` are written for every item. In the other arrays the row of an item that found nothing
 * keeps the caller's bytes. Input and output arrays must not overlap, with one exception: value_out of find_or_insert
 * may be the array `value`. Then one call gives the row of every key: the value found, or else the value given.
 *
 * Backend "cuda": each array of a batch may lie in any memory. ptr always receives device addresses.
 *   In the reach of kernels, that is, memory of the table's device, of another device that it has access to
 *     (cudaDeviceEnablePeerAccess), managed memory, and pinned memory that is mapped at its own address: the array is
 *     used in place. If all arrays are, the call puts the batch on `stream` and returns. The lock (hd_config) decides
 *     whether batches on different streams overlap. If the device fails after the call has returned, a later call
 *     returns HD_ECUDA: at the latest the next one that waits for the batch, such as hd_counters_sync. If the device is
 *     lost, all further calls that use it return HD_ECUDA, too.
 *   Other memory of the host: the call copies the array to the device and back, and waits for the batch. A large batch
 *     runs in pieces, one after another, unless it delivers pointers to new entries (doc/api.md, Host arrays). For the
 *     copies it may allocate memory (see hd_open).
 *   Another device's memory without such access: HD_EINVAL, and hd_why() names the array. The table remembers addresses
 *     of device memory that batches have used, and does not check these again.
 * Below, "device arrays" are arrays in the reach of kernels, and "host arrays" are the others.
 *
 * CUDA graphs: with device arrays a batch copies nothing between host and device and waits for nothing, and in capture
 * it allocates no memory. So its stream may be in capture. Each launch of the graph runs the batch again, with the
 * epoch and the logical clock of the capture; HD_CLOCK_DEVICE is read again. A batch that would store times of the
 * logical clock is refused (HD_EINVAL), unless hd_hkv_config.capture_times allows it. From the first capture on, no two
 * batches of the table overlap, except under the locks group3 and none. Under ordered, rw and exclusive all batches of
 * one capture must be on one stream; otherwise HD_EINVAL.
 *   Two batches of hkv cannot be captured, and hd_run returns HD_EINVAL if their stream is in capture:
 *     - the first batch of a table that pins (lock_keys, or find_or_insert and find_or_insert_ptr with a holder), if
 *       hd_hkv_config.pins was 0, because it allocates the memory for pins
 *     - under the lock group3, the first batch with raw_scores of a table whose policy has the flag MONOTONE or
 *       SCORE_IS_TIME (hd_info.policy_flags), such as lru, because it waits for earlier batches
 *   A call that waits cannot be captured: hd_run with a host array and hd_run_growing return HD_EINVAL if their stream
 *     is in capture. The other calls that wait (_sync, hd_clear, hd_check, hd_save, growth, ...) use CUDA's default
 *     stream. Do not make them during a capture: CUDA may refuse them (HD_ECUDA) and then invalidates the capture.
 *   Growth and hd_load move the table. Capture again after them; do not launch an older graph. While hd_save or
 *     hd_for_each runs, launch no graph that has batches of the table. */
typedef struct hd_batch {
    hd_op op;
    bool distinct; /* promise that no key occurs twice. On "ref" and "host", builds with --enable-verify check it
                      (HD_EINVAL) */
    hd_elem elem;  /* accum_or_assign: the type of the value's elements */
    uint64_t n;    /* items; for export and promote, slots */

    const uint8_t *each;   /* (n)              in, hd_op; not NULL: a mixed batch, in which item i has the operation
                               each[i]. Then `op` is ignored and the batch has role I. Not for design hkv */
    const uint64_t *key;   /* (n)              in */
    const void *value;     /* (n, value_bytes) in */
    const uint64_t *score; /* (n)              in, an input of the policy. custom: the new score, required. lfu and
                               epoch_lfu add it to the score; NULL: 1 for every item. Other policies ignore it */
    const uint8_t *flag;   /* (n)              in, hd_accum; NULL: HD_EITHER for every item */
    uint64_t holder;       /* of pins. lock_keys, unlock_keys: not 0. find_or_insert, find_or_insert_ptr: 0: they pin
                              nothing. Other operations do not read it */
    uint64_t start;        /* export, promote: first slot; start + n is at most hd_info.places */
    const char *pred;      /* name of a predicate (`heddle list predicates`) */
    uint64_t pred_arg[2];  /* the predicate's arguments */

    const uint64_t *key2; /* (n)              in, range: the last key of the item's range. It is a bound, not a key:
                             every number is allowed, and UINT64_MAX means that there is no upper bound */
    bool inclusive;       /* predecessor, successor: an entry with the item's own key counts */
    uint32_t limit;       /* range: the most entries of an item, and so the rows that it has in key_out and value_out */

    bool raw_scores; /* operations that score: `score`, which is required, has the scores to store, whatever the policy
                        (doc/contract-hkv.md). The batch has role I. hkv only */

    uint8_t *outcome;    /* (n)              out, hd_outcome */
    bool *found;         /* (n)              out: whether the key was present when the item took effect. Ordered
                            operations: whether there is such an entry */
    void *value_out;     /* (n, value_bytes) out. range: (n, limit, value_bytes); min, max: (1, value_bytes) */
    uint64_t *score_out; /* (n)              out */
    void **ptr;          /* (n)              out: addresses of values in the table; a value has value_bytes bytes */
    uint64_t *key_out;   /* (n)              out, ordered operations: the entry's key. range: (n, limit); min, max: (1).
                            Rows without an entry keep the caller's bytes */
    uint32_t *rows;      /* (n)              out, range: how many rows of key_out and value_out the item has */
    bool *more;          /* (n)              out, range: whether the range has more entries than these */

    /* The list: evicted entries and refused items (insert_and_evict); absent keys, without value and score
     * (find_missed); or entries (export). Its rows are in item order; for export, in slot order. Arrays of n rows are
     * large enough. */
    uint64_t *list_key;   /* (<= n)              out */
    void *list_value;     /* (<= n, value_bytes) out */
    uint64_t *list_score; /* (<= n)              out */
    uint64_t *list_item;  /* (<= n)              out: the number of the item; for export, of the slot */
    uint64_t *count;      /* (1)                 out: rows of the list; or entries counted, removed, moved or found */

    void *stream;       /* backend "cuda": a cudaStream_t; NULL: the default stream. Other backends ignore it, and the
                           call waits */
    const char *kernel; /* in: the kernel variant to use, such as "tlpv1"; NULL: the table selects one */
    const char *ran;    /* out: the kernel that ran, such as "hkv.insert_or_assign.ref"; static storage */
} hd_batch;

/* Runs one batch. HD_EINVAL, with the field's name in hd_why(): a required field is missing, a name is unknown, n is
 * out of range, no kernel can run the batch, or (--enable-verify) a promise is broken. Nothing has run then. HD_ENOMEM:
 * memory was refused, nothing has run. For HD_ECUDA and HD_EKERNEL see hd_status. */
HD_API hd_status hd_run(hd_table *table, hd_batch *batch);

/* ---- Whole-table calls: they wait for all earlier batches of the table ------------------------ */

/* The load factor is entries / hd_info.places. So for hive the slots of the stash count, too. */
HD_API hd_status hd_size_sync(hd_table *table, uint64_t *size); /* *size: entries */
HD_API hd_status hd_load_factor_sync(hd_table *table, double *load_factor);
HD_API hd_status hd_clear(hd_table *table); /* HD_OP_CLEAR, and waits */

/* Calls visit(context, key, score, value) once per entry, in slot order, on the calling thread. `value` points to
 * value_bytes bytes, which the visitor may change, and is valid until the visitor returns. A result other than 0 ends
 * the walk. The visitor must not call the table. On backend "cuda" entries are copied to the host in parts of a few
 * MiB, and changed values back. */
typedef int hd_visitor(void *context, uint64_t key, uint64_t score, void *value);
HD_API hd_status hd_for_each(hd_table *table, hd_visitor *visit, void *context);

/* Grows the table to `buckets` buckets. No entry is lost. Pins stay; pointers to values become invalid. The call waits
 * for all earlier batches, also for lookups on other streams, and later batches wait for it.
 *   hkv    `buckets` is a multiple of the present number. With twice the buckets, the entries of bucket b move to
 *          buckets 2b and 2b + 1. On "cuda" kernels move them, and copy each value once: the call takes the time of
 *          allocating memory, and of reading the old table and writing the new one at the device's memory rate. No host
 *          memory is needed, but for the host tier.
 *          Memory: a table of 64 MiB or more in device memory grows in place, if the device has virtual memory
 *          management. Then the peak is the new table, the room that its batches use in the old and the new size, and
 *          at most 64 MiB and 4 bytes per bucket. Otherwise the old and the new table exist at the same time. The host
 *          tier always exists twice. If hd_hkv_config.device_value_bytes limits the values in device memory, they stay
 *          in the same memory; only keys and the host tier become larger.
 *   hive   `buckets` is not below the present number. The table grows in place, by splitting single buckets. So buckets
 *          are evenly filled, and lookups are fastest, if the number is base_buckets (hd_info) times a power of two.
 *   ovs    as hive, by splitting single segments. `buckets` is rounded up to whole segments.
 *   sl     `buckets` is not below the present number, and is rounded up to whole segments. No entry changes its slot.
 *          The old and the new memory exist at the same time.
 *   gphash `buckets` is not below the present number, and is rounded up to base_buckets times a power of two. Each
 *          doubling adds a level on top and moves the entries of the bottom level into it. The old bottom level and the
 *          new level exist at the same time.
 *   gfsl   `buckets` is a multiple of the present number. The entries move to a new list; the old and the new one
 *          exist at the same time. On "cuda" they are copied to host memory and back.
 * HD_EINVAL: the table cannot have so many buckets, or near_bytes is too small for them (hd_why() names the least).
 * If the call fails, the table is unchanged. Exception: on "host" and "cuda" a table of hive or ovs may have grown in
 * part (HD_ECUDA, HD_EKERNEL); hd_table_info reports the size. */
HD_API hd_status hd_grow(hd_table *table, uint64_t buckets);

/* hd_grow to at least `capacity` entries: to the smallest number of buckets that hd_grow allows. Does nothing if the
 * table has this capacity. A failing call leaves what a failing hd_grow leaves. */
HD_API hd_status hd_reserve(hd_table *table, uint64_t capacity);

/* Designs hive, ovs and sl: shrinks the table to `buckets` buckets, or to more if the entries do not fit into fewer;
 * both are HD_OK, and hd_table_info reports the number. No entry is lost. Pointers to values become invalid. HD_EINVAL:
 * `buckets` is below base_buckets (hd_info) or above the present number, or the design is hkv, gphash or gfsl. hive and
 * ovs shrink in place, and a failing call may have shrunk the table in part, as with hd_grow. ovs and sl round up to
 * whole segments. */
HD_API hd_status hd_shrink(hd_table *table, uint64_t buckets);

/* Designs ovs and sl: changes near_bytes (hd_ovs_config, hd_sl_config), the limit of device memory, while the table is
 * open; 0: no limit. Segments move between device memory and pinned host memory. Entries, slots and capacity stay.
 * Pointers to values become invalid. The call waits for all earlier batches, and later batches wait for it. Host memory
 * holds some segments twice while they move. The table never takes more device memory than the larger of the two limits
 * allows, and when the call succeeds, no more than the new one.
 * HD_EINVAL: the limit is too small for the table (hd_why() names the least), or the design is another. Then nothing
 * has changed. HD_ENOMEM, HD_ECUDA, HD_EKERNEL: no entry is lost. The table has its old segments in device memory again
 * if it could take the memory, or fewer; hd_table_info reports the limit that it keeps. */
HD_API hd_status hd_set_near(hd_table *table, uint64_t near_bytes);

/* Runs a batch, grows the table as needed, and waits. `target` is a load factor (hd_load_factor_sync) from 1/1024 to 1;
 * or it is 0, and then the table grows only for items that are PENDING.
 *   - Items that are PENDING run again, as a batch of their own, after growth, until no item is PENDING. The outcome of
 *     an item is that of its last run.
 *   - With a target above 0, a batch that may insert runs in parts, one after another. hkv and gfsl grow before a
 *     part that could exceed the target; the other designs grow after a part that did. A full bucket of hkv still
 *     evicts.
 *   - A batch that delivers pointers, or the list of insert_and_evict, runs in one part. If it delivers pointers, the
 *     table may grow before it but not after it, because growth makes pointers invalid. No item of it that ran is
 *     PENDING: find_ptr inserts nothing, and the other operations with pointers are only in hkv.
 *   - hive, ovs, sl and gphash grow to base_buckets (hd_info) times a power of two, if they can.
 *   - With device arrays, `outcome` is required and the stream must not be in capture.
 * HD_EINVAL: nothing has changed. HD_ENOMEM (growth was refused), HD_ECUDA, HD_EKERNEL: some parts may have run, and
 * the table may have grown. After HD_ENOMEM, in any design, an item with the outcome PENDING has changed nothing,
 * and every other item has taken effect. */
HD_API hd_status hd_run_growing(hd_table *table, hd_batch *batch, double target);

/* Verifies every invariant of the design (HKV-1, HIVE-1, SL-1 and so on, in layout.h of each design in ref/).
 * HD_ECORRUPT: one does not hold; hd_why() names the first, with its bucket and slot. On "cuda" a kernel checks the
 * table. */
HD_API hd_status hd_check(hd_table *table);

/* ---- Snapshots (doc/snapshot.md) ------------------------------------------------------------- */

/* Saves the table to a file: writes a temporary file in the same folder, syncs it, and renames it to `path`. So after a
 * crash `path` is the old file or the new one. If syncing the folder fails (HD_EIO), the new file is in place. If
 * `path` is a device or a pipe, the call writes to it directly. If it is a symbolic link, the file replaces the link,
 * not its target.
 * The call waits for all earlier batches. Then lookups by other threads go on, if the lock lets lookups overlap; other
 * batches wait. On "cuda" the table is copied in parts of a few MiB, so the call needs 8 MiB of host memory, or two
 * buckets, and the device copies a part while the part before it is written. A file of more than 1 MiB is written by a
 * thread that lives as long as the call, and that blocks all signals. */
HD_API hd_status hd_save(hd_table *table, const char *path);

/* Verifies the whole file, then replaces the entries, the clock and the epoch of the table by those of the file, and
 * removes all pins. Design, policy and value_bytes must be the same in file and table (HD_EINVAL). *dropped (may be
 * NULL) receives the number of entries that found no slot.
 *   - The shape is: slots and seed; for hkv also the number of buckets and hkv.dual; for hive also the fields of
 *     hd_hive_config; for ovs also segment_bytes and partition; for sl also segment_bytes; for gphash also the
 *     fields of hd_gphash_config; for gfsl also the number of buckets and level_pools.
 *   - If file and table have the same shape, every entry is loaded. For designs but hkv and gfsl the number of buckets
 *     is not part of the shape: the table takes `buckets` and `base_buckets` of the file.
 *   - If the shapes differ, the table keeps its own, and the entries are inserted. hkv keeps those with the highest
 *     scores, whatever hd_admit says: no entry is dropped for one with a lower score. hive, ovs, sl and gphash grow
 *     first if the entries would take more than 4/5 of the slots; gfsl doubles its chunks until all have room. None
 *     drops any.
 * If the call fails, the table is unchanged: the file is read into a new table, which takes the place of the old one
 * when all checksums are right. So memory for both is needed for a while. On "cuda" a file of the same shape goes into
 * the table in parts, as with hd_save. A file of another shape takes 8 MiB of host memory and the pinned memory that
 * batches with host arrays have. */
HD_API hd_status hd_load(hd_table *table, const char *path, uint64_t *dropped);

/* Opens a table with the design, policy and shape of the file, and loads the file. `config` (may be NULL: the default)
 * gives what a file does not contain: backend, lock, layout, threads, seams, pins and tiers, near_bytes. In all other
 * fields it has what the file has, or what hd_config_default() or hd_config_of() of the file's design gave; a capacity
 * may also be below the file's. Else HD_EINVAL names the field. hd_snapshot_inspect tells the design. The caller owns
 * *table and closes it with hd_close. */
HD_API hd_status hd_open_snapshot(const char *path, const hd_config *config, hd_table **table);

/* The header of a snapshot. hd_snapshot_inspect reads and verifies the header only. */
typedef struct hd_snapshot_info {
    uint32_t version;
    char design[16], policy[240];
    uint64_t buckets, capacity, size, seed, clock;
    uint64_t base_buckets; /* hive, ovs, sl: buckets when the table was opened */
    uint32_t slots, value_bytes, epoch;
    bool dual;      /* the same as config.hkv.dual, for programs that were written for earlier versions */
    hd_admit admit; /* the same as config.hkv.admit */
    uint64_t file_bytes;
    /* The configuration that hd_open_snapshot(path, NULL, ...) opens: the fields in the file, and defaults for the
     * others. design and policy are NULL if this library has none of that name; else design is a static string, and
     * policy is one, or `policy` of this very struct, if that has expressions. */
    hd_config config;
} hd_snapshot_info;
HD_API hd_status hd_snapshot_inspect(const char *path, hd_snapshot_info *info);

/* ---- Lists of alternatives, for tools --------------------------------------------------------- */

/* The lists of hd_list; `heddle list` prints them. */
typedef enum hd_kind {
    HD_DESIGNS,
    HD_BACKENDS,
    HD_POLICIES,
    HD_LOCKS,
    HD_PREDICATES,
    HD_KERNELS,
    HD_HASHES,
    HD_PARAMETERS /* the fields of hd_config; hd_row.more is the design that has the field, or "" for all designs */
} hd_kind;

typedef struct hd_row {
    const char *name; /* "lru" */
    const char *what; /* one sentence */
    const char *more; /* flags or arguments; "" if there are none */
} hd_row;

/* Writes row i of the list to *row, and returns false if there is no such row. The strings are static. */
HD_API bool hd_list(hd_kind kind, size_t i, hd_row *row);

#ifdef __cplusplus
}
#endif

#include "heddle_calls.h"
#endif
