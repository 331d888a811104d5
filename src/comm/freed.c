/* freed.c -- error handlers of freed communicators: operations that were pending when MPI_Comm_free was called may fail later, and their
 * requests know the communicator's id alone.  The last ones are remembered, where the handler is not that of MPI_COMM_SELF, which is what an
 * error without a communicator is raised on.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm_private.h"

#include "base/lock.h"

enum { REMEMBERED = 64 };
static struct {
    struct gw_lock lock;
    struct {
        uint64_t id;
        struct gw_errhandler *handler; /* with a reference; NULL: unused */
    } comms[REMEMBERED];
    unsigned next; /* the entry that was written longest ago */
} freed;
/* The last one that this thread was given, with a reference: another thread may be overwriting the entry. */
static _Thread_local struct gw_errhandler *given;

static void give(struct gw_errhandler *eh)
{
    if (given) gw_errhandler_release(given);
    given = eh;
}

/* The lock is held. */
static void forget(unsigned at)
{
    if (freed.comms[at].handler) gw_errhandler_release(freed.comms[at].handler);
    freed.comms[at].handler = NULL;
}

void comm_freed_note(const struct gw_comm *c)
{
    gw_lock(&freed.lock);
    for (unsigned i = 0; i < REMEMBERED; i++) /* an earlier one that had this id */
        if (freed.comms[i].id == c->obj.id) forget(i);
    if (c->errhandler && c->errhandler != gw_comm_self.errhandler) {
        unsigned at = freed.next++ % REMEMBERED;
        forget(at);
        freed.comms[at].id = c->obj.id;
        freed.comms[at].handler = gw_errhandler_hold(c->errhandler);
    }
    gw_unlock(&freed.lock);
}

struct gw_errhandler *comm_freed_handler(uint64_t id)
{
    struct gw_errhandler *found = NULL;
    gw_lock(&freed.lock);
    for (int i = 0; i < REMEMBERED && !found; i++)
        if (freed.comms[i].handler && freed.comms[i].id == id) found = gw_errhandler_hold(freed.comms[i].handler);
    gw_unlock(&freed.lock);
    give(found);
    return found;
}

void comm_freed_forget(void)
{
    give(NULL);
    for (unsigned i = 0; i < REMEMBERED; i++) forget(i);
}
