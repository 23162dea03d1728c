/* SPDX-License-Identifier: Apache-2.0
 *
 * t_simt.c - the host machine: correct kernels run without a finding in every configuration and give the right result;
 * each faulty kernel is found, with the right fault; schedules replay; a search is exhaustive; weak memory shows old
 * values.
 */
#include <stdlib.h>
#include <string.h>

#include "simt/explore.h"
#include "tests/simt_bed.h"

typedef struct correct {
    const char *name;
    void (*kernel)(const void *);
    uint32_t blocks, threads;
    bool (*right)(void);
} correct;

static bool sum_right(void)
{
    for (uint32_t b = 0; b < 6; b++)
        if (memory.out[b] != 128 * (128 * b) + 127 * 64) return false;
    return true;
}
static bool tiles_right(void) { return memory.out[8] == 7 && memory.out[16] == 210 && memory.out[0] == 50; }
static bool copy_right(void) { return memory.out[0] == 4 + 5 + 6 + 7 && memory.out[63] == 0 + 1 + 2 + 3; }
static bool lock_right(void) { return memory.out[1] == 64 * 3; }
static bool collectives_right(void)
{
    for (uint32_t i = 0; i < 64; i++)
        if (memory.out[i]) return false;
    return true;
}
static bool atomics_right(void)
{
    uint64_t wide[2];
    double f64;
    memcpy(wide, memory.out + 16, sizeof wide);
    memcpy(&f64, memory.out + 32, sizeof f64);
    return f64 == 128 && memory.out[0] == 256 && memory.out[1] == 0 && memory.out[2] == 77 &&
           memory.out[3] == 0xffffffffu && memory.out[4] == 0 && wide[0] == 128ull << 40 && wide[1] == 0 &&
           simt_float_of(memory.out[5]) == 128 && simt_f16_widen(memory.out[6] & 0xffff) == 128 &&
           simt_bf16_widen(memory.out[6] >> 16) == 128 && simt_float_of(memory.out[20]) == 128 && !memory.out[21] &&
           !memory.out[22] && simt_float_of(memory.out[23]) == 256 && simt_f16_widen(memory.out[24]) == 128 &&
           !memory.out[25] && !memory.out[26] && simt_f16_widen(memory.out[27] >> 16) == 256 &&
           simt_bf16_widen(memory.out[28]) == 128 && !memory.out[29] && !memory.out[30] &&
           simt_bf16_widen(memory.out[31] >> 16) == 256;
}
static bool message_right(void) { return memory.out[16] == 42; }
static bool pieces_right(void)
{
    for (uint32_t i = 0; i < 128; i++)
        if (memory.in[2 * i] != 1) return false;
    return true;
}

static void test_correct(void)
{
    static const correct all[] = {
        { "sum", k_sum, 6, 128, sum_right },
        { "tiles", k_tiles, 2, 64, tiles_right },
        { "copy", k_copy, 1, 64, copy_right },
        { "lock", k_lock, 3, 64, lock_right },
        { "collectives", k_collectives, 1, 64, collectives_right },
        { "atomics", k_atomics, 2, 64, atomics_right },
        { "message", k_message, 1, 64, message_right },
        { "message with fences", k_message_fences, 1, 64, message_right },
        { "pieces", k_pieces, 2, 64, pieces_right },
    };
    uint64_t runs = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (uint32_t i = 0; i < WAYS; i++)
            for (uint64_t seed = 1; seed <= test_times(3); seed++, runs++) {
                simt_config c = way(i, seed);
                test_case("%s, way %u, seed %llu", all[k].name, i, (ull)seed);
                check(run(all[k].kernel, all[k].blocks, all[k].threads, &c), "%s",
                      simt_machine_finding(machine)->story);
                check(all[k].right(), "a wrong answer");
            }
    test_tried("schedules", runs, "of sound kernels on the host machine");
}

typedef struct faulty {
    const char *name;
    void (*kernel)(const void *);
    simt_fault fault;
    uint32_t blocks;
} faulty;

