/* pmi_two.c -- PMI-2 for ranks of other MPI libraries that speak it (MPICH and its derivatives configured so, Slurm's libpmi2): after a first
 * line as in PMI-1, messages "key=value;key=value;" behind their length in six characters.  A semicolon in a value is doubled.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "boot/kvs.h"
#include "pmi/foreign.h"
#include "pmi/pmi_private.h"

enum { THREAD_MOST = 32 };

/* What a rank waits for. */
static struct waiting {
    char thread[THREAD_MOST];  /* of the client, which finds its answer by it; "": it says none */
    char wanted[PMI_KEY_MOST]; /* a key of the node that nobody has put yet; "": none */
    char wanted_by[THREAD_MOST];
} * waiting;

/* ---- messages --------------------------------------------------------------------------------------------------------------- */
int pmi_two_bytes(const char *length)
{
    char text[PMI_TWO_LENGTH + 1] = "", *end;
    memcpy(text, length, PMI_TWO_LENGTH);
    long n = strtol(text, &end, 10);
    return end == text || end[strspn(end, " ")] || n < 1 || n > PMI_LINE_MOST - PMI_TWO_LENGTH ? -1 : (int)n;
}

static void answer(int rank, const char *thread, const char *fmt, ...) GW_PRINTF(3, 4);
static void answer(int rank, const char *thread, const char *fmt, ...)
{
    char text[PMI_LINE_MOST];
    int at = PMI_TWO_LENGTH;
    va_list ap;
    va_start(ap, fmt);
    at += vsnprintf(text + at, sizeof text - (size_t)at, fmt, ap);
    va_end(ap);
    if (thread[0] && at < PMI_LINE_MOST) at += snprintf(text + at, sizeof text - (size_t)at, "thrid=%s;", thread);
    if (at >= PMI_LINE_MOST) gw_die("mpiexec: an answer of PMI-2 has %d bytes", at); /* values are bounded */
    char length[16];
    snprintf(length, sizeof length, "%*d", PMI_TWO_LENGTH, at - PMI_TWO_LENGTH);
    memcpy(text, length, PMI_TWO_LENGTH);
    pmi_send(rank, text, (size_t)at);
}

/* The answer to a question for a value; value NULL: there is none. */
static void answer_value(int rank, const char *thread, const char *cmd, const char *value)
{
    char escaped[2 * PMI_VALUE_MOST];
    size_t n = 0;
    if (!value) {
        answer(rank, thread, "cmd=%s-response;found=FALSE;rc=0;", cmd);
        return;
    }
    for (const char *p = value; *p && n + 3 <= sizeof escaped; p++) {
        if (*p == ';') escaped[n++] = ';';
        escaped[n++] = *p;
    }
    escaped[n] = 0;
    answer(rank, thread, "cmd=%s-response;found=TRUE;value=%s;rc=0;", cmd, escaped);
}

/* ---- requests --------------------------------------------------------------------------------------------------------------- */
struct request {
    struct job *job;
    int rank;
    const char *cmd, *text;
    char thread[THREAD_MOST];
};

static void on_fullinit(const struct request *r)
{
    int app = r->job->ranks[r->rank].app;
    foreign_phase(r->job, r->rank, BOOT_RUNNING);
    answer(r->rank, r->thread,
           "cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=%d;size=%d;appnum=%d;debugged=FALSE;pmiverbose=FALSE;rc=0;",
           job_rank(r->job, r->rank), job_size(r->job), app + r->job->o.apps[app].dropped);
}

static void on_job(const struct request *r) { answer(r->rank, r->thread, "cmd=job-getid-response;jobid=%s;rc=0;", pmi_space()); }

static bool put(const struct request *r, const char *prefix)
{
    char key[PMI_KEY_MOST], value[PMI_VALUE_MOST], whole[PMI_KEY_MOST + 8];
    bool ok = boot_pmi2_value(r->text, "key", key, sizeof key) && boot_pmi2_value(r->text, "value", value, sizeof value);
    snprintf(whole, sizeof whole, "%s%s", prefix, ok ? key : "");
    if (ok) pmi_key_put(whole, value);
    answer(r->rank, r->thread, ok ? "cmd=%s-response;rc=0;" : "cmd=%s-response;rc=1;errmsg=wrong_key_or_value;", r->cmd);
    return ok;
}

static void on_put(const struct request *r) { put(r, ""); }

static void on_get(const struct request *r)
{
    char key[PMI_KEY_MOST], of[PMI_NAME_MOST];
    bool is_ours = !boot_pmi2_value(r->text, "jobid", of, sizeof of) || !of[0] || strcmp(of, pmi_space()) == 0;
    answer_value(r->rank, r->thread, r->cmd, is_ours && boot_pmi2_value(r->text, "key", key, sizeof key) ? pmi_key_get(key) : NULL);
}

