/* forward.c -- forwards the ranks' output line by line to the output of mpiexec, and its input to theirs.
 *
 * Output is printed in whole lines; a partial line is printed after a moment, because it may be a prompt.  output.c prints.  Input is
 * forwarded only from a terminal, while a rank waits for it (terminal.c), or to all ranks: otherwise the rank inherits it (spawn.c).  So nothing
 * is read before a rank reads.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "launch/launch.h"
#include "base/base.h"
#include "base/time.h"

enum { READ_BYTES = 64 << 10, LINE_MAX_BYTES = 1 << 20, MARKED_MAX_BYTES = 64 << 20, STALE_MS = 50, STALE_AT_LAST_MS = 1000 };
static struct {
    int epoll_fd;
    /* The piece of our input that the ranks are getting. */
    char data[READ_BYTES];
    size_t len;                             /* bytes of it */
    bool eof;                               /* our input has ended */
    bool over;                              /* and the ranks know */
    enum { NOBODY, OURS, RANKS } listening; /* what epoll watches: our input, or the ends of ranks that have not got the piece */
    uint64_t look_at; /* ns: something was typed, and no rank waited for it: when to look again; 0: no such thing */
    int pause_ms;
} input;

/* ---- output --------------------------------------------------------------------------------------------------------------------- */
static void stream_close(const struct job *j, struct stream *s)
{
    assert(s->fd >= 0 || s->is_far);
    if (j->part.size)
        launch_agent_output(j, s, NULL, 0);
    else
        launch_output_end(j, s);
    if (s->fd >= 0) close(s->fd);
    free(s->buf);
    *s = (struct stream){.fd = -1, .rank = s->rank, .to = s->to, .also = s->also, .is_far = s->is_far};
}

/* Marked lines are printed only when they are whole, except those of a rank that reads from the terminal: these may be prompts. */
static bool waits_for_its_end(const struct job *j, const struct stream *s)
{
    bool asks = isatty(0) && (j->o.stdin_rank == STDIN_ALL || j->o.stdin_rank == s->rank);
    return launch_output_is_marked(j) && !asks;
}

static void stream_room(struct stream *s, size_t bytes)
{
    assert(s->len <= s->cap);
    if (s->cap - s->len >= bytes) return;
    s->cap = s->len + bytes;
    s->buf = realloc(s->buf, s->cap);
    if (!s->buf) gw_die("mpiexec: no memory");
}

/* Prints what can be printed, after n bytes have come behind the others. */
static void stream_print(const struct job *j, struct stream *s, size_t n)
{
    char *end = memrchr(s->buf + s->len, '\n', n);
    if (s->len == 0 || end) s->since = s->looked = gw_now_ns(); /* the beginning of the partial line came now */
    s->len += n;
    size_t most = launch_output_is_marked(j) ? MARKED_MAX_BYTES : LINE_MAX_BYTES;
    launch_output_print(j, s, end ? (size_t)(end - s->buf) + 1 : s->len > most ? s->len : 0);
}

