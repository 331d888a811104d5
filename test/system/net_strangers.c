/* net_strangers.c -- sends to a process of a job what no rank of it sends, by the provider of libfabric that the job uses, or by plain TCP.
 *
 *   net_strangers PROVIDER PID|ADDRESS:PORT SECONDS WAY
 *   net_strangers where PID: its address and port; net_strangers count PID: of its descriptors, those that are sockets
 *
 * packets: random bytes, packets as a rank's with other keys, too short ones and too long ones; large: those that no buffer takes; vanish: long
 * ones whose sender ends half way; stall: whose sender stays and is silent; tagged: guesses of tickets; memory: writes and reads under guessed keys; garbage: random bytes to
 * the listening port, and connections that end at once; hold: 100 connections that say nothing,
 * with hold=FILE not for so long but until that is there, so long at most;
 * ack: the acknowledgement of a message that was never sent, behind proper ones.  The last line says how many went.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <dirent.h>
#include <limits.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void die(const char *what)
{
    fprintf(stderr, "net_strangers: %s\n", what);
    exit(2);
}

/* ---- where the process listens ------------------------------------------------------------------------------------------------- */
static int has_inode(int pid, unsigned long inode)
{
    char path[64], link[64], want[64];
    int found = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    snprintf(want, sizeof want, "socket:[%lu]", inode);
    DIR *d = opendir(path);
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof link - 1);
        if (n > 0) link[n] = 0, found = strcmp(link, want) == 0;
    }
    if (d) closedir(d);
    return found;
}
static int parent_of(int pid)
{
    char path[64];
    int parent = -1;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%*d (%*[^)]) %*c %d", &parent) != 1) die("no such process");
    fclose(f);
    return parent;
}
/* The first socket of its own that listens, lane 0's: what its launcher has, too, is not its own. */
static struct sockaddr_in victim(int pid)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/net/tcp", pid);
    FILE *f = fopen(path, "r");
    int parent = parent_of(pid);
    unsigned long first = ULONG_MAX;
    while (f && fgets(line, sizeof line, f)) {
        unsigned ip, port, state;
        unsigned long inode;
        if (sscanf(line, " %*d: %x:%x %*x:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu", &ip, &port, &state, &inode) != 4) continue;
        if (state != 10 || inode > first || !has_inode(pid, inode) || has_inode(parent, inode)) continue;
        first = inode;
        a.sin_addr.s_addr = ip ? ip : htonl(INADDR_LOOPBACK);
        a.sin_port = htons((uint16_t)port);
    }
    if (f) fclose(f);
    if (!a.sin_port) die("the process listens on no port of TCP");
    return a;
}

static struct sockaddr_in victim_of(const char *text)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    char ip[INET_ADDRSTRLEN];
    unsigned port;
    if (!strchr(text, ':')) return victim(atoi(text));
    if (sscanf(text, "%15[0-9.]:%u", ip, &port) != 2 || inet_pton(AF_INET, ip, &a.sin_addr) != 1) die("no such address");
    a.sin_port = htons((uint16_t)port);
    return a;
}
static int sockets_of(int pid)
{
    char path[64], link[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *d = opendir(path);
    if (!d) die("no such process");
    for (struct dirent *e; (e = readdir(d));) {
        ssize_t bytes = readlinkat(dirfd(d), e->d_name, link, sizeof link - 1);
        n += bytes > 7 && strncmp(link, "socket:", 7) == 0;
    }
    closedir(d);
    return n;
}

/* ---- by libfabric ---------------------------------------------------------------------------------------------------------------- */
static struct fid_domain *domain;
static struct fid_ep *ep;
static struct fid_cq *cq;
static fi_addr_t to;
static char *buf;
enum { BYTES = 4 << 20 };

static struct fi_info *info;
static void provider_find(const char *provider, const struct sockaddr_in *at) /* that takes its time, so once for all children */
{
    struct fi_info *hints = fi_allocinfo();
    char ip[INET_ADDRSTRLEN];
    struct sockaddr_in here; /* the address of ours that leads there */
    socklen_t bytes = sizeof here;
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (connect(s, (const struct sockaddr *)at, sizeof *at) != 0 || getsockname(s, (struct sockaddr *)&here, &bytes) != 0)
        die("no way there");
    close(s);
    inet_ntop(AF_INET, &here.sin_addr, ip, sizeof ip);
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->fabric_attr->prov_name = strdup(provider);
    if (fi_getinfo(FI_VERSION(1, 14), ip, NULL, FI_SOURCE, hints, &info)) die("no such provider");
}
static void endpoint_open(const struct sockaddr_in *at)
{
    struct fid_fabric *fabric;
    struct fid_av *av;
    struct fi_cq_attr ca = {.format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr aa = {.type = FI_AV_TABLE};
    if (fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL) ||
        fi_cq_open(domain, &ca, &cq, NULL) || fi_av_open(domain, &aa, &av, NULL) || fi_endpoint(domain, info, &ep, NULL) ||
        fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) || fi_ep_bind(ep, &av->fid, 0) || fi_enable(ep))
        die("the endpoint does not open");
    if (fi_av_insert(av, at, 1, &to, 0, NULL) != 1) die("the address is not taken");
    buf = calloc(1, BYTES);
}

