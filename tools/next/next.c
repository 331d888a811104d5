/* next.c -- looks up who comes next, and who is passed by.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "next.h"
#include "base/plain.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The first in the loader's list; of its names only that one is empty which is the program's. */
static bool is_program(const struct link_map *map) { return !map->l_prev; }

static const char *name_of(const struct link_map *map)
{
    return is_program(map) ? program_invocation_short_name : base_of(map->l_name);
}

/* A handle for dlsym(), of which each has its dlclose(); NULL: not an object that the loader knows by name. */
static void *open_again(const struct link_map *map)
{
    if (is_program(map)) return dlopen(NULL, RTLD_LAZY);
    return map->l_name[0] ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* Does this object itself, not one that it needs, define the function?  A program that takes its address may have a name for it, which is not
 * the function. */
static bool defines(void *object, const struct link_map *map, const char *name)
{
    Dl_info of;
    const struct link_map *in = NULL;
    const ElfW(Sym) *symbol = NULL;
    void *at = dlsym(object, name);
    return at && dladdr1(at, &of, (void **)&in, RTLD_DL_LINKMAP) && in == map &&
        (!dladdr1(at, &of, (void **)&symbol, RTLD_DL_SYMENT) || !symbol || symbol->st_shndx != SHN_UNDEF);
}

/* The first of these names that the object defines, where it does not define `own`, by which MPI libraries are known; NULL: none. */
static const char *wraps(const struct link_map *map, const char *own, const char *const *names, size_t n)
{
    const char *found = NULL;
    void *object = open_again(map);
    if (!object) return NULL;
    if (!defines(object, map, own))
        for (size_t i = 0; i < n && !found; i++) found = defines(object, map, names[i]) ? names[i] : NULL;
    dlclose(object);
    return found;
}

static const char *const usual[] = {"MPI_Init",  "MPI_Init_thread", "MPI_Finalize", "MPI_Send",  "MPI_Recv",      "MPI_Isend",
                                    "MPI_Irecv", "MPI_Wait",        "MPI_Waitall",  "MPI_Bcast", "MPI_Allreduce", "MPI_Barrier"};
/* In the same order, for mpif.h and for mpi_f08. */
static const char *const fortran[] = {"mpi_init_",        "mpi_init_thread_",     "mpi_finalize_",        "mpi_send_",
                                      "mpi_recv_",        "mpi_isend_",           "mpi_irecv_",           "mpi_wait_",
                                      "mpi_waitall_",     "mpi_bcast_",           "mpi_allreduce_",       "mpi_barrier_",
                                      "mpi_init_f08_",    "mpi_init_thread_f08_", "mpi_finalize_f08_",    "mpi_send_f08ts_",
                                      "mpi_recv_f08ts_",  "mpi_isend_f08ts_",     "mpi_irecv_f08ts_",     "mpi_wait_f08_",
                                      "mpi_waitall_f08_", "mpi_bcast_f08ts_",     "mpi_allreduce_f08ts_", "mpi_barrier_f08_"};
enum { USUAL = sizeof usual / sizeof *usual, FORTRAN = sizeof fortran / sizeof *fortran };
_Static_assert(FORTRAN == 2 * USUAL, "goes_past() goes by their order");

static const struct link_map *ours(void)
{
    Dl_info of;
    struct link_map *map = NULL;
    return dladdr1((const void *)ours, &of, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* Does the object ask the loader for a function whose name begins so?  The names that it needs stand before those that it has. */
static bool needs(const struct link_map *map, const char *begin)
{
    const ElfW(Sym) *symbols = NULL;
    const char *texts = NULL;
    const uint32_t *hash = NULL; /* DT_GNU_HASH: number of chains, number of the first symbol that the object has */
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB) symbols = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB) texts = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_GNU_HASH) hash = (const void *)d->d_un.d_ptr;
    }
    for (uint32_t i = 1; symbols && texts && hash && i < hash[1]; i++)
        if (symbols[i].st_shndx == SHN_UNDEF && strncmp(texts + symbols[i].st_name, begin, strlen(begin)) == 0) return true;
    return false;
}

/* The first of Fortran's routines that the object wraps around C's PMPI_ function; NULL: none. */
static const char *goes_past(const struct link_map *map)
{
    char pmpi_name[64];
    for (int i = 0; i < FORTRAN && !needs(map, "pmpi_"); i++) {
        snprintf(pmpi_name, sizeof pmpi_name, "P%s", usual[i % USUAL]);
        if (needs(map, pmpi_name) && wraps(map, "pmpi_init_", &fortran[i], 1) && !wraps(map, "PMPI_Init", &usual[i % USUAL], 1))
            return fortran[i];
    }
    return NULL;
}

