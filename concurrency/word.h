/* SPDX-License-Identifier: Apache-2.0
 *
 * word.h - the second layer of group3 (HKV section 4.4), in kernel text: a step of one thread before a batch's kernels,
 * and one after them. A batch draws a ticket and waits for its turn. Then it enters as soon as no batch is inside, or
 * those inside have its role and may run together; and the turn passes to the next ticket. So batches enter in the
 * order of the tickets, and no batch starves. concurrency/group3.pml is a model of it.
 *
 * All steps of a batch are put on its stream in one go, without other work of the table between them. So a batch inside
 * has everything enqueued that it needs to leave, also if the device runs several streams through one queue.
 */
#ifndef HD_WORD_H
#define HD_WORD_H

#include "simt/simt.h"

typedef struct hd_word {
    uint32_t next, serving; /* tickets */
    uint32_t inside, role;  /* batches, and what all of them are */
} hd_word;

typedef struct hd_word_args {
    hd_word *word;
    uint32_t role, together;
} hd_word_args;

/* What batches before wrote is seen by what follows: pairs with the release of hd_word_leave, by way of the acquire of
 * `inside`, or of `serving` when another batch saw it first. */
SIMT_FN void hd_word_enter(const hd_word_args *a)
{
    hd_word *w = a->word;
    if (simt_block() != 0 || simt_thread() != 0) return;
    uint32_t mine = simt_add_u32(&w->next, 1, SIMT_RELAXED);
    while (simt_ldacq_u32(&w->serving) != mine) simt_backoff(128);
    bool shares = a->together >> a->role & 1;
    for (;;) {
        if (simt_ldacq_u32(&w->inside) == 0) break;
        if (shares && simt_ldrlx_u32(&w->role) == a->role) break;
        simt_backoff(128);
    }
    simt_strlx_u32(&w->role, a->role);
    uint32_t inside = simt_add_u32(&w->inside, 1, SIMT_RELAXED);
    HD_ASSERT(inside == 0 || shares, "a batch enters beside one that excludes it");
    simt_strel_u32(&w->serving, mine + 1);
}

SIMT_FN void hd_word_leave(const hd_word_args *a)
{
    if (simt_block() != 0 || simt_thread() != 0) return;
    uint32_t inside = simt_add_u32(&a->word->inside, 0xffffffffu, SIMT_RELEASE);
    HD_ASSERT(inside > 0, "a batch leaves that is not inside");
}

#endif
