/* program_test.c -- which MPI library a file was linked with: right answers, and none from files that are damaged or no programs.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/program.h"
#include "base/base.h"
#include "unit.h"

enum { LOADER_AT = 512, NAMES_AT = 1024, DYN_AT = 2048, BASE = 0x400000 };
static char image[4096];
static char path[64]; /* of a file in memory */
static int file;

static const char *symbols = "\0"; /* that it takes from them */

/* The least of a program that needs the libraries of `names` ("a\0b\0\0"). */
static size_t make(const char *names)
{
    memset(image, 0, sizeof image);
    ElfW(Ehdr) *eh = (void *)image;
    ElfW(Phdr) *ph = (void *)(image + sizeof *eh);
    ElfW(Dyn) *dyn = (void *)(image + DYN_AT);
    memcpy(eh->e_ident, ELFMAG, SELFMAG);
    eh->e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    eh->e_phoff = sizeof *eh;
    eh->e_phnum = 2;
    ph[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_offset = 0, .p_vaddr = BASE, .p_filesz = sizeof image};
    ph[1] = (ElfW(Phdr)){.p_type = PT_DYNAMIC, .p_offset = DYN_AT};
    int n = 0;
    size_t at = 1;
    for (; *names; n++) {
        dyn[n].d_tag = DT_NEEDED;
        dyn[n].d_un.d_val = at;
        memcpy(image + NAMES_AT + at, names, strlen(names) + 1);
        at += strlen(names) + 1;
        names += strlen(names) + 1;
    }
    for (const char *s = symbols; *s; s += strlen(s) + 1) {
        memcpy(image + NAMES_AT + at, s, strlen(s) + 1);
        at += strlen(s) + 1;
    }
    dyn[n].d_tag = DT_STRTAB;
    dyn[n++].d_un.d_ptr = BASE + NAMES_AT;
    dyn[n].d_tag = DT_STRSZ;
    dyn[n].d_un.d_val = at;
    ph[1].p_filesz = (size_t)(n + 2) * sizeof *dyn;
    return DYN_AT + ph[1].p_filesz;
}

static enum program_mpi mpi_of(const void *data, size_t n)
{
    CHECK(ftruncate(file, 0) == 0 && pwrite(file, data, n, 0) == (ssize_t)n);
    return program_mpi(path, NULL);
}

static void answers(void)
{
    static const struct {
        const char *names;
        enum program_mpi is;
    } want[] = {
        {"libmpi.so.40\0libc.so.6\0", PROGRAM_OMPI},
        {"libm.so.6\0libmpi.so.40\0", PROGRAM_OMPI},
        {"libmpi.so.40\0libmpi_mpifh.so.40\0libc.so.6\0", PROGRAM_OMPI},
        {"libmpi_usempif08.so.40\0libmpi_usempi_ignore_tkr.so.40\0", PROGRAM_OMPI},
        {"libmpi_mpifh.so.40\0libmpi_cxx.so.40\0libmpi.so.40\0", PROGRAM_OMPI},
        {"libmpi.so.40\0libmpi_cxx.so.40\0liboshmem.so.40\0", PROGRAM_PMIX},
        {"libmpi_cxx.so.40\0libmpi.so.40\0libc.so.6\0", PROGRAM_OMPI},
        {"libmpi.so.80\0", PROGRAM_PMIX},
        {"libpmix.so.2\0", PROGRAM_PMIX},
        {"libmpich.so.12\0", PROGRAM_MPICH},
        {"libmpi.so.12\0", PROGRAM_MPICH},
        {"libmpichfort.so.12\0libc.so.6\0", PROGRAM_MPICH},
        {"libgfortran.so.5\0libmpifort.so.12\0", PROGRAM_MPICH},
        {"libmpi_abi.so.1\0libc.so.6\0", PROGRAM_OURS},
        {"libgodwit_shmem.so.1\0libc.so.6\0", PROGRAM_OURS},
        {"libm.so.6\0libmpi_abi.so.0\0", PROGRAM_OURS},
        {"libc.so.6\0", PROGRAM_NONE},
        {"\0", PROGRAM_NONE},
        {"libc.so.6\0libstdc++.so.6\0libm.so.6\0", PROGRAM_NONE},
        {"libc.so.6\0libx.so.1\0", PROGRAM_UNKNOWN},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(want); i++) {
        size_t n = make(want[i].names);
        CHECK(mpi_of(image, n) == want[i].is);
    }
    static const struct {
        const char *symbols;
        enum program_mpi is;
    } take[] = {
        {"write\0myexec\0ecosystem\0", PROGRAM_NONE}, {"write\0execvp\0", PROGRAM_UNKNOWN}, {"dlopen\0", PROGRAM_UNKNOWN},
        {"posix_spawnp\0exit\0", PROGRAM_UNKNOWN},    {"syscall\0", PROGRAM_UNKNOWN},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(take); i++) {
        symbols = take[i].symbols;
        size_t n = make("libc.so.6\0");
        CHECK(mpi_of(image, n) == take[i].is);
    }
    symbols = "\0";
    size_t n = make("libmpi.so.40\0");
    CHECK(mpi_of(image, n) == PROGRAM_OMPI);
    char *dir = strdup(path), *slash = strrchr(dir, '/');
    *slash = 0;
    char *relative = gw_xasprintf("./%s", slash + 1);
    CHECK(program_mpi(relative, dir) == PROGRAM_OMPI);
    CHECK(program_mpi(relative, "/") == PROGRAM_UNKNOWN);
    setenv("PATH", dir, 1);
    CHECK(program_mpi(slash + 1, NULL) == PROGRAM_OMPI);
    setenv("PATH", "/nowhere::", 1);
    CHECK(program_mpi(slash + 1, NULL) == PROGRAM_UNKNOWN);
    free(relative);
    free(dir);
    CHECK(mpi_of("#!/bin/sh\n", 10) == PROGRAM_UNKNOWN);
    CHECK(mpi_of("", 0) == PROGRAM_UNKNOWN);
    CHECK(program_mpi("/", NULL) == PROGRAM_UNKNOWN);
    CHECK(program_mpi("/gw-no-such-file", NULL) == PROGRAM_UNKNOWN);
}

