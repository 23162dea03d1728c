/* SPDX-License-Identifier: Apache-2.0
 *
 * line.h - a table as small as one can be, which is no HKV: entries in a line without gaps, each a word of a key and a
 * value, found by going along it, under one lock. Only t_designs knows it: it shows what a design has to bring to the
 * judge of kernels (judge/design.h).
 *
 *     word e     key << 32 | value; LINE_NOBODY beyond the last entry. Words lie in parts of `slots`, which are
 *                anywhere in memory; growth brings more parts into use
 *     find       looks
 *     insert     overwrites, or goes behind the last one
 *     erase      the last one moves into the gap
 *
 *   LINE-1  words 0 to n - 1 are entries, the others in use LINE_NOBODY
 *   LINE-2  no key is there twice
 *
 * The kernels, and kernels with one fault each: which fault is a constant of the text.
 */
#ifndef TESTS_LINE_H
#define TESTS_LINE_H

#include "base/op.h"
#include "heddle.h"
#include "simt/simt.h"

#define LINE_NOBODY UINT64_MAX
#define LINE_KEYS   0xfffffffdu /* it can hold those below this */

enum { LINE_PARTS = 4 /* at most */ };

typedef struct line_table {
    uint64_t *part[LINE_PARTS]; /* (slots) each */
    uint32_t *lock;
    uint32_t *n;     /* entries      */
    uint32_t *parts; /* in use       */
    uint32_t slots;
} line_table;

typedef struct line_args {
    line_table t;
    uint32_t op;          /* hd_op ... */
    const uint8_t *each;  /* ... or each item's; NULL: all have op       */
    uint64_t first, last; /* items of this launch */
    const uint64_t *key;
    const uint32_t *value;
    uint8_t *outcome, *found;
    uint32_t *value_out;
    uint64_t *tally;
} line_args;

/* The faults. LINE_LATE_TICKET is none: it delays only the tickets of finds and of items without room, whose exact
 * moment no judge can know. With LINE_PEEK a find does not wait for the lock. */
enum {
    LINE_SOUND,
    LINE_LATE_TICKET,
    LINE_PEEK,
    LINE_NO_LOCK,
    LINE_NO_LOOK,
    LINE_SILENT_MOVE,
    LINE_MOVE_BACK,
    LINE_MOVE_FAR,
    LINE_WRONG_PLACE,
    LINE_OLD_VALUE,
    LINE_NEVER_LETS_GO,
    LINE_BESIDE
};

SIMT_FN uint64_t *line_at(const line_table *t, uint64_t e) { return t->part[e / t->slots] + e % t->slots; }
SIMT_FN uint64_t line_word(uint64_t key, uint32_t value) { return key << 32 | value; }

/* The place of key among the first n; n: it is not there. */
SIMT_FN uint64_t line_find(const line_table *t, uint64_t key, uint64_t n)
{
    uint64_t e = 0;
    while (e < n && simt_ldrlx_u64(line_at(t, e)) >> 32 != key) e++;
    return e;
}

SIMT_FN uint32_t line_insert(const line_table *t, uint64_t i, uint64_t key, uint32_t value, uint64_t n, int fault)
{
    uint64_t e = fault == LINE_NO_LOOK ? n : line_find(t, key, n);
    uint32_t o = e < n ? HD_UPDATED : e < (uint64_t)simt_ldrlx_u32(t->parts) * t->slots ? HD_INSERTED : HD_PENDING;
    if (o != HD_PENDING) simt_strlx_u64(line_at(t, e), line_word(key, value));
    if (o == HD_INSERTED) simt_strlx_u32(t->n, (uint32_t)n + 1);
    if (o != HD_PENDING || fault != LINE_LATE_TICKET) simt_ticket(i, o, 0, fault == LINE_WRONG_PLACE && e ? e - 1 : e);
    return o;
}

