/* info_program.c -- `godwit-info FILE`: which MPI library a program or library was built with, and what this installation does for it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "info_program.h"
#include "base/file.h"
#include "base/os.h"
#include "base/plain.h"
#include "job/program.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STANDARD = 0, SHMEM, OPEN_MPI = 6 }; /* rows of it that are special: the first ones of their kind */
/* What stands for each library here: a door; for that of the standard ABI, and ours, the library itself. */
static const struct family {
    const char *begin, *built_with, *door; /* door NULL: our library */
} families[] = {
    [STANDARD] = {"libmpi_abi.so", "the standard ABI", NULL},
    [SHMEM] = {"libgodwit_shmem.so", "Godwit's OpenSHMEM", NULL},
    {"libmpichfort.so.12", "MPICH, in Fortran", "libmpichfort.so.12"},
    {"libmpifort.so.12", "MPICH, in Fortran", "libmpichfort.so.12"},
    {"libmpich.so.12", "MPICH", "libmpich.so.12"},
    {"libmpi.so.12", "MPICH", "libmpich.so.12"},
    [OPEN_MPI] = {"libmpi_cxx.so.40", "Open MPI, in C++", "libmpi_cxx.so.40"},
    {"libmpi_mpifh.so.40", "Open MPI, in Fortran", "libmpi_mpifh.so.40"},
    {"libmpi_usempi", "Open MPI, in Fortran", "libmpi_mpifh.so.40"},
    {"libmpi.so.40", "Open MPI", "libmpi.so.40"},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

struct file {
    struct gw_image image;
    bool needs[FAMILIES];
    const ElfW(Sym) * symbols;
    size_t n_symbols;
    const char *names;
    size_t names_bytes;
};

static const void *part(struct file *f, uint64_t offset, uint64_t n) { return gw_image_part(&f->image, offset, n); }

/* A text in the names of the dynamic symbols, "" where there is none. */
static const char *name_at(const struct file *f, uint64_t offset)
{
    return offset < f->names_bytes && memchr(f->names + offset, 0, f->names_bytes - offset) ? f->names + offset : "";
}

/* The sections of the dynamic linker: libraries and symbols.  False: no such file. */
static bool file_read(struct file *f)
{
    const ElfW(Ehdr) *eh = part(f, 0, sizeof *eh);
    if (!eh || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 || eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_shoff % 8) return false;
    const ElfW(Shdr) *sh = part(f, eh->e_shoff, (uint64_t)eh->e_shnum * sizeof *sh), *dynamic = NULL;
    for (int i = 0; sh && i < eh->e_shnum; i++) {
        if (sh[i].sh_type == SHT_DYNAMIC) dynamic = &sh[i];
        if (sh[i].sh_type != SHT_DYNSYM || sh[i].sh_offset % 8 || sh[i].sh_link >= eh->e_shnum) continue;
        const ElfW(Shdr) *names = &sh[sh[i].sh_link];
        f->symbols = part(f, sh[i].sh_offset, sh[i].sh_size);
        f->n_symbols = f->symbols ? sh[i].sh_size / sizeof *f->symbols : 0;
        f->names = part(f, names->sh_offset, names->sh_size);
        f->names_bytes = f->names ? names->sh_size : 0;
    }
    const ElfW(Dyn) *d = dynamic && dynamic->sh_offset % 8 == 0 ? part(f, dynamic->sh_offset, dynamic->sh_size) : NULL;
    for (size_t i = 0; d && i < dynamic->sh_size / sizeof *d && d[i].d_tag != DT_NULL; i++)
        for (int k = 0; d[i].d_tag == DT_NEEDED && k < FAMILIES; k++)
            if (strncmp(name_at(f, d[i].d_un.d_val), families[k].begin, strlen(families[k].begin)) == 0) f->needs[k] = true;
    return d && f->symbols;
}

/* The file of this door; false: there is none. */
static bool door_find(const char *library, char path[PATH_MAX + 64])
{
    char *here = gw_own_folder();
    bool is_there = false;
    for (int i = 0; here && program_doors[i] && !is_there; i++) {
        snprintf(path, PATH_MAX + 64, "%s/%s/%s", here, program_doors[i], library);
        is_there = access(path, F_OK) == 0;
    }
    free(here);
    return is_there;
}

static bool have(void *const doors[], const char *name)
{
    for (int i = 0; i < FAMILIES; i++)
        if (doors[i] && dlsym(doors[i], name)) return true;
    return false;
}

/* A variable of MPI:: (MPI::COMM_WORLD) that the linker has put into the program is there, but the loader looks for it. */
static bool is_asked_for(const ElfW(Sym) * s, const char *name)
{
    bool is_variable = ELF64_ST_TYPE(s->st_info) == STT_OBJECT && strncmp(name, "_ZN3MPI", 7) == 0;
    return program_is_mpi_name(name) && (s->st_shndx == SHN_UNDEF || is_variable);
}

/* What the file asks of MPI, in the doors of all libraries that it names. */
static int report_names(const struct file *f, void *const doors[], bool is_open_mpi)
{
    int wanted = 0, lacking = 0;
    for (size_t i = 0; i < f->n_symbols; i++) {
        const char *name = name_at(f, f->symbols[i].st_name);
        if (!is_asked_for(&f->symbols[i], name)) continue;
        if (!is_open_mpi && strncmp(name, "_Z", 2) == 0) continue; /* MPICH's library for C++ has them, a client of the door */
        wanted++;
        if (have(doors, name)) continue;
        if (!lacking++)
            gw_print(stdout, "%s, as Godwit lacks\n", is_open_mpi ? "but this one runs on its own library" : "it will not start");
        gw_print(stdout, "  %s\n", name);
    }
    if (!lacking) printf("all %d MPI names that it asks for are there\n", wanted);
    return lacking > 0;
}

static int report_door(const struct file *f, const char *path, int family)
{
    char where[FAMILIES][PATH_MAX + 64];
    void *doors[FAMILIES] = {NULL};
    int rc = 1;
    for (int i = family; i < FAMILIES; i++)
        if (f->needs[i] && door_find(families[i].door, where[i])) doors[i] = dlopen(where[i], RTLD_NOW | RTLD_LOCAL);
    if (family == OPEN_MPI && !door_find(families[family].door, where[family])) {
        gw_print(
            stdout,
            "%s was built with %s: it runs on its own library, as this Godwit was built without the door %s (no C++ compiler)\n",
            path, families[family].built_with, families[family].door);
    } else if (doors[family]) {
        gw_print(stdout, "%s was built with %s: mpiexec runs it on Godwit through %s (GODWIT_DOORS=off: on its own library)\n",
                 path, families[family].built_with, where[family]);
        rc = report_names(f, doors, family >= OPEN_MPI);
    } else {
        gw_print(stderr, "godwit-info: the door %s is not in this installation, or does not load; install Godwit again\n",
                 families[family].door);
    }
    for (int i = 0; i < FAMILIES; i++)
        if (doors[i]) dlclose(doors[i]);
    return rc;
}

int info_program(const char *path)
{
    struct file f = {0};
    if (!gw_image_open(path, &f.image)) {
        gw_print(stderr, "godwit-info: cannot read %s\n", path);
        return 1;
    }
    if (!file_read(&f)) {
        gw_print(stdout, "%s is no program of this machine (a script?): the libraries of what it starts decide\n", path);
        return 0;
    }
    for (int i = 0; i < FAMILIES; i++) {
        if (!f.needs[i]) continue;
        if (!families[i].door) {
            gw_print(stdout, "%s was built for %s: it runs on Godwit as it is\n", path, families[i].built_with);
            return 0;
        }
        return report_door(&f, path, i);
    }
    gw_print(stdout, "%s names no MPI library: those that it loads or starts decide\n", path);
    return 0;
}
