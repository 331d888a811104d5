/* request_test.c -- requests of windows that no origin sends are dropped and counted: every field of every kind, in windows of every
 * flavour; nothing in or beside the window changes.  Then the right one does its work.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/rma_rooms.h"

#include <stdio.h>

#include "base/base.h"
#include "base/count.h"
#include "unit.h"

enum { EDGE = 512, MOST = 1 << 17, ASKED = 60000, PLACE = 61000, DATA = 62000 }; /* the last three: numbers of answers and data */
static struct rma_win *w;
static int flavor;
static char *base, *memory, *before;
static char message[MOST] GW_ALIGNED(16);

static uint64_t refused(void) { return atomic_load(&gw_count.messages_refused); }

static void open_one(int f)
{
    flavor = f;
    memory = malloc(WIN_BYTES + 2 * EDGE);
    for (int i = 0; i < WIN_BYTES + 2 * EDGE; i++) memory[i] = (char)(i * 3);
    w = win_of(f, memory + EDGE, &base);
    for (int i = 0; i < WIN_BYTES; i++) base[i] = (char)(i * 5 + 1);
    before = malloc(WIN_BYTES);
    memcpy(before, base, WIN_BYTES);
}

static void close_one(void)
{
    CHECK_EQ(rma_win_free(&w), GW_OK);
    free(memory);
    free(before);
}

static bool is_same(void)
{
    bool is_same = memcmp(base, before, WIN_BYTES) == 0;
    for (int i = 0; i < EDGE; i++)
        is_same = is_same && memory[i] == (char)(i * 3) && memory[WIN_BYTES + EDGE + i] == (char)((WIN_BYTES + EDGE + i) * 3);
    return is_same;
}

static uint64_t at(int64_t offset) { return (uint64_t)(uintptr_t)base + (uint64_t)offset; }
static uint8_t deferred(void) { return flavor == 3 ? 0 : ASK_DEFERRED; }

/* Request `h` with these runs and so many bytes of data; how long it is. */
static int64_t fill(struct ask_head h, const struct ask_run *runs, int64_t data)
{
    char bytes[4096];
    for (int i = 0; i < (int)sizeof bytes; i++) bytes[i] = (char)(100 + i);
    rma_ask_fill(message, &h, runs, bytes, data);
    return (int64_t)ask_bytes(&h, data);
}

static void wrong(int line, int64_t length)
{
    uint64_t n = refused();
    say_bytes(w, TAG_REQUEST, message, length);
    if (refused() == n + 1 && is_same()) return;
    unit_failures++;
    fprintf(stderr, "line %d: flavour %d: refused %d, %s\n", line, flavor, (int)(refused() - n),
            is_same() ? "the same" : "changed");
}
#define WRONG(length) wrong(__LINE__, length)

/* With one field of the head of another value. */
#define WRONG_FIELD(length, field, value)                                                                                          \
    do {                                                                                                                           \
        struct ask_head *head = (struct ask_head *)message;                                                                        \
        __auto_type keep = head->field;                                                                                            \
        head->field = (__typeof__(head->field))(value);                                                                            \
        wrong(__LINE__, length);                                                                                                   \
        head->field = keep;                                                                                                        \
    } while (0)
#define WRONG_RUN(length, i, field, value)                                                                                         \
    do {                                                                                                                           \
        struct ask_run *run = (struct ask_run *)(message + sizeof(struct ask_head)) + (i);                                         \
        __auto_type keep = run->field;                                                                                             \
        run->field = (value);                                                                                                      \
        wrong(__LINE__, length);                                                                                                   \
        run->field = keep;                                                                                                         \
    } while (0)

/* Of any request that moves data and is right otherwise. */
static void wrong_anywhere(int64_t length)
{
    for (int64_t n = 0; n < length; n += n < 64 ? 7 : 33) WRONG(n);
    WRONG_FIELD(length, what, ASK_UNLOCK + 1);
    WRONG_FIELD(length, what, 255);
    WRONG_FIELD(length, flags, 64);
    WRONG_FIELD(length, flags, 128 | ((struct ask_head *)message)->flags);
    WRONG_FIELD(length, flags, ASK_TRY);
    WRONG_FIELD(length, flags, ((struct ask_head *)message)->flags | ASK_MORE); /* nothing follows */
    WRONG_FIELD(length, kind, LOCK_KIND_ALL + 1);
    WRONG_FIELD(length, origin, 1);
    WRONG_FIELD(length, origin, -1);
    WRONG_FIELD(length, origin, INT32_MIN);
    WRONG_FIELD(length, number, -1);
    WRONG_FIELD(length, number, ASK_NUMBERS);
    const int32_t runs[] = {-1, INT32_MIN, INT32_MAX, ASK_RUNS + 1, 0};
    for (size_t i = 0; i < GW_ARRAY_LEN(runs); i++) WRONG_FIELD(length, n_runs, runs[i]);
    const int64_t bytes[] = {-1, INT64_MIN, INT64_MAX, ASK_PIECE + 1, ((struct ask_head *)message)->bytes + 1};
    for (size_t i = 0; i < GW_ARRAY_LEN(bytes); i++) WRONG_FIELD(length, bytes, bytes[i]);
    const uint64_t sizes[] = {UINT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - at(0), 1 << 20};
    for (size_t i = 0; i < GW_ARRAY_LEN(sizes); i++) WRONG_RUN(length, 0, bytes, sizes[i]);
}

