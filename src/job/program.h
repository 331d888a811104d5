/* program.h -- examines the file of a program: MPI library, script or binary, loader.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_JOB_PROGRAM_H
#define GW_JOB_PROGRAM_H

#include <stdbool.h>

#include "job/words.h"

/* By the libraries that the file names.  OMPI and MPICH: there is a door for it (doors.c); PMIX: it runs on its own library, as it needs
 * other parts of Open MPI, or PMIx itself.  NONE: no MPI library, and it neither starts programs nor opens libraries (hostname);
 * UNKNOWN: it may (a script, a shell, nice, what is linked statically). */
enum program_mpi { PROGRAM_UNKNOWN, PROGRAM_NONE, PROGRAM_OURS, PROGRAM_PMIX, PROGRAM_MPICH, PROGRAM_OMPI };
enum program_mpi program_mpi(const char *name, const char *wdir); /* wdir: NULL, or where it will start */
enum program_mpi program_mpi_of_library(const char *name);        /* such as libmpi.so.40 */
/* A name of MPI, in C, Fortran or C++: not what only contains the letters, as "compile" does. */
bool program_is_mpi_name(const char *name);
/* What its libraries are of, and theirs, as the loader finds them with these variables: for a program that names none itself (UNKNOWN) and for
 * OMPI; where a name of MPI is not in any of them, PMIX.  Runs the loader (a millisecond) unless all that the file needs is the C library. */
enum program_mpi program_mpi_by_loader(const char *name, const char *wdir, const struct words *env);
enum program_list { PROGRAM_LIST_NAMES, PROGRAM_LIST_LACKING }; /* LACKING: also what they ask each other for and is not there */
/* What the dynamic loader prints of the libraries that it would load, at most 3 s of it; caller frees. */
char *program_list(const char *loader, const char *file, const struct words *const env[2], enum program_list what);
/* Where the doors lie, from the folder of our programs: in an installation the first one, which then has all; else, in a build folder, the
 * others.  Ends with NULL. */
extern const char *const program_doors[];
bool program_may_run(const char *path); /* a file, no folder, that this user may execute */
char *program_find(const char *name,
                   const char *wdir); /* its path, by PATH where it has no slash; NULL: not there.  Caller frees. */
enum program_is { PROGRAM_OTHER, PROGRAM_TEXT, PROGRAM_SCRIPT, PROGRAM_ELF }; /* TEXT: no #!, but sh may know what to do */
struct program_file {
    enum program_is is;
    bool other_machine; /* compiled for another kind of processor */
    char loader[256];   /* the interpreter of a script, or the dynamic loader; "": none */
};
void program_read(const char *path, struct program_file *f_out);
bool program_holds(const char *path, const char *word); /* whether the file can be read and has these bytes */

#endif
