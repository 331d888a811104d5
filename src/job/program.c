/* program.c -- finds from the file of a program which MPI library it was linked with: programs of other libraries need a
 * server (foreign.c).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/program.h"
#include "base/base.h"
#include "base/os.h"
#include "base/file.h"
#include "base/time.h"
#include "job/child.h"
#include "job/job.h"

const char *const program_doors[] = {"../" GODWIT_LIBDIR "/godwit/doors", "src/door", "fortran", NULL};

enum program_mpi program_mpi_of_library(const char *name)
{
    static const struct {
        const char *begin;
        enum program_mpi is;
    } known[] = {
        {"libmpi_abi.so", PROGRAM_OURS},    {"libmpich.so", PROGRAM_MPICH},       {"libmpi.so.12", PROGRAM_MPICH},
        {"libmpichfort.so", PROGRAM_MPICH}, {"libmpifort.so.12", PROGRAM_MPICH},  {"libmpi.so.40", PROGRAM_OMPI},
        {"libmpi.so.80", PROGRAM_PMIX},     {"libpmix.so", PROGRAM_PMIX},         {"libmpi_mpifh.so", PROGRAM_OMPI},
        {"libmpi_usempi", PROGRAM_OMPI},    {"libmpi_cxx.so", PROGRAM_OMPI},      {"libmpi_java.so", PROGRAM_PMIX},
        {"liboshmem.so", PROGRAM_PMIX},     {"libgodwit_shmem.so", PROGRAM_OURS},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(known); i++)
        if (strncmp(name, known[i].begin, strlen(known[i].begin)) == 0) return known[i].is;
    return PROGRAM_UNKNOWN;
}

/* The offset in the file of an address; UINT64_MAX: it is not in the file. */
static uint64_t offset_of(const ElfW(Phdr) * ph, int n, uint64_t address)
{
    for (int i = 0; i < n; i++)
        if (ph[i].p_type == PT_LOAD && address >= ph[i].p_vaddr && address - ph[i].p_vaddr < ph[i].p_filesz)
            return address - ph[i].p_vaddr + ph[i].p_offset;
    return UINT64_MAX;
}

