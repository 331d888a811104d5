/* errors.h -- what the generated mpi_errors.c (gen/errtest.py) needs: good and bad objects of every kind, and what is asserted
 * of a call that got a bad argument: its error class, a text, one call of the error handler, and a library that still works.
 *
 * With the argument "handler" the errors go to a user's error handler, else to MPI_ERRORS_RETURN.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_MPI_ERRORS_H
#define GW_TEST_MPI_ERRORS_H

#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, nranks, failures, tries, handler_calls, handler_code;
static int use_handler;
static const char *now_call = "MPI_Init", *now_what = "";

/* ---- good arguments ---- */
static char space[8192], long_key[MPI_MAX_INFO_KEY + 2];
static const _Alignas(int64_t) int zeros[8]; /* of either width */
static const int ones[4] = {1, 1, 1, 1}, wild[4] = {-5, -5, -5, -5}, negative[4] = {-1, -1, -1, -1};
static const int64_t ones64[4] = {1, 1, 1, 1}, zeros64[4], negative64[4] = {-1, -1, -1, -1};
static const int64_t vast64[4] = {(int64_t)1 << 62, 1, 1, 1};
static const int distribs[4] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_NONE};
static const int dargs[4] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG,
                             MPI_DISTRIBUTE_DFLT_DARG};
static int ranges[1][3] = {{0, 0, 1}};
static _Alignas(16) char out_space[1024];
static void *const out = out_space;
static MPI_Status statuses[4];
static MPI_Comm good_comm, good_cart, good_graph, good_dist, comm_v, freed_comm; /* the middle three: a ring of each kind */
static MPI_Group good_group, group_v, freed_group;
static MPI_Datatype good_type, type_v, freed_type, uncommitted, types_v[64], types_good[64], types_out[4];
static MPI_Op good_op, op_v, freed_op;
static MPI_Request good_request, request_v, freed_request, requests_v[4], requests_good[4];
static MPI_Message good_message, message_v, freed_message;
static MPI_Errhandler good_errhandler, errhandler_v, freed_errhandler;
static MPI_Info good_info, info_v, freed_info;
static MPI_File good_file, file_v, freed_file;
static int comm_keyval, type_keyval, freed_keyval;

static void user_op(void *in, void *inout, int *n, MPI_Datatype *t) { (void)in, (void)inout, (void)n, (void)t; }
static void user_op_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *t) { (void)in, (void)inout, (void)n, (void)t; }
static void user_errhandler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handler_calls++;
    handler_code = *code;
}

static void user_file_errhandler(MPI_File *file, int *code, ...)
{
    (void)file;
    handler_calls++;
    handler_code = *code;
}

static void complain(const char *text)
{
    failures++;
    if (failures < 300) fprintf(stderr, "rank %d: %s(%s): %s\n", me, now_call, now_what, text);
}

static void want(int rc, int class)
{
    char text[MPI_MAX_ERROR_STRING], message[200];
    int got = -1, want_calls = use_handler, len = 0;
    tries++;
    if (rc == MPI_SUCCESS) {
        complain("it succeeded");
        return;
    }
    if (MPI_Error_class(rc, &got) != MPI_SUCCESS || got != class) {
        snprintf(message, sizeof message, "the class is %d, not %d", got, class);
        complain(message);
    }
    if (MPI_Error_string(rc, text, &len) != MPI_SUCCESS || len <= 0 || (int)strlen(text) != len) complain("no text");
    if (handler_calls != want_calls) complain("the error handler did not run once");
    if (use_handler && handler_code != rc) complain("the error handler got another code");
}

#define TRY(call, what, class, expression)                                                                                         \
    do {                                                                                                                           \
        now_call = call, now_what = what;                                                                                          \
        handler_calls = 0, handler_code = 0;                                                                                       \
        want((expression), (class));                                                                                               \
    } while (0)

