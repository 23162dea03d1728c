/* SPDX-License-Identifier: Apache-2.0
 *
 * changes.c - see changes.h.
 */
#include "lib/changes.h"

#include <string.h>

#include "base/team.h"

enum { ATOM = HD_PIECE_ATOM, WORD_BITS = 64 };

/* ---- Pages, by threads ----------------------------------------------------------------------- */

/* A page of an array; the last one may be shorter. */
typedef struct page {
    const uint8_t *is;
    uint8_t *was; /* in the durable copy */
    uint8_t *sectors;
    uint32_t extent;
    uint64_t at, bytes; /* in the extent */
} page;

enum {
    SHARES = HD_CHANGES_SHARES,
    PAGE_ITEMS = 4, /* hd_team_run: what comparing a page costs */
    LINE = 64       /* bytes that the copy takes at a time */
};

typedef struct pass pass;
struct pass {
    hd_store *x;
    const hd_pieces *p;
    bool cells; /* only arrays with cells */
    void (*each)(pass *pass, uint32_t share, const page *page);
    uint64_t *bytes;     /* (SHARES) that each share has found; NULL: it does not count */
    uint8_t *to[SHARES]; /* where the next redo of a share goes */
};

static void go_over_piece(pass *pass, uint32_t share, int i, uint64_t from, uint64_t to)
{
    const hd_extent *piece = &pass->p->all[i];
    uint8_t *was = hd_changes_copy(pass->x, pass->p, i);
    for (uint64_t k = from; k < to; k++) {
        uint64_t at = k * HD_EXTENT_PAGE, left = piece->bytes - at;
        page page = { (const uint8_t *)piece->p + at,
                      was + at,
                      pass->x->changed + pass->p->page[i] + k,
                      pass->p->extent[i],
                      pass->p->at[i] + at,
                      left < HD_EXTENT_PAGE ? left : HD_EXTENT_PAGE };
        pass->each(pass, share, &page);
    }
}

static void go_over_share(pass *pass, uint32_t share)
{
    const hd_pieces *p = pass->p;
    uint64_t first = hd_team_share(p->pages, share, SHARES), last = hd_team_share(p->pages, share + 1, SHARES);
    for (int i = 0; i < p->n; i++) {
        uint64_t begin = p->page[i], end = begin + hd_image_pages(p->all[i].bytes),
                 from = first > begin ? first : begin, to = last < end ? last : end;
        if (from < to && (!pass->cells || pass->x->cells.has[p->extent[i]]))
            go_over_piece(pass, share, i, from - begin, to - begin);
    }
}

static void go_over_shares(hd_team *m, uint32_t t, uint32_t many, void *context)
{
    (void)m;
    for (uint32_t share = t; share < SHARES; share += many) go_over_share((pass *)context, share);
}

/* threads: not where `each` calls a seam. */
static void go_over_pages(pass *pass, bool threads)
{
    hd_team_run(threads ? hd_team_usual() : 1, pass->p->pages * PAGE_ITEMS, go_over_shares, pass);
}

/* ---- What has changed ------------------------------------------------------------------------ */

static uint32_t differing_sectors(const page *page)
{
    uint32_t sectors = 0;
    for (uint64_t at = 0, s = 0; at < page->bytes; at += HD_IMAGE_SECTOR, s++) {
        uint64_t n = page->bytes - at < HD_IMAGE_SECTOR ? page->bytes - at : HD_IMAGE_SECTOR;
        sectors |= (uint32_t)(memcmp(page->is + at, page->was + at, n) != 0) << s;
    }
    return sectors;
}

static void compare_page(const page *page)
{
    HD_ASSERT(*page->sectors || memcmp(page->is, page->was, page->bytes) == 0,
              "a page has changed, and the backend does not say so");
    if (*page->sectors) *page->sectors = (uint8_t)differing_sectors(page);
}

static void compare_cells(pass *pass, uint32_t share, const page *page)
{
    compare_page(page);
    pass->bytes[share] += (uint64_t)__builtin_popcount(*page->sectors) * HD_IMAGE_SECTOR;
}

uint64_t hd_changes_in_cells(hd_store *x, const hd_pieces *p)
{
    uint64_t bytes[SHARES] = { 0 }, all = 0;
    pass pass = { .x = x, .p = p, .cells = true, .each = compare_cells, .bytes = bytes };
    go_over_pages(&pass, true);
    for (uint32_t share = 0; share < SHARES; share++) all += bytes[share];
    return all;
}

static void find_in_page(pass *pass, uint32_t share, const page *page)
{
    if (!pass->x->cells.has[page->extent]) compare_page(page);
    if (*page->sectors)
        pass->bytes[share] += hd_redo_bytes(page->is, page->was, (uint32_t)(page->bytes / ATOM), *page->sectors);
}

