/* wrapper.c -- the library of wrappers that mpiexec puts before a program (--profile, --record): a script between may have set LD_PRELOAD anew,
 * for a tool of its own.  Then the program is started once more, with that library before the tool; what is said where that cannot be.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/plain.h"

enum { MOST = 1024 }; /* libraries of a program */

static bool is_listed(const char *list, const char *path)
{
    size_t n = strlen(path);
    for (const char *p = list; p && *p;) {
        size_t len = strcspn(p, ": ");
        if (n > 0 && len == n && strncmp(p, path, n) == 0) return true;
        p += len + (p[len] != 0);
    }
    return false;
}

static const char *name_of(const struct link_map *map)
{
    const char *slash = strrchr(map->l_name, '/');
    return slash ? slash + 1 : map->l_name;
}

/* Marks what this object needs; true: something new. */
static bool needs_more(const struct link_map *map, const struct link_map *const *all, bool *is_there, int n)
{
    const char *texts = NULL;
    bool any = false;
    for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB) texts = (const char *)d->d_un.d_ptr;
    for (const ElfW(Dyn) *d = map->l_ld; texts && d->d_tag != DT_NULL; d++)
        for (int i = 1; d->d_tag == DT_NEEDED && i < n; i++)
            if (!is_there[i] && strcmp(name_of(all[i]), texts + d->d_un.d_val) == 0) any = is_there[i] = true;
    return any;
}

/* Has the loader brought this library with the program, and not the program opened it later?  Goes by who needs whom, from the program and what
 * is preloaded. */
static bool is_from_start(const char *preload)
{
    Dl_info of;
    struct link_map *self = NULL;
    const struct link_map *all[MOST], *map;
    bool is_there[MOST] = {true}, is_more = true;
    int n = 0, own = -1;
    if (!dladdr1((const void *)&mpi_hot, &of, (void **)&self, RTLD_DL_LINKMAP) || !self) return false;
    for (map = self; map->l_prev;) map = map->l_prev;
    for (; map && n < MOST; map = map->l_next) {
        if (map == self) own = n;
        if (n > 0) is_there[n] = is_listed(preload, map->l_name);
        all[n++] = map;
    }
    while (is_more) {
        is_more = false;
        for (int i = 0; i < n; i++) is_more = (is_there[i] && needs_more(all[i], all, is_there, n)) || is_more;
    }
    return own >= 0 && is_there[own];
}

/* The file of this program, if it is still the one that runs, and runs by itself: where the loader was called by name, AT_BASE is 0. */
static bool may_start_again(char path[PATH_MAX])
{
    struct stat there, here;
    if (!getauxval(AT_BASE) || !gw_own_program(path) || stat(path, &there) != 0) return false;
    return stat("/proc/self/exe", &here) != 0 || (here.st_ino == there.st_ino && here.st_dev == there.st_dev);
}

/* Before main(), with its arguments. */
static __attribute__((constructor)) void begin(int argc, char **argv)
{
    const char *wanted = getenv("GODWIT_WRAPPER"), *has = getenv("LD_PRELOAD");
    char path[PATH_MAX];
    if (!wanted || argc < 1 || gw_is_raised() || is_listed(has, wanted) || access(wanted, R_OK) != 0) return;
    if (!is_from_start(has) || !may_start_again(path)) return;
    char *both = gw_xasprintf("%s%s%s", wanted, has && *has ? ":" : "", has ? has : "");
    if (setenv("LD_PRELOAD", both, 1) == 0) execv(path, argv);
    free(both);
}

/* mpiexec has found a rank again whose environment was cleared, and with it what its options had set. */
static void look_at_cleared(void)
{
    char option[64];
    if (gw_boot.how != BOOT_GODWIT || gw_boot.rank != 0 || getenv("GODWIT_BOOT")) return;
    if (!boot_env_said("sets", option, sizeof option)) return;
    gw_print(
        stderr,
        "godwit: the environment of this program was cleared below mpiexec (env -i), so that %s has no effect on it: clear that of mpiexec, "
        "or let the variables GODWIT_* and LD_PRELOAD through\n",
        strcmp(option, "variables") == 0 ? "what an option sets" : option);
}

void mpi_wrapper_look(void)
{
    look_at_cleared();
    const char *wanted = getenv("GODWIT_WRAPPER"), *has = getenv("LD_PRELOAD");
    void *it = wanted && gw_boot.rank == 0 ? dlopen(wanted, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (it) dlclose(it);
    if (!wanted || gw_boot.rank != 0 || it) return;
    if (gw_is_raised())
        gw_print(
            stderr,
            "godwit: %s, which mpiexec puts before the program, is not loaded: the program has raised rights (set-user-ID, set-group-ID, or file "
            "capabilities, which getcap shows), and into such a one the system loads no library that a user names; run a copy of it (cp leaves "
            "the rights behind)\n",
            wanted);
    else
        gw_print(
            stderr,
            "godwit: %s, which mpiexec puts before the program, is not loaded: LD_PRELOAD is %s, which something between has set; let it add "
            "to the variable instead (LD_PRELOAD=$LD_PRELOAD:MORE)\n",
            wanted, has ? has : "not set");
}
