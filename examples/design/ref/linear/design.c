/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - linear probing, sequentially: shape, memory, entries and batches.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "ref/linear/linear.h"

linear_view *linear_view_of(void *state) { return (linear_view *)state; }

/* ---- Shape and memory ------------------------------------------------------------------------ */

void linear_usual(hd_config *c)
{
    c->policy = "none";
    c->slots = 16;
    c->value_bytes = 4;
}

static hd_status linear_shape(const hd_design *d, const hd_config *c, hd_info *info)
{
    (void)d;
    if (c->value_bytes != 4)
        return hd_fail(HD_EINVAL, "value_bytes: linear has values of 4 bytes, not of %" PRIu32, c->value_bytes);
    info->layout = HD_LAYOUT_WORDS;
    info->buckets = c->capacity / c->slots + (c->capacity % c->slots != 0);
    info->capacity = info->places = info->buckets * c->slots;
    info->keys = LINEAR_KEYS;
    info->memory_bytes = sizeof(linear_view) + info->capacity * sizeof(uint64_t);
    return HD_OK;
}

static void linear_clear(linear_view *v) { memset(v->word, 0xff, v->slots * sizeof *v->word); }

static void linear_close(void *state, const hd_seams *s)
{
    linear_view *v = linear_view_of(state);
    if (v) hd_give(s, v->word, v->slots, sizeof *v->word);
    hd_give(s, v, 1, sizeof *v);
}

static hd_status linear_open(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    void *p = NULL, *word = NULL;
    (void)d;
    hd_status status = hd_take(s, "table", 1, sizeof(linear_view), &p);
    if (status) return status;
    linear_view *v = (linear_view *)p;
    status = hd_take(s, "capacity: words", info->capacity, sizeof *v->word, &word);
    *v = (linear_view){ (uint64_t *)word, info->capacity, info->seed };
    if (status) {
        linear_close(v, s);
        return status;
    }
    linear_clear(v);
    *state = v;
    return HD_OK;
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* The slot at which a search for the key ends: its own, or the first empty one; LINEAR_NOWHERE: there is none. */
static uint64_t search(const linear_view *v, uint64_t key)
{
    uint64_t at = linear_home(v, key);
    for (uint64_t n = 0; n < v->slots; n++, at = linear_next(v, at))
        if (v->word[at] == LINEAR_EMPTY || linear_key_of(v->word[at]) == key) return at;
    return LINEAR_NOWHERE;
}

static size_t linear_next_entries(void *state, hd_entry *e, size_t most)
{
    linear_view *v = linear_view_of(state);
    size_t n = 0;
    for (uint64_t i = e->slot; i < v->slots && n < most; i++) {
        if (v->word[i] == LINEAR_EMPTY) continue;
        /* the value is the word's low half, which comes first: hosts are little-endian (configure) */
        e[n++] = (hd_entry){ i, linear_key_of(v->word[i]), 0, v->word + i };
    }
    return n;
}

static hd_status linear_check(void *state)
{
    const linear_view *v = linear_view_of(state);
    for (uint64_t at = 0; at < v->slots; at++)
        if (v->word[at] != LINEAR_EMPTY && search(v, linear_key_of(v->word[at])) != at)
            return hd_fail(HD_ECORRUPT, "LINEAR-1: slot %" PRIu64 " has key %" PRIu64 ", which no search finds there",
                           at, linear_key_of(v->word[at]));
    return HD_OK;
}

static uint32_t value_of(const hd_entry *e)
{
    uint32_t value;
    memcpy(&value, e->value, sizeof value);
    return value;
}

static bool linear_put_at(void *state, const hd_entry *e)
{
    linear_view *v = linear_view_of(state);
    if (e->key >= LINEAR_KEYS || v->word[e->slot] != LINEAR_EMPTY) return false;
    v->word[e->slot] = linear_word(e->key, value_of(e));
    return true;
}

static void linear_move_all(void *from, void *to)
{
    linear_view *v = linear_view_of(to);
    hd_entry e = { 0, 0, 0, NULL };
    for (; linear_next_entries(from, &e, 1); e.slot++) v->word[search(v, e.key)] = linear_word(e.key, value_of(&e));
}

/* ---- Batches --------------------------------------------------------------------------------- */

bool linear_runs(hd_op op)
{
    switch ((int)op) {
    case HD_OP_FIND:
    case HD_OP_CONTAINS:
    case HD_OP_INSERT_OR_ASSIGN:
    case HD_OP_SIZE:
    case HD_OP_CLEAR: return true;
    default: return false;
    }
}

static hd_outcome find(const linear_view *v, const hd_batch *b, uint64_t i, uint64_t at)
{
    if (b->op == HD_OP_FIND && b->value_out) memcpy((char *)b->value_out + 4 * i, v->word + at, 4);
    if (b->op == HD_OP_FIND && b->score_out) b->score_out[i] = 0;
    return HD_HIT;
}

static hd_outcome run_item(linear_view *v, const hd_batch *b, uint64_t i)
{
    uint64_t key = b->key[i], at = key < LINEAR_KEYS ? search(v, key) : 0;
    bool there = at != LINEAR_NOWHERE && v->word[at] != LINEAR_EMPTY;
    if (key >= LINEAR_KEYS) return HD_RESERVED;
    if (b->op == HD_OP_INSERT_OR_ASSIGN) {
        uint32_t value;
        if (at == LINEAR_NOWHERE) return HD_PENDING;
        memcpy(&value, (const char *)b->value + 4 * i, 4);
        v->word[at] = linear_word(key, value);
        return there ? HD_UPDATED : HD_INSERTED;
    }
    return there ? find(v, b, i, at) : HD_MISS;
}

static hd_status linear_launch(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    linear_view *v = linear_view_of(state);
    (void)row, (void)when;
    if (b->op == HD_OP_CLEAR) linear_clear(v);
    if (b->op == HD_OP_SIZE) {
        *b->count = 0;
        for (uint64_t at = 0; at < v->slots; at++) *b->count += v->word[at] != LINEAR_EMPTY;
    }
    if (!hd_op_does(b->op, HD_NEEDS_KEY)) return HD_OK;
    for (uint64_t i = 0; i < b->n; i++) {
        hd_outcome o = run_item(v, b, i);
        if (b->outcome) b->outcome[i] = (uint8_t)o;
        if (b->found) b->found[i] = HD_OP_IN(o, HD_OUTCOMES_FOUND);
        tally[o]++;
    }
    return HD_OK;
}

static const char *linear_unsupported(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    (void)row, (void)info;
    return b->each ? HD_NOT_MIXED : linear_runs(b->op) ? NULL : "linear does not run this operation";
}

#define LINEAR_RAN(number, name, what, role, family, does) [HD_OP_##number] = "linear." #name ".ref",
static const hd_variant variant = {
    .name = "ref",
    .row = { { .what = { "the sequential reference", NULL } } },
    .ran = { HD_OP_ROWS(LINEAR_RAN) },
};
static const hd_variant *const variants[] = { &variant, NULL };

const hd_backend linear_reference = {
    .name = "ref",
    .shape = linear_shape,
    .open = linear_open,
    .close = linear_close,
    .check = linear_check,
    .next = linear_next_entries,
    .put_at = linear_put_at,
    .move_all = linear_move_all,
    .variants = variants,
    .unsupported = linear_unsupported,
    .launch = linear_launch,
};
