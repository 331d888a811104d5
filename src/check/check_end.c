/* check_end.c -- what is left at MPI_Finalize: messages that nobody received, operations that nobody completed, handles that nobody freed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- messages ------------------------------------------------------------------------------------------------------------- */
/* Those of one source, tag and communicator are one finding. */
struct left {
    struct proto_left first;
    int64_t n, bytes;
};
static struct {
    struct left v[CHECK_FINDINGS];
    int n;
} lefts;

static void add_message(struct gw_done *done, int err)
{
    (void)err;
    const struct proto_left *l = container_of(done, struct proto_left, done);
    int k = 0;
    if (l->ctx & PROTO_STREAM_MASK) return;
    while (k < lefts.n && (lefts.v[k].first.ctx != l->ctx || lefts.v[k].first.src != l->src || lefts.v[k].first.tag != l->tag)) k++;
    if (k == CHECK_FINDINGS) return;
    if (k == lefts.n) lefts.v[lefts.n++] = (struct left){.first = *l};
    lefts.v[k].n++;
    lefts.v[k].bytes += l->bytes;
}

static void say_messages(void)
{
    char comm[CHECK_COMM_TEXT];
    for (int k = 0; k < lefts.n; k++) {
        const struct proto_left *l = &lefts.v[k].first;
        check_say("messages not received: %lld %s of %lld bytes%s from rank %d with tag %d on %s came, and no receive "
                  "took %s",
                  (long long)lefts.v[k].n, lefts.v[k].n == 1 ? "message" : "messages", (long long)lefts.v[k].bytes,
                  lefts.v[k].n == 1 ? "" : " in all", l->src, l->tag, check_comm_name(l->ctx, comm),
                  lefts.v[k].n == 1 ? "it" : "them");
    }
    lefts.n = 0;
}

/* What has been sent to us is here: everybody lets go of what is queued, meets the others, and looks once more. */
static void gather_messages(void)
{
    check_take_in();
    coll_barrier(&gw_comm_world, NULL);
    check_take_in();
}

static void look_at_messages(void)
{
    for (int i = 0; i < gw_nlanes; i++) {
        struct proto_left l = {.done.fn = add_message};
        gw_lock(&gw_lanes[i].lock);
        proto_each_left(&gw_lanes[i], &l);
        gw_unlock(&gw_lanes[i].lock);
    }
    say_messages();
}

/* ---- handles: those of one kind from one place are one finding ------------------------------------------------------------------- */
static const char *const kind_words[GW_KIND_COUNT][3] = {
    [GW_KIND_COMM] = {"communicator", "communicators", "MPI_Comm_free"},
    [GW_KIND_GROUP] = {"group", "groups", "MPI_Group_free"},
    [GW_KIND_TYPE] = {"datatype", "datatypes", "MPI_Type_free"},
    [GW_KIND_OP] = {"operation", "operations", "MPI_Op_free"},
    [GW_KIND_ERRHANDLER] = {"error handler", "error handlers", "MPI_Errhandler_free"},
    [GW_KIND_INFO] = {"info object", "info objects", "MPI_Info_free"},
    [GW_KIND_KEYVAL] = {"attribute key", "attribute keys", "MPI_Comm_free_keyval or the like"},
    [GW_KIND_WIN] = {"window", "windows", "MPI_Win_free"},
    [GW_KIND_FILE] = {"file", "files", "MPI_File_close"},
    [GW_KIND_SESSION] = {"session", "sessions", "MPI_Session_finalize"},
    [GW_KIND_MSG] = {"matched message", "matched messages", "MPI_Mrecv or MPI_Imrecv"},
};

static enum gw_kind kind_of(const struct check_item *i) { return (enum gw_kind)gw_id_kind(i->id); }

enum { NEVER_COMPLETED, NEVER_FREED, STILL_ACTIVE, ENDS };
static int end_of(const struct check_item *i)
{
    if (kind_of(i) != GW_KIND_REQ) return NEVER_FREED;
    const struct gw_req *r = (const struct gw_req *)gw_obj_lookup(i->id, GW_KIND_REQ);
    if (!r || !(r->flags & REQ_PERSISTENT)) return NEVER_COMPLETED;
    return r->flags & REQ_ACTIVE ? STILL_ACTIVE : NEVER_FREED;
}

