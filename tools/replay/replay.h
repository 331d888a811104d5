/* replay.h -- the library of `mpiexec --record` and `--replay`: it is loaded before the program, stands between it and any MPI library
 * with the standard ABI, and keeps, or repeats, what in a rank depends on the order in which messages come.
 *
 * That is, in the order of the program's calls:
 *   - which message a receive took whose source or tag was any (struct replay_take, by the number of the receive among all receives of
 *     the rank).  MPI lets messages of one sender with one tag on one communicator not overtake each other, so source and tag say which;
 *   - how a call ended that may end in several ways (struct replay_call): how often such calls had said "no" before, and what the one
 *     says that says "yes": MPI_Test*, MPI_Iprobe and the like; MPI_Waitany and MPI_Waitsome, MPI_Probe of any source or tag, which never
 *     say no.
 *   - of a receive that the program wanted to cancel, whether it was.
 * Replaying, such a receive asks for the source and the tag of the record, and such a call says no as often as it did and then waits
 * until it can say the same.  A receive that was cancelled, or took nothing before the record ended, is posted where nobody sends: it
 * must not take what the record gives to a later one.  Where the rank departs, or waits for it, it is posted in earnest.  Other calls
 * are not wrapped, and a receive that names source and tag costs a few instructions: only a cancel makes it end in several ways, and
 * symbols.c says whether the program has any.
 *
 * shmem_init and shmem_finalize do what MPI_Init and MPI_Finalize do; of both the first begins, and the last ends it.  Calls of OpenSHMEM that end
 * in several ways are events of the same kinds (symmetric.h).
 *
 *   OFF --MPI_Init, GODWIT_RECORD--> RECORDING --MPI_Finalize--> OFF
 *   OFF --MPI_Init, GODWIT_REPLAY--> REPLAYING --MPI_Finalize, the record's end, or another call than the recorded--> OFF
 *
 * Calls of several threads at once have no order that could be repeated; only the record itself is guarded.
 *
 * replay.c begins and ends, record_file.c is the file, receive.c wraps receives and probes, complete.c what completes requests,
 * symbols.c looks at what is loaded.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPLAY_H
#define REPLAY_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden) /* MPI's names alone are for others */

enum replay_mode { REPLAY_OFF, REPLAY_RECORDING, REPLAY_REPLAYING };
struct replay {
    _Atomic enum replay_mode mode;
    _Atomic bool is_quick; /* recording, and not MPI_THREAD_MULTIPLE: nothing has to be asked */
    bool has_threads;      /* MPI_THREAD_MULTIPLE */
    bool may_cancel; /* something that is loaded calls MPI_Cancel; else receives that name source and tag are not kept in mind */
    int rank, ranks;
    uint64_t receives;         /* that the program has started or made, each with a number from 1 on */
    uint64_t n_takes, n_calls; /* recorded, or repeated */
    uint64_t noes;             /* calls that said no since the last that said yes */
};
extern struct replay replay;
/* Relaxed: each call goes by what it reads, and the record by replay_lock(). */
static inline bool replay_is(enum replay_mode mode) { return atomic_load_explicit(&replay.mode, memory_order_relaxed) == mode; }
static inline bool replay_is_quick(void) { return atomic_load_explicit(&replay.is_quick, memory_order_relaxed); }
static inline bool replay_has(const _Atomic int *n) { return atomic_load_explicit(n, memory_order_relaxed) != 0; }
void replay_threads_lock(void);
void replay_threads_unlock(void);
/* Where there are threads; it may be taken again by who has it. */
static inline void replay_lock(void)
{
    if (__builtin_expect(replay.has_threads, 0)) replay_threads_lock();
}
static inline void replay_unlock(void)
{
    if (__builtin_expect(replay.has_threads, 0)) replay_threads_unlock();
}
/* Of the receive that is made now. */
static inline uint64_t replay_number(void)
{
    replay_lock();
    uint64_t number = ++replay.receives;
    replay_unlock();
    return number;
}
/* ---- begin and end (replay.c; symmetric.c where OpenSHMEM does) ---- */
bool replay_is_wanted(void);
bool replay_in_mpi(void); /* between MPI_Init and MPI_Finalize */
/* The first of the two was initialised; nothing for the second one. */
void replay_begin_as(int rank, int ranks, bool has_threads);
void replay_end(void); /* the last of the two is about to end; collective */

void replay_said_no(void); /* recording: a call did */
/* Does the program or a library refer to this function?  Not what is loaded later. */
bool replay_is_called(const char *name);
/* The program is elsewhere than the recorded run was: said once; this rank goes on without the record. */
void replay_departs(const char *fmt, ...) __attribute__((format(printf, 1, 2), cold));
void replay_how_far(uint64_t number); /* replaying, at this receive: says so now and then on rank 0 */