static const faulty faults[] = {
    { "two collectives", k_two_collectives, SIMT_MISMATCH, 1 },
    { "two places", k_two_places, SIMT_MISMATCH, 1 },
    { "half at the barrier", k_half_at_barrier, SIMT_DEADLOCK, 1 },
    { "early exit", k_early_exit, SIMT_LEFT, 1 },
    { "the first leaves", k_first_leaves, SIMT_LEFT, 1 },
    { "exit before a barrier", k_exit_barrier, SIMT_LEFT, 1 },
    { "not in the mask", k_not_in_mask, SIMT_OUTSIDE, 1 },
    { "shuffle from outside", k_shuffle_outside, SIMT_OUTSIDE, 1 },
    { "two barriers", k_two_barriers, SIMT_MISMATCH, 1 },
    { "unwritten shared memory", k_unwritten, SIMT_UNINITIALISED, 1 },
    { "beyond shared memory", k_beyond_shared, SIMT_BOUNDS, 1 },
    { "beyond device memory", k_beyond_global, SIMT_BOUNDS, 1 },
    { "before device memory", k_before_global, SIMT_BOUNDS, 1 },
    { "nowhere", k_nowhere, SIMT_BOUNDS, 1 },
    { "another block's shared memory", k_other_block, SIMT_BOUNDS, 2 },
    { "too large an array", k_no_room, SIMT_RESOURCE, 1 },
    { "copy elsewhere", k_copy_elsewhere, SIMT_BOUNDS, 1 },
    { "too many copies", k_copies, SIMT_RESOURCE, 1 },
    { "an atomic in shared memory", k_atomic_in_shared, SIMT_SPACE, 1 },
    { "a compare-and-swap in shared memory", k_cas_in_shared, SIMT_SPACE, 1 },
    { "a shared atomic in device memory", k_shared_atomic_outside, SIMT_SPACE, 1 },
    { "an acquire in shared memory", k_acquire_in_shared, SIMT_SPACE, 1 },
    { "a relaxed store in shared memory", k_relaxed_in_shared, SIMT_SPACE, 1 },
    { "a copy from shared memory", k_copy_from_shared, SIMT_SPACE, 1 },
    { "misaligned", k_misaligned, SIMT_MISALIGNED, 1 },
    { "copy without wait", k_copy_no_wait, SIMT_IN_FLIGHT, 1 },
    { "copy without barrier", k_copy_no_barrier, SIMT_NO_FAULT, 1 }, /* any of three: see below */
    { "no barrier", k_no_barrier, SIMT_NO_FAULT, 1 },
    { "ballot as barrier", k_ballot_as_barrier, SIMT_NO_FAULT, 1 },
    { "endless", k_endless, SIMT_ENDLESS, 1 },
    { "endless without backoff", k_endless_no_backoff, SIMT_ENDLESS, 1 },
    { "message relaxed", k_message_relaxed, SIMT_RACE, 1 },
    { "message not acquired", k_message_no_acquire, SIMT_RACE, 1 },
    { "a cycle", k_cycle, SIMT_DEADLOCK, 1 },
};

static void test_faults(void)
{
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        const faulty *f = &faults[k];
        const simt_finding *finding = simt_machine_finding(machine);
        uint32_t seen[SIMT_FAULT_COUNT] = { 0 };
        for (uint32_t i = 0; i < WAYS; i++) {
            simt_config c = way(i, 1 + i);
            test_case("%s, way %u", f->name, i);
            bool clean = run(f->kernel, f->blocks, 64, &c);
            check(!clean, "not found");
            seen[finding->fault]++;
            /* What is read before its barrier is unwritten, in flight or a race, as the schedule has it. */
            bool early =
                finding->fault == SIMT_RACE || finding->fault == SIMT_UNINITIALISED || finding->fault == SIMT_IN_FLIGHT;
            check(f->fault == SIMT_NO_FAULT ? early : finding->fault == f->fault, "found as '%s': %s",
                  simt_fault_name(finding->fault), finding->story);
            check(strstr(finding->story, "simt_kernels.h:"), "no site in: %s", finding->story);
        }
        check(f->fault != SIMT_NO_FAULT || seen[SIMT_RACE], "%s: never found as a race", f->name);
    }
}

