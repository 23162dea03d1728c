/* SPDX-License-Identifier: Apache-2.0
 *
 * gphash.c - one item (GPHash section 3.2), and growth (section 3.2.3).
 */
#include "ref/gphash/gphash.h"

#include <string.h>

#include "base/op.h"
#include "ref/accum.h"
#include "ref/rule.h"
#include "ref/words/words.h"

/* ---- Slots ----------------------------------------------------------------------------------- */

uint64_t gphash_find(const gphash_view *v, uint64_t key)
{
    uint64_t hash = gphash_hash(v, key);
    for (uint32_t lane = 0; lane < GPHASH_LANES; lane++) {
        uint64_t e = gphash_candidate(v, hash, lane);
        if (*gphash_key_at(v, e) == key) return e;
    }
    return GPHASH_NOWHERE;
}

uint64_t gphash_room(const gphash_view *v, uint64_t key)
{
    uint64_t hash = gphash_hash(v, key), best = GPHASH_NOWHERE;
    uint32_t most = 0;
    for (uint32_t lane = 0; lane < GPHASH_LANES; lane += v->slots) {
        uint64_t first = gphash_candidate(v, hash, lane), room = GPHASH_NOWHERE;
        uint32_t free = 0;
        for (uint32_t s = v->slots; s-- > 0;) {
            if (*gphash_key_at(v, first + s) != HD_KEY_EMPTY) continue;
            room = first + s;
            free++;
        }
        if (free > most) best = room;
        if (free > most) most = free;
    }
    return best;
}

void *gphash_value(const gphash_view *v, uint64_t e)
{
    uint64_t *number = gphash_number_at(v, e);
    if (!v->cell_bytes) return number;
    HD_ASSERT(gphash_cell_of(*number) < gphash_cells(v), "GP-4: an entry's cell does not exist");
    return gphash_cell(v, gphash_cell_of(*number));
}

/* The cell that an entry had is free. */
static void give_cell(gphash_table *t, uint64_t number)
{
    t->v.free[t->tail++ % gphash_ring(&t->v)] = (uint32_t)gphash_cell_of(number);
}

/* Where a new value of entry e is written: into a copy of the word beside the key, or a free cell. One is free: a table
 * has more cells than slots. */
static void *fresh_value(const gphash_table *t, uint64_t e, uint64_t *word)
{
    *word = *gphash_number_at(&t->v, e);
    if (!t->v.cell_bytes) return word;
    HD_ASSERT(t->head < t->tail, "GP-8: no cell is free");
    return gphash_cell(&t->v, t->v.free[t->head % gphash_ring(&t->v)]);
}

/* The value there is the entry's from now on. The cell that it had before is free. */
static void publish_value(gphash_table *t, uint64_t e, uint64_t key, uint64_t word)
{
    uint64_t *number = gphash_number_at(&t->v, e), was = *number;
    if (!t->v.cell_bytes) {
        gphash_publish(number, word);
        return;
    }
    uint64_t version = was == GPHASH_NONE ? 0 : gphash_version_of(was) + 1;
    word = gphash_pack(gphash_hash(&t->v, key), version, t->v.free[t->head++ % gphash_ring(&t->v)]);
    gphash_publish(number, word);
    if (was != GPHASH_NONE) give_cell(t, was);
}

static void put_value(gphash_table *t, uint64_t e, uint64_t key, const void *value)
{
    uint64_t word;
    memcpy(fresh_value(t, e, &word), value, t->v.value_bytes);
    publish_value(t, e, key, word);
}

bool gphash_put(gphash_table *t, uint64_t e, uint64_t key, const void *value)
{
    const gphash_view *v = &t->v;
    uint64_t hash = gphash_hash(v, key), *at = e < gphash_places(v) ? gphash_key_at(v, e) : NULL;
    if (!at || *at != HD_KEY_EMPTY || (v->cell_bytes && t->head == t->tail)) return false;
    uint32_t level = gphash_level_of(v, e);
    if (gphash_function_of(v, hash, level, (e - gphash_first(v, level)) / v->slots) == v->hashes) return false;
    put_value(t, e, key, value);
    gphash_publish(at, key); /* the last store: from here on it is there */
    return true;
}

/* The first store is the one that counts: an entry is its key, or where values have cells its number. */
void gphash_remove(gphash_table *t, uint64_t e)
{
    uint64_t *number = gphash_number_at(&t->v, e);
    if (t->v.cell_bytes) {
        give_cell(t, *number);
        gphash_publish(number, GPHASH_NONE);
    }
    gphash_publish(gphash_key_at(&t->v, e), HD_KEY_EMPTY);
}

/* ---- One item -------------------------------------------------------------------------------- */

