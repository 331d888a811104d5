/* complete.c -- calls that complete requests, or ask whether they are complete.
 *
 * A prepared receive that replaying has started as another request (`hidden`) is waited for by that one; the program's own stays as it is.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static bool is_off(void) { return replay.mode == REPLAY_OFF && !replay_n_requests; }
static MPI_Request real_of(const struct replay_request *k, MPI_Request q)
{
    return k && k->hidden != MPI_REQUEST_NULL ? k->hidden : q;
}
static struct replay_request *known(MPI_Request q)
{
    return replay_n_requests && q != MPI_REQUEST_NULL ? replay_request_find(q) : NULL;
}

/* The request is complete, with this status; `real` is what is left of the one that was waited for. */
static void completed(struct replay_request *k, MPI_Request *program, MPI_Request real, const MPI_Status *s)
{
    int was_cancelled = 0;
    if (!k) {
        *program = real;
        return;
    }
    if (k->number && replay.mode == REPLAY_RECORDING) {
        if (k->is_cancelled) PMPI_Test_cancelled(s, &was_cancelled);
        replay_lock();
        replay_took(k->number, was_cancelled ? REPLAY_CANCELLED : s->MPI_SOURCE, was_cancelled ? 0 : s->MPI_TAG);
        replay_unlock();
    }
    k->number = 0, k->is_cancelled = false;
    if (k->hidden != MPI_REQUEST_NULL) PMPI_Request_free(&k->hidden);
    if (k->is_prepared) return;
    *program = real;
    replay_request_drop(k);
}

static int wait_for(MPI_Request *request, MPI_Status *status)
{
    struct replay_request *k = known(*request);
    MPI_Request real = real_of(k, *request);
    MPI_Status own, *s = status ? status : &own;
    int rc = PMPI_Wait(&real, k ? s : status);
    if (rc == MPI_SUCCESS) completed(k, request, real, s);
    return rc;
}

static int test_it(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct replay_request *k = known(*request);
    MPI_Request real = real_of(k, *request);
    MPI_Status own, *s = status ? status : &own;
    int rc = PMPI_Test(&real, flag, k ? s : status);
    if (rc == MPI_SUCCESS && *flag) completed(k, request, real, s);
    return rc;
}

/* A call of kind TEST has answered. */
static void answered(int rc, int flag)
{
    if (rc != MPI_SUCCESS || replay.mode != REPLAY_RECORDING) return;
    replay_lock();
    if (flag)
        replay_ended(&(struct replay_call){.kind = REPLAY_TEST});
    else
        replay.noes++;
    replay_unlock();
}

/* REPLAY_FREE also where nothing is replayed. */
static enum replay_due due(enum replay_kind kind, struct replay_call *call_out)
{
    return replay.mode == REPLAY_REPLAYING ? replay_due(kind, call_out) : REPLAY_FREE;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return replay_n_requests ? wait_for(request, status) : PMPI_Wait(request, status);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct replay_call c;
    if (is_off()) return PMPI_Test(request, flag, status);
    enum replay_due is = due(REPLAY_TEST, &c);
    *flag = is == REPLAY_YES;
    if (is != REPLAY_FREE) return is == REPLAY_YES ? wait_for(request, status) : MPI_SUCCESS;
    int rc = test_it(request, flag, status);
    answered(rc, *flag);
    return rc;
}

/* ---- several requests ------------------------------------------------------------------------------------------------------------ */
enum { FEW = 16 };
struct several {
    int n;
    MPI_Request *program, *real; /* real == program: none of them is known */
    struct replay_request **known, *few_known[FEW];
    MPI_Status *statuses, few_statuses[FEW]; /* where the program wants none */
    MPI_Request few_real[FEW];
    void *held;
};

static void several_begin(struct several *s, int n, MPI_Request *requests, MPI_Status *statuses)
{
    s->n = n, s->program = s->real = requests, s->statuses = statuses, s->held = NULL;
    if (!replay_n_requests || n <= 0) return;
    s->known = s->few_known, s->real = s->few_real;
    if (!statuses) s->statuses = s->few_statuses;
    if (n > FEW) {
        char *more = s->held = malloc((size_t)n * (sizeof *s->known + sizeof *s->real + sizeof *s->statuses));
        if (!more) abort(); /* the requests could not be waited for */
        s->known = (void *)more, s->real = (void *)(more + (size_t)n * sizeof *s->known);
        if (!statuses) s->statuses = (void *)(more + (size_t)n * (sizeof *s->known + sizeof *s->real));
    }
    for (int i = 0; i < n; i++) {
        s->known[i] = known(requests[i]);
        s->real[i] = real_of(s->known[i], requests[i]);
    }
}

