/* SPDX-License-Identifier: Apache-2.0
 *
 * volley - four lanes per key, and four keys of each four lanes on their way at once: the loads of all four buckets are out before the first of them is looked
 * at. A block takes a stretch of items in three rounds, and puts off in shared memory what a round does not settle:
 *
 *   first    a volley at each key's first bucket. It settles who is there, and where the bucket is open who is not: a change, and a claim of a slot, is one
 *            compare-and-swap
 *   second   the same at its second bucket, or at the first once more, if another item changed what it was to change, or claims the key there. A newcomer that
 *            finds neither open takes a slot of the first with more than `spare` free ones, else of the emptier
 *   rest     the tile's way (steps.h), a key at a time: third buckets, the stash, keys on the move, displacement, and items that met another of their key
 *
 * Nobody waits in a volley, nor holds a claim when it ends: a claim whose key turns out to be elsewhere, or not yet sure to be nowhere, is given back, and the
 * item goes to the next round.
 *
 * Its compare-and-swaps are relaxed: a word says all there is to say, and what has an order to it, moves, is done by the rest. A round's loads come
 * before the next's by a fence.
 */
#ifdef HIVE_KERNEL_TEXT
enum { HIVE_VOLLEY = 4 /* lanes of a tile, and keys that it has in flight */, HIVE_VOLLEY_THREADS = 256, HIVE_VOLLEY_STRETCH = 1024, HIVE_VOLLEY_REST = HIVE_VOLLEY_STRETCH + 64 };
enum { HIVE_NO_ITEM = HIVE_UNDECIDED + 1 };

/* What is known of a batch and its table when a kernel is compiled, or else read in its arguments. */
typedef struct hive_kind {
    hive_view shape; /* how words and buckets are made; where they are is in the arguments */
    uint32_t op;
    bool mixed, distinct, moves;
    bool aligned; /* values of batches lie on multiples of their size */
} hive_kind;

SIMT_FN hive_kind hive_kind_of(const hive_args *a, uint32_t slots, uint32_t half, uint32_t hashes, bool masks)
{
    hive_kind k;
    k.shape.slots = slots;
    k.shape.half = half;
    k.shape.hashes = hashes;
    k.shape.masks = masks;
    k.op = a->op;
    k.mixed = a->each != (const uint8_t *)0;
    k.distinct = a->distinct;
    k.moves = a->moves;
    k.aligned = false;
    return k;
}

/* A lane's own item of a volley. */
typedef struct hive_shot {
    uint64_t i, h;
    uint32_t key, in;        /* in: the value that it brings               */
    uint32_t op, rule;       /* rule: what its operation says, packed      */
    uint32_t outcome, value; /* value: what was there, of a HIT            */
    uint32_t room;           /* what its first bucket had for it: HIVE_ROOM_ */
    const uint8_t *slot;     /* of a HIT: where, if that is asked          */
    bool beaten;             /* what it wanted to change was not what it had seen any more: all over again */
} hive_shot;

/* A rule, and a room, as numbers. */
enum { HIVE_RULE_CHANGE = 3, HIVE_RULE_INSERT = 4, HIVE_RULE_SECOND = 8 /* it looks in its second bucket */, HIVE_RULE_FOUND = 4 /* shift */ };
enum { HIVE_ROOM_FREE = 0xff /* how many slots are free */, HIVE_ROOM_SLOT = 8 /* shift: the first of them */, HIVE_ROOM_VACANT = 1 << 16 /* which is not fresh */, HIVE_ROOM_AGAIN = 1 << 17 /* it was beaten there */ };

/* ---- The buckets of a volley ------------------------------------------------------------------------------------------- */

/* What this lane has of a bucket, for a key. */
typedef struct hive_share_seen {
    uint32_t key, free; /* the first of its words that is the key, or free; as many as it has: none */
    uint32_t sums;      /* fresh slots, free ones << 8, words that speak of the key << 16           */
} hive_share_seen;

