/* SPDX-License-Identifier: Apache-2.0
 *
 * contention.c - see contention.h.
 */
#include "bench/device/contention.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "bench/machine.h"
#include "base/error.h"

enum { KEYSETS = 8 /* batches that a thread has; then from the first again */, WARM = 2 };

typedef struct contention contention;

enum start { NOT_YET, GO, GO_HOME };

typedef struct member {
    contention *of;
    hd_op op;
    void *stream;
    uint64_t *key;    /* (KEYSETS, n)    */
    void *value;      /* (n, words): of the last set of keys; what is found goes there, too */
    uint8_t *outcome; /* (n)             */
    double from, to;  /* when it worked */
    hd_status status;
    char why[160];
} member;

struct contention {
    bench_fixture *s;
    const bench_contention *p;
    pthread_mutex_t guard; /* of start */
    pthread_cond_t decided;
    enum start start;
    member person[CROWD_MOST];
    uint32_t persons;
};

static hd_batch batch_of(const member *t, uint64_t i)
{
    uint64_t n = t->of->p->n;
    hd_batch b = { .op = t->op,
                   .distinct = true,
                   .n = n,
                   .key = t->key + i % KEYSETS * n,
                   .outcome = t->outcome,
                   .stream = t->stream };
    if (t->op == HD_OP_FIND)
        b.value_out = t->value;
    else
        b.value = t->value;
    return b;
}

/* Writers have values for their first set of keys, and keep to it. */
static hd_status member_run(member *t, uint64_t batches)
{
    const bench_device *d = t->of->s->device;
    hd_status e = HD_OK;
    for (uint64_t i = 0; i < batches && !e; i++) {
        hd_batch b = batch_of(t, t->op == HD_OP_FIND ? i : 0);
        e = hd_run(t->of->s->table, &b);
        if (!e && t->of->p->waits) e = d->wait_for(t->stream);
    }
    return e ? e : d->wait_for(t->stream);
}

static bool may_start(contention *c)
{
    pthread_mutex_lock(&c->guard);
    while (c->start == NOT_YET) pthread_cond_wait(&c->decided, &c->guard);
    bool go = c->start == GO;
    pthread_mutex_unlock(&c->guard);
    return go;
}

static void *member_work(void *context)
{
    member *t = (member *)context;
    if (!may_start(t->of)) return NULL;
    t->from = machine_wall_s();
    t->status = member_run(t, t->of->p->batches);
    t->to = machine_wall_s();
    if (t->status) snprintf(t->why, sizeof t->why, "%.150s", hd_why());
    return NULL;
}

static hd_status member_open(member *t, contention *c, hd_op op)
{
    bench_fixture *s = c->s;
    uint64_t n = c->p->n;
    void *p = NULL;
    t->of = c;
    t->op = op;
    hd_status e = s->device->more(&t->stream);
    if (!e) e = s->device->take("bench: keys of a contention", KEYSETS * n * 8, &p);
    t->key = (uint64_t *)p;
    if (!e) e = s->device->take("bench: values of a contention", n * s->shape.words * 4, &t->value);
    if (!e) e = s->device->take("bench: outcomes of a contention", n, &p), t->outcome = (uint8_t *)p;
    for (uint64_t i = 0; i < KEYSETS && !e; i++) {
        bench_draw draw = bench_fixture_draw(s, n, n, 0);
        e = s->device->keys(&draw, t->key + i * n);
    }
    return e ? e : s->device->values(t->key, n, s->shape.words, (uint32_t)op, t->value);
}

static void member_close(member *t)
{
    const bench_device *d = t->of ? t->of->s->device : NULL;
    void *const all[] = { t->key, t->value, t->outcome };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]) d->give(all[i]);
    if (d && t->stream) d->fewer(t->stream);
}

