/* sample.c -- sampling: a thread that looks where the others are.
 *
 * What it finds gets the time since the last look, not a fixed period, so a look that comes late (the processor was taken) still leaves
 * sums that are the time that passed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"
#include "base/plain.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SITES = 1024, FULL = SITES * 3 / 4 };

int prof_samples;
_Thread_local struct prof_thread *prof_thread;
static struct prof_thread threads[PROF_THREADS];
static _Atomic int n_threads;
static pthread_t looker;
static bool is_started;
static _Atomic bool is_stopped;
#define PAUSED UINT64_MAX
static _Atomic uint64_t counts_since = PAUSED; /* ticks */
static struct {
    uint64_t word, ticks;
} sites[SITES]; /* by hash; the looker's alone until it has ended */
static int n_sites;

/* Place 0 stays taken: its thread's system calls are counted, and no other's. */
static void thread_ended(void *ended)
{
    struct prof_thread *t = ended;
    prof_thread = NULL;                                      /* a destructor that runs after this one may call MPI */
    atomic_store_explicit(&t->now, 0, memory_order_relaxed); /* it may have ended in a call */
    if (t != threads) atomic_store_explicit(&t->taken, 0, memory_order_release);
}
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;
static void make_end_key(void) { pthread_key_create(&end_key, thread_ended); }

struct prof_thread *prof_thread_begin(void)
{
    static _Thread_local struct prof_thread unseen;
    struct prof_thread *t = &unseen;
    pthread_once(&end_once, make_end_key);
    for (int i = 0; i < PROF_THREADS; i++) {
        uint32_t was = 0;
        if (!atomic_compare_exchange_strong(&threads[i].taken, &was, 1)) continue;
        t = &threads[i];
        pthread_setspecific(end_key, t);
        int n = atomic_load(&n_threads);
        while (n <= i && !atomic_compare_exchange_weak(&n_threads, &n, i + 1)) continue;
        break;
    }
    t->tid = (int)syscall(SYS_gettid);
    t->random = 0x9e3779b97f4a7c15u * (uint64_t)(prof_own.rank + 1) + (uint64_t)t->tid;
    return prof_thread = t;
}

int prof_thread_number(void)
{
    struct prof_thread *t = prof_thread ? prof_thread : prof_thread_begin();
    uintptr_t at = (uintptr_t)t - (uintptr_t)threads;
    return at < sizeof threads ? (int)(at / sizeof *threads) : PROF_THREADS;
}

uint32_t prof_sample_weight(void)
{
    struct prof_thread *t = prof_thread ? prof_thread : prof_thread_begin();
    if (t->messages < PROF_EXACT) {
        t->messages++;
        return 1;
    }
    if (t->to_go > 1) {
        t->to_go--;
        return 0;
    }
    uint32_t due = t->to_go;
    t->random ^= t->random << 13, t->random ^= t->random >> 7, t->random ^= t->random << 17;
    t->to_go = 1 + (uint32_t)(t->random % (2 * PROF_EVERY - 1)); /* PROF_EVERY in the mean */
    return due ? PROF_EVERY : prof_sample_weight();              /* 0: the first distance had to be drawn */
}

/* ---- the looker ---------------------------------------------------------------------------------------------------------------- */
static void give(uint64_t word, uint64_t ticks)
{
    size_t at = (size_t)(word * 0x9e3779b97f4a7c15u >> 54) % SITES;
    int fn = (int)(word & ((1u << PROF_FN_BITS) - 1)) - 1;
    if (prof_samples) {
        atomic_fetch_add_explicit(&prof_sums[fn].ticks, ticks, memory_order_relaxed);
        atomic_fetch_add_explicit(&prof_own.mpi, ticks, memory_order_relaxed);
    }
    while (sites[at].word && sites[at].word != word) at = (at + 1) % SITES;
    if (!sites[at].word && n_sites >= FULL) return; /* their calls have the time all the same */
    n_sites += !sites[at].word;
    sites[at].word = word;
    sites[at].ticks += ticks;
}

/* ---- system calls of the program ---- */
uint64_t prof_syscalls[PROF_SYSCALLS];
const char *const prof_syscall_names[PROF_SYSCALLS] = {
    "(running)", "read",     "write",       "pread64",         "pwrite64",  "readv",  "writev",   "openat",
    "close",     "fsync",    "fdatasync",   "newfstatat",      "mmap",      "munmap", "madvise",  "futex",
    "ppoll",     "pselect6", "epoll_pwait", "clock_nanosleep", "nanosleep", "wait4",  "recvfrom", "(other)",
};
static const short numbers[PROF_SYSCALLS] = {
    -1,        SYS_read,     SYS_write,       SYS_pread64,         SYS_pwrite64,  SYS_readv,  SYS_writev,   SYS_openat,
    SYS_close, SYS_fsync,    SYS_fdatasync,   SYS_newfstatat,      SYS_mmap,      SYS_munmap, SYS_madvise,  SYS_futex,
    SYS_ppoll, SYS_pselect6, SYS_epoll_pwait, SYS_clock_nanosleep, SYS_nanosleep, SYS_wait4,  SYS_recvfrom, -1,
};

