/* SPDX-License-Identifier: Apache-2.0
 *
 * loaded.c - see loaded.h.
 */
#include "lib/loaded.h"

#include <dlfcn.h>
#include <stdio.h>

#include "base/dialect_id.h"
#include "base/error.h"
#include "base/op.h"
#include "gpu/object.h"
#include "lib/cuda_loaded.h"
#include "lib/table.h"

static uint32_t variants; /* of files, so far: HD_LOADED_MOST at most */

/* ---- What a row must have --------------------------------------------------------------------- */

/* A name as cases and messages have it. */
static bool is_name(const char *name)
{
    return name && *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

/* Whether kernels of the design run a family. */
static bool is_family(const hd_design *d, uint32_t family)
{
    for (const hd_variant *const *v = d->variants; *v; v++)
        for (const hd_variant_row *r = (*v)->row; r->what[0]; r++)
            if (r->family == family) return true;
    return false;
}

static hd_status ran_check(const char *file, const hd_design *d, const hd_variant *v, const char *op, const char *said)
{
    char ran[128];
    snprintf(ran, sizeof ran, "%s.%s.%s", d->name, op, v->name);
    if (said && strcmp(said, ran) == 0) return HD_OK;
    return hd_fail(HD_ECORRUPT, "%s: %s.%s: it says that it ran as '%s' where it is '%s'", file, d->name, v->name,
                   said ? said : "", ran);
}

/* What batches say that ran: for all operations for which the design's own variants say something. */
static hd_status names_check(const char *file, const hd_design *d, const hd_variant *v)
{
    hd_status status = v->ran_mixed ? ran_check(file, d, v, "mixed", v->ran_mixed) : HD_OK;
    for (int op = 0; op < HD_OP_COUNT_ && !status; op++)
        if (v->ran[op] || d->variants[0]->ran[op]) status = ran_check(file, d, v, hd_op_name((hd_op)op), v->ran[op]);
    return status;
}

static hd_status row_check(const char *file, const hd_design *d, const hd_variant *v, const hd_variant_row *r)
{
    int row = (int)(r - v->row) + 1;
    if (!is_family(d, r->family))
        return hd_fail(HD_ECORRUPT, "%s: %s.%s: row %d: design %s has no operations of family %u", file, d->name,
                       v->name, row, d->name, r->family);
    for (const hd_variant_row *before = v->row; before < r; before++)
        if (before->family == r->family)
            return hd_fail(HD_ECORRUPT, "%s: %s.%s: rows %d and %d are of one family", file, d->name, v->name,
                           (int)(before - v->row) + 1, row);
    const struct {
        bool wrong;
        const char *why;
    } rules[] = {
        { !r->entry, "there is no entry point" },
        { !r->fits, "it does not say which tables it fits" },
        { r->lanes == 0 || r->lanes > 32 || (r->lanes & (r->lanes - 1)), "the lanes are not 1, 2, 4, 8, 16 or 32" },
        { r->threads == 0 || r->threads > 1024 || r->threads % 32, "the threads of a block are not 1 to 32 warps" },
        { (unsigned)r->strict > HD_SHAPE, "it does not say how strictly it is judged" },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            return hd_fail(HD_ECORRUPT, "%s: %s.%s: row %d: %s", file, d->name, v->name, row, rules[i].why);
    return HD_OK;
}

static hd_status variant_check(const char *file, const hd_object_variant *o, const hd_design **design)
{
    const hd_design *d = *design = hd_design_named(o->design);
    const hd_variant *v = o->variant;
    if (!d || !d->loads) return hd_fail(HD_ECORRUPT, "%s: design %s takes no kernels of files", file, o->design);
    if (!is_name(v->name))
        return hd_fail(HD_ECORRUPT, "%s: '%s' is no name of a kernel: it has small letters, digits and _", file,
                       v->name ? v->name : "");
    if (hd_variant_named(d->variants, v->name) || strcmp(v->name, d->ref->name) == 0)
        return hd_fail(HD_ECORRUPT, "%s: there is a kernel %s.%s already", file, d->name, v->name);
    uint32_t n = 0;
    hd_status status = HD_OK;
    while (n < HD_VARIANT_ROWS && v->row[n].what[0]) n++;
    if (n == 0) return hd_fail(HD_ECORRUPT, "%s: %s.%s has no rows", file, d->name, v->name);
    if (n == HD_VARIANT_ROWS)
        return hd_fail(HD_ECORRUPT, "%s: %s.%s has more than %d rows", file, d->name, v->name, HD_VARIANT_ROWS - 1);
    if (hd_variant_row_count(d->variants) + n > HD_SHARED_KERNELS)
        return hd_fail(HD_ECORRUPT, "%s: design %s has no numbers left for its rows", file, d->name);
    for (uint32_t i = 0; i < n && !status; i++) status = row_check(file, d, v, &v->row[i]);
    return status ? status : names_check(file, d, v);
}

/* ---- An object -------------------------------------------------------------------------------- */

static hd_status variants_check(const char *file, const hd_object_variant *all)
{
    uint32_t n = 0;
    const hd_design *d;
    hd_status status = HD_OK;
    for (; all[n].design && !status; n++) {
        status = variant_check(file, &all[n], &d);
        for (uint32_t i = 0; i < n && !status; i++)
            if (strcmp(all[i].design, d->name) == 0 && strcmp(all[i].variant->name, all[n].variant->name) == 0)
                status = hd_fail(HD_ECORRUPT, "%s: it has two kernels %s.%s", file, d->name, all[n].variant->name);
    }
    if (!status && variants + n > HD_LOADED_MOST)
        status = hd_fail(HD_EINVAL, "%s: files can add %d kernels", file, HD_LOADED_MOST);
    return status;
}

static void variant_add(const hd_object_variant *o)
{
    const hd_design *d = hd_design_named(o->design);
    const hd_variant **room = (const hd_variant **)(uintptr_t)d->variants; /* hd_design.loads: it has room */
    hd_cuda_loaded there = { d->gpu, o->variant->name, hd_variant_row_count(d->variants), 0, NULL, 0 };
    while (*room) room++;
    *room = o->variant;
    there.rows = hd_variant_row_count(d->variants) - there.first;
    hd_cuda_loaded_add(&there);
    variants++;
}

/* What has been added of an object, in words. */
typedef struct adding {
    char what[HD_LOADED_TEXT];
    uint32_t predicates, policies;
} adding;

static void put_name(adding *a, const char *kind, const char *design, const char *name)
{
    size_t n = strlen(a->what);
    snprintf(a->what + n, sizeof a->what - n, "%s%s %s%s%s", n ? ", " : "", kind, design, *design ? "." : "", name);
}

/* Policies and predicates; those that were added before one that is wrong are still there. */
static hd_status functions_add(const char *file, const hd_object *o, adding *a)
{
    hd_status status = HD_OK;
    for (; o->predicate[a->predicates].row.name; a->predicates++) {
        const hd_loaded_predicate *p = &o->predicate[a->predicates];
        status = is_name(p->row.name) ? hd_predicate_load(p) : hd_fail(HD_EINVAL, "'%s' is no name", p->row.name);
        if (status) return hd_fail(HD_ECORRUPT, "%s: %s", file, hd_why());
        put_name(a, "predicate", "", p->row.name);
    }
    for (; o->policy[a->policies].name; a->policies++) {
        const hd_loaded_policy *p = &o->policy[a->policies];
        status = is_name(p->name) ? hd_policy_load(p) : hd_fail(HD_EINVAL, "'%s' is no name", p->name);
        if (status) return hd_fail(HD_ECORRUPT, "%s: %s", file, hd_why());
        put_name(a, "policy", "", p->name);
    }
    return HD_OK;
}

static hd_status object_add(const char *file, const hd_object *o, char *what)
{
    adding a = { "", 0, 0 };
    hd_status status = variants_check(file, o->variant);
    if (!status) status = functions_add(file, o, &a);
    if (!status && !o->variant[0].design && a.predicates + a.policies == 0)
        status = hd_fail(HD_ECORRUPT, "%s: it has no row: a file ends in " HD_OBJECT_ROWS, file);
    if (status) {
        hd_predicate_forget(a.predicates);
        hd_policy_forget(a.policies);
        return status;
    }
    for (const hd_object_variant *v = o->variant; v->design; v++) {
        variant_add(v);
        put_name(&a, "kernel", v->design, v->variant->name);
    }
    if (what) memcpy(what, a.what, sizeof a.what);
    return HD_OK;
}

/* Opens an object and finds its rows; *handle NULL: it was closed again. */
static hd_status object_open(const char *file, const char *object, void **handle, const hd_object **rows)
{
    hd_status status = HD_OK;
    *handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!*handle) return hd_fail(HD_ECORRUPT, "%s: it cannot be loaded: %s", file, dlerror());
    *rows = (const hd_object *)dlsym(*handle, "hd_object_of_file");
    if (!*rows)
        status = hd_fail(HD_ECORRUPT, "%s: %s is no object of such a file", file, object);
    else if (strcmp((*rows)->version, HD_OBJECT_VERSION) != 0)
        status = hd_fail(HD_ECORRUPT, "%s: it was compiled with the headers of version %s, and this is version %s",
                         file, (*rows)->version, HD_OBJECT_VERSION);
    else if (strcmp((*rows)->dialect, HD_DIALECT_ID) != 0)
        status = hd_fail(HD_ECORRUPT, "%s: it was compiled with headers that are not those of this build (%s, not %s)",
                         file, (*rows)->dialect, HD_DIALECT_ID);
    if (status) dlclose(*handle);
    return status;
}

hd_status hd_load_object(const char *file, const char *object, char *what)
{
    void *handle;
    const hd_object *rows;
    hd_status status = object_open(file, object, &handle, &rows);
    if (status) return status;
    status = object_add(file, rows, what);
    if (status) dlclose(handle);
    return status;
}

hd_status hd_load_cuda_object(const char *file, const char *object)
{
    void *handle, *found;
    const hd_object *rows;
    hd_object_launch *launch = NULL;
    hd_status status = object_open(file, object, &handle, &rows);
    if (status) return status;
    found = dlsym(handle, "hd_object_launch_row");
    memcpy(&launch, &found, sizeof launch);
    for (uint32_t i = 0; rows->variant[i].design; i++) {
        const hd_design *d = hd_design_named(rows->variant[i].design);
        hd_cuda_loaded *there = d ? hd_cuda_loaded_named(d->gpu, rows->variant[i].variant->name) : NULL;
        if (!there) continue;
        there->launch = launch;
        there->variant = i;
    }
    return HD_OK;
}
