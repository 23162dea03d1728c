/* SPDX-License-Identifier: Apache-2.0
 *
 * answers.h - the common part of the judges that run on the device: a batch's arrays, the counts of its outcomes, and
 * what is wrong with an item.
 *
 * A design's oracle (judge/hkv/device_oracle.h, judge/hive/device_oracle.h) derives from it. The oracle knows for every
 * key what the table must hold. It visits the items of a batch in a few passes; each pass is a loop of independent
 * turns (place.h). Oracles are copied to the place where their passes run, so members are numbers and pointers to
 * memory there.
 */
#ifndef SOAK_ANSWERS_H
#define SOAK_ANSWERS_H

#include "judge/device/draw.h"

enum wrong_kind {
    IMPOSSIBLE_OUTCOME,
    WAS_GONE,
    WAS_THERE,
    WRONG_VALUE,
    WRONG_SCORE,
    WRONG_FOUND,
    NOT_ITS_TO_WRITE,
    WRONG_LIST,
    WRONG_NEIGHBOUR,
    NOT_CONSERVED,
    WRONG_PLACE,
    WRONG_SIZE,
    WRONG_KINDS
};
static const char *const wrong_names[] = {
    "an outcome that cannot be",
    "an answer for a key that was gone",
    "a key that was there is not found",
    "a wrong value",
    "a wrong score",
    "found, or not, against its outcome",
    "an output that was to be left alone",
    "a wrong list",
    "another entry than the next one in order",
    "came and went do not add up",
    "a key outside its buckets",
    "a wrong size",
};

struct complaint {
    uint64_t batch, op, item, key;
};

enum { LEFT_ALONE = 0xa5, BEHIND = 64 /* bytes after an output's end that are checked */ };
enum { ROWS_MOST = 4 /* of an item of range */ };

/* ---- Sets of operations, and of outcomes: a bit each ------------------------------------------ */

static BOTH constexpr uint32_t set_of() { return 0; }
template <class first, class... others> static BOTH constexpr uint32_t set_of(first one, others... more)
{
    return 1u << one | set_of(more...);
}
static BOTH inline bool among(uint32_t set, uint32_t one) { return one < 32 && (set >> one & 1); }

static constexpr uint32_t LOOKUPS = set_of(HD_OP_FIND, HD_OP_CONTAINS, HD_OP_FIND_PTR, HD_OP_FIND_MISSED);
static constexpr uint32_t ASSIGNS = set_of(HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES, HD_OP_ASSIGN_SCORES);
static constexpr uint32_t UPSERTS = set_of(HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_AND_EVICT);
static constexpr uint32_t FINDS_OR_INSERTS = set_of(HD_OP_FIND_OR_INSERT, HD_OP_FIND_OR_INSERT_PTR);
/* They write the whole value of an entry; they deliver a hit's score, value, pointer. */
static constexpr uint32_t WRITES_WHOLE = UPSERTS | set_of(HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES);
static constexpr uint32_t SHOWS_SCORE =
    set_of(HD_OP_FIND, HD_OP_FIND_MISSED, HD_OP_FIND_PTR, HD_OP_TOUCH, HD_OP_FIND_OR_INSERT);
static constexpr uint32_t SHOWS_VALUE = SHOWS_SCORE & ~set_of(HD_OP_FIND_PTR);
static constexpr uint32_t SHOWS_PTR = set_of(HD_OP_FIND_PTR, HD_OP_TOUCH, HD_OP_FIND_OR_INSERT_PTR);

static BOTH inline bool is_ordered(int op)
{
    return op == HD_OP_PREDECESSOR || op == HD_OP_SUCCESSOR || op == HD_OP_RANGE;
}

static constexpr uint32_t PRESENT = set_of(HD_HIT, HD_UPDATED, HD_ERASED), PLACED = set_of(HD_INSERTED, HD_EVICTED);

struct answers {
    enum : uint64_t { TURNS = 32768 };
    naming names;
    uint64_t *fate = nullptr, *fates = nullptr; /* (HD_OUTCOME_COUNT): of this batch; of all */
    uint64_t *wrong = nullptr;                  /* (WRONG_KINDS) */
    complaint *first = nullptr;                 /* (WRONG_KINDS) */
    hd_batch b;                                 /* its arrays are in memory of the place */
    uint32_t number = 0, accum = 0;             /* of the batch, from 1; hd_accum of every item */
    bool odd_flags = false;                     /* some flags are no hd_accum */

    explicit answers(naming n) : names(n) { memset(&b, 0, sizeof b); }
    void take(const place &at)
    {
        fate = at.take<uint64_t>(HD_OUTCOME_COUNT);
        fates = at.take<uint64_t>(HD_OUTCOME_COUNT);
        wrong = at.take<uint64_t>(WRONG_KINDS);
        first = at.take<complaint>(WRONG_KINDS);
    }
    void give(const place &at) const
    {
        void *const all[] = { fate, fates, wrong, first };
        for (void *p : all) at.give(p);
    }

