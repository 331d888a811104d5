/* exec_test.c -- runs small algorithms of the test's own: rounds, references of every kind, requests, stages, errors, and the leaves of
 * three ranks; after every one the state is as plan.h says.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"
#include "../../test/ranks.h"

#include "plan/plan_private.h"
#include "boot/segment.h"

enum { N = 40, LONG = 100000, COLL_NAMES = 16 };
static struct gw_comm *const world = &gw_comm_world;
static struct gw_type *gaps; /* 4 bytes of every 12, the first at 4 */

static struct plan_ref raw(enum plan_buf buf, int64_t off, int64_t len)
{
    return (struct plan_ref){.buf = (uint8_t)buf, .off = off, .len = len};
}
static struct plan_ref typed(enum plan_buf buf, int64_t off, int64_t count, struct gw_type *t)
{
    return (struct plan_ref){.buf = (uint8_t)buf, .off = off, .count = count, .type = t, .len = -1};
}
static int64_t some_tmp(const struct plan_args *a) { return a->params.piece_bytes; }

/* ---- copies: packed streams of what two references mean, the shorter one's length ---- */
static void copies(void)
{
    int32_t in[3 * N], out[3 * N], tmp[N];
    struct plan_memory m = {.in = (char *)in, .out = (char *)out, .tmp = (char *)tmp};
    for (int i = 0; i < 3 * N; i++) in[i] = i, out[i] = -1;
    struct plan_ref from = typed(PLAN_IN, 0, N, gaps), to = raw(PLAN_TMP, 0, 4 * N), back = typed(PLAN_OUT, 0, N, gaps);
    plan_copy(&m, &from, &to);
    for (int i = 0; i < N; i++) CHECK_EQ(tmp[i], 3 * i + 1);
    plan_copy(&m, &to, &back);
    for (int i = 0; i < 3 * N; i++) CHECK_EQ(out[i], i % 3 == 1 ? i : -1);
    /* bytes 10 to 29 of the stream, with gaps at both ends */
    memset(out, -1, sizeof out);
    from.pos = back.pos = 10, from.len = 20, back.len = 1000;
    plan_copy(&m, &from, &back);
    signed char *o = (signed char *)out, *i8 = (signed char *)in;
    for (int i = 0; i < 12 * N; i++) {
        int at = i / 12 * 4 + i % 12 - 4; /* in the stream */
        bool is_in = i % 12 >= 4 && i % 12 < 8 && at >= 10 && at < 30;
        CHECK_EQ(o[i], is_in ? i8[i] : -1);
    }
    to.len = 0, out[0] = 7;
    plan_copy(&m, &to, &(struct plan_ref){.buf = PLAN_OUT, .len = 4});
    CHECK_EQ(out[0], 7);
}

/* ---- three rounds: to ourselves, into the temporary, and added to what the caller has ---- */
static int round_trip(const struct plan_args *a, int round, struct plan_step *s)
{
    if (round == 0) {
        s[0] =
            (struct plan_step){.kind = PLAN_COPY, .a = typed(PLAN_IN, 0, a->rcount, a->rt), .b = raw(PLAN_TMP, 0, a->rcount * 4)};
        s[1] = (struct plan_step){.kind = PLAN_RECV, .a = raw(PLAN_TMP, a->rcount * 4, a->tmp_span)}; /* posted after the sends */
        s[2] = (struct plan_step){.kind = PLAN_SEND, .a = raw(PLAN_TMP, 0, a->rcount * 4)};
        return 3;
    }
    if (round == 1) {
        s[0] = (struct plan_step){.kind = PLAN_REDUCE,
                                  .a = typed(PLAN_TMP, a->rcount * 4, a->rcount, gw_type_int),
                                  .b = typed(PLAN_OUT, 0, a->rcount, gw_type_int)};
        return 1;
    }
    return 0;
}
static const struct plan_algorithm trip = {.name = "trip", .emit = round_trip, .tmp_bytes = some_tmp};

static struct plan_args trip_args(int64_t n)
{
    return (struct plan_args){
        .size = 1, .rcount = n, .rt = gw_type_int, .op = gw_op_sum, .params.piece_bytes = 8 * n, .tmp_span = 4 * n};
}

