/* SPDX-License-Identifier: Apache-2.0
 *
 * comparison.c - judges one run: see comparison.h.
 */
#include "judge/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "judge/comparison_parts.h"
#include "base/error.h"

/* ---- The judgement --------------------------------------------------------------------------- */

static void begin_again(comparison *a)
{
    const fixture *s = a->s;
    memcpy(a->model_memory, s->initial, s->table_bytes);
    fixture_view(s, a->model_memory, a->model);
    for (uint64_t e = 0; e < fixture_places(a->d, a->model); e++) a->occupant[e] = a->d->key_at(a->model, e);
}

static const char *check_parts(comparison *a, const char *(*check)(comparison *, uint32_t))
{
    const char *why = NULL;
    for (uint32_t k = 0; k < a->s->parts && !why; k++) why = check(a, k);
    return why;
}

static const char *arrays_clean(comparison *a, uint32_t k)
{
    return judge_arrays_check(&a->s->part[k].arrays, &a->s->part[k].batch);
}

void comparison_mute(comparison *a, uint32_t parts) { a->muted_checks = parts; }
uint32_t comparison_objector(const comparison *a) { return a->objector; }

static const char *check_promised(comparison *a, uint32_t k)
{
    return a->d->promised ? a->d->promised(a->s, a->model, k, a->why) : NULL;
}

static const char *heard(comparison *a, uint32_t part, const char *objection)
{
    if (!objection || (a->muted_checks & part)) return NULL;
    a->objector = part;
    return objection;
}

/* How strictly the parts together can be compared with the reference. */
typedef struct strictness {
    bool tickets;   /* all items that change something draw tickets */
    bool by_item;   /* some part is judged in item order                         */
    bool reference; /* contents are the reference's                              */
    bool bytes;     /* outputs are the reference's in item order, byte by byte   */
} strictness;

static strictness strictness_of(const fixture *s)
{
    strictness all = { .tickets = true, .by_item = false, .reference = true, .bytes = true };
    for (uint32_t k = 0; k < s->parts; k++) {
        const fixture_part *p = &s->part[k];
        bool exact = p->kernel->strictness == FIXTURE_EXACT;
        all.tickets = all.tickets && comparison_ordered(p);
        all.by_item = all.by_item || !comparison_ordered(p) || exact;
        all.bytes = all.bytes && (exact || comparison_reads(p));
        all.reference = all.reference && p->kernel->strictness != FIXTURE_SHAPE;
    }
    return all;
}

/* *told: the model holds what the table should hold. */
static const char *judge_in_ticket_order(comparison *a, simt_machine *m, bool *told)
{
    const char *first = comparison_replay(a, m);
    if (!first) first = comparison_check_slots(a);
    if (first) return heard(a, COMPARISON_TICKETS, first);
    *told = true;
    const char *why = heard(a, COMPARISON_CONTENTS, comparison_check_contents(a));
    if (!why) why = heard(a, COMPARISON_TICKETS, comparison_check_pointers(a, m));
    return why ? why : heard(a, COMPARISON_LISTS, check_parts(a, comparison_check_list));
}

static const char *judge_in_item_order(comparison *a, const strictness *all)
{
    begin_again(a);
    for (uint32_t k = 0; k < a->s->parts; k++) comparison_run_reference(a, k);
    const char *why = all->bytes ? check_parts(a, comparison_check_exact) : NULL;
    if (!why && all->reference) why = comparison_check_contents(a);
    return heard(a, COMPARISON_CONTENTS, why);
}

const char *comparison_judge(void *context, simt_machine *m)
{
    comparison *a = (comparison *)context;
    const fixture *s = a->s;
    const strictness all = strictness_of(s);
    fixture_view(s, s->initial, a->then);
    fixture_view(s, s->memory, a->now);
    begin_again(a);
    const char *why = heard(a, COMPARISON_ARRAYS, check_parts(a, arrays_clean));
    bool told = all.by_item; /* the model holds what the table should hold */
    if (!why && all.tickets) why = judge_in_ticket_order(a, m, &told);
    if (!why && all.by_item) why = judge_in_item_order(a, &all);
    if (!why && all.reference && told) why = heard(a, COMPARISON_CONTENTS, comparison_check_beside(a));
    if (!why) why = heard(a, COMPARISON_CONTENTS, check_parts(a, check_promised));
    if (!why) why = heard(a, COMPARISON_COUNTS, comparison_check_conservation(a));
    if (!why) why = heard(a, COMPARISON_COUNTS, check_parts(a, comparison_check_tally));
    if (!why && !all.reference) why = heard(a, COMPARISON_CONTENTS, comparison_check_kept(a, m));
    return why ? why : heard(a, COMPARISON_REST, comparison_check_rest(a));
}

/* ---- In flight ------------------------------------------------------------------------------- */

