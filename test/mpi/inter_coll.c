/* inter_coll.c -- collectives between two groups, blocking, non-blocking and persistent: every kind with data, gaps in datatypes,
 * sizes that differ by direction, roots in turn on both sides.  args: "clockless" (the ranks' clocks are not one), a seed,
 * which chooses a part.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll_check.h"
#include "inter_check.h"

enum how { BLOCKING, STARTED, PREPARED, HOWS };
static enum how how; /* of the calls below */
static MPI_Request pending;
static int starts;

/* One collective in the form of the day; prepared ones run twice. */
#define CALL(name, ...)                                                                                                            \
    do {                                                                                                                           \
        if (how == BLOCKING) CHECK_EQ(MPI_##name(__VA_ARGS__), MPI_SUCCESS);                                                       \
        if (how == STARTED) CHECK_EQ(MPI_I##name(__VA_ARGS__, &pending), MPI_SUCCESS);                                             \
        if (how == PREPARED) CHECK_EQ(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &pending), MPI_SUCCESS);                       \
        finish();                                                                                                                  \
    } while (0)
#define MPI_IBcast                MPI_Ibcast
#define MPI_IGather               MPI_Igather
#define MPI_IGatherv              MPI_Igatherv
#define MPI_IScatter              MPI_Iscatter
#define MPI_IScatterv             MPI_Iscatterv
#define MPI_IAllgather            MPI_Iallgather
#define MPI_IAllgatherv           MPI_Iallgatherv
#define MPI_IAlltoall             MPI_Ialltoall
#define MPI_IAlltoallv            MPI_Ialltoallv
#define MPI_IAlltoallw            MPI_Ialltoallw
#define MPI_IReduce               MPI_Ireduce
#define MPI_IAllreduce            MPI_Iallreduce
#define MPI_IReduce_scatter       MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block

static void finish(void)
{
    if (how == BLOCKING) return;
    for (int i = 0; i < (how == PREPARED ? 2 : 1); i++) {
        if (how == PREPARED) CHECK_EQ(MPI_Start(&pending), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&pending, MPI_STATUS_IGNORE), MPI_SUCCESS);
        starts++;
    }
    if (how == PREPARED) MPI_Request_free(&pending);
}

/* What a rank says as root: side `side`'s rank `r` is it. */
static int root_word(const struct sides *s, int side, int r) { return s->side != side ? r : s->me == r ? MPI_ROOT : MPI_PROC_NULL; }
/* Elements that travel from this side to the other: not the same both ways. */
static int amount(int from_side, int n) { return from_side ? n : n / 2; }

static int is_clockless;
static int part = -1; /* a number behind "clockless": only one size, form and shape */

static void barriers(MPI_Comm c, const struct sides *s)
{
    double entered = test_now(), left;
    MPI_Request q;
    if (how == BLOCKING) CHECK_EQ(MPI_Barrier(c), MPI_SUCCESS);
    if (how == STARTED) CHECK_EQ(MPI_Ibarrier(c, &q), MPI_SUCCESS);
    if (how == PREPARED) {
        CHECK_EQ(MPI_Barrier_init(c, MPI_INFO_NULL, &q), MPI_SUCCESS);
        MPI_Start(&q);
    }
    if (how != BLOCKING) MPI_Wait(&q, MPI_STATUS_IGNORE);
    if (how == PREPARED) MPI_Request_free(&q);
    left = test_now();
    /* Nobody gets out before everybody on the other side has come in. */
    MPI_Request *said = calloc((size_t)s->nr, sizeof *said);
    for (int i = 0; i < s->nr; i++) MPI_Isend(&entered, 1, MPI_DOUBLE, i, 50, c, &said[i]);
    for (int i = 0; i < s->nr; i++) {
        double theirs = 0;
        MPI_Recv(&theirs, 1, MPI_DOUBLE, i, 50, c, MPI_STATUS_IGNORE);
        CHECK(is_clockless || (theirs > 0 && theirs <= left));
    }
    MPI_Waitall(s->nr, said, MPI_STATUSES_IGNORE);
    free(said);
}