static void blocking(void)
{
    const int64_t lengths[] = {1, N, LONG};
    for (size_t k = 0; k < GW_ARRAY_LEN(lengths); k++) {
        int64_t n = lengths[k];
        int32_t *in = malloc((size_t)n * 4), *out = malloc((size_t)n * 4);
        for (int i = 0; i < n; i++) in[i] = i * 3, out[i] = 1000 - i;
        struct plan_args a = trip_args(n);
        a.number = 7 + k;
        CHECK_EQ(plan_run(&trip, &a, in, out, world), GW_OK);
        CHECK_EQ(a.n, (7 + k) << PLAN_TAG_SHIFT);
        bool is_right = true;
        for (int i = 0; i < n; i++) is_right = is_right && out[i] == 1000 + 2 * i;
        CHECK(is_right);
        a.tmp_span = 4 * n - 1; /* the receive is too short: the error comes back, and nothing stays posted */
        CHECK_EQ(plan_run(&trip, &a, in, out, world), GW_ETRUNCATE);
        CHECK_EQ(proto_posted(), 0);
        free(in), free(out);
    }
}

static void requests(void)
{
    int32_t in[N], out[2][N];
    struct gw_req *r[2] = {NULL}, *persistent = NULL;
    struct gw_type *t;
    CHECK(type_contiguous(1, gw_type_int, &t) == GW_OK && type_commit(&t) == GW_OK);
    for (int i = 0; i < N; i++) in[i] = i, out[0][i] = out[1][i] = 5;
    struct plan_args a = trip_args(N);
    a.rt = t;
    for (int k = 0; k < 2; k++) CHECK_EQ(plan_start(PLAN_START, &trip, &a, in, out[k], world, &r[k]), GW_OK);
    type_release(t); /* the operations hold it */
    memset(&a, 0xee, sizeof a);
    CHECK(r[0] != r[1] && r[0]->kind == REQ_COLL);
    CHECK(req_wait(&r[1], NULL) == GW_OK && req_wait(&r[0], NULL) == GW_OK);
    for (int i = 0; i < N; i++) CHECK(out[0][i] == 5 + i && out[1][i] == 5 + i);
    a = trip_args(N);
    CHECK_EQ(plan_start(PLAN_INIT, &trip, &a, in, out[0], world, &persistent), GW_OK);
    for (int round = 1; round < 4; round++) {
        CHECK_EQ(out[0][9], 5 + 9 * round);
        CHECK_EQ(p2p_start(&persistent), GW_OK);
        CHECK_EQ(p2p_request_free(&persistent), GW_EREQUEST);
        CHECK_EQ(req_wait(&persistent, NULL), GW_OK);
    }
    CHECK(out[0][9] == 5 + 9 * 4 && p2p_request_free(&persistent) == GW_OK);
    a.tmp_span = 1;
    CHECK_EQ(plan_start(PLAN_START, &trip, &a, in, out[0], world, &r[0]), GW_OK);
    CHECK_EQ(req_wait(&r[0], NULL), GW_ETRUNCATE);
    CHECK_EQ(plan_start(PLAN_START, NULL, &a, in, out[0], world, &r[0]), GW_OK); /* nothing is to be done */
    CHECK(req_wait(&r[0], NULL) == GW_OK && proto_posted() == 0);
}

/* ---- stages: the second one begins where the first one ended, the third has no part for us ---- */
static bool two_trips(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    (void)leaves;
    if (i == 1) CHECK_EQ(*(int32_t *)(void *)tmp, 3 * 1); /* what the first stage left there */
    *s = (struct plan_stage){
        .alg = i < 2 ? &trip : NULL, .args = trip_args(a->rcount), .in = {PLAN_IN, 0}, .out = {i ? PLAN_OUT : PLAN_TMP, 0}};
    s->tmp = 4 * N;
    if (i == 1) s->in.buf = PLAN_TMP;
    return i < 3;
}
static int64_t stages_tmp(const struct plan_args *a) { return 4 * a->rcount; }
static void stages(void)
{
    static const struct plan_algorithm two = {.name = "two", .stages = two_trips, .tmp_bytes = stages_tmp};
    int32_t in[N], out[N];
    for (int i = 0; i < N; i++) in[i] = 3 * (i + 1), out[i] = 100;
    struct plan_args a = trip_args(N);
    struct comm_coll *k = plan_coll(world);
    free(k->tmp);
    k->tmp = calloc(1, 16 * N), k->tmp_bytes = 16 * N; /* the sums of the first stage begin with zeros */
    CHECK_EQ(plan_run_stages(&two, &a, in, out, false, world), GW_OK);
    for (int i = 0; i < N; i++) CHECK_EQ(out[i], 100 + 3 * (i + 1));
}

