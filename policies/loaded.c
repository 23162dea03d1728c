/* SPDX-License-Identifier: Apache-2.0
 *
 * loaded.c - the policies of files (lib/loaded.h), behind those of registry.inc.
 */
#include "base/error.h"
#include "base/variant.h"
#include "policies/claims.h"
#include "policies/expression.h"

static struct {
    hd_loaded_policy policy;
    hd_policy_row row;
} loaded[HD_LOADED_MOST];
static uint32_t count;

const hd_policy_row *hd_policy_at(size_t i)
{
    if (i < HD_POLICY_COUNT) return &hd_policy_rows[i];
    return i - HD_POLICY_COUNT < count ? &loaded[i - HD_POLICY_COUNT].row : NULL;
}

const hd_policy_row *hd_policy_row_of(uint32_t number)
{
    if (number < HD_POLICY_COUNT) return &hd_policy_rows[number];
    return number < HD_POLICY_LOADED ? NULL : hd_policy_at(HD_POLICY_COUNT + (size_t)(number - HD_POLICY_LOADED));
}

uint32_t hd_loaded_policy_named(const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(loaded[i].row.name, name) == 0) return HD_POLICY_LOADED + i;
    return HD_POLICY_COUNT;
}

/* Kernels rely on the flags that a policy claims. One that holds and is not claimed only costs time. */
static hd_status flags_check(const hd_loaded_policy *p, uint32_t number)
{
    enum { CHAINS = 50000 };
    uint32_t found = hd_claims_refuted(number, NULL, UINT32_MAX, CHAINS);
    const uint32_t matters = HD_SCORES_USED | HD_KEEPS_ORDER; /* found to matter, and then to be claimed */
    uint32_t wrong = p->flags & found & ~matters;
    if (wrong)
        return hd_fail(HD_EINVAL, "policy %s: it claims flags that do not hold: %s", p->name,
                       hd_policy_flag_words(wrong));
    if ((found & HD_SCORES_USED) && !(p->flags & HD_SCORES_USED))
        return hd_fail(HD_EINVAL,
                       "policy %s: it reads the scores of callers (in.given), and does not claim HD_SCORES_USED",
                       p->name);
    if (!p->upper_first != !(p->flags & HD_QUEUES) || (!p->upper_first && (p->flags & (HD_REMEMBERS | HD_COUNTS))))
        return hd_fail(HD_EINVAL,
                       "policy %s: its row is HD_POLICY_QUEUES exactly if it claims HD_QUEUES, which HD_REMEMBERS and "
                       "HD_COUNTS need",
                       p->name);
    if (found & HD_KEEPS_ORDER & ~p->flags)
        return hd_fail(
            HD_EINVAL,
            "policy %s: on_evict spares entries, on_insert reads in.least, or it remembers or counts keys, and it does "
            "not claim HD_SPARES, HD_READS_LEAST, HD_REMEMBERS or HD_COUNTS",
            p->name);
    if ((p->flags & HD_LATEST_COUNTS) && !(p->flags & (HD_ADMITS_ALL | HD_COUNTS)))
        return hd_fail(HD_EINVAL, "policy %s: HD_LATEST_COUNTS needs HD_ADMITS_ALL or HD_COUNTS", p->name);
    bool alone = (p->flags & HD_COUNTS) || ((p->flags & HD_KEEPS_ORDER) && !(p->flags & HD_ADMITS_ALL));
    if (alone && (p->flags & (HD_ORDER_FREE | HD_HITS_ADD)))
        return hd_fail(HD_EINVAL,
                       "policy %s: HD_COUNTS, and without HD_ADMITS_ALL also HD_SPARES and HD_READS_LEAST, exclude "
                       "HD_ORDER_FREE and HD_HITS_ADD",
                       p->name);
    return HD_OK;
}

hd_status hd_policy_load(const hd_loaded_policy *p)
{
    if (hd_policy_named(p->name) != HD_POLICY_COUNT)
        return hd_fail(HD_EINVAL, "policy: there is a '%s' already", p->name);
    if (count == HD_LOADED_MOST) return hd_fail(HD_EINVAL, "policy: files have added %d already", HD_LOADED_MOST);
    loaded[count].policy = *p;
    loaded[count].row = (hd_policy_row){ p->name, p->what, p->flags };
    count++;
    hd_status status = flags_check(p, HD_POLICY_LOADED + count - 1);
    if (status) count--;
    return status;
}

void hd_policy_forget(uint32_t n) { count -= n; }

uint64_t hd_loaded_score(uint32_t policy, uint32_t function, uint64_t old, hd_score_in in)
{
    if (policy < HD_POLICY_LOADED || policy - HD_POLICY_LOADED >= count) return 0;
    const hd_loaded_policy *p = &loaded[policy - HD_POLICY_LOADED].policy;
    switch (function) {
    case HD_ON_HIT: return p->on_hit(old, in);
    case HD_ON_EVICT: return p->on_evict ? p->on_evict(old, in) : old;
    case HD_UPPER_FIRST: return p->upper_first ? p->upper_first(in) : 0;
    case HD_REMEMBER: return p->remember ? p->remember(old, in) : 0;
    case HD_FORGET: return p->forget ? p->forget(in) : 0;
    case HD_NEXT_STATE: return p->next_state ? p->next_state(in) : in.state;
    default: return function == HD_ON_INSERT ? p->on_insert(in) : p->admission(in);
    }
}