static void bcasts(MPI_Comm c, const struct sides *s, int side, int r, int n, enum layout_kind kind)
{
    struct layout l = layout_new(kind, n);
    int root = root_word(s, side, r), at_root = root == MPI_ROOT;
    struct box b = box_new(layout_bytes(&l, n));
    if (at_root) ints_put(&b, &l, 0, n, r, 0);
    if (root >= 0) ints_want(&b, &l, 0, n, r, 0);
    if (root == MPI_PROC_NULL) /* nothing else is looked at */
        CALL(Bcast, NULL, -5, MPI_DATATYPE_NULL, root, c);
    else
        CALL(Bcast, b.is, n / (int)l.per, l.type, root, c);
    box_check(&b, "bcast");
    MPI_Type_free(&l.type);
}

static void gathers(MPI_Comm c, const struct sides *s, int side, int r, int n, enum layout_kind kind, int vector)
{
    struct layout l = layout_new(kind, n);
    int root = root_word(s, side, r), counts[64], displs[64], places = 0;
    int others = s->n[!side];               /* the senders */
    for (int i = others - 1; i >= 0; i--) { /* v: blocks of different sizes in reverse, with holes */
        counts[i] = vector ? i % 3 * n / (int)l.per : n / (int)l.per;
        displs[i] = places;
        places += counts[i] + vector;
    }
    struct box out = box_new(layout_bytes(&l, n * 3)),
               in = box_new(layout_bytes(&l, (long)(places + n + 1) * l.per * (others + 1)));
    int mine = root >= 0 ? counts[s->me] : 0;
    if (root >= 0) ints_put(&out, &l, 0, mine * l.per, s->me, 0);
    for (int i = 0; root == MPI_ROOT && i < others; i++)
        ints_want(&in, &l, (vector ? displs[i] : i * counts[i]) * l.per, counts[i] * l.per, i, 0);
    if (vector && root == MPI_ROOT)
        CALL(Gatherv, NULL, -1, MPI_DATATYPE_NULL, in.is, counts, displs, l.type, root, c);
    else if (vector)
        CALL(Gatherv, out.is, mine, l.type, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, c);
    else if (root == MPI_ROOT)
        CALL(Gather, NULL, -1, MPI_DATATYPE_NULL, in.is, counts[0], l.type, root, c);
    else if (root == MPI_PROC_NULL)
        CALL(Gather, NULL, -1, MPI_DATATYPE_NULL, NULL, -1, MPI_DATATYPE_NULL, root, c);
    else
        CALL(Gather, out.is, mine, l.type, NULL, -1, MPI_DATATYPE_NULL, root, c);
    box_check(&out, "gather, from");
    box_check(&in, "gather, to");
    MPI_Type_free(&l.type);
}

static void scatters(MPI_Comm c, const struct sides *s, int side, int r, int n, enum layout_kind kind, int vector)
{
    struct layout l = layout_new(kind, n);
    int root = root_word(s, side, r), counts[64], displs[64], places = 0, others = s->n[!side];
    for (int i = others - 1; i >= 0; i--) {
        counts[i] = vector ? i % 3 * n / (int)l.per : n / (int)l.per;
        displs[i] = places;
        places += counts[i] + vector;
    }
    struct box in = box_new(layout_bytes(&l, n * 3)),
               out = box_new(layout_bytes(&l, (long)(places + n + 1) * l.per * (others + 1)));
    int mine = root >= 0 ? counts[s->me] : 0;
    if (root >= 0) ints_want(&in, &l, 0, mine * l.per, r, s->me);
    for (int i = 0; root == MPI_ROOT && i < others; i++)
        ints_put(&out, &l, (vector ? displs[i] : i * counts[i]) * l.per, counts[i] * l.per, r, i);
    if (vector && root == MPI_ROOT)
        CALL(Scatterv, out.is, counts, displs, l.type, NULL, n % 2 ? -1 : 5, MPI_DATATYPE_NULL, root, c);
    else if (vector)
        CALL(Scatterv, NULL, NULL, NULL, MPI_DATATYPE_NULL, in.is, mine, l.type, root, c);
    else if (root == MPI_ROOT)
        CALL(Scatter, out.is, counts[0], l.type, NULL, n % 2 ? -1 : 5, MPI_DATATYPE_NULL, root, c);
    else
        CALL(Scatter, NULL, -1, MPI_DATATYPE_NULL, in.is, mine, l.type, root, c);
    box_check(&out, "scatter, from");
    box_check(&in, "scatter, to");
    MPI_Type_free(&l.type);
}

