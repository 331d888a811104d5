/* mem_test.c -- kinds are told apart, copied between, shown and opened; a kind whose bytes the CPU may not touch.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mem/mem.h"

#include "base/lock.h"
#include "mem_fake.h"

enum { BYTES = 100000, KIND = 1, SECOND = 2 };
static char one[BYTES], two[BYTES];

static void host_alone(void)
{
    struct mem_attr a;
    struct mem_token token = {0};
    void *p = NULL;
    CHECK_EQ(mem_kind(one), MEM_HOST);
    CHECK(mem_kind_is_cpu(MEM_HOST) && !mem_has_drivers && !gw_slow_path);
    mem_query(one, &a);
    CHECK(a.kind == MEM_HOST && a.device == -1 && !a.base && a.bytes == 0 && a.id == 0);
    CHECK_STR(mem_kind_name(MEM_HOST), "host");
    CHECK_EQ(mem_copy(two, one, BYTES), GW_OK);
    CHECK(memcmp(one, two, BYTES) == 0);
    two[5] = 77;
    CHECK_EQ(mem_copy_start(one, two, BYTES, NULL), GW_OK);
    CHECK_EQ(one[5], 77);
    CHECK_EQ(mem_share(one, &token), GW_EARG);
    CHECK(strstr(gw_fail_text(), "kind host") != NULL);
    CHECK_EQ(mem_open(&token, &p), GW_EARG);
}

static void kinds_told_apart(char *mine)
{
    struct mem_attr a;
    CHECK(mem_has_drivers && gw_slow_path);
    CHECK_EQ(mem_kind(mine), KIND);
    CHECK_EQ(mem_kind(mine + BYTES - 1), KIND);
    CHECK_EQ(mem_kind(one), MEM_HOST);
    CHECK(!mem_kind_is_cpu(KIND));
    mem_query(mine + 10, &a);
    CHECK(a.kind == KIND && a.device == 3 && a.base == mine && a.bytes == BYTES && a.id != 0);
    CHECK_STR(mem_kind_name(KIND), "fake");
    uint64_t id = a.id;
    char *later = fake_alloc(BYTES);
    mem_query(later, &a);
    CHECK(a.id != id);
    fake_free(later);
}

static void copied(char *mine)
{
    char *other = fake_alloc(BYTES);
    for (int i = 0; i < BYTES; i++) one[i] = (char)(i * 7);
    memset(two, 0, BYTES);
    CHECK_EQ(mem_copy(mine + 1, one, BYTES - 1), GW_OK);
    CHECK_EQ(mem_copy(other, mine + 1, BYTES - 1), GW_OK);
    CHECK_EQ(mem_copy(two, other, BYTES - 1), GW_OK);
    CHECK(memcmp(one, two, BYTES - 1) == 0 && two[BYTES - 1] == 0);
    CHECK_EQ(fake.copies, 3);
    fake_free(other);
}

static int done_count, done_err;
static void done_fn(struct gw_done *done, int err)
{
    (void)done;
    done_count++, done_err = err;
}

static void started(char *mine)
{
    struct gw_done done = {done_fn};
    memset(two, 0, BYTES);
    done_err = -1;
    CHECK_EQ(mem_copy_start(two, mine + 1, BYTES - 1, &done), GW_POSTED);
    CHECK(done_count == 0 && two[1] == 0);
    mem_progress();
    CHECK(done_count == 1 && done_err == GW_OK && memcmp(one, two, BYTES - 1) == 0);
    mem_progress();
    CHECK_EQ(done_count, 1);
}

static void shown(char *mine)
{
    struct mem_token token, wrong;
    void *p = NULL;
    CHECK_EQ(mem_share(mine, &token), GW_OK);
    wrong = token, wrong.kind = 7;
    CHECK_EQ(mem_open(&wrong, &p), GW_EARG);
    wrong = token, wrong.len = MEM_TOKEN_BYTES + 1;
    CHECK_EQ(mem_open(&wrong, &p), GW_EARG);
    CHECK_EQ(mem_open(&token, &p), GW_OK);
    CHECK(p != mine && mem_kind(p) == token.kind);
    memset(two, 0, BYTES);
    CHECK_EQ(mem_copy(two, (char *)p + 1, BYTES - 1), GW_OK);
    CHECK(memcmp(one, two, BYTES - 1) == 0);
    mem_close(token.kind, p);
}

/* ---- a second driver, and as many as there may be: its memory is `second`, which its own copies alone may reach ---- */
static char second[BYTES];
static int second_copies;
static bool second_query(const void *p, struct mem_attr *a)
{
    *a = (struct mem_attr){.base = second, .bytes = BYTES, .id = 1};
    return (const char *)p >= second && (const char *)p < second + BYTES;
}
static int second_copy(void *dst, const void *src, size_t n)
{
    if (n == BYTES) return gw_fail(GW_EARG, "never the whole: it goes in pieces");
    second_copies++;
    memcpy(dst, src, n);
    return GW_OK;
}
static const struct mem_driver second_driver = {.name = "second", .query = second_query, .copy = second_copy};

static void two_kinds(char *mine)
{
    CHECK_EQ(mem_add(&second_driver), SECOND);
    CHECK_EQ(mem_copy(mine, one, BYTES), GW_OK);
    CHECK_EQ(mem_copy(second, mine, BYTES), GW_OK);
    CHECK(second_copies > 1 && memcmp(second, one, BYTES) == 0);
    CHECK_EQ(mem_copy_start(mine, second, BYTES, NULL), GW_OK); /* nobody copies between the two: at once */
    CHECK(fake_compare(mine, one, BYTES) == 0);
    CHECK_EQ(mem_copy(one, second, BYTES), GW_EARG); /* what a driver says is passed on */
    for (int kind = SECOND + 1; kind < MEM_KINDS; kind++) CHECK_EQ(mem_add(&second_driver), kind);
    CHECK_EQ(mem_add(&second_driver), GW_EARG);
}

int main(void)
{
    host_alone();
    CHECK_EQ(mem_add(&fake_driver), KIND);
    char *mine = fake_alloc(BYTES);
    kinds_told_apart(mine);
    copied(mine);
    started(mine);
    shown(mine);
    two_kinds(mine);
    fake_free(mine);
    return unit_end();
}
