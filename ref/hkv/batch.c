/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - whole batches, on one thread or on several with the same result.
 *
 * Items act on each other only through a bucket that both can reach. So a single-bucket batch is split by
 * bucket and not by item: every thread reads every key, and applies, in item order, those whose bucket is in
 * its own share. Nothing is sorted, nothing allocated, and each bucket sees the order that one thread
 * would give it. Updates in dual mode that write nothing but their own entry are split the same way by first
 * bucket. Reads are split by item.
 *
 * Other batches in dual mode run by blocks of items, in which threads take turns (bucket_conflicts.h). So does
 * insert_and_evict with a list: a thread learns the places of its rows when all have run the block.
 *
 * One number of a view is not an item's: how many entries are pinned. Each thread counts in a view of its own.
 */
#include <string.h>

#include "base/op.h"
#include "ref/hkv/prefetch.h"
#include "ref/hkv/lists.h"
#include "ref/hkv/share.h"
#include "ref/hkv/bucket_conflicts.h"

/* ---- One item in, one item out --------------------------------------------------------------- */

/* What is the same for all items of a batch. */
typedef struct course {
    const hd_batch *b;
    hkv_when when;
    uint32_t does; /* hd_op_row.needs */
    hkv_uses uses;
    bool evicts;           /* lists what leaves and what is refused */
    bool values;           /* reads b->value */
    const uint64_t *score; /* NULL: every item gives 1 */
} course;

static course course_of(const hkv_view *v, const hd_batch *b, hkv_when when)
{
    const hd_op_row *row = hd_op_row_of(b->op);
    course c = { b,
                 when,
                 row->needs,
                 hkv_uses_of(v, b),
                 b->op == HD_OP_INSERT_AND_EVICT && hkv_list_wanted(b),
                 b->value && b->op != HD_OP_FIND_OR_INSERT_PTR,
                 hkv_scores_for(v, b) };
    return c;
}

/* Of the item, what is the same for all. */
static hkv_item item_of(const course *c)
{
    hkv_item it;
    memset(&it, 0, sizeof it);
    it.op = c->b->op;
    it.elem = c->b->elem;
    it.flag = HD_EITHER;
    it.in.given = 1;
    it.in.epoch = c->when.epoch;
    it.holder = c->b->holder;
    it.raw = c->b->raw_scores;
    return it;
}

/* Makes it item i. */
static inline void item_set(hkv_item *it, const hkv_view *v, const course *c, uint64_t i)
{
    const hd_batch *b = c->b;
    it->key = b->key[i];
    if (b->flag) it->flag = b->flag[i];
    if (c->values) it->value = (const char *)b->value + i * v->value_bytes;
    if (c->score) it->in.given = c->score[i];
    it->in.now = c->when.clock + i * c->when.per_item;
    it->in.tick = hd_tick_at(it->in.now, c->when.opened);
}

static inline void deliver(const hkv_view *v, const course *c, uint64_t i, const hkv_seen *seen)
{
    const hd_batch *b = c->b;
    if (b->outcome) b->outcome[i] = (uint8_t)seen->outcome;
    if (b->found)
        b->found[i] = HD_OP_IN(seen->outcome, HD_OUTCOMES_FOUND) ||
                      (seen->outcome == HD_MISS && seen->entry != HKV_NOWHERE); /* unlock_keys: present, not pinned */
    if (!(c->does & (HD_GIVES_BOTH | HD_GIVES_PTR))) return;
    bool found = seen->outcome == HD_HIT || seen->outcome == HD_PINNED;
    bool placed = seen->outcome == HD_INSERTED || seen->outcome == HD_EVICTED;
    if ((c->does & HD_GIVES_VALUE) && found && b->value_out && v->value_bytes)
        memcpy((char *)b->value_out + i * v->value_bytes, hkv_value(v, seen->entry), v->value_bytes);
    if ((c->does & HD_GIVES_SCORE) && found && b->score_out) b->score_out[i] = *hkv_score_at(v, seen->entry);
    if (!(c->does & HD_GIVES_PTR) || !b->ptr || seen->outcome == HD_RESERVED) return;
    if (b->op == HD_OP_FIND_OR_INSERT_PTR)
        b->ptr[i] = found || placed ? (void *)(uintptr_t)(seen->entry + 1) : NULL; /* give_pointers */
    else if (found)
        b->ptr[i] = hkv_value(v, seen->entry);
}

/* A later item may have evicted the entry that an item of find_or_insert_ptr found or inserted. So b->ptr has numbers
 * of entries, plus 1, until all items have run. The keys of the entries are asked for some items early. */
