/* complete.c -- calls that complete requests, or ask whether they are complete.
 *
 * A receive that replaying has made as another request (`hidden`) is waited for by that one; the program's own stays as it is until then.
 * What an error completes is complete as well: the program's handle is what the library has made of it, and the take is recorded.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"
#include "../next/next.h"

#include <stdlib.h>
#include <string.h>

static bool is_off(void) { return replay_is(REPLAY_OFF) && !replay_knows_any(); }
static struct replay_request *known(MPI_Request q)
{
    return replay_knows_any() && q != MPI_REQUEST_NULL ? replay_request_find(q) : NULL;
}

/* What is waited for.  The program does not wait for what took nothing: the record ends here, and it is posted in earnest. */
static MPI_Request real_of(const struct replay_request *k, MPI_Request q)
{
    if (k && k->is_unmet && !k->is_cancelled)
        replay_departs("receive number %llu took no message before the record ends", (unsigned long long)k->number);
    return k && k->hidden != MPI_REQUEST_NULL ? k->hidden : q;
}

/* The request is complete, with this status; `real` is what is left of the one that was waited for. */
static void completed(struct replay_request *k, MPI_Request *program, MPI_Request real, const MPI_Status *s)
{
    if (replay_has(&replay_n_freed)) replay_freed_look(false);
    if (!k) {
        *program = real;
        return;
    }
    replay_request_took(k, s);
    bool was_hidden = k->hidden != MPI_REQUEST_NULL;
    k->hidden = MPI_REQUEST_NULL;
    k->number = 0, k->is_cancelled = k->is_unmet = false;
    if (k->is_prepared) return;
    replay_request_drop(k);
    if (!was_hidden)
        *program = real;
    else
        NEXT(Request_free)(program);
}

/* After an error: it is complete if the library has let go of it, or has made a prepared one inactive. */
static void failed(struct replay_request *k, MPI_Request *program, MPI_Request real, const MPI_Status *s)
{
    int flag = real == MPI_REQUEST_NULL;
    if (!flag && k && k->is_prepared) NEXT(Request_get_status)(real, &flag, MPI_STATUS_IGNORE);
    if (flag || !k) completed(k, program, real, s);
}

static int wait_for(MPI_Request *request, MPI_Status *status)
{
    struct replay_request *k = known(*request);
    MPI_Request real = real_of(k, *request);
    MPI_Status own, *s = status ? status : &own;
    if (k) s->MPI_SOURCE = MPI_ANY_SOURCE; /* and stays so, where an error came before a message */
    int rc = NEXT(Wait)(&real, k ? s : status);
    (rc == MPI_SUCCESS ? completed : failed)(k, request, real, s);
    return rc;
}

static int test_it(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct replay_request *k = known(*request);
    MPI_Request real = real_of(k, *request);
    MPI_Status own, *s = status ? status : &own;
    if (k) s->MPI_SOURCE = MPI_ANY_SOURCE;
    *flag = 0;
    int rc = NEXT(Test)(&real, flag, k ? s : status);
    if (rc != MPI_SUCCESS)
        failed(k, request, real, s);
    else if (*flag)
        completed(k, request, real, s);
    return rc;
}

/* A call of kind TEST has answered; an error is none, unless it completed something. */
static void answered(int rc, int flag)
{
    if (!replay_is(REPLAY_RECORDING)) return;
    replay_lock();
    if (flag)
        replay_ended(&(struct replay_call){.kind = REPLAY_TEST});
    else if (rc == MPI_SUCCESS)
        replay.noes++;
    replay_unlock();
}

/* REPLAY_FREE also where nothing is replayed. */
static enum replay_due due(enum replay_kind kind, struct replay_call *call_out)
{
    return replay_is(REPLAY_REPLAYING) ? replay_due(kind, call_out) : REPLAY_FREE;
}

/* A light receive is complete. */
static inline void light_took(uint64_t receive, const MPI_Status *s)
{
    if (receive & 1 && s->MPI_SOURCE >= 0 && replay_is_quick()) replay_took(receive >> 1, s->MPI_SOURCE, s->MPI_TAG);
}

