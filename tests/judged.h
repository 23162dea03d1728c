/* SPDX-License-Identifier: Apache-2.0
 *
 * judged.h - shared by the files of t_judge_kernels: a run of kernels, and the lies, that is, alterations of its
 * results that the judge must find.
 *
 *     t_judge_kernels.c  the tests: each lie and its objection; states of the table; runs that end early
 *     judged_lies.c      the lies
 *     judged_run.c       a truthful run, and the functions that the linker puts between the judge and the machine
 */
#ifndef JUDGED_H
#define JUDGED_H

#include "judge/comparison.h"
#include "judge/hkv/fixture.h"
#include "judge/kernels.h"
#include "tests/testing.h"

/* ---- A run ----------------------------------------------------------------------------------- */

typedef struct trial {
    fixture_kernel kernel[FIXTURE_PARTS];
    fixture *s;
    comparison *a;
    fixture_part *p; /* the first */
    hd_batch *b;
    hkv_view *v;
} trial;

extern simt_machine *machine;

/* In turn, so that items come in their order where a kernel has an order. */
simt_config in_turn(void);
/* Opens the fixture of "CASE" or "CASE + CASE" with that seed, and runs it without an objection. held: 1 + the
 * strictness that kernels are held to; 0: their rows'. Afterwards the judge reads the array `ticket`. */
void trial_run(trial *t, const char *text, uint64_t seed, int held);
void trial_close(trial *t);
/* The entry of rank `nth` of those that are there, or of those that are not; HKV_NOWHERE: there are fewer. */
uint64_t entry_at(const trial *t, bool there, uint64_t nth);

enum { TICKETS = 256 };
extern simt_ticket_record ticket[TICKETS]; /* (tickets) of the last run */
extern size_t tickets;
extern bool altered; /* the judge reads `ticket`; else the machine's tickets */
/* regions of memory so far; the one, from 1, that the machine has no memory for; 0: none */
extern uint64_t regions, refuse_at;

/* ---- Fixtures ---------------------------------------------------------------------------------- */

#define TABLE      " buckets=2 slots=8 value=8 batch=24x1 keys=uniform:40 pins=4"
#define FULL       " buckets=2 slots=8 value=8 batch=24x1 keys=uniform:400 pins=4 policy=lru"
#define TIERS      " buckets=4 slots=8 value=16 keys=uniform:400 pins=4 near=200"
#define TOUCH      "hkv.touch.tlpv1" TABLE
#define TOUCH_WARP "hkv.touch.warp" TABLE /* takes items in their order */
#define TOUCH_16 \
    "hkv.touch.tlpv1 buckets=2 slots=16 value=8 batch=24x1 keys=uniform:40 pins=4" /* coalesced fits, too */
#define FIND             "hkv.find.tlpv1" TABLE
#define UPSERT           "hkv.insert_or_assign.tlpv1" FULL
#define EVICT            "hkv.insert_and_evict.tlpv1" FULL
#define LOCK             "hkv.lock_keys.tlpv1" TABLE
#define POINTERS         "hkv.find_or_insert_ptr.tlpv1" TABLE
#define PROMOTE          "hkv.promote.tlpv1" TIERS
#define HELD(strictness) (1 + (int)(strictness))

/* ---- Lies ------------------------------------------------------------------------------------ */

/* The fixture is the case with the first seed that gives occasion to it. */
typedef struct lie {
    const char *sentence;      /* the expected objection; NULL: no judge can know, and none may object */
    const char *text;          /* of trial_run                                                        */
    bool (*tell)(trial *t);    /* false: this run gives no occasion                                   */
    uint32_t by, muted_checks; /* COMPARISON_...: the checks that must object; the checks that are off */
    int held;                  /* of trial_run                                                        */
} lie;

extern const lie lies[];
extern const size_t lies_n;

#endif
