/* SPDX-License-Identifier: Apache-2.0
 *
 * making.h - the parts that fixtures are made of; for the files of this folder that make them only.
 */
#ifndef HD_JUDGE_MAKING_H
#define HD_JUDGE_MAKING_H

#include "judge/design.h"

/* A fixture of the cases' shape, without memory. When *s is not NULL it has to be closed, also after a failure. */
hd_status fixture_new(const hd_case *c, uint32_t parts, fixture **s);
/* Memory for an empty table and for as many items as each part's batch has. False: there is none. */
bool fixture_make_memory(fixture *s);

/* The next region: `bytes` between guards; NULL while it is only asked for. of_host: fixture_region.of_host. */
void *fixture_room(fixture *s, const char *name, uint64_t bytes, bool of_host);

/* Persistent regions become so for the machine; or, after a launch, what they hold when it ends is durable. */
static inline hd_status fixture_keep(const fixture *s, simt_machine *m, bool after_launch)
{
    hd_status status = HD_OK;
    for (uint32_t i = 0; i < s->regions && !status; i++) {
        uint8_t *p = s->memory + s->region[i].at;
        if (!s->region[i].persistent) continue;
        status = after_launch ? simt_machine_persisted(m, p, s->region[i].bytes) : simt_machine_persistent(m, p);
    }
    return status;
}

/* Draws the batch of part k. */
hd_status fixture_draw_part(fixture *s, uint32_t k);
/* Draws the element type of sums: one whose size divides the value's. */
void fixture_draw_elem(fixture *s, hd_batch *b, hd_rng *g);
/* Whether batches have the output `found`: not always, so that costs are usually those without it. */
bool fixture_asks_found(const fixture *s);
/* Whether the batch stores given scores as they are: by chance, as the case has it. */
bool fixture_draws_raw(const fixture *s, const hd_case *c, const hd_batch *b, hd_rng *g);
/* A predicate that holds for some entries and not for others: any row, with small arguments. */
void fixture_draw_predicate(hd_batch *b, hd_rng *g);
/* An operation for each item, as often as the design says. */
void fixture_mix_ops(const fixture *s, hd_batch *b, uint8_t *each, hd_rng *g);
/* Reserved keys and repeats among key[], as the case has them; or no key twice, and b->n less. */
void fixture_mix_keys(const fixture *s, const hd_case *c, hd_batch *b, uint64_t *key, hd_rng *g);

#endif
