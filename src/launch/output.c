/* output.c -- where the ranks' output goes (mpiexec's own output, files, both), and the marks at the beginning of lines.
 *
 * A marked line (with a label, a time or a prefix) is printed when it is whole, by one write, so that lines of several ranks, and of the
 * mpiexecs of spawned jobs, are never mixed.  The first failure to write is reported; then the exit status of the job is not 0.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "launch/launch.h"

/* A descriptor that several ranks may write to. */
struct sink {
    int fd;
    char *name;                /* of the file; NULL: standard output or error of mpiexec */
    bool nobody;               /* nothing is written there any more: it failed, or nobody reads it and mpiexec has to end */
    const struct stream *open; /* the stream whose partial line was printed last; NULL: none */
};
static struct {
    struct sink own[2];  /* standard output, standard error */
    struct sink **files; /* [n_files]; streams point to them */
    int n_files;
    bool in_hurry;        /* mpiexec has to end: output that nobody reads is dropped */
    bool has_failed;      /* output was lost */
    void (*sigpipe)(int); /* the handler before mpiexec ignored the signal */
} outputs = {.own = {{.fd = 1}, {.fd = 2}}, .sigpipe = SIG_IGN};

void launch_output_hurry(void) { outputs.in_hurry = true; }
void launch_output_pipes(void (*before)(int)) { outputs.sigpipe = before; }
bool launch_output_failed(void) { return outputs.has_failed; }
void launch_output_closed(int fd)
{
    if (fd == 1 || fd == 2) outputs.own[fd - 1].fd = -1;
}

/* ---- names and begins of lines --------------------------------------------------------------------------------------------- */
static const char *user_name(void)
{
    const struct passwd *p = getpwuid(geteuid());
    return p ? p->pw_name : "user";
}

/* Appends the text of a percent letter of Slurm's patterns (by_task) or Hydra's.  %R is ours: the rank with as many digits as the last
 * rank has. */
static void add_field(char **text, const struct job *j, int rank, char letter, int width, bool by_task)
{
    char more[256] = "", host[sizeof j->host];
    const char *slurm_job = getenv("SLURM_JOB_ID"), *job = slurm_job && *slurm_job ? slurm_job : j->head->jobid;
    if (width > 64) width = 64;
    snprintf(host, sizeof host, "%.*s", (int)(by_task ? strcspn(j->host, ".") : strlen(j->host)), j->host);
    switch (letter) {
    case 't':
        if (by_task)
            snprintf(more, sizeof more, "%0*d", width, rank);
        else
            snprintf(more, sizeof more, "%lld", (long long)time(NULL));
        break;
    case 'r': snprintf(more, sizeof more, "%d", rank); break;
    case 'R': snprintf(more, sizeof more, "%0*d", snprintf(NULL, 0, "%d", j->n - 1), rank); break;
    case 'h':
    case 'N': snprintf(more, sizeof more, "%s", host); break;
    case 'p':
    case 'n':
    case 's': snprintf(more, sizeof more, "%0*d", width, 0); break;
    case 'g': snprintf(more, sizeof more, "%s", j->name[0] ? j->name : "0"); break;
    case 'j': snprintf(more, sizeof more, "%0*d", width, atoi(job)); break;
    case 'u': snprintf(more, sizeof more, "%s", user_name()); break;
    default: snprintf(more, sizeof more, "%c", letter);
    }
    char *joined = gw_xasprintf("%s%s", *text, more);
    free(*text);
    *text = joined;
}

/* The text of a pattern that options.c has checked; the caller frees it. */
static char *expand(const struct job *j, int rank, const char *pattern, bool by_task)
{
    char *text = gw_xasprintf("%s", "");
    for (const char *p = pattern; *p;) {
        size_t n = strcspn(p, "%");
        char *joined = gw_xasprintf("%s%.*s", text, (int)n, p);
        free(text);
        text = joined;
        p += n;
        if (!*p) break;
        int width = atoi(++p);
        p += strspn(p, "0123456789");
        if (*p) add_field(&text, j, rank, *p++, width, by_task);
    }
    return text;
}

