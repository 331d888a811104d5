/* doctor_program.c -- mpiexec doctor: which MPI libraries are installed, and which one the program would load.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "base/settings.h"
#include "job/child.h"
#include "job/program.h"
#include "job/say.h"
#include "job/words.h"

/* A library that contains this name joins jobs of this mpiexec. */
#define MARK "GODWIT_BOOT"

/* Which MPI a library's file name belongs to: "Open MPI", "MPICH", "standard ABI"; NULL: none. */
static const char *mpi_of_library_name(const char *name)
{
    static const struct {
        const char *begin, *is;
    } known[] = {
        {"libmpi_abi.so", "standard ABI"}, {"libmpich", "MPICH"},          {"libmpi.so.12", "MPICH"},
        {"libmpicxx.so.12", "MPICH"},      {"libmpifort.so.12", "MPICH"},  {"libmpi_cray", "Cray MPICH"},
        {"libmpi_gnu", "Cray MPICH"},      {"libmpi_intel", "Cray MPICH"}, {"libmpi_nvidia", "Cray MPICH"},
        {"libmpi_amd", "Cray MPICH"},      {"libmpi.so.", "Open MPI"},     {"libmpi_cxx.so", "Open MPI"},
        {"libmpi_mpifh.so", "Open MPI"},   {"libmpi_usempi", "Open MPI"},  {"liboshmem.so", "Open MPI"},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(known); i++)
        if (strncmp(name, known[i].begin, strlen(known[i].begin)) == 0) return known[i].is;
    return NULL;
}

/* ---- this installation ------------------------------------------------------------------------------------------------------ */
void doctor_check_godwit(const struct machine *m, struct answer *a)
{
    struct utsname u;
    doctor_answer_add(a, "%s, %s/mpiexec", GODWIT_VERSION, m->own_bin);
    if (uname(&u) == 0) doctor_answer_add(a, ", %s %s %s", u.sysname, u.release, u.machine);
}

/* The folder of the library of this installation; the caller frees it.  NULL: it is not where it should be. */
static char *own_library_folder(const struct machine *m)
{
    static const char *const folders[] = {"", "/../lib", "/../lib64", "/../lib/x86_64-linux-gnu", "/../lib/aarch64-linux-gnu"};
    for (size_t i = 0; i < GW_ARRAY_LEN(folders); i++)
        if (doctor_root_there(m, "%s%s/libmpi_abi.so.1", m->own_bin, folders[i]))
            return gw_xasprintf("%s%s", m->own_bin, folders[i]);
    return NULL;
}

void doctor_check_library(const struct machine *m, struct answer *a)
{
    char *folder = own_library_folder(m);
    if (folder) {
        doctor_answer_add(a, "%s/libmpi_abi.so.1", folder);
    } else {
        doctor_answer_add(a, "libmpi_abi.so.1 does not lie beside this mpiexec");
        doctor_answer_raise(a, FINDING_NOTE, "use the mpiexec of the installation that mpicc belongs to");
    }
    free(folder);
}

void doctor_check_settings(const struct machine *m, struct answer *a)
{
    struct gw_setting_info row;
    char value[256];
    const char *origin;
    char tuned[1024];
    (void)m;
    gw_settings_load();
    for (int i = 0; i < gw_settings_count(); i++) {
        gw_settings_get(i, &row, value, sizeof value, &origin);
        bool is_default = strcmp(origin, "default") == 0 || strcmp(row.name, "tune") == 0; /* that is told below */
        if (!is_default) doctor_answer_add(a, "%s%s=%s", *a->value ? ", " : "", row.env, value);
    }
    bool is_tuned = gw_tuned_text(tuned, sizeof tuned);
    if (is_tuned) doctor_answer_add(a, "%stuning file: %s", *a->value ? "; " : "", tuned);
    if (is_tuned && gw_set.tune && access(gw_set.tune, R_OK) != 0)
        doctor_answer_raise(a, FINDING_NOTE, "name a file of godwit-tune that can be read, or unset GODWIT_TUNE");
    int wrong = gw_settings_complaints(value, sizeof value);
    if (!*a->value) doctor_answer_add(a, wrong ? "those that are right: all at their defaults" : "all at their defaults");
    if (wrong) doctor_answer_add(a, "; %d warning%s", wrong, wrong == 1 ? "" : "s, the first is shown");
    if (wrong) doctor_answer_raise(a, FINDING_NOTE, "%s", value);
}

