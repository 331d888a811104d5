#!/bin/sh
# examples/halo.c: seven ways to exchange halos give the same cells; the one that says by empty messages that all is there has no barrier;
# a halo that is put into a window is copied once less on each side than one that is sent.  examples/halo_shmem.c: the same cells by OpenSHMEM.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$prefix/bin/mpicc" -O2 -Wall -Wextra -Werror "$(dirname "$0")/../../examples/halo.c" -o "$tmp/halo"
for n in 1 2 3 4 5 8 16; do
    timeout 60 "$prefix/bin/mpiexec" -n $n "$tmp/halo" -g 4 5 6 -s 10 > "$tmp/out"
    [ "$(grep -c 'all halos right' "$tmp/out")" = 7 ] || { cat "$tmp/out"; exit 1; }
    awk '/all halos right/ && !($2 > 0 && $3 >= $2) { exit 1 }' "$tmp/out" || { echo "a way without its best and its mean time:"; cat "$tmp/out"; exit 1; }
    grep -q ", 29 fields of 4 x 5 x 6 cells each$" "$tmp/out" || { echo "not 29 fields unless told:"; cat "$tmp/out"; exit 1; }
done
# Each rank on a node of its own: what is put has to travel, and short puts wait for others until they are flushed.
for cells in "4 5 6" "2 2 1 -f 1"; do
    timeout 60 "$prefix/bin/mpiexec" -n 4 --vnodes 4 "$tmp/halo" -s 10 -g $cells > "$tmp/out" || { echo "on four nodes, $cells:"; cat "$tmp/out"; exit 1; }
    [ "$(grep -c 'all halos right' "$tmp/out")" = 7 ]
done
"$prefix/bin/oshcc" -O2 -Wall -Wextra -Werror "$(dirname "$0")/../../examples/halo_shmem.c" -o "$tmp/halo_shmem"
for n in 1 2 4 6 "4 --vnodes 2"; do
    timeout 60 "$prefix/bin/oshrun" -n $n "$tmp/halo_shmem" -g 4 5 6 -s 10 > "$tmp/out" || { echo "OpenSHMEM, $n PEs:"; cat "$tmp/out"; exit 1; }
    [ "$(grep -c 'all halos right' "$tmp/out")" = 3 ] || { cat "$tmp/out"; exit 1; }