static void hangs(int signo)
{
    (void)signo;
    char text[300];
    int n = snprintf(text, sizeof text, "rank %d: %s(%s): it did not return\n", me, now_call, now_what);
    if (write(2, text, (size_t)n) < 0) _exit(3);
    _exit(2);
}

/* A message around the ring and a sum: nothing that the bad call did is in the way. */
static void still_works(void)
{
    int to = (me + 1) % nranks, from = (me + nranks - 1) % nranks, sent = 1000 + me, got = -1, sum = -1;
    MPI_Status status;
    handler_calls = 0;
    now_what = "afterwards";
    if (MPI_Sendrecv(&sent, 1, MPI_INT, to, 77, &got, 1, MPI_INT, from, 77, good_comm, &status) != MPI_SUCCESS ||
        got != 1000 + from || status.MPI_SOURCE != from || status.MPI_TAG != 77)
        complain("a message went wrong");
    if (MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, good_comm) != MPI_SUCCESS ||
        sum != 1000 * nranks + nranks * (nranks - 1) / 2)
        complain("a sum went wrong");
    if (handler_calls) complain("the error handler ran");
}

static void topologies(void)
{
    int index[64], edges[64], next = (me + 1) % nranks, previous = (me + nranks - 1) % nranks;
    for (int i = 0; i < nranks; i++) index[i] = i + 1, edges[i] = (i + 1) % nranks;
    MPI_Cart_create(good_comm, 1, &nranks, ones, 0, &good_cart);
    MPI_Graph_create(good_comm, nranks, index, edges, 0, &good_graph);
    MPI_Dist_graph_create_adjacent(good_comm, 1, &previous, ones, 1, &next, ones, MPI_INFO_NULL, 0, &good_dist);
}

/* A file of one's own, which goes when it is closed. */
static void files(void)
{
    char name[64];
    MPI_Errhandler handler;
    snprintf(name, sizeof name, "/tmp/godwit_errors_%d", (int)getpid());
    MPI_File_create_errhandler(user_file_errhandler, &handler);
    if (use_handler) MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    MPI_Errhandler_free(&handler);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &good_file);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &freed_file);
    file_v = freed_file;
    MPI_File_close(&file_v);
}

static void begin(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    use_handler = argc > 1 && strcmp(argv[1], "handler") == 0;
    signal(SIGALRM, hangs);
    alarm(150);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    MPI_Comm_create_errhandler(user_errhandler, &good_errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, use_handler ? good_errhandler : MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, use_handler ? good_errhandler : MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &good_comm);
    MPI_Comm_set_errhandler(good_comm, use_handler ? good_errhandler : MPI_ERRORS_RETURN);
    topologies();
    files();
    memset(long_key, 'k', sizeof long_key - 1);
    good_type = MPI_INT;
    for (int i = 0; i < 64; i++) types_good[i] = types_v[i] = MPI_INT;
    MPI_Type_contiguous(3, MPI_INT, &uncommitted);
    MPI_Comm_group(good_comm, &good_group);
    MPI_Op_create(user_op, 1, &good_op);
    MPI_Info_create(&good_info);
    MPI_Info_set(good_info, "word", "value");
    MPI_Recv_init(space, 1, MPI_INT, me, 9, good_comm, &good_request);
    for (int i = 0; i < 4; i++) requests_good[i] = requests_v[i] = good_request;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_keyval, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_keyval, NULL);
    /* A message that a matching probe took and that waits for its receive. */
    int x = 1, y, keyval;
    MPI_Request q;
    MPI_Isend(&x, 1, MPI_INT, me, 8, good_comm, &q);
    MPI_Mprobe(me, 8, good_comm, &freed_message, MPI_STATUS_IGNORE);
    message_v = freed_message;
    MPI_Mrecv(&y, 1, MPI_INT, &message_v, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Isend(&x, 1, MPI_INT, me, 8, good_comm, &q);
    MPI_Mprobe(me, 8, good_comm, &good_message, MPI_STATUS_IGNORE);
    MPI_Request_free(&q);
    MPI_Iprobe(MPI_ANY_SOURCE, 12345, good_comm, &x, &statuses[0]);
#define FREED(word, make, release) make, word##_v = freed_##word, release(&word##_v)
    FREED(comm, MPI_Comm_dup(MPI_COMM_SELF, &freed_comm), MPI_Comm_free);
    FREED(group, MPI_Comm_group(MPI_COMM_SELF, &freed_group), MPI_Group_free);
    FREED(type, MPI_Type_contiguous(2, MPI_INT, &freed_type), MPI_Type_free);
    FREED(op, MPI_Op_create(user_op, 0, &freed_op), MPI_Op_free);
    FREED(errhandler, MPI_Comm_create_errhandler(user_errhandler, &freed_errhandler), MPI_Errhandler_free);
    FREED(info, MPI_Info_create(&freed_info), MPI_Info_free);
    FREED(request, MPI_Send_init(space, 1, MPI_INT, me, 7, good_comm, &freed_request), MPI_Request_free);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &freed_keyval, NULL);
    keyval = freed_keyval;
    MPI_Comm_free_keyval(&keyval);
    still_works();
}

