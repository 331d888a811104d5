/* ring_shmem.c -- a token goes round all PEs: each waits for a signal, adds its number, and puts token and signal to the next.
 *
 * The signal comes after the data that it tells of, so nobody waits at a barrier.
 *
 *     oshcc ring_shmem.c -o ring_shmem && oshrun -n 4 ./ring_shmem [rounds]
 *
 * PE 0 prints the sum of all numbers times the rounds, and whether it is right.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static long token;       /* static variables are symmetric: every PE has one, which all others reach */
static uint64_t arrived; /* the round of which the token is here */

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes;
    long sum = 0;
    for (int round = 1; round <= rounds; round++) {
        if (me > 0) shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, (uint64_t)round);
        sum = (me > 0 ? token : sum) + me;
        shmem_long_put_signal(&token, &sum, 1, &arrived, (uint64_t)round, SHMEM_SIGNAL_SET, next);
        if (me == 0) {
            shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, (uint64_t)round);
            sum = token;
        }
    }
    long expected = (long)rounds * pes * (pes - 1) / 2;
    if (me == 0) printf("%d rounds of %d PEs: the token is %ld, %s\n", rounds, pes, sum, sum == expected ? "right" : "wrong");
    shmem_finalize();
    return me == 0 && sum != expected;
}
