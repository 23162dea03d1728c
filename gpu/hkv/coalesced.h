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
 * `planes` the keys are one array and the scores another. The upserts of this file need `pairs`.
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
 *     - A batch whose keys may repeat may run as several launches, one after the other (groups.h; hkv_has_groups() says
 *       when). SINGLES runs the keys that come once. LEADERS runs one item for each other key. REST runs items that
 *       groups.h leaves out. So no key occurs twice in SINGLES, nor in LEADERS.
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
 *     not model how groups form. The simulator runs this file and groups.h in weak memory (tests/t_kernels.c,
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
 *     effect                            they are: tests/t_agree.c runs every operation, policy and mode
 *     the accesses to a slot, a bound,  gpu/hkv/slots.pml: the new step, and a FAULT that leaves it out, which
 *     or a lock                         tests/t_models.sh must find
 *     a memory order                    museum/bugs: a bug with a weaker order, which `heddle museum` must find
 *     the levels, a flag of policies    hkv_coalesced_locking() and section 4; tests/t_policies.c searches for inputs
 *                                       that refute a flag
 *     the operations                    hkv_rule_of(), and hkv_rates_only(), hkv_replaces() or hkv_has_groups() if
 *                                       they are wrong for the operation; doc/extending.md has a worked example
 */
#ifndef HKV_COALESCED_H
#define HKV_COALESCED_H

#include "gpu/hkv/kernels.h"

enum {
    HKV_COALESCED_THREADS = 128,
    HKV_COALESCED_ROW =
        144 /* bytes: a line of 128, and 16 that shift each row by four banks; 8 of these count outcomes */
};
enum { HKV_LOCK_NEVER, HKV_LOCK_TO_EVICT, HKV_LOCK_ALWAYS }; /* section 4; in this order */

/* ---- Rows ------------------------------------------------------------------------------------ */

/* For each lane with `wanted`: copies `bytes` bytes (16, 32, 64 or 128) from base + number * bytes into the lane's row.
 * `number` is below 2^32, because no table has 2^32 buckets or 2^32 groups of eight entries; so one 32-bit shuffle
 * passes it on. constant: no item of the launch writes the block, so a block that many items read comes from the
 * first-level cache. Otherwise the copies are relaxed, because other items may write the block. */
SIMT_FN void hkv_rows_fetch(simt_tile w, uint8_t *rows, const uint8_t *base, uint64_t number, bool wanted,
                            uint32_t bytes, bool constant)
{
    uint32_t lanes = bytes / 16, row = w.rank / lanes, at = 16 * (w.rank % lanes), who = simt_ballot(w, wanted) >> row;
    uint8_t *to = rows + row * HKV_COALESCED_ROW + at;
    simt_sync_tile(w); /* every lane has finished reading its row */
    SIMT_UNROLL
    for (uint32_t r = 0; r < 32; r += 32 / lanes) {
        uint64_t n = simt_shfl_u32(w, (uint32_t)number, row + r);
        if (who >> r & 1 && constant) simt_copy16_const_async(to + r * HKV_COALESCED_ROW, base + at + n * bytes);
        if (who >> r & 1 && !constant) simt_copy16_rlx_async(to + r * HKV_COALESCED_ROW, base + at + n * bytes);
    }
    simt_copy_commit();
    simt_copy_wait(0);
    simt_sync_tile(w);
}

/* Each lane with `wanted` copies its value alone. If `from` is NULL, it writes zeros. hkv_rows_copy() calls this if an
 * address or the size is no multiple of 16. */
SIMT_FN void hkv_rows_copy_alone(uint8_t *to, const uint8_t *from, bool wanted, uint32_t bytes)
{
    if (wanted && from) hkv_copy(simt_tile_of(1), to, from, bytes, true);
    if (wanted && !from) hkv_zero(simt_tile_of(1), to, bytes);
    simt_join();
}

/* How a warp shares out values of `pieces` pieces of 16 bytes. 2^bits lanes take one value together, and every lane
 * takes one piece in each of `rounds` rounds. 2^bits is the number of pieces, rounded up to a power of two, and at most
 * 32. */
typedef struct hkv_shares {
    uint32_t bits, pieces, rounds;
} hkv_shares;

typedef struct hkv_share {
    uint8_t *to; /* NULL: the lane has no piece in this round */
    const uint8_t *from;
} hkv_share;

SIMT_FN hkv_shares hkv_shares_of(uint32_t pieces)
{
    hkv_shares s;
    s.bits = 0;
    s.pieces = pieces;
    while (s.bits < 5 && 1u << s.bits < pieces) s.bits++;
    s.rounds = (pieces + (1u << s.bits) - 1) >> s.bits << s.bits;
    return s;
}

/* The lane's piece of a round. to, from: the value of each lane of `who`; from may be NULL. */
SIMT_FN hkv_share hkv_share_of(simt_tile w, hkv_shares s, uint32_t round, uint8_t *to, const uint8_t *from,
                               uint32_t who)
{
    uint32_t last = (1u << s.bits) - 1, p = (round >> s.bits << s.bits) + (w.rank & last),
             owner = ((round & last) << (5 - s.bits)) + (w.rank >> s.bits);
    hkv_share x;
    x.from = (const uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)from, owner);
    x.to = (uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)to, owner);
    if (x.from) x.from += 16 * p;
    x.to = p < s.pieces && who >> owner & 1 ? x.to + 16 * p : (uint8_t *)0;
    return x;
}

/* Copies one value for each lane of `who`; from NULL: writes zeros. Each lane has up to four loads in flight. */
SIMT_FN void hkv_rows_copy_pieces(simt_tile w, uint8_t *to, const uint8_t *from, uint32_t who, uint32_t pieces)
{
    hkv_shares s = hkv_shares_of(pieces);
    for (uint32_t first = 0; first < s.rounds; first += 4) {
        simt_v4 piece[4];
        uint8_t *target[4];
        SIMT_UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            target[k] = (uint8_t *)0;
            if (first + k >= s.rounds) continue;
            hkv_share x = hkv_share_of(w, s, first + k, to, from, who);
            target[k] = x.to;
            piece[k].x = piece[k].y = piece[k].z = piece[k].w = 0;
            if (x.to && x.from) piece[k] = simt_ldcs_v4((const simt_v4 *)(const void *)x.from);
        }
        SIMT_UNROLL
        for (uint32_t k = 0; k < 4; k++)
            if (target[k]) simt_stcs_v4((simt_v4 *)(void *)target[k], piece[k]);
    }
    simt_join();
}

/* Adds the item's value to its entry's, for each lane with `wanted`. The warp shares the work as in hkv_rows_copy(). */
SIMT_FN void hkv_rows_add(simt_tile w, const hkv_args *a, uint8_t *to, const uint8_t *from, bool wanted)
{
    uint32_t bytes = a->v.value_bytes, who = simt_ballot(w, wanted);
    if (!who) return;
    if (!simt_all(w, !wanted || ((uintptr_t)to | (uintptr_t)from | bytes) % 16 == 0)) {
        if (wanted) gpu_add(simt_tile_of(1), to, from, bytes, a->elem);
        simt_join();
        return;
    }
    hkv_shares s = hkv_shares_of(bytes / 16);
    SIMT_ROLLED
    for (uint32_t round = 0; round < s.rounds; round++) {
        hkv_share x = hkv_share_of(w, s, round, to, from, who);
        if (!x.to) continue;
        simt_v4 *sum = (simt_v4 *)(void *)x.to;
        simt_v4 old = simt_ld_v4(sum);
        simt_v4 more = simt_ldcs_v4((const simt_v4 *)(const void *)x.from);
        simt_st_v4(sum, gpu_piece_sum(a->elem, old, more));
    }
    simt_join();
}

/* Copies one value for each lane with `wanted`; from NULL: writes zeros. The warp shares the work if all addresses and
 * the size are multiples of 16. */
SIMT_FN void hkv_rows_copy(simt_tile w, uint8_t *to, const uint8_t *from, bool wanted, uint32_t bytes)
{
    uint32_t low = (uint32_t)((uintptr_t)to | (uintptr_t)from | bytes), who = simt_ballot(w, wanted);
    if (!who) return;
    if (!simt_all(w, !wanted || low % 16 == 0))
        hkv_rows_copy_alone(to, from, wanted, bytes);
    else
        hkv_rows_copy_pieces(w, to, from, who, bytes / 16);
}

/* hkv_move() for the lanes with `moves`, by the whole warp: first the old values go out, then the new values go in.
 * find_or_insert needs both addresses, and all registers: it computes them here. */
