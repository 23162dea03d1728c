/* SPDX-License-Identifier: Apache-2.0
 *
 * crashes.c - what GPHash's repairs are worth (sections 3.2.2 and 3.2.3). Cases run on the host machine under random
 * schedules, without one of the repairs. Each schedule is judged; then it crashes at every moment that matters, and
 * each image that the crash may leave is recovered and judged (judge/crash.h). The linker puts functions of this file
 * between the kernels and the machine.
 *
 *     crashes head
 *     crashes run CASE ... [NAME=VALUE ...]     a line; the first schedule, or image, that is wrong ends the search
 *
 *     without=nothing         or a fence for all of the system, by its line in gpu/gphash/ (item.h:78); or
 *                                 look    an insert's second look at the other slots of its key
 *                                 levels  recovery above the bottom level
 *                                 values  recovery of keys without a value
 *                                 cells   recovery of free cells: it takes all for free
 *     waits=                  a line of gpu/gphash/ (item.h:219) whose backoffs are counted
 *     fixtures=20 seed=1      of each case: tables and batches that differ
 *     schedules=1             of each fixture
 *     images=72               at most so many of a crash that has more
 *     crash=1                 0: schedules do not crash
 */
#define EXPERIMENT "crashes"
#include "judge/crash.h"
#include "judge/design.h"
#include "judge/kernels.h"
#include "papers/words.h"
#include "ref/gphash/gphash.h"
#include "simt/crash.h"
#include "simt/simt.h"

enum { PLACES = 1 << 12 };

typedef struct words {
    char without[16], waits[16];
    uint64_t fixtures, schedules, seed, images, crash;
} words;

static words w = { "nothing", "", 20, 1, 1, 72, 1 };
static uint64_t left_out, waits;

/* ---- In between ------------------------------------------------------------------------------ */

void __real_simt_host_fence_system(const char *site);
void __wrap_simt_host_fence_system(const char *site);
void __real_simt_host_backoff(const char *site);
void __wrap_simt_host_backoff(const char *site);
uint64_t __real_gphash_recover(gphash_table *t);
uint64_t __wrap_gphash_recover(gphash_table *t);

/* Whether the site, a line of a path, is that line of a file. */
static bool is_at(const char *site, const char *line)
{
    size_t n = strlen(line), all = strlen(site);
    return all > n && site[all - n - 1] == '/' && strcmp(site + all - n, line) == 0;
}

void __wrap_simt_host_fence_system(const char *site)
{
    bool out = is_at(site, w.without);
    left_out += out;
    if (out)
        simt_host_fence(site);
    else
        __real_simt_host_fence_system(site);
}

void __wrap_simt_host_backoff(const char *site)
{
    waits += is_at(site, w.waits);
    __real_simt_host_backoff(site);
}

/* ---- Recovery without a part of it ----------------------------------------------------------- */

static bool is_without(const char *what) { return strcmp(w.without, what) == 0; }

/* Whether recovery, without what is left out, leaves a slot as the crash has left it. */
static bool stays(const gphash_view *v, uint64_t e)
{
    uint64_t key = *gphash_key_at(v, e), number = *gphash_number_at(v, e);
    if (is_without("levels")) return gphash_level_of(v, e) != v->bottom;
    return is_without("values") && key < HD_KEY_RESERVED && v->cell_bytes && number == GPHASH_NONE;
}

uint64_t __wrap_gphash_recover(gphash_table *t)
{
    static uint64_t was[PLACES][2];
    static bool kept[PLACES];
    const gphash_view *v = &t->v;
    const uint64_t places = gphash_places(v);
    if (places > PLACES) stop("recovery", "the table is too large");
    for (uint64_t e = 0; e < places; e++) {
        kept[e] = stays(v, e);
        was[e][0] = *gphash_key_at(v, e), was[e][1] = *gphash_number_at(v, e);
    }
    uint64_t emptied = __real_gphash_recover(t);
    for (uint64_t e = 0; e < places; e++)
        if (kept[e]) *gphash_key_at(v, e) = was[e][0], *gphash_number_at(v, e) = was[e][1];
    if (!is_without("cells")) return emptied;
    for (t->head = t->tail = 0; t->tail < gphash_cells(v); t->tail++) v->free[t->tail] = (uint32_t)t->tail;
    return emptied;
}

