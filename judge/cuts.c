/* SPDX-License-Identifier: Apache-2.0
 *
 * cuts.c - see cuts.h.
 */
#include "judge/cuts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum {
    DESCRIPTOR = 2000,
    ALL_OF = 6, /* sectors of which every subset is tried */
    MOST_OF_KIND = 24,
    LAGS = 4 /* of so many files one whose processes see all that was stored */
};

/* ---- The file -------------------------------------------------------------------------------- */

static const char no_memory[] = "no memory";

/* More room for an array that a program fills: twice as much as it needs. */
static bool grow(void **p, size_t *room, size_t needs, size_t element)
{
    if (needs <= *room) return true;
    void *more = realloc(*p, 2 * needs * element);
    if (!more) return false; /* GCOVR_EXCL_LINE: no test takes all memory */
    *p = more;
    *room = 2 * needs;
    return true;
}

static bool put(cuts_file *f, uint64_t offset, const uint8_t *data, size_t bytes)
{
    size_t end = (size_t)offset + bytes;
    void *p = f->bytes;
    if (!grow(&p, &f->room, end, 1)) return false;
    f->bytes = (uint8_t *)p;
    if (end > f->size) memset(f->bytes + f->size, 0, end - f->size);
    if (end > f->size) f->size = end;
    if (bytes) memcpy(f->bytes + offset, data, bytes);
    return true;
}

bool cuts_copy(cuts_file *to, const cuts_file *f)
{
    *to = (cuts_file){ .there = f->there };
    return put(to, 0, f->bytes, f->size);
}

/* The first thing that is wrong. */
static void object(cuts *c, const char *what)
{
    if (!c->wrong) c->wrong = what;
}

static void put_now(cuts *c, uint64_t offset, const uint8_t *data, size_t bytes)
{
    if (!put(&c->file, offset, data, bytes)) object(c, no_memory);
}

static void record(cuts *c, cuts_kind kind, uint64_t offset, const void *data, size_t bytes)
{
    void *all = c->event, *copy = data && bytes ? malloc(bytes) : NULL;
    if ((data && bytes && !copy) || !grow(&all, &c->room, c->events + 1, sizeof *c->event)) {
        /* GCOVR_EXCL_START: no test takes all memory */
        free(copy);
        object(c, no_memory);
        return;
        /* GCOVR_EXCL_STOP */
    }
    c->event = (cuts_event *)all;
    c->event[c->events++] = (cuts_event){ kind, offset, bytes, (uint8_t *)copy };
    if (copy) memcpy(copy, data, bytes);
}

void cuts_mark(cuts *c, uint64_t number) { record(c, CUTS_MARK, number, NULL, 0); }

/* ---- The seam -------------------------------------------------------------------------------- */

static int failed_with(int why) { return errno = why, -1; }

/* Whether this call fails. bytes: of a transfer, which may become short; NULL: it is none. */
static bool fails(cuts *c, const char *call, size_t *bytes)
{
    if (c->dead || c->wrong) return errno = EIO, true;
    if (++c->calls != c->fail_at) return false;
    if (!bytes && (c->fail_with == CUTS_SHORT || c->fail_with == EINTR)) return false;
    c->failed = call;
    if (c->fail_with == CUTS_SHORT) return *bytes = *bytes ? 1 : 0, false;
    errno = c->fail_with;
    return true;
}

static int cuts_open_file(void *self, const char *path, int flags, int mode)
{
    cuts *c = (cuts *)self;
    (void)path, (void)mode;
    if (fails(c, "open", NULL)) return -1;
    if (c->file.there && flags & O_EXCL) return failed_with(EEXIST);
    if (!c->file.there && !(flags & O_CREAT)) return failed_with(ENOENT);
    if (!c->file.there) record(c, CUTS_CREATE, 0, NULL, 0);
    c->file.there = true;
    return DESCRIPTOR + c->open++;
}

enum { PAGES = sizeof((cuts *)NULL)->pages / sizeof(cuts_pages) };

static void take_stores(cuts *c)
{
    for (int i = 0; i < PAGES; i++) {
        const cuts_pages *p = &c->pages[i];
        if (p->at) put_now(c, p->offset, p->at, p->bytes);
    }
}

