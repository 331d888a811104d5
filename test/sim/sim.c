/* sim.c -- runs test programs of test/mpi on the simulated wire: every run is a function of program, ranks and seed.
 *
 *     sim -n 4 --seed 123 p2p_order [ARG...]       one run; the same again, always
 *     sim -n 4 --seeds 1000 p2p_order              seeds 1 to 1000
 *     sim --list test/sim/list --seeds 10000       seeds spread over the programs of a list by their weights
 *     An argument SEED is the run's seed.
 *     --from S     the first seed         --jobs J  runs at a time      --death   in each run one rank stops for ever
 *     --bug NAME   a bug in the wire (order, lose, twice, again, byte), the doorbells (wake) or one-sided access (busy, lock, mail): is it
 *                  found?
 *     -v           what each run did      --log    all that happens      --expect-failures: answer 0 if there are any
 *
 * Each rank is a copy of sim_ranks.so (all rooms, all test programs) with its own globals; each run is a forked child.
 * To look at a run: gdb --args sim -n 4 --seed 123 p2p_order, "set follow-fork-mode child"; the ranks are its threads.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "job.h"

enum { MAX_ENTRIES = 256, MAX_ARGS = 16, MAX_JOBS = 64, SECONDS_MAX = 120, SHOWN_MAX = 5 };

struct entry { /* what a run runs */
    int n, argc;
    uint32_t weight;
    char *argv[MAX_ARGS];
};
static struct {
    struct entry entries[MAX_ENTRIES];
    int n_entries;
    uint32_t weights; /* their sum */
    uint64_t from, seeds;
    int jobs;
    enum sim_bug bug;
    bool verbose, death, direct, expect_failures, log;
} o = {.from = 1, .seeds = 1, .jobs = 1};
static const char *const bug_names[SIM_BUGS] = {"none", "order", "lose", "twice", "again", "byte", "wake", "busy", "lock", "mail"};

/* ---- the ranks' copies --------------------------------------------------------------------------------------------------- */
static void *libraries[SIM_MAX_RANKS];
static char files[SIM_MAX_RANKS][32]; /* there until the end, for debuggers */
static int n_files;

static void files_remove(void)
{
    while (n_files) unlink(files[--n_files]);
}

/* The loader takes two files for two libraries only if their inodes differ. */
static void *copy_open(const char *from)
{
    static char piece[1 << 16];
    char *name = strcpy(files[n_files], "/tmp/godwit-sim-XXXXXX");
    int in = open(from, O_RDONLY | O_CLOEXEC), out = mkstemp(name);
    n_files++;
    if (in < 0 || out < 0) gw_die("%s cannot be copied: %s", from, strerror(errno));
    for (ssize_t n; (n = read(in, piece, sizeof piece)) > 0;)
        if (write(out, piece, (size_t)n) != n) gw_die("%s cannot be copied: %s", from, strerror(errno));
    close(in);
    close(out);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) gw_die("%s", dlerror());
    return library;
}

static void copies_open(int n)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 32);
    if (len < 0) gw_die("no /proc/self/exe");
    path[len] = 0;
    strcpy(strrchr(path, '/') + 1, "sim_ranks.so");
    atexit(files_remove);
    for (int i = 0; i < n; i++) libraries[i] = copy_open(path);
}

static void *symbol(void *library, const char *name)
{
    void *p = dlsym(library, name);
    if (!p) gw_die("%s: is this program in test/sim/list?", dlerror());
    return p;
}

/* ---- what a seed decides ------------------------------------------------------------------------------------------------- */
static uint64_t dice;
static uint32_t below(uint32_t n)
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    uint64_t z = (dice ^ dice >> 29) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(((z ^ z >> 32) >> 16) % n);
}
#define ONE_OF(...) ((uint32_t[]){__VA_ARGS__}[below(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))])