/* What follows from the meaning of an argument, not from its kind. */
static void others(void)
{
    const int twice[2] = {0, 0}, far[1] = {nranks};
    double d = 0;
    int n = 0, flag;
    MPI_Datatype big;
    TRY("MPI_Comm_free", "MPI_COMM_WORLD", MPI_ERR_COMM, MPI_Comm_free((comm_v = MPI_COMM_WORLD, &comm_v)));
    TRY("MPI_Comm_free", "MPI_COMM_SELF", MPI_ERR_COMM, MPI_Comm_free((comm_v = MPI_COMM_SELF, &comm_v)));
    TRY("MPI_Type_free", "MPI_INT", MPI_ERR_TYPE, MPI_Type_free((type_v = MPI_INT, &type_v)));
    TRY("MPI_Op_free", "MPI_SUM", MPI_ERR_OP, MPI_Op_free((op_v = MPI_SUM, &op_v)));
    TRY("MPI_Group_incl", "a rank twice", MPI_ERR_RANK, MPI_Group_incl(good_group, 2, twice, &group_v));
    TRY("MPI_Group_excl", "a rank twice", MPI_ERR_RANK, MPI_Group_excl(good_group, 2, twice, &group_v));
    TRY("MPI_Group_incl", "a rank too high", MPI_ERR_RANK, MPI_Group_incl(good_group, 1, far, &group_v));
    TRY("MPI_Group_translate_ranks", "a rank too high", MPI_ERR_RANK,
        MPI_Group_translate_ranks(good_group, 1, far, good_group, out));
    TRY("MPI_Info_delete", "a key that is not there", MPI_ERR_INFO_NOKEY, MPI_Info_delete(good_info, "nothing"));
    TRY("MPI_Info_get_nthkey", "n too high", MPI_ERR_ARG, MPI_Info_get_nthkey(good_info, 5, out));
    TRY("MPI_Allreduce", "MPI_BAND on MPI_DOUBLE", MPI_ERR_OP, MPI_Allreduce(&d, out, 1, MPI_DOUBLE, MPI_BAND, good_comm));
    TRY("MPI_Reduce_local", "MPI_MAX on a complex type", MPI_ERR_OP,
        MPI_Reduce_local(space, out, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX));
    TRY("MPI_Reduce", "MPI_MAXLOC on MPI_INT", MPI_ERR_OP, MPI_Reduce(&n, out, 1, MPI_INT, MPI_MAXLOC, 0, good_comm));
    TRY("MPI_Comm_set_attr", "MPI_TAG_UB", MPI_ERR_KEYVAL, MPI_Comm_set_attr(good_comm, MPI_TAG_UB, &n));
    TRY("MPI_Type_match_size", "no such size", MPI_ERR_ARG, MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type_v));
    TRY("MPI_Pack_external", "an unknown representation", MPI_ERR_ARG,
        MPI_Pack_external("internal32", space, 1, MPI_INT, out, 64, (MPI_Aint *)(memset(space, 0, 64), space)));
    TRY("MPI_Pack", "no room", MPI_ERR_TRUNCATE, MPI_Pack(space, 4, MPI_INT, out, 15, (n = 0, &n), good_comm));
    TRY("MPI_Unpack", "too little", MPI_ERR_TRUNCATE, MPI_Unpack(space, 15, (n = 0, &n), out, 4, MPI_INT, good_comm));
    TRY("MPI_Error_class", "no code", MPI_ERR_ARG, MPI_Error_class(-3, &n));
    TRY("MPI_Recv", "a message that is too long", MPI_ERR_TRUNCATE,
        (MPI_Isend(space, 4, MPI_INT, me, 3, good_comm, &request_v),
         MPI_Recv(out, 2, MPI_INT, me, 3, good_comm, MPI_STATUS_IGNORE)));
    MPI_Wait(&request_v, MPI_STATUS_IGNORE);
    MPI_Start(&good_request);
    TRY("MPI_Start", "a request that is active", MPI_ERR_REQUEST, MPI_Start((request_v = good_request, &request_v)));
    MPI_Cancel(&good_request);
    MPI_Wait(&good_request, MPI_STATUS_IGNORE);
    /* Not errors. */
    now_call = "calls that are right", now_what = "", handler_calls = 0;
    MPI_Type_contiguous(1 << 30, MPI_INT, &big);
    if (MPI_Send(NULL, 0, MPI_INT, me == 0 ? MPI_PROC_NULL : 0, 0, good_comm) != MPI_SUCCESS) complain("nothing to send");
    if (me == 0)
        for (int i = 1; i < nranks; i++)
            if (MPI_Recv(NULL, 0, MPI_INT, i, 0, good_comm, MPI_STATUS_IGNORE) != MPI_SUCCESS) complain("nothing to receive");
    if (MPI_Type_size(big, &n) != MPI_SUCCESS || n != MPI_UNDEFINED) complain("a size that does not fit");
    if (MPI_Type_free(&big) != MPI_SUCCESS || big != MPI_DATATYPE_NULL) complain("MPI_Type_free");
    request_v = MPI_REQUEST_NULL;
    if (MPI_Test(&request_v, &flag, &statuses[0]) != MPI_SUCCESS || !flag || statuses[0].MPI_SOURCE != MPI_ANY_SOURCE)
        complain("MPI_REQUEST_NULL");
    if (handler_calls) complain("the error handler ran");
    still_works();
}

