#!/bin/sh
# Every process of a job comes into it by one way, whatever came down to it: below wrappers that close descriptors (Python's subprocess), in
# programs that close them before MPI_Init, in namespaces of their own, beside ranks to which all came down, in every order; spawned jobs, faked
# nodes, programs through the doors.  A rank that was taken is taken once.  Another launcher's ranks below stay that one's.
# doc/launch.md "The way into a job"
# run.py: args=few timeout=120 tags=quick
# run.py: args=all timeout=300 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd) prefix=$(cd "$2" && pwd) here=$(cd "$(dirname "$0")" && pwd) all=
[ "${3:-all}" = few ] || all=1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
fail() { echo "entry: $*"; [ ! -s err ] || head -n 8 err; exit 1; }
run() { timeout 60 "$build/mpiexec" "$@" </dev/null 2>err; }
cat >w.py <<'END'
import subprocess, sys
sys.exit(subprocess.call(sys.argv[1:]))
END
cat >closes.py <<'END' # closes all descriptors from 3 on itself, and calls MPI then
import ctypes, os, sys
lib = ctypes.CDLL(sys.argv[1])
os.closerange(3, 1024)
n = ctypes.c_int()
lib.MPI_Init(None, None)
lib.MPI_Comm_size(ctypes.c_void_p(0x101), ctypes.byref(n)) # MPI_COMM_WORLD of the standard ABI
print(n.value, flush=True)
lib.MPI_Finalize()
END
prog=$build/mpi_world_size wrap="python3 w.py" # prints the size of its world
many() { i=0; while [ $i -lt "$1" ]; do echo "$2"; i=$((i + 1)); done; }
# size N LINE...: N ranks that print N
size() {
    n=$1
    shift
    out=$(run "$@") || fail "mpiexec $*: status $?: $out"
    [ "$out" = "$(many "$n" "$n")" ] || fail "mpiexec $*: $out"
    [ ! -s err ] || fail "mpiexec $* says:"
}

size 2 -n 1 $wrap "$prog" : -n 1 "$prog"
size 3 -n 1 "$prog" : -n 1 $wrap "$prog" : -n 1 python3 closes.py "$build/libmpi_abi.so.1"
size 4 -n 2 --vnodes 2 "$prog" : -n 2 $wrap "$prog"
# An environment that was cleared: the process that mpiexec has started is the rank all the same; one below it runs alone, and says so, unless
# that is on purpose, the job has one rank, or a rank has started it.  users.md row 2
size 2 -n 2 env -i "$prog"
size 2 -n 1 "$prog" : -n 1 env -i "$prog"
size 3 -n 3 --vnodes 2 env -i "$prog"
alone() { # LINES COMMAND...: N programs run alone, and so many lines say so
    lines=$1
    shift
    out=$("$@" </dev/null 2>err) || fail "$*: status $?"
    ! echo "$out" | grep -qv '^1$' || fail "$*: $out"
    [ "$(grep -c 'warning: this process was started below .* (process [0-9]*), but runs as a job of its own, of one rank' err)" = "$lines" ] &&
        [ "$(wc -l <err)" = "$lines" ] || fail "$*: not $lines warnings:"
}
alone 2 "$build/mpiexec" -n 2 sh -c "env -i $prog; exit 0"
alone 2 "$build/mpiexec" -n 2 env -i sh -c "$prog; exit 0"
if unshare -p -f --mount-proc true 2>/dev/null; then # which process it is cannot be known there
    out=$("$build/mpiexec" -n 2 env -i unshare -p -f --mount-proc "$prog" 2>err </dev/null) || fail "in another pid namespace: status $?"
    [ "$(grep -c 'was started as one of 2 ranks of mpiexec, but runs as a job of its own.*another pid namespace' err)" = 2 ] || fail "in another pid namespace, in silence"