static void settings_choose(void)
{
    static const char *const choices[][2] = {/* a setting that appears n times is not set if none of its lines is drawn */
                                             {"PROTO", "e1"},
                                             {"PROTO", "r0"},
                                             {"PROTO", "r1"},
                                             {"COLL_LEAF", "off"},
                                             {"LANES", "1"},
                                             {"LANES", "3"},
                                             {"WIRE_PIECE", "1K"},
                                             {"GET_PIECE", "4K"},
                                             {"HELP_MIN", "4K"},
                                             {"HELP_PIECE", "4K"},
                                             {"UNEXPECTED_MAX", "64K"},
                                             {"EAGER_MAX", "100"},
                                             {"CMA_MIN", "1"},
                                             {"IOV_BLOCK_MIN", "1"},
                                             {"CMA", "off"},
                                             {"COLL_CHUNK", "1000"},
                                             {"RMA_ASK", "1"},
                                             {"RMA_ASK", "10"},
                                             {"RMA_ASK", "40"},
                                             {"RMA_ASK", "40"},
                                             {"COLL", "bcast=chain,allreduce=ring,allgather=ring,reduce_scatter=pairwise"},
                                             {"COLL", "allreduce=direct,allgather=direct"},
                                             {"COLL", "bcast=leaf_wide,allgather=leaf_wide,alltoall=pairwise"},
                                             {"COLL", "allreduce=ring,reduce_scatter=ordered"}};
    char name[64];
    for (char **e = environ; *e;) /* nothing but the seed decides */
        if (strncmp(*e, "GODWIT_", 7) == 0 && sscanf(*e, "%63[^=]", name) == 1)
            unsetenv(name);
        else
            e++;
    for (size_t i = 0; i < GW_ARRAY_LEN(choices); i++) {
        if (below(8)) continue;
        snprintf(name, sizeof name, "GODWIT_%s", choices[i][0]);
        setenv(name, choices[i][1], 1);
    }
    /* Every wait sleeps at once: whoever waits stands back until it is woken, and a wake-up that is lost is seen. */
    setenv("GODWIT_WAIT", "sleep", 1);
    setenv("GODWIT_RMA_THREAD", "off", 1); /* a thread of its own is none of those that the seed lets run by turns */
}

static struct sim_run run_choose(const struct entry *e, uint64_t seed)
{
    dice = seed * 0x9e3779b97f4a7c15u + 1;
    struct sim_run r = {.n = e->n, .seed = seed, .argc = e->argc, .argv = (char **)(uintptr_t)e->argv, .dies = -1};
    r.ways = (struct sim_ways){.delay_ns = ONE_OF(0, 2000, 50000, 1000000),
                               .slow = ONE_OF(0, 0, 64),
                               .again = ONE_OF(0, 16, 128),
                               .room = ONE_OF(1, 4, 32, 1000000),
                               .batch = ONE_OF(1, 4, 32),
                               .short_max = ONE_OF(8, 24, 40, 40),
                               .pack_max = ONE_OF(256, 4096, 32768, 32768),
                               .copies = below(SIM_COPIES),
                               .puts = below(2),
                               .bug = o.bug};
    r.switches = ONE_OF(0, 4, 64, 256);
    r.weights = ONE_OF(1, 1, 6);
    if (o.death) {
        r.dies = (int)below((uint32_t)e->n);
        r.dies_at = 1u << below(16);
        r.dies_at += below((uint32_t)r.dies_at);
    }
    settings_choose();
    return r;
}

static const struct entry *entry_choose(uint64_t seed)
{
    dice = seed * 0xda942042e4dd58b5u + 7;
    uint32_t at = below(o.weights);
    const struct entry *e = o.entries;
    for (; at >= e->weight; e++) at -= e->weight;
    return e;
}

static void command_print(FILE *f, const struct entry *e, uint64_t seed)
{
    fprintf(f, "sim -n %d --seed %llu%s", e->n, (unsigned long long)seed, o.death ? " --death" : "");
    if (o.bug) fprintf(f, " --bug %s", bug_names[o.bug]);
    for (int i = 0; i < e->argc; i++) fprintf(f, " %s", e->argv[i]);
    fprintf(f, "\n");
}