static void several_completed(struct several *s, int i, const MPI_Status *status)
{
    if (s->real != s->program) completed(s->known[i], &s->program[i], s->real[i], status);
}

static int several_end(struct several *s, int rc)
{
    free(s->held);
    return rc;
}

/* All are complete, if rc says so; each that is in any case where it does not. */
static int all_completed(struct several *s, int rc)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS) PMPI_Error_class(rc, &class);
    for (int i = 0; s->real != s->program && i < s->n; i++)
        if (rc == MPI_SUCCESS || (class == MPI_ERR_IN_STATUS && s->statuses[i].MPI_ERROR == MPI_SUCCESS))
            several_completed(s, i, &s->statuses[i]);
        else if (!s->known[i])
            s->program[i] = s->real[i];
    return several_end(s, rc);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct several s;
    if (!replay_n_requests) return PMPI_Waitall(count, requests, statuses);
    several_begin(&s, count, requests, statuses);
    return all_completed(&s, PMPI_Waitall(count, s.real, s.statuses));
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct replay_call c;
    struct several s;
    if (is_off()) return PMPI_Testall(count, requests, flag, statuses);
    enum replay_due is = due(REPLAY_TEST, &c);
    *flag = is == REPLAY_YES;
    if (is != REPLAY_FREE) return is == REPLAY_YES ? MPI_Waitall(count, requests, statuses) : MPI_SUCCESS;
    several_begin(&s, count, requests, statuses);
    int rc = PMPI_Testall(count, s.real, flag, s.statuses);
    answered(rc, *flag);
    return rc == MPI_SUCCESS && *flag ? all_completed(&s, rc) : several_end(&s, rc);
}

/* The program is where the record says that the requests of these places were complete.  False: it departs. */
static bool are_there(const struct replay_call *c, int n, const MPI_Request *requests)
{
    for (int i = 0; i < c->n; i++)
        if (c->indices[i] >= n || requests[c->indices[i]] == MPI_REQUEST_NULL) {
            replay_departs(
                "%s completed request %d of its list in the recorded run (call number %llu of those that depend on the order of "
                "messages); the list has no such request now",
                replay_kind_names[c->kind], c->indices[i], (unsigned long long)replay.n_calls);
            return false;
        }
    return true;
}

static void ended(int rc, enum replay_kind kind, int n, const int *indices)
{
    if (rc != MPI_SUCCESS || replay.mode != REPLAY_RECORDING) return;
    replay_lock();
    replay_ended(&(struct replay_call){.kind = kind, .n = n, .indices = indices});
    replay_unlock();
}

static int any_completed(struct several *s, int rc, int index, const MPI_Status *status)
{
    if (rc == MPI_SUCCESS && index != MPI_UNDEFINED) several_completed(s, index, status);
    return several_end(s, rc);
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct replay_call c;
    struct several s;
    MPI_Status own, *at = status ? status : &own;
    if (is_off()) return PMPI_Waitany(count, requests, index, status);
    if (due(REPLAY_WAITANY, &c) == REPLAY_YES && c.n > 0 && are_there(&c, count, requests)) {
        *index = c.indices[0];
        return wait_for(&requests[*index], status);
    }
    several_begin(&s, count, requests, NULL);
    int rc = PMPI_Waitany(count, s.real, index, at);
    ended(rc, REPLAY_WAITANY, *index == MPI_UNDEFINED ? -1 : 1, index);
    return any_completed(&s, rc, *index, at);
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct replay_call c;
    struct several s;
    MPI_Status own, *at = status ? status : &own;
    if (is_off()) return PMPI_Testany(count, requests, index, flag, status);
    enum replay_due is = due(REPLAY_TESTANY, &c);
    *flag = is == REPLAY_YES;
    *index = MPI_UNDEFINED;
    if (is == REPLAY_NO) return MPI_SUCCESS;
    if (is == REPLAY_YES && c.n > 0 && are_there(&c, count, requests)) {
        *index = c.indices[0];
        return wait_for(&requests[*index], status);
    }
    several_begin(&s, count, requests, NULL);
    int rc = PMPI_Testany(count, s.real, index, flag, at);
    if (rc == MPI_SUCCESS && *flag)
        ended(rc, REPLAY_TESTANY, *index == MPI_UNDEFINED ? -1 : 1, index);
    else if (replay.mode == REPLAY_RECORDING)
        replay.noes++;
    return any_completed(&s, rc, *flag ? *index : MPI_UNDEFINED, at);
}

