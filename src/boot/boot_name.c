/* boot_name.c -- service names: a published name is a memfd with the service and its port, and an abstract unix socket whose
 * name says where that is: "godwit-name-USER-HASH-PID-FD-ID".
 *
 * The kernel lists the sockets in /proc/net/unix, or by netlink where there is no /proc, for everybody; nobody can connect to them.  The memfd is opened through /proc/PID/fd,
 * which the kernel allows to the same user, and counts if it is that user's, sealed (boot_file.c), and has the same ID and service.  So a stranger
 * can bind any name and changes nothing, and reads eight bits of a hash of the service.  Both go with the process that published.
 *
 *   TRYING (of fixed size) --no other of this service--> PUBLISHED (by its magic; sealed against writing, too)
 *
 * Of two that try at once each has its socket before it looks, so one at least sees the other: the greater ID gives way, the smaller
 * waits until it is gone.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/hash.h"
#include "boot/name.h"
#include "boot/port.h"
#include "boot/world.h"
#include "obj/consts_gen.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME_MAGIC UINT64_C(0x31454d414e5747) /* "GWNAME1" */
#define TRY_MAGIC  UINT64_C(0x31595254585747) /* "GWXTRY1" */
enum { SOCKET_BYTES = 108, TEXT_MOST = 1 << 16 };
struct publication {
    uint64_t magic, id;
    uint32_t service_bytes, port_bytes; /* of the texts behind, each with its 0 */
};
enum state { NOT_IT, TRYING, PUBLISHED };

static void key_of(const char *service, char out[SOCKET_BYTES])
{
    uint64_t h = gw_hash(GW_HASH_SEED, service, strlen(service));
    snprintf(out, SOCKET_BYTES, "godwit-name-%u-%02x-", (unsigned)geteuid(), (unsigned)(h ^ h >> 29) & 0xff);
}

bool boot_name_fits(const char *port)
{
    for (const char *p = port; *p; p++)
        if (*p <= ' ' || *p > '~') return false;
    return *port && strlen(port) < GW_MAX_PORT_NAME;
}

/* ---- one publication -------------------------------------------------------------------------------------------------- */
static int file_make(const char *service, const char *port, uint64_t id)
{
    struct publication p = {TRY_MAGIC, id, (uint32_t)strlen(service) + 1, (uint32_t)strlen(port) + 1};
    size_t bytes = sizeof p + p.service_bytes + p.port_bytes;
    char *text = gw_xmalloc(bytes);
    memcpy(text, &p, sizeof p);
    memcpy(text + sizeof p, service, p.service_bytes);
    memcpy(text + sizeof p + p.service_bytes, port, p.port_bytes);
    int fd = boot_file_make("godwit-name", bytes);
    bool is_made = fd >= 0 && pwrite(fd, text, bytes, 0) == (ssize_t)bytes && boot_file_seal(fd, false) == 0;
    int why = errno;
    free(text);
    if (fd >= 0 && !is_made) close(fd);
    errno = why;
    return is_made ? fd : -1;
}

/* What a file that has been read says of the service, and its port. */
static enum state state_in(const char *text, uint64_t bytes, uint64_t id, const char *service, const char **port_out)
{
    struct publication p;
    memcpy(&p, text, sizeof p);
    const char *there = text + sizeof p;
    uint64_t rest = bytes - sizeof p;
    if ((p.magic != NAME_MAGIC && p.magic != TRY_MAGIC) || p.id != id || !p.service_bytes || !p.port_bytes ||
        p.service_bytes > rest || p.port_bytes != rest - p.service_bytes || there[p.service_bytes - 1] || there[rest - 1])
        return NOT_IT;
    *port_out = there + p.service_bytes;
    return strcmp(there, service) != 0 ? NOT_IT : p.magic == NAME_MAGIC ? PUBLISHED : TRYING;
}

