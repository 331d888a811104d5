/* p2p_test.c -- one rank and itself: modes, statuses, PROC_NULL, probes, matched messages, cancel, both ways at once; every byte.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"

#include "p2p/p2p_private.h"

#include "unit.h"

enum { SMALL = 24, LONG = 300000, EDGE = 32 };
static const int64_t lengths[] = {0, 1, SMALL, 2000, LONG};
static char from[LONG + 1], room[LONG + 2 * EDGE];
static char *const to = room + EDGE;
static struct gw_comm *const self = &gw_comm_world;

static void fill(int64_t n, int salt)
{
    memset(room, -1, sizeof room);
    for (int64_t i = 0; i < n; i++) from[i] = (char)(i * 7 + i / 251 + salt);
}

/* n bytes of `from` stand in `to`, and nothing else has changed. */
static bool came(int64_t n)
{
    for (int64_t i = 0; i < LONG + 2 * EDGE; i++)
        if (room[i] != (i < EDGE || i >= n + EDGE ? -1 : from[i - EDGE])) return false;
    return true;
}
static bool says(const struct gw_status *st, int source, int tag, int64_t n)
{
    return st->source == source && st->tag == tag && gw_status_bytes(st) == n;
}

typedef int isend_fn(const void *, int64_t, struct gw_type *, int, int, struct gw_comm *, struct gw_req **);
static isend_fn *const isends[] = {p2p_isend, p2p_issend, p2p_ibsend, p2p_irsend};

/* The receive first, and the message first (not in ready mode); the receive exact, and with wildcards. */
static void modes(void)
{
    struct gw_status st;
    for (int mode = 0; mode < (int)GW_ARRAY_LEN(isends); mode++)
        for (int k = 0; k < (int)GW_ARRAY_LEN(lengths); k++)
            for (int how = 0; how < 4; how++) {
                struct gw_req *s = NULL, *r = NULL;
                int64_t n = lengths[k];
                bool is_late = how & 1, is_wild = how & 2;
                if (is_late && mode == 3) continue;
                fill(n, mode + how);
                if (is_late) CHECK_EQ(isends[mode](from, n, gw_type_byte, 0, 5, self, &s), GW_OK);
                CHECK_EQ(p2p_irecv(to, n, gw_type_byte, is_wild ? GW_ANY_SOURCE : 0, is_wild ? GW_ANY_TAG : 5, self, &r), GW_OK);
                if (!is_late) CHECK_EQ(isends[mode](from, n, gw_type_byte, 0, 5, self, &s), GW_OK);
                CHECK_EQ(req_wait(&r, &st), GW_OK);
                CHECK_EQ(req_wait(&s, NULL), GW_OK);
                CHECK(!r && !s);
                CHECK(says(&st, 0, 5, n));
                CHECK(came(n));
            }
}

/* A synchronous send is not over before its receive. */
static void synchronous(void)
{
    struct gw_req *s = NULL;
    int flag = 1;
    fill(SMALL, 0);
    CHECK_EQ(p2p_issend(from, SMALL, gw_type_byte, 0, 1, self, &s), GW_OK);
    look(20);
    CHECK_EQ(req_test(&s, &flag, NULL), GW_OK);
    CHECK(!flag && s);
    CHECK_EQ(p2p_recv(to, SMALL, gw_type_byte, 0, 1, self, NULL), GW_OK);
    CHECK_EQ(req_wait(&s, NULL), GW_OK);
    CHECK(came(SMALL));
}

/* Messages of one source and tag come in the order in which they were sent, whatever their protocol; others pass them by. */
static void order(void)
{
    struct gw_req *s[3] = {NULL};
    fill(LONG, 3);
    CHECK_EQ(p2p_isend(from, LONG, gw_type_byte, 0, 1, self, &s[0]), GW_OK);
    CHECK_EQ(p2p_isend(from, 2, gw_type_byte, 0, 1, self, &s[1]), GW_OK);
    CHECK_EQ(p2p_isend(from, 3, gw_type_byte, 0, 2, self, &s[2]), GW_OK);
    const struct {
        int tag;
        int64_t bytes;
    } want[] = {{2, 3}, {1, LONG}, {1, 2}};
    for (size_t i = 0; i < GW_ARRAY_LEN(want); i++) {
        struct gw_status st;
        memset(room, -1, sizeof room);
        CHECK_EQ(p2p_recv(to, LONG, gw_type_byte, 0, want[i].tag, self, &st), GW_OK);
        CHECK(says(&st, 0, want[i].tag, want[i].bytes));
        CHECK(came(want[i].bytes));
    }
    CHECK_EQ(req_waitall(3, s, NULL), GW_OK);
}

