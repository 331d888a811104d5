/* check_judge_test.c -- what rank 0 thinks of the calls of a communicator's members.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_call.h"
#include "base/count.h"

#include <stdlib.h>

#include "../../test/unit.h"

enum { N = 4, FN_BCAST = 1, FN_BARRIER = 2 };
static struct check_call *calls[N];

static struct check_sig ints(int64_t n) { return (struct check_sig){.hash = 100 + (uint64_t)n, .n = n, .bytes = 4 * n}; }
static struct check_sig floats(int64_t n) { return (struct check_sig){.hash = 200 + (uint64_t)n, .n = n, .bytes = 4 * n}; }
static struct check_sig packed(int64_t bytes) { return (struct check_sig){.hash = 7, .n = bytes, .bytes = bytes, .is_any = 1}; }
static const struct check_sig absent = {.bytes = -1};

static void fresh(int shape, int n_s, int n_r)
{
    for (int i = 0; i < N; i++) {
        free(calls[i]);
        calls[i] = calloc(1, sizeof *calls[i] + (size_t)(n_s + n_r) * sizeof(struct check_sig));
        *calls[i] = (struct check_call){.member = i,
                                        .fn = FN_BCAST,
                                        .shape = shape,
                                        .n_s = n_s,
                                        .n_r = n_r,
                                        .root = GW_UNDEFINED,
                                        .s_count = -1,
                                        .r_count = -1};
        for (int k = 0; k < n_s + n_r; k++) call_s(calls[i])[k] = ints(3);
    }
}

static int n_first = N; /* the rest are the other group of an intercommunicator */
static struct judgement last;
static int judged(int want_error)
{
    last = check_judge((struct judge_calls){(const struct check_call *const *)calls, N, n_first});
    if (last.severity == JUDGE_WRONG) CHECK_EQ(last.error, want_error);
    return last.severity;
}
static void root(int r)
{
    for (int i = 0; i < N; i++) calls[i]->root = r;
}

static void test_calls(void)
{
    fresh(SHAPE_NONE, 0, 0);
    CHECK_EQ(judged(0), JUDGE_FINE);
    calls[2]->fn = FN_BARRIER;
    CHECK_EQ(judged(GW_EOTHER), JUDGE_WRONG);
    fresh(SHAPE_NONE, 0, 0);
    root(1);
    CHECK_EQ(judged(0), JUDGE_FINE);
    calls[3]->root = 2;
    CHECK_EQ(judged(GW_EROOT), JUDGE_WRONG);
    fresh(SHAPE_SAME, 1, 0);
    calls[0]->op = 5;
    CHECK_EQ(judged(GW_EOP), JUDGE_WRONG);
    for (int i = 0; i < N; i++) calls[i]->op = 5;
    CHECK_EQ(judged(0), JUDGE_FINE);
    /* The root's group of an intercommunicator. */
    fresh(SHAPE_NONE, 0, 0);
    root(GW_PROC_NULL);
    CHECK_EQ(judged(0), JUDGE_FINE);
    calls[1]->root = GW_ROOT;
    calls[1]->op = 5; /* the others look on */
    CHECK_EQ(judged(0), JUDGE_FINE);
    calls[1]->op = 0;
    root(GW_PROC_NULL);
    calls[1]->root = GW_ROOT;
    CHECK_EQ(judged(0), JUDGE_FINE);
    calls[2]->root = GW_ROOT;
    CHECK_EQ(judged(GW_EROOT), JUDGE_WRONG);
    calls[2]->root = 0;
    CHECK_EQ(judged(GW_EROOT), JUDGE_WRONG);
}

static void test_same(void)
{
    fresh(SHAPE_SAME, 1, 0);
    CHECK_EQ(judged(0), JUDGE_FINE);
    call_s(calls[2])[0] = floats(3);
    CHECK_EQ(judged(0), JUDGE_TYPES);
    call_s(calls[2])[0] = packed(12);
    CHECK_EQ(judged(0), JUDGE_FINE);
    call_s(calls[2])[0] = packed(13);
    CHECK_EQ(judged(GW_ECOUNT), JUDGE_WRONG);
    fresh(SHAPE_SAME, N, 0); /* MPI_Reduce_scatter */
    for (int i = 0; i < N; i++) call_s(calls[i])[2] = ints(9);
    CHECK_EQ(judged(0), JUDGE_FINE);
    call_s(calls[3])[2] = ints(8);
    CHECK_EQ(judged(GW_ECOUNT), JUDGE_WRONG);
}

