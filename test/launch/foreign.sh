#!/bin/sh
# Programs of MPICH and Open MPI, plain and below wrappers (sh, env, nice, timeout, python3), are ranks of one job with their own
# library, at no cost to our programs; an abort ends the job with its code; a rank that asked no server is named at the end.
# users.md row 2
# run.py: timeout=280 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "foreign: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
run() { timeout 60 "$build/mpiexec" "$@" </dev/null; }

# Our own: nothing is offered to a program of ours; below a wrapper it is one job, beside what others are offered.
[ -z "$(run -n 2 "$build/mpi_world_size" 2>&1 | grep -vx 2)" ] || fail "our own program: $(run -n 2 "$build/mpi_world_size" 2>&1)"
for n in 1 3 5 16; do
    for w in "sh -c '\"\$0\"'" env nice "timeout 50"; do
        [ "$(eval "run -n $n $w '$build/mpi_world_size'" | sort | uniq -c | tr -s ' ')" = " $n $n" ] || fail "our own program below $w, $n ranks"
    done
done
[ "$(run -n 2 env | grep -c '^PMI_FD=')" = 2 ] || fail "env is not offered PMI-1"
[ "$(run -n 1 env | grep -c '^PMI_FD=\|^PMIX_NAMESPACE=')" = 0 ] || fail "a rank that is alone is offered what it does not need"
[ "$(run -n 3 env -u GODWIT_BOOT "$build/mpi_world_size" | sort -u)" = 3 ] || fail "our own library by way of the PMI-1 server"
if command -v strace >/dev/null; then
    strace -f -qq -e trace=socketpair,openat -o "$dir/calls" "$build/mpiexec" -n 2 "$build/mpi_world_size" >/dev/null </dev/null
    grep -E 'socketpair|libpmix' "$dir/calls" && fail "a program of ours makes mpiexec start a server"
fi

export GODWIT_DOORS=off # with their own library from here on; through ours: test/doors
peers=
for peer in mpich openmpi; do
    command -v mpicc.$peer >/dev/null || continue
    mpicc.$peer "$here/sum.c" -o $peer && peers="$peers $peer"
done
[ "$peers" ] || { echo "skipped: needs mpicc.mpich or mpicc.openmpi (Debian's mpich, libopenmpi-dev)"; exit 77; }

# what so many ranks print, sorted
want() { i=0; while [ $i -lt "$1" ]; do echo "$i/$1 app 0 sum $(($1 * ($1 - 1) / 2))"; i=$((i + 1)); done | sort; }
one_job() { # RANKS COMMAND
    out=$(eval "run -n $1 $2" 2>"$dir/err" | sort) || fail "$2, $1 ranks: $out $(cat "$dir/err")"
    [ "$out" = "$(want "$1")" ] || fail "$2, $1 ranks: $out $(cat "$dir/err")"
    [ ! -s "$dir/err" ] || fail "$2, $1 ranks: it says $(cat "$dir/err")"
}
failing() { # STATUS COMMAND...: the status, in rc; words in $dir/err
    want=$1 rc=0
    shift
    run "$@" >"$dir/out" 2>"$dir/err" || rc=$?
    [ $rc = "$want" ] || fail "$*: status $rc: $(cat "$dir/out" "$dir/err")"
}
for p in $peers; do
    for n in 1 3 5 16; do one_job $n "sh -c ./$p"; done
    for w in "" env nice "timeout 50" "sh -c 'exec nice ./$p'" "python3 -c 'import os; os.execv(\"./$p\", [\"./$p\"])'"; do one_job 2 "$w ./$p"; done
    printf '#!/bin/sh\n./%s\n' $p >script && chmod +x script
    one_job 4 ./script
    [ "$(run -n 1 nice ./$p : -n 2 nice ./$p | sort | tr '\n' ,)" = "0/3 app 0 sum 3,1/3 app 1 sum 3,2/3 app 1 sum 3," ] || fail "$p, two programs"
    failing 7 -n 3 sh -c "./$p 7; exit 0"
    grep -q "mpiexec: rank 2 .* ended the job with code 7" "$dir/err" || fail "$p, abort: $(cat "$dir/err")"
    failing 5 -n 3 nice ./$p 5 exit
    grep -q "mpiexec: rank 2 .* ended with status 5 without calling MPI_Finalize" "$dir/err" || fail "$p, exit: $(cat "$dir/err")"
    # Open MPI 4.1.4 has our PMIx server remove its segments, of ranks that do not finalize, too (findings/pmix_cleanup_without_job_control.sh)
    if unshare -m true 2>/dev/null; then
        for how in "./$p 7" "./$p 5 exit"; do
            left=$(unshare -m sh -c 'mount -t tmpfs none /dev/shm; "$@" >/dev/null 2>&1; ls /dev/shm' sh env GODWIT_DOORS=off "$build/mpiexec" -n 3 $how)
            [ ! "$left" ] || fail "$how leaves in /dev/shm: $left"
        done
    fi
    # no way to us: named, once, with what to do
    case $p in
    mpich)
        failing 0 -n 2 env -i ./mpich
        grep -q "^mpiexec: .*/mpich loaded libmpich.so.* ran as 2 jobs of one rank; compile it with mpicc of Godwit" "$dir/err" ||
            fail "$p without environment: $(cat "$dir/err")"
        [ "$(wc -l <"$dir/err")" = 1 ] || fail "$p without environment: $(cat "$dir/err")"
        [ "$(run -n 2 sh -c 'mpiexec.hydra -n 2 ./mpich' 2>"$dir/err" | sort | uniq -c | tr -s ' ' | tr '\n' ,)" = " 2 0/2 app 0 sum 1, 2 1/2 app 0 sum 1," ] ||
            fail "Hydra below mpiexec: $(cat "$dir/err")"
        [ ! -s "$dir/err" ] || fail "Hydra below mpiexec: $(cat "$dir/err")"
        # a door is no other library, also as long as ours behind it is not loaded
        mkdir -p godwit/doors
        echo | gcc -xc - -shared -o godwit/doors/libmpich.so.12
        for so in godwit/doors/libmpich.so.12 libmpich.so.12; do
            [ -f $so ] || cp godwit/doors/libmpich.so.12 .
            failing 0 -n 2 python3 -c "import ctypes, time; ctypes.CDLL('./$so'); time.sleep(1)" # mpiexec looks after 10, 30, 70 .. ms
            case $so in
            godwit*) [ ! -s "$dir/err" ] || fail "a door that is being loaded: $(cat "$dir/err")" ;;
            *) grep -q "python3.* loaded libmpich.so.12, another MPI library" "$dir/err" || fail "a library in no door's folder: $(cat "$dir/err")" ;;
            esac
        done
        failing 126 -n 1 ./mpich : -n 1 "$build/mpi_world_size"
        grep -q "mpich was linked with MPICH and .*mpi_world_size with Godwit" "$dir/err" || fail "two libraries: $(cat "$dir/err")"
        ;;
    openmpi)
        failing 0 --pmix off -n 2 nice ./openmpi
        grep -q "^mpiexec: .*/openmpi loaded libmpi.so.40.* ran as 2 jobs of one rank; it needs PMIx" "$dir/err" || fail "$p without PMIx: $(cat "$dir/err")"
        # on its own library beside a program of ours: before, both waited for ever
        failing 126 -n 1 ./openmpi : -n 1 "$build/mpi_world_size"
        grep -q "openmpi was linked with Open MPI and .*mpi_world_size with Godwit" "$dir/err" || fail "two libraries: $(cat "$dir/err")"
        ;;
    esac
done
exit 0