static bool begins_with(const char *name, const char *const *begins, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

/* Is it a library that neither starts programs nor opens libraries by itself? */
static bool is_harmless(const char *library)
{
    static const char *const all[] = {"libc.", "libm.", "libpthread.", "librt.", "libdl.", "libgcc_s.", "libstdc++.", "ld-linux"};
    return begins_with(library, all, GW_ARRAY_LEN(all));
}

/* Is none of the functions that the program imports able to start a program or open a library? */
static bool names_are_harmless(struct gw_image *im, uint64_t strings, uint64_t bytes)
{
    static const char *const starts[] = {"exec",    "fexec",  "posix_spawn", "system", "popen",
                                         "wordexp", "dlopen", "dlmopen",     "syscall"};
    if (!bytes || !gw_image_part(im, strings, bytes)) return false;
    for (uint64_t at = strings; at < strings + bytes;) {
        const char *name = gw_image_text(im, at);
        if (!name || begins_with(name, starts, GW_ARRAY_LEN(starts))) return false;
        at += strlen(name) + 1;
    }
    return true;
}

/* Of a program that needs both libraries: who asks for more than the door has needs its own. */
static enum program_mpi both(enum program_mpi one, enum program_mpi other)
{
    if (one == PROGRAM_UNKNOWN) return other;
    if (other == PROGRAM_UNKNOWN) return one;
    if (one == PROGRAM_OMPI && other == PROGRAM_PMIX) return other;
    return one;
}

/* *simple_out: it is a program, and needs no more than the C library and such. */
static enum program_mpi mpi_of_image(struct gw_image *im, bool *simple_out)
{
    const ElfW(Ehdr) *eh = gw_image_part(im, 0, sizeof *eh);
    if (!eh || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 ||
        eh->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return PROGRAM_UNKNOWN;
    const ElfW(Phdr) *ph = gw_image_part(im, eh->e_phoff, (uint64_t)eh->e_phnum * sizeof *ph);
    const ElfW(Dyn) *dyn = NULL;
    uint64_t n = 0, strings = UINT64_MAX, bytes = 0;
    enum program_mpi found = PROGRAM_UNKNOWN;
    bool harmless = true;
    for (int i = 0; ph && eh->e_phoff % sizeof(long) == 0 && i < eh->e_phnum && !dyn; i++) {
        if (ph[i].p_type != PT_DYNAMIC || ph[i].p_offset % sizeof(long)) continue;
        n = ph[i].p_filesz / sizeof *dyn;
        dyn = gw_image_part(im, ph[i].p_offset, n * sizeof *dyn);
    }
    if (!dyn) return PROGRAM_UNKNOWN;
    for (uint64_t i = 0; i < n; i++) {
        if (dyn[i].d_tag == DT_STRTAB) strings = offset_of(ph, eh->e_phnum, dyn[i].d_un.d_ptr);
        if (dyn[i].d_tag == DT_STRSZ) bytes = dyn[i].d_un.d_val;
    }
    for (uint64_t i = 0; i < n && dyn[i].d_tag != DT_NULL && strings < im->bytes; i++) {
        const char *name = dyn[i].d_tag == DT_NEEDED ? gw_image_text(im, strings + dyn[i].d_un.d_val) : NULL;
        enum program_mpi is = name ? program_mpi_of_library(name) : PROGRAM_UNKNOWN;
        found = both(found, is);
        harmless = harmless && (dyn[i].d_tag != DT_NEEDED || (name && is_harmless(name)));
    }
    if (found != PROGRAM_UNKNOWN) return found;
    *simple_out = harmless;
    return harmless && names_are_harmless(im, strings, bytes) ? PROGRAM_NONE : PROGRAM_UNKNOWN;
}

bool program_may_run(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *program_find(const char *name, const char *wdir)
{
    if (strchr(name, '/')) return wdir && name[0] != '/' ? gw_xasprintf("%s/%s", wdir, name) : gw_xasprintf("%s", name);
    const char *path = secure_getenv("PATH");
    for (const char *p = path; p && *p;) {
        size_t n = strcspn(p, ":");
        char *file = gw_xasprintf("%.*s/%s", (int)n, p, name);
        if (program_may_run(file)) return file; /* execvp() goes on behind a folder of that name, too */
        free(file);
        p += n + (p[n] == ':');
    }
    return NULL;
}

static enum program_mpi mpi_of_file(const char *file, bool *simple_out)
{
    enum program_mpi is = PROGRAM_UNKNOWN;
    struct gw_image im;
    *simple_out = false;
    if (file && gw_image_open(file, &im)) {
        is = mpi_of_image(&im, simple_out);
        gw_image_close(&im);
    }
    return is;
}

enum program_mpi program_mpi(const char *name, const char *wdir)
{
    bool simple;
    char *file = program_find(name, wdir);
    enum program_mpi is = mpi_of_file(file, &simple);
    free(file);
    return is;
}

enum { FIRST_BYTES = 8192 }; /* what read_script() looks at */

/* Reads the interpreter: "#!/usr/bin/python3 -u" gives "/usr/bin/python3".  Other characters, such as \r, stay in it, and make it invalid. */
static void read_script(struct gw_image *im, struct program_file *f)
{
    size_t at = 2, n = 0;
    while (at < im->bytes && (im->at[at] == ' ' || im->at[at] == '\t')) at++;
    while (at + n < im->bytes && !strchr(" \t\n", im->at[at + n]) && n + 1 < sizeof f->loader) n++;
    f->is = PROGRAM_SCRIPT;
    memcpy(f->loader, im->at + at, n);
    f->loader[n] = 0;
}

static void read_elf(struct gw_image *im, const ElfW(Ehdr) * eh, struct program_file *f)
{
    struct gw_image self;
    char own_path[PATH_MAX];
    f->is = PROGRAM_ELF;
    if (gw_image_open("/proc/self/exe", &self) || (gw_own_program(own_path) && gw_image_open(own_path, &self))) {
        const ElfW(Ehdr) *own = gw_image_part(&self, 0, sizeof *own);
        f->other_machine = own &&
            (own->e_machine != eh->e_machine || own->e_ident[EI_CLASS] != eh->e_ident[EI_CLASS] ||
             own->e_ident[EI_DATA] != eh->e_ident[EI_DATA]);
        gw_image_close(&self);
    }
    const ElfW(Phdr) *ph = f->other_machine ? NULL : gw_image_part(im, eh->e_phoff, (uint64_t)eh->e_phnum * sizeof *ph);
    for (int i = 0; ph && eh->e_phoff % sizeof(long) == 0 && i < eh->e_phnum; i++) {
        const char *loader = ph[i].p_type == PT_INTERP ? gw_image_text(im, ph[i].p_offset) : NULL;
        if (loader) snprintf(f->loader, sizeof f->loader, "%s", loader);
    }
}

void program_read(const char *path, struct program_file *f_out)
{
    struct gw_image im;
    *f_out = (struct program_file){.is = PROGRAM_OTHER};
    if (!gw_image_open(path, &im)) return;
    gw_image_part(&im, 0, gw_min64((int64_t)im.bytes, FIRST_BYTES));
    const ElfW(Ehdr) *eh = gw_image_part(&im, 0, sizeof *eh);
    if (im.bytes > 2 && memcmp(im.at, "#!", 2) == 0)
        read_script(&im, f_out);
    else if (eh && memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0)
        read_elf(&im, eh, f_out);
    else if (!memchr(im.at, 0, im.bytes < 512 ? im.bytes : 512))
        f_out->is = PROGRAM_TEXT;
    gw_image_close(&im);
}

bool program_holds(const char *path, const char *word)
{
    struct gw_image im;
    if (!gw_image_open(path, &im)) return false;
    bool holds = gw_image_part(&im, 0, im.bytes) && memmem(im.at, im.bytes, word, strlen(word)) != NULL;
    gw_image_close(&im);
    return holds;
}

/* ---- what the loader says ------------------------------------------------------------------------------------------------------ */
/* glibc's --list ends at the first library that is missing, its trace names all; musl knows --list alone, and would start the program. */
static void loader_exec(const char *loader, const char *file, const struct words *const env[2], enum program_list what)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; env[i] && k < env[i]->n; k++) putenv(env[i]->at[k]);
    if (strstr(loader, "musl")) execl(loader, loader, "--list", file, (char *)NULL);
    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    if (what == PROGRAM_LIST_LACKING) {
        setenv("LD_WARN", "1", 1);
        setenv("LD_BIND_NOW", "1", 1);
    }
    execl(loader, loader, file, (char *)NULL);
}

char *program_list(const char *loader, const char *file, const struct words *const env[2], enum program_list what)
{
    enum { CAP = 1 << 16, MS = 3000 };
    char *text = gw_xcalloc(1, CAP);
    size_t n = 0;
    int p[2];
    if (pipe2(p, O_CLOEXEC) < 0) return text;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(p[1], 1);
        dup2(p[1], 2);
        loader_exec(loader, file, env, what);
        _exit(EXIT_NOT_FOUND);
    }
    close(p[1]);
    uint64_t end = gw_now_ns() + (uint64_t)MS * 1000000;
    for (ssize_t r = 1; pid > 0 && r > 0 && n + 1 < CAP; n += r > 0 ? (size_t)r : 0) {
        struct pollfd f = {.fd = p[0], .events = POLLIN};
        uint64_t now = gw_now_ns();
        r = now < end && poll(&f, 1, (int)((end - now) / 1000000) + 1) == 1 ? read(p[0], text + n, CAP - 1 - n) : 0;
    }
    close(p[0]);
    if (pid > 0) {
        child_kill(pid, SIGKILL);
        child_reap(pid);
    }
    return text;
}

