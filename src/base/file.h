/* file.h -- safe access to files of the library itself: reports, settings.  Not the files of MPI-IO.
 *
 * Whatever Godwit writes on its own account is opened here, by scripts through tools/write_file.c; nothing else of src/, tools/ or lib/ opens
 * a file to write (test/system/opens.py).  What is looked at, by gw_file_create(), gw_file_append() and gw_file_open():
 *   folders   each above the file.  In one that all users can write to, the next must be ours or root's.  Links to folders are followed
 *             where they are ours or root's.
 *   the file  a link is not followed, nobody waits for a stranger's pipe, and a file of another user is not written to: in a folder that
 *             all can write to and that is sticky (/tmp) it stays, elsewhere a new one takes its place, as of a file with several names.
 * Reports are written under a temporary name in the same folder and renamed when they are complete.  Needs nothing else of base: the
 * libraries of --profile and --record use it, too.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_FILE_H
#define GW_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Beside errno's: what is there is another user's; a folder above is; a link above is; it is of no kind that is written. */
enum { GW_FILE_THEIRS = 4097, GW_FILE_FOLDER, GW_FILE_LINK, GW_FILE_KIND };
const char *gw_file_why(int err); /* what such an error, or errno, means of a file that is written */

/* A file that is being written.  Private, except `to`, which the caller writes to. */
struct gw_new_file {
    FILE *to;
    char *name, *temp; /* in `folder`; temp NULL: it is written in place */
    int folder;        /* a descriptor, or -1 */
};
/* 0, or an error, and nothing is left behind; ELOOP: path is a symbolic link.  Existing non-files (/dev/null, a pipe of this user),
 * /dev/stdout, /dev/stderr and /dev/fd/N are written in place; so is a file of this user in a folder where this user may not create files. */
int gw_file_create(const char *path, struct gw_new_file *f_out);
/* Closes the file and renames it into place.  0, or errno of the first failure, writes included; then the old file at path is unchanged. */
int gw_file_finish(struct gw_new_file *f);
void gw_file_drop(struct gw_new_file *f); /* Closes it without: the old file at path is unchanged. */
/* Opens a file made by gw_file_create() for appending; gw_file_finish() ends it, too.  0, or an error. */
int gw_file_append(const char *path, struct gw_new_file *f_out);

/* Creates the file with this text, in lines, and comments with sums of it, by which gw_file_read() finds out a damaged one.  Who changes
 * it by hand removes its first line, which says so.  0, or an error. */
int gw_file_store(const char *path, const char *text);

enum {
    GW_FILE_FOLDERS = 1, /* makes the missing folders */
    GW_FILE_FRESH =
        2, /* a new file that only this user can write (others hold no descriptor of it), readable, in place of what is there */
    GW_FILE_AT_END = 4 /* each write goes to the end, also when somebody has emptied the file meanwhile */
};
/* For what is written as it comes (output, records): a file of ours that is there is made empty, a device or pipe is opened; of a pipe
 * nobody reads, seconds are waited for a reader.  A descriptor; -1: errno as above. */
int gw_file_open(const char *path, unsigned how);
/* Could it be created now?  0, or why not.  It is tried, and nothing is left but folders. */
int gw_file_may(const char *path, unsigned how);

/* Reads a text file of at most `most` bytes into *text_out, zero-terminated, which the caller frees; one of gw_file_store() is compared
 * with its sums.  NULL, or the reason of failure, worded to follow the name of the file, valid until this thread's next call.
 * may_be_pipe: pipes are allowed, too, which may be what a shell makes of <(COMMAND): for what a user names, not for a name that is known
 * before.  Seconds are waited for somebody to write, and a minute for him to go on.  Anything else (/dev/zero) is refused. */
const char *gw_file_read(const char *path, size_t most, bool may_be_pipe, char **text_out);
/* A file of which parts are looked at: programs, libraries.  Private, except `bytes`. */
struct gw_image {
    char *at;
    size_t bytes;
    int fd;
    uint64_t from, to; /* what was read last */
};
bool gw_image_open(const char *path, struct gw_image *im_out); /* false: it cannot be read, is empty, or is no file */
void gw_image_close(struct gw_image *im);
/* n bytes at `offset`, until it is closed; NULL: the file does not hold them. */
const void *gw_image_part(struct gw_image *im, uint64_t offset, uint64_t n);
const char *gw_image_text(struct gw_image *im, uint64_t offset); /* the text there; NULL: it does not end within the file */
char *gw_trimmed(char *text);                                    /* without blanks around it, which it changes */
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
