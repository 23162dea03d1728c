/* SPDX-License-Identifier: Apache-2.0
 *
 * repeated_keys.h - batches in which a key may come many times. Items of one key would queue for its entry, and the
 * queue of the most frequent key of skewed traffic takes longer than the whole batch. So such a batch runs in launches,
 * each of which has no key twice:
 *
 *     launch     runs
 *     claim      every item: which is the first of its key, and which are its group
 *     join       the members of groups: they count themselves
 *     pick       the members again, where given scores choose the leader of a group
 *     SINGLES    keys that come once: one item each
 *     LEADERS    keys that come more than once: one item, the leader, for all of its group
 *     deliver    the other members write their outputs, and add to the values of accum_or_assign
 *     REST       items of which no order is known, each for itself, under the locks of its buckets
 *
 * Claims are words of a table of item numbers, which fits into the L2 cache. Items of one warp with one key act
 * together, and an item that sees its key claimed writes nothing. So no word is written by more than a few warps.
 *
 * The items of a batch may take effect in any order (doc/contract.md). A group takes effect at once, when its leader
 * does:
 *
 *     the key is present    the others, and then the leader: a value that is replaced is the leader's
 *     it is inserted        the leader, and then the others. If the last value or score counts, it is that of `other`
 *     it is refused         all: the leader has the greatest admission score. Items that only add miss. If keys are
 *                           counted, an item behind refused ones may be admitted: the leader stands for that one
 *     otherwise             all have the leader's outcome: MISS, PINNED
 *
 * In accum_or_assign with flags, an item hits if its flag is not HD_ASSIGN_NEW, and inserts if it is not HD_ADD. Only
 * items that hit count. The leader is an item that inserts, if there is one, so it need not be one that hits: then it
 * stores the score of the others' hits. Values are added after that, by the members (hkv_members_add). REST comes later
 * still, because it may insert a key again that was evicted: a member that finds its key must find its leader's entry.
 *
 * A policy allows it if hits ignore the old score (HD_ORDER_FREE), or earlier hits (HD_LATEST_COUNTS: the leader is the
 * last item), or if hits add up (HD_HITS_ADD): then the leader counts what all of them give. Where members deliver
 * scores (hkv_ranks), each needs the sum of those before it. One atomic gives the low bits of this sum and the order.
 * So an item that gives high bits, too, does not join: it is left to the launch REST. Otherwise a second atomic adds
 * the high bits up. Where the policy counts keys (counts.h), the leader counts its group.
 */
#ifndef HKV_REPEATED_KEYS_H
#define HKV_REPEATED_KEYS_H

#include "gpu/hkv/spare.h"

/* ---- claim ----------------------------------------------------------------------------------- */

/* A key that is being claimed for item n of the window. A word of `claim` is 0, or 20 bits of item number below 12 bits
 * of the key's hash, one of them 1. */
typedef struct hkv_claiming {
    uint64_t key;
    uint32_t n, at, word, there; /* the item; the place that is tried; what it would write there; what is there */
    uint32_t first;              /* the item that has the key, when `tries` is false */
    bool tries;
} hkv_claiming;

SIMT_FN hkv_claiming hkv_claiming_of(const hkv_args *a, uint64_t key, uint32_t n, bool wanted)
{
    hkv_claiming c;
    uint64_t h = hd_hash(key, a->v.seed);
    c.key = key;
    c.n = c.first = n;
    c.at = (uint32_t)(h >> 16) & a->groups.claim_mask;
    c.word = (uint32_t)(h >> 52 | 1) << HKV_CLAIM_ITEM_BITS | n;
    c.there = 0;
    c.tries = wanted;
    return c;
}