static void on_fence(const struct request *r)
{
    snprintf(waiting[r->rank].thread, THREAD_MOST, "%s", r->thread);
    pmi_barrier(r->job, r->rank);
}

void pmi_two_fenced(int rank) { answer(rank, waiting[rank].thread, "cmd=kvs-fence-response;rc=0;"); }

static void on_job_attribute(const struct request *r)
{
    char key[PMI_KEY_MOST] = "", number[16];
    boot_pmi2_value(r->text, "key", key, sizeof key);
    snprintf(number, sizeof number, "%d", job_universe(r->job));
    answer_value(r->rank, r->thread, r->cmd, strcmp(key, "universeSize") == 0 ? number : pmi_key_get(key));
}

/* Attributes of the node, which is that of all ranks, are keys behind a mark that no key of a client begins with by accident. */
static const char of_node[] = "\1node.";

static void on_node_get(const struct request *r)
{
    char key[PMI_KEY_MOST] = "", whole[PMI_KEY_MOST + 8], wait[8] = "";
    boot_pmi2_value(r->text, "key", key, sizeof key);
    boot_pmi2_value(r->text, "wait", wait, sizeof wait);
    snprintf(whole, sizeof whole, "%s%s", of_node, key);
    const char *value = pmi_key_get(whole);
    if (!value && strcmp(wait, "TRUE") == 0) {
        snprintf(waiting[r->rank].wanted, PMI_KEY_MOST, "%s", key);
        snprintf(waiting[r->rank].wanted_by, THREAD_MOST, "%s", r->thread);
        return;
    }
    answer_value(r->rank, r->thread, r->cmd, value);
}

static void on_node_put(const struct request *r)
{
    char key[PMI_KEY_MOST] = "", value[PMI_VALUE_MOST] = "";
    if (!put(r, of_node)) return;
    boot_pmi2_value(r->text, "key", key, sizeof key);
    boot_pmi2_value(r->text, "value", value, sizeof value);
    for (int i = 0; i < r->job->n; i++) {
        if (strcmp(waiting[i].wanted, key) != 0) continue;
        waiting[i].wanted[0] = 0;
        answer_value(i, waiting[i].wanted_by, "info-getnodeattr", value);
    }
}

static void on_finalize(const struct request *r)
{
    foreign_phase(r->job, r->rank, BOOT_FINALIZED);
    answer(r->rank, r->thread, "cmd=finalize-response;rc=0;");
}

static void on_abort(const struct request *r)
{
    char text[256] = "", code[16] = "1";
    boot_pmi2_value(r->text, "msg", text, sizeof text);
    boot_pmi2_value(r->text, "exitcode", code, sizeof code);
    pmi_aborted(r->job, r->rank, atoi(code), text);
}

static void on_refused(const struct request *r)
{
    answer(r->rank, r->thread, "cmd=%s-response;rc=1;errmsg=not_supported;", r->cmd);
}

static void on_spawn(const struct request *r)
{
    pmi_refuse_spawn(r->rank);
    on_refused(r);
}

bool pmi_two_message(struct job *j, int rank, const char *text)
{
    static const struct {
        const char *cmd;
        void (*handle)(const struct request *r);
    } commands[] = {
        {"fullinit", on_fullinit},
        {"job-getid", on_job},
        {"kvs-put", on_put},
        {"kvs-get", on_get},
        {"kvs-fence", on_fence},
        {"info-getjobattr", on_job_attribute},
        {"info-getnodeattr", on_node_get},
        {"info-putnodeattr", on_node_put},
        {"finalize", on_finalize},
        {"abort", on_abort},
        {"spawn", on_spawn},
        {"job-connect", on_refused},
        {"job-disconnect", on_refused},
        {"name-publish", on_refused},
        {"name-unpublish", on_refused},
        {"name-lookup", on_refused},
        {"ring", on_refused}, /* an extension of Slurm's */
    };
    char cmd[32] = "";
    struct request r = {.job = j, .rank = rank, .cmd = cmd, .text = text};
    if (!waiting) waiting = gw_xcalloc((size_t)j->n, sizeof *waiting);
    boot_pmi2_value(text, "cmd", cmd, sizeof cmd);
    boot_pmi2_value(text, "thrid", r.thread, sizeof r.thread);
    for (size_t i = 0; i < GW_ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].cmd, cmd) != 0) continue;
        commands[i].handle(&r);
        return true;
    }
    return false;
}

void pmi_two_stop(void)
{
    free(waiting);
    waiting = NULL;
}
