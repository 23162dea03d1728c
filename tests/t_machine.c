/* SPDX-License-Identifier: Apache-2.0
 *
 * t_machine.c - the limits of the host machine: arrays, blocks, streams and stories at their greatest size and one
 * above; state that must not pass from one block to the next; the exact text of messages; and C accesses that are
 * reported to it.
 */
#include <stdlib.h>
#include <string.h>

#include "simt/explore.h"
#include "simt/observer.h"
#include "simt/raw.h"
#include "tests/simt_bed.h"

static bool said(const char *words) { return strstr(simt_machine_finding(machine)->story, words) != NULL; }

/* ---- What is refused, and how it is said ----------------------------------------------------- */

SIMT_KERNEL(k_before_shared, buffers, a) /* one word before a shared array */
{
    SIMT_SHARED(uint32_t, word, 64);
    simt_st_u32(a.out + simt_thread(), simt_ld_u32(word - 1));
}

SIMT_KERNEL(k_behind_shared, buffers, a) /* beyond all that a block has */
{
    SIMT_SHARED(uint32_t, word, 64);
    simt_st_u32(a.out + simt_thread(), simt_ld_u32(word + 4096));
}

static volatile uintptr_t nowhere = 16; /* the compiler does not know */
SIMT_KERNEL(k_written_nowhere, buffers, a) { simt_st_u32(a.out ? (uint32_t *)nowhere : a.out, 1u); }

SIMT_KERNEL(k_shared_device_atomic, buffers, a)
{
    SIMT_SHARED(uint32_t, word, 64);
    if (simt_thread()) return;
    simt_st_u32(word + 1, simt_ld_u32(a.in));
    simt_min_u32(word + 1, 1u, SIMT_RELAXED);
}

SIMT_KERNEL(k_device_shared_atomic, buffers, a) { simt_shared_cas_u32(a.out + 2, 0u, 1u); }