const char *comparison_watch(void *context)
{
    comparison *a = (comparison *)context;
    const fixture *s = a->s;
    if (a->has_seen && memcmp(a->seen, s->memory, s->table_bytes) == 0) return NULL; /* most steps change nothing */
    const char *why = fixture_watch(s, a->has_seen ? a->seen : NULL, a->weak, a->why);
    a->has_seen = !why;
    if (!why) memcpy(a->seen, s->memory, s->table_bytes);
    return why;
}

/* An operation on the whole table runs alone, takes no lock, and may change slots in any order. */
static bool alone(const comparison *a)
{
    return judge_ops[a->s->part[0].batch.op].changes && !comparison_keyed(&a->s->part[0]);
}

void comparison_watch_with(comparison *a, simt_config *c, uint32_t n)
{
    if (alone(a)) n = 0;
    a->has_seen = false;
    a->weak = c->weak;
    c->watch = n ? comparison_watch : NULL;
    c->context = a;
    c->watch_every = n;
}

/* ---- Open and close -------------------------------------------------------------------------- */

static hd_status prepare(void *context, simt_machine *m) { return fixture_prepare(((comparison *)context)->s, m); }

simt_trial comparison_trial(comparison *a)
{
    simt_trial t = { a, prepare, comparison_judge, NULL };
    return t;
}

hd_status comparison_run(comparison *a, simt_machine *m, const simt_config *c, const char **why)
{
    simt_machine_forget(m);
    hd_status status = fixture_prepare(a->s, m);
    *why = NULL;
    if (status) return status;
    bool ran = simt_machine_run(m, c);
    const simt_finding *f = simt_machine_finding(m);
    if (!ran && f->fault == SIMT_RESOURCE) return hd_fail(HD_ENOMEM, "%s", f->story);
    *why = ran ? comparison_judge(a, m) : f->story;
    return HD_OK;
}

/* Allocates the comparison's memory; false: there is none. */
static bool furnish(comparison *a)
{
    const fixture *s = a->s;
    uint64_t places = a->d->places ? a->d->places(s) : fixture_places(a->d, s->table);
    a->model_memory = (uint8_t *)aligned_alloc(128, (s->table_bytes + 127) / 128 * 128);
    a->seen = (uint8_t *)malloc(s->table_bytes);
    a->occupant = (uint64_t *)calloc(places, sizeof *a->occupant);
    a->model = calloc(1, fixture_table_size(a->d));
    a->then = calloc(1, fixture_table_size(a->d));
    a->now = calloc(1, fixture_table_size(a->d));
    bool there = a->model_memory && a->seen && a->occupant && a->model && a->then && a->now;
    for (uint32_t k = 0; k < s->parts && there; k++) {
        uint64_t n = s->part[k].batch.n + 1;
        a->drawn[k] = (bool *)calloc(n, sizeof *a->drawn[k]);
        a->settled[k] = (bool *)calloc(n, sizeof *a->settled[k]);
        a->list[k] = (judge_listing *)calloc(n, sizeof *a->list[k]);
        a->list_value[k] = (uint8_t *)calloc(n, s->value_bytes + 1u);
        there = a->drawn[k] && a->settled[k] && a->list[k] && a->list_value[k] &&
                judge_arrays_open(&a->expected[k], s->part[k].arrays.most, s->value_bytes);
        a->expected[k].skew = s->part[k].arrays.skew; /* poison depends on the address, and is compared, too */
        for (uint64_t i = 0; i < n && there; i++) a->list[k][i].value = a->list_value[k] + i * s->value_bytes;
    }
    return there;
}

hd_status comparison_open(fixture *s, comparison **out)
{
    comparison *a = (comparison *)calloc(1, sizeof *a);
    if (a) {
        a->s = s;
        a->d = s->design;
    }
    if (!a || !furnish(a)) {
        if (a)
            comparison_close(a);
        else
            fixture_close(s);
        return hd_fail(HD_ENOMEM, "case: no memory for its judge");
    }
    begin_again(a);
    *out = a;
    return HD_OK;
}

void comparison_close(comparison *a)
{
    if (!a) return;
    for (uint32_t k = 0; k < FIXTURE_PARTS; k++) {
        free(a->drawn[k]);
        free(a->settled[k]);
        free(a->list[k]);
        free(a->list_value[k]);
        judge_arrays_close(&a->expected[k]);
    }
    free(a->model_memory);
    free(a->seen);
    free(a->occupant);
    free(a->model);
    free(a->then);
    free(a->now);
    fixture_close(a->s);
    free(a);
}

size_t comparison_draw(const comparison *a, char *text, size_t bytes)
{
    return fixture_draw(a->d, a->s->table, "the kernel's table", a->model, "the reference's", text, bytes);
}