/* The key at c->at is decided: the item has it, or another has it, or the next place is tried. */
SIMT_FN void hkv_claim_decide(const hkv_args *a, hkv_claiming *c)
{
    uint32_t by = c->there & (HKV_CLAIM_ITEMS - 1);
    bool alike = c->there >> HKV_CLAIM_ITEM_BITS == c->word >> HKV_CLAIM_ITEM_BITS;
    if (!c->there) {
        c->tries = false;
    } else if (alike && simt_ld_u64(a->key + a->first + by) == c->key) {
        c->first = by;
        c->tries = false;
    }
    c->at = (c->at + 1) & a->groups.claim_mask;
}

/* How many items a lane claims at a time: so many accesses are under way together. */
enum { HKV_CLAIM_WIDE = 4, HKV_CLAIM_THREADS = 128 };

/* Claims the keys of the lane that are wanted. There are more places than items. */
SIMT_FN void hkv_claim_keys(const hkv_args *a, hkv_claiming *c)
{
    bool more = true;
    for (uint32_t k = 0; more && k <= a->groups.claim_mask; k++) {
        SIMT_UNROLL
        for (uint32_t q = 0; q < HKV_CLAIM_WIDE; q++)
            if (c[q].tries) c[q].there = simt_ldrlx_u32(a->groups.claim + c[q].at);
        SIMT_UNROLL
        for (uint32_t q = 0; q < HKV_CLAIM_WIDE; q++)
            if (c[q].tries && !c[q].there)
                c[q].there = simt_cas_u32(a->groups.claim + c[q].at, 0, c[q].word, SIMT_RELAXED);
        more = false;
        SIMT_UNROLL
        for (uint32_t q = 0; q < HKV_CLAIM_WIDE; q++) {
            if (c[q].tries) hkv_claim_decide(a, &c[q]);
            more = more || c[q].tries;
        }
    }
    simt_join();
}

/* The high bits of a given score. */
SIMT_FN uint64_t hkv_given_high(uint64_t given) { return given >> HKV_GIVEN_LOW_BITS; }

/* Whether item i cannot join a group: the score that it gives has high bits, and the order of the members counts. */
SIMT_FN bool hkv_gives_too_much(const hkv_args *a, uint64_t i)
{
    return a->score && hkv_ranks(a) && hkv_given_high(simt_ld_u64(a->score + i)) != 0;
}

/* True: flags tell which items insert their key if it is absent, and which items hit it if it is present. */
SIMT_FN bool hkv_flags_tell(const hkv_args *a) { return a->op == HD_OP_ACCUM_OR_ASSIGN && a->flag; }

/* Clears a group. Only the item that opens it calls this; items join in a later launch. */
SIMT_FN void hkv_group_open(const hkv_args *a, hkv_group *g, uint32_t first, uint32_t follower)
{
    bool tell = hkv_flags_tell(a);
    simt_st_u64(&g->joined, 0);
    simt_st_u64(&g->last, 0);
    simt_st_u64(&g->admission, 0);
    simt_st_u64(&g->picked, 0);
    if (a->score) simt_st_u64(&g->high, 0);
    simt_st_u32(&g->refused, 0);
    simt_st_u32(&g->two[0], tell ? 0 : first);
    simt_st_u32(&g->two[1], tell ? 0 : follower);
}

/* Puts the items of the lanes with `wanted` into a list at `at`, and moves `at` behind them. */
SIMT_FN void hkv_left_put(simt_tile w, const hkv_args *a, uint32_t list, uint32_t *at, bool wanted, uint32_t n,
                          uint32_t first)
{
    uint32_t who = simt_ballot(w, wanted), place = *at + hkv_place_among(w, who);
    if (wanted) simt_st_u32(hkv_left(a, list) + place, n);
    if (wanted && list == HKV_MEMBERS) simt_st_u32(hkv_left(a, HKV_FIRST_OF) + place, first);
    simt_join();
    *at += simt_popc(who);
}