static void allgathers(MPI_Comm c, const struct sides *s, int n, enum layout_kind kind, int vector)
{
    struct layout l = layout_new(kind, n);
    int gives = amount(s->side, n) / (int)l.per, takes = amount(!s->side, n) / (int)l.per;
    int counts[64], displs[64], places = 0;
    for (int i = s->nr - 1; i >= 0; i--) {
        counts[i] = vector ? i % 2 * takes : takes;
        displs[i] = places;
        places += counts[i] + vector;
    }
    if (vector) gives = s->me % 2 * gives;
    struct box out = box_new(layout_bytes(&l, gives * l.per)), in = box_new(layout_bytes(&l, (long)places * l.per));
    ints_put(&out, &l, 0, gives * l.per, s->me, s->side);
    for (int i = 0; i < s->nr; i++) ints_want(&in, &l, (vector ? displs[i] : i * takes) * l.per, counts[i] * l.per, i, !s->side);
    if (vector)
        CALL(Allgatherv, out.is, gives, l.type, in.is, counts, displs, l.type, c);
    else
        CALL(Allgather, out.is, gives, l.type, in.is, takes, l.type, c);
    box_check(&out, "allgather, from");
    box_check(&in, "allgather, to");
    MPI_Type_free(&l.type);
}

/* What side `side`'s rank i has for rank j over there, in items. */
static int share(int side, int i, int j, int n) { return (i + 2 * j + side) % 4 * n; }

static void alltoalls(MPI_Comm c, const struct sides *s, int n, enum layout_kind kind, int form)
{
    struct layout l = layout_new(kind, n);
    int gives = amount(s->side, n) / (int)l.per, takes = amount(!s->side, n) / (int)l.per, items = n / (int)l.per;
    int sc[64], sd[64], rc[64], rd[64], sends = 0, recvs = 0;
    MPI_Datatype types[64];
    for (int i = s->nr - 1; i >= 0; i--) {
        sc[i] = form ? share(s->side, s->me, i, items) : gives;
        rc[i] = form ? share(!s->side, i, s->me, items) : takes;
        sd[i] = form ? sends : i * gives;
        rd[i] = form ? recvs : i * takes;
        sends += sc[i] + (form ? i % 2 : 0);
        recvs += rc[i] + (form ? i % 2 : 0);
        types[i] = l.type;
    }
    struct box out = box_new(layout_bytes(&l, (long)sends * l.per)), in = box_new(layout_bytes(&l, (long)recvs * l.per));
    for (int i = 0; i < s->nr; i++) {
        ints_put(&out, &l, sd[i] * l.per, sc[i] * l.per, s->me + 50 * s->side, i);
        ints_want(&in, &l, rd[i] * l.per, rc[i] * l.per, i + 50 * !s->side, s->me);
    }
    if (form == 2) { /* w: places in bytes; a datatype that nothing is sent of may be anything */
        for (int i = 0; i < s->nr; i++) sd[i] *= (int)l.extent, rd[i] *= (int)l.extent;
        CALL(Alltoallw, out.is, sc, sd, types, in.is, rc, rd, types, c);
    } else if (form == 1) {
        CALL(Alltoallv, out.is, sc, sd, l.type, in.is, rc, rd, l.type, c);
    } else {
        CALL(Alltoall, out.is, gives, l.type, in.is, takes, l.type, c);
    }
    box_check(&out, "alltoall, from");
    box_check(&in, "alltoall, to");
    MPI_Type_free(&l.type);
}

