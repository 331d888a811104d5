/* boot_pmi1.c -- the client of the PMI-1 wire protocol (lines of key=value over the socket PMI_FD), as hydra and Slurm speak it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 8192 }; /* a value of 1 KiB, escaped, and what stands around it */

static struct {
    int fd;
    int rank; /* as the launcher has it */
    char kvs[256];
    int key_max, value_max;
    char line[LINE_MAX_BYTES]; /* last line read, and what came behind it */
    size_t have, used;
} pmi = {.fd = -1};

static bool pmi1_offered(void) { return gw_set.pmi != GW_SET_PMI_2 && boot_pmi_offered(); }

/* ---- lines ---- */
static int line_send(const char *fmt, ...) GW_PRINTF(1, 2);
static int line_send(const char *fmt, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof line) return gw_fail(GW_EOTHER, "a PMI line of %d bytes is too long", n);
    return boot_pmi_write(pmi.fd, line, (size_t)n);
}

/* The next line, without its end; valid until the next call. */
static int line_read(char **line_out)
{
    assert(pmi.used <= pmi.have);
    memmove(pmi.line, pmi.line + pmi.used, pmi.have - pmi.used);
    pmi.have -= pmi.used;
    pmi.used = 0;
    for (;;) {
        char *end = memchr(pmi.line, '\n', pmi.have);
        if (end) {
            *end = 0;
            pmi.used = (size_t)(end - pmi.line) + 1;
            *line_out = pmi.line;
            return GW_OK;
        }
        if (pmi.have == sizeof pmi.line) return gw_fail(GW_EUNSUPPORTED, "the PMI server sent a line without an end");
        boot_pmi_await(pmi.fd);
        ssize_t r = read(pmi.fd, pmi.line + pmi.have, sizeof pmi.line - pmi.have);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) return gw_fail(GW_EUNSUPPORTED, "reading from the PMI server: %s", r ? strerror(errno) : "it hung up");
        pmi.have += (size_t)r;
    }
}

/* The value of "key=" in a line; up to the next space, or to the end of the line where `rest`. */
static bool line_value(const char *line, const char *key, bool rest, char *out, size_t cap)
{
    assert(cap > 0);
    size_t n = strlen(key);
    for (const char *p = line; p; p = strchr(p, ' ')) {
        p += strspn(p, " ");
        if (strncmp(p, key, n) != 0 || p[n] != '=') continue;
        size_t len = rest ? strlen(p + n + 1) : strcspn(p + n + 1, " ");
        if (len >= cap) return false;
        memcpy(out, p + n + 1, len);
        out[len] = 0;
        return true;
    }
    return false;
}

static int line_int(const char *line, const char *key, int fallback)
{
    char text[32];
    return line_value(line, key, false, text, sizeof text) ? atoi(text) : fallback;
}

/* Reads the answer to what was sent; it must be of this command and, where it says rc, rc=0. */
static int answer(const char *cmd, char **line_out)
{
    char got[64] = "";
    int rc = line_read(line_out);
    if (rc) return rc;
    if (!line_value(*line_out, "cmd", false, got, sizeof got) || strcmp(got, cmd) != 0)
        return gw_fail(GW_EUNSUPPORTED, "the PMI server answered \"%.80s\", expected %s", *line_out, cmd);
    if (line_int(*line_out, "rc", 0) != 0) return gw_fail(GW_EOTHER, "the PMI server refused: \"%.120s\"", *line_out);
    return GW_OK;
}

static int ask(const char *request, const char *cmd, char **line_out)
{
    int rc = line_send("%s", request);
    return rc ? rc : answer(cmd, line_out);
}

/* ---- values ---- */
static int pmi1_put(const char *key, const char *value)
{
    char wire[LINE_MAX_BYTES / 2], *line;
    int rc = boot_pmi_escape(value, wire, sizeof wire);
    if (rc) return rc;
    if ((int)strlen(wire) >= pmi.value_max)
        return gw_fail(GW_EARG, "the value of \"%s\" has %zu bytes, PMI carries %d", key, strlen(wire), pmi.value_max - 1);
    /* Keys are per job in PMI-1, per rank here. */
    rc = line_send("cmd=put kvsname=%s key=%d.%s value=%s\n", pmi.kvs, pmi.rank, key, wire);
    return rc ? rc : answer("put_result", &line);
}

static int pmi1_fence(void)
{
    char *line;
    return ask("cmd=barrier_in\n", "barrier_out", &line);
}

