/* persistent_test.c -- persistent and partitioned operations: INACTIVE, ACTIVE, DONE and what is an error in each; the data of every round.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"

#include "p2p/p2p_private.h"
#include "base/count.h"

#include "unit.h"

enum { N = 5000, PARTS = 6, PART = 7 };
static char from[N], to[N + 1];
static struct gw_comm *const self = &gw_comm_world;

static void fill(int salt)
{
    memset(to, -1, sizeof to);
    for (int i = 0; i < N; i++) from[i] = (char)(i * 5 + i / 200 + salt);
}
static bool came(int n) { return memcmp(from, to, (size_t)n) == 0 && to[n] == -1; }
static bool says(const char *words) { return strstr(gw_fail_text(), words) != NULL; }

typedef int init_fn(const void *, int64_t, struct gw_type *, int, int, struct gw_comm *, struct gw_req **);
static init_fn *const inits[] = {p2p_send_init, p2p_ssend_init, p2p_bsend_init, p2p_rsend_init};

static void rounds(void)
{
    struct gw_status st;
    for (size_t mode = 0; mode < GW_ARRAY_LEN(inits); mode++) {
        struct gw_req *r[2] = {NULL};
        CHECK_EQ(p2p_recv_init(to, N, gw_type_byte, GW_ANY_SOURCE, GW_ANY_TAG, self, &r[0]), GW_OK);
        CHECK_EQ(inits[mode](from, N, gw_type_byte, 0, 6, self, &r[1]), GW_OK);
        struct gw_req *const receive = r[0];
        for (int round = 0; round < 4; round++) {
            fill(round);
            CHECK_EQ(r[0]->flags & (REQ_PERSISTENT | REQ_ACTIVE), REQ_PERSISTENT);
            CHECK_EQ(req_wait(&r[0], &st), GW_OK); /* of an inactive one: an empty status, at once */
            CHECK(st.source == GW_ANY_SOURCE && st.tag == GW_ANY_TAG && gw_status_bytes(&st) == 0);
            CHECK_EQ(p2p_startall(2, r), GW_OK);
            CHECK_EQ(p2p_start(&r[0]), GW_EREQUEST);
            CHECK(says("is active"));
            CHECK_EQ(req_wait(&r[1], NULL), GW_OK);
            CHECK_EQ(req_wait(&r[0], &st), GW_OK);
            CHECK(st.source == 0 && st.tag == 6 && gw_status_bytes(&st) == N);
            CHECK(r[0] == receive && came(N));
        }
        CHECK_EQ(p2p_request_free(&r[0]), GW_OK);
        CHECK_EQ(p2p_request_free(&r[1]), GW_OK);
        CHECK(!r[0] && !r[1]);
    }
}

static void errors(void)
{
    struct gw_req *r = NULL, *s = NULL;
    struct gw_status st;
    int flag = 0;
    CHECK_EQ(p2p_irecv(to, N, gw_type_byte, 0, 1, self, &r), GW_OK);
    CHECK_EQ(p2p_start(&r), GW_EREQUEST);
    CHECK(says("not persistent"));
    CHECK(p2p_cancel(&r) == GW_OK && req_wait(&r, NULL) == GW_OK);
    CHECK_EQ(p2p_recv_init(to, N - 1, gw_type_byte, 0, 1, self, &r), GW_OK);
    CHECK_EQ(p2p_cancel(&r), GW_EREQUEST);
    CHECK(says("not active"));
    CHECK(p2p_start(&r) == GW_OK && p2p_cancel(&r) == GW_OK && req_wait(&r, &st) == GW_OK);
    CHECK(p2p_test_cancelled(&st, &flag) == GW_OK && flag);
    /* the error of one round is not that of the next */
    for (int n = N; n >= N - 1; n--) {
        fill(n);
        CHECK_EQ(p2p_start(&r), GW_OK);
        CHECK_EQ(p2p_isend(from, n, gw_type_byte, 0, 1, self, &s), GW_OK);
        CHECK_EQ(req_wait(&r, &st), n == N ? GW_ETRUNCATE : GW_OK);
        CHECK_EQ(req_wait(&s, NULL), GW_OK);
    }
    CHECK(came(N - 1) && !st.cancelled);
    /* freed while it is under way: it ends by itself, and its request goes back to the pool */
    fill(9);
    CHECK_EQ(p2p_start(&r), GW_OK);
    struct gw_req *const freed = r;
    CHECK_EQ(p2p_request_free(&r), GW_OK);
    CHECK(!r && freed->flags & REQ_FREED);
    CHECK_EQ(p2p_send(from, N - 1, gw_type_byte, 0, 1, self), GW_OK);
    look(8);
    CHECK(came(N - 1) && freed->flags == 0);
}

