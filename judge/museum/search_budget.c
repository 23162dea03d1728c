/* SPDX-License-Identifier: Apache-2.0
 *
 * search_budget.c - looks for a bug in how a table fits into the device memory that `near` allows (words: the design):
 * what random tables would take on a device is added up, piece by piece; and, when the limit changes, what is taken and
 * given back, at every moment.
 */
#include <string.h>

#include "base/backend.h"
#include "base/error.h"
#include "lib/params.h"
#include "judge/museum/streams.h"
#include "workload/rng.h"

enum { ALIGNED = 256 /* what a device rounds a piece up to */ };

static const hd_design *design;

/* Bytes of device memory of a table with this description. */
static uint64_t bytes_on_device(const hd_gpu *gpu, const hd_info *info)
{
    static _Alignas(64) unsigned char state[HD_STATE_MOST];
    hd_memory all[HD_MEMORY_MOST];
    uint64_t bytes = 0;
    memset(state, 0, gpu->state_bytes);
    ((hd_gpu_state *)(void *)state)->info = *info;
    ((hd_gpu_state *)(void *)state)->device = true;
    gpu->begin(state);
    int n = hd_gpu_taken(gpu, state, all);
    for (int i = 0; i < n; i++)
        if (all[i].put != HD_HOST_MEMORY) bytes += (all[i].count * all[i].size + ALIGNED - 1) / ALIGNED * ALIGNED;
    return bytes;
}

static uint64_t draw_limit(hd_rng *g) { return (8 << 20) + hd_rng_below(g, 64 << 20); }

/* A random table with this limit; false: that is below the least. */
static bool draw_table(hd_rng *g, uint64_t limit, hd_info *info)
{
    hd_config c = hd_config_of(design->name);
    memset(info, 0, sizeof *info);
    c.capacity = 1 + hd_rng_below(g, 16 << 20);
    hd_params_number_set(&c, design->name, "near", limit);
    info->slots = c.slots;
    info->value_bytes = c.value_bytes;
    info->layout = c.layout;
    hd_params_to_info(design->params, &c, info);
    return hd_backend_named(design, "cuda")->shape(design, &c, info) == HD_OK;
}

static const char *once(hd_rng *g)
{
    hd_info info;
    uint64_t limit = draw_limit(g);
    if (!draw_table(g, limit, &info)) return NULL;
    return bytes_on_device(design->gpu, &info) > limit ? "a table takes more device memory than `near` allows" : NULL;
}

const char *museum_look_budget(const museum_search *s, museum_sight *sight, const char *words)
{
    design = hd_design_named(words);
    if (!design || !design->gpu) return "there is no such design";
    return museum_try_seeds(s, sight, MUSEUM_REST, once);
}

/* ---- When the limit changes ------------------------------------------------------------------ */

/* A machine that counts what is taken, and runs nothing. */
typedef struct meter {
    unsigned char *state;
    uint64_t bytes, most, pieces;
} meter;

static uint64_t counted(const hd_memory *piece)
{
    if (piece->put == HD_HOST_MEMORY) return 0;
    return (piece->count * piece->size + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static hd_status take(void *self, const hd_memory *piece)
{
    meter *m = (meter *)self;
    m->bytes += counted(piece);
    if (m->bytes > m->most) m->most = m->bytes;
    hd_field_set(m->state, piece->field,
                 (void *)(uintptr_t)(++m->pieces << 40)); /* no memory is there: no kernel runs */
    return HD_OK;
}

static void give(void *self, const hd_memory *piece)
{
    meter *m = (meter *)self;
    m->bytes -= counted(piece);
    hd_field_set(m->state, piece->field, NULL);
}

static hd_status launch(void *self, uint32_t kernel, const void *args, size_t bytes, uint64_t blocks, uint32_t threads)
{
    (void)self, (void)kernel, (void)args, (void)bytes, (void)blocks, (void)threads;
    return HD_OK;
}

static hd_status zero(void *self, void *p, size_t bytes)
{
    (void)self, (void)p, (void)bytes;
    return HD_OK;
}

static hd_status read_zeros(void *self, void *here, const void *there, size_t bytes)
{
    (void)self, (void)there;
    memset(here, 0, bytes);
    return HD_OK;
}

static void begin(meter *m, const hd_info *info)
{
    hd_memory all[HD_MEMORY_MOST];
    memset(m->state, 0, design->gpu->state_bytes);
    ((hd_gpu_state *)(void *)m->state)->info = *info;
    ((hd_gpu_state *)(void *)m->state)->device = true;
    design->gpu->begin(m->state);
    int n = hd_gpu_taken(design->gpu, m->state, all);
    for (int i = 0; i < n; i++)
        if (all[i].count) take(m, &all[i]);
    design->gpu->taken(m->state);
}

static const char *once_changed(hd_rng *g)
{
    enum { CHANGES = 6 };
    static _Alignas(64) unsigned char state[HD_STATE_MOST];
    hd_info info;
    uint64_t limit = draw_limit(g), next;
    meter m = { state, 0, 0, 0 };
    const hd_gpu_machine machine = { { launch, zero, &m, 1024, 1024, 0, false }, take, give, read_zeros, &m };
    if (!draw_table(g, limit, &info)) return NULL;
    begin(&m, &info);
    for (int i = 0; i < CHANGES; i++, limit = next) {
        next = draw_limit(g);
        m.most = m.bytes;
        hd_status status = design->gpu->set_near(state, NULL, &machine, next, &info);
        if (status) next = limit;
        ((hd_gpu_state *)(void *)state)->info = info;
        if (m.most > (limit > next ? limit : next)) return "a change of `near` takes more than both limits allow";
        if (m.bytes > next) return "a table takes more device memory than its new limit allows";
    }
    return NULL;
}

const char *museum_look_limits(const museum_search *s, museum_sight *sight, const char *words)
{
    design = hd_design_named(words);
    if (!design || !design->gpu || !design->gpu->set_near) return "there is no such design";
    return museum_try_seeds(s, sight, MUSEUM_REST, once_changed);
}
