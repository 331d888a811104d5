/* file_private.h -- what file.c and file_open.c share: folders that were looked at.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_FILE_PRIVATE_H
#define GW_BASE_FILE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { FILE_NAME = 256 }; /* bytes of a name in a folder, with its end */
struct file_folder {
    int fd;                  /* by which *at() calls begin; the caller closes it */
    bool is_open, is_sticky; /* all users can make files in it; remove only their own */
};
/* The folder of a path, each above it looked at; its last part in name_out.  0, or an error as gw_file_why() knows it. */
int file_folder_open(const char *path, bool with_folders, struct file_folder *in_out, char name_out[FILE_NAME]);
/* A new file in that folder, by a name that nobody knew before.  A descriptor; -1: errno. */
int file_temp_open(const struct file_folder *in, char temp_out[FILE_NAME]);
/* Another user has put it there. */
bool file_is_others(const struct file_folder *in, const struct stat *st);
/* /dev/stdout, /dev/stderr, /dev/fd/N: another descriptor of that; -1: it is none. */
int file_standard_open(const char *path);
/* A text of gw_file_store() that is not what was stored: why, worded as for gw_file_read(). */
bool file_is_damaged(const char *text, char *why_out, size_t cap);
enum { FILE_REGULAR = 1, FILE_WAIT = 2 }; /* a file of ours will do, and is made empty; seconds are waited for a pipe's reader */
/* What is there and stays: devices, pipes of ours.  flags: O_APPEND or 0.  A descriptor; -1: errno. */
int file_there_open(const struct file_folder *in, const char *name, int flags, unsigned fit);

#endif
