/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_os.c - see fake_os.h.
 */
#include "fuzz/fake_os.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "fuzz/fuzz.h"

static void *take(void *self, size_t bytes, size_t align)
{
    fuzz_world *w = (fuzz_world *)self;
    w->takes++;
    if (w->takes == w->refuse_at || (w->live_most && (bytes > w->live_most || w->live > w->live_most - bytes))) {
        w->refused++;
        return NULL;
    }
    void *p = hd_seams_os.memory.take(hd_seams_os.memory.self, bytes, align);
    if (!p) return NULL;
    w->live += bytes;
    if (w->live > w->peak) w->peak = w->live;
    return p;
}

static void give(void *self, void *p, size_t bytes)
{
    fuzz_world *w = (fuzz_world *)self;
    if (p) w->live -= bytes;
    hd_seams_os.memory.give(hd_seams_os.memory.self, p, bytes);
}

static ptrdiff_t read_some(void *self, int fd, void *p, size_t bytes)
{
    fuzz_world *w = (fuzz_world *)((char *)self - offsetof(fuzz_world, shelf));
    return w->shelf.seams.file.read(self, fd, p, w->read_most && bytes > w->read_most ? (size_t)w->read_most : bytes);
}

static int size_of(void *self, int fd, uint64_t *bytes)
{
    fuzz_world *w = (fuzz_world *)((char *)self - offsetof(fuzz_world, shelf));
    int e = w->shelf.seams.file.size(self, fd, bytes);
    if (w->pipes) *bytes = 0;
    return e;
}

void fuzz_world_open(fuzz_world *w)
{
    memset(w, 0, sizeof *w);
    judge_shelf_open(&w->shelf);
    w->seams = w->shelf.seams;
    w->seams.file.read = read_some;
    w->seams.file.size = size_of;
    w->seams.memory = (hd_memory_seam){ take, give, w };
}

static bool among(const char *name, const char *const *names)
{
    for (; names && *names; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

const char *fuzz_world_close(fuzz_world *w, const char *const *files)
{
    const char *why = NULL;
    if (w->live)
        why = fuzz_say("%" PRIu64 " bytes were not given back", w->live);
    else if (judge_shelf_descriptors(&w->shelf))
        why = fuzz_say("%" PRIu64 " files are still open", judge_shelf_descriptors(&w->shelf));
    for (int i = 0; i < SHELF_FILES && !why; i++)
        if (w->shelf.file[i].there && !among(w->shelf.file[i].name, files))
            why = fuzz_say("the file %s was left behind", w->shelf.file[i].name);
    judge_shelf_close(&w->shelf);
    return why;
}

bool fuzz_world_put(fuzz_world *w, const char *name, const uint8_t *bytes, size_t n)
{
    const hd_file_seam *file = &w->seams.file;
    int fd = file->open(file->self, name, O_WRONLY | O_CREAT | O_TRUNC, 0);
    bool whole = fd >= 0 && hd_file_write_all(&w->seams, fd, name, bytes, n) == HD_OK;
    if (fd >= 0) file->close(file->self, fd);
    return whole;
}
