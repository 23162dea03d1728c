/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c - see driver.h. A child process runs the inputs and stores the number of the current one in shared memory.
 * If the child ends early, the parent makes the current input again and runs it alone.
 */
#include "fuzz/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/mutate.h"
#include "base/error.h"
#include "base/seam.h"
#include "simt/sanitizer.h"

enum { CHILD_RUNS = 20000, CHILD_NS = 500 * 1000 * 1000, TRIES = 4000, INPUT_SECONDS = 60 };

/* What a child tells, page-wise shared. */
typedef struct board {
    uint64_t at, steps; /* the input that is run; what was judged so far */
    bool done, wrong;   /* it came to its end; the target objected       */
    char why[FUZZ_WHY];
} board;

typedef struct hunter {
    fuzz_hunt *h;
    board *b;       /* shared                        */
    uint8_t *bytes; /* (target->most + 1)            */
    uint64_t start_ns;
} hunter;

static uint64_t now_ns(void) { return hd_seams_os.time.now_ns(hd_seams_os.time.self); }

static uint64_t given(const fuzz_hunt *h) { return h->corpus ? h->corpus->n : 0; }

/* Input number k: the corpus as it is, then made ones. */
static size_t input(const hunter *x, uint64_t k)
{
    const fuzz_hunt *h = x->h;
    if (k >= given(h)) return fuzz_make(h->target, h->corpus, h->seed, k - given(h), x->bytes);
    const fuzz_input *in = &h->corpus->input[k];
    size_t n = in->n < h->target->most ? in->n : h->target->most;
    memcpy(x->bytes, in->bytes, n);
    return n;
}

/* ---- In the child ---------------------------------------------------------------------------- */

static void quiet(void)
{
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, 2);
}

/* One input, in memory of its own length, so that a sanitizer sees a byte beyond. */
static bool judge(const hunter *x, const uint8_t *bytes, size_t n)
{
    uint8_t *exact = (uint8_t *)malloc(n ? n : 1);
    uint64_t steps = 0;
    if (!exact) _exit(0); /* as if it had been stopped: not the input's fault */
    if (n) memcpy(exact, bytes, n);
    alarm((unsigned)(x->h->input_s ? x->h->input_s : INPUT_SECONDS));
    const char *why = x->h->target->run(exact, n, &steps);
    free(exact);
    x->b->steps += steps;
    if (why) snprintf(x->b->why, sizeof x->b->why, "%s", why);
    return why == NULL;
}

static void go_on(const hunter *x, uint64_t from, uint64_t to)
{
    uint64_t start = now_ns();
    for (uint64_t k = from; k < to; k++) {
        x->b->at = k;
        x->b->wrong = !judge(x, x->bytes, input(x, k));
        if (x->b->wrong) break;
        x->b->at = k + 1;
        if (now_ns() - start > CHILD_NS) break;
    }
    x->b->done = true;
}

/* ---- Around it ------------------------------------------------------------------------------- */

static const char *ending(int status, char *text, size_t room)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(text, room, "it did not end");
    else if (WIFSIGNALED(status))
        snprintf(text, room, "the process died: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(text, room, "the process ended with code %d, as under a sanitizer's report", WEXITSTATUS(status));
    return text;
}

/* Runs inputs [from, to), or, when to is 0, these n bytes. *status: how the child ended. False: there was none. */
static bool child(const hunter *x, uint64_t from, uint64_t to, const uint8_t *bytes, size_t n, bool loud, int *status)
{
    memset(x->b, 0, sizeof *x->b);
    x->b->at = from;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) return false;
    if (pid == 0) {
        signal(SIGALRM, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGINT, SIG_IGN); /* the parent gets it too, and ends the hunt after this child */
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        if (!loud) quiet();
        if (to)
            go_on(x, from, to);
        else {
            x->b->wrong = !judge(x, bytes, n);
            x->b->done = true;
        }
        HD_COUNTED();
        _exit(0);
    }
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR) return false;
    return true;
}

/* Whether these bytes are wrong in the way that was found. */
static bool same(hunter *x, const uint8_t *bytes, size_t n)
{
    fuzz_find *f = &x->h->found;
    int status = 0;
    f->tries++;
    if (!child(x, 0, 0, bytes, n, false, &status)) return false;
    if (f->crashed) return !x->b->done && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return x->b->done && x->b->wrong;
}

/* ---- Smaller --------------------------------------------------------------------------------- */

static bool may_try(const hunter *x) { return x->h->found.tries < (x->h->tries ? x->h->tries : TRIES); }

/* Takes what is in x->bytes for the find, if it is wrong, too. */
static bool adopt(hunter *x, size_t n)
{
    fuzz_find *f = &x->h->found;
    if (!same(x, x->bytes, n)) return false;
    memcpy(f->bytes, x->bytes, n);
    f->n = n;
    if (!f->crashed) memcpy(f->why, x->b->why, sizeof f->why);
    return true;
}

/* Without pieces of `piece` bytes, from the end. Whether any went. */
static bool without(hunter *x, size_t piece)
{
    fuzz_find *f = &x->h->found;
    bool any = false;
    for (size_t end = f->n; end >= piece && may_try(x);) {
        size_t at = end - piece;
        memcpy(x->bytes, f->bytes, at);
        memcpy(x->bytes + at, f->bytes + end, f->n - end);
        bool went = adopt(x, f->n - piece);
        any = any || went;
        end = went ? (at < f->n ? at : f->n) : end - (piece > 12 ? piece / 4 : 1);
    }
    return any;
}

