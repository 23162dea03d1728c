/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_device.c - a device without a GPU.
 */
#include "tests/fake_device.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/hkv/args.h"
#include "lib/backend_host.h"

/* ---- Memory: out of reach but while the device works ----------------------------------------- */

static void let_in(fake_device *f, int how)
{
    if (f->quick) return;
    for (size_t i = 0; i < f->pieces; i++)
        if (!f->piece[i].others) mprotect(f->piece[i].p, f->piece[i].mapped, how);
}

/* NULL: it is in none of them. */
void fake_let_in(fake_device *f) { let_in(f, PROT_READ | PROT_WRITE); }

static const fake_piece *piece_of(const fake_piece *all, size_t n, const void *p)
{
    for (size_t i = 0; i < n; i++)
        if ((const char *)p >= (const char *)all[i].p && (const char *)p < (const char *)all[i].p + all[i].bytes)
            return &all[i];
    return NULL;
}

static bool is_theirs(const fake_device *f, const void *p) { return piece_of(f->piece, f->pieces, p) != NULL; }
static bool is_far(const fake_device *f, const void *p) { return piece_of(f->far, f->fars, p) != NULL; }

/* ---- Work ------------------------------------------------------------------------------------ */

/* The host machine's kernel of that number; f->host: of a design that the library does not have. */
static hd_host_text *text_of(const fake_device *f, const hd_launch *l)
{
    const hd_design *d = f->host;
    for (size_t i = 0; !d || d->gpu != l->gpu; i++) d = hd_design_at(i);
    return d->host_kernel(l->kernel);
}

static void run_kernel(fake_device *f, const fake_work *w)
{
    simt_config c = { .strategy = SIMT_ROUND_ROBIN, .quiet = true };
    c.step_limit = 1ull << 32; /* more than any kernel of a test takes */
    c.shared_bytes = 48 << 10;
    simt_machine_forget(f->machine);
    for (size_t i = 0; i < f->pieces; i++)
        if (!f->piece[i].others)
            must(simt_machine_region(f->machine, f->piece[i].p, f->piece[i].bytes, "device memory"));
    for (size_t i = 0; i < f->fars; i++)
        must(simt_machine_region(f->machine, f->far[i].p, f->far[i].bytes, "far memory"));
    must(simt_machine_launch(f->machine, text_of(f, &w->launch), w->kept, w->bytes, (uint32_t)w->launch.blocks,
                             w->launch.threads, 0));
    check(simt_machine_run(f->machine, &c), "%s", simt_machine_finding(f->machine)->story);
}

static void run_works(fake_device *f, void *stream, size_t end);

static bool is_word(const fake_work *w, bool enters)
{
    if (w->kind != FAKE_LAUNCH || !w->launch.gpu) return false;
    return w->launch.kernel == (enters ? w->launch.gpu->word_enter : w->launch.gpu->word_leave);
}

/* Whether the work before number `end` that its stream did last of the steps at a lock's word is to enter. */
static bool is_inside(const fake_device *f, size_t end)
{
    for (size_t i = end; i-- > 0;)
        if (f->work[i].stream == f->work[end].stream && is_word(&f->work[i], true)) return f->work[i].done;
    return false;
}

static bool is_running(const fake_device *f, const void *stream)
{
    for (const fake_running *r = f->running; r; r = r->outer)
        if (r->stream == stream) return true;
    return false;
}

/* A kernel that enters a lock runs alone here, and would wait for ever for a batch of another stream that has entered:
 * what is put on that stream runs first, until it leaves. On a device it runs at the same time. A stream that waits for
 * this one cannot go on there, either. */
static void others_leave(fake_device *f)
{
    for (size_t i = 0; i < f->works; i++)
        if (!f->work[i].done && is_word(&f->work[i], false) && !is_running(f, f->work[i].stream) && is_inside(f, i))
            run_works(f, f->work[i].stream, f->before + i + 1);
}

/* The work of a stream before number `end`, in order; what it waits for on other streams comes first. Numbers are never
 * given twice: work before f->before is done and forgotten. */
