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

static bool doors_are_open; /* before the servers start */

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
    if ((has_door || kinds & 1 << PROGRAM_UNKNOWN) && !(kinds & PMIX) && pmi_doors_open(j, kinds & 1 << PROGRAM_UNKNOWN)) {
        doors_are_open = true;
        return (kinds & ~(unsigned)(MPICH | OMPI)) | (has_door ? OURS : 0);
    }
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
    if (j->part.size || (!is_alone && kinds & ~(unsigned)(OURS | 1 << PROGRAM_NONE))) {
        int rc = pmi_start(j);
        if (rc) say_line("cannot start the PMI server: %s", strerror(rc));
        if (rc) return EXIT_CANNOT_RUN;
        if (!is_pmix && j->o.pmix == PMIX_AUTO) return pmix_start(j, false);
    }
    return is_pmix ? pmix_start(j, true) : 0;
}

/* ---- which library a process has loaded --------------------------------------------------------------------------------------- */
struct loaded {
    char library[32]; /* the first MPI library among its files; "": none */
    char of_c[32];    /* the one with the functions for C, without the last numbers of its version: libmpich.so.12.2 */
    bool is_ours;     /* it has our library, or a door to it while ours is still being loaded */
};

/* Of a file such as libmpi.so.40.30.4: what is alike in the programs of all languages, and of libraries that are compatible. */
static void of_c_take(const char *name, struct loaded *l)
{
    static const char *const begins[] = {"libmpi.so.", "libmpich.so.", "libmpi_abi.so."};
    for (size_t i = 0; i < GW_ARRAY_LEN(begins); i++) {
        if (strncmp(name, begins[i], strlen(begins[i])) != 0) continue;
        size_t n = strlen(begins[i]);
        n += strcspn(name + n, ". \n");
        if (name[n] == '.') n += 1 + strcspn(name + n + 1, ". \n");
        snprintf(l->of_c, sizeof l->of_c, "%.*s", (int)n, name);
    }
}

static struct loaded process_look(pid_t pid)
{
    struct loaded l = {.is_ours = false};
    char path[48], *line = NULL;
    size_t cap = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && getline(&line, &cap, f) > 0) {
        const char *name = strrchr(line, '/');
        enum program_mpi is = name ? program_mpi_of_library(name + 1) : PROGRAM_UNKNOWN;
        if (is == PROGRAM_UNKNOWN || strncmp(name, "/libmpi", 7) != 0) continue; /* libpmix is no MPI library */
        if (!l.library[0]) snprintf(l.library, sizeof l.library, "%.*s", (int)strcspn(name + 1, " \n"), name + 1);
        if (!l.of_c[0]) of_c_take(name + 1, &l);
        l.is_ours = l.is_ours || is == PROGRAM_OURS || pmi_doors_hold(strchr(line, '/'));
    }
    free(line);
    if (f) fclose(f);
    if (l.is_ours) snprintf(l.of_c, sizeof l.of_c, "libmpi_abi.so"); /* with a door to it or without */
    return l;
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

/* The numbers of children of a process, at most `most` of them. */
static int children_of(pid_t pid, int most, pid_t *out)
{
    char path[64];
    int n = 0, child;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *f = fopen(path, "re");
    while (f && n < most && fscanf(f, "%d", &child) == 1) out[n++] = child;
    if (f) fclose(f);
    return n;
}
enum { CHILDREN_MOST = 64, DEPTH_MOST = 6 /* of usual wrappers */ };

/* ---- who came by another way ------------------------------------------------------------------------------------------------ */
/* The ways of a rank's programs lie in struct rank.ways, two bits each, the first program's lowest, and the numbers of their libraries in
 * struct rank.libraries, four bits each.  A script may run one program after the other, each of another library, and one rank may be ahead
 * of another: so the programs of same number are compared. */
enum {
    WAY_BITS = 2,
    WAYS_MOST = 32,
    WAYS_LOST = -1,
    LIBRARY_BITS = 4,
    LIBRARIES_MOST = 16,
    PROGRAMS_LOOKED_AT = 64 / LIBRARY_BITS
};

/* Libraries that programs had loaded which came to a server, by their numbers; 0: it is not known. */
static struct {
    char name[LIBRARIES_MOST][sizeof((struct loaded *)0)->of_c];
    int n;
} libraries = {.n = 1};

static int library_number(const char *name)
{
    int i = 1;
    while (i < libraries.n && strcmp(libraries.name[i], name) != 0) i++;
    if (i == LIBRARIES_MOST || !name[0]) return 0;
    if (i == libraries.n) snprintf(libraries.name[libraries.n++], sizeof libraries.name[0], "%s", name);
    return i;
}

static int library_at(const struct rank *r, int program)
{
    assert(program >= 0);
    return program < r->n_libraries ? (int)(r->libraries >> LIBRARY_BITS * program & (LIBRARIES_MOST - 1)) : 0;
}