static enum state file_read(int pid, int fd, uint64_t id, const char *service, char *port_out, size_t cap)
{
    enum state state = NOT_IT;
    const char *why, *port;
    uint64_t bytes;
    int file = boot_file_open(pid, fd, &why);
    if (file < 0) return NOT_IT;
    if (!boot_file_fault(file, sizeof(struct publication), &bytes) && bytes <= 2 * TEXT_MOST) {
        char *text = gw_xmalloc(bytes);
        if (pread(file, text, bytes, 0) == (ssize_t)bytes) state = state_in(text, bytes, id, service, &port);
        if (state != NOT_IT && strlen(port) < cap)
            strcpy(port_out, port);
        else
            state = NOT_IT;
        free(text);
    }
    close(file);
    return state;
}

/* ---- the kernel's list of abstract sockets ---------------------------------------------------------------------------- */
struct sockets {
    FILE *file; /* NULL: by netlink */
    char *line;
    size_t room;
    int fd;
    struct nlmsghdr *at; /* in `part`; NULL: none is left there */
    size_t left;
    char name[SOCKET_BYTES];
    union {
        struct nlmsghdr header;
        char bytes[1 << 15];
    } part;
};

static bool sockets_ask(int fd)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req what;
    } ask = {{.nlmsg_len = sizeof ask, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
             {.sdiag_family = AF_UNIX, .udiag_states = UINT32_MAX, .udiag_show = UDIAG_SHOW_NAME}};
    return send(fd, &ask, sizeof ask, 0) == (ssize_t)sizeof ask;
}

/* False: see errno. */
static bool sockets_open(struct sockets *s)
{
    *s = (struct sockets){.fd = -1, .file = fopen("/proc/net/unix", "re")};
    if (s->file) return true;
    s->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    return s->fd >= 0 && sockets_ask(s->fd);
}

static void sockets_close(struct sockets *s)
{
    free(s->line);
    if (s->file) fclose(s->file);
    if (s->fd >= 0) close(s->fd);
}

/* The next message of the list, *is_over_out at its end or an error. */
static const struct nlmsghdr *message_next(struct sockets *s, bool *is_over_out)
{
    *is_over_out = false;
    if (s->at) s->at = NLMSG_NEXT(s->at, s->left);
    if (!s->at || !NLMSG_OK(s->at, s->left)) {
        ssize_t n;
        do n = recv(s->fd, &s->part, sizeof s->part, 0);
        while (n < 0 && errno == EINTR);
        s->left = n > 0 ? (size_t)n : 0;
        s->at = &s->part.header;
        if (!NLMSG_OK(s->at, s->left)) *is_over_out = true;
    }
    *is_over_out = *is_over_out || s->at->nlmsg_type == NLMSG_DONE || s->at->nlmsg_type == NLMSG_ERROR;
    return s->at;
}

/* The name of the next abstract socket; NULL: that was all. */
static const char *sockets_next(struct sockets *s)
{
    while (s->file) {
        if (getline(&s->line, &s->room, s->file) <= 0) return NULL;
        const char *at = strchr(s->line, '@');
        if (at) return at + 1;
    }
    bool is_over;
    for (const struct nlmsghdr *m; (m = message_next(s, &is_over)) && !is_over;) {
        if (m->nlmsg_len < NLMSG_LENGTH(sizeof(struct unix_diag_msg))) continue;
        size_t left = m->nlmsg_len - NLMSG_LENGTH(sizeof(struct unix_diag_msg));
        for (const struct rtattr *a = (const void *)((const struct unix_diag_msg *)NLMSG_DATA(m) + 1); RTA_OK(a, left);
             a = RTA_NEXT(a, left)) {
            const char *name = RTA_DATA(a);
            size_t n = RTA_PAYLOAD(a);
            if (a->rta_type != UNIX_DIAG_NAME || n < 2 || n > sizeof s->name || name[0]) continue; /* abstract: begins with 0 */
            memcpy(s->name, name + 1, n - 1);
            s->name[n - 1] = 0;
            return s->name;
        }
    }
    return NULL;
}