/* A finding's schedule finds it again, and its interleaving is the same. */
static void test_replay(void)
{
    void (*const kernels[])(const void *) = { k_no_barrier, k_message_relaxed, k_lock, k_sum };
    for (uint32_t i = 0; i < WAYS; i++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            simt_config c = way(i, 7 + i);
            test_case("kernel %zu, way %u", k, i);
            bool clean = run(kernels[k], 1, 64, &c);
            simt_totals t = simt_machine_totals(machine);
            simt_finding first = *simt_machine_finding(machine);
            size_t n, places;
            const simt_decision *s = simt_machine_schedule(machine, &n);
            char *text = (char *)test_alloc(simt_schedule_print(s, n, NULL, 0) + 1, 1);
            simt_schedule_print(s, n, text, simt_schedule_print(s, n, NULL, 0) + 1);
            simt_decision *again = (simt_decision *)test_alloc(n + 1, sizeof *again);
            places = n;
            must(simt_schedule_parse(text, again, &places));
            check(places == n, "%zu decisions printed, %zu parsed", n, places);
            c.replayed = c.strategy;
            c.strategy = SIMT_REPLAY;
            c.schedule = again;
            c.schedule_n = n;
            check(run(kernels[k], 1, 64, &c) == clean, "the replay ended otherwise");
            check(simt_machine_totals(machine).hash == t.hash, "the replay went another way");
            check(strcmp(first.story, simt_machine_finding(machine)->story) == 0, "another story:\n%s\n%s", first.story,
                  simt_machine_finding(machine)->story);
            free(again);
            free(text);
        }
    simt_decision s[2];
    size_t n = 2;
    must_fail(simt_schedule_parse("1:2,x", s, &n), HD_EINVAL, "schedule");
    n = 2;
    must_fail(simt_schedule_parse("2:1,1:1", s, &n), HD_EINVAL, "after");
    n = 1;
    must_fail(simt_schedule_parse("1:1,2:1", s, &n), HD_EINVAL, "more than");
    static const char *const senseless[] = { "1",    "1:",   ":1",   "1:2x", "1:4294967296", "99999999999999999999:1",
                                             "+1:2", "1:-2", "1: 2", "1:1,2" };
    for (size_t k = 0; k < sizeof senseless / sizeof *senseless; k++) {
        n = 2;
        test_case("'%s'", senseless[k]);
        must_fail(simt_schedule_parse(senseless[k], s, &n), HD_EINVAL, "no decision");
    }
}

/* Same seed, same way; another seed, another way. */
static void test_same_seed(void)
{
    uint64_t hashes[20];
    for (uint64_t seed = 0; seed < 20; seed++) {
        simt_config c = way(0, seed);
        check(run(k_lock, 2, 64, &c), "%s", simt_machine_finding(machine)->story);
        hashes[seed] = simt_machine_totals(machine).hash;
        run(k_sum, 3, 64, &c);
        check(run(k_lock, 2, 64, &c), "%s", simt_machine_finding(machine)->story);
        check(simt_machine_totals(machine).hash == hashes[seed], "seed %llu went two ways", (ull)seed);
        for (uint64_t i = 0; i < seed; i++)
            check(hashes[i] != hashes[seed], "seeds %llu and %llu went one way", (ull)i, (ull)seed);
    }
    test_note("seed 0 has interleaving %016llx", (ull)hashes[0]);
}

/* n lanes that each store once and load once, relaxed: the schedules without a bound are the ways to merge them. */
SIMT_KERNEL(k_two_steps, buffers, a)
{
    simt_strlx_u32(a.out + simt_block(), 1u);
    simt_strlx_u32(a.out + 100 + simt_block(), 1u);
}

static uint64_t search_as(simt_config c, void (*kernel)(const void *), uint32_t blocks, uint32_t threads,
                          uint32_t bound, uint32_t *outcomes)
{
    c.strategy = SIMT_SEARCH;
    c.bound = bound;
    c.resident = blocks;
    uint64_t n = 0;
    simt_machine_restart(machine);
    do {
        check(run(kernel, blocks, threads, &c), "%s", simt_machine_finding(machine)->story);
        if (outcomes) outcomes[memory.out[16] * 4 + memory.out[17]]++;
        n++;
    } while (simt_machine_next(machine));
    return n;
}

static uint64_t search(void (*kernel)(const void *), uint32_t blocks, uint32_t threads, uint32_t bound,
                       uint32_t *outcomes)
{
    return search_as(simt_config_default(), kernel, blocks, threads, bound, outcomes);
}

