/* SPDX-License-Identifier: Apache-2.0
 *
 * meter.c - an observer that counts the memory traffic of a GPU: warp instructions, 32-byte sectors, 128-byte lines.
 *
 * Lanes run one by one, so their accesses have to be combined into the instructions that a warp would have issued:
 * those of one site in the same iteration of the same loops. Loops are recognised by line numbers: a line that comes
 * again, or one above it, begins another iteration. simt_join() marks where branches meet again, because a loop's end
 * has no access.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "simt/finding.h"
#include "simt/list.h"
#include "simt/observers.h"
#include "simt/space.h"

enum { NESTING = 24, SECTOR = 32, SECTORS_PER_LINE = 4, SECTORS_MOST = 64, OPEN_MOST = 512 };

/* A warp instruction that lanes may still join. */
typedef struct instruction {
    uint64_t key;
    const char *site;
    uint32_t kind, lanes, sectors, far_sectors;
    uint64_t bytes;
    bool shared;
    uintptr_t sector[SECTORS_MOST];
} instruction;

/* One iteration of a loop, by line numbers: which line, and how often in a row. */
typedef struct turn {
    uint64_t line; /* and kind */
    uint32_t n;
} turn;

typedef struct lane_turns {
    turn turns[NESTING];
    uint32_t turns_n, joins;
} lane_turns;

typedef struct meter {
    vec sites;         /* simt_site */
    vec *open;         /* (warps) of instruction: those that lanes of the warp may still join */
    lane_turns *turns; /* (32 warps) by the lane's number */
    uint32_t warps;
} meter;

/* ---- Rooms ----------------------------------------------------------------------------------- */

static bool meter_wanted(const simt_config *c) { return c->meter; }

static void meter_close(void *self, simt_machine *m)
{
    meter *t = (meter *)self;
    for (uint32_t i = 0; i < t->warps; i++) vec_free(m, &t->open[i]);
    hd_give(&m->seams, t->open, t->warps, sizeof *t->open);
    hd_give(&m->seams, t->turns, (size_t)t->warps * WARP_LANES, sizeof *t->turns);
    vec_free(m, &t->sites);
    memset(t, 0, sizeof *t);
}

static bool meter_begin(void *self, simt_machine *m, uint64_t lanes)
{
    meter *t = (meter *)self;
    void *open = NULL, *turns = NULL;
    (void)lanes;
    if (t->warps < m->warps_n) {
        meter_close(t, m);
        if (hd_take(&m->seams, "simt: meter", m->warps_n, sizeof *t->open, &open) ||
            hd_take(&m->seams, "simt: meter", m->lanes_n, sizeof *t->turns, &turns)) {
            hd_give(&m->seams, open, m->warps_n, sizeof *t->open);
            found(m, SIMT_RESOURCE, "no memory to meter %u warps", m->warps_n);
            return false;
        }
        t->open = (vec *)memset(open, 0, m->warps_n * sizeof *t->open);
        t->turns = (lane_turns *)turns;
        t->warps = m->warps_n;
    }
    vec_of(m, &t->sites, sizeof(simt_site));
    for (uint32_t i = 0; i < t->warps; i++) vec_of(m, &t->open[i], sizeof(instruction));
    return true;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

/* The number at the end of "file:line". */
static uint64_t line_of(const char *site)
{
    const char *colon = strrchr(site, ':');
    return colon ? (uint64_t)strtoul(colon + 1, NULL, 10) : 0;
}

/* The lane's position in its loops, as a number. */
static uint64_t turn_key(lane_turns *l, const char *site, uint32_t kind)
{
    uint64_t number = line_of(site), line = number << 8 | kind;
    while (l->turns_n && l->turns[l->turns_n - 1].line >> 8 > number) l->turns_n--;
    if (l->turns_n && l->turns[l->turns_n - 1].line == line) {
        l->turns[l->turns_n - 1].n++;
    } else if (l->turns_n < NESTING) {
        turn t = { line, 0 };
        l->turns[l->turns_n++] = t;
    }
    HD_ASSERT(l->turns_n <= NESTING && kind < 1u << 8, "loops are nested deeper than they are counted");
    uint64_t key = (uint64_t)(uintptr_t)site * 31 + kind;
    for (uint32_t i = 0; i < l->turns_n; i++) {
        key = (key ^ l->turns[i].line << 20 ^ l->turns[i].n) * 0x9e3779b97f4a7c15ull;
        key ^= key >> 29;
    }
    return key;
}

static simt_site *site_at(meter *t, simt_machine *m, const char *site, uint32_t kind, bool shared)
{
    simt_site *all = (simt_site *)t->sites.p;
    for (size_t i = 0; i < t->sites.n; i++)
        if (all[i].site == site && all[i].kind == kind) return &all[i];
    simt_site s;
    memset(&s, 0, sizeof s);
    s.site = site;
    s.kind = kind;
    s.shared = shared;
    return vec_push(m, &t->sites, &s) ? (simt_site *)t->sites.p + t->sites.n - 1 : NULL;
}

static void count(meter *t, simt_machine *m, const instruction *o)
{
    simt_site *s = site_at(t, m, o->site, o->kind, o->shared);
    uintptr_t line[SECTORS_MOST];
    uint32_t lines = 0;
    for (uint32_t i = 0; i < o->sectors; i++) {
        uint32_t k = 0;
        while (k < lines && line[k] != o->sector[i] / SECTORS_PER_LINE) k++;
        if (k == lines) line[lines++] = o->sector[i] / SECTORS_PER_LINE;
    }
    if (!s) return;
    s->instructions++;
    s->lanes += o->lanes;
    s->sectors += o->sectors;
    s->lines += lines;
    s->bytes += o->bytes;
    if (o->shared) return;
    m->totals.instructions++;
    m->totals.sectors += o->sectors;
    m->totals.far_sectors += o->far_sectors;
    m->totals.lines += lines;
    m->totals.bytes += o->bytes;
}

/* Lanes of w can no longer join open instructions. */
static void meter_converge(void *self, simt_machine *m, const warp *w)
{
    meter *t = (meter *)self;
    vec *open = &t->open[w->number];
    const instruction *all = (const instruction *)open->p;
    for (size_t i = 0; i < open->n; i++) count(t, m, &all[i]);
    open->n = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++) t->turns[w->member[i]->number].turns_n = 0;
}