/* Six partitions of seven go as they are ready, in any order; four of the receiver's cover as many bytes in other pieces. */
static void partitions(void)
{
    struct gw_req *s = NULL, *r = NULL;
    const int rest[] = {5, 0, 3};
    int flag = 1, total = PARTS * PART;
    CHECK_EQ(p2p_psend_init(from, PARTS, PART, gw_type_byte, 0, 2, self, NULL, &s), GW_OK);
    CHECK_EQ(p2p_precv_init(to, 3, 2 * PART, gw_type_byte, 0, 2, self, NULL, &r), GW_OK);
    CHECK_EQ(p2p_pready(0, s), GW_EREQUEST);
    CHECK(says("not active"));
    CHECK_EQ(p2p_pready(0, r), GW_EREQUEST);
    CHECK(p2p_parrived(r, 0, &flag) == GW_OK && flag); /* inactive */
    for (int round = 0; round < 3; round++) {
        fill(round);
        CHECK_EQ(p2p_start(&r), GW_OK);
        CHECK_EQ(p2p_start(&s), GW_OK);
        CHECK_EQ(p2p_request_free(&s), GW_EREQUEST);
        CHECK(says("under way"));
        CHECK_EQ(p2p_cancel(&s), GW_EREQUEST);
        CHECK_EQ(p2p_pready(PARTS, s), GW_EARG);
        CHECK(says("partitions 0 to 5"));
        CHECK_EQ(p2p_pready_range(2, 1, s), GW_EARG);
        CHECK_EQ(p2p_pready_range(1, 2, s), GW_OK);
        const int twice[] = {4, 1};
        CHECK_EQ(p2p_pready_list(2, twice, s), GW_EARG); /* 1 was ready; then 4 is not marked either */
        CHECK(says("before"));
        look(8);
        for (int i = 0; i < 3; i++) CHECK(p2p_parrived(r, i, &flag) == GW_OK && !flag); /* half of 0 and half of 1 */
        CHECK_EQ(p2p_parrived(r, 3, &flag), GW_EARG);
        CHECK_EQ(p2p_pready(4, s), GW_OK);
        CHECK_EQ(p2p_pready_list(2, rest, s), GW_OK);
        look(8);
        for (int i = 0; i < 3; i++) CHECK(p2p_parrived(r, i, &flag) == GW_OK && flag == (i != 1));
        CHECK(!req_is_done(r) && !req_is_done(s));
        CHECK(memcmp(to, from, 2 * PART) == 0 && memcmp(to + 4 * PART, from + 4 * PART, 2 * PART) == 0 && to[3 * PART] == -1);
        CHECK_EQ(p2p_pready_list(1, rest + 2, s), GW_OK);
        CHECK(req_wait(&s, NULL) == GW_OK && req_wait(&r, NULL) == GW_OK);
        CHECK(came(total));
    }
    CHECK(p2p_request_free(&s) == GW_OK && p2p_request_free(&r) == GW_OK);
}

/* The receiver has room for less, and an introduction that cannot be ends the round with an error, not the process. */
static void partitions_wrong(void)
{
    struct gw_req *s = NULL, *r = NULL;
    uint64_t refused = atomic_load(&gw_count.messages_refused);
    fill(1);
    CHECK_EQ(p2p_psend_init(from, 2, PART, gw_type_byte, 0, 2, self, NULL, &s), GW_OK);
    CHECK_EQ(p2p_precv_init(to, 1, PART, gw_type_byte, 0, 2, self, NULL, &r), GW_OK);
    CHECK(p2p_start(&s) == GW_OK && p2p_start(&r) == GW_OK && p2p_pready_range(0, 1, s) == GW_OK);
    CHECK_EQ(req_wait(&s, NULL), GW_OK);
    CHECK_EQ(req_wait(&r, NULL), GW_ETRUNCATE);
    CHECK(came(PART));
    CHECK(p2p_request_free(&s) == GW_OK && p2p_request_free(&r) == GW_OK);
    CHECK_EQ(p2p_stream_isend(GW_STREAM_PART, from, 3, gw_type_byte, 0, 2, self, &s) < 0, 0);
    CHECK_EQ(p2p_precv_init(to, 1, PART, gw_type_byte, 0, 2, self, NULL, &r), GW_OK);
    CHECK_EQ(p2p_start(&r), GW_OK);
    CHECK(req_wait(&r, NULL) < 0);
    CHECK(says("cannot be"));
    CHECK_EQ(atomic_load(&gw_count.messages_refused), refused + 1);
    CHECK_EQ(p2p_request_free(&r), GW_OK);
}

int main(void)
{
    void *buffer;
    int64_t size;
    rooms_up();
    CHECK_EQ(p2p_buffer_attach(NULL, GW_BUFFER_AUTOMATIC, 0), GW_OK);
    rounds();
    CHECK_EQ(p2p_buffer_detach(NULL, &buffer, &size), GW_OK);
    errors();
    partitions();
    partitions_wrong();
    CHECK(p2p_is_quiet());
    CHECK_EQ(proto_posted(), 0);
    return unit_end();
}