/* A message that is too long: the error, what fits, and not a byte more. */
static void truncated(void)
{
    for (int k = 2; k < (int)GW_ARRAY_LEN(lengths); k++) {
        struct gw_req *s = NULL;
        struct gw_status st;
        fill(lengths[k], k);
        CHECK_EQ(p2p_isend(from, lengths[k], gw_type_byte, 0, 1, self, &s), GW_OK);
        CHECK_EQ(p2p_recv(to, lengths[k] - 1, gw_type_byte, 0, 1, self, &st), GW_ETRUNCATE);
        CHECK_EQ(req_wait(&s, NULL), GW_OK);
        CHECK(room[EDGE - 1] == -1 && to[lengths[k] - 1] == -1);
    }
}

static void proc_null(void)
{
    struct gw_status st;
    struct gw_req *r = NULL;
    struct gw_msg *m = NULL;
    int flag = 0;
    fill(SMALL, 0);
    for (size_t mode = 0; mode < GW_ARRAY_LEN(isends); mode++) {
        CHECK_EQ(isends[mode](from, SMALL, gw_type_byte, GW_PROC_NULL, 1, self, &r), GW_OK);
        CHECK_EQ(req_wait(&r, NULL), GW_OK);
    }
    CHECK_EQ(p2p_recv(to, SMALL, gw_type_byte, GW_PROC_NULL, 1, self, &st), GW_OK);
    CHECK(says(&st, GW_PROC_NULL, GW_ANY_TAG, 0));
    CHECK_EQ(p2p_irecv(to, SMALL, gw_type_byte, GW_PROC_NULL, 1, self, &r), GW_OK);
    CHECK_EQ(req_wait(&r, &st), GW_OK);
    CHECK(says(&st, GW_PROC_NULL, GW_ANY_TAG, 0));
    CHECK_EQ(p2p_iprobe(GW_PROC_NULL, 1, self, &flag, &st), GW_OK);
    CHECK(flag);
    CHECK(says(&st, GW_PROC_NULL, GW_ANY_TAG, 0));
    CHECK_EQ(p2p_mprobe(GW_PROC_NULL, 1, self, &m, &st), GW_OK);
    CHECK(m == &gw_msg_no_proc);
    CHECK_EQ(p2p_mrecv(to, SMALL, gw_type_byte, &m, &st), GW_OK);
    CHECK(says(&st, GW_PROC_NULL, GW_ANY_TAG, 0));
    CHECK(!m && came(0));
}

/* A probe leaves the message; a matched probe takes it from everybody else. */
static void probes(void)
{
    struct gw_status st;
    struct gw_req *s = NULL, *r = NULL;
    struct gw_msg *m = NULL;
    int flag = 1;
    for (int k = 0; k < (int)GW_ARRAY_LEN(lengths); k++) {
        int64_t n = lengths[k];
        CHECK_EQ(p2p_iprobe(0, 8, self, &flag, &st), GW_OK);
        CHECK(!flag);
        fill(n, k);
        CHECK_EQ(p2p_isend(from, n, gw_type_byte, 0, 8, self, &s), GW_OK);
        CHECK_EQ(p2p_probe(GW_ANY_SOURCE, GW_ANY_TAG, self, &st), GW_OK);
        CHECK(says(&st, 0, 8, n));
        CHECK_EQ(p2p_iprobe(0, 9, self, &flag, &st), GW_OK);
        CHECK(!flag);
        CHECK_EQ(p2p_improbe(0, 8, self, &flag, &m, &st), GW_OK);
        CHECK(flag && m);
        CHECK(says(&st, 0, 8, n));
        CHECK_EQ(p2p_iprobe(0, 8, self, &flag, &st), GW_OK);
        CHECK(!flag);
        if (k % 2) {
            CHECK_EQ(p2p_mrecv(to, n, gw_type_byte, &m, &st), GW_OK);
        } else {
            CHECK_EQ(p2p_imrecv(to, n, gw_type_byte, &m, &r), GW_OK);
            CHECK_EQ(req_wait(&r, &st), GW_OK);
        }
        CHECK(!m);
        CHECK(says(&st, 0, 8, n));
        CHECK_EQ(req_wait(&s, NULL), GW_OK);
        CHECK(came(n));
    }
}

