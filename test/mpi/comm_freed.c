/* comm_freed.c -- an operation that fails after MPI_Comm_free of its communicator: the communicator's error handler gets the error, not that
 * of MPI_COMM_SELF, by each call that completes requests; also with many communicators freed since, and a handler freed itself.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

static int calls[2], self_calls, last_class;
static void note(int which, MPI_Comm c, int code)
{
    CHECK(c == MPI_COMM_NULL); /* its handle is no longer valid */
    MPI_Error_class(code, &last_class);
    calls[which]++;
}
static void first(MPI_Comm *c, int *code, ...) { note(0, *c, *code); }
static void second(MPI_Comm *c, int *code, ...) { note(1, *c, *code); }
static void of_self(MPI_Comm *c, int *code, ...)
{
    (void)c, (void)code;
    self_calls++;
}

enum { MANY = 20, LONG = 8 };
/* A communicator that is freed while a receive is pending on it, for which each rank is sent too much. */
static MPI_Request pending(MPI_Errhandler eh, char *into)
{
    static char data[LONG];
    MPI_Comm c;
    MPI_Request r, s;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, eh);
    MPI_Irecv(into, LONG / 2, MPI_BYTE, (rank + size - 1) % size, 3, c, &r);
    MPI_Isend(data, LONG, MPI_BYTE, (rank + 1) % size, 3, c, &s);
    MPI_Comm_free(&c);
    CHECK(c == MPI_COMM_NULL);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    return r;
}

static void complete(int how, MPI_Request *r)
{
    int done = 0, n = 0, index;
    MPI_Status st;
    switch (how) {
    case 0: MPI_Wait(r, &st); break;
    case 1:
        while (!done) MPI_Test(r, &done, &st);
        break;
    case 2: MPI_Waitall(1, r, &st); break;
    case 3: MPI_Waitany(1, r, &index, &st); break;
    default: MPI_Waitsome(1, r, &n, &index, &st); break;
    }
    CHECK(*r == MPI_REQUEST_NULL);
}

/* Windows have communicators of their own, with the handler of the one that they are made of: they push nothing out. */
static void after_windows(char *into)
{
    enum { WINDOWS = 100 };
    MPI_Errhandler old, eh;
    MPI_Comm_create_errhandler(first, &eh);
    MPI_Request r = pending(eh, into);
    int before = calls[0];
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win w;
        MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
        MPI_Win_free(&w);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, old);
    complete(0, &r);
    CHECK_EQ(calls[0], before + 1);
    MPI_Errhandler_free(&old);
    MPI_Errhandler_free(&eh);
}

/* A communicator of MPI_COMM_SELF's handler that has the handle of an earlier one with another: not that one's is called. */
static void handle_again(char *into)
{
    enum { MOST = 100000 };
    static char data[LONG];
    MPI_Errhandler eh;
    MPI_Comm c;
    MPI_Comm_create_errhandler(first, &eh);
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    MPI_Comm_set_errhandler(c, eh);
    MPI_Errhandler_free(&eh);
    int handle = MPI_Comm_toint(c), before = calls[0], self_before = self_calls, n;
    MPI_Comm_free(&c);
    for (n = 0; n < MOST; n++) {
        MPI_Comm_dup(MPI_COMM_SELF, &c);
        if (MPI_Comm_toint(c) == handle) break;
        MPI_Comm_free(&c);
    }
    if (getenv("GODWIT_CHECK")) { /* handles do not come back so soon, so that wrong ones are seen */
        CHECK_EQ(n, MOST);
        return;
    }
    CHECK(n < MOST);
    MPI_Request r;
    MPI_Irecv(into, LONG / 2, MPI_BYTE, 0, 3, c, &r);
    MPI_Send(data, LONG, MPI_BYTE, 0, 3, c);
    MPI_Comm_free(&c);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(calls[0], before);
    CHECK_EQ(self_calls, self_before + 1);
}

int main(int argc, char **argv)
{
    static char into[MANY][LONG];
    MPI_Errhandler eh[2], self;
    MPI_Request r[MANY];
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_create_errhandler(first, &eh[0]);
    MPI_Comm_create_errhandler(second, &eh[1]);
    MPI_Comm_create_errhandler(of_self, &self);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, self);

    for (int i = 0; i < MANY; i++) r[i] = pending(eh[i % 2], into[i]);
    MPI_Errhandler_free(&eh[1]); /* it lives as long as the operations that may need it */
    for (int i = 0; i < MANY; i++) {
        int before = calls[i % 2], other = calls[1 - i % 2];
        complete(i / 2 % 5, &r[i]);
        CHECK_EQ(calls[i % 2], before + 1);
        CHECK_EQ(calls[1 - i % 2], other);
        CHECK_EQ(last_class, i / 2 % 5 == 2 || i / 2 % 5 == 4 ? MPI_ERR_IN_STATUS : MPI_ERR_TRUNCATE);
    }
    CHECK_EQ(self_calls, 0);

    /* The one predefined handler that lets the program go on. */
    MPI_Status st;
    MPI_Request q = pending(MPI_ERRORS_RETURN, into[0]);
    int class;
    MPI_Error_class(MPI_Wait(&q, &st), &class);
    CHECK_EQ(class, MPI_ERR_TRUNCATE);
    CHECK_EQ(self_calls, 0);
    CHECK_EQ(calls[0] + calls[1], MANY);

    /* A communicator with the handler of MPI_COMM_SELF; and errors of no communicator go there still. */
    q = pending(self, into[0]);
    MPI_Wait(&q, &st);
    CHECK_EQ(self_calls, 1);
    MPI_Wait(NULL, &st);
    CHECK_EQ(self_calls, 2);
    after_windows(into[0]);
    handle_again(into[0]);
    MPI_Errhandler_free(&eh[0]);
    MPI_Errhandler_free(&self);
    return test_end();
}
