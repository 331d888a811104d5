/* boot_port.c -- ports: abstract unix sockets that go with their process; the way to a launcher that starts more processes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"

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
    /* Abstract (the first byte is 0): no file, and it goes with the socket. */
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
    if (s >= 0 && (bind(s, (struct sockaddr *)&a, len) != 0 || listen(s, backlog) != 0)) return close_keep_errno(s);
    return s;
}

/* Of our user, or of root.  That we are root ourselves lets nobody else in. */
static bool is_ours(int s)
{
    struct ucred who = {0};
    socklen_t len = sizeof who;
    return getsockopt(s, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && len == sizeof who && (who.uid == geteuid() || who.uid == 0);
}

int boot_port_accept(int listener)
{
    int s = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (s < 0 || is_ours(s)) return s;
    close(s);
    errno = EAGAIN; /* a stranger: wait for the next */
    return -1;
}

int boot_named_connect(const char *name)
{
    struct sockaddr_un a;
    socklen_t len = address_of(name, &a);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0) return -1;
    if (connect(s, (struct sockaddr *)&a, len) != 0) return close_keep_errno(s);
    if (is_ours(s)) return s;
    errno = EACCES;
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

int boot_port_listen(uint64_t port, int backlog)
{
    return boot_named_listen(name_of(port).text, backlog);
}
int boot_port_connect(uint64_t port)
{
    return boot_named_connect(name_of(port).text);
}

int64_t boot_port_read(int fd, void *data, size_t bytes)
{
    ssize_t n = read(fd, data, bytes);
    if (n > 0) return n;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (n == 0) errno = ECONNRESET;
    return -1;
}

int64_t boot_port_write(int fd, const void *data, size_t bytes)
{
    ssize_t n = send(fd, data, bytes, MSG_NOSIGNAL);
    if (n >= 0) return n;
    return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

/* ---- a launcher ---------------------------------------------------------------------------------------------------- */
/* Beside the library as it is installed, or as it is built. */
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

/* It becomes nobody's child, so that the program's own waiting for children does not meet it. */
static int start_mpiexec(int *fd_out)
{
    char path[4096], facts[48];
    int ends[2], status = 0;
    pid_t pid;
    if (!find_mpiexec(path))
        return gw_fail(GW_ESPAWN, "this process has no launcher of Godwit, and there is no mpiexec beside the library");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return gw_fail(GW_ESPAWN, "no socket to a launcher: %s", strerror(errno));
    int inherited = fcntl(ends[1], F_DUPFD, 3); /* without FD_CLOEXEC */
    snprintf(facts, sizeof facts, "fd=%d,alone=1", inherited);
    char *argv[] = {"mpiexec", "--spawned", facts, NULL};
    int rc = posix_spawn(&pid, path, NULL, NULL, argv, environ);
    close(inherited);
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

int boot_spawner(int *fd_out, bool *is_alone_out)
{
    const struct boot_head *h = boot_head_mapped();
    *is_alone_out = !h->control;
    if (!h->control) return start_mpiexec(fd_out);
    int fd = boot_port_connect(h->control);
    for (int tries = 0; fd < 0 && errno == EAGAIN && tries < 1000; tries++) {
        usleep(1000);
        fd = boot_port_connect(h->control);
    }
    if (fd < 0) return gw_fail(GW_ESPAWN, "mpiexec does not answer: %s", strerror(errno));
    *fd_out = fd;
    return GW_OK;
}
