#!/bin/sh
# Where there is no /proc (a container without it, a sandbox that hides it), or another pid namespace's, whose numbers are others: jobs run, and ranks map each other's windows, whose descriptors
# they get by a socket; ranks and processes without mpiexec start further programs, which map their memory by pidfd_getfd or, where that is
# refused, too, meet them by the network; jobs that are connected fail together; published names are found.
# run.py: timeout=180 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
prefix=${2:-}
[ "$prefix" ] && [ -x "$prefix/bin/mpicc" ] || { echo "needs an installation"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "no_proc: $*"; cat "$dir/out"; exit 1; }
way=hidden user=
without() {
    if [ "$user" ]; then
        unshare -m sh -c 'mount -t tmpfs none /proc && exec setpriv --reuid "$0" --regid "$0" --clear-groups "$@"' "$user" timeout 60 "$@"
    elif [ $way = hidden ]; then
        unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' - timeout 60 "$@"
    else
        # The end of its first process ends a namespace, what it has started and what that still has to print.
        unshare -p -f sh -c 'timeout 60 "$@"; rc=$?; for _ in $(seq 100); do kill -0 -1 2>/dev/null || break; sleep 0.1; done; exit $rc' - "$@"
    fi
}
without sh -c '[ ! -e /proc/self ]' 2>"$dir/out" || { echo "/proc cannot be hidden here"; exit 77; }
cat >"$dir/p.c" <<'END'
#include <mpi.h>
#include <stdio.h>
enum { WORDS = 100000 };
int main(int n, char **a)
{
    int rank, size, unit, ok = 1;
    long *mine, *other;
    MPI_Aint bytes;
    MPI_Win shared, own;
    MPI_Init(&n, &a);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate_shared(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &shared);
    MPI_Win_fence(0, shared);
    MPI_Win_shared_query(shared, (rank + 1) % size, &bytes, &unit, &other);
    other[WORDS - 1] = rank;
    MPI_Win_fence(0, shared);
    ok &= mine[WORDS - 1] == (rank + size - 1) % size;
    MPI_Win_free(&shared);
    MPI_Win_allocate(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &own);
    mine[7] = -1;
    long v = rank;
    MPI_Win_fence(0, own);
    MPI_Put(&v, 1, MPI_LONG, (rank + 1) % size, 7, 1, MPI_LONG, own);
    MPI_Win_fence(0, own);
    ok &= mine[7] == (rank + size - 1) % size;
    MPI_Win_free(&own);
    printf(ok ? "good\n" : "wrong\n");
    return MPI_Finalize();
}
END
"$prefix/bin/mpicc" -O1 -o "$dir/p" "$dir/p.c"
cat >"$dir/s.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int n, char **a)
{
    MPI_Comm other, all;
    int rank, size, sum;
    MPI_Init(&n, &a);
    MPI_Comm_get_parent(&other);
    int is_child = other != MPI_COMM_NULL;
    if (!is_child) MPI_Comm_spawn(a[0], a + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(other, is_child, &all);
    MPI_Comm_rank(all, &rank), MPI_Comm_size(all, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    printf(sum == size * (size - 1) / 2 ? "good\n" : "wrong\n"), fflush(stdout);
    if (n > 1 && is_child && rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 5);
    if (n > 1) MPI_Recv(&sum, 1, MPI_INT, MPI_ANY_SOURCE, 9, all, MPI_STATUS_IGNORE);
    MPI_Comm_free(&all), MPI_Comm_disconnect(&other);
    return MPI_Finalize();
}
END
"$prefix/bin/mpicc" -O1 -o "$dir/s" "$dir/s.c"
cc -O1 -Wall -o "$dir/refuse" "$(dirname "$0")/refuse.c"
mark=no-proc-$$
gone() { # nobody of this test is left
    for _ in $(seq 200); do
        grep -lsz "^GW_MARK=$mark$" /proc/[0-9]*/environ >"$dir/left" 2>/dev/null || return 0
        sleep 0.1
    done
    fail "processes are left: $(cat "$dir/left")"
}
spawns() { # the $1 ranks of both jobs meet
    n=$1
    shift
    GW_MARK=$mark without "$@" "$dir/s" >"$dir/out" 2>&1 || fail "$*: status $?"
    gone
    [ "$(grep -c '^good$' "$dir/out")" = "$n" ] && [ "$(wc -l <"$dir/out")" = "$n" ] || fail "$*"
}
fails() { # a spawned rank aborts: those that started it end, too
    if GW_MARK=$mark without "$@" "$dir/s" abort >"$dir/out" 2>&1; then fail "$*: status 0 after MPI_Abort"; fi
    grep -q 'MPI_Abort' "$dir/out" || fail "$*: does not say who aborted"
    gone
}
cat >"$dir/n.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int n, char **a)
{
    int rank, again;
    char port[MPI_MAX_PORT_NAME];
    MPI_Init(&n, &a);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Open_port(MPI_INFO_NULL, port);
    if (rank == 0) MPI_Publish_name(a[1], MPI_INFO_NULL, port);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* that of calls without a communicator */
    again = MPI_Publish_name(a[1], MPI_INFO_NULL, port);
    MPI_Error_class(again, &again);
    printf(again == MPI_ERR_SERVICE && MPI_Lookup_name(a[1], MPI_INFO_NULL, port) == MPI_SUCCESS ? "good\n" : "wrong\n");
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
END
"$prefix/bin/mpicc" -O1 -o "$dir/n" "$dir/n.c"
for way in hidden another; do
    for n in 1 2 4; do
        without "$prefix/bin/mpiexec" -n $n "$dir/p" >"$dir/out" 2>&1 || fail "$n ranks: status $?"
        [ "$(grep -c '^good$' "$dir/out")" = $n ] && [ "$(wc -l <"$dir/out")" = $n ] || fail "$n ranks"
    done
    for refused in "" "$dir/refuse pidfd EPERM"; do
        spawns 4 $refused "$prefix/bin/mpiexec" -n 2
        spawns 3 $refused env
        fails $refused "$prefix/bin/mpiexec" -n 2
        fails $refused env
    done
    without "$prefix/bin/mpiexec" -n 2 "$dir/n" "no proc $$" >"$dir/out" 2>&1 || fail "names: status $?"
    [ "$(grep -c '^good$' "$dir/out")" = 2 ] && [ "$(wc -l <"$dir/out")" = 2 ] || fail "names"
done
# The user whose number is also that of all users which a user namespace does not know: the kernel's letting us signal it shows whose a process is.
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$prefix/bin/mpiexec" 2>/dev/null; then
    way=hidden user=65534
    chmod 755 "$dir"
    spawns 4 "$prefix/bin/mpiexec" -n 2
    spawns 3 env
fi