/* ---- an execution by hand: where it stops, and that its state is right there ---- */
static int emit_two(const struct plan_args *a, int round, struct plan_step *s)
{
    (void)a;
    s[0] = (struct plan_step){.kind = PLAN_RECV, .a = raw(PLAN_OUT, 4 * round, 4)};
    s[1] = (struct plan_step){.kind = PLAN_COPY, .a = raw(PLAN_IN, 0, 4), .b = raw(PLAN_OUT, 20, 4)};
    return round < 2 ? 2 : 0;
}
static void by_hand(void)
{
    static const struct plan_algorithm alg = {.name = "hand", .emit = emit_two};
    int32_t in = 9, out[6] = {0}, done = 0;
    struct plan_args a = {.size = 1, .n = 123};
    struct plan_exec x = {.alg = &alg, .args = &a, .comm = world, .in = (char *)&in, .out = (char *)out};
    plan_exec_reset(&x);
    CHECK(!plan_exec_broken(&x));
    for (int32_t v = 1; v <= 2; v++) {
        struct gw_req *r = NULL;
        CHECK(!plan_exec_advance(&x, &done));
        CHECK(!plan_exec_broken(&x));
        CHECK(x.n_reqs == 1 && x.round == v && x.at == 2 && out[5] == 9 && out[v - 1] == 0);
        CHECK(!plan_exec_advance(&x, &done) && done == 0 && x.n_reqs == 1); /* nothing has come */
        CHECK(p2p_stream_isend(GW_STREAM_COLL, &v, 4, gw_type_byte, 0, 123, world, &r) >= 0);
        look(4);
    }
    CHECK(plan_exec_advance(&x, &done) && x.err == GW_OK && x.n_reqs == 0);
    CHECK(!plan_exec_broken(&x) && out[0] == 1 && out[1] == 2);
    x.n_steps = 1, x.n_reqs = 1, x.at = 0;
    CHECK_STR(plan_exec_broken(&x), "messages are posted after all local steps");
    x.at = 1, x.reqs[0] = NULL;
    CHECK_STR(plan_exec_broken(&x), "a request that is out is known");
    x.n_reqs = 0, x.steps[0].kind = PLAN_WAIT;
    CHECK_STR(plan_exec_broken(&x), "steps of leaves need a region");
    x.n_steps = PLAN_STEPS + 1;
    CHECK_STR(plan_exec_broken(&x), "a round has at most PLAN_STEPS steps");
}