const char *gphash_unsupported(hd_op op, hd_cache cache)
{
    if (op == HD_OP_PROMOTE) return cache ? NULL : "the table has no cache";
    if (op == HD_OP_FIND_OR_INSERT_PTR)
        return "gphash gives no pointers to values that others may replace in the same batch";
    return word_unsupported(op);
}

/* What the rule says happens to the key in slot e. */
static void change_found(gphash_table *t, const gphash_item *it, const hd_rule *r, uint64_t e)
{
    uint32_t bytes = t->v.value_bytes;
    if (r->besides == HD_REMOVE) {
        gphash_remove(t, e);
        return;
    }
    if (r->value == HD_REPLACE_VALUE && bytes) put_value(t, e, it->key, it->value);
    if (r->value != HD_ADD_VALUE || !bytes) return;
    uint64_t word;
    void *was = gphash_value(&t->v, e), *sum = fresh_value(t, e, &word);
    memcpy(sum, was, bytes);
    hd_accum_add(it->elem, sum, it->value, bytes);
    publish_value(t, e, it->key, word);
}

static bool is_reserved(const gphash_item *it)
{
    return it->key >= HD_KEY_RESERVED || hd_flag_is_none(it->op, it->flag);
}

/* A value of a set, or of an operation that has none. */
static const void *value_of(const gphash_item *it)
{
    static const uint64_t none = 0;
    return it->value ? it->value : &none;
}

void gphash_apply(gphash_table *t, const gphash_item *it, gphash_seen *seen)
{
    seen->entry = GPHASH_NOWHERE;
    seen->outcome = HD_RESERVED;
    if (is_reserved(it)) return;
    const hd_rule *r = hd_rule_of(it->op, it->flag);
    uint64_t e = gphash_find(&t->v, it->key);
    seen->outcome = HD_MISS;
    if (e != GPHASH_NOWHERE) {
        seen->outcome = r->found;
        change_found(t, it, r, e);
    } else if (r->insert) {
        e = gphash_room(&t->v, it->key);
        seen->outcome = e == GPHASH_NOWHERE || !gphash_put(t, e, it->key, value_of(it)) ? HD_PENDING : HD_INSERTED;
    }
    if (seen->outcome != HD_ERASED && seen->outcome != HD_PENDING) seen->entry = e;
}

const char *gphash_accept(gphash_table *t, const gphash_item *it, const gphash_seen *seen, uint64_t busy)
{
    if (is_reserved(it) != (seen->outcome == HD_RESERVED))
        return is_reserved(it) ? "a reserved key or flag must be answered RESERVED"
                               : "RESERVED, but the key is an ordinary one";
    if (is_reserved(it)) return NULL;
    const hd_rule *r = hd_rule_of(it->op, it->flag);
    uint64_t e = gphash_find(&t->v, it->key), free = 0;
    if (e != GPHASH_NOWHERE) {
        if (seen->outcome != r->found) return "the key was present, and the outcome is another";
        change_found(t, it, r, e);
        return NULL;
    }
    if (!r->insert) return seen->outcome == HD_MISS ? NULL : "not a miss, but the key was absent";
    if (seen->outcome == HD_INSERTED)
        return gphash_put(t, seen->entry, it->key, value_of(it)) ? NULL : "it took a slot that it may not take";
    if (seen->outcome != HD_PENDING) return "the key was absent, and the outcome is another";
    for (uint32_t lane = 0; lane < GPHASH_LANES; lane++)
        free += *gphash_key_at(&t->v, gphash_candidate(&t->v, gphash_hash(&t->v, it->key), lane)) == HD_KEY_EMPTY;
    return free <= busy ? NULL : "PENDING, but one of its slots is free";
}

/* ---- Growth ---------------------------------------------------------------------------------- */

void gphash_raise(gphash_view *v)
{
    const uint32_t from = v->bottom, to = gphash_top(v) + 1;
    for (uint64_t at = 0; at < gphash_level_buckets(v, from) * v->slots; at++) {
        uint64_t key = v->level[from].key[at], hash = gphash_hash(v, key);
        if (key >= HD_KEY_RESERVED) continue;
        uint32_t j = gphash_function_of(v, hash, from, at / v->slots);
        HD_ASSERT(j < v->hashes, "GP-2: a key is in none of its buckets");
        uint64_t place = gphash_bucket(v, gphash_part(v, hash, j), to) * v->slots + at % v->slots;
        HD_ASSERT(v->level[to].key[place] == HD_KEY_EMPTY, "the place in the new level is taken");
        v->level[to].number[place] = v->level[from].number[at];
        v->level[to].key[place] = key;
    }
    v->bottom++;
}