static void test_rooted(void)
{
    for (int many = 0; many < 2; many++)
        for (int to = 0; to < 2; to++) { /* member i and the root agree on i + 3, or on 3 */
            int shape = to ? SHAPE_TO_ROOT : SHAPE_FROM_ROOT;
            for (int bad = -1; bad < N; bad++) {
                fresh(shape, N, N);
                root(2);
                for (int i = 0; i < N; i++) {
                    bool is_root = i == 2;
                    struct check_call *k = calls[i];
                    int rooted = is_root ? many ? N : 1 : 0;
                    k->n_s = to ? 1 : rooted;
                    k->n_r = to ? rooted : 1;
                    struct check_sig *own = to ? call_s(k) : call_r(k), *all = to ? call_r(k) : call_s(k);
                    own[0] = ints(many ? 3 + i : 3);
                    for (int p = 0; p < rooted; p++) all[p] = ints(many ? 3 + p : 3);
                    if (i == bad) own[0] = ints(1);
                }
                CHECK_EQ(judged(GW_ECOUNT), bad < 0 ? JUDGE_FINE : JUDGE_WRONG);
                if (bad >= 0) (to ? call_s(calls[bad]) : call_r(calls[bad]))[0] = absent; /* in place */
                CHECK_EQ(judged(0), JUDGE_FINE);
            }
        }
}

static void test_all(void)
{
    for (int shape = SHAPE_TO_ALL; shape <= SHAPE_PAIRS; shape++) {
        fresh(shape, 1, 1);
        CHECK_EQ(judged(0), JUDGE_FINE);
        for (int i = 0; i < N; i++)
            for (int side = 0; side < 2; side++) {
                fresh(shape, 1, 1);
                (side ? call_r(calls[i]) : call_s(calls[i]))[0] = floats(3);
                CHECK_EQ(judged(0), JUDGE_TYPES);
                (side ? call_r(calls[i]) : call_s(calls[i]))[0] = floats(4);
                CHECK_EQ(judged(GW_ECOUNT), JUDGE_WRONG);
            }
    }
    /* allgatherv: member i sends 10 + i */
    fresh(SHAPE_TO_ALL, 1, N);
    for (int i = 0; i < N; i++) {
        call_s(calls[i])[0] = ints(10 + i);
        for (int p = 0; p < N; p++) call_r(calls[i])[p] = ints(10 + p);
    }
    CHECK_EQ(judged(0), JUDGE_FINE);
    call_r(calls[1])[3] = ints(12);
    CHECK_EQ(judged(GW_ECOUNT), JUDGE_WRONG);
    /* alltoallv: i sends 10 i + p to p */
    for (int bad = 0; bad < 2; bad++) {
        fresh(SHAPE_PAIRS, N, N);
        for (int i = 0; i < N; i++)
            for (int p = 0; p < N; p++) {
                call_s(calls[i])[p] = ints(10 * i + p);
                call_r(calls[i])[p] = ints(10 * p + i);
            }
        if (bad) call_r(calls[3])[1] = floats(13);
        CHECK_EQ(judged(0), bad ? JUDGE_TYPES : JUDGE_FINE);
    }
}

