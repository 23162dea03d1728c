/* SPDX-License-Identifier: Apache-2.0
 *
 * replay_report.c - the columns of a replayed row.
 */
#include "tools/replay_report.h"

#include <string.h>

void replay_columns(out_column *column)
{
    static const out_column columns[REPLAY_COLUMNS] = {
        { "policy", "policy", OUT_TEXT },
        [REPLAY_ASKED] = { "asked", "asked", OUT_TEXT },
        [REPLAY_SIZE_ENTRIES] = { "size", "size", OUT_COUNT },
        { "capacity", "capacity", OUT_COUNT },
        { "slots", "slots", OUT_COUNT },
        { "requests", "requests", OUT_COUNT },
        { "misses", "misses", OUT_COUNT },
        { "miss_ratio", "miss ratio", OUT_RATIO },
        { "evicted", "evicted", OUT_COUNT },
        { "refused", "refused", OUT_COUNT },
    };
    memcpy(column, columns, sizeof columns);
}

void replay_facts(out *o, const replay_plan *p)
{
    if (p->backend) out_fact(o, "backend", "backend", OUT_TEXT, out_text(p->backend));
    if (p->kernel) out_fact(o, "kernel", "kernel", OUT_TEXT, out_text(p->kernel));
    if (p->batch) out_fact(o, "batch", "requests of a batch", OUT_COUNT, out_count(p->batch));
}

void replay_cells(const replay_row *r, out_value *cell)
{
    double ratio = replay_miss_ratio(r);
    const out_value cells[REPLAY_COLUMNS] = { out_text(r->policy),   out_text(r->asked),
                                              out_count(r->size),    out_count(r->capacity),
                                              out_count(r->slots),   out_count(r->requests),
                                              out_count(r->misses),  ratio < 0 ? out_none() : out_real(ratio),
                                              out_count(r->evicted), out_count(r->refused) };
    memcpy(cell, cells, sizeof cells);
}
