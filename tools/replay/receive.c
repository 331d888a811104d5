/* receive.c -- receives and probes.
 *
 * Calls with an int count and with an MPI_Count share what they do once they are of interest.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"
#include "../next/next.h"

#include <limits.h>
#include <stdio.h>

static inline bool is_any(int source, int tag) { return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG; }

/* A blocking receive is made: is it of interest?  If not, it has its number.  Off, those of any source go the longer way as well. */
static inline bool asks(int source, int tag)
{
    if (is_any(source, tag) || replay.has_threads || replay_is(REPLAY_REPLAYING)) return true;
    replay.receives++;
    return false;
}

static void count_take(void)
{
    replay_lock();
    replay.n_takes++;
    replay_unlock();
}

/* Source and tag of receive `number` in words. */
static void in_words(char *to, size_t cap, int source, int tag)
{
    char s[24] = "any rank", t[24] = "any tag";
    if (source != MPI_ANY_SOURCE) snprintf(s, sizeof s, "rank %d", source);
    if (tag != MPI_ANY_TAG) snprintf(t, sizeof t, "tag %d", tag);
    snprintf(to, cap, "%s (%s)", s, t);
}

/* Replaying: what became of the receive.  AS_IT_IS: it names source and tag, or the rank departs. */
enum became { AS_IT_IS, TOOK, KEPT, CANCELLED, NOTHING };
static enum became recorded(uint64_t number, int *source, int *tag)
{
    struct replay_take t;
    char was[64], now[64];
    bool is_kept;
    replay_how_far(number);
    if (*source == MPI_PROC_NULL) return AS_IT_IS;
    if (replay_find_cancel(number, &is_kept)) {
        count_take();
        return is_kept ? KEPT : CANCELLED;
    }
    bool any = is_any(*source, *tag);
    if (!replay_find(number, any, &t)) {
        if (!any) return AS_IT_IS;
        if (!replay_is_whole() || number <= replay_recorded_receives()) return NOTHING;
        in_words(now, sizeof now, *source, *tag);
        replay_departs("receive number %llu asks for %s; the recorded run made %llu receives", (unsigned long long)number, now,
                       (unsigned long long)replay_recorded_receives());
        return AS_IT_IS;
    }
    if ((*source != MPI_ANY_SOURCE && *source != t.source) || (*tag != MPI_ANY_TAG && *tag != t.tag)) {
        in_words(was, sizeof was, t.source, t.tag);
        in_words(now, sizeof now, *source, *tag);
        replay_departs("receive number %llu took %s in the recorded run; it asks for %s now", (unsigned long long)number, was, now);
        return AS_IT_IS;
    }
    *source = t.source, *tag = t.tag;
    count_take();
    return TOOK;
}

/* The program waits for what took nothing in the recorded run. */
static void nothing_came(uint64_t number)
{
    replay_departs("receive number %llu took no message before the record ends", (unsigned long long)number);
}

/* ---- blocking receives --------------------------------------------------------------------------------------------------------- */
/* Before the call: the receive's number, and where its status is to be. */
struct receive {
    uint64_t number;
    MPI_Status own, *status;
    bool is_any;
};

static void receive_begin(struct receive *r, int *source, int *tag, MPI_Status *status)
{
    r->number = replay_number();
    r->is_any = is_any(*source, *tag) && *source != MPI_PROC_NULL;
    r->status = status || !r->is_any ? status : &r->own;
    if (replay_is(REPLAY_REPLAYING) && recorded(r->number, source, tag) >= CANCELLED) nothing_came(r->number);
    if (r->is_any) r->status->MPI_SOURCE = MPI_ANY_SOURCE; /* and stays so, where an error came before a message */
}

static int receive_end(const struct receive *r, int rc)
{
    if (r->is_any && replay_is(REPLAY_RECORDING) && r->status->MPI_SOURCE >= 0) {
        replay_lock();
        replay_took(r->number, r->status->MPI_SOURCE, r->status->MPI_TAG);
        replay_unlock();
    }
    return rc;
}

