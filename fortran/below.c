/* below.c -- what pmpi_x_ calls: PMPI_X, or MPI_X of a library of mpiexec's where a tool has wrapped mpi_x_ (std.h).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define FORT_PMPI
#include "fort.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

/* A mark for tools/next/next.c: this library chains. */
const int godwit_fort_chains = 1;

/* Does another object, before this one, define the routine? */
static bool is_wrapped(const char *name)
{
    Dl_info of, own;
    void *at = dlsym(RTLD_DEFAULT, name);
    return at && dladdr(at, &of) && dladdr((const void *)&godwit_fort_chains, &own) && of.dli_fbase != own.dli_fbase;
}

/* The names of a routine: mpi_x_ and, in mpi_f08, mpi_x_f08_ without and mpi_x_f08ts_ with a buffer. */
static bool is_any_wrapped(const char *stem)
{
    static const char *const ends[] = {"", "f08_", "f08ts_"};
    char name[128];
    bool is = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !is; i++) {
        snprintf(name, sizeof name, "%s%s", stem, ends[i]);
        is = is_wrapped(name);
    }
    return is;
}

/* routine: a function of entry.c, hand.c or removed.c, "pmpi_send_" or "slow_send_f08ts_"; others are parts of several, of which the name of C's
 * function tells. */
static bool is_handed_on(const char *pmpi_name, const char *routine)
{
    char stem[96];
    size_t n = 0;
    if (strncmp(routine, "pmpi_", 5) == 0 || strncmp(routine, "slow_", 5) == 0) {
        n = (size_t)snprintf(stem, sizeof stem, "mpi_%s", routine + 5);
        if (n > 7 && n < sizeof stem && strcmp(stem + n - 7, "_f08ts_") == 0) return is_wrapped(stem);
    } else {
        for (const char *p = pmpi_name + 1; *p && n + 2 < sizeof stem; p++) stem[n++] = (char)tolower((unsigned char)*p);
        stem[n++] = '_';
        stem[n] = 0;
    }
    return is_any_wrapped(stem);
}

fort_fn *fort_below(struct fort_below *kept, const char *pmpi_name, const char *routine)
{
    typedef fort_fn *chain_fn(const char *, void (**)(const char *));
    union {
        void *object;
        chain_fn *chain;
        fort_fn *fn;
    } chain = {dlsym(RTLD_DEFAULT, "godwit_chain")}, at = {NULL};
    void (*mark)(const char *) = NULL;
    if (chain.object && is_handed_on(pmpi_name, routine)) at.fn = chain.chain(pmpi_name, &mark);
    if (!at.object) at.object = dlsym(RTLD_DEFAULT, pmpi_name);
    if (!at.object) at.object = dlsym(RTLD_NEXT, pmpi_name); /* a program that was opened by another */
    if (!at.object) {
        fprintf(stderr, "godwit: no library that is loaded has %s\n", pmpi_name);
        _exit(127);
    }
    kept->mark = mark;
    __atomic_store_n(&kept->at, at.fn, __ATOMIC_RELEASE);
    return at.fn;
}