/* What this process and its children have loaded, one after the other, to `take`, which answers whether to go on. */
static bool tree_walk(pid_t pid, int pmi_fd, int depth, bool (*take)(void *to, const struct loaded *l), void *to)
{
    pid_t children[CHILDREN_MOST];
    if (is_of_other_launcher(pid, pmi_fd)) return true;
    struct loaded l = process_look(pid);
    bool goes_on = take(to, &l);
    int n = depth && goes_on ? children_of(pid, CHILDREN_MOST, children) : 0;
    for (int i = 0; i < n && goes_on; i++) goes_on = tree_walk(children[i], pmi_fd, depth - 1, take, to);
    return goes_on;
}

/* Their library: its number, 0 where none is found; -1: several are. */
static bool take_all(void *to, const struct loaded *l)
{
    int *found = to, is = library_number(l->of_c);
    if (is && *found && is != *found) is = -1;
    if (is) *found = is;
    return *found >= 0;
}
static int tree_library(const struct rank *r)
{
    int found = 0;
    tree_walk(r->pid, r->pmi_fd, DEPTH_MOST, take_all, &found);
    return found;
}

static bool take_first(void *to, const struct loaded *l)
{
    *(struct loaded *)to = *l;
    return !l->of_c[0];
}

static int ways_number(uint64_t ways) { return ways ? (64 - __builtin_clzll(ways) + WAY_BITS - 1) / WAY_BITS : 0; }

static enum foreign_way way_at(uint64_t ways, int i)
{
    assert(i >= 0 && i < WAYS_MOST);
    return (enum foreign_way)(ways >> WAY_BITS * i & ((1 << WAY_BITS) - 1));
}

/* "a library that uses PMI (libmpich.so.12.2)", or (MPICH) where it is not known. */
static void way_name(enum foreign_way way, int library, char *out, size_t cap)
{
    static const char *const protocols[] = {[FOREIGN_PMI] = "PMI", [FOREIGN_PMIX] = "PMIx"},
                             *const likely_ones[] = {[FOREIGN_PMI] = "MPICH", [FOREIGN_PMIX] = "Open MPI"};
    if (way == FOREIGN_DIRECT)
        snprintf(out, cap, "Godwit");
    else
        snprintf(out, cap, "a library that uses %s (%s)", protocols[way], library ? libraries.name[library] : likely_ones[way]);
}

/* There is a door, and the rank has not come through it.  Our own library may come by a server, too, where a wrapper has taken its way from it;
 * and who shows no MPI library is none that a door could be for. */
static void past_door_say(const struct rank *r, int rank, enum foreign_way way)
{
    static _Atomic bool is_said;
    char by[128];
    const char *in, *word = pmi_doors_left_out(&in);
    if (!doors_are_open || atomic_load_explicit(&is_said, memory_order_relaxed) || r->pid <= 0) return;
    struct loaded l = {.is_ours = false};
    tree_walk(r->pid, r->pmi_fd, DEPTH_MOST, take_first, &l);
    if (!l.of_c[0] || l.is_ours || atomic_exchange_explicit(&is_said, true, memory_order_relaxed)) return;
    snprintf(by, sizeof by, "a library that uses %s (%s)", way == FOREIGN_PMI ? "PMI" : "PMIx", l.of_c);
    if (word)
        say_line("rank %d runs on %s, not on Godwit: below %s (in %s) LD_LIBRARY_PATH alone leads to Godwit's door, and it is set "
                 "anew there, or the program has an RPATH",
                 rank, by, word, in);
    else
        say_line("rank %d runs on %s, not on Godwit: a script on the way sets LD_LIBRARY_PATH, LD_PRELOAD or LD_AUDIT anew, or "
                 "GODWIT_DOORS=off, or the program has an RPATH",
                 rank, by);
}