static __attribute__((noinline)) int receive(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                             MPI_Status *status)
{
    struct receive r;
    receive_begin(&r, &source, &tag, status);
    return receive_end(&r,
                       count <= INT_MAX ? NEXT(Recv)(buf, (int)count, type, source, tag, comm, r.status)
                                        : NEXT(Recv_c)(buf, count, type, source, tag, comm, r.status));
}

/* Most receives of any source that are recorded. */
static __attribute__((noinline)) int receive_quick(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                                   MPI_Status *status)
{
    MPI_Status own, *s = status ? status : &own;
    uint64_t number = ++replay.receives;
    s->MPI_SOURCE = MPI_ANY_SOURCE; /* and stays so, where an error came before a message */
    int rc = NEXT(Recv)(buf, count, type, source, tag, comm, s);
    if (s->MPI_SOURCE >= 0) replay_took(number, s->MPI_SOURCE, s->MPI_TAG); /* not of MPI_PROC_NULL */
    return rc;
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (!asks(source, tag)) return NEXT(Recv)(buf, count, datatype, source, tag, comm, status);
    if (replay_is_quick()) return receive_quick(buf, count, datatype, source, tag, comm, status);
    return receive(buf, count, datatype, source, tag, comm, status);
}

int MPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (asks(source, tag)) return receive(buf, count, datatype, source, tag, comm, status);
    return NEXT(Recv_c)(buf, count, datatype, source, tag, comm, status);
}

int MPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct receive r;
    if (!asks(source, recvtag))
        return NEXT(Sendrecv_c)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,
                                status);
    receive_begin(&r, &source, &recvtag, status);
    return receive_end(&r,
                       NEXT(Sendrecv_c)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                                        comm, r.status));
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return MPI_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
}

int MPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                           MPI_Comm comm, MPI_Status *status)
{
    struct receive r;
    if (!asks(source, recvtag)) return NEXT(Sendrecv_replace_c)(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
    receive_begin(&r, &source, &recvtag, status);
    return receive_end(&r, NEXT(Sendrecv_replace_c)(buf, count, datatype, dest, sendtag, source, recvtag, comm, r.status));
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                         MPI_Status *status)
{
    return MPI_Sendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
}

/* ---- receives that are started --------------------------------------------------------------------------------------------------- */
/* What complete.c has to know of it: which message it takes, and whether it may be cancelled. */
static int started(int rc, uint64_t number, bool any, enum became became, MPI_Request *request)
{
    if (rc != MPI_SUCCESS || replay_is(REPLAY_OFF)) return rc;
    if (replay_is_quick() && ((!any && !replay.may_cancel) || replay_light_add(*request, number << 1 | any))) return rc;
    struct replay_request *r = replay_request_add(*request);
    if (!r) return rc;
    r->number = number, r->is_any = any, r->is_kept = became == TOOK || became == KEPT;
    return rc;
}

/* The program's request is one that is prepared and never started: no other has its name while the stranded one is under way. */
static int start_stranded(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, uint64_t number,
                          MPI_Request *request)
{
    int rc = NEXT(Recv_init_c)(NULL, 0, MPI_BYTE, 0, 0, replay_nobody(), request);
    struct replay_request *r = rc == MPI_SUCCESS ? replay_request_add(*request) : NULL;
    if (!r) return rc != MPI_SUCCESS ? rc : NEXT(Irecv_c)(buf, count, type, source, tag, comm, request);
    replay_request_keep(r, buf, count, type, source, tag, comm);
    r->number = number, r->is_any = is_any(source, tag);
    return replay_request_strand(r);
}

static __attribute__((noinline)) int start_receive(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                                                   MPI_Comm comm, MPI_Request *request)
{
    uint64_t number = replay_number();
    bool any = is_any(source, tag);
    enum became became = replay_is(REPLAY_REPLAYING) ? recorded(number, &source, &tag) : AS_IT_IS;
    if (became >= CANCELLED) return start_stranded(buf, count, type, source, tag, comm, number, request);
    int rc = count <= INT_MAX ? NEXT(Irecv)(buf, (int)count, type, source, tag, comm, request)
                              : NEXT(Irecv_c)(buf, count, type, source, tag, comm, request);
    return source == MPI_PROC_NULL ? rc : started(rc, number, any, became, request);
}

static __attribute__((noinline)) int start_light(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                                                 MPI_Request *request)
{
    const uint64_t receive = ++replay.receives << 1 | is_any(source, tag);
    int rc = NEXT(Irecv)(buf, count, datatype, source, tag, comm, request);
    if (__builtin_expect(rc == MPI_SUCCESS && replay_light_add(*request, receive), 1)) return rc;
    return started(rc, receive >> 1, receive & 1, AS_IT_IS, request);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (__builtin_expect(replay_is_quick(), 1)) {
        if ((replay.may_cancel || is_any(source, tag)) && source != MPI_PROC_NULL)
            return start_light(buf, count, datatype, source, tag, comm, request);
        replay.receives++;
        return NEXT(Irecv)(buf, count, datatype, source, tag, comm, request);
    }
    if (!replay_is(REPLAY_OFF)) return start_receive(buf, count, datatype, source, tag, comm, request);
    return NEXT(Irecv)(buf, count, datatype, source, tag, comm, request);
}

int MPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (!replay_is(REPLAY_OFF)) return start_receive(buf, count, datatype, source, tag, comm, request);
    return NEXT(Irecv_c)(buf, count, datatype, source, tag, comm, request);
}

int MPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    bool any = is_any(source, recvtag), is_null = source == MPI_PROC_NULL;
    uint64_t number = replay_number();
    enum became became = replay_is(REPLAY_REPLAYING) ? recorded(number, &source, &recvtag) : AS_IT_IS;
    int rc = became >= CANCELLED ? replay_send_apart(sendbuf, sendcount, sendtype, dest, sendtag, comm) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS) return rc;
    if (became >= CANCELLED) return start_stranded(recvbuf, recvcount, recvtype, source, recvtag, comm, number, request);
    rc = NEXT(Isendrecv_c)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,
                           request);
    return is_null ? rc : started(rc, number, any, became, request);
}

int MPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    return MPI_Isendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,
                           request);
}

int MPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                            MPI_Comm comm, MPI_Request *request)
{
    bool any = is_any(source, recvtag), is_null = source == MPI_PROC_NULL;
    uint64_t number = replay_number();
    enum became became = replay_is(REPLAY_REPLAYING) ? recorded(number, &source, &recvtag) : AS_IT_IS;
    int rc = became >= CANCELLED ? replay_send_apart(buf, count, datatype, dest, sendtag, comm) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS) return rc;
    if (became >= CANCELLED) return start_stranded(buf, count, datatype, source, recvtag, comm, number, request);
    rc = NEXT(Isendrecv_replace_c)(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
    return is_null ? rc : started(rc, number, any, became, request);
}

int MPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Request *request)
{
    return MPI_Isendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
}

/* ---- prepared receives: replaying, a start makes another one in its place ----------------------------------------------------------- */
int MPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    int rc = NEXT(Recv_init_c)(buf, count, datatype, source, tag, comm, request);
    if (rc != MPI_SUCCESS || replay_is(REPLAY_OFF) || source == MPI_PROC_NULL) return rc;
    struct replay_request *r = replay_request_add(*request);
    if (!r) return rc;
    r->is_prepared = true, r->is_any = is_any(source, tag);
    if (replay_is(REPLAY_REPLAYING)) replay_request_keep(r, buf, count, datatype, source, tag, comm);
    return rc;
}

int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return MPI_Recv_init_c(buf, count, datatype, source, tag, comm, request);
}

