/* plan_oom_test.c -- one rank and no memory: a collective that cannot be begun leaves no request, no message and no type that it holds;
 * made again it does its work.  And the nodes of a communicator.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"

#include "plan/plan_private.h"

#include <unistd.h>

#include "oom.h"

enum { N = 40, MEMBERS = 12 };
static struct gw_comm *const world = &gw_comm_world;
static int32_t in[N], out[N];
static struct gw_req *r;
static struct gw_type *t;
static int32_t refs; /* of t while no operation holds it */

/* To ourselves by way of a temporary, then added to what is there. */
static int emit(const struct plan_args *a, int round, struct plan_step *s)
{
    int64_t bytes = a->rcount * 4;
    if (round > 1) return 0;
    struct plan_ref tmp = {.buf = PLAN_TMP, .len = bytes};
    struct plan_ref user = {.buf = round == 0 ? PLAN_IN : PLAN_OUT, .count = a->rcount, .type = a->rt, .len = -1};
    if (round == 1) {
        s[0] = (struct plan_step){.kind = PLAN_REDUCE, .a = tmp, .b = user};
        s[0].a.count = a->rcount, s[0].a.type = a->rt, s[0].a.len = -1;
        return 1;
    }
    s[0] = (struct plan_step){.kind = PLAN_RECV, .a = tmp};
    s[1] = (struct plan_step){.kind = PLAN_SEND, .a = user};
    return 2;
}
static int64_t tmp_of(const struct plan_args *a) { return 4 * a->rcount; }
static const struct plan_algorithm alg = {.name = "trip", .emit = emit, .tmp_bytes = tmp_of};
static bool stages(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)leaves, (void)tmp;
    *s = (struct plan_stage){.alg = &alg, .args = *a, .in = {PLAN_IN, 0}, .out = {PLAN_OUT, 0}};
    return i < 1;
}
static const struct plan_algorithm staged = {.name = "staged", .stages = stages};

static struct plan_args args_new(void)
{
    for (int i = 0; i < N; i++) in[i] = i, out[i] = 7;
    return (struct plan_args){.size = 1, .rcount = N, .rt = t, .op = gw_op_sum};
}
static void came(void)
{
    for (int i = 0; i < N; i++) CHECK_EQ(out[i], 7 + i);
}
static bool is_clean(void)
{
    look(4);
    return proto_posted() == 0 && p2p_is_quiet() && atomic_load(&t->obj.refs) == refs;
}

/* Without what earlier collectives left for it. */
static void forget(void)
{
    struct comm_coll *k = world->coll;
    if (k) free(k->tmp), k->tmp = NULL, k->tmp_bytes = 0;
    gw_lanes[0].free_reqs = NULL;
}

static int blocking(void)
{
    struct plan_args a = args_new();
    forget();
    return plan_run(&alg, &a, in, out, world);
}
static int by_stages(void)
{
    struct plan_args a = args_new();
    forget();
    return plan_run_stages(&staged, &a, in, out, false, world);
}
static int started_of(enum plan_when when, const struct plan_algorithm *which)
{
    static int32_t counts[N];
    struct plan_args a = args_new();
    a.rcounts = (struct gw_counts){counts, false};
    a.n_r = N; /* are copied */
    forget();
    return plan_start(when, which, &a, in, out, world, &r);
}
static int started(void) { return started_of(PLAN_START, &alg); }
static int started_stages(void) { return started_of(PLAN_START, &staged); }
static int prepared(void) { return started_of(PLAN_INIT, &alg); }
static void waited(void)
{
    CHECK_EQ(req_wait(&r, NULL), GW_OK);
    came();
}
static void prepared_end(void)
{
    CHECK_EQ(p2p_start(&r), GW_OK);
    CHECK_EQ(req_wait(&r, NULL), GW_OK);
    CHECK_EQ(p2p_request_free(&r), GW_OK);
    came();
}

static struct plan_nodes *nodes;
static int node_of(void *ctx, int member)
{
    (void)ctx;
    return member % 3;
}
static int nodes_new(void)
{
    nodes = plan_nodes_new(MEMBERS, 4, node_of, NULL, 3);
    return nodes ? GW_OK : GW_ENOMEM;
}
static void nodes_end(void)
{
    CHECK(nodes->n == 3 && nodes->me == 1 && nodes->place == 1);
    plan_nodes_free(nodes);
}

static const struct oom_call calls[] = {
    {"plan_run", blocking, came, 2, 0},          {"plan_run_stages", by_stages, came, 2, 0},
    {"plan_start", started, waited, 3, 0},       {"plan_start of stages", started_stages, waited, 2, 0},
    {"plan_init", prepared, prepared_end, 1, 0}, {"plan_nodes_new", nodes_new, nodes_end, 5, 0},
};

int main(void)
{
    alarm(300);
    rooms_up();
    CHECK(type_contiguous(1, gw_type_int, &t) == GW_OK && type_commit(&t) == GW_OK);
    CHECK_EQ(coll_barrier(world, NULL), GW_OK);
    refs = atomic_load(&t->obj.refs);
    for (size_t i = 0; i < GW_ARRAY_LEN(calls); i++) oom_try(&calls[i], is_clean);
    type_release(t);
    CHECK(p2p_is_quiet() && proto_posted() == 0);
    return unit_end();
}
