/* SPDX-License-Identifier: Apache-2.0
 *
 * device_oracle.h - judges batches of HKV where they ran, at the pace at which they run: what must be in the table is
 * known key by key, and every item's answer is held against it.
 *
 * Of every key (known): whether it is there, its value, its score. Where only one item of a batch has a key, all three
 * follow exactly, by doc/contract.md. Where several have it, the value is one of theirs (values of a batch differ in
 * four ways), sums of accum are the sums of all, and the score is learned from the next answer that gives it. A batch
 * that evicts without saying whom leaves it open whether a key is still there, until an answer or a walk over the whole
 * table tells. insert_and_evict does say: then for every key was + came - left is 0 or 1, and what is.
 *
 * A batch goes over its items a few times, one pass after another on one stream: count_key, then the batch, then tally,
 * judge_list, judge_item, judge_together, forget_list, finish. At rest, on_export for every entry of the table, then
 * on_key for every key: nothing twice, nothing lost, nothing that nobody put, everything in one of its buckets.
 */
#ifndef SOAK_HKV_ORACLE_H
#define SOAK_HKV_ORACLE_H

#include "judge/hkv/device_draw.h"
#include "judge/rules.h"
#include "policies/policy.h"

enum { GONE, THERE };                 /* known.presence */
enum { EXACT, ONE_OF_FOUR, UNKNOWN }; /* known.value; known.scored: the first or the last */

typedef struct hkv_known {
    uint64_t word, score; /* word: of the value; ONE_OF_FOUR: the batch */
    /* the batch that last told of it: is it still there? it is when no later one can have evicted it */
    uint32_t seen;
    uint8_t presence, value, scored;
} hkv_known;

/* Of a key, while a batch is judged. */
typedef struct hkv_busy {
    uint64_t sum, leader;
    uint32_t items, came, left, went, same; /* same: found, and still there */
} hkv_busy;

struct hkv_oracle : answers {
    typedef hkv_known known;
    typedef hkv_busy busy;
    /* The table. */
    uint32_t policy = 0, policy_flags = 0, slots = 0;
    uint64_t buckets = 0, seed = 0;
    bool dual = false, admit_always = false;
    /* What is known, and what was found. */
    known *key_is;        /* (names.keys) */
    busy *key_now;        /* (names.keys) */
    uint32_t *evicted_at; /* the last batch that evicted without a list */
    /* The batch. */
    uint32_t epoch = 0;
    uint64_t clock = 0;
    bool inserts = false;

    score_kind scores = SMALL;
    uint64_t salt = 0; /* of scores */

    explicit hkv_oracle(naming n) : answers(n) {}
    void open(const place &at, const hkv_shape &s, const hd_info &info)
    {
        take(at);
        while (strcmp(hd_policy_rows[policy].name, s.policy) != 0) policy++;
        policy_flags = hd_policy_rows[policy].flags;
        slots = info.slots;
        buckets = info.buckets;
        seed = info.seed;
        dual = info.hkv.dual;
        admit_always = info.hkv.admit == HD_ADMIT_ALWAYS;
        key_is = at.take<known>(names.keys);
        key_now = at.take<busy>(names.keys);
        evicted_at = at.take<uint32_t>(1);
    }
    void shut(const place &at) const
    {
        void *const all[] = { key_is, key_now, evicted_at };
        for (void *p : all) at.give(p);
        give(at);
    }

    /* ---- A batch ----------------------------------------------------------------------------- */