/* ---- events ---- */
enum {
    REPLAY_CANCELLED = -100,
    REPLAY_KEPT = -101
}; /* sources: it was cancelled; it names source and tag, and was cancelled in vain */
struct replay_take {
    uint64_t number; /* of the receive */
    int source, tag;
};
enum replay_kind {
    REPLAY_TEST, /* and what else says yes or no, and no more */
    REPLAY_TESTANY,
    REPLAY_WAITANY,
    REPLAY_TESTSOME,
    REPLAY_WAITSOME,
    REPLAY_PROBE,
    REPLAY_IPROBE,
    REPLAY_KINDS
};
extern const char *const replay_kind_names[REPLAY_KINDS];
struct replay_call {
    uint64_t noes; /* before it */
    enum replay_kind kind;
    int source, tag;    /* PROBE, IPROBE */
    int n;              /* TESTANY, WAITANY: 1; SOME: how many; -1: no request was active */
    const int *indices; /* of the requests; valid until the next event */
};

/* ---- recording: the file is mapped, and grows; what was recorded before a crash or a kill is there ---- */
/* 0, or errno. */
int replay_file_create(const char *path);
/* Where the next event is written; record_file.c.  The few instructions that most receives of any source need are here. */
struct replay_out {
    uint8_t *at, *limit;    /* where it comes to stand; below `limit` a short one has room.  NULL both: nothing is written */
    uint8_t *events;        /* the first */
    _Atomic uint64_t *used; /* bytes of whole events, in the head of the file */
    uint8_t *last;          /* the event before, */
    uint64_t last_bytes;    /* of so many */
    uint8_t
        *count; /* the lowest seven bits of how often it was repeated; where it cannot be raised in its place, they are all set */
    uint64_t step,
        message; /* of the event before, if it is a TAKE (else 0, REPLAY_NO_MESSAGE): what it adds to the number; source and tag */
    uint64_t next; /* number of the last TAKE, and step more */
};
#define REPLAY_NO_MESSAGE UINT64_MAX
extern struct replay_out replay_out;
extern uint8_t replay_full;
void replay_took_slow(uint64_t number, int source, int tag);
void replay_repeats_end(void); /* those in `count` are in replay.n_takes now */
/* The event of n bytes at `at` is whole, and not the same as the one before. */
static inline void replay_event(struct replay_out *o, uint64_t n)
{
    if (o->count != &replay_full) replay_repeats_end();
    o->last = o->at, o->last_bytes = n, o->count = &replay_full;
    o->at += n;
    atomic_store_explicit(o->used, (uint64_t)(o->at - o->events), memory_order_release);
}
/* With replay_lock(). */
static inline void replay_took(uint64_t number, int source, int tag)
{
    struct replay_out *o = &replay_out;
    uint64_t message = (uint64_t)(uint32_t)source << 32 | (uint32_t)tag;
    if (__builtin_expect(number == o->next && message == o->message && (*o->count & 127) != 127, 1)) { /* the same once more */
        ++*o->count;
        o->next += o->step;
    } else if (message != o->message && number - (o->next - o->step) == 1 && (unsigned)(source | tag) < 64 && o->at < o->limit) {
        uint32_t word = 1u << 3 | (uint32_t)source << 9 | (uint32_t)tag << 17; /* three bytes, as put() writes them */
        __builtin_memcpy(o->at, &word, sizeof word);
        replay_event(o, 3);
        o->step = 1, o->message = message, o->next = number + 1;
        replay.n_takes++;
    } else {
        replay_took_slow(number, source, tag);
    }
}
/* Of n receives (twice their number, and 1 more) how many took the same once more, one after the other.  Those are recorded. */
static inline int replay_took_again(int n, const uint64_t *receives, const MPI_Status *s)
{
    struct replay_out *o = &replay_out;
    const int room = 127 - (*o->count & 127);
    const uint64_t message = o->message << 32 | o->message >> 32, step = o->step << 1;
    uint64_t due = o->next << 1 | 1, is;
    int i = 0;
    _Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0 && offsetof(MPI_Status, MPI_TAG) == 4, "source and tag are read at once");
    for (; i < n && i < room && receives[i] == due; i++, due += step) {
        __builtin_memcpy(&is, &s[i], sizeof is);
        if (is != message) break;
    }
    if (i > 0) *o->count = (uint8_t)(*o->count + i), o->next += o->step * (uint64_t)i;
    return i;
}
void replay_ended(const struct replay_call *c); /* noes are replay.noes, which are 0 then */
uint64_t replay_file_close(bool is_whole);      /* its bytes; is_whole: the program reached MPI_Finalize */

