/* shared_test.c -- questions for a shared file pointer, and answers, that nobody sends: they are counted, and move nothing.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"

#include <stdio.h>

#include "io/io_private.h"
#include "base/count.h"
#include "node/node.h"

#include "unit.h"

enum { TAG_QUESTION = 1, TAG_ANSWER, NUMBERS = 1 << 17 }; /* as in shared.c */
struct question {
    int32_t origin, number;
    int64_t etypes;
};

static struct gw_comm *const self = &gw_comm_world;
static uint64_t refused(void) { return atomic_load(&gw_count.messages_refused); }

static void say(int tag, const void *at, int64_t bytes)
{
    struct gw_req *r = NULL;
    int rc = p2p_stream_isend(GW_STREAM_P2P, at, bytes, gw_type_byte, 0, tag, self, &r);
    if (rc == GW_POSTED) rc = p2p_stream_wait(r);
    must(rc);
    look(8);
}

static void wrong(int line, struct gw_file *f, const void *at, int64_t bytes)
{
    uint64_t before = refused();
    int64_t now = -1;
    say(TAG_QUESTION, at, bytes);
    must(io_shared_get(f, &now));
    if (refused() == before + 1 && now == 100) return;
    unit_failures++;
    fprintf(stderr, "line %d: refused %llu, the pointer is at %lld\n", line, (unsigned long long)(refused() - before),
            (long long)now);
}

static void questions(struct gw_file *f)
{
    char room[64] = {0};
    const int64_t lengths[] = {0, 1, sizeof(struct question) - 1, sizeof(struct question) + 1, sizeof room};
    for (size_t i = 0; i < GW_ARRAY_LEN(lengths); i++) wrong(__LINE__, f, room, lengths[i]);
    const int32_t origins[] = {-1, 1, 1000, INT32_MIN, INT32_MAX}, numbers[] = {-1, NUMBERS, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < GW_ARRAY_LEN(origins); i++)
        wrong(__LINE__, f, &(struct question){origins[i], 0, 5}, sizeof(struct question));
    for (size_t i = 0; i < GW_ARRAY_LEN(numbers); i++)
        wrong(__LINE__, f, &(struct question){0, numbers[i], 5}, sizeof(struct question));
    const int64_t etypes[] = {-1, INT64_MIN};
    for (size_t i = 0; i < GW_ARRAY_LEN(etypes); i++)
        wrong(__LINE__, f, &(struct question){0, 0, etypes[i]}, sizeof(struct question));
}

/* As a rank of another node: it asks, and believes an answer of the right length only. */
static void asked(struct gw_file *f)
{
    struct gw_file away = {.comm = self, .name = f->name};
    int64_t at = -1;
    uint64_t before = refused();
    must(io_shared_take(&away, 7, &at));
    CHECK_EQ(at, 100);
    must(io_shared_get(f, &at));
    CHECK_EQ(at, 107);
    say(TAG_ANSWER + 1, &at, 4); /* of the next question */
    CHECK_EQ(io_shared_take(&away, 7, &at), GW_EOTHER);
    CHECK_EQ(refused(), before + 1);
    at = -1;
    say(TAG_ANSWER + 2, &at, sizeof at);
    CHECK_EQ(io_shared_take(&away, 7, &at), GW_EOTHER);
    CHECK_EQ(refused(), before + 2);
}

int main(void)
{
    static char name[] = "a file";
    rooms_up();
    self->one_node = false; /* rank 0 answers questions */
    struct gw_file f = {.comm = self, .name = name};
    must(io_shared_make(&f, 100));
    CHECK(f.shared && f.keeper);
    questions(&f);
    asked(&f);
    io_shared_free(&f);
    return unit_end();
}