static int some_again(const struct replay_call *c, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    int rc = MPI_SUCCESS;
    *outcount = c->n;
    for (int i = 0; i < c->n && rc == MPI_SUCCESS; i++) {
        indices[i] = c->indices[i];
        rc = wait_for(&requests[indices[i]], statuses ? &statuses[i] : MPI_STATUS_IGNORE);
    }
    return rc;
}

static int some(enum replay_kind kind, int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    struct replay_call c;
    struct several s;
    enum replay_due is = due(kind, &c);
    *outcount = 0;
    if (is == REPLAY_NO) return MPI_SUCCESS;
    if (is == REPLAY_YES && c.n > 0 && are_there(&c, count, requests)) return some_again(&c, requests, outcount, indices, statuses);
    several_begin(&s, count, requests, statuses);
    int rc = kind == REPLAY_WAITSOME ? PMPI_Waitsome(count, s.real, outcount, indices, s.statuses)
                                     : PMPI_Testsome(count, s.real, outcount, indices, s.statuses);
    if (rc == MPI_SUCCESS && *outcount != 0)
        ended(rc, kind, *outcount == MPI_UNDEFINED ? -1 : *outcount, indices);
    else if (rc == MPI_SUCCESS && replay.mode == REPLAY_RECORDING)
        replay.noes++;
    for (int i = 0; rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED && i < *outcount; i++)
        several_completed(&s, indices[i], s.statuses ? &s.statuses[i] : NULL);
    return several_end(&s, rc);
}

int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    return is_off() ? PMPI_Waitsome(incount, requests, outcount, indices, statuses)
                    : some(REPLAY_WAITSOME, incount, requests, outcount, indices, statuses);
}

int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    return is_off() ? PMPI_Testsome(incount, requests, outcount, indices, statuses)
                    : some(REPLAY_TESTSOME, incount, requests, outcount, indices, statuses);
}

/* ---- questions that complete nothing --------------------------------------------------------------------------------------------- */
int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct replay_call c;
    enum replay_due is = due(REPLAY_TEST, &c);
    MPI_Request real = real_of(known(request), request);
    int rc = MPI_SUCCESS;
    *flag = 0;
    if (is == REPLAY_NO) return rc;
    do rc = PMPI_Request_get_status(real, flag, status);
    while (is == REPLAY_YES && rc == MPI_SUCCESS && !*flag);
    answered(rc, *flag);
    return rc;
}

int MPI_Request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct replay_call c;
    struct several s;
    enum replay_due is = due(REPLAY_TEST, &c);
    int rc = MPI_SUCCESS;
    *flag = 0;
    if (is == REPLAY_NO) return rc;
    several_begin(&s, count, (MPI_Request *)(uintptr_t)requests, statuses);
    do rc = PMPI_Request_get_status_all(count, s.real, flag, statuses);
    while (is == REPLAY_YES && rc == MPI_SUCCESS && !*flag);
    answered(rc, *flag);
    return several_end(&s, rc);
}

int MPI_Parrived(MPI_Request request, int partition, int *flag)
{
    struct replay_call c;
    enum replay_due is = due(REPLAY_TEST, &c);
    int rc = MPI_SUCCESS;
    *flag = 0;
    if (is == REPLAY_NO) return rc;
    do rc = PMPI_Parrived(request, partition, flag);
    while (is == REPLAY_YES && rc == MPI_SUCCESS && !*flag);
    answered(rc, *flag);
    return rc;
}

int MPI_Win_test(MPI_Win win, int *flag)
{
    struct replay_call c;
    enum replay_due is = due(REPLAY_TEST, &c);
    int rc = MPI_SUCCESS;
    *flag = is == REPLAY_YES;
    if (is != REPLAY_FREE) return is == REPLAY_YES ? PMPI_Win_wait(win) : rc;
    rc = PMPI_Win_test(win, flag);
    answered(rc, *flag);
    return rc;
}

/* ---- the end of requests --------------------------------------------------------------------------------------------------------- */
int MPI_Cancel(MPI_Request *request)
{
    struct replay_request *k = known(*request);
    if (!k) return PMPI_Cancel(request);
    MPI_Request real = real_of(k, *request);
    k->is_cancelled = true;
    return PMPI_Cancel(&real);
}

int MPI_Request_free(MPI_Request *request)
{
    struct replay_request *k = known(*request);
    if (k) {
        if (k->hidden != MPI_REQUEST_NULL) PMPI_Request_free(&k->hidden);
        replay_request_drop(k);
    }
    return PMPI_Request_free(request);
}
