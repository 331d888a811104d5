/* p2p_oom_test.c -- one rank and itself, and no memory: each call of this room that allocates answers GW_ENOMEM, leaves no receive, no
 * message and no piece of a buffer behind, loses no message, and works when it is made again.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"

#include "p2p/p2p_private.h"

#include <unistd.h>

#include "oom.h"

enum { LONG = 300000, PARTS = 4 };
static char from[LONG], to[LONG];
static struct gw_comm *const self = &gw_comm_world;
static struct gw_req *r, *s;
static struct gw_msg *message;

/* The next request is one more than the pool has. */
static void no_requests(void) { gw_lanes[0].free_reqs = NULL; }

static bool is_clean(void)
{
    int flag = -1;
    look(4);
    CHECK_EQ(p2p_iprobe(GW_ANY_SOURCE, GW_ANY_TAG, self, &flag, NULL), GW_OK);
    r = s = NULL;
    return flag == 0 && proto_posted() == 0 && p2p_is_quiet();
}

static void changed(int64_t n)
{
    static char salt;
    memset(from, ++salt, (size_t)n);
    memset(to, -1, (size_t)n);
}
static void came(int64_t n) { CHECK(memcmp(from, to, (size_t)n) == 0); }

/* ---- one operation, its other half, and the data ---- */
static int send_of(int (*fn)(const void *, int64_t, struct gw_type *, int, int, struct gw_comm *, struct gw_req **), int64_t n)
{
    changed(n);
    no_requests();
    return fn(from, n, gw_type_byte, 0, 5, self, &s);
}
static int isend(void)
{
    int rc = send_of(p2p_isend, LONG);
    return rc == GW_POSTED ? GW_OK : rc;
}
static int issend(void)
{
    int rc = send_of(p2p_issend, LONG);
    return rc == GW_POSTED ? GW_OK : rc;
}
static int ibsend(void)
{
    int rc = send_of(p2p_ibsend, LONG);
    return rc == GW_POSTED ? GW_OK : rc;
}
static void received(void)
{
    CHECK_EQ(p2p_recv(to, LONG, gw_type_byte, 0, 5, self, NULL), GW_OK);
    if (s) CHECK_EQ(req_wait(&s, NULL), GW_OK);
    came(LONG);
}
static int bsend(void)
{
    changed(LONG);
    no_requests();
    return p2p_bsend(from, LONG, gw_type_byte, 0, 5, self);
}
static int irecv(void)
{
    changed(LONG);
    no_requests();
    int rc = p2p_irecv(to, LONG, gw_type_byte, 0, 5, self, &r);
    return rc == GW_POSTED ? GW_OK : rc;
}
static void sent(void)
{
    CHECK(p2p_isend(from, LONG, gw_type_byte, 0, 5, self, &s) >= 0);
    CHECK_EQ(req_wait(&r, NULL), GW_OK);
    CHECK_EQ(req_wait(&s, NULL), GW_OK);
    came(LONG);
}

/* ---- both ways ---- */
static int sendrecv(void)
{
    changed(LONG);
    no_requests();
    return p2p_sendrecv(from, LONG, gw_type_byte, 0, 5, to, LONG, gw_type_byte, 0, 5, self, NULL);
}
static int isendrecv(void)
{
    changed(LONG);
    no_requests();
    return p2p_isendrecv(from, LONG, gw_type_byte, 0, 5, to, LONG, gw_type_byte, 0, 5, self, &r);
}
static int replace(void)
{
    changed(LONG);
    memcpy(to, from, LONG);
    no_requests();
    return p2p_sendrecv_replace(to, LONG, gw_type_byte, 0, 5, 0, 5, self, NULL);
}
static int ireplace(void)
{
    changed(LONG);
    memcpy(to, from, LONG);
    no_requests();
    return p2p_isendrecv_replace(to, LONG, gw_type_byte, 0, 5, 0, 5, self, &r);
}
static void waited(void)
{
    if (r) CHECK_EQ(req_wait(&r, NULL), GW_OK);
    came(LONG);
}