/* ---- all of them ------------------------------------------------------------------------------------------------------ */
/* The publication of a service but number `mine` that has come furthest, its port and number. */
static enum state scan(const char *service, uint64_t mine, char port_out[GW_MAX_PORT_NAME], uint64_t *id_out)
{
    char key[SOCKET_BYTES], port[GW_MAX_PORT_NAME];
    const char *name;
    enum state found = NOT_IT;
    struct sockets *all = gw_xmalloc(sizeof *all);
    key_of(service, key);
    bool is_open = sockets_open(all);
    while (is_open && found != PUBLISHED && (name = sockets_next(all))) {
        unsigned long long id;
        int pid, fd, end = 0;
        if (strncmp(name, key, strlen(key)) != 0) continue;
        if (sscanf(name + strlen(key), "%d-%d-%16llx%n", &pid, &fd, &id, &end) != 3 || id == mine) continue;
        enum state s = file_read(pid, fd, id, service, port, sizeof port);
        if (s < found || s == NOT_IT || (s == TRYING && found == TRYING && id > *id_out)) continue;
        found = s;
        *id_out = id;
        strcpy(port_out, port);
    }
    sockets_close(all);
    free(all);
    return found;
}

/* Twice: between two pieces of the list that we read, sockets that go may hide another. */
static enum state look(const char *service, uint64_t mine, char port_out[GW_MAX_PORT_NAME], uint64_t *id_out)
{
    enum state s = scan(service, mine, port_out, id_out);
    return s == NOT_IT ? scan(service, mine, port_out, id_out) : s;
}

/* Whether number `mine` may be published. */
static bool settle(const char *service, uint64_t mine)
{
    enum { TRIES = 2000 };
    char port[GW_MAX_PORT_NAME];
    uint64_t id = 0;
    for (int i = 0; i < TRIES; i++) {
        enum state s = look(service, mine, port, &id);
        if (s == NOT_IT) return true;
        if (s == PUBLISHED || id < mine) return false;
        usleep(1000);
    }
    return false;
}

/* False, with errno: nobody could find what is published here. */
static bool names_are_seen(void)
{
    struct sockets *all = gw_xmalloc(sizeof *all);
    bool is_open = sockets_open(all);
    int why = errno;
    sockets_close(all);
    free(all);
    errno = why;
    return is_open;
}

int boot_name_publish(const char *service, const char *port, int fds_out[2])
{
    char key[SOCKET_BYTES], name[SOCKET_BYTES];
    uint64_t id = boot_random();
    errno = ENAMETOOLONG;
    if (strlen(service) >= TEXT_MOST || strlen(port) >= GW_MAX_PORT_NAME) return -1;
    if (!names_are_seen()) return -1;
    int file = file_make(service, port, id), s = -1;
    if (file < 0) return -1;
    key_of(service, key);
    snprintf(name, sizeof name, "%.40s%d-%d-%016llx", key, (int)getpid(), file, (unsigned long long)id);
    s = boot_named_listen(name, 0);
    int why = s < 0 ? errno : settle(service, id) ? 0 : EADDRINUSE;
    if (!why && pwrite(file, &(uint64_t){NAME_MAGIC}, sizeof(uint64_t), 0) != sizeof(uint64_t)) why = errno;
    if (!why && !boot_file_is_unsealed(file) && fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL) != 0) why = errno;
    fds_out[0] = s;
    fds_out[1] = file;
    if (!why) return 0;
    if (s >= 0) close(s);
    close(file);
    errno = why;
    return -1;
}

bool boot_name_lookup(const char *service, char *port_out, size_t cap)
{
    char port[GW_MAX_PORT_NAME];
    uint64_t id = 0;
    if (look(service, 0, port, &id) != PUBLISHED) return false;
    snprintf(port_out, cap, "%s", port);
    return true;
}
