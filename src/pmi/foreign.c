/* foreign.c -- programs of other MPI libraries among the ranks: starts PMIx and PMI-1 servers for them.  If such a program asks
 * neither, it has run as many jobs of one rank, and mpiexec prints that at the end.
 *
 * The file of a program shows whether it was linked with our library, or cannot start another program: it needs no server.  What a script,
 * a shell or `nice` will start is not known, so their ranks are offered both servers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "job/job.h"
#include "job/program.h"
#include "job/say.h"
#include "pmi/foreign.h"
#include "pmi/pmi.h"
#include "pmi/pmix.h"

/* ---- the start -------------------------------------------------------------------------------------------------------------- */
enum { OURS = 1 << PROGRAM_OURS, MPICH = 1 << PROGRAM_MPICH, OMPI = 1 << PROGRAM_OMPI, PMIX = 1 << PROGRAM_PMIX };

static unsigned kind_of(const struct job *j, int app)
{
    assert(app >= 0 && app < j->o.n_apps);
    return 1u << pmi_doors_kind(j, app);
}

/* The first program of one of these kinds; NULL: there is none. */
static const char *program_of(const struct job *j, unsigned kinds)
{
    for (int i = 0; i < j->o.n_apps; i++)
        if (kind_of(j, i) & kinds) return j->o.apps[i].argv[0];
    return NULL;
}

/* The same with what wrappers have as arguments. */
static const char *word_of(const struct job *j, unsigned kinds)
{
    const char *word = NULL;
    for (int i = 0; i < j->o.n_apps && !word; i++) word = pmi_doors_word(j, i, kinds);
    return word;
}

/* The kinds of programs in the job, after doors were opened for those that have one, and for those of which nobody knows what they start or
 * open: another launcher's ranks there know theirs (boot_env.c).  What needs more of Open MPI than its door has runs on its own library, and
 * so does all of Open MPI that is in its job. */
static unsigned kinds_of(struct job *j)
{
    unsigned kinds = 0;
    for (int i = 0; i < j->o.n_apps; i++) kinds |= kind_of(j, i);
    bool has_door = kinds & (MPICH | OMPI);
    if ((has_door || kinds & 1 << PROGRAM_UNKNOWN) && !(kinds & PMIX) && pmi_doors_open(j, kinds & 1 << PROGRAM_UNKNOWN))
        return (kinds & ~(unsigned)(MPICH | OMPI)) | (has_door ? OURS : 0);
    if (kinds & PMIX || pmi_doors_are_off(j)) pmi_doors_close(j);
    return kinds & OMPI ? (kinds & ~(unsigned)OMPI) | PMIX : kinds;
}

int foreign_start(struct job *j)
{
    const char *option = j->o.wrapper ? j->o.wrapper->option : NULL, *other = option ? word_of(j, MPICH | OMPI | PMIX) : NULL;
    if (other) {
        say_line("%s knows calls of the standard ABI, and %s was built with %s: compile it with mpicc of Godwit, or leave %s out",
                 option, other, word_of(j, MPICH) == other ? "MPICH" : "Open MPI", option);
        return EXIT_CANNOT_RUN;
    }
    unsigned kinds = kinds_of(j);
    bool is_pmix = j->o.pmix == PMIX_ON || (j->o.pmix == PMIX_AUTO && kinds & PMIX);
    bool is_alone = j->n == 1 || j->name[0]; /* one rank needs no server; spawned jobs consist of programs of our library */
    bool is_ours = kinds & OURS, is_mpich = kinds & MPICH;
    /* Open MPI's is on its own library: what has its door is ours here. */
    if (is_mpich ? is_ours || kinds & PMIX : is_ours && kinds & PMIX && program_of(j, OMPI)) {
        say_line("%s was linked with %s and %s with %s: they cannot be ranks of one job; compile both with mpicc of Godwit",
                 program_of(j, is_mpich ? MPICH : OMPI), is_mpich ? "MPICH" : "Open MPI",
                 program_of(j, is_ours ? OURS : OMPI | PMIX), is_ours ? "Godwit" : "Open MPI");
        return EXIT_CANNOT_RUN;
    }
    if (!is_alone && kinds & ~(unsigned)(OURS | 1 << PROGRAM_NONE)) {
        int rc = pmi_start(j);
        if (rc) say_line("cannot start the PMI server: %s", strerror(rc));
        if (rc) return EXIT_CANNOT_RUN;
        if (!is_pmix && j->o.pmix == PMIX_AUTO) return pmix_start(j, false);
    }
    return is_pmix ? pmix_start(j, true) : 0;
}

