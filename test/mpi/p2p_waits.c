/* p2p_waits.c -- wait and test in all forms over a crowd of requests that complete in any order; status queries; freed requests.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { N = 40 };

/* The even rank posts N receives and some null requests; the odd one sends in a shuffled order. */
static void crowd(int how, int bytes)
{
    int partner = rank ^ 1;
    if (partner >= size) return;
    if (rank & 1) {
        unsigned char *b = malloc((size_t)bytes);
        for (int k = 0; k < N; k++) {
            int i = k * 17 % N;
            pattern_fill(b, bytes, (unsigned)i);
            MPI_Send(b, bytes, MPI_BYTE, partner, i, MPI_COMM_WORLD);
        }
        free(b);
        return;
    }
    MPI_Request q[N + 2];
    MPI_Status s[N + 2], one;
    unsigned char *in[N];
    int done = 0, flag, index, count, indices[N + 2], seen[N] = {0};
    q[N] = q[N + 1] = MPI_REQUEST_NULL;
    for (int i = 0; i < N; i++) {
        in[i] = calloc(1, (size_t)bytes);
        MPI_Irecv(in[i], bytes, MPI_BYTE, partner, i, MPI_COMM_WORLD, &q[i]);
    }
    while (done < N) {
        switch (how) {
        case 0:
            MPI_Waitall(N + 2, q, s);
            for (int i = 0; i < N; i++) CHECK_EQ(s[i].MPI_TAG, i);
            CHECK_EQ(s[N].MPI_SOURCE, MPI_ANY_SOURCE);
            for (int i = 0; i < N; i++) seen[i]++;
            done = N;
            break;
        case 1:
            MPI_Testall(N + 2, q, &flag, s);
            if (!flag) {
                for (int i = 0; i < N; i++) CHECK(q[i] != MPI_REQUEST_NULL);
                break;
            }
            for (int i = 0; i < N; i++) seen[i]++;
            done = N;
            break;
        case 2:
            MPI_Waitany(N + 2, q, &index, &one);
            CHECK(index >= 0 && index < N);
            CHECK_EQ(one.MPI_TAG, index);
            CHECK(q[index] == MPI_REQUEST_NULL);
            seen[index]++;
            done++;
            break;
        case 3:
            MPI_Testany(N + 2, q, &index, &flag, &one);
            if (!flag) {
                CHECK_EQ(index, MPI_UNDEFINED);
                break;
            }
            CHECK_EQ(one.MPI_TAG, index);
            seen[index]++;
            done++;
            break;
        case 4:
        case 5:
            if (how == 4)
                MPI_Waitsome(N + 2, q, &count, indices, s);
            else
                MPI_Testsome(N + 2, q, &count, indices, s);
            if (how == 4) CHECK(count > 0);
            for (int k = 0; k < count; k++) {
                CHECK_EQ(s[k].MPI_TAG, indices[k]);
                seen[indices[k]]++;
            }
            done += count;
            break;
        default: { /* look first, then wait */
            int i = done;
            do MPI_Request_get_status(q[i], &flag, &one);
            while (!flag);
            CHECK_EQ(one.MPI_TAG, i);
            CHECK(q[i] != MPI_REQUEST_NULL);
            MPI_Request_get_status(q[i], &flag, MPI_STATUS_IGNORE);
            CHECK(flag);
            MPI_Test(&q[i], &flag, &one);
            CHECK(flag);
            CHECK_EQ(count_of(&one), bytes);
            seen[i]++;
            done++;
        }
        }
    }
    for (int i = 0; i < N; i++) {
        CHECK_EQ(seen[i], 1);
        CHECK(q[i] == MPI_REQUEST_NULL);
        CHECK_EQ(pattern_wrong(in[i], bytes, (unsigned)i), -1);
        free(in[i]);
    }
    MPI_Waitany(N + 2, q, &index, &one);
    CHECK_EQ(index, MPI_UNDEFINED);
    MPI_Testany(N + 2, q, &index, &flag, &one);
    CHECK(flag && index == MPI_UNDEFINED);
    MPI_Waitsome(N + 2, q, &count, indices, s);
    CHECK_EQ(count, MPI_UNDEFINED);
    MPI_Testsome(N + 2, q, &count, indices, s);
    CHECK_EQ(count, MPI_UNDEFINED);
    MPI_Testall(N + 2, q, &flag, s);
    CHECK(flag);
}