bool launch_output_is_marked(const struct job *j)
{
    const struct output_wanted *w = &j->o.output;
    return w->label || w->timestamp || w->prefix;
}

bool launch_output_is_piped(const struct job *j)
{
    const struct output_wanted *w = &j->o.output;
    return j->n > 1 || j->part.size || launch_output_is_marked(j) || w->merged || w->file[0] || w->file[1] || w->only[0] ||
        w->only[1] || outputs.own[0].fd < 0;
}

/* Writes the mark of a line to `out` and returns its length. */
static size_t mark(const struct job *j, int rank, char *out, size_t cap)
{
    assert(cap > 0);
    out[0] = 0;
    if (j->o.output.timestamp) {
        struct timespec now;
        struct tm t;
        clock_gettime(CLOCK_REALTIME, &now);
        localtime_r(&now.tv_sec, &t);
        strftime(out, cap, "%Y-%m-%d %H:%M:%S", &t);
        gw_text_add(out, cap, ".%03d ", (int)(now.tv_nsec / 1000000));
    }
    if (j->o.output.label) gw_text_add(out, cap, "[%s%s%d] ", j->name, j->name[0] ? ":" : "", rank);
    if (j->o.output.prefix) {
        char *text = expand(j, rank, j->o.output.prefix, false);
        gw_text_add(out, cap, "%s", text);
        free(text);
    }
    return strlen(out);
}

/* ---- files ----------------------------------------------------------------------------------------------------------------- */
/* The file of that name, opened at its first use; NULL: it cannot be opened, which was reported.  Takes over `name`. */
static struct sink *file_of(char *name, bool with_folders)
{
    for (int i = 0; i < outputs.n_files; i++)
        if (strcmp(outputs.files[i]->name, name) == 0) {
            free(name);
            return outputs.files[i];
        }
    int fd = gw_file_open(name, GW_FILE_AT_END | (with_folders ? GW_FILE_FOLDERS : 0)), rc = errno;
    if (fd < 0) {
        say_line("cannot write %s: %s%s", name, gw_file_why(rc),
                 rc == EMFILE ? " (limit: ulimit -n; a pattern without the rank makes one file for all)" : "");
        free(name);
        return NULL;
    }
    outputs.files = gw_xrealloc(outputs.files, sizeof *outputs.files * (size_t)(outputs.n_files + 1));
    struct sink *s = outputs.files[outputs.n_files++] = gw_xcalloc(1, sizeof *s);
    s->fd = fd;
    s->name = name;
    return s;
}

static bool is_printed(const struct output_wanted *w, int stream, int rank)
{
    assert(stream == 0 || stream == 1);
    return !w->only[stream] || w->only[stream] == rank + 1;
}

/* Sets where a stream goes (s->to, s->also; NULL: nowhere).  False: a file cannot be opened. */
static bool place(const struct job *j, int rank, int stream, struct stream *s)
{
    assert(rank >= 0 && rank < j->n && (stream == 0 || stream == 1));
    const struct output_wanted *w = &j->o.output;
    int from = stream;
    if (stream == 1 && (w->merged || (w->file[0] && w->by_task[0] && !w->file[1] && !w->only[1]))) from = 0;
    s->to = is_printed(w, from, rank) ? &outputs.own[from] : NULL;
    s->also = NULL;
    if (!w->file[from]) return true;
    if (w->copied) s->also = s->to;
    s->to = file_of(expand(j, rank, w->file[from], w->by_task[from]), w->copied || strstr(w->file[from], "%R"));
    return s->to != NULL;
}

int launch_output_open(struct job *j)
{
    assert(!outputs.files);
    for (int r = 0; r < j->n; r++)
        if (!place(j, r, 0, &j->ranks[r].out) || !place(j, r, 1, &j->ranks[r].err)) return EXIT_CANNOT_RUN;
    return 0;
}

void launch_output_free(void)
{
    for (int i = 0; i < outputs.n_files; i++) {
        close(outputs.files[i]->fd);
        free(outputs.files[i]->name);
        free(outputs.files[i]);
    }
    free(outputs.files);
    outputs.files = NULL;
    outputs.n_files = 0;
}

