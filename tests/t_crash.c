/* SPDX-License-Identifier: Apache-2.0
 *
 * t_crash.c - crashes of kernels on persistent memory: how many crashes and images there are, by hand; each planted
 * mistake is found, and its replay shows it again.
 */
#include <stdlib.h>
#include <string.h>

#include "simt/crash.h"
#include "simt/explore.h"
#include "simt/simt.h"
#include "tests/testing.h"

enum { WORDS = 32, EMPTY = 0, INSERTING = 1, VALUE = 7, KEY = 5 };

typedef struct bed {
    uint64_t *kept; /* (WORDS) persistent */
    uint32_t *flag; /* (4) not */
} bed;

static simt_machine *machine;
static bed memory;
static uint64_t images_tried;

/* ---- Kernels --------------------------------------------------------------------------------- */

SIMT_KERNEL(k_unfenced, bed, a) /* nothing orders value and key */
{
    simt_st_u64(a.kept, VALUE);
    simt_st_u64(a.kept + 1, KEY);
}

SIMT_KERNEL(k_fenced, bed, a)
{
    simt_st_u64(a.kept, VALUE);
    simt_fence_system();
    simt_st_u64(a.kept + 1, KEY);
    simt_fence_system();
}

SIMT_KERNEL(k_device_fence, bed, a) /* orders them for the lanes of the device alone */
{
    simt_st_u64(a.kept, VALUE);
    simt_fence();
    simt_st_u64(a.kept + 1, KEY);
    simt_fence_system();
}

SIMT_KERNEL(k_claimed, bed, a) /* the value may become durable after the key that shows it */
{
    if (simt_cas_u64(a.kept + 1, EMPTY, INSERTING, SIMT_ACQUIRE) != EMPTY) return;
    simt_st_u64(a.kept, VALUE);
    simt_strel_u64(a.kept + 1, KEY);
    simt_fence_system();
}

SIMT_KERNEL(k_thrice, bed, a) /* three values of one word, in pieces */
{
    simt_st_u32((uint32_t *)(void *)a.kept, 1);
    simt_st_u8((uint8_t *)(void *)a.kept + 4, 2);
    simt_add_u64(a.kept, 1, SIMT_RELAXED);
}

SIMT_KERNEL(k_wide, bed, a) /* one store of two words */
{
    simt_v4 v = { 1, 0, 2, 0 };
    simt_st_v4((simt_v4 *)(void *)a.kept, v);
}

SIMT_KERNEL(k_many, bed, a) /* more open words than all images are made of */
{
    for (uint32_t i = 0; i < 20; i++) simt_st_u64(a.kept + i, i + 1);
}

SIMT_KERNEL(k_both, bed, a) /* each lane makes its own word durable */
{
    simt_st_u64(a.kept + simt_thread(), 1);
    simt_fence_system();
}

SIMT_KERNEL(k_handed_on, bed, a) /* lane 0 stores a value, and lane 1 fences and shows it */
{
    if (simt_thread() == 0) {
        simt_st_u64(a.kept, VALUE);
        simt_strel_u32(a.flag, 1u);
    } else {
        while (simt_ldacq_u32(a.flag) == 0) simt_backoff(8);
        simt_fence_system();
        simt_st_u64(a.kept + 1, KEY);
        simt_fence_system();
    }
}

SIMT_KERNEL(k_value, bed, a) { simt_st_u64(a.kept, VALUE); }
SIMT_KERNEL(k_key, bed, a) { simt_st_u64(a.kept + 1, KEY); }

SIMT_KERNEL(k_told, bed, a)
{
    simt_st_u64(a.kept, VALUE);
    simt_ticket(0, 0, 0, 0);
}

/* A journal: kept[3] says that kept[2] is to become kept[4]. */
SIMT_KERNEL(k_journal, bed, a)
{
    simt_st_u64(a.kept + 4, 11);
    simt_fence_system();
    simt_st_u64(a.kept + 3, 1);
    simt_fence_system();
    simt_st_u64(a.kept + 2, 11);
    simt_fence_system();
    simt_st_u64(a.kept + 3, 0);
    simt_fence_system();
}