/* ---- replaying ---- */
/* NULL, or why not. */
const char *replay_file_open(const char *path);
/* Which bytes of the opened file, from and up to, have no sum: none, but for the end of a record whose process was killed. */
void replay_unsummed(uint64_t range_out[2]);
bool replay_is_whole(void);
uint64_t replay_recorded_receives(void); /* of a whole record */
/* What receive `number` took: each number is asked for once.  False: the record does not say.  Of one that names source and tag it says
 * something only if the program is another now, and it is not looked for far. */
bool replay_find(uint64_t number, bool is_any, struct replay_take *take_out);
/* What became of a receive's cancel.  False: the record does not say; of one of any that took a message replay_find() tells. */
bool replay_find_cancel(uint64_t number, bool *is_kept_out);
/* The next call that says yes; its noes are those that are still to come. */
enum replay_due { REPLAY_NO, REPLAY_YES, REPLAY_FREE }; /* FREE: not from the record; the call is made as it is */
enum replay_due replay_due(enum replay_kind kind, struct replay_call *call_out);
bool replay_has_calls(void); /* some were not repeated */

/* ---- receives that are under way or prepared, by request ----
 * A light one, and none with threads or replaying, has a place of its own where its request's hash says; nothing but its number has to
 * be known until MPI_Wait or MPI_Waitall completes it.  Any other, whose place is taken, that is cancelled or freed, or that another call
 * asks for, has a struct replay_request: replay_request_find() makes a light one such.  Never is one both. */
struct replay_light {
    MPI_Request
        request; /* NULL: the place is free.  Place 0, where the hash of NULL would be, is never free: no lookup of NULL finds any */
    uint64_t receive; /* its number, twice; 1 more if its source or tag is any */
};
enum { REPLAY_LIGHT_BITS = 12, REPLAY_LIGHTS = 1 << REPLAY_LIGHT_BITS };
extern struct replay_light replay_lights[REPLAY_LIGHTS];
extern int replay_n_lights; /* and of the others: */
extern _Atomic int replay_n_requests;
static inline struct replay_light *replay_light_at(MPI_Request q)
{
    const uint64_t at = (uint64_t)(uintptr_t)q * 0x9e3779b97f4a7c15u >> (60 - REPLAY_LIGHT_BITS) & ~15ull; /* in bytes */
    _Static_assert(sizeof *replay_lights == 16, "the place of a light one is found by its bytes");
    return (struct replay_light *)(void *)((char *)replay_lights + at);
}
/* With replay_is_quick().  False: its place is taken. */
static inline bool replay_light_add(MPI_Request q, uint64_t receive)
{
    struct replay_light *l = replay_light_at(q);
    if (__builtin_expect(l->request != NULL, 0)) return false;
    l->request = q, l->receive = receive;
    replay_n_lights++;
    return true;
}
static inline bool replay_knows_any(void) { return replay_n_lights != 0 || replay_has(&replay_n_requests); }

struct replay_request {
    struct replay_request *next;
    MPI_Request request; /* the program's */
    MPI_Request hidden;  /* replaying: what is under way in its place; else MPI_REQUEST_NULL */
    uint64_t number;     /* 0: not started */
    bool is_prepared, is_cancelled;
    bool is_any;   /* source or tag */
    bool is_kept;  /* replaying: it took a message in the recorded run, so that it is not cancelled */
    bool is_unmet; /* replaying: hidden is posted where nobody sends */
    bool has_args; /* those below, with a type of our own: what is posted later needs them */
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
    int source, tag;
    MPI_Comm comm;
};
struct replay_request *replay_request_add(MPI_Request request);
struct replay_request *replay_request_find(MPI_Request request);
struct replay_request *replay_request_light(MPI_Request q, uint64_t receive); /* of a light one */
void replay_request_drop(struct replay_request *r);
extern _Atomic int replay_n_freed;
void replay_request_freed(struct replay_request *r); /* instead: the program has, recording, and it is under way */
void replay_request_keep(struct replay_request *r, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                         MPI_Comm comm);
/* Posts it where nobody sends. */
int replay_request_strand(struct replay_request *r);
/* Sends a copy of the data, which is let go of at the end: for the receive of the same call is stranded, and its request tells of that alone. */
int replay_send_apart(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
/* Recording: those that the program has freed: what they took meanwhile is recorded; is_last: they are let go. */
void replay_freed_look(bool is_last);
/* Recording: it is complete, with this status. */
void replay_request_took(struct replay_request *r, const MPI_Status *s);
MPI_Comm replay_nobody(void); /* a communicator on which nobody sends */

#pragma GCC visibility pop

#endif
