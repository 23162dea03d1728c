/* SPDX-License-Identifier: Apache-2.0
 *
 * loaded.c - the predicates of files (lib/loaded.h), behind those of registry.inc.
 */
#include "base/error.h"
#include "base/variant.h"
#include "policies/predicates/predicate.h"

static hd_loaded_predicate loaded[HD_LOADED_MOST];
static uint32_t count;

const hd_predicate_row *hd_predicate_at(size_t i)
{
    if (i < HD_PREDICATE_COUNT) return &hd_predicate_rows[i];
    return i < hd_predicate_count() ? &loaded[i - HD_PREDICATE_COUNT].row : NULL;
}

size_t hd_predicate_count(void) { return HD_PREDICATE_COUNT + (size_t)count; }

uint32_t hd_loaded_predicate_named(const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(loaded[i].row.name, name) == 0) return HD_PREDICATE_LOADED + i;
    return HD_PREDICATE_COUNT;
}

hd_status hd_predicate_load(const hd_loaded_predicate *p)
{
    if (hd_predicate_named(p->row.name) != HD_PREDICATE_COUNT)
        return hd_fail(HD_EINVAL, "predicate: there is a '%s' already", p->row.name);
    if (count == HD_LOADED_MOST) return hd_fail(HD_EINVAL, "predicate: files have added %d already", HD_LOADED_MOST);
    loaded[count++] = *p;
    return HD_OK;
}

void hd_predicate_forget(uint32_t n) { count -= n; }

bool hd_loaded_holds(uint32_t predicate, uint64_t key, uint64_t score, const uint8_t *value, uint32_t value_bytes,
                     uint64_t a, uint64_t b)
{
    if (predicate < HD_PREDICATE_LOADED || predicate - HD_PREDICATE_LOADED >= count) return false;
    return loaded[predicate - HD_PREDICATE_LOADED].holds(key, score, value, value_bytes, a, b);
}