static void run_works(fake_device *f, void *stream, size_t end)
{
    const fake_running me = { stream, f->running };
    f->running = &me;
    for (size_t i = 0; f->before + i < end && i < f->works; i++) {
        fake_work *w = &f->work[i];
        if (w->done || w->stream != stream) continue;
        w->done = true;
        if (w->kind == FAKE_WAIT) run_works(f, w->mark_stream, w->mark);
        if (w->kind == FAKE_COPY) memcpy(w->to, w->kept ? w->kept : w->from, w->bytes);
        if (w->kind == FAKE_FILL) memset(w->to, w->byte, w->bytes);
        if (is_word(w, true)) others_leave(f);
        if (w->kind == FAKE_LAUNCH) run_kernel(f, w);
        free(w->kept);
        w->kept = NULL;
    }
    f->running = me.outer;
}

static void run_stream(fake_device *f, void *stream, size_t end)
{
    let_in(f, PROT_READ | PROT_WRITE);
    run_works(f, stream, end);
    let_in(f, PROT_NONE);
}

static void run_all(fake_device *f)
{
    bool waiting = false;
    for (size_t i = 0; i < f->works; i++) waiting |= !f->work[i].done;
    if (waiting) let_in(f, PROT_READ | PROT_WRITE);
    for (size_t i = 0; i < f->works; i++) run_works(f, f->work[i].stream, f->before + f->works);
    if (waiting) let_in(f, PROT_NONE);
    f->before += f->works;
    f->works = 0;
}

static void forget_done(fake_device *f)
{
    for (size_t i = 0; i < f->works; i++)
        if (!f->work[i].done) return;
    f->before += f->works;
    f->works = 0;
}

/* Whether a batch of another stream is inside a lock, and how it leaves is not on its stream yet. */
static bool is_shut(const fake_device *f, const fake_work *w)
{
    for (size_t i = 0; i < f->works; i++) {
        const fake_work *x = &f->work[i];
        bool leaves = x->stream == w->stream || !x->done || !is_word(x, true);
        for (size_t j = i + 1; j < f->works && !leaves; j++)
            leaves = f->work[j].stream == x->stream && is_word(&f->work[j], false);
        if (!leaves) return true;
    }
    return false;
}

/* Whether work i can run now: it is the first of its stream, and waits for nothing. */
static bool is_ready(const fake_device *f, size_t i)
{
    const fake_work *w = &f->work[i];
    if (is_word(w, true) && is_shut(f, w)) return false;
    for (size_t j = 0; j < i; j++)
        if (!f->work[j].done && f->work[j].stream == w->stream) return false;
    for (size_t j = 0; w->kind == FAKE_WAIT && j < f->works && f->before + j < w->mark; j++)
        if (!f->work[j].done && f->work[j].stream == w->mark_stream) return false;
    return !w->done;
}

static bool goes_on(fake_device *f, size_t i)
{
    if (f->pace == FAKE_HOLD) return f->work[i].stream != f->held;
    return test_below(&f->chance, 3) == 0;
}

/* Work without a waiter. */
static void go_on(fake_device *f)
{
    if (f->pace == FAKE_LAZY) return;
    for (size_t i = 0; i < f->works; i++)
        if (!f->work[i].done && is_ready(f, i) && goes_on(f, i)) run_stream(f, f->work[i].stream, f->before + i + 1);
}

/* The place in the code that asks for a wait, and whether it is left out. */
static bool is_left_out(fake_device *f)
{
    enum { INNER_MOST = 4 };
    void *at[INNER_MOST + FAKE_FRAMES] = { NULL }, **from = at + f->watches;
    uint64_t number = 1;
    size_t i = 0;
    if (!f->watches) return false;
    check(f->watches <= INNER_MOST, "there is room for %d frames", INNER_MOST);
    backtrace(at, f->watches + FAKE_FRAMES);
    for (int k = 0; k < FAKE_FRAMES; k++) number = (number ^ (uint64_t)(uintptr_t)from[k]) * 0x9e3779b97f4a7c15u;
    while (i < f->sites && f->site[i].number != number) i++;
    check(i < FAKE_SITES, "more than %d places wait", FAKE_SITES);
    if (i == f->sites) {
        f->site[f->sites++] = (fake_site){ number, 0, { NULL } };
        memcpy(f->site[i].at, from, sizeof f->site[i].at);
    }
    f->site[i].times++;
    return number == f->without;
}