/* ---- who came by another way ------------------------------------------------------------------------------------------------ */
/* The ways of a rank's programs lie in struct rank.ways, two bits each, the first program's lowest.  A script may run one program after the
 * other, each of another library, and one rank may be ahead of another: so the programs of same number are compared. */
enum { WAY_BITS = 2, WAYS_MOST = 32, WAYS_LOST = -1 };

static int ways_number(uint64_t ways) { return ways ? (64 - __builtin_clzll(ways) + WAY_BITS - 1) / WAY_BITS : 0; }

static enum foreign_way way_at(uint64_t ways, int i)
{
    assert(i >= 0 && i < WAYS_MOST);
    return (enum foreign_way)(ways >> WAY_BITS * i & ((1 << WAY_BITS) - 1));
}

void foreign_came(struct job *j, int rank, enum foreign_way way)
{
    assert(rank >= 0 && rank < j->n && way != FOREIGN_DIRECT);
    _Atomic uint64_t *ways = &j->ranks[rank].ways; /* two programs at once may come by two servers, so from two threads */
    uint64_t old = atomic_load_explicit(ways, memory_order_relaxed);
    while (ways_number(old) < WAYS_MOST &&
           !atomic_compare_exchange_weak_explicit(ways, &old, old | (uint64_t)way << WAY_BITS * ways_number(old),
                                                  memory_order_relaxed, memory_order_relaxed)) {}
    foreign_phase(j, rank, BOOT_RUNNING);
}

/* The number of the program that this rank runs now, and its way; WAYS_LOST: it is not in MPI, or nobody knows how many came before. */
static int program_now(const struct job *j, int rank, enum foreign_way *way_out)
{
    const struct boot_rank *slot = job_slot(j, rank);
    uint32_t phase = atomic_load_explicit(&slot->phase, memory_order_acquire);
    if (j->ranks[rank].pid <= 0 || (phase != BOOT_INIT && phase != BOOT_RUNNING)) return WAYS_LOST;
    uint64_t ways = atomic_load_explicit(&j->ranks[rank].ways, memory_order_relaxed);
    bool has_ours = atomic_load_explicit(&slot->pid, memory_order_relaxed); /* one program of our library, at any time */
    int n = ways_number(ways);
    if (n == WAYS_MOST || (has_ours && n)) return WAYS_LOST;
    *way_out = has_ours ? FOREIGN_DIRECT : n ? way_at(ways, n - 1) : FOREIGN_DIRECT;
    return has_ours ? 0 : n - 1;
}

static const char *way_name(enum foreign_way way)
{
    static const char *const names[] = {[FOREIGN_DIRECT] = "Godwit",
                                        [FOREIGN_PMI] = "a library that uses PMI (MPICH)",
                                        [FOREIGN_PMIX] = "a library that uses PMIx (Open MPI)"};
    return names[way];
}

/* "rank 3", "ranks 0-2, 5, ..." that came by this way; the caller frees it. */
static char *ranks_of(const struct job *j, enum foreign_way way)
{
    enum { RANGES_MOST = 8 };
    char *text = gw_xasprintf("%s", "");
    int n = 0, ranges = 0;
    for (int i = 0, end; i < j->n; i = end) {
        enum foreign_way is;
        for (end = i; end < j->n && program_now(j, end, &is) != WAYS_LOST && is == way; end++) n++;
        if (end == i) {
            end++;
            continue;
        }
        char range[32] = "...", *longer;
        if (++ranges > RANGES_MOST + 1) continue;
        if (ranges <= RANGES_MOST) snprintf(range, sizeof range, end - i > 1 ? "%d-%d" : "%d", i, end - 1);
        longer = gw_xasprintf("%s%s%s", text, ranges > 1 ? ", " : "", range);
        free(text);
        text = longer;
    }
    char *whole = n ? gw_xasprintf("rank%s %s", n > 1 ? "s" : "", text) : NULL;
    free(text);
    return whole;
}

