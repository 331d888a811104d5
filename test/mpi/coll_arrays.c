/* coll_arrays.c -- the arrays of counts, displacements and datatypes of collectives that do not block: overwritten and given back as soon
 * as the call returns, with one rank coming only after that.  The standard has them unchanged until the operation is complete (MPI 4.1,
 * section 6.12), but bindings that make temporary arrays for the call rely on what other libraries do: they copy them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll_check.h"

enum form { NONBLOCKING, NONBLOCKING_C, PERSISTENT, PERSISTENT_C, FORMS };
enum call {
    GATHERV,
    SCATTERV,
    ALLGATHERV,
    ALLTOALLV,
    ALLTOALLV_IN_PLACE,
    ALLTOALLW,
    ALLTOALLW_IN_PLACE,
    REDUCE_SCATTER,
    N_ALLGATHERV,
    N_ALLTOALLV,
    N_ALLTOALLW,
    CALLS
};
static const char *const names[] = {
    "gatherv",           "scatterv",           "allgatherv",     "alltoallv",           "alltoallv in place",
    "alltoallw",         "alltoallw in place", "reduce_scatter", "neighbor_allgatherv", "neighbor_alltoallv",
    "neighbor_alltoallw"};

/* The members of a communicator as ranks of MPI_COMM_WORLD: those that I send to and receive from (the other group, the neighbours), and my
 * own group. */
struct who {
    MPI_Comm c;
    int inter, graph, n_to, n_from, n_own, *to, *from, *own;
};

/* ---- arrays that come and go ---- */
struct arrays {
    int n, *counts, *displs;
    MPI_Count *counts_c;
    MPI_Aint *displs_c;
    MPI_Datatype *types;
};
static long amount(int from, int to, int scale) { return (from * 3 + to * 5) % 7 * (long)scale; }

/* Exactly as long as they must be.  Blocks lie behind each other, with an int between them; unit: of the displacements. */
static struct arrays arrays_new(int n, const long *counts, int unit)
{
    size_t m = (size_t)n;
    struct arrays a = {n,
                       malloc(m * sizeof(int)),
                       malloc(m * sizeof(int)),
                       malloc(m * sizeof(MPI_Count)),
                       malloc(m * sizeof(MPI_Aint)),
                       malloc(m * sizeof(MPI_Datatype))};
    long at = 0;
    for (int i = 0; i < n; i++, at += counts[i - 1] + 1) {
        int bytes = unit == 4; /* alltoallw: one element of a datatype made for it, but for empty ones */
        if (bytes && counts[i]) {
            MPI_Type_contiguous((int)counts[i], MPI_INT, &a.types[i]);
            MPI_Type_commit(&a.types[i]);
        } else {
            a.types[i] = bytes ? MPI_DATATYPE_NULL : MPI_INT;
        }
        a.counts_c[i] = a.counts[i] = bytes ? counts[i] > 0 : (int)counts[i];
        a.displs_c[i] = a.displs[i] = (int)at * unit;
    }
    return a;
}

static void ruin(void *v, size_t bytes)
{
    memset(v, 0x7b, bytes);
    free(v);
}
static void arrays_ruin(struct arrays *a)
{
    size_t m = (size_t)a->n;
    for (int i = 0; i < a->n; i++)
        if (a->types[i] != MPI_INT && a->types[i] != MPI_DATATYPE_NULL) MPI_Type_free(&a->types[i]);
    ruin(a->counts, m * sizeof(int)), ruin(a->displs, m * sizeof(int));
    ruin(a->counts_c, m * sizeof(MPI_Count)), ruin(a->displs_c, m * sizeof(MPI_Aint));
    ruin(a->types, m * sizeof(MPI_Datatype));
}

/* ---- one call ---- */
struct job {
    enum call call;
    enum form form;
    struct who *w;
    int root, is_root; /* as passed; does this rank have the root's arrays? */
    int takes_part;    /* gatherv, scatterv: is there a block that goes out of, or comes to, this rank? */
    long *to_counts, *from_counts, scount, rcount; /* counts of the arrays; of the side with one number */
    struct box in, out;
    MPI_Request q;
};

static long spread(long *counts, const int *ranks, int n, int to_them, int scale)
{
    long all = 0;
    for (int i = 0; i < n; i++) all += (counts[i] = to_them ? amount(rank, ranks[i], scale) : amount(ranks[i], rank, scale)) + 1;
    return all;
}

