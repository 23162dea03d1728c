/* SPDX-License-Identifier: Apache-2.0
 *
 * registry.c - the rows of every registry of the library, as arrays and as text.
 */
#include <string.h>

#include "policies/hashes/hashes.h"
#include "base/error.h"
#include "base/named.h"
#include "lib/backend_cuda.h"
#include "lib/backend_host.h"
#include "lib/params.h"
#include "lib/table.h"
#include "policies/expression.h"
#include "policies/predicates/predicate.h"

#define HD_DESIGN(design) extern const hd_design design;
#include "lib/designs.inc"
#undef HD_DESIGN

/* A NULL ends them. */
static const hd_design *designs[HD_DESIGNS_MOST + 1] = {
#define HD_DESIGN(design) &design,
#include "lib/designs.inc"
#undef HD_DESIGN
};

#ifdef HD_WITHOUT_HOST
#define HOST    NULL
#define HOST_IS "in libheddle-sim, which a program links in place of libheddle"
#else
#define HOST    &hd_backend_host
#define HOST_IS ""
#endif

/* What each backend is, and the functions of those that run the kernels of any design. */
static const struct {
    hd_row row;
    const hd_backend *is; /* NULL: each design has its own, or this library has none */
} backends[] = {
    { { "ref", "the reference, sequential in meaning, on this machine's cores", "" }, NULL },
    { { "host", "the GPU's kernels, on a machine that runs their lanes as a scheduler says, on one core", HOST_IS },
      HOST },
    { { "cuda", "the same kernels on a GPU, whose memory holds the table", "" }, &hd_backend_cuda },
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

const hd_design *hd_design_at(size_t i) { return i < COUNT(designs) ? designs[i] : NULL; }
const hd_design *hd_design_named(const char *name)
{
    size_t i = 0;
    while (designs[i] && strcmp(designs[i]->name, name) != 0) i++;
    return designs[i];
}
const char *hd_design_elsewhere(const char *name)
{
    return strcmp(name, "gfsl") == 0 ? "; it is not in the library: the command heddle has it, and papers/ovs/gfsl"
                                     : "";
}
hd_status hd_design_add(const hd_design *d, const char *before)
{
    size_t at = 0, n = 0;
    while (designs[n]) n++;
    if (hd_design_named(d->name)) return hd_fail(HD_EINVAL, "design: there is a '%s' already", d->name);
    if (n == HD_DESIGNS_MOST) return hd_fail(HD_EINVAL, "design: %d are there; no room for '%s'", (int)n, d->name);
    for (; at < n; at++)
        if (d->params && designs[at]->params && designs[at]->params->config_at == d->params->config_at)
            return hd_fail(HD_EINVAL, "design: %s and %s would have the same fields of hd_config", designs[at]->name,
                           d->name);
    for (at = 0; at < n && (!before || strcmp(designs[at]->name, before) != 0);) at++;
    memmove(designs + at + 1, designs + at, (n - at) * sizeof *designs);
    designs[at] = d;
    return HD_OK;
}

const hd_backend *hd_backend_at(const hd_design *d, size_t i)
{
    if (i == 0) return d->ref;
    for (size_t k = 0; d->gpu && k < COUNT(backends); k++)
        if (backends[k].is && backends[k].is->runs(d) && --i == 0) return backends[k].is;
    return NULL;
}
const hd_backend *hd_backend_named(const hd_design *d, const char *name)
{
    size_t i = 0;
    while (d && hd_backend_at(d, i) && strcmp(hd_backend_at(d, i)->name, name) != 0) i++;
    return d ? hd_backend_at(d, i) : NULL;
}

bool hd_kernel_at(size_t i, hd_kernel *k)
{
    const hd_backend *on;
    for (size_t d = 0; designs[d]; d++)
        for (size_t b = 0; (on = hd_backend_at(designs[d], b)); b++) {
            uint32_t rows = hd_variant_row_count(hd_variants_on(designs[d], on));
            if (i < rows) return hd_kernel_of(designs[d], on, (uint32_t)i, k);
            i -= rows;
        }
    return false;
}

bool hd_kernel_named(const char *design, const char *backend, uint32_t row, hd_kernel *k)
{
    const hd_design *d = hd_design_named(design);
    const hd_backend *on = hd_backend_named(d, backend);
    return on && hd_kernel_of(d, on, row, k);
}

const char *hd_kernel_renamed(const char *name)
{
    const hd_backend *on;
    const hd_variant *v;
    for (size_t d = 0; designs[d]; d++)
        for (size_t b = 0; (on = hd_backend_at(designs[d], b)); b++)
            if ((v = hd_variant_named(hd_variants_on(designs[d], on), name))) return v->name;
    return name;
}

static const char *hash_flags(const hd_hash_row *hash)
{
#define HASH_FLAGS(bits)                                                                         \
    bits, bits ", one to one", bits ", linear", bits ", one to one, linear", bits ", avalanche", \
        bits ", one to one, avalanche", bits ", linear, avalanche", bits ", one to one, linear, avalanche"
    static const char *const text[16] = { HASH_FLAGS("32 bits"), HASH_FLAGS("64 bits") };
#undef HASH_FLAGS
    return text[(hash->flags & 7) | (hash->bits == 64 ? 8 : 0)];
}

static bool list_param(size_t i, hd_row *row)
{
    const hd_params *s;
    for (size_t k = 0; (s = hd_params_at(k)); i -= s->count, k++)
        if (i < s->count) return hd_row_put(row, s->row[i].name, s->row[i].what, s->design ? s->design : "");
    return false;
}

static bool list_predicate(size_t i, hd_row *row)
{
    const hd_predicate_row *p = hd_predicate_at(i);
    return p && hd_row_put(row, p->name, p->what, p->args);
}

static bool list_hash(size_t i, hd_row *row)
{
    if (i >= HD_HASH_COUNT) return false;
    const hd_hash_row *hash = &hd_hash_rows[i];
    return hd_row_put(row, hash->name, hash->what, hash_flags(hash));
}

static bool list_kernel(size_t i, hd_row *row)
{
    hd_kernel k;
    if (!hd_kernel_at(i, &k)) return false;
    return hd_row_put(row, k.variant->name, k.is->what[k.backend->device_arrays], k.design->name);
}

bool hd_list(hd_kind kind, size_t i, hd_row *row)
{
    const hd_design *design = hd_design_at(i);
    const hd_lock_row *lock = hd_lock_at(i);
    row->more = "";
    switch (kind) {
    case HD_DESIGNS: return design && hd_row_put(row, design->name, design->what, "");
    case HD_BACKENDS: return i < COUNT(backends) && (*row = backends[i].row, true);
    case HD_POLICIES: return hd_policy_list(kind, i, row);
    case HD_LOCKS: return lock && hd_row_put(row, lock->name, lock->what, "");
    case HD_PREDICATES: return list_predicate(i, row);
    case HD_KERNELS: return list_kernel(i, row);
    case HD_PARAMETERS: return list_param(i, row);
    case HD_HASHES: return list_hash(i, row);
    }
    return false;
}
