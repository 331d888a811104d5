/* fabric.c -- loads libfabric and queries it.
 *
 * Some providers install signal handlers while they are loaded and queried (psm: SIGSEGV and five more, unless told not to).  The
 * program's handlers are restored afterwards.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/fabric.h"
#include "base/os.h"
#include "base/settings.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct fabric_lib fabric_lib;

enum { SIGNALS = 32 }; /* without the real-time signals */

/* A search among loaded shared objects, which are numbered in the order in which they were loaded. */
struct objects {
    uintptr_t address;
    int n, with_address;
};

static int object_count(struct dl_phdr_info *o, size_t bytes, void *to)
{
    struct objects *all = to;
    (void)bytes;
    for (int i = 0; i < o->dlpi_phnum; i++)
        if (o->dlpi_phdr[i].p_type == PT_LOAD && all->address - o->dlpi_addr - o->dlpi_phdr[i].p_vaddr < o->dlpi_phdr[i].p_memsz)
            all->with_address = all->n;
    all->n++;
    return 0;
}

static struct objects objects_look(uintptr_t address)
{
    struct objects all = {address, 0, -1};
    dl_iterate_phdr(object_count, &all);
    return all;
}

static void handlers_save(struct sigaction *to)
{
    for (int s = 1; s < SIGNALS; s++) sigaction(s, NULL, &to[s]);
}

/* Restores handlers that lie in objects loaded after the first n_objects.  Others are kept, as another thread of the program may
 * have installed them meanwhile. */
static void handlers_restore(const struct sigaction *from, int n_objects)
{
    struct sigaction now;
    for (int s = 1; s < SIGNALS; s++) {
        if (sigaction(s, NULL, &now) != 0 || now.sa_handler == from[s].sa_handler) continue;
        if (objects_look((uintptr_t)now.sa_handler).with_address >= n_objects) sigaction(s, &from[s], NULL);
    }
}

void fabric_lib_prepare(void) { setenv("IPATH_NO_BACKTRACE", "1", 0); }

static const char monitor_variable[] = "FI_MR_CACHE_MONITOR";

/* Sets the variable that chooses libfabric's memory monitor.  False: the user has set it. */
static bool monitor_tell(void)
{
    static const char *const words[] = {[GW_SET_REG_CACHE_MONITOR_USERFAULTFD] = "userfaultfd",
                                        [GW_SET_REG_CACHE_MONITOR_KDREG2] = "kdreg2",
                                        [GW_SET_REG_CACHE_MONITOR_MEMHOOKS] = "memhooks",
                                        [GW_SET_REG_CACHE_MONITOR_DISABLED] = "disabled"};
    int who = gw_set.reg_cache_monitor;
    if (getenv(monitor_variable)) return false;
    if (who == GW_SET_REG_CACHE_MONITOR_AUTO)
        who = gw_uffd_may() == GW_OK ? GW_SET_REG_CACHE_MONITOR_USERFAULTFD : GW_SET_REG_CACHE_MONITOR_DISABLED;
    assert((size_t)who < GW_ARRAY_LEN(words) && words[who]);
    return setenv(monitor_variable, words[who], 0) == 0;
}

static bool symbols_find(void *so)
{
    *(void **)&fabric_lib.getinfo = dlsym(so, "fi_getinfo");
    *(void **)&fabric_lib.freeinfo = dlsym(so, "fi_freeinfo");
    *(void **)&fabric_lib.dupinfo = dlsym(so, "fi_dupinfo");
    *(void **)&fabric_lib.fabric = dlsym(so, "fi_fabric");
    *(void **)&fabric_lib.strerror = dlsym(so, "fi_strerror");
    *(void **)&fabric_lib.version = dlsym(so, "fi_version");
    return fabric_lib.getinfo && fabric_lib.freeinfo && fabric_lib.dupinfo && fabric_lib.fabric && fabric_lib.strerror &&
        fabric_lib.version;
}

int fabric_lib_open(bool may_set_environment)
{
    if (fabric_lib.getinfo) return GW_OK;
    if (gw_is_raised())
        return gw_fail(
            GW_EUNSUPPORTED,
            "libfabric is not opened in a program with raised rights (set-user-ID, set-group-ID or file capabilities): it "
            "obeys variables that name libraries");
    struct sigaction handlers[SIGNALS];
    struct fi_info *any = NULL;
    int n_objects = objects_look(0).n;
    handlers_save(handlers);
    bool is_told = may_set_environment && monitor_tell();
    void *so = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    bool is_whole = so && symbols_find(so);
    if (is_whole && fabric_lib.getinfo(FABRIC_API, NULL, NULL, 0, NULL, &any) == 0) fabric_lib.freeinfo(any);
    if (is_told) unsetenv(monitor_variable);
    handlers_restore(handlers, n_objects);
    if (!so) {
        const char *why = dlerror();
        return gw_fail(GW_EUNSUPPORTED,
                       "other nodes are reached by libfabric, which cannot be opened (%s): install it (Debian: libfabric1)",
                       why ? why : "no reason given");
    }
    if (is_whole) return GW_OK;
    fabric_lib.getinfo = NULL;
    return gw_fail(GW_EUNSUPPORTED, "libfabric.so.1 lacks functions that version 1.14 has: install a newer one");
}
