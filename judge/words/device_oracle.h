/* SPDX-License-Identifier: Apache-2.0
 *
 * device_oracle.h - judges batches of dictionaries on the device. A dictionary evicts nothing: the presence of every
 * key is known after every batch, even where many items, each with its own operation, had one key.
 *
 * A design has a struct `where`, which knows its shape and where entries may be:
 *
 *   shape, open, look    the shape of its tables; before the first batch; the table has another number of buckets
 *   slots                of a bucket
 *   may_be_in            whether a key may be in a bucket
 *   may_lack_room        whether an item may be PENDING in a batch of n items, when there were so many entries before
 *
 * Presence. For every key, was + came - went is 0 or 1 and says whether it is present; came and went are its items with
 * INSERTED and ERASED. An item that says that the key is present (HIT, UPDATED, ERASED) requires that it was or came;
 * an item that says that it is absent (MISS, PENDING, INSERTED) requires that it was not or went. When the sums are
 * right, some order of the items explains all outcomes. PENDING changes nothing, and requires that the table may
 * have lacked room.
 *
 * Values. Where one item has a key, the value is known exactly. Where several have it, the value is one that they wrote
 * (values of a batch have four forms) plus a number of additions. All items add the same word, so the value tells how
 * many additions it contains. When there were additions only, it is known exactly again.
 *
 * Passes: count_key, the batch, tally, meet, judge_missed, judge_item, judge_together, finish. At rest: on_export for
 * every entry, then on_key for every key. Batches with distinct keys need neither count_key nor meet.
 */
#ifndef SOAK_WORDS_ORACLE_H
#define SOAK_WORDS_ORACLE_H

#include "judge/words/device_draw.h"

/* What a value may have been before additions: bits 0 to 3: word_of(batch, 0 to 3); SUM: an addition to an absent
 * key; KNOWN: word_known.word itself. */
enum { FOUR = 15, SUM = 16, KNOWN = 32 };

/* begun 0: the key is absent. Otherwise the value is one of `begun` plus `least` to `most` additions. */
typedef struct word_known {
    uint32_t word; /* KNOWN: of the value; else the batch that wrote it */
    uint32_t least, most, begun;
} word_known;

/* A key, while a batch is judged. */
typedef struct word_busy {
    uint64_t leader;
    uint32_t items, came, went, adds, wrote, listed; /* wrote: bits of word_known.begun; listed: by an export */
} word_busy;

