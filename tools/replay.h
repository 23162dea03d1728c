/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.h - requests through tables: one request is one insert_or_assign with one logical tick, submitted in trace
 * order in batches. The reference runs the items of a batch in their order, so its figures do not depend on the size of
 * the batches. Kernels run them side by side: their figures are those of the reference only in batches of one. A miss
 * is an outcome INSERTED, EVICTED or REFUSED. The verbs sim and sweep are callers; each row is a table of its own, or
 * an exact cache (baseline.h), that reads the source from its beginning.
 */
#ifndef HD_REPLAY_H
#define HD_REPLAY_H

#include "tools/baseline.h"
#include "tools/request.h"
#include "tools/trace_out.h"

enum { REPLAY_BATCH = 4096, REPLAY_BATCH_MOST = 1 << 24, REPLAY_SEEDS_MOST = 10000, REPLAY_WINDOWS_MOST = 1 << 20 };

/* What a policy that takes scores is given for each request. */
typedef enum replay_score {
    REPLAY_DEFAULT, /* none: 1 for the counting policies; custom gets next */
    REPLAY_NEXT,    /* the sooner the key's next access, the higher: with `custom` Belady's choice */
    REPLAY_SIZE,    /* the smaller, the higher */
    REPLAY_TIME     /* the trace's own time    */
} replay_score;

typedef struct replay_plan {
    const hd_source_args *source;
    uint64_t limit;       /* requests; 0: all                                */
    uint64_t warmup;      /* the first so many are replayed and not counted  */
    uint64_t epoch_every; /* requests per epoch; 0: the epoch stays 0        */
    uint64_t seed;        /* of the hash                                     */
    uint64_t batch;       /* requests of a batch; 0: REPLAY_BATCH            */
    const char *backend;  /* of the tables; NULL: the default                */
    const char *kernel;   /* the variant of the batches; NULL: the table chooses, in batches of one tlpv1 (replay.c) */
    uint32_t slots;       /* 0: about 128, so that the capacity is nearest   */
    uint32_t value_bytes;
    uint32_t threads; /* rows at once; what is left over goes into tables */
    bool dual;
    hd_admit admit;
    bool lenient;
    bool laned; /* exact caches run in lanes (replay_lanes.h) */
    replay_score score;
    const char *save;     /* NULL, or where the (only) row's table is saved                  */
    const char *outcomes; /* NULL, or where the (only) row's outcomes go, a byte per request */
    uint32_t seeds;       /* runs of each row; 0: one, and no spread is reported             */
    uint64_t every;       /* requests of a window; 0: there are no windows                   */
    bool fails;           /* fail_above is given                                             */
    double fail_above;    /* a miss ratio                                                    */
    double rate;          /* of the sample of keys that exact caches get; 0: all keys        */
} replay_plan;

/* Rows of an option table, whose fields are in a replay_plan, and the parser of those without a field. */
enum {
    REPLAY_DUAL = 0x200,
    REPLAY_ADMIT,
    REPLAY_SCORE,
    REPLAY_EPOCH,
    REPLAY_WARMUP,
    REPLAY_VALUES,
    REPLAY_SEED,
    REPLAY_LENIENT,
    REPLAY_BACKEND,
    REPLAY_SIZE_OF_BATCH,
    REPLAY_KERNEL,
    REPLAY_SEEDS,
    REPLAY_EVERY,
    REPLAY_FAIL
};
/* clang-format off */
#define REPLAY_OPTIONS                                                                                        \
    { "slots", 's', "N",                                                                                      \
      "slots per bucket, 2 to 4096 (128, or near it when that gives a capacity nearer to the size; "          \
      "one bucket when the size is smaller)", TOOL_RANGE(replay_plan, slots, HD_SLOTS_MIN, HD_SLOTS_MAX),     \
      .group = "Tables:" },                                                                                   \
    { "dual", REPLAY_DUAL, NULL, "two candidate buckets per key", TOOL_FIELD(replay_plan, dual) },            \
    { "admit", REPLAY_ADMIT, "score|always",                                                                  \
      "whether a full bucket may refuse a newcomer whose score is low (score)", .kind = TOOL_BY_PARSER },     \
    { "values", REPLAY_VALUES, "BYTES", "bytes per value, 0 to 65536 (0)",                                    \
      TOOL_RANGE(replay_plan, value_bytes, 0, HD_VALUE_BYTES_MAX) },                                          \
    { "seed", REPLAY_SEED, "N", "of the table's hash (0)", TOOL_RANGE(replay_plan, seed, 0, UINT64_MAX) },    \
    { "backend", REPLAY_BACKEND, "NAME", "of the tables: ref, host, cuda (ref)",                              \
      TOOL_FIELD(replay_plan, backend) },                                                                     \
    { "batch", REPLAY_SIZE_OF_BATCH, "N",                                                                     \
      "requests of a batch (4096); only with kernels, which run them side by side, do figures depend on it",  \
      TOOL_RANGE(replay_plan, batch, 1, REPLAY_BATCH_MOST) },                                                 \
    { "kernel", REPLAY_KERNEL, "NAME",                                                                        \
      "the kernel variant (the table's choice; in batches of one tlpv1, which breaks ties as the reference)", \
      TOOL_FIELD(replay_plan, kernel) },                                                                      \
    { "score", REPLAY_SCORE, "next|size|time",                                                                \
      "what policies that take scores are given: the sooner the next access (with "                           \
      "custom: Belady's choice), the smaller, or the later, the higher", .kind = TOOL_BY_PARSER,              \
      .group = "Requests:" },                                                                                 \
    { "epoch", REPLAY_EPOCH, "N", "a new epoch every N requests",                                             \
      TOOL_RANGE(replay_plan, epoch_every, 1, UINT64_MAX) },                                                  \
    { "warmup", REPLAY_WARMUP, "N", "do not count the first N requests",                                      \
      TOOL_RANGE(replay_plan, warmup, 0, UINT64_MAX) },                                                       \
    { "lenient", REPLAY_LENIENT, NULL, "count bad records and go on where one can be skipped",                \
      TOOL_FIELD(replay_plan, lenient) },                                                                     \
    { "threads", 't', "N", "rows at a time; those left over work inside the tables",                          \
      TOOL_RANGE(replay_plan, threads, 1, 1024), .group = "Runs and reports:" },                              \
    { "seeds", REPLAY_SEEDS, "N", "run each row with N seeds, --seed and those that follow, and report "      \
      "mean, least, most and standard deviation of the miss ratio",                                           \
      TOOL_RANGE(replay_plan, seeds, 1, REPLAY_SEEDS_MOST) },                                                 \
    { "every", REPLAY_EVERY, "N", "the miss ratio over time: report a row for every N requests of each row",  \
      TOOL_RANGE(replay_plan, every, 1, UINT64_MAX) },                                                        \
    { "fail-above", REPLAY_FAIL, "RATIO",                                                                     \
      "exit with 1 if the miss ratio of a row is above RATIO, 0 to 1", .kind = TOOL_BY_PARSER }
