/* SPDX-License-Identifier: Apache-2.0
 *
 * meter.c - what a GPU's memory would be asked for: warp instructions, 32-byte sectors, 128-byte lines.
 *
 * Lanes run one by one here, so their accesses have to be put together into the instructions that the warp would have
 * issued: those at one site, in the same turn of the same loops. Loops are told from line numbers alone: a line that
 * comes again, or one above, is another turn. simt_join() marks where branches meet again, since a loop's end has no
 * access.
 */
#include <stdlib.h>
#include <string.h>

#include "simt/state.h"

enum { SECTOR = 32, SECTORS_PER_LINE = 4, SECTORS_MOST = 64, OPEN_MOST = 512 };

/* A warp instruction that lanes may still join. */
typedef struct instruction {
    uint64_t key;
    const char *site;
    uint32_t kind, lanes, sectors;
    uint64_t bytes;
    bool shared;
    uintptr_t sector[SECTORS_MOST];
} instruction;

/* The number at the end of "file:line". */
static uint64_t line_of(const char *site)
{
    const char *colon = strrchr(site, ':');
    return colon ? (uint64_t)strtoul(colon + 1, NULL, 10) : 0;
}

/* Which turn of which loops the lane is in, as a number. */
static uint64_t turn_key(lane *l, const char *site, uint32_t kind)
{
    uint64_t line = line_of(site), place = line << 8 | kind;
    while (l->turns_n && l->turns[l->turns_n - 1].place >> 8 > line) l->turns_n--;
    if (l->turns_n && l->turns[l->turns_n - 1].place == place) {
        l->turns[l->turns_n - 1].n++;
    } else if (l->turns_n < NESTING) {
        turn t = { place, 0 };
        l->turns[l->turns_n++] = t;
    }
    uint64_t key = (uint64_t)(uintptr_t)site * 31 + kind;
    for (uint32_t i = 0; i < l->turns_n; i++) {
        key = (key ^ l->turns[i].place << 20 ^ l->turns[i].n) * 0x9e3779b97f4a7c15ull;
        key ^= key >> 29;
    }
    return key;
}

static simt_site *site_at(simt_machine *m, const char *site, uint32_t kind, bool shared)
{
    simt_site *all = (simt_site *)m->sites.p;
    for (size_t i = 0; i < m->sites.n; i++)
        if (all[i].site == site && all[i].kind == kind) return &all[i];
    simt_site s;
    memset(&s, 0, sizeof s);
    s.site = site;
    s.kind = kind;
    s.shared = shared;
    return vec_push(m, &m->sites, &s) ? (simt_site *)m->sites.p + m->sites.n - 1 : NULL;
}

static void count(simt_machine *m, const instruction *o)
{
    simt_site *s = site_at(m, o->site, o->kind, o->shared);
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
    m->totals.lines += lines;
    m->totals.bytes += o->bytes;
}

/* No lane of w can join what is open any more. */
void meter_close(simt_machine *m, warp *w)
{
    const instruction *all = (const instruction *)w->open.p;
    for (size_t i = 0; i < w->open.n; i++) count(m, &all[i]);
    w->open.n = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++) w->member[i]->turns_n = 0;
}

static instruction *instruction_at(simt_machine *m, warp *w, uint64_t key, const char *site, uint32_t kind, bool shared)
{
    instruction *all = (instruction *)w->open.p;
    for (size_t i = w->open.n; i; i--)
        if (all[i - 1].key == key) return &all[i - 1];
    if (w->open.n >= OPEN_MOST) meter_close(m, w);
    instruction o;
    memset(&o, 0, sizeof o);
    o.key = key;
    o.site = site;
    o.kind = kind;
    o.shared = shared;
    w->open.size = sizeof o;
    return vec_push(m, &w->open, &o) ? (instruction *)w->open.p + w->open.n - 1 : NULL;
}

void meter_access(simt_machine *m, const char *site, uint32_t kind, const void *p, uint32_t bytes)
{
    lane *l = m->now;
    bool shared = block_of_shared(m, p) != NULL;
    instruction *o = instruction_at(m, l->warp, turn_key(l, site, kind), site, kind, shared);
    if (!o) return;
    o->lanes++;
    o->bytes += bytes;
    for (uintptr_t s = (uintptr_t)p / SECTOR; !shared && s <= ((uintptr_t)p + bytes - 1) / SECTOR; s++) {
        uint32_t i = 0;
        while (i < o->sectors && o->sector[i] != s) i++;
        if (i == o->sectors && i < SECTORS_MOST) o->sector[o->sectors++] = s;
    }
}

void simt_host_join(const char *site)
{
    lane *l = simt_current->now;
    if (!simt_current->config.meter) return;
    (void)site;
    turn t = { 0, ++l->joins };
    l->turns[0] = t;
    l->turns_n = 1;
}

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
    *n = m->sites.n;
    if (*n) qsort(m->sites.p, *n, sizeof(simt_site), by_text);
    return (const simt_site *)m->sites.p;
}
