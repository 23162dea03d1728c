/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.c - see crash.h. The memory at the crash has all stores; an image undoes the last ones of each word.
 */
#include "simt/crash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "simt/list.h"
#include "simt/persist.h"
#include "simt/space.h"

enum { WORD = 8, RANDOM_IMAGES = 64 };

struct simt_crash {
    simt_machine *m;
    size_t taken;               /* bytes of this, and all that follows it */
    uint8_t *copy;              /* of the persistent regions, one after another */
    persist_store *store;       /* (stores) by time */
    simt_ticket_record *ticket; /* (tickets) */
    size_t tickets, settled, launches;
    size_t *word_of;     /* (stores) number of the store's word */
    size_t *open;        /* (words) how many stores each word has */
    size_t *lost, *left; /* (words) how many of them the image has lost; room to count */
    simt_decision *told; /* (words) room for simt_crash_lost */
    size_t stores, words;
    uint64_t images, next, random; /* images, and of which the next is made */
    bool every;                    /* these are all */
    uint64_t run;                  /* generation of the machine */
    /* Lazy images: words in the order in which they were looked at, and what they have lost. (tape_n) of which (at) are
     * of the present image */
    bool lazy;
    bool *looked; /* (words) */
    simt_decision *tape;
    size_t tape_n, at;
    uint64_t all;
};

/* ---- Open and close -------------------------------------------------------------------------- */

/* Copies the persistent regions, or back. NULL: only counts. How many bytes. */
static size_t copy_regions(const simt_machine *m, uint8_t *copy, bool back)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < m->regions; i++) {
        const region *r = &m->memory[i];
        if (!r->persistent) continue;
        if (copy) memcpy(back ? r->p : copy + bytes, back ? copy + bytes : r->p, r->bytes);
        bytes += r->bytes;
    }
    return bytes;
}

/* Numbers the words by their first stores. */
static void number_words(simt_crash *c)
{
    for (size_t i = 0; i < c->stores; i++) {
        size_t k = i;
        while (k && c->store[k - 1].word != c->store[i].word) k--;
        c->word_of[i] = k ? c->word_of[k - 1] : c->words++;
        c->open[c->word_of[i]]++;
    }
}

static void count_images(simt_crash *c, uint64_t all)
{
    c->images = 1;
    c->every = true;
    for (size_t w = 0; w < c->words && c->every; w++) {
        c->every = c->images <= all / (c->open[w] + 1);
        c->images *= c->open[w] + 1;
    }
    if (!c->every) c->images = 3 * c->stores + c->words + 2 + RANDOM_IMAGES;
}

hd_status simt_crash_open(simt_machine *m, uint64_t all, simt_crash **out)
{
    void *p;
    size_t n, bytes = copy_regions(m, NULL, false);
    const persist_store *s = persist_stores(m, &n);
    size_t tickets, each = sizeof *s + 4 * sizeof(size_t) + 2 * sizeof(simt_decision) + sizeof(bool);
    const simt_ticket_record *ticket = simt_machine_tickets(m, &tickets);
    size_t taken = sizeof(simt_crash) + tickets * sizeof *ticket + n * each + bytes;
    hd_status status = hd_take(&m->seams, "simt: a crash", 1, taken, &p);
    if (status) return status;
    simt_crash *c = (simt_crash *)memset(p, 0, taken);
    c->m = m;
    c->taken = taken;
    c->store = (persist_store *)(void *)(c + 1);
    c->ticket = (simt_ticket_record *)(void *)(c->store + n);
    c->tickets = tickets;
    c->settled = persist_settled(m);
    c->launches = persist_launches(m);
    if (tickets) memcpy(c->ticket, ticket, tickets * sizeof *ticket);
    c->word_of = (size_t *)(void *)(c->ticket + tickets);
    c->open = c->word_of + n;
    c->lost = c->open + n;
    c->left = c->lost + n;
    c->told = (simt_decision *)(void *)(c->left + n);
    c->tape = c->told + n;
    c->copy = (uint8_t *)(c->tape + n);
    c->looked = (bool *)(c->copy + bytes);
    c->all = all;
    for (size_t i = 0; i < n; i++) /* a region may have ended since */
        if (region_of(m, s[i].word, WORD)) c->store[c->stores++] = s[i];
    copy_regions(m, c->copy, false);
    number_words(c);
    count_images(c, all);
    c->run = m->generation;
    c->random = m->config.seed;
    *out = c;
    return HD_OK;
}

