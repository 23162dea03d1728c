/* SPDX-License-Identifier: Apache-2.0
 *
 * t_judge_kernels.c - tests of the judge of kernels (judge/comparison.h). Kernels run truthfully, and the judge does
 * not object. Then the test alters what they did, and the judge must object with the sentence for it. It also shows the
 * judge forbidden states of the table, and runs that end early.
 */
#include <string.h>

#include "base/error.h"
#include "ref/hkv/hkv.h"
#include "simt/simt.h"
#include "tests/judged.h"
#include "tests/on_machine.h"

enum { SEEDS = 200 };

/* Each lie is answered by its sentence, from the part of the judge that it belongs to. */
static void every_sentence_is_said(void)
{
    for (size_t i = 0; i < lies_n; i++) {
        const lie *l = &lies[i];
        bool told = false;
        for (uint64_t seed = 1; seed <= SEEDS && !told; seed++) {
            trial t;
            test_case("%s, seed %llu, to be answered '%s'", l->text, (ull)seed, l->sentence ? l->sentence : "");
            trial_run(&t, l->text, seed, l->held);
            told = l->tell(&t);
            comparison_mute(t.a, l->muted_checks);
            const char *why = comparison_judge(t.a, machine);
            if (told && l->sentence)
                check(why && strstr(why, l->sentence) && comparison_objector(t.a) == l->by, "by %u: %s",
                      comparison_objector(t.a), why ? why : "it passed");
            else
                check(!why, "%s, and the answer is: %s", told ? "this cannot be known" : "nothing was altered", why);
            comparison_mute(t.a, 63);
            check(!comparison_judge(t.a, machine), "a judge objected, but all are off");
            trial_close(&t);
        }
        check(told, "no seed gave occasion");
    }
}

/* All ways of judging, and nothing to say: parts of which one, both or none have tickets, tables of all kinds. */
static void truth_is_not_accused(void)
{
    static const struct {
        const char *text;
        int held;
    } truths[] = { { "hkv.accum_or_assign.tlpv1" TABLE " reserved=100000 duplicate=300000", 0 },
                   { "hkv.insert_and_evict.tlpv1 buckets=2 slots=8 value=0 batch=24x1 keys=uniform:400", 0 },
                   { "hkv.find_missed.tlpv1 buckets=2 slots=8 value=0 batch=24x1 keys=uniform:40", 0 },
                   { "hkv.unlock_keys.tlpv1" TABLE, 0 },
                   { "hkv.erase.tlpv1" TABLE, 0 },
                   { "hkv.promote.tlpv1" TABLE, 0 },
                   { PROMOTE " tiers=position", 0 },
                   { PROMOTE, 0 },
                   { EVICT " admit=always duplicate=300000", HELD(FIXTURE_SHAPE) },
                   { "hkv.accum_or_assign.tlpv1" FULL " duplicate=300000", HELD(FIXTURE_SHAPE) },
                   { POINTERS, HELD(FIXTURE_SHAPE) },
                   { "hkv.erase.tlpv1" TABLE, HELD(FIXTURE_SHAPE) },
                   { "hkv.export_if.tlpv1" TABLE, 0 },
                   { FIND " + hkv.size.tlpv1" TABLE, 0 },
                   { "hkv.size.tlpv1" TABLE " + " FIND, 0 },
                   { "hkv.size.tlpv1" TABLE " + hkv.export.tlpv1" TABLE, 0 },
                   { FIND " + hkv.find_ptr.tlpv1" TABLE, HELD(FIXTURE_EXACT) },
                   { FIND " + hkv.find_ptr.tlpv1" TABLE, HELD(FIXTURE_SET) },
                   { FIND " + hkv.find_ptr.tlpv1" TABLE, HELD(FIXTURE_SHAPE) },
                   { TOUCH " + hkv.assign.tlpv1" TABLE, HELD(FIXTURE_SHAPE) } };
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            trial t;
            test_case("%s, seed %llu", truths[i].text, (ull)seed);
            trial_run(&t, truths[i].text, seed, truths[i].held);
            trial_close(&t);
        }
}

