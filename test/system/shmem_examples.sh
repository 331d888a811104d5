#!/bin/sh
# The examples for OpenSHMEM: compiled as their comments say, they are right on any number of PEs, also on several nodes; the one in Python
# loads the library by its name.  --profile and --record let such a program run as it does.
# run.py: timeout=180 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/bin/oshcc" ] || { echo "nothing is installed"; exit 77; }
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PATH=$prefix/bin:$PATH
export PATH
wrong() { echo "$*"; cat "$tmp/out"; exit 1; }
cd "$tmp"
# built NAME: by the command of its comment, with warnings.  The command stands before "&&".
built() {
    command=$(sed -n 's,^[ */]*\(oshc[^&]*\) && oshrun .*,\1,p' "$examples/$1")
    [ -n "$command" ] || { echo "$1 has no command"; exit 1; }
    for file in "$examples"/*; do ln -sf "$file" .; done
    $command -Wall -Wextra -Werror
}
run() { timeout 100 oshrun "$@" > "$tmp/out" 2>&1 || wrong "oshrun $*"; }
has() { grep -q "$1" "$tmp/out" || wrong "no line like $1"; }
built ring_shmem.c
built counter_shmem.c
built sort_shmem.cc
for n in 1 2 3 5 "4 --vnodes 2"; do
    pes=${n%% *}
    run -n $n ./ring_shmem
    has "^3 rounds of $pes PEs: the token is $((3 * pes * (pes - 1) / 2)), right\$"
    run -n $n ./counter_shmem 100
    has "^100 pieces by $pes PEs: right\$"
    [ "$(awk '/^PE / { n += $4 } END { print n }' "$tmp/out")" = 100 ] || wrong "pieces are lost"
    run -n $n ./sort_shmem 500
    has "^$((500 * pes)) numbers (int) on $pes PEs: in order\$"
    has "^$((500 * pes)) numbers (double) on $pes PEs: in order\$"
done
for n in 1 4; do
    LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} run -n $n python3 ring_shmem.py
    has "^$n PEs: PE 0 has $((n - 1)), all have $((n * (n - 1) / 2)) together: right\$"
done
# What watches calls of MPI watches these, too, and does no harm.
run -n 2 --profile ./ring_shmem
has '^3 rounds of 2 PEs: the token is 3, right$'
has '| | SHMEM_SYNC$'
run -n 2 --record="$tmp/record" ./ring_shmem
has '^3 rounds of 2 PEs: the token is 3, right$'
has '^godwit record: 0 receives of any message, 0 tests, probes and waits: '
GODWIT_CHECK=1 run -n 2 ./ring_shmem
has '^3 rounds of 2 PEs: the token is 3, right$'
# The pages are found where the installation's commands are.
if command -v man > /dev/null; then
    for page in "1 oshcc" "1 oshrun" "3 shmem_put" "3 shmem_long_p"; do
        MANPATH=$prefix/share/man man -w $page > "$tmp/out" 2>&1 || wrong "no page: $page"
    done
fi