SIMT_FN void hkv_rows_move(simt_tile w, const hkv_args *a, uint32_t family, const hkv_one *o, bool moves)
{
    uint32_t bytes = a->v.value_bytes;
    uint8_t *to = o->out;
    const uint8_t *from = o->in;
    if (a->op == HD_OP_FIND_OR_INSERT) {
        bool found = hkv_was_found(o->outcome) && a->value_out;
        to = found ? a->value_out + o->i * bytes : (uint8_t *)0;
        from = a->value ? a->value + o->i * bytes : (const uint8_t *)0;
    }
    moves = moves && o->entry != HKV_NONE && bytes != 0;
    /* The family is constant, and in most kernels the operation, too. The code of other operations is then left out,
     * and the kernel fits into the instruction cache. A false condition of each lane would not do: it goes through a
     * vote. */
    bool may_deliver = hkv_delivers_value(a->op) || a->op == HD_OP_INSERT_AND_EVICT,
         may_zero = family == HKV_UPSERT && a->op == HD_OP_FIND_OR_INSERT_PTR, may_replace = hkv_stores_values(a->op),
         may_add = family == HKV_UPSERT && a->op == HD_OP_ACCUM_OR_ASSIGN;
    bool out = may_deliver && moves && to, adds = may_add && moves && o->change == HKV_ADD,
         replace = moves && ((may_replace && o->change == HKV_REPLACE && from) || (may_zero && o->change == HKV_ZERO));
    if (!may_deliver && !may_zero && !may_replace) return;
    uint8_t *value = moves ? hkv_value(&a->v, o->entry) : (uint8_t *)0;
    if (simt_any(w, out || replace || adds)) {
        simt_sync_tile(w); /* extends each owner's acquire to the warp */
        if (may_deliver) hkv_rows_copy(w, to, value, out, bytes);
        simt_sync_tile(w);
        if (may_zero || may_replace) hkv_rows_copy(w, value, may_zero ? (const uint8_t *)0 : from, replace, bytes);
        if (may_add) hkv_rows_add(w, a, value, from, adds);
        simt_sync_tile(w);
    }
    simt_join();
}

/* ---- Comparing a row of digests -------------------------------------------------------------- */

/* One bit per slot of a row, 32 slots per word. The compare takes four digests at a time, so the bits are permuted: bit
 * 8b + j of a word is slot 4j + b of its 32 slots.
 *
 *     bit    0  1  2 ..  7 |  8  9 .. 15 | 16 .. 23 | 24 .. 31
 *     slot   0  4  8 .. 28 |  1  5 .. 29 |  2 .. 30 |  3 .. 31
 */
typedef struct hkv_row_bits {
    simt_v4 match, empty;
} hkv_row_bits;

