/* SPDX-License-Identifier: Apache-2.0
 *
 * buffers.c - one allocation, divided into the arrays of all calls.
 */
#include "bench/device/buffers.h"

#include "base/op.h"

static const bench_buffers_row rows[] = {
    { HD_OP_FIND, TRAY_OUT | TRAY_OUTCOME, HD_HIT, true },
    { HD_OP_CONTAINS, TRAY_OUTCOME, HD_HIT, true },
    { HD_OP_FIND_PTR, TRAY_PTR | TRAY_OUTCOME, HD_HIT, true },
    { HD_OP_ASSIGN, TRAY_VALUE, HD_UPDATED, true },
    { HD_OP_ASSIGN_SCORES, 0, HD_UPDATED, true },
    { HD_OP_INSERT_OR_ASSIGN, TRAY_VALUE, HD_UPDATED, true },
    { HD_OP_INSERT_AND_EVICT, TRAY_VALUE | TRAY_LIST, HD_UPDATED, true },
    { HD_OP_FIND_OR_INSERT, TRAY_VALUE | TRAY_OUT, HD_HIT, true },
    { HD_OP_FIND_OR_INSERT_PTR, TRAY_PTR | TRAY_OUTCOME, HD_HIT, true },
    { HD_OP_ERASE, 0, HD_ERASED, true },
    { HD_OP_EXPORT, TRAY_LIST, HD_HIT, true },
    { HD_OP_SUCCESSOR, TRAY_OUT | TRAY_OUTCOME | TRAY_KEY_OUT, HD_HIT, true },
    { HD_OP_PREDECESSOR, TRAY_OUT | TRAY_OUTCOME | TRAY_KEY_OUT, HD_HIT, true },
    { HD_OP_FIND_MISSED, TRAY_OUT | TRAY_OUTCOME | TRAY_KEYS, HD_HIT, false },
    { HD_OP_TOUCH, 0, HD_HIT, false },
    { HD_OP_ASSIGN_VALUES, TRAY_VALUE, HD_UPDATED, false },
    { HD_OP_ACCUM_OR_ASSIGN, TRAY_VALUE, HD_UPDATED, false },
    { HD_OP_LOCK_KEYS, 0, HD_HIT, false },
    { HD_OP_UNLOCK_KEYS, 0, HD_HIT, false },
    { HD_OP_EXPORT_IF, TRAY_LIST, HD_HIT, false },
    { HD_OP_ERASE_IF, TRAY_COUNT, HD_ERASED, false },
    { HD_OP_SIZE, TRAY_COUNT, HD_HIT, false },
    { HD_OP_SIZE_IF, TRAY_COUNT, HD_HIT, false },
    { HD_OP_CLEAR, 0, HD_ERASED, false },
    { BENCH_MIXED, TRAY_EACH | TRAY_VALUE | TRAY_OUT | TRAY_OUTCOME, HD_HIT, true },
};

const bench_buffers_row *bench_buffers_any(hd_op op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].op == op) return &rows[i];
    return NULL;
}

const bench_buffers_row *bench_buffers_row_of(hd_op op)
{
    const bench_buffers_row *row = bench_buffers_any(op);
    return row && row->point ? row : NULL;
}

const char *bench_buffers_name(hd_op op) { return op == BENCH_MIXED ? "mixed" : hd_op_name(op); }

/* The next piece; NULL where it is not wanted, which takes nothing. */
static uint8_t *cut(uint8_t *memory, uint64_t *at, bool wanted, uint64_t bytes)
{
    enum { PLACE = 256 };
    uint8_t *p = memory ? memory + *at : NULL;
    if (!wanted || bytes == 0) return NULL;
    *at += (bytes + PLACE - 1) / PLACE * PLACE;
    return p;
}