static __attribute__((noinline)) int wait_light(MPI_Request *request, MPI_Status *status, struct replay_light *l)
{
    MPI_Status own, *s = status ? status : &own;
    const uint64_t number = l->receive & 1 && replay_is_quick() ? l->receive >> 1 : 0; /* all this before the message is there */
    s->MPI_SOURCE = MPI_ANY_SOURCE; /* and stays so, where an error came before a message */
    int rc = NEXT(Wait)(request, number ? s : status);
    if (__builtin_expect(*request != MPI_REQUEST_NULL, 0)) return rc; /* an error, and it is under way as before */
    l->request = NULL;
    replay_n_lights--;
    if (number && s->MPI_SOURCE >= 0) replay_took(number, s->MPI_SOURCE, s->MPI_TAG);
    return rc;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (!replay_knows_any()) return NEXT(Wait)(request, status);
    struct replay_light *l = replay_light_at(*request);
    if (__builtin_expect(l->request == *request && !replay_has(&replay_n_freed), 1)) return wait_light(request, status, l);
    return wait_for(request, status);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct replay_call c;
    if (is_off()) return NEXT(Test)(request, flag, status);
    enum replay_due is = due(REPLAY_TEST, &c);
    *flag = is == REPLAY_YES;
    if (is != REPLAY_FREE) return is == REPLAY_YES ? wait_for(request, status) : MPI_SUCCESS;
    bool was_null = *request == MPI_REQUEST_NULL;
    int rc = test_it(request, flag, status);
    answered(rc, *flag || (!was_null && *request == MPI_REQUEST_NULL));
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
    if (!replay_knows_any() || n <= 0) return;
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
        if (s->known[i]) s->statuses[i].MPI_SOURCE = MPI_ANY_SOURCE; /* as in wait_for() */
    }
}

static void several_completed(struct several *s, int i, int error, const MPI_Status *status)
{
    if (s->real != s->program) (error ? failed : completed)(s->known[i], &s->program[i], s->real[i], status);
}

static int several_end(struct several *s, int rc)
{
    free(s->held);
    return rc;
}

static bool is_in_status(int rc)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS) PMPI_Error_class(rc, &class);
    return class == MPI_ERR_IN_STATUS;
}

/* All are complete, if rc says so; those that the library has let go of in any case where it does not. */
static int all_completed(struct several *s, int rc)
{
    bool each = is_in_status(rc);
    for (int i = 0; s->real != s->program && i < s->n; i++)
        if (s->known[i] || s->program[i] != s->real[i])
            several_completed(s, i, rc != MPI_SUCCESS && !(each && s->statuses[i].MPI_ERROR == MPI_SUCCESS), &s->statuses[i]);
    return several_end(s, rc);
}

/* ---- light receives ---- */
/* Those that are still under way are known as before. */
static __attribute__((cold)) void lights_again(int n, const uint64_t *receives, const MPI_Request *requests)
{
    for (int i = 0; i < n; i++)
        if (receives[i] && requests[i] != MPI_REQUEST_NULL && !replay_light_add(requests[i], receives[i]))
            replay_request_light(requests[i], receives[i]); /* an error handler has started others */
}

/* The numbers of the light receives among n requests, which are light no more; 0: others.  Sets the sources of the statuses of those of
 * any.  *n_any_out: how many these are; false: another one is known as well, and nothing is done. */
static bool lights_take(int n, const MPI_Request *requests, uint64_t *receives, MPI_Status *statuses, int *n_any_out)
{
    const bool has_others = replay_has(&replay_n_requests);
    int n_any = 0, n_lights = 0;
    for (int i = 0; i < n; i++) {
        const MPI_Request q = requests[i];
        struct replay_light *l = replay_light_at(q);
        receives[i] = 0;
        if (l->request == q) {
            receives[i] = l->receive;
            if (l->receive & 1) statuses[i].MPI_SOURCE = MPI_ANY_SOURCE, n_any++; /* as in wait_light() */
            l->request = NULL;
            n_lights++;
        } else if (has_others && known(q)) {
            replay_n_lights -= n_lights;
            lights_again(i, receives, requests);
            return false;
        }
    }
    replay_n_lights -= n_lights;
    *n_any_out = n_any;
    return true;
}