/* Two groups: members 0 and 1, and members 2 and 3. */
static void test_groups(void)
{
    n_first = 2;
    fresh(SHAPE_SAME, 1, 0); /* MPI_Allreduce */
    CHECK_EQ(judged(0), JUDGE_FINE);
    for (int i = 0; i < N; i++) {
        call_s(calls[i])[0] = floats(3);
        CHECK_EQ(judged(0), i < 3 ? JUDGE_TYPES : JUDGE_FINE);
    }
    call_s(calls[2])[0] = ints(4);
    CHECK_EQ(judged(GW_ECOUNT), JUDGE_WRONG);
    fresh(SHAPE_SAME, 3, 0); /* MPI_Reduce_scatter: the sum counts, each group divides it for itself */
    for (int i = 0; i < N; i++)
        call_s(calls[i])[0] = ints(8), call_s(calls[i])[1] = ints(i < 2 ? 1 : 3), call_s(calls[i])[2] = ints(i < 2 ? 7 : 5);
    CHECK_EQ(judged(0), JUDGE_FINE);
    call_s(calls[3])[2] = ints(4);
    CHECK_EQ(judged(GW_ECOUNT), JUDGE_WRONG);
    /* Roots: member 1 is that of the others. */
    fresh(SHAPE_SAME, 1, 0);
    for (int i = 0; i < N; i++) calls[i]->root = i == 1 ? GW_ROOT : i == 0 ? GW_PROC_NULL : 1;
    call_s(calls[0])[0] = absent;
    CHECK_EQ(judged(0), JUDGE_FINE);
    call_s(calls[1])[0] = ints(4);
    CHECK_EQ(judged(GW_ECOUNT), JUDGE_WRONG);
    for (int i = 2; i < N; i++) calls[i]->root = 0;
    CHECK_EQ(judged(GW_EROOT), JUDGE_WRONG);
    for (int i = 2; i < N; i++) calls[i]->root = GW_PROC_NULL;
    CHECK_EQ(judged(GW_EROOT), JUDGE_WRONG);
    root(1);
    CHECK_EQ(judged(GW_EROOT), JUDGE_WRONG);
    /* To and from a root in the second group. */
    for (int shape = SHAPE_TO_ROOT; shape <= SHAPE_FROM_ROOT; shape++)
        for (int bad = -1; bad < 2; bad++) {
            fresh(shape, 2, 2);
            for (int i = 0; i < N; i++) calls[i]->root = i == 3 ? GW_ROOT : i == 2 ? GW_PROC_NULL : 1;
            for (int p = 0; p < 2; p++) {
                calls[p]->n_s = shape == SHAPE_TO_ROOT;
                calls[p]->n_r = shape == SHAPE_FROM_ROOT;
                call_s(calls[p])[0] = ints(p == bad ? 20 : 10 + p);
                (shape == SHAPE_TO_ROOT ? call_r(calls[3]) : call_s(calls[3]))[p] = ints(10 + p);
            }
            CHECK_EQ(judged(GW_ECOUNT), bad < 0 ? JUDGE_FINE : JUDGE_WRONG);
        }
    /* Member i sends 10 i + k to member k of the other group, and nothing is said of the own one. */
    for (int bad = 0; bad < 2; bad++) {
        fresh(SHAPE_PAIRS, 2, 2);
        for (int i = 0; i < N; i++)
            for (int p = 0; p < 2; p++) {
                int there = i < 2 ? 2 + p : p;
                call_s(calls[i])[p] = ints(10 * i + there);
                call_r(calls[i])[p] = ints(10 * there + i);
            }
        if (bad) call_s(calls[1])[0] = ints(7);
        CHECK_EQ(judged(GW_ECOUNT), bad ? JUDGE_WRONG : JUDGE_FINE);
        CHECK(!bad || (last.from == 1 && last.to == 0 && last.sent == 28 && last.received == 48));
    }
    for (int i = 0; i < N; i++)
        for (int side = 0; side < 2; side++) {
            fresh(SHAPE_TO_ALL, 1, 1); /* one number for all */
            CHECK_EQ(judged(0), JUDGE_FINE);
            (side ? call_r(calls[i]) : call_s(calls[i]))[0] = ints(4);
            CHECK_EQ(judged(GW_ECOUNT), JUDGE_WRONG);
        }
    n_first = N;
}

