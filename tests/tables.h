/* SPDX-License-Identifier: Apache-2.0
 *
 * tables.h - the tables of all designs with which suites try the whole library: shapes, each a part of a case, and the
 * invariants that a test breaks. tests/designs/ has the data of each design.
 */
#ifndef TABLES_H
#define TABLES_H

#include "judge/run.h"
#include "tests/fake_device.h"
#include "tests/testing.h"

typedef unsigned long long ull;

/* Damage to a table of the reference, and what hd_check says of it. */
typedef struct table_damage {
    const char *name, *says, *shape;
    void (*how)(hd_table *t, uint64_t n); /* n: the damage's own number */
    uint64_t n;
} table_damage;

typedef struct table_design {
    const char *name;
    const char *const *shapes; /* a kernel and fields of a case */
    size_t shapes_n;
    bool dictionary;
    bool roams;    /* an entry may be in another slot after a load */
    uint32_t load; /* percent of its places: a smaller share is taken when an item is PENDING */
    size_t unread; /* four bytes of a file's header, which a load ignores or rounds; 0: none */
    const table_damage *damage;
    size_t damages;
    void (*lay)(hd_table *t); /* fills a table that is to be damaged */
} table_design;

extern const table_design *const table_designs[]; /* ends with NULL */
extern const table_design tables_gfsl, tables_hive, tables_hkv, tables_ovs, tables_sl;

#define TABLES_COUNT(list) (sizeof(list) / sizeof(list)[0])

/* The case DESIGN.OP of a shape; more: as printf. The case is being tried. */
hd_case table_case(const char *design, const char *op, const char *shape, const char *backend, const char *more, ...)
    __attribute__((format(printf, 5, 6)));
/* A table of that shape. seams: NULL, the operating system's. */
hd_table *table_open(const char *design, const char *shape, const char *backend, const hd_seams *seams);

/* The outcome for one key. A value is the low bytes of a number. */
hd_outcome table_put(hd_table *t, uint64_t key, uint64_t value);
hd_outcome table_erase(hd_table *t, uint64_t key);
/* Whether the key is there; then *value is its. */
bool table_get(hd_table *t, uint64_t key, uint64_t *value);
hd_info table_info(hd_table *t);
uint64_t table_size(hd_table *t);

#endif