static bool is_recorded(const fake_device *f, const void *stream)
{
    const fake_recording *r = f->recording;
    return r && (r->stream == stream || (r->branch && r->branch == stream));
}

static fake_work *put(fake_device *f, void *stream)
{
    if (is_recorded(f, stream)) {
        check(f->recording->works < FAKE_RECORDED, "a recording has room for %d pieces of work", FAKE_RECORDED);
        fake_work *w = &f->recording->work[f->recording->works++];
        memset(w, 0, sizeof *w);
        return w;
    }
    check(f->works < FAKE_WORK, "the fake device has room for %d pieces of work", FAKE_WORK);
    fake_work *w = &f->work[f->works++];
    memset(w, 0, sizeof *w);
    w->stream = stream;
    return w;
}

/* ---- The seam -------------------------------------------------------------------------------- */

/* A device that is lost does nothing any more, not even what was put on it before. */
static void lose_work(fake_device *f)
{
    for (size_t i = 0; i < f->works; i++) {
        free(f->work[i].kept);
        f->work[i].kept = NULL;
        f->work[i].done = true;
    }
}

static int asked(fake_device *f, const char *call)
{
    go_on(f);
    f->calls++;
    if (f->calls == f->fail_at) f->failed = call;
    if (f->calls == f->fail_at && f->sticky) lose_work(f);
    return f->fail_at && (f->calls == f->fail_at || (f->sticky && f->calls > f->fail_at)) ? f->code : 0;
}

static int fake_find(void *self, hd_device *device)
{
    fake_device *f = (fake_device *)self;
    device->number = f->device;
    device->processors = 1;
    device->page = f->page;
    snprintf(device->name, sizeof device->name, "a fake");
    return asked(f, "find");
}

static int fake_use(void *self, int device, int *before)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "use");
    if (code) return code;
    *before = f->device;
    f->device = device;
    return 0;
}

static size_t whole_pages(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static void poison(const fake_device *f, void *p, size_t bytes)
{
    enum { QUICK = 1 << 14 };
    test_poison(p, f->quick && bytes > QUICK ? QUICK : bytes, f->poison);
}

/* One piece more: of new memory, or a name of memory that can grow. What is behind `old` bytes is not cleared. */
static int take_piece(fake_device *f, void **p, size_t bytes, fake_memory *memory, size_t old)
{
    if (f->most_bytes && f->live_bytes + bytes - old > f->most_bytes) return HD_DEVICE_NO_MEMORY;
    check(f->pieces < FAKE_PIECES, "the fake device has room for %d pieces", FAKE_PIECES);
    fake_piece k = { NULL, bytes, whole_pages(bytes), false, memory };
    if (memory) {
        check(ftruncate(memory->fd, (off_t)k.mapped) == 0, "no memory for the fake device");
        memory->bytes = bytes;
        memory->names++;
    }
    k.p = mmap(NULL, k.mapped, PROT_READ | PROT_WRITE, memory ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
               memory ? memory->fd : -1, 0);
    check(k.p != MAP_FAILED, "no memory for the fake device");
    poison(f, (uint8_t *)k.p + old, bytes - old);
    if (!f->quick) mprotect(k.p, k.mapped, PROT_NONE);
    f->piece[f->pieces++] = k;
    f->live_bytes += bytes - old;
    if (f->live_bytes > f->peak_bytes) f->peak_bytes = f->live_bytes;
    *p = k.p;
    return 0;
}

static int fake_take(void *self, void **p, size_t bytes)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "take");
    return code ? code : take_piece(f, p, bytes, NULL, 0);
}

static int fake_take_growing(void *self, void **p, size_t bytes)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "take_growing");
    if (code) return code;
    check(f->page, "the device has no pages");
    fake_memory *m = (fake_memory *)test_alloc(1, sizeof *m);
    m->fd = memfd_create("fake device", 0);
    check(m->fd >= 0, "no memory for the fake device");
    m->names = 0;
    code = take_piece(f, p, bytes, m, 0);
    if (!code) return 0;
    close(m->fd);
    free(m);
    return code;
}

