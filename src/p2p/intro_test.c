/* intro_test.c -- introductions of partitioned sends that no sender makes: the receive ends with an error, and its buffer stays as it is.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"

#include <stdio.h>

#include "p2p/p2p_private.h"
#include "base/count.h"

#include "unit.h"

enum { PARTS = 4, EACH = 8, BYTES = PARTS * EACH, TAG = 9, EDGE = 16 };
static struct gw_comm *const self = &gw_comm_world;
static char room[BYTES + 2 * EDGE], *const to = room + EDGE;

/* What travels (partitioned.c), without what GODWIT_CHECK adds. */
struct said {
    int64_t message_bytes, total_bytes;
    int32_t first_tag, messages;
};
static const struct said right = {BYTES / 2, BYTES, INT32_MIN + 1000000, 2};

static void send_bytes(int tag, const void *at, int64_t n)
{
    struct gw_req *r = NULL;
    int rc = p2p_stream_isend(GW_STREAM_PART, at, n, gw_type_byte, 0, tag, self, &r);
    if (rc == GW_POSTED) rc = p2p_stream_wait(r);
    must(rc);
}

static struct gw_req *receive(bool is_late, const void *at, int64_t n)
{
    struct gw_req *r = NULL;
    memset(room, -1, sizeof room);
    if (is_late) send_bytes(TAG, at, n);
    must(p2p_precv_init(to, PARTS, EACH, gw_type_byte, 0, TAG, self, NULL, &r));
    must(p2p_start(&r));
    if (!is_late) send_bytes(TAG, at, n);
    look(4);
    return r;
}

static void forged(int line, const void *at, int64_t n, uint64_t counted)
{
    for (int is_late = 0; is_late < 2; is_late++) {
        uint64_t before = atomic_load(&gw_count.messages_refused);
        struct gw_req *r = receive(is_late, at, n);
        int rc = req_wait(&r, NULL);
        bool is_same = true;
        for (size_t i = 0; i < sizeof room; i++) is_same = is_same && room[i] == -1;
        if (rc == GW_OK || !is_same || atomic_load(&gw_count.messages_refused) != before + counted) {
            unit_failures++;
            fprintf(stderr, "line %d (late: %d): rc %d, same %d, refused %llu\n", line, is_late, rc, is_same,
                    (unsigned long long)(atomic_load(&gw_count.messages_refused) - before));
        }
        must(p2p_request_free(&r));
    }
}
#define FORGED(...)                                                                                                                \
    do {                                                                                                                           \
        struct said s = right;                                                                                                     \
        __VA_ARGS__;                                                                                                               \
        forged(__LINE__, &s, sizeof s, 1);                                                                                         \
    } while (0)

static void forgeries(void)
{
    char longer[512] = {0};
    memcpy(longer, &right, sizeof right);
    const int64_t lengths[] = {0, 1, sizeof right - 1, sizeof right + 1};
    for (size_t i = 0; i < GW_ARRAY_LEN(lengths); i++) forged(__LINE__, longer, lengths[i], 1);
    forged(__LINE__, longer, sizeof longer, 0); /* longer than any: truncated, an error as of any message */
    FORGED(s.messages = -1);
    FORGED(s.messages = INT32_MIN);
    FORGED(s.messages = INT32_MAX);
    FORGED(s.messages = PART_MESSAGES_MAX + 1, s.total_bytes = (int64_t)s.messages * s.message_bytes);
    FORGED(s.messages = 1);
    FORGED(s.messages = 4);
    FORGED(s.message_bytes = -1);
    FORGED(s.message_bytes = INT64_MAX);
    FORGED(s.message_bytes = INT64_MIN);
    FORGED(s.message_bytes = INT64_MAX, s.total_bytes = INT64_MAX, s.messages = 1);
    FORGED(s.message_bytes = INT64_MAX / 2, s.total_bytes = INT64_MAX - 1);
    FORGED(s.total_bytes = -1);
    FORGED(s.total_bytes = INT64_MAX);
    FORGED(s.total_bytes = BYTES + 1);
    FORGED(s.first_tag = 0); /* the user's tags, and those of introductions */
    FORGED(s.first_tag = INT32_MAX);
    FORGED(s.first_tag = GW_ANY_TAG);
}

/* And as it should be; and more data than there is room for, which is truncated. */
static void true_ones(void)
{
    static const char data[2 * BYTES] = "0123456789abcdef0123456789ABCDEF";
    struct gw_req *r = receive(false, &right, sizeof right);
    for (int i = 0; i < 2; i++) send_bytes(right.first_tag + i, data + i * BYTES / 2, BYTES / 2);
    CHECK_EQ(req_wait(&r, NULL), GW_OK);
    CHECK(memcmp(to, data, BYTES) == 0 && to[-1] == -1 && to[BYTES] == -1);
    must(p2p_request_free(&r));
    struct said large = {BYTES, 2 * BYTES, INT32_MIN + 2000000, 2};
    r = receive(true, &large, sizeof large);
    for (int i = 0; i < 2; i++) send_bytes(large.first_tag + i, data + i * BYTES, BYTES);
    CHECK_EQ(req_wait(&r, NULL), GW_ETRUNCATE);
    CHECK(memcmp(to, data, BYTES) == 0 && to[-1] == -1 && to[BYTES] == -1);
    must(p2p_request_free(&r));
}

int main(void)
{
    rooms_up();
    forgeries();
    true_ones();
    return unit_end();
}