/* What the kernel says of the thread at place 0, in its file of that name; how long it is. */
static ssize_t kernel_says(int *fd, const char *file, char *text, size_t cap)
{
    char path[64];
    if (*fd < 0) {
        snprintf(path, sizeof path, "/proc/self/task/%d/%s", threads[0].tid, file);
        *fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    ssize_t n = *fd >= 0 ? pread(*fd, text, cap - 1, 0) : 0;
    text[n > 0 ? n : 0] = 0;
    return n;
}

/* The system call in which it is blocked; -1: none, it runs. */
static int blocked_in(void)
{
    static int fd = -1;
    char text[128];
    return kernel_says(&fd, "syscall", text, sizeof text) > 0 && text[0] >= '0' && text[0] <= '9' ? atoi(text) : -1;
}

/* Its system time: the fifteenth field, and the name, which is the second, may have blanks.  Of the whole process it would be that of
 * threads which help to compute or make progress, too. */
static uint64_t system_ns(void)
{
    static int fd = -1;
    static long hertz;
    char text[512];
    if (!hertz) hertz = sysconf(_SC_CLK_TCK);
    if (kernel_says(&fd, "stat", text, sizeof text) <= 0) return 0;
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 15; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) * 1000000000 / (uint64_t)hertz : 0;
}

/* The time that it computed and runs, since it last called MPI: system time in between is not the program's.  The kernel's clock of it steps
 * by more than what passes between two looks, so a step is of all the time before it that had none yet. */
static void look_at_system(uint64_t passed, bool computes, double per_ns)
{
    static bool did_compute;
    static uint64_t was_ns, unclaimed;
    bool all_the_time = did_compute;
    int k = 1;
    did_compute = computes;
    if (!computes) return;
    int call = blocked_in();
    uint64_t ns = system_ns(), ran = ns > was_ns ? (uint64_t)((double)(ns - was_ns) * per_ns) : 0;
    was_ns = ns;
    if (call >= 0) {
        while (k < PROF_SYSCALLS - 1 && numbers[k] != call) k++;
        prof_syscalls[k] += passed;
    } else if (all_the_time) {
        unclaimed += passed;
        if (ran > unclaimed) ran = unclaimed;
        prof_syscalls[0] += ran;
        unclaimed -= ran;
    }
}

static double ticks_per_ns(void)
{
    struct timespec a, b, wait = {0, 2000000};
    clock_gettime(CLOCK_MONOTONIC, &a);
    uint64_t at = prof_ticks();
    nanosleep(&wait, NULL);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (double)(prof_ticks() - at) / (double)((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec);
}

/* ---- what looking costs ---- */
static double own_seconds(void) /* of this thread */
{
    struct rusage own;
    if (getrusage(RUSAGE_THREAD, &own) != 0) return 0;
    return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) + (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec) * 1e-6;
}
static int hertz; /* looks a second */
/* Looks less often where they would take more than 1.5 % of the time (a virtual machine whose timers are dear): called at each look. */
static void keep_cheap(const struct timespec *now)
{
    enum { EVERY = 128, LEAST = 100 };
    static int looks;
    static double spent;
    static struct timespec then;
    if (looks++ % EVERY) return;
    double passed = (double)(now->tv_sec - then.tv_sec) + (double)(now->tv_nsec - then.tv_nsec) * 1e-9,
           cost = own_seconds() - spent;
    bool is_first = looks == 1;
    then = *now, spent += cost;
    if (is_first || cost <= 0.015 * passed || hertz <= LEAST) return;
    hertz = hertz * 3 / 4;
}

/* The name is what `mpiexec --stack` knows this thread by (src/verdict/stack_tree.c). */
static void *prof_sample_look(void *unused)
{
    double per_ns = ticks_per_ns();
    struct timespec next;
    uint64_t last = prof_ticks();
    hertz = prof_samples ? PROF_HERTZ : PROF_HERTZ_TRACED;
    prctl(PR_SET_TIMERSLACK, 1000ul);
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (!atomic_load_explicit(&is_stopped, memory_order_acquire)) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        keep_cheap(&now);
        next.tv_nsec += 1000000000 / hertz;
        if (next.tv_nsec >= 1000000000) next.tv_sec++, next.tv_nsec -= 1000000000;
        if (now.tv_sec > next.tv_sec || (now.tv_sec == next.tv_sec && now.tv_nsec > next.tv_nsec))
            next = now; /* looks are not made up for */
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR) continue;
        uint64_t at = prof_ticks(), since = atomic_load_explicit(&counts_since, memory_order_relaxed);
        int n = atomic_load_explicit(&n_threads, memory_order_acquire);
        if (last < since) last = since; /* PAUSED is later than any time */
        uint64_t passed = at > last ? at - last : 0;
        last = at;
        if (since == PAUSED) {
            look_at_system(0, false, per_ns);
            continue;
        }
        prof_own.samples++;
        look_at_system(passed, !atomic_load_explicit(&threads[0].now, memory_order_relaxed), per_ns);
        for (int i = 0; i < n; i++) {
            uint64_t word = atomic_load_explicit(&threads[i].now, memory_order_relaxed);
            if (word) give(word, passed);
        }
    }
    prof_own.look_s = own_seconds();
    return unused;
}

