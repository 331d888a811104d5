/* partitioned_threads.c -- one partitioned send marked by four threads at once while four others look for what arrives.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS = 4, PARTS = 48, IN_PARTS = 36, BYTES = 3 * 36 * 48, ROUNDS = 20, CHANNELS = 3 };
static unsigned char out[CHANNELS][BYTES], in[CHANNELS][BYTES];
static MPI_Request sends[CHANNELS], receives[CHANNELS];
static int from, now_round;

struct work {
    pthread_t thread;
    int index, wrong;
};

/* Each thread fills and marks its partitions of every channel, in an order of its own. */
static void *marks(void *arg)
{
    struct work *w = arg;
    const int len = BYTES / PARTS;
    for (int k = 0; k < PARTS / THREADS; k++) {
        int part = w->index + THREADS * (w->index % 2 ? k : PARTS / THREADS - 1 - k);
        for (int c = 0; c < CHANNELS; c++) {
            for (int i = part * len; i < (part + 1) * len; i++) out[c][i] = pattern_at((unsigned)(100 * c + rank + now_round), i);
            if (MPI_Pready(part, sends[c]) != MPI_SUCCESS) w->wrong++;
        }
    }
    return NULL;
}

static void *looks(void *arg)
{
    struct work *w = arg;
    const int len = BYTES / IN_PARTS;
    for (int part = w->index; part < IN_PARTS; part += THREADS)
        for (int c = 0; c < CHANNELS; c++) {
            int flag = 0;
            while (MPI_Parrived(receives[c], part, &flag) == MPI_SUCCESS && !flag) sched_yield();
            for (int i = part * len; i < (part + 1) * len; i++)
                w->wrong += in[c][i] != pattern_at((unsigned)(100 * c + from + now_round), i);
        }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    test_begin();
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    from = (rank + size - 1) % size;
    MPI_Comm comms[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) { /* two on one communicator, one on another */
        if (c == 2)
            comms[c] = comms[1];
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
        MPI_Psend_init(out[c], PARTS, BYTES / PARTS, MPI_BYTE, (rank + 1) % size, 1, comms[c], MPI_INFO_NULL, &sends[c]);
        MPI_Precv_init(in[c], IN_PARTS, BYTES / IN_PARTS, MPI_BYTE, from, 1, comms[c], MPI_INFO_NULL, &receives[c]);
    }
    for (now_round = 0; now_round < ROUNDS; now_round++) {
        struct work w[2 * THREADS] = {{0}};
        memset(in, 0xee, sizeof in);
        MPI_Startall(CHANNELS, receives);
        MPI_Startall(CHANNELS, sends);
        for (int i = 0; i < 2 * THREADS; i++) {
            w[i].index = i / 2;
            pthread_create(&w[i].thread, NULL, i % 2 ? marks : looks, &w[i]);
        }
        CHECK_EQ(MPI_Waitall(CHANNELS, sends, MPI_STATUSES_IGNORE), MPI_SUCCESS); /* while they are being marked */
        for (int i = 0; i < 2 * THREADS; i++) {
            pthread_join(w[i].thread, NULL);
            CHECK_EQ(w[i].wrong, 0);
        }
        CHECK_EQ(MPI_Waitall(CHANNELS, receives, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    }
    for (int c = 0; c < CHANNELS; c++) {
        MPI_Request_free(&sends[c]);
        MPI_Request_free(&receives[c]);
        if (c < 2) MPI_Comm_free(&comms[c]);
    }
    return test_end();
}
