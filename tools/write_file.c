/* write_file.c -- for our shell scripts: standard input becomes a file, opened as base/file.h says.  It is installed beside the doors, and
 * in no PATH.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"
#include "base/plain.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] = "usage: write_file CALLER [-x] FILE < TEXT\n"
                            "  Errors are told in the name of CALLER.  -x: the file is a program.\n";

/* 0, or errno. */
static int copy_to(FILE *to)
{
    char part[1 << 14];
    size_t n;
    errno = 0;
    while ((n = fread(part, 1, sizeof part, stdin)) > 0)
        if (fwrite(part, 1, n, to) != n) break; /* gw_file_finish() tells */
    return ferror(stdin) ? errno ? errno : EIO : 0;
}

/* All who may read it may run it.  0, or errno. */
static int make_program(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return errno;
    if (!S_ISREG(st.st_mode)) return 0;
    return fchmod(fd, (st.st_mode & 07777) | (st.st_mode & 0444) >> 2) == 0 ? 0 : errno;
}

/* 0, or an error of gw_file_why(); then what was at path stays. */
static int write_file(const char *path, bool is_program)
{
    struct gw_new_file f;
    int err = gw_file_create(path, &f);
    if (err) return err;
    err = copy_to(f.to);
    if (!err && is_program) err = make_program(fileno(f.to));
    if (err) {
        gw_file_drop(&f);
        return err;
    }
    return gw_file_finish(&f);
}

int main(int argc, char **argv)
{
    bool is_program = argc == 4 && strcmp(argv[2], "-x") == 0;
    if (argc != 3 && !is_program) {
        fputs(usage, stderr);
        return 2;
    }
    const char *path = argv[argc - 1];
    int err = write_file(path, is_program);
    if (err) gw_print(stderr, "%s: cannot write %s: %s\n", argv[1], path, gw_file_why(err));
    return err ? 1 : 0;
}
