/* imports.c -- may sessions begin beside the World Model?  A program that begins some names MPI_Session_init among the symbols which the loader
 * has to find for it or for one of its libraries.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"

#include <link.h>
#include <stdbool.h>
#include <strings.h>

/* What the loader knows of an object.  How many symbols there are stands nowhere; but each that it has to find is in a relocation. */
struct object {
    const ElfW(Sym) * symbols;
    const char *texts;
    struct {
        const ElfW(Rela) * at;
        size_t bytes;
    } data, calls;
};

static struct object object_of(const struct dl_phdr_info *info)
{
    struct object o = {0};
    const ElfW(Dyn) *d = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) d = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; d && d->d_tag != DT_NULL; d++) {
        const void *at = (const void *)(uintptr_t)d->d_un.d_ptr; /* an address in this process, but for the kernel's own object */
        switch (d->d_tag) {
        case DT_SYMTAB: o.symbols = at; break;
        case DT_STRTAB: o.texts = at; break;
        case DT_RELA: o.data.at = at; break;
        case DT_RELASZ: o.data.bytes = d->d_un.d_val; break;
        case DT_JMPREL: o.calls.at = at; break;
        case DT_PLTRELSZ: o.calls.bytes = d->d_un.d_val; break;
        default: break;
        }
    }
    if ((uintptr_t)o.symbols < info->dlpi_addr) o.symbols = NULL;
    return o;
}

/* C's name, its profiling name, and those of the Fortran interfaces. */
static bool begins_sessions(const char *name)
{
    static const char word[] = "mpi_session_init";
    for (int skip = 0; skip <= 1; skip++) /* PMPI_ */
        if (strncasecmp(name + skip, word, sizeof word - 1) == 0) return true;
    return false;
}

static bool names_sessions(const struct object *o, const ElfW(Rela) * at, size_t bytes)
{
    for (size_t i = 0; at && i < bytes / sizeof *at; i++) {
        const ElfW(Sym) *symbol = &o->symbols[ELF64_R_SYM(at[i].r_info)];
        if (ELF64_R_SYM(at[i].r_info) && symbol->st_shndx == SHN_UNDEF && begins_sessions(o->texts + symbol->st_name)) return true;
    }
    return false;
}

static bool imports_sessions(const struct dl_phdr_info *info)
{
    struct object o = object_of(info);
    return o.symbols && o.texts && (names_sessions(&o, o.calls.at, o.calls.bytes) || names_sessions(&o, o.data.at, o.data.bytes));
}

/* Our own libraries of Fortran, of the doors and of the tools have every function of MPI among their symbols. */
static bool is_ours(const struct dl_phdr_info *info)
{
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    return strncmp(name, "libmpi", 6) == 0 || strncmp(name, "libgodwit_", 10) == 0;
}

static int look(struct dl_phdr_info *info, size_t bytes, void *found)
{
    (void)bytes;
    *(bool *)found = !is_ours(info) && imports_sessions(info);
    return *(bool *)found;
}

GW_ONCE bool mpi_imports_sessions(void)
{
    bool is_found = false;
    dl_iterate_phdr(look, &is_found); /* under the loader's lock: another thread may open or close a library */
    return is_found;
}