static void *cuts_map(void *self, void *at, size_t bytes, int fd, uint64_t offset)
{
    cuts *c = (cuts *)self;
    if (fd >= 0 && fails(c, "map", NULL)) return NULL;
    uint8_t *p = at ? (uint8_t *)at : (uint8_t *)hd_seams_os.file.map(NULL, NULL, bytes, -1, 0);
    if (fd < 0 || !p) return p;
    int i = 0;
    while (i < PAGES && c->pages[i].at) i++;
    if (i == PAGES || offset + bytes > c->file.size) {
        object(c, "pages that are not in the file are mapped, or too many");
        if (!at) hd_seams_os.file.unmap(NULL, p, bytes);
        return errno = EIO, NULL;
    }
    c->pages[i] = (cuts_pages){ p, bytes, offset };
    return memcpy(p, c->file.bytes + offset, bytes);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

enum { WORD = 8 };

/* What has been stored in these bytes since the last time becomes events. Both ends are those of words. */
static void note_words(cuts *c, size_t from, size_t end)
{
    const uint8_t *is = c->lines.at, *was = c->file.bytes;
    for (size_t to; from < end; from = to) {
        for (to = from; to < end && memcmp(is + to, was + to, WORD) != 0;) to += WORD;
        if (to > from) {
            record(c, CUTS_STORE, from, is + from, to - from);
            put_now(c, from, is + from, to - from);
        }
        to += WORD;
    }
}

/* The same of all lines. */
static void note_stores(cuts *c)
{
    const size_t bytes = c->lines.at && !c->dead ? c->lines.bytes : 0;
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < CUTS_SECTOR ? bytes - at : CUTS_SECTOR;
        if (memcmp(c->lines.at + at, c->file.bytes + at, n) != 0) note_words(c, at, at + n);
    }
}

void cuts_die(cuts *c)
{
    note_stores(c);
    c->dead = true;
}

/* False: the process is dead. */
static bool lives_on(cuts *c)
{
    if (++c->steps == c->die_at) cuts_die(c);
    return !c->dead;
}

static void *cuts_map_lines(void *self, size_t bytes, int fd)
{
    cuts *c = (cuts *)self;
    (void)fd;
    if (fails(c, "map_lines", NULL)) return NULL;
    size_t there = bytes < c->file.size ? bytes : c->file.size;
    if (c->lines.at) object(c, "lines are mapped twice");
    uint8_t *p = (uint8_t *)hd_seams_os.file.map(NULL, NULL, bytes, -1, 0);
    if (!p) return NULL;
    c->lines = (cuts_pages){ p, there / WORD * WORD, 0 };
    c->lines_used = true;
    if (there) memcpy(p, c->file.bytes, there);
    return p;
}

static void cuts_write_back(void *self, const void *p, size_t bytes)
{
    cuts *c = (cuts *)self;
    const uint64_t at = (uint64_t)((const uint8_t *)p - c->lines.at), from = at / CUTS_LINE * CUTS_LINE;
    if (!c->lines.at || at + bytes > c->lines.bytes) object(c, "lines that are not mapped are written back");
    if (!lives_on(c) || c->wrong) return;
    note_words(c, (size_t)at / WORD * WORD, (size_t)(at + bytes + WORD - 1) / WORD * WORD);
    if (!c->keeps || !c->keeps(c, from))
        record(c, CUTS_BACK, from, NULL, (size_t)(at + bytes - from + CUTS_LINE - 1) / CUTS_LINE * CUTS_LINE);
}

static void cuts_fence(void *self)
{
    cuts *c = (cuts *)self;
    if (!lives_on(c)) return;
    note_stores(c);
    if (!c->fences_fail) record(c, CUTS_FENCE, 0, NULL, 0);
}

static void cuts_unmap(void *self, void *p, size_t bytes)
{
    cuts *c = (cuts *)self;
    take_stores(c);
    note_stores(c);
    if (c->lines.at == p) c->lines.at = NULL;
    for (int i = 0; i < PAGES; i++)
        if (c->pages[i].at == p) c->pages[i].at = NULL;
    hd_seams_os.file.unmap(NULL, p, bytes);
}

