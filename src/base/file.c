/* file.c -- see file.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- written ---- */
/* A descriptor; -1: errno. */
static int standard_open(const char *path)
{
    if (strcmp(path, "/dev/stdout") == 0) return fcntl(1, F_DUPFD_CLOEXEC, 3);
    return strcmp(path, "/dev/stderr") == 0 ? fcntl(2, F_DUPFD_CLOEXEC, 3) : -1;
}

/* What is there already and stays what it is: devices, pipes of our own; with `or_file` a file of our own, made empty. */
static int there_open(const char *path, bool or_file)
{
    struct stat st;
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return -1;
    bool is_fit = fstat(fd, &st) == 0 &&
        (S_ISCHR(st.st_mode) || (S_ISFIFO(st.st_mode) && st.st_uid == geteuid()) ||
         (or_file && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1));
    if (is_fit && (!S_ISREG(st.st_mode) || ftruncate(fd, 0) == 0) && fcntl(fd, F_SETFL, 0) == 0) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* A new file in the folder of `path`, by a name that nobody knew before. */
static int temp_open(const char *path, char **temp_out)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0, fd = -1;
    *temp_out = NULL;
    for (int i = 0; i < 3; i++) {
        uint64_t random;
        if (getrandom(&random, sizeof random, 0) != sizeof random) break;
        if (asprintf(temp_out, "%.*s.godwit-%016llx", folder, path, (unsigned long long)random) < 0) {
            *temp_out = NULL;
            errno = ENOMEM;
            return -1;
        }
        fd = open(*temp_out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0) return fd;
        free(*temp_out);
        *temp_out = NULL;
        if (errno != EEXIST) break;
    }
    return -1;
}

int gw_file_create(const char *path, struct gw_new_file *f_out)
{
    struct stat st;
    char *temp = NULL;
    int fd = standard_open(path), why;
    bool is_there = fd < 0 && lstat(path, &st) == 0;
    *f_out = (struct gw_new_file){0};
    if (is_there && S_ISLNK(st.st_mode)) return ELOOP;
    if (is_there && S_ISDIR(st.st_mode)) return EISDIR;
    if (is_there && !S_ISREG(st.st_mode)) {
        fd = there_open(path, false);
    } else if (fd < 0) {
        fd = temp_open(path, &temp);
        why = errno;
        if (fd < 0 && is_there) fd = there_open(path, true); /* we may write it, and nothing else there */
        if (fd < 0) errno = why;
    }
    if (fd < 0) return errno;
    *f_out = (struct gw_new_file){fdopen(fd, "w"), strdup(path), temp};
    if (f_out->to && f_out->path) return 0;
    if (f_out->to)
        fclose(f_out->to);
    else
        close(fd);
    if (temp) unlink(temp);
    free(f_out->path);
    free(temp);
    *f_out = (struct gw_new_file){0};
    return ENOMEM;
}

int gw_file_finish(struct gw_new_file *f)
{
    assert(f->to);
    int rc = ferror(f->to) ? EIO : 0;
    if (fflush(f->to) != 0 && !rc) rc = errno;
    if (fclose(f->to) != 0 && !rc) rc = errno;
    if (f->temp && !rc && rename(f->temp, f->path) != 0) rc = errno;
    if (f->temp && rc) unlink(f->temp);
    free(f->path);
    free(f->temp);
    *f = (struct gw_new_file){0};
    return rc;
}

const char *gw_file_why(int err)
{
    assert(err > 0);
    return err == ELOOP ? "it is a link, which is not followed: name the file itself"
        : err == EFBIG  ? "File too large (limit: ulimit -f)"
                        : strerror(err);
}

FILE *gw_file_append(const char *path)
{
    struct stat st;
    int fd = standard_open(path);
    bool is_standard = fd >= 0;
    if (!is_standard) fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    FILE *f = NULL;
    if (fd >= 0 && !is_standard && (fstat(fd, &st) != 0 || S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_nlink != 1)))
        errno = EPERM;
    else if (fd >= 0)
        f = fdopen(fd, "a");
    int why = errno;
    if (fd >= 0 && !f) close(fd);
    errno = why;
    return f;
}

/* ---- read ---- */
const char *gw_file_read(const char *path, size_t most, bool may_be_pipe, char **text_out)
{
    struct stat st;
    const char *why = NULL;
    size_t n = 0, cap = 0;
    ssize_t got = 1;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (may_be_pipe ? 0 : O_NONBLOCK));
    if (fd < 0) return strerror(errno);
    if (fstat(fd, &st) != 0)
        why = strerror(errno);
    else if (!S_ISREG(st.st_mode) && !(may_be_pipe && S_ISFIFO(st.st_mode)))
        why = "it is no file";
    while (!why && got > 0 && n <= most) {
        if (n + 1 >= cap) {
            char *more = realloc(text, cap = cap ? 2 * cap : 4096);
            if (!more) {
                why = "no memory";
                break;
            }
            text = more;
        }
        got = read(fd, text + n, cap - 1 - n);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got < 0)
            why = strerror(errno);
        else
            n += (size_t)got;
    }
    close(fd);
    if (!why && n > most) why = "it is too long to be one";
    if (!why && memchr(text, 0, n)) why = "it has bytes of 0: it is no text";
    if (why) {
        free(text);
        return why;
    }
    text[n] = 0;
    *text_out = text;
    return NULL;
}

char *gw_file_tuned(void)
{
    char host[256] = "", *path = NULL;
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    bool has_base = base && *base;
    if ((!has_base && !home) || gethostname(host, sizeof host - 1) < 0) return NULL;
    return asprintf(&path, "%s%s/godwit/%s.tune", has_base ? base : home, has_base ? "" : "/.config", host) < 0 ? NULL : path;
}

char *gw_trimmed(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1])) text[--n] = 0;
    return text;
}

char *gw_line_next(struct gw_lines *l)
{
    while (l->next) {
        char *line = l->next;
        l->next = strchr(line, '\n');
        if (l->next) *l->next++ = 0;
        l->number++;
        line[strcspn(line, "#")] = 0;
        line = gw_trimmed(line);
        if (*line) return line;
    }
    return NULL;
}