static int kvs_get(const char *key, char *value_out, size_t cap)
{
    char *line;
    int rc = line_send("cmd=get kvsname=%s key=%s\n", pmi.kvs, key);
    if (rc == GW_OK) rc = answer("get_result", &line);
    if (rc) return rc;
    if (!line_value(line, "value", true, value_out, cap))
        return gw_fail(GW_EOTHER, "the PMI value of \"%s\" is not there or longer than %zu bytes", key, cap);
    return GW_OK;
}

static int pmi1_get(int rank, const char *key, char *value_out, size_t cap)
{
    char full[128];
    snprintf(full, sizeof full, "%d.%s", rank, key);
    int rc = kvs_get(full, value_out, cap);
    if (rc == GW_OK) boot_pmi_unescape(value_out);
    return rc;
}

/* ---- who shares the node ---- */
static int find_locals(void)
{
    char mapping[LINE_MAX_BYTES];
    return boot_pmi_locals(kvs_get("PMI_process_mapping", mapping, sizeof mapping) == GW_OK ? mapping : "", &boot_backend_pmi1);
}

static int pmi1_hosts(int32_t *host_out)
{
    char mapping[LINE_MAX_BYTES];
    return boot_pmi_hosts(kvs_get("PMI_process_mapping", mapping, sizeof mapping) == GW_OK ? mapping : "", &boot_backend_pmi1,
                          host_out);
}

/* ---- joining and leaving ---- */
static int handshake(void)
{
    char *line;
    int rc = ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init", &line);
    if (rc == GW_OK && line_int(line, "pmi_version", 1) != 1)
        rc = gw_fail(GW_EUNSUPPORTED, "the PMI server speaks another version: \"%.80s\"", line);
    if (rc == GW_OK) rc = ask("cmd=get_maxes\n", "maxes", &line);
    if (rc) return rc;
    pmi.key_max = line_int(line, "keylen_max", 64);
    pmi.value_max = line_int(line, "vallen_max", 256);
    if (ask("cmd=get_appnum\n", "appnum", &line) == GW_OK) gw_boot.appnum = line_int(line, "appnum", 0);
    if (ask("cmd=get_universe_size\n", "universe_size", &line) == GW_OK)
        gw_boot.universe_size = (int)gw_max64(0, line_int(line, "size", 0)); /* -1: unknown */
    rc = ask("cmd=get_my_kvsname\n", "my_kvsname", &line);
    if (rc) return rc;
    if (!line_value(line, "kvsname", false, pmi.kvs, sizeof pmi.kvs))
        return gw_fail(GW_EUNSUPPORTED, "the PMI server names no key space: \"%.80s\"", line);
    snprintf(gw_boot.jobid, sizeof gw_boot.jobid, "%.63s", pmi.kvs);
    return GW_OK;
}

static int pmi1_join(void)
{
    pmi.fd = boot_env_int("PMI_FD", -1);
    fcntl(pmi.fd, F_SETFD, FD_CLOEXEC); /* this rank's talk with the launcher, and not of what it starts */
    pmi.have = pmi.used = 0;
    gw_boot.rank = pmi.rank = boot_env_int("PMI_RANK", -1);
    gw_boot.size = boot_env_int("PMI_SIZE", 0);
    if (gw_boot.rank < 0 || gw_boot.rank >= gw_boot.size)
        return gw_fail(GW_EUNSUPPORTED, "PMI_RANK=%s of PMI_SIZE=%s makes no sense", getenv("PMI_RANK"), getenv("PMI_SIZE"));
    int rc = handshake();
    if (rc == GW_OK) rc = find_locals();
    if (rc) {
        pmi.fd = -1;
        return rc == GW_EUNSUPPORTED ? rc : gw_fail(GW_EUNSUPPORTED, "%s", gw_fail_text());
    }
    fcntl(pmi.fd, F_SETFD, FD_CLOEXEC); /* a child of ours is no rank */
    return GW_OK;
}

static void pmi1_leave(void)
{
    char *line;
    ask("cmd=finalize\n", "finalize_ack", &line);
    close(pmi.fd);
    pmi.fd = -1;
    pmi.have = pmi.used = 0;
}

static void pmi1_abort(int code, const char *text)
{
    (void)text;
    line_send("cmd=abort exitcode=%d\n", code);
}

static bool pmi1_is_lost(void) { return boot_socket_is_lost(pmi.fd); }

const struct boot_backend boot_backend_pmi1 = {
    pmi1_offered, pmi1_join,  pmi1_put, NULL,         pmi1_fence, pmi1_get, pmi1_leave,
    pmi1_abort,   pmi1_hosts, NULL,     pmi1_is_lost, NULL,       NULL,
};
