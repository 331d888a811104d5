/* debugger.c -- what a debugger looks for in a rank: where the library that reads message queues lies, and where the queues are.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "proto/proto_fast.h"
#include "tool/tool.h"

#define FOR_DEBUGGERS __attribute__((visibility("default"), used))

extern char MPIR_dll_name[4096]; /* the name is the interface's */
FOR_DEBUGGERS char MPIR_dll_name[4096] = "libgodwit_msgq.so";

FOR_DEBUGGERS const struct tool_debugger godwit_debugger = {
    GODWIT_VERSION, TOOL_LAYOUT, gw_lanes, &gw_nlanes_used, &gw_slots[GW_KIND_COMM], &gw_comm_world, &gw_comm_self,
};

/* It lies beside this library, wherever that has been put; a debugger may ask before MPI_Init. */
__attribute__((constructor)) static void name_it(void)
{
    Dl_info here;
    const char *end = dladdr((void *)&godwit_debugger, &here) && here.dli_fname ? strrchr(here.dli_fname, '/') : NULL;
    if (end) snprintf(MPIR_dll_name, sizeof MPIR_dll_name, "%.*s/libgodwit_msgq.so", (int)(end - here.dli_fname), here.dli_fname);
}