static int start_prepared(struct replay_request *r, MPI_Request *request)
{
    int source = r->source, tag = r->tag;
    if (replay_is(REPLAY_OFF)) return NEXT(Start)(request);
    r->number = replay_number(), r->is_kept = false;
    enum became became = replay_is(REPLAY_REPLAYING) ? recorded(r->number, &source, &tag) : AS_IT_IS;
    r->is_kept = became == TOOK || became == KEPT;
    if (became >= CANCELLED) return replay_request_strand(r);
    if (became == TOOK) return NEXT(Irecv_c)(r->buf, r->count, r->type, source, tag, r->comm, &r->hidden);
    return NEXT(Start)(request);
}

int MPI_Start(MPI_Request *request)
{
    struct replay_request *r = replay_has(&replay_n_requests) ? replay_request_find(*request) : NULL;
    return r ? start_prepared(r, request) : NEXT(Start)(request);
}

int MPI_Startall(int count, MPI_Request requests[])
{
    if (!replay_has(&replay_n_requests)) return NEXT(Startall)(count, requests);
    for (int i = 0; i < count; i++) {
        int rc = MPI_Start(&requests[i]);
        if (rc != MPI_SUCCESS) return rc;
    }
    return MPI_SUCCESS;
}

/* ---- probes ----------------------------------------------------------------------------------------------------------------------- */
static bool fits(const struct replay_call *c, int source, int tag)
{
    char was[64], now[64];
    if ((source == MPI_ANY_SOURCE || source == c->source) && (tag == MPI_ANY_TAG || tag == c->tag)) return true;
    in_words(was, sizeof was, c->source, c->tag);
    in_words(now, sizeof now, source, tag);
    replay_departs(
        "probe number %llu (of the calls that depend on the order of messages) found %s in the recorded run; it asks for %s now",
        (unsigned long long)replay.n_calls, was, now);
    return false;
}

static void probed(enum replay_kind kind, const MPI_Status *s)
{
    replay_lock();
    replay_ended(&(struct replay_call){.kind = kind, .source = s->MPI_SOURCE, .tag = s->MPI_TAG});
    replay_unlock();
}

/* message NULL: a probe without a message of its own. */
static int probe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *s = status ? status : &own;
    struct replay_call c;
    bool is_asked = !replay_is(REPLAY_OFF) && source != MPI_PROC_NULL && is_any(source, tag);
    if (is_asked && replay_is(REPLAY_REPLAYING) && replay_due(REPLAY_PROBE, &c) == REPLAY_YES && fits(&c, source, tag))
        source = c.source, tag = c.tag;
    int rc = message ? NEXT(Mprobe)(source, tag, comm, message, s) : NEXT(Probe)(source, tag, comm, s);
    if (rc == MPI_SUCCESS && is_asked && replay_is(REPLAY_RECORDING)) probed(REPLAY_PROBE, s);
    return rc;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) { return probe(source, tag, comm, NULL, status); }
int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    return probe(source, tag, comm, message, status);
}

static int probe_now(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *s = status ? status : &own;
    struct replay_call c;
    bool is_asked = !replay_is(REPLAY_OFF) && source != MPI_PROC_NULL;
    if (is_asked && replay_is(REPLAY_REPLAYING)) {
        enum replay_due due = replay_due(REPLAY_IPROBE, &c);
        *flag = due == REPLAY_YES;
        if (due == REPLAY_NO) return MPI_SUCCESS;
        if (due == REPLAY_YES && fits(&c, source, tag))
            return message ? NEXT(Mprobe)(c.source, c.tag, comm, message, s) : NEXT(Probe)(c.source, c.tag, comm, s);
    }
    int rc = message ? NEXT(Improbe)(source, tag, comm, flag, message, s) : NEXT(Iprobe)(source, tag, comm, flag, s);
    if (rc != MPI_SUCCESS || !is_asked || !replay_is(REPLAY_RECORDING)) return rc;
    if (*flag)
        probed(REPLAY_IPROBE, s);
    else
        replay_said_no();
    return rc;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return probe_now(source, tag, comm, flag, NULL, status);
}
int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    return probe_now(source, tag, comm, flag, message, status);
}
