/* SPDX-License-Identifier: Apache-2.0
 *
 * device_oracle.h - judges batches of HKV on the device at its full speed: what the table must hold is known key by
 * key, and every outcome is compared with it.
 *
 * Known of every key: its presence, value and score. Where one item of a batch has a key, all three are known exactly,
 * by doc/contract.md. Where several have it, the value is one of theirs (values of a batch have four forms), additions
 * are summed, and the score is learned from the next outcome that delivers it. After a batch that evicts without a list
 * the presence of other keys is unknown, until an outcome or an export tells it. insert_and_evict names its victims:
 * then, for every key, was + came - left is 0 or 1 and says whether it is present.
 *
 * Passes, one after another on one stream: count_key, the batch, tally, judge_list, judge_item, judge_together,
 * forget_list, finish. At rest: on_export for every entry, then on_key for every key: no key is there twice, lost,
 * unknown or outside of its buckets.
 */
#ifndef SOAK_HKV_ORACLE_H
#define SOAK_HKV_ORACLE_H

#include "judge/hkv/device_draw.h"
#include "judge/rules.h"
#include "policies/policy.h"

enum { GONE, THERE };                 /* known.presence */
enum { EXACT, ONE_OF_FOUR, UNKNOWN }; /* known.value; known.scored is EXACT or UNKNOWN */

typedef struct hkv_known {
    uint64_t word, score; /* word: of the value; ONE_OF_FOUR: the number of the batch */
    /* the last batch that proved it present; it still is when no later batch evicted without a list */
    uint32_t seen;
    uint8_t presence, value, scored;
} hkv_known;

/* A key, while a batch is judged. */
typedef struct hkv_busy {
    uint64_t sum, leader;
    uint32_t items, came, left, went, same; /* same: found and not removed */
} hkv_busy;