enum { MANY = 128 };
static __attribute__((noinline)) int waitall_light(int n, MPI_Request *requests, MPI_Status *statuses, bool *is_done_out)
{
    uint64_t few_receives[MANY], *receives = few_receives;
    MPI_Status own[MANY], *s = statuses ? statuses : own;
    int n_any, rc = MPI_SUCCESS;
    void *held = NULL;
    if (n > MANY) {
        char *more = held = malloc((size_t)n * (sizeof *receives + sizeof *s));
        if (!more) abort(); /* the requests could not be waited for */
        receives = (void *)more;
        if (!statuses) s = (void *)(more + (size_t)n * sizeof *receives);
    }
    if ((*is_done_out = lights_take(n, requests, receives, s, &n_any))) {
        rc = NEXT(Waitall)(n, requests, n_any ? s : statuses);
        for (int i = 0; n_any && i < n; i++) {
            if (rc == MPI_SUCCESS && replay_is_quick() && (i += replay_took_again(n - i, receives + i, s + i)) == n) break;
            if (receives[i] & 1 && (rc == MPI_SUCCESS || requests[i] == MPI_REQUEST_NULL)) light_took(receives[i], &s[i]);
        }
        if (rc != MPI_SUCCESS) lights_again(n, receives, requests);
    }
    free(held);
    return rc;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct several s;
    bool is_done = false;
    if (!replay_knows_any()) return NEXT(Waitall)(count, requests, statuses);
    if (replay_n_lights && !replay_has(&replay_n_freed)) {
        int rc = waitall_light(count, requests, statuses, &is_done);
        if (is_done) return rc;
    }
    several_begin(&s, count, requests, statuses);
    return all_completed(&s, NEXT(Waitall)(count, s.real, s.statuses));
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct replay_call c;
    struct several s;
    if (is_off()) return NEXT(Testall)(count, requests, flag, statuses);
    enum replay_due is = due(REPLAY_TEST, &c);
    *flag = is == REPLAY_YES;
    if (is != REPLAY_FREE) return is == REPLAY_YES ? MPI_Waitall(count, requests, statuses) : MPI_SUCCESS;
    several_begin(&s, count, requests, statuses);
    int rc = NEXT(Testall)(count, s.real, flag, s.statuses);
    if (is_in_status(rc)) *flag = 1; /* all were complete, some with an error */
    answered(rc, *flag);
    return rc != MPI_SUCCESS || *flag ? all_completed(&s, rc) : several_end(&s, rc);
}

/* The program is where the record says that the requests of these places were complete.  False: it departs. */
static bool are_there(const struct replay_call *c, int n, const MPI_Request *requests)
{
    int i = 0;
    bool *seen = n > 0 ? calloc((size_t)n, sizeof *seen) : NULL;
    for (; seen && i < c->n; i++) {
        int at = c->indices[i];
        if (at >= n || seen[at] || requests[at] == MPI_REQUEST_NULL) break;
        seen[at] = true;
    }
    free(seen);
    if (i < c->n)
        replay_departs(
            "%s completed request %d of its list in the recorded run (call number %llu of those that depend on the order of "
            "messages); the list has no such request now",
            replay_kind_names[c->kind], c->indices[i], (unsigned long long)replay.n_calls);
    return i == c->n;
}

/* n: how many were completed, or seen complete; 0: none; MPI_UNDEFINED: none was active. */
static void ended(int rc, enum replay_kind kind, int n, const int *indices)
{
    if (!replay_is(REPLAY_RECORDING)) return;
    replay_lock();
    if (n != 0)
        replay_ended(&(struct replay_call){.kind = kind, .n = n == MPI_UNDEFINED ? -1 : n, .indices = indices});
    else if (rc == MPI_SUCCESS)
        replay.noes++;
    replay_unlock();
}