static void test_search(void)
{
    /* Each lane has three segments (to its first store, to its second, to its end): merging two sequences of three is
     * C(6, 3) = 20, three is 9! / 3!^3 = 1,680. */
    uint64_t two = search(k_two_steps, 2, 1, 100, NULL), three = search(k_two_steps, 3, 1, 100, NULL);
    check(two == 20 && three == 1680, "%llu and %llu schedules", (ull)two, (ull)three);
    uint64_t none = search(k_two_steps, 3, 1, 0, NULL), one = search(k_two_steps, 3, 1, 1, NULL);
    check(none == 6 && one > none && one < three, "%llu without preemption, %llu with one", (ull)none, (ull)one);
    test_note("2 lanes %llu schedules; 3 lanes %llu, %llu with at most one preemption, %llu with none", (ull)two,
              (ull)three, (ull)one, (ull)none);
}

/* A warp says that it is there, looks whether the other is, and says what it saw; it meets in ballots all the while. */
SIMT_KERNEL(k_warps_meet, buffers, a)
{
    simt_tile w = simt_tile_of(32);
    uint32_t me = simt_block(), seen = 0;
    for (int i = 0; i < 3; i++) (void)simt_ballot(w, true);
    if (w.rank == 0) simt_strlx_u32(a.out + me, 1u);
    simt_join();
    for (int i = 0; i < 3; i++) (void)simt_ballot(w, true);
    if (w.rank == 0) seen = simt_ldrlx_u32(a.out + 1 - me);
    simt_join();
    (void)simt_ballot(w, true);
    if (w.rank == 0) simt_strlx_u32(a.out + 16 + me, 1u + seen);
    simt_join();
    (void)simt_ballot(w, true);
}

/* The halves of a warp go their own ways, two stores each. */
SIMT_KERNEL(k_halves_part, buffers, a)
{
    simt_tile h = simt_tile_of(16);
    (void)simt_ballot(h, true);
    if (simt_lane() == 0) simt_strlx_u32(a.out, 1u);
    if (simt_lane() == 16) simt_strlx_u32(a.out + 1, 1u);
    simt_join();
    (void)simt_ballot(h, true);
    if (simt_lane() == 0) simt_strlx_u32(a.out + 2, 1u);
    if (simt_lane() == 16) simt_strlx_u32(a.out + 3, 1u);
}

/* A search that runs local steps first tries fewer schedules, but reaches every outcome, with any number of
 * preemptions. */
static void test_search_local_first(void)
{
    simt_config all = simt_config_default(), less;
    uint64_t n[2] = { 0, 0 };
    all.unit = SIMT_BY_WARP;
    less = all;
    less.local_first = true;
    for (uint32_t bound = 0; bound < 4; bound++) {
        uint32_t outcomes[2][16];
        memset(outcomes, 0, sizeof outcomes);
        n[0] = search_as(all, k_warps_meet, 2, 32, bound, outcomes[0]);
        n[1] = search_as(less, k_warps_meet, 2, 32, bound, outcomes[1]);
        for (int o = 0; o < 16; o++)
            check(!outcomes[0][o] == !outcomes[1][o],
                  "with %u preemptions %u of %llu schedules of all had outcome %d, and %u of %llu", bound,
                  outcomes[0][o], (ull)n[0], o, outcomes[1][o], (ull)n[1]);
        check(n[1] < n[0] || bound == 0, "with %u preemptions %llu schedules for %llu", bound, (ull)n[1], (ull)n[0]);
    }
    test_note("2 warps of 3 accesses and 8 ballots, 3 preemptions: %llu schedules, %llu with what is local first",
              (ull)n[0], (ull)n[1]);
    /* Two sequences of three accesses are merged in 20 ways, of two in 6, also where they are halves of a warp, of
     * which either may begin. */
    uint64_t warps = search_as(less, k_warps_meet, 2, 32, 100, NULL),
             halves = search_as(less, k_halves_part, 1, 32, 100, NULL),
             quiet = search_as(less, k_halves_part, 1, 32, 0, NULL);
    check(warps == 20 && halves == 6 && quiet == 2, "%llu, %llu and %llu schedules", (ull)warps, (ull)halves,
          (ull)quiet);
}

