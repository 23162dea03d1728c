/* SPDX-License-Identifier: Apache-2.0
 *
 * registry.c - the rows of every registry of the library, as arrays and as text.
 */
#include <string.h>

#include "policies/hashes/hashes.h"
#include "base/error.h"
#include "base/named.h"
#include "lib/params.h"
#include "lib/table.h"
#include "policies/expression.h"
#include "policies/predicates/predicate.h"

#define HD_LOCK(name) extern const hd_lock_row hd_lock_##name;
#include "concurrency/registry.inc"
#undef HD_LOCK

#ifdef HD_WITHOUT_HOST
#define HD_DESIGN_ON_HOST(design)
#else
#define HD_DESIGN_ON_HOST(design) HD_DESIGN(design)
#endif

#define HD_DESIGN(design) extern const hd_design design;
#include "lib/designs.inc"
#undef HD_DESIGN

static const hd_lock_row *const locks[] = {
#define HD_LOCK(name) &hd_lock_##name,
#include "concurrency/registry.inc"
#undef HD_LOCK
    NULL,
};

static const hd_design *const designs[] = {
#define HD_DESIGN(design) &design,
#include "lib/designs.inc"
#undef HD_DESIGN
    NULL,
};

#ifdef HD_WITHOUT_HOST
#define HOST_IS "in libheddle-sim, which a program links in place of libheddle"
#else
#define HOST_IS ""
#endif

static const hd_row backends[] = {
    { "ref", "the reference, sequential in meaning, on this machine's cores", "" },
    { "host", "the GPU's kernels, on a machine that runs their lanes as a scheduler says, on one core", HOST_IS },
    { "cuda", "the same kernels on a GPU, whose memory holds the table", "" },
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

const hd_lock_row *hd_lock_at(size_t i) { return i < COUNT(locks) ? locks[i] : NULL; }
const hd_lock_row *hd_lock_named(const char *name)
{
    size_t i = 0;
    while (locks[i] && strcmp(locks[i]->name, name) != 0) i++;
    return locks[i];
}

const hd_design *hd_design_on(const char *name, const char *backend)
{
    for (size_t i = 0; designs[i]; i++)
        if (strcmp(designs[i]->name, name) == 0 && strcmp(designs[i]->backend, backend) == 0) return designs[i];
    return NULL;
}
const hd_design *hd_design_at(size_t i) { return i < COUNT(designs) ? designs[i] : NULL; }

bool hd_kernel_at(size_t i, hd_kernel *k)
{
    for (size_t d = 0; designs[d]; d++) {
        uint32_t rows = hd_variant_row_count(designs[d]->variants);
        if (i < rows) return hd_kernel_of(designs[d], (uint32_t)i, k);
        i -= rows;
    }
    return false;
}

const char *hd_kernel_renamed(const char *name)
{
    for (size_t d = 0; designs[d]; d++) {
        const hd_variant *v = hd_variant_named(designs[d]->variants, name);
        if (v) return v->name;
    }
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

/* Design i of those that differ in name: a design's rows, one per backend, stand together. */
static const hd_design *design_named(size_t i)
{
    for (size_t k = 0; designs[k]; k++)
        if ((k == 0 || strcmp(designs[k]->name, designs[k - 1]->name) != 0) && i-- == 0) return designs[k];
    return NULL;
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
    if (i >= HD_PREDICATE_COUNT) return false;
    const hd_predicate_row *p = &hd_predicate_rows[i];
    return hd_row_put(row, p->name, p->what, p->args);
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
    return hd_row_put(row, k.variant->name, k.is->what[k.design->far], k.design->name);
}

bool hd_list(hd_kind kind, size_t i, hd_row *row)
{
    const hd_design *design = design_named(i);
    const hd_lock_row *lock = hd_lock_at(i);
    row->more = "";
    switch (kind) {
    case HD_DESIGNS: return design && hd_row_put(row, design->name, design->what, "");
    case HD_BACKENDS: return i < COUNT(backends) && (*row = backends[i], true);
    case HD_POLICIES: return hd_policy_list(kind, i, row);
    case HD_LOCKS: return lock && hd_row_put(row, lock->name, lock->what, "");
    case HD_PREDICATES: return list_predicate(i, row);
    case HD_KERNELS: return list_kernel(i, row);
    case HD_PARAMETERS: return list_param(i, row);
    case HD_HASHES: return list_hash(i, row);
    }
    return false;
}
