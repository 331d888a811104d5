/* inter.c -- intercommunicators: groups, messages in every form, dup, split, create, merge, errors.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "inter_check.h"

static int class_of(int rc)
{
    int class = -1;
    MPI_Error_class(rc, &class);
    return class;
}

/* ---- messages ------------------------------------------------------------------------------------------------------------ */
typedef int send_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);
static void blocking_sends(MPI_Comm c, const struct sides *s)
{
    static send_fn *const how[] = {MPI_Send, MPI_Ssend, MPI_Bsend};
    unsigned char out[300], in[300];
    static char room[64 * (300 + MPI_BSEND_OVERHEAD)];
    void *back;
    int bytes;
    MPI_Buffer_attach(room, sizeof room);
    for (int k = 0; k < 3; k++)
        for (int from_side = 0; from_side < 2; from_side++)
            for (int i = 0; i < s->n[from_side]; i++)
                for (int j = 0; j < s->n[!from_side]; j++) {
                    int n = 1 + (i * 7 + j * 13) % 300, tag = i * 4 + k;
                    unsigned seed = (unsigned)(k * 10000 + i * 100 + j);
                    if (s->side == from_side && s->me == i) {
                        pattern_fill(out, n, seed);
                        CHECK_EQ(how[k](out, n, MPI_BYTE, j, tag, c), MPI_SUCCESS);
                    }
                    if (s->side != from_side && s->me == j) {
                        MPI_Status st;
                        CHECK_EQ(MPI_Recv(in, sizeof in, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : i, i % 2 ? tag : MPI_ANY_TAG, c, &st),
                                 MPI_SUCCESS);
                        CHECK_EQ(pattern_wrong(in, n, seed), -1);
                        CHECK(st.MPI_SOURCE == i && st.MPI_TAG == tag && count_of(&st) == n);
                    }
                }
    MPI_Buffer_detach(&back, &bytes);
}

