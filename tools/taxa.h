/* SPDX-License-Identifier: Apache-2.0
 *
 * taxa.h - which taxon a k-mer belongs to: a table from k-mers to numbers of taxa, and the names of the taxa.
 *
 * A k-mer of several taxa is ambiguous: it belongs to none of them. A taxon of a taxonomy's upper ranks (the lowest
 * common ancestor of those that have the k-mer) is not looked for.
 *
 * An addition is one batch of find_or_insert, which gives back the taxon that each key had. The keys that had another
 * one are assigned TAXA_AMBIGUOUS by a second batch. So the table does not depend on the order in which the items of
 * a batch run, nor on how the keys are cut into batches.
 */
#ifndef HD_TAXA_H
#define HD_TAXA_H

#include "base/seam.h"
#include "tools/keep.h"

/* The value of an ambiguous k-mer. Taxon i has the value i + 1. */
enum { TAXA_AMBIGUOUS = 0 };

typedef struct taxon {
    char *name;
    uint64_t kmers;   /* that belong to it */
    const char *path; /* of the file that has it, and where it begins there; NULL: not known */
    uint64_t byte;
} taxon;

typedef struct taxa_clash taxa_clash;

typedef struct taxa {
    hd_table *table;
    bool grows;
    double target;                       /* load factor at which it grows */
    uint64_t keys;                       /* the table can hold those below */
    uint32_t value_bytes;                /* of the table */
    size_t most;                         /* keys of a batch */
    uint64_t added, ambiguous, table_ns; /* keys given to taxa_add; ambiguous k-mers; time in the table */
    taxon *row;                          /* (n) */
    uint32_t n, room;
    uint8_t *value;    /* (most, value_bytes) */
    uint8_t *outcome;  /* (most) */
    taxa_clash *clash; /* (most) */
    uint64_t *key;     /* (most) of a batch of clashes */
} taxa;

typedef struct taxa_config {
    const char *design, *backend; /* NULL: the default ones */
    keep_settings set;            /* further fields of the table */
    uint64_t capacity;            /* keep_config */
    uint32_t threads;             /* of the reference; 0: OpenMP's default */
    size_t most;                  /* keys of a batch, at most */
    const hd_seams *seams;        /* NULL: the usual ones */
} taxa_config;

/* A table without k-mers. taxa_close after a failure, too. */
hd_status taxa_open(taxa *t, const taxa_config *config);
/* The table of a file, for names that are there already (taxa_file.h); design, capacity and set.to are not read. */
hd_status taxa_open_snapshot(taxa *t, const char *path, const taxa_config *config);
void taxa_close(taxa *t);

/* Adds a taxon, number t->n - 1, with a copy of the name. What JSON cannot hold, and what a terminal would obey,
 * becomes '?'. HD_EINVAL: values of the table have no room for another one. */
hd_status taxa_name(taxa *t, const char *name, uint64_t kmers);

/* HD_EINVAL: two taxa have the same name; it says which. */
hd_status taxa_differ(const taxa *t);

/* n <= most k-mers, and the value of each. */
hd_status taxa_add(taxa *t, const uint64_t *key, const uint32_t *value, size_t n);

/* The values of n <= most k-mers, TAXA_AMBIGUOUS also of those that are absent. found: (n). HD_ECORRUPT: a value is no
 * taxon's. */
hd_status taxa_find(taxa *t, const uint64_t *key, size_t n, uint32_t *value, bool *found);

/* K-mers in the table, by taxa and ambiguous ones. */
uint64_t taxa_kmers(const taxa *t);

#endif