/* Room for so many entries of the warp in a list: where it begins. */
SIMT_FN uint32_t hkv_left_room(simt_tile w, const hkv_args *a, uint32_t list, uint32_t n)
{
    uint32_t at = 0;
    if (n == 0) return 0;
    if (w.rank == 0) at = simt_add_u32(a->groups.left_count + list, n, SIMT_RELAXED);
    return simt_shfl_u32(w, at, 0);
}

/* ---- Items of a warp with one key ---- */

/* In shared memory, for each warp: places for which keys compete, and for each lane whether others have its key. (The
 * instruction for it, match.any, takes longer the more keys there are, and mostly there are 32.) */
enum { HKV_ELECT_PLACES = 64, HKV_ELECT_WORDS = HKV_ELECT_PLACES + 32 };

typedef struct hkv_elected {
    uint32_t speaker; /* a lane whose item has the same key; this lane if there is none */
    bool seconds;     /* this lane is the first to have another lane as its speaker     */
} hkv_elected;

/* Elects a speaker for the keys of the lanes with `wanted`. A key whose place is taken by another key has none. */
SIMT_FN hkv_elected hkv_elect(simt_tile w, uint32_t *words, uint64_t key, uint32_t place, bool wanted)
{
    hkv_elected e;
    uint32_t there = 0;
    e.speaker = w.rank;
    simt_sync_tile(w);
    for (uint32_t k = w.rank; k < HKV_ELECT_WORDS; k += 32) simt_st_u32(words + k, 0);
    simt_sync_tile(w);
    if (wanted) there = simt_shared_cas_u32(words + place % HKV_ELECT_PLACES, 0, w.rank + 1);
    uint32_t other = there ? there - 1 : w.rank;
    if (simt_shfl_u64(w, key, other) == key) e.speaker = other;
    e.seconds = wanted && e.speaker != w.rank && simt_shared_cas_u32(words + HKV_ELECT_PLACES + e.speaker, 0, 1) == 0;
    simt_join();
    return e;
}

/* ---- All items ---- */

/* The items of a warp: item q of a lane is i + 32q. */
typedef struct hkv_claims {
    hkv_claiming item[HKV_CLAIM_WIDE];
    hkv_elected by[HKV_CLAIM_WIDE];
    bool claims[HKV_CLAIM_WIDE], rests[HKV_CLAIM_WIDE], opens[HKV_CLAIM_WIDE];
} hkv_claims;

/* Item q has the first item of its speaker. The first to follow an item opens its group. */
SIMT_FN void hkv_claims_follow(simt_tile w, const hkv_args *a, hkv_claims *c, uint32_t q)
{
    hkv_claiming *x = &c->item[q];
    uint32_t first = simt_shfl_u32(w, x->first, c->by[q].speaker), its = simt_shfl_u32(w, x->n, c->by[q].speaker);
    if (c->claims[q]) x->first = first;
    bool follows = x->first != x->n, meets = c->by[q].speaker == w.rank ? follows : c->by[q].seconds && its == first;
    c->opens[q] = meets && !simt_ldrlx_u32(a->groups.role + first);
    if (c->opens[q]) c->opens[q] = simt_exch_u32(a->groups.role + first, HKV_HAS_GROUP, SIMT_RELAXED) == HKV_SINGLE;
    if (c->opens[q]) hkv_group_open(a, a->groups.group + first, first, x->n);
    if (follows || c->rests[q]) simt_strlx_u32(a->groups.role + x->n, HKV_IN_LIST);
    simt_join();
}

