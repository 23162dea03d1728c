/* SPDX-License-Identifier: Apache-2.0
 *
 * csv_request.c - from the fields of a row to a request.
 */
#include <string.h>

#include "workload/csv.h"

/* The decimal exponent behind the mantissa of t, which is cut off. */
static bool exponent_take(hd_text *t, int64_t *exponent)
{
    uint64_t digits;
    *exponent = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->p[i] != 'e' && t->p[i] != 'E') continue;
        hd_text rest = { t->p + i + 1, t->n - i - 1 };
        const bool minus = rest.n && *rest.p == '-';
        if (rest.n && (minus || *rest.p == '+')) rest.p++, rest.n--;
        if (!hd_text_number(rest, HD_CSV_ROW_MOST, &digits)) return false;
        *exponent = minus ? -(int64_t)digits : (int64_t)digits;
        t->n = i;
        break;
    }
    return true;
}

/* The whole part of a decimal number such as 12, 12.75 or 2.5e3, below 2^64; that there was more is counted. */
static bool time_of(hd_text t, uint64_t *time, uint64_t *cut)
{
    int64_t exponent;
    if (hd_text_number(t, UINT64_MAX, time)) return true;
    if (!exponent_take(&t, &exponent)) return false;
    const char *dot = (const char *)memchr(t.p, '.', t.n);
    const size_t whole = dot ? (size_t)(dot - t.p) : t.n;
    if (whole == 0 || (dot && whole + 1 == t.n)) return false;
    const int64_t kept = (int64_t)whole + exponent; /* digits in front of the dot, when it has moved */
    uint64_t value = 0;
    int64_t digits = 0;
    bool rest = false;
    for (size_t i = 0; i < t.n; i++) {
        const unsigned digit = (unsigned)(unsigned char)t.p[i] - '0';
        if (t.p + i == dot) continue;
        if (digit > 9) return false;
        if (digits++ >= kept)
            rest |= digit != 0;
        else if (value > (UINT64_MAX - digit) / 10)
            return false;
        else
            value = value * 10 + digit;
    }
    for (; value && digits < kept; digits++) {
        if (value > UINT64_MAX / 10) return false;
        value *= 10;
    }
    *time = value;
    *cut += rest;
    return true;
}

/* NULL, or what is wrong with the field of a role. */
static const char *field_take(hd_csv *c, hd_csv_role role, hd_text t, hd_request *r, uint64_t *cut, bool *hashed)
{
    uint64_t more = 0;
    switch (role) {
    case CSV_KEY: return hd_text_key(t, c->hash, &r->key, hashed) ? NULL : "not text";
    case CSV_TIME: return time_of(t, &r->time, cut) ? NULL : "not a number";
    case CSV_SIZE: return hd_text_number(t, HD_SIZE_MOST, &r->size) ? NULL : "not a whole number below 2^56";
    case CSV_VERB: return hd_verb_named(t, &r->verb);
    case CSV_OP_COUNT:
        if (!hd_text_number(t, UINT32_MAX, &c->left) || c->left == 0) return "not a whole number from 1 to 2^32 - 1";
        c->left--;
        return NULL;
    case CSV_KEY_SIZE:
        if (!hd_text_number(t, HD_SIZE_MOST, &more)) return "not a whole number below 2^56";
        r->size += more;
        return r->size <= HD_SIZE_MOST ? NULL : "the sizes of key and value together are above 2^56 - 1";
    case CSV_HOST:
    case CSV_DISK:
    case CSV_ROLES: return NULL;
    }
    return NULL;
}

bool hd_csv_request(hd_csv *c, const hd_text *field, hd_request *r, hd_csv_fault *f)
{
    uint64_t cut = 0;
    bool hashed = false;
    *r = (hd_request){ .size = 1, .verb = HD_READ };
    c->left = c->step = 0;
    for (unsigned i = 0; i < c->roles; i++) {
        const hd_csv_role role = (hd_csv_role)c->role[i];
        const hd_text t = field[role];
        const char *why = !t.p ? "missing" : !t.n ? "empty" : field_take(c, role, t, r, &cut, &hashed);
        if (!why) continue;
        *f = (hd_csv_fault){ c->column[role], why, t };
        c->left = 0;
        return false;
    }
    const char *why = c->form->request ? c->form->request(c, field, r) : NULL;
    if (why) {
        *f = (hd_csv_fault){ c->column[CSV_KEY], why, field[CSV_KEY] };
        c->left = 0;
        return false;
    }
    if (c->left) c->more = *r;
    c->more_cut = cut;
    c->more_hashed = hashed;
    c->reader.source.cut += cut;
    c->reader.source.hashed += hashed;
    return true;
}