void simt_crash_close(simt_crash *c)
{
    if (!c) return;
    if (c->lazy) persist_look_with(c->m, NULL, NULL);
    hd_give(&c->m->seams, c, 1, c->taken);
}

uint64_t simt_crash_images(const simt_crash *c) { return c->images; }
size_t simt_crash_words(const simt_crash *c) { return c->words; }

size_t simt_crash_launches(const simt_crash *c) { return c->launches; }

const simt_ticket_record *simt_crash_tickets(const simt_crash *c, size_t *n, size_t *settled)
{
    *n = c->tickets;
    *settled = c->settled;
    return c->ticket;
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* The image that `lost` says. What it holds is durable. */
static void make_image(simt_crash *c)
{
    copy_regions(c->m, c->copy, true);
    persist_all(c->m);
    memcpy(c->left, c->lost, c->words * sizeof *c->left);
    for (size_t i = c->stores; i--;)
        if (c->left[c->word_of[i]]) c->left[c->word_of[i]]--, memcpy(c->store[i].word, &c->store[i].before, WORD);
}

void simt_crash_put(simt_crash *c, const simt_decision *lost, size_t n)
{
    memset(c->lost, 0, c->words * sizeof *c->lost);
    for (size_t i = 0; i < n; i++)
        if (lost[i].at < c->words)
            c->lost[lost[i].at] = lost[i].choice < c->open[lost[i].at] ? lost[i].choice : c->open[lost[i].at];
    make_image(c);
}

/* ---- Lazy images ------------------------------------------------------------------------------- */

/* Open words among these bytes are what the tape says, or at first as if they had lost nothing. */
static void look(void *context, const void *p, size_t bytes)
{
    simt_crash *c = (simt_crash *)context;
    for (size_t i = c->stores; i--;) {
        size_t w = c->word_of[i];
        const uint8_t *word = c->store[i].word, *from = (const uint8_t *)p;
        if (word + WORD <= from || word >= from + bytes) continue;
        if (!c->looked[w]) {
            if (c->at == c->tape_n) c->tape[c->tape_n++] = (simt_decision){ w, 0 };
            HD_ASSERT(c->tape[c->at].at == w, "the same choices lead to another word");
            c->lost[w] = c->left[w] = c->tape[c->at++].choice;
            c->looked[w] = true;
        }
        if (c->left[w]) c->left[w]--, memcpy(c->store[i].word, &c->store[i].before, WORD);
    }
}

void simt_crash_lazily(simt_crash *c)
{
    c->lazy = true;
    c->images = c->every ? c->images : c->all + RANDOM_IMAGES;
    persist_look_with(c->m, look, c);
}

void simt_crash_look(const simt_machine *m, const void *p, size_t bytes) { persist_look_at(m, p, bytes); }

/* The choices after those of the last image; false: there are none. */
static bool choose_lazily(simt_crash *c)
{
    c->tape_n = c->at;
    while (c->tape_n && c->tape[c->tape_n - 1].choice == c->open[c->tape[c->tape_n - 1].at]) c->tape_n--;
    if (c->next && !c->tape_n) return false;
    if (c->next) c->tape[c->tape_n - 1].choice++;
    c->at = 0;
    memset(c->lost, 0, c->words * sizeof *c->lost);
    memset(c->looked, 0, c->words * sizeof *c->looked);
    return true;
}

/* ---- All images ------------------------------------------------------------------------------ */

/* Image k of all: its digits to the bases of the words. */
static void choose_all(simt_crash *c, uint64_t k)
{
    for (size_t w = 0; w < c->words; w++) {
        c->lost[w] = k % (c->open[w] + 1);
        k /= c->open[w] + 1;
    }
}

/* The last stores from number `from` on are lost. */
static void choose_prefix(simt_crash *c, uint64_t from)
{
    memset(c->lost, 0, c->words * sizeof *c->lost);
    for (size_t i = (size_t)from; i < c->stores; i++) c->lost[c->word_of[i]]++;
}

/* Words have lost all, but those with a store from number `from` on. */
static void choose_suffix(simt_crash *c, uint64_t from)
{
    memcpy(c->lost, c->open, c->words * sizeof *c->lost);
    for (size_t i = (size_t)from; i < c->stores; i++) c->lost[c->word_of[i]] = 0;
}

/* Store number `store` and the later ones to its word are lost, and no others. */
static void choose_late(simt_crash *c, uint64_t store)
{
    memset(c->lost, 0, c->words * sizeof *c->lost);
    for (size_t i = (size_t)store; i < c->stores; i++) c->lost[c->word_of[i]] += c->word_of[i] == c->word_of[store];
}

static void choose_early(simt_crash *c, uint64_t word)
{
    memcpy(c->lost, c->open, c->words * sizeof *c->lost);
    c->lost[word] = 0;
}

/* Image k where there are too many. */
static void choose_some(simt_crash *c, uint64_t k)
{
    if (k < c->stores) {
        choose_late(c, k);
    } else if ((k -= c->stores) < c->words) {
        choose_early(c, k);
    } else if ((k -= c->words) <= c->stores) {
        choose_prefix(c, k);
    } else if ((k -= c->stores + 1) <= c->stores) {
        choose_suffix(c, k);
    } else {
        for (size_t w = 0; w < c->words; w++) c->lost[w] = machine_random(&c->random) % (c->open[w] + 1);
    }
}

bool simt_crash_next(simt_crash *c)
{
    if (c->next == c->images) return false;
    bool lazily = c->lazy && c->next < c->all;
    if (lazily && !choose_lazily(c)) return false;
    if (!lazily && c->every) choose_all(c, c->next);
    if (!lazily && !c->every) choose_some(c, c->lazy ? UINT64_MAX : c->next);
    if (c->lazy && !lazily) memset(c->looked, 1, c->words);
    c->next++;
    make_image(c);
    return true;
}

const simt_decision *simt_crash_lost(const simt_crash *c, size_t *n)
{
    *n = 0;
    for (size_t w = 0; w < c->words; w++)
        if (c->lost[w]) c->told[(*n)++] = (simt_decision){ w, (uint32_t)c->lost[w] };
    return c->told;
}

static bool is_event(const simt_crash *c, const persist_store *s, const simt_event *e)
{
    const uint8_t *p = (const uint8_t *)e->p;
    return s->run == c->run && s->step == e->step && s->block == e->block && s->thread == e->thread &&
           p < s->word + WORD && s->word < p + e->bytes;
}

bool simt_crash_loses(const simt_crash *c, const simt_event *e)
{
    bool loses = false;
    memcpy(c->left, c->lost, c->words * sizeof *c->left);
    for (size_t i = c->stores; e->p && i--;) {
        size_t w = c->word_of[i];
        if (!c->left[w]) continue;
        c->left[w]--;
        loses = loses || is_event(c, &c->store[i], e);
    }
    return loses;
}

void simt_crash_tell(const simt_crash *c, char *text, size_t bytes)
{
    memcpy(c->left, c->lost, c->words * sizeof *c->left);
    for (size_t i = c->stores; i--;) {
        const persist_store *s = &c->store[i];
        uint64_t offset;
        size_t used = strlen(text);
        const char *name = simt_machine_name(c->m, s->word, &offset);
        if (!c->left[c->word_of[i]]) continue;
        c->left[c->word_of[i]]--;
        snprintf(text + used, bytes - used,
                 "\n  block %u, thread %u at %s: lost: %s+%" PRIu64 "  %" PRIx64 " -> %" PRIx64, s->block, s->thread,
                 simt_site_name(s->site), name, offset, s->before, s->after);
    }
}

/* ---- A crash as text ------------------------------------------------------------------------- */

size_t simt_crash_print(uint64_t crash_at, const simt_decision *lost, size_t n, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%" PRIu64 "%s", crash_at, n ? "," : "");
    return used + simt_schedule_print(lost, n, used < bytes ? text + used : NULL, used < bytes ? bytes - used : 0);
}

hd_status simt_crash_parse(const char *text, uint64_t *crash_at, simt_decision *lost, size_t *n)
{
    *crash_at = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9' && *crash_at < UINT32_MAX; p++) *crash_at = *crash_at * 10 + (uint64_t)(*p - '0');
    if (p == text || (*p && *p != ',') || (*p && !p[1]))
        return hd_fail(HD_EINVAL, "crash: '%.20s' is no event's number", text);
    return simt_schedule_parse(*p ? p + 1 : p, lost, n);
}
