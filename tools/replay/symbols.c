/* symbols.c -- which functions the program, and the libraries that are loaded, refer to: by their relocations, which name a symbol each.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <elf.h>
#include <link.h>
#include <string.h>

struct tables {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * data, *calls;
    size_t data_bytes, calls_bytes;
    bool is_other; /* relocations of another form */
};

/* The loader has added the base, but not in objects whose dynamic section cannot be written. */
static const void *at(const struct dl_phdr_info *o, ElfW(Addr) p)
{
    return (const void *)(p < o->dlpi_addr ? p + o->dlpi_addr : p);
}

static struct tables tables_of(const struct dl_phdr_info *o)
{
    struct tables t = {0};
    for (int i = 0; i < o->dlpi_phnum; i++) {
        if (o->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        for (const ElfW(Dyn) *d = (const void *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr); d->d_tag != DT_NULL; d++) {
            if (d->d_tag == DT_SYMTAB) t.symbols = at(o, d->d_un.d_ptr);
            if (d->d_tag == DT_STRTAB) t.names = at(o, d->d_un.d_ptr);
            if (d->d_tag == DT_RELA) t.data = at(o, d->d_un.d_ptr);
            if (d->d_tag == DT_RELASZ) t.data_bytes = d->d_un.d_val;
            if (d->d_tag == DT_JMPREL) t.calls = at(o, d->d_un.d_ptr);
            if (d->d_tag == DT_PLTRELSZ) t.calls_bytes = d->d_un.d_val;
            if (d->d_tag == DT_REL || (d->d_tag == DT_PLTREL && d->d_un.d_val != DT_RELA)) t.is_other = true;
        }
    }
    return t;
}

static bool is_among(const struct tables *t, const ElfW(Rela) * r, size_t bytes, const char *name)
{
    for (size_t i = 0; r && i < bytes / sizeof *r; i++) {
        const size_t symbol = sizeof(void *) == 8 ? r[i].r_info >> 32 : r[i].r_info >> 8;
        if (symbol && t->symbols[symbol].st_shndx == SHN_UNDEF && strcmp(t->names + t->symbols[symbol].st_name, name) == 0)
            return true;
    }
    return false;
}

static int refers(struct dl_phdr_info *o, size_t size, void *name)
{
    const struct tables t = tables_of(o);
    (void)size;
    if (!t.symbols || !t.names) return 0;
    return t.is_other || is_among(&t, t.data, t.data_bytes, name) || is_among(&t, t.calls, t.calls_bytes, name);
}

bool replay_is_called(const char *name) { return dl_iterate_phdr(refers, (void *)(uintptr_t)name) != 0; }
