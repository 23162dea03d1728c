/* SPDX-License-Identifier: Apache-2.0
 *
 * keep.c - see keep.h.
 */
#include "tools/keep.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "lib/params.h"

enum { FIRST_CAPACITY = 1 << 16, FIRST_OF_DICTIONARY = 1 << 10 };

bool keep_is_dictionary(const hd_config *config) { return strcmp(config->policy, "none") == 0; }

hd_config keep_config(const char *design, uint64_t capacity, uint32_t value_bytes)
{
    hd_config c = design ? hd_config_of(design) : hd_config_default();
    c.capacity = capacity ? capacity : FIRST_OF_DICTIONARY;
    if (keep_is_dictionary(&c)) return c;
    c.policy = "lfu";
    c.slots = KEEP_SLOTS;
    c.value_bytes = value_bytes;
    /* room to spare needs no second bucket, and one bucket is quicker */
    hd_params_number_set(&c, c.design, "dual", capacity != 0);
    c.capacity = !capacity ? FIRST_CAPACITY : capacity < 2 * KEEP_SLOTS ? 2 * KEEP_SLOTS : capacity;
    return c;
}

static hd_status set_word(hd_config *config, const char *word)
{
    char name[32];
    size_t length = strcspn(word, "=");
    if (!word[length] || length == 0 || length >= sizeof name)
        return hd_fail(HD_EINVAL, "--set: NAME=VALUE, not '%s'", word);
    memcpy(name, word, length);
    name[length] = 0;
    return hd_config_set(config, name, word + length + 1);
}

hd_status keep_set(hd_config *config, const keep_settings *set)
{
    hd_status e = set->near ? hd_config_set(config, "near", set->near) : HD_OK;
    for (int i = 0; set->to && i < set->to->n && !e; i++) e = set_word(config, set->to->word[i]);
    return e;
}

hd_status keep_lost(hd_table *table, bool grows, uint64_t *lost)
{
    hd_counters c;
    hd_status e = hd_counters_sync(table, &c);
    if (!e) *lost = c.outcome[HD_EVICTED] + c.outcome[HD_REFUSED] + (grows ? 0 : c.outcome[HD_PENDING]);
    return e;
}

hd_status keep_kmers(uint64_t keys, unsigned k)
{
    uint64_t kmers = 1ull << 2 * k, most = keys + KEEP_RESERVED;
    if (most < keys || kmers <= most) return HD_OK;
    return hd_fail(HD_EINVAL,
                   "K: %u makes keys up to %" PRIu64 ", and a table of this design holds those below %" PRIu64, k,
                   kmers - 1, keys);
}