static void differs_say(const struct job *j)
{
    char *text = gw_xasprintf("%s", "");
    for (int way = FOREIGN_DIRECT, n = 0; way <= FOREIGN_PMIX; way++) {
        char *ranks = ranks_of(j, (enum foreign_way)way), *longer;
        if (!ranks) continue;
        longer = gw_xasprintf("%s%s%s by %s", text, n++ ? ", " : "", ranks, way_name((enum foreign_way)way));
        free(text);
        free(ranks);
        text = longer;
    }
    say_line(
        "the ranks came by different libraries, which cannot meet: %s; the job ends now. Compile all its programs with mpicc of "
        "Godwit%s",
        text, pmi_doors_are_off(j) ? ", or leave out GODWIT_DOORS=off" : "");
    free(text);
}

/* Has a rank come by another way than the one that is behind all others?  What others have run by the way is compared with that. */
static bool ways_differ(const struct job *j)
{
    enum foreign_way way = FOREIGN_DIRECT, is;
    int least = WAYS_LOST, number;
    for (int i = 0; i < j->n && least != 0; i++)
        if ((number = program_now(j, i, &is)) != WAYS_LOST && (least == WAYS_LOST || number < least)) least = number, way = is;
    for (int i = 0; i < j->n && least != WAYS_LOST; i++) {
        if (program_now(j, i, &is) == WAYS_LOST || is == way) continue;
        uint64_t ways = atomic_load_explicit(&j->ranks[i].ways, memory_order_relaxed);
        if (is == FOREIGN_DIRECT || way_at(ways, least) != way) return true;
    }
    return false;
}

bool foreign_differs(const struct job *j, int *wait_out)
{
    enum { PATIENCE_MS = 1000 }; /* one that asks a server for something and leaves is no rank in MPI */
    static uint64_t since;       /* ns; 0: they do not differ */
    *wait_out = -1;
    if ((j->pmi < 0 && !j->pmix) || j->ending || !ways_differ(j)) {
        since = 0;
        return false;
    }
    uint64_t now = gw_now_ns();
    if (!since) since = now;
    uint64_t due = since + (uint64_t)PATIENCE_MS * 1000000;
    if (now >= due)
        differs_say(j);
    else
        *wait_out = (int)((due - now) / 1000000) + 1;
    return now >= due;
}

void foreign_phase(struct job *j, int rank, enum boot_phase phase)
{
    assert(rank >= 0 && rank < j->n);
    atomic_store_explicit(&job_slot(j, rank)->phase, phase, memory_order_release);
}

/* ---- who asked nobody ------------------------------------------------------------------------------------------------------- */
static struct {
    uint64_t due;      /* ns: when to look next; 0: not looked yet */
    int pause_ms;      /* until the look after that */
    bool is_over;      /* it was found, or will not be */
    char library[32];  /* the MPI library that was found; "": none */
    char program[256]; /* the program that has loaded it */
} seen;