static struct layout dense(void) { return (struct layout){MPI_INT, 1, 4, 0, 0}; }

static void blocks_put(struct box *b, const int *ranks, int n, const long *counts)
{
    struct layout l = dense();
    long at = 0;
    for (int i = 0; i < n; at += counts[i++] + 1) ints_put(b, &l, at, counts[i], rank, ranks[i]);
}
static void blocks_want(struct box *b, const int *ranks, int n, const long *counts)
{
    struct layout l = dense();
    long at = 0;
    for (int i = 0; i < n; at += counts[i++] + 1) ints_want(b, &l, at, counts[i], ranks[i], rank);
}

/* With the root's rank in MPI_COMM_WORLD. */
static void fill_rooted(struct job *j, int scale)
{
    int root_world = j->w->inter ? 0 : j->w->own[j->root];
    long all = spread(j->to_counts, j->w->to, j->w->n_to, j->call == SCATTERV, scale);
    struct layout l = dense();
    if (j->call == GATHERV) {
        j->scount = amount(rank, root_world, scale);
        j->in = box_new(4 * (j->scount + 1)), j->out = box_new(j->is_root ? 4 * all : 4);
        if (j->takes_part) ints_put(&j->in, &l, 0, j->scount, rank, root_world);
        if (j->is_root) blocks_want(&j->out, j->w->to, j->w->n_to, j->to_counts);
    } else {
        j->rcount = amount(root_world, rank, scale);
        j->in = box_new(j->is_root ? 4 * all : 4), j->out = box_new(4 * (j->rcount + 1));
        if (j->is_root) blocks_put(&j->in, j->w->to, j->w->n_to, j->to_counts);
        if (j->takes_part) ints_want(&j->out, &l, 0, j->rcount, root_world, rank);
    }
}

/* Everybody's vector is as long, and the parts of a group's members make it up. */
static void fill_reduce_scatter(struct job *j, int scale)
{
    long all = 61l * scale, first = 0, mine = 0, before = 0;
    for (int i = 0; i < j->w->n_own; i++, first += j->to_counts[i - 1]) {
        j->to_counts[i] = all / j->w->n_own + (i == 0 ? all % j->w->n_own : 0);
        if (j->w->own[i] == rank) mine = j->to_counts[i], before = first;
    }
    j->in = box_new(4 * all), j->out = box_new(4 * mine + 4);
    for (long i = 0; i < all; i++) box_put(&j->in, 4 * i, &(int){(int)i * 3 + rank}, 4);
    for (long i = 0; i < mine; i++) {
        int sum = 0;
        for (int k = 0; k < j->w->n_from; k++) sum += (int)(before + i) * 3 + j->w->from[k];
        box_want(&j->out, 4 * i, &sum, 4);
    }
}

static int is_gather(const struct job *j) { return j->call == ALLGATHERV || j->call == N_ALLGATHERV; }
static int is_in_place(const struct job *j) { return j->call == ALLTOALLV_IN_PLACE || j->call == ALLTOALLW_IN_PLACE; }

/* Gathers give the same block to all; in place as much goes out to a member as comes from it. */
static long block_from(const struct job *j, int from, int scale)
{
    if (is_gather(j)) return amount(from, 0, scale);
    if (is_in_place(j) && from > rank) return amount(rank, from, scale);
    return amount(from, rank, scale);
}

static void fill_all(struct job *j, int scale)
{
    struct layout l = dense();
    long out = spread(j->to_counts, j->w->to, j->w->n_to, 1, scale), in = 0, at = 0;
    for (int i = 0; i < j->w->n_from; i++) in += (j->from_counts[i] = block_from(j, j->w->from[i], scale)) + 1;
    j->scount = amount(rank, 0, scale);
    j->in = box_new(4 * (is_gather(j) ? j->scount : out) + 4), j->out = box_new(4 * in + 4);
    if (is_gather(j))
        ints_put(&j->in, &l, 0, j->scount, rank, 0);
    else if (is_in_place(j))
        blocks_put(&j->out, j->w->from, j->w->n_from, j->from_counts);
    else
        blocks_put(&j->in, j->w->to, j->w->n_to, j->to_counts);
    for (int i = 0; i < j->w->n_from; at += j->from_counts[i++] + 1)
        ints_want(&j->out, &l, at, j->from_counts[i], j->w->from[i], is_gather(j) ? 0 : rank);
}