/* The last of so many batches of each: all were there, and what was found is whole. */
static hd_status look(contention *c, uint64_t batches, bench_contention_measure *m)
{
    for (uint32_t i = 0; i < c->persons && !*m->wrong; i++) {
        member *t = &c->person[i];
        hd_batch b = batch_of(t, t->op == HD_OP_FIND ? batches - 1 : 0);
        hd_outcome good = t->op == HD_OP_FIND ? HD_HIT : HD_UPDATED;
        bench_answers a = { .n = b.n,
                            .key = b.key,
                            .outcome = t->outcome,
                            .value = t->value,
                            .words = c->s->shape.words,
                            .generation = BENCH_ANY,
                            .of = 1u << good };
        bench_told told;
        hd_status e = c->s->device->answers(&a, &told);
        if (e) return e;
        if (told.count[good] != b.n)
            snprintf(m->wrong, sizeof m->wrong, "%s: %" PRIu64 " of %" PRIu64 " were %s", hd_op_name(t->op),
                     told.count[good], b.n, hd_outcome_name(good));
        else if (told.count[BENCH_TOLD_VALUES + BENCH_RIGHT] != b.n)
            snprintf(m->wrong, sizeof m->wrong, "%s: %" PRIu64 " values of %" PRIu64 " are right", hd_op_name(t->op),
                     told.count[BENCH_TOLD_VALUES + BENCH_RIGHT], b.n);
    }
    return HD_OK;
}

static hd_status run_all(contention *c, bench_contention_measure *m)
{
    pthread_t thread[CROWD_MOST];
    uint32_t started = 0;
    pthread_mutex_init(&c->guard, NULL);
    pthread_cond_init(&c->decided, NULL);
    while (started < c->persons && pthread_create(&thread[started], NULL, member_work, &c->person[started]) == 0)
        started++;
    pthread_mutex_lock(&c->guard);
    c->start = started == c->persons ? GO : GO_HOME;
    pthread_cond_broadcast(&c->decided);
    pthread_mutex_unlock(&c->guard);
    for (uint32_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
    pthread_cond_destroy(&c->decided);
    pthread_mutex_destroy(&c->guard);
    if (c->start == GO_HOME)
        return hd_fail(HD_ENOMEM, "bench: thread number %" PRIu32 " of %" PRIu32 " was refused", started + 1,
                       c->persons);
    double from = c->person[0].from, to = c->person[0].to;
    for (uint32_t i = 1; i < c->persons; i++) {
        if (c->person[i].from < from) from = c->person[i].from;
        if (c->person[i].to > to) to = c->person[i].to;
    }
    m->seconds = to - from;
    for (uint32_t i = 0; i < c->persons; i++)
        if (c->person[i].status) return hd_fail(c->person[i].status, "%s", c->person[i].why);
    return HD_OK;
}

hd_status contention_measure(bench_fixture *s, const bench_contention *p, bench_contention_measure *m)
{
    contention c;
    const struct {
        uint32_t n;
        hd_op op;
    } kinds[] = { { p->finders, HD_OP_FIND }, { p->updaters, HD_OP_ASSIGN }, { p->inserters, HD_OP_INSERT_OR_ASSIGN } };
    memset(&c, 0, sizeof c);
    memset(m, 0, sizeof *m);
    if (p->finders + p->updaters + p->inserters > CROWD_MOST)
        return hd_fail(HD_EINVAL, "threads: %d at most", CROWD_MOST);
    if (p->n > s->presents)
        return hd_fail(HD_EINVAL, "batch: %" PRIu64 " different keys, of %" PRIu64 " in the table", p->n, s->presents);
    c.s = s;
    c.p = p;
    hd_status e = HD_OK;
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < kinds[k].n && !e; i++) e = member_open(&c.person[c.persons++], &c, kinds[k].op);
    if (!e) e = s->device->wait();
    /* and right before it is timed */
    for (uint32_t i = 0; i < c.persons && !e; i++) e = member_run(&c.person[i], WARM);
    if (!e) e = look(&c, WARM, m);
    if (!e && !*m->wrong) e = run_all(&c, m);
    if (!e && !*m->wrong) e = look(&c, p->batches, m);
    m->items = c.persons * p->batches * p->n;
    for (uint32_t i = 0; i < c.persons; i++) member_close(&c.person[i]);
    bench_fixture_changed(s);
    return e;
}