static int n_places;
/* Where a run may not lie.  Of a dynamic window this is an error of the origin's, which is told. */
static void wrong_places(int64_t length)
{
    const uint64_t places[] = {0,
                               1,
                               at(-1),
                               at(-EDGE),
                               at(WIN_BYTES),
                               at(WIN_BYTES - 1),
                               at(WIN_BYTES + EDGE),
                               UINT64_MAX,
                               UINT64_MAX - 15,
                               (uint64_t)1 << 63,
                               (uint64_t)(uintptr_t)w,
                               (uint64_t)(uintptr_t)message};
    for (size_t i = 0; flavor != 3 && i < GW_ARRAY_LEN(places); i++) WRONG_RUN(length, 0, at, places[i]);
    for (size_t i = 0; flavor == 3 && i < GW_ARRAY_LEN(places); i++) {
        struct ask_run *run = (struct ask_run *)(message + sizeof(struct ask_head));
        int32_t number = ((struct ask_head *)message)->number =
            PLACE + n_places++; /* earlier ones may have answers that nobody took */
        bool overflows = run->bytes > UINT64_MAX - places[i];
        struct ask_reply how = {GW_OK, 0};
        struct gw_req *r = NULL;
        uint64_t keep = run->at, n = refused();
        run->at = places[i];
        must(p2p_stream_irecv(GW_STREAM_P2P, &how, sizeof how, gw_type_byte, 0, TAG_REPLY + number, w->comm, &r) < 0 ? GW_EOTHER
                                                                                                                     : GW_OK);
        say_bytes(w, TAG_REQUEST, message, length);
        if (overflows) say_bytes(w, TAG_REPLY + number, &(struct ask_reply){GW_ERMA_RANGE, 0}, sizeof how); /* nobody answers */
        must(p2p_stream_wait(r));
        CHECK(how.rc == GW_ERMA_RANGE && is_same());
        CHECK_EQ(refused(), n + overflows);
        run->at = keep;
    }
}

static void puts_and_gets(void)
{
    struct ask_run runs[2] = {{at(8), 10}, {at(WIN_BYTES - 6), 6}};
    int64_t n =
        fill((struct ask_head){.what = ASK_WRITE, .flags = deferred(), .n_runs = 2, .bytes = 16, .number = ASKED}, runs, 16);
    wrong_anywhere(n);
    wrong_places(n);
    WRONG_FIELD(n, flags, ASK_OLD);
    WRONG_FIELD(n, flags, ASK_DEFERRED | ASK_GATHER);
    WRONG_FIELD(n, flags, ASK_DEFERRED | ASK_LONG); /* of two runs */
    WRONG_FIELD(n, flags, ASK_LONG);
    if (flavor == 3) WRONG_FIELD(n, flags, ASK_DEFERRED); /* where nobody would look whether it is attached */
    uint64_t told = refused();
    say_bytes(w, TAG_REQUEST, message, n);
    CHECK_EQ(refused(), told);
    for (int i = 0; i < 16; i++) before[i < 10 ? 8 + i : WIN_BYTES - 16 + i] = (char)(100 + i);
    CHECK(is_same());

    n = fill((struct ask_head){.what = ASK_READ, .flags = deferred(), .n_runs = 2, .bytes = 16, .number = ASKED}, runs, 0);
    wrong_anywhere(n);
    wrong_places(n);
    WRONG_FIELD(n, flags, ASK_GATHER);
    if (flavor == 3) WRONG_FIELD(n, flags, ASK_DEFERRED | ASK_GATHER);
}