/* Cut short anywhere, and with any byte changed: an answer, whichever. */
static void damage(void)
{
    size_t n = make("libc.so.6\0libmpi.so.40\0");
    for (size_t cut = 0; cut < n; cut += cut < 300 || cut > DYN_AT ? 1 : 61) mpi_of(image, cut);
    for (size_t at = 0; at < n; at += at == 300 ? DYN_AT - 300 : 1) {
        char kept = image[at];
        static const unsigned char bad[] = {0xff, 0x80, 0x7f, 1, 0};
        for (size_t b = 0; b < sizeof bad; b++) {
            image[at] = (char)bad[b];
            mpi_of(image, n);
        }
        image[at] = kept;
    }
}

static ElfW(Half) own_machine(void)
{
    ElfW(Ehdr) own = {.e_machine = EM_NONE};
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CHECK(pread(self, &own, sizeof own, 0) == (ssize_t)sizeof own);
    close(self);
    return own.e_machine;
}

/* A loader in the shape of a script: program_list() starts it with the program's name. */
static void by_loader(void)
{
    static const struct {
        const char *names, *says;
        enum program_mpi is;
    } want[] = {
        {"libx.so.1\0",
         "libx.so.1 => /lib/libx.so.1 (0x1)\n\tlibmpi.so.40 => /doors/libmpi.so.40 (0x2)\n\tlibmpi_abi.so.1 => /l (0x3)",
         PROGRAM_OMPI},
        {"libx.so.1\0", "libmpich.so.12 => not found", PROGRAM_MPICH},
        {"libx.so.1\0", "libmpi_abi.so.1 => /lib/libmpi_abi.so.1 (0x3)", PROGRAM_OURS},
        {"libx.so.1\0", "libx.so.1 => /lib/libx.so.1 (0x1)", PROGRAM_UNKNOWN},
        {"libx.so.1\0", "libpmix.so.2 => /lib/libpmix.so.2 (0x1)", PROGRAM_UNKNOWN},
        {"libx.so.1\0", "libmpi.so.40 => /doors/libmpi.so.40 (0x2)\nlibpmix.so.2 => /lib/libpmix.so.2 (0x1)", PROGRAM_OMPI},
        {"libx.so.1\0", "libmpi.so.40 => /doors/libmpi.so.40 (0x2)\nliboshmem.so.40 => /lib/liboshmem.so.40 (0x1)", PROGRAM_PMIX},
        {"libc.so.6\0", "libmpi.so.40 => /doors/libmpi.so.40 (0x2)", PROGRAM_NONE}, /* nobody is asked */
        {"libmpi.so.40\0", "libmpi.so.40 => /doors/libmpi.so.40 (0x1)", PROGRAM_OMPI},
        {"libmpi.so.40\0", "undefined symbol: ompi_info_register_types\t(./a.out)", PROGRAM_PMIX},
        {"libmpi_cxx.so.40\0", "libmpi_cxx.so.40 => /doors/libmpi_cxx.so.40 (0x1)", PROGRAM_OMPI},
        {"libmpi_cxx.so.40\0", "undefined symbol: other\t(./a.out)", PROGRAM_OMPI},
        {"libmpi_cxx.so.40\0", "undefined symbol: compile_and_run\t(./a.out)", PROGRAM_OMPI},
        {"libmpi_cxx.so.40\0", "undefined symbol: _ZN3MPI10COMM_WORLDE\t(./a.out)", PROGRAM_PMIX},
    };
    const struct words none = {NULL, 0};
    for (size_t i = 0; i < GW_ARRAY_LEN(want); i++) {
        char loader[] = "/tmp/gw_musl_XXXXXX"; /* musl: called with --list, so that sh runs */
        int fd = mkstemp(loader);
        CHECK(fd >= 0 && dprintf(fd, "#!/bin/sh\nprintf '\\t%%s\\n' '%s'\n", want[i].says) > 0 && fchmod(fd, 0700) == 0);
        close(fd);
        make(want[i].names);
        ElfW(Ehdr) *eh = (void *)image;
        ElfW(Phdr) *ph = (void *)(image + sizeof *eh);
        eh->e_phnum = 3;
        eh->e_machine = own_machine();
        eh->e_ident[EI_DATA] = ELFDATA2LSB;
        ph[2] = (ElfW(Phdr)){.p_type = PT_INTERP, .p_offset = LOADER_AT, .p_filesz = sizeof loader};
        memcpy(image + LOADER_AT, loader, sizeof loader);
        CHECK(ftruncate(file, 0) == 0 && pwrite(file, image, sizeof image, 0) == (ssize_t)sizeof image);
        CHECK(program_mpi_by_loader(path, NULL, &none) == want[i].is);
        unlink(loader);
    }
}