/* What the library makes of the lines of the tuning file, it alone knows: `godwit-info --tuning` says of each that is left out "line
 * N is left out: WHY".  Nothing where all count. */
void doctor_check_tuning(const struct machine *m, struct answer *a)
{
    static const char left_out[] = " is left out: ";
    gw_settings_load();
    if (!gw_set.tune || !*gw_set.tune) return;
    char *info = gw_xasprintf("%s%s/godwit-info", m->root, m->own_bin), text[8192] = "";
    int wrong = 0;
    if (access(info, X_OK) == 0) child_output(info, (const char *[]){info, "--tuning", NULL}, text, sizeof text);
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = 0;
        if (strncmp(line, "line ", 5) != 0 || !strstr(line, left_out)) continue;
        if (wrong++ == 0) doctor_answer_add(a, "%s", gw_set.tune);
        doctor_answer_add(a, "%s %s", wrong == 1 ? "," : ";", line);
    }
    if (wrong)
        doctor_answer_raise(a, FINDING_NOTE, "correct %s or take %s out, or measure again: godwit-tune",
                            wrong == 1 ? "that line" : "those lines", wrong == 1 ? "it" : "them");
    free(info);
}

/* ---- what else is about ----------------------------------------------------------------------------------------------------- */
/* The MPI library that a command belongs to, from the target of its links. */
static const char *mpi_of_command(const char *file)
{
    static const struct {
        const char *part, *is;
    } known[] = {
        {"openmpi", "Open MPI"}, {"opal_wrapper", "Open MPI"}, {"orterun", "Open MPI"}, {"prte", "Open MPI"},
        {"ompi", "Open MPI"},    {"mvapich", "MVAPICH"},       {"mpich", "MPICH"},      {"hydra", "MPICH"},
        {"oneapi", "Intel MPI"}, {"intel", "Intel MPI"},
    };
    char path[PATH_MAX];
    if (program_holds(file, MARK)) return "another Godwit";
    if (!realpath(file, path)) return "unknown";
    for (size_t i = 0; i < GW_ARRAY_LEN(known); i++)
        if (strstr(path, known[i].part)) return known[i].is;
    return "unknown";
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The command found by PATH, below the root; the caller frees it.  NULL: none. */
static char *command_find(const struct machine *m, const char *name)
{
    for (const char *p = m->path; p && *p;) {
        size_t n = strcspn(p, ":");
        char *file = gw_xasprintf("%s%.*s/%s", m->root, (int)n, p, name);
        if (access(file, X_OK) == 0) return file;
        free(file);
        p += n + (p[n] == ':');
    }
    return NULL;
}

void doctor_check_path(const struct machine *m, struct answer *a)
{
    static const char *const names[] = {"mpiexec", "mpirun", "mpicc"};
    for (size_t i = 0; i < GW_ARRAY_LEN(names); i++) {
        char *found = command_find(m, names[i]), *own = gw_xasprintf("%s%s/%s", m->root, m->own_bin, names[i]);
        bool is_own = found && same_file(found, own);
        const char *sep = *a->value ? "; " : "";
        if (!found) {
            doctor_answer_add(a, "%sno %s", sep, names[i]);
        } else if (is_own) {
            doctor_answer_add(a, "%s%s is this one", sep, names[i]);
        } else {
            doctor_answer_add(a, "%s%s is %s (%s)", sep, names[i], found + strlen(m->root), mpi_of_command(found));
            doctor_answer_raise(a, FINDING_NOTE, "programs are to be compiled and started with one library: export PATH=%s:$PATH",
                                m->own_bin);
        }
        free(own);
        free(found);
    }
}

/* By what `mpiexec -host` reaches them. */
void doctor_check_other_hosts(const struct machine *m, struct answer *a)
{
    static const char name[] = "GODWIT_LAUNCH_AGENT=";
    const char *agent = "ssh";
    for (char **e = m->env; e && *e; e++)
        if (strncmp(*e, name, sizeof name - 1) == 0 && (*e)[sizeof name - 1]) agent = *e + sizeof name - 1;
    char *command = gw_xasprintf("%.*s", (int)strcspn(agent, " "), agent), *found = NULL;
    if (!strchr(command, '/'))
        found = command_find(m, command);
    else if (doctor_root_there(m, "%s", command))
        found = gw_xasprintf("%s%s", m->root, command);
    if (found) {
        doctor_answer_add(a, "mpiexec -host starts agents there by %s", found + strlen(m->root));
    } else {
        doctor_answer_add(a, "mpiexec -host starts agents there by %s, which is not here", command);
        doctor_answer_raise(a, FINDING_NOTE, "%s",
                            strcmp(agent, "ssh") == 0
                                ? "apt install openssh-client, if jobs are to run on several hosts without a batch system"
                                : "GODWIT_LAUNCH_AGENT is to name a command that is called as ssh is");
    }
    free(command);
    free(found);
}

void doctor_check_loader_path(const struct machine *m, struct answer *a)
{
    for (const char *p = m->library_path; p && *p;) {
        int n = (int)strcspn(p, ":");
        struct words names;
        char *folder = gw_xasprintf("%.*s", n, p), *last = NULL;
        doctor_root_list(m, folder, &names);
        for (int i = 0; *folder && i < names.n; i++) {
            const char *is = mpi_of_library_name(names.at[i]);
            char *file = gw_xasprintf("%s%s/%s", m->root, folder, names.at[i]);
            bool ours = is && program_holds(file, MARK);
            if (ours) is = "Godwit";
            free(file);
            if (!is || (last && strcmp(last, is) == 0)) continue;
            last = (char *)is;
            doctor_answer_add(a, "%s%s (%s)", *a->value ? "; " : "", folder, is);
            if (strcmp(is, "standard ABI") == 0)
                doctor_answer_raise(a, FINDING_PROBLEM,
                                    "programs compiled with Godwit load the library there in its place: take %s out of "
                                    "LD_LIBRARY_PATH",
                                    folder);
        }
        words_free(&names);
        free(folder);
        p += n + (p[n] == ':');
    }
    if (!*a->value) doctor_answer_add(a, "LD_LIBRARY_PATH names no MPI library");
    if (m->preload && *m->preload) {
        doctor_answer_add(a, "; LD_PRELOAD=%s", m->preload);
        if (strstr(m->preload, "libmpi"))
            doctor_answer_raise(a, FINDING_NOTE, "a preloaded MPI library takes the place of the program's: unset LD_PRELOAD");
    }
}

/* The version of libpmix; "": it is too old to report it; NULL: it cannot be opened. */
static const char *pmix_version(void)
{
    void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) return NULL;
    const char *(*version)(void) = (const char *(*)(void))(uintptr_t)dlsym(library, "PMIx_Get_version");
    return version ? version() : "";
}

