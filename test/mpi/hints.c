/* hints.c -- the hints of communicators: defaults, setting, ignoring, duplicating; what a broken promise answers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { KEYS = 6 };
static const char *const keys[KEYS] = {"mpi_assert_no_any_tag",
                                       "mpi_assert_no_any_source",
                                       "mpi_assert_exact_length",
                                       "mpi_assert_allow_overtaking",
                                       "mpi_assert_strict_persistent_collective_ordering",
                                       "mpi_assert_strict_start_ordering"};

/* All hints in use, and nothing else: bit i of `want` says what keys[i] is. */
static void hints_are(MPI_Comm c, int want)
{
    MPI_Info info = MPI_INFO_NULL;
    int n = 0;
    CHECK_EQ(MPI_Comm_get_info(c, &info), MPI_SUCCESS);
    MPI_Info_get_nkeys(info, &n);
    CHECK_EQ(n, KEYS + 2); /* and "reproducible": reproducible.c */
    char kinds[MPI_MAX_INFO_VAL] = "";
    int has_kinds = 0, room = sizeof kinds;
    MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &room, kinds, &has_kinds);
    CHECK(has_kinds && strcmp(kinds, "mpi,system") == 0);
    for (int i = 0; i < KEYS; i++) {
        char value[MPI_MAX_INFO_VAL] = "";
        int flag = 0, length = sizeof value;
        MPI_Info_get_string(info, keys[i], &length, value, &flag);
        CHECK(flag);
        CHECK(strcmp(value, want >> i & 1 ? "true" : "false") == 0);
    }
    /* The answer is a copy. */
    MPI_Info_set(info, keys[0], want & 1 ? "false" : "true");
    MPI_Info_free(&info);
    MPI_Comm_get_info(c, &info);
    char first[8] = "";
    int flag, length = sizeof first;
    MPI_Info_get_string(info, keys[0], &length, first, &flag);
    CHECK(strcmp(first, want & 1 ? "true" : "false") == 0);
    MPI_Info_free(&info);
}

static void set(MPI_Comm c, int key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (key >= 0) MPI_Info_set(info, keys[key], value);
    MPI_Info_set(info, "no_such_hint", value);
    CHECK_EQ(MPI_Comm_set_info(c, info), MPI_SUCCESS);
    MPI_Info_free(&info);
}

static void setting(void)
{
    MPI_Comm a, b, d, half;
    MPI_Info info;
    hints_are(MPI_COMM_WORLD, 0);
    hints_are(MPI_COMM_SELF, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    hints_are(a, 0);
    for (int i = 0, bits = 0; i < KEYS; i++) { /* each leaves the others as they are */
        set(a, i, "true");
        hints_are(a, bits |= 1 << i);
    }
    set(a, 2, "false");
    hints_are(a, 0x3b);
    set(a, 2, " true ");
    hints_are(a, 0x3f);
    set(a, 2, "false  "); /* blanks around the word do not count */
    hints_are(a, 0x3b);
    static const char *const wrong[] = {"", " ", "1", "yes", "True", "TRUE ", "maybe", "tr ue", "truefalse"};
    for (int i = 0; i < 9; i++) {
        set(a, 2, wrong[i]);
        set(a, 3, wrong[i]);
        hints_are(a, 0x3b);
    }
    set(a, -1, "true"); /* unknown keys alone */
    CHECK_EQ(MPI_Comm_set_info(a, MPI_INFO_NULL), MPI_SUCCESS);
    hints_are(a, 0x3b);

    /* New communicators begin without, but for those that are given. */
    MPI_Info_create(&info);
    MPI_Info_set(info, keys[1], "true");
    CHECK_EQ(MPI_Comm_split_type(a, MPI_COMM_TYPE_SHARED, 0, info, &b), MPI_SUCCESS);
    hints_are(b, 2);
    MPI_Comm_free(&b);
    CHECK_EQ(MPI_Dist_graph_create_adjacent(a, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, info, 0, &b), MPI_SUCCESS);
    hints_are(b, 2);
    MPI_Comm_free(&b);
    CHECK_EQ(MPI_Dist_graph_create(a, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, info, 0, &b), MPI_SUCCESS);
    hints_are(b, 2);
    MPI_Comm_free(&b);
    MPI_Info_free(&info);
    MPI_Comm_dup(a, &b);
    hints_are(b, 0);
    MPI_Comm_free(&b);
    MPI_Comm_get_info(a, &info);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &b);
    hints_are(b, 0x3b);
    MPI_Info_set(info, keys[2], "true");
    MPI_Info_set(info, keys[0], "perhaps");
    MPI_Comm_dup_with_info(a, info, &d);
    hints_are(d, 0x3e);
    hints_are(a, 0x3b);
    MPI_Info_free(&info);
    MPI_Comm_free(&d);
    MPI_Comm_dup_with_info(a, MPI_INFO_NULL, &d);
    hints_are(d, 0);
    MPI_Comm_split(a, rank % 2, 0, &half);
    hints_are(half, 0);
    MPI_Comm_free(&half);
    MPI_Comm_free(&d);
    MPI_Comm_free(&b);
    MPI_Comm_free(&a);
}

