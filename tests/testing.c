/* SPDX-License-Identifier: Apache-2.0
 *
 * testing.c - see testing.h. cmocka runs the tests and prints TAP (tests/tap-run turns it into the dialect that
 * automake reads). This file adds what cmocka lacks: the current case in a message, and a reason for a skip.
 */
#include "tests/testing.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/op.h"
#include "base/team.h"
#include "judge/design.h"
#include "lib/params.h"
#include "workload/workload.h"

static char current_case[1024];

void test_case(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(current_case, sizeof current_case, format, ap);
    va_end(ap);
}

void test_fail(const char *file, int line, const char *what, const char *format, ...)
{
    char sentence[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    print_message("# %s\n# failed: %s\n# case: %s\n", sentence, what, current_case[0] ? current_case : "(none)");
    _fail(file, line);
    abort(); /* not reached: _fail leaves the test */
}

void test_status(hd_status got, hd_status want, const char *word, const char *call, const char *file, int line)
{
    if (got != want)
        test_fail(file, line, call, "%s instead of %s: %s", hd_status_name(got), hd_status_name(want), hd_why());
    if (word && !strstr(hd_why(), word)) test_fail(file, line, call, "no '%s' in: %s", word, hd_why());
}

void test_note(const char *format, ...)
{
    char sentence[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    print_message("# %s\n", sentence);
}

static uint64_t tried_ns; /* when the running test began, or said last what it had tried */

void test_tried(const char *area, uint64_t count, const char *format, ...)
{
    char what[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    uint64_t now = hd_seams_os.time.now_ns(NULL);
    print_message("# tried %s %llu %.3f %s\n", area, (ull)count, (double)(now - tried_ns) * 1e-9, what);
    tried_ns = now;
}

void test_skip(const char *why)
{
    test_note("skipped: %s", why);
    skip();
    abort(); /* not reached */
}

FILE *test_same(const char *name)
{
    const char *to = getenv("HEDDLE_SAME");
    char path[4096];
    if (!to) return NULL;
    snprintf(path, sizeof path, "%s/%s", to, name);
    FILE *f = fopen(path, "w");
    check(f, "%s cannot be written", path);
    return f;
}

static char data_path[4096];

bool test_has_data(const char *name)
{
    const char *folder = getenv("HEDDLE_DATA");
    snprintf(data_path, sizeof data_path, "%s/%s", folder ? folder : "", name);
    return folder && !access(data_path, R_OK);
}

const char *test_data(const char *name)
{
    if (!test_has_data(name)) {
        const char *folder = getenv("HEDDLE_DATA");
        char why[256];
        snprintf(why, sizeof why, "%.100s is not in HEDDLE_DATA (%.100s)", name, folder ? folder : "unset");
        test_skip(why);
    }
    return data_path;
}

uint64_t *test_keys(const char *spec, uint64_t seed, uint64_t most, uint64_t *n)
{
    enum { AT_ONCE = 4096 };
    hd_request r[AT_ONCE];
    hd_source *s;
    uint64_t *key = NULL;
    must(hd_source_open_spec(spec, seed, &s));
    *n = 0;
    for (size_t got = 1; got && *n < most; *n += got) {
        uint64_t want = most - *n < AT_ONCE ? most - *n : AT_ONCE;
        must(hd_source_next(s, r, (size_t)want, &got));
        key = (uint64_t *)realloc(key, (size_t)(*n + got + 1) * sizeof *key);
        check(key, "out of memory at %llu keys", (ull)*n);
        for (size_t i = 0; i < got; i++) key[*n + i] = r[i].key;
    }
    hd_source_close(s);
    return key;
}

/* "3" is 3 and 1, "1/8" is 1 and 8; what is neither is 1 and 1. */
static void scale(uint64_t *more, uint64_t *less)
{
    const char *text = getenv("HEDDLE_TEST_SCALE");
    long long m = 1, l = 1;
    if (text && sscanf(text, "%lld/%lld", &m, &l) < 1) m = 1;
    *more = m > 1 ? (uint64_t)m : 1;
    *less = l > 1 ? (uint64_t)l : 1;
}

uint64_t test_scale(void)
{
    uint64_t more, less;
    scale(&more, &less);
    return more;
}

uint64_t test_times(uint64_t usual)
{
    uint64_t more, less;
    scale(&more, &less);
    uint64_t n = usual * more / less;
    return n ? n : 1;
}

bool test_is_long(void) { return getenv("HEDDLE_TEST_LONG") != NULL; }

uint64_t test_quarter(uint64_t usual) { return test_times(test_is_long() ? usual : (usual + 3) / 4); }

bool test_takes(uint64_t i)
{
    uint64_t more, less;
    scale(&more, &less);
    return i == 0 || test_random(&i) % less == 0;
}

const char *test_backend(const char *usual)
{
    const char *backend = getenv("HEDDLE_TEST_BACKEND");
    return backend && *backend ? backend : usual;
}

bool test_far(void) { return strcmp(test_backend(""), "cuda") == 0; }

hd_config test_config(void)
{
    hd_config c = hd_config_default();
    c.backend = test_backend(c.backend);
    return c;
}

hd_config test_usual_of(hd_config given)
{
    static const char zero[sizeof given] = { 0 };
    hd_config usual = hd_config_of(given.design ? given.design : "hkv");
    const hd_params *s;
    for (size_t i = 0; (s = hd_params_at(i)); i++)
        for (const hd_param *p = s->row; p < s->row + s->count; p++) {
            char *at = (char *)hd_params_in(s, &given) + p->at;
            const char *from = (const char *)hd_params_of(s, &usual) + p->at;
            if (at != (char *)&given.value_bytes && memcmp(at, zero, p->bytes) == 0) memcpy(at, from, p->bytes);
        }
    return given;
}

hd_table *test_table_at(hd_config given, const char *file, int line)
{
    hd_table *t;
    hd_config c = test_usual_of(given);
    test_status(hd_open(&c, &t), HD_OK, NULL, "test_table", file, line);
    return t;
}

static bool ordered(void) { return strcmp(test_backend("ref"), "ref") == 0; }

uint64_t test_some(uint64_t n) { return ordered() ? n : (n + 31) / 32; }

/* Element i of an array that may be NULL. */
static void *element(const void *array, uint64_t i, uint64_t bytes)
{
    return array ? (char *)(uintptr_t)array + i * bytes : NULL;
}

hd_status test_in_order(hd_table *t, hd_batch *b)
{
    const hd_op_row *row = hd_op_row_of(b->op);
    bool lists = b->op == HD_OP_FIND_MISSED || b->op == HD_OP_INSERT_AND_EVICT;
    if (ordered() || !row || !hd_op_is_keyed(row) || b->n < 2) return hd_run(t, b);
    hd_info info;
    hd_status status = hd_table_info(t, &info);
    uint64_t listed = 0;
    for (uint64_t i = 0; i < b->n && !status; i++) {
        hd_batch one = *b;
        uint64_t count = 0;
        one.n = 1;
        one.key = (const uint64_t *)element(b->key, i, 8);
        one.value = element(b->value, i, info.value_bytes);
        one.score = (const uint64_t *)element(b->score, i, 8);
        one.flag = (const uint8_t *)element(b->flag, i, 1);
        one.each = (const uint8_t *)element(b->each, i, 1);
        one.outcome = (uint8_t *)element(b->outcome, i, 1);
        one.found = (bool *)element(b->found, i, sizeof *b->found);
        one.value_out = element(b->value_out, i, info.value_bytes);
        one.score_out = (uint64_t *)element(b->score_out, i, 8);
        one.ptr = (void **)element(b->ptr, i, sizeof *b->ptr);
        one.list_key = (uint64_t *)element(b->list_key, listed, 8);
        one.list_value = element(b->list_value, listed, info.value_bytes);
        one.list_score = (uint64_t *)element(b->list_score, listed, 8);
        one.list_item = (uint64_t *)element(b->list_item, listed, 8);
        one.count = lists ? &count : NULL;
        status = hd_run(t, &one);
        b->ran = one.ran;
        if (!status && count && b->list_item) b->list_item[listed] = i;
        listed += count;
    }
    if (!status && lists && b->count) *b->count = listed;
    return status;
}

hd_batch test_batch(hd_op op, uint64_t n, const uint64_t *key, const void *value, uint8_t *outcome)
{
    return (hd_batch){ .op = op, .n = n, .key = key, .value = value, .outcome = outcome };
}

void test_lists(hd_batch *b, uint64_t *key, void *value, uint64_t *score, uint64_t *item, uint64_t *count)
{
    b->list_key = key, b->list_value = value, b->list_score = score, b->list_item = item;
    b->count = count;
}

static hd_outcome run_one(hd_table *t, hd_op op, uint64_t key, uint64_t value, void *out)
{
    uint8_t outcome = HD_MISS;
    hd_batch b = test_batch(op, 1, &key, op == HD_OP_INSERT_OR_ASSIGN ? &value : NULL, &outcome);
    b.value_out = out;
    must(hd_run(t, &b));
    return (hd_outcome)outcome;
}

hd_outcome test_put(hd_table *t, uint64_t key, uint64_t value)
{
    return run_one(t, HD_OP_INSERT_OR_ASSIGN, key, value, NULL);
}

hd_outcome test_erase(hd_table *t, uint64_t key) { return run_one(t, HD_OP_ERASE, key, 0, NULL); }

bool test_get(hd_table *t, uint64_t key, uint64_t *value)
{
    *value = 0;
    return run_one(t, HD_OP_FIND, key, 0, value) == HD_HIT;
}

hd_info test_info(hd_table *t)
{
    hd_info info;
    must(hd_table_info(t, &info));
    return info;
}

uint64_t test_size(hd_table *t)
{
    uint64_t size;
    must(hd_size_sync(t, &size));
    return size;
}

hd_status test_ask_info(hd_table *t) { return hd_table_info(t, &(hd_info){ 0 }); }
hd_status test_ask_size(hd_table *t) { return hd_size_sync(t, &(uint64_t){ 0 }); }
hd_status test_ask_load_factor(hd_table *t) { return hd_load_factor_sync(t, &(double){ 0 }); }
hd_status test_ask_counters(hd_table *t) { return hd_counters_sync(t, &(hd_counters){ 0 }); }

/* What the device is asked for directly cannot fail. */
static void copy(void *to, const void *from, size_t bytes, hd_way way)
{
    const hd_device_seam *d = &hd_device_os;
    int code = 0;
    if (bytes == 0) return;
    if (!test_far())
        memcpy(to, from, bytes);
    else if (!(code = d->copy(d->self, to, from, bytes, way, NULL)))
        code = d->wait(d->self, NULL);
    check(code == 0, "%s", d->error(d->self, code));
}

void test_peek(void *to, const void *ptr, size_t bytes) { copy(to, ptr, bytes, HD_FROM_DEVICE); }
void test_poke(void *ptr, const void *from, size_t bytes) { copy(ptr, from, bytes, HD_TO_DEVICE); }

void *test_alloc(uint64_t count, uint64_t size)
{
    void *p = calloc((size_t)(count ? count : 1), (size_t)(size ? size : 1));
    check(p, "no memory for %llu x %llu bytes", (ull)count, (ull)size);
    return p;
}

/* Under AddressSanitizer, too, more memory than there is shall be refused, not be the end: tests ask for it. And where
 * libraries keep thread-local data, clang 14's guess at it from what glibc 2.36 has in front of it is wrong at times:
 * its search for leaks then faults. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1:intercept_tls_get_addr=0"; }

/* ---- A folder that goes away ----------------------------------------------------------------- */

static char folder[4096];
static pid_t folder_owner;

static void folder_remove(void)
{
    if (!folder[0] || getpid() != folder_owner) return; /* a forked child must not */
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[sizeof folder + sizeof e->d_name + 1];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path); /* "." and ".." refuse */
    }
    if (d) closedir(d);
    rmdir(folder);
}

const char *test_folder(void)
{
    if (!folder[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/heddle-test-XXXXXX", base && *base ? base : "/tmp");
        if (!mkdtemp(folder)) {
            folder[0] = 0;
            test_fail(__FILE__, __LINE__, "mkdtemp", "no folder for this test's files");
        }
        folder_owner = getpid();
        atexit(folder_remove);
    }
    return folder;
}

const char *test_text_file(const char *name, const char *text)
{
    static char path[sizeof folder + 256];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    FILE *f = fopen(path, "w");
    check(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s", path);
    return path;
}

/* ---- Random numbers -------------------------------------------------------------------------- */

uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t test_below(uint64_t *state, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)test_random(state) * n) >> 64);
}