SIMT_FN bool hive_inserts(const hive_kind *k) { return k->mixed || hive_op_inserts(k->op); }
/* Whether a key that is there may stay what it is. */
SIMT_FN bool hive_keeps(const hive_kind *k)
{
    return k->mixed || k->op <= HD_OP_FIND_MISSED || k->op == HD_OP_ACCUM_OR_ASSIGN || k->op == HD_OP_FIND_OR_INSERT;
}
/* Whether a key that is there may become something else. */
SIMT_FN bool hive_changes(const hive_kind *k) { return hive_inserts(k) || k->op == HD_OP_ASSIGN || k->op == HD_OP_ASSIGN_VALUES || k->op == HD_OP_ERASE; }

/* but: a word that is not looked at. */
SIMT_FN hive_share_seen hive_look_at_share(const hive_kind *k, const uint64_t w[HIVE_LANE_WORDS], uint32_t key, uint32_t but)
{
    const hive_view *u = &k->shape;
    uint32_t n = u->slots / HIVE_VOLLEY;
    hive_share_seen s;
    s.key = s.free = n;
    s.sums = 0;
    SIMT_UNROLL
    for (uint32_t j = HIVE_LANE_WORDS; j-- > 0;) {
        if (j >= n) continue;
        uint32_t head = (uint32_t)hive_key_of(u, w[j]);
        if (head == key) s.key = j;
        if (w[j] == hive_fresh(u)) s.sums += 1;
        if (!hive_inserts(k) && !k->moves) continue;
        if (hive_is_free(u, w[j])) {
            s.free = j;
            s.sums += 1 << 8;
        } else if (k->moves && head >= hive_keys(u) && hive_value_of(u, w[j]) == key && j != but) {
            s.sums += 1 << 16;
        }
    }
    return s;
}

/* ---- Tiles of a warp whose lanes are all together: its own collectives are cheaper than those of tiles -------------------------- */

SIMT_FN uint32_t hive_of_u32(simt_tile t, uint32_t x, uint32_t rank) { return simt_shfl_u32(simt_tile_of(32), x, t.base + rank); }
SIMT_FN uint64_t hive_of_u64(simt_tile t, uint64_t x, uint32_t rank) { return simt_shfl_u64(simt_tile_of(32), x, t.base + rank); }
SIMT_FN uint32_t hive_votes(simt_tile t, bool p) { return simt_ballot(simt_tile_of(32), p) >> t.base & ((1u << HIVE_VOLLEY) - 1); }
SIMT_FN uint32_t hive_sum_of(simt_tile t, uint32_t x)
{
    SIMT_UNROLL
    for (uint32_t bit = t.size / 2; bit > 0; bit /= 2) x += simt_shfl_xor_u32(simt_tile_of(32), x, bit);
    return x;
}

/* ---- Claims of a volley, where keys may repeat ---------------------------------------------------------------------------- */

/* Lanes whose own item has claimed slot `slot` of its candidate `in` see now whether nobody else brings the key, and put it there, or give the claim back. What the key's
 * way has behind an open bucket nobody has to see: it was open when the claim was made, and before. Returns whether this lane's key is in the table. */