/* ---- the next in line ---- */
/* "mpi_send_", "mpi_send_f08ts_" of "PMPI_Send". */
static void fortran_name(char out[128], const char *pmpi_name, const char *end)
{
    size_t n = 0;
    for (const char *p = pmpi_name + 1; *p && n < 100; p++) out[n++] = (char)tolower((unsigned char)*p);
    snprintf(out + n, 128 - n, "%s", end);
}

/* The first library behind this one that has the function, and not Fortran's of the same name. */
static void *next_for_c(const char *pmpi_name)
{
    char of_fortran[3][128];
    void *found = NULL;
    fortran_name(of_fortran[0], pmpi_name, "_");
    fortran_name(of_fortran[1], pmpi_name, "_f08_");
    fortran_name(of_fortran[2], pmpi_name, "_f08ts_");
    for (const struct link_map *map = ours(); map && !found && (map = map->l_next);) {
        void *object = map->l_name[0] ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (!object) continue;
        bool is_mpi = defines(object, map, "PMPI_Init"), is_seen = false;
        for (int i = 0; i < 3; i++) is_seen = is_seen || defines(object, map, of_fortran[i]);
        if (!is_mpi && !is_seen && defines(object, map, pmpi_name + 1)) found = dlsym(object, pmpi_name + 1);
        dlclose(object);
        if (is_mpi) break;
    }
    return found;
}

/* A library that came with a module of an interpreter (RTLD_LOCAL) is seen by that module alone: makes the one that has the function visible
 * to all, and with it those that it needs.  False: there is none. */
static bool reveal(const char *pmpi_name)
{
    const struct link_map *map = ours();
    bool is_there = false;
    while (map && map->l_prev) map = map->l_prev;
    for (; map && !is_there; map = map->l_next) {
        void *object = map->l_name[0] ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (object && defines(object, map, pmpi_name))
            is_there = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) != NULL;
        if (object) dlclose(object);
    }
    return is_there;
}

/* No address of a PMPI_ function is taken: the loader would want it in each process that has this library, a shell too. */
void *tools_next(const char *pmpi_name, bool by_fortran)
{
    void *next = by_fortran ? next_for_c(pmpi_name) : dlsym(RTLD_NEXT, pmpi_name + 1);
    if (!next) next = dlsym(RTLD_DEFAULT, pmpi_name);
    if (!next && reveal(pmpi_name)) next = dlsym(RTLD_DEFAULT, pmpi_name);
    if (next) return next;
    gw_print(stderr, "godwit: no library that is loaded has %s\n", pmpi_name);
    _exit(127);
}

/* ---- tools for Fortran ---- */
__thread const char *tools_handed;

bool tools_handed_take(const char *pmpi_name)
{
    size_t n = strlen(tools_handed), m = strlen(pmpi_name);
    n -= n > 2 && strcmp(tools_handed + n - 2, "_c") == 0;
    m -= m > 2 && strcmp(pmpi_name + m - 2, "_c") == 0;
    if (n != m || strncmp(tools_handed, pmpi_name, n) != 0) return false;
    tools_handed = NULL;
    return true;
}

static void handed(const char *pmpi_name) { tools_handed = pmpi_name; }

/* For Fortran's library (fortran/below.c): our function MPI_X, which is to be told before each call that a tool hands it on; where we have none
 * of that name, the next one's, so that tools for C see the same calls by way of a tool for Fortran as without one. */
void *godwit_chain(const char *pmpi_name, void (**mark_out)(const char *))
{
    const struct link_map *map = ours();
    void *object = map ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL, *at = NULL;
    if (object && defines(object, map, pmpi_name + 1)) at = dlsym(object, pmpi_name + 1);
    if (object) dlclose(object);
    *mark_out = at ? handed : NULL;
    return at ? at : tools_next(pmpi_name, true);
}

/* ---- tools before ours ---- */
/* The value of LD_PRELOAD with this library first; NULL: it is, or is not there.  From malloc. */
static char *preload_in_order(const char *own)
{
    const char *has = getenv("LD_PRELOAD");
    size_t n = strlen(own);
    for (const char *p = has; p && *p;) {
        size_t len = strcspn(p, ": ");
        if (len == n && strncmp(p, own, n) == 0 && p != has) {
            char *out = malloc(strlen(has) + 2);
            if (out) sprintf(out, "%s:%.*s%s", own, (int)(p - has - 1), has, p + len);
            return out;
        }
        p += len + (p[len] != 0);
    }
    return NULL;
}

/* The file of this program, as the kernel knows it; false: not known, or the loader was called by name. */
static bool own_program(char out[4096])
{
    struct stat a, b;
    ssize_t n = readlink("/proc/self/exe", out, 4095);
    out[n > 0 ? n : 0] = 0;
    return getauxval(AT_BASE) && n > 0 && stat(out, &a) == 0 && stat("/proc/self/exe", &b) == 0 && a.st_ino == b.st_ino &&
        a.st_dev == b.st_dev;
}

