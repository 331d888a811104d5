#!/bin/sh
# A file with an order of ranks places PEs of OpenSHMEM as it places ranks of MPI: PE 0 finds the PEs of its node by shmem_ptr.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=$2
[ -x "$prefix/bin/oshcc" ] || { echo "nothing is installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat > "$tmp/a.c" <<'END'
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
static int x;
int main(void)
{
    int rank, local[64], ranks;
    shmem_init();
    MPI_Init(0, 0);
    MPI_Comm node;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Allgather(&rank, 1, MPI_INT, local, 1, MPI_INT, node);
    if (shmem_my_pe() == 0) {
        for (int i = 0; i < ranks; i++) printf("%d ", local[i]);
        printf("by MPI, ");
        for (int pe = 0; pe < shmem_n_pes(); pe++)
            if (shmem_ptr(&x, pe)) printf("%d ", pe);
        printf("by OpenSHMEM\n");
    }
    MPI_Comm_free(&node);
    MPI_Finalize();
    shmem_finalize();
    return 0;
}
END
"$prefix/bin/oshcc" "$tmp/a.c" -o "$tmp/a"
cd "$tmp"
said() { timeout 50 env "$@" "$prefix/bin/oshrun" -n 4 --vnodes 2 "$tmp/a"; }
is() { [ "$1" = "$2" ] || { echo "'$1', not '$2'"; exit 1; }; }
is "$(said GW_MARK=1)" "0 1 by MPI, 0 1 by OpenSHMEM"
printf '0,2,1,3\n' > MPICH_RANK_ORDER
is "$(said MPICH_RANK_REORDER_METHOD=3)" "0 2 by MPI, 0 2 by OpenSHMEM"
is "$(said MPICH_RANK_REORDER_METHOD=0)" "0 2 by MPI, 0 2 by OpenSHMEM"