/* A receive that nothing matched is cancelled and takes no message any more; one that is over stays over. */
static void cancel(void)
{
    struct gw_status st;
    struct gw_req *r = NULL, *s = NULL;
    int flag = 0;
    fill(SMALL, 4);
    CHECK_EQ(p2p_irecv(to, SMALL, gw_type_byte, 0, 3, self, &r), GW_OK);
    CHECK_EQ(p2p_cancel(&r), GW_OK);
    CHECK_EQ(req_wait(&r, &st), GW_OK);
    CHECK_EQ(p2p_test_cancelled(&st, &flag), GW_OK);
    CHECK(flag);
    CHECK_EQ(p2p_issend(from, SMALL, gw_type_byte, 0, 3, self, &s), GW_OK);
    look(4);
    CHECK(came(0) && !req_is_done(s));
    CHECK_EQ(p2p_irecv(to, SMALL, gw_type_byte, 0, 3, self, &r), GW_OK);
    look(4);
    CHECK(req_is_done(r));
    CHECK_EQ(p2p_cancel(&r), GW_OK);
    CHECK_EQ(req_wait(&r, &st), GW_OK);
    CHECK_EQ(p2p_test_cancelled(&st, &flag), GW_OK);
    CHECK(!flag && came(SMALL));
    CHECK_EQ(req_wait(&s, NULL), GW_OK);
    /* a send that nobody receives */
    CHECK_EQ(p2p_issend(from, SMALL, gw_type_byte, 0, 3, self, &s), GW_OK);
    CHECK_EQ(p2p_cancel(&s), GW_OK);
    CHECK_EQ(req_wait(&s, &st), GW_OK);
    CHECK_EQ(p2p_test_cancelled(&st, &flag), GW_OK);
    CHECK(flag);
    CHECK_EQ(p2p_iprobe(0, 3, self, &flag, NULL), GW_OK);
    CHECK(!flag);
}

/* Two bytes of every eight go out; they come in as a run, and the other way round. */
static void both_ways(void)
{
    struct gw_type *gaps;
    struct gw_status st;
    struct gw_req *r = NULL;
    CHECK_EQ(type_vector(SMALL, 2, 8, gw_type_byte, &gaps), GW_OK);
    CHECK_EQ(type_commit(&gaps), GW_OK);
    for (int how = 0; how < 2; how++) {
        fill(8 * SMALL, how);
        if (how == 0)
            CHECK_EQ(p2p_sendrecv(from, 1, gaps, 0, 1, to, 2 * SMALL, gw_type_byte, 0, 1, self, &st), GW_OK);
        else
            CHECK_EQ(p2p_isendrecv(from, 1, gaps, 0, 1, to, 2 * SMALL, gw_type_byte, 0, 1, self, &r) == GW_OK &&
                         req_wait(&r, &st) == GW_OK,
                     1);
        CHECK(says(&st, 0, 1, 2 * SMALL));
        for (int i = 0; i < 2 * SMALL; i++) CHECK_EQ(to[i], from[i / 2 * 8 + i % 2]);
        memcpy(to, from, 8 * SMALL);
        if (how == 0)
            CHECK_EQ(p2p_sendrecv_replace(to, 1, gaps, 0, 1, 0, 1, self, &st), GW_OK);
        else
            CHECK_EQ(p2p_isendrecv_replace(to, 1, gaps, 0, 1, 0, 1, self, &r) == GW_OK && req_wait(&r, &st) == GW_OK, 1);
        CHECK(came(8 * SMALL));
    }
    type_release(gaps);
}

int main(void)
{
    int64_t size;
    void *buffer = GW_BUFFER_AUTOMATIC;
    rooms_up();
    CHECK_EQ(p2p_buffer_attach(NULL, GW_BUFFER_AUTOMATIC, 0), GW_OK);
    modes();
    CHECK_EQ(p2p_buffer_detach(NULL, &buffer, &size), GW_OK);
    synchronous();
    order();
    truncated();
    proc_null();
    probes();
    cancel();
    both_ways();
    CHECK(p2p_is_quiet());
    CHECK_EQ(proto_posted(), 0);
    CHECK(proto_drained(&gw_lanes[0]));
    return unit_end();
}
