/* SPDX-License-Identifier: Apache-2.0
 *
 * tables.c - see tables.h.
 */
#include "tests/tables.h"

#include <string.h>

const table_design *const table_designs[] = { &tables_hkv, &tables_hive, &tables_ovs, &tables_sl, &tables_gfsl, NULL };

hd_case table_case(const char *design, const char *op, const char *shape, const char *backend, const char *more, ...)
{
    char rest[512], text[1024];
    const char *fields = strchr(shape, ' ');
    bool ref = strcmp(backend, "ref") == 0; /* it has no kernel but its own */
    hd_case c;
    va_list list;
    va_start(list, more);
    vsnprintf(rest, sizeof rest, more, list);
    va_end(list);
    snprintf(text, sizeof text, "%s.%s.%.*s%s backend=%s %s", design, op, ref ? 5 : (int)(fields - shape),
             ref ? "usual" : shape, fields, backend, rest);
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    return c;
}

hd_table *table_open(const char *design, const char *shape, const char *backend, const hd_seams *seams)
{
    hd_case c = table_case(design, "mix", shape, backend, " ");
    hd_config config = hd_case_config(&c);
    hd_table *t;
    config.seams = seams;
    must(hd_open(&config, &t));
    return t;
}

static hd_outcome run_one(hd_table *t, hd_op op, uint64_t key, uint64_t value, void *out)
{
    uint8_t outcome = HD_MISS;
    hd_batch b = test_batch(op, 1, &key, op == HD_OP_INSERT_OR_ASSIGN ? &value : NULL, &outcome);
    b.value_out = out;
    must(hd_run(t, &b));
    return (hd_outcome)outcome;
}

hd_outcome table_put(hd_table *t, uint64_t key, uint64_t value)
{
    return run_one(t, HD_OP_INSERT_OR_ASSIGN, key, value, NULL);
}

hd_outcome table_erase(hd_table *t, uint64_t key) { return run_one(t, HD_OP_ERASE, key, 0, NULL); }

bool table_get(hd_table *t, uint64_t key, uint64_t *value)
{
    *value = 0;
    return run_one(t, HD_OP_FIND, key, 0, value) == HD_HIT;
}

hd_info table_info(hd_table *t)
{
    hd_info info;
    must(hd_table_info(t, &info));
    return info;
}

uint64_t table_size(hd_table *t)
{
    uint64_t size;
    must(hd_size_sync(t, &size));
    return size;
}
