/* SPDX-License-Identifier: Apache-2.0
 *
 * t_held.c - all ordered pairs of calls (held.h) on a fake device whose streams run only when a call waits for them:
 * each call is made while the work of the one before is held up, on the same, on side and on default streams, from one
 * thread, from two in turn, and from two at once. The results are those of the same calls without delay. And each wait
 * of the library, left out, is found.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fake_device.h"
#include "tests/held.h"

/* ---- A fake device that several threads may use ---------------------------------------------- */

typedef struct shared_device {
    hd_device_seam seam;
    fake_device fake;
    pthread_mutex_t mutex;
} shared_device;

#define SHARED(name, parameters, arguments)       \
    static int shared_##name parameters           \
    {                                             \
        shared_device *d = (shared_device *)self; \
        pthread_mutex_lock(&d->mutex);            \
        int code = d->fake.seam.name arguments;   \
        pthread_mutex_unlock(&d->mutex);          \
        return code;                              \
    }
#define F d->fake.seam.self
SHARED(find, (void *self, hd_device *device), (F, device))
SHARED(take, (void *self, void **p, size_t bytes), (F, p, bytes))
SHARED(give, (void *self, void *p), (F, p))
SHARED(take_growing, (void *self, void **p, size_t bytes), (F, p, bytes))
SHARED(grow, (void *self, void *p, size_t bytes, void **q), (F, p, bytes, q))
SHARED(take_pinned, (void *self, void **p, size_t bytes), (F, p, bytes))
SHARED(pin, (void *self, void *p, size_t bytes), (F, p, bytes))
SHARED(unpin, (void *self, void *p), (F, p))
SHARED(give_pinned, (void *self, void *p, size_t bytes), (F, p, bytes))
SHARED(copy, (void *self, void *to, const void *from, size_t bytes, hd_way way, void *stream),
       (F, to, from, bytes, way, stream))
SHARED(fill, (void *self, void *to, int byte, size_t bytes, void *stream), (F, to, byte, bytes, stream))
SHARED(launch, (void *self, const hd_launch *l, void *stream), (F, l, stream))
SHARED(load, (void *self, const hd_gpu *gpu), (F, gpu))
SHARED(prepared_destroy, (void *self, void *prepared), (F, prepared))
SHARED(wait, (void *self, void *stream), (F, stream))
SHARED(stream_make, (void *self, void **stream), (F, stream))
SHARED(stream_destroy, (void *self, void *stream), (F, stream))
SHARED(stream_state, (void *self, void *stream, hd_stream_state *state), (F, stream, state))
SHARED(event_record, (void *self, void **event, void *stream, uint64_t capture), (F, event, stream, capture))
SHARED(event_wait, (void *self, void *event, void *stream, uint64_t capture), (F, event, stream, capture))
SHARED(event_sync, (void *self, void *event), (F, event))
SHARED(event_destroy, (void *self, void *event), (F, event))
SHARED(reach, (void *self, const void *p, hd_reach *reach), (F, p, reach))

/* There is one device, so that no thread has another one. */
static int shared_use(void *self, int device, int *before)
{
    (void)self;
    *before = device;
    return 0;
}

static const char *shared_error(void *self, int code)
{
    const shared_device *d = (const shared_device *)self;
    return d->fake.seam.error(F, code);
}

static void shared_init(shared_device *d, uint64_t page)
{
    enum { EVERY = 16 }; /* in long runs, too: to guard memory takes most of the time, and t_device does it */
    static uint64_t opened;
    fake_init(&d->fake);
    if (page) d->fake.page = page;
    d->fake.quick = opened++ % EVERY != 0;
    pthread_mutex_init(&d->mutex, NULL);
    d->seam = (hd_device_seam){ shared_find,
                                shared_use,
                                shared_take,
                                shared_give,
                                shared_take_growing,
                                shared_grow,
                                shared_take_pinned,
                                shared_give_pinned,
                                shared_pin,
                                shared_unpin,
                                shared_copy,
                                shared_fill,
                                shared_launch,
                                shared_load,
                                shared_prepared_destroy,
                                shared_wait,
                                shared_stream_make,
                                shared_stream_destroy,
                                shared_stream_state,
                                shared_event_record,
                                shared_event_wait,
                                shared_event_sync,
                                shared_event_destroy,
                                shared_reach,
                                shared_error,
                                d };
}

static bool longer(void) { return test_scale() > 1 || getenv("HEDDLE_TEST_LONG"); }

