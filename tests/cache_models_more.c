/* SPDX-License-Identifier: Apache-2.0
 *
 * cache_models_more.c - models of caches that rank their entries, and of LIRS.
 */
#include "tests/cache_models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double bytes_of(uint64_t size) { return size ? (double)size : 1; }

/* ---- LFUDA and GDSF ---------------------------------------------------------------------------- */

static double greedy_value(const cache_model *m, const model_entry *e)
{
    return m->value + (double)e->times / (m->rule == &model_gdsf ? bytes_of(e->size) : 1);
}

static void greedy_hit(cache_model *m, int q, size_t i) { m->q[q].at[i].value = greedy_value(m, &m->q[q].at[i]); }

/* The entry with the least value among those that are not marked; -1: all are. */
static int64_t greedy_least(const cache_model *m)
{
    int64_t least = -1;
    const model_entry *e = m->q[0].at;
    for (int64_t i = 0; i < (int64_t)m->q[0].n; i++)
        if (!e[i].mark &&
            (least < 0 || e[i].value < e[least].value || (e[i].value == e[least].value && e[i].last < e[least].last)))
            least = i;
    return least;
}

static void lfuda_miss(cache_model *m, model_entry x)
{
    while (model_lacks(m, x.size)) m->value = model_leave(m, 0, (size_t)greedy_least(m)).value;
    x.value = greedy_value(m, &x);
    model_put(m, 0, x);
}

/* HPL-98-69: the minimal set of files with the lowest priority, so that the others fit; the new file is one of them. */
static void gdsf_miss(cache_model *m, model_entry x)
{
    uint64_t used = model_used(m) + x.size;
    double most = m->value;
    bool itself = false;
    x.value = greedy_value(m, &x);
    while (used > m->capacity && !itself) {
        int64_t i = greedy_least(m);
        itself = i < 0 || m->q[0].at[i].value > x.value;
        if (itself) break;
        m->q[0].at[i].mark = 1;
        used -= m->q[0].at[i].size;
        most = m->q[0].at[i].value;
    }
    for (size_t i = m->q[0].n; i-- > 0;)
        if (m->q[0].at[i].mark && itself)
            m->q[0].at[i].mark = 0;
        else if (m->q[0].at[i].mark)
            model_leave(m, 0, i);
    if (itself) return;
    m->value = most;
    x.value = greedy_value(m, &x);
    model_put(m, 0, x);
}

const model_rule model_lfuda = { "full:lfuda", 1, greedy_hit, lfuda_miss, true };
const model_rule model_gdsf = { "full:gdsf", 1, greedy_hit, gdsf_miss, true };

/* ---- TinyLFU: ToS '17, section 3 ----------------------------------------------------------------- */

enum { ROWS = 4, COLUMNS = 16 };

static uint64_t mixed(uint64_t x) /* MurmurHash3's fmix64 */
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static uint8_t *counter(cache_model *m, uint64_t key, unsigned row)
{
    uint64_t hash = mixed(key + HD_GOLDEN), group = hash % m->groups;
    return &m->count[(ROWS * group + row) * COLUMNS + ((hash >> 32) >> (4 * row)) % COLUMNS];
}

/* Twice as many groups: a key finds the counters that it had. */
static void sketch_double(cache_model *m)
{
    uint64_t groups = m->groups ? 2 * m->groups : 1;
    uint8_t *count = (uint8_t *)calloc(groups, ROWS * COLUMNS);
    if (!count) abort();
    for (uint64_t i = 0; m->groups && i < groups * ROWS * COLUMNS; i++)
        count[i] = m->count[i % (m->groups * ROWS * COLUMNS)];
    free(m->count);
    m->count = count;
    m->groups = groups;
}

void model_see(cache_model *m, uint64_t key)
{
    uint64_t entries = m->bytes ? model_entries(m) : m->capacity;
    while (!m->groups || 2 * m->groups < entries) sketch_double(m);
    for (unsigned row = 0; row < ROWS; row++)
        if (*counter(m, key, row) < 15) ++*counter(m, key, row);
    m->added++;
    if (m->added < 10 * entries) return;
    for (uint64_t i = 0; i < m->groups * ROWS * COLUMNS; i++) m->count[i] /= 2;
    m->added /= 2;
}

static int frequency(cache_model *m, uint64_t key)
{
    int least = 15;
    for (unsigned row = 0; row < ROWS; row++)
        if (*counter(m, key, row) < least) least = *counter(m, key, row);
    return least;
}