/* Each form of one call; the lists are what stands before the info object and the request. */
#define UNPACK(...) __VA_ARGS__
#define PICK(name, persistent, plain, wide)                                                                                        \
    (j->form == NONBLOCKING         ? MPI_I##name(UNPACK plain, &j->q)                                                             \
         : j->form == NONBLOCKING_C ? MPI_I##name##_c(UNPACK wide, &j->q)                                                          \
         : j->form == PERSISTENT    ? MPI_##persistent##_init(UNPACK plain, MPI_INFO_NULL, &j->q)                                  \
                                    : MPI_##persistent##_init_c(UNPACK wide, MPI_INFO_NULL, &j->q))
#define BOTH(name, persistent)                                                                                                     \
    PICK(name, persistent, (s, to->counts, to->displs, MPI_INT, r, from->counts, from->displs, MPI_INT, c),                        \
         (s, to->counts_c, to->displs_c, MPI_INT, r, from->counts_c, from->displs_c, MPI_INT, c))
#define GATHERS(name, persistent)                                                                                                  \
    PICK(name, persistent, (s, ns, MPI_INT, r, from->counts, from->displs, MPI_INT, c),                                            \
         (s, ns, MPI_INT, r, from->counts_c, from->displs_c, MPI_INT, c))

static int call(struct job *j, struct arrays *to, struct arrays *from)
{
    MPI_Comm c = j->w->c;
    void *s = is_in_place(j) ? MPI_IN_PLACE : j->in.is, *r = j->out.is;
    int ns = (int)j->scount, nr = (int)j->rcount;
    switch (j->call) {
    case GATHERV:
        return PICK(gatherv, Gatherv, (s, ns, MPI_INT, r, to->counts, to->displs, MPI_INT, j->root, c),
                    (s, ns, MPI_INT, r, to->counts_c, to->displs_c, MPI_INT, j->root, c));
    case SCATTERV:
        return PICK(scatterv, Scatterv, (s, to->counts, to->displs, MPI_INT, r, nr, MPI_INT, j->root, c),
                    (s, to->counts_c, to->displs_c, MPI_INT, r, nr, MPI_INT, j->root, c));
    case REDUCE_SCATTER:
        return PICK(reduce_scatter, Reduce_scatter, (s, r, to->counts, MPI_INT, MPI_SUM, c),
                    (s, r, to->counts_c, MPI_INT, MPI_SUM, c));
    case ALLGATHERV: return GATHERS(allgatherv, Allgatherv);
    case N_ALLGATHERV: return GATHERS(neighbor_allgatherv, Neighbor_allgatherv);
    case ALLTOALLV:
    case ALLTOALLV_IN_PLACE: return BOTH(alltoallv, Alltoallv);
    case N_ALLTOALLV: return BOTH(neighbor_alltoallv, Neighbor_alltoallv);
    case N_ALLTOALLW:
        return PICK(neighbor_alltoallw, Neighbor_alltoallw,
                    (s, to->counts, to->displs_c, to->types, r, from->counts, from->displs_c, from->types, c),
                    (s, to->counts_c, to->displs_c, to->types, r, from->counts_c, from->displs_c, from->types, c));
    default:
        return PICK(alltoallw, Alltoallw, (s, to->counts, to->displs, to->types, r, from->counts, from->displs, from->types, c),
                    (s, to->counts_c, to->displs_c, to->types, r, from->counts_c, from->displs_c, from->types, c));
    }
}

/* One rank comes when all others are through, so none of theirs that needs it can be complete. */
static void let_others_go_first(int late)
{
    for (int i = 0; rank == late && i < size; i++)
        if (i != late) MPI_Recv(NULL, 0, MPI_BYTE, i, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void tell_the_late(int late)
{
    if (rank != late) MPI_Send(NULL, 0, MPI_BYTE, late, 77, MPI_COMM_WORLD);
}

static void one(struct who *w, enum call kind, enum form form, int scale, int turn)
{
    struct job j = {.call = kind, .form = form, .w = w, .q = MPI_REQUEST_NULL};
    int late = turn % size, rooted = kind == GATHERV || kind == SCATTERV, starts = form >= PERSISTENT ? 3 : 1;
    j.to_counts = calloc((size_t)size + 4, sizeof(long)), j.from_counts = calloc((size_t)size + 4, sizeof(long));
    j.root = !rooted ? 0 : w->inter ? (rank == 0 ? MPI_ROOT : rank % 2 == 0 ? MPI_PROC_NULL : 0) : turn % w->n_own;
    j.is_root = rooted && (w->inter ? rank == 0 : w->own[j.root] == rank);
    j.takes_part = !w->inter || rank % 2;
    if (rooted)
        fill_rooted(&j, scale);
    else if (kind == REDUCE_SCATTER)
        fill_reduce_scatter(&j, scale);
    else
        fill_all(&j, scale);
    int unit = kind == ALLTOALLW || kind == ALLTOALLW_IN_PLACE || kind == N_ALLTOALLW ? 4 : 1;
    int n_to = rooted && !j.is_root ? 0 : kind == REDUCE_SCATTER ? w->n_own : w->n_to;
    struct arrays to = arrays_new(n_to, j.to_counts, unit), from = arrays_new(w->n_from, j.from_counts, unit);
    if (form < PERSISTENT) let_others_go_first(late);
    CHECK_EQ(call(&j, &to, &from), MPI_SUCCESS);
    arrays_ruin(&to), arrays_ruin(&from);
    if (form < PERSISTENT) tell_the_late(late);
    for (int i = 0; i < starts; i++) {
        if (form >= PERSISTENT) {
            let_others_go_first(late);
            CHECK_EQ(MPI_Start(&j.q), MPI_SUCCESS);
            tell_the_late(late);
        }
        CHECK_EQ(MPI_Wait(&j.q, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    if (form >= PERSISTENT) CHECK_EQ(MPI_Request_free(&j.q), MPI_SUCCESS);
    char what[200];
    snprintf(what, sizeof what, "%s, form %d, scale %d%s", names[kind], form, scale, w->inter ? ", two groups" : "");
    box_check(&j.out, what);
    free(j.in.mem), free(j.in.want - GUARD);
    free(j.to_counts), free(j.from_counts);
}

/* ---- communicators ---- */
static void each(struct who *w)
{
    static const int scales[] = {0, 1, 40, 3000};
    static int turn;
    for (int kind = w->graph ? N_ALLGATHERV : 0; kind < (w->graph ? CALLS : N_ALLGATHERV); kind++)
        for (int form = 0; form < FORMS; form++)
            for (int k = 0; k < 4; k++) {
                if (w->inter && (kind == ALLTOALLV_IN_PLACE || kind == ALLTOALLW_IN_PLACE)) continue;
                one(w, kind, form, scales[k], turn++);
            }
}

static void all_in_one(void)
{
    int *ranks = malloc((size_t)size * sizeof *ranks);
    for (int i = 0; i < size; i++) ranks[i] = i;
    struct who w = {MPI_COMM_WORLD, 0, 0, size, size, size, ranks, ranks, ranks};
    each(&w);
    free(ranks);
}

/* Even ranks and odd ones. */
static void two_groups(void)
{
    if (size < 2) return;
    MPI_Comm half, both;
    int *mine = malloc((size_t)size * sizeof *mine), *theirs = malloc((size_t)size * sizeof *theirs), n_mine = 0, n_theirs = 0;
    for (int i = 0; i < size; i++) *(i % 2 == rank % 2 ? &mine[n_mine++] : &theirs[n_theirs++]) = i;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both);
    struct who w = {both, 1, 0, n_theirs, n_theirs, n_mine, theirs, theirs, mine};
    each(&w);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    free(mine), free(theirs);
}

/* To the next two, and to rank 0, which so has more than others: from all. */
static void neighbors(void)
{
    int to[3] = {(rank + 1) % size, (rank + 2) % size, 0}, n = 0;
    int *from = malloc((size_t)(size + 4) * sizeof *from);
    from[n++] = (rank + size - 1) % size, from[n++] = (rank + 2 * size - 2) % size;
    for (int i = 0; rank == 0 && i < size; i++) from[n++] = i;
    MPI_Comm c;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, from, MPI_UNWEIGHTED, 3, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
    struct who w = {c, 0, 1, 3, n, 0, to, from, NULL};
    each(&w);
    MPI_Comm_free(&c);
    free(from);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    all_in_one();
    two_groups();
    neighbors();
    return test_end();
}