/* Sets the highest bit of each byte: 1 if the byte of x is 0. The other bits are not defined. */
SIMT_FN uint32_t hkv_zeros4(uint32_t x) { return ~(((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x); }

/* Shifts in the bits of the next four slots. x: zero bytes are matches. After eight calls the word is complete. */
SIMT_FN uint32_t hkv_bits_add(uint32_t bits, uint32_t x) { return (bits >> 1) | (hkv_zeros4(x) & 0x80808080u); }

/* Finds the digests of a row that are `wanted` and, if `room`, those that are 0 (empty slots). The loop is kept rolled:
 * if a kernel is longer than the instruction cache, its warps wait for instructions more than for memory. A row of 16
 * slots is compared twice, because a word is complete after 32 slots; `counts` clears the second result. */
SIMT_FN hkv_row_bits hkv_row_compare(const uint8_t *row, uint32_t slots, uint8_t wanted, bool room)
{
    uint32_t pattern = wanted * 0x01010101u, counts = slots < 32 ? 0x0f0f0f0fu : 0xffffffffu;
    hkv_row_bits r;
    r.match.x = r.match.y = r.match.z = r.match.w = 0;
    r.empty = r.match;
    SIMT_ROLLED
    for (uint32_t s = 0; s < slots; s += 32) {
        uint32_t match = 0, empty = 0;
        SIMT_UNROLL
        for (uint32_t k = 0; k < 32; k += 16) {
            simt_v4 d = simt_ld_v4((const simt_v4 *)(const void *)(row + s + (slots < 32 ? 0 : k)));
            match = hkv_bits_add(hkv_bits_add(hkv_bits_add(hkv_bits_add(match, d.x ^ pattern), d.y ^ pattern),
                                              d.z ^ pattern),
                                 d.w ^ pattern);
            if (room) empty = hkv_bits_add(hkv_bits_add(hkv_bits_add(hkv_bits_add(empty, d.x), d.y), d.z), d.w);
        }
        match &= counts;
        empty &= counts;
        if (s == 0) r.match.x = match, r.empty.x = empty;
        if (s == 32) r.match.y = match, r.empty.y = empty;
        if (s == 64) r.match.z = match, r.empty.z = empty;
        if (s == 96) r.match.w = match, r.empty.w = empty;
    }
    return r;
}

/* The first word that is not 0, and its first slot in *base. */
SIMT_FN uint32_t hkv_bits_word(simt_v4 bits, uint32_t *base)
{
    *base = bits.x ? 0 : bits.y ? 32 : bits.z ? 64 : 96;
    return bits.x ? bits.x : bits.y ? bits.y : bits.z ? bits.z : bits.w;
}

/* Clears the lowest bit and returns its slot; 128: no bit is set. */
SIMT_FN uint32_t hkv_take_slot(simt_v4 *bits)
{
    uint32_t base, word = hkv_bits_word(*bits, &base), bit = simt_ffs(word) - 1, rest = word & (word - 1);
    if (!word) return 128;
    if (base == 0) bits->x = rest;
    if (base == 32) bits->y = rest;
    if (base == 64) bits->z = rest;
    if (base == 96) bits->w = rest;
    return base + bit % 8 * 4 + bit / 8;
}

/* The lowest slot whose bit is set; a bit must be set. */
SIMT_FN uint32_t hkv_first_slot(simt_v4 bits)
{
    uint32_t base, word = hkv_bits_word(bits, &base), either = word | word >> 16,
                   four = simt_ffs((either | either >> 8) & 255) - 1;
    return base + 4 * four + (simt_ffs(word >> four & 0x01010101u) - 1) / 8;
}

/* hkv_look() on a row: each lane with `wanted` compares its digests and reads the keys that match. contended: other
 * items may change keys; then loads are relaxed, and in layout pairs the score comes with the key, in o->score.
 * (Comparing and claiming by one CAS, without the load, was slower in measurements.) */
SIMT_FN hkv_seen_bucket hkv_row_look(simt_tile w, const hkv_view *v, const uint8_t *row, uint64_t b, hkv_one *o,
                                     bool wanted, bool contended, bool room)
{
    const uint64_t *keys = hkv_key_at(v, hkv_entry(v, b, 0));
    hkv_row_bits bits;
    hkv_seen_bucket r;
    r.slot = r.empty = v->slots;
    r.empties = 0;
    r.busy = false;
    if (wanted) {
        bits = hkv_row_compare(row, v->slots, o->digest, room);
        for (uint32_t s = hkv_take_slot(&bits.match); s < 128; s = hkv_take_slot(&bits.match)) {
            uint64_t there;
            if (contended && v->step == 2)
                simt_ldrlx_2u64(keys + s * 2, &there, &o->score);
            else if (contended)
                there = simt_ldrlx_u64(keys + s);
            else
                there = simt_ld_u64(keys + s * v->step);
            if (there == o->key) {
                r.slot = s;
                break;
            }
            if (contended && there >= HD_KEY_RESERVED) r.busy = true; /* the entry is owned: its key may be ours */
        }
    }
    if (contended) simt_sync_tile(w); /* lanes with more keys to compare meet the others here, before the code below */
    if (wanted && room && r.slot == v->slots) {
        r.empties =
            simt_popc(bits.empty.x) + simt_popc(bits.empty.y) + simt_popc(bits.empty.z) + simt_popc(bits.empty.w);
        if (r.empties) r.empty = hkv_first_slot(bits.empty);
    }
    return r;
}

/* hkv_search() for the lanes with `wanted`: the first bucket, and in dual mode the second if the key is not in the
 * first. Sets o->entry, o->at_first and o->at_second. constant: no item of the launch writes digests. */
SIMT_FN void hkv_rows_search(simt_tile w, const hkv_args *a, uint8_t *rows, const uint8_t *row, hkv_one *o, bool wanted,
                             bool contended, bool room, bool constant)
{
    const hkv_view *v = &a->v;
    if (wanted) o->entry = HKV_NONE;
    SIMT_ROLLED
    for (uint32_t k = 0; k <= v->dual; k++) {
        if (k && !simt_any(w, wanted)) return;
        uint64_t b = k ? o->second : o->first;
        hkv_rows_fetch(w, rows, v->digest, b, wanted, v->slots, constant);
        hkv_seen_bucket at = hkv_row_look(w, v, row, b, o, wanted, contended, room);
        if (wanted) {
            if (k == 0) o->at_first = at;
            o->at_second = at;
            if (at.slot < v->slots) {
                o->entry = hkv_entry(v, b, at.slot);
                wanted = false;
            }
        }
        simt_join();
    }
}

/* ---- The victim of a full bucket, by lower bounds --------------------------------------------- */

typedef struct hkv_low {
    uint64_t least, second; /* the two least of the numbers so far; equal if the least came twice */
    uint32_t at;            /* the index of the first one that is the least */
} hkv_low;

/* Adds number x with index `at`. Indices begin at 0. */
SIMT_FN void hkv_low_add(hkv_low *l, uint64_t x, uint32_t at)
{
    bool lower = x < l->least || at == 0;
    uint64_t other = lower ? l->least : x;
    if (other < l->second) l->second = other;
    if (lower) l->at = at;
    if (lower) l->least = x;
}

/* The least of n numbers in a row; pairs: of the scores of n pairs. */
SIMT_FN hkv_low hkv_row_low(const uint8_t *row, uint32_t n, bool pairs)
{
    hkv_low l;
    l.least = l.second = UINT64_MAX;
    l.at = 0;
    SIMT_UNROLL_BY(2)
    for (uint32_t k = 0; k < (pairs ? n : n / 2); k++) {
        simt_v4 x = simt_ld_v4((const simt_v4 *)(const void *)(row + 16 * k));
        if (!pairs) hkv_low_add(&l, (uint64_t)x.y << 32 | x.x, 2 * k);
        hkv_low_add(&l, (uint64_t)x.w << 32 | x.z, pairs ? k : 2 * k + 1);
    }
    return l;
}

typedef struct hkv_victim {
    uint64_t entry, key, least; /* its slot, its key and its score when the row was loaded */
    uint64_t second;            /* the least score of the other seven entries of its group */
} hkv_victim;

/* Which entries of group `number` are pinned, a bit each, for the lanes with `wanted`. */
SIMT_FN uint32_t hkv_rows_pinned(simt_tile w, const hkv_args *a, uint8_t *rows, const uint8_t *row, uint64_t number,
                                 bool wanted)
{
    uint32_t pinned = 0;
    hkv_rows_fetch(w, rows, (const uint8_t *)hkv_holders(a), number, wanted, 8 * HKV_BOUNDED, false);
    SIMT_ROLLED
    for (uint32_t k = 0; wanted && k < HKV_BOUNDED; k++)
        if (simt_ld_u64((const uint64_t *)(const void *)(row + 8 * k))) pinned |= 1u << k;
    simt_join();
    return pinned;
}

/* In a row of pairs: the entries of the mask get the highest score, so no search chooses them if there is a lower
 * one. */
SIMT_FN void hkv_row_hide(uint8_t *row, uint32_t pinned)
{
    SIMT_ROLLED
    for (uint32_t k = 0; k < HKV_BOUNDED; k++)
        if (pinned >> k & 1) simt_st_u64((uint64_t *)(void *)(row + 16 * k + 8), UINT64_MAX);
}

/* Finds the least score of bucket b for the lanes with `wanted`, and stores it in *x if *x is empty or higher. Loads
 * the bounds, then the group with the least bound. If the least score of the group is above the second least bound,
 * raises the group's bound to this score and repeats. Needs: scores of the bucket do not fall meanwhile. Two items may
 * raise one bound at the same time, and the lower value may remain. Both values are correct bounds.
 *
 * pins: entries are pinned. They do not count, for the victim or for the bounds; *x may stay empty if all others have
 * the highest score. */
SIMT_FN void hkv_rows_victim(simt_tile w, const hkv_args *a, uint8_t *rows, uint8_t *row, uint64_t b, bool wanted,
                             bool pins, hkv_victim *x)
{
    const hkv_view *v = &a->v;
    uint64_t *bounds = v->bound + hkv_entry(v, b, 0) / HKV_BOUNDED;
    while (simt_any(w, wanted)) {
        hkv_rows_fetch(w, rows, (const uint8_t *)v->bound, b, wanted, v->slots, false);
        hkv_low bound;
        bound.least = bound.second = bound.at = 0;
        if (wanted) bound = hkv_row_low(row, v->slots / HKV_BOUNDED, false);
        if (x->entry != HKV_NONE && bound.least >= x->least) wanted = false;
        simt_join();
        uint64_t e = hkv_entry(v, b, HKV_BOUNDED * bound.at);
        uint32_t pinned = pins ? hkv_rows_pinned(w, a, rows, row, e / HKV_BOUNDED, wanted) : 0;
        hkv_rows_fetch(w, rows, (const uint8_t *)v->key, e / HKV_BOUNDED, wanted, 16 * HKV_BOUNDED, false);
        if (wanted) {
            if (pinned) hkv_row_hide(row, pinned);
            hkv_low score = hkv_row_low(row, HKV_BOUNDED, true);
            if (score.least > bound.second) {
                simt_strlx_u64(bounds + bound.at, score.least);
            } else {
                wanted = false;
                if ((x->entry == HKV_NONE || score.least < x->least) && !(pinned >> score.at & 1)) {
                    x->entry = e + score.at;
                    x->key = simt_ld_u64((const uint64_t *)(const void *)(row + 16 * score.at));
                    x->least = score.least;
                    x->second = score.second;
                }
            }
        }
        simt_join();
    }
}

/* The victim when hkv_rows_victim() found none: the first unpinned entry of bucket b. By the bounds its score is
 * 2^64 - 1, as that of every unpinned entry of the bucket. `second` is 0, so the bound of the group falls to 0. In dual
 * mode this comes before the search of the second bucket: on a tie the first one gives up an entry (D2). */
SIMT_FN void hkv_highest_victim(const hkv_args *a, uint64_t b, hkv_victim *x)
{
    const uint64_t *holder = hkv_holders(a);
    for (uint64_t e = hkv_entry(&a->v, b, 0); x->entry == HKV_NONE && e < hkv_entry(&a->v, b + 1, 0); e++) {
        if (simt_ld_u64(holder + e)) continue;
        x->entry = e;
        simt_ldrlx_2u64(hkv_key_at(&a->v, e), &x->key, &x->least);
    }
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* True for launches of distinct keys, other than LEADERS. */
SIMT_FN bool hkv_keys_differ(const hkv_args *a) { return a->distinct || a->pass == HKV_SINGLES; }

/* The level of a launch of upserts (section 4). Where keys repeat, the scores of present entries must only rise below
 * ALWAYS, in any order of the items. If the policy ignores the old score, an item may run after an item with a later
 * time, and then stores a lower score. */
SIMT_FN uint32_t hkv_coalesced_locking(const hkv_args *a)
{
    bool rises = a->policy_flags & HD_MONOTONE, admits = !a->v.admit_always && (a->policy_flags & HD_SCORE_ADMITS);
    if (a->pass == HKV_LEADERS || a->pass == HKV_REST) return HKV_LOCK_ALWAYS;
    if (hkv_holder(a)) return HKV_LOCK_ALWAYS;
    if (hkv_keys_differ(a)) return rises && admits ? HKV_LOCK_NEVER : HKV_LOCK_TO_EVICT;
    if (a->op == HD_OP_ACCUM_OR_ASSIGN || !rises || (a->policy_flags & HD_ORDER_FREE)) return HKV_LOCK_ALWAYS;
    return a->v.dual ? HKV_LOCK_ALWAYS : HKV_LOCK_TO_EVICT;
}

/* The item is about to claim entry e, or has it under its locks. find_or_insert_ptr stores the pointer now, so that the
 * store that publishes the entry need not wait for it. If the claim fails, the item stores another pointer later. */
SIMT_FN void hkv_coalesced_point_at(const hkv_args *a, const hkv_one *o, uint64_t e)
{
    if (hkv_points_early(a)) hkv_point_at(a, o->i, e);
}

/* Claims entry e, which has `key`. The acquire pairs with the release of the last owner (section 5). */
SIMT_FN bool hkv_claim(const hkv_args *a, uint64_t e, uint64_t key)
{
    return simt_cas_u64(hkv_key_at(&a->v, e), key, HD_KEY_LOCKED, SIMT_ACQUIRE) == key;
}

/* True: a hit changes only the score, and the new score does not depend on the old one. Such an item claims nothing. */
SIMT_FN bool hkv_rates_only(const hkv_args *a)
{
    bool only = a->op == HD_OP_ASSIGN_SCORES || (a->op == HD_OP_TOUCH && !a->value_out);
    return only && (a->policy_flags & HD_ORDER_FREE);
}

/* Erases the entry that the item owns. It takes effect at the store of the digest: from then on no search finds the
 * key. Order: bound, digest, then the release store of EMPTY. */
SIMT_FN void hkv_coalesced_erase_claimed(const hkv_args *a, hkv_one *o)
{
    o->outcome = HD_ERASED;
    hkv_lower_bound(&a->v, o->entry, 0);
    simt_strlx_u8(a->v.digest + o->entry, HKV_NO_DIGEST);
    simt_ticket_store(o->i, HD_ERASED, 0, o->entry);
    if (a->v.step == 2) {
        simt_strel_2u64(hkv_key_at(&a->v, o->entry), HD_KEY_EMPTY, 0);
    } else {
        simt_strlx_u64(hkv_score_at(&a->v, o->entry), 0);
        simt_strel_u64(hkv_key_at(&a->v, o->entry), HD_KEY_EMPTY);
    }
    o->holds = HKV_HOLDS_NOTHING;
}

/* True: the score that the search loaded beside the key can be used; it need not be loaded again after the claim. Needs
 * a policy that ignores the old score. The item then uses the loaded score only for this: if its own score is lower, it
 * lowers the bound. With distinct keys no other item of the batch changes the score, and in LEADERS and REST of an
 * upsert the item holds the bucket. Beside another batch of updates, another item may change the score
 * after it was loaded. This does no harm: no item raises bounds in these launches, so the bound stays at or below the
 * loaded score. So either the item lowers the bound, or its own score is at least the loaded one and thus at least the
 * bound. */
SIMT_FN bool hkv_has_score(const hkv_args *a)
{
    return a->v.step == 2 && (a->distinct || a->pass) && (a->policy_flags & HD_ORDER_FREE);
}

/* True: an item that claims a present entry replaces value and score, and reads neither. It claims with
 * HKV_KEY_REPLACED, so that another item of the key knows (hkv_coalesced_overwritten). */
SIMT_FN bool hkv_replaces(const hkv_args *a) { return a->op == HD_OP_ASSIGN && (a->policy_flags & HD_ORDER_FREE); }

/* True: another item of this batch has written the entry already, and this item may take effect just before it. If
 * scores are times (args.times_tell), o->score - a->clock is the number of the item that wrote the entry last. */
SIMT_FN bool hkv_coalesced_outdone(const hkv_args *a, const hkv_one *o)
{
    uint64_t by = o->score - a->clock;
    return a->times_tell && !a->distinct && by >= a->first && by < a->last;
}

/* The item takes effect just before the writer that hkv_coalesced_outdone() found. The writer overwrote everything that
 * this item would have written, so this item writes nothing to the table. A repeated key therefore costs a read and not
 * an atomic. */
SIMT_FN void hkv_coalesced_precede(const hkv_args *a, hkv_one *o, hkv_rule r)
{
    simt_ticket_before(o->i, r.found, 0, o->entry, o->score - a->clock);
    o->outcome = r.found;
    o->score = a->clock + o->i;
    hkv_value_goes_out(a, o);
}

/* The CAS found HKV_KEY_REPLACED in an entry that had the item's key. In this launch no key is inserted or removed.
 * So the owner is an item of the same key, of this batch or of one beside it. The owner replaces value and score. This
 * item takes effect just before the owner, and writes nothing, even if the owner's score is already in the table: an
 * item that comes between the two reads neither score nor value. Items of a repeated key therefore do not queue. */
SIMT_FN void hkv_coalesced_overwritten(hkv_one *o, hkv_rule r)
{
    o->outcome = r.found;
    simt_ticket_before_owner(o->i, r.found, 0, o->entry);
}

/* Hits that need no claim (family HKV_UPDATE): the item precedes another writer, or changes only the score. True: the
 * item is decided. */
SIMT_FN bool hkv_coalesced_unclaimed(const hkv_args *a, hkv_one *o, hkv_rule r)
{
    bool rates = hkv_rates_only(a), replaces = hkv_replaces(a);
    if (!rates && !replaces) return false;
    if (a->v.step == 1) o->score = simt_ldrlx_u64(hkv_score_at(&a->v, o->entry));
    if (hkv_coalesced_outdone(a, o)) {
        hkv_coalesced_precede(a, o, r);
        return true;
    }
    if (!rates) return false;
    o->outcome = r.found;
    hkv_rescore(a, o, hkv_score_of_hit(a, o));
    hkv_value_goes_out(a, o);
    simt_strlx_u64(hkv_score_at(&a->v, o->entry), o->score);
    simt_ticket_store(o->i, o->outcome, 0, o->entry);
    return true;
}

/* Claims the present entry: one CAS of its key, acquire. False: another item owns the entry or has changed its key. If
 * the owner overwrites everything that item o would write, o is decided; otherwise o stays UNDECIDED. */
SIMT_FN bool hkv_coalesced_claim_found(const hkv_args *a, hkv_one *o, hkv_rule r)
{
    uint64_t lock = hkv_replaces(a) ? HKV_KEY_REPLACED : HD_KEY_LOCKED,
             there = simt_cas_u64(hkv_key_at(&a->v, o->entry), o->key, lock, SIMT_ACQUIRE);
    if (there == HKV_KEY_REPLACED && (hkv_replaces(a) || a->op == HD_OP_ASSIGN_VALUES)) hkv_coalesced_overwritten(o, r);
    if (there != o->key) return false;
    if (lock == HKV_KEY_REPLACED) simt_owns(o->i, o->entry);
    o->holds = HKV_HOLDS_ENTRY;
    return true;
}

/* Whether the hit of a present key may lower the score. Then o->score is the old score, which the search
 * loaded: no other item has the key, so none changes it. */
SIMT_FN bool hkv_coalesced_may_lower(const hkv_args *a, hkv_rule r)
{
    return hkv_keys_differ(a) && !(a->policy_flags & HD_MONOTONE) && r.rescore;
}

/* The item of a present key holds its buckets if a hit lowers the score. False: the item must try again. */
SIMT_FN bool hkv_coalesced_hold_to_lower(const hkv_args *a, hkv_one *o, bool lowers)
{
    if (!lowers) {
        hkv_let_go(simt_tile_of(1), a, o);
        return true;
    }
    if (o->holds == HKV_HOLDS_BUCKETS) return true;
    if (!hkv_try_buckets(simt_tile_of(1), a, o)) return false;
    return simt_ldrlx_u64(hkv_key_at(&a->v, o->entry)) == o->key; /* it may have been evicted before */
}

/* What the item of a present key knows, which is not pinned. TO_EVICT: if a hit may lower the score, the new one, too.
 * If it does, the item holds its buckets then. HKV_KNOWS_TOO_LITTLE: it must try again. */
SIMT_FN uint32_t hkv_coalesced_foresee(const hkv_args *a, uint32_t locking, hkv_one *o, hkv_rule r)
{
    uint32_t knows = hkv_has_score(a) ? HKV_KNOWS_SCORE : HKV_KNOWS_NOTHING;
    if (locking != HKV_LOCK_TO_EVICT) return knows;
    if (hkv_coalesced_may_lower(a, r)) {
        knows = HKV_KNOWS_BOTH;
        o->gone_score = hkv_score_of_hit(a, o);
    }
    bool lowers = knows == HKV_KNOWS_BOTH && o->gone_score < o->score;
    return hkv_coalesced_hold_to_lower(a, o, lowers) ? knows : HKV_KNOWS_TOO_LITTLE;
}

/* The search found the key at o->entry. Claims it where that is needed, and decides. After a failed claim the item
 * stays UNDECIDED, unless the owner overwrites everything that it would write (hkv_coalesced_claim_found). */
SIMT_FN void hkv_coalesced_found(const hkv_args *a, uint32_t family, uint32_t locking, hkv_one *o)
{
    hkv_rule r = hkv_rule_of(a, o->i);
    bool pinned = hkv_is_pinned(a, o->entry); /* no item changes a pinned entry, so it needs no claim */
    hkv_coalesced_point_at(a, o, o->entry);
    if (family == HKV_UPDATE && !pinned && hkv_coalesced_unclaimed(a, o, r)) return;
    uint32_t knows = pinned ? HKV_KNOWS_NOTHING : hkv_coalesced_foresee(a, locking, o, r);
    if (knows == HKV_KNOWS_TOO_LITTLE) return;
    if (o->holds != HKV_HOLDS_BUCKETS && !pinned && !hkv_coalesced_claim_found(a, o, r)) return;
    if (family == HKV_ERASE && !pinned) {
        hkv_coalesced_erase_claimed(a, o);
        return;
    }
    bool rated = hkv_rate_found(simt_tile_of(1), a, o, r, pinned, knows);
    if (o->holds == HKV_HOLDS_ENTRY) {
        o->rated = rated;
        return;
    }
    if (rated) simt_strlx_u64(hkv_score_at(&a->v, o->entry), o->score);
    simt_ticket(o->i, o->outcome, 0, o->entry);
}

/* The key is absent and a bucket has room: claims the first free slot, or takes it under the bucket lock. */
SIMT_FN void hkv_coalesced_insert(const hkv_args *a, uint32_t locking, hkv_one *o)
{
    hkv_place p = hkv_free_place(a, o);
    hkv_coalesced_point_at(a, o, p.entry);
    if (locking == HKV_LOCK_ALWAYS) {
        simt_strlx_u64(hkv_key_at(&a->v, p.entry), HD_KEY_LOCKED);
    } else {
        hkv_let_go(simt_tile_of(1), a, o);
        if (!hkv_claim(a, p.entry, HD_KEY_EMPTY)) return;
        o->holds = HKV_HOLDS_ENTRY;
    }
    if (!hkv_admit(a, o, p)) return; /* a free slot always admits: GCOVR_EXCL_BR_LINE */
    simt_ticket(o->i, o->outcome, 0, o->entry);
    o->rated = o->holds == HKV_HOLDS_ENTRY; /* the score stays 0 until the publication (section 8, D) */
    if (o->rated)
        simt_strlx_u8(a->v.digest + p.entry, o->digest);
    else
        hkv_occupy(a, o, p, 0);
}

/* The key is absent and its buckets are full. x is the entry with the least score among those that are not pinned; if
 * all are pinned, x.entry is HKV_NONE and hkv_admit() refuses. Refuses, or evicts x. A victim that changed since the
 * search leaves the item UNDECIDED. */
SIMT_FN void hkv_coalesced_evict(const hkv_args *a, uint32_t locking, hkv_one *o, hkv_victim x)
{
    hkv_place p;
    p.entry = x.entry;
    p.least = x.least;
    p.empty = false;
    bool admitted = hkv_admit(a, o, p);
    if (admitted) hkv_coalesced_point_at(a, o, x.entry);
    if (admitted && locking != HKV_LOCK_ALWAYS) {
        bool claimed = x.key < HD_KEY_RESERVED && hkv_claim(a, x.entry, x.key);
        if (claimed && simt_ldrlx_u64(hkv_score_at(&a->v, x.entry)) != x.least) { /* it rose: undo the claim */
            simt_strel_u64(hkv_key_at(&a->v, x.entry), x.key);
            claimed = false;
        }
        if (!claimed) {
            hkv_undecide(o);
            return;
        }
    }
    simt_ticket(o->i, o->outcome, admitted ? x.key : 0, admitted ? o->entry : HKV_NONE);
    if (!admitted) return;
    if (locking == HKV_LOCK_ALWAYS) simt_strlx_u64(hkv_key_at(&a->v, x.entry), HD_KEY_LOCKED);
    hkv_occupy(a, o, p, x.key);
    simt_strlx_u64(a->v.bound + x.entry / HKV_BOUNDED, x.second < o->score ? x.second : o->score);
    if (locking == HKV_LOCK_ALWAYS) return;
    hkv_let_go(simt_tile_of(1), a, o); /* the choice is made: the next item need not wait for the value */
    o->holds = HKV_HOLDS_ENTRY;
}

/* The key is absent. True: the buckets are full, and the item may evict. */
SIMT_FN bool hkv_coalesced_decide_absent(const hkv_args *a, uint32_t family, uint32_t locking, hkv_one *o)
{
    if (locking != HKV_LOCK_ALWAYS && hkv_saw_busy(o)) return false;
    if (family != HKV_UPSERT || !hkv_rule_of(a, o->i).insert) {
        o->outcome = HD_MISS;
        simt_ticket(o->i, HD_MISS, 0, HKV_NONE);
        return false;
    }
    bool room = o->at_first.empties || o->at_second.empties, held = o->holds != HKV_HOLDS_NOTHING;
    if (!held && locking == HKV_LOCK_TO_EVICT && !room) {
        /* Where keys repeat, another item may have inserted the key: it searches again, in the next round. */
        held = hkv_try_buckets(simt_tile_of(1), a, o);
        if (!held || !hkv_keys_differ(a)) return false;
    }
    if (room) hkv_coalesced_insert(a, locking, o);
    return !room;
}

/* Decides by what the search saw (section 6). True: the key is absent, the buckets are full, and the item may evict. An
 * outcome that is still UNDECIDED asks for another round, unless the function returns true. */
SIMT_FN bool hkv_coalesced_decide(const hkv_args *a, uint32_t family, uint32_t locking, hkv_one *o)
{
    if (o->entry == HKV_NONE) return hkv_coalesced_decide_absent(a, family, locking, o);
    hkv_coalesced_found(a, family, locking, o);
    return false;
}

/* The lanes with `evicts` look for a victim in their buckets, which are full, and refuse or evict. */
SIMT_FN void hkv_coalesced_make_room(simt_tile w, const hkv_args *a, uint32_t locking, uint8_t *rows, uint8_t *row,
                                     hkv_one *o, bool evicts)
{
    hkv_victim x;
    bool pins = hkv_has_pins(a);
    x.entry = HKV_NONE;
    x.key = x.least = x.second = 0;
    SIMT_ROLLED
    for (uint32_t k = 0; k <= a->v.dual; k++) {
        hkv_rows_victim(w, a, rows, row, k ? o->second : o->first, evicts, pins, &x);
        if (pins && evicts) hkv_highest_victim(a, k ? o->second : o->first, &x);
    }
    if (evicts) hkv_coalesced_evict(a, locking, o, x);
    simt_join();
}

/* ---- A run of items -------------------------------------------------------------------------- */

/* The items of a warp: groups of 32 neighbours, where group g of warp k is group g * hkv_warps() + k of the launch. The
 * keys of the next 32 items are loaded ahead. */
typedef struct hkv_run {
    uint64_t key;   /* of item `taken + lane` of this warp                         */
    uint32_t taken; /* how many items the warp has begun                           */
    uint32_t items; /* of the launch, if keys repeat                               */
} hkv_run;

/* The list of items that LEADERS or REST runs. */
SIMT_FN uint32_t hkv_run_list(const hkv_args *a) { return a->pass == HKV_LEADERS ? HKV_GROUPS : HKV_RESTS; }

/* The number in the launch of item `number` of the warp. */
SIMT_FN uint64_t hkv_run_number(uint32_t number)
{
    return ((uint64_t)(number >> 5) * hkv_warps() + hkv_warp_number()) * 32 + (number & 31);
}

/* Item `number` of the warp; a->last or more: there is none. *group: the group that it leads. */
SIMT_FN uint64_t hkv_run_item(const hkv_args *a, const hkv_run *r, uint32_t number, uint32_t *group)
{
    uint64_t k = hkv_run_number(number);
    if (a->pass == HKV_WHOLE) return a->first + k;
    if (k >= r->items) return a->last;
    if (a->pass == HKV_SINGLES) return simt_ld_u32(a->role + k) == HKV_SINGLE ? a->first + k : a->last;
    uint32_t n = simt_ld_u32(hkv_left(a, hkv_run_list(a)) + k);
    *group = n;
    if (a->pass == HKV_LEADERS) n = hkv_ranked_item(hkv_group_leader(a, a->group + n));
    return a->first + n;
}

SIMT_FN hkv_run hkv_run_begin(simt_tile w, const hkv_args *a)
{
    hkv_run r;
    uint32_t group;
    r.taken = 0;
    r.items = (uint32_t)(a->last - a->first);
    if (a->pass == HKV_LEADERS) r.items = simt_ld_u32(a->left_count + HKV_GROUPS);
    if (a->pass == HKV_REST) r.items = simt_ld_u32(a->left_count + HKV_RESTS_WERE);
    r.key = hkv_item_key(a, hkv_run_item(a, &r, w.rank, &group));
    return r;
}

/* True: the warp has begun all of its items. */
SIMT_FN bool hkv_run_ended(const hkv_args *a, const hkv_run *r)
{
    return a->pass == HKV_WHOLE || hkv_run_number(r->taken) >= r->items;
}

/* Gives the next items of the warp to the lanes without an item, and loads the keys of the next 32. */
SIMT_FN void hkv_run_refill(simt_tile w, const hkv_args *a, hkv_run *run, hkv_one *o)
{
    bool idle = o->outcome == HKV_NO_ITEM;
    uint32_t who = simt_ballot(w, idle), place = hkv_place_among(w, who), group = 0, none;
    if (!who) return;
    uint64_t key = simt_shfl_u64(w, run->key, place);
    if (idle) {
        uint64_t i = hkv_run_item(a, run, run->taken + place, &group);
        *o = hkv_begin_with(a, i, key);
        o->group = group;
    }
    run->taken += simt_popc(who);
    run->key = hkv_item_key(a, hkv_run_item(a, run, run->taken + w.rank, &none));
    simt_join();
}

/* Again, while many lanes have no item: SINGLES skips members of groups. */
SIMT_FN void hkv_run_refill_more(simt_tile w, const hkv_args *a, hkv_run *run, hkv_one *o)
{
    enum { FEW = 6 };
    while (!hkv_run_ended(a, run)) {
        uint32_t idle = simt_ballot(w, o->outcome == HKV_NO_ITEM);
        if (simt_popc(idle) <= FEW) return;
        hkv_run_refill(w, a, run, o);
    }
}

/* The counts of a lane's outcomes, behind its row: a field of HKV_TALLY_BITS bits for each outcome. A field holds
 * at most 127. The main loops flush the counts every 64 rounds. */
SIMT_FN uint64_t *hkv_row_tally(uint8_t *rows)
{
    return (uint64_t *)(void *)(rows + simt_lane() * HKV_COALESCED_ROW + 128);
}

/* Counts an outcome. HKV_NO_ITEM is not counted. */
SIMT_FN void hkv_tally_add(uint64_t *mine, uint32_t outcome)
{
    if (outcome < HKV_OUTCOMES) simt_st_u64(mine, simt_ld_u64(mine) + (1ull << HKV_TALLY_BITS * outcome));
}

/* Adds the counts of all lanes to the tally of the batch, and clears them. */
SIMT_FN void hkv_tally_flush(simt_tile w, const hkv_args *a, uint64_t *mine)
{
    uint64_t all = simt_ld_u64(mine);
    uint32_t my_sum = 0;
    for (uint32_t outcome = 0; outcome < HKV_OUTCOMES; outcome++) {
        uint32_t sum = simt_reduce_add_u32(w, (uint32_t)(all >> HKV_TALLY_BITS * outcome) & 127);
        if (w.rank == outcome) my_sum = sum;
    }
    if (my_sum) simt_add_u64(a->tally + w.rank, my_sum, SIMT_RELAXED);
    simt_st_u64(mine, 0);
    simt_join();
}

/* Publishes the entry that the item owns: stores the key, and the score if `rated`, with release. An item of a present
 * key takes effect here: at the store of its score, because an item that claims nothing (hkv_rates_only) may replace
 * this score before the key is published. */
SIMT_FN void hkv_coalesced_publish(const hkv_args *a, hkv_one *o)
{
    uint64_t *key = hkv_key_at(&a->v, o->entry);
    bool apart = o->rated && a->v.step == 1; /* in layout planes no item of this file inserts */
    if (apart) simt_strlx_u64(hkv_score_at(&a->v, o->entry), o->score);
    if (apart) simt_ticket_store(o->i, o->outcome, 0, o->entry);
    if (o->rated && a->v.step == 2)
        simt_strel_2u64(key, o->key, o->score);
    else
        simt_strel_u64(key, o->key);
    if (!o->fresh && !apart) simt_ticket_store(o->i, o->outcome, 0, o->entry);
    o->holds = HKV_HOLDS_NOTHING;
}

/* Ends an item that has its outcome: publishes, lets go, and delivers. The lane is then free. */
SIMT_FN void hkv_coalesced_end(const hkv_args *a, hkv_one *o)
{
    if (o->outcome == HD_RESERVED) simt_ticket(o->i, HD_RESERVED, 0, HKV_NONE);
    if (o->entry == HKV_NONE) hkv_deliver_early(a, o);
    if (o->fresh && o->holds != HKV_HOLDS_ENTRY) simt_strel_u64(hkv_key_at(&a->v, o->entry), o->key);
    if (o->holds == HKV_HOLDS_ENTRY)
        hkv_coalesced_publish(a, o);
    else
        hkv_let_go(simt_tile_of(1), a, o);
    if (a->pass == HKV_LEADERS) hkv_group_end(a, o);
    if (a->pass == HKV_REST) simt_st_u32(a->role + (o->i - a->first), HKV_SINGLE);
    hkv_deliver(a, o);
    o->outcome = HKV_NO_ITEM;
}

/* Ends a round: moves the values of the items that are decided, ends those items, and backs off where an item has to
 * try again. */
SIMT_FN void hkv_coalesced_finish(simt_tile w, const hkv_args *a, uint32_t family, uint64_t *tally, hkv_one *o,
                                  bool todo)
{
    bool done = todo && o->outcome != HKV_UNDECIDED;
    hkv_rows_move(w, a, family, o, done);
    if (hkv_holder(a)) hkv_pins_count(a, done && o->pins);
    if (done) {
        hkv_tally_add(tally, o->outcome);
        hkv_coalesced_end(a, o);
    }
    if (todo && !done) simt_backoff(32);
    simt_join();
}

/* Erases of one key would all read its digests, which this launch writes, so that no cache near the lane has them. The
 * first lane that tries erases for the lanes with the same key, which do not search. Returns whether the lane waits. */
SIMT_FN bool hkv_erase_waits(simt_tile w, const hkv_one *o, bool tries)
{
    uint32_t speaker = simt_ffs(simt_ballot(w, tries));
    if (!speaker) return false;
    return simt_shfl_u64(w, o->key, speaker - 1) == o->key && tries && w.rank != speaker - 1;
}

/* The first lane that tried has decided its item: those that waited for it come next. An erased key is absent. */
SIMT_FN void hkv_erase_after(simt_tile w, hkv_one *o, bool tried, bool waited)
{
    uint32_t speaker = simt_ffs(simt_ballot(w, tried));
    if (!speaker) return;
    uint32_t outcome = simt_shfl_u32(w, o->outcome, speaker - 1);
    uint64_t entry = simt_shfl_u64(w, o->entry, speaker - 1), item = 0;
    if (simt_tells()) item = simt_shfl_u64(w, o->i, speaker - 1);
    if (!waited || outcome == HKV_UNDECIDED) return;
    o->outcome = outcome == HD_ERASED ? HD_MISS : outcome;
    simt_ticket_beside(o->i, o->outcome, 0, outcome == HD_PINNED ? entry : HKV_NONE, item, (int64_t)w.rank + 1);
}

/* The main loop of updates, upserts and erases. In each round every lane searches, decides and moves its item's value;
 * items that are done end, the others try again (section 6). */
SIMT_FN void hkv_coalesced(const hkv_args *a, uint32_t family)
{
    SIMT_SHARED(uint8_t, all_rows, HKV_COALESCED_THREADS * HKV_COALESCED_ROW);
    simt_tile w = simt_tile_of(32);
    uint8_t *rows = all_rows + (simt_thread() & ~31u) * HKV_COALESCED_ROW;
    uint8_t *row = rows + w.rank * HKV_COALESCED_ROW;
    uint32_t locking = family == HKV_UPSERT ? hkv_coalesced_locking(a) : HKV_LOCK_NEVER, rounds = 0;
    if (a->pass == HKV_LEADERS) hkv_members_counted(a);
    simt_join();
    uint64_t *tally = hkv_row_tally(rows);
    hkv_run run = hkv_run_begin(w, a);
    hkv_one o = hkv_begin_with(a, a->last, 0);
    simt_st_u64(tally, 0);
    for (;;) {
        hkv_run_refill(w, a, &run, &o);
        if (a->pass == HKV_SINGLES) hkv_run_refill_more(w, a, &run, &o);
        bool todo = o.outcome != HKV_NO_ITEM, tries = o.outcome == HKV_UNDECIDED, waits = false;
        if (!simt_any(w, todo)) break;
        if (family == HKV_ERASE) waits = hkv_erase_waits(w, &o, tries);
        tries = tries && !waits;
        if (locking == HKV_LOCK_ALWAYS && tries && o.holds == HKV_HOLDS_NOTHING)
            tries = hkv_try_buckets(simt_tile_of(1), a, &o);
        simt_join();
        hkv_rows_search(w, a, rows, row, &o, tries, true, family == HKV_UPSERT, family == HKV_UPDATE);
        bool evicts = false;
        if (tries) evicts = hkv_coalesced_decide(a, family, locking, &o);
        simt_join();
        if (family == HKV_ERASE) hkv_erase_after(w, &o, tries, waits);
        if (family == HKV_UPSERT && simt_any(w, evicts)) hkv_coalesced_make_room(w, a, locking, rows, row, &o, evicts);
        hkv_coalesced_finish(w, a, family, tally, &o, todo);
        if (++rounds % 64 == 0) hkv_tally_flush(w, a, tally);
    }
    hkv_tally_flush(w, a, tally);
}

/* Lookups and pins need one round per item: no item changes keys meanwhile. */
SIMT_FN void hkv_coalesced_once(const hkv_args *a, uint32_t family)
{
    SIMT_SHARED(uint8_t, all_rows, HKV_COALESCED_THREADS * HKV_COALESCED_ROW);
    simt_tile w = simt_tile_of(32);
    uint8_t *rows = all_rows + (simt_thread() & ~31u) * HKV_COALESCED_ROW;
    uint64_t *tally = hkv_row_tally(rows);
    uint32_t rounds = 0, pins = 0;
    hkv_run run = hkv_run_begin(w, a);
    uint32_t none;
    simt_st_u64(tally, 0);
    while (hkv_run_item(a, &run, 32 * rounds, &none) < a->last) {
        hkv_one o = hkv_begin_with(a, a->last, 0);
        hkv_run_refill(w, a, &run, &o);
        bool looks = o.outcome == HKV_UNDECIDED;
        hkv_rows_search(w, a, rows, rows + w.rank * HKV_COALESCED_ROW, &o, looks, false, false, true);
        if (looks && family == HKV_LOOKUP) hkv_decide_lookup(simt_tile_of(1), a, &o);
        if (looks && family == HKV_PIN) hkv_decide_pin(simt_tile_of(1), a, &o);
        if (family == HKV_LOOKUP) hkv_rows_move(w, a, family, &o, looks);
        hkv_end(simt_tile_of(1), a, &o);
        if (family == HKV_PIN) pins += simt_popc(simt_ballot(w, o.pins));
        hkv_tally_add(tally, o.outcome);
        simt_join();
        if (++rounds % 64 == 0) hkv_tally_flush(w, a, tally);
    }
    if (pins && w.rank == 0) hkv_pins_add(a, pins);
    hkv_tally_flush(w, a, tally);
}

/* ---- What members of a group deliver --------------------------------------------------------- */

/* What became of the member of rule r, when its leader had `outcome`. Where flags tell, the leader says whether the key
 * was present. */
SIMT_FN uint32_t hkv_member_outcome(const hkv_args *a, uint64_t entry, uint32_t outcome, hkv_rule r)
{
    if (hkv_was_placed(outcome)) return r.found;
    if (!hkv_flags_tell(a) || outcome == HD_MISS) return outcome;
    if (outcome == HD_REFUSED) return r.insert ? HD_REFUSED : HD_MISS;
    return r.rescore && hkv_is_pinned(a, entry) ? HD_PINNED : r.found;
}

/* The last hit of the group, if it comes after the leader and all others; HKV_NO_MEMBER: the leader is the last. */
SIMT_FN uint32_t hkv_member_at_end(const hkv_args *a, const hkv_group *g, bool placed)
{
    if (placed) return hkv_group_other(a, g);
    return hkv_flags_tell(a) ? hkv_group_last_hit(g) : HKV_NO_MEMBER;
}

/* The place of a member in the order of its group, where the leader has place 0 (groups.h). */
SIMT_FN int64_t hkv_member_place(const hkv_args *a, const hkv_group *g, uint32_t n, uint32_t rank, bool placed)
{
    if (n == hkv_member_at_end(a, g, placed) && !hkv_ranks(a)) return 1ll << 32;
    return placed ? (int64_t)rank + 1 : (int64_t)rank - (1ll << 32);
}

/* The score after member k. */
SIMT_FN uint64_t hkv_member_score(const hkv_args *a, const hkv_group *g, uint32_t k, uint64_t i, uint32_t rank,
                                  bool placed)
{
    uint64_t lead = hkv_group_leader(a, g);
    hd_score_in in = hkv_score_in(a, i), lead_in = hkv_score_in(a, a->first + hkv_ranked_item(lead));
    uint64_t from = placed ? hd_on_insert(a->v.policy, hkv_program(a), lead_in) : simt_ld_u64(&g->before);
    if (a->policy_flags & HD_HITS_ADD) {
        in.given += a->score ? simt_ld_u64(a->left_before + k) : rank;
        if (hkv_ranked_rank(lead) < rank) in.given -= lead_in.given; /* the leader comes last, or was counted already */
    }
    return hd_on_hit(a->v.policy, hkv_program(a), from, in);
}

/* A sum of pieces of members' values that has not been added to its entry yet. */
typedef struct hkv_sum {
    uint8_t *at; /* the piece in the entry's value; NULL: nothing to add */
    simt_v4 sum;
} hkv_sum;

SIMT_FN void hkv_sum_end(const hkv_args *a, hkv_sum *s, uint32_t bytes)
{
    if (s->at) gpu_piece_add(a->elem, s->at, bytes, s->sum);
    s->at = (uint8_t *)0;
}

/* Adds a sum to the entry's piece `at`: the same piece as before, if the sum has one. */
SIMT_FN void hkv_sum_add(const hkv_args *a, hkv_sum *s, uint8_t *at, simt_v4 x)
{
    s->sum = s->at ? gpu_piece_sum(a->elem, s->sum, x) : x;
    s->at = at;
}

/* Adds up the sums of lanes with the same `run`, which are neighbours among the lanes that have the same piece: those
 * `sharers` apart. The first of them keeps the sum. */
SIMT_FN void hkv_sums_meet(simt_tile w, const hkv_args *a, hkv_sum *s, uint32_t sharers, uint32_t run)
{
    SIMT_ROLLED
    for (uint32_t next = sharers; next < 32; next *= 2) {
        uint32_t from = w.rank + next < 32 ? w.rank + next : w.rank;
        bool same = from != w.rank;
        hkv_sum other;
        if (simt_shfl_u32(w, run, from) != run) same = false;
        other.at = (uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)s->at, from);
        other.sum.x = simt_shfl_u32(w, s->sum.x, from);
        other.sum.y = simt_shfl_u32(w, s->sum.y, from);
        other.sum.z = simt_shfl_u32(w, s->sum.z, from);
        other.sum.w = simt_shfl_u32(w, s->sum.w, from);
        if (same && other.at) hkv_sum_add(a, s, other.at, other.sum);
    }
    bool first = simt_shfl_u32(w, run, w.rank < sharers ? w.rank : w.rank - sharers) != run;
    if (!first && w.rank >= sharers) s->at = (uint8_t *)0;
}

/* Adds values of members to the values of their entries, for the lanes with `adds`; other lanes pass NULL. Neighbouring
 * lanes with the same `run` have members of one group. A value consists of pieces of 16 bytes, or of one element where
 * an address or the size is no multiple of 16. 2^bits lanes take the pieces of one value, and each adds up those of
 * several members before it writes, as long as they go to the same entry. */
SIMT_FN void hkv_members_add(simt_tile w, const hkv_args *a, uint8_t *to, const uint8_t *from, bool adds, uint32_t run)
{
    bool wide = simt_all(w, ((uintptr_t)to | (uintptr_t)from | a->v.value_bytes) % 16 == 0);
    uint32_t bytes = wide ? 16 : gpu_elem_bytes(a->elem), n = a->v.value_bytes / bytes, bits = 0;
    if (!simt_any(w, adds)) return;
    while (bits < 5 && 1u << bits < n) bits++;
    uint32_t sharers = 1u << bits, first = w.rank & ~(sharers - 1);
    SIMT_ROLLED
    for (uint32_t e = w.rank - first; e < (n + sharers - 1) >> bits << bits; e += sharers) {
        uint32_t sum_run = simt_shfl_u32(w, run, first);
        hkv_sum s;
        s.at = (uint8_t *)0;
        s.sum.x = s.sum.y = s.sum.z = s.sum.w = 0;
        SIMT_ROLLED
        for (uint32_t member = first; member < first + sharers; member++) {
            uint8_t *target = (uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)to, member);
            const uint8_t *source = (const uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)from, member);
            uint32_t its_run = simt_shfl_u32(w, run, member);
            if (its_run != sum_run) hkv_sum_end(a, &s, bytes);
            sum_run = its_run;
            if (e < n && target) hkv_sum_add(a, &s, target + e * bytes, gpu_piece_load(source + e * bytes, bytes));
        }
        simt_join();
        hkv_sums_meet(w, a, &s, sharers, sum_run);
        hkv_sum_end(a, &s, bytes);
        simt_join();
    }
}

