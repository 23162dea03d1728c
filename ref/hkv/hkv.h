/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv.h - the HKV table, sequentially: the contract made executable.
 *
 * It has two faces. `hkv_apply` runs one item. `hkv_accept` judges: it says whether an outcome that another
 * implementation reports was allowed now, and lets it happen. A parallel table may choose another victim among
 * equals, and another order of the items; so it is judged, not predicted.
 *
 * A view is not locked here: the batch lock (concurrency/) is the caller's.
 */
#ifndef HD_HKV_H
#define HD_HKV_H

#include "base/design.h"
#include "base/op.h"
#include "policies/policy.h"
#include "ref/hkv/layout.h"

#define HKV_NOWHERE UINT64_MAX

/* For the row of the design. */
extern const hd_backend hkv_reference;
extern const hd_params hkv_params;

/* One item of a keyed operation. */
typedef struct hkv_item {
    hd_op op;
    hd_elem elem;  /* accum_or_assign                                     */
    uint32_t flag; /* accum_or_assign: hd_accum                           */
    uint64_t key;
    const void *value; /* (value_bytes); NULL for operations that take none   */
    hd_score_in in;
    uint64_t holder; /* of pins; not 0: find_or_insert pins, too            */
    bool raw;        /* its score is stored as it is: hd_batch.raw_scores   */
} hkv_item;

/* What became of it. */
typedef struct hkv_seen {
    hd_outcome outcome;
    uint64_t entry; /* where the key is now; HKV_NOWHERE when it is not there. To hkv_accept: the entry
                            that was taken, or HKV_NOWHERE when that is not known                */
    uint64_t score; /* the entry's score now; REFUSED: what it would have been. To hkv_accept: the score
                            that was delivered, when score_shown                                 */
    bool score_shown;
    const void *value;   /* to hkv_accept: the value that was delivered, or NULL                 */
    uint64_t gone_key;   /* EVICTED: the evicted key                                             */
    uint64_t gone_score; /*          and its score                                               */
} hkv_seen;

/* Where a key can be (Algorithm 1, lines 1 and 2). */
typedef struct hkv_home {
    uint64_t bucket[2]; /* the first hkv_homes(v) of them */
    uint8_t digest;
} hkv_home;

static inline uint32_t hkv_homes(const hkv_view *v) { return v->dual ? 2 : 1; }

static inline hkv_home hkv_home_of(const hkv_view *v, uint64_t key)
{
    uint64_t h = hd_hash(key, v->seed);
    hkv_home home = { { hd_first_bucket(h, v->buckets), HKV_NOWHERE }, hd_digest(h) };
    if (v->dual) home.bucket[1] = hd_second_bucket(h, v->buckets);
    return home;
}

/* The policy that scores raw items: it stores what is given. */
enum { HKV_RAW_POLICY = HD_POLICY_custom };

/* The policy that scores the items of a batch, on a table of policy table_s. */
static inline uint32_t hkv_policy_for(uint32_t table_s, const hd_batch *b)
{
    return hd_batch_is_raw(b) ? (uint32_t)HKV_RAW_POLICY : table_s;
}

/* Its flags. */
static inline uint32_t hkv_policy_flags_for(const hkv_view *v, const hd_batch *b)
{
    return hd_batch_is_raw(b) ? hd_policy_rows[HKV_RAW_POLICY].flags : v->program.flags;
}

/* The scores that its items give. NULL: every item gives 1, also where the policy reads no given scores: the hits of a
 * group are then counted (hd_claims_count_hits). */
static inline const uint64_t *hkv_scores_for(const hkv_view *v, const hd_batch *b)
{
    return hkv_policy_flags_for(v, b) & HD_SCORES_USED ? b->score : NULL;
}

/* Applies one item. The victim's value goes to gone_value (value_bytes; may be NULL) before it is
 * overwritten. */
void hkv_apply(hkv_view *v, const hkv_item *it, hkv_seen *seen, void *gone_value);
/* The same where the key's home, which depends on nothing but key and shape, is known. */
void hkv_apply_at(hkv_view *v, const hkv_item *it, const hkv_home *home, hkv_seen *seen, void *gone_value);

/* How exactly `seen` is held to the dual-bucket choice (section 3.4). */
typedef enum hkv_strictness {
    HKV_EXACT_CHOICE, /* the bucket must be the one that D1 or D2 chooses now                        */
    HKV_ANY_CHOICE    /* D1 may have chosen on a state slightly old; D2, between full ones, may not */
} hkv_strictness;

/* NULL: `seen` may have become of `it` now, and has now happened to v. Else why not, and v is unchanged.
 * Static storage. */
