/* SPDX-License-Identifier: Apache-2.0
 *
 * link.c - the next access of every request of a trace.
 */
#include "workload/link.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum {
    RUN = 512 << 10, /* requests; 16 MiB */
    NAME_MORE = 64
};

/* Position 0 is no position (they count from 1): an empty place. Any key may be a key. */
typedef struct place {
    uint64_t key, position;
} place;

struct hd_link {
    const hd_seams *seams;
    hd_request *run; /* (RUN)                                  */
    size_t used;     /* of it                                  */
    int fd;          /* of the spill file; -1: there is none   */
    uint32_t runs;   /* in it, numbered from 0                 */
    size_t last;     /* requests of the last one               */
    place *map;      /* (places)                               */
    uint64_t places, keys;
    size_t bytes; /* of this struct with its names          */
    char *name;   /* that the spill file had, (strlen(base) + NAME_MORE) */
    char base[];
};

/* ---- The map --------------------------------------------------------------------------------- */

static place *place_of(place *map, uint64_t places, uint64_t key)
{
    uint64_t h = key * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
    h ^= h >> 32;
    for (uint64_t i = h & (places - 1);; i = (i + 1) & (places - 1))
        if (!map[i].position || map[i].key == key) return &map[i];
}

static hd_status map_grow(hd_link *l)
{
    uint64_t places = l->places ? 2 * l->places : 1024;
    void *p = NULL;
    hd_status e = hd_take(l->seams, "the map of last accesses", places, sizeof(place), &p);
    if (e) return e;
    place *map = (place *)memset(p, 0, (size_t)places * sizeof(place));
    for (uint64_t i = 0; i < l->places; i++)
        if (l->map[i].position) *place_of(map, places, l->map[i].key) = l->map[i];
    hd_give(l->seams, l->map, l->places, sizeof(place));
    l->map = map;
    l->places = places;
    return HD_OK;
}

/* Links the run in memory, whose first request is number `first`, from its end. */
static hd_status run_link(hd_link *l, uint64_t first)
{
    for (size_t i = l->used; i-- > 0;) {
        if (4 * l->keys >= 3 * l->places) {
            hd_status e = map_grow(l);
            if (e) return e;
        }
        place *p = place_of(l->map, l->places, l->run[i].key);
        l->run[i].next = p->position ? (int64_t)p->position : -1;
        l->keys += p->position == 0;
        p->key = l->run[i].key;
        p->position = first + i;
    }
    return HD_OK;
}

/* ---- The spill file: runs one behind the other ------------------------------------------------------------- */

/* Removes the file's name as soon as it is open: whatever ends the process, nothing is left. */
static hd_status spill_unlink(hd_link *l)
{
    const hd_file_seam *file = &l->seams->file;
    if (file->unlink(file->self, l->name) == 0) return HD_OK;
    hd_status e = hd_fail(HD_EIO, "%s: cannot be removed: %s", l->name, strerror(errno));
    file->close(file->self, l->fd);
    l->fd = -1;
    return e;
}