SIMT_FN bool hive_volley_verify(simt_tile t, const hive_args *a, const hive_kind *k, const hive_shot *s, bool claimed, bool in, uint32_t slot)
{
    const hive_view *u = &k->shape, *v = &a->v;
    simt_tile warp = simt_tile_of(32);
    uint32_t n = u->slots / HIVE_VOLLEY, claims = hive_votes(t, claimed);
    uint64_t first = hive_candidate(v, s->h, 0), second = hive_candidate(v, s->h, 1), w[HIVE_VOLLEY][HIVE_LANE_WORDS];
    uint8_t *at_first = (uint8_t *)hive_bucket(v, first), *at_second = (uint8_t *)hive_bucket(v, second);
    bool mine = false;
    simt_sync_tile(warp);
    simt_fence(); /* of two that claim, the one whose fence is later sees the other's claim */
    bool last = u->hashes == 2 && hive_count_stashed(warp, a) == 0;
    SIMT_UNROLL
    for (uint32_t q = 0; q < HIVE_VOLLEY; q++) hive_load_words(u, (uint8_t *)(uintptr_t)hive_of_u64(t, (uintptr_t)at_first, q) + t.rank * n * hive_word_bytes(u), n, false, w[q]);
    SIMT_UNROLL
    for (uint32_t q = 0; q < HIVE_VOLLEY; q++) {
        uint32_t key = hive_of_u32(t, s->key, q), own = hive_of_u32(t, in ? 256 | slot : slot, q), but = own % 256 / n == t.rank ? own % 256 % n : HIVE_LANE_WORDS;
        bool same = hive_of_u32(t, first == second, q) != 0;
        hive_share_seen seen = hive_look_at_share(k, w[q], key, own < 256 || same ? but : HIVE_LANE_WORDS);
        uint32_t sums = hive_sum_of(t, seen.sums + ((uint32_t)(seen.key < n) << 16));
        bool asked = (claims >> q & 1) != 0, alone = sums >> 16 == 0, ends = (sums & 0xff) > v->spare || last;
        bool goes_on = asked && alone && (sums & 0xff) <= v->spare;
        if (simt_any(warp, goes_on)) {
            hive_load_words(u, (uint8_t *)(uintptr_t)hive_of_u64(t, (uintptr_t)at_second, q) + t.rank * n * hive_word_bytes(u), n, false, w[q]);
            seen = hive_look_at_share(k, w[q], key, own >= 256 || same ? but : HIVE_LANE_WORDS);
            sums = hive_sum_of(t, seen.sums + ((uint32_t)(seen.key < n) << 16));
            if (goes_on) {
                alone = sums >> 16 == 0;
                ends = (sums & 0xff) > v->spare || last;
            }
        }
        if (t.rank == q) mine = asked && alone && ends;
    }
    if (claimed) {
        hive_set_at(u, (in ? at_second : at_first) + slot * hive_word_bytes(u), mine ? hive_pack(u, s->key, s->in) : hive_vacant(u));
        if (mine) simt_ticket_store(s->i, HD_INSERTED, 0, (in ? second : first) * u->slots + slot);
    }
    simt_join();
    return mine;
}

/* ---- A volley -------------------------------------------------------------------------------------------------------------- */

/* The tile's four items, a lane's own each, look in their first candidate, or, as their rule says, in their second; first: all in their first. The second is the last
 * before the stash, and nobody is there: `last`. */
