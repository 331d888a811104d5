/* counter_test.c -- counters, and the order of requests at their target: a flush waits for the requests before it and for no others; what
 * belongs behind a put waits for its data; a counter does not wait for what another counts.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/rma_rooms.h"

#include "unit.h"

enum { LONG_BYTES = 2048, NUMBER = 62000, ANSWER = 60000 };
static struct rma_win *w;
static char *base, memory[WIN_BYTES], data[LONG_BYTES];

static uint64_t at(int64_t offset) { return (uint64_t)(uintptr_t)base + (uint64_t)offset; }

static void say_request(struct ask_head h, int64_t offset, const void *operand, int64_t bytes)
{
    char message[256] GW_ALIGNED(16);
    struct ask_run run = {at(offset), (uint64_t)h.bytes};
    rma_ask_fill(message, &h, h.n_runs ? &run : NULL, operand, bytes);
    say_bytes(w, TAG_REQUEST, message, (int64_t)ask_bytes(&h, bytes));
}

static void say_long(void)
{
    memset(base, 0, WIN_BYTES);
    struct ask_head h = {.what = ASK_WRITE, .flags = ASK_DEFERRED | ASK_LONG, .n_runs = 1, .bytes = LONG_BYTES, .number = NUMBER};
    say_request(h, 0, NULL, 0);
}

static void say_short(uint8_t flags, uint32_t after, int64_t offset)
{
    char one = 1;
    struct ask_head h = {.what = ASK_WRITE, .flags = (uint8_t)(ASK_DEFERRED | flags), .n_runs = 1, .bytes = 1, .after = after};
    say_request(h, offset, &one, 1);
}

/* So many requests have come before. */
static uint32_t come;

static void flush_waits_for_those_before(void)
{
    struct gw_req *r = NULL;
    struct ask_reply answer;
    int rc = p2p_stream_irecv(GW_STREAM_P2P, &answer, sizeof answer, gw_type_byte, 0, TAG_REPLY + ANSWER, w->comm, &r);
    CHECK(rc >= 0);
    say_long();
    say_short(0, 0, LONG_BYTES); /* done at once, and not what the flush is for */
    CHECK_EQ(base[LONG_BYTES], 1);
    say_request((struct ask_head){.what = ASK_FLUSH, .bytes = come + 1, .number = ANSWER}, 0, NULL, 0);
    CHECK(!req_is_done(r));
    say_bytes(w, TAG_DATA + NUMBER, data, LONG_BYTES);
    int64_t bytes = 0;
    CHECK_EQ(p2p_stream_wait_bytes(r, &bytes), GW_OK);
    CHECK_EQ(bytes, sizeof answer);
    CHECK(memcmp(base, data, LONG_BYTES) == 0);
    come += 2;
}

static void after_waits(void)
{
    say_long();
    say_short(ASK_AFTER, come + 1, LONG_BYTES);
    say_short(ASK_AFTER, come + 2, LONG_BYTES + 1); /* behind one that waits, too */
    say_short(ASK_AFTER, come, LONG_BYTES + 2);
    CHECK(!base[LONG_BYTES] && !base[LONG_BYTES + 1] && base[LONG_BYTES + 2]);
    say_bytes(w, TAG_DATA + NUMBER, data, LONG_BYTES);
    CHECK(base[LONG_BYTES] && base[LONG_BYTES + 1] && memcmp(base, data, LONG_BYTES) == 0);
    come += 4;
}