SIMT_KERNEL(k_redo, bed, a)
{
    if (simt_ld_u64(a.kept + 3) == 0) return;
    simt_st_u64(a.kept + 2, simt_ld_u64(a.kept + 4));
    simt_fence_system();
    simt_st_u64(a.kept + 3, 0);
    simt_fence_system();
}

SIMT_KERNEL(k_redo_unfenced, bed, a) /* a crash of the recovery may keep the second store alone */
{
    if (simt_ld_u64(a.kept + 3) == 0) return;
    simt_st_u64(a.kept + 2, simt_ld_u64(a.kept + 4));
    simt_st_u64(a.kept + 3, 0);
    simt_fence_system();
}

enum { VALUES = 3, COMMIT = 8, SUM = 9 };

SIMT_KERNEL(k_commit, bed, a) /* values, then the word that says that they are there */
{
    for (uint32_t i = 0; i < VALUES; i++) simt_st_u64(a.kept + i, 1);
    simt_fence_system();
    simt_st_u64(a.kept + COMMIT, 1);
    simt_fence_system();
}

SIMT_KERNEL(k_commit_unfenced, bed, a)
{
    for (uint32_t i = 0; i < VALUES; i++) simt_st_u64(a.kept + i, 1);
    simt_st_u64(a.kept + COMMIT, 1);
}

SIMT_KERNEL(k_sum, bed, a) /* a recovery that reads values only where they are committed */
{
    uint64_t sum = 0;
    if (simt_ld_u64(a.kept + COMMIT) == 0) return;
    for (uint32_t i = 0; i < VALUES; i++) sum += simt_ld_u64(a.kept + i);
    simt_st_u64(a.kept + SUM, sum);
}

/* ---- Trials ---------------------------------------------------------------------------------- */

typedef struct trial_of {
    void (*kernel[2])(const void *); /* one stream; the second may be NULL */
    uint32_t threads;
    bool persisted; /* by the host, after each launch */
    void (*recovery)(const void *);
    const char *(*holds)(void);
    uint64_t images, second; /* looked at; of the recovery's crashes */
    bool lazy;
} trial_of;

static hd_status prepare(void *context, simt_machine *m)
{
    const trial_of *t = (const trial_of *)context;
    memset(memory.kept, 0, 8 * WORDS);
    memset(memory.flag, 0, 16);
    hd_status s = simt_machine_region(m, memory.kept, 8 * WORDS, "kept");
    if (!s) s = simt_machine_persistent(m, memory.kept);
    if (!s) s = simt_machine_region(m, memory.flag, 16, "flag");
    for (int i = 0; i < 2 && t->kernel[i] && !s; i++) {
        s = simt_machine_launch(m, t->kernel[i], &memory, sizeof memory, 1, t->threads, 0);
        if (!s && t->persisted) s = simt_machine_persisted(m, memory.kept, 8 * WORDS);
    }
    return s;
}

static simt_config in_turn(void)
{
    simt_config c = simt_config_in_turn();
    c.persist = true;
    return c;
}

static bool promised; /* the journal of the first crash had its mark, or was done */

/* Runs the recovery to its end. */
static void recover_whole(simt_machine *m, const trial_of *t)
{
    const simt_config c = in_turn();
    must(simt_machine_launch(m, t->recovery, &memory, sizeof memory, 1, 1, 0));
    check(simt_machine_run(m, &c), "the recovery: %s", simt_machine_finding(m)->story);
}

/* Every crash of the recovery, each followed by another recovery. */
static const char *cut_recovery(simt_machine *m, trial_of *t)
{
    uint64_t image[WORDS];
    const char *why = NULL;
    memcpy(image, memory.kept, sizeof image);
    promised = image[3] || image[2];
    for (uint64_t at = 1, crashed = 1; crashed && !why; at++) {
        simt_config c = in_turn();
        simt_crash *crash;
        c.crash_at = at;
        memcpy(memory.kept, image, sizeof image);
        must(simt_machine_launch(m, t->recovery, &memory, sizeof memory, 1, 1, 0));
        crashed = !simt_machine_run(m, &c);
        must(simt_crash_open(m, SIMT_CRASH_ALL, &crash));
        for (; !why && simt_crash_next(crash); t->second++) {
            recover_whole(m, t);
            why = t->holds();
        }
        simt_crash_close(crash);
    }
    return why;
}

