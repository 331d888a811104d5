/* file.h -- files that Godwit writes and reads on its own account: reports, pages, settings.  Not the files of MPI-IO.
 *
 * Where others may write, too (/tmp), nobody's link leads us elsewhere and nobody's file gets our words: a whole file is made under a name of
 * its own in the same folder and takes its place when it is done.  Needs nothing else of base: the profile's library has it, too.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_FILE_H
#define GW_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A file under way.  Its own, all of it; a caller writes to `to` and nothing else. */
struct gw_new_file {
    FILE *to;
    char *path, *temp; /* temp NULL: it is written in place */
};
/* 0, or errno with nothing left: ELOOP, where path is a link.  What is there and is no file (/dev/null, a pipe of our own) is written to as it
 * is; so are /dev/stdout and /dev/stderr, and a file of ours in a folder where we may make none. */
int gw_file_create(const char *path, struct gw_new_file *f_out);
/* Closes it and puts it in its place: 0, or errno of what failed first, also while it was written; then what was at path is still there. */
int gw_file_finish(struct gw_new_file *f);
const char *gw_file_why(int err); /* what that error means for a file that we write */
/* A file that gw_file_create() made, to write behind its end; NULL: errno. */
FILE *gw_file_append(const char *path);

/* The whole of a file of at most `most` bytes that holds text, with a zero behind it, in *text_out (free() it); NULL, or why not, in words
 * that stand behind the name of the file.  Pipes are read where they are allowed; what is neither is refused: /dev/zero has no end. */
const char *gw_file_read(const char *path, size_t most, bool may_be_pipe, char **text_out);

#endif