/* What each litmus test can show, under interleaving alone and with weak memory. */
static void litmus(void (*kernel)(const void *), bool weak, uint32_t *outcomes)
{
    memset(outcomes, 0, 16 * sizeof *outcomes);
    for (uint64_t seed = 0; seed < 4000; seed++) {
        simt_config c = simt_config_default();
        c.weak = weak;
        c.seed = seed;
        check(run(kernel, 1, 64, &c), "%s", simt_machine_finding(machine)->story);
        outcomes[(memory.out[16] & 3) * 4 + (memory.out[17] & 3)]++;
    }
}

static void test_weak(void)
{
    uint32_t seen[16];
    litmus(k_store_buffering, false, seen);
    check(seen[1 * 4 + 1] == 0 && seen[2 * 4 + 2] && seen[1 * 4 + 2], "an interleaving showed a store buffer");
    litmus(k_store_buffering, true, seen);
    check(seen[1 * 4 + 1], "no store buffering in %d weak runs", 4000);
    litmus(k_message_all_relaxed, false, seen);
    check(seen[2 * 4 + 1] == 0 && seen[2 * 4 + 2], "an interleaving lost a message");
    litmus(k_message_all_relaxed, true, seen);
    check(seen[2 * 4 + 1], "no lost message in %d weak runs", 4000);
    litmus(k_one_address, true, seen);
    for (uint32_t first = 0; first < 4; first++)
        for (uint32_t second = 0; second < first; second++)
            check(seen[first * 4 + second] == 0, "one address went from %u back to %u", first, second);
    check(seen[0 * 4 + 3] && seen[1 * 4 + 2], "one address was always read the same");
}

/* Streams: one after another is ordered, side by side is a race. */
static void test_streams(void)
{
    for (uint32_t i = 0; i < WAYS; i++)
        for (uint32_t stream = 0; stream < 2; stream++) {
            simt_config c = way(i, i);
            test_case("way %u, second kernel on stream %u", i, stream);
            reset();
            must(simt_machine_launch(machine, k_write, &memory, sizeof memory, 3, 64, 0));
            must(simt_machine_launch(machine, k_read, &memory, sizeof memory, 3, 64, stream));
            bool clean = simt_machine_run(machine, &c);
            const simt_finding *f = simt_machine_finding(machine);
            check(clean == (stream == 0), "%s", clean ? "no race between two streams" : f->story);
            check(clean || f->fault == SIMT_RACE, "%s", f->story);
            for (uint32_t k = 0; clean && k < 192; k++) check(memory.in[k] == (k % 64 ^ 1), "word %u", k);
        }
}

/* The meter, where the answer is known: 32 lanes x 4 bytes in a row are 4 sectors and 1 line; 16 lanes apart by 128
 * bytes 16 lines. */
SIMT_KERNEL(k_rows, buffers, a)
{
    uint32_t v = simt_ld_u32(a.in + simt_thread());
    for (uint32_t i = 0; i < 3; i++) {
        v += simt_ld_u32(a.in + (simt_thread() % 16) * 32 + i);
    }
    simt_st_u32(a.out + simt_block() * 64 + simt_thread(), v);
}

static void test_meter(void)
{
    for (uint32_t i = 0; i < WAYS; i++) {
        simt_config c = way(i, i);
        c.meter = true;
        test_case("way %u", i);
        check(run(k_rows, 2, 64, &c), "%s", simt_machine_finding(machine)->story);
        size_t n;
        const simt_site *s = simt_machine_sites(machine, &n);
        check(n == 3, "%zu sites", n);
        check(s[0].instructions == 4 && s[0].sectors == 16 && s[0].lines == 4 && s[0].lanes == 128,
              "row: %llu instructions, %llu sectors, %llu lines", (ull)s[0].instructions, (ull)s[0].sectors,
              (ull)s[0].lines);
        check(s[1].instructions == 12 && s[1].sectors == 12 * 16 && s[1].lines == 12 * 16,
              "apart: %llu instructions, %llu sectors, %llu lines", (ull)s[1].instructions, (ull)s[1].sectors,
              (ull)s[1].lines);
    }
}

/* The watcher sees every step: the run ends at the first wrong one. */
static const char *past_two(void *context)
{
    ++*(uint64_t *)context;
    return memory.out[1] > 2 ? "it counts beyond two" : NULL;
}