done
# By messages a step posts its receives before it packs, which changes what the last step has sent.
cat > "$tmp/order.c" <<'END'
#include <mpi.h>
static const double *sent;
static double was;
int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (!sent) sent = buf;
    was = *sent;
    return PMPI_Isend(buf, count, type, to, tag, comm, request);
}
int MPI_Irecv(void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (sent && *sent != was) MPI_Abort(comm, 9);
    return PMPI_Irecv(buf, count, type, from, tag, comm, request);
}
END
"$prefix/bin/mpicc" -O2 "$(dirname "$0")/../../examples/halo.c" "$tmp/order.c" -o "$tmp/order"
timeout 60 "$prefix/bin/mpiexec" -n 2 "$tmp/order" -g 4 5 6 -s 10 p2p > "$tmp/out" || { echo "packed before the receives:"; cat "$tmp/out"; exit 1; }
# The way that races, by name: a fence of ours waits all the same; with one that does not, as a library may have it, and a rank that packs
# late, cells are wrong, and the same schedule leaves puts and the other gets right.
timeout 60 "$prefix/bin/mpiexec" -n 4 "$tmp/halo" -g 4 5 6 -s 10 race > "$tmp/out" || { cat "$tmp/out"; exit 1; }
grep -q '^race .* all halos right$' "$tmp/out" || { echo "no way named race:"; cat "$tmp/out"; exit 1; }
cat > "$tmp/early.c" <<'END'
#include <mpi.h>
#include <unistd.h>
static int is_open;
int MPI_Barrier(MPI_Comm comm)
{
    int rank, rc = PMPI_Barrier(comm);
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0) usleep(30000);
    return rc;
}
/* Opens an epoch without waiting, where it is told that it may. */
int MPI_Win_fence(int assertions, MPI_Win win)
{
    if (assertions & MPI_MODE_NOPRECEDE) {
        is_open = 1;
        return PMPI_Win_lock_all(0, win);
    }
    if (!is_open) return PMPI_Win_fence(assertions, win);
    is_open = 0;
    PMPI_Win_unlock_all(win);
    return PMPI_Barrier(MPI_COMM_WORLD);
}
END
"$prefix/bin/mpicc" -O2 "$(dirname "$0")/../../examples/halo.c" "$tmp/early.c" -o "$tmp/early"
if timeout 60 "$prefix/bin/mpiexec" -n 4 "$tmp/early" -g 4 5 6 -s 5 race > "$tmp/out"; then echo "the race has no loser:"; cat "$tmp/out"; exit 1; fi
grep -q '^race .* [1-9][0-9]* cells wrong$' "$tmp/out" || { cat "$tmp/out"; exit 1; }
timeout 60 "$prefix/bin/mpiexec" -n 4 "$tmp/early" -g 4 5 6 -s 5 fence get fence2 > "$tmp/out" || { echo "a late rank:"; cat "$tmp/out"; exit 1; }
[ "$(grep -c 'all halos right' "$tmp/out")" = 3 ] || { cat "$tmp/out"; exit 1; }
# The run itself has a barrier a step, and so has the way `lock`; `flush` has none.
barriers() {
    MPICH_STATS_DISPLAY=1 timeout 60 "$prefix/bin/mpiexec" -n 5 "$tmp/halo" -g 4 5 6 -s 10 "$1" 2>&1 |
        awk '$3 == "barrier" { n += substr($0, index($0, "sum ") + 4) + 0 } END { print n + 0 }'
}
lock=$(barriers lock) flush=$(barriers flush)
[ $((lock - flush)) = 50 ] || { echo "lock has $lock barriers, flush $flush: not 10 of each of 5 ranks more"; exit 1; }
# With one fence a step there are two more at the start and the end, with puts between two fences two a step.
two=$(barriers fence) one=$(barriers fence2) gets=$(barriers get)
[ "$gets" = "$two" ] || { echo "get has $gets barriers, fence $two: not as many"; exit 1; }
[ $((two - one)) = $((5 * (2 * 10 - (10 + 2)))) ] || { echo "fence has $two barriers, fence2 $one: not 8 of each of 5 ranks more"; exit 1; }
# The places in the windows are told once, however many steps follow.
sent() {
    GODWIT_EXPLAIN=proto timeout 60 "$prefix/bin/mpiexec" -n 5 "$tmp/halo" -g 4 5 6 -s "$1" fence 2>&1 |
        awk '/^godwit.0. proto: lane . sent/ { for (i = 2; i <= NF; i++) if ($i ~ /^[er][01],?$/) n += $(i - 1) } END { print n + 0 }'
}
few=$(sent 3) many=$(sent 30)
[ "$few" -ge 8 ] && [ "$few" = "$many" ] || { echo "rank 0 sends $few messages in 3 steps and $many in 30, not as many"; exit 1; }
# Over a network that reads and writes memory each byte of a message is copied once on each side; of a put into the window none is.
copies() { # WAY: bytes copied on the way out, bytes copied on the way in, puts, puts by the network
    GODWIT_NET_RENDEZVOUS=enabled GODWIT_WIRES=ofi MPICH_STATS_DISPLAY=1 timeout 60 "$prefix/bin/mpiexec" -n 4 --vnodes 4 "$tmp/halo" \
        -g 4 5 6 -f 4 -s 10 "$1" 2>&1 | awk '/cells wrong/ { exit 1 } $1 == "#" { n[$3] = substr($0, index($0, "sum ") + 4) + 0 }
        END { print n["net_copied_out"] + 0, n["net_copied_in"] + 0, n["rma_puts"] + 0, n["rma_wired"] + 0 }'
}
bytes=$((4 * 10 * 4 * 8 * (8 * 9 - 4 * 5) * 6)) # ranks, steps, fields, a double, cells around 4 x 5 columns of 6
read -r out in puts wired <<END
$(copies p2p)
END
[ "$out" = $bytes ] && [ "$in" -ge $bytes ] || { echo "p2p copies $out bytes out, $in in: not $bytes each"; exit 1; }
read -r out in puts wired <<END
$(copies fence)
END
[ "$out" -lt $((bytes / 20)) ] && [ "$in" -lt $((bytes / 20)) ] && [ "$puts" = 320 ] && [ "$wired" = 320 ] ||
    { echo "fence copies $out bytes out, $in in, $wired of $puts puts by the network"; exit 1; }
