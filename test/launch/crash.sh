#!/bin/sh
# A rank that crashes: by default one report with address and stack, of whatever thread; without MPI's handlers (GODWIT_CRASH_REPORT=off)
# how to get its stack, or the stack from its core file; with --stacks-on-crash the report by tracing.  The exit status stays 128 + signal,
# and handlers of the program's are not disturbed.
# users.md row 5
# run.py: timeout=300 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
m=$build/mpiexec
[ "${2-}" ] && [ -x "$2/bin/mpicc" ] || { echo "no mpicc to build with"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "crash: $*"; head -n 20 "$dir/err"; exit 1; }
e=$dir/gw-crash
"$2/bin/mpicc" -g "$(dirname "$0")/crash.c" -lpthread -o "$e"
run() { # status, arguments of mpiexec
    want=$1 rc=0
    shift
    (cd "$dir" && exec timeout 100 $m "$@") > "$dir/out" 2> "$dir/err" < /dev/null || rc=$?
    [ $rc = "$want" ] || fail "mpiexec $*: status $rc, not $want"
}
says() { grep -q -- "$1" "$dir/err" || fail "it does not say '$1':"; }
once() { [ "$(grep -c -- "$1" "$dir/err")" = 1 ] || fail "it does not say '$1' once:"; }

# Without handlers: rank, signal, last call, and a hint.
ulimit -c 0
export GODWIT_CRASH_REPORT=off
for n in 1 3; do
    last=$((n - 1))
    run 139 -n $n "$e" segv
    once "^mpiexec: rank $last (host .*, pid [0-9]*) was killed by signal 11 (Segmentation fault); its last MPI call was MPI_Barrier"
    once '^mpiexec: for its stack run it again with mpiexec --stacks-on-crash, or after `ulimit -c unlimited`$'
    run 134 -n $n "$e" abort
    once "rank $last (.*) was killed by signal 6"
    run 136 -n $n "$e" fpe
    once "rank $last (.*) was killed by signal 8"
done
run 0 -n 3 "$e" recover
[ ! -s "$dir/err" ] && grep -q '^recovered 1$' "$dir/out" || fail "a handler of the program's was disturbed:"

# By default: address and last call, and where gdb is not, how to get a stack.
unset GODWIT_CRASH_REPORT
mkdir "$dir/bin"
m="env PATH=$dir/bin $build/mpiexec"
for n in 1 3; do
    last=$((n - 1))
    run 139 -n $n "$e" segv
    once "^mpiexec: rank $last (host .*, pid [0-9]*) crashes: Segmentation fault at address 0x10$"
    once "^mpiexec: a stack of it needs gdb or eu-stack: on Debian, apt install gdb$"
    once "^mpiexec: rank $last (host .*, pid [0-9]*) was killed by signal 11 (Segmentation fault); its last MPI call was MPI_Barrier"
    [ "$(wc -l < "$dir/err")" = 3 ] || fail "it says more:"
done
# A debugger begins with no signal blocked: gdb misses stops of the rank where SIGCHLD is.
ln -s "$e" "$dir/bin/gdb"
export GW_CRASH_STATUS="$dir/blocked"
run 139 -n 2 "$e" segv
grep -q '^SigBlk:[[:space:]]*0*$' "$dir/blocked" || fail "gdb begins with signals blocked: $(grep SigBlk "$dir/blocked")"
# One that shows no stack.
rm "$dir/bin/gdb"
printf '#!/bin/sh\necho "gdb is broken"\n' > "$dir/bin/gdb"
chmod +x "$dir/bin/gdb"
run 139 -n 2 "$e" segv
once "^mpiexec: rank 1 (pid [0-9]*): no stack: gdb is broken$"
m=$build/mpiexec
run 0 -n 3 "$e" recover
[ ! -s "$dir/err" ] && grep -q '^recovered 1$' "$dir/out" || fail "a handler of the program's was disturbed:"
run 0 -n 2 "$e" before # a handler from before MPI_Init, and others that are ignored
[ ! -s "$dir/err" ] && grep -q '^kept 1$' "$dir/out" || fail "a handler from before MPI_Init was disturbed:"
run 7 -n 2 "$e" chain # the program's handler, which leaves by itself
run 139 -n 2 "$e" chained # one that calls the handler before it, which is MPI's
once "^mpiexec: rank 1 (.*) crashes: Segmentation fault at address 0x10$"
run 0 -n 2 "$e" child # a child without MPI is none of ours
[ ! -s "$dir/err" ] || fail "a child's crash was told:"
run 139 -n 2 "$e" late # after MPI_Finalize the program is as it was
says "^mpiexec: rank 1 (.*) was killed by signal 11 (Segmentation fault)"
! grep -q ' crashes: ' "$dir/err" || fail "after MPI_Finalize:"

# Before MPI_Init, and before main().
for n in 1 3; do
    run 139 -n $n "$e" early
    once "^mpiexec: rank 0 (host .*, pid [0-9]*) crashes: Segmentation fault at address 0x10$"
    run 139 -n $n -genv GW_CRASH_CONSTRUCTOR 1 "$e" recover
    once "^mpiexec: rank 0 (host .*, pid [0-9]*) crashes: Segmentation fault at address 0x10$"
