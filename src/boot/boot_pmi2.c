/* boot_pmi2.c -- the client of the PMI-2 wire protocol over the socket PMI_FD, as Slurm's pmi2 plugin and Hydra speak it: after a first
 * line, messages of "key=value;" behind their length in six characters (padded on either side).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "boot/boot_private.h"
#include "base/settings.h"

enum { MESSAGE_MOST = 16384, LENGTH_CHARS = 6, VALUE_MOST = 1024 };

static struct {
    int fd;
    int rank; /* as the launcher has it */
    char job[256];
    char text[MESSAGE_MOST]; /* of the last answer */
} pmi = {.fd = -1};

static bool pmi2_offered(void) { return gw_set.pmi != GW_SET_PMI_1 && boot_pmi_offered(); }

/* ---- bytes ---- */
static int bytes_read(char *at, size_t n)
{
    while (n > 0) {
        boot_pmi_await(pmi.fd);
        ssize_t r = read(pmi.fd, at, n);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) return gw_fail(GW_EUNSUPPORTED, "reading from the PMI-2 server: %s", r ? strerror(errno) : "it hung up");
        at += r;
        n -= (size_t)r;
    }
    return GW_OK;
}

/* ---- messages ---- */
static int message_send(const char *fmt, ...) GW_PRINTF(1, 2);
static int message_send(const char *fmt, ...)
{
    char text[LENGTH_CHARS + MESSAGE_MOST], length[LENGTH_CHARS + 1];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text + LENGTH_CHARS, MESSAGE_MOST, fmt, args);
    va_end(args);
    if (n < 0 || n >= MESSAGE_MOST) return gw_fail(GW_EOTHER, "a PMI-2 message of %d bytes is too long", n);
    snprintf(length, sizeof length, "%*d", LENGTH_CHARS, n);
    memcpy(text, length, LENGTH_CHARS);
    return boot_pmi_write(pmi.fd, text, LENGTH_CHARS + (size_t)n);
}

static int message_read(void)
{
    char length[LENGTH_CHARS + 1] = "";
    int rc = bytes_read(length, LENGTH_CHARS);
    if (rc != GW_OK) return rc;
    char *end;
    long n = strtol(length, &end, 10);
    if (end[strspn(end, " ")] || end == length || n < 1 || n >= MESSAGE_MOST)
        return gw_fail(GW_EUNSUPPORTED, "the PMI-2 server sent \"%s\" where the length of a message should be", length);
    rc = bytes_read(pmi.text, (size_t)n);
    pmi.text[n] = 0;
    return rc;
}

bool boot_pmi2_value(const char *text, const char *key, char *out, size_t cap)
{
    size_t nk = strlen(key);
    for (const char *p = text; *p;) {
        bool is_it = strncmp(p, key, nk) == 0 && p[nk] == '=';
        size_t n = 0;
        for (p += strcspn(p, "=;"), p += *p == '='; *p && !(*p == ';' && p[1] != ';'); p++) {
            if (*p == ';') p++;
            if (is_it && n + 1 >= cap) return false;
            if (is_it) out[n++] = *p;
        }
        if (is_it) {
            out[n] = 0;
            return true;
        }
        p += *p == ';';
    }
    return false;
}

static bool field(const char *key, char *out, size_t cap) { return boot_pmi2_value(pmi.text, key, out, cap); }

static int field_int(const char *key, int fallback)
{
    char text[32];
    return field(key, text, sizeof text) ? atoi(text) : fallback;
}

/* Reads the answer to what was sent. */
static int answer(const char *cmd)
{
    char got[64] = "";
    int rc = message_read();
    if (rc != GW_OK) return rc;
    if (!field("cmd", got, sizeof got) || strcmp(got, cmd) != 0)
        return gw_fail(GW_EUNSUPPORTED, "the PMI-2 server answered \"%.80s\", expected %s", pmi.text, cmd);
    if (field_int("rc", 0) != 0) return gw_fail(GW_EOTHER, "the PMI-2 server refused: \"%.120s\"", pmi.text);
    return GW_OK;
}

static int ask(const char *request, const char *cmd)
{
    int rc = message_send("%s", request);
    return rc != GW_OK ? rc : answer(cmd);
}

/* ---- keys: per job on the wire, per rank here ---- */
static int pmi2_put(const char *key, const char *value)
{
    char wire[3 * VALUE_MOST];
    int rc = boot_pmi_escape(value, wire, sizeof wire);
    if (rc != GW_OK) return rc;
    if (strlen(wire) >= VALUE_MOST)
        return gw_fail(GW_EARG, "the value of \"%s\" has %zu bytes, PMI-2 carries %d", key, strlen(wire), VALUE_MOST - 1);
    rc = message_send("cmd=kvs-put;key=%d.%s;value=%s;", pmi.rank, key, wire);
    return rc != GW_OK ? rc : answer("kvs-put-response");
}

static int pmi2_fence(void) { return ask("cmd=kvs-fence;", "kvs-fence-response"); }

static int value_take(const char *key, char *value_out, size_t cap)
{
    char found[8] = "TRUE";
    field("found", found, sizeof found);
    if (strcmp(found, "TRUE") != 0 || !field("value", value_out, cap))
        return gw_fail(GW_EOTHER, "the PMI-2 value of \"%s\" is not there or longer than %zu bytes", key, cap - 1);
    return GW_OK;
}

