/* threads_p2p.h -- scenes of threads_every.c: point-to-point messages and requests.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "threads_every.h"

enum { MODES = 4 };

static void buffer_attach(struct th *th, void **buffer, int messages)
{
    int bytes = messages * (SPACE + MPI_BSEND_OVERHEAD);
    *buffer = malloc((size_t)bytes);
    NOERR(MPI_Comm_attach_buffer(th->c, *buffer, bytes));
}
static void buffer_detach(struct th *th, void *buffer)
{
    void *back = NULL;
    int bytes = 0;
    MPI_Count large = 0;
    if (below(th, 2)) {
        NOERR(MPI_Comm_detach_buffer(th->c, &back, &bytes));
    } else {
        NOERR(MPI_Comm_detach_buffer_c(th->c, &back, &large));
        bytes = (int)large;
    }
    SO(back == buffer && bytes >= SPACE + MPI_BSEND_OVERHEAD);
    free(buffer);
}
static unsigned seed_of(int from, int t, int i) { return (unsigned)(from * 7919 + t * 131 + i); }

/* Every mode of sending, blocking or not; the receive is posted before. */
static void scene_modes(struct th *th)
{
    void *buffer = NULL;
    th->c = th->own, th->tag = 3; /* a buffer is the communicator's */
    buffer_attach(th, &buffer, 1);
    for (int i = 0; i < 2 * MODES; i++) {
        int n = some_bytes(th), mode = i % MODES, token = i;
        MPI_Request q, s = MPI_REQUEST_NULL;
        MPI_Status st;
        pattern_fill(th->a, n, seed_of(rank, th->t, i));
        memset(th->b, 0xee, (size_t)n);
        MPI_Irecv(th->b, SPACE, MPI_BYTE, th->left, th->tag, th->c, &q);
        MPI_Sendrecv_replace(&token, 1, MPI_INT, th->left, 9, th->right, 9, th->c, MPI_STATUS_IGNORE);
        EQ(token, i);
        if (i < MODES) {
            if (mode == 0) MPI_Send(th->a, n, MPI_BYTE, th->right, th->tag, th->c);
            if (mode == 1) MPI_Ssend(th->a, n, MPI_BYTE, th->right, th->tag, th->c);
            if (mode == 2) MPI_Rsend(th->a, n, MPI_BYTE, th->right, th->tag, th->c);
            if (mode == 3) MPI_Bsend(th->a, n, MPI_BYTE, th->right, th->tag, th->c);
        } else {
            if (mode == 0) MPI_Isend(th->a, n, MPI_BYTE, th->right, th->tag, th->c, &s);
            if (mode == 1) MPI_Issend(th->a, n, MPI_BYTE, th->right, th->tag, th->c, &s);
            if (mode == 2) MPI_Irsend(th->a, n, MPI_BYTE, th->right, th->tag, th->c, &s);
            if (mode == 3) MPI_Ibsend(th->a, n, MPI_BYTE, th->right, th->tag, th->c, &s);
        }
        MPI_Wait(&q, &st);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
        EQ(count_of(&st), n);
        EQ(pattern_wrong(th->b, n, seed_of(th->left, th->t, i)), -1);
    }
    MPI_Request flush;
    MPI_Comm_flush_buffer(th->c);
    MPI_Comm_iflush_buffer(th->c, &flush);
    MPI_Wait(&flush, MPI_STATUS_IGNORE);
    buffer_detach(th, buffer);
}

