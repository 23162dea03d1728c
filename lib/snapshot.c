/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot.c - what writing and reading a snapshot share: its sums and the sizes of its sections.
 */
#include "lib/snapshot.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "lib/params.h"

void hd_snapshot_sum(const XXH3_state_t *x, uint8_t *sum)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(x));
    memcpy(sum, canonical.digest, HD_SUM_BYTES);
}

static void sum_of(const void *p, size_t bytes, uint8_t *sum)
{
    XXH3_state_t x;
    XXH3_128bits_reset(&x);
    XXH3_128bits_update(&x, p, bytes);
    hd_snapshot_sum(&x, sum);
}

void hd_snapshot_header_sum(const hd_snapshot_header *h, uint8_t *sum)
{
    sum_of(h, offsetof(hd_snapshot_header, sum), sum);
}

void hd_snapshot_policy_sum(const hd_snapshot_policy *p, uint8_t *sum)
{
    sum_of(p, offsetof(hd_snapshot_policy, sum), sum);
}

uint64_t hd_snapshot_places(const hd_snapshot_header *h) { return (h->buckets + h->stash_buckets) * h->slots; }

/* Payload bytes of a section. */
uint64_t hd_snapshot_section_bytes(const hd_snapshot_header *h, int section)
{
    HD_ASSERT(section >= 0 && section < HD_SECTION_COUNT);
    switch (section) {
    case HD_SECTION_SLOT: return (hd_snapshot_places(h) + 7) / 8;
    case HD_SECTION_VALS: return h->size * h->value_bytes;
    default: return h->size * 8;
    }
}

uint64_t hd_snapshot_bytes(const hd_snapshot_header *h)
{
    uint64_t n = h->header_bytes;
    for (int i = 0; i < HD_SECTION_COUNT; i++)
        n += sizeof(hd_section_head) + hd_snapshot_section_bytes(h, i) + HD_SUM_BYTES;
    return n;
}

hd_section_head hd_snapshot_section(const hd_snapshot_header *h, int section)
{
    hd_section_head head;
    memset(&head, 0, sizeof head);
    memcpy(head.tag, hd_section_tag[section], 4);
    head.bytes = hd_snapshot_section_bytes(h, section);
    return head;
}

static bool all_zero(const uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i]) return false;
    return true;
}

bool hd_snapshot_is_text(const char *field, size_t bytes)
{
    size_t n = strnlen(field, bytes);
    return n > 0 && n < bytes && all_zero((const uint8_t *)field + n, bytes - n);
}

/* Whether entries of that size fill more than the memory that can be addressed. */
static bool has_too_many_buckets(const hd_snapshot_header *h)
{
    uint64_t entry_bytes = HD_METADATA_MOST + (uint64_t)h->value_bytes;
    return h->slots && h->buckets > (uint64_t)PTRDIFF_MAX / h->slots / entry_bytes;
}

static bool is_hash(const char *name, size_t bytes)
{
    return name[0] ? hd_snapshot_is_text(name, bytes) : all_zero((const uint8_t *)name, bytes);
}

static uint32_t header_bytes(const hd_snapshot_header *h)
{
    return (uint32_t)(sizeof *h + (hd_snapshot_has_policy(h) ? sizeof(hd_snapshot_policy) : 0));
}

/* A name in version 1; in version 2 the word that says that the text comes later. */
static bool is_policy(const hd_snapshot_header *h)
{
    if (!hd_snapshot_is_text(h->policy, sizeof h->policy)) return false;
    return !hd_snapshot_has_policy(h) || strcmp(h->policy, HD_SNAPSHOT_EXPRESSIONS) == 0;
}

const char *hd_snapshot_fault(const hd_snapshot_header *h)
{
    const struct {
        bool wrong;
        const char *field;
    } rule[] = {
        { h->header_bytes != header_bytes(h), "header_bytes" },
        { !hd_snapshot_is_text(h->design, sizeof h->design), "design" },
        { !is_policy(h), "policy" },
        { h->slots < HD_SLOTS_MIN || h->slots > HD_SLOTS_MAX, "slots" },
        { h->value_bytes > HD_VALUE_BYTES_MAX, "value_bytes" },
        { h->buckets == 0 || has_too_many_buckets(h), "buckets" },
        { h->base_buckets > h->buckets, "base_buckets" },
        { h->stash_buckets >> 32 != 0, "stash_buckets" },
        { h->size > hd_snapshot_places(h), "size" },
        { (h->flags & ~(uint32_t)HD_SNAPSHOT_FLAGS) != 0, "flags" },
        { !is_hash(h->hash, sizeof h->hash), "hash" },
        { !all_zero(h->zero, sizeof h->zero), "zero" },
        { h->file_bytes != hd_snapshot_bytes(h), "file_bytes" },
    };
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
        if (rule[i].wrong) return rule[i].field;
    return "";
}