bool program_is_mpi_name(const char *name)
{
    static const char *const all[] = {"MPI_",  "PMPI_", "MPIX_",   "PMPIX_",   "MPIR_",     "MPII_",
                                      "mpi_",  "pmpi_", "mpix_",   "__mpi_",   "mpipriv",   "mpifcmb",
                                      "OMPI_", "ompi_", "_ZN3MPI", "_ZNK3MPI", "_ZTVN3MPI", "_ZTIN3MPI"};
    return begins_with(name, all, GW_ARRAY_LEN(all));
}

/* "libmpi.so.40 => /usr/lib/libmpi.so.40 (0x7f)", "undefined symbol: MPI_X (./a.out)" */
static enum program_mpi mpi_of_line(const char *line)
{
    char name[256];
    const char *lacks = strstr(line, "undefined symbol:");
    if (sscanf(lacks ? lacks + strlen("undefined symbol:") : line, " %255[^ \t\n]", name) != 1) return PROGRAM_UNKNOWN;
    if (lacks) return program_is_mpi_name(name) ? PROGRAM_PMIX : PROGRAM_UNKNOWN;
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    return strncmp(base, "libpmix", 7) == 0 ? PROGRAM_UNKNOWN : program_mpi_of_library(base); /* others bring that along */
}

/* A door brings our library along, so that says the least. */
static enum program_mpi mpi_of_text(char *text)
{
    enum program_mpi found = PROGRAM_UNKNOWN;
    bool ours = false;
    for (char *rest = text, *line = strtok_r(rest, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        enum program_mpi is = mpi_of_line(line);
        ours = ours || is == PROGRAM_OURS;
        if (is != PROGRAM_OURS) found = both(found, is);
    }
    return found == PROGRAM_UNKNOWN && ours ? PROGRAM_OURS : found;
}

static enum program_mpi mpi_by_list(const char *file, const struct words *env, enum program_list what)
{
    struct program_file f;
    program_read(file, &f);
    if (f.is != PROGRAM_ELF || f.other_machine || !*f.loader) return PROGRAM_UNKNOWN;
    char *text = program_list(f.loader, file, (const struct words *const[]){env, NULL}, what);
    enum program_mpi is = mpi_of_text(text);
    free(text);
    return is;
}

enum program_mpi program_mpi_by_loader(const char *name, const char *wdir, const struct words *env)
{
    bool simple;
    char *file = program_find(name, wdir);
    enum program_mpi is = mpi_of_file(file, &simple);
    if (file && is == PROGRAM_UNKNOWN && !simple) is = mpi_by_list(file, env, PROGRAM_LIST_NAMES);
    if (file && is == PROGRAM_OMPI && mpi_by_list(file, env, PROGRAM_LIST_LACKING) == PROGRAM_PMIX) is = PROGRAM_PMIX;
    free(file);
    return is;
}
