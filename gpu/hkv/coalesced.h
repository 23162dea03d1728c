/* SPDX-License-Identifier: Apache-2.0
 *
 * coalesced.h - the kernels written for speed: one thread decides for one key, and the warp loads memory for its 32
 * keys together.
 *
 * A search step needs one block of at most 128 bytes per key. The warp copies the blocks of its 32 keys into 32 rows of
 * shared memory, so 32 blocks are in flight at a time. The lane of a key reads its row, decides, and claims the entry
 * with one compare-and-swap (CAS) of the key word. The warp then copies the values. The main loop runs in rounds: in
 * each round every lane tries its item once. A lane whose item is done takes the next item of the warp, so an item that
 * retries does not stall the other lanes.
 *
 * A table has one of two layouts. In layout `pairs` the key and the score of an entry are adjacent, 16 bytes. In layout
 * `planes` the keys are one array and the scores another. Upserts need `pairs`.
 *
 * The code is in these files, and each needs those before it:
 *
 *     coalesced_copy.h      what the warp copies together: rows, values
 *     coalesced_search.h    the search for a key in the rows of its buckets
 *     coalesced_victim.h    the search for a victim, by lower bounds
 *     coalesced_claim.h     claims, decisions, and the end of an item
 *     coalesced_loop.h      the items of a warp, and the main loops
 *     coalesced_members.h   what members of a group deliver
 *
 *
 * 1. Loads
 *
 *     step             when                         bytes per key                 loaded by
 *     digest line      every search                 1 per slot: 16, 32, 64, 128   the warp, into rows
 *     key and score    for each matching digest     16; layout planes: 8, no score  the lane of the item
 *     bound line       upsert, bucket full          8 per group of 8 slots        the warp, into rows
 *     group of pairs   upsert, bucket full          128: 8 keys and scores        the warp, into rows
 *     holders          the same, entries pinned     64: those of the 8 entries    the warp, into rows
 *     holder           key present, entries pinned  8                             the lane of the item
 *     value            the operation moves values   value_bytes                   the warp, in pieces of 16 bytes
 *
 *     In dual mode a search loads the digest line of the second bucket only if the first bucket lacks the key.
 *
 *     How a warp loads lines of 128 bytes. A copy has 16 bytes, so 8 lanes share a row:
 *
 *         global memory                              shared memory, rows of 144 bytes
 *         line of lane 0's bucket   128 bytes  --->  row 0   | 128 bytes of data | 8: outcomes | 8: unused |
 *         line of lane 1's bucket   128 bytes  --->  row 1   | 128 bytes of data | 8: outcomes | 8: unused |
 *           ...                                        ...
 *         line of lane 31's bucket  128 bytes  --->  row 31  | 128 bytes of data | 8: outcomes | 8: unused |
 *
 *         copy    lanes 0-7   lanes 8-15   lanes 16-23   lanes 24-31
 *         0       row 0       row 1        row 2         row 3         Every lane issues its 8 copies.
 *         1       row 4       row 5        row 6         row 7         Then the warp waits once.
 *           ...
 *         7       row 28      row 29       row 30        row 31
 *
 *
 * 2. Which launches run at the same time
 *
 *     The batch lock (concurrency/lock.h) separates batches by role. With lock `none` the caller does so.
 *     - Readers run with readers only. A lookup therefore claims nothing and loads keys plainly.
 *     - Updates (touch, assign, assign_values, assign_scores) may run with other updates.
 *     - An upsert or an erase runs alone.
 *     - A batch whose keys may repeat may run as several launches, one after the other (repeated_keys.h, if
 *       hkv_has_groups()). SINGLES runs the keys that come once. LEADERS runs one item of each other key. REST runs
 *       items that repeated_keys.h leaves out. So no key occurs twice in SINGLES, nor in LEADERS.
 *
 *
 * 3. Who may write what
 *
 *     An item *owns* an entry from the CAS that replaces the key until the store that publishes a key. An item *holds*
 *     a bucket while it has the bucket's lock word, args.lock[b].
 *
 *     field    who may write it                                                        order
 *     key      an item that claims it                                                  CAS, acquire
 *              the owner, to publish a key or to give the claim back                   store, release
 *              the holder of the bucket, at level ALWAYS (section 4)                   store, relaxed, then release
 *     digest   the owner; the holder of the bucket                                     store, relaxed
 *     score    the owner; the holder of the bucket                                     store, relaxed, or with the key
 *              update launches: an item that changes only the score; last store wins   store, relaxed
 *     bound    lower: an item that lowers a score, before it publishes the score       atomic min, relaxed
 *              raise: an item that looks for a victim, to the least score it read      store, relaxed
 *              set: an item that evicts, to the least score of the group, before it    store, relaxed
 *              publishes
 *     value    the owner; the holder of the bucket                                     plain
 *     holder   an item of lock_keys or unlock_keys, in a launch of its own             CAS, relaxed
 *              the holder of the bucket, at level ALWAYS                               plain
 *
 *
 * 4. Bucket locks
 *
 *     hkv_coalesced_locking() chooses one level per launch of upserts.
 *
 *     level       an item locks its buckets    when the level is enough
 *     NEVER       never                        update and erase launches: no item evicts. Upserts: keys are distinct,
 *                                              and the score in a slot never falls: a hit does not lower it, and a
 *                                              new entry has at least the score of its victim
 *     TO_EVICT    before it evicts, or lowers  keys are distinct. Or no present entry's score falls, and each key has
 *                 a score by a hit             one candidate bucket
 *     ALWAYS      before it searches           in every launch
 *
 *     Every launch has ALWAYS if items pin (find_or_insert with a holder): the holders that an item reads must not
 *     change before it takes effect. Otherwise SINGLES has the level of a batch of distinct keys. LEADERS and REST have
 *     ALWAYS: where the key is absent, the members of a group that hit the new entry may lower its score. Another
 *     launch has ALWAYS if keys may repeat, in three cases:
 *     - The operation is accum_or_assign. An item with flag HD_ADD may end as MISS. Another item could insert the key
 *       between its search and its decision.
 *     - A hit may lower a score (section 8, C).
 *     - The table is dual: two items of one key could insert it into different buckets.
 *     If keys are distinct, it has NEVER if neither a hit nor an eviction lowers a score, else TO_EVICT. At these
 *     levels pins do not change, because lock_keys and unlock_keys run alone, like upserts. An item of a pinned key
 *     changes nothing, so it claims nothing. A pinned entry is no victim, and its score does not count for the bound of
 *     its group, so the search for a victim (section 8, C) is the same with pins. unlock_keys lowers the bound.
 *
 *     Lock order. An item tries each lock once per round and never spins. It takes two bucket locks in ascending order,
 *     and drops the first if it cannot get the second. It tries no bucket lock while it owns an entry. An owner waits
 *     for nothing: it publishes in the round in which it claimed. So an item may hold buckets while it waits for an
 *     entry, and no cycle of waits exists. An item that gets a lock searches after that, even if it has searched
 *     before. Exceptions are items of distinct keys at TO_EVICT. An item whose key is absent evicts at once: no other
 *     item inserts the key, and the buckets stay full. An item that lowers a score looks only whether its entry still
 *     has the key.
 *
 *
 * 5. The life of an entry, and the memory orders
 *
 *     state           key       digest        score         bound of its group   value
 *     empty           EMPTY     0             0             0                    unused
 *        |  CAS EMPTY -> LOCKED, acquire                                                INSERTED takes effect
 *     owned, new      LOCKED    of this key   0             0                    the warp writes it
 *        |  store key and score, release
 *     published       the key   of this key   its score     <= its score         readable
 *        |  CAS key -> LOCKED or REPLACED, acquire
 *     owned, present  LOCKED    of this key   old score     lowered if needed    the warp reads or writes it
 *        |  store key, and score if it changed, release                                 UPDATED or HIT takes effect
 *     published       the key   of this key   new score     <= its score         readable
 *        |  CAS key -> LOCKED, acquire; the score is still the least                    EVICTED takes effect
 *     owned, victim   LOCKED    of new key    of new key    <= scores of group   old value out, new value in
 *        |  store the new key, release
 *     published       new key   of new key    its score     <= its score         readable
 *        |  CAS key -> LOCKED, acquire
 *     owned, erased   LOCKED    0             old score     0                    unused
 *        |  store EMPTY and score 0, release                                            ERASED took effect at digest 0
 *     empty           EMPTY     0             0             0                    unused
 *
 *     LOCKED is HD_KEY_LOCKED, EMPTY is HD_KEY_EMPTY. REPLACED is HKV_KEY_REPLACED: the owner replaces value and score
 *     and reads neither, so another item of the key need not wait for it (hkv_coalesced_overwritten).
 *
 *     At level ALWAYS a relaxed store of LOCKED under the bucket lock replaces the CAS of an insert and of an eviction,
 *     and a present key stays in place while its score and value change.
 *
 *     load                                    order     pairs with
 *     CAS of a key                            acquire   release store of the key by the last owner or holder
 *     CAS of a bucket lock                    acquire   release store of 0 to the lock in hkv_let_go()
 *     score of a victim, after its CAS        relaxed   comes after the CAS, by its acquire
 *     key and score in a search               relaxed   nothing: a claim checks the key again; an item that claims
 *                                                       nothing decides by what stays true (below)
 *     digests, bounds and groups in rows      relaxed   nothing: an old value does no harm (section 8, B, C and E)
 *
 *     The score must not become visible after the key: another item could take the entry for a victim by its old score
 *     (slots.pml, FAULT 5). There are two ways to store them:
 *     - An insert without the bucket lock, an owner that changes the score of its key, and an erase store both words
 *       by one release store of 16 bytes. The entry is aligned to 16 bytes. The file assumes that a GPU makes all
 *       16 bytes visible at once. PTX promises this for each word only. The simulator makes the same assumption
 *       (simt/weak.c), so it cannot refute it.
 *     - An eviction, an item that holds the bucket, and every item in layout planes store the score first, relaxed, and
 *       then the key, with release. (Under the bucket lock the score of a present key changes alone.)
 *
 *     A 16-byte load is atomic for each word only, and another item may store between the reads of the two words. So a
 *     search may see the key of one store beside the score of another. This does no harm. If the key changed, the claim
 *     fails. If only the score may have changed, the item loads it again after the claim. Where hkv_has_score() is
 *     true, an item of a present key uses the score of the search, which does no harm either (see there).
 *
 *     An item that claims nothing is safe for one of these reasons:
 *     - It holds the bucket.
 *     - Its key is pinned, so no item changes the entry.
 *     - Its outcome stays true for the whole launch. MISS: no item inserts the key. HIT, UPDATED: no item removes the
 *       key. REFUSED: no item lowers the least score of the bucket.
 *     An item of a present key that writes nothing (section 7) needs one more fact: another item overwrites or has
 *     overwritten the entry. The score or the key REPLACED in the entry shows this, and it stays true, too.
 *
 *     A lane claims, and other lanes copy the value. simt_sync_tile() after the claim makes the lane's acquire valid
 *     for the warp. simt_sync_tile() after the copy puts the copies of all lanes before the lane's release.
 *
 *
 * 6. The states of an item (hkv_one: outcome and holds)
 *
 *     NO_ITEM
 *        |  hkv_run_refill: the next item of the warp
 *        +--> the key is reserved -----------------------> RESERVED
 *        v
 *     UNDECIDED, holds NOTHING or BUCKETS <-----------------------------------+
 *        |                                                                    |
 *        |  level ALWAYS, holds NOTHING: try the locks ------- not got ------>+
 *        v                                                                    |
 *     search the digests and keys                                             |
 *        |                                                                    |
 *        +--> present: at TO_EVICT let go (*); CAS (see below) - fails ------>+
 *        |       +---------------------------------------> HIT, UPDATED, PINNED or ERASED
 *        |                                                                    |
 *        +--> absent, an owned entry may have the key ----------------------->+  keeps BUCKETS
 *        |                                                                    |
 *        +--> absent, the operation does not insert -----> MISS               |
 *        |                                                                    |
 *        +--> absent, room: at TO_EVICT let go; CAS of EMPTY - fails -------->+
 *        |       +---------------------------------------> INSERTED           |
 *        |                                                                    |
 *        +--> absent, full, TO_EVICT, holds NOTHING: try the locks ---------->+  not got, or keys may repeat
 *        |                                                                    |
 *        +--> absent, full: CAS of the victim -- fails, or its score rose --->+  keeps BUCKETS
 *                +---------------------------------------> EVICTED (lets go below ALWAYS), or REFUSED without a CAS
 *
 *     (*) If the hit lowers the score, and keys are distinct: keep the locks, or try them, and leave the CAS out.
 *
 *     The CAS of a present key is left out under the bucket lock, for a pinned key, and where hkv_coalesced_unclaimed()
 *     decides. If the CAS fails because another item overwrites the entry, hkv_coalesced_overwritten() may decide. The
 *     CAS of EMPTY and of a victim is a store at ALWAYS.
 *
 *     outcome                   holds                         next
 *     MISS, REFUSED, RESERVED   NOTHING or BUCKETS            let go, deliver, NO_ITEM
 *     ERASED                    NOTHING                       deliver, NO_ITEM
 *     other outcomes            ENTRY, BUCKETS, or NOTHING    move the value, publish, let go, deliver, NO_ITEM
 *
 *     An item tries again if another item owned an entry, won a CAS, changed a score or held a lock. At TO_EVICT,
 *     where keys repeat, it also tries again after it got the lock. The next try is in the next round, after a backoff.
 *
 *
 * 7. When an item takes effect
 *
 *     A call of simt_ticket*() reports this moment to the simulator's judge, which replays the items in this order
 *     (doc/dialect.md). On a GPU the calls do nothing, unless HD_TICKETS is defined.
 *
 *     outcome                     moment
 *     HIT, UPDATED                claimed: the store of the score, or if the score stays, of the key. In layout pairs
 *                                 one store publishes both
 *                                 score only: the store of the score
 *                                 holds BUCKETS, or pinned: the decision
 *     HIT, UPDATED, no write      just before the item that overwrites the entry (hkv_coalesced_precede,
 *                                 hkv_coalesced_overwritten)
 *     INSERTED, EVICTED           the claim of the slot
 *     REFUSED, MISS, PINNED       the decision
 *     ERASED                      the store of digest 0
 *     RESERVED                    the end of the item
 *     members of a group          just before the leader, or after it where it inserted the key (hkv_member_place)
 *     lookups, every outcome      the end of the item; no item changes the table meanwhile
 *     pins of a present key       the CAS of the holder; otherwise the end of the item
 *
 *
 * 8. Why it is correct
 *
 *     A. An entry has at most one owner at a time. A claim replaces EMPTY or the key of an entry by LOCKED or REPLACED.
 *        No claim expects LOCKED or REPLACED, so no second claim succeeds before the owner stores a key. Where a store
 *        replaces the CAS (ALWAYS), every item that changes the entry holds the bucket.
 *     B. Two items of one key never get two slots of one bucket. An insert claims the lowest slot whose digest it saw
 *        as 0. In a launch that inserts, no slot becomes free, so only one CAS of EMPTY can succeed for each slot.
 *        Suppose item 1 has claimed slot j for its key. It saw all lower slots taken, and they stay taken. Item 2 of
 *        the same key has three possibilities:
 *        - It sees digest 0 in slot j or in a lower slot. Its CAS fails there, because the slot is taken.
 *        - It sees the key's digest in slot j. It reads the key word. It finds the key, or it finds a reserved key and
 *          retries: LOCKED, or still EMPTY, because the loads of digest and key are relaxed.
 *        - The new entry has been evicted from slot j since. Then the bucket is full: every CAS of EMPTY fails. Item 2
 *          can only evict. Where keys repeat, it holds the bucket for this (TO_EVICT and above) and has searched for
 *          the key again after it got the lock.
 *     C. A victim has the least score of its bucket. A bound is never above a score of its group. (In C, pinned entries
 *        and their scores do not count: they stay as they are.) The search takes the
 *        group with the least bound. It accepts the least score of this group only if no other bound is lower.
 *        Otherwise it raises the bound of the group and searches again. So no score of the bucket is lower. While
 *        scores only rise, a score that is unchanged after the claim is still the least. Where scores may fall, the
 *        item holds the bucket, and so does an item that lowers a score.
 *     D. A free slot claimed without a lock has score 0 until its key is published. An item that evicts may take this
 *        slot for the one with the least score. It then sees a reserved key in the slot and retries. So it never evicts
 *        an entry that is not published.
 *     E. An item that holds a bucket has a recent enough view of its digests. It sees all that earlier holders wrote:
 *        their release of the lock pairs with its acquire, and simt_sync_tile() in hkv_rows_fetch() extends this to
 *        the lanes that copy the row. At TO_EVICT other items insert without the lock, and the holder may see such a
 *        slot still as free. Then it does not evict: it lets the bucket go, its CAS of EMPTY fails, and it searches
 *        again. If it sees no free slot, every digest is the present one: only an eviction changes a digest other than
 *        0, and at this level it needs the lock.
 *     F. Of two full buckets, the choice by the lower least score (D2) holds when the item takes effect. The item has
 *        seen a least score of the first bucket, and later one of the second; loads may be old, so each is at most the
 *        score at that time. At ALWAYS the item holds both buckets, so both are the present ones. At NEVER least scores
 *        only rise; at TO_EVICT, too, while the item holds both buckets. The claim checks that the victim's score is
 *        the one that was seen, so it is still the least of its bucket (C), and the least of the other bucket is no
 *        lower than it was. If the check fails, the item chooses again. Of two buckets with room the choice (D1) may be
 *        old, for entries come into both meanwhile.
 *        The order of the items is a question of its own: hkv_few_at_a_time() in rows.h.
 *
 *     slots.pml models the claims and the bounds for the model checker spin, in sequentially consistent memory. It does
 *     not model how groups form. The simulator runs these files and repeated_keys.h in weak memory (tests/t_kernels.c,
 *     `heddle sched`, `heddle museum`).
 *
 *
 * 9. Rules for changes
 *
 *     - A function with a parameter `w` is warp-collective: all 32 lanes call it together. If it has a condition
 *       (`wanted`, `moves`, `evicts`, `todo`), a lane without work passes false.
 *     - simt_join() marks the point where lanes meet again. It is nothing on a GPU. simt_sync_tile(w) is __syncwarp():
 *       it also orders memory among the lanes.
 *     - Publish last: digest, score and value come before the release store of the key.
 *     - Lower the bound before you publish a lower score.
 *     - Some changes need further changes:
 *
 *     a change of                       needs a change of
 *     the moment when an item takes     the call of simt_ticket*() there, and section 7. The tests of kernels stay as
 *     effect                            they are: tests/designs/hkv.c runs every operation, policy and mode
 *     the accesses to a slot, a bound,  gpu/hkv/slots.pml: the new step, and a FAULT that leaves it out, which
 *     or a lock                         tests/t_models.sh must find
 *     a memory order                    judge/museum/bugs: a bug with a weaker order, which `heddle museum` must find
 *     the levels, a flag of policies    hkv_coalesced_locking() and section 4; tests/t_policies.c searches for inputs
 *                                       that refute a flag
 *     the operations                    hkv_rule_of(), and hkv_rates_only(), hkv_replaces() or hkv_has_groups() if
 *                                       they are wrong for the operation; doc/extending.md has a worked example
 */