/* For so long, or until there is one. */
static int progress(double seconds)
{
    struct fi_cq_tagged_entry e;
    struct fi_cq_err_entry err;
    for (double until = now() + seconds;;) {
        ssize_t n = fi_cq_read(cq, &e, 1);
        if (n == 1) return 1;
        if (n == -FI_EAVAIL && fi_cq_readerr(cq, &err, 0) == 1) return -1;
        if (now() > until) return 0;
    }
}

static struct fi_context2 context[64];
static int posted(ssize_t rc) { return rc == -FI_EAGAIN ? (progress(0.01), 0) : rc == 0 ? progress(0.3) > 0 : -1; }
static void random_fill(size_t n)
{
    for (size_t i = 0; i < n; i++) buf[i] = (char)rand();
}

/* As ranks do, but with another key: 8 bytes; length, kind, 16 bytes of a header, payload. */
static size_t forged(size_t len, uint64_t key)
{
    uint32_t n = (uint32_t)len;
    random_fill(32 + len);
    memcpy(buf, &key, sizeof key);
    memcpy(buf + 8, &n, sizeof n);
    buf[12] = (char)(rand() % 16);
    return (32 + len + 7) / 8 * 8;
}

static size_t packet_make(int k)
{
    uint64_t key = (uint64_t)rand() << 33 ^ (uint64_t)rand() << 10 ^ (uint64_t)rand();
    switch (k % 6) {
    case 0: {
        size_t n = 1 + (size_t)rand() % 300;
        random_fill(n);
        return n;
    }
    case 1: return forged((size_t)rand() % 100, 0);
    case 2: return forged((size_t)rand() % 4000, key);
    case 3: return forged((size_t)rand() % 8000, key) + 5; /* others do not lie aligned behind it */
    case 4: return forged(1, key) - 8 * ((size_t)rand() % 5);
    default: return forged(100000 + (size_t)rand() % 30000, key);
    }
}

/* A packet that a buffer has room for, of which only the first few KiB go out. */
static int told; /* a child says here that it has done what it is for */
static void half_send(int stays)
{
    int rc = 0, small = 4096;
    for (int i = 0; i < 100 && rc == 0; i++) rc = posted(fi_send(ep, buf, forged(8, 1), NULL, to, &context[0]));
    for (int fd = 3; fd < 100; fd++) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    if (rc <= 0 || fi_send(ep, buf, forged(100000, 1), NULL, to, &context[1]) != 0) _exit(3);
    if (write(told, &rc, sizeof rc) != sizeof rc) _exit(3);
    while (stays) pause();
    _exit(0);
}

/* The head that libfabric 1.17 puts before each message over TCP, with op_data 2: what was sent has arrived. */
static int ack_send(const struct sockaddr_in *at)
{
    static const unsigned char frame[16] = {3, 0, 0, 0, 2, 0, 16, 0, 16}; /* the last number as the host has it */
    int n = 0, rc = 0;
    for (int i = 0; i < 100 && rc == 0; i++) rc = posted(fi_send(ep, buf, forged(8, 1), NULL, to, &context[0]));
    if (rc < 0) return -1;
    for (int fd = 3; fd < 100; fd++) {
        struct sockaddr_in peer;
        socklen_t bytes = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &bytes) != 0 || peer.sin_port != at->sin_port) continue;
        n += send(fd, frame, sizeof frame, MSG_NOSIGNAL) == sizeof frame;
    }
    usleep(300000);
    return n > 0 ? 1 : -1;
}

static struct sockaddr_in whom;
static int way_do(const char *way, int k)
{
    if (strcmp(way, "ack") == 0) return ack_send(&whom);
    if (strcmp(way, "packets") == 0) return posted(fi_send(ep, buf, packet_make(k), NULL, to, &context[k % 64]));
    if (strcmp(way, "large") == 0) return posted(fi_send(ep, buf, (size_t)(600 << 10) + (size_t)k % 5, NULL, to, &context[k % 64]));
    if (strcmp(way, "tagged") == 0)
        return posted(fi_tsend(ep, buf, 100 + (size_t)k % 5000, NULL, to, (uint64_t)k + 1, &context[k % 64]));
    if (strcmp(way, "memory") == 0) {
        uint64_t key = (uint64_t)k % 40 + 1, offset = k % 3 ? 0 : (uint64_t)rand() << 16;
        return k % 2 ? posted(fi_write(ep, buf, 64, NULL, to, offset, key, &context[k % 64]))
                     : posted(fi_read(ep, buf, 64, NULL, to, offset, key, &context[k % 64]));
    }
    if (strcmp(way, "vanish") == 0 || strcmp(way, "stall") == 0) half_send(strcmp(way, "stall") == 0);
    die("no such way");
    return 0;
}