/* clang-format on */
error_t replay_option(int key, const char *arg, void *plan);

/* What became of requests. Those for keys that no table holds are in `requests` and in `reserved`, and nowhere else. */
typedef struct replay_count {
    uint64_t requests, misses, evicted, refused, reserved;
    uint64_t bytes, missed_bytes; /* sizes of the objects: of all requests, and of misses */
    uint64_t unsampled;           /* requests that the sample lacks; they are in no other number */
    double rate;                  /* of the sample; 0: there is none                        */
} replay_count;

/* One run: a policy, a size and a seed. */
typedef struct replay_row {
    const char *policy, *asked; /* in: "lru", "1%"                     */
    const baseline_row *full;   /* in: NULL, or the policy is this     */
    uint64_t size;              /* in: entries or bytes                */
    uint64_t capacity;          /* the nearest that buckets can have   */
    uint64_t seed;              /* in: of the hash                     */
    uint32_t slots;
    bool repeats;         /* in: it does not depend on the seed, and has the results of the row before it */
    bool ran;             /* in: it has its results, of a lane (replay_lanes.h) */
    bool bytes;           /* in: size and capacity are in bytes, not in entries */
    bool sized;           /* the trace has sizes of objects */
    replay_count all;     /* without the warm-up */
    replay_count *window; /* (windows) of plan.every requests each, the last one of fewer */
    size_t windows;
    source_told told;  /* of all requests read */
    uint64_t entries;  /* of the table at the end */
    double seconds;    /* reading and replaying, warm-up included */
    uint64_t replayed; /* requests in those seconds           */
    hd_status status;  /* of the replay */
    hd_status saved;   /* of saving the table or the outcomes */
    char why[512];     /* of the one that failed */
} replay_row;

/* A POLICIES list and a SIZES list ("1024,10Ki,1%,0.05,1Ki..1Mi:20") as rows, policies first. Fractions need
 * `distinct`, which is called once, if at all, and may fail. TOOL_OK, or what was said. */
enum { REPLAY_LIST = 64, REPLAY_POINTS_MOST = 1 << 20 /* sizes of a range */ };
typedef struct replay_list {
    char text[REQUEST_TEXT];
    const char *item[REPLAY_LIST];
    size_t items;
} replay_list;
int replay_list_parse(replay_list *l, const char *what, const char *text);
/* A list of sizes is one of them, and not a range. */
bool replay_list_is_one(const replay_list *sizes);
/* Every name is a policy, or, if `full` allows it, a baseline. */
int replay_policies(const replay_list *policies, bool full);
/* One SIZES item: a number of entries, of bytes (10MiB), or, *fraction >= 0, a part of the distinct keys. */
int replay_size_parse(const char *text, uint64_t *size, double *fraction, bool *bytes);

/* The units of a row's exact cache: of the small one over a sample, if there is one. */
uint64_t replay_units(const replay_plan *p, const replay_row *r);

/* (policies x sizes x seeds) rows; give them back. *distinct: 0 when no fraction asked for it. */
int replay_rows_take(const replay_plan *p, const replay_list *policies, const replay_list *sizes, replay_row **row,
                     size_t *rows, uint64_t *distinct);

void replay_rows_give(replay_row *row, size_t rows);

/* How many rows a policy and a size have. */
static inline size_t replay_seeds(const replay_plan *p) { return p->seeds ? p->seeds : 1; }

/* The rows that run at once if none says how many: one for each core. */
uint32_t replay_cores(void);
/* Runs them all; rows stay in order. TOOL_OK, TOOL_STOPPED, or what was said of the first that failed. */
int replay_run(const replay_plan *p, replay_row *row, size_t rows);

/* Misses per request, and missed bytes per requested byte. Requests for reserved keys are in neither number. Below 0
 * when there are no other requests, or only such of 0 bytes. Of a sample: of all requests, as if those that the sample
 * lacks, or has too many, were hits (curve.h); its bytes are those of the sample. */
double replay_miss_ratio(const replay_count *c);
double replay_byte_miss_ratio(const replay_count *c);

/* A table as the plan has it; slots, capacity and threads are usual. */
hd_config replay_config(const replay_plan *p, const char *policy);

/* slots and capacity nearest to `size` entries. */
void replay_shape(const replay_plan *p, uint64_t size, uint32_t *slots, uint64_t *capacity);

#endif