void hd_changes_find(hd_store *x, const hd_pieces *p, hd_changes *c)
{
    pass pass = { .x = x, .p = p, .each = find_in_page, .bytes = c->redos };
    memset(c, 0, sizeof *c);
    go_over_pages(&pass, true);
}

/* ---- Free cells ------------------------------------------------------------------------------ */

static bool has_bit(const uint64_t *bits, uint64_t i) { return bits[i / WORD_BITS] >> i % WORD_BITS & 1; }
/* By several threads. */
static void add_bit(uint64_t *bits, uint64_t i)
{
    __atomic_fetch_or(&bits[i / WORD_BITS], 1ull << i % WORD_BITS, __ATOMIC_RELAXED);
}

/* One word more, or less, names the cell; by several threads. What was not counted stays: then it is never free. */
static void count_name(const hd_cells *c, uint64_t cell, int more)
{
    uint8_t *names = &c->names_of[cell], was = __atomic_load_n(names, __ATOMIC_RELAXED), is;
    do {
        HD_ASSERT(was || more > 0, "a word that names a cell was not counted");
        if (was == HD_CELL_NAMES_MOST || (!was && more < 0)) return;
        is = (uint8_t)(was + more);
    } while (!__atomic_compare_exchange_n(names, &was, is, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* The copy takes n bytes of a page. */
static void take_bytes(const hd_store *x, const page *page, uint64_t at, uint64_t n)
{
    memcpy(page->was + at, page->is + at, n);
    if (x->image.line) hd_image_write_back(&x->image, (uint64_t)(page->was + at - x->image.map), n);
}

/* What is new in the free cells of a page goes to the copy. */
static void copy_free(pass *pass, uint32_t share, const page *page)
{
    hd_store *x = pass->x;
    const hd_cells *c = &x->cells;
    bool copied = false;
    (void)share;
    if (!*page->sectors) return;
    for (uint64_t at = 0, n; at < page->bytes; at += n) {
        uint64_t in_extent = page->at + at, cell = c->first[page->extent] + in_extent / c->bytes;
        n = c->bytes - in_extent % c->bytes; /* the cell may have begun in the page before, or end in the next one */
        if (n > page->bytes - at) n = page->bytes - at;
        if (c->names_of[cell] || has_bit(c->logged, cell) || memcmp(page->is + at, page->was + at, n) == 0) continue;
        take_bytes(x, page, at, n);
        copied = true;
    }
    if (!copied) return;
    *page->sectors = (uint8_t)differing_sectors(page);
    if (x->shadow) hd_store_mark(x, page->extent, page->at, page->bytes, HD_PAGE_FREE);
}

hd_status hd_changes_write(hd_store *x, const hd_pieces *p)
{
    pass pass = { .x = x, .p = p, .cells = true, .each = copy_free };
    go_over_pages(&pass, !x->image.line);
    return hd_store_write_pages(x, HD_PAGE_FREE);
}

/* The cell that a word names; false: it names none. */
static bool names_cell(const hd_cells *c, uint64_t word, uint64_t *cell)
{
    *cell = word & UINT32_MAX;
    return *cell < c->n;
}

static uint64_t words_of(const hd_store *x, uint32_t e, const uint64_t **word)
{
    *word = (const uint64_t *)(const void *)hd_store_copy(x, e);
    return x->cells.names[e] ? x->image.sb.extent[e].bytes / ATOM : 0;
}

static void scan(const hd_store *x)
{
    const uint64_t *word;
    uint64_t cell;
    for (uint32_t e = 0; e < x->image.sb.extents; e++)
        for (uint64_t n = words_of(x, e, &word); n > 0; n--)
            if (names_cell(&x->cells, *word++, &cell)) count_name(&x->cells, cell, 1);
}

/* Whether cells are named as a scan of the copy says. */
static bool are_right(const hd_store *x)
{
    const hd_cells *c = &x->cells;
    const uint64_t *word;
    uint64_t cell, named = 0, counted = 0;
    for (uint32_t e = 0; e < x->image.sb.extents; e++)
        for (uint64_t n = words_of(x, e, &word); n > 0; n--) {
            if (!names_cell(c, *word++, &cell)) continue;
            if (!c->names_of[cell]) return false;
            named += c->names_of[cell] < HD_CELL_NAMES_MOST;
        }
    for (uint64_t i = 0; i < c->n; i++) counted += c->names_of[i] < HD_CELL_NAMES_MOST ? c->names_of[i] : 0;
    return counted == named;
}

/* Which extents have cells, and which name them, and how many cells there are. */
static void find_cells(hd_cells *c, const hd_pieces *p)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < p->n; i++) {
        const hd_extent *piece = &p->all[i];
        c->names[p->extent[i]] = piece->names;
        c->has[p->extent[i]] = piece->cell_bytes > 0;
        if (!piece->cell_bytes) continue;
        HD_ASSERT(p->at[i] == 0 && piece->bytes % piece->cell_bytes == 0, "cells are not an extent of their own");
        HD_ASSERT(!c->bytes || c->bytes == piece->cell_bytes, "cells have different sizes");
        c->first[p->extent[i]] = c->n;
        c->bytes = piece->cell_bytes;
        c->n += piece->bytes / piece->cell_bytes;
    }
}

hd_status hd_cells_take(hd_store *x, const hd_pieces *p)
{
    hd_cells *c = &x->cells;
    void *names_of = NULL, *logged = NULL;
    hd_cells_give(x);
    find_cells(c, p);
    const uint64_t bytes = hd_cells_bits(c);
    if (c->n == 0) return HD_OK;
    hd_status status = hd_take(&x->seams, "file: cells in use", c->n, 1, &names_of);
    if (!status) status = hd_take(&x->seams, "file: cells in the journal", bytes, 1, &logged);
    if (status) {
        hd_give(&x->seams, names_of, c->n, 1);
        memset(c, 0, sizeof *c);
        return status;
    }
    c->names_of = (uint8_t *)memset(names_of, 0, c->n);
    c->logged = (uint64_t *)memset(logged, 0, bytes);
    scan(x);
    return HD_OK;
}

void hd_cells_give(hd_store *x)
{
    hd_give(&x->seams, x->cells.names_of, x->cells.n, 1);
    hd_give(&x->seams, x->cells.logged, hd_cells_bits(&x->cells), 1);
    memset(&x->cells, 0, sizeof x->cells);
}

void hd_cells_checkpoint(hd_store *x)
{
    if (x->cells.n) memset(x->cells.logged, 0, hd_cells_bits(&x->cells));
}

/* ---- The record, and what follows ------------------------------------------------------------ */

/* The words that differ no longer name these cells. */
static void forget_names(const hd_cells *c, const page *page)
{
    const uint64_t *is = (const uint64_t *)(const void *)page->is, *was = (const uint64_t *)(void *)page->was;
    uint64_t cell;
    for (uint64_t i = 0; i < page->bytes / ATOM; i++)
        if (is[i] != was[i] && names_cell(c, was[i], &cell)) count_name(c, cell, -1);
}

static void record_page(pass *pass, uint32_t share, const page *page)
{
    if (!*page->sectors) return;
    if (pass->x->cells.names[page->extent]) forget_names(&pass->x->cells, page);
    pass->to[share] = hd_redo_make(pass->to[share], page->extent, page->at, page->is, page->was,
                                   (uint32_t)(page->bytes / ATOM), *page->sectors);
}

bool hd_changes_record(hd_store *x, const hd_pieces *p, const hd_changes *c)
{
    pass pass = { .x = x, .p = p, .each = record_page };
    hd_journal_begin(&x->journal);
    for (uint32_t share = 0; share < SHARES; share++) {
        pass.to[share] = hd_journal_add(&x->journal, c->redos[share]);
        if (!pass.to[share]) return false;
    }
    go_over_pages(&pass, true);
    return true;
}

/* Words that differ are what the record has of these bytes. */
static void note_words(const hd_cells *c, const page *page, uint64_t at, uint64_t n)
{
    const uint64_t *is = (const uint64_t *)(const void *)(page->is + at),
                   *was = (const uint64_t *)(void *)(page->was + at);
    uint64_t cell;
    for (uint64_t i = 0; i < n / ATOM; i++) {
        if (is[i] == was[i]) continue;
        if (c->has[page->extent]) add_bit(c->logged, c->first[page->extent] + (page->at + at + i * ATOM) / c->bytes);
        if (c->names[page->extent] && names_cell(c, is[i], &cell)) count_name(c, cell, 1);
    }
}

static void take_page(pass *pass, uint32_t share, const page *page)
{
    hd_store *x = pass->x;
    (void)share;
    if (!*page->sectors) return;
    for (uint64_t at = 0, n; at < page->bytes; at += n) {
        n = page->bytes - at < LINE ? page->bytes - at : LINE;
        if (!(*page->sectors >> at / HD_IMAGE_SECTOR & 1) || memcmp(page->is + at, page->was + at, n) == 0) continue;
        if (x->cells.n) note_words(&x->cells, page, at, n);
        take_bytes(x, page, at, n);
    }
    if (x->shadow) hd_store_mark(x, page->extent, page->at, page->bytes, HD_PAGE_LOGGED);
}

void hd_changes_take(hd_store *x, const hd_pieces *p)
{
    pass pass = { .x = x, .p = p, .each = take_page };
    go_over_pages(&pass, !x->image.line);
    HD_ASSERT(!x->cells.n || are_right(x), "cells are named otherwise than the copy says");
}