/* Everybody to everybody on the other side, in sizes that go every way. */
static void floods(MPI_Comm c, const struct sides *s)
{
    static const int sizes[] = {0, 8, 900, 20000, 300000};
    for (int k = 0; k < 5; k++) {
        int n = sizes[k];
        unsigned char *out = malloc((size_t)n * (size_t)s->nr + 1), *in = malloc((size_t)n * (size_t)s->nr + 1);
        MPI_Request q[128];
        for (int i = 0; i < s->nr; i++) {
            int how = (s->me + i) % 2;
            pattern_fill(out + (long)i * n, n, (unsigned)(rank * 64 + s->theirs[i]));
            CHECK_EQ(MPI_Irecv(in + (long)i * n, n, MPI_BYTE, i, k, c, &q[i]), MPI_SUCCESS);
            CHECK_EQ((how ? MPI_Isend : MPI_Issend)(out + (long)i * n, n, MPI_BYTE, i, k, c, &q[s->nr + i]), MPI_SUCCESS);
        }
        CHECK_EQ(MPI_Waitall(2 * s->nr, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        for (int i = 0; i < s->nr; i++) CHECK_EQ(pattern_wrong(in + (long)i * n, n, (unsigned)(s->theirs[i] * 64 + rank)), -1);
        free(in);
        free(out);
    }
}

static void any_source(MPI_Comm c, const struct sides *s)
{
    int out = rank, seen[64] = {0};
    MPI_Request q[64];
    for (int i = 0; i < s->nr; i++) MPI_Isend(&out, 1, MPI_INT, i, 17, c, &q[i]);
    for (int i = 0; i < s->nr; i++) {
        int got = -1, flag = 0;
        MPI_Status st;
        MPI_Message msg;
        switch (i % 4) {
        case 0: CHECK_EQ(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 17, c, &st), MPI_SUCCESS); break;
        case 1:
            CHECK_EQ(MPI_Probe(MPI_ANY_SOURCE, 17, c, &st), MPI_SUCCESS);
            CHECK_EQ(st.MPI_TAG, 17);
            CHECK_EQ(MPI_Recv(&got, 1, MPI_INT, st.MPI_SOURCE, 17, c, &st), MPI_SUCCESS);
            break;
        case 2:
            while (!flag) CHECK_EQ(MPI_Iprobe(MPI_ANY_SOURCE, 17, c, &flag, &st), MPI_SUCCESS);
            CHECK_EQ(MPI_Recv(&got, 1, MPI_INT, st.MPI_SOURCE, MPI_ANY_TAG, c, &st), MPI_SUCCESS);
            break;
        default:
            CHECK_EQ(MPI_Mprobe(MPI_ANY_SOURCE, 17, c, &msg, &st), MPI_SUCCESS);
            CHECK_EQ(MPI_Mrecv(&got, 1, MPI_INT, &msg, &st), MPI_SUCCESS);
        }
        CHECK(st.MPI_SOURCE >= 0 && st.MPI_SOURCE < s->nr);
        if (st.MPI_SOURCE < 0 || st.MPI_SOURCE >= s->nr) continue;
        CHECK_EQ(got, s->theirs[st.MPI_SOURCE]);
        CHECK_EQ(seen[st.MPI_SOURCE]++, 0);
    }
    MPI_Waitall(s->nr, q, MPI_STATUSES_IGNORE);
}

static void persistent(MPI_Comm c, const struct sides *s)
{
    int out[64], in[64];
    MPI_Request q[128];
    for (int i = 0; i < s->nr; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, i, 5, c, &q[i]);
        (i % 2 ? MPI_Send_init : MPI_Ssend_init)(&out[i], 1, MPI_INT, i, 5, c, &q[s->nr + i]);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < s->nr; i++) out[i] = rank * 100 + s->theirs[i] + round * 10000, in[i] = -1;
        CHECK_EQ(MPI_Startall(2 * s->nr, q), MPI_SUCCESS);
        CHECK_EQ(MPI_Waitall(2 * s->nr, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        for (int i = 0; i < s->nr; i++) CHECK_EQ(in[i], s->theirs[i] * 100 + rank + round * 10000);
    }
    for (int i = 0; i < 2 * s->nr; i++) MPI_Request_free(&q[i]);
}

/* From everybody to everybody on the other side, a partition each for three threads that are not there. */
static void partitioned(MPI_Comm c, const struct sides *s)
{
    enum { PARTS = 3, EACH = 50 };
    static int out[64][PARTS * EACH], in[64][PARTS * EACH];
    MPI_Request q[128];
    for (int i = 0; i < s->nr; i++) {
        CHECK_EQ(MPI_Precv_init(in[i], PARTS, EACH, MPI_INT, i, 11, c, MPI_INFO_NULL, &q[i]), MPI_SUCCESS);
        CHECK_EQ(MPI_Psend_init(out[i], PARTS, EACH, MPI_INT, i, 11, c, MPI_INFO_NULL, &q[s->nr + i]), MPI_SUCCESS);
    }
    for (int round = 0; round < 2; round++) {
        memset(in, 0, sizeof in);
        MPI_Startall(2 * s->nr, q);
        for (int i = 0; i < s->nr; i++)
            for (int p = PARTS - 1; p >= 0; p--) {
                for (int k = 0; k < EACH; k++) out[i][p * EACH + k] = rank * 10000 + s->theirs[i] * 100 + p * EACH + k + round;
                CHECK_EQ(MPI_Pready(p, q[s->nr + i]), MPI_SUCCESS);
            }
        CHECK_EQ(MPI_Waitall(2 * s->nr, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        int wrong = 0;
        for (int i = 0; i < s->nr; i++)
            for (int k = 0; k < PARTS * EACH; k++) wrong += in[i][k] != s->theirs[i] * 10000 + rank * 100 + k + round;
        CHECK_EQ(wrong, 0);
    }
    for (int i = 0; i < 2 * s->nr; i++) MPI_Request_free(&q[i]);
}

/* Pairs of equal rank; a rank without a partner exchanges nothing. */
static void sendrecvs(MPI_Comm c, const struct sides *s)
{
    int to = s->me < s->nr ? s->me : MPI_PROC_NULL, out = rank + 500, got = -1, v = rank;
    MPI_Status st;
    MPI_Request q;
    CHECK_EQ(MPI_Sendrecv(&out, 1, MPI_INT, to, 3, &got, 1, MPI_INT, to, 3, c, &st), MPI_SUCCESS);
    CHECK_EQ(st.MPI_SOURCE, to);
    if (to >= 0) CHECK_EQ(got, s->theirs[to] + 500);
    CHECK_EQ(MPI_Sendrecv_replace(&v, 1, MPI_INT, to, 4, to, 4, c, &st), MPI_SUCCESS);
    CHECK_EQ(v, to >= 0 ? s->theirs[to] : rank);
    got = -1;
    CHECK_EQ(MPI_Isendrecv(&out, 1, MPI_INT, to, 6, &got, 1, MPI_INT, to, 6, c, &q), MPI_SUCCESS);
    MPI_Wait(&q, &st);
    if (to >= 0) CHECK(got == s->theirs[to] + 500 && st.MPI_SOURCE == to);
}

/* Equal tags and ranks on the intercommunicator, a dup of it, and the local group: each receive gets its own. */
static void apart(MPI_Comm c, MPI_Comm local, const struct sides *s)
{
    int partner = s->me < s->nr ? s->me : MPI_PROC_NULL, got[3] = {-1, -1, -1}, v[3] = {rank * 10, rank * 10 + 1, rank * 10 + 2};
    MPI_Comm dup, on[3];
    MPI_Request q[6];
    CHECK_EQ(MPI_Comm_dup(c, &dup), MPI_SUCCESS);
    check_inter(dup, s->mine, s->nl, s->theirs, s->nr, "a dup");
    on[0] = local, on[1] = dup, on[2] = c;
    for (int i = 0; i < 3; i++) MPI_Irecv(&got[i], 1, MPI_INT, i ? partner : s->me, 8, on[i], &q[i]);
    for (int i = 2; i >= 0; i--) MPI_Isend(&v[i], 1, MPI_INT, i ? partner : s->me, 8, on[i], &q[3 + i]);
    MPI_Waitall(6, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) CHECK_EQ(got[i], i == 0 ? v[0] : partner >= 0 ? s->theirs[partner] * 10 + i : -1);
    /* Freed while a receive waits. */
    got[0] = -1;
    MPI_Irecv(&got[0], 1, MPI_INT, partner, 2, dup, &q[0]);
    MPI_Isend(&v[1], 1, MPI_INT, partner, 2, dup, &q[1]);
    CHECK_EQ(MPI_Comm_free(&dup), MPI_SUCCESS);
    CHECK(dup == MPI_COMM_NULL);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    if (partner >= 0) CHECK_EQ(got[0], s->theirs[partner] * 10 + 1);
}

/* ---- communicators of intercommunicators --------------------------------------------------------------------------------- */
static int compare(MPI_Comm a, MPI_Comm b)
{
    int result = -1;
    CHECK_EQ(MPI_Comm_compare(a, b, &result), MPI_SUCCESS);
    return result;
}

static int copies, deletes;
static int copy_fn(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra;
    *(void **)out = (char *)in + 1;
    *flag = ++copies;
    return MPI_SUCCESS;
}
static int delete_fn(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void dups(MPI_Comm c, MPI_Comm local, const struct sides *s)
{
    MPI_Comm a, b;
    MPI_Info info, got;
    int key, flag = 0, len = 0;
    void *value = NULL;
    char name[MPI_MAX_OBJECT_NAME] = "?";
    copies = deletes = 0;
    MPI_Comm_create_keyval(copy_fn, delete_fn, &key, NULL);
    MPI_Comm_set_attr(c, key, (void *)100);
    MPI_Comm_set_name(c, "two rooms");
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    CHECK_EQ(MPI_Comm_dup_with_info(c, info, &a), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_dup(a, &b), MPI_SUCCESS);
    MPI_Info_free(&info);
    check_inter(a, s->mine, s->nl, s->theirs, s->nr, "a dup with info");
    check_inter(b, s->mine, s->nl, s->theirs, s->nr, "a dup of a dup");
    MPI_Comm_get_name(a, name, &len);
    CHECK(len == 0 && name[0] == 0);
    MPI_Comm_get_name(c, name, &len);
    CHECK(!strcmp(name, "two rooms"));
    MPI_Comm_get_attr(b, key, &value, &flag);
    CHECK(flag && value == (void *)102);
    CHECK_EQ(copies, 2);
    for (int i = 0; i < 2; i++) { /* hints of the info object; MPI_Comm_dup copies none */
        MPI_Comm_get_info(i ? b : a, &got);
        MPI_Info_get_string(got, "mpi_assert_no_any_tag", &(int){sizeof name}, name, &flag);
        CHECK(flag && !strcmp(name, i ? "false" : "true"));
        MPI_Info_free(&got);
    }
    CHECK(compare(c, c) == MPI_IDENT && compare(a, b) == MPI_CONGRUENT && compare(a, c) == MPI_CONGRUENT);
    CHECK(compare(a, local) == MPI_UNEQUAL && compare(local, a) == MPI_UNEQUAL);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
    CHECK_EQ(deletes, 2);
    MPI_Comm_delete_attr(c, key);
    MPI_Comm_free_keyval(&key);
}

/* Members of a side by (key, rank), if their color is this one. */
static int side_want(const int *list, int n, const int *colors, const int *keys, int color, int *want)
{
    int m = 0;
    for (int i = 0; i < n; i++) {
        if (colors[list[i]] != color) continue;
        int at = m++;
        for (; at > 0 && keys[want[at - 1]] > keys[list[i]]; at--) want[at] = want[at - 1];
        want[at] = list[i];
    }
    return m;
}

static void splits(MPI_Comm c, const struct sides *s)
{
    for (int round = 0; round < 6; round++) {
        int colors[64], keys[64], mine[64], theirs[64];
        for (int i = 0; i < size; i++) {
            colors[i] = random_below(7) == 0 ? MPI_UNDEFINED : (int)random_below(1 + (unsigned)round / 2) * 5;
            keys[i] = (int)random_below(3) - 1;
        }
        MPI_Comm part = MPI_COMM_WORLD;
        CHECK_EQ(MPI_Comm_split(c, colors[rank], keys[rank], &part), MPI_SUCCESS);
        int nl = side_want(s->mine, s->nl, colors, keys, colors[rank], mine);
        int nr = side_want(s->theirs, s->nr, colors, keys, colors[rank], theirs);
        if (colors[rank] == MPI_UNDEFINED || nr == 0) {
            CHECK(part == MPI_COMM_NULL);
            continue;
        }
        check_inter(part, mine, nl, theirs, nr, "a split");
        int same = nl == s->nl && nr == s->nr;
        int straight =
            same && !memcmp(mine, s->mine, sizeof *mine * (size_t)nl) && !memcmp(theirs, s->theirs, sizeof *mine * (size_t)nr);
        CHECK_EQ(compare(part, c), straight ? MPI_CONGRUENT : same ? MPI_SIMILAR : MPI_UNEQUAL);
        MPI_Comm_free(&part);
    }
}

static void creates(MPI_Comm c, const struct sides *s)
{
    MPI_Group all, some;
    MPI_Comm part = MPI_COMM_WORLD;
    MPI_Comm_group(c, &all);
    /* The even ones of each side, backwards; then with one side empty. */
    int last = (s->nl - 1) / 2 * 2, mine[64], theirs[64], n = 0, m = 0;
    MPI_Group_range_incl(all, 1, (int[1][3]){{last, 0, -2}}, &some);
    for (int i = last; i >= 0; i -= 2) mine[n++] = s->mine[i];
    for (int i = (s->nr - 1) / 2 * 2; i >= 0; i -= 2) theirs[m++] = s->theirs[i];
    CHECK_EQ(MPI_Comm_create(c, some, &part), MPI_SUCCESS);
    CHECK_EQ(part == MPI_COMM_NULL, s->me % 2);
    if (part != MPI_COMM_NULL) {
        check_inter(part, mine, n, theirs, m, "a created part");
        MPI_Comm_free(&part);
    }
    part = MPI_COMM_WORLD;
    CHECK_EQ(MPI_Comm_create(c, s->side ? all : MPI_GROUP_EMPTY, &part), MPI_SUCCESS);
    CHECK(part == MPI_COMM_NULL);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

static void merges(MPI_Comm c, const struct sides *s)
{
    for (int k = 0; k < 4; k++) {
        /* Sides 0 and 1 say: low high, high low, both low, both high. */
        int high = k < 2 ? s->side == k ? 0 : 1 : k == 3, first = k < 2 ? k : s->list[0][0] < s->list[1][0] ? 0 : 1, r, sum = 0, n;
        MPI_Comm both;
        MPI_Group g;
        int want[128];
        CHECK_EQ(MPI_Intercomm_merge(c, high ? 3 : 0, &both), MPI_SUCCESS);
        memcpy(want, s->list[first], sizeof *want * (size_t)s->n[first]);
        memcpy(want + s->n[first], s->list[!first], sizeof *want * (size_t)s->n[!first]);
        MPI_Comm_group(both, &g);
        CHECK(group_is(g, want, s->nl + s->nr));
        MPI_Group_free(&g);
        MPI_Comm_rank(both, &r);
        MPI_Comm_size(both, &n);
        CHECK(n == s->nl + s->nr && want[r] == rank);
        MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, both);
        CHECK_EQ(sum, n * (n - 1) / 2);
        MPI_Comm_test_inter(both, &n);
        CHECK_EQ(n, 0);
        MPI_Comm_free(&both);
    }
}

/* A bridge that is an intercommunicator itself, between communicators of one. */
static void over_inter(MPI_Comm c, const struct sides *s)
{
    MPI_Comm one = MPI_COMM_NULL;
    if (s->me == 0) {
        CHECK_EQ(MPI_Intercomm_create(MPI_COMM_SELF, 0, c, 0, 2, &one), MPI_SUCCESS);
        check_inter(one, &rank, 1, s->theirs, 1, "one by one");
        MPI_Comm_free(&one);
    }
}

/* ---- errors ---------------------------------------------------------------------------------------------------------------- */
static void inter_errors(MPI_Comm c, MPI_Comm local, const struct sides *s)
{
    int v = 0;
    MPI_Group g;
    MPI_Comm x;
    MPI_Errhandler was;
    MPI_Comm_get_errhandler(c, &was);
    CHECK(was == MPI_ERRORS_RETURN); /* inherited from the local communicator */
    CHECK_EQ(class_of(MPI_Send(&v, 1, MPI_INT, s->nr, 0, c)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Recv(&v, 1, MPI_INT, s->nr, 0, c, MPI_STATUS_IGNORE)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Probe(-5, 0, c, MPI_STATUS_IGNORE)), MPI_ERR_RANK);
    CHECK_EQ(MPI_Send(&v, 1, MPI_INT, MPI_PROC_NULL, 0, c), MPI_SUCCESS);
    CHECK_EQ(class_of(MPI_Comm_remote_size(local, &v)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Comm_remote_group(local, &g)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Intercomm_merge(local, 0, &x)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Intercomm_create(c, 0, MPI_COMM_WORLD, 0, 0, &x)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Intercomm_create(local, s->nl, MPI_COMM_WORLD, 0, 0, &x)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Intercomm_create(local, -1, MPI_COMM_WORLD, 0, 0, &x)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Intercomm_create(local, s->me, MPI_COMM_WORLD, size, 0, &x)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Intercomm_create(local, s->me, MPI_COMM_WORLD, rank, 0, &x)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Intercomm_create(local, s->me, MPI_COMM_NULL, 0, 0, &x)), MPI_ERR_COMM);
    MPI_Comm_group(c, &g);
    CHECK_EQ(class_of(MPI_Comm_create_group(c, g, 0, &x)), MPI_ERR_COMM);
    MPI_Group_free(&g);
    /* A side that does not agree about high fails on both sides. */
    if (s->n[0] > 1) CHECK_EQ(class_of(MPI_Intercomm_merge(c, s->side == 0 && s->me == 0, &x)), MPI_ERR_ARG);
    check_inter(c, s->mine, s->nl, s->theirs, s->nr, "after errors");
}

/* Groups {0, 1} and {1, 2}: rank 1 calls for both. */
static void overlap(void)
{
    MPI_Comm a = MPI_COMM_NULL, b = MPI_COMM_NULL, x;
    MPI_Group world, g;
    if (size < 3) return;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int k = 0; k < 2; k++) {
        MPI_Group_incl(world, 2, (int[2]){k, k + 1}, &g);
        MPI_Comm_create(MPI_COMM_WORLD, g, k ? &b : &a);
        MPI_Group_free(&g);
    }
    MPI_Group_free(&world);
    if (a != MPI_COMM_NULL) CHECK_EQ(class_of(MPI_Intercomm_create(a, 0, MPI_COMM_WORLD, 2, 1, &x)), MPI_ERR_COMM);
    if (b != MPI_COMM_NULL) CHECK_EQ(class_of(MPI_Intercomm_create(b, 1, MPI_COMM_WORLD, 0, 1, &x)), MPI_ERR_COMM);
    if (a != MPI_COMM_NULL) MPI_Comm_free(&a);
    if (b != MPI_COMM_NULL) MPI_Comm_free(&b);
}

static void on_shape(int shape)
{
    struct sides s;
    MPI_Comm local, c;
    if (!sides_of(&s, shape)) return;
    random_state = 77 + (unsigned)shape; /* the same on every rank */
    c = sides_open(&s, shape, &local);
    if (s.side < 0) return;
    check_inter(c, s.mine, s.nl, s.theirs, s.nr, s.name);
    blocking_sends(c, &s);
    floods(c, &s);
    any_source(c, &s);
    persistent(c, &s);
    partitioned(c, &s);
    sendrecvs(c, &s);
    apart(c, local, &s);
    dups(c, local, &s);
    splits(c, &s);
    creates(c, &s);
    merges(c, &s);
    over_inter(c, &s);
    inter_errors(c, local, &s);
    MPI_Comm_free(&local); /* the intercommunicator outlives it */
    check_inter(c, s.mine, s.nl, s.theirs, s.nr, "with its local communicator gone");
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    int v;
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int shape = 0; shape < SHAPES; shape++) on_shape(shape);
    overlap();
    CHECK_EQ(class_of(MPI_Comm_remote_size(MPI_COMM_WORLD, &v)), MPI_ERR_COMM);
    return test_end();
}
