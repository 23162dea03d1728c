/* SPDX-License-Identifier: Apache-2.0
 *
 * backend.h - a design whose batches are run by kernels, to the two backends that run them (hd_gpu): the host SIMT
 * machine (backend_host.c) and a device (backend_cuda.c). A backend manages memory, streams, the arrays of a batch, and
 * which batches may run together; the design knows its entries, its kernels and their argument. gpu/hkv/launch.c is an
 * example.
 */
#ifndef HD_BACKEND_H
#define HD_BACKEND_H

#include "base/design.h"
#include "base/memory.h"

/* ---- What a design says of itself ------------------------------------------------------------ */

enum { HD_STATE_MOST = 1 << 13 /* bytes of a design's state */ };

typedef struct hd_word hd_word; /* concurrency/word.h */

/* What a design's state of a table on a backend begins with. */
typedef struct hd_gpu_state {
    hd_info info;
    bool device; /* on a device, or on the host machine */
    /* Windows of lists, fetches and passes have no more items than this. 0: as suits the design. */
    uint64_t window_most;
    uint64_t page; /* memory that can grow comes in multiples of so many bytes; 0: none can grow */
    /* In the machine's memory, by the design's `taken`. */
    uint64_t *tally; /* (HD_OUTCOME_COUNT): kernels add outcomes */
    uint64_t *op;    /* (HD_OP_COUNT_): and operations of mixed batches. NULL: kernels count none */
    uint64_t *sum;   /* one word, for a number that kernels add up and the caller wants in this machine's memory */
    hd_word *word;   /* of the batch lock group3                 */
} hd_gpu_state;

/* Some buckets of a table on a device, and host memory for what of them is read (HD_PART_KEYS, ...). */
typedef struct hd_part {
    uint64_t first, buckets;
    uint32_t what;
    void *memory; /* (bytes(buckets)) */
} hd_part;

/* How a batch's launches are put on a machine: in order; both return a status that ends the batch. */
typedef struct hd_launcher {
    hd_status (*launch)(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                        uint32_t threads);
    hd_status (*zero)(void *self, void *p, size_t bytes);
    void *self;
    uint64_t blocks_most;  /* kernels go over their items in strides: no more blocks than this */
    uint64_t blocks_few;   /* as many as keep a bus busy                                       */
    uint32_t threads_most; /* of a block, which `launch` sees to; 0: as many as the kernel has */
    bool blocks_told;      /* a test wants so many blocks: no design has fewer on account of what its items wait for */
} hd_launcher;

/* The blocks of a launch over so many lanes. */
static inline uint64_t hd_launch_blocks(const hd_launcher *l, uint64_t lanes, uint32_t threads)
{
    if (l->threads_most && l->threads_most < threads) threads = l->threads_most;
    uint64_t blocks = lanes / threads + (lanes % threads != 0);
    return blocks < l->blocks_most ? blocks : l->blocks_most;
}

/* What a design grows in place with. Failures end what was asked. */
typedef struct hd_gpu_machine {
    hd_launcher on; /* runs in its order */
    /* HD_APART or HD_HOST_MEMORY; filled, and its address is in the state */
    hd_status (*take)(void *self, const hd_memory *piece);
    void (*give)(void *self, const hd_memory *piece);                           /* and that is NULL again */
    hd_status (*read)(void *self, void *here, const void *there, size_t bytes); /* when all that was launched has run */
    void *self;
} hd_gpu_machine;

/* Parts, by a design's state of a table on a device. */
typedef struct hd_gpu_parts {
    uint64_t (*bytes)(const void *state, uint64_t buckets);
    /* What of the part is where (HD_MEMORY_MOST). */
    int (*planes)(const void *state, const hd_part *p, hd_plane *all);
    /* hd_backend.next and put_at within the part; e->slot is the table's. 0: no entry; then e->slot is behind it. */
    size_t (*next)(const void *state, const hd_part *p, hd_entry *e, size_t most);
    bool (*put_at)(const void *state, const hd_part *p, const hd_entry *e);
    /* As it is in an empty table. */
    void (*clear)(const void *state, const hd_part *p);
    /* hd_backend.learn, in this machine's memory. NULL where the reference has none. */
    hd_status (*learn)(void *state, const hd_seams *s, const hd_keys *keys);
    /* The parts of an empty table were filled, and are on the device: launches what the rest of the table needs. NULL:
     * nothing. */
    hd_status (*filled)(void *state, const hd_gpu_machine *m);
    /* Before a walk whose caller may change values: launches what the rest of the table needs. NULL: nothing. */
    hd_status (*changing)(void *state, const hd_gpu_machine *m);
} hd_gpu_parts;

/* The design's reference (hd_design.ref) checks and completes shapes, walks, moves. On the host machine it has the
 * entries. */
struct hd_gpu {
    /* The CUDA entry point of kernel `kernel` (base/variant.h) for these arguments; NULL: there is none. Itself NULL in
     * a build without CUDA. */
    const void *(*cuda_entry)(uint32_t kernel, const void *args);
    /* A kernel of each module (compiled file) of the design's; NULL: module i is behind the last. */
    const void *(*cuda_module)(uint32_t i);
    uint32_t word_enter, word_leave; /* kernels: hd_word_enter, hd_word_leave */
    size_t state_bytes;              /* of a struct that begins with a hd_gpu_state; at most HD_STATE_MOST */