/* A member that is told what became of it. */
typedef struct hkv_told {
    hkv_one one;
    const uint8_t *from; /* where the value that it delivers, or adds, comes from */
    uint8_t *sum;        /* the value that it adds to; NULL: none                 */
} hkv_told;

/* Member k, which is not the leader: its outcome, its score, and which values it moves. */
SIMT_FN void hkv_tell(const hkv_args *a, hkv_told *m, const hkv_group *g, uint32_t k, uint32_t n)
{
    uint64_t leader = hkv_group_leader(a, g);
    uint32_t led = simt_ld_u32(&g->outcome), rank = hkv_member_rank(a, k);
    bool placed = hkv_was_placed(led);
    hkv_one *o = &m->one;
    o->i = a->first + n;
    hkv_rule r = hkv_rule_of(a, o->i);
    o->key = simt_ld_u64(a->key + o->i);
    o->entry = simt_ld_u64(&g->entry);
    o->outcome = hkv_member_outcome(a, o->entry, led, r);
    o->score = hd_on_insert(a->v.policy, hkv_program(a), hkv_score_in(a, o->i));
    if (o->outcome == HD_PINNED)
        o->score = simt_ld_u64(&g->before);
    else if (hkv_was_found(o->outcome) && a->score_out)
        o->score = hkv_member_score(a, g, k, o->i, rank, placed);
    if (hkv_was_found(o->outcome) && hkv_delivers_value(a->op) && a->value_out) {
        m->from = (placed ? a->value : a->value_out) + (a->first + hkv_ranked_item(leader)) * a->v.value_bytes;
        o->out = a->value_out + o->i * a->v.value_bytes;
    }
    /* An entry that another item has evicted since has lost the sum, too. */
    if (r.change == HKV_ADD && o->outcome == HD_UPDATED && simt_ld_u64(hkv_key_at(&a->v, o->entry)) == o->key) {
        m->from = a->value + o->i * a->v.value_bytes;
        m->sum = hkv_value(&a->v, o->entry);
    }
    simt_ticket_beside(o->i, o->outcome, 0, o->entry, a->first + hkv_ranked_item(leader),
                       hkv_member_place(a, g, n, rank, placed));
}