/* The outcome of a call that completes one: after an error index is the request's, or stands as it was. */
static int any_completed(struct several *s, enum replay_kind kind, int rc, bool flag, int index, MPI_Status *status)
{
    bool is_one = index >= 0 && index < s->n;
    ended(rc, kind, is_one ? 1 : rc == MPI_SUCCESS && flag ? MPI_UNDEFINED : 0, &index);
    if (is_one) several_completed(s, index, rc, status);
    return several_end(s, rc);
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct replay_call c;
    struct several s;
    MPI_Status own, *at = status ? status : &own;
    if (is_off()) return NEXT(Waitany)(count, requests, index, status);
    if (due(REPLAY_WAITANY, &c) == REPLAY_YES && c.n > 0 && are_there(&c, count, requests)) {
        *index = c.indices[0];
        return wait_for(&requests[*index], status);
    }
    several_begin(&s, count, requests, NULL);
    *index = MPI_UNDEFINED;
    at->MPI_SOURCE = MPI_ANY_SOURCE;
    int rc = NEXT(Waitany)(count, s.real, index, at);
    return any_completed(&s, REPLAY_WAITANY, rc, true, *index, at);
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct replay_call c;
    struct several s;
    MPI_Status own, *at = status ? status : &own;
    if (is_off()) return NEXT(Testany)(count, requests, index, flag, status);
    enum replay_due is = due(REPLAY_TESTANY, &c);
    *flag = is == REPLAY_YES;
    *index = MPI_UNDEFINED;
    if (is == REPLAY_NO) return MPI_SUCCESS;
    if (is == REPLAY_YES && c.n > 0 && are_there(&c, count, requests)) {
        *index = c.indices[0];
        return wait_for(&requests[*index], status);
    }
    several_begin(&s, count, requests, NULL);
    at->MPI_SOURCE = MPI_ANY_SOURCE;
    int rc = NEXT(Testany)(count, s.real, index, flag, at);
    return any_completed(&s, REPLAY_TESTANY, rc, *flag, *flag || rc != MPI_SUCCESS ? *index : MPI_UNDEFINED, at);
}

static int some_again(const struct replay_call *c, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    int rc = MPI_SUCCESS, errors[FEW], *error = c->n > FEW ? malloc(sizeof *error * (size_t)c->n) : errors;
    if (!error) abort(); /* the requests could not be waited for */
    *outcount = c->n;
    for (int i = 0; i < c->n; i++) {
        indices[i] = c->indices[i];
        error[i] = wait_for(&requests[indices[i]], statuses ? &statuses[i] : MPI_STATUS_IGNORE);
        if (error[i] != MPI_SUCCESS) rc = MPI_ERR_IN_STATUS;
    }
    for (int i = 0; rc != MPI_SUCCESS && statuses && i < c->n; i++) statuses[i].MPI_ERROR = error[i];
    if (error != errors) free(error);
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
    int rc = kind == REPLAY_WAITSOME ? NEXT(Waitsome)(count, s.real, outcount, indices, s.statuses)
                                     : NEXT(Testsome)(count, s.real, outcount, indices, s.statuses);
    bool each = is_in_status(rc);
    int n = rc == MPI_SUCCESS || each ? *outcount : 0;
    ended(rc, kind, n, indices);
    for (int i = 0; n != MPI_UNDEFINED && i < n; i++)
        several_completed(&s, indices[i], each ? s.statuses && s.statuses[i].MPI_ERROR : 0, s.statuses ? &s.statuses[i] : NULL);
    return several_end(&s, rc);
}

int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    return is_off() ? NEXT(Waitsome)(incount, requests, outcount, indices, statuses)
                    : some(REPLAY_WAITSOME, incount, requests, outcount, indices, statuses);
}

int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    return is_off() ? NEXT(Testsome)(incount, requests, outcount, indices, statuses)
                    : some(REPLAY_TESTSOME, incount, requests, outcount, indices, statuses);
}

/* ---- questions that complete nothing --------------------------------------------------------------------------------------------- */
/* Until it is complete. */
static int see(MPI_Request request, int *flag, MPI_Status *status)
{
    MPI_Request real = real_of(known(request), request);
    int rc = MPI_SUCCESS;
    *flag = 0;
    while (rc == MPI_SUCCESS && !*flag) rc = NEXT(Request_get_status)(real, flag, status);
    return rc;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct replay_call c;
    enum replay_due is = due(REPLAY_TEST, &c);
    *flag = 0;
    if (is == REPLAY_NO) return MPI_SUCCESS;
    if (is == REPLAY_YES) return see(request, flag, status);
    int rc = NEXT(Request_get_status)(real_of(known(request), request), flag, status);
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
    do rc = NEXT(Request_get_status_all)(count, s.real, flag, statuses);
    while (is == REPLAY_YES && rc == MPI_SUCCESS && !*flag);
    answered(rc, *flag);
    return several_end(&s, rc);
}

