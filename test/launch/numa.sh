#!/bin/sh
# Ranks on a machine of two NUMA nodes: made by laying other files over /sys, in a namespace of the test's own.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
unshare -m true 2>/dev/null || { echo "skipped: may not mount in a namespace"; exit 77; }
taskset -c 0-3 true 2>/dev/null && [ "$(taskset -c 0-3 nproc)" = 4 ] || { echo "skipped: needs cores 0 to 3"; exit 77; }
timeout 20 taskset -c 0-3 "$build/mpiexec" -v -n 4 true 2>&1 </dev/null | grep -q "any of" && { echo "skipped: a CPU quota below 4"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/node0" "$dir/node8" # numbers need not be dense
echo 0,8 >"$dir/online"
echo 0-1 >"$dir/node0/cpulist"
echo 2-3 >"$dir/node8/cpulist"
# want SETS OPTIONS...: the sets of CPUs, rank by rank
want() {
    sets=$1
    shift
    out=$(unshare -m sh -c 'd=$1; shift; mount --bind "$d" /sys/devices/system/node; for c in 0 1 2 3; do
            echo $c >"$d/one$c"; mount --bind "$d/one$c" /sys/devices/system/cpu/cpu$c/topology/thread_siblings_list; done
        exec taskset -c 0-3 timeout 20 "$@"' sh "$dir" "$build/mpiexec" -v "$@" true 2>&1 </dev/null | sed -n 's/.* runs on //p' | tr ' \n' ,/)
    [ "$out" = "$sets" ] || { echo "numa: $* gives $out, not $sets"; exit 1; }
}
want 0,1/2,3/ -n 2
want 0/1/2/ -n 3
want 0/1/2/3/ -n 4
want 0/1/ --bind-to core -n 2
want 0,1/2,3/ --bind-to numa -n 2
want 0,1/0,1/2,3/2,3/ --bind-to numa -n 4
want 0,1,2,3/ --map-by numa -n 1
want 0,1/2,3/ --map-by numa -n 2
want 0/2/1/3/ --map-by numa -n 4
want 0/2/ --map-by numa --bind-to core -n 2
want 0,1/2,3/0,1/ --map-by numa --bind-to numa -n 3
exit 0
