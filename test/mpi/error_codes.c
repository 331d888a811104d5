/* error_codes.c -- error classes, codes and texts of the program's own, and error handlers on communicators (MPI 4.1 chapter 9).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

static int class_of(int code)
{
    int class = -1;
    CHECK_EQ(MPI_Error_class(code, &class), MPI_SUCCESS);
    return class;
}
static int text_is(int code, const char *want)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = -1;
    memset(text, '#', sizeof text);
    CHECK_EQ(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    CHECK_EQ((int)strlen(text), length);
    return strcmp(text, want) == 0;
}

static void predefined(void)
{
    char text[MPI_MAX_ERROR_STRING], other[MPI_MAX_ERROR_STRING];
    int length, classes = 0;
    CHECK_EQ(class_of(MPI_SUCCESS), MPI_SUCCESS);
    static const int some[] = {MPI_ERR_BUFFER,     MPI_ERR_COUNT,     MPI_ERR_TYPE,        MPI_ERR_TAG,     MPI_ERR_COMM,
                               MPI_ERR_RANK,       MPI_ERR_REQUEST,   MPI_ERR_ROOT,        MPI_ERR_GROUP,   MPI_ERR_OP,
                               MPI_ERR_TOPOLOGY,   MPI_ERR_DIMS,      MPI_ERR_ARG,         MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE,
                               MPI_ERR_OTHER,      MPI_ERR_INTERN,    MPI_ERR_PENDING,     MPI_ERR_KEYVAL,  MPI_ERR_NO_MEM,
                               MPI_ERR_INFO,       MPI_ERR_IN_STATUS, MPI_ERR_WIN,         MPI_ERR_FILE,    MPI_ERR_SPAWN,
                               MPI_ERR_ERRHANDLER, MPI_ERR_SESSION,   MPI_ERR_PROC_ABORTED};
    int n = (int)(sizeof some / sizeof *some);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(class_of(some[i]), some[i]);
        CHECK(some[i] <= MPI_ERR_LASTCODE);
        MPI_Error_string(some[i], text, &length);
        CHECK(length > 0 && strncmp(text, "MPI_ERR_", 8) == 0);
        for (int k = 0; k < i; k++) {
            MPI_Error_string(some[k], other, &length);
            CHECK(strcmp(text, other) != 0);
        }
        classes++;
    }
    CHECK_EQ(classes, n);
}

static int last_used(void)
{
    int *value, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag);
    return *value;
}

#define FAILS(call, class) CHECK_EQ(class_of(call), class)
static void own(int early_class, int early_code)
{
    int class[3], code[3][4], predef_code, n = 0;
    char text[2 * MPI_MAX_ERROR_STRING], back[MPI_MAX_ERROR_STRING];
    CHECK(last_used() >= early_code && early_class > MPI_ERR_LASTCODE); /* made before MPI_Init */
    CHECK_EQ(class_of(early_code), early_class);
    CHECK(text_is(early_code, "early"));
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(MPI_Add_error_class(&class[i]), MPI_SUCCESS);
        CHECK(class[i] > MPI_ERR_LASTCODE && last_used() >= class[i]);
        CHECK_EQ(class_of(class[i]), class[i]); /* a class is a code of itself */
        for (int k = 0; k < 4; k++) {
            CHECK_EQ(MPI_Add_error_code(class[i], &code[i][k]), MPI_SUCCESS);
            CHECK(code[i][k] > MPI_ERR_LASTCODE && last_used() >= code[i][k]);
        }
    }
    MPI_Add_error_code(MPI_ERR_RANK, &predef_code);
    CHECK_EQ(class_of(predef_code), MPI_ERR_RANK);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            CHECK_EQ(class_of(code[i][k]), class[i]);
            CHECK(text_is(code[i][k], "")); /* no text yet */
            for (int j = 0; j < i; j++) CHECK(code[i][k] != code[j][k]);
        }
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "class %d", i);
        CHECK_EQ(MPI_Add_error_string(class[i], text), MPI_SUCCESS);
        for (int k = 0; k < 4; k++) {
            snprintf(text, sizeof text, "code %d of class %d", k, i);
            CHECK_EQ(MPI_Add_error_string(code[i][k], text), MPI_SUCCESS);
        }
    }
    CHECK(text_is(class[1], "class 1") && text_is(code[2][3], "code 3 of class 2") && text_is(code[0][0], "code 0 of class 0"));
    MPI_Add_error_string(code[2][3], "another"); /* a new text takes the old one's place */
    CHECK(text_is(code[2][3], "another"));
    MPI_Add_error_string(code[2][3], "");
    CHECK(text_is(code[2][3], ""));
    memset(text, 't', sizeof text);
    text[MPI_MAX_ERROR_STRING - 1] = 0;
    MPI_Add_error_string(code[2][3], text);
    MPI_Error_string(code[2][3], back, &n);
    CHECK(n == MPI_MAX_ERROR_STRING - 1 && strcmp(back, text) == 0);

    /* What cannot be. */
    int x;
    FAILS(MPI_Add_error_code(code[0][0], &x), MPI_ERR_ARG); /* a code is no class */
    FAILS(MPI_Add_error_code(last_used() + 100, &x), MPI_ERR_ARG);
    FAILS(MPI_Add_error_string(MPI_ERR_RANK, "mine"), MPI_ERR_ARG);
    FAILS(MPI_Add_error_string(last_used() + 100, "mine"), MPI_ERR_ARG);
    FAILS(MPI_Error_class(last_used() + 100, &x), MPI_ERR_ARG);
    FAILS(MPI_Error_string(-3, back, &n), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_class(MPI_ERR_RANK), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_code(MPI_ERR_RANK), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_string(MPI_ERR_RANK), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_class(class[0]), MPI_ERR_ARG);   /* it has codes */
    FAILS(MPI_Remove_error_class(code[0][0]), MPI_ERR_ARG); /* a code */
    FAILS(MPI_Remove_error_code(class[0]), MPI_ERR_ARG);    /* a class */
    CHECK(text_is(code[1][2], "code 2 of class 1"));

    /* Away with them, texts first. */
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++) {
            CHECK_EQ(MPI_Remove_error_string(code[i][k]), MPI_SUCCESS);
            CHECK(text_is(code[i][k], ""));
            FAILS(MPI_Remove_error_string(code[i][k]), MPI_ERR_ARG);
            CHECK_EQ(MPI_Remove_error_code(code[i][k]), MPI_SUCCESS);
            FAILS(MPI_Error_class(code[i][k], &x), MPI_ERR_ARG);
            FAILS(MPI_Remove_error_code(code[i][k]), MPI_ERR_ARG);
        }
        CHECK_EQ(MPI_Remove_error_string(class[i]), MPI_SUCCESS);
        CHECK_EQ(MPI_Remove_error_class(class[i]), MPI_SUCCESS);
        FAILS(MPI_Error_class(class[i], &x), MPI_ERR_ARG);
    }
    CHECK_EQ(MPI_Remove_error_code(predef_code), MPI_SUCCESS);
    CHECK_EQ(class_of(MPI_ERR_RANK), MPI_ERR_RANK);
}