    /* Of key_out and value_out. */
    BOTH uint64_t rows_of_item() const { return b.op == HD_OP_RANGE && !b.each ? b.limit : 1; }
    BOTH hd_op op_of(uint64_t i) const { return b.each && i < b.n ? (hd_op)b.each[i] : b.op; }
    /* The flag of an item of accum_or_assign: on a device now and then one that is no hd_accum. */
    BOTH uint8_t flag_of(uint64_t i, uint64_t salt) const
    {
        return odd_flags && hd_mix64(i * GOLDEN - salt) % 16 == 0 ? 3 : (uint8_t)accum;
    }
    /* Whether item i must be RESERVED. */
    BOTH bool is_reserved(uint64_t i, uint64_t keys) const
    {
        return b.key[i] >= keys || (op_of(i) == HD_OP_ACCUM_OR_ASSIGN && b.flag && b.flag[i] > HD_EITHER);
    }
    BOTH void complain(wrong_kind kind, uint64_t item, uint64_t key) const
    {
        complaint c = { number, (uint64_t)op_of(item), item, key };
        if (add(&wrong[kind], 1) == 0) first[kind] = c;
    }

    /* The outcomes that an item of op can have; absent: those of an insertion whose key is missing. */
    BOTH uint32_t outcomes_of(hd_op op, uint32_t absent) const
    {
        const uint32_t or_missing = set_of(HD_MISS);
        if (among(LOOKUPS, op) || op == HD_OP_TOUCH || is_ordered(op)) return or_missing | set_of(HD_HIT);
        if (among(ASSIGNS, op) || (op == HD_OP_ACCUM_OR_ASSIGN && accum == HD_ADD))
            return or_missing | set_of(HD_UPDATED);
        if (among(UPSERTS, op) || (op == HD_OP_ACCUM_OR_ASSIGN && accum == HD_EITHER))
            return absent | set_of(HD_UPDATED);
        if (among(FINDS_OR_INSERTS, op) || op == HD_OP_ACCUM_OR_ASSIGN) return absent | set_of(HD_HIT);
        return op == HD_OP_ERASE ? or_missing | set_of(HD_ERASED) : 0;
    }

    BOTH uint64_t word_of(uint64_t batch, uint64_t i) const { return hd_mix64(batch * 4 + (i & 3) + GOLDEN) | 1; }

    /* Turn c of `turns`: with few turns, few atomic additions meet. No batch unlocks: found follows the outcome. */
    BOTH void tally(uint64_t c, uint64_t turns) const
    {
        uint64_t of[HD_OUTCOME_COUNT] = { 0 };
        for (uint64_t i = c; i < b.n; i += turns) {
            if (b.outcome[i] < HD_OUTCOME_COUNT) of[b.outcome[i]]++;
            if (((const uint8_t *)b.found)[i] != among(PRESENT, b.outcome[i])) complain(WRONG_FOUND, i, b.key[i]);
        }
        for (int o = 0; o < HD_OUTCOME_COUNT; o++)
            if (of[o]) add(&fate[o], of[o]);
    }

    BOTH bool left_alone(const void *p, uint64_t bytes) const
    {
        for (uint64_t at = 0; at < bytes; at++)
            if (((const uint8_t *)p)[at] != LEFT_ALONE) return false;
        return true;
    }

    /* Checks an output that item i must not write. */
    BOTH void judge_untouched(uint64_t i, const void *p, uint64_t bytes) const
    {
        if (!left_alone(p, bytes)) complain(NOT_ITS_TO_WRITE, i, b.key[i]);
    }

    /* Whether item i has a pointer to a value. It must have one. */
    BOTH bool has_pointer(uint64_t i) const
    {
        if (b.ptr[i] && !left_alone(&b.ptr[i], sizeof b.ptr[i])) return true;
        complain(WRONG_VALUE, i, b.key[i]);
        return false;
    }

    BOTH uint64_t listed() const { return *b.count < b.n ? *b.count : b.n; }
    /* Whether entry j of a list in item order names an item of the batch, in order; *o: the item's outcome. */
    BOTH bool in_order(uint64_t j, hd_outcome *o) const
    {
        uint64_t item = b.list_item[j];
        *o = item < b.n ? (hd_outcome)b.outcome[item] : HD_OUTCOME_COUNT;
        return *o != HD_OUTCOME_COUNT && (j == 0 || b.list_item[j - 1] < item);
    }

    /* Ends a batch; to_list: how many entries its list must have. */
    BOTH void close(bool lists, uint64_t to_list) const
    {
        uint64_t all = 0;
        if (lists && *b.count != to_list) complain(WRONG_LIST, 0, *b.count);
        if (b.value_out && !left_alone((const uint8_t *)b.value_out + rows_of_item() * b.n * names.bytes, BEHIND))
            complain(NOT_ITS_TO_WRITE, b.n, 0);
        if (b.score_out && !left_alone(b.score_out + b.n, BEHIND)) complain(NOT_ITS_TO_WRITE, b.n, 0);
        if (!left_alone(b.found + b.n, BEHIND)) complain(NOT_ITS_TO_WRITE, b.n, 0);
        if (!left_alone(b.outcome + b.n, BEHIND)) complain(NOT_ITS_TO_WRITE, b.n, 0);
        for (int o = 0; o < HD_OUTCOME_COUNT; o++) {
            all += fate[o];
            fates[o] += fate[o];
            fate[o] = 0;
        }
        if (all != b.n) complain(IMPOSSIBLE_OUTCOME, all, 0);
    }
};

#endif