int MPI_Request_get_status_any(int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct replay_call c;
    struct several s;
    int rc = MPI_SUCCESS;
    if (is_off()) return NEXT(Request_get_status_any)(count, requests, index, flag, status);
    enum replay_due is = due(REPLAY_TESTANY, &c);
    *flag = 0;
    *index = MPI_UNDEFINED;
    if (is == REPLAY_NO) return rc;
    if (is == REPLAY_YES && c.n > 0 && are_there(&c, count, requests)) {
        *index = c.indices[0];
        return see(requests[*index], flag, status);
    }
    several_begin(&s, count, (MPI_Request *)(uintptr_t)requests, NULL);
    rc = NEXT(Request_get_status_any)(count, s.real, index, flag, status);
    ended(rc, REPLAY_TESTANY, !*flag ? 0 : *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1, index);
    return several_end(&s, rc);
}

int MPI_Request_get_status_some(int incount, const MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct replay_call c;
    struct several s;
    int rc = MPI_SUCCESS, flag;
    if (is_off()) return NEXT(Request_get_status_some)(incount, requests, outcount, indices, statuses);
    enum replay_due is = due(REPLAY_TESTSOME, &c);
    *outcount = 0;
    if (is == REPLAY_NO) return rc;
    if (is == REPLAY_YES && c.n > 0 && are_there(&c, incount, requests)) {
        *outcount = c.n;
        for (int i = 0; i < c.n && rc == MPI_SUCCESS; i++)
            rc = see(requests[indices[i] = c.indices[i]], &flag, statuses ? &statuses[i] : MPI_STATUS_IGNORE);
        return rc;
    }
    several_begin(&s, incount, (MPI_Request *)(uintptr_t)requests, statuses);
    rc = NEXT(Request_get_status_some)(incount, s.real, outcount, indices, statuses);
    ended(rc, REPLAY_TESTSOME, rc == MPI_SUCCESS || is_in_status(rc) ? *outcount : 0, indices);
    return several_end(&s, rc);
}

int MPI_Parrived(MPI_Request request, int partition, int *flag)
{
    struct replay_call c;
    enum replay_due is = due(REPLAY_TEST, &c);
    int rc = MPI_SUCCESS;
    *flag = 0;
    if (is == REPLAY_NO) return rc;
    do rc = NEXT(Parrived)(request, partition, flag);
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
    rc = NEXT(Win_test)(win, flag);
    answered(rc, *flag);
    return rc;
}

/* ---- the end of requests --------------------------------------------------------------------------------------------------------- */
/* Replaying, what took a message in the recorded run is not cancelled: it may come later now.  A request that is not known may be a send,
 * too, which would do no harm, but nothing tells: sends are not wrapped, and no call says what a request is. */
int MPI_Cancel(MPI_Request *request)
{
    struct replay_request *k = known(*request);
    if (!k && replay_is_quick() && !replay.may_cancel)
        replay_departs(
            "MPI_Cancel is called by what was loaded after MPI_Init, maybe for a receive that names its source: those were not kept in mind");
    if (!k) return NEXT(Cancel)(request);
    k->is_cancelled = true;
    if (replay_is(REPLAY_REPLAYING) && k->is_kept) return MPI_SUCCESS;
    MPI_Request real = k->hidden != MPI_REQUEST_NULL ? k->hidden : *request;
    return NEXT(Cancel)(&real);
}

/* Recording, one that may take a message yet is kept until it has. */
int MPI_Request_free(MPI_Request *request)
{
    struct replay_request *k = known(*request);
    if (replay_has(&replay_n_freed)) replay_freed_look(false);
    if (!k) return NEXT(Request_free)(request);
    if (k->number && (k->is_any || k->is_cancelled) && replay_is(REPLAY_RECORDING)) {
        replay_request_freed(k);
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    if (k->hidden != MPI_REQUEST_NULL) {
        if (k->is_unmet) NEXT(Cancel)(&k->hidden);
        NEXT(Request_free)(&k->hidden);
    }
    replay_request_drop(k);
    return NEXT(Request_free)(request);
}
