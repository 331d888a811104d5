/* life.h -- starts and ends the rooms below for whoever uses them.
 *
 * A use is an instance: MPI's World Model, each of its sessions; so would be a library beside MPI.  The rooms start with the first instance,
 * rest while there is none, and wake with the next.  They end when the process ends, because a process can join a segment only once.
 *
 *     DOWN --life_begin--> UP --the last life_end--> RESTING --life_begin--> UP        RESTING --exit--> DOWN
 *
 * A library that begins instances says what it has to do itself at these steps: struct life_user.
 *
 * THREADS  Locks are real from the begin of the first instance that says that several threads may be in the library: one of GW_THREAD_MULTIPLE;
 * a session, as another thread may begin one of its own at any time; the World Model of a program that may begin sessions beside it
 * (is_joined).  They cannot become real while another thread is in the middle of a call that took none.  At GW_THREAD_SINGLE the program has
 * promised that there is one thread (MPI 4.1 section 11.6.2); who breaks that, or begins sessions by a library that was opened later, is warned.
 *
 * LOCK     No lock is held by the caller.  Instances may begin and end in any thread; a user's functions run one at a time.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_LIFE_LIFE_H
#define GW_LIFE_LIFE_H

#include "base/base.h"

/* Functions that are NULL are not called.  gw_checking and the other flags of base/lock.h have their values before the first of them. */
struct life_user {
    bool (*checks)(void); /* is GODWIT_CHECK on?  Asked at each begin, once the settings are known */
    /* May others begin instances in other threads beside one of GW_THREAD_FUNNELED or _SERIALIZED that meets the others?  Asked at its begin. */
    bool (*is_joined)(void);
    void (*up)(void);    /* the rooms have come up; once a process */
    void (*wake)(void);  /* its first instance begins: the rooms work */
    void (*leave)(void); /* its last one ends, and everything still works */
    void (*rest)(void);  /* nothing moves any more: the library's own threads have stopped, other ranks are not waited for */
    void (*down)(void);  /* the process ends; the rooms are still there */
};

/* Returns when the rooms are up; ends the process with a message if they cannot come up.  Local: it does not wait for other ranks under our
 * mpiexec, but two seconds at most with GODWIT_HUGE_PAGES=pool, and with --vnodes for the first rank of its faked node, whose segment it opens,
 * as under other launchers.  level: a GW_THREAD_*, from life_level().  meets: gw_boot.meets. */
void life_begin(const struct life_user *user, int level, bool meets);
/* Returns when no other rank needs this one for messages.  may_return: another instance may begin, and ask the launcher for addresses of ranks on
 * other nodes. */
void life_end(const struct life_user *user, bool may_return);

int life_level(int required); /* the thread level that is provided: a GW_THREAD_* */
int life_highest(void);       /* the highest level of the present instances; GW_THREAD_SINGLE without any */
bool life_is_last(void);      /* is there one instance?  Of a thread that is about to end one */
bool life_has_begun(void);    /* there is or was an instance: the settings have been looked at */
/* May this thread access data guarded by locks?  Locks are in use, or it is the only thread in the library. */
bool life_may_lock(void);

int64_t life_heap_bytes(void); /* of the heap that the ranks of a node share */

/* A failure before any error handler exists ends the process: "the start of MPI: WHAT: reason". */
void life_must(int rc, const char *what);

/* alike.c: settings by which ranks choose what they do together.  Notes this rank's for the others; after those of the node
 * have met, its first rank ends the job if another one has others.  Ranks of other nodes are compared by net/card.c. */
void life_alike_note(void);
void life_alike_compare(void);

/* The rooms alone, for tests: what the first instance starts, with boot up or not, and what the end of the process ends but for boot. */
void life_rooms_up(bool has_boot);
void life_rooms_down(void);

#endif