/* Lists the members of groups, the groups, and the items that run alone. */
SIMT_FN void hkv_claims_list(simt_tile w, const hkv_args *a, const hkv_claims *c)
{
    uint32_t members = 0, groups = 0, rests = 0;
    SIMT_UNROLL
    for (uint32_t q = 0; q < HKV_CLAIM_WIDE; q++) {
        uint32_t follow = simt_ballot(w, c->item[q].first != c->item[q].n);
        uint32_t open = simt_ballot(w, c->opens[q]);
        uint32_t rest = simt_ballot(w, c->rests[q]);
        members += simt_popc(follow) + simt_popc(open);
        groups += simt_popc(open);
        rests += simt_popc(rest);
    }
    if (members + rests == 0) return;
    members = hkv_left_room(w, a, HKV_MEMBERS, members);
    groups = hkv_left_room(w, a, HKV_GROUPS, groups);
    rests = hkv_left_room(w, a, HKV_RESTS, rests);
    SIMT_UNROLL
    for (uint32_t q = 0; q < HKV_CLAIM_WIDE; q++) {
        uint32_t n = c->item[q].n, first = c->item[q].first;
        hkv_left_put(w, a, HKV_MEMBERS, &members, first != n, n, first);
        hkv_left_put(w, a, HKV_MEMBERS, &members, c->opens[q], first, first);
        hkv_left_put(w, a, HKV_GROUPS, &groups, c->opens[q], first, first);
        hkv_left_put(w, a, HKV_RESTS, &rests, c->rests[q], n, n);
    }
}

/* Claims the keys of items i, i + 32 and so on; from a->last on there are none. */
SIMT_FN void hkv_claim_items(simt_tile w, const hkv_args *a, uint32_t *words, uint64_t i)
{
    hkv_claims c;
    uint64_t key[HKV_CLAIM_WIDE];
    SIMT_UNROLL
    for (uint32_t q = 0; q < HKV_CLAIM_WIDE; q++) key[q] = hkv_item_key(a, i + 32 * q);
    SIMT_UNROLL
    for (uint32_t q = 0; q < HKV_CLAIM_WIDE; q++) {
        bool keyed = i + 32 * q < a->last && key[q] < HD_KEY_RESERVED;
        c.rests[q] = keyed && hkv_gives_too_much(a, i + 32 * q);
        c.claims[q] = keyed && !c.rests[q];
        c.opens[q] = false;
        c.item[q] = hkv_claiming_of(a, key[q], (uint32_t)(i + 32 * q - a->first), c.claims[q]);
        c.by[q] = hkv_elect(w, words, c.claims[q] ? key[q] : HD_KEY_EMPTY, c.item[q].at, c.claims[q]);
        c.item[q].tries = c.claims[q] && c.by[q].speaker == w.rank;
    }
    hkv_claim_keys(a, c.item);
    SIMT_UNROLL
    for (uint32_t q = 0; q < HKV_CLAIM_WIDE; q++) hkv_claims_follow(w, a, &c, q);
    hkv_claims_list(w, a, &c);
}

SIMT_FN void hkv_groups_claim(const hkv_args *a)
{
    SIMT_SHARED(uint32_t, words, HKV_CLAIM_THREADS / 32 * HKV_ELECT_WORDS);
    simt_tile w = simt_tile_of(32);
    uint64_t each = 32 * HKV_CLAIM_WIDE;
    for (uint64_t i = a->first + each * hkv_warp_number(); i < a->last; i += each * hkv_warps())
        hkv_claim_items(w, a, words + simt_thread() / 32 * HKV_ELECT_WORDS, i + w.rank);
}

/* ---- join, pick ------------------------------------------------------------------------------ */

/* Items are compared by these numbers. Where flags tell, one that inserts is above all that do not. */
SIMT_FN uint64_t hkv_ranked(uint32_t n, uint32_t rank) { return (uint64_t)n << 32 | rank; }

/* True: any item may lead, so the first does. */
SIMT_FN bool hkv_first_leads(const hkv_args *a)
{
    return (a->policy_flags & HD_HITS_ADD) && !a->groups.picks && a->groups.admit_alike && !hkv_flags_tell(a);
}