/* Numbers the runs of neighbouring lanes with the same x. Returns the number of this lane's run. */
SIMT_FN uint32_t hkv_run_of_lanes(simt_tile w, uint32_t x)
{
    uint32_t before = simt_shfl_u32(w, x, w.rank ? w.rank - 1 : 0);
    uint32_t starts = simt_ballot(w, w.rank == 0 || before != x);
    return simt_popc(starts & (0xffffffffu >> (31 - w.rank)));
}

/* Delivers the outputs of member k, for the lanes with `valid`. */
SIMT_FN void hkv_follow(simt_tile w, const hkv_args *a, uint64_t *tally, uint32_t k, bool valid)
{
    hkv_told m;
    m.one = hkv_begin_with(a, a->last, 0);
    m.from = (const uint8_t *)0;
    m.sum = (uint8_t *)0;
    uint32_t first = HKV_CLAIM_ITEMS; /* of no group */
    if (valid) {
        uint32_t n = simt_ld_u32(hkv_left(a, HKV_MEMBERS) + k);
        first = simt_ld_u32(hkv_left(a, HKV_FIRST_OF) + k);
        const hkv_group *g = a->group + first;
        simt_st_u32(a->role + n, HKV_SINGLE);
        valid = n != hkv_ranked_item(hkv_group_leader(a, g));
        if (valid) hkv_tell(a, &m, g, k, n);
        if (valid) hkv_tally_add(tally, m.one.outcome);
        if (valid) hkv_deliver_early(a, &m.one);
        if (valid) hkv_deliver(a, &m.one);
    }
    simt_join();
    if (a->op == HD_OP_ACCUM_OR_ASSIGN)
        hkv_members_add(w, a, m.sum, m.from, m.sum != (uint8_t *)0, hkv_run_of_lanes(w, first));
    else
        hkv_rows_copy(w, m.one.out, m.from, m.one.out != (uint8_t *)0, a->v.value_bytes);
}