struct hkv_oracle : answers {
    typedef hkv_known known;
    typedef hkv_busy busy;
    /* The table. */
    uint32_t policy = 0, policy_flags = 0, slots = 0;
    uint64_t buckets = 0, seed = 0;
    bool dual = false, admit_always = false;
    /* What is known, and what this batch found. */
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
        key_is = at.take<known>(names.keys);
        key_now = at.take<busy>(names.keys);
        evicted_at = at.take<uint32_t>(1);
        while (strcmp(hd_policy_rows[policy].name, s.policy) != 0) policy++;
        policy_flags = hd_policy_rows[policy].flags;
        slots = info.slots;
        buckets = info.buckets;
        seed = info.seed;
        dual = info.hkv.dual;
        admit_always = info.hkv.admit == HD_ADMIT_ALWAYS;
    }
    void shut(const place &at) const
    {
        void *const all[] = { key_is, key_now, evicted_at };
        for (void *p : all) at.give(p);
        give(at);
    }

    /* ---- A batch ----------------------------------------------------------------------------- */

    /* Draws the scores and flags of a batch; notes its clock. */
    void begin(dice &d, const hd_info &info, const keys_of &)
    {
        scores = (score_kind)d.below(policy_flags & HD_SCORES_NEEDED ? 3 : 4);
        if (all_are_skewed() && scores != NO_SCORES) scores = SMALL;
        salt = d.draw();
        clock = info.now;
        epoch = info.epoch;
        accum = (uint32_t)d.below(3);
        odd_flags = strcmp(info.backend, "cuda") == 0; /* others refuse such a batch */
        inserts = judge_ops[b.op].enters;
        if (scores == NO_SCORES) b.score = nullptr;
        b.raw_scores = b.score && !b.each && judge_scores_items(&judge_ops[b.op]) && d.one_in(6);
        if (accum == HD_EITHER && d.one_in(2)) b.flag = nullptr;
    }
    BOTH void fill(uint64_t i, uint64_t key) const
    {
        if (b.score) ((uint64_t *)b.score)[i] = score_of(scores, i, salt);
        if (b.flag) ((uint8_t *)b.flag)[i] = flag_of(i, salt);
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
    /* The policy that scores the items of the batch. */
    BOTH uint32_t scored_by() const { return b.raw_scores ? (uint32_t)HD_POLICY_custom : policy; }
    BOTH hd_score_in score_in(uint64_t i) const
    {
        return hd_score_in_of(b.score ? b.score[i] : 1, clock + i, clock + i, epoch);
    }
    BOTH bool one_of_four(const uint8_t *p, uint64_t key, uint64_t batch, uint64_t *word) const
    {
        for (uint64_t j = 0; j < 4; j++)
            if (names.is(p, key, *word = word_of(batch, j))) return true;
        return false;
    }
    /* Whether p can be the key's value; *word: its word. */
    BOTH bool can_be(const known &k, uint64_t key, const uint8_t *p, uint64_t *word) const
    {
        if (k.value == ONE_OF_FOUR) return one_of_four(p, key, k.word, word);
        *word = k.value == EXACT ? k.word : names.word_of(p, key);
        return names.is(p, key, *word);
    }
    /* Entries that others spared have scores that no output shows. */
    BOTH bool scores_open() const { return (policy_flags & HD_KEEPS_ORDER) != 0 && !b.raw_scores; }
    BOTH bool score_can_be(const known &k, uint64_t score) const
    {
        return k.scored != EXACT || k.score == score || policy_flags & HD_KEEPS_ORDER;
    }
    BOTH void learn(known &k, uint64_t word, const uint64_t *score) const
    {
        if (k.value != EXACT) k.word = word, k.value = EXACT;
        if (score) k.score = *score, k.scored = EXACT;
    }
    BOTH void is_there(known &k, bool is) const
    {
        k.presence = is ? THERE : GONE;
        if (is) k.seen = number;
    }

    /* ---- Items ------------------------------------------------------------------------------- */

    BOTH void count_key(uint64_t i) const
    {
        uint64_t at = names.number_of(b.key[i]);
        if (at == NO_NUMBER || is_reserved(i, HD_KEY_RESERVED)) return;
        if (add(&key_now[at].items, 1) == 0) key_now[at].leader = i;
    }

    BOTH bool can_answer(hd_outcome o) const
    {
        bool all = scored_by() == HD_POLICY_lfu || (policy_flags & HD_ADMITS_ALL && !b.raw_scores);
        if (o == HD_REFUSED && (admit_always || all)) return false;
        return among(outcomes_of(b.op, PLACED | set_of(HD_REFUSED)), o);
    }
    BOTH bool rescores(hd_outcome o) const
    {
        bool never = among(LOOKUPS, b.op) || b.op == HD_OP_ASSIGN_VALUES || b.op == HD_OP_ERASE ||
                     (b.op == HD_OP_ACCUM_OR_ASSIGN && accum == HD_ASSIGN_NEW);
        return (o == HD_HIT || o == HD_UPDATED) && !never;
    }
    BOTH void rescore(known &k, uint64_t i) const
    {
        bool follows = k.scored == EXACT || b.raw_scores || (policy_flags & HD_ORDER_FREE);
        k.score = follows ? hd_on_hit(scored_by(), NULL, k.score, score_in(i)) : 0;
        k.scored = follows ? EXACT : UNKNOWN;
    }

    /* A delivered value: the key's, or, where several items have the key, one that this batch wrote. */
    BOTH void judge_value(uint64_t i, const known &k, const uint8_t *p, bool many, uint64_t *word) const
    {
        if (can_be(k, b.key[i], p, word)) return;
        bool zero = b.op == HD_OP_FIND_OR_INSERT_PTR,
             ours =
                 many && inserts && (zero ? names.is(p, b.key[i], *word = 0) : one_of_four(p, b.key[i], number, word));
        if (!ours) complain(WRONG_VALUE, i, b.key[i]);
    }

    /* Checks value_out of an item. True: it was delivered, and *word is its word. */
    BOTH bool judge_value_out(uint64_t i, hd_outcome o, const known &k, bool many, uint64_t *word) const
    {
        if (!b.value_out) return false;
        const uint8_t *p = (const uint8_t *)b.value_out + i * names.bytes;
        bool delivers = among(SHOWS_VALUE, b.op) && o == HD_HIT;
        if (delivers)
            judge_value(i, k, p, many, word);
        else
            judge_untouched(i, p, names.bytes);
        return delivers;
    }

    /* Checks its pointer: NULL if the item was refused, or its entry may have been evicted since. */
    BOTH bool judge_ptr(uint64_t i, hd_outcome o, const known &k, bool many, uint64_t *word) const
    {
        const known fresh = { 0, 0, 0, THERE, EXACT, UNKNOWN };
        if (!b.ptr) return false;
        bool delivers = among(SHOWS_PTR, b.op) && (o == HD_HIT || among(PLACED, o)),
             settles = b.op == HD_OP_FIND_OR_INSERT_PTR, null = delivers && settles && evicts() && !b.ptr[i],
             judged = delivers && !null && !(evicts() && many) && has_pointer(i);
        if (judged)
            judge_value(i, among(PLACED, o) ? fresh : k, (const uint8_t *)b.ptr[i], many, word);
        else if (settles && o == HD_REFUSED && b.ptr[i])
            complain(NOT_ITS_TO_WRITE, i, b.key[i]);
        else if (!delivers && !(settles && o == HD_REFUSED))
            judge_untouched(i, &b.ptr[i], 8);
        return judged;
    }

    /* Checks score_out. Where several items rescore a key, their order and so the score are open. */
    BOTH void judge_score_out(uint64_t i, hd_outcome o, const known &k, bool many) const
    {
        if (!b.score_out) return;
        if (!among(SHOWS_SCORE, b.op) || o != HD_HIT) return judge_untouched(i, &b.score_out[i], 8);
        known then = k;
        if (rescores(o)) rescore(then, i);
        bool open = many && (inserts || rescores(o));
        if (!open && !score_can_be(then, b.score_out[i])) complain(WRONG_SCORE, i, b.key[i]);
    }

    /* Checks the outputs of an item. True: a value was delivered, and *word is its word. */
    BOTH bool judge_outputs(uint64_t i, hd_outcome o, const known &k, bool many, uint64_t *word) const
    {
        bool value = judge_value_out(i, o, k, many, word), shown = judge_ptr(i, o, k, many, word);
        judge_score_out(i, o, k, many);
        return value || shown;
    }

    BOTH void judge_outcome(uint64_t i, hd_outcome o, const known &k, bool many) const
    {
        bool there = among(PRESENT, o);
        if (!can_answer(o)) complain(IMPOSSIBLE_OUTCOME, i, b.key[i]);
        if (there && k.presence == GONE && !(many && inserts)) complain(WAS_GONE, i, b.key[i]);
        if (!there && surely(k) && !evicts() && !(many && b.op == HD_OP_ERASE)) complain(WAS_THERE, i, b.key[i]);
    }

    /* Sums up one of several items of a key, for judge_together. */
    BOTH void count_outcome(uint64_t i, hd_outcome o, busy &m) const
    {
        if (among(PLACED, o)) add(&m.came, 1);
        if (o == HD_ERASED) add(&m.went, 1);
        if (o == HD_HIT || o == HD_UPDATED) add(&m.same, 1);
        if (b.op == HD_OP_ACCUM_OR_ASSIGN && (among(PLACED, o) || o == HD_UPDATED)) add(&m.sum, word_of(number, i));
    }

    BOTH void judge_item(uint64_t i) const
    {
        uint64_t key = b.key[i], at = names.number_of(key), word = 0;
        hd_outcome o = (hd_outcome)b.outcome[i];
        known none = { 0, 0, 0, GONE, EXACT, EXACT };
        if (is_reserved(i, HD_KEY_RESERVED) != (o == HD_RESERVED)) return complain(IMPOSSIBLE_OUTCOME, i, key);
        if (o == HD_RESERVED) return (void)judge_outputs(i, o, none, false, &word);
        known &k = key_is[at];
        busy &m = key_now[at];
        bool many = m.items > 1;
        judge_outcome(i, o, k, many);
        bool told = judge_outputs(i, o, k, many, &word);
        if (many) return count_outcome(i, o, m);
        change(i, o, k, m, told ? &word : nullptr);
        m.items = m.left = 0;
    }

    /* ---- What becomes of a key --------------------------------------------------------------- */

    /* Whether a key that was present (1) or absent (0) can be present once or absent after it came and left so
     * often. */
    BOTH static bool adds_up(uint64_t was, uint64_t came, uint64_t left)
    {
        return was + came == left || was + came == left + 1;
    }

    /* Settles the presence of a key that came and left so often. can_be_there, can_be_gone: what the outcomes permit
     * for the time before the first of them. */
    BOTH void settle(uint64_t i, known &k, uint64_t came, uint64_t left, bool can_be_there, bool can_be_gone) const
    {
        bool was = can_be_there && k.presence == THERE && adds_up(1, came, left);
        bool was_not = can_be_gone && !surely(k) && adds_up(0, came, left);
        if (!was && !was_not) return complain(NOT_CONSERVED, i, b.key[i]);
        bool is = was && came == left, may = was_not && came == left + 1;
        if (was && was_not && is != may)
            k.presence = THERE, k.seen = 0; /* unknown */
        else
            is_there(k, is || may);
    }

    BOTH void change_score(uint64_t i, hd_outcome o, known &k) const
    {
        bool shown = (o == HD_HIT || o == HD_UPDATED) && b.score_out && among(SHOWS_SCORE, b.op);
        if (among(PLACED, o))
            k.score = hd_on_insert(scored_by(), NULL, score_in(i)), k.scored = EXACT;
        else if (rescores(o) && !shown)
            rescore(k, i);
        else if (rescores(o))
            k.score = b.score_out[i], k.scored = EXACT;
        else if (shown)
            learn(k, k.word, &b.score_out[i]);
    }

    BOTH void change_value(uint64_t i, hd_outcome o, known &k) const
    {
        if (among(PLACED, o) || (o == HD_UPDATED && among(WRITES_WHOLE, b.op)))
            k.word = b.op == HD_OP_FIND_OR_INSERT_PTR ? 0 : word_of(number, i), k.value = EXACT;
        else if (o == HD_UPDATED && b.op == HD_OP_ACCUM_OR_ASSIGN)
            accumulate(k, word_of(number, i));
    }

    BOTH void change(uint64_t i, hd_outcome o, known &k, const busy &m, const uint64_t *word) const
    {
        bool placed = among(PLACED, o), there = o == HD_HIT || o == HD_UPDATED;
        if (there && word) learn(k, *word, nullptr);
        change_score(i, o, k);
        change_value(i, o, k);
        if (b.op == HD_OP_INSERT_AND_EVICT)
            settle(i, k, placed, m.left, o == HD_UPDATED || m.left, o != HD_UPDATED);
        else
            is_there(k, placed || there);
    }
    BOTH void accumulate(known &k, uint64_t word) const
    {
        k.word = k.value == EXACT ? k.word + word : 0;
        k.value = k.value == EXACT ? EXACT : UNKNOWN;
    }

    /* At most one of several items erases the key, and exactly one when it was present. */
    BOTH void erased_together(uint64_t i, known &k, const busy &m) const
    {
        if (m.went > 1 || (m.went == 0 && surely(k)) || (m.went && k.presence == GONE))
            complain(NOT_CONSERVED, i, b.key[i]);
        k.presence = GONE;
    }

    /* Settles the presence of a key after several items had it. */
    BOTH void presence_together(uint64_t i, known &k, const busy &m) const
    {
        bool none_found = m.same == 0;
        if (b.op == HD_OP_INSERT_AND_EVICT)
            settle(i, k, m.came, m.left, m.came || m.same || m.left, m.came || none_found);
        else if (inserts && !evicts())
            settle(i, k, m.came, 0, m.came == 0 && m.same, m.came || none_found);
        else
            is_there(k, m.came + m.same > 0);
    }

    /* All items of a key; item i is the one that counted first. */
    BOTH void judge_together(uint64_t i) const
    {
        uint64_t at = names.number_of(b.key[i]);
        if (at == NO_NUMBER || key_now[at].items < 2 || key_now[at].leader != i) return;
        known &k = key_is[at];
        /* no item has this number: other items of the key still compare it with theirs */
        busy m = key_now[at], none = { 0, NO_NUMBER, 0, 0, 0, 0, 0 };
        key_now[at] = none;
        if (among(LOOKUPS, b.op)) return;
        if (b.op == HD_OP_ERASE) return erased_together(i, k, m);
        if (!inserts && m.same && m.same != m.items) complain(NOT_CONSERVED, i, b.key[i]);
        presence_together(i, k, m);
        if (m.came + m.same) values_together(k, m);
    }
    BOTH void values_together(known &k, const busy &m) const
    {
        if (b.op == HD_OP_FIND_OR_INSERT_PTR) {
            if (m.came) k.word = 0, k.value = EXACT;
        } else if (b.op == HD_OP_ACCUM_OR_ASSIGN && accum != HD_ASSIGN_NEW) {
            if (m.came) k.word = 0, k.value = evicts() ? UNKNOWN : EXACT;
            accumulate(k, m.sum);
            if (evicts()) k.value = UNKNOWN; /* it may have been evicted and inserted again */
        } else if (among(WRITES_WHOLE, b.op) || m.came) {
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
        uint64_t key = b.list_key[j];
        hd_outcome o;
        if (!in_order(j, &o)) return complain(WRONG_LIST, j, key);
        bool own = o == (b.op == HD_OP_FIND_MISSED ? HD_MISS : HD_REFUSED);
        bool named = names.number_of(key) != NO_NUMBER && (!own || key == b.key[b.list_item[j]]);
        if ((!own && o != HD_EVICTED) || !named) return complain(WRONG_LIST, j, key);
        if (b.op == HD_OP_FIND_MISSED) return;
        if (own)
            judge_refused(j);
        else
            judge_evicted(j);
    }

    BOTH const uint8_t *listed_value(uint64_t j) const { return (const uint8_t *)b.list_value + j * names.bytes; }

    /* A refused item lists its own key, value and score. */
    BOTH void judge_refused(uint64_t j) const
    {
        uint64_t item = b.list_item[j], key = b.list_key[j];
        if (!names.is(listed_value(j), key, word_of(number, item))) complain(WRONG_VALUE, j, key);
        if (!scores_open() && b.list_score[j] != hd_on_insert(scored_by(), NULL, score_in(item)))
            complain(WRONG_SCORE, j, key);
    }

    /* The victim of an eviction, which may have been inserted in this batch. */
    BOTH void judge_evicted(uint64_t j) const
    {
        uint64_t item = b.list_item[j], key = b.list_key[j], at = names.number_of(key), word;
        known &k = key_is[at];
        bool many = key_now[at].items > 0;
        if (!shares_bucket(key, b.key[item])) complain(WRONG_PLACE, j, key);
        bool counts = (policy_flags & HD_COUNTS) != 0; /* what the table counted is not known here */
        if (!admit_always && !counts && b.list_score[j] > hd_admission(scored_by(), NULL, score_in(item)))
            complain(WRONG_SCORE, j, key);
        if (!can_be(k, key, listed_value(j), &word) && !(many && one_of_four(listed_value(j), key, number, &word)))
            complain(WRONG_VALUE, j, key);
        if (!many && !score_can_be(k, b.list_score[j])) complain(WRONG_SCORE, j, key);
        bool again = add(&key_now[at].left, 1) > 0;
        if (many) return;
        if (again) return complain(WRONG_LIST, j, key);
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
        is_there(k, true);
    }
    /* After the export, for every key. there: the number of present keys, and of those with the mask's bits. Turn c
     * of `turns`. */
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
    /* After erase_if of the keys with these bits, or clear (mask 0, bits 0). */
    BOTH void on_erased(uint64_t at, uint64_t mask, uint64_t bits) const
    {
        if ((names.key_of(at) & mask) == bits) key_is[at].presence = GONE;
    }
};

#endif