/* The leader of a group, ranked; its item, less a->first; and its rank. */
SIMT_FN uint64_t hkv_group_leader(const hkv_args *a, const hkv_group *g)
{
    return simt_ld_u64(a->groups.picks ? &g->picked : &g->last);
}
SIMT_FN uint32_t hkv_ranked_item(uint64_t ranked) { return (uint32_t)(ranked >> 32) & (HKV_CLAIM_ITEMS - 1); }
SIMT_FN uint32_t hkv_ranked_rank(uint64_t ranked) { return (uint32_t)ranked; }

/* Where flags tell: the last item of the group that hits, less a->first; HKV_NO_MEMBER: none. */
enum { HKV_NO_MEMBER = HKV_CLAIM_ITEMS };
SIMT_FN uint32_t hkv_group_last_hit(const hkv_group *g)
{
    uint32_t last = simt_ld_u32(&g->two[0]);
    return last ? last - 1 : HKV_NO_MEMBER;
}

/* Another item of the group than the leader, less a->first. Where flags tell, one that hits, or HKV_NO_MEMBER. */
SIMT_FN uint32_t hkv_group_other(const hkv_args *a, const hkv_group *g)
{
    uint32_t leader = hkv_ranked_item(hkv_group_leader(a, g)), one = simt_ld_u32(&g->two[0]);
    uint32_t other = simt_ld_u32(&g->two[1]);
    if (!hkv_flags_tell(a)) return one != leader ? one : other;
    if (one == 0) return HKV_NO_MEMBER;
    if (one - 1 != leader) return one - 1;
    return HKV_CLAIM_ITEMS - other != leader ? HKV_CLAIM_ITEMS - other : HKV_NO_MEMBER;
}

/* Whether item i hits its key if it is present: it may change the score. */
SIMT_FN bool hkv_item_hits(const hkv_args *a, uint64_t i) { return !hkv_flags_tell(a) || hkv_rule_of(a, i).rescore; }

SIMT_FN uint32_t hkv_group_count(const hkv_group *g) { return (uint32_t)(simt_ld_u64(&g->joined) >> HKV_GIVEN_BITS); }

/* What all items of the group give, but for one that gives `without`; at most 2^64 - 1. Only before the leader ends. */
SIMT_FN uint64_t hkv_group_gives(const hkv_args *a, const hkv_group *g, uint64_t without)
{
    if (!a->score) return hkv_group_count(g) - without;
    uint64_t low = simt_ld_u64(&g->joined) & ((1ull << HKV_GIVEN_BITS) - 1), high = simt_ld_u64(&g->high);
    low -= without & ((1ull << HKV_GIVEN_LOW_BITS) - 1);
    high -= hkv_given_high(without);
    if (high >> (64 - HKV_GIVEN_LOW_BITS)) return UINT64_MAX;
    return hd_saturating_add(low, high << HKV_GIVEN_LOW_BITS);
}

/* What the lanes of `peers` before this one give. */
SIMT_FN uint64_t hkv_given_before(simt_tile w, uint32_t peers, uint32_t given)
{
    uint64_t sum = 0;
    SIMT_ROLLED
    for (uint32_t r = 0; r < 32; r++) {
        uint32_t g = simt_shfl_u32(w, given, r);
        if (peers >> r & 1 && r < w.rank) sum += g;
    }
    return sum;
}

/* A greater number of the group takes the place of a lower one. Most calls only read. */
SIMT_FN void hkv_group_raise(uint64_t *p, uint64_t x)
{
    if (simt_ldrlx_u64(p) < x) simt_max_u64(p, x, SIMT_RELAXED);
}

/* Member k; the lanes with `valid` have one. */
typedef struct hkv_member {
    hkv_group *group;
    uint32_t n, lanes; /* its item, less a->first; the lanes whose members have the same group */
    bool speaks;       /* for these lanes */
} hkv_member;

