/* SPDX-License-Identifier: Apache-2.0
 *
 * keep.h - tables that must keep every key: what counts or looks up k-mers must not forget one.
 *
 * A cache gets room to spare, a dictionary what it needs. Whether a key was lost is not guessed but read from the
 * table's counters.
 */
#ifndef HD_KEEP_H
#define HD_KEEP_H

#include "heddle.h"
#include "tools/tool.h"

enum {
    KEEP_SLOTS = 128,  /* of a bucket of a cache */
    KEEP_RESERVED = 3, /* keys of k-mers that a table may not be able to hold: its reserved ones */
    KEEP_NEAR = 0x180, /* keys of options */
    KEEP_SET
};

/* A configuration. capacity: 0 for a table that will grow, which begins with 64 Ki entries (a dictionary with 1,024);
 * otherwise a table of that many entries that never grows, dual so that it takes nearly that many keys before it must
 * evict. value_bytes: of a cache; a dictionary has its own. design: NULL for the default one. */
hd_config keep_config(const char *design, uint64_t capacity, uint32_t value_bytes);

/* What a command line says of the table. NULL, and no words: nothing. */
typedef struct keep_settings {
    const char *near;     /* bytes in device memory, as text: the field `near` */
    const tool_words *to; /* words NAME=VALUE, as hd_config_set has them */
} keep_settings;
/* HD_EINVAL names the word. */
hd_status keep_set(hd_config *config, const keep_settings *set);

/* Their rows in a verb's options of type T, which has `const char *near` and `tool_words set`. */
#define KEEP_OPTIONS(T)                                                                                             \
    { "near", KEEP_NEAR, "BYTES", "at most so much device memory for the table, and the rest of it in host memory", \
      TOOL_FIELD(T, near) },                                                                                        \
    {                                                                                                               \
        "set", KEEP_SET, "NAME=VALUE", "a field of the table (heddle list parameters); may be given again",         \
            TOOL_SEVERAL(T, set, TOOL_WORDS, "too many fields")                                                     \
    }

/* Whether a table of this configuration evicts nothing: it has no scores. */
bool keep_is_dictionary(const hd_config *config);

/* How many entries left the table or did not get in. grows: what was PENDING ran again. */
hd_status keep_lost(hd_table *table, bool grows, uint64_t *lost);

/* HD_EINVAL: a table whose keys are below `keys` cannot hold all k-mers, not even without KEEP_RESERVED of them. */
hd_status keep_kmers(uint64_t keys, unsigned k);

#endif