/* A process that has our library, or a door to it while ours is still being loaded, is one of ours. */
static bool library_find(pid_t pid)
{
    char path[48], *line = NULL;
    size_t cap = 0;
    bool is_ours = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && !is_ours && getline(&line, &cap, f) > 0) {
        const char *name = strrchr(line, '/');
        enum program_mpi is = name ? program_mpi_of_library(name + 1) : PROGRAM_UNKNOWN;
        if (is == PROGRAM_UNKNOWN || strncmp(name, "/libmpi", 7) != 0) continue; /* libpmix is no MPI library */
        is_ours = is == PROGRAM_OURS || pmi_doors_hold(strchr(line, '/'));
        if (!is_ours && !seen.library[0])
            snprintf(seen.library, sizeof seen.library, "%.*s", (int)strcspn(name + 1, " \n"), name + 1);
    }
    free(line);
    if (f) fclose(f);
    if (is_ours) seen.library[0] = 0;
    if (!seen.library[0]) return false;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(path, seen.program, sizeof seen.program - 1);
    snprintf(seen.program + (n > 0 ? n : 0), sizeof seen.program - (size_t)(n > 0 ? n : 0), "%s", n > 0 ? "" : "a program");
    return true;
}

/* Was the process started by another launcher that runs below a rank? */
static bool is_of_other_launcher(pid_t pid, int pmi_fd)
{
    static const char fd[] = "PMI_FD=", space[] = "PMIX_NAMESPACE=";
    char path[48], *pair = NULL;
    size_t cap = 0;
    bool other = false;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && !other && getdelim(&pair, &cap, 0, f) > 0)
        other = (strncmp(pair, fd, sizeof fd - 1) == 0 && atoi(pair + sizeof fd - 1) != pmi_fd) ||
            strncmp(pair, "PMI_PORT=", 9) == 0 ||
            (strncmp(pair, space, sizeof space - 1) == 0 && strcmp(pair + sizeof space - 1, pmix_name()) != 0);
    free(pair);
    if (f) fclose(f);
    return other;
}

/* Looks for another MPI library in this process and its children, to the depth of usual wrappers. */
static bool tree_look(pid_t pid, int pmi_fd, int depth)
{
    assert(pid > 0 && depth >= 0);
    char path[64];
    int child;
    if (is_of_other_launcher(pid, pmi_fd)) return false;
    bool found = library_find(pid);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *f = found || depth == 0 ? NULL : fopen(path, "re");
    while (f && !found && fscanf(f, "%d", &child) == 1) found = tree_look(child, pmi_fd, depth - 1);
    if (f) fclose(f);
    return found;
}

static bool somebody_asked(const struct job *j)
{
    for (int i = 0; i < j->n; i++)
        if (atomic_load_explicit(&job_slot(j, i)->phase, memory_order_relaxed) != BOOT_NEW) return true;
    return false;
}

int foreign_look(const struct job *j)
{
    enum { FIRST_MS = 10, LAST_MS = 10000, DEPTH = 6 };
    uint64_t now = gw_now_ns();
    if (j->pmi < 0 || seen.is_over) return -1;
    if (!seen.due) {
        seen.pause_ms = FIRST_MS;
    } else if (now >= seen.due) {
        seen.is_over = somebody_asked(j);
        for (int i = 0, first = 0; i < j->o.n_apps && !seen.is_over; first += j->o.apps[i++].n) /* the first rank of each program */
            if (j->ranks[first].pid > 0) seen.is_over = tree_look(j->ranks[first].pid, j->ranks[first].pmi_fd, DEPTH);
        if (seen.is_over) return -1;
        seen.pause_ms = 2 * seen.pause_ms < LAST_MS ? 2 * seen.pause_ms : LAST_MS;
    }
    if (now >= seen.due) seen.due = now + (uint64_t)seen.pause_ms * 1000000;
    return (int)((seen.due - now) / 1000000) + 1;
}

void foreign_say(const struct job *j)
{
    if (!seen.library[0] || somebody_asked(j)) return;
    bool needs_pmix = program_mpi_of_library(seen.library) != PROGRAM_MPICH && !j->pmix;
    say_line(
        "%s loaded %s, another MPI library, and no rank asked mpiexec for its number: if it called MPI_Init, it ran as %d jobs of one rank; "
        "%s",
        seen.program, seen.library, j->n,
        needs_pmix
            ? "it needs PMIx (apt install libpmix2, --pmix on), or compile it with mpicc of Godwit"
            : "compile it with mpicc of Godwit, start it with the mpiexec of its library, or let PMI_FD and PMIX_... reach it");
}