static const char *recover(void *context, simt_machine *m, const simt_crash *crash, bool ended)
{
    trial_of *t = (trial_of *)context;
    (void)crash, (void)ended;
    t->images++;
    if (t->lazy) return recover_whole(m, t), t->holds();
    return t->recovery ? cut_recovery(m, t) : t->holds();
}

static const char *key_has_value(void)
{
    return memory.kept[1] == KEY && memory.kept[0] != VALUE ? "the key is there, and its value is not" : NULL;
}

static const char *anything(void) { return NULL; }

static const char *redone(void)
{
    if (memory.kept[3]) return "the journal is not done";
    return memory.kept[2] == (promised ? 11 : 0) ? NULL : "the journal is lost";
}

static simt_exploration explored(trial_of *t, const simt_config *c, uint64_t schedules)
{
    simt_exploration e;
    const simt_trial trial = { t, prepare, NULL, NULL };
    const simt_recovery how = { .recover = recover, .lazy = t->lazy };
    t->images = t->second = 0;
    must(simt_explore_crashes(machine, &trial, &how, c, schedules, 0, 100, &e));
    images_tried += e.images;
    check(e.wrong || t->images == e.images, "%llu images, and %llu were counted", (ull)t->images, (ull)e.images);
    return e;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

typedef struct counted {
    const char *name;
    trial_of t;
    uint64_t points, images;
    const char *wrong, *crash; /* NULL: nothing is wrong */
} counted;

static void states_are_counted(void)
{
    static counted all[] = {
        /* at the end nothing, the value, the key, both: the second is wrong */
        { "no fence",
          { { k_unfenced }, 1, false, NULL, key_has_value, 0, 0, false },
          1,
          2,
          "its value is not",
          "0,0:1" },
        /* before each fence two, at the end one */
        { "fences", { { k_fenced }, 1, false, NULL, key_has_value, 0, 0, false }, 3, 2 + 2 + 1, NULL, NULL },
        /* at the end one; before the fence, event 3: the second is wrong */
        { "device fence",
          { { k_device_fence }, 1, false, NULL, key_has_value, 0, 0, false },
          2,
          1 + 2,
          "value is not",
          "3,0:1" },
        /* before the fence, event 4: of three keys and two values the key alone; word 0 is the key's */
        { "claim", { { k_claimed }, 1, false, NULL, key_has_value, 0, 0, false }, 2, 1 + 4, "value is not", "4,1:1" },
        { "one word", { { k_thrice }, 1, false, NULL, anything, 0, 0, false }, 1, 4, NULL, NULL },
        { "two words", { { k_wide }, 1, false, NULL, anything, 0, 0, false }, 1, 4, NULL, NULL },
        /* 3 x 20 + 20 + 2 + 64 */
        { "many words", { { k_many }, 1, false, NULL, anything, 0, 0, false }, 1, 146, NULL, NULL },
        { "two launches",
          { { k_value, k_key }, 1, false, NULL, key_has_value, 0, 0, false },
          1,
          2,
          "value is not",
          "0,0:1" },
        /* the end of each launch is an event */
        { "a host between",
          { { k_value, k_key }, 1, true, NULL, key_has_value, 0, 0, false },
          3,
          1 + 2 + 2,
          NULL,
          NULL },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[64];
        const simt_config c = in_turn();
        test_case("%s", all[i].name);
        simt_exploration e = explored(&all[i].t, &c, 1);
        check(e.points == all[i].points && e.images == all[i].images, "%llu crashes, %llu images", (ull)e.points,
              (ull)e.images);
        check(e.wrong == (all[i].wrong != NULL), "%s", e.finding.story);
        if (e.wrong) {
            simt_crash_print(e.crash_at, e.lost, e.lost_n, text, sizeof text);
            check(strcmp(text, all[i].crash) == 0 && strstr(e.finding.story, all[i].wrong), "%s: %s", text,
                  e.finding.story);
            check(strstr(e.finding.story, "lost: kept+0  0 -> 7") != NULL, "%s", e.finding.story);
        }
        simt_exploration_free(machine, &e);
    }
}

/* Two lanes, a start, a store and a fence each: 6! / (3! 3!) = 20 orders of their steps, with crashes before both
 * fences and at the end. A fence makes its own lane's word durable only. */
static void a_fence_is_of_its_lane(void)
{
    trial_of t = { { k_both }, 2, false, NULL, anything, 0, 0, false };
    simt_config c = simt_config_default();
    c.strategy = SIMT_SEARCH;
    c.bound = 8;
    c.race = false;
    c.persist = true;
    simt_exploration e = explored(&t, &c, 1000);
    check(e.exhausted && !e.wrong && e.schedules == 20 && e.points == 20 * 3, "%llu schedules, %llu crashes",
          (ull)e.schedules, (ull)e.points);
    /* in 2 x 4 one lane is after the other, whose start may be anywhere before; in the others both stores are first */
    check(e.images == 8 * (2 + 2 + 1) + 12 * (4 + 2 + 1), "%llu images", (ull)e.images);
    simt_exploration_free(machine, &e);
}

/* What lane 1 knows of is durable with lane 1's fence in the stronger model only. */
static void fences_may_be_cumulative(void)
{
    for (int cumulative = 0; cumulative < 2; cumulative++) {
        trial_of t = { { k_handed_on }, 2, false, NULL, key_has_value, 0, 0, false };
        simt_config c = simt_config_default();
        c.persist = true;
        c.cumulative = cumulative;
        simt_exploration e = explored(&t, &c, 20);
        check(e.wrong == !cumulative, "cumulative %d: %s", cumulative, e.finding.story);
        simt_exploration_free(machine, &e);
    }
}

/* A store that waits in a store buffer is lost, and a fence empties the buffer first. */
static void weak_stores_are_lost_too(void)
{
    trial_of good = { { k_fenced }, 1, false, NULL, key_has_value, 0, 0, false },
             bad = { { k_claimed }, 1, false, NULL, key_has_value, 0, 0, false };
    simt_config c = simt_config_default();
    c.weak = c.persist = true;
    simt_exploration e = explored(&good, &c, 20);
    check(!e.wrong && e.images == 20 * (2 + 2 + 1) && e.points == 20 * 3, "%llu images, %llu crashes: %s",
          (ull)e.images, (ull)e.points, e.finding.story);
    simt_exploration_free(machine, &e);
    e = explored(&bad, &c, 20);
    check(e.wrong && strstr(e.finding.story, "its value is not"), "%s", e.finding.story);
    simt_exploration_free(machine, &e);
}

/* What was found is found again: the same schedule, the same crash, the same sentence. */
static void replays_show_it_again(void)
{
    trial_of t = { { k_handed_on }, 2, false, NULL, key_has_value, 0, 0, false };
    simt_config c = simt_config_default();
    c.persist = true;
    simt_exploration e = explored(&t, &c, 20), again;
    const simt_trial trial = { &t, prepare, NULL, NULL };
    const simt_recovery how = { .recover = recover };
    c.replayed = c.strategy;
    c.strategy = SIMT_REPLAY;
    c.schedule = e.schedule;
    c.schedule_n = e.schedule_n;
    c.crash_at = e.crash_at;
    c.lost = e.lost;
    c.lost_n = e.lost_n;
    c.trace = true;
    must(simt_explore_crashes(machine, &trial, &how, &c, 1, 0, 0, &again));
    check(e.wrong && e.lost_n == 1, "%zu words have lost stores", e.lost_n);
    check(again.wrong && strcmp(again.finding.story, e.finding.story) == 0, "%s, and again: %s", e.finding.story,
          again.finding.story);
    simt_exploration_free(machine, &again);
    c.lost_n = 0;
    must(simt_explore_crashes(machine, &trial, &how, &c, 1, 0, 0, &again));
    check(!again.wrong, "without a lost store: %s", again.finding.story);
    simt_exploration_free(machine, &again);
    simt_exploration_free(machine, &e);
}

/* A recovery that is cut before each of its events, and runs again. */
static void recoveries_are_cut(void)
{
    trial_of good = { { k_journal }, 1, false, k_redo, redone, 0, 0, false },
             bad = { { k_journal }, 1, false, k_redo_unfenced, redone, 0, 0, false };
    const simt_config c = in_turn();
    simt_exploration e = explored(&good, &c, 1);
    check(!e.wrong && e.points == 5 && e.images == 4 * 2 + 1, "%llu crashes, %llu images: %s", (ull)e.points,
          (ull)e.images, e.finding.story);
    /* four of the images have the mark: their recovery has 1 + 2 + 1 + 2 + 1, that of the others 1 */
    check(good.second == 4 * 7 + 5, "%llu images of recoveries", (ull)good.second);
    images_tried += good.second;
    simt_exploration_free(machine, &e);
    e = explored(&bad, &c, 1);
    check(e.wrong, "a recovery without a fence between its stores was not found");
    simt_exploration_free(machine, &e);
}

static const char *recover_nothing(void *context, simt_machine *m, const simt_crash *crash, bool ended)
{
    (void)context, (void)m, (void)crash, (void)ended;
    return key_has_value();
}

/* Each take is refused in turn: the exploration says so, and gives back what it had. */
static void memory_is_refused(void)
{
    trial_of t = { { k_claimed }, 1, true, NULL, key_has_value, 0, 0, false };
    const simt_trial trial = { &t, prepare, NULL, NULL };
    const simt_recovery how = { .recover = recover_nothing };
    for (uint64_t refuse = 1;; refuse++) {
        counting count;
        simt_machine *m = NULL;
        simt_exploration e;
        simt_config c = simt_config_default();
        test_case("take %llu is refused", (ull)refuse);
        counting_init(&count);
        count.refuse_at = refuse;
        c.persist = true;
        hd_status status = simt_machine_open(&count.seams, &m);
        if (m) {
            status = simt_explore_crashes(m, &trial, &how, &c, 1, 0, 20, &e);
            check(status || e.wrong, "the key was never without its value");
            simt_exploration_free(m, &e);
            simt_machine_close(m);
        }
        check(count.live_bytes == 0, "%llu bytes are still held", (ull)count.live_bytes);
        bool refused = count.takes >= refuse;
        check(status == (refused ? HD_ENOMEM : HD_OK), "%s: %s", hd_status_name(status), hd_why());
        if (refused) continue;
        test_tried("memory", refuse - 1, "refused to a search of crashes");
        return;
    }
}

static bool sum_seen[VALUES + 1];
static const char *sum_is_whole(void)
{
    uint64_t sum = memory.kept[SUM];
    return sum == 0 || sum == VALUES ? NULL : "a part of the values is there";
}
static const char *sum_is_seen(void)
{
    sum_seen[memory.kept[SUM] % (VALUES + 1)] = true;
    return NULL;
}

/* A word that recovery does not read is no choice. */
static void lazy_images_are_fewer(void)
{
    const simt_config c = in_turn();
    trial_of good = { { k_commit }, 1, false, k_sum, sum_is_whole, 0, 0, true },
             bad = { { k_commit_unfenced }, 1, false, k_sum, sum_is_whole, 0, 0, true };
    simt_exploration e = explored(&good, &c, 1);
    /* at the first fence no word is read that is open; at the second the commit */
    check(!e.wrong && e.points == 3 && e.images == 1 + 2 + 1, "%llu images: %s", (ull)e.images, e.finding.story);
    simt_exploration_free(machine, &e);
    e = explored(&bad, &c, 1);
    check(e.wrong && e.images == 2 && e.lost_n == 1 && e.lost[0].at == VALUES - 1, "%llu images: %s", (ull)e.images,
          e.finding.story);
    simt_exploration_free(machine, &e);
    bad.holds = sum_is_seen;
    e = explored(&bad, &c, 1);
    /* without the commit one, else all that the values can be */
    check(!e.wrong && e.images == 1 + (1 << VALUES), "%llu images", (ull)e.images);
    for (int sum = 0; sum <= VALUES; sum++) check(sum_seen[sum], "no image has %d values", sum);
    simt_exploration_free(machine, &e);
}

/* The images of all tests before. */
static void tell_images(void)
{
    test_tried("crashes", images_tried, "images that a crash leaves of persistent memory, each recovered and judged");
}

static void texts_are_read(void)
{
    static const char *const bad[] = { "", "x", "3;", "3,", "3,0", "3,1:1,0:1" };
    simt_decision lost[4], one[2] = { { 0, 1 }, { 3, 2 } };
    uint64_t at;
    char text[32];
    size_t n = 4;
    check(simt_crash_print(12, one, 2, text, sizeof text) == 10 && strcmp(text, "12,0:1,3:2") == 0, "%s", text);
    must(simt_crash_parse(text, &at, lost, &n));
    check(at == 12 && n == 2 && lost[1].at == 3 && lost[1].choice == 2, "%llu, %zu words", (ull)at, n);
    n = 4;
    must(simt_crash_parse("0", &at, lost, &n));
    check(at == 0 && n == 0, "%llu, %zu words", (ull)at, n);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        n = 4;
        must_fail(simt_crash_parse(bad[i], &at, lost, &n), HD_EINVAL, "");
    }
}