/* A ring, each with both neighbours; then one of two. */
static void test_neighbors(void)
{
    for (int bad = 0; bad < 3; bad++) {
        fresh(SHAPE_NEIGHBORS, 2, 2);
        for (int i = 0; i < N; i++)
            for (int e = 0; e < 2; e++) {
                int peer = (i + (e ? 1 : N - 1)) % N;
                call_s(calls[i])[e] = ints(10 * i + peer), call_s(calls[i])[e].peer = peer;
                call_r(calls[i])[e] = ints(10 * peer + i), call_r(calls[i])[e].peer = peer;
            }
        if (bad == 1) call_r(calls[2])[1].bytes -= 4; /* from 3 */
        if (bad == 2) call_r(calls[2])[1].peer = 0;
        CHECK_EQ(judged(bad == 2 ? GW_ETOPOLOGY : GW_ECOUNT), bad ? JUDGE_WRONG : JUDGE_FINE);
        CHECK(bad != 1 || (last.from == 3 && last.to == 2 && last.sent == 4 * 32 && last.received == 4 * 31));
    }
    fresh(SHAPE_NEIGHBORS, 2, 2); /* the same neighbour twice, and nobody at the border */
    for (int i = 0; i < N; i++)
        for (int e = 0; e < 2; e++) {
            call_s(calls[i])[e] = ints(e + 1), call_s(calls[i])[e].peer = i < 2 ? 1 - i : GW_PROC_NULL;
            call_r(calls[i])[e] = ints(e + 1), call_r(calls[i])[e].peer = i < 2 ? 1 - i : GW_PROC_NULL;
        }
    CHECK_EQ(judged(0), JUDGE_FINE);
    call_r(calls[0])[0] = call_r(calls[0])[1]; /* the order counts */
    CHECK_EQ(judged(GW_ECOUNT), JUDGE_WRONG);
    free(calls[1]);
    calls[1] = NULL;
    CHECK_EQ(judged(0), JUDGE_FINE);
}

/* Some have not called yet. */
static void test_absent(void)
{
    fresh(SHAPE_SAME, 1, 0);
    free(calls[0]);
    free(calls[2]);
    calls[0] = calls[2] = NULL;
    CHECK_EQ(judged(0), JUDGE_FINE);
    call_s(calls[3])[0] = ints(1);
    CHECK_EQ(judged(GW_ECOUNT), JUDGE_WRONG);
    calls[3]->fn = FN_BARRIER;
    CHECK_EQ(judged(GW_EOTHER), JUDGE_WRONG);
    free(calls[1]);
    free(calls[3]);
    calls[1] = calls[3] = NULL;
    CHECK_EQ(judged(0), JUDGE_FINE);
}

static void test_text(void)
{
    char text[2048];
    fresh(SHAPE_SAME, 1, 0);
    root(1);
    for (int i = 0; i < N; i++) calls[i]->fn = 0, calls[i]->s_count = 4, strcpy(calls[i]->s_type, "MPI_INT");
    calls[2]->root = 3;
    check_judge_text((struct judge_calls){(const struct check_call *const *)calls, N, n_first}, text, sizeof text);
    CHECK_STR(text, "ranks 0, 1, 3 called an MPI call, 4 x MPI_INT, root 1; rank 2 called an MPI call, 4 x MPI_INT, root 3");
    calls[0]->root = 3;
    free(calls[1]);
    calls[1] = NULL;
    check_judge_text((struct judge_calls){(const struct check_call *const *)calls, N, n_first}, text, sizeof text);
    CHECK_STR(
        text,
        "ranks 0, 2 called an MPI call, 4 x MPI_INT, root 3; rank 1 called nothing yet; rank 3 called an MPI call, 4 x MPI_INT, "
        "root 1");
    n_first = 1;
    check_judge_text((struct judge_calls){(const struct check_call *const *)calls, 3, n_first}, text, sizeof text);
    CHECK_STR(
        text,
        "rank 0 of the first group called an MPI call, 4 x MPI_INT, root 3; rank 0 of the second group called nothing yet; rank 1 "
        "of the second group called an MPI call, 4 x MPI_INT, root 3");
    n_first = N;
    char small[40];
    check_judge_text((struct judge_calls){(const struct check_call *const *)calls, N, n_first}, small, sizeof small);
    CHECK_EQ(strlen(small), sizeof small - 1);
}