    /* What its items bring, and their clock. */
    void begin(dice &d, const hd_info &info, const keys_of &)
    {
        scores = (score_kind)d.below(policy_flags & HD_SCORES_NEEDED ? 3 : 4);
        salt = d.draw();
        clock = info.now;
        epoch = info.epoch;
        accum = (uint32_t)d.below(3);
        inserts = judge_ops[b.op].enters;
        if (scores == NO_SCORES) b.score = nullptr;
        if (accum == HD_EITHER && d.one_in(2)) b.flag = nullptr;
    }
    BOTH void fill(uint64_t i, uint64_t key) const
    {
        if (b.score) ((uint64_t *)b.score)[i] = score_of(scores, i, salt);
        if (b.flag) ((uint8_t *)b.flag)[i] = (uint8_t)accum;
        names.write((uint8_t *)b.value + i * names.bytes, key, word_of(number, i));
    }
    void before(const place &at) const
    {
        const hkv_oracle w = *this;
        at.each(b.n, [=] BOTH(uint64_t i) { w.count_key(i); });
    }
    void judge(const place &at) const
    {
        const hkv_oracle w = *this;
        bool lists = b.op == HD_OP_INSERT_AND_EVICT || b.op == HD_OP_FIND_MISSED;
        at.each(TURNS, [=] BOTH(uint64_t c) { w.tally(c, TURNS); });
        if (lists) at.each(b.n, [=] BOTH(uint64_t j) { w.judge_list(j); });
        at.each(b.n, [=] BOTH(uint64_t i) { w.judge_item(i); });
        at.each(b.n, [=] BOTH(uint64_t i) { w.judge_together(i); });
        if (lists) at.each(b.n, [=] BOTH(uint64_t j) { w.forget_list(j); });
        at.each(1, [=] BOTH(uint64_t i) { w.finish(i); });
    }

    /* ---- What is known ----------------------------------------------------------------------- */

    BOTH bool surely(const known &k) const { return k.presence == THERE && k.seen > *evicted_at; }
    BOTH bool evicts() const { return fate[HD_EVICTED] > 0; }
    BOTH hd_score_in score_in(uint64_t i) const
    {
        hd_score_in in = { b.score ? b.score[i] : 1, clock + i, epoch };
        return in;
    }
    BOTH bool one_of_four(const uint8_t *p, uint64_t key, uint64_t batch, uint64_t *word) const
    {
        for (uint64_t j = 0; j < 4; j++)
            if (names.is(p, key, *word = word_of(batch, j))) return true;
        return false;
    }
    /* Whether a value can be the key's, and its word. */
    BOTH bool can_be(const known &k, uint64_t key, const uint8_t *p, uint64_t *word) const
    {
        if (k.value == ONE_OF_FOUR) return one_of_four(p, key, k.word, word);
        *word = k.value == EXACT ? k.word : names.word_of(p, key);
        return names.is(p, key, *word);
    }
    BOTH bool score_can_be(const known &k, uint64_t score) const { return k.scored != EXACT || k.score == score; }
    BOTH void learn(known &k, uint64_t word, const uint64_t *score) const
    {
        if (k.value != EXACT) k.word = word, k.value = EXACT;
        if (score) k.score = *score, k.scored = EXACT;
    }
    BOTH void is_there(known &k) const { k.presence = THERE, k.seen = number; }

    /* ---- Items ------------------------------------------------------------------------------- */

    BOTH void count_key(uint64_t i) const
    {
        uint64_t at = names.number_of(b.key[i]);
        if (at != NO_NUMBER && add(&key_now[at].items, 1) == 0) key_now[at].leader = i;
    }

    BOTH bool can_answer(hd_outcome o) const
    {
        bool placed = o == HD_INSERTED || o == HD_EVICTED, absent = placed || o == HD_REFUSED;
        if (o == HD_REFUSED && (admit_always || policy == HD_POLICY_lfu)) return false;
        switch (b.op) {
        case HD_OP_FIND:
        case HD_OP_CONTAINS:
        case HD_OP_FIND_PTR:
        case HD_OP_FIND_MISSED:
        case HD_OP_TOUCH: return o == HD_HIT || o == HD_MISS;
        case HD_OP_ASSIGN:
        case HD_OP_ASSIGN_VALUES:
        case HD_OP_ASSIGN_SCORES: return o == HD_UPDATED || o == HD_MISS;
        case HD_OP_ACCUM_OR_ASSIGN:
            return accum == HD_ADD ? o == HD_UPDATED || o == HD_MISS
                                   : absent || o == (accum == HD_EITHER ? HD_UPDATED : HD_HIT);
        case HD_OP_INSERT_OR_ASSIGN:
        case HD_OP_INSERT_AND_EVICT: return absent || o == HD_UPDATED;
        case HD_OP_FIND_OR_INSERT:
        case HD_OP_FIND_OR_INSERT_PTR: return absent || o == HD_HIT;
        case HD_OP_ERASE: return o == HD_ERASED || o == HD_MISS;
        default: return false;
        }
    }