/* ---- The order of members that add ----
 *
 * Most adds of skewed batches go to few entries, and the adds to one entry run one after the other. So a warp takes
 * many members at a time, and puts those of a group side by side: it counts the members of each bin of groups, and
 * gives every bin a range of places. Members of two groups in one bin may come in turn; they are then added up in
 * several runs. */

/* How many members a warp orders at a time at most, and how many bins there are. */
enum { HKV_ORDER_BITS = 8, HKV_ORDER_MOST = 1 << HKV_ORDER_BITS, HKV_ORDER_BINS = HKV_ORDER_MOST };

/* Words in the rows of the warp, 32 in each: HKV_ORDER_MOST places, and then the bins. */
SIMT_FN uint32_t *hkv_order_word(uint8_t *rows, uint32_t k)
{
    return (uint32_t *)(void *)(rows + k / 32 * HKV_COALESCED_ROW) + k % 32;
}

/* The bin of member k: by its group. */
SIMT_FN uint32_t *hkv_order_bin(const hkv_args *a, uint8_t *rows, uint32_t k)
{
    uint32_t first = simt_ld_u32(hkv_left(a, HKV_FIRST_OF) + k);
    return hkv_order_word(rows, HKV_ORDER_MOST + (first * 0x9e3779b1u >> (32 - HKV_ORDER_BITS)));
}