static int fake_grow(void *self, void *p, size_t bytes, void **q)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "grow");
    const fake_piece *k = piece_of(f->piece, f->pieces, p);
    if (code) return code;
    check(k && k->p == p && k->memory && bytes > k->bytes && k->memory->bytes == k->bytes, "that cannot grow so");
    run_all(f);
    return take_piece(f, q, bytes, k->memory, k->bytes);
}

/* What one name more is given back: of the memory, what another name has stays. */
static void drop_memory(fake_device *f, const fake_piece *k)
{
    fake_memory *m = k->memory;
    size_t stays = 0;
    if (!m) {
        f->live_bytes -= k->bytes;
        return;
    }
    for (size_t i = 0; i < f->pieces; i++)
        if (f->piece[i].memory == m && f->piece[i].p != k->p && f->piece[i].bytes > stays) stays = f->piece[i].bytes;
    f->live_bytes -= m->bytes - stays;
    m->bytes = stays;
    if (--m->names) return;
    close(m->fd);
    free(m);
}

static int fake_give(void *self, void *p)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "give");
    run_all(f);
    for (size_t i = 0; i < f->pieces; i++)
        if (f->piece[i].p == p) {
            drop_memory(f, &f->piece[i]);
            /* as with CUDA, where the device's memory was, this machine's never is */
            mmap(p, f->piece[i].mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
            f->piece[i] = f->piece[--f->pieces];
            return code;
        }
    test_fail(__FILE__, __LINE__, "give", "the device never had that memory");
}

/* In reach of this machine all the time, as it is. */
static int fake_take_pinned(void *self, void **p, size_t bytes)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "take_pinned");
    if (code) return code;
    if (f->most_far_bytes && bytes > f->most_far_bytes) return HD_DEVICE_NO_MEMORY;
    check(f->fars < FAKE_FAR, "the fake device has room for %d far pieces", FAKE_FAR);
    fake_piece k = { malloc(bytes ? bytes : 1), bytes, bytes, false, NULL };
    check(k.p, "no memory for %zu bytes", bytes);
    poison(f, k.p, bytes);
    f->far[f->fars++] = k;
    f->far_bytes += bytes;
    if (f->far_bytes > f->far_peak) f->far_peak = f->far_bytes;
    *p = k.p;
    return 0;
}

static int fake_give_pinned(void *self, void *p, size_t bytes)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "give_pinned");
    run_all(f);
    for (size_t i = 0; i < f->fars; i++)
        if (f->far[i].p == p && f->far[i].bytes == bytes) {
            free(p);
            f->far_bytes -= bytes;
            f->far[i] = f->far[--f->fars];
            return code;
        }
    test_fail(__FILE__, __LINE__, "give_pinned", "the device never had that memory");
}

static int fake_pin(void *self, void *p, size_t bytes)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "pin");
    if (code) return code;
    check(f->fars < FAKE_FAR, "the fake device has room for %d far pieces", FAKE_FAR);
    f->far[f->fars++] = (fake_piece){ p, bytes, bytes, false, NULL };
    return 0;
}

static int fake_unpin(void *self, void *p)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "unpin");
    run_all(f);
    for (size_t i = 0; i < f->fars; i++)
        if (f->far[i].p == p) {
            f->far[i] = f->far[--f->fars];
            return code;
        }
    test_fail(__FILE__, __LINE__, "unpin", "the memory is not pinned");
}

static int fake_copy(void *self, void *to, const void *from, size_t bytes, hd_way way, void *stream)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "copy");
    if (code) return code;
    check(is_theirs(f, to) == (way != HD_FROM_DEVICE) && is_theirs(f, from) == (way != HD_TO_DEVICE),
          "a copy goes another way than it says");
    f->copies++;
    fake_work *w = put(f, stream);
    w->kind = FAKE_COPY;
    w->to = to;
    w->from = from;
    w->bytes = bytes;
    check(way == HD_WITHIN_DEVICE || !is_recorded(f, stream), "a copy of this machine's memory is recorded");
    /* CUDA keeps the bytes of pageable memory; those of pinned memory are read when the copy runs */
    if (way == HD_TO_DEVICE && !is_far(f, from)) w->kept = memcpy(test_alloc(1, bytes), from, bytes);
    return 0;
}