static ptrdiff_t cuts_read_at(void *self, int fd, void *p, size_t bytes, uint64_t offset)
{
    cuts *c = (cuts *)self;
    (void)fd;
    if (fails(c, "read_at", &bytes)) return -1;
    take_stores(c);
    note_stores(c);
    size_t left = offset < c->file.size ? c->file.size - (size_t)offset : 0;
    if (bytes > left) bytes = left;
    if (bytes) memcpy(p, c->file.bytes + offset, bytes);
    return (ptrdiff_t)bytes;
}

static ptrdiff_t cuts_write_at(void *self, int fd, const void *p, size_t bytes, uint64_t offset)
{
    cuts *c = (cuts *)self;
    (void)fd;
    if (fails(c, "write_at", &bytes)) return -1;
    note_stores(c);
    put_now(c, offset, (const uint8_t *)p, bytes);
    record(c, CUTS_WRITE, offset, p, bytes);
    if (c->lines.at && offset < c->lines.bytes)
        memcpy(c->lines.at + offset, p, bytes < c->lines.bytes - offset ? bytes : c->lines.bytes - (size_t)offset);
    return (ptrdiff_t)bytes;
}

static int cuts_size(void *self, int fd, uint64_t *bytes)
{
    cuts *c = (cuts *)self;
    (void)fd;
    *bytes = c->file.size;
    return fails(c, "size", NULL) ? -1 : 0;
}

static int cuts_sync_data(void *self, int fd)
{
    cuts *c = (cuts *)self;
    (void)fd;
    bool failed = fails(c, "sync_data", NULL);
    if (c->dead) return -1;
    note_stores(c);
    record(c, failed ? CUTS_SYNC_FAILED : CUTS_SYNC, 0, NULL, 0);
    return failed ? -1 : 0;
}

static int cuts_sync_folder(void *self, const char *path)
{
    cuts *c = (cuts *)self;
    (void)path;
    if (fails(c, "sync_folder", NULL)) return -1;
    record(c, CUTS_FOLDER, 0, NULL, 0);
    return 0;
}

static int cuts_lock(void *self, int fd)
{
    cuts *c = (cuts *)self;
    (void)fd;
    if (fails(c, "lock", NULL)) return -1;
    return c->open > 1 ? failed_with(EWOULDBLOCK) : 0;
}

static int cuts_close_file(void *self, int fd)
{
    cuts *c = (cuts *)self;
    (void)fd;
    c->open--;
    return fails(c, "close", NULL) ? -1 : 0;
}

static int cuts_unlink(void *self, const char *path)
{
    cuts *c = (cuts *)self;
    (void)path;
    if (fails(c, "unlink", NULL)) return -1;
    c->file.there = false;
    c->file.size = 0;
    record(c, CUTS_UNLINK, 0, NULL, 0);
    return 0;
}

void cuts_begin(cuts *c, const cuts_file *start)
{
    memset(c, 0, sizeof *c);
    if (start && !(cuts_copy(&c->start, start) && cuts_copy(&c->file, start))) object(c, no_memory);
    for (size_t at = 0, n; start && at < start->later_bytes; at += n) {
        n = start->later_bytes - at < WORD ? start->later_bytes - at : WORD;
        bool same = at + n <= c->file.size && memcmp(c->file.bytes + at, start->later + at, n) == 0;
        if (!same) record(c, CUTS_STORE, at, start->later + at, n);
        if (!same) put_now(c, at, start->later + at, n);
    }
    c->seams = hd_seams_os;
    c->seams.file = (hd_file_seam){ .open = cuts_open_file,
                                    .size = cuts_size,
                                    .close = cuts_close_file,
                                    .unlink = cuts_unlink,
                                    .sync_folder = cuts_sync_folder,
                                    .read_at = cuts_read_at,
                                    .write_at = cuts_write_at,
                                    .sync_data = cuts_sync_data,
                                    .lock = cuts_lock,
                                    .map = cuts_map,
                                    .unmap = cuts_unmap,
                                    .map_lines = cuts_map_lines,
                                    .write_back = cuts_write_back,
                                    .fence = cuts_fence,
                                    .self = c };
}

void cuts_end(cuts *c)
{
    for (size_t i = 0; i < c->events; i++) free(c->event[i].data);
    free(c->event);
    free(c->start.bytes);
    free(c->file.bytes);
    memset(c, 0, sizeof *c);
}

/* ---- Cuts ------------------------------------------------------------------------------------ */