#ifndef HKV_COALESCED_H
#define HKV_COALESCED_H

#include "gpu/hkv/coalesced_loop.h"
#include "gpu/hkv/coalesced_members.h"

SIMT_FN void hkv_coalesced_lookup(const hkv_args *a) { hkv_coalesced_once(a, HKV_LOOKUP); }
SIMT_FN void hkv_coalesced_pin(const hkv_args *a) { hkv_coalesced_once(a, HKV_PIN); }
SIMT_FN void hkv_coalesced_update(const hkv_args *a) { hkv_coalesced(a, HKV_UPDATE); }
SIMT_FN void hkv_coalesced_upsert(const hkv_args *a) { hkv_coalesced(a, HKV_UPSERT); }
SIMT_FN void hkv_coalesced_erase(const hkv_args *a) { hkv_coalesced(a, HKV_ERASE); }

static inline const char *hkv_fits_coalesced(const hd_info *info)
{
    bool row = info->slots == 16 || info->slots == 32 || info->slots == 64 || info->slots == 128;
    return row ? NULL : "it fetches the digests of a bucket as one row, of 16, 32, 64 or 128";
}
static inline const char *hkv_fits_coalesced_pairs(const hd_info *info)
{
    return info->layout == HD_LAYOUT_PAIRS ? hkv_fits_coalesced(info)
                                           : "it finds the least score by lower bounds, which layout=planes lacks";
}

