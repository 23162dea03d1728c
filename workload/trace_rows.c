/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_rows.c - public traces that are rows of text, each as a table of its columns:
 *
 *     twitter    timestamp, key, size of the key, size of the value, client, operation, time to live
 *     cachelib   key, op, size, op_count, key_size, ttl; or as its header says, in any order
 *     msr        timestamp, host, disk, type, offset, size, response time
 *
 * In the first two an object's size is that of key and value together. CacheLib's op_count is how many requests a row
 * is. msr is MSR Cambridge's: a request is one for each block of 4 KiB that it touches, the key is the block's number,
 * and above its 52 bits the number of the volume (host and disk) in the order of first rows, from 0; a timestamp is 100
 * nanoseconds since 1601, and becomes nanoseconds since 1970.
 */
#include <string.h>
#include <xxhash.h>

#include "workload/csv.h"

enum { SECOND = 1000000000, BLOCK_LOG = 12, BLOCK_BYTES = 1 << BLOCK_LOG, VOLUME_SHIFT = 64 - BLOCK_LOG };
#define TICKS_TO_1970 UINT64_C(116444736000000000)

static const char *const no_options[] = { NULL };

static const hd_csv_form form_twitter = {
    .name = { [CSV_KEY] = "key",
              [CSV_TIME] = "time",
              [CSV_SIZE] = "size",
              [CSV_VERB] = "verb",
              [CSV_KEY_SIZE] = "key size" },
    .column = { [CSV_KEY] = 2, [CSV_TIME] = 1, [CSV_SIZE] = 4, [CSV_VERB] = 6, [CSV_KEY_SIZE] = 3 },
    .options = no_options,
    .columns = 7,
    .plain = true,
    .hash = true,
    .tick = SECOND,
};

static const hd_csv_form form_cachelib = {
    .name = { [CSV_KEY] = "key",
              [CSV_TIME] = "op_time",
              [CSV_SIZE] = "size",
              [CSV_VERB] = "op",
              [CSV_OP_COUNT] = "op_count",
              [CSV_KEY_SIZE] = "key_size" },
    .column = { [CSV_KEY] = 1, [CSV_VERB] = 2, [CSV_SIZE] = 3, [CSV_OP_COUNT] = 4, [CSV_KEY_SIZE] = 5 },
    .options = no_options,
    .header = HD_CSV_OWN_HEADER,
    .tick = SECOND,
};

/* The number of the volume of these names. False: there are too many. */
static bool volume_of(hd_csv *c, hd_text host, hd_text disk, uint64_t *number)
{
    const uint64_t of_host = XXH3_64bits(host.p, host.n), of_disk = XXH3_64bits_withSeed(disk.p, disk.n, of_host);
    for (*number = 0; *number < c->volumes; ++*number)
        if (c->volume[*number] == of_disk) return true;
    if (c->volumes == HD_CSV_VOLUMES) return false;
    c->volume[c->volumes++] = of_disk;
    return true;
}

/* The offset came as the key. */
static const char *msr_request(hd_csv *c, const hd_text *field, hd_request *r)
{
    uint64_t volume, offset;
    if (!hd_text_number(field[CSV_KEY], UINT64_MAX, &offset)) return "not a number";
    if (r->size == 0) return "a request of no bytes";
    if (r->size > UINT32_MAX || offset > UINT64_MAX - r->size) return "a request of 4 GiB or more";
    if (r->time < TICKS_TO_1970 || (r->time - TICKS_TO_1970) > UINT64_MAX / 100)
        return "a time before 1970 or after 2554";
    if (!volume_of(c, field[CSV_HOST], field[CSV_DISK], &volume)) return "more than 256 volumes";
    r->time = (r->time - TICKS_TO_1970) * 100;
    r->key = volume << VOLUME_SHIFT | offset >> BLOCK_LOG;
    c->left = ((offset + r->size - 1) >> BLOCK_LOG) - (offset >> BLOCK_LOG);
    c->step = 1;
    r->size = BLOCK_BYTES;
    return NULL;
}

static const hd_csv_form form_msr = {
    .name = { [CSV_KEY] = "offset",
              [CSV_TIME] = "time",
              [CSV_SIZE] = "size",
              [CSV_VERB] = "type",
              [CSV_HOST] = "host",
              [CSV_DISK] = "disk" },
    .column = { [CSV_TIME] = 1, [CSV_HOST] = 2, [CSV_DISK] = 3, [CSV_VERB] = 4, [CSV_KEY] = 5, [CSV_SIZE] = 6 },
    .options = no_options,
    .columns = 7,
    .plain = true,
    .tick = 1,
    .request = msr_request,
};

static hd_status twitter_open(const hd_source_args *a, hd_source **s) { return hd_csv_open(a, &form_twitter, s); }
static hd_status cachelib_open(const hd_source_args *a, hd_source **s) { return hd_csv_open(a, &form_cachelib, s); }
static hd_status msr_open(const hd_source_args *a, hd_source **s) { return hd_csv_open(a, &form_msr, s); }

const hd_source_row hd_workload_twitter = { "twitter", "traces of Twitter's caches", "twitter:FILE", true,
                                            twitter_open };
const hd_source_row hd_workload_cachelib = { "cachelib", "traces of CacheLib's key-value caches", "cachelib:FILE", true,
                                             cachelib_open };
const hd_source_row hd_workload_msr = { "msr", "MSR Cambridge's traces of disks, in blocks of 4 KiB", "msr:FILE", true,
                                        msr_open };