void foreign_came(struct job *j, int rank, enum foreign_way way)
{
    assert(rank >= 0 && rank < j->n && way != FOREIGN_DIRECT);
    past_door_say(&j->ranks[rank], job_rank(j, rank), way);
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

/* Of programs that are in MPI, which wait for an answer or for others: the files that they have loaded are there to be seen. */
static void libraries_look(struct job *j)
{
    for (int i = 0; i < j->n; i++) {
        enum foreign_way way;
        struct rank *r = &j->ranks[i];
        int number = program_now(j, i, &way);
        if (number == WAYS_LOST || way == FOREIGN_DIRECT || number < r->n_libraries || number >= PROGRAMS_LOOKED_AT) continue;
        int library = tree_library(r);
        r->n_libraries = number + 1; /* those between have ended before they were seen */
        r->libraries |= (uint64_t)(library > 0 ? library : 0) << LIBRARY_BITS * number;
    }
}

/* "rank 3", "ranks 0-2, 5, ..." that came by this way with this library; the caller frees it. */
static char *ranks_of(const struct job *j, enum foreign_way way, int library)
{
    enum { RANGES_MOST = 8 };
    char *text = gw_xasprintf("%s", "");
    int n = 0, ranges = 0;
    for (int i = 0, end; i < j->n; i = end) {
        enum foreign_way is;
        for (end = i; end < j->n; end++, n++) {
            int number = program_now(j, end, &is);
            if (number == WAYS_LOST || is != way || library_at(&j->ranks[end], number) != library) break;
        }
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

/* Adds who came by this way, library by library in the order of ranks, to a text of malloc. */
static char *way_add(const struct job *j, enum foreign_way way, char *text)
{
    unsigned told = 0;
    char by[96];
    for (int i = 0; i < j->n; i++) {
        enum foreign_way is;
        int number = program_now(j, i, &is), library = number == WAYS_LOST ? 0 : library_at(&j->ranks[i], number);
        if (number == WAYS_LOST || is != way || told >> library & 1) continue;
        told |= 1u << library;
        way_name(way, library, by, sizeof by);
        char *ranks = ranks_of(j, way, library), *longer;
        if (!ranks) continue; /* libpmix's thread has heard of the next program meanwhile */
        longer = gw_xasprintf("%s%s%s by %s", text, *text ? ", " : "", ranks, by);
        free(text);
        free(ranks);
        text = longer;
    }
    return text;
}

static void differs_say(const struct job *j)
{
    char *text = gw_xasprintf("%s", "");
    for (int way = FOREIGN_DIRECT; way <= FOREIGN_PMIX; way++) text = way_add(j, (enum foreign_way)way, text);
    say_line(
        "the ranks came by different libraries, which cannot meet: %s; the job ends now. Compile all its programs with mpicc of "
        "Godwit%s",
        text, pmi_doors_are_off(j) ? ", or leave out GODWIT_DOORS=off" : "");
    free(text);
}

/* Has a rank come by another way, or with another library, than the one that is behind all others?  What others have run by the way is
 * compared with that. */
static bool ways_differ(const struct job *j)
{
    enum foreign_way way = FOREIGN_DIRECT, is;
    int least = WAYS_LOST, number, library = 0;
    for (int i = 0; i < j->n && least != 0; i++)
        if ((number = program_now(j, i, &is)) != WAYS_LOST && (least == WAYS_LOST || number < least)) least = number, way = is;
    for (int i = 0; i < j->n && least != WAYS_LOST; i++) {
        if (program_now(j, i, &is) == WAYS_LOST) continue;
        uint64_t ways = atomic_load_explicit(&j->ranks[i].ways, memory_order_relaxed);
        bool is_other = is == FOREIGN_DIRECT || way == FOREIGN_DIRECT || way_at(ways, least) != way;
        if (is != way && is_other) return true;
        if (is_other) continue;
        int other = library_at(&j->ranks[i], least);
        if (library && other && other != library) return true;
        if (!library) library = other;
    }
    return false;
}

bool foreign_differs(struct job *j, int *wait_out)
{
    enum { PATIENCE_MS = 1000 }; /* one that asks a server for something and leaves is no rank in MPI */
    static uint64_t since;       /* ns; 0: they do not differ */
    *wait_out = -1;
    if (j->pmi >= 0 || j->pmix) libraries_look(j);
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

/* A process that has our library is one of ours. */
static bool library_find(pid_t pid)
{
    char path[48];
    struct loaded l = process_look(pid);
    if (l.is_ours || !l.library[0]) return false;
    snprintf(seen.library, sizeof seen.library, "%s", l.library);
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(path, seen.program, sizeof seen.program - 1);
    snprintf(seen.program + (n > 0 ? n : 0), sizeof seen.program - (size_t)(n > 0 ? n : 0), "%s", n > 0 ? "" : "a program");
    return true;
}

/* Looks for another MPI library in this process and its children. */
static bool tree_look(pid_t pid, int pmi_fd, int depth)
{
    assert(pid > 0 && depth >= 0);
    pid_t children[CHILDREN_MOST];
    if (is_of_other_launcher(pid, pmi_fd)) return false;
    bool found = library_find(pid);
    int n = found || depth == 0 ? 0 : children_of(pid, CHILDREN_MOST, children);
    for (int i = 0; i < n && !found; i++) found = tree_look(children[i], pmi_fd, depth - 1);
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
    enum { FIRST_MS = 10, LAST_MS = 10000 };
    uint64_t now = gw_now_ns();
    if (j->pmi < 0 || seen.is_over) return -1;
    if (!seen.due) {
        seen.pause_ms = FIRST_MS;
    } else if (now >= seen.due) {
        seen.is_over = somebody_asked(j);
        for (int i = 0, first = 0; i < j->o.n_apps && !seen.is_over; first += j->o.apps[i++].n) /* the first rank of each program */
            if (j->ranks[first].pid > 0) seen.is_over = tree_look(j->ranks[first].pid, j->ranks[first].pmi_fd, DEPTH_MOST);
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
