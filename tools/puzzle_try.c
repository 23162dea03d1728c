/* SPDX-License-Identifier: Apache-2.0
 *
 * puzzle_try.c - see puzzle_try.h. The answer becomes a shared object in a temporary folder, with the headers that it
 * includes. A child process loads it, judges it and sends the verdict as JSON through a pipe. Signal handlers of the
 * child say where the kernel was.
 */
#include "tools/puzzle_try.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/seam.h"
#include "simt/raw.h"
#include "simt/simt.h"
#include "tools/compiler.h"
#include "tools/puzzle_story.h"
#include "tools/save.h"
#include "tools/tool.h"

enum { PATH_BYTES = 4096, ANSWER_BYTES = 256 << 10, COMPILE_SECONDS = 20 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOWER = 10 };
#else
enum { SLOWER = 1 };
#endif
/* RUN_SECONDS of processor time without a new run: a run has some thousand steps, which are milliseconds. */
enum { RUN_SECONDS = SLOWER, WAIT_SECONDS = 60 * SLOWER };

/* What a signal handler of the child leaves for the parent. */
typedef struct last_words {
    int signal; /* 0: none came */
    bool stack; /* the stack pointer is near the address that could not be accessed */
    bool in_kernel;
    bool loaded; /* the judging began */
    uint32_t block, thread;
    char site[128];
} last_words;

typedef struct attempt {
    const puzzle *p;
    const char *path;
    char *text; /* of the answer */
    char folder[PATH_BYTES];
    last_words *words; /* shared with the child */
} attempt;

/* ---- Files ----------------------------------------------------------------------------------- */

static bool text_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    bool well = f && fputs(text, f) >= 0;
    if (f) well = fclose(f) == 0 && well;
    return well;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

