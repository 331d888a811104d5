/* ofi_lib.c -- opens libfabric.
 *
 * Some of its providers install handlers for signals while they are loaded and asked (psm: SIGSEGV and five more): the program's own
 * are put back.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <signal.h>

#include "wire_ofi/ofi_private.h"

struct ofi_lib ofi_lib;

enum { SIGNALS = 32 }; /* the real-time ones are nobody's business here */

static void handlers_save(struct sigaction *to)
{
    for (int s = 1; s < SIGNALS; s++) sigaction(s, NULL, &to[s]);
}

static void handlers_restore(const struct sigaction *from)
{
    for (int s = 1; s < SIGNALS; s++)
        if (s != SIGKILL && s != SIGSTOP) sigaction(s, &from[s], NULL);
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
    struct sigaction handlers[SIGNALS];
    struct fi_info *any = NULL;
    handlers_save(handlers);
    void *so = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    bool is_whole = so && symbols_find(so);
    if (is_whole && ofi_lib.getinfo(OFI_API, NULL, NULL, 0, NULL, &any) == 0) ofi_lib.freeinfo(any);
    handlers_restore(handlers);
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