static void tinylfu_hit(cache_model *m, int q, size_t i) { model_put(m, q, model_take(m, q, i)); }

/* The victims that the paper compares with the newcomer are as many as must leave for it. */
static void tinylfu_miss(cache_model *m, model_entry x)
{
    size_t victims = 0;
    for (uint64_t used = model_used(m); used + x.size > m->capacity; victims++) used -= m->q[0].at[victims].size;
    for (size_t i = 0; i < victims; i++)
        if (frequency(m, m->q[0].at[i].key) >= frequency(m, x.key)) return;
    for (; victims; victims--) model_leave(m, 0, 0);
    model_put(m, 0, x);
}

const model_rule model_tinylfu = { "full:tinylfu", 1, tinylfu_hit, tinylfu_miss, true };

/* ---- W-TinyLFU: ToS '17, section 4 --------------------------------------------------------------- */

enum { WINDOW, PROBATION, PROTECTED };

static uint64_t window_size(const cache_model *m) { return m->capacity < 100 ? 1 : m->capacity / 100; }

static void wtinylfu_hit(cache_model *m, int q, size_t i)
{
    model_entry x = model_take(m, q, i);
    model_put(m, q == WINDOW ? WINDOW : PROTECTED, x);
    while (5 * model_units(m, PROTECTED) > 4 * (m->capacity - window_size(m)))
        model_put(m, PROBATION, model_take(m, PROTECTED, 0));
}

/* Whether the candidate enters the main cache, which it may have shrunk. */
static bool wtinylfu_admits(cache_model *m, const model_entry *candidate)
{
    uint64_t most = m->capacity - window_size(m);
    if (candidate->size > most) return false;
    while (model_units(m, PROBATION) + model_units(m, PROTECTED) + candidate->size > most) {
        int q = m->q[PROBATION].n ? PROBATION : PROTECTED;
        if (frequency(m, candidate->key) <= frequency(m, m->q[q].at[0].key)) return false;
        model_leave(m, q, 0);
    }
    return true;
}

static void wtinylfu_miss(cache_model *m, model_entry x)
{
    model_put(m, WINDOW, x);
    while (model_units(m, WINDOW) > window_size(m)) {
        model_entry candidate = model_take(m, WINDOW, 0);
        if (wtinylfu_admits(m, &candidate))
            model_put(m, PROBATION, candidate);
        else
            m->left++;
    }
}

const model_rule model_wtinylfu = { "full:wtinylfu", 7, wtinylfu_hit, wtinylfu_miss, true };

/* ---- LIRS: SIGMETRICS '02, section 3 ------------------------------------------------------------- */

/* S and Q are lists of keys. RESIDENT has the entries; their mark is whether they are LIR. */
enum { S, Q, RESIDENT };

static bool is_lir(const cache_model *m, uint64_t key)
{
    int64_t i = model_find(m, RESIDENT, key);
    return i >= 0 && m->q[RESIDENT].at[i].mark;
}

static void lirs_prune(cache_model *m)
{
    while (m->q[S].n && !is_lir(m, m->q[S].at[0].key)) model_take(m, S, 0);
}

static void to_end(cache_model *m, int q, model_entry x)
{
    int64_t i = model_find(m, q, x.key);
    if (i >= 0) model_take(m, q, (size_t)i);
    model_put(m, q, x);
}

static uint64_t lirs_most(const cache_model *m) { return m->capacity - (m->capacity < 100 ? 1 : m->capacity / 100); }

static uint64_t lirs_count(const cache_model *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->q[RESIDENT].n; i++) n += m->q[RESIDENT].at[i].mark != 0;
    return n;
}

/* The HIR entry x, resident, gets LIR, and the LIR entry at S's end gets HIR if there are too many. */
static void lirs_rise(cache_model *m, model_entry x)
{
    m->q[RESIDENT].at[model_find(m, RESIDENT, x.key)].mark = 1;
    int64_t i = model_find(m, Q, x.key);
    if (i >= 0) model_take(m, Q, (size_t)i);
    to_end(m, S, x);
    lirs_prune(m);
    if (lirs_count(m) <= lirs_most(m)) return;
    model_entry old = model_take(m, S, 0);
    m->q[RESIDENT].at[model_find(m, RESIDENT, old.key)].mark = 0;
    model_put(m, Q, old);
    lirs_prune(m);
}