/* Sets the arrays of a call that begin at memory; returns how many bytes they are. */
static uint64_t lay_out(const bench_buffers_row *row, uint64_t n, const bench_shape *shape, uint8_t *memory,
                        hd_batch *b)
{
    uint64_t at = 0, value_bytes = n * shape->words * 4;
    bool lists = row->arrays & TRAY_LIST, keyed = row->op == BENCH_MIXED || hd_op_does(row->op, HD_NEEDS_KEY);
    b->key = (const uint64_t *)(void *)cut(memory, &at, keyed, n * 8);
    b->score = (const uint64_t *)(void *)cut(memory, &at, bench_shape_scores(shape, row->op), n * 8);
    b->each = cut(memory, &at, row->arrays & TRAY_EACH, n);
    b->value = cut(memory, &at, row->arrays & TRAY_VALUE, value_bytes);
    b->value_out = cut(memory, &at, row->arrays & TRAY_OUT, value_bytes);
    b->key_out = (uint64_t *)(void *)cut(memory, &at, row->arrays & TRAY_KEY_OUT, n * 8);
    b->ptr = (void **)(void *)cut(memory, &at, row->arrays & TRAY_PTR, n * 8);
    b->outcome = cut(memory, &at, row->arrays & TRAY_OUTCOME, n);
    b->list_key = (uint64_t *)(void *)cut(memory, &at, row->arrays & (TRAY_LIST | TRAY_KEYS), n * 8);
    b->list_score = (uint64_t *)(void *)cut(memory, &at, lists, n * 8);
    b->list_value = cut(memory, &at, lists, value_bytes);
    b->count = (uint64_t *)(void *)cut(memory, &at, row->arrays & (TRAY_LIST | TRAY_KEYS | TRAY_COUNT), 8);
    return at;
}

static uint64_t check_bytes(uint64_t n, uint32_t words)
{
    uint64_t at = 0;
    cut(NULL, &at, true, n);
    cut(NULL, &at, true, n * words * 4);
    cut(NULL, &at, true, n * 8);
    return at;
}

uint64_t bench_buffers_calls(const bench_shape *shape, const bench_buffers_row *row, uint64_t n, uint64_t most)
{
    hd_batch b;
    uint64_t calls = most / (lay_out(row, n, shape, NULL, &b) + 1);
    return calls ? calls : 1;
}

hd_status bench_buffers_set(bench_buffers *t, const bench_device *device, const bench_shape *shape,
                            const bench_buffers_row *row, uint64_t n, uint64_t calls)
{
    hd_batch b;
    uint64_t at, bytes;
    t->row = row;
    t->n = n;
    t->calls = calls;
    t->call_bytes = lay_out(row, n, shape, NULL, &b);
    at = calls * t->call_bytes;
    bytes = at + check_bytes(n, shape->words);
    if (bytes > t->bytes) {
        void *p;
        bench_buffers_drop(t, device);
        hd_status e = device->take("bench: the arrays of a queue of calls", bytes, &p);
        if (e) return e;
        t->memory = (uint8_t *)p;
        t->bytes = bytes;
    }
    t->outcome = cut(t->memory, &at, true, n);
    t->value_out = cut(t->memory, &at, true, n * shape->words * 4);
    t->score_out = (uint64_t *)(void *)cut(t->memory, &at, true, n * 8);
    return HD_OK;
}

void bench_buffers_drop(bench_buffers *t, const bench_device *device)
{
    if (t->memory) device->give(t->memory);
    t->memory = NULL;
    t->bytes = 0;
}

hd_batch bench_buffers_batch(const bench_buffers *t, const bench_fixture *s, uint64_t c)
{
    /* of a mixed batch it is not read */
    hd_batch b = { .op = t->row->op == BENCH_MIXED ? HD_OP_INSERT_OR_ASSIGN : t->row->op, .distinct = true, .n = t->n };
    lay_out(t->row, t->n, &s->shape, t->memory + c * t->call_bytes, &b);
    b.inclusive = hd_op_does(b.op, HD_ORDERED); /* the answer to a key that is there is the key */
    b.stream = s->device->stream();
    if (b.op == HD_OP_EXPORT) b.start = c % (s->info.capacity / t->n) * t->n;
    return b;
}