/* Replaces the count of each bin by the number of members in the bins before it. */
SIMT_FN void hkv_order_sum(simt_tile w, uint8_t *rows)
{
    uint32_t before = 0;
    SIMT_ROLLED
    for (uint32_t k = w.rank; k < HKV_ORDER_BINS; k += 32) {
        uint32_t *bin = hkv_order_word(rows, HKV_ORDER_MOST + k), mine = simt_ld_u32(bin), sum = mine;
        SIMT_UNROLL
        for (uint32_t d = 1; d < 32; d *= 2) {
            uint32_t other = simt_shfl_u32(w, sum, w.rank < d ? w.rank : w.rank - d);
            if (w.rank >= d) sum += other;
        }
        simt_st_u32(bin, before + sum - mine);
        before += simt_shfl_u32(w, sum, 31);
    }
}

/* Orders members [at, at + n) of the list: place k has the number of one, less `at`. */
SIMT_FN void hkv_order_members(simt_tile w, const hkv_args *a, uint8_t *rows, uint32_t at, uint32_t n)
{
    simt_sync_tile(w);
    for (uint32_t k = w.rank; k < HKV_ORDER_BINS; k += 32) simt_st_u32(hkv_order_word(rows, HKV_ORDER_MOST + k), 0);
    simt_sync_tile(w);
    for (uint32_t k = w.rank; k < n; k += 32) simt_shared_add_u32(hkv_order_bin(a, rows, at + k), 1);
    simt_sync_tile(w);
    hkv_order_sum(w, rows);
    simt_sync_tile(w);
    for (uint32_t k = w.rank; k < n; k += 32) {
        uint32_t place = simt_shared_add_u32(hkv_order_bin(a, rows, at + k), 1);
        simt_st_u32(hkv_order_word(rows, place), k);
    }
    simt_sync_tile(w);
}