/* The ranks hand on to each other all the time: much quicker on one core. */
static void bind_to_one(int number)
{
    cpu_set_t may, one;
    if (sched_getaffinity(0, sizeof may, &may) != 0) return;
    int cpu = -1;
    for (int k = number % CPU_COUNT(&may); k >= 0; k--)
        for (cpu++; !CPU_ISSET(cpu, &may); cpu++) {}
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* ---- one run, in a child ------------------------------------------------------------------------------------------------- */
static int child(const struct entry *chosen, uint64_t seed)
{
    char name[128], digits[24];
    struct entry with_seed = *chosen, *e = &with_seed;
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)seed);
    for (int i = 0; i < e->argc; i++)
        if (!strcmp(e->argv[i], "SEED")) e->argv[i] = digits;
    struct sim_run run = run_choose(e, seed);
    struct sim_copy copies[SIM_MAX_RANKS];
    snprintf(name, sizeof name, "sim_main_%s", e->argv[0]);
    for (int i = 0; i < e->n; i++)
        copies[i] = (struct sim_copy){(sim_rank_begin_fn *)symbol(libraries[i], "sim_rank_begin"),
                                      (sim_main_fn *)symbol(libraries[i], name)};
    run.copies = copies;
    run.log = o.log;
    alarm(SECONDS_MAX);
    struct sim_result r = sim_run(&run);
    fflush(NULL);
    if (o.verbose) {
        fprintf(stderr, "trace %016llx, %llu points, %llu switches, %llu messages, %llu taken, %llu refused, %llu bugs, %.6f s: ",
                (unsigned long long)r.trace, (unsigned long long)r.points, (unsigned long long)r.switched,
                (unsigned long long)r.sent, (unsigned long long)r.taken, (unsigned long long)r.refused, (unsigned long long)r.bugs,
                (double)r.now * 1e-9);
        command_print(stderr, e, seed);
    }
    return r.end == SIM_ENDED ? 0 : 1;
}

/* ---- many runs --------------------------------------------------------------------------------------------------------------- */
struct slot {
    pid_t pid;
    uint64_t seed;
    int out;
};
static struct slot slots[MAX_JOBS];
static uint64_t n_failed, n_runs;

static void slot_start(struct slot *t, uint64_t seed)
{
    t->seed = seed;
    t->out = o.direct ? -1 : memfd_create("out", MFD_CLOEXEC);
    fflush(NULL);
    t->pid = fork();
    if (t->pid < 0) gw_die("fork: %s", strerror(errno));
    if (t->pid == 0) {
        bind_to_one((int)(t - slots));
        if (t->out >= 0 && (dup2(t->out, 1) < 0 || dup2(t->out, 2) < 0)) _exit(3);
        _exit(child(entry_choose(seed), seed));
    }
}

static void out_show(int fd)
{
    char text[8192];
    off_t size = lseek(fd, 0, SEEK_END), at = size > (off_t)sizeof text ? size - (off_t)sizeof text : 0;
    ssize_t n = pread(fd, text, sizeof text, at);
    for (char *line = text; n > 0 && line < text + n;) {
        char *end = memchr(line, '\n', (size_t)(text + n - line));
        int len = (int)((end ? end : text + n) - line);
        printf("    %.*s\n", len, line);
        line += len + 1;
    }
}

static void slot_done(struct slot *t, int status)
{
    n_runs++;
    if (status != 0 || o.verbose) {
        n_failed += status != 0;
        if (n_failed <= SHOWN_MAX || o.verbose) {
            if (t->out >= 0) out_show(t->out);
            if (WIFSIGNALED(status))
                printf("sim: ended by signal %d (%s)%s\n", WTERMSIG(status), strsignal(WTERMSIG(status)),
                       WTERMSIG(status) == SIGALRM ? ": it ran too long" : "");
            if (status) {
                printf("sim: FAILED, to run it again: ");
                command_print(stdout, entry_choose(t->seed), t->seed);
            }
        }
    }
    if (t->out >= 0) close(t->out);
    t->pid = 0;
}

static void slot_wait(void)
{
    int status;
    pid_t pid = wait(&status);
    if (pid < 0) gw_die("wait: %s", strerror(errno));
    for (int i = 0; i < o.jobs; i++)
        if (slots[i].pid == pid) slot_done(&slots[i], status);
}

static void run_all(void)
{
    int busy = 0;
    for (uint64_t seed = o.from; seed < o.from + o.seeds; seed++) {
        if (busy == o.jobs) {
            slot_wait();
            busy--;
        }
        for (int i = 0; i < o.jobs; i++)
            if (!slots[i].pid) {
                slot_start(&slots[i], seed);
                break;
            }
        busy++;
    }
    while (busy--) slot_wait();
}