SIMT_FN hkv_member hkv_member_at(simt_tile w, const hkv_args *a, uint32_t k, bool valid)
{
    hkv_member m;
    uint32_t first = 0;
    m.n = 0;
    if (valid) m.n = simt_ld_u32(hkv_left(a, HKV_MEMBERS) + k);
    if (valid) first = simt_ld_u32(hkv_left(a, HKV_FIRST_OF) + k);
    m.group = a->groups.group + first;
    m.lanes = simt_match_u64(w, valid ? first : UINT64_MAX);
    m.speaks = valid && w.rank == simt_ffs(m.lanes) - 1;
    return m;
}

/* Members are ranked where hits add up. */
SIMT_FN uint32_t hkv_member_rank(const hkv_args *a, uint32_t k)
{
    return a->policy_flags & HD_HITS_ADD ? simt_ld_u32(hkv_left(a, HKV_RANK_OF) + k) : 0;
}

/* A tile of the lanes of `lanes`, for reductions. */
SIMT_FN simt_tile hkv_peers(simt_tile w, uint32_t lanes)
{
    w.mask = lanes;
    return w;
}

/* Adds up the high bits of what the members give. */
SIMT_FN void hkv_group_add_high(simt_tile w, hkv_member m, uint64_t high)
{
    if (!simt_any(w, high != 0)) return;
    uint64_t sum = simt_reduce_add_u64(hkv_peers(w, m.lanes), high);
    if (m.speaks && sum) simt_add_u64(&m.group->high, sum, SIMT_RELAXED);
    simt_join();
}

/* HD_HITS_ADD: counts the members with `hits`, and what they give. Returns the member's rank. */
SIMT_FN uint32_t hkv_group_add(simt_tile w, const hkv_args *a, hkv_member m, uint32_t k, bool valid, bool hits)
{
    uint64_t given = 0;
    uint32_t counted = m.lanes & simt_ballot(w, hits);
    if (a->score && hits) given = simt_ld_u64(a->score + a->first + m.n);
    simt_join();
    uint32_t low = (uint32_t)given & ((1u << HKV_GIVEN_LOW_BITS) - 1);
    uint32_t sum = simt_reduce_add_u32(hkv_peers(w, m.lanes), low);
    uint64_t joined = (uint64_t)simt_popc(counted) << HKV_GIVEN_BITS | sum;
    if (m.speaks) joined = simt_add_u64(&m.group->joined, joined, SIMT_RELAXED);
    simt_join();
    if (a->score) hkv_group_add_high(w, m, hkv_given_high(given));
    joined = simt_shfl_u64(w, joined, simt_ffs(m.lanes) - 1);
    uint32_t rank = (uint32_t)(joined >> HKV_GIVEN_BITS) + hkv_place_among(w, counted);
    if (valid) simt_st_u32(hkv_left(a, HKV_RANK_OF) + k, rank);
    if (!a->score || !hkv_ranks(a)) return rank;
    uint64_t before = (joined & ((1ull << HKV_GIVEN_BITS) - 1)) + hkv_given_before(w, m.lanes, low);
    if (valid) simt_st_u64(a->groups.left_before + k, before);
    simt_join();
    return rank;
}

/* Where flags tell: the last member of the group that hits, and the first. */
SIMT_FN void hkv_group_hits(simt_tile w, hkv_member m, bool hits)
{
    uint32_t last = simt_reduce_max_u32(hkv_peers(w, m.lanes), hits ? m.n + 1 : 0),
             first = simt_reduce_max_u32(hkv_peers(w, m.lanes), hits ? HKV_CLAIM_ITEMS - m.n : 0);
    if (m.speaks && last) {
        simt_max_u32(&m.group->two[0], last, SIMT_RELAXED);
        simt_max_u32(&m.group->two[1], first, SIMT_RELAXED);
    }
    simt_join();
}

/* What members are compared by: the number, and where flags tell, above it whether the member inserts. */
SIMT_FN uint32_t hkv_member_number(const hkv_args *a, uint32_t n)
{
    return hkv_flags_tell(a) && hkv_rule_of(a, a->first + n).insert ? n + HKV_CLAIM_ITEMS : n;
}