    /* What the configuration left open is what suits kernels. */
    void (*usual)(hd_info *info);
    /* The state is zero but for its hd_gpu_state: sizes are known then, and no address. */
    void (*begin)(void *state);
    /* Each array of the table, at most HD_MEMORY_MOST; how many. */
    int (*memory)(const void *state, hd_memory *all);
    /* All arrays have their addresses, and what they are filled with. */
    void (*taken)(void *state);
    /* Of a state of the reference: what hd_memory.twin is in. */
    void *(*view_of)(void *entries);

    /* On the host machine: before a batch's launches are queued and after they ran, well or not. `entries` is the
     * reference's state. */
    void (*before)(void *state, void *entries);
    void (*after)(void *state, void *entries, bool good);

    /* On a device: makes the table an empty one, as far as filling its pieces did not. NULL: there are no kernels for
     * devices. */
    hd_status (*empty)(void *state, const hd_launcher *l);
    /* A state of the reference that entries can be brought into. */
    hd_status (*open_here)(const void *state, const hd_seams *s, void **staged);
    /* Whether the batch, by kernel row `row`, uses room of which the table has one: it runs apart from all such. */
    bool (*lists)(const void *state, uint32_t row, const hd_batch *b);
    /* Whether the batch needs memory that the table has not yet (hd_backend.prepare): the piece, HD_APART, and in info
     * what the table is then. Itself NULL: no batch does. */
    bool (*needs)(const void *state, const hd_batch *b, hd_memory *piece, hd_info *info);

    /* Runs the batch by kernel row `row`; its arrays are where kernels reach them. */
    hd_status (*launch)(void *state, const hd_launcher *l, uint32_t row, const hd_batch *b, hd_when when);
    /* Grows or shrinks the table where it is. info becomes what the table is then, also where it fails; its
     * memory_bytes leave out what the backend adds. `memory` tells of what was taken and no more of what was given;
     * where it fails before anything was moved, all is as it was. entries: on the host machine the reference's state,
     * whose memory is taken and given like the rest; on a device NULL. Where the reference has resize. */
    hd_status (*resize)(void *state, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info);
    /* Likewise: the table may take so many bytes of the device's memory from now on, 0: any (hd_backend.set_near). */
    hd_status (*set_near)(void *state, void *entries, const hd_gpu_machine *m, uint64_t near_bytes, hd_info *info);
    /* Launches the kernels that move all entries and pins into table `to`, which has a multiple of the buckets of table
     * `from`. Both are states; the machine's pieces are taken for `to`. Planes of `to` may begin with the memory of
     * those of `from`. The last launch moves everything; no launch before it changes a table. When it has moved all
     * buckets of `from`, `*moved`, a word of the machine, is their number. NULL: the reference moves entries. */
    hd_status (*grow)(void *from, void *to, const hd_gpu_machine *m, uint64_t **moved);
    /* On a device: launches a kernel that reads the device's clock, and where it leaves it. NULL: the design has no
     * HD_CLOCK_DEVICE. */
    hd_status (*read_clock)(void *state, const hd_launcher *l, uint64_t **ns);
    /* On a device: HD_ECORRUPT and the first invariant that fails, by a kernel. NULL: the reference checks a copy in
     * host memory (planes). */
    hd_status (*check)(void *state, const hd_gpu_machine *m);
    /* Of a table on a device, in host memory. NULL: for a walk the whole table is copied there (planes). */
    const hd_gpu_parts *parts;
    /* On a device: fills a view (heddle_view.h). NULL where the reference has none. */
    void (*view)(const void *state, hd_view *view);
    /* Checks of the configuration what the reference's shape cannot (HD_EINVAL names the field), and corrects info.
     * device: the table is on a device, not on the host machine. NULL: nothing. */
    hd_status (*shape)(const hd_config *c, hd_info *info, bool device);
    /* On a device: hd_backend.extents and recovered. The extents are HD_HOST_MEMORY. NULL: there are no files. */
    int (*extents)(const void *state, hd_extent *all);
    hd_status (*recovered)(void *state, const hd_gpu_machine *m, hd_recovery *did);
    /* On a device: hd_backend.changed. NULL: any page may have changed. */
    hd_status (*changed)(void *state, const hd_gpu_machine *m, uint8_t *page, uint64_t pages);
    /* On a device: hd_backend.arrange. */
    hd_status (*arrange)(void *state, const hd_gpu_machine *m);
    /* On a device: planes have got new bytes; launches what the rest of the table needs. NULL: nothing. */
    hd_status (*settled)(void *state, const hd_gpu_machine *m);
    /* Where the reference has room_for: the same on a machine, as resize does. */
    hd_status (*room_for)(void *state, void *entries, const hd_gpu_machine *m, const uint64_t *key, uint64_t n,
                          hd_info *info, bool *made);
};