/* Each gap between the regions of memory, and the one after the last. */
static void guards_are_watched(void)
{
    trial t;
    trial_run(&t, FIND, 5, 0);
    const fixture *s = t.s;
    for (uint32_t i = 0; i <= s->regions; i++) {
        const char *name = s->region[i < s->regions ? i : i - 1].name;
        uint8_t *beside = s->memory + (i < s->regions ? s->region[i].at : s->bytes) - 1;
        test_case("%s of region %u, %s", i < s->regions ? "before" : "after", i, name);
        if (i == 0 && s->region[0].at == 0) continue;
        *beside ^= 1;
        const char *found = fixture_guards(s);
        check(found && strcmp(found, name) == 0, "found beside %s", found ? found : "none");
        *beside ^= 1;
        check(!fixture_guards(s), "it is as it was");
    }
    trial_close(&t);
}
/* ---- In flight ------------------------------------------------------------------------------- */

/* An entry as it may be for a moment, or not. */
static bool no_key_yet(trial *t) { return *hkv_key_at(t->v, entry_at(t, true, 0)) = HD_KEY_EMPTY, true; }
static bool other_digest(trial *t) { return t->v->digest[entry_at(t, true, 0)] ^= 0x55; }
static bool owned(trial *t) { return other_digest(t) && (*hkv_key_at(t->v, entry_at(t, true, 0)) = HD_KEY_LOCKED); }
static bool replaced(trial *t)
{
    return other_digest(t) && (*hkv_key_at(t->v, entry_at(t, true, 0)) = HKV_KEY_REPLACED);
}
static bool locked_and_weak(trial *t)
{
    return other_digest(t) && (hkv_fixture_state(t->s)->kept.lock[entry_at(t, true, 0) / t->v->slots] = 1);
}

static bool entry_copied(trial *t, bool same_bucket)
{
    const hkv_view *v = t->v;
    for (uint64_t e = 0; e < hkv_capacity(v); e++)
        for (uint64_t f = e + 1; v->digest[e] && f < hkv_capacity(v); f++) {
            if (v->digest[f] || (e / v->slots == f / v->slots) != same_bucket) continue;
            v->digest[f] = v->digest[e];
            *hkv_key_at(v, f) = *hkv_key_at(v, e);
            return true;
        }
    return false;
}

static bool entry_twice(trial *t) { return entry_copied(t, true); }
static bool entry_elsewhere(trial *t) { return entry_copied(t, false); }

/* The same, and gone from where it was. */
static bool entry_strayed(trial *t)
{
    uint64_t key = 5000, e = entry_at(t, true, 0), home = e / t->v->slots;
    for (;; key++) {
        uint64_t h = hd_hash(key, t->v->seed);
        if (hd_first_bucket(h, t->v->buckets) != home && hd_second_bucket(h, t->v->buckets) != home) break;
    }
    *hkv_key_at(t->v, e) = key;
    t->v->digest[e] = hd_digest(hd_hash(key, t->v->seed));
    return true;
}

static void every_moment_is_watched(void)
{
    static const struct {
        const char *sentence; /* NULL: that may be */
        bool (*tell)(trial *t);
        bool dual, weak;
    } moments[] = { { "(HKV-1, in flight)", no_key_yet, false, false },
                    { "(HKV-2, in flight)", other_digest, false, false },
                    { "(HKV-2, in flight)", other_digest, false, true },
                    { "(HKV-2, in flight)", locked_and_weak, false, false },
                    { NULL, locked_and_weak, false, true },
                    { NULL, owned, false, false },
                    { NULL, replaced, false, false },
                    { "(HKV-3, in flight)", entry_strayed, false, false },
                    { "(HKV-3, in flight)", entry_strayed, true, false },
                    { "(HKV-4, in flight)", entry_twice, false, false },
                    { "(HKV-4, in flight)", entry_twice, true, false },
                    { "(HKV-4, in flight)", entry_elsewhere, true, false },
                    { "(HKV-3, in flight)", entry_elsewhere, false, false } };
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        bool told = false;
        for (uint64_t seed = 1; seed <= SEEDS && !told; seed++) {
            trial t;
            simt_config c = in_turn();
            test_case("moment %zu: %s, seed %llu", i, moments[i].sentence, (ull)seed);
            trial_run(&t,
                      moments[i].dual ? "hkv.find.tlpv1 dual=1 buckets=5 slots=8 value=8 batch=24x1 keys=uniform:40"
                                      : "hkv.find.tlpv1 buckets=5 slots=8 value=8 batch=24x1 keys=uniform:40",
                      seed, 0);
            c.weak = moments[i].weak;
            comparison_watch_with(t.a, &c, 3);
            check(c.watch == comparison_watch && c.context == t.a && c.watch_every == 3, "the run is not watched");
            check(!comparison_watch(t.a), "a sound table: %s", comparison_watch(t.a));
            told = entry_at(&t, true, 0) != HKV_NOWHERE && moments[i].tell(&t);
            const char *why = comparison_watch(t.a);
            if (told)
                check(moments[i].sentence ? why && strstr(why, moments[i].sentence) : !why, "%s",
                      why ? why : "it passed");
            trial_close(&t);
        }
        check(told, "no seed gave occasion");
    }
}