SIMT_FN void hive_volley(simt_tile t, const hive_args *a, const hive_kind *k, bool first, bool last, hive_shot *s)
{
    const hive_view *u = &k->shape, *v = &a->v;
    uint32_t n = u->slots / HIVE_VOLLEY, live = hive_votes(t, s->outcome == HIVE_UNDECIDED);
    uint64_t bucket = hive_candidate(v, s->h, !first && s->rule & HIVE_RULE_SECOND ? 1 : 0), w[HIVE_VOLLEY][HIVE_LANE_WORDS];
    uint8_t *home = (uint8_t *)hive_bucket(v, bucket), *at[HIVE_VOLLEY];
    uint32_t done = 0, slot = 0;          /* bits of items: this lane has made their change; where the own item's is, if a newcomer */
    uint32_t then = HIVE_UNDECIDED;       /* what becomes of the lane's own item if its change was made */
    bool asks = false, elsewhere = false; /* whether it needs one; and in its first bucket              */
    SIMT_UNROLL
    for (uint32_t q = 0; q < HIVE_VOLLEY; q++) {
        at[q] = (uint8_t *)(uintptr_t)hive_of_u64(t, (uintptr_t)home, q) + t.rank * n * hive_word_bytes(u);
        hive_load_words(u, at[q], n, false, w[q]); /* of no item, too: what it says is not asked */
    }
    SIMT_UNROLL
    for (uint32_t q = 0; q < HIVE_VOLLEY; q++) {
        uint32_t key = hive_of_u32(t, s->key, q), rule = s->rule, in = 0, room = 0;
        uint64_t i = simt_tells() ? hive_of_u64(t, s->i, q) : 0, base = simt_tells() ? hive_of_u32(t, (uint32_t)bucket, q) * (uint64_t)u->slots + t.rank * n : 0;
        if (k->mixed || (a->flag && k->op == HD_OP_ACCUM_OR_ASSIGN)) rule = hive_of_u32(t, rule, q);
        else if (!first) rule = (rule & ~(uint32_t)HIVE_RULE_SECOND) | (hive_of_u32(t, rule, q) & HIVE_RULE_SECOND); /* all others of it are everybody's */
        if (hive_changes(k)) in = hive_of_u32(t, s->in, q);
        bool step = !first && rule & HIVE_RULE_SECOND;
        if (!first && hive_inserts(k)) room = hive_of_u32(t, s->room, q);
        hive_share_seen seen = hive_look_at_share(k, w[q], key, HIVE_LANE_WORDS);
        uint32_t sums = hive_sum_of(t, seen.sums), who = hive_votes(t, seen.key < n), free = 0;
        uint32_t change = rule & HIVE_RULE_CHANGE, found = rule >> HIVE_RULE_FOUND, actor = t.size, slots = sums >> 8 & 0xff;
        if (hive_inserts(k)) free = hive_votes(t, seen.free < n);
        bool here = (live >> q & 1) != 0, there = here && who, absent = here && !there && (!k->moves || sums >> 16 == 0), open = (sums & 0xff) > v->spare, takes = false;
        uint64_t word = hive_pick(w[q], there ? seen.key : seen.free), to = 0;
        if (there) {
            actor = simt_ffs(who) - 1;
            to = hive_changed(a, u, change, key, word, in);
        } else if (absent && rule & HIVE_RULE_INSERT && (!step || last)) {
            uint32_t before = room & HIVE_ROOM_FREE; /* the first bucket with more than is spared, else the one with more */
            takes = open || (step && before <= v->spare && slots > before);
            if (takes) actor = simt_ffs(free) - 1;
            to = hive_first_word(u, k->distinct, key, in);
        }
        bool keeps = there && change == HIVE_KEEP, acts = takes || (there && change != HIVE_KEEP);
        uint32_t j = there ? seen.key : seen.free;
        if (acts && t.rank == actor && hive_cas_at(u, at[q] + j * hive_word_bytes(u), word, to)) {
            done |= 1u << q;
            if (there) simt_ticket(i, found, 0, base + j);
            if (takes && k->distinct) simt_ticket(i, HD_INSERTED, 0, base + j);
        }
        if (keeps && t.rank == actor) simt_ticket(i, HD_HIT, 0, base + j);
        simt_join();
        uint32_t old = 0, lies = 0;
        if (hive_keeps(k)) old = hive_of_u32(t, (uint32_t)hive_value_of(u, word), actor & (HIVE_VOLLEY - 1));
        if (k->op == HD_OP_FIND_PTR && a->ptr) lies = hive_of_u32(t, t.rank * n + j, actor & (HIVE_VOLLEY - 1));
        uint32_t spot = 0; /* the first free slot, if there is one */
        if (hive_inserts(k)) spot = hive_of_u32(t, (t.rank * n + seen.free) << HIVE_ROOM_SLOT | (hive_pick(w[q], seen.free) == hive_fresh(u) ? 0 : (uint32_t)HIVE_ROOM_VACANT), free ? simt_ffs(free) - 1 : 0);
        if (!step) room = free && absent ? spot | slots : 0;
        if (k->moves && !step && here && !there && !absent) room = HIVE_ROOM_AGAIN; /* somebody has hold of the key: that the bucket is not open, it does not say */
        if (t.rank == q) {
            s->value = old;
            s->room = room;
            slot = spot >> HIVE_ROOM_SLOT & 0xff;
            if (k->op == HD_OP_FIND_PTR && a->ptr) s->slot = home + lies * hive_word_bytes(u);
            if (there) then = found;
            else if (takes) then = HD_INSERTED;
            else if (absent && !(rule & HIVE_RULE_INSERT) && (open || (step && last))) then = HD_MISS;
            asks = acts;
            elsewhere = absent && !takes && step && last && rule & HIVE_RULE_INSERT && room != 0;
        }
    }
    if (elsewhere) { /* the item's own lane: a slot of its first bucket, as that was seen */
        uint64_t b = hive_candidate(v, s->h, 0);
        slot = s->room >> HIVE_ROOM_SLOT & 0xff;
        uint64_t was = s->room & HIVE_ROOM_VACANT ? hive_vacant(u) : hive_fresh(u), to = hive_first_word(u, k->distinct, s->key, s->in);
        elsewhere = hive_cas_at(u, (uint8_t *)hive_bucket(v, b) + slot * hive_word_bytes(u), was, to);
        if (elsewhere && k->distinct) simt_ticket(s->i, HD_INSERTED, 0, b * u->slots + slot);
        then = HD_INSERTED;
        asks = true;
    }
    simt_join();
    uint32_t made = 0;
    SIMT_UNROLL
    for (uint32_t q = 0; q < HIVE_VOLLEY; q++) made |= (uint32_t)(hive_votes(t, done >> q & 1) != 0) << q;
    bool good = elsewhere || made >> t.rank & 1;
    if (hive_inserts(k) && !k->distinct) {
        bool claimed = s->outcome == HIVE_UNDECIDED && then == HD_INSERTED && good;
        bool sure = !claimed;
        if (simt_any(simt_tile_of(32), claimed)) sure = hive_volley_verify(t, a, k, s, claimed, !first && s->rule & HIVE_RULE_SECOND && !elsewhere, slot) || sure;
        good = good && sure;
    }
    if (s->outcome != HIVE_UNDECIDED) return;
    s->beaten = asks && !good;
    if (!s->beaten) s->outcome = then;
    if (s->outcome == HD_MISS) simt_ticket(s->i, HD_MISS, 0, HIVE_NOWHERE);
}

