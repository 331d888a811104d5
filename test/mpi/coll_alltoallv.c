/* coll_alltoallv.c -- MPI_Alltoallv between nodes goes by what its ranks have agreed on: `coll_alltoallv SHORT SPARSE LONG` are the
 * algorithms for short blocks of all to all, for blocks of that length between neighbours alone, and for long ones, as MPI_T counts
 * them; blocking, non-blocking, persistent, in place, with types of their own for each rank.  `coll_alltoallv differs`: rank 0 sends
 * blocks of other lengths than those that the others expect of it, who are told.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"

enum { MOST = 300, PER_RANK = MOST + 1 };
enum form { BLOCKING, STARTED, PERSISTENT, IN_PLACE, W, FORMS };
static int *in, *out, *scounts, *rcounts, *places;

static int value(int from, int to, int i) { return from * 10007 + to * 101 + i; }
/* Elements of the block from one rank to another: `n` at most, of uneven lengths; sparse: only for the two next ones, and oneself. */
static int length(int from, int to, int n, int is_sparse)
{
    int ahead = (to - from + size) % size;
    if (is_sparse && ahead > 2) return 0;
    return ahead == 0 ? n / 2 : n - (from + to) % (n / 2 + 1);
}
static void blocks(int n, int is_sparse, int is_symmetric)
{
    memset(out, 0xff, (size_t)size * PER_RANK * sizeof *out);
    for (int r = 0; r < size; r++) {
        int low = r < rank ? r : rank, high = r < rank ? rank : r; /* in place both ways have one length */
        scounts[r] = is_symmetric ? length(low, high, n, is_sparse) : length(rank, r, n, is_sparse);
        rcounts[r] = is_symmetric ? scounts[r] : length(r, rank, n, is_sparse);
        places[r] = r * PER_RANK;
        for (int i = 0; i < scounts[r]; i++) (is_symmetric ? out : in)[places[r] + i] = value(rank, r, i);
    }
}
static void check(void)
{
    int wrong = 0;
    for (int r = 0; r < size; r++)
        for (int i = 0; i < PER_RANK; i++) wrong += out[places[r] + i] != (i < rcounts[r] ? value(r, rank, i) : -1);
    CHECK_EQ(wrong, 0);
}
static int call_w(void)
{
    MPI_Datatype *types = malloc((size_t)size * sizeof(MPI_Datatype));
    int *bytes = malloc((size_t)size * sizeof *bytes);
    for (int r = 0; r < size; r++) types[r] = MPI_INT, bytes[r] = places[r] * (int)sizeof(int);
    int code = MPI_Alltoallw(in, scounts, bytes, types, out, rcounts, bytes, types, MPI_COMM_WORLD);
    free(types), free(bytes);
    return code;
}
static int call(enum form form)
{
    MPI_Request q;
    switch (form) {
    case BLOCKING: return MPI_Alltoallv(in, scounts, places, MPI_INT, out, rcounts, places, MPI_INT, MPI_COMM_WORLD);
    case STARTED:
        MPI_Ialltoallv(in, scounts, places, MPI_INT, out, rcounts, places, MPI_INT, MPI_COMM_WORLD, &q);
        return MPI_Wait(&q, MPI_STATUS_IGNORE);
    case PERSISTENT:
        MPI_Alltoallv_init(in, scounts, places, MPI_INT, out, rcounts, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
        for (int k = 0; k < 2; k++) {
            MPI_Start(&q);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        }
        return MPI_Request_free(&q);
    case IN_PLACE: return MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, out, rcounts, places, MPI_INT, MPI_COMM_WORLD);
    default: return call_w();
    }
}

/* All forms with blocks of n ints at most: how often the algorithm must have been counted. */
static void all_forms(const char *name, int n, int is_sparse)
{
    char full[64];
    snprintf(full, sizeof full, "coll_alltoallv_%s", name);
    MPI_T_pvar_handle chosen = counter(full, MPI_T_PVAR_CLASS_COUNTER);
    unsigned long long before = counted(chosen);
    int is_whole = strcmp(name, "pairwise") == 0; /* has another one beside it, in place */
    for (int form = 0; form < FORMS; form++) {
        blocks(n, is_sparse, form == IN_PLACE);
        call((enum form)form);
        check();
    }
    unsigned long long times = counted(chosen) - before;
    int alone = is_whole ? 1 : getenv("GODWIT_COLL") ? 0 : 2; /* with a request nothing is agreed on: data leave in the call */
    CHECK_EQ(times, (unsigned long long)(FORMS - alone));
}

/* Rank 0 sends `sent` ints to each of the others, who take 4 of it as of each other: they are told, and get no byte of that block. */
static void differs(enum form form, int sent)
{
    char text[MPI_MAX_ERROR_STRING], said[64];
    int code, class, len;
    blocks(0, 0, 0);
    for (int r = 0; r < size; r++) {
        scounts[r] = rank == 0 && r > 0 ? sent : 4, rcounts[r] = 4;
        for (int i = 0; i < scounts[r]; i++) in[places[r] + i] = value(rank, r, i);
    }
    code = call(form);
    MPI_Error_class(code, &class);
    CHECK_EQ(class, rank ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    MPI_Error_string(code, text, &len);
    snprintf(said, sizeof said, "takes 16 bytes from rank 0, which sent %d;", sent * (int)sizeof(int));
    if (rank) CHECK(strstr(text, said));
    if (rank) rcounts[0] = 0;
    check();
    blocks(8, 0, 0);
    CHECK_EQ(call(form), MPI_SUCCESS);
    check();
}
static void all_differ(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int form = BLOCKING; form <= STARTED; form++) {
        differs((enum form)form, 8);
        differs((enum form)form, 2);
        differs((enum form)form, 0);
        differs((enum form)form, 40);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    counters_begin();
    in = malloc((size_t)size * PER_RANK * sizeof *in), out = malloc((size_t)size * PER_RANK * sizeof *out);
    scounts = malloc((size_t)size * sizeof(int)), rcounts = malloc((size_t)size * sizeof(int));
    places = malloc((size_t)size * sizeof(int));
    CHECK(argc == 4 || argc == 2);
    if (argc == 2) all_differ();
    if (argc == 4) {
        all_forms(argv[1], 8, 0);
        all_forms(argv[2], 8, 1);
        all_forms(argv[3], MOST, 0);
        all_forms(argv[1], 2, 0);
    }
    blocks(0, 0, 0); /* nothing at all */
    call(BLOCKING);
    check();
    counters_end();
    free(in), free(out), free(scounts), free(rcounts), free(places);
    return test_end();
}