static instruction *instruction_at(meter *t, simt_machine *m, const warp *w, uint64_t key, const memory_access *a,
                                   bool shared)
{
    vec *open = &t->open[w->number];
    instruction *all = (instruction *)open->p;
    HD_ASSERT(w->number < t->warps && open->n <= OPEN_MOST);
    for (size_t i = open->n; i; i--)
        if (all[i - 1].key == key) return &all[i - 1];
    if (open->n >= OPEN_MOST) meter_converge(t, m, w);
    instruction o;
    memset(&o, 0, sizeof o);
    o.key = key;
    o.site = a->site;
    o.kind = a->kind;
    o.shared = shared;
    return vec_push(m, open, &o) ? (instruction *)open->p + open->n - 1 : NULL;
}

static void meter_access(void *self, simt_machine *m, const memory_access *a)
{
    meter *t = (meter *)self;
    const lane *l = m->now;
    if (a->way == ACCESS_COPY_TO || a->way == ACCESS_COPY_DONE) return;
    size_t metered = m->config.metered_bytes;
    if (metered && (uintptr_t)a->p - (uintptr_t)m->config.metered >= metered) return;
    bool shared = block_of_shared(m, a->p) != NULL;
    instruction *o = instruction_at(t, m, l->warp, turn_key(&t->turns[l->number], a->site, a->kind), a, shared);
    if (!o) return;
    const region *r = shared ? NULL : region_of(m, (const uint8_t *)a->p, 1);
    o->lanes++;
    o->bytes += a->bytes;
    for (uintptr_t s = (uintptr_t)a->p / SECTOR; !shared && s <= ((uintptr_t)a->p + a->bytes - 1) / SECTOR; s++) {
        uint32_t i = 0;
        while (i < o->sectors && o->sector[i] != s) i++;
        if (i != o->sectors || i >= SECTORS_MOST) continue;
        o->sector[o->sectors++] = s;
        o->far_sectors += r && r->far;
    }
}

static void meter_lane_begin(void *self, simt_machine *m, const lane *l)
{
    lane_turns *t = &((meter *)self)->turns[l->number];
    (void)m;
    t->turns_n = t->joins = 0;
}

static void meter_join(void *self, simt_machine *m, const lane *l)
{
    lane_turns *t = &((meter *)self)->turns[l->number];
    turn joined = { 0, ++t->joins };
    (void)m;
    t->turns[0] = joined;
    t->turns_n = 1;
}

/* clang-format off */
const simt_observer simt_meter = {
    .kinds = SIMT_AT_ALL, .state_bytes = sizeof(meter), .wanted = meter_wanted, .on_run = meter_begin,
    .on_lane_begin = meter_lane_begin, .on_access = meter_access, .on_converge = meter_converge,
    .on_join = meter_join, .close = meter_close
};
/* clang-format on */

/* ---- Sites ----------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    const simt_site *x = (const simt_site *)a, *y = (const simt_site *)b;
    const char *s = simt_site_name(x->site), *t = simt_site_name(y->site);
    size_t n = strcspn(s, ":"), k = strcspn(t, ":");
    int file = n == k ? memcmp(s, t, n) : strcmp(s, t);
    uint64_t i = line_of(s), j = line_of(t);
    return file ? file : i != j ? (i < j ? -1 : 1) : (int)x->kind - (int)y->kind;
}

const simt_site *simt_machine_sites(simt_machine *m, size_t *n)
{
    meter *t = (meter *)observer_state(m, &simt_meter);
    *n = t ? t->sites.n : 0;
    if (*n) qsort(t->sites.p, *n, sizeof(simt_site), by_text);
    return t ? (const simt_site *)t->sites.p : NULL;
}
