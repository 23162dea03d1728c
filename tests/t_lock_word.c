/* SPDX-License-Identifier: Apache-2.0
 *
 * t_lock_word.c - the word of group3, the lock's second layer (concurrency/word.h), as kernels on the host machine:
 * batches that must not run together do not, a batch sees what the batch before it wrote, and no batch waits for ever.
 * The test finds words with a fault.
 */
#include <stdio.h>
#include <string.h>

#include "concurrency/lock.h"
#include "concurrency/word.h"
#include "gpu/hive/rows.h"
#include "gpu/hkv/rows.h"
#include "lib/backend_host.h"
#include "simt/machine.h"
#include "tests/testing.h"

typedef struct word_body {
    uint32_t *inside; /* (HD_ROLES) */
    uint32_t *wrong;  /* (1) */
    uint32_t *data;   /* (2): an exclusive batch writes, others read: overlap is a race */
    uint32_t role, together;
} word_body;

SIMT_KERNEL(k_word_body, word_body, a)
{
    if (simt_thread() != 0) return;
    simt_add_u32(a.inside + a.role, 1u, SIMT_RELAXED);
    for (uint32_t r = 0; r < 3; r++) {
        uint32_t n = simt_ldrlx_u32(a.inside + r), most = r != a.role ? 0u : a.together >> r & 1 ? 99u : 1u;
        if (n > most) simt_strlx_u32(a.wrong, 1u);
    }
    uint32_t x = simt_ld_u32(a.data);
    if (!(a.together >> a.role & 1)) simt_st_u32(a.data, x + 1);
    simt_backoff(1);
    simt_add_u32(a.inside + a.role, 0xffffffffu, SIMT_RELAXED);
}

/* With a fault each, or, of a pair, without. */
SIMT_KERNEL(k_word_enter, hd_word_args, a) { hd_word_enter(&a); }
SIMT_KERNEL(k_word_leave, hd_word_args, a) { hd_word_leave(&a); }
SIMT_KERNEL(k_word_pass, hd_word_args, a) { (void)a; }
SIMT_KERNEL(k_word_leave_relaxed, hd_word_args, a)
{
    if (simt_thread() == 0) simt_add_u32(&a.word->inside, 0xffffffffu, SIMT_RELAXED);
}
SIMT_KERNEL(k_word_enter_mistaken, hd_word_args, a)
{
    hd_word_args b = a;
    if (b.role == HD_UPDATER) b.role = HD_READER;
    hd_word_enter(&b);
}
SIMT_KERNEL(k_word_enter_early, hd_word_args, a) /* the next one's turn before it is inside itself */
{
    if (simt_thread() != 0) return;
    uint32_t mine = simt_add_u32(&a.word->next, 1, SIMT_RELAXED);
    while (simt_ldacq_u32(&a.word->serving) != mine) simt_backoff(8);
    simt_strel_u32(&a.word->serving, mine + 1);
    while (simt_ldacq_u32(&a.word->inside) != 0) simt_backoff(8);
    simt_strlx_u32(&a.word->role, a.role);
    simt_add_u32(&a.word->inside, 1, SIMT_RELAXED);
}
SIMT_KERNEL(k_word_leave_never, hd_word_args, a) /* the next batch waits for ever */
{
    if (a.role != HD_READER) hd_word_leave(&a);
}

typedef void kernel(const void *);

/* Seven streams, two batches each, in a random order. The word's steps have so many blocks, of which one thread takes
 * the step. What is wrong, or NULL. */
static const char *word_wrong(kernel *enter, kernel *leave, uint32_t blocks, uint64_t seed, bool weak)
{
    enum { QUEUES = 7, EACH = 2 };
    static char why[512];
    struct {
        hd_word word;
        uint32_t inside[HD_ROLES], wrong, data[2];
    } memory;
    simt_machine *m;
    uint64_t random = seed;
    memset(&memory, 0, sizeof memory);
    must(simt_machine_open(NULL, &m));
    must(simt_machine_region(m, &memory.word, sizeof memory.word, "word"));
    must(simt_machine_region(m, memory.inside, sizeof memory.inside, "inside"));
    must(simt_machine_region(m, &memory.wrong, sizeof memory.wrong, "wrong"));
    must(simt_machine_region(m, memory.data, sizeof memory.data, "data"));
    for (uint32_t q = 0; q < QUEUES; q++)
        for (int k = 0; k < EACH; k++) {
            hd_word_args a = { &memory.word, (uint32_t)test_below(&random, HD_ROLES), HD_READERS | HD_UPDATERS };
            word_body b = { memory.inside, &memory.wrong, memory.data, a.role, a.together };
            must(simt_machine_launch(m, enter, &a, sizeof a, blocks, 32, q));
            must(simt_machine_launch(m, k_word_body, &b, sizeof b, 1, 32, q));
            must(simt_machine_launch(m, leave, &a, sizeof a, blocks, 32, q));
        }
    simt_config c = simt_config_default();
    c.seed = seed;
    c.strategy = seed % 3 ? SIMT_RANDOM : SIMT_PCT;
    c.weak = weak;
    c.resident = 2 * QUEUES;
    c.step_limit = 400000;
    bool good = simt_machine_run(m, &c);
    snprintf(why, sizeof why, "%.400s",
             good ? "some were inside that may not be inside together" : simt_machine_finding(m)->story);
    const char *wrong = !good || memory.wrong ? why : NULL;
    simt_machine_close(m);
    return wrong;
}

/* As tables launch it. */
static void the_word_keeps_kernels_apart(void)
{
    kernel *const enter[] = { hkv_host_kernel(HKV_NUMBER_word_enter), hive_host_kernel(HIVE_NUMBER_word_enter) },
                  *const leave[] = { hkv_host_kernel(HKV_NUMBER_word_leave), hive_host_kernel(HIVE_NUMBER_word_leave) };
    for (uint64_t seed = 1; seed <= test_times(300); seed++) {
        test_case("seed %llu", (ull)seed);
        uint64_t of = seed / 4 % 2;
        const char *wrong = word_wrong(enter[of], leave[of], 1 + (uint32_t)(seed / 2 % 2), seed, seed % 2);
        check(!wrong, "%s", wrong);
    }
    test_tried("schedules", test_times(300), "of batches at the word of a lock, half with weak memory");
}

static void broken_words_are_found(void)
{
    static const struct {
        const char *what;
        kernel *enter, *leave;
    } broken[] = {
        { "none waits", k_word_pass, k_word_pass },
        { "leaves without a release", k_word_enter, k_word_leave_relaxed },
        { "takes updaters for readers", k_word_enter_mistaken, k_word_leave },
        { "calls the next one before it is in", k_word_enter_early, k_word_leave },
        { "readers never leave", k_word_enter, k_word_leave_never },
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        const char *wrong = NULL;
        uint64_t seed = 0;
        while (!wrong && seed++ < 400) wrong = word_wrong(broken[i].enter, broken[i].leave, 1, seed, seed % 2);
        test_case("a word that %s", broken[i].what);
        check(wrong, "nothing was found in %llu schedules", (ull)seed);
        test_note("%s: seed %llu: %.60s", broken[i].what, (ull)seed, wrong);
    }
}

static const struct CMUnitTest tests[] = { unit(the_word_keeps_kernels_apart), unit(broken_words_are_found) };

int main(void) { return test_run(tests); }