/* The arrays that a backend takes; what kernels may touch besides the arrays of a batch; what of `staged`, a state of
 * the reference, is where, and which of it is pinned (may be NULL). HD_MEMORY_MOST; how many. */
static inline int hd_gpu_taken(const hd_gpu *gpu, const void *state, hd_memory *all)
{
    return hd_memory_taken(all, gpu->memory(state, all), ((const hd_gpu_state *)state)->device);
}
static inline int hd_gpu_regions(const hd_gpu *gpu, const void *state, hd_region *regions)
{
    hd_memory all[HD_MEMORY_MOST];
    int n = gpu->memory(state, all);
    return hd_memory_regions(state, all, n, regions);
}
static inline int hd_gpu_planes(const hd_gpu *gpu, const void *state, void *staged, bool values, hd_plane *planes,
                                bool *pinned)
{
    hd_memory all[HD_MEMORY_MOST];
    int n = gpu->memory(state, all);
    return hd_memory_planes(state, all, n, gpu->view_of(staged), values, planes, pinned);
}
/* Bytes of scratch, which a table takes beside what the reference counts. */
uint64_t hd_gpu_scratch(const hd_gpu *gpu, const hd_info *info, bool device);
/* hd_backend.shape of a design with kernels, without that scratch in memory_bytes. */
static inline hd_status hd_gpu_shape(const hd_design *d, const hd_config *c, hd_info *info, bool device)
{
    d->gpu->usual(info);
    hd_status status = d->ref->shape(d, c, info);
    return status || !d->gpu->shape ? status : d->gpu->shape(c, info, device);
}

/* What a table is to become: n, by hd_gpu.resize or set_near; or, where `how` is NULL, what room_for makes of these n
 * keys. */
typedef struct hd_gpu_change {
    hd_status (*how)(void *state, void *entries, const hd_gpu_machine *m, uint64_t n, hd_info *info);
    uint64_t n;
    const uint64_t *key; /* (n) */
    bool *made;
} hd_gpu_change;

static inline hd_status hd_gpu_become(const hd_gpu *gpu, const hd_gpu_change *to, void *state, void *entries,
                                      const hd_gpu_machine *m, hd_info *info)
{
    if (to->how) return to->how(state, entries, m, to->n, info);
    return gpu->room_for(state, entries, m, to->key, to->n, info, to->made);
}

/* ---- A batch's arrays ------------------------------------------------------------------------ */

/* What kernels do with the rows of an array. */
typedef enum hd_flow {
    HD_FLOW_IN,   /* read them                                                                              */
    HD_FLOW_EACH, /* write the row of each item                                                             */
    HD_FLOW_SOME, /* write the rows of some items (hd_op_writes_row); the others keep the caller's bytes. Where an item
                     has several rows (HD_GIVES_ROWS), it writes as many as it says in `rows`               */
    HD_FLOW_LIST, /* write rows from the front                                                              */
    HD_FLOW_COUNT /* write the only row, or leave it                                                        */
} hd_flow;

typedef struct hd_array {
    const char *name;
    size_t field; /* its offset in hd_batch */
    void *p;
    uint64_t bytes, row; /* of the array, and of what one item has of it */
    hd_flow flow;
    uint32_t gives; /* not 0: the flag of operations that write it (hd_op_row.needs) */
} hd_array;

enum { HD_ARRAYS_MOST = 20 };

/* Those that the batch has and that its kernels read or write; how many. */
int hd_batch_arrays(const hd_batch *b, uint32_t value_bytes, hd_array *all);

/* True: kernels write the array. */
static inline bool hd_array_is_out(const hd_array *a) { return a->flow != HD_FLOW_IN; }

/* The items [first, first + n) of b as a batch of their own: arrays with a row for each item begin at row `first`.
 * Lists stay where they are. */
hd_batch hd_batch_cut(const hd_batch *b, uint32_t value_bytes, uint64_t first, uint64_t n);

/* Gives back those of n pieces of a state that are there, the last one first. */
static inline void hd_machine_give(const hd_gpu_machine *m, const void *state, const hd_memory *all, int n)
{
    while (n-- > 0)
        if (all[n].count && hd_field(state, all[n].field)) m->give(m->self, &all[n]);
}
/* Takes n pieces of a state, whose addresses are NULL: all of them, or none. */
static inline hd_status hd_machine_take(const hd_gpu_machine *m, const void *state, const hd_memory *all, int n)
{
    hd_status status = HD_OK;
    for (int i = 0; i < n && !status; i++)
        if (all[i].count) status = m->take(m->self, &all[i]);
    if (status) hd_machine_give(m, state, all, n);
    return status;
}

/* ---- Entry points ---------------------------------------------------------------------------- */

/* A function that is there only in a build with CUDA, or in a library with the host machine. */
#ifdef HD_CUDA
#define HD_CUDA_ENTRY(entry) entry
#else
#define HD_CUDA_ENTRY(entry) NULL
#endif
#ifdef HD_WITHOUT_HOST
#define HD_HOST_ENTRY(entry) NULL
#else
#define HD_HOST_ENTRY(entry) entry
#endif

#endif