/* ---- the command line -------------------------------------------------------------------------------------------------------- */
static void entry_add(const char *ranks, uint32_t weight, int argc, char **argv)
{
    for (const char *p = ranks; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        struct entry *e = &o.entries[o.n_entries++];
        if (o.n_entries >= MAX_ENTRIES || argc >= MAX_ARGS) gw_die("too many programs or arguments");
        *e = (struct entry){.n = atoi(p), .argc = argc, .weight = weight};
        if (e->n < 1 || e->n > SIM_MAX_RANKS) gw_die("-n: 1 to %d ranks", SIM_MAX_RANKS);
        for (int i = 0; i < argc; i++) e->argv[i] = strdup(argv[i]);
        o.weights += weight;
    }
}

/* Lines: program ranks[,ranks...] weight [argument...] */
static void list_read(const char *path)
{
    char line[512];
    FILE *f = fopen(path, "re");
    if (!f) gw_die("%s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, f)) {
        char *words[MAX_ARGS + 3];
        int n = 0;
        for (char *w = strtok(line, " \n"); w && *w != '#' && n < MAX_ARGS + 3; w = strtok(NULL, " \n")) words[n++] = w;
        if (n == 0) continue;
        if (n < 3) gw_die("%s: a line needs program, ranks and weight: %s", path, words[0]);
        char *ranks = words[1];
        uint32_t weight = (uint32_t)atoi(words[2]);
        words[2] = words[0];
        entry_add(ranks, weight, n - 2, words + 2);
    }
    fclose(f);
}

static enum sim_bug bug_of(const char *name)
{
    for (int i = 0; i < SIM_BUGS; i++)
        if (strcmp(bug_names[i], name) == 0) return (enum sim_bug)i;
    gw_die("--bug %s: there are order, lose, twice, again, byte, wake, busy, lock, mail", name);
}

static void options(int argc, char **argv)
{
    const char *ranks = "4";
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        bool takes = true;
        if (!strcmp(word, "-n"))
            ranks = value;
        else if (!strcmp(word, "--seed"))
            o.from = strtoull(value, NULL, 0), o.seeds = 1, o.direct = true;
        else if (!strcmp(word, "--seeds"))
            o.seeds = strtoull(value, NULL, 0);
        else if (!strcmp(word, "--from"))
            o.from = strtoull(value, NULL, 0);
        else if (!strcmp(word, "--jobs"))
            o.jobs = atoi(value);
        else if (!strcmp(word, "--list"))
            list_read(value);
        else if (!strcmp(word, "--bug"))
            o.bug = bug_of(value);
        else {
            takes = false;
            if (!strcmp(word, "-v"))
                o.verbose = true;
            else if (!strcmp(word, "--death"))
                o.death = true;
            else if (!strcmp(word, "--log"))
                o.log = true;
            else if (!strcmp(word, "--expect-failures"))
                o.expect_failures = true;
            else
                gw_die("%s: unknown; see the head of test/sim/sim.c", word);
        }
        i += takes;
    }
    if (i < argc) entry_add(ranks, 1, argc - i, argv + i);
    if (!o.n_entries || o.jobs < 1 || o.jobs > MAX_JOBS)
        gw_die("sim -n RANKS --seed SEED PROGRAM [ARG...]; --jobs 1 to %d", MAX_JOBS);
}

int main(int argc, char **argv)
{
    /* Addresses are part of what must be the same again. */
    int had = personality(0xffffffff);
    if (had >= 0 && !(had & ADDR_NO_RANDOMIZE) && personality((unsigned long)had | ADDR_NO_RANDOMIZE) >= 0 &&
        personality(0xffffffff) & ADDR_NO_RANDOMIZE)
        execv("/proc/self/exe", argv);
    options(argc, argv);
    int most = 0;
    for (int i = 0; i < o.n_entries; i++)
        if (o.entries[i].n > most) most = o.entries[i].n;
    copies_open(most);
    run_all();
    if (o.seeds > 1) printf("sim: %llu runs, %llu failed\n", (unsigned long long)n_runs, (unsigned long long)n_failed);
    return o.expect_failures ? n_failed == 0 : n_failed != 0;
}
