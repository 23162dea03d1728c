/* SPDX-License-Identifier: Apache-2.0
 *
 * words.c - see words.h.
 */
#include "ref/words/words.h"

#include <string.h>

#include "base/design.h"
#include "base/op.h"
#include "policies/predicates/predicate.h"
#include "ref/accum.h"
#include "ref/rule.h"

/* ---- Slots ----------------------------------------------------------------------------------- */

static uint64_t read_word(const word_table *t, uint64_t e)
{
    const void *slot = t->slot(t->v, e);
    return t->half == 16 ? *(const uint32_t *)slot : *(const uint64_t *)slot;
}

/* What the key field says: a key, or the sign of a slot without one. */
static uint64_t key_in(const word_table *t, uint64_t e)
{
    return t->half == 64 ? read_word(t, e) : word_key_of(t->half, read_word(t, e));
}
static bool has_key(const word_table *t, uint64_t e) { return key_in(t, e) < word_keys(t->half); }

static void *value_at(const word_table *t, uint64_t e)
{
    void *slot = t->slot(t->v, e);
    return t->half == 64 ? (uint64_t *)slot + WORD_APART : slot;
}

static uint64_t read_value(const word_table *t, uint64_t e)
{
    return t->half == 64 ? *(const uint64_t *)value_at(t, e) : word_value_of(t->half, read_word(t, e));
}

/* Of a slot that has a key. */
static void write_value(const word_table *t, uint64_t e, uint64_t value)
{
    HD_ASSERT(has_key(t, e), "a slot without a key gets a value");
    if (t->half == 64)
        *(uint64_t *)value_at(t, e) = value;
    else if (t->half == 32)
        *(uint64_t *)value_at(t, e) = word_pack(t->half, key_in(t, e), value);
    else
        *(uint32_t *)value_at(t, e) = (uint32_t)word_pack(t->half, key_in(t, e), value);
}

size_t word_next(const word_table *t, hd_entry *e, size_t most)
{
    size_t n = 0;
    for (uint64_t i = e->slot; i < t->places && n < most; i++) {
        if (has_key(t, i)) e[n++] = (hd_entry){ i, key_in(t, i), 0, value_at(t, i) };
    }
    return n;
}

uint64_t word_value_in(uint32_t half, const hd_entry *e)
{
    uint64_t value = 0;
    memcpy(&value, e->value, half / 8);
    return value;
}

/* ---- One item -------------------------------------------------------------------------------- */

const char *word_unsupported(hd_op op)
{
    if (HD_OP_IN(op, HD_OPS_ORDERED)) return HD_UNORDERED;
    switch ((int)op) {
    case HD_OP_TOUCH:
    case HD_OP_ASSIGN_SCORES: return "a dictionary keeps no scores";
    case HD_OP_INSERT_AND_EVICT: return "a dictionary does not evict";
    case HD_OP_LOCK_KEYS:
    case HD_OP_UNLOCK_KEYS: return "a dictionary keeps no pins";
    case HD_OP_PROMOTE: return "a dictionary has no tiers of values";
    default: return NULL;
    }
}

/* What the rule says happens to the key in slot e. */
static void change_found(const word_table *t, const word_item *it, const hd_rule *r, uint64_t e)
{
    uint64_t value = read_value(t, e);
    if (r->value == HD_REPLACE_VALUE) value = it->value;
    if (r->value == HD_ADD_VALUE) hd_accum_add(it->elem, &value, &it->value, t->half / 8);
    if (r->besides == HD_REMOVE)
        t->remove(t->v, e);
    else
        write_value(t, e, value);
    HD_ASSERT(r->besides != HD_REMOVE || t->find(t->v, it->key) == WORD_NOWHERE, "a key is there that was erased");
}

static bool is_reserved(const word_table *t, const word_item *it)
{
    return it->key >= word_keys(t->half) || hd_flag_is_none(it->op, it->flag);
}

void word_apply(const word_table *t, const word_item *it, word_seen *seen)
{
    memset(seen, 0, sizeof *seen);
    seen->entry = WORD_NOWHERE;
    seen->outcome = HD_RESERVED;
    if (is_reserved(t, it)) return;
    const hd_rule *r = hd_rule_of(it->op, it->flag);
    uint64_t e = t->find(t->v, it->key);
    seen->outcome = HD_MISS;
    if (e != WORD_NOWHERE) {
        seen->outcome = r->found;
        change_found(t, it, r, e);
    } else if (r->insert) {
        e = t->place(t->v, it->key, it->value);
        seen->outcome = e == WORD_NOWHERE ? HD_PENDING : HD_INSERTED;
    }
    if (e == WORD_NOWHERE || seen->outcome == HD_ERASED) return;
    HD_ASSERT(e < t->places && key_in(t, e) == it->key, "the key is elsewhere");
    seen->entry = e;
    seen->value = read_value(t, e);
}