fi
alone 0 "$build/mpiexec" -n 2 sh -c "env -i GODWIT_SINGLETON=1 $prog; exit 0"
alone 0 "$build/mpiexec" -n 1 sh -c "env -i $prog; exit 0"
# and what options do by variables is lost, which is said
for o in --profile --record=rec "-x A=1"; do
    "$build/mpiexec" -n 2 $o env -i "$prog" >out 2>err </dev/null || fail "$o env -i: status $?"
    [ "$(grep -c "the environment of this program was cleared below mpiexec (env -i), so that .* has no effect on it" err)" = 1 ] || fail "$o env -i, in silence"
done
"$build/mpiexec" -n 2 env -i "$prog" 2>&1 >out </dev/null | grep . && fail "env -i alone is no reason for a word"
alone 0 env -i "$prog"
# Hydra tells nobody how many there are: who comes when the other is not there yet, or no longer, says nothing
if command -v mpiexec.hydra >/dev/null; then
    mpiexec.hydra -n 2 env -i "$prog" >out 2>err </dev/null || fail "mpiexec.hydra env -i: status $?"
    grep -q 'warning: this process was started below .* (process [0-9]*), but runs as a job of its own, of one rank' err || fail "mpiexec.hydra env -i, in silence"
fi
if [ $all ]; then
    for n in 1 2 3 5; do size $n -n $n $wrap "$prog"; done
    size 2 -n 2 sh -c "python3 w.py $prog"
    size 2 -n 2 $wrap sh -c "$prog; exit 0"
    size 2 -n 2 $wrap $wrap "$prog"
    size 5 -n 2 $wrap "$prog" : -n 1 sh -c "$prog" : -n 2 "$prog"
    size 5 -n 1 "$prog" : -n 3 $wrap "$prog" : -n 1 env "$prog"
    for n in 1 2 3; do size $n -n $n python3 closes.py "$build/libmpi_abi.so.1"; done
    size 2 -n 1 python3 closes.py "$build/libmpi_abi.so.1" : -n 1 "$prog"
    size 4 -n 4 --vnodes 2 $wrap "$prog"
    size 3 -n 1 --vnodes 3 "$prog" : -n 2 $wrap "$prog"
    GODWIT_WIRES=tcp size 2 -n 1 "$prog" : -n 1 $wrap "$prog"
    size 2 --pmix on -n 1 "$prog" : -n 1 $wrap "$prog"
    size 2 --pmix off -n 1 "$prog" : -n 1 $wrap "$prog"
    for space in "unshare --pid --fork --mount-proc" "unshare --pid --fork" "unshare -Ur"; do # the last two cannot open mpiexec's files in /proc
        $space true 2>/dev/null || continue
        size 2 -n 2 $space $wrap "$prog"
        size 2 -n 1 $space $wrap "$prog" : -n 1 "$prog"
    done
fi

# ---- spawned jobs of wrapped ranks, whose own ranks are wrapped
cat >spawns.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char *words[] = {"w.py", argv[0], NULL};
    MPI_Comm parent, other;
    int n;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn("python3", words, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    MPI_Comm_remote_size(parent == MPI_COMM_NULL ? other : parent, &n);
    MPI_Barrier(parent == MPI_COMM_NULL ? other : parent);
    printf("%d\n", n);
    MPI_Finalize();
}
END
"$prefix/bin/mpicc" spawns.c -o spawns
out=$(run -n 1 ./spawns : -n 1 $wrap ./spawns) || fail "wrapped programs that spawn: $out"
[ "$(echo "$out" | sort | tr '\n' ,)" = "2,2,2,3,3," ] || fail "wrapped programs that spawn: $out"

# ---- taken once: the second program, after the first and below it, says the same whatever came down
taken() { # LINE...
    rc=0
    out=$(run "$@") || rc=$?
    [ $rc != 0 ] || fail "mpiexec $*: a rank was taken twice: $out"
    grep -q "rank 0 .* rank 0 was taken by process [0-9]* before" err || fail "mpiexec $*: status $rc:"
}
taken -n 1 sh -c "$prog && exec python3 w.py $prog"
if [ $all ]; then
    taken -n 1 sh -c "$prog && exec $prog"
    taken -n 2 sh -c "python3 w.py $prog && exec $prog"
    taken -n 1 sh -c "python3 w.py $prog && exec python3 w.py $prog"