void doctor_check_pmix(const struct machine *m, struct answer *a)
{
    const char *version = pmix_version();
    (void)m;
    if (version) {
        doctor_answer_add(a, "%s", *version ? version : "libpmix.so.2 of unknown version");
        return;
    }
    doctor_answer_add(a, "there is no libpmix.so.2");
    doctor_answer_raise(a, FINDING_NOTE, "only programs of Open MPI need it, and Slurm's srun --mpi=pmix: apt install libpmix2");
}

/* ---- the program ------------------------------------------------------------------------------------------------------------ */
struct loaded {
    const char *family;
    char path[512];
    bool has_door; /* Godwit has a door for programs of this library */
};

static void judge_foreign(const struct machine *m, const struct loaded *l, struct answer *a)
{
    enum finding bad = m->ranks == 1 ? FINDING_NOTE : FINDING_PROBLEM; /* a single rank needs no launcher */
    if (strcmp(l->family, "standard ABI") == 0) {
        doctor_answer_raise(a, bad,
                            "that library cannot join a job of this mpiexec: put Godwit's lib folder first in LD_LIBRARY_PATH, or "
                            "start it with that library's mpiexec");
    } else if (strcmp(l->family, "Open MPI") == 0 && !l->has_door) {
        bool pmix = pmix_version() != NULL;
        doctor_answer_raise(
            a, pmix ? FINDING_NOTE : FINDING_PROBLEM, "%s",
            pmix ? "mpiexec starts it by PMIx, and it runs with its own library; to run with Godwit compile it with Godwit's mpicc"
                 : "to start it mpiexec needs PMIx: apt install libpmix2; or compile it with Godwit's mpicc");
    } else if (!l->has_door) {
        doctor_answer_raise(
            a, FINDING_NOTE,
            "mpiexec starts it by PMI-1, and it runs with its own library; to run with Godwit compile it with Godwit's "
            "mpicc");
    } else {
        doctor_answer_raise(
            a, FINDING_NOTE,
            "mpiexec runs it on Godwit through the door of that ABI; with GODWIT_DOORS=off by PMI-1 (or PMIx), on its own library");
    }
}