static int fake_fill(void *self, void *to, int byte, size_t bytes, void *stream)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "fill");
    if (code) return code;
    check(is_theirs(f, to) || is_far(f, to), "a fill of memory that is not the device's");
    fake_work *w = put(f, stream);
    w->kind = FAKE_FILL;
    w->to = to;
    w->byte = byte;
    w->bytes = bytes;
    return 0;
}

static uint64_t capture_of(const fake_device *f, const void *stream)
{
    return is_recorded(f, stream) ? f->recording->number : 0;
}

static int fake_launch(void *self, const hd_launch *l, void *stream)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "launch");
    if (code) return code;
    fake_work *w = put(f, stream);
    w->kind = FAKE_LAUNCH;
    w->launch = *l;
    w->bytes = l->args_bytes;
    w->kept = memcpy(test_alloc(1, l->args_bytes), l->args, l->args_bytes);
    if (!l->prepared) return 0;
    check(!capture_of(f, stream), "a prepared launch in a capture");
    if (*l->prepared) {
        check(*(void **)*l->prepared == f, "a prepared launch of another device");
        f->prepared_runs++;
        return 0;
    }
    *l->prepared = test_alloc(1, sizeof(void *));
    *(void **)*l->prepared = f;
    f->prepared++;
    return 0;
}

static int fake_prepared_destroy(void *self, void *prepared)
{
    fake_device *f = (fake_device *)self;
    check(*(void **)prepared == f, "a prepared launch of another device");
    free(prepared);
    f->prepared--;
    return asked(f, "prepared_destroy");
}

static int fake_wait(void *self, void *stream)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "wait");
    check(!is_recorded(f, stream), "a wait for a stream that is recorded");
    if (is_left_out(f)) return code;
    run_stream(f, stream, f->before + f->works); /* whatever is said of it */
    forget_done(f);
    return code;
}

static int fake_stream_make(void *self, void **stream)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "stream_make");
    if (code) return code;
    f->made = (void **)realloc(f->made, (f->mades + 1) * sizeof *f->made);
    *stream = f->made[f->mades++] = test_alloc(1, 1);
    f->streams++;
    return 0;
}

/* Its address is no other stream's: it is freed in the end. */
static int fake_stream_destroy(void *self, void *stream)
{
    fake_device *f = (fake_device *)self;
    (void)stream;
    f->streams--;
    return asked(f, "stream_destroy");
}

typedef struct fake_event {
    void *stream;
    size_t work;
} fake_event;

/* In a recording: at each replay. */
static void put_event(fake_device *f, void *event, void *stream)
{
    fake_event m = { stream, f->before + f->works };
    if (is_recorded(f, stream)) {
        fake_work *w = put(f, stream);
        w->kind = FAKE_RECORD;
        w->event = event;
    } else {
        memcpy(event, &m, sizeof m);
    }
}

static void put_wait(fake_device *f, void *event, void *stream)
{
    const fake_event *m = (const fake_event *)event;
    fake_work *w = put(f, stream);
    w->kind = FAKE_WAIT;
    w->event = event;
    w->mark = m->work;
    w->mark_stream = m->stream;
}

static int fake_event_record(void *self, void **event, void *stream, uint64_t capture)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "event_record");
    if (code) return code;
    check(capture == capture_of(f, stream), "an event is recorded as if its stream were captured otherwise");
    if (!*event) *event = test_alloc(1, sizeof(fake_event)), f->events++;
    put_event(f, *event, stream);
    return 0;
}

static int fake_event_wait(void *self, void *event, void *stream, uint64_t capture)
{
    fake_device *f = (fake_device *)self;
    int code = asked(f, "event_wait");
    if (code) return code;
    check(capture == capture_of(f, stream), "an event is waited for as if its stream were captured otherwise");
    if (f->skip_wait && --f->skip_wait == 0) return f->skipped = true, 0;
    if (is_left_out(f)) return 0;
    put_wait(f, event, stream);
    return 0;
}

static int fake_event_sync(void *self, void *event)
{
    fake_device *f = (fake_device *)self;
    const fake_event *m = (const fake_event *)event;
    int code = asked(f, "event_sync");
    check(!is_recorded(f, m->stream), "a wait for an event of a stream that is recorded");
    if (is_left_out(f)) return code;
    run_stream(f, m->stream, m->work); /* whatever is said of it */
    forget_done(f);
    return code;
}

