/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - memory that batches write: of this machine, or of a device, which a library with an exchange table
 * allocates. Memory that is not in use any more is kept for later results: 64 MiB at most, in 8 pieces at most. So a
 * call in a loop pays neither for fresh pages of this machine, nor for the library's allocation.
 *
 * When may memory be used again?
 *
 *   - This machine's: when its object is freed. Every array over it has a reference to the object, and a batch that
 *     writes memory of this machine has ended when its call returns.
 *   - A device's: if, in addition, no array was ever made over it. Then only batches have used it, all on one stream,
 *     and the next batch on that stream runs after them. An array is another matter: its holder may read it on a second
 *     stream, and drop it before that stream is done. PyTorch's own allocator waits for such a stream if record_stream
 *     was called, but that call does nothing for memory that came through DLPack. So memory that was in an array goes
 *     back to the library, as its rules say.
 *   - Memory that was allocated while its stream was being captured belongs to the graph. It is never kept, and a
 *     capture never gets kept memory.
 *
 * A stream is known by its number (hd_stream_state.id), not by its address, which a later stream may have, too.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/seam.h"
#include "python/src/core.h"

enum { KEPT = 8, KEPT_LEAST = 64 << 10, KEPT_MOST = 64 << 20, DEVICE_UNIT = 512 };

typedef struct block {
    void *taken;         /* of this machine; NULL: of a device */
    dl_managed *managed; /* of a device, by a library */
    const dl_exchange *exchange;
    dl_device device;
    uint64_t stream; /* 1 + the number of that on which alone batches use it; 0: it is not kept */
    void *data;
    uint64_t bytes;
} block;

typedef struct memory {
    PyObject_HEAD block b;
} memory;

static PyTypeObject *memory_type;

/* ---- Blocks that are kept ---------------------------------------------------------------------------------------- */

/* The oldest first. `busy` guards them where there is no GIL: who finds it set does without. */
static block kept[KEPT];
static size_t kept_count;
static uint64_t kept_bytes;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void give(block *b)
{
    PyObject *type, *error, *trace; /* a deleter may run Python, which must not see an error */
    free(b->taken);
    if (!b->managed || !b->managed->deleter) return;
    PyErr_Fetch(&type, &error, &trace);
    b->managed->deleter(b->managed);
    PyErr_Restore(type, error, trace);
}

static block remove_kept(size_t i)
{
    block b = kept[i];
    kept_bytes -= b.bytes;
    memmove(&kept[i], &kept[i + 1], (--kept_count - i) * sizeof *kept);
    return b;
}

static bool fits(const block *have, const block *want)
{
    bool same = have->exchange == want->exchange && have->device.type == want->device.type &&
                have->device.id == want->device.id && have->stream == want->stream;
    return same && have->bytes >= want->bytes && (have->bytes <= KEPT_LEAST || have->bytes / 2 <= want->bytes);
}

/* Whether there is a kept block like *b, which it becomes then. */
static bool take_kept(block *b)
{
    bool found = false;
    if (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) return false;
    for (size_t i = kept_count; i-- > 0 && !found;) {
        found = fits(&kept[i], b);
        if (found) *b = remove_kept(i);
    }
    atomic_flag_clear_explicit(&busy, memory_order_release);
    return found;
}

static void keep(block *b)
{
    block old[KEPT];
    size_t olds = 0;
    if (b->bytes > KEPT_MOST || atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
        give(b);
        return;
    }
    while (kept_count == KEPT || (kept_count && kept_bytes + b->bytes > KEPT_MOST)) old[olds++] = remove_kept(0);
    kept[kept_count++] = *b;
    kept_bytes += b->bytes;
    atomic_flag_clear_explicit(&busy, memory_order_release);
    while (olds) give(&old[--olds]);
}