/* Reads and prints what the stream has now, or hands it on; false: it has ended. */
static bool stream_read(const struct job *j, struct stream *s)
{
    assert(s->fd >= 0);
    stream_room(s, READ_BYTES);
    ssize_t n = read(s->fd, s->buf + s->len, s->cap - s->len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (n < 0) launch_output_lost(s->rank, errno);
    if (n <= 0) return false;
    if (j->part.size)
        launch_agent_output(j, s, s->buf, (size_t)n);
    else
        stream_print(j, s, (size_t)n);
    return true;
}

void launch_forward_take(const struct job *j, struct stream *s, const char *data, size_t len)
{
    if (!len) {
        stream_close(j, s);
        return;
    }
    stream_room(s, len);
    memcpy(s->buf + s->len, data, len);
    stream_print(j, s, len);
}

void launch_forward_output(struct job *j, struct stream *s)
{
    if (s->fd >= 0 && !stream_read(j, s)) stream_close(j, s);
}

/* The beginning of a file as a string; false: it cannot be read. */
static bool file_head(const char *path, char *text, size_t size)
{
    assert(size > 0);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* Has the rank slept since the last look?  On a crowded machine a rank may stop in the middle of a line for longer than STALE_MS; then it
 * waits for a core, or has had one since.  True also where the system does not tell. */
static bool has_slept(pid_t pid, struct stream *s)
{
    assert(pid >= 0); /* 0: the rank has ended, and a process that it has started holds its stream */
    char path[64], text[512], state = 'S';
    unsigned long long turns = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    char *name_end = file_head(path, text, sizeof text) ? strrchr(text, ')') : NULL;
    if (name_end && name_end[1] == ' ') state = name_end[2];
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    if (file_head(path, text, sizeof text)) sscanf(text, "%*u %*u %llu", &turns);
    bool ran = turns != s->turns;
    s->turns = turns;
    return state != 'R' && state != 'D' && !ran;
}

static int64_t ms_since(uint64_t then, uint64_t now) { return (int64_t)(now - then) / 1000000; }

/* Can something be read there, or its end?  Where the kernel does not say so by poll(), it may by the number of bytes. */
static bool has_more(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};
    int n, bytes;
    while ((n = poll(&p, 1, 0)) < 0 && errno == EINTR) {}
    return n > 0 || (n < 0 && ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0);
}

int launch_forward_flush_stale(struct job *j)
{
    int next = -1;
    uint64_t now = gw_now_ns();
    for (int i = 0; i < j->n; i++) {
        struct stream *of[2] = {&j->ranks[i].out, &j->ranks[i].err};
        for (int k = 0; k < 2; k++) {
            struct stream *s = of[k];
            if ((s->fd < 0 && !s->is_far) || s->len == 0 || waits_for_its_end(j, s)) continue;
            int64_t left = STALE_MS - ms_since(s->looked, now);
            if (left <= 0 && (s->is_far || !has_more(s->fd))) {
                if (s->is_far || has_slept(j->ranks[i].pid, s) || ms_since(s->since, now) >= STALE_AT_LAST_MS) {
                    launch_output_print(j, s, s->len);
                    continue;
                }
                s->looked = now;
                left = STALE_MS;
            }
            if (left < 0) left = 0; /* mpiexec was late and more has come: it is read first */
            if (next < 0 || left < next) next = (int)left;
        }
    }
    return next;
}

/* ---- input ------------------------------------------------------------------------------------------------------------------------ */
static void input_to(struct rank *r)
{
    assert(r->in_fd < 0 || r->in_done <= input.len);
    struct pollfd p = {r->in_fd, 0, 0};
    if (r->in_fd >= 0 && poll(&p, 1, 0) > 0) { /* an error: the reading end is closed */
        close(r->in_fd);
        r->in_fd = -1;
    }
    while (r->in_fd >= 0 && r->in_done < input.len) {
        ssize_t n = write(r->in_fd, input.data + r->in_done, input.len - r->in_done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n < 0) {
            close(r->in_fd);
            r->in_fd = -1;
            return;
        }
        r->in_done += (size_t)n;
    }
}

/* Has every rank that still reads got the whole piece? */
static bool input_delivered(const struct job *j)
{
    for (int i = 0; i < j->n; i++)
        if (j->ranks[i].in_fd >= 0 && j->ranks[i].in_done < input.len) return false;
    return true;
}

/* Makes epoll wait for our input, or for room in the pipes of ranks that have not got the whole piece. */
static void listen_on(struct job *j, int to)
{
    struct epoll_event e = {.events = to == OURS ? EPOLLIN : 0, .data.ptr = NULL};
    if ((input.listening == OURS) != (to == OURS)) epoll_ctl(input.epoll_fd, EPOLL_CTL_MOD, 0, &e);
    input.listening = to;
    for (int i = 0; i < j->n; i++) {
        struct rank *r = &j->ranks[i];
        bool waits = to == RANKS && r->in_done < input.len;
        if (r->in_fd < 0 || r->in_waits == waits) continue;
        e.events = waits ? EPOLLOUT : 0;
        epoll_ctl(input.epoll_fd, EPOLL_CTL_MOD, r->in_fd, &e);
        r->in_waits = waits;
    }
}

/* Something was typed that no rank waits for.  epoll would tell of it again and again, and of a rank that begins to wait it tells nothing. */
static void look_later(struct job *j)
{
    enum { FIRST_MS = 10, LAST_MS = 200 };
    input.pause_ms = !input.look_at ? FIRST_MS : 2 * input.pause_ms < LAST_MS ? 2 * input.pause_ms : LAST_MS;
    input.look_at = gw_now_ns() + (uint64_t)input.pause_ms * 1000000;
    listen_on(j, NOBODY);
}

int launch_forward_input_due(struct job *j)
{
    if (input.look_at && gw_now_ns() >= input.look_at) launch_forward_input(j);
    uint64_t now = gw_now_ns(); /* once: a time that comes between two readings is not past */
    return !input.look_at ? -1 : input.look_at <= now ? 0 : (int)((input.look_at - now) / 1000000) + 1;
}

static void input_end(struct job *j)
{
    input.over = true;
    epoll_ctl(input.epoll_fd, EPOLL_CTL_DEL, 0, NULL);
    for (int i = 0; i < j->n; i++)
        if (j->ranks[i].in_fd >= 0) {
            close(j->ranks[i].in_fd);
            j->ranks[i].in_fd = -1;
        }
}

/* epoll does not take a regular file, which is always ready: then only room in the ranks' pipes leads here. */
void launch_forward_input(struct job *j)
{
    while (!input.over) {
        for (int i = 0; i < j->n; i++) input_to(&j->ranks[i]);
        if (!input_delivered(j)) {
            listen_on(j, RANKS);
            return;
        }
        if (input.eof) {
            input_end(j);
            return;
        }
        struct pollfd p = {0, POLLIN, 0};
        if (poll(&p, 1, 0) == 0) {
            input.look_at = 0;
            listen_on(j, OURS);
            return;
        }
        if (!(p.revents & POLLHUP) && isatty(0) && !launch_terminal_is_wanted(j)) {
            look_later(j);
            return;
        }
        ssize_t n = read(0, input.data, sizeof input.data);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        input.look_at = 0;
        input.len = n > 0 ? (size_t)n : 0;
        input.eof = n <= 0;
        for (int i = 0; i < j->n; i++) j->ranks[i].in_done = 0;
    }
}

/* fd < 0: there is none to watch. */
static bool watch_add(int fd, uint32_t events, void *what)
{
    struct epoll_event e = {.events = events, .data.ptr = what};
    return fd < 0 || epoll_ctl(input.epoll_fd, EPOLL_CTL_ADD, fd, &e) == 0;
}

int launch_forward_start(struct job *j)
{
    assert(j->n > 0 && j->ranks);
    bool wanted = false, is_watched = true;
    input.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (input.epoll_fd < 0) return -1;
    for (int i = 0; i < j->n && is_watched; i++) {
        struct rank *r = &j->ranks[i];
        is_watched =
            watch_add(r->out.fd, EPOLLIN, &r->out) && watch_add(r->err.fd, EPOLLIN, &r->err) && watch_add(r->in_fd, 0, NULL);
        wanted |= r->in_fd >= 0;
    }
    if (!is_watched) return -1;
    launch_output_pipes(signal(SIGPIPE, SIG_IGN)); /* writing to a rank that has closed its input must not end mpiexec */
    if (wanted) {
        input.listening = OURS;
        if (!watch_add(0, EPOLLIN, NULL) && errno != EPERM) return -1; /* EPERM: a regular file, which is always ready */
        launch_forward_input(j);
    }
    return input.epoll_fd;
}

void launch_forward_end(struct job *j)
{
    for (int i = 0; i < j->n; i++) {
        struct stream *of[2] = {&j->ranks[i].out, &j->ranks[i].err};
        for (int k = 0; k < 2; k++) {
            /* Bounded, because a process that a rank has left running may write for ever; 64 reads are more than a pipe holds. */
            for (int turns = 0; of[k]->fd >= 0 && turns < 64; turns++) {
                if (!has_more(of[k]->fd)) break;
                launch_forward_output(j, of[k]);
            }
            if (of[k]->fd >= 0 || of[k]->is_far) stream_close(j, of[k]);
        }
    }
}