static void give_pointers(const hkv_view *v, const hd_batch *b, uint64_t first, uint64_t last)
{
    enum { AHEAD = 16 };
    for (uint64_t i = first; i < last; i++) {
        if (i + AHEAD < last && b->key[i + AHEAD] < HD_KEY_RESERVED && b->ptr[i + AHEAD])
            __builtin_prefetch(hkv_key_at(v, (uint64_t)(uintptr_t)b->ptr[i + AHEAD] - 1));
        if (b->key[i] >= HD_KEY_RESERVED || !b->ptr[i]) continue;
        uint64_t e = (uint64_t)(uintptr_t)b->ptr[i] - 1;
        HD_ASSERT(e < hkv_capacity(v), "a pointer is no number of an entry");
        b->ptr[i] = *hkv_key_at(v, e) == b->key[i] ? hkv_value(v, e) : NULL;
    }
}

/* ---- insert_and_evict's list ----------------------------------------------------------------- */

/* Where the rows of a thread go: to the list, if it is the only thread, or else to rows that wait for their places. */
typedef struct gone_list {
    bool alone;
    uint64_t n;      /* rows of the list so far */
    hkv_rows *rows;  /* NULL: alone             */
    uint64_t first;  /* the block's first item */
    uint8_t *listed; /* which of the block's items have a row; NULL: alone */
} gone_list;

/* Where the value of an entry that item i may evict goes. */
static void *gone_value(const hkv_view *v, const course *c, gone_list *g)
{
    if (!c->evicts || !c->b->list_value) return NULL;
    return g->alone ? (char *)c->b->list_value + g->n * v->value_bytes : hkv_row_value(g->rows);
}

/* The entry that item i evicted, whose value is in place already, or the item, which was refused. */
static void list_gone(const hkv_view *v, const course *c, gone_list *g, uint64_t i, const hkv_item *it,
                      const hkv_seen *seen)
{
    bool evicted = seen->outcome == HD_EVICTED, listed = evicted || seen->outcome == HD_REFUSED;
    uint64_t key = evicted ? seen->gone_key : it->key, score = evicted ? seen->gone_score : seen->score;
    const void *value = evicted ? NULL : it->value;
    if (!g->alone) g->listed[i - g->first] = listed;
    if (!listed) return;
    HD_ASSERT(!g->alone || g->n < c->b->n, "more rows than items");
    if (g->alone) {
        hkv_list_put(v, c->b, g->n++, key, value, score, i);
        return;
    }
    if (value && c->b->list_value) memcpy(hkv_row_value(g->rows), value, v->value_bytes);
    hkv_row_add(g->rows, i, key, score);
}

/* ---- Keyed batches --------------------------------------------------------------------------- */

/* What a thread runs: of the items first to last - 1, in order, those that it owns, if there are owners (a thread for
 * each item from `first` on); or else those whose first bucket is in its share of so many. */
typedef struct part {
    uint64_t first, last;
    const uint16_t *owner;
    uint64_t thread, shares;
} part;

static bool has_role(const hd_batch *b, hd_role role) { return hd_op_row_of(b->op)->role == role; }

/* Whether the thread runs item i, whose first bucket is known. */
static inline bool is_its(const part *p, uint64_t i, uint64_t bucket)
{
    if (p->owner) return p->owner[i - p->first] == p->thread;
    return p->shares == 1 || hkv_owner(bucket, p->shares) == p->thread;
}

/* The next items of the part, from *i on. Their digests are asked for, if anything is. Every item is written, and
 * counted if it is the thread's: no processor could predict a branch. */
static void take_window(const hkv_view *v, const hd_batch *b, const part *p, hkv_pace pace, uint64_t *i, hkv_window *w)
{
    uint32_t n = 0;
    uint64_t at = *i;
    for (; at < p->last && n < pace.items; at++) {
        w->item[n] = at;
        w->home[n] = hkv_home_of(v, b->key[at]);
        n += is_its(p, at, w->home[n].bucket[0]);
    }
    HD_ASSERT(n <= HKV_WINDOW, "a window has more items than fit");
    w->n = n;
    *i = at;
    if (pace.stages) hkv_ask_digests(v, w);
}

static void run_window(hkv_view *v, const course *c, hkv_item *it, const hkv_window *w, gone_list *g, uint64_t *tally)
{
    for (uint32_t k = 0; k < w->n; k++) {
        uint64_t i = w->item[k];
        hkv_seen seen;
        item_set(it, v, c, i);
        hkv_apply_at(v, it, &w->home[k], &seen, gone_value(v, c, g));
        deliver(v, c, i, &seen);
        HD_ASSERT((unsigned)seen.outcome < HD_OUTCOME_COUNT, "an item has no outcome");
        tally[seen.outcome]++;
        if (c->evicts) list_gone(v, c, g, i, it, &seen);
    }
}