/* ---- leaves of three ranks ---- */
/* Each puts its value into its slot, waits for all, and takes the sum; then hands its own to the next. */
static int leaf_emit(const struct plan_args *a, int round, struct plan_step *s)
{
    if (round > 0) return 0;
    int next = (a->rank + 1) % a->size, before = (a->rank + a->size - 1) % a->size;
    struct plan_ref mine = {.buf = PLAN_SHM, .slot = (uint8_t)(a->n % PLAN_SLOTS), .rank = a->rank, .len = 4};
    struct plan_ref all = mine, line = {.buf = PLAN_SHM, .slot = (uint8_t)(PLAN_SLOTS + PLAN_SMALLS + a->n % PLAN_SLOTS), .len = 4};
    all.type = gw_type_int, all.count = 1, all.len = -1, all.rank = 0;
    int n = 0;
    line.rank = next, line.off = a->rank * GW_CACHELINE + 8;
    s[n++] = (struct plan_step){.kind = PLAN_COPY, .a = raw(PLAN_IN, 0, 4), .b = line};
    s[n++] = (struct plan_step){.kind = PLAN_PAIR_SIGNAL, .peer = next};
    s[n++] = (struct plan_step){.kind = PLAN_COPY, .a = raw(PLAN_IN, 0, 4), .b = mine};
    s[n++] = (struct plan_step){.kind = PLAN_PUBLISH, .phase = 1};
    s[n++] = (struct plan_step){.kind = PLAN_WAIT, .peer = -1, .phase = 1};
    s[n++] = (struct plan_step){.kind = PLAN_SHM_REDUCE, .peer = a->size, .a = all, .b = typed(PLAN_OUT, 0, 1, gw_type_int)};
    s[n++] = (struct plan_step){.kind = PLAN_PAIR_WAIT, .peer = before};
    line.rank = a->rank, line.off = before * GW_CACHELINE + 8;
    s[n++] = (struct plan_step){.kind = PLAN_COPY, .a = line, .b = raw(PLAN_OUT, 4, 4)};
    return n;
}
/* The flag of this member is at the last collective that it has begun, or later. */
static void published(void)
{
    static struct leaf_flag flags[2];
    struct comm_coll k = {.size = 2, .me = 1, .flags = flags};
    CHECK(!plan_region_broken(&k));
    for (uint64_t n = 1; n < 20; n += 3) {
        k.left[n % PLAN_SLOTS] = n << 20 | PLAN_FINAL;
        CHECK_STR(plan_region_broken(&k), "P2: every member publishes in every leaf collective");
        plan_raise(&k, n << 20, n << 20 | 1);
        CHECK(!plan_region_broken(&k));
        plan_raise(&k, n << 20, n << 20 | 7); /* it is there */
        CHECK_EQ(flags[1].value, n << 20 | 1);
    }
    k.me = 2;
    CHECK_STR(plan_region_broken(&k), "a member has a place in its region");
}

static void leaves(int rank)
{
    static const struct plan_algorithm narrow = {.name = "narrow", .emit = leaf_emit, .kind = PLAN_NARROW};
    rooms_above_boot();
    CHECK_EQ(coll_barrier(world, NULL), GW_OK);
    CHECK(plan_leaf_ready(world) && plan_leaf_ready(world));
    struct comm_coll *k = world->coll;
    CHECK(k->ready && k->size == 3 && k->me == rank && k->pairs);
    for (int32_t i = 0; i < 200; i++) {
        int32_t mine = 1000 * (rank + 1) + i, out[2] = {0};
        uint64_t before = leaf_last(k);
        struct plan_args a = {.rank = rank, .size = 3, .op = gw_op_sum, .rcount = 1, .rt = gw_type_int};
        for (int skipped = i % 7 == 3 ? i % 5 : 0; skipped >= 0; skipped--)
            a.n = 0, a.says = 0, plan_enter_as(world, PLAN_CALLS, &a);
        CHECK_EQ(plan_run(&narrow, &a, &mine, out, world), GW_OK);
        CHECK_EQ(out[0], 6000 + 3 * i);
        CHECK_EQ(out[1], 1000 * ((rank + 2) % 3 + 1) + i);
        CHECK(leaf_last(k) > before && leaf_last(k) == (world->colls - 1) * PLAN_STRIDE && !plan_region_broken(k));
    }
    CHECK_EQ(coll_barrier(world, NULL), GW_OK);
    rooms_down();
}

/* ---- the number in a message: of a former collective, or of one that this rank has not begun ---- */
static void send_numbered(struct gw_comm *c, uint64_t number, int more)
{
    static const int32_t v[3] = {1, 2, 3};
    struct plan_args a = {.number = number, .says = (uint64_t)(PLAN_CALLS + 1) << BOOT_SAYS_KIND};
    struct gw_req *r;
    int rc = p2p_stream_isend(GW_STREAM_COLL, v, sizeof v, gw_type_byte, 0, plan_tag(&a) | more, c, &r);
    CHECK(rc == GW_OK || (rc == GW_POSTED && p2p_stream_wait(r) == GW_OK));
    for (int quiet = 0; quiet < 3;) quiet = req_progress() ? 0 : quiet + 1;
}
static void receive_numbered(struct gw_comm *c, uint64_t number, int more)
{
    int32_t v[3] = {0};
    struct plan_args a = {.number = number, .says = (uint64_t)(PLAN_CALLS + 1) << BOOT_SAYS_KIND};
    struct gw_req *r;
    int rc = p2p_stream_irecv(GW_STREAM_COLL, v, sizeof v, gw_type_byte, 0, plan_tag(&a) | more, c, &r);
    CHECK(rc == GW_OK || (rc == GW_POSTED && p2p_stream_wait(r) == GW_OK));
    CHECK_EQ(v[2], 3);
}