SIMT_ENTRY(hkv_kernel_coalesced_lookup, hkv_args, hkv_coalesced_lookup)
SIMT_ENTRY(hkv_kernel_coalesced_update, hkv_args, hkv_coalesced_update)
SIMT_ENTRY(hkv_kernel_coalesced_upsert, hkv_args, hkv_coalesced_upsert)
SIMT_ENTRY(hkv_kernel_coalesced_erase, hkv_args, hkv_coalesced_erase)
SIMT_ENTRY(hkv_kernel_coalesced_pin, hkv_args, hkv_coalesced_pin)

static const hd_variant hkv_variant_coalesced = {
    .name = "coalesced",
    .row = {
        { HKV_LOOKUP, hkv_kernel_coalesced_lookup, 1, 128, hkv_fits_coalesced, HD_ORDER,
          HD_WHAT("lookup: a thread per key, a warp fetches the digest lines and values of its 32") },
        { HKV_UPDATE, hkv_kernel_coalesced_update, 1, 128, hkv_fits_coalesced, HD_ORDER,
          HD_WHAT("update: a thread per key claims the entry, a warp fetches for its 32") },
        { HKV_UPSERT, hkv_kernel_coalesced_upsert, 1, 128, hkv_fits_coalesced_pairs, HD_CHOICE,
          HD_WHAT("upsert: a thread per key claims by the key and evicts by bounds, a warp fetches for its 32") },
        { HKV_PIN, hkv_kernel_coalesced_pin, 1, 128, hkv_fits_coalesced, HD_ORDER,
          HD_WHAT("pin: a thread per key exchanges the holder, a warp fetches for its 32") },
        { HKV_ERASE, hkv_kernel_coalesced_erase, 1, 128, hkv_fits_coalesced, HD_ORDER,
          HD_WHAT("erase: a thread per key claims the entry, a warp fetches for its 32") },
    },
    .ran = HKV_RAN("coalesced"),
    .formerly = "gather",
};

#endif

HKV_LISTED(hkv_variant_coalesced)