/* How many members a warp takes at a time: where they add, so many that no warp takes members twice, up
 * to HKV_ORDER_MOST. */
SIMT_FN uint32_t hkv_members_at_a_time(const hkv_args *a, uint32_t n)
{
    uint32_t each = 32;
    if (a->op != HD_OP_ACCUM_OR_ASSIGN) return each;
    while (each < HKV_ORDER_MOST && (uint64_t)each * hkv_warps() < n) each *= 2;
    return each;
}

/* Members write their outputs; the table of claims and the counts are 0 again. */
SIMT_FN void hkv_groups_deliver(const hkv_args *a)
{
    SIMT_SHARED(uint8_t, all_rows, HKV_COALESCED_THREADS * HKV_COALESCED_ROW);
    simt_tile w = simt_tile_of(32);
    uint8_t *rows = all_rows + (simt_thread() & ~31u) * HKV_COALESCED_ROW;
    uint64_t *tally = hkv_row_tally(rows);
    uint32_t n = simt_ld_u32(a->left_count + HKV_MEMBERS_WERE), each = hkv_members_at_a_time(a, n), rounds = 0;
    bool orders = a->op == HD_OP_ACCUM_OR_ASSIGN;
    simt_st_u64(tally, 0);
    for (uint64_t at = each * hkv_warp_number(); at < n; at += each * hkv_warps()) {
        uint32_t here = n - at < each ? (uint32_t)(n - at) : each;
        if (orders) hkv_order_members(w, a, rows, (uint32_t)at, here);
        for (uint32_t k = w.rank; k - w.rank < here; k += 32) {
            uint32_t place = orders && k < here ? simt_ld_u32(hkv_order_word(rows, k)) : k;
            hkv_follow(w, a, tally, (uint32_t)at + place, k < here);
            if (++rounds % 64 == 0) hkv_tally_flush(w, a, tally);
        }
    }
    hkv_tally_flush(w, a, tally);
    hkv_claims_clear(a);
}

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
