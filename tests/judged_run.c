/* SPDX-License-Identifier: Apache-2.0
 *
 * judged_run.c - a truthful run of kernels. The host machine keeps the tickets and the memory, so the linker puts this
 * file between the machine and the judge.
 */
#include "tests/between.h"
#include "tests/judged.h"

#include <string.h>

#include "base/error.h"
#include "ref/hkv/hkv.h"

simt_machine *machine;

/* ---- What is put in between ------------------------------------------------------------------ */

BETWEEN(const simt_ticket_record *, simt_machine_tickets, (const simt_machine *m, size_t *n));

simt_ticket_record ticket[TICKETS];
size_t tickets;
bool altered;

const simt_ticket_record *__wrap_simt_machine_tickets(const simt_machine *m, size_t *n)
{
    if (!altered) return __real_simt_machine_tickets(m, n);
    *n = tickets;
    return ticket;
}

BETWEEN(hd_status, simt_machine_region, (simt_machine * m, void *p, size_t bytes, const char *name));

uint64_t regions, refuse_at;

hd_status __wrap_simt_machine_region(simt_machine *m, void *p, size_t bytes, const char *name)
{
    return ++regions == refuse_at ? hd_fail(HD_ENOMEM, "region: no memory")
                                  : __real_simt_machine_region(m, p, bytes, name);
}

/* ---- The run --------------------------------------------------------------------------------- */

simt_config in_turn(void)
{
    simt_config c = simt_config_default();
    c.unit = SIMT_BY_WARP;
    c.strategy = SIMT_ROUND_ROBIN;
    c.preempt = SIMT_AT_NONE;
    c.shared_bytes = 48 << 10;
    return c;
}

void trial_run(trial *t, const char *text, uint64_t seed, int held)
{
    hd_case c[FIXTURE_PARTS];
    const fixture_kernel *kernels[] = { &t->kernel[0], &t->kernel[1] };
    char word[2][256] = { "", "" };
    const char *plus = strstr(text, " + "), *why = NULL;
    uint32_t parts = plus ? 2 : 1, row;
    size_t first = plus ? (size_t)(plus - text) : strlen(text);
    simt_config w = in_turn();
    snprintf(word[0], sizeof word[0], "%.*s seed=%llu", (int)first, text, (ull)seed);
    if (plus) snprintf(word[1], sizeof word[1], "%s seed=%llu", plus + 3, (ull)seed);
    for (uint32_t k = 0; k < parts; k++) {
        must(hd_case_parse(word[k], &c[k]));
        must(fixture_kernel_row(&c[k], &row));
        t->kernel[k] = hkv_fixture_kernel_at(row, 32, 1);
        if (held) t->kernel[k].strictness = (fixture_strictness)(held - 1);
    }
    altered = false;
    must(fixture_open(c, kernels, parts, &t->s));
    must(comparison_open(t->s, &t->a));
    t->p = &t->s->part[0];
    t->b = &t->p->batch;
    t->v = hkv_fixture_view(t->s);
    must(comparison_run(t->a, machine, &w, &why));
    check(!why, "a truthful run of %s + %s was accused: %s", word[0], word[1], why);
    const simt_ticket_record *drawn = __real_simt_machine_tickets(machine, &tickets);
    check(tickets <= TICKETS, "%zu tickets", tickets);
    memcpy(ticket, drawn, tickets * sizeof *ticket);
    altered = true;
}

void trial_close(trial *t)
{
    altered = false;
    comparison_close(t->a);
}

uint64_t entry_at(const trial *t, bool there, uint64_t nth)
{
    for (uint64_t e = 0; e < hkv_capacity(t->v); e++)
        if ((t->v->digest[e] != HKV_NO_DIGEST) == there && nth-- == 0) return e;
    return HKV_NOWHERE;
}