/* The admission score with which member n tries to lead. Where flags tell, 0 if it does not insert. */
SIMT_FN uint64_t hkv_member_admission(const hkv_args *a, uint32_t n)
{
    uint64_t i = a->first + n;
    return hkv_flags_tell(a) && !hkv_rule_of(a, i).insert
               ? 0
               : hd_admission(a->v.policy, hkv_program(a), hkv_score_in(a, i));
}

SIMT_FN void hkv_group_join(simt_tile w, const hkv_args *a, uint32_t k, bool valid)
{
    hkv_member m = hkv_member_at(w, a, k, valid);
    bool hits = valid && hkv_item_hits(a, a->first + m.n);
    bool adds = (a->policy_flags & HD_HITS_ADD) != 0;
    uint32_t rank = adds || hkv_counts_keys(a) ? hkv_group_add(w, a, m, k, valid, hits) : 0;
    if (!adds) rank = 0;
    if (hkv_flags_tell(a)) hkv_group_hits(w, m, hits);
    if (a->groups.picks) {
        uint64_t low = simt_reduce_min_u64(hkv_peers(w, m.lanes), ~hkv_member_admission(a, m.n));
        if (m.speaks) hkv_group_raise(&m.group->admission, ~low);
    } else if (hkv_first_leads(a)) {
        if (valid && m.group == a->groups.group + m.n) simt_st_u64(&m.group->last, hkv_ranked(m.n, rank));
    } else {
        uint32_t number = hkv_member_number(a, m.n), most = simt_reduce_max_u32(hkv_peers(w, m.lanes), number);
        if (valid && number == most) hkv_group_raise(&m.group->last, hkv_ranked(number, rank));
    }
    simt_join();
}

/* The member leads, if none has a greater admission score; of several the last. */
SIMT_FN void hkv_group_pick(simt_tile w, const hkv_args *a, uint32_t k, bool valid)
{
    hkv_member m = hkv_member_at(w, a, k, valid);
    if (valid) valid = hkv_member_admission(a, m.n) == simt_ld_u64(&m.group->admission);
    simt_join();
    uint32_t number = hkv_member_number(a, m.n);
    uint32_t most = simt_reduce_max_u32(hkv_peers(w, m.lanes), valid ? number : 0);
    if (valid && number == most) hkv_group_raise(&m.group->picked, hkv_ranked(number, hkv_member_rank(a, k)));
    simt_join();
}

/* All members of the window, 32 for each warp at a time. */
SIMT_FN void hkv_groups_join(const hkv_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint32_t n = simt_ld_u32(a->groups.left_count + HKV_MEMBERS);
    for (uint64_t at = 32 * hkv_warp_number(); at < n; at += 32 * hkv_warps())
        hkv_group_join(w, a, (uint32_t)at + w.rank, at + w.rank < n);
}

SIMT_FN void hkv_groups_pick(const hkv_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint32_t n = simt_ld_u32(a->groups.left_count + HKV_MEMBERS);
    for (uint64_t at = 32 * hkv_warp_number(); at < n; at += 32 * hkv_warps())
        hkv_group_pick(w, a, (uint32_t)at + w.rank, at + w.rank < n);
}

/* ---- LEADERS: what a leader does besides ----------------------------------------------------- */

/* The policy's input of a hit by item o. If it leads a group: the input of the last hit, and what all hits give. */
SIMT_FN hd_score_in hkv_hit_in(const hkv_args *a, const hkv_one *o)
{
    const hkv_group *g = a->groups.group + o->group;
    bool leads = a->groups.pass == HKV_LEADERS;
    hd_score_in in = hkv_score_in(a, leads && hkv_flags_tell(a) ? a->first + hkv_group_last_hit(g) : o->i);
    if (leads && (a->policy_flags & HD_HITS_ADD)) in.given = hkv_group_gives(a, g, 0);
    return in;
}