static bool is_preceded(const struct link_map *self)
{
    const struct link_map *map = self;
    while (map->l_prev) map = map->l_prev;
    for (map = map->l_next; map && map != self; map = map->l_next) /* the first is the program */
        if (wraps(map, "PMPI_Init", usual, USUAL)) return true;
    return false;
}

/* Runs before the program, and before what lies before this library, with the arguments of main(). */
static __attribute__((constructor)) void begin(int argc, char **argv)
{
    char program[4096];
    const struct link_map *self = ours();
    const char *own = getenv("GODWIT_WRAPPER");
    if (!own || argc < 1 || getauxval(AT_SECURE) || !self || !is_preceded(self)) return;
    char *order = preload_in_order(own);
    if (order && own_program(program) && setenv("LD_PRELOAD", order, 1) == 0) execv(program, argv);
    free(order); /* it goes on as it is, and tools_next_say() names who stands before us */
}

/* ---- who cannot ---- */
/* A program that has wrappers in itself: what they hand on to the library is not seen, and without the end there is nothing to tell. */
static void program_say(const char *who, const struct link_map *map)
{
    static const char *const end[] = {"MPI_Finalize"};
    char pmpi_name[64];
    for (int i = 0; i < USUAL; i++) {
        snprintf(pmpi_name, sizeof pmpi_name, "P%s", usual[i]);
        if (!needs(map, pmpi_name) || !wraps(map, "PMPI_Init", &usual[i], 1)) continue;
        gw_print(stderr,
                 "godwit %s: %s itself wraps %s and hands on to the library directly (%s), which is not seen here%s; wrappers in a "
                 "library, linked or preloaded, chain with --%s\n",
                 who, name_of(map), usual[i], pmpi_name,
                 needs(map, "PMPI_Finalize") && wraps(map, "PMPI_Init", end, 1)
                     ? ": with MPI_Finalize among them there is no result"
                     : "",
                 who);
        return;
    }
}

void tools_next_say(const char *who)
{
    const struct link_map *self = ours(), *map = self;
    const char *first = NULL, *first_fortran = NULL, *name, *past;
    bool has_fortran = dlsym(RTLD_DEFAULT, "pmpi_init_"), chains = dlsym(RTLD_DEFAULT, "godwit_fort_chains");
    if (!self) return;
    while (map->l_prev) map = map->l_prev;
    program_say(who, map);
    for (bool is_behind = false; map; is_behind |= map == self, map = map->l_next) {
        if (map == self) continue;
        name = has_fortran ? wraps(map, "pmpi_init_", fortran, FORTRAN) : NULL;
        if (name && first_fortran)
            gw_print(stderr, "godwit %s: %s wraps Fortran's routines, too: it sees what %s, which stands before it, hands on\n",
                     who, name_of(map), first_fortran);
        else if (name && !chains)
            gw_print(
                stderr,
                "godwit %s: %s wraps Fortran's %s; what it hands on (p%s) goes past this library in the program's Fortran library, which "
                "is not Godwit's\n",
                who, name_of(map), name, name);
        else if (name && (past = goes_past(map)))
            gw_print(
                stderr,
                "godwit %s: %s wraps Fortran's %s and hands on to C's PMPI function: that is not seen here; a call of p%s, or of C's MPI "
                "function, is\n",
                who, name_of(map), past, past);
        if (name && !first_fortran) first_fortran = name_of(map);
        if (is_program(map) || !(name = wraps(map, "PMPI_Init", usual, USUAL))) continue;
        if (!is_behind)
            gw_print(
                stderr,
                "godwit %s: %s stands before it and wraps %s; what that hands on to the library directly (P%s) is not seen here: let "
                "LD_PRELOAD begin with %s, as mpiexec sets it, and add what you need behind that\n",
                who, name_of(map), name, name, base_of(self->l_name));
        else if (first)
            gw_print(stderr, "godwit %s: %s wraps calls of MPI, too: it sees what %s, which stands before it, hands on\n", who,
                     name_of(map), first);
        else
            first = name_of(map);
    }
}

void tools_unmet_say(const char *who)
{
    const char *rank = getenv("GODWIT_RANK");
    if (rank && strcmp(rank, "0") != 0) return;
    if (dlsym(RTLD_DEFAULT, "PMPI_Init")) tools_next_say(who);
    if (dlopen("libgodwit_shmem.so.1", RTLD_LAZY | RTLD_NOLOAD)) /* a language that looks functions up in the library itself */
        gw_print(
            stderr,
            "godwit %s: libgodwit_shmem.so.1 is here, and its shmem_init was not called by its name: what a program looks up in the "
            "library itself, by dlsym() or ctypes, is not seen\n",
            who);
}
