/* file.h -- safe access to files of the library itself: reports, settings.  Not the files of MPI-IO.
 *
 * In folders that other users can write (/tmp), symbolic links are not followed and files of other users are not written: a file is written
 * under a temporary name in the same folder and renamed when it is complete.  Needs nothing else of base: the profile library uses it, too.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_FILE_H
#define GW_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A file that is being written.  Private, except `to`, which the caller writes to. */
struct gw_new_file {
    FILE *to;
    char *path, *temp; /* temp NULL: it is written in place */
};
/* 0, or errno, and nothing is left behind; ELOOP: path is a symbolic link.  Existing non-files (/dev/null, a pipe of this user), /dev/stdout
 * and /dev/stderr are written in place; so is a file of this user in a folder where this user may not create files. */
int gw_file_create(const char *path, struct gw_new_file *f_out);
/* Closes the file and renames it into place.  0, or errno of the first failure, writes included; then the old file at path is unchanged. */
int gw_file_finish(struct gw_new_file *f);
const char *gw_file_why(int err); /* meaning of that error for a file that is written */
/* Opens a file made by gw_file_create() for appending; NULL: see errno. */
FILE *gw_file_append(const char *path);

/* Reads a text file of at most `most` bytes into *text_out, zero-terminated, which the caller frees.  NULL, or the reason of failure, worded
 * to follow the name of the file.  may_be_pipe: pipes are allowed, too; anything else (/dev/zero) is refused. */
const char *gw_file_read(const char *path, size_t most, bool may_be_pipe, char **text_out);
char *gw_trimmed(char *text); /* without blanks around it, which it changes */
/* Iterates over the lines of a text, which it changes: begin with {text, 0}, text may be NULL.  Each line without its comment (from # on) and without
 * blanks around it, `number` counted from 1; empty ones are left out.  NULL: no more. */
struct gw_lines {
    char *next;
    int number;
};
char *gw_line_next(struct gw_lines *l);

/* HOST.tune below XDG_CONFIG_HOME or ~/.config, which godwit-tune writes and mpiexec gives the ranks of this host; whether it is there or not.
 * NULL: the environment names no folder.  The caller frees it. */
char *gw_file_tuned(void);

#endif