/* MPI_Waitany, MPI_Testany and MPI_Request_get_status_any name the lowest index that is complete, in whatever order it was posted; MPI_Waitsome's
 * indices rise.  So do other libraries, and programs rely on it. */
static void lowest(int way)
{
    static const int slots[] = {3, 1, 4, 0, 2};
    enum { MANY = 5 };
    int partner = rank ^ 1, in[MANY], none = 0, index = -1, flag = 1, all[MANY], n;
    MPI_Request q[MANY];
    if (partner >= size) return;
    for (int i = 0; i < MANY; i++) MPI_Irecv(&in[slots[i]], 1, MPI_INT, partner, 63, MPI_COMM_WORLD, &q[slots[i]]);
    for (int i = 0; i < MANY; i++) MPI_Send(&i, 1, MPI_INT, partner, 63, MPI_COMM_WORLD);
    MPI_Sendrecv(&none, 0, MPI_INT, partner, 62, &none, 0, MPI_INT, partner, 62, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (way == 3) {
        MPI_Waitsome(MANY, q, &n, all, MPI_STATUSES_IGNORE);
        CHECK_EQ(n, MANY);
        for (int i = 0; i < n; i++) CHECK_EQ(all[i], i);
    }
    for (int i = 0; i < MANY && way != 3; i++) {
        if (way == 0) MPI_Waitany(MANY, q, &index, MPI_STATUS_IGNORE);
        if (way == 1) MPI_Testany(MANY, q, &index, &flag, MPI_STATUS_IGNORE);
        if (way == 2) {
            MPI_Request_get_status_any(MANY, q, &index, &flag, MPI_STATUS_IGNORE);
            MPI_Wait(&q[i], MPI_STATUS_IGNORE);
        }
        CHECK_EQ(flag, 1);
        CHECK_EQ(index, i);
    }
    for (int i = 0; i < MANY; i++) CHECK_EQ(in[slots[i]], i);
}

/* A first request that is always complete leaves the second one its progress. */
static void nobody_starves(int way)
{
    enum { LONG = 600000 };
    int partner = rank ^ 1, index = -1, n = 1, all[2], flag = 1;
    if (partner >= size) return;
    unsigned char *data = calloc(1, LONG);
    if (rank & 1) {
        pattern_fill(data, LONG, 6);
        MPI_Send(data, LONG, MPI_BYTE, partner, 64, MPI_COMM_WORLD);
    } else {
        MPI_Request q[2];
        MPI_Send_init(&n, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(data, LONG, MPI_BYTE, partner, 64, MPI_COMM_WORLD, &q[1]);
        while (pattern_wrong(data, LONG, 6) != -1) { /* the data itself show that it moves */
            MPI_Start(&q[0]);
            if (way == 0) MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
            if (way == 1) MPI_Testany(2, q, &index, &flag, MPI_STATUS_IGNORE);
            if (way == 2) MPI_Waitsome(1, q, &n, all, MPI_STATUSES_IGNORE);
            if (way == 3) MPI_Testsome(1, q, &n, all, MPI_STATUSES_IGNORE);
            CHECK(flag && (way < 2 ? index == 0 : n == 1 && all[0] == 0));
        }
        MPI_Request_free(&q[0]);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    }
    free(data);
}

/* Of receives of any source MPI_Waitany takes the one that was posted first, wherever it stands: so a last message comes last.  The standard
 * leaves the choice open (MPI 4.1 section 3.7.5); HPC Challenge's RandomAccess, which ends with what it takes for the last message, loses
 * updates where slots are taken by their index. */
static void in_order(int are_posted, int are_persistent)
{
    static const int slots[] = {3, 1, 4, 0, 2};
    enum { MANY = 5 };
    int partner = rank ^ 1, in[MANY], none = 0, index;
    if (partner >= size) return;
    if (rank & 1) {
        if (are_posted) MPI_Recv(&none, 0, MPI_INT, partner, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < MANY; i++) MPI_Send(&i, 1, MPI_INT, partner, 61, MPI_COMM_WORLD);
        MPI_Send(&none, 0, MPI_INT, partner, 62, MPI_COMM_WORLD);
        return;
    }
    MPI_Request q[MANY];
    if (!are_posted) MPI_Recv(&none, 0, MPI_INT, partner, 62, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; i++) {
        if (!are_persistent) {
            MPI_Irecv(&in[slots[i]], 1, MPI_INT, MPI_ANY_SOURCE, 61, MPI_COMM_WORLD, &q[slots[i]]);
            continue;
        }
        MPI_Recv_init(&in[slots[i]], 1, MPI_INT, MPI_ANY_SOURCE, 61, MPI_COMM_WORLD, &q[slots[i]]);
        MPI_Start(&q[slots[i]]);
    }
    if (are_posted) {
        MPI_Send(&none, 0, MPI_INT, partner, 60, MPI_COMM_WORLD);
        MPI_Recv(&none, 0, MPI_INT, partner, 62, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* what was sent before it is there, too */
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Waitany(MANY, q, &index, MPI_STATUS_IGNORE);
        CHECK_EQ(index, slots[i]);
        CHECK_EQ(in[slots[i]], i);
    }
    for (int i = 0; i < MANY && are_persistent; i++) MPI_Request_free(&q[i]);
}

/* Requests freed while they are active: the communication happens all the same. */
static void freed(int bytes)
{
    int partner = rank ^ 1;
    if (partner >= size) return;
    unsigned char *out = malloc((size_t)bytes), *in = calloc(1, (size_t)bytes);
    MPI_Request q;
    pattern_fill(out, bytes, 5);
    MPI_Irecv(in, bytes, MPI_BYTE, partner, 50, MPI_COMM_WORLD, &q);
    MPI_Request_free(&q);
    CHECK(q == MPI_REQUEST_NULL);
    MPI_Issend(out, bytes, MPI_BYTE, partner, 50, MPI_COMM_WORLD, &q);
    MPI_Request_free(&q);
    /* Only the data itself show when it is over. */
    while (pattern_wrong(in, bytes, 5) != -1) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    /* Both partners have their data, so both buffers have been read. */
    MPI_Barrier(MPI_COMM_WORLD);
    free(in);
    free(out);
}

/* A communicator freed while requests on it are pending. */
static void comm_freed(void)
{
    int partner = rank ^ 1, v = -1, w = rank;
    MPI_Comm c;
    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    if (partner < size) MPI_Irecv(&v, 1, MPI_INT, partner, 1, c, &q[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (partner < size) MPI_Issend(&w, 1, MPI_INT, partner, 1, c, &q[1]);
    MPI_Comm_free(&c);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    if (partner < size) CHECK_EQ(v, partner);
}

/* What null and inactive requests give: an empty status, the one kind that sets the error field where one status is returned. */
static int is_empty(const MPI_Status *s)
{
    int count = -1, elements = -1, cancelled = -1;
    MPI_Get_count(s, MPI_INT, &count);
    MPI_Get_elements(s, MPI_INT, &elements);
    MPI_Test_cancelled(s, &cancelled);
    return s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG && s->MPI_ERROR == MPI_SUCCESS && count == 0 &&
        elements == 0 && cancelled == 0;
}
static void nothing_active(void)
{
    int place, flag, n = 5;
    MPI_Request q[2] = {MPI_REQUEST_NULL};
    MPI_Status s[2];
    MPI_Recv_init(&n, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &q[1]);
    for (int way = 0; way < 9; way++) {
        MPI_Request *one = &q[way % 2];
        memset(s, 0x55, sizeof s);
        flag = -1, place = 7;
        switch (way) {
        case 0:
        case 1: MPI_Wait(one, s); break;
        case 2:
        case 3: MPI_Test(one, &flag, s); break;
        case 4:
        case 5: MPI_Request_get_status(*one, &flag, s); break;
        case 6: MPI_Waitany(2, q, &place, s); break;
        case 7: MPI_Testany(2, q, &place, &flag, s); break;
        default: MPI_Waitall(2, q, s); CHECK(is_empty(&s[1]));
        }
        CHECK(is_empty(s) && flag != 0 && (place == 7 || place == MPI_UNDEFINED));
        CHECK(q[0] == MPI_REQUEST_NULL && q[1] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&q[1]);
    memset(s, 0x55, sizeof s);
    MPI_Recv(&n, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, s);
    CHECK(s->MPI_SOURCE == MPI_PROC_NULL && s->MPI_TAG == MPI_ANY_TAG && s->MPI_ERROR == 0x55555555);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    if (size % 2 == 0) {
        for (int how = 0; how < 7; how++) {
            crowd(how, 16);
            crowd(how, 50000);
        }
        for (int how = 0; how < 4; how++) {
            in_order(how & 1, how & 2);
            lowest(how);
            nobody_starves(how);
        }
        freed(8);
        freed(30000);
        freed(600000);
    }
    comm_freed();
    nothing_active();
    return test_end();
}