fi
cat >starts.py <<'END' # a rank that starts an MPI program itself
import ctypes, subprocess, sys
lib = ctypes.CDLL(sys.argv[1])
lib.MPI_Init(None, None)
rank = ctypes.c_int()
lib.MPI_Comm_rank(ctypes.c_void_p(0x101), ctypes.byref(rank))
rc = subprocess.call(sys.argv[2:]) if rank.value == 0 else 0
lib.MPI_Barrier(ctypes.c_void_p(0x101))
lib.MPI_Finalize()
sys.exit(rc)
END
taken -n 3 $wrap python3 starts.py "$build/libmpi_abi.so.1" "$prog"
taken -n 2 python3 starts.py "$build/libmpi_abi.so.1" "$prog"
size 1 -n 1 $wrap python3 starts.py "$build/libmpi_abi.so.1" env GODWIT_SINGLETON=1 "$prog"
alone 0 "$build/mpiexec" -n 2 python3 starts.py "$build/libmpi_abi.so.1" env -i "$prog"

# ---- who cannot come in says so, and does not wait elsewhere: another user
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$prog" 2>/dev/null; then
    chmod 755 "$dir"
    rc=0
    run -n 1 "$prog" : -n 1 setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'exec 3>&-; exec "$0"' "$prog" >out || rc=$?
    [ $rc != 0 ] && [ $rc != 124 ] || fail "another user's process in the job: status $rc"
    grep -q "descriptor 3 is not what mpiexec handed down.*and that of mpiexec .* cannot be had: Permission denied" err || fail "another user's says:"
fi

# ---- mpiexec --stack shows a child that waits
if command -v gdb >/dev/null; then
    cat >waits.py <<'END'
import ctypes, os, sys
lib = ctypes.CDLL(sys.argv[1])
lib.MPI_Init(None, None)
rank = ctypes.c_int()
lib.MPI_Comm_rank(ctypes.c_void_p(0x101), ctypes.byref(rank))
open(f"up.{rank.value}", "w").close()
while rank.value == 0 and not os.path.exists("over"):
    pass
lib.MPI_Barrier(ctypes.c_void_p(0x101))
lib.MPI_Finalize()
END
    timeout 100 "$build/mpiexec" -n 2 $wrap python3 waits.py "$build/libmpi_abi.so.1" </dev/null 2>err &
    pid=$!
    for _ in $(seq 600); do [ ! -e up.0 ] || [ ! -e up.1 ] || break; sleep 0.1; done
    launcher=$(pgrep -P $pid -x mpiexec)
    "$build/mpiexec" --stack="$launcher" >out 2>&1 || true
    touch over
    wait $pid || fail "ranks whose stacks were looked at"
    grep -q "MPI_Barrier" out || { cat out; fail "--stack does not show a child that waits"; }
    grep -q "2 of 2 ranks" out || { cat out; fail "--stack finds not all"; }
fi

# ---- programs of other libraries, through the doors, and their own mixtures
for peer in mpich openmpi; do
    command -v mpicc.$peer >/dev/null || continue
    mpicc.$peer "$here/sum.c" -o $peer
    for line in "-n 1 python3 w.py ./$peer : -n 2 ./$peer" "-n 2 ./$peer : -n 1 python3 w.py ./$peer" "-n 3 python3 w.py ./$peer" "-n 3 sh -c ./$peer"; do
        out=$(timeout 60 "$prefix/bin/mpiexec" $line 2>err </dev/null | sed 's/ app [01]//' | sort) || fail "$line: $out"
        [ "$out" = "$(printf '0/3 sum 3\n1/3 sum 3\n2/3 sum 3')" ] || fail "$line: $out"
    done
done
[ $all ] || exit 0

# ---- another launcher below: its ranks are its own
for peer in mpirun.openmpi mpiexec.hydra; do
    command -v $peer >/dev/null || continue
    out=$(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 run -n 1 $wrap $peer -n 3 "$prog") ||
        fail "$peer below a wrapper: $out"
    [ "$out" = "$(many 3 3)" ] || fail "$peer below a wrapper: $out"
done
exit 0