/* ---- reductions: x -> a x + b composed, which does not commute, on pairs of ints; and sums --------------------------------------- */
static void compose(void *in, void *inout, int *n, MPI_Datatype *t)
{
    unsigned *f = in, *g = inout;
    (void)t;
    for (int i = 0; i < *n; i++, f += 2, g += 2) {
        unsigned a = f[0] * g[0], b = f[0] * g[1] + f[1];
        g[0] = a, g[1] = b;
    }
}
static unsigned scale_of(int from, long i) { return (unsigned)from * 6u + (unsigned)i * 4u + 3u; }
static unsigned shift_of(int from, long i) { return (unsigned)from * 31u + (unsigned)i * 7u + 1u; }

static void operand_put(struct box *b, int user, int n, int from)
{
    for (long i = 0; i < n; i++) {
        unsigned v[2] = {scale_of(from, i), shift_of(from, i)};
        box_put(b, i * (user ? 8 : 4), v, user ? 8 : 4);
    }
}
/* Elements [first, first + n) of what n_from ranks, from rank 0 + offset on, join. */
static void result_want(struct box *b, int user, int first, int n, int n_from, int offset)
{
    for (long i = 0; i < n; i++) {
        unsigned v[2] = {scale_of(offset, first + i), shift_of(offset, first + i)};
        for (int r = 1; r < n_from; r++) {
            unsigned a = scale_of(r + offset, first + i), s = shift_of(r + offset, first + i);
            if (user)
                v[1] = v[0] * s + v[1], v[0] *= a;
            else
                v[0] += a;
        }
        box_want(b, i * (user ? 8 : 4), v, user ? 8 : 4);
    }
}

struct reduction {
    MPI_Datatype type;
    MPI_Op op;
    int user;
};

static void reduces(MPI_Comm c, const struct sides *s, int side, int r, int n, const struct reduction *k)
{
    int root = root_word(s, side, r), bytes = n * (k->user ? 8 : 4);
    struct box out = box_new(bytes), in = box_new(bytes);
    operand_put(&out, k->user, n, s->me);
    if (root == MPI_ROOT) result_want(&in, k->user, 0, n, s->nr, 0);
    if (root == MPI_ROOT)
        CALL(Reduce, NULL, in.is, n, k->type, k->op, root, c);
    else if (root == MPI_PROC_NULL)
        CALL(Reduce, NULL, NULL, -3, MPI_DATATYPE_NULL, MPI_OP_NULL, root, c);
    else
        CALL(Reduce, out.is, NULL, n, k->type, k->op, root, c);
    box_check(&out, "reduce, from");
    box_check(&in, "reduce, to");
}

static void reduce_alls(MPI_Comm c, const struct sides *s, int n, const struct reduction *k)
{
    int bytes = n * (k->user ? 8 : 4);
    struct box out = box_new(bytes), in = box_new(bytes);
    operand_put(&out, k->user, n, s->me + 20 * s->side);
    result_want(&in, k->user, 0, n, s->nr, 20 * !s->side);
    CALL(Allreduce, out.is, in.is, n, k->type, k->op, c);
    box_check(&out, "allreduce, from");
    box_check(&in, "allreduce, to");
}

/* The whole vector has nl * nr * n elements, so that it can be dealt out evenly on both sides; unevenly: all to one and none to the
 * next. */
static void reduce_scatters(MPI_Comm c, const struct sides *s, int n, const struct reduction *k, int block)
{
    int whole = s->nl * s->nr * n, counts[64], first = 0, size_of = k->user ? 8 : 4, left = whole;
    for (int i = 0; i < s->nl; i++) {
        counts[i] = block ? s->nr * n : i == s->nl - 1 ? left : i % 2 ? 0 : left / 2;
        left -= counts[i];
        if (i < s->me) first += counts[i];
    }
    struct box out = box_new((long)whole * size_of), in = box_new((long)counts[s->me] * size_of);
    operand_put(&out, k->user, whole, s->me + 20 * s->side);
    result_want(&in, k->user, first, counts[s->me], s->nr, 20 * !s->side);
    if (block)
        CALL(Reduce_scatter_block, out.is, in.is, counts[0], k->type, k->op, c);
    else
        CALL(Reduce_scatter, out.is, in.is, counts, k->type, k->op, c);
    box_check(&out, "reduce_scatter, from");
    box_check(&in, "reduce_scatter, to");
}

