/* SPDX-License-Identifier: Apache-2.0
 *
 * cuts.h - a file in memory behind the file seam that remembers what was written and when it was synced, and makes of
 * that every file that a power cut may leave: of the writes that no sync has followed, each sector of 512 bytes may be
 * there or not, or be torn. What a sync that failed had to sync stays so, whatever later syncs say. What is stored in
 * pages of the file is no write: a kill leaves it, and cuts_each knows nothing of it. Where the pages are of memory
 * that keeps lines (hd_file_seam.map_lines), each word of 8 bytes that was stored may be there or not until its line is
 * written back and a fence has followed; a later sync says nothing of it.
 */
#ifndef HD_JUDGE_CUTS_H
#define HD_JUDGE_CUTS_H

#include "base/seam.h"
#include "workload/rng.h"

enum { CUTS_SECTOR = 512, CUTS_LINE = 64 };

typedef enum cuts_kind {
    CUTS_WRITE,
    CUTS_SYNC,
    CUTS_SYNC_FAILED,
    CUTS_CREATE,
    CUTS_FOLDER,
    CUTS_UNLINK,
    CUTS_STORE,
    CUTS_BACK,
    CUTS_FENCE,
    CUTS_MARK
} cuts_kind;

typedef struct cuts_event {
    cuts_kind kind;
    uint64_t offset; /* of a write, a store or lines; of a mark, its number */
    size_t bytes;
    uint8_t *data; /* (bytes) */
} cuts_event;

/* Memory that is pages of the file. */
typedef struct cuts_pages {
    uint8_t *at; /* NULL: none */
    size_t bytes;
    uint64_t offset;
} cuts_pages;

/* A file, or none. */
typedef struct cuts_file {
    uint8_t *bytes; /* (room) */
    size_t size, room;
    bool there;
    /* (later_bytes) NULL, or what processes see of it after a kill, until the power is cut */
    const uint8_t *later;
    size_t later_bytes;
} cuts_file;

typedef struct cuts {
    hd_seams seams;        /* hd_config.seams = &c.seams */
    cuts_file start, file; /* before the first event; as the process sees it */
    int open;              /* descriptors */
    cuts_pages pages[64];  /* what is stored there is in `file` when that is read, and when they are unmapped */
    cuts_pages lines;      /* those that map_lines gave; what is stored there is in `file` after each call */
    cuts_event *event;
    size_t events, room;
    uint64_t calls, fail_at; /* call number fail_at, from 1, fails, and is none of those that went well; 0: none */
    int fail_with;           /* an errno; CUTS_SHORT: it moves one byte; EINTR fails nothing but reads and writes */
    const char *failed;      /* the call that did */
    uint64_t steps, die_at;  /* write_back and fence; with number die_at the process dies */
    /* Whether what is to be written back from there on is not; NULL: it is */
    bool (*keeps)(const struct cuts *c, uint64_t offset);
    bool fences_fail;  /* fences do nothing */
    bool lines_used;   /* map_lines was called */
    bool dead;         /* the process is gone: what it still calls fails, and leaves no trace */
    const char *wrong; /* NULL, or what no process may do, or the lack of memory; from then on calls fail */
} cuts;

enum { CUTS_SHORT = -1 };

void cuts_begin(cuts *c, const cuts_file *start); /* start NULL: there is no file */
void cuts_end(cuts *c);
/* The process is gone, and what it has stored so far stays. */
void cuts_die(cuts *c);
/* From now on a cut has this number, of which the greatest counts: what was promised before. */
void cuts_mark(cuts *c, uint64_t number);
/* A copy of a file; free(to->bytes). False: no memory. */
bool cuts_copy(cuts_file *to, const cuts_file *f);

/* How a file came about. */
typedef struct cuts_cut {
    size_t event;      /* the power was cut before it */
    uint64_t mark;     /* the number of the last mark before */
    size_t open, lost; /* sectors, or words that were stored: that could be lost, and that are lost or torn */
    uint64_t first;    /* where the first one is that is lost */
    bool nameless;     /* the folder does not name the file */
} cuts_cut;

/* What a cut may leave. False: no other file is to be tried. */
typedef bool cuts_try(void *context, const cuts_file *left, const cuts_cut *how);
/* Tries the files that cuts at every event from `from` on may leave: all where there are few, else some of each kind,
 * and `random` ones. NULL, or c->wrong, or that there was no memory. */
const char *cuts_each(const cuts *c, size_t from, uint64_t random, hd_rng *chance, cuts_try *try_it, void *context);

#endif
