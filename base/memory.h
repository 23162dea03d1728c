/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.h - the memory of a table whose batches are run by kernels, as a list of arrays. A design states each array
 * once (hd_gpu.memory); from the row follow how it is taken and filled, what the host machine lets kernels touch, and
 * what is copied between a device and the reference's state.
 */
#ifndef HD_MEMORY_H
#define HD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    HD_AS_IT_COMES = -1,  /* memory that is filled with nothing */
    HD_MEMORY_MOST = 128, /* arrays, planes or regions that a design has */
};

/* Where an array is on a device; the host machine takes each by itself. */
typedef enum hd_put {
    HD_TOGETHER,    /* all of these are one allocation ...                                              */
    HD_OF_BATCH,    /* ... with these, which keep nothing from one batch to the next (hd_gpu_state.window_most) */
    HD_APART,       /* an allocation of its own                                                         */
    HD_GROWS,       /* likewise, which can grow (hd_gpu_state.page)                                       */
    HD_HOST_MEMORY, /* this machine's memory, pinned                                                    */
    HD_WITHIN       /* a part of the array that has the same `field`: kernels touch only such parts of it */
} hd_put;

/* What an array holds. */
typedef enum hd_holds {
    HD_HOLDS_SCRATCH, /* room for kernels, on every machine                                      */
    HD_HOLDS_ENTRIES, /* on the host machine it is the reference's; on a device copied from there */
    HD_HOLDS_VALUES,  /* likewise; copied only where values are wanted                           */
    HD_HOLDS_SHARED,  /* on the host machine it is the reference's; never copied                 */
    HD_HOLDS_MIRROR   /* room on every machine; what a device has of it is copied                */
} hd_holds;

/* An array. Its address is a pointer in the design's state of the table. */
typedef struct hd_memory {
    const char *what;     /* as messages call it */
    const char *name;     /* as findings of the host machine call it; NULL: kernels may not touch it */
    size_t field;         /* where in the state its address is */
    uint64_t count, size; /* bytes of one; 0 of either: there is none, and its address is NULL */
    int fill;             /* the byte that it is filled with, or HD_AS_IT_COMES */
    hd_put put;
    hd_holds holds;
    /* Where the reference's view (hd_gpu.view_of) has the address of the same array, or, of one HD_WITHIN, the same
     * bytes. Of arrays that are copied. */
    size_t twin;
    uint64_t twin_from; /* the array is so many bytes behind the beginning of its twin */
    uint64_t unused;    /* the last so many are not copied */
    size_t within;      /* HD_WITHIN: bytes from that address */
} hd_memory;

/* Memory as the host machine is to know it. */
typedef struct hd_region {
    const void *p; /* NULL: there is none */
    uint64_t bytes;
    const char *name;
} hd_region;

/* Memory of a device, or of an array HD_HOST_MEMORY, and the same of the reference's state. */
typedef struct hd_plane {
    const char *what;
    void *there, *here;
    uint64_t bytes;
} hd_plane;

/* The address at `field` of a struct becomes p. */
static inline void hd_field_set(void *of, size_t field, void *p) { memcpy((char *)of + field, &p, sizeof p); }
static inline void *hd_field(const void *of, size_t field)
{
    void *p;
    memcpy(&p, (const char *)of + field, sizeof p);
    return p;
}

static inline uint64_t hd_memory_size(const hd_memory *m) { return m->count * m->size; }

/* Whether a backend takes it; else it is the reference's, or a part of another. */
static inline bool hd_memory_is_taken(const hd_memory *m, bool device)
{
    return m->put != HD_WITHIN && (device || m->holds == HD_HOLDS_SCRATCH || m->holds == HD_HOLDS_MIRROR);
}

/* Leaves of n rows those that a backend takes; how many. */
int hd_memory_taken(hd_memory *all, int n, bool device);
/* Bytes of those that are taken on every machine, besides pinned ones. */
uint64_t hd_memory_scratch(const hd_memory *all, int n);
/* What kernels may touch; how many. */
int hd_memory_regions(const void *state, const hd_memory *all, int n, hd_region *regions);
/* What is copied between a device and the reference's view; how many. pinned: of each, whether it is HD_HOST_MEMORY;
 * may be NULL. */
int hd_memory_planes(const void *state, const hd_memory *all, int n, void *view, bool values, hd_plane *planes,
                     bool *pinned);

/* A part of the words that kernels count in (HD_WITHIN); field: where their address is. */
hd_memory hd_memory_word(const char *name, size_t field, size_t within, uint64_t bytes);

/* Appends rows, `bytes` in all; how many. */
static inline int hd_memory_add(hd_memory *all, const hd_memory *rows, size_t bytes)
{
    memcpy(all, rows, bytes);
    return (int)(bytes / sizeof *rows);
}

#endif
