/* bsend_test.c -- buffered mode: the buffer that applies, its room to the byte, gaps that are used again, flush and detach; listeners.
 *
 * Sends to itself stay in the buffer while nobody receives them: they are longer than what goes without waiting for its receiver.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"

#include "p2p/p2p_private.h"

#include "unit.h"

enum { LONG = 100000, ROOM = 3 * LONG };
static char from[LONG], to[LONG], buffer[ROOM];
static struct gw_comm *const self = &gw_comm_world;

static bool says(const char *words) { return strstr(gw_fail_text(), words) != NULL; }

static int give(int tag)
{
    for (int i = 0; i < LONG; i++) from[i] = (char)(i * 3 + i / 250 + tag);
    int rc = p2p_bsend(from, LONG, gw_type_byte, 0, tag, self);
    memset(from, 0, sizeof from); /* the caller's again */
    return rc;
}
static void take(int tag)
{
    memset(to, -1, sizeof to);
    CHECK_EQ(p2p_recv(to, LONG, gw_type_byte, 0, tag, self, NULL), GW_OK);
    bool is_right = true;
    for (int i = 0; i < LONG; i++) is_right = is_right && to[i] == (char)(i * 3 + i / 250 + tag);
    CHECK(is_right);
    look(8); /* the sender hears of it */
}

static void given(struct gw_comm *c)
{
    void *was = NULL;
    int64_t size = 0;
    struct gw_req *flush = NULL, *empty = NULL;
    CHECK_EQ(p2p_buffer_attach(c, buffer, -1), GW_EARG);
    CHECK_EQ(p2p_buffer_detach(c, &was, &size), GW_EBUFFER);
    CHECK_EQ(give(0), GW_EBUFFER);
    CHECK(says("no buffer is attached"));
    CHECK_EQ(p2p_buffer_attach(c, buffer, ROOM), GW_OK);
    CHECK_EQ(p2p_buffer_attach(c, buffer, ROOM), GW_EBUFFER);
    CHECK(says("already"));
    CHECK_EQ(p2p_buffer_iflush(c, &empty), GW_OK);
    CHECK(req_is_done(empty) && req_wait(&empty, NULL) == GW_OK);
    for (int tag = 1; tag <= 3; tag++) CHECK_EQ(give(tag), GW_OK);
    CHECK_EQ(give(4), GW_EBUFFER);
    CHECK(says("300000 bytes has no room for a message of 100000 bytes (300000 bytes are still"));
    take(2); /* a gap in the middle */
    CHECK_EQ(give(4), GW_OK);
    CHECK_EQ(give(5), GW_EBUFFER);
    CHECK_EQ(p2p_buffer_iflush(c, &flush), GW_OK);
    take(1);
    CHECK_EQ(give(6), GW_OK); /* after the flush, which does not wait for it */
    take(3);
    CHECK(!req_is_done(flush));
    take(4);
    CHECK(req_is_done(flush) && req_wait(&flush, NULL) == GW_OK);
    take(6);
    CHECK_EQ(p2p_buffer_detach(c, &was, &size), GW_OK);
    CHECK(was == buffer && size == ROOM);
}

/* The communicator's own buffer comes before its session's, and that before the process's. */
static void which_applies(void)
{
    static char own[LONG], shared[LONG];
    struct comm_family family = {.refs = 2};
    void *was;
    int64_t size;
    CHECK_EQ(p2p_buffer_attach(NULL, buffer, LONG), GW_OK);
    self->family = &family;
    CHECK_EQ(p2p_family_buffer_attach(&family, shared, LONG), GW_OK);
    CHECK_EQ(p2p_buffer_attach(self, own, LONG), GW_OK);
    memset(own, 0, LONG), memset(shared, 0, LONG), memset(buffer, 0, LONG);
    CHECK_EQ(give(1), GW_OK);
    CHECK(own[1] == (char)(3 + 1) && shared[1] == 0 && buffer[1] == 0);
    take(1);
    CHECK_EQ(p2p_buffer_detach(self, &was, &size), GW_OK);
    CHECK_EQ(give(2), GW_OK);
    CHECK(shared[1] == (char)(3 + 2) && buffer[1] == 0);
    take(2);
    CHECK_EQ(p2p_family_buffer_detach(&family, &was, &size), GW_OK);
    CHECK(was == shared && size == LONG);
    p2p_family_buffer_end(&family);
    CHECK_EQ(give(3), GW_OK);
    CHECK_EQ(buffer[1], (char)(3 + 3));
    take(3);
    self->family = NULL;
    CHECK_EQ(p2p_buffer_detach(NULL, &was, &size), GW_OK);
}

static void automatic(void)
{
    void *was = NULL;
    int64_t size = -1;
    CHECK_EQ(p2p_buffer_attach(NULL, GW_BUFFER_AUTOMATIC, 12345), GW_OK);
    for (int tag = 0; tag < 9; tag++) CHECK_EQ(give(tag), GW_OK);
    for (int tag = 8; tag >= 0; tag--) take(tag);
    CHECK_EQ(p2p_buffer_detach(NULL, &was, &size), GW_OK);
    CHECK(was == GW_BUFFER_AUTOMATIC && size == 0);
}

/* ---- listeners: messages of one tag, one after the other, from within progress ---- */
enum { SAID = 40 };
static struct {
    int n;
    int64_t sum;
    bool in_order;
} heard;
static struct p2p_listener *listener;
static void on_heard(struct gw_done *d, int err)
{
    int64_t value[3];
    (void)d;
    CHECK_EQ(err, GW_OK);
    CHECK_EQ(listener->source, 0);
    CHECK_EQ(listener->bytes, (int64_t)sizeof value);
    memcpy(value, listener->buf, sizeof value);
    heard.in_order = heard.in_order && value[0] == heard.n && value[1] == value[0] * value[0];
    heard.sum += value[2];
    heard.n++;
}
static void listens(void)
{
    static int64_t buf[8];
    static struct gw_done done = {.fn = on_heard};
    struct p2p_listener l = {.comm = self, .tag = 77, .buf = buf, .room = sizeof buf, .heard = &done};
    listener = &l;
    heard.in_order = true;
    p2p_listen(&l);
    for (int64_t i = 0; i < SAID; i++) {
        int64_t value[3] = {i, i * i, 1 << i % 8};
        struct gw_req *r = NULL;
        int rc = p2p_stream_isend(GW_STREAM_P2P, value, (int64_t)sizeof value, gw_type_byte, 0, 77, self, &r);
        CHECK(rc == GW_OK || (rc == GW_POSTED && p2p_stream_wait(r) == GW_OK));
    }
    for (int i = 0; i < 1000 && heard.n < SAID; i++) req_progress();
    CHECK_EQ(heard.n, SAID);
    CHECK_EQ(heard.sum, 5 * 255);
    CHECK(heard.in_order);
    CHECK_EQ(p2p_listen_end(&l), GW_OK);
    CHECK_EQ(heard.n, SAID);
}

int main(void)
{
    rooms_up();
    given(NULL);
    given(self);
    which_applies();
    automatic();
    listens();
    CHECK(p2p_is_quiet());
    CHECK_EQ(proto_posted(), 0);
    return unit_end();
}