/* ---- Seams that count ------------------------------------------------------------------------ */

void test_poison(void *p, size_t bytes, uint64_t poison)
{
    if (poison <= 0xff) {
        memset(p, (int)poison, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = test_random(&poison);
        memcpy((uint8_t *)p + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

static void *counting_take(void *self, size_t bytes, size_t align)
{
    counting *c = (counting *)self;
    c->takes++;
    if (c->refuse_at && (c->takes == c->refuse_at || (c->refuse_after && c->takes > c->refuse_at))) return NULL;
    void *p = hd_seams_os.memory.take(hd_seams_os.memory.self, bytes, align);
    if (!p) return NULL;
    test_poison(p, bytes, c->poison);
    c->live_bytes += bytes;
    if (c->live_bytes > c->peak_bytes) c->peak_bytes = c->live_bytes;
    if (bytes > c->largest_bytes) c->largest_bytes = bytes;
    return p;
}

static void counting_give(void *self, void *p, size_t bytes)
{
    counting *c = (counting *)self;
    if (p) {
        c->gives++;
        c->live_bytes -= bytes;
    }
    hd_seams_os.memory.give(hd_seams_os.memory.self, p, bytes);
}

void counting_refuse(counting *c, uint64_t k, bool for_good)
{
    c->refuse_at = c->takes + k;
    c->refuse_after = for_good;
}

bool counting_refused(counting *c)
{
    bool reached = c->takes >= c->refuse_at;
    c->refuse_at = 0;
    return reached;
}

void counting_init(counting *c)
{
    memset(c, 0, sizeof *c);
    c->poison = 0xa5;
    c->seams = hd_seams_os;
    c->seams.memory.take = counting_take;
    c->seams.memory.give = counting_give;
    c->seams.memory.self = c;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Why tables cannot be where they should, or NULL. */
static const char *no_device(void)
{
    hd_device device;
    int code = test_far() ? hd_device_os.find(hd_device_os.self, &device) : 0;
    return code ? hd_device_os.error(hd_device_os.self, code) : NULL;
}

void test_plain(void **function) { ((void (*)(void)) * function)(); }

static int test_begins(void **state)
{
    (void)state;
    tried_ns = hd_seams_os.time.now_ns(NULL);
    return 0;
}

void test_add_designs(void)
{
    static bool added;
    if (!added) must(add_own_designs());
    added = true;
}

int test_run_named(const char *name, const struct CMUnitTest *tests, size_t n)
{
    test_add_designs();
    struct CMUnitTest *timed = (struct CMUnitTest *)test_alloc(n, sizeof *timed);
    const char *why = no_device();
    if (why) {
        printf("1..0 # SKIP no CUDA device: %s\n", why);
        free(timed);
        return 77;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    hd_team_patient = 0; /* on a busy machine, too */
    const char *only = getenv("HEDDLE_TEST_ONLY");
    if (only) cmocka_set_test_filter(only);
    memcpy(timed, tests, n * sizeof *timed);
    for (size_t i = 0; i < n; i++)
        if (!timed[i].setup_func) timed[i].setup_func = test_begins;
    int failed = _cmocka_run_group_tests(name, timed, n, NULL, NULL) ? 1 : 0;
    free(timed);
    return failed;
}