/* Every byte 0, or half, or one less. */
static bool lower(hunter *x)
{
    fuzz_find *f = &x->h->found;
    bool any = false;
    for (size_t i = 0; i < f->n && may_try(x); i++)
        for (int way = 0; way < 3 && f->bytes[i] && may_try(x); way++) {
            memcpy(x->bytes, f->bytes, f->n);
            x->bytes[i] = way == 0 ? 0 : way == 1 ? (uint8_t)(f->bytes[i] / 2) : (uint8_t)(f->bytes[i] - 1);
            if (adopt(x, f->n)) any = true, way = -1;
        }
    return any;
}

static void shrink(hunter *x)
{
    fuzz_find *f = &x->h->found;
    for (bool any = true; any && may_try(x);) {
        any = false;
        for (size_t piece = f->n; piece && may_try(x); piece -= 1 + (piece > 12 ? piece / 3 : 0))
            any = without(x, piece < f->n ? piece : f->n ? f->n : 1) || any;
        any = lower(x) || any;
    }
}

/* The input that a child was at when it objected or ended. False: no memory. */
static bool catch_it(hunter *x, int status)
{
    fuzz_hunt *h = x->h;
    fuzz_find *f = &h->found;
    f->wrong = true;
    f->crashed = !x->b->done;
    f->run = x->b->at;
    f->name = f->run < given(h) ? h->corpus->input[f->run].name : NULL;
    if (f->crashed)
        ending(status, f->why, sizeof f->why);
    else
        snprintf(f->why, sizeof f->why, "%s", x->b->why);
    f->n = f->n_before = input(x, f->run);
    f->bytes = (uint8_t *)malloc(f->n ? f->n : 1);
    if (!f->bytes) return false;
    memcpy(f->bytes, x->bytes, f->n);
    if (same(x, f->bytes, f->n)) {
        shrink(x);
        return true;
    }
    /* Alone it is fine: something is kept from one input for the next, and that is wrong, too. */
    char first[FUZZ_WHY / 2];
    snprintf(first, sizeof first, "%.400s", f->why);
    snprintf(f->why, sizeof f->why, "%s; but not when it is run alone: an input leaves something behind", first);
    return true;
}

/* ---- The hunt -------------------------------------------------------------------------------- */

static bool time_is_up(const hunter *x) { return x->h->time_ns && now_ns() - x->start_ns >= x->h->time_ns; }

static hd_status hunt(hunter *x)
{
    fuzz_hunt *h = x->h;
    uint64_t all = given(h) + h->runs < h->runs ? UINT64_MAX : given(h) + h->runs;
    for (uint64_t k = 0; k < all;) {
        uint64_t to = all - k < CHILD_RUNS ? all : k + CHILD_RUNS;
        int status = 0;
        if (h->progress && h->progress(h->context, k, all)) break;
        if (!child(x, k, to, NULL, 0, h->loud, &status))
            return hd_fail(HD_EIO, "no process could be had: %s", strerror(errno));
        bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (!x->b->done && ended_well) return hd_fail(HD_ENOMEM, "no memory for an input");
        h->executions += x->b->at - k + (x->b->wrong || !x->b->done);
        h->steps += x->b->steps;
        k = x->b->at;
        if (!x->b->wrong && x->b->done && ended_well) {
            if (k >= given(h) && time_is_up(x)) break;
            continue;
        }
        h->seconds = (double)(now_ns() - x->start_ns) * 1e-9;
        return catch_it(x, status) ? HD_OK : hd_fail(HD_ENOMEM, "no memory for what was found");
    }
    return HD_OK;
}

hd_status fuzz_hunt_run(fuzz_hunt *h)
{
    hunter x = { h, NULL, (uint8_t *)malloc(h->target->most + 1), now_ns() };
    void *shared = mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(&h->found, 0, sizeof h->found);
    h->executions = h->steps = 0;
    h->seconds = 0;
    hd_status s = HD_OK;
    if (!x.bytes || shared == MAP_FAILED) s = hd_fail(HD_ENOMEM, "no memory for an input");
    x.b = (board *)shared;
    if (!s) s = hunt(&x);
    if (!h->found.wrong) h->seconds = (double)(now_ns() - x.start_ns) * 1e-9;
    if (shared != MAP_FAILED) munmap(shared, sizeof(board));
    free(x.bytes);
    return s;
}

void fuzz_hunt_close(fuzz_hunt *h)
{
    free(h->found.bytes);
    h->found.bytes = NULL;
}

void fuzz_tell(const fuzz_target *t, const uint8_t *bytes, size_t n, char *text, size_t room)
{
    char *shared = (char *)mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    text[0] = 0;
    if (shared == MAP_FAILED) return;
    fflush(NULL);
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        quiet();
        alarm(INPUT_SECONDS);
        t->tell(bytes, n, shared, room);
        HD_COUNTED();
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    snprintf(text, room, "%.*s", (int)room - 1, shared);
    munmap(shared, room);
}