static bool headers_write(const char *folder)
{
    const char *text, *name;
    for (size_t i = 0; (name = puzzle_text_at(i, &text)) != NULL; i++) {
        char path[PATH_BYTES + 128];
        if (!ends_with(name, ".h")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (!save_folders(path, strlen(folder) + 1) || !text_write(path, text)) return false;
    }
    return true;
}

int puzzle_headers(const char *folder)
{
    if ((mkdir(folder, 0777) && errno != EEXIST) || !headers_write(folder))
        return tool_say(TOOL_SYSTEM, "--headers: '%s': %s", folder, strerror(errno));
    return TOOL_OK;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static bool folder_make(char folder[PATH_BYTES])
{
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(folder, PATH_BYTES, "%s/heddle-puzzle-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    return n < PATH_BYTES && mkdtemp(folder);
}

static char *text_read(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = f ? (char *)calloc(ANSWER_BYTES + 1, 1) : NULL;
    if (text) text[fread(text, 1, ANSWER_BYTES, f)] = 0;
    if (f) fclose(f);
    return text;
}

/* ---- Verdicts without a run ------------------------------------------------------------------ */

static json_t *verdict_of(const char *by, const char *idea, const char *detail)
{
    return json_pack("{s:s?, s:s?, s:s?, s:n, s:b, s:i, s:i, s:i, s:i, s:n}", "by", by, "idea", idea, "detail", detail,
                     "schedule", "weak", 0, "schedules", 0, "sectors", -1, "atomics", -1, "steps", -1, "story");
}

/* ---- The compiler ---------------------------------------------------------------------------- */

/* Compiles the answer to `object`. instrumented: every C access of it calls a function (simt/raw_hooks.c). */
static int compile(const attempt *a, char *const *cc, int n, bool instrumented, const char *object,
                   const char *messages)
{
    static char flags[][40] = { "-x",      "c",       "-std=gnu11",
                                "-O1",     "-g1",     "-fPIC",
                                "-Wall",   "-Wextra", "-Werror=implicit-function-declaration",
                                "-c",      "-o",      "-I",
                                "-include" };
    static char hooks[][24] = { "-fsanitize=thread", "-DHD_RAW" };
    char *argv[COMPILER_WORDS], header[PATH_BYTES + 32], file[PATH_BYTES + 2];
    int k = 0;
    for (; k < n; k++) argv[k] = cc[k];
    for (int i = 0; i < 9; i++) argv[k++] = flags[i];
    for (int i = 0; instrumented && i < 2; i++) argv[k++] = hooks[i];
    snprintf(header, sizeof header, "%s/simt/raw_memory.h", a->folder);
    snprintf(file, sizeof file, "%s%s", *a->path == '-' ? "./" : "", a->path);
    if (instrumented) {
        argv[k++] = flags[12];
        argv[k++] = header;
    }
    argv[k++] = flags[11];
    argv[k++] = (char *)(uintptr_t)a->folder;
    argv[k++] = flags[9];
    argv[k++] = flags[10];
    argv[k++] = (char *)(uintptr_t)object;
    argv[k++] = file;
    argv[k] = NULL;
    return compiler_run(argv, messages, COMPILE_SECONDS);
}

static int link_shared(char *const *cc, int n, const char *object, const char *shared, const char *messages)
{
    static char flags[][12] = { "-shared", "-o" };
    char *argv[COMPILER_WORDS];
    int k = 0;
    for (; k < n; k++) argv[k] = cc[k];
    argv[k++] = flags[0];
    argv[k++] = flags[1];
    argv[k++] = (char *)(uintptr_t)shared;
    argv[k++] = (char *)(uintptr_t)object;
    argv[k] = NULL;
    return compiler_run(argv, messages, COMPILE_SECONDS);
}

/* What the compiler said: its first error in a sentence, all of it as detail. */
static json_t *not_compiled(const char *messages)
{
    char *text = text_read(messages), sentence[320] = "";
    const char *error = text ? strstr(text, "error:") : NULL;
    while (error && error > text && error[-1] != '\n') error--;
    snprintf(sentence, sizeof sentence, "The compiler does not accept the answer%s%.*s", error ? ": " : ".",
             error ? (int)strcspn(error, "\n") : 0, error ? error : "");
    if (text) text[strnlen(text, 1500)] = 0;
    json_t *v = verdict_of("compiler", sentence, text && *text ? text : NULL);
    free(text);
    return v;
}

#ifdef HD_RAW_HOOKS
enum { INSTRUMENTED = true };
#else
enum { INSTRUMENTED = false };
#endif

/* Compiles, instrumented if that is possible. */
static int compile_some_way(const attempt *a, char *const *cc, int n, const char *object, const char *messages)
{
    char plain[PATH_BYTES + 24];
    int code = INSTRUMENTED ? compile(a, cc, n, true, object, messages) : 1;
    if (code <= 0 || code == COMPILER_NONE) return code;
    snprintf(plain, sizeof plain, "%s/messages.plain", a->folder);
    code = compile(a, cc, n, false, object, plain); /* perhaps it cannot instrument */
    if (!INSTRUMENTED) rename(plain, messages);
    return code;
}

/* The answer as a shared object. *verdict: the compiler objects. */
static int build(const attempt *a, char *shared, json_t **verdict)
{
    char object[PATH_BYTES + 16], messages[PATH_BYTES + 16], *cc[COMPILER_WORDS];
    char *words = compiler_named("CC", "cc");
    snprintf(object, sizeof object, "%s/answer.o", a->folder);
    snprintf(messages, sizeof messages, "%s/messages", a->folder);
    snprintf(shared, PATH_BYTES + 16, "%s/answer.so", a->folder);
    int n = words ? compiler_words(words, cc) : 0;
    int code = n ? compile_some_way(a, cc, n, object, messages) : COMPILER_NONE;
    if ((code > 0 && code != COMPILER_NONE) || (code == 0 && link_shared(cc, n, object, shared, messages)))
        *verdict = not_compiled(messages);
    int said = compiler_said(code, n ? cc[0] : "cc", "CC");
    free(words);
    return said;
}

/* ---- In the child: where the kernel is when it is stopped ------------------------------------ */

static last_words *shared_words;
static const puzzle_bed *judged_bed; /* NULL: no run has begun */

/* Whether a run has begun since the last call. */
static bool goes_on(void)
{
    static uint64_t seen;
    uint64_t before = seen;
    if (judged_bed) seen = judged_bed->runs;
    return seen != before;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (sig == SIGPROF && goes_on()) return;
    last_words *w = shared_words;
    const char *site = "";
    w->signal = sig;
    w->in_kernel = simt_machine_now(&w->block, &w->thread, &site);
#if defined(__x86_64__) && defined(REG_RSP)
    const ucontext_t *at = (const ucontext_t *)context;
    intptr_t above = (intptr_t)at->uc_mcontext.gregs[REG_RSP] - (intptr_t)info->si_addr;
    w->stack = sig == SIGSEGV && above > -65536 && above < 65536;
#else
    (void)info;
#endif
    site = simt_site_name(site);
    size_t i = 0;
    for (; site[i] && i + 1 < sizeof w->site; i++) w->site[i] = site[i];
    w->site[i] = 0;
    _exit(0);
}

static void catch_all(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF };
    static unsigned char stack[1 << 16];
    stack_t alternative = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
    struct itimerval limit = { { .tv_sec = RUN_SECONDS }, { .tv_sec = RUN_SECONDS } };
    struct rlimit none = { 0, 0 };
    sigemptyset(&act.sa_mask);
    sigaltstack(&alternative, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &act, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    setitimer(ITIMER_PROF, &limit, NULL);
}

/* ---- In the child: C accesses of the answer -------------------------------------------------- */

#ifdef HD_RAW_HOOKS
static uintptr_t data_from, data_to; /* the writable part of the answer: its static variables */

static int data_find(struct dl_phdr_info *of, size_t bytes, void *name)
{
    (void)bytes;
    if (strcmp(of->dlpi_name, (const char *)name) != 0) return 0;
    for (int i = 0; i < of->dlpi_phnum; i++) {
        if (of->dlpi_phdr[i].p_type != PT_LOAD || !(of->dlpi_phdr[i].p_flags & PF_W)) continue;
        data_from = of->dlpi_addr + of->dlpi_phdr[i].p_vaddr;
        data_to = data_from + of->dlpi_phdr[i].p_memsz;
    }
    return 1;
}

void simt_raw_told(const void *p, size_t bytes, bool write, const void *pc)
{
    bool own = write && simt_hot.hooks && (uintptr_t)p < data_to && (uintptr_t)p + bytes > data_from;
    if (own || simt_raw_reaches(p, bytes)) simt_raw_found(p, bytes, write, simt_raw_place(pc));
}
#endif

/* ---- In the child: the judge ----------------------------------------------------------------- */

static json_t *judged(const attempt *a, void (*kernel)(const void *))
{
    void *memory = NULL;
    simt_machine *m = NULL;
    puzzle_verdict v;
    if (posix_memalign(&memory, 128, sizeof(puzzle_bed)) || simt_machine_open(NULL, &m)) return NULL;
    puzzle_bed *bed = (puzzle_bed *)memset(memory, 0, sizeof(puzzle_bed));
    judged_bed = bed;
    if (!puzzle_judge(a->p, kernel, m, bed, &v)) return NULL;
    story *s = v.by ? puzzle_story(a->p, bed, m, &v, a->path, a->text) : NULL;
    json_t *told = story_json(s);
    return json_pack("{s:s?, s:s?, s:s?, s:s?, s:b, s:I, s:f, s:f, s:f, s:o?}", "by", v.by, "idea", v.idea, "detail",
                     v.by ? v.detail : NULL, "schedule", v.schedule, "weak", v.weak, "schedules",
                     (json_int_t)v.schedules, "sectors", v.cost[PUZZLE_SECTORS], "atomics", v.cost[PUZZLE_ATOMICS],
                     "steps", v.cost[PUZZLE_STEPS], "story", told);
}

static json_t *loaded(const attempt *a, const char *shared)
{
    char idea[320];
    void *object = dlopen(shared, RTLD_NOW | RTLD_LOCAL);
    if (!object) return verdict_of("kernel", "The answer uses a function that there is not.", dlerror());
#ifdef HD_RAW_HOOKS
    dl_iterate_phdr(data_find, (void *)(uintptr_t)shared);
#endif
    void *address = dlsym(object, a->p->kernel);
    void (*kernel)(const void *);
    if (!address) {
        snprintf(idea, sizeof idea,
                 "There is no kernel '%s' in the answer: it must have the line SIMT_KERNEL(%s, %s_args, a), as the "
                 "starting file has.",
                 a->p->kernel, a->p->kernel, a->p->kernel);
        return verdict_of("kernel", idea, NULL);
    }
    memcpy(&kernel, &address, sizeof kernel);
    a->words->loaded = true;
    return judged(a, kernel);
}

static _Noreturn void child(const attempt *a, const char *shared, int to)
{
    int nothing = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++) dup2(nothing, fd); /* what an answer prints is no verdict */
    shared_words = a->words;
    catch_all();
    json_t *v = loaded(a, shared);
    signal(SIGPROF, SIG_IGN);
    _exit(v && json_dumpfd(v, to, 0) == 0 ? 0 : 3);
}

/* ---- The child's verdict --------------------------------------------------------------------- */

static json_t *stopped_verdict(const last_words *w)
{
    char detail[320], where[220] = "";
    if (w->in_kernel)
        snprintf(where, sizeof where, " in block %u, thread %u, after its operation at %s", w->block, w->thread,
                 w->site);
    if (w->signal == SIGPROF) {
        snprintf(detail, sizeof detail, "no end%s", where);
        return verdict_of("endless",
                          "A loop has no end, and nothing in it lets other lanes run: every loop without a bound "
                          "calls simt_backoff, and some lane must be able to end it.",
                          detail);
    }
    snprintf(detail, sizeof detail, "%s%s", strsignal(w->signal), where);
    return verdict_of("crash",
                      w->stack ? "The kernel has used up its stack: a lane has 64 KiB. Kernels have no recursion and "
                                 "no large arrays of their own."
                               : "The kernel crashed: it computed something that has no result, or went to memory "
                                 "that is none. Memory of the puzzle is accessed by the functions of the dialect.",
                      detail);
}

/* All that comes through the pipe, until its other end is closed; NULL: too late, or too much. */
static char *pipe_read(int from, size_t *bytes)
{
    enum { MOST = 64 << 20 };
    size_t room = 1 << 16, n = 0;
    char *text = (char *)malloc(room);
    const hd_time_seam *time = &hd_seams_os.time;
    uint64_t end = time->now_ns(time->self) + (uint64_t)WAIT_SECONDS * 1000000000u;
    while (text && !tool_stopped() && time->now_ns(time->self) < end) {
        struct pollfd p = { .fd = from, .events = POLLIN };
        if (poll(&p, 1, 200) <= 0) continue;
        ssize_t k = read(from, text + n, room - n);
        if (k == 0) return *bytes = n, text;
        if (k > 0) n += (size_t)k;
        if (n < room) continue;
        room *= 2;
        char *more = room <= MOST ? (char *)realloc(text, room) : NULL;
        if (!more) break;
        text = more;
    }
    free(text);
    return NULL;
}

/* What a child that has ended leaves: the n bytes that it said, or last words, or its status. NULL: none of these. */
static json_t *verdict_left(const last_words *w, const char *said, size_t n, int status)
{
    if (w->signal) return stopped_verdict(w);
    if (n) return json_loadb(said, n, 0, NULL);
    if (WIFSIGNALED(status))
        return verdict_of("crash", "The answer ended the program by a signal.", strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) == 3 && w->loaded) return NULL;
    return verdict_of("left", "The answer ended the program: a kernel returns, and never calls exit.", NULL);
}

static int judge_apart(const attempt *a, const char *shared, json_t **verdict)
{
    int ends[2], status = 0;
    size_t n = 0;
    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC)) return tool_say(TOOL_SYSTEM, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) child(a, shared, ends[1]);
    close(ends[1]);
    char *said = pid > 0 ? pipe_read(ends[0], &n) : NULL;
    close(ends[0]);
    if (pid < 0) return tool_say(TOOL_SYSTEM, "fork: %s", strerror(errno));
    if (!said) kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (tool_stopped()) return free(said), TOOL_STOPPED;
    last_words w = *a->words;
    if (!said) w.signal = SIGPROF; /* it did not even use its time */
    *verdict = verdict_left(&w, said, n, status);
    free(said);
    return *verdict ? TOOL_OK : tool_say(TOOL_SYSTEM, "the judge came to no verdict; is there enough memory?");
}

int puzzle_try(const puzzle *p, const char *path, json_t **verdict)
{
    attempt a = { .p = p, .path = path };
    char shared[PATH_BYTES + 16];
    struct stat st;
    *verdict = NULL;
    /* the compiler reads it again */
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return tool_say(TOOL_USAGE, "'%s' is no file", path);
    a.text = text_read(path);
    if (!a.text) return tool_say(TOOL_USAGE, "'%s': %s", path, strerror(errno));
    void *page = mmap(NULL, sizeof *a.words, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || !folder_make(a.folder)) {
        free(a.text);
        return tool_say(TOOL_SYSTEM, "a temporary folder: %s", strerror(errno));
    }
    a.words = (last_words *)page;
    int code = headers_write(a.folder) ? build(&a, shared, verdict)
                                       : tool_say(TOOL_SYSTEM, "'%s': %s", a.folder, strerror(errno));
    if (!code && !*verdict) code = judge_apart(&a, shared, verdict);
    nftw(a.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    munmap(page, sizeof *a.words);
    free(a.text);
    return code;
}