/* A part of a write that is there as a whole or not, torn ones apart; or a word that was stored. */
typedef struct part {
    uint64_t offset;
    const uint8_t *data;
    size_t bytes;
    bool stored, back; /* a word; its line was written back since */
    bool lost, sure;   /* a sync of it has failed; it was synced, or a fence has followed */
} part;

/* What a cut at an event leaves open. */
typedef struct point {
    const cuts *c;
    part *unit;
    size_t units, room;
    size_t since;   /* units before are sure */
    cuts_file base; /* what these left */
    size_t *open;   /* (opens) numbers of units that may be there or not */
    size_t opens;
    bool *there;                     /* (opens) which are, in the file that is tried */
    size_t torn, torn_at;            /* of these, one that is there up to a byte; torn_at 0: none */
    bool named, may_lack_name, anew; /* anew: what it was at first is gone */
    cuts_cut how;
    uint64_t tried;
    cuts_try *try_it;
    void *context;
    bool over, lacks_memory; /* over: no other file is to be tried */
} point;

static void lack_memory(point *p) { p->over = p->lacks_memory = true; }

static void add_units(point *p, const cuts_event *e)
{
    const size_t of = e->kind == CUTS_STORE ? (size_t)WORD : (size_t)CUTS_SECTOR;
    for (size_t at = 0, n; at < e->bytes && !p->over; at += n) {
        void *units = p->unit;
        n = of - (size_t)((e->offset + at) % of);
        if (n > e->bytes - at) n = e->bytes - at;
        if (!grow(&units, &p->room, p->units + 1, sizeof *p->unit)) lack_memory(p);
        p->unit = (part *)units;
        if (!p->over)
            p->unit[p->units++] = (part){ e->offset + at, e->data + at, n, e->kind == CUTS_STORE, false, false, false };
    }
}

/* What becomes sure of units from `since` on. Returns the first one that is not. */
static size_t settle(point *p, const cuts_event *e, size_t since)
{
    for (size_t u = since; u < p->units; u++) {
        part *is = &p->unit[u];
        if (e->kind == CUTS_SYNC && !is->stored && !is->lost) is->sure = true;
        if (e->kind == CUTS_SYNC_FAILED && !is->stored && !is->sure) is->lost = true;
        if (e->kind == CUTS_BACK && is->stored && is->offset - e->offset < e->bytes) is->back = true;
        if (e->kind == CUTS_FENCE && is->back) is->sure = true;
    }
    while (since < p->units && p->unit[since].sure) since++;
    return since;
}

/* Events before `end`. */
static void find_units(point *p, size_t end)
{
    size_t since = 0; /* all units before are sure */
    p->named = p->c->start.there;
    for (size_t i = 0; i < end; i++) {
        const cuts_event *e = &p->c->event[i];
        if (e->kind == CUTS_WRITE || e->kind == CUTS_STORE)
            add_units(p, e);
        else
            since = settle(p, e, since);
        if (e->kind == CUTS_CREATE) p->may_lack_name = p->named = true;
        if (e->kind == CUTS_FOLDER) p->may_lack_name = false;
        if (e->kind == CUTS_UNLINK) p->anew = true, p->named = false, p->units = since = 0;
        if (e->kind == CUTS_MARK) p->how.mark = e->offset;
    }
    p->open = (size_t *)calloc(p->units + 1, sizeof *p->open);
    p->there = (bool *)calloc(p->units + 1, sizeof *p->there);
    if (!p->open || !p->there) lack_memory(p);
    for (size_t u = since; u < p->units && !p->over; u++)
        if (!p->unit[u].sure) p->open[p->opens++] = u;
    p->since = since;
}

/* What is sure before all that is open, which is the same in each file. */
static void make_base(point *p)
{
    const cuts_file none = { .there = false };
    bool made = cuts_copy(&p->base, p->anew ? &none : &p->c->start);
    for (size_t u = 0; u < p->since && made; u++)
        made = put(&p->base, p->unit[u].offset, p->unit[u].data, p->unit[u].bytes);
    if (!made) lack_memory(p);
}