static int fake_event_destroy(void *self, void *event)
{
    fake_device *f = (fake_device *)self;
    free(event);
    f->events--;
    return asked(f, "event_destroy");
}

static int fake_stream_state(void *self, void *stream, hd_stream_state *state)
{
    fake_device *f = (fake_device *)self;
    state->capture = capture_of(f, stream);
    state->id = state->capture ? 0 : (uint64_t)(uintptr_t)stream + (f->renewed << 48); /* as CUDA has it */
    return asked(f, "stream_state");
}

static int fake_reach(void *self, const void *p, hd_reach *reach)
{
    fake_device *f = (fake_device *)self;
    const fake_piece *k = piece_of(f->piece, f->pieces, p);
    *reach = k && k->others ? HD_REACH_OTHER : k ? HD_REACH_DEVICE : is_far(f, p) ? HD_REACH_BOTH : HD_REACH_NONE;
    return asked(f, "reach");
}

static const char *fake_error(void *self, int code)
{
    (void)self;
    return code == HD_DEVICE_NO_MEMORY ? "out of memory"
           : code == FAKE_INVALID      ? "invalid argument"
                                       : "unspecified launch failure";
}

/* ---- Host machines --------------------------------------------------------------------------- */

/* Machines are used again: the stacks of a new one cost a page fault each. */
static struct {
    simt_machine *machine;
    fake_device *of; /* NULL: none has it */
} pool[64];
enum { POOL = sizeof pool / sizeof *pool };
static pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;

/* What kernels read: the clock of the fake device that has their machine. Each reading is later than the one before. */
static uint64_t fake_unix_ns(void *self)
{
    fake_device *f = *(fake_device **)self;
    return f->clock_ns += 1000;
}

static void take_machine(fake_device *f)
{
    int i = 0;
    pthread_mutex_lock(&pool_mutex);
    while (i < POOL && pool[i].of) i++;
    check(i < POOL, "there are more than %d fake devices at a time", POOL);
    if (!pool[i].machine) {
        hd_seams seams = hd_seams_os;
        seams.time.unix_ns = fake_unix_ns;
        seams.time.self = &pool[i].of;
        must(simt_machine_open(&seams, &pool[i].machine));
    }
    pool[i].of = f;
    f->machine = pool[i].machine;
    pthread_mutex_unlock(&pool_mutex);
}

static void give_machine(const fake_device *f)
{
    simt_machine_forget(f->machine);
    pthread_mutex_lock(&pool_mutex);
    for (int i = 0; i < POOL; i++)
        if (pool[i].of == f) pool[i].of = NULL;
    pthread_mutex_unlock(&pool_mutex);
}

/* Its kernels wait for nothing. */
static int fake_load(void *self, const hd_gpu *gpu) { return (void)self, (void)gpu, 0; }

/* ---- For tests ------------------------------------------------------------------------------- */

void fake_init(fake_device *f)
{
    enum { EVERY = 16 }; /* each such device of a program is not quick: to guard memory takes half of a test's time */
    memset(f, 0, sizeof *f);
    hd_device_seam seam = { fake_find,
                            fake_use,
                            fake_take,
                            fake_give,
                            fake_take_growing,
                            fake_grow,
                            fake_take_pinned,
                            fake_give_pinned,
                            fake_pin,
                            fake_unpin,
                            fake_copy,
                            fake_fill,
                            fake_launch,
                            fake_load,
                            fake_prepared_destroy,
                            fake_wait,
                            fake_stream_make,
                            fake_stream_destroy,
                            fake_stream_state,
                            fake_event_record,
                            fake_event_wait,
                            fake_event_sync,
                            fake_event_destroy,
                            fake_reach,
                            fake_error,
                            f };
    f->seam = seam;
    static atomic_uint inits;
    f->quick = !test_is_long() && atomic_fetch_add(&inits, 1) % EVERY != 0;
    f->poison = 0xa5;
    f->page = (uint64_t)sysconf(_SC_PAGESIZE);
    f->work = (fake_work *)malloc(FAKE_WORK * sizeof *f->work); /* cleared piece by piece, as it is used */
    check(f->work, "no memory for the work of a fake device");
    f->clock_ns = 1800000000000000000; /* in 2027 */
    take_machine(f);
}