static void numbers(void)
{
    const uint64_t all = PLAN_TAG_NUMBERS + 1ull, nexts[] = {1, 9, all - 1, all, all + 1, 5 * all + 3};
    for (size_t i = 0; i < GW_ARRAY_LEN(nexts); i++) {
        uint64_t next = nexts[i];
        for (uint64_t d = 0; d < 40; d++) {
            struct plan_args a = {.number = next + d};
            CHECK_EQ(plan_tag_former(plan_tag(&a), next), next);
            CHECK_EQ(plan_tag_former(plan_tag(&a) | PLAN_TAG_PERSISTENT, next), next);
            if (d == 0 || d > next) continue;
            a.number = next - d;
            CHECK_EQ(plan_tag_former(plan_tag(&a), next), next - d);
            CHECK_EQ(plan_tag_former(plan_tag(&a) | PLAN_TAG_SAYS, next), next - d);
        }
    }
    static const char *const names[COLL_NAMES] = {"Barrier", "Bcast"};
    const char *const *were = plan_call_names;
    plan_call_names = names;
    uint64_t was = world->colls;
    atomic_store(&world->colls, 5 * all + 3);
    send_numbered(world, 5 * all + 3, 0);
    send_numbered(world, 5 * all + 4, 0);
    CHECK(plan_compare_last(world, false) == GW_OK && plan_compare_last(world, true) == GW_OK);
    send_numbered(world, 5 * all - 2, PLAN_TAG_PERSISTENT);
    CHECK_EQ(plan_compare_last(world, true), GW_OK);
    CHECK_EQ(plan_compare_last(world, false), GW_EOTHER);
    CHECK(strstr(gw_fail_text(), "collective #20971518 on MPI_COMM_WORLD: rank 0 called MPI_Bcast and sent 12 bytes"));
    send_numbered(world, 5 * all + 1, 0);
    CHECK_EQ(plan_compare_last(world, true), GW_EOTHER);
    CHECK(strstr(gw_fail_text(), "collective #20971521 on"));
    receive_numbered(world, 5 * all + 3, 0), receive_numbered(world, 5 * all + 4, 0);
    receive_numbered(world, 5 * all + 1, 0), receive_numbered(world, 5 * all - 2, PLAN_TAG_PERSISTENT);
    CHECK_EQ(plan_compare_last(world, false), GW_OK);
    atomic_store(&world->colls, was);
    plan_call_names = were;
}

/* Collectives in the middle of a call have its number. */
static void calls(void)
{
    uint64_t was = world->colls, entered = boot_slot->n_colls;
    struct plan_args a = {.size = 1}, b = a;
    plan_call_begin(world, PLAN_MAKING, 0);
    plan_enter_as(world, PLAN_CALLS, &a);
    plan_call_begin(world, PLAN_MAKING, 0);
    plan_enter_as(world, PLAN_CALLS, &b);
    plan_call_end(world);
    plan_enter(world, PLAN_MAKING, 0);
    plan_call_end(world);
    CHECK(a.number == was && b.number == was && world->colls == was + 1 && boot_slot->n_colls == entered + 1);
    CHECK(a.sig != b.sig);
    plan_enter_as(world, PLAN_CALLS, &a);
    CHECK(a.number == was + 1 && world->colls == was + 2 && boot_slot->n_colls == entered + 2);
}

int main(void)
{
    ranks_run(3, 3, leaves);
    rooms_up();
    CHECK(type_resized(gw_type_int, -4, 12, &gaps) == GW_OK);
    struct gw_type *t = gaps;
    CHECK(type_struct(1, (struct gw_counts){(int[]){1}, false}, (struct gw_counts){(int64_t[]){4}, true}, &t, &gaps) == GW_OK);
    type_release(t);
    CHECK(type_commit(&gaps) == GW_OK);
    copies();
    published();
    CHECK_EQ(coll_barrier(world, NULL), GW_OK);
    blocking();
    requests();
    stages();
    by_hand();
    numbers();
    calls();
    type_release(gaps);
    CHECK(p2p_is_quiet() && proto_posted() == 0);
    return unit_end();
}