enum { FOLDER = 32 };
static void folder_make(char at[FOLDER])
{
    snprintf(at, FOLDER, "/tmp/gw_program_XXXXXX");
    CHECK(mkdtemp(at) != NULL);
}

/* A folder has the right to be searched, which looks like that to be executed; behind it there may be the program. */
static void folder_is_no_program(void)
{
    char dir[FOLDER], first[64], second[64], folder[80], program[80], *found;
    folder_make(dir);
    snprintf(first, sizeof first, "%s/a", dir);
    snprintf(second, sizeof second, "%s/b", dir);
    snprintf(folder, sizeof folder, "%s/gw-prog", first);
    snprintf(program, sizeof program, "%s/gw-prog", second);
    CHECK(mkdir(first, 0700) == 0 && mkdir(second, 0700) == 0 && mkdir(folder, 0700) == 0);
    char *was = gw_xasprintf("%s", getenv("PATH")), *both = gw_xasprintf("%s:%s", first, second);
    setenv("PATH", both, 1);
    CHECK(program_find("gw-prog", NULL) == NULL && program_find(".", NULL) == NULL);
    int fd = open(program, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
    found = program_find("gw-prog", NULL);
    CHECK(fd >= 0 && found && strcmp(found, program) == 0 && program_may_run(program) && !program_may_run(folder));
    CHECK(fchmod(fd, 0600) == 0 && !program_may_run(program) && !program_may_run(dir));
    free(found);
    close(fd);
    setenv("PATH", was, 1);
    free(was);
    free(both);
    CHECK(unlink(program) == 0 && rmdir(folder) == 0 && rmdir(first) == 0 && rmdir(second) == 0 && rmdir(dir) == 0);
}

/* A pipe that is an argument of the program is not opened: its writer would take that for the reader. */
static void pipe_is_left_alone(void)
{
    char dir[FOLDER], pipe[64], event[256];
    folder_make(dir);
    snprintf(pipe, sizeof pipe, "%s/pipe", dir);
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    CHECK(watch >= 0 && mkfifo(pipe, 0600) == 0 && inotify_add_watch(watch, pipe, IN_OPEN) >= 0);
    CHECK(program_mpi(pipe, NULL) == PROGRAM_UNKNOWN);
    CHECK(read(watch, event, sizeof event) < 0);
    close(watch);
    unlink(pipe);
    rmdir(dir);
}

int main(void)
{
    file = memfd_create("program", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    answers();
    damage();
    by_loader();
    folder_is_no_program();
    pipe_is_left_alone();
    return unit_end();
}