/* Arguments that the standard says are not looked at may be anything: beside MPI_IN_PLACE, and off the root. */
static void ignored(void)
{
    const int root = nranks - 1, none = me != root;
    const MPI_Datatype no = MPI_DATATYPE_NULL;
    int x = me, *all = malloc(sizeof(int) * 2 * (size_t)nranks), *n = malloc(sizeof(int) * (size_t)nranks),
        *at = malloc(sizeof(int) * (size_t)nranks);
    int *bytes = malloc(sizeof(int) * (size_t)nranks), bad = 0;
    MPI_Datatype *types = malloc(sizeof *types * (size_t)nranks);
    now_call = "arguments that are not looked at", now_what = "", handler_calls = 0;
    for (int i = 0; i < nranks; i++) n[i] = 1, at[i] = i, bytes[i] = 4 * i, types[i] = MPI_INT, all[i] = i == me ? me : -1;
#define RIGHT(call) bad += (call) != MPI_SUCCESS
    RIGHT(MPI_Allgather(MPI_IN_PLACE, -1, no, all, 1, MPI_INT, good_comm));
    for (int i = 0; i < nranks; i++) bad += all[i] != i;
    RIGHT(MPI_Allgatherv(MPI_IN_PLACE, -1, no, all, n, at, MPI_INT, good_comm));
    RIGHT(MPI_Alltoall(MPI_IN_PLACE, -1, no, all, 1, MPI_INT, good_comm));
    for (int i = 0; i < nranks; i++) bad += all[i] != me;
    RIGHT(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, no, all, n, at, MPI_INT, good_comm));
    for (int i = 0; i < nranks; i++) bad += all[i] != i;
    RIGHT(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, n, bytes, types, good_comm));
    for (int i = 0; i < nranks; i++) bad += all[i] != me;
    if (none) {
        RIGHT(MPI_Gather(&x, 1, MPI_INT, NULL, -1, no, root, good_comm));
        RIGHT(MPI_Gatherv(&x, 1, MPI_INT, NULL, NULL, NULL, no, root, good_comm));
        RIGHT(MPI_Scatter(NULL, -1, no, &x, 1, MPI_INT, root, good_comm));
        RIGHT(MPI_Scatterv(NULL, NULL, NULL, no, &x, 1, MPI_INT, root, good_comm));
        RIGHT(MPI_Reduce(&x, NULL, 1, MPI_INT, MPI_SUM, root, good_comm));
    } else {
        all[me] = me;
        RIGHT(MPI_Gather(MPI_IN_PLACE, -1, no, all, 1, MPI_INT, root, good_comm));
        RIGHT(MPI_Gatherv(MPI_IN_PLACE, -1, no, all, n, at, MPI_INT, root, good_comm));
        for (int i = 0; i < nranks; i++) bad += all[i] != i;
        RIGHT(MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, -1, no, root, good_comm));
        RIGHT(MPI_Scatterv(all, n, at, MPI_INT, MPI_IN_PLACE, -1, no, root, good_comm));
        RIGHT(MPI_Reduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, root, good_comm));
        bad += x != nranks * (nranks - 1) / 2;
    }
    if (none) bad += x != me;
    /* Nothing to move: no address, and zero counts go with any datatype in MPI_Alltoallw. */
    for (int i = 0; i < nranks; i++) n[i] = 0, types[i] = MPI_DATATYPE_NULL;
    RIGHT(MPI_Alltoallw(NULL, n, bytes, types, NULL, n, bytes, types, good_comm));
    RIGHT(MPI_Allgatherv(NULL, 0, MPI_INT, NULL, n, at, MPI_INT, good_comm));
    RIGHT(MPI_Bcast(NULL, 0, MPI_INT, root, good_comm));
    RIGHT(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, good_comm));
    RIGHT(MPI_Reduce_scatter(NULL, NULL, n, MPI_INT, MPI_SUM, good_comm));
#undef RIGHT
    if (bad) complain("a call was refused or its data are wrong");
    if (handler_calls) complain("the error handler ran");
    free(all), free(n), free(at), free(bytes), free(types);
    still_works();
}

static int end(void)
{
    int all = 0;
    now_call = "the end", now_what = "";
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Mrecv(space, 1, MPI_INT, &good_message, MPI_STATUS_IGNORE);
    MPI_Request_free(&good_request);
    MPI_Type_free(&uncommitted);
    MPI_Group_free(&good_group);
    MPI_Op_free(&good_op);
    MPI_Info_free(&good_info);
    MPI_Comm_free_keyval(&comm_keyval);
    MPI_Type_free_keyval(&type_keyval);
    MPI_Comm_free(&good_cart);
    MPI_Comm_free(&good_graph);
    MPI_Comm_free(&good_dist);
    MPI_Comm_free(&good_comm);
    MPI_Errhandler_free(&good_errhandler);
    MPI_File_close(&good_file);
    MPI_Finalize();
    if (me == 0 && (all || tries < 1000)) fprintf(stderr, "%d of %d failed\n", failures, tries);
    return failures || tries < 1000;
}

#endif