static void test_watch(void)
{
    for (uint32_t i = 0; i < WAYS; i++) {
        simt_config c = way(i, i);
        uint64_t often = 0, seldom = 0;
        test_case("way %u", i);
        c.weak = false; /* a store that waits in a buffer comes with others */
        c.preempt = SIMT_AT_ALL;
        c.watch = past_two;
        c.watch_every = 1;
        c.context = &often;
        check(!run(k_lock, 3, 64, &c), "no error was reported");
        const simt_finding *f = simt_machine_finding(machine);
        check(f->fault == SIMT_WATCHED && memory.out[1] == 3, "%u were counted: %s", memory.out[1], f->story);
        check(strstr(f->story, "it counts beyond two") && strstr(f->story, "had come to simt_kernels.h:"), "%s",
              f->story);
        c.watch_every = 7;
        c.context = &seldom;
        check(!run(k_lock, 3, 64, &c) && memory.out[1] >= 3 && seldom <= often, "%llu looks, %llu were enough",
              (ull)seldom, (ull)often);
        c.watch_every = 0;
        check(run(k_lock, 3, 64, &c) && lock_right(), "%s", f->story);
    }
}

/* ---- Stories --------------------------------------------------------------------------------- */

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

/* A story has every kind of step, with the value that it read or replaced. The last rows are requested. Lines that do
 * not fit are left out as a whole. */
static void test_story(void)
{
    static const struct {
        void (*kernel)(const void *);
        const char *words[6];
    } all[] = {
        { k_message, { "st    out+32  0 -> 2a", "strel out+0  0 -> 1", "ldacq out+0  = 1", "ld    out+32  = 2a" } },
        { k_message_fences, { "fence", "strlx out+0  0 -> 1", "ldrlx out+0  = 1" } },
        { k_lock, { "cas   out+0  0 -> 1", "strel out+0  1 -> 0", "ld    out+4  = 3f" } },
        { k_atomics,
          { "add   out+0", "min   out+4", "exch  out+8", "add   out+20  0 -> 3f800000", "add   out+24  0 -> 3c00" } },
        { k_collectives, { "ballot", "shfl", "shfl_xor", "reduce_min", "reduce_max", "reduce_add" } },
        { k_sum, { "shfl_xor", "part+0" } },
        { k_copy, { "ld    in+0", "ld    buffer+16" } },
        { k_pieces, { "strlx out+0  0 -> 5", "ldrlx out+0  = 5", "strlx out+1" } },
    };
    enum { ALL = 1 << 22 };
    char *text = (char *)test_alloc(ALL, 1), *part = (char *)test_alloc(ALL, 1);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        simt_config c = simt_config_default();
        c.trace = true;
        c.strategy = SIMT_ROUND_ROBIN;
        test_case("story %zu", k);
        check(run(all[k].kernel, 1, 64, &c), "%s", simt_machine_finding(machine)->story);
        size_t n, whole = simt_story_print(machine, SIZE_MAX, text, ALL);
        simt_machine_events(machine, &n);
        check(whole < ALL && strlen(text) == whole && lines_of(text) == n, "%zu bytes, %zu lines of %zu steps", whole,
              lines_of(text), n);
        for (size_t i = 0; i < 6 && all[k].words[i]; i++)
            check(strstr(text, all[k].words[i]), "no '%s' in:\n%.4000s", all[k].words[i], text);
        check(simt_story_print(machine, SIZE_MAX, NULL, 0) == whole, "another size without a place for it");
        size_t three = simt_story_print(machine, 3, part, ALL);
        check(strlen(part) == three && lines_of(part) == 3, "three rows are:\n%s", part);
        size_t fit = whole / 2;
        check(simt_story_print(machine, SIZE_MAX, part, fit) == whole, "another size where it does not fit");
        check(strlen(part) < fit && strlen(part) > fit / 2 && part[strlen(part) - 1] == '\n',
              "%zu bytes of %zu were used", strlen(part), fit);
        check(memcmp(part, text, strlen(part)) == 0, "what fits is not the beginning");
    }
    free(text);
    free(part);
}

/* ---- Exploring ------------------------------------------------------------------------------- */

typedef struct situation {
    void (*kernel)(const void *);
    bool (*right)(void);
    uint32_t blocks, threads;
} situation;

static hd_status prepare(void *context, simt_machine *m)
{
    const situation *s = (const situation *)context;
    reset();
    return simt_machine_launch(m, s->kernel, &memory, sizeof memory, s->blocks, s->threads, 0);
}

