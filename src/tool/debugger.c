/* debugger.c -- variables for debuggers: the path of the library that reads message queues, and where the queues are.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/proto_fast.h"
#include "tool/tool.h"

#define FOR_DEBUGGERS __attribute__((visibility("default"), used))

extern char MPIR_dll_name[4096]; /* the interface defines this name */
FOR_DEBUGGERS char MPIR_dll_name[4096] = "libgodwit_msgq.so";

FOR_DEBUGGERS const struct tool_debugger godwit_debugger = {
    GODWIT_VERSION, TOOL_LAYOUT, gw_lanes, &gw_nlanes_used, &gw_slots[GW_KIND_COMM], &gw_comm_world, &gw_comm_self,
};

static int name_beside(struct dl_phdr_info *object, size_t size, void *out)
{
    uintptr_t at = (uintptr_t)&godwit_debugger;
    bool is_here = false;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum && !is_here; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        is_here = part->p_type == PT_LOAD && at - (object->dlpi_addr + part->p_vaddr) < part->p_memsz;
    }
    const char *end = is_here ? strrchr(object->dlpi_name, '/') : NULL;
    if (end) snprintf(out, sizeof MPIR_dll_name, "%.*s/libgodwit_msgq.so", (int)(end - object->dlpi_name), object->dlpi_name);
    return is_here;
}

/* The debugger library lies beside this library; its path is set before main(), because a debugger may read it before MPI_Init.  dladdr()
 * would search all symbols of this library in each process. */
__attribute__((constructor)) static void name_it(void) { dl_iterate_phdr(name_beside, MPIR_dll_name); }
