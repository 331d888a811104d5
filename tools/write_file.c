/* write_file.c -- for our shell scripts: standard input becomes a file, opened as base/file.h says, or a stored text is read and compared
 * with its sums.  It is installed beside the doors, and in no PATH.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"
#include "base/plain.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "usage: write_file CALLER [-x] FILE < TEXT\n"
    "       write_file CALLER -r FILE > TEXT\n"
    "  Errors are told in the name of CALLER.  -x: the file is a program.  -r: a stored text is read, without its sums.\n";
enum { READ_MAX = 64 << 20 };

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

/* The status of the process. */
static int read_file(const char *caller, const char *path)
{
    char *text;
    const char *why = gw_file_read(path, READ_MAX, false, &text);
    if (why) {
        gw_print(stderr, "%s: %s: %s\n", caller, path, why);
        return 1;
    }
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        n += at[n] == '\n';
        if (strncmp(at, "# Sum", 5) != 0) fwrite(at, 1, n, stdout);
        at += n;
    }
    free(text);
    bool is_bad = ferror(stdout);
    if (fflush(stdout) == 0 && !is_bad) return 0;
    gw_print(stderr, "%s: %s: cannot write its text\n", caller, path);
    return 1;
}

int main(int argc, char **argv)
{
    bool is_program = argc == 4 && strcmp(argv[2], "-x") == 0, is_read = argc == 4 && strcmp(argv[2], "-r") == 0;
    if (argc != 3 && !is_program && !is_read) {
        fputs(usage, stderr);
        return 2;
    }
    const char *path = argv[argc - 1];
    if (is_read) return read_file(argv[1], path);
    int err = write_file(path, is_program);
    if (err) gw_print(stderr, "%s: cannot write %s: %s\n", argv[1], path, gw_file_why(err));
    return err ? 1 : 0;
}