static int class_of(int code)
{
    int class = -1;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (code != MPI_SUCCESS) CHECK(strstr(text, "mpi_assert_no_any_")); /* it says which promise */
    return class;
}

/* Every call that takes a source and a tag. */
static void all_calls(MPI_Comm c, int source, int tag, int class)
{
    int v = 0, w = 0, flag;
    MPI_Request q;
    MPI_Message m;
    MPI_Status s;
    CHECK_EQ(class_of(MPI_Recv(&v, 1, MPI_INT, source, tag, c, &s)), class);
    CHECK_EQ(class_of(MPI_Irecv(&v, 1, MPI_INT, source, tag, c, &q)), class);
    CHECK_EQ(class_of(MPI_Recv_init(&v, 1, MPI_INT, source, tag, c, &q)), class);
    CHECK_EQ(class_of(MPI_Probe(source, tag, c, &s)), class);
    CHECK_EQ(class_of(MPI_Iprobe(source, tag, c, &flag, &s)), class);
    CHECK_EQ(class_of(MPI_Mprobe(source, tag, c, &m, &s)), class);
    CHECK_EQ(class_of(MPI_Improbe(source, tag, c, &flag, &m, &s)), class);
    CHECK_EQ(class_of(MPI_Sendrecv(&w, 1, MPI_INT, rank, 1, &v, 1, MPI_INT, source, tag, c, &s)), class);
    CHECK_EQ(class_of(MPI_Sendrecv_replace(&v, 1, MPI_INT, rank, 1, source, tag, c, &s)), class);
    CHECK_EQ(class_of(MPI_Isendrecv(&w, 1, MPI_INT, rank, 1, &v, 1, MPI_INT, source, tag, c, &q)), class);
    CHECK_EQ(class_of(MPI_Isendrecv_replace(&v, 1, MPI_INT, rank, 1, source, tag, c, &q)), class);
    CHECK_EQ(class_of(MPI_Recv_c(&v, 1, MPI_INT, source, tag, c, &s)), class);
    CHECK_EQ(class_of(MPI_Irecv_c(&v, 1, MPI_INT, source, tag, c, &q)), class);
}

/* Messages of every kind that keep the promises still arrive, in any order of tags. */
static void messages(MPI_Comm c, int any_tag, int any_source)
{
    enum { N = 40 };
    int to = (rank + 1) % size, from = (rank + size - 1) % size, in[N], out[N], n = 0;
    MPI_Request q[2 * N];
    for (int i = 0; i < N; i++) {
        out[i] = 1000 * rank + i;
        in[i] = -1;
    }
    if (any_tag || any_source) /* in the order of sending */
        for (int i = 0; i < N; i++)
            MPI_Irecv(&in[i], 1, MPI_INT, any_source ? MPI_ANY_SOURCE : from, any_tag ? MPI_ANY_TAG : i, c, &q[n++]);
    else
        for (int i = N - 1; i >= 0; i--) MPI_Irecv(&in[i], 1, MPI_INT, from, i, c, &q[n++]);
    for (int i = 0; i < N; i++) MPI_Isend(&out[i], 1, MPI_INT, to, i, c, &q[n++]);
    MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) CHECK_EQ(in[i], 1000 * from + i);
    int sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, size);
}

static void promises(void)
{
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    messages(c, 1, 1);
    set(c, 0, "true");
    all_calls(c, rank, MPI_ANY_TAG, MPI_ERR_TAG);
    all_calls(c, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ERR_TAG);
    messages(c, 0, 1);
    set(c, 1, "true");
    all_calls(c, MPI_ANY_SOURCE, 3, MPI_ERR_RANK);
    messages(c, 0, 0);
    set(c, 3, "true"); /* overtaking is allowed, not wanted: equal tags keep their order here */
    set(c, 2, "true");
    messages(c, 0, 0);
    set(c, 0, "false");
    messages(c, 1, 0);
    all_calls(c, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ERR_RANK);
    set(c, 1, "false");
    messages(c, 1, 1);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    setting();
    promises();
    return test_end();
}