/* Whether item o, whose key is present, changes the score: by its own hit, or for its group. */
SIMT_FN bool hkv_rescores(const hkv_args *a, const hkv_one *o, hkv_rule r)
{
    if (a->groups.pass != HKV_LEADERS || !hkv_flags_tell(a)) return r.rescore;
    return hkv_group_last_hit(a->groups.group + o->group) != HKV_NO_MEMBER;
}

/* All others of the leader's group were refused: none follows it. */
SIMT_FN void hkv_group_forget_others(const hkv_args *a, const hkv_one *o)
{
    hkv_group *g = a->groups.group + o->group;
    simt_st_u32(&g->two[0], (uint32_t)(o->i - a->first));
    simt_st_u32(&g->two[1], (uint32_t)(o->i - a->first));
}

/* The leader was admitted as a new entry: the hits of the others, and the value that the last of them assigns. What
 * others add comes later (hkv_members_add). */
SIMT_FN void hkv_group_inserted(const hkv_args *a, hkv_one *o)
{
    const hkv_group *g = a->groups.group + o->group;
    hkv_rule r = hkv_rule_of(a, o->i);
    bool alone = hkv_counts_keys(a) && simt_ld_u32(&g->refused) + 1 == hkv_group_count(g);
    uint32_t n = alone ? HKV_NO_MEMBER : hkv_group_other(a, g);
    if (alone) hkv_group_forget_others(a, o);
    if (hkv_keeps_order(a)) simt_st_u64(&a->groups.group[o->group].before, o->score);
    if (n == HKV_NO_MEMBER) return;
    uint64_t other = a->first + n;
    hd_score_in in = hkv_score_in(a, other);
    if (a->policy_flags & HD_HITS_ADD) in.given = hkv_group_gives(a, g, r.rescore ? hkv_score_in(a, o->i).given : 0);
    if (r.rescore || hkv_flags_tell(a)) o->score = hd_on_hit(a->v.policy, hkv_program(a), o->score, in);
    if (r.change == HKV_REPLACE && a->value) o->in = a->value + other * a->v.value_bytes;
}

/* Tells the others what became of the leader. */
SIMT_FN void hkv_group_end(const hkv_args *a, const hkv_one *o)
{
    hkv_group *g = a->groups.group + o->group;
    simt_st_u32(&g->outcome, o->outcome);
    simt_st_u64(&g->entry, o->entry);
}

/* ---- deliver: what it clears ----------------------------------------------------------------- */

/* Moves counts, so that the lists are empty: the launch LEADERS reads neither. */
SIMT_FN void hkv_members_counted(const hkv_args *a)
{
    if (simt_block() != 0 || simt_thread() != 0) return;
    simt_st_u32(a->groups.left_count + HKV_MEMBERS_WERE, simt_ld_u32(a->groups.left_count + HKV_MEMBERS));
    simt_st_u32(a->groups.left_count + HKV_MEMBERS, 0);
}

/* No key is claimed, and all lists are empty. */
SIMT_FN void hkv_claims_clear(const hkv_args *a)
{
    simt_v4 zero;
    zero.x = zero.y = zero.z = zero.w = 0;
    uint64_t threads = (uint64_t)simt_blocks() * simt_threads();
    for (uint64_t k = (uint64_t)simt_block() * simt_threads() + simt_thread(); k <= a->groups.claim_mask / 4;
         k += threads)
        simt_st_v4((simt_v4 *)(void *)(a->groups.claim + 4 * k), zero);
    if (simt_block() != 0 || simt_thread() != 0) return;
    simt_st_u32(a->groups.left_count + HKV_RESTS_WERE, simt_ld_u32(a->groups.left_count + HKV_RESTS));
    simt_st_u32(a->groups.left_count + HKV_GROUPS, 0);
    simt_st_u32(a->groups.left_count + HKV_RESTS, 0);
}

#endif
