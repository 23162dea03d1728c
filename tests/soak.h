/* SPDX-License-Identifier: Apache-2.0
 *
 * soak.h - shared by the files of t_soak: sixteen threads, each with a stream, on one table, and what is known of its
 * content while they run.
 *
 *     t_soak.c       threads, rests, legs
 *     soak_own.c     keys that one thread uses: the thread knows their history
 *     soak_shared.c  keys that all threads use: stamps of writers, sums
 *     soak_whole.c   clear, growth, saving and loading by one thread, beside the others
 *     soak_place.c   the backends of the tables
 *
 * **Resets.** Clear and load replace all entries, at a moment that only the calling thread knows. Resets are numbered.
 * They run one at a time, and the content of the table after each is recorded before it begins. A batch records the
 * number of resets that were done before it was submitted (`done`) and the number that had begun when its results were
 * there (`begun`). So it ran after reset `done` and before reset begun + 1. Its result for a key is the key's state,
 * unless a reset has come since; then the state is one of few: the last known one, or what one of the resets left.
 */
#ifndef SOAK_H
#define SOAK_H

#include <pthread.h>
#include <stdatomic.h>

#include "tests/fake_device.h"
#include "tests/far.h"

enum {
    THREADS = 16,
    DEPTH = 3,
    MOST = 512,
    KEYS_MOST = 4096,
    SHARED = 64,
    WORDS = 2,
    RESETS = 8 /* that are remembered */
};

/* Where tables are: on this machine (seam NULL) or on a device. */
typedef struct place {
    const char *backend;
    const hd_device_seam *seam;
    hd_device_seam passing;
    hd_seams seams;
    fake_device fake;
} place;

void place_open(place *p, const char *backend);
void place_close(place *p);
void *place_stream(const place *p);
void place_stream_ends(const place *p, void *stream);

/* One thread's key. */
typedef struct known {
    uint64_t value[WORDS], score;
    uint64_t done, begun, pinned_at; /* resets: of the batch that said so; done, of the one that pinned it */
    bool present, pinned, vague;     /* vague: one of several values; the next that is seen is believed */
} known;

typedef struct arrays {
    uint64_t key[MOST], value[MOST][WORDS], score[MOST], value_out[MOST][WORDS], score_out[MOST], ptr[MOST], count;
    uint8_t flag[MOST], outcome[MOST];
    uint64_t list_key[KEYS_MOST], list_value[KEYS_MOST][WORDS];
} arrays;

/* A batch on its way. */
typedef struct flight {
    arrays *here, *there; /* there: the same without a device */
    hd_batch b;
    uint64_t done, begun; /* resets: before it was submitted, when its answers were there */
    /* of shared key k: what each writer had finished, the thread itself had put there */
    uint64_t over[SHARED][THREADS];
    uint64_t floor[SHARED][THREADS]; /* the oldest that may be read */
} flight;

/* What is in the table after a reset. */
typedef struct content {
    known (*key)[KEYS_MOST]; /* (THREADS) */
} content;

typedef enum soak_leg { OWN, SHARED_ROOM, SHARED_FULL } soak_leg;

typedef struct soak {
    place *p;
    hd_table *t;
    hd_config c;
    soak_leg leg;
    /* of a thread; items at most; rounds between rests, and until one of whole_table */
    uint64_t keys, batch, stretch, one_in;
    bool exact_scores;
    double seconds;
    uint64_t start_ns, end_ns;
    pthread_barrier_t rest;
    /* left: sums that were listed as they left */
    _Atomic uint64_t outcome[HD_OUTCOME_COUNT], ops[HD_OP_COUNT_], items, noticed, added, left;
    _Atomic uint64_t finished[THREADS][SHARED], issued[THREADS], fresh[THREADS], cleared[THREADS][SHARED];
    _Atomic uint64_t done, begun;       /* resets */
    _Atomic uint64_t capacity, growing; /* growing: to what, before it begins */
    content after[RESETS], saved;       /* after reset r: r % RESETS; saved: what the file holds */
    bool has_saved;
    uint64_t saved_capacity, wholes[4]; /* clears, growths, saves, loads */
    _Atomic bool wrong;
    char why[512];
    pthread_mutex_t say;
    struct worker *worker;
    uint64_t rests, settled; /* settled: resets that were done at the last rest */
    uint64_t entries, gone, evicted, inserted, erased, sum, sum_left, sum_added; /* at the last rest */
} soak;

typedef struct worker {
    soak *s;
    uint64_t number, random, stamp;
    void *stream;
    known *key;                                    /* (keys) */
    uint64_t seen[SHARED][THREADS], wrote[SHARED]; /* of shared keys: what was read; what was put on the stream */
    /* resets that were done when the oldest batch on its way was submitted */
    _Atomic uint64_t oldest;
    flight slot[DEPTH];
} worker;

/* The first complaint ends the soak. */
void complain(worker *w, const flight *a, uint64_t i, const char *what);

/* ---- Own keys -------------------------------------------------------------------------------- */

void own_draw(worker *w, flight *a);
/* at rest: takes the pins away that a reset may have dropped; false: there are none */
bool own_draw_doubtful(worker *w, flight *a);
void own_judge(worker *w, flight *a, uint64_t i);
void own_judge_list(worker *w, flight *a);  /* of insert_and_evict */
void own_judge_range(worker *w, flight *a); /* operations without keys */

/* An entry of w's key n that was seen at rest, or in a file, or that was seen to be missing there; no reset is on its
 * way. */
void own_saw(worker *w, uint64_t n, const uint64_t *value, uint64_t score);
void own_missed(worker *w, uint64_t n);

static inline uint64_t own_key(uint64_t thread, uint64_t n) { return (thread + 1) << 32 | n; }
static inline bool own_place(const soak *s, uint64_t key, uint64_t *thread, uint64_t *n)
{
    *thread = (key >> 32) - 1;
    *n = (uint32_t)key;
    return *thread < THREADS && *n < s->keys;
}
static inline uint64_t tag_of(uint64_t key) { return key * 0x9e3779b97f4a7c15u; }

/* ---- Shared keys ----------------------------------------------------------------------------- */

void shared_fill(soak *s);
void shared_draw(worker *w, flight *a);
void shared_judge(worker *w, flight *a, uint64_t i);
void shared_judge_list(worker *w, flight *a);

/* What a file, or the table at rest, has of a key, as if w had looked it up with those floors. Sums are added to
 * *sum. */
void shared_saw(worker *w, const flight *a, uint64_t key, const uint64_t *value, uint64_t *sum);
void shared_floors(worker *w, flight *a);

/* ---- The whole table ------------------------------------------------------------------------- */

/* Now and then one of them, by a thread that has nothing on its way. */
void whole_table(worker *w);
void whole_open(soak *s);
void whole_close(soak *s);

#endif