/* ---- A block's stretch of items ------------------------------------------------------------------------------------------------ */

/* What a round leaves to the next, as pairs of numbers: to the second, items of the stretch, and the room that their first bucket had; to the rest, items, in
 * halves. */
typedef struct hive_later {
    uint32_t *count; /* (1)               */
    uint32_t *a, *b; /* (as many as fit)  */
} hive_later;

/* The warp's lanes whose item is `off` put it off. */
SIMT_FN void hive_put_off(const hive_later *l, bool off, uint32_t a, uint32_t b)
{
    simt_tile w = simt_tile_of(32);
    uint32_t all = simt_ballot(w, off), at = 0;
    if (!all) return;
    if (w.rank == 0) at = simt_shared_add_u32(l->count, simt_popc(all));
    simt_join();
    at = simt_shfl_u32(w, at, 0) + simt_popc(all & ((1u << w.rank) - 1));
    if (off) {
        simt_st_u32(l->a + at, a);
        simt_st_u32(l->b + at, b);
    }
    simt_join();
}

/* A lane's outcomes, twelve bits for each, five in a word. */
typedef struct hive_counts {
    uint64_t of[2];
} hive_counts;
enum { HIVE_COUNTS_BITS = 12, HIVE_COUNTS_WORD = 5, HIVE_COUNTS_STRETCHES = 256 /* that cannot make more */ };

SIMT_FN void hive_count_outcome(hive_counts *c, uint32_t outcome)
{
    bool high = outcome >= HIVE_COUNTS_WORD;
    uint64_t one = 1ull << HIVE_COUNTS_BITS * (high ? outcome - HIVE_COUNTS_WORD : outcome);
    c->of[0] += high ? 0 : one;
    c->of[1] += high ? one : 0;
}

/* To the table's. */
SIMT_FN void hive_count_up(const hive_args *a, hive_counts *c)
{
    simt_tile w = simt_tile_of(32);
    SIMT_ROLLED
    for (uint32_t o = 0; o < HD_OUTCOME_COUNT; o++) {
        uint32_t bits = HIVE_COUNTS_BITS * (o % HIVE_COUNTS_WORD), n = (uint32_t)((o < HIVE_COUNTS_WORD ? c->of[0] : c->of[1]) >> bits) & ((1 << HIVE_COUNTS_BITS) - 1);
        n = simt_reduce_add_u32(w, n);
        if (n && w.rank == 0) simt_add_u64(a->tally + o, n, SIMT_RELAXED);
        simt_join();
    }
    c->of[0] = c->of[1] = 0;
}

SIMT_FN void hive_volley_deliver(const hive_args *a, const hive_kind *k, hive_counts *c, const hive_shot *s)
{
    if (s->outcome < HD_OUTCOME_COUNT) {
        hive_count_outcome(c, s->outcome);
        hive_deliver(a, s->i, s->op, s->outcome, s->value, s->slot, k->aligned);
    }
    simt_join();
}