static const char *judge(void *context, simt_machine *m)
{
    const situation *s = (const situation *)context;
    (void)m;
    return s->right && !s->right() ? "a wrong answer" : NULL;
}

/* Counts without a lock: atomic accesses, so no race, but an addition may be lost. */
SIMT_KERNEL(k_lost, buffers, a)
{
    if (simt_thread() % 32 == 0) {
        uint32_t n = simt_ldrlx_u32(a.out);
        simt_strlx_u32(a.out, n + 1);
    }
}
static bool two_counted(void) { return memory.out[0] == 2; }

static void test_explore(void)
{
    situation lost = { k_lost, two_counted, 1, 64 }, sound = { k_message, message_right, 1, 64 };
    simt_trial trial = { &lost, prepare, judge, NULL };
    simt_exploration e;
    for (uint32_t i = 0; i < 3; i++) {
        simt_config c = simt_config_default();
        c.strategy = i == 0 ? SIMT_RANDOM : i == 1 ? SIMT_PCT : SIMT_SEARCH;
        c.pct_length = 10;
        if (i == 2) lost.blocks = 2, lost.threads = 1; /* few enough for all schedules */
        c.bound = 2;
        must(simt_explore(machine, &trial, &c, 100000, 0, 1000, &e));
        check(e.wrong && e.finding.fault == SIMT_NO_FAULT && strcmp(e.finding.story, "a wrong answer") == 0,
              "no addition was lost: %s", e.finding.story);
        /* One preemption is what it takes: away from a lane between its load and its store. Lanes that have not begun
         * or have nothing to do cost decisions too, so the shortest is small, not 1. */
        check(e.schedule_n <= 8 && e.schedule_n <= e.schedule_before, "%zu decisions of %zu are left", e.schedule_n,
              e.schedule_before);
        simt_config replay = c;
        replay.strategy = SIMT_REPLAY;
        replay.replayed = c.strategy;
        replay.schedule = e.schedule;
        replay.schedule_n = e.schedule_n;
        replay.seed = e.seed;
        replay.trace = true;
        must(prepare(&lost, machine));
        check(simt_machine_run(machine, &replay) && !two_counted(), "the short schedule loses nothing");
        char story[4096];
        simt_story_print(machine, 20, story, sizeof story);
        check(strstr(story, "ldrlx out+0  = 0") && strstr(story, "strlx out+0  1 -> 1"),
              "the story does not show it:\n%s", story);
        test_note("lost addition: schedule %llu, %zu decisions, %zu after %llu tries", (ull)e.schedules,
                  e.schedule_before, e.schedule_n, (ull)e.tries);
        simt_exploration_free(machine, &e);
    }
    trial.context = &sound;
    simt_config c = simt_config_default();
    must(simt_explore(machine, &trial, &c, 1500, 0, 0, &e));
    check(!e.wrong && e.schedules == 1500 && e.distinct > 1200, "%llu schedules, %llu distinct: %s", (ull)e.schedules,
          (ull)e.distinct, e.finding.story);
    simt_exploration_free(machine, &e);
    trial.judge = NULL;
    must(simt_explore(machine, &trial, &c, UINT64_MAX, 1, 0, &e)); /* a nanosecond */
    check(!e.wrong && e.schedules == 1, "%llu schedules", (ull)e.schedules);
    simt_exploration_free(machine, &e);
    situation large = { k_no_room, NULL, 1, 64 }, none = { k_sum, NULL, 1, 2000 };
    trial.context = &large;
    must_fail(simt_explore(machine, &trial, &c, 10, 0, 10, &e), HD_ENOMEM, "shared memory");
    trial.context = &none;
    must_fail(simt_explore(machine, &trial, &c, 10, 0, 10, &e), HD_EINVAL, "threads");
}