/* ---- A case ---------------------------------------------------------------------------------- */

static simt_exploration explore(const char *text, uint64_t seed, simt_machine *m)
{
    simt_config c = simt_config_default();
    simt_recovery how;
    simt_exploration e;
    hd_case is;
    uint32_t row = 0;
    fixture *s;
    comparison *a;
    must(hd_case_parse(text, &is));
    const judge_design *d = judge_design_of(&is);
    if (!d) stop(text, hd_why());
    is.seed = seed;
    must(fixture_kernel_row(&is, &row));
    const fixture_kernel kernel = fixture_kernel_at(d, row, 32, 3), *kernels[] = { &kernel };
    must(fixture_open(&is, kernels, 1, &s));
    s->part[0].batch.distinct = is_without("look");
    fixture_changed(s, 0);
    must(comparison_open(s, &a));
    must(crash_recovery(a, &how));
    how.all = w.images;
    c.seed = seed;
    const simt_trial trial = comparison_trial(a);
    must(w.crash ? simt_explore_crashes(m, &trial, &how, &c, w.schedules, 0, 0, &e)
                 : simt_explore(m, &trial, &c, w.schedules, 0, 0, &e));
    comparison_close(a);
    return e;
}

static void explore_all(char **text, int n)
{
    simt_machine *m;
    uint64_t schedules = 0, points = 0, images = 0;
    bool wrong = false;
    must(simt_machine_open(NULL, &m));
    for (uint64_t k = 0; k < w.fixtures * (uint64_t)n && !wrong; k++) {
        simt_exploration e = explore(text[k % (uint64_t)n], w.seed + k / (uint64_t)n, m);
        schedules += e.schedules, points += e.points, images += e.images;
        wrong = e.wrong;
        if (wrong) fprintf(stderr, EXPERIMENT ": without %s: %s\n", w.without, e.finding.story);
        simt_exploration_free(m, &e);
    }
    simt_machine_close(m);
    if (strchr(w.without, ':') && !left_out) stop(w.without, "there is no such fence, or no case comes to it");
    printf("%s\t%llu\t%llu\t%llu\t%llu\t%d\n", w.without, (unsigned long long)schedules, (unsigned long long)points,
           (unsigned long long)images, (unsigned long long)waits, wrong);
}

int main(int argc, char **argv)
{
    int cases = 0;
    if (argc == 2 && strcmp(argv[1], "head") == 0)
        return printf("without\tschedules\tcrashes\timages\twaits\twrong\n") < 0;
    if (argc < 3 || strcmp(argv[1], "run") != 0)
        stop("usage", "crashes head, or crashes run CASE ... [NAME=VALUE ...]");
    while (cases + 2 < argc && strncmp(argv[cases + 2], "gphash.", 7) == 0) cases++;
    const word_row rows[] = { { "without=", WORD_TEXT, 0, w.without },
                              { "waits=", WORD_TEXT, 0, w.waits },
                              { "fixtures=", WORD_WHOLE, 1 << 20, &w.fixtures },
                              { "schedules=", WORD_WHOLE, 1 << 20, &w.schedules },
                              { "seed=", WORD_WHOLE, UINT64_MAX, &w.seed },
                              { "images=", WORD_WHOLE, SIMT_CRASH_ALL, &w.images },
                              { "crash=", WORD_WHOLE, 1, &w.crash } };
    WORDS_READ(argv + 2 + cases, argc - 2 - cases, rows);
    if (!cases) stop("CASE", "none");
    explore_all(argv + 2, cases);
    return 0;
}
