/* SPDX-License-Identifier: Apache-2.0
 *
 * search_chase.c - looks for a bug where one item displaces a key and another one looks for it: in table after table it
 * is seen which key the first displaces when it is alone, and then every interleaving of the two is run that has at
 * most one preemption, judged as judge/comparison.h does.
 *
 *     chase CASE       of a mixed batch by a kernel whose keys move
 */
#include <string.h>

#include "judge/comparison.h"
#include "judge/design.h"
#include "judge/kernels.h"
#include "judge/rules.h"
#include "base/error.h"
#include "judge/museum/museum.h"

typedef struct chase {
    hd_case c;
    fixture_kernel kernel;
    /* the item that looks: the first in a warp of its own; those between are reserved keys, done at once */
    uint64_t last;
} chase;

static hd_status parse(chase *h, const char *what)
{
    uint32_t row;
    hd_status status = hd_case_parse(what, &h->c);
    if (!status) status = fixture_kernel_row(&h->c, &row);
    if (status) return status;
    h->kernel = fixture_kernel_at(judge_design_named(h->c.design), row, 32, 2);
    h->last = 32 / h->kernel.lanes;
    h->c.batch = h->last + 1;
    return HD_OK;
}

static bool is_there(const fixture *s, uint64_t key)
{
    uint64_t e = 0, places = fixture_places(s->design, s->table);
    while (e < places && s->design->key_at(s->table, e) != key) e++;
    return e < places;
}

/* One that comes, and one that looks for `key`. */
static hd_status open_fixture(const chase *h, uint64_t key, fixture **s, comparison **a)
{
    const fixture_kernel *kernels[] = { &h->kernel };
    hd_status status = fixture_open(&h->c, kernels, 1, s);
    if (status) return status;
    uint8_t *each = (uint8_t *)judge_arrays_at(&(*s)->part[0].arrays, JUDGE_EACH);
    uint64_t newcomer = h->c.seed * 1000;
    while (is_there(*s, newcomer)) newcomer++;
    for (uint64_t i = 0; i <= h->last; i++) {
        each[i] = (uint8_t)(i ? HD_OP_FIND : HD_OP_INSERT_OR_ASSIGN);
        fixture_item(*s, 0, i, i == 0 ? newcomer : i == h->last ? key : (*s)->keys, 0);
    }
    return comparison_open(*s, a);
}

/* A key that is displaced if the new key is inserted alone; s->keys: none is. */
static hd_status who_moves(const chase *h, simt_machine *m, uint64_t *key)
{
    size_t n = 0;
    fixture *s;
    comparison *a;
    const char *why;
    simt_config c = simt_config_default();
    c.strategy = SIMT_ROUND_ROBIN;
    c.shared_bytes = 48 << 10;
    c.step_limit = 1000000;
    hd_status status = open_fixture(h, UINT64_MAX, &s, &a);
    if (!status) status = comparison_run(a, m, &c, &why);
    const simt_ticket_record *t = status ? NULL : simt_machine_tickets(m, &n);
    *key = status ? 0 : s->keys;
    if (!status) memcpy(s->memory, s->initial, s->table_bytes);
    for (size_t i = 0; i < n; i++)
        if (t[i].item == JUDGE_MOVE) *key = s->design->key_at(s->table, t[i].a);
    if (!status) comparison_close(a);
    return status;
}

static hd_status look_at(const chase *h, const museum_search *m_s, simt_machine *m, uint64_t key, museum_sight *sight)
{
    enum { MOST = 20000, SHORTER = 300 };
    fixture *s;
    comparison *a;
    simt_exploration e;
    simt_config w = simt_config_default();
    w.strategy = SIMT_SEARCH;
    w.bound = 1;
    w.unit = SIMT_BY_WARP;
    w.preempt = SIMT_AT_ATOMIC;
    w.race = false;
    w.step_limit = 1000000;
    w.shared_bytes = 48 << 10;
    hd_status status = open_fixture(h, key, &s, &a);
    if (status) return status;
    comparison_mute(a, m_s->muted_checks & ((1u << MUSEUM_WATCH) - 1));
    comparison_watch_with(a, &w, m_s->muted_checks >> MUSEUM_WATCH & 1 ? 0 : 1);
    simt_trial trial = comparison_trial(a);
    status = simt_explore(m, &trial, &w, MOST, 0, SHORTER, &e);
    if (!status) {
        int part = 0;
        sight->tries += e.schedules;
        sight->hash = sight->hash * 31 + e.hash;
        sight->seconds += (double)e.time_ns * 1e-9;
        while (e.wrong && !e.finding.fault && !(comparison_objector(a) >> part & 1)) part++;
        museum_judge by = e.finding.fault == SIMT_WATCHED ? MUSEUM_WATCH
                          : e.finding.fault               ? MUSEUM_PATIENCE
                                                          : (museum_judge)part;
        if (e.wrong && museum_heard(m_s, sight, by, e.finding.story)) {
            sight->seed = e.seed;
            sight->decisions = e.schedule_n;
            sight->decisions_before = e.schedule_before;
            hd_case_print(&h->c, sight->at, sizeof sight->at);
        }
        simt_exploration_free(m, &e);
    }
    comparison_close(a);
    return status;
}

const char *museum_look_chase(const museum_search *s, museum_sight *sight)
{
    chase h;
    simt_machine *m;
    if (parse(&h, s->what) || simt_machine_open(NULL, &m)) return hd_why();
    hd_status status = HD_OK;
    for (h.c.seed = 1; h.c.seed <= s->fixtures && !status && !sight->found; h.c.seed++) {
        uint64_t key;
        status = who_moves(&h, m, &key);
        if (!status && key < judge_design_of(&h.c)->keys) status = look_at(&h, s, m, key, sight);
    }
    simt_machine_close(m);
    return status ? hd_why() : NULL;
}