/* What a machine has no place for, and what is nothing. */
static void test_limits(void)
{
    simt_config c = simt_config_default();
    reset();
    must_fail(simt_machine_launch(machine, k_sum, &memory, sizeof memory, 1, 0, 0), HD_EINVAL, "threads");
    must_fail(simt_machine_launch(machine, k_sum, &memory, sizeof memory, 1, 1025, 0), HD_EINVAL, "threads");
    must(simt_machine_launch(machine, k_sum, &memory, sizeof memory, 0, 64, 0));
    check(simt_machine_run(machine, &c), "no block at all was wrong: %s", simt_machine_finding(machine)->story);
    hd_status status = HD_OK;
    uint32_t regions = 2; /* reset has made two */
    for (; !status && regions < 1000; regions++) status = simt_machine_region(machine, memory.in + regions, 4, "word");
    must_fail(status, HD_EINVAL, "region");
    check(regions == 161, "region %u was refused", regions);
    check(strcmp(simt_fault_name(SIMT_FAULT_COUNT), "?") == 0 && strcmp(simt_site_name("alone"), "alone") == 0,
          "names");
}

/* Every allocation of a search refused once. */
static hd_status prepare_at(void *context, simt_machine *m)
{
    (void)context;
    memset(memory.out, 0, 4 * WORDS);
    hd_status status = simt_machine_region(m, memory.out, 4 * WORDS, "out");
    return status ? status : simt_machine_launch(m, k_lost, &memory, sizeof memory, 1, 64, 0);
}

static const char *judge_two(void *context, simt_machine *m)
{
    (void)context;
    (void)m;
    return two_counted() ? NULL : "a wrong answer";
}

/* A machine to which take `refuse` is refused, or NULL where that was its own. */
static hd_status open_refused(counting *count, uint64_t refuse, simt_machine **m)
{
    counting_init(count);
    count->refuse_at = refuse;
    *m = NULL;
    return simt_machine_open(&count->seams, m);
}

static void test_explore_memory(void)
{
    for (uint64_t refuse = 1;; refuse++) {
        counting count;
        simt_machine *m;
        simt_trial trial = { NULL, prepare_at, judge_two, NULL };
        simt_config c = simt_config_default();
        simt_exploration e;
        hd_status status = open_refused(&count, refuse, &m);
        test_case("take %llu is refused", (ull)refuse);
        if (m) {
            status = simt_explore(m, &trial, &c, 1000, 0, 20, &e);
            check(status || e.wrong, "no addition was lost");
            simt_exploration_free(m, &e);
            simt_machine_close(m);
        }
        check(count.live_bytes == 0, "%llu bytes are still held", (ull)count.live_bytes);
        bool refused = count.takes >= refuse;
        check(status == (refused ? HD_ENOMEM : HD_OK), "%s: %s", hd_status_name(status), hd_why());
        if (refused) continue;
        test_tried("memory", refuse - 1, "refused to a search of the host machine");
        return;
    }
}

/* Every allocation of a run refused once: a finding or a status, and everything is given back. */
static void test_memory(void)
{
    for (uint64_t refuse = 1;; refuse++) {
        counting count;
        simt_machine *m;
        simt_config c = way(0, 1);
        c.weak = c.meter = c.trace = true;
        bool clean = open_refused(&count, refuse, &m) == HD_OK;
        reset();
        if (m) {
            simt_machine_region(m, memory.in, 4 * WORDS, "in");
            simt_machine_region(m, memory.out, 4 * WORDS, "out");
            clean =
                simt_machine_launch(m, k_lock, &memory, sizeof memory, 2, 32, 0) == HD_OK && simt_machine_run(m, &c);
            if (!clean && simt_machine_finding(m)->fault)
                check(simt_machine_finding(m)->fault == SIMT_RESOURCE, "%s", simt_machine_finding(m)->story);
            simt_machine_close(m);
        }
        check(count.live_bytes == 0, "%llu bytes are still held when take %llu is refused", (ull)count.live_bytes,
              (ull)refuse);
        if (count.takes < refuse) {
            check(clean, "not clean, and nothing was refused");
            test_tried("memory", refuse - 1, "refused to a run of the host machine");
            return;
        }
        check(!clean, "take %llu was refused, and this was not reported", (ull)refuse);
    }
}

int main(void)
{
    const struct CMUnitTest simt[] = { unit(test_correct),   unit(test_faults),  unit(test_replay),
                                       unit(test_same_seed), unit(test_search),  unit(test_search_local_first),
                                       unit(test_weak),      unit(test_streams), unit(test_meter),
                                       unit(test_memory),    unit(test_explore), unit(test_watch),
                                       unit(test_story),     unit(test_limits),  unit(test_explore_memory) };
    open_machine(NULL);
    int failed = test_run(simt);
    close_machine(NULL);
    return failed;
}
