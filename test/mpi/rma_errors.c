/* rma_errors.c -- what is wrong with a call on a window comes back as the right class, by the window's own error handler, and the
 * window works afterwards.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma_check.h"

static int handled, handled_code;
static MPI_Win handled_win;
static void handler(MPI_Win *win, int *code, ...)
{
    handled++;
    handled_code = *code;
    handled_win = *win;
}

static MPI_Win current;
static void expect(int line, const char *what, int rc, int class)
{
    int got = -1;
    MPI_Error_class(rc, &got);
    if (got != class && failures++ < 20) fprintf(stderr, "rank %d: line %d: %s: class %d, not %d\n", rank, line, what, got, class);
    if ((handled != 1 || handled_code != rc || handled_win != current) && failures++ < 20)
        fprintf(stderr, "rank %d: line %d: %s: the error handler was called %d times, with %d\n", rank, line, what, handled,
                handled_code);
    handled = 0;
}
#define EXPECT(call, class) expect(__LINE__, #call, call, class)

/* What an open epoch had allowed is refused after it. */
static void closed(struct window *w, int target)
{
    long one = 1, none = 0, old = 77;
    MPI_Aint at = w->at[target];
    EXPECT(MPI_Put(&one, 1, MPI_LONG, target, at, 1, MPI_LONG, w->win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Get(&old, 1, MPI_LONG, target, at, 1, MPI_LONG, w->win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Accumulate(&one, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_SUM, w->win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Fetch_and_op(&one, &old, MPI_LONG, target, at, MPI_SUM, w->win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Compare_and_swap(&one, &none, &old, MPI_LONG, target, at, w->win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_flush(target, w->win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_flush_local(target, w->win), MPI_ERR_RMA_SYNC);
    CHECK_EQ(old, 77);
}

static void no_op(void *in, void *inout, int *len, MPI_Datatype *t) { (void)in, (void)inout, (void)len, (void)t; }

static void epochs(struct window *w)
{
    MPI_Win win = w->win;
    MPI_Request r;
    MPI_Group all;
    int x = 1, flag, right = (rank + 1) % size;
    MPI_Aint at = w->at[right];
    MPI_Win_get_group(win, &all);
    EXPECT(MPI_Put(&x, 1, MPI_INT, right, at, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Get(&x, 1, MPI_INT, right, at, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Accumulate(&x, 1, MPI_INT, right, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_unlock(right, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_flush(right, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_flush_local(right, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_start(all, MPI_MODE_NOCHECK, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    if (size > 1) EXPECT(MPI_Put(&x, 1, MPI_INT, rank, w->at[rank], 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    if (size > 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        MPI_Put(&x, 1, MPI_INT, rank, w->at[rank], 1, MPI_INT, win);
        MPI_Win_unlock(rank, win);
        EXPECT(MPI_Put(&x, 1, MPI_INT, rank, w->at[rank], 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
        EXPECT(MPI_Win_flush(rank, win), MPI_ERR_RMA_SYNC);
    }
    MPI_Win_unlock(right, win);
    closed(w, right);
    MPI_Win_lock_all(0, win);
    MPI_Get(&x, 1, MPI_INT, right, at, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    closed(w, right);
    MPI_Win_fence(0, win); /* used: a lock may not follow without another fence */
    MPI_Get(&x, 1, MPI_INT, right, at, 1, MPI_INT, win);
    EXPECT(MPI_Win_flush(right, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Rput(&x, 1, MPI_INT, right, at, 1, MPI_INT, win, &r), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), MPI_ERR_RMA_SYNC);
    MPI_Win_fence(0, win);
    MPI_Win_lock_all(0, win); /* unused: it may */
    MPI_Win_unlock_all(win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EXPECT(MPI_Put(&x, 1, MPI_INT, right, at, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    MPI_Win_post(all, MPI_MODE_NOCHECK, win);
    EXPECT(MPI_Win_post(all, MPI_MODE_NOCHECK, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_start(all, MPI_MODE_NOCHECK, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&all);
}

static void arguments(struct window *w)
{
    MPI_Win win = w->win;
    MPI_Datatype two, mixed;
    MPI_Op users;
    int x[2] = {1, 2}, right = (rank + 1) % size;
    double d = 1;
    MPI_Aint at = w->at[right];
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_INT, MPI_FLOAT}, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Op_create(no_op, 1, &users);
    EXPECT(MPI_Win_fence(1 << 20, win), MPI_ERR_ASSERT);
    EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, right, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    EXPECT(MPI_Win_lock(77, right, 0, win), MPI_ERR_LOCKTYPE);
    EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, -7, 0, win), MPI_ERR_RANK);
    MPI_Win_lock_all(0, win);
    EXPECT(MPI_Put(x, 1, MPI_INT, size, at, 1, MPI_INT, win), MPI_ERR_RANK);
    EXPECT(MPI_Put(x, 1, MPI_INT, -7, at, 1, MPI_INT, win), MPI_ERR_RANK);
    EXPECT(MPI_Put(x, -1, MPI_INT, right, at, 1, MPI_INT, win), MPI_ERR_COUNT);
    EXPECT(MPI_Put(x, 1, MPI_INT, right, at, -1, MPI_INT, win), MPI_ERR_COUNT);
    EXPECT(MPI_Put(x, 1, MPI_DATATYPE_NULL, right, at, 1, MPI_INT, win), MPI_ERR_TYPE);
    EXPECT(MPI_Put(x, 1, MPI_INT, right, at, 1, MPI_DATATYPE_NULL, win), MPI_ERR_TYPE);
    EXPECT(MPI_Put(NULL, 1, MPI_INT, right, at, 1, MPI_INT, win), MPI_ERR_BUFFER);
    EXPECT(MPI_Put(x, 2, MPI_INT, right, at, 1, MPI_INT, win), MPI_ERR_TRUNCATE);
    EXPECT(MPI_Get(x, 1, MPI_INT, right, at, 1, two, win), MPI_ERR_TRUNCATE);
    EXPECT(MPI_Put(x, 2, MPI_INT, right, at + 60, 1, two, win), MPI_ERR_RMA_RANGE);
    EXPECT(MPI_Get(x, 1, MPI_INT, right, at + 64, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    EXPECT(MPI_Fetch_and_op(x, x + 1, MPI_INT, right, at + 61, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    EXPECT(MPI_Put(x, 1, MPI_INT, right, (MPI_Aint)1 << 62, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    if (w->kind != 4) EXPECT(MPI_Put(x, 1, MPI_INT, right, -4, 1, MPI_INT, win), MPI_ERR_DISP);
    EXPECT(MPI_Accumulate(x, 1, MPI_INT, right, at, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
    EXPECT(MPI_Accumulate(x, 1, MPI_INT, right, at, 1, MPI_INT, MPI_MAXLOC, win), MPI_ERR_OP);
    EXPECT(MPI_Accumulate(x, 1, MPI_INT, right, at, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    /* Without data nobody computes: other libraries let that pass, and so do we. */
    CHECK_EQ(MPI_Accumulate(&d, 0, MPI_DOUBLE, right, at, 0, MPI_DOUBLE, MPI_BAND, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Get_accumulate(&d, 0, MPI_INT, x, 0, MPI_INT, right, at, 0, MPI_INT, MPI_MAXLOC, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Accumulate(x, 0, MPI_INT, right, at, 0, MPI_DOUBLE, MPI_SUM, win), MPI_SUCCESS);
    EXPECT(MPI_Accumulate(&d, 1, MPI_DOUBLE, right, at, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
    EXPECT(MPI_Accumulate(x, 0, MPI_INT, right, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_COUNT);
    EXPECT(MPI_Accumulate(x, 0, MPI_INT, right, at, 0, MPI_INT, users, win), MPI_ERR_OP);
    EXPECT(MPI_Accumulate(x, 2, mixed, right, at, 2, mixed, MPI_REPLACE, win), MPI_ERR_TYPE);
    EXPECT(MPI_Accumulate(x, 2, MPI_INT, right, at, 2, MPI_INT, users, win), MPI_ERR_OP);
    EXPECT(MPI_Accumulate(x, 2, MPI_INT, right, at + 60, 2, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    EXPECT(MPI_Compare_and_swap(x, x, x + 1, MPI_INT, right, at + 61, win), MPI_ERR_RMA_RANGE);
    EXPECT(MPI_Accumulate(&d, 1, MPI_DOUBLE, right, at, 2, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE);
    EXPECT(MPI_Accumulate(x, 2, MPI_INT, right, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_COUNT);
    EXPECT(MPI_Fetch_and_op(x, x + 1, two, right, at, MPI_SUM, win), MPI_ERR_TYPE);
    EXPECT(MPI_Fetch_and_op(x, NULL, MPI_INT, right, at, MPI_SUM, win), MPI_ERR_BUFFER);
    EXPECT(MPI_Compare_and_swap(&d, &d, x, MPI_DOUBLE, right, at, win), MPI_ERR_TYPE);
    MPI_Win_unlock_all(win);
    MPI_Type_free(&two);
    MPI_Type_free(&mixed);
    MPI_Op_free(&users);
    if (w->kind == 4) {
        EXPECT(MPI_Win_attach(win, w->base + 32, 8), MPI_ERR_RMA_ATTACH);
        EXPECT(MPI_Win_attach(win, w->base + 640, -1), MPI_ERR_SIZE);
        EXPECT(MPI_Win_detach(win, w->base + 8), MPI_ERR_BASE);
    } else {
        EXPECT(MPI_Win_attach(win, w->base, 8), MPI_ERR_RMA_FLAVOR);
    }
    EXPECT(MPI_Win_set_attr(win, MPI_WIN_BASE, x), MPI_ERR_KEYVAL);
    EXPECT(MPI_Win_delete_attr(win, MPI_TAG_UB), MPI_ERR_KEYVAL);
    MPI_Info info;
    MPI_Win_get_info(win, &info);
    MPI_Info_set(info, "no_locks", "true"); /* a promise, which GODWIT_CHECK looks after */
    MPI_Win_set_info(win, info);
    CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
    int mine = rank, got = -1;
    if (w->kind != 4) {
        MPI_Put(&mine, 1, MPI_INT, rank, at, 1, MPI_INT, win);
        MPI_Get(&got, 1, MPI_INT, rank, at, 1, MPI_INT, win);
        MPI_Win_flush(rank, win);
        CHECK_EQ(got, rank);
    }
    CHECK_EQ(MPI_Win_unlock_all(win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock(right, win), MPI_SUCCESS);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    EXPECT(MPI_ERR_OTHER, MPI_ERR_OTHER);
}

/* Datatypes without data are right in all calls, and nothing happens. */
static void of_nothing(struct window *w)
{
    int x[4] = {rank, rank, rank, rank}, right = (rank + 1) % size, got = -1;
    MPI_Aint at = w->at[right];
    MPI_Datatype none[3];
    MPI_Request q;
    MPI_Type_indexed(0, NULL, NULL, MPI_DOUBLE, &none[0]);
    MPI_Type_contiguous(0, MPI_INT, &none[1]);
    MPI_Type_create_struct(0, NULL, NULL, NULL, &none[2]);
    for (int i = 0; i < 3; i++) MPI_Type_commit(&none[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w->win);
    MPI_Put(&(int){100 + rank}, 1, MPI_INT, right, at, 1, MPI_INT, w->win);
    MPI_Win_flush(right, w->win);
    for (int i = 0; i < 9; i++) {
        MPI_Datatype a = none[i % 3], b = none[i / 3];
        CHECK_EQ(MPI_Put(x, 1, a, right, at, 2, b, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Get(x, 1, a, right, at, 2, b, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Accumulate(x, 1, a, right, at, 2, b, MPI_SUM, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Accumulate(x, 0, MPI_INT, right, at, 2, b, MPI_SUM, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Accumulate(x, 1, a, right, at, 1, b, MPI_REPLACE, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Get_accumulate(x, 1, a, x, 1, a, right, at, 2, b, MPI_PROD, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Get_accumulate(NULL, 0, MPI_INT, x, 1, a, right, at, 1, b, MPI_NO_OP, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Raccumulate(x, 3, a, right, at, 1, b, MPI_MAX, w->win, &q), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(MPI_Rget_accumulate(x, 1, a, x, 1, b, right, at, 1, b, MPI_BOR, w->win, &q), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EXPECT(MPI_Accumulate(x, 1, MPI_INT, right, at, 1, b, MPI_SUM, w->win), MPI_ERR_TYPE);
    }
    MPI_Get(&got, 1, MPI_INT, right, at, 1, MPI_INT, w->win);
    MPI_Win_flush(right, w->win);
    CHECK_EQ(got, 100 + rank);
    for (int i = 0; i < 4; i++) CHECK_EQ(x[i], rank);
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) MPI_Type_free(&none[i]);
}

/* It works after all that. */
static void still_works(struct window *w)
{
    int x = rank + 5, right = (rank + 1) % size;
    MPI_Win_fence(0, w->win);
    MPI_Put(&x, 1, MPI_INT, right, w->at[right], 1, MPI_INT, w->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    CHECK_EQ(*(int *)w->base, (rank + size - 1) % size + 5);
}

/* Collective calls that one rank gets wrong fail on all; handles that are none. */
static void making(void)
{
    MPI_Win win = MPI_WIN_NULL;
    char *base = NULL, memory[64];
    int class = 0;
    MPI_Error_class(MPI_Win_create(memory, rank == size - 1 ? -1 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), &class);
    CHECK_EQ(class, MPI_ERR_SIZE);
    MPI_Error_class(MPI_Win_allocate(64, rank == 0 ? 0 : 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), &class);
    CHECK_EQ(class, MPI_ERR_DISP);
    MPI_Error_class(MPI_Win_allocate(INT64_MAX / 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), &class);
    CHECK_EQ(class, MPI_ERR_NO_MEM);
    MPI_Error_class(MPI_Win_allocate_shared((MPI_Aint)1 << 50, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), &class);
    CHECK_EQ(class, is_one_node(MPI_COMM_WORLD) ? MPI_ERR_NO_MEM : MPI_ERR_RMA_SHARED);
    CHECK(win == MPI_WIN_NULL && base == NULL);
    MPI_Error_class(MPI_Win_fence(0, MPI_WIN_NULL), &class);
    CHECK_EQ(class, MPI_ERR_WIN);
    MPI_Error_class(MPI_Win_free(&win), &class);
    CHECK_EQ(class, MPI_ERR_WIN);
    MPI_Error_class(MPI_Win_set_name((MPI_Win)MPI_COMM_WORLD, "x"), &class);
    CHECK_EQ(class, MPI_ERR_WIN);
    MPI_Error_class(MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), &class);
    CHECK_EQ(class, MPI_ERR_COMM);
}

int main(int argc, char **argv)
{
    MPI_Errhandler eh, got, of_comm;
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    making();
    MPI_Win_create_errhandler(handler, &eh);
    MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(void *)handler, &of_comm);
    for (int kind = 0; kind < KINDS; kind++) {
        struct window w;
        window_make(&w, kind, 64);
        MPI_Win_get_errhandler(w.win, &got);
        CHECK(got == MPI_ERRORS_ARE_FATAL);
        MPI_Win_set_errhandler(w.win, eh);
        MPI_Win_get_errhandler(w.win, &got);
        CHECK(got == eh);
        MPI_Errhandler_free(&got);
        current = w.win;
        EXPECT(MPI_Win_set_errhandler(w.win, of_comm), MPI_ERR_ERRHANDLER);
        epochs(&w);
        MPI_Barrier(MPI_COMM_WORLD);
        arguments(&w);
        of_nothing(&w);
        still_works(&w);
        window_free(&w);
    }
    MPI_Errhandler_free(&eh);
    MPI_Errhandler_free(&of_comm);
    return test_end();
}
