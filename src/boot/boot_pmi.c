/* boot_pmi.c -- what the clients of PMI-1 and PMI-2 share: how values are written, and who shares a node.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boot/boot_private.h"
#include "base/count.h"
#include "base/os.h"
#include "base/time.h"

/* ---- the socket ---- */
bool boot_pmi_offered(void)
{
    struct stat st;
    int fd = boot_env_int("PMI_FD", -1);
    return fd >= 0 && getenv("PMI_RANK") && getenv("PMI_SIZE") && fstat(fd, &st) == 0 &&
        (S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode));
}

bool boot_pmi_is_closed(void)
{
    struct stat st;
    const char *fd = getenv("PMI_FD");
    return fd && *fd && getenv("PMI_RANK") && (fstat(boot_env_int("PMI_FD", -1), &st) < 0 || !boot_pmi_offered());
}

int boot_pmi_write(int fd, const char *at, size_t n)
{
    assert(fd >= 0);
    while (n > 0) {
        ssize_t w = send(fd, at, n, MSG_NOSIGNAL); /* a server that died must not kill us by SIGPIPE */
        if (w < 0 && errno == ENOTSOCK) w = write(fd, at, n);
        if (w < 0 && errno == EINTR) continue;
        if (w <= 0) return gw_fail(GW_EUNSUPPORTED, "writing to the PMI server: %s", strerror(errno));
        at += w;
        n -= (size_t)w;
    }
    return GW_OK;
}

void boot_pmi_await(int fd)
{
    assert(fd >= 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    uint64_t since = gw_now_ns();
    for (;;) {
        int n = poll(&p, 1, BOOT_WAIT_MS);
        if (n > 0 || (n < 0 && errno != EINTR)) return; /* read() says what is wrong */
        boot_wait_step(since);
    }
}

/* ---- values: no spaces, no line ends, no '=' and ';' on the wire ---- */
int boot_pmi_escape(const char *value, char *out, size_t cap)
{
    assert(cap > 0);
    size_t n = 0;
    for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
        bool plain = *p > ' ' && *p < 127 && *p != '%' && *p != '=' && *p != ';';
        if (n + 4 > cap) return gw_fail(GW_EARG, "a value of %zu bytes is too long for PMI", strlen(value));
        n += (size_t)snprintf(out + n, cap - n, plain ? "%c" : "%%%02x", *p);
    }
    out[n] = 0;
    return GW_OK;
}

void boot_pmi_unescape(char *text)
{
    char *out = text;
    for (char *p = text; *p; p++) {
        unsigned code;
        if (*p == '%' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2]) && sscanf(p + 1, "%2x", &code) == 1) {
            *out++ = (char)code;
            p += 2;
        } else {
            *out++ = *p;
        }
    }
    *out = 0;
}

/* ---- who shares a node ---- */
/* Without a mapping: everybody says its host and boot id. */
static int locals_by_host(const struct boot_backend *way, int **ranks_out, int *n_out)
{
    char mine[160], other[160], boot_id[37] = "";
    gw_line_read(boot_id, sizeof boot_id, "/proc/sys/kernel/random/boot_id");
    snprintf(mine, sizeof mine, "%s:%s", gw_boot.host, boot_id);
    gw_counted(&gw_count.key_puts, 1);
    gw_counted(&gw_count.key_put_bytes, strlen(mine));
    int rc = way->put("gw.host", mine);
    if (rc == GW_OK) rc = way->fence();
    int *ranks = gw_xmalloc((size_t)gw_boot.size * sizeof *ranks), n = 0;
    bool found = false;
    for (int r = 0; r < gw_boot.size && rc == GW_OK; r++) {
        rc = way->get(r, "gw.host", other, sizeof other);
        if (rc != GW_OK || strcmp(mine, other) != 0) continue;
        ranks[n++] = r;
        found = found || r == gw_boot.rank;
    }
    if (rc == GW_OK && !found)
        rc = gw_fail(GW_EUNSUPPORTED, "the PMI server does not give back what rank %d told it, its host", gw_boot.rank);
    if (rc) {
        free(ranks);
        return rc;
    }
    *ranks_out = ranks;
    *n_out = n;
    return GW_OK;
}

int boot_pmi_locals(const char *mapping, const struct boot_backend *way)
{
    int n = 0, rc = GW_OK;
    int *ranks = boot_mapping_locals(mapping, gw_boot.size, gw_boot.rank, &n);
    if (!ranks) rc = locals_by_host(way, &ranks, &n);
    if (rc == GW_OK) boot_set_locals(ranks, n);
    return rc;
}

static int hosts_by_name(const struct boot_backend *way, int32_t *host_out)
{
    char name[160];
    int rc = GW_OK;
    struct boot_names names = boot_names_begin(gw_boot.size);
    for (int r = 0; r < gw_boot.size && rc == GW_OK; r++) {
        rc = way->get(r, "gw.host", name, sizeof name);
        if (rc == GW_OK) host_out[r] = boot_names_number(&names, name);
    }
    free(names.table);
    return rc;
}

int boot_pmi_hosts(const char *mapping, const struct boot_backend *way, int32_t *host_out)
{
    return boot_mapping_read(mapping, gw_boot.size, host_out) ? GW_OK : hosts_by_name(way, host_out);
}
