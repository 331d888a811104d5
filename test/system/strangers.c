/* strangers.c -- what another user of the machine tries: helper of strangers.sh.
 *
 *   strangers sockets PID          names of the abstract sockets that process PID holds, one a line, without the leading zero
 *   strangers ask NAME FILE        asks at the control port NAME for a program that writes FILE; exit 0: it was heard to the end
 *   strangers listen NAME...       listens at them and prints what comes; one that is taken is left out
 *   strangers forge NAME SERVICE   publishes the service anew under its own process and port, as NAME says that another did
 *   strangers fill NAME            keeps the queue of a listener full, and what it is let into, until it is ended; prints "full" once
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t address_of(const char *name, struct sockaddr_un *a)
{
    memset(a, 0, sizeof *a);
    a->sun_family = AF_UNIX;
    size_t n = strnlen(name, sizeof a->sun_path - 1);
    memcpy(a->sun_path + 1, name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static int connect_to(const char *name)
{
    struct sockaddr_un a;
    socklen_t len = address_of(name, &a);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&a, len) != 0) {
        fprintf(stderr, "no connection to %s: %s\n", name, strerror(errno));
        exit(3);
    }
    return s;
}

/* ---- sockets ---- */
static int holds(const char *pid, unsigned long inode)
{
    char folder[64], path[512], to[64], want[64];
    int found = 0;
    snprintf(folder, sizeof folder, "/proc/%s/fd", pid);
    snprintf(want, sizeof want, "socket:[%lu]", inode);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        ssize_t n = readlink(path, to, sizeof to - 1);
        to[n > 0 ? n : 0] = 0;
        found = strcmp(to, want) == 0;
    }
    if (d) closedir(d);
    return found;
}

static int sockets(const char *pid)
{
    char line[512], name[256];
    unsigned long inode;
    FILE *f = fopen("/proc/net/unix", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%*s %*s %*s %*s %*s %*s %lu @%255s", &inode, name) == 2 && holds(pid, inode)) puts(name);
    if (f) fclose(f);
    return 0;
}

/* ---- the control port ---- */
static int ask(const char *name, const char *file)
{
    char request[1024], script[512], answer[256];
    snprintf(script, sizeof script, "id -u > %s", file);
    int n = snprintf(request, sizeof request, "program%c/bin/sh%cn%c1%carg%c-c%carg%c%s%c", 0, 0, 0, 0, 0, 0, 0, script, 0);
    request[n] = 0; /* the empty word */
    int s = connect_to(name);
    struct pollfd p = {s, POLLIN, 0};
    if (send(s, request, (size_t)n + 1, MSG_NOSIGNAL) < 0) return 1;
    return poll(&p, 1, 10000) == 1 && read(s, answer, sizeof answer) > 0 ? 0 : 1;
}

/* ---- names and ports ---- */
static int bound(const char *name, int flags)
{
    struct sockaddr_un a;
    socklen_t len = address_of(name, &a);
    int s = socket(AF_UNIX, SOCK_STREAM | flags, 0);
    if (s >= 0 && bind(s, (struct sockaddr *)&a, len) == 0) return s;
    fprintf(stderr, "%s: %s\n", name, strerror(errno));
    close(s);
    return -1;
}

static int do_listen(int n, char **names)
{
    struct pollfd p[64];
    char text[256];
    int taken = 0;
    for (int i = 0; i < n && taken < 64; i++) {
        int s = bound(names[i], 0);
        if (s >= 0 && listen(s, 64) == 0) p[taken++] = (struct pollfd){s, POLLIN, 0};
    }
    printf("listens at %d\n", taken);
    fflush(stdout);
    while (poll(p, (nfds_t)taken, -1) > 0) {
        for (int i = 0; i < taken; i++) {
            if (!p[i].revents) continue;
            int s = accept(p[i].fd, NULL, NULL);
            ssize_t got = recv(s, text, sizeof text, 0);
            printf("somebody came and said %zd bytes\n", got);
            fflush(stdout);
            close(s);
        }
    }
    return 0;
}

/* As boot_name.c writes it.  Ends only where that fails. */
static int forge(const char *name, const char *service)
{
    struct {
        uint64_t magic, id;
        uint32_t service_bytes, port_bytes;
    } p = {UINT64_C(0x31454d414e5747), 99, (uint32_t)strlen(service) + 1, 7};
    char fake[128];
    unsigned uid, hash;
    int fd = memfd_create("godwit-name", MFD_ALLOW_SEALING);
    if (sscanf(name, "godwit-name-%u-%2x-", &uid, &hash) != 2) return 2;
    if (write(fd, &p, sizeof p) < 0 || write(fd, service, p.service_bytes) < 0 || write(fd, "forged", 7) < 0) return 2;
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) return 2;
    snprintf(fake, sizeof fake, "godwit-name-%u-%02x-%d-%d-%016x", uid, hash, (int)getpid(), fd, 99);
    if (bound(fake, 0) < 0) return 2;
    puts("forged");
    fflush(stdout);
    for (;;) pause();
}

static void fill(const char *name)
{
    enum { MOST = 20000 };
    static int s[MOST];
    struct rlimit r;
    struct sockaddr_un a;
    socklen_t len = address_of(name, &a);
    int n = 0, is_said = 0;
    char byte;
    if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
    }
    for (;;) {
        int fd = n < MOST ? socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0) : -1;
        if (fd >= 0 && connect(fd, (struct sockaddr *)&a, len) == 0) {
            s[n++] = fd;
            continue;
        }
        if (fd >= 0) close(fd);
        if (!is_said) puts("full");
        fflush(stdout);
        is_said = 1;
        for (int i = 0; i < n;) /* those that were closed at the other side make room for others */
            if (recv(s[i], &byte, 1, MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EINTR))
                close(s[i]), s[i] = s[--n];
            else
                i++;
        usleep(100);
    }
}

int main(int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends with the shell that started it */
    if (argc > 2 && strcmp(argv[1], "listen") == 0) return do_listen(argc - 2, argv + 2);
    if (argc == 4 && strcmp(argv[1], "forge") == 0) return forge(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "fill") == 0) fill(argv[2]);
    if (argc == 3 && strcmp(argv[1], "sockets") == 0) return sockets(argv[2]);
    if (argc == 4 && strcmp(argv[1], "ask") == 0) return ask(argv[2], argv[3]);
    fprintf(stderr, "strangers: see its first lines\n");
    return 2;
}