static void judge_missing(const struct machine *m, const char *family, struct answer *a)
{
    char *folder = own_library_folder(m);
    if (family && strcmp(family, "standard ABI") == 0 && folder)
        doctor_answer_raise(a, FINDING_PROBLEM, "export LD_LIBRARY_PATH=%s, or compile the program with Godwit's mpicc", folder);
    else if (family)
        doctor_answer_raise(a, FINDING_PROBLEM,
                            "compile the program with Godwit's mpicc (%s/mpicc), or add the folder of that library to "
                            "LD_LIBRARY_PATH",
                            m->own_bin);
    else
        doctor_answer_raise(a, FINDING_PROBLEM, "add the folder of that library to LD_LIBRARY_PATH");
    free(folder);
}

/* Library and mpiexec agree on the layout of the job's shared memory only within one installation. */
static void judge_ours(const struct machine *m, const struct loaded *l, struct answer *a)
{
    char *folder = own_library_folder(m), *own = gw_xasprintf("%s%s/libmpi_abi.so.1", m->root, folder ? folder : "");
    char *its = gw_xasprintf("%s%s", m->root, l->path);
    if (folder && !same_file(own, its)) {
        doctor_answer_add(a, ", which is not that of this mpiexec");
        doctor_answer_raise(a, FINDING_NOTE, "use the mpiexec of the library's installation, or LD_LIBRARY_PATH=%s", folder);
    }
    free(its);
    free(own);
    free(folder);
}

/* mpiexec puts libraries of these names in front of what the program finds, where the installation has them: without a compiler of C++ it
 * was built without that for C++. */
static bool has_door(const struct machine *m, const char *library)
{
    /* MPICH's library for C++ is a client of the door for its library for C, which it brings */
    if (strncmp(library, "libmpichcxx.so", 14) == 0 || strcmp(library, "libmpicxx.so.12") == 0)
        return has_door(m, "libmpich.so.12");
    enum program_mpi is = program_mpi_of_library(library);
    if (is != PROGRAM_OMPI && is != PROGRAM_MPICH) return false;
    for (int i = 0; program_doors[i]; i++)
        if (doctor_root_there(m, "%s/%s/%s", m->own_bin, program_doors[i], library)) return true;
    return false;
}

/* As mpiexec decides it, for the whole job. */
static bool doors_are_off(const struct machine *m)
{
    const char *value = words_value(m->set[0], "GODWIT_DOORS", getenv("GODWIT_DOORS"));
    return value && strcasecmp(value, "off") == 0;
}

/* Judges one line of the loader's output; *l: the MPI library that it names. */
static bool judge_line(const struct machine *m, const char *line, struct loaded *l, struct answer *a)
{
    char name[256], path[512] = "", file[1024];
    const char *arrow = strstr(line, "=>");
    const char *missing = strstr(line, "oading shared librar"); /* "library NAME:" of musl, "libraries: NAME:" of glibc */
    if ((missing ? sscanf(missing, "%*s %*s %*s %255[^: ]", name) : sscanf(line, " %255s", name)) != 1) return false;
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    l->family = mpi_of_library_name(base);
    l->has_door = has_door(m, base);
    if (missing || (arrow && strstr(arrow, "not found"))) {
        if (l->has_door && !doors_are_off(m)) {
            snprintf(l->path, sizeof l->path, "%s", name);
            return true;
        }
        doctor_answer_add(a, "; %s is not found", name);
        judge_missing(m, l->family, a);
        return false;
    }
    if (!l->family) return false;
    if (arrow) sscanf(arrow + 2, " %511s", path);
    if (!*path && slash) snprintf(path, sizeof path, "%s", name);
    snprintf(l->path, sizeof l->path, "%s", path);
    snprintf(file, sizeof file, "%s%s", m->root, path);
    if (program_holds(file, MARK)) l->family = "Godwit";
    return true;
}

