/* program.c -- which MPI library a program was linked with, read from its file: another library's programs need another way
 * in, and those that find none would run as so many jobs of one rank.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/launch.h"

struct image { const char *at; size_t bytes; };

/* `n` bytes at `offset`, or NULL where the file does not hold them. */
static const void *part(const struct image *im, uint64_t offset, uint64_t n)
{
    return offset <= im->bytes && n <= im->bytes - offset ? im->at + offset : NULL;
}

/* A text of the file, or NULL where it does not end in it. */
static const char *text(const struct image *im, uint64_t offset)
{
    return offset < im->bytes && memchr(im->at + offset, 0, im->bytes - offset) ? im->at + offset : NULL;
}

static enum program_mpi mpi_of_library(const char *name)
{
    static const struct { const char *begin; enum program_mpi is; } known[] = {
        {"libmpi.so.40", PROGRAM_PMIX}, {"libmpi.so.80", PROGRAM_PMIX}, {"libpmix.so", PROGRAM_PMIX},
        {"libmpich.so", PROGRAM_MPICH}, {"libmpi.so.12", PROGRAM_MPICH},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(known); i++)
        if (strncmp(name, known[i].begin, strlen(known[i].begin)) == 0) return known[i].is;
    return PROGRAM_UNKNOWN;
}

/* Where in the file the address `address` lies. */
static uint64_t offset_of(const ElfW(Phdr) * ph, int n, uint64_t address)
{
    for (int i = 0; i < n; i++)
        if (ph[i].p_type == PT_LOAD && address >= ph[i].p_vaddr && address - ph[i].p_vaddr < ph[i].p_filesz)
            return address - ph[i].p_vaddr + ph[i].p_offset;
    return UINT64_MAX;
}

static enum program_mpi mpi_of_image(const struct image *im)
{
    const ElfW(Ehdr) *eh = part(im, 0, sizeof *eh);
    if (!eh || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 || eh->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return PROGRAM_UNKNOWN;
    const ElfW(Phdr) *ph = part(im, eh->e_phoff, (uint64_t)eh->e_phnum * sizeof *ph);
    const ElfW(Dyn) *dyn = NULL;
    uint64_t n = 0, strings = UINT64_MAX;
    for (int i = 0; ph && eh->e_phoff % sizeof(long) == 0 && i < eh->e_phnum && !dyn; i++) {
        if (ph[i].p_type != PT_DYNAMIC || ph[i].p_offset % sizeof(long)) continue;
        n = ph[i].p_filesz / sizeof *dyn;
        dyn = part(im, ph[i].p_offset, n * sizeof *dyn);
    }
    if (!dyn) return PROGRAM_UNKNOWN;
    for (uint64_t i = 0; i < n; i++)
        if (dyn[i].d_tag == DT_STRTAB) strings = offset_of(ph, eh->e_phnum, dyn[i].d_un.d_ptr);
    for (uint64_t i = 0; i < n && dyn[i].d_tag != DT_NULL && strings < im->bytes; i++) {
        const char *name = dyn[i].d_tag == DT_NEEDED ? text(im, strings + dyn[i].d_un.d_val) : NULL;
        enum program_mpi is = name ? mpi_of_library(name) : PROGRAM_UNKNOWN;
        if (is != PROGRAM_UNKNOWN) return is;
    }
    return PROGRAM_UNKNOWN;
}

static enum program_mpi mpi_of_file(const char *path)
{
    enum program_mpi is = PROGRAM_UNKNOWN;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return is;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        struct image im = {MAP_FAILED, (size_t)st.st_size};
        im.at = mmap(NULL, im.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (im.at != MAP_FAILED) {
            is = mpi_of_image(&im);
            munmap((void *)im.at, im.bytes);
        }
    }
    close(fd);
    return is;
}

enum program_mpi program_mpi(const char *name, const char *wdir)
{
    if (strchr(name, '/')) {
        char *file = gw_xasprintf("%s/%s", wdir && name[0] != '/' ? wdir : "", name);
        enum program_mpi is = mpi_of_file(wdir && name[0] != '/' ? file : name);
        free(file);
        return is;
    }
    const char *path = getenv("PATH");
    for (const char *p = path; p && *p;) {
        size_t n = strcspn(p, ":");
        char *file = gw_xasprintf("%.*s/%s", (int)n, p, name);
        bool found = access(file, X_OK) == 0;
        enum program_mpi is = found ? mpi_of_file(file) : PROGRAM_UNKNOWN;
        free(file);
        if (found) return is;
        p += n + (p[n] == ':');
    }
    return PROGRAM_UNKNOWN;
}