static void regions_are_refused(void)
{
    simt_machine_forget(machine);
    must(simt_machine_region(machine, memory.kept, 12, "twelve"));
    must_fail(simt_machine_persistent(machine, memory.kept), HD_EINVAL, "'twelve' is not made of whole words");
    must_fail(simt_machine_persistent(machine, memory.flag), HD_EINVAL, "no region begins there");
    simt_machine_forget(machine);
}

/* What the host has made durable between two runs is, and what it has not is open in the next one, too. */
static void stores_outlive_their_run(void)
{
    for (int persisted = 0; persisted < 2; persisted++) {
        trial_of t = { { k_value }, 1, false, NULL, anything, 0, 0, false };
        const simt_config c = in_turn();
        simt_crash *crash;
        simt_machine_forget(machine);
        must(prepare(&t, machine));
        check(simt_machine_run(machine, &c), "%s", simt_machine_finding(machine)->story);
        if (persisted) must(simt_machine_persisted(machine, memory.kept, 8));
        must(simt_machine_launch(machine, k_key, &memory, sizeof memory, 1, 1, 0));
        check(simt_machine_run(machine, &c), "%s", simt_machine_finding(machine)->story);
        must(simt_crash_open(machine, SIMT_CRASH_ALL, &crash));
        check(simt_crash_words(crash) == 2u - (uint32_t)persisted && simt_crash_images(crash) == (persisted ? 2 : 4),
              "%zu words are open", simt_crash_words(crash));
        simt_crash_close(crash);
        simt_machine_region_end(machine, memory.kept);
        must(simt_crash_open(machine, SIMT_CRASH_ALL, &crash));
        check(simt_crash_words(crash) == 0, "words are open in a region that has ended");
        simt_crash_close(crash);
    }
}

