/* SPDX-License-Identifier: Apache-2.0
 *
 * whole_table.c - calls that concern the whole of an HKV table, as launches: growth, and hd_check on a device.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "gpu/hkv/launch.h"
#include "gpu/hkv/state.h"
#include "ref/hkv/hkv.h"

/* ---- Growth ---------------------------------------------------------------------------------- */

enum { PIECES = 4 };

/* A growth, and the memory that it has taken beside the planes. */
typedef struct growth {
    hkv_grow_args *a; /* to->grow */
    hkv_state *to;
    const hd_gpu_machine *m;
    uint64_t warps; /* at most so many take part */
    hd_memory taken[PIECES];
    int pieces;
} growth;

/* The address of the piece goes to `field` of the state. */
static hd_status take(growth *g, const char *what, size_t field, uint64_t count, uint64_t size, int byte)
{
    const hd_memory piece = {
        .what = what, .field = field, .count = count, .size = size, .fill = byte, .put = HD_APART
    };
    if (count == 0 || size == 0) return HD_OK;
    HD_ASSERT(g->pieces < PIECES && !hd_field(g->to, field), "a growth takes a piece twice");
    g->taken[g->pieces++] = piece;
    return g->m->take(g->m->self, &piece);
}

static void give_all(const growth *g)
{
    for (int i = 0; i < g->pieces; i++)
        if (hd_field(g->to, g->taken[i].field)) g->m->give(g->m->self, &g->taken[i]);
}

static hd_status launch(const growth *g, uint32_t kernel, uint64_t warps)
{
    return g->m->on.launch(g->m->on.self, kernel, g->a, sizeof *g->a,
                           hd_launch_blocks(&g->m->on, 32 * warps, HKV_GROW_THREADS), HKV_GROW_THREADS);
}

static hd_status zero_words(const growth *g) { return g->m->on.zero(g->m->on.self, g->a->words, sizeof *g->a->words); }

/* How many entries have no child of their bucket to go to (resize.h). */
static hd_status count_strays(const growth *g, uint64_t *n)
{
    const uint64_t most = HKV_GROW_MOVED - 1;
    hd_status status = zero_words(g);
    if (!status) status = launch(g, HKV_NUMBER_grow_strays, g->a->from.buckets);
    if (!status) status = g->m->read(g->m->self, n, &g->a->words->strays, sizeof *n);
    if (!status && *n > most) /* no test has 2^31 entries: GCOVR_EXCL_START */
        status = hd_fail(HD_ENOMEM, "growth: %" PRIu64 " entries change their bucket, and %" PRIu64 " may", *n, most);
    /* GCOVR_EXCL_STOP */
    return status;
}

/* Most tables have few, or none: the first launch counts them, the second lists them. */
static hd_status list_strays(growth *g)
{
    uint64_t n = 0;
    hd_status status = count_strays(g, &n);
    if (status || n == 0) return status;
    status = take(g, "growth: strays", offsetof(hkv_state, grow.stray), n, sizeof(hkv_stray), HD_AS_IT_COMES);
    if (!status)
        status =
            take(g, "growth: strays", offsetof(hkv_state, grow.stray_value), n, g->a->from.value_bytes, HD_AS_IT_COMES);
    if (status) return status;
    g->a->stray_room = n;
    return count_strays(g, &n);
}

/* Room for the near values of one bucket for each warp, if the children's may lie where the bucket's lie. It is at most
 * 64 MiB, or an eighth of the near tier, but has room for one bucket; so it limits the number of warps. */
static hd_status take_aside(growth *g)
{
    enum { MOST = 64 << 20, SHARE = 8 };
    const hkv_view *from = &g->a->from;
    uint64_t near = from->far ? from->near + (from->part != 0) : from->slots, all = hkv_near_bytes(from) / SHARE,
             bytes = (near * from->value_bytes + 15) & ~15ull;
    if (!g->a->values_in_place || !g->a->to.far || !g->a->to.striped || bytes == 0) return HD_OK;
    uint64_t fit = (all < MOST ? all : MOST) / bytes;
    if (fit < g->warps) g->warps = fit ? fit : 1;
    g->a->aside_warps = g->warps;
    g->a->aside_bytes = bytes;
    hd_status status = take(g, "growth: near values", offsetof(hkv_state, grow.aside), g->warps, bytes, HD_AS_IT_COMES);
    HD_ASSERT(g->warps > 0 && g->warps <= from->buckets, "a warp has no bucket");
    return status;
}

static hd_status prepare(growth *g)
{
    hkv_grow_args *a = g->a;
    hd_status status = HD_OK;
    if (a->in_place || a->values_in_place || a->from.dual)
        status = take(g, "growth: buckets", offsetof(hkv_state, grow.bucket), a->from.buckets, sizeof *a->bucket, 0);
    if (!status) status = take_aside(g);
    if (!status && a->from.dual) status = list_strays(g);
    return status ? status : zero_words(g);
}

hd_status hkv_grow(void *from, void *to, const hd_gpu_machine *m, uint64_t **moved)
{
    hkv_state *o = (hkv_state *)from, *n = (hkv_state *)to;
    growth g;
    HD_ASSERT(n->v.buckets % o->v.buckets == 0 && n->v.slots == o->v.slots, "a bucket has no children");
    memset(&g, 0, sizeof g);
    memset(&n->grow, 0, sizeof n->grow);
    g.a = &n->grow;
    g.to = n;
    g.m = m;
    g.warps = o->v.buckets;
    g.a->from = o->v;
    g.a->to = n->v;
    g.a->in_place = o->v.key == n->v.key;
    g.a->values_in_place = o->v.value == n->v.value && o->v.value_bytes;
    g.a->pins_from = &o->words->pins;
    g.a->pins_to = &n->words->pins;
    g.a->words = &n->words->grow;
    *moved = &n->words->grow.moved;
    hd_status status = prepare(&g);
    if (!status) status = launch(&g, HKV_NUMBER_grow, g.warps);
    if (!status) status = hkv_forget_all(&m->on, &n->v);
    give_all(&g);
    return status;
}

/* ---- hd_check -------------------------------------------------------------------------------- */

hd_status hkv_check_there(void *state, const hd_gpu_machine *m)
{
    hkv_state *o = (hkv_state *)state;
    hkv_check_words found = { 0, 0 };
    hkv_check_args a = { o->v, &o->words->check };
    uint64_t pins = 0;
    char why[256] = "";
    hd_status status = m->on.zero(m->on.self, a.words, sizeof *a.words);
    if (!status)
        status = m->on.launch(m->on.self, HKV_NUMBER_check, &a, sizeof a,
                              hd_launch_blocks(&m->on, 32 * o->v.buckets, HKV_GROW_THREADS), HKV_GROW_THREADS);
    if (!status) status = m->read(m->self, &found, a.words, sizeof found);
    if (!status) status = m->read(m->self, &pins, &o->words->pins.count, sizeof pins);
    if (status) return status;
    if (found.first)
        hkv_say_broken(&o->v, ~found.first / HKV_RULES, (int)(~found.first % HKV_RULES), why, sizeof why);
    else if (found.pinned != pins)
        hkv_say_pins(found.pinned, pins, why, sizeof why);
    return why[0] ? hd_fail(HD_ECORRUPT, "%s", why) : HD_OK;
}