/* The program's signals are not for this thread. */
void prof_sample_start(void)
{
    sigset_t all, was;
    sigfillset(&all);
    if (!prof_thread) prof_thread_begin(); /* place 0 is this thread's */
    pthread_sigmask(SIG_SETMASK, &all, &was);
    int err = pthread_create(&looker, NULL, prof_sample_look, NULL);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    is_started = err == 0;
    if (err) fprintf(stderr, "godwit profile: no thread for sampling on rank %d: %s\n", prof_own.rank, strerror(err));
}

void prof_sample_stop(void)
{
    prof_sample_pause(1);
    atomic_store_explicit(&is_stopped, true, memory_order_release);
    if (is_started) pthread_join(looker, NULL);
    is_started = false;
}

void prof_sample_pause(int paused) { atomic_store_explicit(&counts_since, paused ? PAUSED : prof_ticks(), memory_order_relaxed); }

/* ---- sites --------------------------------------------------------------------------------------------------------------------- */
int prof_site_order(const void *a, const void *b)
{
    double x = ((const struct prof_site *)a)->seconds, y = ((const struct prof_site *)b)->seconds;
    return x < y ? 1 : x > y ? -1 : 0;
}

int prof_sample_sites(struct prof_site *out, int cap)
{
    int n = 0;
    struct prof_site *every = calloc((size_t)n_sites + 1, sizeof *every);
    for (int i = 0; every && i < SITES; i++) {
        if (!sites[i].word) continue;
        uintptr_t from = (uintptr_t)(sites[i].word >> PROF_FN_BITS) - 1; /* in the call, not behind it */
        struct prof_site *s = &every[n++];
        struct link_map *map = NULL;
        Dl_info d;
        s->fn = (int)(sites[i].word & ((1u << PROF_FN_BITS) - 1)) - 1;
        s->seconds = (double)sites[i].ticks / prof_own.ticks_per_s;
        if (!dladdr1((void *)from, &d, (void **)&map, RTLD_DL_LINKMAP) || !map) continue;
        s->offset = from - map->l_addr;
        snprintf(s->module, sizeof s->module, "%s", map->l_name); /* the program's is "" */
    }
    if (every) qsort(every, (size_t)n, sizeof *every, prof_site_order);
    if (n > cap) n = cap;
    if (every) memcpy(out, every, sizeof *every * (size_t)n);
    free(every);
    return n;
}

/* One process names all sites of a module, where it needs no more than 20 s: two lines each, function and file:line. */
static void name_module(const struct prof_site *s, int n, const char *module, const char *path, char (*out)[160])
{
    size_t size = 0;
    char *command = NULL, function[96], line[256];
    FILE *text = open_memstream(&command, &size);
    if (!text) return;
    fprintf(text, "unset LD_PRELOAD; t=$(command -v timeout); exec ${t:+$t 20} addr2line -s -f -C -e '%s'", path);
    for (int i = 0; i < n; i++)
        if (strcmp(s[i].module, module) == 0) fprintf(text, " 0x%llx", (unsigned long long)s[i].offset);
    fputs(" 2> /dev/null", text);
    fclose(text);
    FILE *f = strchr(path, '\'') ? NULL : popen(command, "r");
    for (int i = 0; f && i < n; i++) {
        if (strcmp(s[i].module, module) != 0) continue;
        if (!fgets(function, sizeof function, f) || !fgets(line, sizeof line, f)) break;
        function[strcspn(function, "\n")] = 0;
        line[strcspn(line, " \n")] = 0;   /* "(discriminator 2)" follows */
        char *lacks = strstr(line, ":?"); /* compiled without -g: the file may be known, from the names, and no line */
        if (lacks) *lacks = 0;
        if (function[0] == '?') continue;
        if (line[0] == '?')
            gw_plain(out[i], sizeof out[i], function, 0);
        else
            gw_plain_format(out[i], sizeof out[i], "%s (%.60s)", function, line);
    }
    if (f) pclose(f);
    free(command);
}

void prof_site_names(const struct prof_site *s, int n, const char *program, char (*out)[160])
{
    for (int i = 0; i < n; i++) {
        const char *slash = strrchr(s[i].module, '/');
        gw_plain_format(out[i], sizeof out[i], "%.100s+0x%llx", s[i].module[0] ? slash ? slash + 1 : s[i].module : "the program",
                        (unsigned long long)s[i].offset);
    }
    for (int i = 0; i < n; i++) {
        bool is_new = true;
        for (int k = 0; k < i && is_new; k++) is_new = strcmp(s[k].module, s[i].module) != 0;
        if (!is_new) continue;
        name_module(s, n, s[i].module, s[i].module[0] ? s[i].module : program, out);
    }
}
