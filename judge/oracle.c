/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle.c - judges outcomes by the map (oracle.h). The oracle does not know the table's buckets, and still decides
 * this exactly: every outcome but the three of an absent key that is to be inserted (INSERTED, EVICTED, REFUSED); every
 * value, score and pointer; every list; the contents afterwards. For those three, with `need` = the number of slots in
 * a key's candidate buckets (slots, or twice that in dual mode), it requires:
 *
 *   INSERTED  the table was not full
 *   EVICTED   it held at least `need` entries. The victim had the least score of a full candidate set: it was not
 *             pinned, the new score was not below its score (admit = score), and `need` entries, the victim and pinned
 *             ones included, had its score or a higher one
 *   REFUSED   it held at least `need` entries, and so many were pinned or above the admission score; with
 *             admit = always: pinned
 *
 * For a table of one bucket these conditions are complete, up to ties.
 *
 * insert_and_evict names its victims. The other insertions do not, and an entry may come and go within one batch. Still
 * everything is known but the moment of each departure. A key's history is a sequence of sightings, `present` or
 * `absent`: the map before the batch, each item of the key, and the table after the batch (by an export). A key that is
 * present and then absent was evicted exactly once between, because only an item of the key could have inserted it
 * again; and its score at that time is known, because no item touched it. So a batch yields two lists: evictions (an
 * item, the greatest score that it may take) and departures (a score, two moments). The batch is correct if and only if
 * they can be paired (victims.c). Meanwhile the map may still hold entries that have left. Counts of entries above a
 * score are then upper bounds, so the conditions above never object to a correct table.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/state.h"
#include "judge/victims.h"
#include "base/error.h"
#include "lib/params.h"

/* ---- Life ------------------------------------------------------------------------------------ */

bool hd_oracle_restates(const char *policy)
{
    judge_policy p;
    return judge_policy_find(policy, &p) && !judge_policy_borrowed(&p);
}

hd_status hd_oracle_open(const hd_config *c, hd_oracle **out)
{
    judge_policy policy;
    if (!judge_policy_find(c->policy ? c->policy : "lru", &policy))
        return hd_fail_name("policy", c->policy, HD_POLICIES);
    hd_oracle *o = (hd_oracle *)calloc(1, sizeof *o);
    if (!o || !judge_map_open(&o->map, c->value_bytes)) {
        free(o);
        return hd_fail(HD_ENOMEM, "%s", judge_no_memory);
    }
    o->policy = policy;
    o->unsure = judge_policy_keeps_order(&policy);
    o->queues = judge_policy_has_queues(&policy);
    o->dictionary = judge_dictionary(c->design);
    o->keys = judge_keys(c);
    o->by_device = c->clock == HD_CLOCK_DEVICE;
    o->always = hd_params_number(c, c->design, "admit") == HD_ADMIT_ALWAYS;
    o->need = (1 + hd_params_number(c, c->design, "dual")) * c->slots;
    o->slots = c->slots;
    o->value_bytes = c->value_bytes;
    *out = o;
    return HD_OK;
}

hd_status hd_oracle_copy(const hd_oracle *from, hd_oracle **to)
{
    hd_oracle *o = (hd_oracle *)malloc(sizeof *o);
    if (o) *o = *from;
    if (!o || !judge_map_copy(&from->map, &o->map)) {
        free(o);
        return hd_fail(HD_ENOMEM, "%s", judge_no_memory);
    }
    o->rank = NULL, o->rank_room = 0;
    o->sorted = NULL, o->sorted_room = 0;
    *to = o;
    return HD_OK;
}

void hd_oracle_close(hd_oracle *o)
{
    if (!o) return;
    judge_map_close(&o->map);
    free(o->rank);
    free(o->sorted);
    free(o);
}

void hd_oracle_wrote(hd_oracle *o, uint64_t key, const void *value)
{
    judge_entry *e = judge_map_find(&o->map, key);
    if (e && o->value_bytes) memcpy(e->value, value, o->value_bytes);
}