    BOTH bool looks_up() const
    {
        return b.op == HD_OP_FIND || b.op == HD_OP_CONTAINS || b.op == HD_OP_FIND_PTR || b.op == HD_OP_FIND_MISSED;
    }
    BOTH bool rescores(hd_outcome o) const
    {
        bool never = looks_up() || b.op == HD_OP_ASSIGN_VALUES || b.op == HD_OP_ERASE ||
                     (b.op == HD_OP_ACCUM_OR_ASSIGN && accum == HD_ASSIGN_NEW);
        return (o == HD_HIT || o == HD_UPDATED) && !never;
    }
    BOTH void rescore(known &k, uint64_t i) const
    {
        bool follows = k.scored == EXACT || (policy_flags & HD_ORDER_FREE);
        k.score = follows ? hd_on_hit(policy, k.score, score_in(i)) : 0;
        k.scored = follows ? EXACT : UNKNOWN;
    }

    /* A value that an item gave: the key's, or one that this batch brought if several items have the key. */
    BOTH void judge_value(uint64_t i, const known &k, const uint8_t *p, bool many, uint64_t *word) const
    {
        if (can_be(k, b.key[i], p, word)) return;
        bool zero = b.op == HD_OP_FIND_OR_INSERT_PTR,
             ours =
                 many && inserts && (zero ? names.is(p, b.key[i], *word = 0) : one_of_four(p, b.key[i], number, word));
        if (!ours) complain(WRONG_VALUE, i, b.key[i]);
    }

    /* What came out of an item; *word: of the value that did. False: none did. */
    BOTH bool judge_outputs(uint64_t i, hd_outcome o, const known &k, bool many, uint64_t *word) const
    {
        const known none = { 0, 0, 0, THERE, EXACT, UNKNOWN };
        bool with_score = b.op == HD_OP_FIND || b.op == HD_OP_FIND_MISSED || b.op == HD_OP_FIND_PTR ||
                          b.op == HD_OP_TOUCH || b.op == HD_OP_FIND_OR_INSERT;
        bool with_value = with_score && b.op != HD_OP_FIND_PTR, placed = o == HD_INSERTED || o == HD_EVICTED,
             told = false;
        bool with_ptr = b.op == HD_OP_FIND_PTR || b.op == HD_OP_FIND_OR_INSERT_PTR;
        if (b.value_out) {
            const uint8_t *p = (const uint8_t *)b.value_out + i * names.bytes;
            if (with_value && o == HD_HIT)
                judge_value(i, k, p, many, word), told = true;
            else if (!left_alone(p, names.bytes))
                complain(NOT_ITS_TO_WRITE, i, b.key[i]);
        }
        if (b.ptr) {
            const uint8_t *p = (const uint8_t *)b.ptr[i];
            if (with_ptr && (o == HD_HIT || placed) && !evicts())
                judge_value(i, placed ? none : k, p, many, word), told = true;
            else if (!(with_ptr && (o == HD_HIT || placed)) && !left_alone(&b.ptr[i], 8))
                complain(NOT_ITS_TO_WRITE, i, b.key[i]);
        }
        if (b.score_out) {
            known then = k;
            if (rescores(o)) rescore(then, i);
            if (with_score && o == HD_HIT && !(many && inserts) && !(many && rescores(o)) &&
                !score_can_be(then, b.score_out[i]))
                complain(WRONG_SCORE, i, b.key[i]);
            if (!(with_score && o == HD_HIT) && !left_alone(&b.score_out[i], 8))
                complain(NOT_ITS_TO_WRITE, i, b.key[i]);
        }
        return told;
    }