SIMT_FN uint32_t line_erase(const line_table *t, uint64_t i, uint64_t key, uint64_t n, int fault)
{
    uint64_t e = line_find(t, key, n), last = n - 1;
    if (e == n) {
        simt_ticket(i, HD_MISS, 0, 0);
        return HD_MISS;
    }
    simt_strlx_u64(line_at(t, e), simt_ldrlx_u64(line_at(t, last)));
    simt_ticket(i, HD_ERASED, 0, e);
    if (e != last && fault != LINE_SILENT_MOVE) {
        uint64_t to = fault == LINE_MOVE_FAR ? e + 1 + (i & 1) * 8 : e, from = fault == LINE_MOVE_BACK ? to : last;
        simt_ticket(UINT64_MAX, 0, from, fault == LINE_MOVE_BACK ? last : to);
    }
    simt_strlx_u64(line_at(t, last), LINE_NOBODY);
    simt_strlx_u32(t->n, (uint32_t)last);
    return HD_ERASED;
}

/* Runs item i if the lock is free. False: try again. */
SIMT_FN bool line_try(const line_args *a, uint64_t i, int fault)
{
    const line_table *t = &a->t;
    uint64_t key = simt_ld_u64(a->key + i);
    uint32_t o = HD_RESERVED;
    if (key < LINE_KEYS) {
        uint32_t op = a->each ? simt_ld_u8(a->each + i) : a->op;
        bool locks = fault != LINE_NO_LOCK && (fault != LINE_PEEK || op != HD_OP_FIND);
        if (locks && simt_cas_u32(t->lock, 0, 1, SIMT_ACQUIRE) != 0) return false;
        uint64_t n = simt_ldrlx_u32(t->n);
        if (op == HD_OP_FIND) {
            uint64_t e = line_find(t, key, n);
            o = e < n ? HD_HIT : HD_MISS;
            if (fault != LINE_LATE_TICKET) simt_ticket(i, o, 0, e);
            if (o == HD_HIT)
                simt_st_u32(a->value_out + i, (uint32_t)simt_ldrlx_u64(line_at(t, e)) + (fault == LINE_OLD_VALUE));
        }
        if (op == HD_OP_INSERT_OR_ASSIGN) o = line_insert(t, i, key, simt_ld_u32(a->value + i), n, fault);
        if (op == HD_OP_ERASE) o = line_erase(t, i, key, n, fault);
        if (fault == LINE_BESIDE && i == 0) simt_strlx_u32(t->n + 1, 7);
        if (locks && fault != LINE_NEVER_LETS_GO) simt_strel_u32(t->lock, 0);
        if ((op == HD_OP_FIND || o == HD_PENDING) && fault == LINE_LATE_TICKET) {
            for (int later = 0; later < 6; later++) simt_backoff(64);
            simt_ticket(i, o, 0, 0);
        }
    }
    simt_st_u8(a->outcome + i, (uint8_t)o);
    if (a->found) simt_st_u8(a->found + i, HD_OP_IN(o, HD_OUTCOMES_FOUND));
    simt_add_u64(a->tally + o, 1, SIMT_RELAXED);
    return true;
}

#define LINE_KERNEL(name, fault)                                                                                    \
    SIMT_KERNEL(line_kernel_##name, line_args, a)                                                                   \
    {                                                                                                               \
        uint64_t step = (uint64_t)simt_blocks() * simt_threads();                                                   \
        for (uint64_t i = a.first + (uint64_t)simt_block() * simt_threads() + simt_thread(); i < a.last; i += step) \
            while (!line_try(&a, i, fault)) simt_backoff(64);                                                       \
    }

/* X(name, fault): the sound one first. */
#define LINE_VARIANTS(X)             \
    X(sound, LINE_SOUND)             \
    X(late_ticket, LINE_LATE_TICKET) \
    X(peek, LINE_PEEK)               \
    X(no_lock, LINE_NO_LOCK)         \
    X(no_look, LINE_NO_LOOK)         \
    X(silent_move, LINE_SILENT_MOVE) \
    X(move_back, LINE_MOVE_BACK)     \
    X(move_far, LINE_MOVE_FAR)       \
    X(wrong_place, LINE_WRONG_PLACE) \
    X(old_value, LINE_OLD_VALUE) X(never_lets_go, LINE_NEVER_LETS_GO) X(beside, LINE_BESIDE)

#endif
