#!/bin/sh
# mpiexec --stack: the merged stacks of a running job by gdb and by eu-stack, found by job, launcher or rank; the job runs on
# unharmed; what it says where there is no job, no debugger, or none that may look.
# run.py: timeout=90 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
prefix=$2
fail() { echo "stack: $*"; exit 1; }
[ "$prefix" ] && [ -x "$prefix/bin/mpicc" ] || { echo "no mpicc to build with"; exit 77; }
tools=
for t in gdb eu-stack; do if command -v $t >/dev/null; then tools="$tools $t"; fi; done
[ "$tools" ] || { echo "neither gdb nor eu-stack is here"; exit 77; }
dir=$(mktemp -d)
job=
trap 'if [ "$job" ]; then kill $job 2>/dev/null || true; fi; rm -rf "$dir"' EXIT
cat >"$dir/p.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static void __attribute__((noinline)) late(const char *file)
{
    while (access(file, F_OK) != 0) usleep(20000);
}
static int __attribute__((noinline)) solve(int rank)
{
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}
int main(int argc, char **argv)
{
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sum = rank == 3 ? (late(argv[1]), solve(rank)) : solve(rank);
    printf("%d\n", sum);
    return MPI_Finalize();
}
END
"$prefix/bin/mpicc" -g -O0 "$dir/p.c" -o "$dir/p" -Wl,-rpath,"$build"

# may we look into our children at all?
sleep 30 &
sleeper=$!
if command -v gdb >/dev/null; then text=$(gdb -nx -q -batch -p $sleeper 2>&1 || true); else text=$(eu-stack -p $sleeper 2>&1 || true); fi
kill $sleeper
case $text in *"not permitted"*) echo "the kernel does not let a debugger look"; exit 77 ;; esac

# one rank's environment was cleared: it is found all the same
"$build/mpiexec" -n 3 "$dir/p" "$dir/go" : -n 1 env -i "$dir/p" "$dir/go" >"$dir/out" 2>"$dir/err" </dev/null &
job=$!
# look TOOL ARGUMENTS...: until rank 0 to 2 have come to their call
look() {
    tool=$1
    shift
    mkdir -p "$dir/$tool"
    ln -sf "$(command -v "$tool")" "$dir/$tool/$tool"
    for _ in $(seq 100); do # the job may not have begun yet
        rc=0
        timeout 100 env PATH="$dir/$tool" "$build/mpiexec" "$@" >"$dir/tree" 2>"$dir/said" || rc=$?
        if [ $rc = 0 ] && grep -q '^  \[0-2\] solve (p.c:11) / P*MPI_Allreduce$' "$dir/tree"; then break; fi
        sleep 0.2
    done
    [ $rc = 0 ] || fail "$tool: $* gives status $rc: $(cat "$dir/said")"
    grep -q "^job $job: 4 of 4 ranks of .*mpiexec -n 3 $dir/p $dir/go : -n 1 env -i $dir/p $dir/go, by $tool$" "$dir/tree" || fail "$tool: no head: $(cat "$dir/tree")"
    sed -n 2p "$dir/tree" | grep -qx '\[0-3\] main (p.c:19)' || fail "$tool: no common line: $(cat "$dir/tree")"
    sed -n 3p "$dir/tree" | grep -qx '  \[0-2\] solve (p.c:11) / P*MPI_Allreduce' || fail "$tool: no branch of three: $(cat "$dir/tree")"
    sed -n 4p "$dir/tree" | grep -q '^  \[3\] late (p.c:6)' || fail "$tool: no branch of one: $(cat "$dir/tree")"
    [ "$(wc -l <"$dir/tree")" = 4 ] || fail "$tool: too much: $(cat "$dir/tree")"
    [ ! -s "$dir/said" ] || fail "$tool: says $(cat "$dir/said")"
}
for t in $tools; do
    look "$t" --stack $job
    look "$t" --stack=$job
done
look "$t" --stack "$(pgrep -P $job -x p | head -n 1)" # a rank's pid
timeout 100 "$build/mpiexec" --stack -v $job >"$dir/tree" || fail "-v gives status $?"
grep -q 'MPI_Allreduce.* / .*' "$dir/tree" || fail "-v does not show what MPI does: $(cat "$dir/tree")"
timeout 100 "$build/mpiexec" --stack >"$dir/tree" 2>&1 || true # the only job, or a list of several
grep -q "^job $job:\|^  $job  4 ranks  .*mpiexec -n 3" "$dir/tree" || fail "without a job: $(cat "$dir/tree")"

# refused STATUS WORDS ARGUMENTS...; the debuggers are those of $path
path=$PATH
refused() {
    want=$1 words=$2 rc=0
    shift 2
    timeout 100 env PATH="$path" "$build/mpiexec" "$@" >"$dir/tree" 2>"$dir/said" || rc=$?
    [ $rc = "$want" ] || fail "$* gives status $rc, not $want"
    grep -q "^mpiexec: .*$words" "$dir/said" || fail "$* says $(cat "$dir/said")"
}
refused 1 "no job 999999999 of this user" --stack 999999999
grep -q "^  $job  4 ranks" "$dir/said" || fail "the jobs that run are not listed: $(cat "$dir/said")"
refused 2 "wants one job" --stack $job $job
refused 2 "wants one job" --stack --what
refused 2 "did you mean --stack?" --stck $job
refused 2 "is the first word" -n 2 --stack
path=$dir/none
refused 1 "needs gdb or eu-stack" --stack $job
mkdir "$dir/fake"
printf '#!/bin/sh\necho "ptrace: Operation not permitted."\n' >"$dir/fake/gdb"
chmod +x "$dir/fake/gdb"
path=$dir/fake
refused 1 "the kernel refuses to look into rank 0" --stack $job
[ "$(grep -c refuses "$dir/said")" = 1 ] || fail "one refusal is enough: $(cat "$dir/said")"
printf '#!/bin/sh\necho "gdb is broken"\n' >"$dir/fake/gdb"
refused 1 "rank 2 .*: no stack: gdb is broken" --stack $job

# the job has not noticed
: >"$dir/go"
wait $job || fail "the job ended with status $?: $(cat "$dir/err")"
job=
[ "$(sort "$dir/out" | uniq -c | tr -s ' ')" = " 4 6" ] || fail "the job printed $(cat "$dir/out")"
[ ! -s "$dir/err" ] || fail "the job said $(cat "$dir/err")"

# ranks without MPI, and behind a shell
"$build/mpiexec" -n 2 sh -c ': >"$1.$GODWIT_RANK"; sleep 100; true' sh "$dir/runs" </dev/null &
job=$!
until [ -e "$dir/runs.0" ] && [ -e "$dir/runs.1" ]; do sleep 0.1; done
timeout 100 "$build/mpiexec" --stack $job >"$dir/tree" 2>&1 || fail "without MPI: $(cat "$dir/tree")"
grep -q "^job $job: 2 of 2 ranks" "$dir/tree" && grep -q '^\[0,1\] ' "$dir/tree" || fail "without MPI: $(cat "$dir/tree")"
kill $job
wait $job 2>/dev/null || true
job=
exit 0