    BOTH void judge_item(uint64_t i) const
    {
        uint64_t key = b.key[i], at = names.number_of(key), word = 0;
        hd_outcome o = (hd_outcome)b.outcome[i];
        known none = { 0, 0, 0, GONE, EXACT, EXACT };
        if ((key >= HD_KEY_RESERVED) != (o == HD_RESERVED)) return complain(IMPOSSIBLE_OUTCOME, i, key);
        if (o == HD_RESERVED) return (void)judge_outputs(i, o, none, false, &word);
        known &k = key_is[at];
        busy &m = key_now[at];
        bool there = o == HD_HIT || o == HD_UPDATED || o == HD_ERASED, many = m.items > 1;
        if (!can_answer(o)) complain(IMPOSSIBLE_OUTCOME, i, key);
        if (there && k.presence == GONE && !(many && inserts)) complain(WAS_GONE, i, key);
        if (!there && surely(k) && !evicts() && !(many && b.op == HD_OP_ERASE)) complain(WAS_THERE, i, key);
        bool told = judge_outputs(i, o, k, many, &word);
        if (many) {
            if (o == HD_INSERTED || o == HD_EVICTED) add(&m.came, 1);
            if (o == HD_ERASED) add(&m.went, 1);
            if (o == HD_HIT || o == HD_UPDATED) add(&m.same, 1);
            if (b.op == HD_OP_ACCUM_OR_ASSIGN && (o == HD_INSERTED || o == HD_EVICTED || o == HD_UPDATED))
                add(&m.sum, word_of(number, i));
        } else {
            change(i, o, k, m, told ? &word : nullptr);
            m.items = m.left = 0;
        }
    }

    /* ---- What becomes of a key --------------------------------------------------------------- */

    /* Of a key that came and left so many times. can_be_there, can_be_gone: as the outcomes have it, before the first
     * of them. */
    BOTH void settle(uint64_t i, known &k, uint64_t came, uint64_t left, bool can_be_there, bool can_be_gone) const
    {
        bool was = can_be_there && k.presence == THERE && 1 + came >= left && 1 + came - left <= 1;
        bool was_not = can_be_gone && !surely(k) && came >= left && came - left <= 1;
        if (!was && !was_not) return complain(NOT_CONSERVED, i, b.key[i]);
        bool is = was && 1 + came - left == 1, may = was_not && came - left == 1;
        if (was && was_not && is != may)
            k.presence = THERE, k.seen = 0; /* it is open */
        else if (is || may)
            is_there(k);
        else
            k.presence = GONE;
    }

    BOTH void change(uint64_t i, hd_outcome o, known &k, const busy &m, const uint64_t *word) const
    {
        bool placed = o == HD_INSERTED || o == HD_EVICTED, there = o == HD_HIT || o == HD_UPDATED;
        bool whole = b.op == HD_OP_ASSIGN || b.op == HD_OP_ASSIGN_VALUES || b.op == HD_OP_INSERT_OR_ASSIGN ||
                     b.op == HD_OP_INSERT_AND_EVICT;
        if (there && word) learn(k, *word, nullptr);
        if (placed)
            k.score = hd_on_insert(policy, score_in(i)), k.scored = EXACT;
        else if (rescores(o))
            rescore(k, i);
        else if (there && b.score_out && (b.op == HD_OP_FIND || b.op == HD_OP_FIND_MISSED || b.op == HD_OP_FIND_PTR))
            learn(k, k.word, &b.score_out[i]);
        if (there && rescores(o) && b.score_out && (b.op == HD_OP_TOUCH || b.op == HD_OP_FIND_OR_INSERT))
            k.score = b.score_out[i], k.scored = EXACT;
        if (placed || (o == HD_UPDATED && whole))
            k.word = b.op == HD_OP_FIND_OR_INSERT_PTR ? 0 : word_of(number, i), k.value = EXACT;
        else if (o == HD_UPDATED && b.op == HD_OP_ACCUM_OR_ASSIGN)
            accumulate(k, word_of(number, i));
        if (b.op == HD_OP_INSERT_AND_EVICT)
            settle(i, k, placed, m.left, o == HD_UPDATED || m.left, o != HD_UPDATED);
        else if (placed || there)
            is_there(k);
        else
            k.presence = GONE;
    }
    BOTH void accumulate(known &k, uint64_t word) const
    {
        k.word = k.value == EXACT ? k.word + word : 0;
        k.value = k.value == EXACT ? EXACT : UNKNOWN;
    }