/* ---- The place ------------------------------------------------------------------------------- */

static shared_device device;
static hd_seams seams;
static char streams[2];

/* Runs of the matrix in which a place waited. */
enum { KEPT = 512 };
typedef struct kept {
    fake_site site;
    uint64_t runs;
    held_pair p[KEPT];
    held_how h[KEPT];
} kept;
static kept *sites; /* (FAKE_SITES) */
static size_t sites_known;

static void place_open(void *self, uint64_t page)
{
    (void)self;
    shared_init(&device, page);
    seams = hd_seams_os;
    seams.device = &device.seam;
}

static void place_close(void *self)
{
    (void)self;
    fake_settled(&device.fake);
    pthread_mutex_destroy(&device.mutex);
}

static void *place_take(void *self, held_memory memory, size_t bytes)
{
    static const held_arrays none = { .count = 0 };
    fake_device *f = (fake_device *)self;
    return memory == HELD_DEVICE ? fake_array(f, NULL, bytes) : fake_pinned_array(f, &none, bytes);
}

static void place_give(void *self, held_memory memory, void *p)
{
    (void)memory;
    fake_drop((fake_device *)self, p);
}

static void place_write(void *self, void *to, const void *from, size_t bytes)
{
    fake_write((fake_device *)self, to, from, bytes);
}

static void place_read(void *self, void *to, const void *from, size_t bytes)
{
    fake_read((fake_device *)self, to, from, bytes);
}

static void place_finish(void *self) { fake_finish((fake_device *)self); }

static void place_put(void *self, held_memory memory, void *to, const void *from, size_t bytes, void *stream)
{
    (void)self;
    hd_way way = memory == HELD_DEVICE ? HD_WITHIN_DEVICE : HD_FROM_DEVICE;
    check(device.seam.copy(device.seam.self, to, from, bytes, way, stream) == 0, "no copy");
}

static void place_hold(void *self, const held_side *first, const held_how *h)
{
    static const fake_pace paces[HELD_ORDERS] = { FAKE_HOLD, FAKE_CHANCE, FAKE_LAZY, FAKE_LAZY };
    fake_device *f = (fake_device *)self;
    f->pace = paces[h->order];
    f->held = first ? first->stream : NULL;
    f->chance = (uint64_t)h->streams + 11 * (uint64_t)h->threads;
    f->watches = sites ? 3 : 0; /* is_left_out, a function of the fake device, one of the shared one */
    f->without = h->without;
}

static void place_release(void *self, const held_side *first, const held_side *second, const held_how *h)
{
    fake_device *f = (fake_device *)self;
    f->pace = FAKE_LAZY;
    f->watches = 0;
    f->without = 0;
    must(f->seam.wait(f, h->order == 2 ? first->stream : second->stream) ? HD_ECUDA : HD_OK);
    fake_finish(f);
}

/* Keeps it as a run of each place that waited. */
static void place_tried(void *self, const held_pair *p, const held_how *h, bool same)
{
    fake_device *f = (fake_device *)self;
    static uint64_t random = 1;
    (void)same;
    for (size_t i = 0; i < f->sites; i++) {
        size_t k = 0;
        while (k < sites_known && sites[k].site.number != f->site[i].number) k++;
        check(k < FAKE_SITES, "more than %d places wait", FAKE_SITES);
        if (k == sites_known) sites[sites_known++].site = f->site[i];
        uint64_t at = sites[k].runs++;
        if (at >= KEPT) at = test_below(&random, at);
        if (at >= KEPT) continue;
        sites[k].p[at] = *p;
        sites[k].h[at] = *h;
    }
    f->sites = 0;
}

static held_place place = { &device.fake, place_open,  place_close,   place_take,
                            place_give,   place_write, place_read,    place_finish,
                            place_put,    place_hold,  place_release, place_tried,
                            NULL,         &seams,      NULL,          { &streams[0], &streams[1] },
                            HELD_ORDERS,  true,        false };

/* ---- All pairs ------------------------------------------------------------------------------- */

/* By default each pair with a few variants, in one way; longer: with all of them; at a scale above 1: in all ways,
 * which takes hours. */
static void all_pairs_of_calls(void)
{
    enum { SHARE = 8 };
    held_tally *n = (held_tally *)test_alloc(1, sizeof *n);
    place.folder = test_folder();
    sites = (kept *)test_alloc(FAKE_SITES, sizeof *sites);
    for (size_t v = 0; held_variant_at(v); v++)
        held_try(&place, v, longer() ? 1 : SHARE, test_scale() > 1 ? 0 : 1, 0, n);
    test_tried("held", n->runs, "pairs of calls, the first of them held up");
    test_note("%s", held_told(n));
    check(n->differ == 0, "%llu differ from those without delay", (ull)n->differ);
    free(n);
}