/* An operation that has the table for itself may leave it in any order, and is not watched. */
static void who_is_alone_is_not_watched(void)
{
    static const char *const texts[] = { "hkv.clear.tlpv1" TABLE, "hkv.erase_if.tlpv1" TABLE, PROMOTE,
                                         "hkv.size.tlpv1" TABLE, TOUCH };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        trial t;
        simt_config c = in_turn();
        test_case("%s", texts[i]);
        trial_run(&t, texts[i], 1, 0);
        comparison_watch_with(t.a, &c, 1);
        check((c.watch != NULL) == (i >= 3) && c.watch_every == (i >= 3), "watched every %u steps", c.watch_every);
        trial_close(&t);
    }
}

/* ---- Runs that end otherwise ----------------------------------------------------------------- */

SIMT_KERNEL(beyond_memory, hkv_args, args) { simt_st_u64(args.v.key + (1u << 30), 1); }

static hd_status no_launch(const fixture_kernel *k, simt_machine *m, const void *a, uint32_t stream)
{
    (void)k, (void)m, (void)a, (void)stream;
    return hd_fail(HD_ECUDA, "launch: none today");
}

static void faults_are_told(void)
{
    trial t;
    const char *why = NULL;
    simt_config w = in_turn();
    trial_run(&t, FIND, 1, 0);
    fixture_kernel sound = t.kernel[0];
    altered = false;
    t.kernel[0].text = beyond_memory;
    must(comparison_run(t.a, machine, &w, &why));
    check(why && simt_machine_finding(machine)->fault == SIMT_BOUNDS && why == simt_machine_finding(machine)->story,
          "%s", why ? why : "it passed");
    t.kernel[0] = sound;
    must(comparison_run(t.a, machine, &w, &why));
    check(!why, "a sound run after it: %s", why);
    trial_close(&t);
}

/* Memory is refused, or the launch fails. */
static void nothing_runs_and_nobody_is_judged(void)
{
    trial t;
    const char *why = "";
    simt_config w = in_turn();
    trial_run(&t, FIND " + " FIND, 1, 0);
    altered = false;
    for (uint64_t at = 1;; at++) {
        refuse_at = at;
        regions = 0;
        hd_status status = comparison_run(t.a, machine, &w, &why);
        if (regions < at) break;
        check(status == HD_ENOMEM && !why, "region %llu was refused: %s, and %s", (ull)at, hd_status_name(status),
              why ? why : "no item was judged");
    }
    check(regions > 40 && !why, "%llu regions: %s", (ull)regions, why);
    refuse_at = 0;
    t.kernel[0].queue = no_launch;
    must_fail(comparison_run(t.a, machine, &w, &why), HD_ECUDA, "none today");
    check(!why, "and was judged: %s", why);
    trial_close(&t);
}

/* Only buckets that differ are drawn, the kernel's beside the reference's. */
static void what_differs_is_drawn(void)
{
    trial t;
    char text[4096];
    trial_run(&t, TOUCH, 2, 0);
    check(comparison_draw(t.a, text, sizeof text) < sizeof text && !strstr(text, "bucket"), "nothing differs: %s",
          text);
    ++*hkv_score_at(t.v, entry_at(&t, true, 0));
    check(comparison_judge(t.a, machine), "it passed");
    check(comparison_draw(t.a, text, sizeof text) < sizeof text && strstr(text, "the kernel's table") &&
              strstr(text, "the reference's"),
          "%s", text);
    trial_close(&t);
}

int main(void)
{
    const struct CMUnitTest judges[] = { unit(truth_is_not_accused),
                                         unit(every_sentence_is_said),
                                         unit(guards_are_watched),
                                         unit(every_moment_is_watched),
                                         unit(who_is_alone_is_not_watched),
                                         unit(faults_are_told),
                                         unit(nothing_runs_and_nobody_is_judged),
                                         unit(what_differs_is_drawn) };
    return test_run_on(&machine, judges);
}