static int order(const void *a, const void *b)
{
    const struct check_item *x = *(struct check_item *const *)a, *y = *(struct check_item *const *)b;
    int ends = end_of(x) - end_of(y);
    if (ends) return ends;
    if (kind_of(x) != kind_of(y)) return kind_of(x) < kind_of(y) ? -1 : 1;
    if (x->started.from != y->started.from) return x->started.from < y->started.from ? -1 : 1;
    return x->started.fn - y->started.fn;
}

static bool alike(struct check_item *a, struct check_item *b) { return order(&a, &b) == 0; }

static void say_request(const struct check_item *i, int n)
{
    char site[CHECK_SITE_TEXT], about[CHECK_ABOUT_TEXT];
    const struct gw_req *r = (const struct gw_req *)gw_obj_lookup(i->id, GW_KIND_REQ);
    check_site_text(i->started, site);
    check_about_text(i, about);
    if (end_of(i) == NEVER_FREED)
        check_say("handles not freed: %d persistent %s of %s%s; MPI_Request_free frees them", n, n == 1 ? "request" : "requests",
                  site, about);
    else
        check_say("operations not completed: no wait or test ended %d %s of %s%s%s, which %s", n,
                  n == 1 ? "operation" : "operations", site, n > 1 ? ", the first one" : "", about,
                  !r                   ? "is gone"
                      : req_is_done(r) ? "is complete by itself"
                                       : "is still pending");
}

static void say_handles(const struct check_item *i, int n)
{
    char site[CHECK_SITE_TEXT];
    assert(kind_of(i) < GW_KIND_COUNT);
    const char *const *words = kind_words[kind_of(i)];
    if (words[0])
        check_say("handles not freed: %d %s from %s; %s frees them", n, words[n > 1], check_site_text(i->made, site), words[2]);
}

/* MPI lets programs free these after MPI_Finalize too; the last session is in the call that frees it. */
static bool may_stay(const struct check_item *i)
{
    enum gw_kind kind = kind_of(i);
    return kind == GW_KIND_INFO || kind == GW_KIND_ERRHANDLER || kind == GW_KIND_KEYVAL || kind == GW_KIND_SESSION;
}

static void look_at_items(bool at_exit)
{
    struct check_item **all = NULL;
    size_t n = 0, room = 0, bucket = 0;
    gw_lock(&check_lock);
    for (struct check_item *i = check_item_next(NULL, &bucket); i; i = check_item_next(i, &bucket)) {
        if (may_stay(i) && !at_exit) continue;
        if (n == room) all = gw_xrealloc(all, (room = 2 * room + 64) * sizeof *all);
        all[n++] = i;
    }
    gw_unlock(&check_lock);
    if (n > 0) qsort(all, n, sizeof *all, order);
    for (size_t k = 0, next; k < n; k = next) {
        int handles = 0;
        for (next = k; next < n && alike(all[k], all[next]); next++) handles += all[next]->handles;
        if (kind_of(all[k]) == GW_KIND_REQ)
            say_request(all[k], handles);
        else
            say_handles(all[k], handles);
    }
    for (size_t k = 0; k < n; k++) check_use_forget(all[k]->id);
    free(all);
}

static struct {
    pid_t registered; /* at_exit(), in this process */
    bool has_ended;   /* MPI_Finalize, or the last MPI_Session_finalize: a program that exits without has other worries */
} exits;

static void at_exit(void)
{
    if (exits.registered != getpid()) return;
    if (exits.has_ended) look_at_items(true);
    check_use_end();
    gw_checking = false;
    gw_args_wanted = mem_has_drivers;
}

static void end(void)
{
    exits.has_ended = true;
    if (exits.registered != getpid()) atexit(at_exit);
    exits.registered = getpid();
}

int check_leave(int fn)
{
    check_me.now = (struct check_site){fn, NULL};
    return check_together(&gw_comm_world, true);
}

void check_end(bool is_last)
{
    end();
    if (!is_last) return; /* sessions may still receive, and free */
    gather_messages();
    check_court_end();
    look_at_messages();
    look_at_items(false);
    check_say_alone();
}

void check_rest(void)
{
    end();
    if (check_is_alone()) return; /* after check_end() */
    check_take_in();
    look_at_messages();
    look_at_items(false);
    check_say_alone();
}
