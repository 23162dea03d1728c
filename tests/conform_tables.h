/* SPDX-License-Identifier: Apache-2.0
 *
 * conform_tables.h - one suite for tables of any design, on every backend, through heddle.h. tests/conform_tables.c has
 * what is the same for all designs. tests/designs/NAME_tables.c has the data of a design: shapes of tables, each a part
 * of a case; what is refused; and ways to break an invariant.
 */
#ifndef CONFORM_TABLES_H
#define CONFORM_TABLES_H

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
    bool views;                  /* hd_view_open shows its slots */
    bool roams;                  /* an entry may be in another slot after a load */
    uint32_t load;               /* percent of its places: a smaller share is taken when an item is PENDING */
    const test_refusal *refusal; /* fields of hd_config, and a word of the reason */
    size_t refusals;
    size_t unread; /* four bytes of a file's header, which a load ignores or rounds; 0: none */
    const table_damage *damage;
    size_t damages;
    void (*lay)(hd_table *t); /* fills a table that is to be damaged */
} table_design;

extern const table_design table_this; /* the program's design */

#define TABLES_COUNT(list) (sizeof(list) / sizeof(list)[0])

#endif