const char *word_accept(const word_table *t, const word_item *it, const word_seen *seen, uint64_t busy)
{
    bool reserved = is_reserved(t, it);
    if (reserved != (seen->outcome == HD_RESERVED))
        return reserved ? "a reserved key or flag must be answered RESERVED"
                        : "RESERVED, but the key is an ordinary one";
    if (reserved) return NULL;
    const hd_rule *r = hd_rule_of(it->op, it->flag);
    uint64_t e = t->find(t->v, it->key);
    if (e == WORD_NOWHERE && r->insert) return t->absent(t->v, it, seen, busy);
    if (e == WORD_NOWHERE) return seen->outcome == HD_MISS ? NULL : "not a miss, but the key was absent";
    if (seen->outcome != r->found) return "the key was present, and the outcome is another";
    if (seen->shown && seen->value != read_value(t, e)) return "delivered a wrong value";
    change_found(t, it, r, e);
    return NULL;
}

/* ---- Keyed batches --------------------------------------------------------------------------- */

static word_item item_at(const word_table *t, const hd_batch *b, uint64_t i)
{
    uint32_t bytes = t->half / 8;
    word_item it = { b->each ? (hd_op)b->each[i] : b->op, b->elem, b->flag ? b->flag[i] : HD_EITHER, b->key[i], 0 };
    if (b->value) memcpy(&it.value, (const char *)b->value + i * bytes, bytes);
    return it;
}

static void deliver(const word_table *t, const hd_batch *b, uint64_t i, const word_item *it, const word_seen *seen)
{
    uint32_t bytes = t->half / 8;
    if (b->outcome) b->outcome[i] = (uint8_t)seen->outcome;
    if (b->found) b->found[i] = HD_OP_IN(seen->outcome, HD_OUTCOMES_FOUND);
    if (seen->outcome != HD_HIT) return;
    bool value = it->op == HD_OP_FIND || it->op == HD_OP_FIND_MISSED || it->op == HD_OP_FIND_OR_INSERT;
    if (value && b->value_out) memcpy((char *)b->value_out + i * bytes, &seen->value, bytes);
    if ((value || it->op == HD_OP_FIND_PTR) && b->score_out) b->score_out[i] = 0;
    if (it->op == HD_OP_FIND_PTR) b->ptr[i] = value_at(t, seen->entry);
}

static void run_keyed(const word_table *t, const hd_batch *b, uint64_t *tally)
{
    uint64_t missed = 0, before = hd_tally_sum(tally);
    bool lists = !b->each && b->op == HD_OP_FIND_MISSED;
    for (uint64_t i = 0; i < b->n; i++) {
        word_item it = item_at(t, b, i);
        word_seen seen;
        word_apply(t, &it, &seen);
        deliver(t, b, i, &it, &seen);
        tally[seen.outcome]++;
        if (!lists || seen.outcome != HD_MISS) continue;
        if (b->list_key) b->list_key[missed] = it.key;
        if (b->list_item) b->list_item[missed] = i;
        missed++;
    }
    HD_ASSERT(hd_tally_sum(tally) - before == b->n, "an item has no outcome, or two");
    if (lists && b->count) *b->count = missed;
}

/* ---- Table-wide operations ------------------------------------------------------------------- */

static void list_put(const word_table *t, const hd_batch *b, uint64_t at, uint64_t e)
{
    if (b->list_key) b->list_key[at] = key_in(t, e);
    if (b->list_score) b->list_score[at] = 0;
    if (b->list_item) b->list_item[at] = e;
    if (b->list_value) memcpy((char *)b->list_value + at * (t->half / 8), value_at(t, e), t->half / 8);
}

static void run_scan(const word_table *t, const hd_batch *b)
{
    bool exports = b->op == HD_OP_EXPORT || b->op == HD_OP_EXPORT_IF;
    uint32_t predicate = hd_predicate_of(b);
    uint64_t first = exports ? b->start : 0, last = exports ? b->start + b->n : t->places, n = 0;
    HD_ASSERT(first <= last && last <= t->places, "slots are listed that the table lacks");
    for (uint64_t e = first; e < last; e++) {
        if (!has_key(t, e)) continue;
        if (!hd_predicate_holds(predicate, key_in(t, e), 0, (const uint8_t *)value_at(t, e), t->half / 8,
                                b->pred_arg[0], b->pred_arg[1]))
            continue;
        if (exports) list_put(t, b, n, e);
        if (b->op == HD_OP_ERASE_IF) t->remove(t->v, e);
        n++;
    }
    if (b->count) *b->count = n;
}

void word_run(const word_table *t, const hd_batch *b, uint64_t *tally)
{
    if (!b->each && !hd_op_does(b->op, HD_NEEDS_KEY))
        run_scan(t, b);
    else
        run_keyed(t, b, tally);
}