static void lirs_touch(cache_model *m, model_entry x)
{
    bool in_s = model_find(m, S, x.key) >= 0;
    if (in_s && !is_lir(m, x.key)) {
        lirs_rise(m, x);
        return;
    }
    if (!is_lir(m, x.key)) to_end(m, Q, x);
    to_end(m, S, x);
    lirs_prune(m);
}

static void lirs_hit(cache_model *m, int q, size_t i) { lirs_touch(m, m->q[q].at[i]); }

static void lirs_miss(cache_model *m, model_entry x)
{
    while (model_lacks(m, x.size)) {
        model_entry front = model_take(m, Q, 0);
        model_leave(m, RESIDENT, (size_t)model_find(m, RESIDENT, front.key));
    }
    model_put(m, RESIDENT, x);
    if (lirs_count(m) < lirs_most(m))
        lirs_rise(m, x);
    else
        lirs_touch(m, x);
}

const model_rule model_lirs = { "full:lirs", 1 << RESIDENT, lirs_hit, lirs_miss, false };

/* ---- LRU-2: SIGMOD '93, section 2 ---------------------------------------------------------------- */

static void lruk_hit(cache_model *m, int q, size_t i) { (void)m, (void)q, (void)i; }

static void lruk_miss(cache_model *m, model_entry x)
{
    int64_t history = model_find(m, 1, x.key);
    while (model_lacks(m, x.size)) {
        size_t v = 0;
        const model_entry *e = m->q[0].at;
        for (size_t i = 1; i < m->q[0].n; i++)
            if (e[i].before < e[v].before || (e[i].before == e[v].before && e[i].last < e[v].last)) v = i;
        model_put(m, 1, model_leave(m, 0, v));
    }
    if (history >= 0) x.before = model_take(m, 1, (size_t)history).last;
    while (model_units(m, 1) > m->capacity) model_take(m, 1, 0);
    model_put(m, 0, x);
}

const model_rule model_lruk = { "full:lruk", 1, lruk_hit, lruk_miss, true };

/* ---- LRFU: ToC 2001, section 2 ------------------------------------------------------------------- */

/* The weight at the time of the last request; it halves in 1024 requests. */
static long double lrfu_now(const cache_model *m, const model_entry *e)
{
    return e->weight * exp2l(-(long double)(m->number - e->last) / 1024);
}

/* model_run has set last and before. */
static void lrfu_hit(cache_model *m, int q, size_t i)
{
    model_entry *e = &m->q[q].at[i];
    e->weight = 1 + e->weight * exp2l(-(long double)(e->last - e->before) / 1024);
}

static void lrfu_miss(cache_model *m, model_entry x)
{
    while (model_lacks(m, x.size)) {
        size_t v = 0;
        for (size_t i = 1; i < m->q[0].n; i++)
            if (lrfu_now(m, &m->q[0].at[i]) < lrfu_now(m, &m->q[0].at[v])) v = i;
        model_leave(m, 0, v);
    }
    x.weight = 1;
    model_put(m, 0, x);
}

const model_rule model_lrfu = { "full:lrfu", 1, lrfu_hit, lrfu_miss, true };

/* ---- Hyperbolic: ATC '17 -------------------------------------------------------------- */

static void hyperbolic_hit(cache_model *m, int q, size_t i) { (void)m, (void)q, (void)i; }

/* The last entry takes the place of the one that leaves. */
static void hyperbolic_miss(cache_model *m, model_entry x)
{
    model_queue *w = &m->q[0];
    while (model_lacks(m, x.size)) {
        size_t v = 0;
        double least = INFINITY;
        for (size_t k = 0; k < (w->n > 64 ? 64 : w->n); k++) {
            size_t i = w->n > 64 ? (size_t)hd_rng_below(&m->rng, w->n) : k;
            const model_entry *e = &w->at[i];
            double p = (double)e->times / ((double)(m->number - e->first) * bytes_of(e->size));
            if (p < least) v = i;
            if (p < least) least = p;
        }
        w->at[v] = w->at[w->n - 1];
        w->n--;
        m->left++;
    }
    model_put(m, 0, x);
}

const model_rule model_hyperbolic = { "full:hyperbolic", 1, hyperbolic_hit, hyperbolic_miss, true };

/* ---- CLOCK-Pro: ATC '05 --------------------------------------------------------------- */

/* CLOCK has all pages, from the one at HANDhot to the list head: marks are sums of these. RESIDENTS has those in
 * memory. `times` of the model's entries is 1 in CLOCK for a page that HANDcold points to, `first` for HANDtest. */