/* The lane's own item, i, if there is one. */
SIMT_FN hive_shot hive_load_shot(const hive_args *a, const hive_kind *k, uint64_t i, bool is)
{
    uint32_t bytes = k->shape.half / 8, flag = HD_EITHER;
    uint64_t key = 0;
    hive_shot s;
    s.i = i;
    s.in = s.value = s.room = 0;
    s.slot = (const uint8_t *)0;
    s.beaten = false;
    s.op = k->op;
    s.outcome = HIVE_NO_ITEM;
    if (is) {
        key = simt_ld_u64(a->key + i);
        if (k->mixed) s.op = simt_ld_u8(a->each + i);
        if (a->flag && s.op == HD_OP_ACCUM_OR_ASSIGN) flag = simt_ld_u8(a->flag + i);
        if (a->value && hive_changes(k)) s.in = hive_value_in(a->value + i * bytes, bytes, k->aligned);
        s.outcome = key < hive_keys(&k->shape) ? (uint32_t)HIVE_UNDECIDED : (uint32_t)HD_RESERVED;
    }
    simt_join();
    hive_one o;
    o.op = s.op;
    hive_rule(&o, flag);
    s.key = (uint32_t)key;
    s.h = hive_hash(&a->v, key);
    s.rule = o.change | (o.insert ? (uint32_t)HIVE_RULE_INSERT : 0) | o.found << HIVE_RULE_FOUND;
    return s;
}

SIMT_FN void hive_volley_first(simt_tile t, const hive_args *a, const hive_kind *k, uint64_t first, uint64_t end, const hive_later *second, hive_counts *c)
{
    for (uint64_t x = first + simt_thread() / 32 * 32; x < end; x += simt_threads()) {
        uint64_t i = x + simt_lane();
        if (i < end) simt_started(i);
        hive_shot s = hive_load_shot(a, k, i, i < end);
        if (s.outcome == HD_RESERVED) simt_ticket(i, HD_RESERVED, 0, HIVE_NOWHERE);
        simt_join();
        hive_volley(t, a, k, true, false, &s);
        simt_join();
        hive_volley_deliver(a, k, c, &s);
        hive_put_off(second, s.outcome == HIVE_UNDECIDED, (uint32_t)(i - first), s.beaten ? (uint32_t)HIVE_ROOM_AGAIN : s.room);
    }
}

SIMT_FN void hive_volley_second(simt_tile t, const hive_args *a, const hive_kind *k, uint64_t first, const hive_later *from, const hive_later *rest, hive_counts *c)
{
    uint32_t count = simt_ld_u32(from->count);
    for (uint32_t x = simt_thread() / 32 * 32; x < count; x += simt_threads()) {
        uint32_t m = x + simt_lane(), item = 0, room = 0;
        if (m < count) {
            item = simt_ld_u32(from->a + m);
            room = simt_ld_u32(from->b + m);
        }
        simt_join();
        hive_shot s = hive_load_shot(a, k, first + item, m < count);
        s.room = room;
        if (!(room & HIVE_ROOM_AGAIN)) s.rule |= HIVE_RULE_SECOND;
        bool last = k->shape.hashes == 2 && hive_count_stashed(simt_tile_of(32), a) == 0;
        hive_volley(t, a, k, false, last, &s);
        simt_join();
        hive_volley_deliver(a, k, c, &s);
        hive_put_off(rest, s.outcome == HIVE_UNDECIDED, (uint32_t)s.i, (uint32_t)(s.i >> 32));
    }
}

SIMT_FN void hive_volley_rest(const hive_args *a, const hive_kind *k, const hive_later *from, hive_counts *c)
{
    simt_tile t = simt_tile_of(8);
    uint32_t count = simt_ld_u32(from->count), warps = simt_threads() / 32, own = simt_thread() / 32 + simt_lane() / t.size * warps;
    for (uint32_t x = own; x < count; x += simt_threads() / t.size) { /* tiles of one warp hinder one another: as few of each as there are items */
        uint64_t low = simt_ld_u32(from->a + x), high = simt_ld_u32(from->b + x);
        hive_one o = hive_begin_as(t, a, high << 32 | low, k->op, k->mixed);
        while (!hive_try(t, a, &o)) simt_backoff(64);
        if (t.rank == 0) {
            hive_count_outcome(c, o.outcome);
            hive_deliver_one(a, &o);
        }
        simt_join();
    }
}