static void all_kinds(MPI_Comm c, const struct sides *s, const struct reduction *reductions)
{
    static const int sizes[] = {0, 4, 1200, 40000};
    for (int k = 0; k < 4; k++) {
        if (part >= 0 && part % 4 != k) continue;
        int n = sizes[k];
        enum layout_kind kind = k == 3 ? DENSE : (enum layout_kind)((k + (int)how) % (LAYOUTS - 1));
        barriers(c, s);
        for (int side = 0; side < 2; side++)
            for (int r = 0; r < s->n[side]; r += 1 + k) {
                bcasts(c, s, side, r, n, kind);
                if (k == 3) continue;
                gathers(c, s, side, r, n, kind, k % 2);
                scatters(c, s, side, r, n, kind, k % 2);
                gathers(c, s, side, r, 8, kind, 1 - k % 2);
                scatters(c, s, side, r, 8, kind, 1 - k % 2);
                reduces(c, s, side, r, n, &reductions[r % 2]);
            }
        if (k == 3) n = 4000;
        for (int form = 0; form < 3; form++) alltoalls(c, s, n, kind, form);
        for (int v = 0; v < 2; v++) allgathers(c, s, n, kind, v);
        for (int v = 0; v < 2; v++) reduce_alls(c, s, n, &reductions[v]);
        for (int v = 0; v < 4; v++) reduce_scatters(c, s, n > 100 ? 100 : n, &reductions[v % 2], v / 2);
    }
}

/* Many at once on the intercommunicator, with others on the local group and on a merged one between. */
static void mixed(MPI_Comm c, MPI_Comm local, const struct sides *s)
{
    enum { MANY = 24 };
    MPI_Request q[MANY];
    MPI_Comm both;
    int in[MANY][4], out[MANY][4], roots[MANY], sum = 0, want = 0, n;
    MPI_Intercomm_merge(c, s->side, &both);
    MPI_Comm_size(both, &n);
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < 4; k++) out[i][k] = rank * 100 + i * 10 + k, in[i][k] = -1;
        if (i % 3 == 0)
            MPI_Iallreduce(out[i], in[i], 4, MPI_INT, MPI_SUM, c, &q[i]);
        else if (i % 3 == 1) /* from the first of side 0, or the last of side 1 */
            roots[i] = i % 2 ? root_word(s, 0, 0) : root_word(s, 1, s->n[1] - 1),
            MPI_Ibcast(roots[i] == MPI_ROOT ? out[i] : in[i], 4, MPI_INT, roots[i], c, &q[i]);
        else
            MPI_Iallreduce(out[i], in[i], 4, MPI_INT, MPI_SUM, local, &q[i]);
        if (i == MANY / 2) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both);
    }
    MPI_Waitall(MANY, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < s->nl; i++) want += s->mine[i];
    for (int i = 0; i < s->nr; i++) want += s->theirs[i];
    CHECK_EQ(sum, want);
    for (int i = 0; i < MANY; i++) {
        const int *from = i % 3 == 0 ? s->theirs : s->mine;
        int n_from = i % 3 == 0 ? s->nr : s->nl;
        for (int k = 0; k < 4; k++) {
            int value = 0;
            for (int r = 0; r < n_from; r++) value += from[r] * 100 + i * 10 + k;
            if (i % 3 == 1) value = roots[i] < 0 ? -1 : s->theirs[roots[i]] * 100 + i * 10 + k;
            CHECK_EQ(in[i][k], value);
        }
    }
    MPI_Comm_free(&both);
}

static int class_of(int rc)
{
    int class = -1;
    MPI_Error_class(rc, &class);
    return class;
}