/* A crash knows the tickets that were drawn before it, and which of them the host has made durable. */
static void tickets_are_settled(void)
{
    static const struct {
        bool persisted;
        uint64_t crash_at; /* each launch stores, and may then be made durable */
        size_t tickets, settled;
    } all[] = { { true, 0, 2, 1 }, { true, 4, 2, 1 }, { true, 2, 1, 0 }, { false, 0, 2, 0 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        trial_of t = { { k_told, k_told }, 1, all[i].persisted, NULL, anything, 0, 0, false };
        simt_config c = in_turn();
        simt_crash *crash;
        size_t n, settled;
        c.crash_at = all[i].crash_at;
        simt_machine_forget(machine);
        must(prepare(&t, machine));
        check(simt_machine_run(machine, &c) == !c.crash_at, "%s", simt_machine_finding(machine)->story);
        must(simt_crash_open(machine, SIMT_CRASH_ALL, &crash));
        simt_crash_tickets(crash, &n, &settled);
        check(n == all[i].tickets && settled == all[i].settled, "case %zu: %zu tickets, %zu", i, n, settled);
        simt_crash_close(crash);
    }
}

int main(void)
{
    const struct CMUnitTest crash[] = { unit(states_are_counted),       unit(a_fence_is_of_its_lane),
                                        unit(fences_may_be_cumulative), unit(weak_stores_are_lost_too),
                                        unit(replays_show_it_again),    unit(recoveries_are_cut),
                                        unit(lazy_images_are_fewer),    unit(tell_images),
                                        unit(memory_is_refused),        unit(texts_are_read),
                                        unit(regions_are_refused),      unit(stores_outlive_their_run),
                                        unit(tickets_are_settled) };
    must(simt_machine_open(NULL, &machine));
    memory.kept = (uint64_t *)aligned_alloc(128, 8 * WORDS);
    memory.flag = (uint32_t *)aligned_alloc(128, 128);
    int failed = test_run(crash);
    simt_machine_close(machine);
    free(memory.kept);
    free(memory.flag);
    return failed;
}
