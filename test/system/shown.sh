#!/bin/sh
# What others have named cannot act on the terminal of who looks: programs and arguments in --stack's list, files in reports of mpiexec,
# communicators in verdicts and errors, names in a stranger's program.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
prefix=${2:-}
dir=$(mktemp -d)
pids=
end() {
    for p in $pids; do kill "$p" 2>/dev/null || true; done
    wait
    rm -rf "$dir"
}
trap end EXIT
out=$dir/out
esc=$(printf '\033')
fail() { echo "shown: $*"; od -c "$out" | head -40; exit 1; }
# plain WHAT WORD: nothing acts, and the word is there
plain() {
    ! grep -q "$esc" "$out" || fail "$1 acts on the terminal"
    grep -qF "$2" "$out" || fail "$1 is not shown as $2"
}
evil=$(printf 'p\033[2J\033]0;x\007\nmpiexec: all is well')
shown='p\x1b[2J\x1b]0;x\x07\x0ampiexec: all is well'
ln -s "$(command -v sleep)" "$dir/$evil"

# ---- a job of somebody, whose mpiexec and arguments are shown
timeout 60 "$build/mpiexec" -n 1 "$dir/$evil" 50.317 &
pids="$pids $!"
ready() { "$build/mpiexec" --stack no-such-job >"$out" 2>&1 || :; grep -q '50\.317' "$out"; }
i=0
until ready; do i=$((i + 1)); [ $i -lt 300 ] || fail "no job is listed"; sleep 0.1; done
plain "--stack's list" "$shown"
# ---- a program that is not there
"$build/mpiexec" -n 1 "$dir/no$evil" >"$out" 2>&1 && fail "no such program"
plain "a program that cannot start" 'p\x1b[2J'
# ---- what ranks are placed on
"$build/mpiexec" --display-map -n 1 "$dir/$evil" 0 >"$out" 2>&1 || fail "--display-map"
plain "--display-map" "$shown"
if [ "$prefix" ] && [ -x "$prefix/bin/mpicc" ]; then
    cat >"$dir/p.c" <<'END'
#include <mpi.h>
#include <string.h>
int main(int n, char **a)
{
    MPI_Comm c;
    MPI_Init(&n, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_name(c, "name\033[2J\xc2\x9bq\n");
    if (n > 1) MPI_Send(NULL, 0, MPI_INT, 99, 0, c);
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, c, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
END
    "$prefix/bin/mpicc" -o "$dir/p" "$dir/p.c"
    GODWIT_HANG_WARN=1 timeout 60 "$prefix/bin/mpiexec" -n 1 "$dir/p" 2>"$out" >/dev/null &
    pids="$pids $!"
    i=0
    until grep -q 'name' "$out"; do i=$((i + 1)); [ $i -lt 300 ] || fail "no verdict"; sleep 0.1; done
    plain "a communicator in a verdict" 'name\x1b[2J\xc2\x9bq\x0a'
    timeout 60 "$prefix/bin/mpiexec" -n 1 "$dir/p" error >"$out" 2>&1 && fail "rank 99"
    plain "a communicator in an error" 'name\x1b[2J\xc2\x9bq'
fi
