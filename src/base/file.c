/* file.c -- see file.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_private.h"

/* ---- written ---- */
int file_temp_open(const struct file_folder *in, char temp_out[FILE_NAME])
{
    int fd = -1;
    for (int i = 0; i < 3; i++) {
        uint64_t random;
        if (getrandom(&random, sizeof random, 0) != sizeof random) break;
        snprintf(temp_out, FILE_NAME, ".godwit-%016llx", (unsigned long long)random);
        fd = openat(in->fd, temp_out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0 || errno != EEXIST) break;
    }
    return fd;
}

/* In that folder: written in place, where temp_out is empty afterwards, or by another name.  A descriptor; -1: errno. */
static int create_in(const struct file_folder *in, const char *name, char temp_out[FILE_NAME])
{
    struct stat st;
    bool is_there = fstatat(in->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    *temp_out = 0;
    errno = 0;
    if (is_there && S_ISLNK(st.st_mode)) errno = ELOOP;
    if (is_there && S_ISDIR(st.st_mode)) errno = EISDIR;
    if (is_there && S_ISREG(st.st_mode) && file_is_others(in, &st) && in->is_sticky) errno = GW_FILE_THEIRS;
    if (errno) return -1;
    if (is_there && !S_ISREG(st.st_mode)) return file_there_open(in, name, 0, 0);
    int fd = file_temp_open(in, temp_out), why = errno;
    if (fd >= 0 || !is_there) return fd;
    *temp_out = 0;
    fd = file_there_open(in, name, 0, FILE_REGULAR); /* we may write it, and nothing else there */
    if (fd < 0) errno = why;
    return fd;
}

int gw_file_create(const char *path, struct gw_new_file *f_out)
{
    struct file_folder in = {.fd = -1};
    char name[FILE_NAME] = "", temp[FILE_NAME] = "";
    int fd = file_standard_open(path), err = 0;
    *f_out = (struct gw_new_file){.folder = -1};
    if (fd < 0) {
        if ((err = file_folder_open(path, false, &in, name)) != 0) return err;
        fd = create_in(&in, name, temp);
        err = fd < 0 ? errno : 0;
    }
    if (!err) {
        *f_out = (struct gw_new_file){fdopen(fd, "w"), *temp ? strdup(name) : NULL, *temp ? strdup(temp) : NULL, in.fd};
        if (f_out->to && (!*temp || (f_out->name && f_out->temp))) return 0;
        err = ENOMEM;
        if (f_out->to)
            fclose(f_out->to);
        else
            close(fd);
        if (*temp) unlinkat(in.fd, temp, 0);
        free(f_out->name);
        free(f_out->temp);
    }
    if (in.fd >= 0) close(in.fd);
    *f_out = (struct gw_new_file){.folder = -1};
    return err;
}

/* What an earlier write failed of is not kept: one more of a byte fails of the same, into a file that is taken away. */
static int why_failed(const struct gw_new_file *f)
{
    char byte = '\n';
    return f->temp && write(fileno(f->to), &byte, 1) < 0 ? errno : EIO;
}

/* The end of both: err is what has failed before. */
static int file_end(struct gw_new_file *f, int err)
{
    if (fclose(f->to) != 0 && !err) err = errno;
    if (f->temp && !err && renameat(f->folder, f->temp, f->folder, f->name) != 0) err = errno;
    if (f->temp && err) unlinkat(f->folder, f->temp, 0);
    if (f->folder >= 0) close(f->folder);
    free(f->name);
    free(f->temp);
    *f = (struct gw_new_file){.folder = -1};
    return err;
}

int gw_file_finish(struct gw_new_file *f)
{
    assert(f->to);
    int err = ferror(f->to) ? why_failed(f) : 0;
    if (fflush(f->to) != 0 && !err) err = errno;
    return file_end(f, err);
}

void gw_file_drop(struct gw_new_file *f)
{
    assert(f->to);
    file_end(f, ECANCELED);
}

int gw_file_append(const char *path, struct gw_new_file *f_out)
{
    struct file_folder in;
    char name[FILE_NAME];
    int fd = file_standard_open(path), err = 0;
    *f_out = (struct gw_new_file){.folder = -1};
    if (fd < 0) {
        if ((err = file_folder_open(path, false, &in, name)) != 0) return err;
        fd = file_there_open(&in, name, O_APPEND, FILE_REGULAR);
        err = errno;
        close(in.fd);
        if (fd < 0) return err;
    }
    f_out->to = fdopen(fd, "a");
    if (f_out->to) return 0;
    close(fd);
    return ENOMEM;
}

/* ---- read ---- */
/* Of a pipe that was opened without waiting; *has_writer: somebody had it open to write.  Bytes; 0: its end; -1: errno. */
static ssize_t pipe_read(int fd, char *to, size_t bytes, bool *has_writer)
{
    enum { TURN_MS = 50, OPEN_MS = 5000, WRITE_MS = 60000 };
    for (int waited_ms = 0;; waited_ms += TURN_MS) {
        struct pollfd p = {fd, POLLIN, 0};
        ssize_t n = read(fd, to, bytes);
        if (n > 0 || (n < 0 && errno == EAGAIN)) *has_writer = true;
        if (n > 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return n;
        if (n == 0 && *has_writer) return 0;
        if (waited_ms >= (*has_writer ? WRITE_MS : OPEN_MS)) {
            errno = *has_writer ? ETIMEDOUT : ENXIO;
            return -1;
        }
        if (poll(&p, 1, TURN_MS) > 0 && p.revents & POLLHUP) *has_writer = true; /* he has come and gone */
    }
}

static const char *pipe_why(int err)
{
    if (err == ENXIO) return "nobody writes to that pipe";
    return err == ETIMEDOUT ? "who has that pipe open to write has written nothing for a minute" : strerror(err);
}

const char *gw_file_read(const char *path, size_t most, bool may_be_pipe, char **text_out)
{
    static _Thread_local char damage[160];
    struct stat st;
    const char *why = NULL;
    size_t n = 0, cap = 0;
    ssize_t got = 1;
    char *text = NULL;
    bool is_pipe = false, has_writer = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return strerror(errno);
    if (fstat(fd, &st) != 0)
        why = strerror(errno);
    else if (!S_ISREG(st.st_mode) && !(is_pipe = may_be_pipe && S_ISFIFO(st.st_mode)))
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
        got = is_pipe ? pipe_read(fd, text + n, cap - 1 - n, &has_writer) : read(fd, text + n, cap - 1 - n);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got < 0)
            why = is_pipe ? pipe_why(errno) : strerror(errno);
        else
            n += (size_t)got;
    }
    close(fd);
    if (!why && n > most) why = "it is too long to be one";
    if (!why && memchr(text, 0, n)) why = "it has bytes of 0: it is no text";
    if (!why) text[n] = 0;
    if (!why && file_is_damaged(text, damage, sizeof damage)) why = damage;
    if (why) {
        free(text);
        return why;
    }
    *text_out = text;
    return NULL;
}

char *gw_file_tuned(void)
{
    char host[256] = "", *path = NULL;
    const char *base = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME");
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
