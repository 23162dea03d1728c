/* SPDX-License-Identifier: Apache-2.0
 *
 * making.h - what scenes are made of; for scene.c and turns.c only.
 */
#ifndef HD_JUDGE_MAKING_H
#define HD_JUDGE_MAKING_H

#include "judge/design.h"

/* A scene of the cases' shape, without memory. *s is set, and to be closed, whenever it is not NULL. */
hd_status scene_new(const hd_case *c, uint32_t parts, scene **s);
/* Memory for an empty table and for as many items as each part's batch has. False: there is none. */
bool scene_make_memory(scene *s);

/* The element type to add; false when the batch needs one and a value is no whole number of any. */
bool scene_draw_elem(const scene *s, hd_batch *b, hd_rng *g);
/* A predicate that holds for some entries and not for others: any row, with small arguments. */
void scene_draw_predicate(hd_batch *b, hd_rng *g);
/* An operation for each item, as often as the design says. */
void scene_mix_ops(const scene *s, hd_batch *b, uint8_t *each, hd_rng *g);
/* Reserved keys and repeats among key[], as the case has them; or no key twice, and b->n less. */
void scene_mix_keys(const scene *s, const hd_case *c, hd_batch *b, uint64_t *key, hd_rng *g);

#endif