const char *hkv_accept(hkv_view *v, const hkv_item *it, const hkv_seen *seen, hkv_strictness strictness);

/* What on_insert would be given for an absent key now, in *in, and the score that the entry of key `leaves` would have
 * after others, or it, were spared; 0: there is none. v is as it was. */
uint64_t hkv_foresee(const hkv_view *v, const hkv_item *it, uint64_t leaves, hd_score_in *in);

/* The entry that holds `key`, or HKV_NOWHERE (Algorithm 1). */
uint64_t hkv_find(const hkv_view *v, uint64_t key);

/* Places (key, value, score) as it is into an empty slot of a candidate bucket; false when there is none. The
 * key must not be there. For load and growth. */
bool hkv_put(hkv_view *v, uint64_t key, const void *value, uint64_t score);

/* Whether an item of the batch may pin, so that the table needs its plane of holders. */
bool hkv_batch_pins(const hd_batch *b);

/* Fills a public view of the table. */
void hkv_show(const hkv_view *v, hd_view *view);
/* The view inside of a state that hkv_reference opened: for backends that run other kernels on the same planes. */
hkv_view *hkv_view_of(void *state);
/* How many bounds such a table has; how many holders, from the beginning. */
uint64_t hkv_bounds_of(const hkv_view *v);
uint64_t hkv_ghosts_of(const hkv_view *v);
uint64_t hkv_states_of(const hkv_view *v);
uint64_t hkv_counts_of(const hkv_view *v); /* words */
uint64_t hkv_holders_of(const hd_info *info);
/* The table has its plane of holders from now on: what hd_info says of it. */
void hkv_got_holders(hd_info *info);
/* A view of that shape whose planes are nowhere yet. */
hkv_view hkv_view_for(const hd_info *info);
/* Gives the near tier as many whole values as the budget has room for, shared out evenly over the buckets or wherever
 * they are; 0: all. For a view that has its shape. */
void hkv_split(hkv_view *v, hd_tiers tiers, uint64_t near_bytes);
/* The bytes of the two tiers of such a table, whole words of 32 bits: kernels add to small integers by words. At least
 * one byte is near, for hkv_value is never NULL. */
uint64_t hkv_near_bytes(const hkv_view *v);
uint64_t hkv_far_bytes(const hkv_view *v);
/* As hkv_reference's open, with far values where the caller has them; they stay the caller's. */
hd_status hkv_open_over(const hd_info *info, const hd_seams *s, uint8_t *far, void **state);

/* ---- Whole batches and tables ---------------------------------------------------------------- */

typedef struct hkv_when {
    uint64_t clock;    /* item i happens at clock + i ... */
    uint64_t per_item; /* ... times this: 1 for the logical clock, 0 for a frozen one */
    uint32_t epoch;
    uint32_t threads; /* at most this many; 1: no OpenMP */
    uint64_t opened;  /* hd_when.opened */
} hkv_when;

/* Runs all items of a checked batch, item 0 first; tally[] (HD_OUTCOME_COUNT) gets the outcomes. The
 * result is the same for any number of threads. */
void hkv_run_batch(hkv_view *v, const hd_batch *b, hkv_when when, uint64_t *tally);

/* Empties the table: digests, keys, scores, pins. Values keep their bytes, which nothing can read. */
void hkv_clear(hkv_view *v, uint32_t threads);

/* In the buckets that begin in slots [start, start + n): the best scores' values become the near ones (promote.c).
 * How many did. */
uint64_t hkv_promote(hkv_view *v, uint64_t start, uint64_t n, uint32_t threads);

/* Moves everything of `from` into the empty `to`, whose buckets are a multiple of from's. Never fails:
 * see grow.c for why there is always room. On at most so many threads, with the same result. */
void hkv_move_all(const hkv_view *from, hkv_view *to, uint32_t threads);

/* "" when every invariant holds, else a sentence that begins with the number of the first that
 * does not: "HKV-2: bucket 5, slot 7: ...". */
void hkv_check(const hkv_view *v, char *why, size_t bytes);

/* Whether entry e breaks no invariant, and the bound of its group none, for assertions. */
bool hkv_is_sound(const hkv_view *v, uint64_t e);

/* Its sentences, which the check on a device shares (gpu/hkv/check.h): of a rule that is broken at entry e, and of a
 * wrong count of pins. */
void hkv_say_broken(const hkv_view *v, uint64_t e, int rule, char *why, size_t bytes);
void hkv_say_pins(uint64_t seen, uint64_t counted, char *why, size_t bytes);

#endif