done
run 139 --vnodes 2 -n 2 "$e" early
once "^mpiexec: rank 0 (host .*, pid [0-9]*) crashes: Segmentation fault at address 0x10$"
run 139 -n 1 sh -c "$e early; exit 139" # mpiexec has not started it itself
! grep -q ' crashes: ' "$dir/err" || fail "of a process that mpiexec has not started:"

# A rank that gives itself out for a process that is none of the job's, whose user may be another one: nobody looks at that.
sleep 60 &
stranger=$!
run 139 -n 1 "$e" other $stranger
kill $stranger
once "^mpiexec: rank 0 (host .*, pid $stranger) crashes: Segmentation fault"
once "^mpiexec: no stack of it: mpiexec has started no process $stranger$"
! grep -q 'sleep' "$dir/err" || fail "a stranger's stack is shown:"

# Nobody else may look where the kernel refuses that.
command -v gdb > "$dir/out" || { echo "note: no gdb, no stacks"; exit 0; }
run 139 -n 3 "$e" early
once 'before_init'
run 139 -n 1 "$e" segv
if ! grep -q '^\[0\] main' "$dir/err"; then
    says 'the kernel refuses\|needs gdb'
    echo "note: no ptrace here"
else
    for n in 1 3; do
        last=$((n - 1))
        run 139 -n $n "$e" segv
        once "^\[$last\] main (crash.c:[0-9]*) / fall (crash.c:[0-9]*)$"
        run 136 -n $n "$e" fpe
        once "rank $last (.*) crashes: Floating point exception at address"
        once "^\[$last\] main (crash.c:[0-9]*) / fall (crash.c:[0-9]*)$"
        run 134 -n $n "$e" abort
        once "rank $last (.*) crashes: Aborted$"
        once "^\[$last\] main (crash.c:.* / fall (crash.c:"
        run 132 -n $n "$e" ill
        once "rank $last (.*) crashes: Illegal instruction$"
        run 139 -n $n "$e" thread-segv
        once "^\[$last\] thread (crash.c:[0-9]*) / fall (crash.c:[0-9]*)$"
        run 139 -n $n "$e" deep # there is a stack for handlers
        once "rank $last (.*) crashes: Segmentation fault at address"
        says "^\[$last\] deep (crash.c:[0-9]*) \[[0-9]* times\]"
    done
    run 139 -n 3 "$e" segv -1
    once ' crashes: '
    once '^\[[0-9]\] main '
    run 139 -n 2 --vnodes 2 "$e" segv
    once "^\[1\] main (crash.c:[0-9]*) / fall (crash.c:[0-9]*)$"
    run 139 -n 2 --vnodes 2 "$e" sends # what the kernel cannot copy is its owner's fault, as on a node
    once "^\[0\] main (crash.c:[0-9]*) / message (crash.c:[0-9]*) / PMPI_Send$"
    run 139 -n 2 --vnodes 2 "$e" receives
    once "^\[1\] main (crash.c:[0-9]*) / message (crash.c:[0-9]*) / PMPI_Recv$"
    run 139 -n 17 "$e" segv
    once "^\[16\] main (crash.c:[0-9]*) / fall (crash.c:[0-9]*)$"
    run 139 -n 2 sh -c "$e segv; exit \$?" # not a child of mpiexec's
    once "^\[1\] main (crash.c:[0-9]*) / fall (crash.c:[0-9]*)$"
fi
case $(cat /proc/sys/kernel/core_pattern) in
/* | '|'*) echo "note: cores go elsewhere" ;;
*)
    ulimit -c unlimited 2> /dev/null || true
    if [ "$(ulimit -c)" = unlimited ]; then
        run 139 -n 2 "$e" segv
        once 'its core file is '
        says '^\[1\] main (crash.c:[0-9]*) / fall (crash.c:'
        rm -f "$dir"/core*
    fi
    ulimit -c 0
    ;;
esac

run 0 -n 3 --stacks-on-crash "$e" recover
if grep -q 'the kernel refuses to trace' "$dir/err"; then echo "note: no ptrace here"; exit 0; fi
[ ! -s "$dir/err" ] && grep -q '^recovered 1$' "$dir/out" || fail "a handler of the program's was disturbed by tracing:"
for n in 1 3; do
    last=$((n - 1))
    run 139 -n $n --stacks-on-crash "$e" segv
    once "^mpiexec: rank $last (host .*, pid [0-9]*) crashes: Segmentation fault at address 0x10$"
    once "^\[$last\] main (crash.c:[0-9]*) / fall (crash.c:"
    once "^mpiexec: rank $last (.*) was killed by signal 11"
    run 136 -n $n --stacks-on-crash "$e" fpe
    once "rank $last (.*) crashes: Floating point exception at address"
    run 134 -n $n --stacks-on-crash "$e" abort
    once "rank $last (.*) crashes: Aborted$"
    once "^\[$last\] main (crash.c:.* / fall (crash.c:"
    run 132 -n $n --stacks-on-crash "$e" ill
    run 139 -n $n --stacks-on-crash "$e" thread-segv
    once "^\[$last\] thread (crash.c:[0-9]*) / fall (crash.c:"
done
run 139 -n 3 --stacks-on-crash "$e" segv -1
once ' crashes: '
if pgrep -f "^$e" > "$dir/out"; then fail "ranks are left"; fi