static int pmi2_get(int rank, const char *key, char *value_out, size_t cap)
{
    char wire[3 * VALUE_MOST];
    int rc = message_send("cmd=kvs-get;jobid=%s;srcid=%d;key=%d.%s;", pmi.job, rank, rank, key);
    if (rc == GW_OK) rc = answer("kvs-get-response");
    if (rc == GW_OK) rc = value_take(key, wire, sizeof wire);
    if (rc != GW_OK) return rc;
    boot_pmi_unescape(wire);
    if (strlen(wire) >= cap) return gw_fail(GW_EOTHER, "the PMI-2 value of \"%s\" is longer than %zu bytes", key, cap - 1);
    strcpy(value_out, wire);
    return GW_OK;
}

/* ---- who is where ---- */
static const char *mapping_get(char *text, size_t cap)
{
    text[0] = 0;
    int rc = ask("cmd=info-getjobattr;key=PMI_process_mapping;", "info-getjobattr-response");
    if (rc != GW_OK || value_take("PMI_process_mapping", text, cap) != GW_OK) text[0] = 0;
    return text;
}

static int pmi2_hosts(int32_t *host_out)
{
    char mapping[MESSAGE_MOST];
    return boot_pmi_hosts(mapping_get(mapping, sizeof mapping), &boot_backend_pmi2, host_out);
}

/* ---- joining and leaving ---- */
/* The first line is as in PMI-1, so that either side can refuse. */
static int greet(void)
{
    static const char hello[] = "cmd=init pmi_version=2 pmi_subversion=0\n";
    char line[256] = "";
    int rc = boot_pmi_write(pmi.fd, hello, sizeof hello - 1);
    for (size_t n = 0; rc == GW_OK && n + 1 < sizeof line && (n == 0 || line[n - 1] != '\n'); n++) rc = bytes_read(line + n, 1);
    line[strcspn(line, "\n")] = 0;
    if (rc == GW_OK && (!strstr(line, "cmd=response_to_init") || !strstr(line, "pmi_version=2") || !strstr(line, "rc=0")))
        return gw_fail(GW_EUNSUPPORTED, "the PMI server does not speak PMI-2: \"%.80s\"", line);
    return rc;
}

static int introduce(void)
{
    const char *job = getenv("PMI_JOBID");
    int rc = message_send("cmd=fullinit;pmijobid=%.200s;pmirank=%d;threaded=FALSE;", job ? job : "", pmi.rank);
    if (rc == GW_OK) rc = answer("fullinit-response");
    if (rc != GW_OK) return rc;
    gw_boot.rank = pmi.rank = field_int("rank", pmi.rank);
    gw_boot.size = field_int("size", gw_boot.size);
    gw_boot.appnum = (int)gw_max64(0, field_int("appnum", 0)); /* -1: unknown */
    if (gw_boot.rank < 0 || gw_boot.rank >= gw_boot.size)
        return gw_fail(GW_EUNSUPPORTED, "the PMI-2 server says that this is rank %d of %d", gw_boot.rank, gw_boot.size);
    rc = ask("cmd=job-getid;", "job-getid-response");
    if (rc == GW_OK && !field("jobid", pmi.job, sizeof pmi.job))
        rc = gw_fail(GW_EUNSUPPORTED, "the PMI-2 server does not name the job: \"%.80s\"", pmi.text);
    snprintf(gw_boot.jobid, sizeof gw_boot.jobid, "%.63s", pmi.job);
    return rc;
}

static int pmi2_join(void)
{
    char text[MESSAGE_MOST];
    pmi.fd = boot_env_int("PMI_FD", -1);
    fcntl(pmi.fd, F_SETFD, FD_CLOEXEC); /* this rank's talk with the launcher, and not of what it starts */
    gw_boot.rank = pmi.rank = boot_env_int("PMI_RANK", -1);
    gw_boot.size = boot_env_int("PMI_SIZE", 0);
    gw_boot.universe_size = 0;
    int rc = greet();
    if (rc == GW_OK) rc = introduce();
    if (rc == GW_OK && ask("cmd=info-getjobattr;key=universeSize;", "info-getjobattr-response") == GW_OK &&
        value_take("universeSize", text, sizeof text) == GW_OK)
        gw_boot.universe_size = (int)gw_max64(0, atoi(text));
    if (rc == GW_OK) rc = boot_pmi_locals(mapping_get(text, sizeof text), &boot_backend_pmi2);
    if (rc != GW_OK) {
        pmi.fd = -1;
        return rc == GW_EUNSUPPORTED ? rc : gw_fail(GW_EUNSUPPORTED, "%s", gw_fail_text());
    }
    fcntl(pmi.fd, F_SETFD, FD_CLOEXEC); /* a child of ours is no rank */
    return GW_OK;
}

static void pmi2_leave(void)
{
    ask("cmd=finalize;", "finalize-response");
    close(pmi.fd);
    pmi.fd = -1;
}

static void pmi2_abort(int code, const char *text)
{
    char wire[512];
    if (boot_pmi_escape(text, wire, sizeof wire) != GW_OK) wire[0] = 0;
    message_send("cmd=abort;isworld=TRUE;exitcode=%d;msg=%s;", code, wire);
}

static bool pmi2_is_lost(void) { return boot_socket_is_lost(pmi.fd); }

const struct boot_backend boot_backend_pmi2 = {
    pmi2_offered, pmi2_join,  pmi2_put, NULL,         pmi2_fence, pmi2_get, pmi2_leave,
    pmi2_abort,   pmi2_hosts, NULL,     pmi2_is_lost, NULL,       NULL,
};
