/* counter_shmem.c -- PEs share out work by a counter: who is done with a piece takes the number of the next from PE 0.
 *
 * In C11 the operations have one name for all types: the pointer says which (shmem_atomic_fetch_add, shmem_p, shmem_sum_reduce).
 *
 *     oshcc -std=c11 counter_shmem.c -o counter_shmem && oshrun -n 4 ./counter_shmem [pieces]
 *
 * PE 0 prints how many pieces each PE has done, and whether each piece was done once.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static int counter;      /* PE 0's counts */
static double mine, all; /* the sum of the pieces' numbers */

int main(int argc, char **argv)
{
    int pieces = argc > 1 ? atoi(argv[1]) : 1000, n = 0;
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    int *done = shmem_calloc((size_t)pes, sizeof *done); /* PE 0's is filled by all */
    if (!done) shmem_global_exit(1);
    for (int piece; (piece = shmem_atomic_fetch_add(&counter, 1, 0)) < pieces; n++) mine += piece;
    shmem_p(&done[me], n, 0);
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
    shmem_barrier_all();
    int sum = 0, is_right = all == 0.5 * pieces * (pieces - 1);
    for (int pe = 0; me == 0 && pe < pes; pe++) {
        printf("PE %d did %d\n", pe, done[pe]);
        sum += done[pe];
    }
    if (me == 0) printf("%d pieces by %d PEs: %s\n", sum, pes, is_right && sum == pieces ? "right" : "wrong");
    shmem_free(done);
    shmem_finalize();
    return !is_right;
}
