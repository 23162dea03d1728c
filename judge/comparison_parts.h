/* SPDX-License-Identifier: Apache-2.0
 *
 * comparison_parts.h - the state of a comparison, and its checks; for comparison*.c and crash.c only. A check returns
 * NULL, or what is wrong, in the comparison's `why`.
 */
#ifndef HD_JUDGE_COMPARISON_PARTS_H
#define HD_JUDGE_COMPARISON_PARTS_H

#include "judge/comparison.h"
#include "judge/design.h"
#include "judge/rules.h"

struct comparison {
    fixture *s;
    const judge_design *d; /* s's */
    bool weak;             /* runs have store buffers */
    /* (fixture_table_size) the reference's table; the kernels' table before the run and after it */
    void *model, *then, *now;
    uint8_t *model_memory;      /* (table_bytes) */
    uint8_t *seen;              /* (table_bytes) the table when it was last watched and had no fault ... */
    bool has_seen;              /* ... if it was */
    uint64_t *occupant;         /* (places) the key at each place, by the tickets; HD_KEY_EMPTY: none */
    bool *drawn[FIXTURE_PARTS]; /* (n) has a ticket */
    /* (n) of items that change nothing (any_moment): their answer was right at some moment */
    bool *settled[FIXTURE_PARTS];
    judge_listing *list[FIXTURE_PARTS];   /* (n) */
    uint8_t *list_value[FIXTURE_PARTS];   /* (n, value_bytes) */
    judge_arrays expected[FIXTURE_PARTS]; /* of the reference in item order */
    uint32_t muted_checks, objector;
    char why[JUDGE_SENTENCE];
};

static inline bool comparison_keyed(const fixture_part *p) { return judge_keyed_batch(&p->batch); }
static inline bool comparison_reads(const fixture_part *p)
{
    return !p->batch.each && comparison_keyed(p) && judge_ops[p->batch.op].reads;
}
static inline bool comparison_ordered(const fixture_part *p)
{
    return comparison_keyed(p) && p->kernel->strictness <= FIXTURE_CHOICE;
}

/* comparison_tickets.c. The name of part k in a sentence. Valid until the thread's next call. */
const char *comparison_part(const comparison *a, uint32_t k);
/* Replays all tickets in order. All parts are ordered. */
const char *comparison_replay(comparison *a, const simt_machine *m);
/* Each entry is at the place that its ticket says. */
const char *comparison_check_slots(comparison *a);
/* What find_or_insert_ptr returned: the address of the entry that the item's ticket names, if the entry has the item's
 * key at the end, and NULL if not. Another part may have changed that since; then either will do. */
const char *comparison_check_pointers(comparison *a, const simt_machine *m);

/* comparison_kept.c. Keys and values that came, stayed or went, whatever the choice of victims. */
const char *comparison_check_kept(comparison *a, const simt_machine *m);

/* comparison_checks.c. Of part k: its list, its counts, its outputs byte by byte. */
const char *comparison_check_list(comparison *a, uint32_t k);
const char *comparison_check_tally(comparison *a, uint32_t k);
const char *comparison_check_exact(comparison *a, uint32_t k);
/* Entries before + inserted = entries after + erased. An eviction or a refusal leaves the number as it is. */
const char *comparison_check_conservation(comparison *a);
/* Runs part k on the reference's table in item order. */
void comparison_run_reference(comparison *a, uint32_t k);
/* The entries are the reference's; so is what the design has beside them; locks, guards and invariants. */
const char *comparison_check_contents(comparison *a);
const char *comparison_check_beside(comparison *a);
const char *comparison_check_rest(comparison *a);

#endif