SIMT_FN void hive_volleys(const hive_args *a, const hive_kind *k)
{
    SIMT_SHARED(uint32_t, room, 2 * HIVE_VOLLEY_STRETCH + 2 * HIVE_VOLLEY_REST);
    SIMT_SHARED(uint32_t, counts, 2);
    simt_tile t = simt_tile_of(HIVE_VOLLEY);
    hive_counts c;
    uint32_t stretches = 0;
    uint64_t share = (a->last - a->first + simt_blocks() - 1) / simt_blocks(), stretch = share < HIVE_VOLLEY_STRETCH ? (share + 31) / 32 * 32 : HIVE_VOLLEY_STRETCH;
    hive_later second, rest;
    second.count = counts;
    second.a = room;
    second.b = second.a + HIVE_VOLLEY_STRETCH;
    rest.count = counts + 1;
    rest.a = second.b + HIVE_VOLLEY_STRETCH;
    rest.b = rest.a + HIVE_VOLLEY_REST;
    c.of[0] = c.of[1] = 0;
    if (simt_thread() < 2) simt_st_u32(counts + simt_thread(), 0);
    simt_join();
    bool more = true;
    for (uint64_t first = a->first + simt_block() * stretch; more; first += simt_blocks() * stretch) {
        more = first < a->last;
        simt_sync_block();
        if (more) {
            hive_volley_first(t, a, k, first, a->last - first < stretch ? a->last : first + stretch, &second, &c);
            if (k->moves) simt_fence();
            simt_sync_block();
            hive_volley_second(t, a, k, first, &second, &rest, &c);
            simt_sync_block();
            if (simt_thread() == 0) simt_st_u32(second.count, 0);
            simt_join();
        }
        if (!more || simt_ld_u32(rest.count) > HIVE_VOLLEY_REST - HIVE_VOLLEY_STRETCH) { /* the next stretch might leave more than there is room for */
            hive_volley_rest(a, k, &rest, &c);
            simt_sync_block();
            if (simt_thread() == 0) simt_st_u32(rest.count, 0);
            simt_join();
        }
        if (++stretches % HIVE_COUNTS_STRETCHES == 0) hive_count_up(a, &c);
    }
    simt_join();
    hive_count_up(a, &c);
}

SIMT_FN void hive_volley_items(const hive_args *a)
{
    hive_kind k = hive_kind_of(a, a->v.slots, a->v.half, a->v.hashes, false);
    hive_volleys(a, &k);
}
#endif
HIVE_KERNEL(volley, items, 1, 256, hive_fits_volley, ORDER, "four lanes per key, four keys of each in flight, in rounds by bucket; what remains goes the tile's way")
#ifdef HIVE_SPECIAL
HIVE_SPECIAL(volley, items, FIND, false, false, 4)
HIVE_SPECIAL(volley, items, CONTAINS, false, false, 4)
HIVE_SPECIAL(volley, items, ASSIGN, false, false, 3)
HIVE_SPECIAL(volley, items, ASSIGN_VALUES, false, false, 3)
HIVE_SPECIAL(volley, items, INSERT_OR_ASSIGN, false, false, 3)
HIVE_SPECIAL(volley, items, INSERT_OR_ASSIGN, false, true, 3)
HIVE_SPECIAL(volley, items, FIND_OR_INSERT, false, false, 3)
HIVE_SPECIAL(volley, items, FIND_OR_INSERT, false, true, 3)
HIVE_SPECIAL(volley, items, ACCUM_OR_ASSIGN, false, false, 3)
HIVE_SPECIAL(volley, items, ERASE, false, false, 3)
HIVE_SPECIAL(volley, items, FIND, true, false, 3)
HIVE_SPECIAL(volley, items, FIND, true, true, 3)
#endif