void hd_oracle_unpin(hd_oracle *o)
{
    judge_entry *e;
    for (uint64_t p = 0; (e = judge_map_next(&o->map, &p));) e->holder = 0;
    o->pins = 0;
}

/* ---- One batch on trial ---------------------------------------------------------------------- */

typedef struct judging {
    hd_oracle *o;
    const hd_batch *b;
    const judge_op *rule;
    const uint64_t *order;  /* (b->n) items in the order in which they took effect; NULL: item order */
    uint64_t clock, opened; /* opened: HD_CLOCK_DEVICE: when the table was */
    uint32_t epoch;
    bool hidden;         /* it may evict without a list */
    judge_policy policy; /* of the table, or of raw scores */
    bool far;            /* its pointers are a device's         */
    bool concurrent;     /* several items, whose order a device does not tell */
    uint64_t live_before;
    judge_victims victims; /* hidden: entries that may have left  */
    uint64_t listed;       /* list entries that were checked */

    /* the item */
    hd_op op;
    uint64_t i, key, moment;
    judge_score_in in;
    hd_outcome outcome;
    const uint8_t *value; /* (value_bytes) in; NULL: none */
} judging;

static const char *lie(judging *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

static const char *lie(judging *j, const char *format, ...)
{
    char what[320];
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    return judge_say(j->o, "item %" PRIu64 " (%s, key %" PRIu64 ", said %s): %s", j->i, hd_op_name(j->op), j->key,
                     hd_outcome_name(j->outcome), what);
}

/* ---- The list -------------------------------------------------------------------------------- */

/* The list entry of the item: the next one in item order, or else found by its item number. */
static uint64_t own_entry(const judging *j)
{
    const hd_batch *b = j->b;
    if (!j->order || !b->count) return j->listed; /* judge_order_of_list checked that there is one, if any list is */
    uint64_t low = 0, high = *b->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (b->list_item[middle] < j->i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The item's entry in the list must be this one. */
static const char *next_listed(judging *j, uint64_t key, const uint8_t *value, uint64_t score, bool keys_only)
{
    const hd_batch *b = j->b;
    uint64_t l = own_entry(j);
    j->listed++;
    uint32_t bytes = j->o->value_bytes;
    if (b->count && l >= *b->count)
        return lie(j, "the list ends after %" PRIu64 " entries, without its own", *b->count);
    if (b->list_item && b->list_item[l] != j->i)
        return lie(j, "entry %" PRIu64 " of the list should be its own, but is item %" PRIu64 "'s", l, b->list_item[l]);
    if (b->list_key && b->list_key[l] != key)
        return lie(j, "the list has key %" PRIu64 " instead of %" PRIu64, b->list_key[l], key);
    if (keys_only) return NULL;
    if (b->list_score && b->list_score[l] != score)
        return lie(j, "the list has score %" PRIu64 " instead of %" PRIu64, b->list_score[l], score);
    if (bytes && b->list_value && memcmp((const uint8_t *)b->list_value + l * bytes, value, bytes) != 0)
        return lie(j, "the list has another value for key %" PRIu64, key);
    return NULL;
}

/* The entry that the list says the item evicted; it is removed from the map afterwards. */
static const char *listed_victim(judging *j, uint64_t most)
{
    hd_oracle *o = j->o;
    uint64_t l = own_entry(j);
    if (l >= *j->b->count) return lie(j, "the list ends without its victim");
    uint64_t gone = j->b->list_key[l];
    judge_entry *e = judge_map_find(&o->map, gone);
    if (e && !judge_score_known(o, e) && j->b->list_score) judge_score_shown(o, e, j->b->list_score[l]);
    if (!e) return lie(j, "the list names key %" PRIu64 " as its victim, which was not there", gone);
    const char *wrong = next_listed(j, gone, e->value, e->score, false);
    if (wrong) return wrong;
    if (e->holder) return lie(j, "its victim, key %" PRIu64 ", was pinned", gone);
    if (e->score > most && judge_score_known(o, e))
        return lie(j, "its victim, key %" PRIu64 ", had score %" PRIu64 ", above its own %" PRIu64, gone, e->score,
                   most);
    if (!judge_enough_above(o, o->need, e->score))
        return lie(j, "its victim, key %" PRIu64 ", cannot have been the least of a full bucket", gone);
    judge_map_drop(&o->map, gone);
    return NULL;
}

/* The holder that the item pins its entry by; 0: it does not. */
static uint64_t pins_by(const judging *j) { return j->rule->may_pin && !j->b->each ? j->b->holder : 0; }

/* ---- A key that is absent -------------------------------------------------------------------- */

static const char *put(judging *j, uint64_t score)
{
    const uint8_t *value = j->op == HD_OP_FIND_OR_INSERT_PTR ? NULL : j->value;
    judge_entry *e = judge_map_put(&j->o->map, j->key, value, score);
    if (!e) return judge_no_memory;
    e->born = e->seen = j->moment;
    e->era = j->o->unsure ? j->o->era - 1 : j->o->era;
    if ((e->holder = pins_by(j))) j->o->pins++;
    return NULL;
}

static const char *refused(judging *j, uint64_t score, uint64_t admission)
{
    hd_oracle *o = j->o;
    bool only_pinned = o->always || admission == UINT64_MAX;
    const uint64_t *shown = j->b->list_score;
    if (o->unsure) o->era++;
    if (o->unsure && j->rule->list && shown && own_entry(j) < *j->b->count) score = shown[own_entry(j)];
    if (o->live < o->need) return lie(j, "there was room: the table had %" PRIu64 " entries", o->live);
    if (only_pinned ? o->pins < o->need : !judge_enough_above(o, o->need, admission + 1))
        return lie(j, "no full bucket can have had all its entries above admission score %" PRIu64, admission);
    return j->rule->list ? next_listed(j, j->key, j->value, score, false) : NULL;
}

/* The key enters; under a policy with queues nothing is known then of any score. */
static const char *put_unsure(judging *j, uint64_t score)
{
    const char *wrong = put(j, score);
    j->o->era += j->o->queues;
    return wrong;
}

static const char *evicted(judging *j, uint64_t score, uint64_t admission)
{
    hd_oracle *o = j->o;
    uint64_t most = o->always ? UINT64_MAX : admission, greatest;
    const char *wrong = NULL;
    if (o->live < o->need) return lie(j, "there was room: the table had %" PRIu64 " entries", o->live);
    if (o->unsure) o->era++;
    if (!j->hidden) {
        wrong = listed_victim(j, most);
    } else {
        j->listed += j->rule->list; /* the list has no item numbers */
        wrong = judge_greatest_victim(o, &greatest);
        judge_eviction e = { j->moment, most < greatest ? most : greatest };
        if (!wrong && !judge_evicted(&j->victims, e)) wrong = judge_no_memory;
    }
    return wrong ? wrong : put_unsure(j, score);
}

/* PENDING is possible: neither the key's buckets, of which there may be only one, nor the stash have room, while
 * each other item of the batch may hold one slot for a moment. */
static const char *pending(judging *j)
{
    hd_oracle *o = j->o;
    uint64_t live = j->concurrent ? j->live_before : o->live, busy = j->order || j->concurrent ? j->b->n : 0;
    return live + busy < o->slots + o->stash_places ? lie(j, "there was room: the table had %" PRIu64 " entries", live)
                                                    : NULL;
}

static const char *judge_absent(judging *j)
{
    hd_oracle *o = j->o;
    bool add_only = j->op == HD_OP_ACCUM_OR_ASSIGN && j->b->flag && j->b->flag[j->i] == HD_ADD;
    if (!j->rule->enters || add_only) {
        if (j->outcome != HD_MISS) return lie(j, "the key is absent: miss expected");
        return j->rule->list ? next_listed(j, j->key, NULL, 0, true) : NULL; /* find_missed */
    }
    uint64_t score = judge_score_new(&j->policy, j->in);
    uint64_t admission = judge_admission_bound(&j->policy, j->in, j->outcome == HD_EVICTED);
    switch (j->outcome) {
    case HD_INSERTED:
        if (o->live >= o->capacity && !j->concurrent) return lie(j, "the table was full");
        o->live++;
        return put_unsure(j, score);
    case HD_PENDING:
        if (o->dictionary) return pending(j);
        break;
    case HD_EVICTED:
        if (o->dictionary) break;
        return evicted(j, score, admission);
    case HD_REFUSED:
        if (o->dictionary) break;
        return refused(j, score, admission);
    default: break;
    }
    return lie(j, "the key is absent: inserted, %s expected", o->dictionary ? "or pending," : "evicted or refused");
}

/* ---- A key that is present ------------------------------------------------------------------- */

static hd_outcome outcome_present(const judging *j, const judge_entry *e)
{
    switch (j->op) {
    case HD_OP_LOCK_KEYS: return e->holder ? HD_PINNED : HD_HIT;
    case HD_OP_UNLOCK_KEYS: return !e->holder ? HD_MISS : e->holder == j->b->holder ? HD_HIT : HD_PINNED;
    case HD_OP_ACCUM_OR_ASSIGN:
        if (j->b->flag && j->b->flag[j->i] == HD_ASSIGN_NEW) return HD_HIT;
        break;
    default: break;
    }
    return e->holder && e->holder != pins_by(j) && j->rule->changes ? HD_PINNED : j->rule->present;
}

static void change(judging *j, judge_entry *e)
{
    hd_oracle *o = j->o;
    if (j->rule->rescores) e->score = judge_score_hit(&j->policy, e->score, j->in);
    if (j->rule->value_in && j->value && o->value_bytes) memcpy(e->value, j->value, o->value_bytes);
    if (pins_by(j) && !e->holder) e->holder = pins_by(j), o->pins++;
    switch (j->op) {
    case HD_OP_ACCUM_OR_ASSIGN: judge_add(j->b->elem, e->value, j->value, o->value_bytes); break;
    case HD_OP_LOCK_KEYS: e->holder = j->b->holder, o->pins++; break;
    case HD_OP_UNLOCK_KEYS: e->holder = 0, o->pins--; break;
    case HD_OP_ERASE: judge_map_drop(&o->map, e->key), o->live--; break;
    default: break;
    }
}

/* After the change: operations that deliver a value deliver the old one, and those that deliver a score the new one. */
static const char *judge_delivery(judging *j, judge_entry *e)
{
    const hd_batch *b = j->b;
    uint32_t bytes = j->o->value_bytes;
    bool known = judge_score_known(j->o, e) && !(j->o->unsure && j->concurrent);
    if (b->score_out && !known) judge_score_shown(j->o, e, b->score_out[j->i]);
    if (b->score_out && b->score_out[j->i] != e->score)
        return lie(j, "delivered score %" PRIu64 " instead of %" PRIu64, b->score_out[j->i], e->score);
    if (j->rule->value_out && b->value_out && bytes &&
        memcmp((const uint8_t *)b->value_out + j->i * bytes, e->value, bytes) != 0)
        return lie(j, "delivered another value");
    return NULL;
}

static const char *judge_present(judging *j, judge_entry *e)
{
    hd_outcome expected = outcome_present(j, e);
    if (j->outcome != expected)
        return lie(j, "the key is present%s: %s expected", e->holder ? " and pinned" : "", hd_outcome_name(expected));
    bool delivers = judge_delivers(j->op, expected);
    e->seen = j->moment;
    if (expected == j->rule->present) change(j, e); /* it may drop e, and then delivers nothing */
    return delivers ? judge_delivery(j, e) : NULL;
}

/* ---- Items ----------------------------------------------------------------------------------- */

static bool found_absent(hd_outcome o)
{
    return o == HD_MISS || o == HD_INSERTED || o == HD_EVICTED || o == HD_REFUSED;
}

static uint64_t item_at(const judging *j, uint64_t p) { return j->order ? j->order[p] : p; }

static judge_score_in score_in(const judging *j, uint64_t i)
{
    judge_score_in in = {
        .given = j->b->score ? j->b->score[i] : 1, .now = j->clock + i, .tick = j->clock + i, .epoch = j->epoch
    };
    if (j->o->by_device) in.now = j->clock, in.tick = judge_tick(j->clock, j->opened);
    return in;
}

/* hd_batch.found of an item whose key was present, or not. */
static const char *judge_finding(judging *j, bool present)
{
    if (!j->b->found || judge_found_byte(j->b, j->i) == present) return NULL;
    return lie(j, "the key is %s, and found is %d", present ? "present" : "absent", judge_found_byte(j->b, j->i));
}

/* Whether the item's flag is no hd_accum. */
static bool has_no_flag(const judging *j)
{
    return j->op == HD_OP_ACCUM_OR_ASSIGN && j->b->flag && j->b->flag[j->i] > HD_EITHER;
}

/* The p-th item to take effect. */
static const char *judge_item(judging *j, uint64_t p)
{
    const hd_batch *b = j->b;
    hd_oracle *o = j->o;
    uint64_t i = item_at(j, p);
    j->i = i;
    j->op = judge_item_op(b, i);
    j->rule = &judge_ops[j->op];
    j->key = b->key[i];
    j->in = score_in(j, i);
    j->moment = o->moment + 1 + p;
    j->outcome = (hd_outcome)b->outcome[i];
    j->value = b->value ? (const uint8_t *)b->value + i * o->value_bytes : NULL;
    if (judge_order_of(b)) return judge_ordered_item(o, b, i);
    if (j->key >= o->keys || has_no_flag(j))
        return j->outcome == HD_RESERVED ? judge_finding(j, false) : lie(j, "the key or the flag is reserved");

    judge_entry *e = judge_map_find(&o->map, j->key);
    if (e && j->hidden && !e->holder && found_absent(j->outcome)) { /* then the item says that the key was evicted */
        judge_departure d = { e->key, judge_score_known(o, e) ? e->score : 0, e->seen, j->moment };
        if (!judge_departed(&j->victims, d)) return judge_no_memory;
        judge_map_drop(&o->map, e->key);
        e = NULL;
    }
    bool present = e != NULL; /* judge_present may drop it */
    const char *wrong = e ? judge_present(j, e) : judge_absent(j);
    return wrong ? wrong : judge_finding(j, present);
}

void hd_oracle_since(hd_oracle *o, uint64_t *since) { o->since = since; }

#define JUDGED UINT64_MAX /* what since[p] becomes */

static bool changes_nothing(const judging *j, uint64_t p)
{
    hd_outcome o = (hd_outcome)j->b->outcome[item_at(j, p)];
    return o == HD_HIT || o == HD_MISS || o == HD_PENDING || o == HD_RESERVED;
}

/* Settles the items that read the p-th item's key before it takes effect, and are right so far. */
static void judge_before(judging *j, uint64_t p)
{
    uint64_t key = j->b->key[item_at(j, p)];
    for (uint64_t q = p + 1; q < j->b->n; q++)
        if (j->o->since[q] <= p && j->b->key[item_at(j, q)] == key && changes_nothing(j, q) && !judge_item(j, q))
            j->o->since[q] = JUDGED;
}

/* Judges the p-th item. It knew nothing of later items. */
static const char *judge_in_turn(judging *j, uint64_t p)
{
    const uint64_t *since = j->order ? j->o->since : NULL;
    if (since && since[p] == JUDGED) return NULL;
    if (since && !changes_nothing(j, p)) judge_before(j, p);
    return judge_item(j, p);
}

/* Entries that are no longer in the table departed after they were last seen. */
static const char *learn_departures(judging *j, hd_table *table)
{
    hd_oracle *o = j->o;
    uint64_t n, moment = o->moment + 1 + j->b->n;
    judge_entry *e;
    hd_info info;
    const char *wrong = judge_walk(o, table, &info, &n);
    for (uint64_t p = 0; !wrong && (e = judge_map_next(&o->map, &p));) {
        if (e->mark == o->mark) continue;
        judge_departure d = { e->key, judge_score_known(o, e) ? e->score : 0, e->seen, moment };
        if (e->holder) return judge_say(o, "key %" PRIu64 " was pinned, and is gone", e->key);
        if (!judge_departed(&j->victims, d)) return judge_no_memory;
        judge_map_drop(&o->map, e->key);
        p--;
    }
    return wrong;
}

static const char *judge_victims_hidden(judging *j, hd_table *table)
{
    const judge_victims *v = &j->victims;
    if (v->evictions + v->departures == 0) return NULL;
    const char *wrong = learn_departures(j, table);
    if (wrong) return wrong;
    uint64_t moment = 0;
    wrong = judge_victims_match(&j->victims, &moment);
    if (!wrong) return NULL;
    char where[32] = "";
    if (moment) snprintf(where, sizeof where, "item %" PRIu64 ": ", item_at(j, moment - j->o->moment - 1));
    return judge_say(j->o, "%s: %s%s (%" PRIu64 " evictions, %" PRIu64 " departures)", judge_batch_name(j->b), where,
                     wrong, v->evictions, v->departures);
}

/* What is wrong with the pointer of an item of find_or_insert_ptr: it is NULL if the entry left before the batch ended,
 * and otherwise shows its key's value. e: the key's entry at the end; it was `born` after the item. */
static const char *pointer_wrong(const void *p, hd_outcome outcome, const judge_entry *e, bool born, uint32_t bytes)
{
    if (outcome == HD_REFUSED) return p ? "the item was refused, and has a pointer" : NULL;
    if (!p) return e && !born ? "the pointer is NULL, and the entry is there" : NULL;
    if (!e) return "a pointer to an entry that left";
    return memcmp(p, e->value, bytes) != 0 ? "the pointer does not show its value" : NULL;
}

static const char *judge_pointers(judging *j)
{
    hd_oracle *o = j->o;
    for (uint64_t p = 0; j->b->ptr && !j->b->each && !j->far && o->value_bytes && p < j->b->n; p++) {
        uint64_t i = item_at(j, p);
        hd_outcome outcome = (hd_outcome)j->b->outcome[i];
        const judge_entry *e = judge_map_find(&o->map, j->b->key[i]);
        if (!judge_delivers_ptr(j->b->op, outcome)) continue;
        const char *wrong = pointer_wrong(j->b->ptr[i], outcome, e, e && e->born > o->moment + 1 + p, o->value_bytes);
        if (wrong)
            return judge_say(o, "item %" PRIu64 " (%s, key %" PRIu64 "): %s", i, judge_batch_name(j->b), j->b->key[i],
                             wrong);
    }
    return NULL;
}

static bool lists(const judging *j) { return !j->b->each && judge_ops[j->b->op].list; }

/* List entries are in item order, one for each item. */
static const char *judge_order_of_list(judging *j)
{
    const hd_batch *b = j->b;
    if (!j->order || !lists(j)) return NULL;
    if (!b->count && !b->list_key && !b->list_score && !b->list_value && !b->list_item) return NULL; /* no list */
    if (!b->list_item || !b->count)
        return judge_say(j->o, "%s: the judge needs list_item and count", judge_batch_name(b));
    for (uint64_t l = 1; l < *b->count; l++)
        if (b->list_item[l] <= b->list_item[l - 1])
            return judge_say(j->o,
                             "%s: entry %" PRIu64 " of the list is item %" PRIu64 "'s, and comes after item %" PRIu64
                             "'s",
                             judge_batch_name(b), l, b->list_item[l], b->list_item[l - 1]);
    return NULL;
}

/* After items that may have changed scores of other entries: asks the table for all scores. */
static const char *judge_scores_again(judging *j, hd_table *table, uint64_t era)
{
    hd_oracle *o = j->o;
    hd_info info;
    uint64_t n;
    if (!o->unsure || (era == o->era && !j->concurrent)) return NULL;
    o->era++;
    return judge_walk(o, table, &info, &n);
}

static const char *judge_keyed(judging *j, hd_table *table)
{
    const hd_batch *b = j->b;
    uint64_t era = j->o->era;
    const char *wrong = judge_order_of_list(j);
    for (uint64_t p = 0; p < b->n && !wrong; p++) wrong = judge_in_turn(j, p);
    j->o->since = NULL;
    if (!wrong && j->o->live > j->o->capacity) wrong = judge_say(j->o, "more entries than the table has places");
    if (!wrong && j->hidden) wrong = judge_victims_hidden(j, table);
    if (!wrong && lists(j) && b->count && *b->count != j->listed)
        wrong = judge_say(j->o, "%s: the list has %" PRIu64 " entries instead of %" PRIu64, judge_batch_name(b),
                          *b->count, j->listed);
    if (!wrong) wrong = judge_pointers(j);
    j->o->moment += b->n + 1;
    return wrong ? wrong : judge_scores_again(j, table, era);
}

/* ---- The door -------------------------------------------------------------------------------- */

/* What the judge needs of the batch and the table; NULL: it has it. */
static const char *prepare(hd_oracle *o, hd_table *table, const hd_batch *b, hd_info *info)
{
    if (judge_keyed_batch(b) && b->n && !b->outcome)
        return judge_say(o, "%s: the judge needs outcomes", judge_batch_name(b));
    if (judge_order_of(b) && !judge_sort(o)) return judge_no_memory;
    return hd_table_info(table, info) ? judge_say(o, "hd_table_info: %s", hd_why()) : NULL;
}

const char *hd_oracle_batch(hd_oracle *o, hd_table *table, const hd_batch *b, const uint64_t *order, uint64_t clock,
                            uint32_t epoch)
{
    hd_info info;
    for (uint64_t i = 0; i < (b->each ? b->n : 1); i++)
        if ((unsigned)judge_item_op(b, i) >= HD_OP_COUNT_)
            return judge_say(o, "there is no operation %d", (int)judge_item_op(b, i));
    judging j = {
        .o = o, .b = b, .rule = b->each ? NULL : &judge_ops[b->op], .order = order, .clock = clock, .epoch = epoch
    };
    bool keyed = judge_keyed_batch(b);
    j.policy = o->policy;
    if (judge_raw(b)) j.policy.rule = JUDGE_CUSTOM;
    const char *wrong = prepare(o, table, b, &info);
    if (wrong) return wrong;
    j.opened = info.now;
    o->capacity = info.places;                /* it may have grown */
    if (o->dictionary) o->slots = info.slots; /* it may have fewer than it was asked for */
    o->stash_places = info.stash_buckets * info.slots * 7 / 8;
    j.live_before = o->live = o->map.n;
    j.far = strcmp(info.backend, "cuda") == 0;
    j.concurrent = j.far && !order && b->n > 1;
    j.hidden = !o->dictionary && j.rule->enters && !(j.rule->list && b->list_key && b->count);
    wrong = keyed ? judge_keyed(&j, table) : judge_whole_table(o, b);
    judge_victims_close(&j.victims);
    return wrong;
}