SIMT_KERNEL(k_seventeen, buffers, a) /* one array more than a block may have */
{
    (void)a;
#define FOUR(x)                                         \
    {                                                   \
        SIMT_SHARED(uint32_t, x##0, 1);                 \
        SIMT_SHARED(uint32_t, x##1, 1);                 \
        SIMT_SHARED(uint32_t, x##2, 1);                 \
        SIMT_SHARED(uint32_t, x##3, 1);                 \
        (void)x##0, (void)x##1, (void)x##2, (void)x##3; \
    }
    FOUR(a)
    FOUR(b)
    FOUR(c)
    FOUR(d)
#undef FOUR
    SIMT_SHARED(uint32_t, last, 1);
    (void)last;
}

SIMT_KERNEL(k_two_masks, buffers, a) /* lanes 0 and 1 meet with two masks, each of which names both */
{
    simt_tile t = simt_tile_of(32);
    t.base = 0;
    t.mask = t.rank == 0 ? 3u : 7u;
    if (t.rank < 3) simt_st_u32(a.out + simt_thread(), simt_ballot(t, true));
}

SIMT_KERNEL(k_none_waits, buffers, a) /* thread 0 returns before any thread is at the barrier */
{
    if (simt_thread() == 0) return;
    simt_sync_block();
    simt_st_u32(a.out + simt_thread(), 1u);
}

SIMT_KERNEL(k_last_leaves, buffers, a) /* all are at the barrier but the last, which returns */
{
    if (simt_thread() == 63) return;
    simt_sync_block();
    simt_st_u32(a.out + simt_thread(), 1u);
}

SIMT_KERNEL(k_cycle_and_barrier, buffers,
            a) /* lane 0 waits for 1, 1 for 2, 2 for 0, and all others at the barrier for them */
{
    simt_tile t = simt_tile_of(32);
    t.base = 0;
    t.mask = t.rank == 0 ? 3u : t.rank == 1 ? 6u : 5u;
    if (simt_thread() < 3) simt_st_u32(a.out + simt_thread(), simt_ballot(t, true));
    simt_sync_block();
}

SIMT_KERNEL(k_copy_askew, buffers, a) /* an async copy to an address that is a multiple of 4 only */
{
    SIMT_SHARED(uint32_t, word, 64);
    simt_copy16_async(word + 1, (const simt_v4 *)(const void *)a.in);
    simt_copy_wait(0);
}

/* Thread 32 writes what thread 0 copies, after the copy began and before it is waited for. */
SIMT_KERNEL(k_copy_overwritten, buffers, a)
{
    SIMT_SHARED(simt_v4, buffer, 1);
    simt_v4 v = { 1, 2, 3, 4 };
    if (simt_thread() == 0) {
        simt_copy16_async(buffer, (const simt_v4 *)(const void *)a.in);
        simt_copy_commit();
        simt_strel_u32(a.out, 1u);
        while (simt_ldrlx_u32(a.out + 1) == 0) simt_backoff(8);
        simt_copy_wait(0);
    } else if (simt_thread() == 32) {
        while (simt_ldacq_u32(a.out) == 0) simt_backoff(8);
        simt_st_v4(buffer, v);
        simt_strlx_u32(a.out + 1, 1u);
    }
}

/* In what file a fault is. */
#define HERE "t_machine.c:"

static void refused(void)
{
    static const struct {
        void (*kernel)(const void *);
        simt_fault fault;
        const char *word, *other; /* of the story */
    } all[] = {
        { k_before_shared, SIMT_BOUNDS, "4 bytes of shared memory are read that no array holds", HERE },
        { k_behind_shared, SIMT_BOUNDS, "4 bytes are read far from all device memory", HERE },
        { k_written_nowhere, SIMT_BOUNDS, "4 bytes are written far from all device memory", HERE },
        { k_shared_device_atomic, SIMT_SPACE,
          "an atomic of device memory is at byte 4 of word, which is in shared memory", HERE },
        { k_device_shared_atomic, SIMT_SPACE,
          "an atomic of shared memory is at byte 8 of out, which is in device memory", HERE },
        { k_seventeen, SIMT_RESOURCE, "last[] of 4 bytes finds no room in 16384 bytes of shared memory", HERE },
        { k_two_masks, SIMT_MISMATCH, "ballot, mask 0x00000003", "ballot, mask 0x00000007" },
        { k_last_leaves, SIMT_LEFT, "thread 63", "sync_block" },
        { k_cycle_and_barrier, SIMT_DEADLOCK, "lane 1 of warp 0 waits at " HERE, "thread 3 waits at " HERE },
        { k_copy_askew, SIMT_MISALIGNED, "16 bytes are accessed at an address that is no multiple of it", HERE },
        { k_copy_overwritten, SIMT_RACE, "block 0, thread 0 at " HERE, "block 0, thread 32 at " HERE },
    };
    const simt_finding *f = simt_machine_finding(machine);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (uint32_t i = 0; i < WAYS; i++) {
            simt_config c = way(i, 1 + i);
            test_case("row %zu, way %u", k, i);
            check(!run(all[k].kernel, 1, 64, &c), "not found");
            check(f->fault == all[k].fault, "found as '%s': %s", simt_fault_name(f->fault), f->story);
            /* if a thread returns before the others reach the barrier, one of them reports it */
            check((said(all[k].word) || all[k].kernel == k_last_leaves) && said(all[k].other), "%s", f->story);
        }
    simt_config c = simt_config_default();
    c.strategy = SIMT_ROUND_ROBIN;
    check(!run(k_last_leaves, 1, 64, &c) && said("63 of its threads wait at t_machine.c:"),
          "the last lane left, and no error was reported: %s", f->story);
    check(!run(k_none_waits, 1, 64, &c) && said("is reached after 1 of its threads have left"),
          "the first lane left, and no error was reported: %s", f->story);
    check(!run(k_cycle_and_barrier, 1, 64, &c) && strlen(f->story) > sizeof f->story - 9,
          "a story of %zu bytes does not fill its room", strlen(f->story));
}

/* ---- Races: the two accesses ----------------------------------------------------------------- */

typedef struct pair {
    uint32_t *word;
    uint32_t first, second; /* access */
} pair;

static const char *const access_name[] = { "plain read", "plain write", "atomic read", "atomic write" };

SIMT_FN void touch(uint32_t *word, uint32_t access)
{
    if (access == 0)
        (void)simt_ld_u32(word);
    else if (access == 1)
        simt_st_u32(word, 1u);
    else if (access == 2)
        (void)simt_ldrlx_u32(word);
    else
        simt_strlx_u32(word, 1u);
}

/* Thread 0 first, thread 32 second, and nothing that orders them. */
SIMT_KERNEL(k_pair, pair, a)
{
    if (simt_thread() == 0) {
        touch(a.word + 8, a.first);
        simt_strlx_u32(a.word, 1u);
    } else if (simt_thread() == 32) {
        while (simt_ldrlx_u32(a.word) == 0) simt_backoff(8);
        touch(a.word + 8, a.second);
    }
}

static void races_are_told(void)
{
    for (uint32_t first = 0; first < 4; first++)
        for (uint32_t second = 0; second < 4; second++) {
            simt_config c = simt_config_default();
            pair p = { memory.out, first, second };
            bool writes = (first | second) & 1, atomics = first >= 2 && second >= 2;
            char before[64], now[64];
            reset();
            must(simt_machine_launch(machine, k_pair, &p, sizeof p, 1, 64, 0));
            bool clean = simt_machine_run(machine, &c);
            test_case("%s, then %s", access_name[first], access_name[second]);
            check(clean == (!writes || atomics), "%s", clean ? "no race" : simt_machine_finding(machine)->story);
            snprintf(before, sizeof before, ": %s, before", access_name[first]);
            snprintf(now, sizeof now, ": %s\n", access_name[second]);
            check(clean || (said("on out, byte 32") && said(before) && said(now)), "%s",
                  simt_machine_finding(machine)->story);
        }
}

/* Weak memory needs vector clocks, so it finds races even with c.race off. */
static void weak_finds_races(void)
{
    simt_config c = simt_config_default();
    c.race = false;
    check(run(k_message_relaxed, 1, 64, &c), "without a detector: %s", simt_machine_finding(machine)->story);
    check(run(k_message_fences, 1, 64, &c) && memory.out[16] == 42, "fences without a detector: %s",
          simt_machine_finding(machine)->story);
    c.weak = true;
    check(!run(k_message_relaxed, 1, 64, &c) && simt_machine_finding(machine)->fault == SIMT_RACE,
          "weak, and no race: %s", simt_machine_finding(machine)->story);
}

/* ---- What a block leaves behind -------------------------------------------------------------- */

/* One thread a block. The second finds nothing of the first in the room that it takes over: not what the first released
 * there. */
SIMT_KERNEL(k_room_order, buffers, a)
{
    SIMT_SHARED(uint32_t, flag, 1);
    simt_st_u32(flag, 0u);
    if (simt_block() == 0) {
        simt_st_u32(a.out, 1u);
        simt_fence();
        simt_shared_add_u32(flag, 1u);
    } else {
        simt_shared_add_u32(flag, 1u);
        simt_fence();
        simt_st_u32(a.out + 1, simt_ld_u32(a.out));
    }
}

static void rooms_are_new(void)
{
    for (uint32_t seed = 1; seed <= 20; seed++) {
        simt_config c = simt_config_default();
        c.resident = 1;
        c.strategy = SIMT_ROUND_ROBIN; /* blocks in order */
        c.seed = seed;
        test_case("seed %u", seed);
        check(!run(k_room_order, 2, 1, &c) && simt_machine_finding(machine)->fault == SIMT_RACE,
              "two blocks are ordered by shared memory that they do not share");
    }
}

/* ---- Weak memory, and values of several sizes ------------------------------------------------ */

/* A thread that writes wide over narrow, narrow over wide, and bytes into words, reads what it wrote last; out[0], [1],
 * ...: what it saw. */
SIMT_KERNEL(k_over, buffers, a)
{
    uint64_t *wide = (uint64_t *)(void *)(a.in + 64);
    uint32_t *low = a.in + 64, *high = a.in + 65;
    simt_v4 v = { 5, 6, 7, 8 };
    simt_strlx_u64(wide, 1u);
    simt_fence();
    simt_strlx_u32(high, 2u);
    simt_fence();
    simt_st_u64((uint64_t *)(void *)a.out, simt_ldrlx_u64(wide));
    simt_strlx_u32(low, 3u);
    simt_fence();
    simt_strlx_u64(wide, 4ull << 32);
    simt_fence();
    simt_st_u32(a.out + 2, simt_ldrlx_u32(high));
    simt_strlx_u8((uint8_t *)low + 1, 1);
    simt_fence();
    simt_st_u32(a.out + 3, simt_ldrlx_u32(low));
    simt_st_v4((simt_v4 *)(void *)low, v);
    simt_fence();
    simt_st_u32(a.out + 4, simt_ldrlx_u32(high));
    simt_st_u64((uint64_t *)(void *)(a.out + 6), simt_ldrlx_u64(wide));
    simt_strlx_u64(wide, 1u);
    simt_fence();
    simt_st_v4((simt_v4 *)(void *)low, v);
    simt_fence();
    simt_st_u64((uint64_t *)(void *)(a.out + 8), simt_ldrlx_u64(wide));
}

/* More stores than a lane's buffer holds, the sixteenth to the place of the first: what is stored last, stays. */
SIMT_KERNEL(k_many_stores, buffers, a)
{
    for (uint32_t i = 0; i < 40; i++) simt_strlx_u32(a.out + i % 15, i + 1);
}

/* Half of a warp loads and half stores, in one line: two groups. */
SIMT_KERNEL(k_one_line, buffers, a)
{
    uint32_t i = simt_thread(), v = 0;
    if (i % 2)
        v = simt_ld_u32(a.in + i);
    else
        simt_st_u32(a.out + 64 + i, i);
    simt_st_u32(a.out + i, v);
}

/* An async copy of what the thread itself has just stored brings that. */
SIMT_KERNEL(k_copy_own, buffers, a)
{
    SIMT_SHARED(simt_v4, buffer, 1);
    simt_v4 v = { 5, 6, 7, 8 };
    simt_strlx_v4((simt_v4 *)(void *)a.in, v);
    simt_copy16_rlx_async(buffer, (const simt_v4 *)(const void *)a.in);
    simt_copy_commit();
    simt_copy_wait(0);
    v = simt_ld_v4(buffer);
    simt_st_u32(a.out, v.x + v.w);
}

static void in_every_way(void (*judge)(const simt_config *c))
{
    for (uint32_t i = 0; i < WAYS; i++)
        for (uint64_t seed = 1; seed <= 8; seed++) {
            simt_config c = way(i, seed);
            test_case("way %u, seed %llu", i, (ull)seed);
            judge(&c);
        }
}

static void judge_sizes(const simt_config *c)
{
    check(run(k_over, 1, 1, c), "%s", simt_machine_finding(machine)->story);
    const uint32_t *o = memory.out;
    check(o[0] == 1 && o[1] == 2, "a word within: %u, %u", o[0], o[1]);
    check(o[2] == 4, "over a word: %u", o[2]);
    check(o[3] == 0x100, "a byte within: %x", o[3]);
    check(o[4] == 6 && o[6] == 5 && o[7] == 6, "sixteen bytes over all: %u; %u, %u", o[4], o[6], o[7]);
    check(o[8] == 5 && o[9] == 6, "sixteen bytes over eight: %u, %u", o[8], o[9]);
    check(run(k_many_stores, 1, 1, c) && memory.out[0] == 31 && memory.out[9] == 40 && memory.out[14] == 30,
          "40 stores: %u, %u, %u", memory.out[0], memory.out[9], memory.out[14]);
    check(run(k_one_line, 1, 64, c) && memory.out[7] == 7 && memory.out[8] == 0 && memory.out[72] == 8, "%u, %u, %u",
          memory.out[7], memory.out[8], memory.out[72]);
    check(run(k_copy_own, 1, 1, c) && memory.out[0] == 13, "a copy missed its own thread's store: %u", memory.out[0]);
}
static void values_of_several_sizes(void) { in_every_way(judge_sizes); }

/* ---- Collectives that may be ----------------------------------------------------------------- */

/* Tiles that vote while others wait at the barrier already; two come to it late. */
SIMT_KERNEL(k_tiles_and_barrier, buffers, a)
{
    simt_tile t = simt_tile_of(8);
    uint32_t r = 0;
    if (simt_lane() >= 8)
        for (uint32_t i = 0; i < 3; i++) r += simt_ballot(t, t.rank <= i);
    simt_sync_block();
    simt_st_u32(a.out + simt_thread(), r);
}

/* One place of a header, compiled into two files: its name is in memory twice. */
SIMT_KERNEL(k_two_files, buffers, a)
{
    static const char here[] = "folder/both.h:7", there[] = "folder/both.h:7";
    const char *site = simt_thread() % 2 ? here : there;
    uint64_t r = simt_host_collective(site, SIMT_REDUCE_ADD, ~0u, simt_thread() < 32 ? 1 : 2, 0);
    simt_host_sync_block(site);
    simt_st_u32(a.out + simt_thread(), (uint32_t)r);
}

static void judge_collectives(const simt_config *c)
{
    check(run(k_tiles_and_barrier, 1, 64, c), "%s", simt_machine_finding(machine)->story);
    for (uint32_t k = 0; k < 64; k++)
        check(memory.out[k] == (k % 32 < 8 ? 0 : 1 + 3 + 7), "thread %u: %u", k, memory.out[k]);
    check(run(k_two_files, 1, 64, c) && memory.out[5] == 32 && memory.out[63] == 64, "%u and %u: %s", memory.out[5],
          memory.out[63], simt_machine_finding(machine)->story);
}
static void sound_collectives(void) { in_every_way(judge_collectives); }

/* ---- Launches -------------------------------------------------------------------------------- */

typedef struct numbered {
    uint32_t *out, n;
} numbered;

SIMT_KERNEL(k_numbered, numbered, a) { simt_st_u32(a.out + a.n, simt_ld_u32(a.out + a.n) + 1); }
static void k_idle(const void *unused) { (void)unused; }
SIMT_KERNEL(k_large, buffers, a)
{
    SIMT_SHARED(uint32_t, word, 8192);
    if (simt_thread()) return;
    simt_st_u32(word + 8191, 3u);
    simt_st_u32(a.out, simt_ld_u32(word + 8191));
}

static void launches(void)
{
    enum { STREAMS = 40 };
    simt_config c = simt_config_default();
    for (uint64_t seed = 0; seed < 10; seed++) { /* more streams than are chosen from at once */
        reset();
        for (uint32_t i = 0; i < 2 * STREAMS; i++) {
            numbered n = { memory.out, i % STREAMS };
            must(simt_machine_launch(machine, k_numbered, &n, sizeof n, 1, 1, i % STREAMS));
        }
        c.seed = seed;
        check(simt_machine_run(machine, &c), "%s", simt_machine_finding(machine)->story);
        for (uint32_t i = 0; i < STREAMS; i++)
            check(memory.out[i] == 2, "stream %u ran %u of 2 kernels", i, memory.out[i]);
    }
    must(simt_machine_launch(machine, k_idle, NULL, 0, 1, 64, 0));
    check(simt_machine_run(machine, &c) && simt_machine_totals(machine).switches > 0, "a kernel without arguments");

    reset(); /* as many blocks as there are numbers, twice: not none */
    must(simt_machine_launch(machine, k_written_nowhere, &memory, sizeof memory, 1u << 31, 64, 0));
    must(simt_machine_launch(machine, k_written_nowhere, &memory, sizeof memory, 1u << 31, 64, 1));
    check(!simt_machine_run(machine, &c) && simt_machine_finding(machine)->fault == SIMT_BOUNDS,
          "2^32 blocks were none");

    for (int i = 0; i < 3; i++) { /* rooms of another size, and back */
        c.shared_bytes = 0;
        check(run(k_sum, 1, 64, &c), "%s", simt_machine_finding(machine)->story);
        c.shared_bytes = 40000;
        check(run(k_large, 1, 64, &c) && memory.out[0] == 3, "%s", simt_machine_finding(machine)->story);
    }
    c.shared_bytes = 0;
    check(!run(k_large, 1, 64, &c) && said("word[] of 32768 bytes finds no room in 16384"), "%s",
          simt_machine_finding(machine)->story);
}

/* A change of priorities before any lane has run has no effect; by lanes and by warps. */
static void changes_at_once(void)
{
    for (uint32_t unit = 0; unit < 2; unit++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            simt_config c = simt_config_default();
            c.strategy = SIMT_PCT;
            c.unit = unit ? SIMT_BY_WARP : SIMT_BY_LANE;
            c.pct_length = 1;
            c.pct_depth = (uint32_t)seed % 5; /* 0: the usual one */
            c.seed = seed;
            check(run(k_lock, 2, 64, &c) && memory.out[1] == 2 * 64, "%u counted: %s", memory.out[1],
                  simt_machine_finding(machine)->story);
        }
}

/* ---- Tickets and watchers -------------------------------------------------------------------- */

SIMT_KERNEL(k_tickets, buffers, a)
{
    (void)a;
    simt_ticket(7, 1, 2, 3);
    simt_started(8);
    simt_ticket(8, 1, 2, 3);
}

static void tickets_without_a_start(void)
{
    simt_config c = simt_config_default();
    size_t n;
    check(run(k_tickets, 1, 1, &c), "%s", simt_machine_finding(machine)->story);
    const simt_ticket_record *t = simt_machine_tickets(machine, &n);
    check(n == 2 && t[0].item == 7 && t[0].started == 0 && t[1].item == 8 && t[1].started == 1,
          "%zu tickets, started at %llu and %llu", n, (ull)t[0].started, (ull)t[1].started);
}

enum { OTHER_ITEMS = 100 };

/* Lanes 0 and 1 share item 0. Lane 1 starts it after lane 2 has run many others. */
SIMT_KERNEL(k_late_lane, buffers, a)
{
    (void)a;
    simt_tile t = simt_tile_of(32);
    if (t.rank == 0) simt_started(0);
    simt_sync_tile(t);
    for (uint64_t i = 1; i <= OTHER_ITEMS && t.rank == 2; i++) {
        simt_started(i);
        simt_ticket(i, 1, 2, 3);
    }
    simt_sync_tile(t);
    if (t.rank == 1) {
        simt_started(0);
        simt_ticket(0, 1, 2, 3);
    }
}

static void an_item_starts_with_its_first_lane(void)
{
    simt_config c = simt_config_default();
    size_t n;
    check(run(k_late_lane, 1, 32, &c), "%s", simt_machine_finding(machine)->story);
    const simt_ticket_record *t = simt_machine_tickets(machine, &n);
    check(n == OTHER_ITEMS + 1, "%zu tickets", n);
    for (size_t i = 0; i < n; i++) {
        ull wanted = i < OTHER_ITEMS ? i : 0;
        check(t[i].started == wanted, "ticket %zu: its item started at %llu instead of %llu", i, (ull)t[i].started,
              wanted);
    }
}

SIMT_KERNEL(k_before_another, buffers, a)
{
    (void)a;
    simt_ticket(1, 0, 0, 0);
    simt_ticket(2, 0, 0, 0);
    simt_ticket_before(3, 0, 0, 0, 1);
    simt_ticket_before(4, 0, 0, 0, 9); /* there is no item 9 */
    simt_ticket_before(5, 0, 0, 0, 4);
}

SIMT_KERNEL(k_before_nobody, buffers, a)
{
    (void)a;
    simt_ticket_before(6, 0, 0, 0, 1); /* another stream's */
    simt_ticket_beside(8, 0, 0, 0, 6, 5);
    simt_ticket_beside(9, 0, 0, 0, 6, -3);
    simt_ticket_beside(10, 0, 0, 0, 6, 2);
    simt_ticket_beside(11, 0, 0, 0, 6, -7);
    simt_ticket_beside(12, 0, 0, 0, 6, -1);
    simt_ticket_beside(13, 0, 0, 0, 6, 9);
}

/* A ticket in front of another's, when that is there, and is of the same stream. */
static void tickets_in_front(void)
{
    static const uint64_t order[] = { 3, 1, 2, 5, 4, 11, 9, 12, 6, 10, 8, 13 };
    simt_config c = simt_config_default();
    char text[4096];
    c.strategy = SIMT_ROUND_ROBIN;
    c.trace = true;
    for (int quiet = 0; quiet < 2; quiet++) {
        size_t n;
        reset();
        must(simt_machine_launch(machine, k_before_another, &memory, sizeof memory, 1, 1, 0));
        must(simt_machine_launch(machine, k_before_nobody, &memory, sizeof memory, 1, 1, 1));
        c.quiet = quiet;
        check(simt_machine_run(machine, &c), "%s", simt_machine_finding(machine)->story);
        const simt_ticket_record *t = simt_machine_tickets(machine, &n);
        check(n == (quiet ? 0 : sizeof order / sizeof *order), "%zu tickets", n);
        simt_story_print(machine, 20, text, sizeof text);
        check((strstr(text, "takes effect") == NULL) == quiet, "the story tells of tickets:\n%s", text);
        for (size_t i = 0; i < n; i++)
            check(t[i].item == order[i] && t[i].stream == (order[i] >= 6), "ticket %zu is item %llu's of stream %u", i,
                  (ull)t[i].item, t[i].stream);
    }
}

SIMT_KERNEL(k_owner, buffers, a)
{
    (void)a;
    simt_owns(1, 70);
    simt_ticket(1, 0, 0, 70);
    simt_ticket(2, 0, 0, 70);
}

SIMT_KERNEL(k_before_owners, buffers, a)
{
    (void)a;
    simt_ticket_before_owner(1, 0, 0, 70); /* another stream has an item 1, too */
    simt_ticket_before_owner(4, 0, 0, 71); /* a place without an owner */
    simt_owns(5, 70);
    simt_ticket_before_owner(6, 0, 0, 70); /* its owner takes effect later */
    simt_ticket(5, 0, 0, 70);
    simt_ticket_before_owner(7, 0, 0, 70);
}

/* A ticket in front of the owner's of a place, whatever its stream. */
static void tickets_before_owners(void)
{
    static const struct {
        uint64_t item;
        uint32_t stream;
    } order[] = { { 1, 1 }, { 1, 0 }, { 2, 0 }, { 4, 1 }, { 6, 1 }, { 7, 1 }, { 5, 1 } };
    simt_config c = simt_config_default();
    c.strategy = SIMT_ROUND_ROBIN;
    for (int quiet = 0; quiet < 2; quiet++) {
        size_t n;
        reset();
        must(simt_machine_launch(machine, k_owner, &memory, sizeof memory, 1, 1, 0));
        must(simt_machine_launch(machine, k_before_owners, &memory, sizeof memory, 1, 1, 1));
        c.quiet = quiet;
        check(simt_machine_run(machine, &c), "%s", simt_machine_finding(machine)->story);
        const simt_ticket_record *t = simt_machine_tickets(machine, &n);
        check(n == (quiet ? 0 : sizeof order / sizeof *order), "%zu tickets", n);
        for (size_t i = 0; i < n; i++)
            check(t[i].item == order[i].item && t[i].stream == order[i].stream,
                  "ticket %zu is item %llu's of stream %u", i, (ull)t[i].item, t[i].stream);
    }
}

/* ... and where there is no memory for it, none. */
SIMT_KERNEL(k_many_tickets, buffers, a)
{
    (void)a;
    simt_owns(0, 3);
    for (uint64_t i = 0; i < 64; i++) simt_ticket(i, 0, 0, 0);
    simt_ticket_before_owner(64, 0, 0, 3);
}

static void tickets_without_memory(void)
{
    simt_config c = simt_config_default();
    for (uint64_t refuse = 1;; refuse++) {
        counting count;
        simt_machine *m;
        size_t n;
        counting_init(&count);
        count.refuse_at = refuse;
        if (simt_machine_open(&count.seams, &m)) continue;
        bool clean =
            simt_machine_launch(m, k_many_tickets, &memory, sizeof memory, 1, 1, 0) == HD_OK && simt_machine_run(m, &c);
        bool refused = count.takes >= refuse;
        const simt_ticket_record *t = simt_machine_tickets(m, &n);
        check(clean == !refused && (refused || (n == 65 && t[0].item == 64 && t[64].item == 63)),
              "take %llu: %zu tickets", (ull)refuse, n);
        for (size_t i = 1; refused && i < n; i++)
            check(t[i].item > t[i - 1].item, "ticket %zu is item %llu's", i, (ull)t[i].item);
        simt_machine_close(m);
        check(count.live_bytes == 0, "%llu bytes are still held", (ull)count.live_bytes);
        if (!refused) break;
    }
}

/* Watched at every step. */
static simt_config watched_by(const char *(*watch)(void *context), void *context)
{
    simt_config c = simt_config_default();
    c.watch = watch;
    c.watch_every = 1;
    c.context = context;
    return c;
}

static const char *when_written(void *context)
{
    (void)context;
    return memory.out[0] == 63 ? "the last thread was there" : NULL;
}

SIMT_KERNEL(k_last_word, buffers, a) { simt_st_u32(a.out, simt_thread()); }

/* The watcher sees what the last thread of a block does, up to its end. */
static void the_last_step_is_watched(void)
{
    simt_config c = watched_by(when_written, NULL);
    c.strategy = SIMT_ROUND_ROBIN;
    c.preempt = SIMT_AT_NONE;
    c.race = false;
    check(!run(k_last_word, 1, 64, &c) && simt_machine_finding(machine)->fault == SIMT_WATCHED &&
              said("block 0, thread 63"),
          "%s", simt_machine_finding(machine)->story);
}

static const char *never(void *context)
{
    ++*(uint64_t *)context;
    return NULL;
}

/* After a finding the machine does not call the watcher any more. */
static void nobody_watches_afterwards(void)
{
    uint64_t looks = 0;
    simt_config c = watched_by(never, &looks);
    check(!run(k_written_nowhere, 1, 1, &c) && simt_machine_finding(machine)->fault == SIMT_BOUNDS, "%s",
          simt_machine_finding(machine)->story);
    check(looks <= simt_machine_totals(machine).switches - 1, "%llu looks at %llu switches", (ull)looks,
          (ull)simt_machine_totals(machine).switches);
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Two arrays declared in one line are two; simt_machine_name() says in which an address lies. */
SIMT_KERNEL(k_two_arrays, buffers, a)
{
    SIMT_SHARED(uint32_t, first, 4);
    SIMT_SHARED(uint32_t, second, 4);
    simt_st_u32(first, 1u);
    simt_st_u32(second, 2u);
    simt_st_u32(a.out, simt_ld_u32(first));
    simt_st_u64((uint64_t *)(void *)(a.out + 2), (uint64_t)(uintptr_t)first);
    simt_st_u64((uint64_t *)(void *)(a.out + 4), (uint64_t)(uintptr_t)second);
}

static void named(const simt_machine *m, const void *p, const char *name, uint64_t offset)
{
    uint64_t at = 77;
    const char *is = simt_machine_name(m, p, &at);
    check(strcmp(is, name) == 0 && at == offset, "'%s', byte %llu, and should be '%s', byte %llu", is, (ull)at, name,
          (ull)offset);
}

static void names(void)
{
    simt_machine *fresh;
    must(simt_machine_open(NULL, &fresh));
    named(fresh, memory.in, "", 0);
    simt_machine_close(fresh);
    simt_machine_close(NULL);
    simt_config c = simt_config_default();
    uint64_t first, second;
    check(run(k_two_arrays, 1, 1, &c) && memory.out[0] == 1, "the second array lies in the first: %u", memory.out[0]);
    memcpy(&first, memory.out + 2, 8);
    memcpy(&second, memory.out + 4, 8);
    const uint8_t *p = (const uint8_t *)(uintptr_t)first, *q = (const uint8_t *)(uintptr_t)second;
    named(machine, memory.in + 3, "in", 12);
    named(machine, NULL, "", 0);
    named(machine, p, "first", 0);
    named(machine, p + 15, "first", 15);
    named(machine, p + 16, "", 0);
    named(machine, p - 1, "", 0);
    named(machine, q + 4, "second", 4);
    named(machine, q + 16, "", 0);
    named(machine, p + 16384, "", 0); /* beyond what a block has */
    named(machine, p + (1 << 20), "", 0);
}

/* ---- The meter ------------------------------------------------------------------------------- */

/* A line below runs first; two accesses are in one line, a store that is the first to run besides; and one names no
 * line at all. */
SIMT_KERNEL(k_places, buffers, a)
{
    uint32_t v = 0;
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1) v += simt_ld_u32(a.in);
        if (turn == 0) {
            simt_st_u32(a.out + 64, v), v += simt_ld_u32(a.in + 1);
        }
    }
    simt_host_load("nowhere", SIMT_LD, a.in, 4, &v);
}

/* Accesses in 26 lines in a row, more than the meter keeps apart, and then a loop: its turns are put together, and
 * nothing is lost but sectors. */
SIMT_KERNEL(k_many_lines, buffers, a)
{
    uint32_t v = 0;
    static const char *const lines[] = { "long.c:10", "long.c:11", "long.c:12", "long.c:13", "long.c:14", "long.c:15",
                                         "long.c:16", "long.c:17", "long.c:18", "long.c:19", "long.c:20", "long.c:21",
                                         "long.c:22", "long.c:30", "long.c:31", "long.c:32", "long.c:33", "long.c:34",
                                         "long.c:35", "long.c:36", "long.c:37", "long.c:38", "long.c:39", "long.c:40",
                                         "long.c:41", "long.c:42" };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) simt_host_load(lines[i], SIMT_LD, a.in, 4, &v);
    for (uint32_t i = 0; i < 100; i++) simt_host_load("long.c:50", SIMT_LD, a.in + 8 * i, 4, &v);
}

static void metered(void)
{
    simt_config c = simt_config_default();
    size_t n;
    c.meter = true;
    check(run(k_idle, 1, 64, &c), "%s", simt_machine_finding(machine)->story);
    simt_machine_sites(machine, &n);
    check(n == 0, "%zu places of a kernel that accesses nothing", n);

    check(run(k_places, 1, 1, &c), "%s", simt_machine_finding(machine)->story);
    const simt_site *s = simt_machine_sites(machine, &n);
    check(n == 4, "%zu places", n);
    ull instructions = simt_machine_totals(machine).instructions;
    c.race = false;
    c.preempt = SIMT_AT_NONE;
    check(run(k_places, 1, 1, &c) && simt_machine_totals(machine).instructions == instructions && instructions == 4,
          "%llu instructions, %llu without a search for races", instructions,
          (ull)simt_machine_totals(machine).instructions);
    c = simt_config_default();
    c.meter = true;
    check(run(k_places, 1, 1, &c), "%s", simt_machine_finding(machine)->story);
    s = simt_machine_sites(machine, &n);
    check(strcmp(s[0].site, "nowhere") == 0 && s[0].instructions == 1, "'%s' is first", s[0].site);
    check(s[1].kind == SIMT_LD && s[2].kind == SIMT_LD && s[3].kind == SIMT_ST, "kinds %u, %u, %u", s[1].kind,
          s[2].kind, s[3].kind);
    check(strcmp(s[1].site, s[2].site) < 0 && s[2].site == s[3].site, "%s, %s, %s", s[1].site, s[2].site, s[3].site);

    check(run(k_many_lines, 1, 1, &c), "%s", simt_machine_finding(machine)->story);
    s = simt_machine_sites(machine, &n);
    check(n == 27 && strcmp(s[26].site, "long.c:50") == 0, "%zu places, '%s' at last", n, s[n - 1].site);
    check(s[26].bytes == 400 && s[26].lanes == 100, "%llu bytes by %llu lanes", (ull)s[26].bytes, (ull)s[26].lanes);
    check(s[26].instructions == 1 && s[26].sectors == 64, "%llu instructions, %llu sectors", (ull)s[26].instructions,
          (ull)s[26].sectors);
}

/* ---- Exploring ------------------------------------------------------------------------------- */

typedef struct clocked {
    hd_seams seams;
    uint64_t now;
} clocked;

static uint64_t tick(void *self) { return ((clocked *)self)->now += 1000; }

static hd_status prepare(void *kernel, simt_machine *m)
{
    void (*k)(const void *);
    memcpy(&k, kernel, sizeof k);
    memset(memory.out, 0, 4 * WORDS);
    must(simt_machine_region(m, memory.out, 4 * WORDS, "out"));
    return simt_machine_launch(m, k, &memory, sizeof memory, 2, 1, 0);
}

SIMT_KERNEL(k_two_stores, buffers, a)
{
    simt_strlx_u32(a.out + simt_block(), 1u);
    simt_strlx_u32(a.out + 100 + simt_block(), 1u);
}

static const char *no_judge(void *context, simt_machine *m)
{
    (void)context;
    return simt_machine_finding(m)->fault ? "it was asked about what is wrong already" : NULL;
}

/* A search ends when it is through; other ways of going on end when their time is up. */
static void exploring_ends(void)
{
    void (*kernel)(const void *) = k_two_stores;
    simt_trial trial = { &kernel, prepare, NULL, NULL };
    simt_config c = simt_config_default();
    simt_exploration e;
    clocked clock = { hd_seams_os, 0 };
    simt_machine *m;
    clock.seams.time.now_ns = tick;
    clock.seams.time.self = &clock;
    must(simt_machine_open(&clock.seams, &m));
    must(simt_explore(m, &trial, &c, UINT64_MAX, 7000, 0, &e));
    check(!e.wrong && !e.exhausted && e.schedules == 7 && e.time_ns == 7000, "%llu schedules in %llu ns",
          (ull)e.schedules, (ull)e.time_ns);
    c.strategy = SIMT_SEARCH;
    c.bound = 100;
    must(simt_explore(m, &trial, &c, UINT64_MAX, 0, 0, &e));
    check(!e.wrong && e.exhausted && e.schedules == 20 && e.distinct == 20, "%llu schedules, %llu distinct",
          (ull)e.schedules, (ull)e.distinct);
    must(simt_explore(m, &trial, &c, 19, 0, 0, &e));
    check(!e.exhausted && e.schedules == 19, "%llu schedules", (ull)e.schedules);
    kernel = k_written_nowhere; /* wrong at once, without a decision: there is nothing to make shorter */
    trial.judge = no_judge;
    c = simt_config_default();
    c.strategy = SIMT_ROUND_ROBIN;
    must(simt_explore(m, &trial, &c, 10, 0, 10, &e));
    check(e.wrong && e.finding.fault == SIMT_BOUNDS && e.schedules == 1 && e.schedule_n == 0 && e.tries == 0,
          "%llu schedules, %zu decisions, %llu tries", (ull)e.schedules, e.schedule_n, (ull)e.tries);
    simt_exploration_free(m, &e);
    simt_machine_close(m);
}

/* A place whose name is longer than a row of the story has room for: rows stay rows. */
SIMT_KERNEL(k_long_name, buffers, a)
{
    static char site[900];
    uint32_t v;
    memset(site, 'x', sizeof site - 5);
    memcpy(site + sizeof site - 6, ".c:12", 6);
    simt_host_load(site, SIMT_LD, a.in, 4, &v);
    simt_st_u32(a.out, v);
}

static void rows_of_a_story(void)
{
    simt_config c = simt_config_default();
    char text[4096];
    c.trace = true;
    check(run(k_long_name, 1, 1, &c), "%s", simt_machine_finding(machine)->story);
    simt_story_print(machine, 10, text, sizeof text);
    char plain[4096]; /* a story is the same without the race detector */
    c.race = false;
    c.preempt = SIMT_AT_NONE;
    check(run(k_long_name, 1, 1, &c), "%s", simt_machine_finding(machine)->story);
    simt_story_print(machine, 10, plain, sizeof plain);
    check(strcmp(text, plain) == 0, "another story without a detector:\n%s\n%s", text, plain);
    const char *end = strchr(text, '\n');
    check(end && strlen(end + 1) > 1 && strchr(end + 1, '\n') && strstr(end, "t_machine.c:"), "not two rows:\n%s",
          text);
    check(strstr(text, "xxx") < end && strstr(text, "ld    in+0  = 0") < end, "the first row does not say it:\n%s",
          text);
}

/* ---- Memory that is refused ------------------------------------------------------------------ */

/* The step for which a list of 64 is made longer is the last but one, and the last is an error. */
SIMT_KERNEL(k_errs_later, buffers, a)
{
    for (uint32_t i = 0; i < 65; i++) simt_strlx_u32(a.out + i, i);
    simt_st_u32(a.out + WORDS, 1u);
}

/* What comes after the first finding is not told with it; and a search that cannot keep its place says so. */
static void only_the_first_is_told(void)
{
    uint64_t told = 0, take = 0, ends = 0;
    for (; ends < 2; take++) {
        uint64_t refuse = 1 + take / 2;
        counting count;
        simt_machine *m;
        counting_init(&count);
        count.refuse_at = refuse;
        simt_config c = simt_config_default();
        c.strategy = SIMT_SEARCH;
        c.preempt = take % 2 ? SIMT_AT_NONE : SIMT_AT_ALL;
        c.trace = true;
        c.bound = 100;
        test_case("take %llu is refused, preempted at %u", (ull)refuse, c.preempt);
        if (simt_machine_open(&count.seams, &m)) continue;
        reset();
        must(simt_machine_region(m, memory.out, 4 * WORDS, "out"));
        if (simt_machine_launch(m, k_errs_later, &memory, sizeof memory, take % 2 ? 1 : 2, 1, 0) == HD_OK) {
            const simt_finding *f = simt_machine_finding(m);
            check(!simt_machine_run(m, &c), "clean");
            bool refused = f->fault == SIMT_RESOURCE;
            check(refused ? !strchr(f->story, '\n') : f->fault == SIMT_BOUNDS, "'%s': %s", simt_fault_name(f->fault),
                  f->story);
            told += refused;
            ends = count.takes < refuse ? ends + 1 : 0;
        }
        simt_machine_close(m);
        check(count.live_bytes == 0, "%llu bytes are still held", (ull)count.live_bytes);
    }
    check(told > 5, "%llu refusals were told", (ull)told);
    test_tried("memory", take - 2, "refused to a search of the host machine that errs besides");
}

/* ---- C accesses that the machine is asked about ---------------------------------------------- */

typedef struct asking {
    uint8_t *low, *high; /* 16 bytes each, in a row */
    uint32_t *answer;    /* (4) */
    uint32_t which;      /* of the places below, to be found; 0: none */
} asking;

SIMT_KERNEL(k_asks, asking, a)
{
    SIMT_SHARED(uint32_t, word, 4);
    /* where the block's shared memory begins: the first array lies behind a gap */
    uint8_t *room = (uint8_t *)word - 16;
    if (simt_block() == 1) {
        a.answer[0] =
            simt_raw_reaches(a.low - 4, 4) || simt_raw_reaches(a.high + 16, 4) || simt_raw_reaches(a.low + 4, 0);
        a.answer[1] =
            simt_raw_reaches(a.low + 8, 16) && simt_raw_reaches(a.high + 15, 1) && simt_raw_reaches(a.low - 3, 4);
        a.answer[2] = simt_raw_reaches(room - 4, 8) && simt_raw_reaches(word, 4) && !simt_raw_reaches(room - 4, 4);
        a.answer[3] = simt_raw_reaches(&a, sizeof a);
        if (a.which == 1) simt_raw_found(a.low + 8, 16, false, "a test");
        if (a.which == 2) simt_raw_found(room - 4, 8, true, "a test");
    }
}

static void raw_accesses(void)
{
    uint8_t bytes[64] = { 0 };
    uint32_t answer[4];
    check(!simt_raw_reaches(bytes, 4), "no kernel runs");
    for (uint32_t i = 0; i < 6; i++) {
        asking a = { bytes + 16, bytes + 32, answer, i % 3 };
        simt_config c = simt_config_default();
        const simt_finding *f = simt_machine_finding(machine);
        c.strategy = SIMT_ROUND_ROBIN;
        c.meter = true;
        test_case("asking %u", i);
        memset(answer, 0xff, sizeof answer);
        simt_machine_forget(machine);
        for (uint32_t k = 0; k < 2; k++)
            must(simt_machine_region(machine, (k ^ i) & 1 ? a.high : a.low, 16, (k ^ i) & 1 ? "high" : "low"));
        must(simt_machine_launch(machine, k_asks, &a, sizeof a, 2, 1, 0));
        bool clean = simt_machine_run(machine, &c);
        check(answer[0] == 0 && answer[1] == 1 && answer[2] == 1 && answer[3] == 0, "%u %u %u %u", answer[0], answer[1],
              answer[2], answer[3]);
        check(clean == (a.which == 0), "%s", f->story);
        if (a.which == 1) check(said("16 bytes are read around the dialect, at byte 8 of low"), "%s", f->story);
        if (a.which == 2)
            check(said("8 bytes are written around the dialect, at byte 0 of shared memory"), "%s", f->story);
        check(clean || (f->fault == SIMT_RAW && said("in a test")), "%s", f->story);
    }
}

/* ---- Observers ------------------------------------------------------------------------------- */

SIMT_KERNEL(k_ticket, buffers, a)
{
    if (simt_thread()) return;
    simt_st_u32(a.out, simt_ld_u32(a.in) + 1);
    simt_ticket(0, 5, 0, 0);
}

static bool always(const simt_config *c) { return (void)c, true; }

/* A machine with an observer that looks at nothing, and without those that it usually has. */
static void few_observers(void)
{
    static const simt_observer silent = { .kinds = SIMT_AT_ALL, .state_bytes = 3, .wanted = always };
    static const simt_observer *const one[] = { &silent };
    simt_machine *m;
    size_t n = 7;
    uint32_t in = 41, out = 0;
    const simt_config c = simt_config_default();
    must_fail(simt_machine_open_with(NULL, one, 1000, &m), HD_EINVAL, "observers");
    must(simt_machine_open_with(NULL, one, 1, &m));
    must(simt_machine_region(m, &in, sizeof in, "in"));
    must(simt_machine_region(m, &out, sizeof out, "out"));
    buffers a = { 0 };
    a.in = &in, a.out = &out;
    must(simt_machine_launch(m, k_ticket, &a, sizeof a, 1, 32, 0));
    check(simt_machine_run(m, &c) && out == 42, "%s", simt_machine_finding(m)->story);
    check(simt_machine_tickets(m, &n)->what == 5 && n == 1, "%zu tickets", n);
    check(!simt_machine_events(m, &n) && n == 0, "%zu events, and no trace", n);
    n = 7;
    check(!simt_machine_sites(m, &n) && n == 0, "%zu sites, and no meter", n);
    simt_machine_close(m);
}

int main(void)
{
    const struct CMUnitTest machines[] = { unit(refused),
                                           unit(races_are_told),
                                           unit(weak_finds_races),
                                           unit(rooms_are_new),
                                           unit(values_of_several_sizes),
                                           unit(sound_collectives),
                                           unit(launches),
                                           unit(changes_at_once),
                                           unit(tickets_without_a_start),
                                           unit(an_item_starts_with_its_first_lane),
                                           unit(tickets_in_front),
                                           unit(tickets_before_owners),
                                           unit(tickets_without_memory),
                                           unit(the_last_step_is_watched),
                                           unit(nobody_watches_afterwards),
                                           unit(names),
                                           unit(metered),
                                           unit(exploring_ends),
                                           unit(rows_of_a_story),
                                           unit(only_the_first_is_told),
                                           unit(raw_accesses),
                                           unit(few_observers) };
    open_machine(NULL);
    int failed = test_run(machines);
    close_machine(NULL);
    return failed;
}