/* ---- handlers ---- */
static int runs[2], last_code;
static MPI_Comm last_comm;
static void first(MPI_Comm *comm, int *code, ...)
{
    runs[0]++;
    last_comm = *comm;
    last_code = *code;
}
static void second(MPI_Comm *comm, int *code, ...)
{
    MPI_Errhandler eh;
    runs[1]++;
    last_comm = *comm;
    last_code = *code;
    MPI_Comm_create_errhandler(first, &eh); /* a handler may set another one */
    MPI_Comm_set_errhandler(*comm, eh);
    MPI_Errhandler_free(&eh);
}
static int another;
static void changes(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    runs[0]++;
    *code = another;
}
static void changes_win(MPI_Win *win, int *code, ...)
{
    (void)win;
    *code = another;
}
static int bad_send(MPI_Comm c) { return MPI_Send(NULL, 0, MPI_INT, 1000000, 0, c); }

/* The handler gets the address of the code that the call is to return (MPI 4.1, section 9.3): what it makes of it is returned. */
static void changed_codes(void)
{
    MPI_Comm a;
    MPI_Win w;
    MPI_Errhandler eh, eh_win;
    MPI_Request q;
    int class, code, x = 0, before = runs[0];
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Comm_create_errhandler(changes, &eh);
    MPI_Win_create_errhandler(changes_win, &eh_win);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_set_errhandler(a, eh);
    const int codes[] = {MPI_SUCCESS, MPI_ERR_OTHER, code, class};
    for (int i = 0; i < 4; i++) {
        another = codes[i];
        CHECK_EQ(bad_send(a), another);
        CHECK_EQ(MPI_Bcast(&x, -1, MPI_INT, 0, a), another);
        MPI_Irecv(&x, 1, MPI_BYTE, rank, 1, a, &q);
        MPI_Send("long", 5, MPI_BYTE, rank, 1, a);
        CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), another);
        CHECK(q == MPI_REQUEST_NULL);
        CHECK_EQ(MPI_Comm_call_errhandler(a, MPI_ERR_RANK), MPI_SUCCESS); /* the call of the handler went well */
    }
    CHECK_EQ(runs[0] - before, 16);
    MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_set_errhandler(w, eh_win);
    CHECK_EQ(MPI_Put(&x, 1, MPI_INT, size, 0, 1, MPI_INT, w), another);
    MPI_Win_free(&w);
    MPI_Comm_free(&a);
    MPI_Errhandler_free(&eh);
    MPI_Errhandler_free(&eh_win);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
}