/* Every way to receive what may have come already. */
static void scene_receives(struct th *th)
{
    for (int i = 0; i < 7; i++) {
        int n = some_bytes(th), flag = 0, count = -1;
        MPI_Request q = MPI_REQUEST_NULL, s;
        MPI_Message m = MPI_MESSAGE_NULL;
        MPI_Status st = {0};
        choose_comm(th);
        int any = i % 2 && th->c == th->own ? MPI_ANY_SOURCE : th->left;
        pattern_fill(th->a, n, seed_of(rank, th->t, i));
        memset(th->b, 0xee, (size_t)n);
        MPI_Isend(th->a, n, MPI_BYTE, th->right, th->tag, th->c, &s);
        if (i == 0) MPI_Recv(th->b, SPACE, MPI_BYTE, any, th->tag, th->c, &st);
        if (i == 1) MPI_Irecv(th->b, SPACE, MPI_BYTE, any, th->tag, th->c, &q);
        if (i == 2) MPI_Probe(any, th->tag, th->c, &st);
        while (i == 3 && !flag) MPI_Iprobe(any, th->tag, th->c, &flag, &st);
        if (i == 2 || i == 3) {
            MPI_Get_count(&st, MPI_BYTE, &count);
            MPI_Recv(th->b, count, MPI_BYTE, st.MPI_SOURCE, st.MPI_TAG, th->c, &st);
        }
        if (i == 4 || i == 5) MPI_Mprobe(any, th->tag, th->c, &m, &st);
        while (i == 6 && !flag) MPI_Improbe(any, th->tag, th->c, &flag, &m, &st);
        if (i >= 4) {
            EQ(count_of(&st), n);
            SO(MPI_Message_fromint(MPI_Message_toint(m)) == m);
            SO(MPI_Message_f2c(MPI_Message_c2f(m)) == m);
        }
        if (i == 5) MPI_Imrecv(th->b, n, MPI_BYTE, &m, &q);
        if (i == 4 || i == 6) MPI_Mrecv(th->b, n, MPI_BYTE, &m, &st);
        SO(m == MPI_MESSAGE_NULL);
        if (q != MPI_REQUEST_NULL) MPI_Wait(&q, &st);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
        int source = -1, tag = -1;
        MPI_Status_get_source(&st, &source);
        MPI_Status_get_tag(&st, &tag);
        EQ(source, th->left);
        EQ(tag, th->tag);
        EQ(count_of(&st), n);
        EQ(pattern_wrong(th->b, n, seed_of(th->left, th->t, i)), -1);
    }
}

static void scene_persistent(struct th *th)
{
    enum { N = 8 };
    MPI_Request q[N]; /* four receives, then a send of each mode */
    void *buffer = NULL;
    int n = some_bytes(th) / MODES;
    th->c = th->own, th->tag = 20;
    buffer_attach(th, &buffer, 1);
    for (int i = 0; i < MODES; i++) { MPI_Recv_init(th->b + i * n, n, MPI_BYTE, th->left, th->tag + i, th->c, &q[i]); }
    MPI_Send_init(th->a, n, MPI_BYTE, th->right, th->tag, th->c, &q[4]);
    MPI_Ssend_init(th->a + n, n, MPI_BYTE, th->right, th->tag + 1, th->c, &q[5]);
    MPI_Rsend_init(th->a + 2 * n, n, MPI_BYTE, th->right, th->tag + 2, th->c, &q[6]);
    MPI_Bsend_init(th->a + 3 * n, n, MPI_BYTE, th->right, th->tag + 3, th->c, &q[7]);
    for (int round = 0; round < 3; round++) {
        int token = 0;
        pattern_fill(th->a, MODES * n, seed_of(rank, th->t, round));
        memset(th->b, 0xee, (size_t)(MODES * n));
        MPI_Startall(MODES, q);
        MPI_Sendrecv_replace(&token, 1, MPI_INT, th->left, 9, th->right, 9, th->c, MPI_STATUS_IGNORE);
        for (int i = MODES; i < N; i++) MPI_Start(&q[i]);
        MPI_Waitall(N, q, MPI_STATUSES_IGNORE);
        EQ(pattern_wrong(th->b, MODES * n, seed_of(th->left, th->t, round)), -1);
    }
    for (int i = 0; i < N; i++) MPI_Request_free(&q[i]);
    buffer_detach(th, buffer);
}