void hd_snapshot_put(hd_snapshot_header *h, const hd_params *own, const void *in)
{
    for (size_t k = 0; own && k < own->count; k++) {
        const hd_param *p = &own->row[k];
        const char *text = (const char *)in + p->at;
        uint32_t number = p->saved == HD_SAVED_FLAG || p->saved == HD_SAVED_U32 ? (uint32_t)hd_param_number(p, in) : 0;
        HD_ASSERT(p->saved != HD_SAVED_FLAG || (number <= 1 && HD_SNAPSHOT_FLAGS >> p->saved_at & 1), "it is no flag");
        HD_ASSERT(p->saved == HD_SAVED_NOT || p->saved == HD_SAVED_FLAG ||
                      p->saved_at + p->bytes <= offsetof(hd_snapshot_header, sum),
                  "a field is beyond the header");
        if (p->saved == HD_SAVED_FLAG) h->flags |= number << p->saved_at;
        if (p->saved == HD_SAVED_U32) memcpy((char *)h + p->saved_at, &number, sizeof number);
        if (p->saved == HD_SAVED_TEXT && strcmp(text, p->text) != 0) memcpy((char *)h + p->saved_at, text, p->bytes);
    }
}

void hd_snapshot_get(const hd_snapshot_header *h, const hd_params *own, bool only_places, void *in)
{
    for (size_t k = 0; own && k < own->count; k++) {
        const hd_param *p = &own->row[k];
        const char *text = (const char *)h + p->saved_at;
        uint32_t number;
        if (only_places && !p->places) continue;
        if (p->saved == HD_SAVED_FLAG) hd_param_number_set(p, in, h->flags >> p->saved_at & 1);
        if (p->saved == HD_SAVED_U32) hd_param_number_set(p, in, (memcpy(&number, text, sizeof number), number));
        if (p->saved == HD_SAVED_TEXT && !*text) hd_param_reset(p, in);
        if (p->saved == HD_SAVED_TEXT && *text) memcpy((char *)in + p->at, text, p->bytes);
    }
}

/* The saved fields of the header are those that a table of that shape saves. */
static bool saves_the_same(const hd_snapshot_header *h, const hd_params *own, const hd_info *info)
{
    hd_snapshot_header again = *h;
    hd_snapshot_put(&again, own, hd_params_of_table(own, info));
    return memcmp(&again, h, sizeof again) == 0;
}

/* A bit of `flags` that is another design's, of a field that entries' places depend on, or of no design here. */
static bool has_foreign_flag(const hd_snapshot_header *h, const hd_params *own)
{
    const hd_params *s;
    uint32_t foreign = h->flags & ~(uint32_t)HD_SNAPSHOT_DEVICE_CLOCK;
    for (size_t i = 1; (s = hd_params_at(i)); i++)
        for (size_t k = 0; k < s->count; k++)
            if (s->row[k].saved == HD_SAVED_FLAG && (s == own || !s->row[k].places))
                foreign &= ~(1u << s->row[k].saved_at);
    return foreign != 0;
}

/* Whether the design saves a number or a text at that byte. */
static bool saves_at(const hd_params *own, size_t at)
{
    for (size_t k = 0; own && k < own->count; k++)
        if ((own->row[k].saved == HD_SAVED_U32 || own->row[k].saved == HD_SAVED_TEXT) && own->row[k].saved_at == at)
            return true;
    return false;
}

/* The same of a number or a text. */
static bool has_foreign_field(const hd_snapshot_header *h, const hd_params *own)
{
    const hd_params *s;
    bool has = false;
    for (size_t i = 1; (s = hd_params_at(i)); i++)
        for (size_t k = 0; k < s->count && s != own; k++) {
            const hd_param *p = &s->row[k];
            bool field = (p->saved == HD_SAVED_U32 || p->saved == HD_SAVED_TEXT) && !saves_at(own, p->saved_at);
            if (field) has = has || !all_zero((const uint8_t *)h + p->saved_at, p->bytes);
        }
    return has;
}

