/* doctor_look.c -- mpiexec doctor: what must be found out by system calls.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "base/settings.h"
#include "base/time.h"
#include "bind/bind.h"
#include "doctor/doctor.h"
#include "job/child.h"
#include "net/network.h"

extern char **environ;

static uint64_t limit(int which, bool hard)
{
    struct rlimit r;
    if (getrlimit(which, &r) < 0) return UINT64_MAX;
    rlim_t v = hard ? r.rlim_max : r.rlim_cur;
    return v == RLIM_INFINITY ? UINT64_MAX : v;
}

static int try_memfd(void)
{
    enum { BYTES = 1 << 20 };
    int fd = memfd_create("godwit-doctor", MFD_CLOEXEC), rc = 0;
    if (fd < 0) return errno;
    /* Growing a file beyond the limit of file sizes raises SIGXFSZ; another check reports that limit. */
    if (limit(RLIMIT_FSIZE, false) >= BYTES) rc = posix_fallocate(fd, 0, BYTES);
    void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        rc = errno;
    else
        munmap(p, BYTES);
    close(fd);
    return rc;
}

/* One process reads the memory of another one that is not its parent, as ranks do. */
static uint64_t cma_word;

static int cma_read(pid_t pid, uint64_t want)
{
    assert(pid > 0);
    uint64_t got = 0;
    struct iovec to = {&got, sizeof got}, from = {&cma_word, sizeof cma_word};
    ssize_t n = gw_cma_read(pid, &to, 1, &from, 1);
    return n < 0 ? (int)-n : n == sizeof got && got == want ? 0 : EIO;
}

static int try_cma(void)
{
    uint64_t want = 0x676f64776974 ^ (uint64_t)getpid();
    int ready[2], hold[2], status = 0;
    char byte;
    if (pipe2(ready, O_CLOEXEC) < 0) return NOT_TRIED;
    if (pipe2(hold, O_CLOEXEC) < 0) {
        close(ready[0]);
        close(ready[1]);
        return NOT_TRIED;
    }
    pid_t target = fork();
    if (target == 0) {
        cma_word = want;
        close(hold[1]);
        if (write(ready[1], "", 1) == 1) read(hold[0], &byte, 1) < 0 ? _exit(1) : _exit(0);
        _exit(1);
    }
    close(ready[1]);
    pid_t reader = target < 0 || read(ready[0], &byte, 1) != 1 ? -1 : fork();
    if (reader == 0) _exit(cma_read(target, want));
    if (reader > 0 && waitpid(reader, &status, 0) != reader) reader = -1;
    close(ready[0]);
    close(hold[0]);
    close(hold[1]);
    if (target > 0) waitpid(target, NULL, 0);
    return reader > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : NOT_TRIED;
}

/* Addresses of interfaces, IPv4 first among equals as the kernel lists them. */
static char *addresses(void)
{
    struct ifaddrs *all;
    char *text = gw_xasprintf("%s", "");
    if (getifaddrs(&all) < 0) return text;
    for (struct ifaddrs *i = all; i; i = i->ifa_next) {
        char address[INET6_ADDRSTRLEN];
        if (!i->ifa_addr || !(i->ifa_flags & IFF_UP)) continue;
        const void *at = i->ifa_addr->sa_family == AF_INET ? (const void *)&((struct sockaddr_in *)i->ifa_addr)->sin_addr
            : i->ifa_addr->sa_family == AF_INET6           ? (const void *)&((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr
                                                           : NULL;
        if (!at || !inet_ntop(i->ifa_addr->sa_family, at, address, sizeof address)) continue;
        char *longer = gw_xasprintf("%s%s%s %s", text, *text ? ", " : "", i->ifa_name, address);
        free(text);
        text = longer;
    }
    freeifaddrs(all);
    return text;
}

/* Looks up the name of this host in a process of its own, because that takes half a minute with a dead name server. */
static void resolve(struct machine *m)
{
    enum { MS = 3000 };
    int p[2], answer = 0;
    m->resolve_ms = NOT_TRIED;
    if (pipe2(p, O_CLOEXEC) < 0) return;
    uint64_t begin = gw_now_ns();
    pid_t pid = fork();
    if (pid == 0) {
        struct addrinfo *found;
        int rc = getaddrinfo(m->host, NULL, NULL, &found);
        if (write(p[1], &rc, sizeof rc) != sizeof rc) _exit(1);
        _exit(0);
    }
    close(p[1]);
    if (pid > 0) {
        struct pollfd f = {.fd = p[0], .events = POLLIN};
        bool came = poll(&f, 1, MS) == 1 && read(p[0], &answer, sizeof answer) == sizeof answer;
        m->resolve_error = !came ? ETIMEDOUT : answer ? ENOENT : 0;
        m->resolve_ms = (int)((gw_now_ns() - begin) / 1000000);
        child_kill(pid, SIGKILL);
        child_reap(pid);
    }
    close(p[0]);
}

/* The first pid namespace has the same number on all machines (the kernel's PROC_PID_INIT_INO), and hidepid= hides other users' alone. */
static bool sees_all(void)
{
    static const uint64_t first_pids = 0xEFFFFFFC;
    struct stat st;
    return gw_has_proc() && stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == first_pids;
}

void doctor_machine_look(struct machine *m, unsigned when)
{
    struct statvfs fs;
    char host[256] = "";
    m->root = "";
    m->path = getenv("PATH");
    m->library_path = getenv("LD_LIBRARY_PATH");
    m->preload = getenv("LD_PRELOAD");
    m->tmpdir = getenv("TMPDIR");
    m->home = getenv("HOME");
    m->env = environ;
    m->own_bin = gw_own_folder();
    if (gethostname(host, sizeof host - 1) < 0) host[0] = 0;
    m->host = gw_xasprintf("%s", host);
    m->uid = geteuid();
    m->is_known = m->home || getpwuid(m->uid); /* this may ask a server */
    m->cpus_allowed = gw_cores_mask(0);
    if (!m->ranks) m->ranks = bind_cores(NULL);
    m->memfd_error = try_memfd();
    if (statvfs("/dev/shm", &fs) == 0) {
        m->shm_total = (uint64_t)fs.f_blocks * fs.f_frsize;
        m->shm_free = (uint64_t)fs.f_bavail * fs.f_frsize;
    }
    m->memlock = limit(RLIMIT_MEMLOCK, false);
    m->files = limit(RLIMIT_NOFILE, true);
    m->processes = limit(RLIMIT_NPROC, false);
    m->file_size = limit(RLIMIT_FSIZE, false);
    m->address_space = limit(RLIMIT_AS, false);
    m->memory = gw_memory_available(&m->memory_limit);
    m->sees_all = sees_all();
    if (m->memory == INT64_MAX) m->memory = -1;
    m->cma_error = m->resolve_ms = NOT_TRIED;
    m->addresses = addresses();
    if (when & WHEN_ASKED) {
        m->cma_error = try_cma();
        resolve(m);
        gw_settings_load(); /* settings also choose the network */
        char network[640];
        m->has_network = network_line(network, sizeof network) == GW_OK;
        m->network = gw_xasprintf("%s", network);
    }
}

void doctor_machine_free(struct machine *m)
{
    free((char *)m->own_bin);
    free((char *)m->host);
    free((char *)m->addresses);
    free((char *)m->network);
}
