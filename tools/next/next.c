/* next.c -- looks up who comes next, and who is passed by.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "next.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No address of a PMPI_ function is taken: the loader would want it in each process that has this library, a shell too. */
void *tools_next(const char *pmpi_name)
{
    void *next = dlsym(RTLD_NEXT, pmpi_name + 1);
    if (!next) next = dlsym(RTLD_DEFAULT, pmpi_name);
    if (next) return next;
    fprintf(stderr, "godwit: no library that is loaded has %s\n", pmpi_name);
    _exit(127);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Does this object itself, not one that it needs, define the function? */
static bool defines(void *object, const struct link_map *map, const char *name)
{
    Dl_info of;
    void *at = dlsym(object, name);
    return at && dladdr(at, &of) && (uintptr_t)of.dli_fbase == (uintptr_t)map->l_addr;
}

/* The first of these names that the object defines, where it does not define `own`, by which MPI libraries are known; NULL: none. */
static const char *wraps(const struct link_map *map, const char *own, const char *const *names, size_t n)
{
    const char *found = NULL;
    void *object = map->l_name[0] ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!object) return NULL;
    if (!defines(object, map, own))
        for (size_t i = 0; i < n && !found; i++) found = defines(object, map, names[i]) ? names[i] : NULL;
    dlclose(object);
    return found;
}

static const char *const usual[] = {"MPI_Init",  "MPI_Init_thread", "MPI_Finalize", "MPI_Send",  "MPI_Recv",      "MPI_Isend",
                                    "MPI_Irecv", "MPI_Wait",        "MPI_Waitall",  "MPI_Bcast", "MPI_Allreduce", "MPI_Barrier"};
static const char *const fortran[] = {"mpi_init_",    "mpi_init_thread_", "mpi_finalize_",  "mpi_send_",
                                      "mpi_recv_",    "mpi_isend_",       "mpi_irecv_",     "mpi_wait_",
                                      "mpi_waitall_", "mpi_bcast_",       "mpi_allreduce_", "mpi_barrier_"};
enum { USUAL = sizeof usual / sizeof *usual };

static const struct link_map *ours(void)
{
    Dl_info of;
    struct link_map *map = NULL;
    return dladdr1((const void *)ours, &of, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

void tools_next_say(const char *who)
{
    const struct link_map *self = ours(), *map = self;
    const char *first = NULL, *name;
    if (!self) return;
    while (map->l_prev) map = map->l_prev;
    for (bool is_behind = false; map; is_behind |= map == self, map = map->l_next) {
        if (map == self) continue;
        if ((name = wraps(map, "pmpi_init_", fortran, USUAL)))
            fprintf(
                stderr,
                "godwit %s: %s wraps Fortran's %s; what it hands on (p%s) goes to the library directly and is not seen here: a tool that "
                "wraps C's functions, through which Fortran's calls come, chains\n",
                who, base_of(map->l_name), name, name);
        if (!(name = wraps(map, "PMPI_Init", usual, USUAL))) continue;
        if (!is_behind)
            fprintf(
                stderr,
                "godwit %s: %s stands before it and wraps %s; what that hands on to the library directly (P%s) is not seen here: let "
                "LD_PRELOAD begin with %s, as mpiexec sets it, and add what you need behind that\n",
                who, base_of(map->l_name), name, name, base_of(self->l_name));
        else if (first)
            fprintf(stderr, "godwit %s: %s wraps calls of MPI, too: it sees what %s, which stands before it, hands on\n", who,
                    base_of(map->l_name), first);
        else
            first = base_of(map->l_name);
    }
}

void tools_unmet_say(const char *who)
{
    const char *rank = getenv("GODWIT_RANK");
    if (dlsym(RTLD_DEFAULT, "PMPI_Init") && !(rank && strcmp(rank, "0") != 0)) tools_next_say(who);
}