/* HD_ECORRUPT where a field of the header and the shape that follows from it disagree. */
static hd_status check_fields(const hd_design *design, const char *path, const hd_snapshot_header *h,
                              const hd_info *info)
{
    if (info->buckets != h->buckets)
        return hd_fail(HD_ECORRUPT, "%s: the header's buckets make no sense for design %s", path, design->name);
    if (!saves_the_same(h, design->params, info) || has_foreign_field(h, design->params))
        return hd_fail(HD_ECORRUPT, "%s: a field of the header makes no sense for design %s", path, design->name);
    if (h->base_buckets == 0 || (h->stash_buckets == 0) != (info->stash_buckets == 0))
        return hd_fail(HD_ECORRUPT, "%s: the header's base_buckets is 0, or stash_buckets makes no sense", path);
    return HD_OK;
}

/* The shape that follows from the header, and from the design's own fields in info. */
static hd_status shape_by(const hd_design *design, const hd_backend *on, const hd_snapshot_header *h, hd_info *info)
{
    hd_config c = hd_config_of(design->name);
    c.slots = h->slots;
    c.capacity = h->buckets * h->slots;
    c.value_bytes = h->value_bytes;
    c.layout = info->layout;
    if (h->flags & HD_SNAPSHOT_DEVICE_CLOCK) c.clock = HD_CLOCK_DEVICE;
    hd_params_of_info(design->params, info, &c);
    hd_status status = hd_params_check(design->params, design->name, &c);
    return status ? status : on->shape(design, &c, info);
}

/* What growth has made of that. */
static void shape_end(const hd_snapshot_header *h, hd_info *info)
{
    info->base_buckets = h->base_buckets;
    info->stash_buckets = h->stash_buckets;
    info->places = hd_snapshot_places(h);
}

/* Fields that no file has, as hd_config_of has them. */
static void reset_others(const hd_params *own, hd_info *info)
{
    for (size_t k = 0; own && k < own->count; k++)
        if (own->row[k].saved == HD_SAVED_NOT) hd_param_reset(&own->row[k], hd_params_in_info(own, info));
}

hd_status hd_snapshot_fits(const hd_design *design, const hd_backend *on, const hd_snapshot_header *h,
                           const hd_info *table, hd_info *info)
{
    const hd_params *own = design->params;
    if (!design->ref->resize) return HD_OK;
    for (size_t k = 0; own && k < own->count; k++) {
        const hd_param *p = &own->row[k];
        const char *from = (const char *)hd_params_of_table(own, table) + p->at;
        if (p->saved == HD_SAVED_NOT) memcpy((char *)hd_params_in_info(own, info) + p->at, from, p->bytes);
    }
    hd_status status = shape_by(design, on, h, info);
    if (!status) shape_end(h, info);
    return status;
}

hd_status hd_snapshot_shape(const hd_design *design, const hd_backend *on, const char *path,
                            const hd_snapshot_header *h, hd_info *info)
{
    info->buckets = h->buckets;
    info->slots = h->slots;
    info->capacity = h->buckets * h->slots;
    info->seed = h->seed;
    hd_snapshot_get(h, design->params, true, hd_params_in_info(design->params, info));
    if (has_foreign_flag(h, design->params))
        return hd_fail(HD_ECORRUPT, "%s: the header's flags make no sense for design %s", path, design->name);
    bool grows = h->base_buckets || h->stash_buckets || h->spare || h->segment ||
                 h->hash[0]; /* hashes: an earlier version wrote what it was given */
    if (!design->ref->resize)
        return grows ? hd_fail(HD_ECORRUPT, "%s: the header's base_buckets makes no sense for design %s", path,
                               design->name)
                     : HD_OK;
    info->value_bytes = h->value_bytes;
    reset_others(design->params, info);
    if (shape_by(design, on, h, info))
        return hd_fail(HD_ECORRUPT, "%s: no table of design %s has such a shape: %s", path, design->name, hd_why());
    hd_status status = check_fields(design, path, h, info);
    if (status) return status;
    shape_end(h, info);
    if (design->ref->grown && !design->ref->grown(info))
        return hd_fail(HD_ECORRUPT, "%s: the header's base_buckets makes no sense for design %s", path, design->name);
    return HD_OK;
}