/* The units that are open, as p->there has them; all: as if all were there. */
static bool make_file(point *p, cuts_file *left, bool all)
{
    bool made = cuts_copy(left, &p->base);
    size_t o = 0;
    p->how.lost = 0;
    for (size_t u = p->since; u < p->units && made; u++) {
        const part *is = &p->unit[u];
        bool is_open = o < p->opens && p->open[o] == u, torn = is_open && p->torn_at && p->torn == o && !is->stored;
        bool lost = is_open && !all && (!p->there[o] || torn);
        if (lost && p->how.lost++ == 0) p->how.first = is->offset;
        if (!lost || torn) made = put(left, is->offset, is->data, torn && !all ? p->torn_at : is->bytes);
        o += is_open;
    }
    return made;
}

static void try_one(point *p)
{
    cuts_file left = { .there = false }, later = { .there = false };
    if (p->over) return;
    bool sees = p->c->lines_used && p->opens && p->tried % LAGS == 0;
    if (sees && !make_file(p, &later, true)) lack_memory(p);
    if (!make_file(p, &left, false)) lack_memory(p);
    left.later = later.bytes;
    left.later_bytes = later.size;
    left.there = p->named;
    if (!p->over) p->over = !p->try_it(p->context, &left, &p->how);
    p->tried++;
    free(left.bytes);
    free(later.bytes);
}

/* Those from `from` to `to` are there, or those alone are not. */
static void try_range(point *p, size_t from, size_t to, bool there)
{
    for (size_t o = 0; o < p->opens; o++) p->there[o] = (o >= from && o < to) == there;
    try_one(p);
}

/* Beginnings and ends, one alone, all but one. */
static void try_kinds(point *p)
{
    size_t step = p->opens / MOST_OF_KIND + 1;
    for (size_t o = 0; o <= p->opens; o += step) {
        try_range(p, 0, o, true);
        try_range(p, o, p->opens, true);
        if (o < p->opens) try_range(p, o, o + 1, true);
        if (o < p->opens) try_range(p, o, o + 1, false);
    }
    try_range(p, 0, p->opens, true);
}

static void try_random(point *p, uint64_t random, hd_rng *chance)
{
    for (uint64_t i = 0; i < random; i++) {
        for (size_t o = 0; o < p->opens; o++) p->there[o] = hd_rng_below(chance, 2);
        p->torn = (size_t)hd_rng_below(chance, p->opens);
        p->torn_at = i % 2 ? 1 + (size_t)hd_rng_below(chance, p->unit[p->open[p->torn]].bytes) : 0;
        if (p->torn_at) p->there[p->torn] = true;
        try_one(p);
    }
    p->torn_at = 0;
}

static void try_nameless(point *p)
{
    const cuts_file none = { .there = false };
    const cuts_cut how = { .event = p->how.event, .mark = p->how.mark, .nameless = true };
    if (!p->over) p->over = !p->try_it(p->context, &none, &how);
    p->tried++;
}

/* False: no other point is to be tried. */
static bool try_point(point *p, size_t end, uint64_t random, hd_rng *chance)
{
    p->how.event = end;
    find_units(p, end);
    p->how.open = p->opens;
    make_base(p);
    for (uint64_t set = 0; p->opens <= ALL_OF && set < 1ull << p->opens && !p->over; set++) {
        for (size_t o = 0; o < p->opens; o++) p->there[o] = set >> o & 1;
        try_one(p);
    }
    if (p->opens > ALL_OF) try_kinds(p);
    if (p->opens && !p->over) try_random(p, random, chance);
    if (p->may_lack_name) try_nameless(p);
    free(p->unit);
    free(p->base.bytes);
    free(p->open);
    free(p->there);
    return !p->over;
}

/* A cut between two writes or stores leaves what one just before the next sync or fence may leave, and no mark comes
 * between. */
const char *cuts_each(const cuts *c, size_t from, uint64_t random, hd_rng *chance, cuts_try *try_it, void *context)
{
    for (size_t end = from; end <= c->events && !c->wrong; end++) {
        cuts_kind next = end < c->events ? c->event[end].kind : CUTS_SYNC;
        if (next == CUTS_WRITE || next == CUTS_CREATE || next == CUTS_STORE || next == CUTS_BACK) continue;
        point p = { .c = c, .try_it = try_it, .context = context };
        if (!try_point(&p, end, random, chance)) return p.lacks_memory ? no_memory : NULL;
    }
    return c->wrong;
}