template <class where> struct words_oracle : answers {
    typedef word_known known;
    typedef word_busy busy;
    typedef typename where::shape shape;
    where w;
    known *key_is = nullptr;     /* (names.keys) */
    busy *key_now = nullptr;     /* (names.keys) */
    uint64_t *entries = nullptr; /* (1) entries in the table before the batch */
    shares mix;                  /* of a mixed batch */
    uint64_t salt = 0;
    uint32_t step = 0;    /* what every item adds */
    bool crowded = false; /* keys may repeat in the batch */

    explicit words_oracle(naming n) : answers(n) {}
    void open(const place &at, const shape &s, const hd_info &info)
    {
        take(at);
        w.open(s, info);
        step = (uint32_t)hd_mix64(s.seed + s.factor) | 1;
        key_is = at.take<known>(names.keys);
        key_now = at.take<busy>(names.keys);
        entries = at.take<uint64_t>(1);
    }
    void shut(const place &at) const
    {
        void *const all[] = { key_is, key_now, entries };
        for (void *p : all) at.give(p);
        give(at);
    }

    /* ---- A batch ----------------------------------------------------------------------------- */

    void begin(dice &d, const hd_info &info, const keys_of &k)
    {
        w.look(info);
        salt = d.draw();
        accum = (uint32_t)d.below(3);
        odd_flags = strcmp(info.backend, "cuda") == 0; /* others refuse such a batch */
        crowded = k.kind != SERIES && !is_ordered(b.op);
        if (is_ordered(b.op)) {
            b.limit = (uint32_t)d.below(ROWS_MOST) + 1;
            b.inclusive = d.one_in(2);
        }
        if (accum == HD_EITHER && d.one_in(2)) b.flag = nullptr;
        b.score = nullptr;
    }
    BOTH uint32_t word(uint64_t i) const { return op_of(i) == HD_OP_ACCUM_OR_ASSIGN ? step : four(number, i); }
    BOTH void fill(uint64_t i, uint64_t key) const
    {
        if (b.each) ((uint8_t *)b.each)[i] = (uint8_t)mix.op_of(hd_mix64(i * GOLDEN ^ salt));
        if (b.flag) ((uint8_t *)b.flag)[i] = flag_of(i, salt);
        if (b.key2) ((uint64_t *)b.key2)[i] = key + hd_mix64(i ^ salt) % 64 - 2;
        names.write((uint8_t *)b.value + i * names.bytes, key, word(i));
    }
    void before(const place &at) const
    {
        const words_oracle me = *this;
        if (crowded) at.each(b.n, [=] BOTH(uint64_t i) { me.count_key(i); });
    }
    void judge(const place &at) const
    {
        const words_oracle me = *this;
        at.each(TURNS, [=] BOTH(uint64_t c) { me.tally(c, TURNS); });
        if (crowded) at.each(b.n, [=] BOTH(uint64_t i) { me.meet(i); });
        if (lists()) at.each(b.n, [=] BOTH(uint64_t j) { me.judge_missed(j); });
        at.each(b.n, [=] BOTH(uint64_t i) { me.judge_item(i); });
        if (crowded) at.each(b.n, [=] BOTH(uint64_t i) { me.judge_together(i); });
        at.each(1, [=] BOTH(uint64_t) { me.finish(); });
    }
    BOTH bool lists() const { return !b.each && b.op == HD_OP_FIND_MISSED; }

    /* ---- Values ------------------------------------------------------------------------------ */

    BOTH uint32_t four(uint64_t batch, uint64_t i) const { return (uint32_t)word_of(batch, i); }

    /* Whether the value at p is one of k; *word: its word. Values of 2 bytes have no additions. */
    BOTH bool one_of(const known &k, uint64_t key, const uint8_t *p, uint32_t *word) const
    {
        for (int j = 0; j < 6; j++) {
            if (!(k.begun >> j & 1)) continue;
            uint32_t first = j < 4 ? four(k.word, (uint64_t)j) : 1u << j == SUM ? step : k.word;
            if (names.grain == 1 && names.is(p, key, *word = first)) return true;
            if (names.grain == 1) continue;
            uint64_t whole = names.word_of(p, key);
            if (names.grain == 8 && whole >> 52) continue; /* so many additions there are not */
            *word = (uint32_t)whole;
            uint32_t times = (*word - first) * (uint32_t)inverse_of(step);
            if (times >= k.least && times <= k.most) return true;
        }
        return false;
    }
    BOTH known just(uint32_t word) const { return known{ word, 0, 0, KNOWN }; }
    BOTH void add_to(known &k, uint32_t times) const
    {
        if (k.begun == KNOWN)
            k.word += times * step;
        else
            k.least += times, k.most += times;
    }

    /* ---- Items ------------------------------------------------------------------------------- */

    BOTH void count_key(uint64_t i) const
    {
        uint64_t at = names.number_of(b.key[i]);
        if (at == NO_NUMBER || is_reserved(i, names.limit)) return;
        if (add(&key_now[at].items, 1) == 0) key_now[at].leader = i;
    }
    BOTH bool writes(uint64_t i, hd_outcome o) const
    {
        return o == HD_INSERTED || (o == HD_UPDATED && op_of(i) != HD_OP_ACCUM_OR_ASSIGN);
    }
    BOTH bool adds(uint64_t i) const { return op_of(i) == HD_OP_ACCUM_OR_ASSIGN; }

    /* Sums up what the items of one key did. */
    BOTH void meet(uint64_t i) const
    {
        uint64_t at = names.number_of(b.key[i]);
        hd_outcome o = (hd_outcome)b.outcome[i];
        if (at == NO_NUMBER || key_now[at].items < 2) return;
        busy &m = key_now[at];
        if (o == HD_INSERTED) add(&m.came, 1);
        if (o == HD_ERASED) add(&m.went, 1);
        if (writes(i, o)) put_bits(&m.wrote, adds(i) ? (uint32_t)SUM : 1u << (i & 3));
        if (o == HD_UPDATED && adds(i)) add(&m.adds, 1);
    }

    BOTH void judge_outcome(uint64_t i, hd_outcome o, const known &k, const busy &m) const
    {
        bool there = among(PRESENT, o);
        if (!among(outcomes_of(op_of(i), set_of(HD_INSERTED, HD_PENDING)), o))
            complain(IMPOSSIBLE_OUTCOME, i, b.key[i]);
        if (there && !k.begun && !m.came) complain(WAS_GONE, i, b.key[i]);
        if (!there && k.begun && !m.went) complain(WAS_THERE, i, b.key[i]);
    }

    /* A delivered value: the key's value before the batch, or one that this batch wrote. */
    BOTH void judge_value(uint64_t i, const known &k, const busy &m, const uint8_t *p, uint32_t *word) const
    {
        known was = k, brought = { number, 0, m.adds, m.wrote };
        was.most += m.adds;
        if (!one_of(was, b.key[i], p, word) && !one_of(brought, b.key[i], p, word)) complain(WRONG_VALUE, i, b.key[i]);
    }

    /* Checks the outputs of an item. True: a value was delivered, and *word is its word. */
    BOTH bool judge_outputs(uint64_t i, hd_outcome o, const known &k, const busy &m, uint32_t *word) const
    {
        hd_op op = op_of(i);
        bool with_value = o == HD_HIT && (op == HD_OP_FIND || op == HD_OP_FIND_MISSED || op == HD_OP_FIND_OR_INSERT),
             with_ptr = o == HD_HIT && op == HD_OP_FIND_PTR, there = with_ptr && has_pointer(i);
        const uint8_t *p = (const uint8_t *)b.value_out + i * names.bytes;
        if (with_value)
            judge_value(i, k, m, p, word);
        else
            judge_untouched(i, p, names.bytes);
        if (there)
            judge_value(i, k, m, (const uint8_t *)b.ptr[i], word);
        else if (!with_ptr)
            judge_untouched(i, &b.ptr[i], 8);
        if (with_value || with_ptr ? b.score_out[i] != 0 : !left_alone(&b.score_out[i], 8))
            complain(WRONG_SCORE, i, b.key[i]);
        return with_value || there;
    }

    /* ---- Ordered operations, if keys are their numbers ------------------------------------------------- */

    /* The first present key from `at` on, up or down, or NO_NUMBER; none is looked at from `end` on. */
    BOTH uint64_t next_from(uint64_t at, bool up, uint64_t end) const
    {
        while (at < names.keys && at != end && !key_is[at].begun) at += up ? 1 : UINT64_MAX;
        return at < names.keys && at != end ? at : NO_NUMBER;
    }
    BOTH bool entry_is(uint64_t row, uint64_t at) const
    {
        uint32_t word;
        return b.key_out[row] == at && one_of(key_is[at], at, (const uint8_t *)b.value_out + row * names.bytes, &word);
    }
    BOTH bool row_is_left(uint64_t row) const
    {
        return left_alone(&b.key_out[row], 8) &&
               left_alone((const uint8_t *)b.value_out + row * names.bytes, names.bytes);
    }
    BOTH void judge_neighbour(uint64_t i, hd_outcome o) const
    {
        bool up = op_of(i) == HD_OP_SUCCESSOR;
        uint64_t key = b.key[i], from = b.inclusive ? key : up ? key + 1 : key - 1;
        if (!up && from != UINT64_MAX && from >= names.keys) from = names.keys - 1;
        uint64_t at = o == HD_RESERVED ? NO_NUMBER : next_from(from, up, NO_NUMBER);
        if (o != HD_RESERVED && (o == HD_HIT) != (at != NO_NUMBER)) complain(WRONG_NEIGHBOUR, i, key);
        if (o == HD_HIT && at != NO_NUMBER ? !entry_is(i, at) : !row_is_left(i)) complain(WRONG_NEIGHBOUR, i, key);
    }
    BOTH void judge_range(uint64_t i, hd_outcome o) const
    {
        uint64_t key = b.key[i], last = b.key2[i], rows = 0, row = i * b.limit;
        bool none = o == HD_RESERVED || last < key;
        uint64_t end = last == UINT64_MAX ? NO_NUMBER : last + 1, at = none ? NO_NUMBER : next_from(key, true, end);
        if (o != HD_RESERVED && (o == HD_HIT) != (at != NO_NUMBER)) complain(WRONG_NEIGHBOUR, i, key);
        for (; at != NO_NUMBER && rows < b.limit; rows++, at = next_from(at + 1, true, end))
            if (!entry_is(row + rows, at)) complain(WRONG_NEIGHBOUR, i, key);
        if (b.rows[i] != rows || b.more[i] != (at != NO_NUMBER)) complain(WRONG_NEIGHBOUR, i, key);
        for (; rows < b.limit; rows++)
            if (!row_is_left(row + rows)) complain(WRONG_NEIGHBOUR, i, key);
    }
    BOTH void judge_ordered(uint64_t i, hd_outcome o) const
    {
        if (is_reserved(i, names.limit) != (o == HD_RESERVED)) return complain(IMPOSSIBLE_OUTCOME, i, b.key[i]);
        if (b.op == HD_OP_RANGE)
            judge_range(i, o);
        else
            judge_neighbour(i, o);
    }

    BOTH void judge_item(uint64_t i) const
    {
        const known none = { 0, 0, 0, 0 };
        const busy alone = { i, 1, 0, 0, 0, 0, 0 };
        uint64_t key = b.key[i], at = names.number_of(key);
        hd_outcome o = (hd_outcome)b.outcome[i];
        uint32_t word = 0;
        if (!b.each && is_ordered(b.op)) return judge_ordered(i, o);
        if (is_reserved(i, names.limit) != (o == HD_RESERVED)) return complain(IMPOSSIBLE_OUTCOME, i, key);
        if (o == HD_RESERVED) return (void)judge_outputs(i, o, none, alone, &word);
        known &k = key_is[at];
        const busy m = crowded ? key_now[at] : alone;
        judge_outcome(i, o, k, m);
        bool told = judge_outputs(i, o, k, m, &word);
        if (m.items > 1) return;
        if (crowded) key_now[at].items = 0;
        change(i, o, k, told ? &word : nullptr);
    }

    /* ---- What becomes of a key --------------------------------------------------------------- */

    /* The key's only item. */
    BOTH void change(uint64_t i, hd_outcome o, known &k, const uint32_t *told) const
    {
        if (o == HD_HIT && told)
            k = just(*told);
        else if (writes(i, o))
            k = just(word(i));
        else if (o == HD_UPDATED)
            add_to(k, 1);
        else if (o != HD_HIT)
            k.begun = 0;
    }

    /* All items of a key; item i is the one that counted first. */
    BOTH void judge_together(uint64_t i) const
    {
        uint64_t at = names.number_of(b.key[i]);
        if (at == NO_NUMBER || key_now[at].items < 2 || key_now[at].leader != i) return;
        known &k = key_is[at];
        /* no item has this number: other items of the key still compare it with theirs */
        const busy m = key_now[at], none = { NO_NUMBER, 0, 0, 0, 0, 0, 0 };
        key_now[at] = none;
        uint64_t had = (k.begun != 0) + (uint64_t)m.came;
        if (had < m.went || had - m.went > 1) complain(NOT_CONSERVED, i, b.key[i]);
        if (had <= m.went) k.begun = 0;
        /* all others came later */
        else if (m.wrote == SUM && m.came == 1 && m.went == 0)
            k = just(step * (1 + m.adds));
        else if (m.wrote)
            k = known{ number, 0, m.adds, m.wrote };
        else
            add_to(k, m.adds);
    }

    /* Entry j of the list of missed keys. */
    BOTH void judge_missed(uint64_t j) const
    {
        hd_outcome o;
        if (j < listed() && (!in_order(j, &o) || o != HD_MISS || b.list_key[j] != b.key[b.list_item[j]]))
            complain(WRONG_LIST, j, b.list_key[j]);
    }

    BOTH void finish() const
    {
        uint64_t came = fate[HD_INSERTED], went = fate[HD_ERASED];
        if (fate[HD_PENDING] && !w.may_lack_room(*entries, b.n)) complain(IMPOSSIBLE_OUTCOME, b.n, *entries);
        *entries += came - went;
        close(lists(), fate[HD_MISS]);
    }

    /* ---- At rest ----------------------------------------------------------------------------- */

    /* Entry j of an export. */
    BOTH void on_export(uint64_t j) const
    {
        if (j >= listed()) return;
        uint64_t slot = b.list_item[j], key = b.list_key[j], at = names.number_of(key);
        uint32_t word = 0;
        if (slot - b.start >= b.n || (j && b.list_item[j - 1] >= slot) || at == NO_NUMBER)
            return complain(WRONG_LIST, j, key);
        if (add(&key_now[at].listed, 1)) return complain(NOT_CONSERVED, j, key);
        if (!key_is[at].begun) complain(WAS_GONE, j, key);
        if (!w.may_be_in(key, slot / w.slots())) complain(WRONG_PLACE, j, key);
        if (!one_of(key_is[at], key, (const uint8_t *)b.list_value + j * names.bytes, &word))
            complain(WRONG_VALUE, j, key);
        if (b.list_score[j]) complain(WRONG_SCORE, j, key);
        key_is[at] = just(word);
    }
    /* After the export, for every key. there: the number of present keys, and of those with the mask's bits. Turn c
     * of `turns`. */
    BOTH void on_key(uint64_t c, uint64_t turns, uint64_t mask, uint64_t bits, uint64_t *there) const
    {
        uint64_t all = 0, some = 0;
        for (uint64_t at = c; at < names.keys; at += turns) {
            uint64_t key = names.key_of(at);
            if (key_now[at].listed)
                all++, some += (key & mask) == bits;
            else if (key_is[at].begun)
                complain(WAS_THERE, at, key), key_is[at].begun = 0;
            key_now[at].listed = 0;
        }
        if (all) add(&there[0], all);
        if (some) add(&there[1], some);
    }
    /* The least and the greatest of the present keys: ends[0] becomes ~least, ends[1] the greatest + 1. Turn c of
     * `turns`. */
    BOTH void on_ends(uint64_t c, uint64_t turns, uint64_t *ends) const
    {
        uint64_t low = 0, high = 0;
        for (uint64_t at = c; at < names.keys; at += turns) {
            uint64_t key = names.key_of(at);
            if (!key_is[at].begun) continue;
            if (~key > low) low = ~key;
            if (key + 1 > high) high = key + 1;
        }
        raise(&ends[0], low);
        raise(&ends[1], high);
    }
    /* After erase_if of the keys with these bits, or clear (mask 0, bits 0). */
    BOTH void on_erased(uint64_t at, uint64_t mask, uint64_t bits) const
    {
        if ((names.key_of(at) & mask) == bits) key_is[at].begun = 0;
    }
};

#endif