/* An update with an answer waits for the data of a put.  They come, and right behind them what a second fence has put behind the update. */
static void after_an_update(void)
{
    struct {
        struct ask_reply how;
        uint64_t old;
    } answer[2];
    struct gw_req *r[2] = {NULL, NULL}, *sent[2] = {NULL, NULL};
    uint64_t five = 5, swap[2] = {5, 7}, *word = (uint64_t *)(uintptr_t)at(LONG_BYTES);
    char message[256] GW_ALIGNED(16);
    struct ask_run run = {at(LONG_BYTES), 8};
    for (int i = 0; i < 2; i++)
        CHECK(p2p_stream_irecv(GW_STREAM_P2P, &answer[i], sizeof answer[i], gw_type_byte, 0, TAG_REPLY + ANSWER + i, w->comm,
                               &r[i]) >= 0);
    say_long();
    struct ask_head h = {.what = ASK_UPDATE, .flags = ASK_OLD | ASK_AFTER, .basic = GW_ELEM_U64, .op = GW_H_SUM, .number = ANSWER};
    h.n_runs = 1, h.bytes = 8, h.after = come + 1;
    say_request(h, LONG_BYTES, &five, sizeof five);
    CHECK_EQ(*word, 0);
    h.what = ASK_SWAP, h.flags = ASK_AFTER, h.number = ANSWER + 1;
    rma_ask_fill(message, &h, &run, swap, sizeof swap);
    must(p2p_stream_isend(GW_STREAM_P2P, data, LONG_BYTES, gw_type_byte, 0, TAG_DATA + NUMBER, w->comm, &sent[0]) < 0);
    must(p2p_stream_isend(GW_STREAM_P2P, message, (int64_t)ask_bytes(&h, sizeof swap), gw_type_byte, 0, TAG_REQUEST, w->comm,
                          &sent[1]) < 0);
    for (int i = 0; i < 2; i++) {
        if (sent[i]) must(p2p_stream_wait(sent[i]));
        must(p2p_stream_wait(r[i]));
    }
    CHECK(answer[0].old == 0 && answer[1].old == 5 && *word == 7);
    come += 1;
}

static void counters_are_apart(void)
{
    struct rma_counter one = {0}, two = {0};
    struct ask_run run = {at(0), LONG_BYTES};
    bool is_confirmed;
    memset(base, 0, WIN_BYTES);
    CHECK_EQ(rma_deferred_put_long(w, 0, run, (struct rma_packed){data, &one}), GW_OK);
    rma_counter_touch(&one, 0);
    rma_counter_begin(&one); /* something is under way, until the end of it below */
    CHECK_EQ(rma_counter_wait(w, &two), GW_OK);
    CHECK_EQ(rma_counter_flush(w, &two), GW_OK);
    CHECK_EQ(rma_counter_fence(w, &two, -1, &is_confirmed), GW_OK);
    CHECK(is_confirmed);
    CHECK(atomic_load(&one.n) > 0);
    CHECK_EQ(atomic_load(&w->targets[0].known), 0);
    CHECK_EQ(rma_counter_fence(w, &one, -1, &is_confirmed), GW_OK);
    CHECK(!is_confirmed);
    CHECK_EQ(atomic_load(&w->targets[0].after), 1);
    rma_counter_join(&two, &one);
    CHECK_EQ(rma_counter_flush(w, &two), GW_OK); /* asks the target, as `one` would */
    CHECK_EQ(atomic_load(&w->targets[0].known), 1);
    CHECK(memcmp(base, data, LONG_BYTES) == 0);
    rma_counter_end(&one, GW_EOTHER);
    CHECK_EQ(rma_counter_flush(w, &one), GW_EOTHER); /* of this one alone, and once */
    CHECK_EQ(rma_counter_flush(w, &one), GW_OK);
    CHECK_EQ(atomic_load(&one.n), 0);
    CHECK_EQ(rma_counter_fence(w, &one, 0, &is_confirmed), GW_OK);
    CHECK(is_confirmed);
}

int main(void)
{
    rooms_up();
    for (int i = 0; i < LONG_BYTES; i++) data[i] = (char)(i * 7 + 1);
    w = win_of(0, memory, &base);
    w->has_instructions = true;
    flush_waits_for_those_before();
    after_waits();
    after_an_update();
    CHECK_EQ(rma_win_free(&w), GW_OK);
    w = win_of(0, memory, &base);
    counters_are_apart();
    CHECK_EQ(rma_win_free(&w), GW_OK);
    return unit_end();
}