/* ---- writing --------------------------------------------------------------------------------------------------------------- */
static bool told_to_end(void)
{
    sigset_t waiting;
    return sigpending(&waiting) == 0 &&
        (sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) || sigismember(&waiting, SIGHUP));
}

/* Reports the first failure of a sink.  A failure of standard error cannot be reported. */
static void cannot_write(struct sink *to, int why)
{
    assert(why > 0 && !to->nobody);
    to->nobody = true;
    if (to == &outputs.own[1]) return;
    outputs.has_failed = true;
    say_line("cannot write %s: %s; what ranks print there is lost", to->name ? to->name : "standard output", gw_file_why(why));
}

void launch_output_lost(int rank, int why)
{
    outputs.has_failed = true;
    say_line("cannot read what rank %d prints: %s; the rest of it is lost", rank, strerror(why));
}

/* Writes all data.  Gives up if nobody reads it and mpiexec has to end. */
static void write_all(struct sink *to, const char *data, size_t len)
{
    enum { PIECE = 4096 }; /* after POLLOUT a pipe takes this many bytes without blocking */
    if (len > 0 && to->fd < 0 && !to->nobody) cannot_write(to, EBADF);
    while (len > 0 && !to->nobody) {
        struct pollfd p = {to->fd, POLLOUT, 0};
        if (poll(&p, 1, 200) == 0) {
            to->nobody = outputs.in_hurry || told_to_end();
            continue;
        }
        ssize_t n = write(to->fd, data, len < PIECE ? len : PIECE);
        if (n < 0 && errno == EPIPE && outputs.sigpipe == SIG_DFL) {
            keeper_end_all();
            signal(
                SIGPIPE,
                SIG_DFL); /* mpiexec ignores SIGPIPE only for the ranks' pipes: it ends as any program ends whose reader is gone */
            raise(SIGPIPE);
        }
        if (n < 0 && errno != EINTR && errno != EAGAIN) cannot_write(to, errno);
        if (n > 0) data += n, len -= (size_t)n;
    }
}

/* Writes the lines with their marks by one write. */
static void print_marked(const struct job *j, struct stream *s, struct sink *to, size_t len)
{
    char begin[512];
    size_t used = 0, cap = len + sizeof begin, room = mark(j, s->rank, begin, sizeof begin);
    char *text = gw_xmalloc(cap);
    bool mid_line = s->mid_line && to->open == s;
    if (to->open && to->open != s) text[used++] = '\n'; /* ends the partial line of another stream */
    for (size_t at = 0; at < len;) {
        char *end = memchr(s->buf + at, '\n', len - at);
        size_t n = end ? (size_t)(end - s->buf) + 1 - at : len - at;
        if (used + room + n > cap) text = gw_xrealloc(text, cap = 2 * cap + room + n);
        if (!mid_line) memcpy(text + used, begin, room), used += room;
        memcpy(text + used, s->buf + at, n);
        used += n;
        at += n;
        mid_line = !end;
    }
    to->open = mid_line ? s : NULL;
    write_all(to, text, used);
    free(text);
}

void launch_output_print(const struct job *j, struct stream *s, size_t len)
{
    assert(len <= s->len);
    struct sink *of[2] = {s->to, s->also};
    if (len == 0) return;
    for (int k = 0; k < 2; k++) {
        if (!of[k]) continue;
        if (launch_output_is_marked(j))
            print_marked(j, s, of[k], len);
        else
            write_all(of[k], s->buf, len);
    }
    s->mid_line = s->buf[len - 1] != '\n';
    memmove(s->buf, s->buf + len, s->len - len);
    s->len -= len;
}

/* The stream has ended: prints the rest, and ends a marked line. */
void launch_output_end(const struct job *j, struct stream *s)
{
    struct sink *of[2] = {s->to, s->also};
    launch_output_print(j, s, s->len);
    for (int k = 0; k < 2; k++)
        if (of[k] && of[k]->open == s) {
            write_all(of[k], "\n", 1);
            of[k]->open = NULL;
        }
}
