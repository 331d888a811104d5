#!/bin/sh
# A PMI server that goes away ends the wait of rank 0 for the ranks of its node: they have to map the segment that it has made
# (rendezvous_serve() in boot_segment.c), and a rank that is held before it does so never will.
# run.py: timeout=120
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
for tool in mpiexec.hydra gdb pgrep; do
    command -v $tool >/dev/null || { echo "skipped: no $tool here"; exit 77; }
done
dir=$(mktemp -d)
job=
end() {
    [ -z "$job" ] || kill "$job" 2>/dev/null || :
    rm -rf "$dir" # gdb goes on then, and ends its program
}
trap end EXIT
fail() { echo "rendezvous: $*"; head -n 12 "$dir/out" | cut -c1-300; exit 1; }
wait_for() { for _ in $(seq 300); do "$@" && return 0; sleep 0.1; done; return 1; }
gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

cat >"$dir/rank" <<'END'
dir=$1 program=$2
[ "$PMI_RANK" != 0 ] || { echo $$ >"$dir/first"; exec "$program"; }
exec gdb -nx -q -batch -ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' -ex 'break segment_try' -ex run -ex "shell touch $dir/stands" \
    -ex "shell while [ -e $dir/stands ]; do sleep 0.1; done" "$program" </dev/null
END
mpiexec.hydra -n 2 sh "$dir/rank" "$dir" "$build/mpi_hello" >"$dir/out" 2>&1 &
job=$!
wait_for test -e "$dir/stands" || fail "rank 1 was not held"
first=$(cat "$dir/first")
sleep 1
! gone "$first" || fail "rank 0 did not wait"
proxy=$(pgrep -P "$job" | head -n 1)
[ "$proxy" ] || fail "hydra has no proxy"
kill -KILL "$proxy"
wait_for gone "$first" || fail "rank 0 (process $first) waits though the PMI server is gone: $(cat "/proc/$first/wchan" 2>/dev/null)"