static void updates(void)
{
    struct ask_run run = {at(64), 16};
    int32_t old[4], add[4];
    memcpy(old, base + 64, 16);
    struct ask_head h = {
        .what = ASK_UPDATE, .flags = deferred(), .n_runs = 1, .bytes = 16, .number = ASKED, .op = GW_H_SUM, .basic = GW_ELEM_I32};
    int64_t n = fill(h, &run, 16);
    memcpy(add, message + n - 16, 16);
    wrong_anywhere(n);
    wrong_places(n);
    const uint32_t ops[] = {1, GW_H_INT, UINT32_MAX, 12345678};
    for (size_t i = 0; i < GW_ARRAY_LEN(ops); i++) WRONG_FIELD(n, op, ops[i]);
    WRONG_FIELD(n, op, GW_H_MINLOC); /* not of integers */
    WRONG_FIELD(n, basic, 0);
    WRONG_FIELD(n, basic, 255);
    WRONG_FIELD(n, basic, GW_ELEM_COUNT);
    WRONG_FIELD(n, basic, GW_ELEM_DOUBLE_INT);
    WRONG_FIELD(n, flags, ASK_DEFERRED | ASK_OLD);
    struct gw_op *mine = NULL;
    CHECK_EQ(op_create((void (*)(void))puts_and_gets, 1, false, &mine), GW_OK);
    WRONG_FIELD(n, op, mine->obj.id);
    CHECK_EQ(op_free(&mine), GW_OK);
    WRONG_RUN(n - 1, 0, bytes, 15);
    say_bytes(w, TAG_REQUEST, message, n);
    for (int i = 0; i < 4; i++) old[i] = (int32_t)((uint32_t)old[i] + (uint32_t)add[i]);
    memcpy(before + 64, old, 16);
    CHECK(is_same());

    run.bytes = 8;
    n = fill((struct ask_head){.what = ASK_SWAP, .n_runs = 1, .bytes = 8, .number = ASKED}, &run, 16);
    wrong_anywhere(n);
    wrong_places(n);
    WRONG_FIELD(n, flags, ASK_DEFERRED);
    memcpy(message + n - 16, before + 64, 8);
    say_bytes(w, TAG_REQUEST, message, n);
    memcpy(before + 64, message + n - 8, 8);
    CHECK(is_same());
}

/* Together, and long. */
static void more(void)
{
    struct ask_run run = {at(0), 1024};
    int64_t n = 0, one = (int64_t)sizeof(struct ask_head) + (int64_t)sizeof run;
    if (flavor == 3) return;
    struct ask_head h = {
        .what = ASK_READ, .flags = ASK_DEFERRED | ASK_GATHER | ASK_MORE, .n_runs = 1, .bytes = 1024, .number = ASKED};
    enum { GETS = ASK_BATCH / 1024 + 1 };
    for (int i = 0; i < GETS; i++, n += one) {
        if (i == GETS - 1) h.flags &= (uint8_t)~ASK_MORE;
        rma_ask_fill(message + n, &h, &run, NULL, 0);
    }
    WRONG(n); /* more than fit an answer */
    ((struct ask_head *)(message + (GETS - 2) * one))->flags &= (uint8_t)~ASK_MORE;
    WRONG_FIELD(n, number, ASKED + 1); /* not the same as the others' */
    struct ask_head *second = (struct ask_head *)(message + one);
    second->what = 200; /* then nothing of the message is done */
    WRONG(n);
    second->what = ASK_READ;
    second->origin = 3;
    WRONG(n);

    struct ask_run all = {at(0), WIN_BYTES};
    n = fill(
        (struct ask_head){.what = ASK_WRITE, .flags = ASK_DEFERRED | ASK_LONG, .n_runs = 1, .bytes = WIN_BYTES, .number = DATA},
        &all, 0);
    WRONG_RUN(n, 0, at, at(1));
    WRONG_RUN(n, 0, at, at(-1));
    WRONG_FIELD(n, bytes, WIN_BYTES + 1);
    WRONG_FIELD(n, bytes, INT64_MAX);
    WRONG_FIELD(n, flags, ASK_LONG);
    WRONG_FIELD(n, n_runs, 0);
    char *data = calloc(1, WIN_BYTES + 100);
    for (int i = 0; i < WIN_BYTES + 100; i++) data[i] = (char)(i * 11);
    say_bytes(w, TAG_REQUEST, message, n);
    CHECK(is_same());
    uint64_t told = refused();
    say_bytes(w, TAG_DATA + DATA, data, WIN_BYTES + 100); /* longer than it said: cut, and told */
    CHECK_EQ(refused(), told + 1);
    memcpy(before, data, WIN_BYTES);
    CHECK(is_same());
    data[5] = 77;
    say_bytes(w, TAG_REQUEST, message, n);
    say_bytes(w, TAG_DATA + DATA, data, WIN_BYTES);
    CHECK_EQ(refused(), told + 1);
    before[5] = 77;
    CHECK(is_same());
    free(data);
    char *too_long = calloc(1, MOST);
    told = refused();
    say_bytes(w, TAG_REQUEST, too_long, MOST); /* the listener takes no such message, and goes on */
    CHECK_EQ(refused(), told + 1);
    free(too_long);
}