/* ---- Each wait is needed --------------------------------------------------------------------- */

/* The functions of a place. */
static const char *functions_of(const fake_site *site)
{
    static char text[300];
    char command[300], line[100];
    Dl_info program;
    size_t n = 0;
    text[0] = 0;
    for (int k = 0; k < FAKE_FRAMES; k++) {
        if (!dladdr(site->at[k], &program)) continue;
        snprintf(command, sizeof command, "addr2line -f -s -e /proc/%d/exe 0x%llx 2>/dev/null", (int)getpid(),
                 (ull)((const char *)site->at[k] - (const char *)program.dli_fbase) - 1);
        FILE *p = popen(command, "r");
        for (int lines = 0; p && fgets(line, sizeof line, p); lines++) {
            line[strcspn(line, " \n")] = 0;
            if (n + strlen(line) + 4 < sizeof text)
                n += (size_t)sprintf(text + n, "%s%s", lines ? " " : k ? " < " : "", line);
        }
        if (p) pclose(p);
    }
    return text;
}

/* In a process of its own: what does not wait may do anything. */
static bool is_found(const kept *k)
{
    uint64_t most = longer() ? KEPT : KEPT / 64;
    if (most > k->runs) most = k->runs;
    fflush(stdout);
    pid_t child = fork();
    check(child >= 0, "no process");
    if (child == 0) {
        bool good = true;
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
        const unsigned most = longer() ? 60 : 10; /* all runs take one; some go round for ever, or wait */
        const struct rlimit seconds = { most, most };
        /* not by a handler, which may wait for memory */
        static const int ends[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) signal(ends[k], SIG_DFL);
        setrlimit(RLIMIT_CPU, &seconds);
        alarm(5 * most);
        for (uint64_t i = 0; i < most && good; i++) {

            held_result got;
            held_how h = k->h[i];
            held_wanted w = { 0 };
            place_open(NULL, k->p[i].variant->page);
            held_files(&place, k->p[i].variant);
            h.without = k->site.number;
            good = held_right(&place, &k->p[i], &h, &w, &got);
        }
        _exit(good ? 0 : 1);
    }
    int status;
    check(waitpid(child, &status, 0) == child, "a process is lost");
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void each_wait_that_is_left_out_is_found(void)
{
    uint64_t found = 0;
    if (!sites) test_skip("all_pairs_of_calls tells where waits are");
    for (size_t k = 0; k < sites_known; k++) {
        bool is = is_found(&sites[k]);
        found += is;
        if (!is) test_note("not found: %s, in %llu runs", functions_of(&sites[k].site), (ull)sites[k].runs);
    }
    test_note("%llu of %llu places that wait were found when they did not", (ull)found, (ull)sites_known);
    check(found > 10, "%llu places are needed", (ull)found);
}

/* ---- The rows -------------------------------------------------------------------------------- */

/* Each function of the public headers that takes a table is called. */
static void each_function_is_a_row(void)
{
    static const char *const headers[] = { "heddle.h", "heddle_view.h" };
    const char *top = getenv("top_srcdir");
    int functions = 0;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char line[200], name[80];
        snprintf(line, sizeof line, "%s/include/%s", top ? top : ".", headers[i]);
        FILE *f = fopen(line, "r");
        if (!f) test_skip("the headers are not here: set top_srcdir");
        while (fgets(line, sizeof line, f)) {
            if (sscanf(line, "HD_API hd_status hd_%70[a-z_](hd_table *table", name) != 1 &&
                sscanf(line, "HD_API void hd_%70[a-z_](hd_table *table", name) != 1)
                continue;
            if (!strstr(line, "(hd_table *table")) continue;
            char word[90];
            snprintf(word, sizeof word, " hd_%s ", name);
            check(strstr(held_functions, word), "hd_%s: no row of tests/held.c calls it", name);
            functions++;
        }
        fclose(f);
    }
    check(functions > 15, "%d functions", functions);
}

static const struct CMUnitTest tests[] = { unit(each_function_is_a_row), unit(all_pairs_of_calls),
                                           unit(each_wait_that_is_left_out_is_found) };

int main(void) { return test_run(tests); }