    /* Items that have the key of item i, of which it is one. */
    BOTH void judge_together(uint64_t i) const
    {
        uint64_t at = names.number_of(b.key[i]);
        if (at == NO_NUMBER || key_now[at].items < 2 || key_now[at].leader != i) return;
        known &k = key_is[at];
        /* no item's number: others of the key are still asking whether they lead */
        busy m = key_now[at], none = { 0, NO_NUMBER, 0, 0, 0, 0, 0 };
        key_now[at] = none;
        if (looks_up()) return;
        if (b.op == HD_OP_ERASE) {
            if (m.went > 1 || (m.went == 0 && surely(k)) || (m.went && k.presence == GONE))
                complain(NOT_CONSERVED, i, b.key[i]);
            k.presence = GONE;
            return;
        }
        if (!inserts && m.same && m.same != m.items) complain(NOT_CONSERVED, i, b.key[i]);
        if (b.op == HD_OP_INSERT_AND_EVICT)
            settle(i, k, m.came, m.left, m.came || m.same || m.left, m.came || m.same == 0);
        else if (inserts && !evicts())
            settle(i, k, m.came, 0, m.came == 0 && m.same, m.came || m.same == 0);
        else if (m.came + m.same)
            is_there(k);
        else
            k.presence = GONE;
        if (m.came + m.same) values_together(k, m);
    }
    BOTH void values_together(known &k, const busy &m) const
    {
        bool changes = b.op == HD_OP_ASSIGN || b.op == HD_OP_ASSIGN_VALUES || b.op == HD_OP_INSERT_OR_ASSIGN ||
                       b.op == HD_OP_INSERT_AND_EVICT;
        if (b.op == HD_OP_FIND_OR_INSERT_PTR) {
            if (m.came) k.word = 0, k.value = EXACT;
        } else if (b.op == HD_OP_ACCUM_OR_ASSIGN && accum != HD_ASSIGN_NEW) {
            if (m.came) k.word = 0, k.value = evicts() ? UNKNOWN : EXACT;
            accumulate(k, m.sum);
            if (evicts()) k.value = UNKNOWN; /* it may have gone meanwhile, and come back */
        } else if (changes || m.came) {
            k.word = number;
            k.value = ONE_OF_FOUR;
        }
        if (m.came || rescores(HD_UPDATED)) k.scored = UNKNOWN;
    }

    /* ---- Lists ------------------------------------------------------------------------------- */

    BOTH bool shares_bucket(uint64_t one, uint64_t other) const
    {
        uint64_t h = hd_hash(one, seed), g = hd_hash(other, seed), a[2] = { hd_first_bucket(h, buckets), 0 },
                 c[2] = { hd_first_bucket(g, buckets), 0 };
        a[1] = dual ? hd_second_bucket(h, buckets) : a[0];
        c[1] = dual ? hd_second_bucket(g, buckets) : c[0];
        return a[0] == c[0] || a[0] == c[1] || a[1] == c[0] || a[1] == c[1];
    }

