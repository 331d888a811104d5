/* boot_port.c -- ports: abstract unix sockets, which end with their process; the connection to a launcher that starts more processes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/time.h"
#include "boot/name.h"
#include "boot/port.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

uint64_t boot_random(void)
{
    uint64_t v = 0;
    if (getrandom(&v, sizeof v, GRND_NONBLOCK) != sizeof v) v = gw_now_ns() ^ (uint64_t)getpid() << 40;
    return v ? v : 1;
}

static socklen_t address_of(const char *name, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    /* Abstract (the first byte is 0): there is no file, and the name ends with the socket. */
    size_t n = strnlen(name, sizeof a->sun_path - 1);
    memcpy(a->sun_path + 1, name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static int close_keep_errno(int fd)
{
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

int boot_named_listen(const char *name, int backlog)
{
    struct sockaddr_un a;
    socklen_t len = address_of(name, &a);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s >= 0 && (bind(s, (struct sockaddr *)&a, len) != 0 || (backlog && listen(s, backlog) != 0))) return close_keep_errno(s);
    return s;
}

/* In a user namespace that maps only some users, all others have the same number, which a real user may have, too. */
static bool user_is_certain(uid_t uid)
{
    enum { OVERFLOW_UID = 65534 };
    unsigned inside, outside, count = 0;
    if (uid != OVERFLOW_UID) return true;
    FILE *f = fopen("/proc/self/uid_map", "re");
    bool is_whole = f && fscanf(f, "%u %u %u", &inside, &outside, &count) == 3 && count == UINT32_MAX;
    if (f) fclose(f);
    return is_whole;
}

bool boot_user_is_ours(uid_t uid) { return uid == geteuid() || uid == 0; }

static bool peer_of(int s, struct ucred *who_out)
{
    socklen_t len = sizeof *who_out;
    return getsockopt(s, SOL_SOCKET, SO_PEERCRED, who_out, &len) == 0 && len == sizeof *who_out && boot_user_is_ours(who_out->uid);
}

bool boot_peer_is_ours(int s)
{
    struct ucred who;
    return peer_of(s, &who);
}

/* Is it a process of our user?  The kernel knows users by their numbers outside of all namespaces.  By these it lets a process signal those of
 * its own user only, and open their environment. */
static bool process_is_ours(pid_t pid)
{
    char path[64];
    if (pid <= 0) return false; /* it is not to be seen in this pid namespace */
    if (kill(pid, 0) == 0) return true;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

const char *boot_port_why(int error)
{
    switch (error) {
    case EACCES: return "a process of another user has taken its place";
    case EKEYREJECTED:
        return "nothing shows that the process which listens there is this user's: the kernel shows number 65534 for all users that a "
               "user namespace does not know, and that process cannot be signalled, nor seen in /proc; run both as another user, or in "
               "one pid namespace with /proc";
    default: return strerror(error);
    }
}

int boot_named_connect(const char *name)
{
    struct sockaddr_un a;
    struct ucred who;
    socklen_t len = address_of(name, &a);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0) return -1;
    if (connect(s, (struct sockaddr *)&a, len) != 0) return close_keep_errno(s);
    /* Before the secret is sent, the listener must be known to be a process of our user. */
    bool seems_ours = peer_of(s, &who);
    if (seems_ours && (user_is_certain(who.uid) || process_is_ours(who.pid))) return s;
    errno = seems_ours ? EKEYREJECTED : EACCES;
    return close_keep_errno(s);
}

struct port_name {
    char text[32];
};
static struct port_name name_of(uint64_t port)
{
    struct port_name n;
    snprintf(n.text, sizeof n.text, "godwit-%016llx", (unsigned long long)port);
    return n;
}

int boot_port_listen(uint64_t port, int backlog) { return boot_named_listen(name_of(port).text, backlog); }

int boot_port_connect(const struct boot_port *port, int patience_ms)
{
    enum { AGAIN_US = 200 };
    uint64_t until = patience_ms ? gw_now_ns() + (uint64_t)patience_ms * 1000000 : 0;
    int s = boot_named_connect(name_of(port->name).text);
    while (s < 0 && gw_error_may_pass(errno) && patience_ms && gw_now_ns() < until) {
        usleep(AGAIN_US);
        s = boot_named_connect(name_of(port->name).text);
    }
    if (s < 0) return -1;
    /* A fresh socket has room for it. */
    int64_t n = boot_port_write(s, &port->secret, sizeof port->secret);
    if (n == (int64_t)sizeof port->secret) return s;
    if (n >= 0) errno = EIO;
    return close_keep_errno(s);
}

/* A signal came, or the kernel has no memory just now, and will tell nobody when it has: asks again for a while. */
static bool asks_again(ssize_t n, int *tries)
{
    enum { TRIES = 1000 };
    if (likely(n >= 0) || (errno != EINTR && errno != ENOMEM && errno != ENOBUFS) || ++*tries > TRIES) return false;
    if (errno != EINTR) gw_yield();
    return true;
}

int64_t boot_port_read(int fd, void *data, size_t bytes)
{
    int tries = 0;
    ssize_t n;
    do n = recv(fd, data, bytes, MSG_DONTWAIT); /* the descriptor may be blocking: the program made it */
    while (asks_again(n, &tries));
    if (n > 0) return n;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (n == 0) errno = ECONNRESET;
    return -1;
}

int64_t boot_port_write(int fd, const void *data, size_t bytes)
{
    int tries = 0;
    ssize_t n;
    do n = send(fd, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (asks_again(n, &tries));
    if (n >= 0) return n;
    return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

/* ---- a launcher ---------------------------------------------------------------------------------------------------- */
/* mpiexec lies beside the library, in the folders of an installation or of a build. */
static bool find_mpiexec(char path_out[4096])
{
    static const char *const places[] = {"../bin/mpiexec", "mpiexec"};
    Dl_info here;
    if (!dladdr((void *)(uintptr_t)boot_spawner, &here) || !here.dli_fname) return false;
    char *real = realpath(here.dli_fname, NULL), *end = real ? strrchr(real, '/') : NULL;
    bool found = false;
    for (size_t i = 0; end && i < GW_ARRAY_LEN(places) && !found; i++) {
        snprintf(path_out, 4096, "%.*s/%s", (int)(end - real), real, places[i]);
        found = access(path_out, X_OK) == 0;
    }
    free(real);
    return found;
}

/* mpiexec forks once more at its start, so that it is no child of the program, whose wait() would find it. */
static int start_mpiexec(int *fd_out)
{
    char path[4096], facts[48];
    int ends[2], status = 0;
    pid_t pid;
    if (!find_mpiexec(path))
        return gw_fail(GW_ESPAWN, "this process has no launcher of Godwit, and there is no mpiexec beside the library");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return gw_fail(GW_ESPAWN, "no socket to a launcher: %s", strerror(errno));
    posix_spawn_file_actions_t files;
    snprintf(facts, sizeof facts, "fd=%d,alone=1", ends[1]);
    char *argv[] = {"mpiexec", "--spawned", facts, NULL};
    posix_spawn_file_actions_init(&files);
    int rc = posix_spawn_file_actions_adddup2(
        &files, ends[1], ends[1]); /* mpiexec inherits this descriptor; processes that other threads start meanwhile do not */
    if (rc == 0) rc = posix_spawn(&pid, path, &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (rc == 0) {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        *fd_out = ends[0];
        return GW_OK;
    }
    close(ends[0]);
    return gw_fail(GW_ESPAWN, "%s cannot be started: %s", path, strerror(rc));
}

/* A byte comes with it: a message without one may be lost. */
union fd_room {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int boot_fd_send(int s, int fd)
{
    char byte = 0;
    union fd_room room = {0};
    struct iovec v = {&byte, 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    assert(fd >= 0);
    *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    return sendmsg(s, &m, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

int boot_fd_receive(int s)
{
    char byte;
    int fd = -1;
    union fd_room room = {0};
    struct iovec v = {&byte, 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    if (recvmsg(s, &m, MSG_CMSG_CLOEXEC) != 1) return -1;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

int boot_spawner(int *fd_out, bool *is_alone_out)
{
    enum { PATIENCE_MS = 20000 };
    const struct boot_head *h = boot_head_mapped();
    struct boot_port control = h->control;
    *is_alone_out = !control.name;
    if (!control.name) return start_mpiexec(fd_out);
    int fd = boot_port_connect(&control, PATIENCE_MS);
    if (fd < 0) return gw_fail(GW_ESPAWN, "mpiexec does not answer: %s", boot_port_why(errno));
    *fd_out = fd;
    return GW_OK;
}