void doctor_program_judge(const struct machine *m, const char *loader_text, struct answer *a)
{
    struct loaded first = {0}, l;
    bool mixed = false;
    for (const char *p = loader_text; *p;) {
        char line[1024];
        size_t n = strcspn(p, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, p);
        p += n + (p[n] == '\n');
        if (!judge_line(m, line, &l, a)) continue;
        first.has_door = first.has_door && l.has_door;
        if (!first.family) {
            first = l;
            doctor_answer_add(a, "; it loads %s (%s)", l.path, l.family);
        } else if (strcmp(first.family, l.family) != 0 && !mixed) {
            mixed = true;
            doctor_answer_add(a, " and %s (%s)", l.path, l.family);
        }
    }
    if (mixed)
        doctor_answer_raise(
            a, FINDING_PROBLEM,
            "two MPI libraries in one process do not work: compile the program and all its libraries with one mpicc");
    else if (first.family && strcmp(first.family, "Godwit") != 0)
        judge_foreign(m, &first, a);
    else if (first.family)
        judge_ours(m, &first, a);
    else if (!first.family && a->is == FINDING_OK)
        doctor_answer_add(a, "; it names no MPI library (perhaps it opens one later, as Python does)");
}

static void judge_script(const struct program_file *f, struct answer *a)
{
    doctor_answer_add(a, ", a script for %.*s", (int)strcspn(f->loader, "\r"), f->loader);
    if (strchr(f->loader, '\r')) {
        doctor_answer_add(a, "; its lines end as on Windows");
        doctor_answer_raise(a, FINDING_PROBLEM, "take the carriage returns out: sed -i 's/\\r$//' FILE");
    } else if (access(f->loader, X_OK) < 0) {
        doctor_answer_add(a, ", which cannot be started: %s", strerror(errno));
        doctor_answer_raise(a, FINDING_PROBLEM, "install it, or name one that is there in the first line of the script");
    }
}

static void judge_file(const struct machine *m, const char *path, struct answer *a)
{
    struct program_file f;
    program_read(path, &f);
    if (f.is == PROGRAM_SCRIPT) {
        judge_script(&f, a);
    } else if (f.is == PROGRAM_TEXT) {
        doctor_answer_add(a, ", a script without #!, which sh reads");
        doctor_answer_raise(a, FINDING_NOTE, "begin it with a line such as #!/bin/sh, or say who reads it: mpiexec python3 %s",
                            path);
    } else if (f.is == PROGRAM_OTHER) {
        doctor_answer_add(a, " is no program of this machine");
        doctor_answer_raise(a, FINDING_PROBLEM, "say who runs it, or compile it here");
    } else if (f.other_machine) {
        doctor_answer_add(a, ", compiled for another kind of processor");
        doctor_answer_raise(a, FINDING_PROBLEM, "compile it on this machine, or for it");
    } else if (*f.loader && access(f.loader, X_OK) < 0) {
        doctor_answer_add(a, "; its loader %s: %s", f.loader, strerror(errno));
        doctor_answer_raise(a, FINDING_PROBLEM, "it was compiled on another system (other C library): compile it here");
    } else if (!*f.loader) {
        doctor_answer_add(a, ", linked statically");
    } else {
        char *text = program_list(f.loader, path, m->set, PROGRAM_LIST_NAMES);
        doctor_program_judge(m, text, a);
        free(text);
    }
}

void doctor_check_program(const struct machine *m, struct answer *a)
{
    struct statvfs fs;
    struct stat st;
    if (!m->program || !m->program[0]) return;
    char *path = program_find(m->program, m->wdir);
    doctor_answer_add(a, "%s", path ? path : m->program);
    if (!path || stat(path, &st) < 0) {
        doctor_answer_add(a, path ? ": %s" : " is not in PATH", strerror(errno));
        doctor_answer_raise(a, FINDING_PROBLEM, "%s",
                            path ? "look for it with ls" : "say where it lies, such as ./a.out, or add its folder to PATH");
    } else if (!S_ISREG(st.st_mode)) {
        doctor_answer_add(a, " is no file");
        doctor_answer_raise(a, FINDING_PROBLEM, "name the program itself");
    } else if (access(path, X_OK) < 0) {
        bool mount = statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOEXEC) != 0;
        doctor_answer_add(a, " may not be executed%s", mount ? ": its file system is mounted noexec" : "");
        doctor_answer_raise(a, FINDING_PROBLEM, mount ? "copy it to another file system" : "chmod +x %s", path);
    } else {
        judge_file(m, path, a);
    }
    free(path);
}