static void scene_partitioned(struct th *th)
{
    enum { PARTS = 12, IN_PARTS = 6, EACH = 500, BYTES = PARTS * EACH };
    MPI_Request q[2];
    MPI_Psend_init(th->a, PARTS, EACH, MPI_BYTE, th->right, 30, th->own, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(th->b, IN_PARTS, BYTES / IN_PARTS, MPI_BYTE, th->left, 30, th->own, MPI_INFO_NULL, &q[1]);
    for (int round = 0; round < 3; round++) {
        int list[] = {10, 1, 3}, flag = 0;
        memset(th->b, 0xee, BYTES);
        MPI_Startall(2, q);
        pattern_fill(th->a, BYTES, seed_of(rank, th->t, round));
        MPI_Pready_range(4, 9, q[0]);
        MPI_Pready(0, q[0]);
        MPI_Pready_list(3, list, q[0]);
        MPI_Pready(2, q[0]);
        MPI_Pready(11, q[0]);
        while (!flag) MPI_Parrived(q[1], round, &flag);
        const int each = BYTES / IN_PARTS;
        for (int i = round * each; i < (round + 1) * each; i++) EQ(th->b[i], pattern_at(seed_of(th->left, th->t, round), i));
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        EQ(pattern_wrong(th->b, BYTES, seed_of(th->left, th->t, round)), -1);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
}

static void scene_sendrecv(struct th *th)
{
    for (int i = 0; i < 4; i++) {
        int n = some_bytes(th);
        unsigned char *in = i % 2 ? th->a : th->b;
        MPI_Request q = MPI_REQUEST_NULL;
        choose_comm(th);
        pattern_fill(th->a, n, seed_of(rank, th->t, i));
        if (i == 0)
            MPI_Sendrecv(th->a, n, MPI_BYTE, th->right, th->tag, in, n, MPI_BYTE, th->left, th->tag, th->c, MPI_STATUS_IGNORE);
        if (i == 1) MPI_Sendrecv_replace(in, n, MPI_BYTE, th->right, th->tag, th->left, th->tag, th->c, MPI_STATUS_IGNORE);
        if (i == 2) MPI_Isendrecv(th->a, n, MPI_BYTE, th->right, th->tag, in, n, MPI_BYTE, th->left, th->tag, th->c, &q);
        if (i == 3) MPI_Isendrecv_replace(in, n, MPI_BYTE, th->right, th->tag, th->left, th->tag, th->c, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        EQ(pattern_wrong(in, n, seed_of(th->left, th->t, i)), -1);
    }
}

enum { MANY = 10 };
/* Brings all requests to their end by one kind of call. */
static void complete(struct th *th, int how, int n, MPI_Request *q)
{
    int done = 0, index, flag, some, indices[2 * MANY];
    MPI_Status st, sts[2 * MANY];
    switch (how) {
    case 0:
        for (int i = n; i-- > 0;) MPI_Wait(&q[i], &st);
        return;
    case 1:
        for (int i = n; i-- > 0;)
            for (flag = 0; !flag;) MPI_Test(&q[i], &flag, &st);
        return;
    case 2:
        for (; done < n; done++) {
            MPI_Waitany(n, q, &index, &st);
            SO(index >= 0 && index < n);
        }
        return;
    case 3:
        while (done < n) {
            MPI_Testany(n, q, &index, &flag, &st);
            done += flag;
        }
        return;
    case 4: MPI_Waitall(n, q, sts); return;
    case 5:
        for (flag = 0; !flag;) MPI_Testall(n, q, &flag, sts);
        return;
    case 6:
    case 7:
        while (done < n) {
            if (how == 6)
                MPI_Waitsome(n, q, &some, indices, sts);
            else
                MPI_Testsome(n, q, &some, indices, sts);
            if (how == 6) SO(some >= 1);
            done += some;
        }
        return;
    case 8:
        for (int i = 0; i < n; i++)
            for (flag = 0; !flag;) MPI_Request_get_status(q[i], &flag, &st);
        break;
    case 9:
        for (flag = 0; !flag;) MPI_Request_get_status_all(n, q, &flag, sts);
        break;
    case 10:
        for (flag = 0; !flag;) MPI_Request_get_status_any(n, q, &index, &flag, &st);
        SO(index >= 0 && index < n);
        break;
    case 11:
        for (some = 0; some < n;) MPI_Request_get_status_some(n, q, &some, indices, sts);
        break;
    }
    MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
}
static void scene_completions(struct th *th)
{
    for (int how = 0; how < 12; how++) {
        MPI_Request q[2 * MANY];
        int n = some_bytes(th) / MANY;
        choose_comm(th);
        pattern_fill(th->a, MANY * n, seed_of(rank, th->t, how));
        memset(th->b, 0xee, (size_t)(MANY * n));
        for (int i = 0; i < MANY; i++) MPI_Irecv(th->b + i * n, n, MPI_BYTE, th->left, th->tag + i, th->c, &q[2 * i]);
        for (int i = MANY; i-- > 0;) MPI_Isend(th->a + i * n, n, MPI_BYTE, th->right, th->tag + i, th->c, &q[2 * i + 1]);
        complete(th, how, 2 * MANY, q);
        for (int i = 0; i < 2 * MANY; i++) SO(q[i] == MPI_REQUEST_NULL);
        EQ(pattern_wrong(th->b, MANY * n, seed_of(th->left, th->t, how)), -1);
    }
}

static void scene_cancel(struct th *th)
{
    MPI_Request q, s[2];
    MPI_Status st;
    int flag = 0, got[2] = {-1, -1}, mine = rank;
    choose_comm(th);
    MPI_Irecv(th->b, 10, MPI_BYTE, th->left, th->tag + 15, th->c, &q);
    SO(MPI_Request_fromint(MPI_Request_toint(q)) == q);
    SO(MPI_Request_f2c(MPI_Request_c2f(q)) == q);
    MPI_Cancel(&q);
    MPI_Wait(&q, &st);
    MPI_Test_cancelled(&st, &flag);
    EQ(flag, 1);
    for (int i = 0; i < 2; i++) MPI_Isend(&mine, 1, MPI_INT, th->right, th->tag + i, th->c, &s[i]);
    MPI_Request_free(&s[0]);
    for (int i = 0; i < 2; i++) MPI_Recv(&got[i], 1, MPI_INT, th->left, th->tag + i, th->c, &st);
    MPI_Wait(&s[1], MPI_STATUS_IGNORE);
    EQ(got[0], th->left);
    EQ(got[1], th->left);
    MPI_Sendrecv(&mine, 1, MPI_INT, MPI_PROC_NULL, 0, got, 1, MPI_INT, MPI_PROC_NULL, 0, th->c, &st);
    EQ(st.MPI_SOURCE, MPI_PROC_NULL);
    EQ(got[0], th->left);
}

/* The process's own buffer: one thread at a time may have it. */
static void scene_buffer(struct th *th)
{
    int bytes = 4 * (1000 + MPI_BSEND_OVERHEAD), size_back = 0;
    void *buffer = malloc((size_t)bytes), *back = NULL;
    MPI_Count large = 0;
    MPI_Request q;
    th->c = th->own;
    for (int round = 0; round < 2; round++) {
        MPI_Buffer_attach(buffer, bytes);
        pattern_fill(th->a, 1000, seed_of(rank, th->t, 0));
        for (int i = 0; i < 4; i++) MPI_Bsend(th->a, 1000, MPI_BYTE, th->right, i, th->c);
        for (int i = 4; i-- > 0;) {
            memset(th->b, 0, 1000);
            MPI_Recv(th->b, 1000, MPI_BYTE, th->left, i, th->c, MPI_STATUS_IGNORE);
            EQ(pattern_wrong(th->b, 1000, seed_of(th->left, th->t, 0)), -1);
        }
        MPI_Buffer_iflush(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Buffer_flush();
        if (round)
            MPI_Buffer_detach(&back, &size_back);
        else
            MPI_Buffer_detach_c(&back, &large);
        SO(back == buffer);
    }
    EQ(size_back, bytes);
    EQ(large, bytes);
    free(buffer);
}

/* ---- generalized requests: another thread says that it is done -------------------------------------------------------------- */
static int user_query(void *extra, MPI_Status *st)
{
    MPI_Status_set_elements(st, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(st, 0);
    MPI_Status_set_source(st, 3);
    MPI_Status_set_tag(st, 4);
    MPI_Status_set_error(st, MPI_SUCCESS);
    return MPI_SUCCESS;
}
static int user_free(void *extra)
{
    *(int *)extra = -1;
    return MPI_SUCCESS;
}
static int user_cancel(void *extra, int is_complete)
{
    (void)extra, (void)is_complete;
    return MPI_SUCCESS;
}
struct completer {
    pthread_t id;
    MPI_Request q;
    struct th *of;
};
static void *completes(void *arg)
{
    struct completer *c = arg;
    call_seen = c->of->seen;
    sched_yield();
    MPI_Grequest_complete(c->q);
    return NULL;
}
static void scene_user_requests(struct th *th)
{
    int extra[4], count = -1;
    MPI_Request q[4];
    struct completer helper[4];
    for (int i = 0; i < 4; i++) {
        extra[i] = 10 + i;
        MPI_Grequest_start(user_query, user_free, user_cancel, &extra[i], &q[i]);
        helper[i] = (struct completer){.q = q[i], .of = th};
        pthread_create(&helper[i].id, NULL, completes, &helper[i]);
    }
    for (int i = 0; i < 4; i++) {
        MPI_Status st;
        MPI_Wait(&q[i], &st);
        MPI_Get_count(&st, MPI_INT, &count);
        EQ(count, 10 + i);
        EQ(st.MPI_SOURCE, 3);
        EQ(st.MPI_TAG, 4);
        EQ(extra[i], -1);
        pthread_join(helper[i].id, NULL);
    }
}

static void scene_status(struct th *th)
{
    MPI_Status st, back;
    MPI_Fint f[MPI_F_STATUS_SIZE];
    MPI_F08_Status f08;
    int count = 0, flag = 0, error = 0;
    MPI_Count large = 0;
    choose_comm(th);
    MPI_Sendrecv(th->a, 6, MPI_INT, th->right, th->tag, th->b, 10, MPI_INT, th->left, th->tag, th->c, &st);
    MPI_Get_count(&st, MPI_INT, &count);
    EQ(count, 6);
    MPI_Get_count_c(&st, MPI_INT, &large);
    EQ(large, 6);
    MPI_Get_elements(&st, MPI_2INT, &count);
    EQ(count, 6);
    MPI_Get_elements_c(&st, MPI_2INT, &large);
    EQ(large, 6);
    MPI_Get_elements_x(&st, MPI_INT, &large);
    EQ(large, 6);
    MPI_Status_set_error(&st, MPI_ERR_OTHER);
    MPI_Status_set_source(&st, 11);
    MPI_Status_set_tag(&st, 12);
    MPI_Status_set_elements(&st, MPI_INT, 5);
    MPI_Status_set_elements_x(&st, MPI_INT, 7);
    MPI_Status_set_cancelled(&st, 1);
    memset(&back, 0, sizeof back);
    MPI_Status_c2f(&st, f);
    MPI_Status_f2c(f, &back);
    EQ(back.MPI_TAG, 12);
    memset(&back, 0, sizeof back);
    MPI_Status_c2f08(&st, &f08);
    MPI_Status_f082f(&f08, f);
    MPI_Status_f2f08(f, &f08);
    MPI_Status_f082c(&f08, &back);
    MPI_Status_get_error(&back, &error);
    MPI_Test_cancelled(&back, &flag);
    MPI_Get_count(&back, MPI_INT, &count);
    EQ(error, MPI_ERR_OTHER);
    EQ(flag, 1);
    EQ(count, 7);
    EQ(back.MPI_SOURCE, 11);
}