/* ---- records that nobody sends ---- */
static void forged(void)
{
    enum { SIGS = 2 * N + 1 };
    fresh(SHAPE_PAIRS, N, N);
    struct check_call *k = calls[2];
    int64_t bytes = (int64_t)call_bytes(k);
    uint64_t before = atomic_load(&gw_count.messages_refused);
    CHECK(check_call_is_right(k, bytes, 2, SIGS));
    CHECK(!check_call_is_right(k, bytes, 1, SIGS));
    CHECK(!check_call_is_right(k, bytes - 1, 2, SIGS) && !check_call_is_right(k, bytes + 1, 2, SIGS));
    CHECK(!check_call_is_right(k, -1, 2, SIGS) && !check_call_is_right(k, 0, 2, SIGS) &&
          !check_call_is_right(k, sizeof *k - 1, 2, SIGS));
    CHECK(!check_call_is_right(k, bytes, 2, N - 1));
    const int32_t numbers[] = {-1, INT32_MIN, INT32_MAX, SIGS + 1, 1 << 30};
    for (size_t i = 0; i < GW_ARRAY_LEN(numbers); i++) {
        k->n_s = numbers[i];
        CHECK(!check_call_is_right(k, bytes, 2, SIGS));
        k->n_r = (int32_t)(2u * N - (uint32_t)k->n_s); /* the sum is right */
        CHECK(!check_call_is_right(k, bytes, 2, SIGS));
        k->n_s = k->n_r = N;
    }
    memset(k->module, 'x', sizeof k->module);
    CHECK(!check_call_is_right(k, bytes, 2, SIGS));
    CHECK_EQ(atomic_load(&gw_count.messages_refused), before + 18);
    CHECK_EQ(check_verdict_of(GW_OK, 4), GW_OK);
    CHECK_EQ(check_verdict_of(GW_EROOT, 4), GW_EROOT);
    const int32_t none[] = {1, GW_ENOMEM, INT32_MIN, INT32_MAX, -1000};
    for (size_t i = 0; i < GW_ARRAY_LEN(none); i++) CHECK_EQ(check_verdict_of(none[i], 4), GW_EOTHER);
    CHECK(check_verdict_of(GW_OK, 0) == GW_EOTHER && check_verdict_of(GW_OK, 3) == GW_EOTHER);
    CHECK_EQ(atomic_load(&gw_count.messages_refused), before + 18 + 7);
}

/* Whatever a record says of its call, judging reads nothing but records. */
static void remake(int m, int shape, int n_s, int n_r, int peer)
{
    free(calls[m]);
    calls[m] = calloc(1, sizeof *calls[m] + (size_t)(n_s + n_r) * sizeof(struct check_sig));
    *calls[m] =
        (struct check_call){.member = m, .fn = FN_BCAST, .shape = shape, .n_s = n_s, .n_r = n_r, .s_count = -1, .r_count = -1};
    for (int k = 0; k < n_s + n_r; k++) call_s(calls[m])[k] = ints(3), call_s(calls[m])[k].peer = peer;
}

static void judged_anyway(void)
{
    enum { ROUNDS = 20000 };
    static const int32_t odd[] = {GW_UNDEFINED, GW_ROOT, GW_PROC_NULL, 0, 1, N - 1, N, -77, INT32_MIN, INT32_MAX, 1 << 21};
    uint32_t x = 1;
    char text[512];
    for (int i = 0; i < ROUNDS; i++) {
        for (int m = 0; m < N; m++) {
            uint32_t r = x = x * 1664525 + 1013904223;
            remake(m, (int)(r >> 8 & 7), (int)(r >> 11 & 3), (int)(r >> 13 & 3), odd[(r >> 15) % GW_ARRAY_LEN(odd)]);
            calls[m]->root = odd[(r >> 19) % GW_ARRAY_LEN(odd)];
            calls[m]->op = r >> 31 ? odd[(r >> 24) % GW_ARRAY_LEN(odd)] : 0;
        }
        struct judge_calls c = {(const struct check_call *const *)calls, N, i % 2 ? N : 2};
        struct judgement j = check_judge(c);
        check_judge_text(c, text, sizeof text);
        if (strlen(text) >= sizeof text || j.severity < JUDGE_FINE || j.severity > JUDGE_WRONG) unit_failures++;
    }
}

int main(void)
{
    test_calls();
    test_same();
    test_rooted();
    test_all();
    test_groups();
    test_neighbors();
    test_absent();
    test_text();
    forged();
    judged_anyway();
    for (int i = 0; i < N; i++) free(calls[i]);
    return unit_end();
}