    BOTH void judge_list(uint64_t j) const
    {
        if (j >= listed()) return;
        uint64_t item = b.list_item[j], key = b.list_key[j], at = names.number_of(key), word;
        hd_outcome o;
        if (!in_order(j, &o)) return complain(WRONG_LIST, j, key);
        bool own = b.op == HD_OP_FIND_MISSED ? o == HD_MISS : o == HD_REFUSED;
        if ((!own && o != HD_EVICTED) || (own && key != b.key[item]) || at == NO_NUMBER)
            return complain(WRONG_LIST, j, key);
        if (b.op == HD_OP_FIND_MISSED) return;
        const uint8_t *value = (const uint8_t *)b.list_value + j * names.bytes;
        hd_score_in in = score_in(item);
        if (own) {
            if (!names.is(value, key, word_of(number, item))) complain(WRONG_VALUE, j, key);
            if (b.list_score[j] != hd_on_insert(policy, in)) complain(WRONG_SCORE, j, key);
            return;
        }
        known &k = key_is[at];
        bool many = key_now[at].items > 0; /* it may have come in this batch */
        if (!shares_bucket(key, b.key[item])) complain(WRONG_PLACE, j, key);
        if (!admit_always && b.list_score[j] > hd_admission(policy, in)) complain(WRONG_SCORE, j, key);
        if (!can_be(k, key, value, &word) && !(many && one_of_four(value, key, number, &word)))
            complain(WRONG_VALUE, j, key);
        if (!many && !score_can_be(k, b.list_score[j])) complain(WRONG_SCORE, j, key);
        if (add(&key_now[at].left, 1) && !many) return complain(WRONG_LIST, j, key);
        if (many) return;
        if (k.presence == GONE) complain(WAS_GONE, j, key);
        k.presence = GONE;
    }
    BOTH void forget_list(uint64_t j) const
    {
        uint64_t at = j < listed() ? names.number_of(b.list_key[j]) : NO_NUMBER;
        if (at != NO_NUMBER) key_now[at].left = 0;
    }

    /* ---- The end of a batch ------------------------------------------------------------------ */

    BOTH void finish(uint64_t) const
    {
        if (evicts() && b.op != HD_OP_INSERT_AND_EVICT) *evicted_at = number;
        close(b.op == HD_OP_INSERT_AND_EVICT || b.op == HD_OP_FIND_MISSED,
              b.op == HD_OP_FIND_MISSED ? fate[HD_MISS] : fate[HD_EVICTED] + fate[HD_REFUSED]);
    }

    /* ---- At rest ----------------------------------------------------------------------------- */

    /* Entry j of an export. */
    BOTH void on_export(uint64_t j) const
    {
        if (j >= listed()) return;
        uint64_t slot = b.list_item[j], key = b.list_key[j], at = names.number_of(key), h = hd_hash(key, seed),
                 word = 0;
        if (slot - b.start >= b.n || (j && b.list_item[j - 1] >= slot) || at == NO_NUMBER)
            return complain(WRONG_LIST, j, key);
        known &k = key_is[at];
        if (add(&key_now[at].left, 1)) return complain(NOT_CONSERVED, j, key);
        if (k.presence == GONE) complain(WAS_GONE, j, key);
        if (slot / slots != hd_first_bucket(h, buckets) && !(dual && slot / slots == hd_second_bucket(h, buckets)))
            complain(WRONG_PLACE, j, key);
        if (!can_be(k, key, (const uint8_t *)b.list_value + j * names.bytes, &word)) complain(WRONG_VALUE, j, key);
        if (!score_can_be(k, b.list_score[j])) complain(WRONG_SCORE, j, key);
        learn(k, word, &b.list_score[j]);
        is_there(k);
    }
    /* Then, of every key; how many are there, and how many of them have the mask's bits. Turn c of `turns`. */
    BOTH void on_key(uint64_t c, uint64_t turns, uint64_t mask, uint64_t bits, uint64_t *there) const
    {
        uint64_t all = 0, some = 0;
        for (uint64_t at = c; at < names.keys; at += turns) {
            known &k = key_is[at];
            uint64_t key = names.key_of(at);
            if (key_now[at].left)
                all++, some += (key & mask) == bits;
            else if (surely(k))
                complain(WAS_THERE, at, key);
            if (!key_now[at].left) k.presence = GONE;
            key_now[at].left = 0;
        }
        if (all) add(&there[0], all);
        if (some) add(&there[1], some);
    }
    /* After erase_if of those, or clear (mask 0, bits 0). */
    BOTH void on_erased(uint64_t at, uint64_t mask, uint64_t bits) const
    {
        if ((names.key_of(at) & mask) == bits) key_is[at].presence = GONE;
    }
};

#endif