/* A new file. Names that are taken are passed over: no file of another process is ever written. */
static hd_status spill_create(hd_link *l)
{
    static atomic_uint serials;
    const hd_file_seam *file = &l->seams->file;
    for (int tries = 0; l->fd < 0; tries++) {
        snprintf(l->name, strlen(l->base) + NAME_MORE, "%s.%ld-%u.runs", l->base, (long)getpid(),
                 atomic_fetch_add(&serials, 1));
        l->fd = file->open(file->self, l->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (l->fd < 0 && (errno != EEXIST || tries == 100))
            return hd_fail(HD_EIO, "%s: cannot be created: %s", l->name, strerror(errno));
    }
    return spill_unlink(l);
}

static hd_status spill_seek(const hd_link *l, uint32_t number)
{
    const hd_file_seam *file = &l->seams->file;
    if (file->seek(file->self, l->fd, (uint64_t)number * RUN * sizeof *l->run) == 0) return HD_OK;
    return hd_fail(HD_EIO, "%s: cannot seek: %s", l->name, strerror(errno));
}

static hd_status run_write(hd_link *l, uint32_t number)
{
    hd_status e = l->fd < 0 ? spill_create(l) : HD_OK;
    if (!e) e = spill_seek(l, number);
    if (!e) e = hd_file_write_all(l->seams, l->fd, l->name, l->run, l->used * sizeof *l->run);
    if (!e && number == l->runs) {
        l->runs++;
        l->last = l->used;
    }
    return e;
}

static hd_status run_read(hd_link *l, uint32_t number)
{
    size_t got = 0, requests = number + 1 < l->runs ? RUN : l->last, bytes = requests * sizeof *l->run;
    hd_status e = spill_seek(l, number);
    if (!e) e = hd_file_read_at_most(l->seams, l->fd, l->name, l->run, bytes, &got);
    if (!e && got != bytes) e = hd_fail(HD_EIO, "%s: has become shorter", l->name);
    l->used = requests;
    return e;
}

/* ---- In, around and out ---------------------------------------------------------------------- */

hd_status hd_link_put(hd_link *l, const hd_request *r, size_t n)
{
    while (n) {
        if (l->used == RUN) {
            hd_status e = run_write(l, l->runs);
            if (e) return e;
            l->used = 0;
        }
        size_t now = RUN - l->used < n ? RUN - l->used : n;
        memcpy(l->run + l->used, r, now * sizeof *r);
        l->used += now;
        r += now;
        n -= now;
    }
    return HD_OK;
}

hd_status hd_link_finish(hd_link *l, hd_link_emit *emit, void *context)
{
    hd_status e = map_grow(l);
    if (e) return e;
    if (l->runs == 0) { /* all of it is in memory */
        e = run_link(l, 1);
        return e ? e : emit(context, l->run, l->used);
    }
    e = run_write(l, l->runs);
    for (uint32_t i = l->runs; !e && i-- > 0;) {
        if (i + 1 < l->runs) e = run_read(l, i);
        if (!e) e = run_link(l, (uint64_t)i * RUN + 1);
        if (!e) e = run_write(l, i);
    }
    for (uint32_t i = 0; !e && i < l->runs; i++) {
        e = run_read(l, i);
        if (!e) e = emit(context, l->run, l->used);
    }
    return e;
}

hd_status hd_link_open(const hd_seams *seams, const char *path, hd_link **link)
{
    char elsewhere[512];
    if (strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0) {
        const char *folder = getenv("TMPDIR");
        snprintf(elsewhere, sizeof elsewhere, "%.400s/heddle", folder && *folder ? folder : "/tmp");
        path = elsewhere;
    }
    size_t n = strlen(path), bytes = sizeof(hd_link) + n + 1 + n + NAME_MORE;
    void *p = NULL, *run = NULL;
    hd_status e = hd_take(seams, "a linker", 1, bytes, &p);
    if (!e) e = hd_take(seams, "a run of requests", RUN, sizeof(hd_request), &run);
    if (e) {
        hd_give(seams, p, 1, bytes);
        return e;
    }
    hd_link *l = (hd_link *)memset(p, 0, bytes);
    l->seams = seams;
    l->fd = -1;
    l->run = (hd_request *)run;
    l->bytes = bytes;
    memcpy(l->base, path, n);
    l->name = l->base + n + 1;
    *link = l;
    return HD_OK;
}

void hd_link_close(hd_link *l)
{
    if (!l) return;
    if (l->fd >= 0) l->seams->file.close(l->seams->file.self, l->fd);
    hd_give(l->seams, l->map, l->places, sizeof(place));
    hd_give(l->seams, l->run, RUN, sizeof(hd_request));
    hd_give(l->seams, l, 1, l->bytes);
}