enum { CLOCK, RESIDENTS, REF = 1, HOT = 2, TEST = 4 };

static model_entry *page(cache_model *m, size_t i) { return &m->q[CLOCK].at[i]; }
static bool in_memory(const cache_model *m, uint64_t key) { return model_find(m, RESIDENTS, key) >= 0; }

static uint64_t pages(const cache_model *m, bool hot)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->q[CLOCK].n; i++) {
        const model_entry *e = &m->q[CLOCK].at[i];
        n += hot ? (e->mark & HOT) != 0 : !in_memory(m, e->key);
    }
    return n;
}

/* The page leaves its place; a hand there goes on to the next one. */
static model_entry clock_take(cache_model *m, size_t i)
{
    model_entry e = model_take(m, CLOCK, i);
    size_t next = i == m->q[CLOCK].n ? 0 : i;
    if (m->q[CLOCK].n && e.times) page(m, next)->times = 1;
    if (m->q[CLOCK].n && e.first) page(m, next)->first = 1;
    e.times = e.first = 0;
    return e;
}

/* Where a hand is, which then goes on by one; at first it is at HANDhot. */
static size_t hand_step(cache_model *m, bool cold)
{
    size_t at = 0, n = m->q[CLOCK].n;
    for (size_t i = 0; i < n; i++) {
        uint64_t *hand = cold ? &page(m, i)->times : &page(m, i)->first;
        if (*hand) at = i;
        *hand = 0;
    }
    *(cold ? &page(m, (at + 1) % n)->times : &page(m, (at + 1) % n)->first) = 1;
    return at;
}

/* Ends the test period of a cold page; false: it was not resident, and is removed. */
static bool keeps_without_test(cache_model *m, size_t i)
{
    if (page(m, i)->mark & TEST && m->target > 1) m->target--;
    page(m, i)->mark &= ~TEST;
    if (in_memory(m, page(m, i)->key)) return true;
    clock_take(m, i);
    return false;
}

static void hand_hot(cache_model *m)
{
    while (pages(m, true)) {
        model_entry *e = page(m, 0);
        if (e->mark & HOT && pages(m, true) <= m->capacity - m->target) return;
        if (e->mark & HOT)
            e->mark = e->mark & REF ? HOT : 0;
        else if (!keeps_without_test(m, 0))
            continue;
        model_put(m, CLOCK, model_take(m, CLOCK, 0)); /* the hand passes by */
    }
}

static void gets_hot(cache_model *m, model_entry e)
{
    e.mark = HOT;
    model_put(m, CLOCK, e);
    if (m->target < m->capacity) m->target++;
    if (pages(m, true) > m->capacity - m->target) hand_hot(m);
}

static void hand_cold(cache_model *m)
{
    for (;;) {
        size_t i = hand_step(m, true);
        model_entry *e = page(m, i);
        int64_t resident = model_find(m, RESIDENTS, e->key);
        if (e->mark & HOT || resident < 0) continue;
        if (!(e->mark & REF)) {
            model_leave(m, RESIDENTS, (size_t)resident);
            if (!(e->mark & TEST)) clock_take(m, i);
            return;
        }
        model_entry moved = clock_take(m, i);
        if (moved.mark & TEST)
            gets_hot(m, moved);
        else {
            moved.mark = TEST;
            model_put(m, CLOCK, moved);
        }
    }
}

static void clockpro_hit(cache_model *m, int q, size_t i)
{
    page(m, (size_t)model_find(m, CLOCK, m->q[q].at[i].key))->mark |= REF;
}

static void clockpro_miss(cache_model *m, model_entry x)
{
    if (!m->target) m->target = m->capacity;
    while (model_lacks(m, x.size)) hand_cold(m);
    while (pages(m, false) > m->capacity) {
        size_t i = hand_step(m, false);
        if (!(page(m, i)->mark & HOT)) keeps_without_test(m, i);
    }
    int64_t ghost = model_find(m, CLOCK, x.key);
    model_put(m, RESIDENTS, x);
    x.times = x.first = 0;
    x.mark = TEST;
    if (ghost >= 0) {
        clock_take(m, (size_t)ghost);
        gets_hot(m, x);
    } else
        model_put(m, CLOCK, x);
}

const model_rule model_clockpro = { "full:clockpro", 1 << RESIDENTS, clockpro_hit, clockpro_miss, false };