static void locks(void)
{
    for (int kind = LOCK_KIND_SHARED; kind <= LOCK_KIND_ALL; kind++) {
        int64_t n = fill((struct ask_head){.what = ASK_UNLOCK, .kind = (uint8_t)kind, .number = ASKED}, NULL, 0);
        WRONG(n); /* nobody has it */
        WRONG_FIELD(n, n_runs, 1);
        WRONG_FIELD(n, flags, ASK_DEFERRED);
        WRONG_FIELD(n, flags, ASK_TRY);
        WRONG(n - 1);
        int rc = rma_ask_lock(w, 0, (enum lock_kind)kind);
        CHECK_EQ(rc, GW_OK);
        WRONG_FIELD(n, kind, (kind + 1) % 3);
        CHECK_EQ(rma_ask_unlock(w, 0, (enum lock_kind)kind), GW_OK);
        WRONG(n);
    }
    CHECK_EQ(atomic_load(&w->near[0].words->locked), 0);
}

/* The origin's side: answers that are too short, too long, or say nothing that a target says. */
static void answers(void)
{
    struct {
        struct ask_reply how;
        char data[64];
    } answer = {{GW_OK, 0}, {0}};
    char old[8], new[8] = "abcdefg";
    const struct {
        int64_t rc, bytes;
    } wrongs[] = {{GW_OK, 0}, {GW_OK, 8}, {GW_OK, 15},  {GW_OK, 16},     {GW_OK, 23},
                  {1, 24},    {77, 24},   {-12345, 24}, {INT64_MIN, 16}, {GW_OK, 60}};
    for (size_t i = 0; i < GW_ARRAY_LEN(wrongs); i++) {
        uint64_t told = refused();
        int number = (int)(atomic_load(&w->reply_tag) % ASK_NUMBERS);
        answer.how.rc = wrongs[i].rc;
        memset(old, 1, sizeof old);
        say_bytes(w, TAG_REPLY + number, &answer, wrongs[i].bytes); /* is there before the true one */
        memcpy(before + 128, base + 128, 8);
        int rc = rma_ask_swap(w, 0, at(128), new, base + 128, (struct rma_packed){old, NULL}, 8);
        CHECK(rc < 0 && old[0] == 1);
        CHECK_EQ(refused(), told + (wrongs[i].bytes <= 24)); /* one that is too long is an error of the receive's */
        look(4);
        memcpy(before + 128, base + 128, 8);
    }
    if (flavor == 3) return;
    char into[2048];
    struct ask_run run = {at(0), sizeof into};
    uint64_t told = refused();
    say_bytes(w, TAG_REPLY + (int)(atomic_load(&w->reply_tag) % ASK_NUMBERS), new, 5);
    CHECK_EQ(rma_deferred_get(w, 0, &run, 1, sizeof into, (struct rma_packed){into, NULL}), GW_OK);
    CHECK(rma_deferred_settle(w) < 0);
    CHECK_EQ(refused(), told + 1);
    run.bytes = 100; /* gathered */
    say_bytes(w, TAG_REPLY + (int)(atomic_load(&w->reply_tag) % ASK_NUMBERS), new, 5);
    memset(into, 9, sizeof into);
    CHECK_EQ(rma_deferred_get(w, 0, &run, 1, 100, (struct rma_packed){into, NULL}), GW_OK);
    CHECK(rma_deferred_settle(w) < 0 && into[0] == 9);
    CHECK_EQ(refused(), told + 2);
    CHECK_EQ(rma_deferred_get(w, 0, &run, 1, 100, (struct rma_packed){into, NULL}), GW_OK);
    CHECK_EQ(rma_deferred_settle(w), GW_OK);
    CHECK(memcmp(into, base, 100) == 0);
}

/* What never can be done does not keep the window from being freed. */
static void leftovers(void)
{
    struct ask_run all = {at(0), WIN_BYTES};
    int64_t n = fill((struct ask_head){.what = ASK_FLUSH, .bytes = INT64_MAX, .number = ASKED}, NULL, 0);
    say_bytes(w, TAG_REQUEST, message, n);
    if (flavor == 3) return;
    n = fill(
        (struct ask_head){.what = ASK_WRITE, .flags = ASK_DEFERRED | ASK_LONG, .n_runs = 1, .bytes = WIN_BYTES, .number = DATA + 1},
        &all, 0);
    say_bytes(w, TAG_REQUEST, message, n); /* whose data never come */
}

int main(void)
{
    rooms_up();
    for (int f = 0; f < FLAVORS; f++) {
        open_one(f);
        puts_and_gets();
        updates();
        more();
        locks();
        answers();
        leftovers();
        CHECK(is_same());
        close_one();
    }
    return unit_end();
}