void hp_memory_drop_kept(void)
{
    while (kept_count) {
        block b = remove_kept(kept_count - 1);
        give(&b);
    }
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static PyObject *object_of(const block *b, void **data)
{
    memory *m = PyObject_New(memory, memory_type);
    if (!m) return NULL;
    m->b = *b;
    *data = b->data;
    return (PyObject *)m;
}

PyObject *hp_memory(uint64_t bytes, void **data)
{
    block b = { .device = { DL_CPU, 0 }, .bytes = bytes };
    if (bytes < KEPT_LEAST || !take_kept(&b)) {
        b.taken = malloc(bytes + 64);
        if (!b.taken) return PyErr_NoMemory();
        b.data = (void *)(((uintptr_t)b.taken + 63) & ~(uintptr_t)63);
    }
    if (hp_pretend_device) memset(b.data, 0xa5, b.bytes);
    PyObject *m = object_of(&b, data);
    if (!m) give(&b);
    return m;
}

/* 1 + the number of a stream of a device; 0: it is in capture, or does not tell. */
static uint64_t number_of(void *stream, int device)
{
    if (hp_pretend_device) return 1 + (uint64_t)(uintptr_t)stream;
    const hd_device_seam *d = &hd_device_os;
    hd_stream_state state = { 0, 0 };
    int before = 0, now;
    if (d->use(d->self, device, &before)) return 0;
    int failed = d->stream_state(d->self, stream, &state);
    d->use(d->self, before, &now);
    return failed || state.capture ? 0 : 1 + state.id;
}

static void set_message(void *context, const char *kind, const char *message)
{
    (void)context;
    PyErr_Format(PyExc_RuntimeError, "%s: %s", kind, message);
}

static dl_managed *allocate(const dl_exchange *e, dl_device device, hp_type type, int64_t count)
{
    dl_tensor want = { .device = device, .ndim = 1, .type = { type.code, type.bits, 1 }, .shape = &count };
    dl_managed *m;
    return e->allocate(&want, &m, NULL, set_message) ? NULL : m;
}

PyObject *hp_memory_on_device(const dl_exchange *e, dl_device device, uint64_t bytes, void *stream, bool current,
                              void **data)
{
    block b = { .exchange = e, .device = device, .stream = current ? number_of(stream, device.id) : 0 };
    b.bytes = (bytes + DEVICE_UNIT - 1) / DEVICE_UNIT * DEVICE_UNIT;
    if (!b.stream || !take_kept(&b)) {
        b.managed = allocate(e, device, (hp_type){ DL_UINT, 8 }, (int64_t)b.bytes);
        if (!b.managed) return NULL;
        b.data = (char *)b.managed->tensor.data + b.managed->tensor.byte_offset;
    }
    PyObject *m = object_of(&b, data);
    if (!m) give(&b);
    return m;
}

int hp_memory_zero(dl_device device, void *p, uint64_t bytes, void *stream)
{
    const hd_device_seam *d = &hd_device_os;
    hd_reach reach = HD_REACH_BOTH;
    int before = 0, now, failed = 0;
    if (!bytes) return 0;
    if (hp_pretend_device) return memset(p, 0, bytes), 0;
    if (device.type == DL_CPU) failed = d->reach(d->self, p, &reach); /* is it pinned? */
    if (!failed && reach == HD_REACH_NONE) return memset(p, 0, bytes), 0;
    if (!failed && device.type == DL_CUDA) failed = d->use(d->self, device.id, &before);
    if (!failed) {
        failed = d->fill(d->self, p, 0, bytes, stream);
        if (device.type == DL_CUDA) d->use(d->self, before, &now);
    }
    return failed;
}

int hp_memory_clear(dl_device device, void *p, uint64_t bytes, void *stream)
{
    const hd_device_seam *d = &hd_device_os;
    int failed = hp_memory_zero(device, p, bytes, stream);
    return failed ? (hp_fail(HD_ECUDA, "outputs: %s", d->error(d->self, failed)), -1) : 0;
}

void hp_memory_lent(PyObject *self) { ((memory *)self)->b.stream = 0; }

static void memory_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    block b = ((memory *)self)->b;
    if (b.taken ? b.bytes >= KEPT_LEAST : b.stream != 0)
        keep(&b);
    else
        give(&b);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int memory_buffer(PyObject *self, Py_buffer *view, int flags)
{
    const block *b = &((memory *)self)->b;
    if (!b->taken) return PyErr_SetString(PyExc_BufferError, "memory of a device"), -1;
    return PyBuffer_FillInfo(view, self, b->data, (Py_ssize_t)b->bytes, 0, flags);
}

static PyType_Slot memory_slots[] = {
    { Py_tp_dealloc, memory_free },
    { Py_bf_getbuffer, memory_buffer },
    { Py_tp_doc, (void *)(intptr_t) "Memory that a table wrote, for arrays of other libraries." },
    { 0, NULL },
};
static PyType_Spec memory_spec = { "heddle._core.Memory", sizeof(memory), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, memory_slots };

PyObject *hp_library_array(const dl_exchange *e, dl_device device, hp_type type, int64_t count, void **data)
{
    void *object;
    dl_managed *m = allocate(e, device, type, count);
    if (!m) return NULL;
    *data = (char *)m->tensor.data + m->tensor.byte_offset;
    return e->to_object(m, &object) ? NULL : object;
}

int hp_memory_ready(PyObject *module)
{
    memory_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &memory_spec, NULL);
    return memory_type ? 0 : -1;
}