static void handlers(void)
{
    MPI_Comm a, b, d;
    MPI_Errhandler one, two, got;
    int code, class;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&got); /* predefined ones may be "freed" after a get */
    CHECK(got == MPI_ERRHANDLER_NULL);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_create_errhandler(first, &one);
    MPI_Comm_create_errhandler(second, &two);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_set_errhandler(a, one);
    MPI_Comm_dup(a, &b); /* inherited */
    MPI_Comm_split(a, 0, 0, &d);
    MPI_Comm_get_errhandler(b, &got);
    CHECK(got == one);
    MPI_Errhandler_free(&got);
    MPI_Comm_get_errhandler(d, &got);
    CHECK(got == one);
    MPI_Errhandler_free(&got);
    MPI_Comm_set_errhandler(b, two); /* the others keep theirs */
    MPI_Comm_set_errhandler(d, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&one);
    MPI_Errhandler_free(&two);
    CHECK(one == MPI_ERRHANDLER_NULL);

    CHECK_EQ(class_of(bad_send(a)), MPI_ERR_RANK);
    CHECK(runs[0] == 1 && runs[1] == 0 && last_comm == a && class_of(last_code) == MPI_ERR_RANK);
    CHECK_EQ(class_of(bad_send(b)), MPI_ERR_RANK);
    CHECK(runs[0] == 1 && runs[1] == 1 && last_comm == b);
    CHECK_EQ(class_of(bad_send(b)), MPI_ERR_RANK); /* the one that the handler set */
    CHECK(runs[0] == 2 && runs[1] == 1 && last_comm == b);
    CHECK_EQ(class_of(bad_send(d)), MPI_ERR_RANK);
    CHECK(runs[0] == 2 && runs[1] == 1);

    /* The error of a request goes to its communicator's handler, also when it is freed meanwhile or waited for with others. */
    int in[2] = {0, 0}, out[3] = {1, 2, 3};
    MPI_Request q[2];
    MPI_Status s[2];
    MPI_Irecv(in, 1, MPI_INT, rank, 1, a, &q[0]);
    MPI_Send(out, 3, MPI_INT, rank, 1, a);
    CHECK_EQ(class_of(MPI_Wait(&q[0], MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    CHECK(runs[0] == 3 && last_comm == a && class_of(last_code) == MPI_ERR_TRUNCATE);
    MPI_Irecv(in, 1, MPI_INT, rank, 1, a, &q[0]);
    MPI_Irecv(in + 1, 1, MPI_INT, rank, 2, d, &q[1]);
    MPI_Send(out, 3, MPI_INT, rank, 1, a);
    MPI_Send(out, 1, MPI_INT, rank, 2, d);
    CHECK_EQ(MPI_Waitall(2, q, s), MPI_ERR_IN_STATUS);
    CHECK(class_of(s[0].MPI_ERROR) == MPI_ERR_TRUNCATE && s[1].MPI_ERROR == MPI_SUCCESS && in[1] == 1);
    CHECK(runs[0] == 4 && last_comm == a && last_code == MPI_ERR_IN_STATUS);

    /* A bad argument of a wait is no error of the request that failed before it, and has no communicator. */
    MPI_Recv_init(in, 1, MPI_INT, rank, 1, a, &q[0]);
    MPI_Start(&q[0]);
    MPI_Send(out, 3, MPI_INT, rank, 1, a);
    CHECK_EQ(class_of(MPI_Wait(&q[0], MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    CHECK(runs[0] == 5 && last_comm == a && q[0] != MPI_REQUEST_NULL);
    CHECK_EQ(class_of(MPI_Waitsome(-1, q, &code, &class, s)), MPI_ERR_COUNT);
    MPI_Send(out, 3, MPI_INT, rank, 1, a);
    CHECK_EQ(class_of(MPI_Recv(in, 1, MPI_INT, rank, 1, a, s)), MPI_ERR_TRUNCATE);
    CHECK_EQ(runs[0], 6);
    CHECK_EQ(class_of(MPI_Waitall(-1, q, s)), MPI_ERR_COUNT);
    CHECK_EQ(runs[0], 6);
    MPI_Request_free(&q[0]);

    /* Called by the program, with codes of all kinds. */
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    int before = runs[0];
    CHECK_EQ(MPI_Comm_call_errhandler(a, MPI_ERR_OTHER), MPI_SUCCESS);
    CHECK(runs[0] - before == 1 && last_comm == a && last_code == MPI_ERR_OTHER);
    CHECK_EQ(MPI_Comm_call_errhandler(a, code), MPI_SUCCESS);
    CHECK(runs[0] - before == 2 && last_code == code);
    CHECK_EQ(MPI_Comm_call_errhandler(d, code), MPI_SUCCESS);
    CHECK_EQ(runs[0] - before, 2);

    /* Calls without a communicator go to the one of MPI_COMM_SELF. */
    MPI_Datatype t = MPI_DATATYPE_NULL;
    int n;
    MPI_Comm_get_errhandler(a, &got);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, got);
    MPI_Errhandler_free(&got);
    CHECK_EQ(class_of(MPI_Type_size(t, &n)), MPI_ERR_TYPE);
    CHECK(runs[0] - before == 3 && last_comm == MPI_COMM_SELF);
    MPI_Comm null = MPI_COMM_NULL;
    CHECK_EQ(class_of(MPI_Comm_rank(null, &n)), MPI_ERR_COMM);
    CHECK(runs[0] - before == 4 && last_comm == MPI_COMM_SELF);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

    /* The library goes on. */
    int sum = 0, one_more = 1;
    MPI_Allreduce(&one_more, &sum, 1, MPI_INT, MPI_SUM, b);
    CHECK_EQ(sum, size);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
    MPI_Comm_free(&d);
}

/* With the argument "initial": started with mpi_errors_return as the initial error handler. */
static int initial(int argc, char **argv)
{
    MPI_Errhandler eh;
    MPI_Comm c;
    char text[40];
    int n, flag, length = sizeof text;
    CHECK_EQ(class_of(MPI_Comm_size(MPI_COMM_WORLD, &n)), MPI_ERR_OTHER); /* too early */
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &eh);
    CHECK(eh == MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &eh);
    CHECK(eh == MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    CHECK_EQ(class_of(bad_send(c)), MPI_ERR_RANK);
    MPI_Comm_free(&c);
    MPI_Info_get_string(MPI_INFO_ENV, "mpi_initial_errhandler", &length, text, &flag);
    CHECK(flag && strcmp(text, "mpi_errors_return") == 0);
    int rc = test_end();
    CHECK_EQ(class_of(MPI_Comm_size(MPI_COMM_WORLD, &n)), MPI_ERR_OTHER); /* too late */
    return rc || failures != 0;
}

int main(int argc, char **argv)
{
    int class, code;
    if (argc > 1 && strcmp(argv[1], "initial") == 0) return initial(argc, argv);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "early");
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    predefined();
    own(class, code);
    handlers();
    changed_codes();
    int rc = test_end();
    CHECK_EQ(class_of(code), class); /* after MPI_Finalize too */
    CHECK(text_is(code, "early"));
    MPI_Remove_error_string(code);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
    return rc || failures != 0;
}