void fake_finish(fake_device *f)
{
    f->pace = FAKE_LAZY;
    run_all(f);
}

void fake_settled(fake_device *f)
{
    run_all(f);
    check(f->pieces == 0, "%zu pieces of device memory were not given back", f->pieces);
    check(f->fars == 0, "%zu pieces of far memory were not given back", f->fars);
    check(f->events == 0, "%zu events were not given back", f->events);
    check(f->streams == 0, "%zu streams were not given back", f->streams);
    check(f->prepared == 0, "%zu prepared launches were not given back", f->prepared);
    check(f->device == 0, "the thread was left with device %d", f->device);
    give_machine(f);
    for (size_t i = 0; i < f->mades; i++) free(f->made[i]);
    free(f->made);
    free(f->work);
}

void *fake_array(fake_device *f, const void *from, size_t bytes)
{
    void *p = NULL;
    uint64_t fail_at = f->fail_at, calls = f->calls;
    f->fail_at = 0;
    check(fake_take(f, &p, bytes) == 0, "no array of %zu bytes", bytes);
    mprotect(p, bytes, PROT_READ | PROT_WRITE);
    if (from) memcpy(p, from, bytes);
    if (!f->quick) mprotect(p, bytes, PROT_NONE);
    f->fail_at = fail_at;
    f->calls = calls;
    return p;
}

void *fake_pinned_array(fake_device *f, const void *from, size_t bytes)
{
    void *p = NULL;
    check(fake_take_pinned(f, &p, bytes) == 0, "no pinned array of %zu bytes", bytes);
    f->calls--;
    return memcpy(p, from, bytes);
}

void *fake_array_of_another(fake_device *f, size_t bytes)
{
    void *p = fake_array(f, NULL, bytes);
    f->piece[f->pieces - 1].others = true;
    return p;
}

void fake_read(fake_device *f, void *to, const void *from, size_t bytes)
{
    run_all(f);
    let_in(f, PROT_READ);
    memcpy(to, from, bytes);
    let_in(f, PROT_NONE);
}

void fake_write(fake_device *f, void *to, const void *from, size_t bytes)
{
    run_all(f);
    let_in(f, PROT_READ | PROT_WRITE);
    memcpy(to, from, bytes);
    let_in(f, PROT_NONE);
}

void fake_drop(fake_device *f, void *p)
{
    uint64_t fail_at = f->fail_at, calls = f->calls;
    const fake_piece *far = piece_of(f->far, f->fars, p);
    f->fail_at = 0;
    if (far)
        fake_give_pinned(f, p, far->bytes);
    else
        fake_give(f, p);
    f->fail_at = fail_at;
    f->calls = calls;
}

void fake_record(fake_device *f, void *stream)
{
    check(!f->recording, "one recording at a time");
    f->recording = (fake_recording *)test_alloc(1, sizeof *f->recording);
    f->recording->number = ++f->recordings;
    f->recording->stream = stream;
    f->recording->work = (fake_work *)test_alloc(FAKE_RECORDED, sizeof *f->recording->work);
}

void fake_branch(fake_device *f, void *stream) { f->recording->branch = stream; }

fake_recording *fake_recorded(fake_device *f)
{
    fake_recording *r = f->recording;
    f->recording = NULL;
    return r;
}

void fake_replay(fake_device *f, const fake_recording *r, void *stream)
{
    for (size_t i = 0; i < r->works; i++) {
        const fake_work *from = &r->work[i];
        if (from->kind == FAKE_RECORD) {
            put_event(f, from->event, stream);
        } else if (from->kind == FAKE_WAIT) {
            put_wait(f, from->event, stream);
        } else {
            fake_work *w = put(f, stream);
            *w = *from;
            w->stream = stream;
            if (from->kept) w->kept = memcpy(test_alloc(1, from->bytes), from->kept, from->bytes);
        }
    }
}

void fake_forget(fake_recording *r)
{
    for (size_t i = 0; i < r->works; i++) free(r->work[i].kept);
    free(r->work);
    free(r);
}