static void errors(MPI_Comm c, MPI_Comm local, const struct sides *s)
{
    int in[256] = {0}, out[256] = {0}, ones[64], places[64];
    MPI_Request q;
    for (int i = 0; i < 64; i++) ones[i] = 1, places[i] = i;
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
    CHECK_EQ(class_of(MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, c)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, c)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Iscan(out, in, 1, MPI_INT, MPI_SUM, c, &q)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Bcast(in, 1, MPI_INT, s->nr, c)), MPI_ERR_ROOT);
    CHECK_EQ(class_of(MPI_Bcast(in, 1, MPI_INT, -77, c)), MPI_ERR_ROOT);
    CHECK_EQ(class_of(MPI_Bcast(in, 1, MPI_INT, MPI_ROOT, local)), MPI_ERR_ROOT);
    CHECK_EQ(class_of(MPI_Bcast(in, 1, MPI_INT, MPI_PROC_NULL, local)), MPI_ERR_ROOT);
    CHECK_EQ(class_of(MPI_Bcast(in, -1, MPI_INT, MPI_ROOT, c)), MPI_ERR_COUNT);
    CHECK_EQ(class_of(MPI_Gather(out, 1, MPI_INT, in, -1, MPI_INT, MPI_ROOT, c)), MPI_ERR_COUNT);
    CHECK_EQ(class_of(MPI_Gather(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, 0, c)), MPI_ERR_TYPE);
    CHECK_EQ(class_of(MPI_Reduce(out, in, 1, MPI_INT, MPI_OP_NULL, 0, c)), MPI_ERR_OP);
    CHECK_EQ(class_of(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, 0, c)), MPI_ERR_BUFFER);
    CHECK_EQ(class_of(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, c)), MPI_ERR_BUFFER);
    CHECK_EQ(class_of(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, c)), MPI_ERR_BUFFER);
    CHECK_EQ(class_of(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, in, ones, places, MPI_INT, c)), MPI_ERR_BUFFER);
    CHECK_EQ(class_of(MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, c)), MPI_ERR_BUFFER);
    CHECK_EQ(class_of(MPI_Reduce(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, 0, c)), MPI_ERR_BUFFER);
    int none[64] = {0}; /* as many of both groups in all */
    CHECK_EQ(class_of(MPI_Reduce_scatter(MPI_IN_PLACE, in, none, MPI_INT, MPI_SUM, c)), MPI_ERR_BUFFER);
    out[0] = rank;
    CHECK_EQ(MPI_Allreduce(out, in, 1, MPI_INT, MPI_MAX, c), MPI_SUCCESS); /* it still works */
    int most = 0;
    for (int i = 0; i < s->nr; i++) most = s->theirs[i] > most ? s->theirs[i] : most;
    CHECK_EQ(in[0], most);
}

static void on_shape(int shape, const struct reduction *reductions)
{
    struct sides s;
    MPI_Comm local, c;
    if (!sides_of(&s, shape)) return;
    c = sides_open(&s, shape, &local);
    if (s.side < 0) return;
    for (how = BLOCKING; how < HOWS; how++)
        if (part < 0 || part / 4 % HOWS == (int)how) all_kinds(c, &s, reductions);
    mixed(c, local, &s);
    errors(c, local, &s);
    MPI_Comm_free(&local);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    struct reduction reductions[2] = {{MPI_UNSIGNED, MPI_SUM, 0}, {.user = 1}};
    is_clockless = argc > 1 && !strcmp(argv[1], "clockless");
    if (argc > 2) part = atoi(argv[2]) % (4 * HOWS * SHAPES);
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Type_contiguous(2, MPI_UNSIGNED, &reductions[1].type);
    MPI_Type_commit(&reductions[1].type);
    MPI_Op_create(compose, 0, &reductions[1].op);
    for (int shape = 0; shape < SHAPES; shape++)
        if (part < 0 || part / 4 / HOWS % SHAPES == shape) on_shape(shape, reductions);
    MPI_Op_free(&reductions[1].op);
    MPI_Type_free(&reductions[1].type);
    return test_end();
}