/* ---- matched messages: one that could not be given out is still there ---- */
static bool is_waiting;
static void one_waits(void)
{
    if (is_waiting) return;
    int left = oom_pause();
    changed(LONG);
    CHECK(p2p_isend(from, LONG, gw_type_byte, 0, 5, self, &s) >= 0);
    look(4);
    is_waiting = true;
    oom_go(left);
}
static int mprobe(void)
{
    one_waits();
    no_requests();
    return p2p_mprobe(0, 5, self, &message, NULL);
}
static int improbe(void)
{
    int flag = -1;
    one_waits();
    no_requests();
    int rc = p2p_improbe(0, 5, self, &flag, &message, NULL);
    CHECK(rc != GW_OK || flag == 1);
    return rc;
}
static int imrecv(void)
{
    one_waits();
    int left = oom_pause();
    if (!message) CHECK_EQ(p2p_mprobe(0, 5, self, &message, NULL), GW_OK);
    oom_go(left);
    no_requests();
    int rc = p2p_imrecv(to, LONG, gw_type_byte, &message, &r);
    return rc == GW_POSTED ? GW_OK : rc;
}
static void matched(void)
{
    if (message) CHECK_EQ(p2p_mrecv(to, LONG, gw_type_byte, &message, NULL), GW_OK);
    if (r) CHECK_EQ(req_wait(&r, NULL), GW_OK);
    CHECK_EQ(req_wait(&s, NULL), GW_OK);
    came(LONG);
    is_waiting = false;
}
static bool is_there(void)
{
    int flag = 0;
    if (!is_waiting) return is_clean();
    if (message) return true;
    look(4);
    CHECK_EQ(p2p_iprobe(0, 5, self, &flag, NULL), GW_OK);
    return flag == 1;
}

/* ---- prepared ones ---- */
static int prepared(void)
{
    changed(LONG);
    no_requests();
    int rc = p2p_bsend_init(from, LONG, gw_type_byte, 0, 5, self, &s);
    if (rc == GW_OK) {
        no_requests();
        rc = p2p_start(&s);
        if (rc != GW_OK) CHECK_EQ(p2p_request_free(&s), GW_OK);
    }
    return rc;
}
static void prepared_end(void)
{
    CHECK_EQ(p2p_recv(to, LONG, gw_type_byte, 0, 5, self, NULL), GW_OK);
    CHECK_EQ(req_wait(&s, NULL), GW_OK);
    CHECK_EQ(p2p_request_free(&s), GW_OK);
    came(LONG);
}
static int prepared_receive(void)
{
    changed(LONG);
    no_requests();
    int rc = p2p_recv_init(to, LONG, gw_type_byte, 0, 5, self, &r);
    if (rc == GW_OK) {
        no_requests();
        rc = p2p_start(&r);
        if (rc != GW_OK) CHECK_EQ(p2p_request_free(&r), GW_OK);
    }
    return rc;
}
static void prepared_receive_end(void)
{
    CHECK(p2p_isend(from, LONG, gw_type_byte, 0, 5, self, &s) >= 0);
    CHECK_EQ(req_wait(&r, NULL), GW_OK);
    CHECK_EQ(req_wait(&s, NULL), GW_OK);
    CHECK_EQ(p2p_request_free(&r), GW_OK);
    came(LONG);
}

/* ---- buffers ---- */
static int attach(void) { return p2p_buffer_attach(self, GW_BUFFER_AUTOMATIC, 0); }
static void detach(void)
{
    void *buf;
    int64_t size;
    CHECK_EQ(p2p_buffer_detach(self, &buf, &size), GW_OK);
}

static const struct oom_call calls[] = {
    {"isend", isend, received, 1, 0},
    {"issend", issend, received, 1, 0},
    {"bsend", bsend, received, 2, 0},
    {"ibsend", ibsend, received, 2, 0},
    {"irecv", irecv, sent, 1, 0},
    {"sendrecv", sendrecv, waited, 1, 0},
    {"sendrecv_replace", replace, waited, 2, 0},
    {"isendrecv", isendrecv, waited, 1, 0},
    {"isendrecv_replace", ireplace, waited, 2, 0},
    {"bsend_init and start", prepared, prepared_end, 3, 0},
    {"recv_init and start", prepared_receive, prepared_receive_end, 2, 0},
    {"buffer_attach", attach, detach, 1, 0},
};
static const struct oom_call of_matched[] = {
    {"mprobe", mprobe, matched, 1, 0},
    {"improbe", improbe, matched, 1, 0},
    {"imrecv", imrecv, matched, 1, 0},
};

int main(void)
{
    void *buffer;
    int64_t size;
    alarm(300); /* a message that is lost is waited for */
    rooms_up();
    CHECK_EQ(p2p_buffer_attach(NULL, GW_BUFFER_AUTOMATIC, 0), GW_OK);
    for (size_t i = 0; i < GW_ARRAY_LEN(calls); i++) oom_try(&calls[i], is_clean);
    for (size_t i = 0; i < GW_ARRAY_LEN(of_matched); i++) oom_try(&of_matched[i], is_there);
    CHECK_EQ(p2p_buffer_detach(NULL, &buffer, &size), GW_OK);
    CHECK(is_clean());
    rooms_down();
    return unit_end();
}