static void run_part(hkv_view *v, const course *c, const part *p, gone_list *g, uint64_t *tally)
{
    hkv_pace pace = hkv_pace_of(v, c->uses);
    uint32_t way = pace.stages + 1; /* windows on their way */
    uint64_t i = p->first;
    hkv_item it = item_of(c);
    hkv_window w[HKV_STAGES + 1];
    for (uint32_t k = 0; k < way; k++) w[k].n = w[k].guesses = w[k].found = 0;
    for (uint32_t now = 0, idle = 0; idle <= way; now = (now + 1) % way) {
        /* from the newest window to the oldest one, which runs */
        take_window(v, c->b, p, pace, &i, &w[now]);
        for (uint32_t k = 0; k < pace.stages; k++) hkv_look_ahead(v, c->b, c->uses, k, &w[(now + way - k - 1) % way]);
        hkv_window *oldest = &w[(now + 1) % way];
        idle = oldest->n ? 0 : idle + 1;
        run_window(v, c, &it, oldest, g, tally);
        oldest->n = 0;
    }
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Whether an item may write what an item of another first bucket reads. In dual mode an item may insert into its second
 * bucket, erase there, and lower the bound of eight entries of several keys. */
static bool takes_turns(const hkv_view *v, const course *c)
{
    if (!v->dual || has_role(c->b, HD_READER)) return false;
    return has_role(c->b, HD_INSERTER) || (v->bound && c->does & HD_SCORES);
}

/* How many items run before the threads wait for each other; 0: one thread runs them all. */
static uint64_t block_of(const hkv_view *v, const course *c)
{
    enum { ROWS_LEAST = 16 };
    uint64_t turns = hkv_turns_of(v), rows = hkv_rows_most(v->value_bytes), block = UINT64_MAX;
    bool shares = takes_turns(v, c);
    if ((shares && turns < HKV_TURNS_LEAST) || (c->evicts && rows < ROWS_LEAST)) return 0;
    if (shares) block = turns;
    if (c->evicts && rows < block) block = rows < HKV_TURNS_MOST ? rows : HKV_TURNS_MOST;
    return block;
}

/* Thread t of many, and what it has of its own. */
typedef struct worker {
    hd_team *team;
    uint32_t t, many;
    hkv_view view;
    gone_list gone;
    hkv_turns *turns; /* NULL: alone */
    uint64_t tally[HD_OUTCOME_COUNT];
} worker;

/* More pins than a table has entries: a thread looks at holders if it has so many, whatever it unpins. */
#define PINS_OF_OTHERS (1ull << 60)

static void worker_begin(worker *k, const hkv_view *v, const course *c)
{
    bool may_pin = hkv_batch_pins(c->b) || c->b->op == HD_OP_UNLOCK_KEYS;
    k->view = *v;
    if (k->many > 1 && may_pin && v->holder) k->view.pins += PINS_OF_OTHERS;
    k->gone.alone = k->many == 1;
    k->gone.n = 0;
    k->gone.rows = NULL;
    k->turns = NULL;
    memset(k->tally, 0, sizeof k->tally);
}

/* The pins that the batch has added. */
static uint64_t worker_pins(const worker *k, const hkv_view *v)
{
    return (k->view.pins - v->pins) & (PINS_OF_OTHERS - 1);
}

/* Every thread runs the blocks one after another. `listed` has two blocks' flags, which take turns: a thread that still
 * reads those of one block is not disturbed by others that are in the next one. */
static void run_blocks(worker *k, const course *c, uint64_t block, uint8_t (*listed)[HKV_TURNS_MOST])
{
    const hd_batch *b = c->b;
    bool turns = k->many > 1 && takes_turns(&k->view, c);
    part p = { 0, 0, turns ? k->turns->owner : NULL, k->t, turns ? 1 : k->many };
    for (uint64_t flags = 0; p.first < b->n; p.first = p.last, flags ^= 1) {
        p.last = k->many > 1 && block < b->n - p.first ? p.first + block : b->n;
        if (turns) hkv_take_turns(&k->view, b->key + p.first, p.last - p.first, k->many, k->turns);
        k->gone.first = p.first;
        k->gone.listed = listed[flags];
        run_part(&k->view, c, &p, &k->gone, k->tally);
        hd_team_meet(k->team);
        if (c->evicts && !k->gone.alone)
            k->gone.n = hkv_rows_place(&k->view, b, k->gone.rows, p.first, p.last - p.first, listed[flags], k->gone.n);
    }
}

/* With the memory that a thread needs if it is not alone. It is not inlined, so that one thread needs little stack. */
static __attribute__((noinline)) void run_blocks_together(worker *k, const course *c, uint64_t block,
                                                          uint8_t (*listed)[HKV_TURNS_MOST])
{
    hkv_rows rows;
    hkv_turns turns;
    hkv_rows_begin(&rows, k->view.value_bytes);
    k->gone.rows = &rows;
    k->turns = &turns;
    run_blocks(k, c, block, listed);
}

static bool is_missed(const hkv_view *v, const hd_batch *b, uint64_t i)
{
    if (b->outcome) return b->outcome[i] == HD_MISS;
    return b->key[i] < HD_KEY_RESERVED && hkv_find(v, b->key[i]) == HKV_NOWHERE;
}

/* find_missed's list of items first to last - 1, from place `at` on; returns the next place. */
static uint64_t list_missed(const hkv_view *v, const hd_batch *b, uint64_t first, uint64_t last, uint64_t at)
{
    for (uint64_t i = first; i < last; i++)
        if (is_missed(v, b, i)) {
            if (b->list_key) b->list_key[at] = b->key[i];
            if (b->list_item) b->list_item[at] = i;
            at++;
        }
    return at;
}

/* Items of a share of the batch each. */
static void run_share(worker *k, const course *c, uint64_t *missed_before)
{
    const hd_batch *b = c->b;
    part p = { hd_team_share(b->n, k->t, k->many), hd_team_share(b->n, k->t + 1, k->many), NULL, k->t, 1 };
    run_part(&k->view, c, &p, &k->gone, k->tally);
    if (b->op != HD_OP_FIND_MISSED || !hkv_list_wanted(b)) return;
    uint64_t at = hkv_add_in_turn(k->team, k->t, k->tally[HD_MISS], missed_before, NULL, NULL);
    uint64_t end = list_missed(&k->view, b, p.first, p.last, at);
    HD_ASSERT(end == at + k->tally[HD_MISS], "the list has another length than was counted");
    HD_ASSERT(end <= b->n, "more rows than items");
}

/* What the threads of a batch have in common. */
typedef struct keyed {
    hkv_view *v;
    const course *how;
    uint64_t block, missed, pinned, listed_all;
    uint8_t listed[2][HKV_TURNS_MOST];
    uint64_t *tally;
} keyed;

static void run_worker(hd_team *m, uint32_t t, uint32_t many, void *context)
{
    keyed *all = (keyed *)context;
    hkv_view *v = all->v;
    const course *c = all->how;
    const hd_batch *b = c->b;
    worker k;
    k.team = m;
    k.t = t;
    k.many = many;
    worker_begin(&k, v, c);
    if (has_role(b, HD_READER))
        run_share(&k, c, &all->missed);
    else if (many == 1)
        run_blocks(&k, c, all->block, all->listed);
    else
        run_blocks_together(&k, c, all->block, all->listed);
    if (b->op == HD_OP_FIND_OR_INSERT_PTR && b->ptr)
        give_pointers(v, b, hd_team_share(b->n, t, many), hd_team_share(b->n, t + 1, many));
    if (t == 0) all->listed_all = k.gone.n;
    hkv_add_in_turn(m, t, worker_pins(&k, v), &all->pinned, k.tally, all->tally);
}

static void run_keyed(hkv_view *v, const hd_batch *b, hkv_when when, uint64_t *tally)
{
    const course c = course_of(v, b, when);
    keyed all;
    all.v = v;
    all.how = &c;
    all.block = block_of(v, &c);
    all.missed = all.pinned = all.listed_all = 0;
    all.tally = tally;
    uint32_t threads = all.block && b->n >= HKV_PARALLEL_ITEMS ? when.threads : 1;
    const uint64_t before = hd_tally_sum(tally);
    hd_team_run(threads, b->n, run_worker, &all);
    HD_ASSERT(hd_tally_sum(tally) - before == b->n, "an item has no outcome, or two");
    if (all.pinned) v->pins = (v->pins + all.pinned) & (PINS_OF_OTHERS - 1); /* readers may run at the same time */
    HD_ASSERT(v->pins <= hkv_capacity(v), "HKV-6: more pins than slots");
    HD_ASSERT(!c.evicts || all.listed_all <= b->n, "more rows than items");
    if (c.evicts && b->count) *b->count = all.listed_all;
    if (b->op == HD_OP_FIND_MISSED && b->count) *b->count = all.missed;
}

bool hkv_batch_pins(const hd_batch *b)
{
    return b->n > 0 && (b->op == HD_OP_LOCK_KEYS || (b->holder && hd_op_does(b->op, HD_MAY_PIN)));
}

void hkv_run_batch(hkv_view *v, const hd_batch *b, hkv_when when, uint64_t *tally)
{
    if (b->op == HD_OP_CLEAR)
        hkv_clear(v, when.threads);
    else if (b->op == HD_OP_PROMOTE)
        hkv_run_promote(v, b, when);
    else if (!hd_op_does(b->op, HD_NEEDS_KEY))
        hkv_run_scan(v, b, when);
    else
        run_keyed(v, b, when, tally);
}
