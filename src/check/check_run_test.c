/* check_run_test.c -- a call that is looked at: who is asked when, what the answer of the call is, and that buffers are given back.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include "../../test/one_rank.h"
#include "../../test/unit.h"

static int n_before, n_after, say_before, say_after, seen_rc;
static struct check_run *seen;

static int before(struct check_run *r)
{
    n_before++;
    seen = r;
    CHECK(r->n_spans == 0 && r->a.buf == NULL && r->a.recvcount == -1 && r->a.count == 7 && !r->was && !r->record && !r->held);
    return say_before;
}
static int after(struct check_run *r, int rc)
{
    n_after++;
    CHECK(r == seen);
    seen_rc = rc;
    return say_after;
}
static const struct check_kind both = {.before = before, .after = after}, none = {.before = NULL}, last = {.after = after};

static struct check_args *call(const struct check_kind *kind)
{
    struct check_args *k = check_args_new(kind, CHECK_BLOCKS);
    k->count = 7;
    return k;
}

/* What `before` answers ends the call unless it is GW_OK: then the target runs, and `after` has the last word. */
static void answers(void)
{
    const int ends[] = {GW_ETRUNCATE, CHECK_MADE};
    for (size_t i = 0; i < GW_ARRAY_LEN(ends); i++) {
        say_before = ends[i];
        CHECK_EQ(check_before(call(&both)), ends[i]);
        CHECK(n_before == (int)i + 1 && n_after == 0);
    }
    say_before = GW_OK;
    say_after = GW_ERMA_SYNC;
    struct check_args *k = call(&both);
    CHECK_EQ(check_before(k), GW_OK);
    CHECK_EQ(check_after(k, GW_ETAG), GW_ERMA_SYNC);
    CHECK(n_before == 3 && n_after == 1 && seen_rc == GW_ETAG);
    k = call(&none);
    CHECK_EQ(check_before(k), GW_OK);
    CHECK_EQ(check_after(k, GW_ETAG), GW_ETAG);
    k = call(&last);
    CHECK_EQ(check_before(k), GW_OK);
    seen = (struct check_run *)k;
    CHECK_EQ(check_after(k, GW_OK), GW_ERMA_SYNC);
    CHECK_EQ(n_after, 2);
}

/* Calls within calls (a callback of the program makes some) end in the reverse order, each with its own arguments. */
static void nested(void)
{
    say_before = GW_OK, say_after = GW_OK;
    struct check_args *outer = call(&both), *inner;
    CHECK_EQ(check_before(outer), GW_OK);
    inner = call(&none);
    inner->count = 8;
    CHECK_EQ(check_before(inner), GW_OK);
    CHECK_EQ(check_after(inner, GW_ECOUNT), GW_ECOUNT);
    CHECK(outer->count == 7 && check_after(outer, GW_OK) == GW_OK);
}

/* A started send and its wait, as the entry points show them: the buffer is in use from the one to the other. */
static void a_send(void)
{
    int data = 5, got = 0, own = gw_boot.rank;
    struct gw_req *s = NULL, *q = NULL;
    struct check_args *k = check_args_new(&check_of_send, CHECK_STARTS);
    k->buf = &data, k->count = 1, k->datatype = gw_type_int, k->dest = own, k->tag = 3, k->comm = &gw_comm_world, k->request = &s;
    CHECK_EQ(check_before(k), GW_OK);
    CHECK_EQ(check_after(k, p2p_isend(&data, 1, gw_type_int, own, 3, &gw_comm_world, &s)), GW_OK);
    CHECK(s && check_item_find(s->obj.id) && check_item_find(s->obj.id)->spans[0].buf == &data);
    uint32_t id = s->obj.id;
    CHECK_EQ(p2p_irecv(&got, 1, gw_type_int, own, 3, &gw_comm_world, &q), GW_OK);
    CHECK_EQ(req_wait(&q, NULL), GW_OK);
    k = check_args_new(&check_of_complete, CHECK_BLOCKS);
    k->request = &s;
    CHECK_EQ(check_before(k), GW_OK);
    CHECK_EQ(check_after(k, req_wait(&s, NULL)), GW_OK);
    CHECK(got == 5 && !s);
    CHECK(!check_item_find(id) || !check_item_find(id)->is_active);
}

int main(void)
{
    rooms_up();
    gw_checking = gw_args_wanted = true;
    answers();
    nested();
    a_send();
    check_use_end();
    rooms_down();
    return unit_end();
}