/* Each by a process of its own: what the victim's provider does not like ends the connection. */
static int by_fabric(const char *provider, const struct sockaddr_in *at, const char *way, double until)
{
    enum { STALLS = 12 };
    double begun = now();
    pid_t children[STALLS];
    int pipes[2], n = 0, some;
    if (pipe(pipes)) die("no pipe");
    provider_find(provider, at);
    until += now() - begun;
    for (int child = 0; now() < until; child++) {
        pid_t pid = fork();
        if (pid == 0) {
            srand((unsigned)child + 1);
            told = pipes[1];
            endpoint_open(at);
            int sent = 0;
            for (int k = child * 7; sent < 400 && now() < until + (sent ? 0 : 10); k++) {
                int rc = way_do(way, k);
                if (rc < 0) break;
                sent += rc;
            }
            if (write(pipes[1], &sent, sizeof sent) != sizeof sent) _exit(1);
            _exit(0);
        }
        int status;
        if (strcmp(way, "stall") == 0) {
            struct pollfd of = {.fd = pipes[0], .events = POLLIN};
            if (poll(&of, 1, 10000) == 1 && read(pipes[0], &some, sizeof some) == sizeof some)
                children[n++] = pid;
            else
                kill(pid, SIGKILL), waitpid(pid, NULL, 0);
            if (n == STALLS) break;
            continue;
        }
        waitpid(pid, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 2) exit(2);
        if (status == 0 && read(pipes[0], &some, sizeof some) == sizeof some) n += some;
    }
    while (now() < until) usleep(10000);
    for (int i = 0; strcmp(way, "stall") == 0 && i < n; i++) {
        int status = 0;
        kill(children[i], SIGKILL);
        waitpid(children[i], &status, 0);
    }
    return n;
}

/* ---- by plain TCP ---------------------------------------------------------------------------------------------------------------- */
static int tcp_connect(const struct sockaddr_in *at)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s >= 0 && connect(s, (const struct sockaddr *)at, sizeof *at) == 0) return s;
    if (s >= 0) close(s);
    return -1;
}
static int garbage(const struct sockaddr_in *at, double until)
{
    int n = 0;
    buf = malloc(BYTES);
    for (; now() < until; n++) {
        int s = tcp_connect(at);
        size_t bytes = (size_t)(n % 4 == 0 ? 0 : n % 4 == 1 ? 1 + rand() % 40 : rand() % 5000);
        if (s < 0) return n;
        random_fill(bytes);
        if (bytes) (void)!send(s, buf, bytes, MSG_NOSIGNAL);
        usleep(n % 8 == 7 ? 20000 : 1000);
        close(s);
    }
    return n;
}
/* Says so when they are there, and holds them for so long from then on, or until there is a file. */
static int hold(const struct sockaddr_in *at, double seconds, const char *file)
{
    int n = 0;
    double until;
    int s[100], went = 0;
    for (; n < 100; n++) {
        s[n] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(s[n], (const struct sockaddr *)at, sizeof *at);
    }
    usleep(500000);
    printf("held\n");
    fflush(stdout);
    for (until = now() + seconds; now() < until && !(file && access(file, F_OK) == 0);) usleep(10000);
    for (int i = 0; i < n; i++) {
        struct sockaddr_in peer;
        socklen_t bytes = sizeof peer;
        went += getpeername(s[i], (struct sockaddr *)&peer, &bytes) == 0;
    }
    return went;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "count") == 0) return printf("%d\n", sockets_of(atoi(argv[2]))) < 0;
    if (argc == 3 && strcmp(argv[1], "where") == 0) {
        char ip[INET_ADDRSTRLEN];
        whom = victim(atoi(argv[2]));
        return printf("%s:%d\n", inet_ntop(AF_INET, &whom.sin_addr, ip, sizeof ip), ntohs(whom.sin_port)) < 0;
    }
    if (argc != 5) die("PROVIDER PID SECONDS WAY");
    struct sockaddr_in at = whom = victim_of(argv[2]);
    double until = now() + atof(argv[3]);
    signal(SIGPIPE, SIG_IGN);
    int n = strcmp(argv[4], "garbage") == 0 ? garbage(&at, until)
        : strcmp(argv[4], "hold") == 0      ? hold(&at, atof(argv[3]), NULL)
        : strncmp(argv[4], "hold=", 5) == 0 ? hold(&at, atof(argv[3]), argv[4] + 5)
                                            : by_fabric(argv[1], &at, argv[4], until);
    printf("%d went\n", n);
    return 0;
}
