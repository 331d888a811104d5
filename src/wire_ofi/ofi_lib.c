/* ofi_lib.c -- opens libfabric.
 *
 * Some of its providers install handlers for signals while they are loaded and asked (psm: SIGSEGV and five more).  The program goes on
 * meanwhile where another thread opens libfabric, so a guard looks every millisecond and puts the program's own handlers back, those
 * that it installs meanwhile, too.
 *
 * Some have a cache of registrations, and by libfabric's default learn from replaced functions (munmap, madvise ...) that memory
 * was freed.  While it is opened a variable tells it to ask the kernel, or nobody; what the user has set counts more.  Not where
 * it is opened late, while the program may look for variables of its own: that is not done where there are cards (ofi.c), and
 * without a card nobody has such a cache.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "wire_ofi/ofi_private.h"
#include "wire_ofi/ofi_watch.h"

struct ofi_lib ofi_lib;

enum { SIGNALS = 32 }; /* the real-time ones are nobody's business here */

struct guard {
    struct sigaction of[SIGNALS]; /* the program's */
    int n_objects;                /* that there were before */
    _Atomic bool is_over;
};

/* Objects are counted in the order in which they were loaded. */
struct objects { uintptr_t address; int n, with_address; };

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

static void handlers_look(struct guard *g)
{
    struct sigaction now;
    for (int s = 1; s < SIGNALS; s++) {
        if (sigaction(s, NULL, &now) != 0 || now.sa_handler == g->of[s].sa_handler) continue;
        if (objects_look((uintptr_t)now.sa_handler).with_address >= g->n_objects)
            sigaction(s, &g->of[s], NULL);
        else
            g->of[s] = now;
    }
}

static void *guard_run(void *guard)
{
    enum { EVERY_US = 1000 };
    struct guard *g = guard;
    while (!atomic_load_explicit(&g->is_over, memory_order_acquire)) {
        handlers_look(g);
        usleep(EVERY_US);
    }
    return NULL;
}

static void guard_begin(struct guard *g, pthread_t *thread, bool *has_thread)
{
    memset(g, 0, sizeof *g);
    g->n_objects = objects_look(0).n;
    for (int s = 1; s < SIGNALS; s++) sigaction(s, NULL, &g->of[s]);
    *has_thread = gw_thread_start(thread, guard_run, g) == GW_OK;
}

static void guard_end(struct guard *g, pthread_t thread, bool has_thread)
{
    atomic_store_explicit(&g->is_over, true, memory_order_release);
    if (has_thread) pthread_join(thread, NULL);
    handlers_look(g);
}

static const char monitor_variable[] = "FI_MR_CACHE_MONITOR";

/* False: it has a value of the user's. */
static bool monitor_tell(void)
{
    static const char *const words[] = {[GW_SET_REG_CACHE_MONITOR_USERFAULTFD] = "userfaultfd",
                                        [GW_SET_REG_CACHE_MONITOR_KDREG2] = "kdreg2",
                                        [GW_SET_REG_CACHE_MONITOR_MEMHOOKS] = "memhooks",
                                        [GW_SET_REG_CACHE_MONITOR_DISABLED] = "disabled"};
    int who = gw_set.reg_cache_monitor;
    if (getenv(monitor_variable)) return false;
    if (who == GW_SET_REG_CACHE_MONITOR_AUTO)
        who = ofi_watch_may() == GW_OK ? GW_SET_REG_CACHE_MONITOR_USERFAULTFD : GW_SET_REG_CACHE_MONITOR_DISABLED;
    return setenv(monitor_variable, words[who], 0) == 0;
}

static bool symbols_find(void *so)
{
    *(void **)&ofi_lib.getinfo = dlsym(so, "fi_getinfo");
    *(void **)&ofi_lib.freeinfo = dlsym(so, "fi_freeinfo");
    *(void **)&ofi_lib.dupinfo = dlsym(so, "fi_dupinfo");
    *(void **)&ofi_lib.fabric = dlsym(so, "fi_fabric");
    *(void **)&ofi_lib.strerror = dlsym(so, "fi_strerror");
    *(void **)&ofi_lib.version = dlsym(so, "fi_version");
    return ofi_lib.getinfo && ofi_lib.freeinfo && ofi_lib.dupinfo && ofi_lib.fabric && ofi_lib.strerror &&
           ofi_lib.version;
}

int ofi_lib_open(void)
{
    if (ofi_lib.getinfo) return GW_OK;
    struct guard guard;
    pthread_t thread;
    bool has_thread;
    struct fi_info *any = NULL;
    guard_begin(&guard, &thread, &has_thread);
    bool is_told = !knock_is_on() && monitor_tell();
    void *so = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    bool is_whole = so && symbols_find(so);
    if (is_whole && ofi_lib.getinfo(OFI_API, NULL, NULL, 0, NULL, &any) == 0) ofi_lib.freeinfo(any);
    if (is_told) unsetenv(monitor_variable);
    guard_end(&guard, thread, has_thread);
    if (!so) {
        const char *why = dlerror();
        return gw_fail(
            GW_EUNSUPPORTED,
            "other nodes are reached by libfabric, which cannot be opened (%s): install it (Debian: libfabric1)",
            why ? why : "no reason given");
    }
    if (is_whole) return GW_OK;
    ofi_lib.getinfo = NULL;
    return gw_fail(GW_EUNSUPPORTED, "libfabric.so.1 lacks functions that version 1.14 has: install a newer one");
}
